/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Admission to the SA: the queue of all requests that cannot be answered at once. A request waits
 * in it for its turn, for work or for the store (enum admission_wait), and leaves it before it is
 * answered. The same rules hold for all three:
 *
 * Repeats. A request that is in the queue already is dropped, so that each is answered once: the
 * same of one client (LID and QPN), with the same TID, method and attribute.
 *
 * Places. How many requests may wait is bounded, in all and for each port. What finds no place is
 * the caller's to refuse, before anything is changed.
 *
 * Shares. Each port has a share of time, and an account of how far it is ahead of its share: one
 * for its requests, and one for what the answers cost to make and to send. A port that is too far
 * ahead waits, and ports that wait have their turns one after the other. A port that requests
 * without end is answered as fast as the others leave time, and delays none of them.
 *
 * A port is named by its base LID: with an LMC it has up to 128 LIDs, and one share. Knows
 * addresses and bytes, no records. Used by sa.c alone; loop thread only.
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
	ADMISSION_TURN,	 /* for a view, or behind other requests: nothing is done for it yet */
	ADMISSION_WORK,	 /* until its answer is made, which takes more than a moment */
	ADMISSION_STORE, /* until what it has changed in the registry is durable */
	ADMISSION_WAITS,
};

enum {
	ADMISSION_TURN_MAX = 8192, /* requests, in all */
	ADMISSION_TURN_PER_PORT = 256,
	ADMISSION_WORK_MAX = 1024,
	ADMISSION_WORK_PER_PORT = 16,
	ADMISSION_STORE_MAX = 16384, /* some 16 MB */
	ADMISSION_STORE_PER_PORT = 64,

	ADMISSION_EXPIRY_US = 10000000, /* after which a client waits no more for its turn */
	ADMISSION_BYTES_MAX = 16 << 20, /* of requests that wait for their turn */
	ADMISSION_PER_PORT_BYTES_MAX = ADMISSION_BYTES_MAX / 64, /* the longest request has 8 KB */

	ADMISSION_TABLES_MAX = 64 << 20, /* bytes of all answers at work or being sent */
	/* What a port may cost in the long run, and how far it may be ahead before its next answer
	 * waits. A unit of work takes 0.1 to 0.4 us; a port sends 50 MB/s and more. */
	ADMISSION_WORK_PER_US = 1,
	ADMISSION_BYTES_PER_US = 16,
	ADMISSION_DEBT_US = 50000,
};

enum verdict {
	VERDICT_PASSES,	  /* it need not wait */
	VERDICT_WAITS,	  /* it has a place in the queue */
	VERDICT_REPEATED, /* it is in the queue already */
	VERDICT_FULL,
};

struct admission_port;

/* A request in the queue, embedded in what its owner keeps of it. */
struct admitted {
	struct mad_addr from;
	struct mad_header header;
	/* Of an answer that waits for work: bytes of memory to set aside, and whether only one such
	 * may be at work. */
	uint64_t bytes;
	bool is_large;

	/* Of admission.c. */
	struct list link;
	struct admitted *chained; /* with the same hash */
	struct admission_port *port;
	enum admitted_state {
		ADMITTED_TURN,
		ADMITTED_WAITING, /* for memory, or for the share of its port */
		ADMITTED_WORKING,
		ADMITTED_STORING,
		ADMITTED_DURABLE, /* it leaves with the next turns of the loop */
		ADMITTED_STATES,
	} state;
	struct registry_waiter waiter;
};

struct admission_owner {
	/* Whether no request may have its turn now; called 100 times a second while one waits. */
	bool (*is_shut)(void *ctx);
	/* A request that has waited has its turn. */
	void (*pass)(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size);
	/* One has waited for ADMISSION_EXPIRY_US and is dropped. */
	void (*expired)(void *ctx);
	/* Makes more of an answer until so many candidates were looked at; true: it is complete. */
	bool (*work)(void *ctx, struct admitted *admitted, uint64_t candidates);
	/* The answer is complete, and any change durable. It is the owner's again. */
	void (*done)(void *ctx, struct admitted *admitted);
	/* The queue ends before that. */
	void (*drop)(void *ctx, struct admitted *admitted);
	void *ctx;
};

struct admission;
struct admission *admission_new(struct loop *loop, struct registry *registry,
				const struct admission_owner *owner);
void admission_free(struct admission *admission);

/* For each request that comes. rate: so many a second of one port pass without waiting; 0: any
 * number. base_lid: of the port that from belongs to; where the port is not known, the LID of from.
 * VERDICT_WAITS: it waits for its turn, and a copy was taken. */
enum verdict admission_judge(struct admission *admission, uint32_t rate, lid_t base_lid,
			     const struct mad_addr *from, const struct mad_header *header,
			     const uint8_t *mad, size_t size);
/* Whether one more request of this port may wait for this. */
bool admission_has_place(const struct admission *admission, lid_t base_lid,
			 enum admission_wait wait);
/* Takes over a request that has passed and found a place, for work or for the store. */
void admission_enter(struct admission *admission, lid_t base_lid, enum admission_wait wait,
		     struct admitted *admitted);
size_t admission_count(const struct admission *admission, enum admission_wait wait);

/* A message of so many bytes to this port was given to the kernel. */
void admission_charge_bytes(struct admission *admission, lid_t base_lid, size_t bytes);
/* An answer to this port has cost so much work. */
void admission_charge_work(struct admission *admission, lid_t base_lid, uint64_t work);
/* Whether the next answer to this port has to wait because of what those before have cost. */
bool admission_owes(const struct admission *admission, lid_t base_lid);

#endif
