/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Drops registrations that have lost their owner. */
#include "sa/forget.h"

#include "lib/mem.h"
#include "sa/groups.h"

/* Drops all records of a kind that match key in an index. */
static void drop_all(struct registry *registry, enum registry_kind kind, int index, const void *key)
{
	const void *record;

	while ((record = registry_first(registry, kind, index, key)))
		registry_drop(registry, kind, record);
}

void forget_guid(struct registry *registry, struct groups *groups, guid_t guid)
{
	const struct service_entry service = {.gid_guid = guid};
	const struct subscription_entry subscription = {.subscriber = guid};

	groups_forget_port(groups, guid);
	drop_all(registry, REGISTRY_SERVICE, SERVICE_BY_PORT, &service);
	drop_all(registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT, &subscription);
}

/* Whether the partitions in force give a port this P_Key, full or limited. */
static bool event_has_key(const void *ctx, pkey_t p_key)
{
	const struct event *event = ctx;

	for (unsigned i = 0; i < event->num_p_keys; i++)
		if (!((event->p_keys[i] ^ p_key) & ~PKEY_FULL_MEMBER))
			return true;
	return false;
}

/* Reports use the P_Key of the subscription request. */
static bool may_subscribe(const struct event *event, const struct subscription_entry *entry)
{
	const struct pkey_list *own = event->own_p_keys;

	return !own || entry->pkey_index >= own->count ||
	       event_has_key(event, own->key[entry->pkey_index]);
}

/* Drops its registrations in partitions that it has left. */
static void drop_without_key(struct forget *forget, const struct event *event, guid_t guid)
{
	struct registry *registry = forget->registry;
	const struct service_entry service_key = {.gid_guid = guid}, *service;
	const struct subscription_entry subscription_key = {.subscriber = guid}, *subscription;
	const void *next;

	groups_leave_unless(forget->groups, guid, event_has_key, event);
	for (service = registry_first(registry, REGISTRY_SERVICE, SERVICE_BY_PORT, &service_key);
	     service; service = next) {
		next = registry_next(registry, REGISTRY_SERVICE, SERVICE_BY_PORT, service);
		if (!event_has_key(event, service->p_key))
			registry_drop(registry, REGISTRY_SERVICE, service);
	}
	for (subscription = registry_first(registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT,
					   &subscription_key);
	     subscription; subscription = next) {
		next = registry_next(registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT,
				     subscription);
		if (!may_subscribe(event, subscription))
			registry_drop(registry, REGISTRY_SUBSCRIPTION, subscription);
	}
}

static void forget_without_pkeys(struct forget *forget, const struct event *event)
{
	const struct alias_entry key = {.port_guid = event->guid}, *alias;

	drop_without_key(forget, event, event->guid);
	for (alias = registry_first(forget->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key); alias;
	     alias = registry_next(forget->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		drop_without_key(forget, event, alias->guid);
}

static void forget_event(void *ctx, const struct event *event)
{
	struct forget *forget = ctx;
	struct registry *registry = forget->registry;
	const struct alias_entry key = {.port_guid = event->guid}, *alias;

	if (event->kind == EVENT_PKEYS)
		forget_without_pkeys(forget, event);
	if (event->kind == EVENT_ALIAS && event->alias->change == ALIAS_REMOVED)
		forget_guid(registry, forget->groups, event->alias->entry->guid);
	if (event->kind != EVENT_PORT_FORGOTTEN)
		return;
	forget_guid(registry, forget->groups, event->guid);
	for (alias = registry_first(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key); alias;
	     alias = registry_next(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		forget_guid(registry, forget->groups, alias->guid);
	drop_all(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key);
}

void forget_begin(struct forget *forget, struct registry *registry, struct groups *groups,
		  struct event_hub *events)
{
	*forget = (struct forget){.reader = {.happened = forget_event, .ctx = forget},
				  .registry = registry,
				  .groups = groups};
	event_read(events, &forget->reader);
}

void forget_end(struct forget *forget)
{
	event_unread(&forget->reader);
}
