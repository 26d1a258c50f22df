/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast tables that cannot be read, and cables that may close a loop: sm/program/mft.c. */
#include <string.h>

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

/* Each switch of the ring sends an MLID to its first host, and switch 0 also to switch 1. */
static void fill_tables(struct fabric *fabric)
{
	unsigned number = 0;

	list_for_each (link, &fabric->switches) {
		struct node *node = container_of(link, struct switch_state, link)->node;
		uint16_t ports[MFT_BLOCK_LIDS] = {number++ ? 1 << 1 : 1 << 1 | 1 << NEXT};
		struct switch_info info = node->facts->sw;

		info.multicast_fdb_cap = MFT_BLOCK_LIDS;
		node_set_switch_info(fabric, node, &info);
		mft_learn(node_mft(node), 0, ports);
		mft_want(node->sw->mft, LID_MULTICAST_MIN, 0, ports[0], true);
		for (unsigned i = 1; i <= node->num_ports; i++) {
			struct port_info port_info = {.port_state = PORT_ACTIVE};

			port_set_info(fabric, &node->port[i], &port_info);
		}
	}
}

/* A cable goes ACTIVE. If two switches have reported changed links, a moved cable may connect the
 * two ends by now. */
static void test_changed_links(void)
{
	for (unsigned changed = 0; changed < 1 << SWITCHES; changed++) {
		struct net *net = ring_net();
		struct program program = {.epoch = 1, .sweep_epoch = 1};
		struct model model;
		struct port *port;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		fill_tables(model.fabric);
		for (unsigned s = 0; s < SWITCHES; s++)
			model_port(&model, net, HOSTS + s, 0)->node->sw->links_changed =
				changed >> s & 1;
		port = model_port(&model, net, HOSTS, NEXT);
		program.fabric = model.fabric;
		if (__builtin_popcount(changed) >= 2)
			CU_ASSERT_PTR_EQUAL(mft_cable_blocker(&program, port), port->node)
		else
			CU_ASSERT_PTR_NULL(mft_cable_blocker(&program, port));
		free(program.flood);
		model_done(&model);
		net_free(net);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"multicast tables are refused", test_tables_refused},
		{"links of switches have changed", test_changed_links},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mft_program", tests);
}
