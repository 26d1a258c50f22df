/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The window over SMPs. Targets that may send stand in a round; the pump takes one request from
 * each in turn while there is room. A request that has timed out once no longer counts against the
 * total: its first attempt is gone from the wire, and a fabric with many silent devices must not
 * stop the others. It still holds its place at its target, so a silent target never gets more; and
 * in all there is a hard bound, in which retries leave room for first attempts.
 */
#include "mad/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* SMPs under way with retries: kernels hold back what an agent has beyond it. */
enum { UNDER_WAY_MAX = 128 };

struct flight {		  /* a request, waiting or under way */
	struct list link; /* in its target's queue or flights */
	struct window_target *target;
	struct smp_request request;
	unsigned attempt;
	bool counted; /* against the total */
	bool sent;
};

struct window {
	struct txn_table *txns;
	struct window_limits limits;
	struct list ready; /* targets that may send */
	struct list spare; /* flights to use again */
	unsigned counted;  /* under way, against the total */
	size_t load;
	bool active; /* something was asked for since the last idle call */
	struct loop_deferred pump;
	loop_fn *idle;
	void *idle_arg;
	struct window_stats stats;
};

static void flight_completed(void *arg, const struct txn_result *result);

static struct flight *flight_new(struct window_target *target, const struct smp_request *request)
{
	struct window *window = target->window;
	struct list *link = list_pop(&window->spare);
	struct flight *flight =
		link ? container_of(link, struct flight, link) : mem_alloc(sizeof(*flight));

	*flight = (struct flight){.target = target, .request = *request};
	list_init(&flight->link);
	window->load++;
	window->stats.requests++;
	return flight;
}

/* A target stands in the round while it may have something to send and has room. */
static void target_ready(struct window_target *target)
{
	struct window *window = target->window;

	window->active = true;
	if (target->under_way < target->limit && list_empty(&target->ready))
		list_push(&window->ready, &target->ready);
	loop_defer(&window->pump);
}

static void flight_uncount(struct flight *flight)
{
	if (flight->counted) {
		flight->counted = false;
		flight->target->window->counted--;
	}
}

/* The last thing done with a flight: the caller must not touch it, nor its target, afterwards. */
static void flight_finish(struct flight *flight, const struct smp_answer *answer)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;
	struct smp_request request = flight->request;

	flight_uncount(flight);
	list_del(&flight->link);
	if (flight->sent) {
		target->under_way--;
		window->stats.under_way--;
	}
	list_push(&window->spare, &flight->link);
	window->load--;
	window->stats.completed++;
	window->stats.failed += answer->error != 0;
	target_ready(target);
	request.done(request.owner, request.subject, &request, answer);
}

static void flight_fail(struct flight *flight, int error)
{
	struct smp_answer answer = {.error = error};

	flight_finish(flight, &answer);
}

static unsigned attempt_timeout_ms(const struct window_limits *limits, unsigned attempt)
{
	uint64_t timeout_ms = (uint64_t)limits->timeout_ms << (attempt < 16 ? attempt : 16);

	return timeout_ms < limits->timeout_max_ms ? (unsigned)timeout_ms : limits->timeout_max_ms;
}

static unsigned attempts_of(const struct flight *flight)
{
	return flight->request.attempts ? flight->request.attempts
					: flight->target->window->limits.attempts;
}

static void flight_send(struct flight *flight)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;
	const struct smp_request *request = &flight->request;
	struct mad_addr to = {.lid = LID_PERMISSIVE};
	struct smp_route route;
	uint8_t mad[MAD_SIZE];

	if (!target->route(target, flight->attempt, &route)) {
		flight_fail(flight, -EHOSTUNREACH);
		return;
	}
	if (!route.directed)
		to.lid = route.lid;
	subn_build(mad, request->method, request->attr_id, request->attr_mod, request->m_key,
		   route.directed ? &route.path : NULL,
		   request->method == METHOD_SET ? request->data : NULL);
	txn_start(window->txns, &to, mad, sizeof(mad),
		  attempt_timeout_ms(&window->limits, flight->attempt), flight_completed, flight);
}

static void flight_start(struct flight *flight)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;

	list_push(&target->flights, &flight->link);
	target->under_way++;
	flight->sent = true;
	flight->counted = true;
	window->counted++;
	if (++window->stats.under_way > window->stats.under_way_max)
		window->stats.under_way_max = window->stats.under_way;
	flight_send(flight);
}

