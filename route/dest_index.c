/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbering (dest_index.h). Leaves below the same switches are siblings, first those below switches
 * of level 1, then below level 2 and so on. They are counted in that nesting, with room for as many
 * siblings as the largest family has, if the gaps are not too large. On a leaf, hosts have the
 * order of its ports. A leaf has as many numbers as most leaves have hosts. On leaves with more
 * hosts, the additional hosts are numbered separately, because an odd number would shift the digits
 * of all others.
 */
#include "route/dest_index.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { NESTING_MAX = 6, KINDS = 3 };

/* A list from a file, to be searched by GUID. */
struct ranking {
	struct rank {
		guid_t guid;
		uint32_t rank;
	} * ranks;
	uint32_t count;
};

struct leaf {
	uint32_t sw;		      /* of the cabling */
	uint32_t rank;		      /* in the order of the option file, then of GUIDs */
	uint32_t family[NESTING_MAX]; /* the lowest rank among the siblings at this nesting */
};

struct numbering {
	const struct snapshot *snapshot;
	const struct tree *tree;
	struct dest_index *places;
	struct leaf *leaves;
	uint32_t num_leaves;
	unsigned nesting;
	uint32_t *number; /* by switch: of its leaf */
	uint32_t numbers; /* of all leaves, with gaps */
	uint32_t stride[KINDS], over[KINDS];
	struct ranking order, compute, io; /* of the options */
};

/* Options */

static int numbering_guid_order(const void *left, const void *right)
{
	guid_t a = *(const guid_t *)left, b = *(const guid_t *)right;

	return (a > b) - (a < b);
}

static struct ranking rank_list(const struct guid_list *list)
{
	struct ranking ranking = {mem_array(list->count + 1, sizeof(*ranking.ranks)), list->count};

	for (uint32_t i = 0; i < list->count; i++)
		ranking.ranks[i] = (struct rank){list->guid[i], i};
	qsort(ranking.ranks, list->count, sizeof(*ranking.ranks), numbering_guid_order);
	return ranking;
}

/* The place in a list, or UINT32_MAX. */
static uint32_t rank_of(const struct ranking *ranking, guid_t guid)
{
	const struct rank *found = ranking->count ? bsearch(&guid, ranking->ranks, ranking->count,
							    sizeof(*found), numbering_guid_order)
						  : NULL;

	return found ? found->rank : UINT32_MAX;
}

/* Files name a host by the GUID of its port or of its node. */
static uint32_t host_rank(const struct numbering *n, const struct ranking *ranking, uint32_t s,
			  uint8_t port)
{
	int32_t end = snap_link(n->snapshot, s, port)->end;
	const struct node_facts *facts = end >= 0 ? n->snapshot->ends[end].facts : NULL;
	uint32_t rank = rank_of(ranking, snap_cable(n->snapshot, s, port)->guid);

	return rank == UINT32_MAX && facts ? rank_of(ranking, facts->info.node_guid) : rank;
}

/* Whether the options name the port at either end of a host's cable. */
static bool is_ignored(const struct numbering *n, uint32_t s, uint8_t port)
{
	const struct route_options *options = n->snapshot->options;
	const struct snap_cable *cable = snap_cable(n->snapshot, s, port);
	int32_t end = snap_link(n->snapshot, s, port)->end;
	const struct node_facts *facts = end >= 0 ? n->snapshot->ends[end].facts : NULL;
	guid_t node = facts ? facts->info.node_guid : cable->guid;

	for (uint32_t i = 0; options && i < options->ignored.count; i++) {
		const struct guid_note *note = &options->ignored.note[i];

		if ((note->guid == n->snapshot->switches[s].guid && note->number[0] == port) ||
		    (note->guid == node && note->number[0] == cable->port))
			return true;
	}
	return false;
}

static unsigned numbering_host_kind(const struct numbering *n, uint32_t s, uint8_t port)
{
	if (is_ignored(n, s, port))
		return 2;
	if (n->io.count && host_rank(n, &n->io, s, port) != UINT32_MAX)
		return 1;
	if (n->compute.count && host_rank(n, &n->compute, s, port) == UINT32_MAX)
		return 2;
	return 0;
}

/* Leaves and families */

struct leaf_slot {
	guid_t guid;
	uint32_t rank, sw;
};

static int by_rank_then_guid(const void *left, const void *right)
{
	const struct leaf_slot *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->guid > b->guid) - (a->guid < b->guid);
}

