/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands about partitions: list, show, add, remove, member add, member remove, accept. A
 * change is judged as a whole before any part of it counts. Its answer follows when it is durable,
 * when the ports that it concerns hold their P_Keys or have refused them, and when the SA uses
 * these P_Keys. After some seconds the answer follows anyway, and names what is still missing: no
 * answer reports a change that a restart may undo. Names and members are documented in weftctl(8).
 * Loop thread only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"
#include "sm/control/commands.h"

enum {
	PORTS_A_PART = 32,
	LOOKS_A_PART = 256,
	ROWS_MAX = 1000, /* of an answer to a change */
	GUIDS_MAX = 65536,
	PATIENCE_US = 10000000,
	MTU_2048 = 4,
	RATE_10 = 3,
	SCOPE_LINK_LOCAL = 2,
};

/* A change that waits for its ports. */
struct change {
	struct list link;
	struct sm *sm;
	struct control_request *request;
	struct registry_waiter durable;
	struct loop_timer patience;
	pkey_t p_key;
	guid_t *guids;
	size_t count, at; /* those before at have settled */
	bool is_durable;
};

static const char *const status_names[] = {
	[PKEYS_WANTED] = "wanted",
	[PKEYS_WRITTEN] = "written",
	[PKEYS_ACKNOWLEDGED] = "acknowledged",
	[PKEYS_FAILED] = "failed",
	[PKEYS_REFUSED] = "refused",
	[PKEYS_NO_ROOM] = "no room",
};

/* Rows of ports */

static const char *membership_name(uint8_t membership)
{
	static const char *const names[] = {"none", "limited", "full", "both"};

	return names[membership & MEMBERSHIP_BOTH];
}

static uint8_t membership_in(struct port_keys keys, pkey_t p_key)
{
	uint8_t membership = MEMBERSHIP_NONE;

	for (unsigned i = 0; i < keys.count; i++)
		if (pkey_partition(keys.key[i]) == p_key)
			membership |= keys.key[i] & PKEY_FULL_MEMBER ? MEMBERSHIP_FULL
								     : MEMBERSHIP_LIMITED;
	return membership;
}

static const char *status_name(const struct sm *sm, struct port *port, pkey_t p_key)
{
	return port ? status_names[program_pkeys_status(sm->program, port, p_key)] : "absent";
}

/* The origin of the membership of this port or alias. */
static const char *membership_source(struct sm *sm, guid_t guid, pkey_t p_key)
{
	struct policy *policy = &sm->policy;

	if (policy_member(policy, p_key, guid))
		return "run time";
	if (!policy_is_frozen(policy) && policy_owner(policy, guid) == guid &&
	    !policy_is_own_member(policy, guid, p_key))
		return "alias";
	return policy->source == PARTITIONS_FILE ? "file" : "built in";
}

static void port_row(struct sm *sm, guid_t guid, pkey_t p_key, struct buffer *out)
{
	struct port *port = policy_port(&sm->policy, guid);
	uint8_t membership = membership_in(policy_guid_keys(&sm->policy, guid), p_key);
	const char *by = membership ? membership_source(sm, guid, p_key) : "-";

	row_begin(out, NULL, '{');
	row_guid(out, "guid", guid);
	row_string(out, "description", port ? port->node->facts->description : "");
	row_integer(out, "port", port ? port->num : 0);
	row_string(out, "membership", membership_name(membership));
	row_string(out, "by", by);
	row_string(out, "status", status_name(sm, port, p_key));
	row_end(out, '}');
}

/* Changes under way */

static bool has_settled(struct sm *sm, const struct change *change, guid_t guid)
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

	if (!node || !membership_in(policy_guid_keys(&sm->policy, guid), p_key))
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
	    !membership_in(policy_guid_keys(&sm->policy, guid), p_key))
		return;
	snprintf(warning, sizeof(warning),
		 "%s is an alias of port %s without a grant, so that port gets no P_Key for it; "
		 "grant it with weftctl alias set or alias_guids",
		 guid_text(guid, text), guid_text(alias->port_guid, port));
	row_string(out, NULL, warning);
}

