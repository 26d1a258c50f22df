/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The registry as a JSON document, and back: the commands behind `weftctl save` and `weftctl
 * restore`. weftctl(8) has the format: each record is an object with its kind and its fields.
 * 64-bit numbers and bytes are hexadecimal text, names are text.
 *
 * A document arrives in pieces, and each piece is checked and stored. A document takes effect when
 * all pieces are present. There is one document at a time. It may contain keys of services, so no
 * part of it is logged. Loop thread only.
 */
#ifndef STORE_SAVE_H
#define STORE_SAVE_H

#include "lib/control.h"
#include "lib/loop.h"
#include "store/registry.h"

enum { SAVE_VERSION = 1, SAVE_WHY_SIZE = 256 };

struct save;

/* The danger of a document, for free(); NULL: none. arg: of judge(). */
typedef void save_judged_fn(void *arg, char *danger);

struct save_owner {
	/* NULL if a document may be restored, else the role that forbids it. */
	const char *(*forbidden)(void *ctx);
	/* Finds out whether ports would be cut off by the records of a document, which does not
	 * change until then. judged(arg, danger) follows in a later turn, once. */
	void (*judge)(void *ctx, struct registry *document, save_judged_fn *judged, void *arg);
	/* A document takes effect now. The callee may add records that the restored state needs. */
	void (*complete)(void *ctx, struct registry *document);
	void (*judge_cancel)(void *ctx); /* judged() is not called any more; harmless otherwise */
	void (*restored)(void *ctx);	 /* a document has taken effect */
	void *ctx;
};

/* The registry outlives it; owner is copied. */
struct save *save_new(struct loop *loop, struct registry *registry, const struct save_owner *owner);
/* Completes a document that has begun to take effect. Call it before the store is flushed. */
void save_stop(struct save *save);
void save_free(struct save *save); /* waiting clients get an error: the daemon ends */
void save_register_commands(struct save *save, struct control *control);

/* The record as a JSON object; a new reference. */
json_t *save_record(enum registry_kind kind, const void *record);
/* Fills *kind and *record, which has SAVE_RECORD_MAX bytes, from an object. Returns 0, or -EINVAL
 * with the reason in why. */
int save_parse(const json_t *object, enum registry_kind *kind, void *record,
	       char why[SAVE_WHY_SIZE]);
enum { SAVE_RECORD_MAX = 512 }; /* bytes of the largest struct of a kind */

#endif
