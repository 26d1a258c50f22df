/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the P_Keys of ports before and after a change of the file: sm/partition/losses.h. */
#include "sm/partition/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"
#include "sm/partition/parts.h"

enum { KEYS = 0x8000 };

/* Members of a partition, before and after. */
struct count {
	uint32_t full, limited;
};

struct tally {
	struct count before, after;
	uint32_t lost; /* ports */
};

struct comparison {
	struct policy *policy;
	struct policy_file *file; /* NULL: none */
	struct tally *tallies;	  /* by partition */
	pkey_t *before;
	unsigned room;
	uint64_t ports;
};

static bool has_key(const pkey_t *keys, unsigned count, pkey_t key)
{
	for (unsigned i = 0; i < count; i++)
		if (keys[i] == key)
			return true;
	return false;
}

/* A port with both keys of a partition counts as a full member. */
static void count_key(struct count *count, const struct port_keys *keys, unsigned at)
{
	pkey_t key = keys->key[at];

	if (key & PKEY_FULL_MEMBER)
		count->full++;
	else
		count->limited += !has_key(keys->key, keys->count, key | PKEY_FULL_MEMBER);
}

/* The keys that the port would have. Without a file, ports may be open again. */
static struct port_keys keys_after(struct comparison *c, guid_t guid, const struct port *port)
{
	struct policy *policy = c->policy;
	enum partition_source source = policy->source;
	struct port_keys keys;

	policy->source = c->file ? PARTITIONS_FILE : PARTITIONS_NO_FILE;
	keys = policy_keys(policy, c->file, guid, port ? port->node->type : NODE_CA,
			   port && port == policy->fabric->sm_port);
	policy->source = source;
	return keys;
}

static void compare_guid(struct comparison *c, guid_t guid, const struct port *port)
{
	struct port_keys before = policy_guid_keys(c->policy, guid), after;
	bool loses = false;

	if (c->room < before.count) {
		c->room = 2 * before.count;
		c->before = mem_resize(c->before, c->room, sizeof(*c->before));
	}
	memcpy(c->before, before.key, before.count * sizeof(*before.key));
	before.key = c->before;
	after = keys_after(c, guid, port);
	for (unsigned i = 0; i < after.count; i++)
		count_key(&c->tallies[pkey_partition(after.key[i])].after, &after, i);
	for (unsigned i = 0; i < before.count; i++) {
		pkey_t key = before.key[i];
		struct tally *tally = &c->tallies[pkey_partition(key)];
		/* A limited member that becomes a full member loses nothing. */
		bool is_lost = !has_key(after.key, after.count, key) &&
			       !has_key(after.key, after.count, key | PKEY_FULL_MEMBER);

		count_key(&tally->before, &before, i);
		tally->lost += is_lost;
		loses |= is_lost;
	}
	c->ports += loses;
}

static void compare_ports(struct comparison *c, bool present)
{
	const struct registry *registry = c->policy->registry;
	const struct map *ports = &c->policy->fabric->ports;
	const struct lid_entry *entry;
	const struct port *port;
	size_t position = 0;

	if (present) {
		while ((port = map_next(ports, &position)))
			compare_guid(c, port_facts(port)->guid, port);
		return;
	}
	for (entry = registry_first(registry, REGISTRY_LID, -1, NULL); entry;
	     entry = registry_next(registry, REGISTRY_LID, -1, entry))
		compare_guid(c, entry->guid, map_get(ports, entry->guid));
}

static uint64_t pairs_among(const struct count *count)
{
	uint64_t full = count->full;

	return full * (full - (full > 0)) / 2 + full * count->limited;
}

static struct policy_losses worst_of(const struct comparison *c)
{
	struct policy_losses losses = {.ports = c->ports};
	const struct tally *worst = c->tallies;
	uint64_t before, after;

	for (pkey_t p_key = 1; p_key < KEYS; p_key++)
		if (c->tallies[p_key].lost > worst->lost)
			worst = &c->tallies[p_key];
	before = pairs_among(&worst->before);
	after = pairs_among(&worst->after);
	losses.p_key = (pkey_t)(worst - c->tallies);
	losses.ports_of_p_key = worst->lost;
	losses.pairs = before > after ? before - after : 0;
	return losses;
}

struct policy_losses policy_losses(struct policy *policy, struct partitions *partitions,
				   bool present)
{
	struct comparison c = {
		.policy = policy,
		.file = partitions ? policy_file_new(partitions) : NULL,
		.tallies = mem_array(KEYS, sizeof(struct tally)),
	};
	struct policy_losses losses;

	compare_ports(&c, present);
	losses = worst_of(&c);
	if (c.file)
		c.file->partitions = NULL; /* it is borrowed */
	policy_file_free(c.file);
	free(c.tallies);
	free(c.before);
	return losses;
}

static const char *partition_title(const struct policy *policy, pkey_t p_key)
{
	const struct partition *partition = policy_in_file(policy, p_key);

	return partition ? partition->name : "";
}

char *policy_needs_confirmation(struct policy *policy, struct partitions *partitions,
				unsigned limit)
{
	struct policy_losses losses;
	const char *name;

	if (policy_is_masters_file(policy, partitions))
		return NULL;
	losses = policy_losses(policy, partitions, policy->live);
	if (losses.ports <= limit)
		return NULL;
	name = partition_title(policy, losses.p_key);
	return mem_printf("%s: takes P_Keys from %" PRIu64
			  " ports (partition_confirm_ports is %u), among them 0x%04x%s%s%s from "
			  "%" PRIu64 " ports, so %" PRIu64
			  " pairs of ports could no longer exchange packets in it",
			  partitions ? partitions->name : "partition_config_file \"\"",
			  losses.ports, limit, losses.p_key, *name ? " (" : "", name,
			  *name ? ")" : "", losses.ports_of_p_key, losses.pairs);
}
