/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast: members join and leave by requests to the SA, and faults happen. A packet from any
 * member must reach all receivers and no other port. The watch over forests (forest.h) checks after
 * every single Set() that no loop exists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sa/record.h"
#include "sm/context.h"
#include "tests/sim/forest.h"
#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"
#include "tests/sim/trace.h"

#define TREE "fattree:radix=8,levels=2"
#define TREE3 "fattree:radix=8,levels=3"
#define TREE18 "fattree:radix=18,levels=2" /* its switches have masks of two positions */
#define FOLLOWS(own) "ha_listen=\"" own "\" ha_peers=\"host-0001,host-0017\""

/* Offsets in a MAD; SPOILED_STATUS is the lower byte of the status. */
enum { SPOILED_METHOD = 3, SPOILED_STATUS = 5 };

enum { MEMBERS_MAX = 64, GROUPS = 12, STORE_MS = 500 };

/* A group, as the scenario expects it. */
struct group {
	struct sim *sim;
	struct sim_manager *manager;
	unsigned number;
	lid_t mlid;
	const struct device_port *members[MEMBERS_MAX];
	bool sends_only[MEMBERS_MAX];
	size_t count;
};

static void ask(struct group *group, const struct device_port *port, uint8_t method,
		uint8_t join_state)
{
	struct mc_member_record record = {
		.mgid = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF},
		.q_key = 0x0b1b,
		.p_key = PKEY_DEFAULT_FULL,
		.join_state = join_state,
	};
	struct mad_header header;

	be16_store(record.mgid + 14, (uint16_t)(0x100 + group->number));
	tenant_sends(group->manager, port, method, &record);
	/* The answer comes when the join is in the store. */
	for (unsigned ms = 0; !group->manager->sa_answer[0] && ms < STORE_MS; ms++)
		sim_pass(group->sim, SIM_MS);
	header_decode(group->manager->sa_answer, &header);
	format_decode(&mc_member_record_format, group->manager->sa_answer + SUBN_ADM_HEADER_SIZE,
		      &record);
	if (header.status || !header.method)
		sim_fail(group->sim, "the SA refused a join or leave: status 0x%04x",
			 header.status);
	group->mlid = record.mlid;
}

static const struct device_port *host(struct sim *sim, unsigned number)
{
	char name[32];

	snprintf(name, sizeof(name), "host-%04u", number);
	return sim_port(sim, name, 1);
}

/* No effect for a member. */
static void join(struct group *group, unsigned number, uint8_t join_state)
{
	const struct device_port *port = host(group->sim, number);

	for (size_t i = 0; i < group->count; i++) {
		if (group->members[i] == port)
			return;
	}
	ask(group, port, METHOD_SET, join_state);
	if (group->count == MEMBERS_MAX)
		sim_fail(group->sim, "too many members");
	else
		group->sends_only[group->count] = join_state >= JOIN_SEND_ONLY_NON_MEMBER;
	group->members[group->count++] = port;
}

static void leave(struct group *group, size_t index)
{
	ask(group, group->members[index], METHOD_DELETE,
	    group->sends_only[index] ? JOIN_SEND_ONLY_FULL : JOIN_FULL);
	group->count--;
	group->members[index] = group->members[group->count];
	group->sends_only[index] = group->sends_only[group->count];
}

/* A packet of each member reaches each other receiver once, and no other port. */
static void check_group(const struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct device_port *got[MEMBERS_MAX];
		size_t reached = forest_send(group->members[i], group->mlid, got, MEMBERS_MAX);
		size_t expected = 0;

		for (size_t n = 0; n < group->count; n++) {
			size_t times = 0;

			for (size_t g = 0; g < reached && g < MEMBERS_MAX; g++)
				times += got[g] == group->members[n];
			if (n == i || group->sends_only[n])
				continue;
			expected++;
			if (times != 1)
				sim_fail(group->sim,
					 "a packet for MLID 0x%x from %s reaches %s %zu times",
					 group->mlid, trace_name(group->members[i]->device),
					 trace_name(group->members[n]->device), times);
		}
		if (reached != expected)
			sim_fail(group->sim,
				 "a packet for MLID 0x%x from %s reaches %zu ports, %zu receive",
				 group->mlid, trace_name(group->members[i]->device), reached,
				 expected);
	}
}

struct bed {
	struct sim_manager *manager;
	struct group groups[GROUPS];
};

static void check_all(struct bed *bed)
{
	for (unsigned g = 0; g < GROUPS; g++)
		check_group(&bed->groups[g]);
}

