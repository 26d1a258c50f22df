/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The common part of all families of topologies: the grammar of a SPEC (FAMILY:KEY=VALUE,KEY=VALUE)
 * and the limits of a subnet. Also nodes with their names and GUIDs, the cables of hosts, and links
 * lost at random. The tables here are also the help text. A net is built at once, by one thread.
 */
#include "sim/spec.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cursor.h"
#include "lib/mem.h"
#include "lib/random.h"
#include "sim/spec_family.h"

#define BIT(key) (1u << (key))

enum key_kind { NUMBER, DIMENSIONS, PERCENT };

static const struct {
	const char *name;
	enum key_kind kind;
	uint64_t min, max;
	uint64_t fallback; /* for a family that can do without it */
} keys[KEY_COUNT] = {
	[KEY_RADIX] = {"radix", NUMBER, 2, PORT_MAX, 0},
	[KEY_LEVELS] = {"levels", NUMBER, 2, 4, 2},
	[KEY_PODS] = {"pods", NUMBER, 1, PORT_MAX, 0},
	[KEY_LEAVES] = {"leaves", NUMBER, 1, PORT_MAX, 0},
	[KEY_OVERSUBSCRIPTION] = {"oversubscription", NUMBER, 1, PORT_MAX, 1},
	[KEY_DIMS] = {"dims", DIMENSIONS, 2, LID_UNICAST_MAX, 0},
	[KEY_DIM] = {"dim", NUMBER, 1, 15, 0},
	[KEY_HOSTS] = {"hosts", NUMBER, 1, PORT_MAX, 1},
	[KEY_A] = {"a", NUMBER, 1, PORT_MAX, 0},
	[KEY_H] = {"h", NUMBER, 1, PORT_MAX, 0},
	[KEY_P] = {"p", NUMBER, 1, PORT_MAX, 0},
	[KEY_SWITCHES] = {"switches", NUMBER, 2, LID_UNICAST_MAX, 0},
	[KEY_DEGREE] = {"degree", NUMBER, 1, PORT_MAX, 0},
	[KEY_LOSE_LINKS] = {"lose_links", PERCENT, 0, 10000, 0}, /* in 1/100 % */
	[KEY_SEED] = {"seed", NUMBER, 0, UINT64_MAX, 1},
};

static const struct spec_family families[] = {
	{
		.name = "fattree",
		.keys = BIT(KEY_RADIX) | BIT(KEY_LEVELS) | BIT(KEY_PODS) | BIT(KEY_LEAVES) |
			BIT(KEY_OVERSUBSCRIPTION),
		.needed = BIT(KEY_RADIX),
		.shrink = "pods= or radix=",
		.usage = "radix=K[,levels=2|3|4][,leaves=N][,pods=N][,oversubscription=N]",
		.example = "fattree:radix=36,levels=2",
		.plan = fattree_plan,
		.name_switch = fattree_name,
		.wire = fattree_wire,
	},
	{
		.name = "torus",
		.keys = BIT(KEY_DIMS) | BIT(KEY_HOSTS),
		.needed = BIT(KEY_DIMS),
		.shrink = "dims= or hosts=",
		.usage = "dims=NxNx...[,hosts=N]",
		.example = "torus:dims=4x4x4,hosts=2",
		.plan = torus_plan,
		.name_switch = grid_name,
		.wire = torus_wire,
	},
	{
		.name = "mesh",
		.keys = BIT(KEY_DIMS) | BIT(KEY_HOSTS),
		.needed = BIT(KEY_DIMS),
		.shrink = "dims= or hosts=",
		.usage = "dims=NxNx...[,hosts=N]",
		.example = "mesh:dims=5x5,hosts=1",
		.plan = torus_plan,
		.name_switch = grid_name,
		.wire = mesh_wire,
	},
	{
		.name = "hypercube",
		.keys = BIT(KEY_DIM) | BIT(KEY_HOSTS),
		.needed = BIT(KEY_DIM),
		.shrink = "dim= or hosts=",
		.usage = "dim=N[,hosts=N]",
		.example = "hypercube:dim=4,hosts=1",
		.plan = hypercube_plan,
		.name_switch = hypercube_name,
		.wire = hyperx_wire,
	},
	{
		.name = "hyperx",
		.keys = BIT(KEY_DIMS) | BIT(KEY_HOSTS),
		.needed = BIT(KEY_DIMS),
		.shrink = "dims= or hosts=",
		.usage = "dims=NxNx...[,hosts=N]",
		.example = "hyperx:dims=4x4,hosts=2",
		.plan = hyperx_plan,
		.name_switch = grid_name,
		.wire = hyperx_wire,
	},
	{
		.name = "dragonfly",
		.keys = BIT(KEY_A) | BIT(KEY_H) | BIT(KEY_P),
		.needed = BIT(KEY_A) | BIT(KEY_H) | BIT(KEY_P),
		.shrink = "a=, h= or p=",
		.usage = "a=N,h=N,p=N",
		.example = "dragonfly:a=4,h=2,p=2",
		.plan = dragonfly_plan,
		.name_switch = dragonfly_name,
		.wire = dragonfly_wire,
	},
	{
		.name = "ring",
		.keys = BIT(KEY_SWITCHES) | BIT(KEY_HOSTS),
		.needed = BIT(KEY_SWITCHES),
		.shrink = "switches= or hosts=",
		.usage = "switches=N[,hosts=N]",
		.example = "ring:switches=6,hosts=2",
		.plan = ring_plan,
		.name_switch = number_name,
		.wire = torus_wire,
	},
	{
		.name = "random",
		.keys = BIT(KEY_SWITCHES) | BIT(KEY_DEGREE) | BIT(KEY_HOSTS) | BIT(KEY_SEED),
		.needed = BIT(KEY_SWITCHES) | BIT(KEY_DEGREE),
		.shrink = "switches= or hosts=",
		.usage = "switches=N,degree=N[,hosts=N][,seed=N]",
		.example = "random:switches=50,degree=6,hosts=4,seed=1",
		.plan = random_plan,
		.name_switch = number_name,
		.wire = random_wire,
	},
	{
		.name = "single",
		.keys = BIT(KEY_HOSTS),
		.needed = BIT(KEY_HOSTS),
		.shrink = "hosts=",
		.usage = "hosts=N",
		.example = "single:hosts=8",
		.plan = single_plan,
		.name_switch = number_name,
	},
};

