/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Asking another manager that does not answer (sm/election/poll.h), on a clock that is a number:
 * how many questions, and how many intervals, before it counts as silent or gone.
 */
// WITH: tests/sim/loop_virtual.o
#include "sm/election/poll.h"

#include <string.h>

#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/unit.h"

enum { INTERVAL_MS = 1000, QUESTIONS_IN_INTERVAL = 3, MISSES_MAX = 12, LID = 7 };

static struct {
	struct loop *loop;
	struct transport transport;
	struct txn_table *txns;
	struct fabric *fabric;
	struct sm_options options;
	struct poll poll;
	unsigned asked, silent, gone;
	uint64_t told_us;
} bed;

static int send_question(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
			 size_t size, unsigned timeout_ms)
{
	(void)transport, (void)mad, (void)size, (void)timeout_ms;
	CU_ASSERT_EQUAL(to->lid, LID);
	bed.asked++;
	return 0;
}

static const struct transport_ops ops = {.send = send_question};

static void news(void *ctx, struct poll *poll, enum poll_news news, const struct sm_info *info)
{
	(void)ctx, (void)info;
	bed.silent += news == POLL_SILENT;
	bed.gone += news == POLL_GONE;
	bed.told_us = loop_now_us(bed.loop);
	poll_end(poll);
}

static void begin(unsigned misses)
{
	const struct peer peer = {.lid = LID, .info = {.guid = 0x77}};

	memset(&bed, 0, sizeof(bed));
	bed.loop = loop_new();
	bed.transport.ops = &ops;
	bed.txns = txn_table_new(bed.loop, &bed.transport);
	bed.fabric = fabric_new(NULL, 10, 10);
	bed.options.poll_interval_ms = INTERVAL_MS;
	bed.options.poll_misses = misses;
	poll_init(&bed.poll, bed.loop, bed.txns, bed.fabric, &bed.options, news, NULL);
	poll_begin(&bed.poll, &peer);
}

static void end(void)
{
	poll_end(&bed.poll);
	txn_table_free(bed.txns);
	fabric_free(bed.fabric);
	loop_free(bed.loop);
}

static void run_ms(unsigned ms)
{
	uint64_t until_us = loop_now_us(bed.loop) + ms * UINT64_C(1000), next_us;

	while ((next_us = loop_next_us(bed.loop)) <= until_us)
		loop_step(bed.loop,
			  next_us > loop_now_us(bed.loop) ? next_us : loop_now_us(bed.loop));
	loop_step(bed.loop, until_us);
}

/* After poll_misses intervals, and not later. Each interval has three requests, but the last
 * interval has one request that waits for all of it. */
static void test_misses(void)
{
	for (unsigned misses = 1; misses <= MISSES_MAX; misses++) {
		unsigned questions = misses == 1 ? QUESTIONS_IN_INTERVAL
						 : QUESTIONS_IN_INTERVAL * (misses - 1) + 1;
		uint64_t intervals_us = misses * UINT64_C(1000) * INTERVAL_MS;

		begin(misses);
		run_ms(INTERVAL_MS - 1);
		CU_ASSERT_EQUAL(bed.asked, 0);
		run_ms(3 * MISSES_MAX * INTERVAL_MS);
		CU_ASSERT_EQUAL(bed.silent, 1);
		CU_ASSERT_EQUAL(bed.gone, 0);
		CU_ASSERT_EQUAL(bed.asked, questions);
		/* Each question takes its part of an interval and the watchdog's margin. */
		CU_ASSERT_TRUE(bed.told_us >= intervals_us);
		CU_ASSERT_TRUE(bed.told_us < 2 * intervals_us + INTERVAL_MS * UINT64_C(1000));
		end();
	}
}

/* A manager that is reported gone has one interval, from now on. */
static void test_doubt(void)
{
	begin(MISSES_MAX);
	poll_doubt(&bed.poll);
	CU_ASSERT_EQUAL(bed.asked, 1);
	run_ms(3 * INTERVAL_MS);
	CU_ASSERT_EQUAL(bed.asked, QUESTIONS_IN_INTERVAL);
	CU_ASSERT_EQUAL(bed.gone, 1);
	CU_ASSERT_EQUAL(bed.silent, 0);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"intervals that are missed", test_misses},
		{"a manager in doubt", test_doubt},
		CU_TEST_INFO_NULL,
	};

	return unit_main("poll", tests);
}
