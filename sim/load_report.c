/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The result of a load: the report, and the counts for the agents. The report ends with one line
 * NAME=VALUE..., for programs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "lib/mem.h"
#include "sim/find.h"
#include "sim/load.h"

enum {
	PS_PER_US = 1000000,
	NS_PER_S = 1000000000,
	PPM = 1000000,
	WORD_BITS = 32,
	CYCLE_SHOWN = 64
};

/* The counters of ports that include each reason. */
enum { NO_COUNTER = PORT_ERRORS };

static const struct reason {
	const char *name, *text;
	unsigned error;
} reasons[FLOW_DISCARDS] = {
	[FLOW_NO_ROUTE] = {"no-route", "no entry for the LID", ERROR_RCV_SWITCH_RELAY},
	[FLOW_LOOPING] = {"looping", "back to the input port", ERROR_RCV_SWITCH_RELAY},
	[FLOW_BAD_VL] = {"bad-vl", "SLtoVL gives an unused VL", ERROR_RCV_SWITCH_RELAY},
	[FLOW_KEY_IN] = {"pkey-in", "P_Key at an input port", ERROR_RCV_CONSTRAINT},
	[FLOW_KEY_OUT] = {"pkey-out", "P_Key at an output port", ERROR_XMIT_CONSTRAINT},
	[FLOW_INACTIVE] = {"inactive", "output port inactive", ERROR_XMIT_DISCARD},
	[FLOW_TOO_LONG] = {"mtu", "longer than the MTU", ERROR_XMIT_DISCARD},
	[FLOW_NO_WEIGHT] = {"no-weight", "VL without arbitration entry", ERROR_XMIT_DISCARD},
	[FLOW_HOQ_LIFE] = {"hoq-life", "HOQLife", ERROR_XMIT_DISCARD},
	[FLOW_SWITCH_LIFE] = {"switch-life", "LifeTimeValue", ERROR_XMIT_DISCARD},
	[FLOW_STALLED] = {"stalled", "VL stalled", ERROR_XMIT_DISCARD},
	[FLOW_WRONG_HOST] = {"wrong-host", "arrived at another host", NO_COUNTER},
	[FLOW_HOST_KEY] = {"host-pkey", "P_Key at the host", NO_COUNTER},
};

/* Counters */

static void count_up(uint64_t *counter, uint64_t count)
{
	*counter = *counter > UINT64_MAX - count ? UINT64_MAX : *counter + count;
}

static void load_count_port(struct port_counts *to, const struct flow_counts *counts, uint32_t mbps)
{
	to->traffic[TRAFFIC_XMIT_DATA] += counts->xmit_words;
	to->traffic[TRAFFIC_RCV_DATA] += counts->rcv_words;
	to->traffic[TRAFFIC_XMIT_PKTS] += counts->xmit_packets;
	to->traffic[TRAFFIC_RCV_PKTS] += counts->rcv_packets;
	to->traffic[TRAFFIC_XMIT_UNICAST] += counts->xmit_packets;
	to->traffic[TRAFFIC_RCV_UNICAST] += counts->rcv_packets;
	/* A tick is the time of a word, so that waiting and data compare. */
	count_up(&to->xmit_wait,
		 (uint64_t)((double)counts->wait_ps * mbps / WORD_BITS / PS_PER_US));
	for (unsigned i = 0; i < FLOW_DISCARDS; i++) {
		if (reasons[i].error != NO_COUNTER)
			count_up(&to->error[reasons[i].error], counts->discards[i]);
	}
}

void load_count(const struct load *load)
{
	for (uint32_t p = 0; p < flow_ports(load->flow); p++) {
		struct flow_counts counts;

		flow_port_counts(load->flow, p, &counts);
		load_count_port(&load->port[p]->counts, &counts, flow_link(load->flow, p)->mbps);
	}
}

/* Rates */

struct rates {
	double total, mean, min, max, percent; /* Gb/s; mean share of the links */
	size_t hosts;
};

/* Since the end of the warm-up. */
static uint64_t window_ps(const struct load *load, enum flow_end end)
{
	bool is_whole = end == FLOW_TIME_OVER || !load->spec.bytes;
	uint64_t end_ps = is_whole ? load->spec.duration_ps : flow_totals(load->flow)->moved_ps;

	return end_ps > load->spec.warmup_ps ? end_ps - load->spec.warmup_ps : 1;
}

/* Of hosts that have sent or received something at all. */
static struct rates rates_of(const struct load *load, uint64_t ps, bool received)
{
	struct rates rates = {0};
	double links = 0;

