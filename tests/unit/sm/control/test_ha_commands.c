/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ha handover, disable, enable, discover: refusals and their texts, the packets to another manager,
 * and the answer to waiting clients if the daemon stops. The other manager is a fake agent with an
 * SMInfo. tests/sim and tests/system test both managers.
 */
#include <inttypes.h>

#include "sm/control/commands.h"
#include "tests/unit/fixtures/control_world.h"

static struct fake_node *other;

static struct world *with_standby_and(struct sm_options options)
{
	struct world *world = control_start_with("single:hosts=3", options);

	other = sm_world_node(world, "host-0002");
	other->has_sm = true;
	other->sm = (struct sm_info){.guid = other->info.port_guid + 1, .state = SM_STANDBY};
	other->port[1].info.capability_mask |= CAP_IS_SM;
	sm_world_sweep(world, DISCOVER_HEAVY);
	return world;
}

static struct world *with_standby(void)
{
	return with_standby_and(sm_world_options());
}

/* Queries the status of the other manager's GUID; true if the answer has the text. */
static bool says(struct world *world, const char *command, const char *more, const char *words)
{
	char request[128];

	snprintf(request, sizeof(request), "{\"command\":\"%s\",\"guid\":\"0x%016" PRIx64 "\"%s}\n",
		 command, other->sm.guid, more);
	control_ask(world, request);
	return control_has(0, words);
}

static void test_refuses(void)
{
	static const struct {
		const char *request, *words;
	} rows[] = {
		{"ha handover\"", "no manager is in STANDBY; found: none"},
		{"ha handover\",\"guid\":\"0x17\"",
		 "no subnet manager with GUID 0x0000000000000017 found"},
		{"ha handover\",\"guid\":\"17\"", "there is no node \\\"17\\\""},
		{"ha handover\",\"guid\":\"0x17g\"", "there is no node \\\"0x17g\\\""},
		{"ha handover\",\"guid\":\"0x\"", "there is no node"},
		{"ha handover\",\"guid\":\"host-002\"", "did you mean \\\"host-0002\\\"?"},
		{"ha disable\",\"guid\":\"host-0002\"",
		 "no subnet manager on \\\"host-0002\\\": use a port GUID; found: none"},
		{"ha disable\",\"guid\":\"host-[0002-0003]\"",
		 "names 2 nodes: this command needs one"},
		{"ha handover\",\"guid\":17", "expected a manager"},
		{"ha handover\",\"guid\":\"0x11111111111111111\"", "there is no node"},
		{"ha disable\"",
		 "no subnet manager with GUID 0x0000000000000000 found; found: none"},
		{"ha enable\",\"guid\":\"0x17\"",
		 "no subnet manager with GUID 0x0000000000000017 found"},
		{"ha discover\",\"guid\":\"\"", "there is no node"},
	};
	struct world *world = control_start("single:hosts=3");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char request[128];

		snprintf(request, sizeof(request), "{\"command\":\"%s}\n", rows[i].request);
		control_ask(world, request);
		CU_ASSERT(control_has(0, "\"ok\":false") && control_has(0, rows[i].words));
	}
	control_end(world);
}

static void test_orders(void)
{
	struct world *world = with_standby();
	char request[128];

	other->sm_control_status = STATUS_INVALID_VALUE;
	CU_ASSERT(says(world, "ha disable", "", "refuses (status 0x001c)"));
	other->sm_control_status = STATUS_OK;
	CU_ASSERT(says(world, "ha enable", "",
		       "is STANDBY: this command needs a manager in NOTACTIVE"));
	CU_ASSERT(says(world, "ha disable", "", "\"state\":\"STANDBY\"")); /* as it says then */
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_DISABLE);
	CU_ASSERT_EQUAL(other->sm_heard.state, SM_MASTER);
	CU_ASSERT_EQUAL(other->sm_heard.guid, world->fake->transport.port.port_guid);
	CU_ASSERT(says(world, "ha discover", "", "\"ok\":true"));
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_DISCOVER);
	other->sm.state = SM_NOTACTIVE;
	CU_ASSERT(says(world, "ha disable", "",
		       "is NOTACTIVE: this command needs a manager in STANDBY"));
	CU_ASSERT(says(world, "ha handover", "", "is NOTACTIVE: only a STANDBY"));
	CU_ASSERT(says(world, "ha enable", "", "\"ok\":true"));
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_STANDBY);
	other->sm.state = SM_STANDBY;
	snprintf(request, sizeof(request), "{\"command\":\"ha disable\",\"guid\":\"%s\"}\n",
		 other->description);
	control_ask(world, request); /* by the name of its node */
	CU_ASSERT(control_has(0, "\"ok\":true"));
	snprintf(request, sizeof(request),
		 "{\"command\":\"ha discover\",\"guid\":\"%016" PRIx64 "\"}\n", other->sm.guid);
	control_ask(world, request); /* without 0x */
	CU_ASSERT(control_has(0, "\"ok\":true"));
	other->has_sm = false;
	CU_ASSERT(says(world, "ha disable", "", "refuses (status 0x000c)"));
	control_end(world);
}

