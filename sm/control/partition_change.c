/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands that change partitions: add, remove, set, rename, member add, member remove, accept.
 * A change is judged as a whole before any part of it counts. A request that asks for what there is
 * already changes nothing, and succeeds. The answer follows when the change is durable, when the
 * ports that it concerns hold their P_Keys or have refused them, and when the SA uses these P_Keys.
 * After some seconds the answer follows anyway, and names what is still missing: no answer reports
 * a change that a restart may undo. Loop thread only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"
#include "sm/control/partition.h"
#include "sm/partition/owner.h"

enum { PATIENCE_US = 10000000 };

/* A change that waits for its ports. */
struct waiting_change {
	struct list link;
	struct sm *sm;
	struct control_request *request;
	struct registry_waiter durable;
	struct loop_timer patience;
	pkey_t p_key;
	guid_t *guids;
	size_t count, at; /* those before at have settled */
	size_t changed;	  /* partitions and members that were not so before */
	bool is_durable;
};

/* Changes under way */

static bool has_settled(struct sm *sm, const struct waiting_change *change, guid_t guid)
{
	struct port *port = policy_port(&sm->policy, guid);
	enum pkeys_status status;

	if (!port || !port->lid || port_state_of(port) < PORT_INIT || policy_is_frozen(&sm->policy))
		return true;
	status = program_pkeys_status(sm->program, port, change->p_key);
	return status != PKEYS_WANTED && status != PKEYS_WRITTEN;
}

/* Warns of a node GUID as a member. Lists show node GUIDs, and for an adapter no port has this
 * GUID, so it is probably a mistake. */
static void warn_of_node(struct sm *sm, guid_t guid, pkey_t p_key, struct buffer *out)
{
	const struct node *node =
		policy_port(&sm->policy, guid) ? NULL : fabric_find_node(sm->fabric, guid);
	char text[GUID_TEXT], warning[200];

	if (!node || !partition_membership_in(policy_guid_keys(&sm->policy, guid), p_key))
		return;
	snprintf(warning, sizeof(warning),
		 "%s is the GUID of node \"%.64s\", not of a port: use the port GUID, see weftctl "
		 "port show",
		 guid_text(guid, text), node->facts->description);
	row_string(out, NULL, warning);
}

/* Warns of an alias that is not granted: it does not count for its port, so the member gets no
 * P_Key. */
