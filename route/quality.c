/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Quality of paths (quality.h). For one destination the tables are a tree of switches. So the
 * traffic of all senders to it is added from the far ends inwards, one visit a switch, instead of
 * walking each path. Permutations must be walked. Each worker adds for itself, and the sums are
 * added at the end. Sets of senders are ORed: the order does not matter.
 */
#include "route/quality.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/random.h"
#include "route/dest_index.h"
#include "route/hops.h"
#include "route/tree.h"

/* A host as sender and receiver. */
struct host {
	uint32_t sw;
	lid_t lid;
};

struct paths {
	const struct snapshot *snapshot;
	const struct routes *routes;
	struct host *hosts; /* in the order of their places */
	uint32_t num_hosts;
	struct tree *tree;
};

static void paths_init(struct paths *paths, const struct snapshot *snapshot,
		       const struct routes *routes)
{
	struct cabling *cabling = cabling_new(snapshot);
	struct dest_index *dests;

	*paths = (struct paths){.snapshot = snapshot, .routes = routes};
	paths->tree = tree_new(cabling, tree_levels_from_leaves(cabling), true);
	paths->hosts = mem_array(snapshot->num_ends + 1, sizeof(*paths->hosts));
	dests = dest_index_new(snapshot, paths->tree);
	for (uint32_t c = 0; c < dests->num_columns; c++) {
		for (uint32_t t = dests->first_target[c]; t < dests->first_target[c + 1]; t++) {
			const struct target *target = &dests->targets[t];

			if (target->exit && !target->offset)
				paths->hosts[paths->num_hosts++] =
					(struct host){dests->switch_of[c], target->lid};
		}
	}
	dest_index_free(dests);
}

static void paths_done(struct paths *paths)
{
	tree_free(paths->tree);
	free(paths->hosts);
}

/* The link by which a switch sends to another switch for a LID; UINT32_MAX: none. */
static uint32_t next_link(const struct paths *paths, uint32_t s, lid_t lid)
{
	const struct snap_switch *sw = &paths->snapshot->switches[s];
	uint8_t port = lft_port(paths->routes->lft[s], lid);

	if (port == 0 || port > sw->num_ports ||
	    paths->snapshot->links[sw->first_link + port].sw < 0)
		return UINT32_MAX;
	return sw->first_link + port;
}

/* Whether a host's own switch delivers to it. */
static bool quality_arrives(const struct paths *paths, uint32_t s, lid_t lid)
{
	const struct snap_switch *sw = &paths->snapshot->switches[s];
	uint8_t port = lft_port(paths->routes->lft[s], lid);
	struct snap_owner owner = snap_owner(paths->snapshot, lid);

	return owner.end >= 0 && port > 0 && port <= sw->num_ports &&
	       paths->snapshot->links[sw->first_link + port].end == owner.end;
}

/* All to all */

struct summing {
	struct paths paths;
	uint32_t words;		/* of a set of leaves */
	uint32_t *leaf_of;	/* by switch with hosts: its bit */
	uint32_t *senders;	/* by switch: hosts */
	uint64_t *flows;	/* by link */
	uint32_t *receivers;	/* by link: hosts that some send to over it */
	uint64_t *sets;		/* by link: leaves that send over it */
	uint64_t reached, hops; /* pairs */
};

/* The working memory of a worker for one receiver. */
struct scratch {
	uint32_t *link, *waiting, *queue, *senders;
	uint64_t *sets, *flows;
	uint32_t *receivers;
	uint64_t reached, hops;
};

static void quality_join_bits(uint64_t *restrict to, const uint64_t *restrict from, uint32_t words)
{
	for (uint32_t w = 0; w < words; w++)
		to[w] |= from[w];
}

/* Other workers may do the same at the same time. */
static void join_shared(uint64_t *to, const uint64_t *from, uint32_t words)
{
	for (uint32_t w = 0; w < words; w++)
		if (from[w] & ~__atomic_load_n(&to[w], __ATOMIC_RELAXED))
			__atomic_fetch_or(&to[w], from[w], __ATOMIC_RELAXED);
}

/* The next switch of each switch, and the number of switches that send to each. */
static uint32_t quality_prepare(const struct summing *sum, const struct host *to, struct scratch *x)
{
	uint32_t num = sum->paths.snapshot->num_switches, tail = 0;

	memset(x->waiting, 0, num * sizeof(*x->waiting));
	memcpy(x->senders, sum->senders, num * sizeof(*x->senders));
	memset(x->sets, 0, (size_t)num * sum->words * sizeof(*x->sets));
	x->senders[to->sw]--; /* no host sends to itself */
	for (uint32_t s = 0; s < num; s++) {
		uint32_t link = x->link[s] =
			s == to->sw ? UINT32_MAX : next_link(&sum->paths, s, to->lid);

		if (link != UINT32_MAX)
			x->waiting[sum->paths.snapshot->links[link].sw]++;
		if (sum->senders[s])
			x->sets[(size_t)s * sum->words + sum->leaf_of[s] / 64] |=
				UINT64_C(1) << sum->leaf_of[s] % 64;
	}
	for (uint32_t s = 0; s < num; s++)
		if (!x->waiting[s])
			x->queue[tail++] = s;
	return tail;
}

