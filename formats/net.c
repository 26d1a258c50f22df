/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The graph of a net file: building it node by node, finding nodes, cabling, counting, checking.
 * The reader (net_parse.c) and generators build through these functions, so that the limits and the
 * rules for ids are in one place. All memory of a net except the array of its nodes is in one
 * arena, so port arrays and strings never move.
 */
#include "formats/net.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/mem.h"

struct net *net_new(void)
{
	struct net *net = mem_zalloc(sizeof(*net));

	net->arena = arena_new();
	map_init(&net->by_id);
	/* ibsim's default for a port without a rate in the file. */
	net_rate_parse("4xSDR", 5, &net->default_rate);
	return net;
}

void net_free(struct net *net)
{
	if (!net)
		return;
	map_done(&net->by_id);
	arena_free(net->arena);
	free(net->comment);
	free(net->nodes);
	free(net);
}

/* The map has one node for each hash; others with the same hash follow by next_alike. */
static uint64_t id_hash(const char *id)
{
	return hash_bytes(HASH_SEED, id, strlen(id));
}

/* Nodes move when their array grows, so the map holds an index, plus one since NULL means none. */
static int32_t first_alike(const struct net *net, uint64_t hash)
{
	return (int32_t)(uintptr_t)map_get(&net->by_id, hash) - 1;
}

int net_find(const struct net *net, const char *id)
{
	for (int32_t i = first_alike(net, id_hash(id)); i >= 0; i = net->nodes[i].next_alike)
		if (!strcmp(net->nodes[i].id, id))
			return i;
	return -ENOENT;
}

/* Characters that ibsim cannot read in an id: it uses # and @ for its modules, and a quote ends the
 * id. */
static bool id_is_valid(const char *id)
{
	size_t length = strlen(id);

	if (length == 0 || length > NET_ID_MAX)
		return false;
	for (; *id; id++)
		if (iscntrl((unsigned char)*id) || strchr("\"#@", *id))
			return false;
	return true;
}

static const char *copy_description(struct arena *arena, const char *text)
{
	char *copy = arena_alloc(arena, NODE_DESC_SIZE + 1);

	for (size_t i = 0; i < NODE_DESC_SIZE && text[i]; i++) {
		if (text[i] == '"')
			copy[i] = '\'';
		else
			copy[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	}
	return copy;
}

static struct net_node *append_node(struct net *net)
{
	if (net->count == net->capacity) {
		net->capacity = net->capacity ? net->capacity * 2 : 64;
		net->nodes = mem_resize(net->nodes, net->capacity, sizeof(*net->nodes));
	}
	memset(&net->nodes[net->count], 0, sizeof(*net->nodes));
	return &net->nodes[net->count++];
}

int net_add_node(struct net *net, enum node_type type, const char *id, const char *description,
		 unsigned ports)
{
	struct net_node *node;
	uint64_t hash;

	if (ports == 0 || ports > PORT_MAX || !id_is_valid(id))
		return -EINVAL;
	if (net_find(net, id) >= 0)
		return -EEXIST;
	if (net->count == NET_NODES_MAX || net->ports_total + ports + 1 > NET_PORTS_MAX)
		return -E2BIG;

	hash = id_hash(id);
	node = append_node(net);
	node->type = type;
	node->id = arena_strdup(net->arena, id);
	node->description =
		description && *description ? copy_description(net->arena, description) : node->id;
	node->ports = ports;
	node->port = arena_array(net->arena, ports + 1, sizeof(*node->port));
	for (unsigned p = 0; p <= ports; p++) {
		node->port[p].peer = NET_NO_PEER;
		node->port[p].rate = net->default_rate;
	}
	node->next_alike = first_alike(net, hash);
	map_put(&net->by_id, hash, (void *)(uintptr_t)net->count);
	net->ports_total += ports + 1;
	return net->count - 1;
}

static struct net_port *net_external_port(struct net *net, int node, unsigned port)
{
	if (node < 0 || (unsigned)node >= net->count || port == 0 || port > net->nodes[node].ports)
		return NULL;
	return &net->nodes[node].port[port];
}

int net_connect(struct net *net, int node, unsigned port, int peer, unsigned peer_port)
{
	struct net_port *here = net_external_port(net, node, port);
	struct net_port *there = net_external_port(net, peer, peer_port);

	if (!here || !there)
		return -EINVAL;
	if (here->peer != NET_NO_PEER || there->peer != NET_NO_PEER)
		return -EBUSY;
	here->peer = peer;
	here->peer_port = peer_port;
	there->peer = node;
	there->peer_port = port;
	return 0;
}

void net_disconnect(struct net *net, int node, unsigned port)
{
	struct net_port *here = net_external_port(net, node, port);
	struct net_port *there;

	if (!here || here->peer == NET_NO_PEER)
		return;
	there = &net->nodes[here->peer].port[here->peer_port];
	there->peer = here->peer = NET_NO_PEER;
	there->peer_port = here->peer_port = 0;
}

bool net_is_first_end(const struct net *net, unsigned node, unsigned port)
{
	const struct net_port *here = &net->nodes[node].port[port];

	if (here->peer == NET_NO_PEER)
		return false;
	if ((unsigned)here->peer != node)
		return node < (unsigned)here->peer;
	return port <= here->peer_port;
}

void net_count(const struct net *net, struct net_counts *counts)
{
	struct net_counts sum = {0};

	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *node = &net->nodes[n];

		sum.switches += node->type == NODE_SWITCH;
		sum.adapters += node->type == NODE_CA;
		sum.routers += node->type == NODE_ROUTER;
		sum.table_ports += node->ports + (node->type == NODE_SWITCH);
		for (unsigned p = 1; p <= node->ports; p++) {
			if (!net_is_first_end(net, n, p))
				continue;
			sum.links++;
			sum.switch_links += node->type == NODE_SWITCH &&
					    net->nodes[node->port[p].peer].type == NODE_SWITCH;
		}
	}
	*counts = sum;
}

