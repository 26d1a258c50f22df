/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands drain and undrain. A command checks that it cuts off no host, changes the records,
 * and waits until they are durable. Then it waits for a limited time for the sweeps that carry it
 * out (sm/drain.h). weftd continues after this time, and the answer reports the rest. Loop thread
 * only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/gone.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "sm/control/commands.h"
#include "sm/discovery/disabled.h"

enum { WAIT_US = 15000000, LOOK_US = 500000 };

/* The target of a request: a node or one of its ports, present or with records of an earlier
 * drain. */
struct drain_target {
	guid_t guid;
	uint8_t port;	   /* 0: the whole node */
	struct node *node; /* NULL: absent */
	char name[NODE_DESC_SIZE + 1];
};

/* A request under way. */
struct draining {
	struct list link; /* in commands->drains */
	struct sm *sm;
	struct control_request *request;
	struct registry_waiter durable;
	struct sweep_waiter sweep;
	struct loop_timer timer; /* the next read of ports that do not have the wanted state */
	uint64_t until_us;	 /* the end of the wait */
	bool enables;		 /* undrain */
	bool is_durable;	 /* the records are */
	json_t *answer;
	struct drained_entry *places; /* ports that are to be disabled, or to come up */
	size_t count;
};

/* Targets */

static bool has_name(const struct drained_entry *entry, const char *name, guid_t guid)
{
	return guid ? entry->of == guid : !strcmp((const char *)entry->name, name);
}

enum found { FOUND_NONE, FOUND_ONE, FOUND_SEVERAL };

/* A target with records: its node may be absent, or hidden from the view because it is drained. */
static enum found find_recorded(const struct sm *sm, const char *name, struct drain_target *out)
{
	enum found found = FOUND_NONE;
	const struct drained_entry *entry = drained_first(sm->registry);
	guid_t guid = 0;

	guid_read(name, &guid);
	for (; entry; entry = drained_next(sm->registry, -1, entry)) {
		if (!has_name(entry, name, guid) || (found && entry->of == out->guid))
			continue;
		if (found)
			return FOUND_SEVERAL;
		found = FOUND_ONE;
		out->guid = entry->of;
		snprintf(out->name, sizeof(out->name), "%.*s", NODE_DESC_SIZE,
			 (const char *)entry->name);
		out->node = fabric_find_node(sm->fabric, entry->of);
	}
	return found;
}

/* If an adapter has several ports, a port GUID or a LID names one of them. */
static void name_one_port(const struct sm *sm, const char *name, struct drain_target *out)
{
	const struct port *port = NULL;
	char *end;
	unsigned long lid = strtoul(name, &end, 10);
	guid_t guid;

	if (out->port || !out->node || out->node->sw || out->node->num_ports < 2)
		return;
	if (!*end && lid >= LID_UNICAST_MIN && lid <= sm->fabric->lid_top)
		port = sm->fabric->lids[lid];
	else if (guid_read(name, &guid) && guid != out->guid)
		port = map_get(&sm->fabric->ports, guid);
	if (port && port->node == out->node)
		out->port = port->num;
}

static bool find_present(const struct sm *sm, const char *name, struct drain_target *out,
			 struct snap_named *named)
{
	const struct node_facts *facts;

	*named = snapshot_find_named(sm->view->topology, name);
	if (named->place < 0)
		return false;
	facts = facts_at(sm->view->topology, (uint32_t)named->place);
	out->guid = facts->info.node_guid;
	out->node = fabric_find_node(sm->fabric, out->guid);
	snprintf(out->name, sizeof(out->name), "%s", facts->description);
	name_one_port(sm, name, out);
	return true;
}

/* undrain prefers the node with records to another node with the same name. */
static enum found find_either(const struct sm *sm, const char *name, bool undrains,
			      struct drain_target *out, struct snap_named *named)
{
	enum found found = undrains ? find_recorded(sm, name, out) : FOUND_NONE;

	if (found)
		return found;
	if (find_present(sm, name, out, named))
		return FOUND_ONE;
	return undrains ? FOUND_NONE : find_recorded(sm, name, out);
}

