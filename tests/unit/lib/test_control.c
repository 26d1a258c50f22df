/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control socket: a server on its own thread, clients on the main one, some through
 * control_call() and some byte by byte. It includes lib/control.c itself, to lower its limits.
 */
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/types.h>

static ssize_t send_or_not(int fd, const void *bytes, size_t size, int flags);
static int peer_credentials(int fd, int level, int name, void *value, socklen_t *size);
#define send send_or_not
#define getsockopt peer_credentials
#include "lib/control.c"
#undef send
#undef getsockopt

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>

#include "tests/unit/fixtures/unit.h"

/* A socket that is full for two calls, and empty for the next: its reader is quick. */
static atomic_bool socket_is_moody;

static ssize_t send_or_not(int fd, const void *bytes, size_t size, int flags)
{
	static atomic_uint calls;

	if (socket_is_moody && atomic_fetch_add(&calls, 1) % 3 != 2) {
		errno = EAGAIN;
		return -1;
	}
	return send(fd, bytes, size, flags);
}

/* The user that clients connect as, from the next on. */
static atomic_uint shown_user;

static int peer_credentials(int fd, int level, int name, void *value, socklen_t *size)
{
	struct ucred *peer = value;

	if (level != SOL_SOCKET || name != SO_PEERCRED || *size != sizeof(*peer))
		return getsockopt(fd, level, name, value, size);
	*peer = (struct ucred){.uid = shown_user};
	return 0;
}

static char directory[] = "/tmp/weft-control-XXXXXX";
static char path[64], other_path[64];

struct server {
	pthread_t thread;
	struct loop *loop;
	struct control *control;
	struct loop_timer timer;
	struct control_request *held, *late;
	json_int_t late_id;
	int pulled, finished; /* parts of streams, and streams */
	int parts_left;
	struct loop_deferred turn; /* while a stream of small parts goes on */
	int turns;
	bool readbacks; /* a stream rests until it is fed */
	struct control_request *resting;
	int wrong; /* CUnit is not for two threads: checked when this thread has ended */
};

static struct server server;

static void on_echo(void *ctx, struct control_request *request, const json_t *args)
{
	server.wrong += ctx != &server;
	control_reply(request, json_incref(json_object_get(args, "value")));
}

static void on_fail(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	control_fail(request, "no node \"%s\"\n; see `node list`",
		     "le\xff"
		     "af");
}

static void on_two_parts(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	control_part(request, json_integer(1));
	control_part(request, json_string("two\nlines"));
	control_reply(request, NULL);
}

static void on_timer(void *arg)
{
	(void)arg;
	control_reply(server.late, json_integer(server.late_id));
}

static void on_later(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	server.late = request;
	server.late_id = json_integer_value(json_object_get(args, "value"));
	loop_timer_arm(&server.timer, 1000);
}

static enum stream_step next_part(void *source, struct buffer *part)
{
	char padding[4000 + 1];

	server.wrong += source != &server;
	row_integer(part, "left", server.parts_left - 1);
	if (!server.parts_left)
		return server.readbacks ? STREAM_LATER : STREAM_END;
	server.parts_left--;
	server.pulled++;
	memset(padding, 'x', sizeof(padding) - 1);
	padding[sizeof(padding) - 1] = '\0';
	row_string(part, "padding", padding);
	return STREAM_PART;
}

static void finish_parts(void *source)
{
	server.wrong += source != &server;
	server.finished++;
}

static void on_stream(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	server.pulled = 0;
	server.parts_left = (int)json_integer_value(json_object_get(args, "count"));
	control_stream(request, next_part, finish_parts, &server);
}

static enum stream_step next_small(void *source, struct buffer *part)
{
	server.wrong += source != &server;
	row_integer(part, "left", server.parts_left);
	return server.parts_left-- ? STREAM_PART : STREAM_END;
}

static void one_turn(void *arg)
{
	(void)arg;
	server.turns++;
	if (server.parts_left > 0)
		loop_defer(&server.turn);
}

/* Other handlers get their turns during the stream. These turns are counted. */
static void on_small(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	server.parts_left = (int)json_integer_value(json_object_get(args, "count"));
	loop_defer(&server.turn);
	control_stream(request, next_small, finish_parts, &server);
}

