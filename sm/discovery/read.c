/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads of nodes, once in a pass. Each answer determines the next read: SwitchInfo of a switch,
 * then PortInfo of its ports, then a probe of each cable that this pass has not seen yet.
 */
#include "sm/discovery/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"

enum {
	PKEYS_MAX = 4096,      /* most P_Key blocks that are read from a port */
	EXT_INFO_ATTEMPTS = 3, /* of a vendor attribute; the pass does not wait for it */
};

typedef void answer_fn(struct discover *discover, struct port *port,
		       const struct smp_request *request, const uint8_t *data);

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

/* A table with a missing block counts as unknown, and the SA derives no membership from it. But
 * if the whole table was read before and the link stayed up, a lost answer is no sign of a change:
 * the known table is kept and read again. */
static void no_pkeys(struct discover *discover, struct port *port, const struct smp_answer *answer)
{
	const struct pkey_list *list = port_facts(port)->pkeys;

	if (answer->error == -ETIMEDOUT && list &&
	    list->count >= pkey_blocks(port) * PKEY_BLOCK_KEYS)
		port->discovery.pkeys_unread = true;
	else
		port_set_pkeys(discover->fabric, port, NULL);
}

/* One row for each attribute, so that a request needs only its attribute. */
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

/* Whether the request is about the state of links or of the switch. */
static bool is_state(const struct smp_request *request)
{
	return request->attr_id == ATTR_PORT_INFO || request->attr_id == ATTR_SWITCH_INFO;
}

/* The answer came from another device than the port's. A heavy pass finds where the cables lead. */
static void another_answered(struct discover *discover, struct port *port,
			     const struct smp_request *request)
{
	struct log_subject subject = port_subject(port, NULL);

	port->discovery.unread |= is_state(request);
	discover->report.failed++;
	discover->report.want_heavy = true;
	log_limited(&discover->odd_limit, LOG_NOTICE, &subject,
		    "\"%s\": another node answers on its route: reading the fabric again",
		    port->node->facts->description);
}

static void take_answer(struct discover *discover, struct port *port,
			const struct smp_request *request, const struct smp_answer *answer)
{
	bool gone = answer->error == -ECANCELED && !discover->dropping;

	if (answer->error == -EHOSTUNREACH && !node_any_cabled(port->node))
		return; /* dropped at the end of the pass */
	if (!answer->error)
		discover_agent_answered(discover, port_agent(port));
	if (!answer->error && !answer->status) {
		port->node->silent = false;
		for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
			if (answers[i].attr_id == request->attr_id)
				answers[i].got(discover, port, request, answer->data);
		}
		return;
	}
	no_answer(discover, port, request, answer);
	port->discovery.unread |= !gone && is_state(request);
	if (request->attr_id == ATTR_PKEY_TABLE && !gone)
		no_pkeys(discover, port, answer);
	if (request->method == METHOD_SET && answer->error != -ECANCELED)
		discover_get_port_info(discover, port); /* an uncleared change also counts */
	else if (discover->kind == DISCOVER_LIGHT && request->attr_id == ATTR_SWITCH_INFO &&
		 !port->node->silent && !discover->dropping)
		discover->report.want_heavy = true;
}

static bool is_tree_route(const struct discover *discover, const struct port *port,
			  const struct route_path *path)
{
	struct route_path tree;

	return port_route(discover->fabric, port_agent(port)->port, &tree) &&
	       tree.hops == path->hops && !memcmp(&tree.port[1], &path->port[1], path->hops);
}

/* After a lost read the tree's route is doubtful, too: the link may have been down, and lead to
 * another device now. */
static bool is_doubtful(const struct discover *discover, const struct port *port,
			const struct route_path *path)
{
	return fabric_way_is_doubtful(discover->fabric, path, port->node) ||
	       (port_agent(port)->route_lost && is_tree_route(discover, port, path));
}

/* An answer over a doubtful route, until NodeInfo over the same route has confirmed the device. */
struct unconfirmed {
	struct port *port;
	struct smp_request request;
	struct smp_answer answer;
};

static void confirmed(void *owner, void *subject, const struct smp_request *request,
		      const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct unconfirmed *held = subject;
	struct port *port = held->port;
	struct agent *agent = port_agent(port);
	struct node_info info;

	discover_returned(discover, agent);
	attr_decode(&node_info_format, answer->data, &info);
	if (answer->error || answer->status)
		held->answer.error = answer->error ? answer->error : -ETIMEDOUT;
	if (held->answer.error) {
		take_answer(discover, port, &held->request, &held->answer);
	} else if (info.port_guid == port_facts(agent->port)->guid) {
		agent->route_lost &= !is_tree_route(discover, port, &request->route.path);
		take_answer(discover, port, &held->request, &held->answer);
	} else {
		another_answered(discover, port, &held->request);
	}
	free(held);
	discover_landed(discover);
}

