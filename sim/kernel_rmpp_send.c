/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RMPP, the sender: a message leaves in segments (13.6), as many at once as the receiver's window
 * allows. Its send ends with the last acknowledgement or, if an answer is expected, with the
 * answer. As in Linux, each acknowledgement has the send's time-out, at most 2 s, and a retry
 * repeats all segments that were not acknowledged. An abort ends a send without an event for the
 * program.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sim/kernel_parts.h"

enum { ACK_TIMEOUT_MS = 2000 };

static size_t segment_data(const struct kernel_send *send)
{
	return MAD_SIZE - kernel_data_offset(send->mad[MAD_CLASS]);
}

/* The PayloadLength of a segment: data and the class's own header (13.6.2.1). */
static uint32_t payload(const struct kernel_send *send, size_t data_size)
{
	return data_size + kernel_data_offset(send->mad[MAD_CLASS]) - RMPP_HEADER_END;
}

/* The first segment has the length of the message, the last its own. */
static void send_segment(struct kernel_send *send, uint32_t segment)
{
	struct kernel_port *port = send->agent->port;
	struct mad_addr to = kernel_send_address(send);
	size_t header_size = kernel_data_offset(send->mad[MAD_CLASS]);
	size_t each = segment_data(send), begin = (segment - 1) * each;
	size_t size = send->size - begin < each ? send->size - begin : each;
	uint32_t length = 0;
	uint8_t mad[MAD_SIZE] = {0};

	memcpy(mad, send->mad, header_size);
	memcpy(mad + header_size, send->message + begin, size);
	mad[RMPP_FLAGS] = RMPP_ACTIVE;
	if (segment == 1) {
		mad[RMPP_FLAGS] |= RMPP_FIRST;
		length = (send->segments - 1) * payload(send, each) +
			 payload(send, send->size - (send->segments - 1) * each);
	}
	if (segment == send->segments) {
		mad[RMPP_FLAGS] |= RMPP_LAST;
		length = payload(send, size);
	}
	be32_store(mad + RMPP_SEGMENT, segment);
	be32_store(mad + RMPP_LENGTH, length);
	if (kernel_send_reaches(send))
		kernel_transmit(port, &to, mad);
}

static void send_window(struct kernel_send *send)
{
	uint32_t timeout_ms = send->header.timeout_ms;

	while (send->sent < send->segments && send->sent < send->window)
		send_segment(send, ++send->sent);
	kernel_send_arm(send,
			timeout_ms && timeout_ms < ACK_TIMEOUT_MS ? timeout_ms : ACK_TIMEOUT_MS);
}

void kernel_rmpp_begin(struct kernel_send *send, const uint8_t *message, size_t size)
{
	size_t header_size = kernel_data_offset(send->mad[MAD_CLASS]);
	size_t each = segment_data(send);

	send->size = size - header_size;
	send->agent->file->message_bytes += send->size;
	if (!send->storage.bytes) {
		send->storage.bytes = mem_alloc(size);
		memcpy(send->storage.bytes, message, size);
		message = send->storage.bytes;
	}
	send->message = message + header_size;
	send->segments = send->size ? (send->size + each - 1) / each : 1;
	send->window = kernel_rmpp_answer_window(send);
	memset(send->mad + RMPP_VERSION, 0, RMPP_HEADER_END - RMPP_VERSION);
	send->mad[RMPP_VERSION] = RMPP_OUR_VERSION;
	send->mad[RMPP_TYPE] = RMPP_DATA;
	send_window(send);
}

void kernel_rmpp_resend(struct kernel_send *send)
{
	uint32_t sent = send->sent;

	send->sent = send->acked;
	send_window(send);
	send->agent->port->stats.rmpp_resent += sent - send->acked;
}

/* Messages from the receiver */

void kernel_rmpp_answer(struct kernel_port *port, const struct kernel_arrival *in,
			enum rmpp_type type, uint8_t status, uint32_t segment, uint32_t length)
{
	struct mad_addr to = kernel_reply_to(port, in->from);
	uint8_t mad[MAD_SIZE] = {0};

	memcpy(mad, in->mad, kernel_data_offset(in->mad[MAD_CLASS]));
	mad[MAD_METHOD] ^= METHOD_RESPONSE;
	mad[RMPP_VERSION] = RMPP_OUR_VERSION;
	mad[RMPP_TYPE] = type;
	mad[RMPP_FLAGS] &= ~(RMPP_FIRST | RMPP_LAST);
	mad[RMPP_STATUS] = status;
	be32_store(mad + RMPP_SEGMENT, segment);
	be32_store(mad + RMPP_LENGTH, length);
	kernel_transmit(port, &to, mad);
}

static bool is_acked(const struct kernel_send *send)
{
	return send->acked == send->segments;
}

void kernel_rmpp_send_aborted(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	struct kernel_send *send = kernel_send_find(agent, in);

	if (!send || is_acked(send))
		return;
	agent->port->stats.rmpp_aborted++;
	kernel_send_end(send);
}

static void refuse_ack(struct kernel_agent *agent, const struct kernel_arrival *in,
		       enum rmpp_status status)
{
	agent->port->stats.rmpp_malformed++;
	kernel_rmpp_send_aborted(agent, in);
	kernel_rmpp_answer(agent->port, in, RMPP_ABORT, status, 0, 0);
}

/* The acknowledgement of the last acknowledgement also opens a window of one segment for an answer
 * that is a message itself. */
static void acknowledge_ack(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	kernel_rmpp_answer(agent->port, in, RMPP_ACK, RMPP_OK, 0, 1);
}

static void completed(struct kernel_send *send, const struct kernel_arrival *in)
{
	struct kernel_agent *agent = send->agent;

	agent->port->stats.rmpp_sent++;
	if (!send->header.timeout_ms) {
		kernel_send_end(send);
		return;
	}
	kernel_send_arm(send, send->header.timeout_ms);
	acknowledge_ack(agent, in);
}

static void rmpp_send_advance(struct kernel_send *send, const struct kernel_arrival *in,
			      uint32_t segment, uint32_t window)
{
	if (window < send->window || segment < send->acked)
		return; /* outdated */
	if (segment > send->acked) {
		send->acked = segment;
		send->retries_left = send->header.retries;
		/* After a retry, an acknowledgement of earlier segments may arrive. */
		if (send->sent < segment)
			send->sent = segment;
	}
	send->window = window;
	if (is_acked(send))
		completed(send, in);
	else if (send->sent < window && send->sent < send->segments)
		send_window(send);
}

void kernel_rmpp_ack_received(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	uint32_t segment = be32_load(in->mad + RMPP_SEGMENT);
	uint32_t window = be32_load(in->mad + RMPP_LENGTH);
	struct kernel_send *send;

	if (in->mad[RMPP_STATUS] != RMPP_OK) {
		refuse_ack(agent, in, RMPP_BAD_STATUS);
		return;
	}
	if (window < segment) {
		refuse_ack(agent, in, RMPP_WINDOW_TOO_SMALL);
		return;
	}
	send = kernel_send_find(agent, in);
	if (!send) {
		if (!segment)
			kernel_rmpp_window_opened(agent, in, window);
	} else if (is_acked(send)) {
		/* Only data are acknowledged again, and they count from 1. Otherwise two completed
		 * sides would acknowledge each other forever, and without link delays within one
		 * event. */
		if (segment)
			acknowledge_ack(agent, in);
	} else if (segment > send->segments || segment > send->window) {
		refuse_ack(agent, in, RMPP_SEGMENT_TOO_BIG);
	} else {
		rmpp_send_advance(send, in, segment, window);
	}
}
