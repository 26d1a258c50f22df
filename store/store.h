/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The store: keeps the registry (store/registry.h) in one file, weft.db in the state directory, so
 * that what was acknowledged outlives the daemon, the machine and its power (store/db.h says
 * what that rests on). It owns the file and a worker of its own, the only thread that touches the
 * file once the loop runs; everything here is called on the loop thread.
 *
 * What is changed within a turn of the loop, or while the batch before it is being written, is one
 * batch and one commit; its changes are durable when that is done, and the registry then lets go
 * who waits for them. A batch begins to be written at the end of the turn of its first change. When
 * the batch before it has just been written, it begins after a rest of twice the time which that
 * took, 5 ms at most: a flood of changes then costs few commits.
 *
 * What belongs together (registry_together()) is one batch however many turns it takes.
 *
 * When the file cannot be written the store is degraded: the registry goes on from memory and
 * everything counts as durable, since a subnet without a manager is worse than one whose manager
 * may forget. That is logged and shown by status. It tries again every some seconds, writes
 * everything anew, and is well again. A file that is damaged is set aside, and a new one begun. One
 * of a newer version is not touched.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "lib/control.h"
#include "lib/loop.h"
#include "lib/work.h"
#include "store/db.h"
#include "store/registry.h"

struct store;

/* Opens weft.db in dir, which is created if missing, and reads it before the loop runs. Returns
 * 0, also for a degraded store, or -EBUSY if another process has the file, with reason and
 * remedy in why. */
int store_open(struct loop *loop, const char *dir, struct store **out, char why[STORE_WHY_SIZE]);

/* Puts the stored records into the registry at once, and keeps the registry from now on. The
 * registry must outlive store_flush(), but not the store. */
void store_keep(struct store *store, struct registry *registry);

/* Asked, where it is given, of each record of a file that could not be read at the start and comes
 * late, when something else has been registered; settings first, then kind by kind. known: the
 * registry has another with the same key, which stays unless fits drops it. Else record is about to
 * be put there, and may be changed; false: it is left out. */
typedef bool store_fits_fn(void *ctx, enum registry_kind kind, void *record, bool known);
/* Sets the judge of records that are read late; see store_fits_fn. */
void store_on_late(struct store *store, store_fits_fn *fits, void *ctx);

/* Writes all pending changes, however long that takes, and ends the store's duty as keeper. */
void store_flush(struct store *store);
/* Frees the store; pending changes are lost without store_flush(). NULL is harmless. */
void store_free(struct store *store);

/* The state directory; borrowed. */
const char *store_dir(const struct store *store);
/* Whether the store cannot be written, so that new registrations are in memory only. */
bool store_degraded(const struct store *store);
/* For jobs on other files in the state directory, which run one after the other. NULL after
 * store_flush(). */
struct work_pool *store_worker(const struct store *store);
/* For weftctl status; a new reference. */
json_t *store_status(const struct store *store);

#endif
