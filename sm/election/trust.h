/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whom this manager takes for a subnet manager. Who gives another SM_Key, is not in the list of
 * those that may be one (allowed_sm_guids), or says of itself what no manager says, is none: he has
 * no part in the election, is handed nothing, and what he orders is refused. That is told once for
 * each. SMInfo is not signed, and SM_Key travels in the clear: so where one knows which port it
 * came from, that port's GUID has to be in the list, whatever the port calls itself. Called by
 * sm/peers*.c. Loop thread only.
 */
#ifndef SM_ELECTION_TRUST_H
#define SM_ELECTION_TRUST_H

#include "include/iba.h"
#include "lib/log.h"
#include "mad/attr.h"
#include "sm/options.h"

enum trust_why {
	TRUST_OK,
	TRUST_WRONG_KEY,
	TRUST_NOT_ALLOWED,
	TRUST_IMPOSSIBLE, /* its GUID is none or ours, or its state is none */
};

enum { TRUST_TOLD_MAX = 64 };

struct trust {
	const struct sm_options *options;
	const guid_t *own;
	struct {
		guid_t guid;
		enum trust_why why;
	} told[TRUST_TOLD_MAX]; /* a ring: of more the first are told again */
	unsigned num_told;
	struct log_limit limit;
};

/* options and own, the GUID of the local port, are borrowed. */
void trust_init(struct trust *trust, const struct sm_options *options, const guid_t *own);
/* Judges SMInfo from the port with this GUID (0: unknown), and logs a refusal once. doing: the
 * event for the log line, as in "responded to the survey". */
enum trust_why trust_judge(struct trust *trust, guid_t port_guid, lid_t lid,
			   const struct sm_info *info, const char *doing);

#endif
