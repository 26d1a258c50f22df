/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Streams over MADs, on ports that lose, repeat and reorder messages; their format, byte by byte;
 * and forged messages of a third port.
 */
// WITH: tests/sim/loop_virtual.o
#include <string.h>

#include "lib/be.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "mad/inband.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/hex.h"
#include "tests/unit/fixtures/mad_net.h"
#include "tests/unit/fixtures/unit.h"

enum { MS = 1000, S = 1000000, STANDBY = 1, MASTER = 2, ROGUE = 3 };

struct end { /* a port with a carrier */
	lid_t lid;
	struct txn_table *txns;
	struct stream_carrier *carrier; /* NULL: none */
	struct stream *stream;
	unsigned opened, closed, drained, accepted, refused, unanswered, answered;
	char why[STREAM_WHY_SIZE];
	uint8_t *got;
	size_t size;
	bool closes; /* it closes the stream at the first bytes */
};

static struct loop *loop;
static struct mad_net net;
static struct end ends[MAD_NET_PORTS];
static lid_t known; /* the port of the standby; 0: none is known */

static guid_t inband_guid(lid_t lid)
{
	return 0x100 + lid;
}

static void pass(uint64_t us)
{
	uint64_t end_us = loop_now_us(loop) + us, next_us;

	while ((next_us = loop_next_us(loop)) <= end_us)
		loop_step(loop, next_us > loop_now_us(loop) ? next_us : loop_now_us(loop));
	loop_set_now(loop, end_us);
}

/* The user of a stream */

static void on_opened(void *ctx)
{
	((struct end *)ctx)->opened++;
}

static void on_received(void *ctx, const uint8_t *bytes, size_t size)
{
	struct end *end = ctx;

	end->got = mem_resize(end->got, end->size + size, 1);
	memcpy(end->got + end->size, bytes, size);
	end->size += size;
	if (end->closes && end->stream) {
		stream_close(end->stream, false);
		end->stream = NULL;
	}
}

static void on_drained(void *ctx)
{
	((struct end *)ctx)->drained++;
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
	return (struct stream_user){on_opened, on_received, on_drained, on_closed, end};
}

static void on_accepted(void *ctx, struct stream *stream)
{
	struct end *end = ctx;

	end->accepted++;
	end->stream = stream;
	stream->user = user_of(end);
}

static void on_refused(void *ctx, const char *peer, const char *why)
{
	struct end *end = ctx;

	end->refused++;
	snprintf(end->why, sizeof(end->why), "%s: %s", peer, why);
}

/* The owner of a carrier */

static bool finds(void *ctx, guid_t guid, struct mad_addr *out)
{
	(void)ctx;
	if (guid < inband_guid(1) || guid > inband_guid(MAD_NET_PORTS))
		return false;
	*out = (struct mad_addr){.lid = (lid_t)(guid - inband_guid(0)), .qpn = 1};
	return true;
}

static guid_t admits(void *ctx, lid_t lid)
{
	(void)ctx;
	return lid == known ? inband_guid(lid) : 0;
}

static void is_unanswered(void *ctx, guid_t guid)
{
	CU_ASSERT_EQUAL(guid, inband_guid(MASTER));
	((struct end *)ctx)->unanswered++;
}

static void is_answered(void *ctx, guid_t guid)
{
	CU_ASSERT_EQUAL(guid, inband_guid(MASTER));
	((struct end *)ctx)->answered++;
}

static struct end *open_end(lid_t lid)
{
	struct stream_listener listener = {on_accepted, on_refused, &ends[lid - 1]};
	struct inband_owner owner = {finds, admits, is_unanswered, is_answered, &ends[lid - 1]};
	struct end *end = &ends[lid - 1];
	char why[STREAM_WHY_SIZE];

	end->lid = lid;
	end->txns = txn_table_new(loop, &net.port[lid - 1].transport);
	end->carrier = inband_new(loop, end->txns, &owner);
	CU_ASSERT_EQUAL(end->carrier->ops->listen(end->carrier, "", &listener, why), 0);
	return end;
}

