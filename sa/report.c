/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The log of notices, the positions of subscriptions in it, and reports in progress. A subscription
 * is idle until a notice arrives. Then it waits in its lane and, in its turn, searches the log from
 * its position for a matching notice. If it finds one, the report is sent, and the subscription
 * waits again after the answer; otherwise it is idle. So a notice costs one comparison for each
 * subscription; a turn of the loop makes a few thousand comparisons.
 *
 * After a timeout a report frees its place in the lane, and the subscription waits in the slow lane
 * for the next attempt, with its position at the same notice.
 */
#include "sa/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/notice.h"
#include "sa/endport.h"
#include "sa/record.h"
#include "sa/report_lanes.h"

enum {
	TURN_COMPARISONS = 4096,
	/* The first attempt is short: a subscriber that is present answers in this time. Later
	 * attempts use the response time of the subscriber, within limits. */
	FIRST_TIMEOUT_MS = 50,
	TIMEOUT_MIN_MS = 200,
	TIMEOUT_MAX_MS = 4000,
	RESP_TIME_UNIT_NS = 4096, /* times two to the power of RespTimeValue: 13.4.6.2 */
	RESP_TIME_MAX = 20,	  /* 4.3 s; the limit */
};

/* A notice and its subject: an end port, as it was then, or the partition of a group. */
struct logged_notice {
	struct notice notice;
	uint64_t number; /* of the registry change that must be durable before the report */
	bool security;
	bool keys_unknown;	  /* the P_Keys of the port are unknown, because no view had it */
	pkey_t p_key;		  /* of a group; 0: the subject is a port */
	struct node_facts *facts; /* a reference, or NULL */
	guid_t guid;
	uint8_t num;
};

struct subscriber {
	struct list
		link; /* waiting in its lane, or idle; in no list while a report is in progress */
	const struct subscription_entry *entry; /* a reference */
	struct lane_port *port;
	uint64_t place; /* position in the log: the first notice not examined */
	enum lane lane;
	bool rests;
	unsigned attempts;  /* failed attempts to report the notice at place, */
	uint64_t began_us;  /* and when the first of them began */
	unsigned failures;  /* failed reports in a row, */
	uint64_t silent_us; /* and when the first of them began */
	struct flight *flight;
};

struct flight { /* a report in progress */
	struct list link;
	struct reporter *reporter;
	struct subscriber *subscriber; /* NULL: the subscription has ended */
	struct lane_port *port;
	enum lane lane;
	uint64_t place; /* position of the notice in the log */
};

struct reporter {
	struct loop *loop;
	struct txn_table *txns;
	struct view *const *view;
	struct lookup *(*lookup)(void *ctx);
	void *lookup_ctx;
	struct registry *registry;
	uint64_t subnet_prefix;
	struct event_reader events;
	struct registry_reader changes;
	struct registry_waiter durable;
	struct loop_deferred turn;
	struct logged_notice *log; /* REPORT_LOG of them, a ring */
	uint64_t first, next;	   /* positions of the oldest notice and after the newest */
	struct map by_entry;	   /* address of the registry's record -> subscriber */
	struct list resting[LANES], flights;
	struct lanes lanes;
	size_t busy; /* subscribers that are not idle */
	struct report_stats stats;
	struct log_limit drop_limit;
};

/* The log */

static struct logged_notice *logged_at(const struct reporter *reporter, uint64_t place)
{
	return &reporter->log[place % REPORT_LOG];
}

static void log_cut(struct reporter *reporter, uint64_t first)
{
	for (; reporter->first < first; reporter->first++)
		facts_unref(logged_at(reporter, reporter->first)->facts);
}

static void wake_all(struct reporter *reporter)
{
	for (unsigned lane = 0; lane < LANES; lane++) {
		struct list *link;

		while ((link = list_pop(&reporter->resting[lane]))) {
			struct subscriber *subscriber = container_of(link, struct subscriber, link);

			subscriber->rests = false;
			lanes_wait(&reporter->lanes, subscriber->port, lane, link);
			reporter->busy++;
		}
	}
	loop_defer(&reporter->turn);
}

static void report_note(struct reporter *reporter, const struct logged_notice *logged)
{
	struct logged_notice *place;

	reporter->stats.notices++;
	if (!reporter->by_entry.count)
		return;
	if (reporter->next - reporter->first == REPORT_LOG)
		log_cut(reporter, reporter->first + 1);
	place = logged_at(reporter, reporter->next++);
	*place = *logged;
	facts_ref(place->facts);
	place->number = registry_number(reporter->registry);
	wake_all(reporter);
}

