/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How long a flapping link is held, and when a port babbles: sm/discovery/damping.h. */
#include "sm/discovery/damping.h"
#include "tests/unit/fixtures/unit.h"

#define S UINT64_C(1000000)

/* Losses at these times, with 16 s as the longest hold, give these holds. */
static void test_holds_rise(void)
{
	static const struct {
		uint64_t at_s, hold_s;
	} rows[] = {
		{1000, 0},  {1001, 0}, {1002, 0},  {1003, 1},  {1005, 2},
		{1010, 4},  {1020, 8}, {1040, 16}, {1070, 16}, {1100, 16},
		{1175, 16}, {1252, 0}, {1253, 0},  {1254, 0},  {1255, 1},
	};
	struct flap_history history = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CU_ASSERT_EQUAL(damping_loss(&history, rows[i].at_s * S, 16 * S),
				rows[i].hold_s * S);
}

static void test_no_hold_where_none_is_wanted(void)
{
	struct flap_history history = {0};

	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(damping_loss(&history, i * S, 0), 0);
}

static void test_many_losses_do_not_overflow(void)
{
	struct flap_history history = {0};

	for (unsigned i = 0; i < 1000; i++)
		damping_loss(&history, i * S, 3600 * S);
	CU_ASSERT_EQUAL(damping_loss(&history, 1000 * S, 3600 * S), 3600 * S);
}

static void test_complaints_are_counted_by_the_minute(void)
{
	struct babble_history history = {0};

	CU_ASSERT_FALSE(damping_complaint(&history, 100 * S, 3));
	CU_ASSERT_FALSE(damping_complaint(&history, 101 * S, 3));
	CU_ASSERT_FALSE(damping_complaint(&history, 160 * S, 3)); /* another minute */
	CU_ASSERT_FALSE(damping_complaint(&history, 161 * S, 3));
	CU_ASSERT_TRUE(damping_complaint(&history, 219 * S, 3));
	CU_ASSERT_FALSE(damping_complaint(&history, 219 * S, 3)); /* anew */
	CU_ASSERT_TRUE(damping_complaint(&(struct babble_history){0}, 5 * S, 1));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"holds rise", test_holds_rise},
		{"no hold where none is wanted", test_no_hold_where_none_is_wanted},
		{"many losses do not overflow", test_many_losses_do_not_overflow},
		{"complaints are counted by the minute", test_complaints_are_counted_by_the_minute},
		CU_TEST_INFO_NULL,
	};

	return unit_main("damping", tests);
}
