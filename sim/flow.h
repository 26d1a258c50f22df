/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The data plane as discrete events, for measurements: packets of given streams travel from adapter
 * to adapter through the buffers of switches, in virtual time. Pure: it knows no world, no clock
 * and no file; the same input gives the same result, event by event. sim/load_net.c builds one from
 * a world. One thread.
 *
 * The model, with the chapters of the specification:
 * - A link carries bytes at its data rate, width x speed less the coding, and takes link_ps.
 * - Each input port has a buffer for each VL. A packet leaves only if the whole packet fits into
 *   the buffer at the other end, in blocks of 64 bytes (7.9). A freed buffer is known at the other
 *   end after link_ps; flow control packets take no bandwidth.
 * - Switches cut through, as devices do: a packet may leave switch_ps after its first byte has
 *   arrived, but so late that no byte is missing if the output is faster. It holds its buffer until
 *   its last byte has left.
 * - In the buffer there is a queue for each output port and VL, as in the model of switches that
 *   a vendor has published: a packet waits only for packets with the same output and VL. One buffer
 *   can feed several outputs at once. A head of a queue waits for its output; inputs take turns.
 * - Outputs choose the VL by the VL arbitration tables (7.6.9; flow_arbiter.h).
 * - A switch discards packets by HOQLife, VLStallCount and LifeTimeValue (18.2.5.4), and those that
 *   its tables, the MTU or P_Keys stop (16.1.3.5 says which port counts them).
 * - Adapters send when they have credits, and take each packet that arrives.
 */
#ifndef SIM_FLOW_H
#define SIM_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "include/iba.h"

struct flow;

#define FLOW_NONE UINT32_MAX
#define FLOW_NEVER UINT64_MAX

enum {
	FLOW_BLOCK_BYTES = 64,	/* of flow control */
	FLOW_BLOCKS_MAX = 2048, /* of a buffer: the limit of a flow control packet (7.9.4) */
	FLOW_HEADER_BYTES = 26, /* LRH, BTH, ICRC and VCRC; no extended header */
	FLOW_LIFE_MAX = 19,	/* HOQLife and LifeTimeValue above it are infinite */
	FLOW_VLS = 15,
};

/* Why a packet ended before its destination. */
enum flow_discard {
	FLOW_NO_ROUTE,	  /* no entry for the LID */
	FLOW_LOOPING,	  /* the output port is the input port */
	FLOW_BAD_VL,	  /* SLtoVL gives VL15 or a VL that the link does not use */
	FLOW_KEY_IN,	  /* P_Key, at an input port */
	FLOW_KEY_OUT,	  /* P_Key, at an output port */
	FLOW_INACTIVE,	  /* the output port has no link for data */
	FLOW_TOO_LONG,	  /* for the MTU of the output port */
	FLOW_NO_WEIGHT,	  /* no entry of the VL arbitration has the VL */
	FLOW_HOQ_LIFE,	  /* too long at the head of a queue */
	FLOW_SWITCH_LIFE, /* too long in the switch */
	FLOW_STALLED,	  /* the VL of the output port is stalled */
	FLOW_WRONG_HOST,  /* arrived at an adapter without the LID */
	FLOW_HOST_KEY,	  /* arrived at an adapter without the P_Key */
	FLOW_DISCARDS
};

struct flow_options {
	uint64_t seed;
	uint32_t buffer_bytes; /* of each input port and VL; rounded down to blocks */
	uint64_t switch_ps, link_ps;
	uint64_t duration_ps; /* FLOW_NEVER: until all is delivered */
	uint64_t warmup_ps;   /* rates, latencies and link loads count from then on */
};

/* The settings of a port and its link. Pointers are borrowed until flow_free(): see flow_keep(). */
struct flow_link {
	uint32_t peer;	/* a port; FLOW_NONE: no data can leave */
	uint32_t mbps;	/* data rate in Mb/s */
	uint16_t mtu;	/* bytes of payload */
	uint8_t vls;	/* data VLs in use */
	uint8_t vl_cap; /* VLs supported: without a table SL n has VL n mod vl_cap */
	uint8_t hoq_life, vl_stall_count; /* of switches, encoded */
	const uint8_t
		*sl_to_vl; /* of a switch: 8 bytes for each input port from 0; NULL: no table */
	/* Pairs of VL and weight, both NULL: all VLs take turns. */
	const uint8_t *vl_low, *vl_high;
	uint8_t vl_low_count, vl_high_count, vl_high_limit;
	const uint64_t *keys_in, *keys_out; /* a bit for each P_Key class admitted; NULL: all */
};

struct flow_host {
	lid_t lid;		 /* to which all packets for it go */
	uint16_t key;		 /* the class of the P_Key of its packets */
	const uint64_t *accepts; /* a bit for each class; NULL: all */
};

