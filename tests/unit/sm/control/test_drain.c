/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands drain and undrain (sm/control/drain.c, sm/drain.c, sm/discovery/drained.c) on a fat
 * tree of fake agents: leaf-01 to leaf-04 with two hosts each, spine-01 and spine-02. At each Set()
 * that takes a link down, no table of a switch may use this link, and after each Set() every leaf
 * must reach every host that is not drained.
 */
#include "lib/guid.h"
#include "sm/discovery/drained.h"
#include "tests/unit/fixtures/control_world.h"

enum { HOSTS = 8, LEAVES = 4, FIRST_UP = 3 };

static const char fabric_spec[] = "fattree:radix=4,levels=2";

/* What the Sets of a test did. */
static struct observed {
	struct world *world;
	void (*before)(void *ctx, const struct fake_set *set);
	void (*after)(void *ctx, const struct fake_set *set);
	unsigned disabled, enabled; /* ports */
	unsigned used;		    /* disabled while a table used them */
	unsigned lost;		    /* pairs of leaf and host without a path, at any time */
	unsigned may_lose;	    /* number of a host that does not count; 0: none */
	bool is_on;
	enum fake_fate fate; /* of the next Sets that enable or disable a port: */
	uint8_t physical;
	unsigned fates;
	uint64_t later_us;
	const struct fake_node *busy; /* takes no table */
} observed;

static struct fake_node *numbered(const struct world *world, const char *kind, unsigned number)
{
	char name[16];

	snprintf(name, sizeof(name), strcmp(kind, "host") ? "%s-%02u" : "%s-%04u", kind, number);
	return sm_world_node(world, name);
}

static struct fake_node *leaf(const struct world *world, unsigned number)
{
	return numbered(world, "leaf", number);
}

static struct fake_node *host(const struct world *world, unsigned number)
{
	return numbered(world, "host", number);
}

static uint8_t physical_of(const struct fake_set *set)
{
	struct port_info want;

	if (set->attr_id != ATTR_PORT_INFO || !set->port || !fake_is_switch(set->port))
		return 0;
	attr_decode(&port_info_format, set->data, &want);
	return want.port_physical_state;
}

/* Whether the table of its switch sends packets for a host that is not behind it into a port. */
static bool is_used(const struct world *world, const struct fake_port *port)
{
	for (unsigned h = 1; port && port->node->info.node_type == NODE_SWITCH && h <= HOSTS; h++) {
		const struct fake_port *end = &host(world, h)->port[1];

		if (end->peer != port && port->node->lft[end->info.lid] == port->num &&
		    h != observed.may_lose)
			return true;
	}
	return false;
}

static void before_set(void *ctx, const struct fake_set *set)
{
	observed.before(ctx, set);
	if (!observed.is_on || physical_of(set) != PHYS_DISABLED)
		return;
	observed.disabled++;
	observed.used += is_used(observed.world, set->port);
}

static void count_lost(void)
{
	for (unsigned l = 1; l <= LEAVES; l++)
		for (unsigned h = 1; h <= HOSTS; h++)
			observed.lost += h != observed.may_lose &&
					 !sm_world_leads(leaf(observed.world, l),
							 host(observed.world, h)->port[1].info.lid,
							 observed.world->fake);
}

/* The agents do not take links down by themselves, and a link needs both ends. */
static void after_set(void *ctx, const struct fake_set *set)
{
	observed.after(ctx, set);
	if (physical_of(set) == PHYS_DISABLED && set->port->peer) {
		fake_link(set->port, false);
		set->port->info.port_physical_state = PHYS_DISABLED;
	} else if (physical_of(set) == PHYS_POLLING && set->port->peer) {
		set->port->info.port_physical_state = PHYS_POLLING;
		if (set->port->peer->info.port_physical_state == PHYS_DISABLED)
			return;
		observed.enabled++;
		fake_link(set->port, true);
	}
	if (observed.is_on)
		count_lost();
}

static void observe(struct world *world)
{
	observed = (struct observed){
		.world = world, .before = world->fake->before_set, .after = world->fake->after_set};
	world->fake->before_set = before_set;
	world->fake->after_set = after_set;
}

static struct world *begin_drain(void)
{
	struct world *world = control_start(fabric_spec);

	observe(world);
	return world;
}

static void say(struct world *world, const char *command, const char *rest)
{
	char request[256];

	snprintf(request, sizeof(request), "{\"command\":\"%s\"%s%s}\n", command, *rest ? "," : "",
		 rest);
	control_ask(world, request);
}

static bool shows_drained(const struct world *world, guid_t guid, unsigned count)
{
	json_t *drained =
		drained_json(&world->sm->drain.drained, world->sm->fabric, world->sm->registry);
	char text[GUID_TEXT];
	bool found = json_array_size(drained) == count;

	guid_text(guid, text);
	for (size_t i = 0; i < json_array_size(drained); i++) {
		const json_t *row = json_array_get(drained, i);

		found &= strcmp(json_string_value(json_object_get(row, "guid")), text) ||
			 !strcmp(json_string_value(json_object_get(row, "state")), "isolated");
	}
	json_decref(drained);
	return found;
}

static bool all_are_isolated(const struct world *world)
{
	const struct drained *drained = &world->sm->drain.drained;
	unsigned isolated = 0;

	for (size_t i = 0; i < drained->count; i++)
		isolated += drained->places[i].step == DRAINED_ISOLATED;
	return isolated == LEAVES && sm_world_is_quiet(world);
}

