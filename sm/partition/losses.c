/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the P_Keys of ports before and after a change of the file: sm/partition/losses.h. */
#include "sm/partition/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"
#include "sm/partition/parts.h"

enum {
	KEYS = 0x8000,
	GUIDS_A_PIECE = 16,
	GUID_UNITS = 30, /* the cost of one: its P_Keys are computed twice */
};

/* Members of a partition, before and after. */
struct count {
	uint32_t full, limited;
};

struct tally {
	struct count before, after;
	uint32_t lost; /* ports */
};

struct policy_comparison {
	struct slices slices;
	struct policy *policy;
	struct partitions *partitions; /* borrowed */
	struct policy_file *file;      /* of these partitions; NULL: none */
	struct registry *records;      /* of run time, that would be in force; NULL: the present */
	bool present;
	guid_t *guids; /* of the ports to compare */
	size_t num_guids;
	uint64_t state;	       /* of the policy, when guids was made */
	struct tally *tallies; /* by partition */
	pkey_t *before;
	unsigned room;
	uint64_t ports;
	unsigned limit;
	policy_judged_fn *judged;
	void *ctx;
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
static struct port_keys keys_after(struct policy_comparison *c, guid_t guid,
				   const struct port *port)
{
	struct policy *policy = c->policy;
	struct registry *records = policy->registry;
	enum partition_source source = policy->source;
	struct port_keys keys;

	if (c->records)
		policy->registry = c->records;
	else
		policy->source = c->file ? PARTITIONS_FILE : PARTITIONS_NO_FILE;
	keys = policy_keys(policy, c->records ? policy->file : c->file, guid,
			   port ? port->node->type : NODE_CA,
			   port && port == policy->fabric->sm_port);
	policy->source = source;
	policy->registry = records;
	return keys;
}

static void compare_guid(struct policy_comparison *c, guid_t guid, const struct port *port)
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

static size_t gather_present(const struct map *ports, guid_t *guids)
{
	const struct port *port;
	size_t position = 0, count = 0;

	while ((port = map_next(ports, &position)))
		guids[count++] = port_facts(port)->guid;
	return count;
}

static size_t gather_known(const struct registry *registry, guid_t *guids)
{
	const struct lid_entry *entry = registry_first(registry, REGISTRY_LID, -1, NULL);
	size_t count = 0;

	for (; entry; entry = registry_next(registry, REGISTRY_LID, -1, entry))
		guids[count++] = entry->guid;
	return count;
}

/* The GUIDs are copied, because ports may appear and disappear between two slices. */
static unsigned gather_guids(void *arg, size_t *at)
{
	struct policy_comparison *c = arg;
	const struct registry *registry = c->policy->registry;
	const struct map *ports = &c->policy->fabric->ports;
	size_t room = c->present ? ports->count : registry_count(registry, REGISTRY_LID);

	if (*at)
		return 0;
	*at = 1;
	c->state = c->policy->state;
	c->ports = 0;
	memset(c->tallies, 0, KEYS * sizeof(*c->tallies));
	free(c->guids);
	c->guids = mem_array(room + 1, sizeof(*c->guids));
	c->num_guids =
		c->present ? gather_present(ports, c->guids) : gather_known(registry, c->guids);
	return 1 + (unsigned)room / 16;
}

static unsigned compare_guids(void *arg, size_t *at)
{
	struct policy_comparison *c = arg;
	size_t begin = *at;

	for (; *at < c->num_guids && *at < begin + GUIDS_A_PIECE; ++*at) {
		guid_t guid = c->guids[*at];

		compare_guid(c, guid, map_get(&c->policy->fabric->ports, guid));
	}
	return (unsigned)(*at - begin) * GUID_UNITS;
}

static bool comparison_is_stale(const void *arg)
{
	const struct policy_comparison *c = arg;

	return c->state != c->policy->state;
}

static slice_fn *const comparison_stages[] = {gather_guids, compare_guids, NULL};
static const struct slice_plan comparison_plan = {"comparison of partition files",
						  comparison_stages, comparison_is_stale};

static uint64_t pairs_among(const struct count *count)
{
	uint64_t full = count->full;

	return full * (full - (full > 0)) / 2 + full * count->limited;
}

static struct policy_losses worst_of(const struct policy_comparison *c)
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

static struct policy_comparison *comparison_new(struct policy *policy,
						struct partitions *partitions, bool present)
{
	struct policy_comparison *c = mem_zalloc(sizeof(*c));

