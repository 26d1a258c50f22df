/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a pass waits for. It waits for the last attempt at agents that it knows, and at what is
 * behind cables that it knows: if it ended without them, it would drop them with all that is behind
 * them. It waits for other probes to the last attempt where packets are being lost. Where none are,
 * a probe that has timed out twice found a dead device: once all else is known, the pass ends
 * without it, and light passes probe again. A light pass waits longer each time, because the device
 * may only be slow. But it ends when something new is requested, and a pass over named nodes does
 * not wait for such a probe at all.
 *
 * The same holds for a known agent that falls mute in a pass that is not heavy. It may take seconds
 * until its requests are given up, and the changes that others have reported are not left
 * unrepaired for so long. When nothing else is awaited, and a change was found or something new was
 * requested, the pass ends. The switch counts as silent, and light passes look for it. Its
 * neighbours report what it should have reported: a pass over named nodes reads them at once.
 */
#include "sm/discovery/parts.h"

enum {
	LOSSY_PATIENCE = 4,	 /* attempts at an agent, where packets are being lost */
	AGENT_PATIENCE_MS = 500, /* an agent that may take as long is mute from the start */
	RARE_LOSS_PERCENT = 1,
};

/* Nothing is awaited but what may never come. */
bool discover_only_silence(const struct discover *discover)
{
	return discover->pending <= discover->silent + discover->at_mute;
}

void discover_landed(void *arg)
{
	struct discover *discover = arg;

	discover->pending--;
	if (discover_only_silence(discover))
		loop_defer(&discover->finish);
}

bool discover_loss_is_rare(const struct discover *discover)
{
	const struct window_stats *stats = window_stats(discover->window);

	return (stats->recovered - discover->recovered_before) * 100 <=
	       (stats->completed - discover->completed_before) * RARE_LOSS_PERCENT;
}

static void fell_mute(struct discover *discover, struct agent *agent)
{
	struct node *node = agent->port->node;

	if (!list_empty(&agent->mute))
		return;
	list_push(&discover->mute, &agent->mute);
	discover->at_mute += agent->asked;
	for (unsigned i = 1;
	     node->sw && discover->kind == DISCOVER_TARGETED && i <= node->num_ports; i++) {
		struct port *peer = node->port[i].peer;

		if (peer && port_of_switch(peer))
			discover_visit(discover, peer->node, peer);
	}
	if (discover_only_silence(discover))
		loop_defer(&discover->finish);
}

void discover_agent_answered(struct discover *discover, struct agent *agent)
{
	if (list_empty(&agent->mute))
		return;
	list_del(&agent->mute);
	discover->at_mute -= agent->asked;
}

void discover_asked_again(void *owner, void *subject, unsigned attempt)
{
	struct discover *discover = owner;

	if (discover_is_partial(discover) && attempt >= PROBE_PATIENCE &&
	    (attempt >= LOSSY_PATIENCE || discover_loss_is_rare(discover)))
		fell_mute(discover, port_agent(subject));
}

/* An agent that is slow is mute from the start, unless it has answered a probe of this pass: then
 * it is read to the end, or it would take a sweep for each answer. */
void discover_submit(struct discover *discover, struct agent *agent,
		     const struct smp_request *request)
{
	discover->pending++;
	agent->asked++;
	discover->at_mute += !list_empty(&agent->mute);
	window_submit(&agent->target, request);
	if (discover_is_partial(discover) && agent->target.patience_ms >= AGENT_PATIENCE_MS &&
	    agent->port->link_pass != discover->pass)
		fell_mute(discover, agent);
}

void discover_returned(struct discover *discover, struct agent *agent)
{
	agent->asked--;
	discover->at_mute -= !list_empty(&agent->mute);
}

/* The pass ends without them. */
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