/* Groups with some members each. One of them is a send-only member. */
static void begin_groups(struct sim *sim, struct bed *bed)
{
	for (unsigned g = 0; g < GROUPS; g++) {
		struct group *group = &bed->groups[g];

		*group = (struct group){.sim = sim, .manager = bed->manager, .number = g};
		for (unsigned i = 0; i < 6; i++)
			join(group, 1 + (g * 5 + i * 7) % 32,
			     i == 3 ? JOIN_SEND_ONLY_FULL : JOIN_FULL);
	}
	sim_settle(sim, 60 * SIM_S);
	check_all(bed);
}

static void begin(struct sim *sim, struct bed *bed)
{
	bed->manager = sim_start_keeping(sim, "host-0001", NULL);
	sim_settle_and_check(sim);
	begin_groups(sim, bed);
}

static uint64_t mft_sets(const struct bed *bed)
{
	return bed->manager->mft_sets_sent;
}

/* A join costs the Sets of its branch, and so does a leave. */
static void join_and_leave(struct sim *sim)
{
	enum { BRANCH = 2 + 1 };
	unsigned changes = 0;
	uint64_t before;
	struct bed bed;

	begin(sim, &bed);
	for (unsigned g = 0; g < GROUPS; g++) {
		before = mft_sets(&bed);
		join(&bed.groups[g], 2 + (g * 5 + 40) % 31, JOIN_FULL);
		sim_settle(sim, 60 * SIM_S);
		check_all(&bed);
		sim_expect(sim, mft_sets(&bed) - before <= BRANCH);
		changes += mft_sets(&bed) > before;
	}
	sim_expect(sim, changes > GROUPS / 2);
	for (unsigned g = 0; g < GROUPS; g++) {
		before = mft_sets(&bed);
		leave(&bed.groups[g], bed.groups[g].count - 1);
		sim_settle(sim, 60 * SIM_S);
		check_all(&bed);
		sim_expect(sim, mft_sets(&bed) - before <= BRANCH);
	}
	sim_check(sim);
}

/* All members leave: no switch sends packets of the group. */
static void last_one_leaves(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	for (unsigned g = 0; g < GROUPS; g++)
		while (bed.groups[g].count)
			leave(&bed.groups[g], 0);
	sim_settle(sim, 60 * SIM_S);
	for (unsigned g = 0; g < GROUPS; g++)
		sim_expect(sim, !forest_holds(sim->world, bed.groups[g].mlid));
	sim_check(sim);
}

static void spine_is_lost(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	sim_node(sim, sim_device(sim, "spine-02"), false);
	sim_settle(sim, 60 * SIM_S);
	check_all(&bed);
	sim_node(sim, sim_device(sim, "spine-02"), true);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* Every cable of a leaf in turn is pulled and put back. */
static void links_are_lost(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	for (unsigned p = 5; p <= 8; p++) {
		struct device_port *port = sim_port(sim, "leaf-03", p);

		sim_link(sim, port, false);
		sim_settle(sim, 60 * SIM_S);
		check_all(&bed);
		if (p % 2) {
			sim_link(sim, port, true);
			sim_settle(sim, 60 * SIM_S);
			check_all(&bed);
		}
	}
	sim_check(sim);
}

static void switch_reboots(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	sim_reboot(sim, sim_device(sim, "spine-01"));
	sim_settle(sim, 60 * SIM_S);
	check_all(&bed);
	sim_reboot(sim, sim_device(sim, "leaf-02"));
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* The manager's leaf is cut off, and some groups have no member there. They have no tree until it
 * is back. */
static void all_are_away(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	for (unsigned up = 0; up < 2; up++) {
		for (unsigned p = 5; p <= 8; p++)
			sim_link(sim, sim_port(sim, "leaf-01", p), up);
		sim_pass(sim, 30 * SIM_S);
	}
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* A restarted manager finds its own tables correct, although roots depend on the order of joins. */
static void restart(struct sim *sim)
{
	uint64_t before;
	struct bed bed;

	begin(sim, &bed);
	for (unsigned g = 0; g < GROUPS; g++) {
		leave(&bed.groups[g], 0);
		join(&bed.groups[g], 2 + (g * 3 + 11) % 31, JOIN_FULL);
	}
	sim_settle_and_check(sim);
	sim_kill(bed.manager);
	sim_pass(sim, SIM_S);
	sim_restart(bed.manager);
	before = mft_sets(&bed);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, mft_sets(&bed) == before);
	sim_check(sim);
	check_all(&bed);
}

/* Many small groups, so that tables have many blocks. */
static void many_groups(struct sim *sim, struct bed *bed)
{
	enum { MANY = 400 };

	for (unsigned g = 0; g < MANY; g++) {
		struct group group = {.sim = sim, .manager = bed->manager, .number = 0x1000 + g};

		join(&group, 1 + g % 32, JOIN_FULL);
		join(&group, 1 + (g * 11 + 5) % 32, JOIN_FULL);
	}
	sim_settle(sim, 60 * SIM_S);
}

struct tables { /* of a switch, at an earlier time */
	const struct device *device;
	uint8_t *mft;
	lid_t top;
};

static size_t blocks_of_mft(const struct device *device)
{
	return (size_t)(device->sw.multicast_fdb_cap + MFT_BLOCK_LIDS - 1) / MFT_BLOCK_LIDS;
}

static size_t mft_size(const struct device *device)
{
	return (device->num_ports / MFT_POSITION_PORTS + 1) * blocks_of_mft(device) * SMP_DATA_SIZE;
}

static size_t note_tables(const struct sim *sim, struct tables **out)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices), noted = 0;
	struct tables *tables = mem_array(count, sizeof(*tables));

	for (size_t i = 0; i < count; i++) {
		if (!device_is_switch(devices[i]))
			continue;
		tables[noted] = (struct tables){.device = devices[i],
						.mft = mem_zalloc(mft_size(devices[i])),
						.top = devices[i]->sw.multicast_fdb_top};
		if (devices[i]->mft)
			memcpy(tables[noted].mft, devices[i]->mft, mft_size(devices[i]));
		noted++;
	}
	*out = tables;
	return noted;
}

