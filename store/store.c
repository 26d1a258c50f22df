/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * At most one job runs at a time: it writes a batch, or opens the files. A batch holds references
 * to records of the registry, which never change; the worker encodes them. finished() alone decides
 * what follows a job.
 *
 * A degraded store gathers no changes, because it will write the whole registry. First it opens the
 * files, and puts their records into the registry if they could not be read at the start. Then all
 * records form a batch that replaces the contents. Later changes are gathered. When their batch is
 * written, too, the store has recovered.
 *
 * There are two files. weft.db has all records. weft-copy.db has the vital records again, and is
 * written first. store/contents.h defines vital records, and the proof of each file. So no damaged
 * page of one file loses a vital record. A damaged file is renamed, and both files are written
 * again from all readable records, before the loop runs.
 *
 * There may be more than a hundred thousand records, so walks over all of them run in slices,
 * between two jobs. Changes in the meantime are gathered and end the batch. So the batch equals the
 * registry at one moment.
 */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/slices.h"
#include "store/batch.h"
#include "store/contents.h"
#include "store/partition_state.h"

enum {
	RETRY_US = 5000000,
	RESTS = 2, /* pause after a batch, in multiples of its time */
	REST_MAX_US = 5000,
	STALL_US = 1000000, /* a disk that takes longer for a batch counts as failed */
	CLEAR_MAX = 1000,   /* largest batch that is freed at once */
	ASIDE_SIZE = 512,
};

enum { MAIN, COPY, FILES };

struct file {
	char *path;
	struct store_db *db; /* NULL: not open */
	bool was_there;
	struct store_contents contents;
	char damage[STORE_WHY_SIZE],
		aside[ASIDE_SIZE]; /* the new name of a damaged file; or empty */
};

struct store {
	struct loop *loop;
	struct work_pool *pool;
	struct registry *registry; /* NULL before store_keep() */
	struct registry_reader reader;
	store_fits_fn *fits; /* NULL: all records fit */
	void *fits_ctx;
	char *dir;
	struct file files[FILES];
	bool loaded;	 /* the records of the files are in the registry */
	bool readable;	 /* some records can be put there */
	bool rewrite;	 /* the files must be written again from the registry */
	bool had_tables; /* at the start: a MASTER has kept tables here (fabric/table_cache.c) */
	enum partition_state vital; /* whether vital records may be missing */
	bool judged;		    /* vital is not in the registry yet */
	struct store_choice choice;
	size_t left_out;     /* records that conflict with newer registrations */
	uint64_t generation; /* of the vital records at the last write */

	/* Owned by the worker while a job runs, up to result. */
	struct work_job job;
	bool under_way; /* from the start of the job until the end of walk */
	bool opening;
	bool ran; /* the worker has run the job */
	struct batch batch;
	enum { ALL_RECORDS = MAIN, VITAL_RECORDS = COPY } writes;
	size_t at; /* in batch.changes: the next to write */
	uint8_t wire[STORE_KEY_MAX + STORE_VALUE_MAX];
	int error;
	char why[STORE_WHY_SIZE];
	uint64_t bytes_now;

	uint64_t bytes; /* as of the last job */
	struct batch gathering;
	bool gathers;
	bool whole;	    /* the next batch has all records */
	struct slices walk; /* after a job, over all records */
	struct registry_cursor cursor;
	bool degraded;
	char degraded_why[STORE_WHY_SIZE];
	struct loop_deferred begin, tell;
	struct loop_timer retry, stall, rest;
	uint64_t began_us; /* the job that runs, or ran last */
	struct log_limit limit;
	uint64_t commits, committed_s, degradations;
};

/* The next change for the file that is being written; NULL: no more. */
static const struct change *next_change(struct store *store)
{
	while (store->at < store->batch.count) {
		const struct change *change = &store->batch.changes[store->at++];

		if (store->writes == ALL_RECORDS || store_kind_is_vital(change->kind))
			return change;
	}
	return NULL;
}

static bool store_next_row(void *ctx, struct store_db_row *out)
{
	struct store *store = ctx;
	const struct change *change = next_change(store);
	const struct registry_table *table;

	if (!change)
		return false;
	table = &registry_tables[change->kind];
	memset(store->wire, 0, table->format->wire_size);
	format_encode(table->format, change->record, store->wire);
	*out = (struct store_db_row){
		.kind = change->kind,
		.key = store->wire,
		.key_size = table->key_bytes,
		.value = change->drop ? NULL : store->wire + table->key_bytes,
		.value_size = table->format->wire_size - (size_t)table->key_bytes,
	};
	return true;
}

