/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every field of every subnet management attribute, compared with libibmad if it knows the field:
 * both read and write the same random bytes and values. Other fields are compared with bytes
 * written by hand. A generated check ensures that each row of each format has one of the two.
 * Structural checks find rows that overlap or lie outside. All random values come from one seed.
 */
// LIBS: -libmad -libumad
#include <infiniband/mad.h>
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/attr.h"
#include "mad/notice.h"
#include "tests/unit/fixtures/unit.h"
#include "tests/unit/mad/attr_judges.h"

enum {
	ROUNDS = 2000,
	WIRE_MAX = 80,
	BITS_MAX = 8 * WIRE_MAX,
	FORMATS_MAX = 64,
};

/* A struct of any format, aligned for all of them. */
union object {
	struct port_info port_info;
	struct notice notice;
	struct vl_arbitration_table vl_arbitration;
	union notice_details details;
	uint8_t bytes[512];
};

static uint64_t seed = 0x2545F4914F6CDD1D;

static uint64_t random64(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545F4914F6CDD1D;
}

static void random_fill(void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = random64() >> 32;
}

static const struct format *hand_format(const struct hand *hand)
{
	return hand->format ? hand->format : notice_details_format(hand->trap);
}

/* All formats, found through the functions that return them. */
static const struct format *formats[FORMATS_MAX];
static size_t formats_count;

static void format_add(const struct format *format)
{
	for (size_t i = 0; i < formats_count; i++) {
		if (formats[i] == format)
			return;
	}
	CU_ASSERT_FATAL(formats_count < FORMATS_MAX);
	formats[formats_count++] = format;
}

static void formats_collect(void)
{
	if (formats_count)
		return;
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		if (attr_format(id))
			format_add(attr_format(id));
	}
	for (uint32_t trap = 0; trap <= UINT16_MAX; trap++) {
		if (notice_details_format(trap))
			format_add(notice_details_format(trap));
	}
	format_add(&notice_report_format);
}

static const struct field *field_named(const struct format *format, const char *name)
{
	for (size_t i = 0; i < format->count; i++) {
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	}
	return NULL;
}

/* Bits, one to a byte: slow, but simple enough to judge the fast code. */
static void number_to_bits(uint64_t value, size_t width, uint8_t *bits)
{
	for (size_t i = 0; i < width; i++)
		bits[i] = value >> (width - 1 - i) & 1;
}

static uint64_t bits_to_number(const uint8_t *bits, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value = value << 1 | bits[i];
	return value;
}

static size_t elements_of(const struct field *field)
{
	return field->kind == FIELD_UINT ? 1 : field->width / (8 * field->size);
}

static uint64_t element_get(const struct field *field, const union object *object, size_t i)
{
	const uint8_t *at = object->bytes + field->offset + i * field->size;
	uint64_t value = 0;

	switch (field->size) {
	case 1:
		return *at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		memcpy(&value, at, sizeof(value));
		return value;
	}
}

static void element_put(const struct field *field, union object *object, size_t i, uint64_t value)
{
	uint8_t *at = object->bytes + field->offset + i * field->size;

	switch (field->size) {
	case 1:
		*at = value;
		break;
	case 2:
		*(uint16_t *)at = value;
		break;
	case 4:
		*(uint32_t *)at = value;
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

static void ours_get(const struct field *field, const union object *object, uint8_t *bits)
{
	size_t count = elements_of(field), width = field->width / count;

	for (size_t i = 0; i < count; i++)
		number_to_bits(element_get(field, object, i), width, bits + i * width);
}

static void theirs_get(enum MAD_FIELDS theirs, size_t width, uint8_t *wire, uint8_t *bits)
{
	uint8_t array[WIRE_MAX];

	if (width <= 32) {
		number_to_bits(mad_get_field(wire, 0, theirs), width, bits);
	} else if (width == 64) {
		number_to_bits(mad_get_field64(wire, 0, theirs), width, bits);
	} else {
		mad_get_array(wire, 0, theirs, array);
		for (size_t i = 0; i < width / 8; i++)
			number_to_bits(array[i], 8, bits + 8 * i);
	}
}

static void theirs_set(enum MAD_FIELDS theirs, size_t width, uint8_t *wire, const uint8_t *bits)
{
	uint8_t array[WIRE_MAX];

	if (width <= 32) {
		mad_set_field(wire, 0, theirs, bits_to_number(bits, width));
	} else if (width == 64) {
		mad_set_field64(wire, 0, theirs, bits_to_number(bits, width));
	} else {
		for (size_t i = 0; i < width / 8; i++)
			array[i] = bits_to_number(bits + 8 * i, 8);
		mad_set_array(wire, 0, theirs, array);
	}
}

/* Names the field that failed: CUnit shows the line only. */
static void expect(int ok, const struct format *format, const char *name, const char *what)
{
	if (!ok)
		printf("\n    %s:%s: %s", format->name, name, what);
	CU_ASSERT(ok);
}

/* True when the part of the field that the judge compares is the same in ours and theirs. */
static int judge_agrees(const struct judge *judge, const uint8_t *ours, const uint8_t *theirs)
{
	const struct field *field = field_named(judge->format, judge->name);
	size_t width = judge->width ? judge->width : field->width;

	return !memcmp(ours + judge->ours_at, theirs + judge->theirs_at, width);
}

static size_t their_width(const struct judge *judge)
{
	return judge->their_width ? judge->their_width
				  : field_named(judge->format, judge->name)->width;
}

static int judge_reads(const struct judge *judge, const union object *object, uint8_t *wire)
{
	uint8_t ours[BITS_MAX], theirs[BITS_MAX];

	ours_get(field_named(judge->format, judge->name), object, ours);
	theirs_get(judge->theirs, their_width(judge), wire, theirs);
	return judge_agrees(judge, ours, theirs);
}

static void object_random(const struct format *format, union object *object)
{
	random_fill(object, sizeof(*object));
	for (size_t i = 0; i < format->count; i++) {
		if (format->fields[i].kind == FIELD_UINT)
			format_put(format, i, object, random64());
	}
}

/* The same random bytes, read by both. */
static void test_reads_as_libibmad(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(judges); i++) {
		int same = 1;

		for (int round = 0; round < ROUNDS; round++) {
			uint8_t wire[WIRE_MAX];
			union object object = {0};

			random_fill(wire, sizeof(wire));
			format_decode(judges[i].format, wire, &object);
			same &= judge_reads(&judges[i], &object, wire);
		}
		expect(same, judges[i].format, judges[i].name, "read otherwise");
	}
}

/* Random values, written by us and read by libibmad. */
static void test_writes_what_libibmad_reads(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(judges); i++) {
		int same = 1;

		for (int round = 0; round < ROUNDS; round++) {
			uint8_t wire[WIRE_MAX] = {0};
			union object object;

			object_random(judges[i].format, &object);
			format_encode(judges[i].format, &object, wire);
			same &= judge_reads(&judges[i], &object, wire);
		}
		expect(same, judges[i].format, judges[i].name, "written otherwise");
	}
}

