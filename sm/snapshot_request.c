/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One snapshot is frozen at a time, after who has waited longest; all who want one of that kind get
 * it. Called by sweep.c and the commands. It owns the last snapshot, so that asking twice costs
 * nothing.
 */
#include "sm/snapshot_request.h"

#include <stdlib.h>

#include "lib/mem.h"

static bool snapshot_is_current(const struct picture *picture, bool as_found)
{
	const struct fabric *fabric = picture->freeze.fabric;

	return picture->last && picture->as_found == as_found &&
	       picture->topology == fabric->topology && picture->facts == fabric->facts;
}

static void begin_next(struct picture *picture)
{
	if (list_empty(&picture->waiting) || picture->slices.running)
		return;
	picture->freeze.as_found =
		container_of(picture->waiting.next, struct picture_wait, link)->as_found;
	slices_begin(&picture->slices);
}

static void frozen(void *arg)
{
	struct picture *picture = arg;
	struct freeze *freeze = &picture->freeze;

	picture->made = mem_resize(picture->made, picture->num_made + 1, sizeof(*picture->made));
	picture->made[picture->num_made++] = picture->last = freeze->snapshot;
	freeze->snapshot = NULL;
	picture->topology = freeze->topology;
	picture->facts = freeze->facts;
	picture->as_found = freeze->as_found;
	list_for_each (link, &picture->waiting) {
		struct picture_wait *wait = container_of(link, struct picture_wait, link);

		if (wait->as_found != picture->as_found)
			continue;
		list_del(link);
		wait->fn(wait->ctx, snapshot_ref(picture->last));
	}
	begin_next(picture);
	picture_tidy(picture);
}

static unsigned empty(void *arg, size_t *at)
{
	struct picture *picture = arg;

	return snapshot_empty_step(picture->old, at);
}

static slice_fn *const freeing_stages[] = {empty, NULL};
static const struct slice_plan freeing_plan = {"freeing a snapshot", freeing_stages, NULL};

void picture_tidy(struct picture *picture)
{
	if (picture->old)
		return;
	for (size_t i = 0; i < picture->num_made; i++) {
		if (picture->made[i] == picture->last || picture->made[i]->refs > 1)
			continue;
		picture->old = picture->made[i];
		picture->made[i] = picture->made[--picture->num_made];
		slices_begin(&picture->freeing);
		return;
	}
}

static void emptied(void *arg)
{
	struct picture *picture = arg;

	snapshot_unref(picture->old);
	picture->old = NULL;
	picture_tidy(picture);
}

void picture_take(struct picture *picture, struct picture_wait *wait, bool as_found, picture_fn *fn,
		  void *ctx)
{
	*wait = (struct picture_wait){.as_found = as_found, .fn = fn, .ctx = ctx};
	list_init(&wait->link);
	if (picture->stopped) {
		fn(ctx, NULL);
	} else if (snapshot_is_current(picture, as_found)) {
		fn(ctx, snapshot_ref(picture->last));
	} else {
		list_push(&picture->waiting, &wait->link);
		begin_next(picture);
	}
}

void picture_init(struct picture *picture, struct loop *loop, struct fabric *fabric)
{
	picture->freeze.fabric = fabric;
	list_init(&picture->waiting);
	slices_init(&picture->slices, loop, &freeze_plan, &picture->freeze, frozen, picture);
	slices_init(&picture->freeing, loop, &freeing_plan, picture, emptied, picture);
}

void picture_stop(struct picture *picture)
{
	struct list *link;

	picture->stopped = true;
	slices_cancel(&picture->slices);
	while ((link = list_pop(&picture->waiting))) {
		struct picture_wait *wait = container_of(link, struct picture_wait, link);

		wait->fn(wait->ctx, NULL);
	}
}

void picture_done(struct picture *picture)
{
	picture_stop(picture);
	slices_cancel(&picture->freeing);
	snapshot_unref(picture->old);
	snapshot_unref(picture->freeze.snapshot);
	for (size_t i = 0; i < picture->num_made; i++)
		snapshot_unref(picture->made[i]);
	free(picture->made);
}
