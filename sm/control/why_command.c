/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The command why: finds the two ends, sends each of their agents a request, because no sweep may
 * have noticed yet that an agent is silent, and answers with the first obstacle (why.h) and what
 * lies between the ends. While the requests are under way the ends may disappear, so they are
 * looked up again, by GUID, before the answer. Loop thread only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/control/partition.h"
#include "sm/control/why.h"

enum { PROBE_ATTEMPTS = 2, GROUPS_SHOWN = 8, SHARED_SHOWN = 16, ERROR_SIZE = 400, NOTE_SIZE = 256 };

struct whying {
	struct list link; /* in commands->whys */
	struct sm *sm;
	struct control_request *request; /* NULL: has been answered */
	struct why why;			 /* its ports are valid only until this turn ends */
	guid_t node[2];			 /* of the ends that are not gone */
	uint8_t port[2];
	bool silent[2];	 /* its agent has not answered */
	unsigned probes; /* under way */
	struct loop_deferred finish;
};

/* Ends */

static struct port *end_of(const struct node *node, struct port *port)
{
	return node->type == NODE_SWITCH ? (struct port *)&node->port[0] : port;
}

/* Takes the node at a place of the view, and its port; port -1: the end port of the place. */
static bool why_take_place(struct sm *sm, uint32_t place, int port, struct why_end *out,
			   char error[ERROR_SIZE])
{
	const struct snapshot *topology = sm->view->topology;
	const struct node_facts *facts = facts_at(topology, place);
	struct node *node = fabric_find_node(sm->fabric, facts->info.node_guid);
	bool is_switch = place < topology->num_switches;
	char guid[GUID_TEXT];

	if (!node) {
		out->is_gone =
			gone_recall(sm->fabric, guid_text(facts->info.node_guid, guid), &out->gone);
		if (!out->is_gone)
			snprintf(error, ERROR_SIZE, "\"%s\" has just disappeared: try again",
				 facts->description);
		return out->is_gone;
	}
	if (port < 0 && !is_switch)
		port = topology->ends[place - topology->num_switches].port;
	if (port < 0)
		port = 0;
	if (port > node->num_ports || (!port && !is_switch)) {
		snprintf(error, ERROR_SIZE, "\"%s\" has ports 1 to %u", facts->description,
			 node->num_ports);
		return false;
	}
	out->port = &node->port[port];
	out->end = end_of(node, out->port);
	return true;
}

/* A name, NODE/PORT, a GUID or a LID; of a node in the fabric, or of one that is gone. */
static bool find_end(struct sm *sm, const char *name, struct why_end *out, char error[ERROR_SIZE])
{
	struct snap_named named = snapshot_find_named(sm->view->topology, name), plain = named;
	char node[NODE_DESC_SIZE + 1];
	int port = -1;

	*out = (struct why_end){0};
	if (named.place < 0 && !named.ambiguous) {
		port = split_node_port(name, node);
		if (port >= 0)
			plain = snapshot_find_named(sm->view->topology, node);
	}
	if (plain.place >= 0)
		return why_take_place(sm, (uint32_t)plain.place, port, out, error);
	if (!plain.ambiguous)
		out->is_gone = gone_recall(sm->fabric, port < 0 ? name : node, &out->gone);
	if (!out->is_gone)
		snprintf(error, ERROR_SIZE, "%s", plain.error);
	return out->is_gone;
}

static bool find_ends(struct whying *whying, const json_t *args, char error[ERROR_SIZE])
{
	static const char *const members[] = {"from", "to"};
	struct why *why = &whying->why;
	const char *name;

	*why = (struct why){.sm = whying->sm};
	snprintf(error, ERROR_SIZE, "why needs a node: a name, NODE/PORT, a GUID or a LID");
	for (; why->ends < 2; why->ends++) {
		struct why_end *end = &why->end[why->ends];

		name = json_string_value(json_object_get(args, members[why->ends]));
		if (!name)
			break;
		if (!find_end(whying->sm, name, end, error))
			return false;
		if (end->is_gone)
			continue;
		whying->node[why->ends] = end->port->node->guid;
		whying->port[why->ends] = end->port->num;
	}
	return why->ends > 0;
}

