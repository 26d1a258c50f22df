/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands about one node and about ports: node show, port list, port show, port disable, port
 * enable. They answer from a snapshot, in parts if the answer is long. Of an adapter they show the
 * ports with a link, each an end port of the snapshot. No M_Key is shown. A disabled port is
 * durable before the switch gets it, and the answer follows at the end of the sweep that writes
 * it. Loop thread only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hostlist.h"
#include "lib/mem.h"
#include "sm/control/commands.h"
#include "sm/discovery/disabled.h"
#include "sm/discovery/drained.h"

enum { ROWS_A_PART = 16 };

static const char *port_state_word(const char *const *names, size_t count, unsigned value)
{
	return value < count ? names[value] : "?";
}

const char *port_state_text(const struct port_info *info)
{
	static const char *const states[] = {"?", "DOWN", "INIT", "ARMED", "ACTIVE"};

	return port_state_word(states, ARRAY_SIZE(states), info->port_state);
}

/* Table 146: PortPhysicalState. */
static const char *physical_text(const struct port_info *info)
{
	static const char *const states[] = {"?",	 "Sleep",  "Polling",		"Disabled",
					     "Training", "LinkUp", "LinkErrorRecovery", "PhyTest"};

	return port_state_word(states, ARRAY_SIZE(states), info->port_physical_state);
}

/* A port of a snapshot: of the switch, or the end itself. */
struct place {
	const struct snapshot *snapshot;
	const struct registry *registry;
	uint32_t at; /* fabric/named.h */
	uint8_t port;
};

static const struct snap_end *end_at(const struct place *place)
{
	return place->at < place->snapshot->num_switches
		       ? NULL
		       : &place->snapshot->ends[place->at - place->snapshot->num_switches];
}

static void switch_end_row(const struct snapshot *snapshot, int32_t sw, uint8_t port,
			   const char *name, struct buffer *out)
{
	const struct snap_switch *found = &snapshot->switches[sw];

	link_end_row(found->facts, port, found->lid, name, out);
}

void host_end_row(const struct snapshot *snapshot, int32_t index, const char *name,
		  struct buffer *out)
{
	const struct snap_end *end = &snapshot->ends[index];

	link_end_row(end->facts, end->port, end->lid, name, out);
}

void link_peer_row(const struct snapshot *snapshot, const struct snap_link *link, const char *name,
		   struct buffer *out)
{
	if (link->sw >= 0)
		switch_end_row(snapshot, link->sw, link->port, name, out);
	else if (link->end >= 0)
		host_end_row(snapshot, link->end, name, out);
}

/* The port at the other end of its cable, if known. */
static void port_peer_row(const struct place *place, struct buffer *out)
{
	const struct snapshot *snapshot = place->snapshot;
	const struct snap_end *end = end_at(place);

	if (!end)
		link_peer_row(snapshot, snap_link(snapshot, place->at, place->port), "peer", out);
	else if (end->sw >= 0)
		switch_end_row(snapshot, end->sw, end->sw_port, "peer", out);
	else if (end->peer >= 0)
		host_end_row(snapshot, end->peer, "peer", out);
}

static void port_members(const struct place *place, struct buffer *out)
{
	const struct node_facts *facts = facts_at(place->snapshot, place->at);
	const struct port_info *info = &facts->port[place->port].info;
	const struct snap_end *end = end_at(place);
	char speed[24];

	row_guid(out, "guid", facts->info.node_guid);
	row_string(out, "description", facts->description);
	row_integer(out, "port", place->port);
	row_string(out, "state", port_state_text(info));
	row_string(out, "physical", physical_text(info));
	port_peer_row(place, out);
	if (port_is_disabled(place->registry, facts->info.node_guid, place->port))
		row_boolean(out, "disabled", true);
	if (drained_of_port(place->registry, facts->info.node_guid, place->port))
		row_boolean(out, "drained", true);
	if (info->port_state > PORT_DOWN) {
		row_string(out, "width_speed",
			   port_speed_text(info, &facts->port[place->port].ext, speed));
		row_integer(out, "mtu", mtu_bytes(info->neighbor_mtu));
	}
	if (end) {
		row_guid(out, "port_guid", end->guid);
		row_integer(out, "lid", end->lid);
		row_integer(out, "lmc", end->lmc);
	}
}

