/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Turns of long answers: who is worked at when, how much in one turn of the loop, how much memory
 * is set aside, and what finds no place. The loop is this file: time passes when a test says so.
 */
#include "sa/queue.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { RECORD_BYTES = 64 };

static const struct format record = {.name = "record", .wire_size = RECORD_BYTES};

static struct {
	uint64_t now_us, effort;
	struct loop_deferred *deferred;
	struct loop_timer *timer;
	uint64_t steps;		       /* of all requests */
	unsigned done[2048], num_done; /* TIDs in the order they were complete */
} test;

uint64_t loop_now_us(const struct loop *loop)
{
	(void)loop;
	return test.now_us;
}

void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, const char *name,
			loop_fn *fn, void *arg)
{
	*deferred = (struct loop_deferred){.loop = loop, .name = name, .fn = fn, .arg = arg};
}

void loop_defer(struct loop_deferred *deferred)
{
	test.deferred = deferred;
}

void loop_defer_cancel(struct loop_deferred *deferred)
{
	(void)deferred;
	test.deferred = NULL;
}

void loop_timer_init(struct loop_timer *timer, struct loop *loop, const char *name, loop_fn *fn,
		     void *arg)
{
	*timer = (struct loop_timer){.loop = loop, .name = name, .fn = fn, .arg = arg};
}

void loop_timer_arm(struct loop_timer *timer, uint64_t delay_us)
{
	timer->due_us = test.now_us + delay_us;
	test.timer = timer;
}

void loop_timer_disarm(struct loop_timer *timer)
{
	(void)timer;
	test.timer = NULL;
}

uint64_t lookup_effort(const struct lookup *lookup)
{
	(void)lookup;
	return test.effort;
}

bool request_open(const struct sa_request *request)
{
	return !request->answer->too_large;
}

/* A turn of the loop; false when there is nothing to do before time passes. */
static bool turn(void)
{
	struct loop_deferred *deferred = test.deferred;

	if (!deferred)
		return false;
	test.deferred = NULL;
	deferred->fn(deferred->arg);
	return true;
}

static void pass(uint64_t us)
{
	struct loop_timer *timer = test.timer;

	test.now_us += us;
	if (!timer || timer->due_us > test.now_us)
		return;
	test.timer = NULL;
	timer->fn(timer->arg);
}

/* Lets time pass until nothing is left, or so long. */
static void settle(const struct queue *queue, uint64_t us)
{
	for (uint64_t until_us = test.now_us + us; test.now_us < until_us && queue_length(queue);) {
		while (turn())
			;
		pass(10000);
	}
}

static void step(struct sa_request *request, uint64_t unit)
{
	(void)request;
	(void)unit;
	test.steps++;
}

/* What the lookup did not know yet. */
static void step_with_effort(struct sa_request *request, uint64_t unit)
{
	step(request, unit);
	test.effort++;
}

static void done(void *ctx, struct exchange *exchange)
{
	struct queue **queue = ctx;

	test.done[test.num_done++ % ARRAY_SIZE(test.done)] = (unsigned)exchange->header.tid;
	queue_handed_over(*queue, exchange_port(exchange),
			  (size_t)exchange->request.most * RECORD_BYTES);
	free(exchange);
}

static struct queue *begin(struct queue **queue)
{
	memset(&test, 0, sizeof(test));
	*queue = queue_new(NULL, done, queue);
	return *queue;
}

static enum verdict add_table(struct queue *queue, lid_t lid, unsigned tid, uint64_t units,
			      uint64_t most)
{
	struct exchange *exchange = mem_zalloc(sizeof(*exchange));
	enum verdict verdict;

	exchange->from.lid = lid;
	exchange->header.tid = tid;
	exchange->request = (struct sa_request){.format = &record,
						.requester = {.lid = lid},
						.table = true,
						.answer = &exchange->answer,
						.end = units,
						.most = most,
						.step = step};
	verdict = queue_judge(queue, exchange);
	if (verdict == VERDICT_WAITS)
		queue_add(queue, exchange);
	else
		free(exchange);
	return verdict;
}

static enum verdict add(struct queue *queue, lid_t lid, unsigned tid, uint64_t units)
{
	return add_table(queue, lid, tid, units, units);
}

/* A turn does no more than some, whatever there is to do. */
static void test_slices(void)
{
	struct queue *queue = begin(&queue);
	unsigned turns = 0;

	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(add(queue, (lid_t)(i + 1), i, 10000), VERDICT_WAITS);
	for (uint64_t before = 0; turn(); before = test.steps, turns++)
		CU_ASSERT_TRUE(test.steps - before <= 1024);
	CU_ASSERT_TRUE(turns >= 5 * 10000 / 1024);
	CU_ASSERT_TRUE(turns <= 2 * 5 * 10000 / 1024);
	CU_ASSERT_EQUAL(test.steps, 5 * 10000);
	CU_ASSERT_EQUAL(test.num_done, 5);
	CU_ASSERT_EQUAL(queue_length(queue), 0);
	queue_free(queue);
}

