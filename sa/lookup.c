/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The values kept for a view, and their size. For each GUID: a slot of a map. For each end port:
 * two bytes, its class of P_Key tables. For each pair of classes: the common P_Key. For each port
 * of a switch: one byte. For each switch from which a path was requested: one byte for each LID of
 * the requested blocks, in total at most as much as the forwarding tables.
 *
 * Fabrics have few different P_Key tables. If there are more than CLASSES_MAX, the other tables are
 * compared each time.
 */
#include "sa/lookup.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/walk.h"
#include "lib/map.h"
#include "lib/mem.h"

enum {
	MTU_256 = 1,
	MTU_4096 = 5,
	MTU_UNKNOWN = 6, /* above all others: the minimum of nothing */
	RATE_BITS = 5,
	RATE_UNKNOWN = (1 << RATE_BITS) - 1,
	MTU_MASK = 0xFF & ~RATE_UNKNOWN,
	RATES_ENCODED = 64,

	WAY_BLOCK_LIDS = 256,

	CLASSES_MAX = 255,
	CLASS_UNSEEN = 0, /* classes count from 1 */
	CLASS_LATE = CLASSES_MAX + 1,
	KEY_KNOWN = 1 << 16, /* above the key */
};

/* Not computed yet. No measure has this value, because there is no MTU 0. */
#define MEASURE_UNSEEN ((measure_t)0)
/* The start of a minimum. */
#define MEASURE_NOTHING ((measure_t)(MTU_UNKNOWN << RATE_BITS | RATE_UNKNOWN))

struct lookup {
	unsigned refs;
	struct view *view;
	const struct snapshot *topology;
	const struct registry *registry;

	struct map guids; /* PortGUID to the number of the end port + 1; filled when first used */
	bool guids_filled;

	uint16_t *class_of; /* by number of the end port */
	unsigned classes;
	struct endport class_port[CLASSES_MAX + 1]; /* an end port with such a table */
	/* By two classes: KEY_KNOWN and the P_Key. NULL until used; in the arena. */
	uint32_t *shared[CLASSES_MAX + 1];

	uint8_t rate_place[RATES_ENCODED], rate_at[RATE_UNKNOWN]; /* the encodings in order */
	uint32_t link_key; /* width and speeds of the port whose rate was computed last */
	uint8_t link_rate; /* its place; most ports are alike */
	measure_t *cable;  /* by link slot: both ends of it */
	measure_t ***way;  /* by switch, block of LIDs, LID; as shared */
	struct arena *arena;
	uint64_t effort;
};

/* Slower rates first; an encoding without a rate has no place. */
static void rates_sort(struct lookup *lookup)
{
	unsigned count = 0;

	for (uint8_t rate = 0; rate < RATES_ENCODED; rate++) {
		unsigned place = count;

		lookup->rate_place[rate] = RATE_UNKNOWN;
		if (!rate_deci_gbps(rate))
			continue;
		assert(count < RATE_UNKNOWN);
		for (; place && rate_deci_gbps(lookup->rate_at[place - 1]) > rate_deci_gbps(rate);
		     place--)
			lookup->rate_at[place] = lookup->rate_at[place - 1];
		lookup->rate_at[place] = rate;
		count++;
	}
	for (unsigned place = 0; place < count; place++)
		lookup->rate_place[lookup->rate_at[place]] = (uint8_t)place;
}

struct lookup *lookup_new(struct view *view, const struct registry *registry)
{
	struct lookup *lookup = mem_zalloc(sizeof(*lookup));
	const struct snapshot *topology = view->topology;

	lookup->refs = 1;
	lookup->view = view_ref(view);
	lookup->topology = topology;
	lookup->registry = registry;
	map_init(&lookup->guids);
	lookup->class_of = mem_array(endport_count(topology), sizeof(*lookup->class_of));
	lookup->cable = mem_array(topology->num_links, sizeof(*lookup->cable));
	lookup->way = mem_array(topology->num_switches, sizeof(*lookup->way));
	lookup->arena = arena_new();
	lookup->link_rate = RATE_UNKNOWN; /* because all is 0 */
	rates_sort(lookup);
	return lookup;
}

struct lookup *lookup_ref(struct lookup *lookup)
{
	lookup->refs++;
	return lookup;
}

void lookup_unref(struct lookup *lookup)
{
	if (!lookup || --lookup->refs)
		return;
	arena_free(lookup->arena);
	free(lookup->way);
	free(lookup->cable);
	free(lookup->class_of);
	map_done(&lookup->guids);
	view_unref(lookup->view);
	free(lookup);
}

uint64_t lookup_effort(const struct lookup *lookup)
{
	return lookup->effort;
}

struct view *lookup_view(const struct lookup *lookup)
{
	return lookup->view;
}

/* GUIDs */

