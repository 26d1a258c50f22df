/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* HMAC-SHA-256, for keys that are derived from a secret. A pure function, on any thread. */
#ifndef LIB_CRYPTO_HMAC_H
#define LIB_CRYPTO_HMAC_H

#include <stddef.h>
#include <stdint.h>

enum { CRYPTO_HMAC_SIZE = 32 };

/* RFC 2104 over SHA-256. It does not fail. */
void crypto_hmac(const void *key, size_t key_size, const void *data, size_t data_size,
		 uint8_t out[CRYPTO_HMAC_SIZE]);

#endif
