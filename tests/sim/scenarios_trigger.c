/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cost of a change: a small change causes few reads, at once. Each case brings a fabric up and
 * lets it become quiet. Then it counts the SMPs from the fault on, and the virtual time to the last
 * Set(). An agent takes 100 us for an SMP.
 */
#include <inttypes.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/notice.h"
#include "sm/trigger.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"
#define THREE_LEVELS "fattree:radix=12,levels=3"
#define BIG "fattree:radix=36,levels=3" /* 11,664 hosts, 1,620 switches */
/* Light sweeps, which query every switch, run every 60 s, and readback is off. Both would be
 * counted otherwise. */
#define FTREE "routing=[\"ftree\"] sweep_interval=60 readback_interval=0"

enum {
	UP_S = 65,	 /* brought up, quiet, and after the first light sweep */
	ANSWER_MS = 900, /* agents repeat their traps after 1.07 s */
	LINK_SMPS = 2500,
	LINK_MS = 150,
	/* Every switch drops the LID of the lost switch. Before that the manager sends two requests
	 * to identify it. */
	SPINE_SMPS = 8500,
	SPINE_MS = 450,
	REPAIR_MS = 200, /* with a switch that does not answer */
};

static const struct world_options slow_agents = {
	.smp_us = 100,
	.hop_ns = 200,
	.vl15_depth = 4,
	.training_us = 20000,
};

/* The device of a type at this position in the order of the topology. */
static struct device *nth(struct sim *sim, enum node_type type, unsigned skip)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		if (devices[i]->type == type && !skip--)
			return devices[i];
	}
	sim_fail(sim, "the topology is too small");
	return devices[0];
}

static struct sim_manager *up(struct sim *sim, const char *options)
{
	const struct device *host = nth(sim, NODE_CA, 0);
	struct sim_manager *manager = sim_start(sim, (const char *)host->description.text, options);

	sim_pass(sim, UP_S * SIM_S);
	sim_expect(sim, manager->error == 0);
	return manager;
}

/* A leaf other than the manager's, and a port of a switch that leads to another switch. */
static struct device *far_leaf(struct sim *sim)
{
	return nth(sim, NODE_CA, 20)->port[1].peer->device;
}

static struct device_port *last_cable(struct sim *sim, struct device *device)
{
	for (unsigned i = device->num_ports; i; i--) {
		struct device_port *port = &device->port[i];

		if (port->peer && device_is_switch(port->peer->device))
			return port;
	}
	sim_fail(sim, "no cable to another switch");
	return &device->port[1];
}

struct cost {
	uint64_t mads, lft_sets, began_us;
};

static struct cost begin(const struct sim_manager *manager)
{
	return (struct cost){manager->mads_sent, manager->lft_sets_sent, sim_now_us(manager->sim)};
}

/* The response began with the first trap and is over, and cost no more than this. */
static void at_most(const struct sim_manager *manager, struct cost from, uint64_t smps, uint64_t ms)
{
	struct sim *sim = manager->sim;
	uint64_t sent, us;

	sim_pass(sim, ANSWER_MS * SIM_MS);
	sent = manager->mads_sent - from.mads;
	us = sim->last_set_us > from.began_us ? sim->last_set_us - from.began_us : 0;
	if (sent > smps)
		sim_fail(sim, "it took %" PRIu64 " SMPs, more than %" PRIu64, sent, smps);
	if (us > ms * SIM_MS)
		sim_fail(sim, "it took %" PRIu64 " us, more than %" PRIu64 " ms", us, ms);
}

/* A leaf has lost a cable upwards: only entries that used it change. */
static void link_lost(struct sim *sim)
{
	struct sim_manager *manager = up(sim, FTREE);
	struct cost from = begin(manager);

	sim_link(sim, last_cable(sim, far_leaf(sim)), false);
	at_most(manager, from, LINK_SMPS, LINK_MS);
	sim_expect(sim, manager->lft_sets_sent > from.lft_sets);
}

/* A switch of the highest level is gone: all its neighbours report it, and no other switch is
 * read. */
static void spine_lost(struct sim *sim)
{
	struct sim_manager *manager = up(sim, FTREE);
	struct device *middle = last_cable(sim, far_leaf(sim))->peer->device;
	struct cost from = begin(manager);

	sim_node(sim, last_cable(sim, middle)->peer->device, false);
	at_most(manager, from, SPINE_SMPS, SPINE_MS);
	sim_expect(sim, manager->lft_sets_sent > from.lft_sets);
}

