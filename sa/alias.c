/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Set and Delete of GUIDInfoRecord, a block of eight GUIDs of a port; tables.c answers Get. The
 * component mask selects some of the eight GUIDs. LID and BlockNum are required, otherwise the
 * status is INSUFFICIENT_COMPONENTS; a block beyond GUIDCap is REQ_INVALID. Only the port itself
 * and a client with the SA_Key may change its GUIDs; other requests are DENIED. The first GUID of
 * block 0 is the port GUID: a request cannot change it, and the answer contains it.
 *
 * A status other than OK means that the whole request is wrong. Otherwise each GUID is checked
 * separately: the valid ones are set or deleted, the others declined, and the status is OK. The
 * answer has the registered GUID in each place, or 0. OpenSM does the same
 * (osm_sa_guidinfo_record.c, set_guidinfo()). Linux's mlx4 compares each place of the answer to a
 * Set with its request (alias_GUID.c, aliasguid_query_handler()). After a status it would only
 * repeat the same block, and no virtual function of the block would come up. For a Delete, mlx4
 * uses only the status, and repeats the request only after an error. A virtual function leaves its
 * groups at about the same time. So a Delete of a GUID that is still a member is DENIED as a whole,
 * as in OpenSM (del_guidinfo()). A DENIED request counts each GUID that it selects.
 *
 * A request is trusted for a GUID if it has an SA_Key that is not the default, or if alias_guids
 * allows the port this GUID. For any other request the rule depends on what its port may know. A
 * full member of the default partition can see every port, so a refusal reveals nothing. It may
 * have any GUID that belongs to no other port and is named in no partition. For other ports, each
 * GUID that the port does not have already is declined in the same way, whether it exists or not.
 *
 * A Set of 0 requests a GUID from the SM. Its first byte is 0x02 (locally administered) and the
 * rest a hash of the port and the place, so that a manager without records assigns the same GUIDs
 * again. Setting 0 again changes nothing. An alias that is a member of a multicast group cannot be
 * deleted. A Set of another GUID in its place ends these memberships, because a hypervisor that
 * crashed has left no group. mlx4 has new random GUIDs after each start of a hypervisor
 * (mlx4_core's mlx4_set_random_admin_guid()). An alias that was granted with the SA_Key is changed
 * only by a request with the SA_Key, and a grant of an administrator only by weftctl.
 *
 * A port may move an alias to another of its places. A trusted request takes an alias from another
 * port by the ranking of grants (store/alias.h), without waiting for the end of the grace. The
 * registrations under the alias are dropped. Called by sa.c.
 */
#include "sa/alias.h"

#include "lib/guid.h"
#include "lib/mem.h"
#include "sa/forget.h"
#include "sa/request.h"

#define LOCALLY_ADMINISTERED (UINT64_C(0x02) << 56)

/* The subject of a Set or Delete. */
struct change {
	struct endport port;
	const struct guid_info_record *wanted;
	unsigned first; /* index of the block's first GUID */
	unsigned cap;	/* number of GUIDs of the port */
	bool has_key;	/* an SA_Key that is not the default */
};

enum verdict_on_guid {
	GUID_FITS,
	GUID_BEYOND_CAP,
	GUID_KEPT,
	GUID_TWICE,
	GUID_OVER_LIMIT,
	GUID_NOT_ALLOWED,
	GUID_TAKEN,
	GUID_CLAIMED,
};

static const char *const reasons[] = {
	[GUID_BEYOND_CAP] = "the port has fewer GUIDs (GUIDCap)",
	[GUID_KEPT] = "the GUID in that place was granted: weftctl alias remove removes it, and "
		      "so does a request with the SA_Key if that key granted it",
	[GUID_TWICE] = "the request contains it twice",
	[GUID_OVER_LIMIT] = "the port has registered as much as registrations_per_port allows",
	[GUID_NOT_ALLOWED] =
		"the port is not a full member of the default partition, so it may have "
		"only GUIDs that alias_guids or weftctl alias set allows",
	[GUID_TAKEN] = "another port has it (weftctl alias list), or that place has another GUID",
	[GUID_CLAIMED] = "it belongs to an absent port, or partitions name it: alias_guids or "
			 "weftctl alias set can allow it",
};

static const struct alias_entry *alias_at(const struct sa_request *request,
					  const struct change *change, unsigned i)
{
	const struct alias_entry key = {.port_guid = change->port.guid,
					.index = (uint16_t)(change->first + i)};

	return registry_find(request->registry, REGISTRY_ALIAS, &key);
}

/* Whether the change selects this place of the eight. */
static bool is_meant(const struct sa_request *request, const struct change *change, unsigned i)
{
	return request_has(request, GUID_INFO_RECORD_GUID0 + i) && change->first + i > 0;
}

/* Counts the GUIDs of a request that is denied as a whole. */
static void count_denied(const struct sa_request *request, const struct change *change)
{
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
		request->aliases->stats->aliases_refused += is_meant(request, change, i);
}

/* Logs that the GUIDs are not those of the requester. */
static void deny_stranger(const struct sa_request *request, const struct change *change)
{
	const struct endport *from = &request->requester;
	const struct log_subject subject = alias_subject(from);
	char guid[GUID_TEXT], port[GUID_TEXT];

	count_denied(request, change);
	log_limited(&request->aliases->limit, LOG_NOTICE, &subject,
		    "\"%s\" port %u (GUID %s, LID %u) may not change alias GUIDs of \"%s\" port %u "
		    "(GUID %s): the request needs the SA_Key",
		    from->facts->description, from->num, guid_text(from->guid, guid), from->lid,
		    change->port.facts->description, change->port.num,
		    guid_text(change->port.guid, port));
}

static uint16_t change_read(const struct sa_request *request, struct change *out)
{
	const struct guid_info_record *wanted = request->wanted;
	bool has_key = request->trust == REQUESTER_ADMINISTRATOR;
	const struct port_info *info;
	struct endport port;

	if (!request_has(request, GUID_INFO_RECORD_LID) ||
	    !request_has(request, GUID_INFO_RECORD_BLOCK_NUM))
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (!endport_by_lid(request->topology, wanted->lid, &port) ||
	    !request_may_see(request, &port))
		return SA_NO_RECORDS;
	info = facts_port_info(port.facts, port.num);
	*out = (struct change){
		.port = port,
		.wanted = wanted,
		.first = wanted->block_num * (unsigned)GUID_BLOCK_GUIDS,
		.cap = info ? info->guid_cap : 0,
		.has_key = has_key,
	};
	if (!has_key && !endport_same(&request->requester, &port)) {
		deny_stranger(request, out);
		return SA_REQ_DENIED;
	}
	return out->first < out->cap ? STATUS_OK : SA_REQ_INVALID;
}

static bool is_member(const struct sa_request *request, guid_t guid)
{
	const struct member_entry key = {.port_guid = guid};

	return registry_first(request->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key) != NULL;
}

/* The record of the port with this alias, whether the port is present or not. */
static const struct alias_entry *alias_owner(const struct sa_request *request, guid_t guid)
{
	const struct alias_entry key = {.guid = guid};

	return registry_first(request->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
}

static bool alias_guid_is_port(const struct sa_request *request, guid_t guid)
{
	struct endport port;

	return lookup_guid(request->lookup, guid, &port);
}

/* Whether it is the GUID of a port, which no other port can have. */
static bool is_port_guid(const struct sa_request *request, guid_t guid)
{
	struct endport port;

	return lookup_guid(request->lookup, guid, &port) && port.guid == guid;
}

/* The claim of the manager on the GUID, and registrations of other ports under it. */
static enum alias_claim claim_on(const struct sa_request *request, guid_t port_guid, guid_t guid)
{
	const struct aliases *aliases = request->aliases;
	const struct service_entry key = {.gid_guid = guid}, *service;
	enum alias_claim claim = aliases->claim
					 ? aliases->claim(aliases->claim_ctx, port_guid, guid)
					 : ALIAS_UNCLAIMED;

	if (claim != ALIAS_UNCLAIMED)
		return claim;
	for (service = registry_first(request->registry, REGISTRY_SERVICE, SERVICE_BY_PORT, &key);
	     service;
	     service = registry_next(request->registry, REGISTRY_SERVICE, SERVICE_BY_PORT, service))
		if (service->owner != port_guid)
			return ALIAS_CLAIMED;
	return ALIAS_UNCLAIMED;
}

/* Counts a refusal and, within the rate limit, logs it. */
static void alias_refused(const struct sa_request *request, const struct change *change, unsigned i,
			  enum verdict_on_guid verdict)
{
	const struct log_subject subject = alias_subject(&change->port);
	char guid[GUID_TEXT], port[GUID_TEXT];

	request->aliases->stats->aliases_refused++;
	request->aliases->stats->over_limit[SA_LIMIT_REGISTRATIONS] += verdict == GUID_OVER_LIMIT;
	log_limited(&request->aliases->limit, LOG_NOTICE, &subject,
		    "\"%s\" port %u (GUID %s, LID %u) may not change its alias GUID at index %u to "
		    "%s: %s",
		    change->port.facts->description, change->port.num,
		    guid_text(change->port.guid, port), change->port.lid, change->first + i,
		    guid_text(change->wanted->info.guid[i], guid), reasons[verdict]);
}

/* Makes a GUID of the SM for this place. */
static guid_t guid_make(const struct sa_request *request, const struct change *change, unsigned i)
{
	uint64_t hash = change->port.guid ^ (uint64_t)(change->first + i) << 48;
	guid_t guid;

	do {
		hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15) + 1;
		hash ^= hash >> 29;
		guid = LOCALLY_ADMINISTERED | hash >> 8;
	} while (alias_owner(request, guid) || alias_guid_is_port(request, guid) ||
		 claim_on(request, change->port.guid, guid) == ALIAS_CLAIMED);
	return guid;
}

/* Whether this port may have a GUID that it does not have yet. */
static enum verdict_on_guid judge_new(const struct sa_request *request, const struct change *change,
				      guid_t guid)
{
	const struct alias_entry *holder = alias_owner(request, guid);
	enum alias_claim claim = claim_on(request, change->port.guid, guid);
	enum alias_grant asked = claim == ALIAS_LISTED ? ALIAS_BY_LIST : ALIAS_NOT_GRANTED;

	if (change->has_key)
		asked = ALIAS_BY_SA_KEY;
	if (asked == ALIAS_NOT_GRANTED) {
		if (!endport_is_full_member(&change->port, PKEY_DEFAULT_FULL))
			return GUID_NOT_ALLOWED;
		if (holder || is_port_guid(request, guid))
			return GUID_TAKEN;
		return claim == ALIAS_CLAIMED ? GUID_CLAIMED : GUID_FITS;
	}
	if (is_port_guid(request, guid))
		return GUID_TAKEN;
	return !holder || alias_may_move(alias_grant_of(request->aliases, holder), asked,
					 !alias_guid_is_port(request, holder->port_guid))
		       ? GUID_FITS
		       : GUID_TAKEN;
}

/* Whether one of the eight places may get the wanted GUID; 0: any GUID that the SM chooses. */
static enum verdict_on_guid alias_judge_set(const struct sa_request *request,
					    const struct change *change, unsigned i)
{
	const struct alias_entry *alias = alias_at(request, change, i), *holder;
	guid_t guid = change->wanted->info.guid[i];

	if (change->first + i >= change->cap)
		return GUID_BEYOND_CAP;
	if (alias && (!guid || alias->guid == guid))
		return GUID_FITS;
	for (unsigned other = 0; guid && other < i; other++)
		if (is_meant(request, change, other) && change->wanted->info.guid[other] == guid)
			return GUID_TWICE;
	if (alias && !alias_may_end(alias->granted, change->has_key))
		return GUID_KEPT;
	holder = guid ? alias_owner(request, guid) : NULL;
	if (holder && holder->port_guid == change->port.guid)
		return alias ? GUID_TAKEN : GUID_FITS;
	if (!alias && !request_may_register(request, change->port.guid))
		return GUID_OVER_LIMIT;
	return guid ? judge_new(request, change, guid) : GUID_FITS;
}

static enum verdict_on_guid judge_delete(const struct sa_request *request,
					 const struct change *change, unsigned i)
{
	const struct alias_entry *alias = alias_at(request, change, i);

	return alias && !alias_may_end(alias->granted, change->has_key) ? GUID_KEPT : GUID_FITS;
}

/* The grant with which the port gets the GUID; an alias that it has keeps its grant. */
static enum alias_grant grant_for(const struct change *change, const struct alias_entry *own)
{
	if (own && own->granted)
		return own->granted;
	return change->has_key ? ALIAS_BY_SA_KEY : ALIAS_NOT_GRANTED;
}

static void alias_set(struct sa_request *request, const struct change *change, unsigned i)
{
	const struct alias_entry *before = alias_at(request, change, i), *holder;
	guid_t former = before ? before->guid : 0;
	bool replaced;
	struct alias_entry alias = {.port_guid = change->port.guid,
				    .index = (uint16_t)(change->first + i),
				    .guid = change->wanted->info.guid[i]};

	if (!alias.guid)
		alias.guid = before ? before->guid : guid_make(request, change, i);
	holder = alias_owner(request, alias.guid);
	if (holder && holder->port_guid != alias.port_guid) {
		forget_guid(request->registry, request->groups, alias.guid);
		alias_end(request->aliases, holder, ALIAS_DELETED);
		holder = NULL;
	}
	alias.granted = grant_for(change, holder);
	if (holder && holder->index == alias.index && holder->granted == alias.granted)
		return;
	if (holder && holder->index != alias.index)
		alias_end(request->aliases, holder, ALIAS_DELETED);
	/* If the GUID also belongs to another port, the registrations under it may be those of
	 * that port. */
	replaced = former && former != alias.guid &&
		   claim_on(request, alias.port_guid, former) != ALIAS_CLAIMED;
	if (replaced)
		forget_guid(request->registry, request->groups, former);
	registry_put(request->registry, REGISTRY_ALIAS, &alias);
	alias_raise(request->aliases, &alias, ALIAS_SET);
}

static void delete (struct sa_request *request, const struct change *change, unsigned i)
{
	const struct alias_entry *alias = alias_at(request, change, i);

	if (alias)
		alias_end(request->aliases, alias, ALIAS_DELETED);
}

/* The block after the change. The places that the request selects show the registered GUIDs,
 * because a device may still hold a deleted one. */
static uint16_t alias_give_block(struct sa_request *request, const struct change *change)
{
	struct guid_info_record record = {.lid = change->wanted->lid,
					  .block_num = change->wanted->block_num};

	guid_block_registered(request, &change->port, change->wanted->block_num, &record.info);
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		const struct alias_entry *alias = alias_at(request, change, i);

		if (is_meant(request, change, i))
			record.info.guid[i] = alias ? alias->guid : 0;
	}
	request_give(request, &record);
	return STATUS_OK;
}

