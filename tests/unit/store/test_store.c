/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The store: kept records come back, when they count as kept, versions, and disks that refuse. */
// WITH: tests/sim/loop_virtual.o tests/unit/store/work_held.o
#include "store/store.h"

#include <errno.h>
#include <sys/wait.h>

#include "tests/unit/fixtures/store_bed.h"
#include "tests/unit/fixtures/store_records.h"
#include "tests/unit/store/work_held.h"

enum { MS = 1000, S = 1000000 };

static uint64_t buffer[128];

static void put_all(struct bed *bed, unsigned count)
{
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		for (unsigned seed = 0; seed < count; seed++) {
			record_fill((uint8_t *)buffer, kind, seed);
			registry_put(bed->registry, kind, buffer);
		}
	}
}

static void expect_all(struct bed *bed, unsigned count)
{
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		const struct format *format = registry_tables[kind].format;

		CU_ASSERT_EQUAL(registry_count(bed->registry, kind), count);
		for (unsigned seed = 0; seed < count; seed++) {
			const void *found;

			record_fill((uint8_t *)buffer, kind, seed);
			found = registry_find(bed->registry, kind, buffer);
			CU_ASSERT_PTR_NOT_NULL_FATAL(found);
			for (size_t i = 0; i < format->count; i++)
				CU_ASSERT_TRUE(field_equal(&format->fields[i], found, buffer));
		}
	}
}

static void test_every_kind_comes_back(void)
{
	struct bed bed;
	struct stat stat_of;

	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		const struct registry_table *table = &registry_tables[kind];

		CU_ASSERT_TRUE_FATAL(table->key_bytes <= STORE_KEY_MAX);
		CU_ASSERT_TRUE_FATAL(table->format->wire_size - table->key_bytes <=
				     STORE_VALUE_MAX);
	}
	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_FALSE(store_degraded(bed.store));
	CU_ASSERT_EQUAL(stat(store_bed_path(&bed, "weft.db"), &stat_of), 0);
	CU_ASSERT_EQUAL(stat_of.st_mode & 0777, 0600);
	put_all(&bed, 9);
	store_bed_pass(&bed, S);
	CU_ASSERT_EQUAL(stat(store_bed_path(&bed, "weft.db-wal"), &stat_of), 0);
	CU_ASSERT_EQUAL(stat_of.st_mode & 0777, 0600);
	store_bed_close(&bed, false); /* killed: committed records stay */
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	expect_all(&bed, 9);
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		record_fill((uint8_t *)buffer, kind, 8);
		CU_ASSERT_TRUE(registry_drop(bed.registry, kind, buffer));
	}
	store_bed_close(&bed, true); /* a clean end writes the waiting changes */
	CU_ASSERT_FALSE(store_bed_has(&bed, "weft.db-wal"));
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	expect_all(&bed, 8);
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

static unsigned times;

static void durable(void *ctx)
{
	(void)ctx;
	times++;
}

static json_int_t status_number(const struct bed *bed, const char *name)
{
	json_t *status = store_status(bed->store);
	json_int_t number = json_integer_value(json_object_get(status, name));

	json_decref(status);
	return number;
}

/* After a batch the store rests for twice the time which the batch took. */
static void test_rest(void)
{
	struct bed bed;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	work_hold(true);
	store_bed_put(&bed, 1, 1);
	store_bed_pass(&bed, MS);
	work_hold(false);
	store_bed_pass(&bed, MS / 2);
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 1);
	store_bed_put(&bed, 2, 2);
	store_bed_pass(&bed, MS);
	store_bed_put(&bed, 3, 3);
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 1);
	CU_ASSERT_EQUAL(status_number(&bed, "waiting"), 2);
	store_bed_pass(&bed, MS);
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 2);
	CU_ASSERT_EQUAL(status_number(&bed, "waiting"), 0);
	store_bed_pass(&bed, 10 * MS);
	store_bed_put(&bed, 4, 4);
	store_bed_pass(&bed, MS / 10);
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 3);
	store_bed_close(&bed, true);
}

