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

struct admission {
	struct loop *loop;
	struct admission_owner owner;
	struct list turns;     /* requesters, whose turn is next first */
	struct map requesters; /* base LID -> requester */
	struct share *shares;  /* by base LID */
	size_t length, bytes;
	struct loop_deferred turn;
	struct loop_timer retry;
};

static void request_drop(struct admission *admission, struct requester *requester,
			 struct request *request)
{
	list_del(&request->link);
	admission->length--;
	admission->bytes -= request->size;
	requester->count--;
	requester->bytes -= request->size;
	free(request);
}

static void requester_drop(struct admission *admission, struct requester *requester)
{
	list_del(&requester->link);
	map_remove(&admission->requesters, requester->lid);
	free(requester);
}

static bool request_is_late(const struct admission *admission, const struct request *request)
{
	return loop_now_us(admission->loop) - request->since_us > ADMISSION_WAIT_US;
}

/* The next requester's next request passes. */
static void pass_one(struct admission *admission)
{
	struct requester *requester =
		container_of(list_pop(&admission->turns), struct requester, link);
	struct request *request = container_of(requester->requests.next, struct request, link);

	list_push(&admission->turns, &requester->link);
	if (request_is_late(admission, request))
		admission->owner.expired(admission->owner.ctx);
	else
		admission->owner.pass(admission->owner.ctx, &request->from, request->mad,
				      request->size);
	request_drop(admission, requester, request);
	if (!requester->count)
		requester_drop(admission, requester);
}

static void admission_turn(void *arg)
{
	struct admission *admission = arg;

	if (!admission->length)
		return;
	if (admission->owner.shut(admission->owner.ctx)) {
		loop_timer_arm(&admission->retry, SPAN_US);
		return;
	}
	for (unsigned i = 0; i < TURN_REQUESTS && admission->length; i++)
		pass_one(admission);
	if (admission->length)
		loop_defer(&admission->turn);
}

struct admission *admission_new(struct loop *loop, const struct admission_owner *owner)
{
	struct admission *admission = mem_zalloc(sizeof(*admission));

	admission->loop = loop;
	admission->owner = *owner;
	list_init(&admission->turns);
	map_init(&admission->requesters);
	admission->shares = mem_array(LIDS, sizeof(*admission->shares));
	loop_deferred_init(&admission->turn, loop, "requests that wait for the SA", admission_turn,
			   admission);
	loop_timer_init(&admission->retry, loop, "requests that wait for the SA", admission_turn,
			admission);
	return admission;
}

void admission_free(struct admission *admission)
{
	if (!admission)
		return;
	while (!list_empty(&admission->turns)) {
		struct requester *requester =
			container_of(admission->turns.next, struct requester, link);

		while (requester->count)
			request_drop(admission, requester,
				     container_of(requester->requests.next, struct request, link));
		requester_drop(admission, requester);
	}
	loop_defer_cancel(&admission->turn);
	loop_timer_disarm(&admission->retry);
	map_done(&admission->requesters);
	free(admission->shares);
	free(admission);
}

/* Takes one of this span's; false when all are used up. */
static bool share_take(struct admission *admission, lid_t lid, uint32_t rate)
{
	uint32_t span = (uint32_t)(loop_now_us(admission->loop) / SPAN_US);
	struct share *share = &admission->shares[lid];

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

static struct requester *requester_of(struct admission *admission, lid_t lid)
{
	struct requester *requester = map_get(&admission->requesters, lid);

	if (requester)
		return requester;
	requester = mem_zalloc(sizeof(*requester));
	requester->lid = lid;
	list_init(&requester->requests);
	map_put(&admission->requesters, lid, requester);
	list_push(&admission->turns, &requester->link);
	return requester;
}

static bool admission_has_place(const struct admission *admission,
				const struct requester *requester, size_t size)
{
	return admission->length < ADMISSION_LENGTH_MAX &&
	       admission->bytes + size <= ADMISSION_BYTES_MAX &&
	       size <= ADMISSION_PER_PORT_BYTES_MAX &&
	       (!requester || (requester->count < ADMISSION_PER_PORT_MAX &&
			       requester->bytes + size <= ADMISSION_PER_PORT_BYTES_MAX));
}

static void admission_keep(struct admission *admission, lid_t base_lid, const struct mad_addr *from,
			   const struct mad_header *header, const uint8_t *mad, size_t size)
{
	struct requester *requester = requester_of(admission, base_lid);
	struct request *request = mem_alloc(sizeof(*request) + size);

	request->from = *from;
	request->header = *header;
	request->since_us = loop_now_us(admission->loop);
	request->size = size;
	memcpy(request->mad, mad, size);
	list_push(&requester->requests, &request->link);
	requester->count++;
	requester->bytes += size;
	admission->length++;
	admission->bytes += size;
	if (!loop_timer_armed(&admission->retry))
		loop_defer(&admission->turn);
}

enum verdict admission_judge(struct admission *admission, uint32_t rate, lid_t base_lid,
			     const struct mad_addr *from, const struct mad_header *header,
			     const uint8_t *mad, size_t size)
{
	const struct requester *requester =
		admission->length ? map_get(&admission->requesters, base_lid) : NULL;

	if (!requester && !admission->owner.shut(admission->owner.ctx) &&
	    share_take(admission, base_lid, rate))
		return VERDICT_PASSES;
	if (requester && is_repeated(requester, from, header))
		return VERDICT_REPEATED;
	if (!admission_has_place(admission, requester, size))
		return VERDICT_FULL;
	admission_keep(admission, base_lid, from, header, mad, size);
	return VERDICT_WAITS;
}

size_t admission_length(const struct admission *admission)
{
	return admission->length;
}
