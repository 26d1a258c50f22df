/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A master and a standby that follows it beside the fabric: the state of the standby when it takes
 * over, at whichever moment the master dies.
 */
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/context.h"
#include "tests/sim/registered.h"
#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"

#define TREE "fattree:radix=8,levels=2"
#define FIRST "host-0001"
#define SECOND "host-0017"
#define FOLLOWS(own) \
	"ha_listen=\"" own "\" ha_peers=\"" FIRST "," SECOND "\" durability=\"standby\""
#define INBAND "ha_inband=true durability=\"standby\""
#define LISTED INBAND " allowed_sm_guids=[0x0277656601000101,0x0277656601001101]"

enum { GROUPS = 300, PATIENCE_US = 200000, SWEEP_INTERVAL_S = 10 /* as the default */ };

static bool is_master(void *ctx)
{
	return sim_state(ctx) == SM_MASTER;
}

static struct sim_manager *start(struct sim *sim, const char *node, const char *options,
				 uint8_t priority, unsigned sweep_interval_s)
{
	struct sim_manager *manager = sim_start_keeping(sim, node, options);

	/* The scenario sets the priorities that decide the election. */
	sim_kill(manager);
	manager->conf.sm.priority = priority;
	manager->conf.sm.sweep_interval_s = sweep_interval_s;
	manager->conf.sa.groups_per_port = GROUPS;
	sim_restart(manager);
	return manager;
}

/* Up, with a standby in sync. */
static void ranked_managers(struct sim *sim, uint8_t priority, unsigned sweep_interval_s,
			    struct sim_manager **first, struct sim_manager **second)
{
	*first = start(sim, FIRST, FOLLOWS(FIRST), priority, sweep_interval_s);
	sim_settle(sim, 60 * SIM_S);
	*second = start(sim, SECOND, FOLLOWS(SECOND), (uint8_t)(priority - 1), sweep_interval_s);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(*first) == SM_MASTER);
	sim_expect(sim, sim_state(*second) == SM_STANDBY);
}

static void two_managers(struct sim *sim, struct sim_manager **first, struct sim_manager **second,
			 unsigned sweep_interval_s)
{
	ranked_managers(sim, 15, sweep_interval_s, first, second);
}

/* So many groups that the tables have more blocks than samples are read. */
static void many_groups(struct sim_manager *master)
{
	for (unsigned group = TENANT_GROUPS; group < TENANT_GROUPS + GROUPS; group++)
		for (unsigned host = 2; host <= REGISTERED_HOSTS; host += REGISTERED_HOSTS - 4)
			if (!tenant_joins_within(master, registered_port(master->sim, host), group,
						 PATIENCE_US))
				sim_fail(master->sim, "host %u does not get into group %u", host,
					 group);
}

/* No table is written. Hosts, LIDs and groups are unchanged. No sweep runs between the joins and
 * the end of the master. */
static void takeover(struct sim *sim)
{
	struct registered registered = {0};
	struct sim_manager *first, *second;

	two_managers(sim, &first, &second, 0);
	for (unsigned i = 0; i < 60; i++)
		registered_ask(first, &registered, PATIENCE_US);
	many_groups(first);
	registered_note_lids(sim, &registered);
	registered_note_mlids(first, &registered);
	sim_settle(sim, 60 * SIM_S);
	second->lft_sets_sent = second->lft_gets_sent = 0;
	second->mft_sets_sent = second->mft_gets_sent = 0;
	sim_kill(first);
	sim_until(sim, 10 * SIM_S, "the standby takes over", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, registered.acknowledged > 20);
	sim_expect(sim, second->lft_sets_sent == 0);
	/* Samples of each switch, because the standby has the tables by replication. */
	sim_expect(sim, second->lft_gets_sent > 0 && second->lft_gets_sent <= 4 * 12);
	sim_expect(sim, second->mft_sets_sent == 0);
	sim_expect(sim, second->mft_gets_sent > 0 && second->mft_gets_sent <= 4 * 12);
	registered_compare(second, &registered);
	sim_check(sim);
}

/* The same if the host of the master disappears with it: the LID that is kept for it still leads
 * there. */
