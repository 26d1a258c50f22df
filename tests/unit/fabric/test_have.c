/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The known content of a switch's table, compared with a model of the switch. Random Sets are
 * acknowledged, or lost before or after they took effect, while the wanted row changes. Every block
 * that lft_have claims must be what the switch holds.
 */
#include <string.h>

#include "fabric/fabric.h"
#include "tests/unit/fixtures/unit.h"

static struct lft *row(lid_t top, uint8_t port)
{
	struct lft *lft = lft_new(top);

	memset(lft->port, port, top + 1u);
	return lft;
}

/* The block is known, and its first entry is port. */
static bool holds(const struct lft_have *have, uint16_t block, uint8_t port)
{
	const uint8_t *held = lft_have_block(have, block);

	return held && held[0] == port;
}

static void test_writing_a_row(void)
{
	struct lft_have have = {0};
	struct lft *first = row(150, 1), *second = row(70, 2);

	CU_ASSERT_PTR_NULL(lft_have_block(&have, 0));
	lft_have_begin(&have, first);
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 0));
	lft_have_acknowledge(&have, 1);
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 0));
	CU_ASSERT_TRUE(holds(&have, 1, 1));
	lft_have_acknowledge(&have, 0);
	lft_have_acknowledge(&have, 2);
	lft_have_acknowledge(&have, 3); /* beyond the row: nothing */
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 3));
	lft_have_settle(&have);
	CU_ASSERT_TRUE(holds(&have, 0, 1) && holds(&have, 1, 1) && holds(&have, 2, 1));
	CU_ASSERT_EQUAL(first->refs, 2);

	/* A shorter row: blocks above it stay unchanged until it has settled. */
	lft_have_begin(&have, second);
	lft_have_acknowledge(&have, 1);
	CU_ASSERT_TRUE(holds(&have, 0, 1) && holds(&have, 1, 2) && holds(&have, 2, 1));
	lft_have_acknowledge(&have, 0);
	lft_have_settle(&have);
	CU_ASSERT_TRUE(holds(&have, 0, 2) && holds(&have, 1, 2));
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 2));
	CU_ASSERT_EQUAL(first->refs, 1);
	lft_have_forget(&have);
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 0));
	CU_ASSERT_EQUAL(second->refs, 1);
	lft_unref(first);
	lft_unref(second);
}

static void test_row_changes_during_set(void)
{
	struct lft_have have = {0};
	struct lft *first = row(191, 1), *second = row(191, 2), *third = row(300, 3);

	lft_have_begin(&have, first);
	for (uint16_t block = 0; block < 3; block++)
		lft_have_acknowledge(&have, block);
	lft_have_settle(&have);
	lft_have_begin(&have, second);
	lft_have_acknowledge(&have, 1);
	lft_have_begin(&have, third);
	CU_ASSERT_TRUE(holds(&have, 0, 1) && holds(&have, 1, 2) && holds(&have, 2, 1));
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 3));
	lft_have_begin(&have, third); /* again: nothing changes */
	lft_have_acknowledge(&have, 2);
	CU_ASSERT_TRUE(holds(&have, 2, 3));
	lft_have_begin(&have, second);
	CU_ASSERT_TRUE(holds(&have, 0, 1) && holds(&have, 1, 2) && holds(&have, 2, 3));
	lft_have_forget(&have);
	CU_ASSERT_EQUAL(first->refs + second->refs + third->refs, 3);
	lft_unref(first);
	lft_unref(second);
	lft_unref(third);
}

/* All unknown but a block in the middle. */
static void test_known_in_the_middle(void)
{
	struct lft_have have = {0};
	struct lft *first = row(300, 1), *second = row(300, 2);

	lft_have_begin(&have, first);
	lft_have_acknowledge(&have, 2);
	lft_have_begin(&have, second);
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 0));
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 1));
	CU_ASSERT_TRUE(!lft_have_block(&have, 2) || holds(&have, 2, 1));
	lft_have_forget(&have);
	lft_unref(first);
	lft_unref(second);
}

static void test_doubt(void)
{
	struct lft_have have = {0};
	struct lft *first = row(100, 1), *second = row(100, 2);

	lft_have_begin(&have, first);
	lft_have_acknowledge(&have, 0);
	lft_have_acknowledge(&have, 1);
	lft_have_settle(&have);
	lft_have_begin(&have, second);
	lft_have_doubt(&have, 1);
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 1));
	lft_have_begin(&have, first); /* the first row is wanted again */
	CU_ASSERT_PTR_NULL(lft_have_block(&have, 1));
	CU_ASSERT_TRUE(holds(&have, 0, 1));
	lft_have_acknowledge(&have, 1);
	CU_ASSERT_TRUE(holds(&have, 1, 1));
	lft_have_doubt(&have, LFT_BLOCKS_MAX); /* nothing */
	CU_ASSERT_PTR_NULL(lft_have_block(&have, LFT_BLOCKS_MAX));
	lft_have_forget(&have);
	lft_unref(first);
	lft_unref(second);
}

