/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Transactions: a request that expects an answer has exactly one completion: the answer, the
 * kernel's time-out, or our own watchdog (for a send that fails without a notice). Received MADs
 * are sorted here: answers go to their transaction, others to the handler of their class. MADs are
 * counted by class, method and attribute. Loop thread only.
 */
#ifndef MAD_TXN_H
#define MAD_TXN_H

#include "lib/loop.h"
#include "mad/mad.h"
#include "mad/transport.h"

struct txn_table;

/* How a transaction ended. error: 0, -ETIMEDOUT, or the error of the send. With 0, header is the
 * header of the answer, and mad has its bytes, at least MAD_SIZE, borrowed for the call. Its status
 * may be a refusal. With STATUS_REDIRECT its attribute may be ClassPortInfo. */
struct txn_result {
	int error;
	struct mad_header header;
	const uint8_t *mad;
	size_t size;
	uint64_t rtt_us; /* from the send to the completion */
};

typedef void txn_done_fn(void *arg, const struct txn_result *result);

/* Receives MADs that are no answers to us: requests, traps, reports. mad has at least MAD_SIZE
 * bytes, borrowed for the call. */
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
	uint64_t unmatched; /* late or duplicate answers, or answers without a request */
	/* Too short, bad version, or not the answer to the request with this TID. */
	uint64_t malformed;
	uint64_t send_failed;
	uint64_t unhandled; /* requests of a class without a handler */
};

/* Takes over the callbacks of transport, which must outlive the table. */
struct txn_table *txn_table_new(struct loop *loop, struct transport *transport);
/* Open transactions are dropped; their completions are not called. */
void txn_table_free(struct txn_table *table);
/* Sets the handler for requests of a management class; one for each class. NULL removes it. */
void txn_handle(struct txn_table *table, uint8_t mgmt_class, txn_request_fn *handler, void *ctx);

/* Sends mad (its TID is set here) and calls done(arg) once, never from within this call. timeout_ms
 * is for this one attempt; retrying is the caller's. */
void txn_start(struct txn_table *table, const struct mad_addr *to, uint8_t *mad, size_t size,
	       unsigned timeout_ms, txn_done_fn *done, void *arg);
/* Forgets all transactions with this done and arg: they complete without a call. */
void txn_cancel(struct txn_table *table, txn_done_fn *done, const void *arg);
/* Sends a MAD that expects no answer: a reply, a TrapRepress. The caller sets the header with the
 * TID. Returns 0 or -errno. */
int txn_send(struct txn_table *table, const struct mad_addr *to, const uint8_t *mad, size_t size);
/* The same for a message from the heap, which the transport owns from now on, also after an error:
 * the loop does not copy long messages. */
int txn_give(struct txn_table *table, const struct mad_addr *to, uint8_t *mad, size_t size);

/* Receives each MAD that is sent (addr: destination) or arrives (addr: source), including keys;
 * bytes are borrowed. A MAD that arrives may be shorter than its header. */
typedef void txn_seen_fn(void *ctx, bool sent, const struct mad_addr *addr, const uint8_t *mad,
			 size_t size);
/* Sets the only receiver; fn NULL removes it. */
void txn_watch(struct txn_table *table, txn_seen_fn *fn, void *ctx);

/* The longest message of mad/inband.h that the port can send now; 0: none. */
size_t txn_message_max(const struct txn_table *table);

/* Totals since txn_table_new(); borrowed, always current. */
const struct txn_stats *txn_stats(const struct txn_table *table);
/* The rows in the order in which their first MAD was seen; borrowed until the loop runs again. */
size_t txn_counts(const struct txn_table *table, const struct txn_count **rows);

/* Sets callbacks for the removal of the device, and for its return. */
void txn_on_gone(struct txn_table *table, void (*gone)(void *ctx, int error),
		 void (*back)(void *ctx), void *ctx);

#endif
