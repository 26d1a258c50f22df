/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Removes aliases whose GUIDs belong to other ports. */
#include "include/message_id.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "sa/alias.h"

struct log_subject alias_subject(const struct endport *port)
{
	return (struct log_subject){
		.message_id = MESSAGE_ALIAS,
		.node_guid = port->facts ? port->facts->info.node_guid : 0,
		.node_desc = port->facts ? port->facts->description : NULL,
		.port = port->num,
		.lid = port->lid,
	};
}

/* False, and out unchanged, if no port in the view has this GUID as its own. */
static bool alias_find_port(const struct aliases *aliases, guid_t port_guid, struct endport *out)
{
	const struct snapshot *topology = *aliases->view ? (*aliases->view)->topology : NULL;
	int32_t end = topology ? snapshot_find_end(topology, port_guid) : -1;
	int32_t sw = topology ? snapshot_find_switch(topology, port_guid) : -1;

	if (end >= 0)
		*out = endport_at(topology, topology->num_switches + (uint32_t)end);
	else if (sw >= 0)
		*out = endport_at(topology, (uint32_t)sw);
	return end >= 0 || sw >= 0;
}

enum alias_grant alias_grant_of(const struct aliases *aliases, const struct alias_entry *alias)
{
	bool asks = !alias->granted && aliases->claim;

	return asks && aliases->claim(aliases->claim_ctx, alias->port_guid, alias->guid) ==
				       ALIAS_LISTED
		       ? ALIAS_BY_LIST
		       : alias->granted;
}

void alias_raise(const struct aliases *aliases, const struct alias_entry *alias,
		 enum alias_change change)
{
	const struct alias_event what = {change, alias, alias_grant_of(aliases, alias)};
	struct endport port = {.lid = LID_NONE};

	alias_find_port(aliases, alias->port_guid, &port);
	event_raise(aliases->events, &(struct event){.kind = EVENT_ALIAS,
						     .guid = alias->port_guid,
						     .lid = port.lid,
						     /* which readers may refer to */
						     .facts = (struct node_facts *)port.facts,
						     .num = port.num,
						     .alias = &what});
}

void alias_end(const struct aliases *aliases, const struct alias_entry *alias,
	       enum alias_change change)
{
	const struct alias_entry entry = *alias;

	registry_drop(aliases->registry, REGISTRY_ALIAS, &entry);
	alias_raise(aliases, &entry, change);
}

static bool is_misplaced(const struct aliases *aliases, const struct alias_entry *alias)
{
	struct endport owner;

	if (alias_find_port(aliases, alias->guid, &owner))
		return true;
	return alias_is_usurped(aliases->registry, alias) &&
	       alias_grant_of(aliases, alias) == ALIAS_NOT_GRANTED;
}

/* The services that the port itself has registered under this GUID. Others may be those of the
 * true owner. */
static void drop_services(const struct aliases *aliases, const struct alias_entry *alias)
{
	const struct service_entry key = {.gid_guid = alias->guid}, *service;
	const void *next;

	for (service = registry_first(aliases->registry, REGISTRY_SERVICE, SERVICE_BY_PORT, &key);
	     service; service = next) {
		next = registry_next(aliases->registry, REGISTRY_SERVICE, SERVICE_BY_PORT, service);
		if (service->owner == alias->port_guid)
			registry_drop(aliases->registry, REGISTRY_SERVICE, service);
	}
}

static void take_away(struct aliases *aliases, const struct alias_entry *alias)
{
	struct endport port = {.lid = LID_NONE};
	char guid[GUID_TEXT], port_guid[GUID_TEXT];
	struct log_subject subject;

	alias_find_port(aliases, alias->port_guid, &port);
	subject = alias_subject(&port);
	subject.message_id = MESSAGE_ALIAS_MISPLACED;
	log_limited(
		&aliases->review_limit, LOG_WARNING, &subject,
		"\"%s\" port %u (GUID %s, LID %u) loses the alias GUID %s at index %u: it is the "
		"GUID of another port",
		port.facts ? port.facts->description : "", port.num,
		guid_text(alias->port_guid, port_guid), port.lid, guid_text(alias->guid, guid),
		alias->index);
	drop_services(aliases, alias);
	alias_end(aliases, alias, ALIAS_MISPLACED);
}

static void review(void *arg)
{
	struct aliases *aliases = arg;
	const struct alias_entry *alias, *next;

	if (!*aliases->view || registry_follows(aliases->registry) ||
	    registry_is_together(aliases->registry))
		return;
	for (alias = registry_first(aliases->registry, REGISTRY_ALIAS, -1, NULL); alias;
	     alias = next) {
		next = registry_next(aliases->registry, REGISTRY_ALIAS, -1, alias);
		if (is_misplaced(aliases, alias))
			take_away(aliases, alias);
	}
}

void aliases_review(struct aliases *aliases)
{
	loop_defer(&aliases->review);
}

static void aliases_event(void *ctx, const struct event *event)
{
	struct aliases *aliases = ctx;
	const struct alias_entry key = {.guid = event->guid};

	if (event->kind == EVENT_MASTER ||
	    (event->kind == EVENT_PORT_IN &&
	     registry_first(aliases->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key)))
		aliases_review(aliases);
}

static void aliases_registry_replaced(void *ctx)
{
	aliases_review(ctx);
}

void aliases_begin(struct aliases *aliases, struct loop *loop, struct registry *registry,
		   struct event_hub *events, struct view *const *view, struct sa_stats *stats)
{
	*aliases = (struct aliases){
		.registry = registry,
		.reader = {.whole = aliases_registry_replaced, .ctx = aliases},
		.events = events,
		.happened = {.happened = aliases_event, .ctx = aliases},
		.view = view,
		.stats = stats,
		.limit = {.burst = 5, .interval_us = 10000000},
		.review_limit = {.burst = 5, .interval_us = 10000000},
	};
	loop_deferred_init(&aliases->review, loop, "alias GUIDs are reviewed", review, aliases);
	registry_read(registry, &aliases->reader);
	event_read(events, &aliases->happened);
}

void aliases_end(struct aliases *aliases)
{
	loop_defer_cancel(&aliases->review);
	registry_unread(&aliases->reader);
	event_unread(&aliases->happened);
}
