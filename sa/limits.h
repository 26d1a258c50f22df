/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How much a port has registered, so that no port can fill the registry or the switches' multicast
 * tables: memberships, services, subscriptions and alias GUIDs together, and the groups that it
 * made and in which it has registered a membership. What a port registers for another port counts
 * for the port that asks. Counted from the registry's changes, whoever makes them. Made by sa.c,
 * asked by the handlers that register something; loop thread only.
 */
#ifndef SA_LIMITS_H
#define SA_LIMITS_H

#include "store/registry.h"

struct limits;

struct limits *limits_new(struct registry *registry); /* counts what is there already */
void limits_free(struct limits *limits);
/* How many registrations, or groups, the port with this PortGUID has. */
size_t limits_count(const struct limits *limits, guid_t guid);
size_t limits_groups(const struct limits *limits, guid_t guid);

#endif