/* A requested port, with further details. */
static void port_details(const struct place *place, struct buffer *out)
{
	const struct port_info *info =
		&facts_at(place->snapshot, place->at)->port[place->port].info;

	row_begin(out, NULL, '{');
	port_members(place, out);
	row_integer(out, "mtu_cap", mtu_bytes(info->mtu_cap));
	row_integer(out, "vls", vls_of(info->operational_vls));
	row_integer(out, "vl_cap", vls_of(info->vl_cap));
	row_integer(out, "hoq_life", info->hoq_life);
	row_integer(out, "vl_stall_count", info->vl_stall_count);
	row_integer(out, "m_key_violations", info->m_key_violations);
	row_integer(out, "p_key_violations", info->p_key_violations);
	row_integer(out, "q_key_violations", info->q_key_violations);
	if (end_at(place)) {
		row_guid(out, "gid_prefix", info->gid_prefix);
		row_integer(out, "sm_lid", info->master_sm_lid);
		row_integer(out, "sm_sl", info->master_sm_sl);
		row_integer(out, "capability_mask", info->capability_mask);
	} else {
		row_boolean(out, "enforces_in", info->partition_enforcement_inbound);
		row_boolean(out, "enforces_out", info->partition_enforcement_outbound);
	}
	row_end(out, '}');
}

/* Requests: each is answered from the view, which still has a node that is being read again, or
 * else from a snapshot that it waits for. */

struct asking {
	struct sm *sm;
	struct control_request *request;
	struct snapshot_waiter snapshot_wait;
	struct snapshot *snapshot;
	void (*answer)(struct asking *asking);
	char *node; /* NULL: all */
	unsigned port;
	bool shows_node; /* its row comes first */
	bool disables, forced;
	struct map guids;	 /* of the nodes to list; empty: all */
	struct work_job finding; /* the nodes of a hostlist */
	struct list link;	 /* in commands->port_listings */
	bool is_list, found;	 /* results: the node argument is a hostlist; its nodes exist */
	char error[SNAP_NAMED_ERROR_SIZE];
	uint32_t at, until;
	unsigned next; /* port of the place */
};

static void asking_free(struct asking *asking)
{
	snapshot_unref(asking->snapshot);
	map_done(&asking->guids);
	free(asking->node);
	free(asking);
}

static void asking_finish(void *source)
{
	asking_free(source);
}

static void snapshot_came(void *ctx, struct snapshot *snapshot)
{
	struct asking *asking = ctx;

	asking->snapshot = snapshot;
	if (snapshot) {
		asking->answer(asking);
		return;
	}
	control_fail(asking->request, "the daemon is stopping");
	asking_free(asking);
}

static void port_command_begin(struct sm *sm, struct control_request *request, const json_t *args,
			       const struct asking *what)
{
	const char *node = json_string_value(json_object_get(args, "node"));
	struct asking *asking = mem_zalloc(sizeof(*asking));

	*asking = *what;
	list_init(&asking->link);
	asking->sm = sm;
	asking->request = request;
	asking->node = node ? mem_strdup(node) : NULL;
	if (sm->view)
		snapshot_came(asking, snapshot_ref(sm->view->topology));
	else
		snapshot_request_take(&sm->snapshot_request, &asking->snapshot_wait,
				      peers_role(sm->peers) != SM_MASTER, snapshot_came, asking);
}

/* The place of the requested node; -1: none, and the request has ended. */
static int64_t port_command_place(struct asking *asking)
{
	struct snap_named named = snapshot_find_named(asking->snapshot, asking->node);
	char text[GONE_TEXT_SIZE];
	struct gone_node gone;

	if (named.place < 0) {
		if (!named.ambiguous && gone_recall(asking->sm->fabric, asking->node, &gone))
			control_fail(asking->request, "%s; %sweftctl why %s shows the cause",
				     gone_text(asking->sm->fabric, &gone, text),
				     drained_find(asking->sm->registry, gone.node_guid, 0)
					     ? "it is drained; "
					     : "",
				     asking->node);
		else
			control_fail(asking->request, "%s", named.error);
		asking_free(asking);
	}
	return named.place;
}

