/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * End ports by the texts of administrators: names, hostlists, GUIDs, and texts that a node has
 * chosen as its description to pass for another.
 */
#include "sm/control/port_names.h"

#include <string.h>

#include "formats/partitions.h"
#include "lib/guid.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

enum { MOST = 12 };

/* A node of one port, but for "dual", whose ports are 1 and 2. Port GUIDs are node GUIDs plus the
 * number of the port. */
static const struct {
	guid_t node;
	uint8_t port;
	const char *name;
	uint8_t type;
} ends[] = {
	{0x100, 1, "host-01", NODE_CA},
	{0x110, 1, "host-02 HCA-1", NODE_CA},
	{0x120, 1, "dual", NODE_CA},
	{0x120, 2, "dual", NODE_CA},
	{0x130, 1, "twin", NODE_CA},
	{0x140, 1, "twin", NODE_CA},
	{0x150, 1, "host-01/1", NODE_CA},	   /* may be meant as port 1 of host-01 */
	{0x160, 1, "0x0000000000000101", NODE_CA}, /* the port GUID of host-01 */
	{0x170, 1, "rack[1-2]", NODE_CA},
	{0x180, 1, "dual/2=full", NODE_CA},
	{0x190, 1, "gateway", NODE_ROUTER},
	{0x1a0, 1, "MF0;edge:MSX6036/U1", NODE_CA},
};

static struct snapshot *make(void)
{
	struct snapshot *snapshot = snapshot_from_spec("ring:switches=2,hosts=6", 0);

	CU_ASSERT_EQUAL_FATAL(snapshot->num_switches, 2);
	CU_ASSERT_EQUAL_FATAL(snapshot->num_ends, ARRAY_SIZE(ends));
	for (uint32_t i = 0; i < 2; i++)
		snapshot->switches[i].facts =
			named_facts(NODE_SWITCH, 0x10 + i, i ? "leaf-2" : "leaf-1");
	for (uint32_t i = 0; i < ARRAY_SIZE(ends); i++) {
		snapshot->ends[i].facts = named_facts(ends[i].type, ends[i].node, ends[i].name);
		snapshot->ends[i].guid = ends[i].node + ends[i].port;
		snapshot->ends[i].port = ends[i].port;
	}
	return snapshot;
}

/* The ports as text: "0x101 0x123=limited". */
static void print_found(const struct port_names *names, char *text, size_t size)
{
	static const char *const memberships[] = {"", "=limited", "=full", "=both"};
	const struct named_port *found;
	size_t count, used = 0;

	found = port_names_found(names, &count);
	*text = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s0x%llx%s", i ? " " : "",
					 (unsigned long long)found[i].guid,
					 memberships[found[i].membership]);
}

static void check(const struct snapshot *snapshot, const char *text, const char *expected,
		  bool is_error)
{
	struct port_names *names = port_names_new(snapshot, MOST);
	char found[400];
	bool taken = port_names_take(names, text);

	print_found(names, found, sizeof(found));
	CU_ASSERT_EQUAL(taken, !is_error);
	CU_ASSERT_STRING_EQUAL(is_error ? port_names_error(names) : found, expected);
	if (strcmp(is_error ? port_names_error(names) : found, expected) != 0)
		printf("    %s: %s %s\n", text, found, port_names_error(names));
	port_names_free(names);
}

