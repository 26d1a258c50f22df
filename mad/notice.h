/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The 54 bytes of data details of a Notice, by trap number: chapter 14.2.5.1 of the specification.
 * Used by the manager for received traps, by the SA for the notices that it reports, by software
 * agents for the traps that they send. Pure functions.
 */
#ifndef MAD_NOTICE_H
#define MAD_NOTICE_H

#include "include/iba.h"
#include "mad/attr.h"
#include "mad/field.h"

/* Notice:Type, 13.4.8.2. */
enum notice_type {
	NOTICE_FATAL = 0,
	NOTICE_URGENT = 1,
	NOTICE_SECURITY = 2,
	NOTICE_SUBNET_MANAGEMENT = 3,
	NOTICE_INFORMATIONAL = 4,
	NOTICE_EMPTY = 0x7F,
};

/* Notice:ProducerType of a generic notice is an enum node_type, or this for the SA's own. */
enum { NOTICE_PRODUCER_CLASS_MANAGER = 4 };

/* 64-67: the end port, or the multicast group, that appeared or disappeared. */
struct notice_gid {
	uint8_t gid[GID_SIZE];
};

/* 128: a link state changed at a port of this switch. */
struct notice_link_state {
	lid_t lid;
};

/* 129-131: a port's error threshold was reached. */
struct notice_threshold {
	lid_t lid;
	uint8_t port_num;
};

/* 144: the capability mask changed; with other_local_changes, what change_flags names. */
struct notice_local_changes {
	lid_t lid;
	uint8_t other_local_changes;
	uint32_t capability_mask;
	uint16_t change_flags; /* enum local_change */
	uint16_t capability_mask2;
};

/* ChangeFlags of trap 144. */
enum local_change {
	CHANGE_NODE_DESCRIPTION = 1 << 0,
	CHANGE_LINK_WIDTH_ENABLED = 1 << 1,
	CHANGE_LINK_SPEED_ENABLED = 1 << 2,
	CHANGE_SM_PRIORITY = 1 << 3,
	CHANGE_HIERARCHY_INFO = 1 << 4,
	CHANGE_CAPABILITY_MASK2 = 1 << 5,
};

/* 145. */
struct notice_system_image_guid {
	lid_t lid;
	guid_t system_image_guid;
};

/* 256: an SMP with a wrong M_Key arrived from lid, if the agent knows it: Linux's drivers put their
 * own LID there. The other members are those of that SMP. */
struct notice_bad_m_key {
	lid_t lid, dr_slid;
	uint8_t method;
	uint16_t attr_id;
	uint32_t attr_mod;
	uint64_t m_key;
	uint8_t dr_notice;	   /* the SMP was directed: the members below are valid */
	uint8_t dr_path_truncated; /* the return path was longer than dr_return_path */
	uint8_t dr_hop_count;	   /* 6 bits; bound it before it indexes the path */
	uint8_t dr_return_path[30];
};

/* 257, 258: a packet from lid1 to lid2 had a bad P_Key or Q_Key. */
struct notice_bad_key {
	lid_t lid1, lid2;
	uint32_t key; /* a P_Key is in the lower half */
	uint8_t sl;
	uint32_t qp1, qp2;
	uint8_t gid1[GID_SIZE], gid2[GID_SIZE];
};

/* 259: the same, seen by an external port of a switch. */
struct notice_switch_bad_p_key {
	uint16_t data_valid; /* enum notice_data_valid: which of the members below are valid */
	lid_t lid1, lid2;
	pkey_t p_key;
	uint8_t sl;
	uint32_t qp1, qp2;
	uint8_t gid1[GID_SIZE], gid2[GID_SIZE];
	lid_t switch_lid;
	uint8_t port_num;
};

/* DataValid, in the order of the members; the bits as opa-fm's trap of the same name has them. */
enum notice_data_valid {
	DATA_VALID_LID1 = 0x8000,
	DATA_VALID_LID2 = 0x4000,
	DATA_VALID_P_KEY = 0x2000,
	DATA_VALID_SL = 0x1000,
	DATA_VALID_QP1 = 0x0800,
	DATA_VALID_QP2 = 0x0400,
	DATA_VALID_GID1 = 0x0200,
	DATA_VALID_GID2 = 0x0100,
};

/* The trap number selects the member. */
union notice_details {
	struct notice_gid gid;				 /* 64-67 */
	struct notice_link_state link_state;		 /* 128 */
	struct notice_threshold threshold;		 /* 129-131 */
	struct notice_local_changes local_changes;	 /* 144 */
	struct notice_system_image_guid system_image;	 /* 145 */
	struct notice_bad_m_key bad_m_key;		 /* 256 */
	struct notice_bad_key bad_key;			 /* 257, 258 */
	struct notice_switch_bad_p_key switch_bad_p_key; /* 259 */
};

/* The format of a generic trap's data details, 54 bytes; NULL when the number is unknown. */
const struct format *notice_details_format(uint16_t trap_number);

/* Whether a notice, or a subscription to it, is of security (traps 256-259, and the type): only
 * clients that gave the SA key receive these. */
bool notice_is_security(bool is_generic, uint16_t type, uint16_t trap_number);

/* Reads the details. False, and details untouched, when the notice is a vendor's or unknown. */
bool notice_details_decode(const struct notice *notice, union notice_details *details);

/* The LID in the details that must be a LID of the agent that sent the notice: traps 128-131, 144,
 * 145 and 259. LID_NONE: these details have no such LID, or the agent left it zero. */
lid_t notice_own_lid(const struct notice *notice, const union notice_details *details);

/* Fills a generic notice with the type that belongs to its number; the number must be known. The
 * toggle and count are 0, the issuer's GID is left zero. */
void notice_fill(struct notice *notice, uint16_t trap_number, uint32_t producer_type,
		 lid_t issuer_lid, const union notice_details *details);

#endif
