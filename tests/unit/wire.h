/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport that keeps what was sent and lets a test play the other side by hand: answer, delay,
 * repeat, forget. For tests of transactions and of the window. Whoever embeds it owns it.
 */
#ifndef TESTS_UNIT_WIRE_H
#define TESTS_UNIT_WIRE_H

#include <string.h>

#include "lib/loop.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/transport.h"

struct wire_mad {
	struct mad_addr to;
	unsigned timeout_ms;
	uint8_t mad[MAD_SIZE];
};

struct wire {
	struct transport transport;
	struct wire_mad *sent;
	size_t count;
	int send_error;
};

static inline int wire_send(struct transport *transport, const struct mad_addr *to,
			    const uint8_t *mad, size_t size, unsigned timeout_ms)
{
	struct wire *wire = container_of(transport, struct wire, transport);
	struct wire_mad *sent;

	if (wire->send_error)
		return wire->send_error;
	wire->sent = mem_resize(wire->sent, wire->count + 1, sizeof(*wire->sent));
	sent = &wire->sent[wire->count++];
	*sent = (struct wire_mad){.to = *to, .timeout_ms = timeout_ms};
	memcpy(sent->mad, mad, size < MAD_SIZE ? size : MAD_SIZE);
	return 0;
}

static inline int wire_set_issm(struct transport *transport, bool on)
{
	(void)transport;
	(void)on;
	return 0;
}

static inline void wire_close(struct transport *transport)
{
	(void)transport;
}

static inline void wire_init(struct wire *wire)
{
	static const struct transport_ops ops = {
		.send = wire_send, .set_issm = wire_set_issm, .close = wire_close};

	*wire = (struct wire){.transport.ops = &ops};
}

static inline void wire_done(struct wire *wire)
{
	free(wire->sent);
}

/* Gives size bytes to the receiver, in memory of exactly that size. */
static inline void wire_receive(struct wire *wire, const uint8_t *mad, size_t size)
{
	struct mad_addr from = {.lid = 3};
	uint8_t *copy = memcpy(mem_alloc(size ? size : 1), mad, size);

	wire->transport.user.received(wire->transport.user.ctx, &from, copy, size);
	free(copy);
}

/* The answer to the n-th MAD that was sent. */
static inline void wire_make_answer(const struct wire *wire, size_t n, uint16_t status,
				    uint8_t answer[MAD_SIZE])
{
	struct mad_header header;

	memcpy(answer, wire->sent[n].mad, MAD_SIZE);
	header_decode(answer, &header);
	header.method = method_response(header.method);
	header.status = status | (header.mgmt_class == CLASS_SUBN_DIRECTED ? 0x8000 : 0);
	header_encode(&header, answer);
}

static inline void wire_answer(struct wire *wire, size_t n)
{
	uint8_t answer[MAD_SIZE];

	wire_make_answer(wire, n, STATUS_OK, answer);
	wire_receive(wire, answer, MAD_SIZE);
}

/* The kernel's time-out for the n-th MAD that was sent: its header comes back. */
static inline void wire_time_out(struct wire *wire, size_t n)
{
	uint8_t header[MAD_HEADER_SIZE];

	memcpy(header, wire->sent[n].mad, sizeof(header));
	wire->transport.user.timed_out(wire->transport.user.ctx, header);
}

#endif