static void confirmed_late(void *owner, void *subject, unsigned attempt)
{
	const struct unconfirmed *held = subject;

	discover_asked_again(owner, held->port, attempt);
}

static void confirm(struct discover *discover, struct port *port, const struct smp_request *request,
		    const struct smp_answer *answer)
{
	struct unconfirmed *held = mem_zalloc(sizeof(*held));
	struct smp_request check = {.method = METHOD_GET,
				    .attr_id = ATTR_NODE_INFO,
				    .pinned = true,
				    .route = request->route,
				    .done = confirmed,
				    .again = confirmed_late,
				    .owner = discover,
				    .subject = held};

	*held = (struct unconfirmed){port, *request, *answer};
	discover_submit(discover, port_agent(port), &check);
}

static void discover_answered(void *owner, void *subject, const struct smp_request *request,
			      const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct port *port = subject;

	discover_returned(discover, port_agent(port));
	if (!answer->error && is_doubtful(discover, port, &request->route.path))
		confirm(discover, port, request, answer);
	else
		take_answer(discover, port, request, answer);
	discover_landed(discover);
}

void discover_get(struct discover *discover, struct port *port, uint16_t attr_id, uint32_t attr_mod)
{
	struct agent *agent = port_agent(port);
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = attr_id,
				      .attr_mod = attr_mod,
				      .done = discover_answered,
				      .again = discover_asked_again,
				      .owner = discover,
				      .subject = port};

	if (agent)
		discover_submit(discover, agent, &request);
}

void discover_get_port_info(struct discover *discover, struct port *port)
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
		discover_get_port_info(discover, &node->port[i]);
}

/* By the route of the answer, because another route might lead to another switch. */
static void clear_port_state_change(struct discover *discover, struct port *port,
				    const struct smp_route *route, const struct switch_info *info)
{
	struct smp_request request = {.method = METHOD_SET,
				      .attr_id = ATTR_SWITCH_INFO,
				      .pinned = true,
				      .route = *route,
				      .done = discover_answered,
				      .again = discover_asked_again,
				      .owner = discover,
				      .subject = port};
	struct switch_info want = *info;

	want.port_state_change = 1; /* writing 1 clears it */
	format_encode(&switch_info_format, &want, request.data);
	discover_submit(discover, port->agent, &request);
}

static void probe_unverified(struct discover *discover, struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *port = &node->port[i];

		if (port->discovery.link != LINK_VERIFIED && port_cabled(port) &&
		    port->discovery.link_pass != discover->pass)
			discover_probe(discover, port, false);
	}
}

/* Whether the switch was reset, or another manager has written its LinearFDBTop. A table that was
 * right as it was read has no top that was set. */
static bool top_is_not_ours(const struct switch_state *sw, lid_t top)
{
	if (sw->lft.top_set)
		return top != sw->lft.top_set;
	return sw->lft.settled && sw->lft.want && top != sw->lft.want->top;
}

static void discover_switch_info(struct discover *discover, struct port *port,
				 const struct smp_request *request, const uint8_t *data)
{
	struct switch_info info;
	struct node *node = port->node;
	bool news = node->sw->links_changed;

	attr_decode(&switch_info_format, data, &info);
	if (top_is_not_ours(node->sw, info.linear_fdb_top))
		switch_lose_tables(node->sw);
	node_set_switch_info(discover->fabric, node, &info);
	node->sw->links_changed &= request->method != METHOD_GET;
	if (news || (info.port_state_change && port_facts(port)->known))
		node->sw->changed_pass = discover->pass;
	if (info.port_state_change)
		switch_changed(node);
	if (info.port_state_change && discover->may_write && request->method == METHOD_GET &&
	    node->sw->no_transit != NO_TRANSIT_REFUSES) {
		node->pass = discover->pass;
		clear_port_state_change(discover, port, &request->route, &info);
		return;
	}
	/* A partial pass reads a switch no further if it has no change and is no target. A
	 * change counts even from before this pass, if no manager could read it. A standby reads
	 * on, too: the bit stays set for the master. */
	if (discover_is_partial(discover) && node->target_pass != discover->pass &&
	    request->method == METHOD_GET && !info.port_state_change && !news &&
	    port_facts(port)->known && !port->discovery.unread) {
		if (discover->kind == DISCOVER_LIGHT)
			probe_unverified(discover, node);
		return;
	}
	node->pass = discover->pass;
	discover_get_port_info(discover, port);
}

