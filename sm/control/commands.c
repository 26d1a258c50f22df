/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of the subnet manager that are not about routes: sweep, node list, link list,
 * topology export, and its part of status. Lists are sent in parts from one snapshot, so that a
 * slow reader sees one moment of the fabric, and the loop never writes for long. Names and members
 * are documented in weftctl(8). No answer has a key.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sm/control/commands.h"
#include "sm/control/control.h"
#include "sm/discovery/disabled.h"
#include "sm/discovery/drained.h"
#include "sm/unrouted.h"
#include "store/save.h"

enum { ROWS_A_PART = 16 };

/* status */

static json_t *sweep_changes_json(const struct sweep_record *record)
{
	return json_pack("{s:b,s:b,s:I,s:I}", "changed", record->changed || record->blocks_set,
			 "fabric_changed", record->changed, "blocks_set",
			 (json_int_t)record->blocks_set, "switches_set",
			 (json_int_t)record->switches_set);
}

static json_t *status_sweep(const struct sweep_record *record)
{
	json_t *phases = json_array(), *status;

	for (unsigned i = 0; i < record->num_phases; i++)
		json_array_append_new(phases, json_pack("{s:s,s:I}", "name", record->phases[i].name,
							"us", (json_int_t)record->phases[i].us));
	status = json_pack("{s:I,s:s,s:s,s:i,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:s}", "number",
			   (json_int_t)record->number, "kind", sweep_kind_name(record->kind),
			   "reason", record->reason, "merged", record->merged, "started_s",
			   (json_int_t)record->started_s, "duration_us",
			   (json_int_t)record->duration_us, "phases", phases, "smps",
			   (json_int_t)record->smps, "sets", (json_int_t)record->sets, "lft_sets",
			   (json_int_t)record->lft_sets, "retries", (json_int_t)record->retries,
			   "failed", (json_int_t)record->failed, "text", record->text);
	json_object_update_new(status, sweep_changes_json(record));
	return status;
}

static json_t *status_counts(struct fabric *fabric)
{
	return json_pack("{s:i,s:i,s:i,s:i,s:i,s:i}", "switches", fabric->num_switches, "adapters",
			 fabric->num_adapters, "ports", fabric->num_ports, "links",
			 fabric->num_links, "active_ports", fabric->num_active, "lid_top",
			 fabric_lid_top(fabric));
}

static json_t *routing_json(const struct route_result *routes)
{
	json_t *tried = json_array();

	for (unsigned i = 0; i < routes->tried; i++) {
		if (routes->attempt[i].why[0])
			json_array_append_new(tried, json_pack("{s:s,s:s}", "engine",
							       routes->attempt[i].engine, "why",
							       routes->attempt[i].why));
	}
	return json_pack("{s:s?,s:o,s:I,s:I,s:I}", "engine",
			 routes->routes ? routes->routes->engine : NULL, "tried", tried,
			 "unreached", (json_int_t)routes->report.unreached, "looping",
			 (json_int_t)routes->report.looping, "disconnected",
			 (json_int_t)routes->report.disconnected);
}

static json_t *status_peers(const struct sm *sm)
{
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);
	uint64_t now_us = loop_now_us(sm->loop);
	json_t *array = json_array();
	char guid[GUID_TEXT];

	for (size_t i = 0; i < count; i++) {
		json_int_t seen_ms = (json_int_t)((now_us - list[i].heard_us) / 1000);

		/* heard_ms: the former name of last_seen_ms, for one release. */
		json_array_append_new(array,
				      json_pack("{s:s,s:i,s:i,s:s,s:I,s:I}", "guid",
						guid_text(list[i].info.guid, guid), "lid",
						list[i].lid, "priority", list[i].info.priority,
						"state", sm_state_name(list[i].info.state),
						"last_seen_ms", seen_ms, "heard_ms", seen_ms));
	}
	return array;
}

