/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Inside the weftsim server: what its loop (serve.c), its connections (connection.c and the kinds
 * of them) and the folders (folder.c) share. One thread; nothing here waits for a client.
 *
 * A turn of the loop: time goes on in the world, what has come is read, time goes on again, folders
 * show what changed, answers leave. A connection that ends within a turn is only marked, and freed
 * when the turn is over.
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
	CONNECTION_MADS = 256,	      /* of a program, that are read at once */
	CONNECTION_MESSAGE_MAX = 512, /* bytes, of any kind */
};

struct server {
	struct world *world;
	struct kernel *kernel;
	struct folders *folders;
	struct socket_place place;
	int epoll_fd, signal_fd;
	bool full; /* no descriptors are left: who knocks waits */
	bool stop;
	uint64_t now_us; /* of the present turn */
	uint32_t next_id;
	struct map by_id; /* connections */
	struct list connections;
	struct list unsent;  /* those with something new in their outbox */
	struct list working; /* those whose command needs more turns */
	struct list ended;
};

/* What a connection is for: a row for each enum wire_kind. */
struct connection_kind {
	/* 0, 1 when it sees to the welcome itself, or -errno with a reason in welcome->text. */
	int (*start)(struct connection *connection, const struct wire_hello *hello,
		     struct wire_welcome *welcome);
	/* In the place of what follows, for those whose messages are elsewhere: reads some, and
	 * returns how many that were or -errno (-EPIPE: the end); sends what is new. all: who calls
	 * wants to know all that has come, the end too. */
	int (*read)(struct connection *connection, bool all);
	void (*flush)(struct connection *connection);
	/* A message; file is a descriptor that came with it and stays the caller's, or -1. False
	 * ends the connection. NULL: there are none. */
	bool (*message)(struct connection *connection, const uint8_t *bytes, size_t size, int file);
	void (*drained)(struct connection *connection); /* its outbox is empty; or NULL */
	void (*end)(struct connection *connection);	/* or NULL */
	size_t longest;					/* message */
};

struct connection {
	struct list link, unsent, working;
	struct server *server;
	const struct connection_kind *kind; /* NULL until its hello came */
	struct outbox outbox;
	int fd;
	uint32_t id;
	uint32_t interest; /* what epoll watches for */
	bool ended, blocked, paused;
	struct kernel_port *port; /* WIRE_UMAD, WIRE_ISSM */
	struct kernel_file *file; /* WIRE_UMAD */
	struct rings rings;
	uint64_t heard_us;    /* WIRE_UMAD: the turn in which its ring had something */
	struct outbox longs;  /* MADs that were announced and not fetched */
	bool waits, holds;    /* WIRE_ISSM */
	struct do_call *call; /* WIRE_DO: the command that is worked on */
};

extern const struct connection_kind connection_files, connection_umad, connection_issm,
	connection_call, connection_do;

void connections_init(struct server *server);
void connections_done(struct server *server);
void connections_accept(struct server *server); /* some that knock */
void connections_flush(struct server *server);	/* sends what is new */
void connections_free_ended(struct server *server);
void connections_of_removed(struct server *server); /* ends those to devices that are gone */
void connections_work(struct server *server);	    /* a turn for one of the commands under way */

/* A descriptor of epoll's is ready. */
void connection_ready(struct connection *connection, uint32_t events);
/* Reads all that has come before and ends the connection when the other end is gone. */
void connection_drain(struct connection *connection);
void connection_send(struct connection *connection, const void *bytes, size_t size);
/* At once, with a file, which it closes. */
void connection_send_file(struct connection *connection, const void *bytes, size_t size, int file);
/* Something new is to be sent at the end of the turn. */
void connection_unsent(struct connection *connection);
/* Nothing is read until it goes on: what is asked next waits in the socket. */
void connection_pause(struct connection *connection, bool paused);
void connection_end(struct connection *connection);

#endif