/* So many wait for an answer again that this one takes another turn, behind those that may be
 * alive. */
static void flight_put_back(struct flight *flight)
{
	struct window_target *target = flight->target;

	list_del(&flight->link);
	list_push_front(&target->queue, &flight->link);
	flight->sent = false;
	target->under_way--;
	target->window->stats.under_way--;
	target_ready(target);
}

static void flight_completed(void *arg, const struct txn_result *result)
{
	struct flight *flight = arg;
	struct window *window = flight->target->window;
	struct smp_answer answer = {.error = result->error};

	/* Also when the send itself failed: the kernel may have been short of memory. */
	if (result->error && flight->attempt + 1 < attempts_of(flight)) {
		flight->attempt++;
		window->stats.retries++;
		flight_uncount(flight);
		loop_defer(&window->pump);
		if (window->stats.under_way - window->counted >
		    UNDER_WAY_MAX - window->limits.total)
			flight_put_back(flight);
		else
			flight_send(flight);
		return;
	}
	if (!result->error) {
		answer.status = result->header.status & 0x7FFF; /* without the D bit */
		memcpy(answer.data, result->mad + SMP_DATA_OFFSET, SMP_DATA_SIZE);
	}
	flight_finish(flight, &answer);
}

/* The next request of a target: what was queued, then what its source gives. */
static struct flight *target_next(struct window_target *target)
{
	struct list *link = list_pop(&target->queue);
	struct smp_request request;

	if (link)
		return container_of(link, struct flight, link);
	if (target->next && target->next(target->next_owner, target, &request))
		return flight_new(target, &request);
	return NULL;
}

static void pump(void *arg)
{
	struct window *window = arg;
	struct list *link;

	while (window->counted < window->limits.total && window->stats.under_way < UNDER_WAY_MAX &&
	       (link = list_pop(&window->ready))) {
		struct window_target *target = container_of(link, struct window_target, ready);
		struct flight *flight;

		if (target->under_way >= target->limit)
			continue; /* comes back when one of its requests completes */
		flight = target_next(target);
		if (!flight)
			continue;
		if (target->under_way + 1 < target->limit)
			list_push(&window->ready, &target->ready);
		flight_start(flight);
	}
	if (window->active && !window->load && list_empty(&window->ready)) {
		window->active = false;
		if (window->idle)
			window->idle(window->idle_arg);
	}
}

struct window *window_new(struct loop *loop, struct txn_table *txns,
			  const struct window_limits *limits)
{
	struct window *window = mem_zalloc(sizeof(*window));

	window->txns = txns;
	window->limits = *limits;
	list_init(&window->ready);
	list_init(&window->spare);
	loop_deferred_init(&window->pump, loop, "SMP window", pump, window);
	return window;
}

void window_free(struct window *window)
{
	struct list *link;

	if (!window)
		return;
	loop_defer_cancel(&window->pump);
	while ((link = list_pop(&window->spare)))
		free(container_of(link, struct flight, link));
	free(window);
}

void window_set_limits(struct window *window, const struct window_limits *limits)
{
	window->limits = *limits;
}

void window_target_init(struct window_target *target, struct window *window, unsigned limit,
			bool (*route)(const struct window_target *, unsigned, struct smp_route *))
{
	*target = (struct window_target){.window = window, .limit = limit, .route = route};
	list_init(&target->ready);
	list_init(&target->queue);
	list_init(&target->flights);
}

void window_target_done(struct window_target *target)
{
	struct list *link;

	target->next = NULL;
	target->limit = 0;
	while (!list_empty(&target->flights) || !list_empty(&target->queue)) {
		link = list_empty(&target->flights) ? target->queue.next : target->flights.next;
		txn_cancel(target->window->txns, flight_completed,
			   container_of(link, struct flight, link));
		flight_fail(container_of(link, struct flight, link), -ECANCELED);
	}
	list_del(&target->ready);
}

void window_submit(struct window_target *target, const struct smp_request *request)
{
	list_push(&target->queue, &flight_new(target, request)->link);
	target_ready(target);
}

void window_wake(struct window_target *target)
{
	target_ready(target);
}

void window_on_idle(struct window *window, loop_fn *fn, void *arg)
{
	window->idle = fn;
	window->idle_arg = arg;
}

const struct window_stats *window_stats(const struct window *window)
{
	return &window->stats;
}
