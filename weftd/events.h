/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The events that `weftctl events` shows. They are made from log lines with a MESSAGE_ID, from
 * raised events (fabric/event.h), and from changes of some records of the registry. main.c creates
 * this, because log lines belong to the process and not to one manager. It owns the ring and the
 * streams to clients. Loop thread only.
 */
#ifndef WEFTD_EVENTS_H
#define WEFTD_EVENTS_H

#include "fabric/event.h"
#include "lib/control.h"
#include "lib/loop.h"
#include "lib/work.h"
#include "store/registry.h"

enum { EVENTS_KEPT = 10000 /* of each kind */ };

struct events;

/* hub and registry must outlive it, and so must the requests that it serves. Event numbers
 * continue those in dir (weftd/event_numbers.h), which a worker of pool writes. dir NULL: they
 * begin with 1. */
struct events *events_new(struct loop *loop, struct event_hub *hub, struct registry *registry,
			  const char *dir, struct work_pool *pool);
/* Returns the node that has a port, and the number of the port; NULL: the port is not present. The
 * result is used before the function is called again. */
typedef const struct node_facts *event_port_fn(void *ctx, guid_t port_guid, unsigned *port);
/* Events of registrations then have the node and the port, by which they can be selected. */
void events_name_ports(struct events *events, event_port_fn *port_of, void *ctx);
/* Call it after the control socket, whose clients may follow events, and after the pool. NULL is
 * harmless. */
void events_free(struct events *events);
/* Adds the command events to the control socket. */
void events_register(struct events *events, struct control *control);

/* The kind of event of a line with this MESSAGE_ID; NULL: an unknown MESSAGE_ID. Pure. */
const char *event_kind_of(const char *message_id);

#endif
