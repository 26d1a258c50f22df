/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast tables that cannot be read, or are taken as empty: sm/program/mft.c. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/context.h"
#include "sm/program/parts.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/ring_net.h"
#include "tests/unit/fixtures/sm_world.h"

/* Switches that announce a multicast table but refuse each Get and Set of it: they come up, and
 * later sweeps send no Set(). */
static void test_tables_refused(void)
{
	static const char *const ids[] = {"leaf-0", "leaf-1", "spine-0"};
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		sm_world_node(world, ids[i])->refuses_mft = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	for (unsigned again = 0; again < 2; again++) {
		fabric_forget_tables(world->sm->fabric);
		sm_world_sweep(world, DISCOVER_HEAVY);
	}
	CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
	CU_ASSERT_EQUAL(world->sm->sweep.last.sets, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

static struct world *refusing;
static unsigned refused, taken_as_empty;

/* Refuses one read of the table of leaf-1. */
static enum fake_fate refuse_once(void *ctx, struct fake_node *node,
				  const struct mad_header *header)
{
	const struct fake_node *leaf = sm_world_node(refusing, "leaf-1");
	const struct node *known = fabric_find_node(refusing->sm->fabric, leaf->info.node_guid);
	bool read = node == leaf && header->method == METHOD_GET &&
		    header->attr_id == ATTR_MULTICAST_FORWARDING_TABLE;

	(void)ctx;
	taken_as_empty += refused && known->sw->mft->blank;
	return read && !refused++ ? FAKE_REFUSE : FAKE_ANSWER;
}

/* A table whose read was refused once is not empty. */
static void test_refused_once(void)
{
	refusing = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
	CU_ASSERT_TRUE(sm_world_up(refusing));
	refused = taken_as_empty = 0;
	refusing->fake->fate = refuse_once;
	fabric_forget_tables(refusing->sm->fabric);
	sm_world_sweep(refusing, DISCOVER_HEAVY);
	CU_ASSERT(refused > 0);
	CU_ASSERT_EQUAL(taken_as_empty, 0);
	sm_world_check_up(refusing);
	sm_world_free(refusing);
}

/* Switch s of the ring has an empty table of one block, which is known, and a default port. */
static struct node *empty_table(const struct model *model, const struct net *net, unsigned s,
				uint8_t default_port)
{
	static const uint16_t nothing[MFT_BLOCK_LIDS];
	struct node *node = model_port(model, net, HOSTS + s, 0)->node;
	struct switch_info info = node->facts->sw;

	info.multicast_fdb_cap = MFT_BLOCK_LIDS;
	info.default_multicast_primary_port = default_port;
	info.default_multicast_not_primary_port = LFT_NO_PORT;
	node_set_switch_info(model->fabric, node, &info);
	mft_learn(node_mft(node), 0, nothing);
	return node;
}

/* A cable between two switches waits for a table that may forward by it. After a reset the table is
 * empty, except blocks that were ever set: such a Set() may have arrived after the reset. */
static void test_unread_tables(void)
{
	static const struct {
		bool known, blank, was_set, tableless, waits;
	} rows[] = {
		{true, false, false, false, false}, {false, false, false, false, true},
		{false, true, false, false, false}, {false, true, true, false, true},
		{false, true, true, true, false},   {false, false, false, true, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = ring_net();
		struct program program = {.epoch = 1, .sweep_epoch = 1};
		struct model model;
		struct port *port;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		program.fabric = model.fabric;
		port = model_port(&model, net, HOSTS, NEXT);
		for (unsigned s = 0; s < SWITCHES; s++)
			empty_table(&model, net, s, LFT_NO_PORT);
		if (!rows[i].known)
			mft_forget(port->node->sw->mft, rows[i].blank);
		if (rows[i].was_set)
			mft_cell(port->node->sw->mft, 0)->set_us = 1;
		port->node->sw->mft->tableless = rows[i].tableless;
		CU_ASSERT_PTR_EQUAL(mft_cable_blocker(&program, port),
				    rows[i].waits ? port->node : NULL);
		free(program.flood);
		model_done(&model);
		net_free(net);
	}
}

/* Default ports are removed before their cables come up. If a switch keeps them, only those cables
 * wait that close a loop of default ports. */
static void test_default_ports(void)
{
	static const struct {
		bool keeps;
		uint8_t others[2]; /* default ports of sw-1 and sw-2 */
		bool waits;
	} rows[] = {
		{true, {NEXT, NEXT}, true},
		{true, {NEXT, LFT_NO_PORT}, false},
		{true, {LFT_NO_PORT, NEXT}, false},
		{true, {LFT_NO_PORT, LFT_NO_PORT}, false},
		{false, {LFT_NO_PORT, LFT_NO_PORT}, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = ring_net();
		struct program program = {.epoch = 1, .sweep_epoch = 1};
		struct model model;
		struct node *node;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		program.fabric = model.fabric;
		node = empty_table(&model, net, 0, NEXT);
		node->sw->keeps_default_ports = rows[i].keeps;
		empty_table(&model, net, 1, rows[i].others[0]);
		empty_table(&model, net, 2, rows[i].others[1]);
		CU_ASSERT_PTR_EQUAL(mft_cable_blocker(&program, &node->port[NEXT]),
				    rows[i].waits ? node : NULL);
		free(program.flood);
		model_done(&model);
		net_free(net);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"multicast tables are refused", test_tables_refused},
		{"a read is refused once", test_refused_once},
		{"unread tables", test_unread_tables},
		{"default ports", test_default_ports},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mft_program", tests);
}