/* What had to be worked out counts more. */
static void test_effort(void)
{
	struct queue *queue = begin(&queue);
	struct exchange *exchange;
	uint64_t with;

	add(queue, 1, 1, 100000);
	turn();
	with = test.steps;
	exchange = queue_take(queue);
	exchange->request.step = step_with_effort;
	test.steps = 0;
	queue_add(queue, exchange);
	turn();
	CU_ASSERT_TRUE(test.steps > 0 && test.steps <= with / 4);
	free(queue_take(queue));
	queue_free(queue);
}

/* A short one that came last is complete long before a long one. */
static void test_turns(void)
{
	struct queue *queue = begin(&queue);

	add(queue, 1, 1, 100000);
	add(queue, 2, 2, 50000);
	turn();
	add(queue, 3, 3, 500);
	for (unsigned i = 0; i < 3; i++)
		turn();
	CU_ASSERT_EQUAL(test.num_done, 1);
	CU_ASSERT_EQUAL(test.done[0], 3);
	while (turn())
		;
	CU_ASSERT_EQUAL(test.num_done, 3);
	CU_ASSERT_EQUAL(test.done[1], 2);
	CU_ASSERT_EQUAL(test.done[2], 1);
	queue_free(queue);
}

/* Tables of 8 MB: seven find room in 64 MB beside what heads they need; the eighth waits until the
 * kernel has had time to send the first ones, and then not for longer. */
static void test_memory(void)
{
	enum { TABLES = 20, UNITS = (8 << 20) / RECORD_BYTES };
	struct queue *queue = begin(&queue);
	unsigned first;

	for (unsigned i = 0; i < TABLES; i++)
		add(queue, (lid_t)(i + 1), i, UNITS);
	while (turn())
		;
	first = test.num_done;
	CU_ASSERT_TRUE(first >= 6 && first <= 8);
	CU_ASSERT_EQUAL(queue_length(queue), TABLES - first);
	CU_ASSERT_PTR_NOT_NULL(test.timer);
	for (unsigned i = 0; i < 1000 && test.num_done < TABLES; i++) {
		unsigned before = test.num_done;

		pass(10000);
		while (turn())
			;
		CU_ASSERT_TRUE(test.num_done - before <= 1); /* 640 kB are sent in 10 ms */
	}
	CU_ASSERT_EQUAL(test.num_done, TABLES);
	for (unsigned i = 0; i < TABLES; i++)
		CU_ASSERT_EQUAL(test.done[i], i);
	queue_free(queue);
}

/* Who has asked for many waits for himself: another's is made in turn with one of his. */
static void test_fair(void)
{
	enum { UNITS = 20000 };
	struct queue *queue = begin(&queue);

	for (unsigned i = 0; i < QUEUE_PER_PORT_MAX; i++)
		add(queue, 1, i, UNITS);
	turn();
	add(queue, 2, 100, UNITS / 2);
	while (!test.num_done && turn())
		;
	CU_ASSERT_EQUAL(test.num_done, 1);
	CU_ASSERT_EQUAL(test.done[0], 100);
	settle(queue, 60000000);
	CU_ASSERT_EQUAL(test.num_done, QUEUE_PER_PORT_MAX + 1);
	queue_free(queue);
}

/* What one requester gets in the long run who always has tables waiting: his share of work, or of
 * bytes, and no less. Another's table is made while he owes, without any time passing. */
static void test_share(void)
{
	enum { UNITS = 20000, SECONDS = 10, US_PER_S = 1000000 };
	static const struct {
		const char *what;
		uint64_t most;	   /* records of a table */
		uint64_t table_us; /* what a table costs */
	} cases[] = {
		{"tables that nothing matches", 0, UNITS / QUEUE_WORK_PER_US},
		{"full tables", UNITS,
		 UNITS / QUEUE_WORK_PER_US + UNITS * RECORD_BYTES / QUEUE_BYTES_PER_US},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct queue *queue = begin(&queue);
		uint64_t allowed = (SECONDS * US_PER_S + QUEUE_DEBT_US) / cases[i].table_us + 1;
		unsigned tid = 0, others = 0;

		while (test.now_us < SECONDS * US_PER_S) {
			while (add_table(queue, 1, tid, UNITS, cases[i].most) == VERDICT_WAITS)
				tid++;
			while (turn())
				;
			if (queue_owes(queue, 1)) {
				unsigned before = test.num_done;

				add_table(queue, 2, tid, 500, 0);
				while (turn())
					;
				others++;
				CU_ASSERT_EQUAL(test.num_done, before + 1);
			}
			CU_ASSERT_FALSE(queue_owes(queue, 2));
			pass(10000);
		}
		CU_ASSERT_TRUE(others > 100);
		if (test.num_done - others > allowed || test.num_done - others < allowed * 8 / 10)
			printf("%s: %u made\n", cases[i].what, test.num_done - others);
		CU_ASSERT_TRUE(test.num_done - others <= allowed);
		CU_ASSERT_TRUE(test.num_done - others >= allowed * 8 / 10);
		settle(queue, 60 * US_PER_S);
		queue_free(queue);
	}
}

