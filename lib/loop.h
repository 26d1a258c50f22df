/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The event loop: time, timers, deferred calls, descriptors and signals. It is the only door to
 * sd-event; no type of sd-event shows here, so that a simulation links another object for this
 * header, with a virtual clock. One loop, one thread; every callback runs on it and must not block.
 * A callback that uses more than 2 ms of thread CPU time is counted by its name, and logged for
 * developers.
 */
#ifndef LIB_LOOP_H
#define LIB_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/list.h"

struct loop;

typedef void loop_fn(void *arg);

/* Lower runs first, and whatever is ready has its turn before anything has a second one. Timers run
 * between LOOP_FIRST and LOOP_NORMAL: an answer that has come beats its own timeout. */
enum loop_priority { LOOP_FIRST = -10, LOOP_NORMAL = 0, LOOP_LATER = 10 };

struct loop *loop_new(void); /* aborts when the kernel gives no epoll or timer descriptor */
void loop_free(struct loop *loop);
int loop_run(struct loop *loop); /* until loop_stop(); returns its status, or -errno */
void loop_stop(struct loop *loop, int status);

/* Microseconds of a monotonic clock, read once at the start of the present turn. */
uint64_t loop_now_us(const struct loop *loop);
/* Time since 1970 for people to read; never for arithmetic. */
uint64_t loop_wall_us(const struct loop *loop);
uint64_t loop_wall_s(const struct loop *loop);
/* 64 random bits; a simulated loop gives them from its seed. The only source of randomness. */
uint64_t loop_random(struct loop *loop);

/* A timer, embedded in what it serves. One shot; re-arming moves it. */
struct loop_timer {
	struct loop *loop;
	const char *name; /* for the log; a literal */
	loop_fn *fn;
	void *arg;
	uint64_t due_us;
	size_t place;	/* in the heap, from 1; 0 when not armed */
	uint64_t order; /* timers due at the same microsecond fire in the order they were armed */
};

void loop_timer_init(struct loop_timer *timer, struct loop *loop, const char *name, loop_fn *fn,
		     void *arg);
void loop_timer_arm(struct loop_timer *timer, uint64_t delay_us);
void loop_timer_arm_at(struct loop_timer *timer, uint64_t due_us);
void loop_timer_disarm(struct loop_timer *timer); /* harmless when not armed */
static inline bool loop_timer_armed(const struct loop_timer *timer)
{
	return timer->place != 0;
}

/* A call that runs once, after the present handler returned and before the loop sleeps. Arming an
 * armed one changes nothing; calls armed from within a deferred call run in the next round. */
struct loop_deferred {
	struct list link;
	struct loop *loop;
	const char *name;
	loop_fn *fn;
	void *arg;
};

void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, const char *name,
			loop_fn *fn, void *arg);
void loop_defer(struct loop_deferred *deferred);
void loop_defer_cancel(struct loop_deferred *deferred);

/* A descriptor that the loop watches but does not own. events as in epoll(7). Remove the watch
 * before closing the descriptor and before loop_free(). */
struct loop_fd;
typedef void loop_fd_fn(void *arg, uint32_t events);
/* 0 and *out, or -errno: -EPERM or -EBADF where epoll refuses the descriptor. */
int loop_fd_add(struct loop *loop, int fd, uint32_t events, enum loop_priority priority,
		const char *name, loop_fd_fn *fn, void *arg, struct loop_fd **out);
int loop_fd_events(struct loop_fd *watch, uint32_t events);
void loop_fd_remove(struct loop_fd *watch); /* NULL is harmless */

/* Blocks the signal in this thread and calls fn on the loop when it comes. 0 or -errno. Call it
 * before any thread is started. */
int loop_signal(struct loop *loop, int signal_number, const char *name, loop_fn *fn, void *arg);

/* Feeds systemd's watchdog when the unit asks for one, and tells it state (sd_notify text). */
void loop_notify(struct loop *loop, const char *state);

/* Callbacks that used more than 2 ms of CPU since the start. */
uint64_t loop_slow_turns(const struct loop *loop);

/* What callbacks of one name cost at most, and how many of them used more than 2 ms. */
struct loop_turn {
	const char *name; /* a literal */
	uint64_t worst_us, slow;
};

/* The names of which a callback used more than 1 ms since the start, and *out to them; they are the
 * loop's, until it runs again. */
size_t loop_turns(const struct loop *loop, const struct loop_turn **out);

#endif
