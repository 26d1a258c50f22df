/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* P_Key tables: what stays where it is, what goes where, and what finds no room. */
// LINK: fabric/pkeys.o lib/mem.o
#include "fabric/pkeys.h"

#include <string.h>

#include "tests/unit/unit.h"

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
	{"what leaves makes a hole",
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
	{"indx0: the full one of both",
	 4,
	 0x0002,
	 {0xFFFF, 0x0002},
	 {0xFFFF, 0x0002, 0x8002},
	 {0x8002, 0x0002, 0xFFFF},
	 {0}},
	{"what was indx0 has gone, the default key comes back",
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

/* What was made once stays: the second time nothing differs. */
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
	bool hold, exceed;
} steps[] = {
	{{0xFFFF, 0x8001}, {0x8001, 0xFFFF}, {0x8001, 0xFFFF}, true, false},
	{{0xFFFF}, {0x8001, 0xFFFF}, {0xFFFF}, false, false}, /* more */
	{{0xFFFF, 0x8001}, {0xFFFF}, {0xFFFF}, false, true},  /* less */
	{{0xFFFF, 0x8001}, {0xFFFF, 0x8002}, {0xFFFF}, false, true},
	{{0x7FFF}, {0xFFFF}, {0x7FFF}, false, false}, /* wider */
	{{0xFFFF}, {0x7FFF}, {0x7FFF}, false, true},  /* narrower */
	{{0x0001}, {0x0001, 0x8001}, {0x0001}, false, false},
	{{0x8001}, {0x0001, 0x8001}, {0x8001}, false, false},
	{{0x0001, 0x8001}, {0x8001}, {0x8001}, false, false},
	{{0}, {0}, {0}, true, false},
};

static void test_steps(void)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		unsigned count = count_of(steps[i].want);
		pkey_t kept[SLOTS] = {0};

		CU_ASSERT_EQUAL(pkeys_hold(steps[i].table, SLOTS, steps[i].want, count),
				steps[i].hold);
		CU_ASSERT_EQUAL(pkeys_exceed(steps[i].table, SLOTS, steps[i].want, count),
				steps[i].exceed);
		CU_ASSERT_EQUAL(pkeys_narrow(steps[i].table, SLOTS, steps[i].want, count, kept),
				count_of(steps[i].kept));
		CU_ASSERT_EQUAL(memcmp(kept, steps[i].kept, sizeof(kept)), 0);
		if (memcmp(kept, steps[i].kept, sizeof(kept)) != 0)
			printf("    step %zu\n", i);
	}
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
	pkeys_text(keys, UINT16_MAX, text); /* only the first ones are looked at */
	CU_ASSERT_STRING_EQUAL(text + strlen(text) - 31, "0x800e, 0x000f and 65519 others");
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"fit", test_fit},
		{"again", test_again},
		{"narrow, exceed, hold", test_steps},
		{"blocks", test_blocks},
		{"text", test_text},
		CU_TEST_INFO_NULL,
	};

	return unit_main("pkeys", tests);
}