/* A trap of an unchanged switch causes a read of this switch, and of none of its neighbours. */
static void empty_trap(struct sim *sim)
{
	struct device *leaf = sim_device(sim, "leaf-03");
	struct sim_manager *manager = up(sim, FTREE);
	struct cost from = begin(manager);

	device_raise(&leaf->port[0], TRAP_LINK_STATE);
	at_most(manager, from, 1 /* the TrapRepress */ + 2 + 1u + leaf->num_ports, 0);
}

/* Trap 144 causes a read of the part that it reports: the description, or the port that has it. */
static void changed_port(struct sim *sim)
{
	struct device *leaf = sim_device(sim, "leaf-03"), *host = sim_device(sim, "host-0020");
	struct sim_manager *manager = up(sim, FTREE);
	struct cost from = begin(manager);

	device_set_description(host, "renamed");
	at_most(manager, from, 1 /* the TrapRepress */ + 1, 0);
	from = begin(manager);
	device_set_issm(&leaf->port[0], true);
	at_most(manager, from, 1 + 1 + 1 /* SMInfo, to look for a manager */, 0);
	from = begin(manager);
	device_set_issm(&host->port[1], true);
	at_most(manager, from, 1 + 1 + 2 /* SMInfo, of both */, 0);
}

/* More switches report changes than are listed by name. No heavy sweep follows, and the changes are
 * found. */
static void burst_of_traps(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	struct device *last = devices[count - 1];
	struct sim_manager *manager = up(sim, FTREE);
	uint64_t read = world_stats(sim->world)->gets[ATTR_NODE_DESCRIPTION];
	uint64_t lft_sets = manager->lft_sets_sent;
	unsigned switches = 0;

	for (size_t i = 0; i < count; i++) {
		if (!device_is_switch(devices[i]))
			continue;
		switches++;
		last = devices[i];
		device_raise(&last->port[0], TRAP_LINK_STATE);
	}
	sim_expect(sim, switches > 2 * TRIGGER_NODES_MAX);
	sim_link(sim, last_cable(sim, last), false);
	sim_pass(sim, ANSWER_MS * SIM_MS);
	sim_expect(sim, manager->lft_sets_sent > lft_sets);
	read = world_stats(sim->world)->gets[ATTR_NODE_DESCRIPTION] - read;
	sim_expect(sim, read <= 2 * TRIGGER_NODES_MAX);
	sim_expect(sim, manager->error == 0);
}

/* Before any light sweep the ARMED cables are unverified: they are checked, and the switches behind
 * them are not read. */
static void first_trap(struct sim *sim)
{
	const struct device *host = nth(sim, NODE_CA, 0);
	struct sim_manager *manager =
		sim_start(sim, (const char *)host->description.text, "sweep_interval=0");
	struct device *leaf = far_leaf(sim);
	struct cost from;

	sim_pass(sim, 30 * SIM_S);
	from = begin(manager);
	leaf->sw.port_state_change = 1;
	device_raise(&leaf->port[0], TRAP_LINK_STATE);
	at_most(manager, from, 1 + 3 + 1u + 6u * leaf->num_ports, LINK_MS);
	sim_settle_and_check(sim);
}

/* A host disappears while its fabric comes up: its switch is read once more, and no other
 * switch. */
static void host_goes_in_bring_up(struct sim *sim)
{
	enum { FIRST_MS = 20, LAST_MS = 400, STEP_MS = 20 };
	const struct device *host = nth(sim, NODE_CA, 0);
	struct sim_manager *manager =
		sim_start(sim, (const char *)host->description.text, "sweep_interval=0");
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (unsigned ms = FIRST_MS; ms <= LAST_MS; ms += STEP_MS) {
		sim_pass(sim, STEP_MS * SIM_MS);
		sim_link(sim, &nth(sim, NODE_CA, ms / STEP_MS * 10)->port[1], false);
	}
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, manager->error == 0);
	sim_expect(sim, world_stats(sim->world)->gets[ATTR_NODE_DESCRIPTION] < count + count / 4);
	sim_settle_and_check(sim);
}

/* Devices that make trouble */

/* The link is held down for longer each time, and the other links work. When it is stable it comes
 * back. */
