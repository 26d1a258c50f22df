/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counting registrations by port (limits.h): a reader of the registry. */
#include "sa/limits.h"

#include <stdlib.h>

#include "lib/map.h"
#include "lib/mem.h"

enum counted { REGISTRATIONS, GROUPS, COUNTED };

/* Where a kind's record names the port that it counts for; the other kinds are not ports'. */
static const struct {
	enum registry_kind kind;
	enum counted counted;
	size_t guid_offset;
} owned[] = {
	{REGISTRY_GROUP, GROUPS, offsetof(struct group_entry, owner)},
	{REGISTRY_MEMBER, REGISTRATIONS, offsetof(struct member_entry, owner)},
	{REGISTRY_SERVICE, REGISTRATIONS, offsetof(struct service_entry, owner)},
	{REGISTRY_SUBSCRIPTION, REGISTRATIONS, offsetof(struct subscription_entry, subscriber)},
	{REGISTRY_ALIAS, REGISTRATIONS, offsetof(struct alias_entry, port_guid)},
};

struct limits {
	struct registry_reader reader;
	struct map counts[COUNTED]; /* PortGUID -> how many: map_count() */
};

size_t limits_count(const struct limits *limits, guid_t guid)
{
	return map_counted(&limits->counts[REGISTRATIONS], guid);
}

size_t limits_groups(const struct limits *limits, guid_t guid)
{
	return map_counted(&limits->counts[GROUPS], guid);
}

static void limits_count_record(struct limits *limits, const void *record, size_t row, int more)
{
	if (record)
		map_count(&limits->counts[owned[row].counted],
			  *(const guid_t *)((const uint8_t *)record + owned[row].guid_offset),
			  more);
}

static void limits_changed(void *ctx, const struct registry_change *change)
{
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		if (owned[i].kind != change->kind)
			continue;
		limits_count_record(ctx, change->after, i, 1);
		limits_count_record(ctx, change->before, i, -1);
	}
}

struct limits *limits_new(struct registry *registry)
{
	struct limits *limits = mem_zalloc(sizeof(*limits));

	for (unsigned i = 0; i < COUNTED; i++)
		map_init(&limits->counts[i]);
	limits->reader = (struct registry_reader){.changed = limits_changed, .ctx = limits};
	registry_read(registry, &limits->reader);
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		for (const void *at = registry_first(registry, owned[i].kind, -1, NULL); at;
		     at = registry_next(registry, owned[i].kind, -1, at))
			limits_count_record(limits, at, i, 1);
	return limits;
}

void limits_free(struct limits *limits)
{
	if (!limits)
		return;
	registry_unread(&limits->reader);
	for (unsigned i = 0; i < COUNTED; i++)
		map_done(&limits->counts[i]);
	free(limits);
}
