/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Polls another subnet manager with Get(SMInfo), once per poll_interval: a STANDBY polls its
 * master, a MASTER all other managers. Owned by sm/election/peers.c, which decides about the role.
 * Loop thread only.
 *
 * One lost MAD is no miss: within an interval the request is repeated, alternately by LID and
 * along the directed route, so that three missed intervals are seven unanswered requests. Linux
 * answers SMInfo with a status if no manager runs at the port. One such answer may be a forgery.
 * If a second request at once gets the same answer, the manager has ended, and further misses are
 * not necessary.
 */
#ifndef SM_ELECTION_POLL_H
#define SM_ELECTION_POLL_H

#include "fabric/fabric.h"
#include "lib/loop.h"
#include "mad/txn.h"
#include "sm/options.h"

struct peer {
	lid_t lid;
	struct sm_info info; /* its sm_key cleared */
	uint64_t heard_us;   /* when it said so */
	unsigned survey;     /* the last that there had been by then */
};

enum poll_news {
	POLL_ANSWER, /* info has its SMInfo */
	POLL_GONE,   /* its port answers that it has no manager, or it is unreachable */
	POLL_SILENT, /* poll_misses intervals without an answer; the count begins again */
};

struct poll {
	struct txn_table *txns;
	struct fabric *fabric;
	const struct sm_options *options;
	struct peer peer; /* the polled manager; info belongs to the owner */
	/* May call poll_end(), or poll_begin() for another manager. info: NULL but for
	 * POLL_ANSWER */
	void (*news)(void *ctx, struct poll *poll, enum poll_news news, const struct sm_info *info);
	void *ctx;
	struct loop_timer timer;
	unsigned missed;   /* intervals in a row */
	unsigned attempts; /* within this interval */
	unsigned answers;
	unsigned key_turn; /* index of the M_Key for the request: rises with each lost interval */
	bool under_way, doubted;
	bool only_this; /* set by the owner: an answer of another manager is none */
};

/* Prepares a poll; calls news() for each result. Everything but loop is borrowed. */
void poll_init(struct poll *poll, struct loop *loop, struct txn_table *txns, struct fabric *fabric,
	       const struct sm_options *options,
	       void (*news)(void *ctx, struct poll *poll, enum poll_news news,
			    const struct sm_info *info),
	       void *ctx);
/* Polls this manager, for the first time after one interval. */
void poll_begin(struct poll *poll, const struct peer *peer);
/* The manager has probably ended: polls it now, and one interval without an answer is enough.
 * Harmless without a poll. */
void poll_doubt(struct poll *poll);
/* Ends the poll; harmless if none runs. */
void poll_end(struct poll *poll);

#endif
