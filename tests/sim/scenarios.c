/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Single cases: each is a function of some lines, and a row of the table at the end. A case ends
 * with sim_check(), so that the invariants are checked after it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/sim/sim.h"
#include "tests/sim/work_inline.h"

#define TREE "fattree:radix=8,levels=2"

static const char back_to_back[] = "Ca 1 \"left\"\n[1] \"right\"[1]\n\n"
				   "Ca 1 \"right\"\n[1] \"left\"[1]\n";

static struct sim_manager *up(struct sim *sim, const char *options)
{
	struct sim_manager *manager = sim_start(sim, "host-0001", options);

	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, manager->error == 0);
	return manager;
}

/* Bring-up */

/* Without faults every request finds its device ready, and no device refuses a request. */
static void bring_up(struct sim *sim)
{
	struct sim_manager *manager = up(sim, NULL);

	sim_check(sim);
	sim_expect(sim, manager->refused == 0);
}

/* Devices of many kinds: each link runs with the best values that both ends support, also after a
 * reboot. */
static void mixed_links(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		for (unsigned n = 0; n <= devices[i]->num_ports; n++) {
			devices[i]->port[n].info.mtu_cap = (uint8_t)(3 + i % 3);
			devices[i]->port[n].info.vl_cap = (uint8_t)(1 + i / 3 % 4);
		}
	}
	up(sim, NULL);
	sim_check(sim);
	sim_reboot(sim, sim_device(sim, "spine-03"));
	sim_settle_and_check(sim);
}

/* While a fabric comes up for the first time, an ACTIVE host must reach the manager, and the
 * manager the host. Otherwise its first requests are lost. */
static void hosts_come_last(struct sim *sim)
{
	enum { STEPS = 2000, STEP_US = 10 };
	struct device *own = sim_device(sim, "host-0001");
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned seen = 0;

	sim_start(sim, "host-0001", NULL);
	for (unsigned i = 0; i < STEPS; i++) {
		sim_pass(sim, STEP_US);
		for (size_t n = 0; n < count; n++) {
			const struct device_port *port = &devices[n]->port[1];

			if (device_is_switch(devices[n]) || devices[n] == own ||
			    !device_port_passes(port))
				continue;
			seen++;
			sim_expect(sim, world_walk(sim->world, port->device, 1,
						   own->port[1].info.lid) > 0);
			sim_expect(sim, world_walk(sim->world, own, 1, port->info.lid) > 0);
		}
	}
	sim_expect(sim, seen > 0);
	sim_settle_and_check(sim);
}

static void two_adapters(struct sim *sim)
{
	sim_start(sim, "left", NULL);
	sim_settle_and_check(sim);
}

static void on_a_switch(struct sim *sim)
{
	sim_start(sim, "leaf-01", NULL);
	sim_settle_and_check(sim);
}

static void with_lmc(struct sim *sim)
{
	up(sim, "lmc=2");
	sim_check(sim);
}

static void with_loss(struct sim *sim)
{
	sim_faults(sim, &(struct world_faults){.drop_ppm = 50000});
	up(sim, NULL);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

static void disorder(struct sim *sim)
{
	sim_faults(sim, &(struct world_faults){
				.duplicate_ppm = 50000, .delay_ppm = 100000, .delay_us = 300000});
	up(sim, NULL);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

static void clamping_devices(struct sim *sim)
{
	static const struct device_quirks quirks = {
		.life_time_max = 16, .subnet_timeout_fixed = 31, .no_extended_speeds = true};
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i += 2)
		devices[i]->quirks = quirks;
	up(sim, NULL);
	sim_check(sim);
}

/* After a lost answer to a Set() of a port state, the next Set() finds the port in this state and
 * is refused. This is no failure. */
static void strict_states(struct sim *sim)
{
	struct sim_manager *manager;
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++)
		devices[i]->quirks.strict_states = true;
	sim_faults(sim, &(struct world_faults){.drop_ppm = 50000});
	manager = sim_start(sim, "host-0001", NULL);
	while (!manager->reports && !sim->failed && !sim->stopped)
		sim_pass(sim, SIM_MS);
	sim_expect(sim, !strstr(manager->report, "errors"));
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
	sim_expect(sim, manager->refused > 0);
}

/* A host that never comes up costs a heavy sweep from time to time, at growing intervals. */
static void stuck_host(struct sim *sim)
{
	enum { MINUTES = 60, HEAVY_SWEEPS_MAX = 12 };
	struct device *host = sim_device(sim, "host-0020");
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	uint64_t read;

	host->quirks.stuck_states = true;
	sim_start(sim, "host-0001", NULL);
	sim_pass(sim, MINUTES * 60 * SIM_S);
	read = world_stats(sim->world)->gets[ATTR_NODE_DESCRIPTION];
	sim_expect(sim, read > 3 * count && read < HEAVY_SWEEPS_MAX * count);
	host->quirks.stuck_states = false;
	sim_settle_and_check(sim);
}

