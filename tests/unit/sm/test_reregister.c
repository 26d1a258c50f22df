/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ClientReregister for ports whose registrations a manager need not know: once, and paced. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/sm_world.h"

enum {
	ENDS = 3 + 2, /* hosts and switches */
	RATE = 3,
	UPTIME_US = 1000000,
};

static unsigned reregistered(const struct world *world)
{
	unsigned sum = 0;

	for (unsigned n = 0; n < world->fake->num_nodes; n++)
		for (unsigned p = 0; p <= world->fake->nodes[n]->info.num_ports; p++)
			sum += world->fake->nodes[n]->port[p].reregisters;
	return sum;
}

/* Another manager might have been MASTER in between, but was not. */
static void forget_all(struct world *world)
{
	fabric_new_rereg_epoch(world->sm->fabric);
}

static unsigned wanted;
static bool has_reregistered(const struct world *world)
{
	return reregistered(world) >= wanted;
}

static struct world *world_with_rate(unsigned rate)
{
	struct sm_options options = sm_world_options();
	struct world *world;

	options.rereg_rate = rate;
	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, &options);
	loop_set_now(world->loop, UPTIME_US); /* the rate permits its full number */
	CU_ASSERT_TRUE(sm_world_up(world));
	return world;
}

static void test_once(void)
{
	struct world *world = world_with_rate(1000);
	unsigned before = reregistered(world);

	sm_world_sweep(world, DISCOVER_HEAVY); /* they are known */
	CU_ASSERT_EQUAL(reregistered(world), before);
	forget_all(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(reregistered(world), before + ENDS);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(reregistered(world), before + ENDS);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* The rate bounds how many are notified in a second. The others follow in the next seconds, without
 * a sweep. */
static void test_paced(void)
{
	struct world *world = world_with_rate(RATE);
	unsigned before = reregistered(world);
	uint64_t sweep;

	forget_all(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(reregistered(world), before + RATE);
	sweep = world->sm->sweep.last.number;
	wanted = before + ENDS;
	sm_world_run(world, has_reregistered);
	CU_ASSERT_EQUAL(reregistered(world), before + ENDS);
	CU_ASSERT_EQUAL(world->sm->sweep.last.number, sweep);
	sm_world_free(world);
}

/* Another manager had the subnet: all hosts and switches but our own port know its LID. */
static void know_another(struct world *world)
{
	for (unsigned n = 0; n < world->fake->num_nodes; n++)
		for (unsigned p = 0; p <= world->fake->nodes[n]->info.num_ports; p++)
			if (&world->fake->nodes[n]->port[p] != world->fake->local)
				world->fake->nodes[n]->port[p].info.master_sm_lid = 99;
}

static unsigned port_sets(const struct world *world)
{
	unsigned sum = 0;

	for (size_t i = 0; i < world->fake->num_sets; i++)
		sum += world->fake->sets[i].attr_id == ATTR_PORT_INFO;
	return sum;
}

/* One Set() writes MasterSMLID and notifies the port to re-register. It is paced like the others,
 * and is also sent with rereg_rate 0. */
static void test_takeover(void)
{
	static const unsigned rates[] = {1000, RATE, 0};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct world *world = world_with_rate(rates[i]);
		unsigned before = reregistered(world);

		know_another(world);
		fabric_new_rereg_epoch(world->sm->fabric);
		sm_world_sweep(world, DISCOVER_HEAVY);
		if (rates[i] == RATE)
			CU_ASSERT_EQUAL(port_sets(world), RATE);
		wanted = before + ENDS - !rates[i];
		sm_world_run(world, has_reregistered);
		CU_ASSERT_EQUAL(reregistered(world), wanted);
		CU_ASSERT_EQUAL(port_sets(world), ENDS - !rates[i]);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

static void test_not_at_all(void)
{
	struct world *world = world_with_rate(0);
	unsigned before = reregistered(world);

	forget_all(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(reregistered(world), before);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	sm_world_free(world);
}

/* A host that does not know the bit is left alone. */
static void test_cannot(void)
{
	struct world *world = world_with_rate(1000);
	struct fake_port *host = &sm_world_node(world, "host-3")->port[1];
	unsigned before = reregistered(world);

	host->info.capability_mask &= ~CAP_CLIENT_REREGISTER;
	forget_all(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(reregistered(world), before + ENDS - 1);
	sm_world_free(world);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"once", test_once},
		{"paced", test_paced},
		{"not at all", test_not_at_all},
		{"cannot", test_cannot},
		{"takeover", test_takeover},
		CU_TEST_INFO_NULL,
	};

	return unit_main("remind", tests);
}
