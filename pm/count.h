/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state of a port's counters from one read to the next: their increase, resets in between,
 * traffic rates, counters that are nearly full. Pure arithmetic over a port's answers, which are
 * not trusted; called by pm/sweep.c for each answer. A port takes 344 bytes, so the 70,000 ports of
 * 1,620 switches and 11,664 hosts take 24 MB.
 *
 * Counters of PortCounters are small and stop at their maximum (16.1.3.5). So a counter that is
 * smaller than before was reset: by weftd, another tool, or a device that restarted. Its last value
 * is then added to "gone", and a total is this plus the present value. It equals the output of
 * perfquery if there are no resets. Traffic has no totals, only rates.
 *
 * Bits and indexes of counters are those of CounterSelect, followed by PortXmitWait (mad/perf.h).
 */
#ifndef PM_COUNT_H
#define PM_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/perf.h"

enum { WORD_BYTES = 4 }; /* of the counters PortXmitData and PortRcvData */

struct pm_port {
	/* Times of the last reads of errors and traffic; 0: never. */
	uint64_t read_us, traffic_us;
	uint64_t traffic[TRAFFIC_SHORT]; /* in 4-byte words and packets, as the port showed it */
	/* As the port showed them: packets by kind, from TRAFFIC_SHORT on, only if "wide" is true;
	 * and QP1Dropped. For metrics. */
	uint64_t kinds[PORT_TRAFFICS - TRAFFIC_SHORT], qp1_dropped;
	uint64_t wait, wait_gone;
	uint64_t error[PORT_ERRORS], error_gone[PORT_ERRORS];
	/* A second, between the last two reads; below 0: unknown. */
	float rate[TRAFFIC_SHORT], wait_rate, symbol_rate;
	uint32_t rose;	  /* bits of the counters that rose at the last read */
	uint32_t over;	  /* those that rose by their threshold or more */
	uint32_t stuck;	  /* those that a reset did not empty: it is not repeated */
	bool wide;	  /* its traffic is from PortCountersExtended */
	bool wide_errors; /* its errors and PortXmitWait, too */
	bool has_errors;  /* a counter other than PortXmitWait was above 0 once */
	uint16_t history; /* its place in pm/history.h; 0: none */
	bool is_narrow;	  /* its agent has PortCountersExtended, but refused it for this port */
};

/* The result of a read. */
struct pm_news {
	/* Bits of counters that rose by their threshold or more, and did not at the read before. */
	uint32_t over;
	uint32_t reset; /* those to reset, because they are more than half full */
	uint64_t gained[PORT_COUNTERS_SELECTED];
	uint64_t span_us; /* since the errors were read before; 0: they were not */
	/* Bits of counters that are lower than before, although weftd did not reset them. */
	uint32_t went_back;
	/* Bits of counters that weftd has reset, and that are not lower than before. */
	uint32_t kept;
};

/* How to interpret an answer. */
struct pm_taking {
	uint64_t now_us;
	uint32_t threshold[PORT_COUNTERS_SELECTED]; /* 0: none */
	bool has_wait;				    /* PortXmitWait is supported */
	bool wide;				    /* traffic is in PortCountersExtended */
	bool wide_errors;			    /* and so are all other counters */
	uint32_t was_reset; /* the counters that were reset just before this read */
};

/* The bits of traffic. */
enum { PM_TRAFFIC_BITS = ((1 << TRAFFIC_SHORT) - 1) << PORT_ERRORS };
/* The bits that are no errors. */
enum { PM_NO_ERRORS = PM_TRAFFIC_BITS | 1 << SELECT_XMIT_WAIT };

/* The maximum of a counter of PortCounters. */
uint64_t pm_largest(unsigned bit);
/* The specification's name of a counter, "SymbolErrorCounter"; a literal. */
const char *pm_counter_name(unsigned bit);

/* The increase of a counter between two reads; a lower bound, because there may have been a
 * reset. */
static inline uint64_t pm_gained(uint64_t last, uint64_t now)
{
	return now < last ? now : now - last;
}

/* Updates port from an answer of PortCounters, and *news with the result. */
void pm_take(struct pm_port *port, const struct port_counters *counters,
	     const struct pm_taking *taking, struct pm_news *news);
/* The same for PortCountersExtended, whose 64-bit counters need no reset. */
void pm_take_extended(struct pm_port *port, const struct port_counters_extended *counters,
		      const struct pm_taking *taking, struct pm_news *news);

/* Totals of errors and PortXmitWait, by bit; they include values before resets. */
uint64_t pm_total(const struct pm_port *port, unsigned bit);
/* The symbol errors per bit that the link carried between the last two reads; below 0: unknown.
 * deci_gbps is the rate of the link (mad/attr.h); 0: unknown. */
double pm_symbol_ber(const struct pm_port *port, unsigned deci_gbps);
/* Whether a counter is at its maximum, so that its true value is unknown. */
bool pm_is_full(const struct pm_port *port, unsigned bit);

#endif
