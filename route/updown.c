/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up and down (updown.h), after Dmodc (Gliksberg and others, IEEE Micro 2020): closed arithmetic on
 * the number of a destination (places.h) picks a way, no counters are kept, so every switch's table
 * can be computed by itself and a fault moves only what has to move.
 *
 * The rule at a switch for a destination: if it can be reached by going down only, down, by the
 * shortest ways; else up, by ways on which the path is shortest. Since that depends on the switch
 * and the destination alone, and not on where a packet came from, no packet ever turns from down
 * to up, and with one VL there is no circle of links that wait for each other.
 *
 * Slots are kept: the number is divided among all ways up that the switch remembers, also dead
 * ones. Only a destination that falls on a dead way moves, to one of the live ways, by the next
 * digit of its number; all others stay, also when the way comes back.
 *
 * Detours: where destination d has no path up and down from some switches, these send to d as they
 * would to a pivot, a leaf from which d has one, until a switch is met that has a path to d of its
 * own. Turns from down to up then happen only on the way down to the pivot. That all detours share
 * few pivots keeps these turns from forming a circle; the checker for credit loops has to confirm
 * it, else the detours are given up.
 *
 * Distances are bytes in blocks of 64 columns, so that one step of the sweep over a level is a line
 * of cache and a few vector instructions. A worker does whole blocks.
 */
#include "route/updown.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/check.h"
#include "route/credit.h"

enum {
	BLOCK = 64,
	FAR = 0x80,  /* no path */
	PIVOTS = 16, /* leaves that are tried as pivots */
	NO_PIVOT = UINT32_MAX,
	KEY_BYTES = 32, /* a bit for each way */
};

struct updown {
	const struct snapshot *snapshot;
	const struct tree *tree;
	struct places *places;
	uint32_t num, blocks;
	uint8_t *down;	 /* hops by going down only; see cell() */
	uint8_t *hops;	 /* hops on the path that is taken */
	uint32_t *pivot; /* by column: that of its detours, or NO_PIVOT */
	uint8_t *missed; /* by column: whether some switch has no path to it */
	struct routes *routes;
};

/* The cells of a switch in a block of columns. Blocks are apart, so that a worker stays in one. */
static uint8_t *cells(const struct updown *u, uint8_t *matrix, uint32_t block, uint32_t s)
{
	return matrix + ((size_t)block * u->num + s) * BLOCK;
}

static uint8_t cell(const struct updown *u, uint8_t *matrix, uint32_t s, uint32_t column)
{
	return cells(u, matrix, column / BLOCK, s)[column % BLOCK];
}

/* Distances */

/* to = the lower of to and from + 1, column by column. FAR + 1 is no lower than FAR. */
static void relax(uint8_t *restrict to, const uint8_t *restrict from)
{
	for (unsigned i = 0; i < BLOCK; i++) {
		uint8_t next = from[i] + 1;

		to[i] = to[i] < next ? to[i] : next;
	}
}

static bool usable(const struct updown *u, const struct way *way)
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
		uint8_t *own = cells(u, u->down, block, s);

		if (s >= u->num)
			continue;
		memset(own, FAR, BLOCK);
		for (uint8_t w = 0; w < sw->num_down; w++)
			if (usable(u, &down[w]))
				relax(own, cells(u, u->down, block, down[w].peer));
		if (u->places->column_of[s] / BLOCK == block)
			own[u->places->column_of[s] % BLOCK] = 0;
	}
	for (uint32_t i = cabling->count; i-- > 0;) {
		uint32_t s = tree->order[i];
		const struct cabled_switch *sw = &cabling->switches[s];
		const struct way *up = cabling_ways(cabling, s);
		const uint8_t *down = cells(u, u->down, block, s);
		uint8_t *own = cells(u, u->hops, block, s);

		if (s >= u->num)
			continue;
		memset(own, FAR, BLOCK);
		for (uint8_t w = 0; w < sw->num_up; w++)
			if (usable(u, &up[w]))
				relax(own, cells(u, u->hops, block, up[w].peer));
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
	u->places = places_new(snapshot, tree);
	tree_set_divisors(tree, u->places->indexes);
	u->num = snapshot->num_switches;
	u->blocks = (u->num + BLOCK - 1) / BLOCK;
	columns = (size_t)u->blocks * BLOCK;
	u->down = mem_alloc(columns * u->num);
	u->hops = mem_alloc(columns * u->num);
	u->missed = mem_array(columns, 1);
	u->pivot = mem_array(columns, sizeof(*u->pivot));
	work_parallel(pool, u->blocks, measure_slice, u);
	return u;
}

