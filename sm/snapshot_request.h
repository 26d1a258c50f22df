/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Snapshots of the present fabric, for the sweep and for commands. Freezing takes some turns of
 * the loop; requests in this time share the snapshot. While the fabric does not change, the last
 * snapshot is used again. Loop thread only.
 */
#ifndef SM_SNAPSHOT_REQUEST_H
#define SM_SNAPSHOT_REQUEST_H

#include "fabric/freeze.h"

/* Takes over the reference; NULL: there will be none, the manager is stopping. */
typedef void snapshot_fn(void *ctx, struct snapshot *snapshot);

struct snapshot_waiter { /* a waiting request, embedded in the struct of its owner */
	struct list link;
	bool as_found;
	snapshot_fn *fn;
	void *ctx;
};

struct snapshot_request {
	struct slices slices;
	struct freeze freeze;
	struct list waiting;
	struct snapshot *last;	/* one of those below; NULL: none yet */
	struct snapshot **made; /* that may still be in use: a reference to each */
	size_t num_made;
	struct slices freeing;
	struct snapshot *old;	  /* that is being freed */
	uint64_t topology, facts; /* the fabric's, when it was taken */
	bool as_found, stopped;
};

/* fabric must outlive it. */
void snapshot_request_init(struct snapshot_request *snapshot_request, struct loop *loop,
			   struct fabric *fabric);
/* Frees unused snapshots, in slices. It holds the last reference itself, so that returning a
 * reference is cheap. */
void snapshot_request_tidy(struct snapshot_request *snapshot_request);
/* Calls all waiters, and all later waiters, without a snapshot. */
void snapshot_request_stop(struct snapshot_request *snapshot_request);
/* Frees all snapshots. */
void snapshot_request_done(struct snapshot_request *snapshot_request);
/* Calls fn with a snapshot of the present fabric, now or later. as_found: see struct freeze. */
void snapshot_request_take(struct snapshot_request *snapshot_request, struct snapshot_waiter *wait,
			   bool as_found, snapshot_fn *fn, void *ctx);

#endif
