/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The records that say what there is: NodeRecord, PortInfoRecord, SMInfoRecord and LinkRecord. Each
 * handler walks over the end ports that the request leaves possible (one when it names a LID),
 * makes the record of what was reported there, and offers it. A LID means the port that owns it, be
 * it the base LID or another of its LMC range, so a handler looks it up and leaves it out of the
 * comparison; the record then carries the base LID. Ports without a LID have no records. Called by
 * adm.c.
 */
#include <stddef.h>
#include <string.h>

#include "sa/request.h"

/* The end port of this number when it has a LID and the requester may see it. */
static bool visible_endport(const struct adm_request *request, uint32_t number, struct endport *out)
{
	*out = endport_at(request->topology, number);
	return out->lid != LID_NONE && request_may_see(request, out);
}

uint16_t answer_nodes(struct adm_request *request)
{
	const struct node_record *wanted = request->wanted;
	uint64_t mask = request->mask & ~COMPONENT(NODE_RECORD_LID);
	uint32_t number, end;

	request_endports(request, NODE_RECORD_LID, wanted->lid, &number, &end);
	for (; number < end && request_open(request); number++) {
		struct node_record record = {0};
		struct endport port;

		if (!visible_endport(request, number, &port) || !port.facts)
			continue;
		record.lid = port.lid;
		record.info = port.facts->info;
		record.info.port_guid =
			port.guid; /* NodeInfo tells those of the port that was asked */
		record.info.local_port_num = port.num;
		memcpy(record.description.text, port.facts->description,
		       strnlen(port.facts->description, NODE_DESC_SIZE));
		request_offer(request, mask, &record);
	}
	return STATUS_OK;
}

/* With AttributeModifier bit 31 the capability masks are not compared for equality: the candidate
 * must have the bits that wanted has. OpenSM's osm_base.h cites this erratum to release 1.2. */
static bool capabilities_match(const struct adm_request *request, const struct port_info *candidate)
{
	const struct port_info *wanted = &((const struct port_info_record *)request->wanted)->info;

	if (request_has(request, PORT_INFO_RECORD_CAPABILITY_MASK) &&
	    wanted->capability_mask & ~candidate->capability_mask)
		return false;
	return !request_has(request, PORT_INFO_RECORD_CAPABILITY_MASK2) ||
	       !(wanted->capability_mask2 & ~candidate->capability_mask2);
}

/* One port of the end port's node. M_Key is taken out before the comparison, else it could be
 * guessed by asking which record matches. */
static void offer_port_info(struct adm_request *request, const struct endport *port, uint8_t num)
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
	if (!request->trusted)
		record.info.m_key = 0;
	request_offer(request, mask, &record);
}

uint16_t answer_port_infos(struct adm_request *request)
{
	const struct port_info_record *wanted = request->wanted;
	uint32_t number, end;

	request_endports(request, PORT_INFO_RECORD_LID, wanted->endport_lid, &number, &end);
	for (; number < end && request_open(request); number++) {
		struct endport port;

		if (!visible_endport(request, number, &port))
			continue;
		for (unsigned num = port.num; num <= endport_last_num(request->topology, &port);
		     num++)
			offer_port_info(request, &port, (uint8_t)num);
	}
	return STATUS_OK;
}

/* SM_Keys are not kept in the view, so nobody learns one here. */
uint16_t answer_sms(struct adm_request *request)
{
	const struct sm_info_record *wanted = request->wanted;
	uint64_t mask = request->mask & ~COMPONENT(SM_INFO_RECORD_LID);
	const struct view *view = request->view;
	struct endport asked, port;
	bool by_lid = request_has(request, SM_INFO_RECORD_LID);

	if (by_lid && !endport_by_lid(request->topology, wanted->lid, &asked))
		return STATUS_OK;
	for (uint32_t i = 0; i < view->num_sms && request_open(request); i++) {
		const struct sm_info_record record = {.lid = view->sms[i].lid,
						      .info = view->sms[i].info};

		if (!endport_by_lid(request->topology, record.lid, &port) ||
		    !request_may_see(request, &port) || (by_lid && !endport_same(&asked, &port)))
			continue;
		request_offer(request, mask, &record);
	}
	return STATUS_OK;
}

/* The record of the cable at port num of near: from there, or, when the request fixed only the
 * other side, to there. */
static void offer_link(struct adm_request *request, const struct endport *near, uint8_t num,
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

uint16_t answer_links(struct adm_request *request)
{
	const struct link_record *wanted = request->wanted;
	bool inward = !request_has(request, LINK_RECORD_FROM_LID) &&
		      request_has(request, LINK_RECORD_TO_LID);
	uint32_t number, end;

	if (inward)
		request_endports(request, LINK_RECORD_TO_LID, wanted->to_lid, &number, &end);
	else
		request_endports(request, LINK_RECORD_FROM_LID, wanted->from_lid, &number, &end);
	for (; number < end && request_open(request); number++) {
		struct endport port;

		if (!visible_endport(request, number, &port))
			continue;
		for (unsigned num = port.num; num <= endport_last_num(request->topology, &port);
		     num++)
			offer_link(request, &port, (uint8_t)num, inward);
	}
	return STATUS_OK;
}
