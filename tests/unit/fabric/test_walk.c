/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The walk along tables: its end, the switches that it passes, and invalid tables. */
#include "fabric/walk.h"

#include <errno.h>

#include "tests/unit/fixtures/two_switches.h"
#include "tests/unit/fixtures/unit.h"

static struct {
	unsigned hops;
	uint32_t sw[4];
	uint8_t port[4];
} seen;

static void note(void *ctx, uint32_t sw, uint8_t port)
{
	CU_ASSERT_PTR_EQUAL(ctx, &seen);
	if (seen.hops < ARRAY_SIZE(seen.sw)) {
		seen.sw[seen.hops] = sw;
		seen.port[seen.hops] = port;
	}
	seen.hops++;
}

static const struct {
	uint32_t from;
	lid_t lid;
	int passed;
	uint8_t port[2];
} good[] = {
	{S1, 16, 1, {1}},		      /* its own host */
	{S1, 19, 1, {1}},		      /* by another of its LIDs */
	{S1, 24, 2, {3, 1}},		      /* even: by port 3 */
	{S1, 25, 2, {4, 1}},		      /* odd: by port 4 */
	{S2, 20, 2, {3, 2}}, {S1, 1, 1, {0}}, /* the switch itself */
	{S2, 1, 2, {4, 0}},
};

static void test_arrives(void)
{
	struct view *view = two_switches_view();

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		seen.hops = 0;
		CU_ASSERT_EQUAL(table_walk(view->topology, view->routes, good[i].from, good[i].lid,
					   note, &seen),
				good[i].passed);
		CU_ASSERT_EQUAL((int)seen.hops, good[i].passed);
		CU_ASSERT_EQUAL(seen.sw[0], good[i].from);
		for (int hop = 0; hop < good[i].passed; hop++)
			CU_ASSERT_EQUAL(seen.port[hop], good[i].port[hop]);
		CU_ASSERT_EQUAL(table_walk(view->topology, view->routes, good[i].from, good[i].lid,
					   NULL, NULL),
				good[i].passed);
	}
	view_unref(view);
}

static const struct {
	lid_t lid;
	uint32_t sw; /* whose entry for lid is changed */
	uint8_t port;
	int expected; /* from S1 */
} bad[] = {
	{24, S1, LFT_NO_PORT, -EHOSTUNREACH},
	{24, S1, SWITCH_PORTS + 1, -EHOSTUNREACH}, /* no such port */
	{24, S1, 0, -EHOSTUNREACH},		   /* not the switch's LID */
	{24, S2, 2, -EHOSTUNREACH},		   /* another host */
	{24, S2, 3, -ELOOP},			   /* back */
	{1, S1, 1, -EHOSTUNREACH},		   /* the switch's own LID, sent out */
	{21, S1, 4, -EHOSTUNREACH},		   /* after a port was unplugged, below */
	{5, S1, 3, -EHOSTUNREACH},		   /* LID of no port */
};

static void test_bad_tables(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct view *view = two_switches_view();

		view->routes->lft[bad[i].sw]->port[bad[i].lid] = bad[i].port;
		if (bad[i].lid == 21)
			view->topology->links[view->topology->switches[S1].first_link + 4].sw = -1;
		CU_ASSERT_EQUAL(
			table_walk(view->topology, view->routes, S1, bad[i].lid, NULL, NULL),
			bad[i].expected);
		view_unref(view);
	}
}

static void test_no_tables(void)
{
	struct view *view = two_switches_view();
	struct routes *fewer = routes_new(1, 1, "another fabric's");

	CU_ASSERT_EQUAL(table_walk(view->topology, NULL, S1, 16, NULL, NULL), -EHOSTUNREACH);
	CU_ASSERT_EQUAL(table_walk(view->topology, fewer, S1, 16, NULL, NULL), -EHOSTUNREACH);
	CU_ASSERT_EQUAL(table_walk(view->topology, view->routes, S1, LID_PERMISSIVE, NULL, NULL),
			-EHOSTUNREACH);
	lft_unref(view->routes->lft[S2]);
	view->routes->lft[S2] = NULL;
	CU_ASSERT_EQUAL(table_walk(view->topology, view->routes, S1, 16, NULL, NULL), 1);
	CU_ASSERT_EQUAL(table_walk(view->topology, view->routes, S1, 24, NULL, NULL),
			-EHOSTUNREACH);
	routes_unref(fewer);
	view_unref(view);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"walks that arrive", test_arrives},
		{"tables that lead astray", test_bad_tables},
		{"tables that are not there", test_no_tables},
		CU_TEST_INFO_NULL,
	};

	return unit_main("walk", tests);
}
