/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The frames of the replica: encoding, decoding in pieces of any size, and refused frames. */
#include "ha/copies.h"
#include "ha/wire.h"

#include <errno.h>
#include <string.h>

#include "lib/be.h"
#include "tests/unit/fixtures/hex.h"
#include "tests/unit/fixtures/unit.h"

static struct frame_out out;
static struct frame_in in;

struct taken {
	unsigned frames;
	enum frame_type type;
	size_t size;
	uint8_t body[FRAME_BODY_MAX];
	bool stops;
};

static struct taken taken;

static bool take(void *ctx, const struct frame *frame)
{
	(void)ctx;
	taken.frames++;
	taken.type = frame->type;
	taken.size = frame->size;
	memcpy(taken.body, frame->body, frame->size);
	return !taken.stops;
}

static struct frame frame_of_out(void)
{
	return (struct frame){.type = be32_load(out.bytes + 4),
			      .body = out.bytes + FRAME_HEAD_SIZE,
			      .size = out.size - FRAME_HEAD_SIZE};
}

static void make_frame(size_t size)
{
	frame_begin(&out, FRAME_TABLE);
	for (size_t i = 0; i < size; i++)
		*frame_room(&out, 1) = (uint8_t)(i * 7);
	frame_end(&out);
}

/* Twice, in pieces of that size. */
static void take_in_pieces(size_t piece)
{
	static uint8_t bytes[70000];

	memset(&in, 0, sizeof(in));
	taken.frames = 0;
	for (size_t at = 0; at < 2 * out.size; at += piece) {
		size_t size = 2 * out.size - at < piece ? 2 * out.size - at : piece;

		for (size_t i = 0; i < size; i++)
			bytes[i] = out.bytes[(at + i) % out.size];
		CU_ASSERT_EQUAL_FATAL(frame_take(&in, bytes, size, take, NULL), 0);
	}
}

static void test_pieces(void)
{
	static const size_t sizes[] = {1, 7, 8, 9, 1000, FRAME_BODY_MAX};

	for (size_t n = 0; n < ARRAY_SIZE(sizes); n++) {
		for (size_t piece = 1; piece < 70000; piece = piece * 5 + 1) {
			make_frame(sizes[n]);
			take_in_pieces(piece);
			CU_ASSERT_EQUAL(taken.frames, 2);
			CU_ASSERT_EQUAL(taken.type, FRAME_TABLE);
			CU_ASSERT_EQUAL_FATAL(taken.size, sizes[n]);
			CU_ASSERT_EQUAL(memcmp(taken.body, out.bytes + FRAME_HEAD_SIZE, sizes[n]),
					0);
		}
	}
	/* A reader that stops gets no further frame. */
	make_frame(1);
	taken = (struct taken){.stops = true};
	CU_ASSERT_EQUAL(frame_take(&in, out.bytes, out.size, take, NULL), 0);
	CU_ASSERT_EQUAL(taken.frames, 1);
}

