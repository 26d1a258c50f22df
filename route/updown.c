/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up and down (updown.h), after Dmodc (Gliksberg and others, IEEE Micro 2020): a formula over the
 * number of a destination (dest_index.h) selects a way, without counters. So every switch's table
 * can be computed separately, and a fault moves only the affected entries.
 *
 * The rule at a switch for a destination: if it can be reached by going down only, send down, by
 * the shortest ways. Else send up, by ways on which the path is shortest. This depends on the
 * switch and the destination alone, and not on the source of a packet. So no packet turns from down
 * to up, and with one VL there is no cycle of links that wait for each other.
 *
 * Slots are kept: the number is divided among all ways up that the switch remembers, including dead
 * ways. Only a destination of a dead way moves, to a live way, by the next digit of its number; all
 * others stay, also when the way returns.
 *
 * Distances are bytes in blocks of 64 columns, so that a step of the sweep over a level is a cache
 * line and a few vector instructions. A worker does whole blocks.
 *
 * Most switches lead most destinations up. Switches that lead up by the same ports in the same
 * slots differ only where they lead down or a way is missing. So a row begins as a copy of such a
 * pattern, and only the differences are computed.
 */
#include "route/updown.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/check.h"
#include "route/credit.h"
#include "route/updown_parts.h"

enum {
	BLOCK = UPDOWN_BLOCK,
	FAR = UPDOWN_FAR,
	KEY_BYTES = 32, /* a bit for each way */
	PATTERNS = 8,
};

/* Distances */

/* to = the lower of to and from + 1, column by column. FAR + 1 is no lower than FAR. */
static void relax(uint8_t *restrict to, const uint8_t *restrict from)
{
	for (unsigned i = 0; i < BLOCK; i++) {
		uint8_t next = from[i] + 1;

		to[i] = to[i] < next ? to[i] : next;
	}
}

static bool updown_usable(const struct updown *u, const struct way *way)
{
	return way->num_live && way->peer < u->num;
}

static void measure_block(const struct updown *u, uint32_t block)
{
	const struct tree *tree = u->tree;
	const struct cabling *cabling = tree->cabling;

	for (uint32_t i = 0; i < cabling->count; i++) {
		uint32_t s = tree->order[i];
		const struct cabled_switch *sw = &cabling->switches[s];
		const struct way *down = cabling_ways(cabling, s) + sw->num_up;
		uint8_t *own = updown_cells(u, u->down, block, s);

		if (s >= u->num)
			continue;
		memset(own, FAR, BLOCK);
		for (uint8_t w = 0; w < sw->num_down; w++)
			if (updown_usable(u, &down[w]))
				relax(own, updown_cells(u, u->down, block, down[w].peer));
		if (u->dests->column_of[s] / BLOCK == block)
			own[u->dests->column_of[s] % BLOCK] = 0;
	}
	for (uint32_t i = cabling->count; i-- > 0;) {
		uint32_t s = tree->order[i];
		const struct cabled_switch *sw = &cabling->switches[s];
		const struct way *up = cabling_ways(cabling, s);
		const uint8_t *down = updown_cells(u, u->down, block, s);
		uint8_t *own = updown_cells(u, u->hops, block, s);

		if (s >= u->num)
			continue;
		memset(own, FAR, BLOCK);
		for (uint8_t w = 0; w < sw->num_up; w++)
			if (updown_usable(u, &up[w]))
				relax(own, updown_cells(u, u->hops, block, up[w].peer));
		for (unsigned c = 0; c < BLOCK; c++)
			own[c] = down[c] < FAR ? down[c] : own[c];
		for (unsigned c = 0; c < BLOCK; c++)
			u->missed[block * BLOCK + c] |= own[c] & FAR;
	}
}

static void measure_slice(void *arg, size_t begin, size_t end)
{
	for (size_t block = begin; block < end; block++)
		measure_block(arg, (uint32_t)block);
}

struct updown *updown_new(const struct snapshot *snapshot, struct tree *tree,
			  struct work_pool *pool)
{
	struct updown *u = mem_zalloc(sizeof(*u));
	size_t columns;

	u->snapshot = snapshot;
	u->tree = tree;
	u->dests = dest_index_new(snapshot, tree);
	tree_set_divisors(tree, u->dests->indexes);
	u->num = snapshot->num_switches;
	u->blocks = (u->num + BLOCK - 1) / BLOCK;
	columns = (size_t)u->blocks * BLOCK;
	u->down = mem_alloc(columns * u->num);
	u->hops = mem_alloc(columns * u->num);
	u->missed = mem_array(columns, 1);
	work_parallel(pool, u->blocks, measure_slice, u);
	return u;
}

