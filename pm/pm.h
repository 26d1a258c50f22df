/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance manager: reads the counters of the whole fabric at an interval, or when it is
 * asked to, and knows rates, errors and links that are slower than both ends can. It reads as
 * MASTER only, from the view, by general MADs with a window and a descriptor of their own, so that
 * neither SMPs nor the SA wait for it. Neither sm/ nor sa/ knows of it. Loop thread only.
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
	unsigned interval_s; /* 0: only when asked */
	unsigned window;     /* requests under way in all; an agent has one */
	bool reset;	     /* small counters that are more than half full */
	/* By bit of CounterSelect: a port whose counter rises by so many or more between two reads
	 * is told of; 0: never. */
	uint32_t threshold[PORT_COUNTERS_SELECTED];
};

struct pm;

/* view is where views are published to; events tell when there is a MASTER. */
struct pm *pm_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
		  struct event_hub *events, const struct pm_options *options);
void pm_free(struct pm *pm);
/* Sends no more, and ends what was asked of it. */
void pm_stop(struct pm *pm);
void pm_set_options(struct pm *pm, const struct pm_options *options);

/* Registers perf sweep, perf top, perf errors, perf show. */
void pm_register_commands(struct pm *pm, struct control *control);
/* How it stands: a part of weftctl status; a new reference. */
json_t *pm_status(const struct pm *pm);

/* perf metrics: head is the text of other rooms' figures (taken over), behind which come ports with
 * errors as far as there is room. */
void pm_metrics(struct pm *pm, struct control_request *request, char *head);

#endif
