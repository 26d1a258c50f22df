/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The configuration: accepted and refused files, with line and message; that a refusal changes
 * nothing; former names of options; and the texts of the option table. The engines are those of
 * this test.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "formats/opensm_conf.h"
#include "lib/mem.h"
#include "route/engine.h"
#include "tests/unit/fixtures/unit.h"
#include "weftd/conf.h"
#include "weftd/conf_reference.h"

const struct route_engine route_engines[] = {
	{.name = "minhop"}, {.name = "ftree"}, {.name = "updn"}, {.name = "other"}, {.name = NULL},
};

const struct route_engine *route_engine_find(const char *name)
{
	for (const struct route_engine *engine = route_engines; engine->name; engine++) {
		if (!strcmp(engine->name, name))
			return engine;
	}
	return NULL;
}

/* A file in memory: its path, valid until the next call. */
static const char *file_with_bytes(const char *bytes, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("conf", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static const char *file_with(const char *text)
{
	return file_with_bytes(text, strlen(text));
}

/* All options but keys, as a file. */
static void print_options(const struct conf *conf, FILE *out)
{
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (row->secret)
			continue;
		fprintf(out, "%s = ", row->name);
		conf_row_print(conf, row, out);
		fputs(";\n", out);
	}
}

/* The texts by which two configurations are compared: options and keys. To be freed. */
static char *state_of(const struct conf *conf)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print_options(conf, out);
	fprintf(out, "keys %jx %jx, copies %jx %u\n", (uintmax_t)conf->sm.sm_key,
		(uintmax_t)conf->sa.sa_key, (uintmax_t)conf->sa.subnet_prefix,
		conf->sa.subnet_timeout);
	fclose(out);
	return text;
}

static void test_defaults(void)
{
	struct conf conf;

	memset(&conf, 0x55, sizeof(conf));
	conf_defaults(&conf);
	CU_ASSERT_STRING_EQUAL(conf.ca, "");
	CU_ASSERT_EQUAL(conf.port, 0);
	CU_ASSERT_EQUAL(conf.port_guid, 0);
	CU_ASSERT_STRING_EQUAL(conf.state_dir, "/var/lib/weft");
	CU_ASSERT_STRING_EQUAL(conf.runtime_dir, "/run/weft");
	CU_ASSERT_EQUAL(conf.log_level, LOG_INFO);
	CU_ASSERT_EQUAL(conf.sm.priority, 0);
	CU_ASSERT_FALSE(conf.sm.standby_only);
	CU_ASSERT_EQUAL(conf.sm.sm_key, SM_KEY_DEFAULT);
	CU_ASSERT_EQUAL(conf.sa.sa_key, SM_KEY_DEFAULT);
	CU_ASSERT_EQUAL(conf.sm.poll_interval_ms, 300);
	CU_ASSERT_EQUAL(conf.sm.poll_misses, 3);
	CU_ASSERT_EQUAL(conf.sm.subnet_prefix, GID_PREFIX_DEFAULT);
	CU_ASSERT_EQUAL(conf.sa.subnet_prefix, GID_PREFIX_DEFAULT);
	CU_ASSERT_STRING_EQUAL(conf.sm.engines[0], "ftree");
	CU_ASSERT_STRING_EQUAL(conf.sm.engines[1], "updn");
	CU_ASSERT_STRING_EQUAL(conf.sm.engines[2], "minhop");
	CU_ASSERT_STRING_EQUAL(conf.sm.engines[3], "");
	CU_ASSERT_EQUAL(conf.sm.smp_window, 128);
	CU_ASSERT_EQUAL(conf.sm.subnet_timeout, 18);
	CU_ASSERT_EQUAL(conf.sa.subnet_timeout, 18);
	CU_ASSERT_EQUAL(conf.sa.packet_life_time, 18);
	CU_ASSERT_EQUAL(conf.sa.max_rate_enum, 63);
	CU_ASSERT_EQUAL(conf.sa.registrations_per_port, 1024);
	CU_ASSERT_EQUAL(conf.sa.groups_per_port, 512);
	CU_ASSERT_EQUAL(conf.sa.request_rate, 10000);
	CU_ASSERT_EQUAL(conf.sa.busy_reply, 0);
	CU_ASSERT_EQUAL(conf.sm.leaf_hoq_life, 16);
	CU_ASSERT_EQUAL(conf.sm.max_op_vls, 5);
}