/* A cable between switches that does not come up is removed from the routes once, and not in each
 * sweep that reads it again. */
static void stuck_cable(struct sim *sim)
{
	struct device *spine = sim_device(sim, "spine-02");
	struct sim_manager *manager = up(sim, NULL);
	uint64_t routed;

	sim_link(sim, sim_port(sim, "spine-02", 3), false);
	sim_settle(sim, 60 * SIM_S);
	spine->quirks.stuck_states = true;
	sim_link(sim, sim_port(sim, "spine-02", 3), true);
	sim_pass(sim, 30 * SIM_S);
	routed = work_inline_jobs(manager->pool);
	sim_pass(sim, 300 * SIM_S);
	sim_expect(sim, work_inline_jobs(manager->pool) == routed);
	spine->quirks.stuck_states = false;
	sim_settle_and_check(sim);
	sim_expect(sim, work_inline_jobs(manager->pool) > routed);
}

/* Another device answers at the manager's own port. No data of the former device may be used for
 * it. All devices keep their LIDs, and the only write is ClientReregister for the new device. */
static void own_adapter_changes(struct sim *sim)
{
	struct sim_manager *manager = up(sim, NULL);
	uint64_t sets = manager->sets_sent;

	sim_device(sim, "host-0001")->system_image_guid++;
	manager_set_conf(manager->manager, &manager->conf); /* a heavy sweep */
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, manager->sets_sent == sets + 1);
	sim_check(sim);
}

/* The PortState of a base port 0 has no meaning (table 146). Such ports get LIDs all the same. */
static void port0_without_state(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		if (device_is_switch(devices[i]))
			devices[i]->port[0].info.port_state = PORT_NO_CHANGE;
	}
	up(sim, NULL);
	sim_check(sim);
}

/* Links and traps */

static void link_goes_and_comes(struct sim *sim)
{
	struct sim_manager *manager = up(sim, NULL);
	struct device_port *port = sim_port(sim, "spine-01", 1);
	uint64_t lft_sets = manager->lft_sets_sent;

	sim_link(sim, port, false);
	sim_settle_and_check(sim);
	sim_expect(sim, manager->lft_sets_sent > lft_sets);
	sim_link(sim, port, true);
	sim_settle_and_check(sim);
}

/* With a SubnetTimeOut of 23 the trap is not repeated for 34 s. */
static void light_sweep_finds_it(struct sim *sim)
{
	struct sim_manager *manager = up(sim, "subnet_timeout=23 sweep_interval=10");
	uint64_t lft_sets = manager->lft_sets_sent;

	sim_faults(sim, &(struct world_faults){.drop_ppm = 1000000});
	sim_link(sim, sim_port(sim, "spine-01", 1), false);
	sim_pass(sim, 500 * SIM_MS);
	sim_faults(sim, NULL);
	sim_expect(sim, manager->lft_sets_sent == lft_sets);
	sim_pass(sim, 15 * SIM_S);
	sim_expect(sim, manager->lft_sets_sent > lft_sets);
	sim_settle_and_check(sim);
}

static void flap_storm(struct sim *sim)
{
	enum { FLAPS = 100, FLAP_MS = 60 };
	struct sim_manager *manager = up(sim, NULL);
	uint64_t reports = manager->reports, end_us;

	for (unsigned i = 0; i < FLAPS; i++) {
		sim_flap(sim, sim_port(sim, "spine-02", 3), FLAP_MS / 2 * SIM_MS);
		sim_pass(sim, FLAP_MS / 2 * SIM_MS);
	}
	end_us = sim_now_us(sim);
	sim_expect(sim, manager->reports - reports <= 2 * FLAPS);
	sim_expect(sim, sim_settle(sim, 60 * SIM_S) < end_us + 15 * SIM_S);
	sim_check(sim);
}

static void own_link_flaps(struct sim *sim)
{
	struct sim_manager *manager = up(sim, NULL);

	sim_flap(sim, manager->port, 100 * SIM_MS);
	sim_settle_and_check(sim);
	sim_flap(sim, manager->port, 30 * SIM_S);
	sim_settle_and_check(sim);
}

static bool is_master(void *ctx)
{
	return sim_state(ctx) == SM_MASTER;
}

static bool is_discovering(void *ctx)
{
	return sim_state(ctx) == SM_DISCOVERING;
}

/* No trap can report this: the manager finds the state of its own link, and the device behind it,
 * only by reads of its own port. */
