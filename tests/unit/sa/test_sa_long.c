/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Answers that take several turns of the loop: short requests in between, a view that changes or
 * ends, repeated requests, and an SA that ends before the answers.
 */
#include "sa/admission.h"
#include "tests/unit/fixtures/sa_client.h"
#include "tests/unit/fixtures/star.h"

/* Two LIDs each; the switch has one. */
enum {
	LID_OF_HOST = 16, /* and the next one */
	STAR_HOSTS = 120,
	STAR_PATHS = 2 * STAR_HOSTS * (STAR_HOSTS + 2) + 1,
	STAR_LID_TOP = 2 * STAR_HOSTS + 1,
};

static const struct ask all_paths = {.method = METHOD_GET_TABLE, .attr_id = RECORD_PATH};
static const struct ask all_nodes = {.method = METHOD_GET_TABLE, .attr_id = RECORD_NODE};
static const struct ask class_info = {.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO};

static void begin_star(void)
{
	begin();
	view_publish(&sa.view, star(STAR_HOSTS, 1));
}

static size_t records(size_t bytes)
{
	return (sa.size - SUBN_ADM_HEADER_SIZE) / bytes;
}

/* All pairs of 121 ports take some turns. Shorter requests of other ports are answered first. */
static void test_short_between(void)
{
	struct ask other = all_nodes;
	unsigned turns = 0;

	other.from = 20;

	begin_star();
	ask_only(&all_paths, 1);
	CU_ASSERT_EQUAL(sa.sent, 0);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 1);
	turn();
	ask_only(&class_info, 2);
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa.header.tid, 2);
	ask_only(&other, 3);
	for (; sa_waiting(sa.server) == 2 && turns < 100; turns++)
		turn();
	CU_ASSERT_EQUAL(sa.header.tid, 3);
	CU_ASSERT_EQUAL(records(112), STAR_HOSTS + 1);
	for (; sa_waiting(sa.server) && turns < 100; turns++)
		turn();
	CU_ASSERT_TRUE(turns >= 10);
	CU_ASSERT_EQUAL(sa.header.tid, 1);
	CU_ASSERT_EQUAL(records(64), STAR_PATHS);
	end();
}

/* The answer describes the fabric at the time of the request, even if the view changes. */
static void test_view_changes(void)
{
	struct path_record record = {0};

	begin_star();
	ask_only(&all_paths, 1);
	turn();
	view_publish(&sa.view, two_switches_view());
	ask_only(&(struct ask){.method = METHOD_GET_TABLE, .attr_id = RECORD_SWITCH_INFO}, 2);
	CU_ASSERT_EQUAL(records(24), SWITCHES);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 1);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(records(64), STAR_PATHS);
	for (unsigned i = 0; i < records(64); i++) {
		answered(&path_record_format, i, &record);
		CU_ASSERT_TRUE(record.slid <= STAR_LID_TOP && record.dlid <= STAR_LID_TOP);
	}
	end();
}

/* A manager that is no longer MASTER does not answer. */
static void test_view_goes(void)
{
	begin_star();
	ask_only(&all_paths, 1);
	ask_only(&all_paths, 2);
	turn();
	view_publish(&sa.view, NULL);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 0);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 2);
	end();
}

/* Computing look-ups of a new view counts as work: the first table of a source's paths takes more
 * turns than the next. */
static void test_effort(void)
{
	const struct path_record from_first = {.slid = LID_OF_HOST};
	const struct ask ask_paths = {.method = METHOD_GET_TABLE,
				      .attr_id = RECORD_PATH,
				      .mask = COMPONENT(PATH_SLID),
				      .format = &path_record_format,
				      .record = &from_first};
	unsigned turns[2] = {0};

	begin_star();
	for (unsigned i = 0; i < 2; i++) {
		ask_only(&ask_paths, i);
		for (; sa_waiting(sa.server); turns[i]++)
			turn();
	}
	CU_ASSERT_EQUAL(sa.sent, 2);
	CU_ASSERT_TRUE(turns[0] > turns[1]);
	end();
}

