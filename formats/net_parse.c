/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads a net file. The text comes from users, other programs and fuzzers. So each line is
 * delimited by its length and read by a cursor that cannot pass its end, and each number is checked
 * against a range.
 *
 * The grammar, line by line (a keyword or a bracket is in the first column):
 *
 *	record    = header { port | "#..." }      ended by any other line
 *	header    = ("Switch" | "Ca" | "Hca" | "Rt") PORTS "ID" [ # ["DESCRIPTION"] facts ]
 *	port      = [P] [ext N] (GUID) "PEER" [RP] [ext N] (GUID) {w=N | s=N | e=N} [ # facts ]
 *	facts     = words, of which these are used: lid N, lmc N, enhanced port, 4xEDR
 *	directive = vendid= | devid= | sysimgguid= | switchguid= | caguid= | hcaguids= | rtguid=
 *	          | width= | speed= | extspeed=
 *
 * Only the first bracket and the peer of a port are required; RP is 1 by default. Port lines are in
 * net_link.c, facts in net_facts.c.
 */
#include "formats/net_parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { VENDOR_BITS = 24, DEVICE_BITS = 16 };

/* Starts an error's text with its place and returns its length. */
static size_t begin_error(struct net_parser *parser, unsigned line)
{
	struct net_error *error = parser->error;

	error->line = line;
	if (!line)
		return snprintf(error->text, sizeof(error->text), "%.200s: ", parser->name);
	return snprintf(error->text, sizeof(error->text), "%.200s:%u: ", parser->name, line);
}

int net_fail_at(struct net_parser *parser, unsigned line, int code, const char *format, ...)
{
	size_t used = begin_error(parser, line);
	va_list args;

	va_start(args, format);
	vsnprintf(parser->error->text + used, sizeof(parser->error->text) - used, format, args);
	va_end(args);
	return code;
}

int net_fail_here(struct net_parser *parser, const struct cursor *c, const char *format, ...)
{
	struct piece rest = cursor_rest(c);
	char reason[256];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (!rest.length)
		return net_fail(parser, "%s, but the line ends", reason);
	return net_fail(parser, "%s: \"%.*s\"", reason, rest.length, rest.text);
}

/* A description without quotes ends where the facts of old ibnetdiscover outputs begin. */
static struct piece take_unquoted_description(struct cursor *c)
{
	static const char *const facts[] = {" enhanced port ", " base port ", " lid ", " lmc "};
	struct cursor description = *c;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const char *found =
			memmem(c->at, description.end - c->at, facts[i], strlen(facts[i]));

		if (found)
			description.end = found;
	}
	c->at = description.end;
	cursor_skip_blanks(&description);
	return (struct piece){description.at, description.end - description.at};
}

static int read_header_comment(struct net_parser *parser, struct cursor *c,
			       struct piece *description, struct net_facts *facts)
{
	struct cursor words, after;

	*description = (struct piece){"", 0};
	cursor_skip_blanks(c);
	if (cursor_at_end(c))
		return 0;
	if (!cursor_accept(c, '#'))
		return net_fail_here(parser, c, "unexpected text after the node's id");
	if (net_split_comment(*c, &words, description, &after))
		words = after;
	else
		*description = take_unquoted_description(&words);
	if (description->length > NODE_DESC_SIZE)
		return net_fail(parser, "the description has %d bytes, a NodeDescription only %u",
				description->length, NODE_DESC_SIZE);
	return net_read_facts(parser, words, facts);
}

static int net_parse_node(struct net_parser *parser, enum node_type type, struct piece id,
			  struct piece description, uint64_t ports)
{
	char id_text[NET_ID_MAX + 2], description_text[NODE_DESC_SIZE + 1];
	int index;

	/* Keeps one byte more than allowed, so that net_add_node() refuses it. */
	snprintf(id_text, sizeof(id_text), "%.*s", id.length, id.text);
	snprintf(description_text, sizeof(description_text), "%.*s", description.length,
		 description.text);
	index = net_add_node(parser->net, type, id_text, description_text, ports);
	if (index == -EEXIST)
		return net_fail(parser, "node \"%s\" is described a second time", id_text);
	if (index == -E2BIG)
		return net_fail_at(parser, parser->line, index,
				   "too large: at most %d nodes and %d ports can be read",
				   NET_NODES_MAX, NET_PORTS_MAX);
	if (index < 0)
		return net_fail(
			parser,
			"\"%s\" cannot be an id: 1 to %d characters without \" # @ are needed",
			id_text, NET_ID_MAX);
	return index;
}

static void give_guids(struct net_parser *parser, struct net_node *node)
{
	struct net_guid_counter *counter = &parser->guids[node->type];

	if (counter->given) {
		node->guid = counter->next;
		counter->next += node->type == NODE_SWITCH ? 1 : node->ports + 1u;
	}
	if (node->type == NODE_SWITCH)
		node->port[0].guid = parser->switch_port_guid;
	node->system_guid = parser->system_guid;
	node->vendor_id = parser->vendor_id;
	node->device_id = parser->device_id;
	parser->switch_port_guid = parser->system_guid = 0;
	parser->vendor_id = parser->device_id = 0;
}

static int read_header(struct net_parser *parser, struct cursor *c, int type)
{
	struct piece id, description;
	struct net_facts facts = {0};
	struct net_node *node;
	struct cursor start;
	uint64_t ports;
	int r;

	cursor_skip_blanks(c);
	start = *c;
	if (!cursor_number(c, 10, &ports) || ports == 0 || ports > PORT_MAX)
		return net_fail_here(parser, &start, "a node needs its number of ports, 1 to %d",
				     PORT_MAX);
	cursor_skip_blanks(c);
	if (!cursor_quoted(c, &id))
		return net_fail_here(parser, c, "a node needs its id in quotes");
	r = read_header_comment(parser, c, &description, &facts);
	if (r)
		return r;
	r = net_parse_node(parser, type, id, description, ports);
	if (r < 0)
		return r;

	parser->node = r;
	node = &parser->net->nodes[r];
	give_guids(parser, node);
	if (type == NODE_SWITCH) {
		node->enhanced_port0 = facts.enhanced_port0;
		node->port[0].lid = facts.lids[0];
		node->port[0].lmc = facts.lmc;
	}
	return 0;
}

static int read_value(struct net_parser *parser, struct cursor *c, uint64_t max, uint64_t *value)
{
	struct cursor start;
	uint64_t number;

	cursor_skip_blanks(c);
	start = *c;
	if (!cursor_number(c, 10, &number) || number > max)
		return net_fail_here(parser, &start, "a number up to 0x%" PRIx64 " is needed", max);
	*value = number;
	return 0;
}

static int expect_sign(struct net_parser *parser, struct cursor *c)
{
	cursor_skip_blanks(c);
	if (cursor_accept(c, '='))
		return 0;
	return net_fail_here(parser, c, "= and a value are needed");
}

static int expect_end(struct net_parser *parser, struct cursor *c)
{
	cursor_skip_blanks(c);
	if (cursor_at_end(c) || *c->at == '#')
		return 0;
	return net_fail_here(parser, c, "unexpected text after the value");
}

/* "= number" and nothing else. */
static int read_setting(struct net_parser *parser, struct cursor *c, uint64_t max, uint64_t *value)
{
	int r = expect_sign(parser, c);

	if (!r)
		r = read_value(parser, c, max, value);
	return r ? r : expect_end(parser, c);
}

/* "=" sets the GUID of the next node of that type, "+" adds to the last value of "=". */
static int net_parse_guid(struct net_parser *parser, struct cursor *c, int type)
{
	struct net_guid_counter *counter = &parser->guids[type];
	bool relative = cursor_accept(c, '+');
	guid_t port_guid = 0;
	uint64_t value;
	int r = relative ? 0 : expect_sign(parser, c);

	if (!r)
		r = read_value(parser, c, UINT64_MAX, &value);
	if (r)
		return r;
	if (!net_take_guid(c, &port_guid))
		return net_fail_here(parser, c, "a GUID of hexadecimal digits was expected");
	if (!relative)
		counter->base = value;
	counter->next = relative ? counter->base + value : value;
	counter->given = true;
	if (type == NODE_SWITCH)
		parser->switch_port_guid = port_guid;
	return expect_end(parser, c);
}

static int read_system_guid(struct net_parser *parser, struct cursor *c, int unused)
{
	(void)unused;
	return read_setting(parser, c, UINT64_MAX, &parser->system_guid);
}

/* bits: of VendorID or DeviceID in NodeInfo. */
static int read_id(struct net_parser *parser, struct cursor *c, int bits)
{
	uint64_t value;
	int r = read_setting(parser, c, (1 << bits) - 1, &value);

	if (!r)
		*(bits == VENDOR_BITS ? &parser->vendor_id : &parser->device_id) = value;
	return r;
}

static int read_default(struct net_parser *parser, struct cursor *c, int mask)
{
	int r = expect_sign(parser, c);

	cursor_skip_blanks(c);
	if (!r)
		r = net_read_mask(parser, c, mask, &parser->net->default_rate);
	return r ? r : expect_end(parser, c);
}

static int ignore(struct net_parser *parser, struct cursor *c, int unused)
{
	(void)c;
	(void)unused;
	parser->net->ignored++;
	return 0;
}

static int refuse_include(struct net_parser *parser, struct cursor *c, int unused)
{
	(void)c;
	(void)unused;
	return net_fail(parser,
			"include is not supported: a net is one text here; put the included "
			"file in place of this line");
}

static const struct keyword {
	const char *word;
	int (*read)(struct net_parser *parser, struct cursor *c, int argument);
	int argument;
} keywords[] = {
	{"Switch", read_header, NODE_SWITCH},
	{"Ca", read_header, NODE_CA},
	{"Hca", read_header, NODE_CA},
	{"Rt", read_header, NODE_ROUTER},
	{"switchguid", net_parse_guid, NODE_SWITCH},
	{"caguid", net_parse_guid, NODE_CA},
	{"hcaguids", net_parse_guid, NODE_CA},
	{"rtguid", net_parse_guid, NODE_ROUTER},
	{"sysimgguid", read_system_guid, 0},
	{"vendid", read_id, VENDOR_BITS},
	{"devid", read_id, DEVICE_BITS},
	{"width", read_default, NET_MASK_WIDTH},
	{"speed", read_default, NET_MASK_SPEED},
	{"extspeed", read_default, NET_MASK_SPEED_EXT},
	{"include", refuse_include, 0},
	{"module", ignore, 0},
	{"do", ignore, 0},
	{"pdebug", ignore, 0},
	{"Chassis", ignore, 0},	 /* these two are headings of */
	{"Hostname", ignore, 0}, /* ibnetdiscover -g */
};

static int read_keyword(struct net_parser *parser, struct cursor *c)
{
	struct piece line = cursor_rest(c), word = {c->at, 0};

	while (!cursor_at_end(c) && isalpha((unsigned char)*c->at))
		c->at++;
	word.length = c->at - word.text;
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (piece_is(word, keywords[i].word))
			return keywords[i].read(parser, c, keywords[i].argument);
	return net_fail(parser,
			"\"%.*s\" begins with no keyword of a net file (Switch, Ca, Hca, "
			"Rt, switchguid=, caguid=, ...)",
			line.length, line.text);
}

static int check_characters(struct net_parser *parser, const struct cursor *c)
{
	if (c->end - c->at > NET_LINE_MAX)
		return net_fail(parser, "the line has %td bytes, more than %d", c->end - c->at,
				NET_LINE_MAX);
	for (const char *at = c->at; at < c->end; at++)
		if (iscntrl((unsigned char)*at) && *at != '\t')
			return net_fail(parser, "control character 0x%02x in the line",
					(unsigned char)*at);
	return 0;
}

static int net_parse_line(struct net_parser *parser, struct cursor *c)
{
	int r = check_characters(parser, c);

	if (r)
		return r;
	if (!cursor_at_end(c) && *c->at == '#')
		return 0;
	if (!cursor_at_end(c) && *c->at == '[')
		return net_read_port(parser, c);
	if (!cursor_at_end(c) && *c->at == '@')
		return net_fail(parser,
				"port aliases (@) are not supported: list the link by the ids "
				"and ports of its two ends");
	parser->node = -1;
	if (cursor_word(&(struct cursor){c->at, c->end}).length == 0)
		return 0;
	return read_keyword(parser, c);
}

int net_parse(const char *name, const char *text, size_t length, struct net **out,
	      struct net_error *error)
{
	struct net_parser parser = {
		.name = name,
		.error = error,
		.net = net_new(),
		.node = -1,
		/* Start values of ibsim for a "+" before a "=". */
		.guids = {[NODE_CA] = {.base = 0x100000}, [NODE_SWITCH] = {.base = 0x200000}},
	};
	struct lines lines = {.name = name, .next = text, .end = text + length};
	struct cursor line;
	int r = 0;

	while (!r && lines_next(&lines, &line)) {
		parser.line = lines.number;
		r = net_parse_line(&parser, &line);
	}
	if (!r)
		r = net_join_links(&parser);
	if (!r && parser.net->count == 0)
		r = net_fail_at(&parser, 0, -EINVAL, "it describes no node");
	free(parser.links);
	if (r)
		net_free(parser.net);
	else
		*out = parser.net;
	return r;
}
