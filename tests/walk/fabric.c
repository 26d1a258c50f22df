/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as a graph, and how a text becomes one. opensm-subnet.lst is parsed here: it has a
 * line for each direction of a link, with all data of both ends. Output of ibnetdiscover is parsed
 * by formats/net.h and copied.
 */
#include "tests/walk/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/net.h"
#include "lib/mem.h"

enum { LINE_SIZE = 1024 };

void walk_fabric_init(struct walk_fabric *fabric)
{
	*fabric = (struct walk_fabric){0};
	map_init(&fabric->by_guid);
}

void walk_fabric_done(struct walk_fabric *fabric)
{
	for (unsigned n = 0; n < fabric->count; n++) {
		free(fabric->nodes[n].port);
		free(fabric->nodes[n].lft);
	}
	free(fabric->nodes);
	map_done(&fabric->by_guid);
}

static int index_of(const struct walk_fabric *fabric, guid_t guid)
{
	return (int)(uintptr_t)map_get(&fabric->by_guid, guid) - 1;
}

struct walk_node *walk_node_by_guid(const struct walk_fabric *fabric, guid_t guid)
{
	int index = index_of(fabric, guid);

	return index < 0 ? NULL : &fabric->nodes[index];
}

int walk_add_node(struct walk_fabric *fabric, guid_t guid, bool is_switch, unsigned num_ports,
		  const char *name, size_t name_length)
{
	struct walk_node *node = walk_node_by_guid(fabric, guid);

	if (node)
		return node->is_switch == is_switch && node->num_ports == num_ports
			       ? (int)(node - fabric->nodes)
			       : -EEXIST;
	fabric->nodes = mem_grow(fabric->nodes, fabric->count, sizeof(*node));
	node = &fabric->nodes[fabric->count++];
	*node = (struct walk_node){.guid = guid, .is_switch = is_switch, .num_ports = num_ports};
	memcpy(node->name, name, name_length < NODE_DESC_SIZE ? name_length : NODE_DESC_SIZE);
	node->port = mem_array(num_ports + 1, sizeof(*node->port));
	for (unsigned p = 0; p <= num_ports; p++)
		node->port[p].peer = WALK_NO_PEER;
	map_put(&fabric->by_guid, guid, (void *)(uintptr_t)fabric->count);
	return (int)fabric->count - 1;
}

static bool is_cabled_elsewhere(const struct walk_port *port, int peer, unsigned peer_port)
{
	return port->peer != WALK_NO_PEER && (port->peer != peer || port->peer_port != peer_port);
}

int walk_connect(struct walk_fabric *fabric, int node, unsigned port, int peer, unsigned peer_port)
{
	struct walk_port *a, *b;

	if (!port || port > fabric->nodes[node].num_ports || !peer_port ||
	    peer_port > fabric->nodes[peer].num_ports)
		return -EINVAL;
	a = &fabric->nodes[node].port[port];
	b = &fabric->nodes[peer].port[peer_port];
	if (is_cabled_elsewhere(a, peer, peer_port) || is_cabled_elsewhere(b, node, port))
		return -EBUSY;
	a->peer = peer;
	a->peer_port = peer_port;
	b->peer = node;
	b->peer_port = port;
	return 0;
}

/* opensm-subnet.lst */

/* One end, as a line has it; numbers are hexadecimal. */
struct end {
	char kind[8];
	unsigned ports, lid, port;
	guid_t guid;
	const char *name;
	size_t name_length;
};

/* Reads "{ ... {name} LID:.. PN:.. }" and returns the text after it, NULL if it is no end. */
static const char *read_end(const char *text, struct end *end)
{
	int length = 0;
	const char *behind;

	if (sscanf(text,
		   "{ %7s Ports:%2x SystemGUID:%*16x NodeGUID:%16" SCNx64
		   " PortGUID:%*16x VenID:%*x DevID:%*x Rev:%*x {%n",
		   end->kind, &end->ports, &end->guid, &length) != 3 ||
	    !length)
		return NULL;
	end->name = text + length;
	behind = strstr(end->name, "} LID:");
	if (!behind)
		return NULL;
	end->name_length = (size_t)(behind - end->name);
	length = 0;
	if (sscanf(behind, "} LID:%4x PN:%2x }%n", &end->lid, &end->port, &length) != 2 || !length)
		return NULL;
	return behind + length;
}

