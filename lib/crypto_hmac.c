/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * GnuTLS's HMAC, for keys that are derived from a secret. It fails only if its self-test failed or
 * there is no memory: then the process ends, because a wrong key is worse than no key.
 */
#include "lib/crypto_hmac.h"

#include <gnutls/crypto.h>
#include <stdlib.h>

void crypto_hmac(const void *key, size_t key_size, const void *data, size_t data_size,
		 uint8_t out[CRYPTO_HMAC_SIZE])
{
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_size, data, data_size, out))
		abort();
}
