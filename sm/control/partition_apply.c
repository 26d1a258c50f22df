/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * partition apply: makes the partitions and members of one owner match a text in the format of
 * partition files, and changes nothing of other owners. The text arrives in pieces. The differences
 * are computed as a whole, and all changes are made in one turn of the loop: the store and the
 * standbys apply the changes of one turn whole or not at all. The answer follows when they are
 * durable. Loop thread only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "sm/control/partition.h"
#include "sm/partition/owner.h"

enum { MEMBERS_MAX = 100000, IPOIB_Q_KEY = 0x0B1B, WIRE_MAX = 1024 };

/* A member that the text names. */
struct wish {
	pkey_t p_key;
	uint8_t membership;
	guid_t guid;
	uint32_t order;
};

enum difference_kind {
	PARTITION_MADE,
	PARTITION_CHANGED,
	PARTITION_REMOVED,
	MEMBER_ADDED,
	MEMBER_CHANGED,
	MEMBER_REMOVED,
	OF_OTHER_OWNER, /* the text wants another membership, or other parameters: not changed */
	DIFFERENCE_KINDS,
};

static const char *const kind_names[] = {
	[PARTITION_MADE] = "partition made",	     [PARTITION_CHANGED] = "partition changed",
	[PARTITION_REMOVED] = "partition removed",   [MEMBER_ADDED] = "member added",
	[MEMBER_CHANGED] = "member changed",	     [MEMBER_REMOVED] = "member removed",
	[OF_OTHER_OWNER] = "kept: of another owner",
};

struct difference {
	uint8_t kind; /* enum difference_kind */
	pkey_t p_key;
	guid_t guid;	       /* 0: the partition */
	uint8_t before, after; /* memberships */
	uint32_t partition;    /* in the text, of PARTITION_MADE and PARTITION_CHANGED */
};

struct application {
	struct list link; /* in commands->applications, while it waits */
	struct sm *sm;
	struct control_request *request;
	struct registry_waiter durable;
	const struct partitions *text;
	const char *owner;
	struct wish *wishes; /* by P_Key and GUID */
	size_t num_wishes, wishes_room;
	struct difference *differences;
	size_t num_differences, differences_room;
	uint64_t counts[DIFFERENCE_KINDS];
	json_t *answer;
};

/* What the text wants */

static bool add_wish(struct application *a, pkey_t p_key, guid_t guid, uint8_t membership)
{
	if (a->num_wishes == MEMBERS_MAX) {
		control_fail(a->request,
			     "partition apply takes at most %d members; nothing was changed",
			     MEMBERS_MAX);
		return false;
	}
	if (a->num_wishes == a->wishes_room) {
		a->wishes_room = a->wishes_room ? 2 * a->wishes_room : 64;
		a->wishes = mem_resize(a->wishes, a->wishes_room, sizeof(*a->wishes));
	}
	a->wishes[a->num_wishes] = (struct wish){p_key, membership, guid, (uint32_t)a->num_wishes};
	a->num_wishes++;
	return true;
}

