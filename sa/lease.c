/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The leases of services: a heap, ordered by the end. The entry of a record that has changed or
 * ended stays until its time, or until more than half of the heap is obsolete.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "sa/lease.h"
#include "sa/record.h"
#include "store/setting.h"

enum {
	DROPS_AT_ONCE = 256, /* in one turn of the loop */
	ROOM_MIN = 64,
	US_PER_S = 1000000,
	FOLLOWS_S = 10,	     /* while another manager is MASTER */
	TIMER_MAX_S = 86400, /* avoids overflows */
	CLOCK_KEPT_S = 60,   /* how much longer a lease may be if weftd is killed */
};

static const char clock_name[] = SETTING_LEASE_CLOCK;

struct services {
	struct loop *loop;
	struct registry *registry;
	struct registry_reader reader;
	struct loop_timer timer, keep;
	uint64_t began_s, began_us; /* the same moment in both clocks: of leases and of the loop */
	uint64_t kept_s;	    /* the value of the setting; 0: there is none */
	uint64_t late_s;	    /* of a late store; 0: not known */
	const struct service_entry **heap;
	size_t count, room;
};

static uint64_t now_s(const struct services *services)
{
	return services->began_s + (loop_now_us(services->loop) - services->began_us) / US_PER_S;
}

static void begin_clock(struct services *services, uint64_t at_s)
{
	services->began_s = at_s;
	services->began_us = loop_now_us(services->loop);
}

/* 0: not a valid clock. The bound leaves room for the longest lease. */
static uint64_t clock_of(const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	return digits && digits < 19 && !text[digits] ? strtoull(text, NULL, 10) : 0;
}

/* If a restore or another manager has set the clock, the leases were set with it. */
static void read_clock(struct services *services)
{
	const char *text = setting_get(services->registry, clock_name);
	uint64_t said_s = clock_of(text);

	if (text && !said_s)
		log_warning(
			"the setting %s = \"%s\" in the store is not a time: leases of services "
			"use the wall clock",
			clock_name, text);
	if (said_s == services->kept_s)
		return;
	services->kept_s = said_s;
	begin_clock(services, said_s ? said_s : loop_wall_s(services->loop));
}

static void keep_clock(void *arg)
{
	struct services *services = arg;
	char text[24];

	if (!services->count)
		return; /* the next lease repeats this */
	if (!registry_is_together(services->registry) && !registry_follows(services->registry)) {
		services->kept_s = now_s(services);
		snprintf(text, sizeof(text), "%" PRIu64, services->kept_s);
		setting_put(services->registry, clock_name, text);
	}
	loop_timer_arm(&services->keep, CLOCK_KEPT_S * (uint64_t)US_PER_S);
}

void services_late_clock(struct services *services, const struct setting_entry *setting)
{
	if (!strcmp((const char *)setting->name, clock_name))
		services->late_s = clock_of((const char *)setting->value);
}

void services_late(const struct services *services, struct service_entry *entry)
{
	if (!entry->expires_s || !services->late_s)
		return;
	entry->expires_s = entry->expires_s > services->late_s
				   ? now_s(services) + (entry->expires_s - services->late_s)
				   : now_s(services);
}

/* Adds the second that has begun, so that a lease is never too short. */
uint64_t services_expiry(const struct services *services, uint32_t lease_s)
{
	return lease_s == SERVICE_LEASE_NO_END ? 0 : now_s(services) + 1 + lease_s;
}

uint32_t services_lease(const struct services *services, const struct service_entry *entry)
{
	uint64_t now = now_s(services), left;

	if (!entry->expires_s)
		return SERVICE_LEASE_NO_END;
	if (entry->expires_s <= now)
		return 0;
	left = entry->expires_s - now - 1;
	if (!left)
		return 1;
	return left < SERVICE_LEASE_NO_END ? (uint32_t)left : SERVICE_LEASE_NO_END - 1;
}

/* The heap */

static void lease_sift_up(struct services *services, size_t at)
{
	const struct service_entry **heap = services->heap, *entry = heap[at];

	for (; at && heap[(at - 1) / 2]->expires_s > entry->expires_s; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = entry;
}

static void lease_sift_down(struct services *services, size_t at)
{
	const struct service_entry **heap = services->heap, *entry = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= services->count)
			break;
		if (child + 1 < services->count &&
		    heap[child + 1]->expires_s < heap[child]->expires_s)
			child++;
		if (heap[child]->expires_s >= entry->expires_s)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = entry;
}

