/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The registry's LIDs, as stages of lid.c's slices. First the absent ports are collected, those
 * absent longest first, and returned ports get their LIDs again; the LIDs of the others are kept
 * while other LIDs are left. At the end the registry is updated.
 *
 * Ports are numbered in the order in which they disappear, because a clock may be set, and numbers
 * survive a restart. A port that is missing after a restart is the last that disappeared.
 */
#include <stdlib.h>

#include "fabric/lid_parts.h"
#include "lib/mem.h"

enum { COST_ENTRY = 2, COST_BACK = 4, COST_PUT = 5 };

unsigned lid_recall(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct lid_memory *memory = &work->memory;
	struct registry *registry = work->fabric->registry;
	const struct lid_entry *entry;
	const struct port *port;

	if (!registry)
		return 0;
	if (!*at) {
		*at = 1;
		registry_walk(registry, REGISTRY_LID, -1, NULL, &memory->cursor);
		memory->room = registry_count(registry, REGISTRY_LID);
		memory->entries = mem_array(memory->room + 1, sizeof(*memory->entries));
	}
	entry = registry_walk_next(&memory->cursor);
	if (!entry || memory->count == memory->room)
		return 0;
	port = map_get(&work->fabric->ports, entry->guid);
	memory->is_known |=
		port && work->fabric->sm_port && port->node != work->fabric->sm_port->node;
	if (!port || !port->lid)
		memory->entries[memory->count++] = *entry;
	return COST_ENTRY;
}

/* A port that has just disappeared, and has no number yet, comes last. */
static int by_gone(const void *a, const void *b)
{
	const struct lid_entry *x = a, *y = b;
	uint32_t gone_x = x->gone - 1, gone_y = y->gone - 1;

	if (gone_x != gone_y)
		return gone_x < gone_y ? -1 : 1;
	return (x->guid > y->guid) - (x->guid < y->guid);
}

unsigned lid_keep_all(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct lid_memory *memory = &work->memory;

	if (*at == memory->count)
		return 0;
	if (!*at)
		qsort(memory->entries, memory->count, sizeof(*memory->entries), by_gone);
	lid_keep(work, &memory->entries[(*at)++], true);
	return 1;
}

/* A port that has returned, perhaps without its LID, gets it again. The others remain. */
unsigned lid_give_back(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct lid_memory *memory = &work->memory;
	const struct lid_entry *entry;
	struct route_path path;
	struct port *port;

	if (*at == memory->count) {
		memory->count = memory->gone;
		return 0;
	}
	entry = &memory->entries[(*at)++];
	port = map_get(&work->fabric->ports, entry->guid);
	if (!port || port->lid || !port_facts(port)->known ||
	    !port_route(work->fabric, port, &path)) {
		memory->entries[memory->gone++] = *entry;
		return 1;
	}
	lid_keep(work, entry, false);
	if (entry->lmc == lid_lmc_of(work, port) && lid_fits(work, entry->lid, entry->lmc)) {
		lid_give(work, port, entry->lid, entry->lmc);
		work->report.kept++;
	}
	return COST_BACK;
}

lid_t lid_take_from_gone(struct lid_work *work, uint8_t lmc)
{
	struct lid_memory *memory = &work->memory;

	while (memory->taken < memory->count) {
		const struct lid_entry *entry = &memory->entries[memory->taken++];

		lid_keep(work, entry, false);
		if (lid_fits(work, entry->lid, lmc))
			return entry->lid;
	}
	return LID_NONE;
}

static bool is_given(const struct fabric *fabric, const struct lid_entry *entry)
{
	for (unsigned i = 0; i < 1u << entry->lmc; i++) {
		if (fabric->lids[entry->lid + i])
			return true;
	}
	return false;
}

unsigned lid_remember_gone(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct lid_memory *memory = &work->memory;
	struct lid_entry *entry;

	if (*at == memory->count)
		return 0;
	entry = &memory->entries[(*at)++];
	if (!entry->gone && memory->is_known) /* otherwise it may be another fabric */
		lost_links_missing(work->fabric, entry);
	if (!entry->gone)
		entry->gone = memory->last_gone < UINT32_MAX ? memory->last_gone + 1 : UINT32_MAX;
	memory->last_gone = entry->gone;
	if (is_given(work->fabric, entry))
		registry_drop(work->fabric->registry, REGISTRY_LID, entry);
	else
		registry_put(work->fabric->registry, REGISTRY_LID, entry);
	return COST_PUT;
}

/* Its present switch; while its link is down, its last switch. */
static void note_place(const struct registry *registry, const struct port *port,
		       struct lid_entry *entry)
{
	const struct port *peer = port_of_switch(port) ? NULL : port->peer;
	const struct lid_entry *before;

	if (peer && port_of_switch(peer)) {
		entry->node_guid = peer->node->guid;
		entry->port = peer->num;
	} else if (!port->peer && (before = registry_find(registry, REGISTRY_LID, entry))) {
		entry->node_guid = before->node_guid;
		entry->port = before->port;
	}
}

unsigned lid_remember_ports(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct registry *registry = work->fabric->registry;
	struct port *port;
	struct lid_entry entry;
	uint64_t before;

	if (!registry || *at == work->count)
		return 0;
	before = registry_number(registry);
	port = work->ports[(*at)++];
	entry = (struct lid_entry){
		.guid = port_facts(port)->guid, .lid = port->lid, .lmc = port->lmc};
	if (entry.guid == work->own.guid && work->own.lid)
		entry = work->own;
	note_place(registry, port, &entry);
	if (entry.lid)
		registry_put(registry, REGISTRY_LID, &entry);
	else
		registry_drop(registry, REGISTRY_LID, &entry);
	work->report.recorded += registry_number(registry) != before;
	return COST_PUT;
}
