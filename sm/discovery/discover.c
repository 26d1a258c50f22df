/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pass goes on as answers come in; it is over when none is awaited any more. What was reached
 * carries the number of the pass, so nothing has to be reset before the next.
 *
 * A probe is a NodeInfo request to whatever is at the far end of a cable. It is a target of its
 * own, so that something silent there costs nobody else a place in the window; and it has no route
 * any more once the cable has been seen from the far end, so that it is not sent twice. Several
 * cables may lead to one agent with its small buffer, so few probes are on the wire at once.
 *
 * A pass waits to the last attempt for agents that it knows, behind cables that it knows too, for
 * to end without them is to drop them with all that is behind; and for other probes where packets
 * are being lost. Where none are, such a probe that has timed out twice found a dead device: once
 * all else is known, the pass ends without it, and light passes ask there again. They wait longer
 * each time, for it may only be slow; but they end when something is asked for meanwhile, and a
 * pass over what was named does not wait for it at all.
 *
 * The same goes for an agent that is known and falls mute, in a pass that is not full: it may take
 * seconds to be given up, and what others have told is not left unrepaired for so long. When
 * nothing else is awaited, and a change was found or something new was asked for, the pass ends;
 * the switch is taken to be silent, and light passes look for it. What it should have told, its
 * neighbours tell: in a pass over what was named they are asked at once.
 */
#include "sm/discovery/discover.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/discovery/parts.h"

enum {
	PKEYS_MAX = 4096, /* read of one port, whatever it claims to have */
	/* Probes on the wire. However many of them arrive at one agent, over as many cables, while
	 * two more requests are under way to it: one is being worked on, four wait. */
	PROBES_ON_WIRE = 3,
	PROBE_PATIENCE = 2,
	PROBE_TURNS = 4,	 /* M_Keys that one with all its attempts tries */
	LOSSY_PATIENCE = 4,	 /* of an agent, where packets are being lost */
	EXT_INFO_ATTEMPTS = 3,	 /* of a vendor's attribute, which nothing waits for */
	AGENT_PATIENCE_MS = 500, /* one that may take as long is mute from the start */
	RARE_LOSS_PERCENT = 1,
};

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
	bool silent;	 /* counted so */
	bool once;	 /* the only attempt in this pass, at what was silent before */
	guid_t slow;	 /* the node of the slow agent that is known to be there; 0: none is */
	struct list kin; /* of struct slow */
	bool waits;	 /* for another probe of it */
};

typedef void answer_fn(struct discover *discover, struct port *port,
		       const struct smp_request *request, const uint8_t *data);

static void visit(struct discover *discover, struct node *node, struct port *arrival);
static void ask_port_info(struct discover *discover, struct port *port);
static void probed(void *owner, void *subject, const struct smp_request *request,
		   const struct smp_answer *answer);
static void probe_again(void *owner, void *subject, unsigned attempt);
static void probe(struct discover *discover, struct port *from, bool second_look);

static bool is_partial(const struct discover *discover)
{
	return discover->kind != DISCOVER_HEAVY;
}

static struct port *any_cabled(struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		if (node->port[i].peer)
			return &node->port[i];
	}
	return NULL;
}

static const char *place(const struct port *port, char text[NODE_DESC_SIZE + 48])
{
	snprintf(text, NODE_DESC_SIZE + 48, "0x%016llx \"%s\" port %u",
		 (unsigned long long)port->node->guid, port->node->facts->description, port->num);
	return text;
}

/* Asking */

static void tell_once(struct log_limit *limit, struct port *from, const struct log_subject *subject,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What is wrong behind a port is so at each light pass, for days: it is told when it begins. */
static void tell_once(struct log_limit *limit, struct port *from, const struct log_subject *subject,
		      const char *format, ...)
{
	char text[320];
	va_list arguments;

	if (from->logged || !log_allowed(limit))
		return;
	from->logged = true;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_about(LOG_WARNING, subject, "%s", text);
}

/* Nothing is awaited but what may never come. */
static bool only_silence(const struct discover *discover)
{
	return discover->pending <= discover->silent + discover->at_mute;
}

static void probe_landed(void *arg)
{
	struct discover *discover = arg;

	discover->pending--;
	if (only_silence(discover))
		loop_defer(&discover->finish);
}

/* Agents that fall mute */

static bool loss_is_rare(const struct discover *discover)
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
			visit(discover, peer->node, peer);
	}
	if (only_silence(discover))
		loop_defer(&discover->finish);
}

static void agent_answered(struct discover *discover, struct agent *agent)
{
	if (list_empty(&agent->mute))
		return;
	list_del(&agent->mute);
	discover->at_mute -= agent->asked;
}

static void asked_again(void *owner, void *subject, unsigned attempt)
{
	struct discover *discover = owner;

	if (is_partial(discover) && attempt >= PROBE_PATIENCE &&
	    (attempt >= LOSSY_PATIENCE || loss_is_rare(discover)))
		fell_mute(discover, port_agent(subject));
}

/* An agent that is slow is mute from the start, unless it has answered a probe of this pass: then
 * it is read to the end, or it would take a sweep for each answer. */
static void submit(struct discover *discover, struct agent *agent,
		   const struct smp_request *request)
{
	discover->pending++;
	agent->asked++;
	discover->at_mute += !list_empty(&agent->mute);
	window_submit(&agent->target, request);
	if (is_partial(discover) && agent->target.patience_ms >= AGENT_PATIENCE_MS &&
	    agent->port->link_pass != discover->pass)
		fell_mute(discover, agent);
}

