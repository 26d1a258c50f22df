/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets of a flow that can never move. A channel is live if its first packet can leave at some
 * time: its lifetime ends, or the buffer at the other end has, or will have, enough room. A buffer
 * gets room from each packet that is on its way out or that waits for a live channel. So the live
 * channels are the least set that is closed under this rule, and the others are stuck: whatever
 * live channels do and streams send, no stuck channel gets room. A stuck channel waits for a buffer
 * whose packets wait for stuck channels, therefore there is a cycle.
 */
#include <stdlib.h>

#include "sim/flow_parts.h"

struct deadlock {
	const struct flow *flow;
	bool lifetimes; /* end a wait */
	uint32_t *room; /* by channel: blocks free now or later, as far as known */
	bool *live;
	uint32_t *queue; /* live channels whose packets have not been counted */
	size_t queued;
	/* The graph of stuck channels. */
	uint32_t *number;	   /* by channel; FLOW_NONE: not stuck */
	uint32_t *channel, *begin; /* by number; begin: of its row in next */
	uint32_t *next;
	size_t stuck, edges;
};

/* Calls fn for each packet that waits for a channel. */
static void each_waiting(struct deadlock *deadlock, uint32_t channel,
			 void (*fn)(struct deadlock *deadlock, const struct flow_packet *packet))
{
	const struct flow *flow = deadlock->flow;
	uint32_t port = channel / flow->vls, vl = channel % flow->vls;

	for (uint32_t input = flow->channels[channel].first; input != FLOW_NONE;
	     input = flow_queue_of(flow, port, vl, input)->next_input) {
		for (uint32_t packet = flow_queue_of(flow, port, vl, input)->head;
		     packet != FLOW_NONE; packet = flow->packets[packet].next)
			fn(deadlock, &flow->packets[packet]);
	}
}

/* The channel that leads to the buffer of a packet; FLOW_NONE: it is still at its adapter. */
static uint32_t channel_before(const struct flow *flow, const struct flow_packet *packet)
{
	return packet->in == FLOW_NONE ? FLOW_NONE
				       : flow->ports[packet->in].link.peer * flow->vls + packet->vl;
}

static void packet_stays(struct deadlock *deadlock, const struct flow_packet *packet)
{
	uint32_t before = channel_before(deadlock->flow, packet);

	if (before != FLOW_NONE)
		deadlock->room[before] -= packet->blocks;
}

static void channel_judge(struct deadlock *deadlock, uint32_t channel)
{
	const struct flow *flow = deadlock->flow;
	const struct flow_port *port = &flow->ports[channel / flow->vls];
	uint32_t first = flow->channels[channel].first;
	bool is_mortal = deadlock->lifetimes && (port->hoq_ps != FLOW_NEVER ||
						 flow->nodes[port->node].life_ps != FLOW_NEVER);
	uint32_t head;

	if (deadlock->live[channel] || first == FLOW_NONE)
		return;
	head = flow_queue_of(flow, channel / flow->vls, channel % flow->vls, first)->head;
	if (!is_mortal && deadlock->room[channel] < flow->packets[head].blocks)
		return;
	deadlock->live[channel] = true;
	deadlock->queue[deadlock->queued++] = channel;
}

static void packet_leaves(struct deadlock *deadlock, const struct flow_packet *packet)
{
	uint32_t before = channel_before(deadlock->flow, packet);

	if (before == FLOW_NONE)
		return;
	deadlock->room[before] += packet->blocks;
	channel_judge(deadlock, before);
}

static void find_live(struct deadlock *deadlock, size_t channels)
{
	for (size_t c = 0; c < channels; c++)
		deadlock->room[c] = deadlock->flow->buffer_blocks;
	for (size_t c = 0; c < channels; c++)
		each_waiting(deadlock, (uint32_t)c, packet_stays);
	for (size_t c = 0; c < channels; c++)
		channel_judge(deadlock, (uint32_t)c);
	for (size_t i = 0; i < deadlock->queued; i++)
		each_waiting(deadlock, deadlock->queue[i], packet_leaves);
}

/* The graph */

/* A stuck channel before this packet waits for the stuck channel for which the packet waits. */
static void edge_count(struct deadlock *deadlock, const struct flow_packet *packet)
{
	uint32_t before = channel_before(deadlock->flow, packet);

	if (before != FLOW_NONE && deadlock->number[before] != FLOW_NONE) {
		deadlock->begin[deadlock->number[before] + 1]++;
		deadlock->edges++;
	}
}

static void edge_put(struct deadlock *deadlock, const struct flow_packet *packet)
{
	const struct flow *flow = deadlock->flow;
	uint32_t before = channel_before(flow, packet);
	uint32_t to = deadlock->number[packet->out * flow->vls + packet->out_vl];

	if (before != FLOW_NONE && deadlock->number[before] != FLOW_NONE)
		deadlock->next[--deadlock->begin[deadlock->number[before] + 1]] = to;
}

