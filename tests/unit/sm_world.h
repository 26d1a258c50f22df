/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One whole subnet manager on a fabric of fake agents, for test_sm.c and test_sm_role.c: it is
 * built from a net, run until something is so, looked at, and taken apart. While it runs, each
 * Set() is held against the orders that a fabric needs (sm_world_before_set). A run that does not
 * come to its end within WORLD_LIMIT_S fails; nothing else depends on the clock.
 */
#ifndef TESTS_UNIT_SM_WORLD_H
#define TESTS_UNIT_SM_WORLD_H

#include "sm/context.h"
#include "sm/control/control.h"
#include "tests/unit/fake_agents.h"
#include "tests/unit/unit.h"

enum { WORLD_LIMIT_S = 20, WORLD_TICK_US = 500 };

struct world {
	struct loop *loop;
	struct work_pool *pool;
	struct net *net;
	struct fake_net *fake;
	struct registry *registry;
	struct event_hub events;
	struct txn_table *txns;
	struct sm *sm;
	struct sm_options options;
	struct loop_timer tick;
	bool (*until)(const struct world *world);
	uint64_t give_up_us;
	unsigned reports;
	int error; /* of the last report */
	char text[256];
	/* Orders that were broken */
	unsigned lid_before_sm, active_too_early, top_before_blocks, blocks_before_top;
	unsigned active_before_tables, active_link_changed, loops;
	bool sm_has_lid;
};

static inline struct sm_options sm_world_options(void)
{
	return (struct sm_options){
		.sm_key = SM_KEY_DEFAULT,
		.poll_interval_ms = 20,
		.poll_misses = 3,
		.subnet_prefix = GID_PREFIX_DEFAULT,
		.engines = {"minhop"},
		.smp_window = 64,
		.smp_per_switch = 2,
		.smp_per_adapter = 1,
		.smp_timeout_min_ms = 20,
		.smp_timeout_ms = 20,
		.smp_attempts = 2,
		.subnet_timeout = 18,
		.hoq_life = 18,
		.leaf_hoq_life = 16,
		.vl_stall_count = 7,
		.leaf_vl_stall_count = 7,
		.switch_life_time = 18,
		.phy_errors_threshold = 8,
		.overrun_errors_threshold = 8,
		.max_op_vls = 3,
	};
}

/* Whether the switches' own tables lead from a switch to lid. */
static inline bool sm_world_leads(const struct fake_node *node, lid_t lid,
				  const struct fake_net *fake)
{
	for (unsigned hops = 0; hops <= fake->num_nodes; hops++) {
		uint8_t out = lid <= node->sw.linear_fdb_top ? node->lft[lid] : LFT_NO_PORT;
		const struct fake_port *port = &node->port[out];

		if (out == 0)
			return lid == port->info.lid;
		if (out > node->info.num_ports || !fake_up(port))
			return false;
		if (!fake_is_switch(port->peer))
			return lid >= port->peer->info.lid &&
			       lid < port->peer->info.lid + (1 << port->peer->info.lmc);
		node = port->peer->node;
	}
	return false;
}

/* Whether a packet for lid that comes to a switch runs in a circle. */
static inline bool sm_world_circles(const struct fake_node *node, lid_t lid,
				    const struct fake_net *fake)
{
	for (unsigned hops = 0; hops <= fake->num_nodes; hops++) {
		uint8_t out = lid <= node->sw.linear_fdb_top ? node->lft[lid] : LFT_NO_PORT;

		if (!out || out > node->info.num_ports || !fake_up(&node->port[out]) ||
		    !fake_is_switch(node->port[out].peer) ||
		    node->port[out].info.port_state < PORT_ACTIVE)
			return false;
		node = node->port[out].peer->node;
	}
	return true;
}

/* After a Set() to a forwarding table: a circle goes through that switch. */
static inline void sm_world_look_for_loops(struct world *world, const struct fake_set *set)
{
	if (set->attr_id != ATTR_LINEAR_FORWARDING_TABLE || set->status)
		return;
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++)
		world->loops += sm_world_circles(
			set->node, (lid_t)(set->attr_mod * LFT_BLOCK_LIDS + i), world->fake);
}