static void own_link_is_watched(struct sim *sim)
{
	struct sim_manager *manager = up(sim, "sweep_interval=3600");
	uint64_t lft_sets;

	sim_link(sim, manager->port, false);
	sim_until(sim, SIM_S, "the manager is no longer MASTER", is_discovering, manager);
	sim_expect(sim, manager->error == -ENETDOWN);
	sim_pass(sim, 100 * SIM_S);
	sim_link(sim, manager->port, true);
	sim_until(sim, SIM_S, "the manager is MASTER again", is_master, manager);
	sim_settle_and_check(sim);
	lft_sets = manager->lft_sets_sent;
	sim_reboot(sim, sim_device(sim, "leaf-01"));
	sim_pass(sim, SIM_S);
	sim_expect(sim, manager->lft_sets_sent > lft_sets);
	sim_settle_and_check(sim);
}

/* Nodes */

static void switch_reboots(struct sim *sim)
{
	up(sim, NULL);
	sim_reboot(sim, sim_device(sim, "spine-01"));
	sim_settle_and_check(sim);
	sim_reboot(sim, sim_device(sim, "leaf-02"));
	sim_settle_and_check(sim);
}

static void own_switch_reboots(struct sim *sim)
{
	up(sim, NULL);
	sim_reboot(sim, sim_device(sim, "leaf-01"));
	sim_settle_and_check(sim);
}

static void host_reboots(struct sim *sim)
{
	up(sim, NULL);
	sim_reboot(sim, sim_device(sim, "host-0007"));
	sim_settle_and_check(sim);
}

static void node_vanishes(struct sim *sim)
{
	static const char *const names[] = {"host-0009", "leaf-03", "spine-02"};

	up(sim, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		sim_node(sim, sim_device(sim, names[i]), false);
		sim_settle_and_check(sim);
		sim_node(sim, sim_device(sim, names[i]), true);
		sim_settle_and_check(sim);
	}
}

/* The other switches come up without it. It joins when it answers. */
static void dead_switch_agent(struct sim *sim)
{
	struct device *dead = sim_device(sim, "leaf-03");
	struct device *first = sim_device(sim, "host-0001"), *last = sim_device(sim, "host-0032");

	sim_silence(sim, dead, true);
	sim_start(sim, "host-0001", NULL);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(&sim->managers[0]) == SM_MASTER);
	sim_expect(sim, world_walk(sim->world, first, 1, last->port[1].info.lid) > 0);
	sim_expect(sim, world_walk(sim->world, last, 1, first->port[1].info.lid) > 0);
	sim_silence(sim, dead, false);
	sim_settle_and_check(sim);
}

/* Its agent dies later: its links still forward, and nothing else is affected. */
static void agent_dies(struct sim *sim)
{
	struct device *dead;

	up(sim, NULL);
	dead = sim_device(sim, "spine-02");
	sim_silence(sim, dead, true);
	sim_link(sim, sim_port(sim, "spine-01", 2), false);
	sim_pass(sim, 60 * SIM_S);
	sim_silence(sim, dead, false);
	sim_link(sim, sim_port(sim, "spine-01", 2), true);
	sim_settle_and_check(sim);
}

/* The agents of a spine, a leaf and a host are busy for a while. Their links are up, so they
 * forward as before. Nothing is written, not even after a heavy sweep. */
static void busy_agents_are_kept(struct sim *sim)
{
	static const char *const names[] = {"spine-02", "leaf-03", "host-0030"};
	struct sim_manager *manager = up(sim, NULL);
	uint64_t sets = manager->sets_sent, jobs = work_inline_jobs(manager->pool);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		sim_silence(sim, sim_device(sim, names[i]), true);
	manager_set_conf(manager->manager, &manager->conf); /* a heavy sweep, with routing */
	sim_pass(sim, 50 * SIM_S);
	sim_expect(sim, work_inline_jobs(manager->pool) == jobs + 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		sim_silence(sim, sim_device(sim, names[i]), false);
	sim_pass(sim, 20 * SIM_S);
	sim_expect(sim, manager->sets_sent == sets);
	sim_check(sim);
}

/* The switch is busy when the manager first reads its neighbours after its own Sets changed their
 * ports. */
static void busy_after_bring_up(struct sim *sim)
{
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);
	struct device *leaf = sim_device(sim, "leaf-03");
	uint64_t lft_sets;

	sim_pass(sim, 2 * SIM_S); /* the first light sweep comes later */
	lft_sets = manager->lft_sets_sent;
	sim_silence(sim, leaf, true);
	sim_pass(sim, 30 * SIM_S);
	sim_silence(sim, leaf, false);
	sim_settle_and_check(sim);
	sim_expect(sim, manager->lft_sets_sent == lft_sets); /* none of its hosts was removed */
}

/* A silent device counts as removed when its links are down. */
static void silent_and_gone(struct sim *sim)
{
	struct sim_manager *manager = up(sim, NULL);
	struct device *spine = sim_device(sim, "spine-02");
	uint64_t lft_sets;

	sim_silence(sim, spine, true);
	manager_set_conf(manager->manager, &manager->conf);
	sim_pass(sim, 5 * SIM_S);
	lft_sets = manager->lft_sets_sent;
	sim_node(sim, spine, false);
	sim_pass(sim, SIM_S);
	sim_expect(sim, manager->lft_sets_sent > lft_sets);
	sim_settle_and_check(sim);
	sim_silence(sim, spine, false);
	sim_node(sim, spine, true);
	sim_settle_and_check(sim);
}

