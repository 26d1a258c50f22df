/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The connections: accept, hello, reading, writing in batches, end. The kinds interpret the
 * messages (connection_umad.c, connection_do.c).
 *
 * A connection that violates sim/wire.h is closed: it belongs to one program, so no other program
 * is affected. If a client closes, the messages that it sent before are read first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/find.h"
#include "sim/folder.h"
#include "sim/server.h"

enum {
	ACCEPTS = 64, /* in a turn */
	/* Bound of reads that empty a ring: its program may write on, and other connections wait.
	 * Tokens and the end come after that. */
	DRAIN_READS =
		RING_BYTES / (sizeof(struct ring_record) + RING_ALIGNMENT) / CONNECTION_MADS + 4,
};

_Static_assert(sizeof(struct wire_hello) <= CONNECTION_MESSAGE_MAX, "room");

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

void connections_init(struct server *server)
{
	list_init(&server->connections);
	list_init(&server->unsent);
	list_init(&server->working);
	list_init(&server->ended);
	map_init(&server->by_id);
}

void connections_done(struct server *server)
{
	list_for_each (link, &server->connections)
		connection_end(container_of(link, struct connection, link));
	connections_free_ended(server);
	map_done(&server->by_id);
}

/* Start and end */

static void connection_watch(struct connection *connection)
{
	uint32_t interest =
		(connection->paused ? 0 : EPOLLIN) | (connection->blocked ? EPOLLOUT : 0);
	struct epoll_event event = {.events = interest, .data.ptr = connection};

	if (connection->ended || interest == connection->interest)
		return;
	connection->interest = interest;
	epoll_ctl(connection->server->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

bool connections_add(struct server *server, int fd)
{
	struct connection *connection = mem_zalloc(sizeof(*connection));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};

	if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		free(connection);
		return false;
	}
	connection->server = server;
	connection->fd = fd;
	connection->interest = EPOLLIN;
	do {
		connection->id = ++server->next_id;
	} while (!connection->id || map_get(&server->by_id, connection->id));
	map_put(&server->by_id, connection->id, connection);
	list_push(&server->connections, &connection->link);
	list_init(&connection->unsent);
	list_init(&connection->working);
	return true;
}

/* Without free descriptors a client waits in the kernel, whose queue has some places; then
 * connections_accept() is called in each turn. */
static void listen_to(struct server *server, bool full)
{
	struct epoll_event event = {.events = full ? 0 : EPOLLIN, .data.ptr = &server->place};

	if (full != server->full)
		epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, server->place.listen_fd, &event);
	server->full = full;
}

void connections_accept(struct server *server)
{
	for (unsigned i = 0; i < ACCEPTS; i++) {
		int fd = accept4(server->place.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0 && !connections_add(server, fd)) {
			close(fd);
			errno = EMFILE;
			fd = -1;
		}
		if (fd >= 0 || errno == ECONNABORTED || errno == EINTR)
			continue;
		listen_to(server, errno != EAGAIN);
		return;
	}
}

void connection_end(struct connection *connection)
{
	struct server *server = connection->server;

	if (connection->ended)
		return;
	connection->ended = true;
	if (connection->kind && connection->kind->end)
		connection->kind->end(connection);
	map_remove(&server->by_id, connection->id);
	close(connection->fd);
	list_del(&connection->unsent);
	list_del(&connection->working);
	list_del(&connection->link);
	list_push(&server->ended, &connection->link);
	outbox_done(&connection->outbox);
}

void connections_of_removed(struct server *server)
{
	list_for_each (link, &server->connections) {
		struct connection *connection = container_of(link, struct connection, link);

		if ((connection->port || connection->vm) &&
		    !kernel_has_device(server->kernel, connection->device))
			connection_end(connection);
	}
}

void connections_free_ended(struct server *server)
{
	struct list *link;

	while ((link = list_pop(&server->ended)))
		free(container_of(link, struct connection, link));
}

void connection_pause(struct connection *connection, bool paused)
{
	connection->paused = paused;
	connection_watch(connection);
}

/* Writing */

void connection_send(struct connection *connection, const void *bytes, size_t size)
{
	if (connection->ended)
		return;
	outbox_put(&connection->outbox, bytes, size);
	connection_unsent(connection);
}

void connection_unsent(struct connection *connection)
{
	if (list_empty(&connection->unsent) && !connection->blocked && !connection->ended)
		list_push(&connection->server->unsent, &connection->unsent);
}

