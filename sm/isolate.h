/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Isolation by policy: drains the port of a link with too many losses or errors (sm/drain.h), and
 * stores the reason. The policy is off by default: all thresholds are 0. It isolates at most one
 * port for each read of the counters, no port whose loss cuts off a host, and none while the fabric
 * changes. weftctl undrain returns a port. weftd returns it by itself if its link may be the last
 * path of a switch that is no longer reached (sm/drain.c). The rules are pure functions. Loop
 * thread only.
 */
#ifndef SM_ISOLATE_H
#define SM_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

struct sm;

/* With fewer symbol errors, the rate does not count. */
enum { ISOLATE_WINDOW_S = 600, ISOLATE_REASON_SIZE = 96, ISOLATE_SYMBOLS_MIN = 10 };

struct isolate_options {
	unsigned flaps;	      /* losses of the link in the window; 0: do not count */
	unsigned ber;	      /* n: symbol errors per bit, 10^-n; 0: do not count */
	unsigned link_errors; /* errors of the link in the window; 0: do not count */
	unsigned quota;	      /* ports that the policy may have isolated at one time */
	bool hosts;	      /* also the links of hosts */
};

/* The errors of a port within the window. */
struct isolate_figures {
	guid_t guid; /* the NodeGUID of a switch, or the PortGUID of an end port */
	bool is_switch;
	uint8_t num;
	uint64_t flaps;		/* LinkDownedCounter */
	uint64_t link_errors;	/* PortRcvErrors, LinkErrorRecoveryCounter, LocalLinkIntegrityErrors
				 */
	uint64_t symbol_errors; /* SymbolErrorCounter */
	double ber;		/* symbol errors per bit; below 0: unknown */
	uint64_t covered_s;	/* the part of the window that was read; 0: all of it */
};

/* The facts that decide whether a port above a threshold is isolated. */
struct isolate_facts {
	bool moving;	     /* a sweep runs or is due, or the routes are not those of the fabric */
	bool no_link;	     /* its link is down, or the port is unknown */
	bool drained;	     /* one end is drained or disabled already */
	bool own;	     /* the manager's own path */
	bool host;	     /* the link of a host */
	unsigned isolated;   /* ports that the policy has isolated */
	unsigned links;	     /* in the fabric */
	unsigned lost_ports; /* of adapters that would lose their path */
};

enum isolate_verdict {
	ISOLATE_NOW,
	ISOLATE_MOVING, /* these three: later, or not needed */
	ISOLATE_NO_LINK,
	ISOLATE_DRAINED,
	ISOLATE_OWN, /* these are logged */
	ISOLATE_HOST,
	ISOLATE_QUOTA,
	ISOLATE_LAST_PATH,
	ISOLATE_VERDICTS,
};

/* How far the figures are above a threshold: the highest ratio of a figure to its threshold; 0: all
 * are below. Writes the reason: "7 losses of the link in 10 min (isolate_flaps 5)". */
double isolate_excess(const struct isolate_options *options, const struct isolate_figures *figures,
		      char reason[ISOLATE_REASON_SIZE]);
/* The largest number of ports that may be isolated at one time: the quota, but at most 1 % of the
 * links (at least one port). */
unsigned isolate_limit(const struct isolate_options *options, unsigned links);
/* The verdict about a port above a threshold. */
enum isolate_verdict isolate_verdict(const struct isolate_options *options,
				     const struct isolate_facts *facts);

/* Whether the policy is on. */
bool isolate_is_on(const struct sm *sm);
/* The wall-clock time from which the errors of a port count: ISOLATE_WINDOW_S ago, or the last
 * undrain of its link after the policy had isolated it, if that is later. */
uint64_t isolate_since_s(const struct sm *sm, guid_t guid, bool is_switch, uint8_t num);
/* Only errors after this call count for the port, an end of an undrained link. */
void isolate_pardon(struct sm *sm, guid_t node_guid, uint8_t num);
/* Judges the errors of ports after a read of the counters, and isolates at most one port. */
void isolate_judge(struct sm *sm, const struct isolate_figures *figures, size_t count);

#endif
