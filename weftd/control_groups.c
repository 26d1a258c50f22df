/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups and their members for people (control_groups.h). A group may have ten thousands
 * of members, so both lists are walks of the registry that go on as the client reads, and a part is
 * made of so many records at the most. Names and members are documented in weftctl(8).
 */
#include "weftd/control_groups.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "mad/attr.h"
#include "route/mcast.h"
#include "sa/record.h"
#include "sm/sm.h"

enum {
	ROWS_A_PART = 32,
	RECORDS_A_PART = 1024, /* that are looked at */
};

struct listing {
	const struct control_groups *lists;
	struct registry_cursor groups, members;
	const struct group_entry *group; /* a reference; the one that is being told of */
	unsigned num_members;		 /* of it, so far */
	bool noted, group_told;
	struct mcast_tree tree; /* of the group that is shown, and how much of it was told */
	struct snapshot *topology;
	size_t masks_told;
};

bool control_groups_note(const struct control_groups *lists, bool *noted, struct buffer *part)
{
	json_t *standing = *noted ? NULL : sm_standing(lists->sm);

	*noted = true;
	if (standing)
		row_json(part, "note", standing);
	return standing;
}

static void group_members(const struct group_entry *group, struct buffer *out)
{
	char mgid[GID_TEXT];

	row_string(out, "mgid", gid_text(group->mgid, mgid));
	row_integer(out, "mlid", group->mlid);
	row_integer(out, "p_key", group->p_key);
	row_integer(out, "q_key", group->q_key);
	row_integer(out, "mtu", mtu_bytes(group->mtu));
	row_json(out, "rate_gbps", json_real(rate_deci_gbps(group->rate) / 10.0));
	row_integer(out, "sl", group->sl);
	row_integer(out, "packet_life_time", group->packet_life_time);
	row_integer(out, "tclass", group->tclass);
	row_integer(out, "flow_label", group->flow_label);
	row_integer(out, "hop_limit", group->hop_limit);
	row_integer(out, "scope", group->scope);
	row_boolean(out, "permanent", group->permanent);
}

/* What is told next is of this group; false when there is none. */
static bool group_listing_begin(struct listing *listing, const struct group_entry *group)
{
	struct member_entry key;

	if (!group)
		return false;
	listing->group = registry_ref(group);
	listing->num_members = 0;
	memcpy(key.mgid, group->mgid, GID_SIZE);
	registry_walk(listing->lists->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key,
		      &listing->members);
	return true;
}

static void end_group(struct listing *listing)
{
	if (!listing->group)
		return;
	registry_walk_end(&listing->members);
	registry_unref(listing->group);
	listing->group = NULL;
}

static enum stream_step group_list_next(void *source, struct buffer *part)
{
	struct listing *listing = source;
	bool more = true;
	unsigned rows = 0;

	if (control_groups_note(listing->lists, &listing->noted, part))
		return STREAM_PART;
	row_begin(part, "groups", '[');
	for (unsigned i = 0; i < RECORDS_A_PART && rows < ROWS_A_PART; i++) {
		if (!listing->group &&
		    !group_listing_begin(listing, registry_walk_next(&listing->groups))) {
			more = false;
			break;
		}
		if (registry_walk_next(&listing->members)) {
			listing->num_members++;
			continue;
		}
		row_begin(part, NULL, '{');
		group_members(listing->group, part);
		row_integer(part, "members", listing->num_members);
		row_end(part, '}');
		rows++;
		end_group(listing);
	}
	row_end(part, ']');
	return more || rows ? STREAM_PART : STREAM_END;
}

static void group_list_finish(void *source)
{
	struct listing *listing = source;

	end_group(listing);
	registry_walk_end(&listing->groups);
	free(listing->tree.masks);
	snapshot_unref(listing->topology);
	free(listing);
}

static struct listing *group_listing_new(const struct control_groups *lists)
{
	struct listing *listing = mem_zalloc(sizeof(*listing));

	listing->lists = lists;
	registry_walk(lists->registry, REGISTRY_GROUP, -1, NULL, &listing->groups);
	return listing;
}

static void command_group_list(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	control_stream(request, group_list_next, group_list_finish, group_listing_new(ctx));
}

/* False, and out untouched, when no port in the view has this GUID. */
static bool groups_find_port(const struct control_groups *lists, guid_t guid, struct endport *out)
{
	const struct snapshot *topology;
	int32_t found;

	if (!*lists->view)
		return false;
	topology = (*lists->view)->topology;
	found = snapshot_find_end(topology, guid);
	if (found >= 0)
		found += (int32_t)topology->num_switches;
	else
		found = snapshot_find_switch(topology, guid);
	if (found >= 0)
		*out = endport_at(topology, (uint32_t)found);
	return found >= 0;
}

void control_groups_where(const struct control_groups *lists, guid_t guid, struct buffer *out)
{
	struct endport port = {.lid = LID_NONE};

	groups_find_port(lists, guid, &port);
	row_guid(out, "guid", guid);
	row_integer(out, "lid", port.lid);
	row_string(out, "description", port.facts ? port.facts->description : "");
}