/* 0 is not a GUID, even if a device reports it. */
static void guids_fill(struct lookup *lookup)
{
	uint32_t count = endport_count(lookup->topology);

	for (uint32_t i = 0; i < count; i++) {
		guid_t guid = endport_at(lookup->topology, i).guid;

		if (guid)
			map_put(&lookup->guids, guid, (void *)(uintptr_t)(i + 1));
	}
	lookup->guids_filled = true;
}

/* The number of the end port + 1; 0 if no port has this GUID. */
static uintptr_t guid_place(struct lookup *lookup, guid_t guid)
{
	const struct alias_entry key = {.guid = guid};
	const struct alias_entry *alias;
	uintptr_t place = (uintptr_t)map_get(&lookup->guids, guid);

	if (place || !lookup->registry || !registry_count(lookup->registry, REGISTRY_ALIAS))
		return place;
	alias = registry_first(lookup->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
	return alias ? (uintptr_t)map_get(&lookup->guids, alias->port_guid) : 0;
}

bool lookup_guid(struct lookup *lookup, guid_t guid, struct endport *out)
{
	uintptr_t place;

	if (!lookup->guids_filled)
		guids_fill(lookup);
	place = guid_place(lookup, guid);
	if (place)
		*out = endport_at(lookup->topology, (uint32_t)place - 1);
	return place;
}

/* Partitions */

static unsigned class_find(struct lookup *lookup, const struct endport *port)
{
	for (unsigned c = 1; c <= lookup->classes; c++)
		if (endports_same_keys(&lookup->class_port[c], port))
			return c;
	if (lookup->classes == CLASSES_MAX)
		return CLASS_LATE;
	lookup->effort++;
	lookup->class_port[++lookup->classes] = *port;
	return lookup->classes;
}

static unsigned class_of(struct lookup *lookup, const struct endport *port)
{
	uint16_t *class = &lookup->class_of[endport_number(lookup->topology, port)];

	if (*class == CLASS_UNSEEN)
		*class = (uint16_t)class_find(lookup, port);
	return *class;
}

pkey_t lookup_shared(struct lookup *lookup, const struct endport *a, const struct endport *b)
{
	unsigned x = class_of(lookup, a), y = class_of(lookup, b);
	uint32_t *shared;

	if (x == CLASS_LATE || y == CLASS_LATE)
		return endports_share(a, b);
	if (!lookup->shared[x])
		lookup->shared[x] = arena_array(lookup->arena, CLASS_LATE, sizeof(*shared));
	shared = &lookup->shared[x][y];
	if (!*shared)
		*shared = KEY_KNOWN | endports_share(a, b);
	return (pkey_t)*shared;
}

/* Paths */

measure_t measure_least(measure_t a, measure_t b)
{
	unsigned mtu = a & MTU_MASK, other_mtu = b & MTU_MASK;
	unsigned rate = a & RATE_UNKNOWN, other_rate = b & RATE_UNKNOWN;

	if (a == MEASURE_NO_WAY || b == MEASURE_NO_WAY)
		return MEASURE_NO_WAY;
	return (measure_t)((mtu < other_mtu ? mtu : other_mtu) |
			   (rate < other_rate ? rate : other_rate));
}

uint8_t measure_mtu(measure_t measure)
{
	unsigned mtu = measure >> RATE_BITS;

	return mtu == MTU_UNKNOWN ? 0 : (uint8_t)mtu;
}

uint8_t measure_rate(const struct lookup *lookup, measure_t measure)
{
	unsigned place = measure & RATE_UNKNOWN;

	return place == RATE_UNKNOWN ? 0 : lookup->rate_at[place];
}

/* NeighborMTU is the maximum that the port sends. Before ARMED it may be an old value. A base
 * port 0 has none (table 146). */
static uint8_t port_mtu(const struct node_facts *facts, const struct port_info *info, uint8_t num)
{
	bool has_neighbor_mtu = num || facts->sw.enhanced_port0;
	uint8_t mtu = info->mtu_cap;

	if (has_neighbor_mtu && info->port_state >= PORT_ARMED && info->neighbor_mtu >= MTU_256 &&
	    info->neighbor_mtu < mtu)
		mtu = info->neighbor_mtu;
	return mtu >= MTU_256 && mtu <= MTU_4096 ? mtu : MTU_UNKNOWN;
}

static uint8_t rate_place(struct lookup *lookup, const struct port_info *info)
{
	uint32_t key = (uint32_t)info->link_width_active << 24 |
		       (uint32_t)info->link_speed_active << 16 |
		       (uint32_t)info->link_speed_ext_active << 8 | info->link_speed_ext_active2;

	if (key != lookup->link_key) {
		lookup->link_key = key;
		lookup->link_rate = lookup->rate_place[port_rate(info)];
	}
	return lookup->link_rate;
}

static measure_t measure_port(struct lookup *lookup, const struct node_facts *facts, uint8_t num)
{
	const struct port_info *info = facts_port_info(facts, num);

	if (!info)
		return MEASURE_NO_WAY;
	return (measure_t)(port_mtu(facts, info, num) << RATE_BITS | rate_place(lookup, info));
}

/* A switch's port 0 has an MTU but no link whose rate could be the path's. */
static measure_t measure_port0(struct lookup *lookup, uint32_t sw)
{
	measure_t measure = measure_port(lookup, lookup->topology->switches[sw].facts, 0);

	return measure | RATE_UNKNOWN;
}

measure_t lookup_port(struct lookup *lookup, const struct endport *port)
{
	return port->at.sw >= 0 ? measure_port0(lookup, (uint32_t)port->at.sw)
				: measure_port(lookup, port->facts, port->num);
}

static measure_t measure_cable(struct lookup *lookup, uint32_t sw, uint8_t port)
{
	const struct snapshot *topology = lookup->topology;
	const struct snap_link *link = snap_link(topology, sw, port);
	measure_t near = measure_port(lookup, topology->switches[sw].facts, port);

	if (link->sw >= 0)
		return measure_least(
			near, measure_port(lookup, topology->switches[link->sw].facts, link->port));
	if (link->end >= 0)
		return measure_least(near, measure_port(lookup, topology->ends[link->end].facts,
							topology->ends[link->end].port));
	return near;
}

/* Both ends of the link at this port of the switch, or port 0 of the switch. */
static measure_t cable_at(struct lookup *lookup, uint32_t sw, uint8_t port)
{
	measure_t *cable = &lookup->cable[lookup->topology->switches[sw].first_link + port];

	if (*cable != MEASURE_UNSEEN)
		return *cable;
	lookup->effort++;
	*cable = port ? measure_cable(lookup, sw, port) : measure_port0(lookup, sw);
	return *cable;
}

struct passage {
	struct lookup *lookup;
	measure_t least;
};

static void pass(void *ctx, uint32_t sw, uint8_t port)
{
	struct passage *passage = ctx;

	passage->least = measure_least(passage->least, cable_at(passage->lookup, sw, port));
}

static measure_t *way_place(struct lookup *lookup, uint32_t sw, lid_t dlid)
{
	unsigned blocks = lookup->topology->lid_top / WAY_BLOCK_LIDS + 1u;
	measure_t **row = lookup->way[sw], **block;

	if (!row)
		row = lookup->way[sw] = arena_array(lookup->arena, blocks, sizeof(*row));
	block = &row[dlid / WAY_BLOCK_LIDS];
	if (!*block)
		*block = arena_array(lookup->arena, WAY_BLOCK_LIDS, sizeof(**block));
	return &(*block)[dlid % WAY_BLOCK_LIDS];
}

static measure_t way_from_switch(struct lookup *lookup, uint32_t sw, lid_t dlid)
{
	const struct snapshot *topology = lookup->topology;
	struct passage passage = {lookup, MEASURE_NOTHING};
	measure_t *way;

	if (dlid > topology->lid_top)
		return MEASURE_NO_WAY;
	way = way_place(lookup, sw, dlid);
	if (*way == MEASURE_UNSEEN) {
		lookup->effort++;
		*way = table_walk(topology, lookup->view->routes, sw, dlid, pass, &passage) < 0
			       ? MEASURE_NO_WAY
			       : passage.least;
	}
	return *way;
}

/* From an adapter: over its cable, to the far end or into the switch. */
static measure_t way_from_end(struct lookup *lookup, const struct endport *from,
			      const struct endport *to, lid_t dlid)
{
	const struct snapshot *topology = lookup->topology;
	const struct snap_end *end = &topology->ends[from->at.end];
	measure_t cable;

	if (end->sw >= 0) {
		cable = cable_at(lookup, (uint32_t)end->sw, end->sw_port);
		if (to->at.sw == end->sw)
			return cable;
		return measure_least(cable, way_from_switch(lookup, (uint32_t)end->sw, dlid));
	}
	if (end->peer < 0 || end->peer != to->at.end)
		return MEASURE_NO_WAY;
	return measure_least(measure_port(lookup, from->facts, from->num),
			     measure_port(lookup, to->facts, to->num));
}

measure_t lookup_way(struct lookup *lookup, const struct endport *from, const struct endport *to,
		     lid_t dlid)
{
	if (endport_same(from, to))
		return measure_port(lookup, from->facts, from->num);
	if (from->at.sw < 0)
		return way_from_end(lookup, from, to, dlid);
	return measure_least(cable_at(lookup, (uint32_t)from->at.sw, 0),
			     way_from_switch(lookup, (uint32_t)from->at.sw, dlid));
}
