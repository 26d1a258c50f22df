/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Credit loops (credit.h), by the condition of Dally and Seitz: paths are free of deadlock if the
 * graph of channels has no cycle. In this graph a channel points to the channels that paths use
 * next. The next channels are a property of a switch: from each input port and VL to each output
 * port and VL. So the graph is a small square of bytes for each switch. Workers fill it in
 * parallel: all write the same value, so the result does not depend on their number or order. Then
 * channels that wait for no other, or for which no other waits, are removed until only cycles are
 * left.
 */
#include "route/credit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/changes.h"

struct credit {
	const struct snapshot *snapshot;
	const struct routes *routes;
	uint32_t vls;
	uint8_t **turns; /* by switch: [port in, VL][port out, VL] */
};

static size_t side(const struct credit *c, uint32_t s)
{
	return (c->snapshot->switches[s].num_ports + 1u) * c->vls;
}

/* Marks a turn. Other workers may write the same byte at the same time. */
static void turn_mark(uint8_t *turn)
{
	if (!__atomic_load_n(turn, __ATOMIC_RELAXED))
		__atomic_store_n(turn, 1, __ATOMIC_RELAXED);
}

/* The next switch behind a port: its table, and its turns from the port of entry. */
struct behind {
	const uint8_t *row; /* NULL: no switch, or none with a table */
	uint8_t *turns;
	uint32_t top;
	uint8_t num_ports;
};

static void look_behind(const struct credit *c, const struct snap_switch *sw,
			struct behind behind[UINT8_MAX + 1])
{
	memset(behind, 0, (UINT8_MAX + 1) * sizeof(*behind));
	for (unsigned p = 1; p <= sw->num_ports; p++) {
		const struct snap_link *link = &c->snapshot->links[sw->first_link + p];
		const struct lft *row = link->sw >= 0 ? c->routes->lft[link->sw] : NULL;

		if (row)
			behind[p] = (struct behind){
				row->port,
				c->turns[link->sw] + link->port * side(c, (uint32_t)link->sw),
				row->top,
				c->snapshot->switches[link->sw].num_ports,
			};
	}
}

/* With one VL the input port does not matter: the entries of a switch and of the next switch
 * suffice. */
static void note_entries(void *arg, size_t begin, size_t end)
{
	const struct credit *c = arg;
	struct behind behind[UINT8_MAX + 1];

	for (size_t s = begin; s < end; s++) {
		const struct lft *row = c->routes->lft[s];

		look_behind(c, &c->snapshot->switches[s], behind);
		for (uint32_t lid = 1; row && lid <= row->top; lid++) {
			const struct behind *to = &behind[row->port[lid]];
			uint8_t next;

			if (!to->row || lid > to->top)
				continue;
			next = to->row[lid];
			if (next > 0 && next <= to->num_ports)
				turn_mark(&to->turns[next]);
		}
	}
}

/* The way of a path, whose SL follows from both ends, and whose VL may change at every switch. */
static void note_path(const struct credit *c, uint32_t from, lid_t lid, int32_t home)
{
	uint8_t sl = routes_sl(c->routes, from, (uint32_t)home), in = 0, vl_in = 0;
	uint32_t s = from;

	for (uint32_t step = 0; step < c->snapshot->num_switches; step++) {
		const struct snap_switch *sw = &c->snapshot->switches[s];
		uint8_t out = lft_port(c->routes->lft[s], lid), vl;
		const struct snap_link *link;

		if (out == 0 || out > sw->num_ports)
			return;
		link = snap_link(c->snapshot, s, out);
		vl = routes_vl(c->routes, s, sw->num_ports, in, out, sl);
		if (link->sw < 0 || vl >= c->vls)
			return;
		if (in)
			turn_mark(&c->turns[s][(in * c->vls + vl_in) * side(c, s) + out * c->vls +
					       vl]);
		in = link->port;
		vl_in = vl;
		s = (uint32_t)link->sw;
	}
}

static void note_paths(void *arg, size_t begin, size_t end)
{
	const struct credit *c = arg;

	for (size_t s = begin; s < end; s++) {
		for (uint32_t lid = 1; lid <= c->snapshot->lid_top; lid++) {
			int32_t home = snap_owner_switch(c->snapshot, c->snapshot->owners[lid]);

			if (home >= 0)
				note_path(c, (uint32_t)s, (lid_t)lid, home);
		}
	}
}

/* Channels */

/* Calls fn for each channel for which the given channel waits (after: which waits for it). The
 * number of a channel is the slot of its output port times VLs, plus its VL. */
