/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The queue of requests. The accounts of all ports are in an array; the struct of a port exists
 * only while it has a request in the queue.
 *
 * Work is counted in candidates that are examined, not in time, so that a simulation with a virtual
 * clock makes the same slices as weftd. Some thousand candidates take a millisecond. A turn of the
 * loop has few slices, so that no answer delays the loop or another client.
 *
 * The kernel does not report when the client has acknowledged a long answer and its memory is free.
 * The code assumes DRAIN_BYTES_PER_US, far less than the rate of any link. The table of a client
 * that has gone counts for some seconds more.
 */
#include "sa/admission.h"

#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "lib/mem.h"

enum {
	PASSES_IN_TURN = 64, /* of the loop */
	ANSWERS_IN_TURN = 64,
	SLICE_CANDIDATES = 256,
	TURN_CANDIDATES = 1024, /* of all slices in one turn of the loop */
	BURST_US = 10000,	/* how far a port may be ahead with its requests */
	RETRY_US = 10000,	/* while the owner is shut, or no work can begin */
	DRAIN_BYTES_PER_US = 64,
	LIDS = UINT16_MAX + 1,
};

static const struct {
	unsigned all, per_port;
} places[ADMISSION_WAITS] = {
	[ADMISSION_TURN] = {ADMISSION_TURN_MAX, ADMISSION_TURN_PER_PORT},
	[ADMISSION_WORK] = {ADMISSION_WORK_MAX, ADMISSION_WORK_PER_PORT},
	[ADMISSION_STORE] = {ADMISSION_STORE_MAX, ADMISSION_STORE_PER_PORT},
};

static const enum admission_wait wait_of[ADMITTED_STATES] = {
	[ADMITTED_TURN] = ADMISSION_TURN,     [ADMITTED_WAITING] = ADMISSION_WORK,
	[ADMITTED_WORKING] = ADMISSION_WORK,  [ADMITTED_STORING] = ADMISSION_STORE,
	[ADMITTED_DURABLE] = ADMISSION_STORE,
};

/* A copy of a request. */
struct unopened {
	struct admitted admitted;
	uint64_t since_us;
	size_t size;
	uint8_t mad[];
};

struct admission_port { /* with a request in the queue */
	struct admission *admission;
	lid_t base_lid;
	unsigned count[ADMISSION_WAITS];
	struct list link; /* in turns, while any is unopened */
	struct list unopened;
	size_t unopened_bytes;
	bool is_working; /* at one of its answers; its others wait */
};

/* The times up to which a port has paid for its requests and its answers. */
struct account {
	uint64_t requests_us, answers_us;
};

struct admission {
	struct loop *loop;
	struct registry *registry;
	struct admission_owner owner;
	struct map requests; /* request_hash() -> the request with this hash */
	struct map ports;    /* base LID -> admission_port */
	struct account *accounts;
	size_t count[ADMISSION_WAITS];
	struct list turns; /* ports with unopened requests; the first has the next turn */
	size_t unopened_bytes;
	struct list states[ADMITTED_STATES]; /* all but ADMITTED_TURN */
	uint64_t working_bytes;		     /* reserved for all answers in work */
	bool large_is_working;
	uint64_t sent_bytes, sent_us; /* estimate of the bytes in the kernel, and its time */
	struct loop_deferred turn;
	struct loop_timer retry;
};

/* Accounts */

static void account_charge(const struct admission *admission, uint64_t *paid_us, uint64_t us)
{
	uint64_t now_us = loop_now_us(admission->loop);

	*paid_us = (*paid_us > now_us ? *paid_us : now_us) + us;
}

static bool account_is_ahead(const struct admission *admission, uint64_t paid_us, uint64_t allowed)
{
	return paid_us > loop_now_us(admission->loop) + allowed;
}

void admission_charge_work(struct admission *admission, lid_t base_lid, uint64_t work)
{
	account_charge(admission, &admission->accounts[base_lid].answers_us,
		       work / ADMISSION_WORK_PER_US);
}

bool admission_owes(const struct admission *admission, lid_t base_lid)
{
	return account_is_ahead(admission, admission->accounts[base_lid].answers_us,
				ADMISSION_DEBT_US);
}

/* Charges a request. Returns false if the next request of the port must wait. */
static bool admission_has_share(struct admission *admission, lid_t base_lid, uint32_t rate)
{
	uint64_t *paid_us = &admission->accounts[base_lid].requests_us;
	uint64_t cost_us;

	if (!rate)
		return true;
	cost_us = 1000000 / rate;
	if (account_is_ahead(admission, *paid_us, cost_us < BURST_US ? BURST_US - cost_us : 0))
		return false;
	account_charge(admission, paid_us, cost_us);
	return true;
}

