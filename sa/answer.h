/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The message of an answer, from its first record to its bytes on the wire. Handlers give records
 * by request_offer(), request_place() and request_give() (sa/request.h); sa.c asks for the rest.
 * Loop thread only.
 */
#ifndef SA_ANSWER_H
#define SA_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mad/mad.h"
#include "mad/txn.h"
#include "sa/admission.h"
#include "sa/request.h"

/* The message as it grows: header, then records, each encoded as it comes. */
struct answer {
	uint8_t *grown;		       /* heap, once small does not do */
	size_t size, room, most_bytes; /* most_bytes 0: not known */
	uint32_t count;
	enum answer_limit {
		ANSWER_USUAL,  /* it may have TABLE_BYTES_MAX */
		ANSWER_LARGE,  /* it may have TABLE_BYTES_LARGE */
		ANSWER_CLOSED, /* it would have more: it is refused */
	} limit;
	uint64_t work; /* candidates so far, what it has cost */
	uint8_t small[2 * MAD_SIZE];
};

/* A request on its way from sa.c's receipt to the answer. */
struct exchange {
	struct admitted admitted; /* who asks, and what */
	struct sa_header sa;
	const struct sa_row *row; /* NULL: it has no handler */
	struct sa_request request;
	struct answer answer;
	/* Only while the answer waits for work: */
	struct lookup *lookup; /* a reference */
	struct sa_options options;
};

/* Whose share it takes: the base LID of the requester's port, from whichever LID it asks. */
static inline lid_t exchange_port(const struct exchange *exchange)
{
	return exchange->request.requester.lid;
}

/* small is left as it is. */
void answer_begin(struct answer *answer);
/* STATUS_OK, or SA_NO_RESOURCES when the records that there will be are too many. */
uint16_t answer_expect(const struct sa_request *request);
/* The most memory that the answer may take. */
uint64_t answer_bytes(const struct sa_request *request);
/* The status that the number of records gives. */
uint16_t answer_status(const struct sa_request *request);
/* Sends it to the client, and frees what it took. size: of the message. 0, or -errno of the
 * transport. */
int answer_send(struct exchange *exchange, struct txn_table *txns, uint16_t status, size_t *size);
void answer_drop(struct answer *answer);

#endif
