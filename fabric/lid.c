/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * LIDs are assigned in two rounds: first every port with a valid LID keeps it, then the others get
 * LIDs leaf by leaf. The state of a 64-LID block (its kind, its use) is counted again from the
 * owners each time. All of this runs as stages in slices.
 */
#include <stdlib.h>

#include "fabric/lid_parts.h"
#include "lib/mem.h"

enum { PRECEDENCES = 3, COST_WAY = 4 };

static bool is_switch_port(const struct port *port)
{
	return port->node->type == NODE_SWITCH;
}

/* A range of 128 LIDs takes two blocks, and counts in the first. */
static struct lid_block *change_block(struct lid_work *work, unsigned lid)
{
	unsigned index = lid / LFT_BLOCK_LIDS;

	work->block[index & ~1u].room_for = 0;
	work->block[index].room_for = 0;
	return &work->block[index];
}

static void count_lids(struct lid_work *work, const struct port *port, lid_t lid, uint8_t lmc)
{
	for (unsigned i = 0; i < 1u << lmc; i++) {
		struct lid_block *block = change_block(work, lid + i);

		if (is_switch_port(port))
			block->switches++;
		else
			block->others++;
	}
}

bool lid_fits(const struct lid_work *work, unsigned lid, uint8_t lmc)
{
	unsigned count = 1u << lmc;

	if (lid < LID_UNICAST_MIN || lid % count || lid + count > work->limit)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (work->fabric->lids[lid + i] || work->kept[lid + i])
			return false;
	}
	return true;
}

void lid_keep(struct lid_work *work, const struct lid_entry *entry, bool kept)
{
	for (unsigned i = 0; i < 1u << entry->lmc; i++) {
		work->kept[entry->lid + i] = kept;
		change_block(work, entry->lid + i);
	}
}

void lid_give(struct lid_work *work, struct port *port, lid_t lid, uint8_t lmc)
{
	port_set_lid(work->fabric, port, lid, lmc);
	count_lids(work, port, lid, lmc);
}

/* A port whose LMC changes, or whose LID does not fit some switch's table, loses its LIDs. */
void lid_take_back(struct lid_work *work, struct port *port)
{
	for (unsigned i = 0; i < 1u << port->lmc; i++) {
		struct lid_block *block = change_block(work, port->lid + i);

		if (is_switch_port(port))
			block->switches--;
		else
			block->others--;
	}
	port_set_lid(work->fabric, port, LID_NONE, 0);
}

static void keep_found(struct lid_work *work, struct port *port)
{
	uint8_t lmc = lid_lmc_of(work, port);
	struct lid_report *report = &work->report;
	lid_t found = port_info(port)->lid;

	if (!found || (work->own.lid && lid_is_sm_lid(work, found)))
		return; /* it was MASTER before us */
	if (lid_fits(work, found, lmc)) {
		lid_give(work, port, found, lmc);
		report->kept++;
		return;
	}
	if (port_info(port)->lmc != lmc && lid_fits(work, found, port_info(port)->lmc)) {
		report->resized++;
		return;
	}
	report->conflicts++;
	if (!report->conflict_example) {
		report->conflict_example = port;
		report->conflict_lid = found;
	}
}

lid_t lid_first_fit_in(const struct lid_work *work, unsigned block, uint8_t lmc)
{
	unsigned first = block * LFT_BLOCK_LIDS;

	for (unsigned lid = first; lid < first + LFT_BLOCK_LIDS; lid += 1u << lmc) {
		if (lid_fits(work, lid, lmc))
			return (lid_t)lid;
	}
	return LID_NONE;
}

static unsigned room_in(struct lid_work *work, unsigned index, uint8_t lmc)
{
	struct lid_block *block = &work->block[index];
	unsigned first = index * LFT_BLOCK_LIDS;

	if (block->room_for == lmc + 1)
		return block->room;
	block->room_for = (uint8_t)(lmc + 1);
	block->room = 0;
	for (unsigned lid = first; lid < first + LFT_BLOCK_LIDS; lid += 1u << lmc)
		block->room += lid_fits(work, lid, lmc);
	return block->room;
}

