/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RMPP, the receiver: reassembles segments and acknowledges them. A message is identified by TID,
 * source, class, version and method. It may take 40 s. After its end it is remembered for 10 s, and
 * its segments are acknowledged again during this time. Linux has the same constants, because it
 * has no response time to use. PayloadLength counts in the last segment only, and an invalid value
 * counts as full.
 *
 * Linux has no limits. Here a message ends at 64 MiB, and an agent has limits of messages and of
 * memory for incomplete messages: beyond them, a message is stopped with "no resources".
 */
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sim/kernel_parts.h"

enum {
	US_PER_S = 1000000,
	PARTIAL_S = 40,
	DONE_S = 10,
	WINDOW = 64, /* an eighth of a receive queue of 512 */
	MESSAGE_MAX = 64 << 20,
	PARTIAL_BYTES_MAX = 256 << 20,
	RECEIVES_MAX = 16384,
	MAD_PAYLOAD = MAD_SIZE - RMPP_HEADER_END,
};

struct receive {
	struct kernel_key key;
	struct list link; /* agent->partial or agent->done */
	struct kernel_agent *agent;
	struct loop_timer timer;
	struct mad_addr from;
	uint64_t tid;
	uint8_t mgmt_class, version, method;
	bool done;
	uint32_t got;	 /* all segments up to this number were received */
	uint32_t acked;	 /* and this acknowledgement was sent last */
	uint32_t window; /* the last segment that may be sent */
	uint64_t ahead;	 /* bit i: segment got + 1 + i was received */
	uint32_t last;	 /* the number of the last segment; 0: unknown */
	uint32_t last_payload;
	uint32_t answer_window;
	uint8_t *umad; /* KERNEL_HEADER_SIZE bytes, the first segment, the data of the others */
	size_t capacity;
};

/* Finding */

static uint64_t receive_key(uint64_t tid, lid_t lid)
{
	return tid ^ lid * UINT64_C(0x9E3779B97F4A7C15);
}

static struct receive *receive_find(const struct kernel_agent *agent,
				    const struct kernel_arrival *in)
{
	struct kernel_key *at =
		map_get(&agent->port->receives, receive_key(in->tid, in->from->lid));

	for (; at; at = at->next) {
		struct receive *receive = container_of(at, struct receive, key);

		if (receive->agent == agent && receive->tid == in->tid &&
		    receive->from.lid == in->from->lid && receive->from.qpn == in->from->qpn &&
		    receive->mgmt_class == in->mad[MAD_CLASS] &&
		    receive->version == in->mad[MAD_VERSION] &&
		    receive->method == in->mad[MAD_METHOD])
			return receive;
	}
	return NULL;
}

void kernel_rmpp_window_opened(struct kernel_agent *agent, const struct kernel_arrival *in,
			       uint32_t window)
{
	struct receive *receive = receive_find(agent, in);

	if (receive && receive->done)
		receive->answer_window = window;
}

uint32_t kernel_rmpp_answer_window(const struct kernel_send *send)
{
	struct mad_addr to = kernel_send_address(send);
	const struct kernel_agent *agent = send->agent;
	struct kernel_key *at = map_get(&agent->port->receives, receive_key(send->tid, to.lid));

	for (; at && send->is_response; at = at->next) {
		const struct receive *receive = container_of(at, struct receive, key);

		if (receive->agent == agent && receive->tid == send->tid &&
		    receive->from.lid == to.lid && receive->mgmt_class == send->mad[MAD_CLASS] &&
		    receive->version == send->mad[MAD_VERSION] &&
		    !(receive->method & METHOD_RESPONSE))
			return receive->answer_window;
	}
	return 1;
}

/* Beginning and end */

static void receive_free(struct receive *receive)
{
	struct kernel_agent *agent = receive->agent;

	timers_disarm(&agent->port->kernel->timers, &receive->timer);
	list_del(&receive->link);
	kernel_key_remove(&agent->port->receives, &receive->key);
	agent->receives--;
	agent->partial_bytes -= receive->capacity;
	free(receive->umad);
	free(receive);
}

void kernel_rmpp_cancel(struct kernel_agent *agent)
{
	list_for_each (link, &agent->partial)
		receive_free(container_of(link, struct receive, link));
	list_for_each (link, &agent->done)
		receive_free(container_of(link, struct receive, link));
}

