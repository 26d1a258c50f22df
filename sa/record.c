/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wire formats of the SA's records, row by row in the order of their components:
 * chapter 15.2.5, as OpenSM's ib_types.h and the kernel's rdma/ib_sa.h restate it. This is the
 * place to look up what a bit of a component mask means: it is the number of the row, counted from
 * 0. Records that embed an attribute repeat its rows, since their components have numbers of their
 * own; that the bits lie as in sma/attr.c is held by tests/unit/test_record.c. Constants; any
 * thread.
 *
 * The components end with the last gap. Rows behind it lie in what was once reserved, and have no
 * bit of the mask.
 */
#include "sa/record.h"

#include <assert.h>

#include "lib/mem.h"

/* clang-format off */

/* NodeRecord: one for each end port; NodeInfo and NodeDescription. */
#define ROW(member, name, bit, width) FIELD(struct node_record, member, name, bit, width)
#define RAW(member, name, bit, width) \
	FIELD_ARRAY(struct node_record, member, name, FIELD_BYTES, bit, width)
static const struct field node_record_fields[] = {
	ROW(lid,                    "LID",               0,  16),
	FIELD_GAP("Reserved", 16, 16),
	ROW(info.base_version,      "BaseVersion",      32,   8),
	ROW(info.class_version,     "ClassVersion",     40,   8),
	ROW(info.node_type,         "NodeType",         48,   8),
	ROW(info.num_ports,         "NumPorts",         56,   8),
	ROW(info.system_image_guid, "SystemImageGUID",  64,  64),
	ROW(info.node_guid,         "NodeGUID",        128,  64),
	ROW(info.port_guid,         "PortGUID",        192,  64),
	ROW(info.partition_cap,     "PartitionCap",    256,  16),
	ROW(info.device_id,         "DeviceID",        272,  16),
	ROW(info.revision,          "Revision",        288,  32),
	ROW(info.local_port_num,    "LocalPortNum",    320,   8),
	ROW(info.vendor_id,         "VendorID",        328,  24),
	RAW(description.text,       "NodeDescription", 352, 512),
	FIELD_GAP("Padding", 864, 32),
};
#undef ROW
#undef RAW

/* PortInfoRecord: one for each port, external ports of switches included. The extended speeds that
 * came last (XDR) lie where PortInfo had 8 reserved bits. */
