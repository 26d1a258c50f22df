/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Scenarios for the window (mad/window.h): devices that answer with garbage, late, twice or never,
 * losses on one link and everywhere, and the time of a bring-up. Agents take 80 us for an SMP and
 * queue four more. A hop takes 1 us. The manager's port needs 5 us for each MAD that it sends:
 * without that no lower bound would hold. The figures are printed in lines that begin with "#".
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/mem.h"
#include "tests/sim/grid.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"
#define TREE_128 "fattree:radix=8,levels=3"
#define TREE_3456 "fattree:radix=24,levels=3"
#define TREE_11664 "fattree:radix=36,levels=3"

enum { AGENT_US = 80, SEND_US = 5, UP_WITHIN_S = 60 };

static const struct world_options slow_agents = {.smp_us = AGENT_US,
						 .hop_ns = 1000,
						 .vl15_depth = 4,
						 .send_us = SEND_US,
						 .training_us = 20000};

/* Whether every link is ACTIVE, except those of this device and this cable. */
static bool is_up(const struct sim *sim, const struct device *without,
		  const struct device_port *cable)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		for (unsigned p = 1; p <= devices[i]->num_ports; p++) {
			const struct device_port *port = &devices[i]->port[p];

			if (!port->peer || (cable && port == cable) || port->peer == cable ||
			    port->device == without || port->peer->device == without)
				continue;
			if (port->info.port_state != PORT_ACTIVE)
				return false;
		}
	}
	return true;
}

/* From the start of the manager until it has reported, and all links that can be up are ACTIVE. */
static uint64_t bring_up_us(struct sim *sim, const char *host, const struct device *without,
			    const struct device_port *cable)
{
	const struct sim_manager *manager = sim_start(sim, host, NULL);
	uint64_t began_us = sim_now_us(sim);

	while (!sim->failed && !sim->stopped && !(manager->reports && is_up(sim, without, cable))) {
		sim_pass(sim, SIM_MS);
		if (sim_now_us(sim) > began_us + UP_WITHIN_S * SIM_S)
			sim_fail(sim, "not up within %d s", UP_WITHIN_S);
	}
	return sim_now_us(sim) - began_us;
}

static uint64_t quiet_us(const struct sim_run *as, const char *topology)
{
	struct sim_run run = {.seed = as->seed};
	struct sim *sim = sim_new(topology, &slow_agents, &run);
	uint64_t us = bring_up_us(sim, "host-0001", NULL, NULL);

	sim_free(sim);
	return us;
}

/* percent: of the time that the same bring-up takes without faults. The second run is the last
 * action of a scenario. */
static void expect_within(struct sim *sim, const char *topology, uint64_t us, unsigned percent)
{
	uint64_t quiet = sim->failed || sim->stopped ? 0 : quiet_us(&sim->run, topology);

	if (!quiet)
		return;
	printf("# %" PRIu64 " us, without faults %" PRIu64 " us: %" PRIu64 " %%, at most %u %%\n",
	       us, quiet, us * 100 / quiet, percent);
	sim_expect(sim, us * 100 <= quiet * percent);
}

/* Answers */

