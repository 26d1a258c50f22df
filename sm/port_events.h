/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Raises events (fabric/event.h) for end ports that appear and disappear, and when
 * registration_grace of an absent port ends. Until then its registrations are kept, for example for
 * a host that reboots. It compares each published view with the one before. A new port is in the
 * view before it is reachable, and its event follows at the end of the sweep that made it ACTIVE.
 * The first view of a MASTER raises no events for present ports, because subscribers know these
 * ports already. Ports that only the registry knows, because they disappeared unseen, get their
 * grace from then on.
 *
 * The registry names the ports that were present when weftd ended. The first sweep of a MASTER
 * raises events for the differences since then, once. It raises none if the fabric is a different
 * fabric, or if another manager was MASTER in between. Loop thread only.
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
	struct list leaving; /* absent ports, longest absent first */
	struct map coming;   /* by PortGUID: ports in the view without an event yet */
	struct map before;   /* by PortGUID, references to LID records: present when weftd ended */
	struct loop_timer timer;
	const struct snapshot *topology; /* of the view that is published */
	struct loop_deferred search;	 /* after the first one */
	struct registry_cursor cursor;
	size_t searched; /* kinds of records */
};

/* events, registry and options stay the caller's. */
void port_events_init(struct port_events *port_events, struct loop *loop, struct event_hub *events,
		      struct registry *registry, const struct sm_options *options);
/* Frees everything; raises no more events. */
void port_events_done(struct port_events *port_events);
/* after was published in place of before; NULL: no view. Raises events for ports that
 * disappeared. */
void port_events_published(struct port_events *port_events, const struct view *before,
			   const struct view *after);
/* A sweep has ended: raises events for new ports that are ACTIVE. */
void port_events_settled(struct port_events *port_events, const struct fabric *fabric);

#endif
