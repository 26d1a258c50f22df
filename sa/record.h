/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The records of the SA in host order, and their wire formats as tables of fields (mad/field.h):
 * chapter 15.2.5 of the specification. The rows of a record have the order of its components, so
 * bit i of a component mask is row i. Reserved components have a row too (FIELD_GAP), and fields
 * without a bit come last. A new record needs a struct and a table here, and a row in the dispatch
 * table of sa.c. Pure functions, any thread.
 */
#ifndef SA_RECORD_H
#define SA_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"
#include "mad/attr.h"
#include "mad/field.h"

/* Components with a meaning beyond equality. Each number is the index of the row; a test
 * compares them. */
#define COMPONENT(row) (UINT64_C(1) << (row))

struct node_record {
	lid_t lid;
	struct node_info info;
	struct node_description description;
};
enum { NODE_RECORD_LID = 0, NODE_RECORD_PORT_GUID = 8 };

struct port_info_record {
	lid_t endport_lid;
	uint8_t port_num;
	uint8_t options; /* bit 7: the requester supports extended speeds */
	struct port_info info;
};
enum {
	PORT_INFO_RECORD_LID = 0,
	PORT_INFO_RECORD_PORT_NUM = 1,
	PORT_INFO_RECORD_OPTIONS = 2,
	PORT_INFO_RECORD_CAPABILITY_MASK = 7,
	PORT_INFO_RECORD_CAPABILITY_MASK2 = 53,
};

/* Records of a table of a port or switch begin with the LID, also in the struct. */
enum { TABLE_RECORD_LID = 0 };

enum { /* port numbers in such records */
       P_KEY_TABLE_PORT_NUM = 2,
       SL_TO_VL_INPUT_PORT_NUM = 1,
       SL_TO_VL_OUTPUT_PORT_NUM = 2,
       VL_ARBITRATION_OUTPUT_PORT_NUM = 1,
};

struct sl_to_vl_record {
	lid_t lid;
	uint8_t input_port_num, output_port_num;
	struct sl_to_vl_table table;
};

struct switch_info_record {
	lid_t lid;
	struct switch_info info;
};

struct lft_record {
	lid_t lid;
	uint16_t block_num;
	struct linear_forwarding_table table;
};
enum { LFT_RECORD_BLOCK_NUM = 1 };

struct mft_record {
	lid_t lid;
	uint8_t position;
	uint16_t block_num;
	struct multicast_forwarding_table table;
};
enum { MFT_RECORD_POSITION = 1, MFT_RECORD_BLOCK_NUM = 3 };

struct sm_info_record {
	lid_t lid;
	struct sm_info info;
};
enum { SM_INFO_RECORD_LID = 0 };

struct link_record {
	lid_t from_lid;
	uint8_t from_port, to_port;
	lid_t to_lid;
};
enum { LINK_RECORD_FROM_LID = 0, LINK_RECORD_TO_LID = 3 };

struct guid_info_record {
	lid_t lid;
	uint8_t block_num;
	struct guid_info info;
};
enum {
	GUID_INFO_RECORD_LID = 0,
	GUID_INFO_RECORD_BLOCK_NUM = 1,
	GUID_INFO_RECORD_GUID0 = 4, /* and seven more */
};

struct p_key_table_record {
	lid_t lid;
	uint16_t block_num;
	uint8_t port_num;
	struct p_key_table table;
};

struct vl_arbitration_record {
	lid_t lid;
	uint8_t output_port_num, block_num;
	struct vl_arbitration_table table;
};

struct service_record {
	uint64_t service_id;
	uint8_t gid[GID_SIZE];
	pkey_t p_key;
	uint32_t lease; /* seconds; SERVICE_LEASE_NO_END */
	uint8_t key[16], name[64];
	uint8_t data8[16];
	uint16_t data16[8];
	uint32_t data32[4];
	uint64_t data64[2];
};
enum {
	SERVICE_RECORD_SERVICE_ID = 0,
	SERVICE_RECORD_GID = 1,
	SERVICE_RECORD_P_KEY = 2,
	SERVICE_RECORD_LEASE = 4,
	SERVICE_RECORD_KEY = 5,
};
#define SERVICE_LEASE_NO_END UINT32_MAX

