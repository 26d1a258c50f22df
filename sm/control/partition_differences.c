/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What partition apply would change: the members that a text names, their differences from the
 * members in force, and the danger of these: partition_apply.h.
 */
#include "sm/control/partition_apply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "sm/partition/owner.h"

enum { MEMBERS_MAX = 100000, IPOIB_Q_KEY = 0x0B1B, WIRE_MAX = 1024 };

bool apply_refuse(struct application *a, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (a->error || vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!a->error)
		a->error = text ? text : mem_strdup("no memory");
	return false;
}

/* What the text wants */

static bool add_wish(struct application *a, pkey_t p_key, guid_t guid, uint8_t membership)
{
	if (a->num_wishes == MEMBERS_MAX)
		return apply_refuse(a,
				    "partition apply takes at most %d members; nothing was changed",
				    MEMBERS_MAX);
	a->wishes = mem_grow(a->wishes, a->num_wishes, sizeof(*a->wishes));
	a->wishes[a->num_wishes] = (struct wish){p_key, membership, guid, (uint32_t)a->num_wishes};
	a->num_wishes++;
	return true;
}

static bool add_rule(struct application *a, const struct partition *partition,
		     const struct partition_rule *rule)
{
	if (rule->who != WHO_GUIDS)
		return apply_refuse(
			a,
			"%s:%u: partition 0x%04x: members of partition apply are GUIDs and "
			"ranges of GUIDs; ALL, SELF and kinds of ports belong into the "
			"partition file; nothing was changed",
			a->text->name, partition->line, partition->p_key);
	for (guid_t guid = rule->first;; guid++) {
		if (!add_wish(a, partition->p_key, guid, rule->membership))
			return false;
		if (guid == rule->last)
			return true;
	}
}

static int by_key_and_guid(const void *left, const void *right)
{
	const struct wish *a = left, *b = right;

	if (a->p_key != b->p_key)
		return a->p_key < b->p_key ? -1 : 1;
	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return 0;
}

static int by_order_too(const void *left, const void *right)
{
	const struct wish *a = left, *b = right;
	int order = by_key_and_guid(a, b);

	return order ? order : a->order < b->order ? -1 : 1;
}

/* Of two rules for a port the later one applies, or with allow_both_pkeys both. */
static void merge_wishes(struct application *a)
{
	size_t kept = 0;

	if (!a->num_wishes)
		return;
	qsort(a->wishes, a->num_wishes, sizeof(*a->wishes), by_order_too);
	for (size_t i = 0; i < a->num_wishes; i++) {
		struct wish *last = kept ? &a->wishes[kept - 1] : NULL;
		const struct wish *wish = &a->wishes[i];

		if (last && !by_key_and_guid(last, wish))
			last->membership =
				wish->membership | (a->allow_both ? last->membership : 0);
		else
			a->wishes[kept++] = *wish;
	}
	a->num_wishes = kept;
}

static const struct wish *find_wish(const struct application *a, pkey_t p_key, guid_t guid)
{
	const struct wish key = {.p_key = p_key, .guid = guid};

	return a->num_wishes ? bsearch(&key, a->wishes, a->num_wishes, sizeof(key), by_key_and_guid)
			     : NULL;
}

static bool gather_wishes(struct application *a)
{
	for (uint32_t p = 0; p < a->text->count; p++) {
		const struct partition *partition = &a->text->partitions[p];

		for (uint32_t i = 0; i < partition->num_rules; i++)
			if (!add_rule(a, partition, &partition->rules[i]))
				return false;
	}
	merge_wishes(a);
	return true;
}

struct partition_entry apply_entry_of(const struct partition *partition)
{
	struct partition_entry entry = partition_entry_presets(partition->p_key);
	const struct partition_group *group = partition->groups;

	memcpy(entry.name, partition->name, strnlen(partition->name, sizeof(entry.name) - 1));
	entry.index0 = partition->index0;
	entry.ipoib = partition->ipoib;
	if (!partition->ipoib || !partition->num_groups)
		return entry;
	entry.mtu = group->mtu;
	entry.rate = group->rate;
	entry.sl = group->sl;
	entry.scope = group->mgid[1] & 0x0F;
	entry.tclass = group->tclass;
	entry.q_key = group->q_key == IPOIB_Q_KEY ? 0 : group->q_key;
	entry.flow_label = group->flow_label;
	return entry;
}

/* Differences */

