/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Services (ServiceRecord, chapter 15.2.5.14) as the registry keeps them: how long each still has,
 * and dropping those whose lease has run out. Leases end by a clock of their own, which counts the
 * seconds that weftd runs: what the wall clock does, which NTP may set by years when a machine has
 * booted, is nothing to them. While there are leases that clock is kept as a setting, now and then,
 * and goes on from there after a restart: a lease is never shorter than it was asked for, and
 * longer by the time without a daemon. The very first time it begins with the wall clock.
 *
 * One timer stands for the lease that ends first. Made by sa.c, asked by sa/service.c's handlers;
 * loop thread only.
 */
#ifndef SA_SERVICE_H
#define SA_SERVICE_H

#include "lib/loop.h"
#include "store/registry.h"

struct services;

struct services *services_new(struct loop *loop, struct registry *registry);
void services_free(struct services *services); /* NULL is harmless */

/* When a lease of so many seconds that begins now ends, for service_entry:expires_s; and how much
 * is left of one: 0 when it is over, SERVICE_LEASE_NO_END when it has no end. */
uint64_t services_expiry(const struct services *services, uint32_t lease_s);
uint32_t services_lease(const struct services *services, const struct service_entry *entry);

/* A store that comes late (sa/late.h) has leases by its own clock: what that said, and a record of
 * it, which then ends by ours. */
void services_late_clock(struct services *services, const struct setting_entry *setting);
void services_late(const struct services *services, struct service_entry *entry);

#endif