static void admission_drain(struct admission *admission)
{
	uint64_t now_us = loop_now_us(admission->loop);
	uint64_t drained = (now_us - admission->sent_us) * DRAIN_BYTES_PER_US;

	admission->sent_bytes -= drained < admission->sent_bytes ? drained : admission->sent_bytes;
	admission->sent_us = now_us;
}

void admission_charge_bytes(struct admission *admission, lid_t base_lid, size_t bytes)
{
	admission_drain(admission);
	admission->sent_bytes += bytes;
	account_charge(admission, &admission->accounts[base_lid].answers_us,
		       bytes / ADMISSION_BYTES_PER_US);
}

/* Requests in the queue */

static uint64_t request_hash(const struct mad_addr *from, const struct mad_header *header)
{
	uint64_t client = (uint64_t)from->lid << 48 | (uint64_t)header->attr_id << 32 |
			  (uint64_t)header->method << 24 | from->qpn;
	uint64_t hash = (client ^ header->tid * UINT64_C(0x9E3779B97F4A7C15)) *
			UINT64_C(0xBF58476D1CE4E5B9);

	return hash ^ hash >> 32;
}

static bool admission_is_repeated(const struct admission *admission, const struct mad_addr *from,
				  const struct mad_header *header)
{
	const struct admitted *other =
		admission->requests.count
			? map_get(&admission->requests, request_hash(from, header))
			: NULL;

	while (other &&
	       !(other->from.lid == from->lid && other->from.qpn == from->qpn &&
		 other->header.tid == header->tid && other->header.method == header->method &&
		 other->header.attr_id == header->attr_id))
		other = other->chained;
	return other;
}

static struct admission_port *admission_find_port(const struct admission *admission, lid_t base_lid)
{
	return admission->ports.count ? map_get(&admission->ports, base_lid) : NULL;
}

static struct admission_port *admission_make_port(struct admission *admission, lid_t base_lid)
{
	struct admission_port *port = admission_find_port(admission, base_lid);

	if (port)
		return port;
	port = mem_zalloc(sizeof(*port));
	port->admission = admission;
	port->base_lid = base_lid;
	list_init(&port->link);
	list_init(&port->unopened);
	map_put(&admission->ports, base_lid, port);
	return port;
}

bool admission_has_place(const struct admission *admission, lid_t base_lid,
			 enum admission_wait wait)
{
	const struct admission_port *port = admission_find_port(admission, base_lid);

	return admission->count[wait] < places[wait].all &&
	       (!port || port->count[wait] < places[wait].per_port);
}

static bool admission_has_bytes(const struct admission *admission, lid_t base_lid, size_t size)
{
	const struct admission_port *port = admission_find_port(admission, base_lid);

	return admission->unopened_bytes + size <= ADMISSION_BYTES_MAX &&
	       (port ? port->unopened_bytes : 0) + size <= ADMISSION_PER_PORT_BYTES_MAX;
}

static void admission_add(struct admission *admission, lid_t base_lid, struct admitted *admitted,
			  enum admitted_state state)
{
	struct admission_port *port = admission_make_port(admission, base_lid);

	admitted->port = port;
	admitted->state = state;
	admitted->chained = map_put(&admission->requests,
				    request_hash(&admitted->from, &admitted->header), admitted);
	admission->count[wait_of[state]]++;
	port->count[wait_of[state]]++;
	if (state == ADMITTED_TURN)
		list_push(&port->unopened, &admitted->link);
	else
		list_push(&admission->states[state], &admitted->link);
	loop_defer(&admission->turn);
}

static void admission_unchain(struct admission *admission, struct admitted *admitted)
{
	uint64_t hash = request_hash(&admitted->from, &admitted->header);
	struct admitted *first = map_get(&admission->requests, hash);

	if (first != admitted) {
		while (first->chained != admitted)
			first = first->chained;
		first->chained = admitted->chained;
	} else if (admitted->chained) {
		map_put(&admission->requests, hash, admitted->chained);
	} else {
		map_remove(&admission->requests, hash);
	}
}

static void admission_remove(struct admission *admission, struct admitted *admitted)
{
	struct admission_port *port = admitted->port;

	if (admitted->state == ADMITTED_WORKING) {
		admission->working_bytes -= admitted->bytes;
		admission->large_is_working &= !admitted->is_large;
		port->is_working = false;
	}
	admission_unchain(admission, admitted);
	list_del(&admitted->link);
	registry_wait_cancel(&admitted->waiter);
	admission->count[wait_of[admitted->state]]--;
	port->count[wait_of[admitted->state]]--;
	if (list_empty(&port->unopened))
		list_del(&port->link);
	for (unsigned wait = 0; wait < ADMISSION_WAITS; wait++)
		if (port->count[wait])
			return;
	map_remove(&admission->ports, port->base_lid);
	free(port);
}

