/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tables of lists and of paths, and the sweep; print_status() has a file of its own. */
#include "ctl/print.h"

#include <string.h>

#include "ctl/table.h"
#include "ctl/text.h"
#include "lib/mem.h"

static void print_sweep_changes(const json_t *data, FILE *out)
{
	long long blocks = number_member(data, "blocks_set");
	long long switches = number_member(data, "switches_set");
	bool fabric = flag_member(data, "fabric_changed");

	if (fabric)
		fputs("the fabric changed", out);
	if (blocks)
		fprintf(out, "%s%lld block%s of forwarding tables written on %lld switch%s",
			fabric ? "; " : "", blocks, text_plural(blocks, "s"), switches,
			text_plural(switches, "es"));
	if (!fabric && !blocks)
		fputs(number_member(data, "sets") ? "no forwarding table changed"
						  : "nothing changed",
		      out);
	fputc('\n', out);
}

void print_sweep(const json_t *data, FILE *out)
{
	const char *summary = text_member(data, "summary");
	long long smps = number_member(data, "smps"), sets = number_member(data, "sets");
	char span[TEXT_SPAN_SIZE];

	fprintf(out, "%s sweep in %s: %lld SMP%s, %lld of them Set(); ", text_member(data, "kind"),
		text_span(number_member(data, "duration_us"), span), smps, text_plural(smps, "s"),
		sets);
	print_sweep_changes(data, out);
	if (strcmp(summary, "-") != 0)
		fprintf(out, "%s\n", summary);
}

void print_nodes(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"GUID", TABLE_LEFT},	{"TYPE", TABLE_LEFT},	 {"LID", TABLE_RIGHT},
		{"PORTS", TABLE_RIGHT}, {"ACTIVE", TABLE_RIGHT}, {"DESCRIPTION", TABLE_NAME},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *node;
	size_t i;

	json_array_foreach (data, i, node) {
		table_cell(table, "%s", text_member(node, "guid"));
		table_cell(table, "%s", text_member(node, "type"));
		table_cell(table, "%lld", number_member(node, "lid"));
		table_cell(table, "%lld", number_member(node, "ports"));
		table_cell(table, "%lld", number_member(node, "active"));
		table_cell(table, "%s", text_member(node, "description"));
	}
	table_print(table, out);
	table_free(table);
}

void print_log_levels(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {{"ROOM", TABLE_LEFT}, {"LEVEL", TABLE_LEFT}};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *room;
	size_t i;

	json_array_foreach (json_object_get(data, "rooms"), i, room) {
		table_cell(table, "%s", text_member(room, "room"));
		table_cell(table, "%s", text_member(room, "level"));
	}
	table_print(table, out);
	table_free(table);
}

static void link_end_cells(struct table *table, const json_t *end)
{
	table_cell(table, "%s", text_member(end, "guid"));
	table_cell(table, "%s", text_name(end));
	table_cell(table, "%lld", number_member(end, "lid"));
	table_cell(table, "%lld", number_member(end, "port"));
}

void print_links(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"FROM GUID", TABLE_LEFT}, {"FROM", TABLE_NAME},    {"LID", TABLE_RIGHT},
		{"PORT", TABLE_RIGHT},	   {"TO GUID", TABLE_LEFT}, {"TO", TABLE_NAME},
		{"LID", TABLE_RIGHT},	   {"PORT", TABLE_RIGHT},   {"STATE", TABLE_LEFT},
		{"SPEED", TABLE_LEFT},	   {"MTU", TABLE_RIGHT},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *link;
	size_t i;

	json_array_foreach (data, i, link) {
		link_end_cells(table, json_object_get(link, "from"));
		link_end_cells(table, json_object_get(link, "to"));
		table_cell(table, "%s", text_member(link, "state"));
		table_cell(table, "%s", text_member(link, "width_speed"));
		table_cell(table, "%lld", number_member(link, "mtu"));
	}
	table_print(table, out);
	table_free(table);
}

/* A number of a hop; a host at an end of the path has not all of them. */
static void hop_cell(struct table *table, const json_t *hop, const char *name)
{
	if (json_is_integer(json_object_get(hop, name)))
		table_cell(table, "%lld", number_member(hop, name));
	else
		table_cell(table, "-");
}

void print_route(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"HOP", TABLE_RIGHT}, {"IN", TABLE_RIGHT},  {"OUT", TABLE_RIGHT},
		{"VL", TABLE_RIGHT},  {"LID", TABLE_RIGHT}, {"GUID", TABLE_LEFT},
		{"NODE", TABLE_NAME},
	};
	const json_t *src = json_object_get(data, "src"), *dst = json_object_get(data, "dst");
	const json_t *hops = json_object_get(data, "hops"), *hop;
	struct table *table;
	size_t i;

	fprintf(out, "from %s (LID %lld) to %s (LID %lld)\n", text_name(src),
		number_member(src, "lid"), text_name(dst), number_member(dst, "lid"));
	if (json_equal(src, dst)) {
		fputs("this is the same node: nothing leaves it\n", out);
		return;
	}
	table = table_new(columns, ARRAY_SIZE(columns));
	json_array_foreach (hops, i, hop) {
		table_cell(table, "%zu", i);
		hop_cell(table, hop, "in_port");
		hop_cell(table, hop, "out_port");
		hop_cell(table, hop, "vl");
		table_cell(table, "%lld", number_member(hop, "lid"));
		table_cell(table, "%s", text_member(hop, "guid"));
		table_cell(table, "%s", text_name(hop));
	}
	table_print(table, out);
	table_free(table);
}
