/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of JSON rows for people, printed by libsmartcols. A table is an array of columns, which
 * also gives the names for -o, the completion and the manual.
 *
 * In a file or a pipe, and with --wide, every column is there and every cell is whole. On a
 * terminal, columns that matter less are left out and names are shortened (ctl/fit.h) until the row
 * fits. A row that is still wider continues on the next line of the terminal. No column that the
 * user chose is left out.
 */
#ifndef CTL_COLUMNS_H
#define CTL_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/text.h"
#include "lib/control.h"

enum { COLUMNS_MAX = 16 };

enum column_kind {
	COLUMN_TEXT,   /* "-" if the row has no such string */
	COLUMN_NAME,   /* the same, may be cut on a terminal */
	COLUMN_NODE,   /* the name of the node that the member describes, may be cut */
	COLUMN_NUMBER, /* to the right; "-" if the row has no such number */
	COLUMN_P_KEY,  /* a number as 0x and four digits */
	COLUMN_FLAG,   /* yes or no */
};

struct column {
	const char *name;   /* in upper case, without blanks; NULL ends an array of columns */
	const char *member; /* of the row; "peer.port": of an object in it; NULL: the row itself */
	enum column_kind kind;
	const char *format; /* of the cell's text (ctl/text.h); NULL: as the kind says */
	/* Returns the text of the cell, which is freed; NULL: as above. */
	char *(*text)(const json_t *row);
	unsigned drop; /* 0: always shown; lower numbers are left out first on a narrow terminal */
};

/* Elements of an array of columns: from a member, from a format, from a function. After the kind
 * other members may follow, such as `.drop = 1`. */
#define COLUMN(column_name, of_member, ...)                                   \
	{                                                                     \
		.name = column_name, .member = of_member, .kind = __VA_ARGS__ \
	}
#define COLUMN_FORMAT(column_name, of_format, ...)                            \
	{                                                                     \
		.name = column_name, .format = of_format, .kind = __VA_ARGS__ \
	}
#define COLUMN_FROM(column_name, function, ...)                            \
	{                                                                  \
		.name = column_name, .text = function, .kind = __VA_ARGS__ \
	}

/* Which columns of a table are printed. All zero: every column, with headings. */
struct column_choice {
	const struct column *columns[COLUMNS_MAX]; /* in their order; NULL after the last */
	bool no_headings;
};

/* Reads the value of -o, "NAME[,NAME...]" in upper or lower case. Returns 0, or -EINVAL with one
 * line in error that names the columns of the table. */
int columns_choose(const struct column *columns, const char *names, struct column_choice *choice,
		   char error[CTL_ERROR_SIZE]);
/* Writes the names of all columns with this separator between them. */
void columns_list(const struct column *columns, const char *separator, FILE *out);
/* Prints an array of rows whose strings are clean (ctl/text.h); an empty one as "none", or as
 * nothing without headings. choice may be NULL: all columns. */
void columns_print(const struct column *columns, const struct column_choice *choice,
		   const json_t *rows, FILE *out);

#endif
