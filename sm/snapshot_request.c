/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One snapshot is frozen at a time, of the kind that the oldest request wants, and all requests of
 * that kind get it. It owns the last snapshot, so that a second request costs nothing.
 */
#include "sm/snapshot_request.h"

#include <stdlib.h>

#include "lib/mem.h"

static bool snapshot_is_current(const struct snapshot_request *snapshot_request, bool as_found)
{
	const struct fabric *fabric = snapshot_request->freeze.fabric;

	return snapshot_request->last && snapshot_request->as_found == as_found &&
	       snapshot_request->topology == fabric->topology &&
	       snapshot_request->facts == fabric->facts;
}

static void begin_next(struct snapshot_request *snapshot_request)
{
	if (list_empty(&snapshot_request->waiting) || snapshot_request->slices.running)
		return;
	snapshot_request->freeze.as_found =
		container_of(snapshot_request->waiting.next, struct snapshot_waiter, link)
			->as_found;
	slices_begin(&snapshot_request->slices);
}

static void frozen(void *arg)
{
	struct snapshot_request *snapshot_request = arg;
	struct freeze *freeze = &snapshot_request->freeze;

	snapshot_request->made = mem_resize(snapshot_request->made, snapshot_request->num_made + 1,
					    sizeof(*snapshot_request->made));
	snapshot_request->made[snapshot_request->num_made++] = snapshot_request->last =
		freeze->snapshot;
	freeze->snapshot = NULL;
	snapshot_request->topology = freeze->topology;
	snapshot_request->facts = freeze->facts;
	snapshot_request->as_found = freeze->as_found;
	list_for_each (link, &snapshot_request->waiting) {
		struct snapshot_waiter *wait = container_of(link, struct snapshot_waiter, link);

		if (wait->as_found != snapshot_request->as_found)
			continue;
		list_del(link);
		wait->fn(wait->ctx, snapshot_ref(snapshot_request->last));
	}
	begin_next(snapshot_request);
	snapshot_request_tidy(snapshot_request);
}

static unsigned empty(void *arg, size_t *at)
{
	struct snapshot_request *snapshot_request = arg;

	return snapshot_empty_step(snapshot_request->old, at);
}

static slice_fn *const freeing_stages[] = {empty, NULL};
static const struct slice_plan freeing_plan = {"freeing a snapshot", freeing_stages, NULL};

void snapshot_request_tidy(struct snapshot_request *snapshot_request)
{
	if (snapshot_request->old)
		return;
	for (size_t i = 0; i < snapshot_request->num_made; i++) {
		if (snapshot_request->made[i] == snapshot_request->last ||
		    snapshot_request->made[i]->refs > 1)
			continue;
		snapshot_request->old = snapshot_request->made[i];
		snapshot_request->made[i] = snapshot_request->made[--snapshot_request->num_made];
		slices_begin(&snapshot_request->freeing);
		return;
	}
}

static void emptied(void *arg)
{
	struct snapshot_request *snapshot_request = arg;

	snapshot_unref(snapshot_request->old);
	snapshot_request->old = NULL;
	snapshot_request_tidy(snapshot_request);
}

void snapshot_request_take(struct snapshot_request *snapshot_request, struct snapshot_waiter *wait,
			   bool as_found, snapshot_fn *fn, void *ctx)
{
	*wait = (struct snapshot_waiter){.as_found = as_found, .fn = fn, .ctx = ctx};
	list_init(&wait->link);
	if (snapshot_request->stopped) {
		fn(ctx, NULL);
	} else if (snapshot_is_current(snapshot_request, as_found)) {
		fn(ctx, snapshot_ref(snapshot_request->last));
	} else {
		list_push(&snapshot_request->waiting, &wait->link);
		begin_next(snapshot_request);
	}
}

void snapshot_request_init(struct snapshot_request *snapshot_request, struct loop *loop,
			   struct fabric *fabric)
{
	snapshot_request->freeze.fabric = fabric;
	list_init(&snapshot_request->waiting);
	slices_init(&snapshot_request->slices, loop, &freeze_plan, &snapshot_request->freeze,
		    frozen, snapshot_request);
	slices_init(&snapshot_request->freeing, loop, &freeing_plan, snapshot_request, emptied,
		    snapshot_request);
}

void snapshot_request_stop(struct snapshot_request *snapshot_request)
{
	struct list *link;

	snapshot_request->stopped = true;
	slices_cancel(&snapshot_request->slices);
	while ((link = list_pop(&snapshot_request->waiting))) {
		struct snapshot_waiter *wait = container_of(link, struct snapshot_waiter, link);

		wait->fn(wait->ctx, NULL);
	}
}

void snapshot_request_done(struct snapshot_request *snapshot_request)
{
	snapshot_request_stop(snapshot_request);
	slices_cancel(&snapshot_request->freeing);
	snapshot_unref(snapshot_request->old);
	snapshot_unref(snapshot_request->freeze.snapshot);
	for (size_t i = 0; i < snapshot_request->num_made; i++)
		snapshot_unref(snapshot_request->made[i]);
	free(snapshot_request->made);
}