/* Finds or adds the node of an end, with its LID; -EINVAL and why. */
static int take_end(struct walk_fabric *fabric, const struct end *end, uint8_t lmc,
		    const char **why)
{
	bool is_switch = !strncmp(end->kind, "SW", 2);
	struct walk_port *port;
	int node;

	*why = "a node is neither CA nor SW, or has no such port";
	if ((!is_switch && strncmp(end->kind, "CA", 2)) || !end->port || end->port > end->ports ||
	    end->ports > PORT_MAX)
		return -EINVAL;
	*why = "a node is here twice, with other ports or as another kind";
	node = walk_add_node(fabric, end->guid, is_switch, end->ports, end->name, end->name_length);
	if (node < 0)
		return -EINVAL;
	*why = "a LID is none of a port, or differs from an earlier LID of the port";
	port = &fabric->nodes[node].port[is_switch ? 0 : end->port];
	if (end->lid > LID_UNICAST_MAX || (port->lid && port->lid != end->lid))
		return -EINVAL;
	port->lid = end->lid;
	port->lmc = is_switch ? 0 : lmc;
	return node;
}

static int read_link(struct walk_fabric *fabric, const char *line, uint8_t lmc, const char **why)
{
	struct end near, far;
	const char *behind = read_end(line, &near);
	int a, b;

	*why = "this is no line of opensm-subnet.lst";
	if (behind)
		behind = read_end(behind + strspn(behind, " "), &far);
	if (!behind)
		return -EINVAL;
	a = take_end(fabric, &near, lmc, why);
	b = a < 0 ? a : take_end(fabric, &far, lmc, why);
	if (b < 0)
		return -EINVAL;
	*why = "a port has another cable already";
	return strstr(behind, "LOG=ACT") ? walk_connect(fabric, a, near.port, b, far.port) : 0;
}

static int read_lst(struct walk_fabric *fabric, const char *name, const char *text, size_t length,
		    uint8_t lmc, char error[WALK_ERROR_SIZE])
{
	const char *end = text + length;
	unsigned number = 1;

	for (const char *at = text; at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);
		char line[LINE_SIZE];
		const char *why = "this line is too long";

		if (size < sizeof(line)) {
			memcpy(line, at, size);
			line[size] = '\0';
		}
		if (size && (size >= sizeof(line) || read_link(fabric, line, lmc, &why))) {
			snprintf(error, WALK_ERROR_SIZE, "%s:%u: %s", name, number, why);
			return -EINVAL;
		}
		at += size + 1;
	}
	return 0;
}

/* Output of ibnetdiscover */

static int take_net(struct walk_fabric *fabric, const struct net *net)
{
	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *from = &net->nodes[n];
		guid_t guid = from->guid ? from->guid : n + 1;
		int index = walk_add_node(fabric, guid, from->type == NODE_SWITCH, from->ports,
					  from->description, strlen(from->description));

		if (index != (int)n)
			return -EEXIST;
		for (unsigned p = 0; p <= from->ports; p++) {
			fabric->nodes[n].port[p].lid = from->port[p].lid;
			fabric->nodes[n].port[p].lmc = from->port[p].lmc;
		}
	}
	for (unsigned n = 0; n < net->count; n++) {
		for (unsigned p = 1; p <= net->nodes[n].ports; p++) {
			const struct net_port *port = &net->nodes[n].port[p];

			if (port->peer != NET_NO_PEER &&
			    walk_connect(fabric, (int)n, p, port->peer, port->peer_port))
				return -EINVAL;
		}
	}
	return 0;
}

static int read_net(struct walk_fabric *fabric, const char *name, const char *text, size_t length,
		    char error[WALK_ERROR_SIZE])
{
	struct net_error why;
	struct net *net;
	int r = net_parse(name, text, length, &net, &why);

	if (r) {
		snprintf(error, WALK_ERROR_SIZE, "%.*s", WALK_ERROR_SIZE - 1, why.text);
		return -EINVAL;
	}
	r = take_net(fabric, net);
	if (r)
		snprintf(error, WALK_ERROR_SIZE, "%s: a node GUID appears twice", name);
	net_free(net);
	return r ? -EINVAL : 0;
}

int walk_read_topology(struct walk_fabric *fabric, const char *name, const char *text,
		       size_t length, uint8_t lmc, char error[WALK_ERROR_SIZE])
{
	int r = length && text[0] == '{' ? read_lst(fabric, name, text, length, lmc, error)
					 : read_net(fabric, name, text, length, error);

	if (r || fabric->count)
		return r;
	snprintf(error, WALK_ERROR_SIZE, "%s: contains no node", name);
	return -EINVAL;
}
