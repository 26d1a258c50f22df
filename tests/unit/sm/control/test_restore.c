/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Restoring a document over the control socket, where its records contradict each other: the answer
 * names the record and nothing is changed. test_save.c tests faults of a single record.
 */
#include "tests/unit/fixtures/control_world.h"

enum { RECORDS = 3 };

#define LID(guid, lid, lmc) \
	"{\"kind\":\"lid\",\"GUID\":\"" guid "\",\"LID\":" lid ",\"LMC\":" lmc "}"
#define GROUP(mgid, mlid) \
	"{\"kind\":\"group\",\"MGID\":\"0x" mgid "\",\"MLID\":" mlid ",\"P_Key\":65535}"
#define MEMBER(mgid)                                                                          \
	"{\"kind\":\"member\",\"MGID\":\"0x" mgid "\",\"PortPrefix\":5,\"PortGUID\":\"0x1\"," \
	"\"JoinState\":1}"
#define ALIAS(port, index, guid) \
	"{\"kind\":\"alias\",\"PortGUID\":\"" port "\",\"Index\":" index ",\"GUID\":\"" guid "\"}"
#define PARTITION(p_key, name)                                                                    \
	"{\"kind\":\"partition\",\"P_Key\":" p_key ",\"Name\":\"" name "\",\"MTU\":4,\"Rate\":3," \
	"\"Scope\":2}"
#define IN(p_key, guid)                                                             \
	"{\"kind\":\"partition member\",\"P_Key\":" p_key ",\"GUID\":\"" guid "\"," \
	"\"Membership\":2}"

#define BROADCAST "ff12401bffff000000000000ffffffff"
#define OTHER "ff12123400000000000000000000000a"
/* Solicited-node groups: of the default partition, of another partition, and of another scope. */
#define NODE_1 "ff12601bffff000000000001ff000001"
#define NODE_2 "ff12601bffff000000000001ff999999"
#define NODE_OTHER_KEY "ff12601b8005000000000001ff000001"
#define NODE_OTHER_SCOPE "ff15601bffff000000000001ff000001"

static const struct {
	const char *what, *records[RECORDS];
	const char *words; /* NULL: it is taken */
} rows[] = {
	{"two ports with one LID",
	 {LID("0x1", "9", "0"), LID("0x2", "9", "0")},
	 "record 2 (lid): LID: also in another record (GUID \\\"0x2\\\"); nothing was changed"},
	{"a LID of another one's LMC",
	 {LID("0x1", "8", "2"), LID("0x2", "11", "0")},
	 "record 2 (lid): LID: also in another record"},
	{"one port twice",
	 {LID("0x1", "9", "0"), LID("0x1", "10", "0")},
	 "record 2 (lid): another record has the same key (GUID \\\"0x1\\\")"},
	{"LIDs side by side", {LID("0x1", "8", "2"), LID("0x2", "12", "0")}, NULL},
	{"two groups with one MLID",
	 {GROUP(BROADCAST, "49152"), GROUP(OTHER, "49153"), GROUP(NODE_1, "49153")},
	 "record 3 (group): MLID: also in another group (MGID \\\"0x" NODE_1 "\\\"); nothing "
	 "was changed"},
	{"MLID shared with an ordinary group",
	 {GROUP(NODE_1, "49152"), GROUP(OTHER, "49152")},
	 "record 2 (group): MLID: also in another group"},
	{"of other partitions",
	 {GROUP(NODE_1, "49152"), GROUP(NODE_OTHER_KEY, "49152")},
	 "record 2 (group): MLID: also in another group"},
	{"of other scopes",
	 {GROUP(NODE_1, "49152"), GROUP(NODE_OTHER_SCOPE, "49152")},
	 "record 2 (group): MLID: also in another group"},
	{"two that may share", {GROUP(NODE_1, "49152"), GROUP(NODE_2, "49152")}, NULL},
	{"an MLID below the first",
	 {GROUP(BROADCAST, "49151")},
	 "record 1 (group): MLID: not 0xc000 to 0xfffe"},
	{"an MLID above the last",
	 {GROUP(BROADCAST, "65535")},
	 "record 1 (group): MLID: not 0xc000 to 0xfffe"},
	{"the last MLID", {GROUP(BROADCAST, "65534")}, NULL},
	{"one group twice",
	 {GROUP(BROADCAST, "49152"), GROUP(BROADCAST, "49153")},
	 "record 2 (group): another record has the same key"},
	{"a member of no group",
	 {GROUP(BROADCAST, "49152"), MEMBER(OTHER)},
	 "record 2 (member): its group is not before it in the document (MGID \\\"0x" OTHER
	 "\\\", PortPrefix 5"},
	{"a member", {GROUP(BROADCAST, "49152"), MEMBER(BROADCAST)}, NULL},
	{"one GUID at two ports",
	 {ALIAS("0x1", "1", "0xa1"), ALIAS("0x2", "1", "0xa1")},
	 "record 2 (alias): GUID: also in another record (PortGUID \\\"0x2\\\", Index 1)"},
	{"two GUIDs at one place",
	 {ALIAS("0x1", "1", "0xa1"), ALIAS("0x1", "1", "0xa2")},
	 "record 2 (alias): another record has the same key"},
	{"one P_Key twice",
	 {PARTITION("5", "red"), PARTITION("6", "blue"), PARTITION("5", "green")},
	 "record 3 (partition): another record has the same key (P_Key 5); nothing was changed"},
	{"one member twice",
	 {IN("5", "0x1"), IN("5", "0x1")},
	 "record 2 (partition member): another record has the same key (P_Key 5, GUID "
	 "\\\"0x1\\\")"},
	{"P_Keys", {PARTITION("5", "red"), IN("5", "0x1"), IN("6", "0x1")}, NULL},
};

