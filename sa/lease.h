/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The leases of services (ServiceRecord, chapter 15.2.5.14) in the registry. A service is dropped
 * when its lease ends. Leases use a clock of their own that counts the seconds in which weftd runs,
 * because NTP may set the wall clock by years after a boot. While there are leases, that clock is
 * saved as a setting from time to time and continues from there after a restart. So a lease is
 * never shorter than requested, and longer by the time without weftd. At the very first start the
 * clock begins with the wall clock.
 *
 * A single timer is set for the lease that ends first. sa.c makes it; the handlers in service.c use
 * it. Loop thread only.
 */
#ifndef SA_LEASE_H
#define SA_LEASE_H

#include "lib/loop.h"
#include "store/registry.h"

struct services;

/* registry must outlive it. */
struct services *services_new(struct loop *loop, struct registry *registry);
void services_free(struct services *services); /* NULL is harmless */

/* services_expiry(): the end of a lease of so many seconds that begins now, for
 * service_entry:expires_s. services_lease(): the rest of a lease; 0 if it is over,
 * SERVICE_LEASE_NO_END if it has no end. */
uint64_t services_expiry(const struct services *services, uint32_t lease_s);
uint32_t services_lease(const struct services *services, const struct service_entry *entry);

/* For a store that is read late (sa/late.h), whose leases use its own clock: takes that clock,
 * and converts a record to the present clock. */
void services_late_clock(struct services *services, const struct setting_entry *setting);
void services_late(const struct services *services, struct service_entry *entry);

#endif