/* Only if nothing else waits to be sent: then there is room. */
void connection_send_file(struct connection *connection, const void *bytes, size_t size, int file)
{
	union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(file)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(void *)bytes, size};
	const struct msghdr header = {.msg_iov = &part,
				      .msg_iovlen = 1,
				      .msg_control = &control,
				      .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	if (sendmsg(connection->fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		connection_end(connection);
	close(file);
}

/* If the client is gone, the send fails, but the messages that it sent before are still to be
 * read. */
static void connection_flush(struct connection *connection)
{
	int r;

	list_del(&connection->unsent);
	if (connection->kind && connection->kind->flush) {
		connection->kind->flush(connection);
		return;
	}
	r = outbox_flush(&connection->outbox, connection->fd);
	if (r && r != -EAGAIN && r != -EINTR && r != -ENOBUFS && r != -ENOMEM)
		outbox_done(&connection->outbox);
	connection->blocked = connection->outbox.count > 0;
	connection_watch(connection);
	if (!connection->blocked && connection->kind && connection->kind->drained)
		connection->kind->drained(connection);
}

void connection_blocked(struct connection *connection, bool blocked)
{
	connection->blocked = blocked;
	connection_watch(connection);
}

void connections_flush(struct server *server)
{
	list_for_each (link, &server->unsent)
		connection_flush(container_of(link, struct connection, unsent));
}

/* Reading */

static const struct connection_kind *const kinds[] = {
	[WIRE_FILES] = &connection_files, [WIRE_UMAD] = &connection_umad,
	[WIRE_ISSM] = &connection_issm,	  [WIRE_CALL] = &connection_call,
	[WIRE_DO] = &connection_do,	  [WIRE_HCA] = &connection_hca,
};

/* The fault of the hello; NULL: none. */
static const char *hello_fault(const struct wire_hello *hello)
{
	if (hello->version != WIRE_VERSION)
		return "program and server are of different versions; take both from one build";
	if (hello->kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[hello->kind])
		return "there is no such kind of connection";
	if (!memchr(hello->node, 0, sizeof(hello->node)))
		return "the node's name is too long";
	return NULL;
}

/* A refused connection ends after its welcome, with the reason, was sent. */
static bool connection_greet(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct wire_welcome welcome = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .id = connection->id};
	struct wire_hello hello;
	const char *fault;
	int r = -EPROTO;

	if (size != sizeof(hello))
		return false;
	memcpy(&hello, bytes, sizeof(hello));
	if (hello.magic != WIRE_MAGIC)
		return false;
	fault = hello_fault(&hello);
	if (fault)
		snprintf(welcome.text, sizeof(welcome.text), "%s", fault);
	else
		r = kinds[hello.kind]->start(connection, &hello, &welcome);
	welcome.error = -r;
	if (r <= 0)
		connection_send(connection, &welcome, sizeof(welcome));
	if (r < 0) {
		connection_flush(connection);
		return false;
	}
	connection->kind = kinds[hello.kind];
	return true;
}

static int connection_file(const struct msghdr *header)
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(header);
	int file = -1;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
	    control->cmsg_len >= CMSG_LEN(sizeof(file)))
		memcpy(&file, CMSG_DATA(control), sizeof(file));
	return file;
}

static bool connection_take(struct connection *connection, const struct msghdr *header, size_t size)
{
	const uint8_t *bytes = header->msg_iov->iov_base;
	int file = connection_file(header);
	bool good = size && !(header->msg_flags & (MSG_TRUNC | MSG_CTRUNC));

	if (!connection->kind)
		good = good && connection_greet(connection, bytes, size);
	else
		good = good && connection->kind->message &&
		       connection->kind->message(connection, bytes, size, file);
	if (file >= 0)
		close(file);
	return good;
}

/* Returns 1 after a message, or -errno. A client that closed with unread data causes one error,
 * before its own messages are read. There is room for exactly one descriptor, although CMSG_SPACE
 * includes some for two: an unexpected descriptor would stay open forever. */
static int read_message(struct connection *connection, bool all)
{
	uint8_t bytes[CONNECTION_MESSAGE_MAX];
	union control control;
	struct iovec part = {bytes, connection->kind ? connection->kind->longest
						     : sizeof(struct wire_hello)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t size;

	if (connection->kind && connection->kind->read)
		return connection->kind->read(connection, all);
	size = recvmsg(connection->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNRESET ? -errno : -EPIPE;
	if (!connection_take(connection, &header, size))
		connection_end(connection);
	return 1;
}

void connection_drain(struct connection *connection)
{
	int r = 1;

	for (unsigned reads = 0; reads < DRAIN_READS; reads++) {
		if (connection->ended || connection->paused || (r <= 0 && r != -ECONNRESET))
			return;
		r = read_message(connection, true);
		if (r == -EPIPE)
			connection_end(connection);
	}
}

void connection_ready(struct connection *connection, uint32_t events)
{
	if (events & EPOLLOUT && !connection->ended)
		connection_flush(connection);
	if (events & (EPOLLHUP | EPOLLERR) && connection->paused)
		connection_end(connection);
	else if (events & ~(uint32_t)EPOLLOUT && !connection->ended && !connection->paused &&
		 read_message(connection, false) == -EPIPE)
		connection_end(connection);
}

/* The nodes of connections */

static struct connection *connection_conflict(const struct connection *connection,
					      const struct device *device, bool is_vm)
{
	list_for_each (link, &connection->server->connections) {
		struct connection *other = container_of(link, struct connection, link);

		if (other != connection && other->device == device && (is_vm || other->vm))
			return other;
	}
	return NULL;
}

/* The end of a connection may still be in its socket. */
int connection_take_device(struct connection *connection, struct device *device, bool is_vm,
			   struct wire_welcome *welcome)
{
	struct connection *other;

	while ((other = connection_conflict(connection, device, is_vm))) {
		bool other_is_vm = other->vm;

		connection_drain(other);
		if (other->ended)
			continue;
		snprintf(welcome->text, sizeof(welcome->text),
			 "%s is in use by a %s; end it, or choose another node with -n",
			 find_name(device),
			 other_is_vm ? "virtual machine" : "program of `weftsim run`");
		return -EBUSY;
	}
	connection->device = device;
	return 0;
}

/* The kind without a file of its own: a program opens its node's folder. */

static int files_start(struct connection *connection, const struct wire_hello *hello,
		       struct wire_welcome *welcome)
{
	struct server *server = connection->server;
	struct device *device;
	int port;
	int r = find_place(server->world, hello->node, &device, &port, welcome->text);

	if (!r)
		r = connection_take_device(connection, device, false, welcome);
	return r ? r : folders_get(server->folders, device, port, welcome->folder, welcome->text);
}

const struct connection_kind connection_files = {.start = files_start,
						 .longest = sizeof(struct wire_hello)};
