/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file: a head, then rows, each with a checksum of its own; all numbers are big-endian. A row
 * is a table of a switch and has a kind: first come the linear tables, then the multicast tables,
 * with their non-empty cells only. Its content is gathered in slices.
 */
#include "fabric/table_cache.h"

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
#include "lib/replace.h"
#include "lib/slices.h"

enum {
	VERSION = 1,
	HEAD_SIZE = 16,	    /* magic, version, rows */
	ROW_HEAD_SIZE = 28, /* GUID, kind, top, bytes, checksum of these and the bytes */
	ROW_SUM = 20,	    /* offset of the checksum */
	KIND_LFT = 1,
	KIND_MFT = 2,
	MFT_HEAD_SIZE = 4,			/* blocks, positions */
	MFT_CELL_SIZE = 4 + 2 * MFT_BLOCK_LIDS, /* index, masks */
	MFT_BLOCKS_MAX = 1 << 9,		/* BlockNumber has 9 bits */
	DELAY_US = 10000000,
	DELAY_MFT_US = 60000000,
};

static const char magic[8] = {'w', 'e', 'f', 't', 't', 'a', 'b', 'l'};

struct rows {
	struct table_cache_row *list; /* in the order of GUIDs */
	size_t count;
};

struct table_cache {
	struct loop *loop;
	struct work_pool *pool; /* NULL after table_cache_end() */
	struct fabric *fabric;
	char *path, *part;
	struct map read;     /* by GUID: a struct table_cache_row */
	guid_t author;	     /* of the tables that were read; 0: this manager */
	struct rows written; /* the content of the file, as far as we wrote it */
	struct loop_timer timer;
	uint64_t due_us; /* the timer's */
	struct log_limit limit;
	struct slices gathering; /* index in writing */
	uint64_t members;	 /* the roster's generation at the start of gathering */

	/* Used by the worker during a write. */
	struct work_job job;
	struct rows writing;
	int error;
	bool under_way;
};

static void rows_clear(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		table_cache_row_done(&rows->list[i]);
	free(rows->list);
	*rows = (struct rows){0};
}

/* Not FNV-1a: eight bytes at a time, because rows are long. Stored files contain it, so it must not
 * change. */
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

static uint64_t table_cache_row_sum(const uint8_t head[ROW_HEAD_SIZE], const uint8_t *bytes,
				    size_t size)
{
	return sum_of(sum_of(HASH_SEED, head, ROW_SUM), bytes, size);
}

/* Rows */

/* Writes the head for the bytes that follow it. */
static void row_head(guid_t guid, uint32_t kind, lid_t top, size_t size, uint8_t *head)
{
	be64_store(head, guid);
	be32_store(head + 8, kind);
	be32_store(head + 12, top);
	be32_store(head + 16, (uint32_t)size);
	be64_store(head + ROW_SUM, table_cache_row_sum(head, head + ROW_HEAD_SIZE, size));
}

static bool row_is_whole(const uint8_t *at, size_t size)
{
	size_t bytes;

	if (size < ROW_HEAD_SIZE)
		return false;
	bytes = be32_load(at + 16);
	return be32_load(at + 12) <= UINT16_MAX && size - ROW_HEAD_SIZE >= bytes &&
	       be64_load(at + ROW_SUM) == table_cache_row_sum(at, at + ROW_HEAD_SIZE, bytes);
}

/* Reading */

/* Each returns false for invalid bytes; else sets a new row. */
static bool decode_lft(const uint8_t *bytes, size_t size, lid_t top, struct table_cache_row *out)
{
	if (!top || top > LID_UNICAST_MAX ||
	    size != (size_t)(top / LFT_BLOCK_LIDS + 1) * LFT_BLOCK_LIDS)
		return false;
	out->lft = lft_new(top);
	memcpy(out->lft->port, bytes, size);
	return true;
}

