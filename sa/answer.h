/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The message of an answer, from its first record to its bytes on the wire. Handlers add records
 * with request_offer(), request_place() and request_give() (sa/request.h); sa.c calls the functions
 * below. Loop thread only.
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

/* The message: header, then records, each encoded when it is added. */
struct answer {
	uint8_t *grown;		       /* on the heap, when small is too short */
	size_t size, room, most_bytes; /* most_bytes 0: not known */
	uint32_t count;
	enum answer_limit {
		ANSWER_USUAL,  /* at most TABLE_BYTES_MAX */
		ANSWER_LARGE,  /* at most TABLE_BYTES_LARGE */
		ANSWER_CLOSED, /* it is longer than its limit, and refused */
	} limit;
	uint64_t work; /* cost: candidates examined so far */
	uint8_t small[2 * MAD_SIZE];
};

/* A request from its receipt in sa.c to the answer. */
struct exchange {
	struct admitted admitted; /* the address and the header of the request */
	struct sa_header sa;
	const struct sa_row *row; /* NULL: it has no handler */
	struct sa_request request;
	struct answer answer;
	/* Only while the answer waits for work: */
	struct lookup *lookup; /* a reference */
	struct sa_options options;
};

/* The base LID of the requester's port, whose share the request uses. */
static inline lid_t exchange_port(const struct exchange *exchange)
{
	return exchange->request.requester.lid;
}

/* Initialises all members but small. */
void answer_begin(struct answer *answer);
/* Returns STATUS_OK, or SA_NO_RESOURCES if there will be too many records. */
uint16_t answer_expect(const struct sa_request *request);
/* The most memory that the answer may take. */
uint64_t answer_bytes(const struct sa_request *request);
/* The status for the number of records. */
uint16_t answer_status(const struct sa_request *request);
/* Sends the message to the client and frees its memory; *size is its length. Returns 0, or
 * -errno of the transport. */
int answer_send(struct exchange *exchange, struct txn_table *txns, uint16_t status, size_t *size);
/* Frees the memory of an answer that is not sent. */
void answer_drop(struct answer *answer);

#endif
