/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Masters that are killed, and fabrics that fall apart, at random moments. 5 % of all MADs are lost
 * all the time. The seed decides the topology, where the managers run (some on switches), whether
 * mastership is sticky, whether a LID moves with it, and the events.
 *
 * These rules are checked. Without events no standby takes over. If there is a standby, it takes
 * over within two seconds from a killed master, and within four seconds from a host that is gone.
 * After the last fault there is one MASTER again within one sweep interval and one election, and
 * never two MASTERs after that. At the end, without losses, the invariants hold.
 *
 * failover-standby: the same with two managers, one of which follows the other. A registration is
 * acknowledged when both have it. All registrations that were acknowledged while the standby was in
 * sync exist at the end, whichever manager is MASTER then, and hosts keep their LIDs. The network
 * of the replication has short faults of its own.
 *
 * Scenarios without losses: two subnets that are joined, managers on switches, and a raised
 * priority.
 */
#include <stdio.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "store/registry.h"
#include "tests/sim/registered.h"
#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"
#include "tests/sim/trace.h"

enum {
	LOSS_PPM = 50000,
	FAULTS_MAX = 3,
	LOOK_MS = 100,
	CALM_MAX_S = 60,
	KILLED_MS = 2000, /* discovery waits for a device that loses all attempts */
	GONE_MS = 4000,
	RETURN_MAX_S = 4,
	GAP_STEPS = 14,	       /* up to 8 s */
	SWEEP_INTERVAL_S = 10, /* as the option's default */
	ELECTION_S = 5,	       /* surveys and handovers wait for lost answers */
	AFTERWARDS_MS = 30000,
	CUT_MAX = 128,
};

static const char *failover_topology(uint64_t seed)
{
	static const char *const specs[] = {
		"fattree:radix=8,levels=2", "ring:switches=6,hosts=2",	"torus:dims=4x4,hosts=1",
		"dragonfly:a=4,h=2,p=1",    "fattree:radix=6,levels=3",
	};

	return specs[seed % ARRAY_SIZE(specs)];
}

static struct device *random_device(struct sim *sim, bool is_switch)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	struct device *device;

	do
		device = devices[sim_random(sim, count)];
	while (device_is_switch(device) != is_switch);
	return device;
}

static bool has_manager(const struct sim *sim, const struct device *device)
{
	for (unsigned i = 0; i < sim->num_managers; i++)
		if (sim->managers[i].port && sim->managers[i].port->device == device)
			return true;
	return false;
}

static void add_manager(struct sim *sim, bool on_switch, const char *options)
{
	struct device *device;

	do
		device = random_device(sim, on_switch);
	while (has_manager(sim, device));
	sim_start(sim, trace_name(device), options);
}

static unsigned masters(struct sim *sim)
{
	unsigned count = 0;

	for (unsigned i = 0; i < sim->num_managers; i++)
		count += sim_state(&sim->managers[i]) == SM_MASTER;
	return count;
}

static bool has_one_master(void *ctx)
{
	return masters(ctx) == 1;
}

static bool has_a_master(void *ctx)
{
	return masters(ctx) > 0;
}

/* No other manager is MASTER during this time, though 5 % of all requests and answers are lost. */
static void calm(struct sim *sim, uint64_t us)
{
	struct sim_manager *master = sim_master(sim);

	if (!master) {
		sim_fail(sim, "no manager is MASTER");
		return;
	}
	for (uint64_t passed = 0; passed < us && !sim->failed && !sim->stopped;
	     passed += LOOK_MS * SIM_MS) {
		sim_pass(sim, LOOK_MS * SIM_MS);
		if (sim_master(sim) != master || masters(sim) != 1)
			sim_fail(sim, "without a fault %s is no longer the only MASTER",
				 trace_name(master->port->device));
	}
}

/* Faults; all that was removed comes back. */

static bool has_standby(struct sim *sim)
{
	for (unsigned i = 0; i < sim->num_managers; i++)
		if (sim_state(&sim->managers[i]) == SM_STANDBY)
			return true;
	return false;
}

/* A manager that has just started must read the fabric first. */
static void follows(struct sim *sim, bool standby, uint64_t within_ms)
{
	if (!standby)
		within_ms = (SWEEP_INTERVAL_S + ELECTION_S) * 1000;
	sim_until(sim, within_ms * SIM_MS, "another manager is MASTER", has_a_master, sim);
	sim_pass(sim, sim_random(sim, RETURN_MAX_S * SIM_S));
}

static void master_is_killed(struct sim *sim)
{
	struct sim_manager *master = sim_master(sim);
	bool standby = has_standby(sim);

	if (!master)
		return;
	sim_kill(master);
	follows(sim, standby, KILLED_MS);
	sim_restart(master);
}