/* Texts that change one line of the state of a default configuration. */
static const struct {
	const char *text, *line;
} good[] = {
	{"", "sm_priority = 0;"},
	{"# nothing\n", "sm_priority = 0;"},
	{"sm_priority = 15;", "sm_priority = 15;"},
	{"sm_priority = 15", "sm_priority = 15;"},
	{"sm_priority : 0xF;", "sm_priority = 15;"},
	{"sm_priority=1L", "sm_priority = 1;"},
	{"sm_priority =\n 3 // three\n;", "sm_priority = 3;"},
	{"// sm_priority = 99999999999999999999;\nlmc=1", "lmc = 1;"},
	{"/* sm_priority = 99999999999999999999;\n @include */ lmc=1", "lmc = 1;"},
	{"ca = \"mlx5_0\"; port = 2", "ca = \"mlx5_0\";"},
	{"ca = \"mlx5_0\"; port = 2", "port = 2;"},
	{"ca = \"1234567890 # @ \\\\ \\\"x\";", "ca = \"1234567890 # @ \\\\ \\\"x\";"},
	{"ca = \"1234567890123456789012345678901\";", "ca = \"1234567890123456789012345678901\";"},
	{"port_guid = 0x0002c90300fed671;", "port_guid = 0x2c90300fed671;"},
	{"port_guid = 0xffffffffffffffff;", "port_guid = 0xffffffffffffffff;"},
	{"port_guid = 0x1234567890LL;", "port_guid = 0x1234567890;"},
	{"port_guid = 4294967296;", "port_guid = 0x100000000;"},
	{"sm_key = 0x123456789abcdef0;", "keys 123456789abcdef0 1, copies fe80000000000000 18"},
	{"sa_key = 0;", "keys 1 0, copies fe80000000000000 18"},
	{"subnet_prefix = 0xfec0000000000000;", "subnet_prefix = 0xfec0000000000000;"},
	{"subnet_prefix = 0xfec0000000000000;", "keys 1 1, copies fec0000000000000 18"},
	{"subnet_timeout = 20;", "keys 1 1, copies fe80000000000000 20"},
	{"role = \"standby-only\";", "role = \"standby-only\";"},
	{"log_level = \"debug\";", "log_level = \"debug\";"},
	{"routing = [\"other\", \"minhop\"];", "routing = [\"other\", \"minhop\"];"},
	{"routing = (\"other\");", "routing = [\"other\"];"},
	{"allowed_sm_guids = [];", "allowed_sm_guids = [];"},
	{"allowed_sm_guids = [0x2c9030000e0b72, 0xffffffffffffffff];",
	 "allowed_sm_guids = [0x2c9030000e0b72, 0xffffffffffffffff];"},
	{"allowed_sm_guids = (5);", "allowed_sm_guids = [0x5];"},
	{"alias_guids = [];", "alias_guids = [];"},
	{"alias_guids = [\"0x5:0xa1\", \" 0x6 - 0x7 : 0xA2 - 0xA3 \"];",
	 "alias_guids = [\"0x5: 0xa1\", \"0x6-0x7: 0xa2-0xa3\"];"},
	{"alias_guids = (\"0x5-0x5: 0xffffffffffffffff\");",
	 "alias_guids = [\"0x5: 0xffffffffffffffff\"];"},
	{"master_priority = 14;", "master_priority = 14;"},
	{"path_packet_life_time = 16;", "path_packet_life_time = 16;"},
	{"max_path_rate = 10;", "max_path_rate = 10;"},
	/* One speed alone, which osm_subnet.c takes, too. */
	{"force_link_speed = 4;", "force_link_speed = 4;"},
	{"force_link_speed = 15;", "force_link_speed = 15;"},
	{"isolate_ber = 6;", "isolate_ber = 6;"},
	{"smp_window = 64; smp_per_switch = 4", "smp_window = 64;"},
};

static void test_good(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		char error[CONF_ERROR_SIZE] = "", *state;
		struct conf conf;

		conf_defaults(&conf);
		CU_ASSERT_EQUAL(conf_read(&conf, file_with(good[i].text), true, NULL, error), 0);
		CU_ASSERT_STRING_EQUAL(error, "");
		state = state_of(&conf);
		if (!strstr(state, good[i].line))
			printf("\n%s: no \"%s\" %s", good[i].text, good[i].line, error);
		CU_ASSERT_PTR_NOT_NULL(strstr(state, good[i].line));
		free(state);
	}
}

/* A word that a choice of an earlier version had stops no manager: it means the default, and a
 * warning says so. Of each option that has such words. */
static void test_former(void)
{
	char error[CONF_ERROR_SIZE] = "", log[512], expected[512], range[CONF_RANGE_SIZE];
	unsigned found = 0;

	for (const struct conf_row *row = conf_rows; row->name; row++) {
		for (const char *const *word = row->former; word && *word; word++, found++) {
			char *line = mem_printf("lmc = 3;\n%s = \"%s\";\n", row->name, *word);
			const char *path = file_with(line);
			struct unit_capture capture;
			struct conf conf, preset;

			conf_defaults(&preset);
			conf = preset;
			unit_capture_begin(&capture);
			CU_ASSERT_EQUAL(conf_read(&conf, path, true, NULL, error), 0);
			unit_capture_end(&capture, log, sizeof(log));
			CU_ASSERT_EQUAL(conf.sm.lmc, 3);
			CU_ASSERT_FALSE(conf_row_differs(row, &conf, &preset));
			conf_row_range(row, range);
			snprintf(expected, sizeof(expected),
				 "WARNING weftd: %s:2: %s: \"%s\" is no longer supported, and the "
				 "default %s is in force: write one of %s, or remove the line\n",
				 path, row->name, *word, row->preset, range);
			CU_ASSERT_STRING_EQUAL(log, expected);
			free(line);
		}
	}
	CU_ASSERT_EQUAL(found, 1);
}

/* The former word "quarantine" gives the policy "note", with a warning: also with -o, and over
 * another value. */
