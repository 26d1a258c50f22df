// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The headers of unreliable datagrams: LRH, GRH, BTH, DETH and immediate data (InfiniBand
 * specification, volume 1, chapters 7.7, 8.3, 9.2, 9.3). Pure functions. The CRCs are left out.
 */
#include "vhca.h"

enum {
	LRH_SIZE = 8,
	GRH_SIZE = 40,
	BTH_SIZE = 12,
	DETH_SIZE = 8,
	IMMEDIATE_SIZE = 4,
	ICRC_SIZE = 4,
	NEXT_BTH = 2,	/* LNH: IBA local */
	NEXT_GRH = 3,	/* LNH: IBA global */
	GRH_IBA = 0x1B, /* NxtHdr */
	SMP_VL = 15,
	SOLICITED = 0x80,
	MIGRATED = 0x40,
};

u32 vhca_packet_header_size(const struct vhca_packet *packet)
{
	return LRH_SIZE + (packet->has_grh ? GRH_SIZE : 0) + BTH_SIZE + DETH_SIZE +
	       (packet->has_immediate ? IMMEDIATE_SIZE : 0);
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

/* PktLen counts words from the LRH to the ICRC. */
u32 vhca_packet_write(const struct vhca_packet *packet, u8 *to)
{
	u32 pad = vhca_packet_pad(packet->payload_size);
	u32 size = vhca_packet_header_size(packet);
	u32 whole = size + packet->payload_size + pad + ICRC_SIZE;
	u8 *at = to;

	memset(to, 0, size);
	at[0] = packet->src_qp == 0 ? SMP_VL << 4 : 0;
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
	put32(at + 8, packet->psn & 0xFFFFFF);
	at += BTH_SIZE;
	put32(at, packet->q_key);
	put32(at + 4, packet->src_qp);
	at += DETH_SIZE;
	if (packet->has_immediate)
		memcpy(at, &packet->immediate, IMMEDIATE_SIZE);
	return size;
}

int vhca_packet_read(const u8 *bytes, u32 size, struct vhca_packet *out)
{
	const u8 *at = bytes, *end = bytes + size;
	u8 next;
	u32 pad;

	memset(out, 0, sizeof(*out));
	if (size < LRH_SIZE + BTH_SIZE + DETH_SIZE)
		return -EINVAL;
	next = at[1] & 3;
	out->sl = at[1] >> 4;
	out->dlid = get16(at + 2);
	out->slid = get16(at + 6);
	if (next < NEXT_BTH || (get16(at + 4) & 0x7FF) * 4 != size + ICRC_SIZE)
		return -EINVAL;
	at += LRH_SIZE;
	if (next == NEXT_GRH) {
		if (end - at < GRH_SIZE + BTH_SIZE + DETH_SIZE || at[6] != GRH_IBA)
			return -EINVAL;
		out->has_grh = true;
		memcpy(&out->grh, at, GRH_SIZE);
		at += GRH_SIZE;
	}
	out->opcode = at[0];
	out->solicited = at[1] & SOLICITED;
	pad = at[1] >> 4 & 3;
	out->p_key = get16(at + 2);
	out->dest_qp = get32(at + 4) & 0xFFFFFF;
	at += BTH_SIZE;
	if (out->opcode != VHCA_UD_SEND && out->opcode != VHCA_UD_SEND_IMMEDIATE)
		return -EINVAL;
	out->q_key = get32(at);
	out->src_qp = get32(at + 4) & 0xFFFFFF;
	at += DETH_SIZE;
	if (out->opcode == VHCA_UD_SEND_IMMEDIATE) {
		if (end - at < IMMEDIATE_SIZE)
			return -EINVAL;
		out->has_immediate = true;
		memcpy(&out->immediate, at, IMMEDIATE_SIZE);
		at += IMMEDIATE_SIZE;
	}
	if (end - at < pad)
		return -EINVAL;
	out->payload = at;
	out->payload_size = end - at - pad;
	return 0;
}
