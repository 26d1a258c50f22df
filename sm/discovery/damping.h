/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Hold times for ports with flapping links, and limits for ports that send too many error traps.
 * Pure functions of a history (fabric/fabric.h) and a time, called by sm/discovery/hold.c.
 */
#ifndef SM_DISCOVERY_DAMPING_H
#define SM_DISCOVERY_DAMPING_H

#include "fabric/fabric.h"

enum {
	/* A host that boots takes its link down several times. */
	DAMPING_FREE_LOSSES = 3,
	DAMPING_FIRST_S = 1,
	DAMPING_FORGET_S = 60, /* this time without a loss clears the history */
	BABBLE_PERIOD_S = 60,
};

/* The link was lost at now_us. Returns the hold time: 0 for the first losses, then a time that
 * doubles up to most_us. */
uint64_t damping_loss(struct flap_history *history, uint64_t now_us, uint64_t most_us);

/* Counts an error trap of the port. True when limit traps have come within BABBLE_PERIOD_S; the
 * count then restarts. */
bool damping_complaint(struct babble_history *history, uint64_t now_us, unsigned limit);
/* Whether BABBLE_PERIOD_S have passed since the first counted error trap. */
bool damping_complaints_expired(const struct babble_history *history, uint64_t now_us);

#endif