static bool takes_tables(const struct device *device)
{
	return device_is_switch(device) && !device->quirks.silent && !device->quirks.mute_sets &&
	       !device->quirks.refuses_tables;
}

/* Whether the LID belongs to the switch or to a host cabled to it. */
static bool is_at(const struct device *sw, lid_t lid)
{
	bool is = device_port_has_lid(&sw->port[0], lid);

	for (unsigned p = 1; p <= sw->num_ports; p++) {
		const struct device_port *peer = sw->port[p].peer;

		is |= peer && !device_is_switch(peer->device) && device_port_has_lid(peer, lid);
	}
	return is;
}

/* The number of LIDs that switches which accept tables send through this switch to other
 * devices. */
static unsigned transit(struct sim *sim, const struct device *through)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned lids = 0;

	for (lid_t lid = 1; lid <= LID_UNICAST_MAX; lid++) {
		bool uses = false;

		for (size_t i = 0; i < count && !uses; i++) {
			uint8_t out = takes_tables(devices[i]) ? device_lft_port(devices[i], lid)
							       : LFT_NO_PORT;
			const struct device_port *port =
				out && out <= devices[i]->num_ports ? &devices[i]->port[out] : NULL;

			uses = port && port->peer && port->peer->device == through;
		}
		lids += uses && !is_at(through, lid);
	}
	return lids;
}

static bool reach_each_other(struct sim *sim, const char *one, const char *other)
{
	const struct device *a = sim_device(sim, one), *b = sim_device(sim, other);

	return world_walk(sim->world, a, 1, b->port[1].info.lid) > 0 &&
	       world_walk(sim->world, b, 1, a->port[1].info.lid) > 0;
}

/* A spine accepts no table from the beginning. The other switches do without it until it does. */
static void spine_takes_nothing(struct sim *sim, struct device *spine)
{
	struct sim_manager *manager;
	uint64_t sets;

	manager = sim_start(sim, "host-0001", NULL);
	sim_pass(sim, 15 * SIM_S);
	for (unsigned i = 2; i <= 32; i++) {
		char name[16];

		snprintf(name, sizeof(name), "host-%04u", i);
		sim_expect(sim, reach_each_other(sim, "host-0001", name));
	}
	/* If it accepts no LID either, only the LID that it was to get may lead through it. */
	sim_expect(sim, transit(sim, spine) <= spine->quirks.mute_sets);
	sets = manager->sets_sent;
	sim_pass(sim, 600 * SIM_S);
	sim_expect(sim, manager->sets_sent < sets + 160); /* retried at growing intervals */
	spine->quirks.refuses_tables = spine->quirks.mute_sets = false;
	sim_pass(sim, 1200 * SIM_S);
	sim_expect(sim, transit(sim, spine) > 0);
	sim_check(sim);
}

static void spine_refuses(struct sim *sim)
{
	struct device *spine = sim_device(sim, "spine-02");

	spine->quirks.refuses_tables = true;
	spine_takes_nothing(sim, spine);
}

static void spine_mute(struct sim *sim)
{
	struct device *spine = sim_device(sim, "spine-02");

	spine->quirks.mute_sets = true;
	spine_takes_nothing(sim, spine);
}

/* A spine and a leaf that worked accept no new table. No route passes the spine any more, and the
 * hosts of the leaf stay reachable by its present table. */
static void refuse_later(struct sim *sim)
{
	struct device *spine = sim_device(sim, "spine-02"), *leaf = sim_device(sim, "leaf-03");

	up(sim, NULL);
	sim_expect(sim, transit(sim, spine) > 0);
	spine->quirks.refuses_tables = leaf->quirks.mute_sets = true;
	sim_link(sim, sim_port(sim, "spine-02", 6), false); /* its table, and every leaf's */
	sim_link(sim, sim_port(sim, "spine-03", 7), false);
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, transit(sim, spine) == 0);
	sim_expect(sim, reach_each_other(sim, "host-0001", "host-0010"));
	sim_expect(sim, reach_each_other(sim, "host-0028", "host-0010"));
	sim_expect(sim, reach_each_other(sim, "host-0028", "host-0001"));
	spine->quirks.refuses_tables = leaf->quirks.mute_sets = false;
	sim_link(sim, sim_port(sim, "spine-02", 6), true);
	sim_link(sim, sim_port(sim, "spine-03", 7), true);
	sim_pass(sim, 1200 * SIM_S);
	sim_expect(sim, transit(sim, spine) > 0);
	sim_check(sim);
}

/* A spine refused its table for a quarter of an hour, so that it was tried at growing intervals.
 * When it accepts the table, the interval is reset: after the next refusal it is tried after a
 * minute. */
