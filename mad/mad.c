/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Headers of management datagrams, to and from 256-byte buffers, and the names of methods and
 * attributes for the log. Used by all code that sends or receives MADs: transactions, the window,
 * the SA, the software agents. The names are tables: other values are "unknown", which is no error,
 * because a received MAD may have any value. Pure functions; any thread.
 */
#include "mad/mad.h"

#include <assert.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/inband.h"

enum {
	BASE_VERSION = 1,
	SUBN_CLASS_VERSION = 1,
	RMPP_VERSION = 1,
	RMPP_TYPE_DATA = 1,
};

/* Names of chapters 13.4.5 and 15.2.2; methods of the SA get the prefix SubnAdm. */
static const struct method_row {
	uint8_t method, response;
	const char *name, *sa_name;
} methods[] = {
	{METHOD_GET, METHOD_GET_RESP, "Get", "SubnAdmGet"},
	{METHOD_SET, METHOD_GET_RESP, "Set", "SubnAdmSet"},
	{METHOD_GET_RESP, 0, "GetResp", "SubnAdmGetResp"},
	{METHOD_SEND, 0, "Send", "Send"},
	{METHOD_TRAP, METHOD_TRAP_REPRESS, "Trap", "Trap"},
	{METHOD_TRAP_REPRESS, 0, "TrapRepress", "TrapRepress"},
	{METHOD_REPORT, METHOD_REPORT_RESP, "Report", "SubnAdmReport"},
	{METHOD_REPORT_RESP, 0, "ReportResp", "SubnAdmReportResp"},
	{METHOD_GET_TABLE, METHOD_GET_TABLE_RESP, "GetTable", "SubnAdmGetTable"},
	{METHOD_GET_TABLE_RESP, 0, "GetTableResp", "SubnAdmGetTableResp"},
	{METHOD_GET_MULTI, METHOD_GET_MULTI_RESP, "GetMulti", "SubnAdmGetMulti"},
	{METHOD_GET_MULTI_RESP, 0, "GetMultiResp", "SubnAdmGetMultiResp"},
	{METHOD_DELETE, METHOD_DELETE_RESP, "Delete", "SubnAdmDelete"},
	{METHOD_DELETE_RESP, 0, "DeleteResp", "SubnAdmDeleteResp"},
};

struct attr_row {
	uint16_t id;
	const char *name;
};

/* Of every class: chapter 13.4.8. */
static const struct attr_row common_attrs[] = {
	{ATTR_CLASS_PORT_INFO, "ClassPortInfo"},
	{ATTR_NOTICE, "Notice"},
	{ATTR_INFORM_INFO, "InformInfo"},
};

/* Chapter 14.2.5; the last two are Mellanox's FDR10 and the FEC modes of chapter 14.2.5.19. */
static const struct attr_row subn_attrs[] = {
	{ATTR_NODE_DESCRIPTION, "NodeDescription"},
	{ATTR_NODE_INFO, "NodeInfo"},
	{ATTR_SWITCH_INFO, "SwitchInfo"},
	{ATTR_GUID_INFO, "GUIDInfo"},
	{ATTR_PORT_INFO, "PortInfo"},
	{ATTR_PKEY_TABLE, "P_KeyTable"},
	{ATTR_SL_TO_VL, "SLtoVLMappingTable"},
	{ATTR_VL_ARBITRATION, "VLArbitrationTable"},
	{ATTR_LINEAR_FORWARDING_TABLE, "LinearForwardingTable"},
	{ATTR_RANDOM_FORWARDING_TABLE, "RandomForwardingTable"},
	{ATTR_MULTICAST_FORWARDING_TABLE, "MulticastForwardingTable"},
	{0x001C, "LinkSpeedWidthPairsTable"},
	{0x001D, "VendorSpecificMadsTable"},
	{0x001E, "HierarchyInfo"},
	{ATTR_SM_INFO, "SMInfo"},
	{0x0030, "VendorDiag"},
	{0x0031, "LedInfo"},
	{0x0032, "CableInfo"},
	{0x0033, "PortInfoExtended"},
	{0xFF90, "MlnxExtPortInfo"},
};