static json_t *status_smps(const struct txn_table *txns)
{
	const struct txn_count *rows;
	size_t count = txn_counts(txns, &rows);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array,
			json_pack("{s:i,s:s,s:s,s:I,s:I,s:I}", "class", rows[i].mgmt_class,
				  "method", method_name(rows[i].mgmt_class, rows[i].method),
				  "attribute", attr_name(rows[i].mgmt_class, rows[i].attr_id),
				  "sent", (json_int_t)rows[i].sent, "received",
				  (json_int_t)rows[i].received, "timed_out",
				  (json_int_t)rows[i].timed_out));
	return array;
}

static json_t *status_mads(const struct txn_stats *stats)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "sent", (json_int_t)stats->sent,
			 "received", (json_int_t)stats->received, "timed_out",
			 (json_int_t)stats->timed_out, "unmatched", (json_int_t)stats->unmatched,
			 "malformed", (json_int_t)stats->malformed, "send_failed",
			 (json_int_t)stats->send_failed, "unhandled", (json_int_t)stats->unhandled);
}

static json_t *status_anomalies(const struct sm *sm)
{
	const struct discover_anomalies *odd = discover_anomalies(sm->discover);

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "duplicate_guids",
			 (json_int_t)odd->duplicate_guids, "self_links",
			 (json_int_t)odd->self_links, "unresponsive", (json_int_t)odd->unresponsive,
			 "malformed", (json_int_t)odd->malformed, "lid_conflicts",
			 (json_int_t)sm->counts.lid_conflicts, "lids_exhausted",
			 (json_int_t)sm->counts.lids_exhausted, "refused_values",
			 (json_int_t)program_refused_values(sm->program));
}

/* The callbacks that came near the limit of time in a turn of the loop, or exceeded it. */
static json_t *status_turns(const struct loop *loop)
{
	const struct loop_turn *turns;
	size_t count = loop_turns(loop, &turns);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_pack("{s:s,s:I,s:I}", "name", turns[i].name,
						       "worst_us", (json_int_t)turns[i].worst_us,
						       "slow", (json_int_t)turns[i].slow));
	return array;
}

static const char device_gone[] =
	"the device of the local port has disappeared: waiting until it returns";

/* A manager that is not MASTER makes no sweeps, so its role may differ from that of the last
 * sweep. */
static json_t *subnet_state(const struct sm *sm)
{
	const struct sweep_record *last = &sm->sweep.last;
	enum sm_state role = peers_role(sm->peers);

	if (sm->transport->gone)
		return json_string(device_gone);
	if (role == SM_NOTACTIVE ||
	    (role == SM_STANDBY && (!last->error || last->error == -EALREADY)))
		return json_sprintf("%s: %s", sm_state_name(role), sweep_why_not_master(sm));
	return json_string(last->number ? last->text : "first sweep");
}

json_t *sm_status(const struct sm *sm)
{
	const struct transport_port *port = &sm->transport->port;
	const struct window_stats *window = window_stats(sm->window);
	char guid[GUID_TEXT];
	json_t *status, *settings = json_array();
	struct sm_info own;

	peers_own_info(sm->peers, &own);
	settings_status(&sm->engines.settings, settings);
	status = json_pack(
		"{s:s,s:b,s:i,s:s,s:i,s:o,s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "role",
		sm_state_name(peers_role(sm->peers)), "standby_only", sm->options.standby_only,
		"priority", own.priority, "guid", guid_text(port->port_guid, guid), "lid",
		sm_lid(sm), "state", subnet_state(sm), "ca", port->ca, "port", port->port, "sweep",
		status_sweep(&sm->sweep.last), "counts", status_counts(sm->fabric), "routing",
		routing_json(&sm->routes), "peers", status_peers(sm), "smps", status_smps(sm->txns),
		"mads", status_mads(txn_stats(sm->txns)), "anomalies", status_anomalies(sm));
	json_object_set_new(status, "settings", settings);
	json_object_set_new(status, "unrouted", unrouted_json(sm->fabric));
	/* The former names of members, here and below, stay for one release. */
	json_object_set(status, "left_out", json_object_get(status, "unrouted"));
	json_object_set_new(status, "disabled_ports", disabled_json(sm->fabric, sm->registry));
	json_object_set_new(status, "drained",
			    drained_json(&sm->drain.drained, sm->fabric, sm->registry));
	json_object_set_new(status, "drained_ports",
			    drained_ports_json(&sm->drain.drained, sm->fabric, sm->registry));
	json_object_set_new(status, "partitions", partitions_json(sm));
	json_object_set_new(status, "sweeping", json_boolean(sm->sweep.running));
	json_object_set_new(status, "window",
			    json_pack("{s:i,s:I,s:I}", "under_way_max", window->under_way_max,
				      "retries", (json_int_t)window->retries, "failed",
				      (json_int_t)window->failed));
	json_object_set_new(
		status, "traps",
		json_pack("{s:I,s:I,s:I,s:I,s:I}", "received", (json_int_t)sm->counts.traps,
			  "repressed", (json_int_t)sm->counts.repressed, "mismatched",
			  (json_int_t)sm->counts.mismatched, "not_forwarded",
			  (json_int_t)sm->counts.untold, "untold", (json_int_t)sm->counts.untold));
	json_object_set_new(status, "slow_turns",
			    json_integer((json_int_t)loop_slow_turns(sm->loop)));
	json_object_set_new(status, "turns", status_turns(sm->loop));
	health_add_status(sm, status);
	if (sm->replica)
		json_object_set_new(status, "ha", replica_summary(sm->replica));
	return status;
}