/* Finds the target of NODE, NODE PORT or NODE/PORT. False: the request has ended. */
static bool find_target(const struct sm *sm, struct control_request *request, const json_t *args,
			bool undrains, struct drain_target *out)
{
	const char *name = json_string_value(json_object_get(args, "node"));
	bool has_port = json_object_get(args, "port");
	int port = has_port ? port_argument(args) : 0;
	char node[NODE_DESC_SIZE + 1], text[GONE_TEXT_SIZE];
	struct snap_named named = {.place = -1}, other;
	enum found found;
	int split;

	*out = (struct drain_target){0};
	if (!name || port < has_port) { /* port 0 of a switch has no cable */
		control_fail(request, "expected a node, and a port: a number from 1 to %d",
			     PORT_MAX);
		return false;
	}
	out->port = (uint8_t)port;
	found = find_either(sm, name, undrains, out, &named);
	split = port || found ? -1 : split_node_port(name, node);
	if (split > 0 && split <= PORT_MAX) {
		out->port = (uint8_t)split;
		found = find_either(sm, node, undrains, out, &other);
	}
	if (found == FOUND_ONE)
		return true;
	if (found == FOUND_SEVERAL)
		control_fail(request, "\"%s\" could mean several drained nodes: use a GUID", name);
	else
		control_fail(request, "%s", gone_explain(sm->fabric, &named, name, text));
	return false;
}

/* The record of a drained port that has a record of its own at this place. */
static const struct drained_entry *find_cable_at(const struct sm *sm, guid_t guid, uint8_t port)
{
	const struct drained_entry *entry = drained_find(sm->registry, guid, port);

	if (entry)
		return entry;
	entry = drained_at(sm->registry, guid, port);
	while (entry && !entry->of_port)
		entry = drained_next(sm->registry, DRAINED_BY_PLACE, entry);
	return entry;
}

/* The record of a target. If the target is a port, also a record of the other end of its cable.
 * NULL: none. */
static const struct drained_entry *find_drained(const struct sm *sm,
						const struct drain_target *target)
{
	const struct drained_entry *entry;
	const struct port *peer = NULL;

	if (!target->port)
		return drained_find(sm->registry, target->guid, 0);
	entry = find_cable_at(sm, target->guid, target->port);
	if (!entry && target->node && target->port <= target->node->num_ports)
		peer = port_last_peer(sm->fabric, &target->node->port[target->port]);
	return peer ? find_cable_at(sm, peer->node->guid, peer->num) : entry;
}

static json_t *target_answer(const struct drain_target *target, bool drained)
{
	json_t *answer = json_pack("{s:s,s:b}", "node", target->name, "drained", drained);

	if (target->port)
		json_object_set_new(answer, "port", json_integer(target->port));
	return answer;
}

static void reply_unchanged(struct control_request *request, const struct drain_target *target,
			    bool drained)
{
	json_t *answer = target_answer(target, drained);

	json_object_set_new(answer, "unchanged", json_true());
	control_reply(request, answer);
}

/* Waiting */

static void draining_free(struct draining *draining)
{
	registry_wait_cancel(&draining->durable);
	list_del(&draining->sweep.link);
	loop_timer_disarm(&draining->timer);
	list_del(&draining->link);
	json_decref(draining->answer);
	free(draining->places);
	free(draining);
}

/* Whether a port has the wanted state: disabled, or ACTIVE. */
static bool is_as_wanted(const struct draining *draining, const struct drained_entry *place)
{
	const struct port *port = drained_port(draining->sm->fabric, place);

	if (!port)
		return false;
	return draining->enables ? port_state_of(port) == PORT_ACTIVE : drained_is_down(port);
}

static unsigned count_done(const struct draining *draining)
{
	unsigned done = 0;

	for (size_t i = 0; i < draining->count; i++)
		done += is_as_wanted(draining, &draining->places[i]);
	return done;
}

/* The links of an undrained target count when routes use them. */
static bool is_done(const struct draining *draining)
{
	const struct sm *sm = draining->sm;

	return count_done(draining) == draining->count &&
	       (!draining->enables || sm->routed_topology == sm->fabric->topology);
}

static void draining_reply(struct draining *draining)
{
	json_object_set_new(draining->answer, "ports", json_integer((json_int_t)draining->count));
	json_object_set_new(draining->answer, draining->enables ? "up" : "isolated",
			    json_integer(count_done(draining)));
	control_reply(draining->request, json_incref(draining->answer));
	draining_free(draining);
}

static void draining_unstored(struct draining *draining)
{
	control_fail(draining->request,
		     "the change is not stored yet, because the store or a standby has not "
		     "acknowledged it: it takes effect later (see weftctl status)");
	draining_free(draining);
}

