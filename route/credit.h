/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The check for credit loops: links have finite buffers, and a packet holds its buffer until the
 * next buffer on its way is free. If the links of paths wait for each other in a cycle, on one VL,
 * traffic can stop forever. Cost: one visit for each (switch, LID), and for tables with SLs one
 * walk for each (switch, LID). Checks tables of any engine. Any thread.
 *
 * The absence of cycles has a proof: an order of links in which every path ascends. It holds for
 * later tables whose paths keep to it, so that only changed entries are checked.
 */
#ifndef ROUTE_CREDIT_H
#define ROUTE_CREDIT_H

#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"
#include "route/check.h"

enum { CREDIT_EXAMPLE_MAX = 8 };

struct credit_report {
	uint32_t channels; /* links between switches, one for each direction and VL */
	uint32_t loops;	   /* channels that wait, through others, for themselves */
	/* The start of a cycle: switches and their output ports, on this VL. */
	uint32_t length; /* of the whole cycle */
	uint8_t vl;
	struct {
		uint32_t sw;
		uint8_t port;
	} example[CREDIT_EXAMPLE_MAX];
};

/* Paths from every switch count, not only those from hosts: management uses the same VLs. *out is
 * always filled. */
void credit_check(const struct snapshot *snapshot, const struct routes *routes,
		  struct work_pool *pool, struct credit_report *out);

/* The same check, with the proof of before (NULL: none). Leaves a proof in routes->order for later
 * checks; if there is a proof, these tables were proved already. */
void credit_prove(const struct snapshot *snapshot, struct routes *routes,
		  const struct route_judged *before, struct work_pool *pool,
		  struct credit_report *out);

#endif
