/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The event loop over sd-event. It calls all handlers, on the one loop thread. It owns the heap of
 * timers, the list of deferred calls and the watches.
 *
 * It differs from plain sd-event in two ways. All timers share one time source, armed for the
 * earliest. And sd-event always serves the ready source of the best priority, so a descriptor that
 * is always ready would starve the others. Here a source that was served ranks behind all sources
 * that were not, until all ready sources were served or the loop would sleep. Within such a round
 * the order is LOOP_FIRST, timers, LOOP_NORMAL, LOOP_LATER: a received answer is handled before its
 * own time-out.
 */
#include "lib/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "lib/timers.h"

enum {
	PRIORITY_TIMERS = LOOP_FIRST + 5,
	PRIORITY_SERVED = 1000, /* added to a source that was served in this round */
	SLOW_US = 2000,
	NOTED_US = SLOW_US / 2, /* kept by name */
	CPU_READ_AGE_US = 100,
};

/* A source that sd-event watches for us, with its state in the present round. */
struct source {
	struct list served; /* in loop->served after its turn */
	struct loop *loop;
	sd_event_source *event_source;
	int priority;
};

struct loop_fd {
	struct source source;
	const char *name;
	loop_fd_fn *fn;
	void *arg;
};

struct signal_watch {
	struct source source;
	struct list link;
	const char *name;
	loop_fn *fn;
	void *arg;
};

struct loop {
	struct loop_core core;
	sd_event *event;
	struct source clock;
	uint64_t clock_due_us; /* due time of the clock source; UINT64_MAX: none */
	struct list served;
	struct list signals;
	uint64_t began_us;	    /* start of the present callback, by the monotonic clock */
	uint64_t cpu_us, cpu_at_us; /* the thread's CPU time at the last reading */
	uint64_t slow_turns;
	struct loop_turn *turns;
	size_t num_turns;
	struct log_limit slow_limit;
	bool stopped;
	int status;
};

