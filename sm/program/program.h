/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programming: writes what ports and switches should hold where it differs from what they have.
 * There are no steps that all must finish: each port and each switch goes on as soon as what it
 * waits for has been acknowledged, and a device that is silent delays only what depends on it.
 *   - both ends of a cable are ARMED before either is asked to go ACTIVE;
 *   - no Set() makes packets run in a circle (order.c);
 *   - table blocks come before a LinearFDBTop that grows, and after one that shrinks;
 *   - a cable to an adapter goes ACTIVE when the tables on the way from there to the manager and
 * back have been acknowledged. Loop thread only.
 */
#ifndef SM_PROGRAM_PROGRAM_H
#define SM_PROGRAM_PROGRAM_H

#include "fabric/fabric.h"
#include "lib/loop.h"
#include "sm/options.h"

struct program;

struct program_report {	       /* of one run */
	unsigned blocks_set;   /* Sets of table blocks acknowledged */
	unsigned switches_set; /* by so many switches */
	unsigned failed;       /* no answer, or refused */
	unsigned not_active;   /* cabled ports that did not come up */
	bool not_as_read;      /* what was read does not hold any more, somewhere: read all again */
	/* Switches where ports changed before PortStateChange was cleared: node->sw->changed. */
	unsigned changed;
	unsigned cache_wrong; /* blocks that were not as the table cache had them */
};

struct program *program_new(struct loop *loop, struct window *window, struct fabric *fabric,
			    const struct sm_options *options);
void program_free(struct program *program);
/* What switches may hold, for those of which nothing is known; NULL: nobody can tell. It stays the
 * caller's. */
struct table_cache;
void program_use_table_cache(struct program *program, struct table_cache *cache);
/* Ports get their alias GUIDs as well; NULL: they do not. guids stay the caller's. */
struct guids;
void program_set_guids(struct program *program, struct guids *guids);

/* Ports get their P_Keys as well; NULL: they do not. failed(arg) is called when, between two runs,
 * one had no answer. policy stays the caller's. */
struct policy;
void program_set_policy(struct program *program, struct policy *policy, loop_fn *failed, void *arg);
/* The P_Keys of an end port, and of the switch's port in front of it, are to be looked at, also
 * between two runs. */
void program_look_at_port(struct program *program, struct port *port);

/* How it stands with a partition at an end port. */
enum pkeys_status {
	PKEYS_WANTED,	    /* to be written */
	PKEYS_WRITTEN,	    /* under way */
	PKEYS_ACKNOWLEDGED, /* the port holds what it should */
	PKEYS_FAILED,	    /* no answer; tried again */
	PKEYS_REFUSED,	    /* it does not take its table */
	PKEYS_NO_ROOM,	    /* its table is full */
};
enum pkeys_status program_pkeys_status(const struct program *program, struct port *port,
				       pkey_t p_key);

/* Only our own port: its LID comes before all others. done(arg) as below. */
void program_local(struct program *program, loop_fn *done, void *arg);
/* Takes routes, whose rows are in the order of snapshot's switches, as what switches should hold
 * (both NULL: as before), and begins; done(arg) is called when nothing is under way or waiting to
 * be sent. */
void program_start(struct program *program, const struct snapshot *snapshot,
		   const struct routes *routes, loop_fn *done, void *arg);
/* Adapters that are ACTIVE and have another MasterSMLID learn of us, where they have not already,
 * and those of which nothing was known are told to register anew: so many in a second, the rest of
 * them after the run. The SA must answer. */
void program_announce(struct program *program, loop_fn *done, void *arg);

/* Who says which multicast trees there are; NULL: nobody does. It stays the caller's. */
struct mcast;
void program_set_mcast(struct program *program, struct mcast *mcast);
/* Reads what switches hold of multicast that forward already, and of which nothing is known. */
void program_read_multicast(struct program *program, loop_fn *done, void *arg);
/* Multicast tables alone, between two sweeps. While such a run is under way what has come since
 * goes with it: it is not repeated at who has failed in it, and its end is that of both. */
void program_multicast(struct program *program, loop_fn *done, void *arg);
/* Nothing more is sent of a run of the last kind, and done is not called. */
void program_abandon(struct program *program);

/* Links have changed: whoever is written to from now on is asked before who it is. */
void program_new_epoch(struct program *program);

/* What the runs since the last program_clear_report() did: those of one sweep, at the begin of
 * which it is called. Only one that reads all answers earlier news. */
void program_clear_report(struct program *program, bool all_is_read);
const struct program_report *program_report(const struct program *program);
/* Values that devices did not take, since the start. */
uint64_t program_refused_values(const struct program *program);

#endif
