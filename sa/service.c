/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ServiceRecord: registered services, chapter 15.2.5.14. A service is identified by ServiceID,
 * ServiceGID and ServiceP_Key. In Set and Delete these count even without their bits in the
 * component mask, because clients of OpenSM omit bits. The lower half of ServiceGID identifies the
 * port; the prefix is kept as received, because osmtest sends the default prefix in the wrong byte
 * order.
 *
 * Permissions: a port registers, changes and deletes services of its own node. For services of
 * other ports the request must have the key of the record, or an SA_Key that is not the default. A
 * key in the request must always be that of the record. The key may be absent, because the SA sends
 * keys to no other client: a client that returns a received record could otherwise never delete its
 * own service. A service of a multicast group belongs to its members. Called by sa.c.
 */
#include "sa/lease.h"

#include <string.h>

#include "lib/be.h"
#include "sa/path_walk.h"
#include "sa/request.h"

/* Records and entries */

static const uint8_t no_key[SERVICE_KEY_SIZE];

static void data_to_entry(const struct service_record *record, uint8_t *data)
{
	memcpy(data, record->data8, 16);
	for (unsigned i = 0; i < 8; i++)
		be16_store(data + 16 + 2 * i, record->data16[i]);
	for (unsigned i = 0; i < 4; i++)
		be32_store(data + 32 + 4 * i, record->data32[i]);
	for (unsigned i = 0; i < 2; i++)
		be64_store(data + 48 + 8 * i, record->data64[i]);
}

static void data_to_record(const uint8_t *data, struct service_record *record)
{
	memcpy(record->data8, data, 16);
	for (unsigned i = 0; i < 8; i++)
		record->data16[i] = be16_load(data + 16 + 2 * i);
	for (unsigned i = 0; i < 4; i++)
		record->data32[i] = be32_load(data + 32 + 4 * i);
	for (unsigned i = 0; i < 2; i++)
		record->data64[i] = be64_load(data + 48 + 8 * i);
}

static void entry_to_record(const struct services *services, const struct service_entry *entry,
			    struct service_record *record)
{
	*record = (struct service_record){
		.service_id = entry->service_id,
		.p_key = entry->p_key,
		.lease = services_lease(services, entry),
	};
	be64_store(record->gid, entry->gid_prefix);
	be64_store(record->gid + 8, entry->gid_guid);
	memcpy(record->key, entry->key, sizeof(record->key));
	memcpy(record->name, entry->name, sizeof(record->name));
	data_to_record(entry->data, record);
}

/* Only an administrator gets keys, because a key allows changes of the record. */
static void service_give(struct sa_request *request, const struct service_entry *entry)
{
	struct service_record record;

	entry_to_record(request->services, entry, &record);
	if (request->trust != REQUESTER_ADMINISTRATOR)
		memset(record.key, 0, sizeof(record.key));
	request_give(request, &record);
}

/* Get and GetTable */

/* The answer is a walk over the services of a port or of an ID, usually the shorter one. */
uint16_t begin_services(struct sa_request *request)
{
	const struct service_record *wanted = request->wanted;
	struct service_entry key = {.service_id = wanted->service_id};
	int index = -1;

	if (request_has(request, SERVICE_RECORD_GID))
		index = SERVICE_BY_PORT;
	else if (request_has(request, SERVICE_RECORD_SERVICE_ID))
		index = SERVICE_BY_ID;
	key.gid_guid = be64_load(wanted->gid + 8);
	request_walk(request, REGISTRY_SERVICE, index, &key);
	return STATUS_OK;
}

/* Chapter 15.4.1: only ports that can communicate with the service by its P_Key see it. If its
 * port is absent, the P_Keys of the requester decide. */
static bool may_see(const struct sa_request *request, const struct service_entry *entry)
{
	struct endport port;

	if (!endport_in_partition(&request->requester, entry->p_key))
		return false;
	if (!lookup_guid(request->lookup, entry->gid_guid, &port) ||
	    endport_same(&port, &request->requester))
		return true;
	return endports_share_key(&request->requester, &port, entry->p_key);
}

void step_service(struct sa_request *request, uint64_t unit)
{
	const struct service_entry *entry = request_walk_next(request);
	const struct service_record *wanted = request->wanted;
	struct service_record record;

	(void)unit;
	if (!entry || !may_see(request, entry))
		return;
	entry_to_record(request->services, entry, &record);
	if (!record.lease)
		return;
	if (request_has(request, SERVICE_RECORD_KEY) &&
	    memcmp(record.key, wanted->key, sizeof(record.key)) != 0)
		return;
	if (request->trust != REQUESTER_ADMINISTRATOR)
		memset(record.key, 0, sizeof(record.key));
	request_offer(request, request->mask & ~COMPONENT(SERVICE_RECORD_KEY), &record);
}

/* Set and Delete */

static bool in_group(const struct sa_request *request, const uint8_t gid[GID_SIZE])
{
	struct member_entry key = {.port_guid = request->requester.guid};

	memcpy(key.mgid, gid, GID_SIZE);
	key.port_prefix = request->options->subnet_prefix;
	return registry_find(request->registry, REGISTRY_MEMBER, &key);
}

/* Whether the requester may act for the GID without a key; *port: the end port with the GID, if
 * present. */
