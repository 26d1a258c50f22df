/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Transactions over a transport. A request occupies a slot; the lower half of its TID is the slot's
 * number and the slot's generation. So an answer is matched without a search, and a late answer to
 * an earlier request of the slot is recognized. The upper half belongs to the kernel (umad writes
 * the agent's number there). Every slot has a watchdog a little beyond the kernel's own time-out: a
 * send that fails after the kernel took it never comes back, and ibsim has no time-outs.
 *
 * An answer must have the class, method, attribute and modifier (same_modifier()) of the request,
 * or be a redirection. Other MADs with its TID are counted and dropped, and the request times out.
 * Each attempt has a TID of its own, and does not wait for the answer to the attempt before. The
 * kernel drops answers after a request's time-out, and refuses a TID that is still under way.
 */
#include "mad/txn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/be.h"
#include "lib/list.h"
#include "lib/map.h"
#include "lib/mem.h"

enum {
	SLOTS_MAX = 65536,
	WATCHDOG_MARGIN_MS = 50, /* after the kernel's time-out */
	TID_OFFSET = 8,
	CLASSES = 256,
	/* Limits of rows. Remote nodes can send any class, method and attribute, so half of the
	 * rows are for MADs that are sent from here. */
	COUNTS_MAX = 256,
	COUNTS_RECEIVED = COUNTS_MAX / 2,
	COUNTS_SENT = COUNTS_MAX - 1, /* one is left for all others */
};

struct txn {
	struct txn_table *table;
	uint16_t number;     /* of the slot */
	uint16_t generation; /* never 0 */
	bool used;
	uint8_t mgmt_class, method;
	uint16_t attr_id;
	uint32_t attr_mod;
	size_t count; /* its row of counts */
	uint64_t sent_us;
	int error;	  /* of the send, when link is in table->failed */
	struct list link; /* free, failed, or none */
	struct loop_timer watchdog;
	txn_done_fn *done;
	void *arg;
};

struct txn_table {
	struct loop *loop;
	struct transport *transport;
	struct txn **slots;
	size_t num_slots;
	struct list free;   /* slots not in use */
	struct list failed; /* slots whose send failed: completed by the deferred call */
	struct loop_deferred complete_failed;
	txn_seen_fn *seen; /* or NULL */
	void *seen_ctx;
	struct {
		txn_request_fn *fn;
		void *ctx;
	} handlers[CLASSES];
	struct txn_stats stats;
	struct txn_count counts[COUNTS_MAX];
	size_t num_counts;
	size_t others;		/* the row, plus 1, of MADs without a row of their own; 0: none */
	struct map count_index; /* (class, method, attribute) to index in counts + 1 */
	void (*gone)(void *ctx, int error);
	void (*back)(void *ctx);
	void *gone_ctx;
};

static size_t txn_count_row(struct txn_table *table, uint8_t mgmt_class, uint8_t method,
			    uint16_t attr_id, size_t most)
{
	uint64_t key = (uint64_t)mgmt_class << 32 | (uint64_t)method << 16 | attr_id;
	size_t place = (size_t)(uintptr_t)map_get(&table->count_index, key);

	if (place)
		return place - 1;
	if (table->num_counts >= most && !table->others)
		table->others = ++table->num_counts;
	if (table->num_counts >= most)
		return table->others - 1;
	table->counts[table->num_counts] =
		(struct txn_count){.mgmt_class = mgmt_class, .method = method, .attr_id = attr_id};
	map_put(&table->count_index, key, (void *)(uintptr_t)++table->num_counts);
	return table->num_counts - 1;
}

/* Frees the slot before the completion runs, so that it may start the next transaction. */
static void txn_finish(struct txn *txn, const struct txn_result *result)
{
	txn_done_fn *done = txn->done;
	void *arg = txn->arg;

	loop_timer_disarm(&txn->watchdog);
	txn->used = false;
	list_push(&txn->table->free, &txn->link);
	if (done)
		done(arg, result);
}

static void time_out(struct txn *txn)
{
	struct txn_table *table = txn->table;
	struct txn_result result = {.error = -ETIMEDOUT,
				    .rtt_us = loop_now_us(table->loop) - txn->sent_us};

	table->stats.timed_out++;
	table->counts[txn->count].timed_out++;
	txn_finish(txn, &result);
}

static void watchdog_expired(void *arg)
{
	time_out(arg);
}

static struct txn *slot_take(struct txn_table *table)
{
	struct list *link = list_pop(&table->free);
	struct txn *txn;

	if (link) {
		txn = container_of(link, struct txn, link);
	} else {
		assert(table->num_slots < SLOTS_MAX);
		txn = mem_zalloc(sizeof(*txn));
		txn->table = table;
		/* Not from 1: answers to a previous manager on this port must not match. */
		txn->generation = (uint16_t)loop_random(table->loop);
		list_init(&txn->link);
		loop_timer_init(&txn->watchdog, table->loop, "MAD watchdog", watchdog_expired, txn);
		table->slots =
			mem_resize(table->slots, table->num_slots + 1, sizeof(*table->slots));
		txn->number = (uint16_t)table->num_slots;
		table->slots[table->num_slots++] = txn;
	}
	if (++txn->generation == 0)
		txn->generation = 1;
	txn->used = true;
	return txn;
}

static struct txn *slot_find(struct txn_table *table, uint32_t tid)
{
	size_t number = tid & 0xFFFF;
	struct txn *txn;

	if (number >= table->num_slots)
		return NULL;
	txn = table->slots[number];
	return txn->used && txn->generation == tid >> 16 && list_empty(&txn->link) ? txn : NULL;
}

static void complete_failed(void *arg)
{
	struct txn_table *table = arg;
	struct list *link;

	while ((link = list_pop(&table->failed))) {
		struct txn *txn = container_of(link, struct txn, link);
		struct txn_result result = {.error = txn->error};

		txn_finish(txn, &result);
	}
}

void txn_watch(struct txn_table *table, txn_seen_fn *fn, void *ctx)
{
	table->seen = fn;
	table->seen_ctx = ctx;
}

static void txn_show_mad(struct txn_table *table, bool sent, const struct mad_addr *addr,
			 const uint8_t *mad, size_t size)
{
	if (table->seen)
		table->seen(table->seen_ctx, sent, addr, mad, size);
}

void txn_start(struct txn_table *table, const struct mad_addr *to, uint8_t *mad, size_t size,
	       unsigned timeout_ms, txn_done_fn *done, void *arg)
{
	struct txn *txn = slot_take(table);
	struct mad_header header;
	int error;

	be64_store(mad + TID_OFFSET, (uint64_t)txn->generation << 16 | txn->number);
	header_decode(mad, &header);
	txn->mgmt_class = header.mgmt_class;
	txn->method = header.method;
	txn->attr_id = header.attr_id;
	txn->attr_mod = header.attr_mod;
	txn->done = done;
	txn->arg = arg;
	txn->sent_us = loop_now_us(table->loop);
	txn->count =
		txn_count_row(table, header.mgmt_class, header.method, header.attr_id, COUNTS_SENT);
	txn_show_mad(table, true, to, mad, size);
	error = transport_send(table->transport, to, mad, size, timeout_ms);
	if (error) {
		table->stats.send_failed++;
		txn->error = error;
		list_push(&table->failed, &txn->link);
		loop_defer(&table->complete_failed);
		return;
	}
	table->stats.sent++;
	table->counts[txn->count].sent++;
	loop_timer_arm(&txn->watchdog, (uint64_t)(timeout_ms + WATCHDOG_MARGIN_MS) * 1000);
}

void txn_cancel(struct txn_table *table, txn_done_fn *done, const void *arg)
{
	for (size_t i = 0; i < table->num_slots; i++) {
		struct txn *txn = table->slots[i];

		/* The slot stays in use until its answer or time-out, which then call no done(). */
		if (txn->used && txn->done == done && txn->arg == arg)
			txn->done = NULL;
	}
}

static int count_sent(struct txn_table *table, const struct mad_header *header, int error)
{
	if (error) {
		table->stats.send_failed++;
		return error;
	}
	table->stats.sent++;
	/* An answer repeats the attribute of the request. */
	table->counts[txn_count_row(table, header->mgmt_class, header->method, header->attr_id,
				    header->method & METHOD_RESPONSE ? COUNTS_RECEIVED
								     : COUNTS_SENT)]
		.sent++;
	return 0;
}

int txn_send(struct txn_table *table, const struct mad_addr *to, const uint8_t *mad, size_t size)
{
	struct mad_header header;

	header_decode(mad, &header);
	txn_show_mad(table, true, to, mad, size);
	return count_sent(table, &header, transport_send(table->transport, to, mad, size, 0));
}

int txn_give(struct txn_table *table, const struct mad_addr *to, uint8_t *mad, size_t size)
{
	struct mad_header header;

	header_decode(mad, &header);
	txn_show_mad(table, true, to, mad, size);
	return count_sent(table, &header, transport_give(table->transport, to, mad, size));
}

/* The manager of a class can redirect any request: it answers with ClassPortInfo (13.5.2). */
static bool redirects(const struct mad_header *header)
{
	return header->status & STATUS_REDIRECT && header->attr_id == ATTR_CLASS_PORT_INFO;
}

/* Bit 31 of PortInfo's modifier is not in the answers of all agents. OpenSM takes only the port
 * from it (osm_port_info_rcv.c, osm_pi_rcv_process()). */
static bool same_modifier(const struct txn *txn, uint32_t attr_mod)
{
	bool is_smp = txn->mgmt_class == CLASS_SUBN_LID || txn->mgmt_class == CLASS_SUBN_DIRECTED;
	bool is_port_info = is_smp && txn->attr_id == ATTR_PORT_INFO;

	return attr_mod == txn->attr_mod ||
	       (is_port_info && attr_mod == (txn->attr_mod & ~PORT_INFO_EXTENDED_SPEEDS));
}

static bool answers(const struct txn *txn, const struct mad_header *header)
{
	if (txn->mgmt_class != header->mgmt_class || method_response(txn->method) != header->method)
		return false;
	return redirects(header) ||
	       (txn->attr_id == header->attr_id && same_modifier(txn, header->attr_mod));
}

static void received_answer(struct txn_table *table, const struct mad_header *header,
			    const uint8_t *mad, size_t size)
{
	struct txn *txn = slot_find(table, (uint32_t)header->tid);
	struct txn_result result = {.header = *header, .mad = mad, .size = size};

	if (!txn) {
		table->stats.unmatched++;
		return;
	}
	/* An answer to another request with our TID: ignored. The request will time out. */
	if (!answers(txn, header) || size < MAD_SIZE) {
		table->stats.malformed++;
		return;
	}
	table->counts[txn->count].received++;
	result.rtt_us = loop_now_us(table->loop) - txn->sent_us;
	txn_finish(txn, &result);
}

static void txn_received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct txn_table *table = ctx;
	struct mad_header header;
	txn_request_fn *fn;

	table->stats.received++;
	txn_show_mad(table, false, from, mad, size);
	if (size < MAD_HEADER_SIZE) {
		table->stats.malformed++;
		return;
	}
	header_decode(mad, &header);
	if (header.base_version != 1) {
		table->stats.malformed++;
		return;
	}
	if (header.method & METHOD_RESPONSE || header.method == METHOD_TRAP_REPRESS) {
		received_answer(table, &header, mad, size);
		return;
	}
	table->counts[txn_count_row(table, header.mgmt_class, header.method, header.attr_id,
				    COUNTS_RECEIVED)]
		.received++;
	fn = table->handlers[header.mgmt_class].fn;
	if (!fn) {
		table->stats.unhandled++;
		return;
	}
	if (size < MAD_SIZE) {
		table->stats.malformed++;
		return;
	}
	fn(table->handlers[header.mgmt_class].ctx, from, &header, mad, size);
}