static void test_hands_over(void)
{
	struct world *world = with_standby();

	other->sm_control_status = STATUS_INVALID_VALUE;
	CU_ASSERT(says(world, "ha handover", "", "refused (status 0x001c), because"));
	CU_ASSERT_EQUAL(peers_role(world->sm->peers), SM_MASTER);
	other->sm_control_status = STATUS_OK;
	CU_ASSERT(says(world, "ha handover", "", "\"state\":\"MASTER\""));
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_HANDOVER);
	CU_ASSERT_EQUAL(peers_role(world->sm->peers), SM_STANDBY);
	CU_ASSERT(says(world, "ha handover", "",
		       "this manager is STANDBY: to run this command, use the MASTER"));
	CU_ASSERT(says(world, "ha disable", "",
		       "this manager is STANDBY: to run this command, use the MASTER"));
	control_end(world);
}

/* A manager without a copy of the partitions that commands made would remove their P_Keys. */
static void test_keeps_partitions(void)
{
	static const struct partition_entry partition = {.p_key = 5, .mtu = 4, .rate = 3};
	struct world *world = with_standby();

	registry_put(world->registry, REGISTRY_PARTITION, &partition);
	CU_ASSERT(says(world, "ha handover", "",
		       "has no copy of the 1 partition and 0 members that commands made here"));
	control_ask(world, "{\"command\":\"ha handover\"}\n");
	CU_ASSERT(control_has(0, "(--force hands over all the same)"));
	CU_ASSERT_EQUAL(peers_role(world->sm->peers), SM_MASTER);
	CU_ASSERT(says(world, "ha handover", ",\"force\":true", "\"state\":\"MASTER\""));
	control_end(world);
}

static bool sent_again(const struct world *world)
{
	(void)world;
	return other->sm_heard.guid != 0;
}

static bool second_answered(const struct world *world)
{
	(void)world;
	return control_answered(2);
}

