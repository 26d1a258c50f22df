/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The members of the status that only `weftctl health` needs (weftd/health.h): the condition of the
 * subnet in one word, lost links, planned links, ports that refuse settings, peers that do not
 * answer, recent traps that were suppressed, recent SMPs with wrong M_Keys. Each list has its
 * number of entries and the first few. And `health accept`. Loop thread only.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"
#include "sm/control/commands.h"
#include "sm/discovery/disabled.h"
#include "sm/discovery/drained.h"
#include "sm/program/refusals.h"

enum { EXAMPLES = 8, RECENT_S = 600 };

#define S_US UINT64_C(1000000)

static bool health_is_recent(const struct sm *sm, uint64_t when_us)
{
	return when_us && loop_now_us(sm->loop) - when_us < RECENT_S * S_US;
}

static const char *subnet_condition(const struct sm *sm)
{
	const struct sweep_record *last = &sm->sweep.last;
	enum sm_state role = peers_role(sm->peers);

	if (sm->transport->gone)
		return "no device";
	if (role == SM_NOTACTIVE)
		return "disabled";
	if (role == SM_STANDBY && (!last->error || last->error == -EALREADY))
		return "standby";
	if (!last->number)
		return "starting";
	switch (last->error) {
	case 0:
		return last->met_errors ? "up with errors" : "up";
	case -EIO:
	case -ENETDOWN:
	case -EACCES:
		return "no fabric";
	case -ENOTSUP:
		return sm->routes.routes ? "old routes" : "no routes";
	default:
		return "not up";
	}
}

static json_t *lost_end(const struct sm *sm, const struct link_end *end)
{
	const struct node *node = fabric_find_node(sm->fabric, end->guid);

	return control_port_json(end->guid, node ? node->facts->description : end->name, end->num);
}

bool health_is_by_command(const struct sm *sm, const struct lost_link *lost)
{
	return port_is_disabled(sm->registry, lost->end[0].guid, lost->end[0].num) ||
	       port_is_disabled(sm->registry, lost->end[1].guid, lost->end[1].num) ||
	       drained_explains(sm->registry, lost);
}

static int lost_order(const void *a, const void *b)
{
	const struct link_end *first = (*(struct lost_link *const *)a)->end,
			      *second = (*(struct lost_link *const *)b)->end;

	if (first->guid != second->guid)
		return first->guid > second->guid ? 1 : -1;
	return first->num - second->num;
}

/* A lost link that is missing in the plan, too, is in planned_links: so it is shown once, and with
 * the remedy that helps. Here it only counts. */
static json_t *lost_links_json(const struct sm *sm)
{
	const struct lost_links *links = &sm->fabric->lost_links;
	struct lost_link **list = mem_array(links->lost.count + 1, sizeof(*list)), *lost;
	size_t position = 0, count = 0, planned = 0;
	json_t *array = json_array();

	while ((lost = map_next(&links->lost, &position))) {
		if (health_is_by_command(sm, lost))
			continue;
		if (planned_gaps_have(&sm->planned.gaps, lost))
			planned++;
		else
			list[count++] = lost;
	}
	qsort(list, count, sizeof(*list), lost_order);
	for (size_t i = 0; i < count && i < EXAMPLES; i++)
		json_array_append_new(array, json_pack("{s:o,s:o,s:I}", "from",
						       lost_end(sm, &list[i]->end[0]), "to",
						       lost_end(sm, &list[i]->end[1]), "since_s",
						       (json_int_t)list[i]->since_s));
	free(list);
	return json_pack("{s:I,s:I,s:o}", "count", (json_int_t)(count + links->more), "planned",
			 (json_int_t)planned, "links", array);
}

static bool refuses_some(const struct port *port)
{
	return refusal_of(port) != NULL;
}

