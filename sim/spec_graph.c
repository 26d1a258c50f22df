/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The remaining families: dragonfly, random regular graphs, and a single switch.
 */
#include "sim/spec_family.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/map.h"
#include "lib/mem.h"
#include "lib/random.h"

/* sw-01 */
void number_name(const struct spec *spec, unsigned index, char *name, size_t size)
{
	snprintf(name, size, "sw-%0*u", spec_digits(spec->switches), index + 1);
}

int single_plan(struct spec *spec)
{
	spec->switches = spec->host_switches = 1;
	spec->hosts_each = spec->switch_ports = spec->number[KEY_HOSTS];
	return 0;
}

/*
 * Dragonfly: groups of a routers, all cabled with each other; each router has p hosts and h cables
 * to other groups. There are a * h + 1 groups, the maximum with a cable between any two. Ports:
 * hosts, then the group's other routers in ascending order, then other groups.
 */
struct dragonfly {
	unsigned a, h, p, groups;
};

static struct dragonfly get_dragonfly(const struct spec *spec)
{
	unsigned a = spec->number[KEY_A], h = spec->number[KEY_H];

	return (struct dragonfly){a, h, spec->number[KEY_P], a * h + 1};
}

int dragonfly_plan(struct spec *spec)
{
	struct dragonfly fly = get_dragonfly(spec);
	unsigned ports = fly.p + fly.a - 1 + fly.h;

	if (ports > PORT_MAX)
		return spec_fail(spec, "p + a - 1 + h = %u ports, but a switch has at most %d",
				 ports, PORT_MAX);
	spec->switches = spec->host_switches = (uint64_t)fly.groups * fly.a;
	spec->hosts_each = fly.p;
	spec->switch_ports = ports;
	return 0;
}

void dragonfly_name(const struct spec *spec, unsigned index, char *name, size_t size)
{
	struct dragonfly fly = get_dragonfly(spec);

	snprintf(name, size, "sw-g%0*u-%0*u", spec_digits(fly.groups), index / fly.a + 1,
		 spec_digits(fly.a), index % fly.a + 1);
}

static void wire_group(struct spec *spec, const struct dragonfly *fly, unsigned group)
{
	unsigned first = group * fly->a;

	for (unsigned i = 0; i < fly->a; i++)
		for (unsigned j = i + 1; j < fly->a; j++)
			spec_cable(spec, first + i, fly->p + j, first + j, fly->p + i + 1);
}

/* Outlet q of a group, counted over its routers, leads to the group q + 1 further on. From there
 * this group is groups - q - 1 further on, so at outlet a * h - 1 - q. */
static void wire_outlets(struct spec *spec, const struct dragonfly *fly, unsigned group)
{
	unsigned outlets = fly->a * fly->h;
	unsigned first_port = fly->p + fly->a;

	for (unsigned q = 0; q < outlets; q++) {
		unsigned other = (group + q + 1) % fly->groups;
		unsigned back = outlets - 1 - q;

		if (group < other)
			spec_cable(spec, group * fly->a + q / fly->h, first_port + q % fly->h,
				   other * fly->a + back / fly->h, first_port + back % fly->h);
	}
}

void dragonfly_wire(struct spec *spec)
{
	struct dragonfly fly = get_dragonfly(spec);

	for (unsigned group = 0; group < fly.groups; group++) {
		wire_group(spec, &fly, group);
		wire_outlets(spec, &fly, group);
	}
}

/*
 * Random: a connected graph without parallel links, in which every switch has the given degree; if
 * switches and degree are both odd, one switch has one less. It begins as a circle with chords,
 * which has these degrees. Then random pairs of edges a-b, c-d become a-c, b-d, which keeps the
 * degrees; separated pieces are joined by such exchanges, too.
 */
struct edge {
	unsigned a, b;
};

struct graph {
	unsigned nodes;
	struct edge *edges;
	size_t count;
	struct map present; /* by edge_key */
};

