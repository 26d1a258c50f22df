/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints lists, paths and sweeps. print_status() is in status.c. */
#include "ctl/handlers.h"

#include <string.h>

#include "ctl/text.h"

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

const struct column node_columns[] = {
	COLUMN("GUID", "guid", COLUMN_TEXT),
	COLUMN("TYPE", "type", COLUMN_TEXT),
	COLUMN("LID", "lid", COLUMN_NUMBER),
	COLUMN("PORTS", "ports", COLUMN_NUMBER),
	COLUMN("ACTIVE", "active", COLUMN_NUMBER),
	COLUMN("DESCRIPTION", "description", COLUMN_NAME),
	{.name = NULL},
};

const struct column log_columns[] = {
	COLUMN("COMPONENT", "component", COLUMN_TEXT),
	COLUMN("LEVEL", "level", COLUMN_TEXT),
	{.name = NULL},
};

const struct column link_columns[] = {
	COLUMN("FROM-GUID", "from.guid", COLUMN_TEXT),
	COLUMN("FROM", "from", COLUMN_NODE),
	COLUMN("FROM-LID", "from.lid", COLUMN_NUMBER),
	COLUMN("FROM-PORT", "from.port", COLUMN_NUMBER),
	COLUMN("TO-GUID", "to.guid", COLUMN_TEXT),
	COLUMN("TO", "to", COLUMN_NODE),
	COLUMN("TO-LID", "to.lid", COLUMN_NUMBER),
	COLUMN("TO-PORT", "to.port", COLUMN_NUMBER),
	COLUMN("STATE", "state", COLUMN_TEXT),
	COLUMN("SPEED", "width_speed", COLUMN_TEXT),
	COLUMN("MTU", "mtu", COLUMN_NUMBER),
	{.name = NULL},
};

/* A host at an end of the path has no number in some columns. */
void print_route(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("HOP", "hop", COLUMN_NUMBER),	  COLUMN("IN", "in_port", COLUMN_NUMBER),
		COLUMN("OUT", "out_port", COLUMN_NUMBER), COLUMN("VL", "vl", COLUMN_NUMBER),
		COLUMN("LID", "lid", COLUMN_NUMBER),	  COLUMN("GUID", "guid", COLUMN_TEXT),
		COLUMN("NODE", NULL, COLUMN_NODE),	  {.name = NULL},
	};
	const json_t *src = json_object_get(data, "src"), *dst = json_object_get(data, "dst");
	json_t *rows = json_array(), *hop;
	size_t i;

	fprintf(out, "from %s (LID %lld) to %s (LID %lld)\n", text_name(src),
		number_member(src, "lid"), text_name(dst), number_member(dst, "lid"));
	json_array_foreach (json_object_get(data, "hops"), i, hop) {
		json_t *row = json_copy(hop);

		json_object_set_new(row, "hop", json_integer((json_int_t)i));
		json_array_append_new(rows, row);
	}
	if (json_equal(src, dst))
		fputs("source and destination are the same node\n", out);
	else
		columns_print(columns, NULL, rows, out);
	json_decref(rows);
}
