/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which Sets are safe now: sm/program/order.c, on a ring of three switches (ring_net.h). No packet
 * may enter a loop, and in lossless order no packet may be lost.
 */
#include <stdio.h>

#include "sm/program/parts.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/ring_net.h"
#include "tests/unit/fixtures/unit.h"

enum {
	LID = 10, /* of a host at HOST_PORT of switch 0 */
	HOST_PORT = 1,
	TOP = 20,
	NO_SWITCH = -1, /* the Set() is safe */
	NONE = LFT_NO_PORT,
	UNKNOWN = 0xFE, /* the block of the entry was not read */
};

struct ring {
	struct model model;
	struct net *net;
};

static struct node *sw(const struct ring *ring, unsigned number)
{
	return model_port(&ring->model, ring->net, HOSTS + number, 0)->node;
}

static void set_state(struct ring *ring, struct port *port, uint8_t state)
{
	struct port_info info = *port_info(port);

	info.port_state = state;
	port_set_info(ring->model.fabric, port, &info);
}

static void set_top(struct ring *ring, unsigned number, lid_t top)
{
	struct switch_info info = sw(ring, number)->facts->sw;

	info.linear_fdb_top = top;
	node_set_switch_info(ring->model.fabric, sw(ring, number), &info);
}

/* The wanted and the present entry of a switch for LID; all other entries are NONE. */
static void set_entry(struct ring *ring, unsigned number, uint8_t want, uint8_t have)
{
	struct switch_state *state = sw(ring, number)->sw;
	struct lft *held = lft_new(TOP);

	lft_unref(state->lft.want);
	state->lft.want = lft_new(TOP);
	state->lft.want->port[LID] = want;
	held->port[LID] = have;
	lft_have_believe(&state->lft.have, held);
	if (have == UNKNOWN)
		lft_have_forget(&state->lft.have);
	lft_unref(held);
	state->lft.compared = true;
	state->lft.dirty[0] = want != have;
	set_top(ring, number, TOP);
}

/* All links ACTIVE; each switch has and wants the shortest way to the host. */
static void ring_begin(struct ring *ring)
{
	static const uint8_t shortest[SWITCHES] = {HOST_PORT, PREVIOUS, NEXT};

	ring->net = ring_net();
	model_init(&ring->model);
	model_fill(&ring->model, ring->net, 0, 1, 0, 1);
	for (unsigned s = 0; s < SWITCHES; s++) {
		for (uint8_t p = 1; p <= PREVIOUS; p++) {
			set_state(ring, &sw(ring, s)->port[p], PORT_ACTIVE);
			if (p < NEXT)
				set_state(ring, sw(ring, s)->port[p].peer, PORT_ACTIVE);
		}
		set_entry(ring, s, shortest[s], shortest[s]);
	}
}

static void ring_end(struct ring *ring)
{
	model_done(&ring->model);
	net_free(ring->net);
}

static int number_of(const struct ring *ring, const struct node *node)
{
	for (unsigned s = 0; s < SWITCHES; s++)
		if (node == sw(ring, s))
			return (int)s;
	return NO_SWITCH;
}

/* What happened to the cable between switches 0 and 1, and what is known of it. */
enum cable {
	CABLE_ACTIVE,
	CABLE_INIT,
	CABLE_HALF_ARMED,    /* only the end at switch 0 */
	CABLE_PULLED,	     /* both switches reported DOWN */
	CABLE_PULLED_SILENT, /* then switch 0 became silent: it may have a new cable */
	CABLE_PULLED_UNREAD, /* then a read of the port of switch 0 had no answer */
	CABLE_NEWS,	     /* switch 0 reported changed links */
};

