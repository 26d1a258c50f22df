/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PathRecord to a multicast group, given by its MGID as DGID, by its MLID as DLID, or by both.
 * There is one path, from a member, with the properties of the group: a port without these
 * capabilities could not join. Only trusted requesters may see the members of a group, so others
 * get answers only for themselves. Called by path_record.c.
 *
 * Groups may share an MLID: a DLID alone means the first such group that satisfies the request.
 */
#include <string.h>

#include "lib/be.h"
#include "sa/groups.h"
#include "sa/path_walk.h"

bool path_is_to_group(const struct sa_request *request)
{
	const struct path_record *wanted = request->wanted;

	return (request_has(request, PATH_DGID) && path_gid_is_multicast(wanted->dgid)) ||
	       (request_has(request, PATH_DLID) && wanted->dlid >= LID_MULTICAST_MIN &&
		wanted->dlid <= LID_MULTICAST_MAX);
}

/* The source: by GID, by LID or by both. A GetTable request may have neither; then it is the
 * requester. */
static uint16_t find_source(struct sa_request *request, bool *found, struct endport *out)
{
	const struct path_record *wanted = request->wanted;
	bool by_gid = request_has(request, PATH_SGID), by_lid = request_has(request, PATH_SLID);
	struct endport lid_owner = request->requester;

	*found = true;
	*out = request->requester;
	if (!by_gid && !by_lid && !request->table)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (by_gid && !path_gid_is_ours(request, wanted->sgid))
		return SA_REQ_INVALID_GID;
	if (by_gid)
		*found = lookup_guid(request->lookup, be64_load(wanted->sgid + 8), out);
	if (*found && by_lid)
		*found = endport_by_lid(request->topology, wanted->slid, &lid_owner) &&
			 (!by_gid || endport_same(out, &lid_owner));
	if (*found && by_lid)
		*out = lid_owner;
	*found = *found && (endport_same(out, &request->requester) ||
			    (request->trust >= REQUESTER_TRUSTED && request_may_see(request, out)));
	return STATUS_OK;
}

static bool group_matches(const struct sa_request *request, const struct path_query *query,
			  const struct group_entry *group)
{
	const struct path_record *wanted = request->wanted;

	return path_query_holds(query, group->mtu, group->rate, group->packet_life_time) &&
	       (!request_has(request, PATH_DGID) || !memcmp(wanted->dgid, group->mgid, GID_SIZE)) &&
	       (!request_has(request, PATH_DLID) || wanted->dlid == group->mlid) &&
	       (!request_has(request, PATH_RAW_TRAFFIC) || !wanted->raw_traffic) &&
	       (!request_has(request, PATH_P_KEY) || pkeys_meet(wanted->p_key, group->p_key)) &&
	       (!request_has(request, PATH_SL) || wanted->sl == group->sl) &&
	       (!request_has(request, PATH_TCLASS) || wanted->tclass == group->tclass) &&
	       (!request_has(request, PATH_FLOW_LABEL) ||
		wanted->flow_label == group->flow_label) &&
	       (!request_has(request, PATH_HOP_LIMIT) || wanted->hop_limit == group->hop_limit);
}

/* The requested group, with source as a member; NULL if there is none. */
static const struct group_entry *find_group(const struct sa_request *request,
					    const struct path_query *query,
					    const struct endport *source)
{
	const struct path_record *wanted = request->wanted;
	uint64_t prefix = request->options->subnet_prefix;
	bool by_gid = request_has(request, PATH_DGID);
	const struct group_entry key = {.mlid = wanted->dlid};
	const struct group_entry *group =
		by_gid ? groups_find(request->groups, wanted->dgid)
		       : registry_first(request->registry, REGISTRY_GROUP, GROUP_BY_MLID, &key);

	while (group && !(group_matches(request, query, group) &&
			  groups_member(request->groups, group->mgid, prefix, source->guid)))
		group = by_gid ? NULL
			       : registry_next(request->registry, REGISTRY_GROUP, GROUP_BY_MLID,
					       group);
	return group;
}

static void path_group_give(struct sa_request *request, const struct path_record *echo,
			    const struct endport *source, const struct group_entry *group)
{
	const struct path_record *wanted = request->wanted;
	struct path_record record = *echo;
	uint8_t *place;

	be64_store(record.sgid + 8, source->guid);
	memcpy(record.dgid, group->mgid, GID_SIZE);
	record.slid = request_has(request, PATH_SLID) ? wanted->slid : source->lid;
	record.dlid = group->mlid;
	record.flow_label = group->flow_label;
	record.hop_limit = group->hop_limit;
	record.tclass = group->tclass;
	record.reversible = request_has(request, PATH_REVERSIBLE) && wanted->reversible;
	record.numb_path = 1;
	record.p_key = group->p_key;
	record.sl = group->sl;
	record.mtu = group->mtu;
	record.rate = group->rate;
	record.packet_life_time = group->packet_life_time;
	place = request_place(request);
	if (place)
		path_record_encode(&record, place);
}

uint16_t begin_group_path(struct sa_request *request)
{
	const struct path_record *wanted = request->wanted;
	struct path_walk *walk = path_walk_new(request, request->mask, wanted);
	bool none_asked =
		request->table && request_has(request, PATH_NUMB_PATH) && !wanted->numb_path;
	const struct group_entry *group;
	struct endport source;
	bool found;
	uint16_t status = find_source(request, &found, &source);

	if (status || !found || none_asked)
		return status;
	group = find_group(request, &walk->query, &source);
	if (group)
		path_group_give(request, &walk->echo, &source, group);
	return STATUS_OK;
}
