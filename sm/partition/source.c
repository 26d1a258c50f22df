/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which partition file is in force, and whether partitions are known: sm/partition/parts.h. */
#include "sm/partition/parts.h"

#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/guid.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sm/partition/held.h"
#include "store/partition_state.h"
#include "store/setting.h"

/* The file that is kept */

const char *policy_former_file(const struct policy *policy)
{
	return policy->given == PARTITIONS_FILE ? NULL : partition_kept_name(policy->registry);
}

bool policy_keep_file(struct policy *policy)
{
	uint64_t before = registry_number(policy->registry);

	if (policy->given == PARTITIONS_FILE)
		partition_kept_put(policy->registry, policy->file->partitions,
				   loop_wall_s(policy->loop));
	return registry_number(policy->registry) != before;
}

/* Only a MASTER changes the registry. */
static void keep_file(struct policy *policy)
{
	if (!policy->live || policy->next)
		return;
	policy_keep_file(policy);
	if (policy->given == PARTITIONS_UNWANTED)
		partition_kept_clear(policy->registry);
}

/* The digest of the file of the master, for its standbys. It is stored as a setting. */

#define DIGEST "partition digest"

static void keep_digest(struct policy *policy)
{
	char text[GUID_TEXT];

	if (policy->live)
		setting_put(policy->registry, DIGEST, guid_text(policy->digest, text));
}

bool policy_is_masters_file(const struct policy *policy, const struct partitions *partitions)
{
	const char *theirs = setting_get(policy->registry, DIGEST);
	char text[GUID_TEXT];

	return registry_follows(policy->registry) && theirs &&
	       !strcmp(theirs, guid_text(partitions_digest(partitions), text));
}

bool policy_is_unlike(const struct policy *policy)
{
	const char *theirs = setting_get(policy->registry, DIGEST);
	char text[GUID_TEXT];

	return registry_follows(policy->registry) && theirs &&
	       strcmp(theirs, guid_text(policy->digest, text)) != 0;
}

/* If the files differ, a failover would change the P_Keys of ports. */
static void compare_digests(struct policy *policy)
{
	const struct log_subject subject = {.message_id = MESSAGE_REPLICA};
	const char *name = policy->file ? policy->file->partitions->name : "none";

	if (policy_is_unlike(policy) == policy->unlike)
		return;
	policy->unlike = !policy->unlike;
	if (policy->unlike)
		log_about(LOG_WARNING, &subject,
			  "the partition file here (%s) differs from the master's: after a "
			  "failover ports would get other P_Keys (make the files equal, then run "
			  "weftctl config reload)",
			  name);
	else if (registry_follows(policy->registry))
		log_about(LOG_NOTICE, &subject,
			  "the partition file here (%s) is now equal to the master's", name);
}

void policy_put_file(struct policy *policy, struct partitions *partitions)
{
	policy_file_free(policy->file);
	policy->file = partitions ? policy_file_new(partitions) : NULL;
	policy->digest = partitions_digest(partitions);
}

/* Puts the kept text of the file in force; none if it is invalid. Returns true if it differs from
 * the text before. */
static bool take_kept(struct policy *policy)
{
	const char *mark = partition_kept_mark(policy->registry);

	if (!mark)
		mark = "";
	if (policy->kept_mark && !strcmp(policy->kept_mark, mark))
		return false;
	free(policy->kept_mark);
	policy->kept_mark = mem_strdup(mark);
	policy_put_file(policy, partition_kept_get(policy->registry, policy->options->allow_both,
						   policy->kept_when));
	return true;
}

/* Whether the given file cannot be in force, so that the last good file is. */
static bool is_rejected(const struct policy *policy)
{
	return policy->given == PARTITIONS_BAD_FILE || policy->given == PARTITIONS_UNCONFIRMED;
}

bool policy_find_source(struct policy *policy)
{
	enum partition_source before = policy->source, source = policy->given;
	bool wants_kept = is_rejected(policy) ||
			  (source == PARTITIONS_NO_FILE && partition_kept_name(policy->registry));
	bool changed = false;

	if (wants_kept) {
		changed = take_kept(policy);
		source = policy->file ? PARTITIONS_KEPT_FILE : PARTITIONS_LOST_FILE;
	} else if (source != PARTITIONS_FILE) {
		if (policy->file)
			policy_put_file(policy, NULL);
		source = PARTITIONS_NO_FILE;
	}
	if (!wants_kept) {
		free(policy->kept_mark);
		policy->kept_mark = NULL;
	}
	policy->source = source;
	return changed || source != before;
}

