/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rule of paths, with values computed by hand on the fabric of two_switches.h; end ports and
 * the partition rule below it.
 */
#include "sa/path.h"

#include <errno.h>

#include "tests/unit/fixtures/two_switches.h"
#include "tests/unit/fixtures/unit.h"

enum { LIFE = 18 };

static const struct path_query any = {
	.mtu = {SELECT_BEST, 0}, .rate = {SELECT_BEST, 0}, .life_time = {SELECT_BEST, 0}};

static int resolve_by(const struct path_rule *rule, struct view *view, lid_t slid, lid_t dlid,
		      const struct path_query *query, struct path *out)
{
	struct endport source, destination;
	struct path_ends ends = {&source, &destination, slid, dlid};
	struct lookup *lookup;
	int rc;

	if (!endport_by_lid(view->topology, slid, &source) ||
	    !endport_by_lid(view->topology, dlid, &destination))
		abort();
	lookup = lookup_new(view, NULL);
	rc = path_resolve(lookup, rule, &ends, query, out);
	lookup_unref(lookup);
	return rc;
}

static int resolve(struct view *view, lid_t slid, lid_t dlid, const struct path_query *query,
		   struct path *out)
{
	return resolve_by(&(struct path_rule){LIFE, UINT8_MAX}, view, slid, dlid, query, out);
}

static const struct {
	lid_t slid, dlid;
	pkey_t p_key;
	uint8_t mtu, rate, life_time;
} paths[] = {
	{16, 20, 0xFFFF, MTU_4096, RATE_100, LIFE}, /* A - B: within S1 */
	{20, 16, 0x7FFF, MTU_4096, RATE_100, LIFE}, /* as B's table has it */
	{16, 24, 0xFFFF, MTU_2048, RATE_40, LIFE},  /* A - C: even both ways, C is the slowest */
	{17, 25, 0xFFFF, MTU_4096, RATE_40, LIFE},  /* odd both ways */
	{17, 24, 0xFFFF, MTU_2048, RATE_40, LIFE},  /* back by 4: the lesser of both counts */
	{16, 25, 0xFFFF, MTU_2048, RATE_40, LIFE},
	{20, 28, 0x7FFF, MTU_1024, RATE_56, LIFE}, /* B - D: D's table is taken as 0xFFFF */
	{28, 21, 0xFFFF, MTU_1024, RATE_56, LIFE}, /* there by 4, back by 3 */
	{16, 2, 0xFFFF, MTU_2048, RATE_56, LIFE},  /* A - S2's port 0 */
	{17, 1, 0xFFFF, MTU_4096, RATE_100, LIFE}, /* port 0 has no link of its own */
	{1, 17, 0xFFFF, MTU_4096, RATE_100, LIFE},
	{1, 2, 0xFFFF, MTU_2048, RATE_56, LIFE}, /* S1 - S2 by 3, back by 4 */
	{16, 16, 0xFFFF, MTU_4096, RATE_100, 0}, /* to itself */
	{16, 19, 0xFFFF, MTU_4096, RATE_100, 0},
	{2, 2, 0xFFFF, MTU_4096, 3, 0}, /* port 0 to itself: 10 Gb/s by its own PortInfo */
};

static void test_paths(void)
{
	struct view *view = two_switches_view();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct path path = {0};

		CU_ASSERT_EQUAL(resolve(view, paths[i].slid, paths[i].dlid, &any, &path), 0);
		CU_ASSERT_EQUAL(path.p_key, paths[i].p_key);
		CU_ASSERT_EQUAL(path.mtu, paths[i].mtu);
		CU_ASSERT_EQUAL(path.rate, paths[i].rate);
		CU_ASSERT_EQUAL(path.life_time, paths[i].life_time);
		CU_ASSERT_EQUAL(path.sl, PATH_SL_DEFAULT);
		CU_ASSERT_TRUE(path.reversible);
	}
	view_unref(view);
}

