/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* TLS with keys that both ends know, over the loopback interface: lib/tls.h. */
#include "lib/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { MUCH = 3000000, LIMIT_US = 60000000, PLACES = 8, PORTS_TRIED = 100 };

struct end {
	struct stream *stream;
	size_t to_send, sent, received, wrong;
	unsigned opened, closed;
	bool echoes;
	char why[STREAM_WHY_SIZE];
};

static struct bed {
	struct loop *loop;
	struct stream_carrier *server, *client;
	struct end accepted, later[3]; /* the first that was accepted, and those after it */
	struct end connected, second;
	unsigned num_accepted, refused;
	char peer[STREAM_PEER_SIZE]; /* of the last that was accepted */
	char why[STREAM_WHY_SIZE], address[32];
	bool (*over)(void);
	struct loop_timer limit;
	bool late;
} bed;

static uint8_t byte_at(size_t place)
{
	return (uint8_t)(place * 31 + place / 251);
}

static void on_opened(void *ctx)
{
	struct end *end = ctx;

	end->opened++;
}

static void on_received(void *ctx, const uint8_t *bytes, size_t size)
{
	struct end *end = ctx;

	for (size_t i = 0; i < size; i++)
		end->wrong += bytes[i] != byte_at(end->received + i);
	end->received += size;
	if (end->echoes)
		stream_send(end->stream, bytes, size);
}

static void on_drained(void *ctx)
{
	struct end *end = ctx;
	uint8_t bytes[5000];

	while (end->sent < end->to_send && stream_waiting(end->stream) < STREAM_LOW_BYTES) {
		size_t size = end->to_send - end->sent;

		size = size < sizeof(bytes) ? size : sizeof(bytes);
		for (size_t i = 0; i < size; i++)
			bytes[i] = byte_at(end->sent + i);
		stream_send(end->stream, bytes, size);
		end->sent += size;
	}
}

static void on_closed(void *ctx, const char *why)
{
	struct end *end = ctx;

	end->closed++;
	end->stream = NULL;
	snprintf(end->why, sizeof(end->why), "%s", why);
}

static struct stream_user user_of(struct end *end)
{
	return (struct stream_user){.opened = on_opened,
				    .received = on_received,
				    .drained = on_drained,
				    .closed = on_closed,
				    .ctx = end};
}

static void on_accepted(void *ctx, struct stream *stream)
{
	struct end *end = bed.num_accepted ? &bed.later[bed.num_accepted - 1] : &bed.accepted;

	(void)ctx;
	CU_ASSERT_FATAL(++bed.num_accepted <= 1 + ARRAY_SIZE(bed.later));
	stream->user = user_of(end);
	end->stream = stream;
	end->opened++;
	memcpy(bed.peer, stream->peer, sizeof(bed.peer));
}

static void on_refused(void *ctx, const char *peer, const char *why)
{
	(void)ctx;
	CU_ASSERT_EQUAL(strncmp(peer, "127.0.0.", 8), 0);
	bed.refused++;
	snprintf(bed.why, sizeof(bed.why), "%s", why);
}

static void too_late(void *arg)
{
	(void)arg;
	bed.late = true;
	loop_stop(bed.loop, 0);
}

/* A port that is free now; another program may take it before it is used. */
static uint16_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CU_ASSERT_FATAL(fd >= 0 && !bind(fd, (struct sockaddr *)&address, size) &&
			!getsockname(fd, (struct sockaddr *)&address, &size));
	close(fd);
	return ntohs(address.sin_port);
}

/* Lines of a file of keys, separated by commas: "3" is the key of bytes 3 that is shared, "b 3" has
 * a name, and "b 3 127.0.0.1" an address besides. */
static struct psk_list keys_of(const char *lines)
{
	struct psk_list keys = {.count = 0};
	char *copy = mem_strdup(lines), *rest = copy, *line;