const char *policy_loss(const struct policy *policy)
{
	return partition_state_text(policy->registry);
}

bool policy_is_frozen(const struct policy *policy)
{
	return policy->frozen;
}

bool policy_find_frozen(struct policy *policy)
{
	bool frozen = policy->source == PARTITIONS_LOST_FILE ||
		      partition_state(policy->registry) != PARTITIONS_COMPLETE;

	if (frozen == policy->frozen)
		return false;
	policy->frozen = frozen;
	held_keys_clear(&policy->held);
	map_init(&policy->held);
	return true;
}

void policy_hold(struct policy *policy, const struct port *port, const struct pkey_list *within)
{
	const struct port_facts *facts = port_facts(port);

	if (!held_keys_get(&policy->held, facts->guid))
		held_keys_put(&policy->held, facts->guid, facts->pkeys, within,
			      port == policy->fabric->sm_port);
}

void policy_accept(struct policy *policy)
{
	partition_state_put(policy->registry, PARTITIONS_COMPLETE, NULL, NULL);
}

static char *file_problem(const struct policy *policy, const char **remedy)
{
	const char *name = partition_kept_name(policy->registry);
	bool bad = is_rejected(policy);
	const char *what = bad ? policy->problem : name;
	const char *how = bad ? "" : ": the partition file that was in force is missing";

	*remedy = policy->given == PARTITIONS_UNCONFIRMED
			  ? "accept the new file with weftctl config reload --force, or correct "
			    "it, then weftctl config reload"
		  : bad ? "correct it, then weftctl config reload"
			: "put it back, or set partition_config_file to \"\" to use none, then "
			  "weftctl config reload";
	if (policy->source == PARTITIONS_KEPT_FILE)
		return mem_printf("%s%s; the last good file, of %s, is in force", what, how,
				  policy->kept_when);
	return mem_printf("%s%s; the store does not have its text, so ports keep their P_Keys and "
			  "new ports become limited members of the default partition",
			  what, how);
}

char *policy_problem_alone(const struct policy *policy, const char **remedy)
{
	const char *loss = policy_loss(policy);

	*remedy = "run weftctl restore with a saved document, or correct weftctl partition list "
		  "and weftctl alias list, then run weftctl partition accept";
	if (loss)
		return mem_printf(
			"partitions are incomplete (%s): ports keep their P_Keys and new ports "
			"become limited members of the default partition",
			loss);
	if (policy->source == PARTITIONS_KEPT_FILE || policy->source == PARTITIONS_LOST_FILE)
		return file_problem(policy, remedy);
	return NULL;
}

char *policy_problem(const struct policy *policy)
{
	const char *remedy;
	char *what = policy_problem_alone(policy, &remedy);
	char *problem = what ? mem_printf("%s: %s", what, remedy) : NULL;

	free(what);
	return problem;
}

void policy_log_problem(const struct policy *policy)
{
	const struct log_subject subject = {
		.message_id = policy_loss(policy)   ? MESSAGE_PARTITIONS_FROZEN
			      : is_rejected(policy) ? MESSAGE_PARTITIONS_BAD
						    : MESSAGE_PARTITIONS_LOST};
	char *problem = policy_problem(policy);

	if (problem)
		log_about(LOG_CRIT, &subject, "%s", problem);
	free(problem);
}

bool policy_judge_source(struct policy *policy)
{
	const struct log_subject subject = {.message_id = MESSAGE_PARTITIONS_FROZEN};
	bool changed = policy_find_source(policy), was_frozen = policy->frozen;

	changed |= policy_find_frozen(policy);
	if (!changed)
		return false;
	policy_log_problem(policy);
	if (was_frozen && !policy->frozen)
		log_about(
			LOG_NOTICE, &subject,
			"partitions are complete again: ports get the P_Keys of their partitions");
	return true;
}

void policy_set_problem(struct policy *policy, const char *problem)
{
	free(policy->problem);
	policy->problem = problem ? mem_strdup(problem) : NULL;
}

void policy_keep_source(struct policy *policy)
{
	keep_file(policy);
	keep_digest(policy);
	compare_digests(policy);
}
