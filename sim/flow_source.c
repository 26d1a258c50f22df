/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The streams of a flow: an adapter has one packet of each stream in its queue, and makes the next
 * when that has left. A message is cut into packets; its time begins when its first packet could
 * leave first: when it is due and the packet before it has left.
 */
#include "sim/flow_parts.h"

#include "lib/random.h"

/* A host other than the sender; FLOW_NONE: there is none. */
static uint32_t stream_choose(struct flow *flow, struct flow_stream_state *stream)
{
	uint32_t to;

	if (stream->set.choice == FLOW_TO_ONE)
		return stream->set.to;
	if (flow->num_parts < 2)
		return FLOW_NONE;
	do {
		if (stream->set.choice == FLOW_TO_EACH) {
			stream->turn = (stream->turn + 1) % flow->num_parts;
			to = flow->parts[stream->turn];
		} else {
			to = flow->parts[random_next(&flow->random) % flow->num_parts];
		}
	} while (to == stream->set.from);
	return to;
}

static void stream_put_packet(struct flow *flow, uint32_t s)
{
	struct flow_stream_state *stream = &flow->streams[s];
	uint32_t number = flow_packet_new(flow);
	const struct flow_node *from = &flow->nodes[flow->hosts[stream->set.from].node];
	uint32_t payload = stream->message_left < stream->set.mtu ? (uint32_t)stream->message_left
								  : stream->set.mtu;
	uint32_t bytes = ((payload + 3) & ~3u) + FLOW_HEADER_BYTES;

	stream->message_left -= payload;
	flow->packets[number] = (struct flow_packet){
		.born_ps = stream->born_ps,
		.arrived_ps = flow->now_ps,
		.in = FLOW_NONE,
		.out = from->first_port,
		.from = stream->set.from,
		.from_stream = s,
		.bytes = (uint16_t)bytes,
		.blocks = (uint16_t)((bytes + FLOW_BLOCK_BYTES - 1) / FLOW_BLOCK_BYTES),
		.payload = (uint16_t)payload,
		.lid = flow->nodes[flow->hosts[stream->to].node].lid,
		.key = from->key,
		.sl = stream->set.sl,
		.out_vl = stream->set.vl,
		.used = true,
		.ends = !stream->message_left,
	};
	flow_enqueue(flow, number, stream->input);
}

/* A message begins. Its time begins when its adapter has sent the packet before it. */
void flow_stream_starts(struct flow *flow, uint32_t s)
{
	struct flow_stream_state *stream = &flow->streams[s];
	uint64_t size = stream->set.message_bytes;

	if (stream->left < size)
		size = stream->left;
	stream->to = size ? stream_choose(flow, stream) : FLOW_NONE;
	if (stream->to == FLOW_NONE)
		return;
	if (stream->left != FLOW_NEVER)
		stream->left -= size;
	stream->message_left = size;
	stream->born_ps = flow->now_ps > stream->free_ps ? flow->now_ps : stream->free_ps;
	stream->due_ps += stream->set.interval_ps;
	stream_put_packet(flow, s);
}

void flow_stream_next(struct flow *flow, uint32_t s, uint64_t free_ps)
{
	struct flow_stream_state *stream = &flow->streams[s];

	stream->free_ps = free_ps;
	if (stream->message_left)
		stream_put_packet(flow, s);
	else if (stream->due_ps > flow->now_ps)
		flow_event_add(flow, stream->due_ps, FLOW_STARTS, s, 0);
	else
		flow_stream_starts(flow, s);
}
