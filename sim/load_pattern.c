/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The streams of a load: which hosts send to which, on which SL, and how fast. Hosts are numbered
 * by their place in the list of the pattern.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "lib/random.h"
#include "sim/load.h"
#include "sim/world_parts.h"

enum { PPM = 1000000 };

#define BIT_PS_OF_MBPS UINT64_C(1000000) /* the time of a bit at 1 Mb/s */

struct streams {
	struct load *load;
	struct flow_stream *stream;
	size_t count;
	uint32_t *of_host; /* number of streams that a host sends */
	uint16_t mtu;
	uint64_t random;
};

static uint64_t pattern_random(struct streams *streams, uint64_t below)
{
	return random_next(&streams->random) % below;
}

static void streams_put(struct streams *streams, uint32_t from, uint32_t to,
			enum flow_choice choice, uint8_t sl)
{
	const struct load *load = streams->load;
	const struct device_port *port = load->host[from];
	const struct load_spec *spec = &load->spec;

	streams->stream = mem_grow(streams->stream, streams->count, sizeof(*streams->stream));
	streams->stream[streams->count++] = (struct flow_stream){
		.from = from,
		.to = to,
		.choice = choice,
		.sl = sl,
		.vl = device_sl_to_vl(port->device, 0, port->num, sl),
		.message_bytes =
			(uint32_t)(spec->message_bytes ? spec->message_bytes : streams->mtu),
		.mtu = streams->mtu,
		.bytes = spec->bytes ? spec->bytes : FLOW_NEVER,
	};
	streams->of_host[from]++;
}

/* The SLs take turns. */
static uint8_t turn_sl(const struct load_spec *spec, uint64_t turn)
{
	return (uint8_t)(spec->sl + turn % (spec->sl_last - spec->sl + 1));
}

/* Places in the list. Each pair has one SL; a pair with itself sends nothing. */
static void pattern_put(struct streams *streams, size_t from, size_t to)
{
	const struct load *load = streams->load;

	if (from != to && to < load->num_who)
		streams_put(streams, load->who[from], load->who[to], FLOW_TO_ONE,
			    turn_sl(&load->spec, from + to));
}

/* A stream of each host for each SL. */
static void put_all(struct streams *streams, enum flow_choice choice)
{
	const struct load *load = streams->load;

	for (size_t i = 0; i < load->num_who; i++) {
		for (uint64_t sl = load->spec.sl; sl <= load->spec.sl_last; sl++)
			streams_put(streams, load->who[i], 0, choice, (uint8_t)sl);
	}
}

static void put_shift(struct streams *streams)
{
	size_t hosts = streams->load->num_who;

	for (size_t i = 0; i < hosts; i++)
		pattern_put(streams, i, (i + streams->load->spec.shift) % hosts);
}

/* The places in a random order, for free(). */
static uint32_t *shuffled(struct streams *streams)
{
	size_t hosts = streams->load->num_who;
	uint32_t *place = mem_array(hosts, sizeof(*place));

	for (size_t i = 0; i < hosts; i++) {
		size_t j = pattern_random(streams, i + 1);

		place[i] = place[j];
		place[j] = (uint32_t)i;
	}
	return place;
}

static void put_permutation(struct streams *streams)
{
	size_t hosts = streams->load->num_who;
	uint32_t *place = shuffled(streams);

	for (size_t i = 0; i < hosts; i++)
		pattern_put(streams, place[i], place[(i + 1) % hosts]);
	free(place);
}

static void put_bisection(struct streams *streams)
{
	size_t hosts = streams->load->num_who;
	uint32_t *place = shuffled(streams);

	for (size_t i = 0; i + 1 < hosts; i += 2) {
		pattern_put(streams, place[i], place[i + 1]);
		pattern_put(streams, place[i + 1], place[i]);
	}
	free(place);
}

static void put_bit_reverse(struct streams *streams)
{
	size_t hosts = streams->load->num_who, bits = 0;

	while ((size_t)1 << bits < hosts)
		bits++;
	for (size_t i = 0; i < hosts; i++) {
		size_t to = 0;

		for (size_t b = 0; b < bits; b++)
			to |= (i >> b & 1) << (bits - 1 - b);
		pattern_put(streams, i, to);
	}
}

static void put_uniform(struct streams *streams)
{
	put_all(streams, FLOW_TO_RANDOM);
}

