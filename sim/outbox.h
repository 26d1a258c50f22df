/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The send queue of a connection that keeps message boundaries, while a program does not read.
 * Messages are stored in blocks, one after the other. So an empty outbox costs nothing, and many
 * small messages leave in one system call.
 */
#ifndef SIM_OUTBOX_H
#define SIM_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

struct outbox_block;

struct outbox {
	struct outbox_block *first, *last;
	size_t count; /* messages */
	size_t bytes; /* of all of them */
};

void outbox_done(struct outbox *outbox); /* drops its messages; it may be used again */
/* Appends a copy of a message. */
void outbox_put(struct outbox *outbox, const void *bytes, size_t size);
/* Sends as much as the socket takes. Returns 0: all of it, or -EAGAIN; another -errno: the other
 * end is gone. */
int outbox_flush(struct outbox *outbox, int fd);
/* The oldest message, borrowed until it is dropped; NULL: there is none. */
const uint8_t *outbox_first(const struct outbox *outbox, size_t *size);
/* Drops the oldest message; there must be one. */
void outbox_drop_first(struct outbox *outbox);

#endif
