/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The way of a packet through a world. An SMP follows its directed route (route_smp.c) or, as all
 * other packets do, the LIDs in the switches' own tables. The VL of these other packets follows
 * from their SL and each sender's SLtoVL table. Each link takes hop_ns; if that is 0, a packet
 * makes its whole way within one event, unless a switch sends several copies. Its end is in
 * sim/arrival.c. Every end of a packet is counted, and each link's ends count it as the hardware of
 * ports does (mad/perf.h). Called by sim/world.c.
 *
 * A packet that passed as many tables as there are switches is in a loop, because no path without a
 * loop is longer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "mad/mad.h"
#include "sim/ib_packet.h"
#include "sim/route_smp.h"
#include "sim/world_parts.h"

enum { PACKETS_IN_SLAB = 64, HOP_POINTER_OFFSET = 6 };

struct packets {
	struct packets *next;
	struct packet packet[PACKETS_IN_SLAB];
};

static void slab_add(struct world *world)
{
	struct packets *slab = mem_zalloc(sizeof(*slab));

	slab->next = world->slabs;
	world->slabs = slab;
	for (size_t i = 0; i < PACKETS_IN_SLAB; i++)
		packet_free(world, &slab->packet[i]);
}

struct packet *packet_new(struct world *world)
{
	struct packet *packet;

	if (!world->spare)
		slab_add(world);
	packet = world->spare;
	world->spare = packet->next;
	memset(packet, 0, offsetof(struct packet, mad));
	packet->words = packet_words(false, MAD_TRANSPORT_SIZE);
	return packet;
}

struct packet *packet_copy(struct world *world, const struct packet *packet)
{
	struct packet *copy = packet_new(world);

	memcpy(copy, packet, packet->payload ? offsetof(struct packet, mad) : sizeof(*copy));
	if (copy->flight)
		copy->flight->copies++;
	if (copy->payload)
		copy->payload->holders++;
	if (copy->sender)
		++*packets_under_way(copy);
	return copy;
}

static void payload_leave(struct packet *packet)
{
	if (!--packet->payload->holders)
		free(packet->payload);
	packet->payload = NULL;
}

void packet_free(struct world *world, struct packet *packet)
{
	flight_leave(packet);
	if (packet->sender)
		--*packets_under_way(packet);
	packet->sender = NULL;
	if (packet->payload)
		payload_leave(packet);
	packet->next = world->spare;
	world->spare = packet;
}

void packets_done(struct world *world)
{
	while (world->slabs) {
		struct packets *slab = world->slabs;

		world->slabs = slab->next;
		for (size_t i = 0; i < PACKETS_IN_SLAB; i++)
			if (slab->packet[i].payload)
				payload_leave(&slab->packet[i]);
		free(slab);
	}
	flights_done(world);
}

void packet_drop(struct world *world, struct packet *packet, uint64_t *counter)
{
	++*counter;
	packet_free(world, packet);
}

static bool is_directed(const struct packet *packet)
{
	return packet->is_smp && packet->mad[1] == CLASS_SUBN_DIRECTED;
}

struct device_packet packet_keys(const struct packet *packet)
{
	return (struct device_packet){
		.slid = packet->slid,
		.dlid = packet->dlid,
		.sl = packet->sl,
		.p_key = packet->p_key,
		.q_key = packet->q_key,
		.src_qp = packet->src_qp,
		.dst_qp = packet->dst_qp,
		.sgid = packet->has_grh ? packet->grh.sgid : NULL,
		.dgid = packet->has_grh ? packet->grh.dgid : NULL,
	};
}

/* On its way */

enum verdict { HERE, LEAVES, SPREADS, NO_ROUTE, HOP_LIMIT, MALFORMED, KEY_IN, KEY_OUT };

int switch_out_port(const struct device *device, lid_t dlid)
{
	uint8_t out = device_lft_port(device, dlid);

	if (out > device->num_ports || (!out && !device_port_has_lid(&device->port[0], dlid)))
		return -EHOSTUNREACH;
	return out;
}

/* VL15 has no P_Keys, and no multicast. */
static bool packet_may_pass(const struct packet *packet, const struct device_port *port,
			    bool inbound)
{
	return packet->is_smp || device_port_admits(port, packet->p_key, inbound);
}

static bool spreads(const struct packet *packet)
{
	return !packet->is_smp && packet_is_multicast(packet);
}

/* A switch also forwards packets of its own by its table. */
static enum verdict step_by_lid(const struct world *world, struct packet *packet,
				struct device_port **out)
{
	struct device_port *at = packet->at;
	bool begins = packet->begins;
	int num;

	packet->begins = false;
	*out = at;
	if (begins && (packet->dlid == LID_PERMISSIVE ||
		       device_port_has_lid(world_end_port(at), packet->dlid)))
		return HERE;
	if (!device_is_switch(at->device)) {
		if (begins)
			return LEAVES;
		return device_port_has_lid(at, packet->dlid) || spreads(packet) ? HERE : NO_ROUTE;
	}
	if (!begins && !packet_may_pass(packet, at, true))
		return KEY_IN;
	if (spreads(packet))
		return SPREADS;
	num = switch_out_port(at->device, packet->dlid);
	if (num <= 0)
		return num ? NO_ROUTE : HERE;
	if (!begins && num == at->num)
		return NO_ROUTE;
	*out = &at->device->port[num];
	if (!packet_may_pass(packet, *out, false))
		return KEY_OUT;
	return ++packet->hops > world->num_switches ? HOP_LIMIT : LEAVES;
}