static void kill_end(struct end *end, bool says_so)
{
	if (!end->carrier)
		return;
	net.port[end->lid - 1].transport.gone = !says_so;
	end->carrier->ops->free(end->carrier);
	txn_table_free(end->txns);
	net.port[end->lid - 1].transport.gone = false;
	end->carrier = NULL;
	end->stream = NULL;
}

static void begin(size_t message_max)
{
	loop = loop_new();
	loop_seed(loop, 5);
	mad_net_init(&net, loop, message_max);
	memset(ends, 0, sizeof(ends));
	known = STANDBY;
	open_end(STANDBY);
	open_end(MASTER);
}

static void finish(void)
{
	for (unsigned i = 0; i < MAD_NET_PORTS; i++) {
		kill_end(&ends[i], true);
		free(ends[i].got);
	}
	mad_net_done(&net);
	loop_free(loop);
}

static void dial(struct end *end, lid_t to)
{
	struct stream_user user = user_of(end);
	char text[GUID_TEXT], why[STREAM_WHY_SIZE];

	end->stream = end->carrier->ops->connect(end->carrier, guid_text(inband_guid(to), text),
						 &user, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(end->stream);
}

/* A session with one byte from the standby. */
static void pair(size_t message_max)
{
	begin(message_max);
	dial(&ends[STANDBY - 1], MASTER);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].opened, 1);
	CU_ASSERT_EQUAL(ends[MASTER - 1].accepted, 0); /* before its first message */
	stream_send(ends[STANDBY - 1].stream, "h", 1);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[MASTER - 1].accepted, 1);
	CU_ASSERT_EQUAL(ends[MASTER - 1].size, 1);
}

/* Bytes that no two places of a stream share by chance. */
static uint8_t byte_at(size_t i)
{
	return (uint8_t)((i * UINT64_C(0x9E3779B97F4A7C15)) >> 40);
}

static void say(struct end *end, size_t from, size_t size)
{
	uint8_t *bytes = mem_alloc(size);

	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(from + i);
	stream_send(end->stream, bytes, size);
	free(bytes);
}

static bool has(const struct end *end, size_t skipped, size_t size)
{
	if (end->size != skipped + size)
		return false;
	for (size_t i = 0; i < size; i++)
		if (end->got[skipped + i] != byte_at(i))
			return false;
	return true;
}

/* Format */

static struct {
	uint8_t mad[4][INBAND_MESSAGE_MAX];
	size_t size[4];
	unsigned count;
} seen;

static void record(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)from;
	(void)to;
	if (seen.count == 4)
		return;
	memcpy(seen.mad[seen.count], mad, size);
	seen.size[seen.count++] = size;
}

/* From the layouts of ib_mad.h: struct ib_vendor_mad has the OUI at 37 and data from 40 on; struct
 * ib_rmpp_hdr is at 24. Session numbers and TIDs, which are random, are copied. */
static void expect(unsigned n, const char *text, const uint8_t *tid, const uint8_t *to,
		   const uint8_t *from)
{
	uint8_t bytes[MAD_SIZE];

	CU_ASSERT_EQUAL(hex_bytes(text, bytes, sizeof(bytes)), MAD_SIZE);
	memcpy(bytes + 8, tid, 8);
	memcpy(bytes + 48, to, 8);
	memcpy(bytes + 56, from, 8);
	for (size_t i = 0; i < MAD_SIZE; i++)
		if (bytes[i] != seen.mad[n][i]) {
			CU_FAIL("a message has other bytes");
			fprintf(stderr, "message %u, byte %zu: %02x, not %02x\n", n, i,
				seen.mad[n][i], bytes[i]);
		}
}