static void warn_of_alias(struct sm *sm, guid_t guid, pkey_t p_key, struct buffer *out)
{
	const struct alias_entry key = {.guid = guid}, *alias;
	char text[GUID_TEXT], port[GUID_TEXT], warning[240];

	alias = registry_first(sm->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
	if (!alias || policy_owner(&sm->policy, guid) != guid ||
	    !partition_membership_in(policy_guid_keys(&sm->policy, guid), p_key))
		return;
	snprintf(warning, sizeof(warning),
		 "%s is an alias of port %s without a grant, so that port gets no P_Key for it; "
		 "grant it with weftctl alias set or alias_guids",
		 guid_text(guid, text), guid_text(alias->port_guid, port));
	row_string(out, NULL, warning);
}

/* Whether the change leaves members that are all limited: limited members do not reach each other.
 * Only of a partition that commands alone define. */
static bool has_no_full_member(const struct waiting_change *change)
{
	const struct sm *sm = change->sm;
	const struct partition_member_entry key = {.p_key = change->p_key}, *member;

	member = registry_first(sm->registry, REGISTRY_PARTITION_MEMBER, PARTITION_MEMBER_BY_KEY,
				&key);
	if (!member || !change->changed || policy_in_file(&sm->policy, change->p_key) ||
	    change->p_key == PKEY_DEFAULT_LIMITED)
		return false;
	while (member && member->membership == MEMBERSHIP_LIMITED)
		member = registry_next(sm->registry, REGISTRY_PARTITION_MEMBER,
				       PARTITION_MEMBER_BY_KEY, member);
	return !member;
}

static void change_row(const struct waiting_change *change, struct buffer *out)
{
	char *problem = policy_problem(&change->sm->policy);
	json_t *counts = json_object();
	size_t waiting = 0;

	for (size_t i = 0; i < change->count; i++) {
		struct port *port = policy_port(&change->sm->policy, change->guids[i]);
		const char *status = partition_status_name(change->sm, port, change->p_key);
		json_int_t before = json_integer_value(json_object_get(counts, status));

		waiting += !has_settled(change->sm, change, change->guids[i]);
		json_object_set_new(counts, status, json_integer(before + 1));
	}
	row_begin(out, NULL, '{');
	row_integer(out, "p_key", change->p_key);
	row_string(out, "name", partition_name(change->sm, change->p_key));
	row_boolean(out, "changed", change->changed);
	row_integer(out, "num_changed", (int64_t)change->changed);
	row_boolean(out, "durable", change->is_durable);
	row_integer(out, "waiting", (int64_t)waiting);
	row_boolean(out, "shown", publish_shows_keys(change->sm));
	row_boolean(out, "no_full_member", has_no_full_member(change));
	row_json(out, "counts", counts);
	row_begin(out, "warnings", '[');
	if (problem && policy_is_frozen(&change->sm->policy))
		row_string(out, NULL, problem);
	if (policy_lacks_group(&change->sm->policy, change->p_key))
		row_string(
			out, NULL,
			"no MLID is left for its broadcast group, so IPoIB stays down in it; weftd "
			"makes the group when another group ends (or lower ipv6_snm_mlids)");
	for (size_t i = 0; i < change->count && i < PARTITION_ROWS_MAX; i++) {
		warn_of_node(change->sm, change->guids[i], change->p_key, out);
		warn_of_alias(change->sm, change->guids[i], change->p_key, out);
	}
	row_end(out, ']');
	row_begin(out, "ports", '[');
	for (size_t i = 0; i < change->count && i < PARTITION_ROWS_MAX; i++)
		partition_port_row(change->sm, change->guids[i], change->p_key, out);
	row_end(out, ']');
	row_end(out, '}');
	free(problem);
}

static void partition_change_free(struct waiting_change *change)
{
	list_del(&change->link);
	loop_timer_disarm(&change->patience);
	registry_wait_cancel(&change->durable);
	free(change->guids);
	free(change);
}

static void partition_change_answer(struct waiting_change *change)
{
	struct buffer row = {0};

	change_row(change, &row);
	control_reply_row(change->request, &row);
	free(row.bytes);
	partition_change_free(change);
}

static void look_at_change(struct sm *sm, struct waiting_change *change)
{
	if (!change->is_durable)
		return;
	while (change->at < change->count && has_settled(sm, change, change->guids[change->at]))
		change->at++;
	if (change->at == change->count && publish_shows_keys(sm))
		partition_change_answer(change);
}

static void look_at_changes(void *ctx)
{
	struct sm *sm = ctx;

	list_for_each (item, &sm->commands->partition_changes)
		look_at_change(sm, container_of(item, struct waiting_change, link));
}

static void partition_change_durable(void *ctx)
{
	struct waiting_change *change = ctx;

	change->is_durable = true;
	policy_port_settled(&change->sm->policy);
}

static void change_is_late(void *arg)
{
	partition_change_answer(arg);
}

/* Answers when these ports have their P_Keys. changed: how many records were put or dropped. Takes
 * over guids. */
static void answer_later(struct sm *sm, struct control_request *request, pkey_t p_key,
			 guid_t *guids, size_t count, size_t changed)
{
	struct waiting_change *change = mem_zalloc(sizeof(*change));

	*change = (struct waiting_change){
		.sm = sm,
		.request = request,
		.durable = {.durable = partition_change_durable, .ctx = change},
		.p_key = p_key,
		.guids = guids,
		.count = count,
		.changed = changed};
	list_init(&change->durable.link);
	list_push(&sm->commands->partition_changes, &change->link);
	loop_timer_init(&change->patience, sm->loop, "partition command", change_is_late, change);
	loop_timer_arm(&change->patience, PATIENCE_US);
	registry_wait(sm->registry, &change->durable);
}

/* add, remove */

/* Puts the members that differ. Returns how many. */
static size_t put_members(struct sm *sm, pkey_t p_key, const struct named_port *ports, size_t count)
{
	size_t changed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct partition_member_entry member = {p_key, ports[i].guid,
							      ports[i].membership};
		const struct partition_member_entry *known =
			policy_member(&sm->policy, p_key, member.guid);

		if (known && known->membership == member.membership)
			continue;
		registry_put(sm->registry, REGISTRY_PARTITION_MEMBER, &member);
		/* The administrator takes over a member by changing it. */
		partition_owner_put(sm->registry, p_key, member.guid, NULL);
		changed++;
	}
	return changed;
}

