/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of fields: how a wire format of the specification maps to a struct in host order. There is
 * one row for each field, in the order of the specification's table. Decoding and encoding are one
 * loop over the rows. The same rows drive the printers, the component masks of the SA and the
 * generated tests, so that a field that is in a table is everywhere. Pure functions, any thread.
 */
#ifndef MAD_FIELD_H
#define MAD_FIELD_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_UINT,	/* an unsigned number of up to 64 bits that may begin at any bit */
	FIELD_BYTES,	/* an array of whole bytes, copied as it is (GIDs, descriptions, tables) */
	FIELD_LIDS,	/* an array of big-endian 16-bit numbers (P_Keys, MFT port masks) */
	FIELD_GUIDS,	/* an array of big-endian 64-bit numbers */
	FIELD_RESERVED, /* no member in the struct; encoded as 0. For component masks only */
};

struct field {
	const char *name; /* the specification's spelling: "MasterSMLID" */
	uint8_t kind;	  /* enum field_kind */
	uint8_t size;	  /* bytes of one element of the member: 1, 2, 4, 8 */
	uint16_t bit;	  /* first bit on the wire; bit 0 is the top bit of byte 0 */
	uint16_t width;	  /* bits on the wire, of the whole array */
	uint16_t offset;  /* of the member in the struct */
};

struct format {
	const char *name;     /* "PortInfo" */
	uint16_t wire_size;   /* bytes */
	uint16_t struct_size; /* bytes */
	uint16_t count;
	const struct field *fields;
};

/*
 * Rows: FIELD(struct type, member, "Name", first bit, width). A number spans at most 8 bytes of the
 * wire and fits its member; an array is whole bytes and exactly its member. The compiler checks.
 */
#define FIELD_HOLDS(condition) (0 * sizeof(char[(condition) ? 1 : -1]))
#define FIELD(type, member, text, first_bit, bits)                                        \
	{                                                                                 \
		text, FIELD_UINT, sizeof(((type *)0)->member), first_bit,                 \
			(bits) + FIELD_HOLDS((bits) > 0 &&                                \
					     8 * sizeof(((type *)0)->member) >= (bits) && \
					     (first_bit) % 8 + (bits) <= 64),             \
			offsetof(type, member)                                            \
	}
#define FIELD_ARRAY(type, member, text, array_kind, first_bit, bits)                      \
	{                                                                                 \
		text, array_kind, sizeof(((type *)0)->member[0]), first_bit,              \
			(bits) + FIELD_HOLDS(8 * sizeof(((type *)0)->member) == (bits) && \
					     (first_bit) % 8 == 0),                       \
			offsetof(type, member)                                            \
	}
#define FIELD_GAP(text, first_bit, bits)                                                       \
	{                                                                                      \
		text, FIELD_RESERVED, 0, first_bit,                                            \
			(bits) + FIELD_HOLDS((bits) > 0 && ((first_bit) % 8 + (bits) <= 64 ||  \
							    ((first_bit) | (bits)) % 8 == 0)), \
			0                                                                      \
	}
/* A format over an array of rows. */
#define FORMAT(type, text, bytes, rows)                                        \
	{                                                                      \
		.name = text, .wire_size = bytes, .struct_size = sizeof(type), \
		.count = sizeof(rows) / sizeof((rows)[0]), .fields = rows      \
	}

/* wire holds format->wire_size bytes. decode writes every member that has a row and leaves the
 * rest; encode writes every bit that has a row and leaves the rest, so clear the buffer first.
 * Values wider than their field are cut. */
void format_decode(const struct format *format, const uint8_t *wire, void *to);
/* See above. Both are for a struct of format->struct_size bytes. */
void format_encode(const struct format *format, const void *from, uint8_t *wire);

/* One number of a struct; index is that of a FIELD_UINT row in format->fields. */
uint64_t format_get(const struct format *format, size_t index, const void *from);
/* Sets this number; a value wider than the member is cut. */
void format_put(const struct format *format, size_t index, void *to, uint64_t value);

/* True when the struct members that field describes are equal in a and b. */
int field_equal(const struct field *field, const void *a, const void *b);

#endif
