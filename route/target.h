/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A destination of routes, as the engines that spread LIDs over parallel ports number them. */
#ifndef ROUTE_TARGET_H
#define ROUTE_TARGET_H

#include <stdint.h>

#include "include/iba.h"

/* A LID as a destination. */
struct target {
	uint32_t index; /* its number in the order in which an engine spreads destinations */
	lid_t lid;
	uint8_t exit;	/* port at the destination's switch; 0 for the switch itself */
	uint8_t offset; /* from the port's base LID (LMC) */
};

#endif
