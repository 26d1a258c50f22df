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

int name_file_read(const struct conf *conf, struct map **out, char error[CONF_ERROR_SIZE])
{
	const char *path = conf->node_name_map;
	char *text, *reason;
	struct name_row *rows;
	size_t length;
	uint32_t count;
	int rc;

	if (!*path) {
		*out = NULL;
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
		free(rows);
	}
	free(text);
	return rc;
}
