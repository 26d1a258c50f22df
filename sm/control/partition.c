/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands about partitions that change nothing: list and show. Names and members are
 * documented in weftctl(8). Loop thread only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"
#include "sm/control/partition.h"
#include "sm/control/records.h"
#include "sm/partition/owner.h"

enum { PORTS_A_PART = 32, LOOKS_A_PART = 256 };

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

uint8_t partition_membership_in(struct port_keys keys, pkey_t p_key)
{
	uint8_t membership = MEMBERSHIP_NONE;

	for (unsigned i = 0; i < keys.count; i++)
		if (pkey_partition(keys.key[i]) == p_key)
			membership |= keys.key[i] & PKEY_FULL_MEMBER ? MEMBERSHIP_FULL
								     : MEMBERSHIP_LIMITED;
	return membership;
}

const char *partition_status_name(const struct sm *sm, struct port *port, pkey_t p_key)
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

/* Of the membership: that of a command has the owner of its record. */
static const char *membership_owner(const struct sm *sm, guid_t guid, pkey_t p_key)
{
	if (policy_member(&sm->policy, p_key, guid))
		return partition_owner(sm->registry, p_key, guid);
	return sm->policy.source == PARTITIONS_NO_FILE ? "-" : "file";
}

void partition_port_row(struct sm *sm, guid_t guid, pkey_t p_key, struct buffer *out)
{
	struct port *port = policy_port(&sm->policy, guid);
	uint8_t membership = partition_membership_in(policy_guid_keys(&sm->policy, guid), p_key);
	const char *by = membership ? membership_source(sm, guid, p_key) : "-";

	row_begin(out, NULL, '{');
	row_guid(out, "guid", guid);
	row_string(out, "description", port ? port->node->facts->description : "");
	row_integer(out, "port", port ? port->num : 0);
	row_string(out, "membership", membership_name(membership));
	row_string(out, "by", by);
	row_string(out, "owner", membership ? membership_owner(sm, guid, p_key) : "-");
	row_string(out, "status", partition_status_name(sm, port, p_key));
	row_end(out, '}');
}

/* Members may exist without a partition defined at run time: of the default partition, or of a
 * partition of the file. */
guid_t *partition_run_time_members(const struct sm *sm, pkey_t p_key, size_t *count)
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

/* list */

struct listing {
	struct sm *sm;
	bool noted;
	struct partition_walk walk;    /* of list */
	struct registry_cursor cursor; /* of show */
	/* show */
	pkey_t p_key;
	enum { SHOW_HEAD, SHOW_PORTS, SHOW_ABSENT, SHOW_END } stage;
};

static size_t count_at_run_time(const struct sm *sm, pkey_t p_key)
{
	size_t count;

	free(partition_run_time_members(sm, p_key, &count));
	return count;
}

const char *partition_name(const struct sm *sm, pkey_t p_key)
{
	const struct partition *file = policy_in_file(&sm->policy, p_key);
	const struct partition_entry *entry = policy_at_run_time(&sm->policy, p_key);

	if (file && file->name[0])
		return file->name;
	if (entry)
		return (const char *)entry->name;
	return p_key == PKEY_DEFAULT_LIMITED && !file ? "Default" : "";
}

/* The parameters of its broadcast group; those of run time count if both the file and a command
 * define the partition. */
static void group_members(const struct partition *file, const struct partition_entry *entry,
			  struct buffer *out)
{
	const struct partition_group *group =
		file && file->ipoib && file->num_groups ? &file->groups[0] : NULL;

	if (entry && entry->ipoib) {
		row_integer(out, "mtu", mtu_bytes(entry->mtu));
		row_integer(out, "rate_mbps", 100 * (int64_t)rate_deci_gbps(entry->rate));
		row_integer(out, "q_key", entry->q_key);
	} else if (group) {
		row_integer(out, "mtu", mtu_bytes(group->mtu));
		row_integer(out, "rate_mbps", 100 * (int64_t)rate_deci_gbps(group->rate));
		row_integer(out, "q_key", group->q_key);
	}
}

static void partition_row(struct sm *sm, pkey_t p_key, struct buffer *out)
{
	const struct partition *file = policy_in_file(&sm->policy, p_key);
	const struct partition_entry *entry = policy_at_run_time(&sm->policy, p_key);
	bool usual = p_key == PKEY_DEFAULT_LIMITED && !file && !entry;
	row_begin(out, NULL, '{');
	row_integer(out, "p_key", p_key);
	row_string(out, "name", partition_name(sm, p_key));
	row_string(out, "by",
		   file && entry ? "file, run time"
		   : file	 ? "file"
		   : entry	 ? "run time"
				 : "built in");
	row_boolean(out, "ipoib",
		    (file && file->ipoib) || (entry && entry->ipoib) ||
			    (usual && sm->policy.source == PARTITIONS_NO_FILE));
	group_members(file, entry, out);
	row_boolean(out, "indx0", (file && file->index0) || (entry && entry->index0));
	row_integer(out, "rules", file ? (int)file->num_rules : 0);
	row_integer(out, "run_time_members", (int64_t)count_at_run_time(sm, p_key));
	row_end(out, '}');
}

