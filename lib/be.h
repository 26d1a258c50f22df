/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Unaligned big-endian loads and stores: the byte order of everything on the wire. */
#ifndef LIB_BE_H
#define LIB_BE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t be16_load(const void *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return be16toh(value);
}

static inline uint32_t be32_load(const void *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

static inline uint64_t be64_load(const void *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

static inline void be16_store(void *to, uint16_t value)
{
	value = htobe16(value);
	memcpy(to, &value, sizeof(value));
}

static inline void be32_store(void *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void be64_store(void *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

#endif