static bool needs_probe(const struct discover *discover, const struct port *port)
{
	if (!port->num || port_info(port)->port_state < PORT_INIT ||
	    port->discovery.link_pass == discover->pass)
		return false;
	if (port->node->type != NODE_SWITCH && port != discover->fabric->sm_port)
		return false; /* an adapter does not forward */
	return discover->kind == DISCOVER_HEAVY ||
	       (!port->peer && port->discovery.far_end != FAR_END_DUPLICATE) ||
	       port->discovery.link != LINK_VERIFIED;
}

/* Reads the blocks in order, each after the answer for the last block, so that the list has no
 * gap. */
void discover_get_pkeys(struct discover *discover, struct port *port)
{
	if (port_facts(port)->pkeys && !port->discovery.pkeys_unread &&
	    discover->kind != DISCOVER_HEAVY)
		return;
	if (pkey_blocks(port))
		discover_get(discover, port, ATTR_PKEY_TABLE, 0);
}

/* Whether another value replaced the wanted LID. LID 0 is the sign of a reset. */
static bool was_changed(lid_t want, lid_t before, lid_t now)
{
	return want && before == want && now && now != want;
}

/* Whether a port shows that another MASTER is or was active. It may have written to any
 * device. */
static bool tells_other_master(const struct discover *discover, const struct port *port,
			       const struct port_info *info)
{
	const struct port_info *before = port_info(port);
	const struct port *sm_port = discover->fabric->sm_port;

	return discover->may_write && port->agent && sm_port &&
	       (was_changed(sm_port->lid, before->master_sm_lid, info->master_sm_lid) ||
		was_changed(port->lid, before->lid, info->lid));
}

/* The link of a port is down. The switch at the far end may be gone, or its trap may have had no
 * path. A targeted pass reads this switch, too. */
static void lost_link(struct discover *discover, struct port *port)
{
	struct port *peer = port->peer;

	port->discovery.far_end = FAR_END_SOUND;
	port->discovery.logged = false;
	port->discovery.patience_ms = 0;
	fabric_unlink(discover->fabric, port);
	if (peer && port_of_switch(peer) && discover->kind == DISCOVER_TARGETED)
		discover_visit(discover, peer->node, peer);
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

/* A switch was cut off from all other switches, perhaps for a moment. A new manager behind it
 * found no other manager then, and its trap was lost. If this is our own switch, or its neighbour,
 * all others may have been cut off. */
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
			discover_visit(discover, peer->node, peer);
	}
}

/* A failed read of ExtendedPortInfo does not make the device suspect. If the device refuses it,
 * weftd reads it again after INIT. If there is no answer, weftd reads it in the next pass. */
static void ext_info_answered(void *owner, void *subject, const struct smp_request *request,
			      const struct smp_answer *answer)
{
	struct discover *discover = owner;
	struct port *port = subject;
	struct ext_port_info ext;

	(void)request;
	discover_returned(discover, port_agent(port));
	if (!answer->error)
		discover_agent_answered(discover, port_agent(port));
	if (!answer->error && !answer->status) {
		attr_decode(&ext_port_info_format, answer->data, &ext);
		port_set_ext_info(discover->fabric, port, &ext);
	} else if (!answer->error && !status_is_busy(answer->status)) {
		port->refuses |= PORT_REFUSES_EXT_INFO;
	}
	discover_landed(discover);
}

/* Reads ExtendedPortInfo, for FDR10, from each port with a link whose device has the
 * attribute. */
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
	    (port_facts(port)->ext_known && discover_is_partial(discover)) ||
	    !node_has_ext_port_info(&port->node->facts->info) || !port_agent(port))
		return;
	discover_submit(discover, port_agent(port), &request);
}

/* No answer arrives over a link that is down: the cable was moved, and the port is of another
 * device. A device that reports this in two passes is believed. Answers of the manager's own device
 * do not pass its link. */
static bool is_impossible(const struct discover *discover, const struct port *port,
			  const struct smp_request *request, const struct port_info *info)
{
	const struct route_path *path = &request->route.path;

	return info->port_state == PORT_DOWN && port->num && !port->discovery.unread &&
	       path->hops && fabric_way_ends(discover->fabric, path) == port;
}

