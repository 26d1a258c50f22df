/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Topologies by formula: a SPEC such as "fattree:radix=36,levels=2" becomes a net. The same SPEC
 * always gives the same net, byte for byte: names, GUIDs and cabling depend on nothing else.
 *
 * Hosts come first in the net, so that ibsim attaches a client that names no node to host-0001. A
 * switch's ports are in order: those to hosts or downwards first, then those to other switches.
 * GUIDs are locally administered EUI-64s: 0x02776566TTNNNNPP. TT is 01 for hosts and 02 for
 * switches, and NNNN counts from 1. PP is 00 for a node, and the port number for a port of a host.
 */
#ifndef SIM_SPEC_H
#define SIM_SPEC_H

#include <stdio.h>

#include "formats/net.h"

/* On success the caller owns *out (net_free()). -EINVAL: the SPEC cannot be built; *error is then
 * one line with the argument and the reason, for free(). */
int spec_build(const char *spec, struct net **out, char **error);

/* Prints the families with their arguments and an example of each. */
void spec_print_help(FILE *stream);

#endif
