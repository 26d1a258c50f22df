/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work over the whole fabric, in slices: a plan of stages, of which each turn of the loop does a
 * bounded number of units. What is ready besides has its turn between two slices, answers to SMPs
 * first. So the work's data may change under it: a plan says how to notice, and then starts again.
 * How much a slice does is a number of units, not a time: runs are the same on every machine. Loop
 * thread only.
 */
#ifndef LIB_SLICES_H
#define LIB_SLICES_H

#include "lib/loop.h"

/* Does a piece of a stage. *at is 0 when the stage begins, and else what was left there. Returns
 * what that cost, in units; 0: there was nothing left to do, the next stage follows. A unit is
 * about what it costs to look at one port, and a piece has few hundred at most. */
typedef unsigned slice_fn(void *arg, size_t *at);

struct slice_plan {
	const char *name;	 /* of its turns, a literal */
	slice_fn *const *stages; /* ended by NULL */
	/* Whether what the stages have done is worth nothing any more, asked when a turn begins:
	 * then the first stage follows. NULL: never. */
	bool (*is_stale)(const void *arg);
};

struct slices {
	struct loop_deferred turn;
	const struct slice_plan *plan;
	void *arg;
	loop_fn *done; /* when all stages are over; may begin the slices anew */
	void *done_arg;
	unsigned stage, restarts;
	size_t at;
	bool running;
};

void slices_init(struct slices *slices, struct loop *loop, const struct slice_plan *plan, void *arg,
		 loop_fn *done, void *done_arg);
/* From the first stage on, in turns that follow; also when it is under way. */
void slices_begin(struct slices *slices);
void slices_cancel(struct slices *slices); /* done() is not called; harmless when not running */

/* All stages at once, for who has no loop or no time. */
void slices_at_once(const struct slice_plan *plan, void *arg);

#endif
