/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs and GIDs as text: GUIDs with all digits, GIDs in the short form; and invalid GUIDs. */
#include "lib/guid.h"

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static void test_guids(void)
{
	char text[GUID_TEXT];

	CU_ASSERT_STRING_EQUAL(guid_text(0x2c90300000001, text), "0x0002c90300000001");
	CU_ASSERT_STRING_EQUAL(guid_text(UINT64_MAX, text), "0xffffffffffffffff");
	CU_ASSERT_STRING_EQUAL(guid_text(0, text), "0x0000000000000000");
}

static const struct {
	const char *text;
	guid_t guid; /* 0: it is none */
	size_t used;
} parsed[] = {
	{"0x2c90300000001", 0x2c90300000001, 15},
	{"0X2C", 0x2C, 4},
	{"0xffffffffffffffff", UINT64_MAX, 18},
	{"0x00000000000000000001", 1, 22},
	{"0x10000000000000000", 0, 0},
	{"0x0", 0, 0},
	{"0x", 0, 0},
	{"0x-1", 0, 0},
	{"0x 1", 0, 0},
	{" 0x1", 0, 0},
	{"-0x1", 0, 0},
	{"2c9", 0, 0},
	{"", 0, 0},
	{"0x5 ", 5, 3},
	{"0x5-0x6", 5, 3},
	{"0x5g", 5, 3},
};

static void test_parse(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(parsed); i++) {
		guid_t guid = 77, whole = 77;
		const char *text = parsed[i].text, *end = guid_scan(text, &guid);
		bool is_whole = parsed[i].guid && !text[parsed[i].used];

		CU_ASSERT_PTR_EQUAL(end, parsed[i].guid ? text + parsed[i].used : NULL);
		CU_ASSERT_EQUAL(guid, parsed[i].guid ? parsed[i].guid : 77);
		CU_ASSERT_EQUAL(guid_parse(text, &whole), is_whole);
		CU_ASSERT_EQUAL(whole, is_whole ? parsed[i].guid : 77);
	}
	CU_ASSERT_FALSE(guid_parse(NULL, &(guid_t){0}));
}

static void test_gids(void)
{
	uint8_t gid[GID_SIZE] = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [15] = 1};
	char text[GID_TEXT];

	CU_ASSERT_STRING_EQUAL(gid_text(gid, text), "ff12:401b:ffff::1");
	memset(gid, 0xAB, sizeof(gid));
	CU_ASSERT_STRING_EQUAL(gid_text(gid, text), "abab:abab:abab:abab:abab:abab:abab:abab");
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"GUIDs", test_guids},
		{"GUIDs that are read", test_parse},
		{"GIDs", test_gids},
		CU_TEST_INFO_NULL,
	};

	return unit_main("guid", tests);
}
