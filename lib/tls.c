/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A session passes the states connecting, handshake, open, and leaving (waiting data are still
 * sent). One function, tls_step(), does the work that the state and the socket allow, each time the
 * socket is ready or the user has data to send. A closed session is freed in a turn of its own, so
 * that any call may close it.
 *
 * A stranger, which has not yet proved that it knows a key, costs little: a handshake has two
 * seconds, and leaves no state. Handshakes from the addresses of known peers have reserved places,
 * so strangers from other addresses cannot use them up. The other addresses share a few places, and
 * each of them has a share. If its share is full, a new stranger is refused; if all places are
 * full, the oldest handshake ends.
 */
#include "lib/tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/buffer.h"
#include "lib/mem.h"
#include "lib/tls_keys.h"

enum {
	STRANGERS_MAX = 8,	/* handshakes of accepted sessions from other than known peers */
	STRANGERS_SHARE = 2,	/* of one address */
	PEER_SHARE = 4,		/* of a known peer's address, besides */
	HANDSHAKE_US = 2000000, /* of an accepted session */
	PATIENCE_US = 5000000,	/* to connect, and for the last bytes of a session that ends */
	/* The kernel closes a connection whose peer reads nothing for so long. */
	UNSENT_MS = 10000,
	RECORD_BYTES = 16384,
	RECORDS_A_TURN = 4,
	ACCEPTS_A_TURN = 16,
	/* Connections that wait in the kernel: strangers must not fill it between two turns. */
	BACKLOG = 128,
};

struct tls {
	struct stream_carrier carrier;
	struct loop *loop;
	struct tls_keys keys;
	uint16_t port;
	struct host peers[TLS_PEERS_MAX]; /* addresses of known peers */
	unsigned num_peers;
	struct list sessions; /* the oldest first */
	int listen_fd;	      /* -1: no listener */
	struct sockaddr_storage own;
	socklen_t own_size; /* 0: no listener */
	struct loop_fd *listen_watch;
	struct stream_listener listener;
	struct loop_timer accept_again;
};

enum state { CONNECTING, HANDSHAKE, OPEN, LEAVING, GONE };

struct session {
	struct stream stream;
	struct list link;
	struct tls *tls;
	enum state state;
	bool accepted;
	struct host host; /* the peer of an accepted session */
	int fd;
	struct loop_fd *watch;
	gnutls_session_t gnutls;
	struct tls_party party;
	struct loop_timer patience;
	struct loop_deferred turn; /* for data to send, or to free it */
	struct buffer out;
	size_t offered; /* bytes that GnuTLS has but did not send: they are passed again */
	bool low_told;
};

static struct session *session_of(const struct stream *stream)
{
	return container_of((struct stream *)stream, struct session, stream);
}

static int tls_explain(char why[STREAM_WHY_SIZE], int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int tls_explain(char why[STREAM_WHY_SIZE], int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, STREAM_WHY_SIZE, format, args);
	va_end(args);
	return error;
}

/* An accepted session that has not proved that it knows a key. */
static bool tls_is_stranger(const struct session *session)
{
	return session->accepted && session->state <= HANDSHAKE;
}

/* Ending a session */

static void session_free(struct session *session)
{
	list_del(&session->link);
	loop_defer_cancel(&session->turn);
	free(session->out.bytes);
	free(session);
}

/* Closes the socket at once; the rest follows in a turn of its own. */
static void tls_leave(struct session *session)
{
	session->state = GONE;
	loop_timer_disarm(&session->patience);
	loop_fd_remove(session->watch);
	session->watch = NULL;
	if (session->gnutls)
		gnutls_deinit(session->gnutls);
	session->gnutls = NULL;
	close(session->fd);
	loop_defer(&session->turn);
}

