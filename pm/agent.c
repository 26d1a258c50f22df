/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of performance management agents: agent.h. */
#include "pm/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/named.h"
#include "lib/be.h"
#include "lib/mem.h"

/* Units of a slice: a new agent costs more, because its memory is not yet mapped. */
enum { KEEP_UNITS = 4, MAKE_UNITS = 8 };
enum { PIECE_UNITS = 256, QP_MAX = 0xFFFFFF };

/* The view's values for an index. */
struct spot {
	bool is_switch;
	guid_t guid;
	lid_t lid;
	uint8_t first, last;
	int32_t sw; /* the switch, or that of the end port; -1: none */
	struct node_facts *facts;
};

static struct spot spot_of(const struct snapshot *snapshot, size_t place)
{
	if (place < snapshot->num_switches) {
		const struct snap_switch *sw = &snapshot->switches[place];

		return (struct spot){true,	    sw->guid,	    sw->lid,  0,
				     sw->num_ports, (int32_t)place, sw->facts};
	} else {
		const struct snap_end *end = &snapshot->ends[place - snapshot->num_switches];

		return (struct spot){false,	end->guid, end->lid,  end->port,
				     end->port, end->sw,   end->facts};
	}
}

/* The SL from our own port to the agent, which its answers also use. */
static uint8_t sl_to(const struct view *view, int32_t sw)
{
	const struct snapshot *snapshot = view->topology;
	int32_t from =
		snapshot->sm_end >= 0 ? snapshot->ends[snapshot->sm_end].sw : snapshot->sm_switch;

	if (!view->routes || from < 0 || sw < 0)
		return 0;
	return routes_sl(view->routes, (uint32_t)from, (uint32_t)sw);
}

/* Our own port's index of a P_Key, with any membership; -1: it is not there. */
static int pkey_index_of(const struct snapshot *snapshot, pkey_t p_key)
{
	const struct node_facts *facts =
		snapshot->sm_end >= 0	   ? snapshot->ends[snapshot->sm_end].facts
		: snapshot->sm_switch >= 0 ? snapshot->switches[snapshot->sm_switch].facts
					   : NULL;
	uint8_t num = snapshot->sm_end >= 0 ? snapshot->ends[snapshot->sm_end].port : 0;

	return pkey_list_index(facts ? facts->port[num].pkeys : NULL, p_key);
}

static void update(struct pm_agent *agent, const struct spot *spot, const struct view *view)
{
	struct node_facts *before = agent->facts;

	agent->facts = facts_ref(spot->facts);
	facts_unref(before);
	agent->lid = spot->lid;
	agent->sl = sl_to(view, spot->sw);
	agent->default_index = (uint16_t)pkey_index_of(view->topology, PKEY_DEFAULT_LIMITED);
}

static struct pm_agent *make(const struct spot *spot, const struct view *view)
{
	unsigned ports = spot->last - spot->first + 1u;
	struct pm_agent *agent = mem_zalloc(sizeof(*agent) + ports * sizeof(struct pm_port));

	agent->guid = spot->guid;
	agent->is_switch = spot->is_switch;
	agent->first = spot->first;
	agent->last = spot->last;
	update(agent, spot, view);
	return agent;
}

struct pm_agent *pm_agent_new(const struct view *view, uint32_t place, uint8_t first, uint8_t last)
{
	struct spot spot = spot_of(view->topology, place);

	spot.first = first;
	spot.last = last;
	return make(&spot, view);
}

void pm_agent_free(struct pm_agent *agent)
{
	if (!agent)
		return;
	facts_unref(agent->facts);
	free(agent->redirect);
	free(agent);
}

/* The order of the table: switches first, then by GUID. */
static int pm_agent_order(const struct pm_agent *agent, bool is_switch, guid_t guid)
{
	if (agent->is_switch != is_switch)
		return agent->is_switch ? -1 : 1;
	return agent->guid < guid ? -1 : agent->guid > guid;
}

/* The previous agent, if it has the same ports. Both lists have the same order. */
static struct pm_agent *take_old(struct pm_agents *agents, const struct spot *spot)
{
	struct pm_agent *agent;

	while (agents->old < agents->count &&
	       pm_agent_order(agents->list[agents->old], spot->is_switch, spot->guid) < 0)
		agents->old++;
	if (agents->old == agents->count)
		return NULL;
	agent = agents->list[agents->old];
	return pm_agent_order(agent, spot->is_switch, spot->guid) == 0 &&
			       agent->first == spot->first && agent->last == spot->last
		       ? agent
		       : NULL;
}

