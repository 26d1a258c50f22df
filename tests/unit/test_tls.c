/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* TLS with a key that both ends know, over the loopback interface: lib/tls.h. */
// LINK: lib/*.o
// LIBS: -lsystemd -ljansson
#include "lib/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tests/unit/unit.h"

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
	struct end accepted, connected, second;
	unsigned refused;
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
	(void)ctx;
	stream->user = user_of(&bed.accepted);
	bed.accepted.stream = stream;
	bed.accepted.opened++;
}

static void on_refused(void *ctx, const char *peer, const char *why)
{
	(void)ctx;
	CU_ASSERT_EQUAL(strncmp(peer, "127.0.0.1:", 10), 0);
	bed.refused++;
	snprintf(bed.why, sizeof(bed.why), "%s", why);
}

static void too_late(void *arg)
{
	(void)arg;
	bed.late = true;
	loop_stop(bed.loop, 0);
}

/* A port that is free now; somebody else may take it before it is used. */
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

static struct tls_key key_of(uint8_t byte)
{
	struct tls_key key = {.size = 32};

	memset(key.bytes, byte, key.size);
	return key;
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

static void bed_begin(uint8_t server_key, uint8_t client_key)
{
	struct tls_key mine = key_of(server_key), theirs = key_of(client_key);

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
	CU_ASSERT_FALSE(bed.late);
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
	bed_begin(1, 1);
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

/* What was sent before a polite end arrives; who closes hears nothing more. */
static void test_last_words(void)
{
	bed_begin(1, 1);
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
	bed_begin(1, 1);
	bed_connect();
	bed_run(both_open);
	stream_close(bed.connected.stream, false);
	bed_run(server_is_closed);
	CU_ASSERT_EQUAL(bed.connected.closed, 0);
	bed_end();
}

static void test_wrong_key(void)
{
	bed_begin(1, 2);
	bed_connect();
	bed_run(both_refuse);
	CU_ASSERT_EQUAL(bed.accepted.opened + bed.connected.opened, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.why, "ha_psk_file"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.connected.why, "ha_psk_file"));
	bed_end();
}

static int raw_connection(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_port = htons((uint16_t)atoi(strchr(bed.address, ':') + 1));
	CU_ASSERT_FATAL(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

static bool somebody_is_refused(void)
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
	return bed.accepted.opened == 2 && bed.second.opened;
}

/* The peer that was there first is still heard. */
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

	bed_begin(1, 1);
	bed_connect();
	bed_run(both_open);
	fds[0] = raw_connection();
	CU_ASSERT_EQUAL(write(fds[0], noise, sizeof(noise)), (ssize_t)sizeof(noise));
	bed_run(somebody_is_refused);
	close(fds[0]);
	bed.refused = 0;
	/* Those who say nothing take all places, but none of those that are peers already. */
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = raw_connection();
	bed_run(somebody_is_refused);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.why, "too many"));
	check_first_peer();
	bed.refused = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	/* They have gone, so there is a place again. */
	bed_run(all_places_are_free);
	CU_ASSERT_EQUAL(bed.accepted.opened, 1);
	connect_end(&bed.second);
	bed_run(second_is_open);
	check_first_peer();
	bed_end();
}

static bool nobody_answers(void)
{
	return bed.connected.closed;
}

static void test_nobody_there(void)
{
	bed_begin(1, 1);
	snprintf(bed.address, sizeof(bed.address), "127.0.0.1:%u", free_port());
	bed_connect();
	bed_run(nobody_answers);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.connected.why, "refused"));
	bed_end();
}

static void test_addresses(void)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{"10.0.0.1", true},
		{"10.0.0.1:1", true},
		{"[::1]:99", true},
		{"[::1]", true},
		{"::1", true},
		{"fe80::1", true},
		{"", false},
		{"host.example", false},
		{"10.0.0.1:", false},
		{"10.0.0.1:99999999", false},
		{"[::1", false},
		{"[::1]9", false},
		{"10.0.0.1:http", false},
		{"10.0.0.1 ", false},
	};
	char why[STREAM_WHY_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (tls_is_address(cases[i].text, why) != cases[i].good)
			CU_FAIL(cases[i].text);
}

static int try_key(const char *path, const char *text, mode_t mode, struct tls_key *key,
		   char why[STREAM_WHY_SIZE])
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode))
		abort();
	close(fd);
	return tls_key_read(path, key, why);
}

#define HEX32 "00112233445566778899AABBccddeeff"

static void test_key_file(void)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *why; /* NULL: it is good */
	} cases[] = {
		{HEX32 "\n", 0600, NULL},
		{HEX32, 0400, NULL},
		{HEX32 HEX32 HEX32 HEX32 "\n", 0600, NULL},
		{HEX32, 0640, "chmod 600"},
		{HEX32, 0604, "chmod 600"},
		{HEX32 HEX32 HEX32 HEX32 "00", 0600, "no key of 32 to 128"},
		{"", 0600, "no key of 32 to 128"},
		{"00112233445566778899aabbccddee", 0600, "no key"},
		{HEX32 "0", 0600, "no key"},
		{"0011223344556677 8899aabbccddeeff", 0600, "no key"},
		{"secret secret secret secret secret", 0600, "no key"},
	};
	char path[] = "/tmp/weft-tls.XXXXXX", why[STREAM_WHY_SIZE];
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tls_key key = {.size = 99};
		int error = try_key(path, cases[i].text, cases[i].mode, &key, why);

		CU_ASSERT_EQUAL(!error, !cases[i].why);
		if (error)
			CU_ASSERT_EQUAL(key.size, 99);
		if (error && cases[i].why && !strstr(why, cases[i].why))
			CU_FAIL(why);
		if (!error && (key.bytes[1] != 0x11 || key.bytes[10] != 0xAA))
			CU_FAIL("the key is another");
	}
	unlink(path);
	CU_ASSERT_EQUAL(tls_key_read(path, &(struct tls_key){0}, why), -ENOENT);
	CU_ASSERT_EQUAL(tls_key_read("/tmp", &(struct tls_key){0}, why), -EINVAL);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"there and back", test_there_and_back},
		{"last words", test_last_words},
		{"a peer that goes", test_peer_goes},
		{"a wrong key", test_wrong_key},
		{"strangers", test_strangers},
		{"nobody there", test_nobody_there},
		{"addresses", test_addresses},
		{"the file of the key", test_key_file},
		CU_TEST_INFO_NULL,
	};

	return unit_main("tls", tests);
}
