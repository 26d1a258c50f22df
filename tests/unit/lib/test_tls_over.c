/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* TLS over the streams of another carrier, here of pipes: data, wrong keys, revoked keys, ends. */
// WITH: tests/sim/loop_virtual.o tests/sim/pipe.o
#include <string.h>

#include "lib/mem.h"
#include "lib/tls_over.h"
#include "tests/sim/loop_virtual.h"
#include "tests/sim/pipe.h"
#include "tests/unit/fixtures/unit.h"

enum { MS = 1000, S = 1000000, SIZE = 500000 };

static struct loop *loop;
static struct pipe_net *pipes;

static struct end {
	struct stream_carrier *carrier;
	struct stream *stream;
	unsigned opened, accepted, closed, refused, drained;
	char why[STREAM_WHY_SIZE], identity[STREAM_IDENTITY_SIZE];
	bool in_clear;
	size_t size;
	uint8_t sum;
	bool closes; /* it closes the stream at the first bytes */
} server, client;

static void pass(uint64_t us)
{
	uint64_t end_us = loop_now_us(loop) + us, next_us;

	while ((next_us = loop_next_us(loop)) <= end_us)
		loop_step(loop, next_us > loop_now_us(loop) ? next_us : loop_now_us(loop));
	loop_set_now(loop, end_us);
}

static void over_opened(void *ctx)
{
	((struct end *)ctx)->opened++;
}

static void over_received(void *ctx, const uint8_t *bytes, size_t size)
{
	struct end *end = ctx;

	for (size_t i = 0; i < size; i++)
		end->sum = (uint8_t)(end->sum * 31 + bytes[i]);
	end->size += size;
	if (end->closes && end->stream) {
		stream_close(end->stream, false);
		end->stream = NULL;
	}
}

static void over_drained(void *ctx)
{
	((struct end *)ctx)->drained++;
}

static void over_closed(void *ctx, const char *why)
{
	struct end *end = ctx;

	end->closed++;
	end->stream = NULL;
	snprintf(end->why, sizeof(end->why), "%s", why);
}

static void over_accepted(void *ctx, struct stream *stream)
{
	struct end *end = ctx;

	end->accepted++;
	end->stream = stream;
	end->in_clear = stream->in_clear;
	memcpy(end->identity, stream->identity, sizeof(end->identity));
	stream->user =
		(struct stream_user){over_opened, over_received, over_drained, over_closed, end};
}

static void over_refused(void *ctx, const char *peer, const char *why)
{
	struct end *end = ctx;

	(void)peer;
	end->refused++;
	snprintf(end->why, sizeof(end->why), "%s", why);
}

/* A list with one key of 32 equal bytes. */
static struct psk_list key(const char *identity, uint8_t byte)
{
	struct psk_list keys = {.count = 1};

	snprintf(keys.list[0].identity, STREAM_IDENTITY_SIZE, "%s", identity);
	memset(keys.list[0].key, byte, 32);
	keys.list[0].size = 32;
	return keys;
}

static void begin(const struct psk_list *servers, const struct psk_list *clients)
{
	struct stream_listener listener = {over_accepted, over_refused, &server};
	static const struct stream_user user = {over_opened, over_received, over_drained,
						over_closed, &client};
	char why[STREAM_WHY_SIZE];

	loop = loop_new();
	pipes = pipe_net_new(loop, 3);
	memset(&server, 0, sizeof(server));
	memset(&client, 0, sizeof(client));
	server.carrier = tls_over_new(loop, pipe_open(pipes, "0x1"), servers);
	client.carrier = tls_over_new(loop, pipe_open(pipes, "0x2"), clients);
	CU_ASSERT_EQUAL(server.carrier->ops->listen(server.carrier, "0x1", &listener, why), 0);
	client.stream = client.carrier->ops->connect(client.carrier, "0x1", &user, why);
}

static void finish(void)
{
	server.carrier->ops->free(server.carrier);
	client.carrier->ops->free(client.carrier);
	pipe_net_free(pipes);
	loop_free(loop);
}

