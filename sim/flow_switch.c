/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets of a flow at ports: arrival and routing, queues, credits, sending, lifetimes. See flow.h
 * for the model.
 *
 * Credits on their way back are not events: each channel has a list of them by time, and looks into
 * it when it has a packet to send. Only if a port has packets and no credits, an event wakes it.
 * Likewise, a port has at most one valid event for the lifetimes of its heads.
 */
#include <assert.h>

#include "sim/flow_parts.h"

enum { STALL_LIVES = 8, KEY_BITS = 64 };

/* Packets */

uint32_t flow_packet_new(struct flow *flow)
{
	uint32_t packet = flow->spare_packet;

	if (packet != FLOW_NONE) {
		flow->spare_packet = flow->packets[packet].next;
		return packet;
	}
	flow->packets = mem_grow(flow->packets, flow->num_packets, sizeof(*flow->packets));
	return (uint32_t)flow->num_packets++;
}

void flow_packet_free(struct flow *flow, uint32_t packet)
{
	flow->packets[packet].used = false;
	flow->packets[packet].next = flow->spare_packet;
	flow->spare_packet = packet;
}

static uint64_t packet_words(const struct flow_packet *packet)
{
	return (packet->bytes - FLOW_VCRC_BYTES) / FLOW_WORD_BYTES;
}

/* Credits */

static uint32_t flow_back_new(struct flow *flow)
{
	uint32_t back = flow->spare_back;

	if (back != FLOW_NONE) {
		flow->spare_back = flow->backs[back].next;
		return back;
	}
	flow->backs = mem_grow(flow->backs, flow->num_backs, sizeof(*flow->backs));
	return (uint32_t)flow->num_backs++;
}

/* One valid event wakes the port; an earlier one replaces it. */
static void port_wake_at(struct flow *flow, uint32_t p, uint64_t due_ps)
{
	struct flow_port *port = &flow->ports[p];

	if (port->credits_ps <= due_ps)
		return;
	port->credits_ps = due_ps;
	flow_event_add(flow, due_ps, FLOW_CREDITS, p, 0);
}

/* Blocks of an input port's buffer are free: the port at the other end gets the credits. */
static void buffer_free(struct flow *flow, uint32_t in, unsigned vl, uint16_t blocks)
{
	uint32_t sender = flow->ports[in].peer, back = flow_back_new(flow);
	struct flow_channel_state *channel = flow_channel_of(flow, sender, vl);
	const struct flow_port *port = &flow->ports[sender];
	uint64_t due_ps = flow->now_ps + flow->options.link_ps;

	flow->backs[back] = (struct flow_back){due_ps, FLOW_NONE, blocks};
	if (channel->back_last == FLOW_NONE)
		channel->back_first = back;
	else
		flow->backs[channel->back_last].next = back;
	channel->back_last = back;
	if (!port->busy && port->waiting >> vl & 1)
		port_wake_at(flow, sender, due_ps);
}

static void channel_collect(struct flow *flow, struct flow_channel_state *channel)
{
	while (channel->back_first != FLOW_NONE) {
		uint32_t back = channel->back_first;

		if (flow->backs[back].due_ps > flow->now_ps)
			return;
		channel->credits += flow->backs[back].blocks;
		assert(channel->credits <= flow->buffer_blocks);
		channel->back_first = flow->backs[back].next;
		if (channel->back_first == FLOW_NONE)
			channel->back_last = FLOW_NONE;
		flow->backs[back].next = flow->spare_back;
		flow->spare_back = back;
	}
}

/* Queues */

static void channel_append(struct flow *flow, uint32_t port, unsigned vl, uint32_t input)
{
	struct flow_channel_state *channel = flow_channel_of(flow, port, vl);

	flow_queue_of(flow, port, vl, input)->next_input = FLOW_NONE;
	if (channel->last == FLOW_NONE)
		channel->first = input;
	else
		flow_queue_of(flow, port, vl, channel->last)->next_input = input;
	channel->last = input;
	flow->ports[port].waiting |= 1u << vl;
}

