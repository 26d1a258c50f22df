/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker and the chain of engines. Good tables for a ring lead one way round. Then they are
 * spoiled, one entry at a time, with known counts of faults. The program has its own minhop in
 * place of the real engine.
 */
#include <errno.h>
#include <string.h>

#include "lib/loop.h"
#include "route/engine.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

enum { RING = 6, HOSTS = 2 };

static const char ring_spec[] = "ring:switches=6,hosts=2";

static struct loop *loop;

/* The port of a switch that leads to its neighbour at a distance along the ring. */
static uint8_t ring_port(const struct snapshot *ring, uint32_t s, uint32_t distance)
{
	for (uint8_t p = 1; p <= ring->switches[s].num_ports; p++)
		if (snap_link(ring, s, p)->sw == (int32_t)((s + distance) % RING))
			return p;
	abort();
}

static void fill_ring(const struct snapshot *ring, struct routes *routes)
{
	for (uint32_t s = 0; s < RING; s++) {
		routes->lft[s] = lft_new(ring->lid_top);
		memset(routes->lft[s]->port + 1, ring_port(ring, s, 1), ring->lid_top);
		routes->lft[s]->port[ring->switches[s].lid] = 0;
	}
	for (uint32_t e = 0; e < ring->num_ends; e++)
		if (ring->ends[e].sw >= 0)
			routes->lft[ring->ends[e].sw]->port[ring->ends[e].lid] =
				ring->ends[e].sw_port;
}

static struct routes *ring_routes(const struct snapshot *ring)
{
	struct routes *routes = routes_new(1, RING, "ring");

	fill_ring(ring, routes);
	return routes;
}

/* The first host of a switch. */
static lid_t host_lid(const struct snapshot *ring, uint32_t s)
{
	return ring->ends[snap_link(ring, s, 1)->end].lid;
}

static void test_good(void)
{
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	struct routes *routes = ring_routes(ring);
	struct route_report report;

	CU_ASSERT_EQUAL(ring->lid_top, RING * HOSTS + RING);
	route_check(ring, routes, NULL, NULL, &report);
	CU_ASSERT_EQUAL(report.pairs, RING * ring->lid_top);
	CU_ASSERT_EQUAL(report.unreached, 0);
	CU_ASSERT_EQUAL(report.looping, 0);
	CU_ASSERT_EQUAL(report.disconnected, 0);
	routes_unref(routes);
	snapshot_unref(ring);
}

/* Faults in the entry of switch 3 for a host of switch 5. Packets of all other switches pass switch
 * 3, except those of switch 4, which is nearer, and of 5 itself. */
static void test_spoiled(void)
{
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	lid_t lid = host_lid(ring, 5);
	const struct {
		const char *what;
		uint8_t port;
		unsigned unreached, looping;
	} rows[] = {
		{"missing", LFT_NO_PORT, 4, 0},
		{"beyond the switch's ports", 200, 4, 0},
		{"port 0 of a switch that is not meant", 0, 4, 0},
		{"a host that is not meant", 1, 4, 0},
		{"a port without a cable", 2, 4, 0},
		{"turned back: two switches", ring_port(ring, 3, RING - 1), 0, 4},
	};

	snapshot_cut(ring, 3, 2);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct routes *routes = ring_routes(ring);
		struct route_report report;

		routes->lft[3]->port[lid] = rows[i].port;
		route_check(ring, routes, NULL, NULL, &report);
		CU_ASSERT_EQUAL(report.unreached, rows[i].unreached);
		CU_ASSERT_EQUAL(report.looping, rows[i].looping);
		CU_ASSERT_EQUAL(report.disconnected, 0);
		if (rows[i].unreached) {
			CU_ASSERT_EQUAL(report.unreached_example.sw, 0);
			CU_ASSERT_EQUAL(report.unreached_example.lid, lid);
		} else {
			CU_ASSERT_EQUAL(report.looping_example.sw, 0);
			CU_ASSERT_EQUAL(report.looping_example.lid, lid);
		}
		routes_unref(routes);
	}
	snapshot_unref(ring);
}