	c->policy = policy;
	c->partitions = partitions;
	c->present = present;
	c->file = partitions ? policy_file_new(partitions) : NULL;
	c->tallies = mem_array(KEYS, sizeof(struct tally));
	return c;
}

static void comparison_free(struct policy_comparison *c)
{
	if (c->file)
		c->file->partitions = NULL; /* it is borrowed */
	policy_file_free(c->file);
	free(c->tallies);
	free(c->before);
	free(c->guids);
	free(c);
}

struct policy_losses policy_losses(struct policy *policy, struct partitions *partitions,
				   bool present)
{
	struct policy_comparison *c = comparison_new(policy, partitions, present);
	struct policy_losses losses;

	slices_at_once(&comparison_plan, c);
	losses = worst_of(c);
	comparison_free(c);
	return losses;
}

static const char *partition_title(const struct policy *policy, pkey_t p_key)
{
	const struct partition *partition = policy_in_file(policy, p_key);
	const struct partition_entry *entry = policy_at_run_time(policy, p_key);

	return partition ? partition->name : entry ? (const char *)entry->name : "";
}

/* what: "FILE: ", or "". */
static char *losses_text(const struct policy *policy, const char *what,
			 const struct policy_losses *losses, unsigned limit)
{
	const char *name;

	if (losses->ports <= limit)
		return NULL;
	name = partition_title(policy, losses->p_key);
	return mem_printf("%s%stakes P_Keys from %" PRIu64
			  " ports (partition_confirm_ports is %u), among them 0x%04x%s%s%s from "
			  "%" PRIu64 " ports, so %" PRIu64
			  " pairs of ports could no longer exchange packets in it",
			  what, *what ? ": " : "", losses->ports, limit, losses->p_key,
			  *name ? " (" : "", name, *name ? ")" : "", losses->ports_of_p_key,
			  losses->pairs);
}

static const char *partitions_title(const struct partitions *partitions)
{
	return partitions ? partitions->name : "partition_config_file \"\"";
}

char *policy_needs_confirmation(struct policy *policy, struct partitions *partitions,
				unsigned limit)
{
	struct policy_losses losses;

	if (policy_is_masters_file(policy, partitions))
		return NULL;
	losses = policy_losses(policy, partitions, policy->live);
	return losses_text(policy, partitions_title(partitions), &losses, limit);
}

static void comparison_done(void *arg)
{
	struct policy_comparison *c = arg;
	struct policy_losses losses = worst_of(c);
	const char *what = c->records ? "" : partitions_title(c->partitions);
	bool is_exempt = !c->records && policy_is_masters_file(c->policy, c->partitions);
	char *danger = is_exempt ? NULL : losses_text(c->policy, what, &losses, c->limit);
	policy_judged_fn *judged = c->judged;
	void *ctx = c->ctx;

	comparison_free(c);
	judged(ctx, danger);
}

static struct policy_comparison *comparison_begin(struct policy_comparison *c, unsigned limit,
						  policy_judged_fn *judged, void *ctx)
{
	c->limit = limit;
	c->judged = judged;
	c->ctx = ctx;
	slices_init(&c->slices, c->policy->loop, &comparison_plan, c, comparison_done, c);
	slices_begin(&c->slices);
	return c;
}

struct policy_comparison *policy_judge_file(struct policy *policy, struct partitions *partitions,
					    unsigned limit, policy_judged_fn *judged, void *ctx)
{
	return comparison_begin(comparison_new(policy, partitions, policy->live), limit, judged,
				ctx);
}

struct policy_comparison *policy_judge_records(struct policy *policy, struct registry *records,
					       unsigned limit, policy_judged_fn *judged, void *ctx)
{
	struct policy_comparison *c = comparison_new(policy, NULL, policy->live);

	c->records = records;
	return comparison_begin(c, limit, judged, ctx);
}

void policy_judge_cancel(struct policy_comparison *c)
{
	if (!c)
		return;
	slices_cancel(&c->slices);
	comparison_free(c);
}