static void master_leaves(struct sim *sim)
{
	struct sim_manager *master = sim_master(sim);
	bool standby = has_standby(sim);

	if (!master)
		return;
	sim_stop(master);
	follows(sim, standby, KILLED_MS);
	sim_restart(master);
}

static void host_is_gone(struct sim *sim)
{
	struct sim_manager *master = sim_master(sim);
	bool standby = has_standby(sim);

	if (!master || device_is_switch(master->port->device)) {
		master_is_killed(sim);
		return;
	}
	sim_kill(master);
	sim_node(sim, master->port->device, false);
	follows(sim, standby, GONE_MS);
	sim_node(sim, master->port->device, true);
	sim_restart(master);
}

/* Whether a device is on the far side of a cut. This follows from its place in the order of the
 * topology: with the families above, each side is mostly connected. */
static bool is_far(const struct device *device, struct device *const *devices, size_t count,
		   size_t cut)
{
	for (size_t i = cut; i < count; i++)
		if (devices[i] == device)
			return true;
	return false;
}

static bool is_cut(const struct device_port *port, struct device *const *devices, size_t count,
		   size_t cut)
{
	return port->peer && !port->pulled && device_is_switch(port->device) &&
	       device_is_switch(port->peer->device) &&
	       is_far(port->peer->device, devices, count, cut);
}

static unsigned cut_in_two(struct sim *sim, struct device_port *cables[CUT_MAX])
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	size_t cut = 1 + sim_random(sim, count - 1);
	unsigned num = 0;

	for (size_t i = 0; i < cut; i++) {
		for (unsigned p = 1; p <= devices[i]->num_ports && num < CUT_MAX; p++) {
			struct device_port *port = &devices[i]->port[p];

			if (!is_cut(port, devices, count, cut))
				continue;
			cables[num++] = port;
			sim_link(sim, port, false);
		}
	}
	return num;
}

/* The cut lasts less than a poll, or long enough for a master in each part. Then the cables come
 * back one after another. */
static void fabric_is_cut(struct sim *sim)
{
	struct device_port *cables[CUT_MAX];
	unsigned num = cut_in_two(sim, cables);

	sim_pass(sim, SIM_MS << sim_random(sim, GAP_STEPS));
	for (unsigned i = 0; i < num; i++) {
		sim_link(sim, cables[i], true);
		sim_pass(sim, sim_random(sim, 50 * SIM_MS));
	}
}

static void master_is_cut_off(struct sim *sim)
{
	struct sim_manager *master = sim_master(sim);

	if (master && !device_is_switch(master->port->device))
		sim_flap(sim, master->port, SIM_MS << sim_random(sim, GAP_STEPS));
}

static void a_fault(struct sim *sim)
{
	static void (*const faults[])(struct sim * sim) = {master_is_killed, master_leaves,
							   host_is_gone,     fabric_is_cut,
							   fabric_is_cut,    master_is_cut_off};

	faults[sim_random(sim, ARRAY_SIZE(faults))](sim);
}

/* After the last fault. Until the time is over there may be two MASTERs again, and during a
 * handover there may be none. */
