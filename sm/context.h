/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of sm/ that order the work share: the parts of one subnet manager, and the record
 * of its sweeps. Private to sm.c, sweep.c, trickle.c, inbox.c and commands*.c; the parts themselves
 * (discover, program, peers, trigger) do not see it.
 */
#ifndef SM_CONTEXT_H
#define SM_CONTEXT_H

#include "fabric/lid.h"
#include "ha/replica.h"
#include "lib/log.h"
#include "lib/rate.h"
#include "route/engine.h"
#include "sm/discovery/discover.h"
#include "sm/discovery/hold.h"
#include "sm/election/peers.h"
#include "sm/engines.h"
#include "sm/local_port.h"
#include "sm/partition/m_keys.h"
#include "sm/partition/partitions.h"
#include "sm/partition/unmanaged_pkeys.h"
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

/* One sweep, as status shows it. */
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
	bool changed;			   /* what is there */
	int error;			   /* why the subnet is not up, or 0 */
	char text[SWEEP_TEXT_SIZE];
};

struct sweep_waiter { /* a command that waits for the end of a sweep */
	struct list link;
	struct control_request *request;
	uint64_t after;	    /* the sweep must have a higher number */
	bool tries_engines; /* which are taken back if they give no routes */
};

struct sweep {
	bool running;
	bool rerouted;			/* this one computed routes */
	bool was_master;		/* when it began */
	bool contested;			/* the last one met another MASTER */
	bool contested_told;		/* since it is so */
	struct trigger current;		/* what this one was asked for */
	char no_routes[ROUTE_WHY_SIZE]; /* why every engine refused; empty: one did not */
	unsigned phase;
	uint64_t began_us, phase_began_us, contested_us;
	uint64_t smps_before, sets_before, lft_sets_before, retries_before;
	uint64_t topology_before, facts_before;
	struct sweep_record now, last;
	struct list waiters;
	struct loop_deferred next_phase;
	struct registry_waiter lids_kept;
	struct picture_wait picture; /* a phase that waits for a snapshot */
	struct slices giving_lids;
	struct lid_work *lids;	 /* NULL: none are being given */
	struct loop_timer timer; /* the next light sweep, or another try */
	uint64_t due_us;	 /* when that is due; 0: nothing is */
	unsigned failures;	 /* sweeps in a row that met errors */
};

struct route_job { /* while routes are computed */
	struct work_job job;
	struct sm *sm;
	struct snapshot *snapshot;
	struct route_judged before; /* with references of its own; NULLs: there were no routes */
	struct work_pool *pool;
	uint64_t topology; /* the live model's, when the snapshot was taken */
	char names[SM_ENGINES_MAX][SM_ENGINE_NAME]; /* copied: options may change meanwhile */
	const char *chain[SM_ENGINES_MAX];
	unsigned count;
	struct route_result result;
	char *absent; /* which GUIDs of the options are not there; NULL: none */
	int error;
};

struct sm_counts {
	uint64_t traps, repressed, mismatched, untold, sm_info_gets, sm_info_sets, lid_conflicts,
		lids_exhausted;
};

struct save;

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
	struct trap_pace trap_pace;
	struct picture picture;
	struct trickle trickle;
	struct guids guids;
	struct keys keys;
	struct policy policy;
	struct foreign_keys foreign_keys;
	struct partition_commands *partition_commands;
	struct partition_check *partition_check;
	struct mcast *mcast;
	struct own_port own_port;
	struct save *save;
	struct image *image;	 /* NULL: what switches hold is not kept */
	struct replica *replica; /* NULL: there is none */
	struct ha_commands *ha;
	struct sweep sweep;
	struct route_job *routing;  /* NULL when none is under way */
	struct route_result routes; /* of the last run that gave some: what switches should hold */
	char *absent;		    /* as in route_job, of the last run */
	struct snapshot *routed;    /* what they were computed from: the order of their rows */
	uint64_t routed_topology;   /* fabric->topology when they were computed; 0: never */
	struct view *view;	    /* NULL: not published */
	bool was_master;	    /* when the role changed last, or another's subnet was taken */
	struct herald herald;
	uint64_t views;
	struct sm_counts counts;
	const char *sm_lid_why; /* as in lid_report, of the last time */
	struct log_limit trap_limit, mismatch_limit, links_limit;
	struct rate search_rate, stranger_rate, unknown_trap_rate;
	struct list port_changes; /* commands_port.c: not durable yet */
	struct list judgements;	  /* commands_judge.c: the first one is being computed */
	struct list dumps;	  /* commands_route.c: under way */
	void (*report)(void *ctx, int error, bool again, const char *text);
	void *report_ctx;
	bool stopped;
};

/* sweep.c */
void sweep_init(struct sm *sm);
void sweep_stop(struct sm *sm); /* answers who waits, asks for nothing more */
void sweep_done(struct sm *sm);
/* Also drops its references, those to earlier routes included; NULL is harmless. */
void route_job_free(struct route_job *routing);
void sweep_begin(void *arg); /* the trigger's call: starts what is wanted; arg is the sm */
bool sweep_is_electing(const struct sm *sm);
const char *sweep_why_not_master(const struct sm *sm);
const char *sweep_kind_name(enum discover_kind kind);

/* traps.c: the end port with this source LID, which it has or is about to get; NULL: no known port
 * has it. */
struct port *sender_by_lid(struct sm *sm, lid_t lid);

/* inbox.c */
struct letter { /* one request from outside */
	const struct mad_addr *from;
	const struct mad_header *header;
	const uint8_t *mad;
};
void inbox_init(struct sm *sm);

/* commands.c: what a sweep changed or found changed. */
json_t *sweep_changes_json(const struct sweep_record *record);

/* commands.c: the engine of these routes, those that refused, and what the checker found. */
json_t *routing_json(const struct route_result *routes);

/* commands_partition.c */
void partition_commands_init(struct sm *sm);
void partition_commands_stop(struct sm *sm); /* answers who waits */
void partition_commands_done(struct sm *sm);

/* commands_ha.c */
void ha_init(struct sm *sm);
void ha_stop(struct sm *sm); /* answers who waits */
void ha_done(struct sm *sm);

/* commands_port.c */
void port_changes_init(struct sm *sm);
void port_changes_stop(struct sm *sm); /* answers who waits */

/* commands_judge.c */
void judge_init(struct sm *sm);
void judge_stop(struct sm *sm); /* answers who waits */
void judge_done(struct sm *sm); /* frees what is under way; the pool runs no job any more */

/* commands_route.c */
void dumps_init(struct sm *sm);
void dumps_done(struct sm *sm); /* as judge_done() */

/* sm.c: the view shows this snapshot from now on; takes over the reference. */
void sm_publish(struct sm *sm, struct snapshot *snapshot);

#endif
