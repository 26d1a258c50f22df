/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tree engines ftree, updn and dnup on whole trees, broken trees and other topologies. All
 * destinations are reached, without credit loops. Whole trees run every shift with one flow for
 * each link. A fault moves few entries and its end moves them back. The judges (checkers, quality)
 * have tests of their own.
 */
#include <errno.h>
#include <string.h>

#include "lib/loop.h"
#include "route/engine.h"
#include "route/quality.h"
#include "route/tree.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

static struct loop *loop;

static int try_engine(const struct snapshot *snapshot, const char *name, struct work_pool *pool,
		      struct routes **out, char why[ROUTE_WHY_SIZE])
{
	int rc;

	*out = routes_new(snapshot->generation, snapshot->num_switches, name);
	rc = route_engine_find(name)->compute(snapshot, NULL, pool, *out, why);
	if (rc) {
		routes_unref(*out);
		*out = NULL;
	}
	return rc;
}

static struct routes *compute(const struct snapshot *snapshot, const char *name)
{
	char why[ROUTE_WHY_SIZE] = "";
	struct routes *routes;

	if (try_engine(snapshot, name, NULL, &routes, why)) {
		CU_FAIL_FATAL("refused");
	}
	return routes;
}

static uint64_t changed_entries(const struct snapshot *snapshot, const struct routes *a,
				const struct routes *b)
{
	struct route_churn churn;

	route_churn(snapshot, a, b, NULL, &churn);
	return churn.entries;
}

/* No loop of either kind, every host reached from every other host, and the same result for any
 * number of workers. Returns how many pairs of switch and LID are not reached though links connect
 * them. */
static uint64_t check_hosts(const struct snapshot *snapshot, const char *name)
{
	struct routes *routes = compute(snapshot, name), *other;
	struct work_pool *pool = work_pool_new(loop, 3);
	struct route_report report;
	struct credit_report credit;
	struct quality_all all;
	char why[ROUTE_WHY_SIZE];

	route_check(snapshot, routes, NULL, NULL, &report);
	quality_all_to_all(snapshot, routes, NULL, &all);
	CU_ASSERT(all.unreached == 0 || report.disconnected > 0);
	CU_ASSERT_EQUAL(report.looping, 0);
	credit_check(snapshot, routes, NULL, &credit);
	CU_ASSERT_EQUAL(credit.loops, 0);
	CU_ASSERT_EQUAL(try_engine(snapshot, name, pool, &other, why), 0);
	CU_ASSERT_EQUAL(changed_entries(snapshot, routes, other), 0);
	routes_unref(other);
	work_pool_free(pool);
	routes_unref(routes);
	return report.unreached;
}

static void check_sound(const struct snapshot *snapshot, const char *name)
{
	CU_ASSERT_EQUAL(check_hosts(snapshot, name), 0);
}

static uint32_t worst_shift(const struct snapshot *snapshot, const char *name)
{
	struct routes *routes = compute(snapshot, name);
	struct quality_load shifts;

	quality_shifts(snapshot, routes, NULL, 0, &shifts);
	routes_unref(routes);
	return shifts.worst;
}

static void test_whole_trees(void)
{
	static const char *const specs[] = {
		"single:hosts=5",
		"fattree:radix=4,levels=2",
		"fattree:radix=24,levels=2",
		"fattree:radix=8,levels=3",
		"fattree:radix=12,levels=3",
		"fattree:radix=4,levels=4",
		"fattree:radix=12,levels=3,pods=5",
	};
	static const char *const names[] = {"ftree", "updn", "dnup"};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		for (size_t e = 0; e < ARRAY_SIZE(names); e++) {
			struct snapshot *snapshot = snapshot_from_spec(specs[i], 0);

			check_sound(snapshot, names[e]);
			CU_ASSERT(worst_shift(snapshot, names[e]) <= 1);
			snapshot_unref(snapshot);
		}
	}
}

