/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the records of drained ports, and marks the ports in the model: sm/discovery/drained.h. */
#include "sm/discovery/drained.h"

#include <stdlib.h>

#include "lib/hash.h"
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

const struct drained_entry *drained_of_port(const struct registry *registry, guid_t node_guid,
					    uint8_t port)
{
	const struct drained_entry *entry = drained_at(registry, node_guid, port);

	return entry || !port ? entry : drained_find(registry, node_guid, port);
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
	return fabric_switch_port(fabric, entry->node_guid, entry->port);
}

bool drained_is_own(const struct fabric *fabric, const struct drained_entry *entry)
{
	const struct node *first = fabric_first_switch(fabric);
	const struct port *port = drained_port(fabric, entry);

	if (!fabric->sm_port)
		return false;
	if (port && port->peer == fabric->sm_port)
		return true;
	return !entry->of_port &&
	       (entry->of == fabric->sm_port->node->guid || (first && entry->of == first->guid));
}

/* Targets and places */

static uint64_t drained_key(const struct drained_entry *entry)
{
	const uint64_t target[] = {entry->of, entry->of_port};

	return hash_bytes(HASH_SEED, target, sizeof(target));
}

uint64_t drained_place_key(const struct drained_entry *entry)
{
	const uint64_t place[] = {entry->node_guid, entry->port, entry->of, entry->of_port};

	return hash_bytes(HASH_SEED, place, sizeof(place));
}

struct drained_target *drained_target_of(const struct drained *drained,
					 const struct drained_entry *entry)
{
	size_t at = map_counted(&drained->index, drained_key(entry));

	return at ? &drained->targets[at - 1] : NULL;
}

bool drained_same_place(const struct drained_entry *a, const struct drained_entry *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->of == b->of &&
	       a->of_port == b->of_port;
}

static const struct drained_place *find_place(const struct drained *drained,
					      const struct drained_entry *entry)
{
	size_t at = map_counted(&drained->place_index, drained_place_key(entry));

	return at && drained_same_place(&drained->places[at - 1].entry, entry)
		       ? &drained->places[at - 1]
		       : NULL;
}

static size_t take_target(struct drained *drained, const struct drained *before,
			  const struct drained_entry *entry)
{
	struct drained_target *known = drained_target_of(drained, entry);
	const struct drained_target *old = drained_target_of(before, entry);

	if (known)
		return (size_t)(known - drained->targets);
	drained->targets =
		mem_grow(drained->targets, drained->num_targets, sizeof(*drained->targets));
	drained->targets[drained->num_targets++] =
		(struct drained_target){.entry = *entry,
					.is_new = !old,
					.held = old && old->held,
					.untold = old && old->untold,
					.cuts_off = old && old->cuts_off};
	map_put(&drained->index, drained_key(entry), (void *)drained->num_targets);
	return drained->num_targets - 1;
}

bool drained_is_down(const struct port *port)
{
	return port_facts(port)->known &&
	       (port_info(port)->port_physical_state == PHYS_DISABLED ||
		(port->program.keeps_link && port_state_of(port) == PORT_DOWN));
}

/* A place keeps the step that it has reached, unless its step is isolated and its link came up
 * again. */
static void take_record(struct drained *drained, const struct drained *before,
			struct fabric *fabric, const struct drained_entry *entry)
{
	const struct port *port = drained_port(fabric, entry);
	const struct drained_place *old = find_place(before, entry);
	struct drained_place place = old ? *old : (struct drained_place){.step = DRAINED_MARKED};
	bool is_down = port && drained_is_down(port);
	struct drained_target *target;

	place.entry = *entry;
	if (place.step == DRAINED_MARKED && is_down)
		place.step = DRAINED_ISOLATED;
	if (place.step == DRAINED_ISOLATED && port && !is_down) {
		place.step = DRAINED_MARKED;
		place.marked_us = 0;
	}
	place.target = take_target(drained, before, entry);
	target = &drained->targets[place.target];
	place.next = target->first;
	drained->places = mem_grow(drained->places, drained->count, sizeof(*drained->places));
	drained->places[drained->count++] = place;
	target->first = drained->count;
	map_put(&drained->place_index, drained_place_key(entry), (void *)drained->count);
}