static void test_no_frames(void)
{
	static const uint8_t heads[][FRAME_HEAD_SIZE] = {
		{0, 1, 0, 1, 0, 0, 0, FRAME_HELLO}, {255, 255, 255, 255, 0, 0, 0, FRAME_HELLO},
		{0, 0, 0, 0, 0, 0, 0, 0},	    {0, 0, 0, 0, 0, 0, 0, FRAME_TYPES},
		{0, 0, 0, 0, 1, 0, 0, FRAME_HELLO}, {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T'},
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		memset(&in, 0, sizeof(in));
		taken.frames = 0;
		CU_ASSERT_EQUAL(frame_take(&in, heads[i], FRAME_HEAD_SIZE, take, NULL), -EPROTO);
		CU_ASSERT_EQUAL(taken.frames, 0);
	}
}

/* The sizes that a body may have, by the description of the frames in ha/wire.h. Numbers have eight
 * bytes each, changes follow a head of 16 bytes, and HELLO begins with magic and version. */
static void test_sizes(void)
{
	static const struct {
		enum frame_type type;
		uint32_t min, max;
	} rows[] = {
		{FRAME_HELLO, 10, 65536},   {FRAME_REFUSE, 1, 65536},	{FRAME_SNAPSHOT, 8, 8},
		{FRAME_RECORDS, 16, 65536}, {FRAME_CHANGES, 16, 65536}, {FRAME_WHOLE, 16, 16},
		{FRAME_TABLE, 1, 65536},    {FRAME_HEARTBEAT, 16, 16},	{FRAME_ACK, 16, 16},
	};

	CU_ASSERT_EQUAL(ARRAY_SIZE(rows), FRAME_TYPES - 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint32_t size = 0; size <= 65540; size += size < 20 ? 1 : 65516) {
			bool may = size >= rows[i].min && size <= rows[i].max;
			uint8_t head[FRAME_HEAD_SIZE];

			be32_store(head, size);
			be32_store(head + 4, rows[i].type);
			memset(&in, 0, sizeof(in));
			taken = (struct taken){.frames = 0};
			CU_ASSERT_EQUAL(frame_take(&in, head, sizeof(head), take, NULL),
					may ? 0 : -EPROTO);
			CU_ASSERT_EQUAL(taken.frames, 0);
		}
}

static void test_hello(void)
{
	struct hello hello = {.role = 3, .guid = 0xABC, .incarnation = 5, .number = 6}, got;
	char why[FRAME_WHY_SIZE];
	struct frame frame;

	strcpy(hello.config, "!lmc = 0;\nrouting = [\"ftree\"];\n");
	hello_put(&out, &hello);
	frame = frame_of_out();
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), 0);
	CU_ASSERT_EQUAL(memcmp(&hello, &got, sizeof(got)), 0);

	out.bytes[FRAME_HEAD_SIZE + 9]++; /* the version */
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), -EPROTONOSUPPORT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "version 6"));
	out.bytes[FRAME_HEAD_SIZE + 9]--;
	out.bytes[FRAME_HEAD_SIZE + 15]++; /* the shape of records */
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), -EPROTONOSUPPORT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "records"));
	out.bytes[FRAME_HEAD_SIZE + 15]--;
	out.bytes[FRAME_HEAD_SIZE]++; /* the magic */
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), -EPROTO);
	out.bytes[FRAME_HEAD_SIZE]--;
	out.bytes[FRAME_HEAD_SIZE + 11] = 4; /* no such role */
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), -EPROTO);
	out.bytes[FRAME_HEAD_SIZE + 11] = 3;
	for (size_t size = 0; size < 44; size++) {
		frame.size = size;
		CU_ASSERT(hello_get(&frame, &got, why) < 0);
	}
	frame.size = 44 + FRAME_CONFIG_MAX;
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), -EPROTO);
	frame.size = 44;
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), 0);
	CU_ASSERT_STRING_EQUAL(got.config, "");
}

static void test_differs(void)
{
	static const struct {
		const char *ours, *theirs, *why; /* NULL: nothing differs */
		bool must;
	} cases[] = {
		{"a = 1;\n", "a = 1;\n", NULL, false},
		{"", "", NULL, false},
		{"a = 1;\n", "a = 2;\n", "here \"a = 1;\", there \"a = 2;\"", false},
		{"!a = 1;\n", "!a = 2;\n", "here \"a = 1;\", there \"a = 2;\"", true},
		{"a = 1;\n!b = 1;\n", "a = 1;\n!b = 2;\n", "here \"b = 1;\", there \"b = 2;\"",
		 true},
		{"a = 1;\nb = 1;\n!c = 1;\n", "a = 2;\nb = 2;\n!c = 2;\n",
		 "here \"c = 1;\", there \"c = 2;\"", true},
		{"a = 1;\nb = 1;\n!c = 1;\n", "a = 2;\nb = 2;\n!c = 1;\n",
		 "here \"a = 1;\", there \"a = 2;\"", false},
		{"a = 1;\n", "", "here \"a = 1;\", there \"\"", false},
		{"", "!x\r\033[2J", "here \"\", there \"x??[2J\"", true},
	};
	char why[FRAME_WHY_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool must = false,
		     differs = hello_differs(cases[i].ours, cases[i].theirs, &must, why);

		CU_ASSERT_EQUAL(differs, cases[i].why != NULL);
		CU_ASSERT_EQUAL(must, cases[i].must);
		if (differs && cases[i].why)
			CU_ASSERT_STRING_EQUAL(why, cases[i].why);
	}
}

