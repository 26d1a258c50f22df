/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The Sets of a port: PortInfo, alias GUIDs and FDR10, in this order, and P_Keys in their turn
 * (pkeys.c). The next Set() follows from the state of the port and of the far end of its cable,
 * never from a stored step. So a port can be processed again whenever a neighbour changed.
 */
#include "sm/program/parts.h"

#include <errno.h>
#include <stdio.h>

#include "fabric/lid.h"
#include "fabric/subject.h"
#include "include/message_id.h"
#include "sm/partition/partitions.h"
#include "sm/program/guids.h"
#include "sm/program/want.h"

/* state_reads: reads of a state that lags behind the answer to its Set(). */
enum { STATE_READS = 8, STATE_REFUSED = UINT8_MAX };

/* Gates: conditions for a Set() of a port or a table */

/* The first switch on the route from node to lid whose table is not acknowledged, or that has no
 * route. */
static struct node *unsettled_on_way(struct node *node, lid_t lid)
{
	for (unsigned hops = 0; hops <= HOPS_MAX; hops++) {
		uint8_t out = lft_port(node->sw->lft.want, lid);

		if (!node->sw->lft.settled)
			return node;
		if (!out)
			return NULL;
		if (out > node->num_ports || !node->port[out].peer)
			return node;
		if (!port_of_switch(node->port[out].peer))
			return NULL;
		node = node->port[out].peer->node;
	}
	return node;
}

/* For a cable between a switch and an end port: the tables on the routes between it and us. */
static struct node *blocker(const struct fabric *fabric, const struct port *port)
{
	const struct port *end = port_of_switch(port) ? port->peer : port;
	const struct port *sm = fabric->sm_port;
	struct node *node;

	if (port_of_switch(end) || !port_of_switch(end->peer))
		return NULL; /* between two switches, or between two adapters */
	node = unsettled_on_way(end->peer->node, sm->lid);
	if (!node && port_of_switch(sm))
		node = unsettled_on_way(sm->node, end->lid);
	else if (!node && sm->peer && port_of_switch(sm->peer))
		node = unsettled_on_way(sm->peer->node, end->lid);
	return node;
}

static bool may_go_active(struct program *program, struct port *port)
{
	struct node *node = blocker(program->fabric, port);

	if (!node)
		return true;
	list_del(&port->program.waiting);
	list_push(&node->sw->waits.ports, &port->program.waiting);
	return false;
}

/* Whether a cable between switches must not pass packets yet. It is not ARMED either: see
 * order_may_pass(). */
static bool waits_for_tables(struct program *program, struct port *port)
{
	struct node *node = NULL;

	if (port_state_of(port) == PORT_ACTIVE || !port_of_switch(port) || !port_cabled(port) ||
	    !port_of_switch(port->peer))
		return false;
	if (!verify_switch(program, port->node))
		node = port->node;
	else if (!verify_switch(program, port->peer->node))
		node = port->peer->node;
	else if (order_matters(program))
		node = order_cable_blocker(port);
	if (!node)
		node = mft_cable_blocker(program, port);
	if (!node)
		return false;
	list_del(&port->program.waiting);
	list_push(&node->sw->waits.cables, &port->program.waiting);
	/* The agent is just being queried for its next request, and must not be woken in that
	 * call. */
	if (node->sw->verify.due && node != port->node)
		window_wake(&node->port[0].agent->target);
	return true;
}

/* Answers */

/* A cable between switches that does not come up is not used by routes. Each sweep tries it
 * again, and routes change when it is ACTIVE. */
static void note_no_bringup(struct program *program, struct port *port)
{
	if (port->program.no_bringup || !port_of_switch(port) || !port->peer ||
	    !port_of_switch(port->peer) || port_state_of(port) == PORT_ACTIVE)
		return;
	port->program.no_bringup = true;
	program->fabric->topology++;
}

