/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A session goes through connecting, handshake, open, and leaving (what waits is still sent). One
 * function, step(), does what its state and the socket allow, whenever the socket is ready or
 * somebody has something to send; what is closed is freed in a turn of its own, so that it may be
 * closed from inside of any call.
 *
 * Who has not proved to know the key costs little: there are at most so many such sessions, each
 * has some seconds, and nothing of them is kept.
 */
#include "lib/tls.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/secret_file.h"

enum {
	STRANGERS_MAX = 8,     /* whose handshake is under way */
	PATIENCE_US = 5000000, /* for a handshake, and for the last bytes of one who leaves */
	UNSENT_MS = 10000,     /* the kernel gives up on a peer that takes nothing for so long */
	RECORD_BYTES = 16384,
	RECORDS_A_TURN = 4,
	PORT_TEXT = 8,
};

#define PRIORITIES                                                            \
	"NONE:+VERS-TLS1.3:+ECDHE-PSK:+AEAD:+AES-256-GCM:+CHACHA20-POLY1305:" \
	"+GROUP-X25519:+GROUP-SECP256R1:+SIGN-ALL:+COMP-NULL"

static const char identity[] = "weft";

struct tls {
	struct stream_carrier carrier;
	struct loop *loop;
	gnutls_datum_t key;
	uint16_t port;
	gnutls_psk_server_credentials_t server;
	gnutls_psk_client_credentials_t client;
	gnutls_priority_t priorities;
	struct list sessions;
	unsigned strangers;
	int listen_fd; /* -1: it does not listen */
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
	int fd;
	struct loop_fd *watch;
	gnutls_session_t gnutls;
	struct loop_timer patience;
	struct loop_deferred turn; /* something to send, or to be freed */
	uint8_t *out;
	size_t begin, end, room;
	size_t offered; /* bytes that GnuTLS was given and has not sent: to be given again */
	bool low_told;
};

static struct session *session_of(const struct stream *stream)
{
	return container_of((struct stream *)stream, struct session, stream);
}

/* Addresses */

static int complain(char why[STREAM_WHY_SIZE], int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int complain(char why[STREAM_WHY_SIZE], int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, STREAM_WHY_SIZE, format, args);
	va_end(args);
	return error;
}

/* Splits "10.0.0.1:1", "[::1]:1", "10.0.0.1", "::1". */
static bool split(const char *text, char host[STREAM_PEER_SIZE], char port[PORT_TEXT])
{
	const char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');
	size_t length = strlen(text);

	if (text[0] == '[') {
		if (!bracket || (bracket[1] && bracket[1] != ':'))
			return false;
		colon = bracket[1] ? bracket + 1 : NULL;
		length = (size_t)(bracket - text) - 1;
		text++;
	} else if (colon && strchr(text, ':') == colon) {
		length = (size_t)(colon - text);
	} else {
		colon = NULL; /* none, or many: all of it is the host */
	}
	if (length >= STREAM_PEER_SIZE || (colon && (!colon[1] || strlen(colon + 1) >= PORT_TEXT)))
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	if (colon)
		snprintf(port, PORT_TEXT, "%s", colon + 1);
	return true;
}

/* Nobody is asked: AI_NUMERICHOST. */
static int resolve(const char *text, uint16_t port_usual, bool passive, struct addrinfo **out,
		   char why[STREAM_WHY_SIZE])
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV |
					     (passive ? AI_PASSIVE : 0)};
	char host[STREAM_PEER_SIZE], port[PORT_TEXT];

	snprintf(port, sizeof(port), "%u", port_usual);
	if (!split(text, host, port) || getaddrinfo(host, port, &hints, out))
		return complain(why, -EINVAL,
				"\"%.80s\" is no numeric address, such as 10.0.0.1:%u or "
				"[fd00::1]:%u",
				text, port_usual, port_usual);
	return 0;
}

bool tls_is_address(const char *text, char why[STREAM_WHY_SIZE])
{
	struct addrinfo *found;

	if (resolve(text, 1, false, &found, why))
		return false;
	freeaddrinfo(found);
	return true;
}