static void test_repeated(void)
{
	begin_star();
	for (unsigned i = 0; i < 5; i++) {
		ask_only(&all_paths, 1);
		turn();
	}
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 1);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->repeated, 4);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 4);
	ask_only(&all_nodes, 1);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 2);
	end();
}

/* A port that requests too much at a time, from two LIDs, gets some of it, and other ports are not
 * delayed by it. */
static void test_overload(void)
{
	struct ask paths = all_paths, other = all_nodes;

	begin_star();
	for (unsigned tid = 1; tid <= 50; tid++) {
		paths.from = (lid_t)(LID_OF_HOST + tid % 2);
		ask_only(&paths, tid);
	}
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 16);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 34);
	other.from = 20;
	ask_only(&other, 99);
	while (sa_waiting(sa.server) == 17)
		turn();
	CU_ASSERT_EQUAL(sa.header.tid, 99);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 17);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->answered, 17);
	end();
}

/* A table of one switch, with all of its ports, is made at once. A host that repeats the request
 * gets no more than its share without waiting. Then its single records, and the tables of other
 * hosts, are still answered at once. */
static void test_short_tables(void)
{
	struct port_info_record of_switch = {.endport_lid = 1};
	struct ask table = {.method = METHOD_GET_TABLE,
			    .attr_id = RECORD_PORT_INFO,
			    .mask = COMPONENT(PORT_INFO_RECORD_LID),
			    .format = &port_info_record_format,
			    .record = &of_switch};
	const size_t bytes = SUBN_ADM_HEADER_SIZE + (STAR_HOSTS + 1) * 72;
	const unsigned allowed = ADMISSION_DEBT_US / (unsigned)(bytes / ADMISSION_BYTES_PER_US);
	unsigned asked = 0;

	begin_star();
	while (!sa_waiting(sa.server) && asked <= allowed) {
		table.from = (lid_t)(LID_OF_HOST + asked % 2);
		ask_only(&table, ++asked);
	}
	CU_ASSERT_EQUAL(sa.size, bytes);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 1);
	CU_ASSERT_TRUE(asked > allowed / 2);
	CU_ASSERT_EQUAL(sa.sent, asked - 1);
	ask_only(&class_info, 9001);
	CU_ASSERT_EQUAL(sa.header.tid, 9001);
	table.from = 20;
	ask_only(&table, 9002);
	CU_ASSERT_EQUAL(sa.header.tid, 9002);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 1);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.header.tid, asked);
	end();
}

/* A search through all records: it finds none, one or several. */
static void test_long_get(void)
{
	struct node_record wanted = {.info.node_type = NODE_SWITCH};
	struct ask get = {.method = METHOD_GET,
			  .attr_id = RECORD_NODE,
			  .mask = COMPONENT(4 /* NodeType */),
			  .format = &node_record_format,
			  .record = &wanted};

	begin_star();
	CU_ASSERT_EQUAL(ask(&get), STATUS_OK);
	CU_ASSERT_EQUAL(sa.size, MAD_SIZE);
	wanted.info.node_type = NODE_ROUTER;
	CU_ASSERT_EQUAL(ask(&get), SA_NO_RECORDS);
	wanted.info.node_type = NODE_CA;
	CU_ASSERT_EQUAL(ask(&get), SA_TOO_MANY_RECORDS);
	end();
}

/* Waiting requests when the SA ends: sanitizers show whether they are freed. */
static void test_end(void)
{
	begin_star();
	ask_only(&all_paths, 1);
	ask_only(&all_nodes, 2);
	turn();
	ask_only(&all_paths, 3);
	CU_ASSERT_TRUE(sa_waiting(sa.server) >= 2);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"short requests in between", test_short_between},
		{"a view that changes", test_view_changes},
		{"a view that goes", test_view_goes},
		{"work of a new view", test_effort},
		{"a request that comes again", test_repeated},
		{"too many at a time", test_overload},
		{"short tables without end", test_short_tables},
		{"one record of many", test_long_get},
		{"an SA that ends", test_end},
		CU_TEST_INFO_NULL,
	};

	return unit_main("adm_long", tests);
}
