/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads and writes the headers of packets: sim/ib_packet.h. Reserved bits are ignored and written
 * as zero.
 */
#include "sim/ib_packet.h"

#include <string.h>

#include "lib/be.h"

enum {
	LNH_BTH = 2, /* the next header of the LRH */
	LNH_GRH = 3,
	GRH_VERSION = 6,
	GRH_NEXT_HEADER = 0x1B,
	QP_MASK = 0xFFFFFF,
	FLOW_LABEL_MASK = 0xFFFFF,
	PACKET_LENGTH_MASK = 0x7FF,
	MIGRATION = 0x40, /* of the BTH: MigReq, set by ports that do not migrate */
	OPCODE_DATAGRAM = 0x60,
	OPCODE_TRANSPORT = 0xE0,
};

/* The bytes of extended transport headers by the opcode's lower 5 bits; -1: not used (table 38). */
enum { RETH = 16, AETH = 4, ATOMIC = 28, ATOMIC_ACK = 8, IMMEDIATE = 4, INVALIDATE = 4 };
static const int8_t reliable[] = {
	0,	    0,
	0,	    IMMEDIATE,
	0,	    IMMEDIATE, /* sends */
	RETH,	    0,
	0,	    IMMEDIATE,
	RETH,	    RETH + IMMEDIATE, /* writes */
	RETH,	    AETH,
	0,	    AETH,
	AETH, /* reads and their answers */
	AETH,	    AETH + ATOMIC_ACK,
	ATOMIC,	    ATOMIC, /* acknowledges, atomics */
	-1,	    INVALIDATE,
	INVALIDATE,
};
static const int8_t unreliable[] = {
	0, 0, 0, IMMEDIATE, 0, IMMEDIATE, RETH, 0, 0, IMMEDIATE, RETH, RETH + IMMEDIATE,
};
static const int8_t datagram[] = {
	-1, -1, -1, -1, IB_DETH_SIZE, IB_DETH_SIZE + IMMEDIATE,
};

/* By the opcode's upper 3 bits. */
static const struct {
	const int8_t *sizes;
	uint8_t count;
} transports[8] = {
	[0] = {reliable, sizeof(reliable)},
	[1] = {unreliable, sizeof(unreliable)},
	[3] = {datagram, sizeof(datagram)},
};

static int extended_size(uint8_t opcode)
{
	uint8_t operation = opcode & ~OPCODE_TRANSPORT;

	return operation < transports[opcode >> 5].count ? transports[opcode >> 5].sizes[operation]
							 : -1;
}

static void read_grh(const uint8_t *bytes, struct mad_grh *out)
{
	uint32_t first = be32_load(bytes);

	out->traffic_class = (uint8_t)(first >> 20);
	out->flow_label = first & FLOW_LABEL_MASK;
	out->hop_limit = bytes[7];
	out->sgid_index = 0;
	memcpy(out->sgid, bytes + 8, GID_SIZE);
	memcpy(out->dgid, bytes + 8 + GID_SIZE, GID_SIZE);
}

static enum ib_packet_fault read_link(const uint8_t *bytes, size_t size, struct ib_packet *out)
{
	uint8_t next = bytes[1] & 3;

	if (bytes[0] & 0xF || next < LNH_BTH)
		return IB_PACKET_LINK;
	out->vl = bytes[0] >> 4;
	out->sl = bytes[1] >> 4;
	out->dlid = be16_load(bytes + 2);
	out->slid = be16_load(bytes + 6);
	out->has_grh = next == LNH_GRH;
	if (!out->has_grh)
		return IB_PACKET_GOOD;
	bytes += IB_LRH_SIZE;
	if (size < IB_LRH_SIZE + IB_GRH_SIZE + IB_BTH_SIZE)
		return IB_PACKET_SIZE;
	if (bytes[0] >> 4 != GRH_VERSION || bytes[6] != GRH_NEXT_HEADER)
		return IB_PACKET_GLOBAL;
	read_grh(bytes, &out->grh);
	return IB_PACKET_GOOD;
}

/* headers: the payload may be missing. */
static enum ib_packet_fault read_transport(struct ib_packet *out, bool headers)
{
	const uint8_t *bth = out->transport;
	int extended = extended_size(bth[0]);

