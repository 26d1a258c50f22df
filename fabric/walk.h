/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Following forwarding tables as a packet would: from a switch, by each switch's entry for the LID,
 * to the port that owns it. Pure functions over a snapshot and its routes, any thread.
 */
#ifndef FABRIC_WALK_H
#define FABRIC_WALK_H

#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"

/* Called for each switch on the way with the output port of the packet; 0: it is for the switch
 * itself. */
typedef void walk_hop_fn(void *ctx, uint32_t sw, uint8_t port);

/* Walks from a switch (its index) to lid. hop may be NULL. Returns the number of switches passed,
 * at least 1; -ELOOP: the tables loop; -EHOSTUNREACH: the tables end or lead to a port that does
 * not own lid. After a failure, ignore the calls of hop(). */
int table_walk(const struct snapshot *snapshot, const struct routes *routes, uint32_t from,
	       lid_t lid, walk_hop_fn *hop, void *ctx);

#endif