static void host_is_gone(struct sim *sim)
{
	struct sim_manager *first, *second;
	lid_t lid;

	two_managers(sim, &first, &second, SWEEP_INTERVAL_S);
	lid = first->port->info.lid;
	second->lft_sets_sent = 0;
	sim_kill(first);
	sim_node(sim, first->port->device, false);
	sim_until(sim, 10 * SIM_S, "the standby takes over", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, second->lft_sets_sent == 0);
	sim_check(sim);
	sim_node(sim, first->port->device, true);
	sim_settle_and_check(sim);
	sim_expect(sim, first->port->info.lid == lid);
	sim_expect(sim, second->lft_sets_sent == 0);
}

/* A standby that follows the master notices its end at once, however large the poll interval is. It
 * polls then, so a connection that ends for another reason causes no more than a poll. */
static void connection_ends(struct sim *sim)
{
	enum { AT_ONCE_MS = 300 };
	struct sim_manager *first, *second;

	two_managers(sim, &first, &second, SWEEP_INTERVAL_S);
	second->conf.sm.poll_interval_ms = 10000;
	sim_kill(second);
	sim_restart(second);
	sim_settle(sim, 60 * SIM_S);
	for (unsigned i = 0; i < 5; i++) {
		sim_reset_pipes(sim);
		sim_pass(sim, 20 * SIM_S);
		sim_expect(sim, sim_state(first) == SM_MASTER);
		sim_expect(sim, sim_state(second) == SM_STANDBY);
	}
	sim_kill(first);
	sim_until(sim, AT_ONCE_MS * SIM_MS, "the standby takes over", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	sim_restart(first); /* it has the higher rank, and becomes MASTER again */
	sim_until(sim, 60 * SIM_S, "the first manager is MASTER again", is_master, first);
	sim_settle(sim, 60 * SIM_S);
	sim_stop(first);
	sim_until(sim, AT_ONCE_MS * SIM_MS, "the standby takes the handover", is_master, second);
	sim_settle_and_check(sim);
}

/* Orders of an administrator */

/* The answer to the last command. It may arrive after a run has failed. */
static struct answer {
	bool done;
	int error;
	uint16_t status;
	guid_t to;
} answer;

static struct peers *peers_of(const struct sim_manager *manager)
{
	return manager_sm(manager->manager)->peers;
}

static guid_t choose(void *ctx, const struct peer *list, size_t count)
{
	(void)ctx;
	(void)list;
	(void)count;
	return answer.to;
}

static void given(void *ctx, int error, uint16_t status)
{
	(void)ctx;
	answer = (struct answer){.done = true, .error = error, .status = status};
}

static void ordered(void *owner, void *subject, const struct smp_request *request,
		    const struct smp_answer *got)
{
	(void)subject;
	(void)request;
	given(owner, got->error, got->status);
}

static bool is_answered(void *ctx)
{
	(void)ctx;
	return answer.done;
}

/* True if the other manager accepted the handover. */
static bool give(struct sim_manager *from, struct sim_manager *to)
{
	if (from->sim->failed)
		return false;
	answer = (struct answer){.to = to->port->guid};
	peers_request_handover(peers_of(from), &(struct peers_handover){choose, given, NULL});
	trigger_light(&manager_sm(from->manager)->trigger, "test");
	sim_until(from->sim, 10 * SIM_S, "the handover is answered", is_answered, NULL);
	return answer.done && !answer.error && !answer.status;
}

static bool order(struct sim_manager *from, struct sim_manager *to, uint32_t control)
{
	if (from->sim->failed)
		return false;
	answer.done = false;
	sim_expect(from->sim, peers_request(peers_of(from), to->port->guid, METHOD_SET, control,
					    ordered, NULL));
	sim_until(from->sim, 10 * SIM_S, "the order is answered", is_answered, NULL);
	return answer.done && !answer.error && !answer.status;
}

static void expect_states(struct sim *sim, struct sim_manager *a, enum sm_state state_a,
			  struct sim_manager *b, enum sm_state state_b)
{
	if (sim_state(a) != state_a || sim_state(b) != state_b)
		sim_fail(sim, "the managers are %s and %s, not %s and %s",
			 sm_state_name(sim_state(a)), sm_state_name(sim_state(b)),
			 sm_state_name(state_a), sm_state_name(state_b));
}

/* Handover by command to a manager of lower rank. The new master has all registrations and stays
 * MASTER, also after a restart of the previous master. A second command hands the subnet back. */
static void handover(struct sim *sim)
{
	struct registered registered = {0};
	struct sim_manager *first, *second;

	ranked_managers(sim, 3, SWEEP_INTERVAL_S, &first, &second);
	for (unsigned i = 0; i < 40; i++)
		registered_ask(first, &registered, PATIENCE_US);
	registered_note_lids(sim, &registered);
	registered_note_mlids(first, &registered);
	for (unsigned turn = 0; turn < 4 && !sim->failed; turn++) {
		second->lft_sets_sent = 0;
		sim_expect(sim, give(first, second));
		sim_settle(sim, 60 * SIM_S);
		sim_pass(sim, 30 * SIM_S);
		expect_states(sim, first, SM_STANDBY, second, SM_MASTER);
		sim_expect(sim, second->lft_sets_sent == 0);
		registered_compare(second, &registered);
		sim_check(sim);
		sim_kill(first);
		sim_restart(first);
		sim_settle(sim, 60 * SIM_S);
		sim_pass(sim, 30 * SIM_S);
		expect_states(sim, first, SM_STANDBY, second, SM_MASTER);
		sim_expect(sim, give(second, first));
		sim_settle(sim, 60 * SIM_S);
		expect_states(sim, first, SM_MASTER, second, SM_STANDBY);
		registered_compare(first, &registered);
	}
	sim_settle_and_check(sim);
}

/* The SM LID moves with the role of MASTER, in each kind of change. At most one block of each
 * switch is written. The only PortInfo Sets are for the two ports whose LIDs change. If the former
 * master is gone, the second one clears the PortStateChange of its leaf. */

enum { SM_LID = 200, SWITCHES = 12 };

static void moved(struct sim_manager *to, const struct sim_manager *from, const lid_t own[2],
		  bool from_is_there)
{
	struct sim *sim = to->sim;

	sim_until(sim, 60 * SIM_S, "the manager is MASTER", is_master, to);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, to->port->info.lid == SM_LID);
	sim_expect(sim, !from_is_there || from->port->info.lid == own[0]);
	sim_expect(sim, to->lft_sets_sent > 0 && to->lft_sets_sent <= SWITCHES);
	sim_expect(sim, to->sets_sent == to->lft_sets_sent + to->mft_sets_sent + 2);
	sim_check(sim);
	sim_settle(sim, 60 * SIM_S);
}