static void apply_add_difference(struct application *a, struct difference difference)
{
	a->differences = mem_grow(a->differences, a->num_differences, sizeof(*a->differences));
	a->differences[a->num_differences++] = difference;
	a->counts[difference.kind]++;
}

static bool is_owned(const struct application *a, pkey_t p_key, guid_t guid)
{
	return !strcmp(partition_owner(a->sm->registry, p_key, guid), a->owner);
}

/* False: there is an error. */
static bool compare_partition(struct application *a, uint32_t number)
{
	const struct partition *partition = &a->text->partitions[number];
	pkey_t p_key = partition->p_key, other;
	const struct partition_entry *known = policy_at_run_time(&a->sm->policy, p_key);
	const struct partition_entry entry = apply_entry_of(partition);
	struct difference difference = {.p_key = p_key, .partition = number};

	if (partition->num_groups > partition->ipoib)
		return apply_refuse(
			a,
			"%s:%u: partition 0x%04x: groups other than one IPoIB group belong "
			"into the partition file; nothing was changed",
			a->text->name, partition->line, p_key);
	if (policy_in_file(&a->sm->policy, p_key))
		return true; /* its parameters are those of the file */
	if (partition_name_is_taken(a->sm, partition->name, p_key, &other))
		return apply_refuse(
			a,
			"%s:%u: partition 0x%04x has the name \"%.64s\" already; nothing was "
			"changed",
			a->text->name, partition->line, other, partition->name);
	if (known && partition_entry_is_same(known, &entry))
		return true;
	difference.kind = !known		  ? PARTITION_MADE
			  : is_owned(a, p_key, 0) ? PARTITION_CHANGED
						  : OF_OTHER_OWNER;
	apply_add_difference(a, difference);
	return true;
}

/* The membership that the partition file gives; NONE: the file does not have the partition. */
static uint8_t membership_in_file(const struct application *a, pkey_t p_key, guid_t guid)
{
	return policy_in_file(&a->sm->policy, p_key)
		       ? partition_membership_in(policy_guid_keys(&a->sm->policy, guid), p_key)
		       : MEMBERSHIP_NONE;
}

/* A record would replace the membership that the file gives: the file is an owner, too. */
static void compare_wish(struct application *a, const struct wish *wish)
{
	const struct partition_member_entry *member =
		policy_member(&a->sm->policy, wish->p_key, wish->guid);
	struct difference difference = {.kind = MEMBER_ADDED,
					.p_key = wish->p_key,
					.guid = wish->guid,
					.before = member ? member->membership : MEMBERSHIP_NONE,
					.after = wish->membership};

	if (!member)
		difference.before = membership_in_file(a, wish->p_key, wish->guid);
	if (difference.before == wish->membership)
		return;
	if (member)
		difference.kind =
			is_owned(a, wish->p_key, wish->guid) ? MEMBER_CHANGED : OF_OTHER_OWNER;
	else if (difference.before)
		difference.kind = OF_OTHER_OWNER;
	apply_add_difference(a, difference);
}

/* Slices. Each stage of the comparison does nothing after an error. */

void apply_walk_end(struct application *a)
{
	if (a->is_walking)
		registry_walk_end(&a->cursor);
	a->is_walking = false;
}

/* The next record of a kind; NULL: no more. */
static const void *walk_next(struct application *a, enum registry_kind kind)
{
	const void *record;

	if (!a->is_walking)
		registry_walk(a->sm->registry, kind, -1, NULL, &a->cursor);
	a->is_walking = true;
	record = registry_walk_next(&a->cursor);
	if (!record)
		apply_walk_end(a);
	return record;
}

/* While another unit of changes is open, such as that of a restore, the records are incomplete. */
static unsigned begin_comparison(void *arg, size_t *at)
{
	struct application *a = arg;

	if (*at)
		return 0;
	if (registry_is_together(a->sm->registry))
		return APPLY_WHOLE_TURN;
	*at = 1;
	apply_walk_end(a);
	free(a->error);
	free(a->danger);
	free(a->differences);
	a->error = a->danger = NULL;
	a->differences = NULL;
	a->num_differences = 0;
	memset(a->counts, 0, sizeof(a->counts));
	a->taken = 0;
	a->last = 0;
	a->state = HASH_SEED;
	a->policy_state = a->sm->policy.state;
	a->is_stale = false;
	return 1;
}

