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

enum { TEXT_SPAN_SIZE = 32, CTL_ERROR_SIZE = 256 };

/* Members of an object; "-" when there is no such text. The texts live as long as the object. */
const char *text_member(const json_t *object, const char *name);
long long number_member(const json_t *object, const char *name);
bool flag_member(const json_t *object, const char *name);

/* A node's description, or its GUID when it has none. */
const char *text_name(const json_t *node);
/* "850 us", "12.3 ms", "1.23 s". */
const char *text_span(long long span_us, char buffer[TEXT_SPAN_SIZE]);
/* "1 switch", "3 switches": "" or what makes it many. */
const char *text_plural(long long number, const char *ending);

/* Replaces, in all strings below value, what is no printable character by '?': names in them were
 * chosen by remote nodes, and none may steer the terminal or forge a line. */
void text_make_printable(json_t *value);
/* The same for one text, in place. Invalid UTF-8 counts as not printable. */
void text_clean(char *text);
/* The number of characters of a clean text. */
unsigned text_width(const char *text);
/* The width of the terminal that out is: $COLUMNS, or what the terminal reports. UINT_MAX: out is
 * no terminal, or its width is unknown. */
unsigned text_terminal_width(FILE *out);

#endif