/* Limits on a path of MTU 4096, 100 Gb/s and life time 18; given 0: there is none. */
enum { MTU, RATE, LIFE_TIME };
static const struct {
	uint8_t what;
	struct path_limit limit;
	uint8_t given;
} limits[] = {
	{MTU, {SELECT_GREATER, MTU_2048}, MTU_4096},
	{MTU, {SELECT_GREATER, MTU_4096}, 0},
	{MTU, {SELECT_LESS, MTU_4096}, MTU_2048},
	{MTU, {SELECT_LESS, 1}, 0},
	{MTU, {SELECT_EXACTLY, MTU_1024}, MTU_1024},
	{MTU, {SELECT_EXACTLY, MTU_4096}, MTU_4096},
	{MTU, {SELECT_EXACTLY, 6}, 0}, /* no MTU */
	{MTU, {SELECT_EXACTLY, 0}, 0},
	{MTU, {SELECT_BEST, 1}, MTU_4096},
	/* Encodings of rates are not in their order: 9 is 80, 12 is 56, 13 is 112 Gb/s. */
	{RATE, {SELECT_GREATER, RATE_56}, RATE_100},
	{RATE, {SELECT_GREATER, 9}, RATE_100},
	{RATE, {SELECT_GREATER, 13}, 0},
	{RATE, {SELECT_GREATER, RATE_100}, 0},
	{RATE, {SELECT_LESS, RATE_100}, 9},
	{RATE, {SELECT_LESS, 13}, RATE_100},
	{RATE, {SELECT_LESS, 2}, 0}, /* below 2.5 Gb/s */
	{RATE, {SELECT_EXACTLY, RATE_40}, RATE_40},
	{RATE, {SELECT_EXACTLY, 13}, 0},
	{RATE, {SELECT_EXACTLY, 63}, 0}, /* no rate */
	{RATE, {SELECT_BEST, 2}, RATE_100},
	/* A longer life time can be promised, a shorter one not. */
	{LIFE_TIME, {SELECT_GREATER, LIFE - 1}, LIFE},
	{LIFE_TIME, {SELECT_GREATER, LIFE}, LIFE + 1},
	{LIFE_TIME, {SELECT_GREATER, 63}, 0},
	{LIFE_TIME, {SELECT_LESS, LIFE + 1}, LIFE},
	{LIFE_TIME, {SELECT_LESS, LIFE}, 0},
	{LIFE_TIME, {SELECT_EXACTLY, LIFE + 2}, LIFE + 2},
	{LIFE_TIME, {SELECT_EXACTLY, LIFE}, LIFE},
	{LIFE_TIME, {SELECT_EXACTLY, LIFE - 1}, 0},
	{LIFE_TIME, {SELECT_BEST, 1}, LIFE},
};

static void test_limits(void)
{
	struct view *view = two_switches_view();

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct path_query query = any;
		struct path path = {0};
		uint8_t *const given[] = {&path.mtu, &path.rate, &path.life_time};
		struct path_limit *const limit[] = {&query.mtu, &query.rate, &query.life_time};

		*limit[limits[i].what] = limits[i].limit;
		CU_ASSERT_EQUAL(resolve(view, 16, 20, &query, &path),
				limits[i].given ? 0 : -ENOENT);
		CU_ASSERT_EQUAL(*given[limits[i].what], limits[i].given);
	}
	view_unref(view);
}

/* The highest encoding that clients know, and the rate that they get for the 100 Gb/s between A and
 * B. */
static const struct {
	uint8_t rate_max, told;
} rate_limits[] = {
	{UINT8_MAX, RATE_100}, {RATE_100, RATE_100}, {15, 9}, {10, 9}, {8, 8}, {3, 3}, {2, 2},
};

static void test_old_clients(void)
{
	struct view *view = two_switches_view();

	for (size_t i = 0; i < ARRAY_SIZE(rate_limits); i++) {
		const struct path_rule rule = {LIFE, rate_limits[i].rate_max};
		struct path path = {0};

		CU_ASSERT_EQUAL(resolve_by(&rule, view, 16, 20, &any, &path), 0);
		CU_ASSERT_EQUAL(path.rate, rate_limits[i].told);
	}
	view_unref(view);
}