static void flapping_link(struct sim *sim)
{
	enum { FLAPS = 12 };
	struct sim_manager *manager = up(sim, "flap_hold_max=8");
	struct device_port *port = sim_port(sim, "spine-02", 3);
	struct cost from = begin(manager);
	unsigned up_again = 0;

	for (unsigned i = 0; i < FLAPS; i++) {
		sim_flap(sim, port, 100 * SIM_MS);
		sim_pass(sim, 1400 * SIM_MS);
		up_again += port->info.port_state == PORT_ACTIVE;
	}
	sim_expect(sim, up_again >= 3 && up_again <= FLAPS / 2);
	sim_expect(sim, port->info.port_state == PORT_INIT);
	sim_expect(sim, manager->error == 0);
	sim_expect(sim, sim_settle(sim, 60 * SIM_S) < from.began_us + 30 * SIM_S);
	sim_check(sim);
}

/* Two hosts have lost their LIDs. The first host that returns does not get the LID of the other. */
static void lids_wait_for_their_ports(struct sim *sim)
{
	struct device *one = sim_device(sim, "host-0010"), *other = sim_device(sim, "host-0011");
	lid_t lid, other_lid;

	up(sim, NULL);
	lid = one->port[1].info.lid;
	other_lid = other->port[1].info.lid;
	sim_expect(sim, lid != other_lid);
	sim_node(sim, one, false);
	sim_node(sim, other, false);
	sim_settle_and_check(sim);
	sim_reboot(sim, one);
	sim_reboot(sim, other);
	sim_node(sim, other, true);
	sim_settle_and_check(sim);
	sim_expect(sim, other->port[1].info.lid == other_lid);
	sim_node(sim, one, true);
	sim_settle_and_check(sim);
	sim_expect(sim, one->port[1].info.lid == lid);
}

/* Changes without a trap are found and repaired within the readback interval. No other write
 * happens during this time. */
static void read_back(struct sim *sim)
{
	enum { READBACK_S = 100 };
	struct sim_manager *manager = up(sim, "readback_interval=100 sweep_interval=0");
	struct device *spine = sim_device(sim, "spine-02"), *leaf = sim_device(sim, "leaf-03");
	struct device *host = sim_device(sim, "host-0010");
	uint64_t sets = manager->sets_sent;
	uint8_t entry = spine->lft[20];

	sim_pass(sim, 2 * READBACK_S * SIM_S);
	sim_expect(sim, manager->sets_sent == sets);
	spine->lft[20] = (uint8_t)(entry % spine->num_ports + 1);
	leaf->port[6].info.hoq_life = 3;
	leaf->sw.life_time_value = 5;
	host->port[1].info.subnet_timeout = 3;
	sim_pass(sim, 2 * READBACK_S * SIM_S);
	sim_expect(sim, spine->lft[20] == entry);
	sim_expect(sim, leaf->port[6].info.hoq_life == 18);
	sim_expect(sim, leaf->sw.life_time_value == 18);
	sim_expect(sim, host->port[1].info.subnet_timeout == 18);
	sim_expect(sim, manager->sets_sent == sets + 4);
	sim_settle_and_check(sim);
}

/* Repeated traps about a port. The policy decides what follows. */
static void complain(struct sim *sim, struct device_port *port, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		device_raise(port, TRAP_LOCAL_LINK_INTEGRITY);
		sim_pass(sim, 2 * SIM_S);
	}
}

static void babbling_is_noted(struct sim *sim)
{
	struct sim_manager *manager = up(sim, "babble_policy=\"note\"");
	uint64_t sets = manager->sets_sent;

	complain(sim, sim_port(sim, "leaf-03", 2), 12);
	complain(sim, sim_port(sim, "leaf-03", 6), 12);
	sim_expect(sim, manager->sets_sent == sets);
	sim_check(sim);
}

/* The link of a host is disabled. A cable between switches and the routes over it stay as they
 * are. */
static void babbling_host_is_disabled(struct sim *sim)
{
	struct sim_manager *manager = up(sim, "babble_policy=\"disable\"");
	struct device_port *port = sim_port(sim, "leaf-03", 2),
			   *cable = sim_port(sim, "leaf-03", 6);
	uint64_t sets = manager->sets_sent;

	complain(sim, sim_port(sim, "leaf-01", 1), 12); /* never the manager's own */
	complain(sim, cable, 12);
	complain(sim, cable->peer, 12);
	sim_expect(sim, manager->sets_sent == sets);
	sim_expect(sim, cable->info.port_physical_state == PHYS_LINK_UP);
	sim_expect(sim, cable->peer->info.port_physical_state == PHYS_LINK_UP);
	sim_expect(sim, port->info.port_state == PORT_ACTIVE);
	complain(sim, port->peer, 12); /* the adapter's own trap also counts for its cable */
	sim_expect(sim, port->info.port_physical_state == PHYS_DISABLED);
	sim_expect(sim, manager->error == 0);
	sim_settle_and_check(sim);
}

