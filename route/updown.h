/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables in which every path goes up and then down, from a tree (tree.h): what ftree, updn and dnup
 * share. Where no such path exists, as after a fault between a leaf and a spine, the way leads over
 * a switch from which there is one; so everything that links connect is reached if it can be done
 * without a circle of waiting links, which is looked at before such detours are let in.
 */
#ifndef ROUTE_UPDOWN_H
#define ROUTE_UPDOWN_H

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"
#include "route/check.h"
#include "route/dest_index.h"
#include "route/tree.h"

struct updown;

/* Distances along paths up and down. Sets the tree's divisors. It stays the caller's, and outlives
 * the result. */
struct updown *updown_new(const struct snapshot *snapshot, struct tree *tree,
			  struct work_pool *pool);
void updown_free(struct updown *updown);

/* Pairs of different leaves (hosts, level 0), and how many of these that links connect have no path
 * up and down. */
void updown_count(const struct updown *updown, uint64_t *pairs, uint64_t *without);

/* Fills every row of routes. before is for the check for credit loops, and may be NULL. */
void updown_fill(struct updown *updown, const struct route_judged *before, struct work_pool *pool,
		 struct routes *routes);

#endif
