/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marks drained ports in the model, and judges what they cut off: sm/discovery/drained.h. */
#include "sm/discovery/drained.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/no_transit.h"
#include "lib/guid.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "sm/discovery/disabled.h"

/* Records */

/* The first record of a walk that is in force; entry: the present record of the walk. */
static const struct drained_entry *in_force(const struct registry *registry, int index,
					    const struct drained_entry *entry)
{
	while (entry && entry->ending)
		entry = registry_next(registry, REGISTRY_DRAINED, index, entry);
	return entry;
}

const struct drained_entry *drained_first(const struct registry *registry)
{
	return in_force(registry, -1, registry_first(registry, REGISTRY_DRAINED, -1, NULL));
}

const struct drained_entry *drained_next(const struct registry *registry, int index,
					 const struct drained_entry *entry)
{
	return in_force(registry, index, registry_next(registry, REGISTRY_DRAINED, index, entry));
}

const struct drained_entry *drained_at(const struct registry *registry, guid_t node_guid,
				       uint8_t port)
{
	const struct drained_entry key = {.node_guid = node_guid, .port = port};

	if (!port)
		return NULL;
	return in_force(registry, DRAINED_BY_PLACE,
			registry_first(registry, REGISTRY_DRAINED, DRAINED_BY_PLACE, &key));
}

bool port_is_drained(const struct registry *registry, guid_t node_guid, uint8_t port)
{
	return drained_at(registry, node_guid, port) != NULL;
}

const struct drained_entry *drained_find(const struct registry *registry, guid_t node_guid,
					 uint8_t port)
{
	const struct drained_entry key = {.of = node_guid, .of_port = port};

	return in_force(registry, DRAINED_BY_TARGET,
			registry_first(registry, REGISTRY_DRAINED, DRAINED_BY_TARGET, &key));
}

struct port *drained_port(const struct fabric *fabric, const struct drained_entry *entry)
{
	struct node *node = fabric_find_node(fabric, entry->node_guid);

	return entry->port && node && node->type == NODE_SWITCH && entry->port <= node->num_ports
		       ? &node->port[entry->port]
		       : NULL;
}

/* The switch at the manager's port, or the manager's switch itself; NULL: there is none. */
static struct node *own_switch(const struct fabric *fabric)
{
	const struct port *port = fabric->sm_port;

	if (port && !port_of_switch(port))
		port = port->peer;
	return port && port_of_switch(port) ? port->node : NULL;
}

bool drained_is_own(const struct fabric *fabric, const struct drained_entry *entry)
{
	const struct node *first = own_switch(fabric);
	const struct port *port = drained_port(fabric, entry);

	if (!fabric->sm_port)
		return false;
	if (port && port->peer == fabric->sm_port)
		return true;
	return !entry->of_port &&
	       (entry->of == fabric->sm_port->node->guid || (first && entry->of == first->guid));
}

/* What the manager reaches */

/* Ports and a switch that a search does not pass, apart from those that are disabled or drained
 * already; and an adapter that does not count. */
struct drained_cut {
	struct map ports; /* struct port by its address */
	const struct node *node;
	bool as_routes; /* only cables and switches that routes may use */
};

static bool is_cut(const struct drained_cut *cut, const struct port *port)
{
	return cut->ports.count && map_get(&cut->ports, (uintptr_t)port);
}

static bool is_passable(const struct registry *registry, const struct drained_cut *cut,
			const struct port *port)
{
	const struct port *peer = port->peer;

	return peer && (!cut->as_routes || cable_counts(port)) && !is_cut(cut, port) &&
	       !is_cut(cut, peer) && !disabled_is_going(registry, port) &&
	       !disabled_is_going(registry, peer);
}

static bool is_barrier(const struct fabric *fabric, const struct drained_cut *cut,
		       const struct node *node)
{
	return node == cut->node || node->sw->drained ||
	       (cut->as_routes && !switch_counts(fabric, node));
}

