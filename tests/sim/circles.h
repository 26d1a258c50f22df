/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Checks that no packet enters a forwarding loop, not even between two Sets: unicast has no hop
 * limit inside a subnet. The check follows each Set() that an agent applied, and covers only the
 * parts that this Set() can have changed.
 */
#ifndef TESTS_SIM_CIRCLES_H
#define TESTS_SIM_CIRCLES_H

#include "sim/world.h"
#include "tests/sim/known.h"

struct circles;

struct circles_found {
	unsigned count;	  /* LIDs with a loop */
	unsigned excused; /* further LIDs: the manager that closed the loop could not know of it */
	lid_t example;	  /* the lowest LID of count */
};

/* known is borrowed. */
struct circles *circles_new(const struct known *known);
void circles_free(struct circles *circles);
/* The loops through device that exist since this Set(). */
void circles_after_set(struct circles *circles, const struct device *device, uint8_t port,
		       uint16_t attr_id, uint32_t attr_mod, const struct origin *set,
		       struct circles_found *out);
/* Whether an excused loop still exists that a manager can reach, and which loop. */
bool circles_last(struct circles *circles, const struct device **device, lid_t *lid);
/* The device lost its tables: drops the state of them. */
void circles_forget(struct circles *circles, const struct device *device);
/* The path of a packet for lid from device on, as names with ports, for the text of a failure. */
void circles_describe(const struct device *device, lid_t lid, char *text, size_t size);

#endif