void updown_free(struct updown *u)
{
	places_free(u->places);
	free(u->pivot);
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
		for (uint32_t c = 0; switches[s].hosts && c < u->num; c++) {
			uint32_t to = u->places->switch_of[c];

			if (to == s || !switches[to].hosts || island[s] != island[to])
				continue;
			all++;
			far += cell(u, u->hops, s, c) >= FAR;
		}
	}
	free(island);
	*pairs = all;
	*without = far;
}

/* Detours */

/* Columns of leaves in the order in which they are tried as pivots: some brothers, so that a fault
 * at the first one changes little, then some from everywhere, then all others. Returns how many. */
static uint32_t order_pivots(const struct updown *u, uint32_t *order)
{
	enum { BROTHERS = 8, SPREAD = 8 };
	uint32_t leaves = 0, count = 0, *all = mem_array(u->num, sizeof(*all));
	uint8_t *taken = mem_array(u->num, 1);

	for (uint32_t c = 0; c < u->num; c++)
		if (u->snapshot->switches[u->places->switch_of[c]].hosts)
			all[leaves++] = c;
	for (uint32_t i = 0; i < BROTHERS + SPREAD + leaves; i++) {
		uint32_t at = i < BROTHERS ? i : i - BROTHERS - SPREAD;

		if (i >= BROTHERS && i < BROTHERS + SPREAD)
			at = (uint32_t)((uint64_t)(i - BROTHERS + 1) * leaves / (SPREAD + 1));
		if (at >= leaves || taken[at])
			continue;
		taken[at] = 1;
		order[count++] = all[at];
	}
	free(taken);
	free(all);
	return count;
}

/* Whether all that have no path to a column's switch, though links lead there, have one to the
 * pivot, and the pivot has one to it. */
static bool serves(const struct updown *u, const uint32_t *island, uint32_t column, uint32_t pivot)
{
	uint32_t to = u->places->switch_of[column];

	if (cell(u, u->hops, u->places->switch_of[pivot], column) >= FAR)
		return false;
	for (uint32_t s = 0; s < u->num; s++)
		if (cell(u, u->hops, s, column) >= FAR && island[s] == island[to] &&
		    cell(u, u->hops, s, pivot) >= FAR)
			return false;
	return true;
}

/* Gives each column that needs one the first pivot of most in its island that serves it. Returns
 * how many different ones there are. */
static uint32_t choose_pivots(struct updown *u, uint32_t most)
{
	uint32_t *order = mem_array(u->num, sizeof(*order));
	uint32_t *island = route_islands(u->snapshot);
	uint8_t *used = mem_array(u->num, 1);
	uint32_t count = order_pivots(u, order), different = 0;

	for (uint32_t c = 0; c < u->num; c++) {
		uint32_t home = island[u->places->switch_of[c]], tries = 0;

		u->pivot[c] = NO_PIVOT;
		for (uint32_t i = 0; u->missed[c] && i < count && tries < most; i++) {
			if (island[u->places->switch_of[order[i]]] != home)
				continue;
			tries++;
			if (!serves(u, island, c, order[i]))
				continue;
			u->pivot[c] = order[i];
			different += !used[order[i]];
			used[order[i]] = 1;
			break;
		}
	}
	free(used);
	free(island);
	free(order);
	return different;
}

/* Tables */

/* What is needed to fill the row of one switch. */
struct filler {
	const struct updown *u;
	uint32_t s;
	const struct cabled_switch *sw;
	const struct way *ways;
	uint32_t divisor;
	uint8_t *row;
	bool plain;		    /* every way up has one cable, and that is live */
	uint8_t port[PORT_MAX + 1]; /* then: that of each way up */
	uint8_t set[PORT_MAX + 1];  /* ways that may be taken, and their number: see read_key() */
	unsigned count;
	bool ups;	     /* they lead up */
	const uint8_t *slot; /* by target: its way up of all that there ever were */
};

