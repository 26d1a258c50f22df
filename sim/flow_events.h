/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The events of a flow: a heap with four children for each place, so that the children share a line
 * of the cache. An event is two numbers, its time and its content. Events of the same time come in
 * the order of their content, so the order does not depend on the order of adding. Owns its array.
 */
#ifndef SIM_FLOW_EVENTS_H
#define SIM_FLOW_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct flow_event {
	uint64_t due_ps, content;
};

struct flow_events {
	struct flow_event *heap; /* heap[0] is due first */
	size_t count, capacity;
};

void flow_events_done(struct flow_events *events);
void flow_events_add(struct flow_events *events, uint64_t due_ps, uint64_t content);
/* Removes and returns the first event; there must be one. */
struct flow_event flow_events_pop(struct flow_events *events);

#endif