/* The command waits for a busy manager. Another command is refused in the meantime. */
static void test_stops(void)
{
	struct world *world = with_standby();

	other->sm_control_status = STATUS_BUSY;
	control_say(1, "{\"command\":\"ha handover\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, sent_again));
	control_say(2, "{\"command\":\"ha handover\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, second_answered));
	CU_ASSERT(control_has(2, "another ha command is running"));
	sm_world_stop(world);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(1, "the daemon is stopping"));
	control_end(world);
}

/*
 * Control packets whose requests or answers are lost, late or doubled, in every order. The answer
 * to the command reports success exactly if the other manager obeyed. The other manager accepts a
 * repeated order, as this manager does, or refuses it, as OpenSM's
 * osm_sm_state_mgr_check_legality() does.
 */

enum { FATES = 4 }; /* of the first SMInfo packets of a command; those that follow arrive */

static struct {
	const enum fake_fate *fates;
	unsigned taken;
	bool refuses_repeated;
	unsigned looks;	 /* a DISCOVERING is a STANDBY again after so many packets */
	unsigned obeyed; /* orders */
} model;

/* Chapter 14.4.1's states, for orders. SM_NOTACTIVE is 0, so one more. */
static enum sm_state ordered_from(enum sm_state from, uint32_t control)
{
	static const uint8_t to[4][6] = {
		[SM_NOTACTIVE] = {[SM_CONTROL_STANDBY] = SM_STANDBY + 1},
		[SM_STANDBY] = {[SM_CONTROL_HANDOVER] = SM_MASTER + 1,
				[SM_CONTROL_DISABLE] = SM_NOTACTIVE + 1,
				[SM_CONTROL_DISCOVER] = SM_DISCOVERING + 1},
	};

	return to[from][control] ? to[from][control] - 1u : from;
}

static void model_obeys(uint32_t control)
{
	enum sm_state to = ordered_from(other->sm.state, control);
	bool repeated = model.obeyed && to == other->sm.state;

	other->sm_control_status = STATUS_OK;
	if (to != other->sm.state)
		model.obeyed++;
	else if (!repeated || model.refuses_repeated)
		other->sm_control_status = STATUS_INVALID_VALUE;
	other->sm.state = to;
}

static enum fake_fate model_fate(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	enum fake_fate fate = FAKE_ANSWER;

	(void)ctx;
	if (header->attr_id != ATTR_SM_INFO || node != other)
		return FAKE_ANSWER;
	if (model.taken < FATES)
		fate = model.fates[model.taken++];
	if (fate == FAKE_LOSE_REQUEST)
		return fate;
	if (other->sm.state == SM_DISCOVERING && !model.looks--)
		other->sm.state = SM_STANDBY;
	if (header->method == METHOD_SET)
		model_obeys(header->attr_mod);
	return fate;
}

/* Plays one command; true if its answer is right. */
static bool is_answer_true(const char *command, enum sm_state from)
{
	struct sm_options options = sm_world_options();
	char request[128];
	struct world *world;
	bool told;

	options.poll_interval_ms = 1000000; /* only the command's packets meet a fate */
	options.smp_timeout_min_ms = options.smp_timeout_ms = 3;
	world = with_standby_and(options);
	other->sm.state = from;
	world->fake->fate = model_fate;
	snprintf(request, sizeof(request), "{\"command\":\"%s\",\"guid\":\"0x%016" PRIx64 "\"}\n",
		 command, other->sm.guid);
	control_ask(world, request);
	told = strstr(control_bed.clients[0].text, "\"ok\":true") != NULL;
	if (strcmp(command, "ha handover") == 0)
		CU_ASSERT_EQUAL(peers_role(world->sm->peers), told ? SM_STANDBY : SM_MASTER);
	world->fake->fate = NULL;
	control_end(world);
	return told == (model.obeyed > 0);
}

static void test_lost_answers(void)
{
	static const struct {
		const char *command;
		enum sm_state from;
		unsigned looks;
	} rows[] = {
		{"ha disable", SM_STANDBY, 0},	 {"ha enable", SM_NOTACTIVE, 0},
		{"ha discover", SM_STANDBY, 0},	 {"ha discover", SM_STANDBY, 1},
		{"ha discover", SM_STANDBY, 99}, {"ha handover", SM_STANDBY, 0},
	};
	static const enum fake_fate kinds[] = {FAKE_ANSWER, FAKE_LOSE_REQUEST, FAKE_LOSE_ANSWER};
	static const enum fake_fate others[][FATES] = {
		{FAKE_ANSWER_LATE, FAKE_ANSWER_LATE, FAKE_ANSWER_LATE, FAKE_ANSWER_LATE},
		{FAKE_ANSWER_TWICE, FAKE_ANSWER_TWICE, FAKE_ANSWER_TWICE, FAKE_ANSWER_TWICE},
		{FAKE_ANSWER, FAKE_ANSWER_LATE, FAKE_LOSE_ANSWER, FAKE_ANSWER_TWICE},
		{FAKE_ANSWER, FAKE_ANSWER_TWICE, FAKE_ANSWER_LATE, FAKE_LOSE_REQUEST},
	};
	enum { ORDERS = 81 };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows) * (ORDERS + ARRAY_SIZE(others)); i++) {
		size_t row = i / 2 % ARRAY_SIZE(rows), number = i / 2 / ARRAY_SIZE(rows);
		enum fake_fate fates[FATES];

		for (size_t k = 0, left = number; k < FATES; k++, left /= ARRAY_SIZE(kinds))
			fates[k] = kinds[left % ARRAY_SIZE(kinds)];
		model.fates = number < ORDERS ? fates : others[number - ORDERS];
		model.refuses_repeated = i % 2;
		model.taken = model.obeyed = 0;
		model.looks = rows[row].looks;
		if (!is_answer_true(rows[row].command, rows[row].from)) {
			printf("\n%s, fates %d %d %d %d, repeated %s: obeyed %u times, answer %s",
			       rows[row].command, (int)model.fates[0], (int)model.fates[1],
			       (int)model.fates[2], (int)model.fates[3],
			       model.refuses_repeated ? "refused" : "taken", model.obeyed,
			       control_bed.clients[0].text ? control_bed.clients[0].text : "?");
			CU_FAIL("the answer is not true");
		}
	}
}

static struct window_target *target_of_other(const struct world *world)
{
	return &port_agent(map_get(&world->sm->fabric->ports, other->sm.guid))->target;
}

static bool is_queried(const struct world *world)
{
	return !list_empty(&target_of_other(world)->flights);
}

/* The target of the command disappears, with the requests that are under way to it. */
static void test_goes(void)
{
	struct world *world = with_standby();
	char request[128];

	other->silent = true;
	snprintf(request, sizeof(request),
		 "{\"command\":\"ha disable\",\"guid\":\"0x%016" PRIx64 "\"}\n", other->sm.guid);
	control_say(1, request);
	CU_ASSERT_TRUE(sm_world_run(world, is_queried));
	window_target_drop(target_of_other(world), world->sm->commands->ha);
	CU_ASSERT_TRUE(sm_world_run(world, control_all_answered));
	CU_ASSERT(control_has(1, "has disappeared"));
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"refusals", test_refuses},	     {"orders", test_orders},
		{"handing over", test_hands_over},   {"partitions are kept", test_keeps_partitions},
		{"the other goes", test_goes},	     {"the daemon stops", test_stops},
		{"lost answers", test_lost_answers}, CU_TEST_INFO_NULL,
	};

	return unit_main("ha commands", tests);
}
