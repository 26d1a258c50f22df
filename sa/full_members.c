/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A count for each MGID that has any, chained where two of these have one hash (keepers.h). */
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
	uint32_t keepers;
};

struct keepers {
	struct registry *registry;
	struct registry_reader reader;
	struct map groups; /* hash of the MGID -> struct kept */
};

static uint64_t mgid_hash(const uint8_t mgid[GID_SIZE])
{
	return be64_load(mgid) * UINT64_C(0x9E3779B97F4A7C15) ^ be64_load(mgid + 8);
}

static struct kept *full_members_find(const struct keepers *keepers, const uint8_t mgid[GID_SIZE])
{
	struct kept *kept = map_get(&keepers->groups, mgid_hash(mgid));

	while (kept && memcmp(kept->mgid, mgid, GID_SIZE) != 0)
		kept = kept->next;
	return kept;
}

static void more(struct keepers *keepers, const uint8_t mgid[GID_SIZE])
{
	struct kept *kept = full_members_find(keepers, mgid);

	if (!kept) {
		kept = mem_zalloc(sizeof(*kept));
		memcpy(kept->mgid, mgid, GID_SIZE);
		kept->next = map_put(&keepers->groups, mgid_hash(mgid), kept);
	}
	kept->keepers++;
}

static void fewer(struct keepers *keepers, const uint8_t mgid[GID_SIZE])
{
	struct kept *gone = full_members_find(keepers, mgid), *first;

	if (!gone || --gone->keepers)
		return;
	first = map_get(&keepers->groups, mgid_hash(mgid));
	if (first == gone) {
		first = gone->next;
	} else {
		struct kept *before = first;

		while (before->next != gone)
			before = before->next;
		before->next = gone->next;
	}
	if (first)
		map_put(&keepers->groups, mgid_hash(mgid), first);
	else
		map_remove(&keepers->groups, mgid_hash(mgid));
	free(gone);
}

static bool keeps(const struct member_entry *member)
{
	return member && member->join_state & JOIN_KEEPS_GROUP;
}

static void full_members_changed(void *ctx, const struct registry_change *change)
{
	const struct member_entry *before = change->before, *after = change->after;

	if (change->kind != REGISTRY_MEMBER || keeps(before) == keeps(after))
		return;
	if (keeps(after))
		more(ctx, after->mgid);
	else
		fewer(ctx, before->mgid);
}

struct keepers *keepers_new(struct registry *registry)
{
	struct keepers *keepers = mem_zalloc(sizeof(*keepers));

	keepers->registry = registry;
	keepers->reader = (struct registry_reader){.changed = full_members_changed, .ctx = keepers};
	map_init(&keepers->groups);
	for (const struct member_entry *member =
		     registry_first(registry, REGISTRY_MEMBER, -1, NULL);
	     member; member = registry_next(registry, REGISTRY_MEMBER, -1, member))
		if (keeps(member))
			more(keepers, member->mgid);
	registry_read(registry, &keepers->reader);
	return keepers;
}

void keepers_free(struct keepers *keepers)
{
	struct kept *kept, *next;
	size_t at = 0;

	if (!keepers)
		return;
	registry_unread(&keepers->reader);
	while ((kept = map_next(&keepers->groups, &at))) {
		for (; kept; kept = next) {
			next = kept->next;
			free(kept);
		}
	}
	map_done(&keepers->groups);
	free(keepers);
}

uint32_t keepers_of(const struct keepers *keepers, const uint8_t mgid[GID_SIZE])
{
	const struct kept *kept = full_members_find(keepers, mgid);

	return kept ? kept->keepers : 0;
}
