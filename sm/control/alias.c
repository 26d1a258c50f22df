/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands alias list, alias set and alias remove. An alias that an administrator sets is
 * granted, so its P_Keys count (sm/partition/partitions.h). A GUID moves from another port, unless
 * it was granted to that port: then alias set names the port, and the administrator removes the
 * alias there first (store/alias.h). A change is answered when it is durable; the next sweep
 * writes it to the port. Names and members are documented in weftctl(8). Loop thread only.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/control/commands.h"
#include "sm/control/records.h"
#include "store/settings.h"

struct alias_listing {
	struct sm *sm;
	guid_t node_guid; /* of the node to list */
	int port;	  /* of its only port; -1: all */
};

static void alias_row(struct sm *sm, const struct alias_entry *alias, struct buffer *out)
{
	const struct port *port = map_get(&sm->fabric->ports, alias->port_guid);

	row_guid(out, "guid", port ? port->node->guid : 0);
	row_string(out, "description", port ? port->node->facts->description : "");
	row_integer(out, "port", port ? port->num : 0);
	row_guid(out, "port_guid", alias->port_guid);
	row_integer(out, "lid", port ? port->lid : LID_NONE);
	row_integer(out, "index", alias->index);
	row_guid(out, "alias_guid", alias->guid);
	row_string(out, "granted", alias_grant_text(sm_alias_grant(sm, alias)));
}

static json_t *alias_json(struct sm *sm, const struct alias_entry *alias)
{
	struct buffer row = {0};
	json_t *json;

	row_begin(&row, NULL, '{');
	alias_row(sm, alias, &row);
	row_end(&row, '}');
	json = json_loadb(row.bytes + row.begin, row.end - row.begin, 0, NULL);
	free(row.bytes);
	return json;
}

/* Arguments */

/* Returns NULL if there is no such node; the request has then ended. */
static const struct node *node_argument(struct sm *sm, struct control_request *request,
					const char *name)
{
	const struct snapshot *topology = sm->view ? sm->view->topology : NULL;
	const struct node *node = NULL;
	struct snap_named named;

	if (!topology) {
		control_fail(request, "this manager has no view of the fabric: use the MASTER, "
				      "after its first sweep");
		return NULL;
	}
	named = snapshot_find_named(topology, name);
	if (named.place >= 0)
		node = fabric_find_node(sm->fabric,
					facts_at(topology, (uint32_t)named.place)->info.node_guid);
	if (!node)
		control_fail(request, "%s",
			     named.place < 0 ? named.error : "the node has disappeared");
	return node;
}

/* list */

static bool list_row(const void *ctx, const void *record, struct buffer *out)
{
	const struct alias_listing *listing = ctx;
	const struct alias_entry *alias = record;
	const struct port *port = map_get(&listing->sm->fabric->ports, alias->port_guid);

	if (listing->node_guid && !(port && port->node->guid == listing->node_guid &&
				    (listing->port < 0 || port->num == listing->port)))
		return false;
	row_begin(out, NULL, '{');
	alias_row(listing->sm, alias, out);
	row_end(out, '}');
	return true;
}

static void command_alias_list(void *ctx, struct control_request *request, const json_t *args)
{
	const char *name = json_string_value(json_object_get(args, "node"));
	struct sm *sm = ctx;
	struct alias_listing *listing;
	const struct node *node = NULL;
	int port = port_argument(args);

	if (json_object_get(args, "port") && (!name || port < 0)) {
		control_fail(request, "expected the number of a port, 0 to %d, and its node",
			     PORT_MAX);
		return;
	}
	if (name)
		node = node_argument(sm, request, name);
	if (name && !node)
		return;
	listing = mem_zalloc(sizeof(*listing));
	listing->sm = sm;
	listing->node_guid = node ? node->guid : 0;
	listing->port = port;
	records_stream(sm, request, REGISTRY_ALIAS, "aliases", list_row, listing, free);
}

/* set and remove */