/* Chapter 15.2.5. */
static const struct attr_row sa_attrs[] = {
	{RECORD_NODE, "NodeRecord"},
	{RECORD_PORT_INFO, "PortInfoRecord"},
	{RECORD_SL_TO_VL, "SLtoVLMappingTableRecord"},
	{RECORD_SWITCH_INFO, "SwitchInfoRecord"},
	{RECORD_LFT, "LinearForwardingTableRecord"},
	{0x0016, "RandomForwardingTableRecord"},
	{RECORD_MFT, "MulticastForwardingTableRecord"},
	{RECORD_SM_INFO, "SMInfoRecord"},
	{0x0019, "LinkSpeedWidthPairsTableRecord"},
	{RECORD_LINK, "LinkRecord"},
	{RECORD_GUID_INFO, "GUIDInfoRecord"},
	{RECORD_SERVICE, "ServiceRecord"},
	{RECORD_PKEY_TABLE, "P_KeyTableRecord"},
	{RECORD_PATH, "PathRecord"},
	{RECORD_VL_ARBITRATION, "VLArbitrationTableRecord"},
	{RECORD_MC_MEMBER, "MCMemberRecord"},
	{0x0039, "TraceRecord"},
	{RECORD_MULTI_PATH, "MultiPathRecord"},
	{0x003B, "ServiceAssociationRecord"},
	{RECORD_INFORM_INFO, "InformInfoRecord"},
};

/* Chapters 16.1.3 and 16.1.4, those that agents in use support. */
static const struct attr_row perf_attrs[] = {
	{0x0010, "PortSamplesControl"},
	{0x0011, "PortSamplesResult"},
	{PERF_PORT_COUNTERS, "PortCounters"},
	{0x0015, "PortRcvErrorDetails"},
	{0x0016, "PortXmitDiscardDetails"},
	{0x0017, "PortOpRcvCounters"},
	{0x0018, "PortFlowCtlCounters"},
	{0x0019, "PortVLOpPackets"},
	{0x001A, "PortVLOpData"},
	{0x001B, "PortVLXmitFlowCtlUpdateErrors"},
	{0x001C, "PortVLXmitWaitCounters"},
	{PERF_PORT_COUNTERS_EXTENDED, "PortCountersExtended"},
	{0x001F, "PortExtendedSpeedsCounters"},
	{0x0030, "SwPortVLCongestion"},
	{0x0036, "PortXmitDataSL"},
	{0x0037, "PortRcvDataSL"},
};

/* Of the replication over the fabric. */
static const struct attr_row inband_attrs[] = {
	{INBAND_OPEN, "Open"},
	{INBAND_DATA, "Data"},
	{INBAND_CLOSE, "Close"},
	{INBAND_ALIVE, "Alive"},
};

static const struct {
	uint8_t mgmt_class;
	const struct attr_row *rows;
	size_t count;
} classes[] = {
	{CLASS_SUBN_LID, subn_attrs, ARRAY_SIZE(subn_attrs)},
	{CLASS_SUBN_DIRECTED, subn_attrs, ARRAY_SIZE(subn_attrs)},
	{CLASS_SUBN_ADM, sa_attrs, ARRAY_SIZE(sa_attrs)},
	{CLASS_PERF, perf_attrs, ARRAY_SIZE(perf_attrs)},
	{INBAND_CLASS, inband_attrs, ARRAY_SIZE(inband_attrs)},
};

static const struct method_row *method_find(uint8_t method)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (methods[i].method == method)
			return &methods[i];
	}
	return NULL;
}

static const char *attr_find(const struct attr_row *rows, size_t count, uint16_t id)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].id == id)
			return rows[i].name;
	}
	return "unknown";
}

uint8_t method_response(uint8_t method)
{
	const struct method_row *row = method_find(method);

	return row ? row->response : 0;
}

const char *method_name(uint8_t mgmt_class, uint8_t method)
{
	const struct method_row *row = method_find(method);

	if (!row)
		return "unknown";
	return mgmt_class == CLASS_SUBN_ADM ? row->sa_name : row->name;
}