/* Turns */

static void unopened_remove(struct admission *admission, struct unopened *unopened)
{
	admission->unopened_bytes -= unopened->size;
	unopened->admitted.port->unopened_bytes -= unopened->size;
	admission_remove(admission, &unopened->admitted);
}

static struct unopened *unopened_first(struct admission *admission)
{
	struct admission_port *port =
		container_of(admission->turns.next, struct admission_port, link);

	return container_of(port->unopened.next, struct unopened, admitted.link);
}

/* Passes the next request of the next port. */
static void admission_pass(struct admission *admission)
{
	const struct admission_owner *owner = &admission->owner;
	struct unopened *unopened = unopened_first(admission);

	list_push(&admission->turns, list_pop(&admission->turns));
	unopened_remove(admission, unopened);
	if (loop_now_us(admission->loop) - unopened->since_us > ADMISSION_EXPIRY_US)
		owner->expired(owner->ctx);
	else
		owner->pass(owner->ctx, &unopened->admitted.from, unopened->mad, unopened->size);
	free(unopened);
}

/* False if no request may pass now. */
static bool admission_pass_some(struct admission *admission)
{
	if (!admission->count[ADMISSION_TURN] || admission->owner.is_shut(admission->owner.ctx))
		return false;
	for (unsigned i = 0; i < PASSES_IN_TURN && admission->count[ADMISSION_TURN]; i++)
		admission_pass(admission);
	return admission->count[ADMISSION_TURN];
}

static void admission_keep(struct admission *admission, lid_t base_lid, const struct mad_addr *from,
			   const struct mad_header *header, const uint8_t *mad, size_t size)
{
	struct unopened *unopened = mem_alloc(sizeof(*unopened) + size);

	unopened->admitted = (struct admitted){.from = *from, .header = *header};
	list_init(&unopened->admitted.waiter.link);
	unopened->since_us = loop_now_us(admission->loop);
	unopened->size = size;
	memcpy(unopened->mad, mad, size);
	admission_add(admission, base_lid, &unopened->admitted, ADMITTED_TURN);
	admission->unopened_bytes += size;
	unopened->admitted.port->unopened_bytes += size;
	if (list_empty(&unopened->admitted.port->link))
		list_push(&admission->turns, &unopened->admitted.port->link);
}

enum verdict admission_judge(struct admission *admission, uint32_t rate, lid_t base_lid,
			     const struct mad_addr *from, const struct mad_header *header,
			     const uint8_t *mad, size_t size)
{
	const struct admission_port *port = admission_find_port(admission, base_lid);

	if (admission_is_repeated(admission, from, header))
		return VERDICT_REPEATED;
	/* Requests of one port stay in order. */
	if (!(port && port->count[ADMISSION_TURN]) &&
	    !admission->owner.is_shut(admission->owner.ctx) &&
	    admission_has_share(admission, base_lid, rate))
		return VERDICT_PASSES;
	if (!admission_has_place(admission, base_lid, ADMISSION_TURN) ||
	    !admission_has_bytes(admission, base_lid, size))
		return VERDICT_FULL;
	admission_keep(admission, base_lid, from, header, mad, size);
	return VERDICT_WAITS;
}

/* Work */

/* The first waiting answer of a port that has no other answer in work and does not owe; NULL if
 * there is none. A large answer is skipped while another large one is made. */
static struct admitted *admission_next_work(const struct admission *admission)
{
	list_for_each (item, &admission->states[ADMITTED_WAITING]) {
		struct admitted *admitted = container_of(item, struct admitted, link);

		if (!admitted->port->is_working &&
		    !admission_owes(admission, admitted->port->base_lid) &&
		    !(admitted->is_large && admission->large_is_working))
			return admitted;
	}
	return NULL;
}

/* Begins the next answer when there is memory for all of it. Smaller answers behind it wait too;
 * otherwise a large one could wait forever. */
static void admission_begin_work(struct admission *admission)
{
	struct admitted *admitted;

	admission_drain(admission);
	while ((admitted = admission_next_work(admission))) {
		if (admission->sent_bytes + admission->working_bytes + admitted->bytes >
		    ADMISSION_TABLES_MAX)
			return;
		admission->working_bytes += admitted->bytes;
		admission->large_is_working |= admitted->is_large;
		admitted->port->is_working = true;
		admitted->state = ADMITTED_WORKING;
		list_del(&admitted->link);
		list_push(&admission->states[ADMITTED_WORKING], &admitted->link);
	}
}

