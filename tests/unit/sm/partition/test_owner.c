/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The owners of members: names, records, and the owner without a record. sm/partition/owner.c. */
#include "sm/partition/owner.h"

#include <string.h>

#include "tests/unit/fixtures/unit.h"

static void test_names(void)
{
	static const struct {
		const char *text;
		bool valid;
	} rows[] = {
		{"admin", true},
		{"site", true},
		{"gateway:gw1", true},
		{"gateway:a.b-c_D9", true},
		{"gateway:", false},
		{"gateway:a b", false},
		{"gateway:a/b", false},
		{"gateway:\xC3\xA4", false},
		{"file", false},
		{"Admin", false},
		{"admin ", false},
		{"sites", false},
		{"", false},
	};
	char longest[PARTITION_OWNER_SIZE + 1];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(partition_owner_is_valid(rows[i].text), rows[i].valid);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "gateway:", strlen("gateway:"));
	longest[PARTITION_OWNER_SIZE - 1] = '\0';
	CU_ASSERT_TRUE(partition_owner_is_valid(longest));
	longest[PARTITION_OWNER_SIZE - 1] = 'x';
	longest[PARTITION_OWNER_SIZE] = '\0';
	CU_ASSERT_FALSE(partition_owner_is_valid(longest));
}

/* Owners of a partition and of its members are separate. "admin" has no record. */
static void test_records(void)
{
	struct registry *registry = registry_new();

	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 5, 0), "admin");
	partition_owner_put(registry, 5, 0, "site");
	partition_owner_put(registry, 5, 0x77, "gateway:gw1");
	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 5, 0), "site");
	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 5, 0x77), "gateway:gw1");
	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 5, 0x78), "admin");
	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 6, 0x77), "admin");
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_PARTITION_OWNER), 2);
	partition_owner_put(registry, 5, 0x77, "site");
	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 5, 0x77), "site");
	partition_owner_put(registry, 5, 0x77, "admin");
	partition_owner_put(registry, 5, 0, NULL);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_PARTITION_OWNER), 0);
	CU_ASSERT_STRING_EQUAL(partition_owner(registry, 5, 0x77), "admin");
	registry_free(registry);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"names", test_names}, {"records", test_records}, CU_TEST_INFO_NULL};

	return unit_main("owners of members", tests);
}