static void tls_fail(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void tls_fail(struct session *session, const char *format, ...)
{
	bool stranger = tls_is_stranger(session);
	bool tells = session->state != LEAVING && session->state != GONE;
	const struct stream_listener *listener = &session->tls->listener;
	char why[STREAM_WHY_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (session->state != GONE)
		tls_leave(session);
	if (stranger)
		listener->refused(listener->ctx, session->stream.peer, why);
	else if (tells)
		session->stream.user.closed(session->stream.user.ctx, why);
}

static void out_of_patience(void *arg)
{
	struct session *session = arg;

	tls_fail(session, "no answer within %u s",
		 (tls_is_stranger(session) ? HANDSHAKE_US : PATIENCE_US) / 1000000);
}

/* Sending and receiving */

static size_t tls_waiting(const struct stream *stream)
{
	return buffer_length(&session_of(stream)->out);
}

static void send_bytes(struct stream *stream, const void *bytes, size_t size)
{
	struct session *session = session_of(stream);

	if (session->state == GONE || session->state == LEAVING)
		return;
	buffer_append(&session->out, bytes, size);
	session->low_told = false;
	loop_defer(&session->turn);
}

static bool is_again(ssize_t code)
{
	return code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED;
}

/* GnuTLS requires a repeated call with the same bytes, at any address. */
static void tls_flush(struct session *session)
{
	for (unsigned i = 0; i < RECORDS_A_TURN && buffer_length(&session->out); i++) {
		size_t size = buffer_length(&session->out);
		ssize_t sent;

		if (session->offered)
			size = session->offered;
		else if (size > RECORD_BYTES)
			size = RECORD_BYTES;
		sent = gnutls_record_send(session->gnutls, session->out.bytes + session->out.begin,
					  size);
		session->offered = is_again(sent) ? size : 0;
		if (is_again(sent))
			return;
		if (sent < 0) {
			tls_fail(session, "cannot send: %s", gnutls_strerror((int)sent));
			return;
		}
		buffer_consume(&session->out, (size_t)sent);
	}
}

static void tls_receive(struct session *session)
{
	uint8_t bytes[RECORD_BYTES];

	for (unsigned i = 0; i < RECORDS_A_TURN && session->state == OPEN; i++) {
		ssize_t got = gnutls_record_recv(session->gnutls, bytes, sizeof(bytes));

		if (is_again(got))
			return;
		if (got == 0 || got == GNUTLS_E_PREMATURE_TERMINATION) {
			tls_fail(session, "the peer closed the connection");
			return;
		}
		if (got < 0 && gnutls_error_is_fatal((int)got)) {
			tls_fail(session, "%s", gnutls_strerror((int)got));
			return;
		}
		if (got > 0)
			session->stream.user.received(session->stream.user.ctx, bytes, (size_t)got);
	}
}

/* States */

/* A peer has one session with its identity: an older session is from before it lost power or its
 * network, unless the key is stolen. */
static void replace_others(struct session *session)
{
	const struct tls *tls = session->tls;

	list_for_each (link, &tls->sessions) {
		struct session *other = container_of(link, struct session, link);

		if (other != session && other->accepted && other->state == OPEN &&
		    !strcmp(other->stream.identity, session->stream.identity))
			tls_fail(other, "a connection from %s with its identity \"%s\" replaces it",
				 session->stream.peer, session->stream.identity);
	}
}

/* Both ends have proved that they know a key; GnuTLS reports which. */
static void prove(struct session *session)
{
	bool shared;

	if (!tls_keys_prove(&session->party, session->gnutls, &shared)) {
		tls_fail(session, "its identity is not in ha_psk_file");
		return;
	}
	loop_timer_disarm(&session->patience);
	session->state = OPEN;
	if (!shared)
		replace_others(session);
	session->tls->listener.accepted(session->tls->listener.ctx, &session->stream);
}

static void handshake(struct session *session)
{
	int code = gnutls_handshake(session->gnutls);

	if (code && !gnutls_error_is_fatal(code))
		return;
	if (code) {
		tls_fail(session,
			 "no TLS session: %s (both ends need the same key in their ha_psk_file)",
			 gnutls_strerror(code));
		return;
	}
	if (session->accepted) {
		prove(session);
		return;
	}
	loop_timer_disarm(&session->patience);
	session->state = OPEN;
	session->stream.user.opened(session->stream.user.ctx);
}

static void connected(struct session *session)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(session->fd, SOL_SOCKET, SO_ERROR, &error, &size))
		error = errno;
	if (error)
		tls_fail(session, "cannot connect: %s", strerror(error));
	else
		session->state = HANDSHAKE;
}