const char *attr_name(uint8_t mgmt_class, uint16_t attr_id)
{
	if (attr_id < ATTR_NODE_DESCRIPTION)
		return attr_find(common_attrs, ARRAY_SIZE(common_attrs), attr_id);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (classes[i].mgmt_class == mgmt_class)
			return attr_find(classes[i].rows, classes[i].count, attr_id);
	}
	return "unknown";
}

/* Chapter 13.4.3; bytes 6 and 7 are hops in directed SMPs (14.2.1.2), reserved for the classes
 * here. */
void header_decode(const uint8_t *mad, struct mad_header *header)
{
	bool directed = mad[1] == CLASS_SUBN_DIRECTED;

	*header = (struct mad_header){
		.base_version = mad[0],
		.mgmt_class = mad[1],
		.class_version = mad[2],
		.method = mad[3],
		.status = be16_load(mad + 4),
		.hop_pointer = directed ? mad[6] : 0,
		.hop_count = directed ? mad[7] : 0,
		.tid = be64_load(mad + 8),
		.attr_id = be16_load(mad + 16),
		.attr_mod = be32_load(mad + 20),
	};
}

void header_encode(const struct mad_header *header, uint8_t *mad)
{
	bool directed = header->mgmt_class == CLASS_SUBN_DIRECTED;

	mad[0] = header->base_version;
	mad[1] = header->mgmt_class;
	mad[2] = header->class_version;
	mad[3] = header->method;
	be16_store(mad + 4, header->status);
	mad[6] = directed ? header->hop_pointer : 0;
	mad[7] = directed ? header->hop_count : 0;
	be64_store(mad + 8, header->tid);
	be16_store(mad + 16, header->attr_id);
	be16_store(mad + 18, 0);
	be32_store(mad + 20, header->attr_mod);
}

void subn_build(uint8_t mad[MAD_SIZE], uint8_t method, uint16_t attr_id, uint32_t attr_mod,
		uint64_t m_key, const struct route_path *route, const uint8_t *data)
{
	const struct mad_header header = {
		.base_version = BASE_VERSION,
		.mgmt_class = route ? CLASS_SUBN_DIRECTED : CLASS_SUBN_LID,
		.class_version = SUBN_CLASS_VERSION,
		.method = method,
		.hop_count = route ? route->hops : 0,
		.attr_id = attr_id,
		.attr_mod = attr_mod,
	};

	memset(mad, 0, MAD_SIZE);
	header_encode(&header, mad);
	be64_store(mad + SMP_M_KEY_OFFSET, m_key);
	if (data)
		memcpy(mad + SMP_DATA_OFFSET, data, SMP_DATA_SIZE);
	if (!route)
		return;
	/* Permissive LIDs: no part of the way is LID-routed (14.2.2). */
	assert(route->hops <= HOPS_MAX);
	be16_store(mad + SMP_DR_SLID_OFFSET, LID_PERMISSIVE);
	be16_store(mad + SMP_DR_DLID_OFFSET, LID_PERMISSIVE);
	memcpy(mad + SMP_INITIAL_PATH_OFFSET + 1, route->port + 1, route->hops);
}

void sa_header_decode(const uint8_t *mad, struct sa_header *header)
{
	header->sm_key = be64_load(mad + 36);
	header->attr_offset = be16_load(mad + 44);
	header->component_mask = be64_load(mad + 48);
}

void sa_header_encode(const struct sa_header *header, uint8_t *mad)
{
	be64_store(mad + 36, header->sm_key);
	be16_store(mad + 44, header->attr_offset);
	be16_store(mad + 46, 0);
	be64_store(mad + 48, header->component_mask);
}

bool rmpp_is_active(const uint8_t *mad)
{
	return (mad[1] == CLASS_SUBN_ADM || class_has_oui(mad[1])) && mad[26] & RMPP_ACTIVE;
}

/* Active: one message, as its own first and last segment. A sender that splits it into segments
 * (the kernel does) needs only the active flag and writes the rest itself. Not active:
 * all zero. */
void rmpp_header_encode(uint8_t *mad, bool active)
{
	memset(mad + 24, 0, 12);
	if (!active)
		return;
	mad[24] = RMPP_VERSION;
	mad[25] = RMPP_TYPE_DATA;
	mad[26] = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST;
	be32_store(mad + 28, 1);
}
