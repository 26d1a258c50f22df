/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A store whose files are damaged: bytes, pages, cuts, in one file or in both. Nothing crashes, and
 * no record comes back that was never put. A damaged page of weft.db loses at most its own records.
 * Vital records are all there, or the registry reports that they are not.
 *
 * STORE_DAMAGES=n plays n damages instead of 220, STORE_SEED=n begins with another seed.
 */
// WITH: tests/sim/loop_virtual.o tests/unit/store/work_held.o
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/log.h"
#include "store/contents.h"
#include "store/partition_state.h"
#include "tests/unit/fixtures/store_bed.h"
#include "tests/unit/fixtures/store_records.h"

enum { RECORDS = 150, PAGE = 4096, INTERIOR = 2, LEAF = 10, DAMAGES = 220, S = 1000000 };

static const char *const names[] = {"weft.db", "weft.db-wal", "weft-copy.db", "weft-copy.db-wal"};
enum { NAMES = ARRAY_SIZE(names) };

struct image {
	uint8_t *bytes; /* NULL: there is no such file */
	size_t size;
};

static struct image images[NAMES];
static uint64_t buffer[128];
static struct bed bed;

static uint64_t dice;

static uint64_t roll(uint64_t sides)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (dice >> 33) % sides;
}

static struct image read_image(const char *path)
{
	struct image image = {0};
	FILE *file = fopen(path, "re");

	if (!file)
		return image;
	image.bytes = calloc(1, 16 << 20);
	image.size = fread(image.bytes, 1, 16 << 20, file);
	fclose(file);
	return image;
}

static void write_image(const char *path, struct image image)
{
	FILE *file = fopen(path, "we");

	if (fwrite(image.bytes, 1, image.size, file) != image.size)
		abort();
	fclose(file);
}

/* Files as they are after a clean end, or after the process was killed. */
static void make_images(bool cleanly)
{
	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		for (unsigned seed = 0; seed < RECORDS; seed++) {
			record_fill((uint8_t *)buffer, kind, seed);
			registry_put(bed.registry, kind, buffer);
		}
	}
	store_bed_pass(&bed, S);
	for (size_t i = 0; i < NAMES && !cleanly; i++)
		images[i] = read_image(store_bed_path(&bed, names[i]));
	store_bed_close(&bed, true);
	for (size_t i = 0; i < NAMES && cleanly; i++)
		images[i] = read_image(store_bed_path(&bed, names[i]));
	store_bed_done(&bed);
	CU_ASSERT_PTR_NOT_NULL_FATAL(images[0].bytes);
	CU_ASSERT_PTR_NOT_NULL_FATAL(images[2].bytes);
	CU_ASSERT_EQUAL(cleanly, !images[1].bytes);
}

static void free_images(void)
{
	for (size_t i = 0; i < NAMES; i++) {
		free(images[i].bytes);
		images[i] = (struct image){0};
	}
}

/* A folder with these files, with one or two of them replaced. */
static void put_images(size_t damaged, struct image by, size_t other, struct image other_by)
{
	store_bed_init(&bed);
	for (size_t i = 0; i < NAMES; i++) {
		struct image image = i == damaged ? by : i == other ? other_by : images[i];

		if (images[i].bytes)
			write_image(store_bed_path(&bed, names[i]), image);
	}
}

static struct registry *put; /* all that was */

static bool was_put(unsigned kind, const void *record)
{
	const struct format *format = registry_tables[kind].format;
	const void *known = registry_find(put, kind, record);

	for (size_t i = 0; known && i < format->count; i++)
		if (!field_equal(&format->fields[i], record, known))
			return false;
	return known;
}

/* How many records are missing. A wrong record is a failure, and so are missing vital records that
 * the registry does not report. */
static unsigned count_missing(const char *what)
{
	enum partition_state state = partition_state(bed.registry);
	unsigned missing = 0, vital = 0;

	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		const void *record = registry_first(bed.registry, kind, -1, NULL);
		unsigned found = 0;

		for (; record; record = registry_next(bed.registry, kind, -1, record)) {
			if (is_partition_state(kind, record))
				continue;
			found++;
			if (!was_put(kind, record)) {
				printf("    %s: a wrong record of kind %u\n", what, kind);
				CU_FAIL("a wrong record");
			}
		}
		missing += RECORDS - found;
		vital += store_kind_is_vital(kind) ? RECORDS - found : 0;
	}
	if (vital && !state) {
		printf("    %s: %u vital records are missing without a word\n", what, vital);
		CU_FAIL("vital records are missing");
	}
	return missing;
}

