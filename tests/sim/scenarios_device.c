/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device on which a manager runs disappears at any moment, and returns. While it is away the
 * manager manages nothing and keeps its state. Then it begins with an election. The seed decides
 * what else happens, and when. Another port may take the place of the lost port.
 */
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"

/* A host with two ports at two leaves, and other hosts. */
static const char two_ports[] = "Switch 8 \"s1\"\n[1] \"s3\"[1]\n[2] \"two\"[1]\n[3] \"a\"[1]\n\n"
				"Switch 8 \"s2\"\n[1] \"s3\"[2]\n[2] \"two\"[2]\n[3] \"b\"[1]\n\n"
				"Switch 8 \"s3\"\n[1] \"s1\"[1]\n[2] \"s2\"[1]\n[3] \"c\"[1]\n\n"
				"Hca 2 \"two\"\n[1] \"s1\"[2]\n[2] \"s2\"[2]\n\n"
				"Hca 1 \"a\"\n[1] \"s1\"[3]\n\n"
				"Hca 1 \"b\"\n[1] \"s2\"[3]\n\n"
				"Hca 1 \"c\"\n[1] \"s3\"[3]\n";

enum { HOSTS = 32, TIMES = 8, AWAY_MAX_MS = 8000 };

struct held {
	lid_t lid[HOSTS];
};

static struct device *host(struct sim *sim, unsigned number)
{
	char name[sizeof("host-0000")];

	snprintf(name, sizeof(name), "host-%04u", number + 1);
	return sim_device(sim, name);
}

static void note(struct sim *sim, struct held *held)
{
	for (unsigned i = 0; i < HOSTS; i++)
		held->lid[i] = host(sim, i)->port[1].info.lid;
}

static void compare(struct sim *sim, const struct held *held)
{
	struct held now;

	note(sim, &now);
	sim_expect(sim, !memcmp(&now, held, sizeof(now)));
}

/* Triggers nothing, or an event that starts a sweep. The device disappears during this sweep. */
static void something_else(struct sim *sim)
{
	switch (sim_random(sim, 4)) {
	case 0:
		sim_reboot(sim, sim_device(sim, "spine-02"));
		break;
	case 1:
		sim_flap(sim, sim_port(sim, "leaf-03", 6), 100 * SIM_MS);
		break;
	case 2:
		sim_reboot(sim, host(sim, 5));
		break;
	}
	sim_pass(sim, sim_random(sim, 2) ? sim_random(sim, 3000) : sim_random(sim, 3 * SIM_S));
}

static bool is_master(void *ctx)
{
	return sim_state(ctx) == SM_MASTER;
}

/* Without a device the manager sends nothing. Without another manager it is MASTER again as soon as
 * it has read the fabric. All ports keep their LIDs, and if nothing changed no table is written. */
static void comes_and_goes(struct sim *sim)
{
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);
	struct held held;

	sim_settle_and_check(sim);
	note(sim, &held);
	for (unsigned i = 0; i < TIMES && !sim->failed; i++) {
		bool quiet = sim_random(sim, 2);
		uint64_t mads;

		if (!quiet)
			something_else(sim);
		sim_remove_device(manager);
		mads = manager->mads_sent;
		sim_pass(sim, sim_random(sim, AWAY_MAX_MS) * SIM_MS);
		sim_expect(sim, manager->mads_sent == mads);
		manager->lft_sets_sent = manager->mft_sets_sent = 0;
		sim_return_device(manager, manager->port);
		sim_until(sim, 10 * SIM_S, "the manager is MASTER again", is_master, manager);
		sim_settle_and_check(sim);
		sim_expect(sim, !quiet || manager->lft_sets_sent + manager->mft_sets_sent == 0);
		compare(sim, &held);
	}
}

/* A standby elsewhere takes over, and stays MASTER until a handover is requested. */
static void standby_takes_over(struct sim *sim)
{
	struct sim_manager *first = sim_start(sim, "host-0001", "sm_priority=5");
	struct sim_manager *second = sim_start(sim, "host-0017", NULL);
	struct held held;

	sim_settle_and_check(sim);
	note(sim, &held);
	sim_remove_device(first);
	sim_until(sim, 3 * SIM_S, "the standby is MASTER", is_master, second);
	sim_settle_and_check(sim);
	sim_return_device(first, first->port);
	sim_until(sim, 20 * SIM_S, "the first manager is MASTER again", is_master, first);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(second) == SM_STANDBY);
	sim_remove_device(second);
	sim_pass(sim, 5 * SIM_S);
	sim_expect(sim, sim_state(first) == SM_MASTER);
	sim_return_device(second, second->port);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_state(second) == SM_STANDBY);
	compare(sim, &held);
}

/* All ports keep their LIDs, and clients receive the new LID of the manager. */
static void other_port_takes_over(struct sim *sim)
{
	struct sim_manager *manager = sim_start(sim, "two", NULL);
	struct device_port *ports[2], *client = sim_port(sim, "b", 1);
	lid_t lids[2];

	for (unsigned i = 0; i < 2; i++)
		ports[i] = sim_port(sim, "two", 1 + i);
	sim_settle_and_check(sim);
	for (unsigned i = 0; i < 2; i++)
		lids[i] = ports[i]->info.lid;
	for (unsigned i = 0; i < TIMES && !sim->failed; i++) {
		unsigned to = (i + 1) % 2;

		sim_pass(sim, sim_random(sim, SIM_S));
		if (sim_random(sim, 2))
			sim_link(sim, ports[!to], false);
		sim_remove_device(manager);
		sim_pass(sim, sim_random(sim, 1000) * SIM_MS);
		sim_return_device(manager, ports[to]);
		sim_until(sim, 10 * SIM_S, "the manager is MASTER", is_master, manager);
		sim_settle(sim, 60 * SIM_S); /* no link: IsSM stays set for now */
		sim_expect(sim, client->info.master_sm_lid == lids[to]);
		sim_link(sim, ports[!to], true);
		sim_settle_and_check(sim);
		for (unsigned n = 0; n < 2; n++)
			sim_expect(sim, ports[n]->info.lid == lids[n]);
	}
}

const struct scenario sim_device_scenarios[] = {
	{.name = "device-gone", .topology = TREE, .play = comes_and_goes},
	{.name = "device-standby", .topology = TREE, .play = standby_takes_over},
	{.name = "device-other-port", .topology = two_ports, .play = other_port_takes_over},
	{.name = NULL},
};
