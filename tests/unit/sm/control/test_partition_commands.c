/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of partitions inside the manager. Refusals, also of a client other than weftctl,
 * change nothing. A command whose change is not durable, or not acknowledged everywhere, reports it
 * after its time-out of ten seconds. Clients use a real control socket in the same thread.
 */
#include <inttypes.h>

#include "store/alias.h"
#include "tests/unit/fixtures/control_world.h"

static guid_t guid_of(const struct world *world, const char *host)
{
	const struct node *node =
		fabric_find_node(world->sm->fabric, sm_world_node(world, host)->info.node_guid);

	return port_facts(&node->port[1])->guid;
}

static void say_member(int client, const struct world *world, const char *verb, const char *host)
{
	char request[160];

	snprintf(request, sizeof(request),
		 "{\"command\":\"partition member %s\",\"p_key\":\"5\",\"guids\":[\"0x%016" PRIx64
		 "\"]}\n",
		 verb, guid_of(world, host));
	control_say(client, request);
}

static const char add_5[] = "{\"command\":\"partition add\",\"p_key\":\"0x5\"}\n";

static const char named_in_default[] =
	"{\"command\":\"partition member add\",\"p_key\":\"0x7fff\",\"guids\":[\"0x77\"]}\n";

static bool holds(const struct world *world, const char *host, pkey_t p_key)
{
	const struct fake_port *port = &sm_world_node(world, host)->port[1];

	for (unsigned i = 0; i < FAKE_KEYS; i++)
		if (port->p_key[i] == p_key)
			return true;
	return false;
}

static void leave(int client)
{
	client_hang_up(&control_bed.clients[client]);
}

static void test_done(void)
{
	struct world *world = control_start("single:hosts=3");

	control_ask(world, add_5);
	CU_ASSERT(control_has(0, "\"durable\":true") && control_has(0, "\"shown\":true"));
	say_member(0, world, "add", "host-0002");
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"durable\":true") && control_has(0, "\"shown\":true") &&
		  control_has(0, "\"waiting\":0") && control_has(0, "\"acknowledged\":1"));
	CU_ASSERT_TRUE(holds(world, "host-0002", 0x8005));

	/* A member that was named before its partition existed counts when it is made. */
	leave(0);
	control_ask(world, named_in_default);
	leave(0);
	control_ask(world, "{\"command\":\"partition add\",\"p_key\":\"0x7fff\"}\n");
	CU_ASSERT(control_has(0, "\"waiting\":0") && control_has(0, "\"counts\":{\"absent\":1}"));
	control_end(world);
}

/* The row of a port that begins so names this source of its membership. */
static void expect_by(const char *row, const char *by)
{
	const char *at = strstr(control_bed.clients[0].text, row), *end, *found;
	char wanted[40];

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	end = strchr(at, '}');
	snprintf(wanted, sizeof(wanted), "\"by\":\"%s\"", by);
	found = strstr(at, wanted);
	CU_ASSERT_TRUE(found && found < end);
}

/* The list shows the source of a membership: a command for the port, or for an alias of it. */
static void test_by(void)
{
	struct world *world = control_start("single:hosts=3");
	struct alias_entry alias = {.index = 1, .guid = 0xA1, .granted = ALIAS_BY_ADMINISTRATOR};
	char row[2][80];

	alias.port_guid = guid_of(world, "host-0002");
	registry_put(world->registry, REGISTRY_ALIAS, &alias);
	control_ask(world, add_5);
	leave(0);
	control_ask(
		world,
		"{\"command\":\"partition member add\",\"p_key\":\"5\",\"guids\":[\"0xa1\"]}\n");
	leave(0);
	say_member(0, world, "add", "host-0003");
	sm_world_run(world, control_all_answered);
	leave(0);
	control_ask(world, "{\"command\":\"partition show\",\"p_key\":\"5\"}\n");
	snprintf(row[0], sizeof(row[0]), "\"guid\":\"0x%016" PRIx64 "\"", alias.port_guid);
	snprintf(row[1], sizeof(row[1]), "\"guid\":\"0x%016" PRIx64 "\"",
		 guid_of(world, "host-0003"));
	expect_by(row[0], "alias");
	expect_by(row[1], "run time");
	leave(0);
	control_ask(world, "{\"command\":\"partition show\",\"p_key\":\"0x7fff\"}\n");
	expect_by(row[0], "built in");
	control_end(world);
}

static bool is_written(const struct world *world)
{
	return holds(world, "host-0002", 0x8005);
}

