/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * OpenSM's files for routing engines: valid and refused GUID lists and dumps, and the engine that
 * takes its tables from a dump.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "formats/guid_file.h"
#include "route/engine.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

static void test_guids(void)
{
	static const char text[] =
		"# roots\n0x0002c90000000001\n\n  2c90000000002 # bare\r\n0x3\n0x4";
	guid_t *guids;
	uint32_t count;
	char *error;

	CU_ASSERT_EQUAL_FATAL(guid_file_parse("f", text, strlen(text), &guids, &count, &error), 0);
	CU_ASSERT_EQUAL(count, 4);
	CU_ASSERT_EQUAL(guids[0], UINT64_C(0x0002c90000000001));
	CU_ASSERT_EQUAL(guids[1], UINT64_C(0x0002c90000000002));
	CU_ASSERT_EQUAL(guids[3], 4);
	free(guids);
	CU_ASSERT_EQUAL(guid_file_parse("f", "", 0, &guids, &count, &error), 0);
	CU_ASSERT_EQUAL(count, 0);
	free(guids);
}

static void test_keys(void)
{
	static const char text[] = "0x0002c90000000001 0x1234567890abcdef\n\n0x2 0x0\r\n";
	static const char *const bad[] = {"0x1", "0x0 0x5", "0x1 secret", "0x1 0x5 6",
					  "0x1 0x12345678901234567"};
	struct key_row *rows;
	uint32_t count;
	char *error;

	CU_ASSERT_EQUAL_FATAL(key_rows_parse("f", text, strlen(text), &rows, &count, &error), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(rows[0].guid, UINT64_C(0x0002c90000000001));
	CU_ASSERT_EQUAL(rows[0].key, UINT64_C(0x1234567890abcdef));
	CU_ASSERT(rows[1].guid == 2 && rows[1].key == 0);
	free(rows);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CU_ASSERT_EQUAL_FATAL(
			key_rows_parse("f", bad[i], strlen(bad[i]), &rows, &count, &error),
			-EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(error, "f:1: a port's GUID and its M_Key"));
		CU_ASSERT_PTR_NULL(strstr(error, "secret"));
		free(error);
	}
}

static void test_prefixes(void)
{
	static const char text[] = "# subnets\n0xfec0000000000002 0x0002c90000000001\n"
				   "fec0000000000003 *  # any\n\n* 0x5\n**\n";
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"0x1", "f:1: "},     {"0x1 0x2 0x3", "f:1: "}, {"* *\n0x0 0x1", "f:2: "},
		{"0x1 0x0", "f:1: "}, {"* x", "f:1: "},		{"0x10000000000000000 *", "f:1: "},
		{"0x1 -1", "f:1: "},
	};
	struct prefix_row *rows;
	uint32_t count;
	char *error;

	CU_ASSERT_EQUAL_FATAL(prefix_rows_parse("f", text, strlen(text), &rows, &count, &error), 0);
	CU_ASSERT_EQUAL_FATAL(count, 4);
	CU_ASSERT_EQUAL(rows[0].prefix, UINT64_C(0xfec0000000000002));
	CU_ASSERT_EQUAL(rows[0].router, UINT64_C(0x0002c90000000001));
	CU_ASSERT_FALSE(rows[0].any_prefix || rows[0].any_router || rows[1].any_prefix);
	CU_ASSERT_TRUE(rows[1].any_router && rows[2].any_prefix && !rows[2].any_router);
	CU_ASSERT_TRUE(rows[3].any_prefix && rows[3].any_router);
	free(rows);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CU_ASSERT_EQUAL_FATAL(prefix_rows_parse("f", bad[i].text, strlen(bad[i].text),
							&rows, &count, &error),
				      -EINVAL);
		CU_ASSERT_PTR_EQUAL(strstr(error, bad[i].error), error);
		free(error);
	}
}

static void test_bad_guids(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"0x1\nspine-1\n", "f:2: a GUID (0x and 16 digits) expected, not \"spine-1\""},
		{"0x0\n", "f:1: a GUID (0x and 16 digits) expected, not \"0x0\""},
		{"0x1 0x2\n", "f:1: one GUID a line expected, not \"0x2\""},
		{"0x11112222333344445\n",
		 "f:1: a GUID (0x and 16 digits) expected, not \"0x11112222333344445\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		guid_t *guids;
		uint32_t count;
		char *error = NULL;

		CU_ASSERT_EQUAL(guid_file_parse("f", rows[i].text, strlen(rows[i].text), &guids,
						&count, &error),
				-EINVAL);
		CU_ASSERT_STRING_EQUAL(error, rows[i].error);
		free(error);
	}
}

