/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is known of a port's counters from one read to the next: how much they rose, whether they
 * were reset meanwhile, how fast traffic goes, which are about to be full. Pure arithmetic over
 * what a port answered, which is not trusted; called by pm/sweep.c for each answer. A port takes
 * 296 bytes, so the 70,000 ports of 1,620 switches and 11,664 hosts take 21 MB.
 *
 * Counters of PortCounters are small and stay full when they are (16.1.3.5), so one that is smaller
 * than before was reset: by us, another tool, or a device that started anew. What it showed then is
 * kept as gone, and a total is what is gone and what the port shows. It is what perfquery shows as
 * long as nobody resets anything. Traffic has no totals, only rates.
 *
 * Bits and indexes of counters are those of CounterSelect, with PortXmitWait behind
 * (mad/perf.h).
 */
#ifndef PM_COUNT_H
#define PM_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/perf.h"

struct pm_port {
	uint64_t read_us, traffic_us;	 /* when errors, when traffic was read last; 0: never */
	uint64_t traffic[TRAFFIC_SHORT]; /* in 4-byte words and packets, as the port showed it */
	uint64_t wait, wait_gone;
	uint64_t error[PORT_ERRORS], error_gone[PORT_ERRORS];
	float rate[TRAFFIC_SHORT], wait_rate; /* a second; below 0: not known */
	uint32_t rose;			      /* bits of those that did at the last read */
	uint32_t over;			      /* those that rose by their threshold or more then */
	uint32_t stuck;	  /* those that a reset did not empty: it is not tried again */
	bool wide;	  /* its traffic is from PortCountersExtended */
	bool wide_errors; /* its errors and PortXmitWait, too */
	bool has_errors;  /* anything but PortXmitWait was ever counted */
	bool is_narrow;	  /* it alone was refused PortCountersExtended, which its agent has */
};

/* What a read brought. */
struct pm_news {
	uint32_t over;	/* bits that rose by their threshold or more, and did not at the read before
			 */
	uint32_t reset; /* those that should be reset, since they are more than half full */
	uint64_t gained[PORT_COUNTERS_SELECTED];
};

/* How counters are to be taken. */
struct pm_taking {
	uint64_t now_us;
	uint32_t threshold[PORT_COUNTERS_SELECTED]; /* 0: none */
	bool has_wait;				    /* PortXmitWait means something */
	bool wide;				    /* traffic comes with PortCountersExtended */
	bool wide_errors;			    /* and so does all else */
	uint32_t was_reset; /* what was to be reset just before: the first read after that */
};

/* The largest value of a counter of PortCounters. */
uint64_t pm_largest(unsigned bit);
const char *pm_counter_name(unsigned bit);

/* How much a counter rose from one read to the next: at least that; it may have been reset
 * meanwhile. */
static inline uint64_t pm_gained(uint64_t last, uint64_t now)
{
	return now < last ? now : now - last;
}

void pm_take(struct pm_port *port, const struct port_counters *counters,
	     const struct pm_taking *taking, struct pm_news *news);
/* 64 bits do not get full: nothing is to be reset. */
void pm_take_extended(struct pm_port *port, const struct port_counters_extended *counters,
		      const struct pm_taking *taking, struct pm_news *news);

/* Totals of errors and PortXmitWait, by bit. */
uint64_t pm_total(const struct pm_port *port, unsigned bit);
/* Whether a counter is at its largest: there is no telling how many more there were. */
bool pm_is_full(const struct pm_port *port, unsigned bit);

#endif
