/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The heap of events. All activity of a world begins here, so a push and a pop are the cost of each
 * hop of each packet. So events are stored by value, and a move through the heap copies each event
 * once instead of swapping pairs.
 */
#include "sim/events.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/mem.h"

void events_init(struct events *events)
{
	*events = (struct events){0};
}

void events_done(struct events *events)
{
	free(events->heap);
	events_init(events);
}

static inline bool event_is_before(const struct event *a, const struct event *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

void events_add(struct events *events, uint64_t due_ns, event_fn *fn, void *what, uint32_t number)
{
	const struct event event = {due_ns, events->next_order++, fn, what, number};
	size_t hole = events->count++;

	if (events->count > events->capacity) {
		events->capacity = events->capacity ? 2 * events->capacity : 256;
		events->heap = mem_resize(events->heap, events->capacity, sizeof(event));
	}
	while (hole) {
		size_t parent = (hole - 1) / 2;

		if (!event_is_before(&event, &events->heap[parent]))
			break;
		events->heap[hole] = events->heap[parent];
		hole = parent;
	}
	events->heap[hole] = event;
}

struct event events_pop(struct events *events)
{
	struct event first, last;
	size_t hole = 0, child;

	assert(events->count);
	first = events->heap[0];
	last = events->heap[--events->count];
	while ((child = 2 * hole + 1) < events->count) {
		if (child + 1 < events->count &&
		    event_is_before(&events->heap[child + 1], &events->heap[child]))
			child++;
		if (!event_is_before(&events->heap[child], &last))
			break;
		events->heap[hole] = events->heap[child];
		hole = child;
	}
	if (events->count)
		events->heap[hole] = last;
	return first;
}
