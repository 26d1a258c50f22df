/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast trees: a snapshot and its routes in, port masks out. The tree of a group is the part of
 * the unicast paths to one switch, its root, that the members need. Paths to one destination form a
 * tree, so there is no loop. A new member adds the way from its switch up to the tree, and no other
 * way changes; the part above the last branch is cut off.
 *
 * If the engine has an order of heights, roots are chosen to which all members climb. Packets climb
 * and then descend, as in unicast, and no links wait for each other in a cycle. If some members
 * cannot climb to any such root, the tree strays: reaching them comes first.
 *
 * A tree follows from the snapshot, the routes, the root and the members alone. Pure functions, on
 * any thread.
 */
#ifndef ROUTE_MCAST_H
#define ROUTE_MCAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"

/* The depth of each switch below each other switch as a root. */
struct mcast_ways;

/* Computes all depths. snapshot and routes must outlive the result. */
struct mcast_ways *mcast_ways_new(const struct snapshot *snapshot, const struct routes *routes,
				  struct work_pool *pool);
void mcast_ways_free(struct mcast_ways *ways); /* NULL is harmless */

/* The ports 16 * position to 16 * position + 15 of a switch to which it sends copies. */
struct mcast_mask {
	uint32_t sw; /* index in the snapshot */
	uint8_t position;
	uint16_t ports; /* bit i: port 16 * position + i */
};

struct mcast_member {
	uint32_t sw;  /* to which its port is cabled, or which it is itself */
	uint8_t port; /* of the switch; 0: the switch itself */
	bool sends_only;
	bool left_out; /* result: no tree that serves most members reaches it */
};

struct mcast_group {
	lid_t mlid;
	int32_t root; /* its present root, or -1 */
	struct mcast_member *members;
	size_t num_members;
	/* The present entries of switches for the MLID, by switch and position: if the root is
	 * unknown, the root is chosen with which most of them stay. */
	struct mcast_mask *held;
	size_t num_held;
};

struct mcast_tree {
	int32_t root; /* -1: no member is served */
	bool strays;  /* not all members climb to it, though heights count */
	uint32_t left_out;
	size_t num_masks;
	struct mcast_mask *masks; /* by switch and position; free() */
};

/* Computes the trees of count groups into trees[0 .. count - 1]; the caller frees their masks. */
void mcast_trees(const struct mcast_ways *ways, struct mcast_group *groups, size_t count,
		 struct work_pool *pool, struct mcast_tree *trees);

/* The parent of a switch in a tree: the next switch on the way to the root. *port is the port that
 * leads there. -1: the switch is the root, or there is no way. */
int32_t mcast_parent(const struct mcast_ways *ways, const struct mcast_tree *tree, uint32_t sw,
		     uint8_t *port);

#endif