/* Matching */

/* o13-17.1.1: only a subscriber that could get the trap itself gets its report. Every port is a
 * member of the default partition, at least a limited one. So full members of that partition get
 * all reports. */
static bool subscriber_may_hear(const struct endport *subscriber,
				const struct logged_notice *logged)
{
	const struct endport subject = {
		.facts = logged->facts, .guid = logged->guid, .num = logged->num};

	if (logged->p_key)
		return endport_in_partition(subscriber, logged->p_key);
	if (logged->keys_unknown)
		return endport_is_full_member(subscriber, PKEY_DEFAULT_FULL);
	if (!logged->facts)
		return false;
	return subscriber->guid == logged->guid || endports_share(subscriber, &subject);
}

/* Chapter 13.4.8.3, the table of InformInfo: omitted values match everything. A GID takes
 * precedence over LIDs. */
static bool subscription_matches(const struct subscription_entry *entry,
				 const struct logged_notice *logged)
{
	static const uint8_t no_gid[GID_SIZE];
	const struct notice *notice = &logged->notice;

	if (entry->is_generic != notice->is_generic ||
	    (entry->trap_number != INFORM_ANY && entry->trap_number != notice->trap_number) ||
	    (entry->type != INFORM_ANY && entry->type != notice->type) ||
	    (entry->producer_type != INFORM_ANY_PRODUCER &&
	     entry->producer_type != notice->producer_type) ||
	    (logged->security && !entry->trusted))
		return false;
	if (memcmp(entry->gid, no_gid, GID_SIZE) != 0)
		return !memcmp(entry->gid, notice->issuer_gid, GID_SIZE);
	return entry->lid_begin == INFORM_ANY ||
	       (entry->lid_begin <= notice->issuer_lid && notice->issuer_lid <= entry->lid_end);
}

/* The present address of a subscription; false if its port is absent. */
static bool subscriber_address(struct lookup *lookup, const struct subscription_entry *entry,
			       struct endport *port, struct mad_addr *to)
{
	if (!lookup_guid(lookup, entry->subscriber, port) || port->lid == LID_NONE)
		return false;
	*to = (struct mad_addr){.lid = port->lid,
				.qpn = entry->qpn,
				.sl = entry->sl,
				.pkey_index = entry->pkey_index};
	if (entry->lid >= port->lid && entry->lid < port->lid + (1u << port->lmc))
		to->lid = entry->lid; /* the LID of the request */
	return true;
}

/* Sending */

static void report_flight_free(struct flight *flight)
{
	list_del(&flight->link);
	lanes_leave(&flight->reporter->lanes, flight->port, flight->lane);
	free(flight);
}

static void rest(struct reporter *reporter, struct subscriber *subscriber)
{
	subscriber->rests = true;
	list_push(&reporter->resting[subscriber->lane], &subscriber->link);
}

static void wait_again(struct reporter *reporter, struct subscriber *subscriber)
{
	subscriber->flight = NULL;
	lanes_wait(&reporter->lanes, subscriber->port, subscriber->lane, &subscriber->link);
	loop_defer(&reporter->turn);
}

static void subscriber_drop(struct reporter *reporter, struct subscriber *subscriber)
{
	const struct subscription_entry *entry = subscriber->entry;

	reporter->stats.unsubscribed++;
	log_limited(&reporter->drop_limit, LOG_NOTICE, (&(struct log_subject){.lid = entry->lid}),
		    "LID %u did not answer %u reports in a row: its subscription to trap %u "
		    "(QP %u) ends; its program must subscribe again",
		    entry->lid, subscriber->failures, entry->trap_number, entry->qpn);
	registry_drop(reporter->registry, REGISTRY_SUBSCRIPTION, entry);
}

static unsigned timeout_ms(const struct subscriber *subscriber)
{
	unsigned resp_time = subscriber->entry->resp_time;
	unsigned exponent = resp_time < RESP_TIME_MAX ? resp_time : (unsigned)RESP_TIME_MAX;
	unsigned ms = (unsigned)(((uint64_t)RESP_TIME_UNIT_NS << exponent) / 1000000);

	if (!subscriber->attempts)
		return FIRST_TIMEOUT_MS;
	if (ms < TIMEOUT_MIN_MS)
		return TIMEOUT_MIN_MS;
	return ms < TIMEOUT_MAX_MS ? ms : TIMEOUT_MAX_MS;
}