/* A switch is visited after all switches that send over it: switches in a loop never are. */
static void sum_host(struct summing *sum, const struct host *to, struct scratch *x)
{
	uint32_t tail = quality_prepare(sum, to, x);

	for (uint32_t head = 0; head < tail; head++) {
		uint32_t s = x->queue[head], link = x->link[s], next;

		if (s == to->sw && quality_arrives(&sum->paths, s, to->lid))
			x->reached += x->senders[s];
		if (link == UINT32_MAX)
			continue;
		next = (uint32_t)sum->paths.snapshot->links[link].sw;
		if (x->senders[s]) {
			const uint64_t *set = x->sets + (size_t)s * sum->words;

			x->flows[link] += x->senders[s];
			x->hops += x->senders[s];
			x->receivers[link]++;
			join_shared(sum->sets + (size_t)link * sum->words, set, sum->words);
			quality_join_bits(x->sets + (size_t)next * sum->words, set, sum->words);
			x->senders[next] += x->senders[s];
		}
		if (--x->waiting[next] == 0)
			x->queue[tail++] = next;
	}
}

static void sum_slice(void *arg, size_t begin, size_t end)
{
	struct summing *sum = arg;
	uint32_t num = sum->paths.snapshot->num_switches, links = sum->paths.snapshot->num_links;
	struct scratch x = {
		.link = mem_array(num, sizeof(uint32_t)),
		.waiting = mem_array(num, sizeof(uint32_t)),
		.queue = mem_array(num, sizeof(uint32_t)),
		.senders = mem_array(num, sizeof(uint32_t)),
		.sets = mem_array((size_t)num * sum->words, sizeof(uint64_t)),
		.flows = mem_array(links, sizeof(uint64_t)),
		.receivers = mem_array(links, sizeof(uint32_t)),
	};

	for (size_t h = begin; h < end; h++)
		sum_host(sum, &sum->paths.hosts[h], &x);
	for (uint32_t l = 0; l < links; l++) {
		__atomic_fetch_add(&sum->flows[l], x.flows[l], __ATOMIC_RELAXED);
		__atomic_fetch_add(&sum->receivers[l], x.receivers[l], __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&sum->reached, x.reached, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sum->hops, x.hops, __ATOMIC_RELAXED);
	free(x.receivers);
	free(x.flows);
	free(x.sets);
	free(x.senders);
	free(x.queue);
	free(x.waiting);
	free(x.link);
}

static void add_load(struct level_load *load, uint64_t flows)
{
	load->least = load->links == 0 || flows < load->least ? flows : load->least;
	load->most = flows > load->most ? flows : load->most;
	load->sum += flows;
	load->links++;
}

static uint32_t count_senders(const struct summing *sum, uint32_t link)
{
	const uint64_t *set = sum->sets + (size_t)link * sum->words;
	uint32_t count = 0;

	for (uint32_t s = 0; s < sum->paths.snapshot->num_switches; s++)
		if (sum->senders[s] && set[sum->leaf_of[s] / 64] >> sum->leaf_of[s] % 64 & 1)
			count += sum->senders[s];
	return count;
}

static void judge_link(const struct summing *sum, uint32_t s, uint32_t link,
		       struct quality_all *out)
{
	const uint16_t *level = sum->paths.tree->level;
	uint32_t peer = (uint32_t)sum->paths.snapshot->links[link].sw;
	uint16_t lower = level[s] < level[peer] ? level[s] : level[peer];
	uint64_t flows = sum->flows[link];

	if (level[s] == level[peer])
		add_load(&out->flat, flows);
	else if (lower < QUALITY_LEVELS_MAX)
		add_load(level[s] < level[peer] ? &out->up[lower] : &out->down[lower], flows);
	if (lower < QUALITY_LEVELS_MAX && lower >= out->levels && level[s] != level[peer])
		out->levels = lower + 1u;
	out->links++;
	out->unused += flows == 0;
	out->sum += flows;
	out->most = flows > out->most ? flows : out->most;
	if (sum->receivers[link] > out->risk) {
		uint32_t senders = count_senders(sum, link);
		uint32_t risk = senders < sum->receivers[link] ? senders : sum->receivers[link];

		out->risk = risk > out->risk ? risk : out->risk;
	}
}

void quality_all_to_all(const struct snapshot *snapshot, const struct routes *routes,
			struct work_pool *pool, struct quality_all *out)
{
	struct quality_all quality = {0};
	struct summing sum = {
		.leaf_of = mem_array(snapshot->num_switches, sizeof(uint32_t)),
		.senders = mem_array(snapshot->num_switches, sizeof(uint32_t)),
		.flows = mem_array(snapshot->num_links, sizeof(uint64_t)),
		.receivers = mem_array(snapshot->num_links, sizeof(uint32_t)),
	};
	uint32_t leaves = 0;

	paths_init(&sum.paths, snapshot, routes);
	for (uint32_t h = 0; h < sum.paths.num_hosts; h++)
		if (sum.senders[sum.paths.hosts[h].sw]++ == 0)
			sum.leaf_of[sum.paths.hosts[h].sw] = leaves++;
	sum.words = (leaves + 63) / 64;
	sum.sets = mem_array((size_t)snapshot->num_links * sum.words, sizeof(uint64_t));
	work_parallel(pool, sum.paths.num_hosts, sum_slice, &sum);

	if (sum.paths.num_hosts)
		quality.pairs = (uint64_t)sum.paths.num_hosts * (sum.paths.num_hosts - 1);
	quality.unreached = quality.pairs - sum.reached;
	quality.hops = sum.hops;
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++)
			if (snap_link(snapshot, s, (uint8_t)p)->sw >= 0)
				judge_link(&sum, s, snapshot->switches[s].first_link + p, &quality);
	*out = quality;
	free(sum.sets);
	free(sum.receivers);
	free(sum.flows);
	free(sum.senders);
	free(sum.leaf_of);
	paths_done(&sum.paths);
}

