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
	ROLE_MASTER_FOUND,    /* discovery met a MASTER */
	ROLE_HIGHER_FOUND,    /* discovery met no MASTER, but a manager that ranks higher */
	ROLE_NONE_BETTER,     /* discovery is complete, and neither of these was met */
	ROLE_PORT_DOWN,	      /* our own port's link is down: there is no subnet to be master of */
	ROLE_MASTER_LOST,     /* in STANDBY: the master answers no more, or is no master any more */
	ROLE_HANDOVER,	      /* a MASTER gave us its role */
	ROLE_HANDED_OVER,     /* another one accepted ours */
	ROLE_CONTROL_DISABLE, /* control packets of a MASTER */
	ROLE_CONTROL_STANDBY,
	ROLE_CONTROL_DISCOVER,
};

/* The role after event; the same role when the event means nothing in it. */
enum sm_state role_next(enum sm_state role, enum role_event event);
/* The role that event leads to from each role in which it means something. */
enum sm_state role_after(enum role_event event);

/* Whether a ranks higher than b: by priority, then by the lower GUID (chapter 14.4.1.2). */
bool role_outranks(const struct sm_info *a, const struct sm_info *b);

#endif