static void drained_free(struct drained *drained)
{
	free(drained->places);
	free(drained->targets);
	map_done(&drained->index);
	map_done(&drained->place_index);
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

const struct drained_place *drained_next_place(const struct drained *drained, size_t target,
					       const struct drained_place *place)
{
	size_t next = place ? place->next : drained->targets[target].first;

	return next ? &drained->places[next - 1] : NULL;
}

/* The losses by the places of a target that is not marked. */
static struct drained_losses judge_places(const struct drained *drained,
					  const struct fabric *fabric,
					  const struct registry *registry, size_t target)
{
	const struct node *node = fabric_find_node(fabric, drained->targets[target].entry.of);
	struct drained_entry *places = NULL;
	const struct drained_place *place = NULL;
	struct drained_losses losses;
	size_t count = 0;

	while ((place = drained_next_place(drained, target, place))) {
		places = mem_grow(places, count, sizeof(*places));
		places[count++] = place->entry;
	}
	losses = drained_judge(fabric, registry, node, places, count);
	free(places);
	return losses;
}

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
static bool is_marked_by_other(const struct drained *drained, const struct registry *registry,
			       const struct drained_place *place)
{
	const struct drained_entry *entry =
		drained_at(registry, place->entry.node_guid, place->entry.port);

	for (; entry; entry = drained_next(registry, DRAINED_BY_PLACE, entry)) {
		const struct drained_place *other = find_place(drained, entry);

		if (other && other->target != place->target && marks_port(drained, other))
			return true;
	}
	return false;
}

static void mark_place(const struct drained *drained, struct fabric *fabric,
		       const struct registry *registry, const struct drained_place *place)
{
	mark_node(fabric, &place->entry, !drained->targets[place->target].held);
	mark_port(fabric, &place->entry,
		  marks_port(drained, place) || is_marked_by_other(drained, registry, place));
}

/* Routes never leave the last path of an adapter: each new target is judged before it is marked,
 * with the earlier targets marked. */
static void mark_new(struct drained *drained, struct fabric *fabric,
		     const struct registry *registry)
{
	for (size_t i = 0; i < drained->num_targets; i++) {
		struct drained_target *target = &drained->targets[i];
		const struct drained_place *place = NULL;

		if (!target->is_new)
			continue;
		target->held =
			!target->entry.forced && judge_places(drained, fabric, registry, i).ports;
		target->untold = target->held;
		while ((place = drained_next_place(drained, i, place)))
			mark_place(drained, fabric, registry, place);
	}
}

static void mark_all(struct drained *drained, struct fabric *fabric,
		     const struct registry *registry)
{
	for (size_t i = 0; i < drained->count; i++)
		if (!drained->targets[drained->places[i].target].is_new)
			mark_place(drained, fabric, registry, &drained->places[i]);
	mark_new(drained, fabric, registry);
}

/* Adds records for the cables of a drained node that have none: new cables of a switch, or the new
 * place of a host. */
static void extend_target(const struct fabric *fabric, struct registry *registry,
			  const struct drained_entry *target)
{
	const struct node *node = fabric_find_node(fabric, target->of);
	struct drained_entry *places;
	bool is_whole = true;
	size_t count;

	for (unsigned i = 1; node && i <= node->num_ports; i++) {
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
			take_record(drained, &before, fabric, entry);
	drained_free(&before);
	mark_all(drained, fabric, registry);
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

/* Changes the marks of a target for a search only: the topology stays the same. */
static void show_target(const struct drained *drained, const struct fabric *fabric,
			const struct registry *registry, size_t target, bool is_drained)
{
	const struct drained_entry *of = &drained->targets[target].entry;
	struct node *node = of->of_port ? NULL : fabric_find_node(fabric, of->of);
	const struct drained_place *place = NULL;

	if (node && node->sw)
		node->sw->drained = is_drained;
	while ((place = drained_next_place(drained, target, place))) {
		struct port *port = drained_port(fabric, &place->entry);

		if (port && marks_port(drained, place) &&
		    !is_marked_by_other(drained, registry, place))
			port->program.drained = is_drained;
	}
}

struct drained_losses drained_judge_again(const struct drained *drained,
					  const struct fabric *fabric,
					  const struct registry *registry, size_t target)
{
	bool is_marked = !drained->targets[target].held;
	struct drained_losses losses;

	if (is_marked)
		show_target(drained, fabric, registry, target, false);
	losses = judge_places(drained, fabric, registry, target);
	if (is_marked)
		show_target(drained, fabric, registry, target, true);
	return losses;
}

/* Whether the port of a place leads, or led, to an adapter. */
static bool leads_to_end(const struct registry *registry, const struct drained_entry *place)
{
	const struct lid_entry key = {.node_guid = place->node_guid, .port = place->port};

	return registry_first(registry, REGISTRY_LID, LID_BY_PLACE, &key) != NULL;
}

/* A node that is drained itself is not missing: the administrator wanted this. */
static bool is_missing(const struct fabric *fabric, const struct registry *registry, guid_t guid)
{
	const struct node *node = fabric_find_node(fabric, guid);

	return !(node && fabric_reaches(fabric, node)) && !drained_find(registry, guid, 0);
}

guid_t drained_cut_off(const struct drained *drained, const struct fabric *fabric,
		       const struct registry *registry, size_t target)
{
	const struct drained_entry *of = &drained->targets[target].entry;
	const struct drained_place *place = NULL;

	while ((place = drained_next_place(drained, target, place))) {
		const struct drained_entry *entry = &place->entry;

		if (!entry->port || leads_to_end(registry, entry))
			continue;
		if (is_missing(fabric, registry, entry->node_guid))
			return entry->node_guid;
		if (of->of_port && entry->node_guid != of->of && place->step == DRAINED_ISOLATED &&
		    is_missing(fabric, registry, of->of))
			return of->of;
	}
	return 0;
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