/* Of large tables one is made at a time, and nobody but another of these waits for it. */
static void test_large(void)
{
	enum { UNITS = (TABLE_BYTES_MAX + (1 << 20)) / RECORD_BYTES };
	struct queue *queue = begin(&queue);
	struct exchange *exchange[2];

	for (unsigned i = 0; i < 2; i++) {
		add(queue, (lid_t)(i + 1), i, UNITS);
		exchange[i] = queue_take(queue);
		exchange[i]->answer.large = true;
	}
	for (unsigned i = 0; i < 2; i++)
		queue_add(queue, exchange[i]);
	add(queue, 3, 2, 1000);
	turn();
	CU_ASSERT_EQUAL(exchange[0]->bytes, (uint64_t)UNITS * RECORD_BYTES + MAD_SIZE);
	CU_ASSERT_EQUAL(exchange[1]->bytes, 0);
	while (turn())
		;
	for (unsigned i = 0; i < 100 && test.num_done < 3; i++) {
		pass(10000);
		while (turn())
			;
	}
	CU_ASSERT_EQUAL(test.num_done, 3);
	CU_ASSERT_EQUAL(test.done[0], 2);
	CU_ASSERT_EQUAL(test.done[1], 0);
	CU_ASSERT_EQUAL(test.done[2], 1);
	queue_free(queue);
}

/* One whose size is not known beforehand is taken to be as large as any may be. */
static void test_unknown_size(void)
{
	struct queue *queue = begin(&queue);
	struct exchange *exchange;

	for (unsigned i = 0; i < 5; i++) {
		add(queue, 1, i, 100000);
		exchange = queue_take(queue);
		exchange->request.most = UINT64_MAX;
		queue_add(queue, exchange);
		CU_ASSERT_EQUAL(queue_length(queue), 1);
		turn();
		CU_ASSERT_EQUAL(exchange->bytes, TABLE_BYTES_MAX);
		free(queue_take(queue));
	}
	queue_free(queue);
}

static void test_places(void)
{
	struct queue *queue = begin(&queue);
	unsigned taken = 0;

	for (unsigned i = 0; i < QUEUE_PER_PORT_MAX; i++)
		CU_ASSERT_EQUAL(add(queue, 1, i, 1000), VERDICT_WAITS);
	CU_ASSERT_EQUAL(add(queue, 1, 999, 1000), VERDICT_FULL);
	CU_ASSERT_EQUAL(add(queue, 1, 3, 1000), VERDICT_REPEATED);
	CU_ASSERT_EQUAL(add(queue, 2, 3, 1000), VERDICT_WAITS); /* another's TID */
	turn();
	CU_ASSERT_EQUAL(add(queue, 2, 3, 1000), VERDICT_REPEATED); /* also while it is worked at */
	for (unsigned lid = 3; lid < 2000; lid++)
		taken += add(queue, (lid_t)lid, lid, 1000) == VERDICT_WAITS;
	CU_ASSERT_EQUAL(queue_length(queue), QUEUE_LENGTH_MAX);
	CU_ASSERT_TRUE(taken >= QUEUE_LENGTH_MAX - QUEUE_PER_PORT_MAX - 2);
	settle(queue, 60000000);
	CU_ASSERT_EQUAL(queue_length(queue), 0);
	CU_ASSERT_EQUAL(add(queue, 1, 3, 1000), VERDICT_WAITS); /* it was answered: a new one */
	free(queue_take(queue));
	CU_ASSERT_PTR_NULL(queue_take(queue));
	queue_free(queue);
}

/* An answer that has become too large is complete. */
static void test_closed(void)
{
	struct queue *queue = begin(&queue);
	struct exchange *exchange;

	add(queue, 1, 1, 100000);
	turn();
	exchange = queue_take(queue);
	exchange->answer.too_large = true;
	queue_add(queue, exchange);
	turn();
	CU_ASSERT_EQUAL(test.num_done, 1);
	CU_ASSERT_EQUAL(queue_length(queue), 0);
	queue_free(queue);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"slices", test_slices},
		{"what costs more", test_effort},
		{"turns", test_turns},
		{"memory", test_memory},
		{"one who asks for much", test_fair},
		{"the share of one", test_share},
		{"large tables", test_large},
		{"answers of unknown size", test_unknown_size},
		{"places", test_places},
		{"an answer that is closed", test_closed},
		CU_TEST_INFO_NULL,
	};

	return unit_main("queue", tests);
}
