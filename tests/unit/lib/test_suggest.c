/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Suggestions for unknown words, and words without a suggestion. */
#include <string.h>

#include "lib/suggest.h"
#include "tests/unit/fixtures/unit.h"

static const char *const names[] = {"status", "sweep",	  "sm_priority",
				    "lmc",    "hoq_life", "leaf_hoq_life"};

static const struct {
	const char *word, *best; /* NULL: nothing */
} cases[] = {
	{"sm_priority", "sm_priority"},
	{"sm_prority", "sm_priority"},	 /* a missing letter */
	{"sm_priorrity", "sm_priority"}, /* an extra letter */
	{"sm_prioriyt", "sm_priority"},	 /* two swapped letters */
	{"priority", NULL},
	{"SM_PRIORITY", "sm_priority"}, /* upper case */
	{"LCM", "lmc"},
	{"stauts", "status"},
	{"swep", "sweep"},
	{"lcm", "lmc"},
	{"hoqlife", "hoq_life"},
	{"leaf_hoq_lfe", "leaf_hoq_life"},
	{"xyz", NULL},
	{"x", NULL},
	{"", NULL},
	{"a_name_that_is_much_longer_than_any_name_of_an_option_or_a_command_is", NULL},
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct suggest suggest = suggest_for(cases[i].word);

		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			suggest_try(&suggest, names[j]);
		if (!cases[i].best) {
			CU_ASSERT_PTR_NULL(suggest.best);
			continue;
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(suggest.best);
		CU_ASSERT_STRING_EQUAL(suggest.best, cases[i].best);
	}
}

/* Of two that are equally near, the first one tried. */
static void test_tie(void)
{
	struct suggest suggest = suggest_for("poll_misses_x");

	suggest_try(&suggest, "poll_misses_y");
	suggest_try(&suggest, "poll_misses_z");
	CU_ASSERT_STRING_EQUAL(suggest.best, "poll_misses_y");
	suggest_try(&suggest, "poll_misses_x");
	CU_ASSERT_STRING_EQUAL(suggest.best, "poll_misses_x");
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"words", test_cases},
		{"ties", test_tie},
		CU_TEST_INFO_NULL,
	};

	return unit_main("suggest", tests);
}