static enum verdict step_by_route(const struct world *world, struct packet *packet,
				  struct device_port **out)
{
	struct device_port *at = packet->at;
	lid_t lid;
	uint8_t num;

	packet->by_smi = packet->came;
	packet->hop_pointer = packet->mad[HOP_POINTER_OFFSET];
	switch (directed_step(packet->mad, device_is_switch(at->device), at->num, &num, &lid)) {
	case SMP_HERE:
		return HERE;
	case SMP_OUT_PORT:
		packet->slid = packet->dlid = LID_PERMISSIVE;
		*out = num ? device_port(at->device, num) : NULL;
		return *out ? LEAVES : NO_ROUTE;
	case SMP_BY_LID:
		packet->slid = world_end_port(at)->info.lid;
		packet->dlid = lid;
		packet->hops = 0;
		packet->begins = true;
		return step_by_lid(world, packet, out);
	default:
		return MALFORMED;
	}
}

/* Where a part by LID ends, the directed part begins. */
static enum verdict packet_step(const struct world *world, struct packet *packet,
				struct device_port **out)
{
	enum verdict verdict;

	packet->by_smi = false;
	if (!is_directed(packet))
		return step_by_lid(world, packet, out);
	if (packet->dlid == LID_PERMISSIVE)
		return step_by_route(world, packet, out);
	verdict = step_by_lid(world, packet, out);
	return verdict == HERE ? step_by_route(world, packet, out) : verdict;
}

/* The same for the VL that the SL has there, and for the length. A table may map an SL to VL15,
 * which discards its packets (7.6.6). */
static __attribute__((noinline)) uint64_t *data_obstacle(struct world *world, struct packet *packet,
							 const struct device_port *out)
{
	packet->vl = device_sl_to_vl(out->device, packet->at->num, out->num, packet->sl);
	if (packet->vl >= vls_of(out->info.operational_vls))
		return &world->stats.dropped_vl;
	if (packet->payload && packet->payload->data > mtu_bytes(out->info.neighbor_mtu))
		return &world->stats.dropped_mtu;
	return NULL;
}

/* NULL, or the counter of the reason why the packet cannot leave by this port. */
static uint64_t *obstacle(struct world *world, struct packet *packet, const struct device_port *out)
{
	struct world_stats *stats = &world->stats;

	if (out == world->eater)
		return &stats->dropped_by_fault;
	if (packet->outruns && out == packet->at)
		return NULL;
	if (!port_link_is_up(out))
		return &stats->dropped_link_down;
	if (packet->is_smp)
		return NULL;
	if (device_port_passes(out))
		return data_obstacle(world, packet, out);
	return device_port_matches(out) ? &stats->dropped_link_down : &stats->dropped_mismatch;
}

/* Sends the packet over the link: it arrives at the far end after the time on the link. */
static inline __attribute__((always_inline)) void go_out(struct world *world, struct packet *packet,
							 struct device_port *out)
{
	if (world->capture)
		world_capture_packet(world, packet, out);
	port_count_xmit(&out->counts, packet->words, packet_is_multicast(packet));
	packet->at = out->peer;
}

static void come_in(struct packet *packet)
{
	port_count_rcv(&packet->at->counts, packet->words, packet_is_multicast(packet));
	packet->came = true;
	packet->outruns = false;
}

/*
 * The port counters of a packet that goes no further (16.1.3.5). If a switch has no entry for its
 * LID, or one that leads back out of the input port, the input port counts it, also if its SL has
 * no operational VL. If the output port is down, its link does not match, or the packet exceeded
 * the lifetime limit of a switch, the output port counts it. A port that refuses a P_Key counts it,
 * and a trap is sent, too. An SMI without such a port counts nothing.
 */
static void count_refusal(const struct packet *packet, enum verdict verdict,
			  struct device_port *out, bool bad_vl)
{
	bool at_switch = device_is_switch(packet->at->device);
	bool by_lid = packet->dlid != LID_PERMISSIVE;
	bool bad_key = verdict == KEY_IN || verdict == KEY_OUT;

	if (at_switch && (bad_vl || (verdict == NO_ROUTE && by_lid)))
		port_count_error(&packet->at->counts, ERROR_RCV_SWITCH_RELAY);
	else if (verdict == LEAVES || verdict == HOP_LIMIT)
		port_count_error(&out->counts, ERROR_XMIT_DISCARD);
	else if (bad_key)
		port_count_error(&out->counts,
				 verdict == KEY_IN ? ERROR_RCV_CONSTRAINT : ERROR_XMIT_CONSTRAINT);
	if (bad_key) {
		struct device_packet keys = packet_keys(packet);

		device_bad_p_key(out, &keys);
	}
}

