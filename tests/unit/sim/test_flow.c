/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine of `weftsim do load`, on fabrics that the test builds itself. Judges are closed forms
 * (rates, latencies, shares), conservation of packets and credits after every few events, and the
 * theory of rings: one VL in one direction blocks, a second VL from a dateline on does not.
 */
#include "sim/flow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sim/flow_parts.h"
#include "tests/unit/fixtures/unit.h"

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_US UINT64_C(1000000)

enum { SWITCH_NS = 200, LINK_NS = 25, MTU = 4096, PACKET = MTU + FLOW_HEADER_BYTES, INFINITE = 20 };
enum { GBPS_25 = 25000, GBPS_100 = 100000, LFT_SIZE = 64, ONE_PACKET = 65 * FLOW_BLOCK_BYTES };

static const struct flow_options defaults = {
	.seed = 1,
	.buffer_bytes = 64 << 10,
	.switch_ps = SWITCH_NS * PS_PER_NS,
	.link_ps = LINK_NS * PS_PER_NS,
	.duration_ps = 100 * PS_PER_US,
};

/* Hosts have LIDs from 1 on, in order. */
static uint32_t add_host(struct flow *flow)
{
	const struct flow_host host = {.lid = (lid_t)(flow_hosts(flow) + 1)};

	return flow_add_host(flow, &host);
}

static void set_link(struct flow *flow, uint32_t port, uint32_t peer, uint32_t mbps)
{
	*flow_link(flow, port) = (struct flow_link){.peer = peer,
						    .mbps = mbps,
						    .mtu = MTU,
						    .vls = 4,
						    .vl_cap = 4,
						    .hoq_life = INFINITE};
}

static void cable(struct flow *flow, uint32_t a, uint32_t b, uint32_t mbps)
{
	set_link(flow, a, b, mbps);
	set_link(flow, b, a, mbps);
}

static void put_stream(struct flow *flow, uint32_t from, uint32_t to)
{
	const struct flow_stream stream = {
		.from = from, .to = to, .message_bytes = MTU, .mtu = MTU, .bytes = FLOW_NEVER};

	flow_add_stream(flow, &stream);
}

static enum flow_end run_all(struct flow *flow)
{
	enum flow_end end;

	do {
		end = flow_run(flow, 1000);
		CU_ASSERT(flow_is_consistent(flow));
	} while (end == FLOW_GOES_ON);
	return end;
}

static uint64_t send_ps(uint64_t bytes, uint64_t mbps)
{
	return bytes * 8 * PS_PER_US / mbps;
}

/* A switch with this number of hosts; the link of host h is at port h + 1. */
static struct flow *star(const struct flow_options *options, unsigned hosts)
{
	static uint8_t lft[LFT_SIZE];
	struct flow *flow = flow_new(options);

	for (unsigned lid = 1; lid < LFT_SIZE; lid++)
		lft[lid] = lid <= hosts ? (uint8_t)lid : LFT_NO_PORT;
	flow_add_switch(flow, (uint8_t)hosts, INFINITE, lft, LFT_SIZE);
	for (unsigned h = 0; h < hosts; h++)
		cable(flow, h, add_host(flow), GBPS_100);
	return flow;
}

/* Rates and latencies */

static void test_one_link(void)
{
	struct flow *flow = star(&defaults, 2);
	uint64_t path_ps = SWITCH_NS * PS_PER_NS + 2 * defaults.link_ps;
	uint64_t packet_ps = send_ps(PACKET, GBPS_100);
	struct flow_latency latency;

	put_stream(flow, 0, 1);
	CU_ASSERT_EQUAL(flow_start(flow), 0);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
	flow_latency(flow, &latency);
	CU_ASSERT_EQUAL(latency.max_ps, path_ps + packet_ps);
	CU_ASSERT_EQUAL(latency.mean_ps, path_ps + packet_ps);
	CU_ASSERT_EQUAL(latency.count, (defaults.duration_ps - path_ps) / packet_ps);
	CU_ASSERT_EQUAL(flow_host_received(flow, 1), latency.count * PACKET);
	CU_ASSERT_EQUAL(flow_host_sent(flow, 0), (defaults.duration_ps / packet_ps + 1) * PACKET);
	flow_free(flow);
}

/* A packet cuts through, and no byte is missing at a faster output. */
static void test_rates_differ(void)
{
	static const struct {
		uint32_t in, out;
	} cases[] = {{GBPS_25, GBPS_100}, {GBPS_100, GBPS_25}, {GBPS_25, GBPS_25}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flow *flow = star(&defaults, 2);
		uint64_t in_ps = send_ps(PACKET, cases[i].in),
			 out_ps = send_ps(PACKET, cases[i].out);
		struct flow_stream stream = {
			.to = 1, .message_bytes = MTU, .mtu = MTU, .bytes = MTU};
		struct flow_latency latency;

		cable(flow, 0, flow_host_port(flow, 0), cases[i].in);
		cable(flow, 1, flow_host_port(flow, 1), cases[i].out);
		flow_add_stream(flow, &stream);
		flow_start(flow);
		CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
		flow_latency(flow, &latency);
		CU_ASSERT_EQUAL(latency.max_ps, SWITCH_NS * PS_PER_NS + 2 * defaults.link_ps +
							(in_ps > out_ps ? in_ps : out_ps));
		flow_free(flow);
	}
}

