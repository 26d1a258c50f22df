/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The record tables. Component numbers are compared with a literal table from the masks of OpenSM's
 * ib_types.h: IB_NR_, IB_PIR_, IB_SMIR_, IB_LR_, IB_PR_, IB_MPR_, IB_GIR_, IB_SLVL_, IB_VLA_,
 * IB_PKEY_, IB_LFTR_, IB_MFTR_, IB_MCR_, IB_SR_ and IB_IIR_COMPMASK_*. Preference is from the
 * kernel's rdma/ib_sa.h, SwitchInfo's numbers are from opa-fm's ib_sa_records.h. Layouts are
 * compared with the codecs of the embedded attributes. All other cases are generated from the
 * tables, so that a row without its number fails.
 */
#include "sa/record.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { WIRE_MAX = 192, STRUCT_MAX = 256 };

static const struct format *const formats[] = {
	&class_port_info_format,
	&node_record_format,
	&port_info_record_format,
	&sm_info_record_format,
	&link_record_format,
	&path_record_format,
	&sl_to_vl_record_format,
	&switch_info_record_format,
	&lft_record_format,
	&mft_record_format,
	&guid_info_record_format,
	&p_key_table_record_format,
	&vl_arbitration_record_format,
	&mc_member_record_format,
	&service_record_format,
	&inform_info_record_format,
	&multi_path_record_format,
};

