/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * GUIDInfoRecord, one block of eight GUIDs of a port, which are told by tables.c and changed here.
 * The component mask says which of the eight a Set or Delete is about. LID and BlockNum must be
 * given, else INSUFFICIENT_COMPONENTS; a block beyond GUIDCap is REQ_INVALID. Only the port itself
 * and the trusted may change its GUIDs, others are told DENIED. The first GUID of all is the port's
 * own: it is passed over, as OpenSM does, and the answer tells it.
 *
 * Who sets 0 asks the SM for a GUID: it has the first byte 0x02, locally administered, and the rest
 * from a hash of the port and the place, so that a port is given the same ones again even by a
 * manager that has forgotten them. Setting 0 again changes nothing. A GUID that another has is
 * REQ_INVALID, and while it is a member of a multicast group an alias can be neither changed nor
 * deleted: DENIED.
 *
 * An alias is where its virtual machine is: of a port that is not there it may be taken by one that
 * is, without waiting for the end of the grace. What was registered under it was the old place's,
 * and goes. Called by adm.c.
 */
#include "sa/forget.h"
#include "sa/request.h"

#define LOCALLY_ADMINISTERED (UINT64_C(0x02) << 56)

/* What a Set or Delete is about. */
struct change {
	struct endport port;
	const struct guid_info_record *wanted;
	unsigned first; /* index of the block's first GUID */
};

static const struct alias_entry *alias_at(const struct adm_request *request,
					  const struct change *change, unsigned i)
{
	const struct alias_entry key = {.port_guid = change->port.guid,
					.index = (uint16_t)(change->first + i)};

	return registry_find(request->registry, REGISTRY_ALIAS, &key);
}

/* Whether the change is about this one of the eight. */
static bool is_meant(const struct adm_request *request, const struct change *change, unsigned i)
{
	return request_has(request, GUID_INFO_RECORD_GUID0 + i) && change->first + i > 0;
}

static uint16_t change_read(const struct adm_request *request, struct change *out)
{
	const struct guid_info_record *wanted = request->wanted;
	const struct port_info *info;
	struct endport port;

	if (!request_has(request, GUID_INFO_RECORD_LID) ||
	    !request_has(request, GUID_INFO_RECORD_BLOCK_NUM))
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (!endport_by_lid(request->topology, wanted->lid, &port) ||
	    !request_may_see(request, &port))
		return SA_NO_RECORDS;
	if (!request->trusted && !endport_same(&request->requester, &port))
		return SA_REQ_DENIED;
	info = facts_port_info(port.facts, port.num);
	*out = (struct change){port, wanted, wanted->block_num * (unsigned)GUID_BLOCK_GUIDS};
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
		if (!info || out->first >= info->guid_cap ||
		    (request_has(request, GUID_INFO_RECORD_GUID0 + i) &&
		     out->first + i >= info->guid_cap))
			return SA_REQ_INVALID;
	return STATUS_OK;
}

static bool is_member(const struct adm_request *request, guid_t guid)
{
	const struct member_entry key = {.port_guid = guid};

	return registry_first(request->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key) != NULL;
}

/* The record of who has this alias, whether he is there or not. */
static const struct alias_entry *owned(const struct adm_request *request, guid_t guid)
{
	const struct alias_entry key = {.guid = guid};

	return registry_first(request->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
}

/* By a port that is there. */
static bool is_taken(const struct adm_request *request, guid_t guid)
{
	struct endport port;

	return lookup_guid(request->lookup, guid, &port);
}

/* From a port that is not there any more. */
static void take_over(const struct adm_request *request, const struct change *change, guid_t guid)
{
	const struct alias_entry *alias = owned(request, guid);

	if (!alias || alias->port_guid == change->port.guid)
		return;
	forget_guid(request->registry, request->groups, guid);
	registry_drop(request->registry, REGISTRY_ALIAS, alias);
}

/* A GUID of the SM's own for this place. */
static guid_t guid_make(const struct adm_request *request, const struct change *change, unsigned i)
{
	uint64_t hash = change->port.guid ^ (uint64_t)(change->first + i) << 48;
	guid_t guid;

	do {
		hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15) + 1;
		hash ^= hash >> 29;
		guid = LOCALLY_ADMINISTERED | hash >> 8;
	} while (owned(request, guid) || is_taken(request, guid));
	return guid;
}

/* The block as it will be. */
static uint16_t give(struct adm_request *request, const struct change *change)
{
	struct guid_info_record record = {.lid = change->wanted->lid,
					  .block_num = change->wanted->block_num};

	guid_block_told(request, &change->port, change->wanted->block_num, &record.info);
	request_give(request, &record);
	return STATUS_OK;
}

/* Whether one of the eight may become guid; 0: any that the SM chooses. */
static uint16_t may_set(const struct adm_request *request, const struct change *change, unsigned i)
{
	const struct alias_entry *alias = alias_at(request, change, i);
	guid_t guid = change->wanted->info.guid[i];

	if (!guid || (alias && alias->guid == guid))
		return STATUS_OK;
	if (is_taken(request, guid))
		return SA_REQ_INVALID;
	for (unsigned other = 0; other < i; other++)
		if (is_meant(request, change, other) && change->wanted->info.guid[other] == guid)
			return SA_REQ_INVALID;
	return alias && is_member(request, alias->guid) ? SA_REQ_DENIED : STATUS_OK;
}

uint16_t begin_set_guids(struct adm_request *request)
{
	struct change change;
	uint16_t status = change_read(request, &change);
	bool more = false;

	for (unsigned i = 0; !status && i < GUID_BLOCK_GUIDS; i++) {
		if (!is_meant(request, &change, i))
			continue;
		status = may_set(request, &change, i);
		more |= !alias_at(request, &change, i);
	}
	if (!status && more && !request_may_register(request, change.port.guid))
		status = SA_NO_RESOURCES;
	if (status)
		return status;
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		struct alias_entry alias = {.port_guid = change.port.guid,
					    .index = (uint16_t)(change.first + i),
					    .guid = change.wanted->info.guid[i]};

		if (!is_meant(request, &change, i) ||
		    (!alias.guid && alias_at(request, &change, i)))
			continue;
		if (!alias.guid)
			alias.guid = guid_make(request, &change, i);
		take_over(request, &change, alias.guid);
		registry_put(request->registry, REGISTRY_ALIAS, &alias);
	}
	return give(request, &change);
}

uint16_t begin_delete_guids(struct adm_request *request)
{
	struct change change;
	uint16_t status = change_read(request, &change);

	for (unsigned i = 0; !status && i < GUID_BLOCK_GUIDS; i++) {
		const struct alias_entry *alias =
			is_meant(request, &change, i) ? alias_at(request, &change, i) : NULL;

		if (alias && is_member(request, alias->guid))
			status = SA_REQ_DENIED;
	}
	if (status)
		return status;
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		const struct alias_entry *alias =
			is_meant(request, &change, i) ? alias_at(request, &change, i) : NULL;

		if (alias)
			registry_drop(request->registry, REGISTRY_ALIAS, alias);
	}
	return give(request, &change);
}