/* A stream that has nothing yet. */
static void on_readback(void *ctx, struct control_request *request, const json_t *args)
{
	server.readbacks = true;
	server.resting = request;
	on_stream(ctx, request, args);
}

/* So many parts more; none: the stream is over. */
static void on_feed(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	server.parts_left = (int)json_integer_value(json_object_get(args, "count"));
	server.readbacks = server.parts_left > 0;
	control_resume(server.resting);
	control_reply(request, NULL);
}

static void on_flood(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	while (!control_gone(request))
		control_part(request, json_string("water"));
	control_reply(request, NULL);
}

static void on_hold(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	server.held = request;
}

/* Ends the held request, with a stream if requested. */
static void on_release(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	if (json_object_get(args, "stream"))
		control_stream(server.held, next_part, finish_parts, &server);
	else
		control_reply(server.held, json_string("released"));
	server.held = NULL;
	control_reply(request, NULL);
}

static void on_state(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	control_reply(request, json_pack("{s:i, s:i, s:i, s:b, s:i, s:i}", "pulled", server.pulled,
					 "finished", server.finished, "turns", server.turns,
					 "held_gone", server.held && control_gone(server.held),
					 "dropped", (int)server.control->dropped, "clients",
					 (int)server.control->full.client_count));
}

static void on_stop(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	(void)args;
	loop_stop(server.loop, 0);
	control_reply(request, NULL);
}

static const struct control_command commands[] = {
	{"echo", on_echo, CONTROL_ACTS},	   {"fail", on_fail, CONTROL_ACTS},
	{"two parts", on_two_parts, CONTROL_ACTS}, {"later", on_later, CONTROL_ACTS},
	{"flood", on_flood, CONTROL_ACTS},	   {"stream", on_stream, CONTROL_ACTS},
	{"release", on_release, CONTROL_ACTS},	   {"small", on_small, CONTROL_ACTS},
};
static const struct control_command more_commands[] = {
	{"state", on_state, CONTROL_LOOKS}, {"readback", on_readback, CONTROL_LOOKS},
	{"feed", on_feed, CONTROL_ACTS},    {"stop", on_stop, CONTROL_ACTS},
	{"hold", on_hold, CONTROL_ACTS},
};

static void *server_run(void *arg)
{
	(void)arg;
	server.wrong += loop_run(server.loop) != 0;
	return NULL;
}

static void server_prepare(void)
{
	server = (struct server){.loop = loop_new()};
	CU_ASSERT_EQUAL_FATAL(control_listen(server.loop, path, &server.control), 0);
	control_register(server.control, commands, ARRAY_SIZE(commands), &server);
	control_register(server.control, more_commands, ARRAY_SIZE(more_commands), &server);
	loop_timer_init(&server.timer, server.loop, "later", on_timer, NULL);
	loop_deferred_init(&server.turn, server.loop, "turn", one_turn, NULL);
}

static void server_start(void)
{
	CU_ASSERT_EQUAL_FATAL(pthread_create(&server.thread, NULL, server_run, NULL), 0);
}

static int call(json_t *request, json_t **result, char **error)
{
	int rc = control_call(path, request, NULL, NULL, result, error);

	json_decref(request);
	return rc;
}

static json_t *command(const char *name)
{
	return json_pack("{s:s}", "command", name);
}

static void server_halt(void)
{
	json_t *result = NULL;
	char *error;

	CU_ASSERT_EQUAL_FATAL(call(command("stop"), &result, &error), 0);
	json_decref(result);
	pthread_join(server.thread, NULL);
	CU_ASSERT_EQUAL(server.wrong, 0);
}

static void server_release(void)
{
	control_free(server.control);
	loop_free(server.loop);
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
}

/* A figure of the server's state, which it reports between two other handlers. */
static int state(const char *name)
{
	json_t *result = NULL;
	char *error;
	int value;

	CU_ASSERT_EQUAL_FATAL(call(command("state"), &result, &error), 0);
	value = json_is_true(json_object_get(result, name)) +
		(int)json_integer_value(json_object_get(result, name));
	json_decref(result);
	return value;
}

/* Waits until the server has noticed. */
static void await(const char *name, int value)
{
	while (state(name) != value)
		usleep(1000);
}

