/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A net in the languages of other programs. The stream's errors are the caller's to check. Pure.
 */
#ifndef FORMATS_NET_EXPORT_H
#define FORMATS_NET_EXPORT_H

#include "formats/net.h"

/* An undirected graph for Graphviz: nodes by id, labelled with their descriptions, and each cable
 * with its ports and its rate. */
void net_print_dot(FILE *stream, const struct net *net);

/* topology.conf for SLURM's topology/tree, which takes nothing but a tree. Each switch with hosts
 * is a leaf; switches that join the same parts become one switch of the file, named after the first
 * of them. Hosts are called by the first word of their description. */
void net_print_slurm(FILE *stream, const struct net *net);

#endif
