/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Streams over MADs: see inband.h for the format. The connecting end sends Open. The other end
 * answers with a number, which is a keyed hash of the Open, and keeps no state. The stream begins
 * with the first message that has this number. The number proves that the connecting end receives
 * at the LID of its port. So a port with a forged source LID can neither open a session, nor end or
 * prevent another session.
 *
 * Several messages can be under way. Each is a transaction, which is repeated until its answer
 * arrives, or until nothing was acknowledged for some seconds. The receiver keeps messages that
 * arrive too early, as many as the sender may have under way, and passes the bytes on in order. If
 * a message is repeated, the receiver answers it again. A session that has ended is freed in a turn
 * of its own.
 */
#include "mad/inband.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/buffer.h"
#include "lib/crypto_hmac.h"
#include "lib/guid.h"
#include "lib/mem.h"

enum {
	WINDOW = 4, /* messages under way: some 150 segments, of the 512 that a port can queue */
	ATTEMPT_MS = 400, /* doubled with each attempt, up to */
	ATTEMPT_MAX_MS = 1600,
	PATIENCE_US = 5000000, /* without an answer */
	PERIOD_US = 10000000,  /* a number is valid in its period and in the next */
	ALIVE_US = 100000,
	AGAIN_US = 350000, /* between two sessions of a port; less than an attempt */
	RECENT = 16,	   /* number of ports whose last session is kept */
	SECRET_SIZE = 32,
	TID_OFFSET = 12, /* the lower half, which the kernel does not change */
	RESULT_OFFSET = 41,
	LENGTH_OFFSET = 44,
	TO_OFFSET = 48,
	FROM_OFFSET = 56,
	NUMBER_OFFSET = 64,
};

enum inband_state { OPENING, OPEN, LEAVING, GONE };

struct inband {
	struct stream_carrier carrier;
	struct loop *loop;
	struct txn_table *txns;
	struct inband_owner owner;
	struct stream_listener listener; /* accepted NULL: it does not listen */
	struct list sessions;
	struct inband_recent {
		guid_t guid;
		uint64_t there; /* the number of the session at this port */
		uint64_t at_us;
	} recent[RECENT]; /* the last accepted sessions, each of another port */
	unsigned num_recent;
	uint8_t secret[SECRET_SIZE];
};

struct inband_session;

struct inband_slot { /* a message under way, or one that arrived too early */
	struct inband_session *session;
	uint64_t number; /* 0: the slot is free */
	bool waits;	 /* it got an answer that is none, and is sent again later */
	unsigned attempts;
	size_t size; /* of its payload */
	uint8_t *payload;
};

struct inband_session {
	struct stream stream;
	struct list link;
	struct inband *inband;
	enum inband_state state;
	bool accepted, pressed; /* pressed: drained() is due when little waits */
	guid_t guid;		/* the port of the other end */
	struct mad_addr at;	/* and its address */
	uint64_t here, there;	/* the numbers of the session at both ends */
	uint64_t sent, taken;	/* the numbers of the last message sent, and of the last received */
	uint64_t answered_us;	/* when the other end answered last, or a message began to wait */
	struct inband_slot out[WINDOW], in[WINDOW];
	struct inband_slot opening; /* of Open */
	struct buffer waiting;	    /* bytes that no message has yet */
	bool asked;		    /* an Alive is under way */
	struct loop_timer patience, alive, again;
	struct loop_deferred turn;
};

static struct inband_session *inband_session_of(const struct stream *stream)
{
	return container_of((struct stream *)stream, struct inband_session, stream);
}

static struct inband *inband_of(struct stream_carrier *carrier)
{
	return container_of(carrier, struct inband, carrier);
}

/* Messages */

struct inband_message {
	uint16_t attr;
	uint64_t to, from, number;
	const uint8_t *payload;
	size_t size;
};

static void inband_build(const struct inband_message *message, uint8_t *mad, size_t size)
{
	const struct mad_header header = {.base_version = 1,
					  .mgmt_class = INBAND_CLASS,
					  .class_version = INBAND_CLASS_VERSION,
					  .method = METHOD_SET,
					  .attr_id = message->attr};

	memset(mad, 0, INBAND_HEADER_SIZE);
	header_encode(&header, mad);
	rmpp_header_encode(mad, size > MAD_SIZE);
	be32_store(mad + VENDOR_OUI_OFFSET - 1, INBAND_OUI);
	mad[VENDOR_DATA_OFFSET] = INBAND_VERSION;
	be32_store(mad + LENGTH_OFFSET, (uint32_t)message->size);
	be64_store(mad + TO_OFFSET, message->to);
	be64_store(mad + FROM_OFFSET, message->from);
	be64_store(mad + NUMBER_OFFSET, message->number);
	if (message->size)
		memcpy(mad + INBAND_HEADER_SIZE, message->payload, message->size);
	memset(mad + INBAND_HEADER_SIZE + message->size, 0,
	       size - INBAND_HEADER_SIZE - message->size);
}

