/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet management attributes in host order, and their wire formats as tables of fields
 * (mad/field.h): chapter 14.2.5 of the specification. Members carry the specification's words. Used
 * by the manager (decode what agents report, encode what they should hold), by the SA (records
 * embed these attributes) and by the software agents of the simulator.
 */
#ifndef MAD_ATTR_H
#define MAD_ATTR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "include/iba.h"
#include "mad/field.h"

struct class_port_info { /* of every class: chapter 13.4.8.1, with CapabilityMask2 */
	uint8_t base_version, class_version;
	uint16_t capability_mask;
	uint32_t capability_mask2; /* 27 bits */
	uint8_t resp_time_value;
	struct class_redirect {
		uint8_t gid[GID_SIZE];
		uint8_t tc, sl;
		uint32_t fl;
		lid_t lid;
		pkey_t p_key;
		uint8_t hop_limit; /* of traps only */
		uint32_t qp, q_key;
	} redirect, trap;
};

struct node_info { /* table 136 */
	uint8_t base_version, class_version;
	uint8_t node_type; /* enum node_type */
	uint8_t num_ports;
	guid_t system_image_guid, node_guid, port_guid;
	uint16_t partition_cap;
	uint16_t device_id;
	uint32_t revision;
	uint8_t local_port_num;
	uint32_t vendor_id; /* 24 bits */
};

struct node_description {
	uint8_t text[NODE_DESC_SIZE]; /* UTF-8, not always terminated */
};

struct switch_info { /* table 137 */
	uint16_t linear_fdb_cap, random_fdb_cap, multicast_fdb_cap, linear_fdb_top;
	uint8_t default_port, default_multicast_primary_port, default_multicast_not_primary_port;
	uint8_t life_time_value;    /* 5 bits */
	uint8_t port_state_change;  /* writing 1 clears it */
	uint8_t optimized_sl_to_vl; /* OptimizedSLtoVLMappingProgramming, 2 bits */
	uint16_t lids_per_port;
	uint16_t partition_enforcement_cap;
	uint8_t inbound_enforcement_cap, outbound_enforcement_cap;
	uint8_t filter_raw_inbound_cap, filter_raw_outbound_cap;
	uint8_t enhanced_port0;
	uint16_t multicast_fdb_top;
};

struct port_info { /* table 146 */
	uint64_t m_key, gid_prefix;
	lid_t lid, master_sm_lid;
	uint32_t capability_mask;
	uint16_t diag_code, m_key_lease_period;
	uint8_t local_port_num;
	uint8_t link_width_enabled, link_width_supported, link_width_active;
	uint8_t link_speed_supported, port_state;
	uint8_t port_physical_state, link_down_default_state;
	uint8_t m_key_protect_bits, lmc;
	uint8_t link_speed_active, link_speed_enabled;
	uint8_t neighbor_mtu, master_sm_sl;
	uint8_t vl_cap, init_type;
	uint8_t vl_high_limit, vl_arbitration_high_cap, vl_arbitration_low_cap;
	uint8_t init_type_reply, mtu_cap;
	uint8_t vl_stall_count, hoq_life;
	uint8_t operational_vls;
	uint8_t partition_enforcement_inbound, partition_enforcement_outbound;
	uint8_t filter_raw_inbound, filter_raw_outbound;
	uint16_t m_key_violations, p_key_violations, q_key_violations;
	uint8_t guid_cap;
	uint8_t client_reregister; /* a command, not a state */
	uint8_t multicast_p_key_trap_suppression_enabled;
	uint8_t subnet_timeout;
	uint8_t resp_time_value;
	uint8_t local_phy_errors, overrun_errors;
	uint16_t max_credit_hint;
	uint32_t link_round_trip_latency; /* 24 bits */
	uint16_t capability_mask2;
	uint8_t link_speed_ext_active, link_speed_ext_supported, link_speed_ext_enabled;
	/* XDR */
	uint8_t link_speed_ext_active2, link_speed_ext_supported2, link_speed_ext_enabled2;
};

struct p_key_table { /* one block */
	pkey_t p_key[PKEY_BLOCK_KEYS];
};

struct sl_to_vl_table {
	uint8_t vl[16]; /* by SL */
};

struct vl_arbitration_table { /* one block */
	struct {
		uint8_t vl, weight;
	} entry[VLARB_BLOCK_ENTRIES];
};