	while ((line = strsep(&rest, ","))) {
		char *first = strsep(&line, " "), *second = strsep(&line, " ");
		struct psk *psk = &keys.list[keys.count++];

		psk->shared = !second;
		snprintf(psk->identity, sizeof(psk->identity), "%s", second ? first : "weft");
		psk->size = 32;
		memset(psk->key, atoi(second ? second : first), psk->size);
		psk->has_peer = line && host_parse(line, &psk->peer);
	}
	free(copy);
	return keys;
}

static void bed_listen(void)
{
	struct stream_listener listener = {.accepted = on_accepted, .refused = on_refused};
	char why[STREAM_WHY_SIZE];
	int error = -EADDRINUSE;

	for (unsigned i = 0; i < PORTS_TRIED && error == -EADDRINUSE; i++) {
		snprintf(bed.address, sizeof(bed.address), "127.0.0.1:%u", free_port());
		error = bed.server->ops->listen(bed.server, bed.address, &listener, why);
	}
	CU_ASSERT_EQUAL_FATAL(error, 0);
}

static void bed_begin(const char *server_keys, const char *client_keys)
{
	struct psk_list mine = keys_of(server_keys), theirs = keys_of(client_keys);

	memset(&bed, 0, sizeof(bed));
	bed.loop = loop_new();
	bed.server = tls_new(bed.loop, &mine, 1);
	bed.client = tls_new(bed.loop, &theirs, 1);
	bed_listen();
	loop_timer_init(&bed.limit, bed.loop, "limit", too_late, NULL);
}

static void connect_end(struct end *end)
{
	struct stream_user user = user_of(end);
	char why[STREAM_WHY_SIZE];

	end->stream = bed.client->ops->connect(bed.client, bed.address, &user, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(end->stream);
}

static void bed_connect(void)
{
	connect_end(&bed.connected);
}

static void look(void *arg)
{
	if (bed.over())
		loop_stop(bed.loop, 0);
	else
		loop_timer_arm(arg, 1000);
}

static void bed_run(bool (*over)(void))
{
	struct loop_timer looks;

	bed.over = over;
	loop_timer_init(&looks, bed.loop, "looks", look, &looks);
	loop_timer_arm(&looks, 1);
	loop_timer_arm(&bed.limit, LIMIT_US);
	loop_run(bed.loop);
	loop_timer_disarm(&bed.limit);
	loop_timer_disarm(&looks);
	CU_ASSERT_FALSE_FATAL(bed.late);
}

static void bed_end(void)
{
	bed.client->ops->free(bed.client);
	bed.server->ops->free(bed.server);
	loop_free(bed.loop);
}

static bool both_open(void)
{
	return bed.accepted.opened && bed.connected.opened;
}

static bool all_is_back(void)
{
	return bed.connected.received == MUCH;
}

static bool client_is_closed(void)
{
	return bed.connected.closed;
}

static bool server_is_closed(void)
{
	return bed.accepted.closed;
}

static bool both_refuse(void)
{
	return bed.refused && bed.connected.closed;
}

static void test_there_and_back(void)
{
	bed_begin("1", "1");
	bed.accepted.echoes = true;
	bed.connected.to_send = MUCH;
	bed_connect();
	bed_run(all_is_back);
	CU_ASSERT_EQUAL(bed.accepted.received, MUCH);
	CU_ASSERT_EQUAL(bed.accepted.wrong + bed.connected.wrong, 0);
	CU_ASSERT_EQUAL(bed.accepted.opened, 1);
	CU_ASSERT_EQUAL(bed.connected.opened, 1);
	CU_ASSERT_EQUAL(bed.refused, 0);
	bed_end();
}

/* Data sent before an orderly end arrives. The side that closes receives no more. */
static void test_last_words(void)
{
	bed_begin("1", "1");
	bed_connect();
	bed_run(both_open);
	bed.accepted.to_send = 300000;
	while (bed.accepted.sent < bed.accepted.to_send) {
		uint8_t byte = byte_at(bed.accepted.sent++);

		stream_send(bed.accepted.stream, &byte, 1);
	}
	stream_close(bed.accepted.stream, true);
	bed_run(client_is_closed);
	CU_ASSERT_EQUAL(bed.connected.received, 300000);
	CU_ASSERT_EQUAL(bed.connected.wrong, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.connected.why, "closed"));
	CU_ASSERT_EQUAL(bed.accepted.closed, 0);
	bed_end();
}

