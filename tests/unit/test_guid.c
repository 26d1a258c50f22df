/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs and GIDs as text: all digits of the one, the short form of the other. */
// LINK: lib/guid.o
#include "lib/guid.h"

#include "tests/unit/unit.h"

static void test_guids(void)
{
	char text[GUID_TEXT];

	CU_ASSERT_STRING_EQUAL(guid_text(0x2c90300000001, text), "0x0002c90300000001");
	CU_ASSERT_STRING_EQUAL(guid_text(UINT64_MAX, text), "0xffffffffffffffff");
	CU_ASSERT_STRING_EQUAL(guid_text(0, text), "0x0000000000000000");
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
		{"GIDs", test_gids},
		CU_TEST_INFO_NULL,
	};

	return unit_main("guid", tests);
}