static void say(struct stream *stream, size_t size, uint8_t *sum)
{
	uint8_t *bytes = mem_alloc(size);

	for (size_t i = 0; i < size; i++) {
		bytes[i] = (uint8_t)(i * 7 + size);
		*sum = (uint8_t)(*sum * 31 + bytes[i]);
	}
	stream_send(stream, bytes, size);
	free(bytes);
}

static void test_data(void)
{
	struct psk_list keys = key("a-b", 5);
	uint8_t to_server = 0, to_client = 0;

	begin(&keys, &keys);
	pass(S);
	CU_ASSERT_EQUAL(client.opened, 1);
	CU_ASSERT_EQUAL_FATAL(server.accepted, 1);
	CU_ASSERT_STRING_EQUAL(server.identity, "a-b");
	CU_ASSERT_FALSE(server.in_clear);
	for (size_t size = 1; size < SIZE; size *= 3) {
		say(client.stream, size, &to_server);
		say(server.stream, size, &to_client);
		pass(size % 5 * MS);
	}
	pass(10 * S);
	CU_ASSERT_EQUAL(server.size, client.size);
	CU_ASSERT(server.size > SIZE / 2);
	CU_ASSERT_EQUAL(server.sum, to_server);
	CU_ASSERT_EQUAL(client.sum, to_client);
	CU_ASSERT(server.drained && client.drained);
	CU_ASSERT_EQUAL(stream_waiting(client.stream), 0);
	CU_ASSERT_EQUAL(client.closed + server.closed, 0);
	finish();
}

/* No text of the user passes the pipe in clear, and a changed byte ends the session. */
static void test_tampered(void)
{
	struct psk_list keys = key("a-b", 5);
	static const uint8_t junk[64] = {23, 3, 3, 0, 40};

	begin(&keys, &keys);
	pass(S);
	pipe_inject(pipes, "0x1", junk, sizeof(junk));
	pass(S);
	CU_ASSERT_EQUAL(client.closed, 1);
	CU_ASSERT_EQUAL(client.size, 0);
	CU_ASSERT_EQUAL(server.closed, 1);
	finish();
}

static void test_wrong_keys(void)
{
	struct psk_list one = key("a-b", 5), other = key("a-b", 6), third = key("x", 5);

	begin(&one, &other);
	pass(20 * S);
	CU_ASSERT_EQUAL(client.opened + server.accepted, 0);
	CU_ASSERT_EQUAL(client.closed, 1);
	CU_ASSERT_EQUAL(server.refused, 1);
	finish();
	begin(&one, &third);
	pass(20 * S);
	CU_ASSERT_EQUAL(client.opened + server.accepted, 0);
	CU_ASSERT_EQUAL(server.refused, 1);
	finish();
	other.list[0].has_peer = true; /* for another port only */
	begin(&one, &other);
	CU_ASSERT_PTR_NULL(client.stream);
	finish();
}

/* A peer that is silent, or sends no TLS. */
static void test_no_handshake(void)
{
	struct psk_list keys = key("a-b", 5);

	begin(&keys, &keys);
	pipe_cut(pipes, true);
	pass(20 * S);
	CU_ASSERT_EQUAL(client.closed, 1);
	finish();
	begin(&keys, &keys);
	while (loop_next_us(loop) < 150) /* until the pipe is open */
		loop_step(loop, loop_next_us(loop));
	pipe_cut(pipes, true);
	pass(4 * S);
	CU_ASSERT_EQUAL(server.refused, 0);
	pass(2 * S);
	CU_ASSERT_EQUAL(server.refused, 1);
	CU_ASSERT(strstr(server.why, "no key proved within 5 s") != NULL);
	pass(3 * S);
	CU_ASSERT_EQUAL(client.closed, 0);
	pass(2 * S);
	CU_ASSERT_EQUAL(client.closed, 1);
	CU_ASSERT(strstr(client.why, "no key proved within 10 s") != NULL);
	finish();
}

