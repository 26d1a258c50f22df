/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The changes between two partition files, for the user: partitions created, changed and removed.
 * The order of the definitions and their lines do not matter; the order of one partition's rules
 * does, since the later of two rules applies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partitions.h"
#include "lib/buffer.h"
#include "lib/hash.h"
#include "lib/mem.h"

enum { NAMED_MAX = 8, KEY_TEXT = sizeof("0x0000, "), KEYS_SIZE = NAMED_MAX * KEY_TEXT + 32 };

static const struct partition **index_keys(const struct partitions *partitions)
{
	const struct partition **by_key = mem_array(PKEY_DEFAULT_LIMITED + 1, sizeof(*by_key));

	for (uint32_t i = 0; partitions && i < partitions->count; i++)
		by_key[partitions->partitions[i].p_key] = &partitions->partitions[i];
	return by_key;
}

/* A number's bytes, the lowest first: managers on hosts of any byte order compare the digests. */
static void put_number(struct buffer *out, uint64_t number)
{
	for (unsigned i = 0; i < sizeof(number); i++)
		buffer_append(out, &(const char){(char)(number >> 8 * i)}, 1);
}

/* The bytes of all properties of a partition: equal partitions have equal bytes. */
static void put_partition(struct buffer *out, const struct partition *partition)
{
	put_number(out, partition->p_key);
	buffer_append(out, partition->name, strlen(partition->name) + 1);
	put_number(out, partition->index0);
	put_number(out, partition->ipoib);
	put_number(out, partition->num_rules);
	for (uint32_t i = 0; i < partition->num_rules; i++) {
		const struct partition_rule *rule = &partition->rules[i];

		put_number(out, rule->who);
		put_number(out, rule->membership);
		put_number(out, rule->first);
		put_number(out, rule->last);
	}
	put_number(out, partition->num_groups);
	for (uint32_t i = 0; i < partition->num_groups; i++) {
		const struct partition_group *group = &partition->groups[i];

		buffer_append(out, (const char *)group->mgid, GID_SIZE);
		put_number(out, group->mtu);
		put_number(out, group->rate);
		put_number(out, group->sl);
		put_number(out, group->tclass);
		put_number(out, group->q_key);
		put_number(out, group->flow_label);
	}
}

static bool is_same(const struct partition *a, const struct partition *b)
{
	struct buffer both[2] = {0};
	bool same;

	put_partition(&both[0], a);
	put_partition(&both[1], b);
	same = buffer_length(&both[0]) == buffer_length(&both[1]) &&
	       !memcmp(both[0].bytes, both[1].bytes, buffer_length(&both[0]));
	free(both[0].bytes);
	free(both[1].bytes);
	return same;
}

uint64_t partitions_digest(const struct partitions *partitions)
{
	const struct partition **by_key;
	struct buffer all = {0};
	uint64_t hash;

	if (!partitions)
		return 0;
	by_key = index_keys(partitions);
	for (pkey_t key = 0; key <= PKEY_DEFAULT_LIMITED; key++)
		if (by_key[key])
			put_partition(&all, by_key[key]);
	hash = hash_bytes(HASH_SEED, all.bytes, buffer_length(&all));
	free(all.bytes);
	free(by_key);
	return hash;
}

/* The partitions of one kind of change. */
struct some {
	const char *what;
	unsigned count;
	char keys[KEYS_SIZE];
};

static void some_keys_add(struct some *some, pkey_t p_key)
{
	size_t used = strlen(some->keys);

	if (some->count++ < NAMED_MAX)
		snprintf(some->keys + used, sizeof(some->keys) - used, "%s0x%04x", used ? ", " : "",
			 p_key);
}

char *partitions_changes(const struct partitions *before, const struct partitions *after)
{
	enum { MADE, CHANGED, GONE, KINDS };
	struct some kinds[KINDS] = {{.what = "made"}, {.what = "changed"}, {.what = "gone"}};
	const struct partition **was = index_keys(before), **is = index_keys(after);
	char text[KINDS * (KEYS_SIZE + 32)];
	size_t used = 0;

	for (pkey_t key = 0; key <= PKEY_DEFAULT_LIMITED; key++) {
		if (is[key] && !was[key])
			some_keys_add(&kinds[MADE], key);
		else if (was[key] && !is[key])
			some_keys_add(&kinds[GONE], key);
		else if (is[key] && !is_same(was[key], is[key]))
			some_keys_add(&kinds[CHANGED], key);
	}
	free(was);
	free(is);
	for (unsigned i = 0; i < KINDS; i++) {
		unsigned more = kinds[i].count > NAMED_MAX ? kinds[i].count - NAMED_MAX : 0;

		if (!kinds[i].count)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u %s (%s",
					 used ? ", " : "", kinds[i].count, kinds[i].what,
					 kinds[i].keys);
		if (more)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " and %u more",
						 more);
		used += (size_t)snprintf(text + used, sizeof(text) - used, ")");
	}
	return used ? mem_strdup(text) : NULL;
}
