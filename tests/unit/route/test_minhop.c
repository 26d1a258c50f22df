/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine minhop on many topologies. All destinations are reached by shortest paths; distances
 * are computed here in another way. Links are evenly loaded where the topology allows it. Any
 * number of workers gives the same result, and paths stay when a distant link breaks.
 */
#include <string.h>

#include "lib/loop.h"
#include "route/engine.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

enum { FAR = UINT16_MAX };

static struct loop *loop;

static struct routes *compute(const struct snapshot *snapshot, struct work_pool *pool)
{
	struct routes *routes = routes_new(snapshot->generation, snapshot->num_switches, "minhop");
	char why[ROUTE_WHY_SIZE] = "";

	CU_ASSERT_EQUAL(minhop_compute(snapshot, NULL, pool, routes, why), 0);
	return routes;
}

/* Distances from all switches to one, by relaxing all links until nothing changes. */
static void relax(const struct snapshot *snapshot, uint32_t to, uint16_t *distance)
{
	bool changed = true;

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		distance[s] = s == to ? 0 : FAR;
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < snapshot->num_switches; s++) {
			for (uint8_t p = 1; p <= snapshot->switches[s].num_ports; p++) {
				int32_t peer = snap_link(snapshot, s, p)->sw;

				if (peer < 0 || distance[peer] == FAR ||
				    distance[s] <= distance[peer] + 1)
					continue;
				distance[s] = distance[peer] + 1;
				changed = true;
			}
		}
	}
}

/* Every entry of every row: a port one hop closer, the owner's port, or none. Returns how many are
 * wrong. */
static unsigned wrong_entries(const struct snapshot *snapshot, const struct routes *routes)
{
	uint16_t *distance = mem_array(snapshot->num_switches, sizeof(*distance));
	int32_t relaxed = -1;
	unsigned wrong = 0;

	for (unsigned lid = 0; lid <= snapshot->lid_top; lid++) {
		struct snap_owner owner = snap_owner(snapshot, (lid_t)lid);
		int32_t home = snap_owner_switch(snapshot, owner);

		if (home >= 0 && home != relaxed)
			relax(snapshot, (uint32_t)(relaxed = home), distance);
		for (uint32_t s = 0; s < snapshot->num_switches; s++) {
			uint8_t port = lft_port(routes->lft[s], (lid_t)lid);

			if (home < 0 || distance[s] == FAR)
				wrong += port != LFT_NO_PORT;
			else if (home == (int32_t)s)
				wrong += port !=
					 (owner.end < 0 ? 0 : snapshot->ends[owner.end].sw_port);
			else
				wrong += port < 1 || port > snapshot->switches[s].num_ports ||
					 snap_link(snapshot, s, port)->sw < 0 ||
					 distance[snap_link(snapshot, s, port)->sw] + 1 !=
						 distance[s];
		}
	}
	free(distance);
	return wrong;
}

static unsigned different_entries(const struct snapshot *snapshot, const struct routes *a,
				  const struct routes *b)
{
	unsigned different = 0;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		CU_ASSERT_EQUAL(a->lft[s]->top, b->lft[s]->top);
		for (unsigned lid = 0; lid <= snapshot->lid_top; lid++)
			different +=
				lft_port(a->lft[s], (lid_t)lid) != lft_port(b->lft[s], (lid_t)lid);
	}
	return different;
}

static void check_workers(const struct snapshot *snapshot, const struct routes *routes)
{
	for (unsigned workers = 1; workers <= 3; workers++) {
		struct work_pool *pool = work_pool_new(loop, workers);
		struct routes *other = compute(snapshot, pool);

		CU_ASSERT_EQUAL(different_entries(snapshot, routes, other), 0);
		routes_unref(other);
		work_pool_free(pool);
	}
}

static void check_tables(const struct snapshot *snapshot, uint64_t disconnected)
{
	struct routes *routes = compute(snapshot, NULL);
	struct route_report report;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		CU_ASSERT_EQUAL(routes->lft[s]->refs, 1);
		CU_ASSERT_EQUAL(routes->lft[s]->top, snapshot->lid_top);
	}
	CU_ASSERT_EQUAL(wrong_entries(snapshot, routes), 0);
	route_check(snapshot, routes, NULL, NULL, &report);
	CU_ASSERT_EQUAL(report.unreached, 0);
	CU_ASSERT_EQUAL(report.looping, 0);
	CU_ASSERT_EQUAL(report.disconnected, disconnected);
	check_workers(snapshot, routes);
	routes_unref(routes);
}

