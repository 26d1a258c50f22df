/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/walk/figures.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { HOPS_MOST = 256 };

struct host {
	int node;
	unsigned port;
	lid_t lid;
};

struct survey {
	const struct walk_fabric *fabric;
	struct host *hosts;
	unsigned num_hosts, num_links;
	int *first_link; /* by node: the number of the link that leaves by its port 1 */
};

static int by_lid(const void *left, const void *right)
{
	return ((const struct host *)left)->lid - ((const struct host *)right)->lid;
}

static void find_hosts(struct survey *survey)
{
	const struct walk_fabric *fabric = survey->fabric;

	for (unsigned n = 0; n < fabric->count; n++) {
		const struct walk_node *node = &fabric->nodes[n];

		for (unsigned p = 1; !node->is_switch && p <= node->num_ports; p++) {
			if (node->port[p].peer == WALK_NO_PEER)
				continue;
			survey->hosts = mem_resize(survey->hosts, survey->num_hosts + 1,
						   sizeof(*survey->hosts));
			survey->hosts[survey->num_hosts++] =
				(struct host){(int)n, p, node->port[p].lid};
		}
	}
	qsort(survey->hosts, survey->num_hosts, sizeof(*survey->hosts), by_lid);
}

/* Every port of a switch has a number, even if its link does not lead to another switch. */
static void number_links(struct survey *survey)
{
	survey->first_link = mem_array(survey->fabric->count, sizeof(*survey->first_link));
	for (unsigned n = 0; n < survey->fabric->count; n++) {
		survey->first_link[n] = (int)survey->num_links;
		survey->num_links += survey->fabric->nodes[n].num_ports;
	}
}

/* The port by which a switch forwards a LID, if it leads to another node; else NULL. */
static const struct walk_port *next_hop(const struct walk_fabric *fabric, int at, lid_t lid,
					unsigned *out)
{
	const struct walk_node *node = &fabric->nodes[at];

	*out = lid < node->lft_size ? node->lft[lid] : LFT_NO_PORT;
	if (!*out || *out > node->num_ports || node->port[*out].peer == WALK_NO_PEER)
		return NULL;
	return &node->port[*out];
}

/* The links between switches on the path from one host to another. Returns how many, or -1 if the
 * packet does not arrive. */
static int follow(const struct survey *survey, const struct host *from, const struct host *to,
		  int links[HOPS_MOST])
{
	const struct walk_fabric *fabric = survey->fabric;
	int at = fabric->nodes[from->node].port[from->port].peer, count = 0;

	while (count < HOPS_MOST) {
		unsigned out;
		const struct walk_port *port = next_hop(fabric, at, to->lid, &out);

		if (!port)
			return -1;
		if (!fabric->nodes[port->peer].is_switch)
			return port->peer == to->node && port->peer_port == to->port ? count : -1;
		links[count++] = survey->first_link[at] + (int)out - 1;
		at = port->peer;
	}
	return -1;
}

/* All to all: paths of each link, and its senders and receivers, each counted once. */
static void all_to_all(const struct survey *survey, struct walk_figures *out)
{
	uint64_t *paths = mem_array(survey->num_links, sizeof(*paths));
	unsigned *senders = mem_array(survey->num_links, sizeof(*senders));
	unsigned *receivers = mem_array(survey->num_links, sizeof(*receivers));
	bool *sends = mem_array((size_t)survey->num_links, sizeof(*sends));
	bool *receives =
		mem_array((size_t)survey->num_links * survey->num_hosts, sizeof(*receives));
	int links[HOPS_MOST];

	for (unsigned from = 0; from < survey->num_hosts; from++) {
		memset(sends, 0, survey->num_links * sizeof(*sends));
		for (unsigned to = 0; to < survey->num_hosts; to++) {
			int count = from == to ? 0
					       : follow(survey, &survey->hosts[from],
							&survey->hosts[to], links);

			out->unreached += count < 0;
			for (int i = 0; i < count; i++) {
				bool *receiver =
					&receives[(size_t)links[i] * survey->num_hosts + to];

				paths[links[i]]++;
				senders[links[i]] += !sends[links[i]];
				receivers[links[i]] += !*receiver;
				sends[links[i]] = *receiver = true;
			}
		}
	}
	for (unsigned i = 0; i < survey->num_links; i++) {
		unsigned risk = senders[i] < receivers[i] ? senders[i] : receivers[i];

		out->sum += paths[i];
		out->fullest = paths[i] > out->fullest ? paths[i] : out->fullest;
		out->risk = risk > out->risk ? risk : out->risk;
	}
	free(paths);
	free(senders);
	free(receivers);
	free(sends);
	free(receives);
}

