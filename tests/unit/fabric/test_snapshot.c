/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Snapshots: the index of LIDs, search by GUID, and the counted blocks of facts that they hold. */
#include "fabric/snapshot.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

static bool owned_by(const struct snapshot *snapshot, lid_t lid, int32_t sw, int32_t end)
{
	struct snap_owner owner = snap_owner(snapshot, lid);

	return owner.sw == sw && owner.end == end;
}

static void test_empty(void)
{
	struct snapshot *snapshot = snapshot_new(0, 0, 0);

	snapshot_index(snapshot);
	CU_ASSERT_EQUAL(snapshot->lid_top, LID_NONE);
	CU_ASSERT(owned_by(snapshot, 0, -1, -1));
	CU_ASSERT(owned_by(snapshot, 1, -1, -1));
	CU_ASSERT_EQUAL(snapshot_find_switch(snapshot, 1), -1);
	CU_ASSERT_EQUAL(snapshot_find_end(snapshot, 1), -1);
	CU_ASSERT_EQUAL(snapshot->sm_end, -1);
	CU_ASSERT_EQUAL(snapshot->sm_switch, -1);
	snapshot_unref(snapshot);
	snapshot_unref(NULL);
}

static void test_owners(void)
{
	struct snapshot *snapshot = snapshot_new(2, 4, 10);

	CU_ASSERT_EQUAL(snapshot->links[9].sw, -1);
	CU_ASSERT_EQUAL(snapshot->links[9].end, -1);
	CU_ASSERT_EQUAL(snapshot->ends[3].sw, -1);
	CU_ASSERT_EQUAL(snapshot->ends[3].peer, -1);

	snapshot->switches[0].lid = 20;
	snapshot->switches[1].lid = LID_NONE;
	snapshot->ends[0].lid = 4;
	snapshot->ends[0].lmc = 2; /* 4 .. 7 */
	snapshot->ends[0].sw = 1;
	snapshot->ends[1].lid = 7; /* claimed by 0 already */
	snapshot->ends[1].sw = 1;
	snapshot->ends[2].lid = LID_NONE;
	snapshot->ends[3].lid = LID_UNICAST_MAX;
	snapshot->ends[3].lmc = 1; /* reaches into the multicast LIDs */
	snapshot_index(snapshot);
	CU_ASSERT_EQUAL(snapshot->lid_top, 20);
	CU_ASSERT_EQUAL(snapshot->switches[0].hosts, 0);
	CU_ASSERT_EQUAL(snapshot->switches[1].hosts, 2);
	for (unsigned lid = 0; lid <= 30; lid++)
		CU_ASSERT(owned_by(snapshot, (lid_t)lid, lid == 20 ? 0 : -1,
				   lid >= 4 && lid <= 7 ? 0 : -1));
	CU_ASSERT(owned_by(snapshot, LID_PERMISSIVE, -1, -1));
	CU_ASSERT_EQUAL(snap_owner_switch(snapshot, snap_owner(snapshot, 5)), 1);
	CU_ASSERT_EQUAL(snap_owner_switch(snapshot, snap_owner(snapshot, 20)), 0);
	CU_ASSERT_EQUAL(snap_owner_switch(snapshot, snap_owner(snapshot, 8)), -1);

	/* LIDs are kept for absent hosts: each for one host, and no LID that a port has, or that is
	 * invalid. */
	snapshot->cables[1] = (struct snap_cable){.kind = CABLE_HOST, .lid = 24, .lmc = 1};
	snapshot->cables[2] = (struct snap_cable){.kind = CABLE_HOST, .lid = 25};
	snapshot->cables[3] = (struct snap_cable){.kind = CABLE_HOST, .lid = 18, .lmc = 2};
	snapshot->cables[4] = (struct snap_cable){.kind = CABLE_HOST, .lid = LID_UNICAST_MAX + 1};
	snapshot_index(snapshot);
	CU_ASSERT_EQUAL(snapshot->lid_top, 25);
	CU_ASSERT(owned_by(snapshot, 24, -1, -1));
	CU_ASSERT_EQUAL(snapshot->cables[1].lid, 24);
	for (unsigned c = 2; c <= 4; c++)
		CU_ASSERT_EQUAL(snapshot->cables[c].lid, LID_NONE);
	snapshot->cables[1].lid = LID_NONE;

	/* Indexing again replaces the earlier index. */
	snapshot->ends[0].lid = 40;
	snapshot->ends[0].sw = -1;
	snapshot_index(snapshot);
	CU_ASSERT_EQUAL(snapshot->lid_top, 43);
	CU_ASSERT_EQUAL(snapshot->switches[1].hosts, 1);
	CU_ASSERT(owned_by(snapshot, 4, -1, -1));
	CU_ASSERT(owned_by(snapshot, 7, -1, 1));
	CU_ASSERT(owned_by(snapshot, 43, -1, 0));
	snapshot_unref(snapshot);
}

