/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slices: a deferred call that does a number of units and defers itself again (slices.h). Work
 * whose data change before each end would never finish. So after some restarts one turn does it
 * all: a long turn is logged, and is better than work that never ends.
 */
#include "lib/slices.h"

#include <limits.h>

enum {
	TURN_UNITS = 1000, /* some 0.2 us each, with cold caches */
	RESTARTS_MAX = 5,
};

/* Whether all stages are done. */
static bool slices_advance(struct slices *slices, unsigned units)
{
	unsigned done = 0;

	while (done < units) {
		slice_fn *stage = slices->plan->stages[slices->stage];
		unsigned cost;

		if (!stage)
			return true;
		cost = stage(slices->arg, &slices->at);
		done += cost;
		if (!cost) {
			slices->stage++;
			slices->at = 0;
		}
	}
	return false;
}

static void slices_turn(void *arg)
{
	struct slices *slices = arg;
	const struct slice_plan *plan = slices->plan;
	unsigned units = TURN_UNITS;

	if (plan->is_stale && (slices->stage || slices->at) && plan->is_stale(slices->arg)) {
		slices->stage = 0;
		slices->at = 0;
		if (++slices->restarts > RESTARTS_MAX)
			units = UINT_MAX;
	}
	if (!slices_advance(slices, units)) {
		loop_defer(&slices->turn);
		return;
	}
	slices->running = false;
	slices->done(slices->done_arg);
}

void slices_init(struct slices *slices, struct loop *loop, const struct slice_plan *plan, void *arg,
		 loop_fn *done, void *done_arg)
{
	*slices = (struct slices){.plan = plan, .arg = arg, .done = done, .done_arg = done_arg};
	loop_deferred_init(&slices->turn, loop, plan->name, slices_turn, slices);
}

void slices_begin(struct slices *slices)
{
	slices->stage = slices->restarts = 0;
	slices->at = 0;
	slices->running = true;
	loop_defer(&slices->turn);
}

void slices_cancel(struct slices *slices)
{
	slices->running = false;
	loop_defer_cancel(&slices->turn);
}

void slices_at_once(const struct slice_plan *plan, void *arg)
{
	struct slices slices = {.plan = plan, .arg = arg};

	while (!slices_advance(&slices, UINT_MAX))
		;
}