static int raw_connect_to(const char *where)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	control_address(where, &address);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int raw_connect(void)
{
	return raw_connect_to(path);
}

static void raw_send(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		CU_ASSERT_FATAL(sent > 0);
		bytes += sent;
		length -= (size_t)sent;
	}
}

static void raw_say(int fd, const char *text)
{
	raw_send(fd, text, strlen(text));
}

/* The next line and nothing behind it; empty at the end. */
static const char *raw_line(int fd)
{
	static char line[8192];
	size_t length = 0;
	ssize_t seen;

	while ((seen = recv(fd, line + length, sizeof(line) - 1 - length, MSG_PEEK)) > 0) {
		const char *newline = memchr(line + length, '\n', (size_t)seen);
		size_t wanted = newline ? (size_t)(newline - line) + 1 - length : (size_t)seen;
		ssize_t got = recv(fd, line + length, wanted, 0);

		length += got > 0 ? (size_t)got : 0;
		if (newline)
			break;
	}
	line[length] = '\0';
	return line;
}

static void test_call(void)
{
	json_t *result = NULL, *request;
	char *error = NULL;

	server_prepare();
	server_start();
	request = json_pack("{s:s, s:{s:[i, i], s:n}}", "command", "echo", "value", "a", 1, 2, "b");
	CU_ASSERT_EQUAL(control_call(path, request, NULL, NULL, &result, &error), 0);
	CU_ASSERT(json_equal(result, json_object_get(request, "value")));
	json_decref(result);
	json_decref(request);
	result = NULL;
	CU_ASSERT_EQUAL(call(command("fail"), &result, &error), -EREMOTEIO);
	CU_ASSERT_PTR_NULL(result);
	CU_ASSERT_STRING_EQUAL(error, "no node \"le?af\"\n; see `node list`");
	free(error);
	server_halt();
	server_release();
}

static void on_part(void *ctx, json_t *part)
{
	json_array_append(ctx, part);
}

static void test_parts(void)
{
	json_t *request = command("two parts"), *parts = json_array(), *result = NULL;
	json_t *expected = json_pack("[i, s]", 1, "two\nlines");
	char *error;

	server_prepare();
	server_start();
	CU_ASSERT_EQUAL(control_call(path, request, on_part, parts, &result, &error), 0);
	CU_ASSERT(json_equal(parts, expected));
	CU_ASSERT(json_is_null(result));
	json_decref(request);
	json_decref(parts);
	json_decref(expected);
	json_decref(result);
	server_halt();
	server_release();
}

#define VERSION_END ",\"version\":\"" WEFT_VERSION "\"}\n"

/* All on one connection: an error spoils only its own request. */
static void test_lines(void)
{
	static const struct {
		const char *line, *answer; /* text in the answer */
	} cases[] = {
		{"{\"command\":\"echo\",\"value\":7}", "{\"ok\":true,\"result\":7" VERSION_END},
		{" {\"command\":\"echo\"} \r", "{\"ok\":true,\"result\":null" VERSION_END},
		{"garbage", "{\"ok\":false,\"error\":\"the request is not JSON"},
		{"", "not JSON"},
		{"{\"command\":\"echo\"", "not JSON"},
		{"{\"command\":\"echo\"} {}", "not JSON"},
		{"{\"command\":\"echo\",\"command\":\"stop\"}", "not JSON"},
		{"{\"command\":\"\xff\"}", "not JSON"},
		{"{\"command\":\"a\\u0000b\"}", "not JSON"},
		{"7", "not JSON"},
		{"[]", "names no command"},
		{"{}", "names no command"},
		{"{\"command\":5}", "names no command"},
		{"{\"command\":\"ecco\"}", "no command \\\"ecco\\\"; did you mean \\\"echo\\\"?"},
		{"{\"command\":\"two party\"}", "did you mean \\\"two parts\\\"?"},
		{"{\"command\":\"stat\"}", "did you mean \\\"state\\\"?"},
		{"{\"command\":\"\"}", "there is no command \\\"\\\""},
		{"{\"command\":\"ÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜ\"}", "there is no command"},
		{"{\"command\":\"echo\",\"value\":8}", "{\"ok\":true,\"result\":8" VERSION_END},
	};
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *answer;

		raw_say(fd, cases[i].line);
		raw_say(fd, "\n");
		answer = raw_line(fd);
		CU_ASSERT_PTR_NOT_NULL(strstr(answer, cases[i].answer));
		CU_ASSERT_PTR_NOT_NULL(strstr(answer, VERSION_END));
	}
	close(fd);
	server_halt();
	server_release();
}

