/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker: judges tables against a snapshot, whatever engine made them. For each LID and each
 * switch it follows the tables to the end: does it arrive at the owner of the LID, does it run into
 * a port that leads elsewhere, or in a circle? Cost: one visit for each (switch, LID); beside
 * tables that were judged before, one way for each entry that differs. Any thread.
 */
#ifndef ROUTE_CHECK_H
#define ROUTE_CHECK_H

#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"

/* An example of what is wrong, for the log. */
struct route_fault {
	uint32_t sw; /* index of the switch from which lid is not reached */
	lid_t lid;
};

struct route_report {
	uint64_t pairs;	    /* (switch, LID) pairs judged */
	uint64_t unreached; /* connected, but the tables do not lead there: wrong or missing port */
	uint64_t looping;   /* they run in a circle */
	uint64_t disconnected; /* no path of links exists: not the tables' fault */
	struct route_fault unreached_example,
		looping_example; /* the lowest (lid, switch) of each */
};

/* By switch the lowest switch that links connect it with: its island. Free it with free(). */
uint32_t *route_islands(const struct snapshot *snapshot);

/* What was judged before. What it says holds for later tables as far as they have the same entries
 * over the same links, so that only the others are looked at. */
struct route_judged {
	struct snapshot *snapshot;
	struct routes *routes;
	struct route_report report;
};

/* The report is the same whatever was judged before; before may be NULL. */
void route_check(const struct snapshot *snapshot, const struct routes *routes,
		 const struct route_judged *before, struct work_pool *pool,
		 struct route_report *out);

#endif