	if (extended < 0)
		return IB_PACKET_OPCODE;
	if (out->transport_size < IB_BTH_SIZE + (size_t)extended)
		return IB_PACKET_SIZE;
	out->opcode = bth[0];
	out->pad = bth[1] >> 4 & 3;
	out->p_key = be16_load(bth + 2);
	out->dst_qp = be32_load(bth + 4) & QP_MASK;
	out->is_datagram = (out->opcode & OPCODE_TRANSPORT) == OPCODE_DATAGRAM;
	if (out->is_datagram) {
		out->q_key = be32_load(bth + IB_BTH_SIZE);
		out->src_qp = be32_load(bth + IB_BTH_SIZE + 4) & QP_MASK;
	}
	if (bth[1] & 0xF)
		return IB_PACKET_PADDING;
	if (headers)
		return IB_PACKET_GOOD;
	out->payload = (unsigned)(out->transport_size - IB_BTH_SIZE - (size_t)extended);
	if (out->payload < out->pad)
		return IB_PACKET_PADDING;
	out->payload -= out->pad;
	return out->payload > IB_MTU_MAX ? IB_PACKET_SIZE : IB_PACKET_GOOD;
}

static enum ib_packet_fault read_packet(const uint8_t *bytes, size_t size, struct ib_packet *out,
					bool headers)
{
	enum ib_packet_fault fault;
	size_t routing;

	*out = (struct ib_packet){0};
	if (size < IB_LRH_SIZE + IB_BTH_SIZE || size > IB_PACKET_MAX || (!headers && size % 4))
		return IB_PACKET_SIZE;
	fault = read_link(bytes, size, out);
	if (fault)
		return fault;
	routing = IB_LRH_SIZE + (out->has_grh ? IB_GRH_SIZE : 0);
	out->transport = bytes + routing;
	out->transport_size = size - routing;
	if (!headers && (be16_load(bytes + 4) & PACKET_LENGTH_MASK) * 4u != size + IB_ICRC_SIZE)
		return IB_PACKET_LENGTH;
	if (!headers && out->has_grh &&
	    be16_load(bytes + IB_LRH_SIZE + 4) != out->transport_size + IB_ICRC_SIZE)
		return IB_PACKET_LENGTH;
	return read_transport(out, headers);
}

enum ib_packet_fault ibpacket_read(const uint8_t *bytes, size_t size, struct ib_packet *out)
{
	return read_packet(bytes, size, out, false);
}

enum ib_packet_fault ibpacket_read_headers(const uint8_t *bytes, size_t size, struct ib_packet *out)
{
	return read_packet(bytes, size, out, true);
}

static void write_grh(const struct ib_packet *packet, uint8_t *out)
{
	const struct mad_grh *grh = &packet->grh;

	be32_store(out, (uint32_t)GRH_VERSION << 28 | (uint32_t)grh->traffic_class << 20 |
				(grh->flow_label & FLOW_LABEL_MASK));
	be16_store(out + 4, (uint16_t)(packet->transport_size + IB_ICRC_SIZE));
	out[6] = GRH_NEXT_HEADER;
	out[7] = grh->hop_limit;
	memcpy(out + 8, grh->sgid, GID_SIZE);
	memcpy(out + 8 + GID_SIZE, grh->dgid, GID_SIZE);
}

size_t ibpacket_write(const struct ib_packet *packet, uint8_t *out)
{
	size_t routing = IB_LRH_SIZE + (packet->has_grh ? IB_GRH_SIZE : 0);

	out[0] = (uint8_t)(packet->vl << 4);
	out[1] = (uint8_t)(packet->sl << 4 | (packet->has_grh ? LNH_GRH : LNH_BTH));
	be16_store(out + 2, packet->dlid);
	be16_store(out + 4, (uint16_t)((routing + packet->transport_size + IB_ICRC_SIZE) / 4));
	be16_store(out + 6, packet->slid);
	if (packet->has_grh)
		write_grh(packet, out + IB_LRH_SIZE);
	memcpy(out + routing, packet->transport, packet->transport_size);
	return routing + packet->transport_size;
}

size_t ibpacket_write_datagram(const struct ib_packet *packet, const uint8_t *payload, size_t size,
			       uint8_t *out)
{
	memset(out, 0, IB_BTH_SIZE + IB_DETH_SIZE);
	out[0] = IB_OPCODE_UD_SEND_ONLY;
	out[1] = MIGRATION;
	be16_store(out + 2, packet->p_key);
	be32_store(out + 4, packet->dst_qp & QP_MASK);
	be32_store(out + IB_BTH_SIZE, packet->q_key);
	be32_store(out + IB_BTH_SIZE + 4, packet->src_qp & QP_MASK);
	memcpy(out + IB_BTH_SIZE + IB_DETH_SIZE, payload, size);
	return IB_BTH_SIZE + IB_DETH_SIZE + size;
}