/* clang-format off */
static const struct {
	const struct format *format;
	unsigned bit;
	const char *name;
} components[] = {
	{&node_record_format, 0, "LID"},
	{&node_record_format, 2, "BaseVersion"},
	{&node_record_format, 3, "ClassVersion"},
	{&node_record_format, 4, "NodeType"},
	{&node_record_format, 5, "NumPorts"},
	{&node_record_format, 6, "SystemImageGUID"},
	{&node_record_format, 7, "NodeGUID"},
	{&node_record_format, 8, "PortGUID"},
	{&node_record_format, 9, "PartitionCap"},
	{&node_record_format, 10, "DeviceID"},
	{&node_record_format, 11, "Revision"},
	{&node_record_format, 12, "LocalPortNum"},
	{&node_record_format, 13, "VendorID"},
	{&node_record_format, 14, "NodeDescription"},
	{&port_info_record_format, 0, "EndportLID"},
	{&port_info_record_format, 1, "PortNum"},
	{&port_info_record_format, 2, "Options"},
	{&port_info_record_format, 3, "M_Key"},
	{&port_info_record_format, 4, "GidPrefix"},
	{&port_info_record_format, 5, "LID"},
	{&port_info_record_format, 6, "MasterSMLID"},
	{&port_info_record_format, 7, "CapabilityMask"},
	{&port_info_record_format, 8, "DiagCode"},
	{&port_info_record_format, 9, "M_KeyLeasePeriod"},
	{&port_info_record_format, 10, "LocalPortNum"},
	{&port_info_record_format, 11, "LinkWidthEnabled"},
	{&port_info_record_format, 12, "LinkWidthSupported"},
	{&port_info_record_format, 13, "LinkWidthActive"},
	{&port_info_record_format, 14, "LinkSpeedSupported"},
	{&port_info_record_format, 15, "PortState"},
	{&port_info_record_format, 16, "PortPhysicalState"},
	{&port_info_record_format, 17, "LinkDownDefaultState"},
	{&port_info_record_format, 18, "M_KeyProtectBits"},
	{&port_info_record_format, 20, "LMC"},
	{&port_info_record_format, 21, "LinkSpeedActive"},
	{&port_info_record_format, 22, "LinkSpeedEnabled"},
	{&port_info_record_format, 23, "NeighborMTU"},
	{&port_info_record_format, 24, "MasterSMSL"},
	{&port_info_record_format, 25, "VLCap"},
	{&port_info_record_format, 26, "InitType"},
	{&port_info_record_format, 27, "VLHighLimit"},
	{&port_info_record_format, 28, "VLArbitrationHighCap"},
	{&port_info_record_format, 29, "VLArbitrationLowCap"},
	{&port_info_record_format, 30, "InitTypeReply"},
	{&port_info_record_format, 31, "MTUCap"},
	{&port_info_record_format, 32, "VLStallCount"},
	{&port_info_record_format, 33, "HOQLife"},
	{&port_info_record_format, 34, "OperationalVLs"},
	{&port_info_record_format, 35, "PartitionEnforcementInbound"},
	{&port_info_record_format, 36, "PartitionEnforcementOutbound"},
	{&port_info_record_format, 37, "FilterRawInbound"},
	{&port_info_record_format, 38, "FilterRawOutbound"},
	{&port_info_record_format, 39, "M_KeyViolations"},
	{&port_info_record_format, 40, "P_KeyViolations"},
	{&port_info_record_format, 41, "Q_KeyViolations"},
	{&port_info_record_format, 42, "GUIDCap"},
	{&port_info_record_format, 43, "ClientReregister"},
	{&port_info_record_format, 44, "MulticastPKeyTrapSuppressionEnabled"},
	{&port_info_record_format, 45, "SubnetTimeOut"},
	{&port_info_record_format, 47, "RespTimeValue"},
	{&port_info_record_format, 48, "LocalPhyErrors"},
	{&port_info_record_format, 49, "OverrunErrors"},
	{&port_info_record_format, 50, "MaxCreditHint"},
	{&port_info_record_format, 52, "LinkRoundTripLatency"},
	{&port_info_record_format, 53, "CapabilityMask2"},
	{&port_info_record_format, 54, "LinkSpeedExtActive"},
	{&port_info_record_format, 55, "LinkSpeedExtSupported"},
	{&port_info_record_format, 57, "LinkSpeedExtEnabled"},
	{&sm_info_record_format, 0, "LID"},
	{&sm_info_record_format, 2, "GUID"},
	{&sm_info_record_format, 3, "SM_Key"},
	{&sm_info_record_format, 4, "ActCount"},
	{&sm_info_record_format, 5, "Priority"},
	{&sm_info_record_format, 6, "SMState"},
	{&link_record_format, 0, "FromLID"},
	{&link_record_format, 1, "FromPort"},
	{&link_record_format, 2, "ToPort"},
	{&link_record_format, 3, "ToLID"},
	{&path_record_format, 0, "ServiceID8MSB"},
	{&path_record_format, 1, "ServiceID56LSB"},
	{&path_record_format, 2, "DGID"},
	{&path_record_format, 3, "SGID"},
	{&path_record_format, 4, "DLID"},
	{&path_record_format, 5, "SLID"},
	{&path_record_format, 6, "RawTraffic"},
	{&path_record_format, 8, "FlowLabel"},
	{&path_record_format, 9, "HopLimit"},
	{&path_record_format, 10, "TClass"},
	{&path_record_format, 11, "Reversible"},
	{&path_record_format, 12, "NumbPath"},
	{&path_record_format, 13, "P_Key"},
	{&path_record_format, 14, "QoSClass"},
	{&path_record_format, 15, "SL"},
	{&path_record_format, 16, "MtuSelector"},
	{&path_record_format, 17, "Mtu"},
	{&path_record_format, 18, "RateSelector"},
	{&path_record_format, 19, "Rate"},
	{&path_record_format, 20, "PacketLifeTimeSelector"},
	{&path_record_format, 21, "PacketLifeTime"},
	{&path_record_format, 22, "Preference"},
	{&sl_to_vl_record_format, 0, "LID"},
	{&sl_to_vl_record_format, 1, "InputPortNum"},
	{&sl_to_vl_record_format, 2, "OutputPortNum"},
	{&switch_info_record_format, 0, "LID"},
	{&switch_info_record_format, 2, "LinearFDBCap"},
	{&switch_info_record_format, 3, "RandomFDBCap"},
	{&switch_info_record_format, 4, "MulticastFDBCap"},
	{&switch_info_record_format, 5, "LinearFDBTop"},
	{&switch_info_record_format, 6, "DefaultPort"},
	{&switch_info_record_format, 7, "DefaultMulticastPrimaryPort"},
	{&switch_info_record_format, 8, "DefaultMulticastNotPrimaryPort"},
	{&switch_info_record_format, 9, "LifeTimeValue"},
	{&switch_info_record_format, 10, "PortStateChange"},
	{&switch_info_record_format, 11, "OptimizedSLtoVLMappingProgramming"},
	{&switch_info_record_format, 12, "LIDsPerPort"},
	{&switch_info_record_format, 13, "PartitionEnforcementCap"},
	{&switch_info_record_format, 14, "InboundEnforcementCap"},
	{&switch_info_record_format, 15, "OutboundEnforcementCap"},
	{&switch_info_record_format, 16, "FilterRawInboundCap"},
	{&switch_info_record_format, 17, "FilterRawOutboundCap"},
	{&switch_info_record_format, 18, "EnhancedPort0"},
	{&switch_info_record_format, 20, "MulticastFDBTop"},
	{&lft_record_format, 0, "LID"},
	{&lft_record_format, 1, "BlockNumber"},
	{&mft_record_format, 0, "LID"},
	{&mft_record_format, 1, "Position"},
	{&mft_record_format, 3, "BlockNumber"},
	{&guid_info_record_format, 0, "LID"},
	{&guid_info_record_format, 1, "BlockNum"},
	{&guid_info_record_format, 4, "GUID0"},
	{&guid_info_record_format, 5, "GUID1"},
	{&guid_info_record_format, 6, "GUID2"},
	{&guid_info_record_format, 7, "GUID3"},
	{&guid_info_record_format, 8, "GUID4"},
	{&guid_info_record_format, 9, "GUID5"},
	{&guid_info_record_format, 10, "GUID6"},
	{&guid_info_record_format, 11, "GUID7"},
	{&p_key_table_record_format, 0, "LID"},
	{&p_key_table_record_format, 1, "BlockNum"},
	{&p_key_table_record_format, 2, "PortNum"},
	{&vl_arbitration_record_format, 0, "LID"},
	{&vl_arbitration_record_format, 1, "OutputPortNum"},
	{&vl_arbitration_record_format, 2, "BlockNum"},
	{&mc_member_record_format, 0, "MGID"},
	{&mc_member_record_format, 1, "PortGID"},
	{&mc_member_record_format, 2, "Q_Key"},
	{&mc_member_record_format, 3, "MLID"},
	{&mc_member_record_format, 4, "MTUSelector"},
	{&mc_member_record_format, 5, "MTU"},
	{&mc_member_record_format, 6, "TClass"},
	{&mc_member_record_format, 7, "P_Key"},
	{&mc_member_record_format, 8, "RateSelector"},
	{&mc_member_record_format, 9, "Rate"},
	{&mc_member_record_format, 10, "PacketLifeTimeSelector"},
	{&mc_member_record_format, 11, "PacketLifeTime"},
	{&mc_member_record_format, 12, "SL"},
	{&mc_member_record_format, 13, "FlowLabel"},
	{&mc_member_record_format, 14, "HopLimit"},
	{&mc_member_record_format, 15, "Scope"},
	{&mc_member_record_format, 16, "JoinState"},
	{&mc_member_record_format, 17, "ProxyJoin"},
	{&service_record_format, 0, "ServiceID"},
	{&service_record_format, 1, "ServiceGID"},
	{&service_record_format, 2, "ServiceP_Key"},
	{&service_record_format, 4, "ServiceLease"},
	{&service_record_format, 5, "ServiceKey"},
	{&service_record_format, 6, "ServiceName"},
	{&service_record_format, 7, "ServiceData8.1"},
	{&service_record_format, 8, "ServiceData8.2"},
	{&service_record_format, 9, "ServiceData8.3"},
	{&service_record_format, 10, "ServiceData8.4"},
	{&service_record_format, 11, "ServiceData8.5"},
	{&service_record_format, 12, "ServiceData8.6"},
	{&service_record_format, 13, "ServiceData8.7"},
	{&service_record_format, 14, "ServiceData8.8"},
	{&service_record_format, 15, "ServiceData8.9"},
	{&service_record_format, 16, "ServiceData8.10"},
	{&service_record_format, 17, "ServiceData8.11"},
	{&service_record_format, 18, "ServiceData8.12"},
	{&service_record_format, 19, "ServiceData8.13"},
	{&service_record_format, 20, "ServiceData8.14"},
	{&service_record_format, 21, "ServiceData8.15"},
	{&service_record_format, 22, "ServiceData8.16"},
	{&service_record_format, 23, "ServiceData16.1"},
	{&service_record_format, 24, "ServiceData16.2"},
	{&service_record_format, 25, "ServiceData16.3"},
	{&service_record_format, 26, "ServiceData16.4"},
	{&service_record_format, 27, "ServiceData16.5"},
	{&service_record_format, 28, "ServiceData16.6"},
	{&service_record_format, 29, "ServiceData16.7"},
	{&service_record_format, 30, "ServiceData16.8"},
	{&service_record_format, 31, "ServiceData32.1"},
	{&service_record_format, 32, "ServiceData32.2"},
	{&service_record_format, 33, "ServiceData32.3"},
	{&service_record_format, 34, "ServiceData32.4"},
	{&service_record_format, 35, "ServiceData64.1"},
	{&service_record_format, 36, "ServiceData64.2"},
	{&inform_info_record_format, 0, "SubscriberGID"},
	{&inform_info_record_format, 1, "SubscriberEnum"},
	{&inform_info_record_format, 3, "GID"},
	{&inform_info_record_format, 4, "LIDRangeBegin"},
	{&inform_info_record_format, 5, "LIDRangeEnd"},
	{&inform_info_record_format, 7, "IsGeneric"},
	{&inform_info_record_format, 8, "Subscribe"},
	{&inform_info_record_format, 9, "Type"},
	{&inform_info_record_format, 10, "TrapNumber"},
	{&inform_info_record_format, 11, "QPN"},
	{&inform_info_record_format, 13, "RespTimeValue"},
	{&inform_info_record_format, 15, "ProducerType"},
	{&multi_path_record_format, 0, "RawTraffic"},
	{&multi_path_record_format, 2, "FlowLabel"},
	{&multi_path_record_format, 3, "HopLimit"},
	{&multi_path_record_format, 4, "TClass"},
	{&multi_path_record_format, 5, "Reversible"},
	{&multi_path_record_format, 6, "NumbPath"},
	{&multi_path_record_format, 7, "P_Key"},
	{&multi_path_record_format, 8, "QoSClass"},
	{&multi_path_record_format, 9, "SL"},
	{&multi_path_record_format, 10, "MtuSelector"},
	{&multi_path_record_format, 11, "Mtu"},
	{&multi_path_record_format, 12, "RateSelector"},
	{&multi_path_record_format, 13, "Rate"},
	{&multi_path_record_format, 14, "PacketLifeTimeSelector"},
	{&multi_path_record_format, 15, "PacketLifeTime"},
	{&multi_path_record_format, 16, "ServiceID8MSB"},
	{&multi_path_record_format, 17, "IndependenceSelector"},
	{&multi_path_record_format, 19, "SGIDCount"},
	{&multi_path_record_format, 20, "DGIDCount"},
	{&multi_path_record_format, 21, "ServiceID56LSB"},
};
/* clang-format on */

