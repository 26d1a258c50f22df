/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A net in the formats of other programs. The caller checks the stream for errors. Pure.
 */
#ifndef FORMATS_NET_EXPORT_H
#define FORMATS_NET_EXPORT_H

#include "formats/net.h"

/* An undirected graph for Graphviz: nodes by id, labelled with their descriptions, and each cable
 * with its ports and its rate. */
void net_print_dot(FILE *stream, const struct net *net);

/* topology.conf for SLURM's topology/tree, which accepts only trees. Each switch with hosts is a
 * leaf. Switches that join the same parts become one switch of the file, with the name of the
 * first. The name of a host is the first word of its description. */
void net_print_slurm(FILE *stream, const struct net *net);

#endif
