/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections that are open devices: umadN, with the calls for a device (its ioctls), and issmN.
 * sim/kernel.h has the behaviour of a kernel; this file has the queues of its files, and the order
 * between two processes. A close() or write() that a program has made may still be in a socket or
 * ring. So before a call is answered, the connection that it concerns is read. If another
 * connection blocks a registration or an issm device, that connection is read to its end first.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/iba.h"
#include "sim/find.h"
#include "sim/folder.h"
#include "sim/server.h"

enum {
	BEGINNING = KERNEL_HEADER_SIZE + MAD_SIZE,	/* the part that announces a long MAD */
	LONGEST = KERNEL_HEADER_SIZE + WIRE_INLINE_MAX, /* in a ring */
	LONGEST_FILE = KERNEL_HEADER_SIZE + WIRE_LONG_MAX,
	UNREAD_BYTES_MAX = 256 << 20, /* Linux counts MADs of any length */
	LINGER_US = 50,
};

/* The port of a device file: a minor counts a node's ports, or is that of the named port. */
static int umad_hello_port(struct connection *connection, const struct wire_hello *hello,
			   struct wire_welcome *welcome)
{
	struct server *server = connection->server;
	struct device *device;
	unsigned ports;
	int port;
	int r = find_place(server->world, hello->node, &device, &port, welcome->text);

	if (r)
		return r;
	if (!kernel_has_device(server->kernel, device)) {
		snprintf(welcome->text, sizeof(welcome->text),
			 "the device of %s was removed; give it back with `weftsim do 'device add "
			 "%s'`",
			 find_name(device), find_name(device));
		return -ENXIO;
	}
	r = connection_take_device(connection, device, false, welcome);
	if (r)
		return r;
	ports = device_is_switch(device) || port >= 0 ? 1 : device->num_ports;
	if (hello->minor >= ports) {
		snprintf(welcome->text, sizeof(welcome->text), "%s has %u of these devices, not %u",
			 find_name(device), ports, hello->minor + 1);
		return -ENXIO;
	}
	if (port < 0)
		port = device_is_switch(device) ? 0 : (int)hello->minor + 1;
	connection->port = kernel_port_get(server->kernel, device, port);
	return 0;
}

/* umad: records for the program */

/* Into its ring, unless other records wait for room. */
static int umad_put(struct connection *connection, const uint8_t *umad, size_t size)
{
	bool is_long = size > LONGEST;
	int r = rings_put(&connection->rings, umad, is_long ? BEGINNING : size, size);

	if (!r && is_long)
		outbox_put(&connection->longs, umad, size);
	return r;
}

static bool readable(void *ctx, const uint8_t *umad, size_t size)
{
	struct connection *connection = ctx;

	if (connection->outbox.count + connection->longs.count >= KERNEL_UNREAD_MAX ||
	    connection->outbox.bytes + connection->longs.bytes + size > UNREAD_BYTES_MAX)
		return false;
	if (connection->outbox.count || umad_put(connection, umad, size))
		outbox_put(&connection->outbox, umad, size);
	connection_unsent(connection);
	return true;
}

static void umad_ended(void *ctx, uint32_t tid)
{
	struct connection *connection = ctx;

	rings_tid_ended(&connection->rings, tid);
}

/* Sends tokens. If the program keeps the protocol, the socket has room for all tokens. If it does
 * not, a token may be lost for want of memory, and the program would wait for it. If the program is
 * gone, the send fails, but the records that it wrote before are still to be read. */
