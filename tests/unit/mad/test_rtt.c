/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How long answers take: mad/rtt.h. */
#include "mad/rtt.h"
#include "tests/unit/fixtures/unit.h"

static void test_first_sample(void)
{
	struct rtt rtt = {0};

	CU_ASSERT_EQUAL(rtt_overdue_us(&rtt), 0);
	rtt_sample(&rtt, 100);
	CU_ASSERT_EQUAL(rtt.mean_us, 100);
	CU_ASSERT_EQUAL(rtt.deviation_us, 50);
	CU_ASSERT_EQUAL(rtt_overdue_us(&rtt), 300);
}

static void test_steady(void)
{
	struct rtt rtt = {0};

	for (unsigned i = 0; i < 100; i++)
		rtt_sample(&rtt, 800);
	CU_ASSERT_EQUAL(rtt.mean_us, 800);
	CU_ASSERT_EQUAL(rtt.deviation_us, 0);
}

/* A larger variation gives a longer wait. The mean follows a target that becomes slower. */
static void test_moving(void)
{
	struct rtt rtt = {0};

	for (unsigned i = 0; i < 100; i++)
		rtt_sample(&rtt, i % 2 ? 100 : 900);
	CU_ASSERT_TRUE(rtt.mean_us > 400 && rtt.mean_us < 600);
	CU_ASSERT_TRUE(rtt_overdue_us(&rtt) > 900);
	for (unsigned i = 0; i < 100; i++)
		rtt_sample(&rtt, 5000);
	CU_ASSERT_TRUE(rtt.mean_us > 4900 && rtt.mean_us <= 5000);
}

/* A single sample that is far above all others does not lengthen the wait, in any position. */
static void test_outliers(void)
{
	struct rtt rtt = {0};

	rtt_sample(&rtt, 500000);
	for (unsigned i = 0; i < 10; i++)
		rtt_sample(&rtt, 100);
	CU_ASSERT_TRUE(rtt_overdue_us(&rtt) < 300);
	rtt_sample(&rtt, 500000);
	CU_ASSERT_TRUE(rtt_overdue_us(&rtt) < 1000);
}

static void test_extremes(void)
{
	struct rtt rtt = {0};

	for (unsigned i = 0; i < 100; i++)
		rtt_sample(&rtt, 0);
	CU_ASSERT_EQUAL(rtt.mean_us, 1); /* a sample all the same */
	for (unsigned i = 0; i < 100; i++)
		rtt_sample(&rtt, UINT64_MAX);
	CU_ASSERT_TRUE(rtt.mean_us > 50000000 && rtt.mean_us <= 60000000);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"first sample", test_first_sample},
		{"steady", test_steady},
		{"moving", test_moving},
		{"outliers", test_outliers},
		{"extremes", test_extremes},
		CU_TEST_INFO_NULL,
	};

	return unit_main("rtt", tests);
}
