/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What waits to be sent on a connection that keeps message boundaries, or until a program that does
 * not read makes room. Messages lie one behind the other in blocks, so that an outbox that is empty
 * costs nothing and many small messages leave in one system call.
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

void outbox_done(struct outbox *outbox); /* drops what is in it; it may be used again */
/* Copies a message. */
void outbox_put(struct outbox *outbox, const void *bytes, size_t size);
/* Sends what the socket takes now. 0: all of it, or -EAGAIN; another -errno: the other end is gone.
 */
int outbox_flush(struct outbox *outbox, int fd);
/* The message that has waited longest, borrowed until it is dropped; NULL: there is none. */
const uint8_t *outbox_first(const struct outbox *outbox, size_t *size);
void outbox_drop_first(struct outbox *outbox);

#endif
