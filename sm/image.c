/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file: a head, then a row for each switch, each with a checksum of its own; all numbers are
 * big-endian. A row has a kind, for other tables to come.
 */
#include "sm/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/message_id.h"
#include "lib/be.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/mem.h"

enum {
	VERSION = 1,
	HEAD_SIZE = 16,	    /* magic, version, rows */
	ROW_HEAD_SIZE = 28, /* GUID, kind, top, bytes, checksum of these and the bytes */
	ROW_SUM = 20,	    /* where that is */
	KIND_LFT = 1,
	DELAY_US = 10000000,
};

static const char magic[8] = {'w', 'e', 'f', 't', 't', 'a', 'b', 'l'};

struct row {
	guid_t guid;
	struct lft *lft; /* a reference */
};

struct rows {
	struct row *list; /* in the order of GUIDs */
	size_t count;
};

struct image {
	struct loop *loop;
	struct work_pool *pool; /* NULL after image_end() */
	struct fabric *fabric;
	char *dir, *path, *part;
	struct map read;     /* by GUID: a struct lft */
	struct rows written; /* what the file holds, as far as we wrote it */
	struct loop_timer timer;
	struct log_limit limit;

	/* The worker's while it is under way. */
	struct work_job job;
	struct rows writing;
	int error;
	bool under_way;
};

static void rows_clear(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		lft_unref(rows->list[i].lft);
	free(rows->list);
	*rows = (struct rows){0};
}

/* Not FNV-1a: eight bytes at a time, for rows are long. It stands on disks. */
static uint64_t sum_of(uint64_t sum, const uint8_t *bytes, size_t size)
{
	for (; size >= 8; bytes += 8, size -= 8) {
		sum = (sum ^ be64_load(bytes)) * HASH_PRIME;
		sum ^= sum >> 29;
	}
	for (; size; bytes++, size--)
		sum = (sum ^ *bytes) * HASH_PRIME;
	return sum;
}

static uint64_t row_sum(const uint8_t head[ROW_HEAD_SIZE], const uint8_t *bytes, size_t size)
{
	return sum_of(sum_of(HASH_SEED, head, ROW_SUM), bytes, size);
}

/* Reading */

/* The next row; 0 when it is not whole. Returns how many bytes it had. */
static size_t read_row(struct image *image, const uint8_t *at, size_t size)
{
	unsigned top, bytes;
	struct lft *lft;

	if (size < ROW_HEAD_SIZE)
		return 0;
	top = be32_load(at + 12);
	bytes = be32_load(at + 16);
	if (be32_load(at + 8) != KIND_LFT || !top || top > LID_UNICAST_MAX ||
	    bytes != (top / LFT_BLOCK_LIDS + 1) * LFT_BLOCK_LIDS || size - ROW_HEAD_SIZE < bytes ||
	    be64_load(at + ROW_SUM) != row_sum(at, at + ROW_HEAD_SIZE, bytes))
		return 0;
	lft = lft_new((lid_t)top);
	memcpy(lft->port, at + ROW_HEAD_SIZE, bytes);
	lft_unref(map_put(&image->read, be64_load(at), lft));
	return ROW_HEAD_SIZE + bytes;
}

static void read_rows(struct image *image, const uint8_t *bytes, size_t size)
{
	static const struct log_subject subject = {.message_id = MESSAGE_STORE_DAMAGED};
	size_t at = HEAD_SIZE, step = 1;
	uint32_t rows, i = 0;

	if (size < HEAD_SIZE || memcmp(bytes, magic, sizeof(magic)) != 0 ||
	    be32_load(bytes + 8) != VERSION) {
		log_about(LOG_WARNING, &subject,
			  "%s is not as this weftd writes it: tables are read from the switches",
			  image->path);
		return;
	}
	for (rows = be32_load(bytes + 12); i < rows && step; i++, at += step)
		step = read_row(image, bytes + at, size - at);
	if (!step)
		log_about(LOG_WARNING, &subject,
			  "%s is damaged from row %u of %u on: those tables are read from the "
			  "switches",
			  image->path, i, rows);
}

static void read_file(struct image *image)
{
	int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat stat_of;
	uint8_t *bytes;
	ssize_t got;

	if (fd < 0)
		return;
	if (!fstat(fd, &stat_of) && S_ISREG(stat_of.st_mode) && stat_of.st_size < INT32_MAX) {
		bytes = mem_alloc((size_t)stat_of.st_size + 1);
		got = read(fd, bytes, (size_t)stat_of.st_size);
		read_rows(image, bytes, got > 0 ? (size_t)got : 0);
		free(bytes);
	}
	close(fd);
}

struct lft *image_take(struct image *image, guid_t guid)
{
	return image ? map_remove(&image->read, guid) : NULL;
}

void image_forget(struct image *image)
{
	size_t position = 0;
	struct lft *lft;

	if (!image || !image->read.count)
		return;
	while ((lft = map_next(&image->read, &position)))
		lft_unref(lft);
	map_done(&image->read);
	map_init(&image->read);
}

/* Writing, on the worker */