/* A store that does not come to an end, and a document that is restored half of the way. */
static void test_late(void)
{
	struct world *world = control_start("single:hosts=3");

	control_ask(world, add_5);
	registry_keep(world->registry, KEPT_BY_STORE, true);
	say_member(0, world, "add", "host-0002");
	sm_world_run(world, is_written);
	registry_together(world->registry, true);
	say_member(1, world, "add", "host-0003");
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"durable\":false") && control_has(0, "\"waiting\":0") &&
		  control_has(0, "\"acknowledged\":1"));
	CU_ASSERT(control_has(1, "\"durable\":false") && control_has(1, "\"waiting\":1") &&
		  control_has(1, "\"shown\":false") && control_has(1, "\"wanted\":1"));
	CU_ASSERT_FALSE(holds(world, "host-0003", 0x8005));
	leave(0);
	leave(1);

	/* It goes on. */
	registry_together(world->registry, false);
	registry_kept(world->registry, KEPT_BY_STORE, registry_number(world->registry));
	say_member(0, world, "add", "host-0003");
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"durable\":true") && control_has(0, "\"waiting\":0"));
	CU_ASSERT_TRUE(holds(world, "host-0003", 0x8005));
	control_end(world);
}

/* Two commands that change one partition at once: both are done, or the second is refused. */
static void test_at_once(void)
{
	struct world *world = control_start("single:hosts=3");

	control_say(0, add_5);
	control_say(1, add_5);
	control_say(2, "{\"command\":\"partition "
		       "check\",\"name\":\"a\",\"text\":\"a=1:\",\"more\":true}\n");
	control_say(3, "{\"command\":\"partition check\",\"name\":\"b\",\"text\":\"b=2: ALL;\"}\n");
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"ok\":true") &&
		  control_has(1, "partition 0x0005 already exists"));
	CU_ASSERT(control_has(2, "\"token\":1") && control_has(3, "\"partitions\":1"));
	for (int i = 0; i < 4; i++)
		leave(i);
	control_ask(
		world,
		"{\"command\":\"partition check\",\"name\":\"a\",\"text\":\"ALL;\",\"token\":1}\n");
	CU_ASSERT(control_has(0, "another check of a partition file has begun"));
	say_member(0, world, "add", "host-0002");
	say_member(1, world, "add", "host-0003");
	say_member(2, world, "remove", "host-0003");
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"ok\":true") && control_has(1, "\"ok\":true") &&
		  control_has(2, "\"ok\":true"));
	CU_ASSERT_TRUE(holds(world, "host-0002", 0x8005));
	CU_ASSERT_FALSE(holds(world, "host-0003", 0x8005));
	control_end(world);
}

static void test_refusals(void)
{
#define MEMBER(key, rest) "{\"command\":\"partition member add\",\"p_key\":" key rest "}\n"
	static const struct {
		const char *request, *words;
	} rows[] = {
		{"{\"command\":\"partition add\"}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":5}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":\"0\"}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":\"0x8000\"}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":\"0xffff\"}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":\"0x10001\"}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":\"5\",\"mtu\":\"6\"}\n",
		 "mtu is a number from 1 to 5"},
		{"{\"command\":\"partition add\",\"p_key\":\"5\",\"rate\":1}\n",
		 "rate is a number from 2 to 24"},
		{"{\"command\":\"partition remove\",\"p_key\":\"5\"}\n",
		 "no partition 0x0005 was added"},
		{"{\"command\":\"partition show\",\"p_key\":\"5\"}\n", "no partition 0x0005"},
		{MEMBER("\"6\"", ",\"guids\":[\"0x1\"]"), "no partition 0x0006"},
		{MEMBER("\"0x7fff\"", ""), "expected 1 to 65536 GUIDs"},
		{MEMBER("\"0x7fff\"", ",\"guids\":[\"0x1\",\"2\"]"), "is not a port GUID"},
		{MEMBER("\"0x7fff\"", ",\"guids\":[\"0x0\"]"), "is not a port GUID"},
		{MEMBER("\"0x7fff\"", ",\"guids\":[\"0x1\"],\"both\":true"), "allow_both_pkeys"},
		{MEMBER("\"0x7fff\"", ",\"guids\":[\"0x1\"],\"full\":true,\"limited\":true"),
		 "one of --full"},
	};
	struct world *world = control_start("single:hosts=3");
	uint64_t number = registry_number(world->registry);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		control_ask(world, rows[i].request);
		CU_ASSERT(control_has(0, "\"ok\":false") && control_has(0, rows[i].words));
	}
	CU_ASSERT_EQUAL(registry_number(world->registry), number);
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"done", test_done},	   {"source of a membership", test_by},
		{"at once", test_at_once}, {"refused", test_refusals},
		{"late", test_late},	   CU_TEST_INFO_NULL,
	};

	return unit_main("partition_commands", tests);
}
