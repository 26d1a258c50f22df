/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state of the SA for alias GUIDs besides the registry, and the review of registered aliases.
 * Part of sa.c; loop thread only.
 */
#ifndef SA_ALIAS_H
#define SA_ALIAS_H

#include "fabric/event.h"
#include "fabric/view.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "sa/endport.h"
#include "sa/sa.h"
#include "store/registry.h"

struct aliases {
	struct registry *registry;
	struct registry_reader reader;
	struct event_hub *events;
	struct event_reader happened;
	struct view *const *view;
	struct loop_deferred review;
	sa_alias_claim *claim; /* NULL: no GUID is claimed */
	const void *claim_ctx;
	struct sa_stats *stats;
	struct log_limit limit;	       /* of lines about refused requests */
	struct log_limit review_limit; /* of lines about removed aliases */
};

/*
 * The review removes an alias from a port if its GUID belongs to another port that is present. If
 * that port is absent but remembered, an alias without a grant is removed. The review runs when
 * this manager becomes MASTER, when a port appears, when a saved document replaces the registry,
 * and after aliases_review(). Only a MASTER does it.
 */
void aliases_begin(struct aliases *aliases, struct loop *loop, struct registry *registry,
		   struct event_hub *events, struct view *const *view, struct sa_stats *stats);
/* Stops the review. */
void aliases_end(struct aliases *aliases);
/* Starts a review in the next turn of the loop. */
void aliases_review(struct aliases *aliases);
/* The fields of a log line about a refusal of this end port. */
struct log_subject alias_subject(const struct endport *port);
/* The grant of an alias that is or was in the registry. */
enum alias_grant alias_grant_of(const struct aliases *aliases, const struct alias_entry *alias);
/* Raises EVENT_ALIAS, with the port of the alias if a view has it. The caller keeps alias. */
void alias_raise(const struct aliases *aliases, const struct alias_entry *alias,
		 enum alias_change change);
/* Drops this alias from the registry and raises the event. */
void alias_end(const struct aliases *aliases, const struct alias_entry *alias,
	       enum alias_change change);

#endif
