/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands for alias GUIDs inside the manager. Refusals, also of a client other than weftctl,
 * name the port that has the GUID and change nothing. The tests also cover the index of an alias
 * and the contents of the list.
 */
#include <inttypes.h>

#include "tests/unit/fixtures/control_world.h"

static struct port *port_of(const struct world *world, const char *host)
{
	return &fabric_find_node(world->sm->fabric, sm_world_node(world, host)->info.node_guid)
			->port[1];
}

/* As a device with so many GUIDs, whose table is known. */
static void give_places(const struct world *world, const char *host, uint8_t cap)
{
	struct port *port = port_of(world, host);
	struct port_info info = *port_info(port);

	sm_world_node(world, host)->port[1].info.guid_cap = info.guid_cap = cap;
	port_set_info(world->sm->fabric, port, &info);
}

static void hold_by(const struct world *world, guid_t port_guid, unsigned index, guid_t guid,
		    enum alias_grant grant)
{
	const struct alias_entry alias = {.port_guid = port_guid,
					  .index = (uint16_t)index,
					  .guid = guid,
					  .granted = (uint8_t)grant};

	registry_put(world->registry, REGISTRY_ALIAS, &alias);
}

static void hold(const struct world *world, guid_t port_guid, unsigned index, guid_t guid)
{
	hold_by(world, port_guid, index, guid, ALIAS_NOT_GRANTED);
}

static void order(struct world *world, const char *verb, const char *host, guid_t guid)
{
	char request[200];

	snprintf(request, sizeof(request),
		 "{\"command\":\"alias %s\",\"node\":\"%s\",\"port\":\"1\",\"guid\":\"0x%" PRIx64
		 "\"}\n",
		 verb, host, guid);
	control_ask(world, request);
}

static const struct {
	const char *request, *why;
} refusals[] = {
	{"{\"command\":\"alias set\"}\n", "alias set needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1}\n", "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"guid\":\"0x5\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":\"one\",\"guid\":\"0x5\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":\"\",\"guid\":\"0x5\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":255,\"guid\":\"0x5\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"5\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"0x0\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1,"
	 "\"guid\":\"0x10000000000000000\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":7,\"port\":1,\"guid\":\"0x5\"}\n",
	 "needs a node, a port"},
	{"{\"command\":\"alias set\",\"node\":\"nobody\",\"port\":1,\"guid\":\"0x5\"}\n",
	 "no node \\\"nobody\\\""},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":2,\"guid\":\"0x5\"}\n",
	 "\\\"host-0002\\\" has no port 2 with GUIDs"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":0,\"guid\":\"0x5\"}\n",
	 "\\\"host-0002\\\" has no port 0 with GUIDs"},
	{"{\"command\":\"alias set\",\"node\":\"sw-01\",\"port\":1,\"guid\":\"0x5\"}\n",
	 "the port of a switch is port 0"},
	{"{\"command\":\"alias set\",\"node\":\"host-0003\",\"port\":1,\"guid\":\"0x5\"}\n",
	 "\\\"host-0003\\\" port 1 has no free place for a GUID (GUIDCap is 1)"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"0xa9\"}\n",
	 "0x00000000000000a9 is already an alias of \\\"host-0003\\\" port 1"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"0xaa\"}\n",
	 "0x00000000000000aa is already an alias of port 0x000000000000dead, which is absent"},
	{"{\"command\":\"alias set\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"0xaaaa\"}\n",
	 "is the GUID of an absent port, whose LID 77 is kept"},
	{"{\"command\":\"alias remove\",\"node\":\"host-0002\",\"port\":1}\n",
	 "alias remove needs a node, a port"},
	{"{\"command\":\"alias remove\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"0xab\"}\n",
	 "no port has the alias GUID 0xab"},
	{"{\"command\":\"alias remove\",\"node\":\"host-0002\",\"port\":1,\"guid\":\"0xa9\"}\n",
	 "0x00000000000000a9 is already an alias of \\\"host-0003\\\" port 1"},
	{"{\"command\":\"alias list\",\"port\":1}\n",
	 "expected the number of a port, 0 to 254, and its node"},
	{"{\"command\":\"alias list\",\"node\":\"host-0002\",\"port\":\"x\"}\n",
	 "expected the number of a port, 0 to 254, and its node"},
	{"{\"command\":\"alias list\",\"node\":\"nobody\"}\n", "no node \\\"nobody\\\""},
};

