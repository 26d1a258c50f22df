/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The numbers of the InfiniBand Architecture that several folders need: scalar types with a
 * meaning, limits, management classes, methods, attribute IDs, status words and port states, in the
 * specification's spelling. Sources: IBA volume 1 chapters 13 (MAD), 14 (SM) and 15 (SA), as
 * restated in the kernel's rdma/ib_mad.h, ib_smi.h and ib_sa.h. Numbers only: no code, no structs.
 */
#ifndef INCLUDE_IBA_H
#define INCLUDE_IBA_H

#include <stdint.h>

typedef uint16_t lid_t;	 /* local identifier, host order */
typedef uint64_t guid_t; /* EUI-64 of a node or port, host order */
typedef uint16_t pkey_t; /* P_Key: bit 15 is full membership */

enum {
	LID_NONE = 0,
	LID_UNICAST_MIN = 0x0001,
	LID_UNICAST_MAX = 0xBFFF,
	LID_MULTICAST_MIN = 0xC000,
	LID_MULTICAST_MAX = 0xFFFE,
	LID_PERMISSIVE = 0xFFFF,
	LMC_MAX = 7,

	PORT_MAX = 254, /* highest external port number of a switch */
	HOPS_MAX = 63,	/* longest directed route */

	LFT_BLOCK_LIDS = 64,
	LFT_BLOCKS_MAX = 768, /* 49,152 unicast LIDs */
	LFT_NO_PORT = 0xFF,   /* entry of an unused LID */
	MFT_BLOCK_LIDS = 32,
	MFT_POSITION_PORTS = 16, /* ports in one mask */
	MFT_POSITIONS = 16,
	PKEY_BLOCK_KEYS = 32,
	GUID_BLOCK_GUIDS = 8,
	VLARB_BLOCK_ENTRIES = 32,

	PKEY_DEFAULT_FULL = 0xFFFF,
	PKEY_DEFAULT_LIMITED = 0x7FFF,
	PKEY_FULL_MEMBER = 0x8000,

	MAD_SIZE = 256,
	MAD_HEADER_SIZE = 24,
	SMP_DATA_OFFSET = 64,
	SMP_DATA_SIZE = 64,
	SUBN_ADM_HEADER_SIZE = 56,
	SUBN_ADM_DATA_SIZE = 200,
	PERF_DATA_OFFSET = 64,
	PERF_DATA_SIZE = 192,
	GID_SIZE = 16,
	NODE_DESC_SIZE = 64,
};

#define GID_PREFIX_DEFAULT UINT64_C(0xFE80000000000000)
#define QP1_Q_KEY UINT32_C(0x80010000)
#define SM_KEY_DEFAULT UINT64_C(1)

/* Chapter 13.4.4 and table 113. */
enum mgmt_class {
	CLASS_SUBN_LID = 0x01,
	CLASS_SUBN_ADM = 0x03,
	CLASS_PERF = 0x04,
	CLASS_SUBN_DIRECTED = 0x81,
	/* The range of vendor classes whose MADs name an OUI and may be RMPP. */
	CLASS_VENDOR_OUI_MIN = 0x30,
	CLASS_VENDOR_OUI_MAX = 0x4F,
};

enum method {
	METHOD_GET = 0x01,
	METHOD_SET = 0x02,
	METHOD_SEND = 0x03,
	METHOD_TRAP = 0x05,
	METHOD_REPORT = 0x06,
	METHOD_TRAP_REPRESS = 0x07,
	METHOD_GET_TABLE = 0x12,
	METHOD_GET_MULTI = 0x14,
	METHOD_DELETE = 0x15,
	METHOD_RESPONSE = 0x80, /* the R bit */
	METHOD_GET_RESP = 0x81,
	METHOD_REPORT_RESP = 0x86,
	METHOD_GET_TABLE_RESP = 0x92,
	METHOD_GET_MULTI_RESP = 0x94,
	METHOD_DELETE_RESP = 0x95,
};

/* Attributes; those below 0x10 belong to every class. */
enum attr_id {
	ATTR_CLASS_PORT_INFO = 0x0001,
	ATTR_NOTICE = 0x0002,
	ATTR_INFORM_INFO = 0x0003,
	ATTR_NODE_DESCRIPTION = 0x0010,
	ATTR_NODE_INFO = 0x0011,
	ATTR_SWITCH_INFO = 0x0012,
	ATTR_GUID_INFO = 0x0014,
	ATTR_PORT_INFO = 0x0015,
	ATTR_PKEY_TABLE = 0x0016,
	ATTR_SL_TO_VL = 0x0017,
	ATTR_VL_ARBITRATION = 0x0018,
	ATTR_LINEAR_FORWARDING_TABLE = 0x0019,
	ATTR_RANDOM_FORWARDING_TABLE = 0x001A,
	ATTR_MULTICAST_FORWARDING_TABLE = 0x001B,
	ATTR_SM_INFO = 0x0020,
};

/* Performance management: chapters 16.1.3 and 16.1.4. Only the attributes that the agents
 * answer. */
enum perf_attr_id {
	PERF_PORT_COUNTERS = 0x0012,
	PERF_PORT_COUNTERS_EXTENDED = 0x001D,
};

