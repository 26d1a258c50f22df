/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A queue for each client, filled by the transactions and emptied by the stream of the client:
 * weftd/capture.h. Packets are sent as hexadecimal digits; weftctl writes the file.
 */
#include "weftd/capture.h"

#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "weftd/redact.h"

enum {
	PACKETS_A_PART = 8,
	RMPP_FLAGS = 26, /* the lower 3 bits */
	RMPP_PAYLOAD_LENGTH = 32,
	SEGMENT_BYTES = MAD_SIZE - SUBN_ADM_HEADER_SIZE, /* of records */
	SEGMENT_HEADER = SUBN_ADM_HEADER_SIZE - 36, /* the SA header, which each segment repeats */
};

struct packet {
	struct list link;
	uint64_t time_us; /* since 1970 */
	bool sent;
	lid_t own_lid;
	struct mad_addr addr;
	uint8_t mad[MAD_SIZE];
};

struct client {
	struct list link; /* in capture->clients */
	struct capture *capture;
	struct control_request *request;
	struct list waiting;
	unsigned num_waiting;
	uint64_t epoch_us; /* of the loop's clock, since 1970 */
	uint64_t lost, lost_sent;
	bool rests, over;
	struct loop_timer end;
};

static void capture_client_wake(struct client *client)
{
	if (client->rests)
		control_resume(client->request);
	client->rests = false;
}

/* Makes the first segment of a message, as the kernel does for RMPP (13.6.2.1). PayloadLength
 * covers all segments. The flag Last is set only if there is a single segment. */
static void rmpp_first_segment(uint8_t mad[MAD_SIZE], size_t size)
{
	size_t records = size - SUBN_ADM_HEADER_SIZE;
	size_t segments = records ? (records + SEGMENT_BYTES - 1) / SEGMENT_BYTES : 1;

	if (segments > 1)
		mad[RMPP_FLAGS] &= (uint8_t)~RMPP_LAST;
	be32_store(mad + RMPP_PAYLOAD_LENGTH, (uint32_t)(records + segments * SEGMENT_HEADER));
}

static void client_take(struct client *client, bool sent, const struct mad_addr *addr,
			const uint8_t *mad, size_t size)
{
	struct capture *capture = client->capture;
	struct packet *packet;

	if (client->over)
		return;
	if (client->num_waiting == CAPTURE_WAITING) {
		client->lost++;
		return;
	}
	packet = mem_zalloc(sizeof(*packet));
	packet->time_us = client->epoch_us + loop_now_us(capture->loop);
	packet->sent = sent;
	packet->own_lid = capture->lid(capture->ctx);
	packet->addr = *addr;
	memcpy(packet->mad, mad, size < MAD_SIZE ? size : MAD_SIZE);
	if (sent && size >= SUBN_ADM_HEADER_SIZE && rmpp_is_active(packet->mad))
		rmpp_first_segment(packet->mad, size);
	redact(packet->mad);
	list_init(&packet->link);
	list_push(&client->waiting, &packet->link);
	client->num_waiting++;
	capture_client_wake(client);
}

static void seen(void *ctx, bool sent, const struct mad_addr *addr, const uint8_t *mad, size_t size)
{
	const struct capture *capture = ctx;

	list_for_each (link, &capture->clients)
		client_take(container_of(link, struct client, link), sent, addr, mad, size);
}

static void put_hex(const char *name, const uint8_t *bytes, size_t size, struct buffer *out)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * MAD_SIZE + 1];

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * size] = '\0';
	row_string(out, name, text);
}

