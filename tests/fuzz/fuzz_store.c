/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of the store after changes by another program: records of any kind, size and type, with
 * a right or wrong checksum, and then changed bytes anywhere. The store opens the file, or sets it
 * aside. registry_check() must accept its records, and the next start must find them again.
 * store/store.h, store/db.h.
 *
 * Input: the number of changed bytes (0 to 3), and of each its offset (2 bytes) and its value. Then
 * records: flags (below), kind, if the flags have them the sizes of key and value, then key and
 * value.
 */
// WITH: tests/sim/loop_virtual.o tests/unit/store/work_held.o
#include "store/db.c"

#include "lib/log.h"
#include "store/registry_check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fixtures/store_bed.h"

enum {
	KEY_SIZE = 0x01,   /* another size than that of the kind */
	VALUE_SIZE = 0x02, /* another size than that of the kind */
	KEY_TEXT = 0x04,
	VALUE_TEXT = 0x08,
	VALUE_NUMBER = 0x10,
	KIND_ANY = 0x20,
	SUM_WRONG = 0x40,
	RECORDS_MAX = 64,
};

static void bind(sqlite3_stmt *statement, int at, const uint8_t *bytes, size_t size, bool text)
{
	if (text)
		sqlite3_bind_text(statement, at, (const char *)bytes, (int)size, SQLITE_STATIC);
	else
		sqlite3_bind_blob(statement, at, bytes, (int)size, SQLITE_STATIC);
}

static void put_record(struct store_db *db, struct fuzz_bytes *in)
{
	static const char sql[] = "INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3,"
				  " record_sum(?1, ?2, ?3) + ?4)";
	uint8_t flags = fuzz_byte(in), kind = fuzz_byte(in), key[256], value[512];
	unsigned known = REGISTRY_LID + kind % (REGISTRY_KINDS - REGISTRY_LID);
	size_t key_size = registry_tables[known].key_bytes;
	size_t value_size = registry_tables[known].format->wire_size - key_size;
	sqlite3_stmt *statement;

	if (flags & KEY_SIZE)
		key_size = fuzz_byte(in);
	if (flags & VALUE_SIZE)
		value_size = fuzz_byte(in);
	fuzz_take(in, key, key_size);
	fuzz_take(in, value, value_size);
	CU_ASSERT_FATAL(sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK);
	sqlite3_bind_int(statement, 1, flags & KIND_ANY ? (int8_t)kind : (int)known);
	bind(statement, 2, key, key_size, flags & KEY_TEXT);
	if (flags & VALUE_NUMBER)
		sqlite3_bind_int64(statement, 3, (int64_t)be64_load(value));
	else
		bind(statement, 3, value, value_size, flags & VALUE_TEXT);
	sqlite3_bind_int(statement, 4, flags & SUM_WRONG ? 1 : 0);
	sqlite3_step(statement); /* it may be refused */
	sqlite3_finalize(statement);
}

static void change_byte(const char *path, const uint8_t change[3])
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat file;

	CU_ASSERT_FATAL(fd >= 0 && !fstat(fd, &file) && file.st_size);
	CU_ASSERT_FATAL(pwrite(fd, change + 2, 1, be16_load(change) % file.st_size) == 1);
	close(fd);
}

/* Counts the records. Aborts if a record is not valid. */
static uint32_t count_records(struct registry *registry)
{
	struct registry_cursor cursor;
	const void *record;
	uint32_t count = 0;

	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		list_init(&cursor.link);
		registry_walk(registry, (enum registry_kind)kind, -1, NULL, &cursor);
		while ((record = registry_walk_next(&cursor))) {
			const char *field, *wrong = registry_check(kind, record, &field);

			if (wrong) {
				fprintf(stderr, "%s: %s: %s\n", registry_tables[kind].name, field,
					wrong);
				abort();
			}
			count++;
		}
		registry_walk_end(&cursor);
	}
	return count;
}

static void make_file(const char *path, struct fuzz_bytes *in)
{
	uint8_t changes[3][3];
	unsigned count = fuzz_byte(in) % 4;
	char why[STORE_WHY_SIZE];
	struct store_db *db;

	for (unsigned i = 0; i < count; i++)
		fuzz_take(in, changes[i], sizeof(changes[i]));
	CU_ASSERT_FATAL(!store_db_open(path, &db, why));
	for (unsigned i = 0; i < RECORDS_MAX && in->left; i++)
		put_record(db, in);
	store_db_close(db);
	for (unsigned i = 0; i < count; i++)
		change_byte(path, changes[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};
	struct bed bed;
	uint32_t count;
	bool kept;

	if (!store_disk.real)
		store_disk_init();
	log_set_level(NULL, LOG_EMERG);
	store_bed_init(&bed);
	make_file(store_bed_path(&bed, "weft.db"), &in);
	CU_ASSERT_FATAL(!store_bed_open(&bed));
	store_bed_put(&bed, UINT64_MAX, 1);
	store_bed_pass(&bed, 1000000);
	count = count_records(bed.registry);
	kept = !store_degraded(bed.store);
	store_bed_close(&bed, true);
	CU_ASSERT_FATAL(!store_bed_open(&bed));
	if (kept && count_records(bed.registry) != count) {
		fprintf(stderr, "%u records were %u before a restart\n",
			count_records(bed.registry), count);
		abort();
	}
	store_bed_close(&bed, false);
	store_bed_done(&bed);
	return 0;
}