static void test_quarantine(void)
{
	char error[CONF_ERROR_SIZE] = "", log[512];
	struct unit_capture capture;
	struct conf conf;

	conf_defaults(&conf);
	CU_ASSERT_EQUAL(conf_set(&conf, "babble_policy=\"disable\"", error), 0);
	CU_ASSERT_EQUAL(conf.sm.babble_policy, BABBLE_DISABLE);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(conf_set(&conf, "babble_policy=\"quarantine\"", error), 0);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(conf.sm.babble_policy, BABBLE_NOTE);
	CU_ASSERT_PTR_EQUAL(strstr(log, "WARNING weftd: -o babble_policy: \"quarantine\" is no "),
			    log);
	CU_ASSERT_EQUAL(conf_set(&conf, "babble_policy=\"quarantined\"", error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "-o babble_policy: expected in quotes: note | disable");
}

/* The log is the warning about the former name. */
static void expect_renamed(const struct conf_row *row, const char *place, const char *log)
{
	char *expected = mem_printf("WARNING weftd: %s%s is renamed to %s: use the new name, "
				    "because the next release will refuse the former name\n",
				    place, row->was, row->name);

	CU_ASSERT_STRING_EQUAL(log, expected);
	free(expected);
}

static void expect_former_name(const struct conf_row *row)
{
	char error[CONF_ERROR_SIZE] = "", log[512], place[96];
	char *line = mem_printf("\n%s = %" PRIu64, row->was, row->max - 1);
	const char *path = file_with(line);
	struct unit_capture capture;
	struct conf conf, preset;

	conf_defaults(&preset);
	conf = preset;
	snprintf(place, sizeof(place), "%s:2: ", path);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(conf_read(&conf, path, true, NULL, error), 0);
	unit_capture_end(&capture, log, sizeof(log));
	expect_renamed(row, place, log);
	CU_ASSERT_TRUE(conf_row_differs(row, &conf, &preset));

	conf = preset;
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(conf_set(&conf, line + 1, error), 0);
	unit_capture_end(&capture, log, sizeof(log));
	expect_renamed(row, "-o ", log);
	CU_ASSERT_TRUE(conf_row_differs(row, &conf, &preset));
	free(line);
}

/* A file with both names sets the option twice. */
static void expect_both_refused(const struct conf_row *row)
{
	char error[CONF_ERROR_SIZE] = "", *expected;
	char *text =
		mem_printf("%s = %s;\n%s = %s;\n", row->was, row->preset, row->name, row->preset);
	const char *path = file_with(text);
	struct conf conf;

	conf_defaults(&conf);
	CU_ASSERT_EQUAL(conf_read(&conf, path, true, NULL, error), -EINVAL);
	expected = mem_printf("%s:1: %s: it is the former name of %s, which line 2 sets: "
			      "remove this line",
			      path, row->was, row->name);
	CU_ASSERT_STRING_EQUAL(error, expected);
	free(expected);
	free(text);
}

/* A renamed option keeps its former name for one release. */
static void test_renamed(void)
{
	static const char *const renamed[][2] = {
		{"readback", "readback_interval"},
		{"packet_life_time", "path_packet_life_time"},
		{"max_rate_enum", "max_path_rate"},
	};
	unsigned found = 0;

	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (!row->was)
			continue;
		CU_ASSERT_FATAL(found < ARRAY_SIZE(renamed));
		CU_ASSERT_STRING_EQUAL(row->was, renamed[found][0]);
		CU_ASSERT_STRING_EQUAL(row->name, renamed[found][1]);
		found++;
		expect_former_name(row);
		expect_both_refused(row);
	}
	CU_ASSERT_EQUAL(found, ARRAY_SIZE(renamed));
}

