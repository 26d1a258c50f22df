/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tells as events (fabric/event.h) which end ports came and went, and when the grace of one that
 * went is over: what was registered in its name is kept until then, for a host that reboots comes
 * back. It compares one published view with the next; sm.c gives it both. Who comes is in the view
 * before it can be reached, and is told of at the end of the sweep that has made it ACTIVE. With
 * the first view of a MASTER nobody came, for who asked to hear of it knows the ports of before;
 * ports of which only the registry knows, since they went while nobody looked, get their grace from
 * then on.
 *
 * Who was there when weftd last ended is what the registry says at the start. The first sweep of a
 * MASTER tells of those that came and went meanwhile, once, for who subscribed then knows no
 * better; but not when that was another fabric, nor when another manager was MASTER in between.
 * Loop thread only.
 */
#ifndef SM_PORT_EVENTS_H
#define SM_PORT_EVENTS_H

#include "fabric/event.h"
#include "fabric/fabric.h"
#include "fabric/view.h"
#include "lib/loop.h"
#include "lib/map.h"
#include "sm/options.h"
#include "store/registry.h"

struct port_events {
	struct loop *loop;
	struct event_hub *events;
	struct registry *registry;
	const struct sm_options *options;
	struct map absent;   /* by PortGUID */
	struct list leaving; /* the same, those that went first in front */
	struct map coming;   /* by PortGUID, which is what it holds: in the view, not told of yet */
	struct map before;   /* by PortGUID, references to LID records: there when weftd ended */
	struct loop_timer timer;
	const struct snapshot *topology; /* of the view that is published */
	struct loop_deferred search;	 /* after the first one */
	struct registry_cursor cursor;
	size_t searched; /* kinds of records */
};

/* events, registry and options stay the caller's. */
void port_events_init(struct port_events *port_events, struct loop *loop, struct event_hub *events,
		      struct registry *registry, const struct sm_options *options);
/* Frees everything; no event is raised any more. */
void port_events_done(struct port_events *port_events);
/* after was published in place of before; NULL: no view. Raises events for ports that
 * disappeared. */
void port_events_published(struct port_events *port_events, const struct view *before,
			   const struct view *after);
/* A sweep has ended: raises events for new ports that are ACTIVE. */
void port_events_settled(struct port_events *port_events, const struct fabric *fabric);

#endif
