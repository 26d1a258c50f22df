/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker: checks tables of any engine against a snapshot. For each LID and each switch it
 * follows the tables to the end. They reach the owner of the LID, reach a port that leads
 * elsewhere, or loop. Cost: one visit for each (switch, LID); compared with tables that were
 * checked before, one path for each entry that differs. Any thread.
 */
#ifndef ROUTE_CHECK_H
#define ROUTE_CHECK_H

#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"

/* An example of a fault, for the log. */
struct route_fault {
	uint32_t sw; /* index of a switch that does not reach lid */
	lid_t lid;
};

struct route_report {
	uint64_t pairs;	    /* (switch, LID) pairs checked */
	uint64_t unreached; /* connected, but the tables do not lead there: wrong or missing port */
	uint64_t looping;   /* the path loops */
	uint64_t disconnected; /* no links connect them: no fault of the tables */
	struct route_fault unreached_example,
		looping_example; /* the lowest (lid, switch) of each */
};

/* By switch, the lowest switch to which links connect it: the id of its island. For free(). */
uint32_t *route_islands(const struct snapshot *snapshot);

/* Tables that were checked before. Their report also applies to later tables that have the same
 * entries over the same links, so that only the other entries are checked. */
struct route_judged {
	struct snapshot *snapshot;
	struct routes *routes;
	struct route_report report;
};

/* Checks routes. before saves work and does not change the report; it may be NULL. *out is always
 * filled. */
void route_check(const struct snapshot *snapshot, const struct routes *routes,
		 const struct route_judged *before, struct work_pool *pool,
		 struct route_report *out);

#endif