/* A switch without a row loses all that comes through it. */
static void test_no_row(void)
{
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	struct routes *routes = ring_routes(ring);
	struct route_report report;

	lft_unref(routes->lft[0]);
	routes->lft[0] = NULL;
	route_check(ring, routes, NULL, NULL, &report);
	/* Of the (switch, destination) pairs on a ring of 6, those whose path passes or ends at 0.
	 * For a destination d other than 0 these are all from d + 1 to 6, for 0 itself all 6. */
	CU_ASSERT_EQUAL(report.unreached, (5 + 4 + 3 + 2 + 1 + 6) * (HOSTS + 1));
	CU_ASSERT_EQUAL(report.looping, 0);
	CU_ASSERT_EQUAL(report.unreached_example.sw, 0);
	CU_ASSERT_EQUAL(report.unreached_example.lid, 1);
	routes_unref(routes);
	snapshot_unref(ring);
}

/* Cut twice, a ring is two islands. Unreachable destinations are counted apart from missed
 * destinations. A loop is a fault even if the destination is unreachable. */
static void test_islands(void)
{
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	struct routes *routes;
	struct route_report report;

	snapshot_cut(ring, 1, ring_port(ring, 1, 1));
	snapshot_cut(ring, 4, ring_port(ring, 4, 1)); /* 2 3 4 and 5 0 1 */
	routes = routes_new(1, RING, "none");
	route_check(ring, routes, NULL, NULL, &report);
	CU_ASSERT_EQUAL(report.pairs, RING * ring->lid_top);
	CU_ASSERT_EQUAL(report.disconnected, report.pairs / 2);
	CU_ASSERT_EQUAL(report.unreached, report.pairs / 2);

	routes->lft[2] = lft_new(ring->lid_top);
	routes->lft[3] = lft_new(ring->lid_top);
	routes->lft[2]->port[host_lid(ring, 5)] = ring_port(ring, 2, 1);
	routes->lft[3]->port[host_lid(ring, 5)] = ring_port(ring, 3, RING - 1);
	route_check(ring, routes, NULL, NULL, &report);
	CU_ASSERT_EQUAL(report.looping, 2);
	CU_ASSERT_EQUAL(report.looping_example.sw, 2);
	CU_ASSERT_EQUAL(report.looping_example.lid, host_lid(ring, 5));
	CU_ASSERT_EQUAL(report.disconnected, report.pairs / 2 - 2);
	routes_unref(routes);
	snapshot_unref(ring);
}

/* Many faults: figures and examples are the same for any number of workers. */
static void test_workers(void)
{
	struct snapshot *ring = snapshot_from_spec(ring_spec, 2);
	struct routes *routes = ring_routes(ring);
	struct route_report alone, report;

	for (unsigned lid = 1; lid <= ring->lid_top; lid++) {
		if (snap_owner(ring, (lid_t)lid).end >= 0 && lid % 3 == 0)
			routes->lft[lid % RING]->port[lid] = LFT_NO_PORT;
		if (lid % 7 == 0)
			routes->lft[2]->port[lid] = ring_port(ring, 2, RING - 1);
	}
	route_check(ring, routes, NULL, NULL, &alone);
	CU_ASSERT(alone.unreached > 0);
	CU_ASSERT(alone.looping > 0);
	for (unsigned workers = 1; workers <= 3; workers++) {
		struct work_pool *pool = work_pool_new(loop, workers);

		route_check(ring, routes, NULL, pool, &report);
		CU_ASSERT_EQUAL(memcmp(&report, &alone, sizeof(report)), 0);
		work_pool_free(pool);
	}
	routes_unref(routes);
	snapshot_unref(ring);
}

