/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which words a completion offers. */
#include "lib/complete.h"

#include "tests/unit/fixtures/unit.h"

static void test_prefix(void)
{
	static const struct {
		const char *args, *prefix;
	} cases[] = {
		{"{\"prefix\":\"host-\"}", "host-"},
		{"{}", ""},
		{"{\"prefix\":7}", ""},
		{"{\"prefix\":null}", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *args = json_loads(cases[i].args, 0, NULL);

		CU_ASSERT_STRING_EQUAL(complete_prefix(args), cases[i].prefix);
		json_decref(args);
	}
}

static void test_fits(void)
{
	static const struct {
		const char *word, *prefix;
		bool fits;
	} cases[] = {
		{"host-1", "host-", true}, {"host-1", "", true},   {"host-1", "host-1", true},
		{"host", "host-1", false}, {"Host-1", "h", false}, {"", "", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(complete_fits(cases[i].word, cases[i].prefix), cases[i].fits);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"the wanted beginning", test_prefix},
		{"words with this beginning", test_fits},
		CU_TEST_INFO_NULL,
	};

	return unit_main("complete", tests);
}
