/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The end of a pass: removes cables that were not seen, except those of a node of which only the
 * agent is silent, and removes unreachable nodes. It logs each node that became silent or responds
 * again, and sets a switch that stays silent to no-transit. The stages run in slices, and restart
 * when the cables change between slices.
 */
#include <stdlib.h>

#include "fabric/no_transit.h"
#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/discovery/parts.h"

enum { SILENT_MAX_US = 60000000 }; /* silence after which a switch becomes no-transit */

static bool went_silent(const struct discover *discover, const struct node *node)
{
	return node->mute_pass == discover->pass || !discover_seen_again(discover, node);
}

/* A cable that was found while other cables were moved may not exist: the answer came from another
 * device on the same route. It counts once a later pass has seen it. */
static bool cable_is_doubtful(const struct discover *discover, const struct port *port)
{
	return port->discovery.seen_once && port->discovery.link_pass == discover->unsound_pass;
}

/* Whether a probe through the port met no other device. In a pass that requests a heavy pass, the
 * answer of another device may have come over a moved cable on the route to the port. */
static bool met_no_other(const struct discover *discover, const struct port *port)
{
	return port->discovery.far_end == FAR_END_SILENT ||
	       (port->discovery.far_end == FAR_END_DUPLICATE && discover->report.want_heavy);
}

/* Whether a cable was not seen only because the agent at one end is silent. Its switch still
 * forwards, and the links are up. PortStateChange at the other end is no sign of a loss if our own
 * Set(ARMED) caused it. */
static bool cable_is_kept(const struct discover *discover, const struct port *port)
{
	const struct port *ends[] = {port, port->peer};
	bool silent = false;

	if (cable_is_doubtful(discover, port))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		bool end_is = went_silent(discover, ends[i]->node);

		silent |= end_is;
		if (ends[i]->discovery.link == LINK_LOST || port_state_of(ends[i]) < PORT_ARMED ||
		    (!end_is && !met_no_other(discover, ends[i])))
			return false; /* the link was lost, or the agent did answer */
	}
	return silent;
}

/* Removes cables that were not seen, or whose ends disagree. */
static bool is_false_cable(const struct discover *discover, const struct port *port)
{
	const struct port *peer = port->peer;

	if (!peer)
		return false;
	if (discover->kind == DISCOVER_HEAVY && port->discovery.link_pass != discover->pass)
		return !cable_is_kept(discover, port);
	return port_facts(port)->known && port_info(port)->port_state < PORT_INIT &&
	       port_facts(peer)->known;
}

/* Changes by these stages do not restart them. */
static unsigned tidied(struct discover *discover, unsigned cost)
{
	discover->topology = discover->fabric->topology;
	return cost;
}

static unsigned cut_false_cables(void *arg, size_t *at)
{
	struct discover *discover = arg;
	struct node *node;

	node = fabric_next_node(discover->fabric, at);
	if (!node)
		return tidied(discover, 0);
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *port = &node->port[i];

		if (!is_false_cable(discover, port))
			continue;
		if (port->discovery.link_pass == discover->pass &&
		    port_info(port->peer)->port_state >= PORT_INIT)
			discover_duplicate(discover, port->peer, port->node->guid, port);
		fabric_unlink(discover->fabric, port);
	}
	return tidied(discover, node->num_ports + 1u);
}

static unsigned mark_silent(void *arg, size_t *at)
{
	struct discover *discover = arg;
	struct node *node;

	if (discover->kind != DISCOVER_HEAVY)
		return 0;
	node = fabric_next_node(discover->fabric, at);
	if (!node)
		return 0;
	node->silent = !discover_seen_again(discover, node);
	return node->num_ports + 1u;
}

static unsigned build_tree(void *arg, size_t *at)
{
	struct discover *discover = arg;

	return fabric_tree_step(discover->fabric, at);
}

/* If a pass requests a heavy pass, only the heavy pass decides which nodes are lost. Otherwise,
 * when a cable is moved during the pass, weftd would drop silent switches, with their tables, to
 * which the routes were lost. */
static unsigned find_lost(void *arg, size_t *at)
{
	struct discover *discover = arg;
	const struct roster *roster = fabric_roster(discover->fabric);

	if (*at == 0) {
		free(discover->lost);
		discover->lost = mem_array(roster->num_nodes, sizeof(*discover->lost));
		discover->num_lost = 0;
	}
	if (*at == roster->num_nodes || discover->report.want_heavy)
		return 0;
	if (!fabric_reaches(discover->fabric, roster->nodes[*at]))
		discover->lost[discover->num_lost++] = roster->nodes[*at];
	++*at;
	return 4;
}

static unsigned drop_lost(void *arg, size_t *at)
{
	struct discover *discover = arg;
	struct fabric *fabric = discover->fabric;
	struct log_subject subject;
	struct node *node;
	unsigned cost;

	if (*at == discover->num_lost)
		return 0;
	node = discover->lost[(*at)++];
	cost = 4 * (node->num_ports + 20u);
	subject = node_subject(node, MESSAGE_VANISHED);
	log_about(LOG_NOTICE, &subject, "node vanished");
	gone_note(fabric, node, loop_wall_s(discover->loop));
	fabric_drop_node(fabric, node);
	return tidied(discover, cost);
}

/* For the remaining nodes. */
static unsigned tell_silent(void *arg, size_t *at)
{
	struct discover *discover = arg;
	struct log_subject subject;
	struct node *node;

	node = fabric_next_node(discover->fabric, at);
	if (!node)
		return 0;
	if (node->silent == (node->silent_us != 0))
		return 1;
	subject = node_subject(node, MESSAGE_SILENT);
	log_limited(&discover->silent_limit, LOG_WARNING, &subject, "\"%s\" %s",
		    node->facts->description,
		    node->silent ? "does not respond, but its links are up: assuming that its "
				   "forwarding is unchanged, retrying"
				 : "responds again");
	node->silent_us = node->silent ? loop_now_us(discover->loop) : 0;
	if (node->silent)
		port_notes_add(&discover->fabric->silent,
			       &node->port[node->type == NODE_SWITCH ? 0 : 1]);
	return 4;
}

/* A switch with a silent agent keeps its table: its hosts still work, but no other routes should
 * use it. */
static unsigned set_no_transit_silent(void *arg, size_t *at)
{
	struct discover *discover = arg;
	struct node *node;

	node = fabric_next_switch(discover->fabric, at);
	if (!node)
		return tidied(discover, 0);
	if (node->sw->no_transit == NO_TRANSIT_REFUSES)
		return 1;
	if (!node->silent)
		fabric_set_no_transit(discover->fabric, node, TRANSIT_ALLOWED);
	else if (loop_now_us(discover->loop) - node->silent_us >= SILENT_MAX_US)
		fabric_set_no_transit(discover->fabric, node, NO_TRANSIT_SILENT);
	return tidied(discover, 1);
}

static bool tidying_is_stale(const void *arg)
{
	const struct discover *discover = arg;

	return discover->topology != discover->fabric->topology;
}

/* Prepares the walks, and repeats this after nodes were dropped. */
static unsigned make_roster(void *arg, size_t *at)
{
	struct discover *discover = arg;

	return tidied(discover, fabric_roster_step(discover->fabric, at));
}

static slice_fn *const tidying_stages[] = {
	make_roster, cut_false_cables, mark_silent,	      build_tree, find_lost, drop_lost,
	make_roster, tell_silent,      set_no_transit_silent, NULL};
const struct slice_plan discover_tidying = {"discovery tidies", tidying_stages, tidying_is_stale};
