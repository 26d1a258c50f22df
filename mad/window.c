/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The window over SMPs. Targets that may send are in a ring: while the window has room, one request
 * is taken from each in turn. A request is on the wire until its answer is overdue, long before it
 * times out. From then on it no longer counts in the window. It keeps its place in the kernel, and
 * at its target, so a silent target gets no more requests. Some of the kernel's places are reserved
 * for first attempts, because retries may all be for dead devices.
 *
 * The window works in rounds, each of about as many answers as it is wide. It grows by one in each.
 * If more than a quarter of the results of a round are losses, at different targets, it is halved:
 * a buffer overflows. A link that loses some packets at random does not look like that, nor does a
 * dead device. Results of requests from before a halving do not count after it.
 */
#include "mad/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/pace.h"
#include "mad/rtt.h"

enum {
	UNDER_WAY_MAX = 128, /* kernels queue an agent's requests beyond this */
	RETRIES_MAX = 96,    /* of them */
	SIZE_START = 32,
	SIZE_MIN = 4,
	ROUND_MIN = 16, /* with fewer answers, the share of losses is meaningless */
	ROUTE_LENGTHS = HOPS_MAX + 2,
	BY_LID = HOPS_MAX + 1, /* of unknown length */
	OVERDUE_MIN_US = 250,
	UNKNOWN_SHARE = 8, /* of the longest time-out, if no round trip is known */
	SEND_PAUSE_US = 10000,
	PATIENCE_MAX_MS = 4000,
	PATIENT_ATTEMPTS = 2, /* if each waits longer than the last attempt of other targets */
	TURNS_A_PUMP = 16,    /* of targets: most have no request when all are woken */
};

#define PACE_AGE_US UINT64_C(600000000)

struct flight {		  /* a request, waiting or under way */
	struct list link; /* in its target's queue or flights */
	struct list wire; /* in the window's, in the order in which they become overdue */
	struct window_target *target;
	struct smp_request request;
	unsigned attempt;
	bool sent;
	bool on_wire;	/* counts in the window and at the gates */
	bool alone;	/* no other request to its target was under way when it was sent */
	uint8_t length; /* the index of its route in window->rtt */
	uint64_t sent_us, overdue_us;
};

struct window {
	struct loop *loop;
	struct txn_table *txns;
	struct window_limits limits;
	struct list ready; /* targets that may send */
	struct list spare; /* flights to use again */
	struct list wire;  /* flights that will be overdue */
	unsigned on_wire;  /* flights, with those over routes of unknown speed */
	unsigned size;	   /* limit of requests on the wire */
	struct {
		unsigned answers, losses;
	} round;
	uint32_t rounds;
	uint64_t shrunk_us;
	struct window_gate retries, subtree[PORT_MAX + 1];
	struct rtt rtt[ROUTE_LENGTHS];
	struct pace pace;
	bool quiet; /* nothing is sent until the wire is empty, or until the next call */
	size_t load;
	bool active; /* a request was submitted since the last idle call */
	struct loop_deferred pump;
	struct loop_timer overdue;
	struct loop_timer next_call; /* the pace, or a measurement, delays the next request */
	struct loop_timer pause;     /* a send failed: the kernel lacks a resource */
	bool pausing;
	loop_fn *idle;
	void *idle_arg;
	struct window_stats stats;
};

/* Pauses sending: immediate retries would use up all attempts. */
static void begin_pause(struct window *window)
{
	window->pausing = true;
	loop_timer_arm(&window->pause, SEND_PAUSE_US);
}

static void window_pause_is_over(void *arg)
{
	struct window *window = arg;

	window->pausing = false;
	loop_defer(&window->pump);
}

static void flight_completed(void *arg, const struct txn_result *result);

static struct flight *flight_new(struct window_target *target, const struct smp_request *request)
{
	struct window *window = target->window;
	struct list *link = list_pop(&window->spare);
	struct flight *flight =
		link ? container_of(link, struct flight, link) : mem_alloc(sizeof(*flight));

