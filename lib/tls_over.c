/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * GnuTLS reads from a buffer of received bytes, and writes to the inner stream, which takes any
 * number of bytes. So only a lack of received bytes interrupts it. A session whose inner stream has
 * closed is freed in a turn of its own. A peer has some seconds to prove a key.
 */
#include "lib/tls_over.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buffer.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "lib/tls_keys.h"

enum {
	HANDSHAKE_US = 5000000, /* of an accepted session, */
	CONNECT_US = 10000000,	/* and of this end, with the time to connect */
	RECORD_BYTES = 16384,
	RECEIVED_MAX = 1 << 20, /* bytes that no record has completed */
};

enum cover_state { CONNECTING, SHAKING, COVERED, GONE };

struct tls_over {
	struct stream_carrier carrier;
	struct loop *loop;
	struct stream_carrier *inner;
	struct tls_keys keys;
	struct stream_listener listener;
	struct list covers;
};

struct cover { /* a session */
	struct stream stream;
	struct list link;
	struct tls_over *over;
	struct stream *inner; /* NULL: it is closed */
	enum cover_state state;
	bool accepted;
	gnutls_session_t gnutls;
	struct tls_party party;
	struct buffer in;
	struct loop_timer patience;
	struct loop_deferred free;
};

static struct cover *cover_of(const struct stream *stream)
{
	return container_of((struct stream *)stream, struct cover, stream);
}

/* Ending a session */

static void cover_free(void *arg)
{
	struct cover *cover = arg;

	list_del(&cover->link);
	loop_timer_disarm(&cover->patience);
	loop_defer_cancel(&cover->free);
	if (cover->gnutls)
		gnutls_deinit(cover->gnutls);
	free(cover->in.bytes);
	free(cover);
}

static void cover_leave(struct cover *cover, bool politely)
{
	if (cover->inner)
		stream_close(cover->inner, politely);
	cover->inner = NULL;
	cover->state = GONE;
	loop_timer_disarm(&cover->patience);
	loop_defer(&cover->free);
}

