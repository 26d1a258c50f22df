/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast trees: a snapshot and its routes in, port masks out. The tree of a group is that part
 * of the unicast ways to one switch, its root, which the members need. Ways to one destination are
 * a tree by themselves, so there is no circle; who joins adds the way from its switch up to where
 * the tree is met, and no other way changes; what lies above the last branching is cut off. Where
 * the engine has an order of heights, roots are taken to which all members climb: packets climb and
 * then descend, as those of unicast do, and no links wait for each other in a circle. Where some
 * members climb to no such root the tree strays: to be reached comes first.
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

/* How deep each switch stands below each other one as a root. */
struct mcast_ways;

/* snapshot and routes have to outlive it. */
struct mcast_ways *mcast_ways_new(const struct snapshot *snapshot, const struct routes *routes,
				  struct work_pool *pool);
void mcast_ways_free(struct mcast_ways *ways); /* NULL is harmless */

/* The ports 16 * position .. 16 * position + 15 of a switch to which it sends copies. */
struct mcast_mask {
	uint32_t sw; /* of the snapshot */
	uint8_t position;
	uint16_t ports; /* bit i: port 16 * position + i */
};

struct mcast_member {
	uint32_t sw;  /* to which its port is cabled, or which it is */
	uint8_t port; /* of the switch; 0: the switch itself */
	bool sends_only;
	bool left_out; /* result: no tree that serves most reaches it */
};

struct mcast_group {
	lid_t mlid;
	int32_t root; /* the one that it has, or -1 */
	struct mcast_member *members;
	size_t num_members;
	/* What switches hold for the MLID already, by switch and position: where the root is not
	 * known a root is chosen with which most of it stays. */
	struct mcast_mask *held;
	size_t num_held;
};

struct mcast_tree {
	int32_t root; /* -1: no member is served */
	bool strays;  /* not all climb to it, where heights count */
	uint32_t left_out;
	size_t num_masks;
	struct mcast_mask *masks; /* by switch and position; free() */
};

/* Computes the trees of groups, one each. */
void mcast_trees(const struct mcast_ways *ways, struct mcast_group *groups, size_t count,
		 struct work_pool *pool, struct mcast_tree *trees);

/* The way from a switch towards the root of a tree: the next switch, -1 at the root and where there
 * is none; port is the one that leads there. */
int32_t mcast_parent(const struct mcast_ways *ways, const struct mcast_tree *tree, uint32_t sw,
		     uint8_t *port);

#endif