/* On the worker, or before the worker exists */

static int make_dir(struct store *store)
{
	if (!mkdir(store->dir, 0750) || errno == EEXIST)
		return 0;
	snprintf(store->why, sizeof(store->why), "cannot create its directory: %s",
		 strerror(errno));
	return -errno;
}

static void store_close_files(struct store *store)
{
	for (unsigned i = 0; i < FILES; i++) {
		store_db_close(store->files[i].db);
		store->files[i].db = NULL;
	}
}

static void forget_contents(struct file *file)
{
	store_contents_release(&file->contents);
	file->contents = (struct store_contents){0};
}

static int open_and_read(struct store *store, struct file *file)
{
	int error = store_db_open(file->path, &file->db, store->why);

	if (error || store->loaded)
		return error;
	error = store_contents_read(&file->contents, file->db, store->why);
	if (!error && !store_contents_whole(&file->contents, store->why))
		return -EUCLEAN; /* with all readable records */
	if (error)
		forget_contents(file);
	return error;
}

/* The records of the file were read, or are read here. */
static int replace_damaged(struct store *store, struct file *file)
{
	int error;

	store_db_close(file->db);
	file->db = NULL;
	if (!store->loaded && !file->contents.arena)
		store_contents_salvage(&file->contents, file->path);
	memcpy(file->damage, store->why, sizeof(file->damage));
	store->rewrite = true;
	error = store_db_set_aside(file->path, file->aside, sizeof(file->aside));
	if (error) {
		snprintf(store->why, sizeof(store->why),
			 "it is damaged (%.80s), and cannot be renamed: %.80s", file->damage,
			 strerror(-error));
		file->damage[0] = '\0';
		return error;
	}
	return store_db_open(file->path, &file->db, store->why);
}

static int store_open_file(struct store *store, struct file *file)
{
	int error;

	forget_contents(file);
	error = open_and_read(store, file);
	return error == -EUCLEAN ? replace_damaged(store, file) : error;
}

/* Decides which records count, and whether vital records are missing. If both files are missing or
 * empty, this is a first start, unless other files show that there was a store. */
static void judge_contents(struct store *store)
{
	const struct file *main = &store->files[MAIN], *copy = &store->files[COPY];
	bool was_there = main->was_there || copy->was_there;
	bool unread = (main->was_there && !main->contents.arena) ||
		      (copy->was_there && !copy->contents.arena);

	store->judged = true;
	store->readable = main->contents.arena || copy->contents.arena;
	store->choice = store_contents_choose(&main->contents, &copy->contents);
	store->generation = store->choice.vital->said.generation;
	store->rewrite |= !store->generation ||
			  main->contents.said.generation != copy->contents.said.generation;
	if (!was_there)
		store->vital = store->had_tables || store_db_was_set_aside(main->path)
				       ? PARTITIONS_LOST
				       : PARTITIONS_COMPLETE;
	else if (store->choice.proved)
		store->vital = PARTITIONS_COMPLETE;
	else
		store->vital = unread ? PARTITIONS_UNREAD : PARTITIONS_LOST;
}

/* No copy is made beside an unusable file: the error of that file counts. */
static void open_both(struct store *store)
{
	struct file *main = &store->files[MAIN], *copy = &store->files[COPY];
	char why[STORE_WHY_SIZE];
	int error = store_open_file(store, main);

	memcpy(why, store->why, sizeof(why));
	if (!error || copy->was_there)
		store->error = store_open_file(store, copy);
	if (!error && store->error)
		snprintf(why, sizeof(why), "weft-copy.db: %.200s", store->why);
	if (error)
		store->error = error;
	memcpy(store->why, why, sizeof(why));
}

static void open_files(struct store *store)
{
	store_close_files(store);
	for (unsigned i = 0; i < FILES; i++)
		store->files[i].was_there = store_db_exists(store->files[i].path);
	store->error = make_dir(store);
	if (!store->error)
		open_both(store);
	if (!store->loaded)
		judge_contents(store);
	if (store->error)
		store_close_files(store);
}

static bool has_vital(const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (store_kind_is_vital(batch->changes[i].kind))
			return true;
	return batch->whole;
}

static int store_write_file(struct store *store, unsigned file)
{
	store->writes = file;
	store->at = 0;
	return store_db_write(store->files[file].db, store->batch.whole, store->generation,
			      store_next_row, store, store->why);
}

