/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine minhop: shortest paths in any topology. At each switch every port whose peer is one
 * hop closer to the destination's switch is a candidate. An index of the destination selects the
 * port, never a counter, so that any worker can compute each row by itself. Called by the chain in
 * engine.c, inside a job.
 *
 * The choice is good because of the idea of D-mod-K (Zahavi 2012; for damaged trees Gliksberg and
 * others 2020). The index is a number whose digits belong to the levels of a fat tree. Leaves with
 * twelve ways up take index % 12, the switches above them index / 12 % 12, and so on. So all leaves
 * agree on the way to a destination, and a link that leads down carries few destinations.
 *
 * An index must not change with a fault elsewhere, or one lost host would change paths everywhere.
 * It consists of places (pod, leaf, port), and gaps in their numbering are kept.
 *
 * Shortest paths alone do not exclude credit loops if switches are cabled in cycles.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "route/engine.h"
#include "route/hops.h"
#include "route/target.h"

struct minhop {
	const struct snapshot *snapshot;
	struct routes *routes;
	struct hops *hops;
	uint32_t *leaf_index;	/* by switch with hosts: the index of its first port */
	uint32_t *divisor;	/* by switch: removes the digits that the levels below use */
	uint32_t *first_target; /* of switch d: first_target[d] .. first_target[d + 1] - 1 */
	struct target *targets;
};

/*
 * Numbers the leaves, switches with hosts, by pod: the leaves within two hops of the pod's first
 * leaf, which are those below the same switches of a fat tree. Each pod gets room for as many
 * leaves as the largest has, and each leaf for as many hosts as the fullest has. Returns the number
 * of indexes, at most UINT32_MAX.
 */
static uint32_t minhop_number_leaves(struct minhop *m)
{
	const struct snap_switch *sw = m->snapshot->switches;
	uint32_t num = m->snapshot->num_switches, pods = 0, most_leaves = 1, most_hosts = 1;
	uint64_t indexes;
	struct place {
		uint32_t pod, leaf; /* pods count from 1 */
	} *place = mem_array(num, sizeof(*place));

	for (uint32_t s = 0; s < num; s++) {
		const uint8_t *distance = hops_row(m->hops, s);
		uint32_t leaves = 0;

		most_hosts = sw[s].hosts > most_hosts ? sw[s].hosts : most_hosts;
		if (!sw[s].hosts || place[s].pod)
			continue;
		pods++;
		for (uint32_t t = s; t < num; t++)
			if (sw[t].hosts && !place[t].pod && distance[t] <= 2)
				place[t] = (struct place){pods, leaves++};
		most_leaves = leaves > most_leaves ? leaves : most_leaves;
	}
	for (uint32_t s = 0; s < num; s++)
		if (place[s].pod)
			m->leaf_index[s] =
				((place[s].pod - 1) * most_leaves + place[s].leaf) * most_hosts;
	free(place);
	indexes = (uint64_t)pods * most_leaves * most_hosts;
	return indexes < UINT32_MAX ? (uint32_t)indexes : UINT32_MAX;
}

/*
 * A switch's divisor is that of the switch below it times its number of ways up. Up is away from
 * the leaves: towards a larger distance from the nearest switch with hosts. If the digits of an
 * index are used up, in fabrics that are no trees, they start again with the first.
 */
static void set_divisors(struct minhop *m, uint32_t indexes)
{
	uint32_t num = m->snapshot->num_switches, head = 0, tail = 0;
	uint32_t *queue = mem_array(num, sizeof(*queue));
	uint32_t *level = mem_array(num, sizeof(*level)); /* from 1; 0: not reached yet */

	for (uint32_t s = 0; s < num; s++) {
		m->divisor[s] = 1;
		if (m->snapshot->switches[s].hosts)
			level[queue[tail++] = s] = 1;
	}
	while (head < tail) {
		uint32_t s = queue[head++], ways_up = 0;
		const struct hop_switch *sw = &m->hops->switches[s];
		uint64_t above;

		for (uint8_t i = 0; i < sw->num_peers; i++) {
			uint32_t peer = sw->links[i].peer;

			if (!level[peer])
				level[queue[tail++] = peer] = level[s] + 1;
			ways_up += level[peer] > level[s];
		}
		above = (uint64_t)m->divisor[s] * ways_up;
		for (uint8_t i = 0; i < sw->num_peers && above < indexes; i++) {
			uint32_t peer = sw->links[i].peer;

			if (level[peer] > level[s] && m->divisor[peer] < above)
				m->divisor[peer] = (uint32_t)above;
		}
	}
	free(level);
	free(queue);
}

/* Ports with lower numbers that are not cabled to a switch, with or without a host. */
static uint32_t host_position(const struct snapshot *snapshot, uint32_t sw, uint8_t port)
{
	uint32_t position = 0;

	for (uint8_t p = 1; p < port; p++)
		position += snap_link(snapshot, sw, p)->sw < 0;
	return position;
}

static struct target make_target(const struct minhop *m, lid_t lid, struct snap_owner owner)
{
	const struct snapshot *snapshot = m->snapshot;
	struct target target = {.lid = lid};

	if (owner.end >= 0) {
		const struct snap_end *end = &snapshot->ends[owner.end];
		uint32_t sw = (uint32_t)end->sw;

		target.index = m->leaf_index[sw] + host_position(snapshot, sw, end->sw_port);
		target.exit = end->sw_port;
		target.offset = (uint8_t)(lid - end->lid);
	} else {
		target.index = snapshot->switches[owner.sw].lid;
		target.offset = (uint8_t)(lid - target.index);
	}
	return target;
}

