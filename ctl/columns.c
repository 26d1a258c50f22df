/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables of libsmartcols; no other file uses this library. */
#include "ctl/columns.h"

#include <errno.h>
#include <libsmartcols.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ctl/text.h"
#include "lib/mem.h"

enum { NAME_LEAST = 10 }; /* characters: shorter names of hosts would look the same */

static const struct column *find_column(const struct column *columns, const char *name,
					size_t length)
{
	for (; columns->name; columns++)
		if (strlen(columns->name) == length && !strncasecmp(columns->name, name, length))
			return columns;
	return NULL;
}

void columns_list(const struct column *columns, const char *separator, FILE *out)
{
	for (const struct column *column = columns; column->name; column++)
		fprintf(out, "%s%s", column == columns ? "" : separator, column->name);
}

static int refuse_column(const struct column *columns, const char *name, size_t length,
			 char error[CTL_ERROR_SIZE])
{
	char known[CTL_ERROR_SIZE / 2] = "";
	FILE *out = fmemopen(known, sizeof(known), "w");

	if (!out)
		abort(); /* out of memory */
	columns_list(columns, ", ", out);
	fclose(out);
	snprintf(error, CTL_ERROR_SIZE, "no column \"%.*s\"; the columns are %s",
		 (int)(length < 40 ? length : 40), name, known);
	return -EINVAL;
}

int columns_choose(const struct column *columns, const char *names, struct column_choice *choice,
		   char error[CTL_ERROR_SIZE])
{
	size_t count = 0;

	for (;; names++) {
		size_t length = strcspn(names, ",");
		const struct column *column = find_column(columns, names, length);

		if (!column)
			return refuse_column(columns, names, length, error);
		if (count + 1 == COLUMNS_MAX) {
			snprintf(error, CTL_ERROR_SIZE, "more than %d columns", COLUMNS_MAX - 1);
			return -EINVAL;
		}
		choice->columns[count++] = column;
		names += length;
		if (!*names)
			return 0;
	}
}

static char *number_text(const json_t *value)
{
	if (json_is_integer(value))
		return mem_printf("%lld", (long long)json_integer_value(value));
	if (json_is_real(value))
		return mem_printf("%.3f", json_real_value(value));
	return mem_strdup(json_is_string(value) ? json_string_value(value) : "-");
}

static char *cell_text(const struct column *column, const json_t *row)
{
	const char *member = column->member ? column->member : "";
	const json_t *value = text_at(row, member, strlen(member));

	if (column->text)
		return column->text(row);
	if (column->format)
		return text_filled(row, column->format);
	switch (column->kind) {
	case COLUMN_NODE:
		return mem_strdup(text_name(value));
	case COLUMN_NUMBER:
		return number_text(value);
	case COLUMN_P_KEY:
		return mem_printf("0x%04llx", (long long)json_integer_value(value));
	case COLUMN_FLAG:
		return mem_strdup(json_is_true(value) ? "yes" : "no");
	default:
		return mem_strdup(json_is_string(value) ? json_string_value(value) : "-");
	}
}

static bool may_be_cut(const struct column *column)
{
	return column->kind == COLUMN_NAME || column->kind == COLUMN_NODE;
}

/* libsmartcols does not cut a column below the width of its heading, so the headings of names are
 * padded. */
static void pad_heading(struct libscols_column *made, const struct column *column, unsigned widest)
{
	char *heading =
		mem_printf("%-*s", (int)(widest < NAME_LEAST ? widest : NAME_LEAST), column->name);

	scols_cell_refer_data(scols_column_get_header(made), heading);
}

/* Adds a line for each row; returns how many there are. */
static size_t add_rows(struct libscols_table *table, const struct column *const *columns,
		       const json_t *rows, unsigned widest[COLUMNS_MAX])
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		for (size_t n = 0; columns[n]; n++) {
			char *text = cell_text(columns[n], row);
			unsigned width = may_be_cut(columns[n]) ? text_width(text) : 0;

			widest[n] = width > widest[n] ? width : widest[n];
			if (scols_line_refer_data(line, n, text))
				abort(); /* out of memory */
		}
	}
	return json_array_size(rows);
}

static void print_table(struct libscols_table *table, const struct column_choice *choice,
			const json_t *rows, FILE *out)
{
	unsigned terminal = text_terminal_width(out), widest[COLUMNS_MAX] = {0};

	scols_table_set_stream(table, out);
	scols_table_enable_noheadings(table, choice->no_headings);
	scols_table_set_termforce(table, terminal == UINT_MAX ? SCOLS_TERMFORCE_NEVER
							      : SCOLS_TERMFORCE_ALWAYS);
	if (terminal != UINT_MAX)
		scols_table_set_termwidth(table, terminal);
	for (size_t n = 0; choice->columns[n]; n++) {
		const struct column *column = choice->columns[n];

		scols_table_new_column(
			table, column->name, 0,
			(may_be_cut(column) ? SCOLS_FL_TRUNC : 0) |
				(column->kind == COLUMN_NUMBER ? SCOLS_FL_RIGHT : 0));
	}
	if (!add_rows(table, choice->columns, rows, widest)) {
		fputs(choice->no_headings ? "" : "none\n", out);
		return;
	}
	for (size_t n = 0; choice->columns[n] && terminal != UINT_MAX; n++)
		if (may_be_cut(choice->columns[n]))
			pad_heading(scols_table_get_column(table, n), choice->columns[n],
				    widest[n]);
	scols_print_table(table);
}

void columns_print(const struct column *columns, const struct column_choice *choice,
		   const json_t *rows, FILE *out)
{
	struct libscols_table *table = scols_new_table();
	struct column_choice all = {.no_headings = choice && choice->no_headings};

	if (!table)
		abort(); /* out of memory */
	for (size_t n = 0; columns[n].name && n + 1 < COLUMNS_MAX; n++)
		all.columns[n] = &columns[n];
	print_table(table, choice && choice->columns[0] ? choice : &all, rows, out);
	scols_unref_table(table);
}
