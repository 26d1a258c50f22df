/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * P_Key tables (pkeys.h). Tables have some hundred slots and ports are in some ten partitions. A
 * set of P_Keys has a bit for each 16-bit value, so each check of a table is one pass over it.
 */
#include "fabric/pkeys.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"

int pkeys_order(const void *a, const void *b)
{
	pkey_t x = *(const pkey_t *)a, y = *(const pkey_t *)b;
	pkey_t of_x = pkey_partition(x), of_y = pkey_partition(y);

	if (of_x == of_y)
		return (x < y) - (x > y);
	if (of_x == PKEY_DEFAULT_LIMITED || of_y == PKEY_DEFAULT_LIMITED)
		return of_x == PKEY_DEFAULT_LIMITED ? -1 : 1;
	return of_x < of_y ? -1 : 1;
}

/* A set of P_Keys, by all 16 bits. */
struct key_set {
	uint64_t bits[1024];
};

static bool key_set_has(const struct key_set *set, pkey_t p_key)
{
	return set->bits[p_key / 64] >> p_key % 64 & 1;
}

static void key_set_add(struct key_set *set, pkey_t p_key)
{
	set->bits[p_key / 64] |= UINT64_C(1) << p_key % 64;
}

static void key_set_remove(struct key_set *set, pkey_t p_key)
{
	set->bits[p_key / 64] &= ~(UINT64_C(1) << p_key % 64);
}

static pkey_t other_membership(pkey_t p_key)
{
	return p_key ^ PKEY_FULL_MEMBER;
}

/* Slots with a wanted key keep it, others are emptied or changed to the other membership; missing
 * gets the wanted keys that have no slot. */
static void keep_wanted_slots(pkey_t *table, unsigned room, struct key_set *missing)
{
	uint64_t exact[UINT16_MAX / 64 + 1] = {0}; /* slots */

	for (unsigned i = 0; i < room; i++) {
		if (!key_set_has(missing, table[i]))
			continue;
		key_set_remove(missing, table[i]);
		exact[i / 64] |= UINT64_C(1) << i % 64;
	}
	for (unsigned i = 0; i < room; i++) {
		pkey_t other = other_membership(table[i]);

		if (exact[i / 64] >> i % 64 & 1)
			continue;
		table[i] = key_set_has(missing, other) ? other : 0;
		key_set_remove(missing, other);
	}
}

static int pkey_slot(const pkey_t *table, unsigned room, pkey_t p_key)
{
	for (unsigned i = 0; i < room; i++)
		if (table[i] == p_key)
			return (int)i;
	return -1;
}

/* The slot of a partition's key, preferably the full key; -1: none. */
static int find_partition(const pkey_t *table, unsigned room, pkey_t partition)
{
	int full = pkey_slot(table, room, partition | PKEY_FULL_MEMBER);

	return full >= 0 ? full : pkey_slot(table, room, partition);
}

/* The key of this partition in want, preferably the full key; 0: none. */
static pkey_t wanted_of(const pkey_t *want, unsigned count, pkey_t partition)
{
	int at = find_partition(want, count, partition);

	return partition && at >= 0 ? want[at] : 0;
}

/* Puts key first; the key that was first takes its slot, or the first free slot. Without either,
 * key is left out, because the first key is in use. */
static void put_first(pkey_t *table, unsigned room, pkey_t key, struct key_set *missing)
{
	int at = pkey_slot(table, room, key), hole = at < 0 ? pkey_slot(table, room, 0) : at;

	if (at == 0 || hole < 0)
		return;
	table[hole] = table[0];
	table[0] = key;
	key_set_remove(missing, key);
}

unsigned pkeys_fit(const pkey_t *have, unsigned room, const pkey_t *want, unsigned count,
		   pkey_t index0, pkey_t *table, pkey_t *left_out)
{
	struct key_set missing = {0};
	pkey_t first = wanted_of(want, count, index0);
	pkey_t usual = wanted_of(want, count, PKEY_DEFAULT_LIMITED);
	unsigned hole = 0, left = 0;

	memmove(table, have, room * sizeof(*table));
	for (unsigned i = 0; i < count; i++)
		key_set_add(&missing, want[i]);
	keep_wanted_slots(table, room, &missing);
	if (first && room)
		put_first(table, room, first, &missing);
	else if (usual && room && !pkey_partition(table[0]))
		put_first(table, room, usual, &missing);
	for (unsigned i = 0; i < count; i++) {
		if (!key_set_has(&missing, want[i]))
			continue;
		while (hole < room && pkey_partition(table[hole]))
			hole++;
		if (hole < room)
			table[hole] = want[i];
		else
			left_out[left++] = want[i];
	}
	return left;
}

int pkeys_differing_block(const pkey_t *a, const pkey_t *b, unsigned slots)
{
	for (unsigned i = 0; i < slots; i++)
		if (a[i] != b[i])
			return (int)(i / PKEY_BLOCK_KEYS);
	return -1;
}

static void set_of_table(const pkey_t *table, unsigned slots, struct key_set *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < slots; i++)
		if (pkey_partition(table[i]))
			key_set_add(out, table[i]);
}

unsigned pkeys_narrow(const pkey_t *table, unsigned slots, const pkey_t *want, unsigned count,
		      pkey_t *kept)
{
	struct key_set held;
	unsigned found = 0;

	set_of_table(table, slots, &held);
	for (unsigned i = 0; i < count; i++) {
		pkey_t key = want[i], other = other_membership(key);

		if (key_set_has(&held, key))
			kept[found++] = key;
		else if (key_set_has(&held, other) && pkey_slot(want, count, other) < 0)
			kept[found++] = pkey_partition(key);
	}
	return found;
}

bool pkeys_exceed(const pkey_t *table, unsigned slots, const pkey_t *want, unsigned count)
{
	struct key_set wanted;

	set_of_table(want, count, &wanted);
	for (unsigned i = 0; i < slots; i++) {
		pkey_t key = table[i];

		/* A limited key gives less access than a full key. */
		if (pkey_partition(key) && !key_set_has(&wanted, key) &&
		    !key_set_has(&wanted, key | PKEY_FULL_MEMBER))
			return true;
	}
	return false;
}

void pkeys_text(const pkey_t *key, unsigned count, char text[PKEYS_TEXT])
{
	unsigned named = count <= PKEYS_NAMED ? count : (unsigned)PKEYS_NAMED;
	size_t length = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < named; i++)
		length += (size_t)snprintf(text + length, PKEYS_TEXT - length, "%s0x%04x",
					   i ? ", " : "", key[i]);
	if (named < count)
		snprintf(text + length, PKEYS_TEXT - length, " and %u other%s", count - named,
			 count - named == 1 ? "" : "s");
}
