/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance management agents of the fabric, and what is known of the ports that each answers
 * for: a switch for all of its ports, an adapter or router port for itself. A table in the order of
 * the view's switches and then its end ports, brought up to date from the view before each sweep,
 * in slices. Agents that left the view are forgotten with their counters: a device that was
 * switched off has forgotten them, too. Loop thread only.
 */
#ifndef PM_AGENT_H
#define PM_AGENT_H

#include "fabric/view.h"
#include "mad/transport.h"
#include "pm/count.h"

struct pm_agent {
	guid_t guid;		  /* of the switch, of the end port */
	struct node_facts *facts; /* a reference */
	uint64_t made, seen;	  /* the merge that made it, the last that found it in the view */
	struct class_redirect *redirect; /* who answers in its place, owned; NULL: itself */
	lid_t lid;
	uint16_t capability_mask;  /* ClassPortInfo:CapabilityMask */
	uint32_t capability_mask2; /* ClassPortInfo:CapabilityMask2 */
	uint16_t pkey_index;	   /* of the redirection's P_Key at our port */
	uint8_t sl;
	uint8_t first, last; /* the ports that it answers for */
	bool is_switch;
	bool asked;	       /* its ClassPortInfo is known */
	bool silent;	       /* it did not answer in the last sweep */
	struct pm_port port[]; /* first .. last */
};

struct pm_agents {
	struct pm_agent **list;
	size_t count;
	uint64_t merges; /* rises when the list has changed */
	/* While one is under way. */
	struct pm_agent **next;
	size_t next_count, old, kept;
};

/* Of an agent of its own, for one port; in no table. */
struct pm_agent *pm_agent_new(const struct view *view, uint32_t place, uint8_t first, uint8_t last);
void pm_agent_free(struct pm_agent *agent); /* NULL is harmless */

/* A stage of slices: *at is the place in the view's topology. With its last piece the list is the
 * view's. */
unsigned pm_agents_merge(struct pm_agents *agents, const struct view *view, size_t *at);
void pm_agents_cancel(struct pm_agents *agents); /* a merge that will not go on */
void pm_agents_done(struct pm_agents *agents);

/* NULL when there is none. */
struct pm_agent *pm_agents_find(const struct pm_agents *agents, bool is_switch, guid_t guid);

static inline struct pm_port *pm_agent_port(struct pm_agent *agent, uint8_t num)
{
	return &agent->port[num - agent->first];
}

/* Whether a port is worth a question: its link is up, or it is an enhanced port 0. */
bool pm_port_counts(const struct pm_agent *agent, uint8_t num);
/* Where its requests go. */
struct mad_addr pm_agent_address(const struct pm_agent *agent);
/* Takes what ClassPortInfo says of who answers in its place; the view tells the LID of a GID, and
 * our own P_Keys. 1, or 0 when that is where requests went already, or -EINVAL for what makes no
 * sense. */
int pm_agent_redirect(struct pm_agent *agent, const struct class_redirect *to,
		      const struct snapshot *snapshot);

#endif
