/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that are gone: gone.h. A list in the order of time, and a map by NodeGUID. */
#include "fabric/gone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/fabric.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "store/registry.h"

enum { WHEN_SIZE = 40 };

void gone_init(struct gone_nodes *gone)
{
	list_init(&gone->nodes);
	map_init(&gone->by_guid);
}

static void gone_forget(struct gone_nodes *gone, struct gone_node *node)
{
	if (!node)
		return;
	map_remove(&gone->by_guid, node->node_guid);
	list_del(&node->link);
	free(node);
}

void gone_done(struct gone_nodes *gone)
{
	while (!list_empty(&gone->nodes))
		gone_forget(gone, container_of(gone->nodes.next, struct gone_node, link));
	map_done(&gone->by_guid);
}

/* Whether a switch port led to this port last, as far as both ends know. */
static bool led_to(const struct port *from, const struct port *to)
{
	bool other_host = from->cable.kind == CABLE_HOST && to->agent &&
			  from->cable.guid != port_facts(to)->guid;

	return from->discovery.led_to == to->node->guid && !other_host;
}

const struct port *port_last_peer(const struct fabric *fabric, const struct port *port)
{
	const struct node *node;

	if (port->peer || !port->discovery.led_to)
		return port->peer;
	node = fabric_find_node(fabric, port->discovery.led_to);
	for (unsigned i = 1; node && i <= node->num_ports; i++)
		if (!node->port[i].peer && led_to(&node->port[i], port))
			return &node->port[i];
	return NULL;
}

/* The port of the node by which it is reached, or was reached last. */
static const struct port *way_in(const struct fabric *fabric, const struct node *node)
{
	const struct port *found = NULL;

	for (unsigned i = 1; i <= node->num_ports; i++) {
		const struct port *peer = port_last_peer(fabric, &node->port[i]);

		if (peer && (!found || fabric_reaches(fabric, peer->node)))
			found = &node->port[i];
		if (peer && fabric_reaches(fabric, peer->node))
			break;
	}
	return found;
}

static const struct port *first_end(const struct node *node)
{
	for (unsigned i = 0; i <= node->num_ports; i++)
		if (node->port[i].agent)
			return &node->port[i];
	return NULL;
}

void gone_note(struct fabric *fabric, const struct node *node, uint64_t now_s)
{
	struct gone_nodes *gone = &fabric->gone;
	const struct port *way = way_in(fabric, node), *end;
	const struct port *peer = way ? port_last_peer(fabric, way) : NULL;
	struct gone_node *entry = mem_zalloc(sizeof(*entry));

	end = node->type != NODE_SWITCH && way && way->agent ? way : first_end(node);
	*entry = (struct gone_node){.node_guid = node->guid, .gone_s = now_s};
	snprintf(entry->description, sizeof(entry->description), "%s", node->facts->description);
	if (end) {
		entry->port_guid = port_facts(end)->guid;
		entry->lid = end->lid;
	}
	if (peer) {
		entry->peer_guid = peer->node->guid;
		entry->peer_port = peer->num;
		snprintf(entry->peer, sizeof(entry->peer), "%s", peer->node->facts->description);
	}
	list_init(&entry->link);
	gone_forget(gone, map_get(&gone->by_guid, node->guid));
	if (gone->by_guid.count == GONE_NODES_MAX)
		gone_forget(gone, container_of(gone->nodes.next, struct gone_node, link));
	map_put(&gone->by_guid, node->guid, entry);
	list_push(&gone->nodes, &entry->link);
}

/* A port that only the registry knows. */
static bool recall_record(const struct fabric *fabric, guid_t guid, lid_t lid,
			  struct gone_node *out)
{
	const struct lid_entry *record;
	const struct node *node;

	if (!fabric->registry)
		return false;
	record = registry_find(fabric->registry, REGISTRY_LID, &(struct lid_entry){.guid = guid});
	if (!guid)
		record = registry_first(fabric->registry, REGISTRY_LID, -1, NULL);
	while (!guid && record && (lid < record->lid || lid - record->lid >= 1 << record->lmc))
		record = registry_next(fabric->registry, REGISTRY_LID, -1, record);
	if (!record || map_get(&fabric->ports, record->guid))
		return false;
	*out = (struct gone_node){.port_guid = record->guid,
				  .lid = record->lid,
				  .peer_guid = record->node_guid,
				  .peer_port = record->port};
	snprintf(out->description, sizeof(out->description), "port 0x%016llx",
		 (unsigned long long)record->guid);
	node = fabric_find_node(fabric, record->node_guid);
	if (node)
		snprintf(out->peer, sizeof(out->peer), "%s", node->facts->description);
	else
		snprintf(out->peer, sizeof(out->peer), "switch 0x%016llx",
			 (unsigned long long)record->node_guid);
	return true;
}

bool gone_recall(const struct fabric *fabric, const char *name, struct gone_node *out)
{
	const struct gone_node *found = NULL;
	guid_t guid = 0;
	char *rest;
	unsigned long lid = strtoul(name, &rest, 10);

	if (!guid_parse(name, &guid))
		guid_parse_digits(name, &guid);
	if (guid || *rest || rest == name || lid > LID_UNICAST_MAX)
		lid = LID_NONE;
	list_for_each (link, &fabric->gone.nodes) {
		const struct gone_node *node = container_of(link, struct gone_node, link);
		bool matches = !strcmp(node->description, name) ||
			       (guid && (guid == node->node_guid || guid == node->port_guid)) ||
			       (lid && lid == node->lid);

		if (matches && !fabric_find_node(fabric, node->node_guid))
			found = node; /* the latest counts */
	}
	if (found)
		*out = *found;
	return found || ((guid || lid) && recall_record(fabric, guid, (lid_t)lid, out));
}

const struct port *gone_peer(const struct fabric *fabric, const struct gone_node *gone)
{
	const struct node *node = fabric_find_node(fabric, gone->peer_guid);

	return node && gone->peer_port && gone->peer_port <= node->num_ports
		       ? &node->port[gone->peer_port]
		       : NULL;
}

bool gone_lid_is_free(const struct fabric *fabric, const struct gone_node *gone)
{
	return gone->lid <= LID_UNICAST_MAX && !fabric->lids[gone->lid];
}

const char *gone_text(const struct fabric *fabric, const struct gone_node *gone,
		      char text[GONE_TEXT_SIZE])
{
	char when[WHEN_SIZE] = "since before weftd started", at[GONE_NAME_SIZE + 40] = "",
	     lid[48] = "";
	time_t gone_s = (time_t)gone->gone_s;
	struct tm parts;

	if (gone->gone_s && localtime_r(&gone_s, &parts))
		strftime(when, sizeof(when), "since %Y-%m-%d %H:%M:%S", &parts);
	if (gone->peer_guid)
		snprintf(at, sizeof(at), "; it was at %s port %u", gone->peer, gone->peer_port);
	if (gone->lid)
		snprintf(lid, sizeof(lid), ", LID %u %s", gone->lid,
			 gone_lid_is_free(fabric, gone) ? "is reserved" : "has another port now");
	snprintf(text, GONE_TEXT_SIZE, "%s is gone %s%s%s", gone->description, when, at, lid);
	return text;
}

const char *gone_explain(const struct fabric *fabric, const struct snap_named *named,
			 const char *name, char text[GONE_TEXT_SIZE])
{
	struct gone_node gone;

	if (fabric && !named->ambiguous && gone_recall(fabric, name, &gone))
		return gone_text(fabric, &gone, text);
	snprintf(text, GONE_TEXT_SIZE, "%s", named->error);
	return text;
}
