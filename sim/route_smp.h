/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The directed route of an SMP: what the subnet management interface of a port does with one that
 * is here and is no further on its way by LID (14.2.2). A pure function over the SMP's own bytes.
 */
#ifndef SIM_ROUTE_SMP_H
#define SIM_ROUTE_SMP_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"

enum smp_way {
	SMP_BAD,      /* no such step: it is discarded */
	SMP_HERE,     /* for the agent or a manager of this node */
	SMP_OUT_PORT, /* leaves by a port, which the node may not have */
	SMP_BY_LID,   /* goes on by LID: to the end of the route, or back to its beginning */
};

/* The next step of the SMP that came through in_port, at a switch or at another node. Moves the hop
 * pointer and writes the return path; says the port or the LID. */
enum smp_way directed_step(uint8_t mad[MAD_SIZE], bool at_switch, uint8_t in_port,
			   uint8_t *out_port, lid_t *lid);

#endif