/* An attribute of every class (13.4.8.3), not a record; only that of the SA is used here. It
 * selects the notices of a subscription. If is_generic is 0, trap_number is a device ID and
 * producer_type a vendor ID. */
struct inform_info {
	uint8_t gid[GID_SIZE];
	lid_t lid_begin, lid_end;
	uint8_t is_generic, subscribe;
	uint16_t type, trap_number;
	uint32_t qpn;
	uint8_t resp_time;
	uint32_t producer_type;
};
/* Values that match everything; in LIDRangeBegin, all end ports. */
enum { INFORM_ANY = 0xFFFF, INFORM_ANY_PRODUCER = 0xFFFFFF };

struct inform_info_record {
	uint8_t subscriber_gid[GID_SIZE];
	uint16_t subscriber_enum;
	struct inform_info info;
};
enum { INFORM_INFO_RECORD_SUBSCRIBER_GID = 0 };

struct path_record {
	uint8_t service_id_8msb;
	uint64_t service_id_56lsb;
	uint8_t dgid[GID_SIZE], sgid[GID_SIZE];
	lid_t dlid, slid;
	uint8_t raw_traffic;
	uint32_t flow_label;
	uint8_t hop_limit, tclass;
	uint8_t reversible, numb_path;
	pkey_t p_key;
	uint16_t qos_class;
	uint8_t sl;
	uint8_t mtu_selector, mtu;
	uint8_t rate_selector, rate;
	uint8_t packet_life_time_selector, packet_life_time;
	uint8_t preference; /* lower is better */
};
enum {
	PATH_SERVICE_ID_8MSB = 0,
	PATH_SERVICE_ID_56LSB = 1,
	PATH_DGID = 2,
	PATH_SGID = 3,
	PATH_DLID = 4,
	PATH_SLID = 5,
	PATH_RAW_TRAFFIC = 6,
	PATH_FLOW_LABEL = 8,
	PATH_HOP_LIMIT = 9,
	PATH_TCLASS = 10,
	PATH_REVERSIBLE = 11,
	PATH_NUMB_PATH = 12,
	PATH_P_KEY = 13,
	PATH_QOS_CLASS = 14,
	PATH_SL = 15,
	PATH_MTU_SELECTOR = 16,
	PATH_MTU = 17,
	PATH_RATE_SELECTOR = 18,
	PATH_RATE = 19,
	PATH_PACKET_LIFE_TIME_SELECTOR = 20,
	PATH_PACKET_LIFE_TIME = 21,
};

/* A member of a multicast group, or, without the last four components, a group. */
struct mc_member_record {
	uint8_t mgid[GID_SIZE], port_gid[GID_SIZE];
	uint32_t q_key;
	lid_t mlid;
	uint8_t mtu_selector, mtu;
	uint8_t tclass;
	pkey_t p_key;
	uint8_t rate_selector, rate;
	uint8_t packet_life_time_selector, packet_life_time;
	uint8_t sl;
	uint32_t flow_label;
	uint8_t hop_limit, scope;
	uint8_t join_state; /* JOIN_ bits */
	uint8_t proxy_join;
};
enum {
	MC_MEMBER_MGID = 0,
	MC_MEMBER_PORT_GID = 1,
	MC_MEMBER_Q_KEY = 2,
	MC_MEMBER_MLID = 3,
	MC_MEMBER_MTU_SELECTOR = 4,
	MC_MEMBER_MTU = 5,
	MC_MEMBER_TCLASS = 6,
	MC_MEMBER_P_KEY = 7,
	MC_MEMBER_RATE_SELECTOR = 8,
	MC_MEMBER_RATE = 9,
	MC_MEMBER_PACKET_LIFE_TIME_SELECTOR = 10,
	MC_MEMBER_PACKET_LIFE_TIME = 11,
	MC_MEMBER_SL = 12,
	MC_MEMBER_FLOW_LABEL = 13,
	MC_MEMBER_HOP_LIMIT = 14,
	MC_MEMBER_SCOPE = 15,
	MC_MEMBER_JOIN_STATE = 16,
	MC_MEMBER_PROXY_JOIN = 17,
};