static void got_port_info(struct discover *discover, struct port *port,
			  const struct smp_request *request, const uint8_t *data)
{
	const struct port_info *known = port_info(port);
	bool led_on = port_state_of(port) > PORT_INIT && port_of_switch(port) && port->peer &&
		      port_of_switch(port->peer);
	/* Otherwise only this port of the switch was requested. */
	bool all = port->node->pass == discover->pass || !port_facts(port)->known ||
		   port->discovery.unread;
	struct port_info info;
	bool was_lost;

	attr_decode(&port_info_format, data, &info);
	/* The first request could not know that the port has extended speeds. Its answer is
	 * incomplete and not stored, because it would stay if the second answer is lost. */
	if (port->agent && port->num && !(request->attr_mod & PORT_INFO_EXTENDED_SPEEDS) &&
	    info.capability_mask & CAP_EXTENDED_SPEEDS) {
		discover_get(discover, port, ATTR_PORT_INFO,
			     request->attr_mod | PORT_INFO_EXTENDED_SPEEDS);
		return;
	}
	if (is_impossible(discover, port, request, &info)) {
		another_answered(discover, port, request);
		return;
	}
	if (tells_other_master(discover, port, &info)) {
		discover->report.overwritten = true;
		discover->report.want_heavy |= discover->kind != DISCOVER_HEAVY;
	}
	/* A switch that was reset has lost its LID and its tables. */
	if (port_of_switch(port) && !port->num && port->lid && known->lid == port->lid &&
	    (info.lid != known->lid || info.master_sm_lid != known->master_sm_lid))
		switch_lose_tables(port->node->sw);
	/* Port 0 does not pass INIT. Its lost LID shows that its P_Keys are lost, too. */
	if (port_of_switch(port) && !port->num && port->lid && info.lid != port->lid)
		port_set_pkeys(discover->fabric, port, NULL);
	was_lost = port->discovery.link == LINK_LOST;
	port_set_info(discover->fabric, port, &info);
	port->discovery.read_pass = discover->pass;
	port->discovery.unread = false;
	/* If the link was lost since the last read, the cable may have been moved after this pass
	 * found it. */
	if (port->discovery.link == LINK_LOST && !was_lost && port_of_switch(port))
		port->discovery.link_pass = 0;
	if (port->discovery.link_pass == discover->pass)
		port->discovery.link = LINK_VERIFIED;
	if (port->agent)
		discover_get_pkeys(discover, port);
	ask_ext_info(discover, port);
	if (port->node->type == NODE_SWITCH && !port->num) {
		if (all)
			ask_ports(discover, port->node);
		return;
	}
	if (info.port_state == PORT_DOWN) {
		lost_link(discover, port);
	} else if (needs_probe(discover, port)) {
		discover_probe(discover, port, false);
	}
	if (discover_is_partial(discover) && led_on && info.port_state <= PORT_INIT &&
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
		return; /* the port passed INIT since then: its table is read from block 0 */
	port_set_pkey_block(discover->fabric, port, block, &table);
	if (block + 1 < pkey_blocks(port))
		discover_get(discover, port, ATTR_PKEY_TABLE, block + 1);
	else
		port->discovery.pkeys_unread = false;
}

/* Visits: everything about one node, once in a pass */

/* Whether a known neighbour was reached over a cable that bounced. Then only that port and
 * SwitchInfo can be new: SwitchInfo is read once, and the port for each cable. */
static bool is_known_neighbour(const struct discover *discover, const struct port *arrival)
{
	return discover_is_partial(discover) && arrival->num && port_facts(arrival)->known &&
	       port_facts(&arrival->node->port[0])->known;
}

void discover_visit(struct discover *discover, struct node *node, struct port *arrival)
{
	if (node->type == NODE_SWITCH) {
		bool known = is_known_neighbour(discover, arrival);

		if (known && arrival->discovery.read_pass != discover->pass) {
			arrival->discovery.read_pass = discover->pass;
			discover_get_port_info(discover, arrival);
		}
		if (node->pass == discover->pass)
			return;
		node->pass = discover->pass;
		arrival = &node->port[0];
		discover_get(discover, arrival, ATTR_SWITCH_INFO, 0);
		if (known)
			return;
	} else {
		/* Each port of an adapter has its own agent. */
		node->pass = discover->pass;
		if (arrival->discovery.read_pass == discover->pass)
			return;
		arrival->discovery.read_pass = discover->pass;
		discover_get_port_info(discover, arrival);
	}
	discover_get(discover, arrival, ATTR_NODE_DESCRIPTION, 0);
}
