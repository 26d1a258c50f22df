/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which switches the manager still reaches if some cables are taken down, and the adapters that it
 * does not. The search goes on from the manager's switch and from the switch in question in turn,
 * so that both have looked at about as many ports. It ends where the two parts meet, or when the
 * smaller part is complete. So in a fabric with other paths its cost hardly depends on the size of
 * the fabric. Disabled and drained cables are never passed. Loop thread only.
 */
#ifndef SM_DISCOVERY_REACH_H
#define SM_DISCOVERY_REACH_H

#include "fabric/fabric.h"
#include "lib/map.h"
#include "store/registry.h"

struct reach_part;

struct reach {
	const struct fabric *fabric;
	bool as_routes;
	struct map down;	  /* ports, by their address */
	struct map left_out;	  /* nodes, by GUID */
	struct map part_of;	  /* by the GUID of a switch, the number of its part + 1 */
	struct reach_part *parts; /* the first is the manager's */
	size_t num_parts;
};

/* as_routes: only cables and switches that routes may use; else all that have a link. The model
 * must not change before reach_end(). */
void reach_begin(struct reach *reach, const struct fabric *fabric, const struct registry *registry,
		 bool as_routes);
void reach_end(struct reach *reach);
/* Takes down a cable. Before the first search. */
void reach_take_down(struct reach *reach, const struct port *port);
/* Leaves out a node: a switch is not passed, an adapter does not count. Before the first search. */
void reach_leave_out(struct reach *reach, const struct node *node);
/* Whether the search may pass the cable at this port now. */
bool reach_passes(const struct reach *reach, const struct port *port);
/* Whether the manager reaches this switch. */
bool reach_finds(struct reach *reach, struct node *node);
/* The number of ports of adapters that the manager does not reach because of these cables, which
 * reach_take_down() got after reach_passes() was true for each. */
unsigned reach_count_lost(struct reach *reach, struct port *const *cables, size_t count);
/* The number of ports of adapters in the fabric that are not left out. */
unsigned reach_count_ends(const struct reach *reach);

#endif
