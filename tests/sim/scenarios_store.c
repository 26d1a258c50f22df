/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Managers that keep what they know in a store: what they find again when they are started anew,
 * after whatever happened to the fabric meanwhile.
 */
#include <string.h>

#include "lib/mem.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"

enum { PORTS_MAX = 128 };

/* The LIDs of all end ports, in the order of the devices. */
struct lids {
	lid_t lid[PORTS_MAX];
	size_t count;
};

static void note_lids(struct sim *sim, struct lids *out)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	out->count = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned own = device_is_switch(devices[i]) ? 0 : 1;

		sim_expect(sim, out->count < PORTS_MAX);
		if (out->count < PORTS_MAX)
			out->lid[out->count++] = devices[i]->port[own].info.lid;
	}
}

static bool same_lids(const struct lids *a, const struct lids *b)
{
	return a->count == b->count && !memcmp(a->lid, b->lid, a->count * sizeof(a->lid[0]));
}

static void reboot_all(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++)
		sim_reboot(sim, devices[i]);
}

/* The LIDs were given to those that were there first, so nobody would give them again by himself;
 * then all forget them, and the manager is killed. */
static void lids_survive(struct sim *sim)
{
	static const char *const late[] = {"host-0002", "host-0003", "host-0010"};
	struct lids before, after;
	struct sim_manager *manager;

	for (size_t i = 0; i < ARRAY_SIZE(late); i++)
		sim_node(sim, sim_device(sim, late[i]), false);
	manager = sim_start_keeping(sim, "host-0001", NULL);
	sim_settle(sim, 60 * SIM_S);
	for (size_t i = ARRAY_SIZE(late); i--;) {
		sim_node(sim, sim_device(sim, late[i]), true);
		sim_settle(sim, 60 * SIM_S);
	}
	note_lids(sim, &before);
	sim_kill(manager);
	reboot_all(sim);
	sim_pass(sim, SIM_S);
	sim_restart(manager);
	sim_settle_and_check(sim);
	note_lids(sim, &after);
	sim_expect(sim, same_lids(&before, &after));
	/* A host that was away when the manager came back is given what it had, too. */
	sim_stop(manager);
	reboot_all(sim);
	sim_node(sim, sim_device(sim, "host-0010"), false);
	sim_restart(manager);
	sim_settle(sim, 60 * SIM_S);
	sim_node(sim, sim_device(sim, "host-0010"), true);
	sim_settle_and_check(sim);
	note_lids(sim, &after);
	sim_expect(sim, same_lids(&before, &after));
}

const struct scenario sim_store[] = {
	{.name = "lids-survive", .topology = TREE, .play = lids_survive},
	{.name = NULL},
};