static void change_row(const struct change *change, struct buffer *out)
{
	char *problem = policy_problem(&change->sm->policy);
	json_t *counts = json_object();
	size_t waiting = 0;

	for (size_t i = 0; i < change->count; i++) {
		struct port *port = policy_port(&change->sm->policy, change->guids[i]);
		const char *status = status_name(change->sm, port, change->p_key);
		json_int_t before = json_integer_value(json_object_get(counts, status));

		waiting += !has_settled(change->sm, change, change->guids[i]);
		json_object_set_new(counts, status, json_integer(before + 1));
	}
	row_begin(out, NULL, '{');
	row_integer(out, "p_key", change->p_key);
	row_boolean(out, "durable", change->is_durable);
	row_integer(out, "waiting", (int64_t)waiting);
	row_boolean(out, "shown", publish_shows_keys(change->sm));
	row_json(out, "counts", counts);
	row_begin(out, "warnings", '[');
	if (problem && policy_is_frozen(&change->sm->policy))
		row_string(out, NULL, problem);
	if (policy_lacks_group(&change->sm->policy, change->p_key))
		row_string(
			out, NULL,
			"no MLID is left for its broadcast group, so IPoIB stays down in it; weftd "
			"makes the group when another group ends (or lower ipv6_snm_mlids)");
	for (size_t i = 0; i < change->count && i < ROWS_MAX; i++) {
		warn_of_node(change->sm, change->guids[i], change->p_key, out);
		warn_of_alias(change->sm, change->guids[i], change->p_key, out);
	}
	row_end(out, ']');
	row_begin(out, "ports", '[');
	for (size_t i = 0; i < change->count && i < ROWS_MAX; i++)
		port_row(change->sm, change->guids[i], change->p_key, out);
	row_end(out, ']');
	row_end(out, '}');
	free(problem);
}

static void partition_change_free(struct change *change)
{
	list_del(&change->link);
	loop_timer_disarm(&change->patience);
	registry_wait_cancel(&change->durable);
	free(change->guids);
	free(change);
}

static void partition_change_answer(struct change *change)
{
	struct buffer row = {0};

	change_row(change, &row);
	control_reply_row(change->request, &row);
	free(row.bytes);
	partition_change_free(change);
}

static void look_at_change(struct sm *sm, struct change *change)
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
		look_at_change(sm, container_of(item, struct change, link));
}

static void partition_change_durable(void *ctx)
{
	struct change *change = ctx;

	change->is_durable = true;
	policy_port_settled(&change->sm->policy);
}

static void change_is_late(void *arg)
{
	partition_change_answer(arg);
}

/* Answers when these ports have their P_Keys. Takes over guids. */
static void answer_later(struct sm *sm, struct control_request *request, pkey_t p_key,
			 guid_t *guids, size_t count)
{
	struct change *change = mem_zalloc(sizeof(*change));

	*change = (struct change){.sm = sm,
				  .request = request,
				  .durable = {.durable = partition_change_durable, .ctx = change},
				  .p_key = p_key,
				  .guids = guids,
				  .count = count};
	list_init(&change->durable.link);
	list_push(&sm->commands->partition_changes, &change->link);
	loop_timer_init(&change->patience, sm->loop, "partition command", change_is_late, change);
	loop_timer_arm(&change->patience, PATIENCE_US);
	registry_wait(sm->registry, &change->durable);
}

/* Arguments */

/* A number, or its text. */
static bool number_argument(const json_t *value, uint64_t least, uint64_t most, uint64_t *out)
{
	const char *text = json_string_value(value);
	uint64_t number;
	char *end;

	if (json_is_integer(value)) {
		number = (uint64_t)json_integer_value(value);
	} else {
		if (!text || *text < '0' || *text > '9')
			return false;
		errno = 0;
		number = strtoull(text, &end, 0);
		if (*end || errno)
			return false;
	}
	if (number < least || number > most)
		return false;
	*out = number;
	return true;
}

static bool p_key_argument(struct control_request *request, const json_t *args, pkey_t *out)
{
	const char *text = json_string_value(json_object_get(args, "p_key"));

	if (text && partition_key_parse(text, out))
		return true;
	control_fail(request,
		     "\"%.20s\" is not a P_Key: 0x0001 to 0x7fff, the low 15 bits; the default "
		     "partition is 0x7fff",
		     text ? text : "");
	return false;
}

static const struct partition_option {
	const char *name;
	size_t offset, size;
	uint32_t least, most, preset;
	const char *meaning; /* NULL: the number itself */
} partition_options[] = {
#define OPTION(member) \
	offsetof(struct partition_entry, member), sizeof(((struct partition_entry *)0)->member)
	{"mtu", OPTION(mtu), 1, 5, MTU_2048, ", a code: 4 is 2048 bytes, 5 is 4096"},
	{"rate", OPTION(rate), 2, 24, RATE_10,
	 ", a code: 3 is 10 Gb/s; weft-partitions.conf(5) has them all"},
	{"scope", OPTION(scope), 1, 15, SCOPE_LINK_LOCAL, NULL},
	{"q_key", OPTION(q_key), 0, UINT32_MAX, 0, NULL},
	{"tclass", OPTION(tclass), 0, UINT8_MAX, 0, NULL},
	{"flow_label", OPTION(flow_label), 0, 0xFFFFF, 0, NULL},
#undef OPTION
};