void partition_walk_begin(const struct sm *sm, struct partition_walk *walk)
{
	*walk = (struct partition_walk){0};
	registry_walk(sm->registry, REGISTRY_PARTITION, -1, NULL, &walk->cursor);
}

bool partition_walk_next(const struct sm *sm, struct partition_walk *walk, pkey_t *p_key)
{
	const struct policy *policy = &sm->policy;
	const struct partitions *file = policy->file ? policy->file->partitions : NULL;
	const struct partition_entry *entry;

	if (!walk->past_default) {
		walk->past_default = true;
		*p_key = PKEY_DEFAULT_LIMITED;
		return true;
	}
	while (file && walk->in_file < file->count) {
		*p_key = file->partitions[walk->in_file++].p_key;
		if (*p_key != PKEY_DEFAULT_LIMITED)
			return true;
	}
	while ((entry = registry_walk_next(&walk->cursor))) {
		*p_key = entry->p_key;
		if (*p_key != PKEY_DEFAULT_LIMITED && !policy_in_file(policy, *p_key))
			return true;
	}
	return false;
}

void partition_walk_end(struct partition_walk *walk)
{
	registry_walk_end(&walk->cursor);
}

static enum stream_step partition_list_next(void *source, struct buffer *part)
{
	struct listing *listing = source;
	unsigned rows = 0;
	pkey_t p_key;

	if (records_note(listing->sm, &listing->noted, part))
		return STREAM_PART;
	row_begin(part, "partitions", '[');
	for (; rows < PORTS_A_PART && partition_walk_next(listing->sm, &listing->walk, &p_key);
	     rows++)
		partition_row(listing->sm, p_key, part);
	row_end(part, ']');
	return rows ? STREAM_PART : STREAM_END;
}

static void partition_list_finish(void *source)
{
	struct listing *listing = source;

	partition_walk_end(&listing->walk);
	free(listing);
}

static struct listing *partition_listing_new(struct sm *sm)
{
	struct listing *listing = mem_zalloc(sizeof(*listing));

	listing->sm = sm;
	return listing;
}

static void command_partition_list(void *ctx, struct control_request *request, const json_t *args)
{
	struct listing *listing = partition_listing_new(ctx);

	(void)args;
	partition_walk_begin(listing->sm, &listing->walk);
	control_stream(request, partition_list_next, partition_list_finish, listing);
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
		if (!partition_membership_in(policy_guid_keys(&sm->policy, entry->guid),
					     listing->p_key))
			continue;
		partition_port_row(sm, entry->guid, listing->p_key, part);
		rows++;
	}
}

static void show_absent(struct listing *listing, struct buffer *part)
{
	struct sm *sm = listing->sm;
	const struct partition *file = policy_in_file(&sm->policy, listing->p_key);
	unsigned rows = 0;
	size_t count;
	guid_t *guids = partition_run_time_members(sm, listing->p_key, &count);

	for (size_t i = 0; i < count && i < PARTITION_ROWS_MAX; i++) {
		if (was_seen(sm, guids[i]))
			continue;
		partition_port_row(sm, guids[i], listing->p_key, part);
		rows++;
	}
	for (uint32_t i = 0; file && i < file->num_rules && rows < PARTITION_ROWS_MAX; i++) {
		const struct partition_rule *rule = &file->rules[i];

		if (rule->who != WHO_GUIDS || rule->first != rule->last ||
		    was_seen(sm, rule->first) ||
		    policy_member(&sm->policy, listing->p_key, rule->first))
			continue;
		partition_port_row(sm, rule->first, listing->p_key, part);
		rows++;
	}
	free(guids);
	listing->stage = SHOW_END;
}

static enum stream_step partition_show_next(void *source, struct buffer *part)
{
	struct listing *listing = source;

	if (records_note(listing->sm, &listing->noted, part))
		return STREAM_PART;
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

static void partition_show_finish(void *source)
{
	struct listing *listing = source;

	registry_walk_end(&listing->cursor);
	free(listing);
}

static void command_partition_show(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct listing *listing;
	pkey_t p_key;

	if (!partition_argument(sm, request, args, &p_key))
		return;
	listing = partition_listing_new(sm);
	listing->p_key = p_key;
	registry_walk(sm->registry, REGISTRY_LID, -1, NULL, &listing->cursor);
	control_stream(request, partition_show_next, partition_show_finish, listing);
}

const struct control_command partition_commands[NUM_PARTITION_COMMANDS] = {
	{"partition list", command_partition_list, CONTROL_LOOKS},
	{"partition show", command_partition_show, CONTROL_LOOKS},
	{"partition add", command_partition_add, CONTROL_CHANGES},
	{"partition remove", command_partition_remove, CONTROL_CHANGES},
	{"partition set", command_partition_set, CONTROL_CHANGES},
	{"partition rename", command_partition_rename, CONTROL_CHANGES},
	{"partition member add", command_member_add, CONTROL_CHANGES},
	{"partition member remove", command_member_remove, CONTROL_CHANGES},
	{"partition apply", command_partition_apply, CONTROL_CHANGES},
	{"partition check", command_partition_check, CONTROL_ACTS},
	{"partition accept", command_partition_accept, CONTROL_CHANGES},
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
