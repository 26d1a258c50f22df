/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Watches that no packet runs in a circle, not even for the moment between two Sets: unicast has no
 * hop limit inside a subnet. Asked after each Set() that an agent applied; looks only at what that
 * Set() can have changed.
 */
#ifndef TESTS_SIM_CIRCLES_H
#define TESTS_SIM_CIRCLES_H

#include "sim/world.h"
#include "tests/sim/known.h"

struct circles;

struct circles_found {
	unsigned count;	  /* LIDs that run in a circle */
	unsigned excused; /* besides: who closed these could not know it */
	lid_t example;	  /* the lowest of count */
};

/* known is borrowed. */
struct circles *circles_new(const struct known *known);
void circles_free(struct circles *circles);
/* What runs in a circle through device since this Set() and did not before. */
void circles_after_set(struct circles *circles, const struct device *device, uint8_t port,
		       uint16_t attr_id, uint32_t attr_mod, const struct origin *set,
		       struct circles_found *out);
/* Whether one of those that were excused is there still; which, then. */
bool circles_last(struct circles *circles, const struct device **device, lid_t *lid);
/* Its tables were wiped: what it held is forgotten. */
void circles_forget(struct circles *circles, const struct device *device);
/* The way of a packet for lid from device on, as names with ports, for a failure's text. */
void circles_describe(const struct device *device, lid_t lid, char *text, size_t size);

#endif
