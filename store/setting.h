/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Settings in the registry: text by name. Names with a blank are internal to weftd, the others are
 * set by an administrator. Loop thread only.
 */
#ifndef STORE_SETTING_H
#define STORE_SETTING_H

#include "store/registry.h"

/* The clock of leases (sa/lease.h): the replication copies it with the services. */
#define SETTING_LEASE_CLOCK "lease clock"

/* The stored text, borrowed until it changes; NULL: not set. */
const char *setting_get(const struct registry *registry, const char *name);
/* Sets the text, or clears it if text is NULL. text is shorter than SETTING_VALUE_SIZE. Call
 * registry_wait() to learn when it is durable. */
void setting_put(struct registry *registry, const char *name, const char *text);

#endif
