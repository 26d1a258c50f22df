/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Building a flow, and its loop of events: see flow.h and flow_parts.h. */
#include "sim/flow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/random.h"
#include "sim/flow_parts.h"

enum { PS_PER_US = 1000000, BITS = 8, LIFE_PS = 4096000, SLS = 16 };
enum { INDEX_MASK = (1 << 28) - 1, LINE_BYTES = 64, PORT_LINES = 2, SOON = 4 };

struct flow *flow_new(const struct flow_options *options)
{
	struct flow *flow = mem_zalloc(sizeof(*flow));
	uint32_t blocks = options->buffer_bytes / FLOW_BLOCK_BYTES;

	flow->options = *options;
	flow->random = options->seed;
	flow->arena = arena_new();
	flow->buffer_blocks = blocks < FLOW_BLOCKS_MAX ? (uint16_t)blocks : FLOW_BLOCKS_MAX;
	flow->spare_packet = flow->spare_back = FLOW_NONE;
	return flow;
}

void flow_free(struct flow *flow)
{
	if (!flow)
		return;
	for (size_t n = 0; n < flow->num_nodes; n++)
		free(flow->nodes[n].queue);
	free(flow->nodes);
	free(flow->ports);
	free(flow->channels);
	free(flow->hosts);
	free(flow->streams);
	free(flow->parts);
	free(flow->packets);
	free(flow->backs);
	flow_events_done(&flow->events);
	arena_free(flow->arena);
	free(flow);
}

void *flow_keep(struct flow *flow, const void *bytes, size_t size)
{
	return memcpy(arena_alloc(flow->arena, size), bytes, size);
}

/* Adds a node with unset ports; returns the node. */
static struct flow_node *flow_add_node(struct flow *flow, bool is_switch, uint8_t num_ports)
{
	struct flow_node *node;

	flow->nodes = mem_grow(flow->nodes, flow->num_nodes, sizeof(*flow->nodes));
	node = &flow->nodes[flow->num_nodes];
	*node = (struct flow_node){.is_switch = is_switch,
				   .num_ports = num_ports,
				   .first_port = (uint32_t)flow->num_ports};
	for (unsigned p = 0; p < num_ports; p++) {
		flow->ports = mem_grow(flow->ports, flow->num_ports, sizeof(*flow->ports));
		flow->ports[flow->num_ports++] = (struct flow_port){
			.link.peer = FLOW_NONE,
			.node = (uint32_t)flow->num_nodes,
			.num = is_switch ? (uint8_t)(p + 1) : 1,
			.sending_in = FLOW_NONE,
			.credits_ps = FLOW_NEVER,
			.expired_ps = FLOW_NEVER,
			.idle_ps = FLOW_NEVER,
		};
	}
	flow->num_nodes++;
	return node;
}

static uint64_t flow_life_ps(uint8_t life)
{
	return life > FLOW_LIFE_MAX ? FLOW_NEVER : (uint64_t)LIFE_PS << life;
}

uint32_t flow_add_switch(struct flow *flow, uint8_t num_ports, uint8_t life, const uint8_t *lft,
			 uint32_t lft_size)
{
	struct flow_node *node = flow_add_node(flow, true, num_ports);

	node->life_ps = flow_life_ps(life);
	node->lft = lft;
	node->lft_size = lft_size;
	node->inputs = num_ports + 1u;
	return node->first_port;
}

uint32_t flow_add_host(struct flow *flow, const struct flow_host *host)
{
	struct flow_node *node = flow_add_node(flow, false, 1);

	node->life_ps = FLOW_NEVER;
	node->lid = host->lid;
	node->key = host->key;
	node->accepts = host->accepts;
	node->host = (uint32_t)flow->num_hosts;
	flow->hosts = mem_grow(flow->hosts, flow->num_hosts, sizeof(*flow->hosts));
	flow->hosts[flow->num_hosts++] =
		(struct flow_host_state){.node = (uint32_t)flow->num_nodes - 1};
	return node->first_port;
}

struct flow_link *flow_link(struct flow *flow, uint32_t port)
{
	return &flow->ports[port].link;
}

void flow_add_stream(struct flow *flow, const struct flow_stream *stream)
{
	struct flow_host_state *from = &flow->hosts[stream->from];

	flow->streams = mem_grow(flow->streams, flow->num_streams, sizeof(*flow->streams));
	flow->streams[flow->num_streams++] = (struct flow_stream_state){
		.set = *stream, .input = from->streams++, .left = stream->bytes};
	from->takes_part = true;
	flow->unlimited = flow->unlimited || stream->bytes == FLOW_NEVER;
	if (stream->choice == FLOW_TO_ONE)
		flow->hosts[stream->to].takes_part = true;
	flow->sls |= 1u << stream->sl;
}

