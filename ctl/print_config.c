/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options as a table; changes as a line each, those that wait for a restart with a word on it. */
#include "ctl/print_config.h"

#include <string.h>

#include "ctl/table.h"
#include "ctl/text.h"
#include "lib/mem.h"

void print_options(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"OPTION", TABLE_LEFT},
		{"CHANGED BY", TABLE_LEFT},
		{"VALUE", TABLE_NAME},
		{"DEFAULT", TABLE_NAME},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *option;
	size_t i;

	json_array_foreach (data, i, option) {
		table_cell(table, "%s", text_member(option, "name"));
		table_cell(table, "%s", text_member(option, "effect"));
		table_cell(table, "%s", text_member(option, "value"));
		table_cell(table, "%s",
			   flag_member(option, "is_default") ? "="
							     : text_member(option, "default"));
	}
	table_print(table, out);
	table_free(table);
}

static void print_config_changes(const json_t *data, FILE *out)
{
	const json_t *change;
	size_t i;

	json_array_foreach (json_object_get(data, "changes"), i, change)
		fprintf(out, "  %s: %s -> %s%s\n", text_member(change, "name"),
			text_member(change, "now"), text_member(change, "next"),
			!strcmp(text_member(change, "effect"), "restart")
				? " (waits for the next start of weftd)"
				: "");
}

void print_would_change(const json_t *data, FILE *out)
{
	fputs(json_array_size(json_object_get(data, "changes"))
		      ? "configuration ok; a reload would change\n"
		      : "configuration ok; a reload would change no option\n",
	      out);
	print_config_changes(data, out);
}

void print_reloaded(const json_t *data, FILE *out)
{
	bool partitions = flag_member(data, "partitions_changed");

	if (json_array_size(json_object_get(data, "changes")))
		fputs("read again, and in force\n", out);
	else
		fprintf(out, "read again; no option changed%s\n",
			partitions ? "" : ", nor did the partition file");
	print_config_changes(data, out);
	if (partitions)
		fputs("  the partition file changed: weftctl events tells what\n", out);
}
