/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of the store, and the only door to SQLite: one table of rows (kind, key, value), which
 * are bytes here; what they mean is fabric/registry.h's. Used by sm/store.c: before the loop runs
 * from its thread, then from the one worker of the store. One thread at a time, and no log.
 *
 * The file is in WAL mode with synchronous=FULL: a commit is in the log and the log is on the disk
 * (fsync) before store_db_write() returns, so what it has written survives the end of the process,
 * of the kernel and of the power. A batch is one transaction: all of it is there or none.
 *
 * One process has the file at a time (locking_mode=EXCLUSIVE). Each row has a checksum, for SQLite
 * has none: a bit that turned on the disk must not become somebody's LID.
 */
#ifndef SM_STORE_DB_H
#define SM_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STORE_DB_VERSION = 6, /* PRAGMA user_version of what this program writes */
	STORE_KEY_MAX = 64,
	STORE_VALUE_MAX = 1024,
	STORE_WHY_SIZE = 256,
};

struct store_db;

struct store_db_row {
	unsigned kind;
	const uint8_t *key, *value; /* value NULL: there is to be no such row */
	size_t key_size, value_size;
};

/*
 * Opens the file, makes it (mode 0600) if there is none, brings one of an older version to this
 * one. 0, or -errno and the reason in words: -EBUSY: another process has it; -EUCLEAN: it is
 * damaged; -EPROTONOSUPPORT: it is of a newer version, or another program's, and was not touched.
 */
int store_db_open(const char *path, struct store_db **out, char why[STORE_WHY_SIZE]);
void store_db_close(struct store_db *db); /* NULL is harmless */

/* Calls row() for each, in the order of kind and key; its bytes are borrowed. Errors as above, also
 * when row() returns one: -EUCLEAN when a row is not as it was written. */
int store_db_read(struct store_db *db, int (*row)(void *ctx, const struct store_db_row *row),
		  void *ctx, char why[STORE_WHY_SIZE]);

/* One transaction: next() gives rows until it returns false. anew: what was there before goes. When
 * it fails nothing of it is there, and the file is to be closed. */
int store_db_write(struct store_db *db, bool anew,
		   bool (*next)(void *ctx, struct store_db_row *row), void *ctx,
		   char why[STORE_WHY_SIZE]);

/* Bytes of the file and its log. */
uint64_t store_db_size(const char *path);

/* Renames the file and its log to PATH.damaged-N, the first N that is free. The new name is
 * written to name, which has room for size. 0 or -errno. */
int store_db_set_aside(const char *path, char *name, size_t size);

#endif