/* The blocks that changed. An empty block counts when a top rises above it, because until then it
 * need not be known to be empty. */
static unsigned blocks_that_differ(const struct tables *tables)
{
	static const uint8_t nothing[SMP_DATA_SIZE];
	const struct device *device = tables->device;
	unsigned differ = 0;

	for (size_t at = 0; device->mft && at < mft_size(device); at += SMP_DATA_SIZE) {
		size_t block = at / SMP_DATA_SIZE % blocks_of_mft(device);
		lid_t first = (lid_t)(LID_MULTICAST_MIN + block * MFT_BLOCK_LIDS);

		if (memcmp(device->mft + at, tables->mft + at, SMP_DATA_SIZE) != 0)
			differ++;
		else if (memcmp(device->mft + at, nothing, SMP_DATA_SIZE) == 0)
			differ += first > tables->top && first < device->sw.multicast_fdb_top;
	}
	return differ;
}

/* A lost cable costs one Set() for each block that changes, even while forwarding tables have to be
 * written in several steps. */
static void fault_costs_what_differs(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	many_groups(sim, &bed);
	for (unsigned p = 5; p <= 7; p++) {
		uint64_t before = mft_sets(&bed);
		struct tables *tables;
		unsigned differ = 0;
		size_t count = note_tables(sim, &tables);

		sim_link(sim, sim_port(sim, "leaf-p01-02", p), false);
		sim_settle(sim, 60 * SIM_S);
		for (size_t i = 0; i < count; i++) {
			differ += blocks_that_differ(&tables[i]);
			free(tables[i].mft);
		}
		free(tables);
		sim_expect(sim, differ > 50);
		sim_expect(sim, mft_sets(&bed) - before <= differ);
	}
	sim_check(sim);
	check_all(&bed);
}

static unsigned switches_of(const struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned switches = 0;

	for (size_t i = 0; i < count; i++)
		switches += device_is_switch(devices[i]);
	return switches;
}

enum { SAMPLES = 4, IMAGE_S = 80 };

/* With a table cache, some cells of each switch are read and nothing is written. The same holds if
 * groups have changed since the table cache was written. */
static void restart_with_table_cache(struct sim *sim)
{
	uint64_t sets, gets;
	struct bed bed;

	begin(sim, &bed);
	many_groups(sim, &bed);
	for (unsigned changed = 0; changed < 2; changed++) {
		sim_pass(sim, IMAGE_S * SIM_S);
		for (unsigned g = 0; changed && g < GROUPS; g++)
			join(&bed.groups[g], 2 + (g * 3 + 11) % 31, JOIN_FULL);
		sim_pass(sim, 2 * SIM_S);
		sim_kill(bed.manager);
		sim_pass(sim, SIM_S);
		sets = mft_sets(&bed);
		gets = bed.manager->mft_gets_sent;
		sim_restart(bed.manager);
		sim_settle(sim, 60 * SIM_S);
		sim_expect(sim, mft_sets(&bed) == sets);
		sim_expect(sim, bed.manager->mft_gets_sent > gets);
		if (!changed)
			sim_expect(sim,
				   bed.manager->mft_gets_sent - gets <= SAMPLES * switches_of(sim));
		check_all(&bed);
	}
	sim_check(sim);
	check_all(&bed);
}