/* Floods of traps */

static void ignore_mad(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	(void)ctx;
	(void)from;
	(void)mad;
	(void)size;
}

static void send_trap(struct world_client *client, const struct device_port *from, uint16_t number,
		      lid_t issuer, const union notice_details *details)
{
	static uint64_t tid;
	struct mad_addr to = {.lid = from->info.master_sm_lid};
	struct notice notice;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	notice_fill(&notice, number, NODE_SWITCH, issuer, details);
	format_encode(&notice_format, &notice, data);
	subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, NULL, data);
	be64_store(mad + 8, ++tid);
	world_send(client, &to, mad, sizeof(mad));
}

/* A host sends trap 128 about each switch in turn, or about itself. */
static void flood(struct sim *sim, struct world_client *client, const struct device_port *from,
		  bool forged, unsigned seconds)
{
	enum { PER_SECOND = 500 };
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (unsigned i = 0; i < seconds * PER_SECOND; i++) {
		const struct device *about = devices[i % count];
		union notice_details details = {.link_state.lid = from->info.lid};

		if (forged && device_is_switch(about))
			details.link_state.lid = about->port[0].info.lid;
		send_trap(client, from, TRAP_LINK_STATE, details.link_state.lid, &details);
		sim_pass(sim, SIM_S / PER_SECOND);
	}
}

/* Reads are rare, and become rarer. In that time the own trap of a switch is served at once. After
 * a quiet period the first trap of a sender causes a read again. */
static void trap_flood(struct sim *sim)
{
	enum { SECONDS = 20, LOOKS = 9, LOOK_SMPS = 12, LIGHT_SMPS = 60 };
	struct device *host = nth(sim, NODE_CA, 20);
	struct sim_manager *manager = up(sim, FTREE);
	struct world_client *client = world_attach(sim->world, host, 1, ignore_mad, NULL);

	for (unsigned forged = 0; forged < 2; forged++) {
		uint64_t traps = world_stats(sim->world)->traps;
		struct cost from = begin(manager);
		struct device_port *cable = last_cable(sim, far_leaf(sim));

		flood(sim, client, &host->port[1], forged, SECONDS);
		traps = world_stats(sim->world)->traps - traps;
		sim_expect(sim, traps >= SECONDS * 500 - 1);
		/* Each trap gets its TrapRepress. A light sweep may be among the SMPs. */
		if (manager->mads_sent - from.mads > traps + LOOKS * LOOK_SMPS + LIGHT_SMPS)
			sim_fail(sim, "%" PRIu64 " traps cost %" PRIu64 " SMPs", traps,
				 manager->mads_sent - from.mads);
		from = begin(manager);
		sim_link(sim, cable, false);
		at_most(manager, from, LINK_SMPS, LINK_MS);
		sim_expect(sim, manager->lft_sets_sent > from.lft_sets);
		sim_link(sim, cable, true);
		sim_pass(sim, 90 * SIM_S);
	}
	world_detach(client);
	device_set_description(host, "renamed");
	sim_pass(sim, ANSWER_MS * SIM_MS);
	sim_expect(sim, manager->error == 0);
	sim_settle_and_check(sim);
}

/* Traps of a sender within its pause cause a single read, at the end of the pause. */
static void trap_pause(struct sim *sim)
{
	struct device *host = nth(sim, NODE_CA, 20);
	struct sim_manager *manager = up(sim, FTREE);
	const struct device_port *from = &host->port[1];
	const uint64_t *gets = &world_stats(sim->world)->gets[ATTR_NODE_DESCRIPTION];
	struct world_client *client = world_attach(sim->world, host, 1, ignore_mad, NULL);
	union notice_details details = {.local_changes = {.lid = from->info.lid,
							  .other_local_changes = 1,
							  .change_flags = CHANGE_NODE_DESCRIPTION}};
	uint64_t before = *gets;

	for (unsigned i = 0; i < 9; i++) {
		send_trap(client, from, TRAP_LOCAL_CHANGES, from->info.lid, &details);
		sim_pass(sim, 100 * SIM_MS);
		sim_expect(sim, *gets == before + 1);
	}
	sim_pass(sim, 200 * SIM_MS);
	sim_expect(sim, *gets == before + 2);
	sim_pass(sim, 5 * SIM_S);
	sim_expect(sim, *gets == before + 2);
	world_detach(client);
	sim_expect(sim, manager->error == 0);
}

