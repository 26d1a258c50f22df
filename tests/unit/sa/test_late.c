/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records of a store that is opened late: in particular MLIDs, which must stay unique. */
// WITH: tests/sim/loop_virtual.o
#include "sa/late.h"

#include "sa/alias.h"
#include "sa/counts.h"
#include "sa/groups.h"
#include "sa/lease.h"
#include "sa/sa.h"
#include "store/alias.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/unit.h"

static struct {
	struct loop *loop;
	struct registry *registry;
	struct counts *counts;
	struct groups *groups;
	struct services *services;
	struct event_hub events;
	struct view *view;
	struct sa_stats stats;
	struct aliases aliases;
} bed;

static void begin(void)
{
	const struct sa_options options = {.ipv6_snm_mlids = 16};

	bed.loop = loop_new();
	bed.registry = registry_new();
	bed.counts = counts_new(bed.registry, options.ipv6_snm_mlids);
	bed.groups = groups_new(bed.loop, bed.registry, bed.counts, &options);
	bed.services = services_new(bed.loop, bed.registry);
	event_hub_init(&bed.events);
	aliases_begin(&bed.aliases, bed.loop, bed.registry, &bed.events, &bed.view, &bed.stats);
}

static bool fits(enum registry_kind kind, void *record, bool known)
{
	const struct late late = {bed.registry, bed.groups, bed.services, &bed.aliases};

	return late_fits(&late, kind, record, known);
}

static void end(void)
{
	aliases_end(&bed.aliases);
	services_free(bed.services);
	groups_free(bed.groups);
	counts_free(bed.counts);
	registry_free(bed.registry);
	loop_free(bed.loop);
}

static struct group_entry group(uint8_t number, lid_t mlid)
{
	return (struct group_entry){.mgid = {0xFF, 0x12, [15] = number}, .mlid = mlid};
}

/* IPv6's solicited-node group of an address that ends so, in the default partition. */
static struct group_entry solicited(uint8_t end_of_address, lid_t mlid)
{
	return (struct group_entry){.mgid = {0xFF, 0x12, 0x60, 0x1B, 0xFF,
					     0xFF, [11] = 1, [12] = 0xFF, [15] = end_of_address},
				    .mlid = mlid};
}

/* As the store does it. */
static lid_t comes_late(struct group_entry late)
{
	if (!fits(REGISTRY_GROUP, &late, false))
		return LID_NONE;
	registry_put(bed.registry, REGISTRY_GROUP, &late);
	return late.mlid;
}

static void test_mlids(void)
{
	struct group_entry now = group(1, 0xC000);

	begin();
	registry_put(bed.registry, REGISTRY_GROUP, &now);
	CU_ASSERT_EQUAL(comes_late(group(2, 0xC005)), 0xC005); /* MLID is free */
	CU_ASSERT_EQUAL(comes_late(group(3, 0xC000)), 0xC001);
	CU_ASSERT_EQUAL(comes_late(group(4, 0xC001)), 0xC002);
	/* Groups that share an MLID keep it, and no group joins that may not share it. */
	CU_ASSERT_EQUAL(comes_late(solicited(1, 0xC010)), 0xC010);
	CU_ASSERT_EQUAL(comes_late(solicited(17, 0xC010)), 0xC010);
	CU_ASSERT_EQUAL(comes_late(group(5, 0xC010)), 0xC003);
	end();
}

/* There are no more MLIDs: such a group is left out, and its members with it. */
static void test_none_left(void)
{
	struct member_entry member = {.mgid = {0xFF, 0x12, [15] = 99}, .port_guid = 1};

	begin();
	for (unsigned mlid = LID_MULTICAST_MIN; mlid <= LID_MULTICAST_MAX; mlid++) {
		struct group_entry now = {.mgid = {0xFF, 0x11, (uint8_t)mlid, (uint8_t)(mlid >> 8)},
					  .mlid = (lid_t)mlid};

		registry_put(bed.registry, REGISTRY_GROUP, &now);
	}
	CU_ASSERT_EQUAL(comes_late(group(99, 0xC000)), LID_NONE);
	CU_ASSERT_FALSE(fits(REGISTRY_MEMBER, &member, false));
	member = (struct member_entry){.mgid = {0xFF, 0x11, 0, 0xC0}, .port_guid = 1};
	CU_ASSERT_TRUE(fits(REGISTRY_MEMBER, &member, false));
	end();
}

/* A lease keeps the remaining time by the clock of its store, independent of the clock of this
 * host. A lease that has ended has no time left. */
static void test_leases(void)
{
	struct setting_entry clock = {.name = "lease clock", .value = "1000"};
	struct service_entry service = {.service_id = 1, .gid_guid = 1, .expires_s = 1010},
			     over = {.service_id = 2, .gid_guid = 1, .expires_s = 990},
			     endless = {.service_id = 3, .gid_guid = 1};

	begin();
	CU_ASSERT_TRUE(fits(REGISTRY_SETTING, &clock, true));
	CU_ASSERT_TRUE(fits(REGISTRY_SERVICE, &service, false));
	CU_ASSERT_EQUAL(services_lease(bed.services, &service), 9);
	fits(REGISTRY_SERVICE, &over, false);
	CU_ASSERT_EQUAL(services_lease(bed.services, &over), 0);
	fits(REGISTRY_SERVICE, &endless, false);
	CU_ASSERT_EQUAL(endless.expires_s, 0);
	end();
}

