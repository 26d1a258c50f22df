/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * There is one job, and at most one of it under way: to write a batch, or to open the file. A batch
 * holds references to the registry's records, which never change; the worker makes the bytes. What
 * follows from a job's end is decided in one place, finished().
 *
 * Degraded, nothing is gathered, for the file will be written from the registry itself: first the
 * file is opened, and what it holds that the registry never had is taken over (it could not be read
 * when the daemon started); then all records are one batch that replaces what is there; what
 * changes from then on is gathered, and when that batch is written all is as it should be.
 *
 * There may be a hundred thousand records and more, so what looks at all of them does it in slices,
 * between two jobs. What changes meanwhile is gathered and ends the batch: so it holds what there
 * was at one moment, though it was collected in many.
 */
#include "sm/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fabric/registry_check.h"
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/slices.h"

enum {
	RETRY_US = 5000000,
	STALL_US = 1000000, /* a disk that takes longer for a batch is as good as none */
	CHANGES_MIN = 64,
	CLEAR_MAX = 1000, /* changes that are let go at once */
	ASIDE_SIZE = 512,
};

struct change {
	const void *record; /* a reference */
	uint8_t kind;
	bool drop;
};

struct batch {
	struct change *changes;
	size_t count, capacity;
	uint64_t number; /* of the registry's last change in it */
	bool anew;	 /* it is all there is */
};

/* What a file held. */
struct contents {
	struct arena *arena; /* NULL: nothing was read */
	struct {
		enum registry_kind kind;
		void *record;
	} * rows;
	size_t count, capacity;
	size_t refused;	 /* records that nobody could bear */
	size_t left_out; /* that do not fit what was registered since */
	char refused_why[STORE_WHY_SIZE];
};

struct store {
	struct loop *loop;
	struct work_pool *pool;
	struct registry *registry; /* NULL before store_keep() */
	struct registry_reader reader;
	store_fits_fn *fits; /* NULL: all do */
	void *fits_ctx;
	char *dir, *path;
	bool loaded; /* what the file held is in the registry */

	/* What is under way is the worker's, up to result. */
	struct work_job job;
	struct store_db *db; /* NULL: the file is not open */
	bool under_way;	     /* from its beginning until walk is over, too */
	bool opening;
	bool ran; /* the worker has done it */
	struct batch batch;
	size_t at; /* in batch.changes: the next to write */
	uint8_t wire[STORE_KEY_MAX + STORE_VALUE_MAX];
	struct contents contents;
	int error;
	char why[STORE_WHY_SIZE];
	char damage[STORE_WHY_SIZE], aside[ASIDE_SIZE]; /* a file that was set aside; or empty */
	uint64_t bytes_now;

	uint64_t bytes; /* as of the last job */
	struct batch gathering;
	bool gathers;
	bool anew;	    /* the next batch is all there is */
	struct slices walk; /* what follows from a job, over all records */
	struct registry_cursor cursor;
	bool degraded;
	char degraded_why[STORE_WHY_SIZE];
	struct loop_deferred begin;
	struct loop_timer retry, stall;
	struct log_limit limit;
	uint64_t commits, committed_s, degradations;
};

/* Batches */

static void batch_add(struct batch *batch, enum registry_kind kind, const void *record, bool drop)
{
	if (batch->count == batch->capacity) {
		batch->capacity = batch->capacity ? 2 * batch->capacity : CHANGES_MIN;
		batch->changes =
			mem_resize(batch->changes, batch->capacity, sizeof(*batch->changes));
	}
	batch->changes[batch->count++] = (struct change){registry_ref(record), kind, drop};
}

/* From the end, so that what is left is a batch. */
static unsigned batch_shrink(struct batch *batch)
{
	if (batch->count) {
		registry_unref(batch->changes[--batch->count].record);
		return 1;
	}
	free(batch->changes);
	*batch = (struct batch){0};
	return 0;
}

static void batch_clear(struct batch *batch)
{
	while (batch_shrink(batch))
		;
}

static void batch_append(struct batch *batch, struct batch *more)
{
	for (size_t i = 0; i < more->count; i++)
		batch_add(batch, more->changes[i].kind, more->changes[i].record,
			  more->changes[i].drop);
	batch_clear(more);
}

