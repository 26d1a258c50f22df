/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MCMemberRecord (15.2.5.17): the rules for seeing, making, joining and leaving groups. The rules
 * are o15-0.1.3 to o15-0.2.4 of the specification, as restated in OpenSM's osm_sa_mcmember_record.c
 * and in osmtest. Where these leave a choice, a comment states the choice here. groups.c changes
 * the groups. Called by sa.c.
 *
 * A member is a port, named by its PortGID, whose prefix is that of the subnet or the link-local
 * default. A requester that shares a partition with a port may join it (a proxy join) to a group of
 * a partition that both are in. Otherwise a requester could make groups, and trees in switches, in
 * partitions from which it is excluded. A membership, and a group, counts for the port that
 * requests it, so a proxy join uses nothing of another port's limits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/be.h"
#include "lib/guid.h"
#include "sa/counts.h"
#include "sa/groups.h"
#include "sa/path_walk.h"
#include "sa/request.h"

enum {
	SCOPE_MASK = 0x0F,
	FLAGS_RESERVED = 0xE0, /* of the MGID's second byte */
	SCOPE_LINK_LOCAL = 2,
	SIGNATURE_IPOIB_V4 = 0x401B,
	SIGNATURE_IPOIB_V6 = 0x601B,
	SIGNATURE_SA = 0xA01B,
	HOP_LIMIT_MAX = 0xFF,
	RATE_10_GBPS = 3,
};

#define JOIN_COMPONENTS                                              \
	(COMPONENT(MC_MEMBER_MGID) | COMPONENT(MC_MEMBER_PORT_GID) | \
	 COMPONENT(MC_MEMBER_JOIN_STATE))
#define CREATE_COMPONENTS                                                             \
	(JOIN_COMPONENTS | COMPONENT(MC_MEMBER_Q_KEY) | COMPONENT(MC_MEMBER_TCLASS) | \
	 COMPONENT(MC_MEMBER_P_KEY) | COMPONENT(MC_MEMBER_FLOW_LABEL) | COMPONENT(MC_MEMBER_SL))

/* Comparison of a request with a group */

/* A value counts only with its selector. */
static struct path_query group_limits(const struct sa_request *request)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct path_limit none = {.selector = SELECT_BEST};
	struct path_query asked = {.mtu = none, .rate = none, .life_time = none};

	if (request_has(request, MC_MEMBER_MTU_SELECTOR) && request_has(request, MC_MEMBER_MTU))
		asked.mtu = (struct path_limit){wanted->mtu_selector, wanted->mtu};
	if (request_has(request, MC_MEMBER_RATE_SELECTOR) && request_has(request, MC_MEMBER_RATE))
		asked.rate = (struct path_limit){wanted->rate_selector, wanted->rate};
	if (request_has(request, MC_MEMBER_PACKET_LIFE_TIME_SELECTOR) &&
	    request_has(request, MC_MEMBER_PACKET_LIFE_TIME))
		asked.life_time = (struct path_limit){wanted->packet_life_time_selector,
						      wanted->packet_life_time};
	return asked;
}

/* An invalid MTU or rate is neither more nor less than a valid one. */
static bool limits_valid(const struct path_query *asked)
{
	return (asked->mtu.selector == SELECT_BEST || mtu_bytes(asked->mtu.value)) &&
	       (asked->rate.selector == SELECT_BEST || rate_deci_gbps(asked->rate.value));
}

/* The components that all groups of an IPoIB network share (o15-0.2.4 and OpenSM's comparison
 * with the broadcast group), as far as they concern packets. Returns the name of the first that
 * differs; NULL: none. */
static const char *packets_differ(const struct sa_request *request, const struct group_entry *group)
{
	const struct mc_member_record *wanted = request->wanted;

	if (request_has(request, MC_MEMBER_Q_KEY) && wanted->q_key != group->q_key)
		return "Q_Key";
	if (request_has(request, MC_MEMBER_P_KEY) && !pkeys_meet(wanted->p_key, group->p_key))
		return "P_Key";
	if (request_has(request, MC_MEMBER_TCLASS) && wanted->tclass != group->tclass)
		return "TClass";
	if (request_has(request, MC_MEMBER_SL) && wanted->sl != group->sl)
		return "SL";
	if (request_has(request, MC_MEMBER_FLOW_LABEL) && wanted->flow_label != group->flow_label)
		return "FlowLabel";
	if (request_has(request, MC_MEMBER_HOP_LIMIT) && wanted->hop_limit != group->hop_limit)
		return "HopLimit";
	return NULL;
}

