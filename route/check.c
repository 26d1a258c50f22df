/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker (check.h). For one LID the tables give each switch one next hop, so all paths to it
 * form a picture in which each switch is visited once: a walk stops where an earlier one has been,
 * and takes over its verdict. LIDs are independent of each other and split over workers; each
 * leaves its own tally, and these are summed in the order of LIDs, so that neither figures nor
 * examples depend on the number of workers. Nothing here knows how the tables were made.
 */
#include "route/check.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* A step ends the walk with one of these, or goes on to a switch, which is not negative. */
enum { STEP_ARRIVED = -1, STEP_LOST = -2 };

static int64_t step(const struct snapshot *snapshot, uint8_t port, struct snap_owner owner,
		    uint32_t s)
{
	const struct snap_link *link;

	if (port == 0)
		return owner.sw == (int32_t)s ? STEP_ARRIVED : STEP_LOST;
	if (port > snapshot->switches[s].num_ports)
		return STEP_LOST;
	link = snap_link(snapshot, s, port);
	if (link->end >= 0)
		return link->end == owner.end ? STEP_ARRIVED : STEP_LOST;
	return link->sw >= 0 ? link->sw : STEP_LOST;
}

enum verdict { UNKNOWN, ON_THE_WAY, ARRIVES, LOST, LOOPS };

/* What was found for one LID; the first are the lowest switches concerned. */
struct tally {
	uint32_t pairs, unreached, looping, disconnected;
	uint32_t first_unreached, first_looping;
};

struct check {
	const struct snapshot *snapshot;
	const struct routes *routes;
	uint32_t *island;    /* by switch: the lowest switch that links connect it with */
	struct tally *tally; /* by LID */
};

/* Judges every switch on the way from s that no walk has passed yet. */
static void judge_from(const struct check *check, lid_t lid, uint32_t s, uint8_t *verdict,
		       uint32_t *trail)
{
	struct snap_owner owner = check->snapshot->owners[lid];
	uint32_t length = 0;
	uint8_t end;
	int64_t next = s;

	while (next >= 0 && verdict[next] == UNKNOWN) {
		s = trail[length++] = (uint32_t)next;
		verdict[s] = ON_THE_WAY;
		next = step(check->snapshot, lft_port(check->routes->lft[s], lid), owner, s);
	}
	if (next < 0)
		end = next == STEP_ARRIVED ? ARRIVES : LOST;
	else
		end = verdict[next] == ON_THE_WAY ? LOOPS : verdict[next];
	while (length > 0)
		verdict[trail[--length]] = end;
}

/* A circle is a fault wherever it is; a LID that is not reached only where links lead to it. */
static void judge_lid(const struct check *check, lid_t lid, uint8_t *verdict, uint32_t *trail)
{
	uint32_t num = check->snapshot->num_switches;
	int32_t home = snap_owner_switch(check->snapshot, check->snapshot->owners[lid]);
	struct tally *tally = &check->tally[lid];

	memset(verdict, UNKNOWN, num);
	tally->pairs = num;
	for (uint32_t s = 0; s < num; s++) {
		if (verdict[s] == UNKNOWN)
			judge_from(check, lid, s, verdict, trail);
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

	for (size_t lid = begin; lid < end; lid++) {
		struct snap_owner owner = check->snapshot->owners[lid];

		if (owner.sw >= 0 || owner.end >= 0)
			judge_lid(check, (lid_t)lid, verdict, trail);
	}
	free(trail);
	free(verdict);
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

void route_check(const struct snapshot *snapshot, const struct routes *routes,
		 struct work_pool *pool, struct route_report *out)
{
	size_t lids = snapshot->lid_top + (size_t)1;
	struct check check = {
		.snapshot = snapshot,
		.routes = routes,
		.island = route_islands(snapshot),
		.tally = mem_array(lids, sizeof(struct tally)),
	};
	struct route_report report = {0};

	assert(routes->num_switches == snapshot->num_switches);
	work_parallel(pool, lids, judge_slice, &check);
	for (size_t lid = 0; lid < lids; lid++)
		add_tally(&report, (lid_t)lid, &check.tally[lid]);
	*out = report;
	free(check.tally);
	free(check.island);
}
