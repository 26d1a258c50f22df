/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast trees (route/mcast.h) on many fabrics. A packet from a member or a send-only member
 * reaches each receiver once, no other host, and no switch twice. Trees go up and then down where
 * ranks count. Roots are spread and stay. A joining or leaving member changes its own branch only.
 * Packets are followed through the masks here, by code that knows no tree.
 */
#include <string.h>

#include "lib/loop.h"
#include "route/engine.h"
#include "route/mcast.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

enum { MLID = 0xC005, MEMBERS_MAX = 128, SWITCHES_MAX = 512, EVERY_SENDER = 5 };

struct bed {
	struct snapshot *snapshot;
	struct routes *routes;
	struct mcast_ways *ways;
	uint64_t random;
};

static uint32_t draw_number(struct bed *bed, uint32_t below)
{
	bed->random = bed->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(bed->random >> 33) % below;
}

static void bed_route(struct bed *bed, const char *engine)
{
	char why[ROUTE_WHY_SIZE] = "";

	mcast_ways_free(bed->ways);
	routes_unref(bed->routes);
	bed->routes = routes_new(1, bed->snapshot->num_switches, engine);
	if (route_engine_find(engine)->compute(bed->snapshot, NULL, NULL, bed->routes, why)) {
		CU_FAIL_FATAL("refused");
	}
	bed->ways = mcast_ways_new(bed->snapshot, bed->routes, NULL);
}

static void bed_begin(struct bed *bed, const char *spec, const char *engine)
{
	*bed = (struct bed){.snapshot = snapshot_from_spec(spec, 0), .random = 7};
	CU_ASSERT_FATAL(bed->snapshot->num_switches <= SWITCHES_MAX);
	bed_route(bed, engine);
}

static void bed_end(struct bed *bed)
{
	mcast_ways_free(bed->ways);
	routes_unref(bed->routes);
	snapshot_unref(bed->snapshot);
}

/* The switch and port of an end. */
static struct mcast_member member_of(const struct bed *bed, uint32_t end)
{
	const struct snap_end *at = &bed->snapshot->ends[end];

	return (struct mcast_member){.sw = (uint32_t)at->sw, .port = at->sw_port};
}

/* Different ends, every fifth of them only sends. */
static size_t choose_members(struct bed *bed, size_t count, struct mcast_member *members)
{
	uint32_t num = bed->snapshot->num_ends, first = draw_number(bed, num), step = num / 2 + 1;
	size_t made = 0;

	while (num % step == 0 || (num % 2 == 0 && step % 2 == 0) ||
	       (num % 3 == 0 && step % 3 == 0))
		step++;
	for (uint32_t i = 0; i < num && made < count; i++) {
		members[made] = member_of(bed, (uint32_t)((first + (uint64_t)i * step) % num));
		members[made].sends_only = made % EVERY_SENDER == EVERY_SENDER - 1;
		made++;
	}
	return made;
}

static uint16_t mask_at(const struct mcast_tree *tree, uint32_t sw, uint8_t position)
{
	for (size_t i = 0; i < tree->num_masks; i++) {
		if (tree->masks[i].sw == sw && tree->masks[i].position == position)
			return tree->masks[i].ports;
	}
	return 0;
}

struct flood {
	const struct bed *bed;
	const struct mcast_tree *tree;
	unsigned visits[SWITCHES_MAX];
	unsigned got, twice; /* end ports; switches that it came to again */
	bool descended;
};

static void pass(struct flood *flood, uint32_t sw, uint8_t in, bool climbed)
{
	const struct snapshot *snapshot = flood->bed->snapshot;
	const uint32_t *height = flood->bed->routes->height;

	if (flood->visits[sw]++) {
		flood->twice++;
		return;
	}
	for (unsigned p = 0; p <= snapshot->switches[sw].num_ports; p++) {
		const struct snap_link *link = snap_link(snapshot, sw, (uint8_t)p);

		if (p == in || !(mask_at(flood->tree, sw, (uint8_t)(p / 16)) >> p % 16 & 1))
			continue;
		if (link->sw < 0) {
			flood->got++;
			continue;
		}
		if (height && height[link->sw] > height[sw] && !climbed)
			flood->descended = true; /* and climbs again */
		pass(flood, (uint32_t)link->sw, link->port,
		     climbed && (!height || height[link->sw] > height[sw]));
	}
}

