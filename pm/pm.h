/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance manager: reads the counters of the whole fabric at an interval, or on request,
 * and has rates, errors and links that are slower than both ends support. It reads only as MASTER,
 * from the view, by general MADs with a window and a descriptor of their own, so that neither SMPs
 * nor the SA are delayed. Neither sm/ nor sa/ includes it. Loop thread only.
 */
#ifndef PM_PM_H
#define PM_PM_H

#include "fabric/event.h"
#include "fabric/view.h"
#include "lib/control.h"
#include "lib/loop.h"
#include "mad/perf.h"
#include "mad/txn.h"

struct pm_options {
	unsigned interval_s; /* 0: only on request */
	unsigned window;     /* requests under way in total; an agent has one */
	bool reset;	     /* resets small counters that are more than half full */
	/* By bit of CounterSelect: a port whose counter rises by this or more between two reads is
	 * logged; 0: never. */
	uint32_t threshold[PORT_COUNTERS_SELECTED];
};

struct fabric;
struct pm;

/* view points to the published view; events report when this manager is MASTER. loop, txns, view
 * and events must outlive pm. */
struct pm *pm_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
		  struct event_hub *events, const struct pm_options *options);
/* So that commands can tell that a node is gone (fabric/gone.h). fabric must outlive pm. */
void pm_set_fabric(struct pm *pm, const struct fabric *fabric);
/* Whether this manager may serve the request. what: the action, such as "read the counters". If
 * not, ends the request with an error that names the MASTER. */
typedef bool pm_guard_fn(void *arg, struct control_request *request, const char *what);
/* pm calls guard(arg, ...) for the refusals of its commands. */
void pm_set_guard(struct pm *pm, pm_guard_fn *guard, void *arg);
/* Includes pm_stop(). NULL is harmless. */
void pm_free(struct pm *pm);
/* Sends no more requests, and ends all commands under way. */
void pm_stop(struct pm *pm);
/* Copies options, and plans the next sweep by the new interval. */
void pm_set_options(struct pm *pm, const struct pm_options *options);

/* Registers perf sweep, perf top, perf errors, perf show. */
void pm_register_commands(struct pm *pm, struct control *control);
/* The state for weftctl status; a new reference. */
json_t *pm_status(const struct pm *pm);

/* Gathers a summary of slow links and of ports with errors above a threshold, in slices, and calls
 * done(arg, problems) in a later turn. problems is borrowed: it is empty if there is no view, and
 * NULL if pm stops. */
void pm_problems(struct pm *pm, void (*done)(void *arg, json_t *problems), void *arg);

/* The errors of a port in the recent past. */
struct pm_link_errors {
	guid_t guid; /* of the switch, or of the end port */
	bool is_switch;
	uint8_t num;
	uint64_t rose[PORT_ERRORS]; /* by bit of CounterSelect */
	uint64_t covered_s;	    /* the time that the sums cover */
	double symbol_ber;	    /* symbol errors per bit of this time; -1: unknown */
};

/* Calls done(arg) after each read of the counters of the whole fabric. */
void pm_on_read(struct pm *pm, void (*done)(void *arg), void *arg);
/* Calls each(arg, errors) for each port whose errors rose in the reads that began after
 * since_s(arg, port) (wall clock; only the first three members of port are set). Only the reads in
 * the history count (pm/history.h). */
void pm_each_link_errors(const struct pm *pm,
			 uint64_t (*since_s)(void *arg, const struct pm_link_errors *port),
			 void (*each)(void *arg, const struct pm_link_errors *errors), void *arg);

/* perf metrics: head is the text of other modules' figures (taken over); figures of ports follow.
 * names is the word for a list of names (pm/names.h); NULL: those of weft. */
void pm_metrics(struct pm *pm, struct control_request *request, const char *names, char *head);

#endif