/* Cut cables whose far end reports nothing */

/* The hosts that are cabled to a switch. */
static bool hosts_reach_each_other(void *ctx)
{
	struct sim *sim = ctx;
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count * count; i++) {
		const struct device *from = devices[i / count], *to = devices[i % count];

		if (from->type == NODE_CA && to->type == NODE_CA &&
		    world_walk(sim->world, from, 1, to->port[1].info.lid) < 0)
			return false;
	}
	return true;
}

static void repaired_within(struct sim *sim, uint64_t ms)
{
	sim_expect(sim, !hosts_reach_each_other(sim));
	sim_until(sim, ms * SIM_MS, "hosts reach each other", hosts_reach_each_other, sim);
}

/* Its agent dies while the manager reads the reported changes. The near end reports the cut, too,
 * unless that cable was its route to the manager. */
static void far_end_falls_silent(struct sim *sim)
{
	static const struct {
		const char *leaf;
		unsigned up;
	} cases[] = {{"leaf-02", 8}, {"leaf-08", 5}};

	up(sim, FTREE);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct device_port *near = sim_port(sim, cases[i].leaf, cases[i].up);
		struct device *far = near->peer->device;

		sim_link(sim, near, false);
		sim_pass(sim, SIM_MS);
		sim_silence(sim, far, true);
		repaired_within(sim, REPAIR_MS);
		sim_silence(sim, far, false);
		sim_link(sim, near, true);
		sim_settle_and_check(sim);
	}
}

/* Most of its neighbours reached the manager through it, and cannot report. */
static void far_switch_dies(struct sim *sim)
{
	struct device *spine = sim_device(sim, "spine-01");

	up(sim, FTREE);
	sim_node(sim, spine, false);
	repaired_within(sim, REPAIR_MS);
	sim_node(sim, spine, true);
	sim_settle_and_check(sim);
}

const struct scenario sim_trigger[] = {
	{.name = "link-lost", .topology = THREE_LEVELS, .world = &slow_agents, .play = link_lost},
	{.name = "link-lost-big", .topology = BIG, .world = &slow_agents, .play = link_lost},
	{.name = "spine-lost", .topology = THREE_LEVELS, .world = &slow_agents, .play = spine_lost},
	{.name = "spine-lost-big", .topology = BIG, .world = &slow_agents, .play = spine_lost},
	{.name = "empty-trap", .topology = TREE, .world = &slow_agents, .play = empty_trap},
	{.name = "changed-port", .topology = TREE, .world = &slow_agents, .play = changed_port},
	{.name = "burst-of-traps", .topology = BIG, .world = &slow_agents, .play = burst_of_traps},
	{.name = "trap-pause", .topology = TREE, .world = &slow_agents, .play = trap_pause},
	{.name = "trap-flood", .topology = TREE, .world = &slow_agents, .play = trap_flood},
	{.name = "first-trap", .topology = THREE_LEVELS, .world = &slow_agents, .play = first_trap},
	{.name = "host-goes-in-bring-up",
	 .topology = THREE_LEVELS,
	 .world = &slow_agents,
	 .play = host_goes_in_bring_up},
	{.name = "far-end-falls-silent",
	 .topology = TREE,
	 .world = &slow_agents,
	 .play = far_end_falls_silent},
	{.name = "far-switch-dies",
	 .topology = TREE,
	 .world = &slow_agents,
	 .play = far_switch_dies},
	{.name = "flapping-link", .topology = TREE, .play = flapping_link},
	{.name = "lids-wait-for-their-ports", .topology = TREE, .play = lids_wait_for_their_ports},
	{.name = "read-back", .topology = TREE, .play = read_back},
	{.name = "babbling-is-noted", .topology = TREE, .play = babbling_is_noted},
	{.name = "babbling-host-is-disabled", .topology = TREE, .play = babbling_host_is_disabled},
	{.name = NULL},
};
