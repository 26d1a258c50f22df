/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Generated topologies: the numbers of switches, hosts and links of each family, valid and
 * connected nets, and the neighbours of switches. A SPEC always gives the same text, and a bad SPEC
 * gives a message.
 */
#include "sim/spec.h"

#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static struct net *build(const char *spec)
{
	struct net *net = NULL;
	char *error = NULL;

	if (spec_build(spec, &net, &error)) {
		fprintf(stderr, "%s\n", error);
		free(error);
		CU_FAIL_FATAL("a good SPEC is refused");
	}
	return net;
}

static char *text_of(const char *spec)
{
	struct net *net = build(spec);
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	net_print(stream, net);
	fclose(stream);
	net_free(net);
	return text;
}

/* How many nodes can be reached from the first. */
static unsigned reach(const struct net *net)
{
	unsigned *queue = mem_array(net->count, sizeof(*queue));
	bool *seen = mem_array(net->count, sizeof(*seen));
	unsigned head = 0, tail = 1;

	seen[0] = true;
	while (head < tail) {
		const struct net_node *node = &net->nodes[queue[head++]];

		for (unsigned p = 1; p <= node->ports; p++) {
			int peer = node->port[p].peer;

			if (peer == NET_NO_PEER || seen[peer])
				continue;
			seen[peer] = true;
			queue[tail++] = peer;
		}
	}
	free(seen);
	free(queue);
	return tail;
}

static const struct {
	const char *spec;
	unsigned hosts, switches, switch_links;
} families[] = {
	{"fattree:radix=36,levels=2", 648, 54, 648},
	{"fattree:radix=24,levels=3", 3456, 720, 6912},
	{"fattree:radix=4", 8, 6, 8},
	{"fattree:radix=2,levels=3", 2, 5, 4},
	{"fattree:radix=36,levels=2,leaves=18,oversubscription=2", 18 * 24, 18 + 12, 18 * 12},
	{"fattree:radix=8,levels=3,pods=3", 48, 3 * 8 + 16, 96},
	{"fattree:radix=12,levels=3,oversubscription=3", 12 * 6 * 9, 12 * (6 + 3) + 18, 432},
	{"fattree:radix=8,levels=4", 512, 448, 1536},
	{"fattree:radix=6,levels=4,pods=3,oversubscription=2", 108, 3 * (9 + 6 + 6) + 18, 162},
	{"torus:dims=4x4x4,hosts=2", 128, 64, 192},
	{"torus:dims=3x2", 6, 6, 9},
	{"mesh:dims=5x5,hosts=3", 75, 25, 40},
	{"mesh:dims=2x2x2x2x2x2", 64, 64, 192},
	{"hypercube:dim=4,hosts=1", 16, 16, 32},
	{"hypercube:dim=9", 512, 512, 2304},
	{"hyperx:dims=4x4,hosts=2", 32, 16, 48},
	{"hyperx:dims=3x5", 15, 15, 45},
	{"dragonfly:a=4,h=2,p=2", 72, 36, 90},
	{"dragonfly:a=1,h=3,p=1", 4, 4, 6},
	{"dragonfly:a=5,h=1,p=4", 120, 30, 75},
	{"ring:switches=6,hosts=2", 12, 6, 6},
	{"ring:switches=2", 2, 2, 1},
	{"random:switches=50,degree=6,hosts=4,seed=1", 200, 50, 150},
	{"random:switches=51,degree=3", 51, 51, 76},
	{"random:switches=8,degree=7", 8, 8, 28},
	{"random:switches=2,degree=1", 2, 2, 1},
	{"single:hosts=8", 8, 1, 0},
	{"single:hosts=254", 254, 1, 0},
	{"fattree:radix=36,levels=2,lose_links=2%,seed=7", 648, 54, 648 - 13},
	{"ring:switches=8,lose_links=12.5%", 8, 8, 7},
	{"single:hosts=8,lose_links=100%", 8, 1, 0},
};

static void test_families(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		struct net *net = build(families[i].spec);
		struct net_counts counts;
		struct net_error error = {0};

		net_count(net, &counts);
		if (counts.adapters != families[i].hosts ||
		    counts.switches != families[i].switches ||
		    counts.switch_links != families[i].switch_links ||
		    counts.links != counts.switch_links + counts.adapters ||
		    reach(net) != net->count || net_validate(net, &error)) {
			fprintf(stderr, "%s: %s%u hosts, %u switches, %u links, %u reached\n",
				families[i].spec, error.text, counts.adapters, counts.switches,
				counts.switch_links, reach(net));
			CU_FAIL("the net is not as expected");
		}
		CU_ASSERT(net->nodes[0].type == NODE_CA);
		net_free(net);
	}
}

