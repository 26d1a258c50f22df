/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The options ha_listen, ha_peers, ha_psk_file and sm_lid: what is wrong with them, and the carrier
 * of streams that they ask for. For weftd/main.c; a simulation brings a carrier of its own.
 */
#ifndef WEFTD_HA_H
#define WEFTD_HA_H

#include "lib/psk_file.h"
#include "lib/stream.h"
#include "weftd/conf.h"

/* 0, or -errno and one line in error. The file of the keys is read, as ha_open() does. */
int ha_check(const struct conf *conf, char error[CONF_ERROR_SIZE]);
/* *out: NULL when none is wanted. 0, or -errno and one line in error. */
int ha_open(struct loop *loop, const struct conf *conf, struct stream_carrier **out,
	    char error[CONF_ERROR_SIZE]);
/* The keys of the file that conf names, none where the options want no carrier: what a reload gives
 * to tls_set_keys() and then wipes. 0, or -errno and one line in error. */
int ha_read_keys(const struct conf *conf, struct psk_list *out, char error[CONF_ERROR_SIZE]);

#endif