static bool lease_is_current(const struct services *services, const struct service_entry *entry)
{
	return registry_find(services->registry, REGISTRY_SERVICE, entry) == entry;
}

/* Keeps the valid entries and makes a heap of them. */
static void compact(struct services *services)
{
	size_t kept = 0;

	for (size_t i = 0; i < services->count; i++) {
		if (lease_is_current(services, services->heap[i]))
			services->heap[kept++] = services->heap[i];
		else
			registry_unref(services->heap[i]);
	}
	services->count = kept;
	for (size_t i = kept / 2; i-- > 0;)
		lease_sift_down(services, i);
}

static void lease_arm(struct services *services)
{
	uint64_t now = now_s(services), due_s;

	if (!services->count) {
		loop_timer_disarm(&services->timer);
		return;
	}
	due_s = services->heap[0]->expires_s;
	due_s = due_s > now ? due_s - now : 0;
	if (due_s > TIMER_MAX_S)
		due_s = TIMER_MAX_S;
	loop_timer_arm(&services->timer, due_s * US_PER_S);
}

static void lease_add(struct services *services, const struct service_entry *entry)
{
	if (!entry->expires_s)
		return;
	if (services->count == services->room) {
		services->room = services->room ? 2 * services->room : ROOM_MIN;
		services->heap =
			mem_resize(services->heap, services->room, sizeof(*services->heap));
	}
	services->heap[services->count] = registry_ref(entry);
	lease_sift_up(services, services->count++);
	if (services->heap[0] == entry)
		lease_arm(services);
	if (!loop_timer_armed(&services->keep))
		loop_timer_arm(&services->keep, 0);
}

static void expire(void *arg)
{
	struct services *services = arg;

	if (registry_is_together(services->registry))
		return; /* the clock may change; lease_whole() follows */
	if (registry_follows(services->registry)) { /* the master drops the service */
		loop_timer_arm(&services->timer, FOLLOWS_S * US_PER_S);
		return;
	}
	for (unsigned i = 0; i < DROPS_AT_ONCE && services->count &&
			     services->heap[0]->expires_s <= now_s(services);
	     i++) {
		const struct service_entry *entry = services->heap[0];

		services->heap[0] = services->heap[--services->count];
		if (services->count)
			lease_sift_down(services, 0);
		if (lease_is_current(services, entry))
			registry_drop(services->registry, REGISTRY_SERVICE, entry);
		registry_unref(entry);
	}
	lease_arm(services);
}

static void lease_changed(void *ctx, const struct registry_change *change)
{
	struct services *services = ctx;

	if (change->kind != REGISTRY_SERVICE)
		return;
	if (change->after)
		lease_add(services, change->after);
	if (services->count > ROOM_MIN + 2 * registry_count(services->registry, REGISTRY_SERVICE)) {
		compact(services);
		lease_arm(services);
	}
}

static void lease_whole(void *ctx)
{
	struct services *services = ctx;

	read_clock(services);
	lease_arm(services);
}

struct services *services_new(struct loop *loop, struct registry *registry)
{
	struct services *services = mem_zalloc(sizeof(*services));
	const struct service_entry *entry;

	services->loop = loop;
	services->registry = registry;
	begin_clock(services, loop_wall_s(loop));
	loop_timer_init(&services->timer, loop, "leases of services", expire, services);
	loop_timer_init(&services->keep, loop, "clock of leases", keep_clock, services);
	read_clock(services);
	for (entry = registry_first(registry, REGISTRY_SERVICE, -1, NULL); entry;
	     entry = registry_next(registry, REGISTRY_SERVICE, -1, entry))
		lease_add(services, entry);
	services->reader.changed = lease_changed;
	services->reader.whole = lease_whole;
	services->reader.ctx = services;
	registry_read(registry, &services->reader);
	return services;
}

void services_free(struct services *services)
{
	if (!services)
		return;
	registry_unread(&services->reader);
	loop_timer_disarm(&services->timer);
	loop_timer_disarm(&services->keep);
	for (size_t i = 0; i < services->count; i++)
		registry_unref(services->heap[i]);
	free(services->heap);
	free(services);
}