enum flow_choice {
	FLOW_TO_ONE,	/* always to the same host */
	FLOW_TO_RANDOM, /* each message to any host that sends or receives, but itself */
	FLOW_TO_EACH,	/* to the next host in turn, but itself */
};

struct flow_stream {
	uint32_t from, to; /* hosts; to: of FLOW_TO_ONE */
	enum flow_choice choice;
	uint8_t sl, vl;		/* of the adapter's output */
	uint32_t message_bytes; /* cut into packets of mtu bytes */
	uint16_t mtu;
	uint64_t interval_ps; /* between starts of messages; 0: as soon as possible */
	uint64_t bytes;	      /* to send in all; FLOW_NEVER: no limit */
};

/* Builds. A flow without streams is valid. flow_free(NULL) is harmless. */
struct flow *flow_new(const struct flow_options *options);
void flow_free(struct flow *flow);
/* A copy that lives as long as the flow. */
void *flow_keep(struct flow *flow, const void *bytes, size_t size);
/* Adds a switch with ports 1 to num_ports; life is LifeTimeValue. lft is kept by the caller.
 * Returns the number of its port 1; port p has this number + p - 1. */
uint32_t flow_add_switch(struct flow *flow, uint8_t num_ports, uint8_t life, const uint8_t *lft,
			 uint32_t lft_size);
/* Adds a port of an adapter. Returns its number as a port; the host's number is its order. */
uint32_t flow_add_host(struct flow *flow, const struct flow_host *host);
/* The settings of a port, to fill in; valid until the next node is added. Without settings no data
 * pass the port. */
struct flow_link *flow_link(struct flow *flow, uint32_t port);
void flow_add_stream(struct flow *flow, const struct flow_stream *stream);
/* After all parts were added. Returns the number of streams whose adapter cannot send them: a bad
 * VL, or no weight for it. They do not take part. */
size_t flow_start(struct flow *flow);

enum flow_end {
	FLOW_GOES_ON,	/* call flow_run() again */
	FLOW_DELIVERED, /* no packet is left */
	FLOW_TIME_OVER,
	FLOW_BLOCKED, /* packets are left and none can ever move */
};

/* Runs at most this number of events. */
enum flow_end flow_run(struct flow *flow, size_t events);

/* The results */

struct flow_counts {						   /* of a port, since the start */
	uint64_t xmit_words, xmit_packets, rcv_words, rcv_packets; /* words of 4 bytes, no VCRC */
	uint64_t wait_ps;		  /* it had packets and sent nothing */
	uint64_t discards[FLOW_DISCARDS]; /* that this port has to count */
};

struct flow_totals {
	uint64_t packets, bytes;		     /* whose first byte has left an adapter */
	uint64_t delivered, delivered_bytes;	     /* all bytes of the packets, VCRC too */
	uint64_t discards[FLOW_DISCARDS], discarded; /* packets */
	uint64_t in_flight;			     /* packets: injected and not yet ended */
	uint64_t hops;				     /* links passed by packets */
	uint64_t events;
	uint64_t moved_ps; /* the time of the last movement */
};

/* Borrowed; current. */
const struct flow_totals *flow_totals(const struct flow *flow);
/* With the wait that has not ended. */
void flow_port_counts(const struct flow *flow, uint32_t port, struct flow_counts *out);
size_t flow_ports(const struct flow *flow);
size_t flow_hosts(const struct flow *flow);
/* The number of a host's port. */
uint32_t flow_host_port(const struct flow *flow, uint32_t host);
/* Bytes since the end of the warm-up: that a host has injected and received, or a port has sent. */
uint64_t flow_host_sent(const struct flow *flow, uint32_t host);
uint64_t flow_host_received(const struct flow *flow, uint32_t host);
uint64_t flow_port_sent(const struct flow *flow, uint32_t port);

struct flow_latency { /* of messages, from the time when the adapter could send the first byte */
	uint64_t count, mean_ps, p50_ps, p99_ps, max_ps; /* p50, p99: 1.6 % too high at most */
};
void flow_latency(const struct flow *flow, struct flow_latency *out);

/* Packets that can never move, whatever is sent later, because their buffers wait for each other.
 */
struct flow_deadlock {
	size_t stuck;  /* channels (output port and VL) for which packets wait forever */
	size_t length; /* of the shortest cycle of channels that wait for each other; 0: none */
	struct flow_channel {
		uint32_t port;
		uint8_t vl;
	} * cycle; /* for free(); each waits for the next, the last for the first */
};
/* out->stuck is 0 if there is none. lifetimes: a packet moves also if HOQLife or LifeTimeValue ends
 * its wait, as in the flow. Without, also packets count that wait until then. */
void flow_find_deadlock(const struct flow *flow, bool lifetimes, struct flow_deadlock *out);

/* For tests: credits, buffers and packets on links agree everywhere. */
bool flow_is_consistent(const struct flow *flow);

#endif