static void test_topologies(void)
{
	static const char *const specs[] = {
		"single:hosts=5",
		"ring:switches=2,hosts=1",
		"ring:switches=9,hosts=3",
		"torus:dims=4x5,hosts=2",
		"hypercube:dim=4,hosts=1",
		"dragonfly:a=4,h=2,p=2",
		"random:switches=30,degree=5,hosts=3,seed=3",
		"fattree:radix=12,levels=2",
		"fattree:radix=8,levels=3",
		"fattree:radix=4,levels=4",
		"fattree:radix=8,levels=3,lose_links=20%,seed=5",
		"fattree:radix=24,levels=3",
	};
	static const uint8_t lmcs[] = {0, 2};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		for (size_t l = 0; l < ARRAY_SIZE(lmcs); l++) {
			struct snapshot *snapshot = snapshot_from_spec(specs[i], lmcs[l]);

			check_tables(snapshot, 0);
			snapshot_unref(snapshot);
		}
	}
}

/* Two hosts and their cable: nothing to route. */
static void test_no_switch(void)
{
	struct net *net = net_new();
	struct snapshot *snapshot;

	net_cable(net, net_put(net, NODE_CA, "host", 0, 1), net_put(net, NODE_CA, "host", 1, 1));
	snapshot = snapshot_from_net(net, 0);
	CU_ASSERT_EQUAL(snapshot->num_switches, 0);
	CU_ASSERT_EQUAL(snapshot->ends[0].peer, 1);
	CU_ASSERT_EQUAL(snapshot->lid_top, 2);
	check_tables(snapshot, 0);
	snapshot_unref(snapshot);
	net_free(net);
}

/* Two islands and a pair of hosts beside them; a switch without a LID; one cabled to itself. */
static void test_odd(void)
{
	struct net *net = net_tree2(2, 2, 1, 1);
	int alone = net_put(net, NODE_SWITCH, "alone", 0, 4);
	struct snapshot *snapshot;
	int32_t without;

	net_put_hosts(net, alone, 1);
	net_cable(net, alone, alone);
	net_cable(net, net_put(net, NODE_CA, "pair", 0, 1), net_put(net, NODE_CA, "pair", 1, 1));
	snapshot = snapshot_from_net(net, 0);
	CU_ASSERT_EQUAL(snapshot->num_switches, 4);
	CU_ASSERT_EQUAL(snapshot->num_ends, 7);
	/* 3 switches cannot reach 2 LIDs, 1 cannot reach 7, and none can reach the pair. */
	check_tables(snapshot, 3 * 2 + 7 + 4 * 2);

	without = snapshot_find_switch(snapshot, net_node_guid(net, 0));
	snapshot->switches[without].lid = LID_NONE;
	snapshot_index(snapshot);
	check_tables(snapshot, 3 * 2 + 6 + 4 * 2);
	snapshot_unref(snapshot);
	net_free(net);
}

/* Paths from the hosts of every switch to the first LID of every host, by link. */
static uint64_t *count_flows(const struct snapshot *snapshot, const struct routes *routes)
{
	uint64_t *flows = mem_array(snapshot->num_links, sizeof(*flows));

	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		for (uint32_t from = 0; from < snapshot->num_switches; from++) {
			int32_t s = snapshot->switches[from].hosts ? (int32_t)from : -1;

			while (s >= 0) {
				const struct snap_switch *sw = &snapshot->switches[s];
				uint8_t port = lft_port(routes->lft[s], snapshot->ends[e].lid);

				flows[sw->first_link + port] += snapshot->switches[from].hosts;
				s = snap_link(snapshot, (uint32_t)s, port)->sw;
			}
		}
	}
	return flows;
}

/* The load of the fullest link between switches, in percent of the mean. */
static unsigned worst_load(const struct snapshot *snapshot)
{
	struct routes *routes = compute(snapshot, NULL);
	uint64_t *flows = count_flows(snapshot, routes);
	uint64_t most = 0, sum = 0, links = 0;

	for (uint32_t l = 0; l < snapshot->num_links; l++) {
		if (snapshot->links[l].sw < 0)
			continue;
		links++;
		sum += flows[l];
		most = flows[l] > most ? flows[l] : most;
	}
	free(flows);
	routes_unref(routes);
	return sum ? (unsigned)(most * 100 * links / sum) : 0;
}

/* In complete trees all links of a level and direction carry the same. Values above 100 there come
 * from different levels. */