/* Permutations */

struct patterns {
	struct paths paths;
	uint64_t seed; /* 0: shifts */
	uint32_t count;
	uint32_t *worst; /* by pattern */
	double *share;	 /* by pattern */
};

/* Follows a flow, and adds to the load of its links, or finds the highest load on its way. A loop
 * in the tables ends it. */
static uint32_t quality_follow_flow(const struct paths *paths, const struct host *from, lid_t to,
				    uint32_t *load, uint32_t add)
{
	uint32_t s = from->sw, highest = 0;

	for (uint32_t step = 0; step < paths->snapshot->num_switches; step++) {
		uint32_t link = next_link(paths, s, to);

		if (link == UINT32_MAX)
			break;
		load[link] += add;
		highest = load[link] > highest ? load[link] : highest;
		s = (uint32_t)paths->snapshot->links[link].sw;
	}
	return highest;
}

static void quality_shuffle(uint32_t *order, uint32_t count, uint64_t seed)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = (uint32_t)(random_next(&seed) % i), swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
}

/* Shift number i of the evenly chosen shifts. */
static void shift_order(uint32_t *order, uint32_t count, uint32_t i, uint32_t taken)
{
	uint32_t by = 1 + (uint32_t)((uint64_t)i * (count - 1) / taken);

	for (uint32_t h = 0; h < count; h++)
		order[h] = (h + by) % count;
}

static void run_permutation(struct patterns *patterns, size_t i, const uint32_t *order,
			    uint32_t *load)
{
	const struct paths *paths = &patterns->paths;
	uint32_t worst = 0;

	memset(load, 0, paths->snapshot->num_links * sizeof(*load));
	for (uint32_t h = 0; h < paths->num_hosts; h++) {
		uint32_t highest = 0;

		if (order[h] != h)
			highest = quality_follow_flow(paths, &paths->hosts[h],
						      paths->hosts[order[h]].lid, load, 1);
		worst = highest > worst ? highest : worst;
	}
	patterns->worst[i] = worst;
}

/* The first half of the order sends to the second. */
static void run_matching(struct patterns *patterns, size_t i, const uint32_t *order, uint32_t *load)
{
	const struct paths *paths = &patterns->paths;
	uint32_t half = paths->num_hosts / 2;
	double sum = 0;

	memset(load, 0, paths->snapshot->num_links * sizeof(*load));
	for (uint32_t h = 0; h < half; h++)
		quality_follow_flow(paths, &paths->hosts[order[h]],
				    paths->hosts[order[half + h]].lid, load, 1);
	for (uint32_t h = 0; h < half; h++) {
		uint32_t highest = quality_follow_flow(paths, &paths->hosts[order[h]],
						       paths->hosts[order[half + h]].lid, load, 0);

		sum += 1.0 / (highest ? highest : 1);
	}
	patterns->share[i] = half ? sum / half : 1;
}