/* Which middle switches of two pods belong together is in the cabling, not in the GUIDs. */
static void test_any_guids(void)
{
	struct snapshot *snapshot;
	struct net *net;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=12,levels=3", &net, &error), 0);
	for (unsigned n = 0; n < net->count; n++)
		net->nodes[n].guid = (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
	snapshot = snapshot_from_net(net, 0);
	check_sound(snapshot, "ftree");
	CU_ASSERT_EQUAL(worst_shift(snapshot, "ftree"), 1);
	snapshot_unref(snapshot);
	net_free(net);
}

/* Several cables between two switches each carry their part; with half the spines, twice as much.
 */
static void test_parallel_and_narrow(void)
{
	static const struct {
		unsigned leaves, hosts, spines, cables, shift;
	} rows[] = {{6, 18, 3, 6, 1}, {8, 8, 2, 4, 1}, {4, 8, 1, 8, 1}, {6, 12, 3, 2, 2}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net =
			net_tree2(rows[i].leaves, rows[i].hosts, rows[i].spines, rows[i].cables);
		struct snapshot *snapshot = snapshot_from_net(net, 0);

		check_sound(snapshot, "ftree");
		CU_ASSERT_EQUAL(worst_shift(snapshot, "ftree"), rows[i].shift);
		snapshot_unref(snapshot);
		net_free(net);
	}
}

/* Trees that were broken from the start. If a leaf has no path up and down to a switch, the path
 * leads over another leaf, still without credit loops. With many faults some switches may have no
 * such path, in one fabric of eight here. */
static void test_broken_trees(void)
{
	static const struct {
		const char *spec;
		unsigned seeds, shift, incomplete;
	} rows[] = {
		{"fattree:radix=12,levels=3,lose_links=1%", 20, 4, 0},
		{"fattree:radix=12,levels=3,lose_links=5%", 8, 8, 1},
		{"fattree:radix=12,levels=2,lose_links=5%", 8, 4, 0},
		{"fattree:radix=24,levels=3,lose_links=1%", 3, 5, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned incomplete = 0;

		for (unsigned seed = 1; seed <= rows[i].seeds; seed++) {
			char spec[128];
			struct snapshot *snapshot;
			uint32_t shift;

			snprintf(spec, sizeof(spec), "%s,seed=%u", rows[i].spec, seed);
			snapshot = snapshot_from_spec(spec, 0);
			incomplete += check_hosts(snapshot, "ftree") > 0;
			check_hosts(snapshot, "updn");
			shift = snapshot->num_ends < 1000 ? worst_shift(snapshot, "ftree") : 0;
			CU_ASSERT(shift <= rows[i].shift);
			if (shift > rows[i].shift)
				printf("\n%s: worst shift %u\n", spec, shift);
			snapshot_unref(snapshot);
		}
		CU_ASSERT(incomplete <= rows[i].incomplete);
	}
}

/* Any graph: updn and dnup route it, ftree reports that it is no tree. */
static void test_no_trees(void)
{
	static const char *const specs[] = {
		"ring:switches=9,hosts=3",
		"torus:dims=4x5,hosts=2",
		"hypercube:dim=4,hosts=1",
		"random:switches=30,degree=5,hosts=3,seed=3",
	};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct snapshot *snapshot = snapshot_from_spec(specs[i], 0);
		char why[ROUTE_WHY_SIZE] = "";
		struct routes *routes;

		check_sound(snapshot, "updn");
		CU_ASSERT_EQUAL(try_engine(snapshot, "ftree", NULL, &routes, why), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "no fat tree"));
		snapshot_unref(snapshot);
	}
}

/* If ftree refuses, the chain tries the next engine, and reports it. */
static void test_in_chain(void)
{
	static const char *const names[] = {"ftree", "updn", "minhop"};
	struct snapshot *snapshot = snapshot_from_spec("ring:switches=6,hosts=2", 0);
	struct route_result result;

	CU_ASSERT_EQUAL(route_run(snapshot, names, 3, NULL, NULL, &result), 0);
	CU_ASSERT_EQUAL(result.tried, 2);
	CU_ASSERT_STRING_EQUAL(result.routes->engine, "updn");
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[0].why, "no fat tree"));
	CU_ASSERT_EQUAL(result.credit.loops, 0);
	CU_ASSERT(result.credit.channels > 0);
	routes_unref(result.routes);
	snapshot_unref(snapshot);
}