/* Finds the ends that were there, after some turns. */
static bool why_find_again(struct whying *whying, char error[ERROR_SIZE])
{
	const struct fabric *fabric = whying->sm->fabric;
	char guid[GUID_TEXT];

	for (unsigned i = 0; i < whying->why.ends; i++) {
		struct why_end *end = &whying->why.end[i];
		struct node *node = fabric_find_node(fabric, whying->node[i]);

		if (end->is_gone)
			continue;
		*end = (struct why_end){.no_answer = whying->silent[i]};
		if (node && whying->port[i] <= node->num_ports) {
			end->port = &node->port[whying->port[i]];
			end->end = end_of(node, end->port);
			continue;
		}
		end->is_gone = gone_recall(fabric, guid_text(whying->node[i], guid), &end->gone);
		if (!end->is_gone) {
			snprintf(error, ERROR_SIZE, "node %s has just disappeared: try again",
				 guid);
			return false;
		}
	}
	return true;
}

/* Answer */

static void gone_row(const struct fabric *fabric, const struct gone_node *gone, struct buffer *out)
{
	row_begin(out, "gone", '{');
	row_integer(out, "since_s", (int64_t)gone->gone_s);
	row_integer(out, "lid", gone->lid);
	row_boolean(out, "lid_reserved", gone_lid_is_free(fabric, gone));
	row_guid(out, "peer_guid", gone->peer_guid);
	row_string(out, "peer", gone->peer);
	row_integer(out, "peer_port", gone->peer_port);
	row_end(out, '}');
}

static void why_port_row(const struct port *port, const char *name, struct buffer *out)
{
	row_begin(out, name, '{');
	row_guid(out, "guid", port->node->guid);
	row_string(out, "description", port->node->facts->description);
	row_integer(out, "port", port->num);
	row_string(out, "state", port_state_text(port_info(port)));
	row_end(out, '}');
}

static void why_end_row(const struct fabric *fabric, const struct why_end *end, const char *name,
			struct buffer *out)
{
	const struct port *cable = why_cable(fabric, end);
	const struct port_facts *facts = end->is_gone ? NULL : port_facts(end->port);
	char speed[24];

	row_begin(out, name, '{');
	row_guid(out, "guid", end->is_gone ? end->gone.node_guid : end->port->node->guid);
	row_string(out, "description", why_end_name(end));
	row_guid(out, "port_guid", end->is_gone ? end->gone.port_guid : port_facts(end->end)->guid);
	row_integer(out, "lid", end->is_gone ? end->gone.lid : end->end->lid);
	if (end->is_gone) {
		gone_row(fabric, &end->gone, out);
	} else {
		row_integer(out, "port", end->port->num);
		row_boolean(out, "answers", !end->no_answer && !end->port->node->silent);
	}
	if (facts && end->port->num) {
		row_string(out, "state", port_state_text(&facts->info));
		if (facts->info.port_state > PORT_DOWN) {
			row_string(out, "width_speed",
				   port_speed_text(&facts->info, &facts->ext, speed));
			row_integer(out, "mtu", mtu_bytes(facts->info.neighbor_mtu));
		}
	}
	if (cable)
		why_port_row(cable, "peer", out);
	row_end(out, '}');
}

static void route_row(const struct why_walk *walk, const char *name, struct buffer *out)
{
	static const char *const results[] = {
		[WHY_ARRIVES] = "arrives",     [WHY_NO_ROUTE] = "no route",
		[WHY_NOT_HELD] = "not held",   [WHY_LOOP] = "loop",
		[WHY_LINK_DOWN] = "link down",
	};

	row_begin(out, name, '{');
	row_string(out, "result", results[walk->result]);
	row_begin(out, "hops", '[');
	for (unsigned i = 0; i < walk->hops; i++) {
		row_begin(out, NULL, '{');
		row_guid(out, "guid", walk->hop[i].node->guid);
		row_string(out, "description", walk->hop[i].node->facts->description);
		row_integer(out, "lid", walk->hop[i].node->port[0].lid);
		row_integer(out, "in_port", walk->hop[i].in_port);
		row_integer(out, "out_port", walk->hop[i].out_port);
		row_end(out, '}');
	}
	row_end(out, ']');
	row_end(out, '}');
}

/* The switch of an end port in the snapshot; -1: none. */
static int32_t why_switch_of(const struct snapshot *topology, const struct port *end)
{
	const struct port *port = port_of_switch(end) ? end : end->peer;

	return port ? snapshot_find_switch(topology, port->node->guid) : -1;
}

static unsigned path_sl(const struct why *why)
{
	const struct view *view = why->sm->view;
	int32_t from = why_switch_of(view->topology, why->end[0].end);
	int32_t to = why_switch_of(view->topology, why->end[1].end);

	return view->routes && from >= 0 && to >= 0
		       ? routes_sl(view->routes, (uint32_t)from, (uint32_t)to)
		       : 0;
}