static unsigned compare_partitions(void *arg, size_t *at)
{
	struct application *a = arg;
	size_t begin = *at;

	while (!a->error && *at < a->text->count && *at < begin + APPLY_PIECE)
		compare_partition(a, (uint32_t)(*at)++);
	return (unsigned)(*at - begin) * (APPLY_COST + a->text->count / APPLY_PIECE);
}

static unsigned compare_wishes(void *arg, size_t *at)
{
	struct application *a = arg;
	size_t begin = *at;

	while (!a->error && *at < a->num_wishes && *at < begin + APPLY_PIECE)
		compare_wish(a, &a->wishes[(*at)++]);
	return (unsigned)(*at - begin) * APPLY_COST;
}

static void compare_member(struct application *a, const struct partition_member_entry *member)
{
	if (!find_wish(a, member->p_key, member->guid) && is_owned(a, member->p_key, member->guid))
		apply_add_difference(a, (struct difference){.kind = MEMBER_REMOVED,
							    .p_key = member->p_key,
							    .guid = member->guid,
							    .before = member->membership});
}

static unsigned apply_compare_members(void *arg, size_t *at)
{
	struct application *a = arg;
	const void *record;
	unsigned pieces = 0;

	if (*at || a->error)
		return 0;
	while (pieces < APPLY_PIECE && (record = walk_next(a, REGISTRY_PARTITION_MEMBER))) {
		compare_member(a, record);
		pieces++;
	}
	*at = pieces < APPLY_PIECE;
	return pieces * APPLY_COST + 1;
}

static bool text_has(const struct application *a, pkey_t p_key)
{
	for (uint32_t p = 0; p < a->text->count; p++)
		if (a->text->partitions[p].p_key == p_key)
			return true;
	return false;
}

static bool has_member_of_others(const struct application *a, pkey_t p_key)
{
	const struct partition_member_entry key = {.p_key = p_key}, *member;

	for (member = registry_first(a->sm->registry, REGISTRY_PARTITION_MEMBER,
				     PARTITION_MEMBER_BY_KEY, &key);
	     member; member = registry_next(a->sm->registry, REGISTRY_PARTITION_MEMBER,
					    PARTITION_MEMBER_BY_KEY, member))
		if (!is_owned(a, p_key, member->guid))
			return true;
	return false;
}

/* Partitions of this owner that the text does not have. A partition with members of other owners
 * stays. So does the default partition: without its definition, all ports could be full members. */
static void compare_entry(struct application *a, const struct partition_entry *entry)
{
	if (entry->p_key != PKEY_DEFAULT_LIMITED && is_owned(a, entry->p_key, 0) &&
	    !text_has(a, entry->p_key) && !has_member_of_others(a, entry->p_key))
		apply_add_difference(
			a, (struct difference){.kind = PARTITION_REMOVED, .p_key = entry->p_key});
}

static unsigned compare_removed(void *arg, size_t *at)
{
	struct application *a = arg;
	const void *record;

	if (*at || a->error)
		return 0;
	record = walk_next(a, REGISTRY_PARTITION);
	if (record)
		compare_entry(a, record);
	*at = !record;
	return APPLY_COST + a->text->count / APPLY_PIECE;
}

/* Dangers */

/* Whether the difference takes a membership from a port that is present. */
static bool takes_key(const struct application *a, const struct difference *difference)
{
	uint8_t lost = difference->before & (uint8_t)~difference->after;

	return (difference->kind == MEMBER_CHANGED || difference->kind == MEMBER_REMOVED) &&
	       (lost & MEMBERSHIP_FULL || !difference->after) &&
	       policy_port(&a->sm->policy, difference->guid);
}

/* The members that change in one partition, in a form for partition_effect(). For free(). */
static struct named_port *ports_of(const struct application *a, pkey_t p_key, size_t *count)
{
	struct named_port *ports = mem_array(a->num_differences + 1, sizeof(*ports));

	*count = 0;
	for (size_t i = 0; i < a->num_differences; i++) {
		const struct difference *difference = &a->differences[i];

		if (difference->p_key == p_key && difference->guid &&
		    difference->kind != OF_OTHER_OWNER)
			ports[(*count)++] =
				(struct named_port){difference->guid, difference->after};
	}
	return ports;
}

static struct partition_effect effect_on(struct application *a, pkey_t p_key, bool redefines)
{
	struct partition_change change = {
		.p_key = p_key, .redefines = redefines, .is_defined = true};
	struct named_port *ports = ports_of(a, p_key, &change.count);
	struct partition_effect effect;

	change.ports = ports;
	effect = partition_effect(a->sm, &change);
	free(ports);
	return effect;
}

