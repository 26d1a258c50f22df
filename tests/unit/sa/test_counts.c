/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The SA's counts of the registry (sa/counts.h) compared with a count of all records, while random
 * records are added, changed and removed. Some MGIDs have equal hashes. The registry may have
 * records at the start.
 */
#include "sa/counts.h"

#include <string.h>

#include "lib/be.h"
#include "sa/record.h"
#include "tests/unit/fixtures/unit.h"

enum { PORTS = 5, GROUPS = 6, STEPS = 20000 };

static unsigned draw(unsigned below)
{
	static uint64_t state = 0x5EED;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % below;
}

/* The first three have one hash, and so have the others. */
static void mgid_of(unsigned group, uint8_t mgid[GID_SIZE])
{
	uint64_t high = UINT64_C(0xFF12000000000000) + group;

	be64_store(mgid, high);
	be64_store(mgid + 8, high * UINT64_C(0x9E3779B97F4A7C15) ^ (group / 3 + 1));
}

static void change_one(struct registry *registry)
{
	struct member_entry member = {.port_guid = 1 + draw(PORTS),
				      .owner = 1 + draw(PORTS),
				      .join_state = (uint8_t)(1 + draw(15))};
	const struct service_entry service = {
		.service_id = draw(4), .gid_guid = 1 + draw(PORTS), .owner = 1 + draw(PORTS)};
	const struct subscription_entry subscription = {.subscriber = 1 + draw(PORTS),
							.number = (uint16_t)draw(4)};
	const struct alias_entry alias = {
		.port_guid = 1 + draw(PORTS), .index = (uint16_t)draw(4), .guid = draw(100)};
	struct group_entry group = {.mlid = LID_MULTICAST_MIN, .owner = draw(PORTS + 1)};
	const struct {
		enum registry_kind kind;
		const void *record;
	} drawn[] = {{REGISTRY_MEMBER, &member},
		     {REGISTRY_SERVICE, &service},
		     {REGISTRY_SUBSCRIPTION, &subscription},
		     {REGISTRY_ALIAS, &alias},
		     {REGISTRY_GROUP, &group}};
	unsigned which = draw(ARRAY_SIZE(drawn));

	mgid_of(draw(GROUPS), member.mgid);
	mgid_of(draw(GROUPS), group.mgid);
	if (draw(2))
		registry_put(registry, drawn[which].kind, drawn[which].record);
	else
		registry_drop(registry, drawn[which].kind, drawn[which].record);
}

/* So many records of a kind have these bytes there. */
static uint32_t having(const struct registry *registry, enum registry_kind kind, size_t offset,
		       const void *bytes, size_t size)
{
	uint32_t found = 0;

	for (const void *at = registry_first(registry, kind, -1, NULL); at;
	     at = registry_next(registry, kind, -1, at))
		found += memcmp((const uint8_t *)at + offset, bytes, size) == 0;
	return found;
}

#define HAVING(kind, type, member, bytes)                              \
	having(registry, kind, offsetof(struct type, member), (bytes), \
	       sizeof(((struct type *)0)->member))

static uint32_t registrations(const struct registry *registry, guid_t guid)
{
	return HAVING(REGISTRY_MEMBER, member_entry, owner, &guid) +
	       HAVING(REGISTRY_SERVICE, service_entry, owner, &guid) +
	       HAVING(REGISTRY_SUBSCRIPTION, subscription_entry, subscriber, &guid) +
	       HAVING(REGISTRY_ALIAS, alias_entry, port_guid, &guid);
}

static uint32_t full_members(const struct registry *registry, const uint8_t mgid[GID_SIZE])
{
	const struct member_entry *at = registry_first(registry, REGISTRY_MEMBER, -1, NULL);
	uint32_t found = 0;

	for (; at; at = registry_next(registry, REGISTRY_MEMBER, -1, at))
		found += memcmp(at->mgid, mgid, GID_SIZE) == 0 && at->join_state & JOIN_KEEPS_GROUP;
	return found;
}

static bool agree(const struct counts *counts, const struct registry *registry)
{
	bool as_seen = true;
	uint8_t mgid[GID_SIZE];

	for (guid_t guid = 1; guid <= PORTS; guid++) {
		uint32_t made = HAVING(REGISTRY_GROUP, group_entry, owner, &guid);

		as_seen &= counts_of(counts, COUNT_REGISTRATIONS, &guid) ==
			   registrations(registry, guid);
		as_seen &= counts_of(counts, COUNT_GROUPS_MADE, &guid) == made;
	}
	for (unsigned group = 0; group < GROUPS; group++) {
		uint32_t all, full;

		mgid_of(group, mgid);
		all = HAVING(REGISTRY_MEMBER, member_entry, mgid, mgid);
		full = full_members(registry, mgid);
		as_seen &= counts_of(counts, COUNT_MEMBERS, mgid) == all;
		as_seen &= counts_of(counts, COUNT_FULL_MEMBERS, mgid) == full;
	}
	return as_seen;
}

static void test_by_random(void)
{
	struct registry *registry = registry_new();
	struct counts *counts = counts_new(registry, 0), *late;

	for (unsigned step = 0; step < STEPS; step++) {
		change_one(registry);
		if (!agree(counts, registry))
			CU_FAIL_FATAL("a count is wrong");
	}
	CU_ASSERT_TRUE(registry_count(registry, REGISTRY_MEMBER) > GROUPS);
	late = counts_new(registry, 0);
	CU_ASSERT_TRUE(agree(late, registry));
	counts_free(late);
	counts_free(counts);
	registry_free(registry);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"by random", test_by_random},
		CU_TEST_INFO_NULL,
	};

	return unit_main("counts", tests);
}
