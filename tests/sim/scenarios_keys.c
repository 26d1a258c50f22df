/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys: fabrics whose agents answer nothing without the key (protection level 2), in all
 * situations of a manager. At the end of each scenario every port has its correct key, and nothing
 * was lost.
 */
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "tests/sim/sim.h"

#define TREE "fattree:radix=8,levels=2"
#define LARGE "fattree:radix=36,levels=2" /* 648 hosts */

#define SUBNET "m_key_mode=\"subnet\" m_key=0x1234"
#define PORT "m_key_mode=\"port\""
#define FOLLOWS(own) " ha_listen=\"" own "\" ha_peers=\"host-0001,host-0017,host-0300\""

enum { SECRET = 1, NEWER_SECRET = 2, FOREIGN_KEY = 0x7777 };

/* As if they were read from a file. Each number is the first byte of a secret; 0: no secret. */
static void give_secrets(struct sim_manager *manager, uint8_t first, uint8_t second)
{
	struct sm_options *options = &manager->conf.sm;

	memset(options->secret, 0, sizeof(options->secret));
	options->secret[0][0] = first;
	options->secret[1][0] = second;
	options->num_secrets = second ? 2 : 1;
	if (manager->manager)
		manager_set_conf(manager->manager, &manager->conf);
}

static void give_key(struct sim_manager *manager, uint64_t key)
{
	manager->conf.sm.m_key = key;
	manager_set_conf(manager->manager, &manager->conf);
}

static struct device_port *end_port(struct device *device)
{
	return &device->port[device_is_switch(device) ? 0 : 1];
}

/* Counts ports without a key, or with another key if key is not 0, or with another protection
 * level. */
static unsigned count_open(struct sim *sim, uint64_t key)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned open = 0;

	for (size_t i = 0; i < count; i++) {
		const struct port_info *info = &end_port(devices[i])->info;

		open += info->m_key_protect_bits != 2 || !info->m_key ||
			(key && info->m_key != key);
	}
	return open;
}

/* The number of pairs of ports with the same key. */
static unsigned count_same(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned same = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++)
			same += end_port(devices[i])->info.m_key ==
				end_port(devices[j])->info.m_key;
	}
	return same;
}

static unsigned violations(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned all = 0;

	for (size_t i = 0; i < count; i++)
		all += end_port(devices[i])->info.m_key_violations;
	return all;
}

static struct sim_manager *up_with(struct sim *sim, const char *options, bool keeping)
{
	struct sim_manager *manager = keeping ? sim_start_keeping(sim, "host-0001", options)
					      : sim_start(sim, "host-0001", options);

	give_secrets(manager, SECRET, 0);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0) == 0);
	return manager;
}

/* Bring-up, and a second start with the key alone. No manager uses a wrong key. */
static void subnet_key(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, SUBNET, false);

	sim_expect(sim, count_open(sim, 0x1234) == 0);
	sim_kill(manager);
	sim_restart(manager);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0x1234) == 0);
	sim_expect(sim, violations(sim) == 0);
}

/* With the keys in the store, a restart reads every port at once. */
static void port_keys(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT, true);

	sim_expect(sim, count_same(sim) == 0);
	sim_kill(manager);
	sim_pass(sim, SIM_S);
	manager->sets_sent = manager->lft_sets_sent = 0;
	sim_restart(manager);
	sim_settle_and_check(sim);
	sim_expect(sim, manager->lft_sets_sent == 0);
	sim_expect(sim, count_open(sim, 0) == 0);
	sim_expect(sim, violations(sim) == 0);
}

/* A host that was reset has lost its key, and gets it again. A link flap takes no key away. */
static void reset_and_bounce(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT, true);

	sim_reboot(sim, sim_device(sim, "host-0007"));
	sim_reboot(sim, sim_device(sim, "leaf-03"));
	sim_flap(sim, sim_port(sim, "host-0009", 1), 50 * SIM_MS);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0) == 0);
	sim_expect(sim, sim_running(manager));
}

/* Another key for all ports, with losses: some answers to Sets that changed a key are lost. The
 * manager is killed during the change. */
static void rotation(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, SUBNET, true);

	sim_faults(sim, &(struct world_faults){.drop_ppm = 50000});
	give_key(manager, 0x5678);
	sim_pass(sim, 30 * SIM_S);
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0x5678) == 0);
	give_key(manager, 0x9abc);
	sim_pass(sim, 3 * SIM_MS);
	sim_kill(manager);
	sim_expect(sim, count_open(sim, 0x5678) != 0 || count_open(sim, 0x9abc) != 0);
	sim_restart(manager);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0x9abc) == 0);
}

