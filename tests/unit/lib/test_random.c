/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The numbers of lib/random.h. */
#include "lib/random.h"

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

/* The first numbers of the seed 1234567, by the authors' own program. */
static void test_sequence(void)
{
	static const uint64_t wanted[] = {
		UINT64_C(6457827717110365317),	UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),	UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	uint64_t state = 1234567;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		CU_ASSERT_EQUAL(random_next(&state), wanted[i]);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the numbers of a seed", test_sequence},
		CU_TEST_INFO_NULL,
	};

	return unit_main("random", tests);
}
