/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A cursor over one line of a file: what the parsers of this room read with. It knows its end, so
 * the text needs no NUL and nothing is read beyond it. Each function that takes something moves the
 * cursor behind it when it is there, and otherwise leaves it where it was.
 */
#ifndef FORMATS_CURSOR_H
#define FORMATS_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of the line. */
struct cursor {
	const char *at, *end;
};

/* A piece of the text, not copied; for printf's "%.*s". */
struct piece {
	const char *text;
	int length;
};

bool cursor_at_end(const struct cursor *c);
void cursor_skip_blanks(struct cursor *c); /* spaces and tabs */
bool cursor_accept(struct cursor *c, char wanted);
/* Digits in this base (10 or 16), or hexadecimal ones after 0x. False beyond 64 bits, too. */
bool cursor_number(struct cursor *c, unsigned base, uint64_t *value);
bool cursor_quoted(struct cursor *c, struct piece *piece); /* "..."; the piece has no quotes */
struct piece cursor_word(struct cursor *c);		   /* up to a blank; length 0 at the end */
struct piece cursor_rest(const struct cursor *c);	   /* for a message, so at most 60 bytes */

bool piece_is(struct piece piece, const char *word);

#endif
