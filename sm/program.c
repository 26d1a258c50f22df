/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The next thing to write to a port follows from what it has and from the far end of its cable,
 * never from a step that was noted down: so a port can be looked at again whenever something near
 * it changed. Ports to look at stand in the list of their agent; the window asks an agent for its
 * next request when it has room (window_target.next), ports first, then the switch's own table.
 */
#include "sm/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "sm/want.h"

struct program {
	struct loop *loop;
	struct window *window;
	struct fabric *fabric;
	const struct sm_options *options;
	bool announcing; /* ports that wait for the SA are let through */
	loop_fn *done;
	void *done_arg;
	struct program_report report;
	uint64_t refused_values;
	struct log_limit limit;
};

static bool next_request(void *owner, struct window_target *target, struct smp_request *out);

static struct log_subject about(const struct port *port)
{
	return (struct log_subject){.node_guid = port->node->guid,
				    .node_desc = port->node->facts->description,
				    .port = port->num,
				    .lid = port->lid};
}

static bool is_switch(const struct port *port)
{
	return port->node->type == NODE_SWITCH;
}

static uint8_t state_of(const struct port *port)
{
	return port_facts(port)->known ? port_info(port)->port_state : PORT_DOWN;
}

static bool cabled(const struct port *port)
{
	return port->peer && state_of(port) >= PORT_INIT && state_of(port->peer) >= PORT_INIT;
}

static void look_at(struct program *program, struct port *port)
{
	struct agent *agent = port_agent(port);

	if (!agent)
		return;
	agent->target.next = next_request;
	agent->target.next_owner = program;
	if (list_empty(&port->todo))
		list_push(&agent->todo, &port->todo);
	window_wake(&agent->target);
}

/* Gates: what a port or a table waits for */

/* The first switch on the programmed way from node to lid whose table is not yet acknowledged. */
static struct node *unsettled_on_way(struct node *node, lid_t lid)
{
	for (unsigned hops = 0; node && node->type == NODE_SWITCH && hops <= HOPS_MAX; hops++) {
		uint8_t out = lft_port(node->sw->want, lid);

		if (!node->sw->settled)
			return node;
		if (!out || out > node->num_ports || !node->port[out].peer)
			return NULL;
		node = node->port[out].peer->node;
	}
	return NULL;
}

/* For a cable between a switch and an end port: the tables from there to us and back. */
static struct node *blocker(const struct fabric *fabric, const struct port *port)
{
	const struct port *end = is_switch(port) ? port->peer : port;
	const struct port *sm = fabric->sm_port;
	struct node *node;

	if (is_switch(end) || !is_switch(end->peer))
		return NULL; /* between two switches, or between two adapters */
	node = unsettled_on_way(end->peer->node, sm->lid);
	if (!node && is_switch(sm))
		node = unsettled_on_way(sm->node, end->lid);
	else if (!node && sm->peer && is_switch(sm->peer))
		node = unsettled_on_way(sm->peer->node, end->lid);
	return node;
}

static bool may_go_active(struct program *program, struct port *port)
{
	struct node *node = blocker(program->fabric, port);

	if (!node)
		return true;
	list_del(&port->waiting);
	list_push(&node->sw->waiters, &port->waiting);
	return false;
}

/* Tables must not lead into cables that are not ACTIVE yet. */
static bool cables_are_up(const struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		const struct port *port = &node->port[i];

		if (cabled(port) && is_switch(port->peer) && port->peer->node != node &&
		    state_of(port) < PORT_ACTIVE && !port->failed && !port->peer->failed)
			return false;
	}
	return true;
}

static void settle(struct program *program, struct node *node)
{
	struct list *link;

	lft_have_settle(&node->sw->have);
	node->sw->settled = true;
	while ((link = list_pop(&node->sw->waiters)))
		look_at(program, container_of(link, struct port, waiting));
}

/* Ports */

static void port_failed(struct program *program, struct port *port, const char *what)
{
	struct log_subject subject = about(port);

	port->failed = true;
	program->report.failed++;
	log_limited(&program->limit, LOG_WARNING, &subject, "\"%s\" port %u: %s",
		    port->node->facts->description, port->num, what);
}

static void look_again(struct program *program, struct port *port)
{
	look_at(program, port);
	if (port->peer)
		look_at(program, port->peer);
}

