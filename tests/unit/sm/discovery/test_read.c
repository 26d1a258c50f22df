/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers of another device than the one that was meant: sm/discovery/read.c. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/context.h"
#include "tests/unit/fixtures/sm_world.h"

enum { LEAVES = 3, HOSTS = 2, OUR_MTU = 5, OTHER_MTU = 3, OUR_CAP = 1000 };

/* The manager's host is on leaf-0. leaf-1 reports changed links and is read. During the read, its
 * cable to the spine that is not on the route to it is swapped with that of leaf-2. */
static struct world *world;
static struct fake_node *leaf, *other;
static unsigned detour; /* the port of leaf-1 and of leaf-2 to that spine */
static unsigned lost_reads, lost_checks, believed, misdirected;

static struct node *known(const struct fake_node *node)
{
	return fabric_find_node(world->sm->fabric, node->info.node_guid);
}

/* Loses the first reads of port 1 and of the port to the other spine, so that they are repeated
 * over that spine, and moves the cable there. Also loses so many checks of the identity. */
static enum fake_fate fate(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	unsigned port = header->attr_mod & UINT8_MAX;

	(void)ctx;
	believed += port_info(&known(leaf)->port[1])->mtu_cap != OUR_MTU;
	if (lost_reads < 2 && node == leaf && header->attr_id == ATTR_PORT_INFO &&
	    header->method == METHOD_GET && (port == 1 || port == detour)) {
		if (!lost_reads++)
			fake_swap(&leaf->port[detour], &other->port[detour]);
		return FAKE_LOSE_REQUEST;
	}
	if (lost_checks && lost_reads == 2 && node == other && header->attr_id == ATTR_NODE_INFO) {
		lost_checks--;
		return FAKE_LOSE_REQUEST;
	}
	return FAKE_ANSWER;
}

static void begin(void)
{
	struct sm_options options = sm_world_options();

	options.smp_attempts = 3;
	world = sm_world_new(net_tree2(LEAVES, HOSTS, 2, 1), LEAVES + 2, 1, &options);
	leaf = sm_world_node(world, "leaf-1");
	leaf->sw.linear_fdb_cap = OUR_CAP;
	other = sm_world_node(world, "leaf-2");
	other->port[1].info.mtu_cap = OTHER_MTU;
	CU_ASSERT_TRUE_FATAL(sm_world_up(world));
	CU_ASSERT_EQUAL(port_info(&known(leaf)->port[1])->mtu_cap, OUR_MTU);
	detour = known(leaf)->uplink->peer->num == HOSTS + 1 ? HOSTS + 2 : HOSTS + 1;
	lost_reads = lost_checks = believed = misdirected = 0;
}

static void end(void)
{
	world->fake->fate = NULL;
	sm_world_check_up(world);
	sm_world_free(world);
}

static void check(unsigned checks)
{
	union notice_details details = {0};

	begin();
	lost_checks = checks;
	world->fake->fate = fate;
	world->reports = 0;
	details.link_state.lid = leaf->port[0].info.lid;
	fake_trap(world->fake, details.link_state.lid, TRAP_LINK_STATE, &details, 1, 0);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(lost_reads, 2);
	CU_ASSERT_EQUAL(lost_checks, 0);
	CU_ASSERT_EQUAL(believed, 0);
	end();
}

/* A read is repeated over a detour that leads to another switch by now. Its answer never counts. */
static void test_another_switch_answers(void)
{
	check(0);
}

/* The request that would have shown the other switch is lost. */
static void test_check_is_lost(void)
{
	check(1);
	check(3);
}

/* Loses the first Set(SwitchInfo) of leaf-1, and moves the cable. */
static enum fake_fate lose_set(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	(void)ctx;
	if (lost_reads || node != leaf || header->attr_id != ATTR_SWITCH_INFO ||
	    header->method != METHOD_SET)
		return FAKE_ANSWER;
	lost_reads++;
	fake_swap(&leaf->port[detour], &other->port[detour]);
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

/* The Set() that clears PortStateChange has the other values of the switch, such as LinearFDBTop.
 * It is not repeated over a detour. */
static void test_clears_there(void)
{
	begin();
	world->fake->fate = lose_set;
	world->fake->after_set = note_set;
	leaf->sw.port_state_change = 1;
	CU_ASSERT_TRUE(sm_world_sweep(world, DISCOVER_LIGHT));
	CU_ASSERT_EQUAL(lost_reads, 1);
	CU_ASSERT_EQUAL(misdirected, 0);
	sm_world_free(world);
}

/* Swaps the uplink of leaf-1 with the last cable of leaf-2, while leaf-1 is read. */
static enum fake_fate move_uplink(void *ctx, struct fake_node *node,
				  const struct mad_header *header)
{
	unsigned up = detour == HOSTS + 1 ? HOSTS + 2 : HOSTS + 1;

	(void)ctx;
	believed += port_state_of(&known(leaf)->port[up]) == PORT_DOWN;
	if (!lost_reads && node == leaf && header->attr_id == ATTR_PORT_INFO &&
	    (header->attr_mod & UINT8_MAX) == 1) {
		lost_reads++;
		fake_swap(&leaf->port[up], &other->port[detour]);
	}
	return FAKE_ANSWER;
}

/* Loses two reads of port 1, and moves the uplink at the second. The third follows the tree
 * again. */
static enum fake_fate lose_and_move(void *ctx, struct fake_node *node,
				    const struct mad_header *header)
{
	unsigned up = detour == HOSTS + 1 ? HOSTS + 2 : HOSTS + 1;

	(void)ctx;
	believed += port_info(&known(leaf)->port[1])->mtu_cap != OUR_MTU;
	if (lost_reads == 2 || node != leaf || header->attr_id != ATTR_PORT_INFO ||
	    (header->attr_mod & UINT8_MAX) != 1)
		return FAKE_ANSWER;
	if (++lost_reads == 2)
		fake_swap(&leaf->port[up], &other->port[detour]);
	return FAKE_LOSE_REQUEST;
}

/* The uplink is moved while reads over it are lost. The tree's route leads to another switch then,
 * and its answers do not count. */
static void test_answer_after_a_loss(void)
{
	begin();
	world->fake->fate = lose_and_move;
	CU_ASSERT_TRUE(sm_world_sweep(world, DISCOVER_HEAVY));
	CU_ASSERT_EQUAL(lost_reads, 2);
	CU_ASSERT_EQUAL(believed, 0);
	end();
}

/* The uplink is moved to a switch where the port of that number is down. No answer could have come
 * over a link that is down, so the state is not that of leaf-1. */
static void test_answer_over_a_dead_link(void)
{
	begin();
	fake_link(&other->port[detour == HOSTS + 1 ? HOSTS + 2 : HOSTS + 1], false);
	CU_ASSERT_TRUE(sm_world_sweep(world, DISCOVER_HEAVY));
	world->fake->fate = move_uplink;
	CU_ASSERT_TRUE(sm_world_sweep(world, DISCOVER_HEAVY));
	CU_ASSERT_EQUAL(lost_reads, 1);
	CU_ASSERT_EQUAL(believed, 0);
	CU_ASSERT_EQUAL(sm_world_not_active(world), 0);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"another switch answers", test_another_switch_answers},
		{"the check is lost", test_check_is_lost},
		{"PortStateChange is cleared", test_clears_there},
		{"an answer over a dead link", test_answer_over_a_dead_link},
		{"an answer after a loss", test_answer_after_a_loss},
		CU_TEST_INFO_NULL,
	};

	return unit_main("read", tests);
}