/* One commit for a turn, the next for all that came while it was written. */
static void test_group_commit(void)
{
	struct registry_waiter waiter = {.durable = durable};
	struct bed bed;

	times = 0;
	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	work_hold(true);
	for (unsigned i = 1; i <= 100; i++)
		store_bed_put(&bed, i, (lid_t)i);
	registry_wait(bed.registry, &waiter);
	store_bed_pass(&bed, MS);
	CU_ASSERT_EQUAL(times, 0);
	for (unsigned i = 101; i <= 300; i++) {
		store_bed_put(&bed, i, (lid_t)i);
		store_bed_pass(&bed, MS);
	}
	CU_ASSERT_EQUAL(times, 0);
	CU_ASSERT_EQUAL(status_number(&bed, "waiting"), 300);
	work_hold(false);
	store_bed_pass(&bed, 10 * MS);
	CU_ASSERT_EQUAL(times, 1);
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 2);
	CU_ASSERT_TRUE(registry_durable(bed.registry, registry_number(bed.registry)));
	store_bed_put(&bed, 300, 300); /* no change, no commit */
	store_bed_pass(&bed, 10 * MS);
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 2);
	store_bed_close(&bed, false);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), 300);
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* A world-readable file, as after a restore from a backup, loses these rights before it is used. */
static void test_mode(void)
{
	static const char *const names[] = {"weft.db", "weft-copy.db"};
	struct stat stat_of;
	struct bed bed;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	store_bed_close(&bed, true);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CU_ASSERT_EQUAL(chmod(store_bed_path(&bed, names[i]), 0644), 0);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CU_ASSERT_EQUAL(stat(store_bed_path(&bed, names[i]), &stat_of), 0);
		CU_ASSERT_EQUAL(stat_of.st_mode & 0777, 0600);
	}
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* Versions */

static void write_sql(const struct bed *bed, const char *sql)
{
	sqlite3 *sqlite;

	CU_ASSERT_EQUAL_FATAL(sqlite3_open(store_bed_path(bed, "weft.db"), &sqlite), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sqlite);
}

static json_int_t read_number(const struct bed *bed, const char *sql)
{
	sqlite3_stmt *query;
	json_int_t number = -1;
	sqlite3 *sqlite;

	CU_ASSERT_EQUAL_FATAL(sqlite3_open(store_bed_path(bed, "weft.db"), &sqlite), SQLITE_OK);
	sqlite3_exec(sqlite, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
	if (sqlite3_prepare_v2(sqlite, sql, -1, &query, NULL) == SQLITE_OK &&
	    sqlite3_step(query) == SQLITE_ROW)
		number = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(sqlite);
	return number;
}

/* Changes that belong together reach the disk together. */
static void test_together(void)
{
	struct bed bed;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	store_bed_put(&bed, 1, 1);
	store_bed_pass(&bed, 10 * MS);
	registry_together(bed.registry, true);
	for (unsigned i = 2; i <= 9; i++) {
		store_bed_put(&bed, i, (lid_t)i);
		store_bed_pass(&bed, 10 * MS);
	}
	CU_ASSERT_FALSE(registry_durable(bed.registry, registry_number(bed.registry)));
	CU_ASSERT_EQUAL(status_number(&bed, "commits"), 1);
	store_bed_close(&bed, false);

	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), 1);
	registry_together(bed.registry, true);
	for (unsigned i = 2; i <= 9; i++)
		store_bed_put(&bed, i, (lid_t)i);
	store_bed_pass(&bed, 10 * MS);
	registry_together(bed.registry, false);
	store_bed_pass(&bed, 10 * MS);
	CU_ASSERT_TRUE(registry_durable(bed.registry, registry_number(bed.registry)));
	store_bed_close(&bed, false);

	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), 9);
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* A file as version 1 wrote it: without checksums, its services, groups and members without their
 * owners, and its aliases without their grants. */
