/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The role of this manager among others on the subnet: the state machine of chapter 14.4.1 as a
 * pure function, and the rule by which two managers are ranked. Only sm/election/peers.c changes
 * the role.
 */
#ifndef SM_ELECTION_ROLE_H
#define SM_ELECTION_ROLE_H

#include <stdbool.h>

#include "include/iba.h"
#include "mad/attr.h"

enum role_event {
	ROLE_MASTER_FOUND,    /* discovery found a MASTER */
	ROLE_HIGHER_FOUND,    /* discovery found no MASTER, but a manager that ranks higher */
	ROLE_NONE_BETTER,     /* discovery is complete, and found neither of these */
	ROLE_PORT_DOWN,	      /* the link of the local port is down */
	ROLE_MASTER_LOST,     /* in STANDBY: the master no longer answers, or is no longer MASTER */
	ROLE_HANDOVER,	      /* a MASTER handed over to this manager */
	ROLE_HANDED_OVER,     /* another manager accepted the handover */
	ROLE_CONTROL_DISABLE, /* control packets of a MASTER */
	ROLE_CONTROL_STANDBY,
	ROLE_CONTROL_DISCOVER,
};

/* The role after event; the same role if the event has no effect in it. */
enum sm_state role_next(enum sm_state role, enum role_event event);
/* The role to which event leads, from each role in which it has an effect. */
enum sm_state role_after(enum role_event event);

/* Whether a ranks higher than b: by priority, then by the lower GUID (chapter 14.4.1.2). */
bool role_outranks(const struct sm_info *a, const struct sm_info *b);

#endif