/* The LIDs that are kept for absent hosts, as if they were present; next NULL: only counts them. */
static uint32_t kept_targets(const struct minhop *m, uint32_t sw, struct target *next)
{
	const struct snapshot *snapshot = m->snapshot;
	uint32_t count = 0;

	for (unsigned p = 1; p <= snapshot->switches[sw].num_ports; p++) {
		const struct snap_cable *cable = snap_cable(snapshot, sw, (uint8_t)p);

		for (unsigned i = 0; cable->lid && i < 1u << cable->lmc; i++, count++)
			if (next)
				next[count] = (struct target){
					.index = m->leaf_index[sw] +
						 host_position(snapshot, sw, (uint8_t)p),
					.lid = (lid_t)(cable->lid + i),
					.exit = (uint8_t)p,
					.offset = (uint8_t)i,
				};
	}
	return count;
}

/* Sorts the LIDs by their switch. */
static void minhop_collect_targets(struct minhop *m)
{
	const struct snapshot *snapshot = m->snapshot;
	uint32_t num = snapshot->num_switches;
	uint32_t *next = mem_array(num + 1, sizeof(*next));

	for (uint32_t lid = 1; lid <= snapshot->lid_top; lid++) {
		int32_t sw = snap_owner_switch(snapshot, snapshot->owners[lid]);

		if (sw >= 0)
			m->first_target[sw + 1]++;
	}
	for (uint32_t s = 0; s < num; s++) {
		m->first_target[s + 1] += m->first_target[s] + kept_targets(m, s, NULL);
		next[s + 1] = m->first_target[s + 1];
	}

	m->targets = mem_array(next[num], sizeof(*m->targets));
	for (uint32_t lid = 1; lid <= snapshot->lid_top; lid++) {
		struct snap_owner owner = snapshot->owners[lid];
		int32_t sw = snap_owner_switch(snapshot, owner);

		if (sw >= 0)
			m->targets[next[sw]++] = make_target(m, (lid_t)lid, owner);
	}
	for (uint32_t s = 0; s < num; s++)
		next[s] += kept_targets(m, s, m->targets + next[s]);
	free(next);
}

/* The links of a switch in the order in which ways are counted: the order of hops.h. If the options
 * name ports, these come first, in their order, and the others follow by number. */
static void order_links(const struct minhop *m, uint32_t s, const struct hop_link **link)
{
	const struct hop_switch *sw = &m->hops->switches[s];
	const struct hop_link *by_port[PORT_MAX + 1] = {NULL};
	const struct guid_note *order = NULL;
	unsigned next = 0;

	for (uint32_t i = 0; m->snapshot->options && i < m->snapshot->options->ports.count; i++)
		if (m->snapshot->options->ports.note[i].guid == m->snapshot->switches[s].guid)
			order = &m->snapshot->options->ports.note[i];
	for (uint8_t i = 0; i < sw->num_links; i++)
		by_port[sw->links[i].port] = link[i] = &sw->links[i];
	for (unsigned i = 0; order && i < order->count; i++) {
		if (!by_port[order->number[i]])
			continue;
		link[next++] = by_port[order->number[i]];
		by_port[order->number[i]] = NULL;
	}
	for (unsigned p = 1; order && p <= PORT_MAX; p++)
		if (by_port[p])
			link[next++] = by_port[p];
}

static struct lft *minhop_make_row(const struct minhop *m, uint32_t s)
{
	const struct hop_switch *sw = &m->hops->switches[s];
	const uint8_t *distance = hops_row(m->hops, s);
	const uint8_t *peer_distance[PORT_MAX];
	const struct hop_link *link[PORT_MAX];
	uint8_t candidate[PORT_MAX];
	struct lft *row = lft_new(m->snapshot->lid_top);

	order_links(m, s, link);
	for (uint8_t i = 0; i < sw->num_links; i++)
		peer_distance[i] = hops_row(m->hops, link[i]->peer);

	for (uint32_t d = 0; d < m->snapshot->num_switches; d++) {
		const struct target *target = m->targets + m->first_target[d];
		const struct target *end = m->targets + m->first_target[d + 1];
		uint32_t count = 0;

		if (d == s || distance[d] == HOPS_NONE)
			continue;
		for (uint8_t i = 0; i < sw->num_links; i++) {
			candidate[count] = link[i]->port;
			count += peer_distance[i][d] + link[i]->weight == distance[d];
		}
		for (; target < end; target++)
			row->port[target->lid] =
				candidate[(target->index / m->divisor[s] + target->offset) % count];
	}
	for (uint32_t t = m->first_target[s]; t < m->first_target[s + 1]; t++)
		row->port[m->targets[t].lid] = m->targets[t].exit;
	return row;
}

static void make_rows(void *arg, size_t begin, size_t end)
{
	const struct minhop *m = arg;

	for (size_t s = begin; s < end; s++)
		m->routes->lft[s] = minhop_make_row(m, (uint32_t)s);
}

int minhop_compute(const struct snapshot *snapshot, const struct route_judged *before,
		   struct work_pool *pool, struct routes *routes, char why[ROUTE_WHY_SIZE])
{
	uint32_t num = snapshot->num_switches;
	struct minhop m = {
		.snapshot = snapshot,
		.routes = routes,
		.hops = hops_new(snapshot, pool),
		.leaf_index = mem_array(num, sizeof(uint32_t)),
		.divisor = mem_array(num, sizeof(uint32_t)),
		.first_target = mem_array(num + 1, sizeof(uint32_t)),
	};

	(void)before; /* does not call a checker */
	(void)why;    /* any topology is suitable */
	set_divisors(&m, minhop_number_leaves(&m));
	minhop_collect_targets(&m);
	work_parallel(pool, num, make_rows, &m);

	free(m.targets);
	free(m.first_target);
	free(m.divisor);
	free(m.leaf_index);
	hops_free(m.hops);
	return 0;
}
