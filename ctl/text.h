/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads members of the daemon's JSON, and makes text of them. A member that is missing or has
 * another type reads as empty, 0 or "-", because weftd may have another version.
 */
#ifndef CTL_TEXT_H
#define CTL_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/control.h"

enum { TEXT_SPAN_SIZE = 32, CTL_ERROR_SIZE = 400 };

/* Members of an object; "-" when there is no such text. The texts live as long as the object. */
const char *text_member(const json_t *object, const char *name);
long long number_member(const json_t *object, const char *name);
bool flag_member(const json_t *object, const char *name);

/* A node's description, or its GUID when it has none. */
const char *text_name(const json_t *node);
/* "850 us", "12.3 ms", "1.23 s". */
const char *text_span(long long span_us, char buffer[TEXT_SPAN_SIZE]);

/* Writes a format in which {MEMBER} or {MEMBER:FORM} stands for a member of the object. MEMBER is a
 * path such as peer.port; without it the object itself is meant. Forms:
 *	(none)      text; "-" if the member is no text
 *	d, d|TEXT   a number; 0 or TEXT if the member is no number
 *	g           a number with a fraction
 *	x4          a number as 0x and at least 4 hexadecimal digits
 *	us, ms      a span of this unit, as text_span()
 *	rB/s        a rate with this unit, such as 12.3 GB/s; "-" if it is unknown
 *	time        a time in seconds since 1970; "-" if it is 0
 *	n           the name of a node
 *	#y|ies      the end of a word after a number: y if the number is 1, else ies
 *	?YES, ?YES|NO   YES if the member is true, else NO or nothing
 */
void text_put(FILE *out, const json_t *object, const char *format);
/* Writes this for each object of an array, with a text between them. */
void text_put_list(FILE *out, const json_t *array, const char *format, const char *between);
/* The same as texts, which the caller frees. */
char *text_filled(const json_t *object, const char *format);
char *text_filled_list(const json_t *array, const char *format, const char *between);
/* As open_memstream(), but never NULL. */
FILE *text_stream(char **text, size_t *size);
/* The member at a path of size bytes; NULL if there is none. */
const json_t *text_at(const json_t *object, const char *path, size_t size);

/* Replaces, in all strings below value, what is no printable character by '?': names in them were
 * chosen by remote nodes, and none may steer the terminal or forge a line. */
void text_make_printable(json_t *value);
/* The same for one text, in place. Invalid UTF-8 counts as not printable. */
void text_clean(char *text);
/* The number of characters of a clean text. */
unsigned text_width(const char *text);
/* The width of the terminal that out is: $COLUMNS, or what the terminal reports. UINT_MAX: out is
 * no terminal, its width is unknown, or text_set_wide() was called. */
unsigned text_terminal_width(FILE *out);
/* From now on no terminal has a width: nothing is shortened. */
void text_set_wide(void);

/* Writes a text and a line end, folded to the width of the terminal. The cursor is at column
 * indent, where further lines begin, too. */
void text_put_folded(FILE *out, const char *text, unsigned indent);

#endif
