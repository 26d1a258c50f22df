/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The standard scenario. It is fixed, so that its seeds mean the same to everybody:
 *
 * Fabric: 128 hosts in a tree of three levels, and a second run on one of the topologies below, by
 *   seed. Agents take 20 us for an SMP, links 200 ns, an agent holds 4 SMPs that wait, a link
 *   trains for 20 ms.
 * Managers: one with priority 5 on the first host, one with priority 0 on a random host.
 * Faults: 3 % of all MADs are lost, 0.5 % come twice, 1 % come up to 5 ms late.
 * Events: 20. The time before each is 1, 2, 4, ... 4096 ms, at random, so that most bring-ups meet
 *   some of them. The kinds and their weights are in the table below; what an event strikes is
 *   random. A link that is pulled, a node that vanished and an agent that died come back when the
 *   same kind strikes again, and half of the time at the end.
 * End: faults cease, agents live, the first manager and its link are there; then quiet, then the
 *   invariants.
 *
 * The same with ten times as many swaps of cables is a scenario of its own, which finds in fewer
 * runs what is wrong with the order of Sets.
 *
 * The same with tenants: after each event a few hosts ask the master's SA to join a group or to
 * leave it, some of them again and again. At the end each packet for a group comes to its members.
 * They run when they are named: the managers have to write the switches' masks for it. There are
 * tenants with ten times as many swaps, too.
 *
 * The hour of flaps is for speed: 648 hosts, and every 20 s a random link between switches that is
 * down for half a second. Each flap has to be noticed and repaired before the next. It runs only
 * when it is named.
 *
 * Stop at changed routes: one manager and 200 such events at a time, with tenants. After another
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

/* What is struck */

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

/* A port of a switch that has a cable. */
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
		return; /* changes nothing, or cables a switch to itself */
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

/* Joins are the more, so that groups grow. A host that cannot be reached may have joined before. */
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

/* swaps: how often cables are swapped, in units of what is usual. */
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
		/* The last master may know nothing of those who joined at another. */
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

/* The same on a fabric of devices with the habits of real ones, each with another, but for those
 * that take as long as the scenario (busy-driver, bouncing-links) or do not repeat traps in its
 * time (clamping). */
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

/* Compares the Sets of a manager when it finds that a route leads elsewhere, and when that sweep
 * ends. */
