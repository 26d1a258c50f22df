/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order in which tables are written: each case leaves foreign entries in tables, and brings
 * them into use. The watch over loops checks it after every single Set(), and sim_check() at the
 * end.
 */
#include <stdio.h>

#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"

static struct sim_manager *up(struct sim *sim)
{
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);

	sim_settle_and_check(sim);
	return manager;
}

static void each_switch(struct sim *sim, void (*fn)(struct sim *sim, struct device *device))
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		if (device_is_switch(devices[i]))
			fn(sim, devices[i]);
	}
}

static void pull(struct sim *sim, struct device *device)
{
	sim_node(sim, device, false);
}

static void put_back(struct sim *sim, struct device *device)
{
	sim_node(sim, device, true);
}

/* Entries that no manager computed, up to LinearFDBTop and beyond it. */
static void garble(struct sim *sim, struct device *device)
{
	for (unsigned lid = 1; lid < device->lft_size && lid < 4 * LFT_BLOCK_LIDS; lid++)
		device->lft[lid] = (uint8_t)(1 + sim_random(sim, device->num_ports));
}

/* The links were down, and the tables behind them stayed: a cable must not go ACTIVE while they are
 * stale. */
static void stale_tables(struct sim *sim)
{
	struct sim_manager *manager = up(sim);

	sim_kill(manager);
	each_switch(sim, pull);
	each_switch(sim, garble);
	each_switch(sim, put_back);
	sim_pass(sim, SIM_S);
	sim_restart(manager);
	sim_settle_and_check(sim);
}

/* A Set() without an answer is not sent again along a route that by then leads elsewhere. */
static void moved_while_unanswered(struct sim *sim)
{
	static const struct world_faults loss = {.drop_ppm = 100000};

	up(sim);
	for (unsigned i = 1; i <= 4; i++) {
		sim_faults(sim, &loss);
		sim_link(sim, sim_port(sim, "leaf-03", 4 + i), false);
		sim_pass(sim, 250 * SIM_MS);
		sim_swap_cables(sim, sim_port(sim, "leaf-01", 4 + i), sim_port(sim, "spine-03", 2));
		sim_pass(sim, 2 * SIM_S);
		sim_faults(sim, NULL);
		sim_link(sim, sim_port(sim, "leaf-03", 4 + i), true);
		sim_settle_and_check(sim);
	}
}

/* A switch no longer answers, because the route to it used a cable that was moved. The manager then
 * finds it by another route, and its former neighbour may be behind it now. The manager reads both
 * by the new route before it writes either. */
static void met_by_another_way(struct sim *sim)
{
	enum { FIRST_MS = 4, LAST_MS = 40, STEP_MS = 4 };
	static const struct world_faults loss = {
		.drop_ppm = 30000, .delay_ppm = 10000, .delay_us = 5000};

	up(sim);
	for (unsigned ms = FIRST_MS; ms <= LAST_MS; ms += STEP_MS) {
		sim_faults(sim, &loss);
		sim_reboot(sim, sim_device(sim, "sw-02"));
		sim_pass(sim, ms * SIM_MS);
		sim_swap_cables(sim, sim_port(sim, "sw-05", 4), sim_port(sim, "sw-02", 3));
		sim_pass(sim, SIM_S);
		sim_faults(sim, NULL);
		sim_settle_and_check(sim);
	}
}

/* A manager that takes over knows the ports of some switch only from before the bring-up, because
 * reads of them failed. It must not write this switch, or routes through it, as if no packet passed
 * there. */
static void half_read(struct sim *sim)
{
	enum { SWITCHES = 8, TAKEOVER_S = 20 };
	struct sim_manager *first = sim_start(sim, "host-0001", "sm_priority=5");
	struct device *device;
	char name[32];

	sim_start(sim, "host-0009", NULL);
	sim_settle(sim, 60 * SIM_S);
	snprintf(name, sizeof(name), "sw-%02u", 2 + (unsigned)sim_random(sim, SWITCHES - 1));
	device = sim_device(sim, name);
	device->quirks.mute_ports = true;
	sim_kill(first);
	snprintf(name, sizeof(name), "sw-%02u", 1 + (unsigned)sim_random(sim, SWITCHES));
	sim_link(sim, sim_port(sim, name, 3), false);
	sim_pass(sim, TAKEOVER_S * SIM_S);
	device->quirks.mute_ports = false;
	sim_restart(first);
	sim_settle_and_check(sim);
}

const struct scenario sim_order[] = {
	{.name = "stale-tables", .topology = TREE, .play = stale_tables},
	{.name = "stale-tables-torus", .topology = "torus:dims=4x4,hosts=2", .play = stale_tables},
	{.name = "moved-while-unanswered", .topology = TREE, .play = moved_while_unanswered},
	{.name = "half-read", .topology = "ring:switches=8,hosts=2", .play = half_read},
	{.name = "met-by-another-way",
	 .topology = "ring:switches=8,hosts=2",
	 .play = met_by_another_way},
	{.name = NULL},
};
