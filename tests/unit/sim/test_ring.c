/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rings that weftsim's server and its preload library share. The tests cover order and
 * contents, records at the end of the memory, tokens that exist exactly while data waits, and a
 * faulty other end.
 */
#include "sim/ring.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/unit/fixtures/unit.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct ring ring;

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

/* The size of a record, by its number; some are as long as there are. */
static uint32_t size_of(unsigned number)
{
	unsigned state = number + 1;
	uint32_t size = next_random(&state);

	return size % 50 == 0 ? RING_RECORD_MAX - size % 3 : 1 + size % 400;
}

static int put(unsigned number, uint32_t *tail)
{
	struct ring_record record = {.size = size_of(number), .whole = number};
	uint8_t *bytes;
	int err = ring_reserve(&ring, tail, record, &bytes);

	if (!err)
		memset(bytes, number & 0xFF, record.size);
	return err;
}

/* Whether the next record has this number. */
static int take(unsigned number, uint32_t *head)
{
	struct ring_record record;
	const uint8_t *bytes;
	int err = ring_take(&ring, head, &record, &bytes);
	uint32_t i;

	if (err)
		return err;
	if (record.whole != number || record.size != size_of(number))
		return -EINVAL;
	for (i = 0; i < record.size && bytes[i] == (number & 0xFF); i++)
		;
	return i == record.size ? 0 : -EINVAL;
}

static void begin(uint32_t place)
{
	memset(&ring, 0, sizeof(ring));
	atomic_store(&ring.tail, place);
	atomic_store(&ring.head, place);
}

