/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A master and its standbys over pipes, without a fabric: replication while pipes fail, resumption,
 * lag, durability, and refused input.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o tests/sim/pipe.o
#include "tests/unit/fixtures/replica_bed.h"

#include "ha/wire.h"
#include "store/partition_state.h"

static bool same(const struct manager *a, const struct manager *b)
{
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		const void *record = registry_first(a->registry, kind, -1, NULL), *other;
		const struct format *format = registry_tables[kind].format;

		if (registry_count(a->registry, kind) != registry_count(b->registry, kind))
			return false;
		for (; record; record = registry_next(a->registry, kind, -1, record)) {
			other = registry_find(b->registry, kind, record);
			if (!other)
				return false;
			for (unsigned i = 0; i < format->count; i++)
				if (!field_equal(&format->fields[i], record, other))
					return false;
		}
	}
	return true;
}

/* A member of a part of the status, or of the first of an array. */
static json_t *figure_of(json_t *status, const char *of, const char *name)
{
	json_t *part = json_object_get(status, of);

	if (json_is_array(part))
		part = json_array_get(part, 0);
	return name ? json_object_get(part, name) : part;
}

static json_int_t figure(const struct manager *manager, const char *of, const char *name)
{
	json_t *status = replica_status(manager->replica), *found = figure_of(status, of, name);
	json_int_t value = found ? json_integer_value(found) : -1;

	json_decref(status);
	return value;
}

static bool says(const struct manager *manager, const char *of, const char *name, const char *text)
{
	json_t *status = replica_status(manager->replica);
	const char *value = json_string_value(figure_of(status, of, name));
	bool is = value && strstr(value, text);

	json_decref(status);
	return is;
}

