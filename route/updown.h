/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables in which every path goes up and then down, from a tree (tree.h): shared by ftree, updn and
 * dnup. If no such path exists, as after a fault between a leaf and a spine, the path leads over a
 * switch from which there is one. So all connected switches are reached, unless that needs a cycle
 * of waiting links: these detours are checked before they are used.
 */
#ifndef ROUTE_UPDOWN_H
#define ROUTE_UPDOWN_H

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"
#include "route/check.h"
#include "route/dest_index.h"
#include "route/engine.h"
#include "route/tree.h"

struct updown;

/* Distances along paths up and down. Sets the tree's divisors. The caller keeps the tree, which
 * must outlive the result. */
struct updown *updown_new(const struct snapshot *snapshot, struct tree *tree,
			  struct work_pool *pool);
/* Does not free the tree. Not for NULL. */
void updown_free(struct updown *updown);

/* Counts the pairs of different leaves (with hosts, level 0), and those that links connect but that
 * have no path up and down. */
void updown_count(const struct updown *updown, uint64_t *pairs, uint64_t *without);

/* Fills every row of routes. before is for the check for credit loops, and may be NULL. */
void updown_fill(struct updown *updown, const struct route_judged *before, struct work_pool *pool,
		 struct routes *routes);

/* Levels from a root GUID file, of which *level is for tree_new(). GUIDs of absent switches are
 * ignored, because spines may be off. Returns 0, or -ENOENT with one line in why: no root is
 * present, so the file is for another fabric. Defined in updn.c. */
int levels_from_file(const struct cabling *cabling, const struct guid_list *roots, uint16_t **level,
		     char why[ROUTE_WHY_SIZE]);

#endif