static size_t inband_size(size_t payload)
{
	size_t size = INBAND_HEADER_SIZE + payload;

	return size > MAD_SIZE ? size : MAD_SIZE;
}

static bool inband_is_ours(const uint8_t *mad)
{
	return (be32_load(mad + VENDOR_OUI_OFFSET - 1) & 0xFFFFFF) == INBAND_OUI;
}

/* False: it is not a message of this version, or its length is impossible. */
static bool inband_read(const struct mad_header *header, const uint8_t *mad, size_t size,
			struct inband_message *out)
{
	if (mad[VENDOR_DATA_OFFSET] != INBAND_VERSION || size > INBAND_RECEIVED_MAX ||
	    be32_load(mad + LENGTH_OFFSET) > INBAND_PAYLOAD_MAX ||
	    INBAND_HEADER_SIZE + be32_load(mad + LENGTH_OFFSET) > size)
		return false;
	*out = (struct inband_message){.attr = header->attr_id,
				       .to = be64_load(mad + TO_OFFSET),
				       .from = be64_load(mad + FROM_OFFSET),
				       .number = be64_load(mad + NUMBER_OFFSET),
				       .payload = mad + INBAND_HEADER_SIZE,
				       .size = be32_load(mad + LENGTH_OFFSET)};
	return true;
}

static void inband_answer(struct inband *inband, const struct mad_addr *to, const uint8_t *mad,
			  uint64_t here, enum inband_result result)
{
	uint8_t answer[MAD_SIZE] = {0};

	memcpy(answer, mad, MAD_HEADER_SIZE);
	memcpy(answer + VENDOR_OUI_OFFSET - 1, mad + VENDOR_OUI_OFFSET - 1,
	       INBAND_HEADER_SIZE - VENDOR_OUI_OFFSET + 1);
	answer[3] = METHOD_GET_RESP;
	answer[VENDOR_DATA_OFFSET] = INBAND_VERSION;
	answer[RESULT_OFFSET] = (uint8_t)result;
	be32_store(answer + LENGTH_OFFSET, 0);
	memcpy(answer + TO_OFFSET, mad + FROM_OFFSET, 8);
	be64_store(answer + FROM_OFFSET, here);
	txn_send(inband->txns, to, answer, sizeof(answer));
}

/* Ending a session */

static void inband_message_done(void *arg, const struct txn_result *result);
static void inband_alive_done(void *arg, const struct txn_result *result);

static void inband_slot_free(struct inband_slot *slot)
{
	if (slot->session && slot->number)
		txn_cancel(slot->session->inband->txns, inband_message_done, slot);
	slot->number = 0;
	slot->waits = false;
	free(slot->payload);
	slot->payload = NULL;
}

static void inband_session_free(struct inband_session *session)
{
	for (unsigned i = 0; i < WINDOW; i++) {
		inband_slot_free(&session->out[i]);
		free(session->in[i].payload);
	}
	inband_slot_free(&session->opening);
	if (session->asked)
		txn_cancel(session->inband->txns, inband_alive_done, session);
	list_del(&session->link);
	loop_timer_disarm(&session->patience);
	loop_timer_disarm(&session->alive);
	loop_timer_disarm(&session->again);
	loop_defer_cancel(&session->turn);
	free(session->waiting.bytes);
	free(session);
}

/* The rest follows in a turn of its own. */
static void inband_leave(struct inband_session *session)
{
	if (session->state == GONE)
		return;
	session->state = GONE;
	loop_timer_disarm(&session->patience);
	loop_timer_disarm(&session->alive);
	loop_timer_disarm(&session->again);
	loop_defer(&session->turn);
}

