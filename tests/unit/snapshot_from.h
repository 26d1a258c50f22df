/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Snapshots for tests of routing: a net (formats/net.h) frozen as discovery would freeze it,
 * without the discovery. GUIDs that the net does not give are made from the order of nodes; LIDs
 * are always given here: hosts by switch and port from 1 (aligned for the LMC), switches after
 * them. Some small nets stand here as well. The caller owns what it gets.
 */
#ifndef TESTS_UNIT_SNAPSHOT_FROM_H
#define TESTS_UNIT_SNAPSHOT_FROM_H

#include <stdio.h>
#include <stdlib.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "formats/net.h"
#include "lib/mem.h"
#include "sim/spec.h"

enum { TEST_LFT_CAP = 0xC000 };

static inline guid_t net_node_guid(const struct net *net, unsigned node)
{
	return net->nodes[node].guid ? net->nodes[node].guid
				     : UINT64_C(0x0002c90000000000) + node * 256u;
}

static inline guid_t net_port_guid(const struct net *net, unsigned node, unsigned port)
{
	guid_t guid = net->nodes[node].port[port].guid;

	return guid ? guid : net_node_guid(net, node) + port;
}

static inline bool net_is_end(const struct net *net, unsigned node, unsigned port)
{
	return net->nodes[node].type != NODE_SWITCH && net->nodes[node].port[port].peer >= 0;
}

static inline int snapshot_from_order(const void *left, const void *right)
{
	guid_t a = *(const guid_t *)left, b = *(const guid_t *)right;

	return (a > b) - (a < b);
}

/* Switches and ends with nothing but their GUID, in their order. */
static inline struct snapshot *snapshot_from_guids(const struct net *net)
{
	uint32_t switches = 0, ends = 0, links = 0;
	size_t room = net->ports_total; /* more than enough of each */
	struct snapshot *snapshot = snapshot_new(net->count, (uint32_t)room, (uint32_t)room);

	for (unsigned n = 0; n < net->count; n++) {
		if (net->nodes[n].type == NODE_SWITCH) {
			snapshot->switches[switches++].guid = net_node_guid(net, n);
			links += net->nodes[n].ports + 1u;
		}
		for (unsigned p = 1; p <= net->nodes[n].ports; p++)
			if (net_is_end(net, n, p))
				snapshot->ends[ends++].guid = net_port_guid(net, n, p);
	}
	snapshot->num_switches = switches;
	snapshot->num_ends = ends;
	snapshot->num_links = links;
	qsort(snapshot->switches, switches, sizeof(*snapshot->switches), snapshot_from_order);
	qsort(snapshot->ends, ends, sizeof(*snapshot->ends), snapshot_from_order);
	return snapshot;
}

/* What is at the other end of a node's port. */
static inline struct snap_link snapshot_from_cable(const struct snapshot *snapshot,
						   const struct net *net, unsigned node,
						   unsigned port)
{
	unsigned peer = (unsigned)net->nodes[node].port[port].peer;
	unsigned peer_port = net->nodes[node].port[port].peer_port;

	if (net->nodes[node].port[port].peer < 0)
		return (struct snap_link){-1, -1, 0};
	if (net->nodes[peer].type == NODE_SWITCH)
		return (struct snap_link){snapshot_find_switch(snapshot, net_node_guid(net, peer)),
					  -1, (uint8_t)peer_port};
	return (struct snap_link){-1,
				  snapshot_find_end(snapshot, net_port_guid(net, peer, peer_port)),
				  (uint8_t)peer_port};
}

static inline void snapshot_from_end(struct snapshot *snapshot, const struct net *net,
				     unsigned node, unsigned port)
{
	int32_t index = snapshot_find_end(snapshot, net_port_guid(net, node, port));
	struct snap_link link = snapshot_from_cable(snapshot, net, node, port);
	struct snap_end *end = &snapshot->ends[index];

	end->port = (uint8_t)port;
	end->sw = link.sw;
	end->sw_port = link.sw >= 0 ? link.port : 0;
	end->peer = link.end;
}

static inline void snapshot_from_lids(struct snapshot *snapshot, uint8_t lmc)
{
	unsigned lid = 1u << lmc;

	for (uint32_t l = 0; l < snapshot->num_links; l++) {
		int32_t end = snapshot->links[l].end;

		if (end >= 0) {
			snapshot->ends[end].lid = (lid_t)lid;
			lid += 1u << lmc;
		}
	}
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		snapshot->ends[e].lmc = lmc;
		if (snapshot->ends[e].sw < 0) { /* cabled to another end */
			snapshot->ends[e].lid = (lid_t)lid;
			lid += 1u << lmc;
		}
	}
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		snapshot->switches[s].lid = (lid_t)lid++;
}