static void port_failed(struct program *program, struct port *port, const char *what)
{
	struct log_subject subject = port_subject(port, MESSAGE_NOT_ACTIVE);

	port->program.failed = true;
	program_new_epoch(program); /* it may be another port by now, or the state fell back */
	note_no_bringup(program, port);
	program->report.failed++;
	if (!program_is_logged(program, &port->program.failure, what))
		log_about(LOG_WARNING, &subject, "\"%s\" port %u: %s",
			  port->node->facts->description, port->num, what);
}

/* Between runs the other end of its cable does not wait for a port. */
static void program_look_again(struct program *program, struct port *port)
{
	program_look_at(program, port);
	if (!program->done)
		return;
	if (port_of_switch(port))
		switch_wake_waiters(program, port->node);
	if (port->peer)
		program_look_at(program, port->peer);
	if (port->peer && port_of_switch(port->peer))
		switch_wake_waiters(program, port->peer->node);
}

static const char *state_name(uint8_t state)
{
	static const char *const names[] = {"no change", "Down", "Init", "Armed", "Active"};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

/* The answer to a Set() of PortState need not show the new state, so the state is read before the
 * port counts as failed. Linux's driver qib answers with the state of the last interrupt, and
 * ignores a transition that takes more than 10 ms (qib_mad.c, subn_set_portinfo(); qib_driver.c,
 * qib_set_linkstate()). OpenSM continues to ACTIVE after any answer to ARMED (osm_state_mgr.c,
 * do_sweep()). A port that refused a state may have it already: the answer to the last Set() was
 * lost, or the first packet of its neighbour made it ACTIVE. Some devices refuse a transition to
 * their present state. The state is read once. */
static void note_state_read(struct program *program, struct port *port, uint8_t before)
{
	uint8_t now = port_state_of(port);
	bool refused = port->program.state_reads == STATE_REFUSED;
	bool runs = program->done && !program->stopped;
	char text[64];

	port->program.armed |= before == PORT_INIT && now == PORT_ARMED;
	if (now == before && now < port->program.asked_state && !refused &&
	    port->program.state_reads && runs) {
		port->program.state_reads--;
		list_push(&program->lagging, &port->program.waiting);
		return;
	}
	snprintf(text, sizeof(text), "state is still %s after a request for %s", state_name(now),
		 state_name(port->program.asked_state));
	if (now < port->program.asked_state && (refused || runs))
		port_failed(program, port, refused ? "request to change its state refused" : text);
	port->program.asked_state = 0;
	program_look_again(program, port);
}

static void state_was_read(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	uint8_t before = port_state_of(port);
	struct port_info info;

	(void)request;
	port->program.busy = false;
	if (answer->error == -ECANCELED) {
		port->program.asked_state = 0;
		return;
	}
	if (!answer->error && !answer->status) {
		attr_decode(&port_info_format, answer->data, &info);
		port_set_info(program->fabric, port, &info);
	} else if (port->program.state_reads != STATE_REFUSED) {
		port->program.state_reads = 0;
	}
	note_state_read(program, port, before);
}

static void read_state(struct program *program, struct port *port)
{
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_PORT_INFO,
				      .attr_mod = port_info_modifier(port),
				      .done = state_was_read,
				      .owner = program,
				      .subject = port};

	port->program.busy = true;
	window_submit(&port_agent(port)->target, &request);
}

static void await_state(struct program *program, struct port *port, uint8_t asked, uint8_t reads)
{
	list_del(&port->program.waiting);
	port->program.asked_state = asked;
	port->program.state_reads = reads;
	read_state(program, port);
}

void ports_read_lagging(struct program *program)
{
	struct list *link;

	while ((link = list_pop(&program->lagging)))
		read_state(program, container_of(link, struct port, program.waiting));
}

void ports_forget_lagging(struct program *program)
{
	struct list *link;

	while ((link = list_pop(&program->lagging)))
		container_of(link, struct port, program.waiting)->program.asked_state = 0;
}

