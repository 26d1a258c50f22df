/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Freezing: a snapshot (fabric/snapshot.h) of the live model, in slices (lib/slices.h). The live
 * model may change between two slices: if the change affects the nodes, links or LIDs of the
 * snapshot, freezing starts again. One freeze at a time for each fabric, because the live model has
 * the indexes. Loop thread only.
 */
#ifndef FABRIC_FREEZE_H
#define FABRIC_FREEZE_H

#include "fabric/no_transit.h"
#include "lib/slices.h"

struct freeze {
	struct fabric *fabric;
	/* LIDs are those found on ports, for a manager that only monitors; else the assigned
	 * LIDs. */
	bool as_found;
	struct snapshot *snapshot;	/* the result: one reference, to be taken */
	uint64_t topology, facts;	/* of the fabric, at the start */
	uint32_t switches, ends, links; /* counted, then filled, up to now */
	struct no_transit_choice no_transit;
};

extern const struct slice_plan freeze_plan; /* its argument is a struct freeze */

#endif