/* With a buffer for one packet, the next packet waits until the first has left and its credits are
 * back. */
static void test_credits(void)
{
	struct flow_options options = defaults;
	struct flow *flow;
	uint64_t round_ps =
		SWITCH_NS * PS_PER_NS + 2 * defaults.link_ps + send_ps(PACKET, GBPS_100);
	uint64_t packet_ps = send_ps(PACKET, GBPS_100), sent;
	struct flow_counts counts;

	options.buffer_bytes = ONE_PACKET;
	flow = star(&options, 2);
	put_stream(flow, 0, 1);
	flow_start(flow);
	run_all(flow);
	sent = options.duration_ps / round_ps + 1;
	CU_ASSERT_EQUAL(flow_totals(flow)->packets, sent);
	flow_port_counts(flow, flow_host_port(flow, 0), &counts);
	CU_ASSERT_EQUAL(counts.xmit_packets, sent);
	CU_ASSERT_EQUAL(counts.xmit_words, sent * (PACKET - 2) / 4);
	/* It waits all the time but while it sends. */
	CU_ASSERT(counts.wait_ps <= options.duration_ps - (sent - 1) * packet_ps);
	CU_ASSERT(counts.wait_ps >= options.duration_ps - sent * packet_ps);
	flow_free(flow);
}

static void test_incast(void)
{
	enum { HOSTS = 9 };
	struct flow_options options = defaults;
	uint64_t share, ps;
	struct flow *flow;

	options.duration_ps = 1000 * PS_PER_US;
	options.warmup_ps = 200 * PS_PER_US;
	ps = options.duration_ps - options.warmup_ps;
	flow = star(&options, HOSTS);
	share = ps / send_ps(PACKET, GBPS_100) / (HOSTS - 1) * PACKET;
	for (uint32_t h = 1; h < HOSTS; h++)
		put_stream(flow, h, 0);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
	for (uint32_t h = 1; h < HOSTS; h++) {
		CU_ASSERT(flow_host_sent(flow, h) + 2 * PACKET >= share);
		CU_ASSERT(flow_host_sent(flow, h) <= share + 2 * PACKET);
	}
	CU_ASSERT(flow_port_sent(flow, 0) + PACKET >= (HOSTS - 1) * share);
	flow_free(flow);
}

/* A message of three packets has one latency: that of its last byte. */
static void test_messages(void)
{
	struct flow_stream stream = {
		.to = 1, .message_bytes = 10000, .mtu = MTU, .bytes = 3 * 10000 + 1};
	struct flow *flow = star(&defaults, 2);
	uint64_t bytes = 10000 + 3 * FLOW_HEADER_BYTES;
	struct flow_latency latency;

	flow_add_stream(flow, &stream);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
	flow_latency(flow, &latency);
	CU_ASSERT_EQUAL(latency.count, 4);
	CU_ASSERT_EQUAL(flow_totals(flow)->delivered, 10);
	CU_ASSERT_EQUAL(latency.max_ps,
			SWITCH_NS * PS_PER_NS + 2 * defaults.link_ps + send_ps(bytes, GBPS_100));
	/* A byte of payload takes a word. */
	CU_ASSERT_EQUAL(flow_totals(flow)->delivered_bytes, 3 * bytes + 4 + FLOW_HEADER_BYTES);
	flow_free(flow);
}

/* A load ends with its last packet, also if a lifetime would end after the duration. */
static void test_delivered(void)
{
	enum { LIFE = 10 /* 4 ms */ };
	struct flow_stream stream = {.to = 1, .message_bytes = MTU, .mtu = MTU, .bytes = 3 * MTU};

	for (unsigned stays = 0; stays < 2; stays++) {
		struct flow *flow = star(&defaults, 2);

		flow_link(flow, 0)->hoq_life = flow_link(flow, 1)->hoq_life = LIFE;
		flow_link(flow, flow_host_port(flow, 1))->vls = 0; /* sends nothing */
		/* The third message starts after the end. */
		stream.interval_ps = stays ? 60 * PS_PER_US : 0;
		flow_add_stream(flow, &stream);
		flow_add_stream(flow,
				&(struct flow_stream){
					.from = 1, .message_bytes = MTU, .mtu = MTU, .bytes = MTU});
		CU_ASSERT_EQUAL(flow_start(flow), 1);
		CU_ASSERT_EQUAL(run_all(flow), stays ? FLOW_TIME_OVER : FLOW_DELIVERED);
		CU_ASSERT_EQUAL(flow_totals(flow)->delivered == 3, !stays);
		flow_free(flow);
	}
}

