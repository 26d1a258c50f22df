/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Levels, directions and divisors (tree.h), over the remembered cabling. Searches are
 * breadth-first, and sorting is by (level, GUID), so the same fabric gives the same tree for any
 * order of discovery.
 */
#include "route/tree.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* Breadth-first from the count switches in queue, whose level is 0. */
static void tree_search_levels(const struct cabling *cabling, uint32_t *queue, uint32_t count,
			       uint16_t *level)
{
	for (uint32_t head = 0; head < count; head++) {
		uint32_t s = queue[head];
		const struct way *ways = cabling_ways(cabling, s);

		for (uint8_t w = 0; w < cabling->switches[s].num_ways; w++) {
			if (level[ways[w].peer] != LEVEL_NONE)
				continue;
			level[ways[w].peer] = level[s] + 1;
			queue[count++] = ways[w].peer;
		}
	}
}

static uint16_t *distances(const struct cabling *cabling, const uint32_t *from, uint32_t count)
{
	uint32_t *queue = mem_array(cabling->count, sizeof(*queue));
	uint16_t *level = mem_array(cabling->count, sizeof(*level));
	uint32_t used = 0;

	memset(level, 0xFF, cabling->count * sizeof(*level));
	for (uint32_t i = 0; i < count; i++)
		if (level[from[i]] == LEVEL_NONE)
			level[queue[used++] = from[i]] = 0;
	tree_search_levels(cabling, queue, used, level);
	free(queue);
	return level;
}

/* Leaves within two hops, through one neighbour. */
static uint32_t near_leaves(const struct cabling *cabling, uint32_t s, uint32_t *mark)
{
	const struct way *ways = cabling_ways(cabling, s);
	uint32_t count = 0;

	for (uint8_t w = 0; w < cabling->switches[s].num_ways; w++) {
		const struct way *next = cabling_ways(cabling, ways[w].peer);

		for (uint8_t n = 0; n < cabling->switches[ways[w].peer].num_ways; n++) {
			uint32_t far = next[n].peer;

			if (!cabling->switches[far].places || mark[far] == s + 1)
				continue;
			mark[far] = s + 1;
			count++;
		}
	}
	return count;
}

/*
 * A host does not make its switch a leaf: a manager's port or a gateway may be cabled to a spine.
 * So some switches with fewer than a quarter of the places of the fullest switch are no leaves, but
 * above them. These are switches with a neighbour that has more places, and switches with more
 * leaves around them than any full leaf.
 */
static uint32_t find_leaves(const struct cabling *cabling, uint32_t *leaves)
{
	const struct cabled_switch *switches = cabling->switches;
	uint32_t *mark = mem_array(cabling->count, sizeof(*mark));
	uint32_t count = 0, most_near = 0;
	bool sparse = false;
	uint8_t fullest = 0;

	for (uint32_t s = 0; s < cabling->count; s++)
		fullest = switches[s].places > fullest ? switches[s].places : fullest;
	for (uint32_t s = 0; s < cabling->count; s++)
		sparse |= switches[s].places && switches[s].places * 4 < fullest;
	for (uint32_t s = 0; sparse && s < cabling->count; s++) {
		if (switches[s].places * 4 >= fullest) {
			uint32_t near = near_leaves(cabling, s, mark);

			most_near = near > most_near ? near : most_near;
		}
	}
	for (uint32_t s = 0; s < cabling->count; s++) {
		const struct way *ways = cabling_ways(cabling, s);
		bool above = false;

		if (!switches[s].places)
			continue;
		if (switches[s].places * 4 < fullest) {
			above = near_leaves(cabling, s, mark) > most_near;
			for (uint8_t w = 0; w < switches[s].num_ways; w++)
				above |= switches[ways[w].peer].places > switches[s].places;
		}
		if (!above)
			leaves[count++] = s;
	}
	free(mark);
	return count;
}

