/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which columns of a table are left out, and how names are shortened. */
#include "ctl/fit.h"

#include <stdlib.h>

#include "tests/unit/fixtures/unit.h"

enum { COLUMNS = 4 };

/* A GUID that may be left out, two names, a number that may be left out later. */
static const struct fit_column columns[COLUMNS] = {
	{.heading = 4, .widest = 18, .drop = 1},
	{.heading = 4, .widest = 30, .is_name = true},
	{.heading = 4, .widest = 12, .is_name = true},
	{.heading = 9, .widest = 2, .drop = 2},
};

static const struct {
	unsigned terminal, width[COLUMNS];
} cases[] = {
	{200, {18, 30, 12, 9}}, {72, {18, 30, 12, 9}}, {71, {18, 29, 12, 9}}, /* the longest name */
	{60, {18, 18, 12, 9}},	{59, {0, 30, 12, 9}}, /* the GUID rather than a name */
	{41, {0, 18, 12, 9}},	{40, {0, 27, 12, 0}},  {30, {0, 17, 12, 0}},
	{24, {0, 11, 11, 0}},			     /* both names */
	{21, {0, 10, 10, 0}},	{5, {0, 10, 10, 0}}, /* it cannot fit */
};

static void test_columns(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fit_column fit[COLUMNS];

		for (size_t n = 0; n < COLUMNS; n++)
			fit[n] = columns[n];
		fit_columns(fit, COLUMNS, cases[i].terminal);
		for (size_t n = 0; n < COLUMNS; n++)
			CU_ASSERT_EQUAL(fit[n].width, cases[i].width[n]);
	}
}

static void test_text(void)
{
	static const struct {
		const char *text;
		unsigned width;
		const char *fitting;
	} texts[] = {
		{"host-0001", 10, "host-0001"},
		{"host-00012", 10, "host-00012"},
		{"host-000123", 10, "host-…0123"},
		{"host-000123", 9, "host…0123"},
		{"gpu-rack07-node034 mlx5_0", 18, "gpu-rack0…4 mlx5_0"},
		{"éééééééééééé", 10, "ééééé…éééé"},
		{"abcd", 3, "a…d"},
		{"", 3, ""},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *fitting = fit_text(texts[i].text, texts[i].width);

		CU_ASSERT_STRING_EQUAL(fitting, texts[i].fitting);
		free(fitting);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"widths of columns", test_columns},
		{"names", test_text},
		CU_TEST_INFO_NULL,
	};

	return unit_main("fit", tests);
}
