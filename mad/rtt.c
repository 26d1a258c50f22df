/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The estimate of RFC 6298 (section 2), with its gains: 1/8 for the mean, 1/4 for the deviation.
 * Pure; called by mad/window.c. Neither value becomes 0, because a mean of 0 means no sample. */
#include "mad/rtt.h"

enum { SAMPLE_MAX_US = 60000000, DEVIATIONS = 4, FAR_TOO_LONG = 8 };

void rtt_sample(struct rtt *rtt, uint64_t took_us)
{
	uint32_t sample_us = took_us < SAMPLE_MAX_US ? (uint32_t)took_us : SAMPLE_MAX_US;
	uint32_t error_us;

	if (!sample_us)
		sample_us = 1;
	if (rtt->mean_us && sample_us > 2 * rtt_overdue_us(rtt))
		sample_us = (uint32_t)(2 * rtt_overdue_us(rtt));
	if (rtt->mean_us / FAR_TOO_LONG >= sample_us)
		rtt->mean_us = 0;
	if (!rtt->mean_us) {
		*rtt = (struct rtt){.mean_us = sample_us, .deviation_us = sample_us / 2};
		return;
	}
	error_us = sample_us > rtt->mean_us ? sample_us - rtt->mean_us : rtt->mean_us - sample_us;
	rtt->deviation_us = (3 * rtt->deviation_us + error_us) / 4;
	rtt->mean_us = (7 * rtt->mean_us + sample_us + 7) / 8; /* rounded up: never 0 */
}

uint64_t rtt_overdue_us(const struct rtt *rtt)
{
	return rtt->mean_us ? rtt->mean_us + (uint64_t)DEVIATIONS * rtt->deviation_us : 0;
}
