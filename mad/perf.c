/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wire formats of the performance management attributes: chapters 16.1.3 and 16.1.4, as the
 * kernel's rdma/ib_pma.h and libibmad's fields.c restate them. Rows are written as in mad/attr.c.
 * They begin at PERF_DATA_OFFSET of a MAD. tests/unit/mad/test_perf.c checks each row. Constants;
 * any thread.
 */
#include "mad/perf.h"

/* clang-format off */

/* PortCounters: 16.1.3.5. */
#define ROW(member, name, bit, width) FIELD(struct port_counters, member, name, bit, width)
static const struct field port_counters_fields[] = {
	ROW(port_select,                 "PortSelect",                     8,  8),
	ROW(counter_select,              "CounterSelect",                 16, 16),
	ROW(symbol_errors,               "SymbolErrorCounter",            32, 16),
	ROW(link_error_recoveries,       "LinkErrorRecoveryCounter",      48,  8),
	ROW(link_downed,                 "LinkDownedCounter",             56,  8),
	ROW(rcv_errors,                  "PortRcvErrors",                 64, 16),
	ROW(rcv_remote_physical_errors,  "PortRcvRemotePhysicalErrors",   80, 16),
	ROW(rcv_switch_relay_errors,     "PortRcvSwitchRelayErrors",      96, 16),
	ROW(xmit_discards,               "PortXmitDiscards",             112, 16),
	ROW(xmit_constraint_errors,      "PortXmitConstraintErrors",     128,  8),
	ROW(rcv_constraint_errors,       "PortRcvConstraintErrors",      136,  8),
	ROW(counter_select2,             "CounterSelect2",               144,  8),
	ROW(local_link_integrity_errors, "LocalLinkIntegrityErrors",     152,  4),
	ROW(excessive_buffer_overruns,   "ExcessiveBufferOverrunErrors", 156,  4),
	ROW(qp1_dropped,                 "QP1Dropped",                   160, 16),
	ROW(vl15_dropped,                "VL15Dropped",                  176, 16),
	ROW(xmit_data,                   "PortXmitData",                 192, 32),
	ROW(rcv_data,                    "PortRcvData",                  224, 32),
	ROW(xmit_pkts,                   "PortXmitPkts",                 256, 32),
	ROW(rcv_pkts,                    "PortRcvPkts",                  288, 32),
	ROW(xmit_wait,                   "PortXmitWait",                 320, 32),
};
#undef ROW

/* PortCountersExtended: 16.1.4.11. First the counters of agents without CounterSelect2. */
#define ROW(member, name, bit, width) FIELD(struct port_counters_extended, member, name, bit, width)
static const struct field port_counters_extended_fields[] = {
	ROW(port_select,                      "PortSelect",                      8,  8),
	ROW(counter_select,                   "CounterSelect",                  16, 16),
	ROW(xmit_data,                        "PortXmitData",                   64, 64),
	ROW(rcv_data,                         "PortRcvData",                   128, 64),
	ROW(xmit_pkts,                        "PortXmitPkts",                  192, 64),
	ROW(rcv_pkts,                         "PortRcvPkts",                   256, 64),
	ROW(unicast_xmit_pkts,                "PortUnicastXmitPkts",           320, 64),
	ROW(unicast_rcv_pkts,                 "PortUnicastRcvPkts",            384, 64),
	ROW(multicast_xmit_pkts,              "PortMulticastXmitPkts",         448, 64),
	ROW(multicast_rcv_pkts,               "PortMulticastRcvPkts",          512, 64),
	ROW(counter_select2,                  "CounterSelect2",                 32, 32),
	ROW(error[ERROR_SYMBOL],              "SymbolErrorCounter",            576, 64),
	ROW(error[ERROR_LINK_RECOVERY],       "LinkErrorRecoveryCounter",      640, 64),
	ROW(error[ERROR_LINK_DOWNED],         "LinkDownedCounter",             704, 64),
	ROW(error[ERROR_RCV],                 "PortRcvErrors",                 768, 64),
	ROW(error[ERROR_RCV_REMOTE_PHYSICAL], "PortRcvRemotePhysicalErrors",   832, 64),
	ROW(error[ERROR_RCV_SWITCH_RELAY],    "PortRcvSwitchRelayErrors",      896, 64),
	ROW(error[ERROR_XMIT_DISCARD],        "PortXmitDiscards",              960, 64),
	ROW(error[ERROR_XMIT_CONSTRAINT],     "PortXmitConstraintErrors",     1024, 64),
	ROW(error[ERROR_RCV_CONSTRAINT],      "PortRcvConstraintErrors",      1088, 64),
	ROW(error[ERROR_LOCAL_LINK_INTEGRITY],"LocalLinkIntegrityErrors",     1152, 64),
	ROW(error[ERROR_BUFFER_OVERRUN],      "ExcessiveBufferOverrunErrors", 1216, 64),
	ROW(error[ERROR_VL15_DROPPED],        "VL15Dropped",                  1280, 64),
	ROW(xmit_wait,                        "PortXmitWait",                 1344, 64),
	ROW(qp1_dropped,                      "QP1Dropped",                   1408, 64),
};
#undef ROW

/* clang-format on */

const struct format port_counters_format =
	FORMAT(struct port_counters, "PortCounters", 44, port_counters_fields);
const struct format port_counters_extended_format = FORMAT(
	struct port_counters_extended, "PortCountersExtended", 184, port_counters_extended_fields);

const uint8_t port_counters_rows[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 18, 19, 20};

const uint8_t port_counters_extended_rows[] = {
	2,
	3,
	4,
	5,
	6,
	7,
	8,
	9,
	[SELECT_EXTENDED_ERRORS] = 11,
	12,
	13,
	14,
	15,
	16,
	17,
	18,
	19,
	20,
	21,
	22,
	[SELECT_EXTENDED_WAIT] = 23,
	[SELECT_EXTENDED_QP1] = 24,
};
