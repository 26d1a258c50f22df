/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The last part of a packet's way through a world. Random faults come first. If it is a GMP, the
 * port then checks its keys. At last an agent, which serves one SMP at a time, the programs of the
 * port or the driver of its virtual HCA receive it. The driver checks the keys of its other QPs.
 * The answer of an agent begins a way of its own. Called by sim/packet.c, on the world's thread; it
 * takes over the packet.
 */
#include <string.h>

#include "lib/be.h"
#include "lib/random.h"
#include "mad/mad.h"
#include "sim/world_parts.h"

enum { PPM = 1000000, NS_PER_US = 1000 };

static bool hears_sm(const struct world_client *client)
{
	return client->is_sm || client->hears_all;
}

static bool has_sm(const struct device_port *port)
{
	if (world_node_of(port->device)->hca)
		return port->info.capability_mask & CAP_IS_SM;
	list_for_each (link, &world_node_of(port->device)->clients) {
		const struct world_client *client = container_of(link, struct world_client, link);

		if (client->port == port && hears_sm(client) && !client->gone)
			return true;
	}
	return false;
}

static bool is_for_sm(const struct mad_header *header)
{
	return header->method == METHOD_TRAP ||
	       (header->attr_id == ATTR_SM_INFO && !(header->method & METHOD_RESPONSE));
}

/* Programs get answers, and SMInfo if one of them is a manager (14.4). Of general MADs they get all
 * but those of class 4, which an adapter's driver answers before any program sees them. */
static bool is_for_agent(const struct packet *packet, const struct mad_header *header)
{
	if (header->method & METHOD_RESPONSE)
		return false;
	if (!packet->is_smp)
		return header->mgmt_class == CLASS_PERF && packet->dst_qp == 1;
	if (header->method == METHOD_TRAP)
		return false;
	return header->attr_id != ATTR_SM_INFO || !has_sm(world_end_port(packet->at));
}

static void count_smp(struct world *world, struct device *device, const struct mad_header *header)
{
	unsigned row = header->attr_id < WORLD_ATTRS ? header->attr_id : WORLD_ATTRS;

	world->stats.smps++;
	world_node_of(device)->smps++;
	world->stats.gets[row] += header->method == METHOD_GET;
	world->stats.sets[row] += header->method == METHOD_SET;
}

static void source_of(const struct packet *packet, struct mad_addr *from)
{
	const struct device_port *port = world_end_port(packet->at);

	*from = (struct mad_addr){
		.lid = packet->slid,
		.qpn = packet->src_qp,
		.sl = packet->sl,
		.pkey_index = packet->pkey_index,
		.has_grh = packet->has_grh,
		.grh = packet->grh,
	};
	if (device_port_has_lid(port, packet->dlid))
		from->path_bits = packet->dlid - port->info.lid;
}

/* Programs may attach and detach during the calls: a detached program stays in the list until the
 * event ends. */
static bool tell_clients(struct packet *packet, bool sm_only)
{
	const struct device_port *port = world_end_port(packet->at);
	struct mad_addr from;
	bool heard = false;

	source_of(packet, &from);
	list_for_each (link, &world_node_of(port->device)->clients) {
		struct world_client *client = container_of(link, struct world_client, link);

		if (client->port != port || client->gone || (sm_only && !hears_sm(client)))
			continue;
		client->received(client->ctx, &from, packet->mad, MAD_SIZE);
		heard = true;
	}
	return heard;
}

static void give_to_clients(struct world *world, struct packet *packet,
			    const struct mad_header *header)
{
	struct world_stats *stats = &world->stats;
	bool sm_only = packet->is_smp && is_for_sm(header);
	bool is_hca = world_node_of(packet->at->device)->hca;

	if (is_hca ? sm_only && !has_sm(world_end_port(packet->at))
		   : packet->dst_qp > 1 || !tell_clients(packet, sm_only)) {
		packet_drop(world, packet, &stats->dropped_no_client);
		return;
	}
	stats->smps += packet->is_smp;
	stats->gmps += !packet->is_smp;
	stats->traps += packet->is_smp && header->method == METHOD_TRAP;
	if (is_hca)
		hca_receive(world, packet);
	else
		packet_free(world, packet);
}

/* The driver of a virtual HCA has the QPs. No program has a QP of its own. */
static void give_data(struct world *world, struct packet *packet)
{
	if (!world_node_of(packet->at->device)->hca) {
		packet_drop(world, packet, &world->stats.dropped_no_qp);
		return;
	}
	world->stats.data++;
	hca_receive(world, packet);
}

/* No answer has a group as its source. */
static void grh_turn(const struct device_port *port, struct mad_grh *grh)
{
	bool to_group = grh->dgid[0] == 0xFF;
	uint8_t to[GID_SIZE];

	memcpy(to, grh->sgid, GID_SIZE);
	memcpy(grh->sgid, grh->dgid, GID_SIZE);
	memcpy(grh->dgid, to, GID_SIZE);
	if (to_group) {
		be64_store(grh->sgid, port->info.gid_prefix);
		be64_store(grh->sgid + sizeof(guid_t), port->guid);
	}
}

