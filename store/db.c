/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The calls of SQLite: store/db.h. steps[i] upgrades a file from version i to i + 1, and a new file
 * runs all steps. If SQLite finds invalid bytes, the file is damaged (-EUCLEAN). An error of the
 * system is another errno.
 */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/be.h"
#include "lib/hash.h"
#include "lib/mem.h"

enum {
	APPLICATION_ID = 0x77656674, /* tells our file from other programs' */
	DAMAGED_MAX = 100,
	TOTALS_KIND = 0, /* of the row that holds the totals; its key is one byte of 0 */
	TOTALS_SIZE = 8 + STORE_DB_KINDS * 16,
	ROW_BYTES_MIN = 8, /* the least space of a row in a file */
};

_Static_assert((int)TOTALS_SIZE <= (int)STORE_VALUE_MAX, "the totals fit into a row");

static const char *const companions[] = {"", "-wal", "-shm", "-journal"};

struct store_db {
	sqlite3 *sqlite;
	sqlite3_stmt *put, *drop, *find;
	struct store_db_totals totals;
};

/* Errors */

static int error_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_ERROR: /* a table is missing, or has other columns */
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return -EUCLEAN;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_NOMEM:
		abort(); /* out of memory aborts everywhere */
	default:
		return -EIO;
	}
}

/* The text of SQLite's error, and the system's if it refused a call. */
static int explain(sqlite3 *sqlite, int code, char why[STORE_WHY_SIZE])
{
	int error = error_of(code), system = sqlite3_system_errno(sqlite);
	bool told = error == -EIO || error == -EACCES || error == -ENOSPC || error == -EROFS;

	if (error == -EBUSY)
		snprintf(why, STORE_WHY_SIZE, "another process uses it");
	else if (told && system)
		snprintf(why, STORE_WHY_SIZE, "%s (%s)", strerror(system), sqlite3_errstr(code));
	else
		snprintf(why, STORE_WHY_SIZE, "%s", sqlite3_errmsg(sqlite));
	return error;
}

static int db_run(struct store_db *db, const char *sql, char why[STORE_WHY_SIZE])
{
	int code = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : explain(db->sqlite, code, why);
}

static int db_prepare(struct store_db *db, const char *sql, sqlite3_stmt **out,
		      char why[STORE_WHY_SIZE])
{
	int code = sqlite3_prepare_v2(db->sqlite, sql, -1, out, NULL);

	return code == SQLITE_OK ? 0 : explain(db->sqlite, code, why);
}

/* Runs a query that returns a single number. */
static int db_query_number(struct store_db *db, const char *sql, int64_t *out,
			   char why[STORE_WHY_SIZE])
{
	sqlite3_stmt *query;
	int error = db_prepare(db, sql, &query, why), code;

	if (error)
		return error;
	code = sqlite3_step(query);
	if (code == SQLITE_ROW)
		*out = sqlite3_column_int64(query, 0);
	else
		error = explain(db->sqlite, code, why);
	sqlite3_finalize(query);
	return error;
}

/* Checksums */

/* The sum includes the sizes of key and value, so that bytes cannot move between them. */
static int64_t db_row_sum(const struct store_db_row *row)
{
	uint8_t head[8];
	uint64_t hash = HASH_SEED;

	be32_store(head, row->kind);
	be32_store(head + 4, (uint32_t)row->key_size);
	hash = hash_bytes(hash, head, sizeof(head));
	hash = hash_bytes(hash, row->key, row->key_size);
	hash = hash_bytes(hash, row->value, row->value_size);
	return (int64_t)(hash ^ hash >> 32);
}

uint64_t store_db_row_sum(const struct store_db_row *row)
{
	return (uint64_t)db_row_sum(row);
}

/* The SQL function record_sum(kind, key, value). */
static void sum_in_sql(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct store_db_row row = {.kind = (unsigned)sqlite3_value_int(values[0]),
				   .key = sqlite3_value_blob(values[1]),
				   .value = sqlite3_value_blob(values[2]),
				   .key_size = (size_t)sqlite3_value_bytes(values[1]),
				   .value_size = (size_t)sqlite3_value_bytes(values[2])};

	(void)count;
	sqlite3_result_int64(context, db_row_sum(&row));
}

