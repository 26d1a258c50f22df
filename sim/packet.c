/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The way of a MAD through a world. An SMP follows its directed route (route_smp.c) or, as a GMP
 * always does, the LIDs in the switches' own tables. Each link takes hop_ns; where that is 0, a
 * packet makes its whole way within one event, and only what it meets at its end waits for
 * anything. At its end a MAD meets the random faults, then an agent, which serves one SMP at a
 * time, or the programs of the port. Whatever becomes of a packet is counted where it ends, and
 * each link's ends count it as the hardware of ports does (sma/perf.h). Called by sim/world.c.
 *
 * A packet that went through as many tables as there are switches goes round in a circle, for no
 * shortest or longest way without one has more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "mad/mad.h"
#include "sim/route_smp.h"
#include "sim/world_parts.h"

enum { PPM = 1000000, NS_PER_US = 1000, PACKETS_IN_SLAB = 64 };

struct packets {
	struct packets *next;
	struct packet packet[PACKETS_IN_SLAB];
};

static void slab_add(struct world *world)
{
	struct packets *slab = mem_alloc(sizeof(*slab));

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
	return packet;
}

void packet_free(struct world *world, struct packet *packet)
{
	packet->next = world->spare;
	world->spare = packet;
}

void packets_done(struct world *world)
{
	while (world->slabs) {
		struct packets *slab = world->slabs;

		world->slabs = slab->next;
		free(slab);
	}
}

static bool link_is_up(const struct device_port *port)
{
	return port->peer && port->info.port_physical_state == PHYS_LINK_UP;
}

static void drop(struct world *world, struct packet *packet, uint64_t *counter)
{
	++*counter;
	packet_free(world, packet);
}

static bool is_directed(const struct packet *packet)
{
	return packet->mad[1] == CLASS_SUBN_DIRECTED;
}

/* The port that a LID, an agent's notices and programs of this node belong to. */
static struct device_port *end_port(struct device_port *at)
{
	return device_is_switch(at->device) ? &at->device->port[0] : at;
}

/* At its end */

static bool hears_sm(const struct world_client *client)
{
	return client->is_sm || client->hears_all;
}