/* The name of the node that has the port; NULL: it is not in the model. */
static const char *name_of(const struct sm *sm, guid_t port_guid)
{
	const struct port *port = policy_port(&sm->policy, port_guid);

	return port ? port->node->facts->description : NULL;
}

enum { MASTER_TEXT_SIZE = 240 };

/* Describes in text where the MASTER is: name, port GUID, LID, and its address in ha_peers. */
static const char *master_text(const struct sm *sm, const struct peer *master,
			       char text[MASTER_TEXT_SIZE])
{
	const char *address =
		sm->replica ? replica_master_address(sm->replica, master->info.guid) : NULL;
	guid_t port_guid; /* the address of a replication over the fabric */
	const char *name = name_of(sm, master->info.guid);
	char guid[GUID_TEXT];

	if (address && guid_read(address, &port_guid) && port_guid == master->info.guid)
		address = NULL;
	snprintf(text, MASTER_TEXT_SIZE, "\"%s\" (port GUID %s, LID %u%s%s)", name ? name : "?",
		 guid_text(master->info.guid, guid), master->lid, address ? ", address " : "",
		 address ? address : "");
	return text;
}

json_t *sm_standing(const struct sm *sm)
{
	enum sm_state role = peers_role(sm->peers);
	const struct peer *master = peers_master(sm->peers);
	char text[MASTER_TEXT_SIZE];

	if (role == SM_MASTER)
		return NULL;
	if (!master)
		return json_pack("{s:s,s:o}", "role", sm_state_name(role), "text",
				 json_sprintf("this manager is %s and knows no MASTER, which has "
					      "the current records",
					      sm_state_name(role)));
	return json_pack("{s:s,s:o}", "role", sm_state_name(role), "text",
			 json_sprintf("this manager is %s; the current records are at the MASTER, "
				      "%s",
				      sm_state_name(role), master_text(sm, master, text)));
}

/* sweep */

bool sm_at_master(const struct sm *sm, struct control_request *request, const char *what)
{
	enum sm_state role = peers_role(sm->peers);
	const struct peer *master = peers_master(sm->peers);
	char text[MASTER_TEXT_SIZE];

	if (role == SM_MASTER)
		return true;
	if (!master)
		control_fail(request,
			     "this manager is %s: to %s, use the MASTER, which is not known yet",
			     sm_state_name(role), what);
	else
		control_fail(request, "this manager is %s: to %s, use the MASTER, %s",
			     sm_state_name(role), what, master_text(sm, master, text));
	return false;
}

bool sm_may_change(const struct sm *sm, struct control_request *request, const char *what)
{
	if (!sm_at_master(sm, request, what))
		return false;
	if (!sm->view)
		control_fail(request, "this manager is MASTER, but its first sweep has not ended: "
				      "try again");
	return sm->view != NULL;
}