static inline void sm_world_check_port_set(struct world *world, const struct fake_set *set)
{
	const struct fake_port *port = set->port, *local = world->fake->local;
	const struct fake_port *host;
	struct port_info want;

	attr_decode(&port_info_format, set->data, &want);
	if (!fake_is_switch(port) || !port->num) {
		if (port == local)
			world->sm_has_lid = true;
		else
			world->lid_before_sm += !world->sm_has_lid;
	}
	if (port->info.port_state == PORT_ACTIVE && port->peer &&
	    (want.neighbor_mtu != port->info.neighbor_mtu ||
	     want.operational_vls != port->info.operational_vls))
		world->active_link_changed++;
	if (want.port_state != PORT_ACTIVE || !port->peer)
		return;
	world->active_too_early +=
		port->info.port_state < PORT_ARMED || port->peer->info.port_state < PORT_ARMED;
	host = fake_is_switch(port) ? port->peer : port;
	if (fake_is_switch(host) || !fake_is_switch(host->peer))
		return;
	world->active_before_tables +=
		!sm_world_leads(host->peer->node, local->info.lid, world->fake);
	if (fake_is_switch(local))
		world->active_before_tables +=
			!sm_world_leads(local->node, host->info.lid, world->fake);
	else if (host != local)
		world->active_before_tables +=
			!sm_world_leads(local->peer->node, host->info.lid, world->fake);
}

static inline void sm_world_before_set(void *ctx, const struct fake_set *set)
{
	struct world *world = ctx;
	const struct node *node = fabric_find_node(world->sm->fabric, set->node->info.node_guid);
	struct switch_info want;

	if (set->attr_id == ATTR_PORT_INFO && set->port)
		sm_world_check_port_set(world, set);
	if (set->attr_id == ATTR_LINEAR_FORWARDING_TABLE && node)
		world->blocks_before_top += node->sw->want->top < set->node->sw.linear_fdb_top;
	if (set->attr_id != ATTR_SWITCH_INFO)
		return;
	attr_decode(&switch_info_format, set->data, &want);
	for (unsigned block = 0; block <= want.linear_fdb_top / LFT_BLOCK_LIDS; block++)
		world->top_before_blocks += want.linear_fdb_top > set->node->sw.linear_fdb_top &&
					    !set->node->written[block];
}

static inline void sm_world_report(void *ctx, int error, bool again, const char *text)
{
	struct world *world = ctx;

	(void)again;
	world->reports++;
	world->error = error;
	snprintf(world->text, sizeof(world->text), "%s", text);
}

static inline void sm_world_after_set(void *ctx, const struct fake_set *set)
{
	sm_world_look_for_loops(ctx, set);
}

static inline void sm_world_tick(void *arg)
{
	struct world *world = arg;

	if (world->until(world) || loop_now_us(world->loop) > world->give_up_us)
		loop_stop(world->loop, 0);
	else
		loop_timer_arm(&world->tick, WORLD_TICK_US);
}

/* Runs until that is so; false, and a failed assertion, when it does not come. */
static inline bool sm_world_run(struct world *world, bool (*until)(const struct world *))
{
	world->until = until;
	world->give_up_us = loop_now_us(world->loop) + WORLD_LIMIT_S * UINT64_C(1000000);
	loop_timer_arm(&world->tick, 0);
	loop_run(world->loop);
	loop_timer_disarm(&world->tick);
	CU_ASSERT(until(world));
	return until(world);
}

/* Nothing runs, and nothing is wanted. */
static inline bool sm_world_is_quiet(const struct world *world)
{
	return world->reports && !world->sm->sweep.running && !world->sm->trigger.wanted;
}

/* A net, the manager on a port of one of its nodes, not yet started. Takes the net over. */
static inline struct world *sm_world_new(struct net *net, int sm_node, uint8_t sm_port,
					 const struct sm_options *options)
{
	struct world *world = mem_zalloc(sizeof(*world));

	log_set_level(NULL, LOG_CRIT);
	world->loop = loop_new();
	world->pool = work_pool_new(world->loop, 1);
	world->net = net;
	world->fake = fake_new(world->loop, net, (unsigned)sm_node, sm_port);
	world->fake->before_set = sm_world_before_set;
	world->fake->after_set = sm_world_after_set;
	world->fake->ctx = world;
	world->txns = txn_table_new(world->loop, &world->fake->transport);
	world->options = options ? *options : sm_world_options();
	world->registry = registry_new();
	event_hub_init(&world->events);
	world->sm = sm_new(world->loop, world->pool, &world->fake->transport, world->txns,
			   world->registry, &world->events, &world->options);
	sm_on_report(world->sm, sm_world_report, world);
	loop_timer_init(&world->tick, world->loop, "tick", sm_world_tick, world);
	return world;
}

static inline void sm_world_stop(struct world *world)
{
	sm_commands_stop(sm_commands_of(world->sm));
	sm_stop(world->sm);
}

static inline void sm_world_free(struct world *world)
{
	struct sm_commands *commands = sm_commands_of(world->sm);

	loop_timer_disarm(&world->tick);
	work_pool_free(world->pool);
	sm_free(world->sm);
	sm_commands_free(commands);
	registry_free(world->registry);
	txn_table_free(world->txns);
	fake_free(world->fake);
	loop_free(world->loop);
	net_free(world->net);
	free(world);
}

