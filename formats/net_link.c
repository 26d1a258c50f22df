/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The port lines of a net file: reading a line, and joining both ends of the links after all nodes
 * are known. Links may refer to later nodes, so they are collected with their line numbers.
 */
#include "formats/net_parse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/mem.h"

/* "[N]" with N in 1..max. */
static bool take_port(struct cursor *c, unsigned max, unsigned *port)
{
	struct cursor try = *c;
	uint64_t value;

	if (!cursor_accept(&try, '[') || !cursor_number(&try, 10, &value) ||
	    !cursor_accept(&try, ']') || value == 0 || value > max)
		return false;
	*c = try;
	*port = value;
	return true;
}

/* "[ext N]": the port's name on the chassis, by ibnetdiscover -g. Ignored. */
static void skip_external_port(struct cursor *c)
{
	static const char opening[] = "[ext ";
	const char *close;

	if (c->end - c->at < (ptrdiff_t)strlen(opening) ||
	    memcmp(c->at, opening, strlen(opening)) != 0)
		return;
	close = memchr(c->at, ']', c->end - c->at);
	if (close)
		c->at = close + 1;
}

bool net_take_guid(struct cursor *c, guid_t *guid)
{
	uint64_t value;

	cursor_skip_blanks(c);
	if (!cursor_accept(c, '('))
		return true;
	if (!cursor_number(c, 16, &value) || !cursor_accept(c, ')'))
		return false;
	*guid = value;
	return true;
}

static const struct mask_rule {
	const char *name;
	char letter; /* of the port's option */
	uint8_t min, max;
	size_t offset;
} mask_rules[] = {
	[NET_MASK_WIDTH] = {"width", 'w', 1, 31, offsetof(struct net_rate, width)},
	[NET_MASK_SPEED] = {"speed", 's', 0, 7, offsetof(struct net_rate, speed)},
	[NET_MASK_SPEED_EXT] = {"extspeed", 'e', 0, 15, offsetof(struct net_rate, speed_ext)},
};

int net_read_mask(struct net_parser *parser, struct cursor *c, enum net_mask mask,
		  struct net_rate *rate)
{
	const struct mask_rule *rule = &mask_rules[mask];
	struct cursor start = *c;
	uint64_t value;

	if (!cursor_number(c, 10, &value) || value < rule->min || value > rule->max)
		return net_fail_here(parser, &start, "%s needs a mask of %u to %u", rule->name,
				     rule->min, rule->max);
	/* ibsim takes speed 0 for QDR. */
	if (mask == NET_MASK_SPEED && value == 0)
		value = 4;
	((uint8_t *)rate)[rule->offset] = value;
	rate->fdr10 = false;
	return 0;
}

/* "w=", "s=" or "e=", or -1. */
static int link_take_option(struct cursor *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(mask_rules); i++) {
		if (c->end - c->at < 2 || c->at[0] != mask_rules[i].letter || c->at[1] != '=')
			continue;
		c->at += 2;
		return i;
	}
	return -1;
}

static int link_read_options(struct net_parser *parser, struct cursor *c, struct net_rate *rate)
{
	for (;;) {
		int option, r;

		cursor_skip_blanks(c);
		if (cursor_at_end(c) || *c->at == '#')
			return 0;
		option = link_take_option(c);
		if (option < 0)
			return net_fail_here(parser, c, "unexpected text after the peer's port");
		r = net_read_mask(parser, c, option, rate);
		if (r)
			return r;
	}
}

/* On an adapter's line the first of two LIDs is its own; on a switch's there is only the peer's. */
static int read_port_comment(struct net_parser *parser, struct cursor *c, bool is_switch,
			     struct net_port *port, lid_t *peer_lid)
{
	struct net_facts facts = {0};
	struct cursor before, after;
	struct piece quoted;
	unsigned own = 0;
	int r;

	if (!cursor_accept(c, '#'))
		return 0;
	net_split_comment(*c, &before, &quoted, &after);
	r = net_read_facts(parser, before, &facts);
	if (r)
		return r;
	own = facts.lid_count > 0 && facts.lmc_given;
	r = net_read_facts(parser, after, &facts);
	if (r)
		return r;
	if (!is_switch && own) {
		port->lid = facts.lids[0];
		port->lmc = facts.lmc;
	}
	if (facts.lid_count > own)
		*peer_lid = facts.lids[own];
	if (facts.rate_given) {
		port->rate = facts.rate;
		port->rated = true;
	}
	return 0;
}

static void link_add(struct net_parser *parser, const struct net_link_line *link)
{
	if (parser->link_count == parser->link_capacity) {
		parser->link_capacity = parser->link_capacity ? parser->link_capacity * 2 : 256;
		parser->links =
			mem_resize(parser->links, parser->link_capacity, sizeof(*parser->links));
	}
	parser->links[parser->link_count++] = *link;
}

/* Parses from the local port's bracket to the peer's bracket: the ends of the cable. */
static int read_cable(struct net_parser *parser, struct cursor *c, const struct net_node *node,
		      struct net_link_line *link)
{
	guid_t guid = 0;