/* Several requests are answered in order, even if the first takes its time. The last request has no
 * newline: the client closes its sending side. */
static void test_pipelined(void)
{
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	raw_say(fd, "{\"command\":\"later\",\"value\":1}\n{\"command\":\"two parts\"}\n"
		    "{\"command\":\"echo\",\"value\":3}\n{\"command\":\"echo\",\"value\":4}");
	shutdown(fd, SHUT_WR);
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"result\":1,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"part\":1,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"part\":\"two\\nlines\","));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"result\":null,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"result\":3,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"result\":4,"));
	CU_ASSERT_STRING_EQUAL(raw_line(fd), "");
	close(fd);
	await("clients", 1);
	server_halt();
	server_release();
}

/* Thousands of requests at once. The queue of requests is bounded on both sides, so the client
 * reads answers when it can send no more. */
static void test_many_requests(void)
{
	static const char line[] = "{\"command\":\"echo\",\"value\":1}\n";
	enum { TIMES = 3000 };
	int fd, answers = 0;

	server_prepare();
	server_start();
	fd = raw_connect();
	for (int i = 0; i < TIMES; i++) {
		while (send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
			CU_ASSERT_EQUAL_FATAL(errno, EAGAIN);
			CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(raw_line(fd), "\"result\":1,"));
			answers++;
		}
	}
	while (answers < TIMES && strstr(raw_line(fd), "\"result\":1,"))
		answers++;
	CU_ASSERT_EQUAL(answers, TIMES);
	close(fd);
	server_halt();
	server_release();
}

static void test_oversize(void)
{
	static const size_t excess[] = {1, 100000, 3 << 20};
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	for (size_t i = 0; i < ARRAY_SIZE(excess); i++) {
		size_t length = REQUEST_MAX_BYTES + excess[i];
		char *spaces = mem_alloc(length);

		memset(spaces, ' ', length);
		raw_send(fd, spaces, length);
		raw_say(fd, "\n{\"command\":\"echo\",\"value\":9}\n");
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "longer than 4194304 bytes"));
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"result\":9,"));
		raw_send(fd, spaces, REQUEST_MAX_BYTES - 100);
		raw_say(fd, "{\"command\":\"echo\",\"value\":8}\n");
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "\"result\":8,"));
		free(spaces);
	}
	close(fd);
	server_halt();
	server_release();
}

/* Read-only requests are short, because a long request would be parsed on the loop. */
static void test_oversize_readonly(void)
{
	static const struct {
		size_t length;
		const char *answer;
	} rows[] = {
		{4096, "{\"ok\":true"},
		{4097, "longer than 4096 bytes"},
		{1 << 20, "longer than 4096 bytes"},
	};
	static const char ask[] = "{\"command\":\"state\"}";
	int fd;

	server_prepare();
	CU_ASSERT_EQUAL_FATAL(control_listen_readonly(server.control, other_path, NULL), 0);
	server_start();
	fd = raw_connect_to(other_path);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *line = mem_alloc(rows[i].length);

		memset(line, ' ', rows[i].length);
		memcpy(line, ask, sizeof(ask) - 1);
		raw_send(fd, line, rows[i].length);
		raw_say(fd, "\n");
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), rows[i].answer));
		free(line);
	}
	close(fd);
	server_halt();
	server_release();
}

enum { ENDLESS = 100000, HELD_BACK = 2000 };

/* The stream is pulled only as far as the socket and the low mark go; when the client leaves, the
 * source is finished. Then another one reads all of a stream, in order. */