static void check_tree(const struct bed *bed, const struct mcast_member *members, size_t count,
		       const struct mcast_tree *tree)
{
	unsigned receivers = 0;

	CU_ASSERT_EQUAL(tree->left_out, 0);
	for (size_t i = 0; i < count; i++)
		receivers += !members[i].sends_only;
	for (size_t i = 0; i < count; i++) {
		struct flood flood = {.bed = bed, .tree = tree};

		pass(&flood, members[i].sw, members[i].port, true);
		CU_ASSERT_EQUAL(flood.twice, 0);
		CU_ASSERT(tree->strays || !flood.descended);
		CU_ASSERT_EQUAL(flood.got, receivers - !members[i].sends_only);
	}
}

static struct mcast_tree tree_of(const struct bed *bed, lid_t mlid, int32_t root,
				 struct mcast_member *members, size_t count)
{
	struct mcast_group group = {
		.mlid = mlid, .root = root, .members = members, .num_members = count};
	struct mcast_tree tree;

	mcast_trees(bed->ways, &group, 1, NULL, &tree);
	return tree;
}

static const struct {
	const char *spec, *engine;
	bool may_stray;
} fabrics[] = {
	{"single:hosts=8", "minhop", false},
	{"fattree:radix=8,levels=2", "ftree", false},
	{"fattree:radix=8,levels=3", "ftree", false},
	{"fattree:radix=8,levels=3", "updn", false},
	{"fattree:radix=8,levels=3", "minhop", false},
	{"fattree:radix=36,levels=2", "ftree", false}, /* ports in three positions */
	{"torus:dims=4x4x2,hosts=2", "minhop", false},
	{"torus:dims=4x4x2,hosts=2", "updn", false},
	{"dragonfly:a=4,h=2,p=2", "dnup", true},
	{"random:switches=50,degree=6,hosts=4,seed=1", "updn", false},
	{"random:switches=50,degree=6,hosts=4,seed=1", "minhop", false},
};

static void test_each_member_once(void)
{
	static const size_t sizes[] = {1, 2, 3, 7, 20, MEMBERS_MAX};
	struct mcast_member members[MEMBERS_MAX];

	for (size_t f = 0; f < ARRAY_SIZE(fabrics); f++) {
		struct bed bed;

		bed_begin(&bed, fabrics[f].spec, fabrics[f].engine);
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			size_t count = choose_members(&bed, sizes[i], members);
			struct mcast_tree tree = tree_of(&bed, MLID, -1, members, count);

			check_tree(&bed, members, count, &tree);
			CU_ASSERT(fabrics[f].may_stray || !tree.strays);
			free(tree.masks);
		}
		bed_end(&bed);
	}
}

/* A switch itself as a member, by its port 0. */
static void test_port_0(void)
{
	struct mcast_member members[2];
	struct mcast_tree tree;
	struct bed bed;

	bed_begin(&bed, "fattree:radix=8,levels=2", "ftree");
	members[0] = member_of(&bed, 0);
	members[1] = (struct mcast_member){.sw = members[0].sw};
	tree = tree_of(&bed, MLID, -1, members, 2);
	CU_ASSERT_EQUAL(tree.num_masks, 1);
	CU_ASSERT_EQUAL(mask_at(&tree, members[0].sw, 0), 1 | 1 << members[0].port);
	free(tree.masks);
	bed_end(&bed);
}

