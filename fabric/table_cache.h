/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table cache: the forwarding tables that switches have acknowledged, including multicast
 * tables, in a file beside the store, tables.img. After a start it is a hypothesis. A switch that
 * forwards, has the same LinearFDBTop and has the same content in some sampled blocks is assumed to
 * hold all of it (sm/program/cached.c). So a restart on a running fabric reads little and writes
 * nothing. SLtoVL tables are not in it, because this manager writes none.
 *
 * Rows are references to the tables of switches, not copies. The store's worker writes the file:
 * some seconds after a sweep that changed tables, later if only groups changed, and at a clean end.
 * It is written under another name first, so that there is always a complete file. Damaged parts
 * are ignored, and parts that joins have made outdated are detected before they are used for
 * writes. Loop thread only.
 */
#ifndef FABRIC_TABLE_CACHE_H
#define FABRIC_TABLE_CACHE_H

#include "fabric/fabric.h"
#include "fabric/mft.h"
#include "lib/loop.h"
#include "lib/work.h"

struct table_cache;

/* The tables of a switch: references. */
struct table_cache_row {
	guid_t guid;
	struct lft *lft;     /* NULL: unknown */
	struct mft_row *mft; /* NULL: unknown */
	lid_t mft_top;	     /* its MulticastFDBTop */
};

/* Reads the file in dir, if it exists. pool must outlive it, unless table_cache_end() is called. */
struct table_cache *table_cache_new(struct loop *loop, struct work_pool *pool, const char *dir,
				    struct fabric *fabric);
void table_cache_free(
	struct table_cache *cache); /* NULL is harmless; no job of the pool may run any more */

/* The table of the switch in the file: the caller's reference, returned once. NULL: unknown. */
struct lft *table_cache_take(struct table_cache *cache, guid_t guid);
/* The same for its multicast table, with its MulticastFDBTop. */
struct mft_row *table_cache_take_mft(struct table_cache *cache, guid_t guid, lid_t *top);
/* Drops all tables that were read. */
void table_cache_forget(struct table_cache *cache);
/* Drops the multicast tables that were read. */
void table_cache_forget_mft(struct table_cache *cache);

/* Tables from table_cache_learn() are now those of that manager, and its multicast tables replace
 * all others. 0: this manager, whose file it is. */
void table_cache_of(struct table_cache *cache, guid_t author);
/* The manager of the last table_cache_of(); 0: this manager. */
guid_t table_cache_author(const struct table_cache *cache);
/* Tables that a master reported count as if they had been read. Takes over the references. */
void table_cache_learn(struct table_cache *cache, struct table_cache_row *news);

/* Tables as bytes, in the file or for a standby: a row each. The size of a row in bytes. */
size_t table_cache_lft_size(const struct lft *lft);
/* Writes a row of table_cache_lft_size() bytes. */
void table_cache_lft_put(guid_t guid, const struct lft *lft, uint8_t *to);
/* The size of a multicast row in bytes. */
size_t table_cache_mft_size(const struct mft_row *mft);
/* Writes a row of table_cache_mft_size() bytes; top is MulticastFDBTop. */
void table_cache_mft_put(guid_t guid, const struct mft_row *mft, lid_t top, uint8_t *to);
/* Reads a row, with a new table in *out. Returns its size in bytes; 0: it is invalid or damaged. */
size_t table_cache_row_get(const uint8_t *at, size_t size, struct table_cache_row *out);

/* Replaces the tables in row by those of news, whose references it takes over. */
void table_cache_row_merge(struct table_cache_row *row, const struct table_cache_row *news);
/* Releases the references of a row. */
void table_cache_row_done(struct table_cache_row *row);

/* Tables may have changed: the file is written after a delay. NULL is harmless. */
void table_cache_touch(struct table_cache *cache);
/* The same if only multicast tables changed, with a longer delay, because that may continue all
 * day. */
void table_cache_touch_mft(struct table_cache *cache);
/* The pool ends: writes the file now, if a write is pending. */
void table_cache_end(struct table_cache *cache);

#endif
