/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One flat array of cells; a row is as many of them as there are columns. */
#include "ctl/table.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/text.h"
#include "lib/mem.h"

enum {
	TABLE_GAP = 2,	  /* blanks between columns */
	TABLE_INDENT = 4, /* of a line that goes on with the row before */
	NAME_LEAST = 10,  /* a name is not cut shorter; less would tell no two hosts apart */
};

struct table {
	const struct table_column *columns;
	size_t num_columns;
	char **cells;
	size_t num_cells, capacity;
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *table = mem_zalloc(sizeof(*table));

	table->columns = columns;
	table->num_columns = count;
	return table;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->num_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort(); /* out of memory */
	va_end(args);
	if (table->num_cells == table->capacity) {
		table->capacity = table->capacity ? 2 * table->capacity : 64;
		table->cells = mem_resize(table->cells, table->capacity, sizeof(*table->cells));
	}
	table->cells[table->num_cells++] = text;
}

static unsigned column_width(const struct table *table, size_t column)
{
	unsigned widest = text_width(table->columns[column].heading);

	for (size_t i = column; i < table->num_cells; i += table->num_columns) {
		unsigned width = text_width(table->cells[i]);

		widest = width > widest ? width : widest;
	}
	return widest;
}

unsigned table_room(FILE *out)
{
	const char *said = getenv("COLUMNS");
	long columns = said ? strtol(said, NULL, 10) : 0;
	struct winsize size;

	if (!isatty(fileno(out)))
		return UINT_MAX;
	if (columns > 0 && columns < UINT16_MAX)
		return (unsigned)columns;
	return ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col ? UINT_MAX : size.ws_col;
}

/* Where columns stand. */
struct layout {
	unsigned *width;
	bool *begins; /* a line */
};

/* The least that a column does with. */
static unsigned least_width(const struct table_column *column, unsigned width)
{
	return column->side == TABLE_NAME && width > NAME_LEAST ? NAME_LEAST : width;
}

/* Takes from the widest name among these columns, on one line, until they fit or none can be cut.
 */
static void cut_names(const struct table *table, unsigned *width, size_t first, size_t end,
		      unsigned room)
{
	for (;;) {
		size_t widest = end;
		unsigned sum = first ? TABLE_INDENT : 0;

		for (size_t i = first; i < end; i++) {
			sum += width[i] + (i > first ? TABLE_GAP : 0);
			if (least_width(&table->columns[i], width[i]) < width[i] &&
			    (widest == end || width[i] > width[widest]))
				widest = i;
		}
		if (sum <= room || widest == end)
			return;
		width[widest]--;
	}
}

/* A line takes as many columns as find room when names are as short as they can be. */
static struct layout lay_out(const struct table *table, unsigned room)
{
	struct layout layout = {
		.width = mem_array(table->num_columns, sizeof(*layout.width)),
		.begins = mem_array(table->num_columns + 1, sizeof(*layout.begins)),
	};
	size_t first = 0;
	unsigned sum = 0;

	for (size_t i = 0; i < table->num_columns; i++) {
		unsigned least;

		layout.width[i] = column_width(table, i);
		least = least_width(&table->columns[i], layout.width[i]);
		layout.begins[i] = !i || sum + TABLE_GAP + least > room;
		sum = layout.begins[i] ? (i ? TABLE_INDENT : 0) + least : sum + TABLE_GAP + least;
	}
	layout.begins[table->num_columns] = true;
	for (size_t i = 1; i <= table->num_columns; i++) {
		if (!layout.begins[i])
			continue;
		cut_names(table, layout.width, first, i, room);
		first = i;
	}
	return layout;
}

/* How many bytes of a clean text are its first characters. */
static int bytes_of(const char *text, unsigned characters)
{
	int bytes = 0;

	for (; text[bytes]; bytes++)
		if ((text[bytes] & 0xC0) != 0x80 && !characters--)
			break;
	return bytes;
}

static void print_cell(const struct table *table, const struct layout *layout, size_t column,
		       const char *text, FILE *out)
{
	unsigned width = layout->width[column], needed = text_width(text);
	bool cut = needed > width, last = layout->begins[column + 1];
	int blanks = cut ? 0 : (int)(width - needed);

	if (layout->begins[column] && column)
		fprintf(out, "\n%*s", TABLE_INDENT, "");
	if (table->columns[column].side == TABLE_RIGHT)
		fprintf(out, "%*s", blanks, "");
	fprintf(out, "%.*s%s", bytes_of(text, cut ? width - 1 : needed), text, cut ? "~" : "");
	if (!last)
		fprintf(out, "%*s",
			TABLE_GAP + (table->columns[column].side == TABLE_RIGHT ? 0 : blanks), "");
}

/* Whether the line that this column begins goes on with a row, and has nothing to say of it. */
static bool is_line_empty(const struct layout *layout, size_t column, char *const *cells)
{
	if (!column || !layout->begins[column])
		return false;
	do {
		if (*cells[column])
			return false;
	} while (!layout->begins[++column]);
	return true;
}

static void table_print_row(const struct table *table, const struct layout *layout,
			    char *const *cells, FILE *out)
{
	bool left_out = false;

	for (size_t column = 0; column < table->num_columns; column++) {
		if (layout->begins[column])
			left_out = is_line_empty(layout, column, cells);
		if (!left_out)
			print_cell(table, layout, column, cells[column], out);
	}
	fputc('\n', out);
}

void table_print(const struct table *table, FILE *out)
{
	struct layout layout;

	if (table->num_cells < table->num_columns) {
		fputs("none\n", out);
		return;
	}
	layout = lay_out(table, table_room(out));
	for (size_t column = 0; column < table->num_columns; column++)
		print_cell(table, &layout, column, table->columns[column].heading, out);
	fputc('\n', out);
	for (size_t row = 0; row < table->num_cells / table->num_columns; row++)
		table_print_row(table, &layout, table->cells + row * table->num_columns, out);
	free(layout.width);
	free(layout.begins);
}
