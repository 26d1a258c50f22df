/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The live model of a net (formats/net.h) as a discovery would have filled it, without agents: for
 * tests of what stands in fabric/ and of pure functions over it. The caller owns what it gets.
 */
#ifndef TESTS_UNIT_MODEL_H
#define TESTS_UNIT_MODEL_H

#include "fabric/freeze.h"
#include "fabric/lid.h"
#include "tests/unit/snapshot_from.h"
#include "tests/unit/wire.h"

/* At once what managers do in slices. */

static inline void fabric_build_tree(struct fabric *fabric)
{
	size_t at = 0;

	while (fabric_tree_step(fabric, &at))
		;
}

/* The caller's reference. */
static inline struct snapshot *fabric_freeze(struct fabric *fabric, bool as_found)
{
	struct freeze freeze = {.fabric = fabric, .as_found = as_found};

	slices_at_once(&freeze_plan, &freeze);
	return freeze.snapshot;
}

static inline void lid_assign(struct fabric *fabric, uint8_t lmc, struct lid_report *report)
{
	struct lid_work *work = lid_work_new(fabric, lmc, false, LID_NONE);

	slices_at_once(&lid_plan, work);
	*report = *lid_work_report(work);
	lid_work_free(work);
}

struct model {
	struct loop *loop;
	struct wire wire;
	struct txn_table *table;
	struct window *window;
	struct fabric *fabric;
};

static inline void model_init(struct model *model)
{
	static const struct window_limits limits = {
		.total = 16, .timeout_ms = 1000, .timeout_min_ms = 1000, .attempts = 1};

	model->loop = loop_new();
	wire_init(&model->wire);
	model->table = txn_table_new(model->loop, &model->wire.transport);
	model->window = window_new(model->loop, model->table, &limits);
	model->fabric = fabric_new(model->window, 2, 1);
}

static inline void model_done(struct model *model)
{
	fabric_free(model->fabric);
	window_free(model->window);
	txn_table_free(model->table);
	wire_done(&model->wire);
	loop_free(model->loop);
}

static inline struct node_info model_node_info(const struct net *net, unsigned index)
{
	guid_t guid = net_node_guid(net, index);

	return (struct node_info){.base_version = 1,
				  .class_version = 1,
				  .node_type = (uint8_t)net->nodes[index].type,
				  .num_ports = net->nodes[index].ports,
				  .system_image_guid = guid,
				  .node_guid = guid,
				  .port_guid = guid,
				  .partition_cap = 32};
}

static inline void model_add_node(struct model *model, const struct net *net, unsigned index)
{
	struct node_info info = model_node_info(net, index);
	struct node *node = fabric_add_node(model->fabric, &info);
	struct switch_info sw = {.linear_fdb_cap = TEST_LFT_CAP,
				 .enhanced_port0 = net->nodes[index].enhanced_port0};

	if (node->type == NODE_SWITCH)
		node_set_switch_info(model->fabric, node, &sw);
	for (unsigned p = 0; p <= node->num_ports; p++) {
		const struct net_port *port = &net->nodes[index].port[p];
		bool up = p ? port->peer >= 0 : node->type == NODE_SWITCH;
		struct port_info port_info = {.local_port_num = (uint8_t)p,
					      .port_state = up ? PORT_INIT : PORT_DOWN,
					      .mtu_cap = 5,
					      .neighbor_mtu = 1,
					      .vl_cap = 4,
					      .operational_vls = 1,
					      .lid = port->lid,
					      .lmc = port->lmc};

		if (p && node->type != NODE_SWITCH && up)
			fabric_add_agent(model->fabric, &node->port[p],
					 net_port_guid(net, index, p));
		port_set_info(model->fabric, &node->port[p], &port_info);
	}
}

static inline struct port *model_port(const struct model *model, const struct net *net,
				      unsigned node, unsigned port)
{
	struct node *found = fabric_find_node(model->fabric, net_node_guid(net, node));

	return found ? &found->port[port] : NULL;
}

/* Adds the nodes in an order that starts at first and goes in steps (coprime to their number), and
 * the cables. The manager is on port sm_port of sm_node. */
static inline void model_fill(struct model *model, const struct net *net, unsigned first,
			      unsigned step, unsigned sm_node, unsigned sm_port)
{
	for (unsigned i = 0; i < net->count; i++)
		model_add_node(model, net, (first + i * step) % net->count);
	for (unsigned i = 0; i < net->count; i++) {
		unsigned n = (first + i * step) % net->count;

		for (unsigned p = 1; p <= net->nodes[n].ports; p++) {
			const struct net_port *port = &net->nodes[n].port[p];

			if (port->peer >= 0)
				fabric_link(model->fabric, model_port(model, net, n, p),
					    model_port(model, net, (unsigned)port->peer,
						       port->peer_port));
		}
	}
	model->fabric->sm_port = model_port(model, net, sm_node, sm_port);
	fabric_build_tree(model->fabric);
}

#endif