/* The first block of the right kind with room for count ports; else with less room; else of the
 * wrong kind. */
unsigned lid_choose_block(struct lid_work *work, bool for_switch, unsigned count, uint8_t lmc)
{
	unsigned some = LFT_BLOCKS_MAX, any = LFT_BLOCKS_MAX;

	for (unsigned i = 0; i * LFT_BLOCK_LIDS < work->limit; i++) {
		const struct lid_block *block = &work->block[i];
		bool right_kind = for_switch ? !block->others : !block->switches;
		unsigned room;

		if (block->switches + block->others == LFT_BLOCK_LIDS)
			continue;
		room = room_in(work, i, lmc);
		if (right_kind && room >= count)
			return i;
		if (right_kind && room && some == LFT_BLOCKS_MAX)
			some = i;
		if (room && any == LFT_BLOCKS_MAX)
			any = i;
	}
	return some != LFT_BLOCKS_MAX ? some : any;
}

/* Assigns LIDs to ports that should share a block. */
static void give_group(struct lid_work *work, struct port **group, unsigned count, uint8_t lmc)
{
	unsigned block = LFT_BLOCKS_MAX;

	for (unsigned i = 0; i < count; i++) {
		lid_t lid = block < LFT_BLOCKS_MAX ? lid_first_fit_in(work, block, lmc) : LID_NONE;

		if (!lid) {
			block = lid_choose_block(work, is_switch_port(group[i]), count - i, lmc);
			if (block < LFT_BLOCKS_MAX)
				lid = lid_first_fit_in(work, block, lmc);
		}
		if (!lid && work->memory.taken < work->memory.count) {
			lid = lid_take_from_gone(work, lmc);
			if (!lid) { /* a range that they share may fit */
				i--;
				continue;
			}
		}
		if (lid) {
			lid_give(work, group[i], lid, lmc);
			work->report.given++;
			continue;
		}
		work->report.exhausted++;
		if (!work->report.exhausted_example)
			work->report.exhausted_example = group[i];
	}
}

static void give_leaf(struct lid_work *work, struct node *leaf)
{
	struct port *group[PORT_MAX];
	unsigned count = 0;

	for (unsigned i = 1; i <= leaf->num_ports; i++) {
		struct port *peer = leaf->port[i].peer;

		/* An unread port may have a LID: it gets no other. */
		if (peer && !is_switch_port(peer) && peer->agent && port_facts(peer)->known &&
		    !peer->lid)
			group[count++] = peer;
	}
	give_group(work, group, count, work->lmc);
}

/* The SM's own port first, then ports that are in use, then the rest; by GUID within these. */
static unsigned precedence(const struct port *port)
{
	if (port == port->agent->fabric->sm_port)
		return 0;
	return port_info(port)->port_state == PORT_ACTIVE ? 1 : 2;
}

/* Stages */

static void clear(struct lid_work *work)
{
	free(work->caps.caps);
	free(work->ports);
	free(work->memory.entries);
	if (work->memory.entries)
		registry_walk_end(&work->memory.cursor);
}

static unsigned lid_work_begin(void *arg, size_t *at)
{
	struct lid_work *work = arg;

	if ((*at)++)
		return 0;
	clear(work);
	*work = (struct lid_work){.fabric = work->fabric,
				  .lmc = work->lmc,
				  .lmc_esp0 = work->lmc_esp0,
				  .sm_lid = work->sm_lid,
				  .members = work->fabric->members};
	work->ports = mem_array(fabric_roster(work->fabric)->num_ends, sizeof(struct port *));
	return LFT_BLOCKS_MAX;
}

static unsigned lid_find_port(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct route_path path;
	struct port *port;

	port = fabric_next_end(work->fabric, at);
	if (!port)
		return 0;
	if (port_facts(port)->known && port_route(work->fabric, port, &path))
		work->ports[work->count++] = port;
	return COST_WAY;
}

