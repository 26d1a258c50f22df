/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Detours (updown.h). Paths up and down do not lead everywhere. They never lead from a spine to a
 * spine of another plane, and after a fault not from a plane to a leaf that lost its link into it.
 * These are paths of management, to and from switches, but they must exist. A switch without a path
 * to destination d sends as it would to a pivot, from which there is a path, until the packet
 * reaches a switch that has one. There is no loop, because each step is nearer to the pivot or on a
 * path already.
 *
 * Such a packet turns once from down to up, at the pivot or above it. Turns can make links wait in
 * a cycle if they lead from plane X to Y at one switch and from Y to X at another. So all turns are
 * kept together: between planes at one leaf, the first, and within a plane at the switch above that
 * leaf. Destinations that these cannot reach, because of faults of their own links, use the
 * healthiest pivot of their kind. At that pivot packets turn only to or from switches that the
 * first cannot reach, which cannot come back to it. The checker for credit loops decides finally
 * (updown_fill).
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "route/check.h"
#include "route/updown_parts.h"

/* Planes */

static uint32_t detours_find_set(uint32_t *set, uint32_t s)
{
	while (set[s] != s)
		s = set[s] = set[set[s]];
	return s;
}

/* By switch the first column of a leaf below it: its place in the order of pivots. */
static uint32_t *find_feet(const struct updown *u)
{
	const struct cabling *cabling = u->tree->cabling;
	uint32_t *foot = mem_array(cabling->count, sizeof(*foot));

	for (uint32_t i = 0; i < cabling->count; i++) {
		uint32_t s = u->tree->order[i];
		const struct cabled_switch *sw = &cabling->switches[s];
		const struct way *down = cabling_ways(cabling, s) + sw->num_up;

		foot[s] = s < u->num ? u->dests->column_of[s] : UINT32_MAX;
		for (uint8_t w = 0; w < sw->num_down; w++)
			if (foot[down[w].peer] < foot[s])
				foot[s] = foot[down[w].peer];
	}
	return foot;
}

/* Ways up that a switch should have and that are missing or down. */
static uint32_t missing_ups(const struct updown *u, uint32_t s)
{
	const struct cabled_switch *sw = &u->tree->cabling->switches[s];
	const struct way *up = cabling_ways(u->tree->cabling, s);
	uint32_t missing = sw->slots;

	for (uint8_t w = 0; w < sw->num_up; w++)
		missing -= up[w].num_live > 0;
	return missing;
}

/* Candidates for pivots: first the first switch of a group, then the healthiest. */
struct member {
	uint32_t group, missing, foot, sw;
};

static int by_foot(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->foot != b->foot)
		return a->foot < b->foot ? -1 : 1;
	return (a->sw > b->sw) - (a->sw < b->sw);
}

static int by_soundness(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->missing != b->missing)
		return a->missing < b->missing ? -1 : 1;
	return by_foot(left, right);
}

/* Sorts the members of each group in the order of trials. */
static void order_members(struct member *members, uint32_t count, bool healthiest)
{
	uint32_t first = 0;

	qsort(members, count, sizeof(*members), by_foot);
	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 < count && members[i + 1].group == members[first].group)
			continue;
		qsort(members + first + !healthiest, i - first + healthiest, sizeof(*members),
		      by_soundness);
		first = i + 1;
	}
}

/* Gives each plane of a level and those above its pivots: the first switches of that level. A plane
 * is named by one of its switches. */
static void choose_plane_pivots(struct updown *u, uint16_t level, const uint32_t *foot,
				struct updown_planes *planes)
{
	const struct cabling *cabling = u->tree->cabling;
	uint32_t *set = mem_array(cabling->count, sizeof(*set));
	struct member *members = mem_array(u->num, sizeof(*members));
	uint32_t count = 0, given = 0;

	for (uint32_t s = 0; s < cabling->count; s++)
		set[s] = s;
	for (uint32_t s = 0; s < cabling->count; s++) {
		const struct way *up = cabling_ways(cabling, s);
		bool inside = u->tree->level[s] >= level;

		for (uint8_t w = 0; inside && w < cabling->switches[s].num_up; w++)
			set[detours_find_set(set, up[w].peer)] = detours_find_set(set, s);
	}
	planes->of = mem_array(u->num, sizeof(*planes->of));
	planes->pivot = mem_array(cabling->count, sizeof(*planes->pivot));
	for (uint32_t s = 0; s < u->num; s++) {
		bool inside = u->tree->level[s] != LEVEL_NONE && u->tree->level[s] >= level;

		planes->of[s] = inside ? detours_find_set(set, s) : NO_PLANE;
		if (u->tree->level[s] == level)
			members[count++] =
				(struct member){planes->of[s], missing_ups(u, s), foot[s], s};
	}
	for (uint32_t s = 0; s < cabling->count; s++)
		for (unsigned i = 0; i < UPDOWN_PLANE_PIVOTS; i++)
			planes->pivot[s][i] = NO_PIVOT;
	order_members(members, count, u->healthiest);
	for (uint32_t i = 0; i < count; i++) {
		given = i && members[i - 1].group == members[i].group ? given + 1 : 0;
		if (given < UPDOWN_PLANE_PIVOTS)
			planes->pivot[members[i].group][given] = u->dests->column_of[members[i].sw];
	}
	free(members);
	free(set);
}

