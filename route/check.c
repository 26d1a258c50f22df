/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker (check.h). For one LID the tables give each switch one next hop, so all paths to it
 * form a graph in which each switch is visited once. A walk stops at a switch of an earlier walk,
 * and takes over its result. LIDs are independent of each other and split over workers. Each worker
 * has a tally of its own; these are added in the order of LIDs, so that neither figures nor
 * examples depend on the number of workers. The checker does not know how the tables were made.
 *
 * A table is a row for each switch, but a walk needs a column. So the rows are first converted into
 * a few columns at a time, each entry replaced by the next switch, and the walks then stay within
 * the nearest cache. This makes checking as fast as routing.
 *
 * After a fault most entries are unchanged since their last check, over links that lead to the same
 * places. If all switches reached a LID before, all reach it now if those whose entry changed do.
 * The path of any other switch is unchanged up to its end or to one of these. So only these are
 * walked, and the LIDs that any of them misses are checked completely; no other result is taken
 * over.
 */
#include "route/check.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/changes.h"

/* The step of an entry: the index of the next switch, or one of these. */
enum {
	STEP_ARRIVED = INT32_MAX,
	STEP_LOST = STEP_ARRIVED - 1,
	COLUMNS = 32, /* that are built at a time */
};

enum verdict { UNKNOWN, ON_THE_WAY, ARRIVES, LOST, LOOPS };

/* The result for a LID; examples are the lowest switches concerned. */
struct tally {
	uint32_t pairs, unreached, looping, disconnected;
	uint32_t first_unreached, first_looping;
};

struct check {
	const struct snapshot *snapshot;
	const struct routes *routes;
	uint32_t *island;    /* by switch: the lowest connected switch */
	uint32_t *leads_to;  /* by port, as links: a switch or STEP_LOST */
	lid_t *lids;	     /* to be checked */
	struct tally *tally; /* by LID */
};

/* The step of an entry that leads to no other switch. */
static uint32_t last_step(const struct snapshot *snapshot, uint32_t s, uint8_t port,
			  struct snap_owner owner)
{
	bool arrives = port == 0 ? owner.sw == (int32_t)s
				 : owner.end >= 0 && port <= snapshot->switches[s].num_ports &&
					   snap_link(snapshot, s, port)->end == owner.end;

	return arrives ? STEP_ARRIVED : STEP_LOST;
}

/* The columns of count LIDs: column i begins at columns[i * switches]. */
static void make_columns(const struct check *check, const lid_t *lids, uint32_t count,
			 uint32_t *columns)
{
	const struct snapshot *snapshot = check->snapshot;
	uint32_t num = snapshot->num_switches;

	for (uint32_t s = 0; s < num; s++) {
		const struct snap_switch *sw = &snapshot->switches[s];
		const uint32_t *leads_to = check->leads_to + sw->first_link;
		const struct lft *row = check->routes->lft[s];

		for (uint32_t i = 0; i < count; i++) {
			uint8_t port = lft_port(row, lids[i]);
			uint32_t to = port <= sw->num_ports ? leads_to[port] : STEP_LOST;

			if (to == STEP_LOST)
				to = last_step(snapshot, s, port, snapshot->owners[lids[i]]);
			columns[(size_t)i * num + s] = to;
		}
	}
}

/* Checks every switch on the way from s that no walk has visited. */
static void check_judge_from(const uint32_t *column, uint32_t s, uint8_t *verdict, uint32_t *trail)
{
	uint32_t length = 0, next = s;
	uint8_t end;

	while (next < STEP_LOST && verdict[next] == UNKNOWN) {
		trail[length++] = (uint32_t)next;
		verdict[next] = ON_THE_WAY;
		next = column[next];
	}
	if (next >= STEP_LOST)
		end = next == STEP_ARRIVED ? ARRIVES : LOST;
	else
		end = verdict[next] == ON_THE_WAY ? LOOPS : verdict[next];
	while (length > 0)
		verdict[trail[--length]] = end;
}

/* A loop is always a fault; an unreached LID only if links lead to it. */
static void judge_lid(const struct check *check, lid_t lid, const uint32_t *column,
		      uint8_t *verdict, uint32_t *trail)
{
	uint32_t num = check->snapshot->num_switches;
	int32_t home = snap_owner_switch(check->snapshot, check->snapshot->owners[lid]);
	struct tally *tally = &check->tally[lid];

	memset(verdict, UNKNOWN, num);
	tally->pairs = num;
	for (uint32_t s = 0; s < num; s++) {
		if (verdict[s] == UNKNOWN)
			check_judge_from(column, s, verdict, trail);
		if (verdict[s] == ARRIVES)
			continue;
		if (verdict[s] == LOOPS) {
			if (tally->looping++ == 0)
				tally->first_looping = s;
		} else if (home < 0 || check->island[s] != check->island[home]) {
			tally->disconnected++;
		} else if (tally->unreached++ == 0) {
			tally->first_unreached = s;
		}
	}
}

static void judge_slice(void *arg, size_t begin, size_t end)
{
	const struct check *check = arg;
	uint32_t num = check->snapshot->num_switches;
	uint8_t *verdict = mem_array(num, sizeof(*verdict));
	uint32_t *trail = mem_array(num, sizeof(*trail));
	uint32_t *columns = mem_array((size_t)num * COLUMNS, sizeof(*columns));

	for (size_t first = begin; first < end; first += COLUMNS) {
		size_t count = end - first < COLUMNS ? end - first : COLUMNS;
		const lid_t *lids = check->lids + first;

		make_columns(check, lids, (uint32_t)count, columns);
		for (size_t i = 0; i < count; i++)
			judge_lid(check, lids[i], columns + i * num, verdict, trail);
	}
	free(columns);
	free(trail);
	free(verdict);
}