	for (uint32_t h = 0; h < flow_hosts(load->flow); h++) {
		uint32_t port = flow_host_port(load->flow, h);
		uint64_t bytes = received ? flow_host_received(load->flow, h)
					  : flow_host_sent(load->flow, h);
		double gbps = (double)bytes * 8000 / (double)ps;
		struct flow_counts counts;

		flow_port_counts(load->flow, port, &counts);
		if (!(received ? counts.rcv_packets : counts.xmit_packets))
			continue;
		rates.min = !rates.hosts || gbps < rates.min ? gbps : rates.min;
		rates.max = gbps > rates.max ? gbps : rates.max;
		rates.total += gbps;
		rates.hosts++;
		links += flow_link(load->flow, port)->mbps / 1000.0;
	}
	if (rates.hosts)
		rates.mean = rates.total / (double)rates.hosts;
	if (links > 0)
		rates.percent = 100 * rates.total / links;
	return rates;
}

static void report_rates(FILE *out, const char *name, const struct rates *rates)
{
	fprintf(out, "%-12s %12.3f %8zu %10.3f %10.3f %10.3f %9.1f\n", name, rates->total,
		rates->hosts, rates->mean, rates->min, rates->max, rates->percent);
}

/* Links */

struct loaded {
	uint32_t port;
	uint64_t bytes;
	double percent;
};

static int loaded_order(const void *left, const void *right)
{
	const struct loaded *a = left, *b = right;

	if (a->percent != b->percent)
		return a->percent < b->percent ? 1 : -1;
	return (a->port > b->port) - (a->port < b->port);
}

static void report_end(FILE *out, const struct device_port *port)
{
	fprintf(out, "%s [%u]", find_name(port->device), port->num);
}

static void report_links(const struct load *load, uint64_t ps, FILE *out)
{
	struct loaded *list = mem_array(flow_ports(load->flow) + 1, sizeof(*list));
	size_t count = 0;

	for (uint32_t p = 0; p < flow_ports(load->flow); p++) {
		uint64_t bytes = flow_port_sent(load->flow, p);
		double mbps = flow_link(load->flow, p)->mbps;

		if (bytes)
			list[count++] = (struct loaded){p, bytes,
							100.0 * (double)bytes * 8 * PS_PER_US /
								(double)ps / mbps};
	}
	qsort(list, count, sizeof(*list), loaded_order);
	for (size_t i = 0; i < count && i < load->spec.links; i++) {
		const struct device_port *port = load->port[list[i].port];
		struct flow_counts counts;

		flow_port_counts(load->flow, list[i].port, &counts);
		fprintf(out, "%-12s %5.1f %%  waits %9.3f us  ", i ? "" : "links", list[i].percent,
			(double)counts.wait_ps / PS_PER_US);
		report_end(out, port);
		fprintf(out, " -> ");
		report_end(out, load->port[flow_link(load->flow, list[i].port)->peer]);
		fprintf(out, "\n");
	}
	free(list);
}

/* Deadlock */

static void report_deadlock(const struct load *load, const struct flow_deadlock *deadlock,
			    bool forever, FILE *out)
{
	if (!deadlock->stuck)
		return;
	fprintf(out, "%-12s packets wait for each other %s, at %zu output ports and VLs\n",
		forever ? "deadlock" : "credit loop",
		forever ? "forever" : "until their lifetimes end", deadlock->stuck);
	for (size_t i = 0; i < deadlock->length && i < CYCLE_SHOWN; i++) {
		fprintf(out, "%-12s ", i ? "" : "  shortest");
		report_end(out, load->port[deadlock->cycle[i].port]);
		fprintf(out, " -> ");
		report_end(out, load->port[flow_link(load->flow, deadlock->cycle[i].port)->peer]);
		fprintf(out, " VL %u\n", deadlock->cycle[i].vl);
	}
	if (deadlock->length > CYCLE_SHOWN)
		fprintf(out, "%-12s and %zu more\n", "", deadlock->length - CYCLE_SHOWN);
}

/* All */

static double load_seconds(const struct load *load)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((double)now.tv_sec * NS_PER_S + (double)now.tv_nsec - (double)load->start_ns) /
	       NS_PER_S;
}

static const char *const ends[] = {
	[FLOW_GOES_ON] = "goes-on",
	[FLOW_DELIVERED] = "delivered",
	[FLOW_TIME_OVER] = "time-over",
	[FLOW_BLOCKED] = "blocked",
};