	*flight = (struct flight){.target = target, .request = *request, .attempt = request->tried};
	list_init(&flight->link);
	list_init(&flight->wire);
	window->load++;
	window->stats.requests++;
	return flight;
}

/* A slow target has one request under way, while the time of the next request runs. */
static bool target_has_room(const struct window_target *target)
{
	return target->under_way < target->limit && !(target->patience_ms && target->under_way);
}

/* Targets with a gate are few at a time, and other work waits for their results. So they come
 * first, or the gate would stay open while other targets send. */
static void stand_in_round(struct window_target *target)
{
	if (target->gate)
		list_push_front(&target->window->ready, &target->ready);
	else
		list_push(&target->window->ready, &target->ready);
	loop_defer(&target->window->pump);
}

/* A target is in the round while it may have requests and has room. */
static void target_ready(struct window_target *target)
{
	struct window *window = target->window;

	window->active = true;
	if (target_has_room(target) && list_empty(&target->ready))
		stand_in_round(target);
	loop_defer(&window->pump);
}

/* Gates and the wire */

void window_gate_init(struct window_gate *gate, unsigned limit)
{
	*gate = (struct window_gate){.limit = limit};
	list_init(&gate->waiting);
}

static void gate_wake(struct window_gate *gate)
{
	struct list *link = gate->passed < gate->limit ? list_pop(&gate->waiting) : NULL;
	struct window_target *target;

	if (!link)
		return;
	target = container_of(link, struct window_target, ready);
	target->woken_by = gate;
	stand_in_round(target);
}

static void gate_leave(struct window_gate *gate)
{
	gate->passed--;
	gate_wake(gate);
}

/* A target that was woken, and has sent or has nothing to send, wakes the next, so that no place at
 * a gate stays unused while others wait. */
static void target_wake_next(struct window_target *target)
{
	struct window_gate *gate = target->woken_by;

	target->woken_by = NULL;
	if (gate)
		gate_wake(gate);
}

/* The gate at which the flight has to wait, or NULL. */
static struct window_gate *closed_gate(struct window *window, const struct flight *flight,
				       const struct smp_route *route)
{
	struct window_gate *own = flight->target->gate, *subtree = &window->subtree[route->subtree];

	if (own && own->passed >= own->limit)
		return own;
	if (flight->attempt && window->retries.passed >= window->retries.limit)
		return &window->retries;
	return route->subtree && subtree->passed >= subtree->limit ? subtree : NULL;
}

/* An SMP that measures a round trip must be alone on its way. That lasts no longer than the
 * shortest time-out, because it may be lost. */
static void begin_quiet(struct window *window, unsigned hops)
{
	pace_try(&window->pace, hops);
	window->quiet = true;
	loop_timer_arm(&window->next_call, (uint64_t)window->limits.timeout_min_ms * 1000);
}

static bool wants_alone(const struct window *window, const struct smp_route *route)
{
	return route->directed && route->path.hops && !window->limits.fixed &&
	       pace_wants_alone(&window->pace, route->path.hops);
}

static void keep_pace(struct window *window, const struct smp_route *route, uint64_t now_us)
{
	if (!window->on_wire && now_us - window->pace.since_us > PACE_AGE_US)
		pace_init(&window->pace, now_us);
	if (wants_alone(window, route))
		begin_quiet(window, route->path.hops);
	if (route->directed)
		pace_sent(&window->pace, route->path.hops, now_us);
}

