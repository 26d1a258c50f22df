/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * VL arbitration: the sequence of VLs that tables give, case by case, and the shares of the link
 * after many packets.
 */
#include "sim/flow_arbiter.h"

#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { TABLE = 8 };

/* Pairs of VL and weight. */
struct table {
	uint8_t count, entry[2 * TABLE];
};

static struct flow_arbiter arbiter_of(const struct table *low, const struct table *high,
				      uint8_t limit)
{
	struct flow_arbiter arbiter;

	flow_arbiter_init(&arbiter, low->entry, low->count, high->entry, high->count, limit);
	return arbiter;
}

/* Packets of 64 blocks (4 KiB) wait on each of the VLs all the time. */
static void test_sequences(void)
{
	static const struct {
		struct table low, high;
		uint8_t limit;
		uint16_t can_send;
		const char *sequence; /* of VLs */
	} cases[] = {
		/* No table: in turns. */
		{.can_send = 0x7, .sequence = "012012"},
		{.can_send = 0x5, .sequence = "0202"},
		{.low = {2, {0, 0, 1, 0}}, .can_send = 0x3, .sequence = "0101"},
		/* A weight of any size is a packet at least; weight 0 and VL15 are skipped. */
		{.low = {2, {0, 1, 1, 64}}, .can_send = 0x3, .sequence = "0101"},
		{.low = {2, {0, 64, 1, 128}}, .can_send = 0x3, .sequence = "011011"},
		{.low = {2, {0, 65, 1, 64}}, .can_send = 0x3, .sequence = "001001"},
		{.low = {3, {0, 64, 1, 0, 15, 64}}, .can_send = 0x3, .sequence = "0000"},
		/* A VL may have several entries. */
		{.low = {4, {0, 64, 1, 64, 0, 64, 2, 64}}, .can_send = 0x7, .sequence = "01020102"},
		/* An entry without packets loses its turn. */
		{.low = {2, {0, 255, 1, 64}}, .can_send = 0x2, .sequence = "1111"},
		/* High priority first. Limit 0 is one packet, 2 is 8 KiB, 255 is no limit. */
		{.low = {1, {0, 64}},
		 .high = {1, {1, 64}},
		 .limit = 0,
		 .can_send = 0x3,
		 .sequence = "101010"},
		{.low = {1, {0, 64}},
		 .high = {1, {1, 64}},
		 .limit = 2,
		 .can_send = 0x3,
		 .sequence = "110110"},
		{.low = {1, {0, 64}},
		 .high = {1, {1, 64}},
		 .limit = 255,
		 .can_send = 0x3,
		 .sequence = "1111111"},
		{.low = {1, {0, 64}},
		 .high = {1, {1, 64}},
		 .limit = 0,
		 .can_send = 0x2,
		 .sequence = "1111"},
		/* Both tables have turns of their own. */
		{.low = {2, {0, 64, 1, 64}},
		 .high = {2, {2, 64, 3, 64}},
		 .limit = 0,
		 .can_send = 0xF,
		 .sequence = "20312031"},
	};
	static const uint16_t blocks[16] = {64, 64, 64, 64};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flow_arbiter arbiter =
			arbiter_of(&cases[i].low, &cases[i].high, cases[i].limit);

		for (size_t n = 0; n < strlen(cases[i].sequence); n++) {
			uint8_t vl = flow_arbiter_choose(&arbiter, cases[i].can_send, blocks);

			CU_ASSERT_EQUAL(vl + '0', cases[i].sequence[n]);
		}
	}
}

/* The highest limit is 254 * 4 KiB; 255 is none. */
static void test_limits(void)
{
	static const struct table low = {1, {0, 64}}, high = {1, {1, 64}};
	static const uint16_t blocks[16] = {64, 64};
	struct flow_arbiter most = arbiter_of(&low, &high, 254);
	struct flow_arbiter unlimited = arbiter_of(&low, &high, FLOW_HIGH_UNLIMITED);

	for (unsigned n = 0; n < 2 * FLOW_HIGH_UNLIMITED; n++) {
		CU_ASSERT_EQUAL(flow_arbiter_choose(&most, 3, blocks), n % 255 != 254);
		CU_ASSERT_EQUAL(flow_arbiter_choose(&unlimited, 3, blocks), 1);
	}
}

static void test_vls(void)
{
	static const struct table none, low = {3, {0, 64, 2, 0, 15, 9}}, high = {1, {5, 1}};
	struct flow_arbiter arbiter = arbiter_of(&none, &none, 0);

	CU_ASSERT_EQUAL(flow_arbiter_vls(&arbiter), 0x7FFF);
	arbiter = arbiter_of(&low, &none, 0);
	CU_ASSERT_EQUAL(flow_arbiter_vls(&arbiter), 1);
	arbiter = arbiter_of(&low, &high, 0);
	CU_ASSERT_EQUAL(flow_arbiter_vls(&arbiter), 0x21);
}

/* Bytes follow the weights whatever the sizes of packets: 10 blocks on VL0, 3 on VL1. */
static void test_shares(void)
{
	static const struct table low = {2, {0, 50, 1, 150}}, none;
	static const uint16_t blocks[16] = {10, 3};
	struct flow_arbiter arbiter = arbiter_of(&low, &none, 0);
	uint64_t sent[2] = {0};

	for (unsigned n = 0; n < 55 * 1000; n++) {
		uint8_t vl = flow_arbiter_choose(&arbiter, 3, blocks);

		sent[vl] += blocks[vl];
	}
	CU_ASSERT_EQUAL(sent[0], 50 * 1000);
	CU_ASSERT_EQUAL(sent[1], 150 * 1000);
}

static CU_TestInfo tests[] = {
	{"sequences", test_sequences}, {"limits", test_limits}, {"VLs with weight", test_vls},
	{"shares", test_shares},       CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("flow_arbiter", tests);
}
