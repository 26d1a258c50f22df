/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of the keys by which managers know each other (ha_psk_file). Each line is a key of 32 to
 * 128 hexadecimal digits, alone: all managers share it; or after the name of its own, its identity:
 *
 *	IDENTITY KEY [ADDRESS]
 *
 * Both managers that share such a key have the line, and no other manager. The one that connects
 * sends the identity, and by it the other one finds the key. ADDRESS is that of the manager to
 * which a connection uses this key; a line without one is for all that have no line of their own.
 * What follows # on a line is a comment. No state, any thread.
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
	bool shared;   /* a key without a name: several managers may use it at a time */
	bool has_peer; /* the line has an address */
	struct host peer;
	uint8_t key[PSK_MAX];
	size_t size; /* bytes of key */
};

struct psk_list {
	unsigned count;
	struct psk list[PSK_KEYS_MAX];
};

/* Reads the file, which must be readable by its owner alone, who is root or runs this. 0; or
 * -errno, *out untouched, and in why the file, the line, the reason and the remedy, but no key.
 * The caller wipes *out after use. */
int psk_file_read(const char *path, struct psk_list *out, char why[STREAM_WHY_SIZE]);

/* The key of this name; of a connection to that host. NULL: there is none. Borrowed. */
const struct psk *psk_named(const struct psk_list *keys, const char *identity);
const struct psk *psk_for(const struct psk_list *keys, const struct host *peer);
/* Whether the name stands for the same key in both lists. */
bool psk_stays(const struct psk_list *before, const struct psk_list *after, const char *identity);

#endif