/* The walk covers the ports of the node at this place: all ports of a switch; of an adapter
 * other ports may precede it. */
static void walk_node(struct asking *asking, uint32_t at)
{
	bool is_switch = at < asking->snapshot->num_switches;

	map_put(&asking->guids, facts_at(asking->snapshot, at)->info.node_guid, asking);
	asking->at = is_switch ? at : asking->snapshot->num_switches;
	asking->until = is_switch ? at + 1 : node_count(asking->snapshot);
}

/* The next port of the walk; false: no more. */
static bool port_command_next(struct asking *asking, struct place *place)
{
	for (; asking->at < asking->until; asking->at++, asking->next = 0) {
		const struct node_facts *facts = facts_at(asking->snapshot, asking->at);
		const struct snap_end *end;

		*place = (struct place){.snapshot = asking->snapshot,
					.registry = asking->sm->registry,
					.at = asking->at};
		end = end_at(place);
		if (asking->guids.count && !map_get(&asking->guids, facts->info.node_guid))
			continue;
		if (end && asking->next++)
			continue;
		place->port = end ? end->port : (uint8_t)asking->next;
		if (end)
			return true;
		if (asking->next++ < facts->info.num_ports) {
			place->port++;
			return true;
		}
	}
	return false;
}

static void node_details(const struct sm *sm, const struct snapshot *snapshot, uint32_t at,
			 struct buffer *out)
{
	const struct node_facts *facts = facts_at(snapshot, at);
	const struct node_info *info = &facts->info;
	const struct node *node = fabric_find_node(sm->fabric, info->node_guid);

	row_begin(out, NULL, '{');
	node_members(snapshot, at, out);
	if (node && node->silent)
		row_boolean(out, "silent", true);
	row_guid(out, "system_guid", info->system_image_guid);
	row_integer(out, "vendor", info->vendor_id);
	row_integer(out, "device", info->device_id);
	row_integer(out, "revision", info->revision);
	if (at < snapshot->num_switches) {
		row_integer(out, "lft_cap", facts->sw.linear_fdb_cap);
		row_integer(out, "lft_top", facts->sw.linear_fdb_top);
		row_integer(out, "mft_cap", facts->sw.multicast_fdb_cap);
		row_boolean(out, "enhanced_port0", facts->sw.enhanced_port0);
	}
	row_end(out, '}');
}

static enum stream_step asking_next(void *source, struct buffer *part)
{
	struct asking *asking = source;
	struct place place;
	unsigned rows = 0;

	if (asking->shows_node) {
		asking->shows_node = false;
		row_begin(part, "node", '[');
		node_details(asking->sm, asking->snapshot, asking->at, part);
		row_end(part, ']');
		walk_node(asking, asking->at);
		return STREAM_PART;
	}
	row_begin(part, "ports", '[');
	for (; rows < ROWS_A_PART && port_command_next(asking, &place); rows++) {
		row_begin(part, NULL, '{');
		port_members(&place, part);
		row_end(part, '}');
	}
	row_end(part, ']');
	return rows ? STREAM_PART : STREAM_END;
}

static void list_ports_now(struct asking *asking)
{
	bool is_list = asking->is_list;
	int64_t at = asking->node && !is_list ? port_command_place(asking) : 0;

	if (at < 0)
		return;
	asking->at = (uint32_t)at;
	asking->until = node_count(asking->snapshot);
	if (asking->node && !asking->shows_node && !is_list)
		walk_node(asking, (uint32_t)at);
	control_stream(asking->request, asking_next, asking_finish, asking);
}

/* On a worker, because a list may have tens of thousands of names. */
static void find_listed_nodes(struct work_job *job)
{
	struct asking *asking = container_of(job, struct asking, finding);

	asking->is_list = snapshot_is_hostlist(asking->snapshot, asking->node);
	if (asking->is_list)
		asking->found = snapshot_find_listed(asking->snapshot, asking->node, &asking->guids,
						     asking->error);
}