struct stop_watch {
	struct sim_manager *manager;
	uint64_t sweep; /* the last one that stopped */
	uint64_t sets;	/* before that */
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
	{"standard-tree", 1, "LinearFDBTop raised over entries that nobody had written"},
	{"standard-other", 2, "a cable went ACTIVE under entries of before"},
	{"standard-other", 5, "an entry written before the one that its packets meet next"},
	{"standard-tree", 6, "a Set(LFT) that came twice, the second time after its successor"},
	{"standard-other", 56, "an SA that tells of paths by the routes of before"},
	{"standard-other", 668, "our link was away, and another MASTER wrote meanwhile"},
	{"standard-other", 1138, "the same, and the other one was gone before we looked"},
	{"standard-other", 1795, "two MASTERs that never looked for each other again"},
	{"standard-other", 2873, "a lower MASTER with our LID, which no trap could reach"},
	{"standard-other", 852, "a lower MASTER that gave up by itself, after it had written"},
	{"standard-other", 937, "hosts that another MASTER had told of itself in an island"},
	{"standard-other", 761, "cables swapped during a full pass, taken for a GUID twice"},
	{"standard-tree", 1896, "cables swapped before they were armed"},
	{"standard-other", 1700, "light sweeps put off for ever by sweeps of single switches"},
	{"standard-other", 1388, "an extended speed that was asked for once, and lost"},
	{"standard-tree", 2840, "repeated traps taken for news, so that nothing was written"},
	{"standard-other", 11122, "a trap that was merged into a sweep that failed"},
	{"standard-other", 864, "a host that was silent where a GUID had been met twice"},
	{"standard-other", 566, "a circle held against a Set() that opened nothing"},
	{"standard-tree", 2583, "the same, behind a host's port"},
	{"standard-other", 63, "a switch written by another way than the one that was asked"},
	{"standard-other", 231, "a sweep that met another switch on a route, and wrote on"},
	{"standard-tree", 213545627,
	 "a PortStateChange of moved cables, while tables were written"},
	{"swaps-other", 1840, "what a manager had not seen, held against it"},
	{"swaps-other", 1963, "a Set() repeated when another switch had answered on its way"},
	{"swaps-other", 2084, "a cable that was found by a way that led elsewhere"},
	{"swaps-other", 1244, "a way opened through a switch that had just told of changes"},
	{"swaps-other", 61,
	 "a Set() that another switch took and acknowledged, held against its sender"},
	{"swaps-tree", 386, "a LinearFDBTop raised in a bring-up in which cables had moved"},
	{"standard-other", 194, "a manager that slept while its link was back"},
	{"swaps-tree", 271, "patience with each port of a dead switch"},
	{"standard-tree", 2245, "a PortStateChange that another MASTER cleared, and gave up"},
	{"standard-tree", 1701, "the LinearFDBTop of a silent switch, as a STANDBY had read it"},
	{"standard-tree", 2662, "the same, with a table that was begun and is all in doubt"},
	{"standard-other", 982, "a MASTER that waits for one that another's news had passed by"},
	{"tenants-tree", 49,
	 "a cable that was opened, at a loss, though it closed a circle of a group"},
	{"tenants-other", 16,
	 "a port of a group, since the far end was unread and might send already"},
	{"tenants-tree", 140,
	 "a MulticastFDBTop over what was unknown, that nobody went on to read"},
	{"tenants-tree", 824, "trees that were written by who had handed the subnet over"},
	{"tenants-tree", 841, "the same, and members that the new MASTER's tree did not reach"},
	{"tenants-other", 1345, "a switch that was silent, asked by the way that it had before"},
	{"met-by-another-way", 21, "the same"},
	{"tenants-other", 1434,
	 "masks of a switch that was dead before who writes became MASTER, held against it"},
	{"moving-tenants-other", 129,
	 "ports as they were before all was brought up, of a switch that had not told them"},
	{"moving-tenants-other", 112, "a way up a tree whose cable had been moved to a host"},
	{"failover-standby", 136, "a host that came back, given a LID before it was read"},
	{"failover-standby", 521, "a target that stood in the round twice"},
	{"tenants-other", 501515, "a change that was told while nobody could read it"},
	{"standard-tree", 501602, "a host's LID kept at a port that a switch is cabled to by now"},
	{"failover", 500218,
	 "roots beyond their array: cables that one of their ends remembered led to another "
	 "island"},
	{"failover-standby", 502652,
	 "LIDs forgotten while a first sweep wrote them, by a repeated handover"},
	{"failover", 501117, "a manager that came while its switch was cut off for a moment"},
	{"failover", 700755, "tables of another MASTER that had the same sm_lid"},
	{"failover", 720159, "tables of before another MASTER, written before they were read"},
	{"swaps-tree", 720479, "ARMED after ACTIVE, the late answer to an earlier read"},
	{"swaps-other", 10000042,
	 "the MTU of an ACTIVE link, from a Set that a moved cable led to a host"},
	{"habits-tree", 9001041,
	 "a Set() for port 0 of a switch reaches a host, after a cable was moved during the read"},
	{"swaps-other", 27000358,
	 "a HANDOVER from a LID that another MASTER has given since we looked"},
	{"tenants-other", 720156,
	 "the MulticastFDBTop of a silent switch, raised by another MASTER"},
	{"tenants-other", 22000627,
	 "a port that had led to two hosts: each freeze remembered another one"},
	{"tenants-other", 25000239,
	 "a table that was empty after a reset, and written by another MASTER since"},
	{"tenants-other", 40000030,
	 "a Set() that was sent again along a cable that had been moved since"},
	{"stop-at-changed-routes", 3, "a sweep that writes on after another switch answered"},
	{"stop-at-changed-routes", 44, "Sets that waited at a gate of the window, and went on"},
	{"stop-at-changed-routes", 90,
	 "a cable that was found while others were moved, and whose far end was silent then"},
	{"swaps-tree", 6, "a Set() over another route than the one that was verified"},
	{"swaps-tree", 302, "the same, to a leaf"},
	{"moving-tenants-other", 1116,
	 "a Set() that was sent again after its manager had stopped being MASTER"},
	{"moving-tenants-tree", 7100183,
	 "a loop that was kept because its replacement had to wait"},
	{"moving-tenants-other", 7200202,
	 "a multicast table that another switch told, after its cable was moved"},
	{"moving-tenants-other", 10001461,
	 "a silent switch, forgotten while the manager was cut off from it"},
	{"swaps-other", 21000241,
	 "a Set() along cables that were moved while the switch before them was silent"},
	{"standard-other", 26000175,
	 "a host that goes while the readback waits for the table of its switch's port"},
	{"tenants-tree", 130947672,
	 "light sweeps put off by traps that came during each sweep of a single switch"},
	{NULL, 0, NULL},
};
