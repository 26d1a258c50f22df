/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rules by which a pass waits. It waits for the last attempt at known agents, and at the far
 * ends of known cables. Otherwise it would drop these nodes and all nodes behind them. While
 * packets are being lost, it waits for the last attempt of other probes, too. If no packets are
 * lost, a probe that has timed out twice found a dead device. Then the pass ends without it once
 * all other reads are done, and light passes probe it again. A light pass waits longer each time,
 * because the device may only be slow. It ends early when something new is requested. A targeted
 * pass does not wait for such a probe at all.
 *
 * The same holds for a known agent that stops answering in a light or targeted pass (a mute agent).
 * Its requests may take seconds to time out, and the reported changes must not wait so long. When
 * there is nothing else to wait for, and a change was found or something new was requested, the
 * pass ends. The switch counts as silent, and light passes probe it. Its neighbours report the same
 * link changes, and a targeted pass reads them at once.
 */
#include "sm/discovery/parts.h"

enum {
	LOSSY_PATIENCE = 4,	 /* attempts, while packets are being lost */
	AGENT_PATIENCE_MS = 500, /* an agent with such a timeout is mute from the start */
	RARE_LOSS_PERCENT = 1,
};

void discover_wait(struct discover *discover, size_t count, enum wait_class from,
		   enum wait_class to)
{
	discover->waits[from] -= count; /* WAIT_NOT is not counted */
	discover->waits[to] += count;
	if (from == WAIT_ANSWER && !discover->waits[WAIT_ANSWER])
		loop_defer(&discover->finish);
}

void discover_landed(void *arg)
{
	discover_wait(arg, 1, WAIT_ANSWER, WAIT_NOT);
}

static bool loss_is_rare(const struct discover *discover)
{
	const struct window_stats *stats = window_stats(discover->window);

	return (stats->recovered - discover->before.recovered) * 100 <=
	       (stats->completed - discover->before.completed) * RARE_LOSS_PERCENT;
}

bool discover_may_end(const struct discover *discover)
{
	const size_t *waits = discover->waits;

	if (waits[WAIT_ANSWER])
		return false;
	if (waits[WAIT_RETRIED_SILENT] && !discover->awaited && discover->kind != DISCOVER_TARGETED)
		return false;
	if ((waits[WAIT_SILENT] || waits[WAIT_RETRIED_SILENT]) && !loss_is_rare(discover))
		return false;
	return !waits[WAIT_MUTE] || discover->awaited ||
	       discover->before.topology != discover->fabric->topology;
}

/* Mute agents */

static enum wait_class read_class(const struct agent *agent)
{
	return list_empty(&agent->mute) ? WAIT_ANSWER : WAIT_MUTE;
}

static void fell_mute(struct discover *discover, struct agent *agent)
{
	struct node *node = agent->port->node;

	if (!list_empty(&agent->mute))
		return;
	list_push(&discover->mute, &agent->mute);
	discover_wait(discover, agent->asked, WAIT_ANSWER, WAIT_MUTE);
	for (unsigned i = 1;
	     node->sw && discover->kind == DISCOVER_TARGETED && i <= node->num_ports; i++) {
		struct port *peer = node->port[i].peer;

		if (peer && port_of_switch(peer))
			discover_visit(discover, peer->node, peer);
	}
}

void discover_agent_answered(struct discover *discover, struct agent *agent)
{
	if (list_empty(&agent->mute))
		return;
	list_del(&agent->mute);
	discover_wait(discover, agent->asked, WAIT_MUTE, WAIT_ANSWER);
}

void discover_asked_again(void *owner, void *subject, unsigned attempt)
{
	struct discover *discover = owner;

	port_agent(subject)->route_lost = true;
	if (discover_is_partial(discover) && attempt >= PROBE_PATIENCE &&
	    (attempt >= LOSSY_PATIENCE || loss_is_rare(discover)))
		fell_mute(discover, port_agent(subject));
}

/* A slow agent is mute from the start, unless it has answered a probe of this pass. Then all its
 * reads are completed, because otherwise a sweep would get only one answer. */
void discover_submit(struct discover *discover, struct agent *agent,
		     const struct smp_request *request)
{
	agent->asked++;
	discover_wait(discover, 1, WAIT_NOT, read_class(agent));
	window_submit(&agent->target, request);
	if (discover_is_partial(discover) && agent->target.patience_ms >= AGENT_PATIENCE_MS &&
	    agent->port->discovery.link_pass != discover->pass)
		fell_mute(discover, agent);
}

void discover_returned(struct discover *discover, struct agent *agent)
{
	agent->asked--;
	discover_wait(discover, 1, read_class(agent), WAIT_ANSWER);
}

void discover_give_up_mute(struct discover *discover)
{
	discover->dropping = true;
	while (!list_empty(&discover->mute)) {
		struct agent *agent = container_of(discover->mute.next, struct agent, mute);
		struct node *node = agent->port->node;

		if (agent->asked) {
			window_target_drop(&agent->target, discover);
			agent_m_key_doubt(agent);
			node->mute_pass = discover->pass;
			discover->report.failed++;
			discover->anomalies.unresponsive++;
			node->silent |= node->sw && node != discover->fabric->sm_port->node;
		}
		list_del(&agent->mute);
	}
	discover->dropping = false;
}