static void test_balance(void)
{
	static const struct {
		const char *spec;
		uint8_t lmc;
		unsigned percent;
	} rows[] = {
		{"fattree:radix=36,levels=2", 0, 100},
		{"fattree:radix=36,levels=2", 2, 100},
		{"fattree:radix=36,levels=2,oversubscription=2", 0, 100},
		{"fattree:radix=24,levels=3", 0, 101},
		{"fattree:radix=24,levels=3", 2, 101},
		{"fattree:radix=24,levels=3,pods=5", 0, 110},
		{"fattree:radix=8,levels=4", 0, 104},
		{"fattree:radix=24,levels=3,lose_links=1%", 0, 210},
		{"ring:switches=9,hosts=2", 0, 100},
		{"torus:dims=5x5,hosts=2", 0, 110},
		{"random:switches=40,degree=6,hosts=6,seed=1", 0, 180},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct snapshot *snapshot = snapshot_from_spec(rows[i].spec, rows[i].lmc);
		unsigned percent = worst_load(snapshot);

		CU_ASSERT(percent <= rows[i].percent);
		if (percent > rows[i].percent)
			printf("\n%s: %u%% of the mean\n", rows[i].spec, percent);
		snapshot_unref(snapshot);
	}
}

/* Places come from the topology: it does not matter in which order GUIDs are. */
static void test_any_guids(void)
{
	struct snapshot *snapshot;
	struct net *net;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=12,levels=3", &net, &error), 0);
	for (unsigned n = 0; n < net->count; n++)
		net->nodes[n].guid = (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
	snapshot = snapshot_from_net(net, 0);
	CU_ASSERT(worst_load(snapshot) <= 104);
	snapshot_unref(snapshot);
	net_free(net);
}

/* Two leaves with eight hosts each, and between them three stages of four switches, each cabled to
 * all of the next: more ways than an index has digits for. */
static void test_deep_core(void)
{
	enum { WIDTH = 4, STAGES = 3 };
	struct net *net = net_new();
	struct snapshot *snapshot;
	int leaf[2];

	for (unsigned s = 0; s < STAGES * WIDTH; s++)
		net_put(net, NODE_SWITCH, "core", s, 2 * WIDTH);
	for (int s = 0; s < (STAGES - 1) * WIDTH; s++)
		for (int t = 0; t < WIDTH; t++)
			net_cable(net, s, (s / WIDTH + 1) * WIDTH + t);
	for (int l = 0; l < 2; l++) {
		leaf[l] = net_put(net, NODE_SWITCH, "leaf", (unsigned)l, 2 * WIDTH + WIDTH);
		for (int t = 0; t < WIDTH; t++)
			net_cable(net, leaf[l], l * (STAGES - 1) * WIDTH + t);
		net_put_hosts(net, leaf[l], 2 * WIDTH);
	}
	snapshot = snapshot_from_net(net, 0);
	check_tables(snapshot, 0);
	/* The fullest links are those of the leaves: 16 flows, where the mean is 6.4. */
	CU_ASSERT_EQUAL(worst_load(snapshot), 250);
	snapshot_unref(snapshot);
	net_free(net);
}

/* With several cables between two switches each carries its part. */
static void test_parallel_links(void)
{
	static const struct {
		unsigned leaves, hosts, spines, cables, percent;
	} rows[] = {
		{18, 18, 9, 2, 100}, {6, 18, 3, 6, 100},  {10, 24, 6, 2, 100},
		{4, 8, 1, 4, 100},   {10, 10, 6, 3, 180}, /* 10 hosts, 18 links down: one host each
							     is the best */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net =
			net_tree2(rows[i].leaves, rows[i].hosts, rows[i].spines, rows[i].cables);
		struct snapshot *snapshot = snapshot_from_net(net, 0);

		check_tables(snapshot, 0);
		CU_ASSERT(worst_load(snapshot) <= rows[i].percent);
		snapshot_unref(snapshot);
		net_free(net);
	}
}

/* The four LIDs of a port leave every switch that has four ways by different ports. */
static void test_lmc_spread(void)
{
	struct snapshot *snapshot = snapshot_from_spec("fattree:radix=8,levels=3", 2);
	struct routes *routes = compute(snapshot, NULL);
	unsigned spread = 0;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		for (uint32_t e = 0; e < snapshot->num_ends; e++) {
			const uint8_t *port = routes->lft[s]->port + snapshot->ends[e].lid;

			if (port[0] == port[1]) { /* the only way there is */
				CU_ASSERT(port[0] == port[2] && port[0] == port[3]);
				continue;
			}
			CU_ASSERT(port[0] != port[2] && port[0] != port[3]);
			CU_ASSERT(port[1] != port[2] && port[1] != port[3] && port[2] != port[3]);
			spread++;
		}
	}
	CU_ASSERT(spread > snapshot->num_switches * snapshot->num_ends / 2);
	routes_unref(routes);
	snapshot_unref(snapshot);
}