static void test_format(void)
{
	static const uint8_t none[8] = {0};
	const uint8_t *standby, *master;

	begin(INBAND_MESSAGE_MAX);
	memset(&seen, 0, sizeof(seen));
	net.tap = record;
	dial(&ends[STANDBY - 1], MASTER);
	pass(10 * MS);
	stream_send(ends[STANDBY - 1].stream, "weft", 4);
	pass(10 * MS);
	CU_ASSERT_EQUAL_FATAL(seen.count, 4);
	standby = seen.mad[0] + 56;
	master = seen.mad[1] + 56;
	CU_ASSERT_NOT_EQUAL(be64_load(standby), 0);
	CU_ASSERT_NOT_EQUAL(be64_load(master), 0);
	/* Set(Open) */
	expect(0,
	       "01 37 01 02 0000 0000 .8 0010 0000 00000000 .12 00 027765 01 00 0000 00000000 "
	       ".8 .8 0000000000000001 .184",
	       seen.mad[0] + 8, none, standby);
	expect(1,
	       "01 37 01 81 0000 0000 .8 0010 0000 00000000 .12 00 027765 01 00 0000 00000000 "
	       ".8 .8 0000000000000001 .184",
	       seen.mad[0] + 8, standby, master);
	/* Set(Data) */
	expect(2,
	       "01 37 01 02 0000 0000 .8 0011 0000 00000000 .12 00 027765 01 00 0000 00000004 "
	       ".8 .8 0000000000000001 77656674 .180",
	       seen.mad[2] + 8, master, standby);
	expect(3,
	       "01 37 01 81 0000 0000 .8 0011 0000 00000000 .12 00 027765 01 00 0000 00000000 "
	       ".8 .8 0000000000000001 .184",
	       seen.mad[2] + 8, standby, master);
	finish();
}

/* A long message is RMPP: version 1, DATA, active, of one segment; the kernel splits it. */
static void test_long_format(void)
{
	uint8_t rmpp[12];

	pair(INBAND_MESSAGE_MAX);
	memset(&seen, 0, sizeof(seen));
	net.tap = record;
	say(&ends[STANDBY - 1], 0, 1000);
	pass(10 * MS);
	CU_ASSERT_EQUAL(seen.size[0], 1072);
	hex_bytes("01 01 07 00 00000001 00000000", rmpp, sizeof(rmpp));
	CU_ASSERT(!memcmp(seen.mad[0] + 24, rmpp, sizeof(rmpp)));
	CU_ASSERT_EQUAL(be32_load(seen.mad[0] + 44), 1000);
	CU_ASSERT_EQUAL(seen.size[1], MAD_SIZE);
	CU_ASSERT(has(&ends[MASTER - 1], 1, 1000));
	finish();
}

/* Transfer */

static void both_ways(size_t message_max, unsigned drop_ppm, uint64_t delay_us)
{
	enum { SIZE = 300000 };
	struct end *standby, *master;
	size_t said = 0;

	pair(message_max);
	standby = &ends[STANDBY - 1];
	master = &ends[MASTER - 1];
	net.drop_ppm = drop_ppm;
	net.duplicate_ppm = drop_ppm;
	net.delay_us = delay_us;
	while (said < SIZE) {
		size_t size = 1 + said % 9000 < SIZE - said ? 1 + said % 9000 : SIZE - said;

		say(standby, said, size);
		say(master, said, size);
		said += size;
		pass(said % 7 * MS);
	}
	pass(300 * S);
	CU_ASSERT(has(master, 1, SIZE));
	CU_ASSERT(has(standby, 0, SIZE));
	CU_ASSERT_EQUAL(standby->closed + master->closed, 0);
	CU_ASSERT(standby->drained > 0 && master->drained > 0);
	CU_ASSERT_EQUAL(stream_waiting(standby->stream), 0);
	CU_ASSERT(net.largest <= message_max);
	finish();
}

static void test_transfer(void)
{
	both_ways(INBAND_MESSAGE_MAX, 0, 100);
	both_ways(MAD_SIZE, 0, 100); /* without RMPP */
}

static void test_lossy(void)
{
	both_ways(INBAND_MESSAGE_MAX, 200000, 30 * MS);
	both_ways(MAD_SIZE, 50000, 10 * MS);
}

