/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints options as a table, and each change as a line. */
#include "ctl/handlers.h"

#include <string.h>

#include "ctl/text.h"
#include "lib/mem.h"

static char *default_text(const json_t *option)
{
	return mem_strdup(flag_member(option, "is_default") ? "=" : text_member(option, "default"));
}

const struct column option_columns[] = {
	COLUMN("OPTION", "name", COLUMN_TEXT),
	COLUMN("APPLIED-BY", "effect", COLUMN_TEXT),
	COLUMN("VALUE", "value", COLUMN_NAME),
	COLUMN_FROM("DEFAULT", default_text, COLUMN_NAME),
	{.name = NULL},
};

static void print_config_changes(const json_t *data, FILE *out)
{
	const json_t *change;
	size_t i;

	json_array_foreach (json_object_get(data, "changes"), i, change) {
		bool restart = !strcmp(text_member(change, "effect"), "restart");

		text_put(out, change, "  {name}: {now} -> {next}");
		fputs(restart ? " (takes effect after a restart of weftd)\n" : "\n", out);
	}
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
	const json_t *danger, *file;
	size_t i;

	if (json_array_size(json_object_get(data, "changes")))
		fputs("configuration read again, and in force\n", out);
	else
		fprintf(out, "configuration read again; no option changed%s\n",
			partitions ? "" : ", nor did the partition file");
	print_config_changes(data, out);
	if (partitions)
		fputs("  the partition file changed: see weftctl events\n", out);
	json_array_foreach (json_object_get(data, "key_files"), i, file) {
		text_put(out, file, "  {option} was read again: ");
		fputs(flag_member(file, "changed") ? "its keys changed\n"
						   : "its keys did not change\n",
		      out);
	}
	text_put_list(out, json_object_get(data, "warnings"), "  warning: {}\n", "");
	json_array_foreach (json_object_get(data, "accepted"), i, danger)
		fprintf(out, "  accepted: %s\n", json_string_value(danger));
}
