/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pace against a model of its purpose: a first switch that serves one SMP at a time, and drops
 * SMPs that find its buffer full. Its clock is virtual. The model shares nothing with the
 * simulator, and only the pace decides when an SMP is sent.
 */
#include <string.h>

#include "lib/mem.h"
#include "mad/pace.h"
#include "tests/unit/fixtures/unit.h"

enum { FLIGHTS = 128, HOPS = 4, SENDS = 4000, WARM_UP = 400, OWN_EVERY = 100 };

enum stage { UNUSED, ARRIVES, WAITS, SERVED, BEYOND, BACK };

struct flight {
	enum stage stage;
	bool returns; /* it passes the first switch for the second time */
	unsigned hops;
	uint64_t sent_us, at_us; /* when its stage ends */
};

struct model {
	unsigned transit_us, beyond_us; /* of the first switch, of each other one */
	unsigned agent_us;		/* of the first switch's agent */
	unsigned far_us, slow_us; /* of agents beyond it, and of every second of these; 0: same */
	unsigned hops;		  /* the longest way; 0: 4 */
	unsigned depth;
	struct pace pace;
	struct flight flight[FLIGHTS];
	struct flight *queue[FLIGHTS], *serving;
	unsigned waiting, under_way, sent, dropped, answered;
	uint64_t now_us, warm_us;
};

static unsigned agent_us(const struct model *model)
{
	if (model->slow_us && model->sent % 2)
		return model->slow_us;
	return model->far_us ? model->far_us : model->agent_us;
}

static void serve(struct model *model, struct flight *flight)
{
	bool own = flight->hops == 1;

	model->serving = flight;
	flight->stage = SERVED;
	flight->at_us = model->now_us + (own ? model->agent_us : model->transit_us);
}

static void finish(struct model *model, struct flight *flight, bool answered)
{
	flight->stage = UNUSED;
	model->under_way--;
	model->dropped += !answered;
	model->answered += answered;
	if (answered)
		pace_answered(&model->pace, flight->hops, model->now_us - flight->sent_us);
	else
		pace_lost(&model->pace, flight->sent_us, model->now_us);
}

static void arrive(struct model *model, struct flight *flight)
{
	if (!model->serving) {
		serve(model, flight);
	} else if (model->waiting < model->depth) {
		flight->stage = WAITS;
		model->queue[model->waiting++] = flight;
	} else {
		finish(model, flight, false);
	}
}

static void leave_switch(struct model *model, struct flight *flight)
{
	model->serving = NULL;
	if (model->waiting) {
		struct flight *next = model->queue[0];

		model->waiting--;
		memmove(model->queue, model->queue + 1, model->waiting * sizeof(*model->queue));
		serve(model, next);
	}
	if (flight->hops == 1 || flight->returns) {
		finish(model, flight, true);
		return;
	}
	flight->stage = BEYOND;
	flight->returns = true;
	flight->at_us = model->now_us + 2 * (flight->hops - 2) * model->beyond_us + agent_us(model);
}

static struct flight *next_event(struct model *model)
{
	struct flight *next = NULL;

	for (size_t i = 0; i < FLIGHTS; i++) {
		struct flight *flight = &model->flight[i];

		if (flight->stage != UNUSED && flight->stage != WAITS &&
		    (!next || flight->at_us < next->at_us))
			next = flight;
	}
	return next;
}

static void step(struct model *model, struct flight *flight)
{
	model->now_us = flight->at_us;
	if (flight->stage == SERVED)
		leave_switch(model, flight);
	else
		arrive(model, flight);
}

/* SMPs always wait: some for the first switch itself, the others for targets further away. */
static unsigned next_hops(const struct model *model)
{
	unsigned most = model->hops ? model->hops : HOPS;

	if (model->sent < most)
		return model->sent + 1;
	return model->sent % OWN_EVERY ? 2 + model->sent % (most - 1) : 1;
}

