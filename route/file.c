/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine file: tables from a dump, unchanged, for a fabric that was routed by hand or by
 * another manager. They do not react to faults; the checker decides whether they are still usable,
 * else the chain continues. A dump that lacks a switch of this fabric is for another fabric.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "route/engine.h"

static const struct given_table *find_table(const struct route_options *options, guid_t guid)
{
	for (uint32_t t = 0; t < options->num_tables; t++)
		if (options->tables[t].sw == guid)
			return &options->tables[t];
	return NULL;
}

/* Only LIDs with an owner: an entry for any other LID leads nowhere. */
static struct lft *file_make_row(const struct snapshot *snapshot, const struct given_table *table)
{
	struct lft *row = lft_new(snapshot->lid_top);

	for (uint32_t lid = 1; lid <= snapshot->lid_top && lid < table->lids; lid++)
		if (snap_owner_switch(snapshot, snapshot->owners[lid]) >= 0)
			row->port[lid] = table->port[lid];
	return row;
}

int file_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE])
{
	const struct route_options *options = snapshot->options;
	uint32_t missing = 0, first = 0;

	(void)before; /* does not call a checker */
	(void)pool;   /* copying is not worth a worker */
	if (!options || !options->num_tables) {
		snprintf(why, ROUTE_WHY_SIZE, "no tables were given (lfts_file)");
		return -ENOENT;
	}
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		const struct given_table *table = find_table(options, snapshot->switches[s].guid);

		if (table)
			routes->lft[s] = file_make_row(snapshot, table);
		else if (missing++ == 0)
			first = s;
	}
	if (!missing)
		return 0;
	snprintf(why, ROUTE_WHY_SIZE,
		 "the dump has no table for %u of %u switches, 0x%016" PRIx64
		 " for one: it is of another fabric",
		 missing, snapshot->num_switches, snapshot->switches[first].guid);
	return -ENOENT;
}
