/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Waiting for the store (pending.h). A request is found by a hash of what makes it the same one
 * that comes again; should two others have the same hash, the second is refused a place, and its
 * client asks again.
 */
#include "sa/pending.h"

#include <stdlib.h>

#include "lib/map.h"
#include "lib/mem.h"

enum { TURN_ANSWERS = 64 };

struct pending {
	struct registry *registry;
	void (*done)(void *ctx, struct exchange *exchange);
	void *ctx;
	struct list waiting, durable;
	size_t length;	     /* of both */
	struct map requests; /* request_hash() -> exchange */
	struct map per_port; /* base LID -> how many: map_count() */
	struct loop_deferred turn;
};

static uint64_t request_hash(const struct mad_addr *from, const struct mad_header *header)
{
	uint64_t who = (uint64_t)from->lid << 48 | (uint64_t)header->attr_id << 32 |
		       (uint64_t)header->method << 24 | from->qpn;
	uint64_t hash =
		(who ^ header->tid * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);

	return hash ^ hash >> 32;
}

static void pending_leave(struct pending *pending, struct exchange *exchange)
{
	list_del(&exchange->link);
	pending->length--;
	map_remove(&pending->requests, request_hash(&exchange->from, &exchange->header));
	map_count(&pending->per_port, exchange_port(exchange), -1);
}

static void pending_turn(void *arg)
{
	struct pending *pending = arg;

	for (unsigned i = 0; i < TURN_ANSWERS && !list_empty(&pending->durable); i++) {
		struct exchange *exchange =
			container_of(pending->durable.next, struct exchange, link);

		pending_leave(pending, exchange);
		pending->done(pending->ctx, exchange);
	}
	if (!list_empty(&pending->durable))
		loop_defer(&pending->turn);
}

static void pending_durable(void *ctx)
{
	struct exchange *exchange = ctx;
	struct pending *pending = exchange->pending;

	list_del(&exchange->link);
	list_push(&pending->durable, &exchange->link);
	loop_defer(&pending->turn);
}

struct pending *pending_new(struct loop *loop, struct registry *registry,
			    void (*done)(void *ctx, struct exchange *exchange), void *ctx)
{
	struct pending *pending = mem_zalloc(sizeof(*pending));

	pending->registry = registry;
	pending->done = done;
	pending->ctx = ctx;
	list_init(&pending->waiting);
	list_init(&pending->durable);
	map_init(&pending->requests);
	map_init(&pending->per_port);
	loop_deferred_init(&pending->turn, loop, "acknowledged changes", pending_turn, pending);
	return pending;
}

void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	loop_defer_cancel(&pending->turn);
	map_done(&pending->requests);
	map_done(&pending->per_port);
	free(pending);
}

enum verdict pending_judge(const struct pending *pending, const struct exchange *asks)
{
	const struct exchange *other =
		map_get(&pending->requests, request_hash(&asks->from, &asks->header));

	if (other && same_request(&other->from, &other->header, &asks->from, &asks->header))
		return VERDICT_REPEATED;
	return other || pending->length >= PENDING_LENGTH_MAX ||
			       map_counted(&pending->per_port, exchange_port(asks)) >=
				       PENDING_PER_PORT_MAX
		       ? VERDICT_FULL
		       : VERDICT_WAITS;
}

void pending_add(struct pending *pending, struct exchange *exchange)
{
	pending->length++;
	map_put(&pending->requests, request_hash(&exchange->from, &exchange->header), exchange);
	map_count(&pending->per_port, exchange_port(exchange), 1);
	list_push(&pending->waiting, &exchange->link);
	exchange->pending = pending;
	exchange->waiter = (struct registry_waiter){.durable = pending_durable, .ctx = exchange};
	registry_wait(pending->registry, &exchange->waiter);
}

struct exchange *pending_take(struct pending *pending)
{
	struct list *from = list_empty(&pending->durable) ? &pending->waiting : &pending->durable;
	struct exchange *exchange;

	if (list_empty(from))
		return NULL;
	exchange = container_of(from->next, struct exchange, link);
	registry_wait_cancel(&exchange->waiter);
	pending_leave(pending, exchange);
	return exchange;
}

size_t pending_length(const struct pending *pending)
{
	return pending->length;
}
