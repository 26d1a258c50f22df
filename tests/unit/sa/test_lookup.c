/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Cached look-ups of a view equal computed results: of GUIDs, of shared P_Keys, and of the lowest
 * MTU and rate on the path between any two ports. There are more different P_Key tables than the
 * cache has places.
 */
#include "sa/lookup.h"

#include "tests/unit/fixtures/star.h"
#include "tests/unit/fixtures/unit.h"

static void test_guids(void)
{
	struct view *view = two_switches_view();
	const struct snapshot *topology = view->topology;
	struct lookup *lookup;
	struct endport port = {.num = 99};

	/* A port 0 that does not share its node's GUID. */
	topology->switches[S2].facts->port[0].guid = 0x77;
	lookup = lookup_new(view, NULL);
	CU_ASSERT_FALSE(lookup_guid(lookup, 0, &port));
	CU_ASSERT_FALSE(lookup_guid(lookup, HOST_GUID(A), &port)); /* a node's */
	CU_ASSERT_FALSE(lookup_guid(lookup, SWITCH_GUID(S2), &port));
	CU_ASSERT_EQUAL(port.num, 99);
	for (uint32_t number = 0; number < endport_count(topology); number++) {
		struct endport by_number = endport_at(topology, number);

		CU_ASSERT_TRUE(lookup_guid(lookup, by_number.guid, &port));
		CU_ASSERT_TRUE(endport_same(&port, &by_number));
	}
	CU_ASSERT_TRUE(lookup_guid(lookup, 0x77, &port));
	CU_ASSERT_EQUAL(port.at.sw, S2);
	lookup_unref(lookup);
	view_unref(view);
}

/* GUID 0, and a GUID that two ports report. */
static void test_odd_guids(void)
{
	struct view *view = star(3, 0);
	struct lookup *lookup;
	struct endport port;

	view->topology->ends[0].guid = 0;
	view->topology->ends[1].guid = view->topology->ends[2].guid;
	lookup = lookup_new(view, NULL);
	CU_ASSERT_FALSE(lookup_guid(lookup, 0, &port));
	CU_ASSERT_TRUE(lookup_guid(lookup, 102, &port));
	CU_ASSERT_FALSE(lookup_guid(lookup, 101, &port));
	lookup_unref(lookup);
	view_unref(view);
}

/* Each pair twice: computed, then cached. */
static void judge_keys(struct lookup *lookup)
{
	const struct snapshot *topology = lookup_view(lookup)->topology;
	unsigned wrong = 0;

	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t a = 0; a < endport_count(topology); a++) {
			for (uint32_t b = 0; b < endport_count(topology); b++) {
				struct endport from = endport_at(topology, a);
				struct endport to = endport_at(topology, b);

				wrong += lookup_shared(lookup, &from, &to) !=
					 endports_share(&from, &to);
			}
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

/* Ports whose tables of two or three keys are nearly all different. */
static struct view *many_tables(unsigned tables)
{
	struct snapshot *snapshot = snapshot_new(0, tables, 0);
	const struct node_info info = {.node_type = NODE_CA, .num_ports = 1};

	for (unsigned e = 0; e < tables; e++) {
		struct snap_end *end = &snapshot->ends[e];
		struct pkey_list *list = pkey_list_new(PKEY_BLOCK_KEYS);

		*end = (struct snap_end){
			.guid = 1 + e, .lid = (lid_t)(1 + e), .port = 1, .sw = -1, .peer = -1};
		end->facts = facts_new(&info);
		two_switches_port(end->facts, 1, 4, 2, MTU_4096, MTU_4096);
		list->key[e % 3] = (pkey_t)(1 + e % 16);
		list->key[3] = (pkey_t)(0x8000 | (1 + e / 16));
		list->key[4] = e % 5 ? PKEY_DEFAULT_LIMITED : 0;
		end->facts->port[1].pkeys = list;
	}
	snapshot_index(snapshot);
	return view_new(1, snapshot, NULL, NULL, 0);
}

static void test_keys(void)
{
	static const unsigned tables[] = {1, 40, 255, 256, 400};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct view *view = many_tables(tables[i]);
		struct lookup *lookup = lookup_new(view, NULL);

		judge_keys(lookup);
		lookup_unref(lookup);
		view_unref(view);
	}
}

/* From S1 to each LID, the lowest MTU and rate by its cables. The second answer equals the first.
 */
