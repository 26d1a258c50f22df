/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Forwarding tables: sizes at their limits, reading beyond them, and counted rows. */
#include "fabric/tables.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static void test_new_rows(void)
{
	static const struct {
		lid_t top;
		uint16_t blocks;
	} rows[] = {{0, 1}, {1, 1}, {63, 1}, {64, 2}, {127, 2}, {LID_UNICAST_MAX, LFT_BLOCKS_MAX}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lft *lft = lft_new(rows[i].top);
		unsigned entries = 0;

		CU_ASSERT_EQUAL(lft->top, rows[i].top);
		CU_ASSERT_EQUAL(lft->blocks, rows[i].blocks);
		for (unsigned lid = 0; lid < lft->blocks * (unsigned)LFT_BLOCK_LIDS; lid++)
			entries += lft->port[lid] != LFT_NO_PORT;
		CU_ASSERT_EQUAL(entries, 0);
		lft_unref(lft);
	}
}

static void test_reading(void)
{
	struct lft *lft = lft_new(70);

	lft->port[0] = 9;
	lft->port[70] = 7;
	CU_ASSERT_EQUAL(lft_port(lft, 0), 9);
	CU_ASSERT_EQUAL(lft_port(lft, 69), LFT_NO_PORT);
	CU_ASSERT_EQUAL(lft_port(lft, 70), 7);
	CU_ASSERT_EQUAL(lft_port(lft, 71), LFT_NO_PORT);
	CU_ASSERT_EQUAL(lft_port(lft, LID_PERMISSIVE), LFT_NO_PORT);
	CU_ASSERT_EQUAL(lft_port(NULL, 70), LFT_NO_PORT);

	CU_ASSERT_EQUAL(lft_block(lft, 0)[0], 9);
	CU_ASSERT_EQUAL(lft_block(lft, 1)[6], 7);
	CU_ASSERT_PTR_EQUAL(lft_block(lft, 1), lft->port + LFT_BLOCK_LIDS);
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		CU_ASSERT_EQUAL(lft_block(lft, 2)[i], LFT_NO_PORT);
		CU_ASSERT_EQUAL(lft_block(lft, UINT16_MAX)[i], LFT_NO_PORT);
		CU_ASSERT_EQUAL(lft_block(NULL, 0)[i], LFT_NO_PORT);
	}
	lft_unref(lft);
}

/* Routes release their rows. A row with another reference stays. */
static void test_references(void)
{
	struct routes *routes = routes_new(42, 3, "some");
	struct lft *shared = lft_new(10);

	CU_ASSERT_EQUAL(routes->generation, 42);
	CU_ASSERT_EQUAL(routes->num_switches, 3);
	CU_ASSERT_STRING_EQUAL(routes->engine, "some");
	CU_ASSERT_PTR_NULL(routes->lft[2]);

	routes->lft[0] = lft_ref(shared);
	routes->lft[1] = lft_ref(shared);
	CU_ASSERT_EQUAL(shared->refs, 3);
	CU_ASSERT_PTR_EQUAL(routes_ref(routes), routes);
	routes_unref(routes);
	CU_ASSERT_EQUAL(shared->refs, 3);
	routes_unref(routes);
	CU_ASSERT_EQUAL(shared->refs, 1);
	lft_unref(shared);

	routes_unref(routes_new(0, 0, "none"));
	CU_ASSERT_PTR_NULL(routes_ref(NULL));
	CU_ASSERT_PTR_NULL(lft_ref(NULL));
	routes_unref(NULL);
	lft_unref(NULL);
}

/* The last holder gets the rows that nothing else has. */
static void test_detach(void)
{
	struct routes *routes = routes_new(1, 3, "updn");
	struct lft *shared = lft_new(10), *own = lft_new(10);

	routes->lft[0] = lft_ref(shared);
	routes->lft[1] = own;
	CU_ASSERT_PTR_NULL(routes_detach(NULL));
	CU_ASSERT_PTR_NULL(routes_detach(routes_ref(routes)));
	CU_ASSERT_EQUAL(routes->refs, 1);
	CU_ASSERT_PTR_EQUAL(routes->lft[0], shared);
	CU_ASSERT_PTR_EQUAL_FATAL(routes_detach(routes), routes);
	CU_ASSERT_PTR_NULL(routes->lft[0]);
	CU_ASSERT_PTR_EQUAL(routes->lft[1], own);
	CU_ASSERT_EQUAL(shared->refs, 1);
	routes_unref(routes);
	lft_unref(shared);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"new rows are empty", test_new_rows},
		{"reading, also beyond the end", test_reading},
		{"references", test_references},
		{"detached routes", test_detach},
		CU_TEST_INFO_NULL,
	};

	return unit_main("tables", tests);
}
