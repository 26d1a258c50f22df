/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Probes. A probe is a NodeInfo request to the device at the far end of a cable. Each probe is its
 * own target in the window, so that a silent device delays only its own probe. A probe gets no
 * route if the cable was seen from the far end in this pass, so that the cable is not probed twice.
 * Few probes are on the wire at once, because several cables may lead to one agent with a small
 * buffer.
 */
#include "sm/discovery/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"

enum { PROBE_TURNS = 4 }; /* M_Keys that one probe tries */

static const struct smp_answer no_answer_at_all = {.error = -ETIMEDOUT};

struct slow {
	struct list probes;
};

struct probe {
	struct list link; /* in discover->probes */
	struct window_target target;
	struct discover *discover;
	struct port *from;
	bool second_look;
	enum wait_class wait;
	guid_t slow;	 /* node GUID of the known slow agent behind the port; 0: none */
	struct list kin; /* in the list of struct slow */
	bool queued;	 /* waits for another probe of this agent */
};

static void probed(void *owner, void *subject, const struct smp_request *request,
		   const struct smp_answer *answer);
static void probe_again(void *owner, void *subject, unsigned attempt);

static void probe_send(struct probe *p)
{
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_NODE_INFO,
				      .attempts = p->wait == WAIT_RETRIED_SILENT,
				      .done = probed,
				      .again = probe_again,
				      .owner = p->discover,
				      .subject = p};

	p->queued = false;
	window_submit(&p->target, &request);
}

/* The slow agent behind the port, or NULL. */
static const struct agent *slow_agent(const struct port *from)
{
	const struct agent *agent = from->peer ? port_agent(from->peer) : NULL;

	return agent && agent->target.patience_ms ? agent : NULL;
}

/* A slow agent gets one probe at a time over all its cables, because others would time out in
 * its queue. If that probe has no answer, the others are not sent. */
static struct probe *rival(const struct probe *p, bool queued)
{
	const struct slow *slow = p->slow ? map_get(&p->discover->slow, p->slow) : NULL;

	if (!slow)
		return NULL;
	list_for_each (link, &slow->probes) {
		struct probe *other = container_of(link, struct probe, kin);

		if (other != p && other->queued == queued)
			return other;
	}
	return NULL;
}

static void kin_join(struct probe *p)
{
	struct slow *slow = p->slow ? map_get(&p->discover->slow, p->slow) : NULL;

	list_init(&p->kin);
	if (!p->slow)
		return;
	if (!slow) {
		slow = mem_zalloc(sizeof(*slow));
		list_init(&slow->probes);
		map_put(&p->discover->slow, p->slow, slow);
	}
	list_push(&slow->probes, &p->kin);
}

static void kin_leave(struct probe *p)
{
	struct slow *slow = p->slow ? map_get(&p->discover->slow, p->slow) : NULL;

	list_del(&p->kin);
	if (slow && list_empty(&slow->probes)) {
		map_remove(&p->discover->slow, p->slow);
		free(slow);
	}
}

static void probe_free(struct probe *p)
{
	struct discover *discover = p->discover;
	bool queued = p->queued;
	struct probe *next = queued ? NULL : rival(p, true);

	discover_wait(discover, 1, p->wait, WAIT_ANSWER);
	window_target_done(&p->target);
	list_del(&p->link);
	kin_leave(p);
	free(p);
	if (queued)
		discover_landed(discover);
	if (next)
		probe_send(next);
}

void discover_drop_probes(struct discover *discover, const struct node *node)
{
	list_for_each (link, &discover->probes) {
		struct probe *p = container_of(link, struct probe, link);

		if (!node || p->from->node == node)
			probe_free(p);
	}
}

static bool probe_route(const struct window_target *target, unsigned attempt, struct smp_route *out)
{
	const struct probe *p = container_of(target, struct probe, target);

	if (p->from->discovery.link_pass == p->discover->pass ||
	    !port_route_beyond(p->discover->fabric, p->from, attempt, &out->path))
		return false;
	out->directed = true;
	out->subtree = fabric_subtree(p->discover->fabric, &out->path);
	return true;
}

static uint64_t probe_key(const struct window_target *target, unsigned attempt)
{
	const struct probe *p = container_of(target, struct probe, target);

	return m_key_beyond(p->discover->fabric, p->from, attempt);
}

