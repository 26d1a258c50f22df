/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * LIDs are given in two rounds: first every port that already carries a good LID keeps it, then the
 * others are served leaf by leaf. The state of a 64-LID block (whose it is, how full) is counted
 * anew from the owners each time: nothing is remembered beside the LIDs themselves.
 */
#include "fabric/lid.h"

#include <stdlib.h>

#include "fabric/grace.h"
#include "lib/mem.h"

struct lid_block {
	uint8_t switches, others; /* LIDs taken in it */
};

struct allocator {
	struct fabric *fabric;
	struct lid_report *report;
	bool scarce;	/* those that are kept for ports that are gone are given, too */
	unsigned limit; /* LIDs below this may be used */
	struct lid_block block[LFT_BLOCKS_MAX];
	bool kept[LID_UNICAST_MAX + 1];
};

static bool is_switch(const struct port *port)
{
	return port->node->type == NODE_SWITCH;
}

static void count_lids(struct allocator *allocator, const struct port *port, lid_t lid, uint8_t lmc)
{
	for (unsigned i = 0; i < 1u << lmc; i++) {
		struct lid_block *block = &allocator->block[(lid + i) / LFT_BLOCK_LIDS];

		if (is_switch(port))
			block->switches++;
		else
			block->others++;
	}
}

/* Whether 1 << lmc LIDs from lid on are in range, aligned and free. */
static bool fits(const struct allocator *allocator, unsigned lid, uint8_t lmc)
{
	unsigned count = 1u << lmc;

	if (lid < LID_UNICAST_MIN || lid % count || lid + count > allocator->limit)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (allocator->fabric->lids[lid + i] ||
		    (allocator->kept[lid + i] && !allocator->scarce))
			return false;
	}
	return true;
}

static void mark_kept(struct allocator *allocator, const struct kept_lids *kept, bool value)
{
	for (unsigned i = 0; i < 1u << kept->lmc; i++)
		allocator->kept[kept->lid + i] = value;
}

static void mark_all_kept(struct allocator *allocator)
{
	for (size_t i = 0; i < allocator->fabric->num_kept; i++)
		mark_kept(allocator, &allocator->fabric->kept[i], true);
}

static void give(struct allocator *allocator, struct port *port, lid_t lid, uint8_t lmc)
{
	port_set_lid(allocator->fabric, port, lid, lmc);
	count_lids(allocator, port, lid, lmc);
}

/* A port whose LMC changes, or whose LID some switch's table cannot hold, starts anew. */
static void take_back(struct allocator *allocator, struct port *port)
{
	for (unsigned i = 0; i < 1u << port->lmc; i++) {
		struct lid_block *block = &allocator->block[(port->lid + i) / LFT_BLOCK_LIDS];

		if (is_switch(port))
			block->switches--;
		else
			block->others--;
	}
	port_set_lid(allocator->fabric, port, LID_NONE, 0);
}

static void keep_found(struct allocator *allocator, struct port *port, uint8_t lmc)
{
	struct lid_report *report = allocator->report;
	lid_t found = port_info(port)->lid;

	if (port->lid || !found)
		return;
	if (fits(allocator, found, lmc)) {
		give(allocator, port, found, lmc);
		report->kept++;
		return;
	}
	report->conflicts++;
	if (!report->conflict_example) {
		report->conflict_example = port;
		report->conflict_lid = found;
	}
}

/* A port that has come back, perhaps without its LID, gets it again. */
static void give_back(struct allocator *allocator, uint8_t lmc)
{
	for (size_t i = 0; i < allocator->fabric->num_kept; i++) {
		const struct kept_lids *kept = &allocator->fabric->kept[i];
		struct port *port = map_get(&allocator->fabric->ports, kept->guid);
		struct route_path path;

		if (!port || port->lid || kept->lmc != (is_switch(port) ? 0 : lmc) ||
		    !port_facts(port)->known || !port_route(allocator->fabric, port, &path))
			continue;
		mark_kept(allocator, kept, false);
		if (fits(allocator, kept->lid, kept->lmc)) {
			give(allocator, port, kept->lid, kept->lmc);
			allocator->report->kept++;
		}
	}
}

static lid_t first_fit_in(const struct allocator *allocator, unsigned block, uint8_t lmc)
{
	unsigned first = block * LFT_BLOCK_LIDS;

	for (unsigned lid = first; lid < first + LFT_BLOCK_LIDS; lid += 1u << lmc) {
		if (fits(allocator, lid, lmc))
			return (lid_t)lid;
	}
	return LID_NONE;
}

static unsigned room_in(const struct allocator *allocator, unsigned block, uint8_t lmc)
{
	unsigned first = block * LFT_BLOCK_LIDS, room = 0;

	for (unsigned lid = first; lid < first + LFT_BLOCK_LIDS; lid += 1u << lmc)
		room += fits(allocator, lid, lmc);
	return room;
}

