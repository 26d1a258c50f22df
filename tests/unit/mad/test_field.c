/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The loop over rows, with formats made for the test. A number of every width at every bit that a
 * row may have is compared with a loop over single bits. Also arrays, gaps, and bytes that must not
 * change. Buffers are from the heap with their exact size, so that a sanitizer or valgrind sees
 * each byte read beyond either end.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/field.h"
#include "tests/unit/fixtures/unit.h"

enum { WIRE = 20, ROUNDS = 20 };

struct number {
	uint64_t before, value, after;
};

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint64_t random64(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545F4914F6CDD1D;
}

static uint64_t bits_get(const uint8_t *wire, unsigned bit, unsigned width)
{
	uint64_t value = 0;

	for (; width; width--, bit++)
		value = value << 1 | (wire[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static void bits_put(uint8_t *wire, unsigned bit, unsigned width, uint64_t value)
{
	for (; width; width--, bit++) {
		uint8_t one = 0x80 >> bit % 8;

		wire[bit / 8] =
			value >> (width - 1) & 1 ? wire[bit / 8] | one : wire[bit / 8] & ~one;
	}
}

/* One number of width bits at bit, in a wire of size bytes. */
static int number_is_right(unsigned bit, unsigned width, unsigned size)
{
	const struct field field = {"N", FIELD_UINT, 8, bit, width, offsetof(struct number, value)};
	const struct format format = {"F", size, sizeof(struct number), 1, &field};
	uint8_t *wire = malloc(size), *expected = malloc(size);
	int right = 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct number number = {1, 2, 3};
		uint64_t value = random64();

		for (unsigned i = 0; i < size; i++)
			wire[i] = random64() >> 32;
		memcpy(expected, wire, size);
		format_decode(&format, wire, &number);
		right &= number.before == 1 && number.after == 3;
		right &= number.value == bits_get(wire, bit, width);

		number.value = value; /* wider than the field, mostly */
		format_encode(&format, &number, wire);
		bits_put(expected, bit, width, value);
		right &= !memcmp(wire, expected, size);
	}
	free(wire);
	free(expected);
	return right;
}

/* Numbers span at most 8 bytes; a wire is never shorter than the load that holds the number. */
static void test_numbers_everywhere(void)
{
	for (unsigned width = 1; width <= 64; width++) {
		for (unsigned bit = 0; bit + width <= 8 * WIRE; bit++) {
			if (bit % 8 + width <= 64)
				CU_ASSERT(number_is_right(bit, width, WIRE));
		}
	}
}

static void test_numbers_up_to_the_end(void)
{
	for (unsigned size = 8; size <= WIRE; size++) {
		for (unsigned width = 1; width <= 57; width++)
			CU_ASSERT(number_is_right(8 * size - width, width, size));
	}
	CU_ASSERT(number_is_right(0, 8, 1));
	CU_ASSERT(number_is_right(3, 5, 1));
	CU_ASSERT(number_is_right(7, 2, 2));
	CU_ASSERT(number_is_right(0, 24, 4));
}

struct sizes {
	uint8_t one;
	uint16_t two;
	uint32_t four;
	uint64_t eight;
};

static const struct field sizes_fields[] = {
	FIELD(struct sizes, one, "One", 0, 3),
	FIELD(struct sizes, two, "Two", 3, 13),
	FIELD(struct sizes, four, "Four", 16, 20),
	FIELD(struct sizes, eight, "Eight", 40, 40),
};
static const struct format sizes_format = FORMAT(struct sizes, "Sizes", 10, sizes_fields);

static void test_members_of_every_size(void)
{
	const struct sizes from = {0x5, 0x1ABC, 0x54321, 0x123456789A};
	const uint8_t wire[10] = {0xBA, 0xBC, 0x54, 0x32, 0x10, 0x12, 0x34, 0x56, 0x78, 0x9A};
	uint8_t made[10] = {0};
	struct sizes to = {0};

	format_encode(&sizes_format, &from, made);
	CU_ASSERT(!memcmp(made, wire, sizeof(wire)));
	format_decode(&sizes_format, wire, &to);
	CU_ASSERT(to.one == from.one && to.two == from.two);
	CU_ASSERT(to.four == from.four && to.eight == from.eight);
	CU_ASSERT_EQUAL(sizes_format.count, 4);
	CU_ASSERT_EQUAL(sizes_format.struct_size, sizeof(struct sizes));
}

static void test_get_and_put(void)
{
	static const uint64_t widest[] = {0x7, 0x1FFF, 0xFFFFF, 0xFFFFFFFFFF};
	struct sizes sizes = {0};

	for (size_t i = 0; i < ARRAY_SIZE(widest); i++) {
		format_put(&sizes_format, i, &sizes, UINT64_MAX);
		CU_ASSERT_EQUAL(format_get(&sizes_format, i, &sizes), widest[i]);
		format_put(&sizes_format, i, &sizes, i);
		CU_ASSERT_EQUAL(format_get(&sizes_format, i, &sizes), i);
	}
	CU_ASSERT(sizes.one == 0 && sizes.two == 1 && sizes.four == 2 && sizes.eight == 3);
}

struct arrays {
	uint8_t bytes[3];
	uint16_t lids[2];
	uint64_t guids[2];
};

static const struct field arrays_fields[] = {
	FIELD_ARRAY(struct arrays, bytes, "Bytes", FIELD_BYTES, 8, 24),
	FIELD_ARRAY(struct arrays, lids, "LIDs", FIELD_LIDS, 32, 32),
	FIELD_ARRAY(struct arrays, guids, "GUIDs", FIELD_GUIDS, 72, 128),
};
static const struct format arrays_format = FORMAT(struct arrays, "Arrays", 25, arrays_fields);

static const struct arrays arrays = {
	.bytes = {1, 2, 3},
	.lids = {0x0405, 0x0607},
	.guids = {0x08090A0B0C0D0E0F, 0x1011121314151617},
};
static const uint8_t arrays_wire[25] = {
	0xEE, 1,    2,	  3,	0x04, 0x05, 0x06, 0x07, 0xEE, 0x08, 0x09, 0x0A, 0x0B,
	0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
};

static void test_arrays(void)
{
	struct arrays to = {0};
	uint8_t made[25];

	memset(made, 0xEE, sizeof(made));
	format_encode(&arrays_format, &arrays, made);
	CU_ASSERT(!memcmp(made, arrays_wire, sizeof(made)));
	format_decode(&arrays_format, arrays_wire, &to);
	for (size_t i = 0; i < arrays_format.count; i++)
		CU_ASSERT(field_equal(&arrays_fields[i], &to, &arrays));
}

/* Each array differs from itself in its first and in its last element. */
static void test_equal_sees_every_element(void)
{
	for (size_t i = 0; i < arrays_format.count; i++) {
		const struct field *field = &arrays_fields[i];
		const size_t ends[] = {field->offset, field->offset + field->width / 8 - 1};

		for (size_t end = 0; end < ARRAY_SIZE(ends); end++) {
			struct arrays other = arrays;

			((uint8_t *)&other)[ends[end]] ^= 1;
			for (size_t k = 0; k < arrays_format.count; k++)
				CU_ASSERT_EQUAL(field_equal(&arrays_fields[k], &arrays, &other),
						k != i);
		}
	}
	for (size_t i = 0; i < sizes_format.count; i++) {
		struct sizes zero = {0}, one = {0};

		format_put(&sizes_format, i, &one, 1);
		CU_ASSERT(field_equal(&sizes_fields[i], &one, &one));
		CU_ASSERT(!field_equal(&sizes_fields[i], &zero, &one));
	}
}

static void test_gaps_are_zero(void)
{
	static const struct field fields[] = {
		FIELD_GAP("ReservedBits", 4, 3),
		FIELD_GAP("ReservedWord", 24, 128),
		FIELD_GAP("ReservedAcross", 158, 9),
	};
	static const struct format format = FORMAT(struct number, "Gaps", 22, fields);
	struct number number = {1, 2, 3}, same = {4, 5, 6};
	uint8_t wire[22], expected[22];

	memset(wire, 0xFF, sizeof(wire));
	memset(expected, 0xFF, sizeof(expected));
	expected[0] = 0xF1;
	memset(expected + 3, 0, 16);
	expected[19] = 0xFC;
	expected[20] = 0x01;
	format_encode(&format, &number, wire);
	CU_ASSERT(!memcmp(wire, expected, sizeof(wire)));
	format_decode(&format, wire, &number);
	CU_ASSERT(number.before == 1 && number.value == 2 && number.after == 3);
	CU_ASSERT(field_equal(&fields[1], &number, &same));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"numbers everywhere", test_numbers_everywhere},
		{"numbers up to the end", test_numbers_up_to_the_end},
		{"members of every size", test_members_of_every_size},
		{"get and put", test_get_and_put},
		{"arrays", test_arrays},
		{"equal sees every element", test_equal_sees_every_element},
		{"gaps are zero", test_gaps_are_zero},
		CU_TEST_INFO_NULL,
	};

	return unit_main("field", tests);
}
