/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The counters of a port from read to read: rises, resets by others, full counters, a restarted
 * device, and invalid values. pm/count.h.
 */
#include "pm/count.h"

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

#define S UINT64_C(1000000)
#define BIT(bit) (UINT32_C(1) << (bit))

static struct pm_port port;
static struct pm_news news;

static void begin(void)
{
	port = (struct pm_port){0};
}

/* A read at a second, with taking's rules. */
static void take_as(struct pm_taking taking, unsigned at_s, struct port_counters counters)
{
	taking.now_us = at_s * S;
	pm_take(&port, &counters, &taking, &news);
}

static void take(unsigned at_s, struct port_counters counters)
{
	take_as((struct pm_taking){.has_wait = true}, at_s, counters);
}

static void take_wide(unsigned at_s, uint64_t xmit_data)
{
	const struct port_counters_extended counters = {.xmit_data = xmit_data};
	const struct pm_taking taking = {.now_us = at_s * S, .wide = true};

	pm_take_extended(&port, &counters, &taking, &news);
}

/* Errors come so, too. */
static void take_wide_errors(unsigned at_s, uint64_t symbol_errors, uint64_t wait)
{
	const struct port_counters_extended counters = {.error = {symbol_errors},
							.xmit_wait = wait};
	const struct pm_taking taking = {.now_us = at_s * S,
					 .threshold = {10},
					 .has_wait = true,
					 .wide = true,
					 .wide_errors = true};

	pm_take_extended(&port, &counters, &taking, &news);
}

/* The first read gives the current value, and no rise. */
static void test_first(void)
{
	begin();
	take_as((struct pm_taking){.threshold = {1, 1, 1}, .has_wait = true}, 10,
		(struct port_counters){.symbol_errors = 500, .xmit_data = 9, .xmit_wait = 7});
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_SYMBOL), 500);
	CU_ASSERT_EQUAL(pm_total(&port, SELECT_XMIT_WAIT), 7);
	CU_ASSERT_EQUAL(port.traffic[TRAFFIC_XMIT_DATA], 9);
	CU_ASSERT_EQUAL(news.gained[ERROR_SYMBOL], 0);
	CU_ASSERT_EQUAL(news.over, 0);
	CU_ASSERT_EQUAL(port.rose, 0);
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
	CU_ASSERT(port.has_errors);
}

static void test_rates(void)
{
	begin();
	take(10, (struct port_counters){.xmit_data = 1000, .rcv_pkts = 50, .xmit_wait = 5});
	CU_ASSERT_FALSE(port.has_errors);
	take(14, (struct port_counters){.xmit_data = 5000, .rcv_pkts = 58, .xmit_wait = 25});
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_XMIT_DATA], 1000);
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_RCV_PKTS], 2);
	CU_ASSERT_EQUAL(port.wait_rate, 5);
	/* Two reads at the same time give no rate: the previous rate stays. */
	take(14, (struct port_counters){.xmit_data = 5001, .rcv_pkts = 58, .xmit_wait = 25});
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_XMIT_DATA], 1000);
	take(15, (struct port_counters){.xmit_data = 5001, .rcv_pkts = 58, .xmit_wait = 25});
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_XMIT_DATA], 0);
	/* Without PortXmitWait the member means nothing. */
	take_as((struct pm_taking){0}, 20, (struct port_counters){.xmit_wait = 99});
	CU_ASSERT_EQUAL(pm_total(&port, SELECT_XMIT_WAIT), 25);
}

/* A reset by another program, or a device that was switched off and on: the earlier count is kept.
 */
static void test_reset_by_others(void)
{
	begin();
	take(10, (struct port_counters){.symbol_errors = 40, .link_downed = 3, .xmit_data = 100});
	take(20, (struct port_counters){.symbol_errors = 2, .link_downed = 3, .xmit_data = 60});
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_SYMBOL), 42);
	CU_ASSERT_EQUAL(news.gained[ERROR_SYMBOL], 2);
	CU_ASSERT_EQUAL(news.went_back, BIT(ERROR_SYMBOL) | BIT(PORT_ERRORS + TRAFFIC_XMIT_DATA));
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_LINK_DOWNED), 3);
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0); /* the time of the reset is unknown */
	take(30, (struct port_counters){.symbol_errors = 2, .link_downed = 3, .xmit_data = 70});
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_XMIT_DATA], 1);
	CU_ASSERT_EQUAL(port.rose, 0);
	CU_ASSERT_EQUAL(news.went_back, 0);
}