static int __attribute__((format(printf, 2, 3)))
invalid(struct net_error *error, const char *format, ...)
{
	va_list args;

	error->line = 0;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

/* Claims a value that only one node may have; returns NULL, or the node that has it. */
static const struct net_node *net_claim(struct map *owners, uint64_t value, struct net_node *node)
{
	const struct net_node *owner = map_get(owners, value);

	if (!owner)
		map_put(owners, value, node);
	return owner;
}

static int check_cable(const struct net *net, unsigned n, unsigned p, struct net_error *error)
{
	const struct net_node *node = &net->nodes[n];
	const struct net_port *port = &node->port[p];
	const struct net_port *back;

	if (port->peer == NET_NO_PEER)
		return 0;
	if (port->peer < 0 || (unsigned)port->peer >= net->count || port->peer_port == 0 ||
	    port->peer_port > net->nodes[port->peer].ports)
		return invalid(error, "%s port %u is cabled to a port that does not exist",
			       node->id, p);
	back = &net->nodes[port->peer].port[port->peer_port];
	if (back->peer != (int32_t)n || back->peer_port != p)
		return invalid(error, "%s port %u is cabled to %s port %u, but not the other way",
			       node->id, p, net->nodes[port->peer].id, port->peer_port);
	return 0;
}

/* A switch's port 0 usually has the GUID of its node, so node GUIDs and port GUIDs are compared
 * separately. */
struct owners {
	struct map node_guids, port_guids, lids;
};

static int check_addresses(struct net_node *node, unsigned p, struct owners *owners,
			   struct net_error *error)
{
	const struct net_port *port = &node->port[p];
	const struct net_node *other;

	if (port->guid && (other = net_claim(&owners->port_guids, port->guid, node)))
		return invalid(error, "port GUID 0x%016" PRIx64 " is given to %s and to %s port %u",
			       port->guid, other->id, node->id, p);
	if (port->lid == LID_NONE)
		return 0;
	for (unsigned lid = port->lid; lid < port->lid + (1u << port->lmc); lid++) {
		if (lid > LID_UNICAST_MAX)
			return invalid(error,
				       "%s port %u: LID %u is above the last unicast LID, %u",
				       node->id, p, lid, LID_UNICAST_MAX);
		if ((other = net_claim(&owners->lids, lid, node)))
			return invalid(error, "LID %u is given to %s and to %s port %u", lid,
				       other->id, node->id, p);
	}
	return 0;
}

static int check_node(const struct net *net, unsigned n, struct owners *owners,
		      struct net_error *error)
{
	struct net_node *node = &net->nodes[n];
	const struct net_node *other;
	int r = 0;

	if (node->guid && (other = net_claim(&owners->node_guids, node->guid, node)))
		return invalid(error, "node GUID 0x%016" PRIx64 " is given to %s and to %s",
			       node->guid, other->id, node->id);
	for (unsigned p = node->type == NODE_SWITCH ? 0 : 1; !r && p <= node->ports; p++) {
		if (p > 0)
			r = check_cable(net, n, p, error);
		if (!r && (p == 0 || node->type != NODE_SWITCH))
			r = check_addresses(node, p, owners, error);
	}
	return r;
}

int net_validate(const struct net *net, struct net_error *error)
{
	struct owners owners;
	int r = 0;

	map_init(&owners.node_guids);
	map_init(&owners.port_guids);
	map_init(&owners.lids);
	for (unsigned n = 0; !r && n < net->count; n++)
		r = check_node(net, n, &owners, error);
	map_done(&owners.lids);
	map_done(&owners.port_guids);
	map_done(&owners.node_guids);
	return r;
}