void updown_free(struct updown *u)
{
	dest_index_free(u->dests);
	updown_forget_pivots(u);
	free(u->missed);
	free(u->hops);
	free(u->down);
	free(u);
}

void updown_count(const struct updown *u, uint64_t *pairs, uint64_t *without)
{
	const struct snap_switch *switches = u->snapshot->switches;
	uint32_t *island = route_islands(u->snapshot);
	uint64_t all = 0, far = 0;

	for (uint32_t s = 0; s < u->num; s++) {
		for (uint32_t c = 0; switches[s].hosts && !u->tree->level[s] && c < u->num; c++) {
			uint32_t to = u->dests->switch_of[c];

			if (to == s || !switches[to].hosts || u->tree->level[to] ||
			    island[s] != island[to])
				continue;
			all++;
			far += updown_cell(u, u->hops, s, c) >= FAR;
		}
	}
	free(island);
	*pairs = all;
	*without = far;
}

/* Tables */

/* The data to fill the row of a switch. */
struct filler {
	const struct updown *u;
	uint32_t s;
	const struct cabled_switch *sw;
	const struct way *ways;
	uint32_t divisor;
	uint8_t *row;
	uint8_t key[KEY_BYTES];	   /* ways that may be taken, a bit for each, */
	uint8_t set[PORT_MAX + 1]; /* a number for each, and their count: see read_key() */
	unsigned count;
	bool ups; /* they lead up */
	/* Then: by slot the port of a way with a single cable, else 0. */
	uint8_t port[PORT_MAX + 1];
	const uint8_t *slot;	   /* by target: its way up among all remembered ways */
	uint8_t all_up[KEY_BYTES]; /* the key of a column for which all ways up are allowed */
	uint32_t pivot;		   /* of the last detour, and the key of its column */
	uint8_t pivot_key[KEY_BYTES];
};

/* Adds a way's bit for each column to which it is nearer: down ways if there is a path down, ways
 * up otherwise. */
static void add_way(uint8_t *restrict bits, uint8_t bit, const uint8_t *restrict down, uint8_t up,
		    const uint8_t *restrict near, const uint8_t *restrict far)
{
	for (unsigned c = 0; c < BLOCK; c++) {
		uint8_t next = far[c] + 1;
		uint8_t mine = (down[c] >> 7 ^ up ^ 1) & (next == near[c]);

		bits[c] |= (uint8_t)-mine & bit;
	}
}

/* For each column of a block a bit for each allowed way: key[way / 8][column]. */
static void make_keys(const struct filler *f, uint32_t block, uint8_t key[KEY_BYTES][BLOCK])
{
	const struct updown *u = f->u;
	const uint8_t *down = updown_cells(u, u->down, block, f->s);
	const uint8_t *hops = updown_cells(u, u->hops, block, f->s);
	unsigned ways = f->sw->num_up + f->sw->num_down, without = 0, first, end;

	memset(key, 0, (ways + 7) / 8 * BLOCK);
	for (unsigned c = 0; c < BLOCK; c++)
		without += down[c] >> 7;
	first = without ? 0 : f->sw->num_up;
	end = without < BLOCK ? ways : f->sw->num_up;
	for (unsigned w = first; w < end; w++) {
		uint8_t up = w < f->sw->num_up;

		if (updown_usable(u, &f->ways[w]))
			add_way(key[w / 8], (uint8_t)(1u << w % 8), down, up, up ? hops : down,
				updown_cells(u, up ? u->hops : u->down, block, f->ways[w].peer));
	}
}

/* The same for one column. */
static void make_key(const struct filler *f, uint32_t column, uint8_t key[KEY_BYTES])
{
	const struct updown *u = f->u;
	bool ups = updown_cell(u, u->down, f->s, column) >= FAR;
	unsigned first = ups ? 0 : f->sw->num_up;
	unsigned end = ups ? f->sw->num_up : first + f->sw->num_down;
	uint8_t *matrix = ups ? u->hops : u->down;

	memset(key, 0, KEY_BYTES);
	for (unsigned w = first; w < end; w++)
		if (updown_usable(u, &f->ways[w]) &&
		    updown_cell(u, matrix, f->ways[w].peer, column) + 1 ==
			    updown_cell(u, matrix, f->s, column))
			key[w / 8] |= (uint8_t)(1u << w % 8);
}