static void returned(struct discover *discover, struct agent *agent)
{
	agent->asked--;
	discover->at_mute -= !list_empty(&agent->mute);
}

/* The pass ends without them. */
static void give_up_mute(struct discover *discover)
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

static void no_answer(struct discover *discover, const struct port *port,
		      const struct smp_request *request, const struct smp_answer *answer)
{
	struct log_subject subject = port_subject(port, MESSAGE_SILENT);

	if (answer->error == -ECANCELED)
		return;
	if (answer->error == -ETIMEDOUT && request->method == METHOD_GET) {
		port->node->mute_pass = discover->pass;
		agent_m_key_doubt(port_agent(port));
	}
	discover->report.failed++;
	discover->anomalies.unresponsive++;
	if (answer->error)
		log_limited(&discover->silent_limit, LOG_WARNING, &subject,
			    "no answer to %s %s from \"%s\"",
			    method_name(CLASS_SUBN_DIRECTED, request->method),
			    attr_name(CLASS_SUBN_DIRECTED, request->attr_id),
			    port->node->facts->description);
	else
		log_limited(&discover->silent_limit, LOG_WARNING, &subject,
			    "\"%s\" refused %s %s with status 0x%04x",
			    port->node->facts->description,
			    method_name(CLASS_SUBN_DIRECTED, request->method),
			    attr_name(CLASS_SUBN_DIRECTED, request->attr_id), answer->status);
}

static unsigned pkey_blocks(const struct port *port)
{
	unsigned count = port->node->facts->info.partition_cap;

	return ((count < PKEYS_MAX ? count : PKEYS_MAX) + PKEY_BLOCK_KEYS - 1u) / PKEY_BLOCK_KEYS;
}

/* A table of which a block is missing is not known, and is no membership for the SA. But where the
 * whole was read, and the link did not go down since, a lost answer says nothing: the table counts
 * as it was, as that of a port that answers nothing does, and is read again. */
static void no_pkeys(struct discover *discover, struct port *port, const struct smp_answer *answer)
{
	const struct pkey_list *list = port_facts(port)->pkeys;

	if (answer->error == -ETIMEDOUT && list &&
	    list->count >= pkey_blocks(port) * PKEY_BLOCK_KEYS)
		port->pkeys_unread = true;
	else
		port_set_pkeys(discover->fabric, port, NULL);
}

/* One row for each attribute that is read, so that a request needs no more than its attribute. */
static answer_fn got_description, discover_switch_info, got_port_info, got_pkeys;
static const struct {
	uint16_t attr_id;
	answer_fn *got;
} answers[] = {
	{ATTR_NODE_DESCRIPTION, got_description},
	{ATTR_SWITCH_INFO, discover_switch_info},
	{ATTR_PORT_INFO, got_port_info},
	{ATTR_PKEY_TABLE, got_pkeys},
};

static void discover_answered(void *owner, void *subject, const struct smp_request *request,
			      const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct port *port = subject;
	bool gone = answer->error == -ECANCELED && !discover->dropping;

	returned(discover, port_agent(port));
	if (answer->error == -EHOSTUNREACH && !any_cabled(port->node)) {
		probe_landed(discover); /* it is dropped at the end of the pass */
		return;
	}
	if (!answer->error)
		agent_answered(discover, port_agent(port));
	if (answer->error || answer->status) {
		no_answer(discover, port, request, answer);
		port->unread |= !gone && (request->attr_id == ATTR_PORT_INFO ||
					  request->attr_id == ATTR_SWITCH_INFO);
		if (request->attr_id == ATTR_PKEY_TABLE && !gone)
			no_pkeys(discover, port, answer);
		if (request->method == METHOD_SET && answer->error != -ECANCELED)
			ask_port_info(discover,
				      port); /* a change that is not cleared is one, too */
		else if (discover->kind == DISCOVER_LIGHT && request->attr_id == ATTR_SWITCH_INFO &&
			 !port->node->silent && !discover->dropping)
			discover->report.want_heavy = true;
	} else {
		port->node->silent = false;
		for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
			if (answers[i].attr_id == request->attr_id)
				answers[i].got(discover, port, request, answer->data);
		}
	}
	probe_landed(discover);
}

static void discover_get(struct discover *discover, struct port *port, uint16_t attr_id,
			 uint32_t attr_mod)
{
	struct agent *agent = port_agent(port);
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = attr_id,
				      .attr_mod = attr_mod,
				      .done = discover_answered,
				      .again = asked_again,
				      .owner = discover,
				      .subject = port};

	if (agent)
		submit(discover, agent, &request);
}

static void ask_port_info(struct discover *discover, struct port *port)
{
	discover_get(discover, port, ATTR_PORT_INFO, port_info_modifier(port));
}

/* Answers */

static void got_description(struct discover *discover, struct port *port,
			    const struct smp_request *request, const uint8_t *data)
{
	struct node_description description;
	char text[NODE_DESC_SIZE + 1];

	(void)request;
	attr_decode(&node_description_format, data, &description);
	node_set_description(discover->fabric, port->node, description_text(&description, text));
}

static void ask_ports(struct discover *discover, struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++)
		ask_port_info(discover, &node->port[i]);
}