static inline bool sm_world_up(struct world *world)
{
	sm_start(world->sm);
	return sm_world_run(world, sm_world_is_quiet);
}

/* One sweep, and those that it asks for; what it sent is counted from here. */
static inline bool sm_world_sweep(struct world *world, enum discover_kind kind)
{
	world->fake->num_sets = 0;
	world->reports = 0;
	if (kind == DISCOVER_LIGHT)
		trigger_light(&world->sm->trigger, "test");
	else
		trigger_heavy(&world->sm->trigger, "test");
	return sm_world_run(world, sm_world_is_quiet);
}

static inline struct fake_node *sm_world_node(const struct world *world, const char *id)
{
	int index = net_find(world->net, id);

	if (index < 0)
		abort();
	return world->fake->nodes[index];
}

/* Every link that is up is ACTIVE at both ends. */
static inline unsigned sm_world_not_active(const struct world *world)
{
	unsigned count = 0;

	for (unsigned n = 0; n < world->fake->num_nodes; n++) {
		const struct fake_node *node = world->fake->nodes[n];

		for (unsigned p = 1; p <= node->info.num_ports; p++)
			count += fake_up(&node->port[p]) &&
				 node->port[p].info.port_state != PORT_ACTIVE;
	}
	return count;
}

/* End ports that are up, switches' ports 0 among them. */
static inline bool sm_world_is_end(const struct fake_port *port)
{
	return fake_is_switch(port) ? !port->num && !port->node->silent
				    : port->num && fake_up(port) && !port->node->silent;
}

/* Pairs (switch, LID) that the switches' own tables do not join, and LIDs missing or given twice.
 */
static inline unsigned sm_world_faults(struct world *world)
{
	static const struct fake_port *owner[LID_UNICAST_MAX + 1];
	struct fake_net *fake = world->fake;
	unsigned faults = 0;

	memset(owner, 0, sizeof(owner));
	for (unsigned n = 0; n < fake->num_nodes; n++) {
		for (unsigned p = 0; p <= fake->nodes[n]->info.num_ports; p++) {
			const struct fake_port *port = &fake->nodes[n]->port[p];

			if (!sm_world_is_end(port))
				continue;
			faults += !port->info.lid;
			for (unsigned i = 0; port->info.lid && i < 1u << port->info.lmc; i++) {
				faults += owner[port->info.lid + i] != NULL;
				owner[port->info.lid + i] = port;
			}
		}
	}
	for (unsigned n = 0; n < fake->num_nodes; n++) {
		if (fake->nodes[n]->info.node_type != NODE_SWITCH || fake->nodes[n]->silent)
			continue;
		for (unsigned lid = 1; lid <= LID_UNICAST_MAX; lid++)
			faults += owner[lid] && !sm_world_leads(fake->nodes[n], (lid_t)lid, fake);
	}
	return faults;
}

/* What the tables hold is what routing decided. */
static inline unsigned sm_world_wrong_rows(const struct world *world)
{
	unsigned wrong = 0;

	for (unsigned n = 0; n < world->fake->num_nodes; n++) {
		struct fake_node *fake = world->fake->nodes[n];
		struct node *node = fabric_find_node(world->sm->fabric, fake->info.node_guid);

		if (!node || !node->sw || !node->sw->want)
			continue;
		wrong += fake->sw.linear_fdb_top != node->sw->want->top;
		for (unsigned lid = 0; lid <= node->sw->want->top; lid++)
			wrong += fake->lft[lid] != node->sw->want->port[lid];
	}
	return wrong;
}

static inline void sm_world_check_orders(const struct world *world)
{
	CU_ASSERT_EQUAL(world->lid_before_sm, 0);
	CU_ASSERT_EQUAL(world->active_too_early, 0);
	CU_ASSERT_EQUAL(world->top_before_blocks, 0);
	CU_ASSERT_EQUAL(world->blocks_before_top, 0);
	CU_ASSERT_EQUAL(world->active_before_tables, 0);
	CU_ASSERT_EQUAL(world->active_link_changed, 0);
	CU_ASSERT_EQUAL(world->loops, 0);
}

/* The subnet is as it should be, and a quiet one: another heavy sweep sends no Set(). */
static inline void sm_world_check_up(struct world *world)
{
	CU_ASSERT_EQUAL(sm_world_not_active(world), 0);
	CU_ASSERT_EQUAL(sm_world_faults(world), 0);
	CU_ASSERT_EQUAL(sm_world_wrong_rows(world), 0);
	sm_world_check_orders(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->error, 0);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	CU_ASSERT_EQUAL(world->sm->sweep.last.sets, 0);
	CU_ASSERT_FALSE(world->sm->sweep.last.changed);
}

#endif