/* Neighbouring columns have the same pivot. */
static const uint8_t *detour_key(struct filler *f, uint32_t column)
{
	uint32_t pivot = updown_detour(f->u, f->s, column);

	if (pivot == NO_PIVOT)
		return NULL;
	if (pivot != f->pivot)
		make_key(f, pivot, f->pivot_key);
	f->pivot = pivot;
	return f->pivot_key;
}

static void read_key(struct filler *f, const uint8_t *key)
{
	unsigned bytes = (f->sw->num_up + f->sw->num_down + 7u) / 8;

	memcpy(f->key, key, KEY_BYTES);
	f->count = 0;
	for (unsigned b = 0; b < bytes; b++)
		for (unsigned bits = key[b]; bits; bits &= bits - 1)
			f->set[f->count++] = (uint8_t)(b * 8 + (unsigned)__builtin_ctz(bits));
	f->ups = f->count && f->set[0] < f->sw->num_up;
	if (!f->ups)
		return;
	memset(f->port, 0, f->sw->slots);
	for (unsigned i = 0; i < f->count; i++) {
		const struct way *way = &f->ways[f->set[i]];

		if (way->num_ports == 1)
			f->port[way->slot] = f->u->tree->cabling->ports[way->first_port].port;
	}
}

/* Dead cables keep their slots as dead ways do. */
static uint8_t pick_port(const struct filler *f, const struct way *way, uint32_t number)
{
	const struct way_port *ports = f->u->tree->cabling->ports + way->first_port;
	uint32_t skip;

	if (ports[number % way->num_ports].live)
		return ports[number % way->num_ports].port;
	skip = number / way->num_ports % way->num_live;
	for (unsigned i = 0;; i++)
		if (ports[i].live && skip-- == 0)
			return ports[i].port;
}

/* A destination whose slot is dead uses one of the remaining ways, selected by the next digits of
 * its number. Neighbours have these digits in common. So that they do not use the same way, the
 * first dead slot counts from there, the second from the next way, and so on. At a switch that
 * receives destinations diverted by a fault below, destinations of one leaf differ in the digits
 * that were divided off. */
static uint8_t pick_up(const struct filler *f, const struct target *target, uint8_t slot)
{
	uint32_t number = target->index / f->divisor + target->offset;
	uint32_t next = number / f->sw->slots, before = 0;

	for (unsigned i = 0; i < f->count; i++) {
		if (f->ways[f->set[i]].slot == slot)
			return pick_port(f, &f->ways[f->set[i]], next);
		before += f->ways[f->set[i]].slot < slot;
	}
	next += next / f->sw->slots + slot - before + target->index % f->divisor;
	return pick_port(f, &f->ways[f->set[next % f->count]], next / f->count);
}

static uint8_t pick_down(const struct filler *f, const struct target *target)
{
	uint32_t number = target->index / f->divisor + target->offset;

	return pick_port(f, &f->ways[f->set[number % f->count]], number / f->count);
}

/* One way down with one cable, as in any tree without faults below. */
static bool single(const struct filler *f)
{
	const struct way *way = &f->ways[f->set[0]];

	return f->count == 1 && way->num_ports == 1;
}

/* The entries of a column's LIDs, by the ways in f->set. Few need a calculation. */
static void fill_column(const struct filler *f, uint32_t column)
{
	const struct dest_index *dests = f->u->dests;
	uint32_t first = dests->first_target[column], end = dests->first_target[column + 1];

	if (!f->count) {
		for (uint32_t t = first; t < end; t++)
			f->row[dests->lids[t]] = LFT_NO_PORT;
		return;
	}
	if (f->ups) {
		for (uint32_t t = first; t < end; t++) {
			uint8_t slot = f->slot[t], port = f->port[slot];

			f->row[dests->lids[t]] = port ? port : pick_up(f, &dests->targets[t], slot);
		}
		return;
	}
	if (single(f)) {
		uint8_t port = pick_port(f, &f->ways[f->set[0]], 0);

		for (uint32_t t = first; t < end; t++)
			f->row[dests->lids[t]] = port;
		return;
	}
	for (uint32_t t = first; t < end; t++)
		f->row[dests->lids[t]] = pick_down(f, &dests->targets[t]);
}

/* Whether the key of a column in its block differs from that of all ways up. */
static void find_others(const struct filler *f, uint8_t keys[KEY_BYTES][BLOCK], unsigned bytes,
			uint8_t other[BLOCK])
{
	memset(other, 0, BLOCK);
	for (unsigned b = 0; b < bytes; b++)
		for (unsigned c = 0; c < BLOCK; c++)
			other[c] |= keys[b][c] ^ f->all_up[b];
}