static void clear_port_state_change(struct discover *discover, struct port *port,
				    const struct switch_info *info)
{
	struct smp_request request = {.method = METHOD_SET,
				      .attr_id = ATTR_SWITCH_INFO,
				      .done = discover_answered,
				      .again = asked_again,
				      .owner = discover,
				      .subject = port};
	struct switch_info want = *info;

	want.port_state_change = 1; /* writing 1 clears it */
	format_encode(&switch_info_format, &want, request.data);
	submit(discover, port->agent, &request);
}

static void probe_unverified(struct discover *discover, struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *port = &node->port[i];

		if (port->link_unverified && port_cabled(port) && port->link_pass != discover->pass)
			probe(discover, port, false);
	}
}

static void discover_switch_info(struct discover *discover, struct port *port,
				 const struct smp_request *request, const uint8_t *data)
{
	struct switch_info info;
	struct node *node = port->node;
	bool news = node->sw->links_changed;

	attr_decode(&switch_info_format, data, &info);
	if (node->sw->top_set && info.linear_fdb_top != node->sw->top_set)
		node->sw->lost = true;
	node_set_switch_info(discover->fabric, node, &info);
	node->sw->links_changed &= request->method != METHOD_GET;
	if (info.port_state_change)
		switch_changed(node);
	if (info.port_state_change && discover->may_write && request->method == METHOD_GET &&
	    node->sw->no_transit != NO_TRANSIT_REFUSES) {
		node->pass = discover->pass;
		clear_port_state_change(discover, port, &info);
		return;
	}
	/* Where not all is read, a switch without news is not read any further, unless a trap named
	 * it; news of before that nobody could read meanwhile are some. A standby reads on, too:
	 * the bit stays set for the master. */
	if (is_partial(discover) && node->target_pass != discover->pass &&
	    request->method == METHOD_GET && !info.port_state_change && !news &&
	    port_facts(port)->known && !port->unread) {
		if (discover->kind == DISCOVER_LIGHT)
			probe_unverified(discover, node);
		return;
	}
	node->pass = discover->pass;
	ask_port_info(discover, port);
}

static bool needs_probe(const struct discover *discover, const struct port *port)
{
	if (!port->num || port_info(port)->port_state < PORT_INIT ||
	    port->link_pass == discover->pass)
		return false;
	if (port->node->type != NODE_SWITCH && port != discover->fabric->sm_port)
		return false; /* no way through an adapter */
	return discover->kind == DISCOVER_HEAVY || (!port->peer && !port->excluded) ||
	       port->link_unverified;
}

/* Block after block, each when the one before has come: else a list could have a hole. */
static void ask_pkeys(struct discover *discover, struct port *port)
{
	if (port_facts(port)->pkeys && !port->pkeys_unread && discover->kind != DISCOVER_HEAVY)
		return;
	if (pkey_blocks(port))
		discover_get(discover, port, ATTR_PKEY_TABLE, 0);
}

/* A LID that held what it should, and holds another now; none at all is the sign of a reset. */
static bool was_changed(lid_t want, lid_t before, lid_t now)
{
	return want && before == want && now && now != want;
}

/* Whether a port shows that another MASTER was here, or still is: it may have written anything
 * anywhere. */
static bool tells_other_master(const struct discover *discover, const struct port *port,
			       const struct port_info *info)
{
	const struct port_info *before = port_info(port);
	const struct port *sm_port = discover->fabric->sm_port;

	return discover->may_write && port->agent && sm_port &&
	       (was_changed(sm_port->lid, before->master_sm_lid, info->master_sm_lid) ||
		was_changed(port->lid, before->lid, info->lid));
}

/* The switch at the far end may have lost the way for its trap with it, or may be gone altogether:
 * where not all are asked it is asked, too. */
static void lost_link(struct discover *discover, struct port *port)
{
	struct port *peer = port->peer;

	port->excluded = port->logged = port->silent = false;
	port->patience_ms = 0;
	fabric_unlink(discover->fabric, port);
	if (peer && port_of_switch(peer) && discover->kind == DISCOVER_TARGETED)
		visit(discover, peer->node, peer);
}

static bool is_cut_off(const struct node *sw)
{
	for (unsigned i = 1; i <= sw->num_ports; i++) {
		const struct port *port = &sw->port[i];

		if (port->peer && port_of_switch(port->peer) && port_state_of(port) > PORT_INIT)
			return false;
	}
	return true;
}

/* A switch that has lost its last cable to others, perhaps for a moment: a manager that has come
 * behind it meanwhile met nobody, and nobody heard its trap. Of a change at our own switch all the
 * others may have been cut off. */
static void switch_was_cut_off(struct discover *discover, struct node *node)
{
	const struct port *own = discover->fabric->sm_port;

	if (node == own->node || (own->peer && node == own->peer->node)) {
		discover->report.want_heavy = true;
		return;
	}
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *peer = node->port[i].peer;

		if (peer && peer->agent && !port_of_switch(peer))
			visit(discover, peer->node, peer);
	}
}

/* ExtendedPortInfo is no reason to doubt a device: one that refuses it is not asked again before it
 * passes INIT, and one that does not answer is asked in the next pass. */
static void ext_info_answered(void *owner, void *subject, const struct smp_request *request,
			      const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct port *port = subject;
	struct ext_port_info ext;

	(void)request;
	returned(discover, port_agent(port));
	if (!answer->error)
		agent_answered(discover, port_agent(port));
	if (!answer->error && !answer->status) {
		attr_decode(&ext_port_info_format, answer->data, &ext);
		port_set_ext_info(discover->fabric, port, &ext);
	} else if (!answer->error && !status_is_busy(answer->status)) {
		port->refuses |= PORT_REFUSES_EXT_INFO;
	}
	probe_landed(discover);
}