/* Totals */

static void totals_add(struct store_db_totals *totals, unsigned kind, int64_t count, int64_t sum)
{
	if (kind == TOTALS_KIND || kind >= STORE_DB_KINDS)
		return;
	totals->kinds[kind].count += (uint64_t)count;
	totals->kinds[kind].sum += (uint64_t)count * (uint64_t)sum;
}

void store_db_count(struct store_db_totals *totals, const struct store_db_row *row)
{
	totals_add(totals, row->kind, 1, db_row_sum(row));
}

const struct store_db_totals *store_db_totals(const struct store_db *db)
{
	return &db->totals;
}

static void totals_take(struct store_db_totals *totals, const struct store_db_row *row)
{
	if (row->value_size != TOTALS_SIZE)
		return;
	totals->known = true;
	totals->generation = be64_load(row->value);
	for (unsigned kind = 0; kind < STORE_DB_KINDS; kind++) {
		totals->kinds[kind].count = be64_load(row->value + 8 + 16 * kind);
		totals->kinds[kind].sum = be64_load(row->value + 16 + 16 * kind);
	}
}

static struct store_db_row totals_row(const struct store_db_totals *totals,
				      uint8_t value[TOTALS_SIZE])
{
	static const uint8_t key[1];

	be64_store(value, totals->generation);
	for (unsigned kind = 0; kind < STORE_DB_KINDS; kind++) {
		be64_store(value + 8 + 16 * kind, totals->kinds[kind].count);
		be64_store(value + 16 + 16 * kind, totals->kinds[kind].sum);
	}
	return (struct store_db_row){.kind = TOTALS_KIND,
				     .key = key,
				     .value = value,
				     .key_size = sizeof(key),
				     .value_size = TOTALS_SIZE};
}

/* Reading rows */

static struct store_db_row db_row(sqlite3_stmt *query)
{
	return (struct store_db_row){.kind = (unsigned)sqlite3_column_int(query, 0),
				     .key = sqlite3_column_blob(query, 1),
				     .value = sqlite3_column_blob(query, 2),
				     .key_size = (size_t)sqlite3_column_bytes(query, 1),
				     .value_size = (size_t)sqlite3_column_bytes(query, 2)};
}

/* Passes a row to the sink. The row of the totals goes into totals, if that is not NULL. */
static int give_row(sqlite3_stmt *query, const struct store_db_sink *sink,
		    struct store_db_totals *totals)
{
	struct store_db_row row = db_row(query);

	if (sqlite3_column_int64(query, 3) != db_row_sum(&row)) {
		sink->bad(sink->ctx, &row);
		return 0;
	}
	if (row.kind != TOTALS_KIND)
		return sink->good(sink->ctx, &row);
	if (totals)
		totals_take(totals, &row);
	return 0;
}

/* Reads at most this number of rows: in a damaged file, pages may lead back to each other. */
static int take_rows(struct store_db *db, sqlite3_stmt *query, const struct store_db_sink *sink,
		     struct store_db_totals *totals, uint64_t most, char why[STORE_WHY_SIZE])
{
	int error = 0, code = SQLITE_DONE;

	while (!error && most-- && (code = sqlite3_step(query)) == SQLITE_ROW)
		error = give_row(query, sink, totals);
	if (!error)
		error = explain(db->sqlite, code, why);
	sqlite3_finalize(query);
	return error;
}

#define ROWS "SELECT kind, key, value, sum FROM record "

/* Versions: steps[i] upgrades version i to i + 1. Version 0 is an empty file. */

enum { STEP_TOTALS = 6 };

