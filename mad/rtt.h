/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The time until an answer: the smoothed mean and the mean deviation of RFC 6298, in microseconds.
 * The window keeps an estimate for each number of hops, since the delay of a route follows from its
 * length. Only first attempts are samples (Karn's rule), so that losses and busy devices do not
 * distort the estimate. For the same reason a sample counts for no more than twice the present
 * time-out, and a first sample that was far too long is forgotten. Plain numbers, no memory.
 */
#ifndef MAD_RTT_H
#define MAD_RTT_H

#include <stdint.h>

struct rtt {
	uint32_t mean_us, deviation_us; /* mean_us 0: no sample yet */
};

/* Adds a round trip to the estimate; limited as above. */
void rtt_sample(struct rtt *rtt, uint64_t took_us);
/* Time in microseconds after which an answer is overdue: the mean and four times the deviation; 0
 * without a sample. */
uint64_t rtt_overdue_us(const struct rtt *rtt);

#endif