/* Cut anywhere, it is refused, and nothing beyond is read. */
static void take_cut(const struct frame *frame, struct arena *arena)
{
	struct wire_changes changes;
	struct wire_change change;
	char why[FRAME_WHY_SIZE];

	for (size_t size = 0; size < frame->size; size++) {
		struct frame cut = {.type = frame->type, .body = mem_alloc(size + 1), .size = size};
		int error;

		memcpy((void *)cut.body, frame->body, size);
		error = changes_open(&cut, &changes);
		for (unsigned i = 0; i < 3 && !error; i++)
			error = changes_next(&changes, arena, &change, why);
		CU_ASSERT_EQUAL(error, -EPROTO);
		free((void *)cut.body);
	}
}

static void test_changes(void)
{
	static const struct lid_entry lid = {.guid = 7, .lid = 8, .lmc = 2, .gone = 9};
	static const struct service_entry service = {
		.service_id = 1, .gid_guid = 2, .p_key = 3, .expires_s = 4, .data = {5}};
	struct arena *arena = arena_new();
	struct wire_changes changes;
	struct wire_change change;
	char why[FRAME_WHY_SIZE];
	struct frame frame;

	changes_begin(&out, FRAME_CHANGES, 41);
	CU_ASSERT_TRUE(changes_add(&out, &(struct wire_change){REGISTRY_LID, false, &lid, false}));
	CU_ASSERT_TRUE(
		changes_add(&out, &(struct wire_change){REGISTRY_SERVICE, false, &service, false}));
	CU_ASSERT_TRUE(changes_add(&out, &(struct wire_change){REGISTRY_LID, true, &lid, false}));
	changes_end(&out, true);
	frame = frame_of_out();
	CU_ASSERT_EQUAL(changes_open(&frame, &changes), 0);
	CU_ASSERT_EQUAL(changes.first, 41);
	CU_ASSERT_EQUAL(changes.count, 3);
	CU_ASSERT_TRUE(changes.ends);
	CU_ASSERT_EQUAL(changes_next(&changes, arena, &change, why), 0);
	CU_ASSERT_EQUAL(memcmp(change.record, &lid, sizeof(lid)), 0);
	CU_ASSERT_EQUAL(changes_next(&changes, arena, &change, why), 0);
	CU_ASSERT_EQUAL(change.kind, REGISTRY_SERVICE);
	CU_ASSERT_EQUAL(memcmp(change.record, &service, sizeof(service)), 0);
	CU_ASSERT_EQUAL(changes_next(&changes, arena, &change, why), 0);
	CU_ASSERT_TRUE(change.drop);
	CU_ASSERT_EQUAL(((const struct lid_entry *)change.record)->guid, 7);
	CU_ASSERT_EQUAL(((const struct lid_entry *)change.record)->lid, 0);
	CU_ASSERT_EQUAL(changes.at, frame.size);
	take_cut(&frame, arena);
	arena_free(arena);
}

/* By hand, from ha/wire.h and the tables of rows that store/registry.h describes: these
 * bytes are on disks, too. A change of them needs another FRAME_VERSION, another STORE_DB_VERSION
 * (store/db.h) and a way to read the former bytes from a store. */

static const struct lid_entry lid_by_hand = {.guid = 0x0002c90300000001,
					     .lid = 0x0124,
					     .lmc = 2,
					     .gone = 0x01020304,
					     .node_guid = 0x0002c90300000009,
					     .port = 7};
static const struct group_entry group_by_hand = {.mgid = {0xFF, 0x12, [15] = 0xEE},
						 .mlid = 0xC001,
						 .q_key = 0x0B1B0102,
						 .mtu = 4,
						 .tclass = 5,
						 .p_key = 0x8001,
						 .rate = 3,
						 .packet_life_time = 0x12,
						 .sl = 6,
						 .flow_label = 0xABCDE,
						 .hop_limit = 0xFE,
						 .scope = 2,
						 .permanent = 1,
						 .owner = 0x0002c90300000003};