/* Puts the switches that the manager reaches into reached. Returns the number of ports of adapters
 * at these switches. */
static unsigned search_reached(const struct fabric *fabric, const struct registry *registry,
			       const struct drained_cut *cut, struct map *reached)
{
	struct node **queue = mem_array(fabric->num_switches + 1, sizeof(*queue));
	struct node *first = own_switch(fabric);
	size_t head = 0, tail = 0;
	unsigned ends = 0;

	if (first) {
		queue[tail++] = first;
		map_put(reached, first->guid, first);
	}
	while (head < tail) {
		struct node *node = queue[head++];

		for (unsigned i = 1; i <= node->num_ports; i++) {
			struct node *next;

			if (!is_passable(registry, cut, &node->port[i]))
				continue;
			next = node->port[i].peer->node;
			if (next->type != NODE_SWITCH) {
				ends += next != cut->node;
				continue;
			}
			if (map_get(reached, next->guid) || is_barrier(fabric, cut, next))
				continue;
			map_put(reached, next->guid, next);
			queue[tail++] = next;
		}
	}
	free(queue);
	return ends;
}

/* The ports of other nodes at the cables of this node: of a switch only those that the manager
 * reaches without the node. */
static size_t places_of_node(const struct fabric *fabric, const struct registry *registry,
			     const struct node *node, struct drained_entry *out)
{
	struct drained_cut cut = {.node = node};
	struct map reached;
	size_t count = 0;

	map_init(&reached);
	search_reached(fabric, registry, &cut, &reached);
	for (unsigned i = 1; i <= node->num_ports; i++) {
		const struct port *peer = node->port[i].peer;

		if (!peer || !port_of_switch(peer) || peer->node == node ||
		    (node->type == NODE_SWITCH && !map_get(&reached, peer->node->guid)))
			continue;
		out[count++] =
			(struct drained_entry){.node_guid = peer->node->guid, .port = peer->num};
	}
	map_done(&reached);
	return count;
}

/* The end of a cable that the manager reaches without this cable. */
static const struct port *reachable_end(const struct fabric *fabric,
					const struct registry *registry, const struct port *port)
{
	struct drained_cut cut = {.node = NULL};
	struct map reached;
	bool reaches;

	if (!port->peer || !port_of_switch(port->peer))
		return port;
	map_init(&cut.ports);
	map_init(&reached);
	map_put(&cut.ports, (uintptr_t)port, (void *)port);
	search_reached(fabric, registry, &cut, &reached);
	reaches = map_get(&reached, port->node->guid);
	map_done(&reached);
	map_done(&cut.ports);
	return reaches ? port : port->peer;
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
		end = reachable_end(fabric, registry, end);
	else
		end = end->peer && port_of_switch(end->peer) ? end->peer : NULL;
	if (end)
		places[count++] =
			(struct drained_entry){.node_guid = end->node->guid, .port = end->num};
	return count;
}

struct drained_losses drained_judge(const struct fabric *fabric, const struct registry *registry,
				    const struct node *target, const struct drained_entry *places,
				    size_t count)
{
	struct drained_cut cut = {.node = target && target->type != NODE_SWITCH ? target : NULL,
				  .as_routes = true};
	struct drained_losses losses;
	struct map reached;
	unsigned before, after;

	map_init(&cut.ports);
	map_init(&reached);
	before = search_reached(fabric, registry, &cut, &reached);
	for (size_t i = 0; i < count; i++) {
		struct port *port = drained_port(fabric, &places[i]);

		if (port)
			map_put(&cut.ports, (uintptr_t)port, port);
	}
	map_done(&reached);
	map_init(&reached);
	after = search_reached(fabric, registry, &cut, &reached);
	map_done(&reached);
	map_done(&cut.ports);
	losses.ports = before - after;
	losses.pairs = (uint64_t)losses.ports * after;
	return losses;
}

/* Targets and places */