static void report_head(const struct load *load, enum flow_end end, FILE *out)
{
	static const char *const texts[] = {
		[FLOW_GOES_ON] = "",
		[FLOW_DELIVERED] = "all packets are delivered or discarded",
		[FLOW_TIME_OVER] = "the duration is over",
		[FLOW_BLOCKED] = "no packet can move any more",
	};
	const struct load_spec *spec = &load->spec;

	fprintf(out, "%-12s %s: %zu hosts send, SL %" PRIu64, "pattern", spec->text,
		load->num_senders, spec->sl);
	if (spec->sl_last != spec->sl)
		fprintf(out, "-%" PRIu64, spec->sl_last);
	fprintf(out, ", seed %" PRIu64 "\n", spec->seed);
	if (load->mute)
		fprintf(out,
			"%-12s %zu streams: the VL of their SL has no weight or is not in use, "
			"or the buffer is smaller than a packet\n",
			"cannot send", load->mute);
	fprintf(out, "%-12s %.3f us of virtual time, last movement at %.3f us: %s\n", "end",
		(double)(spec->bytes && end != FLOW_TIME_OVER ? flow_totals(load->flow)->moved_ps
							      : spec->duration_ps) /
			PS_PER_US,
		(double)flow_totals(load->flow)->moved_ps / PS_PER_US, texts[end]);
}

static void report_packets(const struct load *load, FILE *out)
{
	const struct flow_totals *totals = flow_totals(load->flow);

	fprintf(out,
		"%-12s %" PRIu64 " injected, %" PRIu64 " delivered, %" PRIu64 " discarded, %" PRIu64
		" in flight; %" PRIu64 " bytes delivered\n",
		"packets", totals->packets, totals->delivered, totals->discarded, totals->in_flight,
		totals->delivered_bytes);
	for (unsigned i = 0; i < FLOW_DISCARDS; i++) {
		if (totals->discards[i])
			fprintf(out, "%-12s %" PRIu64 " %s\n", "discards", totals->discards[i],
				reasons[i].text);
	}
}

static void report_figures(const struct load *load, enum flow_end end,
			   const struct rates *delivered, const struct flow_latency *latency,
			   const struct flow_deadlock *deadlock,
			   const struct flow_deadlock *forever, FILE *out)
{
	const struct flow_totals *totals = flow_totals(load->flow);

	fprintf(out,
		"load end=%s hosts=%zu offered_gbps=%.3f delivered_gbps=%.3f delivered_min=%.3f "
		"delivered_max=%.3f injected=%" PRIu64 " delivered=%" PRIu64 " discarded=%" PRIu64
		" in_flight=%" PRIu64 " latency_mean_ns=%.0f latency_p99_ns=%.0f credit_loop=%zu "
		"deadlock=%zu events=%" PRIu64 " hops=%" PRIu64,
		ends[end], load->num_senders, (double)load->offered_mbps / 1000, delivered->total,
		delivered->min, delivered->max, totals->packets, totals->delivered,
		totals->discarded, totals->in_flight, (double)latency->mean_ps / 1000,
		(double)latency->p99_ps / 1000, deadlock->length, forever->length, totals->events,
		totals->hops);
	for (unsigned i = 0; i < FLOW_DISCARDS; i++) {
		if (totals->discards[i])
			fprintf(out, " %s=%" PRIu64, reasons[i].name, totals->discards[i]);
	}
	fprintf(out, "\n");
}

void load_report(const struct load *load, enum flow_end end, FILE *out)
{
	const struct flow_totals *totals = flow_totals(load->flow);
	uint64_t ps = window_ps(load, end);
	struct rates injected = rates_of(load, ps, false), delivered = rates_of(load, ps, true);
	struct flow_latency latency;
	struct flow_deadlock deadlock, forever;
	double seconds = load_seconds(load);

	flow_latency(load->flow, &latency);
	flow_find_deadlock(load->flow, false, &deadlock);
	flow_find_deadlock(load->flow, true, &forever);
	report_head(load, end, out);
	fprintf(out, "%-12s %12s %8s %10s %10s %10s %9s\n", "", "total Gb/s", "hosts", "mean",
		"min", "max", "% of link");
	fprintf(out, "%-12s %12.3f %8zu %10.3f %10s %10s %9.1f\n", "offered",
		(double)load->offered_mbps / 1000, load->num_senders,
		(double)load->offered_mbps / 1000 / (double)load->num_senders, "", "",
		100.0 * (double)load->spec.rate_ppm / PPM);
	report_rates(out, "injected", &injected);
	report_rates(out, "delivered", &delivered);
	fprintf(out, "%-12s mean %.3f us, p50 %.3f, p99 %.3f, max %.3f: %" PRIu64 " messages\n",
		"latency", (double)latency.mean_ps / PS_PER_US, (double)latency.p50_ps / PS_PER_US,
		(double)latency.p99_ps / PS_PER_US, (double)latency.max_ps / PS_PER_US,
		latency.count);
	report_packets(load, out);
	report_links(load, ps, out);
	report_deadlock(load, forever.stuck ? &forever : &deadlock, forever.stuck, out);
	fprintf(out, "%-12s %" PRIu64 " events, %" PRIu64 " hops of packets in %.3f s\n", "cost",
		totals->events, totals->hops, seconds);
	report_figures(load, end, &delivered, &latency, &deadlock, &forever, out);
	free(deadlock.cycle);
	free(forever.cycle);
}
