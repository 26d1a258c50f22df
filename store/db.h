/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file of the store: a table of rows (kind, key, value). Key and value are bytes here;
 * store/registry.h defines them. Only this file uses SQLite. Callers: store/store.c, before the
 * loop runs on its thread, then on the worker of the store. One thread at a time. Nothing here
 * logs.
 *
 * The file is in WAL mode with synchronous=FULL. A commit is in the log, and the log is on the disk
 * (fsync), before store_db_write() returns. So written rows survive a crash of the process or of
 * the kernel, and a loss of power. A batch is a single transaction.
 *
 * Only one process can open the file at a time (locking_mode=EXCLUSIVE). Each row has a checksum,
 * because SQLite has none: a flipped bit on the disk must not become the LID of a port. A further
 * row holds the totals: the number of rows of each kind, and the sum of their checksums. So missing
 * rows are detected, too.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STORE_DB_VERSION = 7, /* PRAGMA user_version that this program writes */
	STORE_DB_KINDS = 32,  /* kinds are 1 to 31 */
	STORE_KEY_MAX = 64,
	STORE_VALUE_MAX = 1024,
	STORE_WHY_SIZE = 256,
};

struct store_db;

struct store_db_row {
	unsigned kind;
	const uint8_t *key, *value; /* value NULL: removes the row */
	size_t key_size, value_size;
};

/* The number of rows of each kind, and the sum of their checksums. */
struct store_db_totals {
	bool known;	     /* false: the row with the totals is damaged or missing */
	uint64_t generation; /* as passed to the last store_db_write(); 0: a new file */
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
 * Opens the file. Creates it (mode 0600) if it is missing, and upgrades an older version. Returns
 * 0, or -errno with the reason in why: -EBUSY: another process has the file open. -EUCLEAN: the
 * file is damaged. -EPROTONOSUPPORT: the file has a newer version, or belongs to another program;
 * it is unchanged.
 */
int store_db_open(const char *path, struct store_db **out, char why[STORE_WHY_SIZE]);
void store_db_close(struct store_db *db); /* NULL is harmless */

/* The totals of the file when it was opened, plus all rows written since. */
const struct store_db_totals *store_db_totals(const struct store_db *db);
/* The checksum that belongs to a row. */
uint64_t store_db_row_sum(const struct store_db_row *row);
/* Adds a row that was read to totals. */
void store_db_count(struct store_db_totals *totals, const struct store_db_row *row);

/* Passes each row to the sink once, ordered by kind and key. Errors as above. */
int store_db_read(struct store_db *db, const struct store_db_sink *sink, char why[STORE_WHY_SIZE]);

/* Reads all readable rows of a damaged file without writing to it: around each damaged page from
 * both sides. Rows come in any order, and may come more than once. totals: as stored in the file.
 */
void store_db_salvage(const char *path, const struct store_db_sink *sink,
		      struct store_db_totals *totals);

/* Writes the rows of next(), until it returns false, in a single transaction. whole: removes all
 * earlier rows first. generation is written with the rows. After an error the file is unchanged;
 * close it then. */
int store_db_write(struct store_db *db, bool whole, uint64_t generation,
		   bool (*next)(void *ctx, struct store_db_row *row), void *ctx,
		   char why[STORE_WHY_SIZE]);

/* Whether the file exists or may exist: false only if it is certainly missing. */
bool store_db_exists(const char *path);
/* Bytes of the file and its log. */
uint64_t store_db_size(const char *path);

/* Renames the file and its log to PATH.damaged-N, with the first free N. Writes the new path to
 * name, which has size bytes. Returns 0 or -errno. */
int store_db_set_aside(const char *path, char *name, size_t size);
/* Whether there is a renamed damaged file of this path. */
bool store_db_was_set_aside(const char *path);

#endif