/* Drops the members that commands added. Returns how many. */
static size_t drop_members(struct sm *sm, pkey_t p_key, const struct named_port *ports,
			   size_t count)
{
	size_t changed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct partition_member_entry member = {.p_key = p_key,
							      .guid = ports[i].guid};

		if (!policy_member(&sm->policy, p_key, member.guid))
			continue;
		registry_drop(sm->registry, REGISTRY_PARTITION_MEMBER, &member);
		partition_owner_put(sm->registry, p_key, member.guid, NULL);
		changed++;
	}
	return changed;
}

/* Their GUIDs, for free(). */
static guid_t *guids_of(const struct named_port *ports, size_t count)
{
	guid_t *guids = mem_array(count, sizeof(*guids));

	for (size_t i = 0; i < count; i++)
		guids[i] = ports[i].guid;
	return guids;
}

/* False: the request has ended, because the file has the partition. */
static bool is_not_in_file(const struct sm *sm, struct control_request *request, pkey_t p_key,
			   const char *remedy)
{
	const struct partition *in_file = policy_in_file(&sm->policy, p_key);

	if (in_file)
		control_fail(request, "0x%04x is in the partition file (line %u): %s", p_key,
			     in_file->line, remedy);
	return !in_file;
}

/* A request that is repeated has the same parameters. It may have no name. */
static bool is_repeated(const struct partition_entry *known, const struct partition_entry *wanted)
{
	struct partition_entry named = *wanted;

	if (!named.name[0])
		memcpy(named.name, known->name, sizeof(named.name));
	return partition_entry_is_same(known, &named);
}

static const char *plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

/* False: the request has ended, because the change would cut ports off and is not forced. */
static bool is_safe(struct sm *sm, struct control_request *request, const json_t *args,
		    const struct partition_change *change)
{
	struct partition_effect effect;
	bool all;

	if (json_is_true(json_object_get(args, "force")))
		return true;
	effect = partition_effect(sm, change);
	all = change->redefines && effect.ports;
	if (all)
		control_fail(
			request,
			"%" PRIu64 " port%s would lose %s of 0x%04x, and %" PRIu64
			" pair%s of ports could no longer exchange packets in it: add --force; "
			"nothing was changed",
			effect.ports, plural(effect.ports),
			change->is_defined ? "full membership" : "membership", change->p_key,
			effect.pairs, plural(effect.pairs));
	else if (effect.cut_off)
		control_fail(request,
			     "0x%04x would have no full member that is present, so %" PRIu64
			     " limited member%s could reach no port in it (%" PRIu64
			     " pair%s): add --force; nothing was changed",
			     change->p_key, effect.cut_off, plural(effect.cut_off), effect.pairs,
			     plural(effect.pairs));
	return !all && !effect.cut_off;
}

static bool differs_from_request(const struct partition_entry *known,
				 const struct partition_entry *wanted,
				 struct control_request *request)
{
	bool differs = known && !is_repeated(known, wanted);

	if (differs)
		control_fail(request,
			     "partition 0x%04x already exists with other parameters (name \"%s\", "
			     "ipoib %u, indx0 %u, mtu %u, rate %u, scope %u, Q_Key 0x%x): use "
			     "partition set or partition rename",
			     wanted->p_key, (const char *)known->name, known->ipoib, known->index0,
			     known->mtu, known->rate, known->scope, known->q_key);
	return differs;
}