static void watch_what_is_needed(struct session *session)
{
	uint32_t events = EPOLLIN;

	if (session->state == GONE)
		return;
	if (session->state == CONNECTING ||
	    (session->state == HANDSHAKE && gnutls_record_get_direction(session->gnutls)) ||
	    (session->state >= OPEN && tls_waiting(&session->stream)))
		events = session->state >= OPEN ? EPOLLIN | EPOLLOUT : EPOLLOUT;
	if (session->state == LEAVING)
		events &= ~(uint32_t)EPOLLIN;
	if (loop_fd_events(session->watch, events))
		tls_fail(session, "the socket cannot be watched");
}

static void tls_step(struct session *session, bool may_read)
{
	if (session->state == HANDSHAKE)
		handshake(session);
	if (session->state == OPEN && may_read)
		tls_receive(session);
	if (session->state == OPEN || session->state == LEAVING)
		tls_flush(session);
	if (session->state == LEAVING && !tls_waiting(&session->stream)) {
		gnutls_bye(session->gnutls, GNUTLS_SHUT_WR);
		tls_leave(session);
	}
	if (session->state == OPEN && tls_waiting(&session->stream) < STREAM_LOW_BYTES &&
	    !session->low_told) {
		session->low_told = true;
		session->stream.user.drained(session->stream.user.ctx);
	}
	watch_what_is_needed(session);
}

static void ready(void *arg, uint32_t events)
{
	struct session *session = arg;

	(void)events;
	if (session->state == CONNECTING)
		connected(session);
	tls_step(session, true);
	/* For data that GnuTLS has already read off the socket, epoll reports nothing. */
	if (session->state == OPEN && gnutls_record_check_pending(session->gnutls))
		loop_defer(&session->turn);
}

static void tls_turn(void *arg)
{
	struct session *session = arg;

	if (session->state == GONE)
		session_free(session);
	else if (session->state != CONNECTING)
		ready(session, 0);
}

static void close_stream(struct stream *stream, bool politely)
{
	struct session *session = session_of(stream);

	if (session->state == GONE || session->state == LEAVING)
		return;
	if (!politely || session->state != OPEN) {
		tls_leave(session);
		return;
	}
	session->state = LEAVING;
	loop_timer_arm(&session->patience, PATIENCE_US);
	loop_defer(&session->turn);
}

static const struct stream_ops session_ops = {
	.send = send_bytes, .waiting = tls_waiting, .close = close_stream};

/* Beginning a session */

static void no_delay(int fd)
{
	unsigned unsent_ms = UNSENT_MS;
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof(unsent_ms));
}

/* Takes over the descriptor. NULL: it cannot be watched, and is closed. */
static struct session *session_new(struct tls *tls, int fd, bool accepted)
{
	struct session *session = mem_zalloc(sizeof(*session));

	session->stream.ops = &session_ops;
	session->tls = tls;
	session->fd = fd;
	session->accepted = accepted;
	session->state = accepted ? HANDSHAKE : CONNECTING;
	list_init(&session->link);
	loop_timer_init(&session->patience, tls->loop, "TLS patience", out_of_patience, session);
	loop_deferred_init(&session->turn, tls->loop, "TLS", tls_turn, session);
	if (loop_fd_add(tls->loop, fd, accepted ? EPOLLIN : EPOLLOUT, LOOP_NORMAL, "TLS", ready,
			session, &session->watch)) {
		close(fd);
		free(session);
		return NULL;
	}
	session->party = (struct tls_party){&tls->keys, session->stream.identity};
	session->gnutls =
		tls_keys_session(&session->party, accepted ? GNUTLS_SERVER : GNUTLS_CLIENT);
	gnutls_transport_set_int(session->gnutls, fd);
	no_delay(fd);
	list_push(&tls->sessions, &session->link);
	loop_timer_arm(&session->patience, accepted ? HANDSHAKE_US : PATIENCE_US);
	return session;
}

/* The peer identifies this manager by the address of its ha_listen, so connections come from there
 * if the kernel allows it; otherwise from any address. */
static void bind_own(const struct tls *tls, int fd, const struct sockaddr *to)
{
	struct sockaddr_storage own = tls->own;
	struct host from = host_of((const struct sockaddr *)&own), peer = host_of(to);

	if (!tls->own_size || own.ss_family != to->sa_family || host_is_any(&from) ||
	    host_is_loopback(&from) != host_is_loopback(&peer))
		return;
	if (own.ss_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)&own)->sin6_port = 0;
	else
		((struct sockaddr_in *)(void *)&own)->sin_port = 0;
	if (bind(fd, (const struct sockaddr *)&own, tls->own_size))
		return; /* the address does not exist: the kernel chooses another */
}

