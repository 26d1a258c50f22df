/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file with the keys of the managers (ha_psk_file). A key has 32 to 128 hexadecimal digits. A
 * line with a key alone is the key that all managers share. A line with an identity is the key of
 * two managers:
 *
 *	IDENTITY KEY [ADDRESS]
 *
 * Both managers have this line, and no other manager has it. The connecting manager sends the
 * identity, and the other manager finds the key by it. Connections to ADDRESS use this key: a
 * numeric address, or the port GUID of a manager that is followed over the fabric. A line without
 * an address is for all addresses without a line of their own. A # starts a comment. No state, any
 * thread.
 */
#ifndef LIB_PSK_FILE_H
#define LIB_PSK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/address.h"
#include "lib/stream.h"

enum { PSK_MIN = 16, PSK_MAX = 64, PSK_KEYS_MAX = 16 };

struct psk {
	char identity[STREAM_IDENTITY_SIZE];
	bool shared;   /* a key without an identity: several managers may use it at a time */
	bool has_peer; /* the line has an address */
	struct host peer;
	uint8_t key[PSK_MAX];
	size_t size; /* bytes of key */
};

struct psk_list {
	unsigned count;
	struct psk list[PSK_KEYS_MAX];
};

/* Reads the file. Only its owner may have rights on it, and the owner is root or the user of this
 * process. Returns 0, or -errno: then *out is untouched, and why has the file, the line, the reason
 * and the remedy, but no key. The caller wipes *out after use. */
int psk_file_read(const char *path, struct psk_list *out, char why[STREAM_WHY_SIZE]);

/* The key with this identity, or NULL. Borrowed. */
const struct psk *psk_named(const struct psk_list *keys, const char *identity);
/* The key for connections to this host: of its own line, else of a line for all addresses, or NULL.
 * Borrowed. */
const struct psk *psk_for(const struct psk_list *keys, const struct host *peer);
/* A digest of all identities and keys, in their order, to detect a change. The digest is not
 * secure: it must not leave the process. */
uint64_t psk_digest(const struct psk_list *keys);
/* Whether the identity has the same key in both lists. */
bool psk_stays(const struct psk_list *before, const struct psk_list *after, const char *identity);

#endif