static void listed_nodes_found(struct work_job *job)
{
	struct asking *asking = container_of(job, struct asking, finding);

	list_del(&asking->link);
	if (!asking->request) {
		asking_free(asking); /* it was answered */
	} else if (asking->is_list && !asking->found) {
		control_fail(asking->request, "%s", asking->error);
		asking_free(asking);
	} else {
		list_ports_now(asking);
	}
}

static void list_ports(struct asking *asking)
{
	if (!asking->node || asking->shows_node || !hostlist_is_list(asking->node)) {
		list_ports_now(asking);
		return;
	}
	asking->finding = (struct work_job){
		.name = "nodes of a list", .run = find_listed_nodes, .done = listed_nodes_found};
	list_init(&asking->finding.link);
	list_push(&asking->sm->commands->port_listings, &asking->link);
	work_submit(asking->sm->pool, &asking->finding);
}

void port_listings_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->port_listings) {
		struct asking *asking = container_of(link, struct asking, link);

		if (asking->request)
			control_fail(asking->request, "the daemon is stopping");
		asking->request = NULL;
	}
}

void port_listings_done(struct sm_commands *commands)
{
	port_listings_stop(commands);
	list_for_each (link, &commands->port_listings) {
		struct asking *asking = container_of(link, struct asking, link);

		list_del(&asking->link);
		asking_free(asking);
	}
}

/* The lists of an adapter have only its ports with a link. */
static void refuse_port(const struct asking *asking, uint32_t at)
{
	const struct node_facts *facts = facts_at(asking->snapshot, at);
	unsigned most = facts->info.num_ports;

	if (asking->port > most)
		control_fail(asking->request, "there is no port %u: %s has ports up to %u",
			     asking->port, facts->description, most);
	else
		control_fail(asking->request, "port %u of %s is not in the subnet", asking->port,
			     facts->description);
}

static void port_command_show(struct asking *asking)
{
	struct buffer row = {0};
	int64_t at = port_command_place(asking);
	struct place place;
	bool found;

	if (at < 0)
		return;
	walk_node(asking, (uint32_t)at);
	do
		found = port_command_next(asking, &place);
	while (found && place.port != asking->port);
	if (found) {
		port_details(&place, &row);
		control_reply_row(asking->request, &row);
		free(row.bytes);
	} else {
		refuse_port(asking, (uint32_t)at);
	}
	asking_free(asking);
}

static void command_port_list(void *ctx, struct control_request *request, const json_t *args)
{
	port_command_begin(ctx, request, args, &(struct asking){.answer = list_ports});
}

static void command_node_show(void *ctx, struct control_request *request, const json_t *args)
{
	if (!json_is_string(json_object_get(args, "node")))
		control_fail(request, "node show needs a node");
	else
		port_command_begin(ctx, request, args,
				   &(struct asking){.answer = list_ports, .shows_node = true});
}

static void command_port_show(void *ctx, struct control_request *request, const json_t *args)
{
	int port = port_argument(args);

	if (!json_is_string(json_object_get(args, "node")) || port < 1)
		control_fail(request, "port show needs a node and a port, a number from 1 to %d",
			     PORT_MAX);
	else
		port_command_begin(
			ctx, request, args,
			&(struct asking){.answer = port_command_show, .port = (unsigned)port});
}

/* port disable, port enable */

struct port_change {
	struct list link; /* in commands->port_changes */
	struct sm *sm;
	struct control_request *request;
	struct registry_waiter waiter;
	struct disabled_entry entry;
	uint8_t physical; /* the value for its switch */
	json_t *answer;	  /* its members about the port */
};

static void port_change_free(struct port_change *change)
{
	registry_wait_cancel(&change->waiter);
	list_del(&change->link);
	json_decref(change->answer);
	free(change);
}

/* An absent switch gets the value when it returns, if the port is to be disabled. */
static void port_change_durable(void *ctx)
{
	struct port_change *change = ctx;
	struct node *node = fabric_find_node(change->sm->fabric, change->entry.node_guid);

	if (node && node->sw && change->entry.port <= node->num_ports) {
		node->port[change->entry.port].program.keeps_link = false;
		port_ask_link(&node->port[change->entry.port], change->physical);
	}
	wait_for_sweep(change->sm, change->request, json_incref(change->answer));
	trigger_node(&change->sm->trigger, change->entry.node_guid,
		     "a port was disabled or enabled by command");
	port_change_free(change);
}

