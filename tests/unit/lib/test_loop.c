/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The heap of timers, and the loop: order of timers, rules of deferred calls, descriptors by pipes,
 * signals, slow turns, and notifications of systemd. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "lib/log.h"
#include "lib/loop.h"
#include "lib/mem.h"
#include "lib/timers.h"
#include "tests/unit/fixtures/unit.h"

static struct loop *loop;

/* The callbacks that ran, a letter each. */
static char trace[256];

static void note(char letter)
{
	size_t length = strlen(trace);

	if (length + 1 < sizeof(trace)) {
		trace[length] = letter;
		trace[length + 1] = '\0';
	}
}

static void begin(void)
{
	loop = loop_new();
	trace[0] = '\0';
}

static void end(void)
{
	loop_free(loop);
	loop = NULL;
}

static void on_stop(void *arg)
{
	(void)arg;
	loop_stop(loop, 0);
}

static void on_note(void *arg)
{
	note(*(const char *)arg);
}

enum { HEAP_TIMERS = 300, HEAP_STEPS = 5000 };

static int is_before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->due_us < b->due_us || (a->due_us == b->due_us && a->order < b->order);
}

/* After each random change the first is the least of those armed. */
static void test_heap(void)
{
	static struct loop_timer all[HEAP_TIMERS];
	struct timers timers;
	uint32_t random = 7;
	int wrong = 0;

	memset(all, 0, sizeof(all));
	timers_init(&timers);
	CU_ASSERT_PTR_NULL(timers_first(&timers));
	for (int step = 0; step < HEAP_STEPS; step++) {
		struct loop_timer *least = NULL;

		random = random * 1664525 + 1013904223;
		if (random >> 30)
			timers_arm(&timers, &all[(random >> 8) % HEAP_TIMERS], random >> 28);
		else
			timers_disarm(&timers, &all[(random >> 8) % HEAP_TIMERS]);
		for (size_t i = 0; i < HEAP_TIMERS; i++) {
			if (all[i].place && (!least || is_before(&all[i], least)))
				least = &all[i];
		}
		wrong += timers_first(&timers) != least;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	for (struct loop_timer *last = NULL, *timer; (timer = timers_first(&timers));
	     last = timer) {
		CU_ASSERT(!last || is_before(last, timer));
		timers_disarm(&timers, timer);
	}
	timers_arm(&timers, &all[0], 1);
	timers_done(&timers);
	CU_ASSERT(!loop_timer_armed(&all[0]));
}

static void test_timers_order(void)
{
	static const struct {
		const char *letter;
		uint64_t delay_us;
	} cases[] = {{"d", 900}, {"b", 500}, {"a", 100}, {"c", 500}, {"e", 900}};
	struct loop_timer timers[ARRAY_SIZE(cases)], stop;
	uint64_t from_us;

	begin();
	from_us = loop_now_us(loop);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		loop_timer_init(&timers[i], loop, "note", on_note, (void *)cases[i].letter);
		loop_timer_arm(&timers[i], cases[i].delay_us);
	}
	loop_timer_init(&stop, loop, "stop", on_stop, NULL);
	loop_timer_arm(&stop, 1000);
	CU_ASSERT_EQUAL(loop_run(loop), 0);
	CU_ASSERT_STRING_EQUAL(trace, "abcde");
	CU_ASSERT(loop_now_us(loop) >= from_us + 1000);
	CU_ASSERT(!loop_timer_armed(&timers[0]) && !loop_timer_armed(&stop));
	end();
}

static struct loop_timer first, second;
static struct loop_deferred later;

static void disarm_second(void *arg)
{
	note('1');
	(void)arg;
	loop_timer_disarm(&second);
	loop_timer_disarm(&second);
}

/* One timer keeps another that is due at the same time from firing. */
static void test_timer_disarms(void)
{
	struct loop_timer stop;

	begin();
	loop_timer_init(&first, loop, "first", disarm_second, NULL);
	loop_timer_init(&second, loop, "second", on_note, "2");
	loop_timer_init(&stop, loop, "stop", on_stop, NULL);
	loop_timer_arm_at(&first, 0);
	loop_timer_arm_at(&second, 0);
	loop_timer_arm_at(&stop, 0);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "1");
	end();
}