/* A trap that reports a link may be lost, so the ports are read again. */
static void draining_look(void *arg)
{
	struct draining *draining = arg;
	struct sm *sm = draining->sm;

	if (peers_role(sm->peers) != SM_MASTER) {
		sm_at_master(sm, draining->request, "wait for a drain or undrain");
		draining_free(draining);
		return;
	}
	if (loop_now_us(sm->loop) >= draining->until_us) {
		if (draining->is_durable)
			draining_reply(draining);
		else
			draining_unstored(draining);
		return;
	}
	for (size_t i = 0; i < draining->count; i++)
		if (!is_as_wanted(draining, &draining->places[i]))
			trigger_node(&sm->trigger, draining->places[i].node_guid,
				     "a drain or undrain waits for a link");
	loop_timer_arm(&draining->timer, LOOK_US);
}

static void drain_sweep_ended(struct sweep_waiter *waiter, const struct sweep_record *record)
{
	struct draining *draining = container_of(waiter, struct draining, sweep);

	if (!record)
		return; /* drains_stop() answers */
	if (is_done(draining) || control_gone(draining->request))
		draining_reply(draining);
	else
		sweep_wait(draining->sm, &draining->sweep);
}

static void drain_durable(void *ctx)
{
	struct draining *draining = ctx;

	draining->is_durable = true;
	sweep_wait(draining->sm, &draining->sweep);
	if (draining->enables)
		trigger_light(&draining->sm->trigger, "a node or port is no longer drained");
	else
		drain_begin(draining->sm);
}

/* Takes over places and answer. */
static void draining_begin(struct sm *sm, struct control_request *request, bool enables,
			   json_t *answer, struct drained_entry *places, size_t count)
{
	struct draining *draining = mem_zalloc(sizeof(*draining));

	*draining = (struct draining){.sm = sm,
				      .request = request,
				      .durable = {.durable = drain_durable, .ctx = draining},
				      .sweep = {.ended = drain_sweep_ended},
				      .enables = enables,
				      .answer = answer,
				      .places = places,
				      .count = count};
	list_init(&draining->link);
	list_init(&draining->sweep.link);
	loop_timer_init(&draining->timer, sm->loop, "drain", draining_look, draining);
	list_push(&sm->commands->drains, &draining->link);
	draining->until_us = loop_now_us(sm->loop) + WAIT_US;
	loop_timer_arm(&draining->timer, LOOK_US);
	registry_wait(sm->registry, &draining->durable);
}

/* drain */

/* The reason for a refusal that --force does not change; NULL: none. */
static char *drain_obstacle(const struct sm *sm, const struct drain_target *target, size_t count,
			    const struct drained_entry *places)
{
	struct drained_entry entry = {.of = target->guid, .of_port = target->port};

	if (!target->node)
		return mem_printf("\"%s\" has disappeared", target->name);
	if (target->port > target->node->num_ports)
		return mem_printf("\"%s\" has ports 1 to %u", target->name,
				  target->node->num_ports);
	if (!count && target->node->type != NODE_SWITCH)
		return mem_printf("\"%s\"%s has no cable to a switch", target->name,
				  target->port ? " port" : "");
	for (size_t i = 0; i <= count; i++) {
		if (i < count) {
			entry.node_guid = places[i].node_guid;
			entry.port = places[i].port;
		} else {
			entry.port = 0;
		}
		if (drained_is_own(sm->fabric, &entry))
			return mem_printf("this manager is attached to \"%s\"%s and could not "
					  "undrain it: hand over to a standby at another switch "
					  "first (weftctl ha handover), and drain it from there",
					  target->name, target->port ? " by this port" : "");
	}
	return NULL;
}

static char *loss_objection(const struct drain_target *target, const struct drained_losses *losses)
{
	const struct port *peer = target->port ? target->node->port[target->port].peer : NULL;
	bool leads_to_host = target->node->type == NODE_SWITCH && peer && !port_of_switch(peer);
	char port[16] = "", *text = drained_losses_text(losses), *objection;

	if (target->port)
		snprintf(port, sizeof(port), " port %u", target->port);
	objection = mem_printf(
		"draining \"%s\"%s %s; %s%s%s--force drains it all the same", target->name, port,
		text, leads_to_host ? "name the host to drain it, \"" : "",
		leads_to_host ? peer->node->facts->description : "", leads_to_host ? "\"; " : "");
	free(text);
	return objection;
}

