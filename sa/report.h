/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reports: each notice is sent as a SubnAdmReport to every subscriber that it matches, until the
 * subscriber confirms it (13.4.11). Notices are traps from agents, and notices of the SA. The SA
 * makes them from events and from the registry. A port appeared or disappeared (64, 65), or a
 * multicast group was created or deleted (66, 67; sent when this is durable).
 *
 * A subscription has one report in progress at a time. The number of all reports in progress is
 * limited, because kernels limit the sends of a send-only agent. A subscription whose report timed
 * out continues in a lane for slow subscriptions. Each lane has its own places, and each port a
 * share of them (sa/report_lanes.h), so a port that never answers does not delay reports to other
 * ports. After several reports in a row without an answer the subscription ends. All notices are in
 * one log, in which each subscription has a position. If a subscription falls behind by more than
 * the log holds, it loses the oldest notices; this is counted. Made by sa.c; loop thread only.
 */
#ifndef SA_REPORT_H
#define SA_REPORT_H

#include "fabric/event.h"
#include "fabric/view.h"
#include "lib/loop.h"
#include "mad/txn.h"
#include "sa/lookup.h"
#include "store/registry.h"

enum {
	REPORT_LOG = 16384, /* notices */
	REPORT_QUICK_MAX =
		96, /* reports in progress to subscribers that answered last time, or are new */
	REPORT_SLOW_MAX = 32, /* the same to other subscribers */
	/* The limit of these for one port. A quick report lasts 50 ms, so ports that take turns
	 * wait little even if all places are in use; a slow one lasts up to 4 s. */
	REPORT_QUICK_SHARE = 32,
	REPORT_SLOW_SHARE = 8,
	REPORT_ATTEMPTS = 3, /* for one report */
	REPORT_FAILURES_MAX =
		5, /* a subscription ends after so many reports in a row without an answer, */
	REPORT_SILENCE_S = 60, /* if the first of them was sent this long ago */
};

struct report_stats {
	uint64_t notices; /* received or made */
	uint64_t sent, answered, retried, failed;
	uint64_t lost;	       /* notices that fell out of the log before a subscription got them */
	uint64_t unsubscribed; /* subscriptions that ended because of missing answers */
};

struct reporter;

/* view is the slot to which the manager publishes, and lookup(ctx) a lookup of the present view,
 * or NULL. All arguments must outlive the reporter. */
struct reporter *reporter_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
			      struct registry *registry, struct event_hub *events,
			      uint64_t subnet_prefix, struct lookup *(*lookup)(void *ctx),
			      void *ctx);
void reporter_free(struct reporter *reporter); /* NULL is harmless */
const struct report_stats *reporter_stats(const struct reporter *reporter);
/* Subscriptions with a report in progress, or with notices in the log that they may need. */
size_t reporter_waiting(const struct reporter *reporter);

#endif