void command_partition_add(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct partition_entry entry;
	const struct partition_entry *known;
	struct named_port *ports;
	guid_t *guids;
	size_t count, all, changed;
	pkey_t p_key;

	if (!sm_may_change(sm, request, "change partitions") ||
	    !p_key_argument(request, args, &p_key))
		return;
	entry = partition_entry_presets(p_key);
	if (!is_not_in_file(sm, request, p_key,
			    "change it there; commands can only add members to it, with partition "
			    "member add") ||
	    !partition_options_argument(request, args, &entry) ||
	    !partition_name_argument(sm, request, args, &entry))
		return;
	known = policy_at_run_time(&sm->policy, p_key);
	if (differs_from_request(known, &entry, request))
		return;
	ports = members_argument(sm, request, args, &count);
	if (!ports || !is_safe(sm, request, args,
			       &(struct partition_change){.p_key = p_key,
							  .redefines = !known,
							  .is_defined = true,
							  .ports = ports,
							  .count = count})) {
		free(ports);
		return;
	}
	changed = !known;
	if (!known)
		registry_put(sm->registry, REGISTRY_PARTITION, &entry);
	changed += put_members(sm, p_key, ports, count);
	guids = partition_run_time_members(sm, p_key, &all);
	free(ports);
	answer_later(sm, request, p_key, guids, all, changed);
}

static bool is_safe_to_remove(struct sm *sm, struct control_request *request, const json_t *args,
			      pkey_t p_key, const guid_t *guids, size_t count)
{
	struct named_port *ports = mem_array(count, sizeof(*ports));
	bool safe;

	for (size_t i = 0; i < count; i++)
		ports[i].guid = guids[i];
	safe = is_safe(sm, request, args,
		       &(struct partition_change){
			       .p_key = p_key, .redefines = true, .ports = ports, .count = count});
	free(ports);
	return safe;
}

void command_partition_remove(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct partition_entry key = {0};
	guid_t *guids;
	size_t count;

	if (!sm_may_change(sm, request, "change partitions"))
		return;
	if (!partition_is_absent(sm, args, &key.p_key) &&
	    !partition_argument(sm, request, args, &key.p_key))
		return;
	if (!policy_at_run_time(&sm->policy, key.p_key)) {
		if (is_not_in_file(sm, request, key.p_key,
				   "remove it there; only members that were added by commands can "
				   "be removed here"))
			answer_later(sm, request, key.p_key, NULL, 0, 0);
		return;
	}
	guids = partition_run_time_members(sm, key.p_key, &count);
	if (!is_safe_to_remove(sm, request, args, key.p_key, guids, count)) {
		free(guids);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct partition_member_entry member = {.p_key = key.p_key, .guid = guids[i]};

		registry_drop(sm->registry, REGISTRY_PARTITION_MEMBER, &member);
		partition_owner_put(sm->registry, key.p_key, guids[i], NULL);
	}
	registry_drop(sm->registry, REGISTRY_PARTITION, &key);
	partition_owner_put(sm->registry, key.p_key, 0, NULL);
	answer_later(sm, request, key.p_key, guids, count, 1 + count);
}

/* set, rename */

/* Changes the entry of an existing partition by one of the functions that read arguments. */
static void change_entry(struct sm *sm, struct control_request *request, const json_t *args,
			 bool (*change)(const struct sm *sm, struct control_request *request,
					const json_t *args, struct partition_entry *entry))
{
	const struct partition_entry *known;
	struct partition_entry entry;
	bool is_same;
	pkey_t p_key;

	if (!sm_may_change(sm, request, "change partitions") ||
	    !partition_argument(sm, request, args, &p_key) ||
	    !is_not_in_file(sm, request, p_key, "change it there"))
		return;
	known = policy_at_run_time(&sm->policy, p_key);
	if (!known) {
		control_fail(request,
			     "0x%04x is built in: before you change it, define it: weftctl "
			     "partition add 0x%04x Default --ipoib --members ALL --full",
			     p_key, p_key);
		return;
	}
	entry = *known;
	if (!change(sm, request, args, &entry))
		return;
	is_same = !memcmp(&entry, known, sizeof(entry));
	if (!is_same)
		registry_put(sm->registry, REGISTRY_PARTITION, &entry);
	answer_later(sm, request, p_key, NULL, 0, !is_same);
}

