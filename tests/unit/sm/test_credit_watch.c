/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The check of routes in use for credit loops, when the routes are replaced during the check: the
 * new routes are checked next, and a worker frees the rows that only the old routes had.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "tests/unit/fixtures/sm_world.h"
#include "tests/unit/fixtures/snapshot_from.h"

static bool is_known(const struct world *world)
{
	return world->sm->credit_watch.known && !world->sm->credit_watch.job;
}

static struct world *start(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;

	memset(options.engines, 0, sizeof(options.engines));
	strcpy(options.engines[0], "minhop");
	world = sm_world_new(net_from_spec("ring:switches=6,hosts=1"), 6, 1, &options);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, is_known));
	CU_ASSERT(world->sm->credit_watch.report.loops > 0);
	return world;
}

/* Routes with the same rows, but for a row of their own. */
static struct routes *other_routes(const struct routes *routes)
{
	struct routes *other = routes_new(routes->generation, routes->num_switches, routes->engine);

	other->lft[0] = lft_new(routes->lft[0]->top);
	memcpy(other->lft[0]->port, routes->lft[0]->port, routes->lft[0]->top + 1u);
	for (uint32_t s = 1; s < routes->num_switches; s++)
		other->lft[s] = lft_ref(routes->lft[s]);
	return other;
}

static void replace(struct world *world)
{
	struct sm *sm = world->sm;
	struct routes *old = sm->routes.routes;

	sm->routes.routes = other_routes(old);
	routes_unref(old);
	credit_watch_routes(sm);
}

static void test_replaced(void)
{
	struct world *world = start();
	struct sm *sm = world->sm;

	replace(world); /* is checked */
	CU_ASSERT_PTR_NOT_NULL_FATAL(sm->credit_watch.job);
	replace(world); /* while that is checked */
	CU_ASSERT_FALSE(sm->credit_watch.known);
	CU_ASSERT_TRUE(sm_world_run(world, is_known));
	CU_ASSERT(sm->credit_watch.report.loops > 0);
	sm_world_free(world);
}

/* The manager ends while a check is under way. */
static void test_end(void)
{
	struct world *world = start();

	replace(world);
	replace(world);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {{"routes that were replaced", test_replaced},
					    {"the end during a check", test_end},
					    CU_TEST_INFO_NULL};

	return unit_main("credit watch", tests);
}
