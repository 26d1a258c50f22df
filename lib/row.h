/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * JSON as text, appended to the output buffer: rows of lists, up to a hundred thousand. A tree of
 * objects for each row would cost ten times as much. Members have the order of the calls, without
 * blanks. Each function appends one value: a member of the open object, or with name NULL an
 * element of the open array. Names are literals that need no escapes. Pure.
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
/* NULL is null. In a string that is not UTF-8, each byte that is not ASCII becomes '?'. */
void row_string(struct buffer *out, const char *name, const char *value);
/* As a JSON number; weftctl reads all 64 bits. */
void row_integer(struct buffer *out, const char *name, int64_t value);
/* As true or false. */
void row_boolean(struct buffer *out, const char *name, bool value);
void row_guid(struct buffer *out, const char *name, guid_t guid); /* as guid_text() */
/* Takes the reference; NULL is null. */
void row_json(struct buffer *out, const char *name, struct json_t *value);
/* Appends a value that these functions wrote into another buffer. */
void row_copy(struct buffer *out, const char *name, const struct buffer *value);

#endif