/* The first block of the right kind with room for count ports; with less room when there is none;
 * of the wrong kind when there is nothing else. */
static unsigned choose_block(const struct allocator *allocator, bool for_switch, unsigned count,
			     uint8_t lmc)
{
	unsigned some = LFT_BLOCKS_MAX, any = LFT_BLOCKS_MAX;

	for (unsigned i = 0; i * LFT_BLOCK_LIDS < allocator->limit; i++) {
		const struct lid_block *block = &allocator->block[i];
		bool right_kind = for_switch ? !block->others : !block->switches;
		unsigned room;

		if (block->switches + block->others == LFT_BLOCK_LIDS)
			continue;
		room = room_in(allocator, i, lmc);
		if (right_kind && room >= count)
			return i;
		if (right_kind && room && some == LFT_BLOCKS_MAX)
			some = i;
		if (room && any == LFT_BLOCKS_MAX)
			any = i;
	}
	return some != LFT_BLOCKS_MAX ? some : any;
}

/* Gives LIDs to a group of ports that should share a block. */
static void give_group(struct allocator *allocator, struct port **group, unsigned count,
		       uint8_t lmc)
{
	unsigned block = LFT_BLOCKS_MAX;

	for (unsigned i = 0; i < count; i++) {
		lid_t lid = block < LFT_BLOCKS_MAX ? first_fit_in(allocator, block, lmc) : LID_NONE;

		if (!lid) {
			block = choose_block(allocator, is_switch(group[i]), count - i, lmc);
			if (block < LFT_BLOCKS_MAX)
				lid = first_fit_in(allocator, block, lmc);
		}
		if (!lid && !allocator->scarce) {
			allocator->scarce = true;
			i--;
			continue;
		}
		if (lid) {
			give(allocator, group[i], lid, lmc);
			allocator->report->given++;
			continue;
		}
		allocator->report->exhausted++;
		if (!allocator->report->exhausted_example)
			allocator->report->exhausted_example = group[i];
	}
}

static void give_leaf(struct allocator *allocator, struct node *leaf, uint8_t lmc)
{
	struct port *group[PORT_MAX];
	unsigned count = 0;

	for (unsigned i = 1; i <= leaf->num_ports; i++) {
		struct port *peer = leaf->port[i].peer;

		if (peer && !is_switch(peer) && peer->agent && !peer->lid)
			group[count++] = peer;
	}
	give_group(allocator, group, count, lmc);
}

/* The SM's own port first, then ports that are in use, then the rest; by GUID within these. */
static unsigned precedence(const struct port *port)
{
	if (port == port->agent->fabric->sm_port)
		return 0;
	return port_info(port)->port_state == PORT_ACTIVE ? 1 : 2;
}

static int by_precedence(const void *a, const void *b)
{
	const struct port *x = *(struct port *const *)a, *y = *(struct port *const *)b;
	guid_t guid_x = port_facts(x)->guid, guid_y = port_facts(y)->guid;

	if (precedence(x) != precedence(y))
		return precedence(x) < precedence(y) ? -1 : 1;
	return (guid_x > guid_y) - (guid_x < guid_y);
}

static int by_guid(const void *a, const void *b)
{
	guid_t x = port_facts(*(struct port *const *)a)->guid;
	guid_t y = port_facts(*(struct port *const *)b)->guid;

	return (x > y) - (x < y);
}

/* All end ports that are there, switches' ports 0 among them. */
static size_t collect(struct fabric *fabric, struct port **ports)
{
	size_t position = 0, count = 0;
	struct route_path path;
	struct port *port;

	while ((port = map_next(&fabric->ports, &position))) {
		if (port_facts(port)->known && port_route(fabric, port, &path))
			ports[count++] = port;
	}
	return count;
}

/* How large tables have to be */

static unsigned cap_of(const struct node *node)
{
	return node->sw ? node->facts->sw.linear_fdb_cap : 0;
}

/* The switch whose table decides whether packets reach the port; NULL: none does. */
static const struct node *switch_of(const struct port *port)
{
	const struct port *at = is_switch(port) ? port : port->peer;

	return at && is_switch(at) ? at->node : NULL;
}

static bool is_small(const struct port *port, unsigned limit)
{
	const struct node *sw = switch_of(port);

	return sw && cap_of(sw) && cap_of(sw) < limit;
}

/* LIDs that others send to now must not be taken away. */
static bool is_working(const struct port *port)
{
	const struct port_info *info = port_info(port);

	return info->lid && (info->port_state == PORT_ACTIVE || is_switch(port)) &&
	       (!port->lid || port->lid == info->lid);
}

/* What it costs to use no LID from limit on, and to do without the switches whose tables are
 * smaller: working ports that lose their switch or their LID, then others that do. */