/* GUIDs of nodes differ in other bits than the highest. */
static uint64_t drained_key(const struct drained_entry *entry)
{
	return entry->of ^ (uint64_t)entry->of_port << 56;
}

static struct drained_target *find_target_of(const struct drained *drained,
					     const struct drained_entry *entry)
{
	size_t at = map_counted(&drained->index, drained_key(entry));

	return at ? &drained->targets[at - 1] : NULL;
}

static size_t take_target(struct drained *drained, const struct drained *before,
			  const struct drained_entry *entry)
{
	struct drained_target *known = find_target_of(drained, entry);
	const struct drained_target *old = find_target_of(before, entry);

	if (known)
		return (size_t)(known - drained->targets);
	drained->targets =
		mem_grow(drained->targets, drained->num_targets, sizeof(*drained->targets));
	drained->targets[drained->num_targets++] =
		(struct drained_target){.entry = *entry, .held = old && old->held};
	map_put(&drained->index, drained_key(entry), (void *)drained->num_targets);
	return drained->num_targets - 1;
}

static bool is_place(const struct drained_place *place, const struct drained_entry *entry)
{
	return place->entry.node_guid == entry->node_guid && place->entry.port == entry->port &&
	       place->entry.of == entry->of && place->entry.of_port == entry->of_port;
}

bool drained_is_down(const struct port *port)
{
	return port_facts(port)->known &&
	       (port_info(port)->port_physical_state == PHYS_DISABLED ||
		(port->program.keeps_link && port_state_of(port) == PORT_DOWN));
}

/* A step that was reached is kept, unless the link of an isolated place came up again. at: in
 * before, after the last place that was found; both lists have the order of the records. */
static void take_record(struct drained *drained, const struct drained *before, size_t *at,
			struct fabric *fabric, const struct drained_entry *entry)
{
	const struct port *port = drained_port(fabric, entry);
	struct drained_place place = {.step = DRAINED_MARKED};
	bool is_down = port && drained_is_down(port);

	for (size_t i = *at; i < before->count; i++) {
		if (!is_place(&before->places[i], entry))
			continue;
		place = before->places[i];
		*at = i + 1;
		break;
	}
	place.entry = *entry;
	if (place.step == DRAINED_MARKED && is_down)
		place.step = DRAINED_ISOLATED;
	if (place.step == DRAINED_ISOLATED && port && !is_down) {
		place.step = DRAINED_MARKED;
		place.marked_us = 0;
	}
	place.target = take_target(drained, before, entry);
	drained->places = mem_grow(drained->places, drained->count, sizeof(*drained->places));
	drained->places[drained->count++] = place;
}

static void drained_free(struct drained *drained)
{
	free(drained->places);
	free(drained->targets);
	map_done(&drained->index);
	*drained = (struct drained){0};
}

void drained_tally(struct drained *drained)
{
	for (size_t i = 0; i < drained->num_targets; i++) {
		drained->targets[i].ports = drained->targets[i].isolated = 0;
		drained->targets[i].lowest = DRAINED_ISOLATED;
	}
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *place = &drained->places[i];
		struct drained_target *target = &drained->targets[place->target];

		if (!place->entry.port)
			continue;
		target->ports++;
		target->isolated += place->step == DRAINED_ISOLATED;
		if (place->step < target->lowest)
			target->lowest = place->step;
	}
}

/* Marks */

static void mark_port(struct fabric *fabric, const struct drained_entry *entry, bool is_drained)
{
	struct port *port = drained_port(fabric, entry);

	if (!port || port->program.drained == is_drained)
		return;
	port->program.drained = is_drained;
	fabric->topology++;
}

static void mark_node(struct fabric *fabric, const struct drained_entry *entry, bool is_drained)
{
	struct node *node = entry->of_port ? NULL : fabric_find_node(fabric, entry->of);

	if (!node || !node->sw || node->sw->drained == is_drained)
		return;
	node->sw->drained = is_drained;
	fabric->topology++;
}

