/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups and their members for people (registered.h). A group may have ten thousands of
 * members, so both lists are walks of the registry that go on as the client reads, and a part is
 * made of so many records at the most. Names and members are documented in weftctl(8).
 */
#include "weftd/registered.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "route/mcast.h"
#include "sa/record.h"
#include "sm/sm.h"
#include "sma/attr.h"

enum {
	ROWS_A_PART = 32,
	RECORDS_A_PART = 1024, /* that are looked at */
};

struct listing {
	const struct registered *registered;
	struct registry_cursor groups, members;
	const struct group_entry *group; /* a reference; the one that is being told of */
	unsigned num_members;		 /* of it, so far */
	bool noted, group_told;
	struct mcast_tree tree; /* of the group that is shown, and how much of it was told */
	struct snapshot *topology;
	size_t masks_told;
};

json_t *registered_note(const struct registered *registered, bool *noted)
{
	json_t *standing = *noted ? NULL : sm_standing(registered->sm);

	*noted = true;
	return standing ? json_pack("{s:o}", "note", standing) : NULL;
}

static json_t *group_json(const struct group_entry *group)
{
	char mgid[GID_TEXT];

	return json_pack("{s:s,s:i,s:i,s:I,s:i,s:f,s:i,s:i,s:i,s:I,s:i,s:i,s:b}", "mgid",
			 gid_text(group->mgid, mgid), "mlid", group->mlid, "p_key", group->p_key,
			 "q_key", (json_int_t)group->q_key, "mtu", mtu_bytes(group->mtu),
			 "rate_gbps", rate_deci_gbps(group->rate) / 10.0, "sl", group->sl,
			 "packet_life_time", group->packet_life_time, "tclass", group->tclass,
			 "flow_label", (json_int_t)group->flow_label, "hop_limit", group->hop_limit,
			 "scope", group->scope, "permanent", group->permanent);
}