static size_t changed_switches(const struct bed *bed, const struct mcast_tree *a,
			       const struct mcast_tree *b)
{
	size_t changed = 0;

	for (uint32_t sw = 0; sw < bed->snapshot->num_switches; sw++)
		for (uint8_t p = 0; p < MFT_POSITIONS; p++)
			changed += mask_at(a, sw, p) != mask_at(b, sw, p);
	return changed;
}

/* Each join and leave changes the member's branch, and the root stays; all the others' ways do. */
static void test_join_and_leave(void)
{
	enum { JOINS = 30, BRANCH_MAX = 3 + 1 /* leaf, two above, where it meets */ };
	struct mcast_member members[JOINS];
	struct mcast_tree before = {.root = -1};
	size_t count;
	struct bed bed;

	bed_begin(&bed, "fattree:radix=8,levels=3", "ftree");
	count = choose_members(&bed, JOINS, members);
	for (size_t n = 1; n <= count; n++) {
		struct mcast_tree tree = tree_of(&bed, MLID, before.root, members, n);

		check_tree(&bed, members, n, &tree);
		CU_ASSERT(n == 1 || tree.root == before.root);
		/* Of two members on different leaves the whole way between them is new. */
		CU_ASSERT(n < 3 || changed_switches(&bed, &before, &tree) <= BRANCH_MAX);
		free(before.masks);
		before = tree;
	}
	for (size_t n = count - 1; n > 0; n--) {
		struct mcast_tree tree = tree_of(&bed, MLID, before.root, members, n);

		check_tree(&bed, members, n, &tree);
		CU_ASSERT_EQUAL(tree.root, before.root);
		free(before.masks);
		before = tree;
	}
	free(before.masks);
	bed_end(&bed);
}

/* Many groups of the same members use all spines, none of them for more than thrice its share. */
static void test_spread(void)
{
	enum { GROUPS = 320, SPINES = 16, SHARE = GROUPS / SPINES };
	struct mcast_member members[MEMBERS_MAX];
	unsigned rooted[SWITCHES_MAX] = {0}, used = 0;
	struct bed bed;
	size_t count;

	bed_begin(&bed, "fattree:radix=8,levels=3", "ftree");
	count = choose_members(&bed, 60, members);
	for (unsigned g = 0; g < GROUPS; g++) {
		struct mcast_tree tree =
			tree_of(&bed, (lid_t)(LID_MULTICAST_MIN + g), -1, members, count);

		CU_ASSERT_FATAL(tree.root >= 0);
		CU_ASSERT_EQUAL(bed.snapshot->switches[tree.root].hosts, 0);
		used += !rooted[tree.root]++;
		CU_ASSERT(rooted[tree.root] <= 3 * SHARE);
		free(tree.masks);
	}
	CU_ASSERT_EQUAL(used, SPINES);
	bed_end(&bed);
}

/* A lost root is replaced. A root that serves stays, even if another would be chosen now. */
static void test_root_lost(void)
{
	struct mcast_member members[MEMBERS_MAX];
	struct mcast_tree first, second, third;
	struct bed bed;
	size_t count;

	bed_begin(&bed, "fattree:radix=8,levels=2", "ftree");
	count = choose_members(&bed, 20, members);
	first = tree_of(&bed, MLID, -1, members, count);
	for (unsigned p = 1; p <= bed.snapshot->switches[first.root].num_ports; p++)
		snapshot_cut(bed.snapshot, (uint32_t)first.root, p);
	bed_route(&bed, "ftree");
	second = tree_of(&bed, MLID, first.root, members, count);
	CU_ASSERT_NOT_EQUAL(second.root, first.root);
	check_tree(&bed, members, count, &second);
	bed_end(&bed);
	bed_begin(&bed, "fattree:radix=8,levels=2", "ftree");
	third = tree_of(&bed, MLID, second.root, members, count);
	CU_ASSERT_EQUAL(third.root, second.root);
	check_tree(&bed, members, count, &third);
	free(first.masks);
	free(second.masks);
	free(third.masks);
	bed_end(&bed);
}

