/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A stream has two ends. Each end has a queue of bytes to send, and a timer that passes a piece of
 * it to the other end after a delay. A closed end is freed in a later turn, as real streams are.
 */
#include "tests/sim/pipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { LATENCY_US = 100, PIECE_MAX = 20000, PATIENCE_US = 5000000 };

struct pipe_net {
	struct loop *loop;
	struct list carriers;
	uint64_t random, delivered;
	bool cut, in_clear;
};

struct carrier {
	struct stream_carrier base;
	struct list link, ends;
	struct pipe_net *net;
	char address[STREAM_PEER_SIZE];
	bool listens;
	struct stream_listener listener;
};

struct end {
	struct stream base;
	struct list link;
	struct carrier *carrier;
	struct end *other; /* NULL: not connected, or the other end is closed */
	bool connecting, leaving, gone;
	uint64_t since_us;
	struct loop_timer moves;
	struct loop_deferred free;
	uint8_t *out;
	size_t begin, filled, room;
};

static uint64_t draw(struct pipe_net *net, uint64_t bound)
{
	net->random = net->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (net->random >> 33) % bound;
}

static struct end *end_of(const struct stream *stream)
{
	return container_of((struct stream *)stream, struct end, base);
}

static size_t waiting(const struct stream *stream)
{
	return end_of(stream)->filled - end_of(stream)->begin;
}

/* Ends */

static void end_free(struct end *end)
{
	loop_timer_disarm(&end->moves);
	loop_defer_cancel(&end->free);
	list_del(&end->link);
	free(end->out);
	free(end);
}

static void free_later(void *arg)
{
	end_free(arg);
}

/* Its user gets no more calls. The other end notices after a delay. */
static void go(struct end *end)
{
	if (end->gone)
		return;
	end->gone = true;
	loop_timer_disarm(&end->moves);
	loop_defer(&end->free);
	if (end->other) {
		end->other->other = NULL;
		loop_timer_arm(&end->other->moves, LATENCY_US);
	}
	end->other = NULL;
}

static void fail(struct end *end, const char *why)
{
	bool tells = !end->gone && !end->leaving;

	go(end);
	if (tells)
		end->base.user.closed(end->base.user.ctx, why);
}

static void send_bytes(struct stream *stream, const void *bytes, size_t size)
{
	struct end *end = end_of(stream);

	if (end->gone || end->leaving)
		return;
	if (end->filled + size > end->room) {
		end->room = 2 * (end->filled + size);
		end->out = mem_resize(end->out, end->room, 1);
	}
	memcpy(end->out + end->filled, bytes, size);
	end->filled += size;
	if (!loop_timer_armed(&end->moves))
		loop_timer_arm(&end->moves, LATENCY_US);
}

static void close_stream(struct stream *stream, bool politely)
{
	struct end *end = end_of(stream);

	if (politely && end->other && waiting(stream))
		end->leaving = true;
	else
		go(end);
}

static const struct stream_ops end_ops = {
	.send = send_bytes, .waiting = waiting, .close = close_stream};

static void moves(void *arg);

static struct end *end_new(struct carrier *carrier, const char *peer)
{
	struct end *end = mem_zalloc(sizeof(*end));

	end->base.ops = &end_ops;
	end->base.in_clear = carrier->net->in_clear;
	snprintf(end->base.peer, sizeof(end->base.peer), "%s", peer);
	end->carrier = carrier;
	end->since_us = loop_now_us(carrier->net->loop);
	loop_timer_init(&end->moves, carrier->net->loop, "pipe", moves, end);
	loop_deferred_init(&end->free, carrier->net->loop, "pipe", free_later, end);
	list_init(&end->link);
	list_push(&carrier->ends, &end->link);
	return end;
}

static struct carrier *listener_at(const struct pipe_net *net, const char *address)
{
	list_for_each (link, &net->carriers) {
		struct carrier *carrier = container_of(link, struct carrier, link);

		if (carrier->listens && !strcmp(carrier->address, address))
			return carrier;
	}
	return NULL;
}

static void connects(struct end *end)
{
	struct carrier *to = listener_at(end->carrier->net, end->base.peer);

	if (!to) {
		fail(end, "connection refused");
		return;
	}
	end->connecting = false;
	end->other = end_new(to, end->carrier->address);
	end->other->other = end;
	to->listener.accepted(to->listener.ctx, &end->other->base);
	if (!end->gone)
		end->base.user.opened(end->base.user.ctx);
}

