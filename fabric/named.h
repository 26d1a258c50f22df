/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nodes of a snapshot by index, its switches first and then its end ports (a node with several end
 * ports has several indexes), and by user names. For the commands of sm/ and pm/; pure functions.
 */
#ifndef FABRIC_NAMED_H
#define FABRIC_NAMED_H

#include "fabric/snapshot.h"
#include "lib/map.h"

enum { SNAP_CANDIDATES_SIZE = 160, SNAP_NAMED_ERROR_SIZE = SNAP_CANDIDATES_SIZE + 160 };

/* The result for a NODE argument: an index, or -1 and the reason. */
struct snap_named {
	int64_t place;
	bool ambiguous; /* several nodes have the name */
	char error[SNAP_NAMED_ERROR_SIZE];
};

/* The number of indexes: switches plus end ports. */
uint32_t node_count(const struct snapshot *snapshot);
/* The facts of the node at an index; borrowed. */
const struct node_facts *facts_at(const struct snapshot *snapshot, uint32_t place);
/* Accepts a GUID of a node or port that exists (16 digits, or 0x and digits), a name, a LID, or a
 * hostlist (lib/hostlist.h) of a few names of one node; an adapter with two ports gives its first
 * port. */
struct snap_named snapshot_find_named(const struct snapshot *snapshot, const char *name);

/* Whether a NODE argument is a hostlist rather than the description of a node. */
bool snapshot_is_hostlist(const struct snapshot *snapshot, const char *text);
/* Puts the GUIDs of the nodes of a hostlist, names and GUIDs, into nodes, which the caller frees.
 * Several nodes may have the same name. False: an item names no node, or text is not a hostlist;
 * the reason is in error. A long list takes longer than a turn of the loop may take: call it on a
 * worker. */
bool snapshot_find_listed(const struct snapshot *snapshot, const char *text, struct map *nodes,
			  char error[SNAP_NAMED_ERROR_SIZE]);

/* The description that a user of this name probably means; NULL: there is none. If a node reports
 * the name itself, but the administrator gave it another name (fabric/facts.h), this is its
 * description. Otherwise it is the description that is most similar to the name. Borrowed from the
 * snapshot. */
const char *snapshot_suggest(const struct snapshot *snapshot, const char *name);

#endif