/* AttributeOffset times 8: sizes as OpenSM's structs of the same names have them. */
static const struct {
	const struct format *format;
	size_t bytes;
} sizes[] = {
	{&class_port_info_format, 72},
	{&node_record_format, 112},
	{&port_info_record_format, 72},
	{&sm_info_record_format, 32},
	{&link_record_format, 8},
	{&path_record_format, 64},
	{&sl_to_vl_record_format, 16},
	{&switch_info_record_format, 24},
	{&lft_record_format, 72},
	{&mft_record_format, 72},
	{&guid_info_record_format, 72},
	{&p_key_table_record_format, 72},
	{&vl_arbitration_record_format, 72},
	{&mc_member_record_format, 56},
	{&service_record_format, 176},
	{&inform_info_record_format, 64},
	{&multi_path_record_format, 24},
};

/* Constants of sa/record.h that are indexes of rows. */
static const struct {
	const struct format *format;
	unsigned row;
	const char *name;
} constants[] = {
	{&node_record_format, NODE_RECORD_LID, "LID"},
	{&node_record_format, NODE_RECORD_PORT_GUID, "PortGUID"},
	{&port_info_record_format, PORT_INFO_RECORD_LID, "EndportLID"},
	{&port_info_record_format, PORT_INFO_RECORD_OPTIONS, "Options"},
	{&port_info_record_format, PORT_INFO_RECORD_CAPABILITY_MASK, "CapabilityMask"},
	{&port_info_record_format, PORT_INFO_RECORD_CAPABILITY_MASK2, "CapabilityMask2"},
	{&sm_info_record_format, SM_INFO_RECORD_LID, "LID"},
	{&link_record_format, LINK_RECORD_FROM_LID, "FromLID"},
	{&link_record_format, LINK_RECORD_TO_LID, "ToLID"},
	{&path_record_format, PATH_SERVICE_ID_8MSB, "ServiceID8MSB"},
	{&path_record_format, PATH_SERVICE_ID_56LSB, "ServiceID56LSB"},
	{&path_record_format, PATH_DGID, "DGID"},
	{&path_record_format, PATH_SGID, "SGID"},
	{&path_record_format, PATH_DLID, "DLID"},
	{&path_record_format, PATH_SLID, "SLID"},
	{&path_record_format, PATH_RAW_TRAFFIC, "RawTraffic"},
	{&path_record_format, PATH_FLOW_LABEL, "FlowLabel"},
	{&path_record_format, PATH_HOP_LIMIT, "HopLimit"},
	{&path_record_format, PATH_TCLASS, "TClass"},
	{&path_record_format, PATH_REVERSIBLE, "Reversible"},
	{&path_record_format, PATH_NUMB_PATH, "NumbPath"},
	{&path_record_format, PATH_P_KEY, "P_Key"},
	{&path_record_format, PATH_QOS_CLASS, "QoSClass"},
	{&path_record_format, PATH_SL, "SL"},
	{&path_record_format, PATH_MTU_SELECTOR, "MtuSelector"},
	{&path_record_format, PATH_MTU, "Mtu"},
	{&path_record_format, PATH_RATE_SELECTOR, "RateSelector"},
	{&path_record_format, PATH_RATE, "Rate"},
	{&path_record_format, PATH_PACKET_LIFE_TIME_SELECTOR, "PacketLifeTimeSelector"},
	{&path_record_format, PATH_PACKET_LIFE_TIME, "PacketLifeTime"},
	{&mc_member_record_format, MC_MEMBER_MGID, "MGID"},
	{&mc_member_record_format, MC_MEMBER_PORT_GID, "PortGID"},
	{&mc_member_record_format, MC_MEMBER_Q_KEY, "Q_Key"},
	{&mc_member_record_format, MC_MEMBER_MLID, "MLID"},
	{&mc_member_record_format, MC_MEMBER_MTU_SELECTOR, "MTUSelector"},
	{&mc_member_record_format, MC_MEMBER_MTU, "MTU"},
	{&mc_member_record_format, MC_MEMBER_TCLASS, "TClass"},
	{&mc_member_record_format, MC_MEMBER_P_KEY, "P_Key"},
	{&mc_member_record_format, MC_MEMBER_RATE_SELECTOR, "RateSelector"},
	{&mc_member_record_format, MC_MEMBER_RATE, "Rate"},
	{&mc_member_record_format, MC_MEMBER_PACKET_LIFE_TIME_SELECTOR, "PacketLifeTimeSelector"},
	{&mc_member_record_format, MC_MEMBER_PACKET_LIFE_TIME, "PacketLifeTime"},
	{&mc_member_record_format, MC_MEMBER_SL, "SL"},
	{&mc_member_record_format, MC_MEMBER_FLOW_LABEL, "FlowLabel"},
	{&mc_member_record_format, MC_MEMBER_HOP_LIMIT, "HopLimit"},
	{&mc_member_record_format, MC_MEMBER_SCOPE, "Scope"},
	{&mc_member_record_format, MC_MEMBER_JOIN_STATE, "JoinState"},
	{&mc_member_record_format, MC_MEMBER_PROXY_JOIN, "ProxyJoin"},
	{&service_record_format, SERVICE_RECORD_SERVICE_ID, "ServiceID"},
	{&service_record_format, SERVICE_RECORD_GID, "ServiceGID"},
	{&service_record_format, SERVICE_RECORD_P_KEY, "ServiceP_Key"},
	{&service_record_format, SERVICE_RECORD_LEASE, "ServiceLease"},
	{&service_record_format, SERVICE_RECORD_KEY, "ServiceKey"},
	{&inform_info_record_format, INFORM_INFO_RECORD_SUBSCRIBER_GID, "SubscriberGID"},
	{&sl_to_vl_record_format, TABLE_RECORD_LID, "LID"},
	{&switch_info_record_format, TABLE_RECORD_LID, "LID"},
	{&lft_record_format, TABLE_RECORD_LID, "LID"},
	{&lft_record_format, LFT_RECORD_BLOCK_NUM, "BlockNumber"},
	{&mft_record_format, TABLE_RECORD_LID, "LID"},
	{&guid_info_record_format, TABLE_RECORD_LID, "LID"},
	{&p_key_table_record_format, TABLE_RECORD_LID, "LID"},
	{&vl_arbitration_record_format, TABLE_RECORD_LID, "LID"},
	{&multi_path_record_format, MULTI_PATH_RAW_TRAFFIC, "RawTraffic"},
	{&multi_path_record_format, MULTI_PATH_FLOW_LABEL, "FlowLabel"},
	{&multi_path_record_format, MULTI_PATH_HOP_LIMIT, "HopLimit"},
	{&multi_path_record_format, MULTI_PATH_TCLASS, "TClass"},
	{&multi_path_record_format, MULTI_PATH_REVERSIBLE, "Reversible"},
	{&multi_path_record_format, MULTI_PATH_NUMB_PATH, "NumbPath"},
	{&multi_path_record_format, MULTI_PATH_P_KEY, "P_Key"},
	{&multi_path_record_format, MULTI_PATH_QOS_CLASS, "QoSClass"},
	{&multi_path_record_format, MULTI_PATH_SL, "SL"},
	{&multi_path_record_format, MULTI_PATH_MTU_SELECTOR, "MtuSelector"},
	{&multi_path_record_format, MULTI_PATH_MTU, "Mtu"},
	{&multi_path_record_format, MULTI_PATH_RATE_SELECTOR, "RateSelector"},
	{&multi_path_record_format, MULTI_PATH_RATE, "Rate"},
	{&multi_path_record_format, MULTI_PATH_PACKET_LIFE_TIME_SELECTOR, "PacketLifeTimeSelector"},
	{&multi_path_record_format, MULTI_PATH_PACKET_LIFE_TIME, "PacketLifeTime"},
	{&multi_path_record_format, MULTI_PATH_SERVICE_ID_8MSB, "ServiceID8MSB"},
	{&multi_path_record_format, MULTI_PATH_SGID_COUNT, "SGIDCount"},
	{&multi_path_record_format, MULTI_PATH_DGID_COUNT, "DGIDCount"},
	{&multi_path_record_format, MULTI_PATH_SERVICE_ID_56LSB, "ServiceID56LSB"},
};