/* First the full copy, then the changes. */
static void test_follows(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_change(one, 3000);
	replica_bed_put_lid(two, 0xBAD, 77); /* dropped: only the master's records count */
	replica_bed_pass(2 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(says(one, "standbys", "state", "in sync"));
	CU_ASSERT_TRUE(says(two, "master", "state", "follows"));
	CU_ASSERT_TRUE(registry_follows(two->registry));
	for (unsigned i = 0; i < 50; i++) {
		replica_bed_change(one, (unsigned)replica_bed_draw(100));
		replica_bed_pass(replica_bed_draw(20 * MS));
	}
	replica_bed_pass(100 * MS);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_EQUAL(figure(one, "standbys", "lag"), 0);
	CU_ASSERT_EQUAL(figure(two, "master", "lag"), 0);
	/* It starts from it as from its own. */
	replica_bed_kill(one);
	replica_bed_becomes(two, SM_MASTER);
	CU_ASSERT_FALSE(registry_follows(two->registry));
	replica_bed_put_lid(two, 0x123, 5);
	replica_bed_pass(S);
	replica_bed_end();
}

/* If the history is known, only the missing changes are sent. A new MASTER begins a new history. */
static void test_resumes(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	uint64_t before, all;

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_change(one, 5000);
	replica_bed_pass(2 * S);
	all = pipe_delivered(replica_bed.net);
	pipe_cut(replica_bed.net, true);
	replica_bed_change(one, 10);
	replica_bed_pass(100 * MS);
	CU_ASSERT_FALSE(same(one, two));
	CU_ASSERT(figure(one, "standbys", "lag") > 0);
	pipe_reset(replica_bed.net);
	pipe_cut(replica_bed.net, false);
	before = pipe_delivered(replica_bed.net);
	replica_bed_pass(2 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT(pipe_delivered(replica_bed.net) - before < all / 3);
	/* The same manager is MASTER again: numbers start again, and its registry counts. */
	replica_bed_becomes(one, SM_DISCOVERING);
	replica_bed_pass(100 * MS);
	replica_bed_becomes(one, SM_MASTER);
	replica_bed_change(one, 100);
	replica_bed_pass(2 * S);
	CU_ASSERT_TRUE(same(one, two));
	replica_bed_end();
}

/* A journal that is too short for an absent standby, and a batch that is too long for one turn. */
static void test_left_behind(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_pass(2 * S);
	pipe_cut(replica_bed.net, true);
	replica_bed_change(one, 400000);
	replica_bed_pass(S);
	pipe_cut(replica_bed.net, false);
	replica_bed_pass(3 * S);
	CU_ASSERT_TRUE(same(one, two));
	for (unsigned i = 0; i < 300; i++) { /* batches over many turns */
		registry_together(one->registry, true);
		for (unsigned n = 0; n < 3; n++) {
			replica_bed_change(one, 30);
			replica_bed_pass(replica_bed_draw(500));
		}
		registry_together(one->registry, false);
		replica_bed_pass(replica_bed_draw(500));
	}
	replica_bed_pass(S);
	CU_ASSERT_TRUE(same(one, two));
	replica_bed_end();
}

struct waits {
	struct registry_waiter waiter;
	unsigned told;
};

static void told(void *ctx)
{
	((struct waits *)ctx)->told++;
}

static void wait_for(struct manager *manager, struct waits *waits)
{
	if (waits->waiter.link.next)
		registry_wait_cancel(&waits->waiter);
	*waits = (struct waits){.waiter = {.durable = told, .ctx = waits}};
	list_init(&waits->waiter.link);
	replica_bed_put_lid(manager, 1 + replica_bed_draw(1000000), 9);
	registry_wait(manager->registry, &waits->waiter);
}

/* A registration that is reported durable is at the standby. */
static void test_durable(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct waits waits = {0};

	replica_bed_begin(2, DURABILITY_STANDBY);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	wait_for(one, &waits); /* no standby yet */
	replica_bed_pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	replica_bed_pass(2 * S);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));

	two->holds = true;
	wait_for(one, &waits);
	replica_bed_pass(500 * MS);
	CU_ASSERT_EQUAL(waits.told, 0);
	two->holds = false;
	replica_bed_disk_has(two);
	replica_bed_pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(same(one, two));

	/* The disk of the standby stalls: after 2 s no change waits for it. */
	two->holds = true;
	wait_for(one, &waits);
	replica_bed_pass(S);
	CU_ASSERT_EQUAL(waits.told, 0);
	replica_bed_pass(3 * S / 2);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	CU_ASSERT_TRUE(says(one, "standbys", "state", "behind"));
	wait_for(one, &waits);
	replica_bed_pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	two->holds = false;
	replica_bed_disk_has(two);
	replica_bed_pass(40 * S);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
	registry_wait_cancel(&waits.waiter);
	replica_bed_end();
}

/* A change waits for a standby that reconnects in time, and not longer. */
static void test_away(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct waits waits = {0};

	replica_bed_begin(2, DURABILITY_STANDBY);
	replica_bed_pass(2 * S);
	pipe_reset(replica_bed.net);
	wait_for(one, &waits);
	CU_ASSERT_EQUAL(waits.told, 0);
	replica_bed_pass(S + S / 2);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
	replica_bed_kill(two);
	wait_for(one, &waits);
	replica_bed_pass(S);
	CU_ASSERT_EQUAL(waits.told, 0);
	replica_bed_pass(3 * S / 2);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	registry_wait_cancel(&waits.waiter);
	replica_bed_end();
}

/* An acknowledged change is on the disks of both standbys, whichever is slow. */
static void test_slow_standby(void)
{
	for (unsigned slow = 1; slow <= 2; slow++) {
		struct manager *one = &replica_bed.manager[0];
		struct waits waits = {0};

		replica_bed_begin(3, DURABILITY_STANDBY);
		replica_bed_pass(5 * S);
		replica_bed.manager[slow].disk_us = 300 * MS;
		wait_for(one, &waits);
		replica_bed_pass(200 * MS);
		CU_ASSERT_EQUAL(waits.told, 0);
		replica_bed_pass(200 * MS);
		CU_ASSERT_EQUAL(waits.told, 1);
		CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
		registry_wait_cancel(&waits.waiter);
		replica_bed_end();
	}
}

