/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Admission to the SA: the queue of all requests that cannot be answered at once. A request waits
 * in it for its turn, for work or for the store (enum admission_wait), and leaves it before it is
 * answered. The same rules apply to all three:
 *
 * Repeats. A request that is in the queue already is dropped, so that each request gets one answer.
 * Two requests are the same if client (LID and QPN), TID, method and attribute are equal.
 *
 * Places. The number of waiting requests is limited, in all and for each port. If there is no
 * place, the caller refuses the request before it changes anything.
 *
 * Shares. Each port has a share of time, and two accounts that say how far it is ahead of its
 * share. The first account is for its requests, the second for the cost of its answers. A port that
 * is too far ahead waits, and waiting ports take turns. So a port that sends requests without end
 * is served as fast as other ports leave time, and delays none of them.
 *
 * A port is identified by its base LID: with an LMC it has up to 128 LIDs, but one share. This file
 * uses addresses and bytes, not records. Used only by sa.c; loop thread only.
 */
#ifndef SA_ADMISSION_H
#define SA_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/loop.h"
#include "mad/mad.h"
#include "mad/transport.h"
#include "store/registry.h"

enum admission_wait {
	ADMISSION_TURN,	 /* for a view, or behind other requests; not processed yet */
	ADMISSION_WORK,	 /* until its answer, which needs several turns of the loop, is complete */
	ADMISSION_STORE, /* until its changes of the registry are durable */
	ADMISSION_WAITS,
};

enum {
	ADMISSION_TURN_MAX = 8192, /* requests, in all */
	ADMISSION_TURN_PER_PORT = 256,
	ADMISSION_WORK_MAX = 1024,
	ADMISSION_WORK_PER_PORT = 16,
	ADMISSION_STORE_MAX = 16384, /* some 16 MB */
	ADMISSION_STORE_PER_PORT = 64,

	ADMISSION_EXPIRY_US = 10000000, /* the longest wait for a turn */
	ADMISSION_BYTES_MAX = 16 << 20, /* of requests that wait for their turn */
	ADMISSION_PER_PORT_BYTES_MAX = ADMISSION_BYTES_MAX / 64, /* the longest request has 8 KB */

	ADMISSION_TABLES_MAX = 64 << 20, /* bytes of all answers that are made or sent */
	/* The rate of cost that a port may have over time, and how far it may be ahead before
	 * its next answer waits. A unit of work takes 0.1 to 0.4 us; a port sends 50 MB/s and
	 * more. */
	ADMISSION_WORK_PER_US = 1,
	ADMISSION_BYTES_PER_US = 16,
	ADMISSION_DEBT_US = 50000,
};

enum verdict {
	VERDICT_PASSES,	  /* the request need not wait */
	VERDICT_WAITS,	  /* the request waits in the queue */
	VERDICT_REPEATED, /* the request is in the queue already */
	VERDICT_FULL,
};

struct admission_port;

/* A request in the queue, embedded in a struct of its owner. */
struct admitted {
	struct mad_addr from;
	struct mad_header header;
	/* Of an answer that waits for work: the bytes of memory to reserve. is_large: only one
	 * such answer may be made at a time. */
	uint64_t bytes;
	bool is_large;

	/* Private to admission.c. */
	struct list link;
	struct admitted *chained; /* with the same hash */
	struct admission_port *port;
	enum admitted_state {
		ADMITTED_TURN,
		ADMITTED_WAITING, /* for memory, or for the share of its port */
		ADMITTED_WORKING,
		ADMITTED_STORING,
		ADMITTED_DURABLE, /* it leaves in one of the next turns of the loop */
		ADMITTED_STATES,
	} state;
	struct registry_waiter waiter;
};

struct admission_owner {
	/* True if no request may have its turn now. Called 100 times a second while a request
	 * waits. */
	bool (*is_shut)(void *ctx);
	/* Processes a request that has waited for its turn. */
	void (*pass)(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size);
	/* A request is dropped because it has waited for ADMISSION_EXPIRY_US. */
	void (*expired)(void *ctx);
	/* Continues an answer until that many candidates are examined; true: it is complete. */
	bool (*work)(void *ctx, struct admitted *admitted, uint64_t candidates);
	/* The answer is complete, and any change durable. The owner has the request again. */
	void (*done)(void *ctx, struct admitted *admitted);
	/* The queue is freed before the answer is complete. */
	void (*drop)(void *ctx, struct admitted *admitted);
	void *ctx;
};

struct admission;
/* Makes an empty queue. registry must outlive it; owner is copied. */
struct admission *admission_new(struct loop *loop, struct registry *registry,
				const struct admission_owner *owner);
/* Drops all requests. */
void admission_free(struct admission *admission);

/* Decides about a request that arrives. rate: that many requests of one port per second pass
 * without waiting; 0: any number. base_lid: of the port with the address from; if the port is
 * not known, the LID of from. With VERDICT_WAITS a copy of the request waits for its turn. */
enum verdict admission_judge(struct admission *admission, uint32_t rate, lid_t base_lid,
			     const struct mad_addr *from, const struct mad_header *header,
			     const uint8_t *mad, size_t size);
/* Whether one more request of this port may wait. */
bool admission_has_place(const struct admission *admission, lid_t base_lid,
			 enum admission_wait wait);
/* Puts a request that has passed, and for which there is a place, into the queue for work or for
 * the store. The queue owns it until done() or drop(). */
void admission_enter(struct admission *admission, lid_t base_lid, enum admission_wait wait,
		     struct admitted *admitted);
/* How many requests wait for this. */
size_t admission_count(const struct admission *admission, enum admission_wait wait);

/* Charges the port for a message of this size that the kernel accepted. */
void admission_charge_bytes(struct admission *admission, lid_t base_lid, size_t bytes);
/* Charges the port for the work of an answer. */
void admission_charge_work(struct admission *admission, lid_t base_lid, uint64_t work);
/* Whether the next answer to this port must wait because of the cost of earlier answers. */
bool admission_owes(const struct admission *admission, lid_t base_lid);

#endif
