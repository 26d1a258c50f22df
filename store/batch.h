/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A batch: changes of the registry that the store writes in one transaction. It holds references to
 * records, which never change. Used by store.c alone; the loop thread changes a batch, the worker
 * reads the batch of its job.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/registry.h"

struct change {
	const void *record; /* a reference */
	uint8_t kind;
	bool drop;
};

/* All zero: empty. */
struct batch {
	struct change *changes;
	size_t count, capacity;
	uint64_t number; /* of the registry's last change in it */
	bool whole;	 /* it has all records */
};

/* Adds a change, and takes a reference to the record. */
void batch_add(struct batch *batch, enum registry_kind kind, const void *record, bool drop);
/* Drops the last change; 0: the batch is empty, and its memory is free. For work in slices. */
unsigned batch_shrink(struct batch *batch);
/* Drops all changes, and frees the memory. */
void batch_clear(struct batch *batch);
/* Moves the changes of more to the end of batch; more is empty then. */
void batch_append(struct batch *batch, struct batch *more);

#endif
