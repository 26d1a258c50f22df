/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Exponential hold times and rate counts: sm/discovery/damping.h. */
#include "sm/discovery/damping.h"

#define S_US UINT64_C(1000000)

enum { DOUBLINGS_MAX = 20 };

uint64_t damping_loss(struct flap_history *history, uint64_t now_us, uint64_t most_us)
{
	uint64_t good_from_us = history->last_us + history->hold_us;
	unsigned doublings;

	if (now_us >= good_from_us + DAMPING_FORGET_S * S_US)
		history->losses = 0;
	history->last_us = now_us;
	if (history->losses < DAMPING_FREE_LOSSES + DOUBLINGS_MAX)
		history->losses++;
	history->hold_us = 0;
	if (history->losses <= DAMPING_FREE_LOSSES)
		return 0;
	doublings = history->losses - DAMPING_FREE_LOSSES - 1;
	history->hold_us = DAMPING_FIRST_S * S_US << doublings;
	if (history->hold_us > most_us)
		history->hold_us = most_us;
	return history->hold_us;
}

bool damping_complaints_expired(const struct babble_history *history, uint64_t now_us)
{
	return now_us >= history->began_us + BABBLE_PERIOD_S * S_US;
}

bool damping_complaint(struct babble_history *history, uint64_t now_us, unsigned limit)
{
	if (damping_complaints_expired(history, now_us) || !history->count) {
		history->began_us = now_us;
		history->count = 0;
	}
	if (++history->count < limit)
		return false;
	history->count = 0;
	return true;
}
