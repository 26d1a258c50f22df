/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The files of routing engines: reading by the names in the configuration, refusals with file and
 * line, their effect on the engines, and the lines about GUIDs that are absent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "route/absent.h"
#include "route/engine.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"
#include "weftd/route_files.h"

static char path[] = "/tmp/weft-route-file.XXXXXX";

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void name_file(char field[256])
{
	snprintf(field, 256, "%s", path);
}

static void test_nothing(void)
{
	struct route_options *options = (void *)path;
	struct route_files files = {.roots = ""};
	char error[CONF_ERROR_SIZE];

	CU_ASSERT_EQUAL(route_files_read(&files, &options, NULL, error), 0);
	CU_ASSERT_PTR_NULL(options);
}

static void test_all(void)
{
	struct route_options *options;
	struct route_files files = {.roots = ""};
	char error[CONF_ERROR_SIZE];

	write_file("0xa1 5\n0xa2 6 # comment\n");
	name_file(files.ports);
	name_file(files.ignored);
	CU_ASSERT_EQUAL_FATAL(route_files_read(&files, &options, NULL, error), 0);
	CU_ASSERT_EQUAL(options->ports.count, 2);
	CU_ASSERT_EQUAL(options->ports.note[1].guid, 0xa2);
	CU_ASSERT_EQUAL(options->ignored.note[1].number[0], 6);
	CU_ASSERT_EQUAL(options->roots.count, 0);
	route_options_unref(options);

	files = (struct route_files){.roots = ""};
	write_file("0xa1 0xb1\n* *\n");
	name_file(files.prefixes);
	CU_ASSERT_EQUAL_FATAL(route_files_read(&files, &options, NULL, error), 0);
	CU_ASSERT_EQUAL(options->prefixes.count, 2);
	CU_ASSERT_EQUAL(options->prefixes.route[0].router, 0xb1);
	CU_ASSERT_TRUE(options->prefixes.route[1].any_prefix);
	route_options_unref(options);

	files = (struct route_files){.roots = ""};
	write_file("0xb1\n0xb2\n");
	name_file(files.roots);
	name_file(files.compute);
	name_file(files.io);
	name_file(files.order);
	CU_ASSERT_EQUAL_FATAL(route_files_read(&files, &options, NULL, error), 0);
	CU_ASSERT_EQUAL(options->roots.count, 2);
	CU_ASSERT_EQUAL(options->compute.guid[0], 0xb1);
	CU_ASSERT_EQUAL(options->io.guid[1], 0xb2);
	CU_ASSERT_EQUAL(options->order.count, 2);
	route_options_unref(options);

	files = (struct route_files){.roots = ""};
	write_file("Switch 0xc1\n0x0001 : 004\n");
	name_file(files.tables);
	CU_ASSERT_EQUAL_FATAL(route_files_read(&files, &options, NULL, error), 0);
	CU_ASSERT_EQUAL(options->num_tables, 1);
	CU_ASSERT_EQUAL(options->tables[0].port[1], 4);
	route_options_unref(options);
}

/* The first bad file is reported, and no file is applied. */
static void test_bad(void)
{
	struct route_options *options = NULL;
	struct route_files files = {.roots = ""};
	char error[CONF_ERROR_SIZE], expected[CONF_ERROR_SIZE];

	snprintf(files.roots, sizeof(files.roots), "/nonexistent/roots");
	CU_ASSERT_EQUAL(route_files_read(&files, &options, NULL, error), -ENOENT);
	CU_ASSERT_STRING_EQUAL(error,
			       "root_guid_file: /nonexistent/roots: No such file or directory");
	snprintf(files.roots, sizeof(files.roots), "/");
	CU_ASSERT_EQUAL(route_files_read(&files, &options, NULL, error), -EISDIR);
	CU_ASSERT_STRING_EQUAL(error, "root_guid_file: /: Is a directory");

	files = (struct route_files){.roots = ""};
	name_file(files.weights);
	write_file("0xa1 1 2\n0xa1 1\n");
	CU_ASSERT_EQUAL(route_files_read(&files, &options, NULL, error), -EINVAL);
	snprintf(expected, sizeof(expected),
		 "%s:2: a switch's GUID, a port and a weight (1 to 254) expected, not \"0xa1 1\"",
		 path);
	CU_ASSERT_STRING_EQUAL(error, expected);
	CU_ASSERT_PTR_NULL(options);
}

static struct routes *compute(const struct snapshot *snapshot, const char *engine)
{
	struct route_result result;

	CU_ASSERT_EQUAL_FATAL(route_run(snapshot, &engine, 1, NULL, NULL, &result), 0);
	return result.routes;
}

/* Two leaves and two spines. The path of a host leads over the other spine if its link gets a
 * greater weight. With an order of ports, it leads over the second spine of the order. */
