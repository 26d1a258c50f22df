/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A token bucket: a limit for actions that a remote node can cause. The limits of log lines
 * (lib/log.h) are such buckets; other actions have buckets of their own, so that they do not depend
 * on log lines. Pure; any thread.
 */
#ifndef LIB_RATE_H
#define LIB_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* At most burst times at once, and once more per interval. If only burst and interval_us are set,
 * the bucket is full. */
struct rate {
	unsigned burst;
	uint64_t interval_us; /* 0: never again */
	unsigned used;
	uint64_t last_us;
};

/* Whether the action is allowed at now_us; true takes a token from the bucket. now_us never
 * decreases. */
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

/* The time from now_us until the next action is allowed, in microseconds; UINT64_MAX: never. Takes
 * nothing. */
static inline uint64_t rate_wait_us(const struct rate *rate, uint64_t now_us)
{
	struct rate trial = *rate;
	uint64_t earned_us;

	if (rate_allows(&trial, now_us))
		return 0;
	earned_us = trial.last_us + trial.interval_us;
	return trial.interval_us ? earned_us - now_us : UINT64_MAX;
}

#endif