/* The first port of a switch that leads to another switch. */
static uint8_t first_uplink(const struct snapshot *snapshot, uint32_t sw)
{
	for (unsigned p = 1; p <= snapshot->switches[sw].num_ports; p++)
		if (snap_link(snapshot, sw, (uint8_t)p)->sw >= 0)
			return (uint8_t)p;
	abort();
}

/* A link of a leaf, then a link of a middle switch: few entries change, also if detours lead over
 * this leaf. The snapshot after the repair, with nothing forgotten, has the earlier tables. */
static void test_slots_are_kept(void)
{
	static const char spec[] = "fattree:radix=12,levels=3";
	struct snapshot *whole = snapshot_from_spec(spec, 0);
	struct routes *before = compute(whole, "ftree");
	uint32_t count = whole->num_switches;

	for (uint32_t s = 0; s < count; s += 5) {
		struct snapshot *cut = snapshot_from_spec(spec, 0);
		struct routes *after;
		uint64_t changed;

		snapshot_cut(cut, s, first_uplink(cut, s));
		after = compute(cut, "ftree");
		changed = changed_entries(whole, before, after);
		CU_ASSERT(changed > 0);
		CU_ASSERT(changed < 700); /* of 110,160 */
		check_sound(cut, "ftree");
		routes_unref(after);
		snapshot_unref(cut);
	}
	routes_unref(before);
	snapshot_unref(whole);
}

/* A lost host changes nothing while its LIDs are kept, with any engine. */
static void test_kept_lids(void)
{
	static const char *const names[] = {"ftree", "updn", "dnup"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		struct snapshot *snapshot = snapshot_from_spec("fattree:radix=8,levels=3", 1);
		struct routes *before = compute(snapshot, names[i]), *after;

		for (uint32_t e = 0; e < snapshot->num_ends; e += 7)
			snapshot_lose_host(snapshot, e);
		snapshot_lose_host(snapshot, snapshot->num_ends - 1);
		after = compute(snapshot, names[i]);
		CU_ASSERT_EQUAL(routes_that_differ(snapshot, before, after), 0);
		routes_unref(after);
		routes_unref(before);
		snapshot_unref(snapshot);
	}
}

/* The neighbours of a lost spine remember it: paths over other spines stay. */
static void test_lost_spine(void)
{
	struct net *net = net_tree2(6, 6, 6, 1);
	struct snapshot *snapshot = snapshot_from_net(net, 0);
	struct routes *before = compute(snapshot, "ftree"), *after;
	uint32_t spine = 0;
	unsigned moved = 0;

	while (snapshot->switches[spine].hosts)
		spine++;
	for (unsigned p = 1; p <= snapshot->switches[spine].num_ports; p++)
		snapshot_cut(snapshot, spine, p);
	after = compute(snapshot, "ftree");
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		for (uint32_t e = 0; e < snapshot->num_ends && snapshot->switches[s].hosts; e++) {
			lid_t lid = snapshot->ends[e].lid;
			uint8_t port = lft_port(before->lft[s], lid);

			if (snap_cable(snapshot, s, port)->guid == snapshot->switches[spine].guid)
				moved++;
			else
				CU_ASSERT_EQUAL(lft_port(after->lft[s], lid), port);
		}
	}
	CU_ASSERT_EQUAL(moved, 6 * 5); /* from each leaf to one host of each other leaf */
	routes_unref(after);
	routes_unref(before);
	snapshot_unref(snapshot);
	net_free(net);
}

/* The LIDs of one leaf have one slot at a switch above it, and are consecutive. So the switches
 * below a lost spine write few blocks, and all other switches only the block with its LID. */