/* A piece of the document: the answer is that of client 0. */
static void piece(struct world *world, unsigned token, const char *const records[RECORDS])
{
	char request[2048];
	size_t used =
		(size_t)snprintf(request, sizeof(request),
				 "{\"command\":\"restore\",\"token\":%u,\"records\":[", token);

	for (unsigned i = 0; i < RECORDS && records[i]; i++)
		used += (size_t)snprintf(request + used, sizeof(request) - used, "%s%s",
					 i ? "," : "", records[i]);
	snprintf(request + used, sizeof(request) - used, "]}\n");
	control_ask(world, request);
}

static void test_clashes(void)
{
	struct world *world = control_start("single:hosts=2");
	uint64_t number = registry_number(world->registry);

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		control_ask(world, "{\"command\":\"restore\",\"begin\":true,\"version\":1}\n");
		CU_ASSERT(control_has(0, "\"ok\":true"));
		piece(world, i + 1, rows[i].records);
		CU_ASSERT(control_has(0, rows[i].words ? rows[i].words : "\"ok\":true"));
		CU_ASSERT_EQUAL(strstr(control_bed.clients[0].text, "\"ok\":true") != NULL,
				!rows[i].words);
		/* A client that was refused cannot continue the document. */
		if (rows[i].words) {
			piece(world, i + 1, (const char *const[RECORDS]){LID("0x1", "9", "0")});
			CU_ASSERT(control_has(0, "\"ok\":false"));
		}
	}
	CU_ASSERT_EQUAL(registry_number(world->registry), number);
	control_end(world);
}

static const char begin[] = "{\"command\":\"restore\",\"begin\":true,\"version\":1}\n";

/* Restores these records, or none; the answer is that of client 0. */
static void restore(struct world *world, unsigned token, const char *record, const char *more)
{
	const char *const records[RECORDS] = {record};
	char request[128];

	control_ask(world, begin);
	if (record)
		piece(world, token, records);
	snprintf(request, sizeof(request), "{\"command\":\"restore\",\"token\":%u%s}\n", token,
		 more);
	control_ask(world, request);
}

/* A document without a partition would take its P_Key from all ports. */
static void test_danger(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;
	uint64_t number;

	options.partition_confirm_ports = 10;
	world = control_start_with("single:hosts=12", options);
	control_ask(world, "{\"command\":\"partition add\",\"p_key\":\"5\",\"name\":\"red\","
			   "\"members\":[\"ALL\"]}\n");
	CU_ASSERT(control_has(0, "\"ok\":true"));
	number = registry_number(world->registry);
	restore(world, 1, NULL, "");
	CU_ASSERT(control_has(0, "the document takes P_Keys from 13 ports "
				 "(partition_confirm_ports is 10), among them 0x0005 (red) from 13 "
				 "ports, so 78 pairs of ports could no longer exchange packets in "
				 "it: correct it, or add --force; nothing was changed"));
	CU_ASSERT_EQUAL(registry_number(world->registry), number);
	/* The definition alone makes no member. A failed document cannot be continued. */
	control_ask(world, "{\"command\":\"restore\",\"token\":1,\"force\":true}\n");
	CU_ASSERT(control_has(0, "nothing was changed; try again"));
	restore(world, 2, PARTITION("5", "red"), "");
	CU_ASSERT(control_has(0, "takes P_Keys from 13 ports"));
	restore(world, 3, PARTITION("5", "red"), ",\"force\":true");
	CU_ASSERT(control_has(0, "\"ok\":true") && control_has(0, "\"records\":1"));
	/* Nothing is lost now. */
	restore(world, 4, NULL, "");
	CU_ASSERT(control_has(0, "\"ok\":true"));
	control_end(world);
}

/* The manager loses its role between the pieces of the document. */
static void test_role_lost(void)
{
	struct world *world = control_start("single:hosts=2");
	uint64_t number;

	control_ask(world, begin);
	piece(world, 1, (const char *const[RECORDS]){PARTITION("5", "red")});
	number = registry_number(world->registry);
	peers_port_down(world->sm->peers, "test");
	control_ask(world, "{\"command\":\"restore\",\"token\":1,\"force\":true}\n");
	CU_ASSERT(control_has(0, "this manager is DISCOVERING now: restore the document at the "
				 "MASTER; nothing was changed"));
	CU_ASSERT_EQUAL(registry_number(world->registry), number);
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"records against each other", test_clashes},
		{"a document that takes P_Keys", test_danger},
		{"the role is lost", test_role_lost},
		CU_TEST_INFO_NULL,
	};

	return unit_main("restore", tests);
}
