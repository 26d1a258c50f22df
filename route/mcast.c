/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two counts at each switch on the ways to the root decide which ways a group needs: the number of
 * members below it, and the number of receivers among them. A switch sends up if there is a
 * receiver that is not below it. Its parent sends down to it if there is a receiver below it and a
 * sender elsewhere. So the part above the last branch is cut off, and members that only send get
 * ways on which nothing is delivered.
 *
 * Roots: those that serve the most members, among these roots to which all members climb. Then, if
 * heights count, roots that would serve any host, so that the root can stay when others join; then
 * those nearest to the farthest member. Then a hash of MLID and GUID decides, which distributes
 * groups over equally good switches.
 */
#include "route/mcast.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { DEPTH_NONE = UINT8_MAX, DEPTH_UNSEEN = UINT8_MAX - 1, DEPTH_MAX = UINT8_MAX - 2 };

struct mcast_ways {
	const struct snapshot *snapshot;
	const struct routes *routes;
	uint32_t num;
	uint8_t *depth;	    /* [root * num + switch] */
	uint8_t *farthest;  /* by root: the deepest switch with hosts */
	bool *serves_any;   /* by root: every switch with hosts has a way to it */
	uint16_t *cap;	    /* by switch: entries of its table */
	uint16_t least_cap; /* of switches with entries */
	bool climbing;	    /* every link of a way leads to a higher switch */
	/* The same with any ways; NULL: these are already, or there is a root to which all hosts
	 * climb. */
	struct mcast_ways *straying;
};

/* Depths */

static bool climbs(const struct mcast_ways *ways, uint32_t from, uint32_t to)
{
	return !ways->climbing || ways->routes->height[to] > ways->routes->height[from];
}

/* The next switch; -1: packets of a group may not go there. */
static int32_t mcast_step(const struct mcast_ways *ways, uint32_t root, uint32_t sw, uint8_t *port)
{
	const struct snapshot *snapshot = ways->snapshot;
	uint8_t out = lft_port(ways->routes->lft[sw], snapshot->switches[root].lid);
	int32_t next;

	if (!out || out > snapshot->switches[sw].num_ports)
		return -1;
	next = snap_link(snapshot, sw, out)->sw;
	if (next < 0 || (uint32_t)next == sw || !ways->cap[next] ||
	    !climbs(ways, sw, (uint32_t)next))
		return -1;
	*port = out;
	return next;
}

/* Follows the way to the first switch with a known depth, and back. */
static void find_depth(const struct mcast_ways *ways, uint32_t root, uint32_t sw, uint8_t *row,
		       uint32_t *way)
{
	uint32_t length = 0;
	uint8_t port, depth;
	int32_t at = (int32_t)sw;

	while (at >= 0 && row[at] == DEPTH_UNSEEN && length <= DEPTH_MAX) {
		way[length++] = (uint32_t)at;
		at = ways->cap[at] ? mcast_step(ways, root, (uint32_t)at, &port) : -1;
	}
	depth = at < 0 || length > DEPTH_MAX ? DEPTH_NONE : row[at];
	while (length > 0) {
		depth = depth < DEPTH_MAX ? depth + 1 : DEPTH_NONE;
		row[way[--length]] = depth;
	}
}

static void find_depths(void *arg, size_t begin, size_t end)
{
	struct mcast_ways *ways = arg;
	uint32_t way[DEPTH_MAX + 2];

	for (size_t root = begin; root < end; root++) {
		uint8_t *row = ways->depth + root * ways->num;

		memset(row, DEPTH_UNSEEN, ways->num);
		row[root] = ways->cap[root] && ways->snapshot->switches[root].lid ? 0 : DEPTH_NONE;
		ways->serves_any[root] = true;
		for (uint32_t sw = 0; sw < ways->num; sw++) {
			find_depth(ways, (uint32_t)root, sw, row, way);
			if (!ways->snapshot->switches[sw].hosts || !ways->cap[sw])
				continue;
			ways->serves_any[root] &= row[sw] != DEPTH_NONE;
			if (row[sw] != DEPTH_NONE && row[sw] > ways->farthest[root])
				ways->farthest[root] = row[sw];
		}
	}
}