/* The time at which the head of a queue for a port must have left. */
static uint64_t head_deadline_ps(const struct flow *flow, const struct flow_port *port,
				 const struct flow_packet *head)
{
	uint64_t life_ps = flow->nodes[port->node].life_ps;
	uint64_t hoq_ps = port->hoq_ps == FLOW_NEVER ? FLOW_NEVER : head->head_ps + port->hoq_ps;

	life_ps = life_ps == FLOW_NEVER ? FLOW_NEVER : head->arrived_ps + life_ps;
	return hoq_ps < life_ps ? hoq_ps : life_ps;
}

static void port_expire_at(struct flow *flow, uint32_t p, uint64_t due_ps)
{
	struct flow_port *port = &flow->ports[p];

	if (port->expired_ps <= due_ps)
		return;
	port->expired_ps = due_ps;
	flow_event_add(flow, due_ps, FLOW_EXPIRED, p, 0);
}

/* A packet has become the head of the queue of an input, which takes its turn last. */
static void head_begins(struct flow *flow, uint32_t port, unsigned vl, uint32_t input)
{
	struct flow_packet *head = &flow->packets[flow_queue_of(flow, port, vl, input)->head];

	head->head_ps = flow->now_ps;
	channel_append(flow, port, vl, input);
	port_expire_at(flow, port, head_deadline_ps(flow, &flow->ports[port], head));
}

/* Takes the head out of the queue of an input. before is the input in front of it in the channel's
 * list, FLOW_NONE for the first. */
static uint32_t head_take(struct flow *flow, uint32_t port, unsigned vl, uint32_t input,
			  uint32_t before)
{
	struct flow_channel_state *channel = flow_channel_of(flow, port, vl);
	struct flow_queue *queue = flow_queue_of(flow, port, vl, input);
	uint32_t packet = queue->head;

	if (before == FLOW_NONE)
		channel->first = queue->next_input;
	else
		flow_queue_of(flow, port, vl, before)->next_input = queue->next_input;
	if (channel->last == input)
		channel->last = before;
	if (channel->first == FLOW_NONE)
		flow->ports[port].waiting &= ~(1u << vl);
	queue->head = flow->packets[packet].next;
	if (queue->head == FLOW_NONE)
		queue->tail = FLOW_NONE;
	else
		head_begins(flow, port, vl, input);
	return packet;
}

/* Sending */

static void port_wait_ends(struct flow *flow, struct flow_port *port)
{
	if (port->idle_ps != FLOW_NEVER)
		port->counts.wait_ps += flow->now_ps - port->idle_ps;
	port->idle_ps = FLOW_NEVER;
}

/* The packet holds the buffer that it leaves until its last byte has left, and has one at the other
 * end from now on. */
static void packet_send(struct flow *flow, uint32_t p, unsigned vl, uint32_t number)
{
	struct flow_port *port = &flow->ports[p];
	struct flow_packet *packet = &flow->packets[number];
	struct flow_channel_state *channel = flow_channel_of(flow, p, vl);
	uint64_t done_ps = flow->now_ps + flow_send_ps(port, packet->bytes);
	uint64_t link_ps = flow->options.link_ps;
	uint32_t peer = port->peer;

	assert(channel->credits >= packet->blocks);
	channel->credits -= packet->blocks;
	channel->drops = 0;
	port_wait_ends(flow, port);
	port->busy = true;
	port->sending_in = packet->in;
	port->sending_vl = packet->vl;
	port->sending_blocks = packet->blocks;
	port->counts.xmit_words += packet_words(packet);
	port->counts.xmit_packets++;
	flow->totals.hops++;
	packet->in = peer;
	packet->vl = (uint8_t)vl;
	packet->arrived_ps = flow->now_ps + link_ps;
	packet->tail_ps = done_ps + link_ps;
	flow_event_add(flow, done_ps, FLOW_SENT, p, 0);
	flow_event_add(flow,
		       port->to_switch ? packet->arrived_ps + flow->options.switch_ps
				       : packet->tail_ps,
		       FLOW_ARRIVED, peer, number);
}