static void test_paced(void)
{
	struct flow_stream stream = {.to = 1,
				     .message_bytes = MTU,
				     .mtu = MTU,
				     .bytes = FLOW_NEVER,
				     .interval_ps = PS_PER_US};
	struct flow *flow = star(&defaults, 2);

	flow_add_stream(flow, &stream);
	flow_start(flow);
	run_all(flow);
	CU_ASSERT_EQUAL(flow_totals(flow)->packets, defaults.duration_ps / PS_PER_US);
	flow_free(flow);
}

/* VLs share a link by weights: 1 to 3, in packets of 65 blocks. */
static void test_weights(void)
{
	static const uint8_t weights[] = {0, 65, 1, 195};
	struct flow *flow = star(&defaults, 3);

	for (uint8_t vl = 0; vl < 2; vl++) {
		const struct flow_stream stream = {.from = vl + 1u,
						   .sl = vl,
						   .vl = vl,
						   .message_bytes = MTU,
						   .mtu = MTU,
						   .bytes = FLOW_NEVER};

		flow_add_stream(flow, &stream);
	}
	flow_link(flow, 0)->vl_low = weights;
	flow_link(flow, 0)->vl_low_count = 2;
	flow_start(flow);
	run_all(flow);
	CU_ASSERT(flow_totals(flow)->delivered > 290);
	/* The buffers of the first host fill once. */
	CU_ASSERT_DOUBLE_EQUAL((double)(flow_host_sent(flow, 2) - (64 << 10)),
			       3.0 * (double)(flow_host_sent(flow, 1) - (64 << 10)), 8 * PACKET);
	flow_free(flow);
}

/* Rings */

enum { RING = 5, EACH = 2, NEXT = EACH + 1, PREVIOUS = EACH + 2, RING_PORTS = EACH + 2 };

struct ring_options {
	uint8_t hoq_life, life, stall;
	bool dateline;
	uint32_t buffer_bytes;
	uint64_t duration_ps;
};

/* Switches in a ring, packets in one direction. With a dateline, packets that enter switch 0 from
 * the ring leave it on VL1. */
static struct flow *ring_new(const struct ring_options *ring, uint64_t seed)
{
	struct flow_options options = defaults;
	static uint8_t lft[RING][LFT_SIZE];
	static const uint8_t stays[(RING_PORTS + 1) * 8];
	static uint8_t crosses[(RING_PORTS + 1) * 8];
	struct flow *flow;

	memset(crosses + PREVIOUS * 8, 0x11, 8);
	options.seed = seed;
	options.buffer_bytes = ring->buffer_bytes;
	options.duration_ps = ring->duration_ps;
	flow = flow_new(&options);
	for (unsigned s = 0; s < RING; s++) {
		memset(lft[s], LFT_NO_PORT, LFT_SIZE);
		for (unsigned h = 0; h < RING * EACH; h++)
			lft[s][h + 1] = h / EACH == s ? (uint8_t)(1 + h % EACH) : NEXT;
		flow_add_switch(flow, RING_PORTS, ring->life, lft[s], LFT_SIZE);
	}
	for (unsigned s = 0; s < RING; s++) {
		uint32_t first = s * RING_PORTS, next = (s + 1) % RING * RING_PORTS;

		cable(flow, first + NEXT - 1, next + PREVIOUS - 1, GBPS_100);
		for (unsigned h = 0; h < EACH; h++)
			cable(flow, first + h, add_host(flow), GBPS_100);
	}
	for (unsigned s = 0; s < RING; s++) {
		struct flow_link *link = flow_link(flow, s * RING_PORTS + NEXT - 1);

		link->hoq_life = ring->hoq_life;
		link->vl_stall_count = ring->stall;
		link->sl_to_vl = ring->dateline && s == 0 ? crosses : stays;
	}
	return flow;
}

static void put_shift(struct flow *flow, unsigned by)
{
	for (uint32_t h = 0; h < RING * EACH; h++)
		put_stream(flow, h, (h + by * EACH) % (RING * EACH));
}

static void put_random(struct flow *flow)
{
	for (uint32_t h = 0; h < RING * EACH; h++) {
		const struct flow_stream stream = {.from = h,
						   .choice = FLOW_TO_RANDOM,
						   .message_bytes = MTU,
						   .mtu = MTU,
						   .bytes = FLOW_NEVER};

		flow_add_stream(flow, &stream);
	}
}

