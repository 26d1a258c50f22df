/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Computes the members of partitions (partitions.h). A file may have a hundred thousand rules, and
 * every sweep queries every port. So rules that name one GUID are found by the GUID, and only the
 * other rules, which are few, are tried for all. The registry finds members by GUID, too. So the
 * cost of a query depends on the rules about the port only.
 */
#include "sm/partition/parts.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sm/partition/held.h"
#include "store/alias.h"

enum { PARTITIONS = 0x8000, SCOPE_LINK_LOCAL = 2, IPOIB_Q_KEY = 0x0B1B };

/* Files */

static int policy_rule_order(const void *a, const void *b)
{
	const struct policy_rule *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	if (x->partition != y->partition)
		return x->partition < y->partition ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct policy_file *policy_file_new(struct partitions *partitions)
{
	struct policy_file *file = mem_zalloc(sizeof(*file));
	size_t count = 0;

	file->partitions = partitions;
	file->by_key = mem_array(PARTITIONS, sizeof(*file->by_key));
	for (uint32_t p = 0; p < partitions->count; p++)
		count += partitions->partitions[p].num_rules;
	file->exact = mem_array(count + 1, sizeof(*file->exact));
	file->wide = mem_array(count + 1, sizeof(*file->wide));
	for (uint32_t p = 0; p < partitions->count; p++) {
		const struct partition *partition = &partitions->partitions[p];

		file->by_key[partition->p_key] = (uint16_t)(p + 1);
		for (uint32_t i = 0; i < partition->num_rules; i++) {
			const struct partition_rule *rule = &partition->rules[i];

			if (rule->who == WHO_GUIDS && rule->first == rule->last)
				file->exact[file->num_exact++] =
					(struct policy_rule){rule->first, p, i};
			else
				file->wide[file->num_wide++] = (struct policy_rule){0, p, i};
		}
	}
	qsort(file->exact, file->num_exact, sizeof(*file->exact), policy_rule_order);
	return file;
}

void policy_file_free(struct policy_file *file)
{
	if (!file)
		return;
	partitions_free(file->partitions);
	free(file->by_key);
	free(file->exact);
	free(file->wide);
	free(file);
}

/* Questions */

static void touch(struct policy *policy, pkey_t p_key)
{
	if (!policy->memberships[p_key])
		policy->touched[policy->num_touched++] = p_key;
}

static void policy_join(struct policy *policy, pkey_t p_key, uint8_t membership)
{
	touch(policy, p_key);
	policy->memberships[p_key] |= membership;
}

static size_t first_exact(const struct policy_file *file, guid_t guid)
{
	size_t low = 0, high = file->num_exact;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->exact[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether a rule names a port; of an alias only the GUID counts. */
static bool rule_fits(const struct partition_rule *rule, guid_t guid, uint8_t type, bool self,
		      bool alias)
{
	struct partition one = {.rules = (struct partition_rule *)rule, .num_rules = 1};

	return (!alias || rule->who == WHO_GUIDS) &&
	       partition_membership(&one, guid, type, self, false);
}

/* Rules of the file about one GUID: both lists in the order of the file; of two rules about a
 * partition the later one counts. */
static void ask_file(struct policy *policy, const struct policy_file *file, guid_t guid,
		     uint8_t type, bool self, bool alias)
{
	size_t exact = first_exact(file, guid), wide = 0;
	uint32_t partition = UINT32_MAX;
	uint8_t membership = 0;

	for (;;) {
		const struct policy_rule *a =
			exact < file->num_exact && file->exact[exact].guid == guid
				? &file->exact[exact]
				: NULL;
		const struct policy_rule *b = wide < file->num_wide ? &file->wide[wide] : NULL;
		bool take_a = a && (!b || a->partition < b->partition ||
				    (a->partition == b->partition && a->number < b->number));
		const struct policy_rule *at = take_a ? a : b;
		const struct partition_rule *rule;

		if (membership && (!at || at->partition != partition))
			policy_join(policy, file->partitions->partitions[partition].p_key,
				    membership);
		if (!at)
			return;
		if (at->partition != partition)
			membership = 0;
		partition = at->partition;
		exact += take_a;
		wide += !take_a;
		rule = &file->partitions->partitions[partition].rules[at->number];
		if (take_a || rule_fits(rule, guid, type, self, alias))
			membership =
				rule->membership | (policy->options->allow_both ? membership : 0);
	}
}

const struct partition *policy_in_file(const struct policy *policy, pkey_t p_key)
{
	unsigned place = policy->file ? policy->file->by_key[p_key & (PARTITIONS - 1)] : 0;

	return place ? &policy->file->partitions->partitions[place - 1] : NULL;
}

const struct partition_entry *policy_at_run_time(const struct policy *policy, pkey_t p_key)
{
	const struct partition_entry key = {.p_key = p_key};

	return registry_find(policy->registry, REGISTRY_PARTITION, &key);
}

const struct partition_member_entry *policy_member(const struct policy *policy, pkey_t p_key,
						   guid_t guid)
{
	const struct partition_member_entry key = {.p_key = p_key, .guid = guid};

	return registry_find(policy->registry, REGISTRY_PARTITION_MEMBER, &key);
}

/* Members of run time with one GUID: a port GUID replaces a rule of the file, an alias GUID adds
 * to it. */
static void ask_run_time(struct policy *policy, const struct policy_file *file, guid_t guid,
			 bool alias)
{
	const struct partition_member_entry key = {.guid = guid}, *member;

	for (member = registry_first(policy->registry, REGISTRY_PARTITION_MEMBER,
				     PARTITION_MEMBER_BY_GUID, &key);
	     member; member = registry_next(policy->registry, REGISTRY_PARTITION_MEMBER,
					    PARTITION_MEMBER_BY_GUID, member)) {
		/* Its partition may have been removed from the file. */
		if (member->p_key != PKEY_DEFAULT_LIMITED &&
		    !(file && file->by_key[member->p_key]) &&
		    !policy_at_run_time(policy, member->p_key))
			continue;
		touch(policy, member->p_key);
		if (!alias)
			policy->memberships[member->p_key] = 0;
		policy->memberships[member->p_key] |= member->membership;
	}
}

static uint8_t usual_membership(const struct policy *policy, const struct policy_file *file,
				bool self)
{
	bool open = !file && policy->source == PARTITIONS_NO_FILE &&
		    !policy_at_run_time(policy, PKEY_DEFAULT_LIMITED);

	return self || open ? MEMBERSHIP_FULL : MEMBERSHIP_LIMITED;
}

static bool is_index0(const struct policy *policy, const struct policy_file *file, pkey_t p_key)
{
	const struct partition_entry *entry = policy_at_run_time(policy, p_key);
	unsigned place = file ? file->by_key[p_key] : 0;

	return (entry && entry->index0) ||
	       (place && file->partitions->partitions[place - 1].index0);
}

/* Converts the gathered memberships to P_Keys, and clears them. */
static struct port_keys take_keys(struct policy *policy, const struct policy_file *file)
{
	struct port_keys out = {0};

	if (policy->keys_room < 2 * policy->num_touched) {
		policy->keys_room = 2 * policy->num_touched;
		policy->keys = mem_resize(policy->keys, policy->keys_room, sizeof(*policy->keys));
	}
	qsort(policy->touched, policy->num_touched, sizeof(*policy->touched), pkeys_order);
	for (unsigned i = 0; i < policy->num_touched; i++) {
		pkey_t p_key = policy->touched[i];
		uint8_t membership = policy->memberships[p_key];

		if (membership == MEMBERSHIP_BOTH && !policy->options->allow_both)
			membership = MEMBERSHIP_FULL;
		if (membership & MEMBERSHIP_FULL)
			policy->keys[out.count++] = p_key | PKEY_FULL_MEMBER;
		if (membership & MEMBERSHIP_LIMITED)
			policy->keys[out.count++] = p_key;
		if (!out.index0 && is_index0(policy, file, p_key))
			out.index0 = p_key;
		policy->memberships[p_key] = 0;
	}
	policy->num_touched = 0;
	out.key = policy->keys;
	return out;
}

/* The first alias, from this alias on, that is granted; NULL: none. */
static const struct alias_entry *granted(const struct policy *policy,
					 const struct alias_entry *alias)
{
	while (alias && !alias_granted(policy->options->alias_guids, alias))
		alias = registry_next(policy->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias);
	return alias;
}

static const struct alias_entry *next_granted(const struct policy *policy,
					      const struct alias_entry *alias)
{
	return granted(policy,
		       registry_next(policy->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias));
}

static struct port_keys find_keys(struct policy *policy, const struct policy_file *file,
				  guid_t port_guid, uint8_t type, bool self, bool with_aliases)
{
	const struct alias_entry key = {.port_guid = port_guid}, *aliases, *alias;

	aliases = with_aliases ? granted(policy, registry_first(policy->registry, REGISTRY_ALIAS,
								ALIAS_BY_PORT, &key))
			       : NULL;
	if (file)
		ask_file(policy, file, port_guid, type, self, false);
	for (alias = aliases; file && alias; alias = next_granted(policy, alias))
		ask_file(policy, file, alias->guid, type, false, true);
	ask_run_time(policy, file, port_guid, false);
	for (alias = aliases; alias; alias = next_granted(policy, alias))
		ask_run_time(policy, file, alias->guid, true);
	if (!policy->memberships[PKEY_DEFAULT_LIMITED] ||
	    (self && !(policy->memberships[PKEY_DEFAULT_LIMITED] & MEMBERSHIP_FULL)))
		policy_join(policy, PKEY_DEFAULT_LIMITED, usual_membership(policy, file, self));
	return take_keys(policy, file);
}

struct port_keys policy_keys(struct policy *policy, const struct policy_file *file,
			     guid_t port_guid, uint8_t type, bool self)
{
	return find_keys(policy, file, port_guid, type, self, true);
}

bool policy_is_own_member(struct policy *policy, guid_t guid, pkey_t p_key)
{
	const struct port *port = map_get(&policy->fabric->ports, guid);
	struct port_keys keys =
		find_keys(policy, policy->file, guid, port ? port->node->type : NODE_CA,
			  port && port == policy->fabric->sm_port, false);

	for (unsigned i = 0; i < keys.count; i++)
		if (pkey_partition(keys.key[i]) == p_key)
			return true;
	return false;
}

/* The P_Keys that it held, else limited membership of the default partition; the manager's port
 * is a full member. */
static struct port_keys frozen_keys(const struct policy *policy, guid_t port_guid, bool self)
{
	static const pkey_t limited = PKEY_DEFAULT_LIMITED, full = PKEY_DEFAULT_FULL;
	const struct held_keys *held = held_keys_get(&policy->held, port_guid);

	return held ? (struct port_keys){.key = held->key, .count = held->count}
		    : (struct port_keys){.key = self ? &full : &limited, .count = 1};
}

struct port_keys policy_port_keys(struct policy *policy, const struct port *port)
{
	if (policy->frozen)
		return frozen_keys(policy, port_facts(port)->guid, port == policy->fabric->sm_port);
	return policy_keys(policy, policy->file, port_facts(port)->guid, port->node->type,
			   port == policy->fabric->sm_port);
}

guid_t policy_owner(const struct policy *policy, guid_t guid)
{
	const struct alias_entry key = {.guid = guid}, *alias;

	if (map_get(&policy->fabric->ports, guid))
		return guid;
	alias = registry_first(policy->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
	return alias && alias_granted(policy->options->alias_guids, alias) ? alias->port_guid
									   : guid;
}

static bool file_names(const struct policy_file *file, guid_t guid)
{
	size_t exact = first_exact(file, guid);

	if (exact < file->num_exact && file->exact[exact].guid == guid)
		return true;
	for (size_t i = 0; i < file->num_wide; i++) {
		const struct policy_rule *at = &file->wide[i];

		/* A range alone: of an alias only the GUID counts. */
		if (rule_fits(&file->partitions->partitions[at->partition].rules[at->number], guid,
			      NODE_CA, false, true))
			return true;
	}
	return false;
}

bool policy_names(const struct policy *policy, guid_t guid)
{
	const struct partition_member_entry key = {.guid = guid};

	return registry_first(policy->registry, REGISTRY_PARTITION_MEMBER, PARTITION_MEMBER_BY_GUID,
			      &key) ||
	       (policy->file && file_names(policy->file, guid));
}

struct port *policy_port(const struct policy *policy, guid_t guid)
{
	return map_get(&policy->fabric->ports, policy_owner(policy, guid));
}

struct port_keys policy_guid_keys(struct policy *policy, guid_t guid)
{
	const struct port *port = policy_port(policy, guid);

	if (policy->frozen && !port)
		return frozen_keys(policy, policy_owner(policy, guid), false);
	/* An absent port is usually the port of an adapter. */
	return port ? policy_port_keys(policy, port)
		    : policy_keys(policy, policy->file, policy_owner(policy, guid), NODE_CA, false);
}

/* 0: none, 1: limited, 2: full. */
static unsigned default_membership(struct policy *policy, guid_t guid)
{
	struct port_keys keys = policy_guid_keys(policy, guid);
	unsigned most = 0;

	for (unsigned i = 0; i < keys.count; i++) {
		if (keys.key[i] == PKEY_DEFAULT_FULL)
			return 2;
		if (keys.key[i] == PKEY_DEFAULT_LIMITED)
			most = 1;
	}
	return most;
}

bool policy_share_default(struct policy *policy, guid_t one, guid_t other)
{
	unsigned first, second;

	if (!policy_is_closed(policy))
		return true;
	first = default_membership(policy, one);
	second = one == other ? 2 : default_membership(policy, other);
	return first && second && first + second > 2;
}

bool policy_wants(struct policy *policy, guid_t guid, pkey_t p_key)
{
	struct port_keys keys;

	if (registry_is_together(policy->registry) || policy->frozen)
		return true;
	keys = policy_guid_keys(policy, guid);
	for (unsigned i = 0; i < keys.count; i++)
		if (pkey_partition(keys.key[i]) == pkey_partition(p_key))
			return true;
	return false;
}

bool policy_is_closed(const struct policy *policy)
{
	return policy->source != PARTITIONS_NO_FILE || policy->frozen ||
	       registry_count(policy->registry, REGISTRY_PARTITION) ||
	       registry_count(policy->registry, REGISTRY_PARTITION_MEMBER);
}

/* Groups */

static struct group_entry broadcast_group(pkey_t p_key, const struct partition_entry *entry)
{
	struct group_entry group = {
		.q_key = entry->q_key ? entry->q_key : IPOIB_Q_KEY,
		.mtu = entry->mtu,
		.tclass = entry->tclass,
		.p_key = p_key | PKEY_FULL_MEMBER,
		.rate = entry->rate,
		.sl = entry->sl,
		.flow_label = entry->flow_label,
	};

	ipoib_broadcast_mgid(p_key, group.mgid);
	group.mgid[1] = (uint8_t)((group.mgid[1] & 0xF0) | entry->scope);
	return group;
}

static size_t add_file_groups(const struct partitions *partitions, struct group_entry *out)
{
	size_t count = 0;

	for (uint32_t p = 0; p < partitions->count; p++) {
		const struct partition *partition = &partitions->partitions[p];

		for (uint32_t i = 0; i < partition->num_groups; i++) {
			const struct partition_group *group = &partition->groups[i];
			struct group_entry *entry = &out[count++];

			*entry = (struct group_entry){
				.q_key = group->q_key,
				.mtu = group->mtu,
				.tclass = group->tclass,
				.p_key = partition->p_key | PKEY_FULL_MEMBER,
				.rate = group->rate,
				.sl = group->sl,
				.flow_label = group->flow_label,
			};
			memcpy(entry->mgid, group->mgid, GID_SIZE);
		}
	}
	return count;
}

static bool file_has_group(const struct policy *policy, const struct group_entry *group)
{
	const struct partition *partition = policy_in_file(policy, group->p_key);

	for (uint32_t i = 0; partition && i < partition->num_groups; i++)
		if (!memcmp(partition->groups[i].mgid, group->mgid, GID_SIZE))
			return true;
	return false;
}

size_t policy_groups(const struct policy *policy, struct group_entry **out)
{
	/* RFC 4391, and OpenSM: 2,048 bytes and 10 Gb/s, which every port can. */
	static const struct partition_entry usual = {
		.mtu = 4, .rate = 3, .scope = SCOPE_LINK_LOCAL};
	const struct partitions *file = policy->file ? policy->file->partitions : NULL;
	const struct partition_entry *entry;
	size_t room = 1 + registry_count(policy->registry, REGISTRY_PARTITION), count = 0;

	for (uint32_t p = 0; file && p < file->count; p++)
		room += file->partitions[p].num_groups;
	*out = mem_array(room, sizeof(**out));
	if (file)
		count = add_file_groups(file, *out);
	else if (policy->source == PARTITIONS_NO_FILE &&
		 !policy_at_run_time(policy, PKEY_DEFAULT_LIMITED))
		(*out)[count++] = broadcast_group(PKEY_DEFAULT_LIMITED, &usual);
	for (entry = registry_first(policy->registry, REGISTRY_PARTITION, -1, NULL); entry;
	     entry = registry_next(policy->registry, REGISTRY_PARTITION, -1, entry)) {
		const struct group_entry group = broadcast_group(entry->p_key, entry);

		if (entry->ipoib && !file_has_group(policy, &group))
			(*out)[count++] = group;
	}
	for (size_t i = 0; i < count; i++) {
		(*out)[i].scope = (*out)[i].mgid[1] & 0x0F;
		(*out)[i].permanent = 1;
	}
	return count;
}

bool policy_lacks_group(const struct policy *policy, pkey_t p_key)
{
	const struct partition_entry *entry = policy_at_run_time(policy, p_key);
	struct group_entry group;

	if (!entry || !entry->ipoib)
		return false;
	group = broadcast_group(p_key, entry);
	return !registry_find(policy->registry, REGISTRY_GROUP, &group);
}

static void tell_groups(const struct policy *policy)
{
	if (policy->groups_changed && !policy->frozen)
		policy->groups_changed(policy->groups_ctx);
}

/* Changes */

/* Notifies the code that writes P_Keys, and the SA, which holds the registrations of the port. */
static void look_at(struct policy *policy, guid_t port_guid)
{
	struct port *port = map_get(&policy->fabric->ports, port_guid);
	const struct port *own = policy->fabric->sm_port;
	struct port_keys keys;
	struct event event = {.kind = EVENT_PKEYS, .guid = port_guid};

	if (port) {
		port->partition.good = 0;
		port->partition.failed = false;
		if (port->peer) {
			port->peer->partition.good = 0;
			port->peer->partition.failed = false;
		}
	}
	if (!policy->live)
		return;
	if (port)
		policy->pkeys_changed(policy->pkeys_ctx, port);
	if (policy->frozen)
		return; /* no port loses a P_Key */
	keys = policy_guid_keys(policy, port_guid);
	event.p_keys = keys.key;
	event.num_p_keys = keys.count;
	event.own_p_keys = own ? port_facts(own)->pkeys : NULL;
	event_raise(policy->events, &event);
}

static void note_all(struct policy *policy)
{
	policy->state++;
	policy->all_noted = true;
	loop_defer(&policy->turn);
}

/* A port with a LID is present, was, or will be again. */
static unsigned policy_look_at_all(void *arg, size_t *at)
{
	enum { UNITS = 20 }; /* cost of the step, in ports */
	struct policy *policy = arg;
	const struct lid_entry *entry = registry_walk_next(&policy->cursor);

	(*at)++;
	if (registry_is_together(policy->registry)) { /* only a part is applied: judged later */
		note_all(policy);
		return 0;
	}
	if (!entry)
		return 0;
	look_at(policy, entry->guid);
	return UNITS;
}

static slice_fn *const all_stages[] = {policy_look_at_all, NULL};
static const struct slice_plan all_plan = {"partitions of all ports", all_stages, NULL};

static void policy_end_walk(struct policy *policy)
{
	if (!policy->walking)
		return;
	slices_cancel(&policy->walk);
	registry_walk_end(&policy->cursor);
	policy->walking = false;
}

static void policy_walked(void *arg)
{
	struct policy *policy = arg;

	registry_walk_end(&policy->cursor);
	policy->walking = false;
	policy_port_settled(policy);
}

static void judge_all(struct policy *policy)
{
	policy_end_walk(policy);
	if (!policy->live)
		return;
	registry_walk(policy->registry, REGISTRY_LID, -1, NULL, &policy->cursor);
	policy->walking = true;
	slices_begin(&policy->walk);
}

/* Ports that changes of the registry concern are judged in a later turn, because the results change
 * the registry, too. */
static void policy_note_port(struct policy *policy, guid_t guid)
{
	guid_t owner = policy_owner(policy, guid);
	struct port *port = map_get(&policy->fabric->ports, owner);

	if (port)
		port->partition.good = 0;
	if (policy->num_noted == policy->noted_room) {
		policy->noted_room = policy->noted_room ? 2 * policy->noted_room : 64;
		policy->noted =
			mem_resize(policy->noted, policy->noted_room, sizeof(*policy->noted));
	}
	policy->noted[policy->num_noted++] = owner;
	loop_defer(&policy->turn);
}

static void partition_changed(struct policy *policy, const struct partition_entry *before,
			      const struct partition_entry *after)
{
	const struct partition_member_entry key = {.p_key = after ? after->p_key : before->p_key};
	const struct partition_member_entry *member;

	policy->groups_noted = true;
	loop_defer(&policy->turn);
	if (key.p_key == PKEY_DEFAULT_LIMITED || policy_in_file(policy, key.p_key)) {
		note_all(policy);
		return;
	}
	for (member = registry_first(policy->registry, REGISTRY_PARTITION_MEMBER,
				     PARTITION_MEMBER_BY_KEY, &key);
	     member; member = registry_next(policy->registry, REGISTRY_PARTITION_MEMBER,
					    PARTITION_MEMBER_BY_KEY, member))
		policy_note_port(policy, member->guid);
}

/* Unknown P_Keys are not given from now on; the rest follows later. */
static void setting_changed(struct policy *policy)
{
	if (!registry_is_together(policy->registry) && policy_find_frozen(policy))
		note_all(policy);
	loop_defer(&policy->turn);
}

static void policy_registry_changed(void *ctx, const struct registry_change *change)
{
	struct policy *policy = ctx;
	const void *record = change->after ? change->after : change->before;

	if (change->kind == REGISTRY_PARTITION)
		partition_changed(policy, change->before, change->after);
	else if (change->kind == REGISTRY_PARTITION_MEMBER)
		policy_note_port(policy, ((const struct partition_member_entry *)record)->guid);
	else if (change->kind == REGISTRY_ALIAS && policy_is_closed(policy))
		policy_note_port(policy, ((const struct alias_entry *)record)->port_guid);
	else if (change->kind == REGISTRY_SETTING)
		setting_changed(policy);
	else
		return;
	/* The first definition at run time, or the removal of the last. */
	if (policy_is_closed(policy) != policy->closed) {
		policy->closed = !policy->closed;
		note_all(policy);
	}
}

/* A unit of changes is judged when it is complete. */
static void policy_registry_whole(void *ctx)
{
	struct policy *policy = ctx;

	loop_defer(&policy->turn);
}

static void take_noted(void *arg)
{
	enum { PORTS_A_TURN = 64 };
	struct policy *policy = arg;
	unsigned count = policy->num_noted < PORTS_A_TURN ? policy->num_noted : PORTS_A_TURN;

	if (registry_is_together(policy->registry))
		return;
	policy_keep_source(policy);
	if (policy_judge_source(policy)) {
		policy->groups_noted = true;
		note_all(policy);
	}
	if (policy->groups_noted)
		tell_groups(policy);
	policy->groups_noted = false;
	if (policy->all_noted) {
		policy->all_noted = false;
		policy->num_noted = 0;
		judge_all(policy);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		look_at(policy, policy->noted[--policy->num_noted]);
	if (policy->num_noted)
		loop_defer(&policy->turn);
	else
		policy_port_settled(policy);
}

bool policy_is_judging(const struct policy *policy)
{
	return policy->walking || policy->all_noted || policy->num_noted || policy->next;
}

void policy_port_settled(struct policy *policy)
{
	if (policy->settled.fn)
		loop_defer(&policy->settled);
}

/* If the file is bad or missing, the last good file stays in force, and nothing is logged here. */
static bool log_changes(const struct policy *policy, enum partition_source source,
			const struct partitions *partitions)
{
	const struct log_subject subject = {.message_id = MESSAGE_PARTITIONS};
	const struct partitions *before = policy->file ? policy->file->partitions : NULL;
	char *changes = partitions_changes(before, partitions);
	bool changed = changes != NULL;

	if (changed && partitions)
		log_about(LOG_NOTICE, &subject, "partition file %s is in force: %s",
			  partitions->name, changes);
	else if (changed && source == PARTITIONS_UNWANTED)
		log_about(LOG_NOTICE, &subject, "partition file %s is no longer in force: %s",
			  before->name, changes);
	free(changes);
	return changed;
}

static void take_file(struct policy *policy, enum partition_source source,
		      struct partitions *partitions)
{
	policy_put_file(policy, partitions);
	policy->given = source;
	free(policy->kept_mark);
	policy->kept_mark = NULL;
	policy_find_source(policy);
	policy_find_frozen(policy);
	policy_log_problem(policy);
	policy->closed = policy_is_closed(policy);
	policy->groups_noted = true;
	note_all(policy);
}

static void next_is_kept(void *ctx)
{
	struct policy *policy = ctx;
	struct partitions *next = policy->next;

	policy->next = NULL;
	take_file(policy, PARTITIONS_FILE, next);
}

bool policy_set_file(struct policy *policy, enum partition_source source,
		     struct partitions *partitions)
{
	bool changed = log_changes(policy, source, partitions);

	registry_wait_cancel(&policy->keeping);
	partitions_free(policy->next);
	policy->next = NULL;
	if (!policy->live || source != PARTITIONS_FILE) {
		take_file(policy, source, partitions);
		return changed;
	}
	policy->next = partitions;
	partition_kept_put(policy->registry, partitions, loop_wall_s(policy->loop));
	registry_wait(policy->registry, &policy->keeping);
	return changed;
}

void policy_options_changed(struct policy *policy)
{
	note_all(policy);
}

void policy_set_live(struct policy *policy, bool live)
{
	if (policy->live == live)
		return;
	policy->live = live;
	if (live)
		note_all(policy);
	else
		policy_end_walk(policy);
}

void policy_init(struct policy *policy, struct loop *loop, struct registry *registry,
		 struct event_hub *events, struct fabric *fabric, policy_port_fn *pkeys_changed,
		 void *pkeys_ctx, const struct sm_options *options)
{
	*policy = (struct policy){
		.loop = loop,
		.registry = registry,
		.reader = {.changed = policy_registry_changed,
			   .whole = policy_registry_whole,
			   .ctx = policy},
		.events = events,
		.fabric = fabric,
		.pkeys_changed = pkeys_changed,
		.pkeys_ctx = pkeys_ctx,
		.options = options,
		.state = 1,
		.memberships = mem_array(PARTITIONS, sizeof(*policy->memberships)),
		.touched = mem_array(PARTITIONS, sizeof(*policy->touched)),
	};
	policy->keeping = (struct registry_waiter){.durable = next_is_kept, .ctx = policy};
	list_init(&policy->keeping.link);
	map_init(&policy->held);
	policy_find_source(policy); /* until policy_set_file() the kept file counts */
	policy_find_frozen(policy);
	policy->closed = policy_is_closed(policy);
	slices_init(&policy->walk, loop, &all_plan, policy, policy_walked, policy);
	loop_deferred_init(&policy->turn, loop, "partitions changed", take_noted, policy);
	registry_read(registry, &policy->reader);
}

void policy_done(struct policy *policy)
{
	policy_end_walk(policy);
	loop_defer_cancel(&policy->turn);
	if (policy->settled.fn)
		loop_defer_cancel(&policy->settled);
	registry_unread(&policy->reader);
	registry_wait_cancel(&policy->keeping);
	held_keys_clear(&policy->held);
	partitions_free(policy->next);
	free(policy->problem);
	free(policy->kept_mark);
	policy_file_free(policy->file);
	free(policy->memberships);
	free(policy->touched);
	free(policy->keys);
	free(policy->noted);
}
