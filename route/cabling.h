/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The remembered cabling between switches: each switch of the snapshot, or to which a port of one
 * once led; all parallel cables to a neighbour are one way. Engines rank switches and number
 * destinations over it, so that a missing link or switch keeps its place; each port has its present
 * state. Built inside a job, then only read, except for the order of a switch's ways (tree.h).
 */
#ifndef ROUTE_CABLING_H
#define ROUTE_CABLING_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/snapshot.h"

struct way_port {
	uint8_t port;
	bool live;
};

/* All cables from a switch to another switch. */
struct way {
	uint32_t peer;
	uint32_t first_port; /* index in cabling.ports; in order of port numbers */
	uint8_t num_ports;   /* 0 at remembered switches */
	uint8_t num_live;
	uint8_t slot; /* of a way up: its slot at the switch; set by tree.h */
};

struct cabled_switch {
	guid_t guid;
	uint32_t first_way; /* index in cabling.ways; in order of the peers' GUIDs until oriented */
	uint8_t num_ways;
	uint8_t places;		  /* ports that lead or led to end ports */
	uint8_t num_up, num_down; /* ways: first those up, then those down; set by tree.h */
	uint8_t slots;		  /* number of ways up, present or expected; set by tree.h */
};

struct cabling {
	uint32_t num_live; /* switches of the snapshot, with its indexes */
	/* Includes remembered switches, which follow in the order of their GUIDs. */
	uint32_t count;
	struct cabled_switch *switches;
	struct way *ways;
	struct way_port *ports;
};

/* Copies the data that it needs from the snapshot. Free it with cabling_free(). */
struct cabling *cabling_new(const struct snapshot *snapshot);
/* Only before tree_new(), which takes a cabling over. Not for NULL. */
void cabling_free(struct cabling *cabling);
int32_t cabling_find(const struct cabling *cabling, guid_t guid); /* -1: there is none */

static inline struct way *cabling_ways(const struct cabling *cabling, uint32_t s)
{
	return cabling->ways + cabling->switches[s].first_way;
}

#endif