static bool has_sm(const struct device_port *port)
{
	list_for_each (link, &node_of(port->device)->clients) {
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

/* Answers are for programs; so is SMInfo, where one of them is a manager (14.4), and of general
 * MADs all but those of class 4, which an adapter's driver answers before any program sees them. */
static bool is_for_agent(const struct packet *packet, const struct mad_header *header)
{
	if (header->method & METHOD_RESPONSE)
		return false;
	if (!packet->is_smp)
		return header->mgmt_class == CLASS_PERF;
	if (header->method == METHOD_TRAP)
		return false;
	return header->attr_id != ATTR_SM_INFO || !has_sm(end_port(packet->at));
}

static void count_smp(struct world *world, struct device *device, const struct mad_header *header)
{
	unsigned row = header->attr_id < WORLD_ATTRS ? header->attr_id : WORLD_ATTRS;

	world->stats.smps++;
	node_of(device)->smps++;
	world->stats.gets[row] += header->method == METHOD_GET;
	world->stats.sets[row] += header->method == METHOD_SET;
}

static void source_of(const struct packet *packet, struct mad_addr *from)
{
	const struct device_port *port = end_port(packet->at);

	*from = (struct mad_addr){
		.lid = packet->slid,
		.qpn = packet->is_smp ? 0 : 1,
		.sl = packet->sl,
		.pkey_index = packet->pkey_index,
		.has_grh = packet->has_grh,
		.grh = packet->grh,
	};
	if (device_port_has_lid(port, packet->dlid))
		from->path_bits = packet->dlid - port->info.lid;
}

/* Programs may come and go meanwhile: who is gone stays in the list until the event is over. */
static bool tell_clients(struct packet *packet, bool sm_only)
{
	const struct device_port *port = end_port(packet->at);
	struct mad_addr from;
	bool heard = false;

	source_of(packet, &from);
	list_for_each (link, &node_of(port->device)->clients) {
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

	if (!tell_clients(packet, packet->is_smp && is_for_sm(header))) {
		drop(world, packet, &stats->dropped_no_client);
		return;
	}
	stats->smps += packet->is_smp;
	stats->gmps += !packet->is_smp;
	stats->traps += packet->is_smp && header->method == METHOD_TRAP;
	packet_free(world, packet);
}

static void grh_turn(struct mad_grh *grh)
{
	uint8_t to[GID_SIZE];

	memcpy(to, grh->sgid, GID_SIZE);
	memcpy(grh->sgid, grh->dgid, GID_SIZE);
	memcpy(grh->dgid, to, GID_SIZE);
}

/* The answer to what came by a directed route turns round on it; anything else goes to whom the
 * request came from, by LID. */
static void answer(struct world *world, struct packet *packet)
{
	lid_t to = packet->slid;

	packet->slid = packet->dlid;
	packet->dlid = to;
	packet->hops = 0;
	packet->begins = true;
	packet->came = false;
	if (packet->has_grh)
		grh_turn(&packet->grh);
	packet_start(world, packet);
}

static void serve(struct world *world, struct packet *packet)
{
	struct device *device = packet->at->device;
	struct mad_header header;

	if (device->quirks.silent) {
		drop(world, packet, &world->stats.dropped_silent);
		return;
	}
	header_decode(packet->mad, &header);
	if (packet->is_smp)
		count_smp(world, device, &header);
	else
		world->stats.gmps++;
	packet->outruns = link_is_up(packet->at);
	world->serving = packet->mad;
	if (device_handle(device, packet->at->num, packet->mad))
		answer(world, packet);
	else
		packet_free(world, packet);
}

static void served(void *ctx, void *what, uint32_t number);

static unsigned service_us(const struct world *world, const struct device *device)
{
	return device->quirks.service_us ? device->quirks.service_us : world->options.smp_us;
}

static void begin_service(struct world *world, struct packet *packet)
{
	struct device *device = packet->at->device;

	node_of(device)->busy = true;
	events_add(&world->events, world->now_ns + (uint64_t)service_us(world, device) * NS_PER_US,
		   served, packet, 0);
}

static void served(void *ctx, void *what, uint32_t number)
{
	struct world *world = ctx;
	struct packet *packet = what;
	struct world_node *node = node_of(packet->at->device);
	struct packet *next = node->first;

	(void)number;
	node->busy = false;
	if (next) {
		node->first = next->next;
		node->waiting--;
		begin_service(world, next);
	}
	serve(world, packet);
}

static void wait_for_agent(struct world_node *node, struct packet *packet)
{
	packet->next = NULL;
	if (node->first)
		node->last->next = packet;
	else
		node->first = packet;
	node->last = packet;
	node->waiting++;
}

/* Other VLs have flow control: what comes there never lacks a buffer. */
static void give_to_agent(struct world *world, struct packet *packet)
{
	struct world_node *node = node_of(packet->at->device);
	unsigned depth = world->options.vl15_depth;

	if (!service_us(world, packet->at->device) || !packet->is_smp) {
		serve(world, packet);
	} else if (!node->busy) {
		begin_service(world, packet);
	} else if (!depth || node->waiting < depth) {
		wait_for_agent(node, packet);
	} else {
		port_count_error(&packet->at->counts, ERROR_VL15_DROPPED);
		drop(world, packet, &world->stats.dropped_vl15);
	}
}

static void deliver(struct world *world, struct packet *packet)
{
	struct mad_header header;

	header_decode(packet->mad, &header);
	if (is_for_agent(packet, &header))
		give_to_agent(world, packet);
	else
		give_to_clients(world, packet, &header);
}

static void deliver_later(void *ctx, void *what, uint32_t number)
{
	(void)number;
	deliver(ctx, what);
}

static bool happens(struct world *world, unsigned ppm)
{
	return ppm && world_random(world) % PPM < ppm;
}

static void duplicate(struct world *world, const struct packet *packet)
{
	struct packet *copy = packet_new(world);

	*copy = *packet;
	world->stats.duplicated++;
	events_add(&world->events, world->now_ns, deliver_later, copy, 0);
}

/* What is lost by chance was damaged on the last link. */
static void lose(struct world *world, struct packet *packet)
{
	if (packet->came)
		port_count_error(&packet->at->counts, ERROR_RCV);
	drop(world, packet, &world->stats.dropped_by_fault);
}

/* Only within the header: what a device sends in the rest cannot be told from what it means. */
static void garble(struct world *world, struct packet *packet)
{
	packet->mad[world_random(world) % MAD_HEADER_SIZE] ^= 1u << world_random(world) % 8;
	world->stats.garbled++;
}

static bool is_answer(const struct packet *packet)
{
	return packet->mad[3] & METHOD_RESPONSE;
}

static void arrive(struct world *world, struct packet *packet)
{
	const struct world_node *node = node_of(packet->at->device);
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
		deliver(world, packet);
		return;
	}
	world->stats.delayed++;
	events_add(&world->events,
		   world->now_ns + NS_PER_US * (1 + world_random(world) % faults->delay_us),
		   deliver_later, packet, 0);
}

/* On its way */

enum verdict { HERE, LEAVES, NO_ROUTE, HOP_LIMIT, MALFORMED };

int switch_out_port(const struct device *device, lid_t dlid)
{
	uint8_t out = device_lft_port(device, dlid);

	if (out > device->num_ports || (!out && !device_port_has_lid(&device->port[0], dlid)))
		return -EHOSTUNREACH;
	return out;
}

/* A switch finds itself in its table, too, but for what it made itself. */
static enum verdict step_by_lid(const struct world *world, struct packet *packet,
				struct device_port **out)
{
	struct device_port *at = packet->at;
	bool begins = packet->begins;
	int num;

	packet->begins = false;
	*out = at;
	if (begins &&
	    (packet->dlid == LID_PERMISSIVE || device_port_has_lid(end_port(at), packet->dlid)))
		return HERE;
	if (!device_is_switch(at->device)) {
		if (device_port_has_lid(at, packet->dlid))
			return HERE;
		return begins ? LEAVES : NO_ROUTE;
	}
	num = switch_out_port(at->device, packet->dlid);
	if (num <= 0)
		return num ? NO_ROUTE : HERE;
	*out = &at->device->port[num];
	return ++packet->hops > world->num_switches ? HOP_LIMIT : LEAVES;
}

static enum verdict step_by_route(const struct world *world, struct packet *packet,
				  struct device_port **out)
{
	struct device_port *at = packet->at;
	lid_t lid;
	uint8_t num;

	switch (directed_step(packet->mad, device_is_switch(at->device), at->num, &num, &lid)) {
	case SMP_HERE:
		return HERE;
	case SMP_OUT_PORT:
		packet->slid = packet->dlid = LID_PERMISSIVE;
		*out = num ? device_port(at->device, num) : NULL;
		return *out ? LEAVES : NO_ROUTE;
	case SMP_BY_LID:
		packet->slid = end_port(at)->info.lid;
		packet->dlid = lid;
		packet->hops = 0;
		packet->begins = true;
		return step_by_lid(world, packet, out);
	default:
		return MALFORMED;
	}
}

/* Where a part of the way that goes by LID ends, the directed part begins. */
static enum verdict step(const struct world *world, struct packet *packet, struct device_port **out)
{
	enum verdict verdict;

	if (!is_directed(packet))
		return step_by_lid(world, packet, out);
	if (packet->dlid == LID_PERMISSIVE)
		return step_by_route(world, packet, out);
	verdict = step_by_lid(world, packet, out);
	return verdict == HERE ? step_by_route(world, packet, out) : verdict;
}

/* NULL, or the counter of why the packet cannot leave by this port. */
static uint64_t *obstacle(struct world *world, const struct packet *packet,
			  const struct device_port *out)
{
	struct world_stats *stats = &world->stats;

	if (out == world->eater)
		return &stats->dropped_by_fault;
	if (packet->outruns && out == packet->at)
		return NULL;
	if (!link_is_up(out))
		return &stats->dropped_link_down;
	if (packet->is_smp || device_port_passes(out))
		return NULL;
	return device_port_matches(out) ? &stats->dropped_link_down : &stats->dropped_mismatch;
}

/* LRH, BTH, DETH, the MAD and ICRC; a GRH. In words of 4 bytes. */
enum { PACKET_WORDS = (8 + 12 + 8 + MAD_SIZE + 4) / 4, GRH_WORDS = 40 / 4 };

static unsigned words_of(const struct packet *packet)
{
	return packet->has_grh ? PACKET_WORDS + GRH_WORDS : PACKET_WORDS;
}

static bool is_multicast(const struct packet *packet)
{
	return packet->dlid >= LID_MULTICAST_MIN && packet->dlid <= LID_MULTICAST_MAX;
}

/* Onto the link: its far end has it when its time on the link is over. */
static void go_out(struct packet *packet, struct device_port *out)
{
	port_count_xmit(&out->counts, words_of(packet), is_multicast(packet));
	packet->at = out->peer;
}

static void come_in(struct packet *packet)
{
	port_count_rcv(&packet->at->counts, words_of(packet), is_multicast(packet));
	packet->came = true;
	packet->outruns = false;
}

/*
 * What the ports count of a packet that goes no further (16.1.3.5): the port in, where a switch
 * knows no way for its LID; the port out, where that is down or its link does not fit, and where
 * the packet went round for longer than a switch's lifetime limit. An SMI that has no such port
 * counts nothing.
 */
static void count_refusal(const struct packet *packet, enum verdict verdict,
			  struct device_port *out)
{
	bool by_lid = packet->dlid != LID_PERMISSIVE;

	if (verdict == LEAVES || verdict == HOP_LIMIT)
		port_count_error(&out->counts, ERROR_XMIT_DISCARD);
	else if (verdict == NO_ROUTE && by_lid && device_is_switch(packet->at->device))
		port_count_error(&packet->at->counts, ERROR_RCV_SWITCH_RELAY);
}

static void refuse(struct world *world, struct packet *packet, enum verdict verdict,
		   struct device_port *out, uint64_t *obstacle)
{
	struct world_stats *stats = &world->stats;
	uint64_t *const reasons[] = {
		[LEAVES] = obstacle,
		[NO_ROUTE] = &stats->dropped_no_route,
		[HOP_LIMIT] = &stats->dropped_hop_limit,
		[MALFORMED] = &stats->dropped_malformed,
	};

	count_refusal(packet, verdict, out);
	drop(world, packet, reasons[verdict]);
}

static void move(struct world *world, struct packet *packet);

static void hopped(void *ctx, void *what, uint32_t number)
{
	struct world *world = ctx;
	struct packet *packet = what;

	(void)number;
	if (!packet->outruns && !link_is_up(packet->at)) {
		drop(world, packet, &world->stats.dropped_link_down);
		return;
	}
	come_in(packet);
	move(world, packet);
}

static void move(struct world *world, struct packet *packet)
{
	struct device_port *out = NULL;

	for (;;) {
		enum verdict verdict = step(world, packet, &out);
		uint64_t *reason = verdict == LEAVES ? obstacle(world, packet, out) : NULL;

		if (verdict == HERE) {
			arrive(world, packet);
			return;
		}
		if (verdict != LEAVES || reason) {
			refuse(world, packet, verdict, out, reason);
			return;
		}
		go_out(packet, out);
		if (world->options.hop_ns) {
			events_add(&world->events, world->now_ns + world->options.hop_ns, hopped,
				   packet, 0);
			return;
		}
		come_in(packet);
	}
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
