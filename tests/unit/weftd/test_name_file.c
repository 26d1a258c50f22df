/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of node names: the first line of a node counts, and a name of several nodes is reported. */
#include "weftd/name_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static char path[] = "/tmp/weft-names-XXXXXX";

static int read_names(const char *text, struct map **names, char **warning,
		      char error[CONF_ERROR_SIZE])
{
	struct conf conf = {.log_level = 0};
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	snprintf(conf.node_name_map, sizeof(conf.node_name_map), "%s", path);
	return name_file_read(&conf, names, warning, error);
}

static void test_doubles(void)
{
	static const struct {
		const char *text, *warning; /* NULL: none */
	} rows[] = {
		{"", NULL},
		{"0x1 \"a\"\n0x2 \"b\"\n", NULL},
		{"0x1 \"a\"\n0x1 \"b\"\n0x2 \"b\"\n", NULL}, /* the first line counts */
		{"0x1 \"a\"\n0x2 \"b\"\n0x3 \"a\"\n", "(1 name, such as \"a\")"},
		{"0x1 \"a\"\n0x2 \"a\"\n0x3 \"a\"\n", "(1 name, such as \"a\")"},
		{"0x1 \"d\"\n0x2 \"c\"\n0x3 \"d\"\n0x4 \"c\"", "(2 names, such as \"c\")"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char error[CONF_ERROR_SIZE] = "", *warning = NULL;
		struct map *names = NULL;

		CU_ASSERT_EQUAL(read_names(rows[i].text, &names, &warning, error), 0);
		CU_ASSERT_EQUAL(warning == NULL, rows[i].warning == NULL);
		if (warning && rows[i].warning)
			CU_ASSERT_PTR_NOT_NULL(strstr(warning, rows[i].warning));
		node_names_free(names);
		free(warning);
	}
}

static void test_bad(void)
{
	char error[CONF_ERROR_SIZE] = "", *warning = NULL;
	struct map *names = NULL;

	CU_ASSERT(read_names("0x1 \"a\"\nleaf \"b\"\n", &names, &warning, error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, ":2: "));
	CU_ASSERT_PTR_NULL(names);
	CU_ASSERT_PTR_NULL(warning);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"names of several nodes", test_doubles},
		{"bad lines", test_bad},
		CU_TEST_INFO_NULL,
	};
	int fd = mkstemp(path), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = unit_main("name_file", tests);
	unlink(path);
	return status;
}
