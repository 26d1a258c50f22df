/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests whose answers take more than a moment: tables of a whole fabric, searches through it.
 * Each is worked at in slices, in turn with the others, and a turn of the loop has few of them, so
 * that no table holds up the loop or another client. What is under way is bounded in memory: the
 * tables that grow here and those that the kernel is presumed still to be sending. What finds no
 * room waits in the order it came, or is refused a place when too many do; but nobody has a second
 * answer made as long as somebody else waits for his first. And each requester pays for its answers
 * with time, by what they cost to make and to send: while it owes too much, its next one waits. So
 * a host that asks for tables without end takes a share of the processor and of the port, whatever
 * it asks for, and all others have the rest. Used by sa.c alone; loop thread only.
 */
#ifndef SA_QUEUE_H
#define SA_QUEUE_H

#include "lib/list.h"
#include "lib/loop.h"
#include "sa/request.h"
#include "sa/verdict.h"
#include "store/registry.h"

enum {
	QUEUE_BYTES_MAX = 64 << 20, /* of all tables under way */
	QUEUE_LENGTH_MAX = 1024,    /* requests */
	QUEUE_PER_PORT_MAX = 16,    /* of these, one requester's */
	/* What a requester may cost in the long run, and what it may owe before it waits. A unit of
	 * work takes 0.1 to 0.4 us; a port sends 50 MB/s and more. */
	QUEUE_WORK_PER_US = 1,
	QUEUE_BYTES_PER_US = 16,
	QUEUE_DEBT_US = 50000,
};

/* The message as it grows: header, then records, each encoded as it comes. */
struct answer {
	uint8_t *grown;		       /* heap, once small does not do */
	size_t size, room, most_bytes; /* most_bytes 0: nobody knows */
	uint32_t count;
	bool too_large, large; /* large: it may have TABLE_BYTES_LARGE */
	uint64_t work;	       /* candidates so far, what it has cost */
	uint8_t small[2 * MAD_SIZE];
};

static inline uint8_t *answer_message(struct answer *answer)
{
	return answer->grown ? answer->grown : answer->small;
}

struct pending;

/* One request as it came, its row, and what handlers see of it. */
struct exchange {
	struct list link;
	struct mad_addr from;
	struct mad_header header;
	struct sa_header sa;
	const struct sa_row *row; /* NULL: it has no handler */
	struct sa_request request;
	struct answer answer;
	/* Only while queued or pending: */
	struct lookup *lookup; /* a reference; NULL while pending */
	struct sa_options options;
	uint64_t bytes; /* of memory that are set aside for it */
	struct registry_waiter waiter;
	struct pending *pending;
};

/* Whose share it takes: the base LID of the requester's port, from whichever LID it asks. */
static inline lid_t exchange_port(const struct exchange *exchange)
{
	return exchange->request.requester.lid;
}

/* Works at units until the answer is complete or so many candidates were looked at. True: it is
 * complete. */
bool exchange_work(struct exchange *exchange, uint64_t candidates);

struct queue;
/* done is called for each exchange whose answer is complete, and must free it. */
struct queue *queue_new(struct loop *loop, void (*done)(void *ctx, struct exchange *exchange),
			void *ctx);
void queue_free(struct queue *queue); /* must be empty */

/* Never VERDICT_PASSES. */
enum verdict queue_judge(const struct queue *queue, const struct exchange *asks);
/* Takes over exchange, which is on the heap and was not judged otherwise. */
void queue_add(struct queue *queue, struct exchange *exchange);
struct exchange *queue_take(struct queue *queue); /* any, NULL when there is none */
size_t queue_length(const struct queue *queue);
/* A message of so many bytes to the port with this base LID was given to the kernel. */
void queue_handed_over(struct queue *queue, lid_t base_lid, size_t bytes);
/* An answer to this port that was not queued has cost so much work. */
void queue_charge(struct queue *queue, lid_t base_lid, uint64_t work);
/* Whether the next answer to this port has to wait because of what those before have cost. */
bool queue_owes(const struct queue *queue, lid_t base_lid);

#endif
