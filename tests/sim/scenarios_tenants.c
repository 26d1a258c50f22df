/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Partitions: after any faults and changes of the file, each port has the P_Keys that the file
 * gives, its switch enforces them, and no write remains. Port GUIDs follow from the topology, so
 * the files name them by ranges.
 */
#include <string.h>

#include "formats/partitions.h"
#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sa/record.h"
#include "sm/context.h"
#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"
#include "weftd/manager.h"

#define TREE "fattree:radix=8,levels=2"

enum { RED = 1 };

/* Some ports are in no partition, some in several, and some alone in a partition. */
static const char *const files[] = {
	("Default=0x7fff, ipoib: ALL=limited, SELF=full;\n"
	 "red=0x1, ipoib: 0x0277656601000101-0x0277656601000f01=full;\n"
	 "blue=0x2: 0x0277656601000901-0x0277656601001f01=full, 0x0277656601000a01=limited;\n"),
	("Default=0x7fff, ipoib: ALL=full;\n"
	 "red=0x1, indx0: 0x0277656601000301-0x0277656601001f01;\n"
	 "green=0x3: ALL_CAS=limited, 0x0277656601000201=full;\n"),
	("blue=0x2: 0x0277656601000901=full;\n"
	 "grey=0x4: ALL_SWITCHES=full, SELF=full;\n"),
};

static struct sim_manager *up(struct sim *sim)
{
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);

	sim_partitions(manager, files[0]);
	sim_settle_and_check(sim);
	return manager;
}

static void files_change(struct sim *sim)
{
	struct sim_manager *manager = up(sim);

	for (unsigned i = 1; i <= ARRAY_SIZE(files); i++) {
		sim_partitions(manager, files[i % ARRAY_SIZE(files)]);
		sim_settle_and_check(sim);
	}
}

/* Hosts and switches lose their tables, also while these are written. */
static void reboots(struct sim *sim)
{
	static const char *const nodes[] = {"host-0010", "leaf-03", "spine-02", "leaf-01"};
	static const struct world_faults loss = {.drop_ppm = 50000};
	struct sim_manager *manager = up(sim);

	sim_faults(sim, &loss);
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(nodes); i++) {
		sim_reboot(sim, sim_device(sim, nodes[i % ARRAY_SIZE(nodes)]));
		sim_pass(sim, sim_random(sim, 3000) * SIM_MS);
		sim_partitions(manager, files[sim_random(sim, ARRAY_SIZE(files))]);
		sim_pass(sim, sim_random(sim, 3000) * SIM_MS);
	}
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
}

/* A table without an answer is read again by sweeps that have no other work. Until it is known, the
 * membership of the host is unchanged. */
static void asked_again(struct sim *sim)
{
	struct device *host = sim_device(sim, "host-0011");
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);

	host->quirks.hides_p_keys = true;
	sim_partitions(manager, files[0]);
	sim_pass(sim, 60 * SIM_S);
	host->quirks.hides_p_keys = false;
	sim_settle_and_check(sim);
}

/* While its table is unknown a host is a member of no partition. It is a member again as soon as
 * the table is known. */
static void hidden_later(struct sim *sim)
{
	enum { DEFAULT_GROUP = TENANT_GROUPS - 1 };
	struct device *host = sim_device(sim, "host-0011");
	const struct device_port *port = sim_port(sim, "host-0011", 1);
	struct sim_manager *manager = sim_start(sim, "host-0001", NULL);

	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, tenant_joins(manager, port, DEFAULT_GROUP));
	sim_expect(sim, tenant_leaves(manager, port, DEFAULT_GROUP));
	host->quirks.hides_p_keys = true;
	trigger_heavy(&manager_sm(manager->manager)->trigger, "test");
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, !tenant_joins(manager, port, DEFAULT_GROUP));
	host->quirks.hides_p_keys = false;
	sim_pass(sim, 20 * SIM_S); /* the longest pause between two sweeps with errors */
	sim_expect(sim, tenant_joins(manager, port, DEFAULT_GROUP));
	sim_settle_and_check(sim);
}

static bool enforces(const struct device *leaf, unsigned hosts)
{
	for (unsigned i = 1; i <= hosts; i++)
		if (!leaf->port[i].info.partition_enforcement_inbound ||
		    !leaf->port[i].info.partition_enforcement_outbound)
			return false;
	return true;
}

/* A leaf that refuses tables separates its hosts by its present tables during all changes. It
 * follows as soon as it accepts tables. */
static void leaf_refuses(struct sim *sim)
{
	enum { HOSTS = 4 };
	struct device *leaf = sim_device(sim, "leaf-03");
	struct sim_manager *manager = up(sim);

	sim_expect(sim, enforces(leaf, HOSTS));
	leaf->quirks.refuses_tables = true;
	sim_link(sim, sim_port(sim, "leaf-05", 2), false); /* its LID is removed from every table */
	sim_link(sim, sim_port(sim, "spine-03", 7), false);
	sim_pass(sim, 30 * SIM_S);
	sim_partitions(manager, files[1]);
	sim_pass(sim, 10 * SIM_S);
	leaf->quirks.refuses_tables = false;
	sim_link(sim, sim_port(sim, "leaf-05", 2), true);
	for (unsigned i = 0; i < 120; i++) {
		sim_pass(sim, 10 * SIM_S);
		sim_expect(sim, enforces(leaf, HOSTS));
	}
	sim_link(sim, sim_port(sim, "spine-03", 7), true);
	sim_settle_and_check(sim);
}

