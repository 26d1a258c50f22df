/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The known content of a multicast table (fabric/mft.h) compared with a model of the switch. Random
 * Sets are acknowledged, or lost before or after they took effect, while the wanted entries change.
 * The entries that it surely has and those that it may have must enclose the switch's entries. A
 * settled MLID holds the wanted entries.
 */
#include <string.h>

#include "fabric/mft.h"
#include "tests/unit/fixtures/unit.h"

enum { PORTS = 36, CAP = 70, FIRST = LID_MULTICAST_MIN };

static void test_sizes(void)
{
	struct mft *mft = mft_new(PORTS, CAP);

	CU_ASSERT_EQUAL(mft->blocks, 3);
	CU_ASSERT_EQUAL(mft->positions, 3);
	CU_ASSERT_EQUAL(mft->top_max, FIRST + CAP - 1);
	CU_ASSERT_EQUAL(mft_valid(mft, 0), 0xFFFF);
	CU_ASSERT_EQUAL(mft_valid(mft, 2), 0x1F); /* ports 32 to 36 */
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST, 2), 0x1F);
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST + 96, 0), 0); /* no such entry */
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST - 1, 0), 0);
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST, 3), 0);
	mft_want(mft, FIRST + 96, 0, 1, true); /* harmless */
	CU_ASSERT_EQUAL(mft_want_top(mft), MFT_NOTHING_TOP);
	mft_want(mft, FIRST + 40, 1, 1, true);
	CU_ASSERT_EQUAL(mft_want_top(mft), FIRST + 63);
	mft_want(mft, FIRST + 65, 1, 1, true);
	CU_ASSERT_EQUAL(mft_want_top(mft), FIRST + CAP - 1);
	mft_free(mft);
	mft = mft_new(254, UINT16_MAX);
	CU_ASSERT_EQUAL(mft->blocks, 512);
	CU_ASSERT_EQUAL(mft->positions, 16);
	CU_ASSERT_EQUAL(mft_valid(mft, 15), 0x7FFF);
	mft_want(mft, LID_MULTICAST_MAX, 15, 0xFFFF, true);
	CU_ASSERT_EQUAL(mft_wanted(mft, LID_MULTICAST_MAX, 15), 0x7FFF);
	CU_ASSERT_EQUAL(mft_want_top(mft), LID_MULTICAST_MAX);
	mft_free(mft);
	mft = mft_new(4, 0);
	CU_ASSERT_EQUAL(mft_cells(mft), 0);
	mft_want(mft, FIRST, 0, 1, true);
	CU_ASSERT(mft_is_settled(mft, FIRST));
	mft_free(mft);
}

/* An empty block that was read needs no memory. Blocks above it stay unknown. */
static void test_reading(void)
{
	static const uint16_t nothing[MFT_BLOCK_LIDS];
	struct mft *mft = mft_new(8, 96);
	uint16_t some[MFT_BLOCK_LIDS] = {[3] = 0xFF06};

	mft_want(mft, FIRST + 3, 0, 6, true);
	CU_ASSERT(!mft_is_settled(mft, FIRST + 3));
	CU_ASSERT_EQUAL(mft_has(mft, FIRST + 3, 0), 0);
	mft_learn(mft, 0, some);
	CU_ASSERT_EQUAL(mft_has(mft, FIRST + 3, 0), 0x106);
	CU_ASSERT_EQUAL(mft_has(mft, FIRST + 96, 0), 0); /* no such entry */
	mft_learn(mft, 1, nothing);
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST + 3, 0), 0x106);
	mft_tidy(mft, 2);
	CU_ASSERT_PTR_NULL(mft->cells[1]);
	CU_ASSERT_PTR_NOT_NULL(mft->cells[0]);
	CU_ASSERT(mft_is_known(mft, 1) && !mft_is_known(mft, 2));
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST + 32, 0), 0);
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST + 64, 0), 0x1FF);
	mft_forget(mft, false);
	CU_ASSERT_EQUAL(mft_maybe(mft, FIRST + 32, 0), 0x1FF);
	CU_ASSERT_EQUAL(mft_wanted(mft, FIRST + 3, 0), 6);
	mft_free(mft);
}

/* A block whose reads had no answer may send to any port, and is unknown again if a Set() gets no
 * answer. This ends when the block is read, or when the switch has restarted. */
static void test_unheard(void)
{
	enum { ASKED, READ, BEGUN_AGAIN, WAYS };
	uint16_t before[MFT_BLOCK_LIDS] = {[3] = 0x10}, sent[MFT_BLOCK_LIDS] = {[3] = 6};

	for (unsigned way = ASKED; way < WAYS; way++) {
		struct mft *mft = mft_new(8, 32);

		mft_want(mft, FIRST + 3, 0, 6, true);
		mft->cells[0]->unheard = 2;
		if (way == READ)
			mft_learn(mft, 0, before);
		else if (way == BEGUN_AGAIN)
			mft_forget(mft, true);
		mft_send(mft, 0, sent);
		CU_ASSERT_EQUAL(mft_maybe(mft, FIRST + 3, 0), way == ASKED  ? 0x1FF
							      : way == READ ? 0x16
									    : 6);
		mft_doubt(mft, 0, sent);
		CU_ASSERT_EQUAL(mft->cells[0]->known, way != ASKED);
		mft_free(mft);
	}
}