/* Whether it deletes a GUID that must leave its groups first. */
static bool deletes_member(const struct sa_request *request, const struct change *change)
{
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		const struct alias_entry *alias =
			is_meant(request, change, i) ? alias_at(request, change, i) : NULL;

		if (alias && judge_delete(request, change, i) == GUID_FITS &&
		    is_member(request, alias->guid))
			return true;
	}
	return false;
}

static uint16_t change_guids(struct sa_request *request, const struct change *change,
			     enum verdict_on_guid (*judge)(const struct sa_request *request,
							   const struct change *change, unsigned i),
			     void (*act)(struct sa_request *request, const struct change *change,
					 unsigned i))
{
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		enum verdict_on_guid verdict;

		if (!is_meant(request, change, i))
			continue;
		verdict = judge(request, change, i);
		if (verdict == GUID_FITS)
			act(request, change, i);
		else
			alias_refused(request, change, i, verdict);
	}
	return alias_give_block(request, change);
}

uint16_t begin_set_guids(struct sa_request *request)
{
	struct change change;
	uint16_t status = change_read(request, &change);

	return status ? status : change_guids(request, &change, alias_judge_set, alias_set);
}

uint16_t begin_delete_guids(struct sa_request *request)
{
	struct change change;
	uint16_t status = change_read(request, &change);

	if (status)
		return status;
	if (deletes_member(request, &change)) {
		count_denied(request, &change);
		return SA_REQ_DENIED;
	}
	return change_guids(request, &change, judge_delete, delete);
}