static const struct alias_entry *held_by(const struct sm *sm, guid_t guid)
{
	const struct alias_entry key = {.guid = guid};

	return registry_first(sm->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
}

static void fail_for_holder(struct sm *sm, struct control_request *request,
			    const struct alias_entry *alias)
{
	const struct port *port = map_get(&sm->fabric->ports, alias->port_guid);
	const char *grant = alias_grant_text(sm_alias_grant(sm, alias));
	char guid[GUID_TEXT], port_guid[GUID_TEXT];

	guid_text(alias->guid, guid);
	guid_text(alias->port_guid, port_guid);
	if (port)
		control_fail(request,
			     "%s is already an alias of \"%s\" port %u (%s), granted by: %s; "
			     "remove it first: weftctl alias remove %s %u %s",
			     guid, port->node->facts->description, port->num, port_guid, grant,
			     port_guid, port->num, guid);
	else
		control_fail(request,
			     "%s is already an alias of port %s, which is absent, granted by: %s; "
			     "remove it first: weftctl alias remove %s 1 %s",
			     guid, port_guid, grant, port_guid, guid);
}

/* Whether the GUID belongs to a port or a node. If so, the request has ended. */
static bool fail_for_owner(struct sm *sm, struct control_request *request, guid_t guid)
{
	const struct port *port = map_get(&sm->fabric->ports, guid);
	const struct node *node = fabric_find_node(sm->fabric, guid);
	const struct lid_entry key = {.guid = guid};
	const struct lid_entry *lid = registry_find(sm->registry, REGISTRY_LID, &key);
	char text[GUID_TEXT];

	guid_text(guid, text);
	if (port)
		control_fail(request, "%s is the GUID of \"%s\" port %u", text,
			     port->node->facts->description, port->num);
	else if (node)
		control_fail(request, "%s is the GUID of node \"%s\"", text,
			     node->facts->description);
	else if (lid)
		control_fail(request, "%s is the GUID of an absent port, whose LID %u is kept",
			     text, lid->lid);
	return port || node || lid;
}

/* The first place that neither the registry nor the device has filled; 0: there is none. */
static unsigned free_index(const struct sm *sm, const struct port *port)
{
	const struct port_tables *tables = port_facts(port)->tables;
	unsigned cap = port_facts(port)->known ? port_info(port)->guid_cap : 0;
	struct alias_entry key = {.port_guid = port_facts(port)->guid};

	for (unsigned i = 1; i < cap; i++) {
		key.index = (uint16_t)i;
		if (!registry_find(sm->registry, REGISTRY_ALIAS, &key) &&
		    !(tables && i < tables->num_guids && tables->guid[i]))
			return i;
	}
	return 0;
}

/* Returns NULL if the node has no end port of this number; the request has then ended. */
static const struct port *end_port(struct control_request *request, const struct node *node,
				   int num)
{
	bool is_switch = node->type == NODE_SWITCH;

	if (num <= node->num_ports && is_switch == !num && port_facts(&node->port[num])->guid)
		return &node->port[num];
	control_fail(request, "\"%s\" has no port %d with GUIDs%s", node->facts->description, num,
		     is_switch ? ": the port of a switch is port 0" : "");
	return NULL;
}

static void raise_change(struct sm *sm, const struct alias_entry *entry, enum alias_change change)
{
	const struct alias_event alias = {change, entry, sm_alias_grant(sm, entry)};
	const struct port *port = map_get(&sm->fabric->ports, entry->port_guid);
	struct event event = {.kind = EVENT_ALIAS, .guid = entry->port_guid, .alias = &alias};

	if (port) {
		event.lid = port->lid;
		event.facts = port->node->facts;
		event.num = port->num;
	}
	event_raise(sm->events, &event);
}

static void remove_alias(struct sm *sm, const struct alias_entry *alias)
{
	const struct alias_entry entry = *alias;

	registry_drop(sm->registry, REGISTRY_ALIAS, alias);
	raise_change(sm, &entry, ALIAS_REMOVED);
}

static void set_alias(struct sm *sm, struct control_request *request, const struct port *port,
		      guid_t guid)
{
	const struct alias_entry *holder = held_by(sm, guid);
	struct alias_entry alias = {.port_guid = port_facts(port)->guid,
				    .guid = guid,
				    .granted = ALIAS_BY_ADMINISTRATOR};
	bool other = holder && holder->port_guid != alias.port_guid;

	if (other && !alias_may_move(sm_alias_grant(sm, holder), ALIAS_BY_ADMINISTRATOR,
				     !map_get(&sm->fabric->ports, holder->port_guid))) {
		fail_for_holder(sm, request, holder);
		return;
	}
	if ((!holder || other) && fail_for_owner(sm, request, guid))
		return;
	alias.index = holder && !other ? holder->index : (uint16_t)free_index(sm, port);
	if (!alias.index) {
		control_fail(request, "\"%s\" port %u has no free place for a GUID (GUIDCap is %u)",
			     port->node->facts->description, port->num,
			     port_facts(port)->known ? port_info(port)->guid_cap : 0);
		return;
	}
	if (other)
		remove_alias(sm, holder);
	registry_put(sm->registry, REGISTRY_ALIAS, &alias);
	raise_change(sm, &alias, ALIAS_SET);
	settings_answer(&sm->engines.settings, request, alias_json(sm, &alias));
}

struct alias_arguments {
	const char *name; /* of the node */
	int port;
	guid_t guid;
};

/* Returns false if arguments are missing or invalid, or if this manager may not change anything.
 * The request has then ended. */
static bool alias_take_arguments(const struct sm *sm, struct control_request *request,
				 const json_t *args, const char *command,
				 struct alias_arguments *out)
{
	out->name = json_string_value(json_object_get(args, "node"));
	out->port = port_argument(args);
	if (out->name && out->port >= 0 &&
	    guid_read(json_string_value(json_object_get(args, "guid")), &out->guid))
		return sm_may_change(sm, request, "change alias GUIDs");
	control_fail(
		request,
		"%s needs a node, a port (0 to %d) and a GUID (16 hexadecimal digits, or 0x and "
		"digits)",
		command, PORT_MAX);
	return false;
}

static void command_set(void *ctx, struct control_request *request, const json_t *args)
{
	struct alias_arguments wanted;
	const struct port *port;
	const struct node *node;
	struct sm *sm = ctx;

	if (!alias_take_arguments(sm, request, args, "alias set", &wanted))
		return;
	node = node_argument(sm, request, wanted.name);
	port = node ? end_port(request, node, wanted.port) : NULL;
	if (port)
		set_alias(sm, request, port, wanted.guid);
}

/* An absent port is known by its GUID alone. */
static bool is_holder(struct sm *sm, struct control_request *request,
		      const struct alias_arguments *named, const struct alias_entry *alias)
{
	const struct port *port;
	const struct node *node;
	guid_t guid;

	if (guid_read(named->name, &guid) && guid == alias->port_guid)
		return true;
	node = node_argument(sm, request, named->name);
	port = node ? end_port(request, node, named->port) : NULL;
	if (!port || port_facts(port)->guid == alias->port_guid)
		return port;
	fail_for_holder(sm, request, alias);
	return false;
}

static void command_alias_remove(void *ctx, struct control_request *request, const json_t *args)
{
	struct alias_arguments named;
	const struct alias_entry *found;
	struct sm *sm = ctx;
	json_t *row;

	if (!alias_take_arguments(sm, request, args, "alias remove", &named))
		return;
	found = held_by(sm, named.guid);
	if (!found) {
		control_fail(request, "no port has the alias GUID %s",
			     json_string_value(json_object_get(args, "guid")));
		return;
	}
	if (!is_holder(sm, request, &named, found))
		return;
	row = alias_json(sm, found);
	remove_alias(sm, found);
	settings_answer(&sm->engines.settings, request, row);
}

const struct control_command alias_commands[NUM_ALIAS_COMMANDS] = {
	{"alias list", command_alias_list, CONTROL_LOOKS},
	{"alias set", command_set, CONTROL_CHANGES},
	{"alias remove", command_alias_remove, CONTROL_CHANGES},
};