static void worst_shift(const struct survey *survey, struct walk_figures *out)
{
	unsigned *flows = mem_array(survey->num_links, sizeof(*flows));
	int links[HOPS_MOST];

	for (unsigned shift = 1; shift < survey->num_hosts; shift++) {
		memset(flows, 0, survey->num_links * sizeof(*flows));
		for (unsigned from = 0; from < survey->num_hosts; from++) {
			unsigned to = (from + shift) % survey->num_hosts;
			int count = follow(survey, &survey->hosts[from], &survey->hosts[to], links);

			for (int i = 0; i < count; i++)
				if (++flows[links[i]] > out->shift)
					out->shift = flows[links[i]];
		}
	}
	free(flows);
}

/* The dependencies between links: link A waits for link B if packets for some LID go from A to B. A
 * switch forwards packets of any source, so a path may begin at each switch. */
struct wait_list {
	unsigned *link, count;
};

struct waits {
	struct wait_list *lists; /* by link */
	bool *seen;
	unsigned *stack;
};

static void note_wait(struct wait_list *list, unsigned link)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->link[i] == link)
			return;
	list->link = mem_resize(list->link, list->count + 1, sizeof(*list->link));
	list->link[list->count++] = link;
}

static void note_waits(const struct survey *survey, lid_t lid, struct waits *waits)
{
	const struct walk_fabric *fabric = survey->fabric;

	for (unsigned n = 0; n < fabric->count; n++) {
		const struct walk_port *port, *onwards;
		unsigned out, then;

		port = fabric->nodes[n].is_switch ? next_hop(fabric, (int)n, lid, &out) : NULL;
		if (!port || !fabric->nodes[port->peer].is_switch)
			continue;
		onwards = next_hop(fabric, port->peer, lid, &then);
		if (onwards && fabric->nodes[onwards->peer].is_switch)
			note_wait(&waits->lists[survey->first_link[n] + (int)out - 1],
				  (unsigned)survey->first_link[port->peer] + then - 1);
	}
}

static bool waits_for_itself(struct waits *waits, unsigned num_links, unsigned link)
{
	unsigned depth = 0;

	memset(waits->seen, 0, num_links * sizeof(*waits->seen));
	waits->stack[depth++] = link;
	while (depth) {
		const struct wait_list *list = &waits->lists[waits->stack[--depth]];

		for (unsigned i = 0; i < list->count; i++) {
			if (list->link[i] == link)
				return true;
			if (!waits->seen[list->link[i]])
				waits->stack[depth++] = list->link[i];
			waits->seen[list->link[i]] = true;
		}
	}
	return false;
}

static void credit_loops(const struct survey *survey, struct walk_figures *out)
{
	struct waits waits = {.lists = mem_array(survey->num_links, sizeof(*waits.lists)),
			      .seen = mem_array(survey->num_links, sizeof(*waits.seen)),
			      .stack = mem_array(survey->num_links, sizeof(*waits.stack))};

	for (unsigned n = 0; n < survey->fabric->count; n++) {
		const struct walk_node *node = &survey->fabric->nodes[n];

		for (unsigned p = 0; p <= node->num_ports; p++)
			if (node->port[p].lid != LID_NONE)
				note_waits(survey, node->port[p].lid, &waits);
	}
	for (unsigned i = 0; i < survey->num_links; i++)
		out->waiting += waits_for_itself(&waits, survey->num_links, i);
	for (unsigned i = 0; i < survey->num_links; i++)
		free(waits.lists[i].link);
	free(waits.lists);
	free(waits.seen);
	free(waits.stack);
}

void walk_figures(const struct walk_fabric *fabric, struct walk_figures *out)
{
	struct survey survey = {.fabric = fabric};

	*out = (struct walk_figures){0};
	find_hosts(&survey);
	number_links(&survey);
	all_to_all(&survey, out);
	worst_shift(&survey, out);
	credit_loops(&survey, out);
	free(survey.hosts);
	free(survey.first_link);
}