static void disturbed(struct sim *sim, const struct world_faults *faults)
{
	sim_faults(sim, faults);
	bring_up_us(sim, "host-0001", NULL, NULL);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

static void garbage(struct sim *sim)
{
	disturbed(sim, &(struct world_faults){.garble_ppm = 50000});
	sim_expect(sim, world_stats(sim->world)->garbled > 0);
}

/* Later than any time-out of a first attempt. */
static void late(struct sim *sim)
{
	disturbed(sim, &(struct world_faults){.delay_ppm = 200000, .delay_us = 100000});
	sim_expect(sim, world_stats(sim->world)->delayed > 0);
}

static void twice(struct sim *sim)
{
	disturbed(sim, &(struct world_faults){.duplicate_ppm = 300000});
	sim_expect(sim, world_stats(sim->world)->duplicated > 0);
}

/* A switch and a host take longer for each answer than all other devices together for a whole pass.
 * They are found, and the heavy sweep of sim_check() does not lose them again. */
static void slow_agents_stay(struct sim *sim)
{
	sim_device(sim, "leaf-p02-02")->quirks.service_us = 30000;
	sim_device(sim, "host-0082")->quirks.service_us = 30000;
	sim_start(sim, "host-0001", NULL);
	sim_settle_and_check(sim);
	sim_expect(sim, is_up(sim, NULL, NULL));
}

/* They take half a second, and answers after a time-out are dropped. All other devices come up as
 * fast as without them, and the slow devices are found and kept. */
static void half_a_second(struct sim *sim)
{
	struct device *leaf = sim_device(sim, "leaf-03"), *spine = sim_device(sim, "spine-02");
	struct device *host = sim_device(sim, "host-0030");
	struct sim_manager *manager;
	uint64_t sets;

	leaf->quirks.service_us = spine->quirks.service_us = host->quirks.service_us = 500000;
	manager = sim_start(sim, "host-0001", "sweep_interval=30");
	sim_pass(sim, 400 * SIM_S);
	sim_expect(sim, manager->error == 0);
	sim_expect(sim, is_up(sim, NULL, NULL));
	sim_pass(sim, 100 * SIM_S);
	sets = manager->sets_sent;
	manager_set_conf(manager->manager, &manager->conf); /* a heavy sweep */
	sim_pass(sim, 100 * SIM_S);
	sim_expect(sim, is_up(sim, NULL, NULL) && manager->sets_sent == sets);
	leaf->quirks.service_us = spine->quirks.service_us = host->quirks.service_us = 0;
	sim_settle_and_check(sim);
}

/* A device that has never answered may only be slow, so the manager waits for it from time to time,
 * but not while anything changes elsewhere. */
static void dead_delays_nobody(struct sim *sim)
{
	enum { TIMES = 40, STEP_MS = 730, ANSWER_MS = 400 };
	struct sim_manager *manager;

	sim_silence(sim, sim_device(sim, "leaf-03"), true);
	sim_silence(sim, sim_device(sim, "host-0030"), true);
	manager = sim_start(sim, "host-0001", "flap_hold_max=0");
	sim_pass(sim, 100 * SIM_S);
	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t sets = manager->lft_sets_sent;

		sim_link(sim, sim_port(sim, "leaf-05", 5 + i / 2 % 4), i % 2);
		sim_pass(sim, ANSWER_MS * SIM_MS);
		sim_expect(sim, manager->lft_sets_sent > sets);
		sim_pass(sim, 2 * SIM_S + i * STEP_MS * SIM_MS);
	}
	sim_silence(sim, sim_device(sim, "leaf-03"), false);
	sim_silence(sim, sim_device(sim, "host-0030"), false);
	sim_settle_and_check(sim);
}

/* A host and a switch do not answer at first. Later they do. */
static void never(struct sim *sim)
{
	struct device *host = sim_device(sim, "host-0032"), *leaf = sim_device(sim, "leaf-03");
	struct device_port *cable = sim_port(sim, "host-0032", 1);

	sim_silence(sim, host, true);
	sim_silence(sim, leaf, true);
	bring_up_us(sim, "host-0001", leaf, cable);
	sim_silence(sim, host, false);
	sim_silence(sim, leaf, false);
	sim_settle_and_check(sim);
}

/* Every answer of one switch takes longer than any answer of the others. */
static void slow_switch(struct sim *sim)
{
	const struct world_faults slow = {.delay_ppm = 1000000, .delay_us = 40000};

	world_set_faults(sim->world, sim_device(sim, "spine-02"), &slow);
	bring_up_us(sim, "host-0001", NULL, NULL);
	sim_settle_and_check(sim);
	sim_expect(sim, sim->managers[0].error == 0);
}

/* Losses */

