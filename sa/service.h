/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Services (ServiceRecord, chapter 15.2.5.14) as the registry keeps them: how long each still has,
 * and dropping those whose lease has run out. The lease that was asked for ends by a clock that
 * begins with the wall clock and then does not follow its jumps; so it outlives a restart. One
 * timer stands for the lease that ends first. Made by adm.c, asked by sa/service.c's handlers;
 * loop thread only.
 */
#ifndef SA_SERVICE_H
#define SA_SERVICE_H

#include "fabric/registry.h"
#include "lib/loop.h"

struct services;

struct services *services_new(struct loop *loop, struct registry *registry);
void services_free(struct services *services); /* NULL is harmless */

/* When a lease of so many seconds that begins now ends, for service_entry:expires_s; and how much
 * is left of one: 0 when it is over, SERVICE_LEASE_NO_END when it has no end. */
uint64_t services_expiry(const struct services *services, uint32_t lease_s);
uint32_t services_lease(const struct services *services, const struct service_entry *entry);

#endif