static const char *const steps[STORE_DB_VERSION] = {
	"CREATE TABLE record (kind INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,"
	" PRIMARY KEY (kind, key)) WITHOUT ROWID",
	"ALTER TABLE record ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;"
	"UPDATE record SET sum = record_sum(kind, key, value)",
	/* Services (4) have a new field for the port that registered them. Until now this was the
	 * port of ServiceGID. Damaged rows stay damaged. */
	"UPDATE record SET value = CAST(value || substr(key, 17, 8) AS BLOB),"
	" sum = record_sum(kind, key, CAST(value || substr(key, 17, 8) AS BLOB))"
	" WHERE kind = 4 AND sum = record_sum(kind, key, value)",
	/* LIDs (1) have new fields for the position of the port: unknown for existing records. */
	"UPDATE record SET value = CAST(value || zeroblob(9) AS BLOB),"
	" sum = record_sum(kind, key, CAST(value || zeroblob(9) AS BLOB))"
	" WHERE kind = 1 AND sum = record_sum(kind, key, value)",
	/* Groups (2) have a new field for the port that created them: unknown for existing records.
	 * Members (3) have a new field for the port for which they count. Until now this was the
	 * port of PortGID. */
	"UPDATE record SET value = CAST(value || zeroblob(8) AS BLOB),"
	" sum = record_sum(kind, key, CAST(value || zeroblob(8) AS BLOB))"
	" WHERE kind = 2 AND sum = record_sum(kind, key, value);"
	"UPDATE record SET value = CAST(value || substr(key, 25, 8) AS BLOB),"
	" sum = record_sum(kind, key, CAST(value || substr(key, 25, 8) AS BLOB))"
	" WHERE kind = 3 AND sum = record_sum(kind, key, value)",
	/* Alias GUIDs (6) have a new field for the grant. Existing records have none. */
	"UPDATE record SET value = CAST(value || zeroblob(1) AS BLOB),"
	" sum = record_sum(kind, key, CAST(value || zeroblob(1) AS BLOB))"
	" WHERE kind = 6 AND sum = record_sum(kind, key, value)",
	[STEP_TOTALS] = "", /* begin_totals() */
};

struct counting {
	struct store_db_totals totals;
	bool bad;
};

static int db_count_row(void *ctx, const struct store_db_row *row)
{
	store_db_count(&((struct counting *)ctx)->totals, row);
	return 0;
}

static void note_bad(void *ctx, const struct store_db_row *row)
{
	(void)row;
	((struct counting *)ctx)->bad = true;
}

static int prepare_writes(struct store_db *db, char why[STORE_WHY_SIZE])
{
	int error = 0;

	if (!db->put)
		error = db_prepare(db,
				   "INSERT OR REPLACE INTO record (kind, key, value, sum)"
				   " VALUES (?1, ?2, ?3, ?4)",
				   &db->put, why);
	if (!error && !db->drop)
		error = db_prepare(db, "DELETE FROM record WHERE kind = ?1 AND key = ?2", &db->drop,
				   why);
	if (!error && !db->find)
		error = db_prepare(db, "SELECT sum FROM record WHERE kind = ?1 AND key = ?2",
				   &db->find, why);
	return error;
}

static int write_row(struct store_db *db, const struct store_db_row *row)
{
	sqlite3_stmt *statement = row->value ? db->put : db->drop;
	int code;

	sqlite3_bind_int(statement, 1, (int)row->kind);
	sqlite3_bind_blob(statement, 2, row->key, (int)row->key_size, SQLITE_STATIC);
	if (row->value) {
		sqlite3_bind_blob(statement, 3, row->value, (int)row->value_size, SQLITE_STATIC);
		sqlite3_bind_int64(statement, 4, db_row_sum(row));
	}
	code = sqlite3_step(statement);
	sqlite3_reset(statement);
	return code;
}

static int write_totals(struct store_db *db, const struct store_db_totals *totals,
			char why[STORE_WHY_SIZE])
{
	uint8_t value[TOTALS_SIZE];
	struct store_db_row row = totals_row(totals, value);
	int code = write_row(db, &row);

	return code == SQLITE_DONE ? 0 : explain(db->sqlite, code, why);
}