struct linear_forwarding_table { /* one block */
	uint8_t port[LFT_BLOCK_LIDS];
};

struct multicast_forwarding_table { /* one block and position */
	uint16_t port_mask[MFT_BLOCK_LIDS];
};

struct guid_info { /* one block */
	guid_t guid[GUID_BLOCK_GUIDS];
};

struct sm_info { /* table 153 */
	guid_t guid;
	uint64_t sm_key;
	uint32_t act_count;
	uint8_t priority;
	uint8_t state; /* enum sm_state */
};

enum { NOTICE_DATA_SIZE = 54 };

struct notice { /* chapter 13.4.8.2, generic or vendor; mad/notice.h knows the data details */
	uint8_t is_generic;
	uint8_t type;
	uint32_t producer_type; /* 24 bits: node type, or vendor id */
	uint16_t trap_number;	/* or device id */
	lid_t issuer_lid;
	uint8_t toggle;
	uint16_t count; /* 15 bits */
	uint8_t data[NOTICE_DATA_SIZE];
	uint8_t issuer_gid[GID_SIZE]; /* bytes 64-79: in notice_report_format only */
};

/* The Mellanox attribute 0xFF90, ExtendedPortInfo: FDR10, as OpenSM's ib_types.h lays it out. */
struct ext_port_info {
	uint8_t state_change_enable;
	uint8_t link_speed_supported, link_speed_enabled, link_speed_active;
};
enum { ATTR_MLNX_EXT_PORT_INFO = 0xFF90, MLNX_FDR10 = 1 };

extern const struct format class_port_info_format, node_info_format, node_description_format,
	switch_info_format, port_info_format, p_key_table_format, sl_to_vl_table_format,
	vl_arbitration_table_format, linear_forwarding_table_format,
	multicast_forwarding_table_format, guid_info_format, sm_info_format, ext_port_info_format;
/* A Notice in a SubnTrap() is the 64 bytes of an SMP; a Report has the issuer's GID after them. */
extern const struct format notice_format, notice_report_format;

/* The attribute's row for an SMP's attribute ID, NULL when unknown. */
const struct format *attr_format(uint16_t attr_id);

/* format_decode() into a struct whose every byte is defined, padding too, so that two of them can
 * be compared with memcmp(). */
static inline void attr_decode(const struct format *format, const uint8_t *wire, void *to)
{
	memset(to, 0, format->struct_size);
	format_decode(format, wire, to);
}

/* The number of VLs of an encoded VLCap or OperationalVLs (1-5); 0 if unknown. */
unsigned vls_of(uint8_t encoded);
/* The bytes of an encoded NeighborMTU or MTUCap (1-5); 0 if unknown. */
unsigned mtu_bytes(uint8_t encoded);
/* The rate of a link in the encoding of PathRecord:Rate, from its active width and speeds. 0 when
 * they are unknown. */
uint8_t port_rate(const struct port_info *info);
/* The lanes of the active width; 0: unknown. */
unsigned port_lanes(const struct port_info *info);
/* Gb/s times 10 of an encoded PathRecord:Rate; 0 if unknown. The encodings do not ascend with the
 * rates. */
unsigned rate_deci_gbps(uint8_t rate);
/* Writes "4x EDR" or similar to text, "unknown" if the speed is; returns text. PortInfo shows FDR10
 * as QDR; ext, which may be NULL or all 0 if unknown, tells them apart. Their rates are the same
 * (the kernel's drivers/infiniband/core/sysfs.c: 10 Gb/s a lane). */
char *port_speed_text(const struct port_info *info, const struct ext_port_info *ext, char text[24]);
/* Whether OpenSM sends ExtendedPortInfo to such a device (osm_subnet.c,
 * is_mlnx_ext_port_info_supported()): others may not answer. */
bool node_has_ext_port_info(const struct node_info *info);
/* Whether a link is narrower or slower than both of its ends support; then could has the possible
 * speed, as port_speed_text() writes it. False if the capabilities are unknown. */
bool port_below(const struct port_info *a, const struct port_info *b, char could[24]);

/* The description as a terminated string of printable UTF-8: each byte that is a control character
 * or no UTF-8 becomes '?'. Returns text. */
char *description_text(const struct node_description *description, char text[NODE_DESC_SIZE + 1]);

/* "MASTER"; "unknown" for a value that the specification does not have. */
const char *sm_state_name(enum sm_state state);

#endif
