/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is going to happen: a binary heap of calls by their time in nanoseconds. Calls of the same
 * time come in the order in which they were added, so that a simulation repeats exactly. Owns its
 * array and nothing that the events point to; one thread.
 */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/* number is whatever fn needs to see whether its reason still holds. */
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

void events_init(struct events *events);
void events_done(struct events *events);
void events_add(struct events *events, uint64_t due_ns, event_fn *fn, void *what, uint32_t number);
/* Takes the first one out; there must be one. */
struct event events_pop(struct events *events);

static inline uint64_t events_next_ns(const struct events *events) /* UINT64_MAX: nothing */
{
	return events->count ? events->heap[0].due_ns : UINT64_MAX;
}

#endif
