/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Snapshots (snapshot.h): their memory, the index of LIDs, and the search by GUID. Their content
 * comes from the live model (freeze.c), in tests from a net. Made and released on the loop thread;
 * in between any thread reads them.
 */
#include "fabric/snapshot.h"

#include <stdlib.h>

#include "lib/mem.h"

enum { CLEAR_SLOTS = 1024, CLEAR_COST = CLEAR_SLOTS / 8 };

struct snapshot *snapshot_alloc(uint32_t switches, uint32_t ends, uint32_t links)
{
	struct snapshot *snapshot = mem_zalloc(sizeof(*snapshot));

	snapshot->refs = 1;
	snapshot->num_switches = switches;
	snapshot->num_ends = ends;
	snapshot->num_links = links;
	snapshot->switches = mem_array(switches, sizeof(*snapshot->switches));
	snapshot->ends = mem_array(ends, sizeof(*snapshot->ends));
	snapshot->links = mem_array(links, sizeof(*snapshot->links));
	snapshot->cables = mem_array(links, sizeof(*snapshot->cables));
	snapshot->sm_end = snapshot->sm_switch = -1;
	return snapshot;
}

unsigned snapshot_clear_step(struct snapshot *snapshot, size_t *at)
{
	size_t from = *at, to = from + CLEAR_SLOTS;

	for (size_t e = from; e < to && e < snapshot->num_ends; e++)
		snapshot->ends[e].sw = snapshot->ends[e].peer = -1;
	for (size_t l = from; l < to && l < snapshot->num_links; l++)
		snapshot->links[l].sw = snapshot->links[l].end = -1;
	*at = to;
	return from < snapshot->num_ends || from < snapshot->num_links ? CLEAR_COST : 0;
}

struct snapshot *snapshot_new(uint32_t switches, uint32_t ends, uint32_t links)
{
	struct snapshot *snapshot = snapshot_alloc(switches, ends, links);
	size_t at = 0;

	while (snapshot_clear_step(snapshot, &at))
		;
	return snapshot;
}

/* The last LID of a range; LID_NONE: the port has none, or it is beyond the unicast LIDs. */
static lid_t last_lid(lid_t base, uint8_t lmc)
{
	unsigned last = base + (1u << (lmc < LMC_MAX ? lmc : LMC_MAX)) - 1;

	return base == LID_NONE || last > LID_UNICAST_MAX ? LID_NONE : (lid_t)last;
}

/* If two ports claim a LID, the first keeps it; freezing has already reported the collision. */
static void snapshot_claim_lids(struct snapshot *snapshot, lid_t base, uint8_t lmc,
				struct snap_owner owner)
{
	lid_t last = last_lid(base, lmc);

	for (unsigned lid = base; lid != LID_NONE && lid <= last; lid++) {
		struct snap_owner *slot = &snapshot->owners[lid];

		if (slot->sw < 0 && slot->end < 0)
			*slot = owner;
	}
}

static void snapshot_raise_top(struct snapshot *snapshot, lid_t base, uint8_t lmc)
{
	lid_t last = last_lid(base, lmc);

	if (last > snapshot->lid_top)
		snapshot->lid_top = last;
}

/* The number of a switch's ports that lead, or led, to an end port. */
static uint8_t count_places(const struct snapshot *snapshot, uint32_t s)
{
	uint8_t places = 0;

	for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++)
		places += snap_cable(snapshot, s, (uint8_t)p)->kind == CABLE_HOST;
	return places;
}

/* The peers of a switch's links: hosts are the switch's own memory, cables to other switches are
 * the memory of those. */
