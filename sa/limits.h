/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How much a port has registered: memberships, services, subscriptions and alias GUIDs together, so
 * that no port can fill the registry. Counted from the registry's changes, whoever makes them. Made
 * by adm.c, asked by the handlers that register something; loop thread only.
 */
#ifndef SA_LIMITS_H
#define SA_LIMITS_H

#include "fabric/registry.h"

struct limits;

struct limits *limits_new(struct registry *registry); /* counts what is there already */
void limits_free(struct limits *limits);
/* What the port with this GUID or alias has, by itself and by all of its aliases. */
size_t limits_count(const struct limits *limits, guid_t guid);

#endif