/* Another secret, with the previous secret on the line after it. */
static void port_rotation(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT, true);
	uint64_t before = end_port(sim_device(sim, "host-0004"))->info.m_key;

	give_secrets(manager, NEWER_SECRET, SECRET);
	sim_settle_and_check(sim);
	sim_expect(sim, end_port(sim_device(sim, "host-0004"))->info.m_key != before);
	sim_expect(sim, count_same(sim) == 0 && count_open(sim, 0) == 0);
	/* No keys at all. */
	manager->conf.sm.m_key_mode = M_KEY_NONE;
	manager_set_conf(manager->manager, &manager->conf);
	sim_settle_and_check(sim);
	sim_expect(sim, end_port(sim_device(sim, "host-0004"))->info.m_key == 0);
	sim_expect(sim, end_port(sim_device(sim, "leaf-02"))->info.m_key == 0);
}

static void failover(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, SUBNET, false), *standby;

	standby = sim_start(sim, "host-0020", SUBNET);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(standby) == SM_STANDBY);
	sim_kill(manager);
	standby->lft_sets_sent = 0;
	sim_settle_and_check(sim);
	sim_expect(sim, sim_master(sim) == standby);
	sim_expect(sim, standby->lft_sets_sent == 0);
	sim_expect(sim, count_open(sim, 0) == 0);
}

/* Each port has its own key, and the standby has no store. It can read nothing before it has the
 * keys from the master, which it finds by ha_peers alone. Then it takes over like any standby. */
static void keys_from_the_master(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT FOLLOWS("host-0001"), true), *standby;

	standby = sim_start(sim, "host-0017", PORT FOLLOWS("host-0017"));
	give_secrets(standby, SECRET, 0);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, sim_master(sim) == manager && standby->sets_sent == 0);
	sim_expect(sim, sim_state(standby) == SM_STANDBY);
	sim_kill(manager);
	sim_settle_and_check(sim);
	sim_expect(sim, sim_master(sim) == standby && standby->lft_sets_sent == 0);
	sim_expect(sim, count_open(sim, 0) == 0);
}

/* A device has a foreign key: it stays as it is and is logged. All other devices are managed. */
static void foreign_key(struct sim *sim)
{
	struct device *host = sim_device(sim, "host-0011");
	struct port_info *info = host ? &end_port(host)->info : NULL;
	struct sim_manager *manager;

	if (!info)
		return;
	info->m_key = FOREIGN_KEY;
	info->m_key_protect_bits = 1;
	manager = sim_start(sim, "host-0001", SUBNET);
	sim_pass(sim, 120 * SIM_S);
	sim_expect(sim, info->m_key == FOREIGN_KEY && info->lid == 0);
	sim_expect(sim, count_open(sim, 0) == 1 && !manager->error);
	/* At level 0 it shows its key to any manager, and may be taken over. */
	info->m_key_protect_bits = 0;
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0x1234) == 0);
}

/* A foreign Set() */

static void count_answers(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	unsigned *answers = ctx;

	(void)from;
	(void)size;
	*answers += mad[3] == METHOD_GET_RESP;
}

/* From another host, by directed route and by LID: the agent does not answer, and sends trap 256.
 * The manager stops the lease timer that the Set() started, and finds the sender. */
static void foreign_set(struct sim *sim)
{
	const struct route_path route = {.hops = 2, .port = {0, 1, 2}};
	struct sim_manager *manager = up_with(sim, SUBNET " m_key_lease_period=2", false);
	struct device *offender = sim_device(sim, "host-0003");
	struct device *victim = sim_device(sim, "host-0002");
	struct mad_addr by_lid, directed = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct world_client *client;
	unsigned answers = 0;
	uint64_t traps, smps;

	if (!offender || !victim || sim->failed)
		return;
	client = world_attach(sim->world, offender, 1, count_answers, &answers);
	traps = world_stats(sim->world)->traps;
	smps = world_agent_smps(victim);
	subn_build(mad, METHOD_SET, ATTR_PORT_INFO, 1, 0x4711, &route, data);
	world_send(client, &directed, mad, sizeof(mad));
	sim_pass(sim, SIM_S);
	/* The foreign Set(), a TrapRepress(), and a Get() with the right key. */
	sim_expect(sim, world_agent_smps(victim) >= smps + 3);
	sim_pass(sim, 4 * SIM_S);
	by_lid = (struct mad_addr){.lid = end_port(victim)->info.lid};
	subn_build(mad, METHOD_SET, ATTR_PORT_INFO, 1, 0x4711, NULL, data);
	world_send(client, &by_lid, mad, sizeof(mad));
	sim_pass(sim, 5 * SIM_S);
	world_detach(client);
	sim_expect(sim, answers == 0);
	sim_expect(sim, end_port(victim)->info.m_key_violations == 2);
	sim_expect(sim, world_stats(sim->world)->traps >= traps + 2);
	sim_expect(sim, end_port(victim)->info.m_key_protect_bits == 2);
	sim_expect(sim, manager_m_key_violations(manager->manager,
						 device_guid(end_port(offender), 0)) == 2);
	sim_settle_and_check(sim);
}

