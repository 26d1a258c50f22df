/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * TLS 1.3 over TCP with keys that both ends know before (PSK, with ECDHE besides, so that a key
 * that becomes known later opens nothing that was recorded): a carrier of streams (lib/stream.h).
 * It is the only door to GnuTLS's sessions, and owns its sockets. Loop thread only.
 *
 * Addresses are those of lib/address.h, keys those of lib/psk_file.h. A named key is one peer's: a
 * second session with its name ends the first one. Where a carrier listens on an address of its
 * host, its own connections come from there.
 */
#ifndef LIB_TLS_H
#define LIB_TLS_H

#include "lib/loop.h"
#include "lib/psk_file.h"
#include "lib/stream.h"

enum { TLS_PEERS_MAX = 8 };

/* keys are copied. port: for addresses without one. */
struct stream_carrier *tls_new(struct loop *loop, const struct psk_list *keys, uint16_t port);
/* A known peer's address, with or without a port: handshakes from there have places that no other
 * address can take. For the first TLS_PEERS_MAX; a text that is no address is passed over. */
void tls_expect(struct stream_carrier *carrier, const char *address);
/* These keys are valid from now on. Sessions whose key is gone or another one end. */
void tls_set_keys(struct stream_carrier *carrier, const struct psk_list *keys);

#endif