static int write_row(FILE *file, const struct row *row)
{
	size_t bytes = (size_t)row->lft->blocks * LFT_BLOCK_LIDS;
	uint8_t head[ROW_HEAD_SIZE];

	be64_store(head, row->guid);
	be32_store(head + 8, KIND_LFT);
	be32_store(head + 12, row->lft->top);
	be32_store(head + 16, (uint32_t)bytes);
	be64_store(head + ROW_SUM, row_sum(head, row->lft->port, bytes));
	return fwrite(head, sizeof(head), 1, file) == 1 &&
			       fwrite(row->lft->port, bytes, 1, file) == 1
		       ? 0
		       : -errno;
}

static int write_rows(FILE *file, const struct rows *rows)
{
	uint8_t head[HEAD_SIZE];
	int error = 0;

	memcpy(head, magic, sizeof(magic));
	be32_store(head + 8, VERSION);
	be32_store(head + 12, (uint32_t)rows->count);
	if (fwrite(head, sizeof(head), 1, file) != 1)
		error = -errno;
	for (size_t i = 0; i < rows->count && !error; i++)
		error = write_row(file, &rows->list[i]);
	if (!error && (fflush(file) || fsync(fileno(file))))
		error = -errno;
	return error;
}

static void sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd); /* without it the file of before may come back, which is as good */
	close(fd);
}

static int write_file(struct image *image)
{
	int fd = open(image->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int error;

	if (!file)
		return -errno;
	error = write_rows(file, &image->writing);
	if (fclose(file) && !error)
		error = -errno;
	if (!error && rename(image->part, image->path))
		error = -errno;
	if (error)
		unlink(image->part);
	else
		sync_dir(image->dir);
	return error;
}

static void run(struct work_job *job)
{
	struct image *image = container_of(job, struct image, job);

	image->error = write_file(image);
}

/* On the loop */

static void finish(struct image *image)
{
	image->under_way = false;
	if (image->error) {
		log_limited(&image->limit, LOG_WARNING, NULL,
			    "%s cannot be written: %s; after a restart tables are read from the "
			    "switches",
			    image->path, strerror(-image->error));
		rows_clear(&image->writing);
		return;
	}
	rows_clear(&image->written);
	image->written = image->writing;
	image->writing = (struct rows){0};
}

static void done(struct work_job *job)
{
	finish(container_of(job, struct image, job));
}

/* What all switches have that hold what they should. */
static void collect(struct image *image, struct rows *out)
{
	const struct roster *roster = fabric_roster(image->fabric);

	out->list = mem_array(roster->num_switches + 1, sizeof(*out->list));
	out->count = 0;
	for (size_t i = 0; i < roster->num_switches; i++) {
		const struct node *node = roster->switches[i];

		if (node->sw->settled && node->sw->have.base)
			out->list[out->count++] =
				(struct row){node->guid, lft_ref(node->sw->have.base)};
	}
}

/* Rows are never changed, so they are the same when they are at the same place. */
static bool same_rows(const struct rows *a, const struct rows *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->list[i].guid != b->list[i].guid || a->list[i].lft != b->list[i].lft)
			return false;
	}
	return true;
}

/* Whether there is something to write, which is then in image->writing. */
static bool prepare(struct image *image)
{
	collect(image, &image->writing);
	if (image->writing.count && !same_rows(&image->writing, &image->written))
		return true;
	rows_clear(&image->writing);
	return false;
}

static void tick(void *arg)
{
	struct image *image = arg;

	if (image->under_way) {
		loop_timer_arm(&image->timer, DELAY_US);
	} else if (prepare(image)) {
		image->under_way = true;
		work_submit(image->pool, &image->job);
	}
}

void image_touch(struct image *image)
{
	if (image && image->pool && !loop_timer_armed(&image->timer))
		loop_timer_arm(&image->timer, DELAY_US);
}

void image_end(struct image *image)
{
	if (!image)
		return;
	image->pool = NULL;
	image->under_way = false;
	rows_clear(&image->writing);
	if (!loop_timer_armed(&image->timer))
		return;
	loop_timer_disarm(&image->timer);
	if (prepare(image)) {
		image->error = write_file(image);
		finish(image);
	}
}

struct image *image_new(struct loop *loop, struct work_pool *pool, const char *dir,
			struct fabric *fabric)
{
	struct image *image = mem_zalloc(sizeof(*image));

	image->loop = loop;
	image->pool = pool;
	image->fabric = fabric;
	image->dir = mem_strdup(dir);
	image->path = mem_printf("%s/tables.img", dir);
	image->part = mem_printf("%s.part", image->path);
	image->job = (struct work_job){.name = "tables", .run = run, .done = done};
	image->limit = (struct log_limit){.burst = 3, .interval_us = 600000000};
	list_init(&image->job.link);
	map_init(&image->read);
	loop_timer_init(&image->timer, loop, "image of tables", tick, image);
	read_file(image);
	return image;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	loop_timer_disarm(&image->timer);
	image_forget(image);
	map_done(&image->read);
	rows_clear(&image->written);
	rows_clear(&image->writing);
	free(image->dir);
	free(image->path);
	free(image->part);
	free(image);
}