/* Random values, written by libibmad and read by us. */
static void test_reads_what_libibmad_writes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(judges); i++) {
		const struct field *field = field_named(judges[i].format, judges[i].name);
		size_t width = their_width(&judges[i]);
		int same = 1;

		for (int round = 0; round < ROUNDS; round++) {
			uint8_t wire[WIRE_MAX] = {0}, ours[BITS_MAX], theirs[BITS_MAX];
			union object object = {0};

			for (size_t bit = 0; bit < width; bit++)
				theirs[bit] = random64() >> 63;
			theirs_set(judges[i].theirs, width, wire, theirs);
			format_decode(judges[i].format, wire, &object);
			ours_get(field, &object, ours);
			same &= judge_agrees(&judges[i], ours, theirs);
		}
		expect(same, judges[i].format, judges[i].name, "read otherwise");
	}
}

static size_t hex_read(const char *hex, uint8_t *to)
{
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
		sscanf(hex + 2 * i, "%2hhx", &to[i]);
	return size;
}

static void test_bytes_by_hand(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(hands); i++) {
		const struct hand *hand = &hands[i];
		const struct format *format = hand_format(hand);
		const struct field *field = field_named(format, hand->name);
		uint8_t expected[WIRE_MAX] = {0}, wire[WIRE_MAX] = {0};
		union object object = {0}, back = {0};

		CU_ASSERT_PTR_NOT_NULL_FATAL(field);
		if (field->kind == FIELD_UINT)
			CU_ASSERT_EQUAL(hand->value, UINT64_MAX >> (64 - field->width));
		hex_read(hand->hex, expected + hand->first);
		element_put(field, &object, hand->element, hand->value);
		format_encode(format, &object, wire);
		expect(!memcmp(wire, expected, sizeof(wire)), format, hand->name, "other bytes");
		format_decode(format, expected, &back);
		expect(field_equal(field, &object, &back), format, hand->name, "other value");
	}
}

/* How well a field is judged: by libibmad as a whole, or by hand (an array at both its ends). */
static int is_judged(const struct format *format, const struct field *field)
{
	size_t bits = 0;
	int first = 0, last = 0;

	for (size_t i = 0; i < ARRAY_SIZE(judges); i++) {
		if (judges[i].format == format && !strcmp(judges[i].name, field->name))
			bits += judges[i].width ? judges[i].width : field->width;
	}
	for (size_t i = 0; i < ARRAY_SIZE(hands); i++) {
		if (hand_format(&hands[i]) == format && !strcmp(hands[i].name, field->name)) {
			first |= hands[i].element == 0;
			last |= (size_t)hands[i].element + 1 == elements_of(field);
		}
	}
	return bits == field->width || (first && last);
}