/* The first segment, handled as if it arrived now. */
static struct kernel_arrival receive_first_segment(const struct receive *receive,
						   const uint8_t *umad)
{
	const uint8_t *mad = umad + KERNEL_HEADER_SIZE;

	return (struct kernel_arrival){&receive->from, mad, receive->tid, kernel_is_response(mad)};
}

static void receive_timed_out(void *arg)
{
	struct receive *receive = arg;
	struct kernel_port *port = receive->agent->port;

	if (!receive->done) {
		struct kernel_arrival in = receive_first_segment(receive, receive->umad);

		kernel_rmpp_answer(port, &in, RMPP_ABORT, RMPP_TOO_LONG_TIME, 0, 0);
		port->stats.rmpp_aborted++;
	}
	receive_free(receive);
}

static void receive_arm(struct receive *receive, unsigned s)
{
	struct kernel *kernel = receive->agent->port->kernel;

	timers_arm(&kernel->timers, &receive->timer,
		   kernel_now_us(kernel) + (uint64_t)s * US_PER_S);
}

/* Completed messages are only remembered; a new message displaces the oldest. */
static bool receive_has_place(struct kernel_agent *agent)
{
	if (agent->receives < RECEIVES_MAX)
		return true;
	if (list_empty(&agent->done))
		return false;
	receive_free(container_of(agent->done.next, struct receive, link));
	return true;
}

static struct receive *receive_new(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	struct receive *receive;

	if (!receive_has_place(agent))
		return NULL;
	receive = mem_zalloc(sizeof(*receive));
	receive->agent = agent;
	receive->timer =
		(struct loop_timer){.name = "receive", .fn = receive_timed_out, .arg = receive};
	receive->from = *in->from;
	receive->tid = in->tid;
	receive->mgmt_class = in->mad[MAD_CLASS];
	receive->version = in->mad[MAD_VERSION];
	receive->method = in->mad[MAD_METHOD];
	receive->window = 1;
	receive->answer_window = 1;
	receive->key.key = receive_key(in->tid, in->from->lid);
	kernel_key_add(&agent->port->receives, &receive->key);
	list_push(&agent->partial, &receive->link);
	agent->receives++;
	receive_arm(receive, PARTIAL_S);
	return receive;
}

/* Segments */

static void receive_acknowledge(struct receive *receive, const struct kernel_arrival *in)
{
	receive->acked = receive->got;
	kernel_rmpp_answer(receive->agent->port, in, RMPP_ACK, RMPP_OK, receive->got,
			   receive->window);
}

static void receive_stop(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	agent->port->stats.rmpp_aborted++;
	kernel_rmpp_answer(agent->port, in, RMPP_STOP, RMPP_NO_RESOURCES, 0, 0);
}

static bool receive_make_room(struct receive *receive, size_t size)
{
	struct kernel_agent *agent = receive->agent;
	size_t capacity = receive->capacity ? receive->capacity : 512;

	if (size <= receive->capacity)
		return true;
	while (capacity < size)
		capacity *= 2;
	if (size > MESSAGE_MAX ||
	    agent->partial_bytes - receive->capacity + capacity > PARTIAL_BYTES_MAX)
		return false;
	receive->umad = mem_resize(receive->umad, capacity, 1);
	agent->partial_bytes += capacity - receive->capacity;
	receive->capacity = capacity;
	return true;
}

/* Stores the data of a segment and counts the segments without a gap. */
static bool store(struct receive *receive, const uint8_t *mad, uint32_t segment)
{
	size_t header_size = kernel_data_offset(receive->mgmt_class);
	size_t end = KERNEL_HEADER_SIZE + header_size + segment * (MAD_SIZE - header_size);
	size_t size = segment == 1 ? MAD_SIZE : MAD_SIZE - header_size;

	if (!receive_make_room(receive, end))
		return false;
	memcpy(receive->umad + end - size, mad + MAD_SIZE - size, size);
	if (mad[RMPP_FLAGS] & RMPP_LAST && (!receive->last || segment < receive->last)) {
		receive->last = segment;
		receive->last_payload = be32_load(mad + RMPP_LENGTH);
	}
	receive->ahead |= UINT64_C(1) << (segment - receive->got - 1);
	while (receive->ahead & 1 && (!receive->last || receive->got < receive->last)) {
		receive->got++;
		receive->ahead >>= 1;
	}
	return true;
}