static void test_refusals(void)
{
	const struct lid_entry away = {.guid = 0xAAAA, .lid = 77};
	struct world *world = control_start("single:hosts=3");
	const struct port *third = port_of(world, "host-0003");
	uint64_t before;

	give_places(world, "host-0002", 16);
	give_places(world, "host-0003", 1);
	hold_by(world, port_facts(third)->guid, 1, 0xA9, ALIAS_BY_ADMINISTRATOR);
	hold_by(world, 0xDEAD, 1, 0xAA, ALIAS_BY_SA_KEY);
	hold(world, 0xDEAD, 2, 0xAAAA); /* and a port that is away has it as its own */
	registry_put(world->registry, REGISTRY_LID, &away);
	before = registry_number(world->registry);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		control_ask(world, refusals[i].request);
		CU_ASSERT_TRUE(control_has(0, "\"ok\":false") && control_has(0, refusals[i].why));
	}
	order(world, "set", "host-0002", port_facts(third)->guid);
	CU_ASSERT_TRUE(control_has(0, "is the GUID of \\\"host-0003\\\" port 1"));
	order(world, "set", "host-0002", third->node->guid);
	CU_ASSERT_TRUE(control_has(0, "is the GUID of node \\\"host-0003\\\"") ||
		       third->node->guid == port_facts(third)->guid);
	CU_ASSERT_EQUAL(registry_number(world->registry), before);
	control_end(world);
}

/* The data of events. */
static struct {
	unsigned count;
	struct alias_entry entry[4];
	enum alias_change change[4];
	lid_t lid[4];
} seen;

static void happened(void *ctx, const struct event *event)
{
	(void)ctx;
	if (event->kind != EVENT_ALIAS || seen.count == ARRAY_SIZE(seen.entry))
		return;
	seen.entry[seen.count] = *event->alias->entry;
	seen.change[seen.count] = event->alias->change;
	seen.lid[seen.count++] = event->lid;
}

/* A command of an administrator takes a GUID that another port has without a grant. */
static const struct {
	bool away, listed;
	enum alias_grant held;
	bool taken;
} takes[] = {
	{false, false, ALIAS_NOT_GRANTED, true},       {true, false, ALIAS_NOT_GRANTED, true},
	{false, true, ALIAS_NOT_GRANTED, false},       {true, true, ALIAS_NOT_GRANTED, false},
	{false, false, ALIAS_BY_SA_KEY, false},	       {true, false, ALIAS_BY_SA_KEY, false},
	{false, false, ALIAS_BY_ADMINISTRATOR, false}, {true, false, ALIAS_BY_ADMINISTRATOR, false},
};

static void test_takes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(takes); i++) {
		struct event_reader reader = {.happened = happened};
		struct world *world = control_start("single:hosts=3");
		const struct port *third = port_of(world, "host-0003");
		guid_t from = takes[i].away ? 0xDEAD : port_facts(third)->guid;
		guid_t to = port_facts(port_of(world, "host-0002"))->guid;
		struct alias_entry key = {.port_guid = from, .index = 5};

		give_places(world, "host-0002", 16);
		hold_by(world, from, 5, 0xA9, takes[i].held);
		if (takes[i].listed)
			world->sm->options.alias_guids[0] =
				(struct alias_range){from, from, 0xA9, 0xA9};
		seen.count = 0;
		event_read(world->sm->events, &reader);
		order(world, "set", "host-0002", 0xA9);
		CU_ASSERT_TRUE(control_has(0, takes[i].taken ? "\"granted\":\"administrator\""
							     : "remove it first"));
		CU_ASSERT_EQUAL(registry_find(world->registry, REGISTRY_ALIAS, &key) == NULL,
				takes[i].taken);
		key = (struct alias_entry){.port_guid = to, .index = 1};
		CU_ASSERT_EQUAL(registry_find(world->registry, REGISTRY_ALIAS, &key) != NULL,
				takes[i].taken);
		CU_ASSERT_EQUAL(seen.count, takes[i].taken ? 2 : 0);
		CU_ASSERT_TRUE(!takes[i].taken ||
			       (seen.change[0] == ALIAS_REMOVED &&
				seen.entry[0].port_guid == from && seen.entry[0].guid == 0xA9 &&
				seen.lid[0] == (takes[i].away ? LID_NONE : third->lid) &&
				seen.change[1] == ALIAS_SET && seen.entry[1].port_guid == to));
		event_unread(&reader);
		control_end(world);
	}
}

