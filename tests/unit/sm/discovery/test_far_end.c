/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answer of a probe: the cable that it shows, and when it is not believed:
 * sm/discovery/far_end.c. */
#include <stdio.h>

#include "sm/discovery/parts.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

enum { PASS = 5 };

/* ours - near = far, near - third; port 4 of near has no cable, nor have the last ports of the
 * others. */
enum { OURS, NEAR, FAR, THIRD };
enum { TO_FAR = 2, TO_THIRD = 3, FREE = 4, FAR_FREE = 2 };

struct bed {
	struct model model;
	struct net *net;
	struct discover *discover;
	struct node *near, *far, *third;
};

static void begin(struct bed *bed, enum discover_kind kind)
{
	static const struct sm_options options;
	struct net *net = net_new();

	net_put(net, NODE_CA, "ours", 0, 1);
	net_put(net, NODE_SWITCH, "near", 0, 4);
	net_put(net, NODE_SWITCH, "far", 1, 2);
	net_put(net, NODE_SWITCH, "third", 2, 2);
	net_connect(net, OURS, 1, NEAR, 1);
	net_connect(net, NEAR, TO_FAR, FAR, 1);
	net_connect(net, NEAR, TO_THIRD, THIRD, 1);
	bed->net = net;
	model_init(&bed->model);
	model_fill(&bed->model, net, 0, 1, OURS, 1);
	bed->near = model_port(&bed->model, net, NEAR, 0)->node;
	bed->far = model_port(&bed->model, net, FAR, 0)->node;
	bed->third = model_port(&bed->model, net, THIRD, 0)->node;
	bed->discover =
		discover_new(bed->model.loop, bed->model.window, bed->model.fabric, &options);
	bed->discover->kind = kind;
	bed->discover->pass = PASS;
}

static void end(struct bed *bed)
{
	list_for_each (link, &bed->model.fabric->switches) {
		struct node *node = container_of(link, struct switch_state, link)->node;

		window_target_drop(&node->port[0].agent->target, bed->discover);
	}
	discover_free(bed->discover);
	model_done(&bed->model);
	net_free(bed->net);
}

/* A device answers the probe out of a port, which arrived at this port. */
static void answers(struct bed *bed, struct port *from, const struct port *arrival)
{
	struct node_info info = arrival->node->facts->info;

	info.local_port_num = arrival->num;
	discover_arrived(bed->discover, from, &info, true);
}

/* A port has no cable in the model. Its link was down, or it never had one. */
static void test_was_cut(void)
{
	static const struct {
		const char *name;
		enum { LED_NOWHERE, LED_TO_FAR, LED_TO_THIRD } led_to; /* by its last cable */
		bool heavy; /* a heavy pass is requested */
	} rows[] = {
		{"a new cable", LED_NOWHERE, false},
		{"the same cable is back", LED_TO_FAR, false},
		{"it led elsewhere", LED_TO_THIRD, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port *from, *arrival;
		struct bed bed;

		begin(&bed, DISCOVER_TARGETED);
		from = &bed.near->port[FREE];
		arrival = &bed.far->port[FAR_FREE];
		from->discovery.led_to = rows[i].led_to == LED_NOWHERE	? 0
					 : rows[i].led_to == LED_TO_FAR ? bed.far->guid
									: bed.third->guid;
		answers(&bed, from, arrival);
		if (discover_report(bed.discover)->want_heavy != rows[i].heavy)
			printf("    %s\n", rows[i].name);
		CU_ASSERT_EQUAL(discover_report(bed.discover)->want_heavy, rows[i].heavy);
		CU_ASSERT_EQUAL(discover_report(bed.discover)->recabled, rows[i].heavy);
		CU_ASSERT_PTR_EQUAL(from->peer, arrival);
		end(&bed);
	}
}

/* A cable was moved from one port of near to another. If a switch on the route to near has reported
 * changed links, the answer may have come from elsewhere. */
static void test_moved_cable(void)
{
	static const struct {
		enum discover_kind kind;
		bool changed; /* near has reported changes */
		bool moved;   /* the answer shows the moved cable */
		bool linked, heavy;
	} rows[] = {
		{DISCOVER_TARGETED, false, false, true, false},
		{DISCOVER_TARGETED, true, false, true, false},
		{DISCOVER_TARGETED, false, true, true, true},
		{DISCOVER_TARGETED, true, true, false, true},
		{DISCOVER_HEAVY, false, true, true, false},
		{DISCOVER_HEAVY, true, true, false, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port *from, *arrival;
		struct bed bed;

		begin(&bed, rows[i].kind);
		from = &bed.near->port[rows[i].moved ? FREE : TO_FAR];
		arrival = &bed.far->port[1];
		bed.near->sw->links_changed = rows[i].changed;
		answers(&bed, from, arrival);
		CU_ASSERT_EQUAL(from->peer == arrival, rows[i].linked);
		CU_ASSERT_EQUAL(arrival->peer == from, rows[i].linked);
		CU_ASSERT_EQUAL(discover_report(bed.discover)->want_heavy, rows[i].heavy);
		end(&bed);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"the port was cut", test_was_cut},
		{"a moved cable", test_moved_cable},
		CU_TEST_INFO_NULL,
	};

	log_set_level(NULL, LOG_CRIT);
	return unit_main("far_end", tests);
}
