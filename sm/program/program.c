/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Runs. Each agent has a list of ports to process. When an agent has room in the window, the window
 * requests its next SMP (window_target.next): first for its ports (ports.c), then for the tables of
 * the switch (switch.c, mft.c).
 */
#include "sm/program/parts.h"

#include <stdlib.h>

#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/partition/partitions.h"

static bool next_request(void *owner, struct window_target *target, struct smp_request *out);

static void program_wake(struct program *program, struct agent *agent)
{
	agent->target.next = next_request;
	agent->target.next_owner = program;
	window_wake(&agent->target);
}

void program_look_at(struct program *program, struct port *port)
{
	struct agent *agent = port_agent(port);

	if (!agent)
		return;
	if (list_empty(&port->program.todo))
		list_push(&agent->todo, &port->program.todo);
	program_wake(program, agent);
}

bool program_is_logged(struct program *program, uint32_t *failure, const char *what)
{
	uint32_t hash = 1;

	for (const char *at = what; *at; at++)
		hash = (hash * 31 + (uint8_t)*at) | 1; /* never 0 */
	if (*failure == hash || !log_allowed(&program->limit))
		return true;
	*failure = hash;
	return false;
}

void program_note_switch(struct program *program, struct node *node)
{
	program_new_epoch(program);
	node->sw->links_changed = true;
	program->report.changed += !node->sw->changed;
	node->sw->changed = true;
}

void program_note_state(struct program *program, const struct port *port, uint8_t state)
{
	uint8_t before = port_state_of(port);

	if ((before == PORT_DOWN) == (state == PORT_DOWN) &&
	    (state != PORT_INIT || before <= PORT_INIT))
		return;
	if (port_of_switch(port)) {
		program_note_switch(program, port->node);
		return;
	}
	program_new_epoch(program);
	program->report.not_as_read = true;
}

/* The next request of a port in the list of this agent. */
static bool any_request(struct program *program, struct agent *agent,
			bool (*ask)(struct program *, struct port *, struct smp_request *),
			struct smp_request *out)
{
	struct list *link;

	while ((link = list_pop(&agent->todo)))
		if (ask(program, container_of(link, struct port, program.todo), out))
			return true;
	return false;
}

/* Between sweeps, and before the present trees are known. */
static bool multicast_request(struct program *program, struct agent *agent, struct smp_request *out)
{
	struct node *node = agent->port->node;

	if (program->part == PROGRAM_READ_MULTICAST) {
		if (program->epoch != program->sweep_epoch && mft_has_work(node) &&
		    node->sw->verify.epoch != program->epoch)
			return verify_request(program, node, out);
		return mft_read_request(program, node, out);
	}
	if (!mft_has_work(node) || node->sw->busy || node->sw->failed)
		return false;
	if (node->sw->verify.epoch != program->epoch)
		return verify_request(program, node, out);
	return mft_request(program, node, out);
}

static bool next_request(void *owner, struct window_target *target, struct smp_request *out)
{
	struct program *program = owner;
	struct agent *agent = container_of(target, struct agent, target);

	if (!program->done)
		return any_request(program, agent, ports_request_between_runs, out);
	if (program->stopped || program->taking || (program->only && agent != program->only))
		return false;
	if (agent->port->node->silent)
		return false;
	/* P_Keys do not wait for the trees. */
	if (program->part != PROGRAM_ALL)
		return any_request(program, agent, ports_request_between_runs, out) ||
		       (port_of_switch(agent->port) && multicast_request(program, agent, out));
	/* Other agents have their turns before the next portion. */
	if (port_of_switch(agent->port) && switch_wake_ports(program, agent->port->node)) {
		window_wake(target);
		return false;
	}
	if (any_request(program, agent, ports_request, out))
		return true;
	/* Before routing there is only the earlier table, and the fabric may have changed since.
	 * So the local run writes only ports. */
	return !program->only && port_of_switch(agent->port) &&
	       switch_request(program, agent->port->node, out);
}