static void test_close(void)
{
	struct psk_list keys = key("a-b", 5);
	uint8_t sum = 0;

	begin(&keys, &keys);
	pass(S);
	say(client.stream, SIZE, &sum);
	stream_close(client.stream, true);
	pass(10 * S);
	CU_ASSERT_EQUAL(server.size, SIZE);
	CU_ASSERT_EQUAL(server.sum, sum);
	CU_ASSERT_EQUAL(server.closed, 1);
	CU_ASSERT_EQUAL(client.closed, 0);
	finish();
	begin(&keys, &keys);
	pass(S);
	server.closes = true;
	say(client.stream, SIZE, &sum);
	pass(10 * S);
	CU_ASSERT_EQUAL(client.closed, 1);
	CU_ASSERT_EQUAL(server.closed, 0);
	finish();
}

static struct end other_client;

/* A further client of the server; key NULL: that of the others. */
static struct stream_carrier *dial_again(const char *address, const struct psk_list *keys)
{
	static const struct stream_user user = {over_opened, over_received, over_drained,
						over_closed, &other_client};
	struct stream_carrier *carrier = tls_over_new(loop, pipe_open(pipes, address), keys);
	char why[STREAM_WHY_SIZE];

	memset(&other_client, 0, sizeof(other_client));
	other_client.stream = carrier->ops->connect(carrier, "0x1", &user, why);
	pass(S);
	return carrier;
}

/* A second session of an identity ends the first. Managers with the shared key do not end each
 * other's. */
static void test_second_session(void)
{
	struct psk_list keys = key("a-b", 5);
	struct stream_carrier *other;

	begin(&keys, &keys);
	pass(S);
	other = dial_again("0x3", &keys);
	CU_ASSERT_EQUAL(other_client.opened, 1);
	CU_ASSERT_EQUAL(server.accepted, 2);
	CU_ASSERT_EQUAL(server.closed, 1);
	CU_ASSERT(strstr(server.why, "with its identity \"a-b\" replaces it") != NULL);
	CU_ASSERT_EQUAL(client.closed, 1);
	other->ops->free(other);
	finish();
	keys.list[0].shared = true;
	begin(&keys, &keys);
	pass(S);
	other = dial_again("0x3", &keys);
	CU_ASSERT_EQUAL(server.accepted, 2);
	CU_ASSERT_EQUAL(server.closed, 0);
	other->ops->free(other);
	finish();
}

/* The line of a key names a port: the key is not valid elsewhere. */
static void test_other_port(void)
{
	struct psk_list keys = key("a-b", 5), bound = keys;

	bound.list[0].has_peer = true;
	bound.list[0].peer = host_of_guid(2);
	begin(&bound, &keys);
	pass(S);
	CU_ASSERT_EQUAL(server.accepted, 1);
	finish();
	bound.list[0].peer = host_of_guid(3);
	begin(&bound, &keys);
	pass(S);
	CU_ASSERT_EQUAL(server.accepted, 0);
	CU_ASSERT_EQUAL(server.refused, 1);
	CU_ASSERT(strstr(server.why, "has another port") != NULL);
	finish();
	host_parse("10.0.0.1", &bound.list[0].peer); /* of a connection over TCP */
	begin(&bound, &keys);
	pass(S);
	CU_ASSERT_EQUAL(server.accepted, 1);
	finish();
}

static void test_revoked(void)
{
	struct psk_list keys = key("a-b", 5), more = keys, other = key("a-b", 9);

	begin(&keys, &keys);
	pass(S);
	more.count = 2;
	more.list[1] = key("c", 7).list[0];
	tls_over_set_keys(server.carrier, &more);
	pass(S);
	CU_ASSERT_EQUAL(server.closed, 0);
	tls_over_set_keys(server.carrier, &other);
	pass(S);
	CU_ASSERT_EQUAL(server.closed, 1);
	CU_ASSERT(strstr(server.why, "\"a-b\", is no longer in ha_psk_file") != NULL);
	CU_ASSERT_EQUAL(client.closed, 1);
	finish();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"data", test_data},
		{"tampered bytes", test_tampered},
		{"wrong keys", test_wrong_keys},
		{"no handshake", test_no_handshake},
		{"close", test_close},
		{"a revoked key", test_revoked},
		{"a second session", test_second_session},
		{"the key of another port", test_other_port},
		CU_TEST_INFO_NULL,
	};

	return unit_main("tls_over", tests);
}
