/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the places of a target, and judges what they cut off: sm/discovery/drained.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/discovery/drained.h"
#include "sm/discovery/reach.h"

/* The ports of other nodes at the cables of this node. If it is a switch, only those that the
 * manager reaches without the switch. */
static size_t places_of_node(const struct fabric *fabric, const struct registry *registry,
			     const struct node *node, struct drained_entry *out)
{
	struct reach reach;
	size_t count = 0;

	reach_begin(&reach, fabric, registry, false);
	reach_leave_out(&reach, node);
	for (unsigned i = 1; i <= node->num_ports; i++) {
		const struct port *peer = node->port[i].peer;

		if (!peer || !port_of_switch(peer) || peer->node == node ||
		    (node->type == NODE_SWITCH && !reach_finds(&reach, peer->node)))
			continue;
		out[count++] =
			(struct drained_entry){.node_guid = peer->node->guid, .port = peer->num};
	}
	reach_end(&reach);
	return count;
}

/* The end of a cable that is to be disabled. The manager must reach this end without the cable. If
 * it reaches both ends, this is the end that is nearer to the manager, because that end remains
 * reachable when more cables are lost. If both are equally near, it is the far end, so that the
 * record of the port names both. */
static const struct port *end_to_disable(const struct fabric *fabric,
					 const struct registry *registry, const struct port *port)
{
	const struct port *peer = port->peer;
	struct reach reach;
	bool finds, finds_peer;

	if (!peer || !port_of_switch(peer))
		return port;
	reach_begin(&reach, fabric, registry, false);
	reach_take_down(&reach, port);
	finds = reach_finds(&reach, port->node);
	finds_peer = reach_finds(&reach, peer->node);
	reach_end(&reach);
	if (!finds || !finds_peer)
		return finds ? port : peer;
	return port->node->hops < peer->node->hops ? port : peer;
}

size_t drained_places(const struct fabric *fabric, const struct registry *registry,
		      const struct node *node, uint8_t port, struct drained_entry **out)
{
	struct drained_entry *places = mem_array(node->num_ports + 1u, sizeof(*places));
	const struct port *end = port ? &node->port[port] : NULL;
	size_t count = 0;

	*out = places;
	if (!end)
		return places_of_node(fabric, registry, node, places);
	if (node->type == NODE_SWITCH)
		end = end_to_disable(fabric, registry, end);
	else
		end = end->peer && port_of_switch(end->peer) ? end->peer : NULL;
	if (end)
		places[count++] =
			(struct drained_entry){.node_guid = end->node->guid, .port = end->num};
	return count;
}

/* Takes down the cables of these places. Returns the number of those that carry routes now. */
static size_t take_down_places(struct reach *reach, const struct drained_entry *places,
			       size_t count, struct port **cables)
{
	size_t number = 0;

	for (size_t i = 0; i < count; i++) {
		struct port *port = drained_port(reach->fabric, &places[i]);

		if (!port || !reach_passes(reach, port))
			continue;
		reach_take_down(reach, port);
		cables[number++] = port;
	}
	return number;
}

struct drained_losses drained_judge_all(const struct fabric *fabric,
					const struct registry *registry,
					const struct node *const *targets, size_t num_targets,
					const struct drained_entry *places, size_t count)
{
	struct port **cables = mem_array(count + 1, sizeof(struct port *));
	struct drained_losses losses = {0};
	struct reach reach;
	unsigned all;

	reach_begin(&reach, fabric, registry, true);
	for (size_t i = 0; i < num_targets; i++)
		if (targets[i] && targets[i]->type != NODE_SWITCH)
			reach_leave_out(&reach, targets[i]);
	count = take_down_places(&reach, places, count, cables);
	losses.ports = reach_count_lost(&reach, cables, count);
	all = reach_count_ends(&reach);
	losses.pairs = all > losses.ports ? (uint64_t)losses.ports * (all - losses.ports) : 0;
	reach_end(&reach);
	free(cables);
	return losses;
}

struct drained_losses drained_judge(const struct fabric *fabric, const struct registry *registry,
				    const struct node *target, const struct drained_entry *places,
				    size_t count)
{
	return drained_judge_all(fabric, registry, &target, 1, places, count);
}

char *drained_losses_text(const struct drained_losses *losses)
{
	return mem_printf("would cut off %u port%s of adapters, and %" PRIu64
			  " pair%s of ports would lose %s path",
			  losses->ports, losses->ports == 1 ? "" : "s", losses->pairs,
			  losses->pairs == 1 ? "" : "s", losses->pairs == 1 ? "its" : "their");
}
