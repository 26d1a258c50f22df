/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The event loop: time, timers, deferred calls, descriptors and signals. No type of sd-event is
 * visible here, so that a simulation can link another implementation with a virtual clock. One
 * loop, one thread; every callback runs on it and must not block. A callback that uses more than 2
 * ms of thread CPU time is counted by its name, and logged for developers.
 */
#ifndef LIB_LOOP_H
#define LIB_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/list.h"

struct loop;

typedef void loop_fn(void *arg);

/* A lower value runs first. Every ready source is served once before any is served again. Timers
 * run between LOOP_FIRST and LOOP_NORMAL: a received answer is handled before its own time-out. */
enum loop_priority { LOOP_FIRST = -10, LOOP_NORMAL = 0, LOOP_LATER = 10 };

struct loop *loop_new(void); /* aborts if the kernel gives no epoll or timer descriptor */
void loop_free(struct loop *loop);
int loop_run(struct loop *loop); /* until loop_stop(); returns its status, or -errno */
void loop_stop(struct loop *loop, int status); /* status: the result of loop_run(), not negative */

/* Microseconds of a monotonic clock, read once at the start of the present turn. */
uint64_t loop_now_us(const struct loop *loop);
/* Microseconds since 1970, for output only; the clock may jump, so never calculate with it. */
uint64_t loop_wall_us(const struct loop *loop);
/* The same in seconds. */
uint64_t loop_wall_s(const struct loop *loop);
/* 64 random bits; a simulated loop gives them from its seed. The only source of randomness. */
uint64_t loop_random(struct loop *loop);

/* A timer, embedded in the structure that it serves. One shot; arming it again moves it. */
struct loop_timer {
	struct loop *loop;
	const char *name; /* for the log; a literal */
	loop_fn *fn;
	void *arg;
	uint64_t due_us;
	size_t place; /* index in the heap, from 1; 0: not armed */
	/* Timers that are due at the same time fire in the order in which they were armed. */
	uint64_t order;
};

/* name is a literal, for the log and loop_turns(). A zeroed timer may be disarmed, but not
 * armed. */
void loop_timer_init(struct loop_timer *timer, struct loop *loop, const char *name, loop_fn *fn,
		     void *arg);
/* Fires once, delay_us after loop_now_us(). Moves the timer if it is armed. */
void loop_timer_arm(struct loop_timer *timer, uint64_t delay_us);
/* Fires once at due_us of loop_now_us()'s clock; a time in the past is due in the next turn. */
void loop_timer_arm_at(struct loop_timer *timer, uint64_t due_us);
void loop_timer_disarm(struct loop_timer *timer); /* harmless when not armed */
static inline bool loop_timer_armed(const struct loop_timer *timer)
{
	return timer->place != 0;
}

/* A call that runs once, after the present handler returned and before the loop sleeps. Arming it
 * twice changes nothing; calls that a deferred call arms run in the next round. */
struct loop_deferred {
	struct list link;
	struct loop *loop;
	const char *name;
	loop_fn *fn;
	void *arg;
};

/* name is a literal, for the log and loop_turns(). All other functions need this first. */
void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, const char *name,
			loop_fn *fn, void *arg);
/* Arms the call; harmless if it is armed. */
void loop_defer(struct loop_deferred *deferred);
/* Disarms the call; harmless if it is not armed. Call it before the memory of arg is freed. */
void loop_defer_cancel(struct loop_deferred *deferred);

/* A descriptor that the loop watches but does not own. events as in epoll(7). Remove the watch
 * before closing the descriptor and before loop_free(). */
struct loop_fd;
typedef void loop_fd_fn(void *arg, uint32_t events);
/* Returns 0 and *out, or -errno: -EPERM or -EBADF if epoll refuses the descriptor. */
int loop_fd_add(struct loop *loop, int fd, uint32_t events, enum loop_priority priority,
		const char *name, loop_fd_fn *fn, void *arg, struct loop_fd **out);
/* Replaces the events to watch for; 0 pauses the watch. Returns 0 or -errno. */
int loop_fd_events(struct loop_fd *watch, uint32_t events);
void loop_fd_remove(struct loop_fd *watch); /* NULL is harmless */

/* Blocks the signal in this thread and calls fn on the loop when it arrives. Returns 0 or -errno.
 * Call it before any thread is started. */
int loop_signal(struct loop *loop, int signal_number, const char *name, loop_fn *fn, void *arg);

/* Sends state (sd_notify text) to systemd, and feeds its watchdog if the unit has one. */
void loop_notify(struct loop *loop, const char *state);

/* Callbacks that used more than 2 ms of CPU since the start. */
uint64_t loop_slow_turns(const struct loop *loop);

/* The cost of the callbacks of one name: the highest, and how many used more than 2 ms. */
struct loop_turn {
	const char *name; /* a literal */
	uint64_t worst_us, slow;
};

/* The names of callbacks that used more than 1 ms since the start. *out belongs to the loop, and is
 * valid until it runs again. */
size_t loop_turns(const struct loop *loop, const struct loop_turn **out);

#endif