/* A connecting socket; or -1, and the reason in why. */
static int tls_connect_to(const struct tls *tls, const struct addrinfo *to,
			  char why[STREAM_WHY_SIZE])
{
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		bind_own(tls, fd, to->ai_addr);
	if (fd >= 0 && (!connect(fd, to->ai_addr, to->ai_addrlen) || errno == EINPROGRESS))
		return fd;
	tls_explain(why, -errno, "cannot connect: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static struct session *connect_with(struct tls *tls, const struct addrinfo *to,
				    const struct stream_user *user, char why[STREAM_WHY_SIZE])
{
	struct host host = host_of(to->ai_addr);
	const struct psk *psk = psk_for(&tls->keys.list, &host);
	struct session *session;
	int fd;

	if (!psk) {
		tls_explain(why, -ENOENT, "no line of ha_psk_file is for this address: add one");
		return NULL;
	}
	fd = tls_connect_to(tls, to, why);
	session = fd < 0 ? NULL : session_new(tls, fd, false);
	if (fd >= 0 && !session)
		tls_explain(why, -EIO, "the socket cannot be watched");
	if (!session)
		return NULL;
	memcpy(session->stream.identity, psk->identity, sizeof(psk->identity));
	session->stream.user = *user;
	address_describe(to->ai_addr, to->ai_addrlen, session->stream.peer);
	return session;
}

static struct stream *tls_connect(struct stream_carrier *carrier, const char *address,
				  const struct stream_user *user, char why[STREAM_WHY_SIZE])
{
	struct tls *tls = container_of(carrier, struct tls, carrier);
	struct session *session;
	struct addrinfo *to;

	if (address_resolve(address, tls->port, false, &to, why))
		return NULL;
	session = connect_with(tls, to, user, why);
	freeaddrinfo(to);
	return session ? &session->stream : NULL;
}

/* Accepting */

static bool tls_is_peer(const struct tls *tls, const struct host *host)
{
	for (unsigned i = 0; i < tls->num_peers; i++)
		if (host_same(&tls->peers[i], host))
			return true;
	return false;
}

/* The handshakes that compete with a new handshake, and the oldest of them. */
struct rivals {
	unsigned own; /* of its address */
	unsigned all; /* of the same kind: of this known peer, or of all strangers from elsewhere */
	struct session *oldest;
};

static struct rivals rivals_of(const struct tls *tls, const struct host *host, bool known)
{
	struct rivals rivals = {0};

	list_for_each (link, &tls->sessions) {
		struct session *session = container_of(link, struct session, link);
		bool own = known ? host_same(&session->host, host)
				 : host_same_site(&session->host, host);

		if (!tls_is_stranger(session) || tls_is_peer(tls, &session->host) != known ||
		    (known && !own))
			continue;
		rivals.own += own;
		rivals.all++;
		if (!rivals.oldest)
			rivals.oldest = session;
	}
	return rivals;
}

/* Whether a new handshake from host may begin; the oldest of its kind may have to end. */
static bool make_place(struct tls *tls, const struct host *host)
{
	bool known = tls_is_peer(tls, host);
	struct rivals rivals = rivals_of(tls, host, known);

	if (!known && rivals.own >= STRANGERS_SHARE)
		return false;
	if (rivals.all >= (known ? PEER_SHARE : STRANGERS_MAX))
		tls_fail(rivals.oldest,
			 "too many handshakes are under way, and this is the oldest");
	return true;
}

/* Takes over the descriptor. */
static void begin_handshake(struct tls *tls, int fd, const struct sockaddr *from, socklen_t size)
{
	struct host host = host_of(from);
	char peer[STREAM_PEER_SIZE];
	struct session *session;

	address_describe(from, size, peer);
	if (!make_place(tls, &host)) {
		close(fd);
		tls->listener.refused(tls->listener.ctx, peer,
				      "too many handshakes of this address are under way");
		return;
	}
	session = session_new(tls, fd, true);
	if (!session)
		return;
	session->host = host;
	memcpy(session->stream.peer, peer, sizeof(peer));
}

/* Without free descriptors the socket would stay readable and keep the loop busy: pause
 * accepting. */
static void accept_some(void *arg, uint32_t events)
{
	struct tls *tls = arg;

	(void)events;
	for (unsigned i = 0; i < ACCEPTS_A_TURN; i++) {
		struct sockaddr_storage from;
		socklen_t size = sizeof(from);
		int fd = accept4(tls->listen_fd, (struct sockaddr *)&from, &size,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 &&
		    (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
			loop_fd_events(tls->listen_watch, 0);
			loop_timer_arm(&tls->accept_again, PATIENCE_US);
		}
		if (fd < 0)
			return;
		begin_handshake(tls, fd, (const struct sockaddr *)&from, size);
	}
}

static void accept_again(void *arg)
{
	struct tls *tls = arg;

	loop_fd_events(tls->listen_watch, EPOLLIN);
}

static int listen_at(struct tls *tls, const struct addrinfo *at)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
	int error;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* The interface with this address may come up later. */
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof(one));
	else
		setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one));
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, BACKLOG))
		error = -errno;
	else
		error = loop_fd_add(tls->loop, fd, EPOLLIN, LOOP_LATER, "TLS listener", accept_some,
				    tls, &tls->listen_watch);
	if (error) {
		close(fd);
		return error;
	}
	tls->listen_fd = fd;
	memcpy(&tls->own, at->ai_addr, at->ai_addrlen);
	tls->own_size = at->ai_addrlen;
	return 0;
}