/* Whether the table has the P_Key of the partition, with any membership. */
static bool holds(const struct device_port *port, pkey_t partition)
{
	for (unsigned i = 0; i < device_p_key_cap(port); i++)
		if ((device_p_key(port, i) & PKEY_DEFAULT_LIMITED) == partition)
			return true;
	return false;
}

/* One block of a host's table ignores all writes. The P_Keys to remove from other blocks are
 * removed, and new P_Keys get places in them. */
static void block_stays(struct sim *sim)
{
	enum { KEPT = 0x9, TAKEN = 0xA, FAR_OFF = PKEY_BLOCK_KEYS + 8 };
	struct device *host = sim_device(sim, "host-0010");
	struct device_port *port = &host->port[1];
	struct sim_manager *manager;

	port->p_keys = mem_array(device_p_key_cap(port), sizeof(pkey_t));
	be16_store(port->p_keys, PKEY_DEFAULT_FULL);
	be16_store(port->p_keys + sizeof(pkey_t), PKEY_FULL_MEMBER | KEPT);
	be16_store(port->p_keys + FAR_OFF * sizeof(pkey_t), PKEY_FULL_MEMBER | TAKEN);
	host->quirks.keeps_p_keys = 1;
	manager = sim_start(sim, "host-0001", NULL);
	sim_partitions(manager, files[0]);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, holds(port, KEPT) && !holds(port, TAKEN));
	sim_expect(sim, holds(port, 1) && holds(port, 2));
	sim_partitions(manager, files[2]);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, holds(port, KEPT) && !holds(port, 1));
	host->quirks.keeps_p_keys = 0;
	sim_partitions(manager, files[0]);
	sim_settle_and_check(sim);
}

/* A leaf whose tables ignore writes continues to enforce them. New P_Keys do not pass, and no
 * others pass either. */
static void leaf_keeps(struct sim *sim)
{
	enum { HOSTS = 4 };
	struct device *leaf = sim_device(sim, "leaf-03");
	struct sim_manager *manager = up(sim);

	leaf->quirks.keeps_p_keys = 1;
	for (unsigned i = 1; i <= ARRAY_SIZE(files); i++) {
		sim_partitions(manager, files[i % ARRAY_SIZE(files)]);
		sim_settle(sim, 60 * SIM_S);
		sim_expect(sim, enforces(leaf, HOSTS));
	}
	leaf->quirks.keeps_p_keys = 0;
	sim_partitions(manager, files[1]);
	sim_settle_and_check(sim);
}

/* A join to the IPoIB group of "red", which creates the group if it does not exist. */
static void ask_for_red(struct sim_manager *manager, const struct device_port *port)
{
	struct mc_member_record record = {
		.q_key = 0x0b1b, .p_key = PKEY_FULL_MEMBER | RED, .join_state = JOIN_FULL};

	ipoib_broadcast_mgid(RED, record.mgid);
	tenant_sends(manager, port, METHOD_SET, &record);
}

static unsigned memberships(struct sim_manager *manager, guid_t guid)
{
	const struct registry *registry = manager_registry(manager->manager);
	const struct member_entry key = {.port_guid = guid}, *member;
	unsigned count = 0;

	for (member = registry_first(registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key); member;
	     member = registry_next(registry, REGISTRY_MEMBER, MEMBER_BY_PORT, member))
		count++;
	return count;
}

/* A host that repeats its join while its partition is removed is not in the group at the end, and
 * the group is not created again for it. */
static void joins_while_it_is_taken(struct sim *sim)
{
	struct sim_manager *manager = up(sim);
	const struct device_port *port = &sim_device(sim, "host-0010")->port[1];

	for (unsigned round = 0; round < 5; round++) {
		ask_for_red(manager, port);
		sim_pass(sim, SIM_S);
		sim_expect(sim, memberships(manager, port->guid) == 1);
		sim_partitions(manager, files[2]);
		for (unsigned i = 0; i < 2000; i++) {
			ask_for_red(manager, port);
			sim_pass(sim, SIM_MS / 20);
		}
		sim_settle(sim, 60 * SIM_S);
		sim_expect(sim, memberships(manager, port->guid) == 0);
		sim_partitions(manager, files[0]);
		sim_settle_and_check(sim);
	}
}

/* A restarted manager finds all tables correct. A manager with another file changes them. */
static void restart(struct sim *sim)
{
	struct sim_manager *manager = up(sim);

	sim_kill(manager);
	manager->sets_sent = 0;
	sim_restart(manager);
	sim_settle_and_check(sim);
	sim_kill(manager);
	sim_partitions(manager, files[1]);
	sim_reboot(sim, sim_device(sim, "leaf-02"));
	sim_restart(manager);
	sim_settle_and_check(sim);
}

const struct scenario sim_tenants[] = {
	{.name = "partition-files-change", .topology = TREE, .play = files_change},
	{.name = "partitions-reboots", .topology = TREE, .play = reboots},
	{.name = "p-keys-asked-again", .topology = TREE, .play = asked_again},
	{.name = "p-keys-hidden-later", .topology = TREE, .play = hidden_later},
	{.name = "partitions-leaf-refuses", .topology = TREE, .play = leaf_refuses},
	{.name = "p-key-block-stays", .topology = TREE, .play = block_stays},
	{.name = "p-keys-of-a-leaf-stay", .topology = TREE, .play = leaf_keeps},
	{.name = "partitions-joins", .topology = TREE, .play = joins_while_it_is_taken},
	{.name = "partitions-restart", .topology = TREE, .play = restart},
	{.name = NULL},
};