/* For each column of a block a bit for each way that may be taken: key[way / 8][column]. */
static void make_keys(const struct filler *f, uint32_t block, uint8_t key[KEY_BYTES][BLOCK])
{
	const struct updown *u = f->u;
	const uint8_t *down = cells(u, u->down, block, f->s);
	const uint8_t *hops = cells(u, u->hops, block, f->s);
	unsigned ways = f->sw->num_up + f->sw->num_down;

	memset(key, 0, (ways + 7) / 8 * BLOCK);
	for (unsigned w = 0; w < ways; w++) {
		const struct way *way = &f->ways[w];
		bool up = w < f->sw->num_up;
		uint8_t *restrict bits = key[w / 8];
		const uint8_t *restrict far, *restrict near = up ? hops : down;
		uint8_t bit = (uint8_t)(1u << w % 8);

		if (!usable(u, way))
			continue;
		far = cells(u, up ? u->hops : u->down, block, way->peer);
		/* Down is taken where down is below FAR, up where it is not. */
		for (unsigned c = 0; c < BLOCK; c++) {
			uint8_t next = far[c] + 1;
			uint8_t mine = (down[c] >> 7 ^ !up) & (next == near[c]);

			bits[c] |= (uint8_t)-mine & bit;
		}
	}
}

/* The same for one switch and one column. */
static void make_key(const struct filler *f, uint32_t column, uint8_t key[KEY_BYTES])
{
	const struct updown *u = f->u;
	bool ups = cell(u, u->down, f->s, column) >= FAR;
	unsigned first = ups ? 0 : f->sw->num_up;
	unsigned end = ups ? f->sw->num_up : first + f->sw->num_down;
	uint8_t *matrix = ups ? u->hops : u->down;

	memset(key, 0, KEY_BYTES);
	for (unsigned w = first; w < end; w++)
		if (usable(u, &f->ways[w]) &&
		    cell(u, matrix, f->ways[w].peer, column) + 1 == cell(u, matrix, f->s, column))
			key[w / 8] |= (uint8_t)(1u << w % 8);
}

