/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands that list multicast groups and their members (control_groups.h). A group may have
 * ten thousands of members, so a walk over the registry continues as the client reads. weftctl(8)
 * documents the names.
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
#include "sm/control/records.h"
#include "sm/sm.h"

enum { ROWS_A_PART = 32 };

struct showing {
	const struct control_groups *lists;
	const struct group_entry *group; /* a reference */
	struct registry_cursor members;
	bool noted, group_shown;
	struct mcast_tree tree; /* of the group; masks_shown counts the masks that were sent */
	struct snapshot *topology;
	size_t masks_shown;
};

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

static bool group_row(const void *ctx, const void *record, struct buffer *out)
{
	const struct control_groups *lists = ctx;
	const struct group_entry *group = record;

	row_begin(out, NULL, '{');
	group_members(group, out);
	row_integer(out, "members", sa_group_members(lists->sa, group->mgid));
	row_end(out, '}');
	return true;
}

static void command_group_list(void *ctx, struct control_request *request, const json_t *args)
{
	const struct control_groups *lists = ctx;

	(void)args;
	records_stream(lists->sm, request, REGISTRY_GROUP, "groups", group_row, ctx, NULL);
}

/* Returns false if no port in the view has this GUID; out is then unchanged. */
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

static void switch_members(const struct showing *showing, uint32_t index, struct buffer *out)
{
	const struct snap_switch *sw = &showing->topology->switches[index];

	row_guid(out, "guid", sw->guid);
	row_string(out, "description", sw->facts ? sw->facts->description : "");
}

/* The parameters of the group, and the switch that is the root of its tree. */
static void shown_group(struct showing *showing, struct buffer *part)
{
	row_begin(part, "group", '[');
	row_begin(part, NULL, '{');
	group_members(showing->group, part);
	if (sm_tree(showing->lists->sm, showing->group->mlid, &showing->tree, &showing->topology)) {
		row_begin(part, "root", '{');
		switch_members(showing, (uint32_t)showing->tree.root, part);
		row_end(part, '}');
		row_integer(part, "unreached", showing->tree.left_out);
		row_integer(part, "left_out", showing->tree.left_out); /* its former name */
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

/* Streams the switches of the tree, and the ports by which they send. */
static void shown_tree(struct showing *showing, struct buffer *part)
{
	const struct mcast_tree *tree = &showing->tree;

	row_begin(part, "switches", '[');
	for (unsigned rows = 0; rows < ROWS_A_PART && showing->masks_shown < tree->num_masks;
	     rows++) {
		uint32_t sw = tree->masks[showing->masks_shown].sw;

		row_begin(part, NULL, '{');
		switch_members(showing, sw, part);
		row_begin(part, "ports", '[');
		for (; showing->masks_shown < tree->num_masks &&
		       tree->masks[showing->masks_shown].sw == sw;
		     showing->masks_shown++)
			mask_ports(&tree->masks[showing->masks_shown], part);
		row_end(part, ']');
		row_end(part, '}');
	}
	row_end(part, ']');
}

/* Streams the group, then the switches of its tree, then its members. */
static enum stream_step group_show_next(void *source, struct buffer *part)
{
	struct showing *showing = source;
	const struct member_entry *member;
	unsigned rows = 0;

	if (records_note(showing->lists->sm, &showing->noted, part))
		return STREAM_PART;
	if (!showing->group_shown) {
		showing->group_shown = true;
		shown_group(showing, part);
		return STREAM_PART;
	}
	if (showing->masks_shown < showing->tree.num_masks) {
		shown_tree(showing, part);
		return STREAM_PART;
	}
	row_begin(part, "members", '[');
	for (; rows < ROWS_A_PART && (member = registry_walk_next(&showing->members)); rows++)
		member_row(showing->lists, member, part);
	row_end(part, ']');
	return rows ? STREAM_PART : STREAM_END;
}

static void show_finish(void *source)
{
	struct showing *showing = source;

	registry_walk_end(&showing->members);
	registry_unref(showing->group);
	free(showing->tree.masks);
	snapshot_unref(showing->topology);
	free(showing);
}

static void command_group_show(void *ctx, struct control_request *request, const json_t *args)
{
	const struct control_groups *lists = ctx;
	const char *mgid = json_string_value(json_object_get(args, "mgid"));
	const struct group_entry *group;
	struct member_entry member;
	struct group_entry key;
	struct showing *showing;

	if (!mgid || inet_pton(AF_INET6, mgid, key.mgid) != 1) {
		control_fail(request,
			     "\"%.60s\" is not an MGID: write it as an IPv6 address, such as "
			     "ff12:401b:ffff::ffff:ffff",
			     mgid ? mgid : "");
		return;
	}
	group = registry_find(lists->registry, REGISTRY_GROUP, &key);
	if (!group) {
		control_fail(
			request,
			"no group with the MGID %.60s; weftctl multicast list shows all groups",
			mgid);
		return;
	}
	showing = mem_zalloc(sizeof(*showing));
	showing->lists = lists;
	showing->group = registry_ref(group);
	memcpy(member.mgid, group->mgid, GID_SIZE);
	registry_walk(lists->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &member,
		      &showing->members);
	control_stream(request, group_show_next, show_finish, showing);
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