static void test_version_1(void)
{
	const struct service_entry *service;
	const struct member_entry *member;
	const struct group_entry *group;
	const struct alias_entry *alias;
	struct bed bed;

	store_bed_init(&bed);
	write_sql(&bed,
		  "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
		  "CREATE TABLE record (kind INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT"
		  " NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;"
		  "INSERT INTO record VALUES (6, x'00000000000000050001', x'00000000000000aa');"
		  "INSERT INTO record VALUES (4, x'0000000000000001fe80000000000000"
		  "00000000000000bbffff', zeroblob(152));"
		  "INSERT INTO record VALUES (2, x'ff120000000000000000000000000001',"
		  " x'c00100000b1b0400ffff03120000000000000201');"
		  "INSERT INTO record VALUES (3, x'ff120000000000000000000000000001"
		  "fe8000000000000000000000000000cc', x'0501');"
		  "PRAGMA application_id = 0x77656674; PRAGMA user_version = 1");
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_FALSE(store_degraded(bed.store));
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_ALIAS), 1);
	alias = registry_first(bed.registry, REGISTRY_ALIAS, -1, NULL);
	CU_ASSERT_EQUAL(alias->guid, 0xAA);
	CU_ASSERT_EQUAL(alias->granted, 0);
	service = registry_first(bed.registry, REGISTRY_SERVICE, -1, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(service);
	CU_ASSERT_EQUAL(service->gid_guid, 0xBB);
	CU_ASSERT_EQUAL(service->owner, 0xBB);
	group = registry_first(bed.registry, REGISTRY_GROUP, -1, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(group);
	CU_ASSERT_EQUAL(group->mlid, 0xC001);
	CU_ASSERT_EQUAL(group->p_key, 0xFFFF);
	CU_ASSERT_EQUAL(group->permanent, 1);
	CU_ASSERT_EQUAL(group->owner, 0);
	member = registry_first(bed.registry, REGISTRY_MEMBER, -1, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(member);
	CU_ASSERT_EQUAL(member->join_state, 5);
	CU_ASSERT_EQUAL(member->proxy_join, 1);
	CU_ASSERT_EQUAL(member->owner, 0xCC);
	store_bed_put(&bed, 7, 7);
	store_bed_close(&bed, true);
	CU_ASSERT_EQUAL(read_number(&bed, "PRAGMA user_version"), STORE_DB_VERSION);
	CU_ASSERT_EQUAL(
		read_number(&bed, "SELECT count(*) FROM record WHERE kind > 0 AND sum != 0"), 5);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_ALIAS), 1);
	CU_ASSERT_EQUAL(store_bed_lid(&bed, 7), 7);
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* Neither a newer version's nor another program file is written, and the daemon goes on. */
static void test_not_ours(void)
{
	static const char *const files[] = {
		"PRAGMA application_id = 0x77656674; PRAGMA user_version = 1000;"
		"CREATE TABLE future (x); INSERT INTO future VALUES (77)",
		"CREATE TABLE future (x); INSERT INTO future VALUES (77)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct unit_capture capture;
		char text[1024];
		struct bed bed;

		store_bed_init(&bed);
		write_sql(&bed, files[i]);
		unit_capture_begin(&capture);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		CU_ASSERT_TRUE(store_degraded(bed.store));
		store_bed_put(&bed, 1, 1);
		CU_ASSERT_TRUE(registry_durable(bed.registry, registry_number(bed.registry)));
		store_bed_pass(&bed, 60 * S);
		CU_ASSERT_TRUE(store_degraded(bed.store));
		store_bed_close(&bed, true);
		unit_capture_end(&capture, text, sizeof(text));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, i ? "another program" : "newer weftd"));
		CU_ASSERT_EQUAL(read_number(&bed, "SELECT x FROM future"), 77);
		CU_ASSERT_EQUAL(read_number(&bed, "SELECT count(*) FROM sqlite_master"), 1);
		store_bed_done(&bed);
	}
}

static void test_two_daemons(void)
{
	char why[STORE_WHY_SIZE] = "";
	struct store *second;
	int status = 0;
	struct bed bed;
	pid_t child;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	child = fork(); /* locks are the process's */
	if (!child) {
		int error = store_open(bed.loop, bed.dir, &second, why);

		_exit(error == -EBUSY && strstr(why, "--state-dir") ? 7 : 1);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 7);
	store_bed_put(&bed, 1, 1);
	store_bed_pass(&bed, S);
	CU_ASSERT_FALSE(store_degraded(bed.store));
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* Degraded */

static void test_disk_refuses(void)
{
	static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct registry_waiter waiter = {.durable = durable};
		struct unit_capture capture;
		char text[2048];
		struct bed bed;

		times = 0;
		store_bed_init(&bed);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		store_bed_put(&bed, 1, 1);
		store_bed_put(&bed, 2, 2);
		store_bed_pass(&bed, S);
		unit_capture_begin(&capture);
		store_disk.refuse = codes[i];
		store_bed_put(&bed, 3, 3);
		registry_wait(bed.registry, &waiter);
		CU_ASSERT_EQUAL(times, 0);
		store_bed_pass(&bed, S); /* the waiter goes on */
		CU_ASSERT_EQUAL(times, 1);
		CU_ASSERT_TRUE(store_degraded(bed.store));
		registry_drop(bed.registry, REGISTRY_LID, &(guid_t){1});
		store_bed_put(&bed, 4, 4);
		CU_ASSERT_TRUE(registry_durable(bed.registry, registry_number(bed.registry)));
		store_bed_pass(&bed, 20 * S);
		CU_ASSERT_TRUE(store_degraded(bed.store));
		store_disk.refuse = 0;
		store_bed_pass(&bed, 6 * S);
		CU_ASSERT_FALSE(store_degraded(bed.store));
		store_bed_put(&bed, 5, 5);
		CU_ASSERT_FALSE(registry_durable(bed.registry, registry_number(bed.registry)));
		store_bed_pass(&bed, S);
		unit_capture_end(&capture, text, sizeof(text));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "degraded"));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "recovered: all"));
		CU_ASSERT_EQUAL(status_number(&bed, "degradations"), 1);
		store_bed_close(&bed, false);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), 4);
		for (unsigned n = 2; n <= 5; n++)
			CU_ASSERT_EQUAL(store_bed_lid(&bed, n), n);
		store_bed_close(&bed, true);
		store_bed_done(&bed);
	}
}

