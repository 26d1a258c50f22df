/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages that wait for a socket: they arrive unchanged, whole and in order, even if the other end
 * reads slowly. The outbox reports its content correctly.
 */
#include "sim/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { MESSAGES = 3000, LONG_BYTES = 100000, BUFFER_BYTES = 2 * LONG_BYTES };

static uint8_t *bytes;
static int ends[2];

static void begin(void)
{
	bytes = mem_alloc(BUFFER_BYTES);
	CU_ASSERT_FATAL(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends));
}

static void end(struct outbox *outbox)
{
	outbox_done(outbox);
	close(ends[0]);
	close(ends[1]);
	free(bytes);
}

/* Of sizes that no alignment divides, some larger than any block. */
static size_t size_of(unsigned message)
{
	return message % 500 == 499 ? LONG_BYTES + message : 1 + message * 37 % 1000;
}

static void put(struct outbox *outbox, unsigned message)
{
	memset(bytes, (int)(message % 251), size_of(message));
	outbox_put(outbox, bytes, size_of(message));
}

/* Reads up to this many messages, from the first number on. */
static unsigned read_some(unsigned first, unsigned most)
{
	unsigned count = 0;

	for (; count < most; count++) {
		ssize_t got = recv(ends[1], bytes, BUFFER_BYTES, 0);

		if (got < 0)
			break;
		CU_ASSERT_EQUAL((size_t)got, size_of(first + count));
		CU_ASSERT_EQUAL(bytes[0], (first + count) % 251);
		CU_ASSERT_EQUAL(bytes[got - 1], (first + count) % 251);
	}
	return count;
}

static void test_slow_reader(void)
{
	struct outbox outbox = {0};
	size_t total = 0;
	unsigned got = 0, waited = 0;

	begin();
	for (unsigned m = 0; m < MESSAGES; m++) {
		put(&outbox, m);
		total += size_of(m);
	}
	CU_ASSERT_EQUAL(outbox.count, MESSAGES);
	CU_ASSERT_EQUAL(outbox.bytes, total);
	while (got < MESSAGES) {
		int result = outbox_flush(&outbox, ends[0]);
		unsigned now;

		CU_ASSERT_FATAL(result == 0 || result == -EAGAIN);
		CU_ASSERT_EQUAL(outbox.count == 0, result == 0);
		waited += result == -EAGAIN;
		now = read_some(got, 7);
		CU_ASSERT_FATAL(now > 0);
		got += now;
	}
	CU_ASSERT(waited > 1);
	CU_ASSERT_EQUAL(outbox.bytes, 0);
	CU_ASSERT_PTR_NULL(outbox.first);
	CU_ASSERT_PTR_NULL(outbox.last);
	end(&outbox);
}

static void test_first(void)
{
	struct outbox outbox = {0};
	const uint8_t *first;
	size_t size = 0;

	begin();
	CU_ASSERT_PTR_NULL(outbox_first(&outbox, &size));
	for (unsigned m = 0; m < MESSAGES; m++)
		put(&outbox, m);
	for (unsigned m = 0; m < MESSAGES; m++) {
		CU_ASSERT_EQUAL(outbox.count, MESSAGES - m);
		first = outbox_first(&outbox, &size);
		CU_ASSERT_PTR_NOT_NULL_FATAL(first);
		CU_ASSERT_EQUAL(size, size_of(m));
		CU_ASSERT_EQUAL(first[0], m % 251);
		CU_ASSERT_EQUAL(first[size - 1], m % 251);
		outbox_drop_first(&outbox);
	}
	CU_ASSERT_PTR_NULL(outbox_first(&outbox, &size));
	CU_ASSERT_EQUAL(outbox.bytes, 0);
	put(&outbox, 3); /* empty, it serves again, also after its content is dropped */
	outbox_done(&outbox);
	CU_ASSERT_EQUAL(outbox.count + outbox.bytes, 0);
	put(&outbox, 5);
	CU_ASSERT_EQUAL(outbox_flush(&outbox, ends[0]), 0);
	CU_ASSERT_EQUAL(read_some(5, 2), 1);
	end(&outbox);
}

/* If the other end closes, the error is reported and no unsent message is lost. */
static void test_gone(void)
{
	struct outbox outbox = {0};

	begin();
	put(&outbox, 1);
	put(&outbox, 2);
	close(ends[1]);
	ends[1] = dup(ends[0]);
	CU_ASSERT_EQUAL(outbox_flush(&outbox, ends[0]), -EPIPE);
	CU_ASSERT_EQUAL(outbox.count, 2);
	end(&outbox);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a slow reader", test_slow_reader},
		{"the first", test_first},
		{"an end that has gone", test_gone},
		CU_TEST_INFO_NULL,
	};

	return unit_main("outbox", tests);
}