/* Including ports that are absent. */
static unsigned count_block(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	unsigned first = (unsigned)*at * LFT_BLOCK_LIDS, taken = 0;

	if (first > LID_UNICAST_MAX)
		return 0;
	++*at;
	for (unsigned lid = first; lid < first + LFT_BLOCK_LIDS && lid <= LID_UNICAST_MAX; lid++) {
		if (!work->fabric->lids[lid])
			continue;
		count_lids(work, work->fabric->lids[lid], (lid_t)lid, 0);
		taken++;
	}
	return taken + 1;
}

static unsigned take_back_misfit(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct port *port;

	if (*at == work->count)
		return 0;
	port = work->ports[(*at)++];
	if (port->lid &&
	    (port->lmc != lid_lmc_of(work, port) || port->lid + (1u << port->lmc) > work->limit))
		lid_take_back(work, port);
	return 1;
}

/* Ports with a LID that are present come before absent ports. */
static unsigned keep_by_precedence(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct port *port;

	if (*at == PRECEDENCES * work->count)
		return 0;
	port = work->ports[*at % work->count];
	if (!port->lid && precedence(port) == *at / work->count)
		keep_found(work, port);
	++*at;
	return 1;
}

static void give_switches_of(struct lid_work *work, uint8_t lmc)
{
	struct port **group = mem_array(work->count, sizeof(*group));
	unsigned count = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct port *port = work->ports[i];

		if (is_switch_port(port) && !port->lid && lid_lmc_of(work, port) == lmc)
			group[count++] = port;
	}
	give_group(work, group, count, lmc);
	free(group);
}

/* Ports with the most LIDs first: single LIDs fill the gaps. */
static unsigned give_switches(void *arg, size_t *at)
{
	struct lid_work *work = arg;

	if ((*at)++)
		return 0;
	if (work->lmc_esp0 && work->lmc)
		give_switches_of(work, work->lmc);
	give_switches_of(work, 0);
	return 2 * (unsigned)work->count + 1;
}

static unsigned give_leaves(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct port *port;

	if (*at == work->count)
		return 0;
	port = work->ports[(*at)++];
	if (!is_switch_port(port))
		return 1;
	give_leaf(work, port->node);
	return port->node->num_ports + 1u;
}

/* Ports that are not cabled to a switch. */
static unsigned give_others(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct port *port;

	if (*at == work->count)
		return 0;
	port = work->ports[(*at)++];
	if (!is_switch_port(port) && !port->lid && !(port->peer && is_switch_port(port->peer)))
		give_group(work, &port, 1, work->lmc);
	return 1;
}

static bool lid_work_is_stale(const void *arg)
{
	const struct lid_work *work = arg;

	return work->fabric->members != work->members;
}

static slice_fn *const stages[] = {
	lid_work_begin,	   lid_find_port,      lid_find_caps, lid_find_price,
	lid_take_limit,	   lid_leave_out,      count_block,   take_back_misfit,
	lid_take_sm_lid,   keep_by_precedence, lid_recall,    lid_keep_all,
	lid_give_back,	   give_switches,      give_leaves,   give_others,
	lid_remember_gone, lid_remember_ports, NULL,
};
const struct slice_plan lid_plan = {"giving LIDs", stages, lid_work_is_stale};

struct lid_work *lid_work_new(struct fabric *fabric, uint8_t lmc, bool lmc_esp0, lid_t sm_lid)
{
	struct lid_work *work = mem_zalloc(sizeof(*work));

	work->fabric = fabric;
	work->lmc = lmc;
	work->lmc_esp0 = lmc_esp0;
	work->sm_lid = sm_lid;
	return work;
}

const struct lid_report *lid_work_report(const struct lid_work *work)
{
	return &work->report;
}

void lid_work_free(struct lid_work *work)
{
	if (!work)
		return;
	clear(work);
	free(work);
}
