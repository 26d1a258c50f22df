/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast as the switches' own tables have it: whether the cables over which an MLID may go are a
 * forest, and whom a packet reaches. A packet of a group that runs in a circle does so for ever, so
 * the first is asked after each Set() that an agent applied.
 */
#ifndef TESTS_SIM_FOREST_H
#define TESTS_SIM_FOREST_H

#include "sim/world.h"
#include "tests/sim/known.h"

struct forest;

struct forest_found {
	lid_t mlid;	  /* of which cables close a circle; LID_NONE: none */
	unsigned excused; /* circles besides: who closed these could not know it */
	char way[256];	  /* the circle of mlid: names with ports */
};

/* known is borrowed. */
struct forest *forest_new(const struct known *known);
void forest_free(struct forest *forest);
/* What cables around device close since this Set() and did not before. */
void forest_after_set(struct forest *forest, const struct device *device, uint8_t port,
		      uint16_t attr_id, uint32_t attr_mod, const struct origin *set,
		      struct forest_found *out);
/* Whether one of those that were excused is there still; which, then. */
bool forest_last(struct forest *forest, lid_t *mlid, char *text, size_t size);
/* Its tables were wiped: what it held is forgotten. */
void forest_forget(struct forest *forest, const struct device *device);

/* Sends a packet from a host; returns how many ports it reaches, and the first of them in out. What
 * runs in a circle reaches a million. */
size_t forest_send(const struct device_port *from, lid_t mlid, const struct device_port **out,
		   size_t room);
/* Whether some switch sends this MLID anywhere. */
bool forest_holds(const struct world *world, lid_t mlid);
/* Adds a port to a switch's masks and takes another one away. */
void forest_garble(struct world *world, const char *node, lid_t mlid, uint8_t add, uint8_t remove);

#endif