static void refuses_again(struct sim *sim)
{
	enum { STEP_S = 5, TURN_S = 60, LIMIT_S = 3600 };
	static const unsigned refused_for_s[] = {900, TURN_S};
	struct device *spine = sim_device(sim, "spine-02");
	unsigned waited_s = 0;

	up(sim, NULL);
	for (unsigned turn = 0; turn < ARRAY_SIZE(refused_for_s); turn++) {
		spine->quirks.refuses_tables = true;
		sim_link(sim, sim_port(sim, "spine-02", 6), turn);
		sim_link(sim, sim_port(sim, "spine-03", 7), turn);
		sim_pass(sim, refused_for_s[turn] * SIM_S);
		sim_expect(sim, transit(sim, spine) == 0);
		spine->quirks.refuses_tables = false;
		for (waited_s = 0; waited_s < LIMIT_S && !transit(sim, spine); waited_s += STEP_S)
			sim_pass(sim, STEP_S * SIM_S);
		sim_expect(sim, waited_s < LIMIT_S);
	}
	sim_expect(sim, waited_s <= 2 * TURN_S);
	sim_settle_and_check(sim);
}

/* The only route to half of a ring passes switches that accept no table: this half stays routed. */
static void refuses_in_the_way(struct sim *sim)
{
	struct device *two = sim_device(sim, "sw-02");

	up(sim, NULL);
	sim_link(sim, sim_port(sim, "sw-05", 3), false);
	sim_settle_and_check(sim);
	two->quirks.refuses_tables = true;
	sim_link(sim, sim_port(sim, "host-0012", 1), false);
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, reach_each_other(sim, "host-0001", "host-0005"));
	two->quirks.refuses_tables = false;
	sim_pass(sim, 1200 * SIM_S);
	sim_settle_and_check(sim);
}

/* A switch that is unrouted because its table is too small is no detour around a switch that
 * accepts no table. */
static void no_other_way(struct sim *sim)
{
	struct device *two = sim_device(sim, "sw-02"), *five = sim_device(sim, "sw-05");

	five->sw.linear_fdb_cap = 8;
	sim_start(sim, "host-0001", NULL);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, five->sw.linear_fdb_top == 0);
	sim_expect(sim, reach_each_other(sim, "host-0001", "host-0005"));
	two->quirks.refuses_tables = true;
	sim_link(sim, sim_port(sim, "host-0012", 1), false);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, reach_each_other(sim, "host-0001", "host-0005"));
	sim_link(sim, sim_port(sim, "host-0003", 1), false);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, reach_each_other(sim, "host-0001", "host-0005"));
}

/* An agent stays silent. After a minute its table is used only for hosts cabled to it. */
static void silent_for_long(struct sim *sim)
{
	struct device *spine = sim_device(sim, "spine-02"), *leaf = sim_device(sim, "leaf-03");

	up(sim, NULL);
	sim_silence(sim, spine, true);
	sim_silence(sim, leaf, true);
	sim_pass(sim, 40 * SIM_S);
	sim_expect(sim, transit(sim, spine) > 0);
	sim_pass(sim, 80 * SIM_S);
	sim_expect(sim, transit(sim, spine) == 0);
	sim_expect(sim, reach_each_other(sim, "host-0001", "host-0010"));
	sim_expect(sim, reach_each_other(sim, "host-0028", "host-0010"));
	sim_silence(sim, spine, false);
	sim_silence(sim, leaf, false);
	sim_settle_and_check(sim);
	sim_expect(sim, transit(sim, spine) > 0);
}

/* A switch whose table is far too small joins a working fabric. No route uses it, and no present
 * port loses anything. A larger switch in its place joins like any other switch. */
static void small_switch_joins(struct sim *sim)
{
	enum { SMALL_CAP = 24 };
	struct device *leaf = sim_device(sim, "leaf-08");
	struct device *first = sim_device(sim, "host-0001"), *last = sim_device(sim, "host-0028");
	struct sim_manager *manager;
	lid_t lid;

	sim_node(sim, leaf, false);
	manager = up(sim, NULL);
	lid = last->port[1].info.lid;
	leaf->sw.linear_fdb_cap = SMALL_CAP;
	sim_node(sim, leaf, true);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, last->port[1].info.lid == lid && lid > SMALL_CAP);
	sim_expect(sim, world_walk(sim->world, first, 1, lid) > 0);
	sim_expect(sim, world_walk(sim->world, last, 1, first->port[1].info.lid) > 0);
	sim_expect(sim, manager->error == 0 && !strstr(manager->report, "errors"));
	sim_expect(sim, leaf->sw.linear_fdb_top == 0);
	sim_node(sim, leaf, false);
	sim_pass(sim, 60 * SIM_S);
	leaf->sw.linear_fdb_cap = LID_UNICAST_MAX + 1;
	sim_node(sim, leaf, true);
	sim_settle_and_check(sim);
}