void control_groups_gid(uint64_t prefix, guid_t guid, const char *name, struct buffer *out)
{
	uint8_t gid[GID_SIZE];
	char text[GID_TEXT];

	be64_store(gid, prefix);
	be64_store(gid + 8, guid);
	row_string(out, name, gid_text(gid, text));
}

static void states_row(uint8_t join_state, struct buffer *out)
{
	static const struct {
		uint8_t bit;
		const char *name;
	} states[] = {{JOIN_FULL, "full"},
		      {JOIN_NON_MEMBER, "non-member"},
		      {JOIN_SEND_ONLY_NON_MEMBER, "send-only"},
		      {JOIN_SEND_ONLY_FULL, "send-only-full"}};

	row_begin(out, "join_state", '[');
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (join_state & states[i].bit)
			row_string(out, NULL, states[i].name);
	row_end(out, ']');
}

static void member_row(const struct control_groups *lists, const struct member_entry *member,
		       struct buffer *out)
{
	row_begin(out, NULL, '{');
	control_groups_gid(member->port_prefix, member->port_guid, "gid", out);
	states_row(member->join_state, out);
	row_boolean(out, "proxy", member->proxy_join);
	control_groups_where(lists, member->port_guid, out);
	row_end(out, '}');
}

static void switch_members(const struct listing *listing, uint32_t index, struct buffer *out)
{
	const struct snap_switch *sw = &listing->topology->switches[index];

	row_guid(out, "guid", sw->guid);
	row_string(out, "description", sw->facts ? sw->facts->description : "");
}

/* The group's parameters, and which switch is the root of its tree. */
static void shown_group(struct listing *listing, struct buffer *part)
{
	row_begin(part, "group", '[');
	row_begin(part, NULL, '{');
	group_members(listing->group, part);
	if (sm_tree(listing->lists->sm, listing->group->mlid, &listing->tree, &listing->topology)) {
		row_begin(part, "root", '{');
		switch_members(listing, (uint32_t)listing->tree.root, part);
		row_end(part, '}');
		row_integer(part, "left_out", listing->tree.left_out);
	}
	row_end(part, '}');
	row_end(part, ']');
}

static void mask_ports(const struct mcast_mask *mask, struct buffer *part)
{
	for (unsigned i = 0; i < MFT_POSITION_PORTS; i++)
		if (mask->ports >> i & 1)
			row_integer(part, NULL, mask->position * MFT_POSITION_PORTS + i);
}

/* Switches of the tree, and the ports by which they send. */
static void shown_tree(struct listing *listing, struct buffer *part)
{
	const struct mcast_tree *tree = &listing->tree;

	row_begin(part, "switches", '[');
	for (unsigned rows = 0; rows < ROWS_A_PART && listing->masks_told < tree->num_masks;
	     rows++) {
		uint32_t sw = tree->masks[listing->masks_told].sw;

		row_begin(part, NULL, '{');
		switch_members(listing, sw, part);
		row_begin(part, "ports", '[');
		for (; listing->masks_told < tree->num_masks &&
		       tree->masks[listing->masks_told].sw == sw;
		     listing->masks_told++)
			mask_ports(&tree->masks[listing->masks_told], part);
		row_end(part, ']');
		row_end(part, '}');
	}
	row_end(part, ']');
}

/* The group by itself, the switches of its tree, then its members. */
static enum stream_step group_show_next(void *source, struct buffer *part)
{
	struct listing *listing = source;
	const struct member_entry *member;
	unsigned rows = 0;

	if (control_groups_note(listing->lists, &listing->noted, part))
		return STREAM_PART;
	if (!listing->group_told) {
		listing->group_told = true;
		shown_group(listing, part);
		return STREAM_PART;
	}
	if (listing->masks_told < listing->tree.num_masks) {
		shown_tree(listing, part);
		return STREAM_PART;
	}
	row_begin(part, "members", '[');
	for (; rows < ROWS_A_PART && (member = registry_walk_next(&listing->members)); rows++)
		member_row(listing->lists, member, part);
	row_end(part, ']');
	return rows ? STREAM_PART : STREAM_END;
}

static void command_group_show(void *ctx, struct control_request *request, const json_t *args)
{
	const struct control_groups *lists = ctx;
	const char *mgid = json_string_value(json_object_get(args, "mgid"));
	const struct group_entry *group;
	struct group_entry key;
	struct listing *listing;

	if (!mgid || inet_pton(AF_INET6, mgid, key.mgid) != 1) {
		control_fail(request,
			     "\"%.60s\" is no MGID: write it as an IPv6 address, such as "
			     "ff12:401b:ffff::ffff:ffff",
			     mgid ? mgid : "");
		return;
	}
	group = registry_find(lists->registry, REGISTRY_GROUP, &key);
	if (!group) {
		control_fail(request,
			     "there is no group with the MGID %.60s; multicast list shows those "
			     "that there are",
			     mgid);
		return;
	}
	listing = group_listing_new(lists);
	group_listing_begin(listing, group);
	control_stream(request, group_show_next, group_list_finish, listing);
}

static const struct control_command commands[] = {
	{"multicast list", command_group_list, CONTROL_LOOKS},
	{"multicast show", command_group_show, CONTROL_LOOKS},
};

void control_groups_commands(struct control_groups *lists, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), lists);
	control_services_commands(lists, control);
}
