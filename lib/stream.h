/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Streams of bytes between managers, and what carries them. lib/tls.c is one carrier; a simulation
 * brings another, of pipes with a virtual clock, so that the same code runs over both. Whoever uses
 * a stream sees it from the moment on when both ends have proved that they know the key.
 *
 * Nothing here blocks. What is sent waits in memory until the peer takes it, so who sends much asks
 * how much waits, and goes on when told that it is little. Loop thread only.
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
	void (*opened)(void *ctx); /* of one that connects; NULL where it is accepted */
	void (*received)(void *ctx, const uint8_t *bytes, size_t size); /* borrowed */
	void (*drained)(void *ctx); /* less than STREAM_LOW_BYTES wait to be sent */
	/* By the peer, or since it cannot go on: the last call; the stream is gone. */
	void (*closed)(void *ctx, const char *why);
	void *ctx;
};

struct stream_ops {
	void (*send)(struct stream *stream, const void *bytes, size_t size); /* copies */
	size_t (*waiting)(const struct stream *stream);			     /* bytes */
	/* The user hears nothing more. politely: what waits is sent before, for some seconds. */
	void (*close)(struct stream *stream, bool politely);
};

struct stream {
	const struct stream_ops *ops;
	struct stream_user user;
	char peer[STREAM_PEER_SIZE]; /* its address, for people */
	/* The name of the key that both ends have; empty: the carrier has no keys. */
	char identity[STREAM_IDENTITY_SIZE];
};

struct stream_listener {
	/* The callee fills stream->user before it returns. */
	void (*accepted)(void *ctx, struct stream *stream);
	/* Somebody came and was no peer. */
	void (*refused)(void *ctx, const char *peer, const char *why);
	void *ctx;
};

struct stream_carrier;

struct stream_carrier_ops {
	/* Begins to connect to address. NULL, and the reason in why, when it is no address. */
	struct stream *(*connect)(struct stream_carrier *carrier, const char *address,
				  const struct stream_user *user, char why[STREAM_WHY_SIZE]);
	/* One address a carrier; listener is copied. 0, or -errno and the reason in why. */
	int (*listen)(struct stream_carrier *carrier, const char *address,
		      const struct stream_listener *listener, char why[STREAM_WHY_SIZE]);
	void (*free)(struct stream_carrier *carrier); /* and all its streams, without a word */
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
