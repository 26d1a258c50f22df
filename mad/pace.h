/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pace of SMPs on directed routes. Each SMP passes the SMI of the first switch on its way out
 * and again on its way back. A switch does this in software: it needs some time, and has few
 * buffers. So weftd sends no more SMPs than the first switch can pass on.
 *
 * The shortest round trips show how many SMPs that is: one more switch on the route adds one
 * passage out and one passage back. The charge of an SMP is the time of this passage, for which the
 * first switch counts as busy. An SMP that the first switch itself answers has a higher charge,
 * since the switch passes nothing on at that time. Answers correct the charge, because the queue at
 * the first switch delays all of them: the charge falls while there is no queue, and rises while
 * the queue is long. If a passage takes very little time, no SMP waits. Plain numbers, no memory,
 * no clock.
 */
#ifndef MAD_PACE_H
#define MAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"

struct pace {
	uint64_t since_us;		 /* start of this measurement */
	uint32_t least_us[HOPS_MAX + 1]; /* shortest round trip over so many hops; 0: not known */
	uint8_t tries[HOPS_MAX + 1];	 /* SMPs that were sent to measure it */
	unsigned lengths;		 /* number of route lengths with a known round trip */
	uint32_t passage_us; /* that one more switch adds to a round trip; 0: too short to matter */
	unsigned percent;    /* of it, charged for one SMP */
	unsigned queue;	     /* SMPs queued at the first switch, in 1/256 */
	unsigned answers;    /* before the charge is looked at */
	bool waited;	     /* since then an SMP had to wait */
	uint64_t busy_us;    /* the first switch is busy until this time */
	uint64_t raised_us;  /* when the charge was raised for a loss */
};

/* Also discards all measurements, since routes and switches change. */
void pace_init(struct pace *pace, uint64_t now_us);
/* Whether the next SMP over so many hops (1 to HOPS_MAX) should be alone on the wire, to measure
 * the round trip. */
bool pace_wants_alone(const struct pace *pace, unsigned hops);
/* Counts an attempt to measure; call it for each SMP that pace_wants_alone(), successful or not. */
void pace_try(struct pace *pace, unsigned hops);
/* How long the next SMP has to wait; 0: not at all. */
uint64_t pace_wait_us(struct pace *pace, uint64_t now_us);
/* An SMP is sent over so many hops; 0: to an agent that is reached without a switch. */
void pace_sent(struct pace *pace, unsigned hops, uint64_t now_us);
/* The SMP was answered. Only for an SMP that was the only request to its agent when it was sent. */
void pace_answered(struct pace *pace, unsigned hops, uint64_t took_us);

/* The SMP of that time got no answer, although its agent had answered before. */
void pace_lost(struct pace *pace, uint64_t sent_us, uint64_t now_us);

#endif
