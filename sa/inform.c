/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * InformInfo and InformInfoRecord: subscriptions to notices, chapters 13.4.8.3 and 15.2.5.12. A
 * subscription belongs to the requesting port and QP; its number (SubscriberEnum) is unique for the
 * port. Reports go to the address of the request (13.4.8.3). Repeating a subscription changes only
 * its response time.
 *
 * Only a requester with the SA key gets notices about security (traps 256-259, which contain keys).
 * A request for these traps without the key is refused, C15-0.2-1.16. Called by sa.c; sa/report.c
 * sends the reports.
 */
#include <string.h>

#include "lib/be.h"
#include "mad/notice.h"
#include "sa/path_walk.h"
#include "sa/request.h"

static const uint8_t no_gid[GID_SIZE];

/* Subscribing */

/* The fields that identify a subscription of a port. The GID has the prefix of the subnet, like
 * that of issuers; with a GID the LIDs do not count. */
static void wanted_entry(const struct sa_request *request, struct subscription_entry *entry)
{
	const struct inform_info *wanted = request->wanted;

	*entry = (struct subscription_entry){
		.prefix = request->options->subnet_prefix,
		.subscriber = request->requester.guid,
		.lid = request->from->lid,
		.qpn = wanted->subscribe || !wanted->qpn ? request->from->qpn : wanted->qpn,
		.sl = request->from->sl,
		.pkey_index = request->from->pkey_index,
		.is_generic = wanted->is_generic != 0,
		.type = wanted->type,
		.trap_number = wanted->trap_number,
		.resp_time = wanted->resp_time,
		.producer_type = wanted->producer_type,
		.trusted = request->trust >= REQUESTER_TRUSTED,
	};
	if (memcmp(wanted->gid, no_gid, GID_SIZE) != 0) {
		memcpy(entry->gid, wanted->gid, GID_SIZE);
		if (path_gid_is_ours(request, wanted->gid))
			be64_store(entry->gid, request->options->subnet_prefix);
		return;
	}
	entry->lid_begin = wanted->lid_begin;
	entry->lid_end = wanted->lid_end ? wanted->lid_end : wanted->lid_begin;
}

static bool same_subscription(const struct subscription_entry *a,
			      const struct subscription_entry *b)
{
	return a->prefix == b->prefix && a->qpn == b->qpn && !memcmp(a->gid, b->gid, GID_SIZE) &&
	       a->lid_begin == b->lid_begin && a->lid_end == b->lid_end &&
	       a->is_generic == b->is_generic && a->type == b->type &&
	       a->trap_number == b->trap_number && a->producer_type == b->producer_type;
}

/* The subscription with the same fields, NULL if there is none; *highest: the highest number of
 * its port. */
static const struct subscription_entry *
find(const struct sa_request *request, const struct subscription_entry *entry, unsigned *highest)
{
	const struct subscription_entry *other = registry_first(
		request->registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT, entry);

	*highest = 0;
	for (; other; other = registry_next(request->registry, REGISTRY_SUBSCRIPTION,
					    SUBSCRIPTION_BY_PORT, other)) {
		if (same_subscription(other, entry))
			return other;
		if (other->number > *highest)
			*highest = other->number;
	}
	return NULL;
}

/* Numbers rise; after the highest possible one, the lowest free number is used. 0 is valid. */
static bool number_free(const struct sa_request *request, struct subscription_entry *entry,
			unsigned highest)
{
	if (!registry_first(request->registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT, entry))
		return true;
	if (highest < UINT16_MAX) {
		entry->number = (uint16_t)(highest + 1);
		return true;
	}
	for (unsigned number = 0; number <= UINT16_MAX; number++) {
		entry->number = (uint16_t)number;
		if (!registry_find(request->registry, REGISTRY_SUBSCRIPTION, entry))
			return true;
	}
	return false;
}

/* o13-14.1.1: a requester may subscribe only to ports that it can reach. For all ports (0xFFFF)
 * and for a range, each notice is checked when it arrives. A range must contain a port that the
 * requester can reach, so that the answer reveals nothing about other ports. */