static bool next_row(void *ctx, struct store_db_row *out)
{
	struct store *store = ctx;
	const struct registry_table *table;
	const struct change *change;

	if (store->at == store->batch.count)
		return false;
	change = &store->batch.changes[store->at++];
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

/* Contents */

static void contents_clear(struct contents *contents)
{
	arena_free(contents->arena);
	free(contents->rows);
	*contents = (struct contents){0};
}

static void refuse(struct contents *contents, const char *table, const char *field,
		   const char *wrong)
{
	if (!contents->refused++)
		snprintf(contents->refused_why, sizeof(contents->refused_why), "%s: %s: %s", table,
			 field, wrong);
}

/* The checksum was right: what has another size was written by another program. */
static int take_row(void *ctx, const struct store_db_row *row)
{
	struct contents *contents = ctx;
	const struct registry_table *table;
	uint8_t wire[STORE_KEY_MAX + STORE_VALUE_MAX];
	const char *field = "", *wrong;
	void *record;

	if (row->kind < REGISTRY_LID || row->kind >= REGISTRY_KINDS)
		return -EUCLEAN;
	table = &registry_tables[row->kind];
	if (row->key_size != table->key_bytes ||
	    row->key_size + row->value_size != table->format->wire_size)
		return -EUCLEAN;
	memcpy(wire, row->key, row->key_size);
	if (row->value_size) /* else it is NULL: of some kinds the key is all there is */
		memcpy(wire + row->key_size, row->value, row->value_size);
	record = arena_alloc(contents->arena, table->format->struct_size);
	format_decode(table->format, wire, record);
	wrong = registry_check(row->kind, record, &field);
	if (wrong) {
		refuse(contents, table->name, field, wrong);
		return 0;
	}
	if (contents->count == contents->capacity) {
		contents->capacity = contents->capacity ? 2 * contents->capacity : CHANGES_MIN;
		contents->rows =
			mem_resize(contents->rows, contents->capacity, sizeof(*contents->rows));
	}
	contents->rows[contents->count].kind = row->kind;
	contents->rows[contents->count++].record = record;
	return 0;
}

/* On the worker, or before there is one */

static int open_and_read(struct store *store)
{
	int error = store_db_open(store->path, &store->db, store->why);

	if (error || store->loaded)
		return error;
	contents_clear(&store->contents);
	store->contents.arena = arena_new();
	error = store_db_read(store->db, take_row, &store->contents, store->why);
	if (error) {
		store_db_close(store->db);
		store->db = NULL;
		contents_clear(&store->contents);
	}
	return error;
}

static int make_dir(struct store *store)
{
	if (!mkdir(store->dir, 0750) || errno == EEXIST)
		return 0;
	snprintf(store->why, sizeof(store->why), "its folder cannot be made: %s", strerror(errno));
	return -errno;
}

static void open_file(struct store *store)
{
	store->error = make_dir(store);
	if (!store->error)
		store->error = open_and_read(store);
	if (store->error != -EUCLEAN)
		return;
	memcpy(store->damage, store->why, sizeof(store->damage));
	store->error = store_db_set_aside(store->path, store->aside, sizeof(store->aside));
	if (store->error) {
		snprintf(store->why, sizeof(store->why),
			 "it is damaged (%.80s) and cannot be renamed: %.80s", store->damage,
			 strerror(-store->error));
		store->damage[0] = '\0';
		return;
	}
	store->error = open_and_read(store);
}

static void write_batch(struct store *store)
{
	store->at = 0;
	store->error = store_db_write(store->db, store->batch.anew, next_row, store, store->why);
	if (!store->error)
		return;
	store_db_close(store->db);
	store->db = NULL;
}

static void run_job(struct work_job *job)
{
	struct store *store = container_of(job, struct store, job);

	if (store->opening)
		open_file(store);
	else
		write_batch(store);
	store->bytes_now = store_db_size(store->path);
	store->ran = true;
}

/* On the loop */

static void log_damage(struct store *store)
{
	static const struct log_subject subject = {.message_id = MESSAGE_STORE_DAMAGED};

	if (!store->damage[0])
		return;
	log_about(LOG_ERR, &subject,
		  "store %s is damaged (%s): it is kept as %s and a new one begun; LIDs come back "
		  "from the fabric, weftctl restore brings back the rest if it was saved",
		  store->path, store->damage, store->aside);
	store->damage[0] = '\0';
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
			    "store %s degraded: %s; weftd goes on from memory, and what is "
			    "registered now is lost if it ends; mend it, or give a folder on "
			    "another disk with --state-dir; it is tried again",
			    store->path, why);
	registry_keep(store->registry, KEPT_BY_STORE, false);
}

