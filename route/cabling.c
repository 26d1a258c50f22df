/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Builds a cabling (cabling.h) from a snapshot's cables. Each live switch knows where its ports
 * lead or led. Of a remembered switch only its neighbours' data are known, so its ways are the
 * reverse of theirs, without port numbers.
 */
#include "route/cabling.h"

#include <stdlib.h>

#include "lib/mem.h"

/* One port of a live switch that leads or led to another switch. */
struct cable {
	uint32_t from, to;
	guid_t to_guid;
	uint8_t port;
	bool live;
};

static int cabling_guid_order(const void *left, const void *right)
{
	guid_t a = *(const guid_t *)left, b = *(const guid_t *)right;

	return (a > b) - (a < b);
}

static int by_way(const void *left, const void *right)
{
	const struct cable *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to_guid != b->to_guid)
		return a->to_guid < b->to_guid ? -1 : 1;
	return a->port - b->port;
}

/* Searches the live switches, then the remembered switches. */
int32_t cabling_find(const struct cabling *cabling, guid_t guid)
{
	const struct {
		uint32_t first, count;
	} parts[] = {{0, cabling->num_live},
		     {cabling->num_live, cabling->count - cabling->num_live}};

	_Static_assert(offsetof(struct cabled_switch, guid) == 0, "searched by GUID");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct cabled_switch *found =
			bsearch(&guid, cabling->switches + parts[i].first, parts[i].count,
				sizeof(*found), cabling_guid_order);

		if (found)
			return (int32_t)(found - cabling->switches);
	}
	return -1;
}

/* Every cable between two different switches, as its live ends report it. */
static uint32_t collect_cables(const struct snapshot *snapshot, struct cable *cables)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++) {
			const struct snap_cable *cable = snap_cable(snapshot, s, (uint8_t)p);

			if (cable->kind != CABLE_SWITCH ||
			    cable->guid == snapshot->switches[s].guid)
				continue;
			cables[count++] = (struct cable){
				.from = s,
				.to_guid = cable->guid,
				.port = (uint8_t)p,
				.live = snap_link(snapshot, s, (uint8_t)p)->sw >= 0,
			};
		}
	}
	return count;
}

/* Makes the switches: live switches, then those that only cables name. */
static void add_switches(struct cabling *cabling, const struct snapshot *snapshot,
			 const struct cable *cables, uint32_t count)
{
	guid_t *gone = mem_array(count + 1, sizeof(*gone));
	uint32_t num_gone = 0, unique = 0;

	for (uint32_t i = 0; i < count; i++)
		if (snapshot_find_switch(snapshot, cables[i].to_guid) < 0)
			gone[num_gone++] = cables[i].to_guid;
	qsort(gone, num_gone, sizeof(*gone), cabling_guid_order);
	for (uint32_t i = 0; i < num_gone; i++)
		if (i == 0 || gone[i] != gone[i - 1])
			gone[unique++] = gone[i];

	cabling->num_live = snapshot->num_switches;
	cabling->count = cabling->num_live + unique;
	cabling->switches = mem_array(cabling->count, sizeof(*cabling->switches));
	for (uint32_t s = 0; s < cabling->num_live; s++) {
		struct cabled_switch *sw = &cabling->switches[s];

		sw->guid = snapshot->switches[s].guid;
		for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++)
			sw->places += snap_cable(snapshot, s, (uint8_t)p)->kind == CABLE_HOST;
	}
	for (uint32_t g = 0; g < unique; g++)
		cabling->switches[cabling->num_live + g].guid = gone[g];
	free(gone);
}

/* Cables come sorted: neighbouring ones between the same switches are one way. */
static uint32_t add_live_ways(struct cabling *cabling, const struct cable *cables, uint32_t count)
{
	uint32_t ways = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct cable *cable = &cables[i];
		struct cabled_switch *from = &cabling->switches[cable->from];
		struct way *way;

		if (i == 0 || cable[-1].from != cable->from ||
		    cable[-1].to_guid != cable->to_guid) {
			if (!from->num_ways)
				from->first_way = ways;
			from->num_ways++;
			cabling->ways[ways++] = (struct way){.peer = cable->to, .first_port = i};
		}
		way = &cabling->ways[ways - 1];
		way->num_ports++;
		way->num_live += cable->live;
		cabling->ports[i] = (struct way_port){cable->port, cable->live};
	}
	return ways;
}

/* A switch that disappeared has a way, without ports, to each live switch that remembers it. At
 * most 255 ways have numbers; further ways are left out. */
static void add_remembered_ways(struct cabling *cabling, uint32_t live_ways)
{
	uint32_t next = live_ways;

	for (uint32_t g = cabling->num_live; g < cabling->count; g++)
		cabling->switches[g].first_way = UINT32_MAX;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < cabling->num_live; s++) {
			const struct way *ways = cabling_ways(cabling, s);

			for (uint8_t w = 0; w < cabling->switches[s].num_ways; w++) {
				struct cabled_switch *gone = &cabling->switches[ways[w].peer];

				if (ways[w].peer < cabling->num_live || gone->num_ways == UINT8_MAX)
					continue;
				if (pass)
					cabling->ways[gone->first_way + gone->num_ways] =
						(struct way){.peer = s};
				gone->num_ways++;
			}
		}
		for (uint32_t g = cabling->num_live; !pass && g < cabling->count; g++) {
			cabling->switches[g].first_way = next;
			next += cabling->switches[g].num_ways;
			cabling->switches[g].num_ways = 0;
		}
	}
}

/* The number of hosts of an absent switch, as its neighbours remember it. */
static void recall_places(struct cabling *cabling, const struct snapshot *snapshot)
{
	for (uint32_t s = 0; s < cabling->num_live; s++) {
		for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++) {
			const struct snap_cable *cable = snap_cable(snapshot, s, (uint8_t)p);
			int32_t peer = cable->kind == CABLE_SWITCH
					       ? cabling_find(cabling, cable->guid)
					       : -1;

			if (peer >= (int32_t)cabling->num_live &&
			    cabling->switches[peer].places < cable->hosts)
				cabling->switches[peer].places = cable->hosts;
		}
	}
}

struct cabling *cabling_new(const struct snapshot *snapshot)
{
	struct cabling *cabling = mem_zalloc(sizeof(*cabling));
	struct cable *cables = mem_array(snapshot->num_links, sizeof(*cables));
	uint32_t count = collect_cables(snapshot, cables), live_ways;

	add_switches(cabling, snapshot, cables, count);
	for (uint32_t i = 0; i < count; i++)
		cables[i].to = (uint32_t)cabling_find(cabling, cables[i].to_guid);
	qsort(cables, count, sizeof(*cables), by_way);
	cabling->ways = mem_array(2 * (size_t)count, sizeof(*cabling->ways));
	cabling->ports = mem_array(count, sizeof(*cabling->ports));
	live_ways = add_live_ways(cabling, cables, count);
	if (cabling->count > cabling->num_live) {
		add_remembered_ways(cabling, live_ways);
		recall_places(cabling, snapshot);
	}
	free(cables);
	return cabling;
}

void cabling_free(struct cabling *cabling)
{
	free(cabling->ports);
	free(cabling->ways);
	free(cabling->switches);
	free(cabling);
}
