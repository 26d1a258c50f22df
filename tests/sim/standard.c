/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The standard scenario. It is fixed, so that the same seed always gives the same run:
 * Fabric: 128 hosts in a tree of three levels, and a second run on one of the topologies below,
 *   chosen by seed. Agents take 20 us for an SMP, links take 200 ns, an agent queues 4 SMPs, and a
 *   link trains for 20 ms.
 * Managers: priority 5 on the first host, priority 0 on a random host.
 * Faults: 3 % of all MADs are lost, 0.5 % arrive twice, 1 % arrive up to 5 ms late.
 * Events: 20. The time before each is 1, 2, 4, ... 4096 ms, at random, so that most bring-ups meet
 *   some of them. The table below has the kinds and their weights. The target of an event is
 *   random. A pulled link, a removed node and a dead agent come back when the same kind hits them
 *   again. At the end half of the pulled links come back.
 * End: faults stop, all agents live, the first manager runs and has its link. The fabric becomes
 *   quiet, and the invariants are checked.
 *
 * The swaps scenarios have ten times as many swaps of cables. They find errors in the order of Sets
 * in fewer runs.
 *
 * The tenants scenarios: after each event, hosts request from the SA of the master to join or leave
 * a group, some of them repeatedly. At the end each packet of a group must reach its members. These
 * scenarios run only when named, because the managers have to write the masks of the switches. The
 * moving-tenants scenarios have ten times as many swaps, too.
 *
 * hour-of-flaps tests speed: 648 hosts, and every 20 s a random link between switches that is down
 * for half a second. The manager must repair each flap before the next. It runs only when named.
 *
 * stop-at-changed-routes: one manager and 200 such events at a time, with tenants. After another
 * switch than expected has answered on a route, the same sweep sends no Set().
 */
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sm/context.h"
#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"
#include "tests/sim/trace.h"

enum { EVENTS = 20, GAP_STEPS = 13, MANY = 10, TENANT_MOVES = 5, TENANT_LAST_MOVES = 50 };

static const struct world_faults faults = {
	.drop_ppm = 30000, .duplicate_ppm = 5000, .delay_ppm = 10000, .delay_us = 5000};

static const char *other_topology(uint64_t seed)
{
	static const char *const specs[] = {
		"torus:dims=4x4,hosts=2",
		"dragonfly:a=4,h=2,p=2",
		"fattree:radix=8,levels=2,oversubscription=3",
		"ring:switches=8,hosts=2",
		"random:switches=24,degree=5,hosts=2,seed=11",
		"hypercube:dim=4,hosts=2",
		"fattree:radix=6,levels=3,lose_links=15%,seed=3",
		"hyperx:dims=4x4,hosts=2",
		"mesh:dims=5x5,hosts=1",
		"torus:dims=3x3x3,hosts=1,lose_links=5%,seed=2",
		"single:hosts=16",
	};

	return specs[seed % ARRAY_SIZE(specs)];
}

/* Targets of events */

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

static struct device *random_host(struct sim *sim)
{
	return random_device(sim, false);
}

/* A cabled port of a switch. */
static struct device_port *random_port(struct sim *sim)
{
	struct device_port *port;

	do {
		struct device *device = random_device(sim, true);

		port = &device->port[1 + sim_random(sim, device->num_ports)];
	} while (!port->peer);
	return port;
}

/* Events */

static void link_toggles(struct sim *sim)
{
	struct device_port *port = random_port(sim);

	sim_link(sim, port, port->pulled);
}

static void link_flaps(struct sim *sim)
{
	struct device_port *port = random_port(sim);

	if (!port->pulled)
		sim_flap(sim, port, SIM_MS << sim_random(sim, GAP_STEPS));
}

static bool is_gone(const struct device *device)
{
	for (unsigned i = 1; i <= device->num_ports; i++) {
		if (device->port[i].peer && !device->port[i].pulled)
			return false;
	}
	return true;
}

static void host_toggles(struct sim *sim)
{
	struct device *device = random_host(sim);

	sim_node(sim, device, is_gone(device));
}

static void switch_toggles(struct sim *sim)
{
	struct device *device = random_device(sim, true);

	sim_node(sim, device, is_gone(device));
}

static void host_reboots(struct sim *sim)
{
	sim_reboot(sim, random_host(sim));
}

static void switch_reboots(struct sim *sim)
{
	sim_reboot(sim, random_device(sim, true));
}

static void agent_toggles(struct sim *sim)
{
	struct device *device = random_device(sim, sim_random(sim, 2));

	sim_silence(sim, device, !device->quirks.silent);
}