/* Requested P_Keys, and the P_Key of the answer: 0 if there is no such path. */
static const struct {
	lid_t slid, dlid;
	pkey_t asked, given;
} p_keys[] = {
	{20, 24, 0x0001, 0x0001}, /* B is a full member, C a limited one */
	{20, 24, 0x8001, 0x8001}, /* the membership bit of the question does not matter */
	{20, 24, 0x7FFF, 0x7FFF}, {20, 24, 0xFFFF, 0xFFFF}, {16, 24, 0x0001, 0}, /* A is none */
	{20, 24, 0x0002, 0},	  {20, 24, 0x8000, 0}, /* partition 0 is none */
	{20, 28, 0x0001, 0},			       /* D: never read */
};

static void test_p_keys(void)
{
	struct view *view = two_switches_view();

	for (size_t i = 0; i < ARRAY_SIZE(p_keys); i++) {
		struct path_query query = any;
		struct path path = {0};

		query.p_key = p_keys[i].asked;
		CU_ASSERT_EQUAL(resolve(view, p_keys[i].slid, p_keys[i].dlid, &query, &path),
				p_keys[i].given ? 0 : -EACCES);
		CU_ASSERT_EQUAL(path.p_key, p_keys[i].given);
	}
	view_unref(view);
}

/* Every P_Key: the answer repeats it exactly if both ends are in its partition, and else there is
 * no path. All 15 bits identify the partition (10.9.1.1: the 16th bit is the membership). */
static void test_all_p_keys(void)
{
	static const struct {
		lid_t slid, dlid;
		pkey_t partitions[2]; /* that both are in */
	} pairs[] = {{20, 24, {0x7FFF, 1}}, {16, 24, {0x7FFF, 0x7FFF}}};
	struct view *view = two_switches_view();

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		for (unsigned asked = 1; asked <= UINT16_MAX; asked++) {
			struct path_query query = any;
			struct path path = {0};
			bool shared = (asked & 0x7FFF) == pairs[i].partitions[0] ||
				      (asked & 0x7FFF) == pairs[i].partitions[1];

			query.p_key = (pkey_t)asked;
			CU_ASSERT_EQUAL(resolve(view, pairs[i].slid, pairs[i].dlid, &query, &path),
					shared ? 0 : -EACCES);
			CU_ASSERT_EQUAL(path.p_key, shared ? asked : 0);
		}
	}
	view_unref(view);
}

static void test_one_way(void)
{
	struct view *view = two_switches_view();
	struct path_query both_ways = any;
	struct path path = {0};

	both_ways.reversible = true;
	CU_ASSERT_EQUAL(resolve(view, 17, 24, &both_ways, &path), 0);
	view->routes->lft[S2]->port[17] = LFT_NO_PORT;
	CU_ASSERT_EQUAL(resolve(view, 17, 24, &both_ways, &path), -ENOENT);
	CU_ASSERT_EQUAL(resolve(view, 17, 25, &any, &path), 0);
	CU_ASSERT_FALSE(path.reversible);
	CU_ASSERT_EQUAL(path.mtu, MTU_4096); /* of the way there alone */
	view->routes->lft[S1]->port[25] = LFT_NO_PORT;
	CU_ASSERT_EQUAL(resolve(view, 17, 25, &any, &path), -EHOSTUNREACH);
	view_unref(view);
}

static void test_ports_on_the_way(void)
{
	struct view *view = two_switches_view();
	struct port_facts *host = &view->topology->ends[D].facts->port[1];
	struct port_facts *sw = &view->topology->switches[S2].facts->port[2];
	struct path path = {0};

	CU_ASSERT_EQUAL(resolve(view, 16, 28, &any, &path), 0);
	CU_ASSERT_EQUAL(path.mtu, MTU_1024);
	/* One end that uses less is enough. */
	host->info.neighbor_mtu = 0;
	CU_ASSERT_EQUAL(resolve(view, 16, 28, &any, &path), 0);
	CU_ASSERT_EQUAL(path.mtu, MTU_1024);
	/* NeighborMTU says nothing before the link is set up. */
	sw->info.port_state = PORT_INIT;
	CU_ASSERT_EQUAL(resolve(view, 16, 28, &any, &path), 0);
	CU_ASSERT_EQUAL(path.mtu, MTU_2048);
	/* An invalid MTU does not count, nor does an unknown speed. */
	host->info.mtu_cap = 9;
	host->info.link_width_active = 0;
	CU_ASSERT_EQUAL(resolve(view, 16, 28, &any, &path), 0);
	CU_ASSERT_EQUAL(path.mtu, MTU_2048);
	CU_ASSERT_EQUAL(path.rate, RATE_56);
	host->known = false;
	CU_ASSERT_EQUAL(resolve(view, 16, 28, &any, &path), -EHOSTUNREACH);
	view_unref(view);
}

