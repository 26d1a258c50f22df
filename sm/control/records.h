/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lists of the registry's records on the control socket: a walk that goes on as the client reads,
 * some rows in each part. Loop thread only.
 */
#ifndef SM_CONTROL_RECORDS_H
#define SM_CONTROL_RECORDS_H

#include "lib/control.h"
#include "sm/sm.h"
#include "store/registry.h"

/* Writes the row of a record, an object; false: the list has none of it. */
typedef bool records_row(const void *ctx, const void *record, struct buffer *out);

/* Ends the request with all records of a kind, in parts with an array rows. free_ctx: NULL, or
 * called with ctx at the end. */
void records_stream(const struct sm *sm, struct control_request *request, enum registry_kind kind,
		    const char *rows, records_row *row, void *ctx, void (*free_ctx)(void *ctx));

/* Writes the part that a list begins with where it may be old (sm_standing()), the first time that
 * it is called for; false: there is none. */
bool records_note(const struct sm *sm, bool *noted, struct buffer *part);

#endif