/* Each begins well, so that taking a part of it would be seen. %s: the file. */
#define FORM "here or just before: the form is NAME = VALUE; with text in quotes"
#define FIRST "lmc = 3;\n"
static const struct {
	const char *text, *error;
} bad[] = {
	{FIRST "sm_prority = 1;", "%s:2: sm_prority: no such option; did you mean sm_priority?"},
	{FIRST "colour = 1;", "%s:2: colour: no such option; weftd.conf(5) lists them"},
	{FIRST "sm = { priority = 1; };", "%s:2: sm: no such option; weftd.conf(5) lists them"},
	{FIRST "\n\nsm_priority = 16;", "%s:4: sm_priority: 16 is outside 0..15"},
	{FIRST "isolate_ber = 5;", "%s:2: isolate_ber: 5 is outside 0 | 6..15 (n: 1e-n)"},
	{FIRST "isolate_ber = 16;", "%s:2: isolate_ber: 16 is outside 0 | 6..15 (n: 1e-n)"},
	{FIRST "force_link_speed = 8;", "%s:2: force_link_speed: 8 is outside 0..7 | 15"},
	{FIRST "sm_priority = -1;", "%s:2: sm_priority: -1 is outside 0..15"},
	{FIRST "sm_priority = 0x100000001;", "%s:2: sm_priority: 0x100000001 is outside 0..15"},
	{FIRST "sm_priority = 4294967297;", "%s:2: sm_priority: 4294967297 is outside 0..15"},
	{FIRST "sm_priority = \"1\";", "%s:2: sm_priority: a whole number is expected, not text"},
	{FIRST "sm_priority = 1.5;",
	 "%s:2: sm_priority: a whole number is expected, not a number with a fraction"},
	{FIRST "sm_priority = true;",
	 "%s:2: sm_priority: a whole number is expected, not true or false"},
	{FIRST "sm_priority = [1];", "%s:2: sm_priority: a whole number is expected, not a list"},
	{FIRST "sm_priority = {};", "%s:2: sm_priority: a whole number is expected, not a group"},
	{FIRST "poll_interval = 9;", "%s:2: poll_interval: 9 is outside 10..60000 ms"},
	{FIRST "path_packet_life_time = 15;",
	 "%s:2: path_packet_life_time: 15 is outside 16..31 (n: 4.096 us * 2^n)"},
	{FIRST "max_op_vls = 0;", "%s:2: max_op_vls: 0 is outside 1..5"},
	{FIRST "subnet_prefix = 0xff12000000000000;",
	 "%s:2: subnet_prefix: 0xff12000000000000 is outside 0x1..0xfeffffffffffffff"},
	{FIRST "port_guid = -1;", "%s:2: port_guid: -1 is outside 0x0..0xffffffffffffffff"},
	{FIRST "\nport_guid = 0x10000000000000000;",
	 "%s:3: the number does not fit into 64 bits (write numbers from "
	 "9223372036854775808 on in hexadecimal)"},
	{FIRST "port_guid = 9223372036854775808L;",
	 "%s:2: the number does not fit into 64 bits (write numbers from "
	 "9223372036854775808 on in hexadecimal)"},
	{FIRST "ca = 5;", "%s:2: ca: text in quotes is expected, not a whole number"},
	{FIRST "ca = \"12345678901234567890123456789012\";",
	 "%s:2: ca: the text has 32 bytes; expected: 0..31 bytes of text"},
	{FIRST "ca = \"mlx\\n5\";", "%s:2: ca: control characters are not allowed"},
	{FIRST "runtime_dir = \"\";",
	 "%s:2: runtime_dir: the text has 0 bytes; expected: 1..255 bytes of text"},
	{FIRST "role = \"standby\";", "%s:2: role: expected in quotes: normal | standby-only"},
	{FIRST "role = 1;", "%s:2: role: expected in quotes: normal | standby-only"},
	{FIRST "log_level = \"loud\";",
	 "%s:2: log_level: expected in quotes: emerg | alert | crit | err | warning | notice | "
	 "info | debug"},
	{FIRST "routing = \"minhop\";",
	 "%s:2: routing: a list of 1..8 names expected, as in [\"minhop\"], not text"},
	{FIRST "alias_guids = \"0x5: 0x6\";",
	 "%s:2: alias_guids: a list of 0..1024 rows expected, as in [\"0x2c903000e0b72: "
	 "0x2c903000e1000\"], not text"},
	{FIRST "alias_guids = [0x5];", "%s:2: alias_guids: row 1, \"?\": it is not text in quotes"},
	{FIRST "alias_guids = [\"0x5: 0x6\", \"5: 0x6\"];",
	 "%s:2: alias_guids: row 2, \"5: 0x6\": expected a port GUID first, such as "
	 "0x2c903000e0b72, or two with \"-\" between them"},
	{FIRST "alias_guids = [\"0x5 0x6\"];",
	 "%s:2: alias_guids: row 1, \"0x5 0x6\": expected \":\" after the port GUIDs"},
	{FIRST "alias_guids = [\"0x5:\"];",
	 "%s:2: alias_guids: row 1, \"0x5:\": expected a GUID after \":\", or two with \"-\" "
	 "between them"},
	{FIRST "alias_guids = [\"0x5: 0x6,0x7\"];",
	 "%s:2: alias_guids: row 1, \"0x5: 0x6,0x7\": expected a GUID after \":\", or two with "
	 "\"-\" between them"},
	{FIRST "alias_guids = [\"0x5: 0x0\"];",
	 "%s:2: alias_guids: row 1, \"0x5: 0x0\": expected a GUID after \":\", or two with "
	 "\"-\" between them"},
	{FIRST "alias_guids = [\"0x5: 0x10000000000000000\"];",
	 "%s:2: alias_guids: row 1, \"0x5: 0x10000000000000000\": expected a GUID after \":\", "
	 "or two with \"-\" between them"},
	{FIRST "alias_guids = [\"0x6-0x5: 0x7\"];",
	 "%s:2: alias_guids: row 1, \"0x6-0x5: 0x7\": the last GUID of a range is below the first"},
	{FIRST "alias_guids = [\"0x6: 0x7-0x6\"];",
	 "%s:2: alias_guids: row 1, \"0x6: 0x7-0x6\": the last GUID of a range is below the first"},
	{FIRST "allowed_sm_guids = 0x5;",
	 "%s:2: allowed_sm_guids: a list of 0..32 GUIDs expected, as in [0x2c9030000e0b72], not a "
	 "whole number"},
	{FIRST "allowed_sm_guids = [0x5, 0x0];",
	 "%s:2: allowed_sm_guids: every GUID must be a number such as 0x2c9030000e0b72"},
	{FIRST "allowed_sm_guids = [\"0x5\"];",
	 "%s:2: allowed_sm_guids: every GUID must be a number such as 0x2c9030000e0b72"},
	{FIRST
	 "allowed_sm_guids = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,"
	 "26,27,28,29,30,31,32,33];",
	 "%s:2: allowed_sm_guids: the list has 33 elements; expected: a list of 0..32 GUIDs"},
	{FIRST "routing = [];",
	 "%s:2: routing: the list has 0 elements; expected: a list of 1..8 names"},
	{FIRST "routing = (\"minhop\", 5);", "%s:2: routing: every name must be text in quotes"},
	{FIRST "routing = [\"minhop\", \"dtree\"];",
	 "%s:2: routing: no engine \"dtree\"; known: minhop ftree updn other"},
	{FIRST "routing = [\"other\", \"minhop\", \"other\"];",
	 "%s:2: routing: \"other\" is in the list twice"},
	{FIRST "routing = [\"minhop\",\"minhop\",\"minhop\",\"minhop\",\"minhop\",\"minhop\","
	       "\"minhop\",\"minhop\",\"minhop\"];",
	 "%s:2: routing: the list has 9 elements; expected: a list of 1..8 names"},
	{FIRST "sm_priority = 1;\nsm_priority = 2;",
	 "%s:3: duplicate setting name, here or just before"},
	{FIRST "sm_priority = ;", "%s:2: syntax error, " FORM},
	{FIRST "poll_interval = 30ms;", "%s:2: syntax error, " FORM},
	{FIRST "allow_both_pkeys = 1;",
	 "%s:2: allow_both_pkeys: true or false is expected, not a whole number"},
	{FIRST "allow_both_pkeys = \"true\";",
	 "%s:2: allow_both_pkeys: true or false is expected, not text"},
	{FIRST "role = \"\";", "%s:2: role: expected in quotes: normal | standby-only"},
	{FIRST "ca = [\"mlx5_0\"];", "%s:2: ca: text in quotes is expected, not a list"},
	{FIRST "\x7f\x45LF\x02\xff\xfe\n;", "%s:2: syntax error, " FORM},
	{FIRST "sm_priority 5;", "%s:2: syntax error, " FORM},
	{FIRST "role = normal;", "%s:2: syntax error, " FORM},
	{FIRST "ca = \"mlx5_0;\n", "%s:3: syntax error, " FORM},
	{FIRST "@include \"/etc/passwd\"", "%s:2: @include is not supported: use one file"},
};

static void test_bad(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *path = file_with(bad[i].text);
		char error[CONF_ERROR_SIZE] = "", expected[CONF_ERROR_SIZE], *before, *after;
		struct conf conf;

		conf_defaults(&conf);
		before = state_of(&conf);
		CU_ASSERT_NOT_EQUAL(conf_read(&conf, path, true, NULL, error), 0);
		after = state_of(&conf);
		CU_ASSERT_STRING_EQUAL(after, before);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(expected, sizeof(expected), bad[i].error, path);
#pragma GCC diagnostic pop
		if (strcmp(error, expected))
			printf("\nexpected %s\n     got %s", expected, error);
		CU_ASSERT_STRING_EQUAL(error, expected);
		free(before);
		free(after);
	}
}

