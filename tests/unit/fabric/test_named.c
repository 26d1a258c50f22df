/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finding a node by name, GUID and LID, also if no node or several nodes match. */
#include "fabric/named.h"

#include <string.h>

#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

/* Two switches and three hosts; the first host has two ports, and two hosts have one name. The
 * second switch is called as the LID of the first. */
static struct snapshot *make(void)
{
	static const char *const names[] = {"h1", "h1", "twin", "twin"};
	static const guid_t nodes[] = {0x100, 0x100, 0x200, 0x300};
	struct snapshot *snapshot = snapshot_from_spec("ring:switches=2,hosts=2", 0);

	CU_ASSERT_EQUAL_FATAL(snapshot->num_switches, 2);
	CU_ASSERT_EQUAL_FATAL(snapshot->num_ends, 4);
	for (uint32_t i = 0; i < 2; i++)
		snapshot->switches[i].facts = named_facts(NODE_SWITCH, 0x10 + i, i ? "10" : "leaf");
	for (uint32_t i = 0; i < 4; i++)
		snapshot->ends[i].facts = named_facts(NODE_CA, nodes[i], names[i]);
	for (uint32_t i = 0; i < 4; i++) {
		snapshot->ends[i].lid = (lid_t)(20 + 2 * i);
		snapshot->ends[i].lmc = 1;
	}
	snapshot->switches[0].lid = 10;
	snapshot->switches[1].lid = 11;
	return snapshot;
}

static void rename_node(struct node_facts **facts, uint8_t type, guid_t guid, const char *name)
{
	facts_unref(*facts);
	*facts = named_facts(type, guid, name);
}

static const struct {
	const char *name;
	int place; /* -1: refused */
	const char *error;
} rows[] = {
	{"leaf", 0, NULL},
	{"11", 1, NULL},
	{"0x10", 0, NULL},
	{"0x0000000000000011", 1, NULL},
	{"0000000000000300", 5, NULL}, /* without 0x */
	{"Leaf", -1, "there is no node \"Leaf\"; did you mean \"leaf\"?"},
	{"LEAF", -1, "there is no node \"LEAF\"; did you mean \"leaf\"?"},
	{"h1/2", -1, "there is no node \"h1/2\"; did you mean \"h1\"?"},
	{"h1", 2, NULL}, /* one node with two ports: its first one */
	{"22", 3, NULL},
	{"23", 3, NULL}, /* the second LID of a port */
	{"0x300", 5, NULL},
	{"twin", -1,
	 "\"twin\" could mean 2 nodes (0x0000000000000200, 0x0000000000000300): use a GUID"},
	{"10", -1,
	 "\"10\" could mean 2 nodes (0x0000000000000010, 0x0000000000000011): use a GUID"},
	{"leaf,leaf", 0, NULL}, /* hostlists of one node */
	{"h[1]", 2, NULL},
	{"0x10,leaf", 0, NULL},
	{"h1,leaf", -1, "\"h1,leaf\" names 2 nodes: this command needs one node"},
	{"h[1-2]", -1, "there is no node \"h2\""},
	/* A long list is refused before its names are looked up. */
	{"h[1-131072]", -1, "\"h[1-131072]\" names more than 8 nodes: this command needs one node"},
	{"h[1-200000]", -1, "\"h[1-200000]\" names more than 8 nodes: this command needs one node"},
	{"h[1", -1, "\"h[1\": "},
	{"absent", -1,
	 "there is no node \"absent\": expected a name, a GUID or a LID; weftctl node list shows "
	 "them"},
	{"0x9", -1,
	 "there is no node \"0x9\": expected a name, a GUID or a LID; weftctl node list shows "
	 "them"},
	{"49152", -1,
	 "there is no node \"49152\": expected a name, a GUID or a LID; weftctl node list shows "
	 "them"},
	{"", -1,
	 "there is no node \"\": expected a name, a GUID or a LID; weftctl node list shows them"},
};