/* Runs */

static bool wake_unfinished(struct program *program)
{
	const struct roster *roster = fabric_roster(program->fabric);
	bool unfinished = false;

	for (size_t i = 0; i < roster->num_switches; i++) {
		struct node *node = roster->switches[i];

		if (!switch_is_unfinished(node))
			continue;
		unfinished = true;
		window_wake(&node->port[0].agent->target);
	}
	return unfinished;
}

/* Nothing is under way, but switches or ports may wait for each other. Each round without
 * progress takes stronger means. After the last round the rest has failed. */
static bool goes_on(struct program *program)
{
	bool progress = program->report.blocks_set != program->progress;

	if (program->stopped)
		return false;
	if (program->pausing || !list_empty(&program->lagging)) {
		if (!loop_timer_armed(&program->pause))
			loop_timer_arm(&program->pause,
				       program->pausing ? PACKET_LIFE_US : STATE_LAG_US);
		program->pausing = false;
		return true;
	}
	if (program->only || (!progress && program->effort == AT_A_LOSS))
		return false;
	program->effort = progress ? WHOLE_BLOCKS : program->effort + 1;
	program->progress = program->report.blocks_set;
	return wake_unfinished(program);
}

static void program_pause_is_over(void *arg)
{
	struct program *program = arg;

	if (!program->done)
		return;
	ports_read_lagging(program);
	wake_unfinished(program);
	program_look_at(program, program->fabric->sm_port); /* the window is idle again after it */
}

/* Walks, in slices */

/* Prepares each node of the roster for a run, so that no switch is checked against a row of the
 * last run. */
static unsigned take_routes(void *arg, size_t *at)
{
	struct program *program = arg;
	struct node *node;

	if (*at == 0)
		program->stale = 0;
	node = fabric_next_node(program->fabric, at);
	if (!node)
		return 0;
	if (node->type == NODE_SWITCH) {
		switch_take_routes(program, node, program->snapshot, program->routes);
		lft_cache_begin(program, node);
		verify_begin(program, node);
		program->stale += node->sw->lft.stale;
	}
	for (unsigned i = 0; i <= node->num_ports; i++)
		node->port[i].program.failed = node->port[i].partition.failed = false;
	return node->num_ports + 1u;
}

static void look_if_needed(struct program *program, struct port *port)
{
	if (!ports_is_good(program, port))
		program_look_at(program, port);
}

static unsigned look_at_node(void *arg, size_t *at)
{
	struct program *program = arg;
	struct node *node;

	program->taking = false;
	node = fabric_next_node(program->fabric, at);
	if (!node)
		return 0;
	for (unsigned i = 0; i <= node->num_ports; i++) {
		if (!ports_take_sets(&node->port[i]) && !node->port[i].program.link_asked)
			continue;
		if (program->routes)
			ports_warn_of_mismatch(program, &node->port[i]);
		look_if_needed(program, &node->port[i]);
	}
	if (node->type == NODE_SWITCH)
		program_wake(program, node->port[0].agent);
	return 2 * (node->num_ports + 1u);
}

static unsigned look_at_end(void *arg, size_t *at)
{
	struct program *program = arg;
	struct port *port = fabric_next_end(program->fabric, at);

	if (!port)
		return 0;
	look_if_needed(program, port);
	return 2;
}

static unsigned count_not_active(void *arg, size_t *at)
{
	struct program *program = arg;
	const struct node *node;

	if (*at == 0)
		program->report.not_active = 0;
	node = fabric_next_node(program->fabric, at);
	if (!node)
		return 0;
	for (unsigned i = 1; i <= node->num_ports; i++)
		program->report.not_active += port_state_of(&node->port[i]) < PORT_ACTIVE &&
					      port_cabled(&node->port[i]) &&
					      !port_held(&node->port[i]) &&
					      !port_drained(&node->port[i]) &&
					      !ports_left_alone(program->fabric, &node->port[i]);
	return node->num_ports + 1u;
}