static void test_component_numbers(void)
{
	uint64_t known[ARRAY_SIZE(formats)] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(components); i++) {
		const struct format *format = components[i].format;
		unsigned bit = components[i].bit;

		CU_ASSERT_FATAL(bit < format->count);
		CU_ASSERT_STRING_EQUAL(format->fields[bit].name, components[i].name);
		for (size_t f = 0; f < ARRAY_SIZE(formats); f++)
			if (formats[f] == format)
				known[f] |= COMPONENT(bit);
	}
	for (size_t f = 1; f < ARRAY_SIZE(formats); f++) /* ClassPortInfo has no mask */
		CU_ASSERT_EQUAL(record_components(formats[f]), known[f]);
}

static void test_constants(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		CU_ASSERT_STRING_EQUAL(constants[i].format->fields[constants[i].row].name,
				       constants[i].name);
}

static void test_sizes(void)
{
	CU_ASSERT_EQUAL(ARRAY_SIZE(sizes), ARRAY_SIZE(formats));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CU_ASSERT_EQUAL(sizes[i].format->wire_size, sizes[i].bytes);
		CU_ASSERT_EQUAL(sizes[i].format->wire_size % 8, 0);
		CU_ASSERT_TRUE(sizes[i].format->wire_size <= SUBN_ADM_DATA_SIZE);
		CU_ASSERT_TRUE(sizes[i].format->wire_size <= WIRE_MAX);
		CU_ASSERT_TRUE(sizes[i].format->struct_size <= STRUCT_MAX);
	}
}