static void test_deadlock(void)
{
	const struct ring_options ring = {INFINITE, INFINITE,	0,
					  false,    ONE_PACKET, 100 * PS_PER_US};
	struct flow *flow = ring_new(&ring, 1);
	struct flow_deadlock deadlock;
	bool seen[RING] = {0};

	put_shift(flow, 2);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_BLOCKED);
	CU_ASSERT_EQUAL(flow_totals(flow)->discarded, 0);
	flow_find_deadlock(flow, true, &deadlock);
	CU_ASSERT_EQUAL(deadlock.length, RING);
	CU_ASSERT_EQUAL(deadlock.stuck, RING + RING * EACH); /* the adapters wait, too */
	for (size_t i = 0; i < deadlock.length; i++) {
		uint32_t port = deadlock.cycle[i].port;
		uint32_t next = deadlock.cycle[(i + 1) % RING].port;

		CU_ASSERT_EQUAL(port % RING_PORTS, NEXT - 1);
		CU_ASSERT_EQUAL(next / RING_PORTS, (port / RING_PORTS + 1) % RING);
		CU_ASSERT_EQUAL(deadlock.cycle[i].vl, 0);
		seen[port / RING_PORTS] = true;
	}
	for (unsigned s = 0; s < RING; s++)
		CU_ASSERT(seen[s]);
	free(deadlock.cycle);
	flow_free(flow);
}

/* While lifetimes have not ended, packets wait for each other, but not forever. */
static void test_credit_loop(void)
{
	enum { LIFE = 10 };
	const struct ring_options ring = {LIFE, INFINITE, 0, false, ONE_PACKET, 100 * PS_PER_US};
	struct flow *flow = ring_new(&ring, 1);
	struct flow_deadlock loop, forever;

	put_shift(flow, 2);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
	flow_find_deadlock(flow, false, &loop);
	flow_find_deadlock(flow, true, &forever);
	CU_ASSERT_EQUAL(loop.length, RING);
	CU_ASSERT_EQUAL(forever.stuck, 0);
	free(loop.cycle);
	free(forever.cycle);
	flow_free(flow);
}

/* All paths have two links between switches. A packet on VL1 ends at the next switch, so no packet
 * on VL1 waits for another. */
static void test_dateline(void)
{
	const struct ring_options ring = {INFINITE, INFINITE,	0,
					  true,	    ONE_PACKET, 1000 * PS_PER_US};
	struct flow *flow = ring_new(&ring, 1);
	struct flow_deadlock deadlock;

	put_shift(flow, 2);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
	CU_ASSERT(flow_totals(flow)->delivered > 1000);
	flow_find_deadlock(flow, false, &deadlock);
	CU_ASSERT_EQUAL(deadlock.stuck, 0);
	flow_free(flow);
}

/* Lifetimes end the wait: packets are discarded, and others are delivered. */
static void test_lifetimes(void)
{
	enum { LIFE = 3 };
	static const struct {
		uint8_t hoq_life, life;
		enum flow_discard reason;
	} cases[] = {{LIFE, INFINITE, FLOW_HOQ_LIFE}, {INFINITE, LIFE, FLOW_SWITCH_LIFE}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct ring_options ring = {cases[i].hoq_life, cases[i].life,    0, false,
						  ONE_PACKET,	     10000 * PS_PER_US};
		struct flow *flow = ring_new(&ring, 1);
		struct flow_deadlock deadlock;
		struct flow_counts counts;
		uint64_t counted = 0;

		put_random(flow);
		flow_start(flow);
		CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
		CU_ASSERT(flow_totals(flow)->discards[cases[i].reason] > 100);
		CU_ASSERT_EQUAL(flow_totals(flow)->discards[cases[i].reason],
				flow_totals(flow)->discarded);
		CU_ASSERT(flow_totals(flow)->delivered > 100);
		for (uint32_t s = 0; s < RING; s++) {
			flow_port_counts(flow, s * RING_PORTS + NEXT - 1, &counts);
			counted += counts.discards[cases[i].reason];
		}
		CU_ASSERT_EQUAL(counted, flow_totals(flow)->discarded);
		flow_find_deadlock(flow, true, &deadlock);
		CU_ASSERT_EQUAL(deadlock.stuck, 0);
		flow_free(flow);
	}
}

/* The first discard comes 4.096 us * 2^n after the head began to wait, and not before. */
static void test_first_discard(void)
{
	enum { LIFE = 4 };
	struct ring_options ring = {LIFE, INFINITE, 0, false, ONE_PACKET, 0};
	uint64_t life_ps = (4096 * PS_PER_NS) << LIFE, begins_ps;
	struct flow *flow;

	/* The second host's packet waits from its arrival on: its link is busy, then without
	 * credits. */
	begins_ps = (SWITCH_NS + LINK_NS) * PS_PER_NS;
	for (unsigned late = 0; late < 2; late++) {
		ring.duration_ps = begins_ps + life_ps - !late;
		flow = ring_new(&ring, 1);
		put_shift(flow, 2);
		flow_start(flow);
		CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
		CU_ASSERT_EQUAL(flow_totals(flow)->discarded > 0, late);
		flow_free(flow);
	}
}