/* Opens the store twice: the salvaged records are kept. */
static unsigned open_damaged(const char *what, bool *lost)
{
	unsigned missing;

	log_set_level(NULL, LOG_EMERG);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	missing = count_missing(what);
	*lost = partition_state(bed.registry) != PARTITIONS_COMPLETE;
	store_bed_put(&bed, RECORDS + 1, 1);
	store_bed_pass(&bed, S);
	registry_drop(bed.registry, REGISTRY_LID, &(guid_t){RECORDS + 1});
	store_bed_close(&bed, !(missing % 2));
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	if (store_bed_lid(&bed, RECORDS + 1))
		registry_drop(bed.registry, REGISTRY_LID, &(guid_t){RECORDS + 1});
	CU_ASSERT_EQUAL(count_missing(what), missing);
	CU_ASSERT_EQUAL(*lost, partition_state(bed.registry) != PARTITIONS_COMPLETE);
	store_bed_close(&bed, false);
	store_bed_done(&bed);
	return missing;
}

static struct image copy_of(struct image image)
{
	struct image copy = {.bytes = malloc(image.size + 1), .size = image.size};

	memcpy(copy.bytes, image.bytes, image.size);
	return copy;
}

/* Each page of each file in turn is set to zeros. A page of weft.db without links to other pages
 * costs no more than its records, and no page costs a vital record. */
static void test_each_page(void)
{
	static const size_t files[] = {0, 2};
	unsigned leaves = 0, interiors = 0;

	make_images(true);
	for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
		const struct image *image = &images[files[f]];

		for (size_t at = 0; at < image->size; at += PAGE) {
			const uint8_t *page = image->bytes + at;
			struct image damaged = copy_of(*image);
			unsigned cells = page[3] << 8 | page[4], missing;
			char what[64];
			bool lost;

			snprintf(what, sizeof(what), "%s, page %zu", names[files[f]], at / PAGE);
			memset(damaged.bytes + at, 0, PAGE);
			put_images(files[f], damaged, NAMES, damaged);
			missing = open_damaged(what, &lost);
			CU_ASSERT_FALSE(lost);
			if (files[f])
				CU_ASSERT_EQUAL(missing, 0);
			if (!files[f] && at && page[0] == LEAF) {
				CU_ASSERT_TRUE(missing <= cells);
				leaves += missing > 0;
			}
			interiors += at && page[0] == INTERIOR;
			free(damaged.bytes);
		}
	}
	CU_ASSERT_TRUE(leaves > 5);
	CU_ASSERT_TRUE(interiors > 0);
	free_images();
}

static struct image damage(struct image image)
{
	struct image out = copy_of(image);
	size_t at = roll(image.size), count = 1 + roll(64);

	switch (roll(5)) {
	case 0:
		out.size = at;
		break;
	case 1:
		at -= at % PAGE;
		memset(out.bytes + at, 0, out.size - at < PAGE ? out.size - at : PAGE);
		break;
	default:
		for (; count && at < out.size; count--)
			out.bytes[at++] ^= 1 + roll(255);
	}
	return out;
}

static uint64_t number_of(const char *variable, uint64_t usual)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : usual;
}

/* Damage to one file loses no vital record. After damage to both files, the vital records are all
 * there, or the registry reports the loss. Damage in a log of SQLite hides all later changes, so
 * there the last readable state counts, unless the other file has a later state. */
static void test_random(void)
{
	uint64_t first = number_of("STORE_SEED", 1), count = number_of("STORE_DAMAGES", DAMAGES);
	unsigned kept = 0, losses = 0;

	for (unsigned killed = 0; killed < 2; killed++) {
		make_images(!killed);
		for (uint64_t seed = first + killed; seed < first + count; seed += 2) {
			bool both = seed % 8 > 5, lost;
			struct image damaged, other = {0};
			size_t file;
			char what[64];

			dice = seed;
			roll(1);
			do
				file = roll(NAMES);
			while (!images[file].size);
			damaged = damage(images[file]);
			if (both)
				other = damage(images[2 - (file & 2)]);
			put_images(file, damaged, both ? 2 - (file & 2) : NAMES, other);
			snprintf(what, sizeof(what), "seed %llu, %s%s", (unsigned long long)seed,
				 names[file], both ? " and the other file" : "");
			open_damaged(what, &lost);
			if (!both && lost) {
				printf("    %s: lost\n", what);
				CU_FAIL("one damaged file loses vital records");
			}
			losses += lost;
			kept += !lost;
			free(damaged.bytes);
			free(other.bytes);
		}
		free_images();
	}
	CU_ASSERT_TRUE(kept > losses);
	CU_ASSERT_TRUE(losses > 0);
}

static void remove_or_empty(const char *name, bool empty)
{
	const char *path = store_bed_path(&bed, name);

	CU_ASSERT_EQUAL(empty ? truncate(path, 0) : unlink(path), 0);
}

/* One file is gone or empty, or both are: after a damage, beside the tables of a MASTER, or alone.
 */