static const struct net_node *world_node_of(const struct net *net, const char *name)
{
	int index = net_find(net, name);

	CU_ASSERT_FATAL(index >= 0);
	return &net->nodes[index];
}

static const struct {
	const char *spec;
	const char *node;
	unsigned port;
	const char *peer; /* NULL: not cabled */
	unsigned peer_port;
} cables[] = {
	{"fattree:radix=36,levels=2", "host-0019", 1, "leaf-02", 1},
	{"fattree:radix=36,levels=2", "leaf-02", 19, "spine-01", 2},
	{"fattree:radix=36,levels=2", "leaf-36", 36, "spine-18", 36},
	{"fattree:radix=36,leaves=18,oversubscription=2", "leaf-18", 24, "host-0432", 1},
	{"fattree:radix=36,leaves=18,oversubscription=2", "leaf-18", 25, "spine-01", 18},
	{"fattree:radix=36,leaves=18,oversubscription=2", "spine-01", 19, NULL, 0},
	{"fattree:radix=24,levels=3", "leaf-p02-03", 13, "agg-p02-01", 3},
	{"fattree:radix=24,levels=3", "agg-p02-03", 13, "core-025", 2},
	{"fattree:radix=24,levels=3", "core-144", 24, "agg-p24-12", 24},
	{"fattree:radix=8,levels=4", "leaf-p01-02", 5, "agg1-p01-01", 2},
	{"fattree:radix=8,levels=4", "agg1-p01-06", 6, "agg2-p01-06", 2},
	{"fattree:radix=8,levels=4", "agg1-p01-06", 5, "agg2-p01-02", 2},
	{"fattree:radix=8,levels=4", "agg2-p08-16", 8, "core-64", 8},
	{"torus:dims=4x4x4,hosts=2", "sw-x3y2z1", 3, "sw-x0y2z1", 4},
	{"torus:dims=4x4x4,hosts=2", "sw-x3y2z1", 7, "sw-x3y2z2", 8},
	{"torus:dims=12x3", "sw-x11y0", 2, "sw-x00y0", 3},
	{"mesh:dims=5x5", "sw-x4y2", 2, NULL, 0},
	{"hypercube:dim=4", "sw-0110", 2, "sw-0111", 2},
	{"hypercube:dim=4", "sw-0110", 5, "sw-1110", 5},
	{"hyperx:dims=4x4,hosts=2", "sw-x1y0", 3, "sw-x0y0", 3},
	{"hyperx:dims=4x4,hosts=2", "sw-x1y0", 4, "sw-x2y0", 4},
	{"hyperx:dims=4x4,hosts=2", "sw-x1y0", 8, "sw-x1y3", 6},
	{"dragonfly:a=4,h=2,p=2", "sw-g01-01", 3, "sw-g01-02", 3},
	{"dragonfly:a=4,h=2,p=2", "sw-g01-01", 6, "sw-g02-04", 7},
	{"dragonfly:a=4,h=2,p=2", "sw-g09-01", 6, "sw-g01-04", 7},
	{"ring:switches=6,hosts=2", "sw-06", 3, "sw-01", 4},
};

static void test_cables(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cables); i++) {
		struct net *net = build(cables[i].spec);
		const struct net_port *port =
			&world_node_of(net, cables[i].node)->port[cables[i].port];

		if (!cables[i].peer) {
			CU_ASSERT(port->peer == NET_NO_PEER);
		} else if (port->peer != net_find(net, cables[i].peer) ||
			   port->peer_port != cables[i].peer_port) {
			fprintf(stderr, "%s: %s port %u leads to %s port %u\n", cables[i].spec,
				cables[i].node, cables[i].port,
				port->peer < 0 ? "nothing" : net->nodes[port->peer].id,
				port->peer_port);
			CU_FAIL("another peer was expected");
		}
		net_free(net);
	}
}

static unsigned links_to_switches(const struct net *net, const struct net_node *node)
{
	unsigned count = 0;

	for (unsigned p = 1; p <= node->ports; p++)
		count += node->port[p].peer != NET_NO_PEER &&
			 net->nodes[node->port[p].peer].type == NODE_SWITCH;
	return count;
}

/* No two ports of a switch lead to the same peer. */
static bool has_parallel_links(const struct net *net, const struct net_node *node)
{
	for (unsigned p = 1; p <= node->ports; p++)
		for (unsigned q = p + 1; q <= node->ports; q++)
			if (node->port[p].peer != NET_NO_PEER &&
			    (node->port[p].peer == node->port[q].peer ||
			     node->port[p].peer == (int)(node - net->nodes)))
				return true;
	return false;
}

