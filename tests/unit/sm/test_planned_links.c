/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The planned topology (sm/planned_links.c, sm/planned_gaps.c, sm/control/planned.c) on a fat tree
 * of fake agents: leaf-01 to leaf-04 with two hosts each, spine-01 and spine-02. Each test changes
 * the fabric or the plan, and looks at the members planned_links and lost_links of the status.
 */
#include "lib/guid.h"
#include "tests/unit/fixtures/control_world.h"

static const char fabric_spec[] = "fattree:radix=4,levels=2";

static bool is_compared(const struct world *world)
{
	const struct planned_links *planned = &world->sm->planned;

	return sm_world_is_quiet(world) && planned->known && !planned->job;
}

static struct world *start_planned(struct net *plan)
{
	struct world *world = control_start(fabric_spec);

	sm_set_plan(world->sm, plan, "plan.net");
	CU_ASSERT_TRUE(sm_world_run(world, is_compared));
	return world;
}

/* A heavy sweep, and the comparison after it. */
static void sweep_planned(struct world *world)
{
	CU_ASSERT_TRUE(sm_world_sweep(world, DISCOVER_HEAVY));
	CU_ASSERT_TRUE(sm_world_run(world, is_compared));
}

static struct fake_port *port_named(const struct world *world, const char *node, unsigned port)
{
	return &sm_world_node(world, node)->port[port];
}

struct expected {
	int nodes, missing, moved, by_command;
	int lost, lost_planned; /* of lost_links */
	const char *example;
};

static int number_in(const json_t *object, const char *name)
{
	return (int)json_integer_value(json_object_get(object, name));
}

static void expect(const struct world *world, const struct expected *expected)
{
	json_t *status = sm_status(world->sm);
	const json_t *planned = json_object_get(status, "planned_links");
	const json_t *lost = json_object_get(status, "lost_links");
	const char *example = json_string_value(json_object_get(planned, "example"));

	CU_ASSERT_EQUAL(number_in(planned, "nodes_missing"), expected->nodes);
	CU_ASSERT_EQUAL(number_in(planned, "missing"), expected->missing);
	CU_ASSERT_EQUAL(number_in(planned, "moved"), expected->moved);
	CU_ASSERT_EQUAL(number_in(planned, "by_command"), expected->by_command);
	CU_ASSERT_EQUAL(number_in(lost, "count"), expected->lost);
	CU_ASSERT_EQUAL(number_in(lost, "planned"), expected->lost_planned);
	CU_ASSERT_PTR_NOT_NULL_FATAL(example);
	CU_ASSERT_STRING_EQUAL(example, expected->example);
	if (strcmp(example, expected->example) != 0 ||
	    number_in(planned, "by_command") != expected->by_command)
		printf("\nexample: %s, by command: %d\n", example,
		       number_in(planned, "by_command"));
	json_decref(status);
}

static bool has_plan(const struct world *world)
{
	json_t *status = sm_status(world->sm);
	bool has = json_object_get(status, "planned_links") != NULL;

	json_decref(status);
	return has;
}

static int lost_links(const struct world *world)
{
	json_t *status = sm_status(world->sm);
	int count = number_in(json_object_get(status, "lost_links"), "count");

	json_decref(status);
	return count;
}

static const struct expected as_planned = {.example = ""};

/* A link that is lost is in one of the two lists, and in none when it is back. */
static void test_pulled(void)
{
	struct world *world = start_planned(net_from_spec(fabric_spec));
	struct fake_port *port = port_named(world, "leaf-02", 3);

	expect(world, &as_planned);
	fake_link(port, false);
	sweep_planned(world);
	expect(world, &(struct expected){.missing = 1,
					 .lost_planned = 1,
					 .example = "\"leaf-02\" port 3 - \"spine-01\" port 2"});
	fake_link(port, true);
	sweep_planned(world);
	expect(world, &as_planned);
	fake_link(port, false);
	sweep_planned(world);
	sm_set_plan(world->sm, NULL, ""); /* then it is a lost link as any other */
	CU_ASSERT_FALSE(has_plan(world));
	CU_ASSERT_EQUAL(lost_links(world), 1);
	control_end(world);
}

static void test_swapped(void)
{
	struct world *world = start_planned(net_from_spec(fabric_spec));
	struct fake_port *a = port_named(world, "leaf-02", 3), *b = port_named(world, "leaf-03", 3);

	fake_swap(a, b);
	sweep_planned(world);
	expect(world, &(struct expected){.missing = 2,
					 .moved = 2,
					 .example = "\"leaf-02\" port 3 - \"spine-01\" port 2 "
						    "(moved), \"leaf-03\" port 3 - \"spine-01\" "
						    "port 3 (moved)"});
	fake_swap(a, b);
	sweep_planned(world);
	expect(world, &as_planned);
	control_end(world);
}