/* A report with the earlier results equals a full report. Returns how many pairs are missed. */
static uint64_t missed_beside(const struct route_judged *before, const struct snapshot *ring,
			      const struct routes *routes)
{
	struct route_report whole, beside;

	route_check(ring, routes, NULL, NULL, &whole);
	route_check(ring, routes, before, NULL, &beside);
	CU_ASSERT_EQUAL(beside.pairs, whole.pairs);
	CU_ASSERT_EQUAL(beside.unreached, whole.unreached);
	CU_ASSERT_EQUAL(beside.looping, whole.looping);
	CU_ASSERT_EQUAL(beside.disconnected, whole.disconnected);
	CU_ASSERT_EQUAL(beside.unreached_example.lid, whole.unreached_example.lid);
	CU_ASSERT_EQUAL(beside.unreached_example.sw, whole.unreached_example.sw);
	CU_ASSERT_EQUAL(beside.looping_example.lid, whole.looping_example.lid);
	CU_ASSERT_EQUAL(beside.looping_example.sw, whole.looping_example.sw);
	return beside.unreached + beside.looping + beside.disconnected;
}

/* Every entry spoiled in every way, from good tables and from these back to good ones. */
static void each_entry_beside(const struct route_judged *good, const struct snapshot *ring)
{
	struct routes *routes = ring_routes(ring);
	uint64_t missed, spoils = 0;

	for (uint32_t s = 0; s < RING; s++) {
		for (uint32_t lid = 1; lid <= ring->lid_top; lid++) {
			uint8_t *entry = &routes->lft[s]->port[lid], was = *entry;

			for (unsigned port = 0; port <= ring->switches[s].num_ports + 1u; port++) {
				struct route_judged spoiled = {good->snapshot, routes, {0}};

				*entry = (uint8_t)port;
				missed = missed_beside(good, ring, routes);
				CU_ASSERT(missed == 0 || port != was);
				spoils += missed > 0;
				route_check(ring, routes, NULL, NULL, &spoiled.report);
				CU_ASSERT_EQUAL(missed_beside(&spoiled, ring, routes), missed);
				missed_beside(&spoiled, ring, good->routes);
			}
			*entry = was;
		}
	}
	CU_ASSERT(spoils > 100);
	routes_unref(routes);
}

/* The same tables on another fabric: each link is cut, each host lost, each two hosts change
 * places. */
static void each_fabric_beside(const struct route_judged *good)
{
	for (uint32_t s = 0; s < RING; s++) {
		for (uint8_t p = 1; p <= good->snapshot->switches[s].num_ports; p++) {
			struct snapshot *cut = snapshot_from_spec(ring_spec, 0);
			bool used = snap_link(cut, s, p)->sw >= 0;

			snapshot_cut(cut, s, p);
			CU_ASSERT_EQUAL(missed_beside(good, cut, good->routes) > 0, used);
			snapshot_unref(cut);
		}
	}
	for (uint32_t e = 0; e < good->snapshot->num_ends; e++) {
		struct snapshot *fewer = snapshot_from_spec(ring_spec, 0);

		snapshot_lose_host(fewer, e);
		missed_beside(good, fewer, good->routes);
		snapshot_unref(fewer);
	}
	for (uint32_t e = 1; e < good->snapshot->num_ends; e++) {
		struct snapshot *swapped = snapshot_from_spec(ring_spec, 0);
		struct snap_end *a = &swapped->ends[e - 1], *b = &swapped->ends[e];
		lid_t lid = a->lid;

		a->lid = b->lid;
		b->lid = lid;
		swapped->owners[a->lid].end = (int32_t)e - 1;
		swapped->owners[b->lid].end = (int32_t)e;
		CU_ASSERT(missed_beside(good, swapped, good->routes) > 0);
		snapshot_unref(swapped);
	}
}

static void test_beside(void)
{
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0), *other;
	struct route_judged good = {ring, ring_routes(ring), {0}};

	route_check(ring, good.routes, NULL, NULL, &good.report);
	CU_ASSERT_EQUAL(missed_beside(&good, ring, good.routes), 0);
	each_entry_beside(&good, ring);
	each_fabric_beside(&good);
	/* Rows of other switches, or of none, prove nothing. */
	other = snapshot_from_spec("ring:switches=7,hosts=2", 0);
	good.snapshot = other;
	missed_beside(&good, ring, good.routes);
	snapshot_unref(other);
	routes_unref(good.routes);
	snapshot_unref(ring);
}