static void set_cable(struct ring *ring, enum cable cable)
{
	struct port *port = &sw(ring, 0)->port[NEXT], *peer = port->peer;

	switch (cable) {
	case CABLE_ACTIVE:
		break;
	case CABLE_INIT:
	case CABLE_HALF_ARMED:
		set_state(ring, port, cable == CABLE_INIT ? PORT_INIT : PORT_ARMED);
		set_state(ring, peer, PORT_INIT);
		break;
	case CABLE_PULLED:
	case CABLE_PULLED_SILENT:
	case CABLE_PULLED_UNREAD:
		fabric_unlink(ring->model.fabric, port);
		set_state(ring, port, PORT_DOWN);
		set_state(ring, peer, PORT_DOWN);
		port->node->silent = cable == CABLE_PULLED_SILENT;
		port->discovery.unread = cable == CABLE_PULLED_UNREAD;
		break;
	case CABLE_NEWS:
		port->node->sw->links_changed = true;
		break;
	}
}

/* The wanted and present entries of the three switches, and the switch for which the entry of
 * switch 2 waits. */
static void test_entry(void)
{
	static const struct {
		const char *name;
		uint8_t want[SWITCHES], have[SWITCHES];
		enum cable cable;
		int loops, loses; /* the blocker, of loops only and in lossless order */
	} rows[] = {
		{"the route is in place", {1, 4, 3}, {1, 4, NONE}, CABLE_ACTIVE, -1, -1},
		{"the next switch has no entry", {1, 4, 4}, {1, NONE, 3}, CABLE_ACTIVE, -1, 1},
		{"the next switch is unknown", {1, 4, 4}, {1, UNKNOWN, 3}, CABLE_ACTIVE, 1, 1},
		{"a later switch is unknown", {1, 4, 4}, {UNKNOWN, 4, 3}, CABLE_ACTIVE, 0, 0},
		{"the entry would come back", {1, 4, 4}, {1, 3, NONE}, CABLE_ACTIVE, 1, 1},
		{"it would come back by two", {1, 4, 4}, {4, 4, NONE}, CABLE_ACTIVE, 0, 0},
		{"the first of two that differ", {1, 4, 3}, {3, 3, NONE}, CABLE_ACTIVE, 0, 0},
		{"the way ends at a cable in INIT", {1, 4, 3}, {3, 3, NONE}, CABLE_INIT, -1, 0},
		{"one end cannot pass", {1, 4, 3}, {3, 3, NONE}, CABLE_HALF_ARMED, -1, 0},
		{"the way ends at a pulled cable", {1, 4, 3}, {3, 3, NONE}, CABLE_PULLED, -1, 0},
		{"it may not at a silent switch",
		 {1, 4, 3},
		 {3, 3, NONE},
		 CABLE_PULLED_SILENT,
		 0,
		 0},
		{"nor at an unread port", {1, 4, 3}, {3, 3, NONE}, CABLE_PULLED_UNREAD, 0, 0},
		{"nor when links have changed", {1, 4, 3}, {3, 3, NONE}, CABLE_NEWS, 2, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ring ring;
		int loops, loses;

		ring_begin(&ring);
		for (unsigned s = 0; s < SWITCHES; s++)
			set_entry(&ring, s, rows[i].want[s], rows[i].have[s]);
		set_cable(&ring, rows[i].cable);
		loops = number_of(&ring, order_entry_blocker(sw(&ring, 2), LID, false));
		loses = number_of(&ring, order_entry_blocker(sw(&ring, 2), LID, true));
		if (loops != rows[i].loops || loses != rows[i].loses)
			printf("    %s: %d, lossless %d\n", rows[i].name, loops, loses);
		CU_ASSERT_EQUAL(loops, rows[i].loops);
		CU_ASSERT_EQUAL(loses, rows[i].loses);
		ring_end(&ring);
	}
}

/* A cable is known if both ports were read, and neither switch has reported changes since. */
static void test_known_cables(void)
{
	struct ring ring;
	struct node *from, *to;
	struct port *near, *far;

	ring_begin(&ring);
	from = sw(&ring, 2);
	near = &from->port[NEXT];
	far = near->peer;
	to = far->node;
	CU_ASSERT_PTR_NULL(order_entry_blocker(from, LID, false));
	near->discovery.unread = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(from, LID, false), from);
	near->discovery.unread = false;
	far->discovery.unread = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(from, LID, false), from);
	far->discovery.unread = false;
	from->sw->links_changed = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(from, LID, false), from);
	from->sw->links_changed = false;
	to->sw->links_changed = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(from, LID, false), from);
	to->sw->links_changed = false;
	/* A loop over it is broken nevertheless. */
	CU_ASSERT_TRUE(order_comes_back(to, PREVIOUS, LID));
	near->discovery.unread = true;
	CU_ASSERT_TRUE(order_comes_back(to, PREVIOUS, LID));
	near->discovery.unread = false;
	set_top(&ring, 2, LID - 1);
	CU_ASSERT_FALSE(order_comes_back(to, PREVIOUS, LID));
	set_entry(&ring, 2, NEXT, UNKNOWN);
	CU_ASSERT_FALSE(order_comes_back(to, PREVIOUS, LID));
	ring_end(&ring);
}