/* What is lost if the port is disabled. */
static struct drained_losses losses_of(const struct sm *sm, const struct port *port)
{
	const struct drained_entry place = {.node_guid = port->node->guid, .port = port->num};

	return drained_judge(sm->fabric, sm->registry, port->node, &place, 1);
}

/* The port, its peer, the wanted state, and the ports of adapters and pairs of these that lose
 * their path. */
static json_t *change_answer(const struct asking *asking, const struct port *port)
{
	const struct port *peer = port->peer;
	struct drained_losses losses = {0};
	json_t *answer;

	if (asking->disables)
		losses = losses_of(asking->sm, port);
	answer = json_pack("{s:s,s:i,s:b,s:i,s:I}", "node", port->node->facts->description, "port",
			   port->num, "disabled", asking->disables, "ports_lost", (int)losses.ports,
			   "pairs_lost", (json_int_t)losses.pairs);
	if (peer) {
		json_object_set_new(answer, "peer", json_string(peer->node->facts->description));
		json_object_set_new(answer, "peer_port", json_integer(peer->num));
	}
	return answer;
}

static void change_port(struct asking *asking, const struct port *port)
{
	struct port_change *change = mem_zalloc(sizeof(*change));
	struct sm *sm = asking->sm;

	*change = (struct port_change){
		.sm = sm,
		.request = asking->request,
		.waiter = {.durable = port_change_durable, .ctx = change},
		.entry = {.node_guid = port->node->guid, .port = port->num},
		.physical = asking->disables ? PHYS_DISABLED : PHYS_POLLING,
		.answer = change_answer(asking, port),
	};
	list_init(&change->link);
	list_push(&sm->commands->port_changes, &change->link);
	if (asking->disables)
		registry_put(sm->registry, REGISTRY_DISABLED, &change->entry);
	else
		registry_drop(sm->registry, REGISTRY_DISABLED, &change->entry);
	registry_wait(sm->registry, &change->waiter);
}

static char *drained_objection(const struct drained_entry *drained, const struct port *port)
{
	const char *name = (const char *)drained->name;
	char number[8] = "";

	if (drained->of_port)
		snprintf(number, sizeof(number), " %u", drained->of_port);
	return mem_printf("\"%s\" port %u is disabled because \"%s\"%s%s is drained; to enable it: "
			  "weftctl undrain %s%s",
			  port->node->facts->description, port->num, name,
			  drained->of_port ? " port" : "", number, name, number);
}

/* The loss by a cable between switches, which --force accepts; NULL: none. The link of a host is
 * disabled to cut off this host. */
static char *disable_loss_objection(const struct sm *sm, const struct port *port)
{
	struct drained_losses losses = {0};
	char *text, *objection;

	if (port->peer && port_of_switch(port->peer))
		losses = losses_of(sm, port);
	if (!losses.ports)
		return NULL;
	text = drained_losses_text(&losses);
	objection = mem_printf("disabling \"%s\" port %u %s; --force disables it all the same",
			       port->node->facts->description, port->num, text);
	free(text);
	return objection;
}

/* The reason for a refusal in one line; NULL: it is allowed. */
static char *objection(const struct asking *asking, const struct node *node)
{
	const struct drained_entry *drained;
	const struct port *port;

	if (!node)
		return mem_printf("the node has disappeared");
	if (asking->port > node->num_ports)
		return mem_printf("\"%s\" has ports 1 to %u", node->facts->description,
				  node->num_ports);
	port = &node->port[asking->port];
	if (node->type != NODE_SWITCH && port->peer && port->peer->node->type == NODE_SWITCH)
		return mem_printf("only ports of switches can be disabled and enabled, because "
				  "weftd cannot reach an adapter behind a disabled link; use the "
				  "other end, \"%s\" port %u",
				  port->peer->node->facts->description, port->peer->num);
	if (node->type != NODE_SWITCH)
		return mem_printf("only ports of switches can be disabled and enabled");
	drained = drained_of_port(asking->sm->registry, node->guid, port->num);
	if (!asking->disables && drained)
		return drained_objection(drained, port);
	if (!asking->disables || !port->peer)
		return NULL;
	if (port->peer == asking->sm->fabric->sm_port)
		return mem_printf("this cable connects this manager, which could not enable the "
				  "port again: hand over to a standby on another host first "
				  "(weftctl ha handover), and disable the port there");
	if (asking->forced)
		return NULL;
	if (!disabled_leaves_way(asking->sm->fabric, asking->sm->registry, port))
		return mem_printf("this cable is the only path to \"%s\", so weftd could not "
				  "enable the port again; --force disables it all the same",
				  node->facts->description);
	return disable_loss_objection(asking->sm, port);
}