int port_argument(const json_t *args)
{
	const json_t *value = json_object_get(args, "port");
	const char *text = json_string_value(value);
	char *rest = "";
	long long number = text ? strtoll(text, &rest, 10) : json_integer_value(value);
	bool is_number = text ? *text && !*rest : json_is_integer(value);

	return is_number && number >= 0 && number <= PORT_MAX ? (int)number : -1;
}

int split_node_port(const char *name, char node[NODE_DESC_SIZE + 1])
{
	const char *slash = strrchr(name, '/');

	if (!slash || !slash[1] || strlen(slash + 1) > 3 ||
	    strspn(slash + 1, "0123456789") != strlen(slash + 1) ||
	    (size_t)(slash - name) > NODE_DESC_SIZE)
		return -1;
	snprintf(node, NODE_DESC_SIZE + 1, "%.*s", (int)(slash - name), name);
	return atoi(slash + 1);
}

/* Waiting for a sweep */

struct sweep_request {
	struct sweep_waiter waiter;
	struct sm *sm;
	struct control_request *request;
	bool tries_engines; /* which are not kept if they find no routes */
	json_t *also;	    /* further members of the answer, or NULL */
};

static json_t *sweep_answer(const struct sweep_request *sweep, const struct sweep_record *record)
{
	const struct sm *sm = sweep->sm;
	json_t *answer = json_pack(
		"{s:I,s:s,s:I,s:I,s:I,s:I,s:s}", "number", (json_int_t)record->number, "kind",
		sweep_kind_name(record->kind), "duration_us", (json_int_t)record->duration_us,
		"smps", (json_int_t)record->smps, "sets", (json_int_t)record->sets, "lft_sets",
		(json_int_t)record->lft_sets, "summary", record->text);

	json_object_update_new(answer, sweep_changes_json(record));
	json_object_update(answer, sweep->also);
	if (sweep->tries_engines) {
		json_object_set_new(answer, "routing", routing_json(&sm->routes));
		json_object_set_new(answer, "at_run_time", json_boolean(!sm->engines.clears));
	}
	return answer;
}

/* Engines that find no routes are not kept, because with them a later fault would get no routes
 * either. Engines that are kept are durable before the command is answered. */
static void sweep_has_ended(struct sweep_waiter *waiter, const struct sweep_record *record)
{
	struct sweep_request *sweep = container_of(waiter, struct sweep_request, waiter);
	struct engines *engines = &sweep->sm->engines;
	bool bad = record && record->error && (sweep->tries_engines || record->error != -EALREADY);

	if (record && sweep->tries_engines)
		engines_tried(sweep->sm, !record->error);
	if (!record)
		control_fail(sweep->request, "the daemon is stopping");
	else if (bad)
		control_fail(sweep->request, "the sweep failed: %s", record->text);
	else if (sweep->tries_engines)
		settings_answer(&engines->settings, sweep->request, sweep_answer(sweep, record));
	else
		control_reply(sweep->request, sweep_answer(sweep, record));
	json_decref(sweep->also);
	free(sweep);
}

static void wait_for(struct sm *sm, struct control_request *request, bool tries_engines,
		     json_t *also)
{
	struct sweep_request *sweep = mem_zalloc(sizeof(*sweep));

	*sweep = (struct sweep_request){.waiter = {.ended = sweep_has_ended},
					.sm = sm,
					.request = request,
					.tries_engines = tries_engines,
					.also = also};
	list_init(&sweep->waiter.link);
	sweep_wait(sm, &sweep->waiter);
}

void wait_for_sweep(struct sm *sm, struct control_request *request, json_t *also)
{
	wait_for(sm, request, false, also);
}

void wait_for_engines(struct sm *sm, struct control_request *request)
{
	wait_for(sm, request, true, NULL);
}

static void command_reroute(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;

	(void)args;
	if (!sm_at_master(sm, request, "compute routes"))
		return;
	wait_for_sweep(sm, request, NULL);
	trigger_reroute(&sm->trigger, "weftctl reroute");
}

