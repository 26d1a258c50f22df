/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Dumps in OpenSM's form: reading a dump gives the same tables. The tests cover the hops, also if a
 * table leads nowhere or into a loop, and the line of a link. Two leaves, 0 and 1, with two hosts
 * each, and two spines, 2 and 3.
 */
#include "route/dump.h"

#include <string.h>

#include "formats/guid_file.h"
#include "route/engine.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

static struct snapshot *snapshot;
static struct routes *routes;
static char *text;
static size_t length;

static void begin(void)
{
	struct net *net = net_tree2(2, 2, 2, 1);
	char why[ROUTE_WHY_SIZE];

	snapshot = snapshot_from_net(net, 0);
	net_free(net);
	routes = routes_new(snapshot->generation, snapshot->num_switches, "minhop");
	CU_ASSERT_FATAL(!minhop_compute(snapshot, NULL, NULL, routes, why));
}

static void end(void)
{
	free(text);
	text = NULL;
	routes_unref(routes);
	snapshot_unref(snapshot);
}

/* Replaces the text. */
static FILE *begin_text(void)
{
	free(text);
	return open_memstream(&text, &length);
}

static void dump(void)
{
	FILE *out = begin_text();

	route_dump_tables(snapshot, routes, out);
	fclose(out);
}

static void dump_links(uint32_t sw)
{
	FILE *out = begin_text();

	route_dump_links(snapshot, sw, out);
	fclose(out);
}

/* The hops in a switch's line of a LID; -1: there is no such line. */
static int hops_dumped(uint32_t sw, lid_t lid)
{
	char head[64], line[16];
	unsigned hops = 0;
	const char *at;

	snprintf(head, sizeof(head), "Switch 0x%016jx\n", (uintmax_t)snapshot->switches[sw].guid);
	snprintf(line, sizeof(line), "\n0x%04X :", lid);
	at = strstr(text, head);
	at = at ? strstr(at, line) : NULL;
	return at && sscanf(at + strlen(line), " %*u : %u : yes", &hops) == 1 ? (int)hops : -1;
}

static int hops_between(uint32_t a, uint32_t b)
{
	return a == b ? 0 : (a < 2) == (b < 2) ? 2 : 1;
}

static void test_tables(void)
{
	struct dump_table *tables;
	uint32_t count;
	char *error = NULL;

	begin();
	dump();
	CU_ASSERT_FATAL(!dump_parse("dump", text, length, &tables, &count, &error));
	CU_ASSERT_EQUAL_FATAL(count, 4);
	for (uint32_t s = 0; s < count; s++) {
		CU_ASSERT_EQUAL(tables[s].sw, snapshot->switches[s].guid);
		for (unsigned lid = 1; lid <= snapshot->lid_top; lid++) {
			struct snap_owner owner = snap_owner(snapshot, (lid_t)lid);
			uint32_t home = (uint32_t)snap_owner_switch(snapshot, owner);

			CU_ASSERT_FATAL(lid < tables[s].lids);
			CU_ASSERT_EQUAL(tables[s].port[lid], lft_port(routes->lft[s], (lid_t)lid));
			CU_ASSERT_EQUAL(hops_dumped(s, (lid_t)lid),
					hops_between(s, home) + (owner.end >= 0));
		}
	}
	dump_free(tables, count);
	end();
}

