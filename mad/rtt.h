/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How long an answer takes: the smoothed mean and the mean deviation of RFC 6298, in microseconds.
 * The window keeps one of these for each number of hops, since what a route costs follows from its
 * length; it feeds them with first attempts only (Karn's rule), so that what was lost, or waited
 * for a device that is busy, does not spoil what the others have shown. For the same reason a
 * sample counts for no more than twice what was waited for so far, and a first one that was far too
 * long is forgotten. Plain numbers, no memory.
 */
#ifndef MAD_RTT_H
#define MAD_RTT_H

#include <stdint.h>

struct rtt {
	uint32_t mean_us, deviation_us; /* mean_us 0: no sample yet */
};

void rtt_sample(struct rtt *rtt, uint64_t took_us);
/* After so long an answer is overdue: the mean and four times the deviation; 0 without a sample. */
uint64_t rtt_overdue_us(const struct rtt *rtt);

#endif
