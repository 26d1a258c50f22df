/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of a flow: sim/flow.c builds it and runs its events, sim/flow_switch.c moves
 * packets through ports, sim/flow_source.c sends the streams, sim/flow_result.c has the results,
 * and sim/flow_deadlock.c finds packets that can never move.
 *
 * Objects are elements of arrays and refer to each other by index, which is smaller than a pointer
 * and stays valid when an array grows. A channel is an output port and a VL.
 */
#ifndef SIM_FLOW_PARTS_H
#define SIM_FLOW_PARTS_H

#include "lib/mem.h"
#include "sim/flow.h"
#include "sim/flow_arbiter.h"
#include "sim/flow_events.h"

enum { FLOW_WORD_BYTES = 4, FLOW_VCRC_BYTES = 2 };

/* The kinds of events, in the order in which those of the same time run. */
enum flow_kind {
	FLOW_SENT,    /* an output port has sent the last byte of a packet */
	FLOW_ARRIVED, /* a packet has arrived: its first byte at a switch, all of it at a host */
	FLOW_READY,   /* a packet can leave by a faster link */
	FLOW_FREED,   /* the last byte of a discarded packet has arrived */
	FLOW_CREDITS, /* an output port may have got credits */
	FLOW_EXPIRED, /* the lifetime of a head of a queue may be over */
	FLOW_STARTS,  /* a stream starts a message */
	FLOW_WARM,    /* the warm-up is over */
};

struct flow_packet {
	uint64_t born_ps;	      /* its message */
	uint64_t arrived_ps, tail_ps; /* its first and last byte, at the node where it is */
	uint64_t head_ps;	      /* since when it is the head of its queue */
	uint32_t next;		      /* in a queue or in the list of spare packets */
	uint32_t in;  /* the input port in whose buffer it is; FLOW_NONE: not sent yet */
	uint32_t out; /* the output port for which it waits */
	uint32_t from, from_stream; /* host, and its stream */
	uint16_t bytes, blocks, payload;
	lid_t lid;
	uint16_t key;
	uint8_t sl, vl, out_vl; /* VL of the buffer, and of the output */
	bool used, ends;	/* ends: the last of its message */
};

/* Packets of an input (an input port of a switch, a stream of an adapter) for a channel. */
struct flow_queue {
	uint32_t head, tail;
	uint32_t next_input; /* in the channel's list; FLOW_NONE: the last */
};

struct flow_channel_state {
	uint16_t credits; /* blocks; without those on the way back */
	uint16_t drops;	  /* for HOQLife, since the last packet was sent */
	/* Inputs with packets, in turn; so also by the time since their heads wait. */
	uint32_t first, last;
	uint32_t back_first, back_last; /* credits on their way back, by time */
	uint64_t stalled_until_ps;
};

struct flow_back {
	uint64_t due_ps;
	uint32_t next;
	uint16_t blocks;
};

/* The members that each packet needs come first, in as few lines of the cache as possible. */
struct flow_port {
	uint32_t node, peer; /* peer: as in link */
	uint8_t num;
	bool busy, to_switch; /* to_switch: peer is a port of a switch */
	uint8_t sending_vl;
	uint16_t waiting; /* VLs with packets, a bit each */
	uint16_t sending_blocks;
	uint32_t sending_in; /* the buffer of the packet that is being sent; FLOW_NONE */
	uint64_t byte_ps_16; /* time of a byte, times 2^16 */
	uint64_t credits_ps, expired_ps; /* the valid event of this kind; FLOW_NEVER: none */
	uint64_t idle_ps; /* since when it waits with packets; FLOW_NEVER: it does not */
	uint64_t hoq_ps;  /* FLOW_NEVER: infinite */
	struct flow_counts counts;
	struct flow_arbiter arbiter;
	struct flow_link link;
	uint64_t warm_words, warm_packets; /* sent before the end of the warm-up */
};

struct flow_node {
	bool is_switch;
	uint8_t num_ports;
	lid_t lid;
	uint16_t key;
	uint32_t first_port, inputs; /* inputs: of each channel */
	uint32_t host;		     /* its number, of a host */
	uint32_t lft_size;
	const uint8_t *lft;
	const uint64_t *accepts;
	uint64_t life_ps;
	struct flow_queue *queue; /* [port - 1][VL][input] */
};

