/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Drained nodes and ports in weftctl status: sm/discovery/drained.h. */
#include <stdio.h>

#include "lib/guid.h"
#include "sm/discovery/drained.h"

static const char *name_of(const struct fabric *fabric, guid_t guid, char text[GUID_TEXT])
{
	const struct node *node = fabric_find_node(fabric, guid);
	const struct gone_node *gone = map_get(&fabric->gone.by_guid, guid);

	return node ? node->facts->description : gone ? gone->description : guid_text(guid, text);
}

static const char *name_of_target(const struct fabric *fabric, const struct drained_entry *of)
{
	const struct node *node = fabric_find_node(fabric, of->of);

	return node ? node->facts->description : (const char *)of->name;
}

/* of NULL: this manager is not MASTER, so it only has the record. */
static const char *state_of(const struct fabric *fabric, const struct drained_entry *target,
			    const struct drained_target *of)
{
	if (drained_is_own(fabric, target))
		return "own path";
	if (of && of->held)
		return "held: last path";
	return !of || of->isolated == of->ports ? "isolated" : "draining";
}

static json_t *target_json(const struct drained *drained, const struct fabric *fabric,
			   const struct registry *registry, const struct drained_entry *target)
{
	const struct drained_target *of = drained_target_of(drained, target);
	char guid[GUID_TEXT];
	guid_t missing;
	json_t *json;

	json = json_pack("{s:s,s:s,s:s,s:I,s:s,s:i,s:i}", "guid", guid_text(target->of, guid),
			 "description", name_of_target(fabric, target), "by",
			 target->by_policy ? "policy" : "command", "since_s",
			 (json_int_t)target->since_s, "state", state_of(fabric, target, of),
			 "ports", of ? (int)of->ports : 0, "isolated", of ? (int)of->isolated : 0);
	if (target->of_port)
		json_object_set_new(json, "port", json_integer(target->of_port));
	if (target->reason[0])
		json_object_set_new(json, "reason", json_string((const char *)target->reason));
	missing = of && of->cuts_off ? drained_cut_off(drained, fabric, registry,
						       (size_t)(of - drained->targets))
				     : 0;
	if (missing)
		json_object_set_new(json, "cut_off", json_string(name_of(fabric, missing, guid)));
	return json;
}

unsigned drained_count(const struct registry *registry, bool by_policy)
{
	const struct drained_entry *entry = drained_first(registry);
	unsigned count = 0;

	for (; entry; entry = drained_next(registry, -1, entry))
		count += entry->port && (bool)entry->by_policy == by_policy;
	return count;
}

/* Of several records of one cable, only one counts. */
static bool is_first_of_cable(const struct registry *registry, const struct drained_entry *entry)
{
	bool names_both =
		entry->of_port && (entry->of != entry->node_guid || entry->of_port != entry->port);
	const struct drained_entry *first = drained_at(registry, entry->node_guid, entry->port);

	return first && drained_same_place(first, entry) &&
	       !(names_both && port_is_drained(registry, entry->of, entry->of_port));
}

static bool is_end_drained(const struct registry *registry, const struct link_end *end)
{
	return drained_of_port(registry, end->guid, end->num);
}

bool drained_explains(const struct registry *registry, const struct lost_link *lost)
{
	for (unsigned i = 0; i < 2; i++)
		if (is_end_drained(registry, &lost->end[i]) ||
		    drained_find(registry, lost->end[i].guid, 0))
			return true;
	return false;
}

/* Both ports of each isolated cable, and of each link behind a switch that was drained by force,
 * such as the links of its hosts. */
static unsigned count_down(const struct drained *drained, const struct fabric *fabric,
			   const struct registry *registry)
{
	const struct lost_link *lost;
	size_t position = 0;
	unsigned links = 0;

	for (size_t i = 0; i < drained->count; i++)
		links += drained->places[i].step == DRAINED_ISOLATED &&
			 drained->places[i].entry.port &&
			 is_first_of_cable(registry, &drained->places[i].entry);
	while ((lost = map_next(&fabric->lost_links.lost, &position)))
		links += drained_explains(registry, lost) &&
			 !is_end_drained(registry, &lost->end[0]) &&
			 !is_end_drained(registry, &lost->end[1]);
	return 2 * links;
}

static json_t *policy_example(const struct fabric *fabric, const struct registry *registry)
{
	const struct drained_entry *entry = drained_first(registry);

	while (entry && !entry->by_policy)
		entry = drained_next(registry, -1, entry);
	return entry ? json_pack("{s:s,s:i,s:s}", "description", name_of_target(fabric, entry),
				 "port", entry->of_port, "reason", (const char *)entry->reason)
		     : NULL;
}

static json_t *cut_off_example(const struct drained *drained, const struct fabric *fabric,
			       const struct registry *registry)
{
	size_t at = 0;
	const struct drained_entry *of;
	char guid[GUID_TEXT], port[8] = "";
	guid_t missing;

	while (at < drained->num_targets && !drained->targets[at].cuts_off)
		at++;
	missing = at < drained->num_targets ? drained_cut_off(drained, fabric, registry, at) : 0;
	if (!missing)
		return NULL;
	of = &drained->targets[at].entry;
	if (of->of_port)
		snprintf(port, sizeof(port), " %u", of->of_port);
	return json_pack("{s:s,s:o}", "description", name_of(fabric, missing, guid), "target",
			 json_sprintf("%s%s", name_of_target(fabric, of), port));
}

json_t *drained_ports_json(const struct drained *drained, const struct fabric *fabric,
			   const struct registry *registry)
{
	json_t *json = json_pack("{s:i,s:i,s:i}", "by_command", (int)drained_count(registry, false),
				 "by_policy", (int)drained_count(registry, true), "down",
				 (int)count_down(drained, fabric, registry));
	json_t *example = policy_example(fabric, registry);
	json_t *cut_off = cut_off_example(drained, fabric, registry);

	if (example)
		json_object_set_new(json, "example", example);
	if (cut_off)
		json_object_set_new(json, "cut_off", cut_off);
	return json;
}

/* A target that is a port has one record. Of the records of a node, only that without a port
 * counts. */
json_t *drained_json(const struct drained *drained, const struct fabric *fabric,
		     const struct registry *registry)
{
	const struct drained_entry *entry = drained_first(registry);
	json_t *array = json_array();

	for (; entry; entry = drained_next(registry, -1, entry))
		if (entry->of_port || !entry->port)
			json_array_append_new(array, target_json(drained, fabric, registry, entry));
	return array;
}