static const struct member_entry member_by_hand = {.mgid = {0xFF, 0x12, [15] = 0xEE},
						   .port_prefix = 0xfe80000000000000,
						   .port_guid = 0x0002c90300000001,
						   .join_state = 5,
						   .proxy_join = 1,
						   .owner = 0x0002c90300000004};
static const struct service_entry service_by_hand = {.service_id = 0x1000000000000007,
						     .gid_prefix = 0xfe80000000000000,
						     .gid_guid = 0x0002c90300000001,
						     .p_key = 0x8001,
						     .expires_s = 0x0102030405060708,
						     .key = {0xA0, [15] = 0xAF},
						     .name = "ab",
						     .data = {0xD0, [63] = 0xDF},
						     .owner = 0x0002c90300000002};
static const struct subscription_entry subscription_by_hand = {.prefix = 0xfe80000000000000,
							       .subscriber = 0x0002c90300000001,
							       .number = 0x0102,
							       .lid = 0x0304,
							       .qpn = 0x050607,
							       .sl = 8,
							       .pkey_index = 0x090A,
							       .gid = {0xFE, [15] = 0xEE},
							       .lid_begin = 0x0B0C,
							       .lid_end = 0x0D0E,
							       .is_generic = 1,
							       .type = 0x0010,
							       .trap_number = 0x0040,
							       .resp_time = 0x11,
							       .producer_type = 0x000004,
							       .trusted = 1};
static const struct alias_entry alias_by_hand = {
	.port_guid = 0x0002c90300000001, .index = 3, .guid = 0x0002c903000000AA, .granted = 1};
static const struct setting_entry setting_by_hand = {.name = "routing", .value = "updn"};
static const struct partition_entry partition_by_hand = {.p_key = 0x0005,
							 .name = "blue",
							 .ipoib = 1,
							 .index0 = 1,
							 .mtu = 4,
							 .rate = 3,
							 .sl = 6,
							 .scope = 2,
							 .tclass = 7,
							 .q_key = 0x0B1B0102,
							 .flow_label = 0xABCDE};
static const struct partition_member_entry partition_member_by_hand = {
	.p_key = 0x0005, .guid = 0x0002c90300000001, .membership = 2};
static const struct m_key_entry m_key_by_hand = {.guid = 0x0002c90300000001,
						 .m_key = 0x0102030405060708,
						 .previous = 0x1112131415161718,
						 .older = 0x2122232425262728};
static const struct neighbor_entry neighbor_by_hand = {
	.node_guid = 0x0002c90300000009, .port = 7, .guid = 0x0002c90300000001};
static const struct disabled_entry disabled_by_hand = {.node_guid = 0x0002c90300000009, .port = 7};

static const struct partition_text_entry partition_text_by_hand = {
	.number = 0x01020304, .size = 3, .text = "a=1"};

static const struct drained_entry drained_by_hand = {.node_guid = 0x0002c90300000009,
						     .port = 7,
						     .of = 0x0002c90300000001,
						     .of_port = 3,
						     .since_s = 0x0102030405060708,
						     .by_policy = 1,
						     .forced = 1,
						     .ending = 1,
						     .name = "n",
						     .reason = "r"};
static const struct lost_link_entry lost_link_by_hand = {.node_guid = 0x0002c90300000001,
							 .port = 3,
							 .peer_guid = 0x0002c90300000009,
							 .peer_port = 7,
							 .since_s = 0x0102030405060708,
							 .name = "a",
							 .peer_name = "b"};
static const struct partition_owner_entry partition_owner_by_hand = {
	.p_key = 0x0005, .guid = 0x0002c90300000001, .owner = "site"};

#define MGID_BY_HAND "ff12 .13 ee "
#define GID_BY_HAND "fe80000000000000 0002c90300000001 "