/* Symbol errors per bit of the link: 6 errors in 10 s at 100 Gb/s. */
static void test_symbol_ber(void)
{
	const struct pm_taking after = {.was_reset = PORT_COUNTERS_ALL};

	begin();
	CU_ASSERT(pm_symbol_ber(&port, 1000) < 0);
	take(10, (struct port_counters){.symbol_errors = 4});
	CU_ASSERT(pm_symbol_ber(&port, 1000) < 0);
	take(20, (struct port_counters){.symbol_errors = 10});
	CU_ASSERT_DOUBLE_EQUAL(pm_symbol_ber(&port, 1000), 6e-12, 1e-17);
	CU_ASSERT_EQUAL(news.span_us, 10 * S);
	CU_ASSERT(pm_symbol_ber(&port, 0) < 0);
	/* The read after a reset by weftd does not count. */
	take_as(after, 21, (struct port_counters){.symbol_errors = 0});
	CU_ASSERT_DOUBLE_EQUAL(pm_symbol_ber(&port, 1000), 6e-12, 1e-17);
	take(30, (struct port_counters){.symbol_errors = 0});
	CU_ASSERT_EQUAL(pm_symbol_ber(&port, 1000), 0);
	/* A reset by others, and a full counter. */
	take(40, (struct port_counters){.symbol_errors = 9});
	take(50, (struct port_counters){.symbol_errors = 1});
	CU_ASSERT(pm_symbol_ber(&port, 1000) < 0);
	take(60, (struct port_counters){.symbol_errors = UINT16_MAX});
	CU_ASSERT(pm_symbol_ber(&port, 1000) < 0);
	begin();
	take_wide_errors(10, 5, 0);
	take_wide_errors(20, 5 + 2 * (uint64_t)UINT16_MAX, 0);
	CU_ASSERT_DOUBLE_EQUAL(pm_symbol_ber(&port, 1000), 2.0 * UINT16_MAX / 1e12, 1e-12);
}

/* A reset by weftd is none by others. A device that keeps its counters is noticed. */
static void test_reset_by_weftd(void)
{
	const struct pm_taking after = {.has_wait = true, .was_reset = PORT_COUNTERS_ALL};

	begin();
	take(10, (struct port_counters){.symbol_errors = 40, .link_downed = 3, .xmit_wait = 9});
	take_as(after, 11, (struct port_counters){.link_downed = 3, .xmit_wait = 1});
	CU_ASSERT_EQUAL(news.went_back, 0);
	CU_ASSERT_EQUAL(news.kept, BIT(ERROR_LINK_DOWNED));
	take(20, (struct port_counters){.symbol_errors = 50, .link_downed = 3, .xmit_wait = 2});
	CU_ASSERT_EQUAL(news.went_back, 0);
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_SYMBOL), 90);
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_LINK_DOWNED), 3);
	CU_ASSERT_EQUAL(pm_total(&port, SELECT_XMIT_WAIT), 11);
	CU_ASSERT_EQUAL(news.gained[ERROR_SYMBOL], 50);
}

/* Each counter is to be reset when it is more than half full, and not before. */
static void test_half(void)
{
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		uint64_t half = pm_largest(bit) / 2;
		struct port_counters counters = {0};

		begin();
		format_put(&port_counters_format, port_counters_rows[bit], &counters, half);
		take(10, counters);
		CU_ASSERT_EQUAL(news.reset, 0);
		format_put(&port_counters_format, port_counters_rows[bit], &counters, half + 1);
		take(20, counters);
		CU_ASSERT_EQUAL(news.reset, BIT(bit));
		CU_ASSERT_FALSE(pm_is_full(&port, bit));
		format_put(&port_counters_format, port_counters_rows[bit], &counters,
			   pm_largest(bit));
		take(30, counters);
		CU_ASSERT_EQUAL(news.reset, BIT(bit));
		CU_ASSERT(pm_is_full(&port, bit));
	}
}

