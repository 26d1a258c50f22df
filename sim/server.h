/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the parts of the weftsim server: its loop (serve.c), its connections (connection.c and
 * their kinds) and the folders (folder.c). One thread; nothing here waits for a client.
 *
 * A turn of the loop: the world advances, messages are read, the world advances again, folders are
 * updated, answers leave. A connection that ends within a turn is only marked, and freed at the end
 * of the turn.
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/list.h"
#include "lib/map.h"
#include "sim/kernel.h"
#include "sim/outbox.h"
#include "sim/rings.h"
#include "sim/socket.h"
#include "sim/wire.h"
#include "sim/world.h"

struct folders;
struct do_call;
struct connection;

enum {
	CONNECTION_MADS = 256,	      /* of a program, read at once */
	CONNECTION_MESSAGE_MAX = 512, /* bytes, of any kind */
};

struct server {
	struct world *world;
	struct kernel *kernel;
	struct folders *folders;
	struct socket_place place;
	int epoll_fd, signal_fd;
	bool full; /* no descriptors are left: new clients wait */
	bool stop;
	uint64_t now_us; /* of the present turn */
	uint32_t next_id;
	struct map by_id; /* connections */
	struct list connections;
	struct list unsent;  /* those with new messages in their outbox */
	struct list working; /* those whose command needs more turns */
	struct list ended;
};

/* The purpose of a connection: a row for each enum wire_kind. */
struct connection_kind {
	/* Returns 0, 1 if it sends the welcome itself, or -errno with a reason in welcome->text. */
	int (*start)(struct connection *connection, const struct wire_hello *hello,
		     struct wire_welcome *welcome);
	/* For kinds with messages in rings or in a stream, instead of the functions below. read()
	 * reads some records, and returns their number or -errno (-EPIPE: the end); all: it reads
	 * all records, and the end. flush() sends new records. */
	int (*read)(struct connection *connection, bool all);
	void (*flush)(struct connection *connection);
	/* A message; file is a descriptor that arrived with it and stays the caller's, or -1. False
	 * ends the connection. NULL: there are no messages. */
	bool (*message)(struct connection *connection, const uint8_t *bytes, size_t size, int file);
	void (*drained)(struct connection *connection); /* its outbox is empty; may be NULL */
	void (*end)(struct connection *connection);	/* may be NULL */
	size_t longest;					/* message */
};

struct connection {
	struct list link, unsent, working;
	struct server *server;
	const struct connection_kind *kind; /* NULL before its hello */
	struct outbox outbox;
	int fd;
	uint32_t id;
	uint32_t interest; /* the events of epoll */
	bool ended, blocked, paused;
	struct device *device;	  /* WIRE_FILES, WIRE_UMAD, WIRE_ISSM, WIRE_HCA */
	struct vm_link *vm;	  /* WIRE_HCA */
	struct kernel_port *port; /* WIRE_UMAD, WIRE_ISSM */
	struct kernel_file *file; /* WIRE_UMAD */
	struct rings rings;
	uint64_t heard_us;    /* WIRE_UMAD: the last turn in which its ring had records */
	struct outbox longs;  /* MADs that were announced and not yet fetched */
	bool waits, holds;    /* WIRE_ISSM */
	struct do_call *call; /* WIRE_DO: the command under way */
};

extern const struct connection_kind connection_files, connection_umad, connection_issm,
	connection_call, connection_do, connection_hca;

/* server has its world, kernel, folders and epoll_fd. */
void connections_init(struct server *server);
/* Ends all connections, without answers. */
void connections_done(struct server *server);
void connections_accept(struct server *server); /* accepts some new clients */
/* Takes over the socket of a new client; false, and the socket stays the caller's, without memory
 * for it in the kernel. */
bool connections_add(struct server *server, int fd);
void connections_flush(struct server *server); /* sends new messages */
void connections_free_ended(struct server *server);
void connections_of_removed(struct server *server); /* ends connections to removed devices */
/* Runs a turn of one of the commands under way. */
void connections_work(struct server *server);

/* epoll reported events for the connection. */
void connection_ready(struct connection *connection, uint32_t events);
/* Reads all messages sent before, and ends the connection if the other end is gone. */
void connection_drain(struct connection *connection);
/* Queues a copy of a message, to be sent at the end of the turn. */
void connection_send(struct connection *connection, const void *bytes, size_t size);
/* Sends a message at once with a file, which it closes. */
void connection_send_file(struct connection *connection, const void *bytes, size_t size, int file);
/* Marks the connection: it has new messages for the end of the turn. */
void connection_unsent(struct connection *connection);
/* Whether output waits for room in the socket: for kinds with a flush(). */
void connection_blocked(struct connection *connection, bool blocked);
/* The connection uses this device from now on. A virtual machine needs it alone. Returns 0, or
 * -EBUSY with a reason in welcome->text. */
int connection_take_device(struct connection *connection, struct device *device, bool is_vm,
			   struct wire_welcome *welcome);
/* The values of a device may have changed: sends them to its virtual machine, if there is one. */
void connection_device_changed(const struct device *device);
/* Stops reading, or starts it again; further requests wait in the socket. */
void connection_pause(struct connection *connection, bool paused);
/* Marks the connection as ended; it is freed at the end of the turn. */
void connection_end(struct connection *connection);

#endif
