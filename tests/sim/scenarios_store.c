/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Managers that keep their state in a store: the state that they load after a restart, while the
 * fabric has changed.
 */
#include <string.h>

#include "lib/mem.h"
#include "sm/context.h"
#include "sm/discovery/disabled.h"
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

/* The first hosts got the LIDs, so a manager without the store would assign other LIDs. All devices
 * lose their LIDs, and the manager is killed. */
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
	/* A host that was away when the manager restarted gets its former LID, too. */
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

/* Registrations */

static struct device_port *own_port(struct device *device)
{
	return &device->port[device_is_switch(device) ? 0 : 1];
}

static uint32_t told_to_register(struct sim *sim, const char *node)
{
	struct device *device = sim_device(sim, node);

	return device ? own_port(device)->reregistrations : 0;
}

/* While the manager was down, hosts may have registered with another manager on the same port,
 * which had the same LIDs. Neither hosts nor tables would show this. So the registrations in the
 * store prove nothing, and each host is notified to register again. */
static void registers_anew(struct sim *sim)
{
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", NULL);
	uint32_t before;

	sim_settle(sim, 60 * SIM_S);
	sim_pass(sim, 15 * SIM_S);
	sim_stop(manager);
	sim_pass(sim, SIM_S);
	before = told_to_register(sim, "host-0004");
	manager->lft_sets_sent = 0;
	sim_restart(manager);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, told_to_register(sim, "host-0004") == before + 1);
	sim_expect(sim, manager->lft_sets_sent == 0);
	sim_check(sim);
	/* Once, although it is read several times. */
	sim_expect(sim, told_to_register(sim, "host-0004") == before + 1);
}

/* A host that was away may have lost its registrations or have been restarted. This host alone is
 * notified to register again. */
static void register_after_absence(struct sim *sim)
{
	struct device_port *host = sim_port(sim, "host-0004", 1);
	uint32_t before, others;

	sim_start(sim, "host-0001", "registration_grace=3");
	sim_settle(sim, 60 * SIM_S);
	before = told_to_register(sim, "host-0004");
	others = told_to_register(sim, "host-0005");
	sim_link(sim, host, false);
	sim_pass(sim, 10 * SIM_S);
	sim_link(sim, host, true);
	sim_settle_and_check(sim);
	sim_expect(sim, told_to_register(sim, "host-0004") == before + 1);
	sim_expect(sim, told_to_register(sim, "host-0005") == others);
}

/* Tables */

enum { SAMPLES = 4, IMAGE_S = 15 };

/* Makes tables of many blocks. */
#define MANY_LIDS "lmc=4"

/* Up, with a table cache that equals the tables. */
static struct sim_manager *up_with_table_cache(struct sim *sim)
{
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", MANY_LIDS);

	sim_settle(sim, 60 * SIM_S);
	sim_pass(sim, IMAGE_S * SIM_S);
	sim_kill(manager);
	sim_pass(sim, SIM_S);
	manager->lft_gets_sent = manager->lft_sets_sent = 0;
	return manager;
}

static uint64_t switches_of(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	uint64_t switches = 0;

	for (size_t i = 0; i < count; i++)
		switches += device_is_switch(devices[i]);
	return switches;
}

/* Some blocks are read, and nothing is written. */
static void table_cache_is_right(struct sim *sim)
{
	struct sim_manager *manager = up_with_table_cache(sim);

	sim_restart(manager);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, manager->lft_sets_sent == 0);
	/* Several samples of a switch may be of the same block. */
	sim_expect(sim, manager->lft_gets_sent > SAMPLES / 2 * switches_of(sim));
	sim_expect(sim, manager->lft_gets_sent <= SAMPLES * switches_of(sim));
	sim_check(sim);
}

/* Another program has written to a switch: the manager notices it, reads all tables, and restores
 * the entry. */
static void table_cache_is_wrong(struct sim *sim)
{
	struct sim_manager *manager = up_with_table_cache(sim);
	struct device *leaf = sim_device(sim, "leaf-04");

	for (lid_t lid = 1; leaf && lid <= leaf->sw.linear_fdb_top; lid++)
		leaf->lft[lid] = leaf->lft[lid] == 1 ? 2 : 1;
	sim_restart(manager);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, manager->lft_sets_sent > 0);
	sim_expect(sim, manager->lft_gets_sent > 2 * SAMPLES * switches_of(sim));
	sim_check(sim);
}

/* Lost samples make no difference to the writes. */
static void table_cache_with_losses(struct sim *sim)
{
	static const struct world_faults some = {.drop_ppm = 100000};
	struct sim_manager *manager = up_with_table_cache(sim);

	sim_faults(sim, &some);
	sim_restart(manager);
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, manager->lft_sets_sent == 0);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