static void build_graph(struct deadlock *deadlock)
{
	size_t stuck = deadlock->stuck;

	deadlock->begin = mem_array(stuck + 2, sizeof(*deadlock->begin));
	for (size_t s = 0; s < stuck; s++)
		each_waiting(deadlock, deadlock->channel[s], edge_count);
	for (size_t s = 0; s < stuck; s++)
		deadlock->begin[s + 1] += deadlock->begin[s];
	deadlock->next = mem_array(deadlock->edges + 1, sizeof(*deadlock->next));
	/* Rows are filled from their ends, so that begin[s + 1] becomes the start of row s. */
	for (size_t s = 0; s < stuck; s++)
		each_waiting(deadlock, deadlock->channel[s], edge_put);
	deadlock->begin[stuck + 1] = (uint32_t)deadlock->edges;
}

/* Breadth first from a channel back to it, in less than most steps. Fills out with the channels of
 * the cycle. Returns its length; 0: none. came: by number, scratch. */
static size_t cycle_through(const struct deadlock *deadlock, uint32_t start, size_t most,
			    uint32_t *came, uint32_t *order, uint32_t *out)
{
	size_t tail = 0, length = 1, level_end;
	bool found = false;
	uint32_t last = start;

	order[tail++] = start;
	level_end = tail;
	for (size_t head = 0; head < tail && !found && length < most; head++) {
		uint32_t at = order[head];

		for (uint32_t e = deadlock->begin[at + 1]; e < deadlock->begin[at + 2]; e++) {
			uint32_t to = deadlock->next[e];

			if (to == start) {
				found = true;
				last = at;
				break;
			}
			if (came[to] != FLOW_NONE)
				continue;
			came[to] = at;
			order[tail++] = to;
		}
		if (!found && head + 1 == level_end) {
			level_end = tail;
			length++;
		}
	}
	for (size_t i = length; found && i--; last = came[last])
		out[i] = last;
	for (size_t i = 0; i < tail; i++)
		came[order[i]] = FLOW_NONE;
	return found ? length : 0;
}

static void find_cycle(struct deadlock *deadlock, struct flow_deadlock *result)
{
	size_t stuck = deadlock->stuck, most = stuck + 1;
	uint32_t *came = mem_array(stuck, sizeof(*came)), *order = mem_array(stuck, sizeof(*order));
	uint32_t *cycle = mem_array(stuck, sizeof(*cycle)), vls = deadlock->flow->vls;

	for (size_t s = 0; s < stuck; s++)
		came[s] = FLOW_NONE;
	for (uint32_t s = 0; s < stuck; s++) {
		size_t length = cycle_through(deadlock, s, most, came, order, cycle);

		if (!length)
			continue;
		most = result->length = length;
		free(result->cycle);
		result->cycle = mem_array(length, sizeof(*result->cycle));
		for (size_t i = 0; i < length; i++) {
			uint32_t channel = deadlock->channel[cycle[i]];

			result->cycle[i].port = channel / vls;
			result->cycle[i].vl = (uint8_t)(channel % vls);
		}
	}
	free(cycle);
	free(order);
	free(came);
}

void flow_find_deadlock(const struct flow *flow, bool lifetimes, struct flow_deadlock *out)
{
	size_t channels = flow->num_ports * flow->vls;
	struct deadlock deadlock = {
		.flow = flow,
		.lifetimes = lifetimes,
		.room = mem_array(channels + 1, sizeof(uint32_t)),
		.live = mem_array(channels + 1, sizeof(bool)),
		.queue = mem_array(channels + 1, sizeof(uint32_t)),
		.number = mem_array(channels + 1, sizeof(uint32_t)),
		.channel = mem_array(channels + 1, sizeof(uint32_t)),
	};

	*out = (struct flow_deadlock){0};
	find_live(&deadlock, channels);
	for (size_t c = 0; c < channels; c++) {
		bool stuck = !deadlock.live[c] && flow->channels[c].first != FLOW_NONE;

		deadlock.number[c] = stuck ? (uint32_t)deadlock.stuck : FLOW_NONE;
		if (stuck)
			deadlock.channel[deadlock.stuck++] = (uint32_t)c;
	}
	out->stuck = deadlock.stuck;
	if (deadlock.stuck) {
		build_graph(&deadlock);
		find_cycle(&deadlock, out);
	}
	free(deadlock.room);
	free(deadlock.live);
	free(deadlock.queue);
	free(deadlock.number);
	free(deadlock.channel);
	free(deadlock.begin);
	free(deadlock.next);
}