static void becomes_one(struct sim *sim)
{
	uint64_t end_us = sim_now_us(sim) + sim_usual_world.training_us +
			  (SWEEP_INTERVAL_S + ELECTION_S) * SIM_S;

	sim_pass(sim, sim_usual_world.training_us);
	sim_until(sim, (SWEEP_INTERVAL_S + ELECTION_S) * SIM_S, "there is one MASTER",
		  has_one_master, sim);
	if (sim_now_us(sim) < end_us)
		sim_pass(sim, end_us - sim_now_us(sim));
	for (unsigned ms = 0; ms < AFTERWARDS_MS && !sim->failed && !sim->stopped; ms += LOOK_MS) {
		sim_pass(sim, LOOK_MS * SIM_MS);
		if (masters(sim) > 1)
			sim_fail(sim, "there are %u MASTERs again", masters(sim));
	}
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

static void failover(struct sim *sim)
{
	static const char *const options_of[] = {"sm_lid=0", "master_priority=14", "sm_lid=77",
						 "sm_lid=77 master_priority=14"};
	const char *options = options_of[sim->run.seed / 5 % ARRAY_SIZE(options_of)];
	char first[64];
	unsigned count = 1 + (unsigned)sim_random(sim, FAULTS_MAX);

	snprintf(first, sizeof(first), "sm_priority=5 %s", options);
	add_manager(sim, false, first);
	add_manager(sim, sim_random(sim, 3) == 0, options);
	if (sim_random(sim, 2))
		add_manager(sim, false, options);
	sim_settle(sim, 120 * SIM_S);
	sim_faults(sim, &(struct world_faults){.drop_ppm = LOSS_PPM});
	calm(sim, sim_random(sim, CALM_MAX_S * SIM_S));
	for (unsigned i = 0; i < count && !sim->failed; i++) {
		a_fault(sim);
		if (i + 1 < count && sim_random(sim, 2))
			sim_pass(sim, SIM_MS << sim_random(sim, GAP_STEPS));
	}
	becomes_one(sim);
}

/* With a standby */

#define FOLLOWS(own) \
	"ha_listen=\"" own "\" ha_peers=\"host-0001,host-0017\" durability=\"standby\" "

enum { PATIENCE_US = 300000, ASKED_MAX = 12 };

/* No client gets an answer before the standby has the registration. */
static bool is_kept(struct sim_manager *master)
{
	return master && masters(master->sim) == 1 &&
	       registry_keeps(manager_registry(master->manager), KEPT_BY_STANDBY);
}

/* A registration that only the disk of the master had when it was acknowledged does not count. */
static void hosts_ask(struct sim *sim, struct registered *registered)
{
	for (uint64_t left = sim_random(sim, ASKED_MAX); left && !sim->failed; left--) {
		struct sim_manager *master = sim_master(sim);
		enum told *told;

		sim_network_trouble(sim, 16);
		if (!is_kept(master)) {
			sim_pass(sim, sim_random(sim, SIM_S));
			continue;
		}
		told = registered_ask(master, registered, PATIENCE_US);
		if (told && !is_kept(master))
			*told = NOTHING;
	}
}

/* A registration that is under way when the fault comes may exist or not. */
static void failover_standby(struct sim *sim)
{
	bool sticky = sim->run.seed % 2;
	unsigned count = 1 + (unsigned)sim_random(sim, FAULTS_MAX);
	struct registered registered = {0};

	sim_start_keeping(sim, "host-0001",
			  sticky ? FOLLOWS("host-0001") "sm_priority=5 master_priority=14"
				 : FOLLOWS("host-0001") "sm_priority=5");
	sim_start_keeping(sim, "host-0017",
			  sticky ? FOLLOWS("host-0017") "master_priority=14"
				 : FOLLOWS("host-0017"));
	sim_settle(sim, 120 * SIM_S);
	registered_note_lids(sim, &registered);
	sim_faults(sim, &(struct world_faults){.drop_ppm = LOSS_PPM});
	calm(sim, sim_random(sim, CALM_MAX_S * SIM_S));
	sim_expect(sim, is_kept(sim_master(sim)));
	for (unsigned i = 0; i < count && !sim->failed; i++) {
		hosts_ask(sim, &registered);
		a_fault(sim);
		sim_pass(sim, SIM_MS << sim_random(sim, GAP_STEPS));
	}
	becomes_one(sim);
	if (!sim->failed && !sim->stopped)
		registered_compare(sim_master(sim), &registered);
}

/* Two subnets become one */

enum { HALF_HOSTS = 6, MEET_S = 5 };

static struct device *host(struct sim *sim, unsigned number)
{
	char name[sizeof("host-0000")];

	snprintf(name, sizeof(name), "host-%04u", number);
	return sim_device(sim, name);
}

/* A ring in two halves, each with a master of its own, which assigned LIDs without knowledge of the
 * other. */
static void two_subnets(struct sim *sim)
{
	bool collide = false;

	sim_link(sim, sim_port(sim, "sw-06", 3), false);
	sim_link(sim, sim_port(sim, "sw-03", 3), false);
	sim_start(sim, "host-0001", NULL);
	sim_start(sim, "host-0007", "sm_priority=5");
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, masters(sim) == 2);
	for (unsigned a = 1; a <= HALF_HOSTS; a++)
		for (unsigned b = HALF_HOSTS + 1; b <= 2 * HALF_HOSTS; b++)
			collide |= host(sim, a)->port[1].info.lid == host(sim, b)->port[1].info.lid;
	sim_expect(sim, collide);
}

/* The hosts of the higher master keep their LIDs, even though the GUIDs and former LIDs of other
 * hosts may be lower. */
static void subnets_meet(struct sim *sim)
{
	lid_t before[2 * HALF_HOSTS + 1] = {0};

	two_subnets(sim);
	for (unsigned b = HALF_HOSTS + 1; b <= 2 * HALF_HOSTS && !sim->failed; b++)
		before[b] = host(sim, b)->port[1].info.lid;
	sim_link(sim, sim_port(sim, "sw-06", 3), true);
	sim_until(sim, MEET_S * SIM_S, "there is one MASTER", has_one_master, sim);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(&sim->managers[1]) == SM_MASTER);
	for (unsigned b = HALF_HOSTS + 1; b <= 2 * HALF_HOSTS && !sim->failed; b++)
		sim_expect(sim, host(sim, b)->port[1].info.lid == before[b]);
}

