/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wanted content of a port's P_Key table, from its present table and its wanted keys. Programs
 * on hosts use a key by its index, so keys keep their index. A removed key leaves a hole, which the
 * next new key fills, and no key is moved or removed for another. Index 0, which most programs use
 * by default, is the only exception: see pkeys_fit(). Pure functions, any thread.
 */
#ifndef FABRIC_PKEYS_H
#define FABRIC_PKEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "include/iba.h"

/* The partition of a key, without the membership bit; 0: none, an empty slot. */
static inline pkey_t pkey_partition(pkey_t p_key)
{
	return p_key & PKEY_DEFAULT_LIMITED;
}

/* For qsort() of P_Keys: the default partition's first, then by partition; the full key of a
 * partition first. */
int pkeys_order(const void *a, const void *b);

/*
 * Fits the wanted keys into a table of room slots. want has count keys with their membership bits,
 * no two equal. As far as there is room:
 * - A wanted key stays at its index.
 * - A key whose partition is wanted with the other membership changes at its index.
 * - The key of index0 (a partition, 0: none) comes first if want has it. The key that was first
 *   takes its slot, or a free slot. Without either, no key moves.
 * - An empty first slot gets the key of the default partition.
 * - New keys get the first free slots, in the order of want.
 *
 * Keys without room go to left_out (count places), in the order of want; returns their number. have
 * and table may be the same.
 */
unsigned pkeys_fit(const pkey_t *have, unsigned room, const pkey_t *want, unsigned count,
		   pkey_t index0, pkey_t *table, pkey_t *left_out);

/* The first block in which a and b, of slots entries each, differ; -1: they are equal. */
int pkeys_differing_block(const pkey_t *a, const pkey_t *b, unsigned slots);

/* The keys of want that a table already covers, so that writing them only removes access. *kept
 * (count places) gets them, in the order of want, as limited keys if the table has only that.
 * Returns their number. */
unsigned pkeys_narrow(const pkey_t *table, unsigned slots, const pkey_t *want, unsigned count,
		      pkey_t *kept);

/* Whether the table gives access that want does not. */
bool pkeys_exceed(const pkey_t *table, unsigned slots, const pkey_t *want, unsigned count);

enum { PKEYS_NAMED = 16, PKEYS_TEXT = PKEYS_NAMED * 8 + 32 };

/* Writes "0x8005, 0x8006" for output; of more than PKEYS_NAMED keys the first and "and 7
 * others". */
void pkeys_text(const pkey_t *key, unsigned count, char text[PKEYS_TEXT]);

#endif