void spec_print_help(FILE *stream)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		fprintf(stream, "  %s:%s\n      %s\n", families[i].name, families[i].usage,
			families[i].example);
	fputs("  ...,lose_links=P%[,seed=N]\n"
	      "      any of them with P percent of the links between switches lost\n",
	      stream);
}

int spec_fail(struct spec *spec, const char *format, ...)
{
	va_list args;
	char *reason;

	va_start(args, format);
	if (vasprintf(&reason, format, args) < 0)
		abort();
	va_end(args);
	*spec->error = mem_printf("%s: %s", spec->text, reason);
	free(reason);
	return -EINVAL;
}

int spec_digits(uint64_t count)
{
	int digits = 1;

	for (; count >= 10; count /= 10)
		digits++;
	return digits < 2 ? 2 : digits;
}

uint32_t spec_random_below(uint64_t *state, uint64_t limit)
{
	return ((random_next(state) >> 32) * limit) >> 32;
}

static int spec_read_number(struct spec *spec, enum spec_key key, struct cursor value)
{
	const char *text = value.at;
	int length = value.end - value.at;
	uint64_t number;

	if (!cursor_number(&value, 10, &number) || !cursor_at_end(&value))
		return spec_fail(spec, "%s=%.*s: a number is needed", keys[key].name, length, text);
	if (number < keys[key].min || number > keys[key].max)
		return spec_fail(spec, "%s=%" PRIu64 " is not within %" PRIu64 " to %" PRIu64,
				 keys[key].name, number, keys[key].min, keys[key].max);
	spec->number[key] = number;
	return 0;
}

static int read_dimensions(struct spec *spec, enum spec_key key, struct cursor value)
{
	const char *text = value.at;
	int length = value.end - value.at;

	do {
		uint64_t size;

		if (spec->dim_count == SPEC_DIMS_NAMED)
			return spec_fail(spec, "dims=%.*s has more than %d dimensions", length,
					 text, SPEC_DIMS_NAMED);
		if (!cursor_number(&value, 10, &size) || size < keys[key].min ||
		    size > keys[key].max)
			return spec_fail(spec,
					 "dims=%.*s: sizes of %" PRIu64 " to %" PRIu64
					 " with an x between them are needed",
					 length, text, keys[key].min, keys[key].max);
		spec->dims[spec->dim_count++] = size;
	} while (cursor_accept(&value, 'x'));
	if (!cursor_at_end(&value))
		return spec_fail(spec, "dims=%.*s: unexpected \"%.*s\"", length, text,
				 cursor_rest(&value).length, value.at);
	return 0;
}

/* "2%", "0.25%". */
static int read_percent(struct spec *spec, enum spec_key key, struct cursor value)
{
	const char *text = value.at;
	int length = value.end - value.at;
	uint64_t whole, hundredths = 0;
	bool good = cursor_number(&value, 10, &whole) && whole <= 100;

	if (good && cursor_accept(&value, '.')) {
		const char *digits = value.at;

		good = cursor_number(&value, 10, &hundredths) && value.at - digits <= 2;
		if (value.at - digits == 1)
			hundredths *= 10;
	}
	if (!good || !cursor_accept(&value, '%') || !cursor_at_end(&value) ||
	    whole * 100 + hundredths > keys[key].max)
		return spec_fail(spec, "%s=%.*s: a percentage such as 2%% or 0.25%% is needed",
				 keys[key].name, length, text);
	spec->number[key] = whole * 100 + hundredths;
	return 0;
}

