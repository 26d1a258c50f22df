/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections that stand for open devices: umadN, with the calls about one (its ioctls), and issmN.
 * What a kernel does is in sim/kernel.h; here are its files' queues and what being in two processes
 * adds: a close() or write() that a program has behind it may still lie in a socket. So before a
 * call is answered, the connection that it is about is read; and who is in the way of a
 * registration or of an issm device is read to its end first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/find.h"
#include "sim/folder.h"
#include "sim/server.h"

enum { LONG_MAX_BYTES = 64 << 20 }; /* of a MAD that comes as a file */

/* The port of a device file: minors count a node's ports, or are the one that was named. */
static int port_of(struct connection *connection, const struct wire_hello *hello,
		   struct wire_welcome *welcome)
{
	struct server *server = connection->server;
	struct device *device;
	unsigned ports;
	int port;
	int r = find_place(server->world, hello->node, &device, &port, welcome->text);

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

/* umad */

static bool readable(void *ctx, const uint8_t *umad, size_t size)
{
	struct connection *connection = ctx;

	if (connection->outbox.count >= KERNEL_UNREAD_MAX)
		return false;
	connection_send(connection, umad, size);
	return true;
}

static int umad_start(struct connection *connection, const struct wire_hello *hello,
		      struct wire_welcome *welcome)
{
	int r = port_of(connection, hello, welcome);

	if (!r)
		connection->file = kernel_file_open(connection->port, readable, connection);
	return r;
}

static void umad_end(struct connection *connection)
{
	kernel_file_close(connection->file);
	connection->file = NULL;
}

static bool read_file(int file, uint8_t *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(file, to + done, size - done, done);

		if (got <= 0)
			return false;
		done += got;
	}
	return true;
}

/* Only a file in memory is read: another could make the server wait. */
static bool write_long(struct connection *connection, const uint8_t *header, int file)
{
	struct stat status;
	uint8_t *umad;
	bool good;

	if (fcntl(file, F_GET_SEALS) < 0 || fstat(file, &status) || status.st_size < 0 ||
	    status.st_size > LONG_MAX_BYTES)
		return false;
	umad = mem_alloc(KERNEL_HEADER_SIZE + status.st_size);
	memcpy(umad, header, KERNEL_HEADER_SIZE);
	good = read_file(file, umad + KERNEL_HEADER_SIZE, status.st_size);
	if (good)
		kernel_file_write(connection->file, umad, KERNEL_HEADER_SIZE + status.st_size);
	free(umad);
	return good;
}

/* A write that is refused is counted by the kernel; the program has long gone on. */
static bool umad_message(struct connection *connection, const uint8_t *bytes, size_t size, int file)
{
	if (file >= 0)
		return size >= KERNEL_HEADER_SIZE && write_long(connection, bytes, file);
	kernel_file_write(connection->file, bytes, size);
	return true;
}

const struct connection_kind connection_umad = {
	.start = umad_start,
	.message = umad_message,
	.end = umad_end,
	.batch = 64,
	.longest = KERNEL_HEADER_SIZE + WIRE_INLINE_MAX,
};

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

static int register_agent(struct connection *target, const struct wire_call *call, uint32_t *agent)
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

static int make_call(struct server *server, const struct wire_call *call,
		     struct wire_return *answer)
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
		return register_agent(target, call, &answer->agent);
	case WIRE_UNREGISTER:
		return kernel_file_unregister(target->file, call->agent);
	default:
		return -ENOTTY;
	}
}

static bool call_message(struct connection *connection, const uint8_t *bytes, size_t size, int file)
{
	struct wire_call call;
	struct wire_return answer = {0};

	(void)file;
	if (size != sizeof(call))
		return false;
	memcpy(&call, bytes, sizeof(call));
	answer.error = -make_call(connection->server, &call, &answer);
	connection_send(connection, &answer, sizeof(answer));
	return true;
}

const struct connection_kind connection_call = {
	.start = call_start,
	.message = call_message,
	.batch = 1,
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

/* IsSM shows in the files of the node. */
static void issm_shown(const struct connection *connection)
{
	folders_touch(connection->server->folders, kernel_port_device(connection->port)->device);
}

/* 0 when it is ours. */
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
	int r = port_of(connection, hello, welcome);

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

/* Who waits longest is next. */
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
	.batch = 1,
	.longest = sizeof(struct wire_hello),
};
