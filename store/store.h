/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The store: keeps the registry (store/registry.h) in files of the state directory, so that
 * acknowledged changes survive the end of the daemon, of the machine and of its power (store/db.h
 * has the conditions). It owns the files and a worker of its own, the only thread that uses them
 * while the loop runs. All functions here are called on the loop thread.
 *
 * The changes of one turn of the loop, or during the write of the batch before, form one batch and
 * one commit. They are durable when it is written, and the registry then calls its waiters. A
 * batch is written at the end of the turn of its first change. After another batch it pauses first
 * for twice the time of that batch, 5 ms at most, so that a flood of changes costs few commits.
 * One unit of changes (registry_together()) is one batch, however many turns it takes.
 *
 * If the file cannot be written, the store is degraded: the registry continues from memory and all
 * changes count as durable, because a subnet without a manager is worse than a manager that may
 * lose data. This is logged and shown by status. The store retries every few seconds, writes
 * everything again, and has then recovered. A damaged file is renamed, and a new one begun. A file
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
