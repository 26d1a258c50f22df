/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Byte streams between managers, and their carriers. lib/tls.c is a carrier; a simulation has
 * another, made of pipes with a virtual clock, so that the same code runs over both. mad/inband.c
 * carries streams over the fabric. A user sees a stream of lib/tls.c only after both ends have
 * proved that they know the key.
 *
 * Nothing here blocks. Data wait in memory until the peer reads them. A user that sends much checks
 * how many bytes wait, pauses, and continues with drained(). Loop thread only.
 */
#ifndef LIB_STREAM_H
#define LIB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STREAM_WHY_SIZE = 256,
	STREAM_PEER_SIZE = 64,
	STREAM_IDENTITY_SIZE = 32,
	STREAM_LOW_BYTES = 64 * 1024,
};

struct stream;

/* Called on the loop, never from inside the functions below. */
struct stream_user {
	void (*opened)(void *ctx); /* of a connecting stream; NULL for accepted streams */
	void (*received)(void *ctx, const uint8_t *bytes, size_t size); /* borrowed */
	void (*drained)(void *ctx); /* fewer than STREAM_LOW_BYTES wait to be sent */
	/* The peer closed the stream, or it failed: the last call; the stream is gone. */
	void (*closed)(void *ctx, const char *why);
	void *ctx;
};

struct stream_ops {
	void (*send)(struct stream *stream, const void *bytes, size_t size); /* copies */
	size_t (*waiting)(const struct stream *stream);			     /* bytes */
	/* No further call of the user follows. politely: the waiting data are sent first, for some
	 * seconds. */
	void (*close)(struct stream *stream, bool politely);
};

struct stream {
	const struct stream_ops *ops;
	struct stream_user user;
	char peer[STREAM_PEER_SIZE]; /* its address, for logs and listings */
	/* The name of the key that both ends have; empty: the carrier has no keys. */
	char identity[STREAM_IDENTITY_SIZE];
	/* closed(): the address has answered that nothing accepts streams there. */
	bool unserved;
	/* Third parties may read the stream, and the peer has proved no key. */
	bool in_clear;
};

struct stream_listener {
	/* The callee fills stream->user before it returns. */
	void (*accepted)(void *ctx, struct stream *stream);
	/* A connection was refused: it proved no key, or exceeded a limit. */
	void (*refused)(void *ctx, const char *peer, const char *why);
	void *ctx;
};

struct stream_carrier;

struct stream_carrier_ops {
	/* Begins to connect to address. Returns NULL, and the reason in why, if it is no
	 * address. */
	struct stream *(*connect)(struct stream_carrier *carrier, const char *address,
				  const struct stream_user *user, char why[STREAM_WHY_SIZE]);
	/* One address per carrier; listener is copied. Returns 0, or -errno and the reason in
	 * why. */
	int (*listen)(struct stream_carrier *carrier, const char *address,
		      const struct stream_listener *listener, char why[STREAM_WHY_SIZE]);
	void (*free)(struct stream_carrier *carrier); /* and all its streams, without closed() */
};

struct stream_carrier {
	const struct stream_carrier_ops *ops;
};

static inline void stream_send(struct stream *stream, const void *bytes, size_t size)
{
	stream->ops->send(stream, bytes, size);
}

static inline size_t stream_waiting(const struct stream *stream)
{
	return stream->ops->waiting(stream);
}

static inline void stream_close(struct stream *stream, bool politely)
{
	stream->ops->close(stream, politely);
}

#endif
