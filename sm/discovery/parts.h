/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What discover.c, which asks and takes answers, and discover_tidy.c, which makes the model agree
 * with them when a pass is over, have in common.
 */
#ifndef SM_DISCOVERY_PARTS_H
#define SM_DISCOVERY_PARTS_H

#include "lib/log.h"
#include "lib/map.h"
#include "lib/slices.h"
#include "sm/discovery/discover.h"

struct discover {
	struct loop *loop;
	struct window *window;
	struct fabric *fabric;
	const struct sm_options *options;
	enum discover_kind kind;
	bool may_write;
	bool finished; /* the pass */
	uint64_t pass;
	size_t pending;	  /* requests not yet answered */
	size_t at_mute;	  /* of them: of mute agents */
	size_t silent;	  /* of them: probes that have timed out PROBE_PATIENCE times, and once */
	size_t once;	  /* of these: at what was silent before */
	bool hurried;	  /* nobody waits for them any more */
	bool awaited;	  /* something new waits for the end of the pass */
	struct list mute; /* agents */
	bool dropping;	  /* what is asked of one of these */
	uint64_t topology_before;
	uint64_t recovered_before, completed_before; /* of the window, at the pass's beginning */
	struct window_gate unknown;		     /* probes on the wire */
	struct window_target local;		     /* our own port, before it is in the model */
	struct port **claims; /* cables to look at again when all else is known */
	size_t num_claims;
	struct list probes; /* under way */
	struct map slow;    /* node GUID of a slow agent -> struct slow: its own of these */
	struct discover_target {
		guid_t guid;
		uint8_t what; /* enum discover_look */
	} * targets;	      /* for the next pass */
	size_t num_targets;
	struct loop_deferred finish;
	struct slices asking, tidying; /* what a light pass begins with; the end of each pass */
	uint64_t members, topology;    /* the fabric's, as far as these know of it */
	struct node **lost;
	size_t num_lost;
	loop_fn *done;
	void *done_arg;
	struct discover_report report;
	struct discover_anomalies anomalies;
	struct log_limit duplicate_limit, silent_limit, odd_limit;
};

/* guid answers behind from, but it is known at another place, or as another device. */
void discover_duplicate(struct discover *discover, struct port *from, guid_t guid,
			const struct port *known);
/* Whether this pass has met the node already, at its old place. */
bool discover_seen_again(const struct discover *discover, const struct node *node);

extern const struct slice_plan discover_tidying; /* of a struct discover */

#endif