static void each_neighbour(const struct credit *c, const uint32_t *sender, uint32_t channel,
			   bool after, void (*fn)(void *arg, uint32_t channel), void *arg)
{
	uint32_t slot = channel / c->vls, vl = channel % c->vls;
	const struct snap_link *link = &c->snapshot->links[slot];
	uint32_t at = after ? (uint32_t)link->sw : sender[slot];
	const struct snap_switch *sw = &c->snapshot->switches[at];
	uint32_t mine = (after ? link->port : slot - sw->first_link) * c->vls + vl;
	size_t row = side(c, at);

	for (unsigned p = 1; p <= sw->num_ports; p++) {
		const struct snap_link *other = snap_link(c->snapshot, at, (uint8_t)p);
		uint32_t far;

		if (other->sw < 0)
			continue;
		far = after ? sw->first_link + p
			    : c->snapshot->switches[other->sw].first_link + other->port;
		for (uint32_t v = 0; v < c->vls; v++) {
			uint32_t theirs = p * c->vls + v;

			if (c->turns[at][after ? mine * row + theirs : theirs * row + mine])
				fn(arg, far * c->vls + v);
		}
	}
}

struct peeling {
	uint32_t *degree, *queue, tail;
	uint8_t *gone;
};

static void count_one(void *arg, uint32_t channel)
{
	struct peeling *peeling = arg;

	peeling->degree[channel]++;
}

static void channel_release(void *arg, uint32_t channel)
{
	struct peeling *peeling = arg;

	if (!peeling->gone[channel] && --peeling->degree[channel] == 0) {
		peeling->gone[channel] = 1;
		peeling->queue[peeling->tail++] = channel;
	}
}

/* Removes, repeatedly, the channels for which no other remaining channel waits (after), or which
 * wait for no other. order, if not NULL: by channel, the order of removal. */
static void peel(const struct credit *c, const uint32_t *sender, uint32_t channels, uint8_t *gone,
		 bool after, uint32_t *order)
{
	struct peeling peeling = {
		.degree = mem_array(channels, sizeof(uint32_t)),
		.queue = mem_array(channels, sizeof(uint32_t)),
		.gone = gone,
	};

	for (uint32_t channel = 0; channel < channels; channel++)
		if (!gone[channel])
			each_neighbour(c, sender, channel, after, count_one, &peeling);
	for (uint32_t channel = 0; channel < channels; channel++) {
		if (gone[channel] || peeling.degree[channel])
			continue;
		gone[channel] = 1;
		peeling.queue[peeling.tail++] = channel;
	}
	for (uint32_t head = 0; head < peeling.tail; head++)
		each_neighbour(c, sender, peeling.queue[head], after, channel_release, &peeling);
	for (uint32_t i = 0; order && i < peeling.tail; i++)
		order[peeling.queue[i]] = i;
	free(peeling.queue);
	free(peeling.degree);
}

struct search {
	const uint8_t *gone;
	uint32_t next;
};

static void take_first(void *arg, uint32_t channel)
{
	struct search *search = arg;

	if (!search->gone[channel] && search->next == UINT32_MAX)
		search->next = channel;
}

/* Each remaining channel has a remaining successor: following the first successors returns to a
 * visited channel. */
static void find_example(const struct credit *c, const uint32_t *sender, uint32_t channel,
			 const uint8_t *gone, uint32_t channels, struct credit_report *out)
{
	uint32_t *met = mem_array(channels, sizeof(*met)), first, steps = 0;

	while (!met[channel]) {
		struct search search = {gone, UINT32_MAX};

		met[channel] = ++steps;
		each_neighbour(c, sender, channel, true, take_first, &search);
		channel = search.next;
	}
	first = channel;
	out->length = steps + 1 - met[first];
	out->vl = (uint8_t)(first % c->vls);
	for (uint32_t i = 0; i < out->length && i < CREDIT_EXAMPLE_MAX; i++) {
		struct search search = {gone, UINT32_MAX};
		uint32_t slot = channel / c->vls, sw = sender[slot];

		out->example[i].sw = sw;
		out->example[i].port = (uint8_t)(slot - c->snapshot->switches[sw].first_link);
		each_neighbour(c, sender, channel, true, take_first, &search);
		channel = search.next;
	}
	free(met);
}

/* order: by channel, or NULL. */
static void find_loops(const struct credit *c, uint32_t *order, struct credit_report *out)
{
	uint32_t channels = c->snapshot->num_links * c->vls;
	uint8_t *gone = mem_array(channels, 1);
	uint32_t *sender = mem_array(c->snapshot->num_links, sizeof(*sender));

	for (uint32_t s = 0; s < c->snapshot->num_switches; s++)
		for (unsigned p = 0; p <= c->snapshot->switches[s].num_ports; p++)
			sender[c->snapshot->switches[s].first_link + p] = s;
	for (uint32_t channel = 0; channel < channels; channel++) {
		gone[channel] = c->snapshot->links[channel / c->vls].sw < 0;
		out->channels += !gone[channel];
	}
	peel(c, sender, channels, gone, true, order);
	peel(c, sender, channels, gone, false, NULL);
	for (uint32_t channel = 0; channel < channels; channel++) {
		if (gone[channel])
			continue;
		if (out->loops++ == 0)
			find_example(c, sender, channel, gone, channels, out);
	}
	free(sender);
	free(gone);
}