/* What is told next is of this group; false when there is none. */
static bool begin_group(struct listing *listing, const struct group_entry *group)
{
	struct member_entry key;

	if (!group)
		return false;
	listing->group = registry_ref(group);
	listing->num_members = 0;
	memcpy(key.mgid, group->mgid, GID_SIZE);
	registry_walk(listing->registered->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key,
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

static json_t *list_next(void *source)
{
	struct listing *listing = source;
	json_t *note = registered_note(listing->registered, &listing->noted), *rows, *row;
	bool more = true;

	if (note)
		return note;
	rows = json_array();
	for (unsigned i = 0; i < RECORDS_A_PART && json_array_size(rows) < ROWS_A_PART; i++) {
		if (!listing->group &&
		    !begin_group(listing, registry_walk_next(&listing->groups))) {
			more = false;
			break;
		}
		if (registry_walk_next(&listing->members)) {
			listing->num_members++;
			continue;
		}
		row = group_json(listing->group);
		json_object_set_new(row, "members", json_integer(listing->num_members));
		json_array_append_new(rows, row);
		end_group(listing);
	}
	if (more || json_array_size(rows))
		return json_pack("{s:o}", "groups", rows);
	json_decref(rows);
	return NULL;
}

static void list_finish(void *source)
{
	struct listing *listing = source;

	end_group(listing);
	registry_walk_end(&listing->groups);
	free(listing->tree.masks);
	snapshot_unref(listing->topology);
	free(listing);
}

static struct listing *listing_new(const struct registered *registered)
{
	struct listing *listing = mem_zalloc(sizeof(*listing));

	listing->registered = registered;
	registry_walk(registered->registry, REGISTRY_GROUP, -1, NULL, &listing->groups);
	return listing;
}

static void command_list(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	control_stream(request, list_next, list_finish, listing_new(ctx));
}

/* False, and out untouched, when no port in the view has this GUID. */
static bool find_port(const struct registered *registered, guid_t guid, struct endport *out)
{
	const struct snapshot *topology;
	int32_t found;

	if (!*registered->view)
		return false;
	topology = (*registered->view)->topology;
	found = snapshot_find_end(topology, guid);
	if (found >= 0)
		found += (int32_t)topology->num_switches;
	else
		found = snapshot_find_switch(topology, guid);
	if (found >= 0)
		*out = endport_at(topology, (uint32_t)found);
	return found >= 0;
}

void registered_put_port(const struct registered *registered, guid_t guid, json_t *row)
{
	struct endport port = {.lid = LID_NONE};
	char text[GUID_TEXT];

	find_port(registered, guid, &port);
	json_object_set_new(row, "guid", json_string(guid_text(guid, text)));
	json_object_set_new(row, "lid", json_integer(port.lid));
	json_object_set_new(row, "description",
			    json_string(port.facts ? port.facts->description : ""));
}

json_t *registered_gid(uint64_t prefix, guid_t guid)
{
	uint8_t gid[GID_SIZE];
	char text[GID_TEXT];

	be64_store(gid, prefix);
	be64_store(gid + 8, guid);
	return json_string(gid_text(gid, text));
}

static json_t *states_json(uint8_t join_state)
{
	static const struct {
		uint8_t bit;
		const char *name;
	} states[] = {{JOIN_FULL, "full"},
		      {JOIN_NON_MEMBER, "non-member"},
		      {JOIN_SEND_ONLY_NON_MEMBER, "send-only"},
		      {JOIN_SEND_ONLY_FULL, "send-only-full"}};
	json_t *names = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (join_state & states[i].bit)
			json_array_append_new(names, json_string(states[i].name));
	return names;
}

static json_t *member_json(const struct registered *registered, const struct member_entry *member)
{
	json_t *row = json_pack(
		"{s:o,s:o,s:b}", "gid", registered_gid(member->port_prefix, member->port_guid),
		"join_state", states_json(member->join_state), "proxy", member->proxy_join);

	registered_put_port(registered, member->port_guid, row);
	return row;
}

static json_t *switch_json(const struct listing *listing, uint32_t index)
{
	const struct snap_switch *sw = &listing->topology->switches[index];
	char guid[GUID_TEXT];

	return json_pack("{s:s,s:s}", "guid", guid_text(sw->guid, guid), "description",
			 sw->facts ? sw->facts->description : "");
}

/* The group's parameters, and which switch is the root of its tree. */
static json_t *shown_json(struct listing *listing)
{
	json_t *group = group_json(listing->group);

	if (sm_tree(listing->registered->sm, listing->group->mlid, &listing->tree,
		    &listing->topology)) {
		json_object_set_new(group, "root",
				    switch_json(listing, (uint32_t)listing->tree.root));
		json_object_set_new(group, "left_out", json_integer(listing->tree.left_out));
	}
	return json_pack("{s:[o]}", "group", group);
}

/* Switches of the tree, and the ports by which they send. */
static json_t *tree_json(struct listing *listing)
{
	json_t *rows = json_array();

	while (json_array_size(rows) < ROWS_A_PART &&
	       listing->masks_told < listing->tree.num_masks) {
		uint32_t sw = listing->tree.masks[listing->masks_told].sw;
		json_t *row = switch_json(listing, sw), *ports = json_array();

		for (; listing->masks_told < listing->tree.num_masks &&
		       listing->tree.masks[listing->masks_told].sw == sw;
		     listing->masks_told++) {
			const struct mcast_mask *mask = &listing->tree.masks[listing->masks_told];

			for (unsigned i = 0; i < MFT_POSITION_PORTS; i++)
				if (mask->ports >> i & 1)
					json_array_append_new(
						ports,
						json_integer(mask->position * MFT_POSITION_PORTS +
							     i));
		}
		json_object_set_new(row, "ports", ports);
		json_array_append_new(rows, row);
	}
	return json_pack("{s:o}", "switches", rows);
}

/* The group by itself, the switches of its tree, then its members. */
static json_t *show_next(void *source)
{
	struct listing *listing = source;
	const struct member_entry *member;
	json_t *note = registered_note(listing->registered, &listing->noted), *rows;

	if (note)
		return note;
	if (!listing->group_told) {
		listing->group_told = true;
		return shown_json(listing);
	}
	if (listing->masks_told < listing->tree.num_masks)
		return tree_json(listing);
	rows = json_array();
	while (json_array_size(rows) < ROWS_A_PART &&
	       (member = registry_walk_next(&listing->members)))
		json_array_append_new(rows, member_json(listing->registered, member));
	if (json_array_size(rows))
		return json_pack("{s:o}", "members", rows);
	json_decref(rows);
	return NULL;
}

static void command_show(void *ctx, struct control_request *request, const json_t *args)
{
	const struct registered *registered = ctx;
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
	group = registry_find(registered->registry, REGISTRY_GROUP, &key);
	if (!group) {
		control_fail(request,
			     "there is no group with the MGID %.60s; multicast list shows those "
			     "that there are",
			     mgid);
		return;
	}
	listing = listing_new(registered);
	begin_group(listing, group);
	control_stream(request, show_next, list_finish, listing);
}

static const struct control_command commands[] = {
	{"multicast list", command_list, CONTROL_LOOKS},
	{"multicast show", command_show, CONTROL_LOOKS},
};

void registered_commands(struct registered *registered, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), registered);
	offered_commands(registered, control);
}