static bool take_options(struct control_request *request, const json_t *args,
			 struct partition_entry *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(partition_options); i++) {
		const struct partition_option *option = &partition_options[i];
		const json_t *given = json_object_get(args, option->name);
		uint64_t value = option->preset;

		if (given && !number_argument(given, option->least, option->most, &value)) {
			control_fail(request, "%s is a number from %u to %u%s", option->name,
				     option->least, option->most,
				     option->meaning ? option->meaning : "");
			return false;
		}
		if (option->size == sizeof(uint8_t))
			*((uint8_t *)entry + option->offset) = (uint8_t)value;
		else
			*(uint32_t *)((char *)entry + option->offset) = (uint32_t)value;
	}
	entry->ipoib = json_is_true(json_object_get(args, "ipoib"));
	entry->index0 = json_is_true(json_object_get(args, "indx0"));
	return true;
}

/* add, remove */

/* Members may exist without a partition defined at run time: of the default partition, or of a
 * partition of the file. */
static guid_t *members_at_run_time(const struct sm *sm, pkey_t p_key, size_t *count)
{
	const struct partition_member_entry key = {.p_key = p_key}, *member;
	size_t room = 64;
	guid_t *guids = mem_array(room, sizeof(*guids));

	*count = 0;
	for (member = registry_first(sm->registry, REGISTRY_PARTITION_MEMBER,
				     PARTITION_MEMBER_BY_KEY, &key);
	     member; member = registry_next(sm->registry, REGISTRY_PARTITION_MEMBER,
					    PARTITION_MEMBER_BY_KEY, member)) {
		if (*count == room)
			guids = mem_resize(guids, room *= 2, sizeof(*guids));
		guids[(*count)++] = member->guid;
	}
	return guids;
}

static void command_add(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const char *name = json_string_value(json_object_get(args, "name"));
	struct partition_entry entry = {0};
	const struct partition *in_file;
	guid_t *guids;
	size_t count;

	if (!sm_may_change(sm, request, "partitions") ||
	    !p_key_argument(request, args, &entry.p_key) || !take_options(request, args, &entry))
		return;
	in_file = policy_in_file(&sm->policy, entry.p_key);
	if (in_file) {
		control_fail(request,
			     "0x%04x is in the partition file (line %u): change it there; only "
			     "members can be added at run time, with partition member add",
			     entry.p_key, in_file->line);
		return;
	}
	if (policy_at_run_time(&sm->policy, entry.p_key)) {
		control_fail(request, "partition 0x%04x already exists", entry.p_key);
		return;
	}
	if (name && strlen(name) >= sizeof(entry.name)) {
		control_fail(request, "a name has at most %zu bytes", sizeof(entry.name) - 1);
		return;
	}
	if (name)
		memcpy(entry.name, name, strlen(name));
	registry_put(sm->registry, REGISTRY_PARTITION, &entry);
	guids = members_at_run_time(sm, entry.p_key, &count);
	answer_later(sm, request, entry.p_key, guids, count);
}

static void command_partition_remove(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const struct partition *in_file;
	struct partition_entry key = {0};
	guid_t *guids;
	size_t count;

	if (!sm_may_change(sm, request, "partitions") || !p_key_argument(request, args, &key.p_key))
		return;
	if (!policy_at_run_time(&sm->policy, key.p_key)) {
		in_file = policy_in_file(&sm->policy, key.p_key);
		if (in_file)
			control_fail(request,
				     "0x%04x is in the partition file (line %u): remove it there; "
				     "only members that were added at run time can be removed here",
				     key.p_key, in_file->line);
		else
			control_fail(request, "no partition 0x%04x was added at run time",
				     key.p_key);
		return;
	}
	guids = members_at_run_time(sm, key.p_key, &count);
	for (size_t i = 0; i < count; i++) {
		const struct partition_member_entry member = {.p_key = key.p_key, .guid = guids[i]};

		registry_drop(sm->registry, REGISTRY_PARTITION_MEMBER, &member);
	}
	registry_drop(sm->registry, REGISTRY_PARTITION, &key);
	answer_later(sm, request, key.p_key, guids, count);
}