static void flight_enter_wire(struct flight *flight, const struct smp_route *route)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;
	uint64_t overdue_us;
	struct list *at;

	flight->sent_us = loop_now_us(window->loop);
	flight->length = route->directed ? route->path.hops : BY_LID;
	flight->request.route = *route;
	flight->on_wire = true;
	flight->alone = target->under_way == 1;
	keep_pace(window, route, flight->sent_us);
	window->on_wire++;
	window->subtree[route->subtree].passed++;
	if (target->gate)
		target->gate->passed++;
	overdue_us = rtt_overdue_us(&window->rtt[flight->length]);
	if (!overdue_us)
		return; /* until its time-out */
	flight->overdue_us =
		flight->sent_us + (overdue_us > OVERDUE_MIN_US ? overdue_us : OVERDUE_MIN_US);
	for (at = window->wire.prev; at != &window->wire; at = at->prev) {
		if (container_of(at, struct flight, wire)->overdue_us <= flight->overdue_us)
			break;
	}
	list_push_front(at, &flight->wire);
	if (at == &window->wire)
		loop_timer_arm(&window->overdue, flight->overdue_us - flight->sent_us);
}

static void flight_leave_wire(struct flight *flight)
{
	struct window *window = flight->target->window;

	if (!flight->on_wire)
		return;
	flight->on_wire = false;
	list_del(&flight->wire);
	if (!--window->on_wire)
		window->quiet = false;
	gate_leave(&window->subtree[flight->request.route.subtree]);
	if (flight->target->gate)
		gate_leave(flight->target->gate);
	loop_defer(&window->pump);
}

/* Flights that were answered left the list after the timer was armed. */
static void window_overdue(void *arg)
{
	struct window *window = arg;
	uint64_t now_us = loop_now_us(window->loop);

	while (!list_empty(&window->wire)) {
		struct flight *flight = container_of(window->wire.next, struct flight, wire);

		if (flight->overdue_us > now_us) {
			loop_timer_arm(&window->overdue, flight->overdue_us - now_us);
			return;
		}
		flight_leave_wire(flight);
	}
}

/* The width of the window */

static void resize(struct window *window, unsigned size)
{
	unsigned total =
		window->limits.total < UNDER_WAY_MAX ? window->limits.total : UNDER_WAY_MAX;

	window->size = size < SIZE_MIN ? SIZE_MIN : size;
	if (window->size > total || window->limits.fixed)
		window->size = total;
	/* A subtree that is slow or loses packets must not use all places. */
	for (size_t i = 1; i < ARRAY_SIZE(window->subtree); i++)
		window->subtree[i].limit = (window->size + 1) / 2;
	window->stats.size = window->size;
}

static void end_round(struct window *window)
{
	unsigned losses = window->round.losses, all = window->round.answers + losses;

	if (all < window->size || all < ROUND_MIN)
		return;
	if (losses > 1 && losses * 4 > all) {
		resize(window, window->size / 2);
		window->shrunk_us = loop_now_us(window->loop);
		window->stats.shrinks++;
	} else {
		resize(window, window->size + 1);
	}
	window->round.answers = window->round.losses = 0;
	window->rounds++;
}

/* Only a loss on the way to a device that had answered before indicates a full buffer. */
static void note_loss(struct flight *flight)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;

	if (!flight->attempt && target->answered)
		pace_lost(&window->pace, flight->sent_us, loop_now_us(window->loop));
	if (flight->attempt || !target->answered || target->lost_in == window->rounds + 1 ||
	    (window->stats.shrinks && flight->sent_us <= window->shrunk_us))
		return;
	target->lost_in = window->rounds + 1;
	window->round.losses++;
	end_round(window);
}

static void note_answer(struct flight *flight, uint64_t took_us)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;
	unsigned took_ms = (unsigned)(took_us / 1000);

	if (flight->attempt)
		window->stats.recovered++;
	else if (!target->patience_ms || took_us <= rtt_overdue_us(&window->rtt[flight->length]))
		rtt_sample(&window->rtt[flight->length], took_us);
	if (!flight->attempt && flight->alone && flight->length != BY_LID)
		pace_answered(&window->pace, flight->length, took_us);
	target->answered = true;
	/* A probe may precede the next request, and the delay of a slow device varies. */
	target->patience_ms = took_ms > window->limits.timeout_min_ms / 2 ? 3 * took_ms : 0;
	if (target->patience_ms > PATIENCE_MAX_MS)
		target->patience_ms = PATIENCE_MAX_MS;
	window->round.answers++;
	end_round(window);
}