/* Opening a pipe would wait for its writer, and reading for its data. */
static void test_pipe(void)
{
	char error[CONF_ERROR_SIZE] = "", folder[] = "/tmp/weft-conf-XXXXXX", path[64];
	struct conf conf;

	conf_defaults(&conf);
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/pipe", folder);
	CU_ASSERT_FATAL(!mkfifo(path, 0600));
	alarm(20);
	CU_ASSERT_EQUAL(conf_read(&conf, path, true, NULL, error), -EINVAL);
	alarm(0);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(error, ": it is a pipe, which cannot be read again (name a file)"));
	CU_ASSERT(!unlink(path) && !rmdir(folder));
}

/* With a stream, each error is a line, and the valid options are set. */
static void test_all_errors(void)
{
	static const struct {
		const char *text, *errors;
		int result, priority;
	} rows[] = {
		{"sm_priority = 3;\n", "", 0, 3},
		{"lmc = 9;\nsm_priority = 4;\nrole = \"boss\";\nrouting_engine = \"ftree\";\n",
		 "F:1: lmc: 9 is outside 0..7\n"
		 "F:3: role: expected in quotes: normal | standby-only\n"
		 "F:4: routing_engine: the option of OpenSM; weft has routing\n",
		 -EINVAL, 4},
		{"qos = true;\nlmc_espO = true;\n",
		 "F:1: qos: an option of OpenSM, which weft does not have: weft does not configure "
		 "QoS: all traffic uses SL 0, and no traffic has a share or a limit of its own\n"
		 "F:2: lmc_espO: no such option; did you mean lmc_esp0?\n",
		 -EINVAL, 0},
		{"lmc = 9;\nsm_priority = ;\n",
		 "F:2: syntax error, here or just before: the form is NAME = VALUE; with text in "
		 "quotes\n",
		 -EBADMSG, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = file_with(rows[i].text), *from;
		char *text = NULL, *expected = NULL, error[CONF_ERROR_SIZE] = "";
		size_t size, expected_size;
		FILE *all = open_memstream(&text, &size);
		FILE *wanted = open_memstream(&expected, &expected_size);
		struct conf conf;

		conf_defaults(&conf);
		CU_ASSERT_EQUAL(conf_read(&conf, path, true, all, error), rows[i].result);
		CU_ASSERT_STRING_EQUAL(error, "");
		CU_ASSERT_EQUAL(conf.sm.priority, rows[i].priority);
		fclose(all);
		for (from = rows[i].errors; *from; from++) {
			bool is_file = from[0] == 'F' && from[1] == ':';

			fprintf(wanted, is_file ? "%s" : "%.1s", is_file ? path : from);
		}
		fclose(wanted);
		CU_ASSERT_STRING_EQUAL(text, expected);
		free(text);
		free(expected);
	}
}

/* Files that are not text files. */
static void test_files(void)
{
	static char large[300 * 1024];
	char error[CONF_ERROR_SIZE] = "";
	struct conf conf;

	conf_defaults(&conf);
	CU_ASSERT_EQUAL(conf_read(&conf, "/nonexistent/weftd.conf", false, NULL, error), 0);
	CU_ASSERT_EQUAL(conf_read(&conf, "/nonexistent/weftd.conf", true, NULL, error), -ENOENT);
	CU_ASSERT_STRING_EQUAL(error, "/nonexistent/weftd.conf: No such file or directory");
	CU_ASSERT_EQUAL(conf_read(&conf, "/", false, NULL, error), -EISDIR);
	CU_ASSERT_STRING_EQUAL(error, "/: Is a directory");
	CU_ASSERT_EQUAL(conf_read(&conf, file_with_bytes("lmc=1\n\0lmc=9", 12), true, NULL, error),
			-EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "it has a zero byte"));
	memset(large, ' ', sizeof(large));
	CU_ASSERT_EQUAL(conf_read(&conf, file_with_bytes(large, sizeof(large)), true, NULL, error),
			-EFBIG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, ": it is larger than the limit of 256 KiB"));
	CU_ASSERT_EQUAL(conf_read(&conf, file_with_bytes(large, 256 * 1024), true, NULL, error), 0);
}

static const struct {
	const char *assignment, *line /* NULL: refused */, *error;
} assignments[] = {
	{"sm_priority=5", "sm_priority = 5;", ""},
	{"sm_priority = 5;", "sm_priority = 5;", ""},
	{"routing=[\"other\",\"minhop\"]", "routing = [\"other\", \"minhop\"];", ""},
	{"role=\"standby-only\"", "role = \"standby-only\";", ""},
	{"port_guid=0x0002c90300fed671", "port_guid = 0x2c90300fed671;", ""},
	{"sm_priority=99", NULL, "-o sm_priority: 99 is outside 0..15"},
	{"sm_prioritee=1", NULL, "-o sm_prioritee: no such option; did you mean sm_priority?"},
	{"role=standby-only", NULL,
	 "-o role=standby-only: NAME=VALUE is expected, text in quotes: 'role=\"normal\"'"},
	{"sm_priority", NULL,
	 "-o sm_priority: NAME=VALUE is expected, text in quotes: 'role=\"normal\"'"},
	{"sm_priority=", NULL, "-o sm_priority: \"\" is not in 0..15"},
	{"poll_interval=30ms", NULL, "-o poll_interval: \"30ms\" is not in 10..60000 ms"},
	{"poll_interval=0.3", NULL,
	 "-o poll_interval: a whole number is expected, not a number with a fraction"},
	{"poll_interval=9", NULL, "-o poll_interval: 9 is outside 10..60000 ms"},
	{"allow_both_pkeys=yes", NULL, "-o allow_both_pkeys: \"yes\" is not in true | false"},
	{"allow_both_pkeys=1", NULL,
	 "-o allow_both_pkeys: true or false is expected, not a whole number"},
	{"sm_priority=[1]", NULL, "-o sm_priority: a whole number is expected, not a list"},
	{"sm_priority=\"1\"", NULL, "-o sm_priority: a whole number is expected, not text"},
	{"routing=\"minhop\"", NULL,
	 "-o routing: a list of 1..8 names expected, as in [\"minhop\"], not text"},
	{"runtime_dir=\"\"", NULL,
	 "-o runtime_dir: the text has 0 bytes; expected: 1..255 bytes of text"},
	{"sm={priority=1}", NULL, "-o sm: no such option; weftd.conf(5) lists them"},
	{"sm.priority=1", NULL,
	 "-o sm.priority=1: NAME=VALUE is expected, text in quotes: 'role=\"normal\"'"},
	{"sm_priority=99999999999999999999", NULL,
	 "-o the number does not fit into 64 bits (write numbers from "
	 "9223372036854775808 on in hexadecimal)"},
	{"@include \"/etc/passwd\"", NULL, "-o @include is not supported: use one file"},
	{"", NULL, "-o : NAME=VALUE is expected, text in quotes: 'role=\"normal\"'"},
	{"sm_priority=1;lmc=1", NULL, "-o sm_priority: \"1;lmc=1\" is not in 0..15"},
};