static void test_lost_core(void)
{
	static const char spec[] = "fattree:radix=24,levels=3"; /* 24 switches below each spine */
	struct snapshot *whole = snapshot_from_spec(spec, 0), *cut = snapshot_from_spec(spec, 0);
	struct routes *before = compute(whole, "ftree"), *after;
	struct route_churn churn;
	uint32_t spine = 0;

	while (snap_link(whole, spine, 1)->sw < 0 || snap_link(whole, spine, 24)->sw < 0 ||
	       whole->switches[snap_link(whole, spine, 1)->sw].hosts)
		spine++;
	for (unsigned p = 1; p <= 24; p++)
		snapshot_cut(cut, spine, p);
	cut->switches[spine].lid = LID_NONE;
	snapshot_index(cut);
	after = compute(cut, "ftree");
	lft_unref(after->lft[spine]);
	after->lft[spine] = lft_ref(before->lft[spine]);
	route_churn(whole, before, after, NULL, &churn);
	CU_ASSERT(churn.blocks > whole->num_switches);
	CU_ASSERT(churn.blocks < whole->num_switches + 24 * 40); /* of 66 that each has */
	routes_unref(after);
	routes_unref(before);
	snapshot_unref(cut);
	snapshot_unref(whole);
}

static struct route_options *with_roots(guid_t *roots, uint32_t count)
{
	struct route_options *options = route_options_new();

	options->roots.guid = mem_array(count, sizeof(guid_t));
	memcpy(options->roots.guid, roots, count * sizeof(guid_t));
	options->roots.count = count;
	return options;
}

/* A host on every spine, which levels from the leaves have to see through; and roots by file, of
 * which some are not there, or none is. */
static void test_roots(void)
{
	struct net *net = net_new();
	struct snapshot *snapshot;
	guid_t roots[7];
	char why[ROUTE_WHY_SIZE] = "";
	struct routes *routes, *found;

	for (unsigned s = 0; s < 12; s++)
		net_put(net, NODE_SWITCH, s < 6 ? "leaf" : "spine", s, 14);
	for (int s = 0; s < 6; s++) {
		net_put_hosts(net, s, 6);
		net_put_hosts(net, 6 + s, 1);
		for (int t = 6; t < 12; t++)
			net_cable(net, s, t);
		roots[s] = net_node_guid(net, (unsigned)(6 + s));
	}
	roots[6] = 0xABCDEF;
	snapshot = snapshot_from_net(net, 0);
	check_sound(snapshot, "ftree");
	found = compute(snapshot, "ftree");
	snapshot->options = with_roots(roots, 7);
	routes = compute(snapshot, "ftree");
	CU_ASSERT_EQUAL(changed_entries(snapshot, routes, found), 0);
	routes_unref(routes);
	routes_unref(found);
	check_sound(snapshot, "updn");
	route_options_unref(snapshot->options);
	snapshot->options = with_roots(roots + 6, 1);
	CU_ASSERT_EQUAL(try_engine(snapshot, "updn", NULL, &routes, why), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "0x0000000000abcdef"));
	CU_ASSERT_EQUAL(try_engine(snapshot, "ftree", NULL, &routes, why), -ENOENT);
	snapshot_unref(snapshot);
	net_free(net);
}

/* Compute nodes are spread evenly also when other hosts sit between them. */
static void test_compute_nodes(void)
{
	struct net *net = net_tree2(6, 12, 6, 1);
	struct snapshot *snapshot = snapshot_from_net(net, 0);
	struct route_options *options = route_options_new();
	unsigned uneven[2] = {0};

	options->compute.guid = mem_array(snapshot->num_ends, sizeof(guid_t));
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++)
			if (snap_link(snapshot, s, (uint8_t)p)->end >= 0 && p % 2)
				options->compute.guid[options->compute.count++] =
					snap_cable(snapshot, s, (uint8_t)p)->guid;
	for (int with = 0; with < 2; with++) {
		struct routes *routes;

		snapshot->options = with ? options : NULL;
		routes = compute(snapshot, "ftree");
		/* Of each leaf six compute nodes, from every other leaf over six ways. */
		for (uint32_t s = 0; s < snapshot->num_switches; s++) {
			unsigned by[PORT_MAX + 1] = {0};

			for (uint32_t i = 0;
			     snapshot->switches[s].hosts && i < options->compute.count; i++) {
				int32_t end = snapshot_find_end(snapshot, options->compute.guid[i]);

				if (snapshot->ends[end].sw != (int32_t)s)
					by[lft_port(routes->lft[s], snapshot->ends[end].lid)]++;
			}
			for (unsigned p = 0; p <= PORT_MAX; p++)
				uneven[with] +=
					by[p] != 0 && by[p] != options->compute.count / 6 - 1;
		}
		routes_unref(routes);
	}
	CU_ASSERT_EQUAL(options->compute.count, 6 * 6);
	CU_ASSERT(uneven[0] > 0);
	CU_ASSERT_EQUAL(uneven[1], 0);
	snapshot_unref(snapshot);
	net_free(net);
}