static size_t message_size(const struct receive *receive)
{
	size_t header_size = kernel_data_offset(receive->mgmt_class), pad = 0;

	if (receive->last_payload <= MAD_PAYLOAD)
		pad = MAD_PAYLOAD - receive->last_payload;
	return header_size + receive->got * (MAD_SIZE - header_size) - pad;
}

/* Delivers the message to the program; the rest only serves to recognize it. */
static void complete(struct receive *receive)
{
	struct kernel_agent *agent = receive->agent;
	const struct mad_addr from = receive->from;
	uint8_t *umad = receive->umad;
	struct kernel_arrival in = receive_first_segment(receive, umad);
	size_t size = message_size(receive);

	receive_acknowledge(receive, &in);
	agent->port->stats.rmpp_received++;
	agent->partial_bytes -= receive->capacity;
	receive->umad = NULL;
	receive->capacity = 0;
	receive->done = true;
	list_del(&receive->link);
	list_push(&agent->done, &receive->link);
	receive_arm(receive, DONE_S);
	in.from = &from;
	kernel_take(agent, &in, umad, size);
	free(umad);
}

/* Drops segments beyond the window, and duplicates of segments that are not yet acknowledged. */
static void data_received(struct receive *receive, const struct kernel_arrival *in,
			  uint32_t segment)
{
	if (segment > receive->window)
		return;
	if (receive->done || segment <= receive->acked) {
		receive_acknowledge(receive, in);
		return;
	}
	if (segment <= receive->got || receive->ahead >> (segment - receive->got - 1) & 1)
		return;
	if (!store(receive, in->mad, segment)) {
		receive_stop(receive->agent, in);
		receive_free(receive);
	} else if (receive->got == receive->last) {
		complete(receive);
	} else if (receive->got == receive->window) {
		receive->window += WINDOW;
		receive_acknowledge(receive, in);
	}
}

static void bad_segment(struct kernel_agent *agent, const struct kernel_arrival *in,
			enum rmpp_status status)
{
	agent->port->stats.rmpp_malformed++;
	kernel_rmpp_answer(agent->port, in, RMPP_ABORT, status, 0, 0);
}

static void on_data(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	uint32_t segment = be32_load(in->mad + RMPP_SEGMENT);
	bool first = in->mad[RMPP_FLAGS] & RMPP_FIRST;
	struct receive *receive;

	if (in->mad[RMPP_STATUS] != RMPP_OK) {
		bad_segment(agent, in, RMPP_BAD_STATUS);
		return;
	}
	if (first != (segment == 1)) {
		bad_segment(agent, in, RMPP_BAD_SEGMENT);
		return;
	}
	receive = receive_find(agent, in);
	if (!receive && first) {
		receive = receive_new(agent, in);
		if (!receive)
			receive_stop(agent, in);
	}
	if (receive)
		data_received(receive, in, segment);
}

/* Entry for all types */

static void receive_refuse(struct kernel_agent *agent, const struct kernel_arrival *in,
			   enum rmpp_status status)
{
	kernel_rmpp_send_aborted(agent, in);
	bad_segment(agent, in, status);
}

static void on_stop(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	if (in->mad[RMPP_STATUS] == RMPP_NO_RESOURCES)
		kernel_rmpp_send_aborted(agent, in);
	else
		receive_refuse(agent, in, RMPP_BAD_STATUS);
}

static void on_abort(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	uint8_t status = in->mad[RMPP_STATUS];

	if (status >= RMPP_ABORT_MIN && status <= RMPP_ABORT_MAX)
		kernel_rmpp_send_aborted(agent, in);
	else
		receive_refuse(agent, in, RMPP_BAD_STATUS);
}

void kernel_rmpp_received(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	static void (*const by_type[])(struct kernel_agent *, const struct kernel_arrival *) = {
		[RMPP_DATA] = on_data,
		[RMPP_ACK] = kernel_rmpp_ack_received,
		[RMPP_STOP] = on_stop,
		[RMPP_ABORT] = on_abort,
	};
	uint8_t type = in->mad[RMPP_TYPE];

	if (in->mad[RMPP_VERSION] != RMPP_OUR_VERSION)
		receive_refuse(agent, in, RMPP_BAD_VERSION);
	else if (type >= ARRAY_SIZE(by_type) || !by_type[type])
		receive_refuse(agent, in, RMPP_BAD_TYPE);
	else
		by_type[type](agent, in);
}