static void cables_are_swapped(struct sim *sim)
{
	struct device_port *a = random_port(sim), *b = random_port(sim);

	if (a->device == b->device || a->peer->device == b->peer->device ||
	    a->device == b->peer->device || b->device == a->peer->device)
		return; /* changes nothing, or connects a switch to itself */
	sim_swap_cables(sim, a, b);
}

static void manager_toggles(struct sim *sim)
{
	struct sim_manager *manager = &sim->managers[sim_random(sim, sim->num_managers)];

	if (sim_running(manager))
		sim_kill(manager);
	else
		sim_restart(manager);
}

static const struct {
	unsigned weight;
	void (*strike)(struct sim *sim);
} kinds[] = {
	{6, link_toggles},   {4, link_flaps},	      {3, host_toggles},
	{1, switch_toggles}, {1, host_reboots},	      {2, switch_reboots},
	{1, agent_toggles},  {1, cables_are_swapped}, {1, manager_toggles},
};

static unsigned weight_of(size_t kind, unsigned swaps)
{
	return kinds[kind].weight * (kinds[kind].strike == cables_are_swapped ? swaps : 1);
}

static void strike(struct sim *sim, unsigned swaps)
{
	unsigned total = 0, pick;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		total += weight_of(i, swaps);
	pick = (unsigned)sim_random(sim, total);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (pick < weight_of(i, swaps)) {
			kinds[i].strike(sim);
			return;
		}
		pick -= weight_of(i, swaps);
	}
}

/* The end */

static void mend(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	struct device_port *own = sim->managers[0].port;

	sim_faults(sim, NULL);
	for (size_t i = 0; i < count; i++) {
		struct device *device = devices[i];

		if (device->quirks.silent)
			sim_silence(sim, device, false);
		for (unsigned p = 1; p <= device->num_ports; p++) {
			if (device->port[p].peer && device->port[p].pulled && sim_random(sim, 2))
				sim_link(sim, &device->port[p], true);
		}
	}
	if (own->pulled)
		sim_link(sim, own, true);
	sim_restart(&sim->managers[0]);
}

/* Joins are more frequent than leaves, so that groups grow. A host that cannot be reached now may
 * have joined before. */
static void tenants_move(struct sim *sim, unsigned moves)
{
	struct sim_manager *master = sim_master(sim);

	for (unsigned i = 0; master && i < moves; i++) {
		const struct device_port *port = &random_host(sim)->port[1];
		unsigned group = (unsigned)sim_random(sim, TENANT_GROUPS);

		if (sim_random(sim, 3))
			tenant_joins(master, port, group);
		else
			tenant_leaves(master, port, group);
	}
}

/* swaps: a factor for the weight of cable swaps. */
static void play(struct sim *sim, unsigned swaps, bool tenants)
{
	struct sim_manager *first = sim_start(sim, "host-0001", "sm_priority=5");
	struct device *second;

	do
		second = random_host(sim);
	while (second == first->port->device);
	sim_start(sim, trace_name(second), NULL);
	sim_faults(sim, &faults);
	for (unsigned i = 0; i < EVENTS && !sim->failed && !sim->stopped; i++) {
		sim_pass(sim, SIM_MS << sim_random(sim, GAP_STEPS));
		strike(sim, swaps);
		if (tenants)
			tenants_move(sim, TENANT_MOVES);
	}
	mend(sim);
	if (tenants) {
		/* The last master may not know of joins at another master. */
		sim_settle(sim, 300 * SIM_S);
		tenants_move(sim, TENANT_LAST_MOVES);
	}
	sim_settle_and_check(sim);
}

static void standard(struct sim *sim)
{
	play(sim, 1, false);
}

static void many_swaps(struct sim *sim)
{
	play(sim, MANY, false);
}

static void with_tenants(struct sim *sim)
{
	play(sim, 1, true);
}

static void tenants_and_swaps(struct sim *sim)
{
	play(sim, MANY, true);
}

/* The same with a random habit of real devices for each device. Left out are habits that take as
 * long as the scenario (busy-driver, bouncing-links), and clamping, which does not repeat traps in
 * that time. */
static void give_habits(struct sim *sim)
{
	static const char *const habits[] = {
		"truthful",	    "late-state",	"later-state",	    "strict-state",
		"no-bit-31",	    "bare-port0",	"restless",	    "wild-top",
		"wild-top-refused", "port-255-refused", "port-255-ignored",
	};
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		sim_behave(sim, devices[i], habits[sim_random(sim, ARRAY_SIZE(habits))]);
		if (device_is_switch(devices[i]))
			devices[i]->sw.enhanced_port0 = sim_random(sim, 2);
		sim_reboot(sim, devices[i]);
	}
}