static void probe_again(void *owner, void *subject, unsigned attempt)
{
	struct discover *discover = owner;
	struct probe *p = subject;

	if (attempt != PROBE_PATIENCE || p->from->peer)
		return;
	discover_wait(discover, 1, p->wait, WAIT_SILENT);
	p->wait = WAIT_SILENT;
}

/* Answers */

/* Handles the answer to a probe that was not cancelled. */
static void take_probe(struct discover *discover, struct port *from, bool second_look,
		       const struct smp_answer *answer)
{
	struct log_subject where = port_subject(from, NULL);
	struct node_info info;

	attr_decode(&node_info_format, answer->data, &info);
	if (answer->error || answer->status) {
		where.message_id = MESSAGE_SILENT;
		/* Another device may be silent here now, so light passes probe it again. */
		from->discovery.far_end = FAR_END_SILENT;
		port_notes_add(&discover->fabric->mute, from);
		discover->report.failed++;
		discover->anomalies.unresponsive++;
		discover_log_once(
			&discover->silent_limit, from, &where,
			"no response from the peer of port %u of \"%s\" (agent down, or unknown "
			"M_Key)",
			from->num, from->node->facts->description);
	} else if (!node_info_is_plausible(&info)) {
		discover->anomalies.malformed++;
		discover_log_once(
			&discover->odd_limit, from, &where,
			"invalid NodeInfo from the peer of port %u of \"%s\" (type %u, %u ports, "
			"arrived at port %u): device not used",
			from->num, from->node->facts->description, info.node_type, info.num_ports,
			info.local_port_num);
	} else {
		discover_arrived(discover, from, &info, second_look);
	}
}

static void give_up_rivals(struct discover *discover, const struct probe *p)
{
	struct probe *other;

	while ((other = rival(p, true))) {
		struct port *from = other->from;
		bool second_look = other->second_look;

		probe_free(other);
		take_probe(discover, from, second_look, &no_answer_at_all);
	}
}

void discover_give_up_probes(struct discover *discover)
{
	list_for_each (link, &discover->probes) {
		struct probe *p = container_of(link, struct probe, link);
		struct port *from = p->from;
		bool second_look = p->second_look;

		from->discovery.m_key_turn++;
		probe_free(p);
		take_probe(discover, from, second_look, &no_answer_at_all);
	}
}

static void probed(void *owner, void *subject, const struct smp_request *request,
		   const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct probe *p = subject;
	struct port *from = p->from;
	bool second_look = p->second_look;

	if (answer->error != -ECANCELED) { /* else by probe_free() */
		from->discovery.patience_ms = p->target.patience_ms;
		if (answer->error == -ETIMEDOUT) {
			from->discovery.m_key_turn +=
				p->wait == WAIT_RETRIED_SILENT ? 1 : PROBE_TURNS;
			give_up_rivals(discover, p);
		}
		probe_free(p);
		if (answer->error != -EHOSTUNREACH)
			take_probe(discover, from, second_look, answer);
		else if (from->discovery.link_pass !=
			 discover->pass) /* the cable was not seen from the far end */
			log_limited(&discover->odd_limit, LOG_WARNING, NULL,
				    "cannot reach the peer of port %u of \"%s\": more than %d hops",
				    from->num, from->node->facts->description, HOPS_MAX);
		if (!answer->error && from->peer) {
			from->discovery.m_key_turn = 0;
			agent_m_key_worked(port_agent(from->peer), request->m_key);
		}
	}
	discover_landed(discover);
}

void discover_probe(struct discover *discover, struct port *from, bool second_look)
{
	struct probe *p = mem_zalloc(sizeof(*p));
	const struct agent *agent = slow_agent(from);
	bool retried =
		(discover_is_partial(discover) && from->discovery.far_end == FAR_END_SILENT) ||
		port_node_is_silent(from->peer);

	p->wait = retried ? WAIT_RETRIED_SILENT : WAIT_ANSWER;
	list_push(&discover->probes, &p->link);
	p->discover = discover;
	p->from = from;
	p->second_look = second_look;
	window_target_init(&p->target, discover->window, 1, probe_route);
	p->target.key = probe_key;
	p->target.gate = &discover->unknown;
	p->target.patience_ms = agent ? agent->target.patience_ms : from->discovery.patience_ms;
	p->slow = agent ? agent->port->node->guid : 0;
	kin_join(p);
	discover_wait(discover, 1, WAIT_NOT, p->wait);
	p->queued = rival(p, false) != NULL;
	if (!p->queued)
		probe_send(p);
}
