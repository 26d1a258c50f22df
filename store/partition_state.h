/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether the partitions and the other vital records are complete (store/contents.h). This is a
 * record of the registry, which stays until an administrator decides. It is stored as a setting
 * whose text begins with the name of the state (store/partition_state.c). Callers use the enum.
 * Loop thread only.
 */
#ifndef STORE_PARTITION_STATE_H
#define STORE_PARTITION_STATE_H

#include <stdbool.h>

#include "store/registry.h"

enum partition_state {
	PARTITIONS_COMPLETE, /* there is no record */
	PARTITIONS_LOST,     /* records are damaged or missing */
	PARTITIONS_UNREAD,   /* the store could not be read: they may be complete when it can be */
};

/* The state that the registry holds; PARTITIONS_COMPLETE if it has no such record. */
enum partition_state partition_state(const struct registry *registry);
/* The state as text with its time and reason; borrowed until the registry changes. NULL:
 * complete. */
const char *partition_state_text(const struct registry *registry);
/* Puts the state into the registry. since and why are for the administrator; why is cut at 120
 * bytes. PARTITIONS_COMPLETE uses neither. */
void partition_state_put(struct registry *registry, enum partition_state state, const char *since,
			 const char *why);
/* Whether this record of this kind holds the state. */
bool is_partition_state(unsigned kind, const void *record);

#endif
