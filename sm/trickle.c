/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A round goes over the nodes in the order of their GUIDs; of each it reads item after item:
 * SwitchInfo, PortInfo of every port, each block of the forwarding table below the top. Nodes that
 * come or go meanwhile are found or missed by the next round. An answer is dropped when a sweep ran
 * while it was under way, for the sweep knows better.
 */
#include "sm/trickle.h"

#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/context.h"
#include "sm/subject.h"

enum { IDLE_US = 1000000, INTERVAL_MIN_US = 1000 };

/* Comparing */

bool trickle_same_port(const struct port_info *a, const struct port_info *b)
{
	struct port_info x = *a, y = *b;

	x.m_key_violations = y.m_key_violations;
	x.p_key_violations = y.p_key_violations;
	x.q_key_violations = y.q_key_violations;
	x.diag_code = y.diag_code;
	x.link_round_trip_latency = y.link_round_trip_latency;
	x.max_credit_hint = y.max_credit_hint;
	x.client_reregister = y.client_reregister;
	x.local_port_num = y.local_port_num; /* by which port the request came */
	return memcmp(&x, &y, sizeof(x)) == 0;
}

bool trickle_same_switch(const struct switch_info *a, const struct switch_info *b)
{
	struct switch_info x = *a;

	x.port_state_change = b->port_state_change;
	return memcmp(&x, b, sizeof(x)) == 0;
}

/* Differences */

static void differs(struct sm *sm, const struct port *port, const char *what, unsigned number)
{
	struct log_subject subject = port_subject(port, MESSAGE_DIFFERS);

	sm->trickle.differences++;
	log_limited(&sm->trickle.limit, LOG_WARNING, &subject,
		    "\"%s\": %s %u is not what it was: the device forgot it, or somebody else "
		    "wrote; it is mended",
		    port->node->facts->description, what, number);
	trigger_node(&sm->trigger, port->node->guid, "a read back found a difference");
}

static void compare_switch_info(struct sm *sm, struct port *port, uint32_t number,
				const uint8_t *data)
{
	struct switch_info info;

	attr_decode(&switch_info_format, data, &info);
	if (!trickle_same_switch(&info, &port->node->facts->sw))
		differs(sm, port, "SwitchInfo", number);
}

static void compare_port_info(struct sm *sm, struct port *port, uint32_t number,
			      const uint8_t *data)
{
	struct port_info info;

	attr_decode(&port_info_format, data, &info);
	if (!trickle_same_port(&info, port_info(port)))
		differs(sm, port, "PortInfo of port", number & UINT8_MAX);
}

static void compare_block(struct sm *sm, struct port *port, uint32_t number, const uint8_t *data)
{
	struct switch_state *sw = port->node->sw;
	const uint8_t *held = lft_have_block(&sw->have, (uint16_t)number);

	if (!held || !sw->want || memcmp(held, data, LFT_BLOCK_LIDS) == 0)
		return;
	lft_have_learn(&sw->have, (uint16_t)number, sw->want->blocks, data);
	sw->settled = false;
	differs(sm, port, "block of the forwarding table", number);
}

static const struct {
	uint16_t attr_id;
	void (*compare)(struct sm *sm, struct port *port, uint32_t number, const uint8_t *data);
} rows[] = {
	{ATTR_SWITCH_INFO, compare_switch_info},
	{ATTR_PORT_INFO, compare_port_info},
	{ATTR_LINEAR_FORWARDING_TABLE, compare_block},
};

static void answered(void *owner, void *subject, const struct smp_request *request,
		     const struct smp_answer *answer)
{
	struct sm *sm = owner;

	sm->trickle.under_way = false;
	if (answer->error || answer->status || sm->sweep.running ||
	    sm->sweep.last.number != sm->trickle.sweep)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].attr_id == request->attr_id)
			rows[i].compare(sm, subject, request->attr_mod, answer->data);
	}
}

/* Items of a node */

static unsigned blocks_of(const struct node *node)
{
	return node->sw ? node->facts->sw.linear_fdb_top / LFT_BLOCK_LIDS + 1u : 0;
}