static void test_learn(void)
{
	struct lft_have have = {0};
	struct lft *first = row(100, 1), *second = row(100, 2);
	uint8_t entries[LFT_BLOCK_LIDS];

	memset(entries, 9, sizeof(entries));
	lft_have_begin(&have, first);
	lft_have_acknowledge(&have, 0);
	lft_have_acknowledge(&have, 1);
	lft_have_settle(&have);
	lft_have_begin(&have, second);
	lft_have_learn(&have, 1, 2, entries);
	CU_ASSERT_TRUE(holds(&have, 0, 1) && holds(&have, 1, 9));
	CU_ASSERT_EQUAL(first->port[64], 1); /* rows that others hold never change */
	lft_have_acknowledge(&have, 1);
	CU_ASSERT_TRUE(holds(&have, 1, 2));
	lft_have_forget(&have);

	/* One block is read while nothing else is known: an earlier acknowledgement stays valid. */
	lft_have_begin(&have, first);
	lft_have_acknowledge(&have, 1);
	lft_have_learn(&have, 0, 2, entries);
	CU_ASSERT_TRUE(holds(&have, 0, 9) && holds(&have, 1, 1));
	lft_have_forget(&have);
	lft_unref(first);
	lft_unref(second);
}

/* Against a model */

enum { BLOCKS = 5, ROWS = 12, STEPS = 40000 };

static uint32_t state = 1;
static unsigned dice(unsigned sides)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 16) % sides;
}

static void test_random(void)
{
	uint8_t device[BLOCKS][LFT_BLOCK_LIDS];
	struct lft_have have = {0};
	struct lft *rows[ROWS], *want = NULL;
	unsigned known = 0;

	memset(device, 0xEE, sizeof(device));
	for (unsigned r = 0; r < ROWS; r++) {
		rows[r] = lft_new((lid_t)(1 + dice(BLOCKS * LFT_BLOCK_LIDS - 1)));
		for (unsigned lid = 0; lid <= rows[r]->top; lid++)
			rows[r]->port[lid] = (uint8_t)dice(3);
	}
	for (unsigned step = 0; step < STEPS; step++) {
		uint16_t block = (uint16_t)dice(BLOCKS);
		bool all = want != NULL;

		switch (dice(8)) {
		case 0:
			want = rows[dice(ROWS)];
			lft_have_begin(&have, want);
			break;
		case 1:
			for (uint16_t b = 0; all && b < want->blocks; b++) {
				const uint8_t *held = lft_have_block(&have, b);

				all = held && !memcmp(held, lft_block(want, b), LFT_BLOCK_LIDS);
			}
			if (all)
				lft_have_settle(&have);
			break;
		case 2: /* no answer; it took effect or not */
			if (!want || block >= want->blocks)
				break;
			if (dice(2))
				memcpy(device[block], lft_block(want, block), LFT_BLOCK_LIDS);
			lft_have_doubt(&have, block);
			break;
		case 3:
			if (dice(200) == 0) {
				lft_have_forget(&have);
				want = NULL;
				memset(device, 0xEE, sizeof(device));
			}
			break;
		default:
			if (!want || !have.next || block >= want->blocks)
				break;
			memcpy(device[block], lft_block(want, block), LFT_BLOCK_LIDS);
			lft_have_acknowledge(&have, block);
		}
		for (uint16_t b = 0; b < BLOCKS; b++) {
			const uint8_t *held = lft_have_block(&have, b);

			known += held != NULL;
			if (held && memcmp(held, device[b], LFT_BLOCK_LIDS) != 0)
				CU_FAIL_FATAL("claims what the switch does not hold");
		}
	}
	CU_ASSERT_TRUE(known > STEPS);
	lft_have_forget(&have);
	for (unsigned r = 0; r < ROWS; r++) {
		CU_ASSERT_EQUAL(rows[r]->refs, 1);
		lft_unref(rows[r]);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"writing a row", test_writing_a_row},
		{"the row changes during a Set()", test_row_changes_during_set},
		{"known in the middle", test_known_in_the_middle},
		{"doubt", test_doubt},
		{"learn", test_learn},
		{"random", test_random},
		CU_TEST_INFO_NULL,
	};

	return unit_main("have", tests);
}
