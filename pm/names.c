/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Three lists of names: names.h. Counters have one table, with the specification's name and those
 * of both exporters. Values are totals of errors, which do not fall when counters are reset, and
 * traffic as the port showed it.
 */
#include "pm/names.h"

#include <inttypes.h>

#include "lib/mem.h"
#include "pm/rows.h"

enum { FDR_DECI_GBPS = 140 };

/* What a family writes: enum port_traffic, then these. */
enum { VALUE_ERRORS = PORT_TRAFFICS, VALUE_WAIT = VALUE_ERRORS + PORT_ERRORS, VALUE_QP1 };

/* clang-format off */
/* value, the specification's name, and the parts of the names of the two exporters. */
#define COUNTERS(X) \
	X(TRAFFIC_XMIT_DATA, "PortXmitData", "transmit_data_bytes", "portxmitdata") \
	X(TRAFFIC_RCV_DATA, "PortRcvData", "receive_data_bytes", "portrcvdata") \
	X(TRAFFIC_XMIT_PKTS, "PortXmitPkts", "transmit_packets", "portxmitpkts") \
	X(TRAFFIC_RCV_PKTS, "PortRcvPkts", "receive_packets", "portrcvpkts") \
	X(TRAFFIC_XMIT_UNICAST, "PortUnicastXmitPkts", "unicast_transmit_packets", "portunicastxmitpkts") \
	X(TRAFFIC_RCV_UNICAST, "PortUnicastRcvPkts", "unicast_receive_packets", "portunicastrcvpkts") \
	X(TRAFFIC_XMIT_MULTICAST, "PortMulticastXmitPkts", "multicast_transmit_packets", "portmulticastxmitpkts") \
	X(TRAFFIC_RCV_MULTICAST, "PortMulticastRcvPkts", "multicast_receive_packets", "portmulticastrcvpkts") \
	X(VALUE_ERRORS + ERROR_SYMBOL, "SymbolErrorCounter", "symbol_error", "symbolerrorcounter") \
	X(VALUE_ERRORS + ERROR_LINK_RECOVERY, "LinkErrorRecoveryCounter", "link_error_recovery", "linkerrorrecoverycounter") \
	X(VALUE_ERRORS + ERROR_LINK_DOWNED, "LinkDownedCounter", "link_downed", "linkdownedcounter") \
	X(VALUE_ERRORS + ERROR_RCV, "PortRcvErrors", "receive_errors", "portrcverrors") \
	X(VALUE_ERRORS + ERROR_RCV_REMOTE_PHYSICAL, "PortRcvRemotePhysicalErrors", "receive_remote_physical_errors", "portrcvremotephysicalerrors") \
	X(VALUE_ERRORS + ERROR_RCV_SWITCH_RELAY, "PortRcvSwitchRelayErrors", "receive_switch_relay_errors", "portrcvswitchrelayerrors") \
	X(VALUE_ERRORS + ERROR_XMIT_DISCARD, "PortXmitDiscards", "transmit_discards", "portxmitdiscards") \
	X(VALUE_ERRORS + ERROR_XMIT_CONSTRAINT, "PortXmitConstraintErrors", "transmit_constraint_errors", "portxmitconstrainterrors") \
	X(VALUE_ERRORS + ERROR_RCV_CONSTRAINT, "PortRcvConstraintErrors", "receive_constraint_errors", "portrcvconstrainterrors") \
	X(VALUE_ERRORS + ERROR_LOCAL_LINK_INTEGRITY, "LocalLinkIntegrityErrors", "local_link_integrity_errors", "locallinkintegrityerrors") \
	X(VALUE_ERRORS + ERROR_BUFFER_OVERRUN, "ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors", "excessivebufferoverrunerrors") \
	X(VALUE_ERRORS + ERROR_VL15_DROPPED, "VL15Dropped", "vl15_dropped", "vl15dropped") \
	X(VALUE_WAIT, "PortXmitWait", "transmit_wait", "portxmitwait") \
	X(VALUE_QP1, "QP1Dropped", "qp1_dropped", "qp1dropped")
/* clang-format on */

/* Counters of links, which each port has from its first read on, because increase() needs a value
 * from before an error. Of the others, weft's names show those that are not 0. */
static const uint32_t always =
	1u << ERROR_SYMBOL | 1u << ERROR_LINK_RECOVERY | 1u << ERROR_LINK_DOWNED | 1u << ERROR_RCV;

/* Escapes characters that would end a label's value. */
static void put_label(const struct series *series, const char *name, const char *value)
{
	fprintf(series->file, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", series->file);
		else if (*value == '"' || *value == '\\')
			fprintf(series->file, "\\%c", *value);
		else
			fputc(*value, series->file);
	}
	fputc('"', series->file);
}

static void put_guid(const struct series *series, const char *name, guid_t guid)
{
	fprintf(series->file, "%s=\"0x%016" PRIx64 "\"", name, guid);
}

