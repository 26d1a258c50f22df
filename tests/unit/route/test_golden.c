/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables and their quality for topologies and engines, compared with tests/golden/routes.golden: a
 * digest of all tables, and figures. The test shows that one worker and several compute the same,
 * and finds unintended changes of routes. An intended change writes the file again (test_golden
 * --write), and its figures show whether it is better. A judge that shares no code with route/
 * computes the figures of the file a second time (tests/walk/figures.h).
 */
// WITH: tests/walk/fabric.o tests/walk/figures.o
#include <inttypes.h>
#include <string.h>

#include "lib/loop.h"
#include "route/engine.h"
#include "route/quality.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"
#include "tests/walk/figures.h"

#define GOLDEN "tests/golden/routes.golden"

static const char *const specs[] = {
	"fattree:radix=12,levels=2",
	"fattree:radix=12,levels=2,oversubscription=2",
	"fattree:radix=8,levels=3",
	"fattree:radix=12,levels=3",
	"fattree:radix=12,levels=3,lose_links=1%,seed=1",
	"fattree:radix=12,levels=3,lose_links=5%,seed=2",
	"fattree:radix=6,levels=4",
	"torus:dims=4x5,hosts=2",
	"ring:switches=7,hosts=2",
	"dragonfly:a=4,h=2,p=2",
	"random:switches=30,degree=5,hosts=3,seed=3",
};
static const char *const engines[] = {"minhop", "updn", "dnup", "ftree"};

static struct loop *loop;

/* FNV-1a over the entries of all tables. */
static uint64_t digest(const struct snapshot *snapshot, const struct routes *routes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		for (uint32_t lid = 0; lid <= snapshot->lid_top; lid++)
			hash = (hash ^ lft_port(routes->lft[s], (lid_t)lid)) *
			       UINT64_C(0x100000001b3);
	return hash;
}

static void describe(const struct snapshot *snapshot, const char *engine, struct work_pool *pool,
		     char *line, size_t size)
{
	struct route_result result;
	struct credit_report credit;
	struct quality_all all;
	struct quality_load shifts;

	if (route_run(snapshot, &engine, 1, NULL, pool, &result)) {
		snprintf(line, size, "refused");
		routes_unref(result.routes);
		return;
	}
	credit_check(snapshot, result.routes, pool, &credit);
	quality_all_to_all(snapshot, result.routes, pool, &all);
	quality_shifts(snapshot, result.routes, pool, 0, &shifts);
	snprintf(line, size,
		 "%016" PRIx64 " shift=%u risk=%u fullest=%" PRIu64 " sum=%" PRIu64 " waiting=%u",
		 digest(snapshot, result.routes), shifts.worst, all.risk, all.most, all.sum,
		 credit.loops);
	routes_unref(result.routes);
}

static void walk(void (*fn)(const char *key, const char *alone, const char *together, void *arg),
		 void *arg)
{
	struct work_pool *pool = work_pool_new(loop, 3);

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct snapshot *snapshot = snapshot_from_spec(specs[i], 0);

		for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
			char key[128], alone[256], together[256];

			snprintf(key, sizeof(key), "%s %s", specs[i], engines[e]);
			describe(snapshot, engines[e], NULL, alone, sizeof(alone));
			describe(snapshot, engines[e], pool, together, sizeof(together));
			fn(key, alone, together, arg);
		}
		snapshot_unref(snapshot);
	}
	work_pool_free(pool);
}

static void write_line(const char *key, const char *alone, const char *together, void *arg)
{
	(void)together;
	fprintf(arg, "%s: %s\n", key, alone);
}

/* The lines of the file come in the order in which they were written. */
static void compare_line(const char *key, const char *alone, const char *together, void *arg)
{
	char wanted[512] = "", got[512];

	CU_ASSERT_STRING_EQUAL(alone, together);
	snprintf(got, sizeof(got), "%s: %s\n", key, alone);
	CU_ASSERT_PTR_NOT_NULL(fgets(wanted, sizeof(wanted), arg));
	CU_ASSERT_STRING_EQUAL(got, wanted);
	if (strcmp(got, wanted))
		printf("\n is %swas %s", got, wanted);
}