/* The answer to a directed SMP returns on its route; any other answer goes by LID to the source of
 * the request. A switch sends a GMP from port 0, whose SLs may have other VLs. */
static void packet_answer(struct world *world, struct packet *packet)
{
	struct device_port *port = world_end_port(packet->at);
	lid_t to = packet->slid;

	packet->slid = packet_is_multicast(packet) ? port->info.lid : packet->dlid;
	packet->dlid = to;
	packet->hops = 0;
	packet->begins = true;
	packet->came = false;
	if (packet->has_grh)
		grh_turn(port, &packet->grh);
	if (!packet->is_smp) {
		packet->at = port;
		packet->p_key = device_p_key(port, packet->pkey_index);
		packet->dst_qp = packet->src_qp;
		packet->src_qp = 1;
	}
	flight_leave(packet);
	packet_start(world, packet);
}

static void packet_serve(struct world *world, struct packet *packet)
{
	struct device *device = packet->at->device;
	struct mad_header header;

	if (device->quirks.silent) {
		packet_drop(world, packet, &world->stats.dropped_silent);
		return;
	}
	header_decode(packet->mad, &header);
	if (packet->is_smp)
		count_smp(world, device, &header);
	else
		world->stats.gmps++;
	packet->outruns = port_link_is_up(packet->at);
	world->serving = packet->mad;
	device->smp_slid = packet->slid;
	if (device_handle(device, packet->at->num, packet->mad))
		packet_answer(world, packet);
	else
		packet_free(world, packet);
}

static unsigned service_us(struct world *world, const struct device *device)
{
	unsigned spread_us = device->quirks.service_spread_us;
	unsigned us = device->quirks.service_us ? device->quirks.service_us : world->options.smp_us;

	return spread_us ? us + (unsigned)(random_next(&world->random) % spread_us) : us;
}

/* Other VLs have flow control: their packets never lack a buffer. */
static void give_to_agent(struct world *world, struct packet *packet)
{
	if (packet->is_smp)
		smi_give(world, packet, service_us(world, packet->at->device), packet_serve);
	else
		packet_serve(world, packet);
}

/* The receiver sees the index in its own P_Key table. */
static bool has_good_keys(struct world *world, struct packet *packet)
{
	struct device_port *port = world_end_port(packet->at);
	struct device_packet keys = packet_keys(packet);
	int index = device_p_key_match(port, packet->p_key);

	if (index < 0) {
		device_bad_p_key(port, &keys);
		world->stats.dropped_p_key++;
		return false;
	}
	if (packet->dst_qp == 1 && packet->q_key != QP1_Q_KEY) {
		device_bad_q_key(port, &keys);
		world->stats.dropped_q_key++;
		return false;
	}
	packet->pkey_index = index;
	return true;
}

static void packet_deliver(struct world *world, struct packet *packet)
{
	struct mad_header header;

	if (packet->payload) {
		give_data(world, packet);
		return;
	}
	if (!packet->is_smp && !has_good_keys(world, packet)) {
		packet_free(world, packet);
		return;
	}
	header_decode(packet->mad, &header);
	if (is_for_agent(packet, &header))
		give_to_agent(world, packet);
	else
		give_to_clients(world, packet, &header);
}

static void deliver_later(void *ctx, void *what, uint32_t number)
{
	(void)number;
	packet_deliver(ctx, what);
}

static bool happens(struct world *world, unsigned ppm)
{
	return ppm && random_next(&world->random) % PPM < ppm;
}

static void duplicate(struct world *world, const struct packet *packet)
{
	struct packet *copy = packet_copy(world, packet);

	world->stats.duplicated++;
	events_add(&world->events, world->now_ns, deliver_later, copy, 0);
}

/* A random loss counts as damage on the last link. */
static void lose(struct world *world, struct packet *packet)
{
	if (packet->came)
		port_count_error(&packet->at->counts, ERROR_RCV);
	packet_drop(world, packet, &world->stats.dropped_by_fault);
}

/* Changes only the header: random values in the rest would be indistinguishable from valid
 * content. */
static void garble(struct world *world, struct packet *packet)
{
	unsigned bit = random_next(&world->random) % 8;

	packet->mad[random_next(&world->random) % MAD_HEADER_SIZE] ^= 1u << bit;
	world->stats.garbled++;
}

static bool is_answer(const struct packet *packet)
{
	return !packet->payload && packet->mad[3] & METHOD_RESPONSE;
}

void packet_arrive(struct world *world, struct packet *packet)
{
	const struct world_node *node = world_node_of(packet->at->device);
	const struct world_faults *faults = node->faults ? node->faults : &world->faults;

	if (happens(world, faults->drop_ppm)) {
		lose(world, packet);
		return;
	}
	if (is_answer(packet) && happens(world, faults->garble_ppm))
		garble(world, packet);
	if (happens(world, faults->duplicate_ppm))
		duplicate(world, packet);
	if (!happens(world, faults->delay_ppm) || !faults->delay_us) {
		packet_deliver(world, packet);
		return;
	}
	world->stats.delayed++;
	events_add(&world->events,
		   world->now_ns + NS_PER_US * (1 + random_next(&world->random) % faults->delay_us),
		   deliver_later, packet, 0);
}