/* Sends the Set() without the forced values, until the port passes INIT again. OpenSM also omits
 * them in the Set() that brings a link up: osm_link_mgr.c, link_mgr_set_physp_pi(). */
static void leave_out_forced(struct program *program, struct port *port)
{
	struct log_subject subject = port_subject(port, NULL);

	port->refuses |= PORT_REFUSES_FORCED;
	log_limited(&program->limit, LOG_WARNING, &subject,
		    "\"%s\" port %u refused a Set(PortInfo) with a forced width or speed: "
		    "sending it without them",
		    port->node->facts->description, port->num);
}

static void port_refused(struct program *program, struct port *port, const struct port_info *want,
			 uint16_t status)
{
	char text[64];

	program_note_refusal(program, port);
	if (port->agent)
		agent_m_key_refused(port->agent);
	if (want_is_forced(want) && status == STATUS_INVALID_VALUE) {
		leave_out_forced(program, port);
		return;
	}
	if (want->port_state && port->num && status == STATUS_INVALID_VALUE) {
		await_state(program, port, want->port_state, STATE_REFUSED);
		return;
	}
	if (want->port_state && !port->num) {
		port->node->sw->port0_is_stateless = true; /* send the rest without a state */
		return;
	}
	/* The state may not have been possible now, and a busy device may accept it later. */
	if (!status_is_busy(status) && !want->port_state)
		port_note_echo(port, want, port_info(port));
	snprintf(text, sizeof(text), "Set(PortInfo) refused with status 0x%04x", status);
	port_failed(program, port, text);
}

/* Both ends restart in INIT, the far end without a trap: the next sweep reads them and brings
 * the link up. */
static void link_was_restarted(struct program *program, struct port *port)
{
	struct log_subject subject = port_subject(port, NULL);

	port->program.failed = true;
	program_new_epoch(program);
	program->report.not_as_read = true;
	log_limited(
		&program->limit, LOG_NOTICE, &subject,
		"\"%s\" port %u: link restarted to change its MTU or VLs before it carries data",
		port->node->facts->description, port->num);
}

static void port_took(struct program *program, struct port *port, const struct port_info *want,
		      const struct port_info *held)
{
	if (want->port_state <= PORT_DOWN && port->num)
		program_note_state(program, port, held->port_state);
	port_set_info(program->fabric, port, held);
	if (port->agent)
		agent_m_key_taken(port->agent, want->m_key, held);
	port->program.armed |= want->port_state == PORT_ARMED;
	port_note_echo(port, want, held);
	if (port->program.echo)
		program_note_refusal(program, port);
	if (want->port_state == PORT_DOWN)
		link_was_restarted(program, port);
	else if (want->port_state && held->port_state < want->port_state)
		await_state(program, port, want->port_state, STATE_READS);
	else if (port_differs(port, want))
		port_failed(program, port,
			    "Set(PortInfo) answered with another LID or MasterSMLID");
	else if (port_state_of(port) == PORT_ACTIVE)
		port->program.failure = 0;
}

/* Whether an unanswered Set() of a port is repeated: not if the fabric must be read again, nor,
 * if it opens a cable between switches, after a change. Then the switches are verified first. */
static bool may_repeat(void *owner, void *subject)
{
	const struct program *program = owner;
	const struct port *port = subject;
	bool opens = port_cabled(port) && port_of_switch(port) && port_of_switch(port->peer) &&
		     port_state_of(port) < PORT_ACTIVE;

	return !program->stopped &&
	       (!opens || (port->node->sw->verify.epoch == program->epoch &&
			   port->peer->node->sw->verify.epoch == program->epoch));
}