/* The request was given up after this wait. A dead device looks the same as a slow device. So the
 * wait grows once for each time that a request is given up, not for all requests queued at that
 * time: that would take minutes. */
static void target_note_silence(struct window_target *target, unsigned waited_ms)
{
	unsigned twice_ms = waited_ms < PATIENCE_MAX_MS / 2 ? 2 * waited_ms : PATIENCE_MAX_MS;

	if (target->patience_ms < twice_ms && list_empty(&target->queue))
		target->patience_ms = twice_ms;
}

/* Attempts */

static void flight_end(struct flight *flight)
{
	struct window *window = flight->target->window;

	flight_leave_wire(flight);
	list_del(&flight->link);
	if (!flight->sent)
		return;
	flight->sent = false;
	flight->target->under_way--;
	window->stats.under_way--;
	if (flight->attempt)
		gate_leave(&window->retries);
}

/* Ends a flight: the caller must not use it, nor its target, afterwards. */
static void flight_finish(struct flight *flight, const struct smp_answer *answer)
{
	struct window_target *target = flight->target;
	struct window *window = target->window;
	struct smp_request request = flight->request;

	flight_end(flight);
	list_push(&window->spare, &flight->link);
	window->load--;
	window->stats.completed++;
	window->stats.failed += answer->error == -ETIMEDOUT;
	target_ready(target);
	request.done(request.owner, request.subject, &request, answer);
}

static void flight_fail(struct flight *flight, int error)
{
	struct smp_answer answer = {.error = error};

	flight_finish(flight, &answer);
}

static bool is_patient(const struct window_target *target)
{
	return target->patience_ms > target->window->limits.timeout_ms;
}

unsigned window_attempts(const struct window_target *target)
{
	unsigned attempts = target->window->limits.attempts;

	return is_patient(target) && attempts > PATIENT_ATTEMPTS ? PATIENT_ATTEMPTS : attempts;
}

static unsigned attempts_of(const struct flight *flight)
{
	unsigned attempts = window_attempts(flight->target), asked = flight->request.attempts;

	return asked && (asked < attempts || !is_patient(flight->target)) ? asked : attempts;
}

static unsigned way_of(const struct flight *flight)
{
	return flight->request.way + (flight->request.once ? 0 : flight->attempt);
}

/* Doubled with every other attempt. The last attempt always waits in full, because the delay of a
 * busy device cannot be estimated from others' round trips. */
static unsigned attempt_timeout_ms(const struct flight *flight)
{
	const struct window *window = flight->target->window;
	const struct window_limits *limits = &window->limits;
	uint64_t overdue_us = rtt_overdue_us(&window->rtt[flight->length]);
	uint64_t timeout_ms = (2 * overdue_us + 999) / 1000; /* queues on the way grow, too */

	if (is_patient(flight->target))
		return flight->target->patience_ms;
	if (flight->attempt + 1 >= attempts_of(flight) || flight->attempt > 16)
		return limits->timeout_ms;
	if (!overdue_us) /* no target at this distance has answered yet */
		timeout_ms = limits->timeout_ms / UNKNOWN_SHARE;
	if (timeout_ms < limits->timeout_min_ms)
		timeout_ms = limits->timeout_min_ms;
	if (timeout_ms < flight->target->patience_ms)
		timeout_ms = flight->target->patience_ms;
	timeout_ms <<= flight->attempt / 2;
	return timeout_ms < limits->timeout_ms ? (unsigned)timeout_ms : limits->timeout_ms;
}