static uint64_t value_of(const struct series *series)
{
	const struct pm_port *port = series->port;
	unsigned value = series->family->value;

	if (value < TRAFFIC_SHORT)
		return port->traffic[value];
	if (value < PORT_TRAFFICS)
		return port->kinds[value - TRAFFIC_SHORT];
	if (value == VALUE_QP1)
		return port->qp1_dropped;
	return pm_total(port, value == VALUE_WAIT ? SELECT_XMIT_WAIT : value - VALUE_ERRORS);
}

/* Whether the port has this value: packets by kind are only in PortCountersExtended. */
static bool has_value(const struct series *series)
{
	unsigned value = series->family->value;
	bool is_traffic = value < PORT_TRAFFICS;

	if (is_traffic)
		return series->port->traffic_us && (value < TRAFFIC_SHORT || series->port->wide);
	return series->port->read_us;
}

/* weft */

static void put_weft_labels(const struct series *series)
{
	fprintf(series->file, "%s{", series->family->name);
	put_guid(series, "guid", series->agent->facts->info.node_guid);
	fprintf(series->file, ",port=\"%u\",", series->num);
	put_label(series, "node", series->agent->facts->description);
}

static void put_errors(const struct series *series)
{
	const struct pm_port *port = series->port;

	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		bool shown = port->read_us && always & 1u << bit;

		if ((bit >= PORT_ERRORS && bit < SELECT_XMIT_WAIT) ||
		    (!pm_total(port, bit) && !shown))
			continue;
		put_weft_labels(series);
		fprintf(series->file, ",counter=\"%s\"} %" PRIu64 "\n", pm_counter_name(bit),
			pm_total(port, bit));
	}
}

/* Of ports that have counted symbol errors; of the others it is 0. */
static void put_ber(const struct series *series)
{
	double ber = pm_symbol_ber(series->port, pm_link_rate(series->agent, series->num));

	if (ber < 0 || !pm_total(series->port, ERROR_SYMBOL))
		return;
	put_weft_labels(series);
	fprintf(series->file, "} %.6g\n", ber);
}

static const struct family weft_families[] = {
	{"weft_port_errors_total", "counter",
	 "Error counters of ports, by the specification's names; PortXmitWait in ticks.",
	 put_errors, PORTS_ALL, 0},
	{"weft_port_symbol_ber", "gauge",
	 "Symbol errors per bit that the link carries, between the last two reads; only of ports "
	 "that have counted symbol errors.",
	 put_ber, PORTS_ALL, 0},
};

const struct naming naming_weft = {"weft", weft_families, ARRAY_SIZE(weft_families), true};

/* treydock/infiniband_exporter: labels guid and port; traffic in bytes. */

static void put_treydock_labels(const struct series *series)
{
	fprintf(series->file, "%s{", series->family->name);
	put_guid(series, "guid", series->agent->facts->info.node_guid);
	fprintf(series->file, ",port=\"%u\"", series->num);
}

static void put_treydock(const struct series *series)
{
	bool is_data = series->family->value == TRAFFIC_XMIT_DATA ||
		       series->family->value == TRAFFIC_RCV_DATA;

	if (!has_value(series))
		return;
	put_treydock_labels(series);
	fprintf(series->file, "} %" PRIu64 "\n", value_of(series) * (is_data ? WORD_BYTES : 1));
}

/* The rate of a lane is the rate with encoding up to FDR (8b/10b, and 64b/66b for FDR), and the
 * rate for data from EDR on (64b/66b). The result is in bits per second. */
static double lane_rate(unsigned deci_gbps, bool with_encoding)
{
	const double fdr = 14.0625e9, nominal = deci_gbps * 1e8;

	if (deci_gbps == FDR_DECI_GBPS)
		return with_encoding ? fdr : fdr * 64 / 66;
	if (deci_gbps < FDR_DECI_GBPS)
		return with_encoding ? nominal : nominal * 8 / 10;
	return with_encoding ? nominal * 66 / 64 : nominal;
}

/* value: whether the encoding counts. */
static void put_treydock_rate(const struct series *series)
{
	unsigned lanes = port_lanes(&series->agent->facts->port[series->num].info);
	unsigned deci_gbps = pm_link_rate(series->agent, series->num);

	if (!deci_gbps || !lanes)
		return;
	put_treydock_labels(series);
	fprintf(series->file, "} %.15g\n",
		lane_rate(deci_gbps / lanes, series->family->value != 0) * lanes / 8);
}

/* The node itself, once: at its first port that was read. */
static void put_treydock_node(const struct series *series)
{
	const struct pm_agent *agent = series->agent;

	for (unsigned num = agent->first; num < series->num; num++)
		if (agent->port[num - agent->first].read_us)
			return;
	fprintf(series->file, "%s{", series->family->name);
	put_guid(series, "guid", agent->facts->info.node_guid);
	fprintf(series->file, ",lid=\"%u\",", agent->lid);
	put_label(series, agent->is_switch ? "switch" : "hca", agent->facts->description);
	fputs("} 1\n", series->file);
}

