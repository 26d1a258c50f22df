/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The references of test_attr.c for the formats of mad/: the fields as libibmad names them, bytes
 * written by hand for fields unknown to libibmad, and dumps of whole attributes. A new row in
 * mad/attr.c or mad/notice.c needs a row here, or the test fails.
 */
#ifndef TESTS_UNIT_MAD_ATTR_JUDGES_H
#define TESTS_UNIT_MAD_ATTR_JUDGES_H

#include <infiniband/mad.h>

#include "mad/attr.h"
#include "mad/notice.h"

/* clang-format off */

/* Fields that libibmad knows. Where one of its fields is several of ours, or the other way round,
 * width bits are compared, from ours_at in our field and theirs_at in theirs. */
static const struct judge {
	const struct format *format;
	const char *name;
	enum MAD_FIELDS theirs;
	uint16_t their_width; /* 0: as ours */
	uint16_t ours_at, theirs_at, width; /* width 0: the whole field */
} judges[] = {
#define WHOLE(format, name, theirs) {&format, name, theirs, 0, 0, 0, 0}
	WHOLE(node_info_format, "BaseVersion", IB_NODE_BASE_VERS_F),
	WHOLE(node_info_format, "ClassVersion", IB_NODE_CLASS_VERS_F),
	WHOLE(node_info_format, "NodeType", IB_NODE_TYPE_F),
	WHOLE(node_info_format, "NumPorts", IB_NODE_NPORTS_F),
	WHOLE(node_info_format, "SystemImageGUID", IB_NODE_SYSTEM_GUID_F),
	WHOLE(node_info_format, "NodeGUID", IB_NODE_GUID_F),
	WHOLE(node_info_format, "PortGUID", IB_NODE_PORT_GUID_F),
	WHOLE(node_info_format, "PartitionCap", IB_NODE_PARTITION_CAP_F),
	WHOLE(node_info_format, "DeviceID", IB_NODE_DEVID_F),
	WHOLE(node_info_format, "Revision", IB_NODE_REVISION_F),
	WHOLE(node_info_format, "LocalPortNum", IB_NODE_LOCAL_PORT_F),
	WHOLE(node_info_format, "VendorID", IB_NODE_VENDORID_F),

	WHOLE(node_description_format, "NodeString", IB_NODE_DESC_F),

	WHOLE(switch_info_format, "LinearFDBCap", IB_SW_LINEAR_FDB_CAP_F),
	WHOLE(switch_info_format, "RandomFDBCap", IB_SW_RANDOM_FDB_CAP_F),
	WHOLE(switch_info_format, "MulticastFDBCap", IB_SW_MCAST_FDB_CAP_F),
	WHOLE(switch_info_format, "LinearFDBTop", IB_SW_LINEAR_FDB_TOP_F),
	WHOLE(switch_info_format, "DefaultPort", IB_SW_DEF_PORT_F),
	WHOLE(switch_info_format, "DefaultMulticastPrimaryPort", IB_SW_DEF_MCAST_PRIM_F),
	WHOLE(switch_info_format, "DefaultMulticastNotPrimaryPort", IB_SW_DEF_MCAST_NOT_PRIM_F),
	WHOLE(switch_info_format, "LifeTimeValue", IB_SW_LIFE_TIME_F),
	WHOLE(switch_info_format, "PortStateChange", IB_SW_STATE_CHANGE_F),
	WHOLE(switch_info_format, "OptimizedSLtoVLMappingProgramming", IB_SW_OPT_SLTOVL_MAPPING_F),
	WHOLE(switch_info_format, "LIDsPerPort", IB_SW_LIDS_PER_PORT_F),
	WHOLE(switch_info_format, "PartitionEnforcementCap", IB_SW_PARTITION_ENFORCE_CAP_F),
	WHOLE(switch_info_format, "InboundEnforcementCap", IB_SW_PARTITION_ENF_INB_F),
	WHOLE(switch_info_format, "OutboundEnforcementCap", IB_SW_PARTITION_ENF_OUTB_F),
	WHOLE(switch_info_format, "FilterRawInboundCap", IB_SW_FILTER_RAW_INB_F),
	WHOLE(switch_info_format, "FilterRawOutboundCap", IB_SW_FILTER_RAW_OUTB_F),
	WHOLE(switch_info_format, "EnhancedPort0", IB_SW_ENHANCED_PORT0_F),
	WHOLE(switch_info_format, "MulticastFDBTop", IB_SW_MCAST_FDB_TOP_F),

	{&guid_info_format, "GUID", IB_GI_GUID0_F, 64, 0, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID1_F, 64, 64, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID2_F, 64, 128, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID3_F, 64, 192, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID4_F, 64, 256, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID5_F, 64, 320, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID6_F, 64, 384, 0, 64},
	{&guid_info_format, "GUID", IB_GI_GUID7_F, 64, 448, 0, 64},

	WHOLE(port_info_format, "M_Key", IB_PORT_MKEY_F),
	WHOLE(port_info_format, "GidPrefix", IB_PORT_GID_PREFIX_F),
	WHOLE(port_info_format, "LID", IB_PORT_LID_F),
	WHOLE(port_info_format, "MasterSMLID", IB_PORT_SMLID_F),
	WHOLE(port_info_format, "CapabilityMask", IB_PORT_CAPMASK_F),
	WHOLE(port_info_format, "DiagCode", IB_PORT_DIAG_F),
	WHOLE(port_info_format, "M_KeyLeasePeriod", IB_PORT_MKEY_LEASE_F),
	WHOLE(port_info_format, "LocalPortNum", IB_PORT_LOCAL_PORT_F),
	WHOLE(port_info_format, "LinkWidthEnabled", IB_PORT_LINK_WIDTH_ENABLED_F),
	WHOLE(port_info_format, "LinkWidthSupported", IB_PORT_LINK_WIDTH_SUPPORTED_F),
	WHOLE(port_info_format, "LinkWidthActive", IB_PORT_LINK_WIDTH_ACTIVE_F),
	WHOLE(port_info_format, "LinkSpeedSupported", IB_PORT_LINK_SPEED_SUPPORTED_F),
	WHOLE(port_info_format, "PortState", IB_PORT_STATE_F),
	WHOLE(port_info_format, "PortPhysicalState", IB_PORT_PHYS_STATE_F),
	WHOLE(port_info_format, "LinkDownDefaultState", IB_PORT_LINK_DOWN_DEF_F),
	WHOLE(port_info_format, "M_KeyProtectBits", IB_PORT_MKEY_PROT_BITS_F),
	WHOLE(port_info_format, "LMC", IB_PORT_LMC_F),
	WHOLE(port_info_format, "LinkSpeedActive", IB_PORT_LINK_SPEED_ACTIVE_F),
	WHOLE(port_info_format, "LinkSpeedEnabled", IB_PORT_LINK_SPEED_ENABLED_F),
	WHOLE(port_info_format, "NeighborMTU", IB_PORT_NEIGHBOR_MTU_F),
	WHOLE(port_info_format, "MasterSMSL", IB_PORT_SMSL_F),
	WHOLE(port_info_format, "VLCap", IB_PORT_VL_CAP_F),
	WHOLE(port_info_format, "InitType", IB_PORT_INIT_TYPE_F),
	WHOLE(port_info_format, "VLHighLimit", IB_PORT_VL_HIGH_LIMIT_F),
	WHOLE(port_info_format, "VLArbitrationHighCap", IB_PORT_VL_ARBITRATION_HIGH_CAP_F),
	WHOLE(port_info_format, "VLArbitrationLowCap", IB_PORT_VL_ARBITRATION_LOW_CAP_F),
	WHOLE(port_info_format, "InitTypeReply", IB_PORT_INIT_TYPE_REPLY_F),
	WHOLE(port_info_format, "MTUCap", IB_PORT_MTU_CAP_F),
	WHOLE(port_info_format, "VLStallCount", IB_PORT_VL_STALL_COUNT_F),
	WHOLE(port_info_format, "HOQLife", IB_PORT_HOQ_LIFE_F),
	WHOLE(port_info_format, "OperationalVLs", IB_PORT_OPER_VLS_F),
	WHOLE(port_info_format, "PartitionEnforcementInbound", IB_PORT_PART_EN_INB_F),
	WHOLE(port_info_format, "PartitionEnforcementOutbound", IB_PORT_PART_EN_OUTB_F),
	WHOLE(port_info_format, "FilterRawInbound", IB_PORT_FILTER_RAW_INB_F),
	WHOLE(port_info_format, "FilterRawOutbound", IB_PORT_FILTER_RAW_OUTB_F),
	WHOLE(port_info_format, "M_KeyViolations", IB_PORT_MKEY_VIOL_F),
	WHOLE(port_info_format, "P_KeyViolations", IB_PORT_PKEY_VIOL_F),
	WHOLE(port_info_format, "Q_KeyViolations", IB_PORT_QKEY_VIOL_F),
	WHOLE(port_info_format, "GUIDCap", IB_PORT_GUID_CAP_F),
	WHOLE(port_info_format, "ClientReregister", IB_PORT_CLIENT_REREG_F),
	WHOLE(port_info_format, "MulticastPKeyTrapSuppressionEnabled", IB_PORT_MCAST_PKEY_SUPR_ENAB_F),
	WHOLE(port_info_format, "SubnetTimeOut", IB_PORT_SUBN_TIMEOUT_F),
	WHOLE(port_info_format, "RespTimeValue", IB_PORT_RESP_TIME_VAL_F),
	WHOLE(port_info_format, "LocalPhyErrors", IB_PORT_LOCAL_PHYS_ERR_F),
	WHOLE(port_info_format, "OverrunErrors", IB_PORT_OVERRUN_ERR_F),
	WHOLE(port_info_format, "MaxCreditHint", IB_PORT_MAX_CREDIT_HINT_F),
	WHOLE(port_info_format, "LinkRoundTripLatency", IB_PORT_LINK_ROUND_TRIP_F),
	WHOLE(port_info_format, "CapabilityMask2", IB_PORT_CAPMASK2_F),
	WHOLE(port_info_format, "LinkSpeedExtActive", IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
	WHOLE(port_info_format, "LinkSpeedExtSupported", IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
	WHOLE(port_info_format, "LinkSpeedExtEnabled", IB_PORT_LINK_SPEED_EXT_ENABLED_F),

#define SL(i) \
	{&sl_to_vl_table_format, "SL" #i "toVL", IB_SLTOVL_MAPPING_TABLE_F, 64, 0, 4 * (i), 4}
	SL(0), SL(1), SL(2), SL(3), SL(4), SL(5), SL(6), SL(7),
	SL(8), SL(9), SL(10), SL(11), SL(12), SL(13), SL(14), SL(15),

#define ARB(i) \
	{&vl_arbitration_table_format, "VL" #i, IB_VL_ARBITRATION_TABLE_F, \
	 512, 0, 16 * (i) + 4, 4}, \
	{&vl_arbitration_table_format, "Weight" #i, IB_VL_ARBITRATION_TABLE_F, \
	 512, 0, 16 * (i) + 8, 8}
	ARB(0), ARB(1), ARB(2), ARB(3), ARB(4), ARB(5), ARB(6), ARB(7),
	ARB(8), ARB(9), ARB(10), ARB(11), ARB(12), ARB(13), ARB(14), ARB(15),
	ARB(16), ARB(17), ARB(18), ARB(19), ARB(20), ARB(21), ARB(22), ARB(23),
	ARB(24), ARB(25), ARB(26), ARB(27), ARB(28), ARB(29), ARB(30), ARB(31),

	WHOLE(linear_forwarding_table_format, "Port", IB_LINEAR_FORW_TBL_F),
	WHOLE(multicast_forwarding_table_format, "PortMask", IB_MULTICAST_FORW_TBL_F),

	WHOLE(sm_info_format, "GUID", IB_SMINFO_GUID_F),
	WHOLE(sm_info_format, "SM_Key", IB_SMINFO_KEY_F),
	WHOLE(sm_info_format, "ActCount", IB_SMINFO_ACT_F),
	WHOLE(sm_info_format, "Priority", IB_SMINFO_PRIO_F),
	WHOLE(sm_info_format, "SMState", IB_SMINFO_STATE_F),

#define NOTICE_JUDGES(format) \
	WHOLE(format, "IsGeneric", IB_NOTICE_IS_GENERIC_F), \
	WHOLE(format, "Type", IB_NOTICE_TYPE_F), \
	WHOLE(format, "ProducerType", IB_NOTICE_PRODUCER_F), \
	WHOLE(format, "TrapNumber", IB_NOTICE_TRAP_NUMBER_F), \
	WHOLE(format, "IssuerLID", IB_NOTICE_ISSUER_LID_F), \
	WHOLE(format, "NoticeToggle", IB_NOTICE_TOGGLE_F), \
	WHOLE(format, "NoticeCount", IB_NOTICE_COUNT_F), \
	WHOLE(format, "DataDetails", IB_NOTICE_DATA_DETAILS_F)
	NOTICE_JUDGES(notice_format),
	NOTICE_JUDGES(notice_report_format),

	WHOLE(ext_port_info_format, "StateChangeEnable", IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F),
	WHOLE(ext_port_info_format, "LinkSpeedSupported", IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F),
	WHOLE(ext_port_info_format, "LinkSpeedEnabled", IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F),
	WHOLE(ext_port_info_format, "LinkSpeedActive", IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F),
};

/* Fields unknown to libibmad: the bytes, from first, that one value gives in a wire that is
 * otherwise zero. A number is all ones, so that its width is tested, too. For an array it is the
 * value of one element, with rows for its first and last element. */
static const struct hand {
	const struct format *format; /* or NULL: of the details of trap */
	uint16_t trap;
	const char *name;
	uint8_t element;
	uint64_t value;
	uint8_t first;
	const char *hex;
} hands[] = {
	{&port_info_format, 0, "LinkSpeedExtActive2", 0, 0x3, 56, "60"},
	{&port_info_format, 0, "LinkSpeedExtSupported2", 0, 0x3, 56, "18"},
	{&port_info_format, 0, "LinkSpeedExtEnabled2", 0, 0x7, 56, "07"},

	{&p_key_table_format, 0, "P_Key", 0, 0xFFFE, 0, "fffe"},
	{&p_key_table_format, 0, "P_Key", 31, 0x8001, 62, "8001"},

	{&notice_report_format, 0, "IssuerGID", 0, 0xFE, 64, "fe"},
	{&notice_report_format, 0, "IssuerGID", 15, 0x12, 79, "12"},

	{NULL, 64, "GIDADDR", 0, 0xFE, 6, "fe"},
	{NULL, 64, "GIDADDR", 15, 0x34, 21, "34"},

	{NULL, 128, "LIDADDR", 0, 0xFFFF, 0, "ffff"},

	{NULL, 129, "LIDADDR", 0, 0xFFFF, 2, "ffff"},
	{NULL, 129, "PORTNO", 0, 0xFF, 4, "ff"},

	{NULL, 144, "LIDADDR", 0, 0xFFFF, 2, "ffff"},
	{NULL, 144, "OtherLocalChanges", 0, 1, 5, "01"},
	{NULL, 144, "CAPABILITYMASK", 0, 0xFFFFFFFF, 6, "ffffffff"},
	{NULL, 144, "ChangeFlags", 0, 0x3F, 10, "003f"},
	{NULL, 144, "CAPABILITYMASK2", 0, 0xFFFF, 12, "ffff"},

	{NULL, 145, "LIDADDR", 0, 0xFFFF, 2, "ffff"},
	{NULL, 145, "SYSTEMIMAGEGUID", 0, UINT64_MAX, 6, "ffffffffffffffff"},

	{NULL, 256, "LIDADDR", 0, 0xFFFF, 2, "ffff"},
	{NULL, 256, "DRSLID", 0, 0xFFFF, 4, "ffff"},
	{NULL, 256, "METHOD", 0, 0xFF, 6, "ff"},
	{NULL, 256, "ATTRIBUTEID", 0, 0xFFFF, 8, "ffff"},
	{NULL, 256, "ATTRIBUTEMODIFIER", 0, 0xFFFFFFFF, 10, "ffffffff"},
	{NULL, 256, "MKEY", 0, UINT64_MAX, 14, "ffffffffffffffff"},
	{NULL, 256, "DRNotice", 0, 1, 23, "80"},
	{NULL, 256, "DRPathTruncated", 0, 1, 23, "40"},
	{NULL, 256, "DRHopCount", 0, 0x3F, 23, "3f"},
	{NULL, 256, "DRNoticeReturnPath", 0, 0xA1, 24, "a1"},
	{NULL, 256, "DRNoticeReturnPath", 29, 0xA2, 53, "a2"},

	{NULL, 257, "LIDADDR1", 0, 0xFFFF, 2, "ffff"},
	{NULL, 257, "LIDADDR2", 0, 0xFFFF, 4, "ffff"},
	{NULL, 257, "KEY", 0, 0xFFFFFFFF, 6, "ffffffff"},
	{NULL, 257, "SL", 0, 0xF, 10, "f0"},
	{NULL, 257, "QP1", 0, 0xFFFFFF, 11, "ffffff"},
	{NULL, 257, "QP2", 0, 0xFFFFFF, 15, "ffffff"},
	{NULL, 257, "GIDADDR1", 0, 0xFE, 18, "fe"},
	{NULL, 257, "GIDADDR1", 15, 0x01, 33, "01"},
	{NULL, 257, "GIDADDR2", 0, 0xFE, 34, "fe"},
	{NULL, 257, "GIDADDR2", 15, 0x02, 49, "02"},

	{NULL, 259, "DataValid", 0, 0xFFFF, 0, "ffff"},
	{NULL, 259, "LIDADDR1", 0, 0xFFFF, 2, "ffff"},
	{NULL, 259, "LIDADDR2", 0, 0xFFFF, 4, "ffff"},
	{NULL, 259, "PKEY", 0, 0xFFFF, 6, "ffff"},
	{NULL, 259, "SL", 0, 0xF, 8, "f0"},
	{NULL, 259, "QP1", 0, 0xFFFFFF, 9, "ffffff"},
	{NULL, 259, "QP2", 0, 0xFFFFFF, 13, "ffffff"},
	{NULL, 259, "GIDADDR1", 0, 0xFE, 16, "fe"},
	{NULL, 259, "GIDADDR1", 15, 0x01, 31, "01"},
	{NULL, 259, "GIDADDR2", 0, 0xFE, 32, "fe"},
	{NULL, 259, "GIDADDR2", 15, 0x02, 47, "02"},
	{NULL, 259, "SWLIDADDR", 0, 0xFFFF, 48, "ffff"},
	{NULL, 259, "PORTNO", 0, 0xFF, 50, "ff"},
};

/* clang-format on */

/* The data of SMPs as smpdump shows it from ibsim's agents: a channel adapter and a switch. */
static const struct dump {
	uint16_t attr_id;
	const char *hex; /* up to the zeros at the end */
	struct {
		const char *name;
		uint64_t value;
	} fields[16];
} dumps[] = {
	{ATTR_NODE_INFO,
	 "01010101000000000010000000000000001000000000000000100001004000000000"
	 "00a101000000",
	 {{"BaseVersion", 1},
	  {"NodeType", 1},
	  {"NumPorts", 1},
	  {"NodeGUID", 0x100000},
	  {"PortGUID", 0x100001},
	  {"PartitionCap", 64},
	  {"Revision", 0xA1},
	  {"LocalPortNum", 1}}},
	{ATTR_PORT_INFO,
	 "00000000000000000000000000000000000100000050c04800000ff901031f02"
	 "72520047404000080804e040000000000000201f000000000000000000302703",
	 {{"LID", 1},
	  {"CapabilityMask", 0x50C048},
	  {"M_KeyLeasePeriod", 4089},
	  {"LinkWidthActive", 2},
	  {"PortState", 2},
	  {"PortPhysicalState", 5},
	  {"LinkDownDefaultState", 2},
	  {"NeighborMTU", 4},
	  {"VLCap", 4},
	  {"VLArbitrationHighCap", 8},
	  {"VLStallCount", 7},
	  {"OperationalVLs", 4},
	  {"GUIDCap", 32},
	  {"SubnetTimeOut", 31},
	  {"LinkSpeedExtActive", 2},
	  {"LinkSpeedExtEnabled", 3}}},
	{ATTR_SWITCH_INFO,
	 "780000000400000000000004000000403000",
	 {{"LinearFDBCap", 30720},
	  {"MulticastFDBCap", 1024},
	  {"PortStateChange", 1},
	  {"PartitionEnforcementCap", 64},
	  {"InboundEnforcementCap", 0},
	  {"FilterRawInboundCap", 1},
	  {"FilterRawOutboundCap", 1},
	  {"EnhancedPort0", 0}}},
	{ATTR_SL_TO_VL, "0123456789abcde7", {{"SL1toVL", 1}, {"SL14toVL", 14}, {"SL15toVL", 7}}},
	{ATTR_VL_ARBITRATION,
	 "00000104020403040404050406040704",
	 {{"VL1", 1}, {"Weight1", 4}, {"VL7", 7}, {"Weight7", 4}, {"VL8", 0}}},
};

#endif