/* Cells in ascending order, none beyond the blocks. */
static bool decode_mft(const uint8_t *bytes, size_t size, lid_t top, struct table_cache_row *out)
{
	unsigned blocks, positions, count;
	struct mft_row *row;

	if (size < MFT_HEAD_SIZE || (size - MFT_HEAD_SIZE) % MFT_CELL_SIZE)
		return false;
	blocks = be16_load(bytes);
	positions = be16_load(bytes + 2);
	count = (unsigned)((size - MFT_HEAD_SIZE) / MFT_CELL_SIZE);
	if (blocks > MFT_BLOCKS_MAX || !positions || positions > MFT_POSITIONS ||
	    count > blocks * positions)
		return false;
	row = mft_row_new((uint16_t)blocks, (uint8_t)positions, count);
	bytes += MFT_HEAD_SIZE;
	for (unsigned i = 0; i < count; i++, bytes += MFT_CELL_SIZE) {
		row->cell[i].index = be32_load(bytes);
		for (unsigned n = 0; n < MFT_BLOCK_LIDS; n++)
			row->cell[i].ports[n] = be16_load(bytes + 4 + 2 * n);
		if (row->cell[i].index >= blocks * positions ||
		    (i && row->cell[i].index <= row->cell[i - 1].index)) {
			mft_row_unref(row);
			return false;
		}
	}
	out->mft = row;
	out->mft_top = top;
	return true;
}

static const struct {
	uint32_t kind;
	bool (*decode)(const uint8_t *bytes, size_t size, lid_t top, struct table_cache_row *out);
} kinds[] = {{KIND_LFT, decode_lft}, {KIND_MFT, decode_mft}};

size_t table_cache_row_get(const uint8_t *at, size_t size, struct table_cache_row *out)
{
	struct table_cache_row row = {0};
	size_t bytes;

	if (!row_is_whole(at, size))
		return 0;
	bytes = be32_load(at + 16);
	row.guid = be64_load(at);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].kind != be32_load(at + 8) ||
		    !kinds[i].decode(at + ROW_HEAD_SIZE, bytes, (lid_t)be32_load(at + 12), &row))
			continue;
		*out = row;
		return ROW_HEAD_SIZE + bytes;
	}
	return 0;
}

void table_cache_row_merge(struct table_cache_row *row, const struct table_cache_row *news)
{
	row->guid = news->guid;
	if (news->lft) {
		lft_unref(row->lft);
		row->lft = news->lft;
	}
	if (news->mft) {
		mft_row_unref(row->mft);
		row->mft = news->mft;
		row->mft_top = news->mft_top;
	}
}

void table_cache_row_done(struct table_cache_row *row)
{
	lft_unref(row->lft);
	mft_row_unref(row->mft);
}

/* The next row; 0: it is incomplete. Returns its size in bytes. */
static size_t table_cache_read_row(struct table_cache *cache, const uint8_t *at, size_t size)
{
	struct table_cache_row row;
	size_t bytes = table_cache_row_get(at, size, &row);

	if (bytes)
		table_cache_learn(cache, &row);
	return bytes;
}

static void table_cache_read_rows(struct table_cache *cache, const uint8_t *bytes, size_t size)
{
	static const struct log_subject subject = {.message_id = MESSAGE_STORE_DAMAGED};
	size_t at = HEAD_SIZE, step = 1;
	uint32_t rows, i = 0;

	if (size < HEAD_SIZE || memcmp(bytes, magic, sizeof(magic)) != 0 ||
	    be32_load(bytes + 8) != VERSION) {
		log_about(LOG_WARNING, &subject,
			  "%s is not as this weftd writes it: tables are read from the switches",
			  cache->path);
		return;
	}
	for (rows = be32_load(bytes + 12); i < rows && step; i++, at += step)
		step = table_cache_read_row(cache, bytes + at, size - at);
	if (!step)
		log_about(LOG_WARNING, &subject,
			  "%s is damaged from row %u of %u on: those tables are read from the "
			  "switches",
			  cache->path, i, rows);
}