static void sm_lid_moves(struct sim *sim)
{
	struct registered registered = {0};
	struct sim_manager *first, *second;
	lid_t own[2], swapped[2];

	first = start(sim, FIRST, FOLLOWS(FIRST) " sm_lid=200", 5, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	second = start(sim, SECOND, FOLLOWS(SECOND) " sm_lid=200", 4, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(first) == SM_MASTER && sim_state(second) == SM_STANDBY);
	sim_expect(sim, first->port->info.lid == SM_LID);
	own[1] = swapped[0] = second->port->info.lid;
	for (unsigned i = 0; i < 40; i++)
		registered_ask(first, &registered, PATIENCE_US);
	sim_settle(sim, 60 * SIM_S);
	registered_note_lids(sim, &registered);
	registered_note_mlids(first, &registered);
	second->sets_sent = second->lft_sets_sent = second->mft_sets_sent = 0;
	sim_kill(first);
	sim_until(sim, 10 * SIM_S, "the manager is MASTER", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	own[0] = swapped[1] = first->port->info.lid;
	sim_expect(sim, own[0] != SM_LID && own[0] != own[1]);
	moved(second, first, own, true);
	registered.lid[1] = own[0];
	registered.lid[17] = SM_LID;
	registered_compare(second, &registered);

	sim_restart(first);
	first->sets_sent = first->lft_sets_sent = first->mft_sets_sent = 0;
	moved(first, second, swapped, true);
	sim_expect(sim, second->port->info.lid == own[1]);
	second->sets_sent = second->lft_sets_sent = second->mft_sets_sent = 0;
	sim_expect(sim, give(first, second));
	moved(second, first, own, true);
	first->sets_sent = first->lft_sets_sent = first->mft_sets_sent = 0;
	sim_expect(sim, give(second, first));
	moved(first, second, swapped, true);

	second->sets_sent = second->lft_sets_sent = second->mft_sets_sent = 0;
	sim_kill(first);
	sim_node(sim, first->port->device, false);
	moved(second, first, own, false);
	sim_node(sim, first->port->device, true);
	sim_settle_and_check(sim);
	sim_expect(sim, first->port->info.lid == own[0]);
	sim_expect(sim, second->lft_sets_sent <= SWITCHES);
	sim_expect(sim, second->port->info.lid == SM_LID);
}

/* A link request that a manager had when it lost the role of MASTER lapses: when it is MASTER
 * again, another MASTER may have changed the port. */
static void asked_link_lapses(struct sim *sim)
{
	struct sim_manager *first, *second;
	struct device_port *port = sim_port(sim, "leaf-03", 2);
	struct node *node;

	two_managers(sim, &first, &second, SWEEP_INTERVAL_S);
	if (sim->failed || !give(first, second))
		return;
	sim_settle(sim, 60 * SIM_S);
	node = fabric_find_node(manager_sm(first->manager)->fabric, port->device->node_guid);
	sim_expect(sim, node && sim_state(first) == SM_STANDBY);
	if (sim->failed)
		return;
	port_ask_link(&node->port[port->num], PHYS_DISABLED);
	sim_kill(second);
	sim_until(sim, 5 * SIM_S, "the first is MASTER again", is_master, first);
	sim_settle_and_check(sim);
	sim_expect(sim, port->info.port_physical_state == PHYS_LINK_UP);
}

/* Each control packet, and the states of both managers after it. */
static void control_packets(struct sim *sim)
{
	enum { DISCOVERY = 300 }; /* SMPs, at the least */
	struct sim_manager *first, *second;
	uint64_t sent;

	two_managers(sim, &first, &second, SWEEP_INTERVAL_S);
	sim_expect(sim, order(first, second, SM_CONTROL_DISABLE));
	expect_states(sim, first, SM_MASTER, second, SM_NOTACTIVE);
	sim_expect(sim, order(first, second, SM_CONTROL_DISABLE)); /* as when an answer is lost */
	sim_expect(sim, !order(first, second, SM_CONTROL_DISCOVER));
	sim_expect(sim, !give(first, second));
	sim_pass(sim, 30 * SIM_S);
	expect_states(sim, first, SM_MASTER, second, SM_NOTACTIVE);
	sim_expect(sim, order(first, second, SM_CONTROL_STANDBY));
	expect_states(sim, first, SM_MASTER, second, SM_STANDBY);
	sim_expect(sim, order(first, second, SM_CONTROL_STANDBY));
	sent = second->mads_sent;
	sim_expect(sim, order(first, second, SM_CONTROL_DISCOVER));
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, second->mads_sent > sent + DISCOVERY);
	expect_states(sim, first, SM_MASTER, second, SM_STANDBY);
	sim_expect(sim, !order(second, first, SM_CONTROL_DISABLE));
	/* In NOTACTIVE it does not take over. A restart makes it an ordinary manager again. */
	sim_expect(sim, order(first, second, SM_CONTROL_DISABLE));
	sim_kill(first);
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, sim_state(second) == SM_NOTACTIVE);
	sim_kill(second);
	sim_restart(second);
	sim_until(sim, 10 * SIM_S, "the manager is MASTER", is_master, second);
	sim_settle_and_check(sim);
}