static void packet_inject(struct flow *flow, uint32_t number)
{
	const struct flow_packet *packet = &flow->packets[number];

	flow->totals.packets++;
	flow->totals.bytes += packet->bytes;
	flow->totals.in_flight++;
	flow->hosts[packet->from].sent_bytes += packet->bytes;
}

/* Without credits for any head: wakes up when the first credits arrive. */
static void port_await_credits(struct flow *flow, uint32_t p)
{
	for (unsigned vls = flow->ports[p].waiting; vls; vls &= vls - 1) {
		uint32_t back = flow_channel_of(flow, p, (unsigned)__builtin_ctz(vls))->back_first;

		if (back != FLOW_NONE)
			port_wake_at(flow, p, flow->backs[back].due_ps);
	}
}

/* Sends a packet if the port is free and has one with credits. */
static void port_send(struct flow *flow, uint32_t p)
{
	struct flow_port *port = &flow->ports[p];
	uint16_t can_send = 0, blocks[16];
	uint32_t input, packet;
	unsigned vl;

	if (port->busy || !port->waiting)
		return;
	for (unsigned vls = port->waiting; vls; vls &= vls - 1) {
		struct flow_channel_state *channel;

		vl = (unsigned)__builtin_ctz(vls);
		channel = flow_channel_of(flow, p, vl);
		channel_collect(flow, channel);
		packet = flow_queue_of(flow, p, vl, channel->first)->head;
		blocks[vl] = flow->packets[packet].blocks;
		if (channel->credits >= blocks[vl])
			can_send |= 1u << vl;
	}
	if (!can_send) {
		if (port->idle_ps == FLOW_NEVER)
			port->idle_ps = flow->now_ps;
		port_await_credits(flow, p);
		return;
	}
	vl = flow_arbiter_choose(&port->arbiter, can_send, blocks);
	input = flow_channel_of(flow, p, vl)->first;
	packet = head_take(flow, p, vl, input, FLOW_NONE);
	if (flow->packets[packet].in == FLOW_NONE)
		packet_inject(flow, packet);
	packet_send(flow, p, vl, packet);
	if (!flow->nodes[port->node].is_switch)
		flow_stream_next(flow, flow->packets[packet].from_stream,
				 flow->now_ps + flow_send_ps(port, flow->packets[packet].bytes));
}

/* The queues of a node take memory from its first packet on: few loads pass all switches. */
static void node_begins(const struct flow *flow, struct flow_node *node)
{
	size_t count = (size_t)node->num_ports * flow->vls * node->inputs;

	node->queue = mem_array(count, sizeof(*node->queue));
	for (size_t q = 0; q < count; q++)
		node->queue[q] = (struct flow_queue){FLOW_NONE, FLOW_NONE, FLOW_NONE};
}

void flow_enqueue(struct flow *flow, uint32_t number, uint32_t input)
{
	struct flow_packet *packet = &flow->packets[number];
	uint32_t port = packet->out;
	struct flow_node *node = &flow->nodes[flow->ports[port].node];
	struct flow_queue *queue;

	if (!node->queue)
		node_begins(flow, node);
	queue = flow_queue_of(flow, port, packet->out_vl, input);
	packet->next = FLOW_NONE;
	if (queue->head == FLOW_NONE) {
		queue->head = queue->tail = number;
		head_begins(flow, port, packet->out_vl, input);
	} else {
		flow->packets[queue->tail].next = number;
		queue->tail = number;
	}
	port_send(flow, port);
}

void flow_port_sent_all(struct flow *flow, uint32_t p)
{
	struct flow_port *port = &flow->ports[p];

	flow->totals.moved_ps = flow->now_ps;
	port->busy = false;
	if (port->sending_in != FLOW_NONE)
		buffer_free(flow, port->sending_in, port->sending_vl, port->sending_blocks);
	port->sending_in = FLOW_NONE;
	port_send(flow, p);
}

void flow_port_credits(struct flow *flow, uint32_t p)
{
	if (flow->ports[p].credits_ps != flow->now_ps)
		return;
	flow->ports[p].credits_ps = FLOW_NEVER;
	port_send(flow, p);
}

/* Discards */