/* The result of the engine in each attempt of a chain. */
enum deed { REFUSE, LOOP, MISS_ONE, MISS_TWO, DO_WELL };

static const enum deed *deeds;

int minhop_compute(const struct snapshot *ring, const struct route_judged *before,
		   struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE])
{
	enum deed deed = *deeds++;

	(void)before;
	(void)pool;
	fill_ring(ring, routes);
	if (deed == REFUSE) {
		snprintf(why, ROUTE_WHY_SIZE, "not today");
		return -EINVAL;
	}
	if (deed == LOOP)
		routes->lft[3]->port[host_lid(ring, 5)] = ring_port(ring, 3, RING - 1);
	if (deed == MISS_ONE || deed == MISS_TWO)
		routes->lft[5]->port[host_lid(ring, 0)] = LFT_NO_PORT;
	if (deed == MISS_TWO)
		routes->lft[5]->port[host_lid(ring, 1)] = LFT_NO_PORT;
	return 0;
}

static void test_chain(void)
{
	static const char *const names[] = {"minhop", "minhop", "minhop"};
	static const struct {
		enum deed deeds[3];
		int rc;
		unsigned tried;
		bool routes;
		uint64_t unreached;
	} rows[] = {
		{{DO_WELL}, 0, 1, true, 0},
		{{REFUSE, DO_WELL}, 0, 2, true, 0},
		{{LOOP, REFUSE, DO_WELL}, 0, 3, true, 0},
		{{MISS_ONE, LOOP, DO_WELL}, 0, 3, true, 0},
		{{REFUSE, REFUSE, REFUSE}, -ENOENT, 3, false, 0},
		{{LOOP, LOOP, LOOP}, -ENOENT, 3, false, 0},
		{{MISS_TWO, MISS_ONE, LOOP}, -ENOENT, 3, true, 5},
		{{MISS_ONE, MISS_TWO, REFUSE}, -ENOENT, 3, true, 5},
		{{REFUSE, MISS_TWO, REFUSE}, -ENOENT, 3, true, 9},
	};
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);

	ring->generation = 77;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct route_result result;

		deeds = rows[i].deeds;
		CU_ASSERT_EQUAL(route_run(ring, names, 3, NULL, NULL, &result), rows[i].rc);
		CU_ASSERT_EQUAL(result.tried, rows[i].tried);
		CU_ASSERT_EQUAL(result.routes != NULL, rows[i].routes);
		CU_ASSERT_EQUAL(result.report.unreached, rows[i].unreached);
		CU_ASSERT_EQUAL(result.report.looping, 0);
		if (result.routes)
			CU_ASSERT_EQUAL(result.routes->generation, 77);
		for (unsigned a = 0; a < result.tried; a++)
			CU_ASSERT_EQUAL(result.attempt[a].why[0] == '\0',
					rows[i].deeds[a] == DO_WELL);
		routes_unref(result.routes);
	}
	snapshot_unref(ring);
}

static void test_chain_says_why(void)
{
	char first[] = "maxhop";
	const char *const names[] = {first, "minhop", "minhop", "minhop"};
	static const enum deed faults[] = {REFUSE, LOOP, MISS_ONE};
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	struct route_result result;
	char guid[32];

	deeds = faults;
	CU_ASSERT_EQUAL(route_run(ring, names, 4, NULL, NULL, &result), -ENOENT);
	CU_ASSERT_EQUAL(result.tried, 4);
	first[0] = '\0'; /* the result outlives the names of the chain */
	CU_ASSERT_STRING_EQUAL(result.attempt[0].engine, "maxhop");
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[0].why, "no routing engine"));
	CU_ASSERT_STRING_EQUAL(result.attempt[1].engine, "minhop");
	CU_ASSERT_STRING_EQUAL(result.attempt[1].why, "not today");
	snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)ring->switches[0].guid);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[2].why, "4 loop"));
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[2].why, guid));
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[3].why, "5 do not arrive"));
	routes_unref(result.routes);
	snapshot_unref(ring);
}

