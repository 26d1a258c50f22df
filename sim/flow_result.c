/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The results of a flow, and the check of its invariants. Latencies are kept as a histogram with 64
 * steps for each power of two, so memory does not depend on the number of messages.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/flow_parts.h"

enum { STEP = 1 << FLOW_STEP_BITS };

const struct flow_totals *flow_totals(const struct flow *flow)
{
	return &flow->totals;
}

size_t flow_ports(const struct flow *flow)
{
	return flow->num_ports;
}

size_t flow_hosts(const struct flow *flow)
{
	return flow->num_hosts;
}

uint32_t flow_host_port(const struct flow *flow, uint32_t host)
{
	return flow->nodes[flow->hosts[host].node].first_port;
}

uint64_t flow_host_sent(const struct flow *flow, uint32_t host)
{
	return flow->hosts[host].sent_bytes;
}

uint64_t flow_host_received(const struct flow *flow, uint32_t host)
{
	return flow->hosts[host].received_bytes;
}

uint64_t flow_port_sent(const struct flow *flow, uint32_t port)
{
	const struct flow_port *at = &flow->ports[port];

	return (at->counts.xmit_words - at->warm_words) * FLOW_WORD_BYTES +
	       (at->counts.xmit_packets - at->warm_packets) * FLOW_VCRC_BYTES;
}

void flow_port_counts(const struct flow *flow, uint32_t port, struct flow_counts *out)
{
	const struct flow_port *at = &flow->ports[port];

	*out = at->counts;
	if (at->idle_ps != FLOW_NEVER)
		out->wait_ps += flow->now_ps - at->idle_ps;
}

/* Latencies */

static unsigned latency_step(uint64_t ps)
{
	unsigned shift;

	if (ps < STEP)
		return (unsigned)ps;
	shift = 63u - FLOW_STEP_BITS - (unsigned)__builtin_clzll(ps);
	return (shift + 1) * STEP + (unsigned)(ps >> shift & (STEP - 1));
}

/* The highest latency of a step. */
static uint64_t latency_most(unsigned step)
{
	unsigned shift = step / STEP - 1;

	return step < STEP ? step : (((uint64_t)STEP + step % STEP + 1) << shift) - 1;
}

void flow_latency_add(struct flow *flow, uint64_t ps)
{
	flow->latency[latency_step(ps)]++;
	flow->latency_count++;
	flow->latency_sum_ps += ps;
	if (ps > flow->latency_max_ps)
		flow->latency_max_ps = ps;
}

static uint64_t latency_percentile(const struct flow *flow, unsigned percent)
{
	uint64_t rank = (flow->latency_count * percent + 99) / 100, count = 0;

	for (unsigned step = 0; step < FLOW_STEPS; step++) {
		count += flow->latency[step];
		if (count >= rank && count)
			return latency_most(step) < flow->latency_max_ps ? latency_most(step)
									 : flow->latency_max_ps;
	}
	return 0;
}

void flow_latency(const struct flow *flow, struct flow_latency *out)
{
	*out = (struct flow_latency){.count = flow->latency_count};
	if (!out->count)
		return;
	out->mean_ps = flow->latency_sum_ps / flow->latency_count;
	out->max_ps = flow->latency_max_ps;
	out->p50_ps = latency_percentile(flow, 50);
	out->p99_ps = latency_percentile(flow, 99);
}

/* Invariants */

/* The blocks of each buffer that packets hold, by the channel that leads to it. */
static void buffers_count(const struct flow *flow, uint32_t *held)
{
	for (size_t i = 0; i < flow->num_packets; i++) {
		const struct flow_packet *packet = &flow->packets[i];

		if (packet->used && packet->in != FLOW_NONE)
			held[flow->ports[packet->in].link.peer * flow->vls + packet->vl] +=
				packet->blocks;
	}
	for (size_t p = 0; p < flow->num_ports; p++) {
		const struct flow_port *port = &flow->ports[p];

		if (port->busy && port->sending_in != FLOW_NONE)
			held[flow->ports[port->sending_in].link.peer * flow->vls +
			     port->sending_vl] += port->sending_blocks;
	}
}

static bool channel_is_consistent(const struct flow *flow, uint32_t channel, uint32_t held)
{
	const struct flow_channel_state *state = &flow->channels[channel];
	uint32_t blocks = held + state->credits;

	for (uint32_t back = state->back_first; back != FLOW_NONE; back = flow->backs[back].next)
		blocks += flow->backs[back].blocks;
	return blocks == flow->buffer_blocks;
}

bool flow_is_consistent(const struct flow *flow)
{
	const struct flow_totals *totals = &flow->totals;
	size_t channels = flow->num_ports * flow->vls;
	uint32_t *held = mem_array(channels + 1, sizeof(*held));
	bool good = totals->packets == totals->delivered + totals->discarded + totals->in_flight;
	uint64_t discards = 0;

	buffers_count(flow, held);
	for (size_t c = 0; c < channels; c++)
		good = good && channel_is_consistent(flow, (uint32_t)c, held[c]);
	for (unsigned reason = 0; reason < FLOW_DISCARDS; reason++)
		discards += totals->discards[reason];
	free(held);
	return good && discards == totals->discarded;
}