/* Two standbys: both have each acknowledged change. */
static void test_two_standbys(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1],
		       *three = &replica_bed.manager[2];
	struct waits waits = {0};

	replica_bed_begin(3, DURABILITY_STANDBY);
	replica_bed_pass(5 * S);
	replica_bed_change(one, 500);
	wait_for(one, &waits);
	while (!waits.told)
		replica_bed_pass(100);
	CU_ASSERT_TRUE(same(one, two) && same(one, three));
	three->holds = true;
	wait_for(one, &waits);
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
	CU_ASSERT_TRUE(same(one, two));
	/* The other standby follows the new master. */
	registry_wait_cancel(&waits.waiter);
	replica_bed_kill(one);
	three->holds = false;
	replica_bed_becomes(two, SM_MASTER);
	replica_bed_becomes(three, SM_STANDBY);
	replica_bed_change(two, 300);
	replica_bed_pass(10 * S);
	CU_ASSERT_TRUE(same(two, three));
	CU_ASSERT_TRUE(says(two, "acknowledged_by", NULL, "standby"));
	replica_bed_end();
}

static void some_trouble(void)
{
	if (!replica_bed_draw(12))
		pipe_cut(replica_bed.net, true);
	if (!replica_bed_draw(6))
		pipe_cut(replica_bed.net, false);
	if (!replica_bed_draw(30))
		pipe_reset(replica_bed.net);
}

/* Cuts, resets and kills at random: changes that were acknowledged by a standby in sync are kept.
 */
static unsigned play_round(struct manager *master, struct manager *standby)
{
	unsigned acknowledged = 0;

	for (unsigned left = (unsigned)replica_bed_draw(40); left; left--) {
		struct waits waits = {0};

		replica_bed_change(master, (unsigned)replica_bed_draw(30));
		wait_for(master, &waits);
		replica_bed_pass(replica_bed_draw(3 * MS));
		some_trouble();
		registry_wait_cancel(&waits.waiter);
		if (!waits.told || !registry_keeps(master->registry, KEPT_BY_STANDBY))
			continue;
		acknowledged++;
		if (!same(master, standby))
			CU_FAIL_FATAL("an acknowledged change is not at the standby");
	}
	return acknowledged;
}

static void test_random(void)
{
	enum { ROUNDS = 60 };
	unsigned acknowledged = 0;

	replica_bed_begin(2, DURABILITY_STANDBY);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct manager *master = &replica_bed.manager[replica_bed.master - 1];
		struct manager *standby = &replica_bed.manager[2 - replica_bed.master];

		replica_bed_pass(3 * S);
		CU_ASSERT_TRUE_FATAL(same(master, standby));
		CU_ASSERT_TRUE_FATAL(says(master, "acknowledged_by", NULL, "standby"));
		acknowledged += play_round(master, standby);
		pipe_cut(replica_bed.net, false);
		replica_bed_kill(master);
		replica_bed_becomes(standby, SM_MASTER);
		replica_bed_start(master);
		replica_bed_becomes(master, SM_STANDBY);
	}
	CU_ASSERT(acknowledged > 2 * ROUNDS);
	replica_bed_end();
}

/* Peers that cannot be */

static void test_configuration(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_kill(two);
	strcpy(two->options.config, "!lmc = 2;\nrouting = [\"ftree\"];\n");
	replica_bed_start(two);
	replica_bed_becomes(two, SM_STANDBY);
	replica_bed_put_lid(one, 5, 5);
	replica_bed_pass(5 * S);
	CU_ASSERT_FALSE(same(one, two));
	CU_ASSERT_TRUE(says(two, "peers", "why", "lmc = 0"));
	replica_bed_kill(two);
	strcpy(two->options.config, "!lmc = 0;\nrouting = [\"updn\"];\n"); /* accepted */
	replica_bed_start(two);
	replica_bed_becomes(two, SM_STANDBY);
	replica_bed_pass(5 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(says(two, "peers", "why", "updn"));
	replica_bed_end();
}

/* A master whose store has lost partitions does not replace those of a standby that has them, until
 * an administrator decides. */
static void test_lossy_master(void)
{
	const struct partition_entry entry = {.p_key = 5, .mtu = 4, .rate = 3, .scope = 2};
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1],
		       *three = &replica_bed.manager[2];

	replica_bed_begin(3, DURABILITY_LOCAL);
	partition_state_put(one->registry, PARTITIONS_LOST, "then", "a test");
	replica_bed_put_lid(one, 5, 5);
	registry_put(two->registry, REGISTRY_PARTITION, &entry);
	replica_bed_pass(20 * S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_PARTITION), 1);
	CU_ASSERT_EQUAL(partition_state(two->registry), PARTITIONS_COMPLETE);
	CU_ASSERT_TRUE(says(two, "peers", "why", "has lost partitions that this standby has"));
	CU_ASSERT_TRUE(same(one, three)); /* it had none */
	partition_state_put(one->registry, PARTITIONS_COMPLETE, NULL, NULL);
	replica_bed_pass(20 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(same(one, three));
	replica_bed_end();
}

