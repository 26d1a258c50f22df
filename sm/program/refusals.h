/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The settings that a port refuses, or stores with another value, for `weftctl health`. They are
 * not sent again until another value is wanted or the port passes INIT (HACKING.md, have and want).
 * Loop thread only.
 */
#ifndef SM_PROGRAM_REFUSALS_H
#define SM_PROGRAM_REFUSALS_H

#include "fabric/fabric.h"

/* The first attribute that the port refuses at present, a literal; NULL: none. For a switch, port 0
 * stands for the whole switch. */
const char *refusal_of(const struct port *port);

#endif
