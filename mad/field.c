/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The loop through which every codec of a MAD attribute or SA record goes: rows in, struct or wire
 * out. It runs for each SMP and each record, so a number is not read bit by bit. It is one
 * big-endian load of 1, 2, 4 or 8 bytes, a shift and a mask. Such a load may include bytes of the
 * neighbours. It ends with the field's last byte (or begins with the wire's first), so it never
 * reads beyond either end. No state; any thread.
 */
#include "mad/field.h"

#include <assert.h>
#include <string.h>

#include "lib/be.h"

/* The bytes of the wire that hold a number, and how far its lowest bit is from the end of them. */
struct window {
	unsigned first, bytes, shift;
};

static inline struct window window_of(const struct field *field)
{
	unsigned end_bit = field->bit + field->width;
	unsigned end = (end_bit + 7) / 8;
	unsigned span = end - field->bit / 8;
	unsigned bytes = span <= 2 ? span : span <= 4 ? 4 : 8;
	unsigned first = end >= bytes ? end - bytes : 0;

	return (struct window){first, bytes, 8 * (first + bytes) - end_bit};
}

static inline uint64_t low_bits(unsigned width)
{
	return UINT64_MAX >> (64 - width);
}

static inline uint64_t bytes_load(const uint8_t *from, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return *from;
	case 2:
		return be16_load(from);
	case 4:
		return be32_load(from);
	default:
		return be64_load(from);
	}
}

static inline void bytes_store(uint8_t *to, unsigned bytes, uint64_t value)
{
	switch (bytes) {
	case 1:
		*to = value;
		break;
	case 2:
		be16_store(to, value);
		break;
	case 4:
		be32_store(to, value);
		break;
	default:
		be64_store(to, value);
	}
}

static inline uint64_t wire_get(const struct field *field, const uint8_t *wire)
{
	struct window at = window_of(field);

	return bytes_load(wire + at.first, at.bytes) >> at.shift & low_bits(field->width);
}

static inline void wire_put(const struct field *field, uint8_t *wire, uint64_t value)
{
	struct window at = window_of(field);
	uint64_t mask = low_bits(field->width) << at.shift;
	uint64_t around = bytes_load(wire + at.first, at.bytes) & ~mask;

	bytes_store(wire + at.first, at.bytes, around | (value << at.shift & mask));
}

static inline uint64_t member_get(const struct field *field, const void *from)
{
	const void *member = (const char *)from + field->offset;

	switch (field->size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)member;
	case 4:
		return *(const uint32_t *)member;
	default:
		return *(const uint64_t *)member;
	}
}

static inline void member_put(const struct field *field, void *to, uint64_t value)
{
	void *member = (char *)to + field->offset;

	switch (field->size) {
	case 1:
		*(uint8_t *)member = value;
		break;
	case 2:
		*(uint16_t *)member = value;
		break;
	case 4:
		*(uint32_t *)member = value;
		break;
	default:
		*(uint64_t *)member = value;
	}
}

static void lids_load(uint16_t *to, const uint8_t *from, size_t count)
{
	for (; count; count--, from += sizeof(*to))
		*to++ = be16_load(from);
}

static void lids_store(uint8_t *to, const uint16_t *from, size_t count)
{
	for (; count; count--, to += sizeof(*from))
		be16_store(to, *from++);
}

static void guids_load(uint64_t *to, const uint8_t *from, size_t count)
{
	for (; count; count--, from += sizeof(*to))
		*to++ = be64_load(from);
}

static void guids_store(uint8_t *to, const uint64_t *from, size_t count)
{
	for (; count; count--, to += sizeof(*from))
		be64_store(to, *from++);
}

/* A gap has any number of bits: whole bytes, or few enough for a number. */
static void gap_clear(const struct field *field, uint8_t *wire)
{
	if (field->bit % 8 == 0 && field->width % 8 == 0)
		memset(wire + field->bit / 8, 0, field->width / 8);
	else
		wire_put(field, wire, 0);
}

void format_decode(const struct format *format, const uint8_t *wire, void *to)
{
	const struct field *end = format->fields + format->count;

	for (const struct field *field = format->fields; field < end; field++) {
		const uint8_t *from = wire + field->bit / 8;
		void *member = (char *)to + field->offset;

		switch (field->kind) {
		case FIELD_UINT:
			member_put(field, to, wire_get(field, wire));
			break;
		case FIELD_BYTES:
			memcpy(member, from, field->width / 8);
			break;
		case FIELD_LIDS:
			lids_load(member, from, field->width / 16);
			break;
		case FIELD_GUIDS:
			guids_load(member, from, field->width / 64);
			break;
		}
	}
}

void format_encode(const struct format *format, const void *from, uint8_t *wire)
{
	const struct field *end = format->fields + format->count;

	for (const struct field *field = format->fields; field < end; field++) {
		const void *member = (const char *)from + field->offset;
		uint8_t *to = wire + field->bit / 8;

		switch (field->kind) {
		case FIELD_UINT:
			wire_put(field, wire, member_get(field, from));
			break;
		case FIELD_BYTES:
			memcpy(to, member, field->width / 8);
			break;
		case FIELD_LIDS:
			lids_store(to, member, field->width / 16);
			break;
		case FIELD_GUIDS:
			guids_store(to, member, field->width / 64);
			break;
		case FIELD_RESERVED:
			gap_clear(field, wire);
			break;
		}
	}
}

static const struct field *number_field(const struct format *format, size_t index)
{
	assert(index < format->count && format->fields[index].kind == FIELD_UINT);
	return &format->fields[index];
}

uint64_t format_get(const struct format *format, size_t index, const void *from)
{
	return member_get(number_field(format, index), from);
}

void format_put(const struct format *format, size_t index, void *to, uint64_t value)
{
	const struct field *field = number_field(format, index);

	member_put(field, to, value & low_bits(field->width));
}

static size_t member_bytes(const struct field *field)
{
	if (field->kind == FIELD_UINT)
		return field->size;
	return field->kind == FIELD_RESERVED ? 0 : field->width / 8;
}

int field_equal(const struct field *field, const void *a, const void *b)
{
	return !memcmp((const char *)a + field->offset, (const char *)b + field->offset,
		       member_bytes(field));
}