static bool set_options(const struct sm *sm, struct control_request *request, const json_t *args,
			struct partition_entry *entry)
{
	(void)sm;
	return partition_options_argument(request, args, entry);
}

void command_partition_set(void *ctx, struct control_request *request, const json_t *args)
{
	change_entry(ctx, request, args, set_options);
}

void command_partition_rename(void *ctx, struct control_request *request, const json_t *args)
{
	change_entry(ctx, request, args, partition_name_argument);
}

/* member add, member remove */

/* NULL: the request has ended; with at least one port. */
static struct named_port *some_members(struct sm *sm, struct control_request *request,
				       const json_t *args, pkey_t *p_key, size_t *count)
{
	struct named_port *ports;

	if (!sm_may_change(sm, request, "change partitions") ||
	    !partition_argument(sm, request, args, p_key))
		return NULL;
	ports = members_argument(sm, request, args, count);
	if (ports && !*count) {
		control_fail(request, "no member is named");
		free(ports);
		return NULL;
	}
	return ports;
}

void command_member_add(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	size_t count, changed;
	pkey_t p_key;
	struct named_port *ports = some_members(sm, request, args, &p_key, &count);

	if (!ports ||
	    !is_safe(sm, request, args,
		     &(struct partition_change){.p_key = p_key, .ports = ports, .count = count})) {
		free(ports);
		return;
	}
	changed = put_members(sm, p_key, ports, count);
	answer_later(sm, request, p_key, guids_of(ports, count), count, changed);
	free(ports);
}

/* A port that is a member by the file alone cannot be removed here. Returns false after an error.
 */
static bool may_remove(struct sm *sm, struct control_request *request, pkey_t p_key, guid_t guid)
{
	char text[GUID_TEXT];

	if (policy_member(&sm->policy, p_key, guid) || !policy_in_file(&sm->policy, p_key) ||
	    !partition_membership_in(policy_guid_keys(&sm->policy, guid), p_key))
		return true;
	control_fail(request,
		     "%s is a member of 0x%04x by the partition file, not by a command: remove it "
		     "there; nothing was changed",
		     guid_text(guid, text), p_key);
	return false;
}

void command_member_remove(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	size_t count, changed;
	pkey_t p_key;
	struct named_port *ports = some_members(sm, request, args, &p_key, &count);

	bool may = ports;

	for (size_t i = 0; may && i < count; i++) {
		may = may_remove(sm, request, p_key, ports[i].guid);
		ports[i].membership = MEMBERSHIP_NONE;
	}
	if (may &&
	    is_safe(sm, request, args,
		    &(struct partition_change){.p_key = p_key, .ports = ports, .count = count})) {
		changed = drop_members(sm, p_key, ports, count);
		answer_later(sm, request, p_key, guids_of(ports, count), count, changed);
	}
	free(ports);
}

/* accept */

void command_partition_accept(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	json_t *accepted;

	(void)args;
	if (!sm_may_change(sm, request, "change partitions"))
		return;
	accepted = json_pack("{s:s?,s:I,s:I}", "loss", policy_loss(&sm->policy), "at_run_time",
			     (json_int_t)registry_count(sm->registry, REGISTRY_PARTITION),
			     "run_time_members",
			     (json_int_t)registry_count(sm->registry, REGISTRY_PARTITION_MEMBER));
	policy_accept(&sm->policy);
	settings_answer(&sm->engines.settings, request, accepted);
}

void partition_commands_init(struct sm *sm)
{
	list_init(&sm->commands->partition_changes);
	sm->key_views.shown = look_at_changes;
	sm->key_views.shown_ctx = sm;
}

void partition_commands_stop(struct sm_commands *commands)
{
	list_for_each (item, &commands->partition_changes) {
		struct waiting_change *change = container_of(item, struct waiting_change, link);

		control_fail(change->request, "the daemon is stopping");
		partition_change_free(change);
	}
}
