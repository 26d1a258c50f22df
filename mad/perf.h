/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Performance management (class 4): its attributes in host order with their wire formats, and the
 * counts that a software agent keeps of a port. pm/ uses the formats to read the counters of ports.
 * The counts are written by sim/packet.c for each link that a packet passes and by sma/agent_link.c
 * when a link is lost; sma/agent_perf.c reads and resets them.
 *
 * The order of both kinds of counts is that of their bits in CounterSelect: chapters 16.1.3.5 and
 * 16.1.4.11, as restated in the kernel's rdma/ib_pma.h and libibmad.
 */
#ifndef MAD_PERF_H
#define MAD_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/field.h"

/* CounterSelect of PortCounters, bits 0-11, and CounterSelect2 of PortCountersExtended. */
enum port_error {
	ERROR_SYMBOL,
	ERROR_LINK_RECOVERY,
	ERROR_LINK_DOWNED,
	ERROR_RCV,
	ERROR_RCV_REMOTE_PHYSICAL,
	ERROR_RCV_SWITCH_RELAY,
	ERROR_XMIT_DISCARD,
	ERROR_XMIT_CONSTRAINT,
	ERROR_RCV_CONSTRAINT,
	ERROR_LOCAL_LINK_INTEGRITY,
	ERROR_BUFFER_OVERRUN,
	ERROR_VL15_DROPPED,
	PORT_ERRORS
};

struct port_counters { /* 16.1.3.5 */
	uint8_t port_select;
	uint16_t counter_select;
	uint16_t symbol_errors;
	uint8_t link_error_recoveries, link_downed;
	uint16_t rcv_errors, rcv_remote_physical_errors, rcv_switch_relay_errors, xmit_discards;
	uint8_t xmit_constraint_errors, rcv_constraint_errors;
	uint8_t counter_select2;
	uint8_t local_link_integrity_errors, excessive_buffer_overruns; /* 4 bits */
	uint16_t qp1_dropped, vl15_dropped;
	uint32_t xmit_data, rcv_data, xmit_pkts, rcv_pkts, xmit_wait;
};

/* From counter_select2 on only where PERF_EXTENDED_ERRORS says so. */
struct port_counters_extended { /* 16.1.4.11 */
	uint8_t port_select;
	uint16_t counter_select;
	uint64_t xmit_data, rcv_data, xmit_pkts, rcv_pkts;
	uint64_t unicast_xmit_pkts, unicast_rcv_pkts, multicast_xmit_pkts, multicast_rcv_pkts;
	uint32_t counter_select2;
	uint64_t error[PORT_ERRORS], xmit_wait, qp1_dropped;
};

extern const struct format port_counters_format, port_counters_extended_format;

/* Rows of port_counters_format: PortSelect and CounterSelect, which lie alike in both formats, and
 * the counters by the bits of CounterSelect, followed by CounterSelect2's first. */
enum { ROW_PORT_SELECT, ROW_COUNTER_SELECT, ROW_COUNTER_SELECT2 = 11 };
enum { SELECT_XMIT_WAIT = 16, PORT_COUNTERS_SELECTED };
enum { PORT_COUNTERS_ALL = (1 << PORT_COUNTERS_SELECTED) - 1 }; /* all bits */
extern const uint8_t port_counters_rows[PORT_COUNTERS_SELECTED];

/* Rows of port_counters_extended_format, by the bits of CounterSelect and, from
 * SELECT_EXTENDED_ERRORS on, of CounterSelect2; 0: the bit means nothing. Rows before
 * EXTENDED_TRAFFIC_ROWS are everywhere. */
enum { EXTENDED_TRAFFIC_ROWS = 10, ROW_EXTENDED_SELECT2 = EXTENDED_TRAFFIC_ROWS };
enum {
	SELECT_EXTENDED_ERRORS = 16,
	SELECT_EXTENDED_WAIT = SELECT_EXTENDED_ERRORS + PORT_ERRORS,
	SELECT_EXTENDED_QP1,
	PORT_COUNTERS_EXTENDED_SELECTED
};
/* All bits of CounterSelect and CounterSelect2 of PortCountersExtended. */
enum {
	EXTENDED_TRAFFIC_ALL = (1 << (EXTENDED_TRAFFIC_ROWS - 2)) - 1,
	EXTENDED_ERRORS_ALL = (1 << (PORT_COUNTERS_EXTENDED_SELECTED - SELECT_EXTENDED_ERRORS)) - 1,
};
extern const uint8_t port_counters_extended_rows[PORT_COUNTERS_EXTENDED_SELECTED];

/* ClassPortInfo:CapabilityMask of this class. */
enum {
	PERF_ALL_PORT_SELECT = 1 << 8, /* PortSelect PERF_ALL_PORTS is the sum of all ports */
	PERF_EXTENDED_WIDTH = 1 << 9,  /* PortCountersExtended, all of its counters */
	PERF_EXTENDED_WIDTH_NO_IETF = 1 << 10, /* only its first four */
	PERF_XMIT_WAIT = 1 << 12,
};
/* CapabilityMask2: PortCountersExtended has the errors, too. */
enum { PERF_EXTENDED_ERRORS = 1 << 1 };
enum { PERF_ALL_PORTS = 255 };

/* CounterSelect of PortCountersExtended; the first TRAFFIC_SHORT are bits 12-15 of
 * PortCounters' CounterSelect. */
enum port_traffic {
	TRAFFIC_XMIT_DATA, /* in units of 4 bytes, from the LRH up to the VCRC, as is all data */
	TRAFFIC_RCV_DATA,
	TRAFFIC_XMIT_PKTS,
	TRAFFIC_RCV_PKTS,
	TRAFFIC_SHORT,
	TRAFFIC_XMIT_UNICAST = TRAFFIC_SHORT,
	TRAFFIC_RCV_UNICAST,
	TRAFFIC_XMIT_MULTICAST,
	TRAFFIC_RCV_MULTICAST,
	PORT_TRAFFICS
};

/* The counts of a port; all zero after a reset. */
struct port_counts {
	/* Since the last Set(PortCountersExtended); xmit_wait in ticks. */
	uint64_t traffic[PORT_TRAFFICS], error[PORT_ERRORS], xmit_wait;
	/* PortCounters shows the counts above plus these, modulo 2^64, because it is reset
	 * separately. */
	uint64_t traffic_beyond[TRAFFIC_SHORT], error_beyond[PORT_ERRORS], wait_beyond;
};

/* Counts a packet of so many 4-byte words that left a port, or arrived there. All VLs count, VL15
 * too; only link packets do not. */
static inline void port_count_xmit(struct port_counts *counts, unsigned words, bool multicast)
{
	counts->traffic[TRAFFIC_XMIT_DATA] += words;
	counts->traffic[TRAFFIC_XMIT_PKTS]++;
	counts->traffic[multicast ? TRAFFIC_XMIT_MULTICAST : TRAFFIC_XMIT_UNICAST]++;
}

static inline void port_count_rcv(struct port_counts *counts, unsigned words, bool multicast)
{
	counts->traffic[TRAFFIC_RCV_DATA] += words;
	counts->traffic[TRAFFIC_RCV_PKTS]++;
	counts->traffic[multicast ? TRAFFIC_RCV_MULTICAST : TRAFFIC_RCV_UNICAST]++;
}

/* Full counters stay full until they are reset (16.1.3.5). */
static inline void port_count_error(struct port_counts *counts, enum port_error error)
{
	counts->error[error] += counts->error[error] != UINT64_MAX;
}

#endif