static int find_key(struct piece word)
{
	for (int key = 0; key < KEY_COUNT; key++)
		if (piece_is(word, keys[key].name))
			return key;
	return -1;
}

/* Every family can lose links, and then uses a seed. */
static unsigned known_keys(const struct spec *spec)
{
	return spec->family->keys | BIT(KEY_LOSE_LINKS) | BIT(KEY_SEED);
}

static int read_argument(struct spec *spec, struct cursor c)
{
	static int (*const readers[])(struct spec *, enum spec_key,
				      struct cursor) = {[NUMBER] = spec_read_number,
							[DIMENSIONS] = read_dimensions,
							[PERCENT] = read_percent};
	const char *equals = memchr(c.at, '=', c.end - c.at);
	struct piece word = {c.at, (equals ? equals : c.end) - c.at};
	int key = find_key(word);

	if (!equals)
		return spec_fail(spec, "\"%.*s\" is no KEY=VALUE", word.length, word.text);
	if (key < 0 || !(known_keys(spec) & BIT(key)))
		return spec_fail(spec, "%s has no argument %.*s=; it takes %s", spec->family->name,
				 word.length, word.text, spec->family->usage);
	if (spec->given[key])
		return spec_fail(spec, "%s= is given twice", keys[key].name);
	spec->given[key] = true;
	return readers[keys[key].kind](spec, key, (struct cursor){equals + 1, c.end});
}

static int check_arguments(struct spec *spec)
{
	for (int key = 0; key < KEY_COUNT; key++) {
		if (!spec->given[key] && (spec->family->needed & BIT(key)))
			return spec_fail(spec, "%s= is missing; %s takes %s", keys[key].name,
					 spec->family->name, spec->family->usage);
	}
	if (spec->given[KEY_SEED] && !spec->given[KEY_LOSE_LINKS] &&
	    !(spec->family->keys & BIT(KEY_SEED)))
		return spec_fail(spec, "seed= without lose_links= has no effect on a %s",
				 spec->family->name);
	return 0;
}

static int find_family(struct spec *spec, struct piece word)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (!piece_is(word, families[i].name))
			continue;
		spec->family = &families[i];
		return 0;
	}
	return spec_fail(spec,
			 "no topology is called \"%.*s\"; there are fattree, torus, mesh, "
			 "hypercube, hyperx, dragonfly, ring, random and single",
			 word.length, word.text);
}

static int read_spec(struct spec *spec)
{
	const char *end = spec->text + strlen(spec->text);
	const char *at = memchr(spec->text, ':', end - spec->text);
	int r = find_family(spec, (struct piece){spec->text, (at ? at : end) - spec->text});

	for (int key = 0; key < KEY_COUNT; key++)
		spec->number[key] = keys[key].fallback;
	while (!r && at) {
		const char *argument = at + 1;
		const char *comma = memchr(argument, ',', end - argument);

		r = read_argument(spec, (struct cursor){argument, comma ? comma : end});
		at = comma;
	}
	return r ? r : check_arguments(spec);
}

/* The limits of all families, with the calculation. */
static int spec_check_plan(struct spec *spec)
{
	uint64_t hosts = spec->host_switches * spec->hosts_each;
	uint64_t ports = hosts * 2 + spec->switches * (spec->switch_ports + 1);

	if (hosts + spec->switches > LID_UNICAST_MAX)
		return spec_fail(spec,
				 "%" PRIu64 " hosts + %" PRIu64 " switches need %" PRIu64
				 " LIDs, but a subnet has %u; make %s smaller",
				 hosts, spec->switches, hosts + spec->switches, LID_UNICAST_MAX,
				 spec->family->shrink);
	if (ports > NET_PORTS_MAX)
		return spec_fail(spec,
				 "%" PRIu64 " switches with %u ports each and %" PRIu64
				 " hosts have %" PRIu64 " ports, more than %d; make %s smaller",
				 spec->switches, spec->switch_ports, hosts, ports, NET_PORTS_MAX,
				 spec->family->shrink);
	return 0;
}

enum guid_kind { GUID_HOST = 1, GUID_SWITCH = 2 };

/* The first octet has the local bit (02), the three others of the prefix are letters. */
static guid_t make_guid(enum guid_kind kind, unsigned number, unsigned port)
{
	return UINT64_C(0x0277656600000000) | (uint64_t)kind << 24 | (uint64_t)number << 8 | port;
}