#define ROW(member, name, bit, width) FIELD(struct port_info_record, member, name, bit, width)
static const struct field port_info_record_fields[] = {
	ROW(endport_lid,                    "EndportLID",               0,  16),
	ROW(port_num,                       "PortNum",                 16,   8),
	ROW(options,                        "Options",                 24,   8),
	ROW(info.m_key,                     "M_Key",                   32,  64),
	ROW(info.gid_prefix,                "GidPrefix",               96,  64),
	ROW(info.lid,                       "LID",                    160,  16),
	ROW(info.master_sm_lid,             "MasterSMLID",            176,  16),
	ROW(info.capability_mask,           "CapabilityMask",         192,  32),
	ROW(info.diag_code,                 "DiagCode",               224,  16),
	ROW(info.m_key_lease_period,        "M_KeyLeasePeriod",       240,  16),
	ROW(info.local_port_num,            "LocalPortNum",           256,   8),
	ROW(info.link_width_enabled,        "LinkWidthEnabled",       264,   8),
	ROW(info.link_width_supported,      "LinkWidthSupported",     272,   8),
	ROW(info.link_width_active,         "LinkWidthActive",        280,   8),
	ROW(info.link_speed_supported,      "LinkSpeedSupported",     288,   4),
	ROW(info.port_state,                "PortState",              292,   4),
	ROW(info.port_physical_state,       "PortPhysicalState",      296,   4),
	ROW(info.link_down_default_state,   "LinkDownDefaultState",   300,   4),
	ROW(info.m_key_protect_bits,        "M_KeyProtectBits",       304,   2),
	FIELD_GAP("Reserved", 306, 3),
	ROW(info.lmc,                       "LMC",                    309,   3),
	ROW(info.link_speed_active,         "LinkSpeedActive",        312,   4),
	ROW(info.link_speed_enabled,        "LinkSpeedEnabled",       316,   4),
	ROW(info.neighbor_mtu,              "NeighborMTU",            320,   4),
	ROW(info.master_sm_sl,              "MasterSMSL",             324,   4),
	ROW(info.vl_cap,                    "VLCap",                  328,   4),
	ROW(info.init_type,                 "InitType",               332,   4),
	ROW(info.vl_high_limit,             "VLHighLimit",            336,   8),
	ROW(info.vl_arbitration_high_cap,   "VLArbitrationHighCap",   344,   8),
	ROW(info.vl_arbitration_low_cap,    "VLArbitrationLowCap",    352,   8),
	ROW(info.init_type_reply,           "InitTypeReply",          360,   4),
	ROW(info.mtu_cap,                   "MTUCap",                 364,   4),
	ROW(info.vl_stall_count,            "VLStallCount",           368,   3),
	ROW(info.hoq_life,                  "HOQLife",                371,   5),
	ROW(info.operational_vls,           "OperationalVLs",         376,   4),
	ROW(info.partition_enforcement_inbound,
	                                    "PartitionEnforcementInbound", 380, 1),
	ROW(info.partition_enforcement_outbound,
	                                    "PartitionEnforcementOutbound", 381, 1),
	ROW(info.filter_raw_inbound,        "FilterRawInbound",       382,   1),
	ROW(info.filter_raw_outbound,       "FilterRawOutbound",      383,   1),
	ROW(info.m_key_violations,          "M_KeyViolations",        384,  16),
	ROW(info.p_key_violations,          "P_KeyViolations",        400,  16),
	ROW(info.q_key_violations,          "Q_KeyViolations",        416,  16),
	ROW(info.guid_cap,                  "GUIDCap",                432,   8),
	ROW(info.client_reregister,         "ClientReregister",       440,   1),
	ROW(info.multicast_p_key_trap_suppression_enabled,
	                                    "MulticastPKeyTrapSuppressionEnabled", 441, 2),
	ROW(info.subnet_timeout,            "SubnetTimeOut",          443,   5),
	FIELD_GAP("Reserved", 448, 3),
	ROW(info.resp_time_value,           "RespTimeValue",          451,   5),
	ROW(info.local_phy_errors,          "LocalPhyErrors",         456,   4),
	ROW(info.overrun_errors,            "OverrunErrors",          460,   4),
	ROW(info.max_credit_hint,           "MaxCreditHint",          464,  16),
	FIELD_GAP("Reserved", 480, 8),
	ROW(info.link_round_trip_latency,   "LinkRoundTripLatency",   488,  24),
	ROW(info.capability_mask2,          "CapabilityMask2",        512,  16),
	ROW(info.link_speed_ext_active,     "LinkSpeedExtActive",     528,   4),
	ROW(info.link_speed_ext_supported,  "LinkSpeedExtSupported",  532,   4),
	FIELD_GAP("Reserved", 536, 3),
	ROW(info.link_speed_ext_enabled,    "LinkSpeedExtEnabled",    539,   5),
	FIELD_GAP("Padding", 544, 32),
	ROW(info.link_speed_ext_active2,    "LinkSpeedExtActive2",    481,   2),
	ROW(info.link_speed_ext_supported2, "LinkSpeedExtSupported2", 483,   2),
	ROW(info.link_speed_ext_enabled2,   "LinkSpeedExtEnabled2",   485,   3),
};
#undef ROW

/* SMInfoRecord: one for each subnet manager. */
#define ROW(member, name, bit, width) FIELD(struct sm_info_record, member, name, bit, width)
static const struct field sm_info_record_fields[] = {
	ROW(lid,            "LID",        0,  16),
	FIELD_GAP("Reserved", 16, 16),
	ROW(info.guid,      "GUID",      32,  64),
	ROW(info.sm_key,    "SM_Key",    96,  64),
	ROW(info.act_count, "ActCount", 160,  32),
	ROW(info.priority,  "Priority", 192,   4),
	ROW(info.state,     "SMState",  196,   4),
	FIELD_GAP("Padding", 200, 56),
};
#undef ROW

