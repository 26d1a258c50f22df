/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which switches the manager still reaches if some cables are taken down, and which adapters it
 * does not reach any more. The search advances from the manager's switch and from the switch in
 * question in turn, so that both parts have looked at about the same number of ports. It ends when
 * the two parts meet, or when the smaller part is complete. So in a fabric with other paths, its
 * cost hardly depends on the size of the fabric. The search never passes disabled and drained
 * cables. Loop thread only.
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
/* Takes down a cable. Call it before the first search. */
void reach_take_down(struct reach *reach, const struct port *port);
/* Leaves out a node: the search does not pass a switch, and does not count an adapter. Call it
 * before the first search. */
void reach_leave_out(struct reach *reach, const struct node *node);
/* Whether the search may pass the cable at this port now. */
bool reach_passes(const struct reach *reach, const struct port *port);
/* Whether the manager reaches this switch. */
bool reach_finds(struct reach *reach, struct node *node);
/* The number of ports of adapters that the manager does not reach because of these cables. Each
 * cable was passed to reach_take_down(), after reach_passes() had returned true for it. */
unsigned reach_count_lost(struct reach *reach, struct port *const *cables, size_t count);
/* The number of ports of adapters in the fabric that are not left out. */
unsigned reach_count_ends(const struct reach *reach);

#endif