/* Every switch with hosts, also an absent switch; first those whose hosts are first in the order
 * file. */
static void collect_leaves(struct numbering *n)
{
	const struct cabling *cabling = n->tree->cabling;
	struct leaf_slot *sorted = mem_array(cabling->count + 1, sizeof(*sorted));

	for (uint32_t s = 0; s < cabling->count; s++) {
		uint32_t rank = UINT32_MAX;
		unsigned ports = s < cabling->num_live && n->order.count
					 ? n->snapshot->switches[s].num_ports
					 : 0;

		for (unsigned p = 1; p <= ports; p++) {
			uint32_t of = host_rank(n, &n->order, s, (uint8_t)p);

			rank = of < rank ? of : rank;
		}
		if (!cabling->switches[s].places)
			continue;
		sorted[n->num_leaves++] = (struct leaf_slot){cabling->switches[s].guid, rank, s};
	}
	qsort(sorted, n->num_leaves, sizeof(*sorted), by_rank_then_guid);
	n->leaves = mem_array(n->num_leaves + 1, sizeof(*n->leaves));
	for (uint32_t l = 0; l < n->num_leaves; l++)
		n->leaves[l] = (struct leaf){.sw = sorted[l].sw, .rank = l};
	free(sorted);
}

static uint32_t numbering_find_set(uint32_t *set, uint32_t s)
{
	while (set[s] != s)
		s = set[s] = set[set[s]];
	return s;
}

/* Joins each switch of a level with all below it. */
static void join_level(const struct tree *tree, uint16_t level, uint32_t *set)
{
	const struct cabling *cabling = tree->cabling;

	for (uint32_t i = 0; i < cabling->count; i++) {
		uint32_t s = tree->order[i];
		const struct cabled_switch *sw = &cabling->switches[s];
		const struct way *down = cabling_ways(cabling, s) + sw->num_up;

		if (tree->level[s] != level)
			continue;
		for (uint8_t w = 0; w < sw->num_down; w++)
			set[numbering_find_set(set, down[w].peer)] = numbering_find_set(set, s);
	}
}

/* Names the family of each leaf; returns the number of families. Leaves come by rank, so the first
 * of a family has the lowest. */
static uint32_t name_families(struct numbering *n, uint32_t *set, uint32_t *lowest)
{
	uint32_t families = 0;

	memset(lowest, 0xFF, n->tree->cabling->count * sizeof(*lowest));
	for (uint32_t l = 0; l < n->num_leaves; l++) {
		uint32_t of = numbering_find_set(set, n->leaves[l].sw);

		if (lowest[of] == UINT32_MAX) {
			lowest[of] = l;
			families++;
		}
		n->leaves[l].family[n->nesting] = lowest[of];
	}
	return families;
}

/* A nesting for each level that reduces the number of families. */
static void find_families(struct numbering *n)
{
	uint32_t count = n->tree->cabling->count, before = n->num_leaves;
	uint32_t *set = mem_array(count, sizeof(*set));
	uint32_t *lowest = mem_array(count, sizeof(*lowest));

	for (uint32_t s = 0; s < count; s++)
		set[s] = s;
	for (uint16_t level = 0; level < n->tree->levels && n->nesting < NESTING_MAX; level++) {
		uint32_t families;

		join_level(n->tree, level, set);
		families = name_families(n, set, lowest);
		if (families < before)
			n->nesting++;
		before = families;
	}
	for (uint32_t l = 0; l < n->num_leaves && n->nesting < NESTING_MAX; l++)
		n->leaves[l].family[n->nesting] = 0;
	free(lowest);
	free(set);
}