/* Two hosts on one cable. */
static void test_without_switch(void)
{
	struct snapshot *snapshot = snapshot_new(0, 2, 0);
	struct view *view;
	struct path path = {0};

	for (unsigned h = 0; h < 2; h++)
		snapshot->ends[h] = (struct snap_end){.guid = PORT_GUID(h),
						      .lid = (lid_t)(16 + 4 * h),
						      .port = 1,
						      .sw = -1,
						      .peer = !h,
						      .facts = two_switches_host_facts(h)};
	snapshot_index(snapshot);
	view = view_new(1, snapshot, NULL, NULL, 0);
	CU_ASSERT_EQUAL(resolve(view, 16, 20, &any, &path), 0);
	CU_ASSERT_EQUAL(path.rate, RATE_100);
	CU_ASSERT_TRUE(path.reversible);
	snapshot->ends[A].peer = -1;
	CU_ASSERT_EQUAL(resolve(view, 16, 20, &any, &path), -EHOSTUNREACH);
	view_unref(view);
}

/* Tables of two ports, and the key by which the first may talk to the second. */
static const struct {
	pkey_t a[2], b[2];
	pkey_t shared;
} tables[] = {
	{{0xFFFF}, {0xFFFF}, 0xFFFF},
	{{0xFFFF}, {0x7FFF}, 0xFFFF},
	{{0x7FFF}, {0xFFFF}, 0x7FFF},
	{{0x7FFF}, {0x7FFF}, 0}, /* two limited members */
	{{0x8001}, {0x8002}, 0},
	{{0x8001, 0xFFFF}, {0x8001, 0x7FFF}, 0xFFFF}, /* the default partition first */
	{{0x8001, 0x7FFF}, {0x0001, 0x7FFF}, 0x8001}, /* but only if it serves */
	{{0x0001, 0x8001}, {0x0001, 0}, 0x8001},      /* listed as both: full */
	{{0x8002, 0x8001}, {0x8001, 0x8002}, 0x8002}, /* the order of the first's table */
	{{0x8000}, {0x8000}, 0},		      /* no partition */
	{{0}, {0xFFFF}, 0},			      /* never read */
	{{0}, {0x8001}, 0},
	{{0}, {0}, 0},
};

static void test_partitions(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct view *view = two_switches_view();
		struct endport a, b;

		CU_ASSERT_TRUE(endport_by_lid(view->topology, 16, &a));
		CU_ASSERT_TRUE(endport_by_lid(view->topology, 24, &b));
		pkey_list_unref(view->topology->ends[A].facts->port[1].pkeys);
		pkey_list_unref(view->topology->ends[C].facts->port[1].pkeys);
		view->topology->ends[A].facts->port[1].pkeys = two_switches_keys(tables[i].a);
		view->topology->ends[C].facts->port[1].pkeys = two_switches_keys(tables[i].b);
		CU_ASSERT_EQUAL(endports_share(&a, &b), tables[i].shared);
		CU_ASSERT_EQUAL(endports_share(&b, &a) != 0, tables[i].shared != 0);
		if (tables[i].shared)
			CU_ASSERT_TRUE(endports_share_key(&a, &b, tables[i].shared));
		view_unref(view);
	}
}

/* Membership in the default partition and in 0x8001, by the known content of the table. A switch
 * that refuses the table of port 0 is visible to full members, and sees them. */