static bool inform_may_subscribe(const struct sa_request *request,
				 const struct subscription_entry *entry)
{
	struct endport port;
	unsigned end = entry->lid_end;

	if (memcmp(entry->gid, no_gid, GID_SIZE) != 0)
		return lookup_guid(request->lookup, be64_load(entry->gid + 8), &port) &&
		       be64_load(entry->gid) == request->options->subnet_prefix &&
		       request_may_see(request, &port);
	if (entry->lid_begin == INFORM_ANY ||
	    !end) /* osmtest sets all to 0, which is no LID of a port */
		return true;
	if (end > request->topology->lid_top)
		end = request->topology->lid_top;
	for (unsigned lid = entry->lid_begin; lid <= end; lid++)
		if (endport_by_lid(request->topology, (lid_t)lid, &port) &&
		    request_may_see(request, &port))
			return true;
	return false;
}

/* Reports use the P_Key of the request: sa/forget.c. */
static bool may_use_pkey(const struct sa_request *request)
{
	const struct view *view = request->view;
	struct endport own;

	return !view->num_sms || !endport_by_lid(request->topology, view->sms[0].lid, &own) ||
	       request_keeps_key(request, &request->requester,
				 endport_key_at(&own, request->from->pkey_index));
}

static bool names_security(const struct subscription_entry *entry)
{
	return notice_is_security(entry->is_generic, entry->type, entry->trap_number);
}

static uint16_t subscribe(struct sa_request *request, struct subscription_entry *entry)
{
	const struct subscription_entry *found;
	unsigned highest;

	if (!inform_may_subscribe(request, entry) || !may_use_pkey(request))
		return SA_REQ_INVALID;
	found = find(request, entry, &highest);
	if (found)
		entry->number = found->number;
	else if (!request_may_register(request, entry->subscriber) ||
		 !number_free(request, entry, highest))
		return SA_NO_RESOURCES;
	registry_put(request->registry, REGISTRY_SUBSCRIPTION, entry);
	return STATUS_OK;
}

static uint16_t unsubscribe(struct sa_request *request, const struct subscription_entry *entry)
{
	unsigned highest;
	const struct subscription_entry *found = find(request, entry, &highest);

	if (!found)
		return SA_REQ_INVALID;
	registry_drop(request->registry, REGISTRY_SUBSCRIPTION, found);
	return STATUS_OK;
}

/* o13-12.1.1: the answer repeats the request. */
uint16_t begin_inform_info(struct sa_request *request)
{
	const struct inform_info *wanted = request->wanted;
	struct subscription_entry entry;
	uint16_t status;

	wanted_entry(request, &entry);
	if (wanted->subscribe > 1 || (names_security(&entry) && request->trust < REQUESTER_TRUSTED))
		return SA_REQ_INVALID;
	status = wanted->subscribe ? subscribe(request, &entry) : unsubscribe(request, &entry);
	if (!status)
		request_give(request, wanted);
	return status;
}

/* InformInfoRecord */

uint16_t begin_inform_records(struct sa_request *request)
{
	const struct inform_info_record *wanted = request->wanted;
	struct subscription_entry key = {.subscriber = be64_load(wanted->subscriber_gid + 8)};

	request_walk(request, REGISTRY_SUBSCRIPTION,
		     request_has(request, INFORM_INFO_RECORD_SUBSCRIBER_GID) ? SUBSCRIPTION_BY_PORT
									     : -1,
		     &key);
	return STATUS_OK;
}

/* C15-0.2-1.16: only trusted requesters get QPNs. */
void step_inform_record(struct sa_request *request, uint64_t unit)
{
	const struct subscription_entry *entry = request_walk_next(request);
	struct inform_info_record record;
	struct endport subscriber;

	(void)unit;
	if (!entry || !lookup_guid(request->lookup, entry->subscriber, &subscriber) ||
	    !request_may_see(request, &subscriber))
		return;
	record = (struct inform_info_record){
		.subscriber_enum = entry->number,
		.info = {.lid_begin = entry->lid_begin,
			 .lid_end = entry->lid_end,
			 .is_generic = entry->is_generic,
			 .subscribe = 1,
			 .type = entry->type,
			 .trap_number = entry->trap_number,
			 .qpn = request->trust >= REQUESTER_TRUSTED ? entry->qpn : 0,
			 .resp_time = entry->resp_time,
			 .producer_type = entry->producer_type},
	};
	be64_store(record.subscriber_gid, entry->prefix);
	be64_store(record.subscriber_gid + 8, entry->subscriber);
	memcpy(record.info.gid, entry->gid, GID_SIZE);
	request_offer(request, request->mask, &record);
}