/* Of LID 1, a host at port 1 of leaf 0. */
static void test_bad_tables(void)
{
	begin();
	CU_ASSERT_EQUAL_FATAL(snapshot->ends[snap_owner(snapshot, 1).end].sw, 0);
	routes->lft[1]->port[2] = LFT_NO_PORT;
	routes->lft[1]->port[1] = 4; /* to spine 3 */
	routes->lft[0]->port[1] = 3; /* to a spine, which sends it back */
	routes->lft[3]->port[1] = 0; /* to itself, with another LID */
	dump();
	CU_ASSERT_EQUAL(hops_dumped(1, 2), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n0x0002 : UNREACHABLE\n"));
	CU_ASSERT_EQUAL(hops_dumped(1, 1), 0);
	CU_ASSERT_EQUAL(hops_dumped(0, 1), 0);
	CU_ASSERT_EQUAL(hops_dumped(2, 1), 0);
	CU_ASSERT_EQUAL(hops_dumped(3, 1), 0);
	routes->lft[0]->port[1] = 2; /* another host */
	dump();
	CU_ASSERT_EQUAL(hops_dumped(0, 1), 0);
	routes->lft[0]->port[1] = 200; /* no port of it */
	dump();
	CU_ASSERT_EQUAL(hops_dumped(0, 1), 0);
	end();
}

/* In pieces it is the same text. */
static void test_pieces(void)
{
	char *whole;
	FILE *out;

	begin();
	dump();
	whole = mem_strdup(text);
	out = begin_text();
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		for (uint32_t lid = 0; lid <= snapshot->lid_top; lid += 3)
			route_dump_entries(snapshot, routes, s, lid, lid + 3, out);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, whole);
	free(whole);
	end();
}

static struct node_facts *make_facts(const char *description)
{
	struct node_info info = {.node_type = NODE_SWITCH,
				 .num_ports = 4,
				 .system_image_guid = 0xabc,
				 .vendor_id = 0x2c9,
				 .device_id = 0x1234,
				 .revision = 0x10};
	struct node_facts *facts = facts_new(&info);

	snprintf(facts->description, sizeof(facts->description), "%s", description);
	for (unsigned p = 1; p <= 4; p++)
		facts->port[p].info = (struct port_info){
			.port_state = PORT_ARMED, .link_width_active = 8, .link_speed_active = 2};
	facts->port[2].info.link_speed_ext_active = 4;
	facts->port[2].info.port_state = PORT_INIT;
	return facts;
}

/* Leaf 0: both directions of its hosts' links, one direction of its links to spines, which have the
 * other. */
static void test_links(void)
{
	static const char *const near[] = {
		"{ SW Ports:04 SystemGUID:0000000000000abc NodeGUID:0002c90000000000 "
		"PortGUID:0002c90000000000 VenID:0002C9 DevID:1234 Rev:00000010 {leaf _1_} "
		"LID:0005 PN:01 } { CA Ports:01 ",
		" PN:01 } { SW Ports:04 ",
		"LID:0005 PN:02 } { CA ",
		"PN:01 } { SW ",
		"LID:0005 PN:03 } { SW ",
		"LID:0005 PN:04 } { SW ",
	};
	static const char *const rate[] = {
		" PHY=12x LOG=ARM SPD=5", " PHY=4x LOG=ACT SPD=10", " PHY=12x LOG=INI SPD=50",
		" PHY=4x LOG=ACT SPD=10", " PHY=12x LOG=ARM SPD=5", " PHY=12x LOG=ARM SPD=5",
	};
	char *rest, *line;
	size_t count = 0;

	begin();
	snapshot->switches[0].facts = make_facts("leaf {1}");
	dump_links(0);
	rest = text;
	while ((line = strsep(&rest, "\n")) && *line) {
		CU_ASSERT_FATAL(count < ARRAY_SIZE(near));
		CU_ASSERT_PTR_NOT_NULL(strstr(line, near[count]));
		CU_ASSERT_PTR_NOT_NULL(strstr(line, rate[count]));
		if (!strstr(line, near[count]) || !strstr(line, rate[count]))
			printf("\n%s\n", line);
		count++;
	}
	CU_ASSERT_EQUAL(count, ARRAY_SIZE(near));
	dump_links(2);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " {SW 0002c90000000200} LID:0007 PN:01 } { SW "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " {leaf _1_} LID:0005 PN:03 } PHY=4x"));
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"tables", test_tables},    {"tables that lead nowhere", test_bad_tables},
		{"in pieces", test_pieces}, {"links", test_links},
		CU_TEST_INFO_NULL,
	};

	return unit_main("dump", tests);
}
