/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the files for routing engines (route_files.h). Each file has a row with its parser and the
 * destination of its content. A file is used only if all of it is valid.
 */
#include "weftd/route_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/guid_file.h"
#include "lib/mem.h"
#include "weftd/file_text.h"

enum { MIB = 1024 * 1024, LIST_MAX_BYTES = 16 * MIB, DUMP_MAX_BYTES = 1024 * MIB };

struct content {
	const char *path, *text;
	size_t length;
};

struct row {
	const char *option;
	size_t path;   /* offset in struct route_files */
	size_t target; /* offset in struct route_options */
	int (*take)(const struct content *content, const struct row *row, void *target,
		    char **error);
	size_t most_bytes;
	/* For lines of a GUID and numbers: */
	unsigned least, most;
	const char *wanted;
};

static int take_list(const struct content *content, const struct row *row, void *target,
		     char **error)
{
	struct guid_list *list = target;

	(void)row;
	return guid_file_parse(content->path, content->text, content->length, &list->guid,
			       &list->count, error);
}

static int take_notes(const struct content *content, const struct row *row, void *target,
		      char **error)
{
	struct guid_notes *notes = target;
	struct guid_row *rows;
	uint32_t count;
	int rc = guid_rows_parse(content->path, content->text, content->length, row->least,
				 row->most, row->wanted, &rows, &count, error);

	if (rc)
		return rc;
	notes->count = count;
	notes->note = mem_array(count + 1, sizeof(*notes->note));
	for (uint32_t i = 0; i < count; i++) {
		notes->note[i].guid = rows[i].guid;
		notes->note[i].count = rows[i].count;
		memcpy(notes->note[i].number, rows[i].number, rows[i].count);
	}
	free(rows);
	return 0;
}

static int route_tables_take(const struct content *content, const struct row *row, void *target,
			     char **error)
{
	struct route_options *options = target;
	struct dump_table *tables;
	uint32_t count;
	int rc = dump_parse(content->path, content->text, content->length, &tables, &count, error);

	(void)row;
	if (rc)
		return rc;
	options->num_tables = count;
	options->tables = mem_array(count + 1, sizeof(*options->tables));
	for (uint32_t t = 0; t < count; t++)
		options->tables[t] =
			(struct given_table){tables[t].sw, tables[t].lids, tables[t].port};
	free(tables); /* the new tables own the LIDs now */
	return 0;
}

static int prefixes_take(const struct content *content, const struct row *row, void *target,
			 char **error)
{
	struct prefix_routes *prefixes = target;
	struct prefix_row *rows;
	int rc = prefix_rows_parse(content->path, content->text, content->length, &rows,
				   &prefixes->count, error);

	(void)row;
	if (rc)
		return rc;
	prefixes->route = mem_array(prefixes->count + 1, sizeof(*prefixes->route));
	for (uint32_t i = 0; i < prefixes->count; i++)
		prefixes->route[i] = (struct prefix_route){rows[i].prefix, rows[i].router,
							   rows[i].any_prefix, rows[i].any_router};
	free(rows);
	return 0;
}

#define PATH(member) .path = offsetof(struct route_files, member)
#define LIST(member)                                                         \
	.target = offsetof(struct route_options, member), .take = take_list, \
	.most_bytes = LIST_MAX_BYTES
#define NOTES(member, least_, most_, wanted_)                                 \
	.target = offsetof(struct route_options, member), .take = take_notes, \
	.most_bytes = LIST_MAX_BYTES, .least = least_, .most = most_, .wanted = wanted_

static const struct row rows[] = {
	{.option = "root_guid_file", PATH(roots), LIST(roots)},
	{.option = "cn_guid_file", PATH(compute), LIST(compute)},
	{.option = "io_guid_file", PATH(io), LIST(io)},
	{.option = "guid_routing_order_file", PATH(order), LIST(order)},
	{.option = "hop_weights_file",
	 PATH(weights),
	 NOTES(weights, 2, 2, "a switch's GUID, a port and a weight (1 to 254)")},
	{.option = "port_search_ordering_file",
	 PATH(ports),
	 NOTES(ports, 1, PORT_MAX, "a switch's GUID and ports (1 to 254)")},
	{.option = "port_prof_ignore_file",
	 PATH(ignored),
	 NOTES(ignored, 1, 1, "a node's GUID and a port (1 to 254)")},
	{.option = "lfts_file",
	 PATH(tables),
	 .take = route_tables_take,
	 .most_bytes = DUMP_MAX_BYTES},
	{.option = "prefix_routes_file",
	 PATH(prefixes),
	 .target = offsetof(struct route_options, prefixes),
	 .take = prefixes_take,
	 .most_bytes = LIST_MAX_BYTES},
};

static int route_file_read(const struct row *row, const char *path, struct route_options *options,
			   char error[CONF_ERROR_SIZE])
{
	struct content content = {.path = path};
	char *text = NULL, *reason = NULL;
	int rc = file_read_text(row->option, path, row->most_bytes, &text, &content.length, error);

	if (rc)
		return rc;
	content.text = text;
	rc = row->take(&content, row, (char *)options + row->target, &reason);
	if (rc)
		snprintf(error, CONF_ERROR_SIZE, "%.*s", CONF_ERROR_SIZE - 1, reason);
	free(reason);
	free(text);
	return rc;
}

int route_files_read(const struct route_files *files, struct route_options **out, FILE *all,
		     char error[CONF_ERROR_SIZE])
{
	struct route_options *options = NULL;
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && (!result || all); i++) {
		const char *path = (const char *)files + rows[i].path;
		int rc;

		if (!*path)
			continue;
		options = options ? options : route_options_new();
		rc = route_file_read(&rows[i], path, options, error);
		if (rc && all) {
			fprintf(all, "%s\n", error);
			error[0] = '\0';
		}
		result = result ? result : rc;
	}
	if (result)
		route_options_unref(options);
	else
		*out = options;
	return result;
}
