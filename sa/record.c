/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wire formats of the SA's records, row by row in the order of their components: chapter
 * 15.2.5, as restated in OpenSM's ib_types.h and the kernel's rdma/ib_sa.h. Bit i of a component
 * mask is row i, counted from 0. Records that embed an attribute repeat its rows, because their
 * components have numbers of their own; tests/unit/sa/test_record.c checks that the bits are as in
 * mad/attr.c. Constants; any thread.
 *
 * The components end with the last gap. Rows after it are in space that was once reserved, or are
 * tables without components, and have no bit of the mask. Some records have no gap at their end:
 * all their rows are components.
 */
#include "sa/record.h"

#include <assert.h>
#include <string.h>

#include "lib/be.h"
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

/* PortInfoRecord: one for each port, external ports of switches included. The newest extended
 * speeds (XDR) are in 8 bits that PortInfo had reserved. */
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

/* SLtoVLMappingTableRecord: one for each pair of ports of a switch, one for an adapter's port. */
#define ROW(member, name, bit, width) FIELD(struct sl_to_vl_record, member, name, bit, width)
static const struct field sl_to_vl_record_fields[] = {
	ROW(lid,             "LID",            0, 16),
	ROW(input_port_num,  "InputPortNum",  16,  8),
	ROW(output_port_num, "OutputPortNum", 24,  8),
	FIELD_GAP("Reserved", 32, 32),
	ROW(table.vl[0],  "SL0toVL",        64, 4),
	ROW(table.vl[1],  "SL1toVL",        68, 4),
	ROW(table.vl[2],  "SL2toVL",        72, 4),
	ROW(table.vl[3],  "SL3toVL",        76, 4),
	ROW(table.vl[4],  "SL4toVL",        80, 4),
	ROW(table.vl[5],  "SL5toVL",        84, 4),
	ROW(table.vl[6],  "SL6toVL",        88, 4),
	ROW(table.vl[7],  "SL7toVL",        92, 4),
	ROW(table.vl[8],  "SL8toVL",        96, 4),
	ROW(table.vl[9],  "SL9toVL",        100, 4),
	ROW(table.vl[10], "SL10toVL",       104, 4),
	ROW(table.vl[11], "SL11toVL",       108, 4),
	ROW(table.vl[12], "SL12toVL",       112, 4),
	ROW(table.vl[13], "SL13toVL",       116, 4),
	ROW(table.vl[14], "SL14toVL",       120, 4),
	ROW(table.vl[15], "SL15toVL",       124, 4),
};
#undef ROW

/* SwitchInfoRecord: one for each switch. */
#define ROW(member, name, bit, width) FIELD(struct switch_info_record, member, name, bit, width)
static const struct field switch_info_record_fields[] = {
	ROW(lid,                              "LID",                       0, 16),
	FIELD_GAP("Reserved", 16, 16),
	ROW(info.linear_fdb_cap,              "LinearFDBCap",             32, 16),
	ROW(info.random_fdb_cap,              "RandomFDBCap",             48, 16),
	ROW(info.multicast_fdb_cap,           "MulticastFDBCap",          64, 16),
	ROW(info.linear_fdb_top,              "LinearFDBTop",             80, 16),
	ROW(info.default_port,                "DefaultPort",              96,  8),
	ROW(info.default_multicast_primary_port,
	                                      "DefaultMulticastPrimaryPort", 104, 8),
	ROW(info.default_multicast_not_primary_port,
	                                      "DefaultMulticastNotPrimaryPort", 112, 8),
	ROW(info.life_time_value,             "LifeTimeValue",           120,  5),
	ROW(info.port_state_change,           "PortStateChange",         125,  1),
	ROW(info.optimized_sl_to_vl,          "OptimizedSLtoVLMappingProgramming", 126, 2),
	ROW(info.lids_per_port,               "LIDsPerPort",             128, 16),
	ROW(info.partition_enforcement_cap,   "PartitionEnforcementCap", 144, 16),
	ROW(info.inbound_enforcement_cap,     "InboundEnforcementCap",   160,  1),
	ROW(info.outbound_enforcement_cap,    "OutboundEnforcementCap",  161,  1),
	ROW(info.filter_raw_inbound_cap,      "FilterRawInboundCap",     162,  1),
	ROW(info.filter_raw_outbound_cap,     "FilterRawOutboundCap",    163,  1),
	ROW(info.enhanced_port0,              "EnhancedPort0",           164,  1),
	FIELD_GAP("Reserved", 165, 11),
	ROW(info.multicast_fdb_top,           "MulticastFDBTop",         176, 16),
};
#undef ROW

