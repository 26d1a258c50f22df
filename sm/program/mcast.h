/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast: the wanted trees. A job (route/mcast.h) computes the trees of groups that changed in
 * the registry. The result becomes the wanted tables of switches (fabric/mft.h), and mft.c writes
 * them. Joins and leaves are collected for some milliseconds and need no sweep. A sweep with new
 * routes computes all trees again. Each group keeps its root, and so most of its tree. After a
 * start the roots are taken from the tables of the switches, so that a restart changes nothing.
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

/* The input of the trees; both NULL: there are no routes yet. */
struct mcast_base {
	struct routes *routes;	   /* the wanted tables */
	struct snapshot *snapshot; /* the snapshot of these routes */
};

/* Queries and notifications of the sweep. */
struct mcast_owner {
	struct mcast_base (*base)(const void *ctx);
	/* Whether the fabric has been published to the SA since the start. */
	bool (*is_published)(const void *ctx);
	/* Whether trees may be written now: no sweep runs, and this manager is MASTER. */
	bool (*is_between_sweeps)(const void *ctx);
	/* Called after tables were written between two sweeps; failed: a switch did not accept
	 * its table. */
	void (*written)(void *ctx, bool failed);
	void *ctx;
};

/* All parameters must outlive the result; owner is copied. */
struct mcast *mcast_new(struct loop *loop, struct work_pool *pool, struct registry *registry,
			struct fabric *fabric, struct program *program,
			const struct mcast_owner *owner);
/* Must be called after the fabric is freed, because cancelled requests still use it. */
void mcast_free(struct mcast *mcast);

/* Stops the writes between two sweeps: a sweep begins, or this manager is no longer MASTER. */
void mcast_leave_off(struct mcast *mcast);
/* The phase of a sweep: all trees follow the routes and the registry. done(arg) is called
 * later. */
void mcast_phase(struct mcast *mcast, loop_fn *done, void *arg);
/* The sweep has ended: changes since its phase are processed. */
void mcast_sweep_ended(struct mcast *mcast);
/* Another manager may write or have written the tables: all trees are computed again. */
void mcast_begin_anew(struct mcast *mcast);

/* The port of a switch towards the root of the tree; NULL: the switch is the root or not in the
 * tree. */
struct port *mcast_up(const struct mcast *mcast, struct node *node, lid_t mlid);
/* Whether the tree of an MLID moves or is partly unknown, so that old and new entries together
 * may form a loop. */
bool mcast_is_careful(const struct mcast *mcast, lid_t mlid);
/* Sets this for the MLIDs of the block that begins with first. */
void mcast_be_careful(struct mcast *mcast, lid_t first);
/* Sets this for all MLIDs. */
void mcast_be_careful_of_all(struct mcast *mcast);

/* The tree of an MLID, and the snapshot of its indexes, both borrowed until the next tree; NULL: no
 * tree. */
const struct mcast_tree *mcast_tree(const struct mcast *mcast, lid_t mlid,
				    struct snapshot **snapshot);

#endif
