/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of sm/ that run a sweep: the parts of one subnet manager, and the record of
 * its sweeps. Private to the files of sm/ and sm/control/. The parts themselves (discover, program,
 * peers, trigger) do not see it.
 */
#ifndef SM_CONTEXT_H
#define SM_CONTEXT_H

#include "fabric/lid.h"
#include "ha/replica.h"
#include "lib/log.h"
#include "lib/rate.h"
#include "route/engine.h"
#include "sm/credit_watch.h"
#include "sm/discovery/discover.h"
#include "sm/discovery/hold.h"
#include "sm/drain.h"
#include "sm/election/peers.h"
#include "sm/engines.h"
#include "sm/local_port.h"
#include "sm/partition/m_keys.h"
#include "sm/partition/partitions.h"
#include "sm/partition/unmanaged_pkeys.h"
#include "sm/planned_links.h"
#include "sm/port_events.h"
#include "sm/program/guids.h"
#include "sm/program/mcast.h"
#include "sm/program/program.h"
#include "sm/readback.h"
#include "sm/sm.h"
#include "sm/snapshot_request.h"
#include "sm/trap_pace.h"
#include "sm/trigger.h"

enum { SWEEP_PHASES_MAX = 16, SWEEP_TEXT_SIZE = 256 };

/* A sweep, as status shows it. */
struct sweep_record {
	uint64_t number;
	enum discover_kind kind;
	char reason[TRIGGER_REASON_SIZE];
	unsigned merged;
	uint64_t started_s; /* wall clock */
	uint64_t duration_us;
	unsigned num_phases;
	struct {
		const char *name;
		uint64_t us;
	} phases[SWEEP_PHASES_MAX];
	uint64_t smps, sets, lft_sets, retries, failed;
	unsigned blocks_set, switches_set; /* as in program_report */
	bool changed;			   /* the nodes, ports or cables */
	bool met_errors;		   /* the subnet is up, but not each link of it */
	int error;			   /* why the subnet is not up, or 0 */
	char text[SWEEP_TEXT_SIZE];
};

/* A caller that waits for the end of a sweep; embedded in the caller's own struct. */
struct sweep_waiter {
	struct list link;
	uint64_t after; /* the sweep must have a higher number */
	/* Called once, when the waiter is out of the list. record: the sweep that has ended; NULL:
	 * the manager is stopping. */
	void (*ended)(struct sweep_waiter *waiter, const struct sweep_record *record);
};

/* The view shows new P_Keys between two sweeps, too. */
struct key_views {
	struct snapshot_waiter snapshot_wait;
	struct loop_timer again; /* a view is due, and a sweep is under way */
	bool is_taking;		 /* a snapshot */
	loop_fn *shown;		 /* called when P_Keys were written, or a view shows them; NULL */
	void *shown_ctx;
};

struct sweep {
	bool running;
	bool rerouted;		/* this one computed routes */
	bool was_master;	/* when it began */
	bool found_master;	/* another MASTER, since hosts were notified the last time */
	bool contested_told;	/* since contested_us */
	struct trigger current; /* the requests for this sweep */
	char no_routes[ROUTE_WHY_SIZE]; /* the reasons of all engines; empty: routes found */
	unsigned phase;
	uint64_t began_us, phase_began_us;
	uint64_t contested_us; /* when sweeps began to find another MASTER; 0: the last did not */
	uint64_t smps_before, sets_before, lft_sets_before, retries_before;
	uint64_t topology_before, facts_before;
	struct sweep_record now, last;
	struct list waiters;
	struct loop_deferred next_phase;
	struct registry_waiter lids_kept;
	struct snapshot_waiter snapshot_wait; /* a phase that waits for a snapshot */
	struct slices giving_lids;
	struct lid_work *lids;	 /* NULL: none are being given */
	struct loop_timer timer; /* the next light sweep or retry */
	uint64_t due_us;	 /* its time; 0: none */
	unsigned failures;	 /* consecutive sweeps with errors */
};

struct route_job { /* while routes are computed */
	struct work_job job;
	struct sm *sm;
	struct snapshot *snapshot;
	struct route_judged before; /* with references of its own; NULLs: there were no routes */
	struct work_pool *pool;
	uint64_t topology; /* the live model's, when the snapshot was taken */
	char names[SM_ENGINES_MAX][SM_ENGINE_NAME]; /* a copy, because options may change */
	const char *chain[SM_ENGINES_MAX];
	unsigned count;
	struct route_result result;
	char *absent; /* GUIDs of the options that are absent; NULL: none */
	int error;
};

struct sm_counts {
	uint64_t traps, repressed, mismatched, untold, sm_info_gets, sm_info_sets, lid_conflicts,
		lids_exhausted;
};

struct save;

