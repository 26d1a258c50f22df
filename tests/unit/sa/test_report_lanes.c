/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Random test of the lanes of reports (sa/report_lanes.h): ports with items that wait, reports that
 * begin and end. A lane never has more reports under way than its places, and a port never more
 * than its share. No item is lost or given twice, and no place stays free that an item could have.
 * Between two items of a port, each other port that could go has its turn.
 */
#include "sa/report_lanes.h"

#include <string.h>

#include "sa/report.h"
#include "tests/unit/fixtures/unit.h"

enum { PORTS = 12, ITEMS = 400, STEPS = 200000 };

static const unsigned places[LANES] = {REPORT_QUICK_MAX, REPORT_SLOW_MAX};
static const unsigned shares[LANES] = {REPORT_QUICK_SHARE, REPORT_SLOW_SHARE};

enum state { RESTS, WAITS, UNDER_WAY };

static struct item {
	struct list link;
	struct lane_port *port;
	unsigned number; /* of its port */
	enum state state;
	enum lane lane;
} items[ITEMS];

static struct lanes lanes;
static unsigned waiting[PORTS][LANES], running[PORTS][LANES], total[LANES];
static unsigned since[PORTS][LANES]; /* items of others that went while this port could have */

static unsigned draw(unsigned below)
{
	static uint64_t state = 0x9E3779B97F4A7C15;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % below;
}

static bool could_go(unsigned port, enum lane lane)
{
	return waiting[port][lane] && running[port][lane] < shares[lane];
}

static void item_waits(struct item *item)
{
	item->lane = draw(LANES);
	item->state = WAITS;
	waiting[item->number][item->lane]++;
	lanes_wait(&lanes, item->port, item->lane, &item->link);
}

static void item_ends(struct item *item)
{
	item->state = RESTS;
	running[item->number][item->lane]--;
	total[item->lane]--;
	lanes_leave(&lanes, item->port, item->lane);
}

static void item_goes_away(struct item *item)
{
	list_del(&item->link);
	item->state = RESTS;
	waiting[item->number][item->lane]--;
}

static void take_next(enum lane lane)
{
	struct list *link = lanes_next(&lanes, lane);
	struct item *item;

	if (!link) {
		for (unsigned port = 0; port < PORTS && total[lane] < places[lane]; port++)
			CU_ASSERT_FALSE(could_go(port, lane));
		return;
	}
	item = container_of(link, struct item, link);
	CU_ASSERT_EQUAL_FATAL(item->state, WAITS);
	CU_ASSERT_EQUAL_FATAL(item->lane, lane);
	CU_ASSERT_TRUE(could_go(item->number, lane));
	CU_ASSERT_TRUE(total[lane] < places[lane]);
	for (unsigned port = 0; port < PORTS; port++) {
		since[port][lane] =
			port != item->number && could_go(port, lane) ? since[port][lane] + 1 : 0;
		CU_ASSERT_TRUE(since[port][lane] < PORTS);
	}
	waiting[item->number][lane]--;
	item->state = UNDER_WAY;
	running[item->number][lane]++;
	total[lane]++;
	lanes_enter(&lanes, item->port, lane);
}

static void begin(void)
{
	lanes_init(&lanes);
	memset(waiting, 0, sizeof(waiting));
	memset(running, 0, sizeof(running));
	memset(total, 0, sizeof(total));
	memset(since, 0, sizeof(since));
	for (unsigned i = 0; i < ITEMS; i++) {
		/* One port has most of them. */
		items[i] = (struct item){.number = i < ITEMS / 2 ? 0 : i % PORTS};
		list_init(&items[i].link);
		items[i].port = lanes_port(&lanes, items[i].number + 1);
	}
}

static void test_random(void)
{
	struct list out;
	unsigned drained = 0, wait = 0;

	begin();
	for (unsigned step = 0; step < STEPS; step++) {
		struct item *item = &items[draw(ITEMS)];

		take_next(draw(LANES));
		if (item->state == RESTS)
			item_waits(item);
		else if (item->state == UNDER_WAY && draw(4) == 0)
			item_ends(item);
		else if (item->state == WAITS && draw(64) == 0)
			item_goes_away(item);
	}
	list_init(&out);
	for (unsigned lane = 0; lane < LANES; lane++)
		lanes_drain(&lanes, lane, &out);
	for (unsigned i = 0; i < ITEMS; i++)
		wait += items[i].state == WAITS;
	while (list_pop(&out))
		drained++;
	CU_ASSERT_EQUAL(drained, wait);
	CU_ASSERT_PTR_NULL(lanes_next(&lanes, QUICK));
	for (unsigned i = 0; i < ITEMS; i++) {
		if (items[i].state == UNDER_WAY)
			item_ends(&items[i]);
		lane_port_put(&lanes, items[i].port);
	}
	CU_ASSERT_EQUAL(lanes.by_guid.count, 0);
	lanes_done(&lanes);
}

/* An item that returns its turn has the next turn. */
static void test_first(void)
{
	begin();
	for (unsigned i = 0; i < ITEMS; i++)
		item_waits(&items[i]);
	for (unsigned lane = 0; lane < LANES; lane++) {
		struct list *link = lanes_next(&lanes, lane);
		struct item *item = container_of(link, struct item, link);

		lanes_wait_first(&lanes, item->port, lane, link);
		CU_ASSERT_PTR_EQUAL(lanes_next(&lanes, lane), link);
	}
	for (unsigned i = 0; i < ITEMS; i++) {
		list_del(&items[i].link);
		lane_port_put(&lanes, items[i].port);
	}
	lanes_done(&lanes);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"at random", test_random},
		{"a turn that is given back", test_first},
		CU_TEST_INFO_NULL,
	};

	return unit_main("report_lanes", tests);
}
