/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Asking another subnet manager, at poll_interval, whether it is there and what it is: a STANDBY
 * asks its master, a MASTER asks all others that it knows. Owned by sm/election/peers.c, which
 * draws the consequences. Loop thread only.
 *
 * One lost MAD is no miss: within an interval the question is put again, alternately by LID and
 * along the directed route, so that before three intervals are missed seven questions went
 * unanswered. Linux answers SMInfo with a status where no manager runs any more. Once may be
 * somebody else's doing; asked again at once, and answered so again, the manager is gone, and
 * nobody waits for more misses.
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
	POLL_ANSWER, /* info is what it says */
	POLL_GONE,   /* its port answers that no manager is there, or it cannot be reached */
	POLL_SILENT, /* poll_misses intervals without an answer; the count begins anew */
};

struct poll {
	struct txn_table *txns;
	struct fabric *fabric;
	const struct sm_options *options;
	struct peer peer; /* whom it asks; info is the owner's to keep */
	/* May call poll_end(), or poll_begin() for somebody else. info: NULL but for POLL_ANSWER */
	void (*news)(void *ctx, struct poll *poll, enum poll_news news, const struct sm_info *info);
	void *ctx;
	struct loop_timer timer;
	unsigned missed;   /* intervals in a row */
	unsigned attempts; /* within this interval */
	unsigned answers;
	unsigned key_turn; /* which M_Key the port is asked with: the one that it answers to */
	bool under_way, doubted;
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
