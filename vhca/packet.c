// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The headers of datagrams and of reliable connections: LRH, GRH, BTH and extended transport
 * headers (InfiniBand specification, volume 1, chapters 7.7, 8.3, 9.2, 9.3). Pure functions. The
 * CRCs are left out.
 */
#include <rdma/ib_pack.h>

#include "vhca.h"

enum {
	LRH_SIZE = 8,
	GRH_SIZE = 40,
	BTH_SIZE = 12,
	DETH_SIZE = 8,
	RETH_SIZE = 16,
	AETH_SIZE = 4,
	IMMEDIATE_SIZE = 4,
	ICRC_SIZE = 4,
	NEXT_BTH = 2,	/* LNH: IBA local */
	NEXT_GRH = 3,	/* LNH: IBA global */
	GRH_IBA = 0x1B, /* NxtHdr */
	SMP_VL = 15,
	SOLICITED = 0x80,
	MIGRATED = 0x40,
	ACK_REQUEST = 0x80,
};

/* The extended headers of a packet, in the order in which they follow the BTH (table 38). */
enum { KNOWN = 1, DETH = 2, RETH = 4, AETH = 8, IMMEDIATE = 16 };

static const u8 headers_of[256] = {
	[IB_OPCODE_RC_SEND_FIRST] = KNOWN,
	[IB_OPCODE_RC_SEND_MIDDLE] = KNOWN,
	[IB_OPCODE_RC_SEND_LAST] = KNOWN,
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] = KNOWN | IMMEDIATE,
	[IB_OPCODE_RC_SEND_ONLY] = KNOWN,
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] = KNOWN | IMMEDIATE,
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] = KNOWN | RETH,
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = KNOWN,
	[IB_OPCODE_RC_RDMA_WRITE_LAST] = KNOWN,
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = KNOWN | IMMEDIATE,
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] = KNOWN | RETH,
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = KNOWN | RETH | IMMEDIATE,
	[IB_OPCODE_RC_RDMA_READ_REQUEST] = KNOWN | RETH,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] = KNOWN | AETH,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = KNOWN,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST] = KNOWN | AETH,
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] = KNOWN | AETH,
	[IB_OPCODE_RC_ACKNOWLEDGE] = KNOWN | AETH,
	[IB_OPCODE_UD_SEND_ONLY] = KNOWN | DETH,
	[IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] = KNOWN | DETH | IMMEDIATE,
};

static u32 extended_size(u8 opcode)
{
	u8 headers = headers_of[opcode];

	return (headers & DETH ? DETH_SIZE : 0) + (headers & RETH ? RETH_SIZE : 0) +
	       (headers & AETH ? AETH_SIZE : 0) + (headers & IMMEDIATE ? IMMEDIATE_SIZE : 0);
}

bool vhca_packet_has_immediate(u8 opcode)
{
	return headers_of[opcode] & IMMEDIATE;
}

u32 vhca_packet_header_size(const struct vhca_packet *packet)
{
	return LRH_SIZE + (packet->has_grh ? GRH_SIZE : 0) + BTH_SIZE +
	       extended_size(packet->opcode);
}