/* member add, member remove */

/* All of them, or none. */
static guid_t *guids_argument(struct control_request *request, const json_t *args, size_t *count)
{
	const json_t *list = json_object_get(args, "guids"), *value;
	guid_t *guids;
	size_t i;

	*count = json_array_size(list);
	if (!*count || *count > GUIDS_MAX) {
		control_fail(request, "expected 1 to %d GUIDs", GUIDS_MAX);
		return NULL;
	}
	guids = mem_array(*count, sizeof(*guids));
	json_array_foreach (list, i, value) {
		const char *text = json_string_value(value);

		if (text && strncmp(text, "0x", 2) == 0 &&
		    number_argument(value, 1, UINT64_MAX - 1, &guids[i]))
			continue;
		control_fail(request,
			     "\"%.40s\" is not a port GUID (0x and hexadecimal digits, see weftctl "
			     "port show); nothing was changed",
			     text ? text : "");
		free(guids);
		return NULL;
	}
	return guids;
}

static bool membership_argument(const struct sm *sm, struct control_request *request,
				const json_t *args, uint8_t *out)
{
	bool full = json_is_true(json_object_get(args, "full"));
	bool limited = json_is_true(json_object_get(args, "limited"));
	bool both = json_is_true(json_object_get(args, "both"));

	if (full + limited + both > 1) {
		control_fail(request, "expected one of --full, --limited and --both");
		return false;
	}
	if (both && !sm->options.allow_both) {
		control_fail(request, "--both needs allow_both_pkeys = true in the configuration");
		return false;
	}
	*out = both ? MEMBERSHIP_BOTH : limited ? MEMBERSHIP_LIMITED : MEMBERSHIP_FULL;
	return true;
}

static bool partition_exists(const struct sm *sm, struct control_request *request, pkey_t p_key)
{
	if (p_key == PKEY_DEFAULT_LIMITED || policy_in_file(&sm->policy, p_key) ||
	    policy_at_run_time(&sm->policy, p_key))
		return true;
	control_fail(request, "no partition 0x%04x: add it with weftctl partition add", p_key);
	return false;
}

static void command_member_add(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	uint8_t membership;
	pkey_t p_key;
	guid_t *guids;
	size_t count;

	if (!sm_may_change(sm, request, "partitions") || !p_key_argument(request, args, &p_key) ||
	    !partition_exists(sm, request, p_key) ||
	    !membership_argument(sm, request, args, &membership))
		return;
	guids = guids_argument(request, args, &count);
	for (size_t i = 0; guids && i < count; i++) {
		const struct partition_member_entry member = {p_key, guids[i], membership};

		registry_put(sm->registry, REGISTRY_PARTITION_MEMBER, &member);
	}
	if (guids)
		answer_later(sm, request, p_key, guids, count);
}

static void command_member_remove(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	char text[GUID_TEXT];
	pkey_t p_key;
	guid_t *guids;
	size_t count;

	if (!sm_may_change(sm, request, "partitions") || !p_key_argument(request, args, &p_key) ||
	    !partition_exists(sm, request, p_key))
		return;
	guids = guids_argument(request, args, &count);
	for (size_t i = 0; guids && i < count; i++) {
		if (policy_member(&sm->policy, p_key, guids[i]))
			continue;
		control_fail(request,
			     "%s is not a member of 0x%04x that was added at run time%s; nothing "
			     "was changed",
			     guid_text(guids[i], text), p_key,
			     policy_in_file(&sm->policy, p_key)
				     ? ": remove members of the partition file there"
				     : "");
		free(guids);
		return;
	}
	for (size_t i = 0; guids && i < count; i++) {
		const struct partition_member_entry member = {.p_key = p_key, .guid = guids[i]};

		registry_drop(sm->registry, REGISTRY_PARTITION_MEMBER, &member);
	}
	if (guids)
		answer_later(sm, request, p_key, guids, count);
}

/* accept */

static void command_accept(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	json_t *accepted;

	(void)args;
	if (!sm_may_change(sm, request, "partitions"))
		return;
	accepted = json_pack("{s:s?,s:I,s:I}", "loss", policy_loss(&sm->policy), "at_run_time",
			     (json_int_t)registry_count(sm->registry, REGISTRY_PARTITION),
			     "run_time_members",
			     (json_int_t)registry_count(sm->registry, REGISTRY_PARTITION_MEMBER));
	policy_accept(&sm->policy);
	settings_answer(&sm->engines.settings, request, accepted);
}

