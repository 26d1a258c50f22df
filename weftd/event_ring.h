/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The latest events of each kind, with numbers that all kinds share. A new event replaces only
 * events of its own kind, so that many joins remove no event about links. A reader sees a missing
 * event as a gap in the numbers. Pure; used by weftd/events.c.
 */
#ifndef WEFTD_EVENT_RING_H
#define WEFTD_EVENT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

/* Members that are 0 or NULL are not known. */
struct event_note {
	uint64_t number;
	uint64_t time_s;  /* wall clock */
	const char *kind; /* "link"; a literal */
	int level;	  /* as syslog(3) */
	const char *text; /* the message */
	const char *node; /* NodeDescription */
	guid_t node_guid, port_guid;
	unsigned port; /* port number */
	lid_t lid;
};

struct event_class;

struct event_ring {
	struct event_class *kinds; /* kinds with at least one event */
	size_t num_kinds;
	size_t room;
	uint64_t next; /* the number of the next event */
};

/* room: maximum number of stored events of each kind, at least 1. next: the first number. */
void event_ring_init(struct event_ring *ring, size_t room, uint64_t next);
/* Frees all events. */
void event_ring_done(struct event_ring *ring);
/* Stores an event under the next number; copies its texts. */
void event_ring_add(struct event_ring *ring, const struct event_note *note);
/* The first stored event with this number or a higher one; borrowed until the next
 * event_ring_add(). NULL: there is none. */
const struct event_note *event_ring_from(const struct event_ring *ring, uint64_t number);

#endif