static void flight_start(struct flight *flight, const struct smp_route *route)
{
	struct smp_request *request = &flight->request;
	struct window_target *target = flight->target;
	struct window *window = target->window;
	struct mad_addr to = {.lid = route->directed ? LID_PERMISSIVE : route->lid};
	uint8_t mad[MAD_SIZE];

	list_push(&target->flights, &flight->link);
	flight->sent = true;
	target->under_way++;
	if (++window->stats.under_way > window->stats.under_way_max)
		window->stats.under_way_max = window->stats.under_way;
	window->retries.passed += flight->attempt > 0;
	flight_enter_wire(flight, route);
	request->m_key = target->key ? target->key(target, way_of(flight)) : 0;
	subn_build(mad, request->method, request->attr_id, request->attr_mod, request->m_key,
		   route->directed ? &route->path : NULL,
		   request->method == METHOD_SET ? request->data : NULL);
	txn_start(window->txns, &to, mad, sizeof(mad), attempt_timeout_ms(flight), flight_completed,
		  flight);
}

/* A further attempt takes its turn as any other request, but before other requests of its
 * target. */
static void flight_try_again(struct flight *flight)
{
	struct window_target *target = flight->target;
	const struct smp_request *request = &flight->request;

	flight_end(flight);
	flight->attempt++;
	target->window->stats.retries++;
	list_push_front(&target->queue, &flight->link);
	target_ready(target);
	if (request->again)
		request->again(request->owner, request->subject, flight->attempt);
}

static void flight_completed(void *arg, const struct txn_result *result)
{
	struct flight *flight = arg;
	struct smp_answer answer = {.error = result->error};

	if (!result->error)
		note_answer(flight, result->rtt_us);
	else if (result->error == -ETIMEDOUT)
		note_loss(flight);
	else if (result->error != -ECANCELED)
		begin_pause(flight->target->window);
	if (result->error == -ETIMEDOUT && flight->attempt + 1 >= attempts_of(flight))
		target_note_silence(flight->target, attempt_timeout_ms(flight));
	/* Also if the send itself failed: the kernel may have lacked memory. */
	if (result->error && flight->attempt + 1 < attempts_of(flight) && !flight->request.once) {
		flight_try_again(flight);
		return;
	}
	if (!result->error) {
		answer.status = result->header.status & 0x7FFF; /* without the D bit */
		memcpy(answer.data, result->mad + SMP_DATA_OFFSET, SMP_DATA_SIZE);
	}
	flight_finish(flight, &answer);
}

/* The next request of a target: from its queue, else from its next(). */
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

static bool is_obsolete(const struct flight *flight)
{
	const struct smp_request *request = &flight->request;

	return flight->attempt > request->tried && request->may_repeat &&
	       !request->may_repeat(request->owner, request->subject);
}

static bool flight_route(const struct flight *flight, struct smp_route *out)
{
	if (!flight->request.pinned)
		return flight->target->route(flight->target, way_of(flight), out);
	*out = flight->request.route;
	return true;
}

/* Sends the next request of a target in its turn, if it has a request and no gate is closed. */
static void target_turn(struct window_target *target)
{
	struct window *window = target->window;
	struct window_gate *gate;
	struct flight *flight;
	struct smp_route route = {0};
	bool obsolete;

	if (!target_has_room(target))
		flight = NULL; /* it returns to the round when one of its requests completes */
	else
		flight = target_next(target);
	obsolete = flight && is_obsolete(flight);
	if (!flight || obsolete || !flight_route(flight, &route)) {
		target_wake_next(target);
		if (flight)
			flight_fail(flight, obsolete ? -ETIMEDOUT : -EHOSTUNREACH);
		return;
	}
	list_del(&target->ready); /* next() may have woken it in the meantime */
	gate = closed_gate(window, flight, &route);
	if (window->on_wire && wants_alone(window, &route)) {
		begin_quiet(window, route.path.hops);
		list_push_front(&target->queue, &flight->link);
		list_push_front(&window->ready, &target->ready);
	} else if (gate) {
		list_push_front(&target->queue, &flight->link);
		list_push(&gate->waiting, &target->ready);
	} else {
		if (target->under_way + 1 < target->limit)
			list_push(&window->ready, &target->ready);
		flight_start(flight, &route);
	}
	target_wake_next(target);
}

