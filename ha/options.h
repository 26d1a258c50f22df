/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options of the replication; defaults are in weftd/conf_rows.c. */
#ifndef HA_OPTIONS_H
#define HA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "ha/wire.h"

enum { REPLICA_PORT = 15725, REPLICA_PEERS_MAX = 8, REPLICA_PEERS_SIZE = 512 };

enum durability { DURABILITY_LOCAL, DURABILITY_STANDBY };

struct replica_options {
	/* Over the fabric, if neither listen nor peers is set. */
	bool inband;
	char listen[64];		/* empty: no standby can connect */
	char peers[REPLICA_PEERS_SIZE]; /* addresses, separated by commas; empty: it follows no
					   master */
	uint8_t durability;		/* enum durability */
	bool keyed;			/* over the fabric with the keys of ha_psk_file */
	bool sa_public;			/* sa_key is the default, which any client knows */
	char config[FRAME_CONFIG_MAX];	/* as in struct hello */
};

#endif
