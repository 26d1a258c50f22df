/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histories of ports: the order and number of readings, and the limit of ports. pm/history.c. */
#include "pm/history.h"

#include "tests/unit/fixtures/unit.h"

enum { LIMIT = 3 };

static struct pm_histories histories;
static struct pm_port port[LIMIT + 2];

static struct pm_key key(unsigned p)
{
	return (struct pm_key){100 + p, true, (uint8_t)p};
}

static void keep(unsigned p)
{
	const struct pm_key k = key(p);

	pm_history_keep(&histories, &k, &port[p]);
}

static const struct pm_history *history(unsigned p)
{
	const struct pm_key k = key(p);

	return pm_history_of(&histories, &k, &port[p]);
}

static void add(unsigned p, uint64_t time_s, uint64_t symbol_errors)
{
	const struct pm_key k = key(p);
	struct pm_news news = {.span_us = 60000000};

	news.gained[ERROR_SYMBOL] = symbol_errors;
	news.gained[SELECT_XMIT_WAIT] = 2 * symbol_errors;
	pm_history_add(&histories, &k, &port[p], &news, time_s);
	port[p].rate[TRAFFIC_RCV_DATA] = (float)time_s;
	pm_history_add_traffic(&histories, &k, &port[p]);
}

static void begin(void)
{
	pm_histories_init(&histories);
	histories.limit = LIMIT;
	for (unsigned p = 0; p < ARRAY_SIZE(port); p++)
		port[p] = (struct pm_port){0};
}

/* The last readings are kept, the oldest first. */
static void test_readings(void)
{
	const struct pm_reading *reading;

	begin();
	add(1, 5, 1); /* it has none */
	CU_ASSERT_PTR_NULL(history(1));
	keep(1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(history(1));
	CU_ASSERT_EQUAL(history(1)->count, 0);
	for (unsigned t = 1; t <= PM_READINGS + 3; t++) {
		add(1, t, 10 * t);
		CU_ASSERT_EQUAL(history(1)->count, t < PM_READINGS ? t : PM_READINGS);
		CU_ASSERT_EQUAL(pm_reading_at(history(1), history(1)->count - 1u)->time_s, t);
	}
	for (unsigned i = 0; i < PM_READINGS; i++) {
		reading = pm_reading_at(history(1), i);
		CU_ASSERT_EQUAL(reading->time_s, i + 4);
		CU_ASSERT_EQUAL(reading->rose[ERROR_SYMBOL], 10 * (i + 4));
		CU_ASSERT_EQUAL(reading->rose[PORT_ERRORS], 20 * (i + 4));
		CU_ASSERT_EQUAL(reading->rate[TRAFFIC_RCV_DATA], (float)(i + 4));
		CU_ASSERT_EQUAL(reading->span_ms, 60000);
	}
	add(1, 99, UINT64_MAX / 2);
	CU_ASSERT_EQUAL(pm_reading_at(history(1), PM_READINGS - 1)->rose[ERROR_SYMBOL], UINT32_MAX);
	pm_histories_done(&histories);
}

/* At the limit the port that was used the longest time ago loses its history. */
static void test_limit(void)
{
	begin();
	for (unsigned p = 0; p < LIMIT; p++) {
		keep(p);
		add(p, 1, 1);
	}
	keep(0); /* 1 is now the oldest */
	CU_ASSERT_EQUAL(history(0)->count, 1);
	keep(LIMIT);
	CU_ASSERT_EQUAL(histories.count, LIMIT);
	CU_ASSERT_PTR_NULL(history(1));
	CU_ASSERT_PTR_NOT_NULL_FATAL(history(LIMIT));
	CU_ASSERT_EQUAL(history(LIMIT)->count, 0);
	CU_ASSERT_PTR_NOT_NULL(history(0));
	/* The port without one does not write into that of the other. */
	add(1, 7, 7);
	CU_ASSERT_EQUAL(history(LIMIT)->count, 0);
	keep(1);
	CU_ASSERT_PTR_NULL(history(2));
	CU_ASSERT_EQUAL(history(1)->count, 0);
	pm_histories_done(&histories);
}

static void offer(unsigned p)
{
	const struct pm_key k = key(p);

	pm_history_offer(&histories, &k, &port[p]);
}

/* Ports that were only named take no history of a port with errors, and lose theirs first. */
static void test_named(void)
{
	begin();
	keep(0);
	offer(1);
	offer(2);
	add(1, 1, 0);
	CU_ASSERT(history(1)->count == 1 && history(2));
	keep(3); /* at the limit */
	CU_ASSERT_PTR_NOT_NULL(history(0));
	CU_ASSERT_PTR_NULL(history(1));
	CU_ASSERT_PTR_NOT_NULL(history(2));
	offer(1); /* takes that of another named port */
	CU_ASSERT(history(0) && history(1) && !history(2) && history(3));
	offer(1);
	add(1, 1, 0);
	CU_ASSERT_EQUAL(history(1)->count, 1);
	keep(1); /* its errors rose: it is the last to be dropped now */
	CU_ASSERT_EQUAL(history(1)->count, 1);
	offer(2);
	CU_ASSERT(history(0) && history(1) && !history(2) && history(3));
	offer(0);
	keep(4); /* 0 has errors since the longest time, although it was named just now */
	CU_ASSERT(!history(0) && history(1) && history(3) && history(4));
	pm_histories_done(&histories);
}

/* A port that disappeared and returned begins again. */
static void test_returned(void)
{
	begin();
	keep(0);
	add(0, 1, 1);
	port[0] = (struct pm_port){0};
	CU_ASSERT_PTR_NULL(history(0));
	keep(0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(history(0));
	CU_ASSERT_EQUAL(history(0)->count, 0);
	pm_histories_done(&histories);
}

/* The bounds that the comment of history.h and the pages state. */
static void test_size(void)
{
	CU_ASSERT(sizeof(struct pm_history) <= 840);
	CU_ASSERT(PM_HISTORIES <= UINT16_MAX);
}

int main(void)
{
	static const CU_TestInfo cases[] = {
		{"readings", test_readings},
		{"the limit", test_limit},
		{"ports that were named", test_named},
		{"a port that returned", test_returned},
		{"sizes", test_size},
		CU_TEST_INFO_NULL,
	};

	return unit_main("histories of ports", cases);
}
