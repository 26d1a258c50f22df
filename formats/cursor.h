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

/* Whether the piece is exactly this word. */
bool piece_is(struct piece piece, const char *word);

#endif