static void test_set(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(assignments); i++) {
		char error[CONF_ERROR_SIZE] = "", *before, *after;
		struct conf conf;
		int result;

		conf_defaults(&conf);
		before = state_of(&conf);
		result = conf_set(&conf, assignments[i].assignment, error);
		after = state_of(&conf);
		CU_ASSERT_STRING_EQUAL(error, assignments[i].error);
		if (assignments[i].line) {
			CU_ASSERT_EQUAL(result, 0);
			CU_ASSERT_PTR_NOT_NULL(strstr(after, assignments[i].line));
		} else {
			CU_ASSERT_EQUAL(result, -EINVAL);
			CU_ASSERT_STRING_EQUAL(after, before);
		}
		free(before);
		free(after);
	}
}

static void test_set_text(void)
{
	char error[CONF_ERROR_SIZE] = "";
	struct conf conf;

	conf_defaults(&conf);
	CU_ASSERT_EQUAL(conf_set_text(&conf, "ca", "a \"b\" \\ c; lmc = 3", error), 0);
	CU_ASSERT_STRING_EQUAL(conf.ca, "a \"b\" \\ c; lmc = 3");
	CU_ASSERT_EQUAL(conf_set_text(&conf, "ca", "mlx4_0", error), 0);
	CU_ASSERT_STRING_EQUAL(conf.ca, "mlx4_0");
	CU_ASSERT_EQUAL(conf_set_text(&conf, "port", "2", error), 0);
	CU_ASSERT_EQUAL(conf.port, 2);
	CU_ASSERT_STRING_EQUAL(error, "");

	CU_ASSERT_EQUAL(conf_set_text(&conf, "port", "two", error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "port: \"two\" is not in 0..254");
	CU_ASSERT_EQUAL(conf_set_text(&conf, "port", "1; lmc = 3", error), -EINVAL);
	CU_ASSERT_EQUAL(conf_set_text(&conf, "port", "255", error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "port: 255 is outside 0..254");
	CU_ASSERT_EQUAL(conf_set_text(&conf, "state_dir", "", error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error,
			       "state_dir: the text has 0 bytes; expected: 1..255 bytes of text");
	CU_ASSERT_EQUAL(conf.port, 2);
	CU_ASSERT_EQUAL(conf.sm.lmc, 0);
}

/* conf_read accepts the output of conf_row_print. */
static void test_print(void)
{
	struct conf conf, again;
	char error[CONF_ERROR_SIZE] = "", *text = NULL, *before, *after;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	conf_defaults(&conf);
	CU_ASSERT_EQUAL(conf_read(&conf,
				  file_with("ca=\"q\\\"\\\\\"; port_guid=0xfedcba9876543210;\n"
					    "routing=[\"other\"]; role=\"standby-only\"; lmc=7;"),
				  true, NULL, error),
			0);
	print_options(&conf, out);
	fclose(out);
	conf_defaults(&again);
	CU_ASSERT_EQUAL(conf_read(&again, file_with(text), true, NULL, error), 0);
	CU_ASSERT_STRING_EQUAL(error, "");
	before = state_of(&conf);
	after = state_of(&again);
	CU_ASSERT_STRING_EQUAL(after, before);
	free(before);
	free(after);
	free(text);
}

static void test_keep_fixed(void)
{
	struct conf present, next;
	char error[CONF_ERROR_SIZE], names[CONF_NAMES_SIZE];

	conf_defaults(&present);
	conf_defaults(&next);
	CU_ASSERT_EQUAL(conf_keep_fixed(&next, &present, names), 0);
	CU_ASSERT_EQUAL(conf_set(&next, "sm_priority=5", error), 0);
	CU_ASSERT_EQUAL(conf_keep_fixed(&next, &present, names), 0);
	CU_ASSERT_STRING_EQUAL(names, "");
	CU_ASSERT_EQUAL(conf_set(&next, "ca=\"mlx5_1\"", error), 0);
	CU_ASSERT_EQUAL(conf_keep_fixed(&next, &present, names), 1);
	CU_ASSERT_STRING_EQUAL(names, "ca");
	CU_ASSERT_STRING_EQUAL(next.ca, "");
	CU_ASSERT_EQUAL(conf_set(&next, "lmc=2", error), 0);
	CU_ASSERT_EQUAL(conf_set(&next, "state_dir=\"/s\"", error), 0);
	CU_ASSERT_EQUAL(conf_keep_fixed(&next, &present, names), 2);
	CU_ASSERT_STRING_EQUAL(names, "state_dir, lmc");
	CU_ASSERT_EQUAL(next.sm.lmc, 0);
	CU_ASSERT_EQUAL(next.sm.priority, 5);
}

/* The documents. Programs of this tree run from its root. */

static char *read_document(const char *path)
{
	char *text = mem_zalloc(256 * 1024);
	FILE *file = fopen(path, "re");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_TRUE(fread(text, 1, 256 * 1024 - 1, file) > 0);
	fclose(file);
	return text;
}

/* The example as it stands, and with every option uncommented, is the defaults. This also finds an
 * option that does not exist. */
static void test_example_is_the_defaults(void)
{
	char *text = read_document("etc/weftd.conf"), *defaults, *state;
	char error[CONF_ERROR_SIZE] = "";
	struct conf conf;
	unsigned uncommented = 0, rows = 0;

	for (const struct conf_row *row = conf_rows; row->name; row++)
		rows++;
	conf_defaults(&conf);
	defaults = state_of(&conf);
	CU_ASSERT_EQUAL(conf_read(&conf, "etc/weftd.conf", true, NULL, error), 0);
	for (char *line = text; line; line = strchr(line + 1, '\n')) {
		if (line[0] == '\n' && line[1] == '#' && line[2] != ' ' && line[2] != '\n') {
			line[1] = ' ';
			uncommented++;
		}
	}
	CU_ASSERT_EQUAL(uncommented, rows);
	memset(&conf, 0, sizeof(conf));
	CU_ASSERT_EQUAL(conf_read(&conf, file_with(text), true, NULL, error), 0);
	CU_ASSERT_STRING_EQUAL(error, "");
	state = state_of(&conf);
	CU_ASSERT_STRING_EQUAL(state, defaults);
	free(state);
	free(defaults);
	free(text);
}

/* Setting a number writes the bytes of its field and none behind them, for each size of field. */
static void test_neighbours(void)
{
	char setting[96], error[CONF_ERROR_SIZE];

	for (const struct conf_row *row = conf_rows; row->name; row++) {
		struct conf conf;
		const uint8_t *behind = (const uint8_t *)&conf + row->offset + row->size;

		if (row->type != CONF_NUMBER || row->offset + row->size + 8 > sizeof(conf))
			continue;
		memset(&conf, 0xA5, sizeof(conf));
		snprintf(setting, sizeof(setting), "%s=%" PRIu64, row->name, row->min);
		if (conf_set(&conf, setting, error))
			continue; /* not by itself */
		for (unsigned i = 0; i < 8 && !row->copy; i++)
			CU_ASSERT_EQUAL(behind[i], 0xA5);
	}
}

/* No two options write the same bytes, and no key is in the text that managers exchange. */
static void test_places(void)
{
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		CU_ASSERT_FALSE(row->secret && row->agree);
		for (const struct conf_row *other = conf_rows; other != row; other++) {
			bool apart = row->offset + row->size <= other->offset ||
				     other->offset + other->size <= row->offset;

			CU_ASSERT(apart);
			if (!apart)
				printf("    %s and %s\n", other->name, row->name);
		}
	}
}

/* Managers compare options that a failover would change, and no options of a single host. */
static void test_agreed(void)
{
	static const char *const yes[] = {
		"!lmc = ", "master_priority = ", "durability = ", "m_key_mode = "};
	static const char *const no[] = {"sm_priority", "state_dir", "ha_listen"};
	char text[FRAME_CONFIG_MAX];
	struct conf conf;

	conf_defaults(&conf);
	conf_print_agreed(&conf, text);
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(text, yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		CU_ASSERT_PTR_NULL(strstr(text, no[i]));
}

/* The longest list fits into the text that managers exchange, and a row more or less shows. */
static void test_agreed_aliases(void)
{
	static char text[2][FRAME_CONFIG_MAX];
	struct conf *conf = mem_zalloc(sizeof(*conf));

	conf_defaults(conf);
	for (size_t i = 0; i < ALIAS_RANGES_MAX; i++)
		conf->sm.alias_guids[i] = (struct alias_range){~i, ~i, ~i, ~i};
	conf_print_agreed(conf, text[0]);
	conf->sm.alias_guids[ALIAS_RANGES_MAX - 1].last--;
	conf_print_agreed(conf, text[1]);
	CU_ASSERT_PTR_NOT_NULL(strstr(text[0], "max_op_vls = ")); /* the last line */
	CU_ASSERT_STRING_NOT_EQUAL(text[0], text[1]);
	free(conf);
}

/* Options with places of one type side by side, of which one could be taken for the other. */
static void test_which(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
		{"smp_per_switch", offsetof(struct conf, sm.smp_per_switch)},
		{"smp_per_adapter", offsetof(struct conf, sm.smp_per_adapter)},
		{"smp_timeout", offsetof(struct conf, sm.smp_timeout_ms)},
		{"smp_timeout_min", offsetof(struct conf, sm.smp_timeout_min_ms)},
		{"hoq_life", offsetof(struct conf, sm.hoq_life)},
		{"leaf_hoq_life", offsetof(struct conf, sm.leaf_hoq_life)},
		{"vl_stall_count", offsetof(struct conf, sm.vl_stall_count)},
		{"leaf_vl_stall_count", offsetof(struct conf, sm.leaf_vl_stall_count)},
		{"switch_life_time", offsetof(struct conf, sm.switch_life_time)},
		{"phy_errors_threshold", offsetof(struct conf, sm.phy_errors_threshold)},
		{"overrun_errors_threshold", offsetof(struct conf, sm.overrun_errors_threshold)},
		{"cn_guid_file", offsetof(struct conf, route_files.compute)},
		{"io_guid_file", offsetof(struct conf, route_files.io)},
		{"sa_busy_reply", offsetof(struct conf, sa.busy_reply)},
		{"sa_request_rate", offsetof(struct conf, sa.request_rate)},
		{"perf_symbol_errors", offsetof(struct conf, pm.threshold[ERROR_SYMBOL])},
		{"perf_link_recoveries", offsetof(struct conf, pm.threshold[ERROR_LINK_RECOVERY])},
		{"perf_link_downed", offsetof(struct conf, pm.threshold[ERROR_LINK_DOWNED])},
		{"perf_rcv_errors", offsetof(struct conf, pm.threshold[ERROR_RCV])},
		{"perf_xmit_discards", offsetof(struct conf, pm.threshold[ERROR_XMIT_DISCARD])},
		{"perf_link_integrity",
		 offsetof(struct conf, pm.threshold[ERROR_LOCAL_LINK_INTEGRITY])},
		{"perf_buffer_overruns", offsetof(struct conf, pm.threshold[ERROR_BUFFER_OVERRUN])},
		{"perf_vl15_dropped", offsetof(struct conf, pm.threshold[ERROR_VL15_DROPPED])},
		{"perf_xmit_wait", offsetof(struct conf, pm.threshold[SELECT_XMIT_WAIT])},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct conf_row *row = conf_rows;

		while (row->name && strcmp(row->name, rows[i].name) != 0)
			row++;
		CU_ASSERT_PTR_NOT_NULL_FATAL(row->name);
		CU_ASSERT_EQUAL(row->offset, rows[i].offset);
	}
}

/* Each text is made of complete sentences, and its backquotes are in pairs. */
static void expect_text(const char *name, const char *text)
{
	unsigned backquotes = 0;

	for (const char *at = text; *at; at++)
		backquotes += *at == '`';
	if (text[strlen(text) - 1] != '.' || strchr(text, '\n') || backquotes % 2)
		printf("\n%s: %s", name, text);
	CU_ASSERT_EQUAL(text[strlen(text) - 1], '.');
	CU_ASSERT_PTR_NULL(strchr(text, '\n'));
	CU_ASSERT_EQUAL(backquotes % 2, 0);
}

static void test_texts(void)
{
	CU_ASSERT_PTR_NOT_NULL(conf_rows[0].section);
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(row->summary);
		expect_text(row->name, row->summary);
		if (row->details)
			expect_text(row->name, row->details);
	}
}

static char *printed(const char *form)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CU_ASSERT_TRUE(conf_reference_print(form, out));
	fclose(out);
	return text;
}

