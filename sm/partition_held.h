/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The P_Keys that ports held when it was noticed that partitions are not known (policy_is_frozen()
 * of sm/partitions.h). A port that was up then keeps them, also when its link goes down and comes
 * back, or its host is rebooted. A port that was not up then has no entry here. Loop thread only.
 */
#ifndef SM_PARTITION_HELD_H
#define SM_PARTITION_HELD_H

#include "fabric/fabric.h"
#include "lib/map.h"

struct held_keys {
	unsigned count;
	pkey_t key[]; /* the default partition's first, the others by their numbers */
};

/* Of an end port, by its GUID; NULL: nothing is known of it. */
const struct held_keys *held_keys_get(const struct map *held, guid_t port_guid);
/* Keeps what table has, as far as within lets it through as well (NULL: all of it); self: the
 * manager's port, which always is a full member of the default partition. */
void held_keys_put(struct map *held, guid_t port_guid, const struct pkey_list *table,
		   const struct pkey_list *within, bool self);
void held_keys_clear(struct map *held);

#endif