static void test_golden(void)
{
	FILE *file = fopen(GOLDEN, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file); /* run it in the root of the tree */
	walk(compare_line, file);
	fclose(file);
}

/* The second judge */

/* The LIDs and tables that a snapshot and its routes give to a node of the net. */
static void program_node(const struct net *net, unsigned n, const struct snapshot *snapshot,
			 const struct routes *routes, struct walk_node *node)
{
	int32_t index = snapshot_find_switch(snapshot, net_node_guid(net, n));

	for (unsigned p = 1; p <= node->num_ports; p++)
		if (net_is_end(net, n, p))
			node->port[p].lid =
				snapshot->ends[snapshot_find_end(snapshot,
								 net_port_guid(net, n, p))]
					.lid;
	if (!node->is_switch)
		return;
	node->port[0].lid = snapshot->switches[index].lid;
	node->lft_size = snapshot->lid_top + 1u;
	node->lft = mem_array(node->lft_size, 1);
	for (unsigned lid = 0; lid < node->lft_size; lid++)
		node->lft[lid] = lft_port(routes->lft[index], (lid_t)lid);
}

static void walk_fabric_from(const struct net *net, const struct snapshot *snapshot,
			     const struct routes *routes, struct walk_fabric *out)
{
	walk_fabric_init(out);
	for (unsigned n = 0; n < net->count; n++)
		walk_add_node(out, net_node_guid(net, n), net->nodes[n].type == NODE_SWITCH,
			      net->nodes[n].ports, "", 0);
	for (unsigned n = 0; n < net->count; n++)
		for (unsigned p = 1; p <= net->nodes[n].ports; p++)
			if (net->nodes[n].port[p].peer >= 0)
				CU_ASSERT_EQUAL(walk_connect(out, (int)n, p,
							     net->nodes[n].port[p].peer,
							     net->nodes[n].port[p].peer_port),
						0);
	for (unsigned n = 0; n < net->count; n++)
		program_node(net, n, snapshot, routes, &out->nodes[n]);
}

/* The figures of one line, without its digest. */
static void judge(const struct net *net, const struct snapshot *snapshot, const char *engine,
		  char *line, size_t size)
{
	struct route_result result;
	struct walk_fabric fabric;
	struct walk_figures figures;

	if (route_run(snapshot, &engine, 1, NULL, NULL, &result)) {
		snprintf(line, size, "refused\n");
		routes_unref(result.routes);
		return;
	}
	walk_fabric_from(net, snapshot, result.routes, &fabric);
	walk_figures(&fabric, &figures);
	CU_ASSERT_EQUAL(figures.unreached, 0);
	snprintf(line, size, "shift=%u risk=%u fullest=%" PRIu64 " sum=%" PRIu64 " waiting=%u\n",
		 figures.shift, figures.risk, figures.fullest, figures.sum, figures.waiting);
	walk_fabric_done(&fabric);
	routes_unref(result.routes);
}

static void test_second_judge(void)
{
	FILE *file = fopen(GOLDEN, "r");
	char wanted[512], line[256];

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct net *net = net_from_spec(specs[i]);
		struct snapshot *snapshot = snapshot_from_net(net, 0);

		for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
			const char *tail;

			CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(wanted, sizeof(wanted), file));
			judge(net, snapshot, engines[e], line, sizeof(line));
			tail = wanted + strlen(wanted) - strlen(line);
			CU_ASSERT_STRING_EQUAL(tail, line);
			if (strcmp(tail, line))
				printf("\n %s is %s", wanted, line);
		}
		snapshot_unref(snapshot);
		net_free(net);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	static const CU_TestInfo tests[] = {{"as written down", test_golden},
					    {"figures of a second judge", test_second_judge},
					    CU_TEST_INFO_NULL};
	int status = 0;

	loop = loop_new();
	if (argc == 2 && !strcmp(argv[1], "--write")) {
		FILE *file = fopen(GOLDEN, "w");

		if (!file) {
			perror(GOLDEN);
			return EXIT_FAILURE;
		}
		walk(write_line, file);
		status = fclose(file) ? EXIT_FAILURE : EXIT_SUCCESS;
	} else {
		status = unit_main("golden", tests);
	}
	loop_free(loop);
	return status;
}