/* A directed route has no LIDs. Both ends of an SMP use QP 0. */
static void packet_row(const struct packet *packet, struct buffer *out)
{
	const struct mad_addr *addr = &packet->addr;
	lid_t own = addr->lid == LID_PERMISSIVE ? LID_PERMISSIVE
						: (lid_t)(packet->own_lid + addr->path_bits);

	row_begin(out, NULL, '{');
	row_integer(out, "time_us", (int64_t)packet->time_us);
	row_boolean(out, "sent", packet->sent);
	row_integer(out, "own_lid", own);
	row_integer(out, "lid", addr->lid);
	row_integer(out, "qpn", addr->qpn);
	row_integer(out, "sl", addr->sl);
	put_hex("mad", packet->mad, MAD_SIZE, out);
	if (addr->has_grh) {
		put_hex("own_gid", addr->grh.dgid, GID_SIZE, out);
		put_hex("gid", addr->grh.sgid, GID_SIZE, out);
	}
	row_end(out, '}');
}

static void put_packets(struct client *client, struct buffer *out)
{
	struct list *link;

	row_begin(out, "packets", '[');
	for (unsigned i = 0; i < PACKETS_A_PART && (link = list_pop(&client->waiting)); i++) {
		struct packet *packet = container_of(link, struct packet, link);

		packet_row(packet, out);
		free(packet);
		client->num_waiting--;
	}
	row_end(out, ']');
}

static enum stream_step capture_client_next(void *source, struct buffer *part)
{
	struct client *client = source;

	if (list_empty(&client->waiting) && client->lost == client->lost_sent) {
		client->rests = !client->over;
		return client->over ? STREAM_END : STREAM_LATER;
	}
	client->lost_sent = client->lost;
	put_packets(client, part);
	row_integer(part, "lost", (int64_t)client->lost);
	return STREAM_PART;
}

static void client_finish(void *source)
{
	struct client *client = source;
	struct capture *capture = client->capture;
	struct list *link;

	while ((link = list_pop(&client->waiting)))
		free(container_of(link, struct packet, link));
	loop_timer_disarm(&client->end);
	list_del(&client->link);
	if (--capture->count == 0)
		txn_watch(capture->txns, NULL, NULL);
	free(client);
}

static void time_is_over(void *arg)
{
	struct client *client = arg;

	client->over = true;
	capture_client_wake(client);
}

/* Accepts a JSON number, or text from a command line. 0: no end. */
static bool read_seconds(const json_t *value, unsigned *seconds)
{
	const char *text = json_string_value(value);
	char *end = "";
	long long number = text && *text >= '0' && *text <= '9' ? strtoll(text, &end, 10)
								: json_integer_value(value);

	if (!value) {
		*seconds = 0;
		return true;
	}
	if (*end || number < 1 || number > CAPTURE_SECONDS_MAX)
		return false;
	*seconds = (unsigned)number;
	return true;
}

static void command_capture(void *ctx, struct control_request *request, const json_t *args)
{
	struct capture *capture = ctx;
	struct client *client;
	unsigned seconds;

	if (!read_seconds(json_object_get(args, "seconds"), &seconds)) {
		control_fail(request, "--seconds: expected a number from 1 to %d",
			     CAPTURE_SECONDS_MAX);
		return;
	}
	if (capture->count == CAPTURES_MAX) {
		control_fail(request, "%d captures are running: end one of them first",
			     CAPTURES_MAX);
		return;
	}
	client = mem_zalloc(sizeof(*client));
	client->capture = capture;
	client->request = request;
	client->epoch_us = loop_wall_us(capture->loop) - loop_now_us(capture->loop);
	list_init(&client->waiting);
	list_init(&client->link);
	list_push(&capture->clients, &client->link);
	loop_timer_init(&client->end, capture->loop, "end of a capture", time_is_over, client);
	if (seconds)
		loop_timer_arm(&client->end, seconds * UINT64_C(1000000));
	if (capture->count++ == 0)
		txn_watch(capture->txns, seen, capture);
	control_stream(request, capture_client_next, client_finish, client);
}

static const struct control_command commands[] = {{"capture", command_capture, CONTROL_ACTS}};

void capture_register(struct capture *capture, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), capture);
}

void capture_init(struct capture *capture, struct loop *loop, struct txn_table *txns,
		  lid_t (*lid)(const void *ctx), const void *ctx)
{
	*capture = (struct capture){.loop = loop, .txns = txns, .lid = lid, .ctx = ctx};
	list_init(&capture->clients);
}
