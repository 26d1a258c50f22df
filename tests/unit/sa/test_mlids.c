/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MLIDs of groups (sa/mlids.h), from the wire to the wire on the fabric of two_switches.h. A group
 * gets the requested MLID, the lowest free MLID, a shared MLID, or none if all are used. MLIDs are
 * freed. At the end, random operations are compared with a model.
 */
#include "include/message_id.h"
#include "lib/log.h"
#include "sa/counts.h"
#include "sa/mlids.h"
#include "tests/unit/fixtures/member_client.h"

static void test_mlids(void)
{
	struct mc_member_record record = usual(A, 1);

	begin();
	record.mlid = 0xC123;
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC123);
	record = usual(A, 2);
	record.mlid = 0xC123; /* taken: any other */
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC001);
	record = usual(A, 3);
	record.mlid = 0x0005; /* none */
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC002);
	record = usual(A, 4);
	record.mlid = 0xFFFF; /* permissive, not multicast */
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC003);
	end();
}

/* The broadcast group of another IPoIB network, so that the network may have others. */
static void add_network(uint8_t scope, pkey_t p_key)
{
	struct group_entry group = default_group;

	group.mgid[1] = (uint8_t)(0x10 | scope);
	be16_store(group.mgid + 4, p_key);
	group.p_key = p_key;
	group.mlid = 0xC100;
	registry_put(sa.registry, REGISTRY_GROUP, &group);
}

/* Ports share the MLIDs of solicited-node groups, within a partition and scope. */
static void test_solicited_node(void)
{
	static const struct {
		uint64_t high, low;
		bool shares;
	} cases[] = {
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000001), false}, /* the first */
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000401), true},  /* + 1024 */
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FFFFFC01), true},
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000002), false},
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FE000001), false},
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x000000001), false},
		{UINT64_C(0xFF12401BFFFF0000), UINT64_C(0x1FF000001), false},
		{UINT64_C(0xFF12601B80010000), UINT64_C(0x1FF000001), false}, /* partition 1 */
		{UINT64_C(0xFF15601BFFFF0000), UINT64_C(0x1FF000001), false}, /* site-local */
	};
	struct sa_options unshared = options;
	lid_t mlids[ARRAY_SIZE(cases)];

	unshared.ipv6_snm_mlids = 0;
	for (unsigned off = 0; off < 2; off++) {
		begin();
		sa_set_options(sa.server, off ? &unshared : &options);
		add_network(2, 0x8001);
		add_network(5, 0xFFFF);
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			bool in_1 = (cases[i].high >> 16 & 0xFFFF) == 0x8001;
			unsigned host = in_1 ? B : A; /* A is not in partition 1 */
			struct mc_member_record record = usual(host, 1);

			set_gid(record.mgid, cases[i].high, cases[i].low);
			record.p_key = in_1 ? 0x8001 : 0xFFFF;
			CU_ASSERT_EQUAL(set(host, CREATE, &record), STATUS_OK);
			mlids[i] = told.mlid;
			CU_ASSERT_EQUAL(told.mlid == mlids[0], i == 0 || (cases[i].shares && !off));
		}
		if (!off) { /* The MLID exists as long as one of its groups. */
			for (size_t i = 0; i < 2; i++) {
				struct mc_member_record record = usual(A, 1);

				set_gid(record.mgid, cases[i].high, cases[i].low);
				CU_ASSERT_EQUAL(leave(A, &record), STATUS_OK);
			}
			CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
			CU_ASSERT_NOT_EQUAL(told.mlid, mlids[0]);
		}
		end();
	}
}

/* The least MulticastFDBCap of the switches bounds the MLIDs, and so the groups. */
static void test_mlids_end(void)
{
	struct unit_capture capture;
	char log[1024];

	begin();
	view_publish(&sa.view, two_switches_view_with_mfts(4, 0));
	for (uint32_t i = 1; i <= 3; i++) {
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.mlid, 0xC000 + i);
	}
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), SA_NO_RESOURCES);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(join(C, 3, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(quit(A, 2, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC002);
	end();
}

static void count_no_mlid(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	unsigned *lines = ctx;

	(void)text;
	lines[level == LOG_WARNING] += !strcmp(subject->message_id, MESSAGE_NO_MLID);
}

/* A configured group that finds no MLID is logged, and made when an MLID is free. */
static void test_configured_waits(void)
{
	struct group_entry both[2] = {default_group, default_group};
	struct unit_capture capture;
	unsigned lines[2] = {0};
	char log[1024];

	begin();
	log_watch(count_no_mlid, lines);
	view_publish(&sa.view, two_switches_view_with_mfts(4, 0));
	for (uint32_t i = 1; i <= 3; i++)
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
	both[1].mgid[5] = 5;
	unit_capture_begin(&capture);
	sa_set_groups(sa.server, both, 2);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "no MLID is left for 1 multicast group"));
	CU_ASSERT_EQUAL(groups(), 4);
	CU_ASSERT_EQUAL(quit(A, 2, JOIN_FULL), STATUS_OK);
	unit_capture_begin(&capture);
	turn();
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "have an MLID again"));
	log_watch(NULL, NULL);
	CU_ASSERT_EQUAL(lines[true], 1);
	CU_ASSERT_EQUAL(lines[false], 1);
	CU_ASSERT_EQUAL(groups(), 4);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), SA_NO_RESOURCES);
	end();
}