/* The other devices lose nothing, and their requests do not wait. */
static void one_lossy(struct sim *sim)
{
	struct device *leaf = sim_device(sim, "leaf-p03-03");

	sim_lossy(sim, leaf, 300000);
	bring_up_us(sim, "host-0001", NULL, NULL);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

static void several_lossy(struct sim *sim)
{
	static const char *const names[] = {"leaf-p01-01", "agg-p02-02", "core-05", "host-0077"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		sim_lossy(sim, sim_device(sim, names[i]), 200000);
	bring_up_us(sim, "host-0001", NULL, NULL);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

/* The cable behind the manager's switch has lost all packets of one direction from the beginning.
 * The devices behind it are reached over the other spines, without delay. */
static void link_eats(struct sim *sim)
{
	struct device_port *eater = sim_port(sim, "leaf-01", 5);

	sim_eat(sim, eater);
	sim_expect(sim, bring_up_us(sim, "host-0001", NULL, eater) < 1 * SIM_S);
	sim_eat(sim, NULL);
	sim_settle_and_check(sim);
}

/* The loss begins when all links are up, so the tree of directed routes still uses the cable. A
 * switch behind it is read and written by other routes. */
static void link_begins_to_eat(struct sim *sim)
{
	struct device_port *eater = sim_port(sim, "leaf-01", 5), *flapped;

	bring_up_us(sim, "host-0001", NULL, NULL);
	sim_settle(sim, 60 * SIM_S);
	if (!eater)
		return;
	flapped = device_port(eater->peer->device, 3);
	sim_eat(sim, eater);
	sim_flap(sim, flapped, 100 * SIM_MS);
	sim_pass(sim, 3 * SIM_S);
	sim_expect(sim, flapped->info.port_state == PORT_ACTIVE);
	sim_eat(sim, NULL);
	sim_settle_and_check(sim);
}

/* Time of a bring-up */

static void dead_leaf(struct sim *sim)
{
	struct device *dead = sim_device(sim, "leaf-p03-03");

	sim_silence(sim, dead, true);
	expect_within(sim, TREE_3456, bring_up_us(sim, "host-0001", dead, NULL), 105);
}

static void dead_core(struct sim *sim)
{
	struct device *dead = sim_device(sim, "core-072");

	sim_silence(sim, dead, true);
	expect_within(sim, TREE_3456, bring_up_us(sim, "host-0001", dead, NULL), 105);
}

/* The window stays wide here: random losses do not cease when it is narrow. When a tenth or a
 * twentieth of losses in a round halved it, this bring-up took as long as now.
 *
 * A lost SMP holds one of the kernel's 128 places until its time-out, so the shortest time-out
 * (smp_timeout_min) decides. With 10 % losses the median of 21 seeds is 4.4 s, and 3 s with
 * smp_timeout_min=5. If a switch loses all attempts by chance it takes up to 12 s, because weftd
 * then identifies every switch before it writes. */
static void loss_everywhere(struct sim *sim)
{
	sim_faults(sim, &(struct world_faults){.drop_ppm = 50000});
	expect_within(sim, TREE_3456, bring_up_us(sim, "host-0001", NULL, NULL), 200);
}

static uint64_t busiest_agent(const struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t smps = world_agent_smps(devices[i]);

		most = smps > most ? smps : most;
	}
	return most;
}

static void within_twice_the_floor(struct sim *sim, const char *host)
{
	uint64_t us = bring_up_us(sim, host, NULL, NULL), busiest = busiest_agent(sim);
	uint64_t sent = sim->managers[0].mads_sent;
	uint64_t floor_us =
		busiest * AGENT_US > sent * SEND_US ? busiest * AGENT_US : sent * SEND_US;

	printf("# %" PRIu64 " us, floor %" PRIu64 " us (%" PRIu64 " SMPs, %" PRIu64
	       " at the busiest agent): %" PRIu64 " %%\n",
	       us, floor_us, sent, busiest, us * 100 / floor_us);
	sim_expect(sim, us <= 2 * floor_us);
	sim_expect(sim, world_stats(sim->world)->dropped_vl15 == 0);
}

static void bring_up_3456(struct sim *sim)
{
	within_twice_the_floor(sim, "host-0001");
}

static void bring_up_11664(struct sim *sim)
{
	within_twice_the_floor(sim, "host-00001");
}

/* In a torus, and with parallel cables, many SMPs reach an agent at once over several cables. */
static void no_overflow(struct sim *sim)
{
	bring_up_us(sim, "host-0001", NULL, NULL);
	sim_expect(sim, world_stats(sim->world)->dropped_vl15 == 0);
	sim_check(sim);
}

/* Switches need time for each SMP that passes: cells of the grid (grid.h). A window that narrows
 * only after losses fails in each of them. */
static void congested(struct sim *sim)
{
	static const struct grid_cell cells[] = {
		{.hosts = 128, .transit_us = 50, .depth = 4, .agent_us = 50},
		{.hosts = 128, .transit_us = 50, .depth = 8, .agent_us = 500},
		{.hosts = 128, .transit_us = 200, .depth = 4, .agent_us = 50},
		{.hosts = 128, .transit_us = 200, .depth = 16, .agent_us = 500},
		{.hosts = 128, .transit_us = 1000, .depth = 4, .agent_us = 500},
		{.hosts = 128, .transit_us = 1000, .depth = 8, .agent_us = 50},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct grid_verdict verdict = grid_judge(&cells[i], sim->run.seed, sim->run.seed);

		printf("# transit %u us, depth %u, agent %u us: %.3f s, best fixed window %.3f s, "
		       "%.2f %% sent again\n",
		       cells[i].transit_us, cells[i].depth, cells[i].agent_us, verdict.own.seconds,
		       verdict.best.seconds, 100 * verdict.own.again);
		sim_expect(sim, !verdict.slow);
		sim_expect(sim, !verdict.again);
		sim_expect(sim, !verdict.errors);
	}
}

/* The same with losses: they show nothing about queues, and do not narrow the window. */
static void congested_and_lossy(struct sim *sim)
{
	static const struct grid_cell cells[] = {
		{.hosts = 128, .transit_us = 200, .depth = 8, .agent_us = 50, .loss_percent = 1},
		{.hosts = 128, .transit_us = 1000, .depth = 4, .agent_us = 50, .loss_percent = 5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct grid_verdict verdict =
			grid_judge(&cells[i], sim->run.seed, sim->run.seed + 4);

		sim_expect(sim, !verdict.slow);
		sim_expect(sim, !verdict.errors);
	}
}

#define ROW(NAME, TOPOLOGY, PLAY)                                                             \
	{                                                                                     \
		.name = (NAME), .topology = (TOPOLOGY), .world = &slow_agents, .play = (PLAY) \
	}

const struct scenario sim_window[] = {
	ROW("answers-garbage", TREE, garbage),
	ROW("answers-late", TREE, late),
	ROW("answers-twice", TREE, twice),
	ROW("answers-never", TREE, never),
	ROW("answers-slowly", TREE, slow_switch),
	ROW("slow-agents-stay", TREE_128, slow_agents_stay),
	ROW("half-a-second", TREE, half_a_second),
	ROW("dead-delays-nobody", TREE, dead_delays_nobody),
	ROW("one-lossy", TREE_128, one_lossy),
	ROW("several-lossy", TREE_128, several_lossy),
	ROW("link-eats", TREE, link_eats),
	ROW("link-begins-to-eat", TREE, link_begins_to_eat),
	ROW("no-overflow-torus", "torus:dims=8x8x2,hosts=8", no_overflow),
	ROW("no-overflow-fattree", "fattree:radix=36,levels=2", no_overflow),
	ROW("congested", "single:hosts=2", congested),
	ROW("congested-and-lossy", "single:hosts=2", congested_and_lossy),
	ROW("dead-leaf-3456", TREE_3456, dead_leaf),
	ROW("dead-core-3456", TREE_3456, dead_core),
	ROW("loss-3456", TREE_3456, loss_everywhere),
	ROW("bring-up-3456", TREE_3456, bring_up_3456),
	ROW("bring-up-11664", TREE_11664, bring_up_11664),
	{.name = NULL},
};