static void swapped_cables(struct sim *sim)
{
	up(sim, NULL);
	sim_swap_cables(sim, sim_port(sim, "host-0003", 1), sim_port(sim, "host-0010", 1));
	sim_settle_and_check(sim);
	sim_swap_cables(sim, sim_port(sim, "spine-01", 1), sim_port(sim, "spine-02", 2));
	sim_settle_and_check(sim);
	sim_swap_cables(sim, sim_port(sim, "host-0004", 1), sim_port(sim, "spine-03", 2));
	sim_settle_and_check(sim);
}

/* When cables are swapped during the read or before they are ARMED, only PortStateChange shows it:
 * no agent knows yet where to send traps. */
static void swapped_in_bring_up(struct sim *sim)
{
	enum { STAGES = 24, STAGE_US = 200 };
	struct sim_manager *manager = up(sim, NULL);
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (unsigned stage = 0; stage < STAGES && !sim->failed && !sim->stopped; stage++) {
		unsigned n = 1 + stage % 4;

		sim_kill(manager);
		for (size_t i = 0; i < count; i++)
			sim_reboot(sim, devices[i]);
		sim_pass(sim, SIM_S);
		sim_restart(manager);
		sim_pass(sim, stage * STAGE_US);
		sim_swap_cables(sim, sim_port(sim, "leaf-02", n), sim_port(sim, "leaf-03", n));
		sim_swap_cables(sim, sim_port(sim, "spine-01", n), sim_port(sim, "spine-02", n));
		sim_settle_and_check(sim);
	}
}

/* Losses */

/* A request that is sent once must also get through: only the answer to a first request shows
 * extended speeds. */
static void half_is_lost_at_first(struct sim *sim)
{
	static const struct world_faults half = {.drop_ppm = 500000};

	sim_faults(sim, &half);
	sim_start(sim, "host-0001", NULL);
	sim_pass(sim, 30 * SIM_S);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

/* Traps that arrive faster than light sweeps must not delay the changes that only a light sweep
 * finds. */
static void storm_starves_nothing(struct sim *sim)
{
	enum { STORM_S = 40 };
	struct device *leaf = sim_device(sim, "leaf-02");

	up(sim, NULL);
	leaf->sw.port_state_change = 1;
	for (unsigned i = 0; i < STORM_S; i++) {
		device_raise(sim_port(sim, "leaf-05", 0), 128);
		sim_pass(sim, SIM_S);
	}
	sim_expect(sim, !leaf->sw.port_state_change);
	sim_settle_and_check(sim);
}

/* The same when each sweep lasts beyond the next trap, because a possible manager never answers. */
static void slow_storm(struct sim *sim)
{
	enum { STORM_S = 60 };
	struct device *leaf = sim_device(sim, "leaf-02"), *host = sim_device(sim, "host-0020");

	up(sim, NULL);
	device_set_issm(&host->port[1], true);
	sim_pass(sim, SIM_S);
	sim_silence(sim, host, true);
	leaf->sw.port_state_change = 1;
	for (unsigned i = 0; i < 10 * STORM_S; i++) {
		device_raise(sim_port(sim, "leaf-07", 0), 128);
		sim_pass(sim, SIM_S / 10);
	}
	sim_expect(sim, !leaf->sw.port_state_change);
	sim_silence(sim, host, false);
	sim_settle_and_check(sim);
}

/* Several managers */

static void two_by_priority(struct sim *sim)
{
	struct sim_manager *low = sim_start(sim, "host-0001", "sm_priority=3");
	struct sim_manager *high = sim_start(sim, "host-0032", "sm_priority=9");

	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(high) == SM_MASTER);
	sim_expect(sim, sim_state(low) == SM_STANDBY);
}

static void two_by_guid(struct sim *sim)
{
	struct sim_manager *second = sim_start(sim, "host-0032", NULL);
	struct sim_manager *first = sim_start(sim, "host-0001", NULL);

	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(first) == SM_MASTER);
	sim_expect(sim, sim_state(second) == SM_STANDBY);
}

static void standby_only(struct sim *sim)
{
	struct sim_manager *watcher =
		sim_start(sim, "host-0032", "sm_priority=15 role=\"standby-only\"");
	struct sim_manager *master = up(sim, NULL);

	sim_check(sim);
	sim_expect(sim, sim_state(master) == SM_MASTER);
	sim_expect(sim, sim_state(watcher) != SM_MASTER);
	sim_kill(master);
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, sim_state(watcher) != SM_MASTER);
}

static bool is_not_master(void *ctx)
{
	return sim_state(ctx) != SM_MASTER;
}