static const char *state_name(uint8_t state)
{
	static const char *const names[] = {"no change", "Down", "Init", "Armed", "Active"};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static void port_was_set(void *owner, void *subject, const struct smp_request *request,
			 const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct port_info want, held;
	char text[96];

	port->busy = false;
	if (answer->error == -ECANCELED)
		return;
	attr_decode(&port_info_format, request->data, &want);
	if (answer->error) {
		port_failed(program, port, "no answer to Set(PortInfo)");
	} else if (answer->status) {
		/* Refused: it holds what it held. */
		port_note_echo(port, &want, port_info(port));
		program->refused_values++;
		snprintf(text, sizeof(text), "Set(PortInfo) refused with status 0x%04x",
			 answer->status);
		port_failed(program, port, text);
	} else {
		attr_decode(&port_info_format, answer->data, &held);
		program->report.ports_set++;
		port_set_info(program->fabric, port, &held);
		port_note_echo(port, &want, &held);
		program->refused_values += port->echo != NULL;
		if (want.port_state && held.port_state < want.port_state) {
			snprintf(text, sizeof(text), "asked to go %s, it stays %s",
				 state_name(want.port_state), state_name(held.port_state));
			port_failed(program, port, text);
		}
	}
	look_again(program, port);
}

/* The state to ask for next: both ends ARMED before either goes ACTIVE. */
static enum port_state next_state(struct program *program, struct port *port)
{
	bool alone = is_switch(port) && !port->num; /* a switch's port 0 has no cable */

	/* An enhanced port 0 that refused a state once has none to change. */
	if (alone && (!port->node->facts->sw.enhanced_port0 ||
		      (port->echo && port->echo->wanted.port_state)))
		return PORT_NO_CHANGE;
	if (!alone && !cabled(port))
		return PORT_NO_CHANGE;
	if (state_of(port) == PORT_INIT)
		return PORT_ARMED;
	if (state_of(port) == PORT_ARMED && (alone || state_of(port->peer) >= PORT_ARMED) &&
	    (alone || may_go_active(program, port)))
		return PORT_ACTIVE;
	return PORT_NO_CHANGE;
}

static bool port_request(struct program *program, struct port *port, struct smp_request *out)
{
	bool end = port->agent != NULL;
	struct port_info want;
	enum port_state state;

	if (port->busy || port->failed || state_of(port) < PORT_INIT)
		return false;
	if (end ? !port->lid : !port->peer || (port->peer->agent && !port->peer->lid))
		return false;
	port_want(program->fabric, program->options, port, &want);
	if (want.client_reregister && state_of(port) == PORT_ACTIVE && !program->announcing &&
	    port != program->fabric->sm_port)
		return false; /* program_announce() */
	state = next_state(program, port);
	if (state == PORT_NO_CHANGE && !port_differs(port, &want))
		return false;
	want.port_state = state;
	*out = (struct smp_request){.method = METHOD_SET,
				    .attr_id = ATTR_PORT_INFO,
				    .attr_mod = port->num,
				    .done = port_was_set,
				    .owner = program,
				    .subject = port};
	format_encode(&port_info_format, &want, out->data);
	port->busy = true;
	return true;
}

/* Switches */

static void switch_failed(struct program *program, struct node *node, const char *what)
{
	struct log_subject subject = {.node_guid = node->guid,
				      .node_desc = node->facts->description,
				      .port = -1,
				      .lid = node->port[0].lid};

	node->sw->failed = true;
	program->report.failed++;
	log_limited(&program->limit, LOG_WARNING, &subject, "switch \"%s\": %s",
		    node->facts->description, what);
}

/* A port that was read as down before PortStateChange was cleared may have come up since. */
static void was_down(void *owner, void *subject, const struct smp_request *request,
		     const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port_info info;

	(void)subject;
	(void)request;
	if (answer->error || answer->status)
		return;
	attr_decode(&port_info_format, answer->data, &info);
	program->report.came_up += info.port_state >= PORT_INIT;
}

static void reread_down_ports(struct program *program, struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct smp_request request = {.method = METHOD_GET,
					      .attr_id = ATTR_PORT_INFO,
					      .attr_mod = i,
					      .done = was_down,
					      .owner = program};

		if (state_of(&node->port[i]) == PORT_DOWN)
			window_submit(&node->port[0].agent->target, &request);
	}
}

