/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The judge of dumped tables, judged: small fabrics and tables as texts in all four formats, tables
 * with each kind of mistake, and texts that are none. tests/system/walk.sh compares it with
 * ibdmchk.
 */
// WITH: tests/walk/fabric.o tests/walk/tables.o tests/walk/judge.o
#include "tests/walk/judge.h"

#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

/*
 * A line of two switches: host a [1]-[1] S [2]-[2] T [1]-[1] host b; b has LIDs 4 and 5 where the
 * text says an LMC. S has GUID 0x10 and LID 1, T 0x20 and 2, a 0x1 and 3, b 0x2 and 4.
 */
#define SW_END(name, guid, lid, pn)                                                       \
	"{ SW Ports:03 SystemGUID:0 NodeGUID:" guid " PortGUID:" guid " VenID:0 DevID:0 " \
	"Rev:0 {" name "} LID:" lid " PN:" pn " }"
#define CA_END(kind, name, guid, lid)                                                           \
	"{ " kind " Ports:01 SystemGUID:0 NodeGUID:" guid " PortGUID:" guid " VenID:0 DevID:0 " \
	"Rev:0 {" name "} LID:" lid " PN:01 }"
#define UP " PHY=4x LOG=ACT SPD=10\n"
static const char lst[] = CA_END("CA-SM", "a", "01", "0003") " " SW_END("S } x", "10", "0001", "01")
	UP SW_END("S } x", "10", "0001", "02") " " SW_END("T", "20", "0002", "02")
		UP CA_END("CA", "b", "02", "0004") " " SW_END("T", "20", "0002", "01") UP;

static const char net[] = "switchguid=0x10\n"
			  "Switch 3 \"S\" # \"S } x\" base port 0 lid 1 lmc 0\n"
			  "[1] \"A\"[1] # \"a\" lid 3 4xEDR\n"
			  "[2] \"T\"[2] # \"T\" lid 2 4xEDR\n"
			  "\n"
			  "switchguid=0x20\n"
			  "Switch 3 \"T\" # \"T\" base port 0 lid 2 lmc 0\n"
			  "[1] \"B\"[1] # \"b\" lid 4 4xEDR\n"
			  "[2] \"S\"[2] # \"S\" lid 1 4xEDR\n"
			  "\n"
			  "caguid=0x1\n"
			  "Ca 1 \"A\" # \"a\"\n"
			  "[1] \"S\"[1] # lid 3 lmc 0 \"S\" lid 1 4xEDR\n"
			  "\n"
			  "caguid=0x2\n"
			  "Ca 1 \"B\" # \"b\"\n"
			  "[1] \"T\"[1] # lid 4 lmc 1 \"T\" lid 2 4xEDR\n"
			  "\n";

static const char fdbs[] = "dump_ucast_routes: Switch 0x0000000000000010\n"
			   "LID    : Port : Hops : Optimal\n"
			   "0x0001 : 000  : 00   : yes\n"
			   "0x0002 : 002  : 01   : yes\n"
			   "0x0003 : 001  : 01   : yes\n"
			   "0x0004 : 002  : 02   : yes\n"
			   "0x0005 : 002  : 02   : yes\n"
			   "0x0006 : UNREACHABLE\n"
			   "dump_ucast_routes: Switch 0x0000000000000020\n"
			   "LID    : Port : Hops : Optimal\n"
			   "0x0001 : 002  : 01   : yes\n"
			   "0x0002 : 000  : 00   : yes\n"
			   "0x0003 : 002  : 02   : yes\n"
			   "0x0004 : 001  : 01   : yes\n"
			   "0x0005 : 001  : 01   : yes\n";

