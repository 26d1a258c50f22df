/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the SA needs for alias GUIDs besides the registry, and the review of those that are
 * registered. Part of sa.c; loop thread only.
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
	sa_alias_claim *claim; /* NULL: nothing speaks against a GUID */
	const void *claim_ctx;
	struct sa_stats *stats;
	struct log_limit limit;	       /* of lines about what was refused */
	struct log_limit review_limit; /* of lines about what was taken away */
};

/*
 * The review takes an alias away from a port where its GUID belongs to another one: that other port
 * is there, or it is remembered and the alias is not granted. It follows when this manager becomes
 * MASTER, when a port comes, when a saved document replaces the registry, and when
 * aliases_review() asks for it; only a MASTER does it.
 */
void aliases_begin(struct aliases *aliases, struct loop *loop, struct registry *registry,
		   struct event_hub *events, struct view *const *view, struct sa_stats *stats);
void aliases_end(struct aliases *aliases);
/* In a turn of its own. */
void aliases_review(struct aliases *aliases);
/* What a line of the log about a refusal says of this end port. */
struct log_subject alias_subject(const struct endport *port);
/* The grant of an alias that is, or was, in the registry. */
enum alias_grant alias_grant_of(const struct aliases *aliases, const struct alias_entry *alias);
/* Raises EVENT_ALIAS, with the port of the alias as far as a view has it. alias stays the
 * caller's. */
void alias_tell(const struct aliases *aliases, const struct alias_entry *alias,
		enum alias_change change);
/* Drops the registry's record of this alias, and raises the event. */
void alias_end(const struct aliases *aliases, const struct alias_entry *alias,
	       enum alias_change change);

#endif