static int tls_listen(struct stream_carrier *carrier, const char *address,
		      const struct stream_listener *listener, char why[STREAM_WHY_SIZE])
{
	struct tls *tls = container_of(carrier, struct tls, carrier);
	struct addrinfo *at;
	int error = address_resolve(address, tls->port, true, &at, why);

	if (error)
		return error;
	tls->listener = *listener;
	error = listen_at(tls, at);
	freeaddrinfo(at);
	return error ? tls_explain(why, error, "cannot listen on %.80s: %s", address,
				   strerror(-error))
		     : 0;
}

/* The carrier */

static void tls_free(struct stream_carrier *carrier)
{
	struct tls *tls = container_of(carrier, struct tls, carrier);

	loop_timer_disarm(&tls->accept_again);
	loop_fd_remove(tls->listen_watch);
	if (tls->listen_fd >= 0)
		close(tls->listen_fd);
	list_for_each (link, &tls->sessions) {
		struct session *session = container_of(link, struct session, link);

		if (session->state != GONE)
			tls_leave(session);
		session_free(session);
	}
	tls_keys_done(&tls->keys);
	free(tls);
}

static const struct stream_carrier_ops tls_ops = {
	.connect = tls_connect, .listen = tls_listen, .free = tls_free};

void tls_expect(struct stream_carrier *carrier, const char *address)
{
	struct tls *tls = container_of(carrier, struct tls, carrier);

	if (tls->num_peers < TLS_PEERS_MAX && host_parse(address, &tls->peers[tls->num_peers]))
		tls->num_peers++;
}

void tls_forget_peers(struct stream_carrier *carrier)
{
	container_of(carrier, struct tls, carrier)->num_peers = 0;
}

/* A handshake under way may use a revoked key, so it starts again. */
void tls_set_keys(struct stream_carrier *carrier, const struct psk_list *keys)
{
	struct tls *tls = container_of(carrier, struct tls, carrier);
	struct psk_list before = tls->keys.list;

	tls->keys.list = *keys;
	list_for_each (link, &tls->sessions) {
		struct session *session = container_of(link, struct session, link);

		if (session->state != GONE && (tls_is_stranger(session) ||
					       !psk_stays(&before, keys, session->stream.identity)))
			tls_fail(session, "its key, \"%s\", is no longer in ha_psk_file",
				 session->stream.identity);
	}
	explicit_bzero(&before, sizeof(before));
}

struct stream_carrier *tls_new(struct loop *loop, const struct psk_list *keys, uint16_t port)
{
	struct tls *tls = mem_zalloc(sizeof(*tls));

	tls->carrier.ops = &tls_ops;
	tls->loop = loop;
	tls->port = port;
	tls->listen_fd = -1;
	tls_keys_init(&tls->keys, keys);
	list_init(&tls->sessions);
	loop_timer_init(&tls->accept_again, loop, "TLS listener", accept_again, tls);
	return &tls->carrier;
}
