/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programming: writes the wanted state of ports and switches where it differs from the state that
 * they have. There are no steps that all devices must finish. Each port and each switch continues
 * when the acknowledgements that it waits for have come, and a silent device delays only those that
 * depend on it.
 *   - Both ends of a cable are ARMED before either end is requested to go ACTIVE.
 *   - No Set() creates a forwarding loop (order.c).
 *   - Table blocks are written before a LinearFDBTop that rises, and after a LinearFDBTop that
 *     falls.
 *   - A cable to an adapter goes ACTIVE when the tables on the routes between it and the manager
 *     have been acknowledged.
 * Loop thread only.
 */
#ifndef SM_PROGRAM_PROGRAM_H
#define SM_PROGRAM_PROGRAM_H

#include "fabric/fabric.h"
#include "lib/loop.h"
#include "sm/options.h"

struct program;

struct program_report {	       /* results of the runs of a sweep */
	unsigned blocks_set;   /* Sets of table blocks acknowledged */
	unsigned switches_set; /* switches that acknowledged them */
	unsigned failed;       /* no answer, or refused */
	unsigned not_active;   /* cabled ports that did not come up */
	bool not_as_read;      /* the fabric differs from the model: a heavy sweep is needed */
	/* Switches where ports changed before PortStateChange was cleared: node->sw->changed. */
	unsigned changed;
	unsigned cache_wrong; /* blocks that differed from the table cache */
};

/* All parameters are borrowed and must outlive the result. */
struct program *program_new(struct loop *loop, struct window *window, struct fabric *fabric,
			    const struct sm_options *options);
/* Frees the program; done of an unfinished run is not called. */
void program_free(struct program *program);
/* Sets the cached tables of switches whose tables are unknown; NULL: none. Borrowed. */
struct table_cache;
void program_use_table_cache(struct program *program, struct table_cache *cache);
/* Sets the alias GUIDs to write; NULL: they are not written. Borrowed. */
struct guids;
void program_set_guids(struct program *program, struct guids *guids);

/* Sets the P_Keys to write; NULL: they are not written. failed(arg) is called when a request
 * between two runs had no answer. policy is borrowed. */
struct policy;
void program_set_policy(struct program *program, struct policy *policy, loop_fn *failed, void *arg);
/* Checks the P_Keys of an end port and of its switch port, also between two runs. */
void program_look_at_port(struct program *program, struct port *port);

/* Status of a partition at an end port. */
enum pkeys_status {
	PKEYS_WANTED,	    /* to be written */
	PKEYS_WRITTEN,	    /* under way */
	PKEYS_ACKNOWLEDGED, /* the port holds the P_Key */
	PKEYS_FAILED,	    /* no answer; tried again */
	PKEYS_REFUSED,	    /* the port refuses its table */
	PKEYS_NO_ROOM,	    /* its table is full */
};
/* The status of p_key at an end port. */
enum pkeys_status program_pkeys_status(const struct program *program, struct port *port,
				       pkey_t p_key);

/* Programs the local port only, because its LID comes before all others. done(arg) as below. */
void program_local(struct program *program, loop_fn *done, void *arg);
/* Sets the wanted tables from routes, whose rows have the order of the switches in snapshot, and
 * starts a run. Both NULL: the wanted tables stay. done(arg) is called when nothing is under way or
 * queued. */
void program_start(struct program *program, const struct snapshot *snapshot,
		   const struct routes *routes, loop_fn *done, void *arg);
/* Notifies ACTIVE adapters that have another MasterSMLID of our LID, and unknown adapters
 * to re-register. The rate is limited, and the rest follow after the run. The SA must answer
 * by now. */
void program_announce(struct program *program, loop_fn *done, void *arg);

/* Whether a switch has acknowledged all of the tables that it should have, apart from multicast
 * entries that it refuses. */
bool program_tables_hold(const struct node *node);

/* Sets the source of the wanted multicast trees; NULL: none. Borrowed. */
struct mcast;
void program_set_mcast(struct program *program, struct mcast *mcast);
/* Reads the unknown multicast tables of switches that already forward. */
void program_read_multicast(struct program *program, loop_fn *done, void *arg);
/* Writes only multicast tables, between two sweeps. A call during such a run adds the newer
 * changes to it. Switches that failed are not retried, and done(arg) is called once. */
void program_multicast(struct program *program, loop_fn *done, void *arg);
/* Stops a run of program_multicast() or program_read_multicast(). done is not called. */
void program_abandon(struct program *program);
/* This manager is no longer MASTER: the current run sends nothing more, and requests that are
 * queued or unanswered complete with -ECANCELED, so that no Set() is repeated. Also ends what
 * program_abandon() does not: Sets between two sweeps. */
void program_stop(struct program *program);

/* Records a change of links. From now on each switch is verified before its next Set(). */
void program_new_epoch(struct program *program);
/* Whether a new epoch would make any difference: a switch was verified in this one. */
bool program_epoch_is_used(const struct program *program);

/* Clears the report at the begin of a sweep. all_is_read: this sweep reads the whole fabric, so
 * that it covers all earlier changes. */
void program_clear_report(struct program *program, bool all_is_read);
/* The results since the last program_clear_report(). */
const struct program_report *program_report(const struct program *program);
/* Number of values that devices did not accept, since the start. */
uint64_t program_refused_values(const struct program *program);

#endif
