/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads names of nodes (weftd/name_file.h). Names are made printable, like node descriptions. The
 * first line for a node counts, as for infiniband-diags.
 */
#include "weftd/name_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/guid_file.h"
#include "lib/mem.h"
#include "mad/attr.h"
#include "weftd/file_text.h"

enum { NAME_FILE_MAX_BYTES = 16 * 1024 * 1024 };

static void add_name(struct map *names, const struct name_row *row)
{
	struct node_description description = {0};
	char text[NODE_DESC_SIZE + 1];

	if (map_get(names, row->guid))
		return;
	memcpy(description.text, row->name.text, (size_t)row->name.length);
	map_put(names, row->guid, mem_strdup(description_text(&description, text)));
}

static int order_by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* A line about names that several nodes have, for free(); NULL: each node has its own name. */
static char *warn_of_doubles(const char *path, const struct map *names)
{
	const char **sorted = mem_array(names->count + 1, sizeof(*sorted)), *example = NULL;
	size_t count = 0, doubles = 0, position = 0;
	char *warning = NULL;

	while ((sorted[count] = map_next(names, &position)))
		count++;
	qsort(sorted, count, sizeof(*sorted), order_by_name);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i], sorted[i - 1]) != 0 ||
		    (i > 1 && !strcmp(sorted[i], sorted[i - 2])))
			continue;
		example = example ? example : sorted[i];
		doubles++;
	}
	if (doubles)
		warning = mem_printf("%s: several nodes have the same name (%zu name%s, such as "
				     "\"%s\"): commands refuse such a name, so give each node its "
				     "own",
				     path, doubles, doubles == 1 ? "" : "s", example);
	free(sorted);
	return warning;
}

int name_file_read(const struct conf *conf, struct map **out, char **warning,
		   char error[CONF_ERROR_SIZE])
{
	const char *path = conf->node_name_map;
	char *text, *reason;
	struct name_row *rows;
	size_t length;
	uint32_t count;
	int rc;

	if (!*path) {
		*out = NULL;
		*warning = NULL;
		return 0;
	}
	rc = file_read_text("node_name_map_name", path, NAME_FILE_MAX_BYTES, &text, &length, error);
	if (rc)
		return rc;
	rc = name_rows_parse(path, text, length, &rows, &count, &reason);
	if (rc) {
		snprintf(error, CONF_ERROR_SIZE, "%.*s", CONF_ERROR_SIZE - 1, reason);
		free(reason);
	} else {
		*out = mem_zalloc(sizeof(**out));
		map_init(*out);
		for (uint32_t i = 0; i < count; i++)
			add_name(*out, &rows[i]);
		*warning = warn_of_doubles(path, *out);
		free(rows);
	}
	free(text);
	return rc;
}