static const char *group_differs(const struct sa_request *request, const struct group_entry *group)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct path_query asked = group_limits(request);
	const char *what = packets_differ(request, group);

	if (what)
		return what;
	if (!path_query_holds(&asked, group->mtu, group->rate, group->packet_life_time))
		return "MTU, Rate or PacketLifeTime";
	if (request_has(request, MC_MEMBER_MLID) && wanted->mlid != group->mlid)
		return "MLID";
	if (request_has(request, MC_MEMBER_SCOPE) && wanted->scope != group->scope)
		return "Scope";
	return NULL;
}

static struct mc_member_record record_of(const struct group_entry *group,
					 const struct member_entry *member)
{
	struct mc_member_record record = {
		.q_key = group->q_key,
		.mlid = group->mlid,
		.mtu_selector = SELECT_EXACTLY,
		.mtu = group->mtu,
		.tclass = group->tclass,
		.p_key = group->p_key,
		.rate_selector = SELECT_EXACTLY,
		.rate = group->rate,
		.packet_life_time_selector = SELECT_EXACTLY,
		.packet_life_time = group->packet_life_time,
		.sl = group->sl,
		.flow_label = group->flow_label,
		.hop_limit = group->hop_limit,
		.scope = group->scope,
	};

	memcpy(record.mgid, group->mgid, GID_SIZE);
	if (member) {
		be64_store(record.port_gid, member->port_prefix);
		be64_store(record.port_gid + 8, member->port_guid);
		record.join_state = member->join_state;
		record.proxy_join = member->proxy_join;
	}
	return record;
}

/* A requester outside the partition of a group does not see the group. */
static bool may_see_group(const struct sa_request *request, const struct group_entry *group)
{
	return endport_in_partition(&request->requester, group->p_key);
}

/* Whether the group with the requested MGID is hidden from the requester, now or as soon as the
 * tables of ports follow the partitions in force. */
static bool group_is_hidden(const struct sa_request *request)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct group_entry *group = groups_find(request->groups, wanted->mgid);

	return group && !(may_see_group(request, group) &&
			  request_keeps_key(request, &request->requester, group->p_key));
}

/* Get and GetTable */

static guid_t wanted_guid(const struct sa_request *request)
{
	return be64_load(((const struct mc_member_record *)request->wanted)->port_gid + 8);
}

/* Only trusted requesters may see the members of a group (15.2.5.17), also if they request a
 * certain member; others get groups. Each port may see its own memberships. */
static bool asks_members(const struct sa_request *request)
{
	return request->trust >= REQUESTER_TRUSTED || request_has(request, MC_MEMBER_PORT_GID);
}

static void walk_members(struct sa_request *request)
{
	const struct mc_member_record *wanted = request->wanted;
	struct member_entry key = {.port_guid = wanted_guid(request)};

	memcpy(key.mgid, wanted->mgid, GID_SIZE);
	if (request_has(request, MC_MEMBER_PORT_GID)) {
		if (path_gid_is_ours(request, wanted->port_gid) &&
		    (request->trust >= REQUESTER_TRUSTED ||
		     key.port_guid == request->requester.guid))
			request_walk(request, REGISTRY_MEMBER, MEMBER_BY_PORT, &key);
	} else {
		request_walk(request, REGISTRY_MEMBER,
			     request_has(request, MC_MEMBER_MGID) ? MEMBER_BY_GROUP : -1, &key);
	}
}

uint16_t begin_mc_members(struct sa_request *request)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct group_entry key = {.mlid = wanted->mlid};

	if (asks_members(request))
		walk_members(request);
	else if (request_has(request, MC_MEMBER_MGID)) /* at most one group: no walk */
		request->most = request->end = 1;
	else
		request_walk(request, REGISTRY_GROUP,
			     request_has(request, MC_MEMBER_MLID) ? GROUP_BY_MLID : -1, &key);
	return STATUS_OK;
}