uint16_t *tree_levels_from_leaves(const struct cabling *cabling)
{
	uint32_t *leaves = mem_array(cabling->count, sizeof(*leaves));
	uint16_t *level = distances(cabling, leaves, find_leaves(cabling, leaves));

	free(leaves);
	return level;
}

uint16_t *tree_levels_from_roots(const struct cabling *cabling, const uint32_t *roots,
				 uint32_t count)
{
	uint16_t *level = distances(cabling, roots, count);
	uint16_t farthest = 0;

	for (uint32_t s = 0; s < cabling->count; s++)
		if (level[s] != LEVEL_NONE && level[s] > farthest)
			farthest = level[s];
	for (uint32_t s = 0; s < cabling->count; s++)
		if (level[s] != LEVEL_NONE)
			level[s] = farthest - level[s];
	return level;
}

/* Whether two of those up to limit are neighbours. */
static bool any_neighbours(const struct cabling *cabling, const uint64_t *sum, uint64_t limit)
{
	for (uint32_t s = 0; s < cabling->count; s++) {
		const struct way *ways = cabling_ways(cabling, s);

		for (uint8_t w = 0; sum[s] <= limit && w < cabling->switches[s].num_ways; w++)
			if (sum[ways[w].peer] <= limit)
				return true;
	}
	return false;
}

/* For every switch, the sum of the squares of its distances to switches with hosts, weighted by
 * their places; if there are many, to some of them, evenly chosen. UINT64_MAX for switches that are
 * not reached from the first of these. The same for those below roots that were found (level not
 * NONE), to which ways may lead that are not remembered in the reverse direction. */
static uint64_t *sum_distances(const struct cabling *cabling, uint32_t first, const uint16_t *level)
{
	enum { SAMPLES = 256 };
	uint64_t *sum = mem_array(cabling->count, sizeof(*sum));
	uint16_t *reached = distances(cabling, &first, 1);
	uint32_t *from = mem_array(cabling->count, sizeof(*from));
	uint32_t count = 0, samples;

	for (uint32_t s = 0; s < cabling->count; s++)
		if (reached[s] != LEVEL_NONE && cabling->switches[s].places)
			from[count++] = s;
	samples = count < SAMPLES ? count : SAMPLES;
	for (uint32_t i = 0; i < samples; i++) {
		uint32_t s = from[(uint64_t)i * count / samples];
		uint16_t *distance = distances(cabling, &s, 1);

		for (uint32_t t = 0; t < cabling->count; t++)
			sum[t] += (uint64_t)distance[t] * distance[t] * cabling->switches[s].places;
		free(distance);
	}
	for (uint32_t s = 0; s < cabling->count; s++)
		if (reached[s] == LEVEL_NONE || level[s] != LEVEL_NONE)
			sum[s] = UINT64_MAX;
	free(from);
	free(reached);
	return sum;
}

/* In a tree all spines are equally near to all hosts, except for missing cables: hence the shares.
 * If even the nearest are neighbours, it is no tree, and the first of them is chosen. */
static uint32_t find_island_roots(const struct cabling *cabling, uint32_t first,
				  const uint16_t *level, uint32_t *roots)
{
	static const unsigned percents[] = {150, 120, 105, 100};
	uint64_t *sum = sum_distances(cabling, first, level);
	uint64_t limit = 0;
	uint32_t nearest = first, count = 0;

	for (uint32_t s = 0; s < cabling->count; s++)
		if (sum[s] < sum[nearest])
			nearest = s;
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
		limit = sum[nearest] / 100 * percents[i] + sum[nearest] % 100 * percents[i] / 100;
		if (!any_neighbours(cabling, sum, limit))
			break;
		limit = 0;
	}
	for (uint32_t s = 0; limit && s < cabling->count; s++)
		if (sum[s] <= limit)
			roots[count++] = s;
	if (!count)
		roots[count++] = nearest;
	free(sum);
	return count;
}

