/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Walks over the whole live model: the roster, and the breadth-first tree of directed routes. The
 * roster lists all nodes in an order that does not depend on the time of their discovery. Both
 * support walks in slices. A roster stays valid while no node appears or disappears. The search for
 * a tree stores its results outside the model, because routes along an incomplete tree would be
 * wrong. Called by discovery, LIDs, freezing and programming, on the loop thread.
 */
#include <stdlib.h>

#include "fabric/fabric.h"
#include "lib/mem.h"

/* The roster */

enum { SORTED_A_UNIT = 8 }; /* nodes or ports that are only counted */

static void roster_free(struct roster *roster)
{
	free(roster->nodes);
	free(roster->switches);
	free(roster->ends);
	*roster = (struct roster){0};
}

static unsigned sort_nodes(struct fabric *fabric)
{
	struct roster *roster = &fabric->roster;

	roster_free(roster);
	roster->members = fabric->members;
	roster->num_nodes = fabric->nodes.count;
	roster->nodes = mem_array(roster->num_nodes, sizeof(*roster->nodes));
	map_sorted(&fabric->nodes, (void **)roster->nodes);
	return (unsigned)(roster->num_nodes / SORTED_A_UNIT) + 1;
}

static unsigned sort_ends(struct fabric *fabric)
{
	struct roster *roster = &fabric->roster;

	roster->num_ends = fabric->ports.count;
	roster->ends = mem_array(roster->num_ends, sizeof(*roster->ends));
	map_sorted(&fabric->ports, (void **)roster->ends);
	roster->switches = mem_array(fabric->num_switches, sizeof(*roster->switches));
	return (unsigned)(roster->num_ends / SORTED_A_UNIT) + 1;
}

unsigned fabric_roster_step(struct fabric *fabric, size_t *at)
{
	struct roster *roster = &fabric->roster;
	struct node *node;

	*at = 1;
	if (!roster->nodes || roster->members != fabric->members)
		return sort_nodes(fabric);
	if (!roster->ends)
		return sort_ends(fabric);
	if (roster->looked == roster->num_nodes)
		return 0;
	node = roster->nodes[roster->looked++];
	if (node->type == NODE_SWITCH)
		roster->switches[roster->num_switches++] = node;
	return 1;
}

const struct roster *fabric_roster(struct fabric *fabric)
{
	size_t at = 0;

	while (fabric_roster_step(fabric, &at))
		;
	return &fabric->roster;
}

struct node *fabric_next_node(struct fabric *fabric, size_t *at)
{
	const struct roster *roster = fabric_roster(fabric);

	return *at < roster->num_nodes ? roster->nodes[(*at)++] : NULL;
}

struct node *fabric_next_switch(struct fabric *fabric, size_t *at)
{
	const struct roster *roster = fabric_roster(fabric);

	return *at < roster->num_switches ? roster->switches[(*at)++] : NULL;
}

struct port *fabric_next_end(struct fabric *fabric, size_t *at)
{
	const struct roster *roster = fabric_roster(fabric);

	return *at < roster->num_ends ? roster->ends[(*at)++] : NULL;
}

/* The tree */

static void fabric_tree_free(struct tree *tree)
{
	free(tree->queue);
	*tree = (struct tree){0};
}

static void tree_reach(struct fabric *fabric, struct port *from, unsigned hops)
{
	struct tree *tree = &fabric->tree;
	struct node *node = from->peer ? from->peer->node : NULL;

	if (!node || node->type != NODE_SWITCH || node->tree_search == fabric->tree_searches ||
	    hops > HOPS_MAX)
		return;
	node->tree_search = fabric->tree_searches;
	tree->queue[tree->tail++] = (struct tree_place){node, from, (uint8_t)hops};
}

static void tree_begin(struct fabric *fabric)
{
	struct tree *tree = &fabric->tree;
	struct node *node;

	fabric_tree_free(tree);
	tree->members = fabric->members;
	tree->queue = mem_array(fabric->num_switches + 1, sizeof(*tree->queue));
	fabric->tree_searches++;
	if (!fabric->sm_port)
		return;
	node = fabric->sm_port->node;
	if (node->type != NODE_SWITCH) {
		tree_reach(fabric, fabric->sm_port, 1);
		return;
	}
	node->tree_search = fabric->tree_searches;
	tree->queue[tree->tail++] = (struct tree_place){node, NULL, 0};
}

static void tree_take_over(struct fabric *fabric)
{
	const struct roster *roster = fabric_roster(fabric);
	struct tree *tree = &fabric->tree;

	for (size_t i = 0; i < roster->num_switches; i++) {
		roster->switches[i]->uplink = NULL;
		roster->switches[i]->hops = UINT8_MAX;
	}
	for (size_t i = 0; i < tree->tail; i++) {
		tree->queue[i].node->uplink = tree->queue[i].uplink;
		tree->queue[i].node->hops = tree->queue[i].hops;
	}
	fabric_tree_free(tree);
}

unsigned fabric_tree_step(struct fabric *fabric, size_t *at)
{
	struct tree *tree = &fabric->tree;
	const struct tree_place *place;
	bool only_drained;

	if (*at == 0 || (tree->queue && tree->members != fabric->members)) {
		tree_begin(fabric);
		*at = 1;
	}
	if (!tree->queue)
		return 0;
	if (*at > tree->tail && !tree->others) {
		tree->others = tree->tail + 1;
		*at = 1;
	}
	if (*at > tree->tail) {
		tree_take_over(fabric);
		return fabric->num_switches + 1;
	}
	/* A silent agent forwards no directed routes either, so such a switch comes last. Drained
	 * cables also come last, because their links go down. */
	place = &tree->queue[(*at)++ - 1];
	if (!tree->others && place->node->silent)
		return 1;
	only_drained = tree->others && *at <= tree->others && !place->node->silent;
	if (only_drained && !tree->has_drained)
		return 1;
	for (unsigned i = 1; i <= place->node->num_ports; i++) {
		bool drained = port_drained(&place->node->port[i]);

		tree->has_drained |= drained;
		if (tree->others ? !only_drained || drained : !drained)
			tree_reach(fabric, &place->node->port[i], place->hops + 1);
	}
	return place->node->num_ports + 1u;
}

void fabric_walks_done(struct fabric *fabric)
{
	fabric_tree_free(&fabric->tree);
	roster_free(&fabric->roster);
}

bool fabric_way_is_seen(const struct fabric *fabric, const struct node *node)
{
	for (unsigned hops = 0; node->uplink && hops < HOPS_MAX; hops++) {
		if (node->uplink->discovery.link_pass < fabric->trusted_pass)
			return false;
		node = node->uplink->node;
	}
	return true;
}
