/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How requests for sweeps are merged and held: sm/trigger.h. The loop runs one turn at a time. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include <string.h>

#include "sm/trigger.h"
#include "tests/unit/fixtures/unit.h"

static struct loop *loop;
static struct trigger trigger, taken;
static struct loop_timer stop;
static unsigned fired;

static void fire(void *arg)
{
	trigger_take(arg, &taken);
	fired++;
}

static void stop_now(void *arg)
{
	(void)arg;
	loop_stop(loop, 0);
}

static void run(void)
{
	loop_timer_arm(&stop, 1000);
	loop_run(loop);
}

static void begin(void)
{
	loop = loop_new();
	loop_timer_init(&stop, loop, "stop", stop_now, NULL);
	trigger_init(&trigger, loop, fire, &trigger);
	fired = 0;
}

static void end(void)
{
	trigger_done(&trigger);
	loop_free(loop);
}

static void test_first_acts_others_wait(void)
{
	begin();
	trigger_light(&trigger, "first");
	CU_ASSERT_EQUAL(fired, 0); /* deferred */
	run();
	CU_ASSERT_EQUAL(fired, 1);
	CU_ASSERT_EQUAL(taken.kind, DISCOVER_LIGHT);
	CU_ASSERT_STRING_EQUAL(taken.reason, "first");
	CU_ASSERT_EQUAL(taken.merged, 0);
	CU_ASSERT_FALSE(trigger.wanted);
	trigger_light(&trigger, "second");
	trigger_heavy(&trigger, "third");
	trigger_light(&trigger, "fourth");
	run();
	CU_ASSERT_EQUAL(fired, 1); /* held */
	trigger_release(&trigger);
	run();
	CU_ASSERT_EQUAL(fired, 2);
	CU_ASSERT_EQUAL(taken.kind, DISCOVER_HEAVY);
	CU_ASSERT_STRING_EQUAL(taken.reason, "second");
	CU_ASSERT_EQUAL(taken.merged, 2);
	trigger_release(&trigger);
	run();
	CU_ASSERT_EQUAL(fired, 2); /* nothing was wanted */
	end();
}

/* A request that merges into a wanted heavy sweep takes no turn of the rate, so the turn is left
 * for a later request. */
static void test_paced(void)
{
	struct rate rate = {.burst = 2, .interval_us = 1000000};

	begin();
	trigger_light(&trigger, "interval");
	CU_ASSERT_TRUE(trigger_heavy_paced(&trigger, &rate, 1, "first"));
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT_TRUE(trigger_heavy_paced(&trigger, &rate, 2, "merged"));
	run();
	CU_ASSERT_EQUAL(taken.kind, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(taken.merged, 6);
	CU_ASSERT_TRUE(trigger_heavy_paced(&trigger, &rate, 3, "second"));
	trigger_release(&trigger);
	run();
	CU_ASSERT_FALSE(trigger_heavy_paced(&trigger, &rate, 4, "third"));
	CU_ASSERT_FALSE(trigger.wanted);
	end();
}

static void test_nodes_are_joined(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++)
		trigger_node(&trigger, 7, "trap");
	trigger_node(&trigger, 8, "trap");
	trigger_port(&trigger, 8, LOOK_PORT, "trap"); /* a switch's port may have its node's GUID */
	trigger_port(&trigger, 8, LOOK_DESCRIPTION, "trap");
	run();
	CU_ASSERT_EQUAL(fired, 1);
	CU_ASSERT_EQUAL(taken.kind, DISCOVER_TARGETED);
	CU_ASSERT_EQUAL(taken.num_targets, 3);
	CU_ASSERT_EQUAL(taken.targets[0].guid, 7);
	CU_ASSERT_EQUAL(taken.targets[0].what, LOOK_NODE);
	CU_ASSERT_EQUAL(taken.targets[1].guid, 8);
	CU_ASSERT_EQUAL(taken.targets[1].what, LOOK_NODE);
	CU_ASSERT_EQUAL(taken.targets[2].what, LOOK_PORT | LOOK_DESCRIPTION);
	CU_ASSERT_EQUAL(taken.merged, 102);
	CU_ASSERT_EQUAL(trigger.num_targets, 0);
	end();
}

/* A light sweep reads its usual data, and the requested nodes. */
static void test_light_takes_names_along(void)
{
	begin();
	trigger_node(&trigger, 7, "trap");
	trigger_light(&trigger, "interval");
	trigger_node(&trigger, 8, "trap");
	run();
	CU_ASSERT_EQUAL(taken.kind, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(taken.num_targets, 2);
	end();
}

static void test_many_nodes_make_it_light(void)
{
	for (guid_t count = TRIGGER_NODES_MAX; count <= TRIGGER_NODES_MAX + 1; count++) {
		begin();
		for (guid_t guid = 1; guid <= count; guid++)
			trigger_node(&trigger, guid, "trap");
		run();
		CU_ASSERT_EQUAL(taken.kind,
				count > TRIGGER_NODES_MAX ? DISCOVER_LIGHT : DISCOVER_TARGETED);
		CU_ASSERT_EQUAL(taken.num_targets, TRIGGER_NODES_MAX);
		end();
	}
}

static void test_reroute(void)
{
	char reason[4 * TRIGGER_REASON_SIZE];

	begin();
	memset(reason, 'x', sizeof(reason));
	reason[sizeof(reason) - 1] = '\0';
	trigger_reroute(&trigger, reason);
	run();
	CU_ASSERT_TRUE(taken.reroute);
	CU_ASSERT_EQUAL(strlen(taken.reason), TRIGGER_REASON_SIZE - 1);
	trigger_release(&trigger);
	trigger_light(&trigger, "later");
	run();
	CU_ASSERT_FALSE(taken.reroute); /* forgotten when taken */
	end();
}

/* A sweep that was fired but not taken (the handler was busy) stays wanted. */
static void ignore(void *arg)
{
	(void)arg;
	fired++;
}

static void test_not_taken_stays(void)
{
	begin();
	trigger_done(&trigger);
	trigger_init(&trigger, loop, ignore, &trigger);
	trigger_node(&trigger, 7, "trap");
	run();
	CU_ASSERT_EQUAL(fired, 1);
	CU_ASSERT_TRUE(trigger.wanted);
	trigger_heavy(&trigger, "more");
	run();
	CU_ASSERT_EQUAL(fired, 2);
	CU_ASSERT_EQUAL(trigger.kind, DISCOVER_HEAVY);
	CU_ASSERT_STRING_EQUAL(trigger.reason, "trap");
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"the first acts, others wait", test_first_acts_others_wait},
		{"heavy sweeps at a rate", test_paced},
		{"nodes are joined", test_nodes_are_joined},
		{"a light sweep takes names along", test_light_takes_names_along},
		{"many nodes make it light", test_many_nodes_make_it_light},
		{"reroute", test_reroute},
		{"not taken stays", test_not_taken_stays},
		CU_TEST_INFO_NULL,
	};

	return unit_main("trigger", tests);
}