/* The state of a switch before its reset is not used. */
static void table_cache_of_a_reset_switch(struct sim *sim)
{
	struct sim_manager *manager = up_with_table_cache(sim);

	sim_reboot(sim, sim_device(sim, "spine-02"));
	sim_pass(sim, SIM_S);
	sim_restart(manager);
	sim_settle_and_check(sim);
	sim_expect(sim, manager->lft_sets_sent > 0);
}

/* Another manager has written since: its writes count, and the table cache is discarded. */
static void table_cache_is_old(struct sim *sim)
{
	struct sim_manager *manager = up_with_table_cache(sim);
	struct sim_manager *other = sim_start(sim, "host-0032", MANY_LIDS);

	sim_settle(sim, 60 * SIM_S);
	sim_link(sim, sim_port(sim, "leaf-02", 5), false);
	sim_settle(sim, 60 * SIM_S);
	sim_restart(manager); /* a standby */
	sim_settle(sim, 60 * SIM_S);
	sim_kill(other);
	sim_settle_and_check(sim);
	sim_expect(sim, manager->lft_gets_sent > SAMPLES * switches_of(sim));
}

/* Ports that are disabled by command */

static void disable(struct sim_manager *manager, struct device_port *port)
{
	const struct disabled_entry entry = {.node_guid = port->device->node_guid,
					     .port = port->num};

	registry_put(manager_registry(manager->manager), REGISTRY_DISABLED, &entry);
	trigger_node(&manager_sm(manager->manager)->trigger, entry.node_guid, "test");
}

/* Whether the command may disable the port, and does not refuse it as the only path to its
 * switch. */
static bool may_disable(struct sim_manager *manager, const struct device_port *port)
{
	const struct sm *sm = manager_sm(manager->manager);
	const struct node *node = fabric_find_node(sm->fabric, port->device->node_guid);

	return disabled_leaves_way(sm->fabric, sm->registry, &node->port[port->num]);
}

/* A port of a host and one of several cables stay down, over a restart of the manager and a reboot
 * of the switch. All other hosts reach each other. The last path to the switch cannot be
 * disabled. */
static void ports_are_disabled(struct sim *sim)
{
	struct sim_manager *manager = sim_start_keeping(sim, "host-0001", NULL);
	struct device_port *host = sim_port(sim, "leaf-03", 2);
	struct device_port *cable = sim_port(sim, "leaf-03", 5);
	uint64_t sets;

	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, host->info.port_state == PORT_ACTIVE);
	sim_expect(sim, cable->info.port_state == PORT_ACTIVE);
	for (unsigned i = 5; i <= 8; i++)
		sim_expect(sim, may_disable(manager, sim_port(sim, "leaf-03", i)));
	disable(manager, host);
	disable(manager, cable);
	sim_settle_and_check(sim);
	for (unsigned step = 0; step < 3; step++) {
		sim_expect(sim, host->info.port_physical_state == PHYS_DISABLED);
		sim_expect(sim, cable->info.port_physical_state == PHYS_DISABLED);
		sim_expect(sim, cable->peer->info.port_state == PORT_DOWN);
		if (step == 0) {
			sim_kill(manager);
			sim_restart(manager);
		} else {
			sim_reboot(sim, host->device);
		}
		sim_settle_and_check(sim);
	}
	for (unsigned i = 6; i <= 7; i++) {
		sim_expect(sim, may_disable(manager, sim_port(sim, "leaf-03", i)));
		disable(manager, sim_port(sim, "leaf-03", i));
	}
	sim_expect(sim, !may_disable(manager, sim_port(sim, "leaf-03", 8)));
	sim_settle_and_check(sim);
	sets = manager->sets_sent;
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, manager->sets_sent == sets);
}

const struct scenario sim_store[] = {
	{.name = "cache-is-right", .topology = TREE, .play = table_cache_is_right},
	{.name = "cache-is-wrong", .topology = TREE, .play = table_cache_is_wrong},
	{.name = "cache-of-a-reset-switch",
	 .topology = TREE,
	 .play = table_cache_of_a_reset_switch},
	{.name = "cache-with-losses", .topology = TREE, .play = table_cache_with_losses},
	{.name = "cache-is-old", .topology = TREE, .play = table_cache_is_old},
	{.name = "registers-anew", .topology = TREE, .play = registers_anew},
	{.name = "register-after-absence", .topology = TREE, .play = register_after_absence},
	{.name = "ports-are-disabled", .topology = TREE, .play = ports_are_disabled},
	{.name = "lids-survive", .topology = TREE, .play = lids_survive},
	{.name = NULL},
};