static void offer(struct sa_request *request, const struct group_entry *group,
		  const struct member_entry *member)
{
	const uint64_t compared = COMPONENT(MC_MEMBER_MGID) | COMPONENT(MC_MEMBER_JOIN_STATE) |
				  COMPONENT(MC_MEMBER_PROXY_JOIN);
	struct mc_member_record record;

	if (!group || !may_see_group(request, group) || group_differs(request, group))
		return;
	record = record_of(group, member);
	if (!record_matches(request->format, request->mask & compared, request->wanted, &record))
		return;
	if (request->trust < REQUESTER_TRUSTED) {
		memset(record.port_gid, 0, GID_SIZE);
		record.join_state = record.proxy_join = 0;
	}
	request_offer(request, 0, &record);
}

void step_mc_member(struct sa_request *request, uint64_t unit)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct member_entry *member;
	const struct group_entry *group;

	(void)unit;
	if (asks_members(request)) {
		member = request_walk_next(request);
		if (member)
			offer(request, groups_find(request->groups, member->mgid), member);
		return;
	}
	group = request->walk ? request_walk_next(request)
			      : groups_find(request->groups, wanted->mgid);
	offer(request, group, NULL);
}

/* Set */

/* Logs the refusal. Returns the status. */
static uint16_t refuse_by(struct sa_request *request, uint16_t status,
			  const struct log_subject *subject, const char *why)
{
	const struct mc_member_record *wanted = request->wanted;
	char mgid[GID_TEXT];

	request->logged = true;
	log_limited(request->refusals, LOG_NOTICE, subject,
		    "LID %u wants port 0x%016" PRIx64 " to join group %s and is refused: %s",
		    request->from->lid, be64_load(wanted->port_gid + 8),
		    gid_text(wanted->mgid, mgid), why);
	return status;
}

/* For a hidden group the log has that reason; the status does not reveal it. */
static uint16_t member_refuse(struct sa_request *request, uint16_t status, const char *why)
{
	const struct log_subject subject = {.lid = request->from->lid};

	if (group_is_hidden(request))
		why = "the group is of a partition that the requester is not in";
	return refuse_by(request, status, &subject, why);
}

static uint16_t refuse_beyond(struct sa_request *request, enum sa_limit limit, const char *why)
{
	const struct log_subject subject = request_subject(request, MESSAGE_SA_LIMIT);

	request->limit = limit;
	return refuse_by(request, SA_NO_RESOURCES, &subject, why);
}

/* The port of the request, in this subnet, for which the requester may act. */
static uint16_t member_find_port(struct sa_request *request, struct endport *out)
{
	const struct mc_member_record *wanted = request->wanted;
	struct endport port;

	if (!path_gid_is_ours(request, wanted->port_gid))
		return member_refuse(request, SA_REQ_INVALID_GID,
				     "the PortGID is none of this subnet");
	if (!lookup_guid(request->lookup, wanted_guid(request), &port) ||
	    !request_may_see(request, &port))
		return member_refuse(request, SA_REQ_INVALID,
				     "there is no such port, or they share no partition");
	*out = port;
	return STATUS_OK;
}

/* o15-0.2.1: a port alone ends the memberships that it requested itself. If only another port
 * requested a membership, any port of the partition may end it. A requester with an SA_Key that
 * is not the default may end both; OpenSM's validate_modify() requires no key. */
static bool member_may_change(const struct sa_request *request, const struct endport *port,
			      const struct member_entry *member, const struct group_entry *group)
{
	if (request->trust == REQUESTER_ADMINISTRATOR)
		return true;
	if (member->proxy_join)
		return endport_in_partition(&request->requester, group->p_key);
	return endport_same(&request->requester, port);
}

/* Whether the port supports the MTU and rate of the group. A value that its PortInfo does not
 * have, such as the rate of port 0 of a switch, is no obstacle. */
static bool port_can(struct sa_request *request, const struct endport *port,
		     const struct group_entry *group)
{
	measure_t measure = lookup_port(request->lookup, port);
	uint8_t mtu, rate;

	if (measure == MEASURE_NO_WAY)
		return false;
	mtu = measure_mtu(measure);
	rate = measure_rate(request->lookup, measure);
	return (!mtu || mtu >= group->mtu) &&
	       (!rate || rate_deci_gbps(rate) >= rate_deci_gbps(group->rate));
}