/* Nothing is taken for a port that has no place for it. */
static void test_takes_nothing(void)
{
	struct world *world = control_start("single:hosts=3");
	uint64_t before;

	give_places(world, "host-0002", 1);
	hold(world, port_facts(port_of(world, "host-0003"))->guid, 5, 0xA9);
	before = registry_number(world->registry);
	order(world, "set", "host-0002", 0xA9);
	CU_ASSERT_TRUE(control_has(0, "has no free place for a GUID (GUIDCap is 1)"));
	CU_ASSERT_EQUAL(registry_number(world->registry), before);
	control_end(world);
}

/* The first place that neither the registry nor the device has filled. */
static void test_places(void)
{
	struct world *world = control_start("single:hosts=3");
	struct port_tables *tables = port_tables_new(16, 0);
	struct port *port = port_of(world, "host-0002");
	guid_t port_guid = port_facts(port)->guid;
	struct alias_entry key = {.port_guid = port_guid, .index = 3};
	const struct alias_entry *alias;

	give_places(world, "host-0002", 5);
	tables->guid[2] = 0x2222;
	port_set_tables(world->sm->fabric, port, tables);
	hold(world, port_guid, 1, 0xA1);
	order(world, "set", "host-0002", 0xA3);
	CU_ASSERT_TRUE(control_has(0, "\"index\":3") &&
		       control_has(0, "\"granted\":\"administrator\""));
	alias = registry_find(world->registry, REGISTRY_ALIAS, &key);
	CU_ASSERT_TRUE(alias && alias->guid == 0xA3 && alias->granted == ALIAS_BY_ADMINISTRATOR);
	order(world, "set", "host-0002", 0xA1); /* it keeps its place, and is granted */
	CU_ASSERT_TRUE(control_has(0, "\"index\":1") &&
		       control_has(0, "\"granted\":\"administrator\""));
	order(world, "set", "host-0002", 0xA4);
	CU_ASSERT_TRUE(control_has(0, "\"index\":4"));
	order(world, "set", "host-0002", 0xA5);
	CU_ASSERT_TRUE(control_has(0, "has no free place for a GUID (GUIDCap is 5)"));
	order(world, "remove", "host-0002", 0xA3);
	CU_ASSERT_TRUE(control_has(0, "\"index\":3"));
	CU_ASSERT_PTR_NULL(registry_find(world->registry, REGISTRY_ALIAS, &key));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_ALIAS), 2);
	control_end(world);
}

static void test_lists(void)
{
	struct world *world = control_start("single:hosts=3");

	hold(world, port_facts(port_of(world, "host-0002"))->guid, 1, 0xA1);
	hold(world, port_facts(port_of(world, "host-0003"))->guid, 2, 0xA2);
	hold(world, 0xDEAD, 3, 0xA3);
	world->sm->options.alias_guids[0] = (struct alias_range){0xDEAD, 0xDEAD, 0xA3, 0xA3};
	control_ask(world, "{\"command\":\"alias list\"}\n");
	CU_ASSERT_TRUE(control_has(0, "0x00000000000000a1") &&
		       control_has(0, "0x00000000000000a2") &&
		       control_has(0, "0x00000000000000a3") &&
		       control_has(0, "\"granted\":\"alias_guids\""));
	control_ask(world, "{\"command\":\"alias list\",\"node\":\"host-0003\"}\n");
	CU_ASSERT_TRUE(control_has(0, "0x00000000000000a2") &&
		       !strstr(control_bed.clients[0].text, "0x00000000000000a1") &&
		       !strstr(control_bed.clients[0].text, "0x00000000000000a3"));
	control_ask(world, "{\"command\":\"alias list\",\"node\":\"host-0003\",\"port\":2}\n");
	CU_ASSERT_PTR_NULL(strstr(control_bed.clients[0].text, "alias_guid"));
	/* A port that is away is known by its GUID alone. */
	order(world, "remove", "0xdead", 0xA3);
	CU_ASSERT_TRUE(control_has(0, "\"port_guid\":\"0x000000000000dead\""));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_ALIAS), 2);
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"refused", test_refusals},
		{"taken from another port", test_takes},
		{"not taken without a place", test_takes_nothing},
		{"places", test_places},
		{"lists", test_lists},
		CU_TEST_INFO_NULL,
	};

	return unit_main("alias_commands", tests);
}