static void umad_flush(struct connection *connection)
{
	const uint8_t *umad;
	size_t size;
	int r = 0;

	while (!r && (umad = outbox_first(&connection->outbox, &size))) {
		r = umad_put(connection, umad, size);
		if (!r)
			outbox_drop_first(&connection->outbox);
	}
	if (rings_publish(&connection->rings) &&
	    send(connection->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		r = -EPROTO;
	if (r == -EPROTO)
		connection_end(connection);
}

/* umad: records of the program */

/* The kernel counts a refused write; the program does not wait for its result. */
static int umad_take_writes(struct connection *connection)
{
	uint8_t umad[LONGEST];
	int count = 0, size = 0;

	while (count < CONNECTION_MADS && !connection->ended &&
	       (size = rings_take(&connection->rings, umad, sizeof(umad))) >= 0) {
		kernel_file_write(connection->file, umad, size);
		count++;
	}
	return size == -EPROTO ? -EPIPE : count;
}

/* Whether to leave the token in place, so that the next turn starts at once and looks into the
 * ring, although it is empty now. A program that has just written and writes again then needs no
 * wake-up, which would cost more than all other work for a MAD. */
static bool lingers(struct connection *connection, int count)
{
	uint64_t now_us = connection->server->now_us;

	if (count)
		connection->heard_us = now_us;
	else if (now_us - connection->heard_us >= LINGER_US)
		return false;
	else
		sched_yield();
	return true;
}

/* Reads a token if there is no other work: the program's tokens are for new records and for room.
 * Its end is read after all of its records. */
static int umad_read(struct connection *connection, bool all)
{
	char token[2];
	int count = umad_take_writes(connection);
	ssize_t size;

	if (count < 0 || connection->ended)
		return count;
	rings_give_back(&connection->rings);
	if ((!all && lingers(connection, count)) || rings_rest(&connection->rings))
		return count;
	if (connection->outbox.count)
		connection_unsent(connection);
	size = recv(connection->fd, token, sizeof(token), MSG_DONTWAIT);
	if (size < 0)
		return count ? count : errno == EAGAIN || errno == ECONNRESET ? -errno : -EPIPE;
	if (size == 1 || rings_rest(&connection->rings))
		return count + 1;
	return -EPIPE;
}

static int umad_start(struct connection *connection, const struct wire_hello *hello,
		      struct wire_welcome *welcome)
{
	int r = umad_hello_port(connection, hello, welcome), file;

	if (!r)
		r = rings_init(&connection->rings, kernel_port_device(connection->port)->num,
			       &file);
	if (r)
		return r;
	connection_send_file(connection, welcome, sizeof(*welcome), file);
	if (connection->ended) {
		rings_done(&connection->rings);
		return -EPIPE;
	}
	connection->file = kernel_file_open(connection->port, readable, umad_ended, connection);
	return 1;
}

static void umad_end(struct connection *connection)
{
	kernel_file_close(connection->file);
	connection->file = NULL;
	rings_done(&connection->rings);
	outbox_done(&connection->longs);
}

const struct connection_kind connection_umad = {
	.start = umad_start,
	.read = umad_read,
	.flush = umad_flush,
	.end = umad_end,
};

/* MADs in files */

/* Accepts only a memory file that is sealed: reads of another file could block the server, and a
 * mapping of a file that shrinks could end it. */
static int write_long(struct connection *connection, int file)
{
	const int needed = F_SEAL_SHRINK | F_SEAL_WRITE;
	int seals = file < 0 ? -1 : fcntl(file, F_GET_SEALS);
	struct stat status;
	void *umad;

	if (seals < 0 || (seals & needed) != needed || fstat(file, &status) ||
	    status.st_size < KERNEL_HEADER_SIZE || status.st_size > LONGEST_FILE)
		return -EINVAL;
	umad = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (umad == MAP_FAILED)
		return -ENOMEM;
	return kernel_file_write_mapped(connection->file, umad, status.st_size);
}

/* The first MAD that was announced, as a sealed file. */
static int fetch_long(struct connection *connection, int *file)
{
	size_t size, done = 0;
	const uint8_t *umad = outbox_first(&connection->longs, &size);
	int fd;

	if (!umad)
		return -ENOENT;
	fd = memfd_create("weftsim-mad", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	while (done < size) {
		ssize_t wrote = write(fd, umad + done, size - done);

		if (wrote <= 0) {
			close(fd);
			return -ENOMEM;
		}
		done += wrote;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	outbox_drop_first(&connection->longs);
	*file = fd;
	return 0;
}

/* Calls */

static int call_start(struct connection *connection, const struct wire_hello *hello,
		      struct wire_welcome *welcome)
{
	(void)connection;
	(void)hello;
	(void)welcome;
	return 0;
}

static struct connection *owner_of(struct server *server, const struct kernel_file *file)
{
	list_for_each (link, &server->connections) {
		struct connection *connection = container_of(link, struct connection, link);

		if (file && connection->file == file)
			return connection;
	}
	return NULL;
}

static int umad_register_agent(struct connection *target, const struct wire_call *call,
			       uint32_t *agent)
{
	const struct kernel_agent_request request = {
		.qpn = call->qpn,
		.mgmt_class = call->mgmt_class,
		.mgmt_class_version = call->mgmt_class_version,
		.rmpp_version = call->rmpp_version,
		.flags = call->flags,
		.oui = call->oui,
		.method_mask = {call->method_mask[0], call->method_mask[1]},
	};

	for (;;) {
		int r = kernel_file_register(target->file, &request, agent);
		struct connection *other =
			r ? owner_of(target->server, kernel_port_conflict(target->port)) : NULL;

		if (!other || other == target)
			return r;
		connection_drain(other);
		if (!other->ended)
			return r;
	}
}

/* Runs a call, with the file that arrived with it, if any. The answer may carry a file. */
static int make_call(struct server *server, const struct wire_call *call, int file,
		     struct wire_return *answer, int *file_back)
{
	struct connection *target = map_get(&server->by_id, call->id);

	if (target && target->file)
		connection_drain(target);
	if (!target || target->ended || !target->file)
		return -EBADF;
	answer->flags = KERNEL_AGENT_FLAGS;
	switch (call->function) {
	case WIRE_REGISTER:
		if (call->flags & ~(uint32_t)KERNEL_AGENT_FLAGS)
			return -EINVAL;
		return umad_register_agent(target, call, &answer->agent);
	case WIRE_UNREGISTER:
		return kernel_file_unregister(target->file, call->agent);
	case WIRE_SEND:
		return write_long(target, file);
	case WIRE_FETCH:
		return fetch_long(target, file_back);
	default:
		return -ENOTTY;
	}
}

static bool call_message(struct connection *connection, const uint8_t *bytes, size_t size, int file)
{
	struct wire_call call;
	struct wire_return answer = {0};
	int file_back = -1;

	if (size != sizeof(call))
		return false;
	memcpy(&call, bytes, sizeof(call));
	answer.error = -make_call(connection->server, &call, file, &answer, &file_back);
	if (file_back >= 0)
		connection_send_file(connection, &answer, sizeof(answer), file_back);
	else
		connection_send(connection, &answer, sizeof(answer));
	return true;
}

const struct connection_kind connection_call = {
	.start = call_start,
	.message = call_message,
	.longest = sizeof(struct wire_call),
};

/* issm */

static struct connection *issm_holder(struct server *server, const struct kernel_port *port)
{
	list_for_each (link, &server->connections) {
		struct connection *connection = container_of(link, struct connection, link);

		if (connection->holds && connection->port == port)
			return connection;
	}
	return NULL;
}

/* The files of the node show IsSM. */
static void issm_shown(const struct connection *connection)
{
	folders_touch(connection->server->folders, kernel_port_device(connection->port)->device);
}

/* Returns 0 if this connection holds the device now. */
static int issm_take(struct connection *connection)
{
	int r = kernel_port_take_issm(connection->port);

	connection->holds = !r;
	issm_shown(connection);
	return r;
}

static int issm_start(struct connection *connection, const struct wire_hello *hello,
		      struct wire_welcome *welcome)
{
	struct connection *holder;
	int r = umad_hello_port(connection, hello, welcome);

	if (r)
		return r;
	holder = issm_holder(connection->server, connection->port);
	if (holder)
		connection_drain(holder);
	r = issm_take(connection);
	if (!r)
		return 0;
	snprintf(welcome->text, sizeof(welcome->text), "another program holds the issm device");
	connection->waits = !hello->nonblock;
	return connection->waits ? 1 : -EAGAIN;
}

/* The connection that has waited longest gets the device. */
static void issm_end(struct connection *connection)
{
	if (!connection->holds)
		return;
	connection->holds = false;
	kernel_port_release_issm(connection->port);
	issm_shown(connection);
	list_for_each (link, &connection->server->connections) {
		struct connection *next = container_of(link, struct connection, link);
		const struct wire_welcome welcome = {
			.magic = WIRE_MAGIC, .version = WIRE_VERSION, .id = next->id};

		if (!next->waits || next->ended || next->port != connection->port)
			continue;
		if (issm_take(next))
			return;
		next->waits = false;
		connection_send(next, &welcome, sizeof(welcome));
		return;
	}
}

const struct connection_kind connection_issm = {
	.start = issm_start,
	.end = issm_end,
	.longest = sizeof(struct wire_hello),
};