/* Every bit of the record is some row's, none is two fields'. */
static void test_rows_cover(void)
{
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		const struct format *format = formats[f];
		uint8_t rows[8 * WIRE_MAX] = {0}, fields[8 * WIRE_MAX] = {0};

		for (unsigned i = 0; i < format->count; i++) {
			const struct field *field = &format->fields[i];

			CU_ASSERT_FATAL(field->bit + field->width <= 8 * format->wire_size);
			for (unsigned bit = field->bit; bit < field->bit + field->width; bit++) {
				rows[bit]++;
				fields[bit] += field->kind != FIELD_RESERVED;
			}
		}
		for (unsigned bit = 0; bit < 8u * format->wire_size; bit++)
			CU_ASSERT_TRUE(rows[bit] >= 1 && fields[bit] <= 1);
	}
}

/* The bits of one row, set in an otherwise empty wire. */
static void row_wire(const struct format *format, unsigned row, uint8_t wire[WIRE_MAX])
{
	const struct field *field = &format->fields[row];

	memset(wire, 0, WIRE_MAX);
	for (unsigned bit = field->bit; bit < field->bit + field->width; bit++)
		wire[bit / 8] |= 0x80 >> bit % 8;
}

static void test_round_trips(void)
{
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		const struct format *format = formats[f];

		for (unsigned row = 0; row < format->count; row++) {
			_Alignas(8) uint8_t record[STRUCT_MAX] = {0};
			uint8_t wire[WIRE_MAX], back[WIRE_MAX] = {0};

			if (format->fields[row].kind == FIELD_RESERVED)
				continue;
			row_wire(format, row, wire);
			format_decode(format, wire, record);
			format_encode(format, record, back);
			CU_ASSERT_EQUAL(memcmp(wire, back, format->wire_size), 0);
		}
	}
}