/* The SwitchInfo of a switch, ports from 0 on, blocks. */
static unsigned items_of(const struct node *node)
{
	return (node->sw != NULL) + node->num_ports + 1u + blocks_of(node);
}

/* False: there is nothing to read there. */
static bool item_request(struct node *node, unsigned item, struct port **port,
			 struct smp_request *out)
{
	unsigned first_port = node->sw != NULL;

	*port = &node->port[0];
	if (item < first_port) {
		out->attr_id = ATTR_SWITCH_INFO;
		return true;
	}
	if (item <= first_port + node->num_ports) {
		*port = &node->port[item - first_port];
		out->attr_id = ATTR_PORT_INFO;
		out->attr_mod = port_info_modifier(*port);
		return port_agent(*port) && port_facts(*port)->known;
	}
	out->attr_id = ATTR_LINEAR_FORWARDING_TABLE;
	out->attr_mod = item - first_port - node->num_ports - 1;
	return lft_have_block(&node->sw->have, (uint16_t)out->attr_mod) != NULL;
}

/* Rounds */

static void begin_round(struct sm *sm)
{
	struct trickle *trickle = &sm->trickle;
	const struct roster *roster = fabric_roster(sm->fabric);

	trickle->rounds++;
	trickle->nodes = mem_resize(trickle->nodes, roster->num_nodes + 1, sizeof(*trickle->nodes));
	trickle->num_nodes = trickle->at = 0;
	trickle->item = 0;
	trickle->total = 0;
	for (size_t i = 0; i < roster->num_nodes; i++) {
		trickle->nodes[trickle->num_nodes++] = roster->nodes[i]->guid;
		trickle->total += items_of(roster->nodes[i]);
	}
}

static void read_next(struct sm *sm)
{
	struct trickle *trickle = &sm->trickle;

	if (trickle->at == trickle->num_nodes)
		begin_round(sm);
	while (trickle->at < trickle->num_nodes) {
		struct smp_request request = {.method = METHOD_GET, .done = answered, .owner = sm};
		struct node *node = fabric_find_node(sm->fabric, trickle->nodes[trickle->at]);
		struct port *port;

		if (!node || trickle->item >= items_of(node)) {
			trickle->at++;
			trickle->item = 0;
			continue;
		}
		if (!item_request(node, trickle->item++, &port, &request))
			continue;
		request.subject = port;
		trickle->under_way = true;
		trickle->sweep = sm->sweep.last.number;
		trickle->reads++;
		window_submit(&port_agent(port)->target, &request);
		return;
	}
}

static uint64_t interval_us(const struct sm *sm)
{
	uint64_t round_us = sm->options.readback_s * UINT64_C(1000000);
	uint64_t us = sm->trickle.total ? round_us / sm->trickle.total : IDLE_US;

	return us < INTERVAL_MIN_US ? INTERVAL_MIN_US : us;
}

/* Errors are swept for already, and a difference is mended before the next is looked for. */
static bool is_quiet(const struct sm *sm)
{
	return peers_role(sm->peers) == SM_MASTER && sm->view && !sm->sweep.running &&
	       !sm->sweep.failures && !sm->trigger.wanted && !sm->trickle.under_way;
}

static void tick(void *arg)
{
	struct sm *sm = arg;

	if (sm->stopped || !sm->options.readback_s)
		return;
	if (is_quiet(sm))
		read_next(sm);
	loop_timer_arm(&sm->trickle.timer, interval_us(sm));
}

void trickle_init(struct sm *sm)
{
	sm->trickle.limit = (struct log_limit){.burst = 10, .interval_us = 1000000};
	loop_timer_init(&sm->trickle.timer, sm->loop, "trickle", tick, sm);
}

void trickle_start(struct sm *sm)
{
	if (sm->options.readback_s)
		loop_timer_arm(&sm->trickle.timer, interval_us(sm));
	else
		loop_timer_disarm(&sm->trickle.timer);
}

void trickle_done(struct sm *sm)
{
	loop_timer_disarm(&sm->trickle.timer);
	free(sm->trickle.nodes);
	sm->trickle.nodes = NULL;
	sm->trickle.num_nodes = sm->trickle.at = 0;
}