static void run_patterns(void *arg, size_t begin, size_t end)
{
	struct patterns *patterns = arg;
	uint32_t *load = mem_array(patterns->paths.snapshot->num_links, sizeof(*load));
	uint32_t *order = mem_array(patterns->paths.num_hosts, sizeof(*order));

	for (size_t i = begin; i < end; i++) {
		if (patterns->seed)
			quality_shuffle(order, patterns->paths.num_hosts, patterns->seed + i);
		else
			shift_order(order, patterns->paths.num_hosts, (uint32_t)i, patterns->count);
		run_permutation(patterns, i, order, load);
		if (patterns->seed)
			run_matching(patterns, i, order, load);
	}
	free(order);
	free(load);
}

static int by_value(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static struct quality_load summarize(const struct patterns *patterns)
{
	struct quality_load load = {.patterns = patterns->count};

	if (!patterns->count)
		return load;
	qsort(patterns->worst, patterns->count, sizeof(*patterns->worst), by_value);
	load.median = patterns->worst[patterns->count / 2];
	load.percentile_95 = patterns->worst[(uint64_t)patterns->count * 95 / 100];
	load.worst = patterns->worst[patterns->count - 1];
	return load;
}

void quality_shifts(const struct snapshot *snapshot, const struct routes *routes,
		    struct work_pool *pool, uint32_t most, struct quality_load *out)
{
	struct patterns patterns = {0};

	paths_init(&patterns.paths, snapshot, routes);
	patterns.count = patterns.paths.num_hosts ? patterns.paths.num_hosts - 1 : 0;
	if (most && patterns.count > most)
		patterns.count = most;
	patterns.worst = mem_array(patterns.count + 1, sizeof(*patterns.worst));
	work_parallel(pool, patterns.count, run_patterns, &patterns);
	*out = summarize(&patterns);
	free(patterns.worst);
	paths_done(&patterns.paths);
}

void quality_random(const struct snapshot *snapshot, const struct routes *routes,
		    struct work_pool *pool, uint32_t draws, uint64_t seed, struct quality_load *out,
		    double *bisection)
{
	struct patterns patterns = {
		.seed = seed ? seed : 1,
		.count = draws,
		.worst = mem_array(draws + 1, sizeof(uint32_t)),
		.share = mem_array(draws + 1, sizeof(double)),
	};
	double sum = 0;

	paths_init(&patterns.paths, snapshot, routes);
	work_parallel(pool, draws, run_patterns, &patterns);
	for (uint32_t i = 0; i < draws; i++)
		sum += patterns.share[i];
	*out = summarize(&patterns);
	*bisection = draws ? sum / draws : 1;
	free(patterns.share);
	free(patterns.worst);
	paths_done(&patterns.paths);
}

/* Length */

struct measuring {
	struct paths paths;
	struct hops *hops;
	struct quality_stretch stretch;
};

/* From each switch with hosts to one host. */
static void measure_host(const struct measuring *m, const struct host *to,
			 struct quality_stretch *sum)
{
	const struct snapshot *snapshot = m->paths.snapshot;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		uint8_t least = hops_row(m->hops, s)[to->sw];
		uint32_t at = s, steps = 0;

		if (!snapshot->switches[s].hosts || s == to->sw || least == HOPS_NONE)
			continue;
		while (at != to->sw && steps < snapshot->num_switches) {
			uint32_t link = next_link(&m->paths, at, to->lid);

			if (link == UINT32_MAX)
				break;
			at = (uint32_t)snapshot->links[link].sw;
			steps++;
		}
		if (at != to->sw)
			continue;
		sum->paths++;
		sum->longer += steps > least;
		sum->hops += steps;
		sum->least_hops += least;
	}
}

static void measure_hosts(void *arg, size_t begin, size_t end)
{
	struct measuring *m = arg;
	struct quality_stretch sum = {0};

	for (size_t h = begin; h < end; h++)
		measure_host(m, &m->paths.hosts[h], &sum);
	__atomic_fetch_add(&m->stretch.paths, sum.paths, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->stretch.longer, sum.longer, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->stretch.hops, sum.hops, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->stretch.least_hops, sum.least_hops, __ATOMIC_RELAXED);
}

void quality_stretch(const struct snapshot *snapshot, const struct routes *routes,
		     struct work_pool *pool, struct quality_stretch *out)
{
	struct measuring m = {.hops = hops_new(snapshot, pool)};

	paths_init(&m.paths, snapshot, routes);
	work_parallel(pool, m.paths.num_hosts, measure_hosts, &m);
	*out = m.stretch;
	paths_done(&m.paths);
	hops_free(m.hops);
}
