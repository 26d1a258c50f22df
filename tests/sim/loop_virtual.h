/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Functions of the virtual loop beyond lib/loop.h: the simulation sets the time. Nothing happens
 * between two calls of loop_step(), and nothing depends on the machine's clock.
 */
#ifndef TESTS_SIM_LOOP_VIRTUAL_H
#define TESTS_SIM_LOOP_VIRTUAL_H

#include "lib/loop.h"

/* Where loop_random() begins; loop_new() begins at 0. */
void loop_seed(struct loop *loop, uint64_t seed);
/* When something is due next: now if a deferred call waits, UINT64_MAX if nothing is armed. */
uint64_t loop_next_us(const struct loop *loop);
/* Sets the clock and runs nothing: for deliveries before the loop's own turn. The clock never goes
 * back. */
void loop_set_now(struct loop *loop, uint64_t now_us);
/* Sets the clock and takes turns until nothing is due at that time. Timers that were due earlier
 * run at the new time: step to loop_next_us() to run each at its own time. */
void loop_step(struct loop *loop, uint64_t now_us);
/* Moves the wall clock by so many seconds. */
void loop_set_wall(struct loop *loop, int64_t by_s);

#endif
