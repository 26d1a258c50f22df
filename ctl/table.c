/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One flat array of cells; a row is as many of them as there are columns. */
#include "ctl/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/text.h"
#include "lib/mem.h"

enum { TABLE_GAP = 2 }; /* blanks between columns */

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

static void print_cell(const struct table *table, size_t column, const char *text, unsigned width,
		       FILE *out)
{
	int blanks = (int)(width - text_width(text));

	if (table->columns[column].side == TABLE_RIGHT)
		fprintf(out, "%*s%s", blanks, "", text);
	else if (column + 1 < table->num_columns)
		fprintf(out, "%s%*s", text, blanks, "");
	else
		fputs(text, out);
	fprintf(out, "%*s", column + 1 < table->num_columns ? TABLE_GAP : 0, "");
}

void table_print(const struct table *table, FILE *out)
{
	unsigned *width;

	if (table->num_cells < table->num_columns) {
		fputs("none\n", out);
		return;
	}
	width = mem_array(table->num_columns, sizeof(*width));
	for (size_t column = 0; column < table->num_columns; column++) {
		width[column] = column_width(table, column);
		print_cell(table, column, table->columns[column].heading, width[column], out);
	}
	fputc('\n', out);
	for (size_t row = 0; row < table->num_cells / table->num_columns; row++) {
		for (size_t column = 0; column < table->num_columns; column++)
			print_cell(table, column, table->cells[row * table->num_columns + column],
				   width[column], out);
		fputc('\n', out);
	}
	free(width);
}