static inline struct snapshot *snapshot_from_net(const struct net *net, uint8_t lmc)
{
	struct snapshot *snapshot = snapshot_from_guids(net);
	uint32_t links = 0;

	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *node = &net->nodes[n];
		struct snap_switch *sw;

		for (unsigned p = 1; p <= node->ports; p++)
			if (net_is_end(net, n, p))
				snapshot_from_end(snapshot, net, n, p);
		if (node->type != NODE_SWITCH)
			continue;
		sw = &snapshot->switches[snapshot_find_switch(snapshot, net_node_guid(net, n))];
		sw->num_ports = node->ports;
		sw->lft_cap = TEST_LFT_CAP;
		sw->first_link = links;
		for (unsigned p = 1; p <= node->ports; p++)
			snapshot->links[links + p] = snapshot_from_cable(snapshot, net, n, p);
		links += node->ports + 1u;
	}
	snapshot_from_lids(snapshot, lmc);
	snapshot_index(snapshot);
	return snapshot;
}

/* Adds a node named by its kind and number; the net must have room for it. */
static inline int net_put(struct net *net, enum node_type type, const char *kind, unsigned number,
			  unsigned ports)
{
	char id[NET_ID_MAX];
	int node;

	snprintf(id, sizeof(id), "%s-%u", kind, number);
	node = net_add_node(net, type, id, NULL, ports);
	if (node < 0)
		abort();
	return node;
}

/* A cable between the first free ports of two nodes. */
static inline void net_cable(struct net *net, int a, int b)
{
	unsigned p = 1, q = 1;

	while (p <= net->nodes[a].ports && net->nodes[a].port[p].peer >= 0)
		p++;
	while (q <= net->nodes[b].ports && (net->nodes[b].port[q].peer >= 0 || (a == b && p == q)))
		q++;
	if (net_connect(net, a, p, b, q))
		abort();
}

static inline void net_put_hosts(struct net *net, int sw, unsigned hosts)
{
	for (unsigned h = 0; h < hosts; h++)
		net_cable(net, sw, net_put(net, NODE_CA, "host", net->count, 1));
}

/* Two levels: each leaf has so many hosts, and so many cables to each spine. */
static inline struct net *net_tree2(unsigned leaves, unsigned hosts, unsigned spines,
				    unsigned cables)
{
	struct net *net = net_new();

	for (unsigned l = 0; l < leaves; l++)
		net_put(net, NODE_SWITCH, "leaf", l, hosts + spines * cables);
	for (unsigned s = 0; s < spines; s++)
		net_put(net, NODE_SWITCH, "spine", s, leaves * cables);
	for (unsigned l = 0; l < leaves; l++)
		net_put_hosts(net, (int)l, hosts);
	for (unsigned l = 0; l < leaves; l++)
		for (unsigned s = 0; s < spines; s++)
			for (unsigned c = 0; c < cables; c++)
				net_cable(net, (int)l, (int)(leaves + s));
	return net;
}

/* From a SPEC that is known to be good. */
/* The caller frees it with net_free(). */
static inline struct net *net_from_spec(const char *spec)
{
	struct net *net;
	char *error;

	if (spec_build(spec, &net, &error)) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	return net;
}

static inline struct snapshot *snapshot_from_spec(const char *spec, uint8_t lmc)
{
	struct net *net = net_from_spec(spec);
	struct snapshot *snapshot = snapshot_from_net(net, lmc);

	net_free(net);
	return snapshot;
}

/* Takes both ends of the cable at a switch's port out of a snapshot, as if it had been pulled. */
static inline void snapshot_cut(struct snapshot *snapshot, uint32_t sw, unsigned port)
{
	struct snap_link *near = &snapshot->links[snapshot->switches[sw].first_link + port];

	if (near->sw >= 0)
		snapshot->links[snapshot->switches[near->sw].first_link + near->port] =
			(struct snap_link){-1, -1, 0};
	if (near->end >= 0) {
		snapshot->ends[near->end].sw = -1;
		snapshot->ends[near->end].lid = LID_NONE;
	}
	*near = (struct snap_link){-1, -1, 0};
	snapshot_index(snapshot);
}

/* The same of a host's cable, where its LIDs are kept for it. */
static inline void snapshot_lose_host(struct snapshot *snapshot, uint32_t end)
{
	struct snap_end lost = snapshot->ends[end];
	struct snap_cable *cable =
		&snapshot->cables[snapshot->switches[lost.sw].first_link + lost.sw_port];

	snapshot_cut(snapshot, (uint32_t)lost.sw, lost.sw_port);
	cable->lid = lost.lid;
	cable->lmc = lost.lmc;
	snapshot_index(snapshot);
}

/* Entries that are different in two runs, of any LID. */
static inline unsigned routes_that_differ(const struct snapshot *snapshot, const struct routes *a,
					  const struct routes *b)
{
	unsigned count = 0;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		count += a->lft[s]->top != b->lft[s]->top;
		for (unsigned lid = 0; lid <= LID_UNICAST_MAX; lid++)
			count += lft_port(a->lft[s], (lid_t)lid) != lft_port(b->lft[s], (lid_t)lid);
	}
	return count;
}

#endif