static void switch_was_set(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct switch_state *sw = node->sw;
	struct switch_info want, held;

	sw->busy = false;
	if (answer->error == -ECANCELED)
		return;
	if (answer->error || answer->status) {
		switch_failed(program, node, "it did not take Set(SwitchInfo)");
		return;
	}
	attr_decode(&switch_info_format, request->data, &want);
	attr_decode(&switch_info_format, answer->data, &held);
	/* Some devices echo the 1 that cleared the bit. */
	if (want.port_state_change)
		held.port_state_change = 0;
	program->report.switches_set++;
	node_set_switch_info(program->fabric, node, &held);
	sw->top_set = held.linear_fdb_top;
	sw->life_wanted = sw->life_held = 0;
	if (held.life_time_value != want.life_time_value) {
		sw->life_wanted = want.life_time_value;
		sw->life_held = held.life_time_value;
		program->refused_values++;
	}
	if (held.linear_fdb_top != want.linear_fdb_top)
		switch_failed(program, node, "it did not take LinearFDBTop");
	if (want.port_state_change)
		reread_down_ports(program, node);
	window_wake(&node->port[0].agent->target);
}

static bool set_switch_info(struct program *program, struct node *node, lid_t top,
			    struct smp_request *out)
{
	struct switch_info want = node->facts->sw;

	want.linear_fdb_top = top;
	want.life_time_value = program->options->switch_life_time;
	*out = (struct smp_request){.method = METHOD_SET,
				    .attr_id = ATTR_SWITCH_INFO,
				    .done = switch_was_set,
				    .owner = program,
				    .subject = node};
	/* port_state_change is written as it was read: a 1 clears it, a 0 leaves it. */
	format_encode(&switch_info_format, &want, out->data);
	node->sw->busy = true;
	return true;
}

static bool life_time_differs(const struct program *program, const struct node *node)
{
	uint8_t want = program->options->switch_life_time, have = node->facts->sw.life_time_value;

	return want != have && !(node->sw->life_wanted == want && node->sw->life_held == have);
}

/* The block at a place in the order of writing: the one with the manager's LID comes last when all
 * is new, and first when a table is repaired. */
static uint16_t block_at(const struct program *program, const struct switch_state *sw,
			 uint16_t place)
{
	uint16_t sm_block = program->fabric->sm_port->lid / LFT_BLOCK_LIDS;
	bool sm_first = sw->have.base != NULL;

	if (sm_block >= sw->want->blocks)
		return place;
	if (sm_first)
		return place == 0 ? sm_block : place <= sm_block ? place - 1 : place;
	if (place == sw->want->blocks - 1)
		return sm_block;
	return place < sm_block ? place : place + 1;
}

static void block_was_set(void *owner, void *subject, const struct smp_request *request,
			  const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;

	node->sw->blocks_pending--;
	if (answer->error == -ECANCELED)
		return;
	if (answer->error || answer->status) {
		switch_failed(program, node, "it did not take a block of its forwarding table");
	} else {
		program->report.blocks_set++;
		/* Not if the row to be written has changed meanwhile. */
		if (node->sw->have.next == node->sw->want)
			lft_have_acknowledge(&node->sw->have, (uint16_t)request->attr_mod);
	}
	window_wake(&node->port[0].agent->target);
}

static bool block_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;

	while (sw->cursor < sw->want->blocks) {
		uint16_t block = block_at(program, sw, sw->cursor++);
		const uint8_t *want = lft_block(sw->want, block);
		const uint8_t *have = lft_have_block(&sw->have, block);

		if (have && memcmp(have, want, LFT_BLOCK_LIDS) == 0)
			continue;
		*out = (struct smp_request){.method = METHOD_SET,
					    .attr_id = ATTR_LINEAR_FORWARDING_TABLE,
					    .attr_mod = block,
					    .done = block_was_set,
					    .owner = program,
					    .subject = node};
		memcpy(out->data, want, LFT_BLOCK_LIDS);
		sw->blocks_pending++;
		return true;
	}
	return false;
}

static bool switch_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;
	lid_t top = node->facts->sw.linear_fdb_top;

	if (sw->busy || sw->failed || !node->port[0].lid)
		return false;
	if (sw->want && sw->want->top < top)
		return set_switch_info(program, node, sw->want->top, out);
	if (life_time_differs(program, node) || node->facts->sw.port_state_change)
		return set_switch_info(program, node, top, out);
	if (!sw->want || sw->settled || !cables_are_up(node))
		return false;
	if (block_request(program, node, out))
		return true;
	if (sw->blocks_pending)
		return false;
	if (sw->want->top != top)
		return set_switch_info(program, node, sw->want->top, out);
	settle(program, node);
	return false;
}

static bool next_request(void *owner, struct window_target *target, struct smp_request *out)
{
	struct program *program = owner;
	struct agent *agent = container_of(target, struct agent, target);
	struct list *link;

	while ((link = list_pop(&agent->todo))) {
		if (port_request(program, container_of(link, struct port, todo), out))
			return true;
	}
	return is_switch(agent->port) && switch_request(program, agent->port->node, out);
}

