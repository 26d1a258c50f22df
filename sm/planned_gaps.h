/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The parts of a planned fabric that a snapshot does not have: nodes, and cables that are absent or
 * lead elsewhere. The comparison is that of `weftctl topology check` (formats/net_compare.h).
 * Rates, other names, and nodes and cables that are not planned do not count here. Pure, on any
 * thread.
 */
#ifndef SM_PLANNED_GAPS_H
#define SM_PLANNED_GAPS_H

#include "fabric/lost_links.h"
#include "fabric/snapshot.h"
#include "formats/net.h"

enum { PLANNED_GAPS_MAX = 4096 };

enum planned_gap_kind {
	PLANNED_NODE,	    /* is absent; its cables follow */
	PLANNED_NODE_CABLE, /* a cable of this node */
	PLANNED_CABLE,	    /* both nodes are present, but there is no link at either end */
	PLANNED_MOVED,	    /* a link of one end or both leads elsewhere */
};

struct planned_gap {
	enum planned_gap_kind kind;
	/* With the names in the plan. guid: of the node that is present, else in the plan; 0: it
	 * has none. Of a node, end[0] only, as port 0. */
	struct link_end end[2];
};

struct planned_gaps {
	struct planned_gap *gap; /* in the order of the plan, nodes first */
	size_t count;
	unsigned more_nodes, more_cables; /* beyond PLANNED_GAPS_MAX, which are only counted */
	struct map ends; /* of the cables, by a hash of GUID and port, or of name and port */
};

/* Compares the plan with the snapshot. planned_gaps_done() frees the result. */
void planned_gaps_find(const struct net *plan, const struct snapshot *snapshot,
		       struct planned_gaps *out);
/* Frees the lists; all zero is an empty result. */
void planned_gaps_done(struct planned_gaps *gaps);
/* Whether one end of the lost link has a planned cable that is not there: the link is one of the
 * gaps, or was at its place. */
bool planned_gaps_have(const struct planned_gaps *gaps, const struct lost_link *lost);

#endif
