/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The heap of a flow's events: see flow_events.h. */
#include "sim/flow_events.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/mem.h"

enum { CHILDREN = 4, FIRST_CAPACITY = 1024 };

void flow_events_done(struct flow_events *events)
{
	free(events->heap);
	*events = (struct flow_events){0};
}

static inline bool flow_event_is_before(const struct flow_event *a, const struct flow_event *b)
{
	return a->due_ps != b->due_ps ? a->due_ps < b->due_ps : a->content < b->content;
}

void flow_events_add(struct flow_events *events, uint64_t due_ps, uint64_t content)
{
	const struct flow_event event = {due_ps, content};
	size_t hole = events->count++;

	if (events->count > events->capacity) {
		events->capacity = events->capacity ? 2 * events->capacity : FIRST_CAPACITY;
		events->heap = mem_resize(events->heap, events->capacity, sizeof(event));
	}
	while (hole) {
		size_t parent = (hole - 1) / CHILDREN;

		if (!flow_event_is_before(&event, &events->heap[parent]))
			break;
		events->heap[hole] = events->heap[parent];
		hole = parent;
	}
	events->heap[hole] = event;
}

struct flow_event flow_events_pop(struct flow_events *events)
{
	struct flow_event *heap = events->heap;
	const struct flow_event first = heap[0], last = heap[--events->count];
	size_t count = events->count, hole = 0, child;

	while ((child = CHILDREN * hole + 1) < count) {
		size_t end = child + CHILDREN < count ? child + CHILDREN : count, least = child;

		for (size_t i = child + 1; i < end; i++) {
			if (flow_event_is_before(&heap[i], &heap[least]))
				least = i;
		}
		if (!flow_event_is_before(&heap[least], &last))
			break;
		heap[hole] = heap[least];
		hole = least;
	}
	if (count)
		heap[hole] = last;
	return first;
}
