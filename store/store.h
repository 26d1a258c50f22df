/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The store keeps the registry (store/registry.h) in files of the state directory. So acknowledged
 * changes survive a crash of the daemon or the machine, and a loss of power (store/db.h has the
 * conditions). It owns the files and a worker, the only thread that uses them while the loop runs.
 * All functions here are called on the loop thread.
 *
 * The changes of one turn of the loop, or during the write of the previous batch, form one batch
 * and one commit. They are durable when it is written, and the registry then calls its waiters. A
 * batch is written at the end of the turn of its first change. After another batch it pauses first
 * for twice the time of that batch, 5 ms at most, so that a flood of changes costs few commits. One
 * unit of changes (registry_together()) is one batch, however many turns it takes.
 *
 * If the files cannot be written, the store is degraded. The registry then continues from memory
 * and all changes count as durable: a subnet without a manager is worse than a manager that may
 * lose data. This is logged and shown by status. The store retries every few seconds, writes
 * everything again, and has then recovered. A damaged file is renamed and replaced by a new file. A
 * file of a newer version is not touched.
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

/* Called for each record of a file that could not be read at the start and is read later. Settings
 * are first, then the records kind by kind. known: the registry has another record with the same
 * key, which stays unless fits drops it. Otherwise the record is about to be put, and fits may
 * change it. Returns false to leave the record out. */
typedef bool store_fits_fn(void *ctx, enum registry_kind kind, void *record, bool known);
/* Sets the function that checks records that are read late; NULL: all fit. */
void store_on_late(struct store *store, store_fits_fn *fits, void *ctx);

/* Writes all pending changes, however long that takes. After that the store makes no more changes
 * durable. */
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
