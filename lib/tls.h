/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * TLS 1.3 over TCP with a key that both ends know before (PSK, with ECDHE besides, so that a key
 * that becomes known later opens nothing that was recorded): a carrier of streams (lib/stream.h).
 * It is the only door to GnuTLS's sessions, and owns its sockets. Loop thread only, but for reading
 * the key.
 *
 * Addresses are numeric, as "10.0.0.1:15725" or "[fd00::1]": names would have to be asked for, and
 * who answers then is not known.
 */
#ifndef LIB_TLS_H
#define LIB_TLS_H

#include "lib/loop.h"
#include "lib/stream.h"

enum { TLS_KEY_MIN = 16, TLS_KEY_MAX = 64 };

struct tls_key {
	uint8_t bytes[TLS_KEY_MAX];
	size_t size;
};

/* Reads a key from a file of 32 to 128 hexadecimal digits, which nobody but its owner may read, and
 * he is root or who runs this. 0, or -errno and in why what is wrong and what to do. */
int tls_key_read(const char *path, struct tls_key *key, char why[STREAM_WHY_SIZE]);

/* Whether text is an address as this carrier takes it; else why it is none. */
bool tls_is_address(const char *text, char why[STREAM_WHY_SIZE]);

/* key is copied. port: for addresses without one. */
struct stream_carrier *tls_new(struct loop *loop, const struct tls_key *key, uint16_t port);

#endif