/* The reason for a refusal because another manager would lose its link; NULL: none. */
static char *manager_objection(const struct sm *sm, const struct drain_target *target,
			       const struct drained_entry *places, size_t count)
{
	const struct port *end = drain_manager_among(sm, places, count);

	return end ? mem_printf("draining \"%s\" would cut off the other subnet manager at \"%s\" "
				"port %u, so that it could not take over; --force drains it all "
				"the same",
				target->name, end->node->facts->description, end->num)
		   : NULL;
}

/* After a failover to such a standby, no weftd knows about the drain. 0: there is none. */
static guid_t standby_without_drains(const struct sm *sm)
{
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);

	for (size_t i = 0; i < count; i++)
		if (list[i].info.state == SM_STANDBY &&
		    !replica_copies_kind(sm->replica, list[i].info.guid, REGISTRY_DRAINED))
			return list[i].info.guid;
	return 0;
}

/* Takes over places. */
static void drain_reply_later(struct sm *sm, struct control_request *request,
			      const struct drain_target *target,
			      const struct drained_losses *losses, bool forced,
			      struct drained_entry *places, size_t count)
{
	json_t *answer = target_answer(target, true);
	guid_t standby = standby_without_drains(sm);
	char guid[GUID_TEXT];

	if (standby)
		json_object_set_new(answer, "not_copied_to", json_string(guid_text(standby, guid)));
	json_object_set_new(answer, "ports_lost", json_integer(losses->ports));
	json_object_set_new(answer, "pairs_lost", json_integer((json_int_t)losses->pairs));
	if (forced)
		json_object_set_new(answer, "forced_after_s", json_integer(DRAIN_FORCED_S));
	draining_begin(sm, request, false, answer, places, count);
}

static void drain_target(struct sm *sm, struct control_request *request,
			 const struct drain_target *target, bool forced)
{
	struct drained_entry *places = NULL;
	struct drained_losses losses = {0};
	size_t count = 0;
	char *why;

	if (target->node && target->port <= target->node->num_ports)
		count = drained_places(sm->fabric, sm->registry, target->node, target->port,
				       &places);
	why = drain_obstacle(sm, target, count, places);
	if (!why) {
		losses = drained_judge(sm->fabric, sm->registry, target->node, places, count);
		if (losses.ports && !forced)
			why = loss_objection(target, &losses);
		if (!why && !forced)
			why = manager_objection(sm, target, places, count);
	}
	if (why) {
		control_fail(request, "%s", why);
		free(why);
		free(places);
		return;
	}
	drain_put(sm, target->node, target->port, places, count, forced, NULL);
	drain_reply_later(sm, request, target, &losses, forced, places, count);
}

/* A drain by command replaces a drain by the policy, and a drain by force replaces an earlier drain
 * by command. */
static void drain_again(struct sm *sm, struct control_request *request,
			const struct drain_target *target, const struct drained_entry *entry,
			bool forced)
{
	const struct drained *drained = &sm->drain.drained;
	const struct drained_target *of = drained_target_of(drained, entry);
	struct drained_losses losses = {0};
	struct drained_entry *places;
	size_t count;

	if (!entry->by_policy && (entry->forced || !forced)) {
		reply_unchanged(request, target, true);
		return;
	}
	if (of)
		losses = drained_judge_again(drained, sm->fabric, sm->registry,
					     (size_t)(of - drained->targets));
	count = drain_take_over(sm, entry, forced, &places);
	drain_reply_later(sm, request, target, &losses, forced, places, count);
}

static void command_drain(void *ctx, struct control_request *request, const json_t *args)
{
	bool forced = json_is_true(json_object_get(args, "force"));
	const struct drained_entry *entry;
	struct sm *sm = ctx;
	struct drain_target target;

	if (!sm_may_change(sm, request, "drain nodes and ports") ||
	    !find_target(sm, request, args, false, &target))
		return;
	entry = find_drained(sm, &target);
	if (entry)
		drain_again(sm, request, &target, entry, forced);
	else if (target.port && drained_find(sm->registry, target.guid, 0))
		reply_unchanged(request, &target, true);
	else
		drain_target(sm, request, &target, forced);
}

/* undrain */

/* The ports that the command enables, collected before their records are dropped. */
struct undrain {
	struct sm *sm;
	struct drained_entry *places;
	size_t count;
	json_t *names; /* of the targets */
};