static uint64_t state = 3;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static void check(const struct mft *mft, const uint16_t *held)
{
	const struct mft_cell *cell = mft->cells[0];

	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++) {
		CU_ASSERT_EQUAL(cell->have[i] & ~held[i], 0);
		CU_ASSERT_EQUAL(mft_has(mft, (lid_t)(FIRST + i), 0), cell->have[i]);
		CU_ASSERT_EQUAL(held[i] & ~mft_maybe(mft, (lid_t)(FIRST + i), 0), 0);
		CU_ASSERT(!mft_is_settled(mft, (lid_t)(FIRST + i)) || held[i] == cell->want[i]);
	}
	CU_ASSERT(mft_differs(cell) || !memcmp(held, cell->want, sizeof(cell->want)));
}

static void test_sets(void)
{
	enum { STEPS = 20000 };
	struct mft *mft = mft_new(8, 32);
	uint16_t held[MFT_BLOCK_LIDS] = {0}, sent[MFT_BLOCK_LIDS];

	mft_learn(mft, 0, held);
	for (unsigned step = 0; step < STEPS; step++) {
		mft_want(mft, (lid_t)(FIRST + draw(4)), 0, (uint16_t)draw(512), draw(2));
		CU_ASSERT(mft_is_dirty(mft, 0));
		for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++)
			sent[i] = draw(2) ? mft->cells[0]->want[i] : mft->cells[0]->have[i];
		mft_send(mft, 0, sent);
		check(mft, held);
		if (draw(4)) {
			memcpy(held, sent, sizeof(held));
			check(mft, held);
		}
		if (!memcmp(held, sent, sizeof(held)) && draw(2))
			mft_learn(mft, 0, sent);
		else
			mft_doubt(mft, 0, sent);
		check(mft, held);
	}
	mft_free(mft);
}

/* A row has the entries that are surely held, and stays the same until they change. */
static void test_rows(void)
{
	struct mft *mft = mft_new(20, 128), *other = mft_new(20, 128);
	uint16_t some[MFT_BLOCK_LIDS] = {[3] = 6}, none[MFT_BLOCK_LIDS] = {0};
	struct mft_row *row, *again;

	row = mft_row(mft);
	CU_ASSERT_EQUAL(row->blocks, 0); /* nothing is known */
	mft_row_unref(row);
	mft_learn(mft, 0, none);
	mft_learn(mft, 1, none);
	mft_learn(mft, 2, none);
	mft_learn(mft, 3, some);
	mft_tidy(mft, 2);
	mft_learn(mft, 4, none);
	CU_ASSERT_EQUAL(mft_held_blocks(mft), 2);
	CU_ASSERT_PTR_NULL(mft_held(mft, 5));
	row = mft_row(mft);
	again = mft_row(mft);
	CU_ASSERT_PTR_EQUAL(row, again);
	mft_row_unref(again);
	CU_ASSERT_EQUAL(row->blocks, 2);
	CU_ASSERT_EQUAL(row->count, 1);
	CU_ASSERT_EQUAL(row->cell[0].index, 3);
	CU_ASSERT_EQUAL(memcmp(mft_row_cell(row, 3), some, sizeof(some)), 0);
	CU_ASSERT_EQUAL(memcmp(mft_row_cell(row, 2), none, sizeof(none)), 0);
	mft_send(mft, 3, none);
	again = mft_row(mft);
	CU_ASSERT_PTR_NOT_EQUAL(row, again);
	mft_row_unref(again);
	mft_doubt(mft, 3, none);
	CU_ASSERT_PTR_NULL(mft_row(mft)); /* its answer was lost */

	/* Entries of the cache are known, and are verified if they differ from the wanted entries.
	 */
	mft_want(other, FIRST + 40, 0, 2, true);
	mft_want(other, FIRST + 3, 1, 2, true);
	mft_believe(other, row);
	CU_ASSERT(mft_is_known(other, 0) && mft_is_known(other, 3) && !mft_is_known(other, 4));
	CU_ASSERT(other->cells[1]->cached && other->cells[2]->cached);
	CU_ASSERT_EQUAL(memcmp(mft_held(other, 3), some, sizeof(some)), 0);
	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++)
		CU_ASSERT_EQUAL(mft_has(other, (lid_t)(FIRST + MFT_BLOCK_LIDS + i), 0), 0);
	mft_want(other, FIRST + 5, 0, 4, true);
	CU_ASSERT(other->cells[0]->cached);
	mft_learn(other, 0, none);
	CU_ASSERT(!other->cells[0]->cached);
	mft_row_unref(row);
	mft_free(mft);
	mft_free(other);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"sizes", test_sizes}, {"reading", test_reading}, {"Sets that are lost", test_sets},
		{"rows", test_rows},   {"unheard", test_unheard}, CU_TEST_INFO_NULL,
	};

	return unit_main("mft", tests);
}