static void path_row(const struct why *why, const struct why_walk walk[2], struct buffer *out)
{
	unsigned back = walk[1].mtu && walk[1].mtu < walk[0].mtu;
	unsigned slow = walk[1].rate && rate_deci_gbps(walk[1].rate) < rate_deci_gbps(walk[0].rate);

	row_begin(out, "path", '{');
	row_integer(out, "sl", path_sl(why));
	row_integer(out, "mtu", mtu_bytes(walk[back].mtu));
	row_integer(out, "rate_mbps", 100 * (int64_t)rate_deci_gbps(walk[slow].rate));
	row_end(out, '}');
}

static void shared_rows(const struct why *why, struct buffer *out)
{
	static const char *const memberships[] = {"none", "limited", "full", "both"};
	struct why_shared rows[SHARED_SHOWN];
	unsigned count = why_shared_partitions(why, rows, SHARED_SHOWN);

	row_begin(out, "partitions", '[');
	for (unsigned i = 0; i < count; i++) {
		row_begin(out, NULL, '{');
		row_integer(out, "p_key", rows[i].p_key);
		row_string(out, "name", partition_name(why->sm, rows[i].p_key));
		row_string(out, "from", memberships[rows[i].membership[0]]);
		row_string(out, "to", memberships[rows[i].membership[1]]);
		row_boolean(out, "communicates", rows[i].communicates);
		row_end(out, '}');
	}
	row_end(out, ']');
}

static void group_rows(const struct why *why, struct buffer *out)
{
	const struct registry *registry = why->sm->registry;
	struct member_entry key = {.port_guid = port_facts(why->end[0].end)->guid}, other;
	const struct member_entry *member =
		registry_first(registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key);
	const struct group_entry *group;
	char mgid[GID_TEXT];
	unsigned count = 0;

	row_begin(out, "groups", '[');
	for (; member; member = registry_next(registry, REGISTRY_MEMBER, MEMBER_BY_PORT, member)) {
		other = *member;
		other.port_guid = port_facts(why->end[1].end)->guid;
		if (!registry_find(registry, REGISTRY_MEMBER, &other) || count++ >= GROUPS_SHOWN)
			continue;
		memcpy(other.mgid, member->mgid, sizeof(other.mgid));
		group = registry_find(registry, REGISTRY_GROUP, other.mgid);
		row_begin(out, NULL, '{');
		row_string(out, "mgid", gid_text(member->mgid, mgid));
		row_integer(out, "mlid", group ? group->mlid : 0);
		row_end(out, '}');
	}
	row_end(out, ']');
	row_integer(out, "num_groups", count);
}

/* Switches of the path whose agents are silent: they forward all the same. */
static void silent_rows(const struct why_walk *way, struct buffer *out)
{
	char text[NOTE_SIZE];

	for (unsigned i = 0; i < way->hops; i++) {
		if (!way->hop[i].node->silent)
			continue;
		snprintf(text, sizeof(text), "the agent of %s, a switch of the path, is silent",
			 way->hop[i].node->facts->description);
		row_string(out, NULL, text);
	}
}

static bool is_same_link(const struct port *a, const struct port *b)
{
	return b && (a == b || a->peer == b);
}

/* Differences that are no obstacle. */
static void note_rows(const struct why_walk walk[2], struct buffer *out)
{
	char text[NOTE_SIZE];

	row_begin(out, "notes", '[');
	for (unsigned i = 0; i < 2; i++) {
		const struct why_walk *way = &walk[i];

		silent_rows(way, out);
		if (way->result != WHY_ARRIVES)
			continue;
		if (way->mtu != way->mtu_most &&
		    !(i && is_same_link(way->mtu_at, walk[0].mtu_at))) {
			snprintf(text, sizeof(text),
				 "MTU %u at %s port %u limits the path; other links have %u",
				 mtu_bytes(way->mtu), way->mtu_at->node->facts->description,
				 way->mtu_at->num, mtu_bytes(way->mtu_most));
			row_string(out, NULL, text);
		}
		if (way->rate != way->rate_most &&
		    !(i && is_same_link(way->rate_at, walk[0].rate_at))) {
			snprintf(text, sizeof(text),
				 "rate %g Gb/s at %s port %u limits the path; other links have %g",
				 rate_deci_gbps(way->rate) / 10.0,
				 way->rate_at->node->facts->description, way->rate_at->num,
				 rate_deci_gbps(way->rate_most) / 10.0);
			row_string(out, NULL, text);
		}
	}
	row_end(out, ']');
}