/* The packet is in a buffer, and its last byte may still be on the link. counter is the port that
 * counts it, FLOW_NONE: no port does. */
static void packet_discard(struct flow *flow, uint32_t number, uint32_t counter,
			   enum flow_discard reason)
{
	const struct flow_packet *packet = &flow->packets[number];

	if (counter != FLOW_NONE)
		flow->ports[counter].counts.discards[reason]++;
	flow->totals.discards[reason]++;
	flow->totals.discarded++;
	flow->totals.in_flight--;
	if (packet->tail_ps > flow->now_ps)
		flow_event_add(flow, packet->tail_ps, FLOW_FREED, 0, number);
	else
		flow_packet_freed(flow, number);
}

void flow_packet_freed(struct flow *flow, uint32_t number)
{
	const struct flow_packet *packet = &flow->packets[number];

	flow->totals.moved_ps = flow->now_ps;
	buffer_free(flow, packet->in, packet->vl, packet->blocks);
	flow_packet_free(flow, number);
}

/* All packets for a channel that has become stalled. */
static void channel_empty(struct flow *flow, uint32_t port, unsigned vl)
{
	struct flow_channel_state *channel = flow_channel_of(flow, port, vl);

	while (channel->first != FLOW_NONE)
		packet_discard(flow, head_take(flow, port, vl, channel->first, FLOW_NONE), port,
			       FLOW_STALLED);
}

/* Discards the first head of a channel whose time is over; false: there is none. */
static bool channel_expire(struct flow *flow, uint32_t p, unsigned vl)
{
	struct flow_port *port = &flow->ports[p];
	struct flow_channel_state *channel = flow_channel_of(flow, p, vl);
	uint32_t before = FLOW_NONE;
	uint8_t stall_count = port->link.vl_stall_count;

	for (uint32_t input = channel->first; input != FLOW_NONE;
	     input = flow_queue_of(flow, p, vl, input)->next_input) {
		uint32_t packet = flow_queue_of(flow, p, vl, input)->head;
		const struct flow_packet *head = &flow->packets[packet];
		bool is_hoq =
			port->hoq_ps != FLOW_NEVER && head->head_ps + port->hoq_ps <= flow->now_ps;

		if (head_deadline_ps(flow, port, head) > flow->now_ps) {
			before = input;
			continue;
		}
		head_take(flow, p, vl, input, before);
		packet_discard(flow, packet, p, is_hoq ? FLOW_HOQ_LIFE : FLOW_SWITCH_LIFE);
		if (is_hoq && ++channel->drops >= stall_count && stall_count) {
			channel->drops = 0;
			channel->stalled_until_ps = flow->now_ps + STALL_LIVES * port->hoq_ps;
			channel_empty(flow, p, vl);
		}
		return true;
	}
	return false;
}

void flow_port_expired(struct flow *flow, uint32_t p)
{
	struct flow_port *port = &flow->ports[p];
	uint64_t next_ps = FLOW_NEVER;

	if (port->expired_ps != flow->now_ps)
		return;
	port->expired_ps = FLOW_NEVER;
	for (unsigned vls = port->waiting; vls; vls &= vls - 1) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		while (channel_expire(flow, p, vl))
			;
		for (uint32_t input = flow_channel_of(flow, p, vl)->first; input != FLOW_NONE;
		     input = flow_queue_of(flow, p, vl, input)->next_input) {
			uint32_t head = flow_queue_of(flow, p, vl, input)->head;
			uint64_t due_ps = head_deadline_ps(flow, port, &flow->packets[head]);

			next_ps = due_ps < next_ps ? due_ps : next_ps;
		}
	}
	if (!port->waiting)
		port_wait_ends(flow, port);
	port_send(flow, p);
	if (port->waiting)
		port_expire_at(flow, p, next_ps);
}

/* Arrival */

static bool keys_admit(const uint64_t *keys, uint16_t key)
{
	return !keys || keys[key / KEY_BITS] >> key % KEY_BITS & 1;
}

