/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nodes of a snapshot by places, its switches first and then its end ports (a node with several has
 * several places), and by what people call them. For the commands of sm/ and pm/; pure functions.
 */
#ifndef FABRIC_NAMED_H
#define FABRIC_NAMED_H

#include "fabric/snapshot.h"

enum { SNAP_CANDIDATES_SIZE = 160 };

/* What a NODE argument means: a place, or -1 and the reason. */
struct snap_named {
	int64_t place;
	char error[SNAP_CANDIDATES_SIZE + 160];
};

uint32_t node_count(const struct snapshot *snapshot);
const struct node_facts *facts_at(const struct snapshot *snapshot, uint32_t place);
/* A name, a GUID or a LID; of an adapter with two ports its first one is taken. */
struct snap_named snapshot_find_named(const struct snapshot *snapshot, const char *name);

#endif