/* Writes the copy first, so that it is never older, unless it was damaged. */
static void write_batch(struct store *store)
{
	bool vital = has_vital(&store->batch);

	store->generation += vital;
	store->error = vital ? store_write_file(store, COPY) : 0;
	if (!store->error)
		store->error = store_write_file(store, MAIN);
	if (store->error)
		store_close_files(store);
}

static uint64_t size_of_files(const struct store *store)
{
	return store_db_size(store->files[MAIN].path) + store_db_size(store->files[COPY].path);
}

static void run_job(struct work_job *job)
{
	struct store *store = container_of(job, struct store, job);

	if (store->opening)
		open_files(store);
	else
		write_batch(store);
	store->bytes_now = size_of_files(store);
	store->ran = true;
}

/* On the loop */

static const struct log_subject damaged = {.message_id = MESSAGE_STORE_DAMAGED};

/* Logs the first damaged records by name, and the number of the others. */
static void log_losses(const struct file *file)
{
	const struct store_contents *contents = &file->contents;

	for (size_t i = 0; i < contents->bad && i < STORE_NAMED_MAX; i++)
		log_about(LOG_ERR, &damaged, "%s: damaged record dropped: %s", file->path,
			  contents->named[i]);
	if (contents->bad > STORE_NAMED_MAX)
		log_about(LOG_ERR, &damaged, "%s: %zu more damaged records dropped", file->path,
			  contents->bad - STORE_NAMED_MAX);
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		uint64_t missing = store_contents_missing(contents, kind);

		if (missing)
			log_about(LOG_ERR, &damaged,
				  "%s: %" PRIu64 " of %" PRIu64 " records of kind \"%s\" lost",
				  file->path, missing, contents->said.kinds[kind].count,
				  registry_tables[kind].name);
	}
}

/* Runs in a separate turn after the start, when events are recorded. */
static void log_damage(void *arg)
{
	struct store *store = arg;

	for (unsigned i = 0; i < FILES; i++) {
		struct file *file = &store->files[i];

		if (!file->damage[0])
			continue;
		log_losses(file);
		log_about(LOG_ERR, &damaged,
			  "store %s is damaged (%s): kept as %s, and rewritten with the %" PRIu64
			  " readable records%s",
			  file->path, file->damage, file->aside,
			  store_contents_found(&file->contents),
			  store->vital == PARTITIONS_COMPLETE
				  ? "; partitions, M_Keys and settings are complete"
				  : "");
		file->damage[0] = '\0';
	}
}

static void degrade(struct store *store, const char *why)
{
	static const struct log_subject subject = {.message_id = MESSAGE_STORE};
	bool is_new = !store->degraded || strcmp(why, store->degraded_why) != 0;

	if (store->gathers)
		batch_clear(&store->gathering);
	store->gathers = false;
	store->degradations += !store->degraded;
	store->degraded = true;
	snprintf(store->degraded_why, sizeof(store->degraded_why), "%s", why);
	loop_timer_disarm(&store->stall);
	loop_timer_arm(&store->retry, RETRY_US);
	if (is_new)
		log_limited(&store->limit, LOG_ERR, &subject,
			    "store %s degraded: %s; weftd continues from memory and retries, but "
			    "new registrations are lost if it ends (repair the store, or set "
			    "--state-dir to a directory on another disk)",
			    store->files[MAIN].path, why);
	registry_keep(store->registry, KEPT_BY_STORE, false);
}

static void start_job(struct store *store, bool opening)
{
	store->opening = opening;
	store->under_way = true;
	store->ran = false;
	store->error = 0;
	store->began_us = loop_now_us(store->loop);
	if (!opening && !store->degraded)
		loop_timer_arm(&store->stall, STALL_US);
	work_submit(store->pool, &store->job);
}

static void start_batch(struct store *store)
{
	store->batch = store->gathering;
	store->gathering = (struct batch){0};
	store->batch.number = registry_number(store->registry);
	start_job(store, false);
}

static void take_all_records(struct store *store)
{
	batch_append(&store->batch, &store->gathering);
	store->batch.whole = true;
	store->whole = false;
}

static void store_begin_write(void *arg)
{
	struct store *store = arg;

	if (store->under_way || loop_timer_armed(&store->rest) ||
	    registry_is_together(store->registry))
		return;
	if (store->whole) {
		take_all_records(store);
		start_job(store, false);
	} else if (store->gathering.count) {
		start_batch(store);
	}
}

/* Walks, in slices */