static unsigned count_taken(void *arg, size_t *at)
{
	struct application *a = arg;
	size_t begin = *at;

	for (; !a->error && *at < a->num_differences && *at < begin + APPLY_PIECE; ++*at) {
		a->differences[*at].takes = takes_key(a, &a->differences[*at]);
		a->taken += a->differences[*at].takes;
	}
	return (unsigned)(*at - begin) * APPLY_COST;
}

static void judge_partition(struct application *a, pkey_t p_key, bool defines)
{
	struct partition_effect effect = effect_on(a, p_key, defines);

	if (effect.cut_off || (defines && effect.ports))
		a->danger = mem_printf("%" PRIu64 " ports would lose 0x%04x or full membership "
				       "in it, %" PRIu64 " limited members could reach no port "
				       "in it, and %" PRIu64 " pairs of ports could no longer "
				       "exchange packets in it",
				       effect.ports, p_key, effect.cut_off, effect.pairs);
}

/* Why the changes need --force. Only partitions that lose members are looked at, and they are at
 * most partition_confirm_ports; each walks over all ports. */
static unsigned find_danger(void *arg, size_t *at)
{
	struct application *a = arg;
	unsigned limit = a->sm->options.partition_confirm_ports;

	if (a->error || a->danger)
		return 0;
	if (a->taken > limit) {
		a->danger =
			mem_printf("it takes %" PRIu64 " memberships from ports that are present "
				   "(partition_confirm_ports is %u)",
				   a->taken, limit);
		return 0;
	}
	while (*at < a->num_differences) {
		const struct difference *difference = &a->differences[(*at)++];
		bool defines = difference->kind == PARTITION_MADE &&
			       difference->p_key == PKEY_DEFAULT_LIMITED;

		if (!defines && (difference->p_key == a->last || !difference->takes))
			continue;
		a->last = difference->p_key;
		judge_partition(a, difference->p_key, defines);
		return APPLY_WHOLE_TURN;
	}
	return 0;
}

/* The state of all that commands made, to find changes by another administrator. It is a sum,
 * because the order of the records does not count. */

static const enum registry_kind state_kinds[] = {REGISTRY_PARTITION, REGISTRY_PARTITION_MEMBER,
						 REGISTRY_PARTITION_OWNER};

static bool is_of_state(enum registry_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(state_kinds); i++)
		if (state_kinds[i] == kind)
			return true;
	return false;
}

/* NULL: 0. */
static uint64_t state_of_record(enum registry_kind kind, const void *record)
{
	const struct format *format = registry_tables[kind].format;
	uint8_t wire[WIRE_MAX];

	if (!record)
		return 0;
	memset(wire, 0, format->wire_size);
	format_encode(format, record, wire);
	return hash_bytes(HASH_SEED + kind, wire, format->wire_size);
}

static unsigned sum_state(void *arg, size_t *at)
{
	struct application *a = arg;
	unsigned pieces = 0;
	const void *record;

	if (*at == ARRAY_SIZE(state_kinds) || a->error)
		return 0;
	while (pieces < APPLY_PIECE && (record = walk_next(a, state_kinds[*at]))) {
		a->state += state_of_record(state_kinds[*at], record);
		pieces++;
	}
	*at += pieces < APPLY_PIECE;
	return pieces * APPLY_COST + 1;
}

/* During the comparison, a change makes it stale. During the changes, the state follows them. */
void apply_read(void *ctx, const struct registry_change *change)
{
	struct application *a = ctx;

	if (!is_of_state(change->kind))
		return;
	if (a->phase == CHANGES)
		a->state += state_of_record(change->kind, change->after) -
			    state_of_record(change->kind, change->before);
	else
		a->is_stale = true;
}

static bool application_is_stale(const void *arg)
{
	const struct application *a = arg;

	return a->is_stale || a->policy_state != a->sm->policy.state;
}

static slice_fn *const comparison_stages[] = {
	begin_comparison,      compare_partitions, compare_wishes,
	apply_compare_members, compare_removed,	   count_taken,
	find_danger,	       sum_state,	   NULL};
const struct slice_plan apply_comparison_plan = {"partition apply: comparison", comparison_stages,
						 application_is_stale};

/* Parsing */

void apply_parse(struct application *a)
{
	if (!partitions_parse_all(a->name, a->source, a->source_length, a->allow_both, &a->text,
				  &a->error))
		gather_wishes(a);
}
