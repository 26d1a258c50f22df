/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What must be so once a fabric is quiet, seen from its agents and never from a manager's own
 * memory: each row of the table below looks at the part of the fabric that the master can reach
 * over links that are physically up. Where managers are in different parts, each part is judged by
 * itself. The last invariant acts: a full sweep with new routing must find nothing to write.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "lib/mem.h"
#include "tests/sim/sim.h"
#include "tests/sim/trace.h"

enum { FULL_SWEEP_S = 15 };

/* A part of the fabric that is connected. */
struct part {
	struct sim *sim;
	struct sim_manager *master;
	const struct device **devices;
	size_t count;
	struct map known; /* devices by GUID */
	lid_t master_lid;
};

/* An end port of the part: its LIDs are its own. */
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

			/* No way leads through an adapter: only the manager's own port counts. */
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

/* A port of an adapter belongs to the part when its far end does. */
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

static void link_is_good(struct part *part, const struct device_port *port)
{
	const struct device_port *peer = neighbour(port);
	const char *name = trace_name(port->device);

	if (!peer || peer->device == port->device || !in_part(part, peer->device))
		return;
	if (port->info.port_state != PORT_ACTIVE)
		sim_fail(part->sim, "%s port %u is cabled, but in state %u", name, port->num,
			 port->info.port_state);
	else if (port->info.neighbor_mtu != peer->info.neighbor_mtu)
		sim_fail(part->sim, "MTU %u at %s port %u, %u at %s port %u",
			 mtu_bytes(port->info.neighbor_mtu), name, port->num,
			 mtu_bytes(peer->info.neighbor_mtu), trace_name(peer->device), peer->num);
	else if (port->info.operational_vls != peer->info.operational_vls)
		sim_fail(part->sim, "%u VLs at %s port %u, %u at %s port %u",
			 vls_of(port->info.operational_vls), name, port->num,
			 vls_of(peer->info.operational_vls), trace_name(peer->device), peer->num);
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
			sim_fail(part->sim, "%s port %u has LID %u, which %s has too", name,
				 port->num, lid, trace_name(owners[lid]));
		else
			owners[lid] = port->device;
	}
	if (info->master_sm_lid != part->master_lid)
		sim_fail(part->sim, "%s port %u holds LID %u for the SM, the master's is %u", name,
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
	sim_fail(part->sim, "no way from %s port %u to LID %u of %s port %u (%s): %s",
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

static void full_sweep_is_silent(struct part *part)
{
	struct sim_manager *master = part->master;
	uint64_t sets = master->sets_sent, reports = master->reports;

	manager_set_conf(master->manager, &master->conf);
	sim_pass(part->sim, FULL_SWEEP_S * SIM_S);
	if (master->reports == reports)
		sim_fail(part->sim, "no full sweep ended within %u s", FULL_SWEEP_S);
	else if (master->sets_sent != sets)
		sim_fail(part->sim, "a full sweep of the quiet fabric sent %" PRIu64 " Set()",
			 master->sets_sent - sets);
}

static void (*const invariants[])(struct part *part) = {
	one_master, links_are_good, lids_are_unique, all_pairs_reach, full_sweep_is_silent,
};

void sim_check(struct sim *sim)
{
	struct map judged; /* devices of parts that were looked at */

	map_init(&judged);
	for (unsigned i = 0; i < sim->num_managers; i++) {
		const struct sim_manager *manager = &sim->managers[i];
		struct part part;

		if (!sim_running(manager) || map_get(&judged, manager->port->device->node_guid))
			continue;
		part_init(&part, sim, manager);
		for (size_t n = 0; n < part.count; n++)
			map_put(&judged, part.devices[n]->node_guid, (void *)part.devices[n]);
		/* A manager whose own link is down has nothing to answer for. */
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
