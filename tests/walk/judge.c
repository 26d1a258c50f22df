/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A switch sends all packets of a LID by one port. So the fate of a packet depends on its present
 * switch and not on its path to it. Each LID is therefore walked once from each switch: until the
 * walk ends, or reaches a switch whose fate is known, or reaches a switch of its own path.
 *
 * All paths to the LID and the load of ports follow from that. Switches pass on the paths that
 * begin at them and the paths that reached them, the farthest switches first.
 */
#include "tests/walk/judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum fate { UNKNOWN, UNDER_WAY, REACHED, UNREACHED, LOOP };

/* Of a switch, for the present LID. */
struct state {
	enum fate fate;
	unsigned hops;	  /* from here to the end */
	int where;	  /* the switch at which the path fails */
	const char *why;  /* the reason of the failure */
	uint64_t sources; /* paths that begin at it or reach it */
};

struct end {
	int node;
	unsigned port;
};

struct judge {
	const struct walk_fabric *fabric;
	struct walk_verdict *verdict;
	FILE *complain_to;
	unsigned complaints;
	struct end *ends;
	unsigned num_ends;
	struct end to;
	lid_t lid;
	struct state *state; /* by node */
	int *stack;	     /* switches under way */
	int *order;	     /* switches that reach the LID, the nearest first */
	unsigned *first;     /* in order, by hops */
};

static uint8_t out_port(const struct walk_node *node, lid_t lid)
{
	return lid < node->lft_size ? node->lft[lid] : LFT_NO_PORT;
}

/* NULL, or why the table of this switch does not forward the packet. Then the walk ends. */
static const char *dead_end(const struct walk_node *node, unsigned out)
{
	if (!node->lft)
		return "no table of it was read";
	if (out == LFT_NO_PORT)
		return "its table has no port for the LID";
	if (!out)
		return "it takes the LID for its own";
	if (out > node->num_ports)
		return "it has no such port as its table says";
	return node->port[out].peer == WALK_NO_PEER ? "the port has no link" : NULL;
}

/* One step from a switch: its own fate, or UNDER_WAY with the next switch. */
static enum fate step(const struct judge *judge, int at, int *next, const char **why)
{
	const struct walk_node *node = &judge->fabric->nodes[at];
	unsigned out = out_port(node, judge->lid);
	const struct walk_port *port;

	if (at == judge->to.node) {
		*why = "it does not take the LID for its own";
		return out ? UNREACHED : REACHED;
	}
	*why = dead_end(node, out);
	if (*why)
		return UNREACHED;
	port = &node->port[out];
	*next = port->peer;
	if (judge->fabric->nodes[*next].is_switch)
		return UNDER_WAY;
	*why = "the port leads to another end";
	return *next == judge->to.node && port->peer_port == judge->to.port ? REACHED : UNREACHED;
}

/* All switches on the stack get the fate that the last step found. */
static void unwind(struct judge *judge, unsigned depth, const struct state *met)
{
	unsigned hops = met->hops;

	while (depth) {
		struct state *state = &judge->state[judge->stack[--depth]];

		*state = *met;
		state->hops = hops++;
		state->sources = 0;
	}
}

static void walk_from(struct judge *judge, int at)
{
	struct state met = {0};
	unsigned depth = 0;

	while (judge->state[at].fate == UNKNOWN) {
		int next = -1;

		judge->state[at].fate = UNDER_WAY;
		judge->stack[depth++] = at;
		met = (struct state){.where = at};
		met.fate = step(judge, at, &next, &met.why);
		if (met.fate != UNDER_WAY) {
			/* 0 hops from a switch to itself, 1 to an adapter */
			met.hops = at != judge->to.node;
			unwind(judge, depth, &met);
			return;
		}
		at = next;
	}
	met = judge->state[at];
	if (met.fate == UNDER_WAY)
		met = (struct state){.fate = LOOP, .where = at, .why = "it is passed again"};
	met.hops++;
	unwind(judge, depth, &met);
}

/* One path */

static void complain(struct judge *judge, const struct end *from, const struct state *state)
{
	const struct walk_fabric *fabric = judge->fabric;

	if (!judge->complaints)
		return;
	judge->complaints--;
	fprintf(judge->complain_to, "%s: \"%s\" port %u to LID 0x%04x of \"%s\": at \"%s\", %s\n",
		state->fate == LOOP ? "loop" : "unreached", fabric->nodes[from->node].name,
		from->port, judge->lid, fabric->nodes[judge->to.node].name,
		fabric->nodes[state->where].name, state->why);
}

static void count_path(struct judge *judge, const struct end *from, const struct state *state)
{
	struct walk_verdict *verdict = judge->verdict;

	verdict->paths++;
	verdict->reached += state->fate == REACHED;
	verdict->unreached += state->fate == UNREACHED;
	verdict->loops += state->fate == LOOP;
	if (state->fate != REACHED) {
		complain(judge, from, state);
		return;
	}
	verdict->hops[state->hops]++;
	if (state->hops > verdict->hops_max)
		verdict->hops_max = state->hops;
}

