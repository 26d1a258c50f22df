/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PSK with ECDHE, so that a key that is disclosed later does not open recorded sessions. */
#include "lib/tls_keys.h"

#include <stdlib.h>
#include <string.h>

#define PRIORITIES                                                            \
	"NONE:+VERS-TLS1.3:+ECDHE-PSK:+AEAD:+AES-256-GCM:+CHACHA20-POLY1305:" \
	"+GROUP-X25519:+GROUP-SECP256R1:+SIGN-ALL:+COMP-NULL"

/* GnuTLS frees this copy. */
static int copy_key(const struct psk *psk, gnutls_datum_t *out)
{
	if (!psk)
		return -1;
	out->data = gnutls_malloc(psk->size);
	if (!out->data)
		return -1;
	memcpy(out->data, psk->key, psk->size);
	out->size = (unsigned)psk->size;
	return 0;
}

static int key_of_peer(gnutls_session_t gnutls, const char *identity, gnutls_datum_t *out)
{
	const struct tls_party *party = gnutls_session_get_ptr(gnutls);

	return copy_key(psk_named(&party->keys->list, identity), out);
}

static int own_key(gnutls_session_t gnutls, char **identity, gnutls_datum_t *out)
{
	const struct tls_party *party = gnutls_session_get_ptr(gnutls);

	*identity = gnutls_strdup(party->identity);
	return *identity ? copy_key(psk_named(&party->keys->list, party->identity), out) : -1;
}

void tls_keys_init(struct tls_keys *keys, const struct psk_list *list)
{
	keys->list = *list;
	if (gnutls_priority_init(&keys->priorities, PRIORITIES, NULL) ||
	    gnutls_psk_allocate_server_credentials(&keys->server) ||
	    gnutls_psk_allocate_client_credentials(&keys->client))
		abort(); /* out of memory: the only possible error */
	gnutls_psk_set_server_credentials_function(keys->server, key_of_peer);
	gnutls_psk_set_client_credentials_function(keys->client, own_key);
}

void tls_keys_done(struct tls_keys *keys)
{
	gnutls_psk_free_server_credentials(keys->server);
	gnutls_psk_free_client_credentials(keys->client);
	gnutls_priority_deinit(keys->priorities);
	explicit_bzero(&keys->list, sizeof(keys->list));
}

gnutls_session_t tls_keys_session(struct tls_party *party, unsigned flags)
{
	const struct tls_keys *keys = party->keys;
	gnutls_session_t gnutls;

	if (gnutls_init(&gnutls, flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS) ||
	    gnutls_priority_set(gnutls, keys->priorities) ||
	    gnutls_credentials_set(gnutls, GNUTLS_CRD_PSK,
				   flags & GNUTLS_SERVER ? (void *)keys->server
							 : (void *)keys->client))
		abort(); /* out of memory: the only possible error */
	gnutls_session_set_ptr(gnutls, party);
	return gnutls;
}

bool tls_keys_prove(const struct tls_party *party, gnutls_session_t gnutls, bool *shared)
{
	const char *identity = gnutls_psk_server_get_username(gnutls);
	const struct psk *psk = identity ? psk_named(&party->keys->list, identity) : NULL;

	if (!psk)
		return false;
	memcpy(party->identity, psk->identity, sizeof(psk->identity));
	*shared = psk->shared;
	return true;
}