/* After VLStallCount discards in sequence the VL discards all packets for 8 HOQLife. */
static void test_stalled(void)
{
	enum { LIFE = 3 };
	struct ring_options ring = {LIFE, INFINITE, 1, false, ONE_PACKET, 0};
	uint64_t life_ps = (4096 * PS_PER_NS) << LIFE;
	uint64_t begins_ps = (SWITCH_NS + LINK_NS) * PS_PER_NS;
	struct flow *flow;
	struct flow_counts counts, later;

	ring.duration_ps = begins_ps + 8 * life_ps;
	flow = ring_new(&ring, 1);
	put_shift(flow, 2);
	flow_start(flow);
	run_all(flow);
	CU_ASSERT_EQUAL(flow_totals(flow)->discards[FLOW_HOQ_LIFE], RING);
	CU_ASSERT(flow_totals(flow)->discards[FLOW_STALLED] > 100 * RING);
	flow_port_counts(flow, NEXT - 1, &counts);
	CU_ASSERT_EQUAL(counts.discards[FLOW_HOQ_LIFE], 1);
	flow_free(flow);
	/* Then the VL sends again. */
	ring.duration_ps = begins_ps + 9 * life_ps + 10 * PS_PER_US;
	flow = ring_new(&ring, 1);
	put_shift(flow, 2);
	flow_start(flow);
	run_all(flow);
	flow_port_counts(flow, NEXT - 1, &later);
	CU_ASSERT(later.xmit_packets > counts.xmit_packets);
	flow_free(flow);
}

/* Only discards for HOQLife stall a VL. */
static void test_not_stalled(void)
{
	const struct ring_options ring = {INFINITE, 3, 1, false, ONE_PACKET, 1000 * PS_PER_US};
	struct flow *flow = ring_new(&ring, 1);

	put_shift(flow, 2);
	flow_start(flow);
	run_all(flow);
	CU_ASSERT(flow_totals(flow)->discards[FLOW_SWITCH_LIFE] > 0);
	CU_ASSERT_EQUAL(flow_totals(flow)->discards[FLOW_STALLED], 0);
	flow_free(flow);
}

/* A switch whose output to host 1 never has credits, so that its head waits. */
static struct flow *blocked_star(uint64_t duration_ps, uint64_t bytes, uint8_t life, uint8_t stall)
{
	const struct flow_stream stream = {
		.to = 1, .message_bytes = MTU, .mtu = MTU, .bytes = bytes};
	struct flow_options options = defaults;
	struct flow *flow;

	options.duration_ps = duration_ps;
	flow = star(&options, 2);
	flow_link(flow, 1)->hoq_life = life;
	flow_link(flow, 1)->vl_stall_count = stall;
	flow_add_stream(flow, &stream);
	flow_start(flow);
	flow_channel_of(flow, 1, 0)->credits = 0;
	while (flow_run(flow, 1000) == FLOW_GOES_ON)
		;
	return flow;
}

/* A port waits until its last packet is discarded. */
static void test_wait_ends(void)
{
	enum { LIFE = 2 };
	struct flow *flow = blocked_star(1000 * PS_PER_US, MTU, LIFE, 0);
	struct flow_counts counts;

	flow_port_counts(flow, 1, &counts);
	CU_ASSERT_EQUAL(counts.discards[FLOW_HOQ_LIFE], 1);
	CU_ASSERT_EQUAL(counts.wait_ps, (4096 * PS_PER_NS) << LIFE);
	flow_free(flow);
}

/* Without lifetimes it waits until the end of the duration, also if nothing moves before. */
static void test_wait_lasts(void)
{
	struct flow *flow = blocked_star(defaults.duration_ps, FLOW_NEVER, INFINITE, 0);
	struct flow_counts counts;

	flow_port_counts(flow, 1, &counts);
	CU_ASSERT_EQUAL(counts.wait_ps, defaults.duration_ps - (SWITCH_NS + LINK_NS) * PS_PER_NS);
	flow_free(flow);
}

/* The warm-up does not count, and percentiles are those of a known distribution. */
static void test_results(void)
{
	struct flow_options options = defaults;
	struct flow_latency latency;
	struct flow *flow;

	options.warmup_ps = options.duration_ps / 2;
	options.buffer_bytes = 1 << 20;
	flow = star(&options, 2);
	CU_ASSERT_EQUAL(flow->buffer_blocks, FLOW_BLOCKS_MAX);
	flow_link(flow, 0)->hoq_life = FLOW_LIFE_MAX;
	put_stream(flow, 0, 1);
	flow_start(flow);
	CU_ASSERT_EQUAL(flow->ports[0].hoq_ps, (4096 * PS_PER_NS) << FLOW_LIFE_MAX);
	CU_ASSERT_EQUAL(flow->ports[1].hoq_ps, FLOW_NEVER);
	run_all(flow);
	flow_latency(flow, &latency);
	CU_ASSERT(latency.count <= options.warmup_ps / send_ps(PACKET, GBPS_100) + 1);
	CU_ASSERT_EQUAL(flow_port_sent(flow, flow_host_port(flow, 0)), flow_host_sent(flow, 0));
	flow_free(flow);
	flow = flow_new(&defaults);
	for (uint64_t ns = 1; ns <= 100; ns++)
		flow_latency_add(flow, ns * PS_PER_NS);
	flow_latency(flow, &latency);
	CU_ASSERT(latency.p50_ps >= 50 * PS_PER_NS && latency.p50_ps < 51 * PS_PER_NS);
	CU_ASSERT(latency.p99_ps >= 99 * PS_PER_NS && latency.p99_ps <= 100 * PS_PER_NS);
	CU_ASSERT_EQUAL(latency.mean_ps, 50500);
	flow_free(flow);
}

