/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reports: each notice goes as a SubnAdmReport to every subscriber that it concerns, until he
 * confirms it (13.4.11). Notices are traps that agents sent, and those that the SA makes itself
 * from what happens in the subnet and in the registry: a port came or went (64, 65), a multicast
 * group was created or deleted (66, 67; once that is durable).
 *
 * One report at a time is under way to a subscription, and so many in all as kernels let a
 * send-only agent have. A subscription that lets a report time out goes on in a lane for such
 * subscriptions. Each lane has places of its own, and each port has at most a share of them
 * (sa/report_lanes.h), so a port that never answers does not delay the reports of other ports.
 * After some reports in a row without an answer the subscription is over. Notices wait in one log,
 * in which each subscription has its place; who falls behind by more than the log holds has lost
 * what fell out of it, which is counted. Made by sa.c; loop thread only.
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
	REPORT_LOG = 16384,    /* notices */
	REPORT_QUICK_MAX = 96, /* reports under way to who answered the last one or is new */
	REPORT_SLOW_MAX = 32,  /* and to the others */
	/* The most of these for one port. The quick ones last 50 ms, so ports that take turns wait
	 * little even where all places are taken; the slow ones last up to 4 s. */
	REPORT_QUICK_SHARE = 32,
	REPORT_SLOW_SHARE = 8,
	REPORT_ATTEMPTS = 3,	 /* of one report */
	REPORT_FAILURES_MAX = 5, /* reports in a row without an answer that end a subscription, */
	REPORT_SILENCE_S = 60,	 /* when the first of them was sent so long ago */
};

struct report_stats {
	uint64_t notices; /* that came or were made */
	uint64_t sent, answered, retried, failed;
	uint64_t lost;	       /* a subscription fell behind by more than the log holds */
	uint64_t unsubscribed; /* subscriptions that ended because nobody answered */
};

struct reporter;

/* view is the slot that the manager publishes to, and lookup(ctx) one of the view that is there, or
 * NULL; they and the others outlive the reporter. */
struct reporter *reporter_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
			      struct registry *registry, struct event_hub *events,
			      uint64_t subnet_prefix, struct lookup *(*lookup)(void *ctx),
			      void *ctx);
void reporter_free(struct reporter *reporter); /* NULL is harmless */
const struct report_stats *reporter_stats(const struct reporter *reporter);
/* Subscriptions with a report under way, or that are not yet known to have none to come. */
size_t reporter_waiting(const struct reporter *reporter);

#endif