static void save_tables(const struct world *world, uint8_t tables[LEAVES][256])
{
	for (unsigned l = 0; l < LEAVES; l++)
		memcpy(tables[l], leaf(world, l + 1)->lft, 256);
}

/* A spine: routes leave it first, nothing is lost, and undrain restores the tables. */
static void test_spine(void)
{
	struct world *world = begin_drain();
	guid_t guid = sm_world_node(world, "spine-01")->info.node_guid;
	uint8_t before[LEAVES][256], after[LEAVES][256];

	save_tables(world, before);
	observed.is_on = true;
	say(world, "drain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"isolated\":4"));
	CU_ASSERT(control_has(0, "\"ports_lost\":0"));
	CU_ASSERT_EQUAL(observed.disabled, LEAVES);
	CU_ASSERT_EQUAL(observed.used, 0);
	CU_ASSERT_EQUAL(observed.lost, 0);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_TRUE(shows_drained(world, guid, 1));
	CU_ASSERT_PTR_NULL(fabric_find_node(world->sm->fabric, guid));
	CU_ASSERT_EQUAL(world->sm->routes.report.disconnected, 0);
	say(world, "drain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"unchanged\":true"));
	CU_ASSERT_EQUAL(observed.disabled, LEAVES);
	say(world, "port enable", "\"node\":\"leaf-02\",\"port\":3");
	CU_ASSERT(control_has(0, "weftctl undrain spine-01"));
	say(world, "undrain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"up\":4"));
	CU_ASSERT_EQUAL(observed.enabled, LEAVES);
	CU_ASSERT_EQUAL(observed.lost, 0);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	save_tables(world, after);
	CU_ASSERT_EQUAL(memcmp(before, after, sizeof(before)), 0);
	CU_ASSERT_TRUE(shows_drained(world, guid, 0));
	CU_ASSERT_EQUAL(world->loops, 0);
	say(world, "undrain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"unchanged\":true"));
	sm_world_check_up(world);
	control_end(world);
}