static void test_others(void)
{
	const struct alias_entry now = {.port_guid = 1, .index = 1, .guid = 0xA1};
	struct alias_entry same = {.port_guid = 2, .index = 7, .guid = 0xA1},
			   other = {.port_guid = 2, .index = 1, .guid = 0xA2};
	struct lid_entry lid = {.guid = 5, .lid = 5};

	begin();
	registry_put(bed.registry, REGISTRY_ALIAS, &now);
	CU_ASSERT_FALSE(fits(REGISTRY_ALIAS, &same, false));
	CU_ASSERT_TRUE(fits(REGISTRY_ALIAS, &other, false));
	CU_ASSERT_TRUE(fits(REGISTRY_LID, &lid, false));
	/* The GUID of a port that is remembered is an alias only where it was granted. */
	registry_put(bed.registry, REGISTRY_LID, &lid);
	other.guid = lid.guid;
	CU_ASSERT_FALSE(fits(REGISTRY_ALIAS, &other, false));
	other.granted = ALIAS_BY_ADMINISTRATOR;
	CU_ASSERT_TRUE(fits(REGISTRY_ALIAS, &other, false));
	end();
}

/* As the store does it: a record of the port at index 1, where the registry may have another. */
static bool alias_comes_late(struct alias_entry late)
{
	bool known = registry_find(bed.registry, REGISTRY_ALIAS, &late);

	if (!fits(REGISTRY_ALIAS, &late, known))
		return false;
	if (!registry_find(bed.registry, REGISTRY_ALIAS, &late))
		registry_put(bed.registry, REGISTRY_ALIAS, &late);
	return true;
}

/* A grant in a store that opens late, against registrations made without it. */
static void test_grants(void)
{
	enum { LATE_PORT = 1, OTHER_PORT = 2, GUID = 0xA1, OTHER_GUID = 0xA2 };
	static const struct {
		const char *what;
		enum alias_grant late;
		struct alias_entry there;
		bool wins, tells;
	} cases[] = {
		{"another port's", ALIAS_BY_ADMINISTRATOR, {OTHER_PORT, 1, GUID, 0}, true, false},
		{"another port's", ALIAS_BY_SA_KEY, {OTHER_PORT, 1, GUID, 0}, true, false},
		{"another port's", ALIAS_NOT_GRANTED, {OTHER_PORT, 1, GUID, 0}, false, false},
		{"another GUID",
		 ALIAS_BY_ADMINISTRATOR,
		 {LATE_PORT, 1, OTHER_GUID, 0},
		 true,
		 false},
		{"another index", ALIAS_BY_ADMINISTRATOR, {LATE_PORT, 2, GUID, 0}, true, false},
		{"the same", ALIAS_BY_ADMINISTRATOR, {LATE_PORT, 1, GUID, 0}, true, false},
		{"granted since",
		 ALIAS_BY_ADMINISTRATOR,
		 {OTHER_PORT, 1, GUID, ALIAS_BY_SA_KEY},
		 false,
		 true},
		{"another GUID, granted since",
		 ALIAS_BY_SA_KEY,
		 {LATE_PORT, 1, OTHER_GUID, ALIAS_BY_ADMINISTRATOR},
		 false,
		 true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct alias_entry late = {LATE_PORT, 1, GUID, cases[i].late};
		const struct alias_entry *now;
		const struct service_entry service = {.service_id = 1, .gid_guid = GUID};
		bool same = cases[i].there.port_guid == LATE_PORT && cases[i].there.guid == GUID;
		struct unit_capture capture;
		char log[1024];

		begin();
		registry_put(bed.registry, REGISTRY_ALIAS, &cases[i].there);
		registry_put(bed.registry, REGISTRY_SERVICE, &service);
		unit_capture_begin(&capture);
		CU_ASSERT_EQUAL(alias_comes_late(late), cases[i].wins);
		unit_capture_end(&capture, log, sizeof(log));
		now = registry_find(bed.registry, REGISTRY_ALIAS, &late);
		if ((now && now->guid == GUID && now->granted == cases[i].late) != cases[i].wins)
			CU_FAIL_FATAL(cases[i].what);
		CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_ALIAS), 1);
		CU_ASSERT_EQUAL(strstr(log, "0x00000000000000a1 of port 0x0000000000000001") !=
					NULL,
				cases[i].tells);
		CU_ASSERT_EQUAL(strstr(log, "granted by: ") != NULL, cases[i].tells);
		/* The services under the GUID are removed with its previous port. */
		CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_SERVICE),
				!cases[i].wins || same || cases[i].there.guid != GUID);
		end();
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"MLIDs", test_mlids},	 {"no MLID is left", test_none_left},
		{"leases", test_leases}, {"other kinds", test_others},
		{"grants", test_grants}, CU_TEST_INFO_NULL,
	};

	return unit_main("late", tests);
}