static void command_sm_sweep(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const char *kind = json_string_value(json_object_get(args, "kind"));

	if (kind && strcmp(kind, "full") == 0) {
		log_warning("sweep request: the kind \"full\" is renamed to \"heavy\": use the new "
			    "name, because the next release will refuse the former name");
		kind = "heavy";
	}
	if (kind && strcmp(kind, "light") != 0 && strcmp(kind, "heavy") != 0) {
		control_fail(request, "unknown kind of sweep \"%s\": use light or heavy", kind);
		return;
	}
	if (peers_role(sm->peers) == SM_NOTACTIVE) {
		control_fail(request, "this manager is NOTACTIVE: a MASTER has disabled it");
		return;
	}
	if (sm->transport->gone) {
		control_fail(request, "no sweep: %s", device_gone);
		return;
	}
	wait_for_sweep(sm, request, NULL);
	if (kind && strcmp(kind, "light") == 0)
		trigger_light(&sm->trigger, "weftctl");
	else
		trigger_heavy(&sm->trigger, "weftctl");
}

/* Lists */

struct list_kind {
	const char *member;
	/* Returns false if this place has no row. */
	bool (*row)(const struct snapshot *snapshot, uint32_t place, struct buffer *out);
	uint32_t (*count)(const struct snapshot *snapshot);
};

struct listing {			 /* lists on their way to a client, one after the other */
	struct control_request *request; /* until there is a snapshot */
	struct snapshot_waiter snapshot_wait;
	struct snapshot *snapshot;
	const struct list_kind *kind; /* the last row has no member */
	uint32_t place;
};

static enum stream_step listing_next(void *source, struct buffer *part)
{
	struct listing *listing = source;
	const struct list_kind *kind;
	unsigned rows = 0;

	while (listing->kind->member && listing->place == listing->kind->count(listing->snapshot)) {
		listing->kind++;
		listing->place = 0;
	}
	kind = listing->kind;
	if (!kind->member)
		return STREAM_END;
	row_begin(part, kind->member, '[');
	while (listing->place < kind->count(listing->snapshot) && rows < ROWS_A_PART)
		rows += kind->row(listing->snapshot, listing->place++, part);
	row_end(part, ']');
	return STREAM_PART;
}

static void listing_finish(void *source)
{
	struct listing *listing = source;

	snapshot_unref(listing->snapshot);
	free(listing);
}

static void list_from(void *ctx, struct snapshot *snapshot)
{
	struct listing *listing = ctx;

	listing->snapshot = snapshot;
	if (snapshot) {
		control_stream(listing->request, listing_next, listing_finish, listing);
		return;
	}
	control_fail(listing->request, "the daemon is stopping");
	free(listing);
}

static void list_out(struct sm *sm, struct control_request *request, const struct list_kind *kinds)
{
	struct listing *listing = mem_zalloc(sizeof(*listing));

	listing->request = request;
	listing->kind = kinds;
	snapshot_request_take(&sm->snapshot_request, &listing->snapshot_wait,
			      peers_role(sm->peers) != SM_MASTER, list_from, listing);
}

/* node list: switches, then the adapters and routers, each of them once for all of its ports */

static bool lower_port_is_listed(const struct snapshot *snapshot, const struct snap_end *end)
{
	for (unsigned i = 1; i < end->port; i++) {
		if (end->facts->port[i].guid &&
		    snapshot_find_end(snapshot, end->facts->port[i].guid) >= 0)
			return true;
	}
	return false;
}

