/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A table for people: cells are gathered, then printed in columns as wide as what stands in them.
 * Numbers are given to the right, the last column is not padded, nothing is coloured.
 */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table_column {
	const char *heading;
	enum { TABLE_LEFT, TABLE_RIGHT } side;
};

struct table;

/* columns: an array that outlives the table. */
struct table *table_new(const struct table_column *columns, size_t count);
void table_free(struct table *table);
/* The next cell, row by row from left to right; the text must be clean (ctl/text.h). */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The heading and the rows that are full; "none" when there are none. */
void table_print(const struct table *table, FILE *out);

#endif