static void port_was_set(void *owner, void *subject, const struct smp_request *request,
			 const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct port_info want, held;
	bool later;

	port->program.busy = false;
	if (answer->error == -ECANCELED)
		return;
	attr_decode(&port_info_format, request->data, &want);
	attr_decode(&port_info_format, answer->data, &held);
	if (!answer->error && want.client_reregister)
		port->rereg_epoch = program->fabric->rereg_epoch;
	later = answer->error == -ETIMEDOUT && !program->stopped && !may_repeat(program, port);
	if (port_of_switch(port) && !later)
		refused_port_set(port->node, answer->error);
	if (later)
		; /* after its switch has been verified */
	else if (answer->error && want.port_state == PORT_DOWN)
		link_was_restarted(program, port); /* the answer may be lost with the link */
	else if (answer->error)
		port_failed(program, port,
			    m_key_is_hidden(port_info(port))
				    ? "no answer to Set(PortInfo): unknown M_Key of another manager"
				    : "no answer to Set(PortInfo)");
	else if (answer->status)
		port_refused(program, port, &want, answer->status);
	else
		port_took(program, port, &want, &held);
	program_look_again(program, port);
}

/* A port that got Set(Disabled) but does not show it gets no second Set() before it does: some
 * devices never show it, others answer before the link is down. */
static void link_was_asked(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct port_info asked, held;

	port->program.busy = false;
	if (answer->error == -ECANCELED)
		return;
	attr_decode(&port_info_format, request->data, &asked);
	if (answer->error || answer->status) {
		port->program.keeps_link = !answer->error && !status_is_busy(answer->status) &&
					   asked.port_physical_state == PHYS_DISABLED;
		port_failed(program, port, "Set(PortInfo) to disable or enable its link failed");
		return;
	}
	attr_decode(&port_info_format, answer->data, &held);
	port->program.keeps_link = asked.port_physical_state == PHYS_DISABLED &&
				   held.port_physical_state != PHYS_DISABLED;
	port_set_info(program->fabric, port, &held);
}

/* Requests */

/* The next PortState to request: both ends ARMED before either goes ACTIVE. */
static enum port_state next_state(struct program *program, struct port *port)
{
	bool alone = port_of_switch(port) && !port->num; /* a switch's port 0 has no cable */

	if (alone && (!port->node->facts->sw.enhanced_port0 || port->node->sw->port0_is_stateless))
		return PORT_NO_CHANGE;
	if (!alone && !port_cabled(port))
		return PORT_NO_CHANGE;
	/* The cable may have been moved: the port comes up after the switch was read again. */
	if (!alone && port_of_switch(port) && port->node->sw->links_changed)
		return PORT_NO_CHANGE;
	if (port_state_of(port) == PORT_INIT)
		return PORT_ARMED;
	if (port_state_of(port) == PORT_ARMED &&
	    (alone || port_state_of(port->peer) >= PORT_ARMED) &&
	    (alone || may_go_active(program, port)))
		return PORT_ACTIVE;
	return PORT_NO_CHANGE;
}

/* Disables the link, which stays down until it is enabled again; or retries it. If this fails,
 * the requester repeats it, except for a command: its request counts as done. */
static void link_request(struct program *program, struct port *port, struct smp_request *out)
{
	struct port_info want;

	port_want(program->fabric, program->options, port, &want);
	want.port_state = PORT_DOWN;
	want.port_physical_state = port->program.link_asked;
	*out = (struct smp_request){.method = METHOD_SET,
				    .attr_id = ATTR_PORT_INFO,
				    .attr_mod = port_info_modifier(port),
				    .done = link_was_asked,
				    .owner = program,
				    .subject = port};
	format_encode(&port_info_format, &want, out->data);
	port->program.link_asked = 0;
	port->program.busy = true;
}

/* Port 0 of a switch has no link, and accepts Sets in each state. OpenSM does not check its
 * state either (osm_lid_mgr.c, lid_mgr_set_physp_pi()). */
bool ports_take_sets(const struct port *port)
{
	bool port0 = port_of_switch(port) && !port->num;

	return port0 ? port_facts(port)->known : port_state_of(port) >= PORT_INIT;
}