/* A manager with the key that is not the elected MASTER. */
static void test_false_master(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1],
		       *three = &replica_bed.manager[2];

	replica_bed_begin(3, DURABILITY_LOCAL);
	replica_bed_put_lid(one, 5, 5);
	replica_bed_pass(5 * S);
	CU_ASSERT_TRUE(same(one, three));
	replica_bed_becomes(two, SM_MASTER);
	replica_bed_put_lid(two, 6, 6);
	replica_bed.master = 1;
	replica_bed_pass(20 * S);
	CU_ASSERT_TRUE(same(one, three));
	/* The election names the other manager: it is followed. */
	replica_bed.master = 2;
	replica_bed_pass(20 * S);
	CU_ASSERT_TRUE(same(two, three));
	replica_bed_end();
}

/* A standby that is locked out of the fabric follows any peer that is MASTER. A standby that only
 * searches follows none. */
static void test_locked_out(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_kill(two);
	replica_bed_put_lid(one, 5, 5);
	replica_bed.master = 0;
	replica_bed_start(two);
	replica_seek(two->replica);
	replica_bed_pass(5 * S);
	CU_ASSERT_FALSE(same(one, two));
	two->locked_out = true;
	replica_seek(two->replica);
	replica_bed_pass(5 * S);
	CU_ASSERT_FALSE(two->locked_out);
	CU_ASSERT_TRUE(same(one, two));
	replica_bed.master = 1;
	replica_bed_becomes(two, SM_STANDBY);
	replica_bed_put_lid(one, 6, 6);
	replica_bed_pass(S);
	CU_ASSERT_TRUE(same(one, two));
	replica_bed_end();
}

static struct frame_out lie;

static void lie_of_changes(uint64_t first, lid_t lid)
{
	struct lid_entry entry = {.guid = 0xBAD, .lid = lid};

	changes_begin(&lie, FRAME_CHANGES, first);
	changes_add(&lie, &(struct wire_change){.kind = REGISTRY_LID, .record = &entry});
	changes_end(&lie, true);
}

static void lie_of_numbers(enum frame_type type, uint64_t first, uint64_t second)
{
	frame_begin(&lie, type);
	frame_number(&lie, first);
	frame_number(&lie, second);
	frame_end(&lie);
}

static void lie_of_bytes(const uint8_t *bytes, size_t size)
{
	memcpy(lie.bytes, bytes, size);
	lie.size = size;
}

/* Frames as bytes on the wire. The empty ones are of each type: no type goes without a body. */
static const struct {
	size_t size;
	uint8_t bytes[32];
} byte_lies[] = {
	{12, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
	{8, {0, 2, 0, 0, 0, 0, 0, FRAME_CHANGES}}, /* longer than a frame may be */
	{12, {0, 0, 0, 4, 0, 0, 0, FRAME_TABLE, 1, 2, 3, 4}},
	{24, {0, 0, 0, 16, 0, 0, 0, FRAME_ACK}}, /* only a standby sends it */
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_HELLO}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_REFUSE}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_SNAPSHOT}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_RECORDS}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_CHANGES}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_WHOLE}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_TABLE}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_HEARTBEAT}},
	{8, {0, 0, 0, 0, 0, 0, 0, FRAME_ACK}},
};

enum { LIES = 5 + ARRAY_SIZE(byte_lies) };