static void put_all_to_all(struct streams *streams)
{
	put_all(streams, FLOW_TO_EACH);
}

static void put_incast(struct streams *streams)
{
	const struct load *load = streams->load;
	uint32_t target = load_host_number(load, load->spec.target);

	for (size_t i = 0; i < load->num_who; i++) {
		if (load->who[i] != target)
			streams_put(streams, load->who[i], target, FLOW_TO_ONE,
				    turn_sl(&load->spec, i));
	}
}

static void put_pairs(struct streams *streams)
{
	const struct load_spec *spec = &streams->load->spec;

	for (size_t i = 0; i < spec->num_pairs; i++) {
		const struct load_pair *pair = &spec->pairs[i];
		uint8_t sl = pair->sl < LOAD_ALL_SLS ? pair->sl : turn_sl(spec, i);

		streams_put(streams, load_host_number(streams->load, pair->from),
			    load_host_number(streams->load, pair->to), FLOW_TO_ONE, sl);
	}
}

static void (*const put[])(struct streams *streams) = {
	[LOAD_SHIFT] = put_shift,	  [LOAD_PERMUTATION] = put_permutation,
	[LOAD_BISECTION] = put_bisection, [LOAD_BIT_REVERSE] = put_bit_reverse,
	[LOAD_UNIFORM] = put_uniform,	  [LOAD_ALL_TO_ALL] = put_all_to_all,
	[LOAD_INCAST] = put_incast,	  [LOAD_PAIRS] = put_pairs,
};

static uint16_t smallest_mtu(const struct load *load)
{
	unsigned least = (unsigned)load->spec.mtu;

	for (size_t i = 0; i < load->num_who && !load->spec.mtu; i++) {
		unsigned mtu = mtu_bytes(load->host[load->who[i]]->info.neighbor_mtu);

		if (!least || mtu < least)
			least = mtu;
	}
	return (uint16_t)least;
}

/* The time of a message on a link, with the headers of its packets. */
static uint64_t message_ps(const struct flow_stream *stream, uint32_t mbps)
{
	uint64_t packets = (stream->message_bytes + stream->mtu - 1u) / stream->mtu;
	uint64_t bytes = stream->message_bytes + packets * FLOW_HEADER_BYTES;

	return bytes * 8 * BIT_PS_OF_MBPS / mbps;
}

/* The streams of a host share its rate and its bytes. */
static void streams_add(struct streams *streams)
{
	struct load *load = streams->load;

	for (size_t s = 0; s < streams->count; s++) {
		struct flow_stream *stream = &streams->stream[s];
		uint32_t port = flow_host_port(load->flow, stream->from);
		uint32_t mbps = flow_link(load->flow, port)->mbps;
		uint32_t sharing = streams->of_host[stream->from];

		if (load->spec.rate_ppm < PPM && mbps)
			stream->interval_ps =
				(uint64_t)((double)message_ps(stream, mbps) * sharing * PPM /
					   (double)load->spec.rate_ppm);
		if (stream->bytes != FLOW_NEVER)
			stream->bytes = (stream->bytes + sharing - 1) / sharing;
		flow_add_stream(load->flow, stream);
	}
	for (size_t h = 0; h < flow_hosts(load->flow); h++) {
		if (!streams->of_host[h])
			continue;
		load->num_senders++;
		load->offered_mbps +=
			flow_link(load->flow, flow_host_port(load->flow, (uint32_t)h))->mbps *
			load->spec.rate_ppm / PPM;
	}
}

int load_start(struct load *load, char error[LOAD_ERROR_SIZE])
{
	struct streams streams = {
		.load = load,
		.of_host = mem_array(flow_hosts(load->flow) + 1, sizeof(uint32_t)),
		.mtu = smallest_mtu(load),
		.random = load->spec.seed,
	};
	int r = 0;

	put[load->spec.pattern](&streams);
	streams_add(&streams);
	load->mute = flow_start(load->flow);
	if (load->mute == streams.count) {
		snprintf(error, LOAD_ERROR_SIZE,
			 streams.count
				 ? "load: no host can send: their adapters map the SL to a VL "
				   "that is not in use or has no weight, or the buffer is smaller "
				   "than a packet"
				 : "load: with this pattern no host sends to another");
		r = -EINVAL;
	}
	free(streams.stream);
	free(streams.of_host);
	return r;
}