static bool is_standby(void *ctx)
{
	return sim_state(ctx) == SM_STANDBY;
}

/* Repeats the order until there is an answer. A repeated order is never refused, because the
 * manager has obeyed it already. Then waits until no packet is under way, because a late packet
 * would undo the next order. */
static void order_surely(struct sim_manager *from, struct sim_manager *to, uint32_t control)
{
	bool taken;

	do
		taken = order(from, to, control);
	while (answer.error && !from->sim->failed);
	sim_expect(from->sim, taken);
	sim_pass(from->sim, SIM_S);
}

/* Packets are lost, duplicated and delayed. */
static void control_packets_lost(struct sim *sim)
{
	enum { ROUNDS = 30 };
	struct sim_manager *first, *second;

	two_managers(sim, &first, &second, SWEEP_INTERVAL_S);
	sim_faults(sim, &(struct world_faults){.drop_ppm = 150000,
					       .duplicate_ppm = 50000,
					       .delay_ppm = 50000,
					       .delay_us = 300000});
	for (unsigned round = 0; round < ROUNDS && !sim->failed; round++) {
		sim_until(sim, 60 * SIM_S, "the manager is a standby", is_standby, second);
		order_surely(first, second, SM_CONTROL_DISABLE);
		expect_states(sim, first, SM_MASTER, second, SM_NOTACTIVE);
		order_surely(first, second, SM_CONTROL_STANDBY);
	}
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

/* The same over the fabric. The host of the master may disappear, too. */
static void takeover_inband(struct sim *sim, const char *options, bool gone)
{
	struct registered registered = {0};
	struct sim_manager *first, *second;

	first = start(sim, FIRST, options, 15, SWEEP_INTERVAL_S);
	sim_pass(sim, sim_random(sim, 2) ? sim_random(sim, 100) * SIM_MS : 20 * SIM_S);
	second = start(sim, SECOND, options, 14, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	sim_pass(sim, 30 * SIM_S);
	for (unsigned i = 0; i < 60; i++)
		registered_ask(first, &registered, PATIENCE_US);
	registered_note_lids(sim, &registered);
	registered_note_mlids(first, &registered);
	second->lft_sets_sent = second->lft_gets_sent = 0;
	sim_kill(first);
	if (gone)
		sim_node(sim, first->port->device, false);
	sim_until(sim, 10 * SIM_S, "the standby takes over", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, registered.acknowledged > 20);
	/* The new master does not know the LIDs of absent hosts, so it does not keep the LID of the
	 * former master's host: this changes one block of each switch. */
	sim_expect(sim, second->lft_sets_sent == (gone && !strcmp(options, INBAND) ? SWITCHES : 0));
	/* Without the tables, it reads them. */
	sim_expect(sim, second->lft_gets_sent <= 4 * SWITCHES);
	sim_node(sim, first->port->device, true);
	sim_settle(sim, 60 * SIM_S);
	registered_compare(second, &registered);
	sim_settle_and_check(sim);
}

static void inband_takeover(struct sim *sim)
{
	takeover_inband(sim, INBAND, false);
}

static void inband_host_gone(struct sim *sim)
{
	takeover_inband(sim, INBAND, true);
}

static void inband_listed(struct sim *sim)
{
	takeover_inband(sim, LISTED, sim_random(sim, 2));
}

/* Messages are lost, repeated and delayed while hosts register and the master is killed. */
static void inband_lossy(struct sim *sim)
{
	static const struct world_faults faults = {
		.drop_ppm = 50000, .duplicate_ppm = 20000, .delay_ppm = 50000, .delay_us = 50000};
	struct registered registered = {0};
	struct sim_manager *first, *second;

	first = start(sim, FIRST, INBAND, 15, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	second = start(sim, SECOND, INBAND, 14, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	sim_pass(sim, 30 * SIM_S);
	registered_note_lids(sim, &registered);
	sim_faults(sim, &faults);
	for (unsigned i = 0; i < 60; i++) {
		registered_ask(first, &registered, PATIENCE_US);
		sim_pass(sim, sim_random(sim, 100) * SIM_MS);
	}
	sim_faults(sim, NULL);
	sim_pass(sim, 5 * SIM_S);
	registered_note_mlids(first, &registered);
	sim_kill(first);
	sim_until(sim, 10 * SIM_S, "the standby takes over", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, registered.acknowledged > 20);
	registered_compare(second, &registered);
	sim_settle_and_check(sim);
}

/* The master is killed at any moment, several times. All acknowledged registrations still exist,
 * under the same LIDs and MLIDs, and no table is written. */
static void kills(struct sim *sim, bool troubles)
{
	enum { KILLS = 4 };
	struct registered registered = {0};
	struct sim_manager *master, *standby, *other;

	two_managers(sim, &master, &standby, SWEEP_INTERVAL_S);
	registered_note_lids(sim, &registered);
	for (unsigned kill = 0; kill < KILLS && !sim->failed; kill++) {
		for (uint64_t left = 5 + sim_random(sim, 20); left; left--) {
			registered_ask(master, &registered, PATIENCE_US);
			if (troubles && !sim_network_trouble(sim, 12))
				sim_pass(sim, sim_random(sim, 200) * SIM_MS);
		}
		registered_note_mlids(master, &registered);
		/* The last registration may be on its way to the disk, to the standby, or back. */
		for (uint64_t left = sim_random(sim, 3); left; left--)
			registered_ask(master, &registered, sim_random(sim, 800));
		sim_pass(sim, sim_random(sim, 2) * sim_random(sim, 2000));
		standby->lft_sets_sent = 0;
		sim_kill(master);
		sim_until(sim, 10 * SIM_S, "the standby takes over", is_master, standby);
		sim_settle(sim, 60 * SIM_S);
		sim_expect(sim, standby->lft_sets_sent == 0);
		registered_compare(standby, &registered);
		/* The restarted manager gets the lower rank, so that the present master stays. */
		master->conf.sm.priority = (uint8_t)(standby->conf.sm.priority - 1);
		sim_restart(master);
		other = master;
		master = standby;
		standby = other;
		sim_settle(sim, 60 * SIM_S);
		sim_expect(sim, sim_state(master) == SM_MASTER);
	}
	sim_expect(sim, registered.acknowledged > 5);
	sim_check(sim);
}

static void kills_at_random(struct sim *sim)
{
	kills(sim, false);
}

static void kills_in_trouble(struct sim *sim)
{
	kills(sim, true);
}

/* A manager of higher rank returns: it becomes MASTER when it has the registrations made in its
 * absence, and not before. */
static void return_of_first(struct sim *sim, struct sim_manager *first, struct sim_manager *second)
{
	struct registered registered = {0};

	for (unsigned i = 0; i < 20; i++)
		registered_ask(first, &registered, PATIENCE_US);
	sim_kill(first);
	sim_until(sim, 10 * SIM_S, "the standby takes over", is_master, second);
	sim_settle(sim, 60 * SIM_S);
	for (unsigned i = 0; i < 40; i++)
		registered_ask(second, &registered, PATIENCE_US);
	registered_note_lids(sim, &registered);
	registered_note_mlids(second, &registered);
	sim_restart(first);
	sim_until(sim, 60 * SIM_S, "the first manager is MASTER again", is_master, first);
	sim_settle(sim, 60 * SIM_S);
	registered_compare(first, &registered);
	sim_check(sim);
}

static void comes_back(struct sim *sim)
{
	struct sim_manager *first, *second;

	two_managers(sim, &first, &second, SWEEP_INTERVAL_S);
	return_of_first(sim, first, second);
}

/* The offer of the master may arrive before the first attempt to follow it. */
static void inband_comes_back(struct sim *sim)
{
	struct sim_manager *first, *second;

	first = start(sim, FIRST, INBAND, 15, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	second = start(sim, SECOND, INBAND, 14, SWEEP_INTERVAL_S);
	sim_settle(sim, 60 * SIM_S);
	sim_pass(sim, 30 * SIM_S);
	return_of_first(sim, first, second);
}

const struct scenario sim_ha[] = {
	{.name = "ha-takeover", .topology = TREE, .play = takeover},
	{.name = "ha-host-gone", .topology = TREE, .play = host_is_gone},
	{.name = "ha-connection-ends", .topology = TREE, .play = connection_ends},
	{.name = "ha-handover", .topology = TREE, .play = handover},
	{.name = "ha-sm-lid", .topology = TREE, .play = sm_lid_moves},
	{.name = "ha-control-packets", .topology = TREE, .play = control_packets},
	{.name = "ha-control-packets-lost", .topology = TREE, .play = control_packets_lost},
	{.name = "ha-kills", .topology = TREE, .play = kills_at_random},
	{.name = "ha-kills-in-trouble", .topology = TREE, .play = kills_in_trouble},
	{.name = "ha-inband-takeover", .topology = TREE, .play = inband_takeover},
	{.name = "ha-inband-host-gone", .topology = TREE, .play = inband_host_gone},
	{.name = "ha-inband-listed", .topology = TREE, .play = inband_listed},
	{.name = "ha-inband-lossy", .topology = TREE, .play = inband_lossy},
	{.name = "ha-inband-comes-back", .topology = TREE, .play = inband_comes_back},
	{.name = "ha-comes-back", .topology = TREE, .play = comes_back},
	{.name = "ha-asked-link-lapses", .topology = TREE, .play = asked_link_lapses},
	{.name = NULL},
};