/* Without facts (snapshots of tests) tables have the maximum size. */
static void find_caps(struct mcast_ways *ways)
{
	ways->least_cap = UINT16_MAX;
	for (uint32_t sw = 0; sw < ways->num; sw++) {
		const struct node_facts *facts = ways->snapshot->switches[sw].facts;

		ways->cap[sw] = facts ? facts->sw.multicast_fdb_cap : UINT16_MAX;
		if (ways->cap[sw] && ways->cap[sw] < ways->least_cap)
			ways->least_cap = ways->cap[sw];
	}
}

static struct mcast_ways *ways_new(const struct snapshot *snapshot, const struct routes *routes,
				   bool climbing, struct work_pool *pool)
{
	struct mcast_ways *ways = mem_zalloc(sizeof(*ways));

	ways->snapshot = snapshot;
	ways->routes = routes;
	ways->climbing = climbing;
	ways->num = snapshot->num_switches;
	ways->depth = mem_alloc((size_t)ways->num * ways->num + 1);
	ways->farthest = mem_array(ways->num, sizeof(*ways->farthest));
	ways->serves_any = mem_array(ways->num, sizeof(*ways->serves_any));
	ways->cap = mem_array(ways->num, sizeof(*ways->cap));
	find_caps(ways);
	work_parallel(pool, ways->num, find_depths, ways);
	return ways;
}

struct mcast_ways *mcast_ways_new(const struct snapshot *snapshot, const struct routes *routes,
				  struct work_pool *pool)
{
	struct mcast_ways *ways = ways_new(snapshot, routes, routes->height != NULL, pool);
	bool serves_any = !ways->climbing;

	for (uint32_t root = 0; root < ways->num && !serves_any; root++)
		serves_any = ways->serves_any[root];
	if (!serves_any)
		ways->straying = ways_new(snapshot, routes, false, pool);
	return ways;
}

void mcast_ways_free(struct mcast_ways *ways)
{
	if (!ways)
		return;
	mcast_ways_free(ways->straying);
	free(ways->depth);
	free(ways->farthest);
	free(ways->serves_any);
	free(ways->cap);
	free(ways);
}

static uint8_t depth_of(const struct mcast_ways *ways, uint32_t root, uint32_t sw)
{
	return ways->depth[(size_t)root * ways->num + sw];
}

static int32_t parent_of(const struct mcast_ways *ways, uint32_t root, uint32_t sw, uint8_t *port)
{
	uint8_t depth = depth_of(ways, root, sw);

	return depth && depth != DEPTH_NONE ? mcast_step(ways, root, sw, port) : -1;
}

int32_t mcast_parent(const struct mcast_ways *ways, const struct mcast_tree *tree, uint32_t sw,
		     uint8_t *port)
{
	if (tree->root < 0)
		return -1;
	return parent_of(tree->strays ? ways->straying : ways, (uint32_t)tree->root, sw, port);
}

/* One group at a time */

struct site {			       /* a switch on the ways of a group */
	uint32_t members, receivers;   /* at the switch itself */
	uint32_t below, receive_below; /* at it and at all switches whose ways lead through it */
	uint32_t seen;		       /* the group of these members */
	uint16_t ports[MFT_POSITIONS];
};

struct drawing {
	const struct mcast_ways *ways;
	struct site *sites;
	uint32_t *list; /* of sites in use; first those of members */
	uint32_t count, own;
	uint32_t number; /* of the group */
};

static struct site *site_at(struct drawing *drawing, uint32_t sw)
{
	struct site *site = &drawing->sites[sw];

	if (site->seen == drawing->number)
		return site;
	*site = (struct site){.seen = drawing->number};
	drawing->list[drawing->count++] = sw;
	return site;
}

static void set_port(struct site *site, uint8_t port)
{
	site->ports[port / MFT_POSITION_PORTS] |= (uint16_t)(1 << port % MFT_POSITION_PORTS);
}

/* Whether every switch of the way has room for an entry of this MLID. */
static bool way_has_room(const struct mcast_ways *ways, lid_t mlid, uint32_t root, uint32_t sw)
{
	uint16_t entry = mlid - LID_MULTICAST_MIN;
	int32_t at = (int32_t)sw;
	uint8_t port;

	if (entry < ways->least_cap)
		return true;
	for (; at >= 0; at = parent_of(ways, root, (uint32_t)at, &port)) {
		if (ways->cap[at] <= entry)
			return false;
	}
	return true;
}

