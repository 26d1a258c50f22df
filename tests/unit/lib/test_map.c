/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The hash map against a plain array that holds the same, under many puts and removes. */
#include "lib/map.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static void test_empty(void)
{
	struct map map;
	size_t position = 0;

	map_init(&map);
	CU_ASSERT_PTR_NULL(map_get(&map, 0));
	CU_ASSERT_PTR_NULL(map_remove(&map, 1));
	CU_ASSERT_PTR_NULL(map_next(&map, &position));
	map_done(&map);
}

static void test_one(void)
{
	static const uint64_t keys[] = {0, 1, UINT64_MAX, 0x0002C90300000001};
	struct map map;
	int a, b;

	map_init(&map);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		CU_ASSERT_PTR_NULL(map_put(&map, keys[i], &a));
		CU_ASSERT_PTR_EQUAL(map_put(&map, keys[i], &b), &a);
		CU_ASSERT_PTR_EQUAL(map_get(&map, keys[i]), &b);
		CU_ASSERT_EQUAL(map.count, 1);
		CU_ASSERT_PTR_EQUAL(map_remove(&map, keys[i]), &b);
		CU_ASSERT_PTR_NULL(map_get(&map, keys[i]));
		CU_ASSERT_EQUAL(map.count, 0);
	}
	map_done(&map);
}

/* Typical keys of a fabric: LIDs, GUIDs of one vendor, and keys with equal low bits. */
static uint64_t key_of(int pattern, uint64_t i)
{
	static const uint64_t steps[] = {1, 0x10, UINT64_C(1) << 32, UINT64_C(1) << 48};

	return UINT64_C(0x0002C90300000000) + i * steps[pattern];
}

enum { KEYS = 500, STEPS = 20000, PATTERNS = 4 };

static void check_walk(const struct map *map, const int *present)
{
	size_t position = 0, walked = 0, expected = 0;
	const int *value;

	while ((value = map_next(map, &position))) {
		CU_ASSERT(*value);
		walked++;
	}
	for (size_t i = 0; i < KEYS; i++)
		expected += (size_t)present[i];
	CU_ASSERT_EQUAL(walked, expected);
	CU_ASSERT_EQUAL(map->count, expected);
}

static void test_against_array(void)
{
	uint32_t random = 1;

	for (int pattern = 0; pattern < PATTERNS; pattern++) {
		int present[KEYS] = {0};
		struct map map;
		int wrong = 0;

		map_init(&map);
		for (int step = 0; step < STEPS; step++) {
			random = random * 1664525 + 1013904223;
			size_t i = (random >> 8) % KEYS;
			uint64_t key = key_of(pattern, i);
			void *before = present[i] ? &present[i] : NULL;

			wrong += map_get(&map, key) != before;
			if (random >> 31)
				wrong += map_put(&map, key, &present[i]) != before;
			else
				wrong += map_remove(&map, key) != before;
			present[i] = random >> 31;
		}
		CU_ASSERT_EQUAL(wrong, 0);
		check_walk(&map, present);
		map_done(&map);
	}
}

/* Keys that differ in every byte, and those of a fabric; put in another order than that of keys. */
static void test_sorted(void)
{
	static const uint64_t strides[] = {1, 0x10, 0x0123456789ABCDEF, UINT64_C(1) << 56};
	void *values[200];

	for (size_t s = 0; s < ARRAY_SIZE(strides); s++) {
		uint64_t keys[200], before = 0;
		struct map map;

		map_init(&map);
		map_sorted(&map, values); /* nothing */
		for (uint64_t i = 0; i < 200; i++) {
			keys[i] = UINT64_C(0x0002C90300000000) + i * 7 % 200 * strides[s];
			map_put(&map, keys[i], &keys[i]);
		}
		map_sorted(&map, values);
		for (size_t i = 0; i < map.count; i++) {
			uint64_t key = *(uint64_t *)values[i];

			CU_ASSERT(!i || key > before);
			before = key;
		}
		map_done(&map);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"empty", test_empty},
		{"one key", test_one},
		{"against an array", test_against_array},
		{"sorted", test_sorted},
		CU_TEST_INFO_NULL,
	};

	return unit_main("map", tests);
}