static int rearmed;

static void rearm_first(void *arg)
{
	(void)arg;
	note('t');
	if (++rearmed < 3)
		loop_timer_arm(&first, 0);
	else
		loop_stop(loop, 5);
	loop_defer(&later);
}

/* A timer armed with no delay by itself fires in the next turn: deferred calls come between. */
static void test_timer_rearms(void)
{
	begin();
	rearmed = 0;
	loop_timer_init(&first, loop, "first", rearm_first, NULL);
	loop_deferred_init(&later, loop, "later", on_note, "d");
	loop_timer_arm(&first, 0);
	CU_ASSERT_EQUAL(loop_run(loop), 5);
	CU_ASSERT_STRING_EQUAL(trace, "tdtdtd");
	end();
}

static void test_timer_far(void)
{
	struct loop_timer far, stop;

	begin();
	loop_timer_init(&far, loop, "far", on_note, "f");
	loop_timer_init(&stop, loop, "stop", on_stop, NULL);
	loop_timer_arm(&far, UINT64_MAX);
	loop_timer_arm(&stop, 0);
	loop_run(loop);
	loop_timer_arm_at(&far, UINT64_MAX);
	loop_timer_arm(&stop, 0);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "");
	CU_ASSERT(loop_timer_armed(&far));
	end();
	CU_ASSERT(!loop_timer_armed(&far));
	loop_timer_disarm(&far);
}

static struct loop_deferred calls[4];

static void on_first_call(void *arg)
{
	(void)arg;
	note('a');
	loop_defer(&calls[0]);	      /* runs in the next round */
	loop_defer_cancel(&calls[2]); /* due in this round */
	loop_defer(&calls[3]);
	if (strlen(trace) > 4)
		loop_stop(loop, 0);
}

static void test_deferred(void)
{
	begin();
	loop_deferred_init(&calls[0], loop, "a", on_first_call, NULL);
	loop_deferred_init(&calls[1], loop, "b", on_note, "b");
	loop_deferred_init(&calls[2], loop, "c", on_note, "c");
	loop_deferred_init(&calls[3], loop, "d", on_note, "d");
	loop_defer(&calls[0]);
	loop_defer(&calls[1]);
	loop_defer(&calls[1]);
	loop_defer(&calls[2]);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "abada");
	end();
	loop_defer_cancel(&calls[0]); /* still armed when the loop went */
}

static struct loop_deferred again;

static void on_again(void *arg)
{
	(void)arg;
	loop_defer(&again);
}

/* A call that defers itself for ever does not keep timers from firing. */
static void test_deferred_starves_none(void)
{
	struct loop_timer stop;

	begin();
	loop_deferred_init(&again, loop, "again", on_again, NULL);
	loop_defer(&again);
	loop_timer_init(&stop, loop, "stop", on_stop, NULL);
	loop_timer_arm(&stop, 1000);
	CU_ASSERT_EQUAL(loop_run(loop), 0);
	end();
}

struct end_of_pipe {
	int fds[2];
	char letter;
	int drain;
	struct loop_fd *watch;
};

static void on_readable(void *arg, uint32_t events)
{
	struct end_of_pipe *pipe_end = arg;
	char byte = pipe_end->letter;

	CU_ASSERT(events & EPOLLIN);
	if (pipe_end->drain)
		CU_ASSERT_EQUAL(read(pipe_end->fds[0], &byte, 1), 1);
	note(byte);
	if (byte == 'x')
		loop_stop(loop, 0);
}

static void pipe_open(struct end_of_pipe *pipe_end, char letter, int drain,
		      enum loop_priority priority)
{
	pipe_end->letter = letter;
	pipe_end->drain = drain;
	CU_ASSERT_EQUAL_FATAL(pipe2(pipe_end->fds, O_CLOEXEC | O_NONBLOCK), 0);
	CU_ASSERT_EQUAL_FATAL(loop_fd_add(loop, pipe_end->fds[0], EPOLLIN, priority, "pipe",
					  on_readable, pipe_end, &pipe_end->watch),
			      0);
}

static void pipe_write(const struct end_of_pipe *pipe_end, const char *text)
{
	CU_ASSERT_EQUAL(write(pipe_end->fds[1], text, strlen(text)), (ssize_t)strlen(text));
}

