/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether partitions, and what belongs to them, are complete: a record of the registry, which stays
 * until an administrator decides. It is kept as a setting whose text begins with the state's name
 * (store/partition_state.c); all others use the enum. Loop thread only.
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

enum partition_state partition_state(const struct registry *registry);
/* The state in words, with the time and the reason that were given; the registry's own, until it is
 * changed. NULL: complete. */
const char *partition_state_text(const struct registry *registry);
/* since and why: for people; why is cut at 120 bytes. Of PARTITIONS_COMPLETE neither is used. It is
 * durable when the registry says so. */
void partition_state_put(struct registry *registry, enum partition_state state, const char *since,
			 const char *why);
/* Whether this record is that of the state. */
bool is_partition_state(unsigned kind, const void *record);

#endif
