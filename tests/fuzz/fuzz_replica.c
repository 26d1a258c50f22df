/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A hostile peer that has the key. The first byte of the input selects its role: master of the
 * standby "two", or standby of the master "one". Then it sends frames of any content, mostly with
 * correct heads, while the attacked manager works. ha/replica.h.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o tests/sim/pipe.o
#include "tests/fuzz/fuzz.h"

#include "ha/wire.h"
#include "lib/be.h"
#include "lib/log.h"
#include "tests/unit/fixtures/replica_bed.h"

enum { STEPS_MAX = 80, TABLE_TOP_MAX = 255 };

static struct stream *attack; /* NULL: not connected */
static struct frame_out out;

static void ignore(void *ctx)
{
	(void)ctx;
}

static void ignore_bytes(void *ctx, const uint8_t *bytes, size_t size)
{
	(void)ctx;
	(void)bytes;
	(void)size;
}

static void ended(void *ctx, const char *why)
{
	(void)ctx;
	(void)why;
	attack = NULL;
}

static const struct stream_user attacker = {
	.opened = ignore, .received = ignore_bytes, .drained = ignore, .closed = ended};

static void accept_standby(void *ctx, struct stream *stream)
{
	(void)ctx;
	if (attack)
		stream_close(attack, false);
	attack = stream;
	attack->user = attacker;
}

static void no_refusal(void *ctx, const char *peer, const char *why)
{
	(void)ctx;
	(void)peer;
	(void)why;
}

/* Frames */

static void put_hello(struct fuzz_bytes *in, bool as_master)
{
	struct hello hello = {.guid = as_master ? replica_bed_guid(1) : replica_bed_guid(3)};

	hello.role = as_master ? SM_MASTER : SM_STANDBY;
	hello.incarnation = fuzz_byte(in);
	hello.number = fuzz_byte(in);
	memcpy(hello.config, replica_bed.manager[0].options.config, sizeof(hello.config));
	if (fuzz_byte(in) & 1)
		hello.config[fuzz_byte(in)] = (char)fuzz_byte(in);
	hello_put(&out, &hello);
}

static void put_bytes(struct fuzz_bytes *in)
{
	uint8_t bytes[UINT8_MAX];
	uint8_t type = fuzz_byte(in);

	frame_begin(&out, FRAME_HELLO + type % (FRAME_TYPES - FRAME_HELLO));
	frame_bytes(&out, bytes, fuzz_take(in, bytes, fuzz_byte(in)));
	frame_end(&out);
}

static void put_numbers(struct fuzz_bytes *in)
{
	static const uint8_t types[] = {FRAME_SNAPSHOT, FRAME_WHOLE, FRAME_HEARTBEAT, FRAME_ACK};
	enum frame_type type = types[fuzz_byte(in) % ARRAY_SIZE(types)];

	frame_begin(&out, type);
	frame_number(&out, fuzz_byte(in));
	if (type != FRAME_SNAPSHOT)
		frame_number(&out, fuzz_byte(in));
	frame_end(&out);
}

/* Records of the size that their kind has. The count in the frame may be wrong. */
static void put_changes(struct fuzz_bytes *in)
{
	uint8_t what = fuzz_byte(in), excess;

	changes_begin(&out, what & 1 ? FRAME_RECORDS : FRAME_CHANGES, fuzz_byte(in));
	for (unsigned left = what >> 4; left; left--) {
		uint64_t record[128] = {0};
		struct wire_change change = {.record = record};

		change.kind = REGISTRY_LID + fuzz_byte(in) % (REGISTRY_KINDS - REGISTRY_LID);
		change.drop = fuzz_byte(in) & 1;
		fuzz_take(in, record, fuzz_byte(in));
		changes_add(&out, &change);
	}
	excess = what & 8 ? fuzz_byte(in) : 0;
	out.bytes[FRAME_HEAD_SIZE + 11] = (uint8_t)(out.bytes[FRAME_HEAD_SIZE + 11] + excess);
	changes_end(&out, what & 4);
}

/* A complete table row with a correct checksum; some bytes may change afterwards. */
static void put_table(struct fuzz_bytes *in)
{
	struct lft *lft = lft_new((lid_t)(1 + fuzz_byte(in) % TABLE_TOP_MAX));
	uint8_t changes = fuzz_byte(in);
	size_t size = table_cache_lft_size(lft);
	uint8_t *row;

	fuzz_take(in, lft->port + 1, lft->top);
	frame_begin(&out, FRAME_TABLE);
	row = frame_room(&out, size);
	table_cache_lft_put(1 + fuzz_byte(in) % 4, lft, row);
	for (unsigned left = changes & 3; left; left--)
		row[fuzz_byte(in) % size] ^= fuzz_byte(in);
	frame_end(&out);
	lft_unref(lft);
}

/* The head of a frame alone, or random bytes. */
static void put_noise(struct fuzz_bytes *in)
{
	out.size = fuzz_take(in, out.bytes, fuzz_byte(in) % 32);
}

static void send_frame(struct fuzz_bytes *in, uint8_t what, bool as_master)
{
	static void (*const makers[])(struct fuzz_bytes * in) = {
		put_bytes, put_numbers, put_changes, put_changes, put_table, put_noise,
	};

	if (what % 8 < ARRAY_SIZE(makers))
		makers[what % 8](in);
	else
		put_hello(in, as_master);
	if (attack && out.size)
		stream_send(attack, out.bytes, out.size);
}

/* The attack */

static void play(struct fuzz_bytes *in, struct stream_carrier *carrier, bool as_master)
{
	struct manager *attacked = &replica_bed.manager[as_master];
	char why[STREAM_WHY_SIZE];

	for (unsigned step = 0; in->left && step < STEPS_MAX; step++) {
		uint8_t what = fuzz_byte(in);

		if (!as_master && !attack)
			attack = carrier->ops->connect(carrier, "one", &attacker, why);
		if (what & 0x10)
			replica_bed_change(attacked, what >> 5);
		if (what & 0x08)
			replica_bed_pass(what & 0x20 ? S : 20 * MS);
		send_frame(in, what, as_master);
		replica_bed_pass(MS);
	}
	replica_bed_pass(2 * S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};
	struct stream_listener listener = {.accepted = accept_standby, .refused = no_refusal};
	struct stream_carrier *carrier;
	uint8_t part = fuzz_byte(&in);
	bool as_master = part & 1;
	char why[STREAM_WHY_SIZE];

	log_set_level(NULL, LOG_EMERG);
	attack = NULL;
	replica_bed_begin(2, part & 2 ? DURABILITY_STANDBY : DURABILITY_LOCAL);
	if (as_master)
		replica_bed_kill(&replica_bed.manager[0]);
	carrier = pipe_open(replica_bed.net, as_master ? "one" : "three");
	if (as_master)
		carrier->ops->listen(carrier, "one", &listener, why);
	replica_bed_pass(S);
	play(&in, carrier, as_master);
	if (part & 4)
		replica_bed_becomes(&replica_bed.manager[1], SM_MASTER);
	replica_bed_pass(S);
	carrier->ops->free(carrier);
	replica_bed_end();
	return 0;
}
