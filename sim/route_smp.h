/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The directed route of an SMP: the decision of a port's subnet management interface for an SMP
 * that arrived here and does not go on by LID (14.2.2). A pure function over the SMP's own bytes.
 */
#ifndef SIM_ROUTE_SMP_H
#define SIM_ROUTE_SMP_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"

enum smp_way {
	SMP_BAD,      /* an invalid step: it is discarded */
	SMP_HERE,     /* for the agent or a manager of this node */
	SMP_OUT_PORT, /* leaves by a port, which may not exist */
	SMP_BY_LID,   /* goes on by LID: to the end of the route, or back to its start */
};

/* The next step of an SMP that arrived through in_port, at a switch or at another node. Moves the
 * hop pointer and writes the return path; *out_port or *lid is the destination. */
enum smp_way directed_step(uint8_t mad[MAD_SIZE], bool at_switch, uint8_t in_port,
			   uint8_t *out_port, lid_t *lid);

#endif