/* Cables that only one of their ends remembers, as where one was moved: no switch is a root of two
 * islands, and no packet runs or waits in a circle. */
static void test_remembered_by_one_end(void)
{
	uint64_t chance = 1;

	for (unsigned round = 0; round < 60; round++) {
		struct net *net = net_tree2(6, 2, 4, 1);
		struct snapshot *snapshot = snapshot_from_net(net, 0);
		struct cabling *cabling;
		uint32_t *roots, count;

		for (uint32_t s = 0; s < snapshot->num_switches; s++) {
			for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++) {
				chance = chance * 6364136223846793005 + 1442695040888963407;
				if (snap_link(snapshot, s, (uint8_t)p)->sw >= 0 && chance >> 62)
					snapshot_cut(snapshot, s, p);
				if (snap_link(snapshot, s, (uint8_t)p)->sw < 0 && chance >> 61 & 1)
					snapshot->cables[snapshot->switches[s].first_link + p]
						.kind = CABLE_NONE;
			}
		}
		cabling = cabling_new(snapshot);
		count = tree_find_roots(cabling, &roots);
		CU_ASSERT_FATAL(count <= cabling->count);
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t j = 0; j < i; j++)
				CU_ASSERT_NOT_EQUAL(roots[i], roots[j]);
		free(roots);
		cabling_free(cabling);
		check_hosts(snapshot, "ftree");
		check_hosts(snapshot, "updn");
		check_hosts(snapshot, "dnup");
		snapshot_unref(snapshot);
		net_free(net);
	}
}

/* Islands, a switch that is alone, hosts without a switch; and the LIDs of one port. */
static void test_odd(void)
{
	struct net *net = net_tree2(2, 2, 2, 1);
	int alone = net_put(net, NODE_SWITCH, "alone", 0, 4);
	struct snapshot *snapshot;

	net_put_hosts(net, alone, 1);
	net_cable(net, alone, alone);
	net_cable(net, net_put(net, NODE_CA, "pair", 0, 1), net_put(net, NODE_CA, "pair", 1, 1));
	snapshot = snapshot_from_net(net, 2);
	check_sound(snapshot, "ftree");
	check_sound(snapshot, "updn");
	check_sound(snapshot, "dnup");
	snapshot_unref(snapshot);
	net_free(net);
	snapshot = snapshot_from_spec("fattree:radix=8,levels=3", 2);
	check_sound(snapshot, "ftree");
	snapshot_unref(snapshot);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"whole trees", test_whole_trees},
		{"any GUIDs", test_any_guids},
		{"cables remembered by one end", test_remembered_by_one_end},
		{"parallel cables, few spines", test_parallel_and_narrow},
		{"broken trees", test_broken_trees},
		{"no tree", test_no_trees},
		{"in the chain", test_in_chain},
		{"slots are kept", test_slots_are_kept},
		{"LIDs that are kept", test_kept_lids},
		{"a lost spine", test_lost_spine},
		{"a lost spine above switches", test_lost_core},
		{"roots", test_roots},
		{"compute nodes", test_compute_nodes},
		{"islands and LIDs", test_odd},
		CU_TEST_INFO_NULL,
	};
	int status;

	loop = loop_new();
	status = unit_main("ftree", tests);
	loop_free(loop);
	return status;
}