/* After a stall the discards in sequence count from 0 again: 2 of them, 8 HOQLife, 2 more. */
static void test_stalls_again(void)
{
	enum { LIFE = 2 };
	uint64_t life_ps = (4096 * PS_PER_NS) << LIFE;
	struct flow *flow = blocked_star(12 * life_ps + life_ps / 2, FLOW_NEVER, LIFE, 2);

	CU_ASSERT_EQUAL(flow_totals(flow)->discards[FLOW_HOQ_LIFE], 4);
	CU_ASSERT(flow_totals(flow)->discards[FLOW_STALLED] > 100);
	flow_free(flow);
}

/* Discards of tables: the reason, and the port that counts it. */
static void test_discards(void)
{
	static const uint64_t no_keys[1], keys[1] = {1};
	static const uint8_t vl15[4 * 8] = {0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
	static const uint8_t other_weight[] = {1, 10};
	static const struct {
		enum flow_discard reason;
		uint32_t counter;
		struct flow_link in, out;
		uint8_t entry;
		lid_t lid;
		const uint64_t *accepts;
	} cases[] = {
		{.reason = FLOW_NO_ROUTE, .counter = 0, .entry = LFT_NO_PORT, .lid = 2},
		{.reason = FLOW_NO_ROUTE, .counter = 0, .entry = 0, .lid = 2},
		{.reason = FLOW_NO_ROUTE, .counter = 0, .entry = 4, .lid = 2},
		{.reason = FLOW_LOOPING, .counter = 0, .entry = 1, .lid = 2},
		{.reason = FLOW_INACTIVE, .counter = 2, .entry = 3, .lid = 2},
		{.reason = FLOW_WRONG_HOST, .counter = FLOW_NONE, .entry = 2, .lid = 9},
		{.reason = FLOW_HOST_KEY,
		 .counter = FLOW_NONE,
		 .entry = 2,
		 .lid = 2,
		 .accepts = no_keys},
		{.reason = FLOW_DISCARDS, .entry = 2, .lid = 2, .accepts = keys},
		{.reason = FLOW_KEY_IN, .counter = 0, .entry = 2, .lid = 2, .in.keys_in = no_keys},
		{.reason = FLOW_DISCARDS,
		 .entry = 2,
		 .lid = 2,
		 .in.keys_out = no_keys,
		 .out.keys_in = no_keys,
		 .out.keys_out = keys},
		{.reason = FLOW_KEY_OUT,
		 .counter = 1,
		 .entry = 2,
		 .lid = 2,
		 .out.keys_out = no_keys},
		{.reason = FLOW_TOO_LONG, .counter = 1, .entry = 2, .lid = 2, .out.mtu = 2048},
		{.reason = FLOW_BAD_VL, .counter = 0, .entry = 2, .lid = 2, .out.sl_to_vl = vl15},
		{.reason = FLOW_NO_WEIGHT,
		 .counter = 1,
		 .entry = 2,
		 .lid = 2,
		 .out.vl_low = other_weight,
		 .out.vl_low_count = 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct flow_stream stream = {
			.to = 1, .message_bytes = MTU, .mtu = MTU, .bytes = 20 * MTU};
		const struct flow_host hosts[] = {{.lid = 1},
						  {.lid = 2, .accepts = cases[i].accepts}};
		uint8_t lft[LFT_SIZE] = {0};
		struct flow *flow = flow_new(&defaults);
		struct flow_link in = cases[i].in, out = cases[i].out;
		struct flow_counts counts;

		lft[2] = lft[cases[i].lid] = cases[i].entry;
		flow_add_switch(flow, 3, INFINITE, lft, LFT_SIZE);
		flow_add_host(flow, &hosts[0]);
		flow_add_host(flow, &hosts[1]);
		cable(flow, 0, 3, GBPS_100);
		cable(flow, 1, 4, GBPS_100);
		flow_link(flow, 0)->keys_in = in.keys_in;
		flow_link(flow, 0)->keys_out = in.keys_out;
		flow_link(flow, 1)->keys_in = out.keys_in;
		flow_link(flow, 1)->keys_out = out.keys_out;
		flow_link(flow, 1)->sl_to_vl = out.sl_to_vl;
		flow_link(flow, 1)->vl_low = out.vl_low;
		flow_link(flow, 1)->vl_low_count = out.vl_low_count;
		if (out.mtu)
			flow_link(flow, 1)->mtu = out.mtu;
		flow_add_stream(flow, &stream);
		flow_start(flow);
		flow_run(flow, 1); /* the first packet has its LID */
		flow->nodes[2].lid = cases[i].lid;
		CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
		if (cases[i].reason == FLOW_DISCARDS) {
			CU_ASSERT_EQUAL(flow_totals(flow)->delivered, 20);
			flow_free(flow);
			continue;
		}
		CU_ASSERT(flow_totals(flow)->discards[cases[i].reason] >= 1);
		CU_ASSERT_EQUAL(flow_totals(flow)->discards[cases[i].reason],
				flow_totals(flow)->discarded);
		CU_ASSERT_EQUAL(flow_totals(flow)->delivered + flow_totals(flow)->discarded, 20);
		for (uint32_t port = 0; port < flow_ports(flow); port++) {
			flow_port_counts(flow, port, &counts);
			CU_ASSERT_EQUAL(counts.discards[cases[i].reason],
					port == cases[i].counter ? flow_totals(flow)->discarded
								 : 0);
		}
		flow_free(flow);
	}
}

/* A bad P_Key is found before a missing entry, and the last LID of the table has an entry. There
 * are more classes of P_Keys than bits of a word. */
static void test_edges(void)
{
	enum { CLASS = 70 };
	static const uint64_t low_keys[] = {UINT64_MAX, 0}, high_keys[] = {0, 1 << (CLASS - 64)};
	static const uint8_t lft[] = {LFT_NO_PORT, LFT_NO_PORT, 2};
	static const struct {
		uint32_t size;
		const uint64_t *keys;
		enum flow_discard reason;
	} cases[] = {
		{3, NULL, FLOW_DISCARDS},   {3, high_keys, FLOW_DISCARDS},
		{3, low_keys, FLOW_KEY_IN}, {2, high_keys, FLOW_NO_ROUTE},
		{2, low_keys, FLOW_KEY_IN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct flow_stream stream = {
			.to = 1, .message_bytes = MTU, .mtu = MTU, .bytes = MTU};
		const struct flow_host from = {.lid = 1, .key = CLASS}, to = {.lid = 2};
		struct flow *flow = flow_new(&defaults);

		flow_add_switch(flow, 2, INFINITE, lft, cases[i].size);
		flow_add_host(flow, &from);
		flow_add_host(flow, &to);
		cable(flow, 0, 2, GBPS_100);
		cable(flow, 1, 3, GBPS_100);
		flow_link(flow, 0)->keys_in = cases[i].keys;
		flow_add_stream(flow, &stream);
		flow_start(flow);
		CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
		CU_ASSERT_EQUAL(flow_totals(flow)->delivered, cases[i].reason == FLOW_DISCARDS);
		if (cases[i].reason != FLOW_DISCARDS)
			CU_ASSERT_EQUAL(flow_totals(flow)->discards[cases[i].reason], 1);
		flow_free(flow);
	}
}

/* A packet that is discarded holds its buffer until its last byte has arrived: the next packet is
 * not sent before. */
static void test_discarded_buffer(void)
{
	static const uint8_t lft[LFT_SIZE];
	const struct flow_stream stream = {
		.to = 1, .message_bytes = MTU, .mtu = MTU, .bytes = 2 * MTU};
	struct flow_options options = defaults;
	struct flow *flow;

	options.buffer_bytes = ONE_PACKET;
	options.switch_ps = 0;
	flow = flow_new(&options);
	flow_add_switch(flow, 2, INFINITE, lft, LFT_SIZE);
	add_host(flow);
	add_host(flow);
	cable(flow, 0, 2, GBPS_100);
	cable(flow, 1, 3, GBPS_100);
	flow_add_stream(flow, &stream);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(flow)->discards[FLOW_NO_ROUTE], 2);
	/* Two packets; the delay of the link passes there and back, and there again. */
	CU_ASSERT_EQUAL(flow_totals(flow)->moved_ps,
			2 * send_ps(PACKET, GBPS_100) + 3 * options.link_ps);
	flow_free(flow);
}

/* A row of SLtoVL has the VL of an even SL in the upper half of a byte, and there is a row for each
 * input port. */
static void test_sl_to_vl(void)
{
	static const uint8_t table[3 * 8] = {
		0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0x12, 0x30, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF,
	};
	static const uint8_t vl[] = {1, 2, 3, 0};

	for (uint8_t sl = 0; sl < ARRAY_SIZE(vl); sl++) {
		const struct flow_stream stream = {
			.to = 1, .sl = sl, .message_bytes = MTU, .mtu = MTU, .bytes = MTU};
		struct flow *flow = star(&defaults, 2);

		flow_link(flow, 1)->sl_to_vl = table;
		flow_add_stream(flow, &stream);
		flow_start(flow);
		CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
		CU_ASSERT_EQUAL(flow_totals(flow)->delivered, 1);
		CU_ASSERT_EQUAL(flow->packets[0].vl, vl[sl]);
		flow_free(flow);
	}
}

/* An adapter cannot send on a VL that its link does not use. */
static void test_mute(void)
{
	struct flow_stream stream = {
		.to = 1, .vl = 4, .message_bytes = MTU, .mtu = MTU, .bytes = MTU};
	struct flow *flow = star(&defaults, 2);

	flow_add_stream(flow, &stream);
	CU_ASSERT_EQUAL(flow_start(flow), 1);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(flow)->packets, 0);
	flow_free(flow);
}

/* Conservation and determinism: any seed, lifetimes and buffers, with turns of any length. */
static void test_any_seed(void)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		const struct ring_options ring = {(uint8_t)(seed % 5),
						  (uint8_t)(seed % 3 + 2),
						  (uint8_t)(seed % 4),
						  false,
						  (uint32_t)(ONE_PACKET * (1 + seed % 3)),
						  300 * PS_PER_US};
		struct flow_totals totals[2];

		for (unsigned again = 0; again < 2; again++) {
			struct flow *flow = ring_new(&ring, seed);
			size_t turn = again ? 1 + seed * 7 : 100000;

			for (uint32_t h = 0; h < RING * EACH; h++) {
				const struct flow_stream stream = {
					.from = h,
					.choice = seed & 1 ? FLOW_TO_RANDOM : FLOW_TO_EACH,
					.message_bytes = (uint32_t)(1 + seed * 997 % 9000),
					.mtu = seed & 2 ? MTU : 512,
					.bytes = FLOW_NEVER,
					.interval_ps = seed & 4 ? PS_PER_US : 0};

				flow_add_stream(flow, &stream);
			}
			flow_start(flow);
			while (flow_run(flow, turn) == FLOW_GOES_ON)
				CU_ASSERT(flow_is_consistent(flow));
			CU_ASSERT(flow_is_consistent(flow));
			CU_ASSERT(flow_totals(flow)->delivered > 0);
			totals[again] = *flow_totals(flow);
			flow_free(flow);
		}
		CU_ASSERT(!memcmp(&totals[0], &totals[1], sizeof(totals[0])));
	}
}

