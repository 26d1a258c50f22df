/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work over the whole fabric, in slices: a plan of stages, of which each turn of the loop does a
 * bounded number of units. Other ready handlers run between two slices, answers to SMPs first. So
 * the data of the work may change between slices: the plan detects this, and then starts again. The
 * length of a slice is a number of units, not a time, so runs are the same on every machine. Loop
 * thread only.
 */
#ifndef LIB_SLICES_H
#define LIB_SLICES_H

#include "lib/loop.h"

/* Does a piece of a stage. *at is 0 when the stage begins, and else the value that the last piece
 * left there. Returns the cost of the piece in units; 0: the stage is complete. A unit is about the
 * cost of looking at one port, and a piece has a few hundred at most. */
typedef unsigned slice_fn(void *arg, size_t *at);

struct slice_plan {
	const char *name;	 /* of its turns, a literal */
	slice_fn *const *stages; /* ended by NULL */
	/* Whether the results so far are outdated; called at the start of a turn. Then the work
	 * starts again with the first stage. NULL: never. */
	bool (*is_stale)(const void *arg);
};

struct slices {
	struct loop_deferred turn;
	const struct slice_plan *plan;
	void *arg;
	loop_fn *done; /* after the last stage; may begin the slices again */
	void *done_arg;
	unsigned stage, restarts;
	size_t at;
	bool running;
};

/* name, stages and arg must outlive the slices. done(done_arg) is called on the loop after the last
 * stage. */
void slices_init(struct slices *slices, struct loop *loop, const struct slice_plan *plan, void *arg,
		 loop_fn *done, void *done_arg);
/* Starts with the first stage, in later turns; also if the work is under way. */
void slices_begin(struct slices *slices);
void slices_cancel(struct slices *slices); /* done() is not called; harmless when not running */

/* Runs all stages at once, for callers without a loop, and for the end of a program. */
void slices_at_once(const struct slice_plan *plan, void *arg);

#endif