uint32_t tree_find_roots(const struct cabling *cabling, uint32_t **roots)
{
	uint32_t count = 0;
	uint16_t *level = distances(cabling, NULL, 0);

	*roots = mem_array(cabling->count, sizeof(**roots));
	for (uint32_t s = 0; s < cabling->count; s++) {
		if (level[s] != LEVEL_NONE)
			continue;
		count += find_island_roots(cabling, s, level, *roots + count);
		free(level);
		level = distances(cabling, *roots, count);
	}
	free(level);
	return count;
}

enum direction { UP, DOWN, NOWHERE };

static enum direction direction(const struct tree *tree, bool flat, uint32_t from, uint32_t to)
{
	uint16_t a = tree->level[from], b = tree->level[to];
	const struct cabled_switch *switches = tree->cabling->switches;

	if (a == LEVEL_NONE || b == LEVEL_NONE || (a == b && !flat))
		return NOWHERE;
	if (a == b)
		return switches[to].guid < switches[from].guid ? UP : DOWN;
	return b > a ? UP : DOWN;
}

/* Sorts a switch's ways; each kind keeps its order. */
static void orient(struct tree *tree, bool flat, uint32_t s)
{
	struct cabled_switch *sw = &tree->cabling->switches[s];
	struct way *ways = cabling_ways(tree->cabling, s), sorted[UINT8_MAX] = {{0}};
	uint8_t kinds[3] = {0}, next = 0;

	for (int kind = UP; kind <= NOWHERE; kind++) {
		for (uint8_t w = 0; w < sw->num_ways; w++) {
			if (direction(tree, flat, s, ways[w].peer) != (enum direction)kind)
				continue;
			sorted[next++] = ways[w];
			kinds[kind]++;
		}
	}
	memcpy(ways, sorted, next * sizeof(*ways));
	sw->num_up = kinds[UP];
	sw->num_down = kinds[DOWN];
}

struct height {
	uint16_t level;
	guid_t guid;
	uint32_t sw;
};

/* Within a level the switch with the lower GUID is the higher one, as in direction(). */
static int by_height(const void *left, const void *right)
{
	const struct height *a = left, *b = right;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	return (a->guid < b->guid) - (a->guid > b->guid);
}

struct tree *tree_new(struct cabling *cabling, uint16_t *level, bool flat)
{
	struct tree *tree = mem_zalloc(sizeof(*tree));
	struct height *heights = mem_array(cabling->count, sizeof(*heights));

	tree->cabling = cabling;
	tree->level = level;
	tree->order = mem_array(cabling->count, sizeof(*tree->order));
	tree->divisor = mem_array(cabling->count, sizeof(*tree->divisor));
	for (uint32_t s = 0; s < cabling->count; s++) {
		orient(tree, flat, s);
		heights[s] = (struct height){level[s], cabling->switches[s].guid, s};
		if (level[s] != LEVEL_NONE && level[s] >= tree->levels)
			tree->levels = level[s] + 1;
		tree->divisor[s] = 1;
	}
	qsort(heights, cabling->count, sizeof(*heights), by_height);
	for (uint32_t i = 0; i < cabling->count; i++)
		tree->order[i] = heights[i].sw;
	free(heights);
	tree_set_slots(tree);
	return tree;
}

void tree_free(struct tree *tree)
{
	cabling_free(tree->cabling);
	free(tree->divisor);
	free(tree->order);
	free(tree->level);
	free(tree);
}

/* If the digits are used up, the ways above start again with the first. */
void tree_set_divisors(struct tree *tree, uint32_t indexes)
{
	const struct cabling *cabling = tree->cabling;

	for (uint32_t i = 0; i < cabling->count; i++) {
		uint32_t s = tree->order[i];
		const struct way *ways = cabling_ways(cabling, s);
		uint8_t ups = cabling->switches[s].num_up;
		uint64_t above = (uint64_t)tree->divisor[s] * cabling->switches[s].slots;

		for (uint8_t w = 0; w < ups && above < indexes; w++)
			if (tree->divisor[ways[w].peer] < above)
				tree->divisor[ways[w].peer] = (uint32_t)above;
	}
}