static void with_habits(struct sim *sim)
{
	give_habits(sim);
	play(sim, 1, false);
}

/* Compares the number of Sets that a manager has sent when it finds a changed route and when that
 * sweep ends. */
struct stop_watch {
	struct sim_manager *manager;
	uint64_t sweep; /* the last sweep that stopped */
	uint64_t sets;	/* before the stop */
	unsigned stops, late_sets;
};

static void watch_stops(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	struct stop_watch *watch = ctx;
	const struct sm *sm = manager_sm(watch->manager->manager);

	(void)level;
	(void)text;
	if (!strcmp(subject->message_id, MESSAGE_ROUTE_CHANGED) && sm->sweep.running &&
	    watch->sweep != sm->sweep.now.number) {
		watch->sweep = sm->sweep.now.number;
		watch->sets = watch->manager->sets_sent;
		watch->stops++;
	} else if (!strcmp(subject->message_id, MESSAGE_SWEEP) && watch->sweep == subject->sweep) {
		watch->late_sets += watch->manager->sets_sent > watch->sets;
	}
}

/* After another switch has answered on a route, the sweep sends no more Sets. */
static void stop_at_changed_routes(struct sim *sim)
{
	enum { TIMES = 200, ROUNDS_MAX = 10 };
	struct stop_watch watch = {.manager = sim_start(sim, "host-0001", NULL)};

	log_watch(watch_stops, &watch);
	for (unsigned round = 0; round < ROUNDS_MAX && !watch.stops; round++) {
		sim_faults(sim, &faults);
		for (unsigned i = 0; i < TIMES && !sim->failed && !sim->stopped; i++) {
			sim_pass(sim, SIM_MS << sim_random(sim, GAP_STEPS));
			strike(sim, MANY);
			tenants_move(sim, TENANT_MOVES);
			if (!sim_running(watch.manager))
				watch.sweep = 0; /* its next sweep has number 1 */
		}
		mend(sim);
		sim_settle_and_check(sim);
	}
	log_watch(NULL, NULL);
	sim_expect(sim, watch.stops > 0);
	sim_expect(sim, watch.late_sets == 0);
}

static void hour_of_flaps(struct sim *sim)
{
	enum { HOUR_S = 3600, FLAP_EVERY_S = 20 };
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);

	sim_settle_and_check(sim);
	for (unsigned i = 0; i < HOUR_S / FLAP_EVERY_S; i++) {
		uint64_t lft_sets = manager->lft_sets_sent;
		struct device_port *port;

		do
			port = random_port(sim);
		while (!device_is_switch(port->peer->device));
		sim_flap(sim, port, SIM_S / 2);
		sim_pass(sim, FLAP_EVERY_S * SIM_S - SIM_S / 2);
		sim_expect(sim, manager->lft_sets_sent > lft_sets);
		sim_expect(sim, device_port_passes(port));
	}
	sim_settle_and_check(sim);
}

const struct scenario sim_standard[] = {
	{.name = "standard-tree", .topology = "fattree:radix=8,levels=3", .play = standard},
	{.name = "standard-other", .choose = other_topology, .play = standard},
	{.name = "swaps-tree", .topology = "fattree:radix=8,levels=3", .play = many_swaps},
	{.name = "swaps-other", .choose = other_topology, .play = many_swaps},
	{.name = "tenants-tree",
	 .topology = "fattree:radix=8,levels=3",
	 .play = with_tenants,
	 .when_named = true},
	{.name = "tenants-other",
	 .choose = other_topology,
	 .play = with_tenants,
	 .when_named = true},
	{.name = "moving-tenants-tree",
	 .topology = "fattree:radix=8,levels=3",
	 .play = tenants_and_swaps,
	 .when_named = true},
	{.name = "moving-tenants-other",
	 .choose = other_topology,
	 .play = tenants_and_swaps,
	 .when_named = true},
	{.name = "habits-tree",
	 .topology = "fattree:radix=8,levels=3",
	 .play = with_habits,
	 .when_named = true},
	{.name = "habits-other", .choose = other_topology, .play = with_habits, .when_named = true},
	{.name = "stop-at-changed-routes",
	 .topology = "fattree:radix=8,levels=3",
	 .play = stop_at_changed_routes,
	 .when_named = true},
	{.name = "hour-of-flaps",
	 .topology = "fattree:radix=36,levels=2",
	 .play = hour_of_flaps,
	 .when_named = true},
	{.name = NULL},
};

