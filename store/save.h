/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The registry as a JSON document, and back: the control socket's side of `weftctl save` and
 * `weftctl restore` (weftctl(8) has the format). A record is an object with its kind and the fields
 * of its format; numbers of 64 bits and bytes are hexadecimal text, names are text.
 *
 * A document comes in pieces, each checked whole and put aside; only when all are there does any of
 * them take effect. One at a time. It may hold keys of services: none of it goes to the log. Loop
 * thread only.
 */
#ifndef STORE_SAVE_H
#define STORE_SAVE_H

#include "lib/control.h"
#include "lib/loop.h"
#include "store/registry.h"

enum { SAVE_VERSION = 1, SAVE_WHY_SIZE = 256 };

struct save;

struct save_owner {
	/* NULL when a document may be restored, else the role that forbids it. */
	const char *(*forbidden)(void *ctx);
	void (*restored)(void *ctx); /* a document has taken effect */
	void *ctx;
};

/* The registry outlives it; owner is copied. */
struct save *save_new(struct loop *loop, struct registry *registry, const struct save_owner *owner);
/* What has begun to take effect does so whole, before the store is flushed. */
void save_stop(struct save *save);
void save_free(struct save *save); /* who waits is told that the daemon ends */
void save_register_commands(struct save *save, struct control *control);

/* A record as an object: a new reference. */
json_t *save_record(enum registry_kind kind, const void *record);
/* The other way: fills *kind and record, which has room for any. 0, or -EINVAL and what is wrong.
 */
int save_parse(const json_t *object, enum registry_kind *kind, void *record,
	       char why[SAVE_WHY_SIZE]);
enum { SAVE_RECORD_MAX = 512 }; /* bytes of the largest struct of a kind */

#endif
