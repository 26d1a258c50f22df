/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fits a table into the width of a terminal. First the columns that matter least are left out, then
 * names are shortened. Numbers, GUIDs and words are never shortened. Pure.
 */
#ifndef CTL_FIT_H
#define CTL_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum {
	FIT_NAME_LEAST = 10,  /* characters: shorter names of hosts would look the same */
	FIT_NAME_WANTED = 18, /* columns are left out rather than names made shorter than this */
};

struct fit_column {
	unsigned heading; /* characters of its heading, which count also if it is not printed */
	unsigned widest;  /* of its widest cell */
	bool is_name;	  /* its cells may be shortened */
	unsigned drop;	  /* 0: always shown; columns with lower numbers are left out first */
	unsigned width;	  /* result, in characters; 0: left out */
};

/* Sets the width of each column, with a blank between columns. A table that cannot fit has all
 * columns with drop 0, and names of FIT_NAME_LEAST characters. */
void fit_columns(struct fit_column *columns, size_t count, unsigned terminal);
/* A copy, for free(), of at most `width` characters (from 3 on): the beginning and the end of a
 * text that is longer, with "…" between them. */
char *fit_text(const char *text, unsigned width);

#endif
