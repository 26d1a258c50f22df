/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table cache: the forwarding tables that switches have acknowledged, those of multicast too,
 * in one file beside the store, tables.img. After a start it is a hypothesis: a switch that
 * forwards, has the same LinearFDBTop and holds the same in some sampled blocks is taken to hold
 * all of it (sm/program/cached_lft.c, for multicast sm/program/cached_mft.c), so a restart on a
 * fabric that is up reads little and writes nothing. SLtoVL tables are not in it, since this
 * manager writes none.
 *
 * Rows are references to what switches have, and no copies. The file is written by the store's
 * worker: some seconds after a sweep that changed tables, some more after groups did, and at a
 * clean end; under another name first, so that there is always a whole one. What is damaged in it
 * is not believed, and what joins have made old is found before it is written. Loop thread only.
 */
#ifndef FABRIC_TABLE_CACHE_H
#define FABRIC_TABLE_CACHE_H

#include "fabric/fabric.h"
#include "fabric/mft.h"
#include "lib/loop.h"
#include "lib/work.h"

struct table_cache;

/* What a switch holds: references. */
struct table_cache_row {
	guid_t guid;
	struct lft *lft;     /* or NULL: not known */
	struct mft_row *mft; /* the same */
	lid_t mft_top;	     /* its MulticastFDBTop */
};

/* Reads the file in dir, if there is one. pool outlives it, unless table_cache_end() is called. */
struct table_cache *table_cache_new(struct loop *loop, struct work_pool *pool, const char *dir,
				    struct fabric *fabric);
void table_cache_free(
	struct table_cache *cache); /* NULL is harmless; no job of the pool runs any more */

/* What the switch held when the file was written: its caller's reference, told once. NULL: that is
 * not known. */
struct lft *table_cache_take(struct table_cache *cache, guid_t guid);
/* The same of its multicast table, with the MulticastFDBTop that it had. */
struct mft_row *table_cache_take_mft(struct table_cache *cache, guid_t guid, lid_t *top);
/* What was read is of no use any more; of multicast tables alone. */
void table_cache_forget(struct table_cache *cache);
void table_cache_forget_mft(struct table_cache *cache);

/* What is learned from now on was written by that manager, and of multicast tables nothing else
 * counts. 0: this one, whose file it is. */
void table_cache_of(struct table_cache *cache, guid_t author);
guid_t table_cache_author(const struct table_cache *cache);
/* What a master has told of a switch counts as if it had been read. Takes the references. */
void table_cache_learn(struct table_cache *cache, struct table_cache_row *news);

/* Tables as bytes, in the file or on their way to a standby: each a row of its own. */
size_t table_cache_lft_size(const struct lft *lft);
void table_cache_lft_put(guid_t guid, const struct lft *lft, uint8_t *to);
size_t table_cache_mft_size(const struct mft_row *mft);
void table_cache_mft_put(guid_t guid, const struct mft_row *mft, lid_t top, uint8_t *to);
/* Returns how many bytes it took, and a row with one new table; 0 when they are none, or not as
 * they were. */
size_t table_cache_row_get(const uint8_t *at, size_t size, struct table_cache_row *out);

/* The tables of news replace those of row, which takes their references. */
void table_cache_row_merge(struct table_cache_row *row, const struct table_cache_row *news);
void table_cache_row_done(struct table_cache_row *row);

/* Tables may have changed: the file is to follow; not as soon where those of multicast alone did,
 * which may go on all day. */
void table_cache_touch(struct table_cache *cache);
void table_cache_touch_mft(struct table_cache *cache);
/* The pool is gone: writes the file now, if it is to follow. */
void table_cache_end(struct table_cache *cache);

#endif
