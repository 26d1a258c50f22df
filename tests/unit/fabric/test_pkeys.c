/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* P_Key tables: keys that stay at their index, places for new keys, and keys without a place. */
#include "fabric/pkeys.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixtures/unit.h"

enum { SLOTS = 6 };

static const struct {
	const char *what;
	unsigned room;
	pkey_t index0;
	pkey_t have[SLOTS], want[SLOTS], then[SLOTS], left[SLOTS];
} cases[] = {
	{"nothing to do", 4, 0, {0xFFFF, 0x8001}, {0x8001, 0xFFFF}, {0xFFFF, 0x8001}, {0}},
	{"empty: the default key is first", 4, 0, {0}, {0x8001, 0x7FFF}, {0x7FFF, 0x8001}, {0}},
	{"no default key: the first free slot is the first", 4, 0, {0}, {0x8001}, {0x8001}, {0}},
	{"a new key fills the first hole",
	 5,
	 0,
	 {0xFFFF, 0, 0x8002, 0, 0x8003},
	 {0xFFFF, 0x8002, 0x8003, 0x8009},
	 {0xFFFF, 0x8009, 0x8002, 0, 0x8003},
	 {0}},
	{"a removed key leaves a hole",
	 4,
	 0,
	 {0xFFFF, 0x8001, 0x8002},
	 {0xFFFF, 0x8002},
	 {0xFFFF, 0, 0x8002},
	 {0}},
	{"one leaves, one comes in its place",
	 3,
	 0,
	 {0xFFFF, 0x8001, 0x8002},
	 {0xFFFF, 0x8002, 0x0003},
	 {0xFFFF, 0x0003, 0x8002},
	 {0}},
	{"another membership, the same place",
	 4,
	 0,
	 {0xFFFF, 0x0001, 0x8002},
	 {0x7FFF, 0x8001, 0x0002},
	 {0x7FFF, 0x8001, 0x0002},
	 {0}},
	{"both, where one was",
	 4,
	 0,
	 {0xFFFF, 0x0001},
	 {0xFFFF, 0x8001, 0x0001},
	 {0xFFFF, 0x0001, 0x8001},
	 {0}},
	{"one, where both were",
	 4,
	 0,
	 {0xFFFF, 0x0001, 0x8001},
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0, 0x8001},
	 {0}},
	{"a key that stands there twice",
	 4,
	 0,
	 {0xFFFF, 0x8001, 0x8001},
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8001},
	 {0}},
	{"full: nothing is pushed out",
	 3,
	 0,
	 {0xFFFF, 0x8001, 0x8002},
	 {0x8003, 0x8004, 0x8002, 0x8001, 0xFFFF},
	 {0xFFFF, 0x8001, 0x8002},
	 {0x8003, 0x8004}},
	{"index 0 does not move by itself",
	 3,
	 0,
	 {0x8001, 0xFFFF},
	 {0xFFFF, 0x8001},
	 {0x8001, 0xFFFF},
	 {0}},
	{"indx0: both change places",
	 3,
	 0x0002,
	 {0xFFFF, 0x8001, 0x8002},
	 {0xFFFF, 0x8001, 0x8002},
	 {0x8002, 0x8001, 0xFFFF},
	 {0}},
	{"indx0: a new key",
	 3,
	 0x0002,
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8001, 0x8002},
	 {0x8002, 0x8001, 0xFFFF},
	 {0}},
	{"indx0: full, and nothing is pushed out for it",
	 2,
	 0x0002,
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8001, 0x8002},
	 {0xFFFF, 0x8001},
	 {0x8002}},
	{"indx0: full, but for what leaves",
	 2,
	 0x0002,
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8002},
	 {0x8002, 0xFFFF},
	 {0}},
	{"indx0: full, and it is there",
	 2,
	 0x0002,
	 {0xFFFF, 0x8002},
	 {0xFFFF, 0x8002, 0x8003},
	 {0x8002, 0xFFFF},
	 {0x8003}},
	{"indx0 of a partition it is not in",
	 3,
	 0x0002,
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8001},
	 {0}},
	{"indx0: the full membership of both",
	 4,
	 0x0002,
	 {0xFFFF, 0x0002},
	 {0xFFFF, 0x0002, 0x8002},
	 {0x8002, 0x0002, 0xFFFF},
	 {0}},
	{"the indx0 key is removed, the default key returns",
	 3,
	 0,
	 {0x8002, 0x8001, 0xFFFF},
	 {0xFFFF, 0x8001},
	 {0xFFFF, 0x8001},
	 {0}},
	{"no table at all", 0, 0, {0}, {0xFFFF}, {0}, {0xFFFF}},
};