static void test_stream(void)
{
	char request[64];
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	snprintf(request, sizeof(request), "{\"command\":\"stream\",\"count\":%d}\n", ENDLESS);
	raw_say(fd, request);
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":99999,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":99998,"));
	CU_ASSERT(state("pulled") >= 2);
	CU_ASSERT(state("pulled") < HELD_BACK);
	CU_ASSERT_EQUAL(state("finished"), 0);
	close(fd);
	await("finished", 1);
	fd = raw_connect();
	snprintf(request, sizeof(request), "{\"command\":\"stream\",\"count\":%d}\n", HELD_BACK);
	raw_say(fd, request);
	for (int left = HELD_BACK - 1; left >= 0; left--) {
		char expected[32];

		snprintf(expected, sizeof(expected), "{\"part\":{\"left\":%d,", left);
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), expected));
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"ok\":true,\"result\":null,"));
	CU_ASSERT_EQUAL(state("finished"), 2);
	CU_ASSERT_EQUAL(state("dropped"), 0);
	close(fd);
	server_halt();
	server_release();
}

/* Parts that are next to nothing may have cost as much as others. */
static void test_small_parts(void)
{
	enum { PARTS = 1000 };
	char request[64];
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	snprintf(request, sizeof(request), "{\"command\":\"small\",\"count\":%d}\n", PARTS);
	raw_say(fd, request);
	for (int part = 0; part < PARTS; part++)
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"ok\":true,\"result\":null,"));
	CU_ASSERT(state("turns") >= PARTS / STREAM_PARTS);
	close(fd);
	server_halt();
	server_release();
}

static void test_stream_of_moods(void)
{
	int fd;

	server_prepare();
	server_start();
	socket_is_moody = true;
	fd = raw_connect();
	raw_say(fd, "{\"command\":\"stream\",\"count\":100}\n");
	for (int part = 0; part < 100; part++)
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":"));
	socket_is_moody = false;
	close(fd);
	server_halt();
	server_release();
}

static void feed(int count)
{
	json_t *result = NULL, *request = command("feed");
	char *error;

	json_object_set_new(request, "count", json_integer(count));
	CU_ASSERT_EQUAL_FATAL(call(request, &result, &error), 0);
	json_decref(result);
}

/* An idle stream costs nothing, and goes on when there is data. A stream whose client has gone in
 * the meantime is finished. */
static void test_resting_stream(void)
{
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	raw_say(fd, "{\"command\":\"readback\",\"count\":0}\n");
	await("clients", 2);
	feed(2);
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":1,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":0,"));
	CU_ASSERT_EQUAL(state("finished"), 0);
	feed(1);
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":0,"));
	feed(0);
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"ok\":true"));
	CU_ASSERT_EQUAL(state("finished"), 1);
	raw_say(fd, "{\"command\":\"readback\",\"count\":1}\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fd), "{\"part\":{\"left\":0,"));
	close(fd);
	await("finished", 2);
	CU_ASSERT_EQUAL(state("clients"), 1);
	server_halt();
	server_release();
}

/* The second socket serves read-only commands only, and its clients have places of their own. */
static void test_readonly(void)
{
	static const struct {
		const char *group;
		mode_t mode;
	} rows[] = {{NULL, 0666}, {"daemon", 0660}};
	json_t *result = NULL, *request = command("echo");
	struct stat status;
	char *error = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		server_prepare();
		CU_ASSERT_EQUAL_FATAL(
			control_listen_readonly(server.control, other_path, rows[i].group), 0);
		CU_ASSERT_EQUAL(stat(other_path, &status), 0);
		CU_ASSERT_EQUAL(status.st_mode & 07777, rows[i].mode);
		CU_ASSERT_EQUAL(stat(path, &status), 0);
		CU_ASSERT_EQUAL(status.st_mode & 07777, 0660);
		server_start();
		CU_ASSERT_EQUAL(control_call(other_path, request, NULL, NULL, &result, &error),
				-EREMOTEIO);
		CU_ASSERT_PTR_NOT_NULL(
			strstr(error, "\"echo\" is not available on the read-only socket"));
		CU_ASSERT_PTR_NOT_NULL(strstr(error, path));
		free(error);
		json_object_set_new(request, "command", json_string("state"));
		CU_ASSERT_EQUAL(control_call(other_path, request, NULL, NULL, &result, &error), 0);
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(result, "clients")), 0);
		json_decref(result);
		json_object_set_new(request, "command", json_string("echo"));
		server_halt();
		server_release();
		CU_ASSERT_EQUAL(access(other_path, F_OK), -1);
	}
	json_decref(request);
	server_prepare();
	CU_ASSERT_EQUAL(
		control_listen_readonly(server.control, other_path, "no such group, surely"),
		-ESRCH);
	CU_ASSERT_EQUAL(access(other_path, F_OK), -1);
	CU_ASSERT_EQUAL(control_listen_readonly(server.control, path, NULL), -EADDRINUSE);
	server_release();
}