/* A document is judged before it is restored. */
struct restore_judgement {
	const struct registry *document;
	struct policy_comparison *comparison; /* NULL: none is under way */
	void (*judged)(void *arg, char *danger);
	void *ctx; /* of judged() */
};

struct sm {
	struct loop *loop;
	struct work_pool *pool;
	struct transport *transport;
	struct txn_table *txns;
	struct registry *registry;
	struct event_hub *events;
	struct window *window;
	struct fabric *fabric;
	struct sm_options options;
	struct engines engines;
	struct discover *discover;
	struct program *program;
	struct peers *peers;
	struct trigger trigger;
	struct hold hold;
	struct drain drain;
	struct trap_pace trap_pace;
	struct snapshot_request snapshot_request;
	struct readback readback;
	struct guids guids;
	struct keys keys;
	struct policy policy;
	struct unmanaged_pkeys unmanaged_pkeys;
	struct mcast *mcast;
	struct local_port local_port;
	struct save *save;
	struct restore_judgement restoring;
	struct table_cache *cache; /* NULL: tables of switches are not cached */
	struct replica *replica;   /* NULL: there is none */
	struct sweep sweep;
	struct route_job *routing;  /* NULL when none is under way */
	struct route_result routes; /* of the last run that found routes */
	struct credit_watch credit_watch;
	struct planned_links planned;
	char *absent;		  /* as in route_job, of the last run */
	struct snapshot *routed;  /* the snapshot of the last run, with the order of the rows */
	uint64_t routed_topology; /* fabric->topology when they were computed; 0: never */
	struct view *view;	  /* NULL: not published */
	bool was_master;	  /* at the last role change or takeover of a subnet */
	struct port_events port_events;
	uint64_t views;
	struct sm_counts counts;
	uint64_t suppressed_us; /* when a trap was last not forwarded; 0: never */
	guid_t suppressed_guid; /* the port that sent it; 0: unknown */
	const char *sm_lid_why; /* as in the last lid_report */
	struct log_limit trap_limit, mismatch_limit, links_limit;
	struct {
		guid_t guid;
		lid_t lid;
	} doubted; /* sm_doubt_manager(): the last manager that was searched for */
	struct rate search_rate, stranger_rate, unknown_trap_rate, epoch_rate;
	struct loop_timer epoch_timer;
	struct rate peer_rate[PEERS_HAVE_WRITTEN + 1]; /* of heavy sweeps, by the doubt */
	struct key_views key_views;
	struct sm_commands *commands; /* of sm/control; NULL: no commands are registered */
	void (*report)(void *ctx, int error, bool again, const char *text);
	void *report_ctx;
	bool stopped;
};

/* sm.c: requests a heavy sweep because of a sender at an unknown place, no more often than
 * stranger_rate allows. reason is copied. False: not requested. */
bool sm_search_stranger(struct sm *sm, const char *reason);

/* Prepares the sweep; the trigger starts the first sweep. */
void sweep_init(struct sm *sm);
/* Answers the waiting requests, and starts nothing more. */
void sweep_stop(struct sm *sm);
/* Frees what a sweep left under way. */
void sweep_done(struct sm *sm);
/* Also returns its references, with those to earlier routes. NULL is harmless. */
void route_job_free(struct route_job *routing);
/* Starts the sweep that the trigger wants; called by the trigger, arg is the sm. */
void sweep_begin(void *arg);
/* Calls waiter->ended at the end of the next sweep that begins from now on. */
void sweep_wait(struct sm *sm, struct sweep_waiter *waiter);
/* Whether a sweep is in its phase elect, which surveys the other managers. */
bool sweep_is_electing(const struct sm *sm);
/* The reason why this manager is not MASTER; static text. */
const char *sweep_why_not_master(const struct sm *sm);
/* light, switches or heavy; static text. */
const char *sweep_kind_name(enum discover_kind kind);

/* smp_rx.c */
struct smp_rx_request { /* one request from outside */
	const struct mad_addr *from;
	const struct mad_header *header;
	const uint8_t *mad;
};
/* Registers the handlers of SMPs that arrive as requests: traps, SMInfo and the others. */
void sm_rx_init(struct sm *sm);

/* Prepares the views that show new P_Keys. */
void publish_init(struct sm *sm);
/* Publishes no further view of new P_Keys. */
void publish_stop(struct sm *sm);
/* Also cancels deferred calls. */
void publish_done(struct sm *sm);
/* Publishes this snapshot with the routes in force. Takes over the reference. */
void publish_snapshot(struct sm *sm, struct snapshot *snapshot);
/* Withdraws the view: this manager is not MASTER. */
void publish_nothing(struct sm *sm);
/* Whether the published view has the P_Keys that ports have. */
bool publish_shows_keys(const struct sm *sm);

#endif