	if (!take_port(c, node->ports, &link->port))
		return net_fail_here(parser, c, "\"%s\" has the ports 1 to %u", node->id,
				     node->ports);
	skip_external_port(c);
	if (!net_take_guid(c, &guid))
		return net_fail_here(parser, c, "a GUID of hexadecimal digits is needed");
	cursor_skip_blanks(c);
	if (!cursor_quoted(c, &link->peer))
		return net_fail_here(parser, c, "port %u needs its peer's id in quotes",
				     link->port);
	cursor_skip_blanks(c);
	link->peer_port = 1;
	if (!cursor_at_end(c) && *c->at == '[' && !take_port(c, PORT_MAX, &link->peer_port))
		return net_fail_here(parser, c, "a peer's port is 1 to %d", PORT_MAX);
	skip_external_port(c);
	if (!net_take_guid(c, &link->peer_guid))
		return net_fail_here(parser, c, "a GUID of hexadecimal digits is needed");
	if (node->type != NODE_SWITCH)
		node->port[link->port].guid = guid;
	return 0;
}

int net_read_port(struct net_parser *parser, struct cursor *c)
{
	struct net_link_line link = {.node = parser->node, .line = parser->line};
	const struct net_node *node;
	struct net_port *port;
	int r;

	if (parser->node < 0)
		return net_fail(parser, "a port's line stands outside a node's record");
	node = &parser->net->nodes[parser->node];
	r = read_cable(parser, c, node, &link);
	if (r)
		return r;
	port = &node->port[link.port];
	if (port->peer != NET_NO_PEER)
		return net_fail(parser, "port %u of \"%s\" is listed a second time", link.port,
				node->id);
	port->peer = parser->node; /* any value: marks it as listed until it is resolved */
	r = link_read_options(parser, c, &port->rate);
	if (!r)
		r = read_port_comment(parser, c, node->type == NODE_SWITCH, port, &link.peer_lid);
	if (!r)
		link_add(parser, &link);
	return r;
}

static int link_find_peer(struct net_parser *parser, const struct net_link_line *link)
{
	char id[NET_ID_MAX + 2];

	snprintf(id, sizeof(id), "%.*s", link->peer.length, link->peer.text);
	return net_find(parser->net, id);
}

static int resolve(struct net_parser *parser, const struct net_link_line *link)
{
	struct net_node *node = &parser->net->nodes[link->node];
	int peer = link_find_peer(parser, link);

	if (peer < 0)
		return net_fail_at(
			parser, link->line, -EINVAL,
			"port %u of \"%s\" is linked to \"%.*s\", which is described nowhere",
			link->port, node->id, link->peer.length > 64 ? 64 : link->peer.length,
			link->peer.text);
	if (link->peer_port > parser->net->nodes[peer].ports)
		return net_fail_at(
			parser, link->line, -EINVAL,
			"port %u of \"%s\" is linked to port %u of \"%s\", whose ports are 1 to %u",
			link->port, node->id, link->peer_port, parser->net->nodes[peer].id,
			parser->net->nodes[peer].ports);
	node->port[link->port].peer = peer;
	node->port[link->port].peer_port = link->peer_port;
	return 0;
}

/* The far end of a link: if it is listed, both must agree; otherwise this end counts. */
static int link_join(struct net_parser *parser, const struct net_link_line *link)
{
	struct net_node *node = &parser->net->nodes[link->node];
	struct net_port *here = &node->port[link->port];
	struct net_node *peer = &parser->net->nodes[here->peer];
	struct net_port *there = &peer->port[here->peer_port];
	lid_t *lid;

	if (there->peer == NET_NO_PEER) {
		there->peer = link->node;
		there->peer_port = link->port;
		there->rate = here->rate;
		there->rated = here->rated;
	} else if (there->peer != link->node || there->peer_port != link->port) {
		return net_fail_at(
			parser, link->line, -EINVAL,
			"port %u of \"%s\" is linked to port %u of \"%s\", which is linked to "
			"port %u of \"%s\"",
			link->port, node->id, here->peer_port, peer->id, there->peer_port,
			parser->net->nodes[there->peer].id);
	}
	lid = &peer->port[peer->type == NODE_SWITCH ? 0 : here->peer_port].lid;
	if (*lid == LID_NONE)
		*lid = link->peer_lid;
	if (peer->type == NODE_SWITCH || !link->peer_guid)
		return 0;
	if (there->guid && there->guid != link->peer_guid)
		return net_fail_at(parser, link->line, -EINVAL,
				   "port %u of \"%s\" has the GUID %" PRIx64 " here and %" PRIx64
				   " in its own record",
				   here->peer_port, peer->id, link->peer_guid, there->guid);
	there->guid = link->peer_guid;
	return 0;
}

int net_join_links(struct net_parser *parser)
{
	int r = 0;

	for (size_t i = 0; !r && i < parser->link_count; i++)
		r = resolve(parser, &parser->links[i]);
	for (size_t i = 0; !r && i < parser->link_count; i++)
		r = link_join(parser, &parser->links[i]);
	return r;
}