enum { COST_PUT = 8, COST_RECORD = 1 };

static unsigned store_release_batch(void *arg, size_t *at)
{
	struct store *store = arg;

	(void)at;
	return batch_shrink(&store->batch);
}

/* Newer data counts. But the loss of records stays recorded, also if the store could not be
 * read. */
static void merge_row(struct store *store, const struct store_record *row)
{
	bool known = registry_find(store->registry, row->kind, row->record);
	bool fits = !store->fits || store->fits(store->fits_ctx, row->kind, row->record, known);

	/* To make room for the record, fits may have dropped the known record. */
	if (fits && (!registry_find(store->registry, row->kind, row->record) ||
		     is_partition_state(row->kind, row->record)))
		registry_put(store->registry, row->kind, row->record);
	store->left_out += !fits;
}

/* The row with index at: first vital records, then the vital records that complete them, then the
 * others. NULL: the row belongs to another list. *end: no more rows. */
static const struct store_record *store_row(const struct store *store, size_t at, bool *end)
{
	const struct store_contents *const lists[] = {store->choice.vital, store->choice.more,
						      &store->files[MAIN].contents};

	*end = false;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		size_t count = lists[i] ? lists[i]->count : 0;

		if (at < count) {
			const struct store_record *row = &lists[i]->rows[at];
			bool vital = store_kind_is_vital(row->kind);

			return vital == (i + 1 < ARRAY_SIZE(lists)) ? row : NULL;
		}
		at -= count;
	}
	*end = true;
	return NULL;
}

/* Records in the registry whether vital records are missing, until an administrator decides
 * (sm/partition/partitions.h). An unreadable file is no loss once it can be read. */
static void note_completeness(struct store *store)
{
	time_t now = (time_t)loop_wall_s(store->loop);
	struct tm calendar;
	char when[32];

	if (!store->judged || partition_state(store->registry) == PARTITIONS_LOST)
		return;
	store->judged = false;
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &calendar));
	partition_state_put(store->registry, store->vital, when,
			    store->vital == PARTITIONS_UNREAD
				    ? store->why
				    : "the files of the store are damaged");
}

static void log_left_out(const struct store *store)
{
	const struct file *file = &store->files[MAIN];

	if (file->contents.refused)
		log_warning("%s: %zu records dropped: %s", file->path, file->contents.refused,
			    file->contents.refused_why);
	if (store->left_out)
		log_warning("%s: %zu records dropped: they conflict with newer registrations",
			    file->path, store->left_out);
}

/* Walks over all records twice: settings first. If a file could not be read, the walk is repeated
 * later. */
static unsigned store_merge(void *arg, size_t *at)
{
	struct store *store = arg;
	const struct store_record *row;
	bool end, settings;

	if (store->loaded || !store->readable)
		return 0;
	settings = !(*at & 1);
	row = store_row(store, *at >> 1, &end);
	if (!end) {
		*at += 2;
		if (!row || (row->kind == REGISTRY_SETTING) != settings)
			return COST_RECORD;
		merge_row(store, row);
		return COST_PUT;
	}
	if (settings) {
		*at = 1;
		return COST_RECORD;
	}
	log_left_out(store);
	store->loaded = !store->error;
	store->readable = false;
	for (unsigned i = 0; i < FILES; i++)
		store_contents_release(&store->files[i].contents);
	return 0;
}

/* Collects all records, kind by kind, in the order of their first put; *at is the kind. */
static unsigned store_collect(void *arg, size_t *at)
{
	struct store *store = arg;
	const void *record;

	if (!store->whole || *at == REGISTRY_KINDS)
		return 0;
	if (!*at) {
		batch_clear(&store->gathering);
		store->gathers = true;
		registry_walk(store->registry, REGISTRY_LID, -1, NULL, &store->cursor);
		*at = REGISTRY_LID;
	}
	record = registry_walk_next(&store->cursor);
	if (record) {
		batch_add(&store->batch, store->cursor.kind, record, false);
		return COST_RECORD;
	}
	registry_walk_end(&store->cursor);
	if (++*at < REGISTRY_KINDS)
		registry_walk(store->registry, (enum registry_kind) * at, -1, NULL, &store->cursor);
	return COST_RECORD;
}

static unsigned say_completeness(void *arg, size_t *at)
{
	(void)at;
	note_completeness(arg);
	return 0;
}

static slice_fn *const walk_stages[] = {store_release_batch, store_merge, say_completeness,
					store_collect, NULL};