/* By each column's key, or its pivot's. Columns for which all ways up are allowed are done
 * already. */
static void fill_block(struct filler *f, uint32_t block)
{
	const struct updown *u = f->u;
	unsigned bytes = (f->sw->num_up + f->sw->num_down + 7u) / 8;
	uint8_t keys[KEY_BYTES][BLOCK], other[BLOCK], key[KEY_BYTES] = {0};

	make_keys(f, block, keys);
	find_others(f, keys, bytes, other);
	for (uint32_t c = block * BLOCK; c < (block + 1) * BLOCK && c < u->num; c++) {
		bool misses = u->missed[c] && !updown_reaches(u, f->s, c);

		if ((!other[c % BLOCK] && !misses) || u->dests->switch_of[c] == f->s)
			continue;
		for (unsigned b = 0; b < bytes; b++)
			key[b] = keys[b][c % BLOCK];
		if (misses) {
			const uint8_t *detour = detour_key(f, c);

			if (detour)
				memcpy(key, detour, bytes);
		}
		if (memcmp(key, f->key, KEY_BYTES))
			read_key(f, key);
		fill_column(f, c);
	}
}

/* Own LIDs leave by their own port. */
static void fill_own(const struct filler *f)
{
	const struct dest_index *dests = f->u->dests;
	uint32_t column = dests->column_of[f->s];

	for (uint32_t t = dests->first_target[column]; t < dests->first_target[column + 1]; t++)
		f->row[dests->targets[t].lid] = dests->targets[t].exit;
}

/* The common part of switches with the same divisor whose ways up have the same ports in the same
 * slots, live or dead. */
struct pattern {
	uint32_t divisor;
	uint8_t slots;
	uint8_t port[PORT_MAX + 1]; /* by slot; 0: not a single cable */
	uint8_t *slot;		    /* by target */
	uint8_t *row;		    /* by LID */
};

struct patterns {
	const struct updown *u;
	unsigned count;
	/* Of most switches in a tree; others have a table of their own. */
	struct pattern pattern[PATTERNS];
};

static void pattern_start(struct pattern *pattern, const struct updown *u, uint32_t s)
{
	const struct cabling *cabling = u->tree->cabling;
	const struct way *up = cabling_ways(cabling, s);

	*pattern = (struct pattern){.divisor = u->tree->divisor[s],
				    .slots = cabling->switches[s].slots};
	for (unsigned w = 0; w < cabling->switches[s].num_up; w++)
		if (up[w].num_ports == 1)
			pattern->port[up[w].slot] = cabling->ports[up[w].first_port].port;
}

static void pattern_fill(struct pattern *pattern, const struct updown *u)
{
	const struct dest_index *dests = u->dests;
	uint32_t count = dests->first_target[u->num];

	pattern->slot = mem_array(count + (size_t)1, 1);
	pattern->row = mem_alloc(u->snapshot->lid_top + (size_t)1);
	memset(pattern->row, LFT_NO_PORT, u->snapshot->lid_top + (size_t)1);
	for (uint32_t t = 0; t < count; t++) {
		const struct target *target = &dests->targets[t];
		uint32_t number = target->index / pattern->divisor + target->offset;

		pattern->slot[t] = (uint8_t)(number % pattern->slots);
		pattern->row[dests->lids[t]] = pattern->port[pattern->slot[t]];
	}
}

static void pattern_empty(struct pattern *pattern)
{
	free(pattern->slot);
	free(pattern->row);
}

static const struct pattern *find_pattern(const struct patterns *patterns,
					  const struct pattern *like)
{
	for (unsigned i = 0; i < patterns->count; i++) {
		const struct pattern *pattern = &patterns->pattern[i];

		if (pattern->divisor == like->divisor && pattern->slots == like->slots &&
		    !memcmp(pattern->port, like->port, sizeof(like->port)))
			return pattern;
	}
	return NULL;
}

static void find_patterns(const struct updown *u, struct patterns *patterns)
{
	patterns->u = u;
	patterns->count = 0;
	for (uint32_t s = 0; s < u->num && patterns->count < PATTERNS; s++) {
		struct pattern *next = &patterns->pattern[patterns->count];

		if (!u->tree->cabling->switches[s].slots)
			continue;
		pattern_start(next, u, s);
		if (find_pattern(patterns, next))
			continue;
		pattern_fill(next, u);
		patterns->count++;
	}
}

