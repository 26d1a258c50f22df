/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The last events of each kind, under numbers that all kinds share: those of a kind make room for
 * new ones of their own kind only, so that many joins push out no cable. Who asks for one that is
 * gone can see that. Pure; used by weftd/events.c.
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
	const char *text; /* for people: what happened */
	const char *node; /* NodeDescription */
	guid_t node_guid, port_guid;
	unsigned port; /* its number on the node */
	lid_t lid;
};

struct event_class;

struct event_ring {
	struct event_class *kinds; /* those that have happened */
	size_t num_kinds;
	size_t room;
	uint64_t next; /* the number that the next one gets */
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
