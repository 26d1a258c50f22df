/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of engines and the chain that runs them (engine.h). The checker checks the result of
 * every engine before it is used. Runs inside a job; the tables are the job's own until the result
 * is handed over, so it may change their reference counts.
 */
#include "route/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct route_engine route_engines[] = {
	{.name = "minhop",
	 .summary = "shortest paths, spread by destination; any topology",
	 .compute = minhop_compute},
	{.name = "updn",
	 .summary = "up from leaf to root and down again; any topology, no credit loops",
	 .acyclic = true,
	 .compute = updn_compute},
	{.name = "dnup",
	 .summary = "as updn, but ranked from the hosts on",
	 .acyclic = true,
	 .compute = dnup_compute},
	{.name = "ftree",
	 .summary = "fat trees, also incomplete ones; evenly loaded, no credit loops",
	 .acyclic = true,
	 .compute = ftree_compute},
	{.name = "file", .summary = "tables from a dump, as they are", .compute = file_compute},
	{.name = NULL},
};

const struct route_engine *route_engine_find(const char *name)
{
	for (const struct route_engine *engine = route_engines; engine->name; engine++)
		if (!strcmp(engine->name, name))
			return engine;
	return NULL;
}

/* LinearFDBCap counts entries from LID 0 on. No engine can help a switch whose table is too small.
 */
static int check_capacity(const struct snapshot *snapshot, char why[ROUTE_WHY_SIZE])
{
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		const struct snap_switch *sw = &snapshot->switches[s];

		if (snapshot->lid_top < sw->lft_cap || snapshot->lid_top == LID_NONE)
			continue;
		snprintf(why, ROUTE_WHY_SIZE,
			 "switch 0x%016" PRIx64
			 " has a forwarding table of %u entries (LinearFDBCap), "
			 "the highest LID in use is %u: lower LIDs or LMC, or replace it",
			 sw->guid, sw->lft_cap, snapshot->lid_top);
		return -ENOSPC;
	}
	return 0;
}

/* A table with a cycle of waiting links is worse than a table that misses pairs: it also stops
 * other traffic. */
static void describe_loop(const struct snapshot *snapshot, const struct credit_report *credit,
			  char why[ROUTE_WHY_SIZE])
{
	snprintf(why, ROUTE_WHY_SIZE,
		 "credit loop: %u links could wait for each other on VL %u, %u of them in one "
		 "circle through port %u of switch 0x%016" PRIx64,
		 credit->loops, credit->vl, credit->length, credit->example[0].port,
		 snapshot->switches[credit->example[0].sw].guid);
}

static void describe_faults(const struct snapshot *snapshot, const struct route_report *report,
			    char why[ROUTE_WHY_SIZE])
{
	const struct route_fault *example =
		report->looping ? &report->looping_example : &report->unreached_example;

	snprintf(why, ROUTE_WHY_SIZE,
		 "of %" PRIu64 " pairs of switch and LID %" PRIu64 " loop and %" PRIu64
		 " do not arrive, LID %u from switch 0x%016" PRIx64 " for one",
		 report->pairs, report->looping, report->unreached, example->lid,
		 snapshot->switches[example->sw].guid);
}

/* With 2^LMC LIDs a port, a large fabric may need more LIDs than exist; then some ports have none,
 * and no table can help. */
static int check_lids(const struct snapshot *snapshot, char why[ROUTE_WHY_SIZE])
{
	uint64_t needed = 0;
	uint32_t without = 0;
	unsigned lmc = 0;

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		needed += 1u << snapshot->switches[s].lmc;
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		without += snapshot->ends[e].lid == LID_NONE;
		lmc = snapshot->ends[e].lmc > lmc ? snapshot->ends[e].lmc : lmc;
	}
	needed += (uint64_t)snapshot->num_ends << lmc;
	if (needed <= LID_UNICAST_MAX || !without)
		return 0;
	snprintf(why, ROUTE_WHY_SIZE,
		 "%u ports with LMC %u (%u LIDs each) and %u switches need %" PRIu64
		 " LIDs of %u: lower the LMC; %u ports have none",
		 snapshot->num_ends, lmc, 1u << lmc, snapshot->num_switches, needed,
		 LID_UNICAST_MAX, without);
	return -ENOSPC;
}

/* Runs an engine. NULL: it refused, and why has the reason; else its tables and the checkers'
 * results. */
static struct routes *attempt(const struct snapshot *snapshot, const char *name,
			      const struct route_judged *before, struct work_pool *pool,
			      struct route_report *report, struct credit_report *credit,
			      char why[ROUTE_WHY_SIZE])
{
	const struct route_engine *engine = route_engine_find(name);
	struct routes *routes;

	if (!engine) {
		snprintf(why, ROUTE_WHY_SIZE, "no routing engine has this name");
		return NULL;
	}
	if (check_capacity(snapshot, why) || check_lids(snapshot, why))
		return NULL;
	routes = routes_new(snapshot->generation, snapshot->num_switches, engine->name);
	if (engine->compute(snapshot, before, pool, routes, why)) {
		routes_unref(routes);
		return NULL;
	}
	route_check(snapshot, routes, before, pool, report);
	memset(credit, 0, sizeof(*credit));
	if (engine->acyclic)
		credit_prove(snapshot, routes, before, pool, credit);
	why[0] = '\0';
	if (report->looping || report->unreached)
		describe_faults(snapshot, report, why);
	else if (credit->loops)
		describe_loop(snapshot, credit, why);
	return routes;
}

/* Replaces the result in out by routes if they are better: without a loop, then without a credit
 * loop, then with fewer misses. */
static void keep_better(struct route_result *out, struct routes *routes,
			const struct route_report *report, const struct credit_report *credit)
{
	bool kept_waits = out->credit.loops > 0, waits = credit->loops > 0;
	bool worse = waits != kept_waits ? waits : report->unreached >= out->report.unreached;

	if (report->looping || (out->routes && worse)) {
		routes_unref(routes);
		return;
	}
	routes_unref(out->routes);
	out->routes = routes;
	out->report = *report;
	out->credit = *credit;
}

int route_run(const struct snapshot *snapshot, const char *const *chain, unsigned count,
	      const struct route_judged *before, struct work_pool *pool, struct route_result *out)
{
	if (count > ROUTE_CHAIN_MAX)
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	while (out->tried < count) {
		unsigned i = out->tried++;
		struct route_report report;
		struct credit_report credit;
		struct routes *routes = attempt(snapshot, chain[i], before, pool, &report, &credit,
						out->attempt[i].why);

		snprintf(out->attempt[i].engine, sizeof(out->attempt[i].engine), "%s", chain[i]);
		if (routes)
			keep_better(out, routes, &report, &credit);
		if (routes && !out->attempt[i].why[0])
			return 0;
	}
	return -ENOENT;
}
