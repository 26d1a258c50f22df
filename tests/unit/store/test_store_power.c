/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The store's promise: no end of the daemon, at any point, loses an acknowledged change or brings
 * back a record that was never put. A child changes records and reports acknowledged changes by a
 * pipe. It ends at a random write or sync of SQLite's, alone or with the power of the machine. Its
 * changes follow from the seed, so the parent knows all states. The file must hold one of them, at
 * least as late as the last acknowledged state.
 *
 * STORE_POINTS=n plays n points instead of 200, STORE_SEED=n begins with another seed.
 */
// WITH: tests/sim/loop_virtual.o tests/unit/store/work_held.o
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/unit/fixtures/store_bed.h"

enum { KEYS = 24, OPS = 400, STEP_US = 200, RECORDS = 60, BITS = 8 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* A change: a record of one of some keys is put, or, with LID_NONE, dropped. */
struct op {
	guid_t guid;
	lid_t lid;
};

static struct op next_op(uint64_t *state)
{
	struct op op = {.guid = 1 + next_random(state) % KEYS};

	if (next_random(state) % 4)
		op.lid = (lid_t)(1 + next_random(state) % LID_UNICAST_MAX);
	return op;
}

struct teller {
	struct registry_waiter waiter;
	struct bed *bed;
	int pipe;
	unsigned done; /* changes when the wait began */
	bool waits;
};

static void tell(void *ctx)
{
	struct teller *teller = ctx;

	teller->waits = false;
	if (write(teller->pipe, &teller->done, sizeof(teller->done)) != sizeof(teller->done))
		abort();
}

static void play(struct bed *bed, uint64_t seed, int pipe)
{
	struct teller teller = {.waiter = {.durable = tell, .ctx = &teller}, .pipe = pipe};
	uint64_t state = seed;

	if (store_bed_open(bed))
		abort();
	for (unsigned i = 0; i < OPS; i++) {
		struct op op = next_op(&state);

		if (op.lid)
			store_bed_put(bed, op.guid, op.lid);
		else
			registry_drop(bed->registry, REGISTRY_LID, &op.guid);
		if (!teller.waits) {
			teller.waits = true;
			teller.done = i + 1;
			registry_wait(bed->registry, &teller.waiter);
		}
		if (next_random(&seed) % 3)
			store_bed_pass(bed, next_random(&seed) % STEP_US);
	}
	store_bed_pass(bed, 100 * STEP_US);
	store_bed_close(bed, true);
	_exit(0);
}

static unsigned last_reported(int fd)
{
	unsigned told = 0, got;

	while (read(fd, &got, sizeof(got)) == sizeof(got))
		told = got;
	return told;
}

static bool same_state(const struct bed *bed, const lid_t lids[KEYS + 1])
{
	for (guid_t guid = 1; guid <= KEYS; guid++) {
		if (store_bed_lid(bed, guid) != lids[guid])
			return false;
	}
	return true;
}

/* Whether the registry is as it was after some number of changes, at least so many. */
static bool is_a_state(const struct bed *bed, uint64_t seed, unsigned least)
{
	lid_t lids[KEYS + 1] = {0};

	for (unsigned i = 0; i <= OPS; i++) {
		struct op op;

		if (i >= least && same_state(bed, lids))
			return true;
		op = next_op(&seed);
		lids[op.guid] = op.lid;
	}
	return false;
}

static void end_at(uint64_t seed, unsigned long act, bool power)
{
	int pipes[2], status = 0;
	unsigned told;
	struct bed bed;
	pid_t child;

	store_bed_init(&bed);
	CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
	child = fork();
	if (!child) {
		close(pipes[0]);
		store_disk.acts = 0;
		store_disk.end_at = act;
		store_disk.power = power;
		store_disk.random = seed;
		play(&bed, seed, pipes[1]);
	}
	close(pipes[1]);
	told = last_reported(pipes[0]);
	close(pipes[0]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || !WEXITSTATUS(status)));
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	CU_ASSERT_FALSE(store_degraded(bed.store));
	CU_ASSERT_FALSE(store_bed_has(&bed, "weft.db.damaged-1"));
	if (!is_a_state(&bed, seed, told)) {
		CU_FAIL("something acknowledged is lost, or something is there that never was");
		printf("    seed %llu, act %lu, %s\n", (unsigned long long)seed, act,
		       power ? "power" : "process");
	}
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

static unsigned long number_of(const char *name, unsigned long preset)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : preset;
}

/* How many writes and syncs a run has, by a run without a cut. */
static unsigned long count_acts(void)
{
	uint64_t state = 1;
	struct bed bed;
	unsigned long acts;

	store_bed_init(&bed);
	store_disk.acts = 0;
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	for (unsigned i = 0; i < OPS; i++) {
		struct op op = next_op(&state);

		if (op.lid)
			store_bed_put(&bed, op.guid, op.lid);
		store_bed_pass(&bed, STEP_US / 3);
	}
	store_bed_close(&bed, true);
	acts = store_disk.acts;
	store_bed_done(&bed);
	return acts;
}