static void table_cache_read_file(struct table_cache *cache)
{
	int fd = open(cache->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat stat_of;
	uint8_t *bytes;
	ssize_t got;

	if (fd < 0)
		return;
	if (!fstat(fd, &stat_of) && S_ISREG(stat_of.st_mode) && stat_of.st_size < INT32_MAX) {
		bytes = mem_alloc((size_t)stat_of.st_size + 1);
		got = read(fd, bytes, (size_t)stat_of.st_size);
		table_cache_read_rows(cache, bytes, got > 0 ? (size_t)got : 0);
		free(bytes);
	}
	close(fd);
}

struct lft *table_cache_take(struct table_cache *cache, guid_t guid)
{
	struct table_cache_row *row = cache ? map_get(&cache->read, guid) : NULL;
	struct lft *lft = row ? row->lft : NULL;

	if (row)
		row->lft = NULL;
	return lft;
}

struct mft_row *table_cache_take_mft(struct table_cache *cache, guid_t guid, lid_t *top)
{
	struct table_cache_row *row = cache ? map_get(&cache->read, guid) : NULL;
	struct mft_row *mft = row ? row->mft : NULL;

	if (!mft)
		return NULL;
	*top = row->mft_top;
	row->mft = NULL;
	return mft;
}

void table_cache_learn(struct table_cache *cache, struct table_cache_row *news)
{
	struct table_cache_row *row;

	if (!cache) {
		table_cache_row_done(news);
		return;
	}
	row = map_get(&cache->read, news->guid);
	if (!row) {
		row = mem_zalloc(sizeof(*row));
		map_put(&cache->read, news->guid, row);
	}
	table_cache_row_merge(row, news);
}

void table_cache_forget_mft(struct table_cache *cache)
{
	struct table_cache_row *row;
	size_t position = 0;

	if (!cache)
		return;
	while ((row = map_next(&cache->read, &position))) {
		mft_row_unref(row->mft);
		row->mft = NULL;
	}
}

void table_cache_forget(struct table_cache *cache)
{
	struct table_cache_row *row;
	size_t position = 0;

	if (!cache)
		return;
	while ((row = map_next(&cache->read, &position))) {
		table_cache_row_done(row);
		free(row);
	}
	map_done(&cache->read);
}

void table_cache_of(struct table_cache *cache, guid_t author)
{
	table_cache_forget_mft(cache);
	if (cache)
		cache->author = author;
}

guid_t table_cache_author(const struct table_cache *cache)
{
	return cache ? cache->author : 0;
}

/* Rows as bytes; also on the worker. */

size_t table_cache_lft_size(const struct lft *lft)
{
	return ROW_HEAD_SIZE + (size_t)lft->blocks * LFT_BLOCK_LIDS;
}

void table_cache_lft_put(guid_t guid, const struct lft *lft, uint8_t *to)
{
	size_t size = (size_t)lft->blocks * LFT_BLOCK_LIDS;

	memcpy(to + ROW_HEAD_SIZE, lft->port, size);
	row_head(guid, KIND_LFT, lft->top, size, to);
}

size_t table_cache_mft_size(const struct mft_row *mft)
{
	return ROW_HEAD_SIZE + MFT_HEAD_SIZE + (size_t)mft->count * MFT_CELL_SIZE;
}

void table_cache_mft_put(guid_t guid, const struct mft_row *mft, lid_t top, uint8_t *to)
{
	uint8_t *at = to + ROW_HEAD_SIZE;

	be16_store(at, mft->blocks);
	be16_store(at + 2, mft->positions);
	at += MFT_HEAD_SIZE;
	for (uint32_t i = 0; i < mft->count; i++, at += MFT_CELL_SIZE) {
		be32_store(at, mft->cell[i].index);
		for (unsigned n = 0; n < MFT_BLOCK_LIDS; n++)
			be16_store(at + 4 + 2 * n, mft->cell[i].ports[n]);
	}
	row_head(guid, KIND_MFT, top, (size_t)(at - to) - ROW_HEAD_SIZE, to);
}

/* Writing, on the worker */

static int write_lft(FILE *file, const struct table_cache_row *row)
{
	size_t size = table_cache_lft_size(row->lft);
	uint8_t *bytes = mem_alloc(size);
	int error;

	table_cache_lft_put(row->guid, row->lft, bytes);
	error = fwrite(bytes, size, 1, file) == 1 ? 0 : -errno;
	free(bytes);
	return error;
}

static int write_mft(FILE *file, const struct table_cache_row *row)
{
	size_t size = table_cache_mft_size(row->mft);
	uint8_t *bytes = mem_alloc(size);
	int error;

	table_cache_mft_put(row->guid, row->mft, row->mft_top, bytes);
	error = fwrite(bytes, size, 1, file) == 1 ? 0 : -errno;
	free(bytes);
	return error;
}

static uint32_t rows_in_file(const struct rows *rows)
{
	uint32_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += (rows->list[i].lft != NULL) + (rows->list[i].mft != NULL);
	return count;
}

static int write_rows(FILE *file, const void *what)
{
	const struct rows *rows = what;
	uint8_t head[HEAD_SIZE];
	int error = 0;

	memcpy(head, magic, sizeof(magic));
	be32_store(head + 8, VERSION);
	be32_store(head + 12, rows_in_file(rows));
	if (fwrite(head, sizeof(head), 1, file) != 1)
		error = -errno;
	for (size_t i = 0; i < rows->count && !error; i++)
		error = rows->list[i].lft ? write_lft(file, &rows->list[i]) : 0;
	for (size_t i = 0; i < rows->count && !error; i++)
		error = rows->list[i].mft ? write_mft(file, &rows->list[i]) : 0;
	return error;
}

static int table_cache_write_file(const struct table_cache *cache)
{
	int error = file_replace(cache->path, cache->part, write_rows, &cache->writing);

	if (!error)
		(void)file_sync_name(cache->path); /* the old file would be as good */
	return error;
}

static void table_cache_run(struct work_job *job)
{
	struct table_cache *cache = container_of(job, struct table_cache, job);

	cache->error = table_cache_write_file(cache);
}

/* On the loop */

static void table_cache_write_end(struct table_cache *cache)
{
	cache->under_way = false;
	if (cache->error) {
		log_limited(&cache->limit, LOG_WARNING, NULL,
			    "%s cannot be written: %s; after a restart tables are read from the "
			    "switches",
			    cache->path, strerror(-cache->error));
		rows_clear(&cache->writing);
		return;
	}
	rows_clear(&cache->written);
	cache->written = cache->writing;
	cache->writing = (struct rows){0};
}

static void table_cache_job_done(struct work_job *job)
{
	table_cache_write_end(container_of(job, struct table_cache, job));
}

/* Gathering: the known tables of switches. */

static unsigned table_cache_gather(void *arg, size_t *at)
{
	struct table_cache *cache = arg;
	const struct roster *roster = fabric_roster(cache->fabric);
	const struct node *node;
	struct table_cache_row row;

	if (!*at) {
		rows_clear(&cache->writing);
		cache->writing.list = mem_array(roster->num_switches + 1, sizeof(row));
		cache->members = roster->members;
	}
	if (*at == roster->num_switches)
		return 0;
	node = roster->switches[(*at)++];
	row = (struct table_cache_row){
		.guid = node->guid,
		.lft = node->sw->lft.settled && node->sw->lft.have.base
			       ? lft_ref(node->sw->lft.have.base)
			       : NULL,
		.mft = node->sw->mft ? mft_row(node->sw->mft) : NULL,
		.mft_top = node->facts->sw.multicast_fdb_top,
	};
	if (row.lft || row.mft)
		cache->writing.list[cache->writing.count++] = row;
	return row.mft ? 1 + row.mft->count : 1;
}

/* Switches appeared or disappeared. */
static bool table_cache_is_stale(const void *arg)
{
	const struct table_cache *cache = arg;

	return cache->members != fabric_roster(cache->fabric)->members;
}

static slice_fn *const gather_stages[] = {table_cache_gather, NULL};
static const struct slice_plan gather_plan = {"gathering tables", gather_stages,
					      table_cache_is_stale};

/* Rows never change, so equal addresses mean equal content. */
static bool same_rows(const struct rows *a, const struct rows *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct table_cache_row *x = &a->list[i], *y = &b->list[i];

		if (x->guid != y->guid || x->lft != y->lft || x->mft != y->mft ||
		    x->mft_top != y->mft_top)
			return false;
	}
	return true;
}