/* Encoding clears the reserved bits of a buffer. */
static void test_gaps_are_cleared(void)
{
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		_Alignas(8) uint8_t record[STRUCT_MAX] = {0};
		uint8_t wire[WIRE_MAX], empty[WIRE_MAX] = {0};

		memset(wire, 0xFF, sizeof(wire));
		format_encode(formats[f], record, wire);
		CU_ASSERT_EQUAL(memcmp(wire, empty, formats[f]->wire_size), 0);
	}
}

/* A row's own value makes the difference when its bit is in the mask, and only then. */
static void test_matching(void)
{
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		const struct format *format = formats[f];
		_Alignas(8) uint8_t empty[STRUCT_MAX] = {0};

		for (unsigned row = 0; row < format->count; row++) {
			_Alignas(8) uint8_t record[STRUCT_MAX] = {0};
			uint64_t others = record_components(format) & ~COMPONENT(row);
			uint8_t wire[WIRE_MAX];

			if (format->fields[row].kind == FIELD_RESERVED)
				continue;
			row_wire(format, row, wire);
			format_decode(format, wire, record);
			CU_ASSERT_TRUE(record_matches(format, 0, empty, record));
			CU_ASSERT_TRUE(record_matches(format, others, empty, record));
			CU_ASSERT_FALSE(record_matches(format, COMPONENT(row), empty, record));
			CU_ASSERT_FALSE(record_matches(format, COMPONENT(row), record, empty));
			CU_ASSERT_TRUE(
				record_matches(format, others | COMPONENT(row), record, record));
		}
	}
}

