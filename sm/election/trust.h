/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which subnet managers are accepted. A manager is refused if its SM_Key differs, if it is not in
 * the list allowed_sm_guids, or if its SMInfo is impossible. It then takes no part in the election,
 * gets no handover, and its control packets are refused. Each refusal is logged once. SMInfo is not
 * signed, and the SM_Key travels in clear text. So if the sending port is known, the GUID of that
 * port must be in the list, and not only the GUID in the SMInfo. Called by sm/election/peers.c and
 * control_packets.c. Loop thread only.
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
	} told[TRUST_TOLD_MAX]; /* a ring: if it is full, the oldest refusals are logged again */
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
