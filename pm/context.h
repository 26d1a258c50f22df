/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance manager's own state, shared by the files of pm/. Private to pm/. Loop thread
 * only.
 */
#ifndef PM_CONTEXT_H
#define PM_CONTEXT_H

#include "lib/log.h"
#include "lib/slices.h"
#include "pm/agent.h"
#include "pm/history.h"
#include "pm/pm.h"
#include "pm/reader.h"

enum pm_top_kind { PM_TOP_DATA, PM_TOP_WAIT, PM_TOP_KINDS };
enum { PM_TOP_MAX = 20 };

struct pm_top_row {
	struct pm_key key;
	float value;
};

/* The ports with the highest rates of a sweep, highest first. */
struct pm_top {
	struct pm_top_row row[PM_TOP_MAX];
	unsigned count;
};

struct pm_sweep_figures {
	uint64_t number, began_us, duration_us, wall_s;
	struct pm_counts counts;
	unsigned agents, silent;		 /* in total, and those that did not answer */
	char silent_example[NODE_DESC_SIZE + 1]; /* the node of one of them */
	double data_rate[2]; /* bytes a second that adapters sent, and that switches sent */
	/* Ports whose counters another program or a restart has reset, and one of them. */
	uint64_t reset_by_others;
	struct pm_key reset_example;
	uint64_t kept; /* ports that weftd has reset, and whose counters stay above 0 */
};

/* A request to reset counters: pm/clear.c. */
struct pm;
struct pm_clear {
	struct list link;
	/* Its end: 0 with the figures in pm->now, or -errno. Frees it. */
	void (*done)(struct pm *pm, struct pm_clear *clear, int error);
	struct control_request *request;
	guid_t node_guid; /* 0: of all nodes */
	bool one_port;
	uint8_t num;
};

struct pm {
	struct loop *loop;
	struct txn_table *txns;
	struct view *const *view;
	const struct fabric *fabric; /* NULL: not known */
	pm_guard_fn *guard;	     /* pm_set_guard(); NULL: none */
	void *guard_arg;
	struct event_reader events;
	struct pm_options options;
	struct pm_agents agents;
	struct pm_histories histories;
	struct loop_timer timer;
	uint64_t master_us; /* since when it is MASTER and may read */
	/* A sweep under way. */
	bool sweeping, stopped;
	struct view *swept; /* the view of the sweep; a reference */
	struct slices merge;
	struct loop_deferred pump;
	struct pm_reader *readers;
	unsigned num_readers, busy;
	struct list idle; /* readers */
	size_t next;	  /* the next agent to read */
	struct pm_sweep_figures now, last;
	struct pm_top top_now[PM_TOP_KINDS], top[PM_TOP_KINDS];
	struct list waiters; /* requests that wait for the end of the sweep: pm/commands.c */
	struct list surveys; /* under way: pm/survey.c */
	struct list shows;   /* under way: pm/commands.c */
	struct list clears;  /* waiting: pm/clear.c */
	/* Its request is being served in place of a sweep; NULL: none. Owned. */
	struct pm_clear *clearing;
	uint64_t reset_by_others; /* since the start, as in struct pm_sweep_figures */
	bool reset_logged;	  /* the last sweep has logged such ports */
	struct log_limit limit;
	void (*read)(void *arg); /* pm_on_read(); NULL: none */
	void *read_arg;
};

/* sweep.c: pm has its loop, txns and options. Starts no sweep. */
void pm_sweep_init(struct pm *pm);
/* Cancels a sweep and frees the state of sweeps. */
void pm_sweep_done(struct pm *pm);
/* Starts a sweep, unless one runs; after the counters that are being cleared. False if there is no
 * view. */
bool pm_sweep_begin(struct pm *pm);
/* Clears the counters of the next request of pm->clears, if no sweep runs. */
void pm_sweep_clear(struct pm *pm);
/* Ends a sweep without results; requests that wait get an error. */
void pm_sweep_cancel(struct pm *pm);
void pm_sweep_plan(struct pm *pm); /* arms the timer for the next sweep */

/* commands.c: the sweep has ended with 0 or -errno; ends the requests that wait for it. */
void pm_tell_waiters(struct pm *pm, int error);
/* clear.c: whether the counters of an agent are to be cleared. */
bool pm_clear_includes(const struct pm_clear *clear, const struct pm_agent *agent);
void pm_clears_end(struct pm *pm); /* all waiting requests, because pm does not read */
void pm_register_clear(struct pm *pm, struct control *control);
/* commands.c: the place of the node with this name in the present view (fabric/named.h); -1: the
 * request was failed. */
int64_t pm_find_node(const struct pm *pm, struct control_request *request, const char *name);
/* commands.c: the index in the present view of the agent for a port of the node at a place; -1: the
 * request was failed. */
int64_t pm_find_port_agent(const struct pm *pm, struct control_request *request, uint32_t place,
			   unsigned num);
/* The port number in the text of a request; -1: the request was failed. */
int pm_port_argument(struct control_request *request, const char *text);
/* commands.c: ends a request that pm cannot serve, because it stops, or because this manager is not
 * MASTER. what: the action, such as "read the counters". */
void pm_refuse(const struct pm *pm, struct control_request *request, const char *what);

/* Ends all requests under way, because pm stops. */
void pm_end_commands(struct pm *pm);

/* The port of a key, and its agent; NULL if it has disappeared. */
struct pm_port *pm_find_port(const struct pm *pm, const struct pm_key *key,
			     struct pm_agent **agent);
/* The name of an agent's node, for logs; borrowed. */
const char *pm_name(const struct pm_agent *agent);

#endif
