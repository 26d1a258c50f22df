/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Future events: a binary heap of calls by their time in nanoseconds. Calls of the same time run in
 * the order in which they were added, so that a simulation repeats exactly. Owns its array, but not
 * the objects of events; one thread.
 */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/* number lets fn check whether the reason for the event still exists. */
typedef void event_fn(void *ctx, void *what, uint32_t number);

struct event {
	uint64_t due_ns;
	uint64_t order;
	event_fn *fn;
	void *what;
	uint32_t number;
};

struct events {
	struct event *heap; /* heap[0] is due first */
	size_t count, capacity;
	uint64_t next_order;
};

/* No memory before the first event. */
void events_init(struct events *events);
/* Frees the array; events that are left do not run. */
void events_done(struct events *events);
/* Calls fn(ctx, what, number) when the world's time reaches due_ns. An event cannot be removed. */
void events_add(struct events *events, uint64_t due_ns, event_fn *fn, void *what, uint32_t number);
/* Removes and returns the first event; there must be one. */
struct event events_pop(struct events *events);

static inline uint64_t events_next_ns(const struct events *events) /* UINT64_MAX: no event */
{
	return events->count ? events->heap[0].due_ns : UINT64_MAX;
}

#endif