/* Where FDR10 matters: each port with a link of a device that has the attribute. */
static void ask_ext_info(struct discover *discover, struct port *port)
{
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_MLNX_EXT_PORT_INFO,
				      .attr_mod = port->num,
				      .attempts = EXT_INFO_ATTEMPTS,
				      .done = ext_info_answered,
				      .owner = discover,
				      .subject = port};

	if (discover->options->fdr10 == FDR10_NOT_USED || !port->num ||
	    port_state_of(port) < PORT_INIT || port->refuses & PORT_REFUSES_EXT_INFO ||
	    (port_facts(port)->ext_known && is_partial(discover)) ||
	    !node_has_ext_port_info(&port->node->facts->info) || !port_agent(port))
		return;
	submit(discover, port_agent(port), &request);
}

static void got_port_info(struct discover *discover, struct port *port,
			  const struct smp_request *request, const uint8_t *data)
{
	const struct port_info *known = port_info(port);
	bool led_on = port_state_of(port) > PORT_INIT && port_of_switch(port) && port->peer &&
		      port_of_switch(port->peer);
	/* Else only this port of the switch was asked for. */
	bool all = port->node->pass == discover->pass || !port_facts(port)->known || port->unread;
	struct port_info info;

	attr_decode(&port_info_format, data, &info);
	/* Without extended speeds an answer is half the truth, and the first request could not know
	 * that the port has them. It is not taken: else it would stay if the second one is lost. */
	if (port->agent && port->num && !(request->attr_mod & PORT_INFO_EXTENDED_SPEEDS) &&
	    info.capability_mask & CAP_EXTENDED_SPEEDS) {
		discover_get(discover, port, ATTR_PORT_INFO,
			     request->attr_mod | PORT_INFO_EXTENDED_SPEEDS);
		return;
	}
	if (tells_other_master(discover, port, &info)) {
		discover->report.overwritten = true;
		discover->report.want_heavy |= discover->kind != DISCOVER_HEAVY;
	}
	/* A switch that was reset has lost its LID, and with it its tables. */
	if (port_of_switch(port) && !port->num && port->lid && known->lid == port->lid &&
	    (info.lid != known->lid || info.master_sm_lid != known->master_sm_lid))
		port->node->sw->lost = true;
	/* Its port 0 passes no INIT: that it has lost its LID tells that it has lost its P_Keys. */
	if (port_of_switch(port) && !port->num && port->lid && info.lid != port->lid)
		port_set_pkeys(discover->fabric, port, NULL);
	port_set_info(discover->fabric, port, &info);
	port->read_pass = discover->pass;
	port->unread = false;
	if (port->link_pass == discover->pass)
		port->link_unverified = port->link_lost = false;
	if (port->agent)
		ask_pkeys(discover, port);
	ask_ext_info(discover, port);
	if (port->node->type == NODE_SWITCH && !port->num) {
		if (all)
			ask_ports(discover, port->node);
		return;
	}
	if (info.port_state == PORT_DOWN) {
		lost_link(discover, port);
	} else if (needs_probe(discover, port)) {
		probe(discover, port, false);
	}
	if (is_partial(discover) && led_on && info.port_state <= PORT_INIT &&
	    is_cut_off(port->node))
		switch_was_cut_off(discover, port->node);
}

static void got_pkeys(struct discover *discover, struct port *port,
		      const struct smp_request *request, const uint8_t *data)
{
	unsigned block = request->attr_mod;
	struct p_key_table table;

	attr_decode(&p_key_table_format, data, &table);
	if (block && !port_facts(port)->pkeys)
		return; /* the port passed INIT meanwhile: it is read from the beginning */
	port_set_pkey_block(discover->fabric, port, block, &table);
	if (block + 1 < pkey_blocks(port))
		discover_get(discover, port, ATTR_PKEY_TABLE, block + 1);
	else
		port->pkeys_unread = false;
}

/* Probes: what is at the far end */

static void probe_send(struct probe *p)
{
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_NODE_INFO,
				      .attempts = p->once,
				      .done = probed,
				      .again = probe_again,
				      .owner = p->discover,
				      .subject = p};

	p->waits = false;
	window_submit(&p->target, &request);
}

static bool port_node_is_silent(const struct port *port)
{
	return port && port->node->silent;
}

/* The agent that is known to be behind the port, if it is slow. */
static const struct agent *slow_agent(const struct port *from)
{
	const struct agent *agent = from->peer ? port_agent(from->peer) : NULL;

	return agent && agent->target.patience_ms ? agent : NULL;
}

/* A slow agent gets one probe at a time, however many cables lead to it: the others would have
 * timed out when their turn comes. Where that one has no answer they are not sent. */
static struct probe *rival(const struct probe *p, bool waits)
{
	const struct slow *slow = p->slow ? map_get(&p->discover->slow, p->slow) : NULL;