static void test_peer_goes(void)
{
	bed_begin("1", "1");
	bed_connect();
	bed_run(both_open);
	stream_close(bed.connected.stream, false);
	bed_run(server_is_closed);
	CU_ASSERT_EQUAL(bed.connected.closed, 0);
	bed_end();
}

static void test_wrong_key(void)
{
	bed_begin("1", "2");
	bed_connect();
	bed_run(both_refuse);
	CU_ASSERT_EQUAL(bed.accepted.opened + bed.connected.opened, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.why, "ha_psk_file"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.connected.why, "ha_psk_file"));
	bed_end();
}

/* From 127.0.0.host. */
static int raw_connection(unsigned host)
{
	struct sockaddr_in own = {.sin_family = AF_INET,
				  .sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xFFu) | host)};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CU_ASSERT_FATAL(!bind(fd, (struct sockaddr *)&own, sizeof(own)));
	address.sin_port = htons((uint16_t)atoi(strchr(bed.address, ':') + 1));
	CU_ASSERT_FATAL(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

static bool is_refused(void)
{
	return bed.refused;
}

static bool all_places_are_free(void)
{
	return bed.refused == PLACES;
}

static bool all_has_arrived(void)
{
	return bed.accepted.received == bed.connected.sent;
}

static bool second_is_open(void)
{
	return bed.later[0].opened && bed.second.opened;
}

static bool first_is_closed_twice(void)
{
	return bed.accepted.closed && bed.connected.closed;
}

/* The first peer still sends and receives. */
static void check_first_peer(void)
{
	uint8_t byte = byte_at(bed.connected.sent++);

	CU_ASSERT_PTR_NOT_NULL_FATAL(bed.connected.stream);
	stream_send(bed.connected.stream, &byte, 1);
	bed_run(all_has_arrived);
	CU_ASSERT_EQUAL(bed.accepted.wrong, 0);
	CU_ASSERT_EQUAL(bed.accepted.closed + bed.connected.closed, 0);
}

static void test_strangers(void)
{
	static const char noise[] = "GET / HTTP/1.0\r\n\r\n";
	int fds[PLACES + 1];

	bed_begin("1", "1");
	bed_connect();
	bed_run(both_open);
	fds[0] = raw_connection(1);
	CU_ASSERT_EQUAL(write(fds[0], noise, sizeof(noise)), (ssize_t)sizeof(noise));
	bed_run(is_refused);
	close(fds[0]);
	bed.refused = 0;
	/* Silent connections take all places, but none of the established peers. */
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = raw_connection(10 + i / 2);
	bed_run(is_refused);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.why, "too many"));
	check_first_peer();
	bed.refused = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	/* They have gone, so there is a place again. */
	bed_run(all_places_are_free);
	CU_ASSERT_EQUAL(bed.num_accepted, 1);
	connect_end(&bed.second);
	bed_run(second_is_open);
	check_first_peer();
	bed_end();
}