/* A valid table of a switch, and an extra byte. */
static void lie_of_table(void)
{
	struct lft *lft = lft_new(63);

	frame_begin(&lie, FRAME_TABLE);
	table_cache_lft_put(0x5151, lft, frame_room(&lie, table_cache_lft_size(lft)));
	frame_bytes(&lie, "", 1);
	frame_end(&lie);
	lft_unref(lft);
}

/* next: the number that a change would have that is none. */
static void make_lie(unsigned number, uint64_t next)
{
	switch (number) {
	case 0:
		lie_of_changes(next + 1, 3);
		break;
	case 1:
		lie_of_changes(next - 1, 3);
		break;
	case 2:
		lie_of_changes(next, 0); /* a record that cannot be */
		break;
	case 3:
		lie_of_numbers(FRAME_WHOLE, next, 0);
		break;
	case 4:
		lie_of_table();
		break;
	default:
		lie_of_bytes(byte_lies[number - 5].bytes, byte_lies[number - 5].size);
	}
}

/* A frame of a standby is refused, and its earlier acknowledgements no longer count. */
static void check_refused(struct manager *one, struct manager *two)
{
	json_int_t before = figure(one, "refused", "standbys");

	pipe_inject(replica_bed.net, "two", lie.bytes, lie.size);
	CU_ASSERT_EQUAL(figure(one, "standbys", "acked"), -1);
	CU_ASSERT_EQUAL(figure(one, "refused", "standbys"), before + 1);
	replica_bed_pass(5 * S);
	CU_ASSERT_TRUE(same(one, two));
}

/* Garbage, a frame that is too long, false numbers: the connection ends, and a full copy is
 * requested. Nothing of it gets into the registry. */
static void test_lies(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_change(one, 100);
	for (unsigned number = 0; number < LIES; number++) {
		replica_bed_pass(5 * S);
		CU_ASSERT_TRUE(same(one, two));
		CU_ASSERT_TRUE(says(two, "master", "state", "follows"));
		make_lie(number, (uint64_t)figure(two, "master", "position") + 1);
		pipe_inject(replica_bed.net, "one", lie.bytes, lie.size);
		CU_ASSERT_FALSE(says(two, "master", "state", "follows"));
		CU_ASSERT_TRUE(same(one, two));
		CU_ASSERT_EQUAL(figure(two, "master", "tables"), 0);
		CU_ASSERT_EQUAL(figure(two, "refused", "masters"), number + 1);
	}
	/* Frames that no standby sends. */
	replica_bed_pass(5 * S);
	lie_of_numbers(FRAME_ACK, UINT64_MAX, 0);
	check_refused(one, two);
	lie_of_numbers(FRAME_ACK, 0, 2);
	check_refused(one, two);
	lie_of_numbers(FRAME_HEARTBEAT, 0, 0);
	check_refused(one, two);
	for (size_t i = 0; i < ARRAY_SIZE(byte_lies); i++) {
		lie_of_bytes(byte_lies[i].bytes, byte_lies[i].size);
		if (lie.bytes[7] != FRAME_ACK || lie.bytes[3] == 0)
			check_refused(one, two);
	}
	replica_bed_end();
}

/* A master that the test plays: its frames, and the last acknowledgement that it received. */

static struct {
	struct stream *stream;
	struct frame_in in;
	uint64_t acked; /* NO_ACK: none since the last look */
} played;

enum { NO_ACK = 999 };

static bool played_frame(void *ctx, const struct frame *frame)
{
	uint64_t numbers[2];

	(void)ctx;
	if (frame->type == FRAME_ACK && frame_numbers(frame, 2, numbers))
		played.acked = numbers[0];
	return true;
}

static void played_received(void *ctx, const uint8_t *bytes, size_t size)
{
	CU_ASSERT_EQUAL(frame_take(&played.in, bytes, size, played_frame, ctx), 0);
}

static void played_drained(void *ctx)
{
	(void)ctx;
}

static void played_closed(void *ctx, const char *why)
{
	(void)ctx;
	(void)why;
	CU_FAIL("the standby ends the connection");
}