/* A host that goes changes its own entries and no others. */
static void test_lost_host(void)
{
	struct snapshot *snapshot = snapshot_from_spec("fattree:radix=8,levels=3", 0);
	struct routes *before = compute(snapshot, NULL), *after;
	uint32_t leaf = (uint32_t)snapshot->ends[0].sw;
	lid_t lid = snapshot->ends[0].lid;

	snapshot_cut(snapshot, leaf, snapshot->ends[0].sw_port);
	after = compute(snapshot, NULL);
	CU_ASSERT_EQUAL(different_entries(snapshot, before, after), snapshot->num_switches);
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		CU_ASSERT_EQUAL(lft_port(after->lft[s], lid), LFT_NO_PORT);
	routes_unref(after);
	routes_unref(before);
	snapshot_unref(snapshot);
}

/* Nor its own while its LIDs are kept, the highest of all included. */
static void test_kept_lids(void)
{
	struct snapshot *snapshot = snapshot_from_spec("fattree:radix=8,levels=3", 1);
	struct routes *before = compute(snapshot, NULL), *after;

	for (uint32_t e = 0; e < snapshot->num_ends; e += 7)
		snapshot_lose_host(snapshot, e);
	snapshot_lose_host(snapshot, snapshot->num_ends - 1);
	after = compute(snapshot, NULL);
	CU_ASSERT_EQUAL(routes_that_differ(snapshot, before, after), 0);
	routes_unref(after);
	routes_unref(before);
	snapshot_unref(snapshot);
}

/* The candidate ports of every switch towards one, as a bit for each; ports up to 63. */
static void candidate_ports(const struct snapshot *snapshot, uint32_t to, uint64_t *ports)
{
	uint16_t *distance = mem_array(snapshot->num_switches, sizeof(*distance));

	relax(snapshot, to, distance);
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		ports[s] = 0;
		for (uint8_t p = 1; p <= snapshot->switches[s].num_ports; p++) {
			int32_t peer = snap_link(snapshot, s, p)->sw;

			if (peer >= 0 && distance[peer] < distance[s])
				ports[s] |= UINT64_C(1) << p;
		}
	}
	free(distance);
}

/* A cable between switches that goes changes entries only where the candidate ports change. */
static void test_lost_cable(void)
{
	struct snapshot *whole = snapshot_from_spec("fattree:radix=8,levels=3", 0);
	struct snapshot *cut = snapshot_from_spec("fattree:radix=8,levels=3", 0);
	uint32_t num = whole->num_switches;
	uint64_t *ports[2] = {mem_array(num, sizeof(uint64_t)), mem_array(num, sizeof(uint64_t))};
	unsigned changed = 0, needless = 0;
	struct routes *before, *after;

	snapshot_cut(cut, (uint32_t)cut->ends[0].sw, cut->switches[0].num_ports);
	before = compute(whole, NULL);
	after = compute(cut, NULL);
	for (unsigned lid = 1; lid <= whole->lid_top; lid++) {
		int32_t home = snap_owner_switch(whole, snap_owner(whole, (lid_t)lid));

		candidate_ports(whole, (uint32_t)home, ports[0]);
		candidate_ports(cut, (uint32_t)home, ports[1]);
		for (uint32_t s = 0; s < num; s++) {
			if (before->lft[s]->port[lid] == after->lft[s]->port[lid])
				continue;
			changed++;
			needless += ports[0][s] == ports[1][s];
		}
	}
	CU_ASSERT(changed > 0);
	CU_ASSERT_EQUAL(needless, 0);
	routes_unref(after);
	routes_unref(before);
	free(ports[1]);
	free(ports[0]);
	snapshot_unref(cut);
	snapshot_unref(whole);
}

static void test_in_chain(void)
{
	static const char *const names[] = {"none", "minhop"};
	struct snapshot *snapshot = snapshot_from_spec("fattree:radix=8,levels=2", 0);
	struct route_result result;

	snapshot->generation = 5;
	CU_ASSERT_EQUAL(route_run(snapshot, names, 2, NULL, NULL, &result), 0);
	CU_ASSERT_EQUAL(result.tried, 2);
	CU_ASSERT_STRING_EQUAL(result.routes->engine, "minhop");
	CU_ASSERT_EQUAL(result.routes->generation, 5);
	CU_ASSERT_EQUAL(result.report.pairs, snapshot->num_switches * snapshot->lid_top);
	routes_unref(result.routes);
	snapshot_unref(snapshot);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"topologies", test_topologies},
		{"no switch", test_no_switch},
		{"islands and oddities", test_odd},
		{"balance", test_balance},
		{"any GUIDs", test_any_guids},
		{"a deep core", test_deep_core},
		{"parallel links", test_parallel_links},
		{"the LIDs of one port", test_lmc_spread},
		{"a lost host", test_lost_host},
		{"a lost cable", test_lost_cable},
		{"LIDs that are kept", test_kept_lids},
		{"in the chain", test_in_chain},
		CU_TEST_INFO_NULL,
	};
	int status;

	loop = loop_new();
	status = unit_main("minhop", tests);
	loop_free(loop);
	return status;
}
