/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The heap of timers: called by the loop that owns it, on the loop thread. Each timer knows its
 * place in the heap (from 1; 0: not armed), so disarming needs no search. During a bring-up each
 * MAD under way has a timer, and nearly all of them are disarmed before they are due.
 */
#include "lib/timers.h"

#include <stdlib.h>

#include "lib/mem.h"

void timers_init(struct timers *timers)
{
	*timers = (struct timers){0};
}

void timers_done(struct timers *timers)
{
	for (size_t at = 0; at < timers->count; at++)
		timers->heap[at]->place = 0;
	free(timers->heap);
	timers_init(timers);
}

static bool earlier(const struct loop_timer *a, const struct loop_timer *b)
{
	if (a->due_us != b->due_us)
		return a->due_us < b->due_us;
	return a->order < b->order;
}

/* Places count from 1: the parent of place n is n / 2, its children are 2n and 2n + 1. */
static void timers_put(struct timers *timers, size_t place, struct loop_timer *timer)
{
	timers->heap[place - 1] = timer;
	timer->place = place;
}

static struct loop_timer *at(const struct timers *timers, size_t place)
{
	return timers->heap[place - 1];
}

static void timers_sift_up(struct timers *timers, size_t place, struct loop_timer *timer)
{
	for (; place > 1 && earlier(timer, at(timers, place / 2)); place /= 2)
		timers_put(timers, place, at(timers, place / 2));
	timers_put(timers, place, timer);
}

static void timers_sift_down(struct timers *timers, size_t place, struct loop_timer *timer)
{
	for (;;) {
		size_t child = 2 * place;

		if (child < timers->count && earlier(at(timers, child + 1), at(timers, child)))
			child++;
		if (child > timers->count || !earlier(at(timers, child), timer))
			break;
		timers_put(timers, place, at(timers, child));
		place = child;
	}
	timers_put(timers, place, timer);
}

/* Finds the place of timer in the heap, from place, the only wrong position. */
static void timers_settle(struct timers *timers, size_t place, struct loop_timer *timer)
{
	if (place > 1 && earlier(timer, at(timers, place / 2)))
		timers_sift_up(timers, place, timer);
	else
		timers_sift_down(timers, place, timer);
}

void timers_arm(struct timers *timers, struct loop_timer *timer, uint64_t due_us)
{
	if (!timer->place) {
		if (timers->count == timers->capacity) {
			timers->capacity = timers->capacity ? 2 * timers->capacity : 64;
			timers->heap =
				mem_resize(timers->heap, timers->capacity, sizeof(*timers->heap));
		}
		timer->place = ++timers->count;
		timers->heap[timer->place - 1] = timer;
	}
	timer->due_us = due_us;
	timer->order = timers->next_order++;
	timers_settle(timers, timer->place, timer);
}

void timers_disarm(struct timers *timers, struct loop_timer *timer)
{
	size_t place = timer->place;
	struct loop_timer *last;

	if (!place)
		return;
	last = at(timers, timers->count--);
	if (last != timer)
		timers_settle(timers, place, last);
	timer->place = 0;
}

struct loop_timer *timers_first(const struct timers *timers)
{
	return timers->count ? timers->heap[0] : NULL;
}

static struct loop_core *core(struct loop *loop)
{
	return (struct loop_core *)loop; /* its first member */
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop, const char *name, loop_fn *fn,
		     void *arg)
{
	*timer = (struct loop_timer){.loop = loop, .name = name, .fn = fn, .arg = arg};
}

void loop_timer_arm(struct loop_timer *timer, uint64_t delay_us)
{
	uint64_t due_us;

	if (__builtin_add_overflow(core(timer->loop)->now_us, delay_us, &due_us))
		due_us = UINT64_MAX - 1;
	loop_timer_arm_at(timer, due_us);
}

void loop_timer_arm_at(struct loop_timer *timer, uint64_t due_us)
{
	struct loop_core *loop = core(timer->loop);

	timers_arm(&loop->timers, timer, due_us > loop->now_us ? due_us : loop->now_us);
}

void loop_timer_disarm(struct loop_timer *timer)
{
	if (timer->place)
		timers_disarm(&core(timer->loop)->timers, timer);
}

void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, const char *name,
			loop_fn *fn, void *arg)
{
	*deferred = (struct loop_deferred){.loop = loop, .name = name, .fn = fn, .arg = arg};
	list_init(&deferred->link);
}

void loop_defer(struct loop_deferred *deferred)
{
	if (list_empty(&deferred->link))
		list_push(&core(deferred->loop)->deferred, &deferred->link);
}

void loop_defer_cancel(struct loop_deferred *deferred)
{
	list_del(&deferred->link);
}
