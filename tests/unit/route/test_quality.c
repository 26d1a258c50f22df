/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The judges of tables: credit loops, all-to-all, permutations, length, churn. On a ring of six
 * switches whose tables go one way round, every figure is known in advance. On trees of the engines
 * some figures are.
 */
#include <string.h>

#include "lib/loop.h"
#include "route/engine.h"
#include "route/quality.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

enum { RING = 6, HOSTS = 2 };

static struct loop *loop;

static uint8_t ring_port(const struct snapshot *ring, uint32_t s, uint32_t distance)
{
	for (uint8_t p = 1; p <= ring->switches[s].num_ports; p++)
		if (snap_link(ring, s, p)->sw == (int32_t)((s + distance) % RING))
			return p;
	abort();
}

/* All packets go one way round. With `cut`, none takes the link from the last switch to the first:
 * packets to earlier switches go back. */
static struct routes *ring_routes(const struct snapshot *ring, bool cut)
{
	struct routes *routes = routes_new(1, RING, "ring");

	for (uint32_t s = 0; s < RING; s++) {
		routes->lft[s] = lft_new(ring->lid_top);
		for (unsigned lid = 1; lid <= ring->lid_top; lid++) {
			uint32_t home =
				(uint32_t)snap_owner_switch(ring, snap_owner(ring, (lid_t)lid));
			uint32_t step = cut && home < s ? RING - 1 : 1;

			routes->lft[s]->port[lid] = home == s ? 0 : ring_port(ring, s, step);
		}
	}
	for (uint32_t e = 0; e < ring->num_ends; e++)
		routes->lft[ring->ends[e].sw]->port[ring->ends[e].lid] = ring->ends[e].sw_port;
	return routes;
}

static struct snapshot *make_ring(void)
{
	return snapshot_from_spec("ring:switches=6,hosts=2", 0);
}

static void test_credit(void)
{
	struct snapshot *ring = make_ring();
	struct routes *round = ring_routes(ring, false), *line = ring_routes(ring, true);
	struct credit_report report;

	credit_check(ring, round, NULL, &report);
	CU_ASSERT_EQUAL(report.channels, 2 * RING);
	CU_ASSERT_EQUAL(report.loops, RING); /* those of one direction */
	CU_ASSERT_EQUAL(report.length, RING);
	for (unsigned i = 0; i < RING; i++)
		CU_ASSERT_EQUAL(report.example[i].port, ring_port(ring, report.example[i].sw, 1));
	credit_check(ring, line, NULL, &report);
	CU_ASSERT_EQUAL(report.loops, 0);
	CU_ASSERT_EQUAL(report.length, 0);
	routes_unref(line);
	routes_unref(round);
	snapshot_unref(ring);
}

/* With a VL for each switch that sends there are only lines. Where the switches map all SLs to one
 * VL the circle is back. */
static void test_credit_by_vl(void)
{
	struct snapshot *ring = make_ring();
	struct routes *routes = ring_routes(ring, false);
	struct credit_report report;

	routes->vls = RING;
	routes->sl = mem_array(RING * RING, 1);
	for (uint32_t from = 0; from < RING; from++)
		for (uint32_t to = 0; to < RING; to++)
			routes->sl[from * RING + to] = (uint8_t)from;
	credit_check(ring, routes, NULL, &report);
	CU_ASSERT_EQUAL(report.channels, 2 * RING * RING);
	CU_ASSERT_EQUAL(report.loops, 0);

	routes->maps = mem_array(1, sizeof(*routes->maps));
	routes->map_of = mem_array(RING, sizeof(*routes->map_of));
	for (uint32_t s = 0; s < RING; s++) {
		size_t ports = ring->switches[s].num_ports + 1u;

		routes->map_of[s] = mem_array(ports * ports, sizeof(uint16_t));
	}
	credit_check(ring, routes, NULL, &report);
	CU_ASSERT_EQUAL(report.loops, RING);
	CU_ASSERT_EQUAL(report.vl, 0);
	routes_unref(routes);
	snapshot_unref(ring);
}

/* Each link carries, of the hosts k switches before its end, the packets that go k links or more.
 * These are 2 * 2 hosts times 5 + 4 + 3 + 2 + 1 pairs of switches. All hosts send, and 10 receive,
 * over each. */
static void test_all_to_all(void)
{
	struct snapshot *ring = make_ring();
	struct routes *routes = ring_routes(ring, false);
	struct quality_all all, again;
	struct work_pool *pool = work_pool_new(loop, 3);

	quality_all_to_all(ring, routes, NULL, &all);
	CU_ASSERT_EQUAL(all.pairs, 12 * 11);
	CU_ASSERT_EQUAL(all.unreached, 0);
	CU_ASSERT_EQUAL(all.links, 2 * RING);
	CU_ASSERT_EQUAL(all.unused, RING);
	CU_ASSERT_EQUAL(all.most, 15 * HOSTS * HOSTS);
	CU_ASSERT_EQUAL(all.sum, RING * 15 * HOSTS * HOSTS);
	CU_ASSERT_EQUAL(all.hops, all.sum);
	CU_ASSERT_EQUAL(all.risk, 10);
	CU_ASSERT_EQUAL(all.flat.links, 2 * RING);
	quality_all_to_all(ring, routes, pool, &again);
	CU_ASSERT_EQUAL(memcmp(&all, &again, sizeof(all)), 0);

	routes->lft[3]->port[ring->ends[0].lid] = LFT_NO_PORT;
	quality_all_to_all(ring, routes, pool, &again);
	/* Those of three switches, or of all that come through switch 3. */
	CU_ASSERT(again.unreached > 0);
	CU_ASSERT_EQUAL(again.unreached % HOSTS, 0);
	work_pool_free(pool);
	routes_unref(routes);
	snapshot_unref(ring);
}

