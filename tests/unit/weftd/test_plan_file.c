/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file of the planned topology: valid, not configured, and each kind of bad file. */
#include "weftd/plan_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fixtures/unit.h"

static char path[] = "/tmp/weft-plan-XXXXXX";

static int read_plan_of(const char *text, struct net **plan, char error[CONF_ERROR_SIZE])
{
	struct conf conf = {.log_level = 0};
	FILE *file = fopen(path, "w");
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	snprintf(conf.planned_topology, sizeof(conf.planned_topology), "%s", path);
	CU_ASSERT_EQUAL_FATAL(plan_file_open(&conf, &fd, error), 0);
	CU_ASSERT_FATAL(fd >= 0);
	return plan_file_read(fd, path, plan, error);
}

static void test_valid(void)
{
	char error[CONF_ERROR_SIZE] = "";
	struct net *plan = NULL;

	CU_ASSERT_EQUAL(read_plan_of("Switch 8 \"a\"\n[1] \"h\"[1]\n\nCa 1 \"h\"\n", &plan, error),
			0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
	CU_ASSERT_EQUAL(plan->count, 2);
	net_free(plan);
}

static void test_none(void)
{
	const struct conf conf = {.log_level = 0};
	char error[CONF_ERROR_SIZE];
	int fd = 0;

	CU_ASSERT_EQUAL(plan_file_open(&conf, &fd, error), 0);
	CU_ASSERT_EQUAL(fd, -1);
}

static void test_bad_plans(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"Switch 8 \"a\"\n[1] \"nowhere\"[1]\n", ":2: "},
		{"Switch 8 \"a\"\nSwich 8 \"b\"\n", ":2: "},
		{"", "it describes no node"},
		{"# Topology file\n", "it describes no node"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char error[CONF_ERROR_SIZE] = "";
		struct net *plan = NULL;

		CU_ASSERT(read_plan_of(rows[i].text, &plan, error) < 0);
		CU_ASSERT_PTR_NULL(plan);
		CU_ASSERT_PTR_NOT_NULL(strstr(error, path));
		if (!strstr(error, rows[i].error))
			printf("\nrow %zu: %s\n", i, error);
		CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].error));
	}
}

static void test_absent_plan(void)
{
	struct conf conf = {.planned_topology = "/nonexistent/plan.net"};
	char error[CONF_ERROR_SIZE] = "";
	int fd;

	CU_ASSERT_EQUAL(plan_file_open(&conf, &fd, error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "planned_topology: /nonexistent/plan.net: "));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a valid file", test_valid},
		{"no file", test_none},
		{"bad files", test_bad_plans},
		{"a file that is absent", test_absent_plan},
		CU_TEST_INFO_NULL,
	};
	int fd = mkstemp(path), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = unit_main("plan_file", tests);
	unlink(path);
	return status;
}
