/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Searches the model from two sides: sm/discovery/reach.h. */
#include "sm/discovery/reach.h"

#include <stdlib.h>

#include "fabric/no_transit.h"
#include "lib/mem.h"

/* Switches that are connected. A part that has met the manager's part belongs to it. */
struct reach_part {
	struct node **queue;
	size_t head, count; /* the search has looked at the ports of the switches before head */
	size_t looked;	    /* ports */
	unsigned ends;	    /* ports of adapters at these switches */
	bool has_met;
};

enum { OWN = 0 };

/* Parts */

static void part_add(struct reach *reach, size_t part, struct node *node)
{
	struct reach_part *to = &reach->parts[part];

	to->queue = mem_grow(to->queue, to->count, sizeof(*to->queue));
	to->queue[to->count++] = node;
	map_put(&reach->part_of, node->guid, (void *)(part + 1));
}

static size_t part_new(struct reach *reach)
{
	reach->parts = mem_grow(reach->parts, reach->num_parts, sizeof(*reach->parts));
	reach->parts[reach->num_parts] = (struct reach_part){0};
	return reach->num_parts++;
}

static bool is_complete(const struct reach *reach, size_t part)
{
	return reach->parts[part].head == reach->parts[part].count;
}

/* Rules */

void reach_take_down(struct reach *reach, const struct port *port)
{
	map_put(&reach->down, (uintptr_t)port, (void *)port);
}

void reach_leave_out(struct reach *reach, const struct node *node)
{
	map_put(&reach->left_out, node->guid, (void *)node);
}

bool reach_passes(const struct reach *reach, const struct port *port)
{
	const struct port *peer = port->peer;

	return peer && !port_drained(port) && (!reach->as_routes || cable_counts(port)) &&
	       !map_get(&reach->down, (uintptr_t)port) && !map_get(&reach->down, (uintptr_t)peer);
}

static bool passes_switch(const struct reach *reach, const struct node *node)
{
	return !map_get(&reach->left_out, node->guid) && !node->sw->drained &&
	       (!reach->as_routes || switch_counts(reach->fabric, node));
}

void reach_begin(struct reach *reach, const struct fabric *fabric, const struct registry *registry,
		 bool as_routes)
{
	const struct disabled_entry *entry = registry_first(registry, REGISTRY_DISABLED, -1, NULL);
	struct node *first = fabric_first_switch(fabric);

	*reach = (struct reach){.fabric = fabric, .as_routes = as_routes};
	for (; entry; entry = registry_next(registry, REGISTRY_DISABLED, -1, entry)) {
		const struct port *port = fabric_switch_port(fabric, entry->node_guid, entry->port);

		if (port)
			reach_take_down(reach, port);
	}
	part_new(reach);
	if (first)
		part_add(reach, OWN, first);
}

void reach_end(struct reach *reach)
{
	for (size_t i = 0; i < reach->num_parts; i++)
		free(reach->parts[i].queue);
	free(reach->parts);
	map_done(&reach->down);
	map_done(&reach->left_out);
	map_done(&reach->part_of);
}

/* Searching */

static size_t part_at(const struct reach *reach, const struct node *node)
{
	return map_counted(&reach->part_of, node->guid);
}

/* at: of part_at(). */
static bool is_own_part(const struct reach *reach, size_t at)
{
	return at == OWN + 1 || (at && reach->parts[at - 1].has_met);
}

/* Looks at the next switch of a part. met: the other part. Returns whether the two parts have
 * met. */
static bool expand(struct reach *reach, size_t part, size_t met)
{
	struct node *node = reach->parts[part].queue[reach->parts[part].head++];
	bool meets = false;

	reach->parts[part].looked += node->num_ports;
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct node *next;
		size_t at;

		if (!reach_passes(reach, &node->port[i]))
			continue;
		next = node->port[i].peer->node;
		if (next->type != NODE_SWITCH) {
			reach->parts[part].ends += !map_get(&reach->left_out, next->guid);
			continue;
		}
		at = part_at(reach, next);
		if (at)
			meets |= part == OWN ? at == met + 1 : is_own_part(reach, at);
		else if (passes_switch(reach, next))
			part_add(reach, part, next);
	}
	return meets;
}

/* The search continues from the switches of a part that has met the manager's part. */
static void join_own(struct reach *reach, size_t part)
{
	struct reach_part *joined = &reach->parts[part];

	joined->has_met = true;
	reach->parts[OWN].ends += joined->ends;
	while (joined->head < joined->count)
		part_add(reach, OWN, joined->queue[joined->head++]);
}

bool reach_finds(struct reach *reach, struct node *node)
{
	size_t at = part_at(reach, node), part;

	if (at)
		return is_own_part(reach, at);
	part = part_new(reach);
	part_add(reach, part, node);
	while (!is_complete(reach, OWN) && !is_complete(reach, part)) {
		bool is_own = reach->parts[OWN].looked <= reach->parts[part].looked;

		if (!expand(reach, is_own ? OWN : part, part))
			continue;
		join_own(reach, part);
		return true;
	}
	return false;
}

unsigned reach_count_ends(const struct reach *reach)
{
	const struct fabric *fabric = reach->fabric;
	unsigned ends = (unsigned)fabric->ports.count - fabric->num_switches;
	const struct node *node;
	size_t position = 0;

	while ((node = map_next(&reach->left_out, &position)))
		for (unsigned i = 1; node->type != NODE_SWITCH && i <= node->num_ports; i++)
			ends -= node->port[i].agent != NULL;
	return ends;
}

unsigned reach_count_lost(struct reach *reach, struct port *const *cables, size_t count)
{
	bool finds_all = true;
	unsigned lost = 0;

	if (!reach->parts[OWN].count)
		return 0; /* no switch: nothing is reached before */
	for (size_t i = 0; i < count; i++) {
		struct node *node = cables[i]->node, *peer = cables[i]->peer->node;
		const struct node *adapter = node->type != NODE_SWITCH	 ? node
					     : peer->type != NODE_SWITCH ? peer
									 : NULL;

		if (adapter) {
			lost += !map_get(&reach->left_out, adapter->guid);
			continue;
		}
		finds_all &= reach_finds(reach, node);
		finds_all &= reach_finds(reach, peer);
	}
	/* The manager's part is smaller, and the counts of the other parts are not complete. An
	 * agent that has not answered yet is not an end port of the fabric. */
	if (!finds_all && is_complete(reach, OWN)) {
		unsigned all = reach_count_ends(reach), own = reach->parts[OWN].ends;

		return all > own ? all - own : 0;
	}
	for (size_t i = OWN + 1; i < reach->num_parts; i++)
		lost += reach->parts[i].has_met ? 0 : reach->parts[i].ends;
	return lost;
}
