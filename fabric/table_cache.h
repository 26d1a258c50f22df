/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The image: the forwarding tables that switches have acknowledged, those of multicast too, in one
 * file beside the store, tables.img. After a start it is a hypothesis: a switch that forwards, has
 * the same LinearFDBTop and holds the same in some sampled blocks is taken to hold all of it
 * (sm/program/cached_lft.c, for multicast sm/program/cached_mft.c), so a restart on a fabric that
 * is up reads little and writes nothing. SLtoVL tables are not in it, since this manager writes
 * none.
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

struct image;

/* What a switch holds: references. */
struct image_row {
	guid_t guid;
	struct lft *lft;     /* or NULL: not known */
	struct mft_row *mft; /* the same */
	lid_t mft_top;	     /* its MulticastFDBTop */
};

/* Reads the file in dir, if there is one. pool outlives it, unless image_end() is called. */
struct image *image_new(struct loop *loop, struct work_pool *pool, const char *dir,
			struct fabric *fabric);
void image_free(struct image *image); /* NULL is harmless; no job of the pool runs any more */

/* What the switch held when the file was written: its caller's reference, told once. NULL: that is
 * not known. */
struct lft *image_take(struct image *image, guid_t guid);
/* The same of its multicast table, with the MulticastFDBTop that it had. */
struct mft_row *image_take_mft(struct image *image, guid_t guid, lid_t *top);
/* What was read is of no use any more; of multicast tables alone. */
void image_forget(struct image *image);
void image_forget_mft(struct image *image);

/* What is learned from now on was written by that manager, and of multicast tables nothing else
 * counts. 0: this one, whose file it is. */
void image_of(struct image *image, guid_t author);
guid_t image_author(const struct image *image);
/* What a master has told of a switch counts as if it had been read. Takes the references. */
void image_learn(struct image *image, struct image_row *news);

/* Tables as bytes, in the file or on their way to a standby: each a row of its own. */
size_t image_lft_size(const struct lft *lft);
void image_lft_put(guid_t guid, const struct lft *lft, uint8_t *to);
size_t image_mft_size(const struct mft_row *mft);
void image_mft_put(guid_t guid, const struct mft_row *mft, lid_t top, uint8_t *to);
/* Returns how many bytes it took, and a row with one new table; 0 when they are none, or not as
 * they were. */
size_t image_row_get(const uint8_t *at, size_t size, struct image_row *out);

/* The tables of news replace those of row, which takes their references. */
void image_row_merge(struct image_row *row, const struct image_row *news);
void image_row_done(struct image_row *row);

/* Tables may have changed: the file is to follow; not as soon where those of multicast alone did,
 * which may go on all day. */
void image_touch(struct image *image);
void image_touch_mft(struct image *image);
/* The pool is gone: writes the file now, if it is to follow. */
void image_end(struct image *image);

#endif