static const char lfts[] =
	"Unicast lids [0x0-0x5] of switch DR path slid 0; dlid 0; 0,1 guid 0x10 (S guid 0x99):\n"
	"  Lid  Out   Destination\n"
	"0x0001 000 : (Switch portguid 0x10: 'S')\n"
	"0x0002 002 : (Switch portguid 0x20: 'T')\n"
	"0x0003 001 : (Channel Adapter portguid 0x1: 'a')\n"
	"0x0004 002 : (Channel Adapter portguid 0x2: 'b')\n"
	"0x0005 002 : (Channel Adapter portguid 0x2: 'b')\n"
	"5 valid lids dumped \n"
	"Multicast mlids [0xc000-0xc00f] of switch Lid 1 guid 0x10 (S):\n"
	"0xc000   x \n"
	"Unicast lids [0x0-0x5] of switch Lid 2 guid 0x0000000000000020 (T):\n"
	"0x0001 002 : (Switch portguid 0x10: 'S')\n"
	"0x0002 000 : (Switch portguid 0x20: 'T')\n"
	"0x0003 002 : (Channel Adapter portguid 0x1: 'a')\n"
	"0x0004 001 : (Channel Adapter portguid 0x2: 'b')\n"
	"0x0005 001 : (Channel Adapter portguid 0x2: 'b')\n"
	"5 valid lids dumped \n";

/* The text with new where old first stands; the caller frees it. */
static char *changed(const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return mem_printf("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static void fabric_from(struct walk_fabric *fabric, const char *topology, uint8_t lmc,
			const char *tables)
{
	char error[WALK_ERROR_SIZE] = "";

	walk_fabric_init(fabric);
	CU_ASSERT_EQUAL(walk_read_topology(fabric, "net", topology, strlen(topology), lmc, error),
			0);
	CU_ASSERT_EQUAL(walk_read_tables(fabric, "tables", tables, strlen(tables), error), 0);
	CU_ASSERT_STRING_EQUAL(error, "");
}

static const struct walk_load *load_of(const struct walk_fabric *fabric,
				       const struct walk_verdict *verdict, guid_t guid,
				       unsigned port)
{
	return &verdict->load[walk_node_by_guid(fabric, guid) - fabric->nodes][port];
}

static void test_formats(void)
{
	static const struct {
		const char *topology, *tables;
		uint8_t lmc;
		unsigned paths, paths_from_s, dlids_from_s;
	} cases[] = {
		{lst, fdbs, 0, 2, 1, 1},
		{lst, lfts, 0, 2, 1, 1},
		{net, fdbs, 0, 3, 2, 2}, /* LMC 1 of b */
		{net, lfts, 7, 3, 2, 2}, /* it knows its LMCs */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct walk_fabric fabric;
		struct walk_verdict verdict;

		fabric_from(&fabric, cases[i].topology, cases[i].lmc, cases[i].tables);
		walk_judge(&fabric, false, stdout, 9, &verdict);
		CU_ASSERT_EQUAL(verdict.paths, cases[i].paths);
		CU_ASSERT_EQUAL(verdict.reached, cases[i].paths);
		CU_ASSERT_EQUAL(verdict.hops_max, 3);
		CU_ASSERT_EQUAL(verdict.hops[3], cases[i].paths);
		CU_ASSERT_EQUAL(load_of(&fabric, &verdict, 0x10, 2)->paths, cases[i].paths_from_s);
		CU_ASSERT_EQUAL(load_of(&fabric, &verdict, 0x10, 2)->dlids, cases[i].dlids_from_s);
		CU_ASSERT_EQUAL(load_of(&fabric, &verdict, 0x20, 2)->paths, 1);
		CU_ASSERT_EQUAL(load_of(&fabric, &verdict, 0x20, 3)->paths, 0);
		walk_verdict_done(&fabric, &verdict);
		CU_ASSERT_STRING_EQUAL(walk_node_by_guid(&fabric, 0x10)->name, "S } x");
		walk_fabric_done(&fabric);
	}
}

/* From and to all four: 12 paths; 2 of 3 links, 4 of 2, and 6 between neighbours. */
static void test_with_switches(void)
{
	struct walk_fabric fabric;
	struct walk_verdict verdict;

	fabric_from(&fabric, lst, 0, fdbs);
	walk_judge(&fabric, true, stdout, 9, &verdict);
	CU_ASSERT_EQUAL(verdict.paths, 12);
	CU_ASSERT_EQUAL(verdict.reached, 12);
	CU_ASSERT_EQUAL(verdict.hops[1], 6);
	CU_ASSERT_EQUAL(verdict.hops[2], 4);
	CU_ASSERT_EQUAL(verdict.hops[3], 2);
	CU_ASSERT_EQUAL(load_of(&fabric, &verdict, 0x10, 2)->paths, 4);
	CU_ASSERT_EQUAL(load_of(&fabric, &verdict, 0x10, 2)->dlids, 2);
	walk_verdict_done(&fabric, &verdict);
	walk_fabric_done(&fabric);
}

/* One entry is wrong; the text of the first complaint. */
static void test_mistakes(void)
{
	static const struct {
		const char *old, *new;
		unsigned unreached, loops;
		const char *says;
	} cases[] = {
		{"0x0003 : 002  :", "0x0003 : 001  :", 1, 0, "at \"T\", the port leads to another"},
		{"0x0004 : 002  :", "0x0004 : 001  :", 1, 0, "at \"S } x\", the port leads to an"},
		{"0x0004 : 002  :", "0x0007 : 002  :", 1, 0, "its table has no port for the LID"},
		{"0x0004 : 002  :", "0x0004 : 003  :", 1, 0, "the port has no link"},
		{"0x0004 : 002  :", "0x0004 : 004  :", 1, 0, "it has no such port"},
		{"0x0004 : 002  :", "0x0004 : 000  :", 1, 0, "it takes the LID for its own"},
		{"0x0004 : 001  :", "0x0004 : 002  :", 0, 1, "at \"S } x\", it is passed again"},
		{"dump_ucast_routes: Switch 0x0000000000000020", "Multicast mlids ", 2, 0,
		 "no table of it was read"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *tables = changed(fdbs, cases[i].old, cases[i].new), *said = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&said, &size);
		struct walk_fabric fabric;
		struct walk_verdict verdict;

		fabric_from(&fabric, lst, 0, tables);
		walk_judge(&fabric, false, stream, 1, &verdict);
		fclose(stream);
		CU_ASSERT_EQUAL(verdict.unreached, cases[i].unreached);
		CU_ASSERT_EQUAL(verdict.loops, cases[i].loops);
		CU_ASSERT_EQUAL(verdict.reached + verdict.unreached + verdict.loops, verdict.paths);
		CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].says));
		CU_ASSERT_PTR_EQUAL(strchr(said, '\n'), said + size - 1); /* one complaint */
		walk_verdict_done(&fabric, &verdict);
		walk_fabric_done(&fabric);
		free(said);
		free(tables);
	}
}

