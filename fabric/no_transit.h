/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches whose forwarding table cannot be changed: they refuse Sets, or their agents are silent.
 * Routes of other nodes do not pass them, so that only devices cabled to such a switch depend on
 * its table. A snapshot has only its cables to one neighbour, and no path leads through it. Loop
 * thread only.
 */
#ifndef FABRIC_NO_TRANSIT_H
#define FABRIC_NO_TRANSIT_H

#include "fabric/fabric.h"

/* why: enum no_transit. A change makes later snapshots differ. */
void fabric_set_no_transit(struct fabric *fabric, struct node *node, uint8_t why);

/* Whether routes may use a switch, apart from no-transit; freezing and the search for other ways
 * share this. The switch is reached, not drained, and its table holds the LIDs in
 * use. */
bool switch_counts(const struct fabric *fabric, const struct node *node);
/* The same for a cable: both ends are up. A cable between switches is also neither held nor
 * drained, and did not fail to come up. */
bool cable_counts(const struct port *port);

/* The excluded switches, and the neighbour by which each is still reached. Valid until a node is
 * dropped. */
enum { NO_TRANSIT_MAX = 16 };
struct no_transit_choice {
	unsigned count;
	struct {
		const struct node *node, *by;
	} out[NO_TRANSIT_MAX];
};

/* Makes the choice: a stage of freezing (lib/slices.h), before it numbers the switches. A switch
 * that is the only way to another, or the manager's own, is not excluded. */
unsigned no_transit_step(struct fabric *fabric, struct no_transit_choice *choice, size_t *at);
/* Whether a snapshot leaves out the cable at this port. */
bool no_transit_hides(const struct no_transit_choice *choice, const struct port *port);

#endif
