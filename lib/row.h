/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * JSON as text, written where it is sent from: rows of lists, of which there may be a hundred
 * thousand. A tree of objects for each costs ten times as much. Members come in the order of the
 * calls, without blanks. Each function puts one value behind what is there: a member of the object
 * that is open, or with name NULL an element of the array. Names are literals without anything to
 * escape. Pure.
 */
#ifndef LIB_ROW_H
#define LIB_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"
#include "lib/buffer.h"

struct json_t;

void row_begin(struct buffer *out, const char *name, char bracket); /* '{' or '[' */
void row_end(struct buffer *out, char bracket);			    /* '}' or ']' */
/* NULL is null. What is no UTF-8 has '?' for each byte that is not ASCII. */
void row_string(struct buffer *out, const char *name, const char *value);
void row_integer(struct buffer *out, const char *name, int64_t value);
void row_boolean(struct buffer *out, const char *name, bool value);
void row_guid(struct buffer *out, const char *name, guid_t guid); /* as guid_text() */
/* Takes the reference; NULL is null. */
void row_json(struct buffer *out, const char *name, struct json_t *value);
/* A value that such calls have written elsewhere, as it is. */
void row_copy(struct buffer *out, const char *name, const struct buffer *value);

#endif