/* The cable of an absent host is not counted again. nameless: the plan has no GUIDs. */
static void lose_a_host(bool nameless)
{
	struct net *plan = net_from_spec(fabric_spec);
	struct world *world;

	for (unsigned i = 0; nameless && i < plan->count; i++)
		plan->nodes[i].guid = 0;
	world = start_planned(plan);
	expect(world, &as_planned);
	fake_link(port_named(world, "host-0005", 1), false);
	fake_link(port_named(world, "leaf-02", 3), false);
	sweep_planned(world);
	expect(world, &(struct expected){.nodes = 1,
					 .missing = 1,
					 .lost_planned = 2,
					 .example = "\"host-0005\", \"leaf-02\" port 3 - "
						    "\"spine-01\" port 2"});
	control_end(world);
}

static void test_absent(void)
{
	lose_a_host(false);
}

static void test_by_names(void)
{
	lose_a_host(true);
}

/* A lost link at ports that the plan does not connect. */
static void test_unplanned(void)
{
	struct net *plan = net_from_spec(fabric_spec);
	struct world *world;

	net_disconnect(plan, net_find(plan, "leaf-02"), 3);
	world = start_planned(plan);
	expect(world, &as_planned);
	fake_link(port_named(world, "leaf-02", 3), false);
	sweep_planned(world);
	expect(world, &(struct expected){.lost = 1, .example = ""});
	control_end(world);
}

static void (*former_after_set)(void *ctx, const struct fake_set *set);

/* A port that is disabled loses its link, as at a real device. */
static void disable_link(void *ctx, const struct fake_set *set)
{
	struct port_info want;

	former_after_set(ctx, set);
	if (set->attr_id != ATTR_PORT_INFO || !set->port || !set->port->peer)
		return;
	attr_decode(&port_info_format, set->data, &want);
	if (want.port_physical_state != PHYS_DISABLED)
		return;
	fake_link(set->port, false);
	set->port->info.port_physical_state = PHYS_DISABLED;
}

/* Links and nodes that a command took out of service are no fault. */
static void test_by_command(void)
{
	struct world *world = start_planned(net_from_spec(fabric_spec));

	former_after_set = world->fake->after_set;
	world->fake->after_set = disable_link;
	control_ask(world, "{\"command\":\"port disable\",\"node\":\"leaf-02\",\"port\":3}\n");
	CU_ASSERT_TRUE(control_has(0, "\"ok\":true"));
	control_ask(world, "{\"command\":\"drain\",\"node\":\"host-0005\",\"force\":true}\n");
	CU_ASSERT_TRUE(control_has(0, "\"ok\":true"));
	sweep_planned(world);
	expect(world, &(struct expected){.by_command = 1, .example = ""});
	control_end(world);
}

/* Another plan replaces that of a comparison under way, and the manager ends during the next. */
static void test_replaced_plan(void)
{
	struct world *world = start_planned(net_from_spec(fabric_spec));
	struct net *plan = net_from_spec(fabric_spec);

	net_put(plan, NODE_SWITCH, "extra", 7, 4);
	sm_set_plan(world->sm, net_from_spec(fabric_spec), "plan.net");
	CU_ASSERT_PTR_NOT_NULL(world->sm->planned.job);
	sm_set_plan(world->sm, plan, "plan.net");
	CU_ASSERT_TRUE(sm_world_run(world, is_compared));
	expect(world, &(struct expected){.nodes = 1, .example = "\"extra-7\""});
	sm_set_plan(world->sm, NULL, "");
	CU_ASSERT_FALSE(has_plan(world));
	sm_set_plan(world->sm, net_from_spec(fabric_spec), "plan.net");
	sm_set_plan(world->sm, net_from_spec(fabric_spec), "plan.net");
	control_end(world);
}

/* Gaps beyond the limit are counted. A name that is not UTF-8 becomes printable. */
static void test_many(void)
{
	enum { MORE = 10 };
	struct net *plan = net_from_spec(fabric_spec);
	struct world *world;

	net_add_node(plan, NODE_CA, "A", "lost \xff", 1);
	for (unsigned i = 1; i < PLANNED_GAPS_MAX + MORE; i++)
		net_put(plan, NODE_CA, "extra", i, 1);
	world = start_planned(plan);
	CU_ASSERT_EQUAL(world->sm->planned.gaps.count, PLANNED_GAPS_MAX);
	expect(world, &(struct expected){.nodes = PLANNED_GAPS_MAX + MORE,
					 .example = "\"lost ?\", \"extra-1\", \"extra-2\""});
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a cable that is pulled", test_pulled},
		{"two cables that are swapped", test_swapped},
		{"an absent host", test_absent},
		{"a plan without GUIDs", test_by_names},
		{"a lost link that is not planned", test_unplanned},
		{"out of service by command", test_by_command},
		{"a plan that is replaced", test_replaced_plan},
		{"many gaps, and odd names", test_many},
		CU_TEST_INFO_NULL,
	};

	return unit_main("planned_links", tests);
}