bool ports_left_alone(const struct fabric *fabric, const struct port *port)
{
	return !lid_fits_switch(fabric, port->node) ||
	       (port->peer && !lid_fits_switch(fabric, port->peer->node));
}

static void guids_set(void *owner, void *subject, const struct smp_request *request,
		      const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct guid_info want, held;

	port->program.busy = false;
	if (answer->error == -ECANCELED)
		return;
	/* Its link is not suspect: the next sweep retries. */
	if (answer->error || status_is_busy(answer->status)) {
		program->report.failed++;
		return;
	}
	attr_decode(&guid_info_format, request->data, &want);
	attr_decode(&guid_info_format, answer->data, &held);
	if (answer->status)
		port->refuses |= PORT_REFUSES_SET_GUIDS;
	else
		guids_were_set(program->guids, port, request->attr_mod, &want, &held);
	if (port->refuses & PORT_REFUSES_SET_GUIDS)
		program_note_refusal(program, port);
	program_look_at(program, port);
}

/* Sent last, and only to a port that is up. */
static bool guids_request(struct program *program, struct port *port, struct smp_request *out)
{
	struct guid_info want;
	unsigned block;

	if (!program->guids || port_state_of(port) < PORT_ARMED ||
	    !guids_differ(program->guids, port, &block, &want))
		return false;
	*out = (struct smp_request){.method = METHOD_SET,
				    .attr_id = ATTR_GUID_INFO,
				    .attr_mod = block,
				    .may_repeat = may_repeat,
				    .done = guids_set,
				    .owner = program,
				    .subject = port};
	format_encode(&guid_info_format, &want, out->data);
	port->program.busy = true;
	return true;
}

static void set_request(struct program *program, struct port *port, const struct port_info *want,
			struct smp_request *out)
{
	*out = (struct smp_request){.method = METHOD_SET,
				    .attr_id = ATTR_PORT_INFO,
				    .attr_mod = port_info_modifier(port),
				    .way = port_of_switch(port) ? port->node->sw->verify.way : 0,
				    .may_repeat = may_repeat,
				    .done = port_was_set,
				    .owner = program,
				    .subject = port};
	format_encode(&port_info_format, want, out->data);
	if (port->agent)
		agent_m_key_changes(port->agent, want->m_key);
	port->program.busy = true;
}

/* Down if the link must restart; otherwise the next state. */
static enum port_state asked_state(struct program *program, struct port *port,
				   struct port_info *want)
{
	if (!port_link_restarts(program->fabric, program->options, port, want))
		return next_state(program, port);
	port->program.restarted = true;
	return PORT_DOWN;
}

/* A Set() for a port of a switch that arrives at an adapter writes the port of the adapter,
 * because modifier 0 means this port (14.2.5.6). So after a change, the ports are not written
 * before the switch has been verified. */
static bool asks_first(const struct program *program, const struct port *port)
{
	const struct switch_state *sw = port->node->sw;

	return sw && !sw->failed && sw->verify.epoch != program->epoch &&
	       (program->epoch != program->sweep_epoch ||
		!fabric_way_is_seen(program->fabric, port->node));
}

