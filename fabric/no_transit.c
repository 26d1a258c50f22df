/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each no-transit switch is tried separately, in the order of GUIDs. It is excluded if all other
 * switches are reached on paths that avoid it and all switches that were excluded before. Each
 * trial costs searches of the fabric, so at most NO_TRANSIT_MAX switches are excluded. With more
 * no-transit switches, the fault is not in the switches.
 */
#include "fabric/no_transit.h"

#include <stdlib.h>

#include "fabric/lid.h"
#include "lib/mem.h"

enum { COST_SEARCHES = 1000 };

/* During the search, node->index is the state of a switch. */
enum { NOT_THERE = -2, NOT_REACHED = -1, REACHED = 0 };

void fabric_set_no_transit(struct fabric *fabric, struct node *node, uint8_t why)
{
	fabric->topology += (why != TRANSIT_ALLOWED) != (node->sw->no_transit != TRANSIT_ALLOWED);
	node->sw->no_transit = why;
}

bool switch_counts(const struct fabric *fabric, const struct node *node)
{
	return node->facts->sw.linear_fdb_cap && !node->sw->drained &&
	       lid_fits_switch(fabric, node) && fabric_reaches(fabric, node);
}

bool cable_counts(const struct port *port)
{
	bool failed = port_of_switch(port) && port->peer && port_of_switch(port->peer) &&
		      (port->program.no_bringup || port->peer->program.no_bringup ||
		       port_held(port) || port_drained(port));

	return port_cabled(port) && port->peer->node != port->node && !failed;
}

static struct node *neighbour(const struct port *port)
{
	return cable_counts(port) && port_of_switch(port->peer) ? port->peer->node : NULL;
}

/* The neighbour by which an excluded switch is reached; NULL: it is not excluded. */
static const struct node *only_by(const struct no_transit_choice *choice, const struct node *node)
{
	for (unsigned i = 0; i < choice->count; i++) {
		if (choice->out[i].node == node)
			return choice->out[i].by;
	}
	return NULL;
}

/* The number of switches that are reached without passing excluded switches. */
static size_t count_reached(struct fabric *fabric, const struct no_transit_choice *choice,
			    struct node **queue)
{
	struct node *node = fabric_first_switch(fabric);
	const struct roster *roster = fabric_roster(fabric);
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < roster->num_switches; i++)
		roster->switches[i]->index =
			switch_counts(fabric, roster->switches[i]) ? NOT_REACHED : NOT_THERE;
	node->index = REACHED;
	queue[tail++] = node;
	while (head < tail) {
		node = queue[head++];
		for (unsigned i = 1; i <= node->num_ports; i++) {
			struct node *next = neighbour(&node->port[i]);

			if (!next || next->index != NOT_REACHED || only_by(choice, next))
				continue;
			next->index = REACHED;
			queue[tail++] = next;
		}
	}
	return tail;
}

/* Sets the neighbour by which a reached switch is reached; NULL: there is none. */
static struct node *choose_neighbour(struct node *node)
{
	struct node *chosen = NULL;

	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct node *next = neighbour(&node->port[i]);

		if (next && next->index == REACHED && !next->sw->no_transit &&
		    (!chosen || next->guid < chosen->guid))
			chosen = next;
	}
	return chosen;
}

unsigned no_transit_step(struct fabric *fabric, struct no_transit_choice *choice, size_t *at)
{
	const struct roster *roster = fabric_roster(fabric);
	struct node *node, *by, **queue;
	size_t reached;

	if (!*at)
		choice->count = 0;
	if (*at == roster->num_switches || !fabric_first_switch(fabric))
		return 0;
	node = roster->switches[(*at)++];
	if (!node->sw->no_transit || node == fabric_first_switch(fabric) ||
	    choice->count == NO_TRANSIT_MAX)
		return 1;
	queue = mem_array(roster->num_switches, sizeof(*queue));
	reached = count_reached(fabric, choice, queue);
	by = node->index == REACHED ? choose_neighbour(node) : NULL;
	if (by) {
		choice->out[choice->count].node = node;
		choice->out[choice->count++].by = by;
		if (count_reached(fabric, choice, queue) != reached - 1)
			choice->count--;
	}
	free(queue);
	return COST_SEARCHES;
}

bool no_transit_hides(const struct no_transit_choice *choice, const struct port *port)
{
	const struct port *peer = port->peer;
	const struct node *by, *peer_by;

	if (!choice->count || !port_of_switch(port) || !peer || !port_of_switch(peer))
		return false;
	by = only_by(choice, port->node);
	peer_by = only_by(choice, peer->node);
	return (by && by != peer->node) || (peer_by && peer_by != port->node);
}
