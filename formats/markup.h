/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Texts of the tables of options and commands in the forms of pages. A text is plain English, with
 * code between backquotes. Pure.
 */
#ifndef FORMATS_MARKUP_H
#define FORMATS_MARKUP_H

#include <stdio.h>

/* How a form writes a text. */
struct markup {
	const char *line_start;
	const char *new_line; /* to begin a line that is not filled into the one before */
	const char *code[2];  /* for the first and the second backquote of a pair */
	struct {
		char plain;
		const char *written;
	} escapes[6]; /* ended by plain 0 */
};

extern const struct markup markup_man;	    /* a manual page */
extern const struct markup markup_markdown; /* a table in Markdown */

/* Writes size bytes of the text on one line, without an end of line. */
void markup_put(const struct markup *markup, const char *text, size_t size, FILE *out);
/* Writes the whole text on one line, without an end of line. */
void markup_put_all(const struct markup *markup, const char *text, FILE *out);
/* Writes the text as lines of at most width bytes, as far as its words allow. */
void markup_put_lines(const struct markup *markup, const char *text, size_t width, FILE *out);

#endif