static void put16(u8 *to, u16 value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static u16 get16(const u8 *from)
{
	return from[0] << 8 | from[1];
}

static void put32(u8 *to, u32 value)
{
	put16(to, value >> 16);
	put16(to + 2, value);
}

static u32 get32(const u8 *from)
{
	return (u32)get16(from) << 16 | get16(from + 2);
}

static void write_extended(const struct vhca_packet *packet, u8 *at)
{
	u8 headers = headers_of[packet->opcode];

	if (headers & DETH) {
		put32(at, packet->q_key);
		put32(at + 4, packet->src_qp);
		at += DETH_SIZE;
	}
	if (headers & RETH) {
		put32(at, packet->remote_address >> 32);
		put32(at + 4, packet->remote_address);
		put32(at + 8, packet->rkey);
		put32(at + 12, packet->remote_length);
		at += RETH_SIZE;
	}
	if (headers & AETH) {
		put32(at, (u32)packet->syndrome << 24 | (packet->msn & 0xFFFFFF));
		at += AETH_SIZE;
	}
	if (headers & IMMEDIATE)
		memcpy(at, &packet->immediate, IMMEDIATE_SIZE);
}

static void read_extended(struct vhca_packet *packet, const u8 *at)
{
	u8 headers = headers_of[packet->opcode];

	if (headers & DETH) {
		packet->q_key = get32(at);
		packet->src_qp = get32(at + 4) & 0xFFFFFF;
		at += DETH_SIZE;
	}
	if (headers & RETH) {
		packet->remote_address = (u64)get32(at) << 32 | get32(at + 4);
		packet->rkey = get32(at + 8);
		packet->remote_length = get32(at + 12);
		at += RETH_SIZE;
	}
	if (headers & AETH) {
		packet->syndrome = at[0];
		packet->msn = get32(at) & 0xFFFFFF;
		at += AETH_SIZE;
	}
	if (headers & IMMEDIATE)
		memcpy(&packet->immediate, at, IMMEDIATE_SIZE);
}

/* PktLen counts words from the LRH to the ICRC. */
u32 vhca_packet_write(const struct vhca_packet *packet, u8 *to)
{
	u32 pad = vhca_packet_pad(packet->payload_size);
	u32 size = vhca_packet_header_size(packet);
	u32 whole = size + packet->payload_size + pad + ICRC_SIZE;
	u8 *at = to;

	memset(to, 0, size);
	at[0] = headers_of[packet->opcode] & DETH && packet->src_qp == 0 ? SMP_VL << 4 : 0;
	at[1] = packet->sl << 4 | (packet->has_grh ? NEXT_GRH : NEXT_BTH);
	put16(at + 2, packet->dlid);
	put16(at + 4, whole / 4);
	put16(at + 6, packet->slid);
	at += LRH_SIZE;
	if (packet->has_grh) {
		memcpy(at, &packet->grh, GRH_SIZE);
		put16(at + 4, whole - LRH_SIZE - GRH_SIZE);
		at[6] = GRH_IBA;
		at += GRH_SIZE;
	}
	at[0] = packet->opcode;
	at[1] = (packet->solicited ? SOLICITED : 0) | MIGRATED | pad << 4;
	put16(at + 2, packet->p_key);
	put32(at + 4, packet->dest_qp);
	put32(at + 8,
	      (packet->ack_request ? (u32)ACK_REQUEST << 24 : 0) | (packet->psn & 0xFFFFFF));
	write_extended(packet, at + BTH_SIZE);
	return size;
}

static int read_bth(struct vhca_packet *out, const u8 *at, const u8 *end)
{
	u32 headers, pad;

	if (end - at < BTH_SIZE)
		return -EINVAL;
	out->opcode = at[0];
	out->solicited = at[1] & SOLICITED;
	pad = at[1] >> 4 & 3;
	out->p_key = get16(at + 2);
	out->dest_qp = get32(at + 4) & 0xFFFFFF;
	out->ack_request = at[8] & ACK_REQUEST;
	out->psn = get32(at + 8) & VHCA_PSN_MASK;
	headers = BTH_SIZE + extended_size(out->opcode);
	if (!headers_of[out->opcode] || end - at < headers + pad)
		return -EINVAL;
	read_extended(out, at + BTH_SIZE);
	out->payload = at + headers;
	out->payload_size = end - out->payload - pad;
	return 0;
}

int vhca_packet_read(const u8 *bytes, u32 size, struct vhca_packet *out)
{
	const u8 *at = bytes, *end = bytes + size;
	u8 next;

	memset(out, 0, sizeof(*out));
	if (size < LRH_SIZE + BTH_SIZE)
		return -EINVAL;
	next = at[1] & 3;
	out->sl = at[1] >> 4;
	out->dlid = get16(at + 2);
	out->slid = get16(at + 6);
	if (next < NEXT_BTH || (get16(at + 4) & 0x7FF) * 4 != size + ICRC_SIZE)
		return -EINVAL;
	at += LRH_SIZE;
	if (next == NEXT_GRH) {
		if (end - at < GRH_SIZE || at[6] != GRH_IBA)
			return -EINVAL;
		out->has_grh = true;
		memcpy(&out->grh, at, GRH_SIZE);
		at += GRH_SIZE;
	}
	return read_bth(out, at, end);
}
