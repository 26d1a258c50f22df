/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A row for each reason; the first that applies is logged. */
#include "sm/unrouted.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/lid.h"
#include "fabric/snapshot.h"
#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "mad/mad.h"

enum { WHY_SIZE = 224 };

static bool is_too_small(const struct fabric *fabric, const struct node *node, char why[WHY_SIZE])
{
	if (lid_fits_switch(fabric, node))
		return false;
	snprintf(why, WHY_SIZE,
		 "its forwarding table has room for %u LIDs (LinearFDBCap), but the fabric needs "
		 "%u: no route uses it, and nodes behind it are unreachable (replace it, or lower "
		 "lmc)",
		 node->facts->sw.linear_fdb_cap, fabric->lid_limit);
	return true;
}

static bool refuses(const struct fabric *fabric, const struct node *node, char why[WHY_SIZE])
{
	const struct switch_trouble *trouble = node->sw->trouble;
	const char *attribute;

	(void)fabric;
	if (node->sw->no_transit != NO_TRANSIT_REFUSES)
		return false;
	attribute = attr_name(CLASS_SUBN_DIRECTED, trouble->refused_attr);
	if (trouble->refused_status)
		snprintf(why, WHY_SIZE,
			 "it refused Set(%s) with status 0x%04x: routes avoid it where they can, "
			 "and its hosts are reached by its present table (reboot it, or check its "
			 "firmware)",
			 attribute, trouble->refused_status);
	else
		snprintf(why, WHY_SIZE,
			 "it answers Get() but no Set(%s), as if another manager's M_Key protected "
			 "it: routes avoid it where they can (reboot it, or remove that key)",
			 attribute);
	return true;
}

static bool unrouted_is_silent(const struct fabric *fabric, const struct node *node,
			       char why[WHY_SIZE])
{
	(void)fabric;
	if (node->sw->no_transit != NO_TRANSIT_SILENT)
		return false;
	snprintf(why, WHY_SIZE,
		 "its agent has not responded for a minute, but its links are up: routes avoid it "
		 "where they can, and its hosts are reached by its present table (reboot it)");
	return true;
}

/* Of no group's MLIDs but the first. It is in the routes as any other. */
static bool has_tiny_multicast(const struct fabric *fabric, const struct node *node,
			       char why[WHY_SIZE])
{
	unsigned entries = node->facts->sw.multicast_fdb_cap;

	(void)fabric;
	if (!node->facts->sw.linear_fdb_cap || entries >= MULTICAST_ENTRIES_FEW)
		return false;
	snprintf(why, WHY_SIZE,
		 "its multicast table has room for %u groups (MulticastFDBCap): trees of higher "
		 "MLIDs avoid it, so its hosts receive no packets of those groups (replace it)",
		 entries);
	return true;
}

static bool (*const reasons[])(const struct fabric *fabric, const struct node *node,
			       char why[WHY_SIZE]) = {
	is_too_small,
	refuses,
	unrouted_is_silent,
	has_tiny_multicast,
};

static bool is_unrouted(const struct fabric *fabric, const struct node *node, char why[WHY_SIZE])
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (reasons[i](fabric, node, why))
			return true;
	}
	return false;
}

void unrouted_log(struct fabric *fabric)
{
	const struct roster *roster = fabric_roster(fabric);
	char why[WHY_SIZE];

	for (size_t i = 0; i < roster->num_switches; i++) {
		struct node *node = roster->switches[i];
		bool out = is_unrouted(fabric, node, why);
		struct log_subject subject = node_subject(node, MESSAGE_LEFT_OUT);

		if (out && !switch_trouble(node)->logged)
			log_about(LOG_ERR, &subject, "switch \"%s\" is not fully usable: %s",
				  node->facts->description, why);
		if (node->sw->trouble)
			node->sw->trouble->logged = out;
		switch_trouble_over(node);
	}
}

static int node_guid_order(const void *a, const void *b)
{
	guid_t first = (*(struct node *const *)a)->guid, second = (*(struct node *const *)b)->guid;

	return (first > second) - (first < second);
}

/* Few switches are unrouted, and only they are sorted. A roster would have to be made again each
 * time while nodes are being found. */
json_t *unrouted_json(const struct fabric *fabric)
{
	const struct node **nodes = mem_array(fabric->num_switches, sizeof(struct node *));
	json_t *array = json_array();
	char why[WHY_SIZE], guid[GUID_TEXT];
	size_t count = 0;

	list_for_each (link, &fabric->switches) {
		const struct node *node = container_of(link, struct switch_state, link)->node;

		if (is_unrouted(fabric, node, why))
			nodes[count++] = node;
	}
	qsort(nodes, count, sizeof(*nodes), node_guid_order);
	for (size_t i = 0; i < count; i++) {
		is_unrouted(fabric, nodes[i], why);
		json_array_append_new(
			array, json_pack("{s:s,s:s,s:s}", "guid", guid_text(nodes[i]->guid, guid),
					 "description", nodes[i]->facts->description, "why", why));
	}
	free(nodes);
	return array;
}
