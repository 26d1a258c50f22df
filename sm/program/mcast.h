/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast: which trees there should be. Reads the registry's groups and members, has the trees of
 * those that changed computed by a job (route/mcast.h), and puts the result into what switches
 * should hold (fabric/mft.h); mft.c writes it. Joins and leaves are gathered for some
 * milliseconds and need no sweep. A sweep that has new routes computes all trees anew; with its
 * root each group keeps most of what it had. The first time, roots are found out from what switches
 * hold, so that a restart changes nothing.
 *
 * Used by sm.c, sweep.c and programming. Loop thread only.
 */
#ifndef SM_PROGRAM_MCAST_H
#define SM_PROGRAM_MCAST_H

#include "fabric/fabric.h"
#include "lib/loop.h"
#include "route/mcast.h"

struct mcast;
struct program;
struct work_pool;

/* What trees are computed from; both NULL: there are no routes yet. */
struct mcast_base {
	struct routes *routes;	   /* what switches should hold */
	struct snapshot *snapshot; /* what these were computed from */
};

/* The sweep, to which multicast belongs. */
struct mcast_owner {
	struct mcast_base (*base)(const void *ctx);
	/* Whether the fabric has been published to the SA since the start. */
	bool (*is_published)(const void *ctx);
	/* Whether trees may be written now: no sweep runs, and this manager is MASTER. */
	bool (*is_between_sweeps)(const void *ctx);
	/* Tables were written between two sweeps; failed: some switch did not take its own. */
	void (*written)(void *ctx, bool failed);
	void *ctx;
};

/* All parameters outlive it; owner is copied. */
struct mcast *mcast_new(struct loop *loop, struct work_pool *pool, struct registry *registry,
			struct fabric *fabric, struct program *program,
			const struct mcast_owner *owner);
/* After the fabric: requests that are cancelled then ask for it. */
void mcast_free(struct mcast *mcast);

/* What is being written between two sweeps goes no further: a sweep begins, which has a phase for
 * it, or this manager is not MASTER any more. */
void mcast_leave_off(struct mcast *mcast);
/* A sweep's phase: all trees follow the routes and the registry. done(arg) is called later. */
void mcast_phase(struct mcast *mcast, loop_fn *done, void *arg);
void mcast_sweep_ended(struct mcast *mcast);
/* Another manager may have written since, or will. */
void mcast_begin_anew(struct mcast *mcast);

/* Towards the root of an MLID's tree: a switch's port; NULL: it is the root, or in no tree. */
struct port *mcast_up(const struct mcast *mcast, struct node *node, lid_t mlid);
/* Its tree moves, or something about it is not known: old and new together may be no tree. */
bool mcast_is_careful(const struct mcast *mcast, lid_t mlid);
/* For the MLIDs of the block that begins with this one. */
void mcast_be_careful(struct mcast *mcast, lid_t first);
void mcast_be_careful_of_all(struct mcast *mcast);

/* The tree of an MLID, with the snapshot to which its indexes belong; NULL when it has none. */
const struct mcast_tree *mcast_tree(const struct mcast *mcast, lid_t mlid,
				    struct snapshot **snapshot);

#endif