static void test_find(void)
{
	struct snapshot *snapshot = snapshot_from_spec("ring:switches=7,hosts=3", 0);

	CU_ASSERT_EQUAL(snapshot->num_switches, 7);
	CU_ASSERT_EQUAL(snapshot->num_ends, 21);
	for (uint32_t s = 0; s < 7; s++) {
		guid_t guid = snapshot->switches[s].guid;

		CU_ASSERT_EQUAL(snapshot_find_switch(snapshot, guid), (int32_t)s);
		CU_ASSERT_EQUAL(snapshot_find_switch(snapshot, guid + 1), -1);
		CU_ASSERT_EQUAL(snapshot_find_end(snapshot, guid), -1);
	}
	for (uint32_t e = 0; e < 21; e++)
		CU_ASSERT_EQUAL(snapshot_find_end(snapshot, snapshot->ends[e].guid), (int32_t)e);
	CU_ASSERT_EQUAL(snapshot_find_end(snapshot, 0), -1);
	CU_ASSERT_EQUAL(snapshot_find_end(snapshot, UINT64_MAX), -1);
	snapshot_unref(snapshot);
}

static void test_facts_held(void)
{
	struct node_facts *facts = facts_new(&(struct node_info){.num_ports = 2});
	struct snapshot *snapshot = snapshot_new(1, 1, 3);

	snapshot->switches[0].facts = facts_ref(facts);
	snapshot->ends[0].facts = facts_ref(facts);
	CU_ASSERT_EQUAL(facts->refs, 3);
	CU_ASSERT_PTR_EQUAL(snapshot_ref(snapshot), snapshot);
	snapshot_unref(snapshot);
	CU_ASSERT_EQUAL(facts->refs, 3);
	snapshot_unref(snapshot);
	CU_ASSERT_EQUAL(facts->refs, 1);
	facts_unref(facts);
	facts_unref(NULL);
	CU_ASSERT_PTR_NULL(facts_ref(NULL));
	CU_ASSERT_PTR_NULL(snapshot_ref(NULL));
}

/* The data of a snapshot is never written: the live model gets a copy first. */
static void test_facts_own(void)
{
	struct node_facts *live = facts_new(&(struct node_info){.num_ports = 3, .node_guid = 5});
	struct node_facts *held;

	live->port[3].info.lid = 17;
	live->port[3].pkeys = pkey_list_new(4);
	held = facts_ref(live);
	CU_ASSERT_PTR_NOT_EQUAL(facts_own(&live), held);
	CU_ASSERT_EQUAL(held->refs, 1);
	CU_ASSERT_EQUAL(live->refs, 1);
	CU_ASSERT_EQUAL(live->info.node_guid, 5);
	CU_ASSERT_EQUAL(live->port[3].info.lid, 17);
	CU_ASSERT_PTR_EQUAL(live->port[3].pkeys, held->port[3].pkeys);
	CU_ASSERT_EQUAL(live->port[3].pkeys->refs, 2);

	live->port[3].info.lid = 18;
	CU_ASSERT_EQUAL(held->port[3].info.lid, 17);
	facts_unref(held);
	held = live;
	CU_ASSERT_PTR_EQUAL(facts_own(&live), held); /* the only reference: no copy */
	CU_ASSERT_EQUAL(live->refs, 1);
	facts_unref(live);
}

static void test_facts_freed(void)
{
	struct node_facts *live = facts_new(&(struct node_info){.num_ports = 255});
	struct node_facts *held = facts_ref(live);
	struct pkey_list *pkeys = pkey_list_new(1);

	live->port[255].pkeys = pkey_list_ref(pkeys);
	facts_own(&live);
	CU_ASSERT_EQUAL(pkeys->refs, 3);
	facts_unref(held);
	facts_unref(live);
	CU_ASSERT_EQUAL(pkeys->refs, 1);
	pkey_list_unref(pkeys);
	pkey_list_unref(NULL);
	CU_ASSERT_PTR_NULL(pkey_list_ref(NULL));
}

static void test_pkey_slots(void)
{
	static const struct {
		uint16_t asked, given;
	} rows[] = {{0, 0}, {1, 32}, {32, 32}, {33, 64}, {128, 128}, {UINT16_MAX, 65504}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkey_list *list = pkey_list_new(rows[i].asked);
		unsigned used = 0;

		CU_ASSERT_EQUAL(list->count, rows[i].given);
		for (unsigned k = 0; k < list->count; k++)
			used += list->key[k] != 0;
		CU_ASSERT_EQUAL(used, 0);
		pkey_list_unref(list);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"empty", test_empty},
		{"owners of LIDs", test_owners},
		{"search by GUID", test_find},
		{"facts are held", test_facts_held},
		{"facts that are shared are copied", test_facts_own},
		{"facts are freed with their contents", test_facts_freed},
		{"P_Key slots", test_pkey_slots},
		CU_TEST_INFO_NULL,
	};

	return unit_main("snapshot", tests);
}
