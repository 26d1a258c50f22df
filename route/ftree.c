/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine ftree: fat trees, complete or with faults. Levels count from the leaves, or from the
 * roots of a file; links within a level are not used. In a complete tree every shift permutation
 * runs without two flows on one link (route/updown.c explains why). A topology without levels in
 * which most leaves reach each other is refused: it is no tree.
 *
 * OpenSM's option files have the same meaning, with two differences. Hosts that are not compute
 * nodes are also routed, balanced separately. And max_reverse_hops is not needed, because all
 * connected switches are reached (route/updown.c, detours).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "route/engine.h"
#include "route/updown.h"

/* Detours are for few pairs; if many pairs needed them, other engines are better. */
enum { WITHOUT_PERCENT_MAX = 10 };

static int refuse_odd(const struct updown *updown, const struct tree *tree,
		      char why[ROUTE_WHY_SIZE])
{
	uint64_t pairs, without;

	updown_count(updown, &pairs, &without);
	if (without * 100 <= pairs * WITHOUT_PERCENT_MAX)
		return 0;
	snprintf(why, ROUTE_WHY_SIZE,
		 "no fat tree: of %" PRIu64 " pairs of leaves %" PRIu64
		 " have no path up and down in the %u levels found; a root GUID file can name the "
		 "spines",
		 pairs, without, tree->levels);
	return -EINVAL;
}

int ftree_compute(const struct snapshot *snapshot, const struct route_judged *before,
		  struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE])
{
	struct cabling *cabling = cabling_new(snapshot);
	const struct route_options *options = snapshot->options;
	struct updown *updown;
	struct tree *tree;
	uint16_t *level;
	int rc = 0;

	if (options && options->roots.count)
		rc = levels_from_file(cabling, &options->roots, &level, why);
	else
		level = tree_levels_from_leaves(cabling);
	if (rc) {
		cabling_free(cabling);
		return rc;
	}
	tree = tree_new(cabling, level, false);
	updown = updown_new(snapshot, tree, pool);
	rc = refuse_odd(updown, tree, why);
	if (!rc)
		updown_fill(updown, before, pool, routes);
	updown_free(updown);
	tree_free(tree);
	return rc;
}