/* Only discards in sequence stall a VL: a packet that is sent ends the sequence. */
static void test_sequence(void)
{
	struct flow *flow = star(&defaults, 2);

	put_stream(flow, 0, 1);
	flow_start(flow);
	flow_channel_of(flow, 1, 0)->drops = 6;
	flow_run(flow, 10);
	CU_ASSERT_EQUAL(flow_channel_of(flow, 1, 0)->drops, 0);
	flow_free(flow);
}

/* A switch without a table maps the SL, whatever the VL of the adapter. */
static void test_sl(void)
{
	const struct flow_stream stream = {
		.to = 1, .sl = 3, .message_bytes = MTU, .mtu = MTU, .bytes = 4 * MTU};
	struct flow *flow = star(&defaults, 2);

	flow_add_stream(flow, &stream);
	flow_start(flow);
	CU_ASSERT_EQUAL(flow->vls, 4);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(flow)->delivered, 4);
	flow_free(flow);
}

/* A part of the fabric is blocked, the rest goes on: the blocked part is found at the end. */
static void test_part(void)
{
	const struct ring_options ring = {INFINITE, INFINITE,	0,
					  false,    ONE_PACKET, 100 * PS_PER_US};
	struct flow *flow = ring_new(&ring, 1);
	struct flow_deadlock deadlock;

	for (uint32_t h = 0; h < RING * EACH; h += EACH)
		put_stream(flow, h, (h + 2 * EACH) % (RING * EACH));
	put_stream(flow, 1, 0);
	flow_start(flow);
	CU_ASSERT_EQUAL(run_all(flow), FLOW_TIME_OVER);
	CU_ASSERT(flow_host_received(flow, 0) > 100 * PACKET);
	flow_find_deadlock(flow, true, &deadlock);
	CU_ASSERT_EQUAL(deadlock.length, RING);
	CU_ASSERT_EQUAL(deadlock.stuck, 2 * RING);
	free(deadlock.cycle);
	flow_free(flow);
}

static CU_TestInfo tests[] = {
	{"one link", test_one_link},
	{"links with different rates", test_rates_differ},
	{"credits", test_credits},
	{"incast", test_incast},
	{"messages", test_messages},
	{"the end", test_delivered},
	{"paced streams", test_paced},
	{"weights of VLs", test_weights},
	{"deadlock", test_deadlock},
	{"credit loop", test_credit_loop},
	{"dateline", test_dateline},
	{"lifetimes", test_lifetimes},
	{"first discard", test_first_discard},
	{"stalled VL", test_stalled},
	{"lifetimes that do not stall", test_not_stalled},
	{"the end of a wait", test_wait_ends},
	{"a wait without end", test_wait_lasts},
	{"results", test_results},
	{"stalls in sequence", test_stalls_again},
	{"discards by tables", test_discards},
	{"edges of tables", test_edges},
	{"the buffer of a discarded packet", test_discarded_buffer},
	{"SLtoVL tables", test_sl_to_vl},
	{"adapters that cannot send", test_mute},
	{"discards in sequence", test_sequence},
	{"SLs without a table", test_sl},
	{"a blocked part", test_part},
	{"any seed", test_any_seed},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("flow", tests);
}
