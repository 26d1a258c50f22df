/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The whole subnet manager as MASTER on fabrics of fake agents: bring-up, the order of Sets, and
 * its handling of devices that are silent, broken, doubled or reset. test_sm_role.c tests its role
 * among other managers.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "tests/unit/fixtures/sm_world.h"

/* Nets; the manager's host is cabled to the first switch. */

/* Hosts host-2 .. on one switch, ports 1 and up; the switch is node 0. */
static struct net *one_switch(unsigned hosts)
{
	struct net *net = net_new();

	net_put(net, NODE_SWITCH, "leaf", 0, hosts + 2);
	net_put_hosts(net, 0, hosts);
	return net;
}

/* host-3 - leaf-0 = spine-0 = leaf-1 - host-4, with two cables each way. */
static struct net *chain(void)
{
	struct net *net = net_tree2(2, 1, 1, 2);

	return net;
}

static struct fake_port *host_port(const struct world *world, const char *id)
{
	return &sm_world_node(world, id)->port[1];
}

static struct node *known(const struct world *world, const char *id)
{
	return fabric_find_node(world->sm->fabric, sm_world_node(world, id)->info.node_guid);
}

/* Bring-up */

static void test_bring_up(void)
{
	static const struct {
		const char *spec, *sm_node;
		uint8_t sm_port, lmc;
	} rows[] = {
		{"single:hosts=1", "host-0001", 1, 0},
		{"single:hosts=8", "host-0001", 1, 0},
		{"single:hosts=150", "host-0001", 1, 0}, /* all wait for one table */
		{"ring:switches=5,hosts=2", "host-0003", 1, 0},
		{"ring:switches=5,hosts=1", "host-0001", 1, 3},
		{"fattree:radix=4,levels=2", "host-0001", 1, 0},
		{"fattree:radix=8,levels=2", "host-0003", 1, 7},
		{"mesh:dims=3x3", "host-0001", 1, 1},
		{"random:switches=9,degree=4,hosts=2,seed=3", "host-0002", 1, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sm_options options = sm_world_options();
		struct world *world;
		struct net *net;
		char *error;

		CU_ASSERT_EQUAL_FATAL(spec_build(rows[i].spec, &net, &error), 0);
		options.lmc = rows[i].lmc;
		CU_ASSERT_FATAL(net_find(net, rows[i].sm_node) >= 0);
		world = sm_world_new(net, net_find(net, rows[i].sm_node), rows[i].sm_port,
				     &options);
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(world->error, 0);
		CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
		CU_ASSERT_TRUE(world->fake->issm);
		CU_ASSERT_PTR_NOT_NULL_FATAL(*sm_view(world->sm));
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

static void test_manager_on_a_switch(void)
{
	for (unsigned enhanced = 0; enhanced < 2; enhanced++) {
		struct net *net = net_tree2(2, 2, 2, 1);
		struct world *world;

		for (unsigned n = 0; n < 4; n++)
			net->nodes[n].enhanced_port0 = enhanced;
		world = sm_world_new(net, 0, 0, NULL);
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(world->error, 0);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

static void test_two_hosts_without_switch(void)
{
	struct net *net = net_new();
	struct world *world;

	net_put(net, NODE_CA, "host", 0, 2);
	net_put(net, NODE_CA, "host", 1, 2);
	net_cable(net, 0, 1);
	world = sm_world_new(net, 0, 1, NULL);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(world->error, 0);
	CU_ASSERT_EQUAL(host_port(world, "host-1")->info.master_sm_lid,
			host_port(world, "host-0")->info.lid);
	sm_world_check_up(world);
	sm_world_free(world);
}

static void test_host_cabled_to_itself(void)
{
	struct net *net = net_new();
	struct world *world;

	net_put(net, NODE_CA, "host", 0, 2);
	net_connect(net, 0, 1, 0, 2);
	world = sm_world_new(net, 0, 1, NULL);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(discover_anomalies(world->sm->discover)->self_links, 1);
	CU_ASSERT_NOT_EQUAL(host_port(world, "host-0")->info.lid, 0);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	sm_world_free(world);
}

/* A second host has both its ports on one switch, and another a cable to itself. */
static void test_loose_cables(void)
{
	struct net *net = one_switch(1);
	struct world *world;
	int twice = net_put(net, NODE_CA, "twice", 0, 2);
	int sw = net_put(net, NODE_SWITCH, "loop", 0, 4);

	net_cable(net, 0, twice);
	net_cable(net, 0, sw);
	net_connect(net, sw, 2, sw, 3);
	net_cable(net, sw, twice);
	world = sm_world_new(net, 1, 1, NULL);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->self_links, 0);
	CU_ASSERT_EQUAL(sm_world_faults(world), 0);
	CU_ASSERT_EQUAL(sm_world_node(world, "twice-0")->port[1].info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL(sm_world_node(world, "twice-0")->port[2].info.port_state, PORT_ACTIVE);
	sm_world_check_orders(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	sm_world_free(world);
}

static void test_own_link_down(void)
{
	struct world *world = sm_world_new(chain(), 3, 1, NULL);

	fake_link(host_port(world, "host-3"), false);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(world->error, -ENETDOWN);
	fake_link(host_port(world, "host-3"), true);
	CU_ASSERT_TRUE(sm_world_sweep(world, DISCOVER_HEAVY));
	CU_ASSERT_EQUAL(world->error, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* A fabric that another manager left ACTIVE, with its LIDs and its address. */
static void test_takes_over(void)
{
	struct world *old = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 7, 1, NULL);

	CU_ASSERT_TRUE(sm_world_up(old));
	for (unsigned n = 0; n < old->fake->num_nodes; n++) {
		struct fake_node *from = old->fake->nodes[n], *to = world->fake->nodes[n];

		to->sw = from->sw;
		memcpy(to->lft, from->lft, sizeof(to->lft));
		memset(to->written, 1, sizeof(to->written));
		for (unsigned p = 0; p <= to->info.num_ports; p++) {
			to->port[p].info = from->port[p].info;
			to->port[p].info.capability_mask &= ~CAP_IS_SM;
		}
	}
	world->sm_has_lid = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	for (unsigned n = 0; n < old->fake->num_nodes; n++) {
		struct fake_port *end = &world->fake->nodes[n]->port[n < 4 ? 0 : 1];

		CU_ASSERT_EQUAL(end->info.lid, old->fake->nodes[n]->port[end->num].info.lid);
		CU_ASSERT_EQUAL(end->info.master_sm_lid, world->fake->local->info.lid);
		CU_ASSERT_EQUAL(end->reregisters, 1);
	}
	sm_world_check_up(world);
	sm_world_free(old);
	sm_world_free(world);
}

/* ClientReregister goes with each Set() that changes MasterSMLID, and with no other. */
static unsigned reregister_faults(const struct world *world)
{
	unsigned faults = 0;

	for (size_t i = 0; i < world->fake->num_sets; i++) {
		const struct fake_set *set = &world->fake->sets[i];
		struct port_info want;
		lid_t before = LID_NONE;

		if (set->attr_id != ATTR_PORT_INFO || (fake_is_switch(set->port) && set->port->num))
			continue;
		for (size_t j = 0; j < i; j++) {
			if (world->fake->sets[j].port != set->port || world->fake->sets[j].status)
				continue;
			attr_decode(&port_info_format, world->fake->sets[j].answer, &want);
			before = want.master_sm_lid;
		}
		attr_decode(&port_info_format, set->data, &want);
		faults += want.client_reregister != (want.master_sm_lid != before);
	}
	return faults;
}

static void test_reregister(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(reregister_faults(world), 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* A switch is addressable before hosts behind it come up: it has to send traps about them. */
static unsigned late_switches;
static void note_late_switches(void *ctx, const struct fake_set *set)
{
	struct port_info want;

	sm_world_before_set(ctx, set);
	if (set->attr_id != ATTR_PORT_INFO)
		return;
	attr_decode(&port_info_format, set->data, &want);
	if (want.port_state == PORT_ACTIVE && !fake_is_switch(set->port))
		late_switches += set->port->peer->node->port[0].info.lid == LID_NONE;
}

static void test_switch_has_its_lid_first(void)
{
	struct world *world = sm_world_new(chain(), 3, 1, NULL);

	late_switches = 0;
	world->fake->before_set = note_late_switches;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(late_switches, 0);
	sm_world_free(world);
}

/* Devices that do not answer */

static void test_silent_switch(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
	struct fake_node *silent = sm_world_node(world, "spine-1");

	silent->silent = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(world->error, 0);
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->unresponsive, 0);
	for (unsigned n = 4; n < 8; n++)
		CU_ASSERT_EQUAL(world->fake->nodes[n]->port[1].info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL(sm_world_faults(world), 0);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	silent->silent = false;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_PTR_NOT_NULL(known(world, "spine-1"));
	sm_world_check_up(world);

	/* It falls silent while its links stay up: it goes on forwarding. */
	silent->silent = true;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_PTR_NOT_NULL(known(world, "spine-1"));
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	CU_ASSERT_EQUAL(sm_world_faults(world), 0);
	silent->silent = false;
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_check_up(world);
	sm_world_free(world);
}

static bool two_sweeps_more(const struct world *world)
{
	return world->sm->sweep.last.number >= 3;
}

/* One dead device must not turn every sweep into a heavy sweep. */
static void test_silent_host_costs_no_heavy_sweeps(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);

	sm_world_node(world, "host-3")->silent = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, two_sweeps_more));
	CU_ASSERT_EQUAL(world->sm->sweep.last.kind, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(world->sm->sweep.last.error, 0);
	sm_world_free(world);
}

/* The n-th request (of all, or of one attribute and method) gets a fate. */
static struct {
	enum fake_fate fate;
	unsigned first, last, count;
	uint16_t attr_id;
	uint8_t method;
	const struct fake_node *node;
} plan;

static enum fake_fate planned(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	(void)ctx;
	if ((plan.attr_id && header->attr_id != plan.attr_id) ||
	    (plan.method && header->method != plan.method) || (plan.node && node != plan.node))
		return FAKE_ANSWER;
	plan.count++;
	return plan.count >= plan.first && plan.count <= plan.last ? plan.fate : FAKE_ANSWER;
}

static void plan_fate(struct world *world, enum fake_fate fate, unsigned first, unsigned last)
{
	memset(&plan, 0, sizeof(plan));
	plan.fate = fate;
	plan.first = first;
	plan.last = last;
	world->fake->fate = planned;
}

static void test_one_bad_answer(void)
{
	static const enum fake_fate fates[] = {
		FAKE_LOSE_REQUEST, FAKE_LOSE_ANSWER, FAKE_ANSWER_LATE, FAKE_ANSWER_TWICE,
		FAKE_WRONG_ATTR,   FAKE_WRONG_TID,   FAKE_SHORT};

	for (size_t f = 0; f < ARRAY_SIZE(fates); f++) {
		for (unsigned nth = 1; nth < 60; nth += 4) {
			struct world *world = sm_world_new(chain(), 3, 1, NULL);

			plan_fate(world, fates[f], nth, nth);
			CU_ASSERT_TRUE(sm_world_up(world));
			CU_ASSERT_EQUAL(world->error, 0);
			CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
			sm_world_check_up(world);
			sm_world_free(world);
		}
	}
}

/* Two in a row exhaust the attempts of a request: errors at first, all is well a sweep later. */
static void test_one_request_fails(void)
{
	for (unsigned nth = 2; nth < 75; nth++) {
		static const enum fake_fate fates[] = {FAKE_LOSE_REQUEST, FAKE_LOSE_ANSWER,
						       FAKE_REFUSE};
		struct sm_options options = sm_world_options();
		struct world *world;

		options.smp_attempts = 1;
		world = sm_world_new(chain(), 3, 1, &options);
		plan_fate(world, fates[nth % 3], nth, nth);
		CU_ASSERT_TRUE(sm_world_up(world));
		sm_world_check_orders(world);
		for (unsigned again = 0; again < 3; again++)
			sm_world_sweep(world, DISCOVER_HEAVY);
		CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* The manager can be stopped at any time, with any requests under way. */
static unsigned stop_after;
static bool enough_requests(const struct world *world)
{
	return world->fake->requests >= stop_after || sm_world_is_quiet(world);
}

static enum fake_fate freeze_all(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	struct world *world = ctx;

	(void)node;
	(void)header;
	return world->fake->requests >= stop_after ? FAKE_LOSE_REQUEST : FAKE_ANSWER;
}

static void test_free_at_any_time(void)
{
	for (stop_after = 1; stop_after < 90; stop_after++) {
		struct world *world = sm_world_new(chain(), 3, 1, NULL);
		struct fake_node *other = sm_world_node(world, "host-4");

		other->has_sm = true;
		other->port[1].info.capability_mask |= CAP_IS_SM;
		other->sm =
			(struct sm_info){.guid = other->info.port_guid + 1, .state = SM_STANDBY};
		world->fake->fate = freeze_all;
		sm_start(world->sm);
		sm_world_run(world, enough_requests);
		sm_stop(world->sm);
		sm_world_free(world);
	}
}

/* A block whose Set() may or may not have taken effect holds neither the old nor the new. */
static void test_block_of_unknown_content(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;

	options.smp_attempts = 1;
	world = sm_world_new(chain(), 3, 1, &options);
	CU_ASSERT_TRUE(sm_world_up(world));
	sm_world_check_up(world);
	/* Other tables are wanted; they are written, but the acknowledgements get lost. */
	fake_link(&sm_world_node(world, "leaf-0")->port[2], false);
	plan_fate(world, FAKE_LOSE_ANSWER, 1, 1000);
	plan.attr_id = ATTR_LINEAR_FORWARDING_TABLE;
	sm_world_sweep(world, DISCOVER_HEAVY);
	/* The link is up again, so the first tables are wanted again. */
	world->fake->fate = NULL;
	fake_link(&sm_world_node(world, "leaf-0")->port[2], true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
	CU_ASSERT_EQUAL(sm_world_wrong_rows(world), 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* Of two blocks of P_Keys one could not be read: the other does not stand for both. */
static void test_half_a_pkey_table(void)
{
	struct sm_options options = sm_world_options();
	const struct partition_entry partition = {.p_key = 5};
	struct partition_member_entry member = {.p_key = 5, .membership = MEMBERSHIP_FULL};
	const struct pkey_list *list;
	struct world *world;
	struct fake_node *host;

	options.smp_attempts = 1;
	world = sm_world_new(one_switch(2), 1, 1, &options);
	host = sm_world_node(world, "host-2");
	host->info.partition_cap = FAKE_KEYS;
	host->port[1].p_key[40] = 0x8005;
	member.guid = host->info.port_guid + 1;
	registry_put(world->registry, REGISTRY_PARTITION, &partition);
	registry_put(world->registry, REGISTRY_PARTITION_MEMBER, &member);
	plan_fate(world, FAKE_LOSE_REQUEST, 1, 1);
	plan.attr_id = ATTR_PKEY_TABLE;
	plan.node = host;
	CU_ASSERT_TRUE(sm_world_up(world));
	for (unsigned again = 0; again < 2; again++)
		sm_world_sweep(world, DISCOVER_HEAVY);
	list = port_facts(&known(world, "host-2")->port[1])->pkeys;
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	CU_ASSERT_EQUAL_FATAL(list->count, FAKE_KEYS);
	CU_ASSERT_EQUAL(list->key[0], PKEY_DEFAULT_FULL);
	CU_ASSERT_EQUAL(list->key[40], 0x8005);
	sm_world_free(world);
}

/* A port that is up, and whose table was read, is not out of its partitions for a lost answer: the
 * next light pass reads it again. A table that a port refuses is not known. */
static void test_pkeys_of_a_port_that_is_up(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;
	struct fake_node *host;

	options.smp_attempts = 1;
	world = sm_world_new(one_switch(2), 1, 1, &options);
	host = sm_world_node(world, "host-2");
	CU_ASSERT_TRUE(sm_world_up(world));
	plan_fate(world, FAKE_LOSE_ANSWER, 1, 1);
	plan.attr_id = ATTR_PKEY_TABLE;
	plan.node = host;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_PTR_NOT_NULL(port_facts(&known(world, "host-2")->port[1])->pkeys);
	CU_ASSERT_TRUE(known(world, "host-2")->port[1].discovery.pkeys_unread);
	host->port[1].p_key[1] = 0x8005;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_FALSE(known(world, "host-2")->port[1].discovery.pkeys_unread);
	CU_ASSERT_EQUAL(host->port[1].p_key[1], 0); /* it was seen, and taken away */
	plan_fate(world, FAKE_REFUSE, 1, 1);
	plan.attr_id = ATTR_PKEY_TABLE;
	plan.node = host;
	plan.method = METHOD_GET;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_PTR_NULL(port_facts(&known(world, "host-2")->port[1])->pkeys);
	sm_world_free(world);
}

/* Our own agent fails for one sweep: this shows nothing about the fabric. */
static void test_own_agent_is_silent(void)
{
	struct world *world = sm_world_new(chain(), 3, 1, NULL);

	CU_ASSERT_TRUE(sm_world_up(world));
	world->fake->local->node->silent = true;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_NOT_EQUAL(world->error, 0);
	CU_ASSERT_PTR_NOT_NULL(known(world, "host-4"));
	world->fake->local->node->silent = false;
	sm_world_sweep(world, DISCOVER_HEAVY);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* Devices and links that disappear and return */

static void test_vanishes_and_returns(void)
{
	static const char *const ids[] = {"host-5", "spine-0", "leaf-1"};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		for (unsigned kind = DISCOVER_LIGHT; kind <= DISCOVER_HEAVY; kind++) {
			struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
			struct fake_node *node = sm_world_node(world, ids[i]);

			CU_ASSERT_TRUE(sm_world_up(world));
			for (unsigned p = 1; p <= node->info.num_ports; p++)
				fake_link(&node->port[p], false);
			sm_world_sweep(world, kind);
			CU_ASSERT_PTR_NULL(known(world, ids[i]));
			CU_ASSERT_EQUAL(world->error, 0);
			CU_ASSERT_EQUAL(sm_world_not_active(world), 0);
			fake_reboot(node);
			sm_world_sweep(world, kind);
			CU_ASSERT_PTR_NOT_NULL(known(world, ids[i]));
			CU_ASSERT_EQUAL(world->error, 0);
			sm_world_check_up(world);
			sm_world_free(world);
		}
	}
}

/* Links are lost and return without cutting off a node: no Set() may close a loop. */
static void test_no_circle_at_any_moment(void)
{
	static const char *const specs[] = {"ring:switches=7,hosts=2", "mesh:dims=3x3,hosts=2",
					    "torus:dims=4x4,hosts=2"};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct world *world;
		struct net *net;
		char *error;

		CU_ASSERT_EQUAL_FATAL(spec_build(specs[i], &net, &error), 0);
		world = sm_world_new(net, net_find(net, "host-0001"), 1, NULL);
		CU_ASSERT_TRUE(sm_world_up(world));
		for (unsigned n = 0; n < world->fake->num_nodes; n++) {
			struct fake_node *node = world->fake->nodes[n];

			for (unsigned p = 1; p <= node->info.num_ports; p++) {
				struct fake_port *port = &node->port[p];

				if (!port->peer || !fake_is_switch(port) ||
				    !fake_is_switch(port->peer))
					continue;
				fake_link(port, false);
				sm_world_sweep(world, DISCOVER_LIGHT);
				fake_link(port, true);
				sm_world_sweep(world, DISCOVER_LIGHT);
			}
		}
		sm_world_sweep(world, DISCOVER_HEAVY);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

static void test_link_bounces(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

	CU_ASSERT_TRUE(sm_world_up(world));
	fake_link(&sm_world_node(world, "leaf-0")->port[3], true);
	fake_link(host_port(world, "host-5"), true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(sm_world_not_active(world), 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

static void test_switch_reboots(void)
{
	static const char *const ids[] = {"leaf-0", "leaf-1", "spine-0"};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		for (unsigned kind = DISCOVER_LIGHT; kind <= DISCOVER_HEAVY; kind++) {
			struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

			CU_ASSERT_TRUE(sm_world_up(world));
			fake_reboot(sm_world_node(world, ids[i]));
			sm_world_sweep(world, kind);
			CU_ASSERT_EQUAL(world->error, 0);
			CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
			sm_world_check_up(world);
			sm_world_free(world);
		}
	}
}

/* A cable moves to another port, another host takes a place. */
static void test_cable_moves(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);
	struct fake_port *host = host_port(world, "host-3"), *old = host->peer;
	struct fake_port *place = &sm_world_node(world, "leaf-0")->port[4];

	CU_ASSERT_TRUE(sm_world_up(world));
	fake_link(host, false);
	old->peer = NULL;
	host->peer = place;
	place->peer = host;
	fake_link(host, true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(known(world, "host-3")->port[1].peer->num, 4);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* Two hosts, or two switches, have changed places between two sweeps. */
static void test_cables_are_swapped(void)
{
	static const char *const ids[][2] = {{"host-5", "host-7"}, {"host-5", "host-6"}};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(ids); i++) {
		struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

		CU_ASSERT_TRUE(sm_world_up(world));
		fake_swap(host_port(world, ids[i / 2][0]), host_port(world, ids[i / 2][1]));
		CU_ASSERT_TRUE(sm_world_sweep(world, i % 2 ? DISCOVER_HEAVY : DISCOVER_LIGHT));
		CU_ASSERT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* The same GUID at the same place, but another device: new firmware, or a clone. */
static void test_device_is_replaced(void)
{
	static const char *const ids[] = {"host-6", "leaf-1", "spine-0"};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(ids); i++) {
		struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
		struct fake_node *node = sm_world_node(world, ids[i / 2]);

		CU_ASSERT_TRUE(sm_world_up(world));
		node->info.device_id++;
		fake_reboot(node);
		CU_ASSERT_TRUE(sm_world_sweep(world, i % 2 ? DISCOVER_HEAVY : DISCOVER_LIGHT));
		sm_world_sweep(world, DISCOVER_HEAVY);
		CU_ASSERT_PTR_NOT_NULL_FATAL(known(world, ids[i / 2]));
		CU_ASSERT_EQUAL(known(world, ids[i / 2])->facts->info.device_id, 2);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

static void switch_links(struct fake_node *node, bool up)
{
	for (unsigned p = 1; p <= node->info.num_ports; p++)
		fake_link(&node->port[p], up);
}

/* The tables shrink when the highest LID goes: LinearFDBTop first. The entries of a host stay in
 * the tables, so its loss and its return need no Set() of a block. */
static void test_shrinking_tables(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
	struct fake_node *leaf = sm_world_node(world, "leaf-0"),
			 *spine = sm_world_node(world, "spine-1");
	struct fake_port *host = host_port(world, "host-6");
	uint64_t blocks;

	spine->port[0].info.lid = 300;
	host->info.lid = 200;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(leaf->sw.linear_fdb_top, 300);
	sm_world_check_up(world);
	switch_links(spine, false);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(leaf->sw.linear_fdb_top, 200);
	blocks = world->sm->sweep.last.lft_sets;
	CU_ASSERT(blocks > 0);
	fake_link(host, false);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(leaf->sw.linear_fdb_top, 200);
	CU_ASSERT_EQUAL(world->sm->sweep.last.lft_sets, 0);
	fake_link(host, true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(world->sm->sweep.last.lft_sets, 0);
	switch_links(spine, true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(leaf->sw.linear_fdb_top, 300);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* A host comes up while the switch is programmed, after its ports were read. */
static struct fake_port *latecomer;
static void plug_in(void *ctx, const struct fake_set *set)
{
	sm_world_before_set(ctx, set);
	if (latecomer && set->attr_id == ATTR_LINEAR_FORWARDING_TABLE) {
		fake_link(latecomer, true);
		latecomer = NULL;
	}
}

static void test_comes_up_during_sweep(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);

	latecomer = host_port(world, "host-3");
	fake_link(latecomer, false);
	world->fake->before_set = plug_in;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_PTR_NOT_NULL(known(world, "host-3"));
	sm_world_check_up(world);
	sm_world_free(world);
}

/* The same, and our own link goes before the sweep that follows: it must not follow for ever. */
static unsigned sweeps_seen;
static bool many_sweeps_or_quiet(const struct world *world)
{
	return world->reports > 20 || (world->error == -ENETDOWN && sm_world_is_quiet(world));
}

static void unplug_at_end(void *ctx, int error, bool again, const char *text)
{
	struct world *world = ctx;

	sm_world_report(world, error, again, text);
	if (world->reports == 1)
		fake_link(world->fake->local, false);
}

static void test_no_sweep_for_ever(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);

	latecomer = host_port(world, "host-3");
	fake_link(latecomer, false);
	world->fake->before_set = plug_in;
	sm_on_report(world->sm, unplug_at_end, world);
	sm_start(world->sm);
	sm_world_run(world, many_sweeps_or_quiet);
	sweeps_seen = world->reports;
	CU_ASSERT_TRUE(sweeps_seen < 5);
	sm_world_free(world);
}

/* At takeover a port goes through INIT after it was read and before PortStateChange is cleared. */
static struct fake_port *bouncer;
static enum fake_fate bounce_before_first_set(void *ctx, struct fake_node *node,
					      const struct mad_header *header)
{
	(void)ctx;
	(void)node;
	if (bouncer && header->method == METHOD_SET) {
		fake_link(bouncer, true);
		bouncer = NULL;
	}
	return FAKE_ANSWER;
}

static void test_bounce_before_mastership(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);
	struct fake_port *host = host_port(world, "host-3");

	CU_ASSERT_TRUE(sm_world_up(world));
	/* A manager that starts on this fabric has to read everything again. */
	sm_free(world->sm);
	world->sm = sm_new(world->loop, world->pool, &world->fake->transport, world->txns,
			   world->registry, &world->events, &world->options);
	sm_on_report(world->sm, sm_world_report, world);
	world->reports = 0;
	sm_world_node(world, "leaf-0")->sw.port_state_change = 1;
	bouncer = host;
	world->fake->fate = bounce_before_first_set;
	/* Something is to be written. */
	host_port(world, "host-2")->info.subnet_timeout = 1;
	CU_ASSERT_TRUE(sm_world_up(world));
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(host->info.port_state, PORT_ACTIVE);
	sm_world_free(world);
}

/* Duplicate GUIDs */

static void test_duplicate_host_guid(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 1, 1), 3, 1, NULL);
	struct fake_node *first = sm_world_node(world, "host-4"),
			 *second = sm_world_node(world, "host-6");

	second->info = first->info;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
	CU_ASSERT_EQUAL(host_port(world, "host-3")->info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL(host_port(world, "host-5")->info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL((first->port[1].info.port_state == PORT_ACTIVE) +
				(second->port[1].info.port_state == PORT_ACTIVE),
			1);
	for (unsigned again = 0; again < 3; again++) {
		sm_world_sweep(world, again % 2 ? DISCOVER_HEAVY : DISCOVER_LIGHT);
		CU_ASSERT_EQUAL(world->fake->num_sets, 0);
		CU_ASSERT_FALSE(world->sm->sweep.last.changed);
	}
	sm_world_check_orders(world);
	sm_world_free(world);
}

/* Another NodeGUID, but the PortGUID of another port. */
static void test_duplicate_port_guid(void)
{
	struct world *world = sm_world_new(one_switch(4), 1, 1, NULL);

	sm_world_node(world, "host-3")->info.port_guid =
		sm_world_node(world, "host-2")->info.port_guid;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
	CU_ASSERT_EQUAL(host_port(world, "host-1")->info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL(host_port(world, "host-4")->info.port_state, PORT_ACTIVE);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	CU_ASSERT_FALSE(world->sm->sweep.last.changed);
	sm_world_free(world);
}

/* Where a GUID was met a second time something is silent, and then it is another device: light
 * sweeps find it. */
static void test_left_out_and_silent(void)
{
	struct world *world = sm_world_new(one_switch(4), 1, 1, NULL);
	struct fake_node *twin = sm_world_node(world, "host-3");
	struct node_info own = twin->info;

	twin->info.node_guid = sm_world_node(world, "host-2")->info.node_guid;
	twin->info.port_guid = sm_world_node(world, "host-2")->info.port_guid;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
	sm_world_sweep(world, DISCOVER_HEAVY);
	twin->silent = true;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->sm->sweep.last.kind, DISCOVER_HEAVY);
	twin->info = own;
	twin->silent = false;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(world->sm->sweep.last.kind, DISCOVER_LIGHT);
	CU_ASSERT_PTR_NOT_NULL(known(world, "host-3"));
	CU_ASSERT_EQUAL(host_port(world, "host-3")->info.port_state, PORT_ACTIVE);
	sm_world_free(world);
}

/* A switch says that it has the PortGUID of the manager's own port. */
static void test_switch_with_our_port_guid(void)
{
	struct world *world = sm_world_new(chain(), 3, 1, NULL);

	sm_world_node(world, "leaf-1")->info.port_guid = world->fake->transport.port.port_guid;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_NOT_EQUAL(world->fake->local->info.lid, LID_NONE);
	CU_ASSERT_EQUAL(world->fake->local->info.port_state, PORT_ACTIVE);
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
	sm_world_free(world);
}

static void test_duplicate_switch_guid(void)
{
	/* Alike in all; and another number of ports, reached at a port that the first has not. */
	for (unsigned row = 0; row < 2; row++) {
		struct net *net = net_new();
		struct world *world;
		int first, second;

		net_put(net, NODE_SWITCH, "leaf", 0, 8);
		net_put_hosts(net, 0, 2);
		first = net_put(net, NODE_SWITCH, "first", 0, 4);
		second = net_put(net, NODE_SWITCH, "second", 0, row ? 20 : 4);
		net_connect(net, 0, 5, first, 1);
		net_connect(net, 0, 6, second, row ? 20 : 1);
		net_cable(net, first, net_put(net, NODE_CA, "host", 10, 1));
		net_cable(net, second, net_put(net, NODE_CA, "host", 11, 1));
		world = sm_world_new(net, 1, 1, NULL);
		world->fake->nodes[second]->info.node_guid =
			world->fake->nodes[first]->info.node_guid;
		world->fake->nodes[second]->info.port_guid =
			world->fake->nodes[first]->info.port_guid;
		world->fake->nodes[second]->info.system_image_guid =
			world->fake->nodes[first]->info.system_image_guid;
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
		CU_ASSERT_EQUAL(host_port(world, "host-1")->info.port_state, PORT_ACTIVE);
		CU_ASSERT_EQUAL(host_port(world, "host-2")->info.port_state, PORT_ACTIVE);
		for (unsigned again = 0; again < 3; again++) {
			sm_world_sweep(world, again % 2 ? DISCOVER_HEAVY : DISCOVER_LIGHT);
			CU_ASSERT_EQUAL(world->fake->num_sets, 0);
		}
		sm_world_free(world);
	}
}

/* A node that was silent behind a switch answers a light sweep with that switch's own GUID. */
static void test_newcomer_with_its_neighbours_guid(void)
{
	struct net *net = chain();
	struct world *world;
	struct fake_node *newcomer;
	int index = net_put(net, NODE_SWITCH, "new", 0, 7);

	net_disconnect(net, 4, 1);
	net_connect(net, 1, 1, index, 7);
	world = sm_world_new(net, 3, 1, NULL);
	newcomer = sm_world_node(world, "new-0");
	newcomer->silent = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	newcomer->silent = false;
	newcomer->info.node_guid = sm_world_node(world, "leaf-1")->info.node_guid;
	newcomer->info.port_guid = sm_world_node(world, "leaf-1")->info.port_guid;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_NOT_EQUAL(discover_anomalies(world->sm->discover)->duplicate_guids, 0);
	CU_ASSERT_EQUAL(sm_world_node(world, "leaf-1")->port[2].info.port_state, PORT_ACTIVE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(known(world, "leaf-1"));
	CU_ASSERT_EQUAL(known(world, "leaf-1")->num_ports, 3);
	sm_world_free(world);
}

static void test_senseless_node_info(void)
{
	static const struct node_info rows[] = {
		{.node_guid = 0, .node_type = NODE_CA, .num_ports = 1},
		{.node_guid = 5, .node_type = 0, .num_ports = 1},
		{.node_guid = 5, .node_type = 9, .num_ports = 1},
		{.node_guid = 5, .node_type = NODE_CA, .num_ports = 0},
		{.node_guid = 5, .node_type = NODE_SWITCH, .num_ports = 255},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);
		uint8_t ports = sm_world_node(world, "host-3")->info.num_ports;

		sm_world_node(world, "host-3")->info = rows[i];
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(discover_anomalies(world->sm->discover)->malformed, 1);
		CU_ASSERT_EQUAL(host_port(world, "host-2")->info.port_state, PORT_ACTIVE);
		sm_world_node(world, "host-3")->info.num_ports = ports;
		sm_world_free(world);
	}
}

static void test_lids_collide(void)
{
	static const lid_t rows[][4] = {
		{7, 7, 7, 7}, /* all the same */
		{0, 5, 5, 9}, /* two of them, the manager without */
		{LID_UNICAST_MAX, 0xC001, 0xFFFF, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = sm_world_new(one_switch(4), 1, 1, NULL);

		for (unsigned h = 0; h < 4; h++)
			world->fake->nodes[h + 1]->port[1].info.lid = rows[i][h];
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(world->error, 0);
		CU_ASSERT_NOT_EQUAL(world->sm->counts.lid_conflicts, 0);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* A switch whose table is too small for LIDs in use: it is left out or they change; the tables of
 * the others stay their own. */
static void test_small_table_comes_later(void)
{
	struct net *net = net_new();
	struct world *world;

	net_put(net, NODE_SWITCH, "small", 0, 4); /* the lowest GUID: indexes move */
	net_put(net, NODE_SWITCH, "leaf", 1, 6);
	net_put(net, NODE_SWITCH, "leaf", 2, 6);
	net_put_hosts(net, 1, 2);
	net_put_hosts(net, 2, 2);
	net_cable(net, 1, 2);
	net_cable(net, 1, 0);
	world = sm_world_new(net, 3, 1, NULL);
	sm_world_node(world, "small-0")->sw.linear_fdb_cap = 128;
	fake_link(&sm_world_node(world, "small-0")->port[1], false);
	host_port(world, "host-4")->info.lid = 500;
	CU_ASSERT_TRUE(sm_world_up(world));
	fake_link(&sm_world_node(world, "small-0")->port[1], true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_TRUE(sm_world_leads(sm_world_node(world, "leaf-1"),
				      host_port(world, "host-6")->info.lid, world->fake));
	CU_ASSERT_TRUE(sm_world_leads(sm_world_node(world, "leaf-2"),
				      host_port(world, "host-3")->info.lid, world->fake));
	CU_ASSERT_EQUAL(sm_world_wrong_rows(world), 0);
	sm_world_check_orders(world);
	sm_world_free(world);
}

/* Values that devices do not accept */

static void test_clamped_values(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 1, 1), 3, 1, NULL);

	sm_world_node(world, "leaf-1")->life_time_max = 9;
	host_port(world, "host-5")->subnet_timeout_max = 8;
	world->fake->local->subnet_timeout_max = 8;
	sm_world_node(world, "spine-0")->port[0].subnet_timeout_max = 3;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(program_refused_values(world->sm->program) >= 4);
	sm_world_check_up(world);
	/* After a reset it gets the value again. */
	fake_reboot(sm_world_node(world, "host-5"));
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(host_port(world, "host-5")->info.subnet_timeout, 8);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* Ports that are up get their values, each kind its own, and once. */
static void test_new_values(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 1, 1), 3, 1, NULL);
	const struct fake_node *leaf = sm_world_node(world, "leaf-0");

	CU_ASSERT_TRUE(sm_world_up(world));
	world->sm->options.subnet_timeout = 17;
	world->sm->options.leaf_hoq_life = 13;
	world->sm->options.hoq_life = 11;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(host_port(world, "host-5")->info.subnet_timeout, 17);
	CU_ASSERT_EQUAL(leaf->port[0].info.subnet_timeout, 17);
	CU_ASSERT_EQUAL(leaf->port[1].info.hoq_life, 13);
	CU_ASSERT_EQUAL(leaf->port[3].info.hoq_life, 11);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	sm_world_free(world);
}

static void test_echoed_state_change(void)
{
	struct world *world = sm_world_new(chain(), 3, 1, NULL);

	for (unsigned n = 0; n < 3; n++)
		world->fake->nodes[n]->echoes_change = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	sm_world_check_up(world);
	fake_link(host_port(world, "host-4"), true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_check_up(world);
	sm_world_free(world);
}

static void test_refusing_port(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);

	plan_fate(world, FAKE_REFUSE, 1, 1000000);
	plan.method = METHOD_SET;
	plan.node = sm_world_node(world, "host-3");
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(world->error, 0);
	CU_ASSERT_STRING_NOT_EQUAL(world->text, "subnet up");
	CU_ASSERT_EQUAL(host_port(world, "host-1")->info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL(host_port(world, "host-2")->info.port_state, PORT_ACTIVE);
	CU_ASSERT_EQUAL(host_port(world, "host-3")->info.port_state, PORT_INIT);
	world->fake->fate = NULL;
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_check_up(world);

	/* An ACTIVE port refuses new values: it gets them once, not in each sweep. */
	world->sm->options.subnet_timeout = 17;
	world->fake->fate = planned;
	sm_world_sweep(world, DISCOVER_HEAVY);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->fake->num_sets, 0);
	sm_world_free(world);
}

/* How many Set(PortInfo) have disabled this port since the last sweep began. */
static unsigned disablings(const struct world *world, const struct fake_port *port)
{
	unsigned count = 0;

	for (unsigned i = 0; i < world->fake->num_sets; i++) {
		const struct fake_set *set = &world->fake->sets[i];
		struct port_info want;

		if (set->attr_id != ATTR_PORT_INFO || set->port != port)
			continue;
		attr_decode(&port_info_format, set->data, &want);
		count += want.port_physical_state == PHYS_DISABLED;
	}
	return count;
}

/* A disabled port: after status busy the switch gets the Set() again, after a refusal only when the
 * link has been lost. */
static void test_disabled_port(void)
{
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);
	struct fake_port *front = host_port(world, "host-3")->peer;
	const struct disabled_entry entry = {.node_guid = front->node->info.node_guid,
					     .port = front->num};

	CU_ASSERT_TRUE(sm_world_up(world));
	registry_put(world->sm->registry, REGISTRY_DISABLED, &entry);
	plan_fate(world, FAKE_BUSY, 1, 1);
	plan.method = METHOD_SET;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(disablings(world, front), 1);
	plan_fate(world, FAKE_REFUSE, 1, 1);
	plan.method = METHOD_SET;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(disablings(world, front), 1);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(disablings(world, front), 0);
	fake_link(front, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(disablings(world, front), 1);
	sm_world_free(world);
}

/* The same without a link that could be lost: if the port has been Disabled since, an earlier
 * refusal does not count. */
static void test_disabled_without_link(void)
{
	for (unsigned disabled = 0; disabled < 2; disabled++) {
		struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);
		struct fake_node *leaf = host_port(world, "host-3")->peer->node;
		struct fake_port *spare = &leaf->port[leaf->info.num_ports];
		const struct disabled_entry entry = {.node_guid = leaf->info.node_guid,
						     .port = spare->num};

		CU_ASSERT_PTR_NULL_FATAL(spare->peer);
		CU_ASSERT_TRUE(sm_world_up(world));
		registry_put(world->sm->registry, REGISTRY_DISABLED, &entry);
		plan_fate(world, FAKE_REFUSE, 1, 1);
		plan.method = METHOD_SET;
		sm_world_sweep(world, DISCOVER_HEAVY);
		CU_ASSERT_EQUAL(disablings(world, spare), 1);
		spare->info.port_physical_state = disabled ? PHYS_DISABLED : PHYS_POLLING;
		sm_world_sweep(world, DISCOVER_HEAVY);
		CU_ASSERT_EQUAL(disablings(world, spare), 0);
		spare->info.port_physical_state = PHYS_POLLING;
		sm_world_sweep(world, DISCOVER_HEAVY);
		CU_ASSERT_EQUAL(disablings(world, spare), disabled);
		sm_world_free(world);
	}
}

static unsigned times_written(const char *text, const char *what)
{
	unsigned times = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		times++;
	}
	return times;
}

/* A fault of each sweep is logged when it begins, when it changes, and when it is over. */
static void test_faults_are_logged_once(void)
{
	static char written[8192];
	struct world *world = sm_world_new(one_switch(3), 1, 1, NULL);
	struct unit_capture capture;

	plan_fate(world, FAKE_REFUSE, 1, 1000000);
	plan.method = METHOD_SET;
	plan.node = sm_world_node(world, "host-3");
	log_set_level("sm", LOG_NOTICE);
	unit_capture_begin(&capture);
	sm_world_up(world);
	for (unsigned i = 0; i < 3; i++)
		sm_world_sweep(world, DISCOVER_HEAVY);
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(times_written(written, "\" port 1: request to change its state refused"),
			1);
	CU_ASSERT_EQUAL(times_written(written, "subnet up with errors"), 1);

	unit_capture_begin(&capture);
	world->fake->fate = NULL;
	sm_world_sweep(world, DISCOVER_HEAVY);
	host_port(world, "host-3")->info.port_state = PORT_INIT;
	host_port(world, "host-3")->peer->info.port_state = PORT_INIT;
	world->fake->fate = planned;
	sm_world_sweep(world, DISCOVER_HEAVY);
	sm_world_sweep(world, DISCOVER_HEAVY);
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(times_written(written, "): subnet up;"), 1);
	CU_ASSERT_EQUAL(times_written(written, "\" port 1: request to change its state refused"),
			1);
	CU_ASSERT_EQUAL(times_written(written, "subnet up with errors"), 1);

	host_port(world, "host-1")->info.port_state = PORT_DOWN;
	unit_capture_begin(&capture);
	for (unsigned i = 0; i < 3; i++)
		sm_world_sweep(world, DISCOVER_HEAVY);
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(times_written(written, "no fabric to manage"), 1);
	log_set_level(NULL, LOG_CRIT);
	sm_world_free(world);
}

/* Links that are lost or new are named once. If all links are new, none is named. */
static void test_links_are_named(void)
{
	static char written[8192];
	struct world *world = sm_world_new(chain(), 3, 1, NULL);
	struct unit_capture capture;

	log_set_level("sm", LOG_NOTICE);
	unit_capture_begin(&capture);
	sm_world_up(world);
	sm_world_sweep(world, DISCOVER_HEAVY);
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(times_written(written, "link"), 0);

	unit_capture_begin(&capture);
	fake_link(host_port(world, "host-4"), false);
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_sweep(world, DISCOVER_LIGHT);
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(times_written(written, "link down: "), 1);
	CU_ASSERT_EQUAL(times_written(written, "link down: \"leaf-1\" port 1 - \"host-4\" port 1"),
			1);

	unit_capture_begin(&capture);
	fake_link(host_port(world, "host-4"), true);
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_sweep(world, DISCOVER_LIGHT);
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(times_written(written, "link up: "), 1);
	log_set_level(NULL, LOG_CRIT);
	sm_world_free(world);
}

/* Whether a refusal of the switch is remembered. */
static bool makes_trouble(const struct world *world, const char *id)
{
	guid_t guid = sm_world_node(world, id)->info.node_guid;

	return fabric_find_node(world->sm->fabric, guid)->sw->trouble;
}

static void test_refusing_switch(void)
{
	static const uint16_t attrs[] = {ATTR_SWITCH_INFO, ATTR_LINEAR_FORWARDING_TABLE,
					 ATTR_PORT_INFO};

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

		plan_fate(world, FAKE_REFUSE, 1, 1000000);
		plan.method = METHOD_SET;
		plan.attr_id = attrs[i];
		plan.node = sm_world_node(world, "leaf-1");
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_STRING_NOT_EQUAL(world->text, "subnet up");
		CU_ASSERT_EQUAL(host_port(world, "host-5")->info.port_state, PORT_ACTIVE);
		sm_world_check_orders(world);
		CU_ASSERT_EQUAL(makes_trouble(world, "leaf-1"), attrs[i] != ATTR_PORT_INFO);
		world->fake->fate = NULL;
		sm_world_sweep(world, DISCOVER_HEAVY);
		sm_world_sweep(world, DISCOVER_LIGHT); /* routes over the new links */
		sm_world_check_up(world);
		CU_ASSERT_FALSE(makes_trouble(world, "leaf-1"));
		sm_world_free(world);
	}
}

/* PortStateChange */

static struct {
	const struct fake_node *node;
	bool clear, read_before;
	unsigned reads;
} change;

static enum fake_fate watch_change(void *ctx, struct fake_node *node,
				   const struct mad_header *header)
{
	(void)ctx;
	if (node != change.node)
		return FAKE_ANSWER;
	if (header->method == METHOD_GET && header->attr_id == ATTR_PORT_INFO) {
		change.reads++;
		change.read_before |= node->sw.port_state_change;
	}
	return FAKE_ANSWER;
}

static void test_change_is_cleared_first(void)
{
	for (unsigned kind = DISCOVER_LIGHT; kind <= DISCOVER_HEAVY; kind++) {
		struct world *world = sm_world_new(chain(), 3, 1, NULL);

		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(sm_world_node(world, "leaf-1")->sw.port_state_change, 0);
		memset(&change, 0, sizeof(change));
		change.node = sm_world_node(world, "leaf-1");
		world->fake->fate = watch_change;
		fake_link(host_port(world, "host-4"), true);
		sm_world_sweep(world, kind);
		CU_ASSERT_TRUE(change.reads >= 4);
		CU_ASSERT_FALSE(change.read_before);
		CU_ASSERT_EQUAL(change.node->sw.port_state_change, 0);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* Traps */

static void test_traps(void)
{
	static const uint16_t numbers[] = {64,	65,  66,  67,  128, 129, 130,
					   131, 144, 145, 256, 257, 258, 259};
	struct world *world = sm_world_new(chain(), 3, 1, NULL);
	union notice_details details = {.link_state.lid = 0};

	CU_ASSERT_TRUE(sm_world_up(world));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const uint8_t *mad;
		struct mad_header header;
		size_t before = world->fake->num_sent;

		fake_trap(world->fake, 2, numbers[i], &details, 0xAB00000000000000 + i, 0x4B4559);
		CU_ASSERT_EQUAL_FATAL(world->fake->num_sent, before + 1);
		mad = world->fake->sent[before];
		header_decode(mad, &header);
		CU_ASSERT_EQUAL(header.method, METHOD_TRAP_REPRESS);
		CU_ASSERT_EQUAL(header.attr_id, ATTR_NOTICE);
		CU_ASSERT_EQUAL(header.tid, 0xAB00000000000000 + i);
		CU_ASSERT_EQUAL(be64_load(mad + SMP_M_KEY_OFFSET), 0); /* its port has none */
		CU_ASSERT_EQUAL(be16_load(mad + SMP_DATA_OFFSET + 4), numbers[i]);
	}
	world->reports = 0;
	sm_world_run(world, sm_world_is_quiet);
	sm_world_free(world);
}

/* Trap 128 of a switch and 144 of a host start sweeps, a storm of them one sweep at a time. */
static void test_trap_leads_to_sweep(void)
{
	struct world *world = sm_world_new(chain(), 3, 1, NULL);
	struct fake_port *host = host_port(world, "host-4");
	union notice_details details = {0};
	uint64_t number;

	CU_ASSERT_TRUE(sm_world_up(world));
	fake_link(host, true);
	number = world->sm->sweep.last.number;
	world->reports = 0;
	details.link_state.lid = sm_world_node(world, "leaf-1")->port[0].info.lid;
	for (unsigned i = 0; i < 500; i++)
		fake_trap(world->fake, details.link_state.lid, TRAP_LINK_STATE, &details, i, 0);
	sm_world_run(world, sm_world_is_quiet);
	CU_ASSERT_EQUAL(host->info.port_state, PORT_ACTIVE);
	CU_ASSERT_TRUE(world->sm->sweep.last.number <= number + 2);
	CU_ASSERT_EQUAL(world->sm->sweep.last.kind, DISCOVER_TARGETED);

	strcpy(host->node->description, "another name");
	memset(&details, 0, sizeof(details));
	details.local_changes =
		(struct notice_local_changes){.lid = host->info.lid,
					      .other_local_changes = 1,
					      .change_flags = CHANGE_NODE_DESCRIPTION};
	world->reports = 0;
	fake_trap(world->fake, host->info.lid, TRAP_LOCAL_CHANGES, &details, 1, 0);
	sm_world_run(world, sm_world_is_quiet);
	CU_ASSERT_STRING_EQUAL(known(world, "host-4")->facts->description, "another name");
	sm_world_check_up(world);
	sm_world_free(world);
}

/* The store does not write: the manager still reacts to lost nodes and cables. Only a Set() with
 * data that the registry did not have before has to wait. */
static void test_disk_does_not_delay(void)
{
	static const struct alias_entry stranger = {.port_guid = 0xDEAD, .index = 1, .guid = 1};
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);
	struct fake_port *cable = &sm_world_node(world, "leaf-1")->port[3];
	struct fake_port *host = &sm_world_node(world, "host-7")->port[1];

	CU_ASSERT_TRUE(sm_world_up(world));
	registry_keep(world->registry, KEPT_BY_STORE, true);
	registry_put(world->registry, REGISTRY_ALIAS, &stranger);
	fake_link(cable, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->error, 0);
	sm_world_check_up(world);
	fake_link(host, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->error, 0);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"bring-up", test_bring_up},
		{"manager on a switch", test_manager_on_a_switch},
		{"two hosts without switch", test_two_hosts_without_switch},
		{"host cabled to itself", test_host_cabled_to_itself},
		{"loose cables", test_loose_cables},
		{"own link down", test_own_link_down},
		{"takes over", test_takes_over},
		{"reregister", test_reregister},
		{"switch has its LID first", test_switch_has_its_lid_first},
		{"silent switch", test_silent_switch},
		{"silent host costs no heavy sweeps", test_silent_host_costs_no_heavy_sweeps},
		{"one bad answer", test_one_bad_answer},
		{"one request fails", test_one_request_fails},
		{"free at any time", test_free_at_any_time},
		{"block of unknown content", test_block_of_unknown_content},
		{"half a P_Key table", test_half_a_pkey_table},
		{"a P_Key table that is read again", test_pkeys_of_a_port_that_is_up},
		{"own agent is silent", test_own_agent_is_silent},
		{"vanishes and returns", test_vanishes_and_returns},
		{"no circle at any moment", test_no_circle_at_any_moment},
		{"link bounces", test_link_bounces},
		{"switch reboots", test_switch_reboots},
		{"cable moves", test_cable_moves},
		{"cables are swapped", test_cables_are_swapped},
		{"device is replaced", test_device_is_replaced},
		{"shrinking tables", test_shrinking_tables},
		{"comes up during a sweep", test_comes_up_during_sweep},
		{"no sweep for ever", test_no_sweep_for_ever},
		{"bounce before mastership", test_bounce_before_mastership},
		{"duplicate host GUID", test_duplicate_host_guid},
		{"duplicate port GUID", test_duplicate_port_guid},
		{"left out, and silent", test_left_out_and_silent},
		{"switch with our port GUID", test_switch_with_our_port_guid},
		{"duplicate switch GUID", test_duplicate_switch_guid},
		{"newcomer with its neighbour's GUID", test_newcomer_with_its_neighbours_guid},
		{"senseless NodeInfo", test_senseless_node_info},
		{"LIDs collide", test_lids_collide},
		{"small table comes later", test_small_table_comes_later},
		{"clamped values", test_clamped_values},
		{"new values for ports that are up", test_new_values},
		{"echoed state change", test_echoed_state_change},
		{"refusing port", test_refusing_port},
		{"disabled port", test_disabled_port},
		{"disabled port without a link", test_disabled_without_link},
		{"faults are logged once", test_faults_are_logged_once},
		{"links are named", test_links_are_named},
		{"refusing switch", test_refusing_switch},
		{"change is cleared first", test_change_is_cleared_first},
		{"traps", test_traps},
		{"disk does not delay a sweep", test_disk_does_not_delay},
		{"trap leads to sweep", test_trap_leads_to_sweep},
		CU_TEST_INFO_NULL,
	};

	return unit_main("sm", tests);
}
