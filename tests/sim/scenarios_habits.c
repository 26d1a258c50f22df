/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Habits of real devices (sma/personality.c), one scenario for each. Two fabrics, one in which all
 * devices have the habit and one in which every second device does, come up in one sweep. After
 * that no Set() is sent, not by the readback either. No warning is logged, and all pairs reach each
 * other.
 */
#include "lib/log.h"
#include "lib/mem.h"
#include "sma/personality.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"

enum { READBACK_S = 60, ROUNDS = 3 };
#define OPTIONS "readback_interval=60"

static void count_warning(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	unsigned *warnings = ctx;

	(void)subject;
	(void)text;
	*warnings += level <= LOG_WARNING;
}

/* One device in so many has the habit, all others are truthful. Each device begins with a reset. */
static void all_behave(struct sim *sim, const char *personality, unsigned one_in)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		sim_behave(sim, devices[i], i % one_in ? "truthful" : personality);
		sim_reboot(sim, devices[i]);
	}
}

static bool has_reported(void *ctx)
{
	const struct sim_manager *manager = ctx;

	return manager->reports > 0;
}

static bool all_are_active(void *ctx)
{
	struct sim *sim = ctx;
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		for (unsigned n = 1; n <= devices[i]->num_ports; n++) {
			const struct device_port *port = &devices[i]->port[n];

			if (port->peer && port->info.port_state != PORT_ACTIVE)
				return false;
		}
	}
	return true;
}

/* The readback reads all ports several times. */
static void stays_quiet(struct sim *sim, const struct sim_manager *manager)
{
	uint64_t sets = manager->sets_sent;

	sim_pass(sim, ROUNDS * READBACK_S * SIM_S);
	sim_expect(sim, manager->sets_sent == sets);
}

/* Sets continue after the end of a sweep only if clients are notified at a limited rate. This
 * fabric is too small for that. */
static void one_sweep(struct sim *sim, struct sim_manager *manager, uint64_t limit_us)
{
	uint64_t sets;

	manager->reports = 0;
	sim_until(sim, limit_us, "the first sweep ends", has_reported, manager);
	sim_expect(sim, manager->error == 0);
	sim_expect(sim, all_are_active(sim));
	sets = manager->sets_sent;
	sim_settle_and_check(sim);
	sim_expect(sim, manager->sets_sent == sets);
	stays_quiet(sim, manager);
}

static void comes_up_within(struct sim *sim, const char *personality, uint64_t limit_us)
{
	struct sim_manager *manager = NULL;
	unsigned warnings = 0;

	log_watch(count_warning, &warnings);
	for (unsigned one_in = 1; one_in <= 2; one_in++) {
		all_behave(sim, personality, one_in);
		sim_pass(sim, SIM_S);
		if (manager)
			sim_restart(manager);
		else
			manager = sim_start(sim, "host-0001", OPTIONS);
		one_sweep(sim, manager, limit_us);
		sim_expect(sim, warnings == 0);
		sim_stop(manager);
	}
	log_watch(NULL, NULL);
}

static void truthful(struct sim *sim)
{
	comes_up_within(sim, "truthful", SIM_S);
}

static void late_state(struct sim *sim)
{
	comes_up_within(sim, "late-state", SIM_S);
}

static void later_state(struct sim *sim)
{
	comes_up_within(sim, "later-state", 3 * SIM_S);
}

static void strict_state(struct sim *sim)
{
	comes_up_within(sim, "strict-state", SIM_S);
}

static void no_bit_31(struct sim *sim)
{
	comes_up_within(sim, "no-bit-31", SIM_S);
}

static void no_extended_speeds(struct sim *sim)
{
	comes_up_within(sim, "no-extended-speeds", SIM_S);
}

static void bare_port0(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++)
		devices[i]->sw.enhanced_port0 = device_is_switch(devices[i]);
	comes_up_within(sim, "bare-port0", SIM_S);
}

static void restless(struct sim *sim)
{
	comes_up_within(sim, "restless", SIM_S);
}

/* One host in eight is busy, but not the manager's own, because the kernel calls its agent
 * directly. After the first sweep the other hosts are up as if none were busy. A second or third
 * sweep brings up the rest, and a heavy sweep loses none of them. */
static bool is_busy_one(size_t number, const struct device *device)
{
	return number % 8 == 1 && !device_is_switch(device);
}

static bool idle_ones_are_active(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		if (!device_is_switch(devices[i]) && !is_busy_one(i, devices[i]) &&
		    devices[i]->port[1].info.port_state != PORT_ACTIVE)
			return false;
	}
	return true;
}