/* JoinState: 15.2.5.17, the last from an erratum as restated in OpenSM's ib_types.h. */
enum {
	JOIN_FULL = 1,
	JOIN_NON_MEMBER = 2,
	JOIN_SEND_ONLY_NON_MEMBER = 4,
	JOIN_SEND_ONLY_FULL = 8,
	JOIN_KEEPS_GROUP = JOIN_FULL | JOIN_SEND_ONLY_FULL, /* may create a group, and keeps it */
};

/* A request for paths from a set of ports to another. On the wire its GIDs follow, those of the
 * sources first. The answer has PathRecords. */
struct multi_path_record {
	uint8_t raw_traffic;
	uint32_t flow_label;
	uint8_t hop_limit, tclass;
	uint8_t reversible, numb_path;
	pkey_t p_key;
	uint16_t qos_class;
	uint8_t sl;
	uint8_t mtu_selector, mtu;
	uint8_t rate_selector, rate;
	uint8_t packet_life_time_selector, packet_life_time;
	uint8_t service_id_8msb;
	uint8_t independence_selector;
	uint8_t sgid_count, dgid_count;
	uint64_t service_id_56lsb;
};
enum {
	MULTI_PATH_RAW_TRAFFIC = 0,
	MULTI_PATH_FLOW_LABEL = 2,
	MULTI_PATH_HOP_LIMIT = 3,
	MULTI_PATH_TCLASS = 4,
	MULTI_PATH_REVERSIBLE = 5,
	MULTI_PATH_NUMB_PATH = 6,
	MULTI_PATH_P_KEY = 7,
	MULTI_PATH_QOS_CLASS = 8,
	MULTI_PATH_SL = 9,
	MULTI_PATH_MTU_SELECTOR = 10,
	MULTI_PATH_MTU = 11,
	MULTI_PATH_RATE_SELECTOR = 12,
	MULTI_PATH_RATE = 13,
	MULTI_PATH_PACKET_LIFE_TIME_SELECTOR = 14,
	MULTI_PATH_PACKET_LIFE_TIME = 15,
	MULTI_PATH_SERVICE_ID_8MSB = 16,
	MULTI_PATH_SGID_COUNT = 19,
	MULTI_PATH_DGID_COUNT = 20,
	MULTI_PATH_SERVICE_ID_56LSB = 21,
};

/* wire_size is the size of a record in a table: a multiple of 8 bytes, with padding. */
extern const struct format node_record_format, port_info_record_format, sl_to_vl_record_format,
	switch_info_record_format, lft_record_format, mft_record_format, sm_info_record_format,
	link_record_format, guid_info_record_format, p_key_table_record_format, path_record_format,
	vl_arbitration_record_format, mc_member_record_format, multi_path_record_format,
	service_record_format, inform_info_format, inform_info_record_format;

/* Writes the 64 bytes of a PathRecord like format_encode(), but much faster, because a table may
 * have very many paths. */
void path_record_encode(const struct path_record *record, uint8_t *wire);

/* The component mask bits that a request for this record may set. */
uint64_t record_components(const struct format *format);

/* True if candidate equals wanted in every component of mask. Both are structs of this format;
 * mask has only bits of record_components(). */
bool record_matches(const struct format *format, uint64_t mask, const void *wanted,
		    const void *candidate);

#endif