static bool marks_port(const struct drained *drained, const struct drained_place *place)
{
	return !drained->targets[place->target].held || place->step == DRAINED_ISOLATED;
}

/* Whether another target marks the port of this place. */
static bool is_marked_by_other(const struct drained *drained, const struct drained_place *place)
{
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *other = &drained->places[i];

		if (other->target != place->target && other->entry.port == place->entry.port &&
		    other->entry.node_guid == place->entry.node_guid && marks_port(drained, other))
			return true;
	}
	return false;
}

static void mark_all(const struct drained *drained, struct fabric *fabric)
{
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *place = &drained->places[i];

		mark_node(fabric, &place->entry, !drained->targets[place->target].held);
		mark_port(fabric, &place->entry,
			  marks_port(drained, place) || is_marked_by_other(drained, place));
	}
}

/* Adds records for the cables of a drained switch that have none. */
static void extend_target(const struct fabric *fabric, struct registry *registry,
			  const struct drained_entry *target)
{
	const struct node *node = fabric_find_node(fabric, target->of);
	struct drained_entry *places;
	bool is_whole = true;
	size_t count;

	for (unsigned i = 1; node && node->sw && i <= node->num_ports; i++) {
		const struct port *peer = node->port[i].peer;

		is_whole &= !peer || !port_of_switch(peer) || peer->program.drained;
	}
	if (is_whole)
		return;
	count = drained_places(fabric, registry, node, 0, &places);
	for (size_t i = 0; i < count; i++) {
		struct drained_entry entry = *target;

		entry.node_guid = places[i].node_guid;
		entry.port = places[i].port;
		registry_put(registry, REGISTRY_DRAINED, &entry);
	}
	free(places);
}

static void extend_targets(const struct drained *drained, const struct fabric *fabric,
			   struct registry *registry)
{
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *place = &drained->places[i];

		if (!place->entry.port && !drained->targets[place->target].held)
			extend_target(fabric, registry, &place->entry);
	}
}

void drained_mark(struct drained *drained, struct fabric *fabric, struct registry *registry,
		  bool extend)
{
	uint64_t number = registry_number(registry);
	size_t at = 0;
	const struct drained_entry *entry = drained_first(registry);
	struct drained before = *drained;

	*drained = (struct drained){0};
	for (size_t i = 0; i < before.count; i++) {
		const struct drained_entry *old = &before.places[i].entry;

		if (!port_is_drained(registry, old->node_guid, old->port))
			mark_port(fabric, old, false);
		if (!drained_find(registry, old->of, old->of_port))
			mark_node(fabric, old, false);
	}
	for (; entry; entry = drained_next(registry, -1, entry))
		if (!drained_is_own(fabric, entry))
			take_record(drained, &before, &at, fabric, entry);
	drained_free(&before);
	mark_all(drained, fabric);
	drained_tally(drained);
	if (!extend)
		return;
	extend_targets(drained, fabric, registry);
	if (registry_number(registry) != number)
		drained_mark(drained, fabric, registry, false);
}

void drained_unmark(struct drained *drained, struct fabric *fabric)
{
	for (size_t i = 0; i < drained->count; i++) {
		mark_port(fabric, &drained->places[i].entry, false);
		mark_node(fabric, &drained->places[i].entry, false);
	}
	drained_free(drained);
}

/* Changes the marks of a target for a search, and not the topology. */
static void show_target(const struct drained *drained, const struct fabric *fabric, size_t target,
			bool is_drained)
{
	const struct drained_entry *of = &drained->targets[target].entry;
	struct node *node = of->of_port ? NULL : fabric_find_node(fabric, of->of);

	if (node && node->sw)
		node->sw->drained = is_drained;
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *place = &drained->places[i];
		struct port *port = drained_port(fabric, &place->entry);

		if (place->target == target && port && marks_port(drained, place) &&
		    !is_marked_by_other(drained, place))
			port->program.drained = is_drained;
	}
}

