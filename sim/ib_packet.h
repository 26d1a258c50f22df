/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets as they are on a link, without the two checksums at the end: chapters 7.7 (LRH), 8.3
 * (GRH) and 9.2 to 9.3 (BTH, extended transport headers). The lengths in the headers include the
 * ICRC, as in the specification. Pure functions; they keep no pointer after a call, except where
 * noted. Used by sim/hca.c for the packets of virtual HCAs, and by sim/capture.c.
 */
#ifndef SIM_IB_PACKET_H
#define SIM_IB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"
#include "mad/transport.h"

enum {
	IB_LRH_SIZE = 8,
	IB_GRH_SIZE = 40,
	IB_BTH_SIZE = 12,
	IB_DETH_SIZE = 8,
	IB_ICRC_SIZE = 4,
	IB_VCRC_SIZE = 2,
	IB_EXTENDED_MAX = 28, /* AtomicETH: the longest extended transport header */
	IB_MTU_MAX = 4096,
	/* BTH, extended headers, payload with its padding. */
	IB_TRANSPORT_MAX = IB_BTH_SIZE + IB_EXTENDED_MAX + IB_MTU_MAX,
	IB_PACKET_MAX = IB_LRH_SIZE + IB_GRH_SIZE + IB_TRANSPORT_MAX,
};

enum {
	IB_OPCODE_UD_SEND_ONLY = 0x64,
	IB_QP_MULTICAST = 0xFFFFFF,
	IB_VL_MANAGEMENT = 15,
};

struct ib_packet {
	uint8_t vl, sl;
	lid_t slid, dlid;
	bool has_grh;
	struct mad_grh grh; /* sgid_index has no meaning */
	/* From the BTH on. */
	uint8_t opcode;
	uint8_t pad; /* bytes of padding: 0 to 3 */
	pkey_t p_key;
	uint32_t dst_qp;
	bool is_datagram; /* UD: it has a DETH, the two members below */
	uint32_t q_key, src_qp;
	unsigned payload;	  /* bytes, without padding */
	const uint8_t *transport; /* the BTH and all that follows; borrowed from the packet */
	size_t transport_size;
};

enum ib_packet_fault {
	IB_PACKET_GOOD,
	IB_PACKET_SIZE,	   /* too short for its headers, too long, or no multiple of 4 */
	IB_PACKET_LINK,	   /* the LRH: its version, or the kind of the next header */
	IB_PACKET_LENGTH,  /* a length of the LRH or GRH differs from the size */
	IB_PACKET_GLOBAL,  /* the GRH: its version, or the next header */
	IB_PACKET_OPCODE,  /* none of RC, UC or UD */
	IB_PACKET_PADDING, /* more padding than payload, or an unknown version of the transport */
};

/* Reads a whole packet. out is defined only if the packet is good. */
enum ib_packet_fault ibpacket_read(const uint8_t *bytes, size_t size, struct ib_packet *out);
/* The same for the headers of a packet whose payload may be missing: lengths are not checked, and
 * payload is 0. */
enum ib_packet_fault ibpacket_read_headers(const uint8_t *bytes, size_t size,
					   struct ib_packet *out);

/* Writes the packet with LRH and GRH from its members, and from its transport part the rest.
 * Returns its size, which is at most IB_PACKET_MAX. */
size_t ibpacket_write(const struct ib_packet *packet, uint8_t *out);

/* Writes the transport part of a datagram without padding: BTH and DETH from packet's p_key,
 * dst_qp, q_key and src_qp, then the payload, whose size is a multiple of 4. Returns its size. */
size_t ibpacket_write_datagram(const struct ib_packet *packet, const uint8_t *payload, size_t size,
			       uint8_t *out);

#endif
