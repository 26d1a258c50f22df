/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The invariants of a quiet fabric, seen from its agents and never from the memory of a manager.
 * Each row of the table below checks the part of the fabric that the master can reach over links
 * that are physically up. If managers are in different parts, each part is checked separately.
 * Paths are queried at the SA, as a client does. The last invariant starts a heavy sweep with new
 * routing, which must find nothing to write.
 *
 * Invariants of every moment are checked after each Set().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partitions.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sa/record.h"
#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"
#include "tests/sim/trace.h"

enum {
	HEAVY_SWEEP_S = 15,
	PATH_STRIDE = 7, /* distance from a source to its destination in the list of ends */
};

/* A connected part of the fabric. */
struct part {
	struct sim *sim;
	struct sim_manager *master;
	const struct device **devices;
	size_t count;
	struct map known; /* devices by GUID */
	lid_t master_lid;
};

/* An end port of the part: a port with LIDs of its own. */
typedef void end_fn(struct part *part, const struct device_port *port, void *ctx);

/* The far end of an external port whose link is up, else NULL. */
static const struct device_port *neighbour(const struct device_port *port)
{
	return port->info.port_physical_state == PHYS_LINK_UP ? port->peer : NULL;
}

/* The part around a manager */

static void join(struct part *part, const struct device *device)
{
	if (map_put(&part->known, device->node_guid, (void *)device))
		return;
	part->devices[part->count++] = device;
}

static void part_init(struct part *part, struct sim *sim, const struct sim_manager *manager)
{
	struct device *const *all;

	*part = (struct part){.sim = sim};
	part->devices = mem_array(world_devices(sim->world, &all), sizeof(struct device *));
	map_init(&part->known);
	join(part, manager->port->device);
	for (size_t next = 0; next < part->count; next++) {
		const struct device *device = part->devices[next];

		for (unsigned i = 1; i <= device->num_ports; i++) {
			const struct device_port *port = &device->port[i];

			/* Adapters do not forward: only the manager's own port counts. */
			if ((device_is_switch(device) || port == manager->port) && neighbour(port))
				join(part, neighbour(port)->device);
		}
	}
}

static void part_done(struct part *part)
{
	free(part->devices);
	map_done(&part->known);
}

static bool in_part(const struct part *part, const struct device *device)
{
	return map_get(&part->known, device->node_guid) == device;
}

/* A port of an adapter belongs to the part if its far end does. */
static bool end_in_part(const struct part *part, const struct device_port *port)
{
	if (device_is_switch(port->device))
		return port->num == 0;
	return port->num && neighbour(port) && in_part(part, neighbour(port)->device);
}

static void each_end(struct part *part, end_fn *fn, void *ctx)
{
	for (size_t i = 0; i < part->count && !part->sim->failed; i++) {
		const struct device *device = part->devices[i];

		for (unsigned n = 0; n <= device->num_ports; n++) {
			if (end_in_part(part, &device->port[n]))
				fn(part, &device->port[n], ctx);
		}
	}
}

/* The invariants */