static const struct slice_plan walk_plan = {"store", walk_stages, NULL};

static void store_walked(void *arg)
{
	struct store *store = arg;

	store->under_way = false;
	store_begin_write(store);
}

static void start_walk(struct store *store)
{
	store->under_way = true;
	slices_begin(&store->walk);
}

static void recovered(struct store *store)
{
	static const struct log_subject subject = {.message_id = MESSAGE_STORE};

	store->degraded = false;
	log_limited(&store->limit, LOG_NOTICE, &subject,
		    "store %s recovered: all %zu records are written", store->files[MAIN].path,
		    store->batch.count);
	registry_keep(store->registry, KEPT_BY_STORE, true);
}

static void committed(struct store *store)
{
	uint64_t number = store->batch.number;
	bool whole = store->batch.whole;

	store->commits++;
	store->committed_s = loop_wall_s(store->loop);
	if (whole && store->degraded)
		recovered(store);
	if (!whole)
		registry_kept(store->registry, KEPT_BY_STORE, number);
}

/* Without this pause, a series of changes would keep the worker and the disk busy with commits of
 * single records. With it, a commit takes many records. A single change does not wait, because the
 * pause after the previous commit is over. */
static void take_rest(struct store *store)
{
	uint64_t rest_us = RESTS * (loop_now_us(store->loop) - store->began_us);

	loop_timer_arm(&store->rest, rest_us < REST_MAX_US ? rest_us : REST_MAX_US);
}

static void finished(struct work_job *job)
{
	struct store *store = container_of(job, struct store, job);
	bool too_late = !store->opening && store->degraded && !store->batch.whole;

	store->bytes = store->bytes_now;
	loop_timer_disarm(&store->stall);
	take_rest(store);
	log_damage(store);
	if (store->error)
		degrade(store, store->why);
	else if (store->opening || too_late)
		store->whole = true;
	else
		committed(store);
	if (store->whole || store->batch.count > CLEAR_MAX) {
		start_walk(store);
	} else {
		batch_clear(&store->batch);
		store_walked(store);
	}
}

static void store_retry(void *arg)
{
	struct store *store = arg;

	if (store->under_way || !store->degraded)
		return;
	if (store->files[MAIN].db) {
		store->whole = true;
		start_walk(store);
	} else {
		start_job(store, true);
	}
}

static void stalled(void *arg)
{
	degrade(arg, "the disk did not complete a write within a second");
}

static void store_registry_changed(void *ctx, const struct registry_change *change)
{
	struct store *store = ctx;

	if (!store->gathers)
		return;
	batch_add(&store->gathering, change->kind, change->after ? change->after : change->before,
		  !change->after);
	loop_defer(&store->begin);
}

/* Beginning and end */

static bool has_tables(const char *dir)
{
	char *path = mem_printf("%s/tables.img", dir);
	bool there = store_db_exists(path);

	free(path);
	return there;
}

int store_open(struct loop *loop, const char *dir, struct store **out, char why[STORE_WHY_SIZE])
{
	struct store *store = mem_zalloc(sizeof(*store));

	store->loop = loop;
	store->dir = mem_strdup(dir);
	store->files[MAIN].path = mem_printf("%s/weft.db", dir);
	store->files[COPY].path = mem_printf("%s/weft-copy.db", dir);
	store->had_tables = has_tables(dir);
	store->job = (struct work_job){.name = "store", .run = run_job, .done = finished};
	list_init(&store->job.link);
	store->reader = (struct registry_reader){
		.changed = store_registry_changed, .whole = store_begin_write, .ctx = store};
	list_init(&store->reader.link);
	store->limit = (struct log_limit){.burst = 10, .interval_us = 60000000};
	list_init(&store->cursor.link);
	slices_init(&store->walk, loop, &walk_plan, store, store_walked, store);
	loop_deferred_init(&store->begin, loop, "store", store_begin_write, store);
	loop_deferred_init(&store->tell, loop, "store damaged", log_damage, store);
	loop_timer_init(&store->retry, loop, "store retry", store_retry, store);
	loop_timer_init(&store->stall, loop, "store stall", stalled, store);
	loop_timer_init(&store->rest, loop, "store rest", store_begin_write, store);
	open_files(store);
	if (store->error == -EBUSY) {
		snprintf(why, STORE_WHY_SIZE,
			 "%.120s is in use by another weftd (stop it, or set another --state-dir)",
			 store->files[MAIN].path);
		store_free(store);
		return -EBUSY;
	}
	store->bytes = size_of_files(store);
	store->pool = work_pool_new(loop, 1);
	*out = store;
	return 0;
}

