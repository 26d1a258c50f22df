/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a forgotten port had registered is dropped: sa/forget.h. */
#include "sa/forget.h"

#include "lib/mem.h"
#include "sa/groups.h"

/* Drops all of a kind that agree with key in an index. */
static void drop_all(struct registry *registry, enum registry_kind kind, int index, const void *key)
{
	const void *record;

	while ((record = registry_first(registry, kind, index, key)))
		registry_drop(registry, kind, record);
}

static void drop_of_guid(struct forget *forget, guid_t guid)
{
	const struct service_entry service = {.gid_guid = guid};
	const struct subscription_entry subscription = {.subscriber = guid};

	groups_forget_port(forget->groups, guid);
	drop_all(forget->registry, REGISTRY_SERVICE, SERVICE_BY_PORT, &service);
	drop_all(forget->registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT, &subscription);
}

static void happened(void *ctx, const struct event *event)
{
	struct forget *forget = ctx;
	struct registry *registry = forget->registry;
	const struct alias_entry key = {.port_guid = event->guid}, *alias;

	if (event->kind != EVENT_PORT_FORGOTTEN)
		return;
	drop_of_guid(forget, event->guid);
	for (alias = registry_first(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key); alias;
	     alias = registry_next(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		drop_of_guid(forget, alias->guid);
	drop_all(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key);
}

void forget_begin(struct forget *forget, struct registry *registry, struct groups *groups,
		  struct event_hub *events)
{
	*forget = (struct forget){.reader = {.happened = happened, .ctx = forget},
				  .registry = registry,
				  .groups = groups};
	event_read(events, &forget->reader);
}

void forget_end(struct forget *forget)
{
	event_unread(&forget->reader);
}