/* The last acknowledged join is in the store, but possibly in no switch. It is written. */
static void killed_while_joining(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	many_groups(sim, &bed);
	sim_pass(sim, IMAGE_S * SIM_S);
	for (unsigned g = 0; g < GROUPS; g++)
		join(&bed.groups[g], 2 + (g * 3 + 11) % 31, JOIN_FULL);
	sim_kill(bed.manager);
	sim_pass(sim, SIM_S);
	sim_restart(bed.manager);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* Writes of another manager are found where a sample meets them. */
static void table_cache_is_wrong(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	sim_pass(sim, IMAGE_S * SIM_S);
	sim_kill(bed.manager);
	forest_garble(sim->world, "leaf-02", bed.groups[0].mlid, 1, 5);
	forest_garble(sim->world, "spine-04", bed.groups[1].mlid, 1, 2);
	sim_restart(bed.manager);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* Changes without a trap are found and repaired within the readback interval. No other write
 * happens during this time. */
static void read_back(struct sim *sim)
{
	enum { READBACK_S = 100 };
	struct bed bed = {
		.manager = sim_start(sim, "host-0001", "readback_interval=100 sweep_interval=0")};
	uint64_t sets;

	sim_settle(sim, 60 * SIM_S);
	begin_groups(sim, &bed);
	sets = bed.manager->sets_sent;
	sim_pass(sim, 2 * READBACK_S * SIM_S);
	sim_expect(sim, bed.manager->sets_sent == sets);
	sim_expect(sim, bed.manager->mft_gets_sent >= switches_of(sim));
	forest_garble(sim->world, "leaf-02", bed.groups[0].mlid, 1, 5);
	forest_garble(sim->world, "leaf-03", 0xC01F, 2, 3); /* of no group */
	sim_pass(sim, 2 * READBACK_S * SIM_S);
	sim_expect(sim, bed.manager->sets_sent == sets + 2);
	sim_expect(sim, !forest_holds(sim->world, 0xC01F));
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* Members join and leave and cables flap while Sets and answers are lost. */
static void with_loss(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	sim_faults(sim, &(struct world_faults){.drop_ppm = 100000});
	for (unsigned round = 0; round < 4; round++) {
		struct device_port *port = sim_port(sim, "spine-03", 1 + round);

		for (unsigned g = 0; g < GROUPS; g++) {
			join(&bed.groups[g], 2 + (g * 7 + round * 5 + 13) % 31, JOIN_FULL);
			leave(&bed.groups[g], round % bed.groups[g].count);
		}
		sim_pass(sim, 20 * SIM_MS);
		sim_link(sim, port, false);
		sim_pass(sim, 2 * SIM_S);
		sim_link(sim, port, true);
		sim_pass(sim, 2 * SIM_S);
	}
	sim_faults(sim, NULL);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* Another manager was MASTER and has written trees of its own, which are changed into the trees of
 * this manager. */
static void takeover(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	sim_kill(bed.manager);
	forest_garble(sim->world, "leaf-02", bed.groups[0].mlid, 1, 5);
	forest_garble(sim->world, "spine-04", bed.groups[1].mlid, 1, 2);
	sim_pass(sim, SIM_S);
	sim_restart(bed.manager);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* The agent of a switch with trees is dead, and a manager starts that has never read it. The switch
 * forwards as before, but its masks and the ports that lead to it are unknown. No new tree may
 * close a loop through it. */
static void beside_the_dead(struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	struct bed bed;

	begin(sim, &bed);
	for (size_t i = 0; i < count && !sim->failed; i++) {
		if (!device_is_switch(devices[i]) || devices[i] == bed.manager->port->peer->device)
			continue;
		sim_kill(bed.manager);
		sim_silence(sim, devices[i], true);
		sim_pass(sim, SIM_S);
		sim_restart(bed.manager);
		sim_settle(sim, 60 * SIM_S);
		sim_silence(sim, devices[i], false);
		sim_settle_and_check(sim);
		check_all(&bed);
	}
}

/* Interferes with one SMP of a manager: the SMP is lost, or an agent that is busy discards it. The
 * spoiler stands before the transport until it is removed. */
struct spoiler {
	struct transport_ops ops;
	const struct transport_ops *usual;
	struct transport_user user; /* of the transport */
	struct transport *transport;
	bool busy;
	uint32_t tid; /* the lower half, of the SMP that gets a BUSY answer; 0: none */
	bool (*is_meant)(const struct mad_header *header, const uint8_t *mad);
	unsigned times, spoiled;
};

static int spoiled_send(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
			size_t size, unsigned timeout_ms)
{
	struct spoiler *spoiler =
		container_of((void *)(uintptr_t)transport->ops, struct spoiler, ops);
	struct mad_header header;
	uint8_t copy[MAD_SIZE];

	header_decode(mad, &header);
	if (header.mgmt_class == CLASS_SUBN_DIRECTED && spoiler->spoiled < spoiler->times &&
	    spoiler->is_meant(&header, mad)) {
		spoiler->spoiled++;
		if (!spoiler->busy)
			return 0; /* dropped */
		/* Turned into a Get() it has no effect, and its answer becomes BUSY. */
		spoiler->tid = (uint32_t)header.tid;
		memcpy(copy, mad, size);
		copy[SPOILED_METHOD] = METHOD_GET;
		return spoiler->usual->send(transport, to, copy, size, timeout_ms);
	}
	return spoiler->usual->send(transport, to, mad, size, timeout_ms);
}

static void spoiled_received(void *ctx, const struct mad_addr *from, const uint8_t *mad,
			     size_t size)
{
	struct spoiler *spoiler = ctx;
	struct mad_header header;
	uint8_t copy[MAD_SIZE];

	header_decode(mad, &header);
	if (!spoiler->tid || (uint32_t)header.tid != spoiler->tid ||
	    header.method != METHOD_GET_RESP) {
		spoiler->user.received(spoiler->user.ctx, from, mad, size);
		return;
	}
	spoiler->tid = 0;
	memcpy(copy, mad, MAD_SIZE);
	copy[SPOILED_STATUS] |= STATUS_BUSY;
	spoiler->user.received(spoiler->user.ctx, from, copy, size);
}

static void spoiled_timed_out(void *ctx, const uint8_t header[MAD_HEADER_SIZE])
{
	struct spoiler *spoiler = ctx;

	spoiler->user.timed_out(spoiler->user.ctx, header);
}

static void spoil(struct spoiler *spoiler, const struct sim_manager *manager, bool busy,
		  bool (*is_meant)(const struct mad_header *header, const uint8_t *mad))
{
	*spoiler = (struct spoiler){.ops = *manager->transport->ops,
				    .usual = manager->transport->ops,
				    .user = manager->transport->user,
				    .transport = manager->transport,
				    .busy = busy,
				    .times = 1,
				    .is_meant = is_meant};
	spoiler->ops.send = spoiled_send;
	manager->transport->ops = &spoiler->ops;
	manager->transport->user = (struct transport_user){.received = spoiled_received,
							   .timed_out = spoiled_timed_out,
							   .gone = spoiler->user.gone,
							   .ctx = spoiler};
}

static void spoil_no_more(struct spoiler *spoiler)
{
	spoiler->transport->ops = spoiler->usual;
	spoiler->transport->user = spoiler->user;
}

/* The first such Set() raises the top, because there was one block until now. */
static bool raises_top(const struct mad_header *header, const uint8_t *mad)
{
	struct switch_info info;

	if (header->method != METHOD_SET || header->attr_id != ATTR_SWITCH_INFO)
		return false;
	attr_decode(&switch_info_format, mad + SMP_DATA_OFFSET, &info);
	return info.multicast_fdb_top >= LID_MULTICAST_MIN + MFT_BLOCK_LIDS;
}

/* Creates groups until a second block is needed. No later group may repair an error of the last
 * group. */
static void raise_tops(struct sim *sim, struct bed *bed, bool busy)
{
	struct spoiler spoiler;
	struct group group = {.sim = sim, .manager = bed->manager};

	spoil(&spoiler, bed->manager, busy, raises_top);
	for (unsigned g = 0; g < 2 * MFT_BLOCK_LIDS && !spoiler.spoiled; g++) {
		group.number = 0x1000 + g;
		group.count = 0;
		join(&group, 5, JOIN_FULL);
		join(&group, 30, JOIN_FULL);
		sim_settle(sim, 60 * SIM_S);
	}
	sim_expect(sim, spoiler.spoiled == 1);
	sim_settle(sim, 60 * SIM_S);
	check_group(&group);
	sim_check(sim);
	check_group(&group);
	spoil_no_more(&spoiler);
}

/* The only Set() that raises the MulticastFDBTop of a switch is lost. */
static void top_is_lost(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	raise_tops(sim, &bed, false);
}

/* A busy switch discards it, which is no refusal. */
static void top_is_busy(struct sim *sim)
{
	struct bed bed;

	begin(sim, &bed);
	raise_tops(sim, &bed, true);
}

/* Above its top each switch holds an unused entry: it sends an MLID of the second block to a port
 * of the second position. */
static void leave_above_top(const struct sim *sim, lid_t mlid)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		size_t at = blocks_of_mft(devices[i]) * SMP_DATA_SIZE +
			    sizeof(uint16_t) * (mlid - LID_MULTICAST_MIN);

		if (!device_is_switch(devices[i]))
			continue;
		if (!devices[i]->mft)
			devices[i]->mft = mem_zalloc(mft_size(devices[i]));
		be16_store(devices[i]->mft + at, 1 << 1);
	}
}

/* The entry must have no effect when the top rises, although no other change is needed at those
 * ports. */
static void above_top(struct sim *sim)
{
	struct group group = {.sim = sim};
	lid_t unused = LID_MULTICAST_MIN + 2 * MFT_BLOCK_LIDS - 1;
	/* One block after the other: the first is acknowledged before the second is computed. */
	struct bed bed = {.manager = sim_start_keeping(sim, "host-0001", "smp_per_switch=1")};

	sim_settle_and_check(sim);
	begin_groups(sim, &bed);
	leave_above_top(sim, unused);
	sim_kill(bed.manager);
	sim_restart(bed.manager);
	sim_settle(sim, 60 * SIM_S);
	group.manager = bed.manager;
	while (!sim->failed && group.mlid < LID_MULTICAST_MIN + MFT_BLOCK_LIDS) {
		group.number = 0x1000 + group.mlid;
		group.count = 0;
		join(&group, 5, JOIN_FULL);
		join(&group, 30, JOIN_FULL);
	}
	sim_settle_and_check(sim);
	check_group(&group);
	sim_expect(sim, !forest_holds(sim->world, unused));
}

/* Of the manager's own switch. */
static bool reads_table(const struct mad_header *header, const uint8_t *mad)
{
	(void)mad;
	return header->method == METHOD_GET && header->hop_count == 1 &&
	       header->attr_id == ATTR_MULTICAST_FORWARDING_TABLE;
}

/* A switch is busy when a restarted manager reads its table: the read is repeated, because unknown
 * entries are not empty entries. Nothing is written. */
static void read_is_busy(struct sim *sim)
{
	struct spoiler spoiler;
	uint64_t before;
	struct bed bed;

	begin(sim, &bed);
	sim_kill(bed.manager);
	sim_pass(sim, SIM_S);
	sim_restart(bed.manager);
	spoil(&spoiler, bed.manager, true, reads_table);
	spoiler.times = 2; /* a sample for the table cache, and the read that follows */
	before = mft_sets(&bed);
	sim_settle(sim, 60 * SIM_S);
	sim_expect(sim, spoiler.spoiled == 2);
	sim_check(sim);
	sim_expect(sim, mft_sets(&bed) == before);
	check_all(&bed);
	spoil_no_more(&spoiler);
}

static bool reads_first_block(const struct mad_header *header, const uint8_t *mad)
{
	return reads_table(header, mad) && !header->attr_mod;
}

static bool sets_forwarding(const struct mad_header *header, const uint8_t *mad)
{
	(void)mad;
	return header->method == METHOD_SET && header->hop_count == 1 &&
	       header->attr_id == ATTR_LINEAR_FORWARDING_TABLE;
}

/* The manager's own switch has lost a cable and does not answer Sets of its forwarding table. Its
 * multicast table is written without delay. */
static void trees_before_routes(struct sim *sim)
{
	struct spoiler spoiler;
	struct bed bed;

	begin(sim, &bed);
	spoil(&spoiler, bed.manager, false, sets_forwarding);
	spoiler.times = UINT32_MAX;
	sim_link(sim, sim_port(sim, "leaf-01", 5), false);
	sim_pass(sim, 150 * SIM_MS);
	sim_expect(sim, spoiler.spoiled > 0);
	check_all(&bed);
	spoil_no_more(&spoiler);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* The tables count as unread, and no sweep has read them: a join reads the multicast tables first,
 * once. Another manager had moved an entry. */
static void tables_are_lost(struct sim *sim)
{
	uint64_t gets;
	struct bed bed;

	begin(sim, &bed);
	forest_garble(sim->world, "leaf-01", bed.groups[0].mlid, 6, 5);
	fabric_forget_tables(manager_sm(bed.manager->manager)->fabric);
	gets = bed.manager->mft_gets_sent;
	join(&bed.groups[1], 31, JOIN_FULL);
	sim_pass(sim, SIM_S);
	sim_expect(sim, bed.manager->mft_gets_sent > gets);
	check_all(&bed);
	gets = bed.manager->mft_gets_sent;
	join(&bed.groups[1], 30, JOIN_FULL);
	sim_pass(sim, SIM_S);
	sim_expect(sim, bed.manager->mft_gets_sent == gets);
	sim_settle_and_check(sim);
	check_all(&bed);
}

static void lose_table_cache(const struct sim_manager *manager)
{
	char *path = mem_printf("%s/tables.img", manager->store_dir);

	unlink(path);
	free(path);
}

/* The manager's own switch never answers the read of one block. Its cable that came back in the
 * meantime still goes ACTIVE, because unknown entries are overwritten. */
static void read_is_silent(struct sim *sim)
{
	struct device_port *port = sim_port(sim, "leaf-01", 6);
	struct spoiler spoiler;
	struct bed bed;

	begin(sim, &bed);
	many_groups(sim, &bed);
	sim_kill(bed.manager);
	lose_table_cache(bed.manager);
	forest_garble(sim->world, "leaf-01", bed.groups[0].mlid, 6, 5);
	sim_link(sim, port, false);
	sim_link(sim, port, true);
	sim_pass(sim, SIM_S);
	sim_restart(bed.manager);
	spoil(&spoiler, bed.manager, false, reads_first_block);
	spoiler.times = UINT32_MAX;
	sim_pass(sim, 20 * SIM_S);
	sim_expect(sim, spoiler.spoiled > 0);
	sim_expect(sim, port->info.port_state == PORT_ACTIVE);
	check_all(&bed);
	spoil_no_more(&spoiler);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* A switch is slow to accept the tables of some joins. Joins whose branches do not pass it are not
 * delayed, although their entries are in the same blocks of other switches. */
static void slow_switch(struct sim *sim)
{
	enum { PAIRS = 8 };
	struct group slow[PAIRS], quick[PAIRS];
	struct device *leaf = sim_device(sim, "leaf-08");
	struct bed bed;

	begin(sim, &bed);
	for (unsigned g = 0; g < PAIRS; g++) {
		slow[g] = (struct group){.sim = sim, .manager = bed.manager, .number = 0x1000 + g};
		quick[g] = (struct group){.sim = sim, .manager = bed.manager, .number = 0x2000 + g};
		for (unsigned i = 0; i < 2; i++) {
			join(&slow[g], 1 + 4 * i, JOIN_FULL);
			join(&quick[g], 2 + 4 * i, JOIN_FULL);
		}
	}
	sim_settle(sim, 60 * SIM_S);
	leaf->quirks.service_us = 2 * SIM_S;
	for (unsigned g = 0; g < PAIRS; g++)
		join(&slow[g], 32, JOIN_FULL);
	sim_pass(sim, 20 * SIM_MS);
	for (unsigned g = 0; g < PAIRS; g++)
		join(&quick[g], 10, JOIN_FULL);
	sim_pass(sim, 100 * SIM_MS);
	for (unsigned g = 0; g < PAIRS; g++)
		check_group(&quick[g]);
	leaf->quirks.service_us = 0;
	sim_settle_and_check(sim);
	for (unsigned g = 0; g < PAIRS; g++) {
		check_group(&slow[g]);
		check_group(&quick[g]);
	}
	check_all(&bed);
}

/* A previous manager set default ports: each switch sends packets of unknown groups to two of its
 * neighbours. */
static void set_default_ports(const struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		devices[i]->sw.default_multicast_primary_port = devices[i]->num_ports;
		devices[i]->sw.default_multicast_not_primary_port = devices[i]->num_ports - 1;
	}
}

static unsigned with_default_ports(const struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);
	unsigned found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct switch_info *sw = &devices[i]->sw;

		found += device_is_switch(devices[i]) &&
			 (sw->default_multicast_primary_port != LFT_NO_PORT ||
			  sw->default_multicast_not_primary_port != LFT_NO_PORT);
	}
	return found;
}

/* A packet of a group that does not exist reaches no port. */
static void check_unknown(struct sim *sim)
{
	for (unsigned i = 1; i <= 32; i++)
		sim_expect(sim, !forest_send(host(sim, i), LID_MULTICAST_MAX, NULL, 0));
}

/* Found at the start, and by a manager that takes over. */
static void default_ports(struct sim *sim)
{
	struct bed bed;

	set_default_ports(sim);
	begin(sim, &bed);
	for (unsigned round = 0; round < 2; round++) {
		sim_expect(sim, !with_default_ports(sim));
		check_unknown(sim);
		sim_kill(bed.manager);
		set_default_ports(sim);
		sim_pass(sim, SIM_S);
		sim_restart(bed.manager);
		sim_settle_and_check(sim);
		check_all(&bed);
	}
	sim_expect(sim, !with_default_ports(sim));
	check_unknown(sim);
}

/* Some switches do not accept the removal of default ports: silently, or with a status. The Set()
 * is sent once. */
static void default_ports_stay(struct sim *sim)
{
	struct bed bed;

	set_default_ports(sim);
	sim_device(sim, "leaf-02")->quirks.keeps_default_ports = true;
	sim_device(sim, "spine-03")->quirks.refuses_no_port = true;
	begin(sim, &bed);
	sim_expect(sim, with_default_ports(sim) == 2);
	for (unsigned g = 0; g < GROUPS; g++) {
		leave(&bed.groups[g], 0);
		join(&bed.groups[g], 2 + (g * 3 + 11) % 31, JOIN_FULL);
	}
	sim_settle_and_check(sim);
	check_all(&bed);
	sim_link(sim, sim_port(sim, "leaf-02", 5), false);
	sim_settle_and_check(sim);
	sim_link(sim, sim_port(sim, "leaf-02", 5), true);
	sim_settle_and_check(sim);
	check_all(&bed);
}

/* While the first manager is down another manager is MASTER. Either it follows the first and has
 * all registrations, or it has none and other hosts join. A sample may miss its writes. The first
 * manager finds them when it returns, because ports show another MasterSMLID. */
static void other_rules(struct sim *sim, bool follows)
{
	struct bed bed = {.manager = sim_start_keeping(sim, "host-0001",
						       follows ? FOLLOWS("host-0001") : NULL)};
	struct bed other;

	sim_settle_and_check(sim);
	begin_groups(sim, &bed);
	many_groups(sim, &bed);
	sim_pass(sim, IMAGE_S * SIM_S);
	if (follows) {
		other.manager = sim_start_keeping(sim, "host-0017", FOLLOWS("host-0017"));
		sim_pass(sim, 10 * SIM_S);
	}
	sim_kill(bed.manager);
	if (!follows)
		other.manager = sim_start(sim, "host-0017", NULL);
	sim_pass(sim, 30 * SIM_S);
	sim_expect(sim, sim_state(other.manager) == SM_MASTER);
	for (unsigned g = 0; g < GROUPS; g++) {
		struct group *group = &other.groups[g];

		if (follows)
			*group = bed.groups[g];
		else
			*group = (struct group){.sim = sim, .number = g};
		group->manager = other.manager;
		for (unsigned i = 0; i < 4; i++)
			join(group, 2 + (g * 3 + i * 11) % 31, JOIN_FULL);
	}
	sim_settle_and_check(sim);
	check_all(&other);
	sim_kill(other.manager);
	sim_pass(sim, SIM_S);
	sim_restart(bed.manager);
	sim_settle_and_check(sim);
	check_all(&bed);
}

static void follower_rules(struct sim *sim)
{
	other_rules(sim, true);
}

static void stranger_rules(struct sim *sim)
{
	other_rules(sim, false);
}

const struct scenario sim_multicast[] = {
	{.name = "multicast-join-and-leave", .topology = TREE, .play = join_and_leave},
	{.name = "multicast-last-leaves", .topology = TREE, .play = last_one_leaves},
	{.name = "multicast-spine-lost", .topology = TREE, .play = spine_is_lost},
	{.name = "multicast-fault-blocks", .topology = TREE3, .play = fault_costs_what_differs},
	{.name = "multicast-links-lost", .topology = TREE, .play = links_are_lost},
	{.name = "multicast-switch-reboots", .topology = TREE, .play = switch_reboots},
	{.name = "multicast-all-away", .topology = TREE, .play = all_are_away},
	{.name = "multicast-restart", .topology = TREE, .play = restart},
	{.name = "multicast-restart-3", .topology = TREE3, .play = restart},
	{.name = "multicast-restart-cache", .topology = TREE, .play = restart_with_table_cache},
	{.name = "multicast-restart-cache-3", .topology = TREE3, .play = restart_with_table_cache},
	{.name = "multicast-killed-joining", .topology = TREE, .play = killed_while_joining},
	{.name = "multicast-cache-wrong", .topology = TREE, .play = table_cache_is_wrong},
	{.name = "multicast-read-back", .topology = TREE, .play = read_back},
	{.name = "multicast-loss", .topology = TREE, .play = with_loss},
	{.name = "multicast-top-lost", .topology = TREE, .play = top_is_lost},
	{.name = "multicast-top-busy", .topology = TREE, .play = top_is_busy},
	{.name = "multicast-read-busy", .topology = TREE, .play = read_is_busy},
	{.name = "multicast-read-silent", .topology = TREE, .play = read_is_silent},
	{.name = "multicast-slow-switch", .topology = TREE, .play = slow_switch},
	{.name = "multicast-default-ports", .topology = TREE, .play = default_ports},
	{.name = "multicast-default-ports-stay", .topology = TREE, .play = default_ports_stay},
	{.name = "multicast-follower-rules", .topology = TREE, .play = follower_rules},
	{.name = "multicast-stranger-rules", .topology = TREE, .play = stranger_rules},
	{.name = "multicast-trees-before-routes", .topology = TREE, .play = trees_before_routes},
	{.name = "multicast-above-top", .topology = TREE18, .play = above_top},
	{.name = "multicast-beside-the-dead",
	 .topology = "ring:switches=8,hosts=4",
	 .play = beside_the_dead},
	{.name = "multicast-beside-the-dead-torus",
	 .topology = "torus:dims=4x4,hosts=2",
	 .play = beside_the_dead},
	{.name = "multicast-tables-lost", .topology = TREE, .play = tables_are_lost},
	{.name = "multicast-takeover", .topology = TREE, .play = takeover},
	{.name = NULL},
};
