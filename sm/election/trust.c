/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the rules in their order, and logs the first violated rule: sm/election/trust.h. */
#include "sm/election/trust.h"

#include <inttypes.h>

#include "include/message_id.h"
#include "lib/mem.h"

void trust_init(struct trust *trust, const struct sm_options *options, const guid_t *own)
{
	*trust = (struct trust){
		.options = options, .own = own, .limit = {.burst = 10, .interval_us = 10000000}};
}

static bool trust_is_allowed(const struct sm_options *options, guid_t guid)
{
	const uint64_t *list = options->allowed_sm_guids;

	for (size_t i = 0; i < SM_GUIDS_MAX && list[i]; i++)
		if (list[i] == guid)
			return true;
	return !list[0];
}

/* An SM_Key of 0 is accepted, because some managers do not show their key in the answer to
 * Get(SMInfo). */
static enum trust_why trust_verdict(const struct trust *trust, guid_t guid,
				    const struct sm_info *info)
{
	if (!info->guid || info->guid == *trust->own || info->state > SM_MASTER)
		return TRUST_IMPOSSIBLE;
	if (info->sm_key && info->sm_key != trust->options->sm_key)
		return TRUST_WRONG_KEY;
	return trust_is_allowed(trust->options, guid) ? TRUST_OK : TRUST_NOT_ALLOWED;
}

static bool is_told(struct trust *trust, guid_t guid, enum trust_why why)
{
	unsigned at = trust->num_told % TRUST_TOLD_MAX;

	for (unsigned i = 0; i < TRUST_TOLD_MAX; i++)
		if (trust->told[i].guid == guid && trust->told[i].why == why)
			return true;
	if (!log_allowed(&trust->limit))
		return true;
	trust->told[at].guid = guid;
	trust->told[at].why = why;
	trust->num_told++;
	return false;
}

enum trust_why trust_judge(struct trust *trust, guid_t port_guid, lid_t lid,
			   const struct sm_info *info, const char *doing)
{
	static const char *const words[] = {
		[TRUST_WRONG_KEY] =
			"its SM_Key differs (give all managers of a subnet the same sm_key)",
		[TRUST_NOT_ALLOWED] =
			"its GUID is not in allowed_sm_guids (add it, or stop that manager)",
		[TRUST_IMPOSSIBLE] =
			"its SMInfo is impossible (it is faulty, or pretends to be a manager)",
	};
	guid_t guid = port_guid ? port_guid : info->guid;
	enum trust_why why = trust_verdict(trust, guid, info);
	struct log_subject subject = {.message_id = MESSAGE_FOREIGN_MANAGER, .lid = lid};

	if (why != TRUST_OK && !is_told(trust, guid, why))
		log_about(LOG_WARNING, &subject,
			  "manager 0x%016" PRIx64
			  " at LID %u %s and is ignored in the election: %s",
			  guid, lid, doing, words[why]);
	return why;
}
