/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Points in time that a user writes (lib/when.h), in a time zone with summer time. */
#include "lib/when.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

/* 2026-11-27 09:30:00 UTC, 10:30 in Berlin. */
static const time_t now = 1795771800;

static void test_times(void)
{
	static const struct {
		const char *text;
		time_t when; /* 0: not a time */
	} rows[] = {
		{"2026-11-27 10:30:00", now},
		{"2026-11-27T10:30:05", now + 5},
		{"2026-11-27 10:30", now},
		{"2026-11-27", now - 37800},
		{"2026-07-01 12:00", 1782900000}, /* summer time: 10:00 UTC */
		{"10:30", now},
		{"10:29:59", now - 1},
		{"23:00", now + 45000},
		{"today", now - 37800},
		{"yesterday", now - 37800 - 86400},
		{"90s", now - 90},
		{"30m", now - 1800},
		{"30min", now - 1800},
		{"2h ago", now - 7200},
		{"3d", now - 259200},
		{"1w", now - 604800},
		{"", 0},
		{"h", 0},
		{"2x", 0},
		{"2h later", 0},
		{"2026-13-01", 0},
		{"2026-11-27 25:00", 0},
		{"2026-11-27 10:30 UTC", 0},
		{"tomorrow", 0},
		{"-1", 0},
		{"9999999999h", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		time_t when = 0;
		bool good = when_parse(rows[i].text, now, &when);

		if (good != (rows[i].when != 0) || when != rows[i].when)
			printf("\n%s: %d, %lld", rows[i].text, good, (long long)when);
		CU_ASSERT_EQUAL(good, rows[i].when != 0);
		CU_ASSERT_EQUAL(when, rows[i].when);
	}
}

/* A number is the number of an event, not a year or an hour. */
static void test_since(void)
{
	char *number = when_since("2026"), *date = when_since("2026-11-27 10:30");

	CU_ASSERT_STRING_EQUAL(number, "2026");
	CU_ASSERT_STRING_EQUAL(date, "@1795771800");
	CU_ASSERT_PTR_NULL(when_since("12345678901234567890"));
	CU_ASSERT_PTR_NULL(when_since("soon"));
	free(number);
	free(date);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"times", test_times},
		{"numbers and times", test_since},
		CU_TEST_INFO_NULL,
	};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return unit_main("when", tests);
}
