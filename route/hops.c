/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Distances between switches (hops.h): a breadth-first search from each switch, on workers, each of
 * which writes the row of its switch. A row is bytes. So the rows of a switch's neighbours, which
 * an engine compares column by column, stay in the nearest cache.
 */
#include "route/hops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct ranked_link {
	uint8_t round; /* links to the same peer by lower ports */
	struct hop_link link;
};

static int rounds_order(const void *left, const void *right)
{
	const struct ranked_link *a = left, *b = right;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return (a->link.peer > b->link.peer) - (a->link.peer < b->link.peer);
}

/* Writes the links of a switch to out and returns their number. A cable back to the same switch is
 * left out. */
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
		*next = (struct ranked_link){0, {(uint32_t)link->sw, (uint8_t)p, 1}};
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

/*
 * The same with weights, which may differ by direction: a switch whose distance falls is visited
 * again. The queue is a ring, because a switch is in it at most once.
 */
static void search_weighted(const struct hops *hops, uint32_t from, uint32_t *queue, bool *queued)
{
	uint8_t *distance = hops->distance + (size_t)from * hops->num_switches;
	uint32_t head = 0, count = 1;

	memset(distance, HOPS_NONE, hops->num_switches);
	distance[from] = 0;
	queue[head] = from;
	for (; count > 0; count--) {
		uint32_t s = queue[head];
		const struct hop_switch *sw = &hops->switches[s];

		head = head + 1 < hops->num_switches ? head + 1 : 0;
		queued[s] = false;
		for (uint8_t i = 0; i < sw->num_links; i++) {
			uint32_t peer = sw->links[i].peer;
			unsigned next = distance[s] + sw->links[i].weight;

			if (next >= distance[peer])
				continue;
			distance[peer] = (uint8_t)next;
			if (!queued[peer])
				queue[(head + count++ - 1) % hops->num_switches] = peer;
			queued[peer] = true;
		}
	}
}

static void search_slice(void *arg, size_t begin, size_t end)
{
	const struct hops *hops = arg;
	uint32_t *queue = mem_array(hops->num_switches, sizeof(*queue));
	bool *queued = mem_array(hops->num_switches, sizeof(*queued));

	for (size_t s = begin; s < end; s++) {
		if (hops->weighted)
			search_weighted(hops, (uint32_t)s, queue, queued);
		else
			search_from(hops, (uint32_t)s, queue);
	}
	free(queued);
	free(queue);
}

/* "GUID port weight"; the last of two lines for a port applies. */
static void set_weights(struct hops *hops, const struct snapshot *snapshot,
			const struct guid_notes *weights)
{
	for (uint32_t i = 0; i < weights->count; i++) {
		const struct guid_note *note = &weights->note[i];
		int32_t s = snapshot_find_switch(snapshot, note->guid);

		for (uint8_t l = 0; s >= 0 && l < hops->switches[s].num_links; l++) {
			struct hop_link *link =
				hops->links + (hops->switches[s].links - hops->links) + l;

			if (link->port != note->number[0])
				continue;
			link->weight = note->number[1];
			hops->weighted = true;
		}
	}
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
	if (snapshot->options)
		set_weights(hops, snapshot, &snapshot->options->weights);
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