/* A cable between switches; the far end of its record also names it. */
static void test_cable(void)
{
	struct world *world = begin_drain();

	observed.is_on = true;
	say(world, "drain", "\"node\":\"leaf-02/3\"");
	CU_ASSERT(control_has(0, "\"isolated\":1"));
	CU_ASSERT(control_has(0, "\"port\":3"));
	CU_ASSERT_TRUE(observed.disabled == 1 && !observed.used && !observed.lost);
	say(world, "drain", "\"node\":\"leaf-02\",\"port\":4");
	CU_ASSERT(control_has(0, "would cut off 2 ports of adapters, and 12 pairs of ports"));
	say(world, "drain", "\"node\":\"spine-02\"");
	CU_ASSERT(control_has(0, "would cut off 2 ports of adapters"));
	say(world, "port disable", "\"node\":\"spine-02\",\"port\":2");
	CU_ASSERT(control_has(0, "port 2 would cut off 2 ports of adapters, and 12 pairs"));
	say(world, "port disable", "\"node\":\"leaf-01\",\"port\":1"); /* the manager's own */
	CU_ASSERT(control_has(0, "this cable connects this manager"));
	say(world, "port disable", "\"node\":\"leaf-01\",\"port\":1,\"force\":true");
	CU_ASSERT(control_has(0, "this cable connects this manager"));
	CU_ASSERT_EQUAL(observed.disabled, 1);
	say(world, "undrain", "\"all\":true");
	CU_ASSERT(control_has(0, "\"up\":1"));
	CU_ASSERT(control_has(0, "leaf-02 port 3"));
	say(world, "undrain", "\"all\":true");
	CU_ASSERT(control_has(0, "\"unchanged\":true"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	sm_world_check_up(world);
	control_end(world);
}

static bool has_two_isolated(const struct world *world)
{
	const struct drained *drained = &world->sm->drain.drained;
	unsigned isolated = 0;

	for (size_t i = 0; i < drained->count; i++)
		isolated += drained->places[i].entry.port &&
			    drained->places[i].step == DRAINED_ISOLATED;
	return isolated == 2 && sm_world_is_quiet(world);
}

/* A host needs no force if it is named itself. */
static void test_drain_host(void)
{
	struct world *world = begin_drain();

	observed.is_on = true;
	observed.may_lose = 5;
	say(world, "drain", "\"node\":\"leaf-03\",\"port\":1");
	CU_ASSERT(control_has(0, "would cut off 1 port of adapters"));
	CU_ASSERT(control_has(0, "name the host to drain it, \\\"host-0005\\\""));
	say(world, "drain", "\"node\":\"host-0005\"");
	CU_ASSERT(control_has(0, "\"isolated\":1"));
	CU_ASSERT(control_has(0, "\"ports_lost\":0"));
	CU_ASSERT_FALSE(control_has(0, "not_copied_to"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(host(world, 5)->port[1].peer->info.port_physical_state, PHYS_DISABLED);
	CU_ASSERT_TRUE(observed.disabled == 1 && !observed.lost);
	say(world, "undrain", "\"node\":\"leaf-03\",\"port\":1");
	CU_ASSERT(control_has(0, "weftctl undrain host-0005"));
	say(world, "undrain", "\"node\":\"host-0005\"");
	CU_ASSERT(control_has(0, "\"up\":1"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	sm_world_check_up(world);
	control_end(world);
}

/* The cable of a drained host is moved: it stays isolated at the new place, and undrain returns
 * both ports. */
static void test_moved_host(void)
{
	struct world *world = begin_drain();
	struct fake_port *old = host(world, 5)->port[1].peer, *now = host(world, 7)->port[1].peer;

	say(world, "drain", "\"node\":\"host-0005\"");
	CU_ASSERT(control_has(0, "\"isolated\":1"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	fake_swap(&host(world, 5)->port[1], &host(world, 7)->port[1]);
	fake_link(old, false);
	old->info.port_physical_state = PHYS_DISABLED;
	trigger_heavy(&world->sm->trigger, "a moved cable");
	CU_ASSERT_TRUE(sm_world_run(world, has_two_isolated));
	CU_ASSERT_EQUAL(old->info.port_physical_state, PHYS_DISABLED);
	CU_ASSERT_EQUAL(now->info.port_physical_state, PHYS_DISABLED);
	CU_ASSERT_PTR_EQUAL(now->peer->node, host(world, 5));
	say(world, "undrain", "\"node\":\"host-0005\"");
	CU_ASSERT(control_has(0, "\"up\":2"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	sm_world_check_up(world);
	control_end(world);
}

/* Refusals; and --force, which cuts off exactly what the refusal names. */
static void test_refused(void)
{
	static const struct {
		const char *command, *rest, *words;
	} rows[] = {
		{"drain", "\"node\":\"leaf-01\",\"force\":true", "attached to \\\"leaf-01\\\""},
		{"drain", "\"node\":\"host-0001\",\"force\":true", "attached to \\\"host-0001\\\""},
		{"drain", "\"node\":\"leaf-01\",\"port\":1,\"force\":true",
		 "attached to \\\"leaf-01\\\" by this port"},
		{"drain", "\"node\":\"leaf-02\"",
		 "would cut off 2 ports of adapters, and 12 pairs"},
		{"drain", "\"node\":\"leaf-02\",\"port\":9", "has ports 1 to 4"},
		{"drain", "\"node\":\"leaf-09\"", "did you mean"},
		{"drain", "\"node\":\"leaf-02\",\"port\":\"x\"", "a number from 1"},
		{"drain", "\"node\":\"leaf-02\",\"port\":0,\"force\":true", "a number from 1"},
		{"drain", "\"port\":1", "expected a node"},
		{"drain", "\"node\":17", "expected a node"},
		{"undrain", "\"node\":\"leaf-09\"", "did you mean"},
		{"undrain", "\"node\":\"leaf-02\",\"all\":true", "expected a node, or one of"},
		{"undrain", "", "expected a node, or one of"},
	};
	struct world *world = begin_drain();

	observed.is_on = true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		say(world, rows[i].command, rows[i].rest);
		CU_ASSERT(control_has(0, "\"ok\":false"));
		CU_ASSERT(control_has(0, rows[i].words));
	}
	CU_ASSERT_EQUAL(registry_count(world->sm->registry, REGISTRY_DRAINED), 0);
	CU_ASSERT_EQUAL(observed.disabled, 0);
	observed.is_on = false;
	say(world, "drain", "\"node\":\"leaf-02\",\"force\":true");
	CU_ASSERT(control_has(0, "\"ports_lost\":2"));
	CU_ASSERT(control_has(0, "\"isolated\":2"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(world->sm->fabric->num_adapters, HOSTS - 2);
	say(world, "undrain", "\"node\":\"leaf-02\"");
	CU_ASSERT(control_has(0, "\"up\":2"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(world->sm->fabric->num_adapters, HOSTS);
	sm_world_check_up(world);
	control_end(world);
}

/* The records are there when the manager becomes MASTER: after a restart or a failover. The links
 * are up, because the switches were rebooted, or the former MASTER ended in the middle. */
static void test_records_first(void)
{
	struct sm_options options = sm_world_options();
	struct net *net = NULL;
	struct world *world;
	struct fake_node *spine;
	char *error = NULL;

	CU_ASSERT_EQUAL_FATAL(spec_build(fabric_spec, &net, &error), 0);
	world = sm_world_new(net, net_find(net, "host-0001"), 1, &options);
	observe(world);
	spine = sm_world_node(world, "spine-01");
	for (unsigned i = 0; i <= LEAVES; i++) {
		struct drained_entry entry = {.node_guid = spine->info.node_guid,
					      .of = spine->info.node_guid,
					      .since_s = 1,
					      .name = "spine-01"};

		if (i)
			entry.node_guid = leaf(world, i)->info.node_guid;
		entry.port = i ? FIRST_UP : 0;
		registry_put(world->registry, REGISTRY_DRAINED, &entry);
	}
	for (unsigned l = 1; l <= LEAVES; l++)
		CU_ASSERT_PTR_EQUAL(leaf(world, l)->port[FIRST_UP].peer->node, spine);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, all_are_isolated));
	for (unsigned l = 1; l <= LEAVES; l++) {
		CU_ASSERT_FALSE(is_used(world, &leaf(world, l)->port[FIRST_UP]));
		CU_ASSERT_EQUAL(leaf(world, l)->port[FIRST_UP].info.port_physical_state,
				PHYS_DISABLED);
	}
	count_lost();
	CU_ASSERT_EQUAL(observed.lost, 0);
	CU_ASSERT_EQUAL(world->loops, 0);
	CU_ASSERT_EQUAL(world->sm->routes.report.disconnected, 0);
	sm_world_free(world);
}

static bool is_later(const struct world *world)
{
	return loop_now_us(world->loop) >= observed.later_us;
}

static void pass(struct world *world, uint64_t us)
{
	observed.later_us = loop_now_us(world->loop) + us;
	sm_world_run(world, is_later);
}

/* A cable that is connected to a drained switch later carries no routes, and is disabled. */
static void test_new_cable(void)
{
	struct world *world = begin_drain();
	struct fake_port *later = &leaf(world, 2)->port[FIRST_UP];

	fake_link(later, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	say(world, "drain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"isolated\":3"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	fake_link(later, true);
	observed.is_on = true;
	registry_keep(world->registry, KEPT_BY_STORE, true);
	trigger_heavy(&world->sm->trigger, "a new cable");
	pass(world, 1300000);
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_DRAINED), LEAVES + 1);
	CU_ASSERT_EQUAL(observed.disabled, 0); /* its record is not durable yet */
	registry_keep(world->registry, KEPT_BY_STORE, false);
	CU_ASSERT_TRUE(sm_world_run(world, all_are_isolated));
	CU_ASSERT_EQUAL(later->info.port_physical_state, PHYS_DISABLED);
	CU_ASSERT_TRUE(!observed.used && !observed.lost);
	say(world, "undrain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"up\":4"));
	control_end(world);
}

/* A drain and a disabled port at the same place: undrain leaves it disabled. */
static void test_disabled_too(void)
{
	struct world *world = begin_drain();

	say(world, "port disable", "\"node\":\"leaf-02\",\"port\":3");
	say(world, "drain", "\"node\":\"leaf-02\",\"port\":3");
	CU_ASSERT(control_has(0, "\"isolated\":1"));
	say(world, "undrain", "\"node\":\"leaf-02\",\"port\":3");
	CU_ASSERT(control_has(0, "\"ports\":0"));
	CU_ASSERT_EQUAL(observed.enabled, 0);
	CU_ASSERT_EQUAL(leaf(world, 2)->port[FIRST_UP].info.port_physical_state, PHYS_DISABLED);
	control_end(world);
}

static unsigned count_disabled(const struct world *world)
{
	unsigned count = 0;

	for (unsigned l = 1; l <= LEAVES; l++)
		for (unsigned p = FIRST_UP; p <= FIRST_UP + 1; p++)
			count += leaf(world, l)->port[p].info.port_physical_state == PHYS_DISABLED;
	return count;
}

static enum fake_fate fate_of_set(void *ctx, struct fake_node *node,
				  const struct mad_header *header)
{
	bool enables;

	(void)ctx;
	if (node == observed.busy && header->method == METHOD_SET &&
	    header->attr_id == ATTR_LINEAR_FORWARDING_TABLE)
		return FAKE_BUSY;
	if (!observed.fates || node->info.node_type != NODE_SWITCH ||
	    header->method != METHOD_SET || header->attr_id != ATTR_PORT_INFO ||
	    (header->attr_mod & UINT8_MAX) != FIRST_UP)
		return FAKE_ANSWER;
	enables = node->port[FIRST_UP].info.port_physical_state == PHYS_DISABLED;
	if (enables != (observed.physical == PHYS_POLLING))
		return FAKE_ANSWER;
	observed.fates--;
	return observed.fate;
}

static bool is_disabling(const struct world *world)
{
	(void)world;
	return observed.disabled > 0;
}

static bool is_undrained(const struct world *world)
{
	return !registry_count(world->registry, REGISTRY_DRAINED) && sm_world_is_quiet(world) &&
	       control_all_answered(world);
}

/* The drain ends while its Set()s are under way or lost: no port stays disabled. */
static void test_undrain_early(void)
{
	static const struct {
		bool (*until)(const struct world *world);
		enum fake_fate fate;
		uint8_t physical;
		unsigned count;
	} rows[] = {
		{is_disabling, FAKE_ANSWER, 0, 0},
		{is_disabling, FAKE_LOSE_ANSWER, PHYS_DISABLED, 12},
		{is_disabling, FAKE_LOSE_REQUEST, PHYS_POLLING, 12},
		{all_are_isolated, FAKE_LOSE_REQUEST, PHYS_POLLING, 24},
		{all_are_isolated, FAKE_BUSY, PHYS_POLLING, 24},
		{all_are_isolated, FAKE_REFUSE, PHYS_POLLING, 6},
	};
	struct world *world = begin_drain();

	world->fake->fate = fate_of_set;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		observed.disabled = 0;
		observed.fate = rows[i].fate;
		observed.physical = rows[i].physical;
		observed.fates = rows[i].count;
		observed.is_on = true;
		control_say(1, "{\"command\":\"drain\",\"node\":\"spine-01\"}\n");
		CU_ASSERT_TRUE(sm_world_run(world, rows[i].until));
		control_say(2, "{\"command\":\"undrain\",\"node\":\"spine-01\"}\n");
		CU_ASSERT_TRUE(sm_world_run(world, is_undrained));
		CU_ASSERT(control_has(2, "spine-01"));
		CU_ASSERT_EQUAL(count_disabled(world), 0);
		CU_ASSERT_EQUAL(world->sm->fabric->num_switches, LEAVES + 2);
	}
	observed.fates = 0;
	sm_world_check_up(world);
	control_end(world);
}

/* A cable that no route uses is no other path: it is held, or was not brought up. */
static void test_unused_cable(void)
{
	struct world *world = begin_drain();
	struct node *node = fabric_find_node(world->sm->fabric, leaf(world, 2)->info.node_guid);
	struct port *port = &node->port[FIRST_UP + 1];

	for (int held = 0; held < 2; held++) {
		port->program.no_bringup = !held;
		port_trouble(world->sm->fabric, port)->held_until_us = held ? UINT64_MAX : 0;
		say(world, "drain", "\"node\":\"spine-01\"");
		CU_ASSERT(control_has(0, "would cut off 2 ports of adapters"));
		say(world, "port disable", "\"node\":\"leaf-02\",\"port\":3");
		CU_ASSERT(control_has(0, "is the only path"));
	}
	CU_ASSERT_EQUAL(registry_count(world->sm->registry, REGISTRY_DRAINED), 0);
	control_end(world);
}

static bool has_record(const struct world *world)
{
	return registry_count(world->registry, REGISTRY_DRAINED) > 0;
}

static bool has_answer_2(const struct world *world)
{
	(void)world;
	return control_answered(2);
}

/* A second change is judged without the cables of a drain that is not durable yet. */
static void test_two_changes(void)
{
	struct world *world = begin_drain();
	struct isolate_figures figures = {.guid = leaf(world, 2)->info.node_guid,
					  .is_switch = true,
					  .num = FIRST_UP + 1,
					  .flaps = 100};

	observed.is_on = true;
	world->sm->options.isolate = (struct isolate_options){.flaps = 5, .quota = 4};
	registry_keep(world->registry, KEPT_BY_STORE, true);
	control_say(1, "{\"command\":\"drain\",\"node\":\"spine-01\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, has_record));
	isolate_judge(world->sm, &figures, 1);
	control_say(2, "{\"command\":\"drain\",\"node\":\"spine-02\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, has_answer_2));
	CU_ASSERT(control_has(2, "would cut off"));
	control_say(2, "{\"command\":\"port disable\",\"node\":\"leaf-02\",\"port\":4}\n");
	CU_ASSERT_TRUE(sm_world_run(world, has_answer_2));
	CU_ASSERT(control_has(2, "is the only path"));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_DRAINED), LEAVES + 1);
	pass(world, 1500000); /* the command triggers sweeps */
	CU_ASSERT_EQUAL(observed.disabled, 0);
	registry_kept(world->registry, KEPT_BY_STORE, registry_number(world->registry));
	CU_ASSERT_TRUE(sm_world_run(world, control_all_answered));
	CU_ASSERT(control_has(1, "\"isolated\":4"));
	registry_keep(world->registry, KEPT_BY_STORE, false);
	control_end(world);
}

/* A neighbour that has not acknowledged its table still sends through the spine: until then, no
 * port of any other neighbour is disabled. */
static void test_neighbour_waits(void)
{
	struct world *world = begin_drain();

	world->fake->fate = fate_of_set;
	observed.is_on = true;
	observed.busy = leaf(world, 2);
	control_say(1, "{\"command\":\"drain\",\"node\":\"spine-01\"}\n");
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 0);
	observed.busy = NULL;
	CU_ASSERT_TRUE(sm_world_run(world, all_are_isolated));
	CU_ASSERT_TRUE(!observed.used && !observed.lost);
	control_end(world);
}

/* A drain by force also waits for the tables, but not for ever. */
static void test_force_waits(void)
{
	struct world *world = begin_drain();
	struct drained *drained = &world->sm->drain.drained;

	world->fake->fate = fate_of_set;
	observed.is_on = true;
	observed.busy = sm_world_node(world, "spine-01");
	control_say(1, "{\"command\":\"drain\",\"node\":\"leaf-02\",\"force\":true}\n");
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 0);
	CU_ASSERT_EQUAL_FATAL(drained->count, 3);
	for (size_t i = 0; i < drained->count; i++)
		drained->places[i].marked_us = 1;
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 2);
	control_end(world);
}

static const char *state_of_drain(const struct world *world)
{
	static char state[32];
	json_t *drained =
		drained_json(&world->sm->drain.drained, world->sm->fabric, world->sm->registry);

	snprintf(state, sizeof(state), "%s",
		 json_string_value(json_object_get(json_array_get(drained, 0), "state")));
	json_decref(drained);
	return state;
}

/* The other path is lost between the command and the Set(): the link stays, routes use it again,
 * and the drain goes on when the path is back. */
static void test_held(void)
{
	struct world *world = begin_drain();
	struct fake_port *other = &leaf(world, 2)->port[FIRST_UP + 1];

	registry_keep(world->registry, KEPT_BY_STORE, true);
	control_say(1, "{\"command\":\"drain\",\"node\":\"spine-01\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, has_record));
	fake_link(other, false);
	trigger_heavy(&world->sm->trigger, "a lost cable");
	pass(world, 300000);
	observed.is_on = true;
	registry_keep(world->registry, KEPT_BY_STORE, false);
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 0);
	CU_ASSERT_STRING_EQUAL(state_of_drain(world), "held: last path");
	observed.lost = 0;
	count_lost();
	CU_ASSERT_EQUAL(observed.lost, 0);
	fake_link(other, true);
	trigger_heavy(&world->sm->trigger, "the cable is back");
	CU_ASSERT_TRUE(sm_world_run(world, all_are_isolated));
	CU_ASSERT_STRING_EQUAL(state_of_drain(world), "isolated");
	observed.lost = 0;
	count_lost();
	CU_ASSERT_EQUAL(observed.lost, 0);
	control_end(world);
}

static bool is_clear_now(const struct world *world)
{
	const struct drained *drained = &world->sm->drain.drained;

	return drained->count && drained->places[drained->count - 1].step == DRAINED_CLEAR;
}

/* The other path is lost after routes have left the spine, and before its ports are disabled. */
static void test_held_late(void)
{
	struct world *world = begin_drain();
	struct fake_port *other = &leaf(world, 2)->port[FIRST_UP + 1];

	control_say(1, "{\"command\":\"drain\",\"node\":\"spine-01\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, is_clear_now));
	fake_link(other, false);
	trigger_heavy(&world->sm->trigger, "a lost cable");
	observed.is_on = true;
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 0);
	CU_ASSERT_STRING_EQUAL(state_of_drain(world), "held: last path");
	observed.lost = 0;
	count_lost();
	CU_ASSERT_EQUAL(observed.lost, 0);
	fake_link(other, true);
	trigger_heavy(&world->sm->trigger, "the cable is back");
	CU_ASSERT_TRUE(sm_world_run(world, all_are_isolated));
	CU_ASSERT_STRING_EQUAL(state_of_drain(world), "isolated");
	control_end(world);
}

static void put_record(struct world *world, guid_t guid, const char *name)
{
	struct drained_entry entry = {.node_guid = leaf(world, 2)->info.node_guid,
				      .port = FIRST_UP,
				      .of = guid,
				      .of_port = 1,
				      .since_s = 1};

	snprintf((char *)entry.name, sizeof(entry.name), "%s", name);
	registry_put(world->registry, REGISTRY_DRAINED, &entry);
}

/* A drained node that is absent, and has the name of a present node or of another drained node. */
static void test_equal_names(void)
{
	struct world *world = begin_drain();

	put_record(world, 0x1234, "leaf-03");
	say(world, "undrain", "\"node\":\"leaf-03\",\"port\":1");
	CU_ASSERT(control_has(0, "leaf-03 port 1"));
	put_record(world, 0x1234, "leaf-03");
	put_record(world, 0x1235, "leaf-03");
	say(world, "undrain", "\"node\":\"leaf-03\",\"port\":1");
	CU_ASSERT(control_has(0, "could mean several drained nodes"));
	say(world, "undrain", "\"all\":true");
	control_end(world);
}

/* The host of another manager: refused without force. The policy never isolates it. */
static void test_standby(void)
{
	struct world *world = begin_drain();
	struct fake_node *other = host(world, 5);
	struct isolate_figures figures = {
		.guid = other->info.port_guid + 1, .num = 1, .flaps = 100, .ber = -1};

	other->has_sm = true;
	other->sm = (struct sm_info){.guid = other->info.port_guid + 1, .state = SM_STANDBY};
	other->port[1].info.capability_mask |= CAP_IS_SM;
	sm_world_sweep(world, DISCOVER_HEAVY);
	world->sm->options.isolate =
		(struct isolate_options){.flaps = 5, .quota = 4, .hosts = true};
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_FALSE(has_record(world));
	say(world, "drain", "\"node\":\"host-0005\"");
	CU_ASSERT(control_has(0, "the other subnet manager at \\\"host-0005\\\""));
	CU_ASSERT_FALSE(has_record(world));
	say(world, "drain", "\"node\":\"host-0005\",\"force\":true");
	CU_ASSERT(control_has(0, "\"isolated\":1"));
	/* It does not replicate. */
	CU_ASSERT(control_has(0, "\"not_copied_to\""));
	control_end(world);
}

/* Both ends name the same cable. */
static void test_other_end(void)
{
	struct world *world = begin_drain();

	say(world, "drain", "\"node\":\"leaf-02\",\"port\":3");
	CU_ASSERT(control_has(0, "\"isolated\":1"));
	/* The end that is nearer to the manager stays reachable longer. */
	CU_ASSERT_EQUAL(sm_world_node(world, "spine-01")->port[2].info.port_physical_state,
			PHYS_DISABLED);
	say(world, "drain", "\"node\":\"spine-01\",\"port\":2");
	CU_ASSERT(control_has(0, "\"unchanged\":true"));
	say(world, "port enable", "\"node\":\"leaf-02\",\"port\":3");
	CU_ASSERT(control_has(0, "weftctl undrain leaf-02 3"));
	say(world, "undrain", "\"node\":\"spine-01\",\"port\":2");
	CU_ASSERT(control_has(0, "\"up\":1"));
	CU_ASSERT_FALSE(has_record(world));
	sm_world_check_up(world);
	control_end(world);
}

/* A cable to a switch that takes no table: --force ends the wait, also after the command. */
static void test_force_later(void)
{
	struct world *world = begin_drain();
	struct drained *drained = &world->sm->drain.drained;

	world->fake->fate = fate_of_set;
	observed.is_on = true;
	observed.busy = sm_world_node(world, "spine-01");
	control_say(1, "{\"command\":\"drain\",\"node\":\"leaf-02/3\"}\n");
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 0);
	control_say(2, "{\"command\":\"drain\",\"node\":\"leaf-02/3\",\"force\":true}\n");
	pass(world, 300000);
	CU_ASSERT_EQUAL_FATAL(drained->count, 1);
	CU_ASSERT_TRUE(drained->places[0].entry.forced);
	drained->places[0].marked_us = 1;
	pass(world, 1500000);
	CU_ASSERT_EQUAL(observed.disabled, 1);
	control_end(world);
}

static json_int_t ports_down(const struct world *world)
{
	json_t *json = drained_ports_json(&world->sm->drain.drained, world->sm->fabric,
					  world->sm->registry);
	json_int_t down = json_integer_value(json_object_get(json, "down"));

	json_decref(json);
	return down;
}

/* Each link that is down counts once, with the links of hosts behind a switch. */
static void test_ports_down(void)
{
	struct world *world = begin_drain();

	say(world, "drain", "\"node\":\"leaf-03\",\"port\":3");
	CU_ASSERT_EQUAL(ports_down(world), 2);
	say(world, "drain", "\"node\":\"spine-01\"");
	CU_ASSERT(control_has(0, "\"isolated\":3"));
	CU_ASSERT_EQUAL(ports_down(world), 8);
	say(world, "undrain", "\"all\":true");
	CU_ASSERT_TRUE(sm_world_run(world, is_undrained));
	CU_ASSERT_EQUAL(ports_down(world), 0);
	say(world, "drain", "\"node\":\"leaf-02\",\"force\":true");
	CU_ASSERT(control_has(0, "\"isolated\":2"));
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(ports_down(world), 8); /* two cables, two hosts */
	control_end(world);
}

/* The cut_off of the first target; "": none. */
static const char *cut_off_of(const struct world *world)
{
	static char name[80];
	json_t *drained =
		drained_json(&world->sm->drain.drained, world->sm->fabric, world->sm->registry);
	const char *text =
		json_string_value(json_object_get(json_array_get(drained, 0), "cut_off"));

	snprintf(name, sizeof(name), "%s", text ? text : "");
	json_decref(drained);
	return name;
}

static bool reports_cut_off(const struct world *world)
{
	return *cut_off_of(world) && sm_world_is_quiet(world);
}

static bool reports_no_more(const struct world *world)
{
	return !*cut_off_of(world) && sm_world_is_quiet(world);
}

static bool shows_isolated(const struct world *world)
{
	return !strcmp(state_of_drain(world), "isolated") && sm_world_is_quiet(world);
}

static void lose_other(struct world *world)
{
	fake_link(&leaf(world, 2)->port[FIRST_UP + 1], false);
	trigger_heavy(&world->sm->trigger, "a lost cable");
}

/* A leaf loses its other cable after the policy isolated one: the link returns. */
static void test_policy_returns(void)
{
	struct world *world = begin_drain();
	struct isolate_figures figures = {.guid = leaf(world, 2)->info.node_guid,
					  .is_switch = true,
					  .num = FIRST_UP,
					  .flaps = 100,
					  .ber = -1};

	world->sm->options.isolate = (struct isolate_options){.flaps = 5, .quota = 4};
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_TRUE(has_record(world));
	CU_ASSERT_TRUE(sm_world_run(world, shows_isolated));
	lose_other(world);
	CU_ASSERT_TRUE(sm_world_run(world, is_undrained));
	CU_ASSERT_PTR_NOT_NULL(fabric_find_node(world->sm->fabric, leaf(world, 2)->info.node_guid));
	observed.lost = 0;
	count_lost();
	CU_ASSERT_EQUAL(observed.lost, 0);
	/* Now it is the last path. */
	isolate_judge(world->sm, &figures, 1);
	CU_ASSERT_FALSE(has_record(world));
	control_end(world);
}

/* The same with drains by command: they stay, and are reported. */
static void test_command_reports(void)
{
	static const char *const targets[] = {"\"node\":\"leaf-02\",\"port\":3",
					      "\"node\":\"spine-01\""};

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct world *world = begin_drain();

		say(world, "drain", targets[i]);
		CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
		CU_ASSERT_STRING_EQUAL(cut_off_of(world), "");
		lose_other(world);
		CU_ASSERT_TRUE(sm_world_run(world, reports_cut_off));
		CU_ASSERT_STRING_EQUAL(cut_off_of(world), "leaf-02");
		CU_ASSERT_TRUE(has_record(world));
		fake_link(&leaf(world, 2)->port[FIRST_UP + 1], true);
		trigger_heavy(&world->sm->trigger, "the cable is back");
		CU_ASSERT_TRUE(sm_world_run(world, reports_no_more));
		CU_ASSERT_STRING_EQUAL(state_of_drain(world), "isolated");
		control_end(world);
	}
}

static bool is_held(const struct world *world)
{
	return !strcmp(state_of_drain(world), "held: last path") && sm_world_is_quiet(world);
}

/* The records of a drain of spine-01, as a saved document has them. */
static const char *spine_records(const struct world *world)
{
	static char text[2048];
	char of[GUID_TEXT], node[GUID_TEXT];
	size_t used = 0;

	guid_text(sm_world_node(world, "spine-01")->info.node_guid, of);
	for (unsigned i = 0; i <= LEAVES; i++) {
		guid_text(i ? leaf(world, i)->info.node_guid
			    : sm_world_node(world, "spine-01")->info.node_guid,
			  node);
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%s{\"kind\":\"drained port\",\"NodeGUID\":\"%s\","
			"\"Port\":%d,\"Target\":\"%s\",\"TargetPort\":0,\"Name\":\"spine-01\"}",
			i ? "," : "", node, i ? FIRST_UP : 0, of);
	}
	return text;
}

/* Restores these records; the answer is that of client 0. */
static void restore_drains(struct world *world, unsigned token, const char *records,
			   const char *more)
{
	char request[2304];

	control_ask(world, "{\"command\":\"restore\",\"begin\":true,\"version\":1}\n");
	snprintf(request, sizeof(request),
		 "{\"command\":\"restore\",\"token\":%u,\"records\":[%s]}\n", token, records);
	control_ask(world, request);
	CU_ASSERT(control_has(0, "\"ok\":true"));
	snprintf(request, sizeof(request), "{\"command\":\"restore\",\"token\":%u%s}\n", token,
		 more);
	control_ask(world, request);
}

/* A document without the drain ends it, and that of a disabled port, too. */
static void test_restore_ends(void)
{
	struct world *world = begin_drain();

	say(world, "drain", "\"node\":\"spine-01\"");
	say(world, "port disable", "\"node\":\"leaf-03\",\"port\":1");
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	CU_ASSERT_EQUAL(count_disabled(world), LEAVES);
	CU_ASSERT_EQUAL(leaf(world, 3)->port[1].info.port_physical_state, PHYS_DISABLED);
	restore_drains(world, 1, "", "");
	CU_ASSERT(control_has(0, "\"ok\":true"));
	CU_ASSERT_TRUE(sm_world_run(world, is_undrained));
	CU_ASSERT_EQUAL(count_disabled(world), 0);
	CU_ASSERT_NOT_EQUAL(leaf(world, 3)->port[1].info.port_physical_state, PHYS_DISABLED);
	CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
	sm_world_check_up(world);
	control_end(world);
}

/* A document with a drain is judged as the command is; with force, the last path is held. */
static void test_restore_drains(void)
{
	struct world *world = begin_drain();
	struct fake_port *other = &leaf(world, 2)->port[FIRST_UP + 1];

	fake_link(other, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	observed.is_on = true;
	restore_drains(world, 1, spine_records(world), "");
	CU_ASSERT(control_has(
		0, "the document drains \\\"spine-01\\\", which would cut off 2 ports of "
		   "adapters, and 12 pairs of ports would lose their path: correct it, "
		   "or add --force; nothing was changed"));
	CU_ASSERT_FALSE(has_record(world));
	restore_drains(world, 2, spine_records(world), ",\"force\":true");
	CU_ASSERT(control_has(0, "\"ok\":true"));
	CU_ASSERT_TRUE(sm_world_run(world, is_held));
	CU_ASSERT_EQUAL(observed.disabled, 0);
	fake_link(other, true);
	trigger_heavy(&world->sm->trigger, "the cable is back");
	CU_ASSERT_TRUE(sm_world_run(world, all_are_isolated));
	/* The same document is no danger. */
	restore_drains(world, 3, spine_records(world), "");
	CU_ASSERT(control_has(0, "\"ok\":true"));
	CU_ASSERT_EQUAL(count_disabled(world), LEAVES);
	CU_ASSERT_TRUE(!observed.used && !observed.lost);
	control_end(world);
}

/* A node that is gone is named as other commands name it. */
static void test_gone_target(void)
{
	struct world *world = begin_drain();

	fake_link(&host(world, 5)->port[1], false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	say(world, "drain", "\"node\":\"host-0005\"");
	CU_ASSERT(control_has(0, "host-0005 is gone since"));
	control_end(world);
}

/* The daemon stops while a drain waits. */
static void test_drain_stops(void)
{
	struct world *world = begin_drain();

	control_say(1, "{\"command\":\"drain\",\"node\":\"spine-01\"}\n");
	CU_ASSERT_TRUE(sm_world_run(world, has_record));
	sm_world_stop(world);
	CU_ASSERT_TRUE(sm_world_run(world, control_all_answered));
	CU_ASSERT(control_has(1, "the daemon is stopping"));
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a spine", test_spine},
		{"a cable", test_cable},
		{"a host", test_drain_host},
		{"a drained host whose cable was moved", test_moved_host},
		{"refusals and force", test_refused},
		{"records before the first sweep", test_records_first},
		{"a new cable", test_new_cable},
		{"a port that is disabled, too", test_disabled_too},
		{"an early undrain", test_undrain_early},
		{"two changes at once", test_two_changes},
		{"a cable that no route uses", test_unused_cable},
		{"a neighbour without its table", test_neighbour_waits},
		{"force waits for tables", test_force_waits},
		{"the last path", test_held},
		{"the last path after routes have left", test_held_late},
		{"equal names", test_equal_names},
		{"the host of a standby", test_standby},
		{"the other end of a cable", test_other_end},
		{"force after the command", test_force_later},
		{"ports that are down", test_ports_down},
		{"a link of the policy returns", test_policy_returns},
		{"a drain that cuts off is reported", test_command_reports},
		{"restore without the drain", test_restore_ends},
		{"restore with a drain", test_restore_drains},
		{"a node that is gone", test_gone_target},
		{"the daemon stops", test_drain_stops},
		CU_TEST_INFO_NULL,
	};

	return unit_main("drain", tests);
}
