/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Slots for ways up (tree.h). All leaves must associate the same spines with the same digit of a
 * destination's number, else flows to one leaf share links unnecessarily. GUIDs alone do not show
 * which middle switches of two pods belong together, but the switches above them do. A plane is the
 * set of switches that are connected from a level upwards. So ways up are in the order of their
 * planes.
 *
 * Siblings, switches of a level that share switches above, should have the same ways up. A missing
 * way counts as broken, even if no switch remembers it: its slot is kept. If a switch lacks more
 * than a quarter, the fabric is of another kind, and only its own ways count.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/tree.h"

/* A switch above others, in the set of siblings below it. */
struct upper {
	uint32_t set, sw;
	guid_t plane, guid;
};

static uint32_t planes_find_set(uint32_t *set, uint32_t s)
{
	while (set[s] != s)
		s = set[s] = set[set[s]];
	return s;
}

static uint32_t *new_sets(uint32_t count)
{
	uint32_t *set = mem_array(count, sizeof(*set));

	for (uint32_t s = 0; s < count; s++)
		set[s] = s;
	return set;
}

/* By switch the lowest GUID of the switches connected to it from its level upwards. */
static guid_t *find_planes(const struct tree *tree)
{
	const struct cabling *cabling = tree->cabling;
	uint32_t *set = new_sets(cabling->count);
	guid_t *lowest = mem_array(cabling->count, sizeof(*lowest));
	guid_t *plane = mem_array(cabling->count, sizeof(*plane));
	uint32_t next = cabling->count;

	for (uint32_t s = 0; s < cabling->count; s++)
		lowest[s] = cabling->switches[s].guid;
	while (next > 0) {
		uint32_t first = next, level = tree->level[tree->order[next - 1]];

		for (; next > 0 && tree->level[tree->order[next - 1]] == level; next--) {
			uint32_t s = tree->order[next - 1];
			const struct way *up = cabling_ways(cabling, s);

			for (uint8_t w = 0; w < cabling->switches[s].num_up; w++) {
				uint32_t a = planes_find_set(set, s),
					 b = planes_find_set(set, up[w].peer);

				set[b] = a;
				lowest[a] = lowest[b] < lowest[a] ? lowest[b] : lowest[a];
			}
		}
		for (uint32_t i = next; i < first; i++)
			plane[tree->order[i]] = lowest[planes_find_set(set, tree->order[i])];
	}
	free(lowest);
	free(set);
	return plane;
}

static int by_plane(const void *left, const void *right)
{
	const struct upper *a = left, *b = right;

	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return (a->guid > b->guid) - (a->guid < b->guid);
}

/* Joins siblings: a switch as a lower switch with those above as upper switches, which follow in
 * the array. */
static uint32_t *find_siblings(const struct cabling *cabling)
{
	uint32_t *set = new_sets(2 * cabling->count);

	for (uint32_t s = 0; s < cabling->count; s++) {
		const struct way *up = cabling_ways(cabling, s);

		for (uint8_t w = 0; w < cabling->switches[s].num_up; w++)
			set[planes_find_set(set, cabling->count + up[w].peer)] =
				planes_find_set(set, s);
	}
	return set;
}

/* The switches above each set of siblings, set by set: those of a set begin at first[set], and are
 * count[set] many. rank[s] is a switch's place in its set. */
static void rank_uppers(const struct cabling *cabling, const guid_t *plane, uint32_t *set,
			uint32_t *count, uint32_t *rank)
{
	struct upper *uppers = mem_array(cabling->count, sizeof(*uppers));

	for (uint32_t s = 0; s < cabling->count; s++)
		uppers[s] = (struct upper){planes_find_set(set, cabling->count + s), s, plane[s],
					   cabling->switches[s].guid};
	qsort(uppers, cabling->count, sizeof(*uppers), by_plane);
	for (uint32_t i = 0; i < cabling->count; i++)
		rank[uppers[i].sw] = count[uppers[i].set]++;
	free(uppers);
}

static int by_slot(const void *left, const void *right)
{
	const struct way *a = left, *b = right;

	return a->slot - b->slot;
}

/* Gives the ways up of a switch slots of their own, in the order of their ranks. */
static void number_own(struct cabled_switch *sw, struct way *up, const uint32_t *rank)
{
	for (uint8_t w = 0; w < sw->num_up; w++) {
		up[w].slot = 0;
		for (uint8_t v = 0; v < sw->num_up; v++)
			up[w].slot += rank[up[v].peer] < rank[up[w].peer];
	}
	sw->slots = sw->num_up;
}

void tree_set_slots(struct tree *tree)
{
	struct cabling *cabling = tree->cabling;
	guid_t *plane = find_planes(tree);
	uint32_t *set = find_siblings(cabling);
	uint32_t *count = mem_array(2 * (size_t)cabling->count, sizeof(*count));
	uint32_t *rank = mem_array(cabling->count, sizeof(*rank));

	rank_uppers(cabling, plane, set, count, rank);
	for (uint32_t s = 0; s < cabling->count; s++) {
		struct cabled_switch *sw = &cabling->switches[s];
		struct way *up = cabling_ways(cabling, s);
		uint32_t most = sw->num_up ? count[planes_find_set(set, s)] : 0;

		if (most <= UINT8_MAX && sw->num_up * 4u >= most * 3) {
			for (uint8_t w = 0; w < sw->num_up; w++)
				up[w].slot = (uint8_t)rank[up[w].peer];
			sw->slots = (uint8_t)most;
		} else {
			number_own(sw, up, rank);
		}
		qsort(up, sw->num_up, sizeof(*up), by_slot);
	}
	free(rank);
	free(count);
	free(set);
	free(plane);
}