static void subscriber_note_silence(struct subscriber *subscriber, int error)
{
	if (error != -ETIMEDOUT)
		return;
	if (!subscriber->failures++)
		subscriber->silent_us = subscriber->began_us;
}

/* Many notices arrive at once if a part of the fabric fails, and a path may be interrupted for
 * seconds. So a subscription ends only after several failures and some time. */
static bool is_lost(const struct reporter *reporter, const struct subscriber *subscriber)
{
	return subscriber->failures >= REPORT_FAILURES_MAX &&
	       loop_now_us(reporter->loop) - subscriber->silent_us >=
		       REPORT_SILENCE_S * UINT64_C(1000000);
}

/* The status of the answer does not matter: the subscriber has the report. */
static void report_done(void *arg, const struct txn_result *result)
{
	struct flight *flight = arg;
	struct reporter *reporter = flight->reporter;
	struct subscriber *subscriber = flight->subscriber;
	uint64_t place = flight->place;

	report_flight_free(flight);
	loop_defer(&reporter->turn);
	if (!subscriber)
		return;
	if (!result->error) {
		reporter->stats.answered++;
		subscriber->attempts = subscriber->failures = 0;
		subscriber->lane = QUICK;
	} else if (++subscriber->attempts < REPORT_ATTEMPTS) {
		reporter->stats.retried++;
		subscriber->place = place;
		subscriber->lane = SLOW;
	} else {
		reporter->stats.failed++;
		subscriber->attempts = 0;
		subscriber_note_silence(subscriber, result->error);
	}
	wait_again(reporter, subscriber);
	if (is_lost(reporter, subscriber))
		subscriber_drop(reporter, subscriber);
}

/* The notice before the position of the subscriber. */
static void send_report(struct reporter *reporter, struct subscriber *subscriber,
			const struct mad_addr *to, const struct notice *notice)
{
	const struct mad_header header = {
		.base_version = 1,
		.mgmt_class = CLASS_SUBN_ADM,
		.class_version = 2,
		.method = METHOD_REPORT,
		.attr_id = ATTR_NOTICE,
	};
	struct flight *flight = mem_zalloc(sizeof(*flight));
	uint8_t mad[MAD_SIZE] = {0};

	flight->reporter = reporter;
	flight->subscriber = subscriber;
	flight->port = subscriber->port;
	flight->lane = subscriber->lane;
	flight->place = subscriber->place - 1;
	header_encode(&header, mad);
	format_encode(&notice_report_format, notice, mad + SUBN_ADM_HEADER_SIZE);
	list_init(&flight->link);
	list_push(&reporter->flights, &flight->link);
	lanes_enter(&reporter->lanes, flight->port, flight->lane);
	subscriber->flight = flight;
	if (!subscriber->attempts) {
		subscriber->began_us = loop_now_us(reporter->loop);
		reporter->stats.sent++;
	}
	txn_start(reporter->txns, to, mad, sizeof(mad), timeout_ms(subscriber), report_done,
		  flight);
}

/* Turns */

enum outcome { CAUGHT_UP, SENT, NOT_DURABLE };

/* Searches from the position of the subscriber; comparisons: the number made. */
static enum outcome subscriber_look(struct reporter *reporter, struct subscriber *subscriber,
				    unsigned *comparisons)
{
	struct mad_addr to;
	struct endport port;

	++*comparisons;
	if (subscriber->place < reporter->first) {
		reporter->stats.lost += reporter->first - subscriber->place;
		subscriber->place = reporter->first;
		subscriber->attempts = 0;
	}
	if (!subscriber_address(reporter->lookup(reporter->lookup_ctx), subscriber->entry, &port,
				&to)) {
		subscriber->place = reporter->next;
		subscriber->attempts = 0;
		return CAUGHT_UP;
	}
	while (subscriber->place < reporter->next) {
		const struct logged_notice *logged = logged_at(reporter, subscriber->place);

		if (!registry_durable(reporter->registry, logged->number))
			return NOT_DURABLE;
		subscriber->place++;
		++*comparisons;
		if (!subscription_matches(subscriber->entry, logged) ||
		    !subscriber_may_hear(&port, logged)) {
			subscriber->attempts = 0;
			continue;
		}
		send_report(reporter, subscriber, &to, &logged->notice);
		return SENT;
	}
	return CAUGHT_UP;
}

/* Runs until no waiting subscription can have a place, or the turn is long enough. False: waits
 * for the registry. */