static bool serves(const struct mcast_ways *ways, lid_t mlid, uint32_t root, uint32_t sw)
{
	return depth_of(ways, root, sw) != DEPTH_NONE && way_has_room(ways, mlid, root, sw);
}

/* Roots */

struct merit {
	uint32_t root, served, kept;
	bool serves_any;
	uint8_t farthest;
	uint64_t hash;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool is_better(const struct merit *a, const struct merit *b)
{
	if (a->served != b->served)
		return a->served > b->served;
	if (a->kept != b->kept)
		return a->kept > b->kept;
	if (a->serves_any != b->serves_any)
		return a->serves_any;
	if (a->farthest != b->farthest)
		return a->farthest < b->farthest;
	return a->hash > b->hash;
}

static bool mcast_is_held(const struct mcast_group *group, uint32_t sw, uint8_t port)
{
	uint8_t position = port / MFT_POSITION_PORTS;
	size_t low = 0, high = group->num_held;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mcast_mask *held = &group->held[middle];

		if (held->sw == sw && held->position == position)
			return held->ports >> port % MFT_POSITION_PORTS & 1;
		if (held->sw < sw || (held->sw == sw && held->position < position))
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Links on the way of a member's switch that are in the tables already. */
static uint32_t count_held(const struct mcast_ways *ways, const struct mcast_group *group,
			   uint32_t root, uint32_t sw)
{
	uint32_t count = 0;
	int32_t at = (int32_t)sw;
	uint8_t port;

	while ((at = parent_of(ways, root, sw, &port)) >= 0 && mcast_is_held(group, sw, port)) {
		count++;
		sw = (uint32_t)at;
	}
	return count;
}

static void judge_root(const struct drawing *drawing, const struct mcast_group *group,
		       uint32_t root, struct merit *out)
{
	const struct mcast_ways *ways = drawing->ways;

	*out = (struct merit){.root = root};
	for (uint32_t i = 0; i < drawing->own; i++) {
		uint32_t sw = drawing->list[i];
		uint8_t depth = depth_of(ways, root, sw);

		if (!serves(ways, group->mlid, root, sw))
			continue;
		out->served += drawing->sites[sw].members;
		if (depth > out->farthest)
			out->farthest = depth;
		if (group->num_held)
			out->kept += count_held(ways, group, root, sw);
	}
	/* Future members are unknown, and with a single switch no root is nearer than another. */
	if (drawing->own < 2)
		out->farthest = ways->farthest[root];
	out->serves_any = ways->climbing && ways->serves_any[root];
	out->hash = mix(ways->snapshot->switches[root].guid + mix(group->mlid));
}

/* A group keeps its root while no other serves more members. */
static int32_t choose_root(const struct drawing *drawing, const struct mcast_group *group,
			   uint32_t *served)
{
	struct merit present = {0}, best = {0}, merit;

	if (group->root >= 0)
		judge_root(drawing, group, (uint32_t)group->root, &present);
	*served = present.served;
	if (group->num_members && present.served == group->num_members)
		return group->root;
	for (uint32_t root = 0; root < drawing->ways->num; root++) {
		judge_root(drawing, group, root, &merit);
		if (is_better(&merit, &best))
			best = merit;
	}
	*served = best.served;
	if (!best.served)
		return -1;
	return present.served == best.served ? group->root : (int32_t)best.root;
}

/* Masks */

static void add_members(struct drawing *drawing, struct mcast_group *group)
{
	for (size_t i = 0; i < group->num_members; i++) {
		const struct mcast_member *member = &group->members[i];
		struct site *site = site_at(drawing, member->sw);

		site->members++;
		site->receivers += !member->sends_only;
	}
	drawing->own = drawing->count;
}

static uint32_t mark_left_out(const struct drawing *drawing, struct mcast_group *group,
			      int32_t root)
{
	uint32_t count = 0;

	for (size_t i = 0; i < group->num_members; i++) {
		struct mcast_member *member = &group->members[i];

		member->left_out =
			root < 0 || !serves(drawing->ways, group->mlid, (uint32_t)root, member->sw);
		count += member->left_out;
		if (!member->left_out && !member->sends_only)
			set_port(&drawing->sites[member->sw], member->port);
	}
	return count;
}

/* Counts the members below each switch; returns the number of members, and of receivers. */
static uint32_t count_below(struct drawing *drawing, const struct mcast_group *group, uint32_t root,
			    uint32_t *receivers)
{
	uint32_t members = 0;

	*receivers = 0;
	for (uint32_t i = 0; i < drawing->own; i++) {
		uint32_t sw = drawing->list[i];
		struct site here = drawing->sites[sw];
		int32_t at = (int32_t)sw;
		uint8_t port;

		if (!serves(drawing->ways, group->mlid, root, sw))
			continue;
		members += here.members;
		*receivers += here.receivers;
		for (; at >= 0; at = parent_of(drawing->ways, root, (uint32_t)at, &port)) {
			struct site *site = site_at(drawing, (uint32_t)at);

			site->below += here.members;
			site->receive_below += here.receivers;
		}
	}
	return members;
}

static void draw_links(struct drawing *drawing, uint32_t root, uint32_t members, uint32_t receivers)
{
	for (uint32_t i = 0; i < drawing->count; i++) {
		uint32_t sw = drawing->list[i];
		struct site *site = &drawing->sites[sw];
		uint8_t port;
		int32_t parent = site->below ? parent_of(drawing->ways, root, sw, &port) : -1;

		if (parent < 0)
			continue;
		if (receivers > site->receive_below)
			set_port(site, port);
		if (site->receive_below && members > site->below)
			set_port(&drawing->sites[parent],
				 snap_link(drawing->ways->snapshot, sw, port)->port);
	}
}

static int by_index(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static void write_masks(struct drawing *drawing, struct mcast_tree *tree)
{
	size_t room = 0;

	qsort(drawing->list, drawing->count, sizeof(*drawing->list), by_index);
	for (uint32_t i = 0; i < drawing->count; i++)
		for (uint8_t p = 0; p < MFT_POSITIONS; p++)
			room += drawing->sites[drawing->list[i]].ports[p] != 0;
	tree->masks = mem_array(room, sizeof(*tree->masks));
	for (uint32_t i = 0; i < drawing->count; i++) {
		const struct site *site = &drawing->sites[drawing->list[i]];

		for (uint8_t p = 0; p < MFT_POSITIONS; p++)
			if (site->ports[p])
				tree->masks[tree->num_masks++] =
					(struct mcast_mask){drawing->list[i], p, site->ports[p]};
	}
}

static void plant(struct drawing *drawing, const struct mcast_group *group, struct mcast_tree *tree)
{
	const struct mcast_ways *ways = drawing->ways;
	uint32_t served, more;
	int32_t other;

	tree->root = choose_root(drawing, group, &served);
	if (served == group->num_members || !ways->straying)
		return;
	drawing->ways = ways->straying;
	other = choose_root(drawing, group, &more);
	tree->strays = more > served;
	if (tree->strays)
		tree->root = other;
	else
		drawing->ways = ways;
}

static void mcast_draw_tree(struct drawing *drawing, struct mcast_group *group,
			    struct mcast_tree *tree)
{
	uint32_t members, receivers;

	drawing->number++;
	drawing->count = drawing->own = 0;
	add_members(drawing, group);
	*tree = (struct mcast_tree){.root = -1};
	plant(drawing, group, tree);
	tree->left_out = mark_left_out(drawing, group, tree->root);
	if (tree->root < 0)
		return;
	members = count_below(drawing, group, (uint32_t)tree->root, &receivers);
	draw_links(drawing, (uint32_t)tree->root, members, receivers);
	write_masks(drawing, tree);
}

struct batch {
	const struct mcast_ways *ways;
	struct mcast_group *groups;
	struct mcast_tree *trees;
};

static void draw_slice(void *arg, size_t begin, size_t end)
{
	struct batch *batch = arg;
	struct drawing drawing = {.ways = batch->ways};

	drawing.sites = mem_array(batch->ways->num, sizeof(*drawing.sites));
	drawing.list = mem_array(batch->ways->num, sizeof(*drawing.list));
	for (size_t i = begin; i < end; i++) {
		drawing.ways = batch->ways;
		mcast_draw_tree(&drawing, &batch->groups[i], &batch->trees[i]);
	}
	free(drawing.sites);
	free(drawing.list);
}

void mcast_trees(const struct mcast_ways *ways, struct mcast_group *groups, size_t count,
		 struct work_pool *pool, struct mcast_tree *trees)
{
	struct batch batch = {.ways = ways, .groups = groups, .trees = trees};

	work_parallel(pool, count, draw_slice, &batch);
}
