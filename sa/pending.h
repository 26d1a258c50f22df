/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests that have changed the registry and whose answers wait until the change is durable: what
 * was acknowledged is never forgotten. They are bounded in number, and by requester, so a store
 * that is slow costs no memory; a request that comes again meanwhile is answered once. Many become
 * durable at once and leave over several turns of the loop. Used by sa.c alone; loop thread only.
 */
#ifndef SA_PENDING_H
#define SA_PENDING_H

#include "lib/loop.h"
#include "sa/queue.h"
#include "store/registry.h"

enum {
	PENDING_LENGTH_MAX = 16384, /* requests, some 16 MB */
	PENDING_PER_PORT_MAX = 64,  /* of these, one requester's */
};

struct pending;

/* done is called for each exchange whose change is durable, and must free it. */
struct pending *pending_new(struct loop *loop, struct registry *registry,
			    void (*done)(void *ctx, struct exchange *exchange), void *ctx);
void pending_free(struct pending *pending); /* must be empty */

/* To be asked before anything is changed. Never VERDICT_PASSES. */
enum verdict pending_judge(const struct pending *pending, const struct exchange *asks);
/* Takes over exchange, which is on the heap and was not judged otherwise. */
void pending_add(struct pending *pending, struct exchange *exchange);
struct exchange *pending_take(struct pending *pending); /* any, NULL when there is none */
size_t pending_length(const struct pending *pending);

#endif