static unsigned count_of(const pkey_t *keys)
{
	unsigned count = 0;

	while (count < SLOTS && keys[count])
		count++;
	return count;
}

static void test_fit(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pkey_t table[SLOTS] = {0}, left[SLOTS] = {0};
		unsigned count = pkeys_fit(cases[i].have, cases[i].room, cases[i].want,
					   count_of(cases[i].want), cases[i].index0, table, left);
		bool good = count == count_of(cases[i].left) &&
			    !memcmp(table, cases[i].then, sizeof(table)) &&
			    !memcmp(left, cases[i].left, sizeof(left));

		CU_ASSERT_TRUE(good);
		if (!good)
			printf("    %s\n", cases[i].what);
	}
}

/* The result is stable: the second time nothing differs. */
static void test_again(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pkey_t table[SLOTS] = {0}, again[SLOTS] = {0}, left[SLOTS] = {0};
		unsigned count = count_of(cases[i].want);

		pkeys_fit(cases[i].have, cases[i].room, cases[i].want, count, cases[i].index0,
			  table, left);
		pkeys_fit(table, cases[i].room, cases[i].want, count, cases[i].index0, again, left);
		CU_ASSERT_EQUAL(memcmp(table, again, sizeof(table)), 0);
	}
}

static const struct {
	pkey_t table[SLOTS], want[SLOTS], kept[SLOTS];
	bool exceed;
} steps[] = {
	{{0xFFFF, 0x8001}, {0x8001, 0xFFFF}, {0x8001, 0xFFFF}, false},
	{{0xFFFF}, {0x8001, 0xFFFF}, {0xFFFF}, false}, /* more */
	{{0xFFFF, 0x8001}, {0xFFFF}, {0xFFFF}, true},  /* less */
	{{0xFFFF, 0x8001}, {0xFFFF, 0x8002}, {0xFFFF}, true},
	{{0x7FFF}, {0xFFFF}, {0x7FFF}, false}, /* wider */
	{{0xFFFF}, {0x7FFF}, {0x7FFF}, true},  /* narrower */
	{{0x0001}, {0x0001, 0x8001}, {0x0001}, false},
	{{0x8001}, {0x0001, 0x8001}, {0x8001}, false},
	{{0x0001, 0x8001}, {0x8001}, {0x8001}, false},
	{{0}, {0}, {0}, false},
};

static void test_steps(void)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		unsigned count = count_of(steps[i].want);
		pkey_t kept[SLOTS] = {0};

		CU_ASSERT_EQUAL(pkeys_exceed(steps[i].table, SLOTS, steps[i].want, count),
				steps[i].exceed);
		CU_ASSERT_EQUAL(pkeys_narrow(steps[i].table, SLOTS, steps[i].want, count, kept),
				count_of(steps[i].kept));
		CU_ASSERT_EQUAL(memcmp(kept, steps[i].kept, sizeof(kept)), 0);
		if (memcmp(kept, steps[i].kept, sizeof(kept)) != 0)
			printf("    step %zu\n", i);
	}
}

/* Random tables with few keys and many: properties of all results. */

enum { SLOTS_MAX = 64, WANTED = 40 };

static uint32_t chance(uint32_t below)
{
	static uint32_t state = 7;

	state = state * 1664525 + 1013904223;
	return (state >> 16) % below;
}

/* Keys of few partitions, so that tables often hold the wanted keys. Partition 0 is among them. */
static pkey_t any_key(unsigned partitions)
{
	pkey_t partition = (pkey_t)chance(partitions + 1);

	return (pkey_t)((partition == partitions ? PKEY_DEFAULT_LIMITED : partition) |
			(chance(2) ? PKEY_FULL_MEMBER : 0));
}

static unsigned times(const pkey_t *table, unsigned count, pkey_t p_key)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found += table[i] == p_key;
	return found;
}

static unsigned any_want(unsigned partitions, pkey_t *want)
{
	unsigned count = 0, tries = 1 + chance(WANTED);

	for (unsigned i = 0; i < tries; i++) {
		pkey_t key = any_key(partitions);

		if (pkey_partition(key) && !times(want, count, key))
			want[count++] = key;
	}
	return count;
}

