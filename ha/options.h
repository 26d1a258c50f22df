/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the administrator may choose about the replica; defaults are in weftd/conf_rows.c. */
#ifndef HA_OPTIONS_H
#define HA_OPTIONS_H

#include <stdint.h>

#include "ha/wire.h"

enum { REPLICA_PORT = 15725, REPLICA_PEERS_MAX = 8, REPLICA_PEERS_SIZE = 512 };

enum durability { DURABILITY_LOCAL, DURABILITY_STANDBY };

struct replica_options {
	char listen[64];		/* empty: nobody can follow this manager */
	char peers[REPLICA_PEERS_SIZE]; /* addresses between commas; empty: it follows nobody */
	uint8_t durability;		/* enum durability */
	char config[FRAME_CONFIG_MAX];	/* as in struct hello */
};

#endif