static uint16_t signature_of(const uint8_t mgid[GID_SIZE])
{
	return be16_load(mgid + 2);
}

static bool is_ipoib(const uint8_t mgid[GID_SIZE])
{
	return signature_of(mgid) == SIGNATURE_IPOIB_V4 || signature_of(mgid) == SIGNATURE_IPOIB_V6;
}

/* o15-0.1.5: MGIDs that a client cannot request. Reserved scopes are allowed. */
static bool mgid_valid(const uint8_t mgid[GID_SIZE])
{
	return path_gid_is_multicast(mgid) && !(mgid[1] & FLAGS_RESERVED) &&
	       !(signature_of(mgid) == SIGNATURE_SA && (mgid[1] & SCOPE_MASK) == SCOPE_LINK_LOCAL);
}

/* RFC 4391, section 4: bytes 4 and 5 of an IPoIB MGID are the P_Key of its network. A group with
 * this MGID cannot be made in another partition, even before the network exists: it would block
 * the groups of the network. OpenSM accepts any P_Key (validate_requested_mgid()). */
static bool partition_agrees(const struct sa_request *request, const uint8_t mgid[GID_SIZE])
{
	const struct mc_member_record *wanted = request->wanted;

	return !is_ipoib(mgid) || !((be16_load(mgid + 4) ^ wanted->p_key) & ~PKEY_FULL_MEMBER);
}

/* A group of an IPoIB network (RFC 4391) has the properties of its broadcast group, which must
 * exist before. */
static bool network_agrees(const struct sa_request *request, const uint8_t mgid[GID_SIZE])
{
	uint8_t broadcast[GID_SIZE] = {0xFF,   0x10 | (mgid[1] & SCOPE_MASK), 0x40, 0x1B, mgid[4],
				       mgid[5]};
	const struct group_entry *group;

	memset(broadcast + 12, 0xFF, 4);
	if (!is_ipoib(mgid) || !memcmp(mgid, broadcast, GID_SIZE))
		return true;
	group = groups_find(request->groups, broadcast);
	return group && !packets_differ(request, group);
}

/* MTU, rate and life time of a new group: as requested, limited to the capabilities of its first
 * port. The default is the best value (o15-0.2.3 leaves it to the SA). */
static bool choose_limits(struct sa_request *request, const struct endport *port,
			  struct group_entry *group)
{
	const struct path_query asked = group_limits(request);
	measure_t measure = lookup_port(request->lookup, port);
	uint8_t rate;

	if (measure == MEASURE_NO_WAY)
		return false;
	rate = measure_rate(request->lookup, measure);
	group->mtu = measure_mtu(measure);
	group->rate = path_rate_known(rate ? rate : RATE_10_GBPS, request->options->max_rate_enum);
	group->packet_life_time = request->options->packet_life_time;
	return path_limit_mtu(&asked.mtu, &group->mtu) &&
	       path_limit_rate(&asked.rate, &group->rate) &&
	       path_limit_life_time(&asked.life_time, &group->packet_life_time);
}

/* The group that the request would make. */
static uint16_t design_group(struct sa_request *request, const struct endport *port,
			     struct group_entry *out)
{
	static const uint8_t none[GID_SIZE];
	const struct mc_member_record *wanted = request->wanted;
	bool by_scope = request_has(request, MC_MEMBER_SCOPE);
	bool named = memcmp(wanted->mgid, none, GID_SIZE) != 0;
	struct group_entry group = {
		.q_key = wanted->q_key,
		.tclass = wanted->tclass,
		.p_key = wanted->p_key,
		.sl = wanted->sl,
		.flow_label = wanted->flow_label,
		.scope = SCOPE_LINK_LOCAL,
		.owner = request->requester.guid,
	};

