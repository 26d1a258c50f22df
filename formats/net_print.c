/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes a net file, and has the names of link rates for reading and writing. The form is exactly
 * that of ibnetdiscover, with the net's own ids in place of S-GUID and H-GUID, because all readers
 * know it. ibsim's reader has restrictions.
 * - It drops the line that ends a node's record, so each record ends in a blank line.
 * - It warns of a port without "lid N WIDTHxSPEED" after the last quote.
 * - It reads any `=` after the peer's id as an option, also inside a description.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/net.h"
#include "lib/mem.h"

/* A width or speed in a name includes the lower rates that such ports also support. */
static const struct {
	const char *name;
	uint8_t mask;
} widths[] = {{"4x", 3}, {"12x", 11}, {"1x", 1}, {"2x", 16}, {"8x", 4}};

static const struct {
	const char *name;
	uint8_t speed, speed_ext;
	bool fdr10;
} speeds[] = {
	{"SDR", 1, 0, false}, {"DDR", 3, 0, false}, {"QDR", 7, 0, false}, {"FDR10", 7, 0, true},
	{"FDR", 7, 1, true},  {"EDR", 7, 3, true},  {"HDR", 7, 7, true},  {"NDR", 7, 15, true},
};

static bool is_word(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && !memcmp(text, word, length);
}

bool net_rate_parse(const char *text, size_t length, struct net_rate *rate)
{
	const char *x = memchr(text, 'x', length);
	size_t width_length = x ? x + 1 - text : 0;

	for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
		if (!is_word(text, width_length, widths[w].name))
			continue;
		for (size_t s = 0; s < ARRAY_SIZE(speeds); s++) {
			if (!is_word(text + width_length, length - width_length, speeds[s].name))
				continue;
			*rate = (struct net_rate){widths[w].mask, speeds[s].speed,
						  speeds[s].speed_ext, speeds[s].fdr10};
			return true;
		}
	}
	return false;
}

bool net_rate_name(const struct net_rate *rate, char *text, size_t size)
{
	for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
		if (widths[w].mask != rate->width)
			continue;
		for (size_t s = 0; s < ARRAY_SIZE(speeds); s++) {
			if (speeds[s].speed != rate->speed ||
			    speeds[s].speed_ext != rate->speed_ext ||
			    speeds[s].fdr10 != rate->fdr10)
				continue;
			snprintf(text, size, "%s%s", widths[w].name, speeds[s].name);
			return true;
		}
	}
	return false;
}

static void print_comment(FILE *stream, const char *comment)
{
	while (comment && *comment) {
		size_t length = strcspn(comment, "\n");

		fprintf(stream, "# %.*s\n", (int)length, comment);
		comment += length + (comment[length] == '\n');
	}
}

/* The LID that readers expect for a port: that of a switch is port 0's. */
static lid_t net_port_lid(const struct net_node *node, unsigned port)
{
	return node->port[node->type == NODE_SWITCH ? 0 : port].lid;
}

/* A reader numbers nodes from the last GUID of their type, so a node without a GUID after a node
 * with a GUID is marked. */
static void net_print_guids(FILE *stream, const struct net_node *node, bool *had_guid)
{
	static const char *const keywords[] = {
		[NODE_CA] = "caguid", [NODE_SWITCH] = "switchguid", [NODE_ROUTER] = "rtguid"};

	if (node->vendor_id)
		fprintf(stream, "vendid=0x%x\n", node->vendor_id);
	if (node->device_id)
		fprintf(stream, "devid=0x%x\n", node->device_id);
	if (node->system_guid)
		fprintf(stream, "sysimgguid=0x%" PRIx64 "\n", node->system_guid);
	if (!node->guid && !had_guid[node->type])
		return;
	had_guid[node->type] = true;
	fprintf(stream, "%s=0x%" PRIx64, keywords[node->type], node->guid);
	if (node->type == NODE_SWITCH && node->port[0].guid)
		fprintf(stream, "(%" PRIx64 ")", node->port[0].guid);
	putc('\n', stream);
}

static void print_header(FILE *stream, const struct net_node *node)
{
	static const char *const keywords[] = {
		[NODE_CA] = "Ca", [NODE_SWITCH] = "Switch", [NODE_ROUTER] = "Rt"};

	fprintf(stream, "%s\t%u \"%s\"\t\t# \"%s\"", keywords[node->type], node->ports, node->id,
		node->description);
	if (node->type == NODE_SWITCH)
		fprintf(stream, " %s port 0 lid %u lmc %u",
			node->enhanced_port0 ? "enhanced" : "base", node->port[0].lid,
			node->port[0].lmc);
	putc('\n', stream);
}

/* The peer's description is only a comment, so its = may be replaced. */
static void print_quoted(FILE *stream, const char *description)
{
	putc('"', stream);
	for (; *description; description++)
		putc(*description == '=' ? '-' : *description, stream);
	putc('"', stream);
}

static void net_print_port(FILE *stream, const struct net *net, const struct net_node *node,
			   unsigned number)
{
	const struct net_port *port = &node->port[number];
	const struct net_node *peer = &net->nodes[port->peer];
	guid_t peer_guid = peer->port[port->peer_port].guid;
	char rate[16] = "";

	fprintf(stream, "[%u]", number);
	if (node->type != NODE_SWITCH && port->guid)
		fprintf(stream, "(%" PRIx64 ") ", port->guid);
	fprintf(stream, "\t\"%s\"[%u]", peer->id, port->peer_port);
	if (peer->type != NODE_SWITCH && peer_guid)
		fprintf(stream, "(%" PRIx64 ") ", peer_guid);
	if (!net_rate_name(&port->rate, rate, sizeof(rate)))
		fprintf(stream, " w=%u s=%u e=%u", port->rate.width, port->rate.speed,
			port->rate.speed_ext);
	fputs("\t\t# ", stream);
	if (node->type != NODE_SWITCH)
		fprintf(stream, "lid %u lmc %u ", port->lid, port->lmc);
	print_quoted(stream, peer->description);
	fprintf(stream, " lid %u%s%s\n", net_port_lid(peer, port->peer_port), *rate ? " " : "",
		rate);
}

void net_print(FILE *stream, const struct net *net)
{
	bool had_guid[NODE_ROUTER + 1] = {false};

	print_comment(stream, net->comment);
	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *node = &net->nodes[n];

		putc('\n', stream);
		net_print_guids(stream, node, had_guid);
		print_header(stream, node);
		for (unsigned p = 1; p <= node->ports; p++)
			if (node->port[p].peer != NET_NO_PEER)
				net_print_port(stream, net, node, p);
	}
	putc('\n', stream);
}
