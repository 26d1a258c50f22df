/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The image: the forwarding tables that switches have acknowledged, in one file beside the store,
 * tables.img. After a start it is a hypothesis: a switch that forwards, has the same LinearFDBTop
 * and holds the same in some sampled blocks is taken to hold all of it (sm/program_guess.c), so a
 * restart on a fabric that is up reads little and writes nothing.
 *
 * Rows are references to what switches have, and no copies. The file is written by the store's
 * worker: some seconds after a sweep that changed tables, and at a clean end; under another name
 * first, so that there is always a whole one. What is damaged in it is not believed. Loop thread
 * only.
 */
#ifndef SM_IMAGE_H
#define SM_IMAGE_H

#include "fabric/fabric.h"
#include "lib/loop.h"
#include "lib/work.h"

struct image;

/* Reads the file in dir, if there is one. pool outlives it, unless image_end() is called. */
struct image *image_new(struct loop *loop, struct work_pool *pool, const char *dir,
			struct fabric *fabric);
void image_free(struct image *image); /* NULL is harmless; no job of the pool runs any more */

/* What the switch held when the file was written: its caller's reference, told once. NULL: that is
 * not known. */
struct lft *image_take(struct image *image, guid_t guid);
/* What was read is of no use any more. */
void image_forget(struct image *image);

/* Tables may have changed: the file is to follow. */
void image_touch(struct image *image);
/* The pool is gone: writes the file now, if it is to follow. */
void image_end(struct image *image);

#endif
