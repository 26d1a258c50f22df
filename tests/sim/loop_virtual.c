/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The loop of lib/loop.h over a virtual clock. The simulation steps it; loop_run() steps it from
 * one due time to the next. A turn runs the deferred calls, then the timers that are due, both in
 * the order in which they were armed. Turns follow each other until nothing is due at this
 * microsecond. There are no descriptors and no signals. A request for one is refused, so that no
 * outside event can enter a simulation.
 *
 * Code that requests a turn in every turn would stop time. That is a bug of the tested program: the
 * loop prints its name and aborts, because no scenario could continue.
 */
#include "tests/sim/loop_virtual.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "lib/random.h"
#include "lib/timers.h"

enum {
	TURNS_MAX = 1000000,	/* at one microsecond */
	WALL_START = 1700000000 /* loop_wall_s() at time 0 */
};

struct loop {
	struct loop_core core;
	uint64_t random;
	int64_t wall_by_s; /* how far loop_set_wall() has moved it */
	bool stopped;
	int status;
};

struct loop *loop_new(void)
{
	struct loop *loop = mem_zalloc(sizeof(*loop));

	timers_init(&loop->core.timers);
	list_init(&loop->core.deferred);
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	while (list_pop(&loop->core.deferred))
		;
	timers_done(&loop->core.timers);
	free(loop);
}

void loop_seed(struct loop *loop, uint64_t seed)
{
	loop->random = seed;
}

/* Time */

uint64_t loop_now_us(const struct loop *loop)
{
	return loop->core.now_us;
}

uint64_t loop_wall_us(const struct loop *loop)
{
	return (WALL_START + (uint64_t)loop->wall_by_s) * 1000000 + loop->core.now_us;
}

uint64_t loop_wall_s(const struct loop *loop)
{
	return loop_wall_us(loop) / 1000000;
}

void loop_set_wall(struct loop *loop, int64_t by_s)
{
	loop->wall_by_s += by_s;
}

uint64_t loop_next_us(const struct loop *loop)
{
	const struct loop_timer *timer = timers_first(&loop->core.timers);

	if (!list_empty(&loop->core.deferred))
		return loop->core.now_us;
	return timer ? timer->due_us : UINT64_MAX;
}

void loop_set_now(struct loop *loop, uint64_t now_us)
{
	assert(now_us >= loop->core.now_us);
	loop->core.now_us = now_us;
}

/* Turns */

/* Calls that are armed during the turn run in the next turn. Returns the name of a call that ran,
 * or NULL. */
static const char *run_deferred(struct loop *loop)
{
	const char *name = NULL;
	struct list present, *item;

	list_init(&present);
	while ((item = list_pop(&loop->core.deferred)))
		list_push(&present, item);
	while ((item = list_pop(&present))) {
		struct loop_deferred *deferred = container_of(item, struct loop_deferred, link);

		name = deferred->name;
		deferred->fn(deferred->arg);
	}
	return name;
}

static const char *run_timers(struct loop *loop)
{
	uint64_t order_end = loop->core.timers.next_order;
	const char *name = NULL;
	struct loop_timer *timer;

	while ((timer = timers_first(&loop->core.timers)) && timer->due_us <= loop->core.now_us &&
	       timer->order < order_end) {
		timers_disarm(&loop->core.timers, timer);
		name = timer->name;
		timer->fn(timer->arg);
	}
	return name;
}

void loop_step(struct loop *loop, uint64_t now_us)
{
	loop_set_now(loop, now_us);
	for (unsigned turns = 0; loop_next_us(loop) <= now_us; turns++) {
		const char *deferred = run_deferred(loop), *timer = run_timers(loop);

		if (turns < TURNS_MAX)
			continue;
		fprintf(stderr,
			"time stands still at %" PRIu64
			" us: deferred call \"%s\", timer \"%s\" run without end\n",
			now_us, deferred ? deferred : "none", timer ? timer : "none");
		abort();
	}
}

int loop_run(struct loop *loop)
{
	loop->stopped = false;
	while (!loop->stopped) {
		uint64_t next_us = loop_next_us(loop);

		if (next_us == UINT64_MAX)
			return -EDEADLK; /* nothing is due any more */
		loop_step(loop, next_us > loop->core.now_us ? next_us : loop->core.now_us);
	}
	return loop->status;
}

void loop_stop(struct loop *loop, int status)
{
	loop->stopped = true;
	loop->status = status;
}

uint64_t loop_random(struct loop *loop)
{
	return random_next(&loop->random);
}

/* Timers and deferred calls */

/* Descriptors and signals: not supported */

int loop_fd_add(struct loop *loop, int fd, uint32_t events, enum loop_priority priority,
		const char *name, loop_fd_fn *fn, void *arg, struct loop_fd **out)
{
	(void)loop, (void)fd, (void)events, (void)priority, (void)name, (void)fn, (void)arg;
	(void)out;
	return -ENOTSUP;
}

int loop_fd_events(struct loop_fd *watch, uint32_t events)
{
	(void)watch, (void)events;
	return -ENOTSUP;
}

void loop_fd_remove(struct loop_fd *watch)
{
	assert(!watch);
}

int loop_signal(struct loop *loop, int signal_number, const char *name, loop_fn *fn, void *arg)
{
	(void)loop, (void)signal_number, (void)name, (void)fn, (void)arg;
	return -ENOTSUP;
}

void loop_notify(struct loop *loop, const char *state)
{
	(void)loop, (void)state;
}

uint64_t loop_slow_turns(const struct loop *loop)
{
	(void)loop; /* CPU time is not measured */
	return 0;
}

size_t loop_turns(const struct loop *loop, const struct loop_turn **out)
{
	(void)loop;
	*out = NULL;
	return 0;
}
