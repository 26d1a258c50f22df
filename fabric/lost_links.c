/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of links that were lost and did not return: lost_links.h. */
#include "fabric/lost_links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "lib/guid.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "store/registry.h"

static uint64_t end_hash(guid_t guid, uint8_t num)
{
	return hash_bytes(hash_bytes(HASH_SEED, &guid, sizeof(guid)), &num, sizeof(num));
}

/* The same for both orders of the ends. */
static uint64_t link_hash(const struct port *a, const struct port *b)
{
	return end_hash(a->node->guid, a->num) + end_hash(b->node->guid, b->num);
}

static uint64_t entry_hash(const struct lost_link_entry *entry)
{
	return end_hash(entry->node_guid, entry->port) +
	       end_hash(entry->peer_guid, entry->peer_port);
}

static void lost_end_fill(struct link_end *end, const struct port *port)
{
	end->guid = port->node->guid;
	end->num = port->num;
	memcpy(end->name, port->node->facts->description, sizeof(end->name));
}

void lost_links_went(struct lost_links *links, const struct port *a, const struct port *b)
{
	bool is_in_order = a->node->guid < b->node->guid ||
			   (a->node->guid == b->node->guid && a->num < b->num);
	uint64_t key = link_hash(a, b);
	struct lost_link *lost;

	if (!links->begun || map_remove(&links->came, key) || map_get(&links->lost, key))
		return;
	if (links->lost.count == LOST_LINKS_MAX) {
		links->more++;
		return;
	}
	lost = mem_zalloc(sizeof(*lost));
	lost_end_fill(&lost->end[!is_in_order], a);
	lost_end_fill(&lost->end[is_in_order], b);
	map_put(&links->lost, key, lost);
}

void lost_links_came(struct lost_links *links, const struct port *a, const struct port *b)
{
	uint64_t key = link_hash(a, b);
	struct lost_link *lost;

	if (!links->begun)
		return;
	lost = map_remove(&links->lost, key);
	free(lost);
	if (!lost)
		map_put(&links->came, key, links);
}

/* Records of the registry */

static void copy_name(uint8_t to[LOST_LINK_NAME_SIZE], const char *name)
{
	memset(to, 0, LOST_LINK_NAME_SIZE);
	memcpy(to, name, strnlen(name, LOST_LINK_NAME_SIZE - 1));
}

static void lost_link_store(struct registry *registry, struct lost_link *lost)
{
	struct lost_link_entry entry = {.node_guid = lost->end[0].guid,
					.port = lost->end[0].num,
					.peer_guid = lost->end[1].guid,
					.peer_port = lost->end[1].num,
					.since_s = lost->since_s};

	copy_name(entry.name, lost->end[0].name);
	copy_name(entry.peer_name, lost->end[1].name);
	registry_put(registry, REGISTRY_LOST_LINK, &entry);
	lost->is_stored = true;
}

static void lost_links_load(struct fabric *fabric)
{
	struct lost_links *links = &fabric->lost_links;
	const struct lost_link_entry *entry =
		registry_first(fabric->registry, REGISTRY_LOST_LINK, -1, NULL);

	for (; entry; entry = registry_next(fabric->registry, REGISTRY_LOST_LINK, -1, entry)) {
		struct lost_link *lost;

		if (links->lost.count == LOST_LINKS_MAX) { /* of a restored or copied registry */
			links->more++;
			continue;
		}
		lost = mem_zalloc(sizeof(*lost));
		lost->end[0].guid = entry->node_guid;
		lost->end[0].num = entry->port;
		memcpy(lost->end[0].name, entry->name, sizeof(lost->end[0].name) - 1);
		lost->end[1].guid = entry->peer_guid;
		lost->end[1].num = entry->peer_port;
		memcpy(lost->end[1].name, entry->peer_name, sizeof(lost->end[1].name) - 1);
		lost->since_s = entry->since_s;
		lost->is_stored = entry->since_s;
		free(map_put(&links->lost, entry_hash(entry), lost));
	}
}