/* Start */

static void flow_start_port(struct flow *flow, struct flow_port *port)
{
	const struct flow_link *link = &port->link;

	if (!link->mbps)
		port->link.peer = FLOW_NONE;
	else
		port->byte_ps_16 = (uint64_t)BITS * PS_PER_US * 65536 / link->mbps;
	port->peer = link->peer;
	port->to_switch =
		port->peer != FLOW_NONE && flow->nodes[flow->ports[port->peer].node].is_switch;
	port->hoq_ps =
		flow->nodes[port->node].is_switch ? flow_life_ps(link->hoq_life) : FLOW_NEVER;
	flow_arbiter_init(&port->arbiter, link->vl_low, link->vl_low_count, link->vl_high,
			  link->vl_high_count, link->vl_high_limit);
}

/* The highest VL to which the SLs in use are mapped. VL15 never gets a packet. */
static unsigned port_highest_vl(const struct flow *flow, const struct flow_port *port)
{
	const struct flow_link *link = &port->link;
	unsigned rows = link->sl_to_vl ? flow->nodes[port->node].inputs : 1, highest = 0;

	for (unsigned row = 0; row < rows; row++) {
		for (unsigned sl = 0; sl < SLS; sl++) {
			unsigned vl = flow_vl_of(link, row, sl);

			if (flow->sls >> sl & 1 && vl < link->vls && vl > highest)
				highest = vl;
		}
	}
	return highest;
}

static void flow_start_vls(struct flow *flow)
{
	unsigned highest = 0;

	for (size_t p = 0; p < flow->num_ports; p++) {
		const struct flow_port *port = &flow->ports[p];
		unsigned vl = 0;

		if (flow->nodes[port->node].is_switch)
			vl = port_highest_vl(flow, port);
		highest = vl > highest ? vl : highest;
	}
	for (size_t s = 0; s < flow->num_streams; s++) {
		uint8_t vl = flow->streams[s].set.vl;

		if (vl < FLOW_VLS && vl > highest)
			highest = vl;
	}
	flow->vls = highest + 1;
}

static void flow_start_queues(struct flow *flow)
{
	for (size_t h = 0; h < flow->num_hosts; h++)
		flow->nodes[flow->hosts[h].node].inputs = flow->hosts[h].streams;
	flow->channels = mem_array(flow->num_ports * flow->vls + 1, sizeof(*flow->channels));
	for (size_t c = 0; c < flow->num_ports * flow->vls; c++)
		flow->channels[c] = (struct flow_channel_state){.credits = flow->buffer_blocks,
								.first = FLOW_NONE,
								.last = FLOW_NONE,
								.back_first = FLOW_NONE,
								.back_last = FLOW_NONE};
}

static bool stream_can_send(const struct flow *flow, const struct flow_stream *stream)
{
	const struct flow_port *port =
		&flow->ports[flow->nodes[flow->hosts[stream->from].node].first_port];

	return port->link.peer != FLOW_NONE && stream->vl < port->link.vls &&
	       flow_arbiter_vls(&port->arbiter) >> stream->vl & 1 &&
	       (stream->mtu + FLOW_HEADER_BYTES + FLOW_BLOCK_BYTES - 1) / FLOW_BLOCK_BYTES <=
		       flow->buffer_blocks;
}

/* The first turn of FLOW_TO_EACH is that of the next host, so that at the start no two hosts send
 * to the same host. */
static void flow_start_parts(struct flow *flow)
{
	uint32_t *at = mem_array(flow->num_hosts + 1, sizeof(*at));

	flow->parts = mem_array(flow->num_hosts + 1, sizeof(*flow->parts));
	for (uint32_t h = 0; h < flow->num_hosts; h++) {
		if (!flow->hosts[h].takes_part)
			continue;
		at[h] = (uint32_t)flow->num_parts;
		flow->parts[flow->num_parts++] = h;
	}
	for (size_t s = 0; s < flow->num_streams; s++)
		flow->streams[s].turn = at[flow->streams[s].set.from];
	free(at);
}