static void one_master(struct part *part)
{
	struct sim *sim = part->sim;

	for (unsigned i = 0; i < sim->num_managers; i++) {
		struct sim_manager *manager = &sim->managers[i];

		if (!sim_running(manager) || !in_part(part, manager->port->device) ||
		    sim_state(manager) != SM_MASTER)
			continue;
		if (part->master)
			sim_fail(sim, "both %s and %s are MASTER",
				 trace_name(manager->port->device),
				 trace_name(part->master->port->device));
		part->master = manager;
	}
	if (part->master)
		part->master_lid = part->master->port->info.lid;
	else
		sim_fail(sim, "no manager is MASTER");
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static void link_is_good(struct part *part, const struct device_port *port)
{
	const struct device_port *peer = neighbour(port);
	const char *name = trace_name(port->device);
	uint8_t mtu, vls;

	if (!peer || peer->device == port->device || !in_part(part, peer->device))
		return;
	mtu = smaller(port->info.mtu_cap, peer->info.mtu_cap);
	vls = smaller(smaller(port->info.vl_cap, peer->info.vl_cap),
		      part->master->conf.sm.max_op_vls);
	if (port->info.port_state != PORT_ACTIVE)
		sim_fail(part->sim, "%s port %u is cabled, but in state %u", name, port->num,
			 port->info.port_state);
	else if (port->info.neighbor_mtu != mtu)
		sim_fail(part->sim, "MTU %u at %s port %u, both ends support %u",
			 mtu_bytes(port->info.neighbor_mtu), name, port->num, mtu_bytes(mtu));
	else if (port->info.operational_vls != vls)
		sim_fail(part->sim, "%u VLs at %s port %u, both ends support %u",
			 vls_of(port->info.operational_vls), name, port->num, vls_of(vls));
}

static void links_are_good(struct part *part)
{
	for (size_t i = 0; i < part->count; i++) {
		for (unsigned n = 1; n <= part->devices[i]->num_ports; n++)
			link_is_good(part, &part->devices[i]->port[n]);
	}
}

static void own_lids(struct part *part, const struct device_port *port, void *ctx)
{
	const struct port_info *info = &port->info;
	const char *name = trace_name(port->device);
	const struct device **owners = ctx;

	for (unsigned lid = info->lid; lid < info->lid + (1u << info->lmc); lid++) {
		if (lid < LID_UNICAST_MIN || lid > LID_UNICAST_MAX)
			sim_fail(part->sim, "%s port %u has LID %u", name, port->num, lid);
		else if (owners[lid])
			sim_fail(part->sim, "%s port %u has LID %u, as %s has", name, port->num,
				 lid, trace_name(owners[lid]));
		else
			owners[lid] = port->device;
	}
	if (info->master_sm_lid != part->master_lid)
		sim_fail(part->sim, "%s port %u has MasterSMLID %u, the master has LID %u", name,
			 port->num, info->master_sm_lid, part->master_lid);
}

static void lids_are_unique(struct part *part)
{
	const struct device **owners = mem_array(LID_UNICAST_MAX + 1, sizeof(*owners));

	each_end(part, own_lids, owners);
	free(owners);
}

static void no_way(struct part *part, const struct device_port *from, const struct device_port *to,
		   lid_t lid, int error)
{
	char way[SIM_TEXT_SIZE / 2] = "";

	if (device_is_switch(from->device))
		circles_describe(from->device, lid, way, sizeof(way));
	else if (from->peer && device_is_switch(from->peer->device))
		circles_describe(from->peer->device, lid, way, sizeof(way));
	sim_fail(part->sim, "no route from %s port %u to LID %u of %s port %u (%s): %s",
		 trace_name(from->device), from->num, lid, trace_name(to->device), to->num,
		 strerror(-error), way);
}

static void reaches(struct part *part, const struct device_port *to, void *ctx)
{
	const struct device_port *from = ctx;

	for (unsigned lid = to->info.lid; lid < to->info.lid + (1u << to->info.lmc); lid++) {
		int passed = world_walk(part->sim->world, from->device, from->num, (lid_t)lid);

		if (passed < 0)
			no_way(part, from, to, (lid_t)lid, passed);
	}
}

static void reaches_all(struct part *part, const struct device_port *from, void *ctx)
{
	(void)ctx;
	each_end(part, reaches, (void *)from);
}

static void all_pairs_reach(struct part *part)
{
	each_end(part, reaches_all, NULL);
}

/* No agent has an unacknowledged trap or a PortStateChange. */
static void all_is_heard(struct part *part)
{
	for (size_t i = 0; i < part->count; i++) {
		const struct device *device = part->devices[i];

		if (device_next_us(device) != UINT64_MAX)
			sim_fail(part->sim, "%s has a trap that was not repressed",
				 trace_name(device));
		if (device_is_switch(device) && device->sw.port_state_change)
			sim_fail(part->sim, "%s has PortStateChange set", trace_name(device));
	}
}

/* Paths */

/* The lowest values along the path of a packet. */
struct way {
	uint8_t mtu, rate;
};

static void meets(struct way *way, const struct device_port *port)
{
	bool base0 = !port->num && !port->device->sw.enhanced_port0;
	uint8_t mtu = base0 ? port->info.mtu_cap : port->info.neighbor_mtu;
	struct port_info shown = port->info;
	uint8_t rate;

	if (port->device->quirks.no_extended_speeds)
		shown.link_speed_ext_active = 0;
	rate = port_rate(&shown);

	if (!way->mtu || mtu < way->mtu)
		way->mtu = mtu;
	if (port->num && (!way->rate || rate_deci_gbps(rate) < rate_deci_gbps(way->rate)))
		way->rate = rate;
}

/* Adds the rest of a path. The destination is reachable: an earlier invariant checked it. */
static void follow(struct way *way, const struct device_port *from, lid_t lid)
{
	const struct device_port *at = from;

	meets(way, at);
	if (at->num) {
		at = at->peer;
		meets(way, at);
	}
	while (device_is_switch(at->device)) {
		at = &at->device->port[device_lft_port(at->device, lid)];
		meets(way, at);
		if (!at->num)
			return;
		at = at->peer;
		meets(way, at);
	}
}

/* SubnAdmGet(PathRecord) by two LIDs, sent by from. False: the SA returns none. */
static bool ask_path(struct sim_manager *master, const struct device_port *from,
		     const struct device_port *to, struct path_record *out)
{
	const struct transport_user *user = &master->transport->user;
	struct mad_header header = {
		.base_version = 1,
		.mgmt_class = CLASS_SUBN_ADM,
		.class_version = 2,
		.method = METHOD_GET,
		.tid = to->info.lid,
		.attr_id = RECORD_PATH,
	};
	const struct sa_header sa_header = {.component_mask = UINT64_C(1) << PATH_SLID |
							      UINT64_C(1) << PATH_DLID};
	const struct path_record wanted = {.slid = from->info.lid, .dlid = to->info.lid};
	const struct mad_addr address = {.lid = from->info.lid, .qpn = 1};
	uint8_t mad[MAD_SIZE] = {0};

	memset(master->sa_answer, 0, sizeof(master->sa_answer));
	header_encode(&header, mad);
	sa_header_encode(&sa_header, mad);
	format_encode(&path_record_format, &wanted, mad + SUBN_ADM_HEADER_SIZE);
	user->received(user->ctx, &address, mad, sizeof(mad));
	header_decode(master->sa_answer, &header);
	format_decode(&path_record_format, master->sa_answer + SUBN_ADM_HEADER_SIZE, out);
	return header.method == METHOD_GET_RESP && !header.status;
}

/* Whether two ports are in one partition, not both as limited members. */
static bool may_talk(const struct device_port *a, const struct device_port *b)
{
	for (unsigned i = 0; i < device_p_key_cap(a); i++) {
		for (unsigned j = 0; j < device_p_key_cap(b); j++) {
			pkey_t x = device_p_key(a, i), y = device_p_key(b, j);

			if (x & PKEY_DEFAULT_LIMITED && !((x ^ y) & PKEY_DEFAULT_LIMITED) &&
			    (x | y) & PKEY_FULL_MEMBER)
				return true;
		}
	}
	return false;
}

static void path_is_true(struct part *part, const struct device_port *from,
			 const struct device_port *to)
{
	struct way way = {0};
	struct path_record path;

	follow(&way, from, to->info.lid);
	follow(&way, to, from->info.lid);
	if (!may_talk(from, to)) {
		if (ask_path(part->master, from, to, &path))
			sim_fail(part->sim,
				 "the SA has a path from LID %u to LID %u, which share no "
				 "partition",
				 from->info.lid, to->info.lid);
	} else if (!ask_path(part->master, from, to, &path))
		sim_fail(part->sim, "the SA has no path from LID %u to LID %u", from->info.lid,
			 to->info.lid);
	else if (path.slid != from->info.lid || path.dlid != to->info.lid)
		sim_fail(part->sim, "path from LID %u to LID %u: the SA returns LID %u to LID %u",
			 from->info.lid, to->info.lid, path.slid, path.dlid);
	else if (path.mtu != way.mtu || path.rate != way.rate || path.sl || !path.reversible)
		sim_fail(part->sim,
			 "from LID %u to LID %u the SA returns MTU %u, rate %u, SL %u%s; on the "
			 "route "
			 "are MTU %u, rate %u, SL 0",
			 from->info.lid, to->info.lid, path.mtu, path.rate, path.sl,
			 path.reversible ? "" : ", one way", way.mtu, way.rate);
}

struct ends {
	const struct device_port **port;
	size_t count;
};

static void collect(struct part *part, const struct device_port *port, void *ctx)
{
	struct ends *ends = ctx;

	(void)part;
	ends->port = mem_resize(ends->port, ends->count + 1, sizeof(*ends->port));
	ends->port[ends->count++] = port;
}

/* Each end is a source once and a destination once: all pairs would take too long. */
static void paths_are_true(struct part *part)
{
	struct ends ends = {0};
	size_t stride;

	each_end(part, collect, &ends);
	stride = ends.count % PATH_STRIDE ? PATH_STRIDE : 1; /* never to itself */
	for (size_t i = 0; i < ends.count && !part->sim->failed; i++) {
		const struct device_port *to = ends.port[(i + stride) % ends.count];

		if (to != ends.port[i])
			path_is_true(part, ends.port[i], to);
	}
	free(ends.port);
}

/* Only if ports have joined groups. */
static void groups_are_right(struct part *part)
{
	struct ends ends = {0};

	if (!part->sim->tenants)
		return;
	each_end(part, collect, &ends);
	tenants_check(part->master, ends.port, ends.count);
	free(ends.port);
}

static void heavy_sweep_is_silent(struct part *part)
{
	struct sim_manager *master = part->master;
	uint64_t sets = master->sets_sent, reports = master->reports;

	manager_set_conf(master->manager, &master->conf);
	sim_pass(part->sim, HEAVY_SWEEP_S * SIM_S);
	if (master->reports == reports)
		sim_fail(part->sim, "no heavy sweep ended within %u s", HEAVY_SWEEP_S);
	else if (master->sets_sent != sets)
		sim_fail(part->sim, "a heavy sweep of the quiet fabric sent %" PRIu64 " Set()",
			 master->sets_sent - sets);
}

/* P_Keys: those of the partition file of the master, evaluated rule by rule */

enum { KEYS_MAX = 64 };

struct expected_keys {
	pkey_t key[KEYS_MAX];
	unsigned count;
};

static void expect_keys(struct expected_keys *expected, pkey_t partition, unsigned membership)
{
	if (membership & MEMBERSHIP_FULL && expected->count < KEYS_MAX)
		expected->key[expected->count++] = partition | PKEY_FULL_MEMBER;
	if (membership & MEMBERSHIP_LIMITED && expected->count < KEYS_MAX)
		expected->key[expected->count++] = partition;
}

static void expected_of(const struct part *part, const struct partitions *file,
			const struct device_port *port, struct expected_keys *out)
{
	bool self = port == part->master->port, both = part->master->conf.sm.allow_both;
	unsigned in_default = 0;

	*out = (struct expected_keys){0};
	for (uint32_t p = 0; file && p < file->count; p++) {
		const struct partition *partition = &file->partitions[p];
		unsigned membership = partition_membership(partition, device_guid(port, 0),
							   port->device->type, self, both);

		if (partition->p_key == PKEY_DEFAULT_LIMITED)
			in_default = membership;
		else
			expect_keys(out, partition->p_key, membership);
	}
	if (self || !file)
		in_default |= MEMBERSHIP_FULL;
	if (self && !both)
		in_default = MEMBERSHIP_FULL;
	expect_keys(out, PKEY_DEFAULT_LIMITED, in_default ? in_default : MEMBERSHIP_LIMITED);
}

static bool holds_keys(const struct device_port *port, const struct expected_keys *expected)
{
	unsigned held = 0, cap = device_p_key_cap(port);

	for (unsigned i = 0; i < cap; i++)
		held += (device_p_key(port, i) & PKEY_DEFAULT_LIMITED) != 0;
	for (unsigned e = 0; e < expected->count; e++) {
		unsigned i = 0;

		while (i < cap && device_p_key(port, i) != expected->key[e])
			i++;
		if (i == cap)
			return false;
	}
	return held == expected->count;
}

static void keys_of_end(struct part *part, const struct device_port *port, void *ctx)
{
	const struct partitions *file = ctx;
	const struct device_port *front = port->num ? neighbour(port) : NULL;
	struct expected_keys expected;
	bool enforced = file && part->master->conf.sm.part_enforce == ENFORCE_BOTH;

	expected_of(part, file, port, &expected);
	if (!holds_keys(port, &expected))
		sim_fail(part->sim, "%s port %u does not have its %u P_Keys",
			 trace_name(port->device), port->num, expected.count);
	if (!front || !device_is_switch(front->device))
		return;
	if (front->info.partition_enforcement_inbound != enforced ||
	    front->info.partition_enforcement_outbound != enforced)
		sim_fail(part->sim, "%s port %u enforces %u and %u", trace_name(front->device),
			 front->num, front->info.partition_enforcement_inbound,
			 front->info.partition_enforcement_outbound);
	else if (enforced && !holds_keys(front, &expected))
		sim_fail(part->sim, "%s port %u enforces other P_Keys than those of %s",
			 trace_name(front->device), front->num, trace_name(port->device));
}

static void p_keys_as_configured(struct part *part)
{
	const char *text = part->master->partitions;
	struct partitions *file = NULL;
	char *error;

	if (text && partitions_parse("partitions", text, strlen(text),
				     part->master->conf.sm.allow_both, &file, &error))
		sim_fail(part->sim, "the partitions do not parse: %s", error);
	each_end(part, keys_of_end, file);
	partitions_free(file);
}

static void (*const invariants[])(struct part *part) = {
	one_master,	links_are_good,	  lids_are_unique,	all_pairs_reach,       all_is_heard,
	paths_are_true, groups_are_right, p_keys_as_configured, heavy_sweep_is_silent,
};

void sim_check(struct sim *sim)
{
	struct map judged; /* devices of checked parts */

	map_init(&judged);
	for (unsigned i = 0; i < sim->num_managers; i++) {
		const struct sim_manager *manager = &sim->managers[i];
		struct part part;

		if (!sim_running(manager) || map_get(&judged, manager->port->device->node_guid))
			continue;
		part_init(&part, sim, manager);
		for (size_t n = 0; n < part.count; n++)
			map_put(&judged, part.devices[n]->node_guid, (void *)part.devices[n]);
		/* A manager whose own link is down is not checked. */
		for (size_t n = 0; part.count > 1 && n < ARRAY_SIZE(invariants); n++) {
			if (!sim->failed && !sim->stopped)
				invariants[n](&part);
		}
		part_done(&part);
	}
	map_done(&judged);
}

void sim_settle_and_check(struct sim *sim)
{
	sim_settle(sim, 300 * SIM_S);
	sim_check(sim);
}

/* At every moment */

void sim_check_set(struct sim *sim, const struct device *device, uint16_t attr_id)
{
	/* Packets for LIDs up to the top follow the entries, so these entries must have been
	 * written. There are two exemptions. The manager cannot know that a switch was reset since.
	 * After a swap of cables a Set() may reach another switch than its route was meant for. */
	if (attr_id == ATTR_SWITCH_INFO && !sim->rebooted && !sim->recabled &&
	    device->sw.linear_fdb_top && device->sw.linear_fdb_top >= device->lft_size)
		sim_fail(sim, "%s has LinearFDBTop %u, and its table is written up to LID %d",
			 trace_name(device), device->sw.linear_fdb_top, (int)device->lft_size - 1);
}
