/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A net as a graph for Graphviz (net_export.h). */
#include "formats/net_export.h"

/* Quotes cannot be in a net's texts, backslashes can. */
static void dot_print_text(FILE *stream, const char *text)
{
	putc('"', stream);
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			putc('\\', stream);
		putc(*text, stream);
	}
	putc('"', stream);
}

static void dot_print_node(FILE *stream, const struct net_node *node)
{
	static const char *const shapes[] = {
		[NODE_CA] = "ellipse", [NODE_SWITCH] = "box", [NODE_ROUTER] = "diamond"};

	putc('\t', stream);
	dot_print_text(stream, node->id);
	fputs(" [label=", stream);
	dot_print_text(stream, node->description);
	fprintf(stream, ", shape=%s];\n", shapes[node->type]);
}

static void print_cable(FILE *stream, const struct net *net, const struct net_node *node,
			unsigned number)
{
	const struct net_port *port = &node->port[number];
	char rate[16] = "";

	putc('\t', stream);
	dot_print_text(stream, node->id);
	fputs(" -- ", stream);
	dot_print_text(stream, net->nodes[port->peer].id);
	net_rate_name(&port->rate, rate, sizeof(rate));
	fprintf(stream, " [taillabel=\"%u\", headlabel=\"%u\", label=\"%s\"];\n", number,
		port->peer_port, rate);
}

void net_print_dot(FILE *stream, const struct net *net)
{
	fputs("graph fabric {\n\tnode [fontsize=10];\n\tedge [fontsize=8];\n", stream);
	for (unsigned n = 0; n < net->count; n++)
		dot_print_node(stream, &net->nodes[n]);
	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *node = &net->nodes[n];

		for (unsigned p = 1; p <= node->ports; p++) {
			if (net_is_first_end(net, n, p))
				print_cable(stream, net, node, p);
		}
	}
	fputs("}\n", stream);
}
