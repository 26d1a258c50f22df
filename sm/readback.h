/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The readback: while no sweep runs, all values of devices are read again, one item at a time, so
 * that each is read within options.readback_s. If a value differs, because the device lost it or
 * another program changed it, the difference is logged, and a sweep of that node repairs it. So no
 * heavy sweeps at an interval are necessary.
 *
 * Values that no bring-up needs, the tables of ports (read_tables.h), are read here for the first
 * time as well. Those of end ports follow the sweep that brought them up, some ports at a time.
 * Those of other switch ports, which are far more, follow with the round. Queries see them in the
 * next view, which the readback publishes from time to time.
 *
 * Called by sm.c; only a MASTER reads. Loop thread only.
 */
#ifndef SM_READBACK_H
#define SM_READBACK_H

#include "fabric/fabric.h"
#include "fabric/table_pool.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "sm/snapshot_request.h"

struct sm;

struct readback {
	struct loop_timer timer;
	guid_t *nodes; /* of this round, in ascending order */
	size_t num_nodes, at;
	unsigned item;	   /* the next item of the node */
	uint64_t total;	   /* SMPs of this round */
	unsigned cost;	   /* SMPs of the last item */
	uint64_t sweep;	   /* the present requests were sent after this sweep */
	uint64_t asked_us; /* and at this time */
	bool under_way;

	struct table_pool pool;
	size_t search_at;   /* position in the roster of the search for end ports */
	bool searching;	    /* for those without tables */
	unsigned reading;   /* ports whose tables are being read */
	uint64_t forgotten; /* fabric->forgotten when the search began */
	struct snapshot_waiter snapshot_wait;
	bool news;	   /* tables that the view does not have */
	bool show;	   /* all tables of the search were read, or a round is over */
	bool showing;	   /* the next view is being made */
	uint64_t shown_us; /* when it was last */

	uint64_t reads, rounds, differences; /* since the start; reads: SMPs */
	struct log_limit limit;
};

/* Prepares the readback; it does not run yet. */
void readback_init(struct sm *sm);
/* Runs the readback with the configured interval; harmless if it runs already. */
void readback_start(struct sm *sm);
/* Stops the readback. */
void readback_done(struct sm *sm);

#endif
