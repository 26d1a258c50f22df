/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which test covers which record and method of the SA. A row of the dispatch table without a test
 * fails, and so does a name without a test. `test_sa_rows --show` prints the table. In addition,
 * test_sa.c sends each row a request without conditions and one for each component, and
 * test_sa_bad.c malformed requests.
 */
#include "tests/unit/fixtures/sa_client.h"

/* By record and method; one row may stand for several methods. Which programs:
 * tests/unit/sa/test_X.c.
 */
static const struct {
	const char *record, *methods, *program, *test;
} covered[] = {
	{"ClassPortInfo", "Get", "inventory", "ClassPortInfo"},
	{"NodeRecord", "Get GetTable", "inventory", "NodeRecord by LID"},
	{"PortInfoRecord", "Get GetTable", "inventory", "PortInfoRecord: M_Keys"},
	{"SMInfoRecord", "Get GetTable", "inventory", "SMInfoRecord"},
	{"LinkRecord", "Get GetTable", "inventory", "LinkRecord by ends"},
	{"SwitchInfoRecord", "Get GetTable", "record_tables", "SwitchInfoRecord"},
	{"LinearForwardingTableRecord", "Get GetTable", "record_tables",
	 "LinearForwardingTableRecord"},
	{"MulticastForwardingTableRecord", "Get GetTable", "record_tables",
	 "MulticastForwardingTableRecord"},
	{"GUIDInfoRecord", "Get GetTable", "record_tables", "GUIDInfoRecord"},
	{"GUIDInfoRecord", "Set", "alias", "Set"},
	{"GUIDInfoRecord", "Delete", "alias", "Delete"},
	{"P_KeyTableRecord", "Get GetTable", "record_tables", "P_KeyTableRecord"},
	{"SLtoVLMappingTableRecord", "Get GetTable", "record_tables", "SLtoVLMappingTableRecord"},
	{"VLArbitrationTableRecord", "Get GetTable", "record_tables", "VLArbitrationTableRecord"},
	{"PathRecord", "Get", "path_record", "ends"},
	{"PathRecord", "GetTable", "path_record", "tables and LMC"},
	{"MultiPathRecord", "GetMulti", "multi_path", "the order of paths"},
	{"MCMemberRecord", "Get GetTable", "multicast", "components of a query"},
	{"MCMemberRecord", "Set", "multicast", "joining a group"},
	{"MCMemberRecord", "Delete", "multicast", "leaving"},
	{"ServiceRecord", "Get GetTable", "service", "components"},
	{"ServiceRecord", "Set Delete", "service", "life"},
	{"InformInfo", "Set", "report", "subscribing"},
	{"InformInfoRecord", "Get GetTable", "report", "InformInfoRecords"},
};

/* Whether a list of words has this method. Methods have names such as SubnAdmGet. */
static bool has_method(const char *methods, const char *method)
{
	size_t prefix = strlen("SubnAdm"), length = strlen(method) - prefix;

	for (const char *at = methods; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, method + prefix, length) && (at[length] == ' ' || !at[length]))
			return true;
	}
	return false;
}

/* The text of the program, to be freed; NULL when there is none. */
static char *program_read(const char *program)
{
	char *name = mem_printf("tests/unit/sa/test_%s.c", program), *text = NULL;
	FILE *file = fopen(name, "re");
	long size;

	free(name);
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = mem_zalloc((size_t)size + 1);
	CU_ASSERT_EQUAL((long)fread(text, 1, (size_t)size, file), size);
	fclose(file);
	return text;
}

static void test_names(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(covered); i++) {
		char *text = program_read(covered[i].program);
		char *named = mem_printf("{\"%s\", test_", covered[i].test);

		CU_ASSERT_PTR_NOT_NULL(text);
		CU_ASSERT_TRUE(text && strstr(text, named));
		free(named);
		free(text);
	}
}

static void test_covered(void)
{
	const struct sa_count *counts;
	size_t num_counts;
	unsigned used[ARRAY_SIZE(covered)] = {0};

	begin();
	num_counts = sa_counts(sa.server, &counts);
	for (size_t c = 0; c < num_counts; c++) {
		unsigned tests = 0;

		for (size_t i = 0; i < ARRAY_SIZE(covered); i++) {
			if (strcmp(covered[i].record, counts[c].record) ||
			    !has_method(covered[i].methods, counts[c].method))
				continue;
			tests++;
			used[i]++;
		}
		if (tests != 1)
			fprintf(stderr, "%s(%s): %u tests\n", counts[c].method, counts[c].record,
				tests);
		CU_ASSERT_EQUAL(tests, 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(covered); i++)
		CU_ASSERT_EQUAL(used[i], strchr(covered[i].methods, ' ') ? 2 : 1);
	end();
}

/* The manual names every record that is answered. Tests run from the tree's root. */
static void test_manual(void)
{
	char text[32768], *from;
	FILE *file = fopen("man/weftd.8", "r");
	const struct sa_count *counts;
	size_t count, size;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	from = strstr(text, "As subnet administrator");
	CU_ASSERT_PTR_NOT_NULL_FATAL(from);
	*strstr(from, ".PP") = '\0';
	begin();
	count = sa_counts(sa.server, &counts);
	for (size_t i = 0; i < count; i++) {
		if (!strstr(from, counts[i].record))
			fprintf(stderr, "man/weftd.8 does not name %s\n", counts[i].record);
		CU_ASSERT_PTR_NOT_NULL(strstr(from, counts[i].record));
	}
	end();
}

static int show(void)
{
	printf("%-32s %-14s %s\n", "RECORD", "METHODS", "TEST");
	for (size_t i = 0; i < ARRAY_SIZE(covered); i++)
		printf("%-32s %-14s test_%s: %s\n", covered[i].record, covered[i].methods,
		       covered[i].program, covered[i].test);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	CU_TestInfo tests[] = {
		{"tests that are named exist", test_names},
		{"every row has a test", test_covered},
		{"every record is in the manual", test_manual},
		CU_TEST_INFO_NULL,
	};

	if (argc > 1 && !strcmp(argv[1], "--show"))
		return show();
	return unit_main("adm_rows", tests);
}