static void played_accepted(void *ctx, struct stream *stream)
{
	(void)ctx;
	stream->user = (struct stream_user){
		.received = played_received, .drained = played_drained, .closed = played_closed};
	played.stream = stream;
}

/* Sends the frame that is in lie, and a BEAT, if an acknowledgement is due. */
static void play(bool heartbeats)
{
	stream_send(played.stream, lie.bytes, lie.size);
	if (heartbeats) {
		lie_of_numbers(FRAME_HEARTBEAT, 6, 1);
		stream_send(played.stream, lie.bytes, lie.size);
	}
	played.acked = NO_ACK;
	replica_bed_pass(50 * MS);
}

static void play_number(enum frame_type type, uint64_t number)
{
	frame_begin(&lie, type);
	frame_number(&lie, number);
	frame_end(&lie);
	play(true);
}

static void play_lid(enum frame_type type, uint64_t first, lid_t lid)
{
	struct lid_entry entry = {.guid = 0x100u + lid, .lid = lid};

	changes_begin(&lie, type, first);
	changes_add(&lie, &(struct wire_change){.kind = REGISTRY_LID, .record = &entry});
	changes_end(&lie, true);
	play(true);
}

static void play_whole(uint64_t number, uint64_t records)
{
	lie_of_numbers(FRAME_WHOLE, number, records);
	play(false);
}

/* A standby acknowledges nothing while a snapshot is under way, nor before its disk has it. The
 * same holds for its earlier changes of this history. */
static void test_snapshot_acks(void)
{
	struct stream_listener listener = {.accepted = played_accepted};
	struct manager *two = &replica_bed.manager[1];
	struct hello hello = {.role = SM_MASTER, .guid = replica_bed_guid(1), .incarnation = 9};
	struct stream_carrier *carrier;
	char why[STREAM_WHY_SIZE];

	replica_bed_begin(2, DURABILITY_STANDBY);
	replica_bed_kill(&replica_bed.manager[0]);
	memset(&played, 0, sizeof(played));
	carrier = pipe_open(replica_bed.net, "one");
	CU_ASSERT_EQUAL_FATAL(carrier->ops->listen(carrier, "one", &listener, why), 0);
	replica_bed_pass(3 * S);
	CU_ASSERT_PTR_NOT_NULL_FATAL(played.stream);
	memcpy(hello.config, two->options.config, sizeof(hello.config));
	hello_put(&lie, &hello);
	play(false);
	CU_ASSERT_EQUAL(played.acked, 0);
	for (unsigned round = 0; round < 2; round++) {
		play_number(FRAME_SNAPSHOT, 3);
		CU_ASSERT_EQUAL(played.acked, 0);
		play_lid(FRAME_RECORDS, 0, 1);
		CU_ASSERT_EQUAL(played.acked, 0);
		play_lid(FRAME_CHANGES, 4, 2);
		CU_ASSERT_EQUAL(played.acked, 0);
		two->holds = round == 0;
		play_whole(4, 1);
		if (two->holds) {
			CU_ASSERT_EQUAL(played.acked, NO_ACK);
			two->holds = false;
			replica_bed_disk_has(two);
			replica_bed_pass(10 * MS);
		}
		CU_ASSERT_EQUAL(played.acked, 4);
		play_lid(FRAME_CHANGES, 5, 3);
		CU_ASSERT_EQUAL(played.acked, 5);
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_LID), 3);
	}
	replica_bed_kill(two);
	carrier->ops->free(carrier);
	replica_bed_end();
}

/* The standby becomes MASTER during the full copy: its previous records count, complete. */
static void test_half(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_put_lid(two, 0x77, 7);
	replica_bed_change(one, 3000);
	for (unsigned i = 0; i < 100000 && !says(two, "master", "state", "receives the full copy");
	     i++)
		replica_bed_pass(50);
	CU_ASSERT_TRUE(says(two, "master", "state", "receives the full copy"));
	replica_bed_kill(one);
	replica_bed_becomes(two, SM_MASTER);
	replica_bed_pass(S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_LID), 1);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_SETTING), 0);
	replica_bed_end();
}