/* The next read shows the effect of a reset. */
static void test_reset(void)
{
	const struct pm_taking after = {.was_reset = BIT(ERROR_LOCAL_LINK_INTEGRITY)};

	begin();
	take(10, (struct port_counters){.local_link_integrity_errors = 7});
	take(20, (struct port_counters){.local_link_integrity_errors = 15});
	CU_ASSERT_EQUAL(news.reset, BIT(ERROR_LOCAL_LINK_INTEGRITY));
	CU_ASSERT_EQUAL(port.rose, BIT(ERROR_LOCAL_LINK_INTEGRITY));
	take_as(after, 20, (struct port_counters){0});
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_LOCAL_LINK_INTEGRITY), 15);
	CU_ASSERT_EQUAL(port.stuck, 0);
	CU_ASSERT_EQUAL(port.rose, BIT(ERROR_LOCAL_LINK_INTEGRITY)); /* of the read before */
	take(30, (struct port_counters){.local_link_integrity_errors = 9});
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_LOCAL_LINK_INTEGRITY), 24);
	CU_ASSERT_EQUAL(news.reset, BIT(ERROR_LOCAL_LINK_INTEGRITY));
	/* This time it does not help: it is not tried again, until the counter has been low. */
	take_as(after, 30, (struct port_counters){.local_link_integrity_errors = 9});
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_LOCAL_LINK_INTEGRITY), 24);
	take(40, (struct port_counters){.local_link_integrity_errors = 12});
	CU_ASSERT_EQUAL(news.reset, 0);
	take(50, (struct port_counters){.local_link_integrity_errors = 1});
	take(60, (struct port_counters){.local_link_integrity_errors = 8});
	CU_ASSERT_EQUAL(news.reset, BIT(ERROR_LOCAL_LINK_INTEGRITY));
}

/* 32-bit data counters stay at their maximum: there is no rate. */
static void test_full(void)
{
	begin();
	take(10, (struct port_counters){.xmit_data = 1});
	take(20, (struct port_counters){.xmit_data = UINT32_MAX});
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
	CU_ASSERT_EQUAL(port.traffic[TRAFFIC_XMIT_DATA], UINT32_MAX);
	CU_ASSERT(news.reset & BIT(PORT_ERRORS + TRAFFIC_XMIT_DATA));
	take(30, (struct port_counters){.xmit_data = UINT32_MAX});
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0); /* not that it was idle */
}

/* 64-bit counters are never reset, need no room, and have nothing to do with the small ones. */
static void test_extended(void)
{
	const struct pm_taking wide = {.wide = true};

	begin();
	take_as(wide, 10, (struct port_counters){.xmit_data = UINT32_MAX});
	CU_ASSERT_EQUAL(news.reset, 0);
	take_wide(10, UINT64_C(0x1FFFFFFF0));
	take_as(wide, 20, (struct port_counters){.xmit_data = UINT32_MAX});
	take_wide(20, UINT64_C(0x20000000E));
	CU_ASSERT_EQUAL(port.traffic[TRAFFIC_XMIT_DATA], UINT64_C(0x20000000E));
	CU_ASSERT_EQUAL_FATAL((int)(port.rate[TRAFFIC_XMIT_DATA] * 10), 30);
	/* The device lost them: from now on it is read with the small ones. */
	take(30, (struct port_counters){.xmit_data = 100});
	CU_ASSERT_EQUAL(port.traffic[TRAFFIC_XMIT_DATA], 100);
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
	take(31, (struct port_counters){.xmit_data = 150});
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_XMIT_DATA], 50);
}

/* Errors of 64 bits: no counter is full or reset at the limits of the small counters. All else is
 * the same, and neither kind is a base for the other. */