static uint32_t *what_ports_lead_to(const struct snapshot *snapshot)
{
	uint32_t *leads_to = mem_array(snapshot->num_links + (size_t)1, sizeof(*leads_to));

	for (uint32_t l = 0; l < snapshot->num_links; l++)
		leads_to[l] = snapshot->links[l].sw >= 0 ? (uint32_t)snapshot->links[l].sw
							 : (uint32_t)STEP_LOST;
	return leads_to;
}

uint32_t *route_islands(const struct snapshot *snapshot)
{
	uint32_t num = snapshot->num_switches;
	uint32_t *island = mem_array(num, sizeof(*island));
	uint32_t *stack = mem_array(num, sizeof(*stack));

	for (uint32_t s = 0; s < num; s++)
		island[s] = num;
	for (uint32_t lowest = 0; lowest < num; lowest++) {
		uint32_t depth = 0;

		if (island[lowest] < num)
			continue;
		island[stack[depth++] = lowest] = lowest;
		while (depth > 0) {
			uint32_t s = stack[--depth];

			for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++) {
				int32_t peer = snap_link(snapshot, s, (uint8_t)p)->sw;

				if (peer >= 0 && island[peer] == num)
					island[stack[depth++] = (uint32_t)peer] = lowest;
			}
		}
	}
	free(stack);
	return island;
}

static void add_tally(struct route_report *report, lid_t lid, const struct tally *tally)
{
	if (tally->unreached && !report->unreached)
		report->unreached_example = (struct route_fault){tally->first_unreached, lid};
	if (tally->looping && !report->looping)
		report->looping_example = (struct route_fault){tally->first_looping, lid};
	report->pairs += tally->pairs;
	report->unreached += tally->unreached;
	report->looping += tally->looping;
	report->disconnected += tally->disconnected;
}

static bool lid_is_owned(struct snap_owner owner)
{
	return owner.sw >= 0 || owner.end >= 0;
}

static bool same_owner(const struct snapshot *a, const struct snapshot *b, lid_t lid)
{
	struct snap_owner was = snap_owner(a, lid), is = snap_owner(b, lid);

	return was.sw == is.sw && route_end_guid(a, was.end) == route_end_guid(b, is.end);
}

/* Whether a packet for a LID from a switch arrives. */
static bool check_arrives(const struct check *check, uint32_t s, lid_t lid)
{
	const struct snapshot *snapshot = check->snapshot;

	for (uint32_t hops = 0; hops < snapshot->num_switches; hops++) {
		const struct snap_switch *sw = &snapshot->switches[s];
		uint8_t port = lft_port(check->routes->lft[s], lid);
		uint32_t to = port <= sw->num_ports ? check->leads_to[sw->first_link + port]
						    : (uint32_t)STEP_LOST;

		if (to == STEP_LOST)
			return last_step(snapshot, s, port, snapshot->owners[lid]) == STEP_ARRIVED;
		s = to;
	}
	return false;
}

/* Marks the LIDs for which a changed entry does not reach the LID. */
static void mark_missed(const struct check *check, const struct route_changes *changes,
			bool *missed)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct route_change *change = &changes->list[i];

		if (change->lid <= check->snapshot->lid_top && !missed[change->lid] &&
		    lid_is_owned(check->snapshot->owners[change->lid]))
			missed[change->lid] = !check_arrives(check, change->sw, change->lid);
	}
}

/* The LIDs to walk, and their number; counts the pairs of the others. */
static size_t find_lids(const struct check *check, const struct route_judged *before,
			struct route_report *report)
{
	const struct snapshot *snapshot = check->snapshot;
	bool *missed = mem_array(snapshot->lid_top + (size_t)1, sizeof(*missed));
	struct route_changes changes = {0};
	bool all = !before || before->report.unreached || before->report.looping ||
		   before->report.disconnected ||
		   !route_changes_find(before->snapshot, before->routes, snapshot, check->routes,
				       &changes);
	size_t count = 0;

	mark_missed(check, &changes, missed);
	for (uint32_t lid = 0; lid <= snapshot->lid_top; lid++) {
		if (!lid_is_owned(snapshot->owners[lid]))
			continue;
		if (all || missed[lid] || !same_owner(before->snapshot, snapshot, (lid_t)lid))
			check->lids[count++] = (lid_t)lid;
		else
			report->pairs += snapshot->num_switches;
	}
	free(changes.list);
	free(missed);
	return count;
}

void route_check(const struct snapshot *snapshot, const struct routes *routes,
		 const struct route_judged *before, struct work_pool *pool,
		 struct route_report *out)
{
	size_t lids = snapshot->lid_top + (size_t)1, count;
	struct check check = {
		.snapshot = snapshot,
		.routes = routes,
		.island = route_islands(snapshot),
		.leads_to = what_ports_lead_to(snapshot),
		.lids = mem_array(lids, sizeof(lid_t)),
		.tally = mem_array(lids, sizeof(struct tally)),
	};
	struct route_report report = {0};

	assert(routes->num_switches == snapshot->num_switches);
	count = find_lids(&check, before, &report);
	work_parallel(pool, count, judge_slice, &check);
	for (size_t lid = 0; lid < lids; lid++)
		add_tally(&report, (lid_t)lid, &check.tally[lid]);
	*out = report;
	free(check.tally);
	free(check.lids);
	free(check.leads_to);
	free(check.island);
}