static uint64_t edge_key(unsigned a, unsigned b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static bool has_edge(const struct graph *graph, unsigned a, unsigned b)
{
	return map_get(&graph->present, edge_key(a, b)) != NULL;
}

static void set_edge(struct graph *graph, size_t index, unsigned a, unsigned b)
{
	graph->edges[index] = (struct edge){a, b};
	map_put(&graph->present, edge_key(a, b), graph);
}

static void add_edge(struct graph *graph, unsigned a, unsigned b)
{
	set_edge(graph, graph->count++, a, b);
}

int random_plan(struct spec *spec)
{
	unsigned switches = spec->number[KEY_SWITCHES], degree = spec->number[KEY_DEGREE];
	unsigned hosts = spec->number[KEY_HOSTS];

	if (degree >= switches)
		return spec_fail(spec, "degree=%u: with switches=%u a switch has only %u others",
				 degree, switches, switches - 1);
	if ((uint64_t)switches * degree / 2 < switches - 1)
		return spec_fail(spec,
				 "degree=%u: %u switches have %" PRIu64
				 " links then, but need %u to be connected",
				 degree, switches, (uint64_t)switches * degree / 2, switches - 1);
	if (hosts + degree > PORT_MAX)
		return spec_fail(spec,
				 "hosts=%u + degree=%u need %u ports, but a switch has at most %d",
				 hosts, degree, hosts + degree, PORT_MAX);
	spec->switches = spec->host_switches = switches;
	spec->hosts_each = hosts;
	spec->switch_ports = hosts + degree;
	return 0;
}

/* Chords of every length up to half the degree, and for an odd one those to the opposite switch. */
static void begin_circle(struct graph *graph, unsigned degree)
{
	for (unsigned i = 0; i < graph->nodes; i++)
		for (unsigned chord = 1; chord <= degree / 2; chord++)
			add_edge(graph, i, (i + chord) % graph->nodes);
	for (unsigned i = 0; degree % 2 && i < graph->nodes / 2; i++)
		add_edge(graph, i, i + graph->nodes / 2);
}

/* Refuses an exchange that would make a loop or a parallel link. */
static bool exchange(struct graph *graph, size_t first, size_t second, bool crosswise)
{
	struct edge one = graph->edges[first], two = graph->edges[second];

	if (crosswise)
		two = (struct edge){two.b, two.a};
	if (one.a == two.a || one.b == two.b || has_edge(graph, one.a, two.a) ||
	    has_edge(graph, one.b, two.b))
		return false;
	map_remove(&graph->present, edge_key(one.a, one.b));
	map_remove(&graph->present, edge_key(two.a, two.b));
	set_edge(graph, first, one.a, two.a);
	set_edge(graph, second, one.b, two.b);
	return true;
}

static void graph_shuffle(struct graph *graph, uint64_t seed)
{
	uint64_t state = seed;

	for (size_t i = 0; i < graph->count * 10; i++) {
		size_t first = spec_random_below(&state, graph->count);
		size_t second = spec_random_below(&state, graph->count);

		if (first != second)
			exchange(graph, first, second, random_next(&state) & 1);
	}
}

static unsigned find_piece(unsigned *piece, unsigned node)
{
	while (piece[node] != node)
		node = piece[node] = piece[piece[node]];
	return node;
}

/* The piece of each node, and for each piece an edge that closes a cycle in it. */
static void find_pieces(const struct graph *graph, unsigned *piece, size_t *closing)
{
	for (unsigned i = 0; i < graph->nodes; i++) {
		piece[i] = i;
		closing[i] = graph->count; /* none */
	}
	for (size_t i = 0; i < graph->count; i++) {
		unsigned a = find_piece(piece, graph->edges[i].a);
		unsigned b = find_piece(piece, graph->edges[i].b);

		if (a == b) {
			closing[a] = i;
			continue;
		}
		piece[a] = b;
		if (closing[b] == graph->count)
			closing[b] = closing[a];
	}
}

/*
 * Joins a piece to that of node 0; false: there is none. The edge taken from the other piece closes
 * a cycle, so that piece stays connected; and if the first edge was a bridge, it gets both halves.
 * Such an edge exists: pieces can only separate if every switch has two links, and a piece without
 * a cycle would have ends with only one.
 */
static bool join_piece(struct graph *graph, unsigned *piece, size_t *closing)
{
	unsigned main_piece;

	find_pieces(graph, piece, closing);
	main_piece = find_piece(piece, 0);
	for (unsigned i = 0; i < graph->nodes; i++) {
		unsigned other = find_piece(piece, i);
		size_t first = 0;

		if (other == main_piece)
			continue;
		while (find_piece(piece, graph->edges[first].a) != main_piece)
			first++;
		assert(closing[other] < graph->count);
		exchange(graph, first, closing[other], false);
		return true;
	}
	return false;
}

static void connect_pieces(struct graph *graph)
{
	unsigned *piece = mem_array(graph->nodes, sizeof(*piece));
	size_t *closing = mem_array(graph->nodes, sizeof(*closing));

	while (join_piece(graph, piece, closing))
		;
	free(closing);
	free(piece);
}

static int compare_edges(const void *left, const void *right)
{
	const struct edge *l = left, *r = right;
	uint64_t left_key = edge_key(l->a, l->b), right_key = edge_key(r->a, r->b);

	return (left_key > right_key) - (left_key < right_key);
}

/* Ports are taken in the order of the peers, so that the file is easy to follow. */
static void cable_edges(struct spec *spec, struct graph *graph)
{
	unsigned *used = mem_array(graph->nodes, sizeof(*used));

	qsort(graph->edges, graph->count, sizeof(*graph->edges), compare_edges);
	for (size_t i = 0; i < graph->count; i++) {
		struct edge edge = graph->edges[i];

		spec_cable(spec, edge.a, spec->hosts_each + ++used[edge.a], edge.b,
			   spec->hosts_each + ++used[edge.b]);
	}
	free(used);
}

void random_wire(struct spec *spec)
{
	unsigned degree = spec->number[KEY_DEGREE];
	struct graph graph = {.nodes = spec->switches};

	graph.edges = mem_array(spec->switches * degree / 2, sizeof(*graph.edges));
	map_init(&graph.present);
	begin_circle(&graph, degree);
	graph_shuffle(&graph, spec->number[KEY_SEED]);
	connect_pieces(&graph);
	cable_edges(spec, &graph);
	map_done(&graph.present);
	free(graph.edges);
}
