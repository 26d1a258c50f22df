/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Arithmetic over counters (count.h). A rate is computed only if two reads are meaningful. That is
 * not the case after a reset, for a full counter, if a port claims more than any link carries, or
 * for two reads in close succession.
 */
#include "pm/count.h"

#include <string.h>

/* Errors and PortXmitWait of a read, from either attribute. */
struct shown_errors {
	uint64_t error[PORT_ERRORS], wait;
};

enum { SPAN_MIN_US = 100000, US_PER_S = 1000000 };

/* The words per second of the fastest link, plus a half: 12x XDR. */
static const double plausible = 112.5e9;

static const struct field *counter_field(unsigned bit)
{
	return &port_counters_format.fields[port_counters_rows[bit]];
}

uint64_t pm_largest(unsigned bit)
{
	return UINT64_MAX >> (64 - counter_field(bit)->width);
}

const char *pm_counter_name(unsigned bit)
{
	return counter_field(bit)->name;
}

/* A rate from the difference of two reads; it stays unchanged if they are too close. */
static void set_rate(float *rate, uint64_t last, uint64_t now, uint64_t largest, uint64_t span_us)
{
	double a_second;

	if (span_us < SPAN_MIN_US)
		return;
	a_second = (double)(now - last) * US_PER_S / (double)span_us;
	*rate = now < last || now == largest || a_second > plausible ? -1 : (float)a_second;
}

static void begin_traffic(struct pm_port *port, bool wide)
{
	port->wide = wide;
	port->traffic_us = 0;
	for (unsigned i = 0; i < TRAFFIC_SHORT; i++)
		port->rate[i] = -1;
}

/* Compares a counter with its last value. */
static void check_resets(unsigned bit, uint64_t last, uint64_t now, const struct pm_taking *taking,
			 struct pm_news *news)
{
	uint32_t mask = UINT32_C(1) << bit;

	if (taking->was_reset & mask)
		news->kept |= last && now >= last ? mask : 0;
	else
		news->went_back |= now < last ? mask : 0;
}

/* PortCounters and PortCountersExtended are reset separately, so values of one are no base for the
 * other. */
static void take_traffic(struct pm_port *port, const uint64_t now[TRAFFIC_SHORT], bool wide,
			 const struct pm_taking *taking, struct pm_news *news)
{
	uint64_t largest = wide ? UINT64_MAX : UINT32_MAX, now_us = taking->now_us;

	if (port->wide != wide || !port->traffic_us)
		begin_traffic(port, wide);
	for (unsigned i = 0; i < TRAFFIC_SHORT; i++) {
		if (port->traffic_us) {
			check_resets(PORT_ERRORS + i, port->traffic[i], now[i], taking, news);
			set_rate(&port->rate[i], port->traffic[i], now[i], largest,
				 now_us - port->traffic_us);
		}
		port->traffic[i] = now[i];
	}
	port->traffic_us = now_us;
}

/* As with traffic: values from the other attribute are no base. */
static void begin_errors(struct pm_port *port, bool wide)
{
	port->wide_errors = wide;
	port->read_us = 0;
	port->wait_gone = 0;
	memset(port->error_gone, 0, sizeof(port->error_gone));
	port->wait_rate = port->symbol_rate = -1;
	port->over = port->stuck = 0;
}

static void take_wait(struct pm_port *port, uint64_t now, const struct pm_taking *taking,
		      struct pm_news *news)
{
	if (port->read_us) {
		check_resets(SELECT_XMIT_WAIT, port->wait, now, taking, news);
		news->gained[SELECT_XMIT_WAIT] = pm_gained(port->wait, now);
		port->wait_gone += now < port->wait ? port->wait : 0;
		set_rate(&port->wait_rate, port->wait, now,
			 port->wide_errors ? UINT64_MAX : UINT32_MAX,
			 taking->now_us - port->read_us);
	}
	port->wait = now;
}

static void take_errors(struct pm_port *port, const struct shown_errors *now, bool wide,
			const struct pm_taking *taking, struct pm_news *news)
{
	if (port->wide_errors != wide || !port->read_us)
		begin_errors(port, wide);
	news->span_us = port->read_us ? taking->now_us - port->read_us : 0;
	/* The read after a reset belongs to the read before it. */
	if (port->read_us && !taking->was_reset)
		set_rate(&port->symbol_rate, port->error[ERROR_SYMBOL], now->error[ERROR_SYMBOL],
			 wide ? UINT64_MAX : pm_largest(ERROR_SYMBOL), news->span_us);
	if (taking->has_wait)
		take_wait(port, now->wait, taking, news);
	for (unsigned bit = 0; bit < PORT_ERRORS; bit++) {
		uint64_t last = port->error[bit];

		if (port->read_us) {
			check_resets(bit, last, now->error[bit], taking, news);
			news->gained[bit] = pm_gained(last, now->error[bit]);
			port->error_gone[bit] += now->error[bit] < last ? last : 0;
		}
		port->error[bit] = now->error[bit];
		port->has_errors |= now->error[bit] != 0;
	}
}

