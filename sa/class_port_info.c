/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ClassPortInfo: the capabilities of this SA. Clients rely on a capability bit, so each bit here
 * has a test. Called by sa.c.
 */
#include <stddef.h>

#include "lib/mem.h"
#include "sa/request.h"

/* Bits of CapabilityMask and CapabilityMask2: tables 117 and 188 as restated in OpenSM's
 * osm_base.h. */
enum {
	UD_MULTICAST = 1 << 9,		    /* MCMemberRecord */
	MULTI_PATH = 1 << 10,		    /* MultiPathRecord */
	PORT_INFO_CAP_MASK_MATCH = 1 << 13, /* PortInfoRecord by AttributeModifier bit 31 */

	MULTICAST_FDB_TOP = 1 << 3,	/* SwitchInfoRecord has MulticastFDBTop, where tables end */
	ALIAS_GUIDS = 1 << 5,		/* GUIDInfoRecord Set and Delete */
	FULL_PORT_INFO_RECORD = 1 << 6, /* the record holds all of PortInfo */
	EXTENDED_SPEEDS = 1 << 7,	/* rates above QDR in paths and ports */
	MULTICAST_SERVICES = 1 << 8,	/* ServiceGID may be a group's */
	PORT_INFO_CAP_MASK2_MATCH = 1 << 10,
	SEND_ONLY_FULL_MEMBER = 1 << 12, /* a JoinState */
	SA_LINK_WIDTH_2X = 1 << 13,	 /* rates of these widths and speeds in paths */
	LINK_SPEED_HDR = 1 << 15,
	LINK_SPEED_NDR = 1 << 17,
};

enum { RESP_TIME_MASK = 0x1F };

uint16_t begin_one(struct sa_request *request)
{
	request->most = request->end = 1;
	return STATUS_OK;
}

void step_class_port_info(struct sa_request *request, uint64_t unit)
{
	/* No redirection and no traps to the SA: the fields with their addresses stay 0
	 * (13.4.8.1). */
	const struct class_port_info info = {
		.base_version = 1,
		.class_version = 2,
		.capability_mask = UD_MULTICAST | MULTI_PATH | PORT_INFO_CAP_MASK_MATCH,
		.capability_mask2 = MULTICAST_FDB_TOP | ALIAS_GUIDS | FULL_PORT_INFO_RECORD |
				    EXTENDED_SPEEDS | MULTICAST_SERVICES |
				    PORT_INFO_CAP_MASK2_MATCH | SEND_ONLY_FULL_MEMBER |
				    SA_LINK_WIDTH_2X | LINK_SPEED_HDR | LINK_SPEED_NDR,
		.resp_time_value = request->options->subnet_timeout & RESP_TIME_MASK,
	};

	(void)unit;
	request_offer(request, 0, &info);
}