static void txn_timed_out(void *ctx, const uint8_t bytes[MAD_HEADER_SIZE])
{
	struct txn_table *table = ctx;
	struct mad_header header;
	struct txn *txn;

	header_decode(bytes, &header);
	txn = slot_find(table, (uint32_t)header.tid);
	if (txn && txn->mgmt_class == header.mgmt_class)
		time_out(txn);
	else
		table->stats.unmatched++;
}

static void txn_transport_gone(void *ctx, int error)
{
	struct txn_table *table = ctx;

	if (table->gone)
		table->gone(table->gone_ctx, error);
}

static void back(void *ctx)
{
	struct txn_table *table = ctx;

	if (table->back)
		table->back(table->gone_ctx);
}

struct txn_table *txn_table_new(struct loop *loop, struct transport *transport)
{
	struct txn_table *table = mem_zalloc(sizeof(*table));

	table->loop = loop;
	table->transport = transport;
	list_init(&table->free);
	list_init(&table->failed);
	map_init(&table->count_index);
	loop_deferred_init(&table->complete_failed, loop, "failed sends", complete_failed, table);
	transport->user = (struct transport_user){
		.received = txn_received,
		.timed_out = txn_timed_out,
		.gone = txn_transport_gone,
		.back = back,
		.ctx = table,
	};
	return table;
}

void txn_table_free(struct txn_table *table)
{
	if (!table)
		return;
	table->transport->user = (struct transport_user){0};
	loop_defer_cancel(&table->complete_failed);
	for (size_t i = 0; i < table->num_slots; i++) {
		loop_timer_disarm(&table->slots[i]->watchdog);
		free(table->slots[i]);
	}
	free(table->slots);
	map_done(&table->count_index);
	free(table);
}

void txn_handle(struct txn_table *table, uint8_t mgmt_class, txn_request_fn *handler, void *ctx)
{
	table->handlers[mgmt_class].fn = handler;
	table->handlers[mgmt_class].ctx = ctx;
}

size_t txn_message_max(const struct txn_table *table)
{
	return table->transport->message_max;
}

const struct txn_stats *txn_stats(const struct txn_table *table)
{
	return &table->stats;
}

size_t txn_counts(const struct txn_table *table, const struct txn_count **rows)
{
	*rows = table->counts;
	return table->num_counts;
}

void txn_on_gone(struct txn_table *table, void (*gone_fn)(void *ctx, int error),
		 void (*back_fn)(void *ctx), void *ctx)
{
	table->gone = gone_fn;
	table->back = back_fn;
	table->gone_ctx = ctx;
}
