/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How long a port that makes trouble is kept out: links that go and come again and again, and ports
 * that report errors without an end. Pure functions of a history and a time, called by
 * sm/discovery/hold.c; the histories are the ports' (fabric/fabric.h).
 */
#ifndef SM_DISCOVERY_DAMPING_H
#define SM_DISCOVERY_DAMPING_H

#include "fabric/fabric.h"

enum {
	/* A host that boots takes its link down several times. */
	DAMPING_FREE_LOSSES = 3,
	DAMPING_FIRST_S = 1,
	DAMPING_FORGET_S = 60, /* up for so long after the last hold: forgiven */
	BABBLE_PERIOD_S = 60,
};

/* The link was lost at now_us. For how long it is not to come up: 0 for the first losses, then a
 * time that doubles each time up to most_us. */
uint64_t damping_loss(struct flap_history *history, uint64_t now_us, uint64_t most_us);

/* A trap that complains of the port came. True when it is one of at least limit within
 * BABBLE_PERIOD_S; the count then begins anew. */
bool damping_complaint(struct babble_history *history, uint64_t now_us, unsigned limit);
/* BABBLE_PERIOD_S have passed since the first of the complaints that count. */
bool damping_complaints_expired(const struct babble_history *history, uint64_t now_us);

#endif
