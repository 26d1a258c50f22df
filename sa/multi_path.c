/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MultiPathRecord (SubnAdmGetMulti): paths from a set of ports to another, as PathRecords. Called
 * by sa.c.
 *
 * The client wants paths that fail independently. So the first paths are between different ports:
 * the first source to the first destination, the second to the second. Then the other diagonals
 * follow, and then the next LIDs of the same ports. NumbPath limits the number, PATHS_MAX at most,
 * as in OpenSM. IndependenceSelector changes nothing.
 *
 * Both counts are required and must not be 0, otherwise the status is INSUFFICIENT_COMPONENTS. A
 * GID of no port in this subnet, or of a group, is refused with INVALID_GID. The request may be
 * longer than a MAD, because the kernel reassembles it.
 */
#include "lib/be.h"
#include "sa/path_walk.h"

enum { PATHS_MAX = 127 };

/* The components as those of PathRecord. */
static const struct {
	uint8_t ours, path;
} components[] = {
	{MULTI_PATH_RAW_TRAFFIC, PATH_RAW_TRAFFIC},
	{MULTI_PATH_FLOW_LABEL, PATH_FLOW_LABEL},
	{MULTI_PATH_HOP_LIMIT, PATH_HOP_LIMIT},
	{MULTI_PATH_TCLASS, PATH_TCLASS},
	{MULTI_PATH_REVERSIBLE, PATH_REVERSIBLE},
	{MULTI_PATH_P_KEY, PATH_P_KEY},
	{MULTI_PATH_QOS_CLASS, PATH_QOS_CLASS},
	{MULTI_PATH_SL, PATH_SL},
	{MULTI_PATH_MTU_SELECTOR, PATH_MTU_SELECTOR},
	{MULTI_PATH_MTU, PATH_MTU},
	{MULTI_PATH_RATE_SELECTOR, PATH_RATE_SELECTOR},
	{MULTI_PATH_RATE, PATH_RATE},
	{MULTI_PATH_PACKET_LIFE_TIME_SELECTOR, PATH_PACKET_LIFE_TIME_SELECTOR},
	{MULTI_PATH_PACKET_LIFE_TIME, PATH_PACKET_LIFE_TIME},
	{MULTI_PATH_SERVICE_ID_8MSB, PATH_SERVICE_ID_8MSB},
	{MULTI_PATH_SERVICE_ID_56LSB, PATH_SERVICE_ID_56LSB},
};

static uint64_t path_mask(const struct sa_request *request)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		if (request_has(request, components[i].ours))
			mask |= COMPONENT(components[i].path);
	return mask;
}

static struct path_record path_wanted(const struct multi_path_record *wanted)
{
	return (struct path_record){
		.raw_traffic = wanted->raw_traffic,
		.flow_label = wanted->flow_label,
		.hop_limit = wanted->hop_limit,
		.tclass = wanted->tclass,
		.reversible = wanted->reversible,
		.p_key = wanted->p_key,
		.qos_class = wanted->qos_class,
		.sl = wanted->sl,
		.mtu_selector = wanted->mtu_selector,
		.mtu = wanted->mtu,
		.rate_selector = wanted->rate_selector,
		.rate = wanted->rate,
		.packet_life_time_selector = wanted->packet_life_time_selector,
		.packet_life_time = wanted->packet_life_time,
		.service_id_8msb = wanted->service_id_8msb,
		.service_id_56lsb = wanted->service_id_56lsb,
	};
}

struct multi_walk {
	struct path_walk *walk;
	uint8_t lmc; /* the highest of all ends */
	unsigned most, given;
};

/* The ports of count GIDs, each once. False if a GID belongs to no port. */
static bool side_read(const struct sa_request *request, const uint8_t *gids, unsigned count,
		      struct path_side *side, uint8_t *lmc)
{
	uint32_t *number = arena_array(request->arena, count, sizeof(*number));
	guid_t *guid = arena_array(request->arena, count, sizeof(*guid));

	side->number = number;
	side->guid = guid;
	for (const uint8_t *gid = gids; gid < gids + count * (size_t)GID_SIZE; gid += GID_SIZE) {
		struct endport port;
		uint32_t i = 0, found;

		if (!path_gid_is_ours(request, gid) ||
		    !lookup_guid(request->lookup, be64_load(gid + 8), &port))
			return false;
		found = endport_number(request->topology, &port);
		while (i < side->count && number[i] != found)
			i++;
		if (i == side->count)
			guid[i] = be64_load(gid + 8);
		number[i] = found;
		if (port.lmc > *lmc)
			*lmc = port.lmc;
		if (i == side->count)
			side->count++;
	}
	return true;
}

uint16_t begin_multi_paths(struct sa_request *request)
{
	const struct multi_path_record *wanted = request->wanted;
	const struct path_record path = path_wanted(wanted);
	const uint8_t *gids = request->data + multi_path_record_format.wire_size;
	size_t count = (size_t)wanted->sgid_count + wanted->dgid_count;
	struct multi_walk *multi = arena_alloc(request->arena, sizeof(*multi));

	if (!request_has(request, MULTI_PATH_SGID_COUNT) ||
	    !request_has(request, MULTI_PATH_DGID_COUNT) || !wanted->sgid_count ||
	    !wanted->dgid_count)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (multi_path_record_format.wire_size + count * GID_SIZE > request->data_size)
		return SA_REQ_INVALID;
	multi->walk = path_walk_new(request, path_mask(request), &path);
	request->state = multi;
	multi->most = request_has(request, MULTI_PATH_NUMB_PATH) ? wanted->numb_path : PATHS_MAX;
	if (!side_read(request, gids, wanted->sgid_count, &multi->walk->source, &multi->lmc) ||
	    !side_read(request, gids + wanted->sgid_count * (size_t)GID_SIZE, wanted->dgid_count,
		       &multi->walk->destination, &multi->lmc))
		return SA_REQ_INVALID_GID;
	request->most = multi->most;
	if (multi->walk->possible && multi->most)
		request->end = (uint64_t)multi->walk->source.count * multi->walk->destination.count
			       << multi->lmc;
	return STATUS_OK;
}

/* A unit is an index of a pair's LIDs, a diagonal and a place on it. */
void step_multi_path(struct sa_request *request, uint64_t unit)
{
	struct multi_walk *multi = request->state;
	struct path_walk *walk = multi->walk;
	uint32_t sources = walk->source.count, destinations = walk->destination.count;
	uint32_t longer = sources > destinations ? sources : destinations;
	uint32_t shorter = sources + destinations - longer;
	uint64_t pair = unit % ((uint64_t)sources * destinations);
	uint32_t along = (uint32_t)(pair % longer), diagonal = (uint32_t)(pair / longer);
	uint32_t across = (along + diagonal) % shorter;
	unsigned number = (unsigned)(unit / ((uint64_t)sources * destinations));
	bool wide = destinations > sources;
	struct endport destination;

	if (!path_walk_pair(request, walk, wide ? across : along, wide ? along : across,
			    &destination))
		return;
	if (number < path_walk_paths(walk, &destination))
		multi->given += path_walk_offer(request, walk, &destination, number);
	if (multi->given == multi->most)
		request->unit = request->end;
}
