/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Taking turns (queue.h). Work is counted in candidates that were looked at, not in time, so that a
 * simulation with a virtual clock slices as the daemon does; some thousand candidates are a
 * millisecond.
 *
 * The kernel does not tell when the other side has acknowledged a long answer and its memory is
 * free. It is presumed to send DRAIN_BYTES_PER_US, far less than any link; a client that is gone
 * holds its table for some seconds more.
 */
#include "sa/queue.h"

#include <stdlib.h>

#include "lib/mem.h"

enum {
	SLICE_CANDIDATES = 256,
	EFFORT_CANDIDATES = 4,	/* what the lookup works out costs as much as so many */
	TURN_CANDIDATES = 1024, /* of all slices in one turn of the loop */
	DRAIN_BYTES_PER_US = 64,
	LIDS = UINT16_MAX + 1,
	RETRY_US = 10000, /* when nothing can begin: the kernel's memory is full, or all owe */
};

struct queue {
	struct loop *loop;
	void (*done)(void *ctx, struct exchange *exchange);
	void *ctx;
	struct list waiting, working;
	size_t length;		     /* of both */
	uint64_t at_work[LIDS / 64]; /* base LIDs with something in working */
	bool large_at_work;
	uint64_t working_bytes; /* set aside for all that is in working */
	uint64_t handed_bytes, handed_us;
	uint64_t *paid_us; /* by base LID: the time with which it has paid for its answers */
	struct loop_deferred turn;
	struct loop_timer retry;
};

bool exchange_work(struct exchange *exchange, uint64_t candidates)
{
	struct sa_request *request = &exchange->request;
	uint64_t until = exchange->answer.work + candidates;

	while (request->unit < request->end && request_open(request)) {
		uint64_t effort = lookup_effort(request->lookup);

		if (exchange->answer.work >= until)
			return false;
		exchange->answer.work++;
		request->step(request, request->unit++);
		exchange->answer.work +=
			EFFORT_CANDIDATES * (lookup_effort(request->lookup) - effort);
	}
	return true;
}

static void drain(struct queue *queue)
{
	uint64_t now_us = loop_now_us(queue->loop);
	uint64_t drained = (now_us - queue->handed_us) * DRAIN_BYTES_PER_US;

	queue->handed_bytes -= drained < queue->handed_bytes ? drained : queue->handed_bytes;
	queue->handed_us = now_us;
}

static void pay(struct queue *queue, lid_t lid, uint64_t us)
{
	uint64_t now_us = loop_now_us(queue->loop);
	uint64_t *paid_us = &queue->paid_us[lid];

	*paid_us = (*paid_us > now_us ? *paid_us : now_us) + us;
}

void queue_handed_over(struct queue *queue, lid_t base_lid, size_t bytes)
{
	drain(queue);
	queue->handed_bytes += bytes;
	pay(queue, base_lid, bytes / QUEUE_BYTES_PER_US);
}

void queue_charge(struct queue *queue, lid_t base_lid, uint64_t work)
{
	pay(queue, base_lid, work / QUEUE_WORK_PER_US);
}

bool queue_owes(const struct queue *queue, lid_t base_lid)
{
	return queue->paid_us[base_lid] > loop_now_us(queue->loop) + QUEUE_DEBT_US;
}

static uint64_t bytes_needed(const struct sa_request *request)
{
	uint64_t most = request->table ? request->most : 2;
	uint64_t limit = request->answer->large ? TABLE_BYTES_LARGE : TABLE_BYTES_MAX;

	if (most > limit / request->format->wire_size)
		return limit;
	return most * request->format->wire_size + MAD_SIZE;
}

static bool is_at_work(const struct queue *queue, lid_t lid)
{
	return queue->at_work[lid / 64] >> lid % 64 & 1;
}

/* The first that waits of those for whom nothing is made yet and who do not owe; NULL: there is
 * none. A large one steps aside for as long as another is made. */
static struct exchange *next_waiting(const struct queue *queue)
{
	list_for_each (item, &queue->waiting) {
		struct exchange *exchange = container_of(item, struct exchange, link);

		if (!is_at_work(queue, exchange_port(exchange)) &&
		    !queue_owes(queue, exchange_port(exchange)) &&
		    !(exchange->answer.large && queue->large_at_work))
			return exchange;
	}
	return NULL;
}

/* The next one begins when there is room for all of its answer. Those behind it wait for it, small
 * as they may be: else one that needs much would wait for ever. */