static void test_chain_bounds(void)
{
	const char *names[ROUTE_CHAIN_MAX + 1];
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	struct route_result result;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = "maxhop";
	CU_ASSERT_EQUAL(route_run(ring, names, ROUTE_CHAIN_MAX + 1, NULL, NULL, &result), -EINVAL);
	CU_ASSERT_EQUAL(route_run(ring, names, ROUTE_CHAIN_MAX, NULL, NULL, &result), -ENOENT);
	CU_ASSERT_EQUAL(result.tried, ROUTE_CHAIN_MAX);
	CU_ASSERT_EQUAL(route_run(ring, names, 0, NULL, NULL, &result), -ENOENT);
	CU_ASSERT_EQUAL(result.tried, 0);
	CU_ASSERT_PTR_NULL(result.routes);
	snapshot_unref(ring);
}

/* No engine runs if a switch cannot hold the tables. */
static void test_table_too_small(void)
{
	static const char *const names[] = {"minhop"};
	static const enum deed well[] = {DO_WELL, DO_WELL};
	struct snapshot *ring = snapshot_from_spec(ring_spec, 0);
	struct route_result result;
	char figure[32];

	deeds = well;
	ring->switches[4].lft_cap = ring->lid_top; /* entries 0 .. lid_top - 1 */
	CU_ASSERT_EQUAL(route_run(ring, names, 1, NULL, NULL, &result), -ENOENT);
	CU_ASSERT_PTR_NULL(result.routes);
	CU_ASSERT_PTR_EQUAL(deeds, well);
	snprintf(figure, sizeof(figure), "0x%016lx", (unsigned long)ring->switches[4].guid);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[0].why, figure));
	snprintf(figure, sizeof(figure), "%u entries", ring->lid_top);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[0].why, figure));

	ring->switches[4].lft_cap = ring->lid_top + 1;
	CU_ASSERT_EQUAL(route_run(ring, names, 1, NULL, NULL, &result), 0);
	routes_unref(result.routes);
	snapshot_unref(ring);
}

/* If 2^LMC LIDs for each port are too many, the sum is reported before any engine runs. */
static void test_lids_do_not_suffice(void)
{
	static const char *const names[] = {"minhop"};
	static const enum deed well[] = {DO_WELL};
	struct snapshot *many = snapshot_from_spec("fattree:radix=24,levels=3,pods=20", 3);
	struct route_result result;

	deeds = well;
	CU_ASSERT_EQUAL(many->num_ends, 2880);
	for (uint32_t e = 0; e < many->num_ends; e++)
		many->ends[e].lmc = 5;
	many->ends[7].lid = LID_NONE;
	many->ends[7].lmc = 0;
	snapshot_index(many);
	CU_ASSERT_EQUAL(route_run(many, names, 1, NULL, NULL, &result), -ENOENT);
	CU_ASSERT_PTR_NULL(result.routes);
	CU_ASSERT_PTR_EQUAL(deeds, well);
	/* 20 pods of 24 switches and 144 above them. */
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[0].why, "2880 ports with LMC 5"));
	CU_ASSERT_PTR_NOT_NULL(strstr(result.attempt[0].why, "624 switches need 92784 LIDs"));
	snapshot_unref(many);
}

static void test_find(void)
{
	CU_ASSERT_STRING_EQUAL(route_engine_find("minhop")->name, "minhop");
	CU_ASSERT_PTR_NULL(route_engine_find("maxhop"));
	CU_ASSERT_PTR_NULL(route_engine_find(""));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"good tables", test_good},
		{"spoiled tables", test_spoiled},
		{"a switch without a row", test_no_row},
		{"islands", test_islands},
		{"any number of workers", test_workers},
		{"beside what was judged", test_beside},
		{"the chain goes on", test_chain},
		{"the chain says why", test_chain_says_why},
		{"the chain's bounds", test_chain_bounds},
		{"a table that is too small", test_table_too_small},
		{"more LIDs than there are", test_lids_do_not_suffice},
		{"engines by name", test_find},
		CU_TEST_INFO_NULL,
	};
	int status;

	loop = loop_new();
	status = unit_main("check", tests);
	loop_free(loop);
	return status;
}