/* By a pivot of the plane of one end, or of both, the smallest plane first. */
static uint32_t plane_detour(const struct updown *u, uint32_t s, uint32_t column)
{
	uint32_t to = u->dests->switch_of[column];

	for (unsigned k = UPDOWN_PLANES; k-- > 0;) {
		const struct updown_planes *planes = &u->planes[k];
		uint32_t plane;

		if (!planes->of || (planes->of[s] != NO_PLANE && planes->of[to] != NO_PLANE &&
				    planes->of[s] != planes->of[to]))
			continue;
		plane = planes->of[s] != NO_PLANE ? planes->of[s] : planes->of[to];
		for (unsigned i = 0; plane != NO_PLANE && i < UPDOWN_PLANE_PIVOTS; i++) {
			uint32_t pivot = planes->pivot[plane][i];

			if (pivot != NO_PIVOT && updown_reaches(u, s, pivot) &&
			    updown_reaches(u, u->dests->switch_of[pivot], column))
				return pivot;
		}
	}
	return NO_PIVOT;
}

/* Leaves */

/* Orders columns of leaves as candidates for pivots: for each island the first, its siblings, and
 * then all others, with healthier leaves first. Returns their number. */
static uint32_t order_leaves(const struct updown *u, uint32_t *order)
{
	struct member *members = mem_array(u->num, sizeof(*members));
	uint32_t *first = mem_array(u->num, sizeof(*first)); /* by island: a column and 1 */
	uint32_t count = 0;

	for (uint32_t c = 0; c < u->num; c++) {
		uint32_t s = u->dests->switch_of[c], home = u->island[s];

		if (!u->snapshot->switches[s].hosts)
			continue;
		first[home] = first[home] ? first[home] : c + 1;
		members[count] = (struct member){home, missing_ups(u, s), c, s};
		/* Leaves that are not siblings follow. */
		if (updown_cell(u, u->hops, s, first[home] - 1) > 2)
			members[count].missing += PORT_MAX;
		count++;
	}
	order_members(members, count, u->healthiest);
	for (uint32_t i = 0; i < count; i++)
		order[i] = u->dests->column_of[members[i].sw];
	free(first);
	free(members);
	return count;
}

static bool gets_there(const struct updown *u, uint32_t s, uint32_t column)
{
	return updown_reaches(u, s, column) || plane_detour(u, s, column) != NO_PIVOT;
}

/* Lists the first leaves of each island, and by which of these each column is reached. */
static void choose_leaf_pivots(struct updown *u, uint32_t most)
{
	uint32_t *order = mem_array(u->num, sizeof(*order));
	uint32_t *count = mem_array(u->num, sizeof(*count));
	uint32_t leaves;

	u->island = route_islands(u->snapshot);
	leaves = order_leaves(u, order);
	u->leaf_pivot = mem_array(u->num, sizeof(*u->leaf_pivot));
	u->serving = mem_array(u->num, sizeof(*u->serving));
	for (uint32_t i = 0; i < leaves; i++) {
		uint32_t home = u->island[u->dests->switch_of[order[i]]];

		if (count[home] < most)
			u->leaf_pivot[home][count[home]++] = order[i];
	}
	for (uint32_t c = 0; c < u->num; c++) {
		uint32_t home = u->island[u->dests->switch_of[c]];

		for (uint32_t i = 0; u->missed[c] && i < count[home]; i++)
			if (gets_there(u, u->dests->switch_of[u->leaf_pivot[home][i]], c))
				u->serving[c] |= (uint16_t)(1u << i);
	}
	free(count);
	free(order);
}

void updown_forget_pivots(struct updown *u)
{
	for (unsigned k = 0; k < UPDOWN_PLANES; k++) {
		free(u->planes[k].of);
		free(u->planes[k].pivot);
		u->planes[k] = (struct updown_planes){NULL, NULL};
	}
	free(u->serving);
	free(u->leaf_pivot);
	free(u->island);
	u->serving = NULL;
	u->leaf_pivot = NULL;
	u->island = NULL;
}

void updown_choose_pivots(struct updown *u, uint32_t most, bool healthiest)
{
	uint32_t *foot;

	u->healthiest = healthiest;

	updown_forget_pivots(u);
	if (!most)
		return;
	foot = find_feet(u);
	for (uint16_t k = 0; k < UPDOWN_PLANES; k++)
		choose_plane_pivots(u, k + 1, foot, &u->planes[k]);
	free(foot);
	choose_leaf_pivots(u, most);
}

/*
 * The first of these ways that exists: by a pivot of the plane; by a leaf; by a pivot of the plane
 * to that leaf. All switches try them in one order, so each switch on the way to a pivot finds this
 * pivot, or an earlier pivot: the way ends.
 */
uint32_t updown_detour(const struct updown *u, uint32_t s, uint32_t column)
{
	uint32_t to = u->dests->switch_of[column], pivot;

	if (!u->island || u->island[s] != u->island[to])
		return NO_PIVOT;
	pivot = plane_detour(u, s, column);
	for (unsigned i = 0; pivot == NO_PIVOT && u->serving[column] >> i; i++) {
		uint32_t leaf = u->leaf_pivot[u->island[to]][i];

		if (!(u->serving[column] >> i & 1))
			continue;
		pivot = updown_reaches(u, s, leaf) ? leaf : plane_detour(u, s, leaf);
	}
	return pivot;
}