static void fill(void *bytes, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)bytes)[i] = (uint8_t)((i + seed) * 167 + (i >> 3));
}

/* Attributes lie in records as their own codecs have them, from byte 4 on. */
static void test_embedded_attributes(void)
{
	for (unsigned seed = 0; seed < 64; seed++) {
		struct node_record node = {0};
		struct port_info_record port = {0};
		struct sm_info_record sm = {0};
		struct switch_info_record sw = {0};
		uint8_t attr[64], wire[WIRE_MAX] = {0}, expected[64] = {0};

		fill(attr, sizeof(attr), seed);
		format_decode(&node_info_format, attr, &node.info);
		format_encode(&node_info_format, &node.info, expected);
		format_encode(&node_record_format, &node, wire);
		CU_ASSERT_EQUAL(memcmp(wire + 4, expected, 40), 0);

		memset(expected, 0, sizeof(expected));
		format_decode(&port_info_format, attr, &port.info);
		format_encode(&port_info_format, &port.info, expected);
		format_encode(&port_info_record_format, &port, wire);
		CU_ASSERT_EQUAL(memcmp(wire + 4, expected, 64), 0);

		memset(expected, 0, sizeof(expected));
		format_decode(&switch_info_format, attr, &sw.info);
		format_encode(&switch_info_format, &sw.info, expected);
		format_encode(&switch_info_record_format, &sw, wire);
		CU_ASSERT_EQUAL(memcmp(wire + 4, expected, 20), 0);

		memset(expected, 0, sizeof(expected));
		format_decode(&sm_info_format, attr, &sm.info);
		format_encode(&sm_info_format, &sm.info, expected);
		format_encode(&sm_info_record_format, &sm, wire);
		CU_ASSERT_EQUAL(memcmp(wire + 4, expected, 21), 0);
	}
}