static unsigned wrong_fit(const pkey_t *table, unsigned room, const pkey_t *want, unsigned count,
			  pkey_t index0, unsigned left)
{
	pkey_t again[SLOTS_MAX], other[WANTED];
	bool defaults =
		times(want, count, PKEY_DEFAULT_FULL) + times(want, count, PKEY_DEFAULT_LIMITED);
	bool first = times(want, count, index0) + times(want, count, index0 | PKEY_FULL_MEMBER);
	unsigned wrong = 0, held = 0;

	for (unsigned i = 0; i < room; i++) {
		held += table[i] != 0;
		wrong += table[i] && !times(want, count, table[i]);
	}
	for (unsigned i = 0; i < count; i++)
		wrong += times(table, room, want[i]) > 1;
	wrong += held + left != count || (left && held < room);
	if (!left && index0 && first)
		wrong += pkey_partition(table[0]) != index0;
	else if (!left && defaults)
		wrong += !pkey_partition(table[0]);
	wrong += pkeys_fit(table, room, want, count, index0, again, other) != left;
	wrong += memcmp(again, table, room * sizeof(*table)) != 0;
	return wrong;
}

static void test_by_chance(void)
{
	unsigned wrong = 0, as_they_should = 0;

	for (unsigned run = 0; run < 200000; run++) {
		pkey_t have[SLOTS_MAX] = {0}, want[WANTED], table[SLOTS_MAX], left[WANTED];
		unsigned partitions = 1 + chance(run % 2 ? 4 : 30), room = 1 + chance(SLOTS_MAX);
		unsigned count = any_want(partitions, want), filled = chance(room + 1), out;
		pkey_t index0 = chance(3) ? 0 : pkey_partition(any_key(partitions));
		bool exceeds = false;

		for (unsigned i = 0; i < filled; i++)
			have[chance(room)] = any_key(partitions);
		for (unsigned i = 0; i < room; i++)
			exceeds |= pkey_partition(have[i]) && !times(want, count, have[i]) &&
				   !times(want, count, have[i] | PKEY_FULL_MEMBER);
		wrong += pkeys_exceed(have, room, want, count) != exceeds;
		out = pkeys_fit(have, room, want, count, index0, table, left);
		wrong += wrong_fit(table, room, want, count, index0, out);
		as_they_should += !memcmp(have, table, room * sizeof(*have));
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_TRUE(as_they_should > 100);
}

static void test_blocks(void)
{
	pkey_t a[96] = {0xFFFF}, b[96] = {0xFFFF};

	CU_ASSERT_EQUAL(pkeys_differing_block(a, b, 96), -1);
	b[95] = 1;
	CU_ASSERT_EQUAL(pkeys_differing_block(a, b, 96), 2);
	CU_ASSERT_EQUAL(pkeys_differing_block(a, b, 64), -1);
	b[31] = 1;
	CU_ASSERT_EQUAL(pkeys_differing_block(a, b, 96), 0);
}

static void test_text(void)
{
	pkey_t keys[PKEYS_NAMED + 2];
	char text[PKEYS_TEXT];

	for (unsigned i = 0; i < PKEYS_NAMED + 2; i++)
		keys[i] = (pkey_t)(i % 2 ? i : PKEY_FULL_MEMBER | i);
	pkeys_text(keys, 0, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	pkeys_text(keys, 3, text);
	CU_ASSERT_STRING_EQUAL(text, "0x8000, 0x0001, 0x8002");
	pkeys_text(keys, PKEYS_NAMED, text);
	CU_ASSERT_STRING_EQUAL(text + strlen(text) - 14, "0x800e, 0x000f");
	pkeys_text(keys, PKEYS_NAMED + 1, text);
	CU_ASSERT_STRING_EQUAL(text + strlen(text) - 26, "0x800e, 0x000f and 1 other");
	pkeys_text(keys, UINT16_MAX, text); /* only the first keys are read */
	CU_ASSERT_STRING_EQUAL(text + strlen(text) - 31, "0x800e, 0x000f and 65519 others");
}

static void test_order(void)
{
	pkey_t keys[] = {0x0005, 0x8003, 0xFFFF, 0x0003, 0x7FFF, 0x8004};
	static const pkey_t ordered[] = {0xFFFF, 0x7FFF, 0x8003, 0x0003, 0x8004, 0x0005};

	qsort(keys, sizeof(keys) / sizeof(*keys), sizeof(*keys), pkeys_order);
	CU_ASSERT_EQUAL(memcmp(keys, ordered, sizeof(ordered)), 0);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"fit", test_fit},
		{"again", test_again},
		{"narrow, exceed, hold", test_steps},
		{"by chance", test_by_chance},
		{"blocks", test_blocks},
		{"text", test_text},
		{"order", test_order},
		CU_TEST_INFO_NULL,
	};

	return unit_main("pkeys", tests);
}
