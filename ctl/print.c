/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints lists, paths and sweeps. print_status() is in status.c. */
#include "ctl/handlers.h"

#include "ctl/text.h"

static void print_sweep_changes(const json_t *data, FILE *out)
{
	bool blocks = number_member(data, "blocks_set");

	text_put(out, data, "{fabric_changed:?the fabric changed}");
	if (blocks)
		text_put(out, data,
			 "{fabric_changed:?; }{blocks_set:d} block{blocks_set:#|s} of forwarding "
			 "tables written on {switches_set:d} switch{switches_set:#|es}");
	else if (!flag_member(data, "fabric_changed"))
		fputs(number_member(data, "sets") ? "no forwarding table changed"
						  : "nothing changed",
		      out);
	fputc('\n', out);
}

void print_sweep(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "{kind} sweep in {duration_us:us}: {smps:d} SMP{smps:#|s}, {sets:d} of them "
		 "Set(); ");
	print_sweep_changes(data, out);
	if (json_is_string(json_object_get(data, "summary")))
		text_put(out, data, "{summary}\n");
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
	COLUMN("FROM-GUID", "from.guid", COLUMN_TEXT, .drop = 1),
	COLUMN("FROM", "from", COLUMN_NODE),
	COLUMN("FROM-LID", "from.lid", COLUMN_NUMBER, .drop = 2),
	COLUMN("FROM-PORT", "from.port", COLUMN_NUMBER),
	COLUMN("TO-GUID", "to.guid", COLUMN_TEXT, .drop = 1),
	COLUMN("TO", "to", COLUMN_NODE),
	COLUMN("TO-LID", "to.lid", COLUMN_NUMBER, .drop = 2),
	COLUMN("TO-PORT", "to.port", COLUMN_NUMBER),
	COLUMN("STATE", "state", COLUMN_TEXT),
	COLUMN("SPEED", "width_speed", COLUMN_TEXT),
	COLUMN("MTU", "mtu", COLUMN_NUMBER, .drop = 3),
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
	json_t *rows = json_array(), *hop;
	size_t i;

	text_put(out, data, "from {src:n} (LID {src.lid:d}) to {dst:n} (LID {dst.lid:d})\n");
	json_array_foreach (json_object_get(data, "hops"), i, hop) {
		json_t *row = json_copy(hop);

		json_object_set_new(row, "hop", json_integer((json_int_t)i));
		json_array_append_new(rows, row);
	}
	if (json_equal(json_object_get(data, "src"), json_object_get(data, "dst")))
		fputs("source and destination are the same node\n", out);
	else
		columns_print(columns, NULL, rows, out);
	json_decref(rows);
}
