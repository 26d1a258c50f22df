/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options as JSON, an object for each row of the option table: weftd/conf_json.h. */
#include "weftd/conf_json.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *value_json(const struct conf *conf, const struct conf_row *row)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	json_t *value;

	if (row->secret)
		return json_string("(not shown)");
	out = open_memstream(&text, &size);
	if (!out)
		abort();
	conf_row_print(conf, row, out);
	fclose(out);
	value = json_string(text); /* NULL if it is not UTF-8, as a path may be */
	free(text);
	return value ? value : json_string("(not UTF-8)");
}

json_t *conf_options_json(const struct conf *conf)
{
	json_t *options = json_array();
	struct conf defaults;

	conf_defaults(&defaults);
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		char range[CONF_RANGE_SIZE];

		conf_row_range(row, range);
		json_array_append_new(options,
				      json_pack("{s:s,s:o,s:o,s:b,s:s,s:s}", "name", row->name,
						"value", value_json(conf, row), "default",
						value_json(&defaults, row), "is_default",
						!conf_row_differs(row, conf, &defaults), "range",
						range, "effect", conf_row_effect(row, conf)));
	}
	return options;
}

json_t *conf_changes_json(const struct conf *present, const struct conf *next)
{
	json_t *changes = json_array();

	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (conf_row_differs(row, present, next))
			json_array_append_new(changes,
					      json_pack("{s:s,s:o,s:o,s:s}", "name", row->name,
							"now", value_json(present, row), "next",
							value_json(next, row), "effect",
							conf_row_effect(row, present)));
	}
	return changes;
}