static bool service_gid_is_own(const struct sa_request *request, const uint8_t gid[GID_SIZE],
			       const struct endport *port)
{
	if (path_gid_is_multicast(gid))
		return in_group(request, gid);
	if (!port)
		return false;
	return endport_same(port, &request->requester) ||
	       (port->facts && request->requester.facts &&
		port->facts->info.node_guid == request->requester.facts->info.node_guid);
}

/* The P_Key of the record; otherwise that of the default partition if both are in it, as in
 * OpenSM; otherwise one that both share. */
static pkey_t p_key_of(const struct sa_request *request, const struct service_record *wanted,
		       const struct endport *port)
{
	const struct endport *requester = &request->requester;

	if (!port)
		port = requester;
	if (wanted->p_key)
		return wanted->p_key;
	if (endport_in_partition(requester, PKEY_DEFAULT_FULL) &&
	    endport_in_partition(port, PKEY_DEFAULT_FULL))
		return PKEY_DEFAULT_FULL;
	return endports_share(requester, port);
}

/* The identity of a service, and its record. */
struct meant {
	struct service_entry key;
	const struct service_entry *found; /* NULL: none */
	struct endport port;
	bool has_port;
};

static void service_identify(struct sa_request *request, struct meant *meant)
{
	const struct service_record *wanted = request->wanted;

	memset(meant, 0, sizeof(*meant));
	meant->key.service_id = wanted->service_id;
	meant->key.gid_prefix = be64_load(wanted->gid);
	meant->key.gid_guid = be64_load(wanted->gid + 8);
	meant->has_port = !path_gid_is_multicast(wanted->gid) &&
			  lookup_guid(request->lookup, meant->key.gid_guid, &meant->port);
	meant->key.p_key = p_key_of(request, wanted, meant->has_port ? &meant->port : NULL);
	meant->found = registry_find(request->registry, REGISTRY_SERVICE, &meant->key);
}

static bool service_may_change(const struct sa_request *request, const struct meant *meant)
{
	const struct service_record *wanted = request->wanted;
	bool has_key = meant->found && memcmp(meant->found->key, no_key, sizeof(no_key)) != 0;
	bool fits = has_key && memcmp(meant->found->key, wanted->key, sizeof(no_key)) == 0;

	if (request->trust == REQUESTER_ADMINISTRATOR)
		return true;
	if (has_key && request_has(request, SERVICE_RECORD_KEY) && !fits)
		return false;
	return fits ||
	       service_gid_is_own(request, wanted->gid, meant->has_port ? &meant->port : NULL);
}

/* Both ends must have the P_Key; otherwise no port could reach the service with it. */
static bool in_partition(const struct sa_request *request, const struct meant *meant)
{
	return request_both_in(request, meant->has_port ? &meant->port : &request->requester,
			       meant->key.p_key);
}

/* Chapter 15.4.1: a port that the requester may not see gets the status of an absent port. */
static bool service_gid_is_known(const struct sa_request *request, const struct meant *meant)
{
	const uint8_t *gid = ((const struct service_record *)request->wanted)->gid;

	if (path_gid_is_multicast(gid))
		return true;
	return meant->has_port && (service_gid_is_own(request, gid, &meant->port) ||
				   request_may_see(request, &meant->port));
}

static uint16_t service_judge_set(struct sa_request *request, const struct meant *meant)
{
	const struct service_record *wanted = request->wanted;

	if (!request_has(request, SERVICE_RECORD_SERVICE_ID) ||
	    !request_has(request, SERVICE_RECORD_GID))
		return SA_REQ_INVALID;
	if (!service_gid_is_known(request, meant))
		return SA_REQ_INVALID_GID;
	if (!in_partition(request, meant) || !service_may_change(request, meant))
		return SA_REQ_INVALID;
	if (request_has(request, SERVICE_RECORD_LEASE) && !wanted->lease)
		return SA_REQ_INVALID; /* the lease would be over before the answer */
	if (!meant->found && !request_may_register(request, request->requester.guid))
		return SA_NO_RESOURCES;
	return STATUS_OK;
}

uint16_t begin_service_set(struct sa_request *request)
{
	const struct service_record *wanted = request->wanted;
	uint32_t lease =
		request_has(request, SERVICE_RECORD_LEASE) ? wanted->lease : SERVICE_LEASE_NO_END;
	struct meant meant;
	uint16_t status;

	service_identify(request, &meant);
	status = service_judge_set(request, &meant);
	if (status)
		return status;
	meant.key.owner = meant.found ? meant.found->owner : request->requester.guid;
	meant.key.expires_s = services_expiry(request->services, lease);
	memcpy(meant.key.name, wanted->name, sizeof(meant.key.name));
	data_to_entry(wanted, meant.key.data);
	if (request_has(request, SERVICE_RECORD_KEY))
		memcpy(meant.key.key, wanted->key, sizeof(meant.key.key));
	else if (meant.found)
		memcpy(meant.key.key, meant.found->key, sizeof(meant.key.key));
	service_give(request, registry_put(request->registry, REGISTRY_SERVICE, &meant.key));
	return STATUS_OK;
}

uint16_t begin_service_delete(struct sa_request *request)
{
	struct meant meant;

	service_identify(request, &meant);
	if (!meant.found || !may_see(request, meant.found))
		return SA_NO_RECORDS;
	if (!service_may_change(request, &meant))
		return SA_REQ_INVALID;
	service_give(request, meant.found);
	registry_drop(request->registry, REGISTRY_SERVICE, &meant.key);
	return STATUS_OK;
}