static slice_fn *const start_stages[] = {take_routes, look_at_node, NULL};
static slice_fn *const announce_stages[] = {look_at_end, NULL};
static slice_fn *const count_stages[] = {count_not_active, NULL};
static const struct slice_plan start_plan = {"programming begins", start_stages, NULL};
static const struct slice_plan announce_plan = {"announcing begins", announce_stages, NULL};
static const struct slice_plan count_plan = {"counting what is not up", count_stages, NULL};

static void program_walk(struct program *program, const struct slice_plan *plan, loop_fn *done)
{
	slices_init(&program->walk, program->loop, plan, program, done, program);
	slices_begin(&program->walk);
}

static void program_finish(void *arg)
{
	struct program *program = arg;
	loop_fn *done = program->done;

	program->done = NULL;
	ports_forget_lagging(program);
	program->mft_was_read = program->part == PROGRAM_READ_MULTICAST;
	program->part = PROGRAM_ALL;
	done(program->done_arg);
}

/* During a walk there is more to do, although the window is idle. */
static void program_idle(void *arg)
{
	struct program *program = arg;

	if (!program->done || program->walk.running || goes_on(program))
		return;
	if (program->announcing) /* the last run of a sweep */
		program_walk(program, &count_plan, program_finish);
	else
		program_finish(program);
}

static void program_begin(struct program *program, bool announcing, loop_fn *done, void *arg)
{
	program->announcing = announcing;
	program->part = PROGRAM_ALL;
	program->only = NULL;
	program->effort = WHOLE_BLOCKS;
	program->pausing = false;
	program->progress = program->report.blocks_set;
	program->done = done;
	program->done_arg = arg;
	window_on_idle(program->window, program_idle, program);
}

/* Wakes the window in any case, so that it reports when it is idle. */
static void wake_window(void *arg)
{
	struct program *program = arg;

	program_look_at(program, program->fabric->sm_port);
}

void program_local(struct program *program, loop_fn *done, void *arg)
{
	const struct port *own = program->fabric->sm_port;

	program->lid_was_led_to =
		port_info(own)->lid == own->lid && port_state_of(own) == PORT_ACTIVE;
	program->fabric->sm_port->program.failed = false;
	program_begin(program, false, done, arg);
	program->only = port_agent(program->fabric->sm_port);
	wake_window(program);
}

/* The routes are borrowed, and the caller may free them now. */
static void begun(void *arg)
{
	struct program *program = arg;

	program->snapshot = NULL;
	program->routes = NULL;
	wake_window(program);
}

void program_start(struct program *program, const struct snapshot *snapshot,
		   const struct routes *routes, loop_fn *done, void *arg)
{
	program_begin(program, false, done, arg);
	program->snapshot = snapshot;
	program->routes = routes;
	program->taking = true;
	program_walk(program, &start_plan, begun);
}

void program_announce(struct program *program, loop_fn *done, void *arg)
{
	program_begin(program, true, done, arg);
	program_walk(program, &announce_plan, wake_window);
}

static unsigned begin_tables(void *arg, size_t *at)
{
	enum { COST_TABLES = 8 }; /* cost of the tables of one switch */
	struct program *program = arg;
	struct node *node;

	node = fabric_next_switch(program->fabric, at);
	if (!node)
		return 0;
	mft_begin(program, node, program->part == PROGRAM_READ_MULTICAST);
	if (program->part == PROGRAM_READ_MULTICAST)
		mft_cache_begin(program, node);
	return COST_TABLES;
}

/* Wakes the switches that may need Sets. */
static unsigned wake_multicast(void *arg, size_t *at)
{
	struct program *program = arg;
	struct node *node;

	node = fabric_next_switch(program->fabric, at);
	if (!node)
		return 0;
	if (!mft_has_work(node))
		return 1;
	program_wake(program, node->port[0].agent);
	return 2;
}