/* Drops the records of links that are not in the list any more. */
static void drop_returned(const struct fabric *fabric)
{
	struct registry *registry = fabric->registry;
	const struct lost_link_entry *entry, *next;

	if (registry_count(registry, REGISTRY_LOST_LINK) == fabric->lost_links.lost.count)
		return;
	for (entry = registry_first(registry, REGISTRY_LOST_LINK, -1, NULL); entry; entry = next) {
		next = registry_next(registry, REGISTRY_LOST_LINK, -1, entry);
		if (!map_get(&fabric->lost_links.lost, entry_hash(entry)))
			registry_drop(registry, REGISTRY_LOST_LINK, entry);
	}
}

static void lost_links_store(struct fabric *fabric)
{
	size_t position = 0;
	struct lost_link *lost;

	while ((lost = map_next(&fabric->lost_links.lost, &position)))
		if (!lost->is_stored)
			lost_link_store(fabric->registry, lost);
	drop_returned(fabric);
}

/* Whether the registry has a lost link of this switch port. */
static bool is_stored_at(const struct registry *registry, guid_t guid, uint8_t num)
{
	const struct lost_link_entry key = {
		.node_guid = guid, .port = num, .peer_guid = guid, .peer_port = num};

	return registry_first(registry, REGISTRY_LOST_LINK, LOST_LINK_BY_PLACE, &key) ||
	       registry_first(registry, REGISTRY_LOST_LINK, LOST_LINK_BY_PEER, &key);
}

void lost_links_missing(struct fabric *fabric, const struct lid_entry *entry)
{
	const struct node *node = fabric_find_node(fabric, entry->node_guid);
	struct lost_link lost = {
		.end = {{.guid = entry->node_guid, .num = entry->port}, {.guid = entry->guid}}};
	char guid[GUID_TEXT];

	if (fabric->lost_links.begun || !entry->node_guid ||
	    registry_count(fabric->registry, REGISTRY_LOST_LINK) >= LOST_LINKS_MAX ||
	    is_stored_at(fabric->registry, entry->node_guid, entry->port))
		return;
	snprintf(lost.end[0].name, sizeof(lost.end[0].name), "%s",
		 node ? node->facts->description : guid_text(entry->node_guid, guid));
	snprintf(lost.end[1].name, sizeof(lost.end[1].name), "port GUID %s",
		 guid_text(entry->guid, guid));
	lost_link_store(fabric->registry, &lost);
}

/* The list */

/* For a host that was lost while no weftd was MASTER, guid is the port GUID. */
static bool has_cable(const struct fabric *fabric, const struct link_end *end)
{
	const struct node *node = end->num ? fabric_find_node(fabric, end->guid) : NULL;
	const struct port *port = end->num ? NULL : map_get(&fabric->ports, end->guid);

	if (node && end->num <= node->num_ports)
		port = &node->port[end->num];
	return port && port->peer;
}

void lost_links_settle(struct fabric *fabric, uint64_t now_s)
{
	struct lost_links *links = &fabric->lost_links;
	struct map stay;

	if (!links->begun && fabric->registry)
		lost_links_load(fabric);
	map_init(&stay);
	for (size_t i = 0; i < links->lost.capacity; i++) {
		const struct map_slot *slot = &links->lost.slots[i];
		struct lost_link *lost = slot->value;

		if (!lost)
			continue;
		if (has_cable(fabric, &lost->end[0]) && has_cable(fabric, &lost->end[1])) {
			free(lost);
			continue;
		}
		lost->since_s = lost->since_s ? lost->since_s : now_s;
		map_put(&stay, slot->key, lost);
	}
	map_done(&links->lost);
	map_done(&links->came);
	links->lost = stay;
	map_init(&links->came);
	links->begun = true;
	if (fabric->registry)
		lost_links_store(fabric);
}

static void lost_links_empty(struct lost_links *links)
{
	struct lost_link *lost;
	size_t position = 0;

	while ((lost = map_next(&links->lost, &position)))
		free(lost);
	map_done(&links->lost);
	map_init(&links->lost);
	links->more = 0;
}

void lost_links_accept(struct fabric *fabric)
{
	lost_links_empty(&fabric->lost_links);
	if (fabric->registry)
		drop_returned(fabric);
}

void lost_links_end(struct lost_links *links)
{
	lost_links_empty(links);
	map_done(&links->came);
	map_init(&links->came);
	links->begun = false;
}
