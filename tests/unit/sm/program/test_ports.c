/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When ports are brought up: sm/program/ports.c. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/context.h"
#include "tests/unit/fixtures/sm_world.h"

enum { HOSTS = 3 };

/* leaf-1 reports changed links when the first of its ports comes up. It gets one SMP at a time. */
static struct fake_node *leaf;
static unsigned brought_up, too_early;

static bool is_changed(const struct world *world)
{
	return fabric_find_node(world->sm->fabric, leaf->info.node_guid)->sw->links_changed;
}

static void report_change(struct world *world)
{
	static uint64_t tid;
	union notice_details details = {.link_state = {.lid = leaf->port[0].info.lid}};

	fake_trap(world->fake, details.link_state.lid, TRAP_LINK_STATE, &details, ++tid, 0);
}

static void note_set(void *ctx, const struct fake_set *set)
{
	struct port_info info;

	if (set->node != leaf || set->attr_id != ATTR_PORT_INFO || !set->port->num)
		return;
	attr_decode(&port_info_format, set->data, &info);
	if (info.port_state != PORT_ARMED && info.port_state != PORT_ACTIVE)
		return;
	too_early += is_changed(ctx);
	if (!brought_up++)
		report_change(ctx);
}

/* Reads after traps of one sender are paced. */
static bool is_read_again(const struct world *world)
{
	return brought_up && !is_changed(world) && sm_world_is_quiet(world);
}

/* Its other ports may have other cables by now. They come up after it was read again. */
static void test_switch_reports_changes(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;

	options.smp_per_switch = 1;
	world = sm_world_new(net_tree2(2, HOSTS, 1, 1), 3, 1, &options);
	leaf = sm_world_node(world, "leaf-1");
	CU_ASSERT_TRUE_FATAL(sm_world_up(world));
	for (unsigned i = 1; i <= HOSTS; i++)
		fake_link(&leaf->port[i], true); /* it bounced */
	world->fake->after_set = note_set;
	world->reports = 0;
	report_change(world);
	CU_ASSERT_TRUE(sm_world_run(world, is_read_again));
	CU_ASSERT(brought_up >= 2 * HOSTS);
	CU_ASSERT_EQUAL(too_early, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a switch reports changes", test_switch_reports_changes},
		CU_TEST_INFO_NULL,
	};

	return unit_main("ports", tests);
}