static bool report_pump(struct reporter *reporter, enum lane lane, unsigned *comparisons)
{
	struct list *link;

	while (*comparisons < TURN_COMPARISONS && (link = lanes_next(&reporter->lanes, lane))) {
		struct subscriber *subscriber = container_of(link, struct subscriber, link);

		switch (subscriber_look(reporter, subscriber, comparisons)) {
		case SENT:
			break;
		case CAUGHT_UP:
			rest(reporter, subscriber);
			reporter->busy--;
			break;
		case NOT_DURABLE:
			lanes_wait_first(&reporter->lanes, subscriber->port, lane, link);
			return false;
		}
	}
	return true;
}

static void report_durable(void *ctx)
{
	struct reporter *reporter = ctx;

	loop_defer(&reporter->turn);
}

static void report_turn(void *arg)
{
	struct reporter *reporter = arg;
	unsigned comparisons = 0;
	bool goes_on = true;

	if (!*reporter->view)
		return;
	for (unsigned lane = 0; lane < LANES; lane++)
		goes_on &= report_pump(reporter, lane, &comparisons);
	if (!reporter->busy)
		log_cut(reporter, reporter->next);
	else if (comparisons >= TURN_COMPARISONS)
		loop_defer(&reporter->turn);
	else if (!goes_on && list_empty(&reporter->durable.link))
		registry_wait(reporter->registry, &reporter->durable);
}

/* Subscriptions */

static void subscriber_add(struct reporter *reporter, const struct subscription_entry *entry)
{
	struct subscriber *subscriber = mem_zalloc(sizeof(*subscriber));

	subscriber->entry = registry_ref(entry);
	subscriber->port = lanes_port(&reporter->lanes, entry->subscriber);
	subscriber->place = reporter->next;
	list_init(&subscriber->link);
	rest(reporter, subscriber);
	map_put(&reporter->by_entry, (uintptr_t)entry, subscriber);
}

static void subscriber_free(struct reporter *reporter, struct subscriber *subscriber)
{
	list_del(&subscriber->link);
	if (subscriber->flight)
		subscriber->flight->subscriber = NULL;
	lane_port_put(&reporter->lanes, subscriber->port);
	map_remove(&reporter->by_entry, (uintptr_t)subscriber->entry);
	registry_unref(subscriber->entry);
	free(subscriber);
}

static void subscription_changed(struct reporter *reporter, const struct registry_change *change)
{
	struct subscriber *subscriber =
		change->before ? map_get(&reporter->by_entry, (uintptr_t)change->before) : NULL;

	if (!subscriber) {
		if (change->after)
			subscriber_add(reporter, change->after);
		return;
	}
	if (!change->after) {
		reporter->busy -= !subscriber->rests;
		subscriber_free(reporter, subscriber);
		return;
	}
	map_remove(&reporter->by_entry, (uintptr_t)change->before);
	registry_unref(subscriber->entry);
	subscriber->entry = registry_ref(change->after);
	map_put(&reporter->by_entry, (uintptr_t)change->after, subscriber);
}

/* Sources of notices */

static void tell_own(struct reporter *reporter, uint16_t number, const uint8_t gid[GID_SIZE],
		     struct logged_notice *logged)
{
	const struct view_sm *own = &(*reporter->view)->sms[0];
	union notice_details details;

	memcpy(details.gid.gid, gid, GID_SIZE);
	notice_fill(&logged->notice, number, NOTICE_PRODUCER_CLASS_MANAGER, own->lid, &details);
	be64_store(logged->notice.issuer_gid, reporter->subnet_prefix);
	be64_store(logged->notice.issuer_gid + 8, own->info.guid);
	report_note(reporter, logged);
}

static void tell_port(struct reporter *reporter, const struct event *event)
{
	struct logged_notice logged = {.facts = event->facts,
				       .keys_unknown = !event->facts,
				       .guid = event->guid,
				       .num = event->num};
	uint8_t gid[GID_SIZE];

	be64_store(gid, reporter->subnet_prefix);
	be64_store(gid + 8, event->guid);
	tell_own(reporter,
		 event->kind == EVENT_PORT_IN ? TRAP_GID_IN_SERVICE : TRAP_GID_OUT_OF_SERVICE, gid,
		 &logged);
}

static void tell_trap(struct reporter *reporter, const struct event *event)
{
	const struct notice *notice = event->notice;
	const struct logged_notice logged = {
		.notice = *notice,
		.security =
			notice_is_security(notice->is_generic, notice->type, notice->trap_number),
		.facts = event->facts,
		.guid = event->guid,
		.num = event->num,
	};

	report_note(reporter, &logged);
}

