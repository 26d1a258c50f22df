/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What waits to be sent on a connection that keeps message boundaries. Messages lie one behind the
 * other in blocks, so that an outbox that is empty costs nothing and many small messages leave in
 * one system call. What is too long for a message of the socket leaves as its beginning with a
 * sealed memfd (see sim/wire.h), which is made only when its turn comes, for descriptors are few.
 */
#ifndef SIM_OUTBOX_H
#define SIM_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

struct outbox_block;

struct outbox {
	struct outbox_block *first, *last;
	size_t count; /* messages */
};

void outbox_done(struct outbox *outbox); /* drops what is in it; it may be used again */
/* Copies a message. */
void outbox_put(struct outbox *outbox, const void *bytes, size_t size);
/* Sends what the socket takes now. 0: all of it, or -EAGAIN; another -errno: the other end is gone.
 */
int outbox_flush(struct outbox *outbox, int fd);

#endif
