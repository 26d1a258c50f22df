/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM's configuration and LIDs: the meaning of lines, refusals, and the conversion to our
 * values. */
#include "formats/opensm_conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixtures/unit.h"

static void add_option(void *ctx, unsigned line, const char *name, const char *value)
{
	char *text = ctx;
	size_t used = strlen(text);

	snprintf(text + used, 256 - used, "%u %s=%s;", line, name, value);
}

static void test_lines(void)
{
	static const struct {
		const char *text, *options, *error;
	} rows[] = {
		{"", "", NULL},
		{"# lmc 1\n\n  \t\n", "", NULL},
		{"lmc 1", "1 lmc=1;", NULL},
		{"lmc\t 1 \r\n# x\nqos TRUE\n", "1 lmc=1;3 qos=TRUE;", NULL},
		{"log_prefix \"two words\"\n", "1 log_prefix=two words;", NULL},
		{"qos_vlarb_high 0:4,1:0 # not a comment",
		 "1 qos_vlarb_high=0:4,1:0 # not a comment;", NULL},
		{"lfts_file (null)\n", "1 lfts_file=;", NULL},
		{"lonely\n", "1 lonely=;", NULL},
		{"a b\001c\n", "", "f:1: an option of at most"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char options[256] = "", *error = NULL;
		int result = opensm_conf_parse("f", rows[i].text, strlen(rows[i].text), add_option,
					       options, &error);

		CU_ASSERT_EQUAL(result, rows[i].error ? -EINVAL : 0);
		CU_ASSERT_STRING_EQUAL(options, rows[i].options);
		if (rows[i].error)
			CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].error));
		free(error);
	}
}

static void test_service(void)
{
	static const struct {
		const char *text, *options, *error;
	} rows[] = {
		{"# PORTS=NONE\n\nPORTS=ALL\n", "3 PORTS=ALL;", NULL},
		{"GUIDS=\"0x1 0x2\" # two\nPRIORITY=\n", "1 GUIDS=0x1 0x2;2 PRIORITY=;", NULL},
		{"A='b \"c\"'\nD=e f", "1 A=b \"c\";2 D=e;", NULL},
		{"A=\"open\nB=1", "1 A=open;2 B=1;", NULL},
		{"A=", "1 A=;", NULL},
		{"A=1\nstart() {\n", "1 A=1;", "f:2: a setting NAME=VALUE"},
		{"=1", "", "f:1: a setting NAME=VALUE"},
		{"A", "", "f:1: a setting NAME=VALUE"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char options[256] = "", *error = NULL;
		int result = opensm_service_parse("f", rows[i].text, strlen(rows[i].text),
						  add_option, options, &error);

		CU_ASSERT_EQUAL(result, rows[i].error ? -EINVAL : 0);
		CU_ASSERT_STRING_EQUAL(options, rows[i].options);
		if (rows[i].error)
			CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].error));
		free(error);
	}
}

/* No byte behind the end is read, and no line is too long for it. */
static void test_long(void)
{
	char text[3 * OPENSM_VALUE_SIZE], options[256] = "", *error = NULL;

	memset(text, 'a', sizeof(text));
	CU_ASSERT_EQUAL(opensm_conf_parse("f", text, sizeof(text), add_option, options, &error),
			-EINVAL);
	free(error);
	text[1] = ' ';
	CU_ASSERT_EQUAL(opensm_conf_parse("f", text, sizeof(text), add_option, options, &error),
			-EINVAL);
	free(error);
	CU_ASSERT_EQUAL(opensm_conf_parse("f", text, 3, add_option, options, &error), 0);
	CU_ASSERT_STRING_EQUAL(options, "1 a=a;");
}