static void admit(struct queue *queue)
{
	struct exchange *exchange;

	drain(queue);
	while ((exchange = next_waiting(queue))) {
		uint64_t bytes = bytes_needed(&exchange->request);
		lid_t port = exchange_port(exchange);

		if (queue->handed_bytes + queue->working_bytes + bytes > QUEUE_BYTES_MAX)
			return;
		exchange->bytes = bytes;
		queue->working_bytes += bytes;
		queue->at_work[port / 64] |= UINT64_C(1) << port % 64;
		queue->large_at_work |= exchange->answer.large;
		list_del(&exchange->link);
		list_push(&queue->working, &exchange->link);
	}
}

static void queue_leave(struct queue *queue, struct exchange *exchange)
{
	lid_t port = exchange_port(exchange);

	list_del(&exchange->link);
	queue->length--;
	if (!exchange->bytes)
		return; /* it was waiting */
	queue->working_bytes -= exchange->bytes;
	queue->at_work[port / 64] &= ~(UINT64_C(1) << port % 64);
	queue->large_at_work &= !exchange->answer.large;
}

static void slice(struct queue *queue)
{
	struct exchange *exchange = container_of(queue->working.next, struct exchange, link);

	list_del(&exchange->link);
	list_push(&queue->working, &exchange->link);
	if (!exchange_work(exchange, SLICE_CANDIDATES))
		return;
	queue_leave(queue, exchange);
	queue_charge(queue, exchange_port(exchange), exchange->answer.work);
	queue->done(queue->ctx, exchange);
}

static void queue_turn(void *arg)
{
	struct queue *queue = arg;

	for (unsigned done = 0; done < TURN_CANDIDATES; done += SLICE_CANDIDATES) {
		admit(queue);
		if (list_empty(&queue->working))
			break;
		slice(queue);
	}
	admit(queue); /* what has just been completed may have been waited for */
	if (!list_empty(&queue->working))
		loop_defer(&queue->turn);
	else if (!list_empty(&queue->waiting))
		loop_timer_arm(&queue->retry, RETRY_US);
}

struct queue *queue_new(struct loop *loop, void (*done)(void *ctx, struct exchange *exchange),
			void *ctx)
{
	struct queue *queue = mem_zalloc(sizeof(*queue));

	queue->loop = loop;
	queue->done = done;
	queue->ctx = ctx;
	queue->handed_us = loop_now_us(loop);
	queue->paid_us = mem_array(LIDS, sizeof(*queue->paid_us));
	list_init(&queue->waiting);
	list_init(&queue->working);
	loop_deferred_init(&queue->turn, loop, "tables of the SA", queue_turn, queue);
	loop_timer_init(&queue->retry, loop, "tables of the SA", queue_turn, queue);
	return queue;
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	loop_defer_cancel(&queue->turn);
	loop_timer_disarm(&queue->retry);
	free(queue->paid_us);
	free(queue);
}

static void judge_list(const struct list *list, const struct exchange *asks, unsigned *same_port,
		       bool *repeated)
{
	list_for_each (item, list) {
		const struct exchange *exchange = container_of(item, struct exchange, link);

		*same_port += exchange_port(exchange) == exchange_port(asks);
		*repeated |= same_request(&exchange->from, &exchange->header, &asks->from,
					  &asks->header);
	}
}

enum verdict queue_judge(const struct queue *queue, const struct exchange *asks)
{
	unsigned same_port = 0;
	bool repeated = false;

	judge_list(&queue->waiting, asks, &same_port, &repeated);
	judge_list(&queue->working, asks, &same_port, &repeated);
	if (repeated)
		return VERDICT_REPEATED;
	return queue->length >= QUEUE_LENGTH_MAX || same_port >= QUEUE_PER_PORT_MAX ? VERDICT_FULL
										    : VERDICT_WAITS;
}

void queue_add(struct queue *queue, struct exchange *exchange)
{
	queue->length++;
	exchange->bytes = 0;
	list_push(&queue->waiting, &exchange->link);
	loop_defer(&queue->turn);
}

struct exchange *queue_take(struct queue *queue)
{
	struct list *from = list_empty(&queue->working) ? &queue->waiting : &queue->working;
	struct exchange *exchange;

	if (list_empty(from))
		return NULL;
	exchange = container_of(from->next, struct exchange, link);
	queue_leave(queue, exchange);
	return exchange;
}

size_t queue_length(const struct queue *queue)
{
	return queue->length;
}
