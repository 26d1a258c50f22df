/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What differs between a fabric as it was planned and as it is: nodes, cables, rates. For `weftctl
 * topology check`. Nodes are the same when their GUID is, else when their name is: so a plan
 * without GUIDs serves, and a switch that was replaced is told as such, with its cables in place.
 */
#ifndef FORMATS_NET_COMPARE_H
#define FORMATS_NET_COMPARE_H

#include "formats/net.h"

/* kind: a word or two for programs, a literal; text: one line for people, lasts until fn returns.
 */
typedef void net_difference_fn(void *ctx, const char *kind, const char *text);

/* Returns how many differences fn was told: first of nodes, then of cables. Cables of nodes that
 * are not there, or not planned, are in the node's line. Rates are compared where the plan has
 * given one by name. */
unsigned net_compare(const struct net *planned, const struct net *found, net_difference_fn *fn,
		     void *ctx);

#endif