/* At most one window of messages is under way. If no bytes wait, only Alive is sent. */
static void test_window(void)
{
	uint64_t before;

	pair(INBAND_MESSAGE_MAX);
	net.delay_us = 1;
	net.port[MASTER - 1].deaf = true;
	before = net.sent;
	say(&ends[STANDBY - 1], 0, 200000);
	pass(10 * MS);
	CU_ASSERT_EQUAL(net.sent - before, 4);
	CU_ASSERT_EQUAL(stream_waiting(ends[STANDBY - 1].stream), 200000 - 4 * INBAND_PAYLOAD_MAX);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].drained, 1); /* of the first byte */
	net.port[MASTER - 1].deaf = false;
	pass(2 * S);
	CU_ASSERT(has(&ends[MASTER - 1], 1, 200000));
	before = net.sent;
	pass(60 * S);
	CU_ASSERT(net.sent - before > 1000 && net.sent - before <= 1200);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 0);
	finish();
}

/* Ends */

static uint32_t close_tid;

static void spy_close(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)size;
	if (from->lid == STANDBY && to == MASTER && be16_load(mad + 16) == INBAND_CLOSE)
		close_tid = be32_load(mad + 12);
}

static void test_close(void)
{
	for (int politely = 0; politely < 2; politely++) {
		pair(INBAND_MESSAGE_MAX);
		net.drop_ppm = politely ? 100000 : 0;
		say(&ends[STANDBY - 1], 0, 100000);
		stream_close(ends[STANDBY - 1].stream, politely);
		net.drop_ppm = 0;
		net.tap = spy_close;
		close_tid = 0;
		pass(4 * S);
		CU_ASSERT_NOT_EQUAL(close_tid, 0);
		CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 0); /* its user knows */
		CU_ASSERT_EQUAL(ends[MASTER - 1].closed, 1);
		CU_ASSERT(strstr(ends[MASTER - 1].why, "closed the connection") != NULL);
		if (politely)
			CU_ASSERT(has(&ends[MASTER - 1], 1, 100000));
		finish();
	}
}

/* A port can begin at most three sessions in a second. */
static void test_too_many(void)
{
	uint64_t end_us;

	begin(INBAND_MESSAGE_MAX);
	end_us = loop_now_us(loop) + 10 * S;
	while (loop_now_us(loop) < end_us) {
		dial(&ends[STANDBY - 1], MASTER);
		while (!ends[STANDBY - 1].opened && loop_now_us(loop) < end_us)
			pass(MS);
		ends[STANDBY - 1].opened = 0;
		stream_send(ends[STANDBY - 1].stream, "h", 1);
		pass(10 * MS);
		if (ends[STANDBY - 1].stream)
			stream_close(ends[STANDBY - 1].stream, false);
	}
	CU_ASSERT(ends[MASTER - 1].accepted >= 5 && ends[MASTER - 1].accepted <= 30);
	finish();
}

/* A manager sends a last message and ends, without another turn of its loop. */
static void test_last_words(void)
{
	pair(INBAND_MESSAGE_MAX);
	say(&ends[STANDBY - 1], 0, 1000);
	stream_close(ends[STANDBY - 1].stream, true);
	kill_end(&ends[STANDBY - 1], true);
	pass(S);
	CU_ASSERT(has(&ends[MASTER - 1], 1, 1000));
	CU_ASSERT_EQUAL(ends[MASTER - 1].closed, 1);
	CU_ASSERT(strstr(ends[MASTER - 1].why, "closed the connection") != NULL);
	finish();
}

/* The user closes from within received(). */
static void test_close_inside(void)
{
	pair(INBAND_MESSAGE_MAX);
	ends[MASTER - 1].closes = true;
	say(&ends[STANDBY - 1], 0, 50000);
	pass(S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	CU_ASSERT_EQUAL(ends[MASTER - 1].closed, 0);
	finish();
}

static void test_silence(void)
{
	pair(INBAND_MESSAGE_MAX);
	net.port[MASTER - 1].deaf = true;
	pass(20 * S); /* nothing waits, so nothing is missed */
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 0);
	say(&ends[STANDBY - 1], 0, 10);
	pass(4 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 0);
	pass(2 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	CU_ASSERT(strstr(ends[STANDBY - 1].why, "no answer within 5 s") != NULL);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].unanswered, 0);
	dial(&ends[STANDBY - 1], MASTER);
	pass(6 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 2);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].unanswered, 1);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].answered, 1); /* by the pair above */
	finish();
}