/* A client that takes nothing for too long is dropped, its stream finished. */
static void test_stalled(void)
{
	struct unit_capture capture;
	char log[1024];
	int fd;

	server_prepare();
	server.control->stall_us = 20000;
	unit_capture_begin(&capture);
	server_start();
	fd = raw_connect();
	raw_say(fd, "{\"command\":\"stream\",\"count\":100000}\n");
	await("finished", 1);
	CU_ASSERT_EQUAL(state("dropped"), 1);
	close(fd);
	server_halt();
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "a client of the control socket was dropped"));
	server_release();
}

/* A handler that writes without end to a client that does not read ends by the limit. */
static void test_flood(void)
{
	struct unit_capture capture;
	char log[1024];
	int fd;

	server_prepare();
	server.control->output_max_bytes = 1 << 20;
	unit_capture_begin(&capture);
	server_start();
	fd = raw_connect();
	raw_say(fd, "{\"command\":\"flood\"}\n");
	await("dropped", 1);
	await("clients", 1);
	close(fd);
	server_halt();
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "did not read what it asked for (1 so far)"));
	server_release();
}

/* A client leaves while its request is under way. The handler is notified, and still ends the
 * request. */
static void test_client_leaves(void)
{
	static const char *const release[] = {"{\"command\":\"release\"}\n",
					      "{\"command\":\"release\",\"stream\":1}\n"};

	for (size_t i = 0; i < ARRAY_SIZE(release); i++) {
		int fd, other;

		server_prepare();
		server_start();
		fd = raw_connect();
		other = raw_connect();
		raw_say(fd, "{\"command\":\"hold\"}\n");
		await("clients", 3);
		CU_ASSERT_EQUAL(state("held_gone"), 0);
		close(fd);
		await("held_gone", 1);
		raw_say(other, release[i]);
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(other), "{\"ok\":true"));
		CU_ASSERT_EQUAL(state("finished"), (int)i);
		close(other);
		server_halt();
		server_release();
	}
}

/* A request under way when the server goes is still the handler's to end. */
static void test_server_leaves(void)
{
	int fd;

	server_prepare();
	server_start();
	fd = raw_connect();
	raw_say(fd, "{\"command\":\"echo\"}\n{\"command\":\"hold\"}\n");
	raw_line(fd);
	raw_say(fd, "x"); /* stays unread */
	while (!state("clients"))
		;
	server_halt();
	control_free(server.control);
	if (server.held) {
		CU_ASSERT(control_gone(server.held));
		control_part(server.held, json_integer(1));
		control_fail(server.held, "too late");
	}
	loop_free(server.loop);
	CU_ASSERT_STRING_EQUAL(raw_line(fd), "");
	close(fd);
}

static void test_too_many_clients(void)
{
	int fds[CLIENTS_MAX];
	json_t *result = NULL;
	char *error = NULL;

	server_prepare();
	server_start();
	for (int i = 0; i < CLIENTS_MAX; i++) {
		fds[i] = raw_connect();
		raw_say(fds[i], "{\"command\":\"readback\",\"count\":1}\n");
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(fds[i]), "{\"part\":"));
	}
	CU_ASSERT_EQUAL(call(command("echo"), &result, &error), -EREMOTEIO);
	CU_ASSERT_PTR_NOT_NULL_FATAL(error);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "too many clients"));
	free(error);
	for (int i = 0; i < CLIENTS_MAX; i++)
		close(fds[i]);
	while (call(command("state"), &result, &error)) /* until their places are free */
		free(error);
	json_decref(result);
	await("clients", 1);
	server_halt();
	server_release();
}

/* A client of this user; an idle one has been answered, a busy one is not answered to its end. */
static int client_by(unsigned user, bool busy)
{
	int fd;

	shown_user = user;
	fd = raw_connect_to(other_path);
	raw_say(fd,
		busy ? "{\"command\":\"readback\",\"count\":1}\n" : "{\"command\":\"state\"}\n");
	CU_ASSERT_NOT_EQUAL(*raw_line(fd), '\0');
	return fd;
}