size_t flow_start(struct flow *flow)
{
	size_t mute = 0;

	for (size_t p = 0; p < flow->num_ports; p++)
		flow_start_port(flow, &flow->ports[p]);
	flow_start_vls(flow);
	flow_start_queues(flow);
	flow_start_parts(flow);
	for (size_t s = 0; s < flow->num_streams; s++) {
		struct flow_stream_state *stream = &flow->streams[s];
		uint64_t interval_ps = stream->set.interval_ps;

		if (!stream_can_send(flow, &stream->set)) {
			stream->left = 0;
			mute++;
			continue;
		}
		stream->due_ps = interval_ps ? random_next(&flow->random) % interval_ps : 0;
		flow_event_add(flow, stream->due_ps, FLOW_STARTS, (uint32_t)s, 0);
	}
	if (flow->options.warmup_ps)
		flow_event_add(flow, flow->options.warmup_ps, FLOW_WARM, 0, 0);
	return mute;
}

/* The loop */

static void flow_warm(struct flow *flow)
{
	for (size_t p = 0; p < flow->num_ports; p++) {
		flow->ports[p].warm_words = flow->ports[p].counts.xmit_words;
		flow->ports[p].warm_packets = flow->ports[p].counts.xmit_packets;
	}
	for (size_t h = 0; h < flow->num_hosts; h++)
		flow->hosts[h].sent_bytes = flow->hosts[h].received_bytes = 0;
	memset(flow->latency, 0, sizeof(flow->latency));
	flow->latency_count = flow->latency_sum_ps = flow->latency_max_ps = 0;
}

static void flow_handle(struct flow *flow, uint64_t content)
{
	uint32_t index = content >> 32 & INDEX_MASK, packet = (uint32_t)content;

	switch ((enum flow_kind)(content >> 60)) {
	case FLOW_SENT:
		flow_port_sent_all(flow, index);
		break;
	case FLOW_ARRIVED:
		flow_packet_arrived(flow, index, packet);
		break;
	case FLOW_READY:
		flow_packet_ready(flow, packet);
		break;
	case FLOW_FREED:
		flow_packet_freed(flow, packet);
		break;
	case FLOW_CREDITS:
		flow_port_credits(flow, index);
		break;
	case FLOW_EXPIRED:
		flow_port_expired(flow, index);
		break;
	case FLOW_STARTS:
		flow_stream_starts(flow, index);
		break;
	case FLOW_WARM:
		flow_warm(flow);
		break;
	}
}

/* Loads the port and the packet of an event that is due soon, while another is handled: the memory
 * of a large fabric does not fit into a cache. */
static void flow_prefetch(const struct flow *flow, const struct flow_event *event)
{
	const char *port = (const char *)&flow->ports[event->content >> 32 & INDEX_MASK];

	for (unsigned line = 0; line < PORT_LINES; line++)
		__builtin_prefetch(port + line * LINE_BYTES, 1);
	if ((uint32_t)event->content) {
		const char *packet = (const char *)&flow->packets[(uint32_t)event->content];

		__builtin_prefetch(packet, 1);
		__builtin_prefetch(packet + LINE_BYTES, 1);
	}
}

/* No event is left. */
static void flow_stop(struct flow *flow)
{
	flow->end = flow->totals.in_flight ? FLOW_BLOCKED : FLOW_DELIVERED;
	if (flow->end == FLOW_BLOCKED && flow->unlimited)
		flow->now_ps = flow->options.duration_ps;
}

/* The next event is after the duration. It may be that of a lifetime that no packet needs. */
static void flow_time_over(struct flow *flow)
{
	bool any = false;

	for (size_t s = 0; s < flow->num_streams; s++)
		any = any || flow->streams[s].left || flow->streams[s].message_left;
	for (size_t i = 0; i < flow->num_packets; i++)
		any = any || flow->packets[i].used;
	flow->end = any ? FLOW_TIME_OVER : FLOW_DELIVERED;
	flow->now_ps = flow->options.duration_ps;
}

enum flow_end flow_run(struct flow *flow, size_t events)
{
	while (flow->end == FLOW_GOES_ON && events--) {
		const struct flow_event *event = flow_events_first(&flow->events);
		uint64_t content;

		if (!event) {
			flow_stop(flow);
			break;
		}
		if (event->due_ps > flow->options.duration_ps) {
			flow_time_over(flow);
			break;
		}
		flow->now_ps = event->due_ps;
		content = event->content;
		flow_events_pop(&flow->events);
		for (size_t i = 0; i < SOON && i < flow->events.near.count; i++)
			flow_prefetch(flow, &flow->events.near.event[i]);
		flow->totals.events++;
		flow_handle(flow, content);
	}
	return flow->end;
}