static void test_extended_errors(void)
{
	static const uint64_t large = UINT64_C(1) << 33;

	begin();
	take_wide_errors(10, large, large);
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_SYMBOL), large);
	CU_ASSERT_EQUAL(news.gained[ERROR_SYMBOL], 0);
	CU_ASSERT(port.has_errors);
	take_wide_errors(20, large + 9, large + UINT32_MAX);
	CU_ASSERT_EQUAL(port.rose, BIT(ERROR_SYMBOL) | BIT(SELECT_XMIT_WAIT));
	CU_ASSERT_EQUAL(news.over, 0);
	CU_ASSERT_EQUAL(port.wait_rate, (float)(UINT32_MAX / 10.0));
	CU_ASSERT_EQUAL(news.reset, 0);
	CU_ASSERT_FALSE(pm_is_full(&port, ERROR_SYMBOL));
	take_wide_errors(30, large + 19, large);
	CU_ASSERT_EQUAL(news.over, BIT(ERROR_SYMBOL));
	/* Another program has reset it to the maximum of the small counter. */
	take_wide_errors(40, UINT16_MAX, 0);
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_SYMBOL), large + 19 + UINT16_MAX);
	CU_ASSERT_FALSE(pm_is_full(&port, ERROR_SYMBOL));
	take_wide_errors(50, UINT64_MAX, 0);
	CU_ASSERT(pm_is_full(&port, ERROR_SYMBOL));
	/* The device lost them: the values of the small counters are no rise. */
	take(60, (struct port_counters){.symbol_errors = 50});
	CU_ASSERT_EQUAL(pm_total(&port, ERROR_SYMBOL), 50);
	CU_ASSERT_EQUAL(port.rose, 0);
	take(70, (struct port_counters){.symbol_errors = UINT16_MAX});
	CU_ASSERT(pm_is_full(&port, ERROR_SYMBOL));
	CU_ASSERT_EQUAL(news.reset, BIT(ERROR_SYMBOL));
}

/* A value beyond the capacity of any link gives no rate. */
static void test_nonsense(void)
{
	begin();
	take_wide(10, 5);
	take_wide(11, UINT64_MAX);
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
	take_wide(12, UINT64_C(1) << 60);
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
	take_wide(13, 0);
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
	take_wide(14, UINT64_C(100000000000)); /* 400 GB/s: 12x XDR and more */
	CU_ASSERT_EQUAL(port.rate[TRAFFIC_XMIT_DATA], 1e11f);
	take_wide(15, UINT64_C(300000000000));
	CU_ASSERT(port.rate[TRAFFIC_XMIT_DATA] < 0);
}

/* Reported when a counter begins to rise too fast, not while it continues. */
static void test_thresholds(void)
{
	static const struct {
		unsigned symbols;
		bool told;
	} rows[] = {
		{100, false}, /* the first read */
		{109, false}, {119, true}, {140, false}, {141, false},
		{160, true},  {3, false},  {13, true},
	};
	const struct pm_taking taking = {.threshold = {[ERROR_SYMBOL] = 10}};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		take_as(taking, 10 * (i + 1),
			(struct port_counters){.symbol_errors = (uint16_t)rows[i].symbols,
					       .rcv_errors = (uint16_t)(500 * i)});
		CU_ASSERT_EQUAL(news.over, rows[i].told ? BIT(ERROR_SYMBOL) : 0);
	}
}

static void test_names(void)
{
	CU_ASSERT_STRING_EQUAL(pm_counter_name(ERROR_SYMBOL), "SymbolErrorCounter");
	CU_ASSERT_STRING_EQUAL(pm_counter_name(ERROR_VL15_DROPPED), "VL15Dropped");
	CU_ASSERT_STRING_EQUAL(pm_counter_name(PORT_ERRORS + TRAFFIC_RCV_PKTS), "PortRcvPkts");
	CU_ASSERT_STRING_EQUAL(pm_counter_name(SELECT_XMIT_WAIT), "PortXmitWait");
	CU_ASSERT_EQUAL(pm_largest(ERROR_SYMBOL), 0xFFFF);
	CU_ASSERT_EQUAL(pm_largest(ERROR_LINK_DOWNED), 0xFF);
	CU_ASSERT_EQUAL(pm_largest(ERROR_BUFFER_OVERRUN), 0xF);
	CU_ASSERT_EQUAL(pm_largest(SELECT_XMIT_WAIT), UINT32_MAX);
	CU_ASSERT(sizeof(struct pm_port) <= 344); /* as count.h promises */
}

int main(void)
{
	static const CU_TestInfo cases[] = {
		{"a first read", test_first},
		{"rates", test_rates},
		{"a reset by others", test_reset_by_others},
		{"a reset by weftd", test_reset_by_weftd},
		{"symbol bit error rate", test_symbol_ber},
		{"when to reset", test_half},
		{"a reset", test_reset},
		{"full counters", test_full},
		{"64-bit counters", test_extended},
		{"64-bit errors", test_extended_errors},
		{"nonsense", test_nonsense},
		{"thresholds", test_thresholds},
		{"names and sizes", test_names},
		CU_TEST_INFO_NULL,
	};

	return unit_main("pm count", cases);
}