static void between_rows(const struct why *why, struct buffer *out)
{
	struct why_walk walk[2];

	for (unsigned i = 0; i < 2; i++)
		why_walk(why->end[i].end, why->end[1 - i].end, &walk[i]);
	route_row(&walk[0], "there", out);
	route_row(&walk[1], "back", out);
	path_row(why, walk, out);
	shared_rows(why, out);
	group_rows(why, out);
	note_rows(walk, out);
}

static void obstacle_row(const struct why *why, struct buffer *out)
{
	struct obstacle obstacle;

	if (!why_find_obstacle(why, &obstacle)) {
		row_string(out, "obstacle", NULL);
		return;
	}
	row_begin(out, "obstacle", '{');
	row_string(out, "code", obstacle.code);
	row_string(out, "layer", obstacle.layer);
	row_string(out, "text", obstacle.text);
	row_string(out, "remedy", obstacle.remedy);
	row_end(out, '}');
}

static void why_answer(const struct why *why, struct control_request *request)
{
	struct buffer row = {0};

	row_begin(&row, NULL, '{');
	obstacle_row(why, &row);
	why_end_row(why->sm->fabric, &why->end[0], "from", &row);
	if (why->ends == 2)
		why_end_row(why->sm->fabric, &why->end[1], "to", &row);
	if (why->ends == 2 && !why->end[0].is_gone && !why->end[1].is_gone)
		between_rows(why, &row);
	row_end(&row, '}');
	control_reply_row(request, &row);
	free(row.bytes);
}

/* The request */

static void whying_free(struct whying *whying)
{
	loop_defer_cancel(&whying->finish);
	list_del(&whying->link);
	free(whying);
}

static void why_finish(void *arg)
{
	struct whying *whying = arg;
	char error[ERROR_SIZE];

	if (!whying->sm->view)
		control_fail(whying->request,
			     "this manager is MASTER no longer: use the new MASTER");
	else if (!why_find_again(whying, error))
		control_fail(whying->request, "%s", error);
	else
		why_answer(&whying->why, whying->request);
	whying_free(whying);
}

/* Nothing is freed here: the window or the fabric may be in the middle of a change. */
static void probe_done(void *owner, void *subject, const struct smp_request *request,
		       const struct smp_answer *answer)
{
	struct whying *whying = owner;
	bool *silent = subject;

	(void)request;
	/* Without a way to the agent, or after a cancellation, silence is not known. */
	*silent = answer->error == -ETIMEDOUT;
	if (!--whying->probes && whying->request)
		loop_defer(&whying->finish);
}

/* A link that is down needs no request: its agent cannot answer. Nor does an agent that is known to
 * be silent: each unanswered request makes weftd wait longer for it, so that a reader of the
 * command could delay its discovery. */
static void probe(struct whying *whying, const struct why_end *end, bool *silent)
{
	const struct smp_request request = {.method = METHOD_GET,
					    .attr_id = ATTR_NODE_INFO,
					    .attempts = PROBE_ATTEMPTS,
					    .done = probe_done,
					    .owner = whying,
					    .subject = silent};

	if (end->is_gone || !end->end->agent || end->end->node->silent ||
	    (end->end->num && port_state_of(end->end) == PORT_DOWN))
		return;
	whying->probes++;
	window_submit(&end->end->agent->target, &request);
}

static void command_why(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	char error[ERROR_SIZE];
	struct whying *whying;

	if (!sm_may_change(sm, request, "find the cause"))
		return;
	whying = mem_zalloc(sizeof(*whying));
	*whying = (struct whying){.sm = sm, .request = request};
	list_init(&whying->link);
	list_push(&sm->commands->whys, &whying->link);
	loop_deferred_init(&whying->finish, sm->loop, "why", why_finish, whying);
	if (!find_ends(whying, args, error)) {
		control_fail(request, "%s", error);
		whying_free(whying);
		return;
	}
	for (unsigned i = 0; i < whying->why.ends; i++)
		probe(whying, &whying->why.end[i], &whying->silent[i]);
	if (!whying->probes)
		loop_defer(&whying->finish);
}

void why_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->whys) {
		struct whying *whying = container_of(link, struct whying, link);

		loop_defer_cancel(&whying->finish);
		if (whying->request)
			control_fail(whying->request, "the daemon is stopping");
		whying->request = NULL;
	}
}

void why_done(struct sm_commands *commands)
{
	list_for_each (link, &commands->whys)
		whying_free(container_of(link, struct whying, link));
}

const struct control_command why_commands[NUM_WHY_COMMANDS] = {
	{"why", command_why, CONTROL_LOOKS},
};