/* MLIDs are freed in every way that a group can end or be refused. Only three MLIDs are available,
 * so a lost MLID shows soon. */
static void test_no_leak(void)
{
	enum { TIMES = 20000 };
	struct mc_member_record slow, foreign;

	begin();
	view_publish(&sa.view, two_switches_view_with_mfts(4, 0));
	for (uint32_t i = 1; i <= TIMES; i++) {
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.mlid, 0xC001);
		CU_ASSERT_EQUAL(join(C, i, i % 2 ? JOIN_NON_MEMBER : JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(join(D, i, JOIN_FULL), SA_REQ_INVALID); /* its MTU is 1024 */
		slow = usual(C, TIMES + i);				/* it runs at 40 Gb/s */
		slow.rate_selector = 2;
		slow.rate = RATE_100;
		CU_ASSERT_EQUAL(set(C, CREATE | RATE_BITS, &slow), SA_REQ_INVALID);
		foreign = usual(A, TIMES + i);
		foreign.p_key = 0x8001;
		CU_ASSERT_EQUAL(set(A, CREATE, &foreign), SA_REQ_INVALID);
		CU_ASSERT_EQUAL(join(A, TIMES + i, JOIN_NON_MEMBER), SA_REQ_INVALID);
		CU_ASSERT_EQUAL(groups(), 2);
		CU_ASSERT_EQUAL(quit(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_NOT_EQUAL(quit(A, i, JOIN_FULL), STATUS_OK);
		if (i % 2 == 0)
			CU_ASSERT_EQUAL(quit(C, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(groups(), 1);
		CU_ASSERT_EQUAL(members(), 0);
	}
	end();
}

/* A switch with a tiny multicast table limits no others. */
static void test_tiny_table(void)
{

	begin();
	view_publish(&sa.view, two_switches_view_with_mfts(4, 2048));
	for (uint32_t i = 1; i <= 8; i++) {
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.mlid, 0xC000 + i);
	}
	end();
}

/* MLIDs by a model: a plain list of groups, in which free MLIDs are counted and shared MLIDs are
 * searched each time. Here the class of a group follows from the numbers in its MGID, not from its
 * bits. */

enum {
	MODEL_GROUPS = 3000,
	MODEL_STEPS = 60000,
	MODEL_MLIDS = LID_MULTICAST_MAX - LID_MULTICAST_MIN + 1,
	POOL = 64,
	UNSHARED = -1,
};

static struct model_group {
	bool there;
	int class; /* UNSHARED, or of the groups that have an MLID together */
	struct group_entry entry;
} model[MODEL_GROUPS];
static unsigned in_use[MODEL_MLIDS]; /* groups that have it */
static struct {
	lid_t mlid;
	unsigned groups; /* of the class that have it */
} shared[1 << 16];

static unsigned draw(unsigned below)
{
	static uint64_t state = 0xDA3E39CB94B95BDB;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % below;
}

/* An MGID that no other group has: its last bytes have the number of the group. */
static void model_mgid(struct model_group *group, unsigned number)
{
	static const pkey_t partitions[] = {0xFFFF, 0x8001, 0x8002, 0x8003};
	static const uint8_t scopes[] = {2, 5, 8, 14};
	unsigned partition = draw(4), scope = draw(4);
	uint8_t *mgid = group->entry.mgid;

	memset(&group->entry, 0, sizeof(group->entry));
	group->class = UNSHARED;
	if (draw(3) == 0) {
		set_mgid(mgid, number);
		return;
	}
	group->class = (int)(number % POOL * 16 + partition * 4 + scope);
	set_gid(mgid,
		UINT64_C(0xFF10601B00000000) | (uint64_t)scopes[scope] << 48 |
			(uint64_t)partitions[partition] << 16,
		UINT64_C(0x1FF000000) | number);
}

static unsigned model_free(lid_t max)
{
	unsigned free = 0;

	for (unsigned i = 0; i + LID_MULTICAST_MIN <= max && i < MODEL_MLIDS; i++)
		free += !in_use[i];
	return free;
}

static lid_t model_choose(const struct model_group *group, lid_t wanted, lid_t max, unsigned keep)
{
	unsigned lowest = 0;

	if (wanted >= LID_MULTICAST_MIN && wanted <= max && !in_use[wanted - LID_MULTICAST_MIN])
		return model_free(max) > keep ? wanted : LID_NONE;
	if (group->class != UNSHARED && shared[group->class].groups &&
	    shared[group->class].mlid <= max)
		return shared[group->class].mlid;
	if (model_free(max) <= keep)
		return LID_NONE;
	while (in_use[lowest])
		lowest++;
	return (lid_t)(LID_MULTICAST_MIN + lowest);
}

static void model_begins(struct registry *registry, struct model_group *group, lid_t mlid)
{
	group->there = true;
	group->entry.mlid = mlid;
	in_use[mlid - LID_MULTICAST_MIN]++;
	registry_put(registry, REGISTRY_GROUP, &group->entry);
	if (group->class == UNSHARED)
		return;
	if (!shared[group->class].groups)
		shared[group->class].mlid = mlid;
	shared[group->class].groups += shared[group->class].mlid == mlid;
}

static void model_ends(struct registry *registry, struct model_group *group)
{
	lid_t mlid = group->entry.mlid;

	group->there = false;
	in_use[mlid - LID_MULTICAST_MIN]--;
	registry_drop(registry, REGISTRY_GROUP, &group->entry);
	if (group->class != UNSHARED)
		shared[group->class].groups -= shared[group->class].mlid == mlid;
}

/* Two groups share an MLID only if they are of the same class, independent of the order of choices.
 */
static void expect_no_strangers(void)
{
	static int class_of[MODEL_MLIDS];
	static bool seen[MODEL_MLIDS];

	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < MODEL_GROUPS; i++) {
		unsigned place = model[i].entry.mlid - LID_MULTICAST_MIN;

		if (!model[i].there)
			continue;
		if (seen[place])
			CU_ASSERT_TRUE(model[i].class != UNSHARED &&
				       class_of[place] == model[i].class);
		seen[place] = true;
		class_of[place] = model[i].class;
	}
}

/* Thousands of groups begin and end, of several partitions and scopes, while the capacity of the
 * smallest switch changes. */
static void test_by_model(void)
{
	static const lid_t tops[] = {0xC000, 0xC003, 0xC03F, 0xC040,
				     0xC0C8, 0xC3FE, 0xFFFE, 0xFFFF};
	struct registry *registry = registry_new();
	struct counts *counts = counts_new(registry, POOL);
	struct mlids *mlids = counts_mlids(counts);
	lid_t max = LID_MULTICAST_MAX;
	unsigned refused = 0, beyond_a_word = 0;

	for (unsigned step = 0; step < MODEL_STEPS; step++) {
		unsigned number = draw(MODEL_GROUPS), keep = draw(2) ? draw(8) : 0;
		struct model_group *group = &model[number];
		lid_t wanted = draw(8) ? LID_NONE : (lid_t)(0xBFFE + draw(300)), got;

		if (draw(400) == 0)
			max = tops[draw(ARRAY_SIZE(tops))];
		if (step % 1000 == 0)
			expect_no_strangers();
		if (group->there) {
			model_ends(registry, group);
			continue;
		}
		model_mgid(group, number);
		got = mlids_choose(mlids, group->entry.mgid, wanted, max, keep);
		CU_ASSERT_EQUAL(got, model_choose(group, wanted, max, keep));
		refused += got == LID_NONE;
		if (got == LID_NONE)
			continue;
		CU_ASSERT_TRUE(got >= LID_MULTICAST_MIN && got <= max && got <= LID_MULTICAST_MAX);
		beyond_a_word += got > 0xC03F;
		model_begins(registry, group, got);
	}
	CU_ASSERT_TRUE(refused > 1000);
	CU_ASSERT_TRUE(beyond_a_word > 1000);
	counts_free(counts);
	registry_free(registry);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"MLIDs", test_mlids},
		{"the end of MLIDs", test_mlids_end},
		{"a configured group waits for one", test_configured_waits},
		{"no MLID is lost", test_no_leak},
		{"a tiny multicast table", test_tiny_table},
		{"solicited-node groups", test_solicited_node},
		{"by a model", test_by_model},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mlids", tests);
}
