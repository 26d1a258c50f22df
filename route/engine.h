/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Routing: a const snapshot in, tables out. Engines are rows of a table; a chain of names is tried
 * in order. Each result is checked (route/check.h), and the chain continues if an engine refuses or
 * its result is wrong. The result depends only on the snapshot, which includes the options and the
 * remembered cables of each switch; neither earlier tables nor the number of workers change it.
 * Runs inside a job (lib/work.h).
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
	const char *summary; /* one line for the user */
	bool acyclic;	     /* promises that no links wait for each other in a cycle */
	/* Fills every row of routes (each new, lid_top as its top), and SLs if it needs some.
	 * Returns 0, or -errno with one line in why that names the unsuitable property of this
	 * fabric. before is for checkers that the engine calls. */
	int (*compute)(const struct snapshot *snapshot, const struct route_judged *before,
		       struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
};

/* The table of engines, ended by a row whose name is NULL. */
extern const struct route_engine route_engines[];
const struct route_engine *route_engine_find(const char *name); /* NULL when unknown */

/* The engines, each in a file of its name. minhop: shortest paths, any topology. */
int minhop_compute(const struct snapshot *snapshot, const struct route_judged *before,
		   struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
/* Up/down from roots: updn.c. */
int updn_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
/* Up/down from hosts: updn.c. */
int dnup_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);
/* Fat trees; refuses other topologies: ftree.c. */
int ftree_compute(const struct snapshot *snapshot, const struct route_judged *before,
		  struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);

/* Tables of a dump: file.c. */
int file_compute(const struct snapshot *snapshot, const struct route_judged *before,
		 struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE]);

/* The result of a run of the chain. */
struct route_result {
	struct routes *routes;	    /* NULL: there is nothing to program; the caller's reference */
	struct route_report report; /* of routes */
	/* Of routes, if their engine promised to have no credit loops. */
	struct credit_report credit;
	unsigned tried;
	struct {
		char engine[ROUTE_NAME_SIZE]; /* as in the chain, cut to size */
		char why[ROUTE_WHY_SIZE];     /* empty: its result was used */
	} attempt[ROUTE_CHAIN_MAX];
};

/* Tries chain (count names of engines, at most ROUTE_CHAIN_MAX). Returns 0, or -ENOENT if every
 * engine refused; then out has the result without a loop that misses the fewest pairs, if there is
 * one. before saves work of the checkers (route/check.h, route/credit.h) and changes nothing else;
 * it may be NULL. */
int route_run(const struct snapshot *snapshot, const char *const *chain, unsigned count,
	      const struct route_judged *before, struct work_pool *pool, struct route_result *out);

#endif