static void spec_add_node(struct spec *spec, enum node_type type, const char *name, unsigned number,
			  unsigned ports)
{
	int index = net_add_node(spec->net, type, name, NULL, ports);
	struct net_node *node;

	assert(index >= 0);
	node = &spec->net->nodes[index];
	node->guid = make_guid(type == NODE_SWITCH ? GUID_SWITCH : GUID_HOST, number, 0);
	node->system_guid = node->guid;
	if (type == NODE_SWITCH)
		node->port[0].guid = node->guid;
	for (unsigned p = 1; type != NODE_SWITCH && p <= ports; p++)
		node->port[p].guid = node->guid + p;
}

static unsigned host_count(const struct spec *spec)
{
	return spec->host_switches * spec->hosts_each;
}

/* Hosts are numbered switch by switch in port order. */
static void add_nodes(struct spec *spec)
{
	unsigned hosts = host_count(spec);
	int digits = spec_digits(hosts);
	char name[NET_ID_MAX + 1];

	for (unsigned i = 0; i < hosts; i++) {
		char *host = mem_printf("host-%0*u", digits < 4 ? 4 : digits, i + 1);

		spec_add_node(spec, NODE_CA, host, i + 1, 1);
		free(host);
	}
	for (unsigned i = 0; i < spec->switches; i++) {
		spec->family->name_switch(spec, i, name, sizeof(name));
		spec_add_node(spec, NODE_SWITCH, name, i + 1, spec->switch_ports);
	}
}

static void cable(struct spec *spec, int a, unsigned a_port, int b, unsigned b_port)
{
	int r = net_connect(spec->net, a, a_port, b, b_port);

	assert(r == 0);
	(void)r;
}

void spec_cable(struct spec *spec, unsigned a, unsigned a_port, unsigned b, unsigned b_port)
{
	cable(spec, host_count(spec) + a, a_port, host_count(spec) + b, b_port);
}

static void cable_hosts(struct spec *spec)
{
	unsigned hosts = host_count(spec);

	for (unsigned i = 0; i < hosts; i++)
		cable(spec, i, 1, hosts + i / spec->hosts_each, i % spec->hosts_each + 1);
}

struct end {
	unsigned node, port;
};

/* One end of each link between switches, in order; for free(). */
static struct end *list_switch_links(const struct net *net, size_t count)
{
	struct end *ends = mem_array(count, sizeof(*ends));
	size_t used = 0;

	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *node = &net->nodes[n];

		for (unsigned p = 1; node->type == NODE_SWITCH && p <= node->ports; p++)
			if (node->port[p].peer > (int)n &&
			    net->nodes[node->port[p].peer].type == NODE_SWITCH)
				ends[used++] = (struct end){n, p};
	}
	assert(used == count);
	return ends;
}

/* Removes random links, drawn without replacement; the number is rounded to the nearest. */
static size_t lose_links(struct spec *spec, size_t links)
{
	size_t lost = (links * spec->number[KEY_LOSE_LINKS] + 5000) / 10000;
	struct end *ends = list_switch_links(spec->net, links);
	uint64_t state = spec->number[KEY_SEED];

	for (size_t i = 0; i < lost; i++) {
		size_t pick = i + spec_random_below(&state, links - i);

		net_disconnect(spec->net, ends[pick].node, ends[pick].port);
		ends[pick] = ends[i];
	}
	free(ends);
	return lost;
}

static void degrade_and_describe(struct spec *spec)
{
	struct net_counts before, counts;
	char *lost = mem_strdup("");

	net_count(spec->net, &before);
	if (spec->given[KEY_LOSE_LINKS]) {
		free(lost);
		lost = mem_printf("%zu of %u links between switches lost, seed %" PRIu64 "\n",
				  lose_links(spec, before.switch_links), before.switch_links,
				  spec->number[KEY_SEED]);
	}
	net_count(spec->net, &counts);
	spec->net->comment = mem_printf("%s\n%u hosts, %u switches, %u links, %u of them between "
					"switches\n%sibsim needs -N %u -S %u -P %u\n",
					spec->text, counts.adapters, counts.switches, counts.links,
					counts.switch_links, lost, spec->net->count,
					counts.switches, counts.table_ports);
	free(lost);
}

int spec_build(const char *text, struct net **out, char **error)
{
	struct spec spec = {.text = text, .error = error};
	int r = read_spec(&spec);

	if (!r)
		r = spec.family->plan(&spec);
	if (!r)
		r = spec_check_plan(&spec);
	if (r)
		return r;

	spec.net = net_new();
	net_rate_parse("4xEDR", 5, &spec.net->default_rate);
	add_nodes(&spec);
	cable_hosts(&spec);
	if (spec.family->wire)
		spec.family->wire(&spec);
	degrade_and_describe(&spec);
	*out = spec.net;
	return 0;
}
