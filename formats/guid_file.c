/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads OpenSM's files for routing engines (guid_file.h), line by line with a cursor. Sizes grow
 * with the text, whose length the caller limits.
 */
#include "formats/guid_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cursor.h"
#include "lib/mem.h"

/* A # begins a comment, which ends the line. */
static bool line_ends(struct cursor *line)
{
	cursor_skip_blanks(line);
	return cursor_at_end(line) || *line->at == '#';
}

static bool guid_file_read_guid(struct cursor *line, guid_t *guid)
{
	return cursor_number(line, 16, guid) && *guid != 0;
}

/* Files of rows, one a line. */

struct row_kind {
	size_t size; /* of a row */
	/* Parses a row from a line; false if the line is invalid. */
	bool (*read)(struct cursor *line, const struct row_kind *kind, void *row);
	const char *wanted; /* the expected item, for the error */
	const char *alone;  /* the same if more text follows; NULL: wanted */
	bool secret;	    /* an error has only wanted, and none of the line */
	unsigned least, most;
};

static int refuse_row(const struct lines *lines, const struct row_kind *kind,
		      const struct cursor *start, const struct cursor *rest, char **error)
{
	if (kind->secret) {
		*error = mem_printf("%s:%u: %s", lines->name, lines->number, kind->wanted);
		return -EINVAL;
	}
	return rest && kind->alone ? lines_refuse(lines, rest, kind->alone, error)
				   : lines_refuse(lines, start, kind->wanted, error);
}

/* rows is the address of a pointer to rows of this kind. */
static int guid_file_read_rows(const char *name, const char *text, size_t length,
			       const struct row_kind *kind, void *rows, uint32_t *count,
			       char **error)
{
	struct lines lines = {name, text, text + length, 0};
	struct cursor line;
	uint8_t *list = NULL;
	uint32_t used = 0, room = 0;

	while (lines_next(&lines, &line)) {
		struct cursor start;
		bool is_row;

		if (line_ends(&line))
			continue;
		start = line;
		if (used == room)
			list = mem_resize(list, room = room ? 2 * room : 16, kind->size);
		is_row = kind->read(&line, kind, list + used++ * kind->size);
		if (!is_row || !line_ends(&line)) {
			free(list);
			return refuse_row(&lines, kind, &start, is_row ? &line : NULL, error);
		}
	}
	memcpy(rows, &list, sizeof(list));
	*count = used;
	return 0;
}

static bool read_guid_alone(struct cursor *line, const struct row_kind *kind, void *row)
{
	(void)kind;
	return guid_file_read_guid(line, row);
}

int guid_file_parse(const char *name, const char *text, size_t length, guid_t **guids,
		    uint32_t *count, char **error)
{
	static const struct row_kind kind = {.size = sizeof(**guids),
					     .read = read_guid_alone,
					     .wanted = "a GUID (0x and 16 digits)",
					     .alone = "one GUID a line"};

	return guid_file_read_rows(name, text, length, &kind, guids, count, error);
}

/* A GUID and numbers, up to the end of the line. */
static bool read_guid_row(struct cursor *line, const struct row_kind *kind, void *out)
{
	struct guid_row *row = out;

	*row = (struct guid_row){0};
	if (!guid_file_read_guid(line, &row->guid))
		return false;
	while (!line_ends(line)) {
		uint64_t number;

		if (row->count == kind->most || !cursor_number(line, 10, &number) || number == 0 ||
		    number > PORT_MAX)
			return false;
		row->number[row->count++] = (uint8_t)number;
	}
	return row->count >= kind->least;
}

int guid_rows_parse(const char *name, const char *text, size_t length, unsigned least,
		    unsigned most, const char *wanted, struct guid_row **rows, uint32_t *count,
		    char **error)
{
	const struct row_kind kind = {.size = sizeof(**rows),
				      .read = read_guid_row,
				      .wanted = wanted,
				      .least = least,
				      .most = most};

	return guid_file_read_rows(name, text, length, &kind, rows, count, error);
}

static bool read_any(struct cursor *line, bool *any, uint64_t *number)
{
	cursor_skip_blanks(line);
	*any = cursor_accept(line, '*');
	return *any || (cursor_number(line, 16, number) && *number != 0);
}

static bool read_prefix_row(struct cursor *line, const struct row_kind *kind, void *out)
{
	struct prefix_row *row = out;

	(void)kind;
	*row = (struct prefix_row){0};
	return read_any(line, &row->any_prefix, &row->prefix) &&
	       read_any(line, &row->any_router, &row->router);
}

int prefix_rows_parse(const char *name, const char *text, size_t length, struct prefix_row **rows,
		      uint32_t *count, char **error)
{
	static const struct row_kind kind = {
		.size = sizeof(**rows),
		.read = read_prefix_row,
		.wanted = "a prefix and the GUID of a router's port, or *"};

	return guid_file_read_rows(name, text, length, &kind, rows, count, error);
}