static void busy_driver(struct sim *sim)
{
	enum { SWEEPS = 3, WARNINGS_EACH = 2 };
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned warnings = 0, busy = 0;
	struct sim_manager *manager;

	for (size_t i = 0; i < count; i++) {
		if (!is_busy_one(i, devices[i]))
			continue;
		sim_behave(sim, devices[i], "busy-driver");
		busy++;
	}
	log_watch(count_warning, &warnings);
	manager = sim_start(sim, "host-0001", OPTIONS);
	sim_until(sim, 100 * SIM_MS, "the first sweep ends", has_reported, manager);
	sim_expect(sim, idle_ones_are_active(sim));
	sim_until(sim, 12 * SIM_S, "all links are ACTIVE", all_are_active, sim);
	sim_expect(sim, manager->reports < SWEEPS);
	sim_settle_and_check(sim);
	stays_quiet(sim, manager);
	sim_expect(sim, busy && warnings <= busy * WARNINGS_EACH);
	log_watch(NULL, NULL);
}

/* All hosts but the manager's own take 20 to 40 ms for an SMP, behind one switch or two. They are
 * queried at the same time. The earlier answer of the switch does not mean that it forwards SMPs
 * slowly. */
static void slow_hosts(struct sim *sim)
{
	enum { SERVICE_US = 20000 };
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	struct sim_manager *manager;

	for (size_t i = 0; i < count; i++) {
		if (device_is_switch(devices[i]) || devices[i] == sim_device(sim, "host-0001"))
			continue;
		devices[i]->quirks.service_us = SERVICE_US;
		devices[i]->quirks.service_spread_us = SERVICE_US;
	}
	manager = sim_start(sim, "host-0001", OPTIONS);
	sim_until(sim, 1200 * SIM_MS, "the first sweep ends", has_reported, manager);
	sim_expect(sim, all_are_active(sim));
}

/* A spine and all hosts but the manager's own are switched on one after another. Losses of a link
 * during its start are no reason to hold it down. All links are ACTIVE soon after the last link is
 * stable. */
static void bouncing_links(struct sim *sim)
{
	enum { APART_MS = 70, TRAINING_S = 3, BOUNCES = 2, BOUNCE_MS = 200 };
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	const struct device *own = sim_device(sim, "host-0001");
	const struct device *spine = sim_device(sim, "spine-04");
	struct sim_manager *manager = sim_start(sim, "host-0001", OPTIONS);
	unsigned warnings = 0;

	log_watch(count_warning, &warnings);
	for (size_t i = 0; i < count; i++) {
		if (devices[i] == own || (device_is_switch(devices[i]) && devices[i] != spine))
			continue;
		sim_behave(sim, devices[i], "bouncing-links");
		sim_reboot(sim, devices[i]);
		sim_pass(sim, APART_MS * SIM_MS);
	}
	sim_until(sim, (BOUNCES + 1) * TRAINING_S * SIM_S + BOUNCES * BOUNCE_MS * SIM_MS + SIM_S,
		  "all links are ACTIVE", all_are_active, sim);
	sim_settle_and_check(sim);
	stays_quiet(sim, manager);
	sim_expect(sim, warnings == 0);
	log_watch(NULL, NULL);
}

static void wild_top(struct sim *sim)
{
	comes_up_within(sim, "wild-top", SIM_S);
}

static void wild_top_refused(struct sim *sim)
{
	comes_up_within(sim, "wild-top-refused", SIM_S);
}

static void port_255_refused(struct sim *sim)
{
	comes_up_within(sim, "port-255-refused", SIM_S);
}

static void port_255_ignored(struct sim *sim)
{
	comes_up_within(sim, "port-255-ignored", SIM_S);
}

static void clamping(struct sim *sim)
{
	comes_up_within(sim, "clamping", SIM_S);
}

const struct scenario sim_habits[] = {
	{.name = "habit-truthful", .topology = TREE, .play = truthful},
	{.name = "habit-late-state", .topology = TREE, .play = late_state},
	{.name = "habit-later-state", .topology = TREE, .play = later_state},
	{.name = "habit-strict-state", .topology = TREE, .play = strict_state},
	{.name = "habit-no-bit-31", .topology = TREE, .play = no_bit_31},
	{.name = "habit-no-extended-speeds", .topology = TREE, .play = no_extended_speeds},
	{.name = "habit-bare-port0", .topology = TREE, .play = bare_port0},
	{.name = "habit-restless", .topology = TREE, .play = restless},
	{.name = "habit-bouncing-links", .topology = TREE, .play = bouncing_links},
	{.name = "habit-busy-driver", .topology = TREE, .play = busy_driver},
	{.name = "slow-hosts-one-switch", .topology = "single:hosts=24", .play = slow_hosts},
	{.name = "slow-hosts-two-switches",
	 .topology = "ring:switches=2,hosts=12",
	 .play = slow_hosts},
	{.name = "habit-wild-top", .topology = TREE, .play = wild_top},
	{.name = "habit-wild-top-refused", .topology = TREE, .play = wild_top_refused},
	{.name = "habit-port-255-refused", .topology = TREE, .play = port_255_refused},
	{.name = "habit-port-255-ignored", .topology = TREE, .play = port_255_ignored},
	{.name = "habit-clamping", .topology = TREE, .play = clamping},
	{.name = NULL},
};