/* Notifies the other end once. If the notice is lost, the other end times out. */
static void inband_hang_up(struct inband_session *session)
{
	const struct inband_message close = {.attr = INBAND_CLOSE,
					     .to = session->there,
					     .from = session->here,
					     .number = session->sent + 1};
	uint8_t mad[MAD_SIZE];

	if (session->state != OPEN && session->state != LEAVING)
		return;
	inband_build(&close, mad, sizeof(mad));
	/* There is no answer to it, so it is not a transaction, which would set a TID. */
	be32_store(mad + TID_OFFSET, (uint32_t)loop_random(session->inband->loop) | 1);
	txn_send(session->inband->txns, &session->at, mad, sizeof(mad));
}

static void inband_fail(struct inband_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void inband_fail(struct inband_session *session, const char *format, ...)
{
	bool tells = session->state == OPENING || session->state == OPEN;
	char why[STREAM_WHY_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	inband_leave(session);
	if (tells)
		session->stream.user.closed(session->stream.user.ctx, why);
}

static void inband_refuse(struct inband *inband, const struct mad_addr *from, const char *why)
{
	char peer[STREAM_PEER_SIZE];

	snprintf(peer, sizeof(peer), "LID %u", from->lid);
	if (inband->listener.refused)
		inband->listener.refused(inband->listener.ctx, peer, why);
}

/* Sending */

static size_t inband_waiting(const struct stream *stream)
{
	return buffer_length(&inband_session_of(stream)->waiting);
}

static void inband_post(struct inband_slot *slot, uint16_t attr)
{
	struct inband_session *session = slot->session;
	const struct inband_message message = {.attr = attr,
					       .to = session->there,
					       .from = session->here,
					       .number = slot->number,
					       .payload = slot->payload,
					       .size = slot->size};
	unsigned timeout_ms = ATTEMPT_MS << (slot->attempts < 2 ? slot->attempts : 2);
	size_t size = inband_size(slot->size);
	uint8_t mad[INBAND_MESSAGE_MAX];

	slot->attempts++;
	inband_build(&message, mad, size);
	txn_start(session->inband->txns, &session->at, mad, size, timeout_ms, inband_message_done,
		  slot);
}

static size_t inband_payload_max(const struct inband_session *session)
{
	size_t most = txn_message_max(session->inband->txns);

	if (most < MAD_SIZE)
		return 0; /* the device is gone */
	return (most < INBAND_MESSAGE_MAX ? most : INBAND_MESSAGE_MAX) - INBAND_HEADER_SIZE;
}

/* Puts the next waiting bytes into a free slot. */
static void inband_fill(struct inband_session *session, struct inband_slot *slot)
{
	size_t most = inband_payload_max(session);
	size_t size = buffer_length(&session->waiting);

	slot->session = session;
	slot->number = ++session->sent;
	slot->attempts = 0;
	slot->size = size < most ? size : most;
	slot->payload = mem_alloc(slot->size);
	memcpy(slot->payload, session->waiting.bytes + session->waiting.begin, slot->size);
	buffer_consume(&session->waiting, slot->size);
	inband_post(slot, INBAND_DATA);
}

static bool inband_is_idle(const struct inband_session *session)
{
	for (unsigned i = 0; i < WINDOW; i++)
		if (session->out[i].number)
			return false;
	return !buffer_length(&session->waiting);
}

static void inband_flush(struct inband_session *session)
{
	if (inband_is_idle(session) || !inband_payload_max(session))
		return;
	if (!loop_timer_armed(&session->patience) && session->state == OPEN)
		loop_timer_arm(&session->patience, PATIENCE_US);
	for (unsigned i = 0; i < WINDOW && buffer_length(&session->waiting); i++)
		if (!session->out[i].number)
			inband_fill(session, &session->out[i]);
}

static void inband_turn(void *arg)
{
	struct inband_session *session = arg;

	if (session->state == GONE) {
		inband_session_free(session);
		return;
	}
	if (session->state != OPEN && session->state != LEAVING)
		return;
	inband_flush(session);
	if (session->state == LEAVING && inband_is_idle(session)) {
		inband_hang_up(session);
		inband_leave(session);
	} else if (session->state == OPEN && session->pressed &&
		   inband_waiting(&session->stream) < STREAM_LOW_BYTES) {
		session->pressed = false;
		session->stream.user.drained(session->stream.user.ctx);
	}
}

static void inband_send(struct stream *stream, const void *bytes, size_t size)
{
	struct inband_session *session = inband_session_of(stream);

	if (session->state == GONE || session->state == LEAVING)
		return;
	buffer_append(&session->waiting, bytes, size);
	session->pressed = true;
	loop_defer(&session->turn);
}

static void inband_close(struct stream *stream, bool politely)
{
	struct inband_session *session = inband_session_of(stream);

	if (session->state == GONE || session->state == LEAVING)
		return;
	if (!politely || session->state != OPEN || inband_is_idle(session)) {
		inband_hang_up(session);
		inband_leave(session);
		return;
	}
	/* A manager that stops may have no further turn of its loop. */
	inband_flush(session);
	session->state = LEAVING;
	loop_timer_arm(&session->patience, PATIENCE_US);
	loop_defer(&session->turn);
}

static const struct stream_ops inband_session_ops = {
	.send = inband_send, .waiting = inband_waiting, .close = inband_close};

/* Answers */

static void inband_opened(struct inband_session *session, const struct txn_result *result)
{
	const struct inband_owner *owner = &session->inband->owner;

	session->there = be64_load(result->mad + FROM_OFFSET);
	session->state = OPEN;
	session->opening.number = 0;
	loop_timer_disarm(&session->patience);
	if (owner->answered)
		owner->answered(owner->ctx, session->guid);
	session->stream.user.opened(session->stream.user.ctx);
}

/* An answer of the carrier at the other end has our number as the receiver's. If there is no
 * carrier, the kernel there returns the request with a status. Any other answer is forged. */
static bool inband_is_answer(const struct inband_session *session, const struct txn_result *result)
{
	size_t offset = result->header.status ? FROM_OFFSET : TO_OFFSET;

	return result->size >= INBAND_HEADER_SIZE && inband_is_ours(result->mad) &&
	       be64_load(result->mad + offset) == session->here;
}

static bool inband_is_refused(struct inband_session *session, const struct txn_result *result)
{
	const char *why = NULL;

	if (result->header.status)
		why = "no weftd with replication over the fabric answers there";
	else if (result->mad[RESULT_OFFSET] == INBAND_NO_SESSION)
		why = "the peer has ended the connection";
	else if (result->mad[RESULT_OFFSET] != INBAND_OK)
		why = "it has another version of the replication over the fabric (run the same "
		      "weftd on both)";
	if (!why)
		return false;
	session->stream.unserved = session->state == OPENING && result->header.status;
	inband_fail(session, "%s", why);
	return true;
}

/* A lost Alive has no effect. */
static void inband_alive_done(void *arg, const struct txn_result *result)
{
	struct inband_session *session = arg;

	session->asked = false;
	if (session->state != GONE && !result->error && inband_is_answer(session, result))
		inband_is_refused(session, result);
}

static void inband_ask_alive(void *arg)
{
	struct inband_session *session = arg;
	const struct inband_message message = {
		.attr = INBAND_ALIVE, .to = session->there, .from = session->here};
	uint8_t mad[MAD_SIZE];

	loop_timer_arm(&session->alive, ALIVE_US);
	if (session->asked || session->state != OPEN)
		return;
	session->asked = true;
	inband_build(&message, mad, sizeof(mad));
	txn_start(session->inband->txns, &session->at, mad, sizeof(mad), ATTEMPT_MS,
		  inband_alive_done, session);
}

static void inband_repeat(void *arg)
{
	struct inband_session *session = arg;
	struct inband_slot *slots[WINDOW + 1] = {&session->opening};

	for (unsigned i = 0; i < WINDOW; i++)
		slots[i + 1] = &session->out[i];
	for (unsigned i = 0; i <= WINDOW; i++) {
		if (!slots[i]->waits)
			continue;
		slots[i]->waits = false;
		inband_post(slots[i], i ? INBAND_DATA : INBAND_OPEN);
	}
}

/* Not at once: a manager that is another program may answer each message at once with a status, and
 * without its contents. */
static void inband_repeat_later(struct inband_slot *slot)
{
	slot->waits = true;
	if (!loop_timer_armed(&slot->session->again))
		loop_timer_arm(&slot->session->again, ATTEMPT_MS * 1000);
}

static void inband_message_done(void *arg, const struct txn_result *result)
{
	struct inband_slot *slot = arg;
	struct inband_session *session = slot->session;
	bool is_open = slot == &session->opening;

	if (session->state == GONE)
		return;
	if (result->error && result->error != -ETIMEDOUT) {
		slot->number = 0;
		inband_fail(session, "cannot send: %s", strerror(-result->error));
		return;
	}
	if (result->error) { /* the timer of patience ends this */
		inband_post(slot, is_open ? INBAND_OPEN : INBAND_DATA);
		return;
	}
	if (!inband_is_answer(session, result)) {
		inband_repeat_later(slot);
		return;
	}
	if (inband_is_refused(session, result))
		return;
	if (is_open) {
		inband_opened(session, result);
		return;
	}
	inband_slot_free(slot);
	/* Before its first message, the other end has no session. */
	if (session->state == OPEN && !session->accepted && !loop_timer_armed(&session->alive))
		loop_timer_arm(&session->alive, ALIVE_US);
	if (session->state == OPEN) { /* time runs while a message waits */
		loop_timer_disarm(&session->patience);
		if (!inband_is_idle(session))
			loop_timer_arm(&session->patience, PATIENCE_US);
	}
	loop_defer(&session->turn);
}

/* Beginning a session */

static void inband_out_of_patience(void *arg)
{
	struct inband_session *session = arg;
	const struct inband_owner *owner = &session->inband->owner;
	bool opening = session->state == OPENING;
	guid_t guid = session->guid;

	inband_fail(session, "no answer within %u s", PATIENCE_US / 1000000);
	if (opening && owner->unanswered)
		owner->unanswered(owner->ctx, guid);
}

/* here: the number of the session at this end. */
static struct inband_session *inband_session_new(struct inband *inband, guid_t guid,
						 const struct mad_addr *at, enum inband_state state,
						 uint64_t here)
{
	struct inband_session *session = mem_zalloc(sizeof(*session));

	session->stream.ops = &inband_session_ops;
	session->stream.in_clear = true;
	guid_text(guid, session->stream.peer);
	session->inband = inband;
	session->state = state;
	session->accepted = state == OPEN;
	session->guid = guid;
	session->at = *at;
	session->here = here;
	loop_timer_init(&session->patience, inband->loop, "in-band patience",
			inband_out_of_patience, session);
	loop_timer_init(&session->alive, inband->loop, "in-band alive", inband_ask_alive, session);
	loop_timer_init(&session->again, inband->loop, "in-band again", inband_repeat, session);
	loop_deferred_init(&session->turn, inband->loop, "in-band", inband_turn, session);
	if (state == OPENING)
		loop_timer_arm(&session->patience, PATIENCE_US);
	list_init(&session->link);
	list_push(&inband->sessions, &session->link);
	return session;
}

static struct stream *inband_connect(struct stream_carrier *carrier, const char *address,
				     const struct stream_user *user, char why[STREAM_WHY_SIZE])
{
	struct inband *inband = inband_of(carrier);
	struct inband_session *session;
	struct mad_addr at;
	guid_t guid;

	if (!guid_parse(address, &guid) || !inband->owner.find(inband->owner.ctx, guid, &at)) {
		snprintf(why, STREAM_WHY_SIZE, "no manager is known at port %.40s", address);
		return NULL;
	}
	if (!txn_message_max(inband->txns)) {
		snprintf(why, STREAM_WHY_SIZE,
			 "this port cannot send management class 0x%02x (another program has "
			 "registered it, or the kernel refuses it): set ha_peers",
			 INBAND_CLASS);
		return NULL;
	}
	session = inband_session_new(inband, guid, &at, OPENING, loop_random(inband->loop) | 1);
	session->stream.user = *user;
	session->opening = (struct inband_slot){.session = session, .number = 1};
	inband_post(&session->opening, INBAND_OPEN);
	return &session->stream;
}

static int inband_listen(struct stream_carrier *carrier, const char *address,
			 const struct stream_listener *listener, char why[STREAM_WHY_SIZE])
{
	(void)address; /* it is the port of the manager */
	(void)why;
	inband_of(carrier)->listener = *listener;
	return 0;
}

/* Receiving */

/* The session of a message; NULL: no session has its numbers, or it comes from another address. */
static struct inband_session *inband_find(const struct inband *inband, const struct mad_addr *from,
					  const struct inband_message *message)
{
	list_for_each (link, &inband->sessions) {
		struct inband_session *session = container_of(link, struct inband_session, link);

		if (session->state != GONE && session->here == message->to &&
		    session->there == message->from && session->at.lid == from->lid)
			return session;
	}
	return NULL;
}

/* The last accepted session of this port; NULL: there is none, or it is too old. */
static struct inband_recent *inband_recent_of(struct inband *inband, guid_t guid)
{
	for (unsigned i = 0; i < RECENT; i++)
		if (inband->recent[i].guid == guid)
			return &inband->recent[i];
	return NULL;
}

/* Each session may cause a full copy, so a port cannot begin sessions in fast succession. */
static bool inband_is_too_soon(struct inband *inband, guid_t guid)
{
	const struct inband_recent *recent = inband_recent_of(inband, guid);

	return recent && loop_now_us(inband->loop) - recent->at_us < AGAIN_US;
}

static void inband_note_recent(struct inband *inband, guid_t guid, uint64_t there)
{
	struct inband_recent *recent = inband_recent_of(inband, guid);

	if (!recent)
		recent = &inband->recent[inband->num_recent++ % RECENT];
	*recent = (struct inband_recent){guid, there, loop_now_us(inband->loop)};
}

/* The port that may connect from this address; 0: none. */
static guid_t inband_admitted(const struct inband *inband, const struct mad_addr *from)
{
	return inband->listener.accepted && from->qpn == 1
		       ? inband->owner.admits(inband->owner.ctx, from->lid)
		       : 0;
}

/* The number of this end for a session. there: the number of the end that opens it. Only a port
 * that receives the answer knows the result. */
static uint64_t inband_number(const struct inband *inband, guid_t guid, lid_t lid, uint64_t there,
			      uint64_t period)
{
	uint8_t data[32], hash[CRYPTO_HMAC_SIZE];

	be64_store(data, guid);
	be64_store(data + 8, lid);
	be64_store(data + 16, there);
	be64_store(data + 24, period);
	crypto_hmac(inband->secret, sizeof(inband->secret), data, sizeof(data), hash);
	return be64_load(hash) | 1; /* 0 means no session */
}

/* An Open that comes too soon gets no answer, so it is sent again. */
static void inband_take_open(struct inband *inband, const struct mad_addr *from,
			     const struct inband_message *message, const uint8_t *mad)
{
	guid_t guid = inband_admitted(inband, from);
	uint64_t period = loop_now_us(inband->loop) / PERIOD_US;

	if (!guid || !message->from) {
		inband_refuse(inband, from, "its port is not that of a known standby");
		return;
	}
	if (!inband_is_too_soon(inband, guid))
		inband_answer(inband, from, mad,
			      inband_number(inband, guid, from->lid, message->from, period),
			      INBAND_OK);
}

/* Whether the number of the session at this end is the answer to its Open. */
static bool inband_is_number(const struct inband *inband, guid_t guid, lid_t lid,
			     const struct inband_message *message)
{
	uint64_t period = loop_now_us(inband->loop) / PERIOD_US;

	return message->to == inband_number(inband, guid, lid, message->from, period) ||
	       (period &&
		message->to == inband_number(inband, guid, lid, message->from, period - 1));
}

/* Whether this is one of the first messages of a new session. A session begins once, so a late
 * message of an ended session begins none. */
static bool inband_is_first(struct inband *inband, guid_t guid, const struct mad_addr *from,
			    const struct inband_message *message)
{
	const struct inband_recent *recent = inband_recent_of(inband, guid);

	return guid && message->attr == INBAND_DATA && message->size && message->number &&
	       message->number <= WINDOW && !(recent && recent->there == message->from) &&
	       inband_is_number(inband, guid, from->lid, message);
}

/* The port was restarted, so its other session is over. */
static struct inband_session *inband_accept(struct inband *inband, guid_t guid,
					    const struct mad_addr *from,
					    const struct inband_message *message)
{
	struct inband_session *session;

	list_for_each (link, &inband->sessions) {
		struct inband_session *other = container_of(link, struct inband_session, link);

		if (other->accepted && other->guid == guid && other->state != GONE)
			inband_fail(other, "a new connection of its port replaces it");
	}
	inband_note_recent(inband, guid, message->from);
	session = inband_session_new(inband, guid, from, OPEN, message->to);
	session->there = message->from;
	inband->listener.accepted(inband->listener.ctx, &session->stream);
	return session;
}

/* Passes on all messages that are complete and in order. The user may close the stream. */
static void inband_deliver(struct inband_session *session)
{
	struct inband_slot *next;

	while (session->state == OPEN &&
	       (next = &session->in[(session->taken + 1) % WINDOW])->number == session->taken + 1) {
		uint8_t *payload = next->payload;

		session->taken++;
		next->number = 0;
		next->payload = NULL;
		session->stream.user.received(session->stream.user.ctx, payload, next->size);
		free(payload);
	}
}

/* A message that is not expected yet gets no answer, so it is sent again. */
static void inband_take_data(struct inband_session *session, const struct mad_addr *from,
			     const struct inband_message *message, const uint8_t *mad)
{
	struct inband_slot *slot = &session->in[message->number % WINDOW];

	if (!message->number || message->number > session->taken + WINDOW || !message->size)
		return;
	inband_answer(session->inband, from, mad, session->here, INBAND_OK);
	if (message->number <= session->taken || slot->number == message->number ||
	    session->state == LEAVING)
		return;
	*slot = (struct inband_slot){.number = message->number,
				     .size = message->size,
				     .payload = mem_alloc(message->size)};
	memcpy(slot->payload, message->payload, message->size);
	inband_deliver(session);
}

static bool inband_is_peer(const struct inband *inband, lid_t lid)
{
	list_for_each (link, &inband->sessions)
		if (container_of(link, struct inband_session, link)->at.lid == lid)
			return true;
	return inband->owner.admits(inband->owner.ctx, lid);
}

/* After a restart, the other end of a former session gets an answer that ends it. */
static void inband_no_session(struct inband *inband, const struct mad_addr *from,
			      const uint8_t *mad)
{
	if (inband_is_peer(inband, from->lid))
		inband_answer(inband, from, mad, 0, INBAND_NO_SESSION);
	else
		inband_refuse(inband, from, "it has no session");
}

static void inband_received(void *ctx, const struct mad_addr *from, const struct mad_header *header,
			    const uint8_t *mad, size_t size)
{
	struct inband *inband = ctx;
	struct inband_message message;
	struct inband_session *session;
	guid_t guid;

	if (header->method != METHOD_SET || !inband_is_ours(mad))
		return;
	if (!inband_read(header, mad, size, &message)) {
		if (mad[VENDOR_DATA_OFFSET] != INBAND_VERSION && inband_is_peer(inband, from->lid))
			inband_answer(inband, from, mad, 0, INBAND_OTHER_VERSION);
		else
			inband_refuse(inband, from, "its message is malformed");
		return;
	}
	if (message.attr == INBAND_OPEN) {
		inband_take_open(inband, from, &message, mad);
		return;
	}
	session = inband_find(inband, from, &message);
	guid = session ? 0 : inband_admitted(inband, from);
	if (!session && inband_is_first(inband, guid, from, &message)) {
		if (inband_is_too_soon(inband, guid))
			return; /* it is sent again */
		session = inband_accept(inband, guid, from, &message);
	}
	if (!session) {
		inband_no_session(inband, from, mad);
	} else if (message.attr == INBAND_ALIVE) {
		inband_answer(inband, from, mad, session->here, INBAND_OK);
	} else if (message.attr == INBAND_DATA) {
		inband_take_data(session, from, &message, mad);
	} else if (message.attr == INBAND_CLOSE) {
		inband_answer(inband, from, mad, session->here, INBAND_OK);
		if (session->state == OPEN || session->state == LEAVING)
			inband_fail(session, "the peer closed the connection");
	}
}

/* The carrier */

static void inband_free(struct stream_carrier *carrier)
{
	struct inband *inband = inband_of(carrier);

	txn_handle(inband->txns, INBAND_CLASS, NULL, NULL);
	list_for_each (link, &inband->sessions) {
		struct inband_session *session = container_of(link, struct inband_session, link);

		inband_hang_up(session);
		inband_session_free(session);
	}
	explicit_bzero(inband->secret, sizeof(inband->secret));
	free(inband);
}

static const struct stream_carrier_ops inband_ops = {
	.connect = inband_connect, .listen = inband_listen, .free = inband_free};

struct stream_carrier *inband_new(struct loop *loop, struct txn_table *txns,
				  const struct inband_owner *owner)
{
	struct inband *inband = mem_zalloc(sizeof(*inband));

	inband->carrier.ops = &inband_ops;
	inband->loop = loop;
	inband->txns = txns;
	inband->owner = *owner;
	for (unsigned i = 0; i < SECRET_SIZE; i += 8)
		be64_store(inband->secret + i, loop_random(loop));
	list_init(&inband->sessions);
	txn_handle(txns, INBAND_CLASS, inband_received, inband);
	return &inband->carrier;
}