static const struct {
	enum registry_kind kind;
	const void *record;
	size_t size;	 /* of record */
	const char *key; /* its key, and the whole content of a drop */
	const char *rest;
} by_hand[] = {
	{REGISTRY_LID, &lid_by_hand, sizeof(lid_by_hand), "0002c90300000001",
	 "0124 02 01020304 0002c90300000009 07"},
	{REGISTRY_GROUP, &group_by_hand, sizeof(group_by_hand), MGID_BY_HAND,
	 "c001 0b1b0102 04 05 8001 03 12 06 000abcde fe 02 01 0002c90300000003"},
	{REGISTRY_MEMBER, &member_by_hand, sizeof(member_by_hand), MGID_BY_HAND GID_BY_HAND,
	 "05 01 0002c90300000004"},
	{REGISTRY_SERVICE, &service_by_hand, sizeof(service_by_hand),
	 "1000000000000007" GID_BY_HAND "8001",
	 "0102030405060708 a0 .14 af 6162 .62 d0 .62 df 0002c90300000002"},
	{REGISTRY_SUBSCRIPTION, &subscription_by_hand, sizeof(subscription_by_hand),
	 GID_BY_HAND "0102", "0304 050607 08 090a fe .14 ee 0b0c 0d0e 01 0010 0040 11 000004 01"},
	{REGISTRY_ALIAS, &alias_by_hand, sizeof(alias_by_hand), "0002c90300000001 0003",
	 "0002c903000000aa 01"},
	{REGISTRY_SETTING, &setting_by_hand, sizeof(setting_by_hand), "726f7574696e67 .25 ",
	 "7570646e .252 "},
	{REGISTRY_PARTITION, &partition_by_hand, sizeof(partition_by_hand), "0005",
	 "626c7565 .60 01 01 04 03 06 02 07 0b1b0102 000abcde"},
	{REGISTRY_PARTITION_MEMBER, &partition_member_by_hand, sizeof(partition_member_by_hand),
	 "0005 0002c90300000001", "02"},
	{REGISTRY_M_KEY, &m_key_by_hand, sizeof(m_key_by_hand), "0002c90300000001",
	 "0102030405060708 1112131415161718 2122232425262728"},
	{REGISTRY_NEIGHBOR, &neighbor_by_hand, sizeof(neighbor_by_hand), "0002c90300000009 07",
	 "0002c90300000001"},
	{REGISTRY_DISABLED, &disabled_by_hand, sizeof(disabled_by_hand), "0002c90300000009 07", ""},
	{REGISTRY_PARTITION_TEXT, &partition_text_by_hand, sizeof(partition_text_by_hand),
	 "01020304", "0003 613d31 .477 "},
	{REGISTRY_PARTITION_OWNER, &partition_owner_by_hand, sizeof(partition_owner_by_hand),
	 "0005 0002c90300000001", "73697465 .28 "},
	{REGISTRY_DRAINED, &drained_by_hand, sizeof(drained_by_hand),
	 "0002c90300000009 07 0002c90300000001 03", "0102030405060708 01 01 01 6e .64 72 .95 "},
	{REGISTRY_LOST_LINK, &lost_link_by_hand, sizeof(lost_link_by_hand),
	 "0002c90300000001 03 0002c90300000009 07", "0102030405060708 61 .64 62 .64 "},
};

/* The complete frame of one change as bytes. */
static size_t change_by_hand(size_t row, bool drop, uint8_t *bytes, size_t room)
{
	uint8_t record[1024];
	size_t size = hex_bytes(by_hand[row].key, record, sizeof(record));
	char head[128];

	if (!drop)
		size += hex_bytes(by_hand[row].rest, record + size, sizeof(record) - size);
	/* CHANGES: body and type; the first one's number, how many, and that the batch ends; the
	 * kind, and 1 to put or 2 to drop it. */
	snprintf(head, sizeof(head), "%08zx 00000005 0000000000000029 00000001 00000001 %02zx %02x",
		 16 + 2 + size, row + 1, drop ? 2 : 1);
	room -= hex_bytes(head, bytes, room);
	CU_ASSERT_FATAL(size <= room);
	memcpy(bytes + FRAME_HEAD_SIZE + 18, record, size);
	return FRAME_HEAD_SIZE + 18 + size;
}

