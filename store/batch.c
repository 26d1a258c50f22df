/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Batches of changes for the store: batch.h. */
#include "store/batch.h"

#include <stdlib.h>

#include "lib/mem.h"

enum { CHANGES_MIN = 64 };

void batch_add(struct batch *batch, enum registry_kind kind, const void *record, bool drop)
{
	if (batch->count == batch->capacity) {
		batch->capacity = batch->capacity ? 2 * batch->capacity : CHANGES_MIN;
		batch->changes =
			mem_resize(batch->changes, batch->capacity, sizeof(*batch->changes));
	}
	batch->changes[batch->count++] = (struct change){registry_ref(record), kind, drop};
}

unsigned batch_shrink(struct batch *batch)
{
	if (batch->count) {
		registry_unref(batch->changes[--batch->count].record);
		return 1;
	}
	free(batch->changes);
	*batch = (struct batch){0};
	return 0;
}

void batch_clear(struct batch *batch)
{
	while (batch_shrink(batch))
		;
}

void batch_append(struct batch *batch, struct batch *more)
{
	for (size_t i = 0; i < more->count; i++)
		batch_add(batch, more->changes[i].kind, more->changes[i].record,
			  more->changes[i].drop);
	batch_clear(more);
}