/* A GUID and numbers: in order, with optional values; each refusal names its line. */
static void test_rows(void)
{
	static const char good[] = "# order\n0xa1 3 1 254\n\n0xa2 7 # one\r\n0xa1 2";
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"0xa1 1\nleaf 1\n", "f:2: GUID and ports expected, not \"leaf 1\""},
		{"0xa1\n", "f:1: GUID and ports expected, not \"0xa1\""},
		{"0xa1 0\n", "f:1: GUID and ports expected, not \"0xa1 0\""},
		{"0xa1 255\n", "f:1: GUID and ports expected, not \"0xa1 255\""},
		{"0xa1 1 2 3 4\n", "f:1: GUID and ports expected, not \"0xa1 1 2 3 4\""},
		{"0xa1 1,2\n", "f:1: GUID and ports expected, not \"0xa1 1,2\""},
	};
	struct guid_row *rows;
	uint32_t count;
	char *error;

	CU_ASSERT_EQUAL_FATAL(guid_rows_parse("f", good, strlen(good), 1, 3, "GUID and ports",
					      &rows, &count, &error),
			      0);
	CU_ASSERT_EQUAL_FATAL(count, 3);
	CU_ASSERT_EQUAL(rows[0].guid, 0xa1);
	CU_ASSERT_EQUAL(rows[0].count, 3);
	CU_ASSERT_EQUAL(rows[0].number[2], 254);
	CU_ASSERT_EQUAL(rows[1].count, 1);
	CU_ASSERT_EQUAL(rows[2].number[0], 2);
	free(rows);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		error = NULL;
		CU_ASSERT_EQUAL(guid_rows_parse("f", bad[i].text, strlen(bad[i].text), 1, 3,
						"GUID and ports", &rows, &count, &error),
				-EINVAL);
		CU_ASSERT_STRING_EQUAL(error, bad[i].error);
		free(error);
	}
}

static void test_dumps(void)
{
	static const char text[] =
		"Unicast lids [0x0-0x3] of switch Lid 3 guid 0x00000000000000a1 (spine):\n"
		"  Lid  Out   Destination\n"
		"0x0001 005 : (Channel Adapter portguid 0x1: 'h')\n"
		"0x0003 000 : (Switch portguid 0xa1: 's')\n"
		"2 valid lids dumped\n"
		"dump_ucast_routes: Switch 0x00000000000000a2\n"
		"LID    : Port : Hops : Optimal\n"
		"0x0002 : 007  : 00   : yes\n"
		"0x0040 : UNREACHABLE\n";
	struct dump_table *tables;
	uint32_t count;
	char *error;

	CU_ASSERT_EQUAL_FATAL(dump_parse("d", text, strlen(text), &tables, &count, &error), 0);
	CU_ASSERT_EQUAL_FATAL(count, 2);
	CU_ASSERT_EQUAL(tables[0].sw, 0xa1);
	CU_ASSERT_EQUAL(tables[0].port[1], 5);
	CU_ASSERT_EQUAL(tables[0].port[2], LFT_NO_PORT);
	CU_ASSERT_EQUAL(tables[0].port[3], 0);
	CU_ASSERT_EQUAL(tables[1].sw, 0xa2);
	CU_ASSERT_EQUAL(tables[1].port[2], 7);
	dump_free(tables, count);
}

static void test_bad_dumps(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"0x0001 005\n", "d:1: a line that names a switch first expected, not \"\""},
		{"Switch 0xa1\n0xc000 : 005\n",
		 "d:2: a unicast LID (0x0001 to 0xbfff) expected, not \" : 005\""},
		{"Switch 0xa1\n0x0001 : 256\n", "d:2: a port (0 to 255) expected, not \"\""},
		{"Switch 0xa1\n0x0001 : up\n", "d:2: a port (0 to 255) expected, not \"up\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dump_table *tables;
		uint32_t count;
		char *error = NULL;

		CU_ASSERT_EQUAL(dump_parse("d", rows[i].text, strlen(rows[i].text), &tables, &count,
					   &error),
				-EINVAL);
		CU_ASSERT_STRING_EQUAL(error, rows[i].error);
		if (strcmp(error, rows[i].error))
			printf("\n%s\n", error);
		free(error);
	}
}

