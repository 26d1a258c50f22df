/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A hash map from a 64-bit key (a GUID, a LID, a TID) to a pointer that the map does not own.
 * Open addressing with linear probing; grows by doubling, never shrinks. One thread.
 */
#ifndef LIB_MAP_H
#define LIB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: empty */
};

struct map {
	struct map_slot *slots;
	size_t capacity; /* power of two, or 0 */
	size_t count;
};

/* An empty map, which needs no memory before the first map_put(). All zero is the same. */
void map_init(struct map *map);
void map_done(struct map *map);			    /* frees the slots, not the values */
void *map_get(const struct map *map, uint64_t key); /* NULL when absent */
/* Stores value (not NULL) under key and returns what was there before, or NULL. */
void *map_put(struct map *map, uint64_t key, void *value);
void *map_remove(struct map *map, uint64_t key); /* returns what was there, or NULL */
/* Walks in no defined order; start with *position = 0; NULL at the end. Do not change the map
 * during the walk. Sort the values if the result must be deterministic. */
void *map_next(const struct map *map, size_t *position);
/* All values in the order of their keys, into room for count of them. */
void map_sorted(const struct map *map, void **values);

/* For a map whose values are counts above 0: the count of key, 0 if absent. */
static inline size_t map_counted(const struct map *map, uint64_t key)
{
	return (size_t)map_get(map, key);
}
/* Adds more (it may be negative) to the count of key; a count of 0 is removed. */
void map_count(struct map *map, uint64_t key, int more);

#endif