/* Removes the record of an absent switch, which is known by its GUID alone. */
static bool forget_absent(struct asking *asking)
{
	struct disabled_entry entry = {.port = (uint8_t)asking->port};

	if (asking->disables || !guid_read(asking->node, &entry.node_guid) ||
	    fabric_find_node(asking->sm->fabric, entry.node_guid) ||
	    !registry_drop(asking->sm->registry, REGISTRY_DISABLED, &entry))
		return false;
	settings_answer(&asking->sm->engines.settings, asking->request,
			json_pack("{s:b}", "absent", 1));
	asking_free(asking);
	return true;
}

/* Whether the port has the wanted state, in the registry and at the switch. */
static bool is_so(const struct asking *asking, const struct port *port)
{
	bool is_down =
		port_facts(port)->known && port_info(port)->port_physical_state == PHYS_DISABLED;

	return port_is_disabled(asking->sm->registry, port->node->guid, port->num) ==
		       asking->disables &&
	       is_down == asking->disables && !port->program.link_asked;
}

static void change_port_of(struct asking *asking)
{
	struct node *node;
	int64_t at;
	char *why;

	if (forget_absent(asking))
		return;
	at = port_command_place(asking);
	if (at < 0)
		return;
	node = fabric_find_node(asking->sm->fabric,
				facts_at(asking->snapshot, (uint32_t)at)->info.node_guid);
	why = objection(asking, node);
	if (why)
		control_fail(asking->request, "%s", why);
	else if (is_so(asking, &node->port[asking->port]))
		control_reply(asking->request,
			      json_pack("{s:s,s:i,s:b,s:b}", "node", node->facts->description,
					"port", (int)asking->port, "unchanged", 1, "disabled",
					asking->disables));
	else
		change_port(asking, &node->port[asking->port]);
	free(why);
	asking_free(asking);
}

static void ask_change(struct sm *sm, struct control_request *request, const json_t *args,
		       bool disables)
{
	int port = port_argument(args);

	if (!json_is_string(json_object_get(args, "node")) || port < 1)
		control_fail(request, "expected a node and a port, a number from 1 to %d",
			     PORT_MAX);
	else if (sm_at_master(sm, request, "disable and enable ports"))
		port_command_begin(
			sm, request, args,
			&(struct asking){.answer = change_port_of,
					 .port = (unsigned)port,
					 .disables = disables,
					 .forced = json_is_true(json_object_get(args, "force"))});
}

static void command_port_disable(void *ctx, struct control_request *request, const json_t *args)
{
	ask_change(ctx, request, args, true);
}

static void command_port_enable(void *ctx, struct control_request *request, const json_t *args)
{
	ask_change(ctx, request, args, false);
}

void port_changes_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->port_changes) {
		struct port_change *change = container_of(link, struct port_change, link);

		control_fail(change->request, "the daemon is stopping; the port is disabled or "
					      "enabled after its next start");
		port_change_free(change);
	}
}

const struct control_command port_commands[NUM_PORT_COMMANDS] = {
	{"node show", command_node_show, CONTROL_LOOKS},
	{"port list", command_port_list, CONTROL_LOOKS},
	{"port show", command_port_show, CONTROL_LOOKS},
	{"port disable", command_port_disable, CONTROL_CHANGES},
	{"port enable", command_port_enable, CONTROL_CHANGES},
};