/* list */

struct listing {
	struct sm *sm;
	struct registry_cursor cursor;
	uint32_t in_file;
	bool told_default;
	/* show */
	pkey_t p_key;
	enum { SHOW_HEAD, SHOW_PORTS, SHOW_ABSENT, SHOW_END } stage;
};

static size_t count_at_run_time(const struct sm *sm, pkey_t p_key)
{
	size_t count;

	free(members_at_run_time(sm, p_key, &count));
	return count;
}

static void partition_row(struct sm *sm, pkey_t p_key, struct buffer *out)
{
	const struct partition *file = policy_in_file(&sm->policy, p_key);
	const struct partition_entry *entry = policy_at_run_time(&sm->policy, p_key);
	bool usual = p_key == PKEY_DEFAULT_LIMITED && !file && !entry;
	const char *name = file && file->name[0] ? file->name
			   : entry		 ? (const char *)entry->name
			   : usual		 ? "Default"
						 : "";

	row_begin(out, NULL, '{');
	row_integer(out, "p_key", p_key);
	row_string(out, "name", name);
	row_string(out, "by",
		   file && entry ? "file, run time"
		   : file	 ? "file"
		   : entry	 ? "run time"
				 : "built in");
	row_boolean(out, "ipoib",
		    (file && file->ipoib) || (entry && entry->ipoib) ||
			    (usual && sm->policy.source == PARTITIONS_NO_FILE));
	row_boolean(out, "indx0", (file && file->index0) || (entry && entry->index0));
	row_integer(out, "rules", file ? (int)file->num_rules : 0);
	row_integer(out, "run_time_members", (int64_t)count_at_run_time(sm, p_key));
	row_end(out, '}');
}

/* The next partition of the list; false: no more. */
static bool next_partition(struct listing *listing, pkey_t *p_key)
{
	const struct policy *policy = &listing->sm->policy;
	const struct partitions *file = policy->file ? policy->file->partitions : NULL;
	const struct partition_entry *entry;

	if (!listing->told_default) {
		listing->told_default = true;
		*p_key = PKEY_DEFAULT_LIMITED;
		return true;
	}
	while (file && listing->in_file < file->count) {
		*p_key = file->partitions[listing->in_file++].p_key;
		if (*p_key != PKEY_DEFAULT_LIMITED)
			return true;
	}
	while ((entry = registry_walk_next(&listing->cursor))) {
		*p_key = entry->p_key;
		if (*p_key != PKEY_DEFAULT_LIMITED && !policy_in_file(policy, *p_key))
			return true;
	}
	return false;
}

static enum stream_step partition_list_next(void *source, struct buffer *part)
{
	struct listing *listing = source;
	unsigned rows = 0;
	pkey_t p_key;

	row_begin(part, "partitions", '[');
	for (; rows < PORTS_A_PART && next_partition(listing, &p_key); rows++)
		partition_row(listing->sm, p_key, part);
	row_end(part, ']');
	return rows ? STREAM_PART : STREAM_END;
}

static void partition_list_finish(void *source)
{
	struct listing *listing = source;

	registry_walk_end(&listing->cursor);
	free(listing);
}

static struct listing *partition_listing_new(struct sm *sm, enum registry_kind kind)
{
	struct listing *listing = mem_zalloc(sizeof(*listing));

	listing->sm = sm;
	registry_walk(sm->registry, kind, -1, NULL, &listing->cursor);
	return listing;
}

static void command_partition_list(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	control_stream(request, partition_list_next, partition_list_finish,
		       partition_listing_new(ctx, REGISTRY_PARTITION));
}

/* show: all ports that have, or had, a LID; then members that were never seen */

static bool was_seen(const struct sm *sm, guid_t guid)
{
	const struct lid_entry key = {.guid = policy_owner(&sm->policy, guid)};

	return registry_find(sm->registry, REGISTRY_LID, &key);
}

static void show_ports(struct listing *listing, struct buffer *part)
{
	struct sm *sm = listing->sm;
	unsigned rows = 0;

	for (unsigned i = 0; i < LOOKS_A_PART && rows < PORTS_A_PART; i++) {
		const struct lid_entry *entry = registry_walk_next(&listing->cursor);

		if (!entry) {
			listing->stage = SHOW_ABSENT;
			return;
		}
		if (!membership_in(policy_guid_keys(&sm->policy, entry->guid), listing->p_key))
			continue;
		port_row(sm, entry->guid, listing->p_key, part);
		rows++;
	}
}