/* Many seeds, for a random graph of low degree often has to be joined from pieces. */
static void test_random(void)
{
	static const struct {
		unsigned switches, degree;
	} shapes[] = {{30, 2}, {31, 2}, {20, 3}, {21, 3}, {9, 8}, {12, 10}, {40, 5}};

	for (unsigned seed = 0; seed < 40; seed++) {
		unsigned n = shapes[seed % ARRAY_SIZE(shapes)].switches;
		unsigned degree = shapes[seed % ARRAY_SIZE(shapes)].degree, missing = 0;
		char *spec =
			mem_printf("random:switches=%u,degree=%u,hosts=1,seed=%u", n, degree, seed);
		struct net *net = build(spec);

		for (unsigned i = 0; i < net->count; i++) {
			const struct net_node *node = &net->nodes[i];

			if (node->type == NODE_SWITCH)
				missing += degree - links_to_switches(net, node);
			CU_ASSERT_FALSE(has_parallel_links(net, node));
		}
		CU_ASSERT_EQUAL(missing, n * degree % 2);
		CU_ASSERT_EQUAL(reach(net), net->count);
		net_free(net);
		free(spec);
	}
}

static void check_texts(const char *one, const char *other, bool same)
{
	char *a = text_of(one), *b = text_of(other);
	/* The first line is the SPEC. */
	bool are_same = !strcmp(a + strcspn(a, "\n"), b + strcspn(b, "\n"));

	CU_ASSERT_EQUAL(are_same, same);
	free(a);
	free(b);
}

static void test_determinism(void)
{
	char *text = text_of("ring:switches=20,hosts=1,lose_links=10%,seed=3");

	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n# 2 of 20 links between switches lost, seed 3\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "# 20 hosts, 20 switches, 38 links, 18 of them"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n# ibsim needs -N 40 -S 20 -P 100\n"));
	free(text);
	check_texts("random:switches=50,degree=6,seed=1", "random:switches=50,seed=1,degree=6",
		    true);
	check_texts("random:switches=50,degree=6,seed=1", "random:switches=50,degree=6", true);
	check_texts("random:switches=50,degree=6,seed=1", "random:switches=50,degree=6,seed=2",
		    false);
	check_texts("torus:dims=9x9,lose_links=5%,seed=1", "torus:dims=9x9,lose_links=5%,seed=1",
		    true);
	check_texts("torus:dims=9x9,lose_links=5%,seed=1", "torus:dims=9x9,lose_links=5%,seed=2",
		    false);
	check_texts("torus:dims=4x3", "torus:dims=4x3,hosts=1", true);
}

/* No link is drawn twice: as many are gone as the comment says, even if it is all of them. */
static void test_lose_all(void)
{
	struct net *net = build("torus:dims=9x9,lose_links=100%");
	struct net_counts counts;

	net_count(net, &counts);
	CU_ASSERT(counts.switch_links == 0 && counts.links == 81);
	CU_ASSERT_PTR_NOT_NULL(strstr(net->comment, "162 of 162 links between switches lost"));
	net_free(net);
}

/* A file once printed must keep its GUIDs in later versions. */
static void test_guids(void)
{
	struct net *net = build("fattree:radix=4,levels=2");
	const struct net_node *host = world_node_of(net, "host-0008"),
			      *spine = world_node_of(net, "spine-02");

	CU_ASSERT_EQUAL(host->guid, UINT64_C(0x0277656601000800));
	CU_ASSERT_EQUAL(host->port[1].guid, UINT64_C(0x0277656601000801));
	CU_ASSERT_EQUAL(spine->guid, UINT64_C(0x0277656602000600));
	CU_ASSERT_EQUAL(spine->port[0].guid, spine->guid);
	CU_ASSERT_EQUAL(spine->port[1].rate.speed_ext, 3);
	net_free(net);
}