static void test_own_lid(void)
{
	char *tables = changed(fdbs, "0x0001 : 000  :", "0x0001 : 002  :");
	char *said = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&said, &size);
	struct walk_fabric fabric;
	struct walk_verdict verdict;

	fabric_from(&fabric, lst, 0, tables);
	walk_judge(&fabric, true, stream, 9, &verdict);
	fclose(stream);
	CU_ASSERT_EQUAL(verdict.unreached, 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "it does not take the LID for its own"));
	walk_verdict_done(&fabric, &verdict);
	walk_fabric_done(&fabric);
	free(said);
	free(tables);
}

/* A link that is not ACTIVE is none, and its host is no end. */
static void test_inactive(void)
{
	char *text = changed(lst, "LOG=ACT", "LOG=INI");
	struct walk_fabric fabric;
	struct walk_verdict verdict;

	fabric_from(&fabric, text, 0, fdbs);
	walk_judge(&fabric, false, stdout, 9, &verdict);
	CU_ASSERT_EQUAL(verdict.paths, 0);
	walk_verdict_done(&fabric, &verdict);
	walk_fabric_done(&fabric);
	free(text);
}

static void test_bad_topologies(void)
{
	static const struct {
		const char *old, *new, *error;
	} cases[] = {
		{"{ CA-SM Ports", "{ XX Ports", "net:1: a node is neither CA nor SW"},
		{"{ CA-SM Ports", "{ CA-SM-LONG Ports", "net:1: this is no line"},
		{"{ CA-SM Ports:01", "{ CA-SM Ports:00", "net:1: a node is neither"},
		{"LID:0001", "LID:C001", "net:1: a LID is none"},
		{"LID:0001", "LID:0009", "net:2: a LID is none"},
		{"SW Ports:03", "SW Ports:04", "net:2: a node is here twice"},
		{"PN:02 }", "PN:01 }", "net:2: a port has another cable"},
		{"PN:02 }", "PN:04 }", "net:2: a node is neither CA nor SW, or has no such port"},
		{"} LID:0003", "", "net:1: this is no line"},
	};
	char error[WALK_ERROR_SIZE];
	struct walk_fabric fabric;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = changed(lst, cases[i].old, cases[i].new);

		walk_fabric_init(&fabric);
		CU_ASSERT_EQUAL(walk_read_topology(&fabric, "net", text, strlen(text), 0, error),
				-EINVAL);
		if (strncmp(error, cases[i].error, strlen(cases[i].error)))
			printf("\n    %s", error);
		CU_ASSERT_EQUAL(strncmp(error, cases[i].error, strlen(cases[i].error)), 0);
		walk_fabric_done(&fabric);
		free(text);
	}
	/* Cut anywhere, it is read or refused. */
	for (size_t length = 0; length < sizeof(lst); length++) {
		char *text = mem_alloc(length + 1); /* just as long, for memory checkers */

		memcpy(text, lst, length);
		walk_fabric_init(&fabric);
		walk_read_topology(&fabric, "net", text, length, 0, error);
		walk_fabric_done(&fabric);
		free(text);
	}
}

