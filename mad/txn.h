/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Transactions: a request that expects an answer gets exactly one completion: the answer, the
 * kernel's time-out, or our own watchdog's (a send that fails otherwise never comes back). Also the
 * place where what arrives is sorted: answers to their transaction, everything else to the handler
 * of its class. Counts what goes and comes by class, method and attribute. Loop thread only.
 */
#ifndef MAD_TXN_H
#define MAD_TXN_H

#include "lib/loop.h"
#include "mad/mad.h"
#include "mad/transport.h"

struct txn_table;

/* How a transaction ended. error: 0, -ETIMEDOUT, or what the send returned. With 0: header is that
 * of the answer (its status may tell a refusal, and with STATUS_REDIRECT its attribute may be
 * ClassPortInfo) and mad its bytes, borrowed for the call. */
struct txn_result {
	int error;
	struct mad_header header;
	const uint8_t *mad;
	size_t size;
	uint64_t rtt_us; /* from the send to the completion */
};

typedef void txn_done_fn(void *arg, const struct txn_result *result);

/* What is no answer of ours: requests, traps, reports. */
typedef void txn_request_fn(void *ctx, const struct mad_addr *from, const struct mad_header *header,
			    const uint8_t *mad, size_t size);

struct txn_count {
	uint8_t mgmt_class, method;
	uint16_t attr_id;
	uint64_t sent;	    /* by us, requests and answers */
	uint64_t received;  /* requests and answers */
	uint64_t timed_out; /* requests of ours, each attempt */
};

struct txn_stats {
	uint64_t sent, received, timed_out;
	uint64_t unmatched; /* answers that came late, twice, or to nothing */
	uint64_t malformed; /* too short, bad version, answer to another question */
	uint64_t send_failed;
	uint64_t unhandled; /* requests of a class without a handler */
};

struct txn_table *txn_table_new(struct loop *loop, struct transport *transport);
/* Completions that have not come are dropped without a call. */
void txn_table_free(struct txn_table *table);
/* handler for requests of a management class; one for each class, NULL takes it away. */
void txn_handle(struct txn_table *table, uint8_t mgmt_class, txn_request_fn *handler, void *ctx);

/* Sends mad (its TID is set here) and calls done(arg) once, never from within this call. timeout_ms
 * is for this one attempt; retrying is the caller's. */
void txn_start(struct txn_table *table, const struct mad_addr *to, uint8_t *mad, size_t size,
	       unsigned timeout_ms, txn_done_fn *done, void *arg);
/* Forgets all transactions with this done and arg: they complete without a call. */
void txn_cancel(struct txn_table *table, txn_done_fn *done, const void *arg);
/* Sends what expects no answer: a reply, a TrapRepress. TID and all are the caller's. */
int txn_send(struct txn_table *table, const struct mad_addr *to, const uint8_t *mad, size_t size);
/* The same of a message from the heap, which is the transport's from now on, also after an error:
 * a long one is not copied by the loop. */
int txn_give(struct txn_table *table, const struct mad_addr *to, uint8_t *mad, size_t size);

/* Who sees each MAD that is sent (addr: where to) and each that came (addr: where from), keys and
 * all; bytes are borrowed. fn NULL: nobody. */
typedef void txn_seen_fn(void *ctx, bool sent, const struct mad_addr *addr, const uint8_t *mad,
			 size_t size);
void txn_watch(struct txn_table *table, txn_seen_fn *fn, void *ctx);

const struct txn_stats *txn_stats(const struct txn_table *table);
/* Rows in the order in which their first MAD came. */
size_t txn_counts(const struct txn_table *table, const struct txn_count **rows);

/* The device went away, or came back. */
void txn_on_gone(struct txn_table *table, void (*gone)(void *ctx, int error),
		 void (*back)(void *ctx), void *ctx);

#endif