static void test_weights_and_order(void)
{
	struct net *net = net_tree2(2, 1, 2, 1);
	struct snapshot *snapshot = snapshot_from_net(net, 0);
	struct route_options *options = route_options_new();
	int32_t leaf = snapshot->ends[0].sw;
	lid_t lid = snapshot->ends[1].lid;
	struct guid_note note = {.guid = snapshot->switches[leaf].guid, .count = 2};
	struct routes *routes = compute(snapshot, "minhop");
	uint8_t plain = lft_port(routes->lft[leaf], lid), other = plain == 2 ? 3 : 2;

	routes_unref(routes);
	snapshot->options = options;
	options->weights = (struct guid_notes){mem_array(1, sizeof(note)), 1};
	note.number[0] = plain;
	note.number[1] = 2;
	options->weights.note[0] = note;
	routes = compute(snapshot, "minhop");
	CU_ASSERT_EQUAL(lft_port(routes->lft[leaf], lid), other);
	routes_unref(routes);

	options->weights.count = 0;
	options->ports = (struct guid_notes){mem_array(1, sizeof(note)), 1};
	note.count = 1;
	for (int turn = 0; turn < 2; turn++) {
		note.number[0] = turn ? other : plain;
		options->ports.note[0] = note;
		routes = compute(snapshot, "minhop");
		CU_ASSERT_EQUAL(lft_port(routes->lft[leaf], lid), turn ? plain : other);
		routes_unref(routes);
	}
	snapshot_unref(snapshot);
	net_free(net);
}

/* Three hosts on each of two leaves below two spines: with the middle one put apart, the other two
 * of a leaf part. */
static void test_ignored(void)
{
	struct net *net = net_tree2(2, 3, 2, 1);
	struct snapshot *snapshot = snapshot_from_net(net, 0);
	struct route_options *options = route_options_new();
	const char *const engine = "ftree";
	uint32_t near = (uint32_t)snapshot->ends[0].sw, far = 0;
	struct routes *routes;
	lid_t first, last;

	while (!snapshot->switches[far].hosts || far == near)
		far++;
	first = snapshot->ends[snap_link(snapshot, far, 1)->end].lid;
	last = snapshot->ends[snap_link(snapshot, far, 3)->end].lid;
	routes = compute(snapshot, engine);
	CU_ASSERT_EQUAL(lft_port(routes->lft[near], first), lft_port(routes->lft[near], last));
	routes_unref(routes);
	snapshot->options = options;
	options->ignored = (struct guid_notes){mem_array(2, sizeof(struct guid_note)), 2};
	options->ignored.note[0] =
		(struct guid_note){snapshot->switches[near].guid, .count = 1, .number = {2}};
	options->ignored.note[1] =
		(struct guid_note){snapshot->switches[far].guid, .count = 1, .number = {2}};
	routes = compute(snapshot, engine);
	CU_ASSERT_NOT_EQUAL(lft_port(routes->lft[near], first), lft_port(routes->lft[near], last));
	routes_unref(routes);
	snapshot_unref(snapshot);
	net_free(net);
}

static void test_absent(void)
{
	struct snapshot *snapshot = snapshot_from_spec("fattree:radix=4,levels=2", 0);
	struct route_options *options = route_options_new();
	char *text;

	CU_ASSERT_PTR_NULL(route_absent(snapshot));
	snapshot->options = options;
	CU_ASSERT_PTR_NULL(route_absent(snapshot));
	options->roots = (struct guid_list){mem_array(11, sizeof(guid_t)), 2};
	options->roots.guid[0] = snapshot->switches[0].guid;
	options->roots.guid[1] = snapshot->ends[0].guid; /* no switch */
	options->ignored = (struct guid_notes){mem_array(1, sizeof(struct guid_note)), 1};
	options->ignored.note[0].guid = 0xD1;
	text = route_absent(snapshot);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_EQUAL(
		strstr(text, "root_guid_file: 1 of 2 GUIDs are no switch of this fabric: 0x"),
		text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "; port_prof_ignore_file: 1 of 1 GUIDs are no node of "
					    "this fabric: 0x00000000000000d1"));
	free(text);
	for (unsigned i = 0; i < 11; i++)
		options->roots.guid[i] = i + 1;
	options->roots.count = 11;
	options->ignored.count = 0;
	text = route_absent(snapshot);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "0x0000000000000008 and 3 more"));
	free(text);
	snapshot_unref(snapshot);
}

/* With a stream, the error of each file is a line. */
static void test_all_bad(void)
{
	struct route_options *options = NULL;
	struct route_files files = {.roots = "/", .compute = "", .io = "/nonexistent"};
	char error[CONF_ERROR_SIZE] = "", *text = NULL;
	size_t size;
	FILE *all = open_memstream(&text, &size);

	name_file(files.order);
	write_file("0x1\n");
	CU_ASSERT_EQUAL(route_files_read(&files, &options, all, error), -EISDIR);
	fclose(all);
	CU_ASSERT_STRING_EQUAL(text, "root_guid_file: /: Is a directory\n"
				     "io_guid_file: /nonexistent: No such file or directory\n");
	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NULL(options);
	free(text);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"no files", test_nothing},
		{"all files", test_all},
		{"bad files", test_bad},
		{"all bad files", test_all_bad},
		{"hop weights, order of ports", test_weights_and_order},
		{"ports that are ignored", test_ignored},
		{"GUIDs that are not there", test_absent},
		CU_TEST_INFO_NULL,
	};
	int fd = mkstemp(path), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = unit_main("route_files", tests);
	unlink(path);
	return status;
}
