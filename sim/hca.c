/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The ports of virtual HCAs in a world: sim/hca.h. A packet of the driver becomes a struct packet:
 * a MAD for QP0 and QP1, whose content the world reads, and for other QPs a payload that it only
 * carries. A packet for the driver is written as it was on the last link.
 */
#include "sim/hca.h"

#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sim/ib_packet.h"
#include "sim/world_parts.h"

enum { HOP_POINTER_OFFSET = 6 };

struct hca {
	struct world *world;
	struct device *device;
	struct hca_user user;
	struct hca_counts counts;
	struct node_description description; /* that of the device without a driver */
	bool was_off;			     /* before */
	uint32_t caps[PORT_MAX + 1];	     /* that the driver has set, by port */
};

/* The driver comes and goes */

struct hca *hca_of(const struct device *device)
{
	return world_node_of(device)->hca;
}

struct hca *hca_attach(struct world *world, struct device *device, const struct hca_user *user)
{
	struct world_node *node = world_node_of(device);
	struct hca *hca;

	if (node->hca)
		return NULL;
	hca = node->hca = mem_zalloc(sizeof(*hca));
	hca->world = world;
	hca->device = device;
	hca->user = *user;
	hca->description = device->description;
	hca->was_off = device->off;
	device_power(device, false);
	return hca;
}

void hca_stop(struct hca *hca)
{
	memset(hca->caps, 0, sizeof(hca->caps));
	hca->device->description = hca->description;
	device_power(hca->device, false);
}

void hca_start(struct hca *hca)
{
	hca_stop(hca);
	hca->counts.starts++;
	device_power(hca->device, true);
}

void hca_detach(struct hca *hca)
{
	if (!hca)
		return;
	hca_stop(hca);
	if (!hca->counts.starts && !hca->was_off)
		device_power(hca->device, true);
	world_node_of(hca->device)->hca = NULL;
	free(hca);
}

bool hca_is_started(const struct hca *hca)
{
	return !hca->device->off;
}

void hca_changed(struct hca *hca)
{
	hca->user.changed(hca->user.ctx);
}

struct hca_counts *hca_counts(struct hca *hca)
{
	return &hca->counts;
}

/* Packets for the driver */

static void give_packet(struct hca *hca, uint8_t port, const uint8_t *bytes, size_t size)
{
	if (hca->user.packet(hca->user.ctx, port, bytes, size)) {
		hca->counts.received++;
		return;
	}
	hca->counts.unread++;
	hca->world->stats.dropped_unread++;
}

/* The SMI of the receiver has moved the hop pointer; the driver's own SMI needs its value on the
 * last link. */
void hca_receive(struct world *world, struct packet *packet)
{
	struct hca *hca = world_node_of(packet->at->device)->hca;
	uint8_t bytes[IB_PACKET_MAX];

	if (packet->is_smp && packet->came && packet->mad[1] == CLASS_SUBN_DIRECTED)
		packet->mad[HOP_POINTER_OFFSET] = packet->hop_pointer;
	give_packet(hca, packet->at->num, bytes, packet_write(packet, bytes));
	packet_free(world, packet);
}

/* Packets of the driver */

static bool has_p_key(const struct device_port *port, pkey_t p_key)
{
	unsigned cap = port->p_keys ? device_p_key_cap(port) : 1;

	for (unsigned i = 0; i < cap && p_key; i++) {
		if (device_p_key(port, i) == p_key)
			return true;
	}
	return false;
}

/* A GID of the port: each of its GUIDs with the subnet's prefix or the default prefix (4.1.1). */
static bool has_gid(const struct device_port *port, const uint8_t gid[GID_SIZE])
{
	uint64_t prefix = be64_load(gid);
	guid_t guid = be64_load(gid + sizeof(prefix));
	unsigned count = port->guids ? port->info.guid_cap : 1;

	if (prefix != port->info.gid_prefix && prefix != GID_PREFIX_DEFAULT)
		return false;
	for (unsigned i = 0; i < count && guid; i++) {
		if (device_guid(port, i) == guid)
			return true;
	}
	return false;
}