const struct known_seed sim_known_seeds[] = {
	{"standard-tree", 1, "LinearFDBTop raised above blocks that were not written"},
	{"standard-other", 2, "a cable that went ACTIVE under stale entries"},
	{"standard-other", 5, "an entry written before the entry of the next switch"},
	{"standard-tree", 6, "a Set(LFT) that arrived again after its successor"},
	{"standard-other", 56, "path records of the SA by the previous routes"},
	{"standard-other", 668, "writes of another MASTER while the manager's link was down"},
	{"standard-other", 1138, "the same, by a MASTER that was gone before the next election"},
	{"standard-other", 1795, "two MASTERs that did not search for other managers again"},
	{"standard-other", 2873, "a lower MASTER with the same LID, which no trap could reach"},
	{"standard-other", 852, "a lower MASTER that resigned after it had written"},
	{"standard-other", 937, "hosts in an island with the SM LID of another MASTER"},
	{"standard-other", 761, "cables swapped during a heavy sweep, taken for a duplicate GUID"},
	{"standard-tree", 1896, "cables swapped before they were armed"},
	{"standard-other", 1700, "light sweeps delayed forever by switches sweeps"},
	{"standard-other", 1388, "an extended speed whose only request was lost"},
	{"standard-tree", 2840, "repeated traps taken for new traps, so that nothing was written"},
	{"standard-other", 11122, "a trap merged into a sweep that failed"},
	{"standard-other", 864, "a silent host after a duplicate GUID"},
	{"standard-other", 566, "a loop blamed on a Set() that opened no link"},
	{"standard-tree", 2583, "the same, behind a host's port"},
	{"standard-other", 63, "a switch written by another route than it was read by"},
	{"standard-other", 231, "a sweep that wrote on after another switch answered on a route"},
	{"standard-tree", 213545627, "PortStateChange of moved cables while tables were written"},
	{"swaps-other", 1840, "a loop blamed on a manager that could not know its parts"},
	{"swaps-other", 1963, "a Set() repeated after another switch answered on its route"},
	{"swaps-other", 2084, "a cable found by a route that led to another switch"},
	{"swaps-other", 1244, "a route opened through a switch that had just reported changes"},
	{"swaps-other", 61,
	 "a loop blamed on the sender of a Set() that another switch acknowledged"},
	{"swaps-tree", 386, "LinearFDBTop raised in a bring-up with moved cables"},
	{"standard-other", 194, "a manager that stayed idle after its link was back"},
	{"swaps-tree", 271, "a wait for each port of a dead switch"},
	{"standard-tree", 2245, "a PortStateChange cleared by another MASTER that then resigned"},
	{"standard-tree", 1701, "the LinearFDBTop of a silent switch, read as STANDBY"},
	{"standard-tree", 2662, "the same, with a table written in part"},
	{"standard-other", 982,
	 "a MASTER that waits for a HANDOVER from a manager that cannot find it"},
	{"tenants-tree", 49, "a cable brought up although it closed a loop of a group"},
	{"tenants-other", 16, "a port of a group, whose unread far end might send already"},
	{"tenants-tree", 140, "a MulticastFDBTop above unknown blocks that were not read"},
	{"tenants-tree", 66001939, "a MasterSMLID that a MASTER wrote just before it resigned"},
	{"tenants-tree", 824, "trees written by a manager that had handed over"},
	{"tenants-tree", 841,
	 "the same, with members that the tree of the new MASTER did not reach"},
	{"tenants-other", 1345, "a silent switch, queried by its former route"},
	{"met-by-another-way", 21, "the same"},
	{"tenants-other", 1434,
	 "a loop blamed on a new MASTER, from masks of a switch that was dead before"},
	{"moving-tenants-other", 129,
	 "port states from before the bring-up, of a switch that had not answered"},
	{"moving-tenants-other", 44001017,
	 "a multicast loop over a cable moved to a silent switch, to a port that was down"},
	{"moving-tenants-other", 46001000,
	 "a silent switch dropped in a pass during which the routes to it were moved"},
	{"moving-tenants-other", 48001125,
	 "a multicast table taken as empty because its switch refused the read once"},
	{"moving-tenants-other", 51001590,
	 "a multicast table written after the reboot of a switch, and then taken as empty"},
	{"moving-tenants-other", 55001760,
	 "a multicast table that another switch answered, used before it was read again"},
	{"moving-tenants-other", 65001250,
	 "port states of another switch, read over an uplink that was moved during the read"},
	{"moving-tenants-tree", 54002629,
	 "a moved cable brought up although its switches had just reported changes"},
	{"moving-tenants-tree", 73001863,
	 "port states of another switch, read over an uplink that was down during the read"},
	{"moving-tenants-other", 112, "a route up a tree whose cable had been moved to a host"},
	{"failover-standby", 136, "a host that came back, given a LID before it was read"},
	{"failover-standby", 521, "a target queued twice in one round"},
	{"tenants-other", 501515, "a change reported while it could not be read"},
	{"standard-tree", 501602, "a host's LID kept at a port that now leads to a switch"},
	{"failover", 500218,
	 "roots beyond their array: a moved cable, known at one end only, led to another island"},
	{"failover-standby", 502652,
	 "LIDs forgotten by a repeated handover while the first sweep wrote them"},
	{"failover", 501117, "a manager that started while its switch was cut off for a moment"},
	{"failover", 700755, "tables of another MASTER with the same sm_lid"},
	{"failover", 720159, "tables from before another MASTER, written without a read"},
	{"failover", 67001978,
	 "a loop of two MASTERs' tables, kept while a switch reported changed links"},
	{"failover", 45001512, "an sm_lid that the manager and another port held"},
	{"swaps-tree", 46001007, "a cable whose move no answer had shown, blamed on the manager"},
	{"swaps-tree", 47001669,
	 "a port state that another switch answered, over a cable moved since the last sweep"},
	{"swaps-tree", 720479, "ARMED after ACTIVE, the late answer to an earlier read"},
	{"swaps-other", 10000042,
	 "the MTU of an ACTIVE link, by a Set() that a moved cable led to a host"},
	{"habits-tree", 9001041,
	 "a Set() for port 0 of a switch reaches a host, after a cable was moved during the read"},
	{"swaps-other", 55002631,
	 "a port state that another switch answered, over a moved cable of a detour"},
	{"swaps-other", 74001436, "a loop that no manager could reach, because cables were moved"},
	{"swaps-other", 50001149, "a cable found on a route that a trap had reported as changed"},
	{"swaps-other", 27000358,
	 "a HANDOVER from a LID that another MASTER assigned since the last election"},
	{"tenants-other", 46002382, "a multicast table that was never read, blamed on the manager"},
	{"standard-other", 46003224,
	 "a MASTER whose requests took all heavy sweeps that a manager at an unknown place may "
	 "cause"},
	{"tenants-other", 47003117,
	 "multicast tables that a MASTER wrote just before the subnets merged"},
	{"tenants-other", 720156,
	 "the MulticastFDBTop of a silent switch, raised by another MASTER"},
	{"tenants-other", 22000627,
	 "a port that had led to two hosts, and another host in each snapshot"},
	{"tenants-other", 25000239, "a table empty after a reset, then written by another MASTER"},
	{"tenants-other", 40000030, "a Set() repeated along a cable that had been moved since"},
	{"tenants-other", 43001005, "a PortStateChange that a MASTER out of reach had cleared"},
	{"stop-at-changed-routes", 3, "a sweep that wrote on after another switch answered"},
	{"stop-at-changed-routes", 44,
	 "Sets sent from a queue of the window after the sweep had stopped"},
	{"stop-at-changed-routes", 35, "the same"},
	{"stop-at-changed-routes", 68, "the same"},
	{"stop-at-changed-routes", 106, "the same"},
	{"stop-at-changed-routes", 90,
	 "a cable found while others were moved, with a silent far end"},
	{"swaps-tree", 6, "a Set() over another route than the verified route"},
	{"swaps-tree", 115, "the same"},
	{"swaps-tree", 302, "the same, to a leaf"},
	{"moving-tenants-other", 1116, "a Set() repeated after its manager was no longer MASTER"},
	{"moving-tenants-tree", 7100183, "a loop kept because its replacement had to wait"},
	{"moving-tenants-other", 7200202,
	 "a multicast table read from another switch after a cable was moved"},
	{"moving-tenants-other", 10001461,
	 "a silent switch forgotten while the manager was cut off from it"},
	{"swaps-other", 21000241,
	 "a Set() along cables moved while the switch before them was silent"},
	{"standard-other", 26000175,
	 "a host removed while the readback waits for a table of its switch port"},
	{"swaps-tree", 78000606,
	 "Sets that a host behind a moved cable refused, counted as refusals of the switch"},
	{"tenants-tree", 78001321,
	 "a LinearFDBTop that another manager wrote back after the table was found right"},
	{"swaps-tree", 78001696,
	 "a table written over a cable that was moved, and that was down when this was found"},
	{"standard-tree", 78000231,
	 "a cable moved after a heavy pass had found it, and before it read the port"},
	{"tenants-tree", 130947672, "light sweeps delayed by traps during each switches sweep"},
	{NULL, 0, NULL},
};
