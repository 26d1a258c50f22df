/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * GnuTLS sessions of TLS 1.3 with pre-shared keys: the common part of the carriers lib/tls.c (over
 * sockets) and lib/tls_over.c (over streams of another carrier). Loop thread only.
 */
#ifndef LIB_TLS_KEYS_H
#define LIB_TLS_KEYS_H

#include <gnutls/gnutls.h>

#include "lib/psk_file.h"

struct tls_keys {
	struct psk_list list;
	gnutls_psk_server_credentials_t server;
	gnutls_psk_client_credentials_t client;
	gnutls_priority_t priorities;
};

/* One end of a session: embedded in the session of a carrier, at a fixed address. */
struct tls_party {
	const struct tls_keys *keys;
	/* Of a connecting end: the identity of its key. STREAM_IDENTITY_SIZE bytes of the carrier's
	 * session. */
	char *identity;
};

/* list is copied. */
void tls_keys_init(struct tls_keys *keys, const struct psk_list *list);
/* Wipes and frees everything, after all sessions. */
void tls_keys_done(struct tls_keys *keys);
/* A session without a transport. flags: GNUTLS_SERVER or GNUTLS_CLIENT. gnutls_deinit() frees it.
 */
gnutls_session_t tls_keys_session(struct tls_party *party, unsigned flags);
/* Copies the identity that the peer has proved; for an accepting end, after the handshake. False:
 * the identity is no longer in the list. *shared: several peers may have the key. */
bool tls_keys_prove(const struct tls_party *party, gnutls_session_t gnutls, bool *shared);

#endif