static bool has_source(const struct device_port *port, const struct ib_packet *packet)
{
	return packet->slid == port->info.lid || device_port_has_lid(port, packet->slid);
}

/* An SMP is for QP0 and comes from there, and both have VL15 to themselves (9.7, 14.2.1). */
static enum hca_refusal check_smp(const struct device_port *port, const struct ib_packet *packet)
{
	const uint8_t *mad = packet->transport + IB_BTH_SIZE + IB_DETH_SIZE;

	if (packet->vl != IB_VL_MANAGEMENT || packet->dst_qp || packet->src_qp ||
	    !packet->is_datagram || packet->has_grh || packet->pad || packet->payload != MAD_SIZE ||
	    packet->opcode != IB_OPCODE_UD_SEND_ONLY ||
	    (mad[1] != CLASS_SUBN_LID && mad[1] != CLASS_SUBN_DIRECTED))
		return HCA_VL15;
	if (packet->dlid == LID_NONE ||
	    (packet->dlid >= LID_MULTICAST_MIN && packet->dlid <= LID_MULTICAST_MAX) ||
	    (packet->dlid == LID_PERMISSIVE && mad[1] != CLASS_SUBN_DIRECTED))
		return HCA_BAD_DLID;
	if (packet->slid == LID_PERMISSIVE && packet->dlid == LID_PERMISSIVE)
		return HCA_ACCEPTED;
	return has_source(port, packet) ? HCA_ACCEPTED : HCA_BAD_SOURCE;
}

/* The classes of SMPs are not for QP1 (13.4.4). */
static bool is_gmp(const struct ib_packet *packet)
{
	const uint8_t *mad = packet->transport + IB_BTH_SIZE + IB_DETH_SIZE;

	return packet->opcode == IB_OPCODE_UD_SEND_ONLY && packet->payload == MAD_SIZE &&
	       mad[1] != CLASS_SUBN_LID && mad[1] != CLASS_SUBN_DIRECTED;
}

static enum hca_refusal check_packet(const struct device_port *port, const struct ib_packet *packet)
{
	bool multicast = packet->dlid >= LID_MULTICAST_MIN;

	if (packet->vl == IB_VL_MANAGEMENT || !packet->dst_qp ||
	    (packet->is_datagram && !packet->src_qp))
		return check_smp(port, packet);
	if (packet->dlid == LID_NONE || packet->dlid == LID_PERMISSIVE ||
	    multicast != (packet->dst_qp == IB_QP_MULTICAST) ||
	    (multicast && (!packet->is_datagram || !packet->has_grh)))
		return HCA_BAD_DLID;
	if (packet->dst_qp == 1 && !is_gmp(packet))
		return HCA_BAD_MAD;
	if (!port->info.lid || !has_source(port, packet) ||
	    (packet->has_grh && !has_gid(port, packet->grh.sgid)))
		return HCA_BAD_SOURCE;
	return has_p_key(port, packet->p_key) ? HCA_ACCEPTED : HCA_BAD_P_KEY;
}

/* The driver has made the first step of a directed route. */
static void begin_way(struct hca *hca, struct packet *packet)
{
	if (packet->is_smp && packet->dlid == LID_PERMISSIVE) {
		packet->slid = LID_PERMISSIVE;
		packet->out = packet->at;
		packet_emit(hca->world, packet);
		return;
	}
	packet_start_at(hca->world, packet, hca->world->now_ns);
}

static struct device_port *hca_port(const struct hca *hca, uint8_t num)
{
	return hca_is_started(hca) ? device_port(hca->device, num) : NULL;
}

/* The limits are those of one HCA, so that it leaves the others alone. */
static bool has_buffer(const struct world_node *node, const struct ib_packet *packet)
{
	return packet->dst_qp > 1 ? node->data < HCA_DATA_MAX : node->mads < HCA_MADS_MAX;
}

static enum hca_refusal hca_take(struct hca *hca, uint8_t num, const uint8_t *bytes, size_t size)
{
	struct device_port *port = hca_port(hca, num);
	enum hca_refusal refusal;
	struct ib_packet read;