/* Whether a write is needed; its data are then in table_cache->writing. */
static bool is_new(struct table_cache *cache)
{
	if (cache->writing.count && !same_rows(&cache->writing, &cache->written))
		return true;
	rows_clear(&cache->writing);
	return false;
}

static void table_cache_gathered(void *arg)
{
	struct table_cache *cache = arg;

	if (!is_new(cache))
		return;
	cache->under_way = true;
	work_submit(cache->pool, &cache->job);
}

static void table_cache_arm(struct table_cache *cache, uint64_t delay_us)
{
	uint64_t due_us = loop_now_us(cache->loop) + delay_us;

	if (loop_timer_armed(&cache->timer) && cache->due_us <= due_us)
		return;
	cache->due_us = due_us;
	loop_timer_arm(&cache->timer, delay_us);
}

static void table_cache_tick(void *arg)
{
	struct table_cache *cache = arg;

	if (cache->under_way || cache->gathering.running)
		table_cache_arm(cache, DELAY_US);
	else
		slices_begin(&cache->gathering);
}

void table_cache_touch(struct table_cache *cache)
{
	if (cache && cache->pool)
		table_cache_arm(cache, DELAY_US);
}

void table_cache_touch_mft(struct table_cache *cache)
{
	if (cache && cache->pool)
		table_cache_arm(cache, DELAY_MFT_US);
}