static void master_is_killed(struct sim *sim)
{
	struct sim_manager *master = up(sim, "sm_priority=5");
	struct sim_manager *standby = sim_start(sim, "host-0032", NULL);

	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(standby) == SM_STANDBY);
	sim_kill(master);
	sim_until(sim, 3 * SIM_S, "the standby is MASTER", is_master, standby);
	sim_settle_and_check(sim);
	sim_restart(master);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(master) == SM_MASTER);
}

static void master_leaves(struct sim *sim)
{
	struct sim_manager *master = up(sim, NULL);
	struct sim_manager *standby = sim_start(sim, "host-0032", NULL);

	sim_settle(sim, 60 * SIM_S);
	sim_stop(master);
	sim_until(sim, 3 * SIM_S, "the standby is MASTER", is_master, standby);
	sim_settle_and_check(sim);
}

static void handover_to_a_higher(struct sim *sim)
{
	struct sim_manager *low = up(sim, NULL);
	struct sim_manager *high = sim_start(sim, "host-0032", "sm_priority=9");

	sim_until(sim, 5 * SIM_S, "the lower is no longer MASTER", is_not_master, low);
	sim_expect(sim, sim_state(high) == SM_MASTER);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(low) == SM_STANDBY);
}

/* A master is alone behind its dead link. When the link is back, two masters meet. */
static void master_is_cut_off(struct sim *sim)
{
	struct sim_manager *master = up(sim, "sm_priority=5");
	struct sim_manager *standby = sim_start(sim, "host-0032", NULL);

	sim_settle(sim, 60 * SIM_S);
	sim_link(sim, master->port, false);
	sim_until(sim, 5 * SIM_S, "the standby is MASTER", is_master, standby);
	sim_settle_and_check(sim);
	sim_link(sim, master->port, true);
	sim_settle_and_check(sim);
}

/* A ring is cut in two, each half with a manager, and closed again. */
static void halves_meet(struct sim *sim)
{
	struct device_port *one, *four;

	up(sim, NULL);
	sim_start(sim, "host-0007", NULL);
	sim_settle_and_check(sim);
	one = sim_port(sim, "sw-01", 3);
	four = sim_port(sim, "sw-04", 3);
	sim_link(sim, one, false);
	sim_link(sim, four, false);
	sim_settle_and_check(sim);
	sim_link(sim, one, true);
	sim_settle_and_check(sim);
	sim_link(sim, four, true);
	sim_settle_and_check(sim);
}

/* The manager's link is back before the manager notices, and another manager was MASTER in
 * between. */
static void another_was_master(struct sim *sim)
{
	struct sim_manager *master = up(sim, "sm_priority=5");
	struct sim_manager *standby = sim_start(sim, "host-0032", NULL);

	sim_settle(sim, 60 * SIM_S);
	sim_link(sim, sim_port(sim, "host-0002", 1), false);
	sim_link(sim, master->port, false);
	sim_until(sim, 5 * SIM_S, "the standby is MASTER", is_master, standby);
	sim_link(sim, sim_port(sim, "spine-01", 3), false);
	sim_pass(sim, 100 * SIM_MS);
	sim_kill(standby);
	sim_link(sim, sim_port(sim, "spine-01", 3), true);
	sim_link(sim, master->port, true);
	sim_settle_and_check(sim);
}

/* The manager clears a PortStateChange, then finds that its own link was down, and starts an
 * election. The new MASTER has read that switch before. */
static void another_cleared_it(struct sim *sim)
{
	struct sim_manager *first = sim_start(sim, "host-0032", NULL);
	struct device_port *port = sim_port(sim, "spine-02", 3);

	sim_start(sim, "host-0001", "sm_priority=5");
	sim_kill(&sim->managers[1]);
	sim_settle_and_check(sim);
	sim_link(sim, port, false);
	sim_settle_and_check(sim);
	sim_silence(sim, sim_device(sim, "host-0020"), true); /* the sweep waits for its answer */
	sim_link(sim, first->port, false);
	sim_link(sim, first->port, true);
	sim_link(sim, port, true);
	sim_pass(sim, sim_usual_world.training_us - 2 * SIM_MS);
	sim_restart(&sim->managers[1]);
	sim_pass(sim, SIM_S);
	sim_silence(sim, sim_device(sim, "host-0020"), false);
	sim_settle_and_check(sim);
}

