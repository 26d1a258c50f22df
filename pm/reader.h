/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reading the counters of one agent's ports, one request at a time: what it can (ClassPortInfo,
 * where that is not known), then PortCounters and, where it has them, PortCountersExtended of each
 * port; and on the way resets, where who reads asks for them. Follows redirections, tries again
 * what was lost. Sweeps and perf show read with it. Loop thread only.
 */
#ifndef PM_READER_H
#define PM_READER_H

#include "fabric/snapshot.h"
#include "lib/list.h"
#include "mad/txn.h"
#include "pm/agent.h"

struct pm_reader;

struct pm_reader_ops {
	/* Returns the bits of the counters that are to be reset; then it is called once more, with
	 * what they are afterwards. */
	uint32_t (*counters)(struct pm_reader *reader, const struct port_counters *counters,
			     uint32_t was_reset);
	void (*extended)(struct pm_reader *reader, const struct port_counters_extended *counters);
	/* All were asked: 0, or -ETIMEDOUT when it did not answer, -EPROTO when it refused all that
	 * it was asked. Never called from within pm_reader_begin(). */
	void (*ended)(struct pm_reader *reader, int error);
};

struct pm_counts { /* what readers did */
	uint64_t requests, answered, timed_out;
	uint64_t refused;    /* answers with a status, or about another port */
	uint64_t redirected; /* answers that lead elsewhere */
	uint64_t resets;
	uint64_t ports; /* whose errors were read */
};

struct pm_reader {
	struct list link; /* the owner's */
	void *owner;
	const struct pm_reader_ops *ops;
	struct txn_table *txns;
	struct pm_counts *counts;
	const struct snapshot *snapshot; /* for redirections; the owner's reference */
	struct pm_agent *agent;
	bool everything; /* also ports whose link is down, and PortCounters that nobody needs */
	/* Its own. */
	uint8_t port, step, attempt, redirects;
	bool ended_one; /* one port's counters came */
	uint32_t select;
	uint16_t status; /* why it was refused last */
};

/* What is above "its own" has been set. Its agent must be there until it has ended. */
void pm_reader_begin(struct pm_reader *reader);
void pm_reader_cancel(struct pm_reader *reader); /* it does not end; harmless when it has */

/* Whether an agent has PortCountersExtended of this port. */
static inline bool pm_has_extended(const struct pm_agent *agent, uint8_t num)
{
	return agent->capability_mask & (PERF_EXTENDED_WIDTH | PERF_EXTENDED_WIDTH_NO_IETF) &&
	       !agent->port[num - agent->first].is_narrow;
}

/* Whether that says all that PortCounters does. */
static inline bool pm_has_extended_errors(const struct pm_agent *agent, uint8_t num)
{
	return pm_has_extended(agent, num) && agent->capability_mask2 & PERF_EXTENDED_ERRORS;
}

#endif
