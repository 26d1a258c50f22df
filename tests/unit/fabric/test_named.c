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
	{"h1", 2, NULL}, /* one node with two ports: its first one */
	{"22", 3, NULL},
	{"23", 3, NULL}, /* the second LID of a port */
	{"0x300", 5, NULL},
	{"twin", -1,
	 "\"twin\" could mean 2 nodes (0x0000000000000200, 0x0000000000000300): use a GUID"},
	{"10", -1,
	 "\"10\" could mean 2 nodes (0x0000000000000010, 0x0000000000000011): use a GUID"},
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
			CU_ASSERT_STRING_EQUAL(named.error, rows[i].error);
	}
	snapshot_unref(snapshot);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"names", test_names},
		CU_TEST_INFO_NULL,
	};

	return unit_main("named", tests);
}
