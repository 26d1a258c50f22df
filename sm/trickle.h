/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The trickle: while nothing else is under way, all that devices hold is read again, one SMP at a
 * time, so that everything has been read within options.readback_s. What differs from what the
 * manager believes, because a device forgot or somebody else wrote, is an event, and is mended by
 * an ordinary sweep of that node. So nothing needs full sweeps at an interval. Called by sm.c; only
 * a MASTER reads. Loop thread only.
 */
#ifndef SM_TRICKLE_H
#define SM_TRICKLE_H

#include "fabric/fabric.h"
#include "lib/log.h"
#include "lib/loop.h"

struct sm;

struct trickle {
	struct loop_timer timer;
	guid_t *nodes; /* of this round, in ascending order */
	size_t num_nodes, at;
	unsigned item;	/* of the node: what to read next */
	uint64_t total; /* reads of this round */
	uint64_t sweep; /* what is under way was asked for after this one */
	bool under_way;
	uint64_t reads, rounds, differences; /* since the start */
	struct log_limit limit;
};

void trickle_init(struct sm *sm);
void trickle_start(struct sm *sm); /* harmless when it runs; asks again for the interval */
void trickle_done(struct sm *sm);

/* What two reports of a port must have in common; counters of violations and the like need not. */
bool trickle_same_port(const struct port_info *a, const struct port_info *b);
bool trickle_same_switch(const struct switch_info *a, const struct switch_info *b);

#endif