static void check_by_hand(size_t row, bool drop, struct arena *arena)
{
	static uint8_t bytes[2048];
	size_t size = change_by_hand(row, drop, bytes, sizeof(bytes));
	struct frame frame = {.type = FRAME_CHANGES,
			      .body = bytes + FRAME_HEAD_SIZE,
			      .size = size - FRAME_HEAD_SIZE};
	struct wire_change change = {by_hand[row].kind, drop, by_hand[row].record, false};
	struct wire_changes changes;
	char why[FRAME_WHY_SIZE] = "";

	changes_begin(&out, FRAME_CHANGES, 41);
	CU_ASSERT_TRUE(changes_add(&out, &change));
	changes_end(&out, true);
	CU_ASSERT_EQUAL(out.size, size);
	CU_ASSERT_EQUAL(memcmp(out.bytes, bytes, size), 0);
	CU_ASSERT_EQUAL(changes_open(&frame, &changes), 0);
	CU_ASSERT_TRUE(changes.first == 41 && changes.count == 1 && changes.ends);
	CU_ASSERT_EQUAL_FATAL(changes_next(&changes, arena, &change, why), 0);
	CU_ASSERT_TRUE(change.kind == by_hand[row].kind && change.drop == drop);
	if (!drop)
		CU_ASSERT_EQUAL(memcmp(change.record, by_hand[row].record, by_hand[row].size), 0);
}

/* A change that this standby does not get is two bytes. */
static void test_skipped_by_hand(void)
{
	uint8_t bytes[64];
	size_t size =
		hex_bytes("00000016 00000005 0000000000000029 00000003 00000001 0003 0003 0003",
			  bytes, sizeof(bytes));
	const struct wire_change skipped = {.kind = REGISTRY_M_KEY, .skipped = true};
	struct frame frame = {.type = FRAME_CHANGES,
			      .body = bytes + FRAME_HEAD_SIZE,
			      .size = size - FRAME_HEAD_SIZE};
	struct arena *arena = arena_new();
	struct wire_changes changes;
	struct wire_change change;
	char why[FRAME_WHY_SIZE];

	changes_begin(&out, FRAME_CHANGES, 41);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_TRUE(changes_add(&out, &skipped));
	changes_end(&out, true);
	CU_ASSERT_EQUAL_FATAL(out.size, size);
	CU_ASSERT_EQUAL(memcmp(out.bytes, bytes, size), 0);
	CU_ASSERT_EQUAL(changes_open(&frame, &changes), 0);
	CU_ASSERT_EQUAL(changes.count, 3);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(changes_next(&changes, arena, &change, why), 0);
		CU_ASSERT_TRUE(change.skipped);
	}
	CU_ASSERT_EQUAL(changes.at, frame.size);
	bytes[FRAME_HEAD_SIZE + 16] = REGISTRY_LID; /* a kind that has no such change */
	CU_ASSERT_EQUAL(changes_open(&frame, &changes), 0);
	CU_ASSERT_EQUAL(changes_next(&changes, arena, &change, why), -EPROTO);
	arena_free(arena);
}

static void test_changes_by_hand(void)
{
	struct arena *arena = arena_new();

	CU_ASSERT_EQUAL(ARRAY_SIZE(by_hand), REGISTRY_KINDS - 1);
	for (size_t row = 0; row < ARRAY_SIZE(by_hand); row++) {
		CU_ASSERT_EQUAL(by_hand[row].kind, row + 1);
		check_by_hand(row, false, arena);
		check_by_hand(row, true, arena);
	}
	arena_free(arena);
}

/* All of it but the hash of the records' formats, which is 8 bytes from the 12th of the body on. */
static void test_hello_by_hand(void)
{
	static const char text[] = "00000037 00000001" /* HELLO */
				   "776566747265706c 0006 0203 .8 0002c90300000001 "
				   "0000000000000005 0000000000000006 2161203d20313b0a 62203d";
	struct hello hello = {.role = SM_MASTER,
			      .copies = COPY_REGISTRATIONS,
			      .guid = 0x0002c90300000001,
			      .incarnation = 5,
			      .number = 6,
			      .config = "!a = 1;\nb ="},
		     got;
	uint8_t bytes[128];
	size_t size = hex_bytes(text, bytes, sizeof(bytes));
	struct frame frame = {.type = FRAME_HELLO,
			      .body = bytes + FRAME_HEAD_SIZE,
			      .size = size - FRAME_HEAD_SIZE};
	char why[FRAME_WHY_SIZE];

	hello_put(&out, &hello);
	CU_ASSERT_EQUAL_FATAL(out.size, size);
	memcpy(bytes + FRAME_HEAD_SIZE + 12, out.bytes + FRAME_HEAD_SIZE + 12, 8);
	CU_ASSERT_EQUAL(memcmp(out.bytes, bytes, size), 0);
	CU_ASSERT_EQUAL(hello_get(&frame, &got, why), 0);
	CU_ASSERT_EQUAL(memcmp(&hello, &got, sizeof(got)), 0);
}