const struct scenario sim_scenarios[] = {
	{.name = "bring-up-single", .topology = "single:hosts=8", .play = bring_up},
	{.name = "bring-up-fattree-2", .topology = TREE, .play = bring_up},
	{.name = "bring-up-fattree-3", .topology = "fattree:radix=8,levels=3", .play = bring_up},
	{.name = "bring-up-torus", .topology = "torus:dims=4x4x2,hosts=2", .play = bring_up},
	{.name = "bring-up-mesh", .topology = "mesh:dims=4x4,hosts=1", .play = bring_up},
	{.name = "bring-up-hypercube", .topology = "hypercube:dim=4,hosts=1", .play = bring_up},
	{.name = "bring-up-hyperx", .topology = "hyperx:dims=4x3,hosts=2", .play = bring_up},
	{.name = "bring-up-dragonfly", .topology = "dragonfly:a=4,h=2,p=2", .play = bring_up},
	{.name = "bring-up-ring", .topology = "ring:switches=6,hosts=2", .play = bring_up},
	{.name = "bring-up-random",
	 .topology = "random:switches=20,degree=4,hosts=2,seed=3",
	 .play = bring_up},
	{.name = "bring-up-damaged",
	 .topology = "fattree:radix=8,levels=3,lose_links=10%,seed=5",
	 .play = bring_up},
	{.name = "mixed-links", .topology = TREE, .play = mixed_links},
	{.name = "hosts-come-last", .topology = TREE, .play = hosts_come_last},
	{.name = "two-adapters", .topology = back_to_back, .play = two_adapters},
	{.name = "manager-on-a-switch", .topology = TREE, .play = on_a_switch},
	{.name = "lmc", .topology = TREE, .play = with_lmc},
	{.name = "loss", .topology = "fattree:radix=8,levels=3", .play = with_loss},
	{.name = "disorder", .topology = TREE, .play = disorder},
	{.name = "clamping-devices", .topology = TREE, .play = clamping_devices},
	{.name = "strict-states", .topology = TREE, .play = strict_states},
	{.name = "stuck-host", .topology = TREE, .play = stuck_host},
	{.name = "stuck-cable", .topology = TREE, .play = stuck_cable},
	{.name = "own-adapter-changes", .topology = TREE, .play = own_adapter_changes},
	{.name = "port0-without-state", .topology = TREE, .play = port0_without_state},
	{.name = "link-goes-and-comes", .topology = TREE, .play = link_goes_and_comes},
	{.name = "light-sweep-finds-it", .topology = TREE, .play = light_sweep_finds_it},
	{.name = "flap-storm", .topology = TREE, .play = flap_storm},
	{.name = "own-link-flaps", .topology = TREE, .play = own_link_flaps},
	{.name = "own-link-is-watched", .topology = TREE, .play = own_link_is_watched},
	{.name = "switch-reboots", .topology = TREE, .play = switch_reboots},
	{.name = "own-switch-reboots", .topology = TREE, .play = own_switch_reboots},
	{.name = "host-reboots", .topology = TREE, .play = host_reboots},
	{.name = "node-vanishes", .topology = TREE, .play = node_vanishes},
	{.name = "dead-switch-agent", .topology = TREE, .play = dead_switch_agent},
	{.name = "agent-dies", .topology = TREE, .play = agent_dies},
	{.name = "busy-agents-are-kept", .topology = TREE, .play = busy_agents_are_kept},
	{.name = "busy-after-bring-up", .topology = TREE, .play = busy_after_bring_up},
	{.name = "silent-and-gone", .topology = TREE, .play = silent_and_gone},
	{.name = "spine-refuses", .topology = TREE, .play = spine_refuses},
	{.name = "spine-mute", .topology = TREE, .play = spine_mute},
	{.name = "refuse-later", .topology = TREE, .play = refuse_later},
	{.name = "refuses-again", .topology = TREE, .play = refuses_again},
	{.name = "refuses-in-the-way",
	 .topology = "ring:switches=6,hosts=2",
	 .play = refuses_in_the_way},
	{.name = "no-other-way", .topology = "ring:switches=6,hosts=2", .play = no_other_way},
	{.name = "silent-for-long", .topology = TREE, .play = silent_for_long},
	{.name = "small-switch-joins", .topology = TREE, .play = small_switch_joins},
	{.name = "swapped-cables", .topology = TREE, .play = swapped_cables},
	{.name = "swapped-in-bring-up", .topology = TREE, .play = swapped_in_bring_up},
	{.name = "half-is-lost-at-first", .topology = TREE, .play = half_is_lost_at_first},
	{.name = "storm-starves-nothing", .topology = TREE, .play = storm_starves_nothing},
	{.name = "slow-storm", .topology = TREE, .play = slow_storm},
	{.name = "two-by-priority", .topology = TREE, .play = two_by_priority},
	{.name = "two-by-guid", .topology = TREE, .play = two_by_guid},
	{.name = "standby-only", .topology = TREE, .play = standby_only},
	{.name = "master-is-killed", .topology = TREE, .play = master_is_killed},
	{.name = "master-leaves", .topology = TREE, .play = master_leaves},
	{.name = "handover-to-a-higher", .topology = TREE, .play = handover_to_a_higher},
	{.name = "master-is-cut-off", .topology = TREE, .play = master_is_cut_off},
	{.name = "another-was-master", .topology = TREE, .play = another_was_master},
	{.name = "another-cleared-it", .topology = TREE, .play = another_cleared_it},
	{.name = "halves-meet", .topology = "ring:switches=6,hosts=2", .play = halves_meet},
	{.name = NULL},
};