/* Agents that are only in the new list are freed; the others keep their places. */
void pm_agents_cancel(struct pm_agents *agents)
{
	for (size_t i = 0; i < agents->next_count; i++) {
		if (agents->next[i]->made > agents->merges)
			pm_agent_free(agents->next[i]);
	}
	free(agents->next);
	agents->next = NULL;
	agents->next_count = 0;
}

/* Runs in one turn of the loop: usually all agents remain, and then none is examined. */
static void change_over(struct pm_agents *agents)
{
	agents->merges++;
	for (size_t i = 0; agents->kept != agents->count && i < agents->count; i++) {
		if (agents->list[i]->seen != agents->merges)
			pm_agent_free(agents->list[i]);
	}
	free(agents->list);
	agents->list = agents->next;
	agents->count = agents->next_count;
	agents->next = NULL;
	agents->next_count = 0;
}

unsigned pm_agents_merge(struct pm_agents *agents, const struct view *view, size_t *at)
{
	const struct snapshot *snapshot = view->topology;
	unsigned units = 0;

	if (*at == 0) {
		pm_agents_cancel(agents);
		agents->next = mem_array(node_count(snapshot) + 1u, sizeof(*agents->next));
		agents->old = agents->kept = 0;
	}
	for (; *at < node_count(snapshot) && units < PIECE_UNITS; ++*at) {
		struct spot spot = spot_of(snapshot, *at);
		struct pm_agent *agent = take_old(agents, &spot);

		if (agent) {
			update(agent, &spot, view);
			agents->kept++;
			units += KEEP_UNITS;
		} else {
			agent = make(&spot, view);
			agent->made = agents->merges + 1;
			units += MAKE_UNITS * (2u + spot.last - spot.first);
		}
		agent->seen = agents->merges + 1;
		agents->next[agents->next_count++] = agent;
	}
	if (!units && agents->next)
		change_over(agents);
	return units;
}

void pm_agents_done(struct pm_agents *agents)
{
	pm_agents_cancel(agents);
	for (size_t i = 0; i < agents->count; i++)
		pm_agent_free(agents->list[i]);
	free(agents->list);
	*agents = (struct pm_agents){0};
}

struct pm_agent *pm_agents_find(const struct pm_agents *agents, bool is_switch, guid_t guid)
{
	size_t low = 0, high = agents->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = pm_agent_order(agents->list[middle], is_switch, guid);

		if (order == 0)
			return agents->list[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool pm_port_counts(const struct pm_agent *agent, uint8_t num)
{
	const struct node_facts *facts = agent->facts;

	if (!facts || num > facts->info.num_ports)
		return false;
	if (agent->is_switch && num == 0)
		return facts->sw.enhanced_port0;
	return facts->port[num].known && facts->port[num].info.port_state > PORT_DOWN;
}

struct mad_addr pm_agent_address(const struct pm_agent *agent)
{
	const struct class_redirect *to = agent->redirect;

	if (!to)
		return (struct mad_addr){.lid = agent->lid,
					 .qpn = 1,
					 .sl = agent->sl,
					 .pkey_index = agent->default_index};
	return (struct mad_addr){.lid = to->lid,
				 .qpn = to->qp,
				 .q_key = to->q_key,
				 .sl = to->sl,
				 .pkey_index = agent->pkey_index};
}

/* If RedirectLID is 0, RedirectGID identifies the port (13.4.8.1). */
static lid_t redirect_lid(const struct class_redirect *to, const struct snapshot *snapshot)
{
	int32_t end;

	if (to->lid)
		return to->lid;
	end = snapshot_find_end(snapshot, be64_load(to->gid + 8));
	return end < 0 ? LID_NONE : snapshot->ends[end].lid;
}

int pm_agent_redirect(struct pm_agent *agent, const struct class_redirect *to,
		      const struct snapshot *snapshot)
{
	lid_t lid = redirect_lid(to, snapshot);
	int index = pkey_index_of(snapshot, to->p_key);
	struct mad_addr before;

	if (lid == LID_NONE || lid > LID_UNICAST_MAX || to->qp == 0 || to->qp > QP_MAX || index < 0)
		return -EINVAL;
	before = pm_agent_address(agent);
	if (!agent->redirect)
		agent->redirect = mem_alloc(sizeof(*agent->redirect));
	*agent->redirect = *to;
	agent->redirect->lid = lid;
	agent->pkey_index = (uint16_t)index;
	return before.lid != lid || before.qpn != to->qp;
}