struct flow_host_state {
	uint32_t node, streams; /* streams: their number */
	bool takes_part;
	uint64_t sent_bytes, received_bytes; /* since the end of the warm-up */
};

struct flow_stream_state {
	struct flow_stream set;
	uint32_t input; /* of its adapter */
	uint32_t turn;	/* FLOW_TO_EACH: the next host */
	uint32_t to;	/* of the message under way */
	uint64_t message_left, born_ps, due_ps;
	uint64_t free_ps; /* when the port has sent its last packet */
	uint64_t left;	  /* bytes to send; FLOW_NEVER: no limit */
};

/* Steps of 1/64 of each power of two. */
enum { FLOW_STEP_BITS = 6, FLOW_STEPS = (64 - FLOW_STEP_BITS + 1) << FLOW_STEP_BITS };

struct flow {
	struct flow_options options;
	struct arena *arena;
	uint64_t now_ps, random;
	unsigned vls; /* that have state: one more than the highest VL in use */
	uint16_t buffer_blocks;
	uint16_t sls;	/* in use, a bit each */
	bool unlimited; /* a stream has no limit of bytes, so ports wait until the end */
	struct flow_node *nodes;
	struct flow_port *ports;
	struct flow_channel_state *channels; /* [port * vls + VL] */
	struct flow_host_state *hosts;
	struct flow_stream_state *streams;
	uint32_t *parts; /* hosts that take part */
	struct flow_packet *packets;
	struct flow_back *backs;
	size_t num_nodes, num_ports, num_hosts, num_streams, num_parts, num_packets, num_backs;
	size_t packets_room, backs_room;
	uint32_t spare_packet, spare_back;
	struct flow_events events;
	struct flow_totals totals;
	enum flow_end end;
	uint64_t latency_sum_ps, latency_max_ps, latency_count;
	uint64_t latency[FLOW_STEPS];
};

static inline void flow_event_add(struct flow *flow, uint64_t due_ps, enum flow_kind kind,
				  uint32_t index, uint32_t packet)
{
	flow_events_add(&flow->events, due_ps,
			(uint64_t)kind << 60 | (uint64_t)index << 32 | packet);
}

static inline struct flow_channel_state *flow_channel_of(const struct flow *flow, uint32_t port,
							 unsigned vl)
{
	return &flow->channels[(size_t)port * flow->vls + vl];
}

static inline struct flow_queue *flow_queue_of(const struct flow *flow, uint32_t port, unsigned vl,
					       uint32_t input)
{
	const struct flow_node *node = &flow->nodes[flow->ports[port].node];

	return &node->queue[((size_t)(port - node->first_port) * flow->vls + vl) * node->inputs +
			    input];
}

/* The VL of an SL that enters a switch by the input port number in, at an output. */
static inline unsigned flow_vl_of(const struct flow_link *out, unsigned in, unsigned sl)
{
	enum { ROW = 8 };
	uint8_t pair;

	if (!out->sl_to_vl)
		return out->vl_cap ? sl % out->vl_cap : 0;
	pair = out->sl_to_vl[in * ROW + sl / 2];
	return sl & 1 ? pair & 0xF : pair >> 4;
}

static inline uint64_t flow_send_ps(const struct flow_port *port, uint32_t bytes)
{
	return bytes * port->byte_ps_16 >> 16;
}

/* The number of a spare packet. Pointers to packets are invalid after the call. */
uint32_t flow_packet_new(struct flow *flow);
void flow_packet_free(struct flow *flow, uint32_t packet);
/* A packet waits for a channel, at the end of the queue of its input; it leaves if it can. */
void flow_enqueue(struct flow *flow, uint32_t packet, uint32_t input);
/* The packet of a stream leaves; its port is free at free_ps. */
void flow_stream_next(struct flow *flow, uint32_t stream, uint64_t free_ps);
/* A message has arrived. */
void flow_latency_add(struct flow *flow, uint64_t ps);

/* Handlers of events. */
void flow_port_sent_all(struct flow *flow, uint32_t port);
void flow_packet_arrived(struct flow *flow, uint32_t port, uint32_t packet);
void flow_packet_ready(struct flow *flow, uint32_t packet);
void flow_packet_freed(struct flow *flow, uint32_t packet);
void flow_port_credits(struct flow *flow, uint32_t port);
void flow_port_expired(struct flow *flow, uint32_t port);
void flow_stream_starts(struct flow *flow, uint32_t stream);

#endif
