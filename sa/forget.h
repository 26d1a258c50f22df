/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forgets the memberships, services, subscriptions and alias GUIDs of a port that will not come
 * back (EVENT_PORT_FORGOTTEN), also what was registered under these; what was registered under an
 * alias that another port takes or an administrator removes; and what a port has registered in
 * partitions that it is not to be in any more (EVENT_PKEYS). Part of sa.c; loop thread only.
 */
#ifndef SA_FORGET_H
#define SA_FORGET_H

#include "fabric/event.h"
#include "store/registry.h"

struct groups;

struct forget {
	struct event_reader reader;
	struct registry *registry;
	struct groups *groups;
};

void forget_begin(struct forget *forget, struct registry *registry, struct groups *groups,
		  struct event_hub *events);
void forget_end(struct forget *forget);

/* What was registered under this GUID, of a port or an alias, goes; the alias itself does not. */
void forget_guid(struct registry *registry, struct groups *groups, guid_t guid);

#endif