static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Places that are taken by users 1, 2, ...; another client of a user comes. */
static void test_places(void)
{
	enum { NONE = -1 };
	static const struct {
		int of_first, of_second; /* the others are a user's each */
		int idle;		 /* so many, from there on */
		int idle_from;
		unsigned user;
		int gives_way; /* NONE: the client is refused */
	} rows[] = {
		{64, 0, 64, 0, 1, 0},	  /* idle: the first of the same user's */
		{64, 0, 1, 40, 1, 40},	  /* the only idle one */
		{64, 0, 0, 0, 1, NONE},	  /* busy ones of the same user stay */
		{64, 0, 0, 0, 2, 0},	  /* but not for a user that has none */
		{64, 0, 1, 63, 2, 63},	  /* the idle one rather than a busy one */
		{33, 31, 0, 0, 2, 0},	  /* 32 each afterwards */
		{32, 32, 0, 0, 2, NONE},  /* would be 31 and 33, and the first could come back */
		{32, 32, 2, 31, 2, 32},	  /* so the second gives its own idle one */
		{2, 2, 64, 0, 100, 0},	  /* the user with more than one */
		{1, 1, 64, 0, 100, NONE}, /* all have one */
	};
	static const char ask[] = "{\"command\":\"state\"}\n";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fds[CLIENTS_MAX], comer;

		server_prepare();
		CU_ASSERT_EQUAL_FATAL(control_listen_readonly(server.control, other_path, NULL), 0);
		server_start();
		for (int k = 0; k < CLIENTS_MAX; k++) {
			unsigned user = k < rows[i].of_first ? 1
					: k < rows[i].of_first + rows[i].of_second
						? 2
						: 1000 + (unsigned)k;

			fds[k] = client_by(user, k < rows[i].idle_from ||
							 k >= rows[i].idle_from + rows[i].idle);
		}
		shown_user = rows[i].user;
		comer = raw_connect_to(other_path);
		send(comer, ask, sizeof(ask) - 1, MSG_NOSIGNAL); /* EPIPE: refused already */
		CU_ASSERT_PTR_NOT_NULL(strstr(raw_line(comer), rows[i].gives_way == NONE
								       ? "too many clients"
								       : "{\"ok\":true"));
		for (int k = 0; k < CLIENTS_MAX; k++) {
			CU_ASSERT_EQUAL(is_closed(fds[k]), k == rows[i].gives_way);
			close(fds[k]);
		}
		close(comer);
		server_halt();
		server_release();
	}
}

static int listen_rc(const char *where)
{
	struct loop *loop = loop_new();
	struct control *control = NULL;
	int rc = control_listen(loop, where, &control);

	CU_ASSERT_EQUAL(rc == 0, control != NULL);
	control_free(control);
	loop_free(loop);
	return rc;
}

/* A socket file whose server ended without removing it. */
static void leave_socket_file(void)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	control_address(path, &address);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL(listen(fd, 1), 0);
	close(fd);
}

static void test_path_in_use(void)
{
	server_prepare();
	server_start();
	CU_ASSERT_EQUAL(listen_rc(path), -EADDRINUSE);
	CU_ASSERT_EQUAL(state("finished"), 0); /* the first socket is unchanged */
	server_halt();
	server_release();
}

