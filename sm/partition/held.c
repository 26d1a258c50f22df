/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables as lists of keys, by port GUID: sm/partition/held.h. */
#include "sm/partition/held.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"

const struct held_keys *held_keys_get(const struct map *held, guid_t port_guid)
{
	return map_get(held, port_guid);
}

/* There is room for another key. */
static void make_full(struct held_keys *keys)
{
	unsigned count = 0;

	for (unsigned i = 0; i < keys->count; i++)
		if (pkey_partition(keys->key[i]) != PKEY_DEFAULT_LIMITED)
			keys->key[count++] = keys->key[i];
	keys->key[count++] = PKEY_DEFAULT_FULL;
	keys->count = count;
}

void held_keys_put(struct map *held, guid_t port_guid, const struct pkey_list *table,
		   const struct pkey_list *within, bool self)
{
	struct held_keys *keys =
		mem_zalloc(sizeof(*keys) + (table->count + 1u) * sizeof(*keys->key));
	pkey_t *all = mem_array(table->count + 1u, sizeof(*all));
	unsigned count = 0;

	for (unsigned i = 0; i < table->count; i++)
		if (pkey_partition(table->key[i]))
			all[count++] = table->key[i];
	if (within) {
		keys->count = pkeys_narrow(within->key, within->count, all, count, keys->key);
	} else {
		memcpy(keys->key, all, count * sizeof(*all));
		keys->count = count;
	}
	if (self)
		make_full(keys);
	qsort(keys->key, keys->count, sizeof(*keys->key), pkeys_order);
	free(all);
	free(map_put(held, port_guid, keys));
}

void held_keys_clear(struct map *held)
{
	struct held_keys *keys;
	size_t at = 0;

	while ((keys = map_next(held, &at)))
		free(keys);
	map_done(held);
}