static void cover_fail(struct cover *cover, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void cover_fail(struct cover *cover, const char *format, ...)
{
	bool stranger = cover->accepted && cover->state == SHAKING;
	const struct stream_listener *listener = &cover->over->listener;
	char why[STREAM_WHY_SIZE];
	va_list args;

	if (cover->state == GONE)
		return;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	cover_leave(cover, false);
	if (stranger)
		listener->refused(listener->ctx, cover->stream.peer, why);
	else
		cover->stream.user.closed(cover->stream.user.ctx, why);
}

static void cover_out_of_patience(void *arg)
{
	const struct cover *cover = arg;

	cover_fail(arg, "no key proved within %u s",
		   (cover->accepted ? HANDSHAKE_US : CONNECT_US) / 1000000);
}

/* GnuTLS's transport */

static ssize_t cover_push(gnutls_transport_ptr_t arg, const void *bytes, size_t size)
{
	struct cover *cover = arg;

	if (!cover->inner)
		return -1;
	stream_send(cover->inner, bytes, size);
	return (ssize_t)size;
}

static ssize_t cover_pull(gnutls_transport_ptr_t arg, void *bytes, size_t size)
{
	struct cover *cover = arg;
	size_t there = buffer_length(&cover->in);

	if (!there) {
		gnutls_transport_set_errno(cover->gnutls, EAGAIN);
		return -1;
	}
	size = size < there ? size : there;
	memcpy(bytes, cover->in.bytes + cover->in.begin, size);
	buffer_consume(&cover->in, size);
	return (ssize_t)size;
}

/* GnuTLS asks before it reads during a handshake. */
static int cover_pull_timeout(gnutls_transport_ptr_t arg, unsigned ms)
{
	(void)ms;
	return buffer_length(&((struct cover *)arg)->in) > 0;
}

/* The user's side */

static void cover_send(struct stream *stream, const void *bytes, size_t size)
{
	struct cover *cover = cover_of(stream);
	const uint8_t *at = bytes;

	while (size && cover->state == COVERED) {
		ssize_t sent = gnutls_record_send(cover->gnutls, at,
						  size < RECORD_BYTES ? size : RECORD_BYTES);

		if (sent < 0) /* the inner stream is closing, and will call closed() */
			return;
		at += sent;
		size -= (size_t)sent;
	}
}

static size_t cover_waiting(const struct stream *stream)
{
	const struct cover *cover = cover_of(stream);

	return cover->inner ? stream_waiting(cover->inner) : 0;
}

static void cover_close(struct stream *stream, bool politely)
{
	struct cover *cover = cover_of(stream);

	if (cover->state == GONE)
		return;
	if (politely && cover->state == COVERED)
		gnutls_bye(cover->gnutls, GNUTLS_SHUT_WR);
	cover_leave(cover, politely);
}

static const struct stream_ops cover_ops = {
	.send = cover_send, .waiting = cover_waiting, .close = cover_close};

/* Progress */

/* A peer has one session with its identity, unless managers share the key. An older session is from
 * before a loss of power, or one of the two has a stolen key. */
static void cover_replace_others(struct cover *cover)
{
	list_for_each (link, &cover->over->covers) {
		struct cover *other = container_of(link, struct cover, link);

		if (other != cover && other->accepted && other->state == COVERED &&
		    !strcmp(other->stream.identity, cover->stream.identity))
			cover_fail(other,
				   "a connection from %s with its identity \"%s\" replaces it",
				   cover->stream.peer, cover->stream.identity);
	}
}

/* Whether the line of the proved key names a port other than the peer's. */
static bool cover_is_elsewhere(const struct cover *cover)
{
	const struct psk *psk = psk_named(&cover->over->keys.list, cover->stream.identity);
	struct host host;
	guid_t guid;

	if (!psk->has_peer || !host_is_port(&psk->peer) || !guid_parse(cover->stream.peer, &guid))
		return false;
	host = host_of_guid(guid);
	return !host_same(&psk->peer, &host);
}

/* The peer of an accepted session has proved a key. Returns false if the session has ended. */
static bool cover_prove(struct cover *cover)
{
	bool shared;

	if (!tls_keys_prove(&cover->party, cover->gnutls, &shared)) {
		cover_fail(cover, "its identity is not in ha_psk_file");
		return false;
	}
	if (cover_is_elsewhere(cover)) {
		cover_fail(cover, "the line of its identity \"%s\" in ha_psk_file has another port",
			   cover->stream.identity);
		return false;
	}
	if (!shared)
		cover_replace_others(cover);
	return true;
}

static void cover_shake(struct cover *cover)
{
	int code = gnutls_handshake(cover->gnutls);

	if (code && !gnutls_error_is_fatal(code))
		return;
	if (code) {
		cover_fail(cover,
			   "no TLS session: %s (both ends need the same key in their ha_psk_file)",
			   gnutls_strerror(code));
		return;
	}
	if (cover->accepted && !cover_prove(cover))
		return;
	loop_timer_disarm(&cover->patience);
	cover->state = COVERED;
	if (cover->accepted)
		cover->over->listener.accepted(cover->over->listener.ctx, &cover->stream);
	else
		cover->stream.user.opened(cover->stream.user.ctx);
}

static void cover_receive(struct cover *cover)
{
	uint8_t bytes[RECORD_BYTES];

	while (cover->state == COVERED) {
		ssize_t got = gnutls_record_recv(cover->gnutls, bytes, sizeof(bytes));

		if (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)
			return;
		if (got == 0)
			cover_fail(cover, "the peer closed the connection");
		else if (got < 0 && gnutls_error_is_fatal((int)got))
			cover_fail(cover, "%s", gnutls_strerror((int)got));
		else if (got > 0)
			cover->stream.user.received(cover->stream.user.ctx, bytes, (size_t)got);
	}
}

static void cover_step(struct cover *cover)
{
	if (cover->state == SHAKING)
		cover_shake(cover);
	if (cover->state == COVERED)
		cover_receive(cover);
}

/* The inner stream */

static void cover_opened(void *ctx)
{
	struct cover *cover = ctx;

	cover->state = SHAKING;
	cover_step(cover);
}

static void cover_received(void *ctx, const uint8_t *bytes, size_t size)
{
	struct cover *cover = ctx;

	buffer_append(&cover->in, (const char *)bytes, size);
	cover_step(cover);
	if (cover->state != GONE && buffer_length(&cover->in) > RECEIVED_MAX)
		cover_fail(cover, "it sent too many bytes without a complete TLS record");
}

static void cover_drained(void *ctx)
{
	struct cover *cover = ctx;

	if (cover->state == COVERED)
		cover->stream.user.drained(cover->stream.user.ctx);
}

static void cover_closed(void *ctx, const char *why)
{
	struct cover *cover = ctx;

	cover->stream.unserved = cover->inner->unserved;
	cover->inner = NULL;
	cover_fail(cover, "%s", why);
}

static struct cover *cover_new(struct tls_over *over, bool accepted)
{
	struct cover *cover = mem_zalloc(sizeof(*cover));

	cover->stream.ops = &cover_ops;
	cover->over = over;
	cover->accepted = accepted;
	cover->state = accepted ? SHAKING : CONNECTING;
	cover->party = (struct tls_party){&over->keys, cover->stream.identity};
	cover->gnutls = tls_keys_session(&cover->party, accepted ? GNUTLS_SERVER : GNUTLS_CLIENT);
	gnutls_transport_set_ptr(cover->gnutls, cover);
	gnutls_transport_set_push_function(cover->gnutls, cover_push);
	gnutls_transport_set_pull_function(cover->gnutls, cover_pull);
	gnutls_transport_set_pull_timeout_function(cover->gnutls, cover_pull_timeout);
	loop_timer_init(&cover->patience, over->loop, "TLS over a stream", cover_out_of_patience,
			cover);
	loop_deferred_init(&cover->free, over->loop, "TLS over a stream", cover_free, cover);
	loop_timer_arm(&cover->patience, accepted ? HANDSHAKE_US : CONNECT_US);
	list_init(&cover->link);
	list_push(&over->covers, &cover->link);
	return cover;
}

static void cover_take_inner(struct cover *cover, struct stream *inner)
{
	cover->inner = inner;
	snprintf(cover->stream.peer, sizeof(cover->stream.peer), "%s", inner->peer);
}

static const struct stream_user cover_user = {.opened = cover_opened,
					      .received = cover_received,
					      .drained = cover_drained,
					      .closed = cover_closed};

/* The carrier */

static struct tls_over *tls_over_of(struct stream_carrier *carrier)
{
	return container_of(carrier, struct tls_over, carrier);
}

static const struct psk *key_for(const struct tls_over *over, const char *address)
{
	struct host host = {.bytes = {0}};
	guid_t guid;

	if (guid_parse(address, &guid))
		host = host_of_guid(guid);
	else
		host_parse(address, &host);
	return psk_for(&over->keys.list, &host);
}

static struct stream *tls_over_connect(struct stream_carrier *carrier, const char *address,
				       const struct stream_user *user, char why[STREAM_WHY_SIZE])
{
	struct tls_over *over = tls_over_of(carrier);
	const struct psk *psk = key_for(over, address);
	struct stream_user inner_user = cover_user;
	struct stream *inner;
	struct cover *cover;

	if (!psk) {
		snprintf(why, STREAM_WHY_SIZE, "no line of ha_psk_file is for this port: add one");
		return NULL;
	}
	cover = cover_new(over, false);
	inner_user.ctx = cover;
	inner = over->inner->ops->connect(over->inner, address, &inner_user, why);
	if (!inner) {
		cover_free(cover);
		return NULL;
	}
	cover_take_inner(cover, inner);
	memcpy(cover->stream.identity, psk->identity, sizeof(psk->identity));
	cover->stream.user = *user;
	return &cover->stream;
}

static void tls_over_accepted(void *ctx, struct stream *inner)
{
	struct tls_over *over = ctx;
	struct cover *cover = cover_new(over, true);

	inner->user = cover_user;
	inner->user.ctx = cover;
	cover_take_inner(cover, inner);
}

static void tls_over_refused(void *ctx, const char *peer, const char *why)
{
	struct tls_over *over = ctx;

	over->listener.refused(over->listener.ctx, peer, why);
}

static int tls_over_listen(struct stream_carrier *carrier, const char *address,
			   const struct stream_listener *listener, char why[STREAM_WHY_SIZE])
{
	struct tls_over *over = tls_over_of(carrier);
	struct stream_listener inner = {tls_over_accepted, tls_over_refused, over};

	over->listener = *listener;
	return over->inner->ops->listen(over->inner, address, &inner, why);
}

static void tls_over_free(struct stream_carrier *carrier)
{
	struct tls_over *over = tls_over_of(carrier);

	list_for_each (link, &over->covers) {
		struct cover *cover = container_of(link, struct cover, link);

		if (cover->state != GONE)
			cover_leave(cover, false);
		cover_free(cover);
	}
	over->inner->ops->free(over->inner);
	tls_keys_done(&over->keys);
	free(over);
}

static const struct stream_carrier_ops tls_over_ops = {
	.connect = tls_over_connect, .listen = tls_over_listen, .free = tls_over_free};

void tls_over_set_keys(struct stream_carrier *carrier, const struct psk_list *keys)
{
	struct tls_over *over = tls_over_of(carrier);
	struct psk_list before = over->keys.list;

	over->keys.list = *keys;
	list_for_each (link, &over->covers) {
		struct cover *cover = container_of(link, struct cover, link);

		if (cover->state != GONE &&
		    (cover->state != COVERED || !psk_stays(&before, keys, cover->stream.identity)))
			cover_fail(cover, "its key, \"%s\", is no longer in ha_psk_file",
				   cover->stream.identity);
	}
	explicit_bzero(&before, sizeof(before));
}

struct stream_carrier *tls_over_new(struct loop *loop, struct stream_carrier *inner,
				    const struct psk_list *keys)
{
	struct tls_over *over = mem_zalloc(sizeof(*over));

	over->carrier.ops = &tls_over_ops;
	over->loop = loop;
	over->inner = inner;
	tls_keys_init(&over->keys, keys);
	list_init(&over->covers);
	return &over->carrier;
}
