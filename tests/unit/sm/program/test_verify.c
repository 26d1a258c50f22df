/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Identity checks of switches before they are written: sm/program/verify.c. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/context.h"
#include "sm/program/parts.h"
#include "tests/unit/fixtures/sm_world.h"

enum { LEAVES = 3, HOSTS = 2, OUR_CAP = 1000 };

static struct world *world;
static struct fake_node *leaf, *other;
static unsigned up, spare; /* ports of leaf-1: on the tree's route to it, and to the other spine */
static unsigned lost_checks, misdirected;

/* Loses the first check of leaf-1, over its uplink, and moves the uplink to leaf-2. Another manager
 * has cleared the PortStateChange of leaf-1 by then, so the next check does not show the move. */
static enum fake_fate lose_check(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	(void)ctx;
	if (lost_checks || node != leaf || header->attr_id != ATTR_NODE_INFO)
		return FAKE_ANSWER;
	lost_checks++;
	fake_swap(&leaf->port[up], &other->port[spare]);
	leaf->sw.port_state_change = 0;
	return FAKE_LOSE_REQUEST;
}

static void note_set(void *ctx, const struct fake_set *set)
{
	struct switch_info info;

	(void)ctx;
	if (set->attr_id != ATTR_SWITCH_INFO)
		return;
	attr_decode(&switch_info_format, set->data, &info);
	misdirected += (info.linear_fdb_cap == OUR_CAP) != (set->node == leaf);
}

/* The LifeTimeValue of leaf-1 has to be corrected. The check before the Set() is lost over the
 * uplink, and is answered over the other spine. Only that route is verified, so the Set() follows
 * it. The uplink leads to leaf-2 by then. */
static void test_set_follows_the_check(void)
{
	union notice_details details = {0};
	struct node *node;
	uint8_t life_time;

	world = sm_world_new(net_tree2(LEAVES, HOSTS, 2, 1), LEAVES + 2, 1, NULL);
	leaf = sm_world_node(world, "leaf-1");
	leaf->sw.linear_fdb_cap = OUR_CAP;
	other = sm_world_node(world, "leaf-2");
	CU_ASSERT_TRUE_FATAL(sm_world_up(world));
	node = fabric_find_node(world->sm->fabric, leaf->info.node_guid);
	up = node->uplink->peer->num;
	spare = up == HOSTS + 1 ? HOSTS + 2 : HOSTS + 1;
	life_time = leaf->sw.life_time_value;
	lost_checks = misdirected = 0;
	world->fake->fate = lose_check;
	world->fake->after_set = note_set;
	world->reports = 0;
	leaf->sw.port_state_change = 1;
	leaf->sw.life_time_value++;
	details.link_state.lid = leaf->port[0].info.lid;
	fake_trap(world->fake, details.link_state.lid, TRAP_LINK_STATE, &details, 1, 0);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(lost_checks, 1);
	CU_ASSERT_EQUAL(misdirected, 0);
	CU_ASSERT_EQUAL(leaf->sw.life_time_value, life_time);
	sm_world_free(world);
}

/* An answer to programming whose PortState does not follow from the last one is a sign of a moved
 * cable: checks from before it count no more. */
static void test_signs(void)
{
	static const struct {
		bool of_switch;
		uint8_t state;
		bool sign;
	} rows[] = {
		{true, PORT_ACTIVE, false}, {true, PORT_ARMED, false},	 {true, PORT_INIT, true},
		{true, PORT_DOWN, true},    {false, PORT_ACTIVE, false}, {false, PORT_INIT, true},
		{false, PORT_DOWN, true},
	};
	struct program *program;
	struct node *node;

	world = sm_world_new(net_tree2(LEAVES, HOSTS, 2, 1), LEAVES + 2, 1, NULL);
	CU_ASSERT_TRUE_FATAL(sm_world_up(world));
	program = world->sm->program;
	node = fabric_find_node(world->sm->fabric, sm_world_node(world, "leaf-2")->info.node_guid);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct port *port = &node->port[1];
		uint64_t before = program->epoch;

		program->epoch_used = true;
		program->report.not_as_read = false;
		node->sw->links_changed = false;
		program_note_state(program, rows[i].of_switch ? port : port->peer, rows[i].state);
		CU_ASSERT_EQUAL(program->epoch != before, rows[i].sign);
		CU_ASSERT_EQUAL(node->sw->links_changed, rows[i].sign && rows[i].of_switch);
		CU_ASSERT_EQUAL(program->report.not_as_read, rows[i].sign && !rows[i].of_switch);
	}
	sm_world_free(world);
}

/* A switch that refused a Set() is checked again before its next one: a host behind a moved cable
 * may have refused it. */
static void test_refusal(void)
{
	struct program *program;
	struct node *node;

	world = sm_world_new(net_tree2(LEAVES, HOSTS, 2, 1), LEAVES + 2, 1, NULL);
	CU_ASSERT_TRUE_FATAL(sm_world_up(world));
	program = world->sm->program;
	program->began_us = loop_now_us(program->loop);
	program->sweep_epoch = 17;
	node = fabric_find_node(world->sm->fabric, sm_world_node(world, "leaf-2")->info.node_guid);
	verify_begin(program, node);
	CU_ASSERT_EQUAL(node->sw->verify.epoch, 17);
	switch_trouble(node)->refusals = 1;
	verify_begin(program, node);
	CU_ASSERT_EQUAL(node->sw->verify.epoch, 0);
	sm_world_free(world);
}

/* A table that was right as it was read has no LinearFDBTop that weftd wrote. It is lost all the
 * same if another manager changes the top. */
static void test_top_of_another(void)
{
	union notice_details details = {0};
	struct node *node;
	uint16_t top;

	world = sm_world_new(net_tree2(LEAVES, HOSTS, 2, 1), LEAVES + 2, 1, NULL);
	CU_ASSERT_TRUE_FATAL(sm_world_up(world));
	leaf = sm_world_node(world, "leaf-2");
	node = fabric_find_node(world->sm->fabric, leaf->info.node_guid);
	node->sw->lft.top_set = 0;
	top = leaf->sw.linear_fdb_top;
	CU_ASSERT(top > 0 && node->sw->lft.settled && node->sw->lft.want);
	leaf->sw.linear_fdb_top = 0;
	leaf->sw.port_state_change = 1;
	world->reports = 0;
	details.link_state.lid = leaf->port[0].info.lid;
	fake_trap(world->fake, details.link_state.lid, TRAP_LINK_STATE, &details, 1, 0);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(leaf->sw.linear_fdb_top, top);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a Set() follows the check", test_set_follows_the_check},
		{"signs of a moved cable", test_signs},
		{"after a refusal", test_refusal},
		{"a top of another manager", test_top_of_another},
		CU_TEST_INFO_NULL,
	};

	return unit_main("verify", tests);
}
