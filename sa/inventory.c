/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * NodeRecord, PortInfoRecord, SMInfoRecord and LinkRecord. Each walk is over the end ports that
 * match the request (one if it has a LID), and offers a record of each. A LID may be any of the LMC
 * range of a port, so it is looked up and not compared; the record then has the base LID. Ports
 * without a LID have no records. Called by sa.c.
 */
#include <stddef.h>
#include <string.h>

#include "sa/request.h"

uint16_t begin_nodes(struct sa_request *request)
{
	const struct node_record *wanted = request->wanted;
	struct endport port;

	request_by_lid(request, NODE_RECORD_LID, wanted->lid);
	if (!request_has(request, NODE_RECORD_PORT_GUID) || request->end - request->unit < 2)
		return STATUS_OK;
	if (lookup_guid(request->lookup, wanted->info.port_guid, &port)) {
		request->unit = endport_number(request->topology, &port);
		request->end = request->unit + 1;
	} else {
		request->end = request->unit;
	}
	return STATUS_OK;
}

void step_node(struct sa_request *request, uint64_t unit)
{
	struct node_record record = {0};
	struct endport port;

	if (!request_endport(request, unit, &port) || !port.facts)
		return;
	record.lid = port.lid;
	record.info = port.facts->info;
	record.info.port_guid = port.guid; /* NodeInfo has the GUID of the port that was queried */
	record.info.local_port_num = port.num;
	memcpy(record.description.text, port.facts->reported,
	       strnlen(port.facts->reported, NODE_DESC_SIZE));
	request_offer(request, request->mask & ~COMPONENT(NODE_RECORD_LID), &record);
}

/* With AttributeModifier bit 31 the capability masks are not compared for equality: the
 * candidate must have the bits of wanted. OpenSM's osm_base.h cites this erratum to release 1.2. */
static bool capabilities_match(const struct sa_request *request, const struct port_info *candidate)
{
	const struct port_info *wanted = &((const struct port_info_record *)request->wanted)->info;

	if (request_has(request, PORT_INFO_RECORD_CAPABILITY_MASK) &&
	    wanted->capability_mask & ~candidate->capability_mask)
		return false;
	return !request_has(request, PORT_INFO_RECORD_CAPABILITY_MASK2) ||
	       !(wanted->capability_mask2 & ~candidate->capability_mask2);
}

/* A port of the end port's node. The M_Key is removed before the comparison; otherwise a client
 * could guess it by querying for a match. */
static void offer_port_info(struct sa_request *request, const struct endport *port, uint8_t num)
{
	uint64_t mask = request->mask &
			~(COMPONENT(PORT_INFO_RECORD_LID) | COMPONENT(PORT_INFO_RECORD_OPTIONS));
	const struct port_info *info = facts_port_info(port->facts, num);
	struct port_info_record record = {.endport_lid = port->lid, .port_num = num};

	if (!info)
		return;
	if (request->attr_mod & PORT_INFO_EXTENDED_SPEEDS) {
		if (!capabilities_match(request, info))
			return;
		mask &= ~(COMPONENT(PORT_INFO_RECORD_CAPABILITY_MASK) |
			  COMPONENT(PORT_INFO_RECORD_CAPABILITY_MASK2));
	}
	record.info = *info;
	if (request->trust < REQUESTER_ADMINISTRATOR) /* the default SA_Key is public */
		record.info.m_key = 0;
	request_offer(request, mask, &record);
}

uint16_t begin_port_infos(struct sa_request *request)
{
	const struct port_info_record *wanted = request->wanted;

	request_by_lid(request, PORT_INFO_RECORD_LID, wanted->endport_lid);
	if (request->most == endport_count(request->topology))
		request->most = request->topology->num_links + request->topology->num_ends;
	else if (request->most != UINT64_MAX)
		request->most *= PORT_MAX + 1;
	return STATUS_OK;
}

void step_port_infos(struct sa_request *request, uint64_t unit)
{
	struct endport port;

	if (!request_endport(request, unit, &port))
		return;
	for (unsigned num = port.num; num <= endport_last_num(request->topology, &port); num++)
		offer_port_info(request, &port, (uint8_t)num);
}

uint16_t begin_sms(struct sa_request *request)
{
	request->most = request->end = request->view->num_sms;
	return STATUS_OK;
}

/* The view has no SM_Keys, so none is sent. */
void step_sm(struct sa_request *request, uint64_t unit)
{
	const struct sm_info_record *wanted = request->wanted;
	const struct view_sm *sm = &request->view->sms[unit];
	const struct sm_info_record record = {.lid = sm->lid, .info = sm->info};
	struct endport asked, port;

	if (!endport_by_lid(request->topology, record.lid, &port) ||
	    !request_may_see(request, &port))
		return;
	if (request_has(request, SM_INFO_RECORD_LID) &&
	    !(endport_by_lid(request->topology, wanted->lid, &asked) &&
	      endport_same(&asked, &port)))
		return;
	request_offer(request, request->mask & ~COMPONENT(SM_INFO_RECORD_LID), &record);
}

/* The record of the cable at port num of near. It begins there or, if the request gives only the
 * other end, ends there. */
static void offer_link(struct sa_request *request, const struct endport *near, uint8_t num,
		       bool inward)
{
	const struct link_record *wanted = request->wanted;
	uint64_t mask =
		request->mask & ~(COMPONENT(LINK_RECORD_FROM_LID) | COMPONENT(LINK_RECORD_TO_LID));
	struct link_record record;
	struct endport far, asked;
	uint8_t far_num;

	if (!endport_cable(request->topology, near, num, &far, &far_num) || far.lid == LID_NONE ||
	    !request_may_see(request, &far))
		return;
	if (!inward && request_has(request, LINK_RECORD_TO_LID) &&
	    !(endport_by_lid(request->topology, wanted->to_lid, &asked) &&
	      endport_same(&asked, &far)))
		return;
	if (inward)
		record = (struct link_record){far.lid, far_num, num, near->lid};
	else
		record = (struct link_record){near->lid, num, far_num, far.lid};
	request_offer(request, mask, &record);
}

/* If the request gives only the far end, the walk starts from there. */
static bool links_inward(const struct sa_request *request)
{
	return !request_has(request, LINK_RECORD_FROM_LID) &&
	       request_has(request, LINK_RECORD_TO_LID);
}

uint16_t begin_links(struct sa_request *request)
{
	const struct link_record *wanted = request->wanted;

	if (links_inward(request))
		request_by_lid(request, LINK_RECORD_TO_LID, wanted->to_lid);
	else
		request_by_lid(request, LINK_RECORD_FROM_LID, wanted->from_lid);
	if (request->most != UINT64_MAX)
		request->most = request->topology->num_links + request->topology->num_ends;
	return STATUS_OK;
}

void step_links(struct sa_request *request, uint64_t unit)
{
	struct endport port;

	if (!request_endport(request, unit, &port))
		return;
	for (unsigned num = port.num; num <= endport_last_num(request->topology, &port); num++)
		offer_link(request, &port, (uint8_t)num, links_inward(request));
}
