/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How good tables are, as static analysis of the paths that they make: no manager's word, the same
 * for any engine. Hosts count by their base LID; links between switches count, those to hosts do
 * not. Pure functions for jobs, `weftctl route quality`, and the bench; results do not depend on
 * the number of workers.
 */
#ifndef ROUTE_QUALITY_H
#define ROUTE_QUALITY_H

#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"

enum { QUALITY_LEVELS_MAX = 8 };

/* The links of one level in one direction; level is that of the lower end. */
struct level_load {
	uint32_t links;
	uint64_t least, most, sum; /* paths over a link */
};

/* Every host sends to every other one. */
struct quality_all {
	uint64_t pairs, unreached; /* ordered pairs of hosts */
	uint64_t hops;		   /* links between switches, over all pairs */
	/* Forwarding index: paths over the fullest link, and over all of them. */
	uint64_t most;
	uint64_t sum;
	uint32_t links, unused;
	/* Congestion risk: of each link the lower of how many hosts send over it and how many
	 * receive over it; a link that serves one sender cannot be what is too narrow. */
	uint32_t risk;
	uint32_t levels;
	struct level_load up[QUALITY_LEVELS_MAX], down[QUALITY_LEVELS_MAX];
	struct level_load flat; /* within a level */
};

void quality_all_to_all(const struct snapshot *snapshot, const struct routes *routes,
			struct work_pool *pool, struct quality_all *out);

/* How many flows the fullest link has when each host sends to one other. */
struct quality_load {
	uint32_t patterns;
	uint32_t median, percentile_95, worst;
};

/* Host i of n, in the order of their places in the tree, sends to i + k: for every k, or for most
 * of them evenly taken (0: all). */
void quality_shifts(const struct snapshot *snapshot, const struct routes *routes,
		    struct work_pool *pool, uint32_t most, struct quality_load *out);

/* Random permutations, and random halves of the hosts matched at random: *bisection is the mean
 * over flows of what a flow gets of a link when its fullest link is shared evenly. */
void quality_random(const struct snapshot *snapshot, const struct routes *routes,
		    struct work_pool *pool, uint32_t draws, uint64_t seed, struct quality_load *out,
		    double *bisection);

/* Paths between switches with hosts against the shortest there could be. */
struct quality_stretch {
	uint64_t paths, longer;	   /* than the shortest */
	uint64_t hops, least_hops; /* in all */
};

void quality_stretch(const struct snapshot *snapshot, const struct routes *routes,
		     struct work_pool *pool, struct quality_stretch *out);

/* What it costs to go from one set of tables to another for the same switches. */
struct route_churn {
	uint64_t entries;  /* of forwarding tables that differ */
	uint64_t blocks;   /* of 64 entries with one of these: as many SMPs */
	uint64_t switches; /* with one of these */
	uint64_t paths;	   /* (switch with hosts, LID of a host) whose way differs */
};

void route_churn(const struct snapshot *snapshot, const struct routes *from,
		 const struct routes *to, struct work_pool *pool, struct route_churn *out);

#endif
