/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wire formats of the subnet management attributes, row by row in the order of the
 * specification's tables (chapter 14.2.5). OpenSM's ib_types.h, the kernel's ib_smi.h and
 * libibmad's fields.c have the same formats. The manager, the SA's records and the software agents
 * read and write attributes through these tables only, and tests/unit/mad/test_attr.c checks each
 * row. Constants; any thread.
 *
 * A row is: member of the struct in mad/attr.h, the specification's name, first bit, width. Bit 0
 * is the top bit of byte 0, so the first bit of byte 33 is 264. Bits without a row are reserved.
 */
#include "mad/attr.h"

#include "lib/mem.h"

/* clang-format off */

/* ClassPortInfo: 13.4.8.1, with CapabilityMask2. The SA and performance agents have it. */
#define ROW(member, name, bit, width) FIELD(struct class_port_info, member, name, bit, width)
#define RAW(member, name, bit, width) \
	FIELD_ARRAY(struct class_port_info, member, name, FIELD_BYTES, bit, width)
static const struct field class_port_info_fields[] = {
	ROW(base_version,     "BaseVersion",       0,   8),
	ROW(class_version,    "ClassVersion",      8,   8),
	ROW(capability_mask,  "CapabilityMask",   16,  16),
	ROW(capability_mask2, "CapabilityMask2",  32,  27),
	ROW(resp_time_value,  "RespTimeValue",    59,   5),
	RAW(redirect.gid,     "RedirectGID",      64, 128),
	ROW(redirect.tc,      "RedirectTC",      192,   8),
	ROW(redirect.sl,      "RedirectSL",      200,   4),
	ROW(redirect.fl,      "RedirectFL",      204,  20),
	ROW(redirect.lid,     "RedirectLID",     224,  16),
	ROW(redirect.p_key,   "RedirectP_Key",   240,  16),
	FIELD_GAP("Reserved", 256, 8),
	ROW(redirect.qp,      "RedirectQP",      264,  24),
	ROW(redirect.q_key,   "RedirectQ_Key",   288,  32),
	RAW(trap.gid,         "TrapGID",         320, 128),
	ROW(trap.tc,          "TrapTC",          448,   8),
	ROW(trap.sl,          "TrapSL",          456,   4),
	ROW(trap.fl,          "TrapFL",          460,  20),
	ROW(trap.lid,         "TrapLID",         480,  16),
	ROW(trap.p_key,       "TrapP_Key",       496,  16),
	ROW(trap.hop_limit,   "TrapHL",          512,   8),
	ROW(trap.qp,          "TrapQP",          520,  24),
	ROW(trap.q_key,       "TrapQ_Key",       544,  32),
};
#undef ROW
#undef RAW

/* NodeInfo: 14.2.5.3. */
#define ROW(member, name, bit, width) FIELD(struct node_info, member, name, bit, width)
static const struct field node_info_fields[] = {
	ROW(base_version,      "BaseVersion",       0,  8),
	ROW(class_version,     "ClassVersion",      8,  8),
	ROW(node_type,         "NodeType",         16,  8),
	ROW(num_ports,         "NumPorts",         24,  8),
	ROW(system_image_guid, "SystemImageGUID",  32, 64),
	ROW(node_guid,         "NodeGUID",         96, 64),
	ROW(port_guid,         "PortGUID",        160, 64),
	ROW(partition_cap,     "PartitionCap",    224, 16),
	ROW(device_id,         "DeviceID",        240, 16),
	ROW(revision,          "Revision",        256, 32),
	ROW(local_port_num,    "LocalPortNum",    288,  8),
	ROW(vendor_id,         "VendorID",        296, 24),
};
#undef ROW

/* NodeDescription: 14.2.5.2. */
static const struct field node_description_fields[] = {
	FIELD_ARRAY(struct node_description, text, "NodeString", FIELD_BYTES, 0, 512),
};

