/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The differences between the planned fabric and the fabric found: nodes, cables, rates. For
 * `weftctl topology check`, and for the option planned_topology (sm/planned_gaps.h). Nodes match by
 * GUID, else by name: so a plan may lack GUIDs, and a replaced switch is reported as replaced, with
 * its cables in place.
 */
#ifndef FORMATS_NET_COMPARE_H
#define FORMATS_NET_COMPARE_H

#include "formats/net.h"

/* A port of a node; node NULL: none. */
struct net_end {
	const struct net_node *node;
	unsigned port;
};

/* The planned part that is not there. */
enum net_loss {
	NET_NOTHING_LOST,  /* all other differences */
	NET_NODE_MISSING,  /* with its cables */
	NET_CABLE_MISSING, /* there is no link at either end */
	NET_CABLE_MOVED,   /* a link of one end or both leads elsewhere */
};

/* All pointers are valid until fn returns. */
struct net_difference {
	const char *kind; /* a word or two for programs, a literal */
	const char *text; /* one line for the user */
	enum net_loss loss;
	struct net_end planned[2]; /* in the plan: the missing node, or the ends of the cable */
	const int32_t *found_of;   /* by node of the plan: its index among the nodes found, or -1 */
};

typedef void net_difference_fn(void *ctx, const struct net_difference *difference);

/* Calls fn for each difference, first of nodes, then of cables, and returns their number. Cables of
 * missing or unplanned nodes are in the node's line. A rate is compared if the plan has it by
 * name. */
unsigned net_compare(const struct net *planned, const struct net *found, net_difference_fn *fn,
		     void *ctx);

#endif