/* A file with bad rows gets no totals, because its original contents are unknown. */
static int begin_totals(struct store_db *db, bool is_new, char why[STORE_WHY_SIZE])
{
	struct counting counting = {.totals = {.known = true, .generation = !is_new}};
	const struct store_db_sink sink = {db_count_row, note_bad, &counting};
	sqlite3_stmt *query;
	int error = db_prepare(db, ROWS, &query, why);

	if (!error)
		error = take_rows(db, query, &sink, NULL, UINT64_MAX, why);
	if (!error)
		error = prepare_writes(db, why);
	return error || counting.bad ? error : write_totals(db, &counting.totals, why);
}

static int take_step(struct store_db *db, unsigned version, bool is_new, char why[STORE_WHY_SIZE])
{
	char *begin = mem_printf("BEGIN IMMEDIATE; %s", steps[version]);
	char *end = mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %u; COMMIT",
			       APPLICATION_ID, version + 1);
	int error = db_run(db, begin, why);

	if (!error && version == STEP_TOTALS)
		error = begin_totals(db, is_new, why);
	if (!error)
		error = db_run(db, end, why);
	free(begin);
	free(end);
	return error;
}

/* Closing the database then changes neither the file nor its log. */
static void leave_as_it_is(struct store_db *db)
{
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

static int find_version(struct store_db *db, unsigned *out, char why[STORE_WHY_SIZE])
{
	int64_t application, version, tables;
	int error = db_query_number(db, "PRAGMA application_id", &application, why);

	if (!error)
		error = db_query_number(db, "PRAGMA user_version", &version, why);
	if (!error)
		error = db_query_number(db, "SELECT count(*) FROM sqlite_master", &tables, why);
	if (error)
		return error;
	if (tables && application != APPLICATION_ID) {
		snprintf(why, STORE_WHY_SIZE, "the file belongs to another program");
		return -EPROTONOSUPPORT;
	}
	if (version < 0 || version > STORE_DB_VERSION) {
		snprintf(why, STORE_WHY_SIZE,
			 "the file has version %lld of a newer weftd; this weftd knows versions up "
			 "to %d",
			 (long long)version, STORE_DB_VERSION);
		return -EPROTONOSUPPORT;
	}
	*out = (unsigned)version;
	return 0;
}

/* Checks the structure of the file. Checksums protect the contents of the rows. */
static int db_check(struct store_db *db, char why[STORE_WHY_SIZE])
{
	sqlite3_stmt *query;
	int error = db_prepare(db, "PRAGMA quick_check(1)", &query, why), code;

	if (error)
		return error;
	code = sqlite3_step(query);
	if (code != SQLITE_ROW) {
		error = explain(db->sqlite, code, why);
	} else if (strcmp((const char *)sqlite3_column_text(query, 0), "ok") != 0) {
		snprintf(why, STORE_WHY_SIZE, "%.200s",
			 (const char *)sqlite3_column_text(query, 0));
		for (char *at = why; (at = strchr(at, '\n'));)
			*at = ' '; /* it becomes part of one line of the log */
		error = -EUCLEAN;
	}
	sqlite3_finalize(query);
	return error;
}

/* Opening */

/* Creates the file here, because of its mode; SQLite gives its log the same mode. An existing file
 * is not opened: closing it would drop the locks that this process may have on it. */
static int make_private(const char *path, char why[STORE_WHY_SIZE])
{
	struct stat stat_of;
	int fd;

	if (!stat(path, &stat_of)) {
		if (!S_ISREG(stat_of.st_mode)) {
			snprintf(why, STORE_WHY_SIZE, "not a regular file");
			return -EACCES;
		}
		if ((stat_of.st_mode & 0777) != 0600)
			(void)!chmod(path, 0600); /* if this fails, the next check decides */
		/* SQLite would open it read-only, and fail to lock it. */
		if (euidaccess(path, R_OK | W_OK)) {
			snprintf(why, STORE_WHY_SIZE, "%s", strerror(errno));
			return -errno;
		}
		return 0;
	}
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		snprintf(why, STORE_WHY_SIZE, "%s", strerror(errno));
		return -errno;
	}
	close(fd);
	return 0;
}

