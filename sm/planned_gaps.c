/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes a net of a snapshot, and compares it with the plan: planned_gaps.h. */
#include "sm/planned_gaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/net_compare.h"
#include "lib/hash.h"
#include "lib/mem.h"

/* The snapshot as a net */

static int add_found_node(struct net *net, guid_t guid, const struct node_facts *facts,
			  enum node_type type, unsigned ports)
{
	char id[20];
	int index;

	snprintf(id, sizeof(id), "%016" PRIx64, guid);
	index = net_add_node(net, type, id, facts ? facts->description : NULL, ports);
	if (index >= 0)
		net->nodes[index].guid = guid;
	return index;
}

/* Returns the index of the node of each end port, to be freed; -1: none. */
static int32_t *add_adapters(struct net *net, const struct snapshot *snapshot)
{
	int32_t *index = mem_array(snapshot->num_ends + 1, sizeof(*index));
	struct map by_guid; /* index + 1 */

	map_init(&by_guid);
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		const struct snap_end *end = &snapshot->ends[e];
		const struct node_facts *facts = end->facts;
		guid_t guid = facts ? facts->info.node_guid : end->guid;

		index[e] = (int32_t)(uintptr_t)map_get(&by_guid, guid) - 1;
		if (index[e] >= 0)
			continue;
		index[e] = add_found_node(
			net, guid, facts,
			facts && facts->info.node_type == NODE_ROUTER ? NODE_ROUTER : NODE_CA,
			facts ? facts->info.num_ports : end->port);
		if (index[e] >= 0)
			map_put(&by_guid, guid, (void *)(uintptr_t)(index[e] + 1));
	}
	map_done(&by_guid);
	return index;
}

/* The second end of a cable finds its port in use, which is right. */
static void add_cables(struct net *net, const struct snapshot *snapshot, const int32_t *sw,
		       const int32_t *end)
{
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++) {
			const struct snap_link *link = snap_link(snapshot, s, (uint8_t)p);
			int peer = link->sw >= 0    ? sw[link->sw]
				   : link->end >= 0 ? end[link->end]
						    : -1;

			if (peer >= 0)
				net_connect(net, sw[s], p, peer, link->port);
		}
	}
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		int32_t peer = snapshot->ends[e].peer;

		if (peer >= 0)
			net_connect(net, end[e], snapshot->ends[e].port, end[peer],
				    snapshot->ends[peer].port);
	}
}

static struct net *found_net(const struct snapshot *snapshot)
{
	struct net *net = net_new();
	int32_t *sw = mem_array(snapshot->num_switches + 1, sizeof(*sw)), *end;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		const struct snap_switch *of = &snapshot->switches[s];

		sw[s] = add_found_node(net, of->guid, of->facts, NODE_SWITCH, of->num_ports);
	}
	end = add_adapters(net, snapshot);
	add_cables(net, snapshot, sw, end);
	free(end);
	free(sw);
	return net;
}

/* The gaps */

struct search {
	const struct net *plan, *found;
	struct planned_gaps *out;
};

static uint64_t planned_end_hash(const struct link_end *end)
{
	uint64_t hash = end->guid ? hash_bytes(HASH_SEED, &end->guid, sizeof(end->guid))
				  : hash_bytes(HASH_SEED, end->name, strlen(end->name));

	return hash_bytes(hash, &end->num, sizeof(end->num));
}

/* Names from a file may have any encoding. */
static struct link_end planned_end(const struct search *search, struct net_end of,
				   const int32_t *found_of)
{
	int32_t found = found_of[of.node - search->plan->nodes];
	struct link_end end = {.guid = found >= 0 ? search->found->nodes[found].guid
						  : of.node->guid,
			       .num = (uint8_t)of.port};
	struct node_description description = {0};

	memcpy(description.text, of.node->description,
	       strnlen(of.node->description, sizeof(description.text)));
	description_text(&description, end.name);
	return end;
}

static void add_gap(const struct search *search, enum planned_gap_kind kind,
		    const struct net_end ends[2], const int32_t *found_of)
{
	struct planned_gaps *out = search->out;
	struct planned_gap *gap;

	if (out->count == PLANNED_GAPS_MAX) {
		out->more_nodes += kind == PLANNED_NODE;
		out->more_cables += kind == PLANNED_CABLE || kind == PLANNED_MOVED;
		return;
	}
	out->gap = mem_grow(out->gap, out->count, sizeof(*out->gap));
	gap = &out->gap[out->count++];
	*gap = (struct planned_gap){.kind = kind, .end = {planned_end(search, ends[0], found_of)}};
	if (kind == PLANNED_NODE)
		return;
	gap->end[1] = planned_end(search, ends[1], found_of);
	for (unsigned i = 0; i < 2; i++)
		map_put(&out->ends, planned_end_hash(&gap->end[i]), out);
}

static void add_node_cables(const struct search *search, const struct net_difference *difference)
{
	const struct net_node *node = difference->planned[0].node;

	for (unsigned p = 1; p <= node->ports; p++) {
		const struct net_port *port = &node->port[p];
		const struct net_end ends[] = {
			{node, p},
			{port->peer == NET_NO_PEER ? NULL : &search->plan->nodes[port->peer],
			 port->peer_port}};

		if (ends[1].node)
			add_gap(search, PLANNED_NODE_CABLE, ends, difference->found_of);
	}
}

static void note_gap(void *ctx, const struct net_difference *difference)
{
	static const enum planned_gap_kind kinds[] = {[NET_NODE_MISSING] = PLANNED_NODE,
						      [NET_CABLE_MISSING] = PLANNED_CABLE,
						      [NET_CABLE_MOVED] = PLANNED_MOVED};
	const struct search *search = ctx;

	if (difference->loss == NET_NOTHING_LOST)
		return;
	add_gap(search, kinds[difference->loss], difference->planned, difference->found_of);
	if (difference->loss == NET_NODE_MISSING)
		add_node_cables(search, difference);
}

void planned_gaps_find(const struct net *plan, const struct snapshot *snapshot,
		       struct planned_gaps *out)
{
	struct net *found = found_net(snapshot);
	struct search search;

	*out = (struct planned_gaps){0};
	search = (struct search){plan, found, out};
	net_compare(plan, found, note_gap, &search);
	net_free(found);
}

void planned_gaps_done(struct planned_gaps *gaps)
{
	free(gaps->gap);
	map_done(&gaps->ends);
	*gaps = (struct planned_gaps){0};
}

/* An absent node without a GUID in the plan is found by its name. */
bool planned_gaps_have(const struct planned_gaps *gaps, const struct lost_link *lost)
{
	for (unsigned i = 0; i < 2; i++) {
		struct link_end end = lost->end[i];

		if (map_get(&gaps->ends, planned_end_hash(&end)))
			return true;
		end.guid = 0;
		if (map_get(&gaps->ends, planned_end_hash(&end)))
			return true;
	}
	return false;
}
