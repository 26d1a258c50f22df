/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The time that a client of the control socket may take for a request that it has begun. The loop
 * is that of the simulation, with a virtual clock. It has no descriptors, so the test polls them
 * itself. The test includes lib/control.c, to see the present and the dropped clients.
 */
// WITH: tests/sim/loop_virtual.o
#include <poll.h>
#include <sys/socket.h>

#define loop_fd_add watch_add
#define loop_fd_events watch_events
#define loop_fd_remove watch_remove
#include "lib/control.c"
#undef loop_fd_add
#undef loop_fd_events
#undef loop_fd_remove

#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/unit.h"

enum { WATCHES_MAX = 8, SECOND = 1000000 };

struct loop_fd {
	int fd; /* -1: the place is free */
	uint32_t events;
	loop_fd_fn *fn;
	void *arg;
};

static struct loop_fd watches[WATCHES_MAX];

int watch_add(struct loop *loop, int fd, uint32_t events, enum loop_priority priority,
	      const char *name, loop_fd_fn *fn, void *arg, struct loop_fd **out)
{
	(void)loop, (void)priority, (void)name;
	for (size_t i = 0; i < WATCHES_MAX; i++) {
		if (watches[i].fd >= 0)
			continue;
		watches[i] = (struct loop_fd){fd, events, fn, arg};
		*out = &watches[i];
		return 0;
	}
	return -ENOMEM;
}

int watch_events(struct loop_fd *watch, uint32_t events)
{
	watch->events = events;
	return 0;
}

void watch_remove(struct loop_fd *watch)
{
	if (watch)
		watch->fd = -1;
}

static struct {
	struct loop *loop;
	struct control *control;
	struct control_request *held;
	char folder[32], path[64];
} bed;

static void on_echo(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	control_reply(request, json_incref(json_object_get(args, "value")));
}

static void on_hold(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	bed.held = request;
}

static const struct control_command rows[] = {
	{"echo", on_echo, CONTROL_LOOKS},
	{"hold", on_hold, CONTROL_LOOKS},
};

/* Handles all ready descriptors; true if there were any. EPOLLIN and its like are poll's numbers.
 */
static bool take_ready(void)
{
	bool any = false;

	for (size_t i = 0; i < WATCHES_MAX; i++) {
		struct pollfd ready = {.fd = watches[i].fd, .events = (short)watches[i].events};

		if (ready.fd < 0 || poll(&ready, 1, 0) <= 0)
			continue;
		watches[i].fn(watches[i].arg, (uint32_t)ready.revents);
		any = true;
	}
	return any;
}

/* So many seconds pass, timer by timer. */
static void pass(unsigned seconds)
{
	uint64_t end_us = loop_now_us(bed.loop) + (uint64_t)seconds * SECOND, next_us;

	do {
		while (take_ready())
			loop_step(bed.loop, loop_now_us(bed.loop));
		next_us = loop_next_us(bed.loop);
		loop_step(bed.loop, next_us < end_us ? next_us : end_us);
	} while (next_us < end_us);
	while (take_ready())
		loop_step(bed.loop, end_us);
}

static void begin(void)
{
	for (size_t i = 0; i < WATCHES_MAX; i++)
		watches[i].fd = -1;
	bed.loop = loop_new();
	strcpy(bed.folder, "/tmp/weft-control-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(bed.folder));
	snprintf(bed.path, sizeof(bed.path), "%s/sock", bed.folder);
	CU_ASSERT_EQUAL_FATAL(control_listen(bed.loop, bed.path, &bed.control), 0);
	control_register(bed.control, rows, ARRAY_SIZE(rows), NULL);
}

static void end(void)
{
	control_free(bed.control);
	loop_free(bed.loop);
	rmdir(bed.folder);
}

static int client_at(void)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	control_address(bed.path, &address);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	pass(0);
	return fd;
}

static void say(int fd, const char *text)
{
	CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	pass(0);
}

