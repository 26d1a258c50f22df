/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast as the tables of the switches have it: whether the cables that an MLID may use are a
 * forest, and which ports a packet reaches. A multicast packet in a loop circulates forever, so the
 * forest is checked after each Set() that an agent applied.
 */
#ifndef TESTS_SIM_FOREST_H
#define TESTS_SIM_FOREST_H

#include "sim/world.h"
#include "tests/sim/known.h"

struct forest;

struct forest_found {
	lid_t mlid;	  /* the MLID whose cables close a loop; LID_NONE: none */
	unsigned excused; /* further loops: the manager that closed them could not know of it */
	char way[256];	  /* the loop of mlid: names with ports */
};

/* known is borrowed. */
struct forest *forest_new(const struct known *known);
void forest_free(struct forest *forest);
/* The loops that cables around device close since this Set(). */
void forest_after_set(struct forest *forest, const struct device *device, uint8_t port,
		      uint16_t attr_id, uint32_t attr_mod, const struct origin *set,
		      struct forest_found *out);
/* Whether an excused loop still exists that a manager can reach, and which loop. */
bool forest_last(struct forest *forest, lid_t *mlid, char *text, size_t size);
/* The device lost its tables: drops the state of them. */
void forest_forget(struct forest *forest, const struct device *device);

/* Sends a packet from a host. Returns how many ports it reaches, a million for a loop, and writes
 * the first of them to out. */
size_t forest_send(const struct device_port *from, lid_t mlid, const struct device_port **out,
		   size_t room);
/* Whether any switch sends packets of this MLID. */
bool forest_holds(const struct world *world, lid_t mlid);
/* Adds a port to the masks of a switch and removes another port. */
void forest_garble(struct world *world, const char *node, lid_t mlid, uint8_t add, uint8_t remove);

#endif
