/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * FNV-1a, 64 bits: a hash for maps, and a checksum against accidental damage, not against malice.
 * Begin with HASH_SEED and pass the result on with each further part. Stored files contain it
 * (store/db.c), so it must not change. The map (lib/map.h) spreads keys itself; a user of the low
 * bits folds the upper bits first. Pure, any thread.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_SEED UINT64_C(0xCBF29CE484222325)
#define HASH_PRIME UINT64_C(0x100000001B3)

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	for (const uint8_t *at = bytes; size; size--)
		hash = (hash ^ *at++) * HASH_PRIME;
	return hash;
}

#endif
