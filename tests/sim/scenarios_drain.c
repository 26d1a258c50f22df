/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Drained switches and cables (sm/drain.h) under faults: restarts of the manager in the middle of a
 * drain, lost MADs, and reboots of the drained switch and of its neighbours. The invariants hold
 * after every single Set().
 */
#include <stdlib.h>

#include "sm/context.h"
#include "sm/drain.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"

enum { LEAVES = 8, SPINES = 4, FIRST_UP = 5 };

static struct sm *sm_of(const struct sim_manager *manager)
{
	return manager_sm(manager->manager);
}

/* As the command does. Returns whether the target is present. */
static bool drain_node(struct sim *sim, struct sim_manager *manager, const char *name)
{
	struct sm *sm = sm_of(manager);
	const struct node *node = fabric_find_node(sm->fabric, sim_device(sim, name)->node_guid);
	struct drained_entry *places;
	size_t count;

	sim_expect(sim, node != NULL);
	if (!node)
		return false;
	count = drained_places(sm->fabric, sm->registry, node, 0, &places);
	sim_expect(sim, !drained_judge(sm->fabric, sm->registry, node, places, count).ports);
	drain_put(sm, node, 0, places, count, false, NULL);
	drain_begin(sm);
	free(places);
	return true;
}

/* The ports of all leaves that lead to a spine. */
static unsigned count_disabled(struct sim *sim, unsigned spine)
{
	unsigned count = 0;

	for (unsigned l = 1; l <= LEAVES; l++) {
		char name[16];

		snprintf(name, sizeof(name), "leaf-%02u", l);
		count += sim_port(sim, name, FIRST_UP + spine - 1)->info.port_physical_state ==
			 PHYS_DISABLED;
	}
	return count;
}

/* No port without a record stays disabled. */
static void check_disabled(struct sim *sim, const struct sim_manager *manager)
{
	for (unsigned l = 1; l <= LEAVES; l++) {
		for (unsigned p = 1; p < FIRST_UP + SPINES; p++) {
			const struct device_port *port;
			char name[16];

			snprintf(name, sizeof(name), "leaf-%02u", l);
			port = sim_port(sim, name, p);
			sim_expect(sim,
				   port->info.port_physical_state != PHYS_DISABLED ||
					   port_is_drained(sm_of(manager)->registry,
							   port->device->node_guid, (uint8_t)p));
		}
	}
}

static void undrain_node(struct sim *sim, struct sim_manager *manager, const char *name)
{
	struct sm *sm = sm_of(manager);

	drain_end(sm, sim_device(sim, name)->node_guid, 0);
	drain_ended(sm);
	trigger_light(&sm->trigger, "undrain");
}

static void spine_is_drained(struct sim *sim)
{
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", NULL);
	uint64_t sets;

	sim_settle(sim, 60 * SIM_S);
	if (!drain_node(sim, manager, "spine-01"))
		return;
	sim_settle_and_check(sim);
	sim_expect(sim, count_disabled(sim, 1) == LEAVES);
	sim_kill(manager);
	sim_restart(manager);
	sim_settle_and_check(sim);
	sim_expect(sim, count_disabled(sim, 1) == LEAVES);
	sim_reboot(sim, sim_device(sim, "leaf-02"));
	sim_reboot(sim, sim_device(sim, "spine-01"));
	sim_settle_and_check(sim);
	sim_expect(sim, count_disabled(sim, 1) == LEAVES);
	sets = manager->sets_sent;
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, manager->sets_sent == sets);
	undrain_node(sim, manager, "spine-01");
	sim_settle_and_check(sim);
	sim_expect(sim, count_disabled(sim, 1) == 0);
	sim_expect(sim, sm_of(manager)->fabric->num_switches == LEAVES + 4);
}

/* The manager is killed after some milliseconds of the drain, in each of its steps. */
static void drain_is_interrupted(struct sim *sim)
{
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", NULL);

	for (uint64_t after_us = 200; after_us < 60000 && !sim->failed; after_us *= 3) {
		sim_settle(sim, 60 * SIM_S);
		if (!drain_node(sim, manager, "spine-02"))
			return;
		sim_pass(sim, after_us);
		sim_kill(manager);
		sim_restart(manager);
		sim_settle_and_check(sim);
		undrain_node(sim, manager, "spine-02");
		sim_settle_and_check(sim);
		sim_expect(sim, count_disabled(sim, 2) == 0);
	}
}

/* The drain ends after some milliseconds, in each of its steps, while MADs are lost; then the
 * manager is killed, so that the end of the drain may not have been stored. */
static void undrain_is_interrupted(struct sim *sim)
{
	const struct world_faults loss = {.drop_ppm = 100000};
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", NULL);

	for (uint64_t after_us = 200; after_us < 2000000 && !sim->failed; after_us *= 3) {
		sim_settle(sim, 60 * SIM_S);
		if (!drain_node(sim, manager, "spine-02"))
			return;
		sim_faults(sim, &loss);
		sim_pass(sim, after_us);
		undrain_node(sim, manager, "spine-02");
		sim_pass(sim, 1 + sim_random(sim, 50000));
		sim_kill(manager);
		sim_restart(manager);
		sim_pass(sim, sim_random(sim, 300000));
		sim_faults(sim, NULL);
		sim_settle_and_check(sim);
		check_disabled(sim, manager);
		undrain_node(sim, manager, "spine-02");
		sim_settle_and_check(sim);
		sim_expect(sim, count_disabled(sim, 2) == 0);
		sim_expect(sim, !registry_count(sm_of(manager)->registry, REGISTRY_DRAINED));
	}
}

/* Two spines are drained while the remaining cables lose links. */
static void drain_meets_faults(struct sim *sim)
{
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", NULL);

	sim_settle(sim, 60 * SIM_S);
	if (!drain_node(sim, manager, "spine-01"))
		return;
	sim_pass(sim, SIM_S / 500);
	sim_link(sim, sim_port(sim, "leaf-03", FIRST_UP + 2), false);
	if (!drain_node(sim, manager, "spine-02"))
		return;
	sim_pass(sim, SIM_S / 500);
	sim_reboot(sim, sim_device(sim, "leaf-04"));
	sim_settle_and_check(sim);
	sim_expect(sim, count_disabled(sim, 1) == LEAVES && count_disabled(sim, 2) == LEAVES);
	sim_link(sim, sim_port(sim, "leaf-03", FIRST_UP + 2), true);
	undrain_node(sim, manager, "spine-01");
	undrain_node(sim, manager, "spine-02");
	sim_settle_and_check(sim);
	sim_expect(sim, count_disabled(sim, 1) == 0 && count_disabled(sim, 2) == 0);
}

const struct scenario sim_drain[] = {
	{.name = "spine-is-drained", .topology = TREE, .play = spine_is_drained},
	{.name = "drain-is-interrupted", .topology = TREE, .play = drain_is_interrupted},
	{.name = "undrain-is-interrupted", .topology = TREE, .play = undrain_is_interrupted},
	{.name = "drain-meets-faults", .topology = TREE, .play = drain_meets_faults},
	{.name = NULL},
};
