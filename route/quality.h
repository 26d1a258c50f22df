/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The quality of tables of any engine, as a static analysis of their paths. Hosts count by their
 * base LID; links between switches count, those to hosts do not. Pure functions for jobs, `weftctl
 * route quality`, and the bench; results do not depend on the number of workers.
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

/* Every host sends to every other host. */
struct quality_all {
	uint64_t pairs, unreached; /* ordered pairs of hosts */
	uint64_t hops;		   /* links between switches, over all pairs */
	/* Forwarding index: paths over the fullest link, and over all links. */
	uint64_t most;
	uint64_t sum;
	uint32_t links, unused;
	/* Congestion risk: of each link the smaller of its numbers of sending and of receiving
	 * hosts; a link that serves one sender cannot be a bottleneck. */
	uint32_t risk;
	uint32_t levels;
	struct level_load up[QUALITY_LEVELS_MAX], down[QUALITY_LEVELS_MAX];
	struct level_load flat; /* within a level */
};

/* Fills *out for all ordered pairs of hosts. */
void quality_all_to_all(const struct snapshot *snapshot, const struct routes *routes,
			struct work_pool *pool, struct quality_all *out);

/* The number of flows on the fullest link when each host sends to one other host. */
struct quality_load {
	uint32_t patterns;
	uint32_t median, percentile_95, worst;
};

/* Host i of n, in the order of their places in the tree, sends to i + k: for every k, or for at
 * most most evenly chosen k (0: all). */
void quality_shifts(const struct snapshot *snapshot, const struct routes *routes,
		    struct work_pool *pool, uint32_t most, struct quality_load *out);

/* Random permutations, and random halves of the hosts matched at random. *bisection is the mean
 * share of a link that a flow gets if its fullest link is shared evenly. seed determines the
 * result. */
void quality_random(const struct snapshot *snapshot, const struct routes *routes,
		    struct work_pool *pool, uint32_t draws, uint64_t seed, struct quality_load *out,
		    double *bisection);

/* Paths between switches with hosts, compared with the shortest possible paths. */
struct quality_stretch {
	uint64_t paths, longer;	   /* than the shortest */
	uint64_t hops, least_hops; /* in total */
};

/* Fills *out for all pairs of switches with hosts. */
void quality_stretch(const struct snapshot *snapshot, const struct routes *routes,
		     struct work_pool *pool, struct quality_stretch *out);

/* The cost of replacing a set of tables by another, for the same switches. */
struct route_churn {
	uint64_t entries;  /* of forwarding tables that differ */
	uint64_t blocks;   /* of 64 entries with a difference: the number of SMPs */
	uint64_t switches; /* with a difference */
	uint64_t paths;	   /* (switch with hosts, LID of a host) whose path differs */
};

/* from and to must be for the switches of snapshot. Fills *out. */
void route_churn(const struct snapshot *snapshot, const struct routes *from,
		 const struct routes *to, struct work_pool *pool, struct route_churn *out);

#endif