static void put_treydock_uplink(const struct series *series)
{
	struct pm_far far = pm_far_end(series->view->topology, series->agent, series->num);

	if (!far.facts)
		return;
	put_treydock_labels(series);
	fputc(',', series->file);
	put_label(series, series->agent->is_switch ? "switch" : "hca",
		  series->agent->facts->description);
	fputc(',', series->file);
	put_label(series, "uplink", far.facts->description);
	fputc(',', series->file);
	put_guid(series, "uplink_guid", far.facts->info.node_guid);
	fprintf(series->file, ",uplink_lid=\"%u\",uplink_port=\"%u\",uplink_type=\"%s\"} 1\n",
		far.lid, far.num, far.facts->info.node_type == NODE_SWITCH ? "SW" : "CA");
}

#define SWITCH_ROW(value, name, treydock, guilbaults) \
	{"infiniband_switch_port_" treydock "_total", \
	 "counter",                                   \
	 name,                                        \
	 put_treydock,                                \
	 PORTS_SWITCH,                                \
	 value},
#define ADAPTER_ROW(value, name, treydock, guilbaults) \
	{"infiniband_hca_port_" treydock "_total",     \
	 "counter",                                    \
	 name,                                         \
	 put_treydock,                                 \
	 PORTS_ADAPTER,                                \
	 value},
#define NODE_ROWS(kind, kinds)                                                             \
	{"infiniband_" kind "_info", "gauge", "Nodes.", put_treydock_node, kinds, 0},      \
		{"infiniband_" kind "_uplink_info",                                        \
		 "gauge",                                                                  \
		 "The other ends of cables.",                                              \
		 put_treydock_uplink,                                                      \
		 kinds,                                                                    \
		 0},                                                                       \
		{"infiniband_" kind "_port_rate_bytes_per_second",                         \
		 "gauge",                                                                  \
		 "Rate of the link for data.",                                             \
		 put_treydock_rate,                                                        \
		 kinds,                                                                    \
		 0},                                                                       \
	{                                                                                  \
		"infiniband_" kind "_port_raw_rate_bytes_per_second", "gauge",             \
			"Rate of the link with its encoding.", put_treydock_rate, kinds, 1 \
	}

static const struct family treydock_families[] = {
	NODE_ROWS("switch", PORTS_SWITCH), COUNTERS(SWITCH_ROW) NODE_ROWS("hca", PORTS_ADAPTER),
	COUNTERS(ADAPTER_ROW)};

const struct naming naming_treydock = {"treydock", treydock_families, ARRAY_SIZE(treydock_families),
				       false};

/* guilbaults/infiniband-exporter: labels for both ends of the cable; data in words of 4 bytes. */

static void put_guilbaults_labels(const struct series *series)
{
	struct pm_far far = pm_far_end(series->view->topology, series->agent, series->num);

	fprintf(series->file, "%s{component=\"%s\",", series->family->name,
		series->agent->is_switch ? "switch" : "ca");
	put_guid(series, "local_guid", series->agent->facts->info.node_guid);
	fputc(',', series->file);
	put_label(series, "local_name", series->agent->facts->description);
	fprintf(series->file, ",local_port=\"%u\",", series->num);
	put_guid(series, "remote_guid", far.facts ? far.facts->info.node_guid : 0);
	fputc(',', series->file);
	put_label(series, "remote_name", far.facts ? far.facts->description : "");
	fprintf(series->file, ",remote_port=\"%u\"} ", far.num);
}

static void put_guilbaults(const struct series *series)
{
	if (!has_value(series))
		return;
	put_guilbaults_labels(series);
	fprintf(series->file, "%" PRIu64 "\n", value_of(series));
}

double naming_lane_gbps(unsigned deci_gbps)
{
	static const struct {
		unsigned deci_gbps;
		double gbps;
	} speeds[] = {{FDR_DECI_GBPS, 14.0625},
		      {250, 25.78125},
		      {500, 53.125},
		      {1000, 106.25},
		      {2000, 212.5}};

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].deci_gbps == deci_gbps)
			return speeds[i].gbps;
	return deci_gbps / 10.0;
}

/* value 0: Gb/s of a lane, else the lanes. */
static void put_guilbaults_link(const struct series *series)
{
	const struct port_info *info = &series->agent->facts->port[series->num].info;
	unsigned lanes = port_lanes(info);

	if (!lanes || !pm_link_rate(series->agent, series->num))
		return;
	put_guilbaults_labels(series);
	fprintf(series->file, "%.15g\n",
		series->family->value
			? lanes
			: naming_lane_gbps(pm_link_rate(series->agent, series->num) / lanes));
}

#define GUILBAULTS_ROW(value, name, treydock, guilbaults) \
	{"infiniband_" guilbaults "_total", "counter", name, put_guilbaults, PORTS_ALL, value},

static const struct family guilbaults_families[] = {
	COUNTERS(GUILBAULTS_ROW){"infiniband_speed", "gauge",
				 "Speed of a lane with its encoding, in Gb/s.", put_guilbaults_link,
				 PORTS_ALL, 0},
	{"infiniband_width", "gauge", "Lanes of the link.", put_guilbaults_link, PORTS_ALL, 1},
};

const struct naming naming_guilbaults = {"guilbaults", guilbaults_families,
					 ARRAY_SIZE(guilbaults_families), false};
