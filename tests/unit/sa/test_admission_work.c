/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Turns of long answers (sa/admission.h): which request is worked on, and how much of it in one
 * turn of the loop. The tests also cover the memory that is set aside, and refused requests. Time
 * passes only when a test calls for it.
 */
#include "sa/admission.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixtures/unit.h"

enum { RECORD_BYTES = 64 };

static struct {
	uint64_t now_us;
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
static void settle(const struct admission *queue, uint64_t us)
{
	for (uint64_t until_us = test.now_us + us;
	     test.now_us < until_us && admission_count(queue, ADMISSION_WORK);) {
		while (turn())
			;
		pass(10000);
	}
}

/* A table: so many candidates, one record of each at most. */
struct table {
	struct admitted admitted;
	lid_t lid;
	uint64_t units, cost, records;
};

static bool work(void *ctx, struct admitted *admitted, uint64_t candidates)
{
	struct table *table = container_of(admitted, struct table, admitted);
	struct admission **queue = ctx;
	uint64_t done = table->units < candidates ? table->units : candidates;

	test.steps += done;
	table->units -= done;
	if (table->units)
		return false;
	admission_charge_work(*queue, table->lid, table->cost);
	return true;
}

static void done(void *ctx, struct admitted *admitted)
{
	struct table *table = container_of(admitted, struct table, admitted);
	struct admission **queue = ctx;

	test.done[test.num_done++ % ARRAY_SIZE(test.done)] = (unsigned)admitted->header.tid;
	admission_charge_bytes(*queue, table->lid, (size_t)table->records * RECORD_BYTES);
	free(table);
}

static void drop(void *ctx, struct admitted *admitted)
{
	(void)ctx;
	free(container_of(admitted, struct table, admitted));
}

static bool is_open(void *ctx)
{
	(void)ctx;
	return false;
}

static struct admission *begin(struct admission **queue)
{
	memset(&test, 0, sizeof(test));
	*queue = admission_new(NULL, NULL,
			       &(struct admission_owner){.is_shut = is_open,
							 .work = work,
							 .done = done,
							 .drop = drop,
							 .ctx = queue});
	return *queue;
}

static struct table *table_new(lid_t lid, unsigned tid, uint64_t units, uint64_t records)
{
	struct table *table = mem_zalloc(sizeof(*table));

	table->admitted.from.lid = lid;
	table->admitted.header.tid = tid;
	table->admitted.bytes = records * RECORD_BYTES + MAD_SIZE;
	table->lid = lid;
	table->units = table->cost = units;
	table->records = records;
	return table;
}

static enum verdict add_table(struct admission *queue, lid_t lid, unsigned tid, uint64_t units,
			      uint64_t records)
{
	struct table *table = table_new(lid, tid, units, records);
	enum verdict verdict = admission_judge(queue, 0, lid, &table->admitted.from,
					       &table->admitted.header, NULL, 0);

	if (verdict == VERDICT_PASSES && !admission_has_place(queue, lid, ADMISSION_WORK))
		verdict = VERDICT_FULL;
	if (verdict == VERDICT_PASSES)
		admission_enter(queue, lid, ADMISSION_WORK, &table->admitted);
	else
		free(table);
	return verdict;
}

static enum verdict add(struct admission *queue, lid_t lid, unsigned tid, uint64_t units)
{
	return add_table(queue, lid, tid, units, units);
}

/* A turn does a bounded amount of work, even if more is waiting. */
static void test_slices(void)
{
	struct admission *queue = begin(&queue);
	unsigned turns = 0;

	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(add(queue, (lid_t)(i + 1), i, 10000), VERDICT_PASSES);
	for (uint64_t before = 0; turn(); before = test.steps, turns++)
		CU_ASSERT_TRUE(test.steps - before <= 1024);
	CU_ASSERT_TRUE(turns >= 5 * 10000 / 1024);
	CU_ASSERT_TRUE(turns <= 2 * 5 * 10000 / 1024);
	CU_ASSERT_EQUAL(test.steps, 5 * 10000);
	CU_ASSERT_EQUAL(test.num_done, 5);
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_WORK), 0);
	admission_free(queue);
}

/* A short request that came last is complete long before a long request. */
static void test_turns(void)
{
	struct admission *queue = begin(&queue);

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
	admission_free(queue);
}

/* Tables of 8 MB: seven of them and their headers fit into 64 MB. The eighth waits until the kernel
 * has had time to send the first tables, and no longer. */
static void test_memory(void)
{
	enum { TABLES = 20, UNITS = (8 << 20) / RECORD_BYTES };
	struct admission *queue = begin(&queue);
	unsigned first;

	for (unsigned i = 0; i < TABLES; i++)
		add(queue, (lid_t)(i + 1), i, UNITS);
	while (turn())
		;
	first = test.num_done;
	CU_ASSERT_TRUE(first >= 6 && first <= 8);
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_WORK), TABLES - first);
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
	admission_free(queue);
}

/* A port with many requests delays only itself: the work alternates between its requests and those
 * of another port. */
