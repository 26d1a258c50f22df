/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Isolation by policy (sm/isolate.c): tables of cases for the rules, then whole managers on a fat
 * tree of fake agents, whose ports get errors.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/isolate.h"

#include <string.h>

#include "sm/discovery/drained.h"
#include "sm/election/parts.h"
#include "tests/unit/fixtures/sm_world.h"

/* Rules */

static void test_excess(void)
{
	static const struct {
		struct isolate_options options;
		struct isolate_figures figures;
		double ratio;
		const char *reason;
	} rows[] = {
		/* off by default, whatever the figures */
		{{.quota = 4},
		 {.flaps = 1000000, .link_errors = 1000000, .ber = 1, .symbol_errors = 99},
		 0,
		 ""},
		{{.flaps = 5},
		 {.flaps = 4, .link_errors = 99, .ber = 1, .symbol_errors = 99},
		 0,
		 ""},
		{{.flaps = 5},
		 {.flaps = 5, .ber = -1},
		 1,
		 "5 losses of the link in 10 min (isolate_flaps 5)"},
		{{.flaps = 5},
		 {.flaps = 15, .ber = -1},
		 3,
		 "15 losses of the link in 10 min (isolate_flaps 5)"},
		{{.link_errors = 50},
		 {.link_errors = 49, .flaps = 99, .ber = 1, .symbol_errors = 99},
		 0,
		 ""},
		{{.link_errors = 50},
		 {.link_errors = 100, .ber = -1},
		 2,
		 "100 link errors in 10 min (isolate_link_errors 50)"},
		{{.ber = 10}, {.ber = -1}, 0, ""},
		{{.ber = 10}, {.ber = 0.9e-10, .flaps = 99}, 0, ""},
		{{.ber = 10},
		 {.ber = 4.0e-10, .symbol_errors = 10, .covered_s = 61},
		 4,
		 "symbol BER of 4.0e-10 in 2 min (isolate_ber 10)"},
		{{.ber = 10}, {.ber = 4.0e-10, .symbol_errors = 9}, 0, ""}, /* no evidence */
		/* the worst of several */
		{{.flaps = 5, .link_errors = 50, .ber = 10},
		 {.flaps = 5, .link_errors = 100, .ber = 1.5e-10, .symbol_errors = 99},
		 2,
		 "100 link errors in 10 min (isolate_link_errors 50)"},
		{{.flaps = 5, .link_errors = 50, .ber = 10},
		 {.flaps = 50, .link_errors = 100, .ber = 1.5e-10, .symbol_errors = 99},
		 10,
		 "50 losses of the link in 10 min (isolate_flaps 5)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char reason[ISOLATE_REASON_SIZE];
		double ratio = isolate_excess(&rows[i].options, &rows[i].figures, reason);

		CU_ASSERT_DOUBLE_EQUAL(ratio, rows[i].ratio, 1e-6);
		CU_ASSERT_STRING_EQUAL(reason, rows[i].reason);
	}
}

static void test_limit(void)
{
	static const struct {
		unsigned quota, links, limit;
	} rows[] = {
		{4, 1, 1},   {4, 199, 1}, {4, 200, 2},	   {4, 399, 3},
		{4, 400, 4}, {4, 500, 4}, {100, 5000, 50}, {0, 5000, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(isolate_limit(&(struct isolate_options){.quota = rows[i].quota},
					      rows[i].links),
				rows[i].limit);
}

static void test_verdict(void)
{
	static const struct isolate_options usual = {.quota = 4},
					    hosts = {.quota = 4, .hosts = true},
					    none = {.quota = 0};
	static const struct {
		const struct isolate_options *options;
		struct isolate_facts facts;
		enum isolate_verdict verdict;
	} rows[] = {
		{&usual, {.links = 1000}, ISOLATE_NOW},
		{&usual, {.links = 1000, .moving = true}, ISOLATE_MOVING},
		{&usual, {.links = 1000, .no_link = true}, ISOLATE_NO_LINK},
		{&usual, {.links = 1000, .drained = true}, ISOLATE_DRAINED},
		{&usual, {.links = 1000, .own = true}, ISOLATE_OWN},
		{&hosts, {.links = 1000, .own = true, .host = true}, ISOLATE_OWN},
		{&usual, {.links = 1000, .host = true}, ISOLATE_HOST},
		{&hosts, {.links = 1000, .host = true}, ISOLATE_NOW},
		{&usual, {.links = 1000, .isolated = 3}, ISOLATE_NOW},
		{&usual, {.links = 1000, .isolated = 4}, ISOLATE_QUOTA},
		{&usual, {.links = 64, .isolated = 1}, ISOLATE_QUOTA},
		{&none, {.links = 1000}, ISOLATE_QUOTA},
		{&usual, {.links = 1000, .lost_ports = 1}, ISOLATE_LAST_PATH},
		{&hosts, {.links = 1000, .host = true, .lost_ports = 2}, ISOLATE_LAST_PATH},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(isolate_verdict(rows[i].options, &rows[i].facts), rows[i].verdict);
}

/* Managers */

static struct world *begin_policy(struct isolate_options policy)
{
	struct sm_options options = sm_world_options();
	struct net *net = NULL;
	struct world *world;
	char *error = NULL;

	options.isolate = policy;
	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=4,levels=2", &net, &error), 0);
	world = sm_world_new(net, net_find(net, "host-0001"), 1, &options);
	CU_ASSERT_TRUE(sm_world_up(world));
	return world;
}

/* A port of a node with this many losses of its link. */
static struct isolate_figures flapping(const struct world *world, const char *id, uint8_t num,
				       uint64_t flaps)
{
	const struct fake_node *node = sm_world_node(world, id);
	bool is_switch = node->info.node_type == NODE_SWITCH;

	return (struct isolate_figures){.guid = is_switch ? node->info.node_guid
							  : node->info.port_guid + 1,
					.is_switch = is_switch,
					.num = num,
					.flaps = flaps,
					.ber = -1};
}

static const struct drained_entry *isolated(const struct world *world, const char *id, uint8_t num)
{
	return drained_find(world->registry, sm_world_node(world, id)->info.node_guid, num);
}

static size_t count_isolated(const struct world *world)
{
	return drained_count(world->registry, true);
}

/* Exactly the worst port, only one, and not again. */
static void test_isolates_one(void)
{
	struct world *world = begin_policy((struct isolate_options){.flaps = 5, .quota = 4});
	struct isolate_figures figures[] = {
		flapping(world, "leaf-02", 3, 6), flapping(world, "leaf-03", 4, 9),
		flapping(world, "leaf-04", 3, 4),
		flapping(world, "leaf-02", 9, 100), /* no such port */
	};
	const struct drained_entry *entry;

	isolate_judge(world->sm, figures, ARRAY_SIZE(figures));
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	entry = isolated(world, "leaf-03", 4);
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	CU_ASSERT_TRUE(entry->by_policy && !entry->forced);
	CU_ASSERT_STRING_EQUAL((const char *)entry->reason,
			       "9 losses of the link in 10 min (isolate_flaps 5)");
	/* The drain is under way: no other port is isolated now. Later the quota prevents it. */
	isolate_judge(world->sm, figures, ARRAY_SIZE(figures));
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	for (int i = 0; i < 5; i++) {
		sm_world_sweep(world, DISCOVER_HEAVY);
		isolate_judge(world->sm, figures, ARRAY_SIZE(figures));
	}
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	sm_world_free(world);
}

/* None of these is isolated. */
static void test_isolates_none(void)
{
	static const struct {
		struct isolate_options policy;
		const char *id;
		uint8_t num;
	} rows[] = {
		{{.quota = 4}, "leaf-02", 3},		  /* off */
		{{.flaps = 5}, "leaf-02", 3},		  /* no quota */
		{{.flaps = 5, .quota = 4}, "leaf-02", 1}, /* the link of a host, from both ends */
		{{.flaps = 5, .quota = 4}, "host-0004", 1},
		{{.flaps = 5, .quota = 4, .hosts = true}, "leaf-01", 1}, /* the manager's own */
		{{.flaps = 5, .quota = 4, .hosts = true}, "host-0001", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = begin_policy(rows[i].policy);
		struct isolate_figures figures = flapping(world, rows[i].id, rows[i].num, 100);

		isolate_judge(world->sm, &figures, 1);
		CU_ASSERT_EQUAL(count_isolated(world), 0);
		sm_world_free(world);
	}
}

/* Links of hosts that are worse, and may not be isolated, do not stop the policy. */
static void test_hosts_first(void)
{
	struct world *world = begin_policy((struct isolate_options){.flaps = 5, .quota = 4});
	struct isolate_figures figures[7];
	char id[16];

	for (unsigned i = 0; i < 6; i++) {
		snprintf(id, sizeof(id), "host-%04u", i + 3);
		figures[i] = flapping(world, id, 1, 100);
	}
	figures[6] = flapping(world, "leaf-02", 3, 6);
	isolate_judge(world->sm, figures, ARRAY_SIZE(figures));
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	CU_ASSERT_PTR_NOT_NULL(isolated(world, "leaf-02", 3));
	sm_world_free(world);
}

static void test_last_path(void)
{
	struct world *world = begin_policy((struct isolate_options){.flaps = 5, .quota = 4});
	struct isolate_figures figures = flapping(world, "leaf-02", 3, 100);

	fake_link(&sm_world_node(world, "leaf-02")->port[4], false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_EQUAL(count_isolated(world), 0);
	fake_link(&sm_world_node(world, "leaf-02")->port[4], true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	sm_world_free(world);
}

/* Last paths that are worse do not keep the policy from another port for ever. */
static void test_many_last_paths(void)
{
	struct world *world = begin_policy((struct isolate_options){.flaps = 5, .quota = 4});
	struct isolate_figures figures[7];
	unsigned count = 0;

	for (unsigned i = 2; i <= 4; i++) {
		struct fake_node *leaf;
		char id[16];

		snprintf(id, sizeof(id), "leaf-%02u", i);
		leaf = sm_world_node(world, id);
		fake_link(&leaf->port[4], false);
		figures[count++] = flapping(world, id, 3, 100);
		figures[count++] = flapping(world, "spine-01", leaf->port[3].peer->num, 100);
	}
	figures[count++] = flapping(world, "leaf-01", 4, 6);
	sm_world_sweep(world, DISCOVER_HEAVY);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(count_isolated(world), 0);
		isolate_judge(world->sm, figures, count);
	}
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	CU_ASSERT_PTR_NULL(isolated(world, "leaf-02", 3));
	sm_world_free(world);
}

/* No isolation while a sweep is due, nor by a manager that is not MASTER. */
static void test_moving(void)
{
	struct world *world = begin_policy((struct isolate_options){.flaps = 5, .quota = 4});
	struct isolate_figures figures = flapping(world, "leaf-02", 3, 100);

	trigger_light(&world->sm->trigger, "test");
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_EQUAL(count_isolated(world), 0);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	world->sm->peers->role = SM_STANDBY;
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_EQUAL(count_isolated(world), 0);
	world->sm->peers->role = SM_MASTER;
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_EQUAL(count_isolated(world), 1);
	sm_world_free(world);
}

static void test_isolates_host(void)
{
	struct world *world =
		begin_policy((struct isolate_options){.flaps = 5, .quota = 4, .hosts = true});
	struct isolate_figures figures = flapping(world, "leaf-02", 1, 100);
	const struct drained_entry *entry;

	isolate_judge(world->sm, &figures, 1);
	entry = isolated(world, "host-0003", 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	CU_ASSERT_EQUAL(entry->node_guid, sm_world_node(world, "leaf-02")->info.node_guid);
	CU_ASSERT_EQUAL(entry->port, 1);
	sm_world_free(world);
}

static uint64_t since_of(const struct world *world, const char *id, uint8_t num)
{
	return isolate_since_s(world->sm, sm_world_node(world, id)->info.node_guid, true, num);
}

/* After undrain, older errors of this link do not count. */
static void test_pardon(void)
{
	struct world *world = begin_policy((struct isolate_options){.flaps = 5, .quota = 4});
	struct isolate_figures figures = flapping(world, "leaf-02", 3, 100);
	uint64_t now_s = loop_wall_s(world->loop);

	CU_ASSERT_EQUAL(since_of(world, "leaf-02", 3), now_s - ISOLATE_WINDOW_S);
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_EQUAL(drain_end(world->sm, sm_world_node(world, "leaf-02")->info.node_guid, 3),
			1);
	drain_ended(world->sm);
	CU_ASSERT_EQUAL(count_isolated(world), 0);
	CU_ASSERT_TRUE(since_of(world, "leaf-02", 3) > now_s);	/* not the begin of this second */
	CU_ASSERT_TRUE(since_of(world, "spine-01", 2) > now_s); /* the other end */
	CU_ASSERT_TRUE(since_of(world, "leaf-02", 4) < now_s);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"thresholds", test_excess},
		{"quota", test_limit},
		{"verdicts", test_verdict},
		{"one port is isolated", test_isolates_one},
		{"none is isolated", test_isolates_none},
		{"worse links of hosts", test_hosts_first},
		{"the last path", test_last_path},
		{"many last paths", test_many_last_paths},
		{"a fabric that changes", test_moving},
		{"the link of a host", test_isolates_host},
		{"errors before undrain", test_pardon},
		CU_TEST_INFO_NULL,
	};

	return unit_main("isolate", tests);
}