/* Of a third there shall be another LID, a fourth does not fit. */
static bool fits(void *ctx, enum registry_kind kind, void *record, bool known)
{
	struct lid_entry *entry = record;
	unsigned *asked = ctx;

	CU_ASSERT_EQUAL(kind, *asked ? REGISTRY_LID : REGISTRY_SETTING);
	++*asked;
	if (kind == REGISTRY_SETTING)
		return true;
	CU_ASSERT_EQUAL(known, entry->lid == 2);
	if (entry->lid == 3)
		entry->lid = 33;
	return entry->lid != 4;
}

/* Records of a file that could not be read at the start are not lost when the file can be written.
 * A callback drops records that no longer fit. */
static void test_unreadable_at_start(void)
{
	const struct setting_entry setting = {.name = "name", .value = "value"};
	unsigned asked = 0;
	struct unit_capture capture;
	char text[2048];
	struct bed bed;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	store_bed_put(&bed, 1, 1);
	store_bed_put(&bed, 2, 2);
	store_bed_put(&bed, 3, 3);
	store_bed_put(&bed, 4, 4);
	registry_put(bed.registry, REGISTRY_SETTING, &setting);
	store_bed_close(&bed, true);
	unit_capture_begin(&capture);
	store_disk.refuse_reads = SQLITE_IOERR_READ;
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	store_on_late(bed.store, fits, &asked);
	CU_ASSERT_TRUE(store_degraded(bed.store));
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), 0);
	store_bed_put(&bed, 2, 22);
	store_disk.refuse_reads = 0;
	store_bed_pass(&bed, 6 * S);
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_FALSE(store_degraded(bed.store));
	CU_ASSERT_EQUAL(asked, 5);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "1 records dropped"));
	for (unsigned again = 0; again < 2; again++) {
		CU_ASSERT_EQUAL(store_bed_lid(&bed, 1), 1);
		CU_ASSERT_EQUAL(store_bed_lid(&bed, 2), 22);
		CU_ASSERT_EQUAL(store_bed_lid(&bed, 3), 33);
		CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), 3);
		store_bed_close(&bed, false);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	}
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* A disk that does not answer blocks no client forever. */
static void test_disk_hangs(void)
{
	struct registry_waiter waiter = {.durable = durable};
	struct unit_capture capture;
	char text[2048];
	struct bed bed;

	times = 0;
	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	unit_capture_begin(&capture);
	work_hold(true);
	store_bed_put(&bed, 1, 1);
	registry_wait(bed.registry, &waiter);
	store_bed_pass(&bed, S / 2);
	CU_ASSERT_EQUAL(times, 0);
	store_bed_put(&bed, 2, 2);
	store_bed_pass(&bed, 60 * S);
	CU_ASSERT_EQUAL(times, 1);
	CU_ASSERT_TRUE(store_degraded(bed.store));
	store_bed_put(&bed, 3, 3);
	work_hold(false);
	store_bed_pass(&bed, S);
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_FALSE(store_degraded(bed.store));
	store_bed_put(&bed, 4, 4);
	store_bed_pass(&bed, S);
	store_bed_close(&bed, false);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	for (unsigned n = 1; n <= 4; n++)
		CU_ASSERT_EQUAL(store_bed_lid(&bed, n), n);
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* Looks once in each turn of the loop how far the store has come. */
struct probe {
	struct loop_deferred turn;
	struct loop_timer later;
	unsigned turns;
	struct bed *bed;
	json_int_t waiting, most; /* records collected, and the most in one turn */
	bool changed, ends;
};

enum { MANY = 20000, SOME = 6000, TURNS = 50 };

static void probe_turn(void *arg)
{
	struct probe *probe = arg;
	json_int_t waiting = status_number(probe->bed, "waiting");

	if (waiting - probe->waiting > probe->most)
		probe->most = waiting - probe->waiting;
	probe->waiting = waiting;
	if (waiting > SOME && !probe->changed) {
		probe->changed = true;
		registry_drop(probe->bed->registry, REGISTRY_LID, &(guid_t){1});
		store_bed_put(probe->bed, 2, 22);
		store_bed_put(probe->bed, MANY, 33);
		store_bed_put(probe->bed, MANY + 1, 44);
		if (probe->ends) {
			store_flush(probe->bed->store);
			return;
		}
	}
	if (!store_degraded(probe->bed->store))
		return;
	if (++probe->turns % TURNS)
		loop_defer(&probe->turn);
	else
		loop_timer_arm(&probe->later, 1); /* time does not stand still */
}

/* All records are collected in slices; changes during that time are in the same batch. The store
 * ends when the batch is written, or while records are collected. */
static void test_many(void)
{
	for (unsigned ends = 0; ends < 2; ends++) {
		struct unit_capture capture;
		struct probe probe = {.ends = ends};
		char text[2048];
		struct bed bed;

		store_bed_init(&bed);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		unit_capture_begin(&capture);
		store_disk.refuse = SQLITE_FULL;
		store_bed_put(&bed, 1, 1);
		store_bed_pass(&bed, S);
		CU_ASSERT_TRUE(store_degraded(bed.store));
		for (unsigned n = 2; n <= MANY; n++)
			store_bed_put(&bed, n, (lid_t)n);
		store_disk.refuse = 0;
		probe.bed = &bed;
		loop_deferred_init(&probe.turn, bed.loop, "probe", probe_turn, &probe);
		loop_timer_init(&probe.later, bed.loop, "probe", probe_turn, &probe);
		store_bed_pass(&bed, 4 * S); /* until it is tried again */
		loop_defer(&probe.turn);
		store_bed_pass(&bed, S);
		CU_ASSERT_TRUE(probe.changed);
		CU_ASSERT_TRUE(probe.most > 0 && probe.most <= SOME);
		store_bed_close(&bed, false);
		unit_capture_end(&capture, text, sizeof(text));
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_LID), MANY);
		CU_ASSERT_EQUAL(store_bed_lid(&bed, 1), LID_NONE);
		CU_ASSERT_EQUAL(store_bed_lid(&bed, 2), 22);
		CU_ASSERT_EQUAL(store_bed_lid(&bed, MANY), 33);
		CU_ASSERT_EQUAL(store_bed_lid(&bed, MANY + 1), 44);
		store_bed_close(&bed, true);
		store_bed_done(&bed);
	}
}

