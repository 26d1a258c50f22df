/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps of a drain, sweep by sweep (sm/discovery/drained.h has the records and the marks):
 *   1. A sweep computes routes without the drained cables, and writes the tables.
 *   2. At its end, the places of a target are clear if their switches have acknowledged tables that
 *      do not use them. Links to adapters need no such proof. A drain by force waits for it at most
 *      DRAIN_FORCED_S. Other drains are judged again: a target that has become the last path of an
 *      adapter is held, and routes use it again until there is another path.
 *   3. When the packets of the old routes have passed, a sweep disables the clear places.
 *   4. At the end of the sweep that sees them disabled, the target is isolated.
 * A place that is not clear stays up until a later sweep. When the drain ends, its records stay
 * until the links are enabled (drain_end.c). If a drained link leads to a switch that is no longer
 * reached, a drain by the policy ends, and a drain by command is reported. Called by sm/sweep.c,
 * the commands and the policy. Loop thread only.
 */
#ifndef SM_DRAIN_H
#define SM_DRAIN_H

#include "lib/loop.h"
#include "lib/map.h"
#include "sm/discovery/drained.h"
#include "sm/isolate.h"

struct sm;

enum { DRAIN_FORCED_S = 10 };

/* A place whose drain has ended. Its port may still be disabled. */
struct drain_ending {
	struct drained_entry entry; /* a copy of the record */
	uint64_t read_pass;	    /* a read in another pass shows whether the port is enabled */
};

struct drain_endings {
	struct drain_ending *list;
	size_t count;
	struct loop_timer timer; /* the next look at these ports */
	uint64_t look_us;	 /* its delay; 0: the first */
};

struct drain {
	struct drained drained;
	struct drain_endings endings;
	uint64_t number;	   /* of the last change to the records */
	struct loop_timer packets; /* old packets have passed: a sweep is due */
	/* By isolate_key(): when a port that the policy had isolated was last undrained (wall
	 * clock, s). */
	struct map pardons;
	/* By isolate_key(): the logged verdict (enum isolate_verdict, never 0) about each port
	 * above a threshold that the policy did not isolate. */
	struct map refused;
};

/* Prepares the timer. */
void drain_init(struct sm *sm);
/* Stops the timer, and frees the list. */
void drain_done(struct sm *sm);
/* Brings the marks of the model up to date with the registry. If this manager is not MASTER, it
 * removes all marks. */
void drain_mark(struct sm *sm);
/* Holds each target that has become the last path of an adapter before its ports were disabled:
 * later its port could be at a switch that weftd does not reach any more. After discovery. */
void drain_review(struct sm *sm);
/* Requests that clear places are disabled. Call it before programming. */
void drain_apply(struct sm *sm);
/* Advances each place at the end of a sweep. error: the result of the sweep. Logs the steps of each
 * target. */
void drain_settle(struct sm *sm, int error);

/* Drains a target: puts its records, and marks the model, so that the next drain is judged without
 * these cables. The registry must report the records as durable (registry_wait()) before the caller
 * triggers the sweep (drain_begin()). places: of drained_places(); reason NULL: an administrator's
 * command. */
void drain_put(struct sm *sm, const struct node *node, uint8_t port,
	       const struct drained_entry *places, size_t count, bool forced, const char *reason);
/* Turns the drain of a target into a drain by command, and by force if forced. entry: a record of
 * the target. Returns the number of its places, and an array of them for free(). The caller waits
 * as above. */
size_t drain_take_over(struct sm *sm, const struct drained_entry *entry, bool forced,
		       struct drained_entry **places);
/* The end of this cable that is the port of another known manager; NULL: none. */
const struct port *drain_manager_at(const struct sm *sm, const struct port *port);
/* The same for the cables of these places: the first such port. */
const struct port *drain_manager_among(const struct sm *sm, const struct drained_entry *places,
				       size_t count);
/* Requests the sweep that begins the drain. */
void drain_begin(struct sm *sm);
/* Ends the drain of a target in the registry. Returns the number of its ports. drain_ended()
 * follows after the last target. */
unsigned drain_end(struct sm *sm, guid_t node_guid, uint8_t port);
/* Processes ended drains. The next sweeps enable their ports, except ports that stay disabled or
 * drained for another reason. The caller waits and triggers as above. */
void drain_ended(struct sm *sm);

/* drain_restore.c: a document that is to be restored */

/* The danger of the drained nodes and ports that a document adds, as in "drains ..., which would
 * ...", for free(); NULL: none. */
char *drain_judge_document(const struct sm *sm, const struct registry *document);
/* Adds the ends of drains and of disabled ports that are not in the document, so that their ports
 * are enabled. */
void drain_complete_document(struct sm *sm, struct registry *document);

/* drain_end.c, for drain.c: ports whose drain has ended */

/* Prepares the timer. */
void drain_end_init(struct sm *sm);
/* Brings the list up to date with the registry, and withdraws requests to disable these ports. */
void drain_end_mark(struct sm *sm);
/* Stops the timer, and frees the list. */
void drain_end_forget(struct sm *sm);
/* Marks the record of a place as ended. */
void drain_end_put(struct sm *sm, struct registry *to, const struct drained_entry *entry);
/* Requests that the ports are enabled. Call it before programming. */
void drain_end_apply(struct sm *sm);
/* Requests a sweep that reads the ports. */
void drain_end_look(struct sm *sm);
/* Drops the records of ports that are enabled. Call it at the end of a sweep. */
void drain_end_settle(struct sm *sm);

#endif