static bool add_rule(struct application *a, const struct partition *partition,
		     const struct partition_rule *rule)
{
	if (rule->who != WHO_GUIDS) {
		control_fail(a->request,
			     "%s:%u: partition 0x%04x: members of partition apply are GUIDs and "
			     "ranges of GUIDs; ALL, SELF and kinds of ports belong into the "
			     "partition file; nothing was changed",
			     a->text->name, partition->line, partition->p_key);
		return false;
	}
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
			last->membership = wish->membership |
					   (a->sm->options.allow_both ? last->membership : 0);
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

/* A partition of the text as a record. The group of IPoIB has the parameters. */
static struct partition_entry entry_of(const struct partition *partition)
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

static void add_difference(struct application *a, struct difference difference)
{
	if (a->num_differences == a->differences_room) {
		a->differences_room = a->differences_room ? 2 * a->differences_room : 64;
		a->differences =
			mem_resize(a->differences, a->differences_room, sizeof(*a->differences));
	}
	a->differences[a->num_differences++] = difference;
	a->counts[difference.kind]++;
}

static bool is_owned(const struct application *a, pkey_t p_key, guid_t guid)
{
	return !strcmp(partition_owner(a->sm->registry, p_key, guid), a->owner);
}

/* By fields, because the structs may have gaps. */
static bool is_equal_entry(const struct partition_entry *a, const struct partition_entry *b)
{
	const struct format *format = registry_tables[REGISTRY_PARTITION].format;
	uint8_t wire_a[WIRE_MAX] = {0}, wire_b[WIRE_MAX] = {0};

	format_encode(format, a, wire_a);
	format_encode(format, b, wire_b);
	return !memcmp(wire_a, wire_b, format->wire_size);
}

/* False: the request has ended. */
static bool compare_partition(struct application *a, uint32_t number)
{
	const struct partition *partition = &a->text->partitions[number];
	pkey_t p_key = partition->p_key, other;
	const struct partition_entry *known = policy_at_run_time(&a->sm->policy, p_key);
	const struct partition_entry entry = entry_of(partition);
	struct difference difference = {.p_key = p_key, .partition = number};

	if (partition->num_groups > partition->ipoib) {
		control_fail(a->request,
			     "%s:%u: partition 0x%04x: groups other than one IPoIB group belong "
			     "into the partition file; nothing was changed",
			     a->text->name, partition->line, p_key);
		return false;
	}
	if (policy_in_file(&a->sm->policy, p_key))
		return true; /* its parameters are those of the file */
	if (partition_name_is_taken(a->sm, partition->name, p_key, &other)) {
		control_fail(a->request,
			     "%s:%u: partition 0x%04x has the name \"%.64s\" already; nothing was "
			     "changed",
			     a->text->name, partition->line, other, partition->name);
		return false;
	}
	if (known && is_equal_entry(known, &entry))
		return true;
	difference.kind = !known		  ? PARTITION_MADE
			  : is_owned(a, p_key, 0) ? PARTITION_CHANGED
						  : OF_OTHER_OWNER;
	add_difference(a, difference);
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
	add_difference(a, difference);
}

static void compare_members(struct application *a)
{
	const struct registry *registry = a->sm->registry;
	const struct partition_member_entry *member;

	for (size_t i = 0; i < a->num_wishes; i++)
		compare_wish(a, &a->wishes[i]);
	for (member = registry_first(registry, REGISTRY_PARTITION_MEMBER, -1, NULL); member;
	     member = registry_next(registry, REGISTRY_PARTITION_MEMBER, -1, member))
		if (!find_wish(a, member->p_key, member->guid) &&
		    is_owned(a, member->p_key, member->guid))
			add_difference(a, (struct difference){.kind = MEMBER_REMOVED,
							      .p_key = member->p_key,
							      .guid = member->guid,
							      .before = member->membership});
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
static void compare_removed(struct application *a)
{
	const struct registry *registry = a->sm->registry;
	const struct partition_entry *entry;

	for (entry = registry_first(registry, REGISTRY_PARTITION, -1, NULL); entry;
	     entry = registry_next(registry, REGISTRY_PARTITION, -1, entry))
		if (entry->p_key != PKEY_DEFAULT_LIMITED && is_owned(a, entry->p_key, 0) &&
		    !text_has(a, entry->p_key) && !has_member_of_others(a, entry->p_key))
			add_difference(a, (struct difference){.kind = PARTITION_REMOVED,
							      .p_key = entry->p_key});
}

static bool compare_all(struct application *a)
{
	for (uint32_t p = 0; p < a->text->count; p++)
		if (!compare_partition(a, p))
			return false;
	compare_members(a);
	compare_removed(a);
	return true;
}

/* Dangers */

/* Whether the difference takes a membership from a port that is present. */
static bool takes_key(struct application *a, const struct difference *difference)
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

/* Why the changes need --force, for free(); NULL: they need none. Only partitions that lose members
 * are looked at, and they are at most partition_confirm_ports. */
static char *find_danger(struct application *a)
{
	unsigned limit = a->sm->options.partition_confirm_ports;
	struct partition_effect effect;
	uint64_t taken = 0;
	pkey_t last = 0;

	for (size_t i = 0; i < a->num_differences; i++)
		taken += takes_key(a, &a->differences[i]);
	if (taken > limit)
		return mem_printf("it takes %" PRIu64 " memberships from ports that are present "
				  "(partition_confirm_ports is %u)",
				  taken, limit);
	for (size_t i = 0; i < a->num_differences; i++) {
		const struct difference *difference = &a->differences[i];
		bool defines = difference->kind == PARTITION_MADE &&
			       difference->p_key == PKEY_DEFAULT_LIMITED;

		if (!defines && (difference->p_key == last || !takes_key(a, difference)))
			continue;
		last = difference->p_key;
		effect = effect_on(a, last, defines);
		if (effect.cut_off || (defines && effect.ports))
			return mem_printf("%" PRIu64 " ports would lose 0x%04x or full membership "
					  "in it, %" PRIu64 " limited members could reach no port "
					  "in it, and %" PRIu64 " pairs of ports could no longer "
					  "exchange packets in it",
					  effect.ports, last, effect.cut_off, effect.pairs);
	}
	return NULL;
}

/* The state of all that commands made, to find changes by another administrator. */
static uint64_t state_of(const struct registry *registry)
{
	static const enum registry_kind kinds[] = {REGISTRY_PARTITION, REGISTRY_PARTITION_MEMBER,
						   REGISTRY_PARTITION_OWNER};
	uint64_t state = HASH_SEED;
	uint8_t wire[WIRE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct format *format = registry_tables[kinds[i]].format;
		const void *record = registry_first(registry, kinds[i], -1, NULL);

		for (; record; record = registry_next(registry, kinds[i], -1, record)) {
			memset(wire, 0, format->wire_size);
			format_encode(format, record, wire);
			/* A sum, because the order of the records does not count. */
			state += hash_bytes(HASH_SEED + kinds[i], wire, format->wire_size);
		}
	}
	return state;
}

/* Changes */

static void make_change(struct application *a, const struct difference *difference)
{
	struct registry *registry = a->sm->registry;
	pkey_t p_key = difference->p_key;
	const struct partition_member_entry member = {p_key, difference->guid, difference->after};
	struct partition_entry entry = {.p_key = p_key};

	switch (difference->kind) {
	case PARTITION_MADE:
	case PARTITION_CHANGED:
		entry = entry_of(&a->text->partitions[difference->partition]);
		registry_put(registry, REGISTRY_PARTITION, &entry);
		partition_owner_put(registry, p_key, 0, a->owner);
		break;
	case PARTITION_REMOVED:
		registry_drop(registry, REGISTRY_PARTITION, &entry);
		partition_owner_put(registry, p_key, 0, NULL);
		break;
	case MEMBER_ADDED:
	case MEMBER_CHANGED:
		registry_put(registry, REGISTRY_PARTITION_MEMBER, &member);
		partition_owner_put(registry, p_key, difference->guid, a->owner);
		break;
	case MEMBER_REMOVED:
		registry_drop(registry, REGISTRY_PARTITION_MEMBER, &member);
		partition_owner_put(registry, p_key, difference->guid, NULL);
		break;
	default:
		break;
	}
}

/* Answers */

static json_t *difference_json(struct application *a, const struct difference *difference)
{
	static const char *const memberships[] = {"-", "limited", "full", "both"};
	const struct port *port =
		difference->guid ? policy_port(&a->sm->policy, difference->guid) : NULL;
	char guid[GUID_TEXT];

	return json_pack(
		"{s:s,s:i,s:s,s:s,s:s,s:s,s:s}", "kind", kind_names[difference->kind], "p_key",
		difference->p_key, "guid",
		difference->guid ? guid_text(difference->guid, guid) : "", "description",
		port ? port->node->facts->description : "", "before",
		memberships[difference->before & MEMBERSHIP_BOTH], "after",
		memberships[difference->after & MEMBERSHIP_BOTH], "owner",
		difference->kind == OF_OTHER_OWNER
			? partition_owner(a->sm->registry, difference->p_key, difference->guid)
			: a->owner);
}

static json_t *answer_json(struct application *a, bool dry_run, const char *danger)
{
	json_t *rows = json_array();
	uint64_t changed = a->num_differences - a->counts[OF_OTHER_OWNER];

	for (size_t i = 0; i < a->num_differences && i < PARTITION_ROWS_MAX; i++)
		json_array_append_new(rows, difference_json(a, &a->differences[i]));
	return json_pack("{s:s,s:b,s:b,s:I,s:I,s:I,s:s?,s:o}", "owner", a->owner, "dry_run",
			 dry_run, "changed", changed > 0, "num_changed", (json_int_t)changed,
			 "members", (json_int_t)a->num_wishes, "kept",
			 (json_int_t)a->counts[OF_OTHER_OWNER], "danger", danger, "differences",
			 rows);
}

static void application_free(struct application *a)
{
	list_del(&a->link);
	registry_wait_cancel(&a->durable);
	json_decref(a->answer);
	free(a->wishes);
	free(a->differences);
	free(a);
}

static void application_is_durable(void *ctx)
{
	struct application *a = ctx;

	control_reply(a->request, json_incref(a->answer));
	application_free(a);
}

static void set_state(struct application *a)
{
	char state[GUID_TEXT];

	json_object_set_new(a->answer, "state",
			    json_string(guid_text(state_of(a->sm->registry), state)));
}

static void application_run(struct application *a, const json_t *args, const char *danger)
{
	bool dry_run = json_is_true(json_object_get(args, "dry-run"));

	a->answer = answer_json(a, dry_run, danger);
	for (size_t i = 0; !dry_run && i < a->num_differences; i++)
		make_change(a, &a->differences[i]);
	set_state(a);
	registry_wait(a->sm->registry, &a->durable);
}

/* Whether nothing was changed since the state that the request expects, if it expects one. */
static bool is_expected(struct application *a, const json_t *args)
{
	const char *expected = json_string_value(json_object_get(args, "if-state"));
	char state[GUID_TEXT];

	guid_text(state_of(a->sm->registry), state);
	if (!expected || !strcmp(expected, state))
		return true;
	control_fail(a->request,
		     "partitions were changed since state %.20s (now %s): run partition apply "
		     "--dry-run again, which shows the present differences; weftctl events shows "
		     "the changes; nothing was changed",
		     expected, state);
	return false;
}

static void application_begin(struct sm *sm, struct control_request *request, const json_t *args,
			      const struct partitions *text, const char *owner)
{
	struct application *a = mem_zalloc(sizeof(*a));
	bool needs_no_force = json_is_true(json_object_get(args, "force")) ||
			      json_is_true(json_object_get(args, "dry-run"));
	char *danger;

	*a = (struct application){.sm = sm, .request = request, .text = text, .owner = owner};
	a->durable = (struct registry_waiter){.durable = application_is_durable, .ctx = a};
	list_init(&a->durable.link);
	list_push(&sm->commands->applications, &a->link);
	if (!is_expected(a, args) || !gather_wishes(a) || !compare_all(a)) {
		application_free(a);
		return;
	}
	danger = find_danger(a);
	if (danger && !needs_no_force) {
		control_fail(request, "%s: see --dry-run, and add --force; nothing was changed",
			     danger);
		application_free(a);
	} else {
		application_run(a, args, danger);
	}
	free(danger);
}

void command_partition_apply(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct upload *upload = &sm->commands->apply_upload;
	const char *name = json_string_value(json_object_get(args, "name"));
	const char *owner = json_string_value(json_object_get(args, "owner"));
	struct partitions *text;
	char *error;

	if (!sm_may_change(sm, request, "change partitions"))
		return;
	if (owner && !partition_owner_is_valid(owner)) {
		control_fail(request,
			     "\"%.64s\" is no owner: expected admin, site or gateway:NAME (at most "
			     "%d letters, digits and .-_; file is the partition file itself)",
			     owner, PARTITION_OWNER_SIZE - 1);
		return;
	}
	if (!upload_take(upload, request, args, "partition apply") ||
	    upload_continues(upload, request, args))
		return;
	if (partitions_parse_all(name ? name : "file", upload->text, upload->length,
				 sm->options.allow_both, &text, &error)) {
		control_fail(request, "%s", error);
		free(error);
	} else {
		application_begin(sm, request, args, text, owner ? owner : "admin");
		partitions_free(text);
	}
	upload_forget(upload);
}

void partition_apply_init(struct sm *sm)
{
	list_init(&sm->commands->applications);
}

void partition_apply_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->applications) {
		struct application *a = container_of(link, struct application, link);

		control_fail(a->request, "the daemon is stopping");
		application_free(a);
	}
	upload_forget(&commands->apply_upload);
}
