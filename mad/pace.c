/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pace; see mad/pace.h. A switch passes a directed SMP to its SMI in both directions. The port
 * that receives an SMP with a permissive DLID passes it to the SMI at port 0 (InfiniBand
 * specification, volume 1, 14.2.2). handle_smi() of Linux (drivers/infiniband/core/mad.c) shows the
 * consequence for a switch that runs it: one work queue for forwarded SMPs and for the agent's
 * answers. Called by mad/window.c.
 */
#include "mad/pace.h"

enum {
	TRIES = 3,
	LENGTHS_ENOUGH = 2,    /* needed to conclude that a passage takes no time */
	PASSAGE_MIN_US = 20,   /* shorter times are noise, and no manager sends so fast */
	PASSAGE_MAX_US = 2500, /* no known switch needs more, but adapters do */
	BURST = 3,	       /* passages; the smallest known buffers hold 4 SMPs */
	OWN_PERCENT = 150,     /* of the time for an answer: received answers wait, too */
	PERCENT = 100,
	PERCENT_MIN = 6,   /* the measured passage was far too long */
	PERCENT_MAX = 200, /* or too short: the first switch is slower than the others */
	FALLS_BY = 32,	   /* the charge changes by this fraction */
	RISES_BY = 16,
	LOOK_AFTER = 8,	  /* answers */
	LOOK_LATER = 512, /* after a loss */
	PERCENT_LOW = 70, /* below it, a loss means that the charge is too low */
	ONE = 256,	  /* SMP in the queue */
	QUEUE_MAX = 16 * ONE,
	QUEUE_NONE = 3 * ONE / 8,
	QUEUE_LONG = 2 * ONE,
	QUEUE_TOO_LONG = 8 * ONE,
};

void pace_init(struct pace *pace, uint64_t now_us)
{
	*pace = (struct pace){.since_us = now_us, .percent = PERCENT};
}

bool pace_wants_alone(const struct pace *pace, unsigned hops)
{
	return !pace->least_us[hops] && pace->tries[hops] < TRIES &&
	       (pace->passage_us || pace->lengths < LENGTHS_ENOUGH);
}

void pace_try(struct pace *pace, unsigned hops)
{
	pace->tries[hops]++;
}

uint64_t pace_wait_us(struct pace *pace, uint64_t now_us)
{
	uint64_t room_us = (uint64_t)BURST * pace->passage_us;

	if (!pace->passage_us || pace->busy_us <= now_us + room_us)
		return 0;
	pace->waited = true;
	return pace->busy_us - room_us - now_us;
}

void pace_sent(struct pace *pace, unsigned hops, uint64_t now_us)
{
	uint64_t charge_us = (uint64_t)pace->passage_us * pace->percent / 100;

	if (!pace->passage_us || !hops)
		return;
	if (hops == 1)
		charge_us = (uint64_t)pace->least_us[1] * OWN_PERCENT / 100;
	pace->busy_us = (pace->busy_us > now_us ? pace->busy_us : now_us) + charge_us;
}

/* The median of the time that each further hop adds, so a distance whose devices answer sooner or
 * later than others does not matter. If a route has only one or two switches, adapters that answer
 * late look like a slow switch. So the second switch counts only if it answers as late as the first
 * or later, and no passage is longer than PASSAGE_MAX_US. */
static uint32_t find_passage(const struct pace *pace)
{
	int64_t steps[HOPS_MAX] = {0}, step, first;
	unsigned count = 0, last = 0, at;

	for (unsigned hops = 1; hops <= HOPS_MAX; hops++) {
		if (!pace->least_us[hops])
			continue;
		step = ((int64_t)pace->least_us[hops] - pace->least_us[last]) / (int)(hops - last);
		for (at = last ? count++ : 0; at && steps[at - 1] > step; at--)
			steps[at] = steps[at - 1];
		steps[at] = step;
		last = hops;
	}
	step = count ? steps[count / 2] : 0;
	first = (int64_t)pace->least_us[2] - pace->least_us[1];
	if (pace->least_us[1] && first >= 0 && first < step)
		step = first;
	if (step > PASSAGE_MAX_US)
		step = PASSAGE_MAX_US;
	return step >= PASSAGE_MIN_US ? (uint32_t)step : 0;
}

/* Follows short delays faster than long delays: some agents are slower than others, and only the
 * delay that all answers have in common is that of the first switch. */
static void note_queue(struct pace *pace, uint64_t delay_us)
{
	uint64_t queue = delay_us * ONE / pace->passage_us;

	if (queue > QUEUE_MAX)
		queue = QUEUE_MAX;
	if (queue < pace->queue)
		pace->queue -= (pace->queue - (unsigned)queue) * 3 / 16;
	else
		pace->queue += ((unsigned)queue - pace->queue) / 16;
}

static void adjust_charge(struct pace *pace)
{
	unsigned most = pace->queue > QUEUE_TOO_LONG ? PERCENT_MAX : PERCENT;

	if (pace->answers && --pace->answers)
		return;
	if (pace->waited && pace->queue < QUEUE_NONE && pace->percent > PERCENT_MIN)
		pace->percent -= (pace->percent + FALLS_BY - 1) / FALLS_BY;
	else if (pace->queue > QUEUE_LONG && pace->percent < most)
		pace->percent += (pace->percent + RISES_BY - 1) / RISES_BY;
	pace->answers = LOOK_AFTER;
	pace->waited = false;
}

void pace_answered(struct pace *pace, unsigned hops, uint64_t took_us)
{
	uint32_t *least_us = &pace->least_us[hops];

	if (!hops || took_us > UINT32_MAX)
		return;
	if (!*least_us || took_us < *least_us) {
		pace->lengths += !*least_us;
		*least_us = took_us ? (uint32_t)took_us : 1;
		pace->passage_us = find_passage(pace);
	}
	if (hops == 1 || !pace->passage_us)
		return;
	note_queue(pace, took_us > *least_us ? took_us - *least_us : 0);
	adjust_charge(pace);
}

void pace_lost(struct pace *pace, uint64_t sent_us, uint64_t now_us)
{
	if (pace->percent >= PERCENT_LOW || sent_us <= pace->raised_us)
		return;
	pace->percent += pace->percent / 2;
	pace->answers = LOOK_LATER;
	pace->raised_us = now_us;
}