/* A device of the other half has the GUIDs of a device of this half: it is left out, and no other
 * device is affected. */
static void twins_meet(struct sim *sim)
{
	struct device *twin = host(sim, 2), *first = host(sim, HALF_HOSTS + 2);
	lid_t before;

	if (!first || !twin)
		return;
	twin->node_guid = first->node_guid;
	twin->port[1].guid = first->port[1].guid;
	two_subnets(sim);
	before = first->port[1].info.lid;
	sim_link(sim, sim_port(sim, "sw-06", 3), true);
	sim_until(sim, MEET_S * SIM_S, "there is one MASTER", has_one_master, sim);
	sim_settle(sim, 120 * SIM_S);
	sim_expect(sim, sim_state(&sim->managers[1]) == SM_MASTER);
	sim_expect(sim, first->port[1].info.lid == before);
	sim_expect(sim, first->port[1].info.port_state == PORT_ACTIVE);
	sim_expect(sim, host(sim, 3)->port[1].info.port_state == PORT_ACTIVE);
	sim_node(sim, twin, false);
	sim_settle_and_check(sim);
}

/* Managers on switches poll and are polled like others. */
static void switches_manage(struct sim *sim)
{
	struct sim_manager *first = sim_start(sim, "leaf-01", "sm_priority=5");
	struct sim_manager *second = sim_start(sim, "spine-02", NULL);

	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(first) == SM_MASTER && sim_state(second) == SM_STANDBY);
	sim_kill(first);
	sim_until(sim, SIM_S, "the other switch is MASTER", has_a_master, sim);
	sim_settle_and_check(sim);
	sim_restart(first);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(first) == SM_MASTER);
}

/* With a raised priority the MASTER changes once. */
static void master_stays(struct sim *sim)
{
	const char *options = "master_priority=14";
	struct sim_manager *first = sim_start(sim, "host-0001", "sm_priority=5 master_priority=14");
	struct sim_manager *second = sim_start(sim, "host-0032", options);

	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(first) == SM_MASTER);
	sim_kill(first);
	sim_until(sim, SIM_S, "the standby is MASTER", has_a_master, sim);
	sim_restart(first);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(first) == SM_STANDBY && sim_state(second) == SM_MASTER);
}

/* Hosts that join again */

enum { MEMBERS = 8, GROUP = 1, MLID_AT = 56 + 36 /* of an answer with an MCMemberRecord */ };

static lid_t all_join(struct sim *sim, struct sim_manager *master)
{
	for (unsigned i = 0; i < MEMBERS; i++)
		if (!tenant_joins(master, &host(sim, 2 + 3 * i)->port[1], GROUP))
			sim_fail(sim, "a join is not answered");
	return be16_load(master->sa_answer + MLID_AT);
}

/* Hosts join again, as kernels do after a notification by a new master. Each gets the same answer
 * as before, and no SMP is sent. The same holds if the master has just started and knows the joins
 * from its store only. */
static void joins_repeat(struct sim *sim)
{
	struct sim_manager *master = sim_start_keeping(sim, "host-0001", NULL);
	uint64_t sets;
	lid_t mlid;

	sim_settle(sim, 60 * SIM_S);
	mlid = all_join(sim, master);
	sim_settle(sim, 60 * SIM_S);
	sets = master->sets_sent;
	sim_expect(sim, master->mft_sets_sent > 0 && mlid >= LID_MULTICAST_MIN);
	sim_expect(sim, all_join(sim, master) == mlid);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, master->sets_sent == sets);
	sim_kill(master);
	sim_restart(master);
	sim_settle(sim, 60 * SIM_S); /* each host is notified to register again by a Set() */
	sets = master->sets_sent;
	sim_expect(sim, all_join(sim, master) == mlid);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, master->sets_sent == sets);
	sim_check(sim);
}

const struct scenario sim_failover[] = {
	{.name = "failover", .choose = failover_topology, .play = failover},
	{.name = "failover-standby",
	 .topology = "fattree:radix=8,levels=2",
	 .play = failover_standby},
	{.name = "subnets-meet", .topology = "ring:switches=6,hosts=2", .play = subnets_meet},
	{.name = "twins-meet", .topology = "ring:switches=6,hosts=2", .play = twins_meet},
	{.name = "switches-manage",
	 .topology = "fattree:radix=8,levels=2",
	 .play = switches_manage},
	{.name = "joins-repeat", .topology = "fattree:radix=8,levels=2", .play = joins_repeat},
	{.name = "master-stays", .topology = "fattree:radix=8,levels=2", .play = master_stays},
	{.name = NULL},
};