static void test_names(void)
{
	struct snapshot *snapshot = make();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct snap_named named = snapshot_find_named(snapshot, rows[i].name);

		CU_ASSERT_EQUAL(named.place, rows[i].place);
		if (rows[i].error)
			CU_ASSERT_NSTRING_EQUAL(named.error, rows[i].error, strlen(rows[i].error));
	}
	snapshot_unref(snapshot);
}

/* A description that looks like a GUID does not hide the node with this GUID. Without such a node
 * it is a name. */
/* A node that the administrator renamed is found by its former name as a suggestion. */
static void test_former_name(void)
{
	struct snapshot *snapshot = make();
	struct snap_named named;

	snprintf(snapshot->switches[0].facts->reported, NODE_DESC_SIZE + 1, "MF0;x:SX60/U1");
	named = snapshot_find_named(snapshot, "MF0;x:SX60/U1");
	CU_ASSERT_EQUAL(named.place, -1);
	CU_ASSERT_STRING_EQUAL(named.error,
			       "there is no node \"MF0;x:SX60/U1\"; did you mean \"leaf\"?");
	snprintf(snapshot->switches[0].facts->reported, NODE_DESC_SIZE + 1, "h2");
	named = snapshot_find_named(snapshot, "h2"); /* nearer than h1 */
	CU_ASSERT_STRING_EQUAL(named.error, "there is no node \"h2\"; did you mean \"leaf\"?");
	named = snapshot_find_named(snapshot, "");
	CU_ASSERT_PTR_NULL(strstr(named.error, "did you mean"));
	snapshot_unref(snapshot);
}

static void test_named_as_guid(void)
{
	static const struct {
		const char *name, *asked;
		int place;
	} guids[] = {
		{"0x0000000000000300", "0x0000000000000300", 5}, /* of a node */
		{"0x300", "0x300", 5},
		{"0000000000000300", "0000000000000300", 5},
		{"0x0000000000000077", "0x0000000000000077", 4}, /* of a port */
		{"0x0000000000000999", "0x0000000000000999", 0}, /* of none */
		{"0x999", "0x999", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(guids); i++) {
		struct snapshot *snapshot = make();
		struct snap_named named;

		rename_node(&snapshot->switches[0].facts, NODE_SWITCH, 0x10, guids[i].name);
		snapshot->ends[2].guid = 0x77;
		named = snapshot_find_named(snapshot, guids[i].asked);
		CU_ASSERT_EQUAL(named.place, guids[i].place);
		CU_ASSERT_FALSE(named.ambiguous);
		snapshot_unref(snapshot);
	}
}

/* A list leads to each of its nodes once, and to all nodes of one name. */
static void test_lists(void)
{
	struct snapshot *snapshot = make();
	char error[SNAP_NAMED_ERROR_SIZE] = "";
	struct map nodes = {0};

	CU_ASSERT(snapshot_is_hostlist(snapshot, "h[1-2]"));
	CU_ASSERT_FALSE(snapshot_is_hostlist(snapshot, "leaf"));
	CU_ASSERT(snapshot_find_listed(snapshot, "h1,twin,leaf,0x10", &nodes, error));
	CU_ASSERT_EQUAL(nodes.count, 4);
	CU_ASSERT(map_get(&nodes, 0x100) && map_get(&nodes, 0x200) && map_get(&nodes, 0x300) &&
		  map_get(&nodes, 0x10));
	CU_ASSERT_FALSE(snapshot_find_listed(snapshot, "h1,leef", &nodes, error));
	CU_ASSERT_STRING_EQUAL(error, "there is no node \"leef\"; did you mean \"leaf\"?");
	rename_node(&snapshot->ends[0].facts, NODE_CA, 0x100, "h[1-2]");
	CU_ASSERT_FALSE(snapshot_is_hostlist(snapshot, "h[1-2]")); /* a name */
	map_done(&nodes);
	snapshot_unref(snapshot);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"names", test_names},
		{"former names", test_former_name},
		{"descriptions like GUIDs", test_named_as_guid},
		{"lists", test_lists},
		CU_TEST_INFO_NULL,
	};

	return unit_main("named", tests);
}
