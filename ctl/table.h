/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A table for people: cells are gathered, then printed in columns as wide as what stands in them.
 * Numbers are given to the right, the last column is not padded, nothing is coloured.
 *
 * On a terminal no line is wider than that: columns for which there is no room follow on a line of
 * their own, a little to the right, and names are cut short, the widest first, with a ~ at the end.
 * What could be typed again, numbers, GUIDs and LIDs, is always whole, and so is all in a file or
 * a pipe.
 */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table_column {
	const char *heading;
	enum { TABLE_LEFT, TABLE_RIGHT, TABLE_NAME /* left; may be cut short */ } side;
};

struct table;

/* columns: an array that outlives the table. */
struct table *table_new(const struct table_column *columns, size_t count);
void table_free(struct table *table);
/* The next cell, row by row from left to right; the text must be clean (ctl/text.h). */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The heading and the rows that are full; "none" when there are none. As wide as the terminal that
 * out is, of which $COLUMNS may say how wide it is, or as wide as need be. */
void table_print(const struct table *table, FILE *out);
/* How wide the terminal is that this is; UINT_MAX: it is none, or nobody knows. */
unsigned table_room(FILE *out);

#endif