static void send_one(struct model *model, unsigned hops)
{
	struct flight *flight = model->flight;

	while (flight->stage != UNUSED)
		flight++;
	pace_sent(&model->pace, hops, model->now_us);
	model->sent++;
	model->under_way++;
	*flight = (struct flight){
		.stage = ARRIVES, .hops = hops, .sent_us = model->now_us, .at_us = model->now_us};
}

/* When the next SMP can be sent; UINT64_MAX: after the next answer. */
static uint64_t next_send_us(struct model *model)
{
	if (model->under_way == FLIGHTS ||
	    (model->under_way && pace_wants_alone(&model->pace, next_hops(model))))
		return UINT64_MAX;
	return model->now_us + pace_wait_us(&model->pace, model->now_us);
}

static void play(struct model *model)
{
	pace_init(&model->pace, 0);
	while (model->sent < SENDS) {
		struct flight *event = next_event(model);
		uint64_t send_us = next_send_us(model);

		if (model->sent < HOPS && model->under_way)
			send_us = UINT64_MAX;
		if (event && event->at_us <= send_us) {
			step(model, event);
			continue;
		}
		model->now_us = send_us;
		send_one(model, next_hops(model));
		if (model->sent == WARM_UP) {
			model->dropped = model->answered = 0;
			model->warm_us = model->now_us;
		}
	}
}

/* As a share of the SMPs that the first switch could have passed in that time. */
static unsigned percent_used(const struct model *model)
{
	uint64_t own_us = (uint64_t)model->answered / OWN_EVERY * model->agent_us;
	uint64_t needed_us = (uint64_t)model->answered * 2 * model->transit_us + own_us;
	uint64_t passed_us = model->now_us - model->warm_us;

	return passed_us ? (unsigned)(100 * needed_us / passed_us) : 0;
}

static void expect(struct model model, unsigned least_percent)
{
	play(&model);
	CU_ASSERT_TRUE(percent_used(&model) >= least_percent);
	CU_ASSERT_TRUE(model.dropped * 100 <= model.answered);
}

/* It has always something to do, and its buffer does not overflow. */
static void test_equal_switches(void)
{
	static const unsigned transits[] = {50, 200, 1000}, depths[] = {4, 8, 16};

	for (size_t t = 0; t < ARRAY_SIZE(transits); t++)
		for (size_t d = 0; d < ARRAY_SIZE(depths); d++)
			expect((struct model){.transit_us = transits[t],
					      .beyond_us = transits[t],
					      .agent_us = 50,
					      .depth = depths[d]},
			       90);
	for (size_t t = 1; t < ARRAY_SIZE(transits); t++)
		expect((struct model){.transit_us = transits[t],
				      .beyond_us = transits[t],
				      .agent_us = 500,
				      .depth = 8},
		       90);
}

/* The passage times of other switches say little about the first switch. */
static void test_unequal_switches(void)
{
	expect((struct model){.transit_us = 200, .beyond_us = 150, .agent_us = 50, .depth = 8}, 90);
	expect((struct model){.transit_us = 50, .beyond_us = 200, .agent_us = 50, .depth = 8}, 90);
}

static void test_unequal_agents(void)
{
	struct model model = {.transit_us = 100, .beyond_us = 100, .agent_us = 50, .depth = 8};

	model.slow_us = 500; /* every other one */
	expect(model, 90);
	model.slow_us = 0;
	model.far_us = 10; /* all but the first switch's */
	model.agent_us = 500;
	expect(model, 90);
}

/* With only one switch, a passage looks the same as adapters that are slower than it. The charge
 * falls until an SMP is lost, and no further. */
static void test_one_switch(void)
{
	struct model model = {.transit_us = 100, .agent_us = 50, .hops = 2, .depth = 8};

	model.far_us = 500;
	expect(model, 75);
	model = (struct model){
		.transit_us = 50, .agent_us = 50, .far_us = 1000, .hops = 2, .depth = 4};
	expect(model, 75);
	model = (struct model){
		.transit_us = 100, .agent_us = 150, .far_us = 50, .hops = 2, .depth = 8};
	expect(model, 90);
}

