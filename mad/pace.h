/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pace of SMPs on directed routes. Each of them passes the SMI of the first switch on its way
 * out and again on its way back. A switch does that in software, so it needs some time, and few
 * SMPs find room where they wait for it. So no more are sent than the first switch passes on.
 *
 * How many that are follows from the shortest round trips: one more switch on the way adds one
 * passage out and one passage back. The first switch is charged with this passage for each SMP that
 * is sent through it, and with more for an SMP that its own agent answers, since it passes nothing
 * on while it does so. Answers show whether the charge is right, for what delays them all is the
 * queue before the first switch: the charge falls while nothing stands there, and rises while much
 * does. Where a passage takes no time worth mentioning, nothing waits. Plain numbers, no memory,
 * no clock.
 */
#ifndef MAD_PACE_H
#define MAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"

struct pace {
	uint64_t since_us;		 /* when it was begun */
	uint32_t least_us[HOPS_MAX + 1]; /* shortest round trip over so many hops; 0: not known */
	uint8_t tries[HOPS_MAX + 1];	 /* how often an SMP was to find that out */
	unsigned lengths;		 /* routes of so many lengths are known */
	uint32_t
		passage_us; /* what one more switch adds to a round trip; 0: not worth mentioning */
	unsigned percent;   /* of it, charged for one SMP */
	unsigned queue;	    /* SMPs that stand before the first switch, in 1/256 */
	unsigned answers;   /* before the charge is looked at */
	bool waited;	    /* since then an SMP had to wait */
	uint64_t busy_us;   /* until then the first switch has work */
	uint64_t raised_us; /* when the charge was raised for a loss */
};

/* Also to forget what is known: ways and switches change. */
void pace_init(struct pace *pace, uint64_t now_us);
/* Whether the next SMP over so many hops (1 to HOPS_MAX) should be alone on the wire, to show how
 * long its way is. Each such attempt, successful or not, is told to pace_try(). */
bool pace_wants_alone(const struct pace *pace, unsigned hops);
void pace_try(struct pace *pace, unsigned hops);
/* How long the next SMP has to wait; 0: not at all. */
uint64_t pace_wait_us(struct pace *pace, uint64_t now_us);
/* An SMP is sent over so many hops; 0: to an agent that is reached without a switch. */
void pace_sent(struct pace *pace, unsigned hops, uint64_t now_us);
/* It was answered, and nothing else was asked of the same agent when it was sent. */
void pace_answered(struct pace *pace, unsigned hops, uint64_t took_us);

/* One that was sent at that time got no answer, though its agent had answered before. */
void pace_lost(struct pace *pace, uint64_t sent_us, uint64_t now_us);

#endif
