/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A hash table of counters; keys with the same hash are chained. */
#include "sa/counts.h"

#include <stdlib.h>

#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "sa/mlids.h"
#include "sa/record.h"

struct key { /* a GUID, or both halves of an MGID */
	enum count what;
	uint64_t high, low;
};

struct counted {
	struct counted *next; /* with the same hash */
	struct key key;
	uint32_t count;
};

struct counts {
	struct registry_reader reader;
	struct map counted; /* key_hash() -> the first with this hash */
	struct mlids *mlids;
};

static bool keeps_group(const void *member)
{
	return ((const struct member_entry *)member)->join_state & JOIN_KEEPS_GROUP;
}

/* Which records count, and which member is the key. */
static const struct row {
	enum count what;
	enum registry_kind kind;
	size_t offset;
	bool (*counts)(const void *record); /* NULL: all */
} rows[] = {
	{COUNT_REGISTRATIONS, REGISTRY_MEMBER, offsetof(struct member_entry, owner), NULL},
	{COUNT_REGISTRATIONS, REGISTRY_SERVICE, offsetof(struct service_entry, owner), NULL},
	{COUNT_REGISTRATIONS, REGISTRY_SUBSCRIPTION,
	 offsetof(struct subscription_entry, subscriber), NULL},
	{COUNT_REGISTRATIONS, REGISTRY_ALIAS, offsetof(struct alias_entry, port_guid), NULL},
	{COUNT_GROUPS_MADE, REGISTRY_GROUP, offsetof(struct group_entry, owner), NULL},
	{COUNT_MEMBERS, REGISTRY_MEMBER, offsetof(struct member_entry, mgid), NULL},
	{COUNT_FULL_MEMBERS, REGISTRY_MEMBER, offsetof(struct member_entry, mgid), keeps_group},
};

static struct key key_of(enum count what, const void *key)
{
	if (what == COUNT_MEMBERS || what == COUNT_FULL_MEMBERS)
		return (struct key){what, be64_load(key), be64_load((const uint8_t *)key + 8)};
	return (struct key){what, 0, *(const guid_t *)key};
}

static uint64_t key_hash(struct key key)
{
	return key.high * UINT64_C(0x9E3779B97F4A7C15) ^ key.low ^ (uint64_t)key.what << 56;
}

static struct counted *counted_find(const struct counts *counts, struct key key)
{
	struct counted *counted = map_get(&counts->counted, key_hash(key));

	while (counted && !(counted->key.what == key.what && counted->key.high == key.high &&
			    counted->key.low == key.low))
		counted = counted->next;
	return counted;
}

static void counted_add(struct counts *counts, struct key key)
{
	struct counted *counted = counted_find(counts, key);

	if (!counted) {
		counted = mem_zalloc(sizeof(*counted));
		counted->key = key;
		counted->next = map_put(&counts->counted, key_hash(key), counted);
	}
	counted->count++;
}

static void counted_subtract(struct counts *counts, struct key key)
{
	struct counted *gone = counted_find(counts, key), *before;

	if (!gone || --gone->count)
		return;
	before = map_get(&counts->counted, key_hash(key));
	if (before != gone) {
		while (before->next != gone)
			before = before->next;
		before->next = gone->next;
	} else if (gone->next) {
		map_put(&counts->counted, key_hash(key), gone->next);
	} else {
		map_remove(&counts->counted, key_hash(key));
	}
	free(gone);
}

static void counts_record(struct counts *counts, enum registry_kind kind, const void *record,
			  bool more)
{
	if (record && kind == REGISTRY_GROUP)
		mlids_count(counts->mlids, record, more);
	for (const struct row *row = rows; record && row < rows + ARRAY_SIZE(rows); row++) {
		struct key key;

		if (row->kind != kind || (row->counts && !row->counts(record)))
			continue;
		key = key_of(row->what, (const uint8_t *)record + row->offset);
		if (more)
			counted_add(counts, key);
		else
			counted_subtract(counts, key);
	}
}

static void counts_changed(void *ctx, const struct registry_change *change)
{
	counts_record(ctx, change->kind, change->after, true);
	counts_record(ctx, change->kind, change->before, false);
}

struct counts *counts_new(struct registry *registry, unsigned snm_pool)
{
	struct counts *counts = mem_zalloc(sizeof(*counts));

	counts->mlids = mlids_new(registry, snm_pool);
	map_init(&counts->counted);
	for (enum registry_kind kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++)
		for (const void *record = registry_first(registry, kind, -1, NULL); record;
		     record = registry_next(registry, kind, -1, record))
			counts_record(counts, kind, record, true);
	counts->reader = (struct registry_reader){.changed = counts_changed, .ctx = counts};
	registry_read(registry, &counts->reader);
	return counts;
}

void counts_free(struct counts *counts)
{
	struct counted *counted, *next;
	size_t at = 0;

	if (!counts)
		return;
	registry_unread(&counts->reader);
	while ((counted = map_next(&counts->counted, &at))) {
		for (; counted; counted = next) {
			next = counted->next;
			free(counted);
		}
	}
	map_done(&counts->counted);
	mlids_free(counts->mlids);
	free(counts);
}

uint32_t counts_of(const struct counts *counts, enum count what, const void *key)
{
	const struct counted *counted = counted_find(counts, key_of(what, key));

	return counted ? counted->count : 0;
}

struct mlids *counts_mlids(const struct counts *counts)
{
	return counts->mlids;
}
