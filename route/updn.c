/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engines updn and dnup: paths that go up and then down in any topology, so that no links wait
 * for each other in a cycle, with one VL. updn counts levels from roots, either of a file or
 * nearest to all hosts. dnup counts them from the hosts, which suits fabrics in which some hosts
 * are nearer to the roots than some switches are. Links within a level lead up towards the lower
 * GUID. In fat trees without links within a level both work as ftree.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "route/engine.h"
#include "route/updown.h"

int levels_from_file(const struct cabling *cabling, const struct guid_list *roots, uint16_t **level,
		     char why[ROUTE_WHY_SIZE])
{
	uint32_t *found = mem_array(roots->count, sizeof(*found));
	uint32_t count = 0;

	for (uint32_t i = 0; i < roots->count; i++) {
		int32_t s = cabling_find(cabling, roots->guid[i]);

		if (s >= 0)
			found[count++] = (uint32_t)s;
	}
	if (count)
		*level = tree_levels_from_roots(cabling, found, count);
	else
		snprintf(why, ROUTE_WHY_SIZE,
			 "none of the %u roots of the root GUID file is a switch of this fabric, "
			 "0x%016" PRIx64 " for one: it wants node GUIDs of switches",
			 roots->count, roots->guid[0]);
	free(found);
	return count ? 0 : -ENOENT;
}

static void updn_fill(const struct snapshot *snapshot, struct cabling *cabling, uint16_t *level,
		      const struct route_judged *before, struct work_pool *pool,
		      struct routes *routes)
{
	struct tree *tree = tree_new(cabling, level, true);
	struct updown *updown = updown_new(snapshot, tree, pool);

	updown_fill(updown, before, pool, routes);
	updown_free(updown);
	tree_free(tree);
}

int updn_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE])
{
	struct cabling *cabling = cabling_new(snapshot);
	const struct route_options *options = snapshot->options;
	uint32_t *roots, count;
	uint16_t *level;

	if (options && options->roots.count) {
		int rc = levels_from_file(cabling, &options->roots, &level, why);

		if (rc) {
			cabling_free(cabling);
			return rc;
		}
	} else {
		count = tree_find_roots(cabling, &roots);
		level = tree_levels_from_roots(cabling, roots, count);
		free(roots);
	}
	updn_fill(snapshot, cabling, level, before, pool, routes);
	return 0;
}

int dnup_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE])
{
	struct cabling *cabling = cabling_new(snapshot);

	(void)why; /* any topology is suitable */
	updn_fill(snapshot, cabling, tree_levels_from_leaves(cabling), before, pool, routes);
	return 0;
}
