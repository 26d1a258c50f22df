/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the counters of an agent's ports, one request at a time: its capabilities (ClassPortInfo,
 * if unknown), then PortCounters and, if supported, PortCountersExtended of each port. Resets
 * counters that the owner selects, or all of them between two reads. Follows redirections, and
 * repeats lost requests. Used by sweeps and by perf show. Loop thread only.
 */
#ifndef PM_READER_H
#define PM_READER_H

#include "fabric/snapshot.h"
#include "lib/list.h"
#include "mad/txn.h"
#include "pm/agent.h"

struct pm_reader;

struct pm_reader_ops {
	/* Returns the bits of the counters to reset; then it is called once more, with their values
	 * after it. */
	uint32_t (*counters)(struct pm_reader *reader, const struct port_counters *counters,
			     uint32_t was_reset);
	/* was_reset: this is the read after a reset of all counters. */
	void (*extended)(struct pm_reader *reader, const struct port_counters_extended *counters,
			 bool was_reset);
	/* All ports were read: 0; -ETIMEDOUT: the agent did not answer; -EPROTO: it refused all
	 * requests. Never called from within pm_reader_begin(). */
	void (*ended)(struct pm_reader *reader, int error);
};

struct pm_counts { /* statistics of readers */
	uint64_t requests, answered, timed_out;
	uint64_t refused;    /* answers with a status, or for another port */
	uint64_t redirected; /* answers with a redirection */
	uint64_t resets;     /* of PortCounters */
	uint64_t ports;	     /* whose errors were read */
};

struct pm_reader {
	struct list link; /* for the owner */
	void *owner;
	const struct pm_reader_ops *ops;
	struct txn_table *txns;
	struct pm_counts *counts;
	const struct snapshot *snapshot; /* for redirections; the owner's reference */
	struct pm_agent *agent;
	bool everything; /* also ports without a link, and PortCounters that adds nothing */
	/* Resets all counters of both attributes, also of ports without a link, and reads those
	 * that it would read otherwise before and after. */
	bool clear;
	bool one_port; /* reads only the port "only" of the agent */
	uint8_t only;
	/* Its own. */
	uint8_t port, step, attempt, redirects;
	bool ended_one; /* the counters of one port were received */
	uint32_t select;
	uint16_t status; /* of the last refusal */
};

/* Starts to read. The owner has set the members above "Its own". The agent must exist until
 * ended(). */
void pm_reader_begin(struct pm_reader *reader);
void pm_reader_cancel(struct pm_reader *reader); /* ended() is not called; harmless after the end */

/* Whether an agent has PortCountersExtended of this port. */
static inline bool pm_has_extended(const struct pm_agent *agent, uint8_t num)
{
	return agent->capability_mask & (PERF_EXTENDED_WIDTH | PERF_EXTENDED_WIDTH_NO_IETF) &&
	       !agent->port[num - agent->first].is_narrow;
}

/* Whether it has all counters of PortCounters. */
static inline bool pm_has_extended_errors(const struct pm_agent *agent, uint8_t num)
{
	return pm_has_extended(agent, num) && agent->capability_mask2 & PERF_EXTENDED_ERRORS;
}

#endif