/* Without quotes it ends before a # or the end of the line. */
static bool read_name(struct cursor *line, struct piece *name)
{
	cursor_skip_blanks(line);
	if (!cursor_quoted(line, name)) {
		const char *start = line->at;

		while (!cursor_at_end(line) && *line->at != '#' && *line->at != '"')
			line->at++;
		*name = (struct piece){start, (int)(line->at - start)};
		while (name->length && strchr(" \t", name->text[name->length - 1]))
			name->length--;
	}
	for (int i = 0; i < name->length; i++)
		if ((unsigned char)name->text[i] < ' ' || name->text[i] == 0x7F)
			return false;
	return name->length && name->length <= NODE_DESC_SIZE;
}

static bool read_name_row(struct cursor *line, const struct row_kind *kind, void *out)
{
	struct name_row *row = out;

	(void)kind;
	return guid_file_read_guid(line, &row->guid) && read_name(line, &row->name);
}

int name_rows_parse(const char *name, const char *text, size_t length, struct name_row **rows,
		    uint32_t *count, char **error)
{
	static const struct row_kind kind = {
		.size = sizeof(**rows),
		.read = read_name_row,
		.wanted = "a node's GUID and a name of 1 to 64 bytes in quotes"};

	return guid_file_read_rows(name, text, length, &kind, rows, count, error);
}

static bool read_key_row(struct cursor *line, const struct row_kind *kind, void *out)
{
	struct key_row *row = out;

	(void)kind;
	if (!guid_file_read_guid(line, &row->guid))
		return false;
	cursor_skip_blanks(line);
	return cursor_number(line, 16, &row->key);
}

int key_rows_parse(const char *name, const char *text, size_t length, struct key_row **rows,
		   uint32_t *count, char **error)
{
	static const struct row_kind kind = {
		.size = sizeof(**rows),
		.read = read_key_row,
		.wanted = "a port's GUID and its M_Key expected (0x and 16 digits, twice)",
		.secret = true};

	return guid_file_read_rows(name, text, length, &kind, rows, count, error);
}

/* Dumps */

struct dump {
	struct dump_table *tables;
	uint32_t count, room;
};

/* Moves the cursor behind the first occurrence of a word in the line. */
static bool skip_behind(struct cursor *line, const char *word)
{
	const char *found = memmem(line->at, (size_t)(line->end - line->at), word, strlen(word));

	if (found)
		line->at = found + strlen(word);
	return found;
}

/* The first line of a table. */
static bool read_switch(struct cursor line, guid_t *guid)
{
	struct cursor other = line;

	return (skip_behind(&line, "witch") && skip_behind(&line, " guid ") &&
		cursor_number(&line, 16, guid)) ||
	       (skip_behind(&other, "Switch ") && cursor_number(&other, 16, guid));
}

static void add_entry(struct dump_table *table, uint64_t lid, uint8_t port)
{
	if (lid >= table->lids) {
		uint32_t lids = ((uint32_t)lid | (LFT_BLOCK_LIDS - 1)) + 1;

		table->port = mem_resize(table->port, lids, 1);
		memset(table->port + table->lids, LFT_NO_PORT, lids - table->lids);
		table->lids = lids;
	}
	table->port[lid] = port;
}

/* A line of a table: LID, perhaps a colon, port or UNREACHABLE, and text that is ignored. Returns
 * the expected item; NULL: the line is valid. */
static const char *read_entry(struct cursor *line, struct dump_table *table)
{
	uint64_t lid, port;

	if (!cursor_number(line, 16, &lid) || lid == 0 || lid > LID_UNICAST_MAX)
		return "a unicast LID (0x0001 to 0xbfff)";
	cursor_skip_blanks(line);
	if (cursor_accept(line, ':'))
		cursor_skip_blanks(line);
	if (skip_behind(line, "UNREACHABLE"))
		return NULL;
	if (!cursor_number(line, 10, &port) || port > UINT8_MAX)
		return "a port (0 to 255)";
	if (!table)
		return "a line that names a switch first";
	add_entry(table, lid, (uint8_t)port);
	return NULL;
}

static struct dump_table *dump_add_table(struct dump *dump, guid_t guid)
{
	if (dump->count == dump->room)
		dump->tables =
			mem_resize(dump->tables, dump->room = dump->room ? 2 * dump->room : 16,
				   sizeof(*dump->tables));
	dump->tables[dump->count] = (struct dump_table){.sw = guid};
	return &dump->tables[dump->count++];
}

int dump_parse(const char *name, const char *text, size_t length, struct dump_table **tables,
	       uint32_t *count, char **error)
{
	struct lines lines = {name, text, text + length, 0};
	struct dump_table *table = NULL;
	struct dump dump = {0};
	struct cursor line;

	while (lines_next(&lines, &line)) {
		const char *wanted;
		guid_t guid;

		cursor_skip_blanks(&line);
		if (read_switch(line, &guid)) {
			table = dump_add_table(&dump, guid);
			continue;
		}
		if (cursor_at_end(&line) || *line.at != '0')
			continue; /* headings, totals */
		wanted = read_entry(&line, table);
		if (wanted) {
			dump_free(dump.tables, dump.count);
			return lines_refuse(&lines, &line, wanted, error);
		}
	}
	*tables = dump.tables;
	*count = dump.count;
	return 0;
}

void dump_free(struct dump_table *tables, uint32_t count)
{
	for (uint32_t t = 0; t < count; t++)
		free(tables[t].port);
	free(tables);
}