struct drained_losses drained_judge_again(const struct drained *drained,
					  const struct fabric *fabric,
					  const struct registry *registry, size_t target)
{
	const struct drained_target *of = &drained->targets[target];
	struct drained_entry *places = mem_array(of->ports + 1, sizeof(*places));
	struct drained_losses losses;
	size_t count = 0;

	for (size_t i = 0; i < drained->count; i++)
		if (drained->places[i].target == target && drained->places[i].entry.port)
			places[count++] = drained->places[i].entry;
	if (!of->held)
		show_target(drained, fabric, target, false);
	losses = drained_judge(fabric, registry, fabric_find_node(fabric, of->entry.of), places,
			       count);
	if (!of->held)
		show_target(drained, fabric, target, true);
	free(places);
	return losses;
}

void drained_apply(const struct drained *drained, const struct fabric *fabric, uint64_t now_us,
		   uint64_t settle_us)
{
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *place = &drained->places[i];
		struct port *port = drained_port(fabric, &place->entry);

		if (!port || place->step == DRAINED_MARKED ||
		    (place->step == DRAINED_CLEAR && drained->targets[place->target].held))
			continue;
		if (place->step == DRAINED_CLEAR && now_us - place->clear_us < settle_us)
			continue;
		disabled_keep_down(port);
	}
}

/* Status */

static json_t *target_json(const struct drained *drained, const struct fabric *fabric,
			   const struct drained_entry *target)
{
	const struct node *node = fabric_find_node(fabric, target->of);
	const struct drained_target *of = find_target_of(drained, target);
	unsigned ports = of ? of->ports : 0, isolated = of ? of->isolated : 0;
	char guid[GUID_TEXT];
	json_t *json;

	json = json_pack("{s:s,s:s,s:s,s:I,s:s,s:i,s:i}", "guid", guid_text(target->of, guid),
			 "description",
			 node ? node->facts->description : (const char *)target->name, "by",
			 target->by_policy ? "policy" : "command", "since_s",
			 (json_int_t)target->since_s, "state",
			 drained_is_own(fabric, target) ? "own path"
			 : of && of->held		? "held: last path"
			 : isolated == ports		? "isolated"
							: "draining",
			 "ports", (int)ports, "isolated", (int)isolated);
	if (target->of_port)
		json_object_set_new(json, "port", json_integer(target->of_port));
	if (target->reason[0])
		json_object_set_new(json, "reason", json_string((const char *)target->reason));
	return json;
}

unsigned drained_count(const struct registry *registry, bool by_policy)
{
	const struct drained_entry *entry = drained_first(registry);
	unsigned count = 0;

	for (; entry; entry = drained_next(registry, -1, entry))
		count += entry->port && (bool)entry->by_policy == by_policy;
	return count;
}

json_t *drained_ports_json(const struct fabric *fabric, const struct registry *registry)
{
	const struct drained_entry *entry = drained_first(registry);
	json_t *json = json_pack("{s:i,s:i}", "by_command", (int)drained_count(registry, false),
				 "by_policy", (int)drained_count(registry, true));
	const struct node *node;

	while (entry && !entry->by_policy)
		entry = drained_next(registry, -1, entry);
	if (!entry)
		return json;
	node = fabric_find_node(fabric, entry->of);
	json_object_set_new(json, "example",
			    json_pack("{s:s,s:i,s:s}", "description",
				      node ? node->facts->description : (const char *)entry->name,
				      "port", entry->of_port, "reason",
				      (const char *)entry->reason));
	return json;
}

/* A target with a port has one record. Of a node, only the record without a port counts. */
json_t *drained_json(const struct drained *drained, const struct fabric *fabric,
		     const struct registry *registry)
{
	const struct drained_entry *entry = drained_first(registry);
	json_t *array = json_array();

	for (; entry; entry = drained_next(registry, -1, entry))
		if (entry->of_port || !entry->port)
			json_array_append_new(array, target_json(drained, fabric, entry));
	return array;
}