static void describe(const struct sockaddr *address, socklen_t size, char text[STREAM_PEER_SIZE])
{
	char host[48] = "?", port[PORT_TEXT] = "?";

	getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, STREAM_PEER_SIZE, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* The key */

static int digit_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static int parse_key(const char *text, size_t length, struct tls_key *key)
{
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (length % 2 || length < 2 * TLS_KEY_MIN || length > 2 * TLS_KEY_MAX)
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		int digit = digit_of(text[i]);

		if (digit < 0)
			return -EINVAL;
		key->bytes[i / 2] = (uint8_t)(i % 2 ? key->bytes[i / 2] | digit : digit << 4);
	}
	key->size = length / 2;
	return 0;
}

int tls_key_read(const char *path, struct tls_key *key, char why[STREAM_WHY_SIZE])
{
	char text[2 * TLS_KEY_MAX + 16];
	struct tls_key read_key = {.size = 0};
	size_t size;
	int error = secret_file_read(path, sizeof(text), text, &size, STREAM_WHY_SIZE, why);

	if (!error && parse_key(text, size, &read_key))
		error = complain(why, -EINVAL,
				 "%.120s holds no key of %d to %d hexadecimal digits: openssl rand "
				 "-hex 32 makes one",
				 path, 2 * TLS_KEY_MIN, 2 * TLS_KEY_MAX);
	if (!error)
		*key = read_key;
	explicit_bzero(text, sizeof(text));
	explicit_bzero(&read_key, sizeof(read_key));
	return error;
}

/* Ending a session */

static void session_free(struct session *session)
{
	list_del(&session->link);
	loop_defer_cancel(&session->turn);
	free(session->out);
	free(session);
}

/* The socket is closed now, the rest goes in a turn of its own. */
static void leave(struct session *session)
{
	if (session->accepted && session->state <= HANDSHAKE)
		session->tls->strangers--;
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

static void fail(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void fail(struct session *session, const char *format, ...)
{
	bool stranger = session->accepted && session->state <= HANDSHAKE;
	bool tells = session->state != LEAVING && session->state != GONE;
	const struct stream_listener *listener = &session->tls->listener;
	char why[STREAM_WHY_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (session->state != GONE)
		leave(session);
	if (stranger)
		listener->refused(listener->ctx, session->stream.peer, why);
	else if (tells)
		session->stream.user.closed(session->stream.user.ctx, why);
}

static void out_of_patience(void *arg)
{
	fail(arg, "no answer within %u s", PATIENCE_US / 1000000);
}

/* Sending and receiving */

static size_t waiting(const struct stream *stream)
{
	const struct session *session = session_of(stream);

	return session->end - session->begin;
}

static void send_bytes(struct stream *stream, const void *bytes, size_t size)
{
	struct session *session = session_of(stream);

	if (session->state == GONE || session->state == LEAVING)
		return;
	if (session->end + size > session->room) {
		size_t left = waiting(stream);

		/* What GnuTLS has been given is given again with the same bytes, wherever they are.
		 * Before the first bytes there is no buffer. */
		if (left)
			memmove(session->out, session->out + session->begin, left);
		session->begin = 0;
		session->end = left;
		if (left + size > session->room) {
			session->room = 2 * (left + size);
			session->out = mem_resize(session->out, session->room, 1);
		}
	}
	memcpy(session->out + session->end, bytes, size);
	session->end += size;
	session->low_told = false;
	loop_defer(&session->turn);
}

static bool is_again(ssize_t code)
{
	return code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED;
}

static void flush(struct session *session)
{
	for (unsigned i = 0; i < RECORDS_A_TURN && session->begin < session->end; i++) {
		size_t size = session->end - session->begin;
		ssize_t sent;

		if (session->offered)
			size = session->offered;
		else if (size > RECORD_BYTES)
			size = RECORD_BYTES;
		sent = gnutls_record_send(session->gnutls, session->out + session->begin, size);
		session->offered = is_again(sent) ? size : 0;
		if (is_again(sent))
			return;
		if (sent < 0) {
			fail(session, "cannot send: %s", gnutls_strerror((int)sent));
			return;
		}
		session->begin += (size_t)sent;
	}
}

static void receive(struct session *session)
{
	uint8_t bytes[RECORD_BYTES];

	for (unsigned i = 0; i < RECORDS_A_TURN && session->state == OPEN; i++) {
		ssize_t got = gnutls_record_recv(session->gnutls, bytes, sizeof(bytes));

		if (is_again(got))
			return;
		if (got == 0 || got == GNUTLS_E_PREMATURE_TERMINATION) {
			fail(session, "the peer closed the connection");
			return;
		}
		if (got < 0 && gnutls_error_is_fatal((int)got)) {
			fail(session, "%s", gnutls_strerror((int)got));
			return;
		}
		if (got > 0)
			session->stream.user.received(session->stream.user.ctx, bytes, (size_t)got);
	}
}

/* States */

static void handshake(struct session *session)
{
	int code = gnutls_handshake(session->gnutls);

	if (code && !gnutls_error_is_fatal(code))
		return;
	if (code) {
		fail(session,
		     "no TLS session: %s (both ends need the same key in their ha_psk_file)",
		     gnutls_strerror(code));
		return;
	}
	loop_timer_disarm(&session->patience);
	session->state = OPEN;
	if (session->accepted) {
		session->tls->strangers--;
		session->tls->listener.accepted(session->tls->listener.ctx, &session->stream);
	} else {
		session->stream.user.opened(session->stream.user.ctx);
	}
}

static void connected(struct session *session)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(session->fd, SOL_SOCKET, SO_ERROR, &error, &size))
		error = errno;
	if (error)
		fail(session, "cannot connect: %s", strerror(error));
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
	    (session->state >= OPEN && waiting(&session->stream)))
		events = session->state >= OPEN ? EPOLLIN | EPOLLOUT : EPOLLOUT;
	if (session->state == LEAVING)
		events &= ~(uint32_t)EPOLLIN;
	if (loop_fd_events(session->watch, events))
		fail(session, "the socket cannot be watched");
}