/* A port without a carrier, at which the kernel answers; and another program that holds the class.
 */
static void test_no_carrier(void)
{
	pair(INBAND_MESSAGE_MAX);
	kill_end(&ends[MASTER - 1], false);
	stream_send(ends[STANDBY - 1].stream, "x", 1);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	CU_ASSERT(strstr(ends[STANDBY - 1].why, "no weftd") != NULL);
	dial(&ends[STANDBY - 1], MASTER);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 2);
	CU_ASSERT(strstr(ends[STANDBY - 1].why, "no weftd") != NULL);
	finish();
	begin(0);
	{
		struct stream_user user = user_of(&ends[0]);
		char why[STREAM_WHY_SIZE];

		CU_ASSERT_PTR_NULL(
			ends[0].carrier->ops->connect(ends[0].carrier, "0x102", &user, why));
		CU_ASSERT(strstr(why, "class 0x37") != NULL);
		CU_ASSERT_PTR_NULL(
			ends[0].carrier->ops->connect(ends[0].carrier, "0x999", &user, why));
		CU_ASSERT(strstr(why, "no manager is known") != NULL);
	}
	finish();
}

static void empty(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)from;
	if (to == STANDBY && mad[3] == METHOD_GET_RESP)
		memset(mad + 24, 0, size - 24);
}

/* The agents of some switches and other systems answer a class that they do not know with a status,
 * and without the contents of the message. Such a manager is not flooded. */
static void test_empty_answers(void)
{
	begin(INBAND_MESSAGE_MAX);
	kill_end(&ends[MASTER - 1], false);
	net.tap = empty;
	dial(&ends[STANDBY - 1], MASTER);
	pass(6 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	CU_ASSERT(strstr(ends[STANDBY - 1].why, "no answer within 5 s") != NULL);
	CU_ASSERT(net.sent > 5);
	CU_ASSERT(net.sent < 20);
	finish();
}

/* An idle standby detects at once that the program of its master has ended. Lost messages alone do
 * not end the session. */
static void test_alive(void)
{
	pair(INBAND_MESSAGE_MAX);
	net.drop_ppm = 700000;
	pass(30 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 0);
	net.drop_ppm = 0;
	kill_end(&ends[MASTER - 1], false);
	pass(500 * MS); /* one was lost and is under way */
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	CU_ASSERT(strstr(ends[STANDBY - 1].why, "no weftd") != NULL);
	finish();
}

/* The master starts again: its former session gets an answer. The standby starts again: its new
 * session replaces the former. */
static void test_restart(void)
{
	pair(INBAND_MESSAGE_MAX);
	kill_end(&ends[MASTER - 1], false);
	open_end(MASTER);
	stream_send(ends[STANDBY - 1].stream, "x", 1);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	CU_ASSERT(strstr(ends[STANDBY - 1].why, "has ended the connection") != NULL);
	dial(&ends[STANDBY - 1], MASTER);
	pass(10 * MS);
	stream_send(ends[STANDBY - 1].stream, "x", 1);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[MASTER - 1].accepted, 2);
	kill_end(&ends[STANDBY - 1], false);
	open_end(STANDBY);
	dial(&ends[STANDBY - 1], MASTER);
	pass(S); /* the first Open may come too soon */
	CU_ASSERT_EQUAL(ends[MASTER - 1].closed, 0);
	stream_send(ends[STANDBY - 1].stream, "y", 1);
	pass(10 * MS);
	CU_ASSERT_EQUAL(ends[MASTER - 1].accepted, 3);
	CU_ASSERT(strstr(ends[MASTER - 1].why, "replaces it") != NULL);
	kill_end(&ends[STANDBY - 1], true); /* it sends Close */
	pass(10 * MS);
	CU_ASSERT(strstr(ends[MASTER - 1].why, "closed the connection") != NULL);
	finish();
}