/* A peer that was found later, or whose link is down, is not silent. */
static bool has_silent_peer(const struct port *port)
{
	return port->discovery.far_end == FAR_END_SILENT && !port->peer &&
	       port_state_of(port) >= PORT_INIT;
}

static bool is_of_silent_node(const struct port *port)
{
	return port->node->silent;
}

static json_t *notes_json(const struct sm *sm, struct port_notes *notes,
			  bool (*has_fault)(const struct port *port),
			  const char *(*what)(const struct port *port))
{
	json_t *array = json_array();

	port_notes_keep(notes, sm->fabric, has_fault);
	for (unsigned i = 0; i < notes->count && i < EXAMPLES; i++) {
		const struct port *port = port_notes_port(&notes->row[i], sm->fabric);
		json_t *row = control_port_json(port->node->guid, port->node->facts->description,
						port->num);

		if (what)
			json_object_set_new(row, "what", json_string(what(port)));
		json_array_append_new(array, row);
	}
	return json_pack("{s:i,s:b,s:o}", "count", (int)notes->count, "more", notes->more, "ports",
			 array);
}

static const char *name_of_port(const struct sm *sm, guid_t guid)
{
	const struct port *port = guid ? map_get(&sm->fabric->ports, guid) : NULL;

	return port ? port->node->facts->description : "an unknown port";
}

static json_t *keys_summary(const struct sm *sm)
{
	const struct keys *keys = &sm->keys;

	return json_pack("{s:I,s:b,s:s,s:i,s:i,s:b}", "violations",
			 (json_int_t)(keys->violations - keys->own_violations), "violated_recently",
			 health_is_recent(sm, keys->violated_us), "violated_by",
			 name_of_port(sm, keys->violated_guid), "changing", (int)keys->changing,
			 "unsettled", (int)keys->unsettled, "held_back", keys->held_back);
}

void health_add_status(const struct sm *sm, json_t *status)
{
	json_t *traps = json_object_get(status, "traps");
	json_t *routing = json_object_get(status, "routing");
	json_t *planned = planned_links_json(sm);

	if (sm->credit_watch.known && sm->routes.routes) {
		json_object_set_new(routing, "credit_checked", json_true());
		json_object_set_new(routing, "credit_loops",
				    json_integer(sm->credit_watch.report.loops));
	}
	json_object_set_new(status, "condition", json_string(subnet_condition(sm)));
	json_object_set_new(status, "lost_links", lost_links_json(sm));
	if (planned)
		json_object_set_new(status, "planned_links", planned);
	json_object_set_new(status, "refusing",
			    notes_json(sm, &sm->fabric->refusing, refuses_some, refusal_of));
	json_object_set_new(status, "silent_peers",
			    notes_json(sm, &sm->fabric->mute, has_silent_peer, NULL));
	json_object_set_new(status, "silent_nodes",
			    notes_json(sm, &sm->fabric->silent, is_of_silent_node, NULL));
	json_object_set_new(traps, "suppressed_recently",
			    json_boolean(health_is_recent(sm, sm->suppressed_us)));
	json_object_set_new(traps, "suppressed_from",
			    json_string(name_of_port(sm, sm->suppressed_guid)));
	json_object_set_new(status, "keys", keys_summary(sm));
}

static void command_health_accept(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	json_t *lost;

	(void)args;
	if (!sm_at_master(sm, request, "accept the present links"))
		return;
	lost = lost_links_json(sm);
	lost_links_accept(sm->fabric);
	sm->suppressed_us = sm->keys.violated_us = 0;
	settings_answer(&sm->engines.settings, request,
			json_pack("{s:I,s:i}", "forgotten",
				  json_integer_value(json_object_get(lost, "count")) +
					  json_integer_value(json_object_get(lost, "planned")),
				  "links", sm->fabric->num_links));
	json_decref(lost);
}

const struct control_command health_commands[NUM_HEALTH_COMMANDS] = {
	{"health accept", command_health_accept, CONTROL_CHANGES},
};
