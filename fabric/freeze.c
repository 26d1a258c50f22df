/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Freezing: the live model becomes a snapshot. Reports are shared, not copied; only who is cabled
 * to whom, and which LID is whose, is written down. Nodes that the manager cannot reach, switches
 * whose tables are too small for the LIDs that are used, and cables of which one end is down or was
 * never read, are left out, and so are those between switches that would not come up when they were
 * last asked to. What a port of a switch led to is remembered on the port, as long as its switch is
 * there and nobody has plugged that cable's other end elsewhere.
 */
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/lid.h"
#include "lib/mem.h"

struct census { /* what goes into the snapshot, in its order */
	struct node **switches;
	struct port **ends;
	uint32_t num_switches, num_ends, num_links;
};

static int by_node_guid(const void *a, const void *b)
{
	guid_t x = (*(struct node *const *)a)->guid, y = (*(struct node *const *)b)->guid;

	return (x > y) - (x < y);
}

static int by_port_guid(const void *a, const void *b)
{
	guid_t x = port_facts(*(struct port *const *)a)->guid;
	guid_t y = port_facts(*(struct port *const *)b)->guid;

	return (x > y) - (x < y);
}

static bool is_up(const struct port *port)
{
	return port_facts(port)->known && port_info(port)->port_state >= PORT_INIT;
}

static bool cabled(const struct port *port)
{
	bool failed = port_of_switch(port) && port->peer && port_of_switch(port->peer) &&
		      (port->stuck || port->peer->stuck || port_held(port));

	return port->peer && port->peer->node != port->node && !failed && is_up(port) &&
	       is_up(port->peer);
}

static bool end_is_there(const struct fabric *fabric, const struct port *port)
{
	struct route_path path;

	return port->agent && port_facts(port)->known && port_route(fabric, port, &path);
}

static void take_census(struct fabric *fabric, struct census *census)
{
	size_t position = 0;
	struct node *node;

	census->switches = mem_array(fabric->nodes.count + 1, sizeof(*census->switches));
	census->ends = mem_array(fabric->ports.count + 1, sizeof(*census->ends));
	while ((node = map_next(&fabric->nodes, &position))) {
		node->index = -1;
		if (node->type != NODE_SWITCH) {
			for (unsigned i = 1; i <= node->num_ports; i++) {
				if (end_is_there(fabric, &node->port[i]))
					census->ends[census->num_ends++] = &node->port[i];
			}
		} else if (node->facts->sw.linear_fdb_cap && lid_fits_switch(fabric, node) &&
			   fabric_reaches(fabric, node)) {
			census->switches[census->num_switches++] = node;
			census->num_links += node->num_ports + 1u;
		}
	}
	qsort(census->switches, census->num_switches, sizeof(*census->switches), by_node_guid);
	qsort(census->ends, census->num_ends, sizeof(*census->ends), by_port_guid);
}

/* Where each end port is in the snapshot, so that cables find it: its agent remembers. */
static void number(const struct census *census)
{
	for (uint32_t i = 0; i < census->num_switches; i++)
		census->switches[i]->index = (int32_t)i;
	for (uint32_t i = 0; i < census->num_ends; i++)
		census->ends[i]->agent->index = (int32_t)i;
}

/* Whether what a port without a link once led to is cabled to some other port now. */
static bool moved_away(const struct fabric *fabric, const struct port *port)
{
	const struct snap_cable *cable = &port->cable;
	const struct node *node;
	const struct port *far;

	if (cable->kind == CABLE_HOST) {
		far = map_get(&fabric->ports, cable->guid);
		return far && far->peer && far->peer != port;
	}
	node = fabric_find_node(fabric, cable->guid);
	if (!node || cable->port > node->num_ports)
		return false;
	far = &node->port[cable->port];
	return far->peer && far->peer != port;
}

/* What the snapshot knows of cables from now on is remembered; what it has no link for is told to
 * it. Ports at which nothing was found keep their memory: what was there may come back. */