/* An option in each form: escapes, code, range, and a line for each 100 bytes. */
static void test_reference(void)
{
	static const struct {
		const char *form, *text;
	} rows[] = {
		{"file", "\n\n\n# Standby and replication\n\n# Whether a standby "},
		{"file", "\n# Range: 0..254. Takes effect after a restart.\n#port = 0;\n\n"},
		{"file", ", as an alternative to ca and port."},
		{"man", ".SS Adapter, directories and log\n.TP\n\\fBca\\fR = \\(dq\\(dq\nName of"},
		{"man", "\n.br\nRange: 0..15.\n.TP\n"},
		{"man", "adapter port gets 2\\(halmc LIDs."},
		{"table", "\n| `lmc` | `0` | 0..7 | restart | LID mask control: each adapter port "
			  "gets 2^lmc LIDs. |\n"},
		{"table", "| `role` | `\"normal\"` | normal \\| standby-only | restart | Whether "
			  "this manager may become master. |\n"},
		{"opensm", "\n| sm_sl | - | management traffic uses SL 0 |\n"},
		{"opensm", "\n| sminfo_polling_timeout | poll_interval |  |\n"},
	};
	FILE *out = tmpfile();

	CU_ASSERT_FALSE(conf_reference_print("roff", out));
	fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = printed(rows[i].form);

		if (!strstr(text, rows[i].text))
			printf("\n%s: no \"%s\"", rows[i].form, rows[i].text);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].text));
		free(text);
	}
}