/* Cables moved while the manager was down: the store has other positions of the devices. */
static void moved_cables(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT, true);

	sim_kill(manager);
	sim_swap_cables(sim, sim_port(sim, "host-0005", 1), sim_port(sim, "host-0018", 1));
	sim_pass(sim, SIM_S);
	sim_restart(manager);
	sim_pass(sim, 60 * SIM_S);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0) == 0);
}

/* Without a store and with a key for each port, nothing can be read. The manager does not take this
 * for an empty fabric. */
static void knows_nobody(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT, true), *other;

	other = sim_start(sim, "host-0020", PORT);
	give_secrets(other, SECRET, 0);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(other) != SM_MASTER && other->error);
	sim_expect(sim, sim_master(sim) == manager && other->sets_sent == 0);
	sim_stop(other);
	sim_settle_and_check(sim);
}

/* 648 hosts through all of this. */
static void large(struct sim *sim)
{
	struct sim_manager *manager = up_with(sim, PORT FOLLOWS("host-0001"), true), *standby;

	give_secrets(manager, NEWER_SECRET, SECRET);
	sim_settle_and_check(sim);
	sim_expect(sim, count_open(sim, 0) == 0);
	sim_kill(manager);
	sim_restart(manager);
	sim_settle_and_check(sim);
	/* A manager without a store gets all keys from the master. */
	standby = sim_start(sim, "host-0300", PORT FOLLOWS("host-0300"));
	give_secrets(standby, NEWER_SECRET, SECRET);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(standby) == SM_STANDBY);
	sim_kill(manager);
	standby->lft_sets_sent = 0;
	sim_settle_and_check(sim);
	sim_expect(sim, sim_master(sim) == standby && standby->lft_sets_sent == 0);
	sim_expect(sim, count_open(sim, 0) == 0);
}

/* Agents require their key in the TrapRepress(). With it the trap ends, and no port is taken for a
 * sender of wrong keys. */
static void trap_ends(struct sim *sim)
{
	struct device *host = sim_device(sim, "host-0003"), *leaf = sim_device(sim, "leaf-02");
	struct sim_manager *manager = up_with(sim, SUBNET " m_key_lease_period=5", false);
	uint64_t traps, mads;

	sim_pass(sim, 20 * SIM_S);
	traps = world_stats(sim->world)->traps;
	device_raise(end_port(host), TRAP_LOCAL_CHANGES);
	device_raise(end_port(leaf), TRAP_LINK_STATE);
	sim_pass(sim, 12 * SIM_S);
	sim_expect(sim, world_stats(sim->world)->traps == traps + 2);
	sim_expect(sim, violations(sim) == 0);
	/* Two cables are pulled and put back. After that traffic is low. */
	sim_link(sim, sim_port(sim, "leaf-02", 5), false);
	sim_link(sim, sim_port(sim, "leaf-03", 6), false);
	sim_pass(sim, 3 * SIM_S);
	sim_link(sim, sim_port(sim, "leaf-02", 5), true);
	sim_link(sim, sim_port(sim, "leaf-03", 6), true);
	sim_pass(sim, 20 * SIM_S);
	sim_expect(sim, world_stats(sim->world)->traps <= traps + 2 + 16);
	traps = world_stats(sim->world)->traps;
	mads = manager->mads_sent;
	sim_pass(sim, 9 * SIM_S);
	sim_expect(sim, world_stats(sim->world)->traps == traps);
	sim_expect(sim, manager->mads_sent < mads + 100); /* a light sweep, and the own port */
	sim_expect(sim, violations(sim) == 0);
	sim_expect(sim, count_open(sim, 0x1234) == 0);
	sim_settle_and_check(sim);
}

const struct scenario sim_keys[] = {
	{.name = "m-key-trap-ends", .topology = TREE, .play = trap_ends},
	{.name = "m-key-of-the-subnet", .topology = TREE, .play = subnet_key},
	{.name = "m-keys-of-ports", .topology = TREE, .play = port_keys},
	{.name = "m-key-after-reset", .topology = TREE, .play = reset_and_bounce},
	{.name = "m-key-rotation", .topology = TREE, .play = rotation},
	{.name = "m-keys-of-ports-rotation", .topology = TREE, .play = port_rotation},
	{.name = "m-key-failover", .topology = TREE, .play = failover},
	{.name = "m-keys-from-the-master", .topology = TREE, .play = keys_from_the_master},
	{.name = "m-key-foreign", .topology = TREE, .play = foreign_key},
	{.name = "m-key-foreign-set", .topology = TREE, .play = foreign_set},
	{.name = "m-key-moved-cables", .topology = TREE, .play = moved_cables},
	{.name = "m-key-of-nobody", .topology = TREE, .play = knows_nobody},
	{.name = "m-keys-648-hosts", .topology = LARGE, .play = large},
	{.name = NULL},
};