static void test_fair(void)
{
	enum { UNITS = 20000 };
	struct admission *queue = begin(&queue);

	for (unsigned i = 0; i < ADMISSION_WORK_PER_PORT; i++)
		add(queue, 1, i, UNITS);
	turn();
	add(queue, 2, 100, UNITS / 2);
	while (!test.num_done && turn())
		;
	CU_ASSERT_EQUAL(test.num_done, 1);
	CU_ASSERT_EQUAL(test.done[0], 100);
	settle(queue, 60000000);
	CU_ASSERT_EQUAL(test.num_done, ADMISSION_WORK_PER_PORT + 1);
	admission_free(queue);
}

/* The long-term share of a requester that always has tables waiting: its share of work, or of
 * bytes, and no less. While it is over its share, the table of another requester is made without
 * delay. */
static void test_share(void)
{
	enum { UNITS = 20000, SECONDS = 10, US_PER_S = 1000000 };
	static const struct {
		const char *what;
		uint64_t most;	   /* records of a table */
		uint64_t table_us; /* cost of a table */
	} cases[] = {
		{"tables that nothing matches", 0, UNITS / ADMISSION_WORK_PER_US},
		{"full tables", UNITS,
		 UNITS / ADMISSION_WORK_PER_US + UNITS * RECORD_BYTES / ADMISSION_BYTES_PER_US},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct admission *queue = begin(&queue);
		uint64_t allowed = (SECONDS * US_PER_S + ADMISSION_DEBT_US) / cases[i].table_us + 1;
		unsigned tid = 0, others = 0;

		while (test.now_us < SECONDS * US_PER_S) {
			while (add_table(queue, 1, tid, UNITS, cases[i].most) == VERDICT_PASSES)
				tid++;
			while (turn())
				;
			if (admission_owes(queue, 1)) {
				unsigned before = test.num_done;

				add_table(queue, 2, tid, 500, 0);
				while (turn())
					;
				others++;
				CU_ASSERT_EQUAL(test.num_done, before + 1);
			}
			CU_ASSERT_FALSE(admission_owes(queue, 2));
			pass(10000);
		}
		CU_ASSERT_TRUE(others > 100);
		if (test.num_done - others > allowed || test.num_done - others < allowed * 8 / 10)
			printf("%s: %u made\n", cases[i].what, test.num_done - others);
		CU_ASSERT_TRUE(test.num_done - others <= allowed);
		CU_ASSERT_TRUE(test.num_done - others >= allowed * 8 / 10);
		settle(queue, 60 * US_PER_S);
		admission_free(queue);
	}
}

/* Large tables are made one at a time, and delay only other large tables. */
static void test_large(void)
{
	enum { UNITS = (17 << 20) / RECORD_BYTES };
	struct admission *queue = begin(&queue);
	struct table *large[2];

	for (unsigned i = 0; i < 2; i++) {
		large[i] = table_new((lid_t)(i + 1), i, UNITS, UNITS);
		large[i]->admitted.is_large = true;
		admission_enter(queue, large[i]->lid, ADMISSION_WORK, &large[i]->admitted);
	}
	add(queue, 3, 2, 1000);
	turn();
	CU_ASSERT_EQUAL(large[0]->admitted.state, ADMITTED_WORKING);
	CU_ASSERT_EQUAL(large[1]->admitted.state, ADMITTED_WAITING);
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
	admission_free(queue);
}

static void test_places(void)
{
	struct admission *queue = begin(&queue);
	unsigned taken = 0;

	for (unsigned i = 0; i < ADMISSION_WORK_PER_PORT; i++)
		CU_ASSERT_EQUAL(add(queue, 1, i, 1000), VERDICT_PASSES);
	CU_ASSERT_EQUAL(add(queue, 1, 999, 1000), VERDICT_FULL);
	CU_ASSERT_EQUAL(add(queue, 1, 3, 1000), VERDICT_REPEATED);
	CU_ASSERT_EQUAL(add(queue, 2, 3, 1000), VERDICT_PASSES); /* another's TID */
	turn();
	CU_ASSERT_EQUAL(add(queue, 2, 3, 1000), VERDICT_REPEATED); /* also while it is worked at */
	for (unsigned lid = 3; lid < 2000; lid++)
		taken += add(queue, (lid_t)lid, lid, 1000) == VERDICT_PASSES;
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_WORK), ADMISSION_WORK_MAX);
	CU_ASSERT_TRUE(taken >= ADMISSION_WORK_MAX - ADMISSION_WORK_PER_PORT - 2);
	settle(queue, 60000000);
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_WORK), 0);
	CU_ASSERT_EQUAL(add(queue, 1, 3, 1000), VERDICT_PASSES); /* it was answered: a new one */
	admission_free(queue);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"slices", test_slices},	  {"turns", test_turns},
		{"memory", test_memory},	  {"fair turns", test_fair},
		{"the share of one", test_share}, {"large tables", test_large},
		{"places", test_places},	  CU_TEST_INFO_NULL,
	};

	return unit_main("admission_work", tests);
}