static const struct {
	const char *spec;
	const char *words[2];
} refusals[] = {
	{"", {"no topology is called \"\"", "fattree, torus"}},
	{"tree:radix=4", {"no topology is called \"tree\"", NULL}},
	{"fattree", {"radix= is missing", NULL}},
	{"fattree:", {"\"\" is no KEY=VALUE", NULL}},
	{"fattree:radix", {"\"radix\" is no KEY=VALUE", NULL}},
	{"fattree:radix=", {"a number is needed", NULL}},
	{"fattree:radix=4x", {"radix=4x", "a number is needed"}},
	{"fattree:radix=-4", {"a number is needed", NULL}},
	{"fattree:radix=99999999999999999999", {"a number is needed", NULL}},
	{"fattree:radix=256", {"radix=256", "2 to 254"}},
	{"fattree:radix=35", {"radix=35 is odd", NULL}},
	{"fattree:radix=4,radix=4", {"radix= is given twice", NULL}},
	{"fattree:radix=4,hosts=3", {"fattree has no argument hosts=", "radix=K"}},
	{"fattree:radix=4,colour=3", {"no argument colour=", NULL}},
	{"fattree:radix=4,levels=5", {"levels=5", "2 to 4"}},
	{"fattree:radix=4,levels=2,pods=3", {"use leaves=", NULL}},
	{"fattree:radix=4,levels=3,leaves=3", {"use pods=", NULL}},
	{"fattree:radix=4,levels=3,pods=5", {"pods=5", "radix=4"}},
	{"fattree:radix=36,oversubscription=4", {"36 ports", "4 + 1"}},
	{"fattree:radix=64,levels=3", {"65536 hosts + 5120 switches need 70656 LIDs", "49151"}},
	{"fattree:radix=64,levels=3", {"make pods= or radix= smaller", NULL}},
	{"fattree:radix=254,levels=4", {"LIDs", "49151"}},
	{"fattree:radix=4,seed=3", {"seed= without lose_links=", NULL}},
	{"torus:dims=4x", {"dims=4x", "an x between"}},
	{"torus:dims=1x4", {"dims=1x4", "sizes of 2"}},
	{"torus:dims=4*4", {"unexpected \"*4\"", NULL}},
	{"torus:dims=2x2x2x2x2x2x2", {"more than 6 dimensions", NULL}},
	{"torus:dims=49151x49151x49151x49151x49151x49151", {"LIDs", "49151"}},
	{"torus:hosts=3", {"dims= is missing", NULL}},
	{"mesh:dims=3x3,hosts=251", {"hosts=251 + 4 links", "need 255 ports"}},
	{"hyperx:dims=200x200,hosts=1", {"hosts=1 + 398 links", "at most 254"}},
	{"random:switches=24000,degree=253", {"24000 switches with 254 ports", "more than"}},
	{"hypercube:dim=15,hosts=1", {"32768 hosts + 32768 switches", "make dim= or hosts="}},
	{"hypercube:dim=16", {"dim=16", "1 to 15"}},
	{"dragonfly:a=4,h=2", {"p= is missing", NULL}},
	{"dragonfly:a=200,h=30,p=30", {"p + a - 1 + h = 259", NULL}},
	{"dragonfly:a=100,h=50,p=50", {"LIDs", "make a=, h= or p= smaller"}},
	{"ring:switches=1", {"switches=1", "2 to 49151"}},
	{"ring:switches=30000", {"60000 LIDs", NULL}},
	{"random:switches=4,degree=4", {"degree=4", "only 3 others"}},
	{"random:switches=5,degree=1", {"2 links", "need 4 to be connected"}},
	{"random:switches=300,degree=200,hosts=60", {"need 260 ports", NULL}},
	{"single:hosts=0", {"hosts=0", "1 to 254"}},
	{"single:hosts=255", {"hosts=255", "1 to 254"}},
	{"ring:switches=4,lose_links=2", {"a percentage", NULL}},
	{"ring:switches=4,lose_links=100.01%", {"a percentage", NULL}},
	{"ring:switches=4,lose_links=1.234%", {"a percentage", NULL}},
	{"ring:switches=4,lose_links=-1%", {"a percentage", NULL}},
};

static void test_refusals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct net *net = NULL;
		char *error = NULL;
		int r = spec_build(refusals[i].spec, &net, &error);

		CU_ASSERT_EQUAL_FATAL(r, -EINVAL);
		CU_ASSERT_PTR_NULL(net);
		for (size_t w = 0; w < 2 && refusals[i].words[w]; w++) {
			if (strstr(error, refusals[i].words[w]))
				continue;
			fprintf(stderr, "%s\n", error);
			CU_FAIL("other words were expected");
		}
		CU_ASSERT(!strncmp(error, refusals[i].spec, strlen(refusals[i].spec)));
		CU_ASSERT_PTR_NULL(strchr(error, '\n'));
		free(error);
	}
}

/* The examples of the help text can be built. */
static void test_help(void)
{
	char *text, *line, *rest;
	unsigned built = 0;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	spec_print_help(stream);
	fclose(stream);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " ");
		if (!strchr(line, ':') || strpbrk(line, "N[") != NULL)
			continue;
		net_free(build(line));
		built++;
	}
	CU_ASSERT_EQUAL(built, 9);
	free(text);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"families", test_families},
		{"cables", test_cables},
		{"random graphs", test_random},
		{"determinism", test_determinism},
		{"all links lost", test_lose_all},
		{"GUIDs", test_guids},
		{"refusals", test_refusals},
		{"help's examples", test_help},
		CU_TEST_INFO_NULL,
	};

	return unit_main("spec", tests);
}