/* Forgeries */

static uint64_t to_master, to_standby; /* the numbers of the session */
static uint8_t last_data[MAD_SIZE];

static void spy(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)size;
	if (from->lid != STANDBY || to != MASTER || be16_load(mad + 16) != INBAND_DATA)
		return;
	to_master = be64_load(mad + 48);
	to_standby = be64_load(mad + 56);
	memcpy(last_data, mad, MAD_SIZE);
}

static void forge(lid_t from, uint16_t attr, uint64_t to, uint64_t sender, uint64_t number)
{
	uint8_t mad[MAD_SIZE];

	memcpy(mad, last_data, sizeof(mad));
	be16_store(mad + 16, attr);
	be64_store(mad + 48, to);
	be64_store(mad + 56, sender);
	be64_store(mad + 64, number);
	mad_net_forge(&net, from, MASTER, mad, sizeof(mad));
}

static void spied_pair(void)
{
	pair(INBAND_MESSAGE_MAX);
	net.tap = spy;
	stream_send(ends[STANDBY - 1].stream, "s", 1);
	pass(10 * MS);
	net.tap = NULL;
	CU_ASSERT_NOT_EQUAL_FATAL(to_master, 0);
	CU_ASSERT_EQUAL(ends[MASTER - 1].size, 2);
}

/* A third port knows both numbers of the session, and gets nothing. */
static void test_third_port(void)
{
	struct end *master = &ends[MASTER - 1];
	uint64_t before;

	spied_pair();
	before = net.sent;
	forge(ROGUE, INBAND_OPEN, 0, 7, 1);
	forge(ROGUE, INBAND_DATA, to_master, to_standby, 3);
	forge(ROGUE, INBAND_CLOSE, to_master, to_standby, 3);
	CU_ASSERT_EQUAL(net.sent, before); /* no answer */
	CU_ASSERT_EQUAL(master->refused, 3);
	CU_ASSERT(strstr(master->why, "LID 3: ") != NULL);
	CU_ASSERT_EQUAL(master->closed, 0);
	CU_ASSERT_EQUAL(master->size, 2);
	finish();
}

/* It also forges the LID of the standby, but does not know the numbers. */
static void test_forged_lid(void)
{
	struct end *master = &ends[MASTER - 1];

	spied_pair();
	forge(STANDBY, INBAND_DATA, to_master ^ 2, to_standby, 3);
	forge(STANDBY, INBAND_DATA, to_master, to_standby ^ 2, 3);
	forge(STANDBY, INBAND_CLOSE, to_master ^ 2, to_standby, 3);
	forge(STANDBY, INBAND_OPEN, 0, 7, 1);
	forge(STANDBY, INBAND_DATA, to_master ^ 2, 7, 1); /* of no answer to an Open */
	for (unsigned i = 0; i < 1000; i++)
		forge(STANDBY, INBAND_OPEN, 0, 8 + i, 1);
	pass(100 * MS);
	CU_ASSERT_EQUAL(master->accepted, 1);
	CU_ASSERT_EQUAL(master->closed, 0);
	CU_ASSERT_EQUAL(master->size, 2);
	stream_send(ends[STANDBY - 1].stream, "t", 1);
	pass(10 * S);
	CU_ASSERT_EQUAL(master->size, 3);
	CU_ASSERT_EQUAL(master->closed, 0);
	finish();
}

/* It opens sessions all the time, and cannot prevent the session of the standby. */
static void test_flood(void)
{
	struct end *standby = &ends[STANDBY - 1], *master = &ends[MASTER - 1];
	bool sent = false;

	spied_pair();
	stream_close(standby->stream, false);
	pass(S);
	dial(standby, MASTER);
	for (unsigned i = 0; i < 2000; i++) {
		forge(STANDBY, INBAND_OPEN, 0, 1000 + i, 1);
		pass(100);
		if (standby->opened == 2 && !sent)
			stream_send(standby->stream, "x", 1);
		sent = standby->opened == 2;
	}
	pass(S);
	CU_ASSERT_EQUAL(master->accepted, 2);
	CU_ASSERT_EQUAL(master->size, 3);
	CU_ASSERT_EQUAL(standby->closed, 0);
	finish();
}