/* Tables lie in records as their own codecs have them, from byte 8 on. */
static const struct {
	const struct format *attr, *record;
	size_t offset; /* in the record's struct */
} tables[] = {
	{&sl_to_vl_table_format, &sl_to_vl_record_format, offsetof(struct sl_to_vl_record, table)},
	{&linear_forwarding_table_format, &lft_record_format, offsetof(struct lft_record, table)},
	{&multicast_forwarding_table_format, &mft_record_format,
	 offsetof(struct mft_record, table)},
	{&guid_info_format, &guid_info_record_format, offsetof(struct guid_info_record, info)},
	{&p_key_table_format, &p_key_table_record_format,
	 offsetof(struct p_key_table_record, table)},
	{&vl_arbitration_table_format, &vl_arbitration_record_format,
	 offsetof(struct vl_arbitration_record, table)},
};

static void test_embedded_tables(void)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (unsigned seed = 0; seed < 16; seed++) {
			_Alignas(8) uint8_t record[STRUCT_MAX] = {0};
			uint8_t attr[64], expected[64] = {0}, wire[WIRE_MAX] = {0};

			fill(attr, sizeof(attr), seed);
			format_decode(tables[t].attr, attr, record + tables[t].offset);
			format_encode(tables[t].attr, record + tables[t].offset, expected);
			format_encode(tables[t].record, record, wire);
			CU_ASSERT_EQUAL(
				memcmp(wire + 8, expected, tables[t].record->wire_size - 8u), 0);
		}
	}
}

/* The fast encoder of paths writes the same bytes as the table of fields. */
static void test_quick_path(void)
{
	for (unsigned seed = 0; seed < 256; seed++) {
		uint8_t bytes[64], wire[64], expected[64] = {0};
		struct path_record record;

		fill(bytes, sizeof(bytes), seed);
		format_decode(&path_record_format, bytes, &record);
		format_encode(&path_record_format, &record, expected);
		memset(wire, 0xA5, sizeof(wire));
		path_record_encode(&record, wire);
		CU_ASSERT_EQUAL(memcmp(wire, expected, sizeof(wire)), 0);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"component numbers", test_component_numbers},
		{"constants name their rows", test_constants},
		{"sizes in tables", test_sizes},
		{"rows cover the record", test_rows_cover},
		{"round trips of each row", test_round_trips},
		{"gaps are cleared", test_gaps_are_cleared},
		{"matching of each row", test_matching},
		{"embedded attributes", test_embedded_attributes},
		{"embedded tables", test_embedded_tables},
		{"the quick encoder of paths", test_quick_path},
		CU_TEST_INFO_NULL,
	};

	return unit_main("record", tests);
}
