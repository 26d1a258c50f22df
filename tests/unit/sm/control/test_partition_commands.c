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
	CU_ASSERT(control_has(0, "3 ports would lose full membership of 0x7fff"));
	leave(0);
	control_ask(world, "{\"command\":\"partition add\",\"p_key\":\"0x7fff\",\"force\":true}\n");
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
	CU_ASSERT(control_has(0, "\"changed\":true") && control_has(1, "\"changed\":false"));
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

/* The answer of one request; the client leaves. */
static bool answers(struct world *world, const char *request, const char *words)
{
	bool has;

	control_ask(world, request);
	has = control_has(0, words);
	leave(0);
	return has;
}

/* Each item that weftd interprets differently is an element of a list. */
static void test_notes(void)
{
	static const char with[] = "{\"command\":\"partition check\",\"name\":\"a\",\"text\":"
				   "\"a=1, sl=3: ALL;\\nb=2, sl=4: ALL;\"}\n";
	static const char without[] = "{\"command\":\"partition check\",\"name\":\"a\",\"text\":"
				      "\"a=1: ALL;\"}\n";
	struct world *world = control_start("single:hosts=3");

	CU_ASSERT(answers(world, with, "\"notes\":[\"a:1: "));
	CU_ASSERT(answers(world, with, "\",\"a:2: "));
	CU_ASSERT(answers(world, without, "\"notes\":[]"));
	control_end(world);
}

/* Limited members do not reach each other, so a partition needs a full member. */
static void test_no_full_member(void)
{
	struct world *world = control_start("single:hosts=3");

	CU_ASSERT(answers(world,
			  "{\"command\":\"partition add\",\"p_key\":\"5\",\"name\":\"x\","
			  "\"members\":\"host-0002\",\"limited\":true}\n",
			  "\"no_full_member\":true"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition member add\",\"p_key\":\"5\","
			  "\"members\":\"host-0003\"}\n",
			  "\"no_full_member\":false"));
	control_end(world);
}

/* Partitions by name, members by names and hostlists, and requests that change nothing. */
static void test_names(void)
{
	struct world *world = control_start("single:hosts=4");
	uint64_t number;

	CU_ASSERT(answers(world,
			  "{\"command\":\"partition "
			  "add\",\"p_key\":\"5\",\"name\":\"storage\",\"members\":\"host-[0002-"
			  "0003]=limited,host-0009\",\"mtu\":\"4096\",\"rate\":\"100\"}\n",
			  "there is no node"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition "
			  "add\",\"p_key\":\"5\",\"name\":\"storage\",\"members\":\"host-[0002-"
			  "0003]=limited,host-0004\",\"mtu\":\"4096\",\"rate\":\"100\"}\n",
			  "\"num_changed\":4"));
	CU_ASSERT_EQUAL(policy_at_run_time(&world->sm->policy, 5)->mtu, 5);
	CU_ASSERT_EQUAL(policy_at_run_time(&world->sm->policy, 5)->rate, 16);
	CU_ASSERT_TRUE(holds(world, "host-0002", 0x0005));
	CU_ASSERT_TRUE(holds(world, "host-0004", 0x8005));
	number = registry_number(world->registry);
	CU_ASSERT(
		answers(world,
			"{\"command\":\"partition "
			"add\",\"p_key\":\"5\",\"members\":\"host-0004\",\"mtu\":5,\"rate\":16}\n",
			"\"changed\":false"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition member "
			  "add\",\"p_key\":\"storage\",\"limited\":true,\"members\":[\"host-0002/"
			  "1\",\"host-0003\"]}\n",
			  "\"changed\":false"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition member "
			  "remove\",\"p_key\":\"storage\",\"members\":\"host-0001\"}\n",
			  "\"changed\":false"));
	CU_ASSERT(answers(world, "{\"command\":\"partition remove\",\"p_key\":\"6\"}\n",
			  "\"changed\":false"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition rename\",\"p_key\":\"storage\",\"name\":"
			  "\"storage\"}\n",
			  "\"changed\":false"));
	CU_ASSERT(answers(world, "{\"command\":\"partition add\",\"p_key\":\"5\",\"ipoib\":true}\n",
			  "already exists with other parameters"));
	CU_ASSERT(answers(world, "{\"command\":\"partition show\",\"p_key\":\"storag\"}\n",
			  "did you mean \\\"storage\\\"?"));
	CU_ASSERT_EQUAL(registry_number(world->registry), number);

	CU_ASSERT(answers(world,
			  "{\"command\":\"partition set\",\"p_key\":\"storage\",\"ipoib\":true}\n",
			  "\"changed\":true"));
	CU_ASSERT_TRUE(policy_at_run_time(&world->sm->policy, 5)->ipoib);
	CU_ASSERT_EQUAL(policy_at_run_time(&world->sm->policy, 5)->mtu, 5);
	CU_ASSERT(answers(
		world, "{\"command\":\"partition rename\",\"p_key\":\"0x8005\",\"name\":\"red\"}\n",
		"\"name\":\"red\""));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition add\",\"p_key\":\"7\",\"name\":\"red\"}\n",
			  "partition 0x0005 has the name \\\"red\\\" already"));
	control_end(world);
}