/* How many bytes of answers are there, which are taken; -1: it was hung up. */
static ssize_t heard(int fd)
{
	char text[4096];
	ssize_t got = recv(fd, text, sizeof(text), 0);

	return got > 0 ? got : got == 0 || errno != EAGAIN ? -1 : 0;
}

/* A client that begins a request and does not end it keeps its place for a minute, even if bytes
 * arrive again and again. Its earlier answers and the other clients are not affected. */
static void test_half_a_request(void)
{
	static const char *const begun[] = {"{\"command\":", "{\"command\":\"echo\"}\n{", " "};

	for (size_t i = 0; i < ARRAY_SIZE(begun); i++) {
		struct unit_capture capture;
		char log[1024];
		int fd, other;

		begin();
		other = client_at();
		fd = client_at();
		say(fd, begun[i]);
		unit_capture_begin(&capture);
		for (unsigned s = 0; s < 59; s++) {
			pass(1);
			say(fd, " ");
		}
		CU_ASSERT_EQUAL(bed.control->dropped, 0);
		CU_ASSERT_EQUAL(bed.control->full.client_count, 2);
		pass(2);
		unit_capture_end(&capture, log, sizeof(log));
		CU_ASSERT_EQUAL(bed.control->dropped, 1);
		CU_ASSERT_EQUAL(bed.control->full.client_count, 1);
		CU_ASSERT_PTR_NOT_NULL(
			strstr(log, "did not send the rest of its request (1 so far)"));
		while (heard(fd) > 0)
			;
		CU_ASSERT_EQUAL(heard(fd), -1);
		say(other, "{\"command\":\"echo\"}\n");
		CU_ASSERT_TRUE(heard(other) > 0);
		close(fd);
		close(other);
		pass(0);
		end();
	}
}

/* The end of a line that is too long is awaited no longer. */
static void test_half_a_long_line(void)
{
	char *much = mem_alloc(64 << 10);
	int fd;

	begin();
	fd = client_at();
	memset(much, 'x', (64 << 10) - 1);
	much[(64 << 10) - 1] = '\0';
	for (size_t sent = 0; sent <= REQUEST_MAX_BYTES; sent += 64 << 10)
		say(fd, much);
	CU_ASSERT_TRUE(heard(fd) > 0); /* that it is too long */
	pass(61);
	CU_ASSERT_EQUAL(bed.control->full.client_count, 0);
	CU_ASSERT_EQUAL(bed.control->dropped, 1);
	close(fd);
	free(much);
	end();
}

/* An idle client and a client that waits for an answer have no time limit. Nor has a client whose
 * requests come in pieces, if each request ends in time. */
static void test_no_hurry(void)
{
	int idle, waiting, slow;

	begin();
	idle = client_at();
	waiting = client_at();
	slow = client_at();
	say(waiting, "{\"command\":\"hold\"}\n{\"command\":");
	for (unsigned i = 0; i < 10; i++) {
		say(slow, i ? "\"echo\"}\n{\"command\":" : "{\"command\":");
		pass(40);
	}
	CU_ASSERT_EQUAL(bed.control->dropped, 0);
	CU_ASSERT_EQUAL(bed.control->full.client_count, 3);
	CU_ASSERT_TRUE(heard(slow) > 0);
	control_reply(bed.held, NULL); /* the rest of the next request is due from here on */
	pass(59);
	CU_ASSERT_TRUE(heard(waiting) > 0);
	CU_ASSERT_EQUAL(bed.control->full.client_count, 2); /* without the slow one */
	pass(2);
	CU_ASSERT_EQUAL(bed.control->full.client_count, 1);
	CU_ASSERT_EQUAL(bed.control->dropped, 2);
	say(idle, "{\"command\":\"echo\"}\n");
	CU_ASSERT_TRUE(heard(idle) > 0);
	close(idle);
	close(waiting);
	close(slow);
	pass(0);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"half a request", test_half_a_request},
		{"half a line that is too long", test_half_a_long_line},
		{"no time limit", test_no_hurry},
		CU_TEST_INFO_NULL,
	};

	return unit_main("control_late", tests);
}