static void undrain_target(struct undrain *undrain, const struct drained_entry *of)
{
	const struct registry *registry = undrain->sm->registry;
	const struct drained_entry *entry = drained_find(registry, of->of, of->of_port);
	struct drained_entry first = *entry;

	for (; entry; entry = drained_next(registry, DRAINED_BY_TARGET, entry)) {
		if (!entry->port)
			continue;
		undrain->places =
			mem_grow(undrain->places, undrain->count, sizeof(*undrain->places));
		undrain->places[undrain->count++] = *entry;
	}
	json_array_append_new(
		undrain->names,
		first.of_port ? json_sprintf("%s port %u", (char *)first.name, first.of_port)
			      : json_string((char *)first.name));
	drain_end(undrain->sm, first.of, first.of_port);
}

/* Whether a place, or the other end of its cable, stays disabled for another reason. */
static bool stays_disabled(const struct registry *registry, const struct drained_entry *place)
{
	return port_is_drained(registry, place->node_guid, place->port) ||
	       port_is_disabled(registry, place->node_guid, place->port) ||
	       (place->of_port && (port_is_drained(registry, place->of, place->of_port) ||
				   port_is_disabled(registry, place->of, place->of_port)));
}

/* Removes the ports that stay disabled. */
static void leave_disabled(struct undrain *undrain)
{
	const struct registry *registry = undrain->sm->registry;
	size_t kept = 0;

	for (size_t i = 0; i < undrain->count; i++)
		if (!stays_disabled(registry, &undrain->places[i]))
			undrain->places[kept++] = undrain->places[i];
	undrain->count = kept;
}

/* All targets, or only those of the policy. Of the records of a node, only that without a port
 * counts. */
static void undrain_all(struct undrain *undrain, bool only_policy)
{
	const struct registry *registry = undrain->sm->registry;
	const struct drained_entry *entry = drained_first(registry);
	struct drained_entry *targets = NULL;
	size_t count = 0;

	for (; entry; entry = drained_next(registry, -1, entry)) {
		if ((only_policy && !entry->by_policy) || (entry->port && !entry->of_port))
			continue;
		targets = mem_grow(targets, count, sizeof(*targets));
		targets[count++] = *entry;
	}
	for (size_t i = 0; i < count; i++)
		undrain_target(undrain, &targets[i]);
	free(targets);
}

static void undrain_one(struct undrain *undrain, struct control_request *request,
			const struct drain_target *target)
{
	struct sm *sm = undrain->sm;
	const struct drained_entry *entry = find_drained(sm, target), *other;

	if (entry) {
		undrain_target(undrain, entry);
		return;
	}
	other = drained_at(sm->registry, target->guid, target->port);
	if (other)
		control_fail(request,
			     "\"%s\" port %u is disabled because \"%s\" is drained: weftctl "
			     "undrain %s",
			     target->name, target->port, (const char *)other->name,
			     (const char *)other->name);
	else
		reply_unchanged(request, target, false);
}

static void undrain_reply(struct undrain *undrain, struct control_request *request)
{
	json_t *answer = json_pack("{s:O,s:b}", "undrained", undrain->names, "drained", 0);

	if (!json_array_size(undrain->names)) {
		json_object_set_new(answer, "unchanged", json_true());
		control_reply(request, answer);
		return;
	}
	drain_ended(undrain->sm);
	leave_disabled(undrain);
	draining_begin(undrain->sm, request, true, answer, undrain->places, undrain->count);
	undrain->places = NULL;
}

static void command_undrain(void *ctx, struct control_request *request, const json_t *args)
{
	bool all = json_is_true(json_object_get(args, "all")),
	     policy = json_is_true(json_object_get(args, "policy"));
	struct undrain undrain = {.sm = ctx};
	struct drain_target target;

	if (!sm_may_change(ctx, request, "undrain nodes and ports"))
		return;
	if ((all || policy) == (json_object_get(args, "node") != NULL)) {
		control_fail(request, "expected a node, or one of --all and --policy");
		return;
	}
	if (!all && !policy && !find_target(ctx, request, args, true, &target))
		return;
	undrain.names = json_array();
	if (all || policy)
		undrain_all(&undrain, !all);
	else
		undrain_one(&undrain, request, &target);
	if (all || policy || json_array_size(undrain.names))
		undrain_reply(&undrain, request);
	json_decref(undrain.names);
	free(undrain.places);
}

void drains_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->drains) {
		struct draining *draining = container_of(link, struct draining, link);

		control_fail(draining->request,
			     "the daemon is stopping; the change continues after its next start");
		draining_free(draining);
	}
}

const struct control_command drain_commands[NUM_DRAIN_COMMANDS] = {
	{"drain", command_drain, CONTROL_CHANGES},
	{"undrain", command_undrain, CONTROL_CHANGES},
};