/* SA records: chapter 15.2.5. */
enum record_id {
	RECORD_NODE = 0x0011,
	RECORD_PORT_INFO = 0x0012,
	RECORD_SL_TO_VL = 0x0013,
	RECORD_SWITCH_INFO = 0x0014,
	RECORD_LFT = 0x0015,
	RECORD_MFT = 0x0017,
	RECORD_SM_INFO = 0x0018,
	RECORD_LINK = 0x0020,
	RECORD_GUID_INFO = 0x0030,
	RECORD_SERVICE = 0x0031,
	RECORD_PKEY_TABLE = 0x0033,
	RECORD_PATH = 0x0035,
	RECORD_VL_ARBITRATION = 0x0036,
	RECORD_MC_MEMBER = 0x0038,
	RECORD_MULTI_PATH = 0x003A,
	RECORD_INFORM_INFO = 0x00F3,
};

/* The status word of any MAD: chapter 13.4.7. For SMPs bit 15 is the D bit. */
enum mad_status {
	STATUS_OK = 0x0000,
	STATUS_BUSY = 0x0001,
	STATUS_REDIRECT = 0x0002,
	STATUS_BAD_VERSION = 0x0004,
	STATUS_UNSUP_METHOD = 0x0008,
	STATUS_UNSUP_METHOD_ATTR = 0x000C,
	STATUS_INVALID_VALUE = 0x001C,
};

/* The SA's own status words: table 187, in the class specific byte. */
enum sa_status {
	SA_NO_RESOURCES = 0x0100,
	SA_REQ_INVALID = 0x0200,
	SA_NO_RECORDS = 0x0300,
	SA_TOO_MANY_RECORDS = 0x0400,
	SA_REQ_INVALID_GID = 0x0500,
	SA_REQ_INSUFFICIENT_COMPONENTS = 0x0600,
	SA_REQ_DENIED = 0x0700,
};

enum node_type { NODE_CA = 1, NODE_SWITCH = 2, NODE_ROUTER = 3 };

/* PortInfo:PortState; 0 in a Set() means no change. */
enum port_state {
	PORT_NO_CHANGE = 0,
	PORT_DOWN = 1,
	PORT_INIT = 2,
	PORT_ARMED = 3,
	PORT_ACTIVE = 4
};

enum port_phys_state {
	PHYS_NO_CHANGE = 0,
	PHYS_SLEEP = 1,
	PHYS_POLLING = 2,
	PHYS_DISABLED = 3,
	PHYS_TRAINING = 4,
	PHYS_LINK_UP = 5,
	PHYS_ERROR_RECOVERY = 6,
};

/* PortInfo:CapabilityMask: only the bits that weft reads. */
#define CAP_IS_SM (UINT32_C(1) << 1)
#define CAP_IS_NOTICE (UINT32_C(1) << 2)
#define CAP_IS_TRAP (UINT32_C(1) << 3)
#define CAP_EXTENDED_SPEEDS (UINT32_C(1) << 14)
#define CAP_MASK2 (UINT32_C(1) << 15)
#define CAP_COMMUNICATION_MANAGEMENT (UINT32_C(1) << 16)
#define CAP_CLIENT_REREGISTER (UINT32_C(1) << 25)
#define CAP_MULTICAST_FDB_TOP (UINT32_C(1) << 30)

/* PortInfo:CapabilityMask2. */
#define CAP2_LINK_WIDTH_2X (1 << 4)

/* LinkWidthEnabled, LinkSpeedEnabled and LinkSpeedExtEnabled: values that are no mask of supported
 * widths or speeds. */
enum {
	LINK_WIDTH_2X = 16,
	LINK_WIDTH_ALL = 255,
	LINK_SPEED_QDR = 4,
	LINK_SPEED_ALL = 15,
	LINK_SPEED_EXT_NONE = 30,
	LINK_SPEED_EXT_ALL = 31,
};

/* PortInfo AttributeModifier bit 31: SMSupportExtendedSpeeds. */
#define PORT_INFO_EXTENDED_SPEEDS (UINT32_C(1) << 31)

enum trap_number {
	TRAP_GID_IN_SERVICE = 64,
	TRAP_GID_OUT_OF_SERVICE = 65,
	TRAP_MC_GROUP_CREATED = 66,
	TRAP_MC_GROUP_DELETED = 67,
	TRAP_LINK_STATE = 128,
	TRAP_LOCAL_LINK_INTEGRITY = 129,
	TRAP_BUFFER_OVERRUN = 130,
	TRAP_FLOW_CONTROL = 131,
	TRAP_LOCAL_CHANGES = 144,
	TRAP_SYSTEM_IMAGE_GUID = 145,
	TRAP_BAD_M_KEY = 256,
	TRAP_BAD_P_KEY = 257,
	TRAP_BAD_Q_KEY = 258,
	TRAP_SWITCH_BAD_P_KEY = 259,
};

/* SMInfo:SMState, chapter 14.4.1. */
enum sm_state { SM_NOTACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };

/* SMInfo Set() AttributeModifier: the control packets of chapter 14.4.1. */
enum sm_control {
	SM_CONTROL_HANDOVER = 1,
	SM_CONTROL_ACKNOWLEDGE = 2,
	SM_CONTROL_DISABLE = 3,
	SM_CONTROL_STANDBY = 4,
	SM_CONTROL_DISCOVER = 5,
};

#endif
