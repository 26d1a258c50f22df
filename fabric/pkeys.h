/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a port's P_Key table should hold: from the table that it has and the keys that it is wanted
 * to have. Programs on hosts name a key by its index, so keys keep theirs: what leaves makes a hole
 * that the next new key fills, and nothing is moved or pushed out for another. Index 0, which most
 * programs use without asking, is the one exception: see pkeys_fit(). Pure functions, any thread.
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

/* For qsort() of P_Keys: the default partition's first, then by partition, of one partition the
 * full one first. */
int pkeys_order(const void *a, const void *b);

/*
 * Fills table, which has room slots, as have: so that it holds want (count keys with their
 * membership bits, no two the same) as far as there is room:
 *   - a key that is wanted stays where it is;
 *   - one whose partition is wanted with the other membership is changed where it stands;
 *   - index0 (a partition, 0: none) stands first when it is among want; what stood there takes its
 *     place, or a free one, and where there is neither, nothing moves;
 *   - a first slot without a key takes the default partition's;
 *   - new keys take the first free slots, in the order of want.
 * Keys for which no room is left go to left_out (count places), in the order of want; returns how
 * many. have and table may be the same.
 */
unsigned pkeys_fit(const pkey_t *have, unsigned room, const pkey_t *want, unsigned count,
		   pkey_t index0, pkey_t *table, pkey_t *left_out);

/* The first block in which a and b, of so many slots, differ; -1: in none. */
int pkeys_differing_block(const pkey_t *a, const pkey_t *b, unsigned slots);

/* Those keys of want that lie within what a table holds already, so that to write them takes
 * something away and adds nothing: *kept (count places) gets them, in the order of want, full ones
 * as limited where the table has only that. Returns how many. */
unsigned pkeys_narrow(const pkey_t *table, unsigned slots, const pkey_t *want, unsigned count,
		      pkey_t *kept);

/* Whether the table lets more through than want. */
bool pkeys_exceed(const pkey_t *table, unsigned slots, const pkey_t *want, unsigned count);

enum { PKEYS_NAMED = 16, PKEYS_TEXT = PKEYS_NAMED * 8 + 32 };

/* For people: "0x8005, 0x8006"; of more than PKEYS_NAMED the first and "and 7 others". */
void pkeys_text(const pkey_t *key, unsigned count, char text[PKEYS_TEXT]);

#endif