/* A message of a session that has ended arrives again, when the port has begun another. */
static void test_late(void)
{
	struct end *standby = &ends[STANDBY - 1], *master = &ends[MASTER - 1];
	uint64_t to, from;

	spied_pair();
	to = to_master;
	from = to_standby;
	stream_close(standby->stream, false);
	pass(S);
	forge(STANDBY, INBAND_DATA, to, from, 1);
	CU_ASSERT_EQUAL(master->accepted, 1);
	pass(25 * S);
	dial(standby, MASTER);
	pass(S);
	stream_send(standby->stream, "x", 1);
	pass(S);
	CU_ASSERT_EQUAL(master->accepted, 2);
	forge(STANDBY, INBAND_DATA, to, from, 1); /* its number is of a former period */
	CU_ASSERT_EQUAL(master->accepted, 2);
	CU_ASSERT_EQUAL(standby->closed + master->closed, 1);
	finish();
}

/* Sessions begin one after the other with numbers that were collected before. */
static uint64_t collected[8];
static unsigned num_collected;

static void collect(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)size;
	if (from->lid == MASTER && to == STANDBY && num_collected < ARRAY_SIZE(collected))
		collected[num_collected++] = be64_load(mad + 56);
}

static void test_collected(void)
{
	spied_pair();
	stream_close(ends[STANDBY - 1].stream, false);
	pass(S);
	net.tap = collect;
	num_collected = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(collected); i++) {
		/* The port expects an answer, as if this were its own request. */
		memset(last_data + 8, (int)i + 1, 8);
		net.port[STANDBY - 1].under_way[i] = be64_load(last_data + 8);
		forge(STANDBY, INBAND_OPEN, 0, 70 + i, 1);
	}
	pass(10 * MS);
	net.tap = NULL;
	CU_ASSERT_EQUAL_FATAL(num_collected, ARRAY_SIZE(collected));
	/* They arrive in any order: one of them is in the right order. */
	for (unsigned i = 0; i < ARRAY_SIZE(collected); i++)
		for (unsigned j = 0; j < ARRAY_SIZE(collected); j++)
			forge(STANDBY, INBAND_DATA, collected[j], 70 + i, 1);
	CU_ASSERT_EQUAL(ends[MASTER - 1].accepted, 2);
	finish();
}

/* Messages from the right place with impossible contents. */
static void test_bounds(void)
{
	static uint8_t longer[INBAND_RECEIVED_MAX + 1];
	struct end *master = &ends[MASTER - 1];
	uint8_t mad[MAD_SIZE];

	spied_pair();
	forge(STANDBY, INBAND_DATA, to_master, to_standby, 2); /* repeated */
	forge(STANDBY, INBAND_DATA, to_master, to_standby, 0);
	forge(STANDBY, INBAND_DATA, to_master, to_standby, 7); /* beyond the window */
	forge(STANDBY, INBAND_DATA, to_master, to_standby, UINT64_MAX);
	forge(STANDBY, 0x99, to_master, to_standby, 3);
	CU_ASSERT_EQUAL(master->size, 2);
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t lengths[] = {185, INBAND_PAYLOAD_MAX + 1, UINT32_MAX};

		memcpy(mad, last_data, sizeof(mad));
		be64_store(mad + 64, 3);
		be32_store(mad + 44, lengths[i]);
		mad_net_forge(&net, STANDBY, MASTER, mad, sizeof(mad));
	}
	CU_ASSERT_EQUAL(master->refused, 3);
	memcpy(longer, last_data, MAD_SIZE);
	be64_store(longer + 64, 3);
	mad_net_forge(&net, STANDBY, MASTER, longer, sizeof(longer));
	CU_ASSERT_EQUAL(master->refused, 4);
	memcpy(mad, last_data, sizeof(mad));
	mad[39] ^= 1; /* of another OUI */
	mad_net_forge(&net, ROGUE, MASTER, mad, sizeof(mad));
	CU_ASSERT_EQUAL(master->refused, 4);
	CU_ASSERT_EQUAL(master->size, 2);
	forge(STANDBY, INBAND_DATA, to_master, to_standby, 4); /* early */
	CU_ASSERT_EQUAL(master->size, 2);
	forge(STANDBY, INBAND_DATA, to_master, to_standby, 3);
	CU_ASSERT_EQUAL(master->size, 4);
	finish();
}