static void start_job(struct store *store, bool opening)
{
	store->opening = opening;
	store->under_way = true;
	store->ran = false;
	store->error = 0;
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

static void take_anew(struct store *store)
{
	batch_append(&store->batch, &store->gathering);
	store->batch.anew = true;
	store->anew = false;
}

static void begin(void *arg)
{
	struct store *store = arg;

	if (store->under_way || registry_is_together(store->registry))
		return;
	if (store->anew) {
		take_anew(store);
		start_job(store, false);
	} else if (store->gathering.count) {
		start_batch(store);
	}
}

/* Walks, in slices */

enum { COST_PUT = 8, COST_RECORD = 1 };

static unsigned release(void *arg, size_t *at)
{
	struct store *store = arg;

	(void)at;
	return batch_shrink(&store->batch);
}

/* What the daemon has since been told is newer. */
static void merge_row(struct store *store, enum registry_kind kind, void *record)
{
	bool known = registry_find(store->registry, kind, record);
	bool fits = !store->fits || store->fits(store->fits_ctx, kind, record, known);

	if (!known && fits)
		registry_put(store->registry, kind, record);
	store->contents.left_out += !fits;
}

/* Twice over all: settings first. */
static unsigned merge(void *arg, size_t *at)
{
	struct store *store = arg;
	struct contents *contents = &store->contents;

	if (store->loaded)
		return 0;
	if (*at < 2 * contents->count) {
		size_t row = *at % contents->count;
		bool settings = (*at)++ < contents->count;

		if ((contents->rows[row].kind == REGISTRY_SETTING) != settings)
			return COST_RECORD;
		merge_row(store, contents->rows[row].kind, contents->rows[row].record);
		return COST_PUT;
	}
	if (contents->refused)
		log_warning("%s: %zu records are left out, as %s", store->path, contents->refused,
			    contents->refused_why);
	if (contents->left_out)
		log_warning("%s: %zu records are left out, as they do not fit what was registered "
			    "before they could be read",
			    store->path, contents->left_out);
	contents_clear(contents);
	store->loaded = true;
	return 0;
}

/* All records, kind by kind, in the order in which they came; *at is the kind. */
static unsigned collect(void *arg, size_t *at)
{
	struct store *store = arg;
	const void *record;

	if (!store->anew || *at == REGISTRY_KINDS)
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

static slice_fn *const walk_stages[] = {release, merge, collect, NULL};
static const struct slice_plan walk_plan = {"store", walk_stages, NULL};

static void walked(void *arg)
{
	struct store *store = arg;

	store->under_way = false;
	begin(store);
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
		    "store %s is well again: all %zu records are written", store->path,
		    store->batch.count);
	registry_keep(store->registry, KEPT_BY_STORE, true);
}

static void committed(struct store *store)
{
	uint64_t number = store->batch.number;
	bool anew = store->batch.anew;

	store->commits++;
	store->committed_s = loop_wall_s(store->loop);
	if (anew && store->degraded)
		recovered(store);
	if (!anew)
		registry_kept(store->registry, KEPT_BY_STORE, number);
}

static void finished(struct work_job *job)
{
	struct store *store = container_of(job, struct store, job);
	bool too_late = !store->opening && store->degraded && !store->batch.anew;

	store->bytes = store->bytes_now;
	loop_timer_disarm(&store->stall);
	log_damage(store);
	if (store->error)
		degrade(store, store->why);
	else if (store->opening || too_late)
		store->anew = true;
	else
		committed(store);
	if (store->anew || store->batch.count > CLEAR_MAX) {
		start_walk(store);
	} else {
		batch_clear(&store->batch);
		walked(store);
	}
}

static void retry(void *arg)
{
	struct store *store = arg;

	if (store->under_way || !store->degraded)
		return;
	if (store->db) {
		store->anew = true;
		start_walk(store);
	} else {
		start_job(store, true);
	}
}

static void stalled(void *arg)
{
	degrade(arg, "the disk has not taken a batch for a second");
}

static void changed(void *ctx, const struct registry_change *change)
{
	struct store *store = ctx;

	if (!store->gathers)
		return;
	batch_add(&store->gathering, change->kind, change->after ? change->after : change->before,
		  !change->after);
	loop_defer(&store->begin);
}

/* Beginning and end */

int store_open(struct loop *loop, const char *dir, struct store **out, char why[STORE_WHY_SIZE])
{
	struct store *store = mem_zalloc(sizeof(*store));

	store->loop = loop;
	store->dir = mem_strdup(dir);
	store->path = mem_printf("%s/weft.db", dir);
	store->job = (struct work_job){.name = "store", .run = run_job, .done = finished};
	list_init(&store->job.link);
	store->reader = (struct registry_reader){.changed = changed, .whole = begin, .ctx = store};
	list_init(&store->reader.link);
	store->limit = (struct log_limit){.burst = 10, .interval_us = 60000000};
	list_init(&store->cursor.link);
	slices_init(&store->walk, loop, &walk_plan, store, walked, store);
	loop_deferred_init(&store->begin, loop, "store", begin, store);
	loop_timer_init(&store->retry, loop, "store retry", retry, store);
	loop_timer_init(&store->stall, loop, "store stall", stalled, store);
	open_file(store);
	if (store->error == -EBUSY) {
		snprintf(why, STORE_WHY_SIZE,
			 "%.120s is in use by another weftd; stop that one, or give this one its "
			 "own --state-dir",
			 store->path);
		store_free(store);
		return -EBUSY;
	}
	store->bytes = store_db_size(store->path);
	store->pool = work_pool_new(loop, 1);
	*out = store;
	return 0;
}

void store_keep(struct store *store, struct registry *registry)
{
	store->registry = registry;
	log_damage(store);
	for (size_t at = 0; !store->error && !store->loaded;)
		merge(store, &at);
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

/* What is to be written anew is complete then. What was read and not taken over yet stays in the
 * file as it is. */
static void end_walk(struct store *store)
{
	bool was_running = store->walk.running;

	slices_cancel(&store->walk);
	registry_walk_end(&store->cursor);
	if (!was_running && !store->anew)
		batch_clear(&store->batch);
	else if (was_running && store->loaded)
		slices_at_once(&walk_plan, store);
	if (store->anew && store->loaded)
		take_anew(store);
}

void store_flush(struct store *store)
{
	registry_unread(&store->reader);
	loop_timer_disarm(&store->retry);
	loop_timer_disarm(&store->stall);
	loop_defer_cancel(&store->begin);
	work_pool_free(store->pool); /* waits for what runs */
	store->pool = NULL;
	if (store->under_way && !store->walk.running && !store->ran)
		run_job(&store->job);
	end_walk(store);
	store->under_way = false;
	if (store->db && store->batch.anew) {
		write_batch(store);
		batch_clear(&store->batch);
	} else if (store->db && store->gathering.count) {
		store->batch = store->gathering;
		store->gathering = (struct batch){0};
		write_batch(store);
		batch_clear(&store->batch);
	}
	if (store->error)
		log_error("store %s: what was registered last is not written: %s", store->path,
			  store->why);
	store_db_close(store->db); /* a clean end empties the log */
	store->db = NULL;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	registry_unread(&store->reader);
	loop_timer_disarm(&store->retry);
	loop_timer_disarm(&store->stall);
	loop_defer_cancel(&store->begin);
	slices_cancel(&store->walk);
	registry_walk_end(&store->cursor);
	work_pool_free(store->pool);
	store_db_close(store->db);
	batch_clear(&store->batch);
	batch_clear(&store->gathering);
	contents_clear(&store->contents);
	free(store->dir);
	free(store->path);
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

/* While a job is under way the size is that of before. */
json_t *store_status(const struct store *store)
{
	json_t *status = json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I}", "path", store->path, "state",
				   store->degraded ? "degraded" : "ok", "bytes",
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