/* The row as if all ways up were allowed for each LID. */
static void fill_upwards(struct filler *f, const struct pattern *pattern)
{
	const struct updown *u = f->u;
	uint32_t count = u->dests->first_target[u->num];
	bool whole = true;

	memcpy(f->row, pattern->row, u->snapshot->lid_top + (size_t)1);
	for (unsigned slot = 0; slot < pattern->slots; slot++)
		whole = whole && f->port[slot];
	for (uint32_t t = 0; !whole && t < count; t++)
		if (!f->port[pattern->slot[t]])
			f->row[u->dests->lids[t]] =
				pick_up(f, &u->dests->targets[t], pattern->slot[t]);
}

static void fill_row(const struct patterns *patterns, uint32_t s)
{
	const struct updown *u = patterns->u;
	const struct cabling *cabling = u->tree->cabling;
	struct lft *row = lft_new(u->snapshot->lid_top);
	struct pattern own = {0};
	const struct pattern *pattern;
	struct filler f = {
		.u = u,
		.s = s,
		.sw = &cabling->switches[s],
		.ways = cabling_ways(cabling, s),
		.divisor = u->tree->divisor[s],
		.row = row->port,
		.pivot = NO_PIVOT,
	};

	for (unsigned w = 0; w < f.sw->num_up; w++)
		if (updown_usable(u, &f.ways[w]))
			f.all_up[w / 8] |= (uint8_t)(1u << w % 8);
	read_key(&f, f.all_up);
	if (f.count) {
		pattern_start(&own, u, s);
		pattern = find_pattern(patterns, &own);
		if (!pattern)
			pattern_fill(&own, u);
		f.slot = pattern ? pattern->slot : own.slot;
		fill_upwards(&f, pattern ? pattern : &own);
	}
	for (uint32_t b = 0; b < u->blocks; b++)
		fill_block(&f, b);
	fill_own(&f);
	u->routes->lft[s] = row;
	pattern_empty(&own);
}

static void fill_slice(void *arg, size_t begin, size_t end)
{
	const struct patterns *patterns = arg;

	for (size_t s = begin; s < end; s++)
		fill_row(patterns, (uint32_t)s);
}

static void fill_rows(const struct updown *u, struct work_pool *pool)
{
	struct patterns patterns;

	find_patterns(u, &patterns);
	work_parallel(pool, u->num, fill_slice, &patterns);
	for (unsigned i = 0; i < patterns.count; i++)
		pattern_empty(&patterns.pattern[i]);
}

static void drop_rows(struct routes *routes)
{
	for (uint32_t s = 0; s < routes->num_switches; s++) {
		lft_unref(routes->lft[s]);
		routes->lft[s] = NULL;
	}
	free(routes->order); /* the last pattern was for these */
	routes->order = NULL;
}

/* Whether every switch of a fabric has all ways up that it should have, and all are up. */
static bool sound(const struct updown *u)
{
	const struct cabling *cabling = u->tree->cabling;

	for (uint32_t s = 0; s < cabling->count; s++) {
		const struct way *up = cabling_ways(cabling, s);

		if (cabling->switches[s].num_up < cabling->switches[s].slots)
			return false;
		for (uint8_t w = 0; w < cabling->switches[s].num_up; w++)
			if (!updown_usable(u, &up[w]))
				return false;
	}
	return true;
}

static void note_heights(const struct updown *u, struct routes *routes)
{
	free(routes->height);
	routes->height = mem_array(u->num, sizeof(*routes->height));
	for (uint32_t i = 0; i < u->tree->cabling->count; i++)
		if (u->tree->order[i] < u->num)
			routes->height[u->tree->order[i]] = i;
}

/* Detours by the first pivots, by the healthiest, by one leaf, or none: the first variant without a
 * cycle of waiting links. In a fabric without faults one leaf suffices, and only the chain's
 * checker checks it. */
void updown_fill(struct updown *u, const struct route_judged *before, struct work_pool *pool,
		 struct routes *routes)
{
	static const struct {
		uint32_t most;
		bool healthiest;
	} pivots[] = {
		{UPDOWN_LEAF_PIVOTS, false}, {UPDOWN_LEAF_PIVOTS, true}, {1, true}, {0, false}};

	u->routes = routes;
	note_heights(u, routes);
	for (size_t i = 0; i < ARRAY_SIZE(pivots); i++) {
		struct credit_report report;

		updown_choose_pivots(u, pivots[i].most, pivots[i].healthiest);
		drop_rows(routes);
		fill_rows(u, pool);
		if (!pivots[i].most || sound(u))
			return;
		credit_prove(u->snapshot, routes, before, pool, &report);
		if (!report.loops)
			return;
	}
}
