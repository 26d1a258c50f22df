/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counting registrations by port (limits.h): a reader of the registry. */
#include "sa/limits.h"

#include <stdlib.h>

#include "lib/map.h"
#include "lib/mem.h"

/* Where a kind's record names its port; the other kinds are not ports'. A service outlives the
 * alias that it was offered under, so it counts for who registered it. */
static const struct {
	enum registry_kind kind;
	size_t guid_offset;
} owned[] = {
	{REGISTRY_MEMBER, offsetof(struct member_entry, port_guid)},
	{REGISTRY_SERVICE, offsetof(struct service_entry, owner)},
	{REGISTRY_SUBSCRIPTION, offsetof(struct subscription_entry, subscriber)},
	{REGISTRY_ALIAS, offsetof(struct alias_entry, port_guid)},
};

struct limits {
	struct registry *registry;
	struct registry_reader reader;
	struct map counts; /* GUID of a port, or an alias -> how many: map_count() */
};

/* Aliases are summed up when it is asked: they come and go while what names them stays. */
size_t limits_count(const struct limits *limits, guid_t guid)
{
	struct alias_entry key = {.guid = guid};
	const struct alias_entry *alias =
		registry_first(limits->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
	size_t count;

	key.port_guid = alias ? alias->port_guid : guid;
	count = map_counted(&limits->counts, key.port_guid);
	for (alias = registry_first(limits->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key); alias;
	     alias = registry_next(limits->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		count += map_counted(&limits->counts, alias->guid);
	return count;
}

static void count(struct limits *limits, const void *record, size_t guid_offset, int more)
{
	if (record)
		map_count(&limits->counts, *(const guid_t *)((const uint8_t *)record + guid_offset),
			  more);
}

static void changed(void *ctx, const struct registry_change *change)
{
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		if (owned[i].kind != change->kind)
			continue;
		count(ctx, change->after, owned[i].guid_offset, 1);
		count(ctx, change->before, owned[i].guid_offset, -1);
	}
}

struct limits *limits_new(struct registry *registry)
{
	struct limits *limits = mem_zalloc(sizeof(*limits));

	limits->registry = registry;
	map_init(&limits->counts);
	limits->reader = (struct registry_reader){.changed = changed, .ctx = limits};
	registry_read(registry, &limits->reader);
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		for (const void *at = registry_first(registry, owned[i].kind, -1, NULL); at;
		     at = registry_next(registry, owned[i].kind, -1, at))
			count(limits, at, owned[i].guid_offset, 1);
	return limits;
}

void limits_free(struct limits *limits)
{
	if (!limits)
		return;
	registry_unread(&limits->reader);
	map_done(&limits->counts);
	free(limits);
}