	if (!slow)
		return NULL;
	list_for_each (link, &slow->probes) {
		struct probe *other = container_of(link, struct probe, kin);

		if (other != p && other->waits == waits)
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
	struct probe *next = p->waits ? NULL : rival(p, true);
	bool waited = p->waits;

	discover->silent -= p->silent;
	discover->once -= p->once;
	window_target_done(&p->target);
	list_del(&p->link);
	kin_leave(p);
	free(p);
	if (waited)
		probe_landed(discover);
	if (next)
		probe_send(next);
}

/* Drops a node in the middle of a pass, with the probes that were to leave through its ports. */
static void discover_drop_node(struct discover *discover, struct node *node)
{
	list_for_each (link, &discover->probes) {
		struct probe *p = container_of(link, struct probe, link);

		if (p->from->node == node)
			probe_free(p);
	}
	for (size_t i = 0; i < discover->num_claims;) {
		if (discover->claims[i]->node == node)
			discover->claims[i] = discover->claims[--discover->num_claims];
		else
			i++;
	}
	fabric_drop_node(discover->fabric, node);
}

static bool probe_route(const struct window_target *target, unsigned attempt, struct smp_route *out)
{
	const struct probe *p = container_of(target, struct probe, target);

	if (p->from->link_pass == p->discover->pass ||
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
	p->silent = true;
	discover->silent++;
	if (only_silence(discover))
		loop_defer(&discover->finish);
}

void discover_duplicate(struct discover *discover, struct port *from, guid_t guid,
			const struct port *known)
{
	char here[NODE_DESC_SIZE + 48], there[NODE_DESC_SIZE + 48];
	struct log_subject subject = port_subject(known, MESSAGE_DUPLICATE);

	/* Only a heavy pass can tell two devices from cables that were swapped, and only one in
	 * which nothing was swapped half-way: what it meets first it has to meet again. */
	if (discover->kind != DISCOVER_HEAVY || !from->excluded) {
		discover->report.want_heavy = true;
		from->excluded |= discover->kind == DISCOVER_HEAVY;
		return;
	}
	from->link_unverified = from->link_lost = false;
	discover->anomalies.duplicate_guids++;
	log_limited(&discover->duplicate_limit, LOG_ERR, &subject,
		    "GUID 0x%016llx answers at two places, %s %s and behind %s: the second is left "
		    "out; give one of the two devices another GUID",
		    (unsigned long long)guid, known->peer ? "behind" : "as",
		    place(known->peer ? known->peer : known, there), place(from, here));
}

/* Moved here, or two devices of one GUID? In a heavy pass the old place shows by itself whether it
 * is still there, so that this one is looked at again at the end. Other passes do not see enough.
 */
static void discover_claim_guid(struct discover *discover, struct port *from)
{
	if (discover->kind != DISCOVER_HEAVY) {
		discover->report.want_heavy = true;
		return;
	}
	discover->claims =
		mem_resize(discover->claims, discover->num_claims + 1, sizeof(*discover->claims));
	discover->claims[discover->num_claims++] = from;
}

static void look_at_claims(struct discover *discover)
{
	size_t count = discover->num_claims;

	discover->num_claims = 0;
	for (size_t i = 0; i < count; i++)
		probe(discover, discover->claims[i], true);
}

bool discover_seen_again(const struct discover *discover, const struct node *node)
{
	bool seen = node == discover->fabric->sm_port->node;

	for (unsigned i = 1; i <= node->num_ports; i++)
		seen = seen || node->port[i].link_pass == discover->pass;
	return seen;
}

/* The node that info speaks of: known, or new. NULL: its GUID is, or may be, another device's. */
static struct node *discover_identify(struct discover *discover, struct port *from,
				      const struct node_info *info, bool second_look)
{
	struct node *node = fabric_find_node(discover->fabric, info->node_guid);

	if (node && !node_info_same_device(&node->facts->info, info)) {
		struct port *old = any_cabled(node);

		if (discover_seen_again(discover, node) || node == from->node) {
			discover_duplicate(discover, from, info->node_guid,
					   old ? old : &node->port[0]);
			return NULL;
		}
		if (!second_look) {
			discover_claim_guid(discover, from);
			return NULL;
		}
		discover_drop_node(discover, node); /* replaced by another device */
		node = NULL;
	}
	if (!node)
		node = fabric_add_node(discover->fabric, info);
	return node;
}

static void give_agent(struct discover *discover, struct port *port, guid_t port_guid)
{
	if (!port->agent || port_facts(port)->guid != port_guid)
		fabric_add_agent(discover->fabric, port, port_guid);
}

static void arrived(struct discover *discover, struct port *from, const struct node_info *info,
		    bool second_look)
{
	struct fabric *fabric = discover->fabric;
	const struct port *holder = map_get(&fabric->ports, info->port_guid);
	struct log_subject subject = port_subject(from, NULL);
	struct node *node;
	struct port *arrival;
	bool only_cable; /* was in doubt */

	if (holder && (holder->node->guid != info->node_guid ||
		       (holder->num && holder->num != info->local_port_num))) {
		discover_duplicate(discover, from, info->port_guid, holder);
		return;
	}
	node = discover_identify(discover, from, info, second_look);
	if (!node)
		return;
	arrival = &node->port[info->local_port_num];
	if (node == from->node) {
		discover->anomalies.self_links++;
		from->link_pass = arrival->link_pass = discover->pass;
		tell_once(&discover->odd_limit, from, &subject,
			  "port %u of \"%s\" is cabled to port %u of the same device: the cable is "
			  "left out; if there are two devices, both have the same GUID",
			  from->num, node->facts->description, arrival->num);
		arrival->logged = from->logged;
		return;
	}
	if (arrival->peer && arrival->peer != from) {
		if (arrival->link_pass == discover->pass) {
			discover_duplicate(discover, from, info->node_guid, arrival);
			return;
		}
		if (!second_look) {
			discover_claim_guid(discover, from);
			return;
		}
	}
	if (node->type != NODE_SWITCH)
		give_agent(discover, arrival, info->port_guid);
	if (!port_agent(arrival)->target.answered)
		port_agent(arrival)->target.patience_ms = from->patience_ms;
	if (node->type == NODE_SWITCH &&
	    ((arrival->peer && arrival->peer != from) || (from->peer && from->peer != arrival))) {
		/* What was sent over a cable that leads elsewhere now went astray. */
		discover->report.recabled = true;
		discover->report.want_heavy |= discover->kind != DISCOVER_HEAVY;
	}
	only_cable = !node->silent && from->peer == arrival && from->read_pass != discover->pass &&
		     port_facts(arrival)->known;
	if (node->silent) { /* what happened meanwhile is not known */
		node->silent = false;
		node->target_pass = discover->pass;
	}
	from->excluded = arrival->excluded = false;
	from->logged = arrival->logged = false;
	from->silent = arrival->silent = false;
	from->link_unverified = arrival->link_unverified = from->link_lost = arrival->link_lost =
		false;
	from->armed = arrival->armed = false;
	fabric_link(fabric, from, arrival);
	from->link_pass = arrival->link_pass = discover->pass;
	/* A heavy pass trusts no older way; others begin in the middle of the tree and keep it. */
	if (node->type == NODE_SWITCH && node != fabric->sm_port->node &&
	    (!node->uplink || (discover->kind == DISCOVER_HEAVY && node->pass != discover->pass))) {
		node->uplink = from;
		node->hops = from->node->hops + 1;
	}
	if (!only_cable)
		visit(discover, node, arrival);
}

/* What came back of a probe that was neither cancelled nor needless. */
static void take_probe(struct discover *discover, struct port *from, bool second_look,
		       const struct smp_answer *answer)
{
	struct log_subject where = port_subject(from, NULL);
	struct node_info info;

	attr_decode(&node_info_format, answer->data, &info);
	if (answer->error || answer->status) {
		where.message_id = MESSAGE_SILENT;
		/* A GUID that was met here before need not be what is silent now: light
		 * passes ask again. */
		from->excluded = false;
		from->silent = true;
		discover->report.failed++;
		discover->anomalies.unresponsive++;
		tell_once(&discover->silent_limit, from, &where,
			  "whatever is behind port %u of \"%s\" does not answer: its link is "
			  "up, its management agent is not, or an M_Key that is not known here "
			  "protects it",
			  from->num, from->node->facts->description);
	} else if (!node_info_is_plausible(&info)) {
		discover->anomalies.malformed++;
		tell_once(&discover->odd_limit, from, &where,
			  "behind port %u of \"%s\": NodeInfo makes no sense (type %u, %u ports, "
			  "arrived at port %u): left out",
			  from->num, from->node->facts->description, info.node_type, info.num_ports,
			  info.local_port_num);
	} else {
		arrived(discover, from, &info, second_look);
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

static void probed(void *owner, void *subject, const struct smp_request *request,
		   const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct probe *p = subject;
	struct port *from = p->from;
	bool second_look = p->second_look;

	if (answer->error != -ECANCELED) { /* else by probe_free() */
		from->patience_ms = p->target.patience_ms;
		if (answer->error == -ETIMEDOUT) {
			from->m_key_turn += p->once ? 1 : PROBE_TURNS;
			give_up_rivals(discover, p);
		}
		probe_free(p);
		if (answer->error != -EHOSTUNREACH)
			take_probe(discover, from, second_look, answer);
		else if (from->link_pass != discover->pass) /* else it was seen from the far end */
			log_limited(
				&discover->odd_limit, LOG_WARNING, NULL,
				"whatever is behind port %u of \"%s\" is out of reach: directed "
				"routes end after %d hops",
				from->num, from->node->facts->description, HOPS_MAX);
		if (!answer->error && from->peer) {
			from->m_key_turn = 0;
			agent_m_key_worked(port_agent(from->peer), request->m_key);
		}
	}
	probe_landed(discover);
}

static void probe(struct discover *discover, struct port *from, bool second_look)
{
	struct probe *p = mem_zalloc(sizeof(*p));
	const struct agent *agent = slow_agent(from);

	p->once = (is_partial(discover) && from->silent) || port_node_is_silent(from->peer);
	p->silent = p->once;
	list_push(&discover->probes, &p->link);
	p->discover = discover;
	p->from = from;
	p->second_look = second_look;
	window_target_init(&p->target, discover->window, 1, probe_route);
	p->target.key = probe_key;
	p->target.gate = &discover->unknown;
	p->target.patience_ms = agent ? agent->target.patience_ms : from->patience_ms;
	p->slow = agent ? agent->port->node->guid : 0;
	kin_join(p);
	discover->pending++;
	discover->silent += p->silent;
	discover->once += p->once;
	if (rival(p, false))
		p->waits = true;
	else
		probe_send(p);
}

/* Visits: everything about one node, once in a pass */

/* A neighbour that is known already was reached over a cable that bounced: besides that port only
 * what its SwitchInfo tells is new. It is asked for once, the port for each cable. */
static bool is_known_neighbour(const struct discover *discover, const struct port *arrival)
{
	return is_partial(discover) && arrival->num && port_facts(arrival)->known &&
	       port_facts(&arrival->node->port[0])->known;
}

static void visit(struct discover *discover, struct node *node, struct port *arrival)
{
	if (node->type == NODE_SWITCH) {
		bool known = is_known_neighbour(discover, arrival);

		if (known && arrival->read_pass != discover->pass) {
			arrival->read_pass = discover->pass;
			ask_port_info(discover, arrival);
		}
		if (node->pass == discover->pass)
			return;
		node->pass = discover->pass;
		arrival = &node->port[0];
		discover_get(discover, arrival, ATTR_SWITCH_INFO, 0);
		if (known)
			return;
	} else {
		/* Each port of an adapter is an agent of its own. */
		node->pass = discover->pass;
		if (arrival->read_pass == discover->pass)
			return;
		arrival->read_pass = discover->pass;
		ask_port_info(discover, arrival);
	}
	discover_get(discover, arrival, ATTR_NODE_DESCRIPTION, 0);
}

/* Where a pass begins */

static bool local_port_route(const struct window_target *target, unsigned attempt,
			     struct smp_route *out)
{
	(void)target;
	(void)attempt;
	*out = (struct smp_route){.directed = true};
	return true;
}

static uint64_t local_key(const struct window_target *target, unsigned attempt)
{
	const struct fabric *fabric = container_of(target, struct discover, local)->fabric;
	struct m_key_list list = {0};

	if (fabric->sm_port)
		return agent_m_key(port_agent(fabric->sm_port), attempt);
	if (fabric->m_keys)
		fabric->m_keys->of_port(fabric->m_keys->ctx, fabric->own_guid, &list);
	return list.count ? list.key[attempt % list.count] : 0;
}

static void got_local(void *owner, void *subject, const struct smp_request *request,
		      const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct fabric *fabric = discover->fabric;
	struct node_info info;
	struct node *node;
	struct port *port;

	(void)subject;
	(void)request;
	attr_decode(&node_info_format, answer->data, &info);
	if (answer->error || answer->status || !info.node_guid || info.num_ports > PORT_MAX ||
	    info.local_port_num > info.num_ports) {
		discover->report.failed++;
		discover->report.no_local = true;
		log_error("our own port does not answer NodeInfo (%s, status 0x%04x)",
			  answer->error ? strerror(-answer->error) : "answered", answer->status);
		probe_landed(discover);
		return;
	}
	node = fabric_find_node(fabric, info.node_guid);
	if (node && !node_info_same_device(&node->facts->info, &info)) {
		discover_drop_node(discover, node);
		node = NULL;
	}
	if (!node)
		node = fabric_add_node(fabric, &info);
	port = &node->port[node->type == NODE_SWITCH ? 0 : info.local_port_num];
	if (node->type != NODE_SWITCH)
		give_agent(discover, port, info.port_guid);
	fabric->sm_port = port;
	visit(discover, node, port);
	probe_landed(discover);
}

static void begin_local(struct discover *discover)
{
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_NODE_INFO,
				      .done = got_local,
				      .owner = discover};

	discover->pending++;
	window_submit(&discover->local, &request);
}

static void begin_node(struct discover *discover, struct node *node)
{
	node->target_pass = discover->pass;
	if (node->type == NODE_SWITCH) {
		visit(discover, node, &node->port[0]);
		return;
	}
	for (unsigned p = 1; p <= node->num_ports; p++) {
		if (node->port[p].agent)
			visit(discover, node, &node->port[p]);
	}
}

static void begin_targeted(struct discover *discover)
{
	for (size_t i = 0; i < discover->num_targets; i++) {
		const struct discover_target *target = &discover->targets[i];
		struct node *node = fabric_find_node(discover->fabric, target->guid);
		struct port *port = map_get(&discover->fabric->ports, target->guid);

		if (node && target->what & LOOK_NODE)
			begin_node(discover, node);
		if (port && target->what & LOOK_PORT)
			ask_port_info(discover, port);
		if (port && target->what & LOOK_DESCRIPTION)
			discover_get(discover, port, ATTR_NODE_DESCRIPTION, 0);
	}
}

/* Whether a light pass reads a port, too: it did not answer when it was asked last, or its link is
 * up, and who is at the far end is not known: something was silent there, or only that end was seen
 * to go. */
static bool light_reads(const struct port *port)
{
	bool unknown_agent = port->num && port->agent && !port_facts(port)->known;
	bool unknown_end = port_of_switch(port) && !port->peer && port_state_of(port) >= PORT_INIT;

	return port->unread || unknown_agent || unknown_end;
}

/* The P_Keys of an end port are not known, so they are not written, and it may be where it should
 * not be. */
static bool lacks_pkeys(const struct port *port)
{
	return port->agent && port_facts(port)->known &&
	       (!port_facts(port)->pkeys || port->pkeys_unread) &&
	       (!port->num || port_state_of(port) >= PORT_INIT);
}

/* One that is silent is looked for from a neighbour that is not, and not from behind itself: an
 * adapter has no other way. */
static void look_for(struct discover *discover, const struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *from = node->port[i].peer;

		if (from && (port_of_switch(from) || from == discover->fabric->sm_port) &&
		    !port_node_is_silent(from) && port_state_of(from) >= PORT_INIT) {
			probe(discover, from, false);
			return;
		}
	}
}

static unsigned ask_light(void *arg, size_t *at)
{
	struct discover *discover = arg;
	struct node *node;

	discover->members = discover->fabric->members;
	node = fabric_next_node(discover->fabric, at);
	if (!node)
		return 0;
	if (node->silent) {
		look_for(discover, node);
		return node->num_ports + 1u;
	}
	if (node->type == NODE_SWITCH && node->target_pass != discover->pass)
		discover_get(discover, &node->port[0], ATTR_SWITCH_INFO, 0);
	for (unsigned i = 0; i <= node->num_ports; i++) {
		if (i && light_reads(&node->port[i]))
			ask_port_info(discover, &node->port[i]);
		else if (lacks_pkeys(&node->port[i]))
			ask_pkeys(discover, &node->port[i]);
	}
	return node->num_ports + 1u;
}

/* An answer has brought a new node, or shown that another one is gone: to ask some twice does no
 * harm. */
static bool asking_is_stale(const void *arg)
{
	const struct discover *discover = arg;

	return discover->members != discover->fabric->members;
}

static slice_fn *const asking_stages[] = {ask_light, NULL};
static const struct slice_plan asking_plan = {"light pass begins", asking_stages, asking_is_stale};

static void begin_light(struct discover *discover)
{
	if (discover->fabric->sm_port->num)
		ask_port_info(discover, discover->fabric->sm_port);
	discover->pending++;
	slices_begin(&discover->asking);
}

/* The end of a pass */

static void pass_is_over(void *arg)
{
	struct discover *discover = arg;

	discover->done(discover->done_arg);
}

static void give_up_silent(struct discover *discover)
{
	list_for_each (link, &discover->probes) {
		struct probe *p = container_of(link, struct probe, link);
		struct port *from = p->from;
		bool second_look = p->second_look;

		from->m_key_turn++;
		probe_free(p);
		take_probe(discover, from, second_look, &no_answer_at_all);
	}
}

static void discover_finish(void *arg)
{
	struct discover *discover = arg;

	if (!only_silence(discover) || discover->finished)
		return;
	if (discover->once && !discover->hurried)
		return;
	if (discover->silent && !loss_is_rare(discover))
		return; /* until the last attempt */
	if (discover->at_mute && !discover->awaited &&
	    discover->topology_before == discover->fabric->topology)
		return;
	give_up_mute(discover);
	give_up_silent(discover);
	if (discover->num_claims) {
		look_at_claims(discover);
		return;
	}
	discover->finished = true;
	discover->num_targets = 0;
	if (discover->report.no_local || fabric_is_cut_off(discover->fabric))
		pass_is_over(discover);
	else
		slices_begin(&discover->tidying);
}

void discover_start(struct discover *discover, enum discover_kind kind, bool may_write,
		    loop_fn *done, void *arg)
{
	discover->kind = discover->fabric->sm_port ? kind : DISCOVER_HEAVY;
	discover->may_write = may_write;
	discover->done = done;
	discover->done_arg = arg;
	discover->pass++;
	if (discover->kind == DISCOVER_HEAVY)
		discover->fabric->trusted_pass = discover->pass;
	discover->report = (struct discover_report){0};
	discover->finished = false;
	discover->hurried = discover->kind == DISCOVER_TARGETED;
	discover->awaited = false;
	discover->topology_before = discover->fabric->topology;
	discover->recovered_before = window_stats(discover->window)->recovered;
	discover->completed_before = window_stats(discover->window)->completed;
	discover->num_claims = 0;
	discover->pending = 1; /* held until all that begins the pass was asked */
	switch (discover->kind) {
	case DISCOVER_HEAVY:
		begin_local(discover);
		break;
	case DISCOVER_LIGHT:
		begin_targeted(discover);
		begin_light(discover);
		break;
	case DISCOVER_TARGETED:
		begin_targeted(discover);
		break;
	}
	probe_landed(discover);
}

void discover_add(struct discover *discover, guid_t guid, uint8_t what)
{
	discover->targets = mem_resize(discover->targets, discover->num_targets + 1,
				       sizeof(*discover->targets));
	discover->targets[discover->num_targets++] =
		(struct discover_target){.guid = guid, .what = what};
}

void discover_hurry(struct discover *discover)
{
	discover->hurried = discover->awaited = true;
	loop_defer(&discover->finish);
}

const struct discover_report *discover_report(const struct discover *discover)
{
	return &discover->report;
}

const struct discover_anomalies *discover_anomalies(const struct discover *discover)
{
	return &discover->anomalies;
}

struct discover *discover_new(struct loop *loop, struct window *window, struct fabric *fabric,
			      const struct sm_options *options)
{
	static const struct log_limit limit = {.burst = 10, .interval_us = 1000000};
	struct discover *discover = mem_zalloc(sizeof(*discover));

	discover->loop = loop;
	discover->window = window;
	discover->fabric = fabric;
	discover->options = options;
	discover->finished = true;
	discover->duplicate_limit = discover->silent_limit = discover->odd_limit = limit;
	list_init(&discover->probes);
	list_init(&discover->mute);
	map_init(&discover->slow);
	window_gate_init(&discover->unknown, PROBES_ON_WIRE);
	window_target_init(&discover->local, window, 1, local_port_route);
	discover->local.key = local_key;
	loop_deferred_init(&discover->finish, loop, "end of discovery", discover_finish, discover);
	slices_init(&discover->asking, loop, &asking_plan, discover, probe_landed, discover);
	slices_init(&discover->tidying, loop, &discover_tidying, discover, pass_is_over, discover);
	return discover;
}

void discover_free(struct discover *discover)
{
	if (!discover)
		return;
	list_for_each (link, &discover->probes)
		probe_free(container_of(link, struct probe, link));
	window_target_done(&discover->local);
	loop_defer_cancel(&discover->finish);
	slices_cancel(&discover->asking);
	slices_cancel(&discover->tidying);
	map_done(&discover->slow);
	free(discover->lost);
	free(discover->targets);
	free(discover->claims);
	free(discover);
}
