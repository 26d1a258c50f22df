/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * TLS 1.3 over TCP with keys that both ends know before: PSK with ECDHE, so that a key that is
 * disclosed later does not open recorded sessions. It is a carrier of streams (lib/stream.h), and
 * owns its sockets. lib/tls_over.h has the same sessions over another carrier. Loop thread only.
 *
 * Addresses are those of lib/address.h, keys those of lib/psk_file.h. A key with an identity
 * belongs to one peer: a second session with it ends the first session. If a carrier listens on an
 * address of its host, its own connections come from this address.
 */
#ifndef LIB_TLS_H
#define LIB_TLS_H

#include "lib/loop.h"
#include "lib/psk_file.h"
#include "lib/stream.h"

enum { TLS_PEERS_MAX = 8 };

/* keys are copied. port: for addresses without one. */
struct stream_carrier *tls_new(struct loop *loop, const struct psk_list *keys, uint16_t port);
/* Reserves places for handshakes from the address of a peer, with or without a port. Only the first
 * TLS_PEERS_MAX addresses count; a text that is no address is ignored. */
void tls_expect(struct stream_carrier *carrier, const char *address);
/* Reserves no places any more; sessions stay. */
void tls_forget_peers(struct stream_carrier *carrier);
/* Replaces the keys. Sessions whose key is gone or has changed end. */
void tls_set_keys(struct stream_carrier *carrier, const struct psk_list *keys);

#endif