static void read_key(struct filler *f, const uint8_t *key)
{
	unsigned ways = f->sw->num_up + f->sw->num_down;

	f->count = 0;
	for (unsigned w = 0; w < ways; w++)
		if (key[w / 8] >> w % 8 & 1)
			f->set[f->count++] = (uint8_t)w;
	f->ups = f->count && f->set[0] < f->sw->num_up;
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

static uint8_t pick_up(const struct filler *f, const struct target *target, uint8_t slot)
{
	uint32_t number = target->index / f->divisor + target->offset;
	uint32_t next = number / f->sw->slots;

	for (unsigned i = 0; i < f->count; i++)
		if (f->ways[f->set[i]].slot == slot)
			return pick_port(f, &f->ways[f->set[i]], next);
	return pick_port(f, &f->ways[f->set[next % f->count]], next / f->count);
}

static uint8_t pick_down(const struct filler *f, const struct target *target)
{
	uint32_t number = target->index / f->divisor + target->offset;

	return pick_port(f, &f->ways[f->set[number % f->count]], number / f->count);
}

/* The entries of a column's LIDs, by the ways in f->set. */
static void fill_column(const struct filler *f, uint32_t column)
{
	const struct places *places = f->u->places;
	uint32_t end = places->first_target[column + 1];

	for (uint32_t t = places->first_target[column]; f->count && t < end; t++) {
		const struct target *target = &places->targets[t];

		if (!f->ups)
			f->row[target->lid] = pick_down(f, target);
		else if (f->plain && f->count == f->sw->slots)
			f->row[target->lid] = f->port[f->slot[t]];
		else
			f->row[target->lid] = pick_up(f, target, f->slot[t]);
	}
}

/* Own LIDs leave by their own port; all others as their column's key says, or the pivot's. */
static void fill_block(struct filler *f, uint32_t block)
{
	const struct updown *u = f->u;
	unsigned bytes = (f->sw->num_up + f->sw->num_down + 7u) / 8;
	uint8_t keys[KEY_BYTES][BLOCK], key[KEY_BYTES], last[KEY_BYTES] = {0};

	make_keys(f, block, keys);
	f->count = 0;
	for (uint32_t c = block * BLOCK; c < (block + 1) * BLOCK && c < u->num; c++) {
		if (u->places->switch_of[c] == f->s)
			continue;
		for (unsigned b = 0; b < bytes; b++)
			key[b] = keys[b][c % BLOCK];
		if (u->pivot[c] != NO_PIVOT && cell(u, u->hops, f->s, c) >= FAR)
			make_key(f, u->pivot[c], key);
		if (memcmp(key, last, bytes)) {
			read_key(f, key);
			memcpy(last, key, bytes);
		}
		fill_column(f, c);
	}
}

static void fill_own(const struct filler *f)
{
	const struct places *places = f->u->places;
	uint32_t column = places->column_of[f->s];

	for (uint32_t t = places->first_target[column]; t < places->first_target[column + 1]; t++)
		f->row[places->targets[t].lid] = places->targets[t].exit;
}

/* The slots of switches with the same divisor and the same number of ways up are the same. */
struct slots {
	uint32_t divisor;
	uint8_t ups;
	uint8_t *slot;
};

static void make_slots(const struct updown *u, const struct filler *f, struct slots *slots)
{
	uint32_t count = u->places->first_target[u->num];

	if (slots->divisor == f->divisor && slots->ups == f->sw->slots)
		return;
	slots->divisor = f->divisor;
	slots->ups = f->sw->slots;
	for (uint32_t t = 0; slots->ups && t < count; t++) {
		const struct target *target = &u->places->targets[t];

		slots->slot[t] =
			(uint8_t)((target->index / f->divisor + target->offset) % slots->ups);
	}
}

static void fill_row(const struct updown *u, uint32_t s, struct slots *slots)
{
	const struct cabling *cabling = u->tree->cabling;
	struct lft *row = lft_new(u->snapshot->lid_top);
	struct filler f = {
		.u = u,
		.s = s,
		.sw = &cabling->switches[s],
		.ways = cabling_ways(cabling, s),
		.divisor = u->tree->divisor[s],
		.row = row->port,
		.plain = true,
		.slot = slots->slot,
	};

	make_slots(u, &f, slots);
	for (unsigned w = 0; w < f.sw->num_up; w++) {
		f.plain &= f.ways[w].num_ports == 1 && f.ways[w].num_live == 1;
		f.port[f.ways[w].slot] =
			f.ways[w].num_ports ? cabling->ports[f.ways[w].first_port].port : 0;
	}
	for (uint32_t b = 0; b < u->blocks; b++)
		fill_block(&f, b);
	fill_own(&f);
	u->routes->lft[s] = row;
}

/* In the order of the tree, so that neighbours share their slots. */
static void fill_slice(void *arg, size_t begin, size_t end)
{
	const struct updown *u = arg;
	struct slots slots = {.slot = mem_array(u->snapshot->lid_top + 1u, 1)};

	for (size_t i = begin; i < end; i++)
		if (u->tree->order[i] < u->num)
			fill_row(u, u->tree->order[i], &slots);
	free(slots.slot);
}

static void drop_rows(struct routes *routes)
{
	for (uint32_t s = 0; s < routes->num_switches; s++) {
		lft_unref(routes->lft[s]);
		routes->lft[s] = NULL;
	}
}

/* Detours by any pivot, by one for each island, or none: the first that lets no links wait in a
 * circle. One pivot alone makes no such circle in any tree; the chain's checker sees to it. */
void updown_fill(struct updown *u, struct work_pool *pool, struct routes *routes)
{
	static const uint32_t most[] = {PIVOTS, 1, 0};

	u->routes = routes;
	for (size_t i = 0; i < ARRAY_SIZE(most); i++) {
		struct credit_report report;
		uint32_t different = choose_pivots(u, most[i]);

		drop_rows(routes);
		work_parallel(pool, u->tree->cabling->count, fill_slice, u);
		if (different <= 1)
			return;
		credit_check(u->snapshot, routes, pool, &report);
		if (!report.loops)
			return;
	}
}