static void test_values(void)
{
	static const struct {
		const char *name, *theirs;
		int result;
		const char *value, *lost;
	} rows[] = {
		{"lmc", "2", 0, "2", ""},
		{"subnet_timeout", "0x12", 0, "0x12", ""},
		{"sm_key", "0xffffffffffffffff", 0, "0xffffffffffffffff", ""},
		{"lmc", "7", 0, "7", ""},
		{"lmc", "8", -ERANGE, "", ""},
		{"sm_priority", "99", -ERANGE, "", ""},
		{"m_key_protection_level", "9", -ERANGE, "", ""},
		{"max_op_vls", "0", -ERANGE, "", ""},
		{"force_link_speed", "8", -ERANGE, "", ""},
		{"force_link_speed", "15", 0, "15", ""},
		{"force_link_speed_ext", "16", -ERANGE, "", ""},
		{"part_enforce", "sideways", -EINVAL, "", ""},
		{"lmc", "-1", -EINVAL, "", ""},
		{"lmc", "1 2", -EINVAL, "", ""},
		{"lmc", "", -EINVAL, "", ""},
		{"sm_key", "0x10000000000000000", -EINVAL, "", ""},
		{"allow_both_pkeys", "true", 0, "true", ""},
		{"allow_both_pkeys", "FALSE", 0, "false", ""},
		{"allow_both_pkeys", "1", -EINVAL, "", ""},
		{"part_enforce", "out", 0, "\"out\"", ""},
		{"root_guid_file", "a \"b\\", 0, "\"a \\\"b\\\\\"", ""},
		{"routing_engine", "updn", 0, "[\"updn\"]", ""},
		{"routing_engine", "ftree,,dor,minhop", 0, "[\"ftree\", \"minhop\"]", "dor"},
		{"routing_engine", "ftree,torus-2QoS,minhop", 0, "[\"ftree\", \"updn\"]",
		 "torus-2QoS, minhop"},
		{"routing_engine", "lash, ftree,minhop,updn", 0, "[\"updn\", \"ftree\"]",
		 "lash, minhop"},
		{"routing_engine", "minhop,dfsssp", 0, "[\"minhop\", \"updn\"]", "dfsssp"},
		{"routing_engine", "nue", 0, "[\"updn\"]", "nue"},
		{"routing_engine", "sssp", -ENOENT, "[]", "sssp"},
		{"no_partition_enforcement", "TRUE", 0, "\"off\"", ""},
		{"no_partition_enforcement", "FALSE", -ENOENT, "", ""},
		{"babbling_port_policy", "TRUE", 0, "\"disable\"", ""},
		{"no_clients_rereg", "TRUE", 0, "0", ""},
		{"perfmgr", "TRUE", 0, "77", ""},
		{"perfmgr", "FALSE", 0, "0", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char value[OPENSM_VALUE_SIZE] = "", lost[OPENSM_VALUE_SIZE] = "";
		int result = opensm_translate(opensm_row_find(rows[i].name), rows[i].theirs, "77",
					      value, lost);

		CU_ASSERT_EQUAL(result, rows[i].result);
		if (!result)
			CU_ASSERT_STRING_EQUAL(value, rows[i].value);
		CU_ASSERT_STRING_EQUAL(lost, rows[i].lost);
	}
	CU_ASSERT_TRUE(opensm_value_same("0x12", "18"));
	CU_ASSERT_TRUE(opensm_value_same("False", "FALSE"));
	CU_ASSERT_FALSE(opensm_value_same("0x12", "12"));
	CU_ASSERT_FALSE(opensm_value_same("", "0"));
}

/* A row has an equivalent, or a note with the reason. */
static void test_rows(void)
{
	for (const struct opensm_row *row = opensm_rows; row->name; row++) {
		CU_ASSERT_EQUAL(row->how == OPENSM_LOST || row->how == OPENSM_NOT_NEEDED,
				!row->ours);
		CU_ASSERT_TRUE(row->ours || *row->note);
		CU_ASSERT_PTR_EQUAL(opensm_row_find(row->name), row);
	}
	CU_ASSERT_PTR_NULL(opensm_row_find("lm"));
	CU_ASSERT_STRING_EQUAL(opensm_row_switch(opensm_row_find("qos_sw0_sl2vl")), "qos");
	CU_ASSERT_STRING_EQUAL(opensm_row_switch(opensm_row_find("cc_key")), "congestion_control");
	CU_ASSERT_PTR_NULL(opensm_row_switch(opensm_row_find("qos")));
	CU_ASSERT_PTR_NULL(opensm_row_switch(opensm_row_find("lmc")));
}

static void add_lid(void *ctx, guid_t guid, lid_t lid, unsigned lmc)
{
	char *text = ctx;
	size_t used = strlen(text);

	snprintf(text + used, 256 - used, "%llx %u %u;", (unsigned long long)guid, lid, lmc);
}

static void test_lids(void)
{
	static const struct {
		const char *text, *lids;
		bool good;
	} rows[] = {
		{"0x0002c90300000001 0x0001 0x0001\n\n0x2 0x4 0x7\n", "2c90300000001 1 0;2 4 2;",
		 true},
		{"0x1 0xbfff 0xbfff", "1 49151 0;", true},
		{"0x1 0x0 0x0", "", false},
		{"0x1 0xc000 0xc000", "", false},
		{"0x1 0x4 0x6", "", false},
		{"0x1 0x5 0x6", "", false},
		{"0x1 0x6 0x5", "", false},
		{"0x1 0x0 0xffffffffffffffff", "", false},
		{"0x1 0x100 0x1ff", "", false},
		{"0x0 0x1 0x1", "", false},
		{"0x1 0x1", "", false},
		{"0x1 0x1 0x1 x", "", false},
		{"0x1 0x2 0x3\n0x2 0x3 0x3", "1 2 1;", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char lids[256] = "", *error = NULL;

		CU_ASSERT_EQUAL(opensm_lids_parse("f", rows[i].text, strlen(rows[i].text), add_lid,
						  lids, &error),
				rows[i].good ? 0 : -EINVAL);
		CU_ASSERT_STRING_EQUAL(lids, rows[i].lids);
		CU_ASSERT_EQUAL(error == NULL, rows[i].good);
		free(error);
	}
}

static void test_reverse(void)
{
	static const struct {
		const char *name, *ours, *theirs, *lost; /* theirs NULL: nothing to write */
		int error;
	} rows[] = {
		{"lmc", "1", "1", "", 0},
		{"subnet_prefix", "0xfe80000000000001", "0xfe80000000000001", "", 0},
		{"lmc", "many", NULL, "", -EINVAL},
		{"allow_both_pkeys", "true", "TRUE", "", 0},
		{"allow_both_pkeys", "maybe", NULL, "", -EINVAL},
		{"root_guid_file", "\"/etc/a \\\"b\\\\\"", "/etc/a \"b\\", "", 0},
		{"root_guid_file", "\"\"", NULL, "", -ENOENT},
		{"root_guid_file", "bare", NULL, "", -EINVAL},
		{"routing_engine", "[\"ftree\", \"updn\"]", "ftree,updn", "", 0},
		{"routing_engine", "[\"auto\", \"updn\"]", "updn", "auto", 0},
		{"routing_engine", "[\"auto\"]", NULL, "auto", -EINVAL},
		{"no_partition_enforcement", "\"off\"", NULL, "", -ENOENT},
		{"part_enforce", "\"in\"", "in", "", 0},
		{"babbling_port_policy", "\"disable\"", "TRUE", "", 0},
		{"babbling_port_policy", "\"note\"", "FALSE", "", 0},
		{"no_clients_rereg", "0", "TRUE", "", 0},
		{"no_clients_rereg", "500", NULL, "", -ENOENT},
		{"perfmgr", "30", "TRUE", "", 0},
		{"perfmgr", "0", "FALSE", "", 0},
		{"partition_config_file", "\"/x\"", NULL, "", -ENOENT},
		{"qos", "1", NULL, "", -ENOENT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];

		CU_ASSERT_EQUAL(opensm_untranslate(opensm_row_find(rows[i].name), rows[i].ours,
						   value, lost),
				rows[i].error);
		if (rows[i].theirs)
			CU_ASSERT_STRING_EQUAL(value, rows[i].theirs);
		CU_ASSERT_STRING_EQUAL(lost, rows[i].lost);
	}
}

/* What an export writes, an import reads as the same value. */
static void test_there_and_back(void)
{
	static const struct {
		const char *name, *ours;
	} rows[] = {
		{"lmc", "2"},
		{"allow_both_pkeys", "false"},
		{"root_guid_file", "\"/etc/a \\\"b\\\\\""},
		{"routing_engine", "[\"ftree\", \"updn\", \"minhop\"]"},
		{"babbling_port_policy", "\"disable\""},
		{"no_clients_rereg", "0"},
		{"perfmgr", "77"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct opensm_row *row = opensm_row_find(rows[i].name);
		char theirs[OPENSM_VALUE_SIZE], ours[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];

		CU_ASSERT_EQUAL(opensm_untranslate(row, rows[i].ours, theirs, lost), 0);
		CU_ASSERT_EQUAL(opensm_translate(row, theirs, "77", ours, lost), 0);
		CU_ASSERT_STRING_EQUAL(ours, rows[i].ours);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"lines", test_lines},
		{"long lines", test_long},
		{"values", test_values},
		{"rows", test_rows},
		{"LIDs", test_lids},
		{"settings of the service", test_service},
		{"the reverse", test_reverse},
		{"there and back", test_there_and_back},
		CU_TEST_INFO_NULL,
	};

	return unit_main("opensm_conf", tests);
}