static slice_fn *const multicast_stages[] = {begin_tables, wake_multicast, NULL};
static slice_fn *const more_stages[] = {wake_multicast, NULL};
static const struct slice_plan multicast_plan = {"multicast begins", multicast_stages, NULL};
static const struct slice_plan more_plan = {"more multicast begins", more_stages, NULL};

static void begin_multicast(struct program *program, enum program_part part,
			    const struct slice_plan *plan, loop_fn *done, void *arg)
{
	program_begin(program, false, done, arg);
	program->part = part;
	program_walk(program, plan, wake_window);
}

void program_read_multicast(struct program *program, loop_fn *done, void *arg)
{
	begin_multicast(program, PROGRAM_READ_MULTICAST, &multicast_plan, done, arg);
}

void program_multicast(struct program *program, loop_fn *done, void *arg)
{
	bool more = program->done && !program->walk.running;

	if (program->walk.running)
		slices_cancel(&program->walk);
	begin_multicast(program, PROGRAM_MULTICAST, more ? &more_plan : &multicast_plan, done, arg);
}

void program_abandon(struct program *program)
{
	program->done = NULL;
	ports_forget_lagging(program);
	program->part = PROGRAM_ALL;
	if (program->walk.running)
		slices_cancel(&program->walk);
}

/* drop is window_target_drop() or window_target_unqueue(). */
static void program_drop(struct program *program,
			 void (*drop)(struct window_target *target, const void *owner))
{
	struct node *node;
	size_t position = 0;

	program->stopped = true;
	while ((node = map_next(&program->fabric->nodes, &position)))
		for (unsigned i = 0; i <= node->num_ports; i++)
			if (node->port[i].agent)
				drop(&node->port[i].agent->target, program);
}

void program_stop(struct program *program)
{
	program_drop(program, window_target_drop);
}

void program_not_as_read(struct program *program)
{
	program_drop(program, window_target_unqueue);
	program->report.not_as_read = true;
	fabric_forget_tables(program->fabric);
}

void program_set_mcast(struct program *program, struct mcast *mcast)
{
	program->mcast = mcast;
}

void program_clear_report(struct program *program, bool all_is_read)
{
	program->report = (struct program_report){0};
	program->reports++;
	if (all_is_read) {
		program->sweep_epoch = program->epoch;
		program->epoch_used = true;
	}
	program->stopped = false;
	program->began_us = loop_now_us(program->loop);
}

const struct program_report *program_report(const struct program *program)
{
	return &program->report;
}

void program_note_refusal(struct program *program, const struct port *port)
{
	program->refused_values++;
	port_notes_add(&program->fabric->refusing, port);
}

uint64_t program_refused_values(const struct program *program)
{
	return program->refused_values;
}

void program_use_table_cache(struct program *program, struct table_cache *cache)
{
	program->cache = cache;
}

struct program *program_new(struct loop *loop, struct window *window, struct fabric *fabric,
			    const struct sm_options *options)
{
	struct program *program = mem_zalloc(sizeof(*program));

	program->loop = loop;
	program->epoch = 1;
	program->window = window;
	program->fabric = fabric;
	program->options = options;
	program->limit = (struct log_limit){.burst = 10, .interval_us = 1000000};
	loop_timer_init(&program->pause, loop, "packets die out", program_pause_is_over, program);
	list_init(&program->lagging);
	reregister_init(program);
	return program;
}

void program_set_guids(struct program *program, struct guids *guids)
{
	program->guids = guids;
}

void program_set_policy(struct program *program, struct policy *policy, loop_fn *failed, void *arg)
{
	program->policy = policy;
	program->pkeys_failed = failed;
	program->pkeys_failed_arg = arg;
}

void program_free(struct program *program)
{
	if (!program)
		return;
	window_on_idle(program->window, NULL, NULL);
	loop_timer_disarm(&program->pause);
	reregister_done(program);
	if (program->walk.running)
		slices_cancel(&program->walk);
	free(program->flood);
	free(program);
}