/* A shift by 2 k sends over k switches: each link carries k switches' hosts. */
static void test_shifts(void)
{
	struct snapshot *ring = make_ring();
	struct routes *routes = ring_routes(ring, false), *line = ring_routes(ring, true);
	struct quality_load shifts;
	struct quality_stretch stretch;

	quality_shifts(ring, routes, NULL, 0, &shifts);
	CU_ASSERT_EQUAL(shifts.patterns, RING * HOSTS - 1);
	CU_ASSERT_EQUAL(shifts.worst, 5 * HOSTS);
	quality_shifts(ring, routes, NULL, 3, &shifts);
	CU_ASSERT_EQUAL(shifts.patterns, 3);
	quality_stretch(ring, routes, NULL, &stretch);
	CU_ASSERT_EQUAL(stretch.paths, 5 * RING * HOSTS);
	CU_ASSERT_EQUAL(stretch.hops, 15 * RING * HOSTS);
	CU_ASSERT_EQUAL(stretch.least_hops, (1 + 2 + 3 + 2 + 1) * RING * HOSTS);
	CU_ASSERT_EQUAL(stretch.longer, 2 * RING * HOSTS);
	quality_stretch(ring, line, NULL, &stretch);
	CU_ASSERT(stretch.longer > 0);
	routes_unref(line);
	routes_unref(routes);
	snapshot_unref(ring);
}

/* One switch: nothing is shared. A tree with one spine and one link a leaf: all hosts of a leaf
 * share it, half of the flows or so leave. */
static void test_random(void)
{
	struct snapshot *single = snapshot_from_spec("single:hosts=8", 0);
	struct net *net = net_tree2(4, 8, 1, 1);
	struct snapshot *narrow = snapshot_from_net(net, 0);
	struct route_result result;
	static const char *const names[] = {"ftree"};
	struct quality_load load, again;
	double bisection, other;

	CU_ASSERT_EQUAL(route_run(single, names, 1, NULL, NULL, &result), 0);
	quality_random(single, result.routes, NULL, 20, 1, &load, &bisection);
	CU_ASSERT_EQUAL(load.worst, 0);
	CU_ASSERT(bisection > 0.999);
	routes_unref(result.routes);

	CU_ASSERT_EQUAL(route_run(narrow, names, 1, NULL, NULL, &result), 0);
	quality_random(narrow, result.routes, NULL, 50, 1, &load, &bisection);
	CU_ASSERT(load.median >= 5 && load.worst <= 8);
	CU_ASSERT(load.median <= load.percentile_95 && load.percentile_95 <= load.worst);
	CU_ASSERT(bisection > 0.1 && bisection < 0.6);
	quality_random(narrow, result.routes, NULL, 50, 1, &again, &other);
	CU_ASSERT_EQUAL(memcmp(&load, &again, sizeof(load)), 0);
	CU_ASSERT(bisection >= other && bisection <= other);
	routes_unref(result.routes);
	snapshot_unref(narrow);
	net_free(net);
	snapshot_unref(single);
}

static void test_churn(void)
{
	struct snapshot *ring = make_ring();
	struct routes *a = ring_routes(ring, false), *b = ring_routes(ring, false);
	struct route_churn churn;
	lid_t lid = ring->ends[snap_link(ring, 5, 1)->end].lid;

	route_churn(ring, a, b, NULL, &churn);
	CU_ASSERT_EQUAL(churn.entries + churn.blocks + churn.switches + churn.paths, 0);
	b->lft[3]->port[lid] = ring_port(ring, 3, RING - 1);
	b->lft[2]->port[lid] = LFT_NO_PORT;
	route_churn(ring, a, b, NULL, &churn);
	CU_ASSERT_EQUAL(churn.entries, 2);
	CU_ASSERT_EQUAL(churn.blocks, 2);
	CU_ASSERT_EQUAL(churn.switches, 2);
	CU_ASSERT_EQUAL(churn.paths, 4); /* from switches 0 to 3 */
	routes_unref(b);
	routes_unref(a);
	snapshot_unref(ring);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"credit loops", test_credit},
		{"credit loops by VL", test_credit_by_vl},
		{"all to all", test_all_to_all},
		{"shifts and length", test_shifts},
		{"random patterns", test_random},
		{"churn", test_churn},
		CU_TEST_INFO_NULL,
	};
	int status;

	loop = loop_new();
	status = unit_main("quality", tests);
	loop_free(loop);
	return status;
}
