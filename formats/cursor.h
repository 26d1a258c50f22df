/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A cursor over a line of a file, for the parsers of this folder. It knows its end, so the text
 * needs no NUL and nothing is read beyond it. A function that takes an item moves the cursor behind
 * it if the item is there, and otherwise leaves the cursor where it was.
 */
#ifndef FORMATS_CURSOR_H
#define FORMATS_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* The unread part of the line. */
struct cursor {
	const char *at, *end;
};

/* A part of the text, not copied; for printf's "%.*s". */
struct piece {
	const char *text;
	int length;
};

/* Whether nothing is left, not even a blank. */
bool cursor_at_end(const struct cursor *c);
void cursor_skip_blanks(struct cursor *c); /* spaces and tabs */
bool cursor_accept(struct cursor *c, char wanted);
/* Digits in this base (10 or 16), or hexadecimal digits after 0x. False also beyond 64 bits. */
bool cursor_number(struct cursor *c, unsigned base, uint64_t *value);
bool cursor_quoted(struct cursor *c, struct piece *piece); /* "..."; the piece has no quotes */
struct piece cursor_word(struct cursor *c);		   /* up to a blank; length 0 at the end */
struct piece cursor_rest(const struct cursor *c);	   /* for a message, so at most 60 bytes */

/* Walks the lines of a text; all members but number are set by the caller. */
struct lines {
	const char *name; /* of the file, for errors */
	const char *next, *end;
	unsigned number; /* of the last line */
};

/* The next line, without a carriage return at its end. False: there is none. */
bool lines_next(struct lines *lines, struct cursor *line);
/* Writes "name:line: WANTED expected, not "..."" with the text at the cursor into *error, for
 * free(). Returns -EINVAL. */
int lines_refuse(const struct lines *lines, const struct cursor *line, const char *wanted,
		 char **error);

/* Whether the piece is exactly this word. */
bool piece_is(struct piece piece, const char *word);

#endif