static void pipe_close(struct end_of_pipe *pipe_end)
{
	loop_fd_remove(pipe_end->watch);
	close(pipe_end->fds[0]);
	close(pipe_end->fds[1]);
}

static void test_fd_reads(void)
{
	struct end_of_pipe a;

	begin();
	pipe_open(&a, 0, 1, LOOP_NORMAL);
	pipe_write(&a, "hellox");
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "hellox");
	pipe_close(&a);
	end();
}

/* All are always ready: each has its turn in each round, in order of priority; timers come between
 * LOOP_FIRST and LOOP_NORMAL. */
static void test_fd_priorities(void)
{
	struct end_of_pipe last, normal, soon;

	begin();
	pipe_open(&last, 'l', 1, LOOP_LATER);
	pipe_open(&normal, 'n', 0, LOOP_NORMAL);
	pipe_open(&soon, 'f', 0, LOOP_FIRST);
	pipe_write(&last, "12x");
	pipe_write(&normal, "n");
	pipe_write(&soon, "f");
	loop_timer_init(&first, loop, "note", on_note, "t");
	loop_timer_arm_at(&first, 0);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "ftn1fn2fnx");
	pipe_close(&last);
	pipe_close(&normal);
	pipe_close(&soon);
	end();
}

static struct loop_fd *own_watch, *other_watch;
static int turns_left;

/* Stops after enough turns for all ready descriptors. */
static void on_stop_later(void *arg)
{
	(void)arg;
	if (--turns_left)
		loop_timer_arm(&first, 0);
	else
		loop_stop(loop, 0);
}

static void on_remove_both(void *arg, uint32_t events)
{
	(void)arg;
	(void)events;
	note('r');
	turns_left = 5;
	loop_fd_remove(own_watch);
	loop_fd_remove(other_watch);
	loop_timer_arm(&first, 0);
}

/* A handler may remove its own watch and another watch that is ready. */
static void test_fd_removes(void)
{
	int fds[2];
	int other;

	begin();
	CU_ASSERT_EQUAL_FATAL(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	other = dup(fds[0]);
	CU_ASSERT_EQUAL(loop_fd_add(loop, fds[0], EPOLLIN, LOOP_NORMAL, "own", on_remove_both, NULL,
				    &own_watch),
			0);
	CU_ASSERT_EQUAL(loop_fd_add(loop, other, EPOLLIN, LOOP_NORMAL, "other", on_remove_both,
				    NULL, &other_watch),
			0);
	CU_ASSERT_EQUAL(write(fds[1], "x", 1), 1);
	loop_timer_init(&first, loop, "stop", on_stop_later, NULL);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "r");
	loop_fd_remove(NULL);
	close(fds[0]);
	close(fds[1]);
	close(other);
	end();
}

static void test_fd_events(void)
{
	struct end_of_pipe a, b;

	begin();
	pipe_open(&a, 'a', 0, LOOP_FIRST);
	pipe_open(&b, 'x', 0, LOOP_LATER);
	pipe_write(&a, "a");
	pipe_write(&b, "b");
	CU_ASSERT_EQUAL(loop_fd_events(a.watch, 0), 0);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "x");
	CU_ASSERT_EQUAL(loop_fd_events(a.watch, EPOLLIN), 0);
	loop_run(loop); /* nothing was left of the round: in the next one a is first */
	CU_ASSERT_STRING_EQUAL(trace, "xax");
	pipe_close(&a);
	pipe_close(&b);
	end();
}

static void test_fd_refused(void)
{
	struct loop_fd *watch = (struct loop_fd *)trace;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	begin();
	CU_ASSERT_EQUAL(
		loop_fd_add(loop, file, EPOLLIN, LOOP_NORMAL, "file", on_readable, NULL, &watch),
		-EPERM);
	close(file);
	CU_ASSERT_EQUAL(
		loop_fd_add(loop, file, EPOLLIN, LOOP_NORMAL, "closed", on_readable, NULL, &watch),
		-EBADF);
	CU_ASSERT_EQUAL(
		loop_fd_add(loop, -1, EPOLLIN, LOOP_NORMAL, "none", on_readable, NULL, &watch),
		-EBADF);
	CU_ASSERT_PTR_EQUAL(watch, trace);
	end();
}