static void step(struct session *session, bool may_read)
{
	if (session->state == HANDSHAKE)
		handshake(session);
	if (session->state == OPEN && may_read)
		receive(session);
	if (session->state == OPEN || session->state == LEAVING)
		flush(session);
	if (session->state == LEAVING && !waiting(&session->stream)) {
		gnutls_bye(session->gnutls, GNUTLS_SHUT_WR);
		leave(session);
	}
	if (session->state == OPEN && waiting(&session->stream) < STREAM_LOW_BYTES &&
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
	step(session, true);
	/* What GnuTLS has taken off the socket nobody is told of any more. */
	if (session->state == OPEN && gnutls_record_check_pending(session->gnutls))
		loop_defer(&session->turn);
}

static void turn(void *arg)
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
		leave(session);
		return;
	}
	session->state = LEAVING;
	loop_timer_arm(&session->patience, PATIENCE_US);
	loop_defer(&session->turn);
}

static const struct stream_ops session_ops = {
	.send = send_bytes, .waiting = waiting, .close = close_stream};

/* Beginning a session */

static void no_delay(int fd)
{
	unsigned unsent_ms = UNSENT_MS;
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof(unsent_ms));
}

/* Takes the descriptor. NULL: it cannot be watched, and is closed. */
static struct session *session_new(struct tls *tls, int fd, bool accepted)
{
	struct session *session = mem_zalloc(sizeof(*session));
	unsigned flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS |
			 (accepted ? GNUTLS_SERVER : GNUTLS_CLIENT);

	session->stream.ops = &session_ops;
	session->tls = tls;
	session->fd = fd;
	session->accepted = accepted;
	session->state = accepted ? HANDSHAKE : CONNECTING;
	list_init(&session->link);
	loop_timer_init(&session->patience, tls->loop, "TLS patience", out_of_patience, session);
	loop_deferred_init(&session->turn, tls->loop, "TLS", turn, session);
	if (loop_fd_add(tls->loop, fd, accepted ? EPOLLIN : EPOLLOUT, LOOP_NORMAL, "TLS", ready,
			session, &session->watch)) {
		close(fd);
		free(session);
		return NULL;
	}
	if (gnutls_init(&session->gnutls, flags) ||
	    gnutls_priority_set(session->gnutls, tls->priorities) ||
	    gnutls_credentials_set(session->gnutls, GNUTLS_CRD_PSK,
				   accepted ? (void *)tls->server : (void *)tls->client))
		abort(); /* out of memory: nothing else can be wrong */
	gnutls_transport_set_int(session->gnutls, fd);
	gnutls_session_set_ptr(session->gnutls, session);
	no_delay(fd);
	list_push(&tls->sessions, &session->link);
	loop_timer_arm(&session->patience, PATIENCE_US);
	tls->strangers += accepted;
	return session;
}

