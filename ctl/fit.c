/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Widths of columns, and names that are shortened in the middle: fit.h. */
#include "ctl/fit.h"

#include <limits.h>
#include <string.h>

#include "ctl/text.h"
#include "lib/mem.h"

static const char ellipsis[] = "…";

static unsigned lower(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The width of a column whose names have at most `name` characters. */
static unsigned width_of(const struct fit_column *column, unsigned name)
{
	unsigned cells = column->is_name ? lower(column->widest, name) : column->widest;

	return column->heading > cells ? column->heading : cells;
}

/* Of all columns that are shown, with a blank between them. */
static unsigned table_width(const struct fit_column *columns, size_t count, unsigned name)
{
	unsigned width = 0;

	for (size_t i = 0; i < count; i++)
		if (columns[i].width)
			width += width_of(&columns[i], name) + 1;
	return width ? width - 1 : 0;
}

/* The column to leave out next; NULL: none. */
static struct fit_column *least_important(struct fit_column *columns, size_t count)
{
	struct fit_column *least = NULL;

	for (size_t i = 0; i < count; i++)
		if (columns[i].width && columns[i].drop &&
		    (!least || columns[i].drop < least->drop))
			least = &columns[i];
	return least;
}

void fit_columns(struct fit_column *columns, size_t count, unsigned terminal)
{
	struct fit_column *least;
	unsigned name = UINT_MAX;

	for (size_t i = 0; i < count; i++)
		columns[i].width = 1;
	while (table_width(columns, count, FIT_NAME_WANTED) > terminal &&
	       (least = least_important(columns, count)))
		least->width = 0;
	if (table_width(columns, count, name) > terminal)
		for (name = FIT_NAME_LEAST; table_width(columns, count, name + 1) <= terminal;)
			name++;
	for (size_t i = 0; i < count; i++)
		if (columns[i].width)
			columns[i].width = width_of(&columns[i], name);
}

/* The text after this number of characters. */
static const char *skip_characters(const char *text, unsigned count)
{
	for (; *text; text++)
		if ((*text & 0xC0) != 0x80 && !count--)
			break;
	return text;
}

char *fit_text(const char *text, unsigned width)
{
	unsigned whole = text_width(text), first = width / 2, last = width - first - 1;

	if (whole <= width)
		return mem_strdup(text);
	return mem_printf("%.*s%s%s", (int)(skip_characters(text, first) - text), text, ellipsis,
			  skip_characters(text, whole - last));
}
