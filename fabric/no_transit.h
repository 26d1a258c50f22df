/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches that forward by a table which nobody can change: they refuse to be written, or their
 * agents are silent. Routes of others do not pass them, so that nothing depends on that table but
 * what is cabled to such a switch itself: a snapshot shows only its cables to one neighbour, and
 * nobody is on the way between two others. Loop thread only.
 */
#ifndef FABRIC_NO_TRANSIT_H
#define FABRIC_NO_TRANSIT_H

#include "fabric/fabric.h"

/* enum no_transit; a snapshot would differ if that changes. */
void fabric_set_no_transit(struct fabric *fabric, struct node *node, uint8_t why);

/* What routes may use, as far as nothing is no-transit: freezing and the search for other ways
 * agree on it. A switch that is reached and whose table holds the LIDs that are used; a cable with
 * both ends up that, between switches, is not held and did not fail to come up. */
bool switch_counts(const struct fabric *fabric, const struct node *node);
bool cable_counts(const struct port *port);

/* Those that nobody passes any more, and by which neighbour each is still reached. It is good until
 * a node goes. */
enum { NO_TRANSIT_MAX = 16 };
struct no_transit_choice {
	unsigned count;
	struct {
		const struct node *node, *by;
	} out[NO_TRANSIT_MAX];
};

/* Makes the choice: a stage of freezing (lib/slices.h), before it numbers the switches. One that is
 * the only way to another, or the manager's own, is passed all the same. */
unsigned no_transit_step(struct fabric *fabric, struct no_transit_choice *choice, size_t *at);
/* Whether a snapshot leaves out the cable at this port. */
bool no_transit_hides(const struct no_transit_choice *choice, const struct port *port);

#endif