/* As infiniband-diags takes them: quotes may be left out, a comment may follow. */
static void test_names(void)
{
	static const char text[] = "# a map\n\n0x2c903 \"spine # 1\"\t# top\n"
				   "  0X000A leaf 2 # below\r\n12 \"caf\303\251\"\n0xa \"again\"";
	static const struct {
		guid_t guid;
		const char *name;
	} wanted[] = {
		{0x2c903, "spine # 1"}, {0xa, "leaf 2"}, {0x12, "caf\303\251"}, {0xa, "again"}};
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"0x1", "m:1: W expected, not \"0x1\""},
		{"\n0x1 \"\"", "m:2: W expected, not \"0x1 \"\"\""},
		{"0x1 # none", "m:1: W expected, not \"0x1 # none\""},
		{"0x1 \"open", "m:1: W expected, not \"0x1 \"open\""},
		{"0x1 \"a\" b", "m:1: W expected, not \"0x1 \"a\" b\""},
		{"0x0 \"a\"", "m:1: W expected, not \"0x0 \"a\"\""},
		{"leaf 0x1", "m:1: W expected, not \"leaf 0x1\""},
		{"0x1 \"\033[2J\"", "m:1: W expected, not \"0x1 \"\033[2J\"\""},
		{"0x1 12345678901234567890123456789012345678901234567890123456789012345",
		 "m:1: W expected, not \"0x1 "
		 "12345678901234567890123456789012345678901234567890123456\""},
	};
	struct name_row *rows;
	uint32_t count;
	char *error;

	CU_ASSERT_EQUAL_FATAL(name_rows_parse("m", text, sizeof(text) - 1, &rows, &count, &error),
			      0);
	CU_ASSERT_EQUAL_FATAL(count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(rows[i].guid, wanted[i].guid);
		CU_ASSERT_TRUE(piece_is(rows[i].name, wanted[i].name));
	}
	free(rows);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *known = mem_strdup(bad[i].error), *w = strchr(known, 'W');
		char *whole =
			mem_printf("%.*sa node's GUID and a name of 1 to 64 bytes in quotes%s",
				   (int)(w - known), known, w + 1);

		CU_ASSERT_EQUAL_FATAL(name_rows_parse("m", bad[i].text, strlen(bad[i].text), &rows,
						      &count, &error),
				      -EINVAL);
		CU_ASSERT_STRING_EQUAL(error, whole);
		free(error);
		free(known);
		free(whole);
	}
}

/* The engine file gives the tables that ftree computed. Without the table of one switch it refuses.
 */
static void test_engine(void)
{
	static const char *const names[] = {"ftree"}, *const file[] = {"file"};
	struct snapshot *snapshot = snapshot_from_spec("fattree:radix=8,levels=3", 0);
	struct route_options *options = route_options_new();
	struct route_result made, read;

	CU_ASSERT_EQUAL(route_run(snapshot, file, 1, NULL, NULL, &read), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(read.attempt[0].why, "no tables were given"));
	CU_ASSERT_EQUAL_FATAL(route_run(snapshot, names, 1, NULL, NULL, &made), 0);
	options->tables = mem_array(snapshot->num_switches, sizeof(*options->tables));
	options->num_tables = snapshot->num_switches;
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		uint32_t lids = snapshot->lid_top + 1u;

		options->tables[s] =
			(struct given_table){snapshot->switches[s].guid, lids, mem_array(lids, 1)};
		memcpy(options->tables[s].port, made.routes->lft[s]->port, lids);
	}
	snapshot->options = options;
	CU_ASSERT_EQUAL_FATAL(route_run(snapshot, file, 1, NULL, NULL, &read), 0);
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		CU_ASSERT_EQUAL(memcmp(made.routes->lft[s]->port, read.routes->lft[s]->port,
				       snapshot->lid_top + 1u),
				0);
	routes_unref(read.routes);
	options->tables[3].sw++;
	CU_ASSERT_EQUAL(route_run(snapshot, file, 1, NULL, NULL, &read), -ENOENT);
	CU_ASSERT_PTR_NULL(read.routes);
	CU_ASSERT_PTR_NOT_NULL(strstr(read.attempt[0].why, "no table for 1 of 80 switches"));
	routes_unref(made.routes);
	snapshot_unref(snapshot);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"GUID lists", test_guids},  {"bad GUID lists", test_bad_guids},
		{"prefixes", test_prefixes}, {"GUIDs with numbers", test_rows},
		{"dumps", test_dumps},	     {"bad dumps", test_bad_dumps},
		{"the engine", test_engine}, {"names", test_names},
		{"M_Keys", test_keys},	     CU_TEST_INFO_NULL,
	};

	return unit_main("guid_file", tests);
}