static void recall_cables(const struct fabric *fabric, struct snapshot *snapshot,
			  const struct census *census)
{
	for (uint32_t s = 0; s < census->num_switches; s++) {
		struct snap_cable *cables = snapshot->cables + snapshot->switches[s].first_link;

		for (unsigned p = 1; p <= census->switches[s]->num_ports; p++) {
			struct port *port = &census->switches[s]->port[p];

			if (port->cable.kind != CABLE_NONE && moved_away(fabric, port))
				port->cable = (struct snap_cable){0};
			cables[p] = port->cable;
		}
	}
}

static void remember_cables(const struct snapshot *snapshot, const struct census *census)
{
	for (uint32_t s = 0; s < census->num_switches; s++)
		for (unsigned p = 1; p <= census->switches[s]->num_ports; p++)
			census->switches[s]->port[p].cable = *snap_cable(snapshot, s, (uint8_t)p);
}

static void add_switch(struct snapshot *snapshot, uint32_t index, uint32_t first_link,
		       const struct node *node, bool as_found)
{
	struct snap_switch *sw = &snapshot->switches[index];

	*sw = (struct snap_switch){
		.guid = node->guid,
		.lid = as_found ? port_info(&node->port[0])->lid : node->port[0].lid,
		.lmc = node->port[0].lmc,
		.num_ports = node->num_ports,
		.lft_cap = node->facts->sw.linear_fdb_cap,
		.first_link = first_link,
		.facts = facts_ref(node->facts),
	};
	for (unsigned i = 1; i <= node->num_ports; i++) {
		const struct port *port = &node->port[i];
		struct snap_link *link = &snapshot->links[first_link + i];

		if (!cabled(port))
			continue;
		if (port->peer->node->type == NODE_SWITCH)
			link->sw = port->peer->node->index;
		else if (port->peer->agent)
			link->end = port->peer->agent->index;
		link->port = port->peer->num;
	}
}

static void add_end(struct snapshot *snapshot, uint32_t index, const struct port *port,
		    bool as_found)
{
	struct snap_end *end = &snapshot->ends[index];

	*end = (struct snap_end){
		.guid = port_facts(port)->guid,
		.lid = as_found ? port_info(port)->lid : port->lid,
		.lmc = as_found ? port_info(port)->lmc : port->lmc,
		.port = port->num,
		.sw = -1,
		.peer = -1,
		.facts = facts_ref(port->node->facts),
	};
	if (!cabled(port))
		return;
	if (port->peer->node->type == NODE_SWITCH) {
		end->sw = port->peer->node->index;
		end->sw_port = port->peer->num;
	} else if (port->peer->agent) {
		end->peer = port->peer->agent->index;
	}
}

struct snapshot *fabric_freeze(struct fabric *fabric, bool as_found)
{
	struct census census = {0};
	struct snapshot *snapshot;
	uint32_t first_link = 0;
	const struct port *sm_port = fabric->sm_port;
	size_t position = 0;
	struct port *port;

	while ((port = map_next(&fabric->ports, &position)))
		port->agent->index = -1;
	take_census(fabric, &census);
	number(&census);
	snapshot = snapshot_new(census.num_switches, census.num_ends, census.num_links);
	snapshot->generation = ++fabric->freezes;
	for (uint32_t i = 0; i < census.num_switches; i++) {
		add_switch(snapshot, i, first_link, census.switches[i], as_found);
		first_link += census.switches[i]->num_ports + 1u;
	}
	for (uint32_t i = 0; i < census.num_ends; i++)
		add_end(snapshot, i, census.ends[i], as_found);
	if (sm_port && sm_port->node->type == NODE_SWITCH)
		snapshot->sm_switch = sm_port->node->index;
	else if (sm_port && sm_port->agent)
		snapshot->sm_end = sm_port->agent->index;
	snapshot->options = route_options_ref(fabric->route_options);
	recall_cables(fabric, snapshot, &census);
	snapshot_index(snapshot);
	remember_cables(snapshot, &census);
	free(census.switches);
	free(census.ends);
	return snapshot;
}
