/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance management agents of the fabric, and the state of the ports for which each
 * answers. A switch answers for all of its ports, an adapter or router port for itself. A table in
 * the order of the view's switches and then its end ports. It is updated from the view before each
 * sweep, in slices. Agents that left the view are dropped with their counters, because a device
 * that was switched off loses its counters, too. Loop thread only.
 */
#ifndef PM_AGENT_H
#define PM_AGENT_H

#include "fabric/view.h"
#include "mad/transport.h"
#include "pm/count.h"

struct pm_agent {
	guid_t guid;		  /* of the switch or the end port */
	struct node_facts *facts; /* a reference */
	/* The merge that made it, and the last merge that found it in the view. */
	uint64_t made, seen;
	/* The agent that answers in its place, owned; NULL: itself. */
	struct class_redirect *redirect;
	lid_t lid;
	uint16_t capability_mask;  /* ClassPortInfo:CapabilityMask */
	uint32_t capability_mask2; /* ClassPortInfo:CapabilityMask2 */
	uint16_t pkey_index;	   /* index of the redirection's P_Key at our port */
	uint16_t default_index;	   /* index of the default partition's P_Key at our port */
	uint8_t sl;
	uint8_t first, last; /* the ports for which it answers */
	bool is_switch;
	bool asked;	       /* its ClassPortInfo is known */
	bool silent;	       /* it did not answer in the last sweep */
	struct pm_port port[]; /* first .. last */
};

struct pm_agents {
	struct pm_agent **list;
	size_t count;
	uint64_t merges; /* changes with the list */
	/* A merge under way. */
	struct pm_agent **next;
	size_t next_count, old, kept;
};

/* A separate agent for ports first to last, in no table. The caller frees it. */
struct pm_agent *pm_agent_new(const struct view *view, uint32_t place, uint8_t first, uint8_t last);
void pm_agent_free(struct pm_agent *agent); /* NULL is harmless */

/* A stage of slices: *at is the index in the view's topology. Returns the cost of the piece; after
 * the last piece the list matches the view. */
unsigned pm_agents_merge(struct pm_agents *agents, const struct view *view, size_t *at);
void pm_agents_cancel(struct pm_agents *agents); /* drops a merge under way */
void pm_agents_done(struct pm_agents *agents);

/* NULL: there is none. */
struct pm_agent *pm_agents_find(const struct pm_agents *agents, bool is_switch, guid_t guid);

static inline struct pm_port *pm_agent_port(struct pm_agent *agent, uint8_t num)
{
	return &agent->port[num - agent->first];
}

/* Whether a port is worth reading: its link is up, or it is an enhanced port 0. */
bool pm_port_counts(const struct pm_agent *agent, uint8_t num);
/* The destination of its requests. */
struct mad_addr pm_agent_address(const struct pm_agent *agent);
/* Takes over a redirection from ClassPortInfo; the snapshot has the LID of a GID, and our own
 * P_Keys. Returns 1; 0 if the destination is unchanged; -EINVAL if the redirection is invalid. */
int pm_agent_redirect(struct pm_agent *agent, const struct class_redirect *to,
		      const struct snapshot *snapshot);

#endif
