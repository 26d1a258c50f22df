/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the disabled ports of the registry: sm/discovery/disabled.h. */
#include "sm/discovery/disabled.h"

#include <stdlib.h>

#include "fabric/no_transit.h"
#include "lib/guid.h"
#include "lib/map.h"
#include "lib/mem.h"

bool port_is_disabled(const struct registry *registry, guid_t node_guid, uint8_t port)
{
	const struct disabled_entry key = {.node_guid = node_guid, .port = port};

	/* Searches of the fabric call this for each port: the count makes the usual case fast. */
	return registry_count(registry, REGISTRY_DISABLED) &&
	       registry_find(registry, REGISTRY_DISABLED, &key) != NULL;
}

void disabled_keep_down(struct port *port)
{
	if (!port_facts(port)->known)
		return;
	if (port_info(port)->port_physical_state == PHYS_DISABLED)
		port->program.keeps_link = false;
	else if (!port->program.keeps_link)
		port_ask_link(port, PHYS_DISABLED);
}

void disabled_apply(struct fabric *fabric, const struct registry *registry)
{
	const struct disabled_entry *entry = registry_first(registry, REGISTRY_DISABLED, -1, NULL);

	for (; entry; entry = registry_next(registry, REGISTRY_DISABLED, -1, entry)) {
		struct port *port = fabric_switch_port(fabric, entry->node_guid, entry->port);

		if (port)
			disabled_keep_down(port);
	}
}

bool disabled_is_going(const struct registry *registry, const struct port *port)
{
	return port->program.drained || port_is_disabled(registry, port->node->guid, port->num);
}

/* Ports of this switch that lead to adapters. */
static unsigned ends_at(const struct node *node)
{
	unsigned ends = 0;

	for (unsigned i = 1; node->type == NODE_SWITCH && i <= node->num_ports; i++)
		ends += node->port[i].peer && node->port[i].peer->node->type != NODE_SWITCH;
	return ends;
}

/* Whether routes may use the cable at this port, and the switch at its other end. */
static bool is_of_routes(const struct fabric *fabric, const struct port *port)
{
	const struct node *next = port->peer->node;

	return cable_counts(port) && (next->type != NODE_SWITCH || switch_counts(fabric, next));
}

/* Walks the fabric from a node, over cables that routes may use, without the cable at cut, until it
 * finds the switch of cut. Returns whether it found it; *ends: ports of adapters at the switches
 * that it passed. */
static bool finds_switch(const struct fabric *fabric, const struct registry *registry,
			 const struct port *cut, struct node *from, unsigned *ends)
{
	struct node **queue = mem_array(fabric->nodes.count, sizeof(*queue));
	size_t head = 0, tail = 0;
	struct map seen;

	*ends = 0;
	map_init(&seen);
	queue[tail++] = from;
	map_put(&seen, from->guid, from);
	while (head < tail && queue[head] != cut->node) {
		struct node *node = queue[head++];

		*ends += ends_at(node);
		if (node->type != NODE_SWITCH && head > 1)
			continue; /* an adapter does not forward */
		for (unsigned i = 1; i <= node->num_ports; i++) {
			const struct port *port = &node->port[i], *peer = port->peer;

			if (!peer || port == cut || peer == cut || map_get(&seen, peer->node->guid))
				continue;
			if (!is_of_routes(fabric, port))
				continue;
			if (disabled_is_going(registry, port) || disabled_is_going(registry, peer))
				continue;
			map_put(&seen, peer->node->guid, peer->node);
			queue[tail++] = peer->node;
		}
	}
	free(queue);
	map_done(&seen);
	return head < tail;
}

bool disabled_leaves_way(const struct fabric *fabric, const struct registry *registry,
			 const struct port *cut)
{
	unsigned ends;

	return fabric->sm_port && finds_switch(fabric, registry, cut, fabric->sm_port->node, &ends);
}

unsigned disabled_cuts_off(const struct fabric *fabric, const struct registry *registry,
			   const struct port *cut)
{
	unsigned ends;

	if (!cut->peer)
		return 0;
	if (cut->peer->node->type != NODE_SWITCH)
		return 1;
	return finds_switch(fabric, registry, cut, cut->peer->node, &ends) ? 0 : ends;
}

unsigned disabled_count_ends(const struct fabric *fabric)
{
	const struct node *node;
	unsigned ends = 0;
	size_t at = 0;

	while ((node = map_next(&fabric->nodes, &at)))
		ends += ends_at(node);
	return ends;
}

json_t *disabled_json(const struct fabric *fabric, const struct registry *registry)
{
	const struct disabled_entry *entry = registry_first(registry, REGISTRY_DISABLED, -1, NULL);
	json_t *array = json_array();
	char guid[GUID_TEXT];

	for (; entry; entry = registry_next(registry, REGISTRY_DISABLED, -1, entry)) {
		const struct node *node = fabric_find_node(fabric, entry->node_guid);

		json_array_append_new(array,
				      json_pack("{s:s,s:s*,s:i}", "guid",
						guid_text(entry->node_guid, guid), "description",
						node ? node->facts->description : NULL, "port",
						entry->port));
	}
	return array;
}