/* SwitchInfo: 14.2.5.4. */
#define ROW(member, name, bit, width) FIELD(struct switch_info, member, name, bit, width)
static const struct field switch_info_fields[] = {
	ROW(linear_fdb_cap,                     "LinearFDBCap",                         0, 16),
	ROW(random_fdb_cap,                     "RandomFDBCap",                        16, 16),
	ROW(multicast_fdb_cap,                  "MulticastFDBCap",                     32, 16),
	ROW(linear_fdb_top,                     "LinearFDBTop",                        48, 16),
	ROW(default_port,                       "DefaultPort",                         64,  8),
	ROW(default_multicast_primary_port,     "DefaultMulticastPrimaryPort",         72,  8),
	ROW(default_multicast_not_primary_port, "DefaultMulticastNotPrimaryPort",      80,  8),
	ROW(life_time_value,                    "LifeTimeValue",                       88,  5),
	ROW(port_state_change,                  "PortStateChange",                     93,  1),
	ROW(optimized_sl_to_vl,                 "OptimizedSLtoVLMappingProgramming",   94,  2),
	ROW(lids_per_port,                      "LIDsPerPort",                         96, 16),
	ROW(partition_enforcement_cap,          "PartitionEnforcementCap",            112, 16),
	ROW(inbound_enforcement_cap,            "InboundEnforcementCap",              128,  1),
	ROW(outbound_enforcement_cap,           "OutboundEnforcementCap",             129,  1),
	ROW(filter_raw_inbound_cap,             "FilterRawInboundCap",                130,  1),
	ROW(filter_raw_outbound_cap,            "FilterRawOutboundCap",               131,  1),
	ROW(enhanced_port0,                     "EnhancedPort0",                      132,  1),
	ROW(multicast_fdb_top,                  "MulticastFDBTop",                    144, 16),
};
#undef ROW

/* GUIDInfo, a block of 8: 14.2.5.5. */
static const struct field guid_info_fields[] = {
	FIELD_ARRAY(struct guid_info, guid, "GUID", FIELD_GUIDS, 0, 512),
};

/* PortInfo: 14.2.5.6. The second set of extended speeds (XDR) came into what was reserved beside
 * LinkRoundTripLatency. */
#define ROW(member, name, bit, width) FIELD(struct port_info, member, name, bit, width)
static const struct field port_info_fields[] = {
	ROW(m_key,                         "M_Key",                         0, 64),
	ROW(gid_prefix,                    "GidPrefix",                    64, 64),
	ROW(lid,                           "LID",                         128, 16),
	ROW(master_sm_lid,                 "MasterSMLID",                 144, 16),
	ROW(capability_mask,               "CapabilityMask",              160, 32),
	ROW(diag_code,                     "DiagCode",                    192, 16),
	ROW(m_key_lease_period,            "M_KeyLeasePeriod",            208, 16),
	ROW(local_port_num,                "LocalPortNum",                224,  8),
	ROW(link_width_enabled,            "LinkWidthEnabled",            232,  8),
	ROW(link_width_supported,          "LinkWidthSupported",          240,  8),
	ROW(link_width_active,             "LinkWidthActive",             248,  8),
	ROW(link_speed_supported,          "LinkSpeedSupported",          256,  4),
	ROW(port_state,                    "PortState",                   260,  4),
	ROW(port_physical_state,           "PortPhysicalState",           264,  4),
	ROW(link_down_default_state,       "LinkDownDefaultState",        268,  4),
	ROW(m_key_protect_bits,            "M_KeyProtectBits",            272,  2),
	ROW(lmc,                           "LMC",                         277,  3),
	ROW(link_speed_active,             "LinkSpeedActive",             280,  4),
	ROW(link_speed_enabled,            "LinkSpeedEnabled",            284,  4),
	ROW(neighbor_mtu,                  "NeighborMTU",                 288,  4),
	ROW(master_sm_sl,                  "MasterSMSL",                  292,  4),
	ROW(vl_cap,                        "VLCap",                       296,  4),
	ROW(init_type,                     "InitType",                    300,  4),
	ROW(vl_high_limit,                 "VLHighLimit",                 304,  8),
	ROW(vl_arbitration_high_cap,       "VLArbitrationHighCap",        312,  8),
	ROW(vl_arbitration_low_cap,        "VLArbitrationLowCap",         320,  8),
	ROW(init_type_reply,               "InitTypeReply",               328,  4),
	ROW(mtu_cap,                       "MTUCap",                      332,  4),
	ROW(vl_stall_count,                "VLStallCount",                336,  3),
	ROW(hoq_life,                      "HOQLife",                     339,  5),
	ROW(operational_vls,               "OperationalVLs",              344,  4),
	ROW(partition_enforcement_inbound, "PartitionEnforcementInbound", 348,  1),
	ROW(partition_enforcement_outbound,
	                                   "PartitionEnforcementOutbound", 349, 1),
	ROW(filter_raw_inbound,            "FilterRawInbound",            350,  1),
	ROW(filter_raw_outbound,           "FilterRawOutbound",           351,  1),
	ROW(m_key_violations,              "M_KeyViolations",             352, 16),
	ROW(p_key_violations,              "P_KeyViolations",             368, 16),
	ROW(q_key_violations,              "Q_KeyViolations",             384, 16),
	ROW(guid_cap,                      "GUIDCap",                     400,  8),
	ROW(client_reregister,             "ClientReregister",            408,  1),
	ROW(multicast_p_key_trap_suppression_enabled,
	                                   "MulticastPKeyTrapSuppressionEnabled", 409, 2),
	ROW(subnet_timeout,                "SubnetTimeOut",               411,  5),
	ROW(resp_time_value,               "RespTimeValue",               419,  5),
	ROW(local_phy_errors,              "LocalPhyErrors",              424,  4),
	ROW(overrun_errors,                "OverrunErrors",               428,  4),
	ROW(max_credit_hint,               "MaxCreditHint",               432, 16),
	ROW(link_speed_ext_active2,        "LinkSpeedExtActive2",         449,  2),
	ROW(link_speed_ext_supported2,     "LinkSpeedExtSupported2",      451,  2),
	ROW(link_speed_ext_enabled2,       "LinkSpeedExtEnabled2",        453,  3),
	ROW(link_round_trip_latency,       "LinkRoundTripLatency",        456, 24),
	ROW(capability_mask2,              "CapabilityMask2",             480, 16),
	ROW(link_speed_ext_active,         "LinkSpeedExtActive",          496,  4),
	ROW(link_speed_ext_supported,      "LinkSpeedExtSupported",       500,  4),
	ROW(link_speed_ext_enabled,        "LinkSpeedExtEnabled",         507,  5),
};
#undef ROW