static bool window_may_send(struct window *window)
{
	uint64_t wait_us;

	if (window->pausing || window->quiet || window->on_wire >= window->size ||
	    window->stats.under_way >= UNDER_WAY_MAX || list_empty(&window->ready))
		return false;
	if (window->limits.fixed)
		return true;
	wait_us = pace_wait_us(&window->pace, loop_now_us(window->loop));
	if (wait_us)
		loop_timer_arm(&window->next_call, wait_us);
	return !wait_us;
}

static void window_pump(void *arg)
{
	struct window *window = arg;
	unsigned turns = 0;
	struct list *link;

	while (window_may_send(window) && turns++ < TURNS_A_PUMP &&
	       (link = list_pop(&window->ready)))
		target_turn(container_of(link, struct window_target, ready));
	if (turns > TURNS_A_PUMP && !list_empty(&window->ready))
		loop_defer(&window->pump); /* received answers are handled first */
	if (window->active && !window->load && list_empty(&window->ready)) {
		window->active = false;
		if (window->idle)
			window->idle(window->idle_arg);
	}
}

static void next_call(void *arg)
{
	struct window *window = arg;

	window->quiet = false;
	window_pump(window);
}

struct window *window_new(struct loop *loop, struct txn_table *txns,
			  const struct window_limits *limits)
{
	struct window *window = mem_zalloc(sizeof(*window));

	window->loop = loop;
	window->txns = txns;
	window->limits = *limits;
	list_init(&window->ready);
	list_init(&window->spare);
	list_init(&window->wire);
	window_gate_init(&window->retries, RETRIES_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(window->subtree); i++)
		window_gate_init(&window->subtree[i], 0);
	pace_init(&window->pace, loop_now_us(loop));
	resize(window, SIZE_START);
	loop_deferred_init(&window->pump, loop, "SMP window", window_pump, window);
	loop_timer_init(&window->pause, loop, "pause after a failed send", window_pause_is_over,
			window);
	loop_timer_init(&window->next_call, loop, "SMP window, paced", next_call, window);
	loop_timer_init(&window->overdue, loop, "SMPs overdue", window_overdue, window);
	return window;
}

void window_free(struct window *window)
{
	struct list *link;

	if (!window)
		return;
	loop_defer_cancel(&window->pump);
	loop_timer_disarm(&window->overdue);
	loop_timer_disarm(&window->next_call);
	loop_timer_disarm(&window->pause);
	while ((link = list_pop(&window->spare)))
		free(container_of(link, struct flight, link));
	free(window);
}

void window_set_limits(struct window *window, const struct window_limits *limits)
{
	window->limits = *limits;
	resize(window, window->size);
}

void window_target_init(struct window_target *target, struct window *window, unsigned limit,
			bool (*route)(const struct window_target *, unsigned, struct smp_route *))
{
	*target = (struct window_target){.window = window, .limit = limit, .route = route};
	list_init(&target->ready);
	list_init(&target->queue);
	list_init(&target->flights);
}

static void flights_drop_from(struct list *list, const void *owner)
{
	list_for_each (link, list) {
		struct flight *flight = container_of(link, struct flight, link);

		if (flight->request.owner != owner)
			continue;
		txn_cancel(flight->target->window->txns, flight_completed, flight);
		flight_fail(flight, -ECANCELED);
	}
}

void window_target_unqueue(struct window_target *target, const void *owner)
{
	flights_drop_from(&target->queue, owner);
}

void window_target_drop(struct window_target *target, const void *owner)
{
	flights_drop_from(&target->flights, owner);
	window_target_unqueue(target, owner);
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
	target_wake_next(target);
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
