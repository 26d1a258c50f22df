/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of the store, and the only door to SQLite: one table of rows (kind, key, value), which
 * are bytes here; what they mean is store/registry.h's. Used by store/store.c: before the loop runs
 * from its thread, then from the one worker of the store. One thread at a time, and no log.
 *
 * The file is in WAL mode with synchronous=FULL: a commit is in the log and the log is on the disk
 * (fsync) before store_db_write() returns, so what it has written survives the end of the process,
 * of the kernel and of the power. A batch is one transaction: all of it is there or none.
 *
 * One process has the file at a time (locking_mode=EXCLUSIVE). Each row has a checksum, because
 * SQLite has none: a bit that flipped on the disk must not become the LID of a port. One more row
 * holds the totals: the number of rows of each kind, and the sum of their checksums. So missing
 * rows are detected, too.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STORE_DB_VERSION = 7, /* PRAGMA user_version of what this program writes */
	STORE_DB_KINDS = 32,  /* kinds are 1 to 31 */
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

/* The number of rows of each kind, and the sum of their checksums. */
struct store_db_totals {
	bool known;	     /* false: the row with the totals is damaged or missing */
	uint64_t generation; /* as the last store_db_write() gave it; 0: a new file */
	struct store_db_total {
		uint64_t count, sum;
	} kinds[STORE_DB_KINDS];
};

/* Receives the rows of a file; their bytes are borrowed. good: the checksum is right. bad: it is
 * wrong, so no part of the row is reliable, not even its kind. Errors of good(), which are -errno,
 * end the reading. */
struct store_db_sink {
	int (*good)(void *ctx, const struct store_db_row *row);
	void (*bad)(void *ctx, const struct store_db_row *row);
	void *ctx;
};

/*
 * Opens the file, makes it (mode 0600) if there is none, brings one of an older version to this
 * one. 0, or -errno and the reason in words: -EBUSY: another process has it; -EUCLEAN: it is
 * damaged; -EPROTONOSUPPORT: it is of a newer version, or another program's, and was not touched.
 */
int store_db_open(const char *path, struct store_db **out, char why[STORE_WHY_SIZE]);
void store_db_close(struct store_db *db); /* NULL is harmless */

/* The totals of the file when it was opened, plus all rows written since. */
const struct store_db_totals *store_db_totals(const struct store_db *db);
/* The checksum that belongs to a row. */
uint64_t store_db_row_sum(const struct store_db_row *row);
/* Adds a row that was read to totals. */
void store_db_count(struct store_db_totals *totals, const struct store_db_row *row);

/* Gives each row once, in the order of kind and key. Errors as above. */
int store_db_read(struct store_db *db, const struct store_db_sink *sink, char why[STORE_WHY_SIZE]);

/* Reads all readable rows of a damaged file without writing to it: around each damaged page from
 * both sides. Rows come in any order, and may come more than once. totals: as stored in the file.
 */
void store_db_salvage(const char *path, const struct store_db_sink *sink,
		      struct store_db_totals *totals);

/* One transaction: next() gives rows until it returns false. whole: removes all earlier rows first.
 * generation is written with the rows. An error leaves the file as it was; then close it. */
int store_db_write(struct store_db *db, bool whole, uint64_t generation,
		   bool (*next)(void *ctx, struct store_db_row *row), void *ctx,
		   char why[STORE_WHY_SIZE]);

/* Whether there is, or may be, such a file: false only where that is certain. */
bool store_db_exists(const char *path);
/* Bytes of the file and its log. */
uint64_t store_db_size(const char *path);

/* Renames the file and its log to PATH.damaged-N, the first N that is free. The new name is
 * written to name, which has room for size. 0 or -errno. */
int store_db_set_aside(const char *path, char *name, size_t size);
/* Whether one was set aside before. */
bool store_db_was_set_aside(const char *path);

#endif