/* The end of a followed connection is reported, but no failed attempt. After an orderly stop of the
 * master the standby may take over at once. After a lost connection it first searches for another
 * master. */
static void test_master_lost(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_change(one, 100);
	replica_bed_pass(2 * S);
	CU_ASSERT_TRUE(replica_ready(two->replica));
	pipe_reset(replica_bed.net);
	replica_bed_pass(5 * MS);
	CU_ASSERT_EQUAL(two->lost, 1);
	CU_ASSERT_FALSE(replica_ready(two->replica));
	replica_bed_pass(2 * S);
	CU_ASSERT_TRUE(replica_ready(two->replica));
	replica_stop(one->replica);
	replica_bed_pass(5 * MS);
	CU_ASSERT_EQUAL(two->lost, 2);
	CU_ASSERT_TRUE(replica_ready(two->replica));
	replica_bed_kill(one);
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(two->lost, 2);
	CU_ASSERT_EQUAL(one->lost, 0);
	replica_bed_end();
}

/* A standby that had all changes when the master was lost still has all after a long search. This
 * does not hold if the master went on alone before, or has returned. */
static void test_has_all(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	for (unsigned alone = 0; alone < 2; alone++) {
		replica_bed_begin(2, DURABILITY_STANDBY);
		replica_bed_change(one, 100);
		replica_bed_pass(2 * S);
		replica_bed_becomes(two, SM_STANDBY); /* again STANDBY: not a search */
		CU_ASSERT_TRUE(replica_has_all(two->replica));
		if (alone) {
			pipe_cut(replica_bed.net, true);
			replica_bed_pass(3 * S);
			CU_ASSERT_FALSE(replica_has_all(two->replica));
		}
		replica_bed_kill(one);
		replica_bed_pass(10 * MS);
		replica_bed_becomes(two, SM_DISCOVERING);
		replica_bed_pass(20 * S);
		CU_ASSERT_EQUAL(replica_has_all(two->replica), !alone);
		replica_bed_becomes(two, SM_STANDBY);
		CU_ASSERT_FALSE(replica_has_all(two->replica));
		replica_bed_becomes(two, SM_MASTER);
		CU_ASSERT_FALSE(replica_has_all(two->replica));
		replica_bed_end();
	}
	replica_bed_begin(2, DURABILITY_LOCAL);
	replica_bed_pass(2 * S);
	CU_ASSERT_FALSE(replica_has_all(two->replica));
	replica_bed_end();
}

/* A standby whose disk had stalled is connected again, but changes do not wait for it yet. So it
 * may lack acknowledged changes. */
static void test_has_not_all(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct waits waits = {0};

	replica_bed_begin(2, DURABILITY_STANDBY);
	replica_bed_pass(2 * S);
	two->holds = true;
	wait_for(one, &waits);
	replica_bed_pass(3 * S);
	CU_ASSERT_EQUAL(waits.told, 1);
	two->holds = false;
	replica_bed_disk_has(two);
	replica_bed_pass(5 * S);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	pipe_cut(replica_bed.net, true);
	wait_for(one, &waits);
	replica_bed_pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_FALSE(same(one, two));
	CU_ASSERT_FALSE(replica_has_all(two->replica));
	registry_wait_cancel(&waits.waiter);
	replica_bed_end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a standby follows", test_follows},
		{"it goes on where it was", test_resumes},
		{"the journal leaves one behind", test_left_behind},
		{"durability by the standby", test_durable},
		{"a standby is away", test_away},
		{"a slow standby", test_slow_standby},
		{"two standbys", test_two_standbys},
		{"cuts and kills", test_random},
		{"another configuration", test_configuration},
		{"not MASTER", test_false_master},
		{"a master that has lost partitions", test_lossy_master},
		{"locked out", test_locked_out},
		{"lies", test_lies},
		{"acknowledgements of a snapshot", test_snapshot_acks},
		{"half of it", test_half},
		{"the master is lost", test_master_lost},
		{"has all changes", test_has_all},
		{"lacks changes", test_has_not_all},
		CU_TEST_INFO_NULL,
	};

	return unit_main("replica", tests);
}
