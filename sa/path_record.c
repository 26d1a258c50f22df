/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PathRecord: the ends that a request means; path_walk.c and path.c do the rest. Called by sa.c.
 *
 * Each end is given by GID, by LID or by both, which must then be the same port. A GID is of this
 * subnet if its prefix is that of the subnet or the link-local default. For a destination in
 * another subnet, prefix_routes_file names a router: the path leads there, has the requested GID,
 * and HopLimit 255 as in OpenSM. Without a row for it, or as a source, a GID of another subnet is
 * refused with INVALID_GID. A GUID or LID of no port matches nothing, and neither does a multicast
 * GID as the source. SubnAdmGet must have both ends, otherwise the status is
 * INSUFFICIENT_COMPONENTS. SubnAdmGetTable may omit an end (all ports) or both, as long as the
 * table does not become too large.
 *
 * NumbPath applies to each pair of ports; for Get it is always 1 (an erratum to release 1.2, as in
 * OpenSM).
 */
#include <limits.h>
#include <stdint.h>

#include "lib/be.h"
#include "sa/path_walk.h"

enum { HOP_LIMIT_ROUTED = 255 };

static void side_fix(const struct sa_request *request, struct path_side *side, bool found,
		     const struct endport *port)
{
	uint32_t number = found ? endport_number(request->topology, port) : 0;

	if (found && number >= side->first && number - side->first < side->count) {
		side->first = number;
		side->count = 1;
	} else {
		side->count = 0; /* no such port, or two components that contradict each other */
	}
}

/* The first matching row counts, whether its router is present or not. */
static const struct prefix_route *route_to(const struct sa_request *request, uint64_t prefix)
{
	const struct route_options *options = request->topology->options;

	for (uint32_t i = 0; options && i < options->prefixes.count; i++) {
		const struct prefix_route *route = &options->prefixes.route[i];

		if (route->any_prefix || route->prefix == prefix)
			return route;
	}
	return NULL;
}

static bool any_router(const struct sa_request *request, struct endport *out)
{
	for (uint32_t i = 0; i < request->topology->num_ends; i++) {
		const struct node_facts *facts = request->topology->ends[i].facts;

		if (facts && facts->info.node_type == NODE_ROUTER &&
		    request->topology->ends[i].lid != LID_NONE) {
			*out = endport_at(request->topology, request->topology->num_switches + i);
			return true;
		}
	}
	return false;
}

/* A destination in another subnet: the path leads to the router and has the GID of the
 * destination. */
static uint16_t side_beyond(const struct sa_request *request, struct path_walk *walk)
{
	const uint8_t *gid = ((const struct path_record *)request->wanted)->dgid;
	const struct prefix_route *route = route_to(request, be64_load(gid));
	struct path_side *side = &walk->destination;
	struct endport port;

	if (!route)
		return SA_REQ_INVALID_GID;
	side->count = endport_count(request->topology);
	side_fix(request, side,
		 route->any_router ? any_router(request, &port)
				   : lookup_guid(request->lookup, route->router, &port),
		 &port);
	side->asked = be64_load(gid + 8);
	be64_store(walk->echo.dgid, be64_load(gid));
	walk->echo.hop_limit = HOP_LIMIT_ROUTED;
	if (request_has(request, PATH_DLID)) {
		side->by_lid = true;
		side->lid = ((const struct path_record *)request->wanted)->dlid;
		side_fix(request, side, endport_by_lid(request->topology, side->lid, &port), &port);
	}
	return STATUS_OK;
}

/* STATUS_OK, or the status if this side is invalid. */
static uint16_t side_find(const struct sa_request *request, unsigned gid_component,
			  const uint8_t gid[GID_SIZE], unsigned lid_component, lid_t lid,
			  struct path_side *out)
{
	const struct snapshot *topology = request->topology;
	bool by_gid = request_has(request, gid_component);
	bool by_lid = request_has(request, lid_component);
	struct path_side side = {.count = endport_count(topology), .by_lid = by_lid, .lid = lid};
	struct endport port = {.lid = LID_NONE};
	bool found;

	if (!by_gid && !by_lid && !request->table)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (by_gid) {
		bool multicast = path_gid_is_multicast(gid);

		if (!multicast && !path_gid_is_ours(request, gid))
			return SA_REQ_INVALID_GID;
		side.asked = be64_load(gid + 8);
		found = !multicast && lookup_guid(request->lookup, side.asked, &port);
		side_fix(request, &side, found, &port);
	}
	if (by_lid) {
		found = endport_by_lid(topology, lid, &port);
		side_fix(request, &side, found, &port);
	}
	*out = side;
	return STATUS_OK;
}

/* All adapters have the same LMC. */
static uint64_t paths_of_pair(const struct sa_request *request)
{
	const struct path_record *wanted = request->wanted;
	const struct snapshot *topology = request->topology;
	uint64_t lids = 1u << (topology->num_ends ? topology->ends[0].lmc : 0);

	if (request_has(request, PATH_NUMB_PATH) && wanted->numb_path < lids)
		return wanted->numb_path;
	return lids;
}

uint16_t begin_paths(struct sa_request *request)
{
	const struct path_record *wanted = request->wanted;
	struct path_walk *walk;
	uint16_t status;

	if (path_is_to_group(request))
		return begin_group_path(request);
	walk = path_walk_new(request, request->mask, wanted);
	status =
		side_find(request, PATH_SGID, wanted->sgid, PATH_SLID, wanted->slid, &walk->source);
	if (!status && request_has(request, PATH_DGID) && !path_gid_is_ours(request, wanted->dgid))
		status = side_beyond(request, walk);
	else if (!status)
		status = side_find(request, PATH_DGID, wanted->dgid, PATH_DLID, wanted->dlid,
				   &walk->destination);
	if (status || !walk->possible)
		return status;
	request->end = (uint64_t)walk->source.count * walk->destination.count;
	request->most = request->end * paths_of_pair(request);
	return STATUS_OK;
}

/* A unit is a pair of ports. */
void step_paths(struct sa_request *request, uint64_t unit)
{
	const struct path_record *wanted = request->wanted;
	struct path_walk *walk = request->state;
	uint32_t destinations = walk->destination.count;
	unsigned most = 1, paths, given = 0;
	struct endport destination;

	if (!path_walk_pair(request, walk, (uint32_t)(unit / destinations),
			    (uint32_t)(unit % destinations), &destination))
		return;
	if (request->table)
		most = request_has(request, PATH_NUMB_PATH) ? wanted->numb_path : UINT_MAX;
	paths = path_walk_paths(walk, &destination);
	for (unsigned i = 0; i < paths && given < most && request_open(request); i++)
		given += path_walk_offer(request, walk, &destination, i);
}
