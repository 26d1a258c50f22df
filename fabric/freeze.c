/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Freezing: the live model becomes a snapshot. Reports are shared, not copied; only cables and
 * owners of LIDs are written. Nodes without a route from the manager are left out, and switches
 * whose tables are too small for the LIDs in use. So are cables with an end that is down or unread,
 * and cables between switches that failed to come up at the last attempt. A port remembers its last
 * cable as long as its switch exists and the cable's other end is not cabled elsewhere. The
 * registry also has the last cable of each host, for use after a restart.
 */
#include "fabric/freeze.h"

#include "store/registry.h"

static bool cabled(const struct freeze *freeze, const struct port *port)
{
	return cable_counts(port) && !no_transit_hides(&freeze->no_transit, port);
}

static bool end_is_there(const struct fabric *fabric, const struct port *port)
{
	struct route_path path;

	return port->agent && port_facts(port)->known && port_route(fabric, port, &path);
}

/* Stages */

/* Units for following a route, and for the memory of a snapshot. */
enum { COST_WAY = 4, COST_ROOM = 1000 };

static unsigned freeze_begin(void *arg, size_t *at)
{
	struct freeze *freeze = arg;

	if ((*at)++)
		return 0;
	snapshot_unref(freeze->snapshot);
	freeze->snapshot = NULL;
	freeze->topology = freeze->fabric->topology;
	freeze->facts = freeze->fabric->facts;
	freeze->switches = freeze->ends = freeze->links = 0;
	return COST_ROOM; /* the roster may have to be built */
}

static unsigned freeze_choose_no_transit(void *arg, size_t *at)
{
	struct freeze *freeze = arg;

	return no_transit_step(freeze->fabric, &freeze->no_transit, at);
}

/* The indexes of each switch and end port in the snapshot, so that cables find them. */

static unsigned number_switch(void *arg, size_t *at)
{
	struct freeze *freeze = arg;
	struct node *node;

	node = fabric_next_switch(freeze->fabric, at);
	if (!node)
		return 0;
	node->index = -1;
	if (switch_counts(freeze->fabric, node)) {
		node->index = (int32_t)freeze->switches++;
		freeze->links += node->num_ports + 1u;
	}
	return COST_WAY;
}

static unsigned number_end(void *arg, size_t *at)
{
	struct freeze *freeze = arg;
	struct port *port;

	port = fabric_next_end(freeze->fabric, at);
	if (!port)
		return 0;
	port->agent->index = -1;
	if (!port_of_switch(port) && end_is_there(freeze->fabric, port))
		port->agent->index = (int32_t)freeze->ends++;
	return COST_WAY;
}

static unsigned freeze_allocate(void *arg, size_t *at)
{
	struct freeze *freeze = arg;

	if ((*at)++)
		return 0;
	freeze->snapshot = snapshot_alloc(freeze->switches, freeze->ends, freeze->links);
	freeze->snapshot->options = route_options_ref(freeze->fabric->route_options);
	freeze->links = 0;
	return COST_ROOM;
}

static unsigned clear_room(void *arg, size_t *at)
{
	struct freeze *freeze = arg;

	return snapshot_clear_step(freeze->snapshot, at);
}

/* Whether the peer that a port without a link remembers is cabled to another port now, or a switch
 * has taken a host's place. This also applies if routes may not use that cable yet: it comes up
 * under the routes, and packets for the absent host would be forwarded from there. */
static bool moved_away(const struct fabric *fabric, const struct port *port)
{
	const struct snap_cable *cable = &port->cable;
	const struct node *node;
	const struct port *far;

	if (cable->kind == CABLE_HOST) {
		if (port->peer && port_of_switch(port->peer))
			return true;
		far = map_get(&fabric->ports, cable->guid);
		return far && far->peer && far->peer != port;
	}
	node = fabric_find_node(fabric, cable->guid);
	if (!node || cable->port > node->num_ports)
		return false;
	far = &node->port[cable->port];
	return far->peer && far->peer != port;
}

/* The last host at this port, before this manager started. */
static void recall_host(const struct fabric *fabric, struct port *port)
{
	const struct lid_entry place = {.node_guid = port->node->guid, .port = port->num};
	const struct lid_entry *entry, *last = NULL;

	entry = registry_first(fabric->registry, REGISTRY_LID, LID_BY_PLACE, &place);
	for (; entry; entry = registry_next(fabric->registry, REGISTRY_LID, LID_BY_PLACE, entry))
		if (!last || entry->gone - 1 > last->gone - 1) /* 0: it has no number yet */
			last = entry;
	if (last)
		port->cable = (struct snap_cable){.guid = last->guid, .kind = CABLE_HOST};
}

static void forget_moved(const struct fabric *fabric, struct port *port)
{
	if (port->cable.kind != CABLE_NONE && moved_away(fabric, port))
		port->cable = (struct snap_cable){0};
}

/* The remembered cable of a port without a link: ports at which no device was found keep it,
 * because the device may return. */
static struct snap_cable recall_cable(const struct freeze *freeze, struct port *port)
{
	const struct fabric *fabric = freeze->fabric;
	struct snap_cable cable;

