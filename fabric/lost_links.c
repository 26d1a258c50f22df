/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of links that were lost and did not return: lost_links.h. */
#include "fabric/lost_links.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "lib/hash.h"
#include "lib/mem.h"

static uint64_t end_hash(const struct port *port)
{
	uint64_t hash = hash_bytes(HASH_SEED, &port->node->guid, sizeof(port->node->guid));

	return hash_bytes(hash, &port->num, sizeof(port->num));
}

/* The same for both orders of the ends. */
static uint64_t link_hash(const struct port *a, const struct port *b)
{
	return end_hash(a) + end_hash(b);
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

static bool has_cable(const struct fabric *fabric, const struct link_end *end)
{
	const struct node *node = fabric_find_node(fabric, end->guid);

	return node && end->num <= node->num_ports && node->port[end->num].peer;
}

void lost_links_settle(struct fabric *fabric, uint64_t now_s)
{
	struct lost_links *links = &fabric->lost_links;
	struct map stay;

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
}

void lost_links_accept(struct lost_links *links)
{
	struct lost_link *lost;
	size_t position = 0;

	while ((lost = map_next(&links->lost, &position)))
		free(lost);
	map_done(&links->lost);
	map_init(&links->lost);
	links->more = 0;
}

void lost_links_end(struct lost_links *links)
{
	lost_links_accept(links);
	map_done(&links->came);
	map_init(&links->came);
	links->begun = false;
}