/* After the role MASTER ends, no more reports are sent, and no answers are awaited. */
static void fall_silent(struct reporter *reporter)
{
	struct list waiting, *link;

	list_init(&waiting);
	for (unsigned lane = 0; lane < LANES; lane++)
		lanes_drain(&reporter->lanes, lane, &waiting);
	while ((link = list_pop(&waiting)))
		rest(reporter, container_of(link, struct subscriber, link));
	list_for_each (item, &reporter->flights) {
		struct flight *flight = container_of(item, struct flight, link);

		if (!flight->subscriber)
			continue;
		flight->subscriber->flight = NULL;
		rest(reporter, flight->subscriber);
		flight->subscriber = NULL;
	}
	reporter->busy = 0;
	log_cut(reporter, reporter->next);
}

static void report_event(void *ctx, const struct event *event)
{
	struct reporter *reporter = ctx;

	if (event->kind == EVENT_NOT_MASTER)
		fall_silent(reporter);
	if (!*reporter->view)
		return;
	if (event->kind == EVENT_PORT_IN || event->kind == EVENT_PORT_OUT)
		tell_port(reporter, event);
	else if (event->kind == EVENT_TRAP)
		tell_trap(reporter, event);
}

static void report_registry_changed(void *ctx, const struct registry_change *change)
{
	struct reporter *reporter = ctx;
	const struct group_entry *group = change->after ? change->after : change->before;
	struct logged_notice logged = {0};

	if (change->kind == REGISTRY_SUBSCRIPTION)
		subscription_changed(reporter, change);
	if (change->kind != REGISTRY_GROUP || (change->before && change->after) || !*reporter->view)
		return;
	logged.p_key = group->p_key;
	tell_own(reporter, change->after ? TRAP_MC_GROUP_CREATED : TRAP_MC_GROUP_DELETED,
		 group->mgid, &logged);
}

struct reporter *reporter_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
			      struct registry *registry, struct event_hub *events,
			      uint64_t subnet_prefix, struct lookup *(*lookup)(void *ctx),
			      void *ctx)
{
	struct reporter *reporter = mem_zalloc(sizeof(*reporter));
	const struct subscription_entry *entry;

	*reporter =
		(struct reporter){.loop = loop,
				  .txns = txns,
				  .view = view,
				  .lookup = lookup,
				  .lookup_ctx = ctx,
				  .registry = registry,
				  .subnet_prefix = subnet_prefix,
				  .events = {.happened = report_event, .ctx = reporter},
				  .changes = {.changed = report_registry_changed, .ctx = reporter},
				  .durable = {.durable = report_durable, .ctx = reporter},
				  .drop_limit = {.burst = 10, .interval_us = 1000000}};
	list_init(&reporter->durable.link);
	list_init(&reporter->flights);
	for (unsigned lane = 0; lane < LANES; lane++)
		list_init(&reporter->resting[lane]);
	lanes_init(&reporter->lanes);
	map_init(&reporter->by_entry);
	reporter->log = mem_array(REPORT_LOG, sizeof(*reporter->log));
	loop_deferred_init(&reporter->turn, loop, "reports", report_turn, reporter);
	for (entry = registry_first(registry, REGISTRY_SUBSCRIPTION, -1, NULL); entry;
	     entry = registry_next(registry, REGISTRY_SUBSCRIPTION, -1, entry))
		subscriber_add(reporter, entry);
	event_read(events, &reporter->events);
	registry_read(registry, &reporter->changes);
	return reporter;
}

void reporter_free(struct reporter *reporter)
{
	if (!reporter)
		return;
	event_unread(&reporter->events);
	registry_unread(&reporter->changes);
	registry_wait_cancel(&reporter->durable);
	loop_defer_cancel(&reporter->turn);
	fall_silent(reporter);
	list_for_each (item, &reporter->flights) {
		struct flight *flight = container_of(item, struct flight, link);

		txn_cancel(reporter->txns, report_done, flight);
		report_flight_free(flight);
	}
	for (unsigned lane = 0; lane < LANES; lane++)
		list_for_each (item, &reporter->resting[lane])
			subscriber_free(reporter, container_of(item, struct subscriber, link));
	lanes_done(&reporter->lanes);
	map_done(&reporter->by_entry);
	free(reporter->log);
	free(reporter);
}

const struct report_stats *reporter_stats(const struct reporter *reporter)
{
	return &reporter->stats;
}

size_t reporter_waiting(const struct reporter *reporter)
{
	return reporter->busy;
}