/* Runs */

/* A switch that was reset has lost its tables: nothing of it is up, or its top is not ours. */
static bool lost_tables(const struct node *node)
{
	if (node->sw->top_set && node->facts->sw.linear_fdb_top != node->sw->top_set)
		return true;
	for (unsigned i = 1; i <= node->num_ports; i++) {
		if (state_of(&node->port[i]) > PORT_INIT)
			return false;
	}
	return true;
}

static void take_routes(struct node *node, const struct routes *routes)
{
	struct switch_state *sw = node->sw;
	struct lft *row = routes && node->index >= 0 ? routes->lft[node->index] : NULL;

	sw->failed = false;
	if (lost_tables(node)) {
		lft_have_forget(&sw->have);
		sw->top_set = LID_NONE;
		sw->settled = false;
	}
	if (row && row != sw->want) {
		lft_unref(sw->want);
		sw->want = lft_ref(row);
		sw->settled = false;
	}
	if (sw->want && !sw->settled) {
		lft_have_begin(&sw->have, sw->want);
		sw->cursor = 0;
	}
}

static void idle(void *arg)
{
	struct program *program = arg;
	loop_fn *done = program->done;
	size_t position = 0;
	struct node *node;

	program->done = NULL;
	if (!done)
		return;
	program->report.not_active = 0;
	while ((node = map_next(&program->fabric->nodes, &position))) {
		for (unsigned i = 1; i <= node->num_ports; i++)
			program->report.not_active +=
				cabled(&node->port[i]) && state_of(&node->port[i]) < PORT_ACTIVE;
	}
	done(program->done_arg);
}

static void begin(struct program *program, bool announcing, loop_fn *done, void *arg)
{
	program->announcing = announcing;
	program->done = done;
	program->done_arg = arg;
	window_on_idle(program->window, idle, program);
	/* Something always wakes the window, so that it tells when it is idle. */
	look_at(program, program->fabric->sm_port);
}

void program_local(struct program *program, loop_fn *done, void *arg)
{
	program->report = (struct program_report){0};
	program->fabric->sm_port->failed = false;
	begin(program, false, done, arg);
}

static void warn_of_mismatch(struct program *program, const struct port *port)
{
	struct log_subject subject = about(port);
	uint8_t mtu, vls;

	if (port_link_mismatch(program->options, port, &mtu, &vls))
		log_limited(&program->limit, LOG_NOTICE, &subject,
			    "\"%s\" port %u runs with MTU %u and %u VLs, both ends can %u and %u: "
			    "left as it "
			    "is, since a change takes the link down",
			    port->node->facts->description, port->num,
			    mtu_bytes(port_info(port)->neighbor_mtu),
			    vls_of(port_info(port)->operational_vls), mtu_bytes(mtu), vls_of(vls));
}

void program_start(struct program *program, const struct routes *routes, loop_fn *done, void *arg)
{
	size_t position = 0;
	struct node *node;

	begin(program, false, done, arg);
	while ((node = map_next(&program->fabric->nodes, &position))) {
		if (node->type == NODE_SWITCH)
			take_routes(node, routes);
		for (unsigned i = 0; i <= node->num_ports; i++) {
			node->port[i].failed = false;
			if (state_of(&node->port[i]) < PORT_INIT)
				continue;
			warn_of_mismatch(program, &node->port[i]);
			look_at(program, &node->port[i]);
		}
		if (node->type == NODE_SWITCH)
			window_wake(&node->port[0].agent->target);
	}
}

void program_announce(struct program *program, loop_fn *done, void *arg)
{
	size_t position = 0;
	struct port *port;

	begin(program, true, done, arg);
	while ((port = map_next(&program->fabric->ports, &position)))
		look_at(program, port);
}

const struct program_report *program_report(const struct program *program)
{
	return &program->report;
}

uint64_t program_refused_values(const struct program *program)
{
	return program->refused_values;
}

struct program *program_new(struct loop *loop, struct window *window, struct fabric *fabric,
			    const struct sm_options *options)
{
	struct program *program = mem_zalloc(sizeof(*program));

	program->loop = loop;
	program->window = window;
	program->fabric = fabric;
	program->options = options;
	program->limit = (struct log_limit){.burst = 10, .interval_us = 1000000};
	return program;
}

void program_free(struct program *program)
{
	if (!program)
		return;
	window_on_idle(program->window, NULL, NULL);
	free(program);
}