/* Fills and empties it at every possible phase, also where places pass 2^32. */
static void test_order(void)
{
	uint32_t tail = -3 * RING_BYTES, head = tail;
	unsigned putting = 0, taking = 0, state = 1, burst, wrong = 0;

	begin(tail);
	while (taking < 20000) {
		for (burst = next_random(&state) % 300; burst && !put(putting, &tail); burst--)
			putting++;
		ring_publish(&ring, tail);
		for (burst = next_random(&state) % 300; burst && taking < putting; burst--)
			wrong += take(taking++, &head) != 0;
		ring_release(&ring, head);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(tail < -3u * RING_BYTES);
}

static void test_full_and_empty(void)
{
	struct ring_record record = {.size = RING_RECORD_MAX - 8}, taken;
	uint32_t tail = 0, head = 0;
	const uint8_t *read;
	uint8_t *bytes;
	unsigned i;

	begin(0);
	CU_ASSERT_EQUAL(ring_take(&ring, &head, &taken, &read), -EAGAIN);
	for (i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(ring_reserve(&ring, &tail, record, &bytes), 0);
	CU_ASSERT_EQUAL(tail, RING_BYTES);
	record.size = 1;
	CU_ASSERT_EQUAL(ring_reserve(&ring, &tail, record, &bytes), -EAGAIN);
	CU_ASSERT_EQUAL(tail, RING_BYTES);
	/* Not to be seen yet. */
	CU_ASSERT_EQUAL(ring_take(&ring, &head, &taken, &read), -EAGAIN);
	CU_ASSERT_TRUE(ring_publish(&ring, tail));
	CU_ASSERT_FALSE(ring_publish(&ring, tail));
	ring_want_room(&ring);
	for (i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(ring_take(&ring, &head, &taken, &read), 0);
		/* Reported once, when half is free. */
		CU_ASSERT_EQUAL(ring_release(&ring, head), i == 1);
		CU_ASSERT_EQUAL(ring_rest(&ring, head), i == 3);
	}
	CU_ASSERT_FALSE(ring_rest(&ring, head));
	CU_ASSERT_EQUAL(ring_reserve(&ring, &tail, record, &bytes), 0);
	CU_ASSERT_TRUE(ring_publish(&ring, tail));
}

enum { RECORDS = 100000 };

static int pair[2]; /* tokens go from the first to the second, room from the second to the first */

static void *put_all(void *arg)
{
	struct pollfd room = {.fd = pair[0], .events = POLLIN};
	unsigned number, state = 3;
	uint32_t tail = 0;
	char token;

	(void)arg;
	for (number = 0; number < RECORDS; number++) {
		if (next_random(&state) % 8 == 0)
			sched_yield(); /* the ring is to be empty often */
		while (put(number, &tail)) {
			ring_want_room(&ring);
			if (!put(number, &tail))
				break;
			poll(&room, 1, 1000);
			while (recv(pair[0], &token, 1, MSG_DONTWAIT) > 0)
				;
		}
		if (ring_publish(&ring, tail) && send(pair[0], "", 1, 0) != 1)
			abort();
	}
	return NULL;
}

/* Takes back the token that must come. */
static bool token_came(void)
{
	struct pollfd ready = {.fd = pair[1], .events = POLLIN};
	char token;

	return poll(&ready, 1, 20000) == 1 && recv(pair[1], &token, 1, 0) == 1;
}

/* Both sides run at full speed. The reader waits for a token, or every other time reads without a
 * token. A token that is taken back too early leaves it waiting. A token that is taken back too
 * late is left at the end. */
static void test_tokens(void)
{
	struct pollfd ready = {.fd = pair[1], .events = POLLIN};
	unsigned number = 0, wrong = 0;
	uint32_t head = 0;
	pthread_t thread;
	char token;
	int err;

	begin(0);
	pthread_create(&thread, NULL, put_all, NULL);
	while (number < RECORDS && !wrong) {
		if (number % 2)
			wrong += poll(&ready, 1, 20000) != 1;
		while (!(err = take(number, &head))) {
			number++;
			if (ring_release(&ring, head))
				wrong += send(pair[1], "", 1, 0) != 1;
		}
		wrong += err != -EAGAIN;
		if (ring_rest(&ring, head))
			wrong += !token_came();
	}
	CU_ASSERT_EQUAL(wrong, 0);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(number, RECORDS);
	CU_ASSERT_TRUE(recv(pair[1], &token, 1, MSG_DONTWAIT) < 0);
	CU_ASSERT_EQUAL(atomic_load(&ring.tail), head);
}

/* States that our own ends never write. */
static void test_spoilt(void)
{
	static const struct {
		uint32_t tail, size;
		int err;
	} cases[] = {
		{8, 0, -EPROTO}, /* unused up to the end, which is not there */
		{8, 1, -EPROTO},
		{16, 9, -EPROTO},
		{16, 8, 0},
		{12, 4, -EPROTO},
		{RING_BYTES, RING_RECORD_MAX, 0},
		{RING_BYTES, RING_RECORD_MAX + 1, -EPROTO},
		{RING_BYTES, UINT32_MAX, -EPROTO},
		{RING_BYTES, 0, -EAGAIN},
		{RING_BYTES + 8, 8, -EPROTO},
		{-8u, 8, -EPROTO},
	};
	struct ring_record record;
	const uint8_t *bytes;
	uint32_t head, tail;
	uint8_t *free_bytes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(0);
		*(struct ring_record *)ring.bytes = (struct ring_record){.size = cases[i].size};
		atomic_store(&ring.tail, cases[i].tail);
		head = 0;
		CU_ASSERT_EQUAL(ring_take(&ring, &head, &record, &bytes), cases[i].err);
	}
	begin(0);
	atomic_store(&ring.head, 8);
	tail = 0;
	CU_ASSERT_EQUAL(ring_reserve(&ring, &tail, (struct ring_record){.size = 8}, &free_bytes),
			-EPROTO);
	CU_ASSERT_EQUAL(tail, 0);
}

/* With random contents, each record that is taken lies within the memory. */
static void test_noise(void)
{
	unsigned state = 7, round, i, outside = 0;
	struct ring_record record;
	const uint8_t *bytes;
	uint32_t head;

	begin(0);
	for (round = 0; round < 2000; round++) {
		for (i = 0; i < RING_BYTES; i += 8 + next_random(&state) % 64 * 8)
			((struct ring_record *)(ring.bytes + i))->size =
				next_random(&state) % (round % 2 ? 600 : UINT32_MAX);
		head = next_random(&state) << 3;
		atomic_store(&ring.tail, head + (next_random(&state) % (RING_BYTES + 64)));
		for (i = 0; i < 100 && !ring_take(&ring, &head, &record, &bytes); i++)
			outside += bytes < ring.bytes || record.size > RING_BYTES ||
				   bytes + record.size > ring.bytes + RING_BYTES;
	}
	CU_ASSERT_EQUAL(outside, 0);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"order and contents", test_order},
		{"full and empty", test_full_and_empty},
		{"tokens", test_tokens},
		{"places and sizes that cannot be", test_spoilt},
		{"noise", test_noise},
		CU_TEST_INFO_NULL,
	};

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return 1;
	return unit_main("ring", tests);
}