/* The order of Sets matters if an earlier table may still forward, or after a report of changes. */
static void test_matters(void)
{
	static const struct {
		unsigned stale;
		uint64_t epoch;
		bool matters;
	} rows[] = {{0, 7, false}, {1, 7, true}, {0, 8, true}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct program program = {
			.stale = rows[i].stale, .epoch = rows[i].epoch, .sweep_epoch = 7};

		CU_ASSERT_EQUAL(order_matters(&program), rows[i].matters);
	}
}

/* An entry that differs from the wanted entry, and is not to be written, has a Set() under way. */
static void test_set_under_way(void)
{
	struct ring ring;

	ring_begin(&ring);
	set_entry(&ring, 0, HOST_PORT, NONE);
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 2), LID, false));
	sw(&ring, 0)->sw->lft.dirty[0] = 0;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), sw(&ring, 0));
	/* The run has not compared the tables yet: no Set() is under way. */
	sw(&ring, 0)->sw->lft.compared = false;
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 2), LID, false));
	/* A reset switch has an unknown table. */
	sw(&ring, 0)->sw->lost = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), sw(&ring, 0));
	ring_end(&ring);
}

/* Entries above LinearFDBTop forward nothing. */
static void test_tops(void)
{
	struct ring ring;
	struct node *node;

	ring_begin(&ring);
	node = sw(&ring, 0);
	set_entry(&ring, 0, HOST_PORT, PREVIOUS); /* 0 and 2 send to each other */
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), node);
	set_top(&ring, 0, LID - 1);
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 2), LID, false));
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, true), node);
	/* A Set() of the top may have arrived. */
	node->sw->busy = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), node);
	node->sw->busy = false;
	node->sw->failed = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), node);
	node->sw->failed = false;
	node->sw->verify.unanswered = 1;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), node);
	node->sw->verify.unanswered = 0;
	/* Another manager may have raised it. */
	node->sw->tops_unread = true;
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 2), LID, false));
	node->silent = true;
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, false), node);
	node->silent = node->sw->tops_unread = false;

	/* The same loop seen from the switch whose top rises. */
	sw(&ring, 0)->sw->lft.want->port[LID] = PREVIOUS;
	CU_ASSERT_PTR_NOT_NULL(order_top_blocker(node));
	set_entry(&ring, 2, NEXT, NONE);
	CU_ASSERT_PTR_NULL(order_top_blocker(node));
	ring_end(&ring);
}

/* A cable between switches goes ACTIVE: neither end may send packets into it that come back, or
 * that it no longer wants to send there. */