static void snapshot_remember_cables(struct snapshot *snapshot, uint32_t s)
{
	const struct snap_switch *sw = &snapshot->switches[s];
	uint8_t places;

	for (uint32_t l = sw->first_link + 1; l <= sw->first_link + sw->num_ports; l++) {
		const struct snap_link *link = &snapshot->links[l];

		if (link->end >= 0)
			snapshot->cables[l] = (struct snap_cable){
				.guid = snapshot->ends[link->end].guid,
				.kind = CABLE_HOST,
				.port = link->port,
				.lid = snapshot->cables[l].lid,
				.lmc = snapshot->cables[l].lmc,
			};
	}
	places = count_places(snapshot, s);
	for (unsigned p = 1; p <= sw->num_ports; p++) {
		const struct snap_link *link = snap_link(snapshot, s, (uint8_t)p);
		uint32_t far;

		if (link->sw < 0)
			continue;
		far = snapshot->switches[link->sw].first_link + link->port;
		snapshot->cables[far] = (struct snap_cable){.guid = sw->guid,
							    .kind = CABLE_SWITCH,
							    .port = (uint8_t)p,
							    .hosts = places};
	}
}

/* A LID is kept for one port, and not at all if it has an owner. */
static void index_kept(struct snapshot *snapshot)
{
	bool *kept = mem_array(snapshot->lid_top + 1u, sizeof(*kept));

	for (uint32_t l = 0; l < snapshot->num_links; l++) {
		struct snap_cable *cable = &snapshot->cables[l];
		lid_t last = last_lid(cable->lid, cable->lmc);

		if (!last)
			cable->lid = LID_NONE;
		for (unsigned lid = cable->lid; cable->lid && lid <= last; lid++)
			if (kept[lid] || snapshot->owners[lid].sw >= 0 ||
			    snapshot->owners[lid].end >= 0)
				cable->lid = LID_NONE;
		for (unsigned lid = cable->lid; cable->lid && lid <= last; lid++)
			kept[lid] = true;
	}
	free(kept);
}

static void index_lids(struct snapshot *snapshot)
{
	struct snap_switch *switches = snapshot->switches;
	struct snap_end *ends = snapshot->ends;

	snapshot->lid_top = LID_NONE;
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		switches[s].hosts = 0;
		snapshot_raise_top(snapshot, switches[s].lid, switches[s].lmc);
	}
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		if (ends[e].sw >= 0)
			switches[ends[e].sw].hosts++;
		snapshot_raise_top(snapshot, ends[e].lid, ends[e].lmc);
	}
	for (uint32_t l = 0; l < snapshot->num_links; l++)
		snapshot_raise_top(snapshot, snapshot->cables[l].lid, snapshot->cables[l].lmc);
	free(snapshot->owners);
	snapshot->owners = mem_array(snapshot->lid_top + 1u, sizeof(*snapshot->owners));
	for (uint32_t lid = 0; lid <= snapshot->lid_top; lid++)
		snapshot->owners[lid] = (struct snap_owner){-1, -1};
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		snapshot_claim_lids(snapshot, switches[s].lid, switches[s].lmc,
				    (struct snap_owner){(int32_t)s, -1});
	for (uint32_t e = 0; e < snapshot->num_ends; e++)
		snapshot_claim_lids(snapshot, ends[e].lid, ends[e].lmc,
				    (struct snap_owner){-1, (int32_t)e});
	index_kept(snapshot);
}

unsigned snapshot_index_step(struct snapshot *snapshot, size_t *at)
{
	enum { LIDS_A_UNIT = 16 };
	uint32_t s = (uint32_t)(*at)++;

	if (s > snapshot->num_switches)
		return 0;
	if (s < snapshot->num_switches) {
		snapshot_remember_cables(snapshot, s);
		return snapshot->switches[s].num_ports / 4 + 1u;
	}
	index_lids(snapshot);
	return (snapshot->lid_top + snapshot->num_links) / LIDS_A_UNIT + 1u;
}

void snapshot_index(struct snapshot *snapshot)
{
	size_t at = 0;

	while (snapshot_index_step(snapshot, &at))
		;
}

struct snapshot *snapshot_ref(struct snapshot *snapshot)
{
	if (snapshot)
		snapshot->refs++;
	return snapshot;
}

void snapshot_unref(struct snapshot *snapshot)
{
	if (!snapshot || --snapshot->refs > 0)
		return;
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		facts_unref(snapshot->switches[s].facts);
	for (uint32_t e = 0; e < snapshot->num_ends; e++)
		facts_unref(snapshot->ends[e].facts);
	route_options_unref(snapshot->options);
	free(snapshot->owners);
	free(snapshot->cables);
	free(snapshot->links);
	free(snapshot->ends);
	free(snapshot->switches);
	free(snapshot);
}

