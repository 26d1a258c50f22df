/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The events of a flow against a sorted list: times within a slot, in the wheel, around its end and
 * far beyond it, with events that are added while others are removed.
 */
#include "sim/flow_events.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { ROUNDS = 20, EVENTS = 3000 };

static uint64_t state;

static uint64_t random_below(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % below;
}

/* The distance of an event from the present. */
static uint64_t distance(void)
{
	static const uint64_t spans[] = {1, 100, 2000, 500000, 4194304, 4300000, 9000000, 1u << 30};

	return random_below(spans[random_below(ARRAY_SIZE(spans))]);
}

static int by_time(const void *left, const void *right)
{
	const struct flow_event *a = left, *b = right;

	if (a->due_ps != b->due_ps)
		return a->due_ps < b->due_ps ? -1 : 1;
	return (a->content > b->content) - (a->content < b->content);
}

static void test_order(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct flow_events events = {0};
		struct flow_event *list = mem_array(EVENTS, sizeof(*list));
		size_t added = 0, removed = 0;
		uint64_t now_ps = 0;

		state = round;
		while (removed < EVENTS) {
			const struct flow_event *first;

			while (added < EVENTS && (added == removed || random_below(5) < 2)) {
				list[added] = (struct flow_event){now_ps + distance(),
								  random_below(4) << 32 | added};
				flow_events_add(&events, list[added].due_ps, list[added].content);
				added++;
			}
			qsort(list + removed, added - removed, sizeof(*list), by_time);
			first = flow_events_first(&events);
			CU_ASSERT_FATAL(first != NULL);
			CU_ASSERT_EQUAL(first->due_ps, list[removed].due_ps);
			CU_ASSERT_EQUAL(first->content, list[removed].content);
			now_ps = first->due_ps;
			flow_events_pop(&events);
			removed++;
		}
		CU_ASSERT_PTR_NULL(flow_events_first(&events));
		flow_events_done(&events);
		free(list);
	}
}

static CU_TestInfo tests[] = {
	{"order", test_order},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("flow_events", tests);
}
