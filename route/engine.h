/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Routing: a const snapshot in, tables out. Engines are rows of one table; a chain of names is
 * tried in order, each result is checked (route/check.h), and the chain goes on when an engine
 * refuses or its result is wrong. Pure functions of the snapshot, which also brings the options and
 * what each switch remembers of its cables: neither earlier tables nor the number of workers change
 * the result. Runs inside a job (lib/work.h).
 */
#ifndef ROUTE_ENGINE_H
#define ROUTE_ENGINE_H

#include <stdbool.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/work.h"
#include "route/check.h"
#include "route/credit.h"

enum { ROUTE_CHAIN_MAX = 8, ROUTE_NAME_SIZE = 32, ROUTE_WHY_SIZE = 256 };

struct route_engine {
	const char *name;
	const char *summary; /* one line for people */
	bool acyclic;	     /* promises that no links wait for each other in a circle */
	/* Fills every row of routes (each new, lid_top as its top), and SLs where it needs some. 0,
	 * or -errno with one line in why, which names what is wrong with this fabric. before is for
	 * the checkers that an engine asks itself. */
	int (*compute)(const struct snapshot *snapshot, const struct route_judged *before,
		       struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
};

/* The table of engines, ended by a row whose name is NULL. */
extern const struct route_engine route_engines[];
const struct route_engine *route_engine_find(const char *name); /* NULL when unknown */

/* The engines, each in a file of its name. */
int minhop_compute(const struct snapshot *snapshot, const struct route_judged *before,
		   struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
int updn_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
int dnup_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
int ftree_compute(const struct snapshot *snapshot, const struct route_judged *before,
		  struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);

int file_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);

/* What a run of the chain gave. */
struct route_result {
	struct routes *routes; /* NULL when there is nothing to program; the caller's reference */
	struct route_report report;  /* of routes */
	struct credit_report credit; /* of routes, if their engine promised to have no loops */
	unsigned tried;
	struct {
		char engine[ROUTE_NAME_SIZE]; /* as in the chain, cut if it is longer */
		char why[ROUTE_WHY_SIZE];     /* empty: it was taken */
	} attempt[ROUTE_CHAIN_MAX];
};

/* Tries chain (names of engines, count of them, at most ROUTE_CHAIN_MAX). 0, or -ENOENT when every
 * engine refused; then the result without a loop that misses the fewest pairs is given all the
 * same, if there is one. before saves the checkers work (route/check.h, route/credit.h) and changes
 * nothing else; it may be NULL. */
int route_run(const struct snapshot *snapshot, const char *const *chain, unsigned count,
	      const struct route_judged *before, struct work_pool *pool, struct route_result *out);

#endif