static void packet_refuse(struct world *world, struct packet *packet, enum verdict verdict,
			  struct device_port *out, uint64_t *obstacle)
{
	struct world_stats *stats = &world->stats;
	uint64_t *const reasons[] = {
		[LEAVES] = obstacle,
		[NO_ROUTE] = &stats->dropped_no_route,
		[HOP_LIMIT] = &stats->dropped_hop_limit,
		[MALFORMED] = &stats->dropped_malformed,
		[KEY_IN] = &stats->dropped_p_key,
		[KEY_OUT] = &stats->dropped_p_key,
	};

	count_refusal(packet, verdict, out, obstacle == &stats->dropped_vl);
	packet_drop(world, packet, reasons[verdict]);
}

static void move(struct world *world, struct packet *packet);

static void hopped(void *ctx, void *what, uint32_t number)
{
	struct world *world = ctx;
	struct packet *packet = what;

	(void)number;
	if (!packet->outruns && !port_link_is_up(packet->at)) {
		packet_drop(world, packet, &world->stats.dropped_link_down);
		return;
	}
	come_in(packet);
	move(world, packet);
}

/* A virtual HCA that floods a large group would need memory and time without end. */
static bool has_room(const struct packet *packet)
{
	return !packet->sender || *packets_under_way(packet) < HCA_DATA_MAX;
}

/* Sends a copy of the packet by a port, or to the switch itself. */
static void send_copy(struct world *world, const struct packet *packet, struct device_port *out)
{
	struct packet *copy;
	uint64_t *reason;

	if (!has_room(packet)) {
		port_count_error(&out->counts, ERROR_XMIT_DISCARD);
		world->stats.dropped_copies++;
		return;
	}
	copy = packet_copy(world, packet);
	if (!out->num) {
		packet_arrive(world, copy);
	} else if (!packet_may_pass(copy, out, false)) {
		packet_refuse(world, copy, KEY_OUT, out, NULL);
	} else if ((reason = obstacle(world, copy, out))) {
		packet_refuse(world, copy, LEAVES, out, reason);
	} else {
		go_out(world, copy, out);
		events_add(&world->events, world->now_ns + world->options.hop_ns, hopped, copy, 0);
	}
}

/* Each copy is an event of its own, also without link delays, so that copies in a loop need no
 * stack. */
static void spread(struct world *world, struct packet *packet)
{
	struct device_port *in = packet->at;
	struct device *device = in->device;
	bool any = false;

	packet->outruns = false;
	if (!flight_enter(world, packet)) {
		packet_drop(world, packet, &world->stats.dropped_circle);
		return;
	}
	for (unsigned num = 0; num <= device->num_ports; num++) {
		if (!device_mft_forwards(device, packet->dlid, in->num, num))
			continue;
		any = true;
		send_copy(world, packet, &device->port[num]);
	}
	if (any)
		packet_free(world, packet);
	else
		packet_refuse(world, packet, NO_ROUTE, in, NULL);
}

/* Sends the packet by that port, unless it is refused. True: it arrived at once, because links take
 * no time. */
static bool packet_leave(struct world *world, struct packet *packet, struct device_port *out)
{
	uint64_t *reason = obstacle(world, packet, out);

	if (reason) {
		packet_refuse(world, packet, LEAVES, out, reason);
		return false;
	}
	go_out(world, packet, out);
	if (world->options.hop_ns) {
		events_add(&world->events, world->now_ns + world->options.hop_ns, hopped, packet,
			   0);
		return false;
	}
	come_in(packet);
	return true;
}

void packet_pass_on(struct world *world, struct packet *packet)
{
	if (packet_leave(world, packet, packet->out))
		move(world, packet);
}

static void emitted(void *ctx, void *what, uint32_t number)
{
	(void)number;
	packet_pass_on(ctx, what);
}

void packet_emit(struct world *world, struct packet *packet)
{
	events_add(&world->events, world->now_ns, emitted, packet, 0);
}

static void move(struct world *world, struct packet *packet)
{
	struct device_port *out = NULL;

	do {
		enum verdict verdict = packet_step(world, packet, &out);

		if (verdict == HERE) {
			packet_arrive(world, packet);
			return;
		}
		if (verdict == SPREADS) {
			spread(world, packet);
			return;
		}
		if (verdict != LEAVES) {
			packet_refuse(world, packet, verdict, out, NULL);
			return;
		}
		if (packet->by_smi && world->options.smp_transit_us) {
			packet->out = out;
			smi_give(world, packet, world->options.smp_transit_us, packet_pass_on);
			return;
		}
	} while (packet_leave(world, packet, out));
}

static void started(void *ctx, void *what, uint32_t number)
{
	(void)number;
	move(ctx, what);
}

void packet_start(struct world *world, struct packet *packet)
{
	packet->begins = true;
	move(world, packet);
}

void packet_start_at(struct world *world, struct packet *packet, uint64_t at_ns)
{
	packet->begins = true;
	events_add(&world->events, at_ns, started, packet, 0);
}
