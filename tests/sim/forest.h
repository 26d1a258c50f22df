/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast as the switches' own tables have it: whether the cables over which an MLID may go are a
 * forest, and whom a packet reaches. A packet of a group that runs in a circle does so for ever, so
 * the first is asked after each Set() that an agent applied.
 */
#ifndef TESTS_SIM_FOREST_H
#define TESTS_SIM_FOREST_H

#include "sim/world.h"

/* The first MLID of which the cables around device close a circle since this Set(); LID_NONE: none
 * does. */
lid_t forest_after_set(const struct device *device, uint16_t attr_id, uint32_t attr_mod);

/* Sends a packet from a host; returns how many ports it reaches, and the first of them in out. What
 * runs in a circle reaches a million. */
size_t forest_send(const struct device_port *from, lid_t mlid, const struct device_port **out,
		   size_t room);
/* Whether some switch sends this MLID anywhere. */
bool forest_holds(const struct world *world, lid_t mlid);
/* Adds a port to a switch's masks and takes another one away. */
void forest_garble(struct world *world, const char *node, lid_t mlid, uint8_t add, uint8_t remove);

#endif