static void test_bad_tables(void)
{
	static const struct {
		const char *old, *new, *error;
	} cases[] = {
		{"Switch 0x0000000000000010", "Switch 0x99", "tables:1: the fabric has no switch"},
		{"Switch 0x0000000000000010", "Switch 0x1", "tables:1: the fabric has no switch"},
		{"Switch 0x0000000000000010", "Switch", "tables:1: no GUID"},
		{"0x0002 :", "0xC002 :", "tables:4: an entry"},
		{"0x0002 :", "0x0000 :", "tables:4: an entry"},
		{"0x0002 :", "0x0002:", "tables:4: an entry"},
		{"0x0002 : 002", "0x0002 : 256", "tables:4: an entry"},
		{"0x0002 : 002", "0x0001 : 002", "tables:4: this LID had another port"},
	};
	char error[WALK_ERROR_SIZE];
	struct walk_fabric fabric;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = changed(fdbs, cases[i].old, cases[i].new);

		fabric_from(&fabric, lst, 0, fdbs);
		free(fabric.nodes[1].lft);
		fabric.nodes[1].lft = NULL;
		fabric.nodes[1].lft_size = 0;
		CU_ASSERT_EQUAL(walk_read_tables(&fabric, "tables", text, strlen(text), error),
				-EINVAL);
		if (strncmp(error, cases[i].error, strlen(cases[i].error)))
			printf("\n    %s", error);
		CU_ASSERT_EQUAL(strncmp(error, cases[i].error, strlen(cases[i].error)), 0);
		walk_fabric_done(&fabric);
		free(text);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"all formats", test_formats},
		{"switches as ends", test_with_switches},
		{"each mistake", test_mistakes},
		{"a switch's own LID", test_own_lid},
		{"a link that is not ACTIVE", test_inactive},
		{"bad topologies", test_bad_topologies},
		{"bad tables", test_bad_tables},
		CU_TEST_INFO_NULL,
	};

	return unit_main("walk_judge", tests);
}
