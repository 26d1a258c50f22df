/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Checks the options ha_listen, ha_peers, ha_psk_file and sm_lid, and opens the carrier of streams
 * for replication. Used by weftd/main.c; a simulation has its own carrier.
 */
#ifndef WEFTD_HA_H
#define WEFTD_HA_H

#include "lib/psk_file.h"
#include "lib/stream.h"
#include "weftd/conf.h"

/* Checks the options, and reads the key file as ha_open() does. Returns 0, or -errno with one line
 * in error. */
int ha_check(const struct conf *conf, char error[CONF_ERROR_SIZE]);
/* Opens the carrier. *out is NULL if the options need none. Returns 0, or -errno with one line in
 * error. */
int ha_open(struct loop *loop, const struct conf *conf, struct stream_carrier **out,
	    char error[CONF_ERROR_SIZE]);
/* Reserves places for connections from the addresses of ha_peers, and no others. */
void ha_expect_peers(struct stream_carrier *carrier, const struct conf *conf);
/* Reads the keys of the file that conf names, for tls_set_keys() at a reload; the caller wipes
 * them. No keys if the options need none. Returns 0, or -errno with one line in error. */
int ha_read_keys(const struct conf *conf, struct psk_list *out, char error[CONF_ERROR_SIZE]);

#endif
