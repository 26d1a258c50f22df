/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The search from two sides (sm/discovery/reach.c) against a plain search from the manager, on
 * fabrics with random cables taken down.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/discovery/reach.h"

#include <stdlib.h>

#include "tests/unit/fixtures/sm_world.h"

enum { DRAWS = 60, CABLES_MAX = 8 };

static struct world *world_of(const char *spec, const char *manager)
{
	struct sm_options options = sm_world_options();
	struct net *net = NULL;
	struct world *world;
	char *error = NULL;

	CU_ASSERT_EQUAL_FATAL(spec_build(spec, &net, &error), 0);
	world = sm_world_new(net, net_find(net, manager), 1, &options);
	CU_ASSERT_TRUE(sm_world_up(world));
	return world;
}

static bool is_among(struct port *const *cables, size_t count, const struct port *port)
{
	for (size_t i = 0; i < count; i++)
		if (cables[i] == port || cables[i]->peer == port)
			return true;
	return false;
}

/* Puts the switches that are reached without these cables into found. Returns the number of ports
 * of adapters at them. */
static unsigned search_plainly(const struct fabric *fabric, struct port *const *cables,
			       size_t count, struct map *found)
{
	struct node *queue[256];
	size_t head = 0, tail = 0;
	unsigned ends = 0;

	queue[tail++] = fabric_first_switch(fabric);
	map_put(found, queue[0]->guid, queue[0]);
	while (head < tail) {
		struct node *node = queue[head++];

		for (unsigned i = 1; i <= node->num_ports; i++) {
			struct node *next = node->port[i].peer ? node->port[i].peer->node : NULL;

			if (!next || is_among(cables, count, &node->port[i]))
				continue;
			ends += next->type != NODE_SWITCH;
			if (next->type != NODE_SWITCH || map_get(found, next->guid))
				continue;
			map_put(found, next->guid, next);
			queue[tail++] = next;
		}
	}
	return ends;
}

/* Different cables of switches; at least one. */
static size_t draw_cables(struct fabric *fabric, unsigned *seed, struct port **cables)
{
	size_t count = 0, wanted = 1 + (size_t)rand_r(seed) % CABLES_MAX;

	for (unsigned tries = 0; count < wanted && tries < 1000; tries++) {
		const struct roster *roster = fabric_roster(fabric);
		struct node *node = roster->switches[(size_t)rand_r(seed) % roster->num_switches];
		struct port *port = &node->port[1 + (unsigned)rand_r(seed) % node->num_ports];

		if (port->peer && !is_among(cables, count, port))
			cables[count++] = port;
	}
	return count;
}

static void compare(struct world *world, unsigned *seed)
{
	struct fabric *fabric = world->sm->fabric;
	const struct roster *roster = fabric_roster(fabric);
	struct port *cables[CABLES_MAX];
	size_t count = draw_cables(fabric, seed, cables);
	struct map all = {0}, found = {0};
	unsigned before = search_plainly(fabric, cables, 0, &all),
		 after = search_plainly(fabric, cables, count, &found);
	struct reach reach;

	reach_begin(&reach, fabric, world->registry, true);
	CU_ASSERT_EQUAL(reach_count_ends(&reach), before);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_TRUE(reach_passes(&reach, cables[i]));
		reach_take_down(&reach, cables[i]);
		CU_ASSERT_FALSE(reach_passes(&reach, cables[i]->peer));
	}
	CU_ASSERT_EQUAL(reach_count_lost(&reach, cables, count), before - after);
	for (size_t i = 0; i < roster->num_switches; i++)
		CU_ASSERT_EQUAL(reach_finds(&reach, roster->switches[i]),
				map_get(&found, roster->switches[i]->guid) != NULL);
	reach_end(&reach);
	map_done(&all);
	map_done(&found);
}

static void test_as_plainly(void)
{
	static const char *const specs[][2] = {
		{"fattree:radix=4,levels=2", "host-0001"},
		{"ring:switches=8,hosts=1", "host-0003"},
		{"random:switches=20,degree=3,hosts=1,seed=5", "host-0001"},
	};
	unsigned seed = 1;

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct world *world = world_of(specs[i][0], specs[i][1]);

		for (unsigned draw = 0; draw < DRAWS; draw++)
			compare(world, &seed);
		sm_world_free(world);
	}
}

/* A switch that is left out is not passed, and an adapter that is left out does not count. */
static void test_left_out(void)
{
	struct world *world = world_of("ring:switches=8,hosts=1", "host-0001");
	struct fabric *fabric = world->sm->fabric;
	const struct roster *roster = fabric_roster(fabric);
	struct node *first = fabric_first_switch(fabric), *out = NULL;
	unsigned found = 0;
	struct reach reach;

	for (unsigned i = 1; i <= first->num_ports; i++)
		if (first->port[i].peer && port_of_switch(first->port[i].peer))
			out = first->port[i].peer->node;
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	reach_begin(&reach, fabric, world->registry, false);
	reach_leave_out(&reach, out);
	reach_leave_out(&reach, fabric->sm_port->node);
	CU_ASSERT_EQUAL(reach_count_ends(&reach), 7);
	for (size_t i = 0; i < roster->num_switches; i++)
		found += roster->switches[i] != out && reach_finds(&reach, roster->switches[i]);
	CU_ASSERT_EQUAL(found, 7);
	reach_end(&reach);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"as a plain search", test_as_plainly},
		{"nodes that are left out", test_left_out},
		CU_TEST_INFO_NULL,
	};

	return unit_main("reach", tests);
}