void table_cache_end(struct table_cache *cache)
{
	bool due;

	if (!cache)
		return;
	due = loop_timer_armed(&cache->timer) || cache->gathering.running;
	cache->pool = NULL;
	cache->under_way = false;
	loop_timer_disarm(&cache->timer);
	slices_cancel(&cache->gathering);
	rows_clear(&cache->writing);
	if (!due)
		return;
	slices_at_once(&gather_plan, cache);
	if (is_new(cache)) {
		cache->error = table_cache_write_file(cache);
		table_cache_write_end(cache);
	}
}

struct table_cache *table_cache_new(struct loop *loop, struct work_pool *pool, const char *dir,
				    struct fabric *fabric)
{
	struct table_cache *cache = mem_zalloc(sizeof(*cache));

	cache->loop = loop;
	cache->pool = pool;
	cache->fabric = fabric;
	cache->path = mem_printf("%s/tables.img", dir);
	cache->part = mem_printf("%s.part", cache->path);
	cache->job = (struct work_job){
		.name = "tables", .run = table_cache_run, .done = table_cache_job_done};
	cache->limit = (struct log_limit){.burst = 3, .interval_us = 600000000};
	list_init(&cache->job.link);
	map_init(&cache->read);
	slices_init(&cache->gathering, loop, &gather_plan, cache, table_cache_gathered, cache);
	loop_timer_init(&cache->timer, loop, "table cache", table_cache_tick, cache);
	table_cache_read_file(cache);
	return cache;
}

void table_cache_free(struct table_cache *cache)
{
	if (!cache)
		return;
	loop_timer_disarm(&cache->timer);
	slices_cancel(&cache->gathering);
	table_cache_forget(cache);
	map_done(&cache->read);
	rows_clear(&cache->written);
	rows_clear(&cache->writing);
	free(cache->path);
	free(cache->part);
	free(cache);
}