static void test_files_missing(void)
{
	static const struct {
		bool main, copy, emptied, aside, tables, lost;
		unsigned missing; /* records; of vital kinds none where they are not lost */
	} rows[] = {
		{true, false, false, false, true, false, 0},
		{false, true, false, false, true, false, 7 * RECORDS},
		{true, false, true, false, true, false, 0},
		{false, true, true, false, true, false, 7 * RECORDS},
		{false, false, false, true, false, true, 16 * RECORDS},
		{false, false, false, false, true, true, 16 * RECORDS},
		{false, false, true, false, true, true, 16 * RECORDS},
	};
	const struct image text = {(uint8_t *)"x", 1};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned missing = 0;

		make_images(true);
		put_images(NAMES, images[0], NAMES, images[0]);
		if (!rows[i].main)
			remove_or_empty("weft.db", rows[i].emptied);
		if (!rows[i].copy)
			remove_or_empty("weft-copy.db", rows[i].emptied);
		if (rows[i].tables)
			write_image(store_bed_path(&bed, "tables.img"), text);
		if (rows[i].aside)
			write_image(store_bed_path(&bed, "weft.db.damaged-1"), text);
		log_set_level(NULL, LOG_EMERG);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		missing = count_missing("a missing file");
		CU_ASSERT_EQUAL(missing, rows[i].missing);
		CU_ASSERT_EQUAL(partition_state(bed.registry) != PARTITIONS_COMPLETE, rows[i].lost);
		store_bed_close(&bed, true);
		store_bed_done(&bed);
		free_images();
	}
}

/* Totals of a file: which records it says it has, and which are good. */
static struct store_contents contents_of(uint64_t generation, bool known, bool whole)
{
	struct store_contents contents = {.said = {.known = known, .generation = generation}};

	contents.said.kinds[REGISTRY_PARTITION_MEMBER] = (struct store_db_total){2, 10};
	contents.found = contents.said;
	if (!whole)
		contents.found.kinds[REGISTRY_PARTITION_MEMBER] = (struct store_db_total){1, 5};
	return contents;
}

/* The newer file counts if it proves that it is whole. An older file proves nothing about later
 * changes: a member that has been removed since would be back. */
static void test_choice(void)
{
	static const struct {
		struct {
			uint64_t generation;
			bool known, whole;
		} main, copy;
		bool copy_counts, proved;
	} rows[] = {
		{{5, true, true}, {5, true, true}, false, true},
		{{5, true, true}, {5, true, false}, false, true},
		{{5, true, false}, {5, true, true}, true, true},
		{{5, true, false}, {5, true, false}, false, false},
		{{5, true, true}, {4, true, true}, false, true},
		{{5, true, false}, {4, true, true}, false, false},
		{{4, true, true}, {5, true, true}, true, true},
		{{4, true, true}, {5, true, false}, true, false},
		{{5, false, true}, {4, true, true}, true, true},
		{{5, true, false}, {5, false, true}, false, false},
		{{5, false, true}, {5, false, true}, false, false},
		{{0, true, true}, {0, true, true}, false, true},
		{{0, true, true}, {0, false, true}, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct store_contents main = contents_of(rows[i].main.generation,
							 rows[i].main.known, rows[i].main.whole);
		struct store_contents copy = contents_of(rows[i].copy.generation,
							 rows[i].copy.known, rows[i].copy.whole);
		struct store_choice choice = store_contents_choose(&main, &copy);

		CU_ASSERT_EQUAL(choice.vital == &copy, rows[i].copy_counts);
		CU_ASSERT_EQUAL(choice.proved, rows[i].proved);
	}
}

static void run_sql(const char *name, const char *sql)
{
	sqlite3 *sqlite;

	CU_ASSERT_EQUAL_FATAL(sqlite3_open(store_bed_path(&bed, name), &sqlite), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sqlite);
}

/* A member is removed, weft-copy.db is put back as it was before, and another member's record in
 * weft.db is damaged: partitions are incomplete. Without the damage the member stays removed. */
static void test_old_copy(void)
{
	for (unsigned damaged = 0; damaged < 2; damaged++) {
		const void *member;

		make_images(true);
		put_images(NAMES, images[0], NAMES, images[0]);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		record_fill((uint8_t *)buffer, REGISTRY_PARTITION_MEMBER, 7);
		registry_drop(bed.registry, REGISTRY_PARTITION_MEMBER, buffer);
		store_bed_pass(&bed, S);
		store_bed_close(&bed, true);
		write_image(store_bed_path(&bed, "weft-copy.db"), images[2]);
		if (damaged)
			run_sql("weft.db",
				"PRAGMA locking_mode = EXCLUSIVE;"
				"UPDATE record SET sum = sum + 1 WHERE kind = 9 AND key ="
				" (SELECT min(key) FROM record WHERE kind = 9)");
		log_set_level(NULL, LOG_EMERG);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		member = registry_find(bed.registry, REGISTRY_PARTITION_MEMBER, buffer);
		CU_ASSERT_EQUAL(partition_state(bed.registry),
				damaged ? PARTITIONS_LOST : PARTITIONS_COMPLETE);
		CU_ASSERT_TRUE(damaged || !member);
		store_bed_close(&bed, true);
		store_bed_done(&bed);
		free_images();
	}
}

/* Bad records are named, each one up to ten. */
static void test_named(void)
{
	struct unit_capture capture;
	static char text[16384];
	unsigned lines = 0;

	make_images(true);
	put_images(NAMES, images[0], NAMES, images[0]);
	run_sql("weft.db", "PRAGMA locking_mode = EXCLUSIVE;"
			   "UPDATE record SET sum = sum + 1 WHERE kind = 1 AND key ="
			   " x'0000000000000005';"
			   "UPDATE record SET sum = sum + 1 WHERE kind = 9 AND key <"
			   " x'000100000000000f'; UPDATE record SET sum = sum + 1 WHERE"
			   " kind = 7 AND hex(key) LIKE '6E616D65203700%'");
	log_set_level(NULL, LOG_ERR);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	store_bed_pass(&bed, S);
	store_bed_close(&bed, true);
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "damaged record dropped: lid, GUID 0x5\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "dropped: setting, Name \"name 7\"\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "more damaged records dropped"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "1 of 150 records of kind \"lid\" lost"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "partitions, M_Keys and settings are complete"));
	for (const char *at = text; (at = strstr(at, "dropped: ")); at++)
		lines++;
	CU_ASSERT_EQUAL(lines, STORE_NAMED_MAX);
	store_bed_done(&bed);
	free_images();
}

