/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables of libsmartcols; no other file uses this library. */
#include "ctl/columns.h"

#include <errno.h>
#include <libsmartcols.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ctl/fit.h"
#include "ctl/text.h"
#include "lib/mem.h"

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

/* A table whose cells are texts, before it is laid out. */
struct cells {
	const struct column *columns[COLUMNS_MAX];
	struct fit_column fit[COLUMNS_MAX];
	size_t count, rows; /* columns and rows */
	char **text;	    /* of all cells, row after row */
};

static void cells_fill(struct cells *cells, const struct column *const *columns, const json_t *rows)
{
	const json_t *row;
	char **text;
	size_t i;

	for (; columns[cells->count]; cells->count++) {
		const struct column *column = columns[cells->count];

		cells->columns[cells->count] = column;
		cells->fit[cells->count] =
			(struct fit_column){.heading = (unsigned)strlen(column->name),
					    .is_name = may_be_cut(column),
					    .drop = column->drop,
					    .width = 1};
	}
	cells->rows = json_array_size(rows);
	text = cells->text = mem_array(cells->rows * cells->count + 1, sizeof(*text));
	json_array_foreach (rows, i, row) {
		for (size_t n = 0; n < cells->count; n++, text++) {
			unsigned width;

			*text = cell_text(columns[n], row);
			width = text_width(*text);
			if (width > cells->fit[n].widest)
				cells->fit[n].widest = width;
		}
	}
}

/* Shortens the names; returns how many columns are left out. */
static unsigned cells_fit(struct cells *cells, unsigned terminal)
{
	unsigned without = 0;

	fit_columns(cells->fit, cells->count, terminal);
	for (size_t n = 0; n < cells->count; n++) {
		without += !cells->fit[n].width;
		for (size_t i = 0; cells->fit[n].width && cells->fit[n].is_name && i < cells->rows;
		     i++) {
			char **text = &cells->text[i * cells->count + n], *whole = *text;

			*text = fit_text(whole, cells->fit[n].width);
			free(whole);
		}
	}
	return without;
}

/* Moves the cells into a table of the library, except for those that are left out. */
static void fill_table(struct libscols_table *table, struct cells *cells)
{
	char **text = cells->text;

	for (size_t n = 0; n < cells->count; n++)
		if (cells->fit[n].width)
			scols_table_new_column(
				table, cells->columns[n]->name, 0,
				cells->columns[n]->kind == COLUMN_NUMBER ? SCOLS_FL_RIGHT : 0);
	for (size_t i = 0; i < cells->rows; i++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		size_t place = 0;

		for (size_t n = 0; n < cells->count; n++, text++) {
			if (!cells->fit[n].width)
				free(*text);
			else if (scols_line_refer_data(line, place++, *text))
				abort(); /* out of memory */
		}
	}
}

static void print_table(struct libscols_table *table, const struct column_choice *choice,
			bool is_chosen, const json_t *rows, FILE *out)
{
	unsigned terminal = text_terminal_width(out), without = 0;
	struct cells cells = {0};

	if (!json_array_size(rows)) {
		fputs(choice->no_headings ? "" : "none\n", out);
		return;
	}
	scols_table_set_stream(table, out);
	scols_table_enable_noheadings(table, choice->no_headings);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	cells_fill(&cells, choice->columns, rows);
	for (size_t n = 0; is_chosen && n < cells.count; n++)
		cells.fit[n].drop = 0;
	if (terminal != UINT_MAX)
		without = cells_fit(&cells, terminal);
	fill_table(table, &cells);
	free(cells.text);
	scols_print_table(table);
	if (without)
		fprintf(out, "(%u more column%s with --wide)\n", without, without == 1 ? "" : "s");
}

void columns_print(const struct column *columns, const struct column_choice *choice,
		   const json_t *rows, FILE *out)
{
	struct libscols_table *table = scols_new_table();
	struct column_choice all = {.no_headings = choice && choice->no_headings};
	bool is_chosen;

	if (!table)
		abort(); /* out of memory */
	for (size_t n = 0; columns[n].name && n + 1 < COLUMNS_MAX; n++)
		all.columns[n] = &columns[n];
	is_chosen = choice && choice->columns[0];
	print_table(table, is_chosen ? choice : &all, is_chosen, rows, out);
	scols_unref_table(table);
}
