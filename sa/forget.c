/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a forgotten port had registered is dropped: sa/forget.h. */
#include "sa/forget.h"

#include "lib/mem.h"

/* Drops all of a kind that agree with key in an index. */
static void drop_all(struct registry *registry, enum registry_kind kind, int index, const void *key)
{
	const void *record;

	while ((record = registry_first(registry, kind, index, key)))
		registry_drop(registry, kind, record);
}

static void drop_of_guid(struct registry *registry, guid_t guid)
{
	const struct service_entry service = {.gid_guid = guid};
	const struct subscription_entry subscription = {.subscriber = guid};

	drop_all(registry, REGISTRY_SERVICE, SERVICE_BY_PORT, &service);
	drop_all(registry, REGISTRY_SUBSCRIPTION, SUBSCRIPTION_BY_PORT, &subscription);
}

static void happened(void *ctx, const struct event *event)
{
	struct registry *registry = ((struct forget *)ctx)->registry;
	const struct alias_entry key = {.port_guid = event->guid}, *alias;

	if (event->kind != EVENT_PORT_FORGOTTEN)
		return;
	drop_of_guid(registry, event->guid);
	for (alias = registry_first(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key); alias;
	     alias = registry_next(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		drop_of_guid(registry, alias->guid);
	drop_all(registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key);
}

void forget_begin(struct forget *forget, struct registry *registry, struct event_hub *events)
{
	*forget = (struct forget){.reader = {.happened = happened, .ctx = forget},
				  .registry = registry};
	event_read(events, &forget->reader);
}

void forget_end(struct forget *forget)
{
	event_unread(&forget->reader);
}