/* The import of opensm.conf knows the ranges of the options of weft that it sets. */
static void test_opensm_ranges(void)
{
	static const struct opensm_range all = {NULL, 0, UINT64_MAX, 1, 0};

	for (const struct opensm_row *row = opensm_rows; row->name; row++) {
		const struct opensm_range *range = row->ours ? opensm_range_of(row->ours) : NULL;

		if (row->how != OPENSM_NUMBER && row->how != OPENSM_M_KEY &&
		    row->how != OPENSM_PERFMGR)
			continue;
		range = range ? range : &all;
		for (int i = 0; i < 12; i++) {
			const unsigned long long ends[] = {range->first, range->last,
							   range->more_first, range->more_last};
			unsigned long long value = ends[i / 3] + (unsigned)(i % 3) - 1;
			bool is_in = (value >= range->first && value <= range->last) ||
				     (value >= range->more_first && value <= range->more_last);
			char assignment[64], error[CONF_ERROR_SIZE] = "";
			struct conf conf;

			if (value == ends[i / 3] + 1 && !value) /* above all 64-bit numbers */
				continue;
			if (!ends[i / 3] && i % 3 == 0) /* -1 */
				continue;
			conf_defaults(&conf);
			snprintf(assignment, sizeof(assignment), "%s=0x%llx%s", row->ours, value,
				 value > INT32_MAX ? "L" : "");
			CU_ASSERT_EQUAL(conf_set(&conf, assignment, error) == 0, is_in);
			if ((conf_set(&conf, assignment, error) == 0) != is_in)
				printf("\n%s: %s", assignment, error);
		}
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"ranges of the import from OpenSM", test_opensm_ranges},
		{"defaults", test_defaults},
		{"good files", test_good},
		{"words of earlier versions", test_former},
		{"babble_policy quarantine", test_quarantine},
		{"former names", test_renamed},
		{"bad files", test_bad},
		{"all errors of a file", test_all_errors},
		{"no files", test_files},
		{"a pipe", test_pipe},
		{"-o", test_set},
		{"plain text", test_set_text},
		{"neighbours", test_neighbours},
		{"a place for each", test_places},
		{"options that managers compare", test_agreed},
		{"a long list that should agree", test_agreed_aliases},
		{"which place", test_which},
		{"print", test_print},
		{"fixed at the start", test_keep_fixed},
		{"example file is the defaults", test_example_is_the_defaults},
		{"texts", test_texts},
		{"reference", test_reference},
		CU_TEST_INFO_NULL,
	};

	return unit_main("conf", tests);
}
