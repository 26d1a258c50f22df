/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cabling between switches as it is remembered: each switch that the snapshot has, or that a
 * port of one of these once led to, and all parallel cables to one neighbour as one way. Engines
 * rank switches and number places over it, so that a link or a switch that is gone keeps its place;
 * what is usable now is said port by port. Made inside a job, then only read but for the order of
 * a switch's ways (tree.h).
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

/* All cables from a switch to one other. */
struct way {
	uint32_t peer;
	uint32_t first_port; /* in cabling.ports; in order of port numbers */
	uint8_t num_ports;   /* 0 at switches that are only remembered */
	uint8_t num_live;
	uint8_t slot; /* of a way up: which of the switch's slots it is; set by tree.h */
};

struct cabled_switch {
	guid_t guid;
	uint32_t first_way; /* in cabling.ways; in order of the peers' GUIDs until oriented */
	uint8_t num_ways;
	uint8_t places;		  /* ports that lead or led to end ports */
	uint8_t num_up, num_down; /* ways: first those up, then those down; set by tree.h */
	uint8_t slots;		  /* ways up that there are or should be; set by tree.h */
};

struct cabling {
	uint32_t num_live; /* switches of the snapshot, with its indexes */
	uint32_t count;	   /* with those that are only remembered, behind them by GUID */
	struct cabled_switch *switches;
	struct way *ways;
	struct way_port *ports;
};

struct cabling *cabling_new(const struct snapshot *snapshot);
void cabling_free(struct cabling *cabling);
int32_t cabling_find(const struct cabling *cabling, guid_t guid); /* -1 when absent */

static inline struct way *cabling_ways(const struct cabling *cabling, uint32_t s)
{
	return cabling->ways + cabling->switches[s].first_way;
}

#endif
