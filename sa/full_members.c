/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A count for each MGID that has any, chained where two of these have one hash (full_members.h). */
#include "sa/full_members.h"

#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "sa/record.h"

struct kept {
	struct kept *next; /* with the same hash */
	uint8_t mgid[GID_SIZE];
	uint32_t count;
};

struct full_members {
	struct registry *registry;
	struct registry_reader reader;
	struct map groups; /* hash of the MGID -> struct kept */
};

static uint64_t mgid_hash(const uint8_t mgid[GID_SIZE])
{
	return be64_load(mgid) * UINT64_C(0x9E3779B97F4A7C15) ^ be64_load(mgid + 8);
}

static struct kept *full_members_find(const struct full_members *full_members,
				      const uint8_t mgid[GID_SIZE])
{
	struct kept *kept = map_get(&full_members->groups, mgid_hash(mgid));

	while (kept && memcmp(kept->mgid, mgid, GID_SIZE) != 0)
		kept = kept->next;
	return kept;
}

static void more(struct full_members *full_members, const uint8_t mgid[GID_SIZE])
{
	struct kept *kept = full_members_find(full_members, mgid);

	if (!kept) {
		kept = mem_zalloc(sizeof(*kept));
		memcpy(kept->mgid, mgid, GID_SIZE);
		kept->next = map_put(&full_members->groups, mgid_hash(mgid), kept);
	}
	kept->count++;
}

static void fewer(struct full_members *full_members, const uint8_t mgid[GID_SIZE])
{
	struct kept *gone = full_members_find(full_members, mgid), *first;

	if (!gone || --gone->count)
		return;
	first = map_get(&full_members->groups, mgid_hash(mgid));
	if (first == gone) {
		first = gone->next;
	} else {
		struct kept *before = first;

		while (before->next != gone)
			before = before->next;
		before->next = gone->next;
	}
	if (first)
		map_put(&full_members->groups, mgid_hash(mgid), first);
	else
		map_remove(&full_members->groups, mgid_hash(mgid));
	free(gone);
}

static bool is_full_member(const struct member_entry *member)
{
	return member && member->join_state & JOIN_KEEPS_GROUP;
}

static void full_members_changed(void *ctx, const struct registry_change *change)
{
	const struct member_entry *before = change->before, *after = change->after;

	if (change->kind != REGISTRY_MEMBER || is_full_member(before) == is_full_member(after))
		return;
	if (is_full_member(after))
		more(ctx, after->mgid);
	else
		fewer(ctx, before->mgid);
}

struct full_members *full_members_new(struct registry *registry)
{
	struct full_members *full_members = mem_zalloc(sizeof(*full_members));

	full_members->registry = registry;
	full_members->reader =
		(struct registry_reader){.changed = full_members_changed, .ctx = full_members};
	map_init(&full_members->groups);
	for (const struct member_entry *member =
		     registry_first(registry, REGISTRY_MEMBER, -1, NULL);
	     member; member = registry_next(registry, REGISTRY_MEMBER, -1, member))
		if (is_full_member(member))
			more(full_members, member->mgid);
	registry_read(registry, &full_members->reader);
	return full_members;
}

void full_members_free(struct full_members *full_members)
{
	struct kept *kept, *next;
	size_t at = 0;

	if (!full_members)
		return;
	registry_unread(&full_members->reader);
	while ((kept = map_next(&full_members->groups, &at))) {
		for (; kept; kept = next) {
			next = kept->next;
			free(kept);
		}
	}
	map_done(&full_members->groups);
	free(full_members);
}

uint32_t full_members_of(const struct full_members *full_members, const uint8_t mgid[GID_SIZE])
{
	const struct kept *kept = full_members_find(full_members, mgid);

	return kept ? kept->count : 0;
}
