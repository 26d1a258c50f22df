/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The differences between the planned fabric and the fabric found: nodes, cables, rates. For
 * `weftctl topology check`. Nodes match by GUID, else by name: so a plan may lack GUIDs, and a
 * replaced switch is reported as replaced, with its cables in place.
 */
#ifndef FORMATS_NET_COMPARE_H
#define FORMATS_NET_COMPARE_H

#include "formats/net.h"

/* kind: a word or two for programs, a literal. text: one line for the user, valid until fn
 * returns. */
typedef void net_difference_fn(void *ctx, const char *kind, const char *text);

/* Calls fn for each difference, first of nodes, then of cables, and returns their number. Cables of
 * missing or unplanned nodes are in the node's line. A rate is compared if the plan has it by
 * name. */
unsigned net_compare(const struct net *planned, const struct net *found, net_difference_fn *fn,
		     void *ctx);

#endif