static void delivers(struct end *end)
{
	struct pipe_net *net = end->carrier->net;
	size_t size = waiting(&end->base), piece = 1 + draw(net, PIECE_MAX);
	struct end *to = end->other;
	uint8_t *bytes;

	piece = piece < size ? piece : size;
	bytes = end->out + end->begin;
	end->begin += piece;
	net->delivered += piece;
	if (piece && !to->leaving)
		to->base.user.received(to->base.user.ctx, bytes, piece);
	if (end->gone)
		return;
	if (end->begin == end->filled)
		end->begin = end->filled = 0;
	else
		loop_timer_arm(&end->moves, 1 + draw(net, LATENCY_US));
	if (end->leaving && !waiting(&end->base))
		go(end);
	else if (!end->leaving && waiting(&end->base) < STREAM_LOW_BYTES)
		end->base.user.drained(end->base.user.ctx);
}

static void moves(void *arg)
{
	struct end *end = arg;
	struct pipe_net *net = end->carrier->net;

	if (net->cut && end->connecting && loop_now_us(net->loop) - end->since_us >= PATIENCE_US)
		fail(end, "no answer");
	else if (net->cut)
		loop_timer_arm(&end->moves, 1000);
	else if (end->connecting)
		connects(end);
	else if (end->other)
		delivers(end);
	else
		fail(end, "the peer closed the connection");
}

/* Carriers */

static struct stream *pipe_connect(struct stream_carrier *base, const char *address,
				   const struct stream_user *user, char why[STREAM_WHY_SIZE])
{
	struct end *end = end_new(container_of(base, struct carrier, base), address);

	(void)why;
	end->base.user = *user;
	end->connecting = true;
	loop_timer_arm(&end->moves, LATENCY_US);
	return &end->base;
}

static int pipe_listen(struct stream_carrier *base, const char *address,
		       const struct stream_listener *listener, char why[STREAM_WHY_SIZE])
{
	struct carrier *carrier = container_of(base, struct carrier, base);

	if (*address && strcmp(address, carrier->address) != 0) {
		snprintf(why, STREAM_WHY_SIZE, "%.80s is the address of another carrier", address);
		return -EADDRNOTAVAIL;
	}
	carrier->listens = true;
	carrier->listener = *listener;
	return 0;
}

static void carrier_free(struct stream_carrier *base)
{
	struct carrier *carrier = container_of(base, struct carrier, base);

	list_for_each (link, &carrier->ends) {
		struct end *end = container_of(link, struct end, link);

		go(end);
		end_free(end);
	}
	list_del(&carrier->link);
	free(carrier);
}

static const struct stream_carrier_ops carrier_ops = {
	.connect = pipe_connect, .listen = pipe_listen, .free = carrier_free};

struct stream_carrier *pipe_open(struct pipe_net *net, const char *address)
{
	struct carrier *carrier = mem_zalloc(sizeof(*carrier));

	carrier->base.ops = &carrier_ops;
	carrier->net = net;
	snprintf(carrier->address, sizeof(carrier->address), "%s", address);
	list_init(&carrier->ends);
	list_init(&carrier->link);
	list_push(&net->carriers, &carrier->link);
	return &carrier->base;
}

/* The network */

struct pipe_net *pipe_net_new(struct loop *loop, uint64_t seed)
{
	struct pipe_net *net = mem_zalloc(sizeof(*net));

	net->loop = loop;
	net->random = seed;
	list_init(&net->carriers);
	return net;
}

void pipe_net_free(struct pipe_net *net)
{
	free(net);
}

void pipe_cut(struct pipe_net *net, bool cut)
{
	net->cut = cut;
}

void pipe_in_clear(struct pipe_net *net, bool in_clear)
{
	net->in_clear = in_clear;
}

void pipe_reset(struct pipe_net *net)
{
	list_for_each (link, &net->carriers) {
		struct carrier *carrier = container_of(link, struct carrier, link);

		list_for_each (item, &carrier->ends)
			fail(container_of(item, struct end, link), "connection reset");
	}
}

void pipe_inject(struct pipe_net *net, const char *address, const void *bytes, size_t size)
{
	list_for_each (link, &net->carriers) {
		struct carrier *carrier = container_of(link, struct carrier, link);

		list_for_each (item, &carrier->ends) {
			struct end *end = container_of(item, struct end, link);

			if (!end->gone && !end->connecting && !strcmp(end->base.peer, address))
				end->base.user.received(end->base.user.ctx, bytes, size);
		}
	}
}

size_t pipe_waiting(const struct pipe_net *net)
{
	size_t size = 0;

	list_for_each (link, &net->carriers)
		list_for_each (item, &container_of(link, struct carrier, link)->ends)
			size += waiting(&container_of(item, struct end, link)->base);
	return size;
}

uint64_t pipe_delivered(const struct pipe_net *net)
{
	return net->delivered;
}