/* False if no work can begin now. */
static bool admission_work_some(struct admission *admission)
{
	struct list *working = &admission->states[ADMITTED_WORKING];

	for (unsigned looked = 0; looked < TURN_CANDIDATES; looked += SLICE_CANDIDATES) {
		struct admitted *admitted;

		admission_begin_work(admission);
		if (list_empty(working))
			return false;
		admitted = container_of(list_pop(working), struct admitted, link);
		list_push(working, &admitted->link);
		if (!admission->owner.work(admission->owner.ctx, admitted, SLICE_CANDIDATES))
			continue;
		admission_remove(admission, admitted);
		admission->owner.done(admission->owner.ctx, admitted);
	}
	admission_begin_work(
		admission); /* the answer that has just ended may have blocked others */
	return !list_empty(working);
}

/* The store */

static void admission_durable(void *ctx)
{
	struct admitted *admitted = ctx;
	struct admission *admission = admitted->port->admission;

	admitted->state = ADMITTED_DURABLE;
	list_del(&admitted->link);
	list_push(&admission->states[ADMITTED_DURABLE], &admitted->link);
	loop_defer(&admission->turn);
}

/* Many changes become durable at once. */
static bool admission_answer_some(struct admission *admission)
{
	struct list *durable = &admission->states[ADMITTED_DURABLE];

	for (unsigned i = 0; i < ANSWERS_IN_TURN && !list_empty(durable); i++) {
		struct admitted *admitted = container_of(durable->next, struct admitted, link);

		admission_remove(admission, admitted);
		admission->owner.done(admission->owner.ctx, admitted);
	}
	return !list_empty(durable);
}

void admission_enter(struct admission *admission, lid_t base_lid, enum admission_wait wait,
		     struct admitted *admitted)
{
	list_init(&admitted->waiter.link);
	if (wait == ADMISSION_WORK) {
		admission_add(admission, base_lid, admitted, ADMITTED_WAITING);
		return;
	}
	admission_add(admission, base_lid, admitted, ADMITTED_STORING);
	admitted->waiter.durable = admission_durable;
	admitted->waiter.ctx = admitted;
	registry_wait(admission->registry, &admitted->waiter);
}

/* Life */

static void admission_turn(void *arg)
{
	struct admission *admission = arg;
	bool more = admission_pass_some(admission);

	more |= admission_work_some(admission);
	more |= admission_answer_some(admission);
	if (more)
		loop_defer(&admission->turn);
	else if ((admission->count[ADMISSION_TURN] || admission->count[ADMISSION_WORK]) &&
		 !loop_timer_armed(&admission->retry))
		loop_timer_arm(&admission->retry, RETRY_US);
}

struct admission *admission_new(struct loop *loop, struct registry *registry,
				const struct admission_owner *owner)
{
	struct admission *admission = mem_zalloc(sizeof(*admission));

	admission->loop = loop;
	admission->registry = registry;
	admission->owner = *owner;
	admission->sent_us = loop_now_us(loop);
	admission->accounts = mem_array(LIDS, sizeof(*admission->accounts));
	map_init(&admission->requests);
	map_init(&admission->ports);
	list_init(&admission->turns);
	for (unsigned state = 0; state < ADMITTED_STATES; state++)
		list_init(&admission->states[state]);
	loop_deferred_init(&admission->turn, loop, "requests to the SA", admission_turn, admission);
	loop_timer_init(&admission->retry, loop, "requests to the SA", admission_turn, admission);
	return admission;
}

void admission_free(struct admission *admission)
{
	if (!admission)
		return;
	while (!list_empty(&admission->turns)) {
		struct unopened *unopened = unopened_first(admission);

		unopened_remove(admission, unopened);
		free(unopened);
	}
	for (unsigned state = 0; state < ADMITTED_STATES; state++) {
		list_for_each (item, &admission->states[state]) {
			struct admitted *admitted = container_of(item, struct admitted, link);

			admission_remove(admission, admitted);
			admission->owner.drop(admission->owner.ctx, admitted);
		}
	}
	loop_defer_cancel(&admission->turn);
	loop_timer_disarm(&admission->retry);
	map_done(&admission->requests);
	map_done(&admission->ports);
	free(admission->accounts);
	free(admission);
}

size_t admission_count(const struct admission *admission, enum admission_wait wait)
{
	return admission->count[wait];
}