static void test_known_tables(void)
{
	enum { UNREAD, EMPTY, LIMITED, FULL, TENANT, STATES };
	static const pkey_t keys[STATES][2] = {
		[LIMITED] = {0x7FFF}, [FULL] = {0xFFFF}, [TENANT] = {0x8001}};
	static const struct {
		bool is_switch;
		int state;
		bool in_default, full_in_default, in_tenant;
		pkey_t with_full, with_limited, with_tenant; /* the P_Keys shared with these */
	} rows[] = {
		{false, UNREAD, false, false, false, 0, 0, 0},
		{false, EMPTY, false, false, false, 0, 0, 0},
		{false, LIMITED, true, false, false, 0x7FFF, 0, 0},
		{false, FULL, true, true, false, 0xFFFF, 0xFFFF, 0},
		{false, TENANT, false, false, true, 0, 0, 0x8001},
		{true, UNREAD, true, false, false, 0x7FFF, 0, 0},
		{true, EMPTY, false, false, false, 0, 0, 0},
		{true, LIMITED, true, false, false, 0x7FFF, 0, 0},
		{true, FULL, true, true, false, 0xFFFF, 0xFFFF, 0},
		{true, TENANT, false, false, true, 0, 0, 0x8001},
	};
	static const int others[] = {FULL, LIMITED, TENANT};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct view *view = two_switches_view();
		const pkey_t shared[] = {rows[i].with_full, rows[i].with_limited,
					 rows[i].with_tenant};
		struct port_facts *facts = rows[i].is_switch
						   ? view->topology->switches[S1].facts->port
						   : &view->topology->ends[A].facts->port[1];
		struct endport port, other;

		CU_ASSERT_TRUE(
			endport_by_lid(view->topology, rows[i].is_switch ? SWITCH_LID : 16, &port));
		CU_ASSERT_TRUE(endport_by_lid(view->topology, 24, &other));
		pkey_list_unref(facts->pkeys);
		facts->pkeys = rows[i].state == EMPTY ? pkey_list_new(PKEY_BLOCK_KEYS)
						      : two_switches_keys(keys[rows[i].state]);
		CU_ASSERT_EQUAL(endport_in_partition(&port, PKEY_DEFAULT_FULL), rows[i].in_default);
		CU_ASSERT_EQUAL(endport_is_full_member(&port, PKEY_DEFAULT_FULL),
				rows[i].full_in_default);
		CU_ASSERT_EQUAL(endport_in_partition(&port, 0x8001), rows[i].in_tenant);
		CU_ASSERT_EQUAL(endport_key_at(&port, 0) | PKEY_FULL_MEMBER, PKEY_DEFAULT_FULL);
		CU_ASSERT_TRUE(endports_same_keys(&port, &port));
		for (size_t k = 0; k < ARRAY_SIZE(others); k++) {
			facts = &view->topology->ends[C].facts->port[1];
			pkey_list_unref(facts->pkeys);
			facts->pkeys = two_switches_keys(keys[others[k]]);
			CU_ASSERT_EQUAL(endports_share(&port, &other), shared[k]);
			CU_ASSERT_EQUAL(endports_share(&other, &port) != 0, shared[k] != 0);
		}
		view_unref(view);
	}
}

static void test_finding(void)
{
	struct view *view = two_switches_view();
	const struct snapshot *topology = view->topology;
	struct endport port = {.num = 99};

	CU_ASSERT_FALSE(endport_by_lid(topology, LID_NONE, &port));
	CU_ASSERT_FALSE(endport_by_lid(topology, 15, &port));
	CU_ASSERT_FALSE(endport_by_lid(topology, 29, &port));
	CU_ASSERT_FALSE(endport_by_lid(topology, LID_PERMISSIVE, &port));
	CU_ASSERT_EQUAL(port.num, 99);
	for (uint32_t number = 0; number < endport_count(topology); number++) {
		struct endport by_number = endport_at(topology, number);

		CU_ASSERT_EQUAL(endport_number(topology, &by_number), number);
		CU_ASSERT_TRUE(endport_by_lid(topology, by_number.lid, &port));
		CU_ASSERT_TRUE(endport_same(&port, &by_number));
	}
	view_unref(view);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"paths", test_paths},
		{"limits in requests", test_limits},
		{"rates that old clients know", test_old_clients},
		{"requested P_Keys", test_p_keys},
		{"every P_Key", test_all_p_keys},
		{"routes that lead one way only", test_one_way},
		{"ports on the way", test_ports_on_the_way},
		{"a cable without a switch", test_without_switch},
		{"shared partitions", test_partitions},
		{"known tables", test_known_tables},
		{"finding end ports", test_finding},
		CU_TEST_INFO_NULL,
	};

	return unit_main("path", tests);
}