static void test_cable(void)
{
	static const struct {
		const char *name;
		uint8_t want[SWITCHES], have[SWITCHES];
		int blocker;
	} rows[] = {
		{"nothing uses it", {1, 3, 3}, {1, 3, 3}, -1},
		{"its far end delivers", {1, 4, 3}, {1, 4, 3}, -1},
		{"an old entry leads into it", {1, 4, 3}, {3, 4, 3}, 0},
		{"an old entry at the other end", {1, 3, 3}, {1, 4, 3}, 1},
		{"an unknown entry at its end", {1, 4, 3}, {1, UNKNOWN, 3}, 1},
		{"an unknown entry behind it", {3, 3, 3}, {3, 3, UNKNOWN}, 2},
		{"a loop behind it", {3, 3, 1}, {3, 3, 3}, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ring ring;
		int blocker;

		ring_begin(&ring);
		for (unsigned s = 0; s < SWITCHES; s++)
			set_entry(&ring, s, rows[i].want[s], rows[i].have[s]);
		set_cable(&ring, CABLE_INIT);
		blocker = number_of(&ring, order_cable_blocker(&sw(&ring, 0)->port[NEXT]));
		if (blocker != rows[i].blocker)
			printf("    %s: %d\n", rows[i].name, blocker);
		CU_ASSERT_EQUAL(blocker, rows[i].blocker);
		ring_end(&ring);
	}
}

/* In lossless order, an entry waits until the cable behind it is ACTIVE. */
static void test_coming_up(void)
{
	struct ring ring;
	struct port *port;

	ring_begin(&ring);
	port = &sw(&ring, 1)->port[PREVIOUS];
	set_cable(&ring, CABLE_INIT);
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 1), LID, false));
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 1), LID, true), sw(&ring, 1));
	set_entry(&ring, 2, PREVIOUS, PREVIOUS);
	CU_ASSERT_PTR_EQUAL(order_entry_blocker(sw(&ring, 2), LID, true), sw(&ring, 1));
	port->program.failed = true; /* it will not come up */
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 1), LID, true));
	port->program.failed = false;
	port->peer->program.failed = true;
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 1), LID, true));
	port->peer->program.failed = false;
	port_trouble(ring.model.fabric, port->peer)->held_until_us = 1; /* it is not brought up */
	CU_ASSERT_PTR_NULL(order_entry_blocker(sw(&ring, 1), LID, true));
	ring_end(&ring);
}

/* Entries that end a path, and paths that return. */
static void test_ends_and_returns(void)
{
	struct ring ring;
	struct node *node;

	ring_begin(&ring);
	node = sw(&ring, 0);
	CU_ASSERT_TRUE(order_ends(node, NONE));
	CU_ASSERT_FALSE(order_ends(node, 0));
	CU_ASSERT_FALSE(order_ends(node, HOST_PORT));
	CU_ASSERT_FALSE(order_ends(node, NEXT));
	CU_ASSERT_FALSE(order_comes_back(node, HOST_PORT, LID));
	CU_ASSERT_TRUE(order_comes_back(node, NEXT, LID));
	CU_ASSERT_TRUE(order_comes_back(node, PREVIOUS, LID));
	set_entry(&ring, 2, NEXT, NONE);
	CU_ASSERT_FALSE(order_comes_back(node, PREVIOUS, LID));
	set_cable(&ring, CABLE_PULLED);
	CU_ASSERT_TRUE(order_ends(node, NEXT));
	CU_ASSERT_FALSE(order_comes_back(node, NEXT, LID));
	node->silent = true; /* the port may have a new cable */
	CU_ASSERT_FALSE(order_ends(node, NEXT));
	ring_end(&ring);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"an entry", test_entry},
		{"known cables", test_known_cables},
		{"the order matters", test_matters},
		{"a Set() under way", test_set_under_way},
		{"LinearFDBTop", test_tops},
		{"a cable goes ACTIVE", test_cable},
		{"a cable that comes up", test_coming_up},
		{"ends and returns", test_ends_and_returns},
		CU_TEST_INFO_NULL,
	};

	return unit_main("order", tests);
}
