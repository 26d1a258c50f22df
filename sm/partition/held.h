/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The P_Keys of ports at the time when partitions became unknown (policy_is_frozen() of
 * sm/partition/partitions.h). A port that was up then keeps its P_Keys, also after its link goes
 * down and comes back, or its host reboots. A port that was down then has no entry. Loop thread
 * only.
 */
#ifndef SM_PARTITION_HELD_H
#define SM_PARTITION_HELD_H

#include "fabric/fabric.h"
#include "lib/map.h"

struct held_keys {
	unsigned count;
	pkey_t key[]; /* the key of the default partition first, the others by number */
};

/* The P_Keys of an end port, by its GUID; NULL: no entry. */
const struct held_keys *held_keys_get(const struct map *held, guid_t port_guid);
/* Keeps the P_Keys of table that within has too (NULL: all of table). self: the manager's port,
 * which always is a full member of the default partition. */
void held_keys_put(struct map *held, guid_t port_guid, const struct pkey_list *table,
		   const struct pkey_list *within, bool self);
/* Frees all entries. */
void held_keys_clear(struct map *held);

#endif