bool ports_request(struct program *program, struct port *port, struct smp_request *out)
{
	bool end = port->agent != NULL;
	struct port_info want;
	enum port_state state;
	struct route_path path;
	enum pkeys_state pkeys;

	if (port->program.link_asked && !port->program.busy) {
		link_request(program, port, out);
		return true;
	}
	if ((port_held(port) || port_drained(port)) && port_state_of(port) < PORT_ACTIVE)
		return false;
	if (port->program.busy || port->program.asked_state || port->program.failed ||
	    !ports_take_sets(port) || ports_left_alone(program->fabric, port))
		return false;
	if (port_of_switch(port) &&
	    (refused_rests(program, port->node) || refused_is_mute(port->node)))
		return false;
	if (end && !port_route(program->fabric, port, &path))
		return false; /* the other port of an adapter that is still present */
	if (end ? !port->lid : !port->peer || (port->peer->agent && !port->peer->lid))
		return false;
	if (waits_for_tables(program, port))
		return false;
	pkeys = program_pkeys(program, port, out);
	if (pkeys == PKEYS_REQUEST)
		return true;
	/* A host gets no access before its P_Keys are known. The local port must not wait for
	 * its switch, which cannot be read before the port has its LID. */
	if (pkeys == PKEYS_WAIT && port_state_of(port) == PORT_INIT &&
	    port != program->fabric->sm_port)
		return false;
	port_want(program->fabric, program->options, port, &want);
	if (reregister_is_due(program, port, &want) && !reregister_may_send(program, port, &want)) {
		if (!reregister_knows_us(port, &want))
			return false; /* one Set() does both */
		want.client_reregister = 0;
	}
	state = asked_state(program, port, &want);
	if (state == PORT_NO_CHANGE && !port_differs(port, &want) &&
	    !reregister_is_due(program, port, &want))
		return fdr10_request(program, port, out) || guids_request(program, port, out);
	if (asks_first(program, port))
		return verify_request(program, port->node, out);
	want.port_state = state;
	set_request(program, port, &want, out);
	return true;
}

static bool enforces_otherwise(const struct port *port, const struct port_info *want)
{
	const struct port_info *have = port_info(port);

	return (want->partition_enforcement_inbound != have->partition_enforcement_inbound ||
		want->partition_enforcement_outbound != have->partition_enforcement_outbound) &&
	       port_differs(port, want);
}

bool ports_request_between_runs(struct program *program, struct port *port, struct smp_request *out)
{
	const struct port_info *have = port_info(port);
	struct port_info want;

	if (!program->policy || !program->policy->live || program->stopped ||
	    !ports_take_sets(port) || port->node->silent)
		return false;
	switch (program_pkeys(program, port, out)) {
	case PKEYS_REQUEST:
		return true;
	case PKEYS_GOOD:
		break;
	default:
		return false;
	}
	if (port->program.busy || port->program.failed ||
	    (port->num && have->port_state != PORT_ACTIVE) ||
	    (port_of_switch(port) && refused_rests(program, port->node)))
		return false;
	port_want(program->fabric, program->options, port, &want);
	if (port->agent ? !reregister_is_due(program, port, &want) ||
				  !reregister_may_send(program, port, &want)
			: !enforces_otherwise(port, &want))
		return false;
	set_request(program, port, &want, out);
	return true;
}

/* Walks over all ports */

void ports_warn_of_mismatch(struct program *program, const struct port *port)
{
	struct log_subject subject = port_subject(port, NULL);
	uint8_t mtu, vls;

	if (port_link_mismatch(program->options, port, &mtu, &vls))
		log_limited(&program->limit, LOG_NOTICE, &subject,
			    "\"%s\" port %u runs with MTU %u and %u VLs, both ends support %u and "
			    "%u: not changed, because a change takes the link down",
			    port->node->facts->description, port->num,
			    mtu_bytes(port_info(port)->neighbor_mtu),
			    vls_of(port_info(port)->operational_vls), mtu_bytes(mtu), vls_of(vls));
}

bool ports_is_good(const struct program *program, struct port *port)
{
	struct port_info want;
	unsigned block;

	if (!port->num || port_state_of(port) != PORT_ACTIVE || port->program.link_asked ||
	    !program_pkeys_good(program, port))
		return false;
	port_want(program->fabric, program->options, port, &want);
	return !port_differs(port, &want) && !reregister_is_due(program, port, &want) &&
	       !fdr10_differs(program, port) &&
	       !(program->guids &&
		 guids_differ(program->guids, port, &block, &(struct guid_info){0}));
}