/* Idle connections from some addresses, then a good handshake from 127.0.0.1. */
static void test_places(void)
{
	static const struct {
		const char *known[2];
		unsigned first, hosts, each; /* of the idle connections: 127.0.0.first and so on */
		bool opens;
		unsigned refused;
	} rows[] = {
		/* One address has two places at most. */
		{{NULL}, 2, 1, 16, true, 14},
		/* Where all places are taken the oldest handshake ends. */
		{{NULL}, 2, 4, 2, true, 1},
		{{NULL}, 2, 8, 1, true, 1},
		{{NULL}, 2, 7, 1, true, 0},
		/* A known peer has places of its own: addresses 6 to 9 end the handshakes of 2
		   to 5. */
		{{"127.0.0.1"}, 2, 8, 4, true, 8 * 2 + 8},
		{{"127.0.0.99", "127.0.0.1:15725"}, 2, 4, 2, true, 0},
		/* Its own idle connections end, the oldest first. */
		{{"127.0.0.1"}, 1, 1, 3, true, 0},
		{{"127.0.0.1"}, 1, 1, 4, true, 1},
		{{"127.0.0.1"}, 1, 1, 9, true, 6},
		/* A known peer at another address has the share of a stranger. */
		{{"127.0.0.99"}, 1, 1, 2, false, 1},
		{{"127.0.0.99"}, 1, 1, 1, true, 0},
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		int fds[32];
		unsigned count = 0;

		bed_begin("1", "1");
		for (unsigned i = 0; i < 2 && rows[n].known[i]; i++)
			tls_expect(bed.server, rows[n].known[i]);
		for (unsigned host = 0; host < rows[n].hosts; host++)
			for (unsigned i = 0; i < rows[n].each; i++)
				fds[count++] = raw_connection(rows[n].first + host);
		bed_connect();
		bed_run(rows[n].opens ? both_open : client_is_closed);
		CU_ASSERT_EQUAL(bed.accepted.opened, rows[n].opens);
		CU_ASSERT_EQUAL(bed.refused, rows[n].refused);
		while (count)
			close(fds[--count]);
		bed_end();
	}
}

/* A peer whose host has lost its power sends no reset, and data to it stays queued. The kernel
 * gives up after ten seconds (RFC 5482; TCP_USER_TIMEOUT in tcp(7)) on both ends of a session. */
static void test_user_timeout(void)
{
	unsigned ends = 0;

	bed_begin("1", "1");
	bed_connect();
	bed_run(both_open);
	for (int fd = 0; fd < 256; fd++) {
		struct sockaddr_in peer;
		socklen_t size = sizeof(peer);
		unsigned unsent_ms;

		if (getpeername(fd, (struct sockaddr *)&peer, &size) || peer.sin_family != AF_INET)
			continue;
		size = sizeof(unsent_ms);
		CU_ASSERT_EQUAL(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, &size),
				0);
		CU_ASSERT_EQUAL(unsent_ms, 10000);
		ends++;
	}
	CU_ASSERT_EQUAL(ends, 2);
	bed_end();
}

/* A handshake that does not go on ends after two seconds, and its place is free. */
static void test_deadline(void)
{
	int fd;

	bed_begin("1", "1");
	fd = raw_connection(2);
	bed_run(is_refused);
	CU_ASSERT_STRING_EQUAL(bed.why, "no answer within 2 s");
	close(fd);
	bed_end();
}

/* A peer is known by the address of its ha_listen. */
static void test_own_address(void)
{
	struct stream_listener listener = {.accepted = on_accepted, .refused = on_refused};
	char address[32], why[STREAM_WHY_SIZE];

	bed_begin("1", "1");
	snprintf(address, sizeof(address), "127.0.0.7:%u", free_port());
	CU_ASSERT_EQUAL(bed.client->ops->listen(bed.client, address, &listener, why), 0);
	bed_connect();
	bed_run(both_open);
	CU_ASSERT_EQUAL(strncmp(bed.peer, "127.0.0.7:", 10), 0);
	CU_ASSERT_EQUAL(strncmp(bed.connected.stream->peer, "127.0.0.1:", 10), 0);
	bed_end();
}

