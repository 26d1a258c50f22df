/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A share is counted in spans of 10 ms: who has used that of this span up, or has requests waiting
 * already (for they shall stay in order), waits. What is known of a port that has asked is eight
 * bytes in an array; its queue exists only as long as something is in it.
 */
#include "sa/admission.h"

#include <stdlib.h>
#include <string.h>

#include "lib/list.h"
#include "lib/map.h"
#include "lib/mem.h"

enum {
	SPAN_US = 10000,
	SPANS_PER_S = 1000000 / SPAN_US,
	TURN_REQUESTS = 64, /* in one turn of the loop */
	LIDS = UINT16_MAX + 1,
};

struct request {
	struct list link;
	struct mad_addr from;
	struct mad_header header;
	uint64_t since_us;
	size_t size;
	uint8_t mad[];
};

struct requester { /* with something that waits */
	struct list link;
	struct list requests;
	lid_t lid; /* base LID */
	unsigned count;
	size_t bytes;
};

struct share {
	uint32_t span; /* in which it asked last */
	uint32_t used; /* of that */
};

struct gate {
	struct loop *loop;
	struct gate_owner owner;
	struct list turns;     /* requesters, whose turn is next first */
	struct map requesters; /* base LID -> requester */
	struct share *shares;  /* by base LID */
	size_t length, bytes;
	struct loop_deferred turn;
	struct loop_timer retry;
};

static void request_drop(struct gate *gate, struct requester *requester, struct request *request)
{
	list_del(&request->link);
	gate->length--;
	gate->bytes -= request->size;
	requester->count--;
	requester->bytes -= request->size;
	free(request);
}

static void requester_drop(struct gate *gate, struct requester *requester)
{
	list_del(&requester->link);
	map_remove(&gate->requesters, requester->lid);
	free(requester);
}

static bool request_is_late(const struct gate *gate, const struct request *request)
{
	return loop_now_us(gate->loop) - request->since_us > GATE_WAIT_US;
}

/* The next requester's next request passes. */
static void pass_one(struct gate *gate)
{
	struct requester *requester = container_of(list_pop(&gate->turns), struct requester, link);
	struct request *request = container_of(requester->requests.next, struct request, link);

	list_push(&gate->turns, &requester->link);
	if (request_is_late(gate, request))
		gate->owner.expired(gate->owner.ctx);
	else
		gate->owner.pass(gate->owner.ctx, &request->from, request->mad, request->size);
	request_drop(gate, requester, request);
	if (!requester->count)
		requester_drop(gate, requester);
}

static void admission_turn(void *arg)
{
	struct gate *gate = arg;

	if (!gate->length)
		return;
	if (gate->owner.shut(gate->owner.ctx)) {
		loop_timer_arm(&gate->retry, SPAN_US);
		return;
	}
	for (unsigned i = 0; i < TURN_REQUESTS && gate->length; i++)
		pass_one(gate);
	if (gate->length)
		loop_defer(&gate->turn);
}

struct gate *gate_new(struct loop *loop, const struct gate_owner *owner)
{
	struct gate *gate = mem_zalloc(sizeof(*gate));

	gate->loop = loop;
	gate->owner = *owner;
	list_init(&gate->turns);
	map_init(&gate->requesters);
	gate->shares = mem_array(LIDS, sizeof(*gate->shares));
	loop_deferred_init(&gate->turn, loop, "requests that wait for the SA", admission_turn,
			   gate);
	loop_timer_init(&gate->retry, loop, "requests that wait for the SA", admission_turn, gate);
	return gate;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	while (!list_empty(&gate->turns)) {
		struct requester *requester =
			container_of(gate->turns.next, struct requester, link);

		while (requester->count)
			request_drop(gate, requester,
				     container_of(requester->requests.next, struct request, link));
		requester_drop(gate, requester);
	}
	loop_defer_cancel(&gate->turn);
	loop_timer_disarm(&gate->retry);
	map_done(&gate->requesters);
	free(gate->shares);
	free(gate);
}

/* Takes one of this span's; false when all are used up. */
static bool share_take(struct gate *gate, lid_t lid, uint32_t rate)
{
	uint32_t span = (uint32_t)(loop_now_us(gate->loop) / SPAN_US);
	struct share *share = &gate->shares[lid];

	if (share->span != span)
		*share = (struct share){.span = span};
	if (rate && share->used >= (rate + SPANS_PER_S - 1) / SPANS_PER_S)
		return false;
	share->used++;
	return true;
}

static bool is_repeated(const struct requester *requester, const struct mad_addr *from,
			const struct mad_header *header)
{
	list_for_each (item, &requester->requests) {
		const struct request *request = container_of(item, struct request, link);

		if (same_request(&request->from, &request->header, from, header))
			return true;
	}
	return false;
}

static struct requester *requester_of(struct gate *gate, lid_t lid)
{
	struct requester *requester = map_get(&gate->requesters, lid);

	if (requester)
		return requester;
	requester = mem_zalloc(sizeof(*requester));
	requester->lid = lid;
	list_init(&requester->requests);
	map_put(&gate->requesters, lid, requester);
	list_push(&gate->turns, &requester->link);
	return requester;
}

static bool admission_has_place(const struct gate *gate, const struct requester *requester,
				size_t size)
{
	return gate->length < GATE_LENGTH_MAX && gate->bytes + size <= GATE_BYTES_MAX &&
	       size <= GATE_PER_PORT_BYTES_MAX &&
	       (!requester || (requester->count < GATE_PER_PORT_MAX &&
			       requester->bytes + size <= GATE_PER_PORT_BYTES_MAX));
}

static void admission_keep(struct gate *gate, lid_t base_lid, const struct mad_addr *from,
			   const struct mad_header *header, const uint8_t *mad, size_t size)
{
	struct requester *requester = requester_of(gate, base_lid);
	struct request *request = mem_alloc(sizeof(*request) + size);

	request->from = *from;
	request->header = *header;
	request->since_us = loop_now_us(gate->loop);
	request->size = size;
	memcpy(request->mad, mad, size);
	list_push(&requester->requests, &request->link);
	requester->count++;
	requester->bytes += size;
	gate->length++;
	gate->bytes += size;
	if (!loop_timer_armed(&gate->retry))
		loop_defer(&gate->turn);
}

enum verdict gate_judge(struct gate *gate, uint32_t rate, lid_t base_lid,
			const struct mad_addr *from, const struct mad_header *header,
			const uint8_t *mad, size_t size)
{
	const struct requester *requester =
		gate->length ? map_get(&gate->requesters, base_lid) : NULL;

	if (!requester && !gate->owner.shut(gate->owner.ctx) && share_take(gate, base_lid, rate))
		return VERDICT_PASSES;
	if (requester && is_repeated(requester, from, header))
		return VERDICT_REPEATED;
	if (!admission_has_place(gate, requester, size))
		return VERDICT_FULL;
	admission_keep(gate, base_lid, from, header, mad, size);
	return VERDICT_WAITS;
}

size_t gate_length(const struct gate *gate)
{
	return gate->length;
}
