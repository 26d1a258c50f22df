/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The events of a flow: see flow_events.h. */
#include "sim/flow_events.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/mem.h"

enum { CHILDREN = 4, FIRST_CAPACITY = 1024, WORD_BITS = 64 };

void flow_events_done(struct flow_events *events)
{
	free(events->near.event);
	free(events->far.event);
	free(events->pool);
	*events = (struct flow_events){0};
}

/* Heaps */

static inline bool flow_event_is_before(const struct flow_event *a, const struct flow_event *b)
{
	return a->due_ps != b->due_ps ? a->due_ps < b->due_ps : a->content < b->content;
}

static void heap_add(struct flow_heap *heap, const struct flow_event *event)
{
	size_t hole = heap->count++;

	if (heap->count > heap->capacity) {
		heap->capacity = heap->capacity ? 2 * heap->capacity : FIRST_CAPACITY;
		heap->event = mem_resize(heap->event, heap->capacity, sizeof(*event));
	}
	while (hole) {
		size_t parent = (hole - 1) / CHILDREN;

		if (!flow_event_is_before(event, &heap->event[parent]))
			break;
		heap->event[hole] = heap->event[parent];
		hole = parent;
	}
	heap->event[hole] = *event;
}

static void heap_pop(struct flow_heap *heap)
{
	struct flow_event *event = heap->event;
	const struct flow_event last = event[--heap->count];
	size_t count = heap->count, hole = 0, child;

	while ((child = CHILDREN * hole + 1) < count) {
		size_t end = child + CHILDREN < count ? child + CHILDREN : count, least = child;

		for (size_t i = child + 1; i < end; i++) {
			if (flow_event_is_before(&event[i], &event[least]))
				least = i;
		}
		if (!flow_event_is_before(&event[least], &last))
			break;
		event[hole] = event[least];
		hole = least;
	}
	if (count)
		event[hole] = last;
}

/* Slots */

static void slot_add(struct flow_events *events, const struct flow_event *event)
{
	uint32_t at = (event->due_ps >> FLOW_SLOT_BITS) % FLOW_SLOTS, place = events->spare;

	if (place) {
		events->spare = events->pool[place - 1].next;
	} else {
		events->pool = mem_grow(events->pool, events->pool_count, sizeof(*events->pool));
		place = ++events->pool_count;
	}
	events->pool[place - 1] = (struct flow_slot_event){*event, events->first[at]};
	events->first[at] = place;
	events->filled[at / WORD_BITS] |= UINT64_C(1) << at % WORD_BITS;
	events->in_slots++;
}

static void slot_empty(struct flow_events *events)
{
	uint32_t at = events->slot % FLOW_SLOTS, place = events->first[at];

	while (place) {
		struct flow_slot_event *in = &events->pool[place - 1];
		uint32_t next = in->next;

		heap_add(&events->near, &in->event);
		in->next = events->spare;
		events->spare = place;
		events->in_slots--;
		place = next;
	}
	events->first[at] = 0;
	events->filled[at / WORD_BITS] &= ~(UINT64_C(1) << at % WORD_BITS);
}

/* The first filled slot after the present; there must be one. */
static uint64_t slot_next(const struct flow_events *events)
{
	uint64_t slot = events->slot + 1;

	for (;;) {
		unsigned at = slot % FLOW_SLOTS;
		uint64_t bits = events->filled[at / WORD_BITS] >> at % WORD_BITS;

		if (bits)
			return slot + (unsigned)__builtin_ctzll(bits);
		slot += WORD_BITS - at % WORD_BITS;
	}
}

void flow_events_add(struct flow_events *events, uint64_t due_ps, uint64_t content)
{
	const struct flow_event event = {due_ps, content};
	uint64_t slot = due_ps >> FLOW_SLOT_BITS;

	if (slot <= events->slot)
		heap_add(&events->near, &event);
	else if (slot < events->slot + FLOW_SLOTS)
		slot_add(events, &event);
	else
		heap_add(&events->far, &event);
}

/* Moves to the next slot with events. Those of the far heap are due after those of slots: those for
 * which the wheel has turned far enough move to slots. */
static void flow_events_turn(struct flow_events *events)
{
	uint64_t slot = events->in_slots ? slot_next(events)
					 : events->far.event[0].due_ps >> FLOW_SLOT_BITS;

	events->slot = slot;
	slot_empty(events);
	while (events->far.count &&
	       events->far.event[0].due_ps >> FLOW_SLOT_BITS < slot + FLOW_SLOTS) {
		const struct flow_event event = events->far.event[0];

		heap_pop(&events->far);
		flow_events_add(events, event.due_ps, event.content);
	}
}

const struct flow_event *flow_events_first(struct flow_events *events)
{
	if (!events->near.count) {
		if (!events->in_slots && !events->far.count)
			return NULL;
		flow_events_turn(events);
	}
	return &events->near.event[0];
}

void flow_events_pop(struct flow_events *events)
{
	heap_pop(&events->near);
}