static int by_family(const void *left, const void *right)
{
	const struct leaf *a = left, *b = right;

	for (int i = NESTING_MAX - 1; i >= 0; i--)
		if (a->family[i] != b->family[i])
			return a->family[i] < b->family[i] ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Counts to the next leaf: digit 0 is the leaf in its smallest family, digit i that family in the
 * next larger family. */
static void numbering_next_leaf(const struct numbering *n, uint32_t l, uint32_t *digit)
{
	unsigned carry = 0;

	if (l == 0)
		return;
	for (unsigned i = 0; i < n->nesting; i++)
		if (n->leaves[l].family[i] != n->leaves[l - 1].family[i])
			carry = i + 1;
	memset(digit, 0, carry * sizeof(*digit));
	digit[carry]++;
}

/* If each family has room for as many leaves as the largest, a new leaf changes no other's number.
 * If that needs half as much again as there are leaves, they are numbered without gaps. */
static void numbering_number_leaves(struct numbering *n)
{
	uint32_t digit[NESTING_MAX + 1] = {0}, most[NESTING_MAX + 1] = {0};
	uint64_t numbers = 1;

	qsort(n->leaves, n->num_leaves, sizeof(*n->leaves), by_family);
	for (uint32_t l = 0; l < n->num_leaves; l++) {
		numbering_next_leaf(n, l, digit);
		for (unsigned i = 0; i <= n->nesting; i++)
			most[i] = digit[i] > most[i] ? digit[i] : most[i];
	}
	for (unsigned i = 0; i <= n->nesting && numbers < UINT32_MAX; i++)
		numbers *= most[i] + 1;
	memset(digit, 0, sizeof(digit));
	for (uint32_t l = 0; l < n->num_leaves; l++) {
		uint32_t number = 0;

		numbering_next_leaf(n, l, digit);
		for (unsigned i = n->nesting + 1; i-- > 0;)
			number = number * (most[i] + 1) + digit[i];
		n->number[n->leaves[l].sw] = numbers * 2 <= n->num_leaves * 3u ? number : l;
	}
	n->numbers = numbers * 2 <= n->num_leaves * 3u ? (uint32_t)numbers : n->num_leaves;
}

/* Hosts */

struct host {
	uint32_t rank;
	uint8_t kind, port;
};

static int numbering_host_order(const void *left, const void *right)
{
	const struct host *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind - b->kind;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->port - b->port;
}

/* The ports of a switch that lead or led to hosts, by kind and then in their order. */
static unsigned list_hosts(const struct numbering *n, uint32_t s, struct host *hosts)
{
	unsigned count = 0;

	for (unsigned p = 1; p <= n->snapshot->switches[s].num_ports; p++) {
		const struct snap_cable *cable = snap_cable(n->snapshot, s, (uint8_t)p);

		if (cable->kind != CABLE_HOST)
			continue;
		hosts[count++] = (struct host){
			.rank = host_rank(n, &n->order, s, (uint8_t)p),
			.kind = (uint8_t)numbering_host_kind(n, s, (uint8_t)p),
			.port = (uint8_t)p,
		};
	}
	if (n->snapshot->options)
		qsort(hosts, count, sizeof(*hosts), numbering_host_order);
	return count;
}

/* The quantity of numbers of a leaf: the median number of hosts over all leaves with such hosts. */
static void set_strides(struct numbering *n)
{
	uint32_t leaves_with[KINDS][PORT_MAX + 1] = {{0}};
	struct host hosts[PORT_MAX];

	for (uint32_t s = 0; s < n->snapshot->num_switches; s++) {
		uint32_t of_kind[KINDS] = {0};
		unsigned count = list_hosts(n, s, hosts);

		for (unsigned h = 0; h < count; h++)
			of_kind[hosts[h].kind]++;
		for (unsigned k = 0; k < KINDS; k++)
			leaves_with[k][of_kind[k]] += of_kind[k] > 0;
	}
	for (unsigned k = 0; k < KINDS; k++) {
		uint32_t all = 0, seen = 0, most = 1;

		for (unsigned h = 1; h <= PORT_MAX; h++) {
			all += leaves_with[k][h];
			most = leaves_with[k][h] ? h : most;
		}
		n->stride[k] = 1;
		for (unsigned h = 1; h <= PORT_MAX && seen * 2 < all; h++) {
			seen += leaves_with[k][h];
			n->stride[k] = leaves_with[k][h] ? h : n->stride[k];
		}
		n->over[k] = most - n->stride[k];
	}
}

/* index[p] for each port of a switch with a host. */
static void number_hosts(const struct numbering *n, uint32_t s, uint32_t *index)
{
	struct host hosts[PORT_MAX];
	unsigned count = list_hosts(n, s, hosts);
	uint32_t position = 0;

	for (unsigned h = 0; h < count; h++) {
		unsigned kind = hosts[h].kind;
		uint32_t stride = n->stride[kind];

		position = h && hosts[h - 1].kind == kind ? position + 1 : 0;
		index[hosts[h].port] = position < stride
					       ? n->number[s] * stride + position
					       : n->number[s] * n->over[kind] + position - stride;
	}
}

/* Columns and targets */

static void order_columns(const struct numbering *n)
{
	struct dest_index *dests = n->places;
	uint32_t next = 0;

	for (uint32_t l = 0; l < n->num_leaves; l++)
		if (n->leaves[l].sw < dests->num_columns)
			dests->switch_of[next++] = n->leaves[l].sw;
	for (uint32_t i = 0; i < n->tree->cabling->count; i++) {
		uint32_t s = n->tree->order[i];

		if (s < dests->num_columns && !n->tree->cabling->switches[s].places)
			dests->switch_of[next++] = s;
	}
	for (uint32_t c = 0; c < dests->num_columns; c++)
		dests->column_of[dests->switch_of[c]] = c;
}

/* The LIDs of a port: its number, plus one for each further LID. */
static struct target *add_targets(const struct snapshot *snapshot, struct snap_owner owner,
				  lid_t base, uint8_t lmc, struct target target,
				  struct target *next)
{
	for (unsigned offset = 0; base != LID_NONE && offset < 1u << lmc; offset++) {
		struct snap_owner of = snap_owner(snapshot, (lid_t)(base + offset));

		target.lid = (lid_t)(base + offset);
		target.offset = (uint8_t)offset;
		if (of.sw == owner.sw && of.end == owner.end)
			*next++ = target;
	}
	return next;
}

static void numbering_collect_targets(const struct numbering *n)
{
	const struct snapshot *snapshot = n->snapshot;
	struct dest_index *dests = n->places;
	struct target *next = dests->targets =
		mem_array(snapshot->lid_top + 1u, sizeof(*dests->targets));

	for (uint32_t c = 0; c < dests->num_columns; c++) {
		uint32_t s = dests->switch_of[c], index[PORT_MAX + 1] = {0};
		const struct snap_switch *sw = &snapshot->switches[s];

		dests->first_target[c] = (uint32_t)(next - dests->targets);
		number_hosts(n, s, index);
		next = add_targets(snapshot, (struct snap_owner){(int32_t)s, -1}, sw->lid, sw->lmc,
				   (struct target){.index = sw->lid}, next);
		for (unsigned p = 1; p <= sw->num_ports; p++) {
			const struct snap_cable *cable = snap_cable(snapshot, s, (uint8_t)p);
			int32_t end = snap_link(snapshot, s, (uint8_t)p)->end;

			struct target target = {.index = index[p], .exit = (uint8_t)p};

			if (end >= 0)
				next = add_targets(snapshot, (struct snap_owner){-1, end},
						   snapshot->ends[end].lid, snapshot->ends[end].lmc,
						   target, next);
			next = add_targets(snapshot, (struct snap_owner){-1, -1}, cable->lid,
					   cable->lmc, target, next);
		}
	}
	dests->first_target[dests->num_columns] = (uint32_t)(next - dests->targets);
	dests->lids = mem_array((size_t)(next - dests->targets) + 1, sizeof(*dests->lids));
	for (uint32_t t = 0; t < dests->first_target[dests->num_columns]; t++)
		dests->lids[t] = dests->targets[t].lid;
}

struct dest_index *dest_index_new(const struct snapshot *snapshot, const struct tree *tree)
{
	struct dest_index *dests = mem_zalloc(sizeof(*dests));
	struct numbering n = {
		.snapshot = snapshot,
		.tree = tree,
		.places = dests,
		.number = mem_array(tree->cabling->count, sizeof(uint32_t)),
	};
	uint64_t indexes;

	if (snapshot->options) {
		n.order = rank_list(&snapshot->options->order);
		n.compute = rank_list(&snapshot->options->compute);
		n.io = rank_list(&snapshot->options->io);
	}
	collect_leaves(&n);
	find_families(&n);
	numbering_number_leaves(&n);
	set_strides(&n);
	indexes = (uint64_t)n.numbers * n.stride[0];
	dests->indexes = indexes < UINT32_MAX ? (uint32_t)indexes : UINT32_MAX;
	dests->num_columns = snapshot->num_switches;
	dests->column_of = mem_array(dests->num_columns, sizeof(uint32_t));
	dests->switch_of = mem_array(dests->num_columns, sizeof(uint32_t));
	dests->first_target = mem_array(dests->num_columns + 1, sizeof(uint32_t));
	order_columns(&n);
	numbering_collect_targets(&n);
	free(n.io.ranks);
	free(n.compute.ranks);
	free(n.order.ranks);
	free(n.leaves);
	free(n.number);
	return dests;
}

void dest_index_free(struct dest_index *dests)
{
	free(dests->lids);
	free(dests->targets);
	free(dests->first_target);
	free(dests->switch_of);
	free(dests->column_of);
	free(dests);
}