	if (!(wanted->join_state & JOIN_KEEPS_GROUP)) { /* o15-0.1.9 */
		request->logged =
			true; /* Linux does this before it sends to a group without members */
		return SA_REQ_INVALID;
	}
	if ((request->mask & CREATE_COMPONENTS) != CREATE_COMPONENTS) /* o15-0.1.3 */
		return member_refuse(
			request, SA_REQ_INSUFFICIENT_COMPONENTS,
			"there is no such group, and components to create it are missing");
	if (named && !mgid_valid(wanted->mgid))
		return member_refuse(request, SA_REQ_INVALID, "no group may have this MGID");
	if (named && !partition_agrees(request, wanted->mgid))
		return member_refuse(request, SA_REQ_INVALID,
				     "the P_Key in its IPoIB MGID is not the P_Key of the request");
	if (named && !network_agrees(request, wanted->mgid))
		return member_refuse(
			request, SA_REQ_INVALID,
			"the broadcast group of its IPoIB network is missing or differs; define "
			"the partition with ipoib");
	if (!choose_limits(request, port, &group))
		return member_refuse(request, SA_REQ_INVALID,
				     "the port does not support this MTU, Rate or PacketLifeTime "
				     "of a new group");
	if (named)
		group.scope = wanted->mgid[1] & SCOPE_MASK;
	if (by_scope)
		group.scope = wanted->scope;
	if (request_has(request, MC_MEMBER_HOP_LIMIT))
		group.hop_limit = wanted->hop_limit;
	else if (group.scope != SCOPE_LINK_LOCAL)
		group.hop_limit = HOP_LIMIT_MAX;
	if (named)
		memcpy(group.mgid, wanted->mgid, GID_SIZE);
	else
		groups_make_mgid(request->groups, group.scope, group.mgid);
	*out = group;
	return STATUS_OK;
}

/* Completes a valid request: the group counts for the requester and gets an MLID. */
static uint16_t admit_group(struct sa_request *request, struct group_entry *group)
{
	const struct mc_member_record *wanted = request->wanted;
	uint32_t made = counts_of(request->counts, COUNT_GROUPS_MADE, &request->requester.guid);
	bool beyond_share = made * GROUPS_OWN_SHARE >= request->options->groups_per_port;

	if (made >= request->options->groups_per_port)
		return refuse_beyond(request, SA_LIMIT_GROUPS,
				     "the requester has made as many groups as one port may "
				     "(groups_per_port)");
	group->mlid = groups_mlid(request->groups, group->mgid,
				  request_has(request, MC_MEMBER_MLID) ? wanted->mlid : LID_NONE,
				  beyond_share ? GROUP_BEYOND_SHARE : GROUP_OF_CLIENT);
	if (group->mlid == LID_NONE && beyond_share)
		return refuse_beyond(request, SA_LIMIT_GROUPS,
				     "half of the MLIDs are in use, and the requester has made a "
				     "quarter of the groups that one port may (groups_per_port)");
	if (group->mlid == LID_NONE)
		return refuse_beyond(request, SA_LIMIT_MLIDS,
				     "no MLID is left for a group of clients; the last are kept "
				     "for groups of partitions; lower ipv6_snm_mlids");
	return STATUS_OK;
}

/* Finds the group to join, existing or new. A limited member of its partition may join too, and
 * sends to full members. o15-0.1.8 requires that the port is in the partition. o15-0.2.1
 * requires it of the requester to change a proxy membership; here it also applies to the first
 * join, which OpenSM does not check. For a hidden group the checks are those of a new group, so
 * that the status does not reveal it. */
static uint16_t judge_group(struct sa_request *request, const struct endport *port,
			    struct group_entry *out)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct group_entry *known =
		group_is_hidden(request) ? NULL : groups_find(request->groups, wanted->mgid);
	const char *differs = known ? group_differs(request, known) : NULL;
	uint16_t status = STATUS_OK;
	char why[64];

	if (!known) {
		status = design_group(request, port, out);
	} else if (!differs) { /* o15-0.2.4 */
		*out = *known;
	} else {
		snprintf(why, sizeof(why), "the group has another %s", differs);
		status = member_refuse(request, SA_REQ_INVALID, why);
	}
	if (!status && !request_both_in(request, port, out->p_key))
		status = member_refuse(request, SA_REQ_INVALID,
				       "the port or the requester is not in the group's partition");
	if (!status && !port_can(request, port, out))
		status = member_refuse(request, SA_REQ_INVALID,
				       "the port does not support the group's MTU or rate");
	if (!status && !known)
		status = admit_group(request, out);
	return status;
}

/* The membership after the request: the previous one and the requested one (o15-0.1.11). A join
 * by the port itself makes the membership its own, otherwise the port that joined it could end
 * it. In OpenSM, osm_mgrp_add_port(), it stays a proxy membership. */