/* LinkRecord: one for each direction of a cable. */
#define ROW(member, name, bit, width) FIELD(struct link_record, member, name, bit, width)
static const struct field link_record_fields[] = {
	ROW(from_lid,  "FromLID",    0,  16),
	ROW(from_port, "FromPort",  16,   8),
	ROW(to_port,   "ToPort",    24,   8),
	ROW(to_lid,    "ToLID",     32,  16),
	FIELD_GAP("Padding", 48, 16),
};
#undef ROW

/* PathRecord: also the query; selectors say how Mtu, Rate and PacketLifeTime are to be compared. */
#define ROW(member, name, bit, width) FIELD(struct path_record, member, name, bit, width)
#define RAW(member, name, bit, width) \
	FIELD_ARRAY(struct path_record, member, name, FIELD_BYTES, bit, width)
static const struct field path_record_fields[] = {
	ROW(service_id_8msb,           "ServiceID8MSB",            0,   8),
	ROW(service_id_56lsb,          "ServiceID56LSB",           8,  56),
	RAW(dgid,                      "DGID",                    64, 128),
	RAW(sgid,                      "SGID",                   192, 128),
	ROW(dlid,                      "DLID",                   320,  16),
	ROW(slid,                      "SLID",                   336,  16),
	ROW(raw_traffic,               "RawTraffic",             352,   1),
	FIELD_GAP("Reserved", 353, 3),
	ROW(flow_label,                "FlowLabel",              356,  20),
	ROW(hop_limit,                 "HopLimit",               376,   8),
	ROW(tclass,                    "TClass",                 384,   8),
	ROW(reversible,                "Reversible",             392,   1),
	ROW(numb_path,                 "NumbPath",               393,   7),
	ROW(p_key,                     "P_Key",                  400,  16),
	ROW(qos_class,                 "QoSClass",               416,  12),
	ROW(sl,                        "SL",                     428,   4),
	ROW(mtu_selector,              "MtuSelector",            432,   2),
	ROW(mtu,                       "Mtu",                    434,   6),
	ROW(rate_selector,             "RateSelector",           440,   2),
	ROW(rate,                      "Rate",                   442,   6),
	ROW(packet_life_time_selector, "PacketLifeTimeSelector", 448,   2),
	ROW(packet_life_time,          "PacketLifeTime",         450,   6),
	ROW(preference,                "Preference",             456,   8),
	FIELD_GAP("Padding", 464, 48),
};
#undef ROW
#undef RAW

#define RECORD_FORMAT(record, text, bytes)                                                         \
	const struct format record##_format = {                                                    \
		text, bytes, sizeof(struct record), ARRAY_SIZE(record##_fields), record##_fields   \
	}

RECORD_FORMAT(node_record,      "NodeRecord",     112);
RECORD_FORMAT(port_info_record, "PortInfoRecord",  72);
RECORD_FORMAT(sm_info_record,   "SMInfoRecord",    32);
RECORD_FORMAT(link_record,      "LinkRecord",       8);
RECORD_FORMAT(path_record,      "PathRecord",      64);

/* clang-format on */

uint64_t record_components(const struct format *format)
{
	uint64_t components = 0, seen = 0;

	for (unsigned i = 0; i < format->count; i++) {
		if (format->fields[i].kind == FIELD_RESERVED)
			components = seen; /* the last gap counts */
		else
			seen |= COMPONENT(i);
	}
	return components;
}

bool record_matches(const struct format *format, uint64_t mask, const void *wanted,
		    const void *candidate)
{
	for (; mask; mask &= mask - 1) {
		unsigned row = (unsigned)__builtin_ctzll(mask);

		assert(row < format->count);
		if (!field_equal(&format->fields[row], wanted, candidate))
			return false;
	}
	return true;
}