static void test_ways(void)
{
	static const struct {
		lid_t from, to;
		uint8_t mtu, rate; /* 0: unknown */
	} ways[] = {
		{1, 16, MTU_4096, RATE_100},  {1, 24, MTU_2048, RATE_40},
		{1, 25, MTU_4096, RATE_40},   {1, 28, MTU_1024, RATE_56},
		{1, 2, MTU_2048, RATE_56},    {1, 1, MTU_4096, 3},
		{16, 1, MTU_4096, RATE_100},  {16, 2, MTU_2048, RATE_56},
		{28, 17, MTU_1024, RATE_100},
	};
	struct view *view = two_switches_view();
	struct lookup *lookup = lookup_new(view, NULL);
	uint64_t effort = 0;

	for (unsigned round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
			struct endport from, to;
			measure_t way;

			CU_ASSERT_TRUE(endport_by_lid(view->topology, ways[i].from, &from));
			CU_ASSERT_TRUE(endport_by_lid(view->topology, ways[i].to, &to));
			way = lookup_way(lookup, &from, &to, ways[i].to);
			CU_ASSERT_EQUAL(measure_mtu(way), ways[i].mtu);
			CU_ASSERT_EQUAL(measure_rate(lookup, way), ways[i].rate);
		}
		if (round)
			CU_ASSERT_EQUAL(lookup_effort(lookup), effort);
		effort = lookup_effort(lookup);
	}
	CU_ASSERT_TRUE(effort > 0);
	lookup_unref(lookup);
	view_unref(view);
}

static void test_no_way(void)
{
	struct view *view = two_switches_view();
	struct lookup *lookup = lookup_new(view, NULL);
	struct endport from, to;

	CU_ASSERT_TRUE(endport_by_lid(view->topology, 1, &from));
	CU_ASSERT_TRUE(endport_by_lid(view->topology, 28, &to));
	CU_ASSERT_EQUAL(lookup_way(lookup, &from, &to, LID_PERMISSIVE), MEASURE_NO_WAY);
	CU_ASSERT_EQUAL(lookup_way(lookup, &from, &to, 15), MEASURE_NO_WAY);
	view->routes->lft[S2]->port[28] = LFT_NO_PORT;
	CU_ASSERT_EQUAL(lookup_way(lookup, &from, &to, 28), MEASURE_NO_WAY);
	view->routes->lft[S2]->port[28] = 2; /* a cached result is not computed again */
	CU_ASSERT_EQUAL(lookup_way(lookup, &from, &to, 28), MEASURE_NO_WAY);
	lookup_unref(lookup);
	lookup = lookup_new(view, NULL);
	CU_ASSERT_NOT_EQUAL(lookup_way(lookup, &from, &to, 28), MEASURE_NO_WAY);
	lookup_unref(lookup);
	view_unref(view);
}

/* Every valid encoding of a rate, by width and speed: the result equals port_rate(), and the slower
 * of two rates is the lowest. */
static void test_rates(void)
{
	static const uint8_t widths[] = {1, 2, 4, 8, 16};
	static const uint8_t speeds[][3] = {{1},    {2},    {4},    {4, 1},
					    {4, 2}, {4, 4}, {4, 8}, {4, 8, 1}};
	struct view *view = two_switches_view();
	struct port_info *a = &view->topology->ends[A].facts->port[1].info;
	struct endport port;

	CU_ASSERT_TRUE(endport_by_lid(view->topology, 16, &port));
	for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
		for (size_t s = 0; s < ARRAY_SIZE(speeds); s++) {
			struct lookup *lookup = lookup_new(view, NULL);
			struct endport other;
			measure_t own, both;

			a->link_width_active = widths[w];
			a->link_speed_active = speeds[s][0];
			a->link_speed_ext_active = speeds[s][1];
			a->link_speed_ext_active2 = speeds[s][2];
			CU_ASSERT_TRUE(endport_by_lid(view->topology, 20, &other));
			own = lookup_way(lookup, &port, &port, 16);
			both = measure_least(own, lookup_way(lookup, &other, &other, 20));
			CU_ASSERT_EQUAL(measure_rate(lookup, own), port_rate(a));
			CU_ASSERT_EQUAL(measure_rate(lookup, both),
					rate_deci_gbps(port_rate(a)) < 1000 ? port_rate(a)
									    : RATE_100);
			lookup_unref(lookup);
		}
	}
	view_unref(view);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"GUIDs", test_guids},
		{"GUIDs that are none or twice", test_odd_guids},
		{"shared P_Keys", test_keys},
		{"ways", test_ways},
		{"no way", test_no_way},
		{"rates", test_rates},
		CU_TEST_INFO_NULL,
	};

	return unit_main("lookup", tests);
}