/* Sets the exclusive mode before the first access, so that SQLite creates no file of shared
 * memory. */
static int db_begin(struct store_db *db, char why[STORE_WHY_SIZE])
{
	sqlite3_extended_result_codes(db->sqlite, 1);
	sqlite3_create_function(db->sqlite, "record_sum", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
				NULL, sum_in_sql, NULL, NULL);
	return db_run(db,
		      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;"
		      "PRAGMA cell_size_check = ON",
		      why);
}

static int good_is_ignored(void *ctx, const struct store_db_row *row)
{
	(void)ctx;
	(void)row;
	return 0;
}

static void bad_is_ignored(void *ctx, const struct store_db_row *row)
{
	(void)ctx;
	(void)row;
}

static int read_totals(struct store_db *db, char why[STORE_WHY_SIZE])
{
	const struct store_db_sink sink = {good_is_ignored, bad_is_ignored, NULL};
	sqlite3_stmt *query;
	int error = db_prepare(db, ROWS "WHERE kind = 0", &query, why);

	return error ? error : take_rows(db, query, &sink, &db->totals, UINT64_MAX, why);
}

static int set_up(struct store_db *db, char why[STORE_WHY_SIZE])
{
	unsigned version = 0;
	int error = db_begin(db, why);
	bool is_new;

	if (!error)
		error = find_version(db, &version, why);
	if (!error)
		error = db_run(db,
			       "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
			       "BEGIN IMMEDIATE; COMMIT",
			       why);
	for (is_new = !version; !error && version < STORE_DB_VERSION; version++)
		error = take_step(db, version, is_new, why);
	if (!error)
		error = db_check(db, why);
	if (!error)
		error = prepare_writes(db, why);
	return error ? error : read_totals(db, why);
}

int store_db_open(const char *path, struct store_db **out, char why[STORE_WHY_SIZE])
{
	struct store_db *db;
	int error = make_private(path, why), code;

	if (error)
		return error;
	db = mem_zalloc(sizeof(*db));
	code = sqlite3_open_v2(path, &db->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			       NULL);
	error = code == SQLITE_OK ? set_up(db, why) : explain(db->sqlite, code, why);
	if (error) {
		leave_as_it_is(db);
		store_db_close(db);
		return error;
	}
	*out = db;
	return 0;
}

void store_db_close(struct store_db *db)
{
	if (!db)
		return;
	sqlite3_finalize(db->put);
	sqlite3_finalize(db->drop);
	sqlite3_finalize(db->find);
	sqlite3_close_v2(db->sqlite);
	free(db);
}

/* Reading and writing */

int store_db_read(struct store_db *db, const struct store_db_sink *sink, char why[STORE_WHY_SIZE])
{
	sqlite3_stmt *query;
	int error = db_prepare(db, ROWS "ORDER BY kind, key", &query, why);

	return error ? error : take_rows(db, query, sink, NULL, UINT64_MAX, why);
}

/* kind 0: all kinds. Rows that the query cannot reach are skipped. */
static void salvage_rows(struct store_db *db, const char *sql, unsigned kind, uint64_t most,
			 const struct store_db_sink *sink, struct store_db_totals *totals)
{
	char why[STORE_WHY_SIZE];
	sqlite3_stmt *query;

	if (db_prepare(db, sql, &query, why))
		return;
	if (kind)
		sqlite3_bind_int(query, 1, (int)kind);
	take_rows(db, query, sink, totals, most, why);
}

/* Reads all rows from both ends first: this compares no keys, so a damaged key does no harm. Then
 * it reads each kind by its key, for the rows between two damaged pages. */
void store_db_salvage(const char *path, const struct store_db_sink *sink,
		      struct store_db_totals *totals)
{
	uint64_t most = store_db_size(path) / ROW_BYTES_MIN;
	const struct store_db_sink quiet = {sink->good, bad_is_ignored, sink->ctx};
	struct store_db *db = mem_zalloc(sizeof(*db));
	char why[STORE_WHY_SIZE];