/* The last value of a counter. */
static uint64_t counter_shown(const struct pm_port *port, unsigned bit)
{
	if (bit < PORT_ERRORS)
		return port->error[bit];
	return bit == SELECT_XMIT_WAIT ? port->wait : port->traffic[bit - PORT_ERRORS];
}

/* The counters that are more than half full, except those that a reset does not empty. */
static uint32_t to_reset(struct pm_port *port, const struct pm_taking *taking)
{
	uint32_t high = 0;

	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		bool is_traffic = bit >= PORT_ERRORS && bit < SELECT_XMIT_WAIT;

		if (!(is_traffic && taking->wide) && counter_shown(port, bit) > pm_largest(bit) / 2)
			high |= UINT32_C(1) << bit;
	}
	port->stuck = (port->stuck | taking->was_reset) & high;
	return high & ~port->stuck;
}

static void counters_judge(struct pm_port *port, const struct pm_taking *taking,
			   struct pm_news *news)
{
	uint32_t over = 0, rose = 0;

	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		uint32_t mask = UINT32_C(1) << bit;

		rose |= news->gained[bit] ? mask : 0;
		if (taking->threshold[bit] && news->gained[bit] >= taking->threshold[bit])
			over |= mask;
	}
	news->over = over & ~port->over;
	port->over = over;
	port->rose = rose;
}

void pm_take(struct pm_port *port, const struct port_counters *counters,
	     const struct pm_taking *taking, struct pm_news *news)
{
	const uint64_t traffic[TRAFFIC_SHORT] = {
		[TRAFFIC_XMIT_DATA] = counters->xmit_data,
		[TRAFFIC_RCV_DATA] = counters->rcv_data,
		[TRAFFIC_XMIT_PKTS] = counters->xmit_pkts,
		[TRAFFIC_RCV_PKTS] = counters->rcv_pkts,
	};
	struct shown_errors errors = {.wait = counters->xmit_wait};

	for (unsigned bit = 0; bit < PORT_ERRORS; bit++)
		errors.error[bit] =
			format_get(&port_counters_format, port_counters_rows[bit], counters);
	*news = (struct pm_news){0};
	take_errors(port, &errors, false, taking, news);
	if (!taking->wide)
		take_traffic(port, traffic, false, taking, news);
	port->qp1_dropped = counters->qp1_dropped;
	/* The read after a reset belongs to the read before it. */
	if (!taking->was_reset)
		counters_judge(port, taking, news);
	news->reset = to_reset(port, taking);
	port->read_us = taking->now_us;
}

void pm_take_extended(struct pm_port *port, const struct port_counters_extended *counters,
		      const struct pm_taking *taking, struct pm_news *news)
{
	const uint64_t traffic[TRAFFIC_SHORT] = {
		[TRAFFIC_XMIT_DATA] = counters->xmit_data,
		[TRAFFIC_RCV_DATA] = counters->rcv_data,
		[TRAFFIC_XMIT_PKTS] = counters->xmit_pkts,
		[TRAFFIC_RCV_PKTS] = counters->rcv_pkts,
	};
	struct shown_errors errors = {.wait = counters->xmit_wait};

	*news = (struct pm_news){0};
	take_traffic(port, traffic, true, taking, news);
	port->kinds[TRAFFIC_XMIT_UNICAST - TRAFFIC_SHORT] = counters->unicast_xmit_pkts;
	port->kinds[TRAFFIC_RCV_UNICAST - TRAFFIC_SHORT] = counters->unicast_rcv_pkts;
	port->kinds[TRAFFIC_XMIT_MULTICAST - TRAFFIC_SHORT] = counters->multicast_xmit_pkts;
	port->kinds[TRAFFIC_RCV_MULTICAST - TRAFFIC_SHORT] = counters->multicast_rcv_pkts;
	if (!taking->wide_errors)
		return;
	port->qp1_dropped = counters->qp1_dropped;
	memcpy(errors.error, counters->error, sizeof(errors.error));
	take_errors(port, &errors, true, taking, news);
	if (!taking->was_reset)
		counters_judge(port, taking, news);
	port->read_us = taking->now_us;
}

uint64_t pm_total(const struct pm_port *port, unsigned bit)
{
	return bit == SELECT_XMIT_WAIT ? port->wait_gone + port->wait
				       : port->error_gone[bit] + port->error[bit];
}

double pm_symbol_ber(const struct pm_port *port, unsigned deci_gbps)
{
	if (!port->read_us || port->symbol_rate < 0 || !deci_gbps)
		return -1;
	return (double)port->symbol_rate / (deci_gbps * 1e8);
}

bool pm_is_full(const struct pm_port *port, unsigned bit)
{
	bool is_traffic = bit >= PORT_ERRORS && bit < SELECT_XMIT_WAIT;
	bool is_wide = is_traffic ? port->wide : port->wide_errors;

	return counter_shown(port, bit) == (is_wide ? UINT64_MAX : pm_largest(bit));
}