static uint64_t loop_clock_us(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void note_turn(struct loop *loop, const char *name, uint64_t used_us)
{
	struct loop_turn *turn = loop->turns;
	size_t i = 0;

	while (i < loop->num_turns && strcmp(turn[i].name, name) != 0)
		i++;
	if (i == loop->num_turns) {
		turn = loop->turns = mem_resize(turn, ++loop->num_turns, sizeof(*turn));
		turn[i] = (struct loop_turn){.name = name};
	}
	if (used_us > turn[i].worst_us)
		turn[i].worst_us = used_us;
	turn[i].slow += used_us > SLOW_US;
}

/* Reading the thread's CPU time is a system call, too slow for short callbacks. A callback uses no
 * more CPU time than wall time, which costs nothing to read. So the CPU time is read only after a
 * callback with a long wall time, and before a callback only if the last value is old. The
 * resulting overcharge is less than CPU_READ_AGE_US. */
static void cpu_read(struct loop *loop, uint64_t now_us)
{
	loop->cpu_us = loop_clock_us(CLOCK_THREAD_CPUTIME_ID);
	loop->cpu_at_us = now_us;
}

/* Called before each callback. */
static void account_begin(struct loop *loop)
{
	loop->began_us = loop_clock_us(CLOCK_MONOTONIC);
	if (loop->began_us - loop->cpu_at_us > CPU_READ_AGE_US)
		cpu_read(loop, loop->began_us);
}

/* Called after it. */
static void account(struct loop *loop, const char *name)
{
	uint64_t now_us = loop_clock_us(CLOCK_MONOTONIC), passed_us = now_us - loop->began_us;
	uint64_t before_us = loop->cpu_us, used_us;

	if (passed_us <= NOTED_US)
		return;
	cpu_read(loop, now_us);
	used_us = loop->cpu_us - before_us;
	if (used_us > passed_us)
		used_us = passed_us;
	if (used_us > NOTED_US)
		note_turn(loop, name, used_us);
	if (used_us <= SLOW_US)
		return;
	loop->slow_turns++;
	/* No log line for operators, who cannot change it: weftctl status --json has the worst of
	 * each name. */
	log_limited(&loop->slow_limit, LOG_DEBUG, NULL,
		    "\"%s\" took %" PRIu64 " us of CPU time in one turn of the loop (more than %d)",
		    name, used_us, SLOW_US);
}

static void loop_call(struct loop *loop, const char *name, loop_fn *fn, void *arg)
{
	account_begin(loop);
	fn(arg);
	account(loop, name);
}

static void source_start(struct source *source, struct loop *loop, sd_event_source *event_source,
			 int priority)
{
	list_init(&source->served);
	source->loop = loop;
	source->event_source = event_source;
	source->priority = priority;
	sd_event_source_set_priority(event_source, priority);
}

static void source_end(struct source *source)
{
	list_del(&source->served);
	sd_event_source_disable_unref(source->event_source);
}

static void round_end(struct loop *loop)
{
	list_for_each (item, &loop->served) {
		struct source *source = container_of(item, struct source, served);

		list_del(item);
		sd_event_source_set_priority(source->event_source, source->priority);
	}
}

/* Records that source has its turn now. A second turn means that no other source was ready: a new
 * round. */
static void round_take(struct source *source)
{
	if (!list_empty(&source->served))
		round_end(source->loop);
	list_push(&source->loop->served, &source->served);
	sd_event_source_set_priority(source->event_source, source->priority + PRIORITY_SERVED);
}

/* Runs the timers that are due. A timer that a callback arms waits for the next turn, even if it is
 * due at once. The reason: it has a higher order, and its due time is not before now. */
static int clock_ready(sd_event_source *event_source, uint64_t due_us, void *arg)
{
	struct loop *loop = arg;
	uint64_t order_end = loop->core.timers.next_order;
	struct loop_timer *timer;

	(void)event_source;
	(void)due_us;
	round_take(&loop->clock);
	loop->clock_due_us = UINT64_MAX;
	while (!loop->stopped && (timer = timers_first(&loop->core.timers)) &&
	       timer->due_us <= loop->core.now_us && timer->order < order_end) {
		timers_disarm(&loop->core.timers, timer);
		loop_call(loop, timer->name, timer->fn, timer->arg);
	}
	return 0;
}

static void clock_arm(struct loop *loop)
{
	const struct loop_timer *timer = timers_first(&loop->core.timers);
	uint64_t due_us = timer ? timer->due_us : UINT64_MAX;
	sd_event_source *source = loop->clock.event_source;

	if (due_us == loop->clock_due_us)
		return;
	loop->clock_due_us = due_us;
	if (timer)
		sd_event_source_set_time(source, due_us);
	sd_event_source_set_enabled(source, timer ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

/* Without these descriptors the daemon cannot work. */
static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	log_error("cannot create %s: %s; raise the limit of open files (LimitNOFILE=)", what,
		  strerror(-rc));
	abort();
}

struct loop *loop_new(void)
{
	struct loop *loop = mem_zalloc(sizeof(*loop));
	sd_event_source *clock;
	int rc;

	must(sd_event_new(&loop->event), "an event loop");
	must(sd_event_add_time(loop->event, &clock, CLOCK_MONOTONIC, UINT64_MAX, 1, clock_ready,
			       loop),
	     "a timer");
	timers_init(&loop->core.timers);
	list_init(&loop->core.deferred);
	list_init(&loop->served);
	list_init(&loop->signals);
	source_start(&loop->clock, loop, clock, PRIORITY_TIMERS);
	loop->clock_due_us = UINT64_MAX;
	loop->core.now_us = loop_clock_us(CLOCK_MONOTONIC);
	loop->slow_limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	rc = sd_event_set_watchdog(loop->event, true);
	if (rc < 0)
		log_warning("systemd's watchdog cannot be fed: %s", strerror(-rc));
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	round_end(loop);
	list_for_each (item, &loop->signals) {
		struct signal_watch *watch = container_of(item, struct signal_watch, link);

		source_end(&watch->source);
		free(watch);
	}
	while (list_pop(&loop->core.deferred))
		;
	timers_done(&loop->core.timers);
	source_end(&loop->clock);
	sd_event_unref(loop->event);
	free(loop->turns);
	free(loop);
}

/* Runs only the calls that were deferred before. Calls that these defer wait until the descriptors
 * were polled, so a call that defers itself again starves no source. */
static void deferred_run(struct loop *loop)
{
	struct list present;
	struct list *item;

	list_init(&present);
	while ((item = list_pop(&loop->core.deferred)))
		list_push(&present, item);
	while ((item = list_pop(&present))) {
		struct loop_deferred *deferred = container_of(item, struct loop_deferred, link);

		loop_call(loop, deferred->name, deferred->fn, deferred->arg);
	}
}

/* The ready sources that prepare reports were found earlier and were not served yet. If there are
 * none, the round is over: the next round begins with the sources that the kernel reports now. */
static int wait_ready(struct loop *loop)
{
	int ready = sd_event_prepare(loop->event);

	if (ready)
		return ready;
	round_end(loop);
	return sd_event_wait(loop->event, list_empty(&loop->core.deferred) ? UINT64_MAX : 0);
}

static int loop_run_turn(struct loop *loop)
{
	int ready;

	clock_arm(loop);
	ready = wait_ready(loop);
	loop->core.now_us = loop_clock_us(CLOCK_MONOTONIC);
	if (ready > 0)
		ready = sd_event_dispatch(loop->event);
	if (ready < 0)
		return ready;
	deferred_run(loop);
	return 0;
}

int loop_run(struct loop *loop)
{
	loop->stopped = false;
	loop->core.now_us = loop_clock_us(CLOCK_MONOTONIC);
	while (!loop->stopped) {
		int rc = loop_run_turn(loop);

		if (rc < 0)
			return rc;
	}
	return loop->status;
}

void loop_stop(struct loop *loop, int status)
{
	loop->stopped = true;
	loop->status = status;
}

uint64_t loop_now_us(const struct loop *loop)
{
	return loop->core.now_us;
}

uint64_t loop_wall_us(const struct loop *loop)
{
	(void)loop;
	return loop_clock_us(CLOCK_REALTIME);
}

uint64_t loop_wall_s(const struct loop *loop)
{
	return loop_wall_us(loop) / 1000000;
}

uint64_t loop_random(struct loop *loop)
{
	uint64_t bits;

	(void)loop;
	while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		;
	return bits;
}

/* fn may remove the watch, so it is not used afterwards. */
static int fd_ready(sd_event_source *event_source, int fd, uint32_t events, void *arg)
{
	struct loop_fd *watch = arg;
	struct loop *loop = watch->source.loop;
	const char *name = watch->name;

	(void)event_source;
	(void)fd;
	round_take(&watch->source);
	account_begin(loop);
	watch->fn(watch->arg, events);
	account(loop, name);
	return 0;
}

int loop_fd_add(struct loop *loop, int fd, uint32_t events, enum loop_priority priority,
		const char *name, loop_fd_fn *fn, void *arg, struct loop_fd **out)
{
	struct loop_fd *watch = mem_zalloc(sizeof(*watch));
	sd_event_source *event_source;
	int rc;

	rc = sd_event_add_io(loop->event, &event_source, fd, events, fd_ready, watch);
	if (rc < 0) {
		free(watch);
		return rc;
	}
	source_start(&watch->source, loop, event_source, priority);
	watch->name = name;
	watch->fn = fn;
	watch->arg = arg;
	*out = watch;
	return 0;
}

int loop_fd_events(struct loop_fd *watch, uint32_t events)
{
	int rc = sd_event_source_set_io_events(watch->source.event_source, events);

	return rc < 0 ? rc : 0;
}

void loop_fd_remove(struct loop_fd *watch)
{
	if (!watch)
		return;
	source_end(&watch->source);
	free(watch);
}

static int signal_ready(sd_event_source *event_source, const struct signalfd_siginfo *info,
			void *arg)
{
	struct signal_watch *watch = arg;

	(void)event_source;
	(void)info;
	round_take(&watch->source);
	loop_call(watch->source.loop, watch->name, watch->fn, watch->arg);
	return 0;
}

int loop_signal(struct loop *loop, int signal_number, const char *name, loop_fn *fn, void *arg)
{
	struct signal_watch *watch;
	sd_event_source *event_source;
	sigset_t set;
	int rc;

	sigemptyset(&set);
	if (sigaddset(&set, signal_number))
		return -errno;
	rc = -pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (rc < 0)
		return rc;
	watch = mem_zalloc(sizeof(*watch));
	rc = sd_event_add_signal(loop->event, &event_source, signal_number, signal_ready, watch);
	if (rc < 0) {
		free(watch);
		return rc;
	}
	source_start(&watch->source, loop, event_source, LOOP_NORMAL);
	watch->name = name;
	watch->fn = fn;
	watch->arg = arg;
	list_push(&loop->signals, &watch->link);
	return 0;
}

void loop_notify(struct loop *loop, const char *state)
{
	(void)loop;
	sd_notify(0, state);
}

uint64_t loop_slow_turns(const struct loop *loop)
{
	return loop->slow_turns;
}

size_t loop_turns(const struct loop *loop, const struct loop_turn **out)
{
	*out = loop->turns;
	return loop->num_turns;
}