void node_members(const struct snapshot *snapshot, uint32_t place, struct buffer *out)
{
	static const char *const types[] = {
		[NODE_CA] = "adapter", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"};
	const struct node_facts *facts = facts_at(snapshot, place);
	bool is_switch = place < snapshot->num_switches;
	lid_t lid = is_switch ? snapshot->switches[place].lid
			      : snapshot->ends[place - snapshot->num_switches].lid;
	unsigned active = 0;

	for (unsigned i = 1; i <= facts->info.num_ports; i++)
		active += facts->port[i].info.port_state == PORT_ACTIVE;
	row_guid(out, "guid", facts->info.node_guid);
	row_string(out, "type", types[facts->info.node_type]);
	row_string(out, "description", facts->description);
	row_integer(out, "lid", lid);
	row_integer(out, "ports", facts->info.num_ports);
	row_integer(out, "active", active);
}

/* An adapter is listed at its lowest present port. */
bool place_is_listed_before(const struct snapshot *snapshot, uint32_t place)
{
	return place >= snapshot->num_switches &&
	       lower_port_is_listed(snapshot, &snapshot->ends[place - snapshot->num_switches]);
}

static bool node_list_row(const struct snapshot *snapshot, uint32_t place, struct buffer *out)
{
	if (place_is_listed_before(snapshot, place))
		return false;
	row_begin(out, NULL, '{');
	node_members(snapshot, place, out);
	row_end(out, '}');
	return true;
}

static void command_node_list(void *ctx, struct control_request *request, const json_t *args)
{
	static const struct list_kind kinds[] = {{"nodes", node_list_row, node_count}, {0}};

	(void)args;
	list_out(ctx, request, kinds);
}

/* link list: each cable once, from the switch with the lower index, or from the adapter if there is
 * no switch */

void link_end_row(const struct node_facts *facts, uint8_t port, lid_t lid, const char *name,
		  struct buffer *out)
{
	row_begin(out, name, '{');
	row_guid(out, "guid", facts->info.node_guid);
	row_string(out, "description", facts->description);
	row_integer(out, "port", port);
	row_integer(out, "lid", lid);
	row_end(out, '}');
}

/* The rest of a row, after its two ends. */
static void link_state_row(const struct port_facts *facts, struct buffer *out)
{
	const struct port_info *info = &facts->info;
	char speed[24];

	row_string(out, "state", port_state_text(info));
	row_string(out, "width_speed", port_speed_text(info, &facts->ext, speed));
	row_integer(out, "mtu", mtu_bytes(info->neighbor_mtu));
}

/* The switch to which a slot of the links belongs: the last switch whose first slot is not
 * higher. */
static uint32_t switch_of_slot(const struct snapshot *snapshot, uint32_t slot)
{
	uint32_t low = 0, high = snapshot->num_switches;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (snapshot->switches[middle].first_link <= slot)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static bool switch_link_row(const struct snapshot *snapshot, uint32_t slot, struct buffer *out)
{
	uint32_t index = switch_of_slot(snapshot, slot);
	const struct snap_switch *sw = &snapshot->switches[index];
	const struct snap_link *link = &snapshot->links[slot];
	uint8_t port = (uint8_t)(slot - sw->first_link);

	if (link->end < 0 && link->sw < (int32_t)index)
		return false;
	row_begin(out, NULL, '{');
	link_end_row(sw->facts, port, sw->lid, "from", out);
	link_peer_row(snapshot, link, "to", out);
	link_state_row(&sw->facts->port[port], out);
	row_end(out, '}');
	return true;
}

static bool link_row(const struct snapshot *snapshot, uint32_t place, struct buffer *out)
{
	const struct snap_end *end;

	if (place < snapshot->num_links)
		return switch_link_row(snapshot, place, out);
	end = &snapshot->ends[place - snapshot->num_links];
	if (end->peer < (int32_t)(place - snapshot->num_links))
		return false;
	row_begin(out, NULL, '{');
	link_end_row(end->facts, end->port, end->lid, "from", out);
	host_end_row(snapshot, end->peer, "to", out);
	link_state_row(&end->facts->port[end->port], out);
	row_end(out, '}');
	return true;
}

static uint32_t link_count(const struct snapshot *snapshot)
{
	return snapshot->num_links + snapshot->num_ends;
}

static void command_link_list(void *ctx, struct control_request *request, const json_t *args)
{
	static const struct list_kind kinds[] = {{"links", link_row, link_count}, {0}};

	(void)args;
	list_out(ctx, request, kinds);
}

/* topology export: the nodes in the form of a net file, and every link */

static void export_ports(const struct snapshot *snapshot, const struct node_facts *facts,
			 struct buffer *out)
{
	row_begin(out, "end_ports", '[');
	for (unsigned i = 1; i <= facts->info.num_ports; i++) {
		int32_t e =
			facts->port[i].guid ? snapshot_find_end(snapshot, facts->port[i].guid) : -1;

		if (e < 0)
			continue;
		row_begin(out, NULL, '{');
		row_integer(out, "port", i);
		row_guid(out, "guid", facts->port[i].guid);
		row_integer(out, "lid", snapshot->ends[e].lid);
		row_integer(out, "lmc", snapshot->ends[e].lmc);
		row_end(out, '}');
	}
	row_end(out, ']');
}

static bool export_row(const struct snapshot *snapshot, uint32_t place, struct buffer *out)
{
	const struct node_facts *facts = facts_at(snapshot, place);

	if (place_is_listed_before(snapshot, place))
		return false;
	row_begin(out, NULL, '{');
	node_members(snapshot, place, out);
	row_guid(out, "system_guid", facts->info.system_image_guid);
	row_integer(out, "vendor", facts->info.vendor_id);
	row_integer(out, "device", facts->info.device_id);
	if (place < snapshot->num_switches) {
		row_guid(out, "port_guid", facts->port[0].guid);
		row_integer(out, "lmc", snapshot->switches[place].lmc);
		row_boolean(out, "enhanced_port0", facts->sw.enhanced_port0);
	} else {
		export_ports(snapshot, facts, out);
	}
	row_end(out, '}');
	return true;
}

static void command_topology_export(void *ctx, struct control_request *request, const json_t *args)
{
	static const struct list_kind kinds[] = {
		{"nodes", export_row, node_count}, {"links", link_row, link_count}, {0}};

	(void)args;
	list_out(ctx, request, kinds);
}

static const struct control_command fabric_commands[] = {
	{"reroute", command_reroute, CONTROL_ACTS},
	{"sweep", command_sm_sweep, CONTROL_ACTS},
	{"node list", command_node_list, CONTROL_LOOKS},
	{"link list", command_link_list, CONTROL_LOOKS},
	{"topology export", command_topology_export, CONTROL_LOOKS},
};

/* Beginning and end */

void sm_commands_begin(struct sm *sm, struct control *control)
{
	sm->commands = mem_zalloc(sizeof(*sm->commands));
	list_init(&sm->commands->port_changes);
	list_init(&sm->commands->port_listings);
	list_init(&sm->commands->drains);
	list_init(&sm->commands->judgements);
	list_init(&sm->commands->dumps);
	list_init(&sm->commands->whys);
	partition_check_init(sm);
	partition_commands_init(sm);
	partition_apply_init(sm);
	ha_commands_init(sm);
	control_register(control, fabric_commands, ARRAY_SIZE(fabric_commands), sm);
	control_register(control, port_commands, NUM_PORT_COMMANDS, sm);
	control_register(control, route_commands, NUM_ROUTE_COMMANDS, sm);
	control_register(control, judge_commands, NUM_JUDGE_COMMANDS, sm);
	control_register(control, partition_commands, NUM_PARTITION_COMMANDS, sm);
	control_register(control, keys_commands, NUM_KEYS_COMMANDS, sm);
	control_register(control, ha_commands, NUM_HA_COMMANDS, sm);
	control_register(control, alias_commands, NUM_ALIAS_COMMANDS, sm);
	control_register(control, complete_commands, NUM_COMPLETE_COMMANDS, sm);
	control_register(control, health_commands, NUM_HEALTH_COMMANDS, sm);
	control_register(control, why_commands, NUM_WHY_COMMANDS, sm);
	control_register(control, drain_commands, NUM_DRAIN_COMMANDS, sm);
	save_register_commands(sm->save, control);
	if (sm->replica)
		replica_register_commands(sm->replica, control);
}

struct sm_commands *sm_commands_of(const struct sm *sm)
{
	return sm->commands;
}

void sm_commands_stop(struct sm_commands *commands)
{
	if (!commands)
		return;
	judge_stop(commands);
	why_stop(commands);
	port_changes_stop(commands);
	port_listings_stop(commands);
	drains_stop(commands);
	partition_check_stop(commands);
	partition_commands_stop(commands);
	partition_apply_stop(commands);
	ha_commands_stop(commands);
}

void sm_commands_free(struct sm_commands *commands)
{
	if (!commands)
		return;
	judge_done(commands);
	why_done(commands);
	dumps_done(commands);
	port_listings_done(commands);
	partition_apply_done(commands);
	partition_check_done(commands);
	ha_commands_done(commands);
	free(commands);
}
