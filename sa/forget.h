/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Drops registrations that have lost their owner. When a port is forgotten (EVENT_PORT_FORGOTTEN):
 * its memberships, services, subscriptions and alias GUIDs, and the registrations under these
 * aliases. When another port takes an alias, or an administrator removes it: the registrations
 * under it. When a port leaves partitions (EVENT_PKEYS): its registrations in them. Part of sa.c;
 * loop thread only.
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

/* Reads events until forget_end(). registry, groups and events must live as long. */
void forget_begin(struct forget *forget, struct registry *registry, struct groups *groups,
		  struct event_hub *events);
void forget_end(struct forget *forget);

/* Drops the registrations under this GUID of a port or an alias, but not the alias itself. */
void forget_guid(struct registry *registry, struct groups *groups, guid_t guid);

#endif