static struct stream *tls_connect(struct stream_carrier *carrier, const char *address,
				  const struct stream_user *user, char why[STREAM_WHY_SIZE])
{
	struct tls *tls = container_of(carrier, struct tls, carrier);
	struct session *session = NULL;
	struct addrinfo *to;
	int fd;

	if (resolve(address, tls->port, false, &to, why))
		return NULL;
	fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, to->ai_addr, to->ai_addrlen) && errno != EINPROGRESS)) {
		complain(why, -errno, "cannot connect: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
	} else {
		session = session_new(tls, fd, false);
		if (!session)
			complain(why, -EIO, "the socket cannot be watched");
	}
	if (session) {
		session->stream.user = *user;
		describe(to->ai_addr, to->ai_addrlen, session->stream.peer);
	}
	freeaddrinfo(to);
	return session ? &session->stream : NULL;
}

/* Out of descriptors, the socket would stay readable and keep the loop busy: look away for a while.
 */
static void accept_one(void *arg, uint32_t events)
{
	struct tls *tls = arg;
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	char peer[STREAM_PEER_SIZE];
	struct session *session;
	int fd = accept4(tls->listen_fd, (struct sockaddr *)&from, &size,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
		loop_fd_events(tls->listen_watch, 0);
		loop_timer_arm(&tls->accept_again, PATIENCE_US);
	}
	if (fd < 0)
		return;
	describe((struct sockaddr *)&from, size, peer);
	if (tls->strangers >= STRANGERS_MAX) {
		close(fd);
		tls->listener.refused(tls->listener.ctx, peer, "too many handshakes are under way");
		return;
	}
	session = session_new(tls, fd, true);
	if (session)
		memcpy(session->stream.peer, peer, sizeof(peer));
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
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, STRANGERS_MAX))
		error = -errno;
	else
		error = loop_fd_add(tls->loop, fd, EPOLLIN, LOOP_LATER, "TLS listener", accept_one,
				    tls, &tls->listen_watch);
	if (error)
		close(fd);
	else
		tls->listen_fd = fd;
	return error;
}

static int tls_listen(struct stream_carrier *carrier, const char *address,
		      const struct stream_listener *listener, char why[STREAM_WHY_SIZE])
{
	struct tls *tls = container_of(carrier, struct tls, carrier);
	struct addrinfo *at;
	int error = resolve(address, tls->port, true, &at, why);

	if (error)
		return error;
	tls->listener = *listener;
	error = listen_at(tls, at);
	freeaddrinfo(at);
	return error ? complain(why, error, "cannot listen on %.80s: %s", address, strerror(-error))
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
			leave(session);
		session_free(session);
	}
	gnutls_psk_free_server_credentials(tls->server);
	gnutls_psk_free_client_credentials(tls->client);
	gnutls_priority_deinit(tls->priorities);
	explicit_bzero(tls->key.data, tls->key.size);
	free(tls->key.data);
	free(tls);
}

static const struct stream_carrier_ops tls_ops = {
	.connect = tls_connect, .listen = tls_listen, .free = tls_free};

/* GnuTLS frees what it is given. */
static int key_of(gnutls_session_t gnutls, const char *name, gnutls_datum_t *out)
{
	const struct session *session = gnutls_session_get_ptr(gnutls);
	const gnutls_datum_t *key = &session->tls->key;

	if (strcmp(name, identity) != 0)
		return -1;
	out->data = gnutls_malloc(key->size);
	if (!out->data)
		return -1;
	memcpy(out->data, key->data, key->size);
	out->size = key->size;
	return 0;
}

struct stream_carrier *tls_new(struct loop *loop, const struct tls_key *key, uint16_t port)
{
	struct tls *tls = mem_zalloc(sizeof(*tls));

	tls->carrier.ops = &tls_ops;
	tls->loop = loop;
	tls->port = port;
	tls->listen_fd = -1;
	tls->key = (gnutls_datum_t){mem_alloc(key->size), (unsigned)key->size};
	memcpy(tls->key.data, key->bytes, key->size);
	list_init(&tls->sessions);
	loop_timer_init(&tls->accept_again, loop, "TLS listener", accept_again, tls);
	if (gnutls_priority_init(&tls->priorities, PRIORITIES, NULL) ||
	    gnutls_psk_allocate_server_credentials(&tls->server) ||
	    gnutls_psk_allocate_client_credentials(&tls->client) ||
	    gnutls_psk_set_client_credentials(tls->client, identity, &tls->key, GNUTLS_PSK_KEY_RAW))
		abort(); /* out of memory: nothing else can be wrong */
	gnutls_psk_set_server_credentials_function(tls->server, key_of);
	return &tls->carrier;
}
