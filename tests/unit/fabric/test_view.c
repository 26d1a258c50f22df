/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Views: the references that they take, the parts that they copy, and the release of the parts. */
#include "tests/unit/fixtures/two_switches.h"
#include "tests/unit/fixtures/unit.h"

static void test_new(void)
{
	struct view_sm sm = {28, {.guid = PORT_GUID(D), .sm_key = 77, .priority = 5}};
	struct snapshot *snapshot = two_switches_snapshot();
	struct routes *routes = two_switches_routes(snapshot);
	struct view *view = view_new(7, snapshot, routes, &sm, 1);

	sm.lid = 99;
	CU_ASSERT_EQUAL(view->refs, 1);
	CU_ASSERT_EQUAL(view->generation, 7);
	CU_ASSERT_PTR_EQUAL(view->topology, snapshot);
	CU_ASSERT_PTR_EQUAL(view->routes, routes);
	CU_ASSERT_EQUAL(snapshot->refs, 1);
	CU_ASSERT_EQUAL(routes->refs, 1);
	CU_ASSERT_EQUAL(view->num_sms, 1);
	CU_ASSERT_EQUAL(view->sms[0].lid, 28);
	CU_ASSERT_EQUAL(view->sms[0].info.priority, 5);
	CU_ASSERT_EQUAL(view->sms[0].info.sm_key, 0);
	view_unref(view);
}

static void test_parts_are_let_go(void)
{
	struct snapshot *snapshot = snapshot_ref(two_switches_snapshot());
	struct routes *routes = routes_ref(two_switches_routes(snapshot));
	struct view *view = view_ref(view_new(1, snapshot, routes, NULL, 0));

	view_unref(view);
	CU_ASSERT_EQUAL(snapshot->refs, 2);
	CU_ASSERT_EQUAL(routes->refs, 2);
	view_unref(view);
	CU_ASSERT_EQUAL(snapshot->refs, 1);
	CU_ASSERT_EQUAL(routes->refs, 1);
	routes_unref(routes);
	snapshot_unref(snapshot);
	view_unref(NULL);
}

static void test_publish(void)
{
	struct view *slot = NULL;
	struct view *first = two_switches_view();
	struct view *held;

	view_publish(&slot, first);
	CU_ASSERT_PTR_EQUAL(slot, first);
	CU_ASSERT_EQUAL(first->refs, 1);
	held = view_ref(slot);
	view_publish(&slot, two_switches_view());
	CU_ASSERT_PTR_NOT_EQUAL(slot, held);
	CU_ASSERT_EQUAL(held->refs, 1); /* its reader may go on */
	CU_ASSERT_EQUAL(held->topology->num_ends, HOSTS);
	view_unref(held);
	view_publish(&slot, NULL);
	CU_ASSERT_PTR_NULL(slot);
}

/* Where there is no switch there are no routes. */
static void test_without_switch(void)
{
	struct snapshot *snapshot = snapshot_new(0, 1, 0);
	struct view *view;

	snapshot_index(snapshot);
	view = view_new(1, snapshot, NULL, NULL, 0);
	CU_ASSERT_PTR_NULL(view->routes);
	CU_ASSERT_EQUAL(view->num_sms, 0);
	view_unref(view);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"references and copies", test_new},
		{"parts are let go with the last reference", test_parts_are_let_go},
		{"publishing", test_publish},
		{"a view without switches", test_without_switch},
		CU_TEST_INFO_NULL,
	};

	return unit_main("view", tests);
}