/* Changes that cut ports off need force. */
static void test_dangers(void)
{
	struct world *world = control_start("single:hosts=4");

	CU_ASSERT(
		answers(world,
			"{\"command\":\"partition "
			"add\",\"p_key\":\"5\",\"name\":\"red\",\"members\":[\"host-0002\",\"host-"
			"0003\",\"host-0004=limited\",\"0x99=full\"]}\n",
			"\"num_changed\":5"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition member "
			  "remove\",\"p_key\":\"red\",\"members\":\"host-0003\"}\n",
			  "\"changed\":true"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition member "
			  "remove\",\"p_key\":\"red\",\"members\":\"host-0002\"}\n",
			  "no full member that is present, so 1 limited member could"));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition member "
			  "add\",\"p_key\":\"red\",\"members\":\"host-0002=limited\"}\n",
			  "so 2 limited members could reach no port in it (1 pair)"));
	CU_ASSERT(answers(world, "{\"command\":\"partition remove\",\"p_key\":\"red\"}\n",
			  "2 ports would lose membership of 0x0005, and 1 pair of ports"));
	CU_ASSERT_TRUE(holds(world, "host-0002", 0x8005));
	CU_ASSERT(answers(world,
			  "{\"command\":\"partition remove\",\"p_key\":\"red\",\"force\":true}\n",
			  "\"changed\":true"));
	CU_ASSERT_FALSE(holds(world, "host-0002", 0x8005));
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
		{"{\"command\":\"partition add\",\"p_key\":\"0xffff\"}\n",
		 "would lose full membership of 0x7fff"},
		{"{\"command\":\"partition add\",\"p_key\":\"0x10001\"}\n", "is not a P_Key"},
		{"{\"command\":\"partition add\",\"p_key\":\"5\",\"mtu\":\"6\"}\n",
		 "mtu is a number from 1 to 5, a code (4 is 2048 bytes), or a number of bytes: "
		 "256, "
		 "512, 1024, 2048 or 4096"},
		{"{\"command\":\"partition add\",\"p_key\":\"5\",\"rate\":1}\n",
		 "rate is a number from 2 to 24"},
		{"{\"command\":\"partition remove\",\"p_key\":\"five\"}\n",
		 "there is no partition \\\"five\\\""},
		{"{\"command\":\"partition show\",\"p_key\":\"Defualt\"}\n",
		 "there is no partition \\\"Defualt\\\""},
		{"{\"command\":\"partition rename\",\"p_key\":\"0x7fff\",\"name\":\"x\"}\n",
		 "0x7fff is built in"},
		{"{\"command\":\"partition show\",\"p_key\":\"5\"}\n", "no partition 0x0005"},
		{MEMBER("\"6\"", ",\"guids\":[\"0x1\"]"), "no partition 0x0006"},
		{MEMBER("\"0x7fff\"", ""), "no member is named"},
		{MEMBER("\"0x7fff\"", ",\"guids\":[\"0x1\",\"2\"]"), "there is no node \\\"2\\\""},
		{MEMBER("\"0x7fff\"", ",\"guids\":[\"0x0\"]"), "there is no node \\\"0x0\\\""},
		{MEMBER("\"0x7fff\"", ",\"members\":[\"host-0002\",5]"), "a member is not a text"},
		{MEMBER("\"0x7fff\"", ",\"members\":\"host-[0002-0004]\""),
		 "there is no node \\\"host-0004\\\"; did you mean \\\"host-0001\\\"?"},
		{MEMBER("\"0x7fff\"", ",\"members\":\"host-[]\""), "is not a number or a range"},
		{MEMBER("\"0x7fff\"", ",\"members\":\"0x1-0x200000\""), "a range of GUIDs has"},
		{MEMBER("\"0x7fff\"", ",\"members\":\"host-0002=both\""), "allow_both_pkeys"},
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
		{"done", test_done},
		{"source of a membership", test_by},
		{"at once", test_at_once},
		{"refused", test_refusals},
		{"late", test_late},
		{"names", test_names},
		{"no full member", test_no_full_member},
		{"dangers", test_dangers},
		{"notes of a check", test_notes},
		CU_TEST_INFO_NULL,
	};

	return unit_main("partition_commands", tests);
}
