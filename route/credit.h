/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The check for credit loops: links have finite buffers, and a packet holds the one it is in until
 * the next one on its way has room. If the links on paths wait for each other in a circle, on one
 * VL, traffic can stop for ever. Cost: one visit for each (switch, LID), and for tables with SLs
 * one walk for each (switch, LID). Judges tables, whatever engine made them. Any thread.
 *
 * That there is no circle has a proof: an order of links in which every path goes onwards. It holds
 * for later tables whose paths keep to it, so that beside what was proved only entries that differ
 * are looked at.
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
	uint32_t loops;	   /* channels that wait, over others, for themselves */
	/* The start of one circle: switches and the ports they leave by, on this VL. */
	uint32_t length; /* of the whole circle */
	uint8_t vl;
	struct {
		uint32_t sw;
		uint8_t port;
	} example[CREDIT_EXAMPLE_MAX];
};

/* Paths from every switch count, not only those from hosts: management goes over the same VLs. */
void credit_check(const struct snapshot *snapshot, const struct routes *routes,
		  struct work_pool *pool, struct credit_report *out);

/* The same report, whatever was judged before (NULL: nothing was). Leaves the proof in
 * routes->order for those that follow, and uses that of before. Where it is there already, these
 * rows have been proved. */
void credit_prove(const struct snapshot *snapshot, struct routes *routes,
		  const struct route_judged *before, struct work_pool *pool,
		  struct credit_report *out);

#endif