/* BEAT: the number of the last change, and whether changes wait for the standby. */
static void test_numbers_by_hand(void)
{
	uint8_t bytes[32];
	uint64_t numbers[2];
	struct frame frame = {.type = FRAME_HEARTBEAT, .body = bytes + FRAME_HEAD_SIZE, .size = 16};
	size_t size = hex_bytes("00000010 00000008 0102030405060708 0000000000000001", bytes,
				sizeof(bytes));

	frame_begin(&out, FRAME_HEARTBEAT);
	frame_number(&out, 0x0102030405060708);
	frame_number(&out, 1);
	frame_end(&out);
	CU_ASSERT_TRUE(out.size == size && !memcmp(out.bytes, bytes, size));
	CU_ASSERT_TRUE(frame_numbers(&frame, 2, numbers));
	CU_ASSERT_TRUE(numbers[0] == 0x0102030405060708 && numbers[1] == 1);
}

/* A full frame, by count and by size. */
static void test_full(void)
{
	static const struct setting_entry setting = {.name = "a"};
	struct lid_entry lid = {.guid = 1, .lid = 1};
	unsigned count = 0;

	changes_begin(&out, FRAME_CHANGES, 1);
	while (changes_add(&out, &(struct wire_change){REGISTRY_LID, false, &lid, false}))
		count++;
	CU_ASSERT_EQUAL(count, FRAME_CHANGES_MAX);
	changes_begin(&out, FRAME_CHANGES, 1);
	for (count = 0;
	     changes_add(&out, &(struct wire_change){REGISTRY_SETTING, false, &setting, false});)
		count++;
	CU_ASSERT(count > 200 && count < 240);
	CU_ASSERT(out.size <= FRAME_HEAD_SIZE + FRAME_BODY_MAX);
}

/* Any bytes: refused or taken, and never read beyond their end (valgrind and sanitizers look). */
static void test_noise(void)
{
	struct arena *arena = arena_new();
	uint64_t random = 3;

	for (unsigned round = 0; round < 20000; round++) {
		size_t size = round % 90;
		uint8_t *bytes = mem_alloc(size + 1);
		struct frame frame = {.type = FRAME_CHANGES, .body = bytes, .size = size};
		struct wire_changes changes;
		struct wire_change change;
		char why[FRAME_WHY_SIZE];
		struct hello hello;

		for (size_t i = 0; i < size; i++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			bytes[i] = (uint8_t)(random >> 60 ? random >> 33 & 3 : random >> 40);
		}
		if (size > 16) {
			memset(bytes + 8, 0, 8);
			bytes[11] = 9;
		}
		if (!changes_open(&frame, &changes))
			while (changes.count-- && !changes_next(&changes, arena, &change, why))
				CU_ASSERT(changes.at <= size);
		frame.type = FRAME_HELLO;
		hello_get(&frame, &hello, why);
		free(bytes);
		arena_reset(arena);
	}
	arena_free(arena);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"pieces", test_pieces},
		{"no frames", test_no_frames},
		{"sizes", test_sizes},
		{"hello", test_hello},
		{"configurations", test_differs},
		{"changes by hand", test_changes_by_hand},
		{"skipped changes by hand", test_skipped_by_hand},
		{"a hello by hand", test_hello_by_hand},
		{"numbers by hand", test_numbers_by_hand},
		{"changes", test_changes},
		{"full frames", test_full},
		{"noise", test_noise},
		CU_TEST_INFO_NULL,
	};

	return unit_main("replica_wire", tests);
}