/* A clean end with a batch that no worker has begun to write, and another batch behind it. */
static void test_end_with_work_left(void)
{
	struct bed bed;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	work_hold(true);
	store_bed_put(&bed, 1, 1);
	store_bed_pass(&bed, MS);
	store_bed_put(&bed, 1, 2);
	store_bed_put(&bed, 2, 3);
	store_bed_pass(&bed, MS);
	store_bed_close(&bed, true);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_EQUAL(store_bed_lid(&bed, 1), 2);
	CU_ASSERT_EQUAL(store_bed_lid(&bed, 2), 3);
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

/* A folder that cannot be. */
static void test_no_folder(void)
{
	struct unit_capture capture;
	struct store *store;
	struct loop *loop = loop_new();
	struct registry *registry = registry_new();
	char text[1024], why[STORE_WHY_SIZE];

	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL_FATAL(store_open(loop, "/proc/weft", &store, why), 0);
	store_keep(store, registry);
	CU_ASSERT_TRUE(store_degraded(store));
	store_flush(store);
	store_free(store);
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "/proc/weft/weft.db degraded: cannot create its directory"));
	registry_free(registry);
	loop_free(loop);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"every kind comes back", test_every_kind_comes_back},
		{"mode", test_mode},
		{"group commit", test_group_commit},
		{"rest after a batch", test_rest},
		{"together", test_together},
		{"version 1", test_version_1},
		{"not ours", test_not_ours},
		{"two daemons", test_two_daemons},
		{"the disk refuses", test_disk_refuses},
		{"unreadable at the start", test_unreadable_at_start},
		{"the disk hangs", test_disk_hangs},
		{"many records", test_many},
		{"an end with work left", test_end_with_work_left},
		{"no folder", test_no_folder},
		CU_TEST_INFO_NULL,
	};

	store_disk_init();
	return unit_main("store", tests);
}
