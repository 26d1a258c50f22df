/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Freezing: a snapshot (fabric/snapshot.h) of the live model, in slices
 * (lib/slices.h). The live model may change between two slices: where that changes what the
 * snapshot shows of nodes, links and LIDs, freezing begins anew. One at a time for each fabric,
 * since what is frozen is numbered in the live model. Loop thread only.
 */
#ifndef FABRIC_FREEZE_H
#define FABRIC_FREEZE_H

#include "fabric/no_transit.h"
#include "lib/slices.h"

struct freeze {
	struct fabric *fabric;
	bool as_found; /* LIDs are those that ports were found with, for who only watches; else
			* those that they should have */
	struct snapshot *snapshot;	/* when it is done: one reference, to be taken */
	uint64_t topology, facts;	/* the fabric's, when it began */
	uint32_t switches, ends, links; /* counted, then filled, so far */
	struct no_transit_choice no_transit;
};

extern const struct slice_plan freeze_plan; /* its argument is a struct freeze */

#endif