static void test_nothing_waits_where_a_passage_costs_nothing(void)
{
	struct pace pace;

	pace_init(&pace, 0);
	for (unsigned hops = 1; hops <= 5; hops++) {
		CU_ASSERT_EQUAL(pace_wants_alone(&pace, hops), hops <= 2);
		pace_sent(&pace, hops, 0);
		pace_answered(&pace, hops, 100 + 19 * hops);
	}
	for (unsigned i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(pace_wait_us(&pace, 0), 0);
		pace_sent(&pace, 1 + i % 5, 0);
	}
}

/* Adapters that are slower than the switch before them are no slow passage. */
static void test_slow_adapters(void)
{
	struct pace pace;

	pace_init(&pace, 0);
	pace_answered(&pace, 1, 50);
	pace_answered(&pace, 2, 100000); /* one switch: no switch needs so long */
	CU_ASSERT_EQUAL(pace.passage_us, 2500);
	pace_answered(&pace, 2, 2550);
	CU_ASSERT_EQUAL(pace.passage_us, 2500);
	pace_answered(&pace, 2, 2549);
	CU_ASSERT_EQUAL(pace.passage_us, 2499);
	pace_init(&pace, 0);
	pace_answered(&pace, 1, 50);
	pace_answered(&pace, 2, 55);  /* the second switch */
	pace_answered(&pace, 3, 600); /* its adapters */
	CU_ASSERT_EQUAL(pace.passage_us, 0);
}

/* A route length without answers is not tried forever. A route length that is forgotten is tried
 * again. */
static void test_ways_are_measured(void)
{
	struct pace pace;

	pace_init(&pace, 0);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(pace_wants_alone(&pace, 7));
		pace_try(&pace, 7);
	}
	CU_ASSERT_FALSE(pace_wants_alone(&pace, 7));
	pace_answered(&pace, 1, 100);
	CU_ASSERT_FALSE(pace_wants_alone(&pace, 1));
	pace_answered(&pace, 2, 2100);
	CU_ASSERT_EQUAL(pace.passage_us, 2000);
	CU_ASSERT_TRUE(pace_wants_alone(&pace, 3)); /* passages cost something */
	pace_answered(&pace, 3, UINT64_MAX);	    /* no time at all */
	CU_ASSERT_TRUE(pace_wants_alone(&pace, 3));
	pace_init(&pace, 0);
	CU_ASSERT_TRUE(pace_wants_alone(&pace, 7));
	CU_ASSERT_TRUE(pace_wants_alone(&pace, 1));
}

/* An SMP to the first switch itself costs time, too, and more than a passage. */
static void test_charges(void)
{
	struct pace pace;

	pace_init(&pace, 0);
	pace_answered(&pace, 1, 400);
	pace_answered(&pace, 2, 600);
	for (unsigned i = 0; i < 4; i++) { /* three may wait there while one is served */
		CU_ASSERT_EQUAL(pace_wait_us(&pace, 1000), 0);
		pace_sent(&pace, 2, 1000);
	}
	CU_ASSERT_EQUAL(pace_wait_us(&pace, 1000), 200);
	CU_ASSERT_EQUAL(pace_wait_us(&pace, 1150), 50);
	CU_ASSERT_EQUAL(pace_wait_us(&pace, 1200), 0);
	pace_sent(&pace, 1, 1200);
	CU_ASSERT_EQUAL(pace_wait_us(&pace, 1200), 600);
	CU_ASSERT_EQUAL(pace_wait_us(&pace, 5000), 0);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"equal switches", test_equal_switches},
		{"unequal switches", test_unequal_switches},
		{"unequal agents", test_unequal_agents},
		{"one switch", test_one_switch},
		{"nothing waits where a passage costs nothing",
		 test_nothing_waits_where_a_passage_costs_nothing},
		{"slow adapters", test_slow_adapters},
		{"ways are measured", test_ways_are_measured},
		{"charges", test_charges},
		CU_TEST_INFO_NULL,
	};

	return unit_main("pace", tests);
}