/* Two islands: the tree serves the island with more members, and the other members are named. */
static void test_islands(void)
{
	struct mcast_member members[4];
	struct mcast_tree tree;
	struct bed bed;

	bed_begin(&bed, "ring:switches=6,hosts=2", "minhop");
	for (uint32_t sw = 0; sw < 6; sw++) {
		for (unsigned p = 1; p <= bed.snapshot->switches[sw].num_ports; p++) {
			int32_t peer = snap_link(bed.snapshot, sw, (uint8_t)p)->sw;

			if (peer >= 0 && (sw < 2) != (peer < 2))
				snapshot_cut(bed.snapshot, sw, p);
		}
	}
	bed_route(&bed, "minhop");
	for (uint32_t i = 0; i < 4; i++) /* one in the small island, three in the other one */
		members[i] = (struct mcast_member){.sw = i + (i > 0)};
	tree = tree_of(&bed, MLID, -1, members, 4);
	CU_ASSERT_EQUAL(tree.left_out, 1);
	CU_ASSERT(members[0].left_out);
	CU_ASSERT(!members[1].left_out && !members[2].left_out && !members[3].left_out);
	free(tree.masks);
	bed_end(&bed);
}

/* Tables that a manager finds after a restart show which root the group had. */
static void test_root_is_found_again(void)
{
	struct mcast_member members[MEMBERS_MAX];
	struct bed bed;
	size_t count;

	bed_begin(&bed, "fattree:radix=8,levels=3", "ftree");
	count = choose_members(&bed, 40, members);
	for (int32_t root = 0; root < (int32_t)bed.snapshot->num_switches; root++) {
		struct mcast_tree tree = tree_of(&bed, MLID, root, members, count), again;
		struct mcast_group group = {.mlid = MLID,
					    .root = -1,
					    .members = members,
					    .num_members = count,
					    .held = tree.masks,
					    .num_held = tree.num_masks};

		if (tree.root == root) {
			mcast_trees(bed.ways, &group, 1, NULL, &again);
			CU_ASSERT_EQUAL(changed_switches(&bed, &tree, &again), 0);
			free(again.masks);
		}
		free(tree.masks);
	}
	bed_end(&bed);
}

/* The result is the same on any number of workers. */
static void test_workers(void)
{
	enum { GROUPS = 50 };
	struct loop *loop = loop_new();
	struct work_pool *pool = work_pool_new(loop, 3);
	struct mcast_member members[GROUPS][8];
	struct mcast_group groups[GROUPS];
	struct mcast_tree alone[GROUPS], together[GROUPS];
	struct mcast_ways *ways;
	struct bed bed;

	bed_begin(&bed, "fattree:radix=8,levels=3", "ftree");
	ways = mcast_ways_new(bed.snapshot, bed.routes, pool);
	for (unsigned g = 0; g < GROUPS; g++)
		groups[g] = (struct mcast_group){
			.mlid = (lid_t)(LID_MULTICAST_MIN + g),
			.root = -1,
			.members = members[g],
			.num_members = choose_members(&bed, ARRAY_SIZE(members[g]), members[g])};
	mcast_trees(bed.ways, groups, GROUPS, NULL, alone);
	mcast_trees(ways, groups, GROUPS, pool, together);
	for (unsigned g = 0; g < GROUPS; g++) {
		CU_ASSERT_EQUAL(alone[g].root, together[g].root);
		CU_ASSERT_EQUAL(changed_switches(&bed, &alone[g], &together[g]), 0);
		free(alone[g].masks);
		free(together[g].masks);
	}
	mcast_ways_free(ways);
	work_pool_free(pool);
	loop_free(loop);
	bed_end(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"each member is reached once", test_each_member_once},
		{"a switch is a member", test_port_0},
		{"joins and leaves", test_join_and_leave},
		{"groups are spread", test_spread},
		{"a root is lost", test_root_lost},
		{"islands", test_islands},
		{"a root is found again", test_root_is_found_again},
		{"workers", test_workers},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mcast", tests);
}