/* An answer without the number of the session neither acknowledges nor ends anything. */

static unsigned spoiled;

static void spoil(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)from;
	(void)size;
	if (to != STANDBY || mad[3] != METHOD_GET_RESP || spoiled++ % 2)
		return;
	mad[48] ^= 0x80;
	mad[56] ^= 0x80;
	if (spoiled % 4 == 1)
		be16_store(mad + 4, STATUS_UNSUP_METHOD_ATTR);
}

static void test_forged_answers(void)
{
	pair(INBAND_MESSAGE_MAX);
	net.tap = spoil;
	say(&ends[STANDBY - 1], 0, 60000);
	pass(5 * S);
	CU_ASSERT(spoiled > 8);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 0);
	CU_ASSERT(has(&ends[MASTER - 1], 1, 60000));
	finish();
}

/* A peer whose answers all have another number costs little until the end of the session. */

static unsigned asked;

static void spoil_all(const struct mad_addr *from, lid_t to, uint8_t *mad, size_t size)
{
	(void)from;
	(void)size;
	asked += to == MASTER;
	if (to == STANDBY && mad[3] == METHOD_GET_RESP)
		mad[48] ^= 0x80;
}

static void test_only_forged_answers(void)
{
	pair(INBAND_MESSAGE_MAX);
	net.tap = spoil_all;
	asked = 0;
	say(&ends[STANDBY - 1], 0, 60000);
	pass(4 * S);
	CU_ASSERT(asked > 40 && asked < 100); /* 4 messages in 0.4 s, and Alive every 0.1 s */
	pass(4 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	finish();
	begin(INBAND_MESSAGE_MAX);
	net.tap = spoil_all;
	asked = 0;
	dial(&ends[STANDBY - 1], MASTER);
	pass(4 * S);
	CU_ASSERT(asked > 4 && asked < 20);
	pass(2 * S);
	CU_ASSERT_EQUAL(ends[STANDBY - 1].closed, 1);
	finish();
}

static void test_other_version(void)
{
	pair(INBAND_MESSAGE_MAX);
	net.tap = spy;
	stream_send(ends[STANDBY - 1].stream, "s", 1);
	pass(10 * MS);
	last_data[40] = 9;
	forge(ROGUE, INBAND_OPEN, 0, 7, 1);
	CU_ASSERT_EQUAL(ends[MASTER - 1].refused, 1);
	forge(STANDBY, INBAND_OPEN, 0, 7, 1); /* gets an answer */
	CU_ASSERT_EQUAL(ends[MASTER - 1].refused, 1);
	finish();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"format", test_format},
		{"format of a long message", test_long_format},
		{"transfer", test_transfer},
		{"loss, repetition and reordering", test_lossy},
		{"the window", test_window},
		{"close", test_close},
		{"last words", test_last_words},
		{"too many sessions", test_too_many},
		{"close from within", test_close_inside},
		{"silence", test_silence},
		{"no carrier", test_no_carrier},
		{"empty answers", test_empty_answers},
		{"alive", test_alive},
		{"restarts", test_restart},
		{"a third port", test_third_port},
		{"a forged LID", test_forged_lid},
		{"a flood of Opens", test_flood},
		{"late messages", test_late},
		{"collected numbers", test_collected},
		{"impossible contents", test_bounds},
		{"forged answers", test_forged_answers},
		{"only forged answers", test_only_forged_answers},
		{"another version", test_other_version},
		CU_TEST_INFO_NULL,
	};

	return unit_main("inband", tests);
}
