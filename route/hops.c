/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Distances between switches (hops.h): a breadth-first search from each switch, on workers, each
 * writing the row of its switch. A row is bytes, so that the rows of a switch's neighbours, which
 * an engine compares column by column, stay in the nearest cache.
 */
#include "route/hops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct ranked_link {
	uint8_t round; /* links to the same peer on lower ports */
	struct hop_link link;
};

static int rounds_order(const void *left, const void *right)
{
	const struct ranked_link *a = left, *b = right;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return (a->link.peer > b->link.peer) - (a->link.peer < b->link.peer);
}

/* Writes the links of one switch to out and returns how many. A cable back to the same switch leads
 * nowhere. */
static uint8_t collect_links(const struct snapshot *snapshot, uint32_t s, struct hop_switch *sw,
			     struct hop_link *out)
{
	struct ranked_link found[PORT_MAX] = {0};
	uint8_t count = 0;

	sw->num_peers = 0;
	for (unsigned p = 1; p <= snapshot->switches[s].num_ports && p <= PORT_MAX; p++) {
		const struct snap_link *link = snap_link(snapshot, s, (uint8_t)p);
		struct ranked_link *next = &found[count];

		if (link->sw < 0 || link->sw == (int32_t)s)
			continue;
		*next = (struct ranked_link){0, {(uint32_t)link->sw, (uint8_t)p}};
		for (uint8_t i = 0; i < count; i++)
			next->round += found[i].link.peer == next->link.peer;
		sw->num_peers += next->round == 0;
		count++;
	}
	qsort(found, count, sizeof(found[0]), rounds_order);
	for (uint8_t i = 0; i < count; i++)
		out[i] = found[i].link;
	sw->links = out;
	sw->num_links = count;
	return count;
}

static void search_from(const struct hops *hops, uint32_t from, uint32_t *queue)
{
	uint8_t *distance = hops->distance + (size_t)from * hops->num_switches;
	uint32_t head = 0, tail = 0;

	memset(distance, HOPS_NONE, hops->num_switches);
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		const struct hop_switch *sw = &hops->switches[queue[head]];
		uint8_t next = distance[queue[head++]] + 1;

		for (uint8_t i = 0; i < sw->num_peers && next < HOPS_NONE; i++) {
			uint32_t peer = sw->links[i].peer;

			if (distance[peer] != HOPS_NONE)
				continue;
			distance[peer] = next;
			queue[tail++] = peer;
		}
	}
}

static void search_slice(void *arg, size_t begin, size_t end)
{
	const struct hops *hops = arg;
	uint32_t *queue = mem_array(hops->num_switches, sizeof(*queue));

	for (size_t s = begin; s < end; s++)
		search_from(hops, (uint32_t)s, queue);
	free(queue);
}

struct hops *hops_new(const struct snapshot *snapshot, struct work_pool *pool)
{
	uint32_t num = snapshot->num_switches;
	struct hops *hops = mem_zalloc(sizeof(*hops));
	size_t used = 0;

	hops->num_switches = num;
	hops->switches = mem_array(num, sizeof(*hops->switches));
	hops->links = mem_array(snapshot->num_links, sizeof(*hops->links));
	for (uint32_t s = 0; s < num; s++)
		used += collect_links(snapshot, s, &hops->switches[s], hops->links + used);
	hops->distance = mem_alloc((size_t)num * num);
	work_parallel(pool, num, search_slice, hops);
	return hops;
}

void hops_free(struct hops *hops)
{
	free(hops->distance);
	free(hops->links);
	free(hops->switches);
	free(hops);
}
