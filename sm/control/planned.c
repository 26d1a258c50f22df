/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The member planned_links of the status: the parts of the planned topology that are not there
 * (sm/planned_links.h), without those that commands took out of service. The numbers, the first few
 * of each, and a text with the first names for `weftctl health`. Loop thread only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/guid.h"
#include "lib/mem.h"
#include "sm/context.h"
#include "sm/control/commands.h"

enum { GAP_EXAMPLES = 8, GAP_NAMES = 3 };

struct gap_report {
	const struct sm *sm;
	unsigned nodes, cables, moved, by_command, names;
	json_t *absent, *links;
	FILE *text; /* the first names */
};

static bool gap_is_by_command(const struct sm *sm, const struct planned_gap *gap)
{
	const struct lost_link link = {.end = {gap->end[0], gap->end[1]}};

	if (!registry_count(sm->registry, REGISTRY_DISABLED) &&
	    !registry_count(sm->registry, REGISTRY_DRAINED))
		return false; /* thousands of gaps may be asked about */
	return health_is_by_command(sm, &link);
}

/* Whether all cables of the absent node, which follow it, are out of service by command. */
static bool node_is_by_command(const struct sm *sm, const struct planned_gaps *gaps, size_t at)
{
	size_t first = at + 1;

	for (at = first; at < gaps->count && gaps->gap[at].kind == PLANNED_NODE_CABLE; at++)
		if (!gap_is_by_command(sm, &gaps->gap[at]))
			return false;
	return at > first;
}

static json_t *gap_end_json(const struct link_end *end)
{
	return control_port_json(end->guid, end->name, end->num);
}

static void report_node(struct gap_report *report, const struct planned_gap *gap)
{
	char guid[GUID_TEXT];

	if (report->nodes++ < GAP_EXAMPLES)
		json_array_append_new(report->absent, json_pack("{s:s,s:s}", "guid",
								guid_text(gap->end[0].guid, guid),
								"description", gap->end[0].name));
	if (report->names++ < GAP_NAMES)
		fprintf(report->text, "%s\"%s\"", report->names == 1 ? "" : ", ", gap->end[0].name);
}

static void report_cable(struct gap_report *report, const struct planned_gap *gap)
{
	bool is_moved = gap->kind == PLANNED_MOVED;

	if (gap_is_by_command(report->sm, gap)) {
		report->by_command++;
		return;
	}
	report->moved += is_moved;
	if (report->cables++ < GAP_EXAMPLES)
		json_array_append_new(report->links,
				      json_pack("{s:o,s:o,s:b}", "from", gap_end_json(&gap->end[0]),
						"to", gap_end_json(&gap->end[1]), "moved",
						is_moved));
	if (report->names++ < GAP_NAMES)
		fprintf(report->text, "%s\"%s\" port %u - \"%s\" port %u%s",
			report->names == 1 ? "" : ", ", gap->end[0].name, gap->end[0].num,
			gap->end[1].name, gap->end[1].num, is_moved ? " (moved)" : "");
}

static void report_gaps(struct gap_report *report, const struct planned_gaps *gaps)
{
	for (size_t i = 0; i < gaps->count; i++) {
		const struct planned_gap *gap = &gaps->gap[i];

		if (gap->kind == PLANNED_CABLE || gap->kind == PLANNED_MOVED)
			report_cable(report, gap);
		else if (gap->kind == PLANNED_NODE && !node_is_by_command(report->sm, gaps, i))
			report_node(report, gap);
	}
	report->nodes += gaps->more_nodes;
	report->cables += gaps->more_cables;
}

json_t *planned_links_json(const struct sm *sm)
{
	const struct planned_links *planned = &sm->planned;
	struct gap_report report = {.sm = sm};
	char *text = NULL;
	json_t *json;
	size_t size;

	if (!planned->plan)
		return NULL;
	if (!planned->known || !sm->view)
		return json_pack("{s:s,s:b}", "file", planned->path, "compared", false);
	report.absent = json_array();
	report.links = json_array();
	report.text = open_memstream(&text, &size);
	if (!report.text)
		abort(); /* out of memory */
	report_gaps(&report, &planned->gaps);
	fclose(report.text);
	json = json_pack("{s:s,s:b,s:i,s:i,s:i,s:i,s:o,s:o,s:s}", "file", planned->path, "compared",
			 true, "nodes_missing", (int)report.nodes, "missing", (int)report.cables,
			 "moved", (int)report.moved, "by_command", (int)report.by_command, "nodes",
			 report.absent, "links", report.links, "example", text);
	free(text);
	return json;
}
