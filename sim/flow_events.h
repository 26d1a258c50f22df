/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The events of a flow. An event is two numbers, its time and its content. Events of the same time
 * come in the order of their content, so the order does not depend on the order of adding.
 *
 * Nearly all events are due within some microseconds, and there are as many as links. One heap of
 * them would not fit into a cache. So only the events of the present nanosecond are in a heap.
 * Those of the next microseconds are in a wheel of unsorted slots, one for each nanosecond, and
 * those later in a second heap. A heap has four children for each place, which share a line of the
 * cache. Owns its memory.
 */
#ifndef SIM_FLOW_EVENTS_H
#define SIM_FLOW_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct flow_event {
	uint64_t due_ps, content;
};

struct flow_heap {
	struct flow_event *event; /* event[0] is due first */
	size_t count, capacity;
};

enum { FLOW_SLOTS = 4096, FLOW_SLOT_BITS = 10 /* of its length in ps */ };

struct flow_slot_event {
	struct flow_event event;
	uint32_t next;
};

struct flow_events {
	struct flow_heap near, far;
	uint64_t slot;			  /* of the present: due_ps >> FLOW_SLOT_BITS */
	uint32_t first[FLOW_SLOTS];	  /* in pool, plus 1; 0: the slot is empty */
	uint64_t filled[FLOW_SLOTS / 64]; /* a bit for each slot that is not empty */
	struct flow_slot_event *pool;
	uint32_t pool_count, spare; /* spare: as first */
	size_t in_slots;
};

/* All zero is empty. */
void flow_events_done(struct flow_events *events);
/* due_ps must not be before the last event that was removed. */
void flow_events_add(struct flow_events *events, uint64_t due_ps, uint64_t content);
/* The first event, which flow_events_pop() removes; NULL: there is none. Valid until the next
 * call. */
const struct flow_event *flow_events_first(struct flow_events *events);
/* After flow_events_first() has returned an event. */
void flow_events_pop(struct flow_events *events);

#endif