/* SQLite describes damage in several lines; the log has one line for it. */
static void test_one_line(void)
{
	struct unit_capture capture;
	static char text[16384];
	FILE *file;

	make_images(true);
	put_images(NAMES, images[0], NAMES, images[0]);
	file = fopen(store_bed_path(&bed, "weft.db"), "r+");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fseek(file, 4096, SEEK_SET), 0);
	for (unsigned i = 0; i < 4096; i++)
		fputc(0xa5, file);
	fclose(file);
	log_set_level(NULL, LOG_ERR);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	store_bed_close(&bed, true);
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "in database main *** "));
	CU_ASSERT_PTR_NULL(strstr(text, "\\x0a"));
	store_bed_done(&bed);
	free_images();
}

/* Clients choose MGIDs, and hashes of keys that are equal are easily found: these two records have
 * the same FNV-1a hash of kind and key. A store with both is not damaged. */
static void test_equal_hashes(void)
{
	static const uint8_t mgids[][GID_SIZE] = {
		{0xff, 0x12, 0xaf, 0xa4, 0x44, 0xc7, 0xd3, 0xf3, 0x75, 0x62, 0x3a, 0x05, 0x3c, 0x22,
		 0x1c, 0x85},
		{0xff, 0x12, 0xac, 0xff, 0xc4, 0x40, 0xdf, 0x8f, 0x04, 0xe1, 0xda, 0x08, 0x2f, 0x27,
		 0x0f, 0x88},
	};
	struct group_entry group;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	for (size_t i = 0; i < ARRAY_SIZE(mgids); i++) {
		record_fill((uint8_t *)&group, REGISTRY_GROUP, (unsigned)i);
		memcpy(group.mgid, mgids[i], sizeof(group.mgid));
		registry_put(bed.registry, REGISTRY_GROUP, &group);
	}
	store_bed_pass(&bed, S);
	store_bed_close(&bed, true);
	log_set_level(NULL, LOG_EMERG);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	for (size_t i = 0; i < ARRAY_SIZE(mgids); i++) {
		memcpy(group.mgid, mgids[i], sizeof(group.mgid));
		CU_ASSERT_PTR_NOT_NULL(registry_find(bed.registry, REGISTRY_GROUP, &group));
	}
	CU_ASSERT_FALSE(store_bed_has(&bed, "weft.db.damaged-1"));
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"each page", test_each_page},
		{"random", test_random},
		{"files missing", test_files_missing},
		{"choice", test_choice},
		{"old copy", test_old_copy},
		{"named", test_named},
		{"one line", test_one_line},
		{"equal hashes", test_equal_hashes},
		CU_TEST_INFO_NULL,
	};

	store_disk_init();
	put = registry_new();
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		for (unsigned seed = 0; seed < RECORDS; seed++) {
			record_fill((uint8_t *)buffer, kind, seed);
			registry_put(put, kind, buffer);
		}
	}
	return unit_main("store damage", tests);
}
