/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Hostlists: names compared with the output of scontrol show hostnames (Slurm 22.05), and mistakes.
 */
#include <errno.h>
#include <string.h>

#include "lib/hostlist.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { MOST = 12 };

static char names[512];

static bool take(void *ctx, const char *name)
{
	size_t *stop = ctx;

	snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? " " : "",
		 name);
	return !*stop || --*stop;
}

static int expand(const char *text, size_t stop, char error[HOSTLIST_ERROR_SIZE])
{
	names[0] = error[0] = '\0';
	return hostlist_expand(text, MOST, take, &stop, error);
}

/* The names are those that scontrol prints for the same list. */
static void test_as_slurm(void)
{
	static const struct {
		const char *list, *names;
	} rows[] = {
		{"host-[0003-0006,9],login[1-2]-ib[0-1]",
		 "host-0003 host-0004 host-0005 host-0006 host-9 login1-ib0 login1-ib1 login2-ib0 "
		 "login2-ib1"},
		{"a[08-11]", "a08 a09 a10 a11"},
		{"a[8-11]", "a8 a9 a10 a11"},
		{"a[098-101]", "a098 a099 a100 a101"},
		{"a[01-9]", "a01 a02 a03 a04 a05 a06 a07 a08 a09"},
		{"a[007,8]", "a007 a8"},
		{"host-0001", "host-0001"},
		{"a,b[1-2]", "a b1 b2"},
		{"rack[1-2]n[09-10]", "rack1n09 rack1n10 rack2n09 rack2n10"},
		{"[1-3]", "1 2 3"},
	};
	char error[HOSTLIST_ERROR_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(expand(rows[i].list, 0, error), 0);
		CU_ASSERT_STRING_EQUAL(names, rows[i].names);
	}
}

/* Blanks belong to a name, as in node descriptions. A text may follow a bracket. */
static void test_beyond_slurm(void)
{
	char error[HOSTLIST_ERROR_SIZE];

	CU_ASSERT_EQUAL(expand("host-[1-2] HCA-1,c", 0, error), 0);
	CU_ASSERT_STRING_EQUAL(names, "host-1 HCA-1 host-2 HCA-1 c");
}

static void test_mistakes(void)
{
	static const struct {
		const char *list, *error;
	} rows[] = {
		{"", "a name is empty"},
		{",a", "a name is empty"},
		{"a,", "a name is empty"},
		{"a,,b", "a name is empty"},
		{"a[]",
		 "\"]\" is not a number or a range, such as 1-16, that ends with \",\" or \"]\""},
		{"a[1-", "\"[1-\" has no closing \"]\""},
		{"a[1-2,]",
		 "\"]\" is not a number or a range, such as 1-16, that ends with \",\" or "
		 "\"]\""},
		{"a[1-x]",
		 "\"1-x]\" is not a number or a range, such as 1-16, that ends with \",\" or "
		 "\"]\""},
		{"a[1-2-3]",
		 "\"1-2-3]\" is not a number or a range, such as 1-16, that ends with \",\" "
		 "or \"]\""},
		{"a[-1]",
		 "\"-1]\" is not a number or a range, such as 1-16, that ends with \",\" or "
		 "\"]\""},
		{"a[3-1]", "the range 3-1 runs backwards"},
		{"a]", "\"]\" has no opening \"[\""},
		{"a[1]b[2", "\"[2\" has no closing \"]\""},
		{"a[[1]]",
		 "\"[1]]\" is not a number or a range, such as 1-16, that ends with \",\" or "
		 "\"]\""},
		{"a[1]]", "\"]\" has no opening \"[\""},
		{"a[1-13]", "more than 12 names"},
		{"a[1-4][1-4]", "more than 12 names"},
		{"a[0-999999999999999999]", "more than 12 names"},
		{"a[1000000000000000000]", "\"1000000000000000000]\" is not a number or a range, "
					   "such as 1-16, that ends with "
					   "\",\" or \"]\""},
	};
	char error[HOSTLIST_ERROR_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(expand(rows[i].list, 0, error), -EINVAL);
		CU_ASSERT_STRING_EQUAL(error, rows[i].error);
	}
}

/* A name has at most 255 bytes, with its numbers. */
static void test_long_names(void)
{
	char error[HOSTLIST_ERROR_SIZE], text[300];

	memset(text, 'a', sizeof(text));
	text[HOSTLIST_NAME_SIZE - 1] = '\0';
	CU_ASSERT_EQUAL(expand(text, 0, error), 0);
	CU_ASSERT_STRING_EQUAL(names, text);
	text[HOSTLIST_NAME_SIZE - 1] = 'a';
	text[HOSTLIST_NAME_SIZE] = '\0';
	CU_ASSERT_EQUAL(expand(text, 0, error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "a name is longer than 255 bytes");
	memcpy(text + HOSTLIST_NAME_SIZE - 2, "[12]", sizeof("[12]"));
	CU_ASSERT_EQUAL(expand(text, 0, error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "a name is longer than 255 bytes");
}

static void test_stop(void)
{
	char error[HOSTLIST_ERROR_SIZE];

	CU_ASSERT_EQUAL(expand("a[1-9]", 2, error), -ECANCELED);
	CU_ASSERT_STRING_EQUAL(names, "a1 a2");
	CU_ASSERT_STRING_EQUAL(error, "");
}

static void test_is_list(void)
{
	CU_ASSERT_FALSE(hostlist_is_list("host-1 HCA-1"));
	CU_ASSERT_TRUE(hostlist_is_list("a,b"));
	CU_ASSERT_TRUE(hostlist_is_list("a[1]"));
	CU_ASSERT_TRUE(hostlist_is_list("a]"));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"as Slurm", test_as_slurm},
		{"beyond Slurm", test_beyond_slurm},
		{"mistakes", test_mistakes},
		{"long names", test_long_names},
		{"the taker stops", test_stop},
		{"what is a list", test_is_list},
		CU_TEST_INFO_NULL,
	};

	return unit_main("hostlist", tests);
}