	if (sqlite3_open_v2(path, &db->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
		    SQLITE_OK &&
	    !db_begin(db, why)) {
		leave_as_it_is(db);
		salvage_rows(db, ROWS "ORDER BY kind, key", 0, most, sink, totals);
		salvage_rows(db, ROWS "ORDER BY kind DESC, key DESC", 0, most, &quiet, totals);
		for (unsigned kind = 1; kind < STORE_DB_KINDS; kind++) {
			salvage_rows(db, ROWS "WHERE kind = ?1 ORDER BY key", kind, most, &quiet,
				     totals);
			salvage_rows(db, ROWS "WHERE kind = ?1 ORDER BY key DESC", kind, most,
				     &quiet, totals);
		}
	}
	store_db_close(db);
}

/* Call it before the row is written: removes the stored row from the totals, and adds the new
 * row. */
static int count_change(struct store_db *db, const struct store_db_row *row)
{
	int code;

	sqlite3_bind_int(db->find, 1, (int)row->kind);
	sqlite3_bind_blob(db->find, 2, row->key, (int)row->key_size, SQLITE_STATIC);
	code = sqlite3_step(db->find);
	if (code == SQLITE_ROW)
		totals_add(&db->totals, row->kind, -1, sqlite3_column_int64(db->find, 0));
	sqlite3_reset(db->find);
	if (row->value)
		store_db_count(&db->totals, row);
	return code == SQLITE_ROW ? SQLITE_DONE : code;
}

int store_db_write(struct store_db *db, bool whole, uint64_t generation,
		   bool (*next)(void *ctx, struct store_db_row *row), void *ctx,
		   char why[STORE_WHY_SIZE])
{
	struct store_db_row row;
	int code = SQLITE_DONE;
	int error =
		db_run(db, whole ? "BEGIN IMMEDIATE; DELETE FROM record" : "BEGIN IMMEDIATE", why);

	if (whole)
		db->totals = (struct store_db_totals){.known = true};
	db->totals.generation = generation;
	while (!error && next(ctx, &row)) {
		code = count_change(db, &row);
		if (code == SQLITE_DONE)
			code = write_row(db, &row);
		if (code != SQLITE_DONE)
			error = explain(db->sqlite, code, why);
	}
	if (!error)
		error = write_totals(db, &db->totals, why);
	return error ? error : db_run(db, "COMMIT", why);
}

/* Files */

uint64_t store_db_size(const char *path)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(companions); i++) {
		char *name = mem_printf("%s%s", path, companions[i]);
		struct stat stat_of;

		if (!stat(name, &stat_of))
			bytes += (uint64_t)stat_of.st_size;
		free(name);
	}
	return bytes;
}

bool store_db_exists(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) ? stat_of.st_size > 0 : errno != ENOENT && errno != ENOTDIR;
}

bool store_db_was_set_aside(const char *path)
{
	char *name = mem_printf("%s.damaged-1", path);
	bool was = store_db_exists(name);

	free(name);
	return was;
}

static bool exists(const char *path)
{
	struct stat stat_of;

	return !lstat(path, &stat_of);
}

/* The log is renamed first. If it stayed, SQLite would use it as the log of the new file. */
int store_db_set_aside(const char *path, char *name, size_t size)
{
	unsigned number = 1;
	int error = 0;

	do
		snprintf(name, size, "%s.damaged-%u", path, number);
	while (exists(name) && ++number <= DAMAGED_MAX);
	if (number > DAMAGED_MAX)
		return -EEXIST;
	for (size_t i = ARRAY_SIZE(companions); i-- && !error;) {
		char *from = mem_printf("%s%s", path, companions[i]);
		char *to = mem_printf("%s%s", name, companions[i]);

		if (rename(from, to) && errno != ENOENT)
			error = -errno;
		free(from);
		free(to);
	}
	return error;
}