static void credit_look_at_all(const struct snapshot *snapshot, const struct routes *routes,
			       struct work_pool *pool, uint32_t *order, struct credit_report *out)
{
	struct credit c = {
		.snapshot = snapshot,
		.routes = routes,
		.vls = routes->sl && routes->vls ? routes->vls : 1,
		.turns = mem_array(snapshot->num_switches, sizeof(uint8_t *)),
	};
	struct credit_report report = {0};

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		c.turns[s] = mem_array(side(&c, s), side(&c, s));
	work_parallel(pool, snapshot->num_switches, routes->sl ? note_paths : note_entries, &c);
	find_loops(&c, order, &report);
	*out = report;
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		free(c.turns[s]);
	free(c.turns);
}

void credit_check(const struct snapshot *snapshot, const struct routes *routes,
		  struct work_pool *pool, struct credit_report *out)
{
	credit_look_at_all(snapshot, routes, pool, NULL, out);
}

/* Proofs */

/* The slot of the link by which a switch sends to a LID; false: it is no link to a switch. */
static bool credit_sends_by(const struct snapshot *snapshot, const struct routes *routes,
			    uint32_t s, lid_t lid, uint32_t *slot)
{
	const struct snap_switch *sw = &snapshot->switches[s];
	uint8_t port = lft_port(routes->lft[s], lid);

	if (port == 0 || port > sw->num_ports || snapshot->links[sw->first_link + port].sw < 0)
		return false;
	*slot = sw->first_link + port;
	return true;
}

/* Whether the turns before and behind an entry ascend in an order. */
static bool keeps_to(const struct snapshot *snapshot, const struct routes *routes,
		     const struct route_change *entry, const uint32_t *order)
{
	const struct snap_switch *sw = &snapshot->switches[entry->sw];
	uint32_t out, next;

	if (!credit_sends_by(snapshot, routes, entry->sw, entry->lid, &out))
		return true;
	if (credit_sends_by(snapshot, routes, (uint32_t)snapshot->links[out].sw, entry->lid,
			    &next) &&
	    order[next] <= order[out])
		return false;
	for (unsigned p = 1; p <= sw->num_ports; p++) {
		const struct snap_link *link = &snapshot->links[sw->first_link + p];
		uint32_t in;

		if (link->sw >= 0 && lft_port(routes->lft[link->sw], entry->lid) == link->port) {
			in = snapshot->switches[link->sw].first_link + link->port;
			if (order[out] <= order[in])
				return false;
		}
	}
	return true;
}

/* Whether the order of the earlier proof also holds for all entries that differ. */
static bool still_holds(const struct snapshot *snapshot, const struct routes *routes,
			const struct route_judged *before)
{
	struct route_changes changes;
	bool holds = true;

	if (!before || !before->routes->order || routes->sl ||
	    !route_changes_find(before->snapshot, before->routes, snapshot, routes, &changes))
		return false;
	for (size_t i = 0; holds && i < changes.count; i++)
		holds = keeps_to(snapshot, routes, &changes.list[i], before->routes->order);
	free(changes.list);
	return holds;
}

static uint32_t count_channels(const struct snapshot *snapshot)
{
	uint32_t count = 0;

	for (uint32_t l = 0; l < snapshot->num_links; l++)
		count += snapshot->links[l].sw >= 0;
	return count;
}

/* An engine that has run the check itself need not run it again. A link that disappears keeps its
 * place in the order until it returns. A new link gets the last place, so that the whole paths
 * behind it are checked. */
void credit_prove(const struct snapshot *snapshot, struct routes *routes,
		  const struct route_judged *before, struct work_pool *pool,
		  struct credit_report *out)
{
	size_t size = snapshot->num_links * sizeof(*routes->order);
	uint32_t *order;

	if (routes->order) {
		*out = (struct credit_report){.channels = count_channels(snapshot)};
		return;
	}
	order = mem_alloc(size + 1);
	if (still_holds(snapshot, routes, before)) {
		memcpy(order, before->routes->order, size);
		*out = (struct credit_report){.channels = count_channels(snapshot)};
	} else {
		memset(order, 0xFF, size);
		credit_look_at_all(snapshot, routes, pool, routes->sl ? NULL : order, out);
	}
	if (out->loops || routes->sl)
		free(order);
	else
		routes->order = order;
}