/* The peer of an adapter: a switch, or another adapter without a switch in between. */
static void judge_path(struct judge *judge, const struct end *from)
{
	const struct walk_node *node = &judge->fabric->nodes[from->node];
	const struct walk_port *port = &node->port[from->port];
	struct state state;
	int next = node->is_switch ? from->node : port->peer;

	if (judge->fabric->nodes[next].is_switch) {
		state = judge->state[next];
		judge->state[next].sources++;
		state.hops += !node->is_switch;
	} else {
		bool is_end = next == judge->to.node && port->peer_port == judge->to.port;

		state = (struct state){.fate = is_end ? REACHED : UNREACHED,
				       .hops = 1,
				       .where = next,
				       .why = "it is another end"};
	}
	count_path(judge, from, &state);
}

/* Load */

/* Sorts the switches that reach the LID by their hops. */
static unsigned sort_by_hops(struct judge *judge)
{
	unsigned count = judge->fabric->count, sum = 0;
	unsigned *first = judge->first;

	memset(first, 0, (count + 2) * sizeof(*first));
	for (unsigned n = 0; n < count; n++) {
		if (judge->state[n].fate == REACHED)
			first[judge->state[n].hops + 1]++;
	}
	for (unsigned h = 0; h <= count + 1; h++)
		sum = first[h] += sum;
	for (unsigned n = 0; n < count; n++) {
		if (judge->state[n].fate == REACHED)
			judge->order[first[judge->state[n].hops]++] = (int)n;
	}
	return sum;
}

static void spread_load(struct judge *judge)
{
	for (unsigned i = sort_by_hops(judge); i-- > 0;) {
		int at = judge->order[i];
		const struct walk_node *node = &judge->fabric->nodes[at];
		unsigned out = out_port(node, judge->lid);
		uint64_t sources = judge->state[at].sources;
		struct walk_load *load = &judge->verdict->load[at][out];

		if (!out || !sources)
			continue;
		load->paths += sources;
		load->dlids++;
		judge->state[node->port[out].peer].sources += sources;
	}
}

/* All paths to one LID */

static void judge_lid(struct judge *judge, const struct end *to, lid_t lid)
{
	const struct walk_fabric *fabric = judge->fabric;

	judge->to = *to;
	judge->lid = lid;
	memset(judge->state, 0, fabric->count * sizeof(*judge->state));
	for (unsigned n = 0; n < fabric->count; n++) {
		if (fabric->nodes[n].is_switch)
			walk_from(judge, (int)n);
	}
	for (unsigned i = 0; i < judge->num_ends; i++) {
		if (judge->ends[i].node != to->node || judge->ends[i].port != to->port)
			judge_path(judge, &judge->ends[i]);
	}
	spread_load(judge);
}

static bool is_end(const struct walk_node *node, unsigned port, bool with_switches)
{
	if (node->is_switch)
		return with_switches && !port;
	return node->port[port].peer != WALK_NO_PEER;
}

static void find_ends(struct judge *judge, bool with_switches)
{
	for (unsigned n = 0; n < judge->fabric->count; n++) {
		const struct walk_node *node = &judge->fabric->nodes[n];

		for (unsigned p = 0; p <= node->num_ports; p++) {
			if (!is_end(node, p, with_switches))
				continue;
			judge->ends =
				mem_resize(judge->ends, judge->num_ends + 1, sizeof(*judge->ends));
			judge->ends[judge->num_ends++] = (struct end){(int)n, p};
		}
	}
}

void walk_judge(const struct walk_fabric *fabric, bool with_switches, FILE *complain_to,
		unsigned complaints, struct walk_verdict *verdict)
{
	struct judge judge = {.fabric = fabric,
			      .verdict = verdict,
			      .complain_to = complain_to,
			      .complaints = complaints,
			      .state = mem_array(fabric->count, sizeof(struct state)),
			      .stack = mem_array(fabric->count, sizeof(int)),
			      .order = mem_array(fabric->count, sizeof(int)),
			      .first = mem_array(fabric->count + 2, sizeof(unsigned))};

	*verdict = (struct walk_verdict){.hops = mem_array(fabric->count + 2, sizeof(uint64_t)),
					 .load = mem_array(fabric->count, sizeof(void *))};
	for (unsigned n = 0; n < fabric->count; n++) {
		if (fabric->nodes[n].is_switch)
			verdict->load[n] =
				mem_array(fabric->nodes[n].num_ports + 1, sizeof(struct walk_load));
	}
	find_ends(&judge, with_switches);
	for (unsigned i = 0; i < judge.num_ends; i++) {
		const struct end *to = &judge.ends[i];
		const struct walk_port *port = &fabric->nodes[to->node].port[to->port];

		for (unsigned k = 0; k < 1u << port->lmc; k++)
			judge_lid(&judge, to, port->lid + k);
	}
	free(judge.ends);
	free(judge.state);
	free(judge.stack);
	free(judge.order);
	free(judge.first);
}

void walk_verdict_done(const struct walk_fabric *fabric, struct walk_verdict *verdict)
{
	for (unsigned n = 0; n < fabric->count; n++)
		free(verdict->load[n]);
	free(verdict->load);
	free(verdict->hops);
}
