/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The binary heap of armed timers behind loop_timer_arm(), for the real loop and for a simulated
 * loop. It owns the array, not the timers, and knows no clock. Timers that are due at the same
 * microsecond fire in the order in which they were armed, so a simulation repeats exactly.
 */
#ifndef LIB_TIMERS_H
#define LIB_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/loop.h"

struct timers {
	struct loop_timer **heap; /* heap[0] is due first */
	size_t count, capacity;
	uint64_t next_order; /* given to the next timer that is armed */
};

/* An empty heap, without memory before the first timer. */
void timers_init(struct timers *timers);
void timers_done(struct timers *timers); /* those still armed become not armed */
/* Arms the timer, or moves it if it is armed; then it counts as armed last. */
void timers_arm(struct timers *timers, struct loop_timer *timer, uint64_t due_us);
void timers_disarm(struct timers *timers, struct loop_timer *timer); /* harmless when not armed */
/* The timer that is due first, or NULL; it stays armed. */
struct loop_timer *timers_first(const struct timers *timers);

/* The first member of every struct loop, with any clock: lib/timers.c implements loop_timer_*() and
 * loop_defer*() over it. */
struct loop_core {
	struct timers timers;
	struct list deferred;
	uint64_t now_us;
};

#endif
