/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The begin and the end of a pass. Answers trigger the next requests, and the pass ends when it
 * waits for no more answers (wait.c). Each reached node stores the number of the pass, so that no
 * state has to be reset before the next pass.
 */
#include "sm/discovery/discover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/discovery/parts.h"

/* All of them may arrive at one agent, over several cables, together with two other requests:
 * the agent processes one and queues four. */
enum { PROBES_ON_WIRE = 3 };

/* Begin of a pass */

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
		/* As a standby it may have got another M_Key from the master. */
		if (answer->error == -ETIMEDOUT && fabric->sm_port)
			agent_m_key_doubt(port_agent(fabric->sm_port));
		log_error("Get(NodeInfo) from the local port failed (%s, status 0x%04x)",
			  answer->error ? strerror(-answer->error) : "answered", answer->status);
		discover_landed(discover);
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
		discover_give_agent(discover, port, info.port_guid);
	fabric->sm_port = port;
	discover_visit(discover, node, port);
	discover_landed(discover);
}

static void begin_local(struct discover *discover)
{
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_NODE_INFO,
				      .done = got_local,
				      .owner = discover};

	discover_wait(discover, 1, WAIT_NOT, WAIT_ANSWER);
	window_submit(&discover->local, &request);
}

static void begin_node(struct discover *discover, struct node *node)
{
	node->target_pass = discover->pass;
	if (node->type == NODE_SWITCH) {
		discover_visit(discover, node, &node->port[0]);
		return;
	}
	for (unsigned p = 1; p <= node->num_ports; p++) {
		if (node->port[p].agent)
			discover_visit(discover, node, &node->port[p]);
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
			discover_get_port_info(discover, port);
		if (port && target->what & LOOK_DESCRIPTION)
			discover_get(discover, port, ATTR_NODE_DESCRIPTION, 0);
	}
}

/* Whether a light pass also reads a port: its last read had no answer, or its link is up and the
 * far end is unknown. */
static bool light_reads(const struct port *port)
{
	bool unknown_agent = port->num && port->agent && !port_facts(port)->known;
	bool unknown_end = port_of_switch(port) && !port->peer && port_state_of(port) >= PORT_INIT;

	return port->discovery.unread || unknown_agent || unknown_end;
}

/* Whether the P_Keys of an end port are unknown. Without them weftd does not write its P_Keys,
 * and the port may have access to wrong partitions. */
static bool lacks_pkeys(const struct port *port)
{
	return port->agent && port_facts(port)->known &&
	       (!port_facts(port)->pkeys || port->discovery.pkeys_unread) &&
	       (!port->num || port_state_of(port) >= PORT_INIT);
}

/* Probes a silent node from a neighbour that responds. A silent node is not used as a way to
 * itself. */
static void look_for(struct discover *discover, const struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *from = node->port[i].peer;

		if (from && (port_of_switch(from) || from == discover->fabric->sm_port) &&
		    !port_node_is_silent(from) && port_state_of(from) >= PORT_INIT) {
			discover_probe(discover, from, false);
			return;
		}
	}
}

/* A drained switch whose links weftd has disabled: the tidying drops it when its neighbours were
 * read. */
static bool is_isolated(const struct node *node)
{
	if (!node->sw || !node->sw->drained)
		return false;
	for (unsigned i = 1; i <= node->num_ports; i++)
		if (port_cabled(&node->port[i]))
			return false;
	return true;
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
	if (is_isolated(node))
		return node->num_ports + 1u;
	if (node->type == NODE_SWITCH && node->target_pass != discover->pass)
		discover_get(discover, &node->port[0], ATTR_SWITCH_INFO, 0);
	for (unsigned i = 0; i <= node->num_ports; i++) {
		if (i && light_reads(&node->port[i]))
			discover_get_port_info(discover, &node->port[i]);
		else if (lacks_pkeys(&node->port[i]))
			discover_get_pkeys(discover, &node->port[i]);
	}
	return node->num_ports + 1u;
}

/* A node was added or removed, so the walk restarts. A repeated request is harmless. */
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
		discover_get_port_info(discover, discover->fabric->sm_port);
	discover_wait(discover, 1, WAIT_NOT, WAIT_ANSWER);
	slices_begin(&discover->asking);
}

/* End of a pass */

static void pass_is_over(void *arg)
{
	struct discover *discover = arg;

	if (discover->report.want_heavy)
		discover->unsound_pass = discover->pass;
	discover->done(discover->done_arg);
}

static void discover_finish(void *arg)
{
	struct discover *discover = arg;

	if (discover->finished || !discover_may_end(discover))
		return;
	discover_give_up_mute(discover);
	discover_give_up_probes(discover);
	if (discover->num_claims) {
		discover_look_at_claims(discover);
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
	discover->awaited = false;
	discover->before.topology = discover->fabric->topology;
	discover->before.recovered = window_stats(discover->window)->recovered;
	discover->before.completed = window_stats(discover->window)->completed;
	discover->num_claims = 0;
	discover_wait(discover, 1, WAIT_NOT, WAIT_ANSWER); /* until all first requests are sent */
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
	discover_landed(discover);
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
	discover->awaited = true;
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
	slices_init(&discover->asking, loop, &asking_plan, discover, discover_landed, discover);
	slices_init(&discover->tidying, loop, &discover_tidying, discover, pass_is_over, discover);
	return discover;
}

void discover_free(struct discover *discover)
{
	if (!discover)
		return;
	discover_drop_probes(discover, NULL);
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
