/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ha handover, disable, enable, discover: what is refused and how that is told, what another
 * manager is sent, and that a daemon which stops answers who waits. The other manager is a fake
 * agent with an SMInfo. (What becomes of both managers is seen in tests/sim and tests/system.)
 */
// LINK: sm/*.o fabric/*.o route/*.o sma/attr.o sma/notice.o sma/port.o
// LINK: mad/field.o mad/mad.o mad/txn.o mad/window.o mad/rtt.o formats/*.o sim/spec*.o lib/*.o
// LIBS: -lsqlite3 -lsystemd -ljansson
#include <inttypes.h>

#include "tests/unit/control_world.h"

static struct fake_node *other;

static struct world *with_standby(void)
{
	struct world *world = start("single:hosts=3");

	other = world_node(world, "host-0002");
	other->has_sm = true;
	other->sm = (struct sm_info){.guid = other->info.port_guid + 1, .state = SM_STANDBY};
	other->port[1].info.capability_mask |= CAP_IS_SM;
	world_sweep(world, DISCOVER_FULL);
	return world;
}

/* Asks what is said of the other manager's GUID; whether it says so. */
static bool says(struct world *world, const char *command, const char *more, const char *words)
{
	char request[128];

	snprintf(request, sizeof(request), "{\"command\":\"%s\",\"guid\":\"0x%016" PRIx64 "\"%s}\n",
		 command, other->sm.guid, more);
	ask(world, request);
	return has(0, words);
}

static void test_refuses(void)
{
	static const struct {
		const char *request, *words;
	} rows[] = {
		{"ha handover\"", "no manager is in STANDBY; there are: nobody"},
		{"ha handover\",\"guid\":\"0x17\"",
		 "0x0000000000000017 shows itself as no manager"},
		{"ha handover\",\"guid\":\"17\"", "\\\"17\\\" is no port GUID"},
		{"ha handover\",\"guid\":\"0x17g\"", "is no port GUID"},
		{"ha handover\",\"guid\":\"0x\"", "is no port GUID"},
		{"ha handover\",\"guid\":17", "is no port GUID"},
		{"ha handover\",\"guid\":\"0x11111111111111111\"", "is no port GUID"},
		{"ha disable\"", "shows itself as no manager here; there are: nobody"},
		{"ha enable\",\"guid\":\"0x17\"", "shows itself as no manager"},
		{"ha discover\",\"guid\":\"\"", "is no port GUID"},
	};
	struct world *world = start("single:hosts=3");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char request[128];

		snprintf(request, sizeof(request), "{\"command\":\"%s}\n", rows[i].request);
		ask(world, request);
		CU_ASSERT(has(0, "\"ok\":false") && has(0, rows[i].words));
	}
	end(world);
}

static void test_orders(void)
{
	struct world *world = with_standby();

	other->sm_control_status = STATUS_INVALID_VALUE;
	CU_ASSERT(says(world, "ha disable", "", "refuses (status 0x001c)"));
	other->sm_control_status = STATUS_OK;
	CU_ASSERT(says(world, "ha enable", "", "is STANDBY: only one at rest (NOTACTIVE)"));
	CU_ASSERT(says(world, "ha disable", "", "\"state\":\"STANDBY\"")); /* as it says then */
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_DISABLE);
	CU_ASSERT_EQUAL(other->sm_heard.state, SM_MASTER);
	CU_ASSERT_EQUAL(other->sm_heard.guid, world->fake->transport.port.port_guid);
	CU_ASSERT(says(world, "ha discover", "", "\"ok\":true"));
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_DISCOVER);
	other->sm.state = SM_NOTACTIVE;
	CU_ASSERT(says(world, "ha disable", "", "is NOTACTIVE: only one in STANDBY"));
	CU_ASSERT(says(world, "ha handover", "", "is NOTACTIVE: only a STANDBY"));
	CU_ASSERT(says(world, "ha enable", "", "\"ok\":true"));
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_STANDBY);
	other->has_sm = false;
	CU_ASSERT(says(world, "ha disable", "", "refuses (status 0x000c)"));
	end(world);
}

static void test_hands_over(void)
{
	struct world *world = with_standby();

	other->sm_control_status = STATUS_INVALID_VALUE;
	CU_ASSERT(says(world, "ha handover", "", "refuses (status 0x001c), as one does that"));
	CU_ASSERT_EQUAL(peers_role(world->sm->peers), SM_MASTER);
	other->sm_control_status = STATUS_OK;
	CU_ASSERT(says(world, "ha handover", "", "\"state\":\"MASTER\""));
	CU_ASSERT_EQUAL(other->sm_control, SM_CONTROL_HANDOVER);
	CU_ASSERT_EQUAL(peers_role(world->sm->peers), SM_STANDBY);
	CU_ASSERT(says(world, "ha handover", "", "this manager is STANDBY: only the MASTER"));
	CU_ASSERT(says(world, "ha disable", "", "this manager is STANDBY: only the MASTER"));
	end(world);
}

static bool asked_again(const struct world *world)
{
	(void)world;
	return other->sm_heard.guid != 0;
}

static bool second_answered(const struct world *world)
{
	(void)world;
	return answered(2);
}

/* It waits for who is busy, and nobody else can order meanwhile. */
static void test_stops(void)
{
	struct world *world = with_standby();

	other->sm_control_status = STATUS_BUSY;
	say(1, "{\"command\":\"ha handover\"}\n");
	CU_ASSERT_TRUE(world_run(world, asked_again));
	say(2, "{\"command\":\"ha handover\"}\n");
	CU_ASSERT_TRUE(world_run(world, second_answered));
	CU_ASSERT(has(2, "another manager is being told something"));
	sm_stop(world->sm);
	world_run(world, all_answered);
	CU_ASSERT(has(1, "the daemon is stopping"));
	end(world);
}

static struct window_target *target_of_other(const struct world *world)
{
	return &port_agent(map_get(&world->sm->fabric->ports, other->sm.guid))->target;
}

static bool is_asked(const struct world *world)
{
	return !list_empty(&target_of_other(world)->flights);
}

/* Who is told something goes, and what is under way to it with it. */
static void test_goes(void)
{
	struct world *world = with_standby();
	char request[128];

	other->silent = true;
	snprintf(request, sizeof(request),
		 "{\"command\":\"ha disable\",\"guid\":\"0x%016" PRIx64 "\"}\n", other->sm.guid);
	say(1, request);
	CU_ASSERT_TRUE(world_run(world, is_asked));
	window_target_drop(target_of_other(world), world->sm->ha);
	CU_ASSERT_TRUE(world_run(world, all_answered));
	CU_ASSERT(has(1, "is gone"));
	end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"what is refused", test_refuses}, {"orders", test_orders},
		{"handing over", test_hands_over}, {"the other goes", test_goes},
		{"the daemon stops", test_stops},  CU_TEST_INFO_NULL,
	};

	return unit_main("ha commands", tests);
}
