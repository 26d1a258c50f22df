/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A token bucket: how often something may be done that a remote node can cause. The limits of log
 * lines (lib/log.h) are such buckets; what the manager does has buckets of its own, so that it does
 * not depend on lines. Pure; any thread.
 */
#ifndef LIB_RATE_H
#define LIB_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* At most burst times at once, and one more per interval. All zero but the first two: full. */
struct rate {
	unsigned burst;
	uint64_t interval_us; /* 0: never again */
	unsigned used;
	uint64_t last_us;
};

/* Whether it may be done at now_us; true takes one from the bucket. now_us never goes back. */
static inline bool rate_allows(struct rate *rate, uint64_t now_us)
{
	if (rate->used && rate->interval_us) {
		uint64_t earned = (now_us - rate->last_us) / rate->interval_us;

		rate->last_us += earned * rate->interval_us;
		rate->used -= earned < rate->used ? (unsigned)earned : rate->used;
	}
	if (rate->used >= rate->burst)
		return false;
	if (!rate->used++)
		rate->last_us = now_us;
	return true;
}

#endif