static void test_every_field_is_judged(void)
{
	formats_collect();
	CU_ASSERT(formats_count >= 22);
	for (size_t i = 0; i < formats_count; i++) {
		for (size_t k = 0; k < formats[i]->count; k++) {
			const struct field *field = &formats[i]->fields[k];

			if (field->kind != FIELD_RESERVED)
				expect(is_judged(formats[i], field), formats[i], field->name,
				       "no test: add a row to judges or hands");
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(judges); i++)
		expect(field_named(judges[i].format, judges[i].name) != NULL, judges[i].format,
		       judges[i].name, "no such field");
}

/* Marks count places from first in a map; false when one was taken or is not below limit. */
static int claim(uint8_t *map, size_t first, size_t count, size_t limit)
{
	int free_places = first + count <= limit;

	for (size_t i = first; i < first + count && i < limit; i++) {
		free_places &= !map[i];
		map[i] = 1;
	}
	return free_places;
}

static void test_fields_lie_apart_and_inside(void)
{
	formats_collect();
	for (size_t i = 0; i < formats_count; i++) {
		const struct format *format = formats[i];
		uint8_t wire[BITS_MAX] = {0}, object[sizeof(union object)] = {0};

		CU_ASSERT_FATAL(format->wire_size <= WIRE_MAX);
		CU_ASSERT_FATAL(format->struct_size <= sizeof(union object));
		for (size_t k = 0; k < format->count; k++) {
			const struct field *field = &format->fields[k];
			size_t size = elements_of(field) * field->size;

			expect(claim(wire, field->bit, field->width, 8 * format->wire_size), format,
			       field->name, "overlaps another on the wire, or lies outside");
			expect(claim(object, field->offset, size, format->struct_size), format,
			       field->name, "overlaps another in the struct, or lies outside");
			expect(field_named(format, field->name) == field, format, field->name,
			       "is there twice");
		}
	}
}

static void row_bits(const struct format *format, uint8_t mask[WIRE_MAX])
{
	memset(mask, 0, WIRE_MAX);
	for (size_t i = 0; i < format->count; i++) {
		const struct field *field = &format->fields[i];

		for (size_t bit = field->bit; bit < (size_t)field->bit + field->width; bit++)
			mask[bit / 8] |= 0x80 >> bit % 8;
	}
}

/* encode(decode(x)) is x for bits with rows, and leaves the other bits alone. */
static void test_round_trip(void)
{
	formats_collect();
	for (size_t i = 0; i < formats_count; i++) {
		uint8_t mask[WIRE_MAX];
		int same = 1;

		row_bits(formats[i], mask);
		for (int round = 0; round < ROUNDS; round++) {
			uint8_t wire[WIRE_MAX], before[WIRE_MAX], after[WIRE_MAX];
			union object object = {0};

			random_fill(wire, sizeof(wire));
			random_fill(before, sizeof(before));
			memcpy(after, before, sizeof(after));
			format_decode(formats[i], wire, &object);
			format_encode(formats[i], &object, after);
			for (size_t k = 0; k < WIRE_MAX; k++)
				same &= after[k] == ((wire[k] & mask[k]) | (before[k] & ~mask[k]));
		}
		expect(same, formats[i], "", "other bits after a round trip");
	}
}

static void test_known_dumps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(dumps); i++) {
		const struct format *format = attr_format(dumps[i].attr_id);
		uint8_t wire[WIRE_MAX] = {0}, again[WIRE_MAX] = {0};
		union object object = {0};

		CU_ASSERT_PTR_NOT_NULL_FATAL(format);
		hex_read(dumps[i].hex, wire);
		format_decode(format, wire, &object);
		for (size_t k = 0; k < 16 && dumps[i].fields[k].name; k++) {
			const struct field *field = field_named(format, dumps[i].fields[k].name);

			CU_ASSERT_PTR_NOT_NULL_FATAL(field);
			expect(element_get(field, &object, 0) == dumps[i].fields[k].value, format,
			       field->name, "another value in a known dump");
		}
		format_encode(format, &object, again);
		expect(!memcmp(wire, again, sizeof(wire)), format, "", "another dump");
	}
}

static void test_formats_by_attribute(void)
{
	CU_ASSERT_PTR_EQUAL(attr_format(ATTR_PORT_INFO), &port_info_format);
	CU_ASSERT_PTR_EQUAL(attr_format(ATTR_NOTICE), &notice_format);
	CU_ASSERT_PTR_EQUAL(attr_format(ATTR_MLNX_EXT_PORT_INFO), &ext_port_info_format);
	CU_ASSERT_PTR_NULL(attr_format(ATTR_RANDOM_FORWARDING_TABLE));
	CU_ASSERT_PTR_NULL(attr_format(0));
	CU_ASSERT_EQUAL(notice_format.wire_size, SMP_DATA_SIZE);
	CU_ASSERT_EQUAL(notice_report_format.count, notice_format.count + 1);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"every field is judged", test_every_field_is_judged},
		{"fields lie apart and inside", test_fields_lie_apart_and_inside},
		{"reads as libibmad does", test_reads_as_libibmad},
		{"writes what libibmad reads", test_writes_what_libibmad_reads},
		{"reads what libibmad writes", test_reads_what_libibmad_writes},
		{"bytes written by hand", test_bytes_by_hand},
		{"round trip", test_round_trip},
		{"known dumps", test_known_dumps},
		{"formats by attribute", test_formats_by_attribute},
		CU_TEST_INFO_NULL,
	};

	return unit_main("attr", tests);
}