static uint64_t price(const struct fabric *fabric, struct port *const *ports, size_t count,
		      uint8_t lmc, unsigned limit)
{
	bool cut_off = fabric->sm_port && is_small(fabric->sm_port, limit);
	uint32_t working = 0, others = 0, room = limit - LID_UNICAST_MIN, need = 0;

	for (size_t i = 0; i < count; i++) {
		const struct port *port = ports[i];
		unsigned lids = 1u << (is_switch(port) ? 0 : lmc);
		lid_t lid = port->lid ? port->lid : is_working(port) ? port_info(port)->lid : 0;

		if (is_small(port, limit) || lid + lids > limit) {
			working += is_working(port);
			others += !is_working(port);
		} else {
			need += lids;
			others += cut_off && !is_working(port); /* nobody brings it up */
		}
	}
	if (need > room)
		others += (need - room) >> lmc;
	return (uint64_t)working << 32 | others;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* The different LinearFDBCaps, from the smallest; 0, of switches that have no table, is none. */
static size_t collect_caps(const struct fabric *fabric, unsigned *caps)
{
	size_t position = 0, count = 0, kinds = 0;
	struct node *node;

	while ((node = map_next(&fabric->nodes, &position))) {
		unsigned cap = cap_of(node);

		if (cap)
			caps[count++] = cap > LID_UNICAST_MAX ? LID_UNICAST_MAX + 1u : cap;
	}
	qsort(caps, count, sizeof(*caps), by_number);
	for (size_t i = 0; i < count; i++) {
		if (!kinds || caps[kinds - 1] != caps[i])
			caps[kinds++] = caps[i];
	}
	return kinds;
}

/* LIDs below this are used. It is the smallest table in the fabric, unless that would cost more
 * than to do without the switch that has it. */
static unsigned lid_limit(const struct fabric *fabric, struct port *const *ports, size_t count,
			  uint8_t lmc)
{
	unsigned *caps = mem_array(fabric->nodes.count + 1, sizeof(*caps));
	size_t kinds = collect_caps(fabric, caps);
	unsigned limit = kinds ? caps[0] : LID_UNICAST_MAX + 1;
	uint64_t least = kinds > 1 ? price(fabric, ports, count, lmc, limit) : 0;

	for (size_t i = 1; i < kinds && least; i++) {
		uint64_t cost = price(fabric, ports, count, lmc, caps[i]);

		if (cost < least) {
			least = cost;
			limit = caps[i];
		}
	}
	free(caps);
	return limit;
}

/* Ports that no route will reach get no LID; one that they have stays theirs. */
static size_t leave_out_small(struct port **ports, size_t count, unsigned limit)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_small(ports[i], limit))
			ports[left++] = ports[i];
	}
	return left;
}

void lid_assign(struct fabric *fabric, uint8_t lmc, struct lid_report *report)
{
	struct allocator *allocator = mem_zalloc(sizeof(*allocator));
	struct port **ports = mem_array(fabric->ports.count + 1, sizeof(*ports));
	size_t count = collect(fabric, ports), switches = 0;
	struct port **group = mem_array(count + 1, sizeof(*group));

	*report = (struct lid_report){0};
	*allocator = (struct allocator){.fabric = fabric, .report = report};
	allocator->limit = lid_limit(fabric, ports, count, lmc);
	if (fabric->lid_limit != allocator->limit)
		fabric->topology++; /* other switches are routed through */
	fabric->lid_limit = allocator->limit;
	count = leave_out_small(ports, count, allocator->limit);
	for (unsigned lid = LID_UNICAST_MIN; lid <= LID_UNICAST_MAX; lid++) {
		if (fabric->lids[lid])
			count_lids(allocator, fabric->lids[lid], (lid_t)lid, 0);
	}
	qsort(ports, count, sizeof(*ports), by_precedence);
	for (size_t i = 0; i < count; i++) {
		if (ports[i]->lid && ((!is_switch(ports[i]) && ports[i]->lmc != lmc) ||
				      ports[i]->lid + (1u << ports[i]->lmc) > allocator->limit))
			take_back(allocator, ports[i]);
	}
	/* Who is there and has a LID comes before who may come back. */
	for (size_t i = 0; i < count; i++)
		keep_found(allocator, ports[i], is_switch(ports[i]) ? 0 : lmc);
	mark_all_kept(allocator);
	give_back(allocator, lmc);

	qsort(ports, count, sizeof(*ports), by_guid);
	for (size_t i = 0; i < count; i++) {
		if (is_switch(ports[i]) && !ports[i]->lid)
			group[switches++] = ports[i];
	}
	give_group(allocator, group, (unsigned)switches, 0);
	for (size_t i = 0; i < count; i++) {
		if (is_switch(ports[i]))
			give_leaf(allocator, ports[i]->node, lmc);
	}
	for (size_t i = 0; i < count; i++) { /* cabled to no switch */
		if (!is_switch(ports[i]) && !ports[i]->lid &&
		    !(ports[i]->peer && is_switch(ports[i]->peer)))
			give_group(allocator, &ports[i], 1, lmc);
	}
	grace_settle(fabric);
	free(group);
	free(ports);
	free(allocator);
}
