/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What another partition file changes, for people: which partitions it makes, changes and ends. In
 * what order it defines them, and on which lines, makes no difference; the order of one partition's
 * rules does, since of two the later one holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partitions.h"
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

static bool same_rules(const struct partition *a, const struct partition *b)
{
	bool same = a->num_rules == b->num_rules;

	for (uint32_t i = 0; same && i < a->num_rules; i++)
		same = a->rules[i].who == b->rules[i].who &&
		       a->rules[i].membership == b->rules[i].membership &&
		       a->rules[i].first == b->rules[i].first &&
		       a->rules[i].last == b->rules[i].last;
	return same;
}

static bool same_groups(const struct partition *a, const struct partition *b)
{
	bool same = a->num_groups == b->num_groups;

	for (uint32_t i = 0; same && i < a->num_groups; i++) {
		const struct partition_group *x = &a->groups[i], *y = &b->groups[i];

		same = !memcmp(x->mgid, y->mgid, GID_SIZE) && x->mtu == y->mtu &&
		       x->rate == y->rate && x->sl == y->sl && x->tclass == y->tclass &&
		       x->q_key == y->q_key && x->flow_label == y->flow_label;
	}
	return same;
}

static bool is_same(const struct partition *a, const struct partition *b)
{
	return !strcmp(a->name, b->name) && a->index0 == b->index0 && a->ipoib == b->ipoib &&
	       same_rules(a, b) && same_groups(a, b);
}

/* A number's bytes, the lowest first: managers on hosts of any kind compare what comes of it. */
static uint64_t add_number(uint64_t hash, uint64_t number)
{
	for (unsigned i = 0; i < sizeof(number); i++) {
		uint8_t byte = (uint8_t)(number >> 8 * i);

		hash = hash_bytes(hash, &byte, 1);
	}
	return hash;
}

/* All that is_same() looks at. */
static uint64_t add_partition(uint64_t hash, const struct partition *partition)
{
	hash = add_number(hash, partition->p_key);
	hash = hash_bytes(hash, partition->name, strlen(partition->name) + 1);
	hash = add_number(hash, partition->index0);
	hash = add_number(hash, partition->ipoib);
	hash = add_number(hash, partition->num_rules);
	for (uint32_t i = 0; i < partition->num_rules; i++) {
		const struct partition_rule *rule = &partition->rules[i];

		hash = add_number(hash, rule->who);
		hash = add_number(hash, rule->membership);
		hash = add_number(hash, rule->first);
		hash = add_number(hash, rule->last);
	}
	hash = add_number(hash, partition->num_groups);
	for (uint32_t i = 0; i < partition->num_groups; i++) {
		const struct partition_group *group = &partition->groups[i];

		hash = hash_bytes(hash, group->mgid, GID_SIZE);
		hash = add_number(hash, group->mtu);
		hash = add_number(hash, group->rate);
		hash = add_number(hash, group->sl);
		hash = add_number(hash, group->tclass);
		hash = add_number(hash, group->q_key);
		hash = add_number(hash, group->flow_label);
	}
	return hash;
}

uint64_t partitions_digest(const struct partitions *partitions)
{
	const struct partition **by_key;
	uint64_t hash = HASH_SEED;

	if (!partitions)
		return 0;
	by_key = index_keys(partitions);
	for (pkey_t key = 0; key <= PKEY_DEFAULT_LIMITED; key++)
		if (by_key[key])
			hash = add_partition(hash, by_key[key]);
	free(by_key);
	return hash;
}

/* The partitions of one kind of change. */
struct some {
	const char *what;
	unsigned count;
	char keys[KEYS_SIZE];
};

static void add(struct some *some, pkey_t p_key)
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
			add(&kinds[MADE], key);
		else if (was[key] && !is[key])
			add(&kinds[GONE], key);
		else if (is[key] && !is_same(was[key], is[key]))
			add(&kinds[CHANGED], key);
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
