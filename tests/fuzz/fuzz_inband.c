/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Streams over the fabric. A standby and a master have a session; the fuzzer sends further messages
 * and answers to both, with the right numbers of the session if it wants. Each is: source LID,
 * destination, attribute, flags (see below), number of the message (2), length of the payload (4),
 * size of the message (2), whether time passes. mad/inband.c.
 */
// WITH: tests/sim/loop_virtual.o
#include "lib/be.h"
#include "lib/guid.h"
#include "mad/inband.h"
#include "tests/fuzz/fuzz.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/mad_net.h"

enum { MESSAGES_MAX = 200, ENDS = 2, MS = 1000 };
enum {
	WRONG_TO = 1,
	WRONG_FROM = 2,
	ANSWER = 4,
	STATUS = 8,
	OTHER_OUI = 16,
	CLOSES = 32,
	SAYS = 64
};

static struct loop *loop;
static struct mad_net net;
static struct txn_table *txns[ENDS];
static struct stream_carrier *carriers[ENDS];
static struct stream *streams[ENDS];
static uint64_t numbers[ENDS]; /* of the session, at both ends */
static uint8_t tid[ENDS][8];   /* of the last request of an end */

static void spy(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)to;
	if (size < INBAND_HEADER_SIZE || mad[3] != METHOD_SET || !from->lid || from->lid > ENDS)
		return;
	memcpy(tid[from->lid - 1], mad + 8, 8);
	if (be64_load(mad + 56) && streams[from->lid - 1])
		numbers[from->lid - 1] = be64_load(mad + 56);
}

static void nothing(void *ctx)
{
	(void)ctx;
}

static void received(void *ctx, const uint8_t *bytes, size_t size)
{
	volatile uint8_t sum = 0;

	(void)ctx;
	for (size_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + bytes[i]);
}

static void closed(void *ctx, const char *why)
{
	(void)why;
	*(struct stream **)ctx = NULL;
}

static void accepted(void *ctx, struct stream *stream)
{
	streams[1] = stream;
	stream->user = (struct stream_user){nothing, received, nothing, closed, ctx};
}

static void refused(void *ctx, const char *peer, const char *why)
{
	(void)ctx;
	(void)peer;
	(void)why;
}

static bool finds(void *ctx, guid_t guid, struct mad_addr *out)
{
	(void)ctx;
	*out = (struct mad_addr){.lid = (lid_t)guid, .qpn = 1};
	return true;
}

static guid_t admits(void *ctx, lid_t lid)
{
	(void)ctx;
	return lid == 1 ? 1 : 0;
}

static void pass(uint64_t us)
{
	uint64_t end_us = loop_now_us(loop) + us, next_us;

	while ((next_us = loop_next_us(loop)) <= end_us)
		loop_step(loop, next_us > loop_now_us(loop) ? next_us : loop_now_us(loop));
	loop_set_now(loop, end_us);
}

static void begin(void)
{
	struct inband_owner owner = {finds, admits, NULL, NULL, NULL};
	struct stream_listener listener = {accepted, refused, &streams[1]};
	struct stream_user user = {nothing, received, nothing, closed, &streams[0]};
	char why[STREAM_WHY_SIZE];

	loop = loop_new();
	mad_net_init(&net, loop, INBAND_MESSAGE_MAX);
	net.tap = spy;
	for (unsigned i = 0; i < ENDS; i++) {
		streams[i] = NULL;
		txns[i] = txn_table_new(loop, &net.port[i].transport);
		carriers[i] = inband_new(loop, txns[i], &owner);
	}
	carriers[1]->ops->listen(carriers[1], "", &listener, why);
	streams[0] = carriers[0]->ops->connect(carriers[0], "0x2", &user, why);
	pass(MS);
	if (streams[0])
		stream_send(streams[0], "hello", 5);
	pass(MS);
	if (streams[1])
		stream_send(streams[1], "hello", 5);
	pass(MS);
}

static void finish(void)
{
	for (unsigned i = 0; i < ENDS; i++) {
		carriers[i]->ops->free(carriers[i]);
		txn_table_free(txns[i]);
	}
	mad_net_done(&net);
	loop_free(loop);
}

static void message(struct fuzz_bytes *in)
{
	lid_t from = fuzz_byte(in) % 4, to = 1 + fuzz_byte(in) % ENDS;
	uint8_t attr = fuzz_byte(in), flags = fuzz_byte(in), number[2], length[4], size[2];
	uint8_t mad[INBAND_MESSAGE_MAX + 8] = {1, INBAND_CLASS, 1, METHOD_SET};
	size_t mad_size;

	fuzz_take(in, number, sizeof(number));
	fuzz_take(in, length, sizeof(length));
	fuzz_take(in, size, sizeof(size));
	mad_size = be16_load(size) % (sizeof(mad) + 1);
	if (flags & CLOSES && streams[to - 1]) {
		stream_close(streams[to - 1], attr & 1);
		streams[to - 1] = NULL;
	}
	if (flags & SAYS && streams[to - 1])
		stream_send(streams[to - 1], mad, mad_size);
	mad[17] = attr;
	memcpy(mad + 8, tid[to - 1], 8);
	be32_store(mad + 36, flags & OTHER_OUI ? 0x001405 : INBAND_OUI);
	mad[40] = INBAND_VERSION;
	memcpy(mad + 44, length, sizeof(length));
	be64_store(mad + 48, numbers[to - 1] ^ (flags & WRONG_TO ? 2 : 0));
	be64_store(mad + 56, numbers[ENDS - to] ^ (flags & WRONG_FROM ? 2 : 0));
	be64_store(mad + 64, be16_load(number));
	if (flags & ANSWER) {
		mad[3] = METHOD_GET_RESP;
		mad[5] = flags & STATUS ? STATUS_UNSUP_METHOD_ATTR : 0;
		mad[41] = number[0];
	}
	mad_net_forge(&net, from, to, mad, mad_size < MAD_SIZE ? MAD_SIZE : mad_size);
	pass(fuzz_byte(in) * (uint64_t)MS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};

	begin();
	for (unsigned i = 0; in.left && i < MESSAGES_MAX; i++)
		message(&in);
	pass(20000 * (uint64_t)MS);
	finish();
	return 0;
}
