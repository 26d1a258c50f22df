/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pseudorandom numbers for simulations, measurements and tests. Each user has a sequence of its
 * own. Random numbers of weftd come from lib/loop.h.
 */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include <stdint.h>

/* The next number of the sequence. Any 64-bit number is a seed: splitmix64 (Steele, Lea and Flood
 * 2014). */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

#endif