/* LinearForwardingTableRecord: one for each block of 64 LIDs of a switch. */
#define ROW(member, name, bit, width) FIELD(struct lft_record, member, name, bit, width)
static const struct field lft_record_fields[] = {
	ROW(lid,       "LID",          0, 16),
	ROW(block_num, "BlockNumber", 16, 16),
	FIELD_GAP("Reserved", 32, 32),
	FIELD_ARRAY(struct lft_record, table.port, "LinearForwardingTable", FIELD_BYTES, 64, 512),
};
#undef ROW

/* MulticastForwardingTableRecord: one for each block of 32 LIDs and 16 ports of a switch. */
#define ROW(member, name, bit, width) FIELD(struct mft_record, member, name, bit, width)
static const struct field mft_record_fields[] = {
	ROW(lid,       "LID",          0, 16),
	ROW(position,  "Position",    16,  4),
	FIELD_GAP("Reserved", 20, 3),
	ROW(block_num, "BlockNumber", 23,  9),
	FIELD_GAP("Reserved", 32, 32),
	FIELD_ARRAY(struct mft_record, table.port_mask, "MulticastForwardingTable", FIELD_LIDS, 64, 512),
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

/* GUIDInfoRecord: one for each block of 8 GUIDs of an end port. */
#define ROW(member, name, bit, width) FIELD(struct guid_info_record, member, name, bit, width)
static const struct field guid_info_record_fields[] = {
	ROW(lid,          "LID",        0, 16),
	ROW(block_num,    "BlockNum",  16,  8),
	FIELD_GAP("Reserved", 24, 8),
	FIELD_GAP("Reserved", 32, 32),
	ROW(info.guid[0], "GUID0",  64, 64),
	ROW(info.guid[1], "GUID1", 128, 64),
	ROW(info.guid[2], "GUID2", 192, 64),
	ROW(info.guid[3], "GUID3", 256, 64),
	ROW(info.guid[4], "GUID4", 320, 64),
	ROW(info.guid[5], "GUID5", 384, 64),
	ROW(info.guid[6], "GUID6", 448, 64),
	ROW(info.guid[7], "GUID7", 512, 64),
};
#undef ROW

/* P_KeyTableRecord: one for each block of 32 P_Keys of a port. */
#define ROW(member, name, bit, width) FIELD(struct p_key_table_record, member, name, bit, width)
static const struct field p_key_table_record_fields[] = {
	ROW(lid,       "LID",       0, 16),
	ROW(block_num, "BlockNum", 16, 16),
	ROW(port_num,  "PortNum",  32,  8),
	FIELD_GAP("Reserved", 40, 24),
	FIELD_ARRAY(struct p_key_table_record, table.p_key, "P_KeyTable", FIELD_LIDS, 64, 512),
};
#undef ROW

/* ServiceRecord: a registered service. */
#define ROW(member, name, bit, width) FIELD(struct service_record, member, name, bit, width)
#define RAW(member, name, bit, width) \
	FIELD_ARRAY(struct service_record, member, name, FIELD_BYTES, bit, width)
static const struct field service_record_fields[] = {
	ROW(service_id,                    "ServiceID",          0,  64),
	RAW(gid,                           "ServiceGID",        64, 128),
	ROW(p_key,                         "ServiceP_Key",     192,  16),
	FIELD_GAP("Reserved", 208, 16),
	ROW(lease,                         "ServiceLease",     224,  32),
	RAW(key,                           "ServiceKey",       256, 128),
	RAW(name,                          "ServiceName",      384, 512),
	ROW(data8[0],                      "ServiceData8.1",   896,   8),
	ROW(data8[1],                      "ServiceData8.2",   904,   8),
	ROW(data8[2],                      "ServiceData8.3",   912,   8),
	ROW(data8[3],                      "ServiceData8.4",   920,   8),
	ROW(data8[4],                      "ServiceData8.5",   928,   8),
	ROW(data8[5],                      "ServiceData8.6",   936,   8),
	ROW(data8[6],                      "ServiceData8.7",   944,   8),
	ROW(data8[7],                      "ServiceData8.8",   952,   8),
	ROW(data8[8],                      "ServiceData8.9",   960,   8),
	ROW(data8[9],                      "ServiceData8.10",  968,   8),
	ROW(data8[10],                     "ServiceData8.11",  976,   8),
	ROW(data8[11],                     "ServiceData8.12",  984,   8),
	ROW(data8[12],                     "ServiceData8.13",  992,   8),
	ROW(data8[13],                     "ServiceData8.14", 1000,   8),
	ROW(data8[14],                     "ServiceData8.15", 1008,   8),
	ROW(data8[15],                     "ServiceData8.16", 1016,   8),
	ROW(data16[0],                     "ServiceData16.1", 1024,  16),
	ROW(data16[1],                     "ServiceData16.2", 1040,  16),
	ROW(data16[2],                     "ServiceData16.3", 1056,  16),
	ROW(data16[3],                     "ServiceData16.4", 1072,  16),
	ROW(data16[4],                     "ServiceData16.5", 1088,  16),
	ROW(data16[5],                     "ServiceData16.6", 1104,  16),
	ROW(data16[6],                     "ServiceData16.7", 1120,  16),
	ROW(data16[7],                     "ServiceData16.8", 1136,  16),
	ROW(data32[0],                     "ServiceData32.1", 1152,  32),
	ROW(data32[1],                     "ServiceData32.2", 1184,  32),
	ROW(data32[2],                     "ServiceData32.3", 1216,  32),
	ROW(data32[3],                     "ServiceData32.4", 1248,  32),
	ROW(data64[0],                     "ServiceData64.1", 1280,  64),
	ROW(data64[1],                     "ServiceData64.2", 1344,  64),
};
#undef ROW
#undef RAW

/* VLArbitrationTableRecord: one for each block of 32 entries of a port. An entry is a byte with
 * the VL, whose upper half is reserved, and a byte with the weight. */
#define ROW(member, name, bit, width) FIELD(struct vl_arbitration_record, member, name, bit, width)
static const struct field vl_arbitration_record_fields[] = {
	ROW(lid,             "LID",            0, 16),
	ROW(output_port_num, "OutputPortNum", 16,  8),
	ROW(block_num,       "BlockNum",      24,  8),
	FIELD_GAP("Reserved", 32, 32),
	FIELD_ARRAY(struct vl_arbitration_record, table.entry, "VLArbitrationTable", FIELD_BYTES, 64, 512),
};
#undef ROW

/* PathRecord: also the query; selectors define the comparison of Mtu, Rate and PacketLifeTime. */
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

/* MCMemberRecord: selectors as in PathRecord. */
#define ROW(member, name, bit, width) FIELD(struct mc_member_record, member, name, bit, width)
#define RAW(member, name, bit, width) \
	FIELD_ARRAY(struct mc_member_record, member, name, FIELD_BYTES, bit, width)
static const struct field mc_member_record_fields[] = {
	RAW(mgid,                      "MGID",                     0, 128),
	RAW(port_gid,                  "PortGID",                128, 128),
	ROW(q_key,                     "Q_Key",                  256,  32),
	ROW(mlid,                      "MLID",                   288,  16),
	ROW(mtu_selector,              "MTUSelector",            304,   2),
	ROW(mtu,                       "MTU",                    306,   6),
	ROW(tclass,                    "TClass",                 312,   8),
	ROW(p_key,                     "P_Key",                  320,  16),
	ROW(rate_selector,             "RateSelector",           336,   2),
	ROW(rate,                      "Rate",                   338,   6),
	ROW(packet_life_time_selector, "PacketLifeTimeSelector", 344,   2),
	ROW(packet_life_time,          "PacketLifeTime",         346,   6),
	ROW(sl,                        "SL",                     352,   4),
	ROW(flow_label,                "FlowLabel",              356,  20),
	ROW(hop_limit,                 "HopLimit",               376,   8),
	ROW(scope,                     "Scope",                  384,   4),
	ROW(join_state,                "JoinState",              388,   4),
	ROW(proxy_join,                "ProxyJoin",              392,   1),
	FIELD_GAP("Padding", 393, 55),
};
#undef ROW
#undef RAW

/* MultiPathRecord: a query only; its selector requests independent paths. */
#define ROW(member, name, bit, width) FIELD(struct multi_path_record, member, name, bit, width)
static const struct field multi_path_record_fields[] = {
	ROW(raw_traffic,               "RawTraffic",               0,  1),
	FIELD_GAP("Reserved", 1, 3),
	ROW(flow_label,                "FlowLabel",                4, 20),
	ROW(hop_limit,                 "HopLimit",                24,  8),
	ROW(tclass,                    "TClass",                  32,  8),
	ROW(reversible,                "Reversible",              40,  1),
	ROW(numb_path,                 "NumbPath",                41,  7),
	ROW(p_key,                     "P_Key",                   48, 16),
	ROW(qos_class,                 "QoSClass",                64, 12),
	ROW(sl,                        "SL",                      76,  4),
	ROW(mtu_selector,              "MtuSelector",             80,  2),
	ROW(mtu,                       "Mtu",                     82,  6),
	ROW(rate_selector,             "RateSelector",            88,  2),
	ROW(rate,                      "Rate",                    90,  6),
	ROW(packet_life_time_selector, "PacketLifeTimeSelector",  96,  2),
	ROW(packet_life_time,          "PacketLifeTime",          98,  6),
	ROW(service_id_8msb,           "ServiceID8MSB",          104,  8),
	ROW(independence_selector,     "IndependenceSelector",   112,  2),
	FIELD_GAP("Reserved", 114, 6),
	ROW(sgid_count,                "SGIDCount",              120,  8),
	ROW(dgid_count,                "DGIDCount",              128,  8),
	ROW(service_id_56lsb,          "ServiceID56LSB",         136, 56),
};
#undef ROW

/* InformInfo, and InformInfoRecord: one for each subscription. */
#define INFORM_ROWS(holder, in, first)                                                      \
	FIELD_ARRAY(holder, in gid,  "GID",           FIELD_BYTES, (first) + 0, 128),       \
	FIELD(holder, in lid_begin,     "LIDRangeBegin", (first) + 128, 16),                \
	FIELD(holder, in lid_end,       "LIDRangeEnd",   (first) + 144, 16),                \
	FIELD_GAP("Reserved", (first) + 160, 16),                                           \
	FIELD(holder, in is_generic,    "IsGeneric",     (first) + 176,  8),                \
	FIELD(holder, in subscribe,     "Subscribe",     (first) + 184,  8),                \
	FIELD(holder, in type,          "Type",          (first) + 192, 16),                \
	FIELD(holder, in trap_number,   "TrapNumber",    (first) + 208, 16),                \
	FIELD(holder, in qpn,           "QPN",           (first) + 224, 24),                \
	FIELD_GAP("Reserved", (first) + 248, 3),                                            \
	FIELD(holder, in resp_time,     "RespTimeValue", (first) + 251,  5),                \
	FIELD_GAP("Reserved", (first) + 256, 8),                                            \
	FIELD(holder, in producer_type, "ProducerType",  (first) + 264, 24)
static const struct field inform_info_fields[] = {
	INFORM_ROWS(struct inform_info, , 0),
};

static const struct field inform_info_record_fields[] = {
	FIELD_ARRAY(struct inform_info_record, subscriber_gid, "SubscriberGID", FIELD_BYTES, 0, 128),
	FIELD(struct inform_info_record, subscriber_enum, "SubscriberEnum", 128, 16),
	FIELD_GAP("Reserved", 144, 48),
	INFORM_ROWS(struct inform_info_record, info., 192),
	FIELD_GAP("Padding", 480, 32),
};
#undef INFORM_ROWS

#define RECORD_FORMAT(record, text, bytes)                                                         \
	const struct format record##_format = {                                                    \
		text, bytes, sizeof(struct record), ARRAY_SIZE(record##_fields), record##_fields   \
	}

RECORD_FORMAT(node_record,           "NodeRecord",                     112);
RECORD_FORMAT(port_info_record,      "PortInfoRecord",                  72);
RECORD_FORMAT(sl_to_vl_record,       "SLtoVLMappingTableRecord",        16);
RECORD_FORMAT(switch_info_record,    "SwitchInfoRecord",                24);
RECORD_FORMAT(lft_record,            "LinearForwardingTableRecord",     72);
RECORD_FORMAT(mft_record,            "MulticastForwardingTableRecord",  72);
RECORD_FORMAT(sm_info_record,        "SMInfoRecord",                    32);
RECORD_FORMAT(link_record,           "LinkRecord",                       8);
RECORD_FORMAT(guid_info_record,      "GUIDInfoRecord",                  72);
RECORD_FORMAT(p_key_table_record,    "P_KeyTableRecord",                72);
RECORD_FORMAT(service_record,        "ServiceRecord",                  176);
RECORD_FORMAT(path_record,           "PathRecord",                      64);
RECORD_FORMAT(vl_arbitration_record, "VLArbitrationTableRecord",        72);
RECORD_FORMAT(mc_member_record,      "MCMemberRecord",                  56);
RECORD_FORMAT(multi_path_record,     "MultiPathRecord",                 24);
RECORD_FORMAT(inform_info_record,    "InformInfoRecord",                64);
RECORD_FORMAT(inform_info,           "InformInfo",                      40);

/* clang-format on */

uint64_t record_components(const struct format *format)
{
	bool all = format == &switch_info_record_format || format == &guid_info_record_format ||
		   format == &multi_path_record_format || format == &service_record_format;
	uint64_t components = 0, seen = 0;

	for (unsigned i = 0; i < format->count; i++) {
		if (format->fields[i].kind == FIELD_RESERVED)
			components = seen; /* the last gap counts */
		else
			seen |= COMPONENT(i);
	}
	return all ? seen : components;
}

void path_record_encode(const struct path_record *record, uint8_t *wire)
{
	be64_store(wire, (uint64_t)record->service_id_8msb << 56 |
				 (record->service_id_56lsb & UINT64_MAX >> 8));
	memcpy(wire + 8, record->dgid, GID_SIZE);
	memcpy(wire + 24, record->sgid, GID_SIZE);
	be16_store(wire + 40, record->dlid);
	be16_store(wire + 42, record->slid);
	be32_store(wire + 44, (uint32_t)record->raw_traffic << 31 |
				      (record->flow_label & 0xFFFFF) << 8 | record->hop_limit);
	wire[48] = record->tclass;
	wire[49] = (uint8_t)(record->reversible << 7 | (record->numb_path & 0x7F));
	be16_store(wire + 50, record->p_key);
	be16_store(wire + 52, (uint16_t)(record->qos_class << 4 | (record->sl & 0xF)));
	wire[54] = (uint8_t)(record->mtu_selector << 6 | (record->mtu & 0x3F));
	wire[55] = (uint8_t)(record->rate_selector << 6 | (record->rate & 0x3F));
	wire[56] = (uint8_t)(record->packet_life_time_selector << 6 |
			     (record->packet_life_time & 0x3F));
	wire[57] = record->preference;
	memset(wire + 58, 0, 6);
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
