/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets of a world and packets as they are on a link (sim/ib_packet.h): what a virtual HCA sends
 * becomes a packet of the world, and a packet of the world is written for a virtual HCA or for a
 * capture. The world reads MADs; of other packets it carries the part behind the GRH. Declared in
 * sim/world_parts.h.
 */
#include <string.h>

#include "lib/mem.h"
#include "sim/world_parts.h"

static struct payload *payload_new(const struct ib_packet *packet)
{
	struct payload *payload = mem_alloc(sizeof(*payload) + packet->transport_size);

	payload->holders = 1;
	payload->size = (uint16_t)packet->transport_size;
	payload->data = (uint16_t)packet->payload;
	memcpy(payload->bytes, packet->transport, packet->transport_size);
	return payload;
}

struct packet *packet_read(struct world *world, struct device_port *port,
			   const struct ib_packet *read)
{
	struct packet *packet = packet_new(world);

	packet->at = port;
	packet->sender = world_node_of(port->device);
	packet->is_smp = !read->dst_qp;
	packet->slid = read->slid;
	packet->dlid = read->dlid;
	packet->sl = read->sl;
	packet->p_key = read->p_key;
	packet->q_key = read->q_key;
	packet->src_qp = read->src_qp;
	packet->dst_qp = read->dst_qp;
	packet->has_grh = read->has_grh;
	packet->grh = read->grh;
	packet->words = packet_words(read->has_grh, read->transport_size);
	if (read->dst_qp > 1)
		packet->payload = payload_new(read);
	else
		memcpy(packet->mad, read->transport + IB_BTH_SIZE + IB_DETH_SIZE, MAD_SIZE);
	++*packets_under_way(packet);
	return packet;
}

size_t packet_write(const struct packet *packet, uint8_t out[IB_PACKET_MAX])
{
	uint8_t transport[MAD_TRANSPORT_SIZE];
	struct ib_packet wire = {
		.vl = packet->is_smp ? IB_VL_MANAGEMENT : packet->vl,
		.sl = packet->sl,
		.slid = packet->slid,
		.dlid = packet->dlid,
		.has_grh = packet->has_grh,
		.grh = packet->grh,
		.p_key = packet->is_smp ? PKEY_DEFAULT_FULL : packet->p_key,
		.dst_qp = packet->dst_qp,
		.q_key = packet->is_smp ? 0 : packet->q_key,
		.src_qp = packet->src_qp,
		.transport = transport,
	};

	if (packet->payload) {
		wire.transport = packet->payload->bytes;
		wire.transport_size = packet->payload->size;
	} else {
		wire.transport_size =
			ibpacket_write_datagram(&wire, packet->mad, MAD_SIZE, transport);
	}
	return ibpacket_write(&wire, out);
}