static void test_paths(void)
{
	char name[PATH_MAX];
	struct stat status;
	int fd;

	leave_socket_file();
	CU_ASSERT_EQUAL(listen_rc(path), 0);
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	CU_ASSERT_EQUAL(listen_rc(path), -EEXIST);
	CU_ASSERT_EQUAL(unlink(path), 0);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CU_ASSERT_EQUAL(listen_rc(name), -ENAMETOOLONG);
	CU_ASSERT_EQUAL(listen_rc(""), -ENOENT);
	CU_ASSERT_EQUAL(listen_rc("/nonexistent/control.sock"), -ENOENT);
	server_prepare();
	CU_ASSERT_EQUAL(stat(path, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 07777, 0660);
	unlink(path); /* a later file with the name is not ours to remove */
	leave_socket_file();
	control_free(server.control);
	loop_free(server.loop);
	CU_ASSERT_EQUAL(unlink(path), 0);
}

/* A server that answers with given bytes and closes. */
struct fake {
	pthread_t thread;
	int fd;
	const char *answer;
};

static void *fake_run(void *arg)
{
	const struct fake *fake = arg;
	int fd = accept4(fake->fd, NULL, NULL, SOCK_CLOEXEC);
	char byte = 0;

	while (byte != '\n' && recv(fd, &byte, 1, 0) == 1)
		;
	send(fd, fake->answer, strlen(fake->answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static char refusal[128]; /* of the last call */

static int call_fake(const char *answer)
{
	struct fake fake = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), .answer = answer};
	struct sockaddr_un address;
	json_t *result = NULL;
	char *error = NULL;
	int rc;

	control_address(path, &address);
	CU_ASSERT_EQUAL_FATAL(bind(fake.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fake.fd, 1), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&fake.thread, NULL, fake_run, &fake), 0);
	rc = call(command("x"), &result, &error);
	CU_ASSERT_EQUAL(rc == 0, result != NULL);
	CU_ASSERT_EQUAL(rc == -EREMOTEIO, error != NULL);
	pthread_join(fake.thread, NULL);
	close(fake.fd);
	unlink(path);
	snprintf(refusal, sizeof(refusal), "%s", error ? error : "");
	json_decref(result);
	free(error);
	return rc;
}

static void test_client_errors(void)
{
	static const struct {
		const char *answer;
		int rc;
	} cases[] = {
		{"", -ECONNRESET},
		{"{\"ok\":true}", -ECONNRESET}, /* cut short */
		{"{\"part\":1}\n", -ECONNRESET},
		{"garbage\n", -EPROTO},
		{"\n", -EPROTO},
		{"[]\n", -EPROTO},
		{"{}\n", -EPROTO},
		{"{\"ok\":1}\n", -EPROTO},
		{"{\"ok\":false}\n", -EPROTO},
		{"{\"ok\":false,\"error\":5}\n", -EPROTO},
		{"{\"ok\":false,\"error\":\"why\"}\n", -EREMOTEIO},
		{"{\"ok\":true}\n", 0},
		{"{\"part\":1}\n{\"ok\":true,\"result\":2}\n", 0},
	};
	json_t *result;
	char *error;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_EQUAL(call_fake(cases[i].answer), cases[i].rc);
	CU_ASSERT_EQUAL(call_fake("{\"ok\":false,\"error\":\"why\",\"version\":\"9.9\"}\n"),
			-EREMOTEIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(refusal, "why (weftd is of version 9.9, this is "));
	CU_ASSERT_EQUAL(call_fake("{\"ok\":true,\"version\":\"9.9\"}\n"), 0);
	CU_ASSERT_EQUAL(call(command("x"), &result, &error), -ENOENT);
	leave_socket_file();
	CU_ASSERT_EQUAL(call(command("x"), &result, &error), -ECONNREFUSED);
	unlink(path);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"call", test_call},
		{"parts", test_parts},
		{"lines good and bad", test_lines},
		{"requests in a row", test_pipelined},
		{"many requests at once", test_many_requests},
		{"line too long", test_oversize},
		{"stream", test_stream},
		{"small parts", test_small_parts},
		{"stream into a socket of moods", test_stream_of_moods},
		{"stream that rests", test_resting_stream},
		{"socket that only looks", test_readonly},
		{"long requests there", test_oversize_readonly},
		{"places", test_places},
		{"client stalls", test_stalled},
		{"client does not read", test_flood},
		{"client leaves", test_client_leaves},
		{"server leaves", test_server_leaves},
		{"too many clients", test_too_many_clients},
		{"path in use", test_path_in_use},
		{"other paths", test_paths},
		{"client's errors", test_client_errors},
		CU_TEST_INFO_NULL,
	};
	int failed;

	unsetenv("JOURNAL_STREAM");
	log_set_level("lib", LOG_ERR); /* how long a turn takes is of no interest here */
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/control.sock", directory);
	snprintf(other_path, sizeof(other_path), "%s/control-ro.sock", directory);
	failed = unit_main("control", tests);
	rmdir(directory);
	return failed;
}