static uint16_t judge_member(struct sa_request *request, const struct endport *port,
			     const struct group_entry *group, struct member_entry *out)
{
	const struct mc_member_record *wanted = request->wanted;
	uint64_t prefix = request->options->subnet_prefix;
	bool hidden = group_is_hidden(request);
	const struct member_entry *known =
		hidden ? NULL
		       : groups_member(request->groups, group->mgid, prefix, wanted_guid(request));
	bool own = endport_same(&request->requester, port);
	bool takes = !known ||
		     (own && known->proxy_join); /* the membership counts for the requester now */

	if (known && !member_may_change(request, port, known, group))
		return member_refuse(request, SA_REQ_INVALID,
				     "another port requested this membership");
	if (takes && !request_may_register(request, request->requester.guid))
		return refuse_beyond(request, SA_LIMIT_REGISTRATIONS,
				     "the requester has registered as much as one port may "
				     "(registrations_per_port)");
	/* An MGID has one group in the subnet, so a second one cannot be made. */
	if (hidden)
		return member_refuse(request, SA_REQ_INVALID, "the group is hidden");
	*out = (struct member_entry){.port_prefix = prefix, .port_guid = wanted_guid(request)};
	memcpy(out->mgid, group->mgid, GID_SIZE);
	if (known)
		*out = *known;
	if (takes) {
		out->proxy_join = !own;
		out->owner = request->requester.guid;
	}
	out->join_state |= wanted->join_state;
	return STATUS_OK;
}

/* The answer repeats the requested PortGID, with either prefix. */
static void member_give(struct sa_request *request, const struct group_entry *group,
			const struct member_entry *member)
{
	const struct mc_member_record *wanted = request->wanted;
	struct mc_member_record record = record_of(group, member);

	memcpy(record.port_gid, wanted->port_gid, GID_SIZE);
	request_give(request, &record);
}

uint16_t begin_join(struct sa_request *request)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct path_query asked = group_limits(request);
	struct endport port;
	struct group_entry group;
	struct member_entry member;
	uint16_t status;

	if ((request->mask & JOIN_COMPONENTS) != JOIN_COMPONENTS)
		return member_refuse(request, SA_REQ_INSUFFICIENT_COMPONENTS,
				     "MGID, PortGID or JoinState is missing");
	if (!wanted->join_state || !limits_valid(&asked) ||
	    (request_has(request, MC_MEMBER_P_KEY) && !(wanted->p_key & ~PKEY_FULL_MEMBER)))
		return member_refuse(request, SA_REQ_INVALID,
				     "there is no such JoinState, MTU, Rate or P_Key");
	status = member_find_port(request, &port);
	if (!status)
		status = judge_group(request, &port, &group);
	if (!status)
		status = judge_member(request, &port, &group, &member);
	if (status)
		return status;
	groups_join(request->groups, &group, &member);
	member_give(request, &group, &member);
	return STATUS_OK;
}

/* Delete */

/* o15-0.1.14: a request to leave must have JoinState bits of the membership and no others. If
 * the requester is in the partition, the port may be absent. */
uint16_t begin_leave(struct sa_request *request)
{
	const struct mc_member_record *wanted = request->wanted;
	const struct group_entry *known;
	const struct member_entry *member;
	struct group_entry group;
	struct member_entry left;
	struct endport port = {.at = {.sw = -1, .end = -1}};

	if ((request->mask & JOIN_COMPONENTS) != JOIN_COMPONENTS)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (!path_gid_is_ours(request, wanted->port_gid))
		return SA_REQ_INVALID_GID;
	known = groups_find(request->groups, wanted->mgid);
	member = groups_member(request->groups, wanted->mgid, request->options->subnet_prefix,
			       wanted_guid(request));
	lookup_guid(request->lookup, wanted_guid(request), &port);
	if (!known || !member || !wanted->join_state || wanted->join_state & ~member->join_state ||
	    !member_may_change(request, &port, member, known))
		return SA_REQ_INVALID;
	group = *known; /* it may be freed below */
	left = *member;
	left.join_state = groups_leave(request->groups, member, wanted->join_state);
	member_give(request, &group, &left);
	return STATUS_OK;
}
