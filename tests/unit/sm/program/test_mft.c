/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches whose multicast tables cannot be read: sm/program/mft.c. */
#include "sm/context.h"
#include "tests/unit/fixtures/sm_world.h"

/* Switches that announce a multicast table but refuse each Get and Set of it: they come up, and
 * later sweeps send no Set(). */
static void test_tables_refused(void)
{
	static const char *const ids[] = {"leaf-0", "leaf-1", "spine-0"};
	struct world *world = sm_world_new(net_tree2(2, 2, 2, 1), 4, 1, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		sm_world_node(world, ids[i])->refuses_mft = true;
	CU_ASSERT_TRUE(sm_world_up(world));
	for (unsigned again = 0; again < 2; again++) {
		fabric_forget_tables(world->sm->fabric);
		sm_world_sweep(world, DISCOVER_HEAVY);
	}
	CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
	CU_ASSERT_EQUAL(world->sm->sweep.last.sets, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"multicast tables are refused", test_tables_refused},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mft_program", tests);
}