/* Runs before the loop, after damage or with new files: a crash from now on must not lose
 * records. */
static void rewrite_files(struct store *store)
{
	store->whole = true;
	slices_at_once(&walk_plan, store);
	take_all_records(store);
	write_batch(store);
	batch_clear(&store->batch);
	store->rewrite = false;
}

void store_keep(struct store *store, struct registry *registry)
{
	store->registry = registry;
	loop_defer(&store->tell);
	for (size_t at = 0; store_merge(store, &at);)
		;
	note_completeness(store);
	if (!store->error && store->rewrite)
		rewrite_files(store);
	registry_read(registry, &store->reader);
	if (store->error) {
		degrade(store, store->why);
		return;
	}
	store->gathers = true;
	registry_keep(registry, KEPT_BY_STORE, true);
}

void store_on_late(struct store *store, store_fits_fn *fits, void *ctx)
{
	store->fits = fits;
	store->fits_ctx = ctx;
}

/* Completes the records for a rewrite. Records that were read but are not yet in the registry stay
 * in the file. */
static void store_end_walk(struct store *store)
{
	bool was_running = store->walk.running;

	slices_cancel(&store->walk);
	registry_walk_end(&store->cursor);
	if (!was_running && !store->whole)
		batch_clear(&store->batch);
	else if (was_running && store->loaded)
		slices_at_once(&walk_plan, store);
	if (store->whole && store->loaded)
		take_all_records(store);
}

void store_flush(struct store *store)
{
	registry_unread(&store->reader);
	loop_timer_disarm(&store->retry);
	loop_timer_disarm(&store->stall);
	loop_timer_disarm(&store->rest);
	loop_defer_cancel(&store->begin);
	loop_defer_cancel(&store->tell);
	log_damage(store);
	work_pool_free(store->pool); /* waits for the running job */
	store->pool = NULL;
	if (store->under_way && !store->walk.running && !store->ran)
		run_job(&store->job);
	store_end_walk(store);
	store->under_way = false;
	if (store->files[MAIN].db && store->batch.whole) {
		write_batch(store);
		batch_clear(&store->batch);
	} else if (store->files[MAIN].db && store->gathering.count) {
		store->batch = store->gathering;
		store->gathering = (struct batch){0};
		write_batch(store);
		batch_clear(&store->batch);
	}
	if (store->error)
		log_error("store %s: the latest registrations were not written: %s",
			  store->files[MAIN].path, store->why);
	store_close_files(store); /* a clean end empties SQLite's logs */
}

void store_free(struct store *store)
{
	if (!store)
		return;
	registry_unread(&store->reader);
	loop_timer_disarm(&store->retry);
	loop_timer_disarm(&store->stall);
	loop_timer_disarm(&store->rest);
	loop_defer_cancel(&store->begin);
	loop_defer_cancel(&store->tell);
	slices_cancel(&store->walk);
	registry_walk_end(&store->cursor);
	work_pool_free(store->pool);
	store_close_files(store);
	batch_clear(&store->batch);
	batch_clear(&store->gathering);
	for (unsigned i = 0; i < FILES; i++) {
		store_contents_release(&store->files[i].contents);
		free(store->files[i].path);
	}
	free(store->dir);
	free(store);
}

const char *store_dir(const struct store *store)
{
	return store->dir;
}

bool store_degraded(const struct store *store)
{
	return store->degraded;
}

struct work_pool *store_worker(const struct store *store)
{
	return store->pool;
}

/* While a job runs, the size is the size before it. */
json_t *store_status(const struct store *store)
{
	json_t *status = json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I}", "path", store->files[MAIN].path,
				   "state", store->degraded ? "degraded" : "ok", "bytes",
				   (json_int_t)store->bytes, "commits", (json_int_t)store->commits,
				   "committed_s", (json_int_t)store->committed_s, "waiting",
				   (json_int_t)(store->gathering.count + store->batch.count),
				   "degradations", (json_int_t)store->degradations);
	json_t *records = json_object();

	for (unsigned kind = REGISTRY_LID; store->registry && kind < REGISTRY_KINDS; kind++)
		json_object_set_new(
			records, registry_tables[kind].name,
			json_integer((json_int_t)registry_count(store->registry, kind)));
	json_object_set_new(status, "records", records);
	if (store->degraded)
		json_object_set_new(status, "reason", json_string(store->degraded_why));
	return status;
}