static void test_found(void)
{
	static const struct {
		const char *text, *ports;
	} rows[] = {
		{"host-01", "0x101"},
		{"host-02 HCA-1", "0x111"},
		{"host-02 HCA-1/1", "0x111"},
		{"dual/2", "0x122"},
		{"dual/1=limited", "0x121=limited"},
		{"MF0;edge:MSX6036/U1", "0x1a1"},
		{"MF0;edge:MSX6036/U1/1", "0x1a1"},
		{"leaf-1", "0x10"},
		{"leaf-2/0", "0x11"},
		{"leaf-[1-2],host-[01]", "0x10 0x11 0x101"},
		{"leaf-[1-2]=both", "0x10=both 0x11=both"},
		/* A suffix is of the part before it, up to a comma. */
		{"leaf-1=limited,leaf-2=both", "0x10=limited 0x11=both"},
		{"leaf-1,0x101=limited", "0x10 0x101=limited"},
		{"leaf-[1,2]=full,0x101", "0x10=full 0x11=full 0x101"},
		{"0x101", "0x101"}, /* not the node that is called so */
		{"0000000000000101", "0x101"},
		{"0x100", "0x101"}, /* a node GUID */
		{"0x10", "0x10"},
		{"0x999", "0x999"}, /* absent */
		{"0x101=full", "0x101=full"},
		{"0x101-0x103", "0x101 0x102 0x103"},
		{"0x101,0x111", "0x101 0x111"},
		{"ALL_SWITCHES", "0x10 0x11"},
		{"ALL_ROUTERS", "0x191"},
		{"ALL_CAS=limited",
		 "0x101=limited 0x111=limited 0x121=limited 0x122=limited 0x131=limited "
		 "0x141=limited 0x151=limited 0x161=limited 0x171=limited 0x181=limited "
		 "0x1a1=limited"},
	};
	struct snapshot *snapshot = make();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(snapshot, rows[i].text, rows[i].ports, false);
	snapshot_unref(snapshot);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"",
		 "there is no node \"\": expected a node's description, NODE/PORT, a hostlist, a "
		 "port GUID, or ALL"},
		{"Host-01", "there is no node \"Host-01\"; did you mean \"host-01\"?"},
		{"gatewya", "there is no node \"gatewya\"; did you mean \"gateway\"?"},
		{"dual", "\"dual\" could mean 2 ports (port 1 0x0000000000000121, port 2 "
			 "0x0000000000000122): use NAME/PORT or a port GUID"},
		{"twin/1", "\"twin\" could mean 2 ports (port 1 0x0000000000000131, port 1 "
			   "0x0000000000000141): use a port GUID"},
		{"0x120",
		 "0x0000000000000120 is the GUID of node \"dual\", which has 2 ports (port 1 "
		 "0x0000000000000121, port 2 0x0000000000000122): use a port GUID"},
		{"host-01/1",
		 "\"host-01/1\" is the description of a node, and port 1 of another node: "
		 "use a port GUID"},
		{"host-01/2", "there is no node \"host-01/2\"; did you mean \"host-01/1\"?"},
		{"rack[1-2]",
		 "\"rack[1-2]\" is the description of a node, and has another meaning, "
		 "too: use a port GUID"},
		{"dual/2=full", "\"dual/2=full\" is the description of a node, and has another "
				"meaning, too: use a port GUID"},
		{"leaf-[1-3]", "there is no node \"leaf-3\"; did you mean \"leaf-1\"?"},
		{"leaf-[1-", "\"leaf-[1-\": \"[1-\" has no closing \"]\""},
		{"leaf-[1-99]", "there is no node \"leaf-3\"; did you mean \"leaf-1\"?"},
		{"0x200-0x20c", "a range of GUIDs has 1 to 12 GUIDs"},
		{"0x20-0x10", "a range of GUIDs has 1 to 12 GUIDs"},
		{"0x0-0xffffffffffffffff",
		 "there is no node \"0x0-0xffffffffffffffff\": expected a "
		 "node's description, NODE/PORT, a hostlist, a port GUID, or "
		 "ALL"},
		{"0x1-0xffffffffffffffff", "a range of GUIDs has 1 to 12 GUIDs"},
		{"0x0", "there is no node \"0x0\": expected a node's description, NODE/PORT, a "
			"hostlist, a port GUID, or ALL"},
		{"ALL", "more than 12 ports"},
		{"all", "there is no node \"all\"; did you mean \"ALL\"?"},
		{"self", "\"self\" is only for partition files: name the host of the manager"},
		{"leaf-1,", "\"leaf-1,\": a name is empty"},
		{"leaf-1,,leaf-2=full", "\"leaf-1,,leaf-2=full\": a name is empty"},
	};
	struct snapshot *snapshot = make();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(snapshot, rows[i].text, rows[i].error, true);
	snapshot_unref(snapshot);
}

/* Without a fabric GUIDs are accepted, and names are not. */
static void test_no_fabric(void)
{
	check(NULL, "0x101=limited", "0x101=limited", false);
	check(NULL, "host-01",
	      "\"host-01\": this manager has no view of the fabric yet, so it accepts only GUIDs",
	      true);
}

static void test_several_texts(void)
{
	static const char *const texts[] = {"host-01=full", "host-01", "0x101=limited"};
	struct snapshot *snapshot = make();
	struct port_names *names = port_names_new(snapshot, MOST);
	char found[400];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CU_ASSERT_TRUE(port_names_take(names, texts[i]));
	print_found(names, found, sizeof(found));
	CU_ASSERT_STRING_EQUAL(found, "0x101=full 0x101 0x101=limited");
	port_names_free(names);
	port_names_free(NULL);
	snapshot_unref(snapshot);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"found", test_found},
		{"refused", test_refused},
		{"no fabric", test_no_fabric},
		{"several texts", test_several_texts},
		CU_TEST_INFO_NULL,
	};

	return unit_main("port_names", tests);
}