/* Finds the output port and VL of a packet. Returns FLOW_DISCARDS, or the reason why there is none;
 * then *counter is the port that counts it: 16.1.3.5, and PortRcvErrorDetails and
 * PortXmitDiscardDetails for the parts of these counters. */
static enum flow_discard packet_route(const struct flow *flow, uint32_t in,
				      struct flow_packet *packet, uint32_t *counter)
{
	const struct flow_port *from = &flow->ports[in], *to;
	const struct flow_node *node = &flow->nodes[from->node];
	unsigned num = packet->lid < node->lft_size ? node->lft[packet->lid] : LFT_NO_PORT, vl;
	const struct flow_channel_state *channel;

	*counter = in;
	if (!keys_admit(from->link.keys_in, packet->key))
		return FLOW_KEY_IN;
	if (!num || num > node->num_ports)
		return FLOW_NO_ROUTE;
	if (num == from->num)
		return FLOW_LOOPING;
	packet->out = node->first_port + num - 1;
	to = &flow->ports[packet->out];
	if (to->link.peer == FLOW_NONE) {
		*counter = packet->out;
		return FLOW_INACTIVE;
	}
	vl = flow_vl_of(&to->link, from->num, packet->sl);
	if (vl >= to->link.vls || vl >= FLOW_VLS)
		return FLOW_BAD_VL;
	*counter = packet->out;
	packet->out_vl = (uint8_t)vl;
	channel = flow_channel_of(flow, packet->out, vl);
	if (packet->payload > to->link.mtu)
		return FLOW_TOO_LONG;
	if (!keys_admit(to->link.keys_out, packet->key))
		return FLOW_KEY_OUT;
	if (!(flow_arbiter_vls(&to->arbiter) >> vl & 1))
		return FLOW_NO_WEIGHT;
	return channel->stalled_until_ps > flow->now_ps ? FLOW_STALLED : FLOW_DISCARDS;
}

static void arrived_at_switch(struct flow *flow, uint32_t in, uint32_t number)
{
	struct flow_packet *packet = &flow->packets[number];
	uint32_t counter;
	enum flow_discard reason = packet_route(flow, in, packet, &counter);
	uint64_t send_ps, last_ps;

	if (reason != FLOW_DISCARDS) {
		packet_discard(flow, number, counter, reason);
		return;
	}
	/* Its last byte can leave at last_ps, and must not be missing. */
	send_ps = flow_send_ps(&flow->ports[packet->out], packet->bytes);
	last_ps = packet->tail_ps + flow->options.switch_ps;
	if (last_ps > flow->now_ps + send_ps)
		flow_event_add(flow, last_ps - send_ps, FLOW_READY, 0, number);
	else
		flow_packet_ready(flow, number);
}

void flow_packet_ready(struct flow *flow, uint32_t number)
{
	flow_enqueue(flow, number, flow->ports[flow->packets[number].in].num);
}

static void arrived_at_host(struct flow *flow, uint32_t in, uint32_t number)
{
	const struct flow_packet *packet = &flow->packets[number];
	const struct flow_node *node = &flow->nodes[flow->ports[in].node];

	if (packet->lid != node->lid) {
		packet_discard(flow, number, FLOW_NONE, FLOW_WRONG_HOST);
		return;
	}
	if (!keys_admit(node->accepts, packet->key)) {
		packet_discard(flow, number, FLOW_NONE, FLOW_HOST_KEY);
		return;
	}
	flow->totals.delivered++;
	flow->totals.delivered_bytes += packet->bytes;
	flow->totals.in_flight--;
	flow->hosts[node->host].received_bytes += packet->bytes;
	if (packet->ends)
		flow_latency_add(flow, flow->now_ps - packet->born_ps);
	flow_packet_freed(flow, number);
}

void flow_packet_arrived(struct flow *flow, uint32_t in, uint32_t number)
{
	struct flow_counts *counts = &flow->ports[in].counts;

	counts->rcv_words += packet_words(&flow->packets[number]);
	counts->rcv_packets++;
	if (flow->nodes[flow->ports[in].node].is_switch)
		arrived_at_switch(flow, in, number);
	else
		arrived_at_host(flow, in, number);
}