static void test_signals(void)
{
	begin();
	CU_ASSERT_EQUAL(loop_signal(loop, SIGUSR1, "note", on_note, "s"), 0);
	CU_ASSERT_EQUAL(loop_signal(loop, SIGUSR2, "stop", on_stop, NULL), 0);
	CU_ASSERT_EQUAL(loop_signal(loop, 1000, "none", on_stop, NULL), -EINVAL);
	CU_ASSERT_EQUAL(loop_signal(loop, SIGUSR1, "twice", on_note, "t"), -EBUSY);
	kill(getpid(), SIGUSR1);
	CU_ASSERT_STRING_EQUAL(trace, "");
	kill(getpid(), SIGUSR2);
	loop_run(loop);
	CU_ASSERT_STRING_EQUAL(trace, "s");
	end();
}

static void on_burn(void *arg)
{
	struct timespec from, now;

	(void)arg;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 3000000);
	loop_stop(loop, 0);
}

static void test_slow_turn(void)
{
	struct unit_capture capture;
	const struct loop_turn *turns;
	struct loop_timer burn;
	char text[1024];

	begin();
	CU_ASSERT_EQUAL(loop_slow_turns(loop), 0);
	CU_ASSERT_EQUAL(loop_turns(loop, &turns), 0);
	loop_timer_init(&burn, loop, "burner", on_burn, NULL);
	loop_timer_arm(&burn, 0);
	log_set_level(NULL, LOG_DEBUG);
	unit_capture_begin(&capture);
	loop_run(loop);
	unit_capture_end(&capture, text, sizeof(text));
	log_set_level(NULL, LOG_INFO);
	CU_ASSERT(loop_slow_turns(loop) >= 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"burner\" took "));
	CU_ASSERT_EQUAL_FATAL(loop_turns(loop, &turns), 1);
	CU_ASSERT_STRING_EQUAL(turns[0].name, "burner");
	CU_ASSERT(turns[0].worst_us >= 3000 && turns[0].slow == 1);
	end();
}

/* systemd's side of sd_notify(3): a datagram socket that NOTIFY_SOCKET names. */
static int notify_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char name[64];

	snprintf(name, sizeof(name), "@weft-test-%d", (int)getpid());
	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	CU_ASSERT_EQUAL_FATAL(
		bind(fd, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static const char *notified(int fd, char *text, size_t size)
{
	ssize_t length = recv(fd, text, size - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	return text;
}

static void test_notify(void)
{
	int fd = notify_socket();
	char text[64];

	setenv("WATCHDOG_USEC", "60000000", 1);
	unsetenv("WATCHDOG_PID");
	begin();
	CU_ASSERT_STRING_EQUAL(notified(fd, text, sizeof(text)), "WATCHDOG=1");
	loop_notify(loop, "READY=1\nSTATUS=up");
	CU_ASSERT_STRING_EQUAL(notified(fd, text, sizeof(text)), "READY=1\nSTATUS=up");
	end();
	unsetenv("WATCHDOG_USEC");
	begin();
	CU_ASSERT_STRING_EQUAL(notified(fd, text, sizeof(text)), "");
	end();
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

static void test_random(void)
{
	begin();
	CU_ASSERT_NOT_EQUAL(loop_random(loop), loop_random(loop));
	CU_ASSERT(loop_wall_s(loop) > 1700000000);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"heap of timers", test_heap},
		{"timers in order", test_timers_order},
		{"timer disarms another", test_timer_disarms},
		{"timer re-arms itself", test_timer_rearms},
		{"timer beyond all time", test_timer_far},
		{"deferred calls", test_deferred},
		{"deferred calls starve no other source", test_deferred_starves_none},
		{"descriptor is read", test_fd_reads},
		{"descriptors by priority, in rounds", test_fd_priorities},
		{"descriptors removed in a handler", test_fd_removes},
		{"descriptor's events", test_fd_events},
		{"descriptors refused", test_fd_refused},
		{"signals", test_signals},
		{"slow turn", test_slow_turn},
		{"systemd is notified", test_notify},
		{"random and wall clock", test_random},
		CU_TEST_INFO_NULL,
	};

	return unit_main("loop", tests);
}