	if (!port)
		return HCA_NO_PORT;
	if (ibpacket_read(bytes, size, &read))
		return HCA_MALFORMED;
	refusal = check_packet(port, &read);
	if (refusal)
		return refusal;
	if (!has_buffer(world_node_of(hca->device), &read))
		return HCA_NO_BUFFER;
	begin_way(hca, packet_read(hca->world, port, &read));
	return HCA_ACCEPTED;
}

enum hca_refusal hca_send(struct hca *hca, uint8_t port, const uint8_t *bytes, size_t size)
{
	enum hca_refusal refusal = hca_take(hca, port, bytes, size);

	if (refusal)
		hca->counts.refused[refusal]++;
	else
		hca->counts.sent++;
	return refusal;
}

const char *hca_refusal_name(enum hca_refusal refusal)
{
	static const char *const names[HCA_REFUSALS] = {
		[HCA_ACCEPTED] = "accepted",
		[HCA_MALFORMED] = "malformed",
		[HCA_NO_PORT] = "no such port",
		[HCA_VL15] = "VL15 or QP0",
		[HCA_BAD_MAD] = "no MAD for QP1",
		[HCA_BAD_DLID] = "destination LID",
		[HCA_BAD_SOURCE] = "source address",
		[HCA_BAD_P_KEY] = "P_Key",
		[HCA_NO_BUFFER] = "too many under way",
	};

	return names[refusal];
}

/* Requests of the driver */

/* A MAD of the host for its own port; a manager on the host answers SMInfo. */
bool hca_mad(struct hca *hca, uint8_t num, uint8_t mad[MAD_SIZE])
{
	const struct device_port *port = hca_port(hca, num);
	struct mad_header header;

	if (!port)
		return false;
	header_decode(mad, &header);
	if (header.mgmt_class != CLASS_PERF && header.attr_id == ATTR_SM_INFO &&
	    port->info.capability_mask & CAP_IS_SM)
		return false;
	hca->device->smp_slid = port->info.lid;
	return device_handle(hca->device, num, mad);
}

bool hca_modify(struct hca *hca, uint8_t num, uint32_t set, uint32_t clear)
{
	struct device_port *port = hca_port(hca, num);

	if (!port)
		return false;
	hca->caps[num] = (hca->caps[num] | (set & CAPS_OF_HOST)) & ~clear;
	device_set_capabilities(port, set, clear);
	hca_changed(hca);
	return true;
}

void hca_restore(struct hca *hca)
{
	for (unsigned p = 1; p <= hca->device->num_ports; p++)
		device_set_capabilities(&hca->device->port[p], hca->caps[p], 0);
}

void hca_describe(struct hca *hca, const uint8_t *text)
{
	char copy[NODE_DESC_SIZE + 1] = "";

	memcpy(copy, text, NODE_DESC_SIZE);
	if (strncmp(copy, (const char *)hca->device->description.text, NODE_DESC_SIZE) != 0)
		device_set_description(hca->device, copy);
}

const struct node_description *hca_description(const struct device *device)
{
	const struct hca *hca = hca_of(device);

	return hca ? &hca->description : &device->description;
}

bool hca_violation(struct hca *hca, uint8_t num, bool is_q_key, const uint8_t *bytes, size_t size)
{
	struct device_port *port = hca_port(hca, num);
	struct ib_packet read;
	struct device_packet keys;

	if (!port || ibpacket_read_headers(bytes, size, &read) ||
	    (read.dlid < LID_MULTICAST_MIN && !device_port_has_lid(port, read.dlid)))
		return false;
	keys = (struct device_packet){
		.slid = read.slid,
		.dlid = read.dlid,
		.sl = read.sl,
		.p_key = read.p_key,
		.q_key = read.q_key,
		.src_qp = read.src_qp,
		.dst_qp = read.dst_qp,
		.sgid = read.has_grh ? read.grh.sgid : NULL,
		.dgid = read.has_grh ? read.grh.dgid : NULL,
	};
	if (is_q_key)
		device_bad_q_key(port, &keys);
	else
		device_bad_p_key(port, &keys);
	return true;
}