	forget_moved(fabric, port);
	if (port->cable.kind == CABLE_NONE && fabric->registry && port->num) {
		recall_host(fabric, port);
		forget_moved(fabric, port);
	}
	cable = port->cable;
	if (cable.kind == CABLE_HOST && fabric->registry) {
		const struct lid_entry *kept = registry_find(
			fabric->registry, REGISTRY_LID, &(struct lid_entry){.guid = cable.guid});

		cable.lid = kept ? kept->lid : LID_NONE; /* another port may have it now */
		cable.lmc = kept ? kept->lmc : 0;
	}
	if (cable.lid + (1u << cable.lmc) > fabric->lid_limit)
		cable.lid = LID_NONE; /* the table of some switch is too small */
	return cable;
}

static void freeze_link(struct freeze *freeze, struct port *port, uint32_t slot)
{
	struct snap_link *link = &freeze->snapshot->links[slot];

	if (cabled(freeze, port)) {
		if (port_of_switch(port->peer))
			link->sw = port->peer->node->index;
		else if (port->peer->agent)
			link->end = port->peer->agent->index;
		link->port = port->peer->num;
	}
	if (link->sw < 0 && link->end < 0)
		freeze->snapshot->cables[slot] = recall_cable(freeze, port);
	else if (port->peer == freeze->fabric->sm_port && !freeze->as_found) {
		freeze->snapshot->cables[slot].lid = freeze->fabric->sm_kept_lid;
		freeze->snapshot->cables[slot].lmc = freeze->fabric->sm_kept_lmc;
	}
}

static unsigned freeze_switch(void *arg, size_t *at)
{
	struct freeze *freeze = arg;
	uint32_t first_link = freeze->links;
	struct snap_switch *sw;
	struct node *node;

	node = fabric_next_switch(freeze->fabric, at);
	if (!node)
		return 0;
	if (node->index < 0)
		return 1;
	sw = &freeze->snapshot->switches[node->index];
	*sw = (struct snap_switch){
		.guid = node->guid,
		.lid = freeze->as_found ? port_info(&node->port[0])->lid : node->port[0].lid,
		.lmc = node->port[0].lmc,
		.num_ports = node->num_ports,
		.lft_cap = node->facts->sw.linear_fdb_cap,
		.first_link = first_link,
		.facts = facts_ref(node->facts),
	};
	for (unsigned i = 1; i <= node->num_ports; i++)
		freeze_link(freeze, &node->port[i], first_link + i);
	freeze->links += node->num_ports + 1u;
	return node->num_ports + 1u;
}

static unsigned add_end(void *arg, size_t *at)
{
	struct freeze *freeze = arg;
	const struct port *port;
	struct snap_end *end;

	port = fabric_next_end(freeze->fabric, at);
	if (!port)
		return 0;
	if (port->agent->index < 0)
		return 1;
	end = &freeze->snapshot->ends[port->agent->index];
	*end = (struct snap_end){
		.guid = port_facts(port)->guid,
		.lid = freeze->as_found ? port_info(port)->lid : port->lid,
		.lmc = freeze->as_found ? port_info(port)->lmc : port->lmc,
		.port = port->num,
		.sw = -1,
		.peer = -1,
		.facts = facts_ref(port->node->facts),
	};
	if (!cabled(freeze, port))
		return 2;
	if (port_of_switch(port->peer)) {
		end->sw = port->peer->node->index;
		end->sw_port = port->peer->num;
	} else if (port->peer->agent) {
		end->peer = port->peer->agent->index;
	}
	return 2;
}

static unsigned index_all(void *arg, size_t *at)
{
	struct freeze *freeze = arg;

	return snapshot_index_step(freeze->snapshot, at);
}

/* Ports remember the cables of the snapshot from now on. */
static unsigned freeze_remember_cables(void *arg, size_t *at)
{
	struct freeze *freeze = arg;
	struct node *node;

	node = fabric_next_switch(freeze->fabric, at);
	if (!node)
		return 0;
	if (node->index < 0)
		return 1;
	for (unsigned i = 1; i <= node->num_ports; i++) {
		const struct snap_link *link =
			snap_link(freeze->snapshot, (uint32_t)node->index, (uint8_t)i);

		if (link->sw >= 0 || link->end >= 0)
			node->port[i].cable =
				*snap_cable(freeze->snapshot, (uint32_t)node->index, (uint8_t)i);
	}
	return node->num_ports + 1u;
}

static unsigned freeze_finish(void *arg, size_t *at)
{
	struct freeze *freeze = arg;
	const struct port *sm_port = freeze->fabric->sm_port;

	if ((*at)++)
		return 0;
	freeze->snapshot->generation = ++freeze->fabric->freezes;
	if (sm_port && port_of_switch(sm_port))
		freeze->snapshot->sm_switch = sm_port->node->index;
	else if (sm_port && sm_port->agent)
		freeze->snapshot->sm_end = sm_port->agent->index;
	return 1;
}

/* Reports are shared: after a change, the model has new reports, and the snapshot those that it
 * took. */
static bool freeze_is_stale(const void *arg)
{
	const struct freeze *freeze = arg;

	return freeze->fabric->topology != freeze->topology;
}

static slice_fn *const stages[] = {freeze_begin,    freeze_choose_no_transit,
				   number_switch,   number_end,
				   freeze_allocate, clear_room,
				   freeze_switch,   add_end,
				   index_all,	    freeze_remember_cables,
				   freeze_finish,   NULL};
const struct slice_plan freeze_plan = {"freezing", stages, freeze_is_stale};