unsigned snapshot_empty_step(struct snapshot *snapshot, size_t *at)
{
	enum { COST_FACTS = 4 }; /* units for freeing them, without their ports */
	size_t place = (*at)++;
	struct node_facts **facts;
	unsigned cost;

	if (place >= (size_t)snapshot->num_switches + snapshot->num_ends)
		return 0;
	facts = place < snapshot->num_switches
			? &snapshot->switches[place].facts
			: &snapshot->ends[place - snapshot->num_switches].facts;
	cost = COST_FACTS + (*facts ? (*facts)->info.num_ports / COST_FACTS : 0);
	facts_unref(*facts);
	*facts = NULL;
	return cost;
}

struct route_options *route_options_new(void)
{
	struct route_options *options = mem_zalloc(sizeof(*options));

	options->refs = 1;
	return options;
}

struct route_options *route_options_ref(struct route_options *options)
{
	if (options)
		options->refs++;
	return options;
}

static bool is_equal_list(const struct guid_list *a, const struct guid_list *b)
{
	return a->count == b->count &&
	       (!a->count || !memcmp(a->guid, b->guid, a->count * sizeof(*a->guid)));
}

static bool is_equal_notes(const struct guid_notes *a, const struct guid_notes *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->note[i].guid != b->note[i].guid || a->note[i].count != b->note[i].count ||
		    memcmp(a->note[i].number, b->note[i].number, a->note[i].count) != 0)
			return false;
	return true;
}

static bool is_equal_tables(const struct route_options *a, const struct route_options *b)
{
	if (a->num_tables != b->num_tables)
		return false;
	for (uint32_t t = 0; t < a->num_tables; t++) {
		const struct given_table *one = &a->tables[t], *other = &b->tables[t];

		if (one->sw != other->sw || one->lids != other->lids ||
		    (one->lids && memcmp(one->port, other->port, one->lids) != 0))
			return false;
	}
	return true;
}

bool route_options_are_equal(const struct route_options *a, const struct route_options *b)
{
	static const struct route_options none;

	a = a ? a : &none;
	b = b ? b : &none;
	return is_equal_list(&a->roots, &b->roots) && is_equal_list(&a->compute, &b->compute) &&
	       is_equal_list(&a->io, &b->io) && is_equal_list(&a->order, &b->order) &&
	       is_equal_notes(&a->weights, &b->weights) && is_equal_notes(&a->ports, &b->ports) &&
	       is_equal_notes(&a->ignored, &b->ignored) && is_equal_tables(a, b);
}

void route_options_unref(struct route_options *options)
{
	if (!options || --options->refs > 0)
		return;
	for (uint32_t t = 0; t < options->num_tables; t++)
		free(options->tables[t].port);
	free(options->tables);
	free(options->prefixes.route);
	free(options->ignored.note);
	free(options->ports.note);
	free(options->weights.note);
	free(options->order.guid);
	free(options->io.guid);
	free(options->compute.guid);
	free(options->roots.guid);
	free(options);
}

/* The comparison requires that switches and ends have their GUID first. */
_Static_assert(offsetof(struct snap_switch, guid) == 0, "searched by GUID");
_Static_assert(offsetof(struct snap_end, guid) == 0, "searched by GUID");

static int guid_order(const void *key, const void *element)
{
	guid_t a = *(const guid_t *)key, b = *(const guid_t *)element;

	return (a > b) - (a < b);
}

int32_t snapshot_find_switch(const struct snapshot *snapshot, guid_t guid)
{
	const struct snap_switch *found = bsearch(&guid, snapshot->switches, snapshot->num_switches,
						  sizeof(*found), guid_order);

	return found ? (int32_t)(found - snapshot->switches) : -1;
}

int32_t snapshot_find_end(const struct snapshot *snapshot, guid_t port_guid)
{
	const struct snap_end *found =
		bsearch(&port_guid, snapshot->ends, snapshot->num_ends, sizeof(*found), guid_order);

	return found ? (int32_t)(found - snapshot->ends) : -1;
}