/* P_KeyTable, a block of 32: 14.2.5.7. */
static const struct field p_key_table_fields[] = {
	FIELD_ARRAY(struct p_key_table, p_key, "P_Key", FIELD_LIDS, 0, 512),
};

/* SLtoVLMappingTable, 8 bytes of half bytes by SL: 14.2.5.8. */
#define ROW(sl) FIELD(struct sl_to_vl_table, vl[sl], "SL" #sl "toVL", 4 * (sl), 4)
static const struct field sl_to_vl_table_fields[] = {
	ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
	ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15),
};
#undef ROW

/* VLArbitrationTable, a block of 32 pairs, the VL in the lower half byte: 14.2.5.9. */
#define PAIR(i)                                                                                \
	FIELD(struct vl_arbitration_table, entry[i].vl, "VL" #i, 16 * (i) + 4, 4),             \
	FIELD(struct vl_arbitration_table, entry[i].weight, "Weight" #i, 16 * (i) + 8, 8)
static const struct field vl_arbitration_table_fields[] = {
	PAIR(0),  PAIR(1),  PAIR(2),  PAIR(3),  PAIR(4),  PAIR(5),  PAIR(6),  PAIR(7),
	PAIR(8),  PAIR(9),  PAIR(10), PAIR(11), PAIR(12), PAIR(13), PAIR(14), PAIR(15),
	PAIR(16), PAIR(17), PAIR(18), PAIR(19), PAIR(20), PAIR(21), PAIR(22), PAIR(23),
	PAIR(24), PAIR(25), PAIR(26), PAIR(27), PAIR(28), PAIR(29), PAIR(30), PAIR(31),
};
#undef PAIR

/* LinearForwardingTable, a block of 64 LIDs: 14.2.5.10. */
static const struct field linear_forwarding_table_fields[] = {
	FIELD_ARRAY(struct linear_forwarding_table, port, "Port", FIELD_BYTES, 0, 512),
};

/* MulticastForwardingTable, a block of 32 LIDs for 16 ports: 14.2.5.12. */
static const struct field multicast_forwarding_table_fields[] = {
	FIELD_ARRAY(struct multicast_forwarding_table, port_mask, "PortMask", FIELD_LIDS, 0, 512),
};

/* SMInfo: 14.2.5.13. */
#define ROW(member, name, bit, width) FIELD(struct sm_info, member, name, bit, width)
static const struct field sm_info_fields[] = {
	ROW(guid,      "GUID",       0, 64),
	ROW(sm_key,    "SM_Key",    64, 64),
	ROW(act_count, "ActCount", 128, 32),
	ROW(priority,  "Priority", 160,  4),
	ROW(state,     "SMState",  164,  4),
};
#undef ROW

/* Notice: 13.4.8.2. The producer and the trap number are vendor and device when it is not generic.
 * The issuer's GID stays the last row: the SMP's 64 bytes end before it. */
#define ROW(member, name, bit, width) FIELD(struct notice, member, name, bit, width)
static const struct field notice_fields[] = {
	ROW(is_generic,    "IsGeneric",     0,  1),
	ROW(type,          "Type",          1,  7),
	ROW(producer_type, "ProducerType",  8, 24),
	ROW(trap_number,   "TrapNumber",   32, 16),
	ROW(issuer_lid,    "IssuerLID",    48, 16),
	ROW(toggle,        "NoticeToggle", 64,  1),
	ROW(count,         "NoticeCount",  65, 15),
	FIELD_ARRAY(struct notice, data, "DataDetails", FIELD_BYTES, 80, 432),
	FIELD_ARRAY(struct notice, issuer_gid, "IssuerGID", FIELD_BYTES, 512, 128),
};
#undef ROW

/* Mellanox ExtendedPortInfo. */
#define ROW(member, name, bit, width) FIELD(struct ext_port_info, member, name, bit, width)
static const struct field ext_port_info_fields[] = {
	ROW(state_change_enable,  "StateChangeEnable",   24, 8),
	ROW(link_speed_supported, "LinkSpeedSupported",  56, 8),
	ROW(link_speed_enabled,   "LinkSpeedEnabled",    88, 8),
	ROW(link_speed_active,    "LinkSpeedActive",    120, 8),
};
#undef ROW

const struct format class_port_info_format =
	FORMAT(struct class_port_info, "ClassPortInfo", 72, class_port_info_fields);

#define SMP_FORMAT(type, name) \
	const struct format type##_format = FORMAT(struct type, name, SMP_DATA_SIZE, type##_fields)

SMP_FORMAT(node_info,                  "NodeInfo");
SMP_FORMAT(node_description,           "NodeDescription");
SMP_FORMAT(switch_info,                "SwitchInfo");
SMP_FORMAT(guid_info,                  "GUIDInfo");
SMP_FORMAT(port_info,                  "PortInfo");
SMP_FORMAT(p_key_table,                "P_KeyTable");
SMP_FORMAT(sl_to_vl_table,             "SLtoVLMappingTable");
SMP_FORMAT(vl_arbitration_table,       "VLArbitrationTable");
SMP_FORMAT(linear_forwarding_table,    "LinearForwardingTable");
SMP_FORMAT(multicast_forwarding_table, "MulticastForwardingTable");
SMP_FORMAT(sm_info,                    "SMInfo");
SMP_FORMAT(ext_port_info,              "MlnxExtPortInfo");

const struct format notice_report_format = FORMAT(struct notice, "Notice", 80, notice_fields);
const struct format notice_format = {
	.name = "Notice",
	.wire_size = SMP_DATA_SIZE,
	.struct_size = sizeof(struct notice),
	.count = ARRAY_SIZE(notice_fields) - 1,
	.fields = notice_fields,
};

static const struct {
	uint16_t attr_id;
	const struct format *format;
} formats[] = {
	{ATTR_NOTICE,                     &notice_format},
	{ATTR_NODE_DESCRIPTION,           &node_description_format},
	{ATTR_NODE_INFO,                  &node_info_format},
	{ATTR_SWITCH_INFO,                &switch_info_format},
	{ATTR_GUID_INFO,                  &guid_info_format},
	{ATTR_PORT_INFO,                  &port_info_format},
	{ATTR_PKEY_TABLE,                 &p_key_table_format},
	{ATTR_SL_TO_VL,                   &sl_to_vl_table_format},
	{ATTR_VL_ARBITRATION,             &vl_arbitration_table_format},
	{ATTR_LINEAR_FORWARDING_TABLE,    &linear_forwarding_table_format},
	{ATTR_MULTICAST_FORWARDING_TABLE, &multicast_forwarding_table_format},
	{ATTR_SM_INFO,                    &sm_info_format},
	{ATTR_MLNX_EXT_PORT_INFO,         &ext_port_info_format},
};

/* clang-format on */

const struct format *attr_format(uint16_t attr_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (formats[i].attr_id == attr_id)
			return formats[i].format;
	}
	return NULL;
}

const char *sm_state_name(enum sm_state state)
{
	static const char *const names[] = {
		[SM_NOTACTIVE] = "NOTACTIVE",
		[SM_DISCOVERING] = "DISCOVERING",
		[SM_STANDBY] = "STANDBY",
		[SM_MASTER] = "MASTER",
	};

	return (size_t)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}