static void show_absent(struct listing *listing, struct buffer *part)
{
	struct sm *sm = listing->sm;
	const struct partition *file = policy_in_file(&sm->policy, listing->p_key);
	unsigned rows = 0;
	size_t count;
	guid_t *guids = members_at_run_time(sm, listing->p_key, &count);

	for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
		if (was_seen(sm, guids[i]))
			continue;
		port_row(sm, guids[i], listing->p_key, part);
		rows++;
	}
	for (uint32_t i = 0; file && i < file->num_rules && rows < ROWS_MAX; i++) {
		const struct partition_rule *rule = &file->rules[i];

		if (rule->who != WHO_GUIDS || rule->first != rule->last ||
		    was_seen(sm, rule->first) ||
		    policy_member(&sm->policy, listing->p_key, rule->first))
			continue;
		port_row(sm, rule->first, listing->p_key, part);
		rows++;
	}
	free(guids);
	listing->stage = SHOW_END;
}

static enum stream_step partition_show_next(void *source, struct buffer *part)
{
	struct listing *listing = source;

	if (listing->stage == SHOW_END)
		return STREAM_END;
	row_begin(part, listing->stage == SHOW_HEAD ? "partition" : "ports", '[');
	switch (listing->stage) {
	case SHOW_HEAD:
		listing->stage = SHOW_PORTS;
		partition_row(listing->sm, listing->p_key, part);
		break;
	case SHOW_PORTS:
		show_ports(listing, part);
		break;
	default:
		show_absent(listing, part);
	}
	row_end(part, ']');
	return STREAM_PART;
}

static void command_partition_show(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct listing *listing;
	pkey_t p_key;

	if (!p_key_argument(request, args, &p_key) || !partition_exists(sm, request, p_key))
		return;
	listing = partition_listing_new(sm, REGISTRY_LID);
	listing->p_key = p_key;
	control_stream(request, partition_show_next, partition_list_finish, listing);
}

const struct control_command partition_commands[NUM_PARTITION_COMMANDS] = {
	{"partition list", command_partition_list, CONTROL_LOOKS},
	{"partition show", command_partition_show, CONTROL_LOOKS},
	{"partition add", command_add, CONTROL_ACTS},
	{"partition remove", command_partition_remove, CONTROL_ACTS},
	{"partition member add", command_member_add, CONTROL_ACTS},
	{"partition member remove", command_member_remove, CONTROL_ACTS},
	{"partition check", command_partition_check, CONTROL_ACTS},
	{"partition accept", command_accept, CONTROL_ACTS},
};

json_t *partitions_json(const struct sm *sm)
{
	static const char *const sources[] = {
		[PARTITIONS_NO_FILE] = "no file",
		[PARTITIONS_FILE] = "file",
		[PARTITIONS_KEPT_FILE] = "the last good file, from the store",
		[PARTITIONS_LOST_FILE] = "the file is missing: P_Keys stay as they are"};
	const struct policy *policy = &sm->policy;
	const struct partitions *file = policy->file ? policy->file->partitions : NULL;
	bool open = !policy_is_closed(policy);
	const char *source = open ? "no file, nothing at run time: all ports are full members of "
				    "the default partition"
			     : policy_loss(policy) ? "records were lost: P_Keys stay as they are"
						   : sources[policy->source];

	return json_pack(
		"{s:s,s:b,s:b,s:b,s:i,s:I,s:I,s:I,s:I,s:I,s:I}", "source", source, "open", open,
		"frozen", policy_is_frozen(policy), "file_bad",
		policy->source == PARTITIONS_KEPT_FILE || policy->source == PARTITIONS_LOST_FILE,
		"in_file", file ? (int)file->count : 0, "at_run_time",
		(json_int_t)registry_count(sm->registry, REGISTRY_PARTITION), "run_time_members",
		(json_int_t)registry_count(sm->registry, REGISTRY_PARTITION_MEMBER),
		"unmanaged_ports", (json_int_t)sm->unmanaged_pkeys.ports, "unmanaged_p_keys",
		(json_int_t)sm->unmanaged_pkeys.keys,
		/* The former names, for one release. */
		"foreign_ports", (json_int_t)sm->unmanaged_pkeys.ports, "foreign_p_keys",
		(json_int_t)sm->unmanaged_pkeys.keys);
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
		struct change *change = container_of(item, struct change, link);

		control_fail(change->request, "the daemon is stopping");
		partition_change_free(change);
	}
}
