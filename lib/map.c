/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The hash map from 64-bit keys to pointers, for lookups by GUID, LID or TID. It runs on the thread
 * that owns the map. A removal closes the gap by moving later members of the probe run back. So
 * there are no tombstones, and a map that is used for months does not become slower.
 */
#include "lib/map.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/mem.h"

enum { MAP_FIRST_CAPACITY = 16 };

void map_init(struct map *map)
{
	*map = (struct map){0};
}

void map_done(struct map *map)
{
	free(map->slots);
	map_init(map);
}

/* GUIDs of one vendor differ in few bits, LIDs in the low ones: each must move the whole hash.
 * Two rounds of multiply and shift do that; the constants are odd with evenly spread bits. */
static uint64_t hash(uint64_t key)
{
	key = (key ^ (key >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
	key = (key ^ (key >> 29)) * UINT64_C(0xD1B54A32D192ED03);
	return key ^ (key >> 32);
}

static size_t home(const struct map *map, uint64_t key)
{
	return hash(key) & (map->capacity - 1);
}

/* The slot that holds key, or the empty slot for it. There is always an empty slot. */
static struct map_slot *map_find_slot(const struct map *map, uint64_t key)
{
	size_t at = home(map, key);

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

static void grow(struct map *map)
{
	struct map old = *map;

	map->capacity = old.capacity ? 2 * old.capacity : MAP_FIRST_CAPACITY;
	map->slots = mem_array(map->capacity, sizeof(*map->slots));
	for (size_t at = 0; at < old.capacity; at++) {
		if (old.slots[at].value)
			*map_find_slot(map, old.slots[at].key) = old.slots[at];
	}
	free(old.slots);
}

void *map_get(const struct map *map, uint64_t key)
{
	return map->capacity ? map_find_slot(map, key)->value : NULL;
}

void *map_put(struct map *map, uint64_t key, void *value)
{
	struct map_slot *slot;
	void *before;

	assert(value);
	if (map->count >= map->capacity / 4 * 3)
		grow(map);
	slot = map_find_slot(map, key);
	before = slot->value;
	if (!before)
		map->count++;
	*slot = (struct map_slot){.key = key, .value = value};
	return before;
}

/* A member of the run behind the gap may fill it unless its home lies between gap and itself. */
static void close_gap(struct map *map, size_t gap)
{
	const size_t mask = map->capacity - 1;

	for (size_t at = (gap + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
		size_t from_home = (at - home(map, map->slots[at].key)) & mask;

		if (from_home >= ((at - gap) & mask)) {
			map->slots[gap] = map->slots[at];
			gap = at;
		}
	}
	map->slots[gap] = (struct map_slot){0};
}

void *map_remove(struct map *map, uint64_t key)
{
	struct map_slot *slot;
	void *before;

	if (!map->capacity)
		return NULL;
	slot = map_find_slot(map, key);
	before = slot->value;
	if (before) {
		map->count--;
		close_gap(map, (size_t)(slot - map->slots));
	}
	return before;
}

void *map_next(const struct map *map, size_t *position)
{
	while (*position < map->capacity) {
		const struct map_slot *slot = &map->slots[(*position)++];

		if (slot->value)
			return slot->value;
	}
	return NULL;
}

/* Stable, by one byte of the keys. */
static void sort_by_byte(const struct map_slot *from, struct map_slot *to, size_t count,
			 unsigned shift)
{
	size_t place[257] = {0};

	for (size_t i = 0; i < count; i++)
		place[(from[i].key >> shift & 0xFF) + 1]++;
	for (unsigned byte = 1; byte < 256; byte++)
		place[byte] += place[byte - 1];
	for (size_t i = 0; i < count; i++)
		to[place[from[i].key >> shift & 0xFF]++] = from[i];
}

/* Byte by byte, the lowest first. The GUIDs of a fabric differ in few of their bytes. */
void map_sorted(const struct map *map, void **values)
{
	struct map_slot *from = mem_array(map->count, sizeof(*from));
	struct map_slot *to = mem_array(map->count, sizeof(*to)), *swap;
	uint64_t differing = 0;
	size_t count = 0;

	for (size_t at = 0; at < map->capacity; at++) {
		if (map->slots[at].value)
			from[count++] = map->slots[at];
	}
	for (size_t i = 1; i < count; i++)
		differing |= from[i].key ^ from[0].key;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(differing >> shift & 0xFF))
			continue;
		sort_by_byte(from, to, count, shift);
		swap = from;
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < count; i++)
		values[i] = from[i].value;
	free(from);
	free(to);
}

void map_count(struct map *map, uint64_t key, int more)
{
	size_t now = map_counted(map, key) + (size_t)more;

	if (now)
		map_put(map, key, (void *)now);
	else
		map_remove(map, key);
}