/* Which keys open a session, and whose it is then. */
static void test_identities(void)
{
	static const struct {
		const char *server, *client;
		const char *identity; /* NULL: it is refused */
	} rows[] = {
		{"1", "1", "weft"},
		{"b 1", "b 1", "b"},
		{"b 1,c 2", "b 1", "b"},
		{"b 1,c 2", "c 2", "c"},
		{"1,c 2", "c 2", "c"},
		{"1,c 2", "1", "weft"},
		/* The right key with another name, and the other way round. */
		{"b 1", "c 1", NULL},
		{"b 1", "b 2", NULL},
		{"b 1,c 2", "b 2", NULL},
		{"b 1", "1", NULL},
		{"1", "b 1", NULL},
		{"b 1", "bb 1", NULL},
		{"bb 1", "b 1", NULL},
		/* The line that has the address of the peer, else the first one without any. */
		{"b 1,c 2", "b 1,c 2 127.0.0.1", "c"},
		{"b 1,c 2", "c 2 127.0.0.2,b 1", "b"},
		{"b 1,c 2", "b 1,c 2", "b"},
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		bed_begin(rows[n].server, rows[n].client);
		bed_connect();
		bed_run(rows[n].identity ? both_open : both_refuse);
		CU_ASSERT_EQUAL(bed.accepted.opened, rows[n].identity != NULL);
		CU_ASSERT_EQUAL(bed.connected.opened, rows[n].identity != NULL);
		if (bed.accepted.stream && rows[n].identity) {
			CU_ASSERT_STRING_EQUAL(bed.accepted.stream->identity, rows[n].identity);
			CU_ASSERT_STRING_EQUAL(bed.connected.stream->identity, rows[n].identity);
		}
		bed_end();
	}
}

static void test_no_key(void)
{
	struct stream_user user = user_of(&bed.connected);
	char why[STREAM_WHY_SIZE] = "";

	bed_begin("b 1", "b 1 127.0.0.2");
	CU_ASSERT_PTR_NULL(bed.client->ops->connect(bed.client, bed.address, &user, why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "no line of ha_psk_file"));
	bed_end();
}

/* A second session with a name ends the first session. The key without a name may have many
 * sessions. */
static void test_second_session(void)
{
	for (unsigned named = 0; named < 2; named++) {
		bed_begin(named ? "b 1" : "1", named ? "b 1" : "1");
		bed_connect();
		bed_run(both_open);
		connect_end(&bed.second);
		bed_run(second_is_open);
		if (named) {
			bed_run(first_is_closed_twice);
			CU_ASSERT_PTR_NOT_NULL(strstr(bed.accepted.why, "identity \"b\""));
		} else {
			check_first_peer();
		}
		CU_ASSERT_EQUAL(bed.later[0].closed + bed.second.closed, 0);
		bed_end();
	}
}

/* The effect of new keys on a session with the key "b 1". */
static void test_revoking(void)
{
	static const struct {
		const char *keys;
		bool stays;
	} rows[] = {
		{"b 1", true},	{"c 2,b 1", true}, {"b 1 127.0.0.9", true},
		{"c 2", false}, {"b 2", false},	   {"c 1", false},
		{"1", false},
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		struct psk_list keys = keys_of(rows[n].keys);

		bed_begin("b 1,d 9", "b 1");
		bed_connect();
		bed_run(both_open);
		tls_set_keys(bed.server, &keys);
		CU_ASSERT_EQUAL(bed.accepted.closed, !rows[n].stays);
		if (rows[n].stays) {
			check_first_peer();
		} else {
			CU_ASSERT_PTR_NOT_NULL(
				strstr(bed.accepted.why, "no longer in ha_psk_file"));
			bed_run(client_is_closed);
		}
		connect_end(&bed.second);
		bed_run(rows[n].stays ? second_is_open : is_refused);
		bed_end();
	}
}

static bool connect_fails(void)
{
	return bed.connected.closed;
}

static void test_no_listener(void)
{
	bed_begin("1", "1");
	snprintf(bed.address, sizeof(bed.address), "127.0.0.1:%u", free_port());
	bed_connect();
	bed_run(connect_fails);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.connected.why, "refused"));
	bed_end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"there and back", test_there_and_back},
		{"last words", test_last_words},
		{"a peer that goes", test_peer_goes},
		{"a wrong key", test_wrong_key},
		{"strangers", test_strangers},
		{"places", test_places},
		{"data that a peer does not take", test_user_timeout},
		{"the deadline of a handshake", test_deadline},
		{"connections come from the own address", test_own_address},
		{"identities", test_identities},
		{"no key for an address", test_no_key},
		{"a second session", test_second_session},
		{"keys are revoked", test_revoking},
		{"no listener", test_no_listener},
		CU_TEST_INFO_NULL,
	};

	return unit_main("tls", tests);
}