static void test_ends_anywhere(void)
{
	unsigned long points = number_of("STORE_POINTS", 200);
	uint64_t seed = number_of("STORE_SEED", 1), state = seed;
	unsigned long acts = count_acts();

	CU_ASSERT_TRUE(acts > OPS);
	for (unsigned long i = 0; i < points; i++)
		end_at(seed + i, 1 + next_random(&state) % acts, i % 2);
}

/* Damage */

static void copy_file(const char *from_path, const char *to_path, long at, uint8_t bits)
{
	FILE *from = fopen(from_path, "rb"), *to = fopen(to_path, "wb");
	int byte;

	if (!from || !to)
		abort();
	for (long i = 0; (byte = getc(from)) != EOF; i++)
		putc(i == at ? byte ^ bits : byte, to);
	fclose(from);
	fclose(to);
}

static unsigned intact(const struct bed *bed)
{
	unsigned count = 0;

	for (guid_t guid = 1; guid <= RECORDS; guid++)
		count += store_bed_lid(bed, guid) == guid * 7;
	return count;
}

/* A flipped bit has one of three results. Either all is unchanged, or the file is set aside and the
 * records read from it are unchanged. Or the file looks like that of another program or version,
 * and is left alone. */
static void damage(const struct bed *whole, long at, uint8_t bits, unsigned seen[3])
{
	char from[512];
	size_t count;
	struct bed bed;

	store_bed_init(&bed);
	snprintf(from, sizeof(from), "%s", store_bed_path(whole, "weft.db"));
	copy_file(from, store_bed_path(&bed, "weft.db"), at, bits);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
	count = registry_count(bed.registry, REGISTRY_LID);
	if (store_bed_has(&bed, "weft.db.damaged-1")) {
		seen[1]++;
		CU_ASSERT_EQUAL(count, intact(&bed));
		CU_ASSERT_FALSE(store_degraded(bed.store));
		store_bed_put(&bed, 1, 1);
		store_bed_pass(&bed, 1000000);
		CU_ASSERT_FALSE(store_degraded(bed.store));
	} else if (store_degraded(bed.store)) {
		seen[2]++;
		CU_ASSERT_EQUAL(count, intact(&bed));
	} else {
		seen[0]++;
		if (count != RECORDS || intact(&bed) != RECORDS) {
			CU_FAIL("records are wrong or missing without a report");
			printf("    byte %ld, bits %#x: %zu records, %u intact\n", at, bits, count,
			       intact(&bed));
		}
	}
	store_bed_close(&bed, true);
	store_bed_done(&bed);
}

static void test_damage_anywhere(void)
{
	struct unit_capture capture;
	unsigned seen[3] = {0};
	char text[64];
	struct stat stat_of;
	struct bed whole;

	store_bed_init(&whole);
	CU_ASSERT_EQUAL_FATAL(store_bed_open(&whole), 0);
	for (guid_t guid = 1; guid <= RECORDS; guid++)
		store_bed_put(&whole, guid, (lid_t)(guid * 7));
	store_bed_close(&whole, true);
	CU_ASSERT_EQUAL_FATAL(stat(store_bed_path(&whole, "weft.db"), &stat_of), 0);
	unit_capture_begin(&capture);
	for (long at = 0; at < stat_of.st_size; at += at < 120 ? 1 : 5)
		damage(&whole, at, (uint8_t)(1u << at % BITS), seen);
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_TRUE(seen[0] > 100); /* bytes without records */
	CU_ASSERT_TRUE(seen[1] > 100);
	CU_ASSERT_TRUE(seen[2] < 100);
	store_bed_done(&whole);
}

/* A file that is something else altogether, empty, or cut. */
static void test_other_bytes(void)
{
	static const struct {
		long bytes;
		int byte;
		bool aside;
	} rows[] = {{0, 0, false}, {100, 'x', true}, {4096, 0, true}, {9000, 0xff, true}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct unit_capture capture;
		char text[1024];
		struct bed bed;
		FILE *file;

		store_bed_init(&bed);
		file = fopen(store_bed_path(&bed, "weft.db"), "wb");
		for (long at = 0; at < rows[i].bytes; at++)
			putc(rows[i].byte, file);
		fclose(file);
		unit_capture_begin(&capture);
		CU_ASSERT_EQUAL_FATAL(store_bed_open(&bed), 0);
		store_bed_pass(&bed, 1);
		unit_capture_end(&capture, text, sizeof(text));
		CU_ASSERT_FALSE(store_degraded(bed.store));
		CU_ASSERT_EQUAL(store_bed_has(&bed, "weft.db.damaged-1"), rows[i].aside);
		CU_ASSERT_EQUAL(strstr(text, "is damaged") != NULL, rows[i].aside);
		store_bed_close(&bed, true);
		store_bed_done(&bed);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"it ends anywhere", test_ends_anywhere},
		{"damage anywhere", test_damage_anywhere},
		{"other bytes", test_other_bytes},
		CU_TEST_INFO_NULL,
	};

	store_disk_init();
	return unit_main("store and power", tests);
}
