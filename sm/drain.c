/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advances drained places from sweep to sweep: sm/drain.h. */
#include "sm/drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/context.h"
#include "sm/discovery/disabled.h"

/* As long as the order of table writes lets packets of old routes live: PACKET_LIFE_US. */
enum { PACKETS_US = 10000, DURABLE_US = 1000000, TARGET_SIZE = 100 };

static void packets_passed(void *arg)
{
	drain_begin(arg);
}

void drain_init(struct sm *sm)
{
	loop_timer_init(&sm->drain.packets, sm->loop, "drained packets", packets_passed, sm);
	drain_end_init(sm);
}

void drain_done(struct sm *sm)
{
	loop_timer_disarm(&sm->drain.packets);
	drained_unmark(&sm->drain.drained, sm->fabric);
	drain_end_forget(sm);
	map_done(&sm->drain.refused);
}

void drain_mark(struct sm *sm)
{
	uint64_t before = registry_number(sm->registry);

	if (peers_role(sm->peers) == SM_MASTER) {
		drained_mark(&sm->drain.drained, sm->fabric, sm->registry,
			     !registry_follows(sm->registry));
		if (registry_number(sm->registry) != before) /* cables of a target are new */
			sm->drain.number = registry_number(sm->registry);
		drain_end_mark(sm);
	} else {
		drained_unmark(&sm->drain.drained, sm->fabric);
		drain_end_forget(sm);
	}
}

void drain_apply(struct sm *sm)
{
	if (registry_durable(sm->registry, sm->drain.number))
		drained_apply(&sm->drain.drained, sm->fabric, loop_now_us(sm->loop), PACKETS_US);
	drain_end_apply(sm);
}

/* Steps */

static bool is_used_by_lft(const struct node *node, uint8_t port)
{
	const struct lft *want = node->sw->lft.want;

	for (unsigned lid = LID_UNICAST_MIN; lid <= want->top; lid++)
		if (want->port[lid] == port)
			return true;
	return false;
}

/* Whether no packet of a host enters the cable of this place. */
static bool is_clear(const struct sm *sm, const struct drained_place *place,
		     const struct port *port)
{
	const struct port *ends[] = {port, port->peer};
	bool leads_to_switch = port->peer && port_of_switch(port->peer);

	if (!leads_to_switch || place->entry.forced || port_state_of(port) < PORT_ARMED)
		return true;
	if (!sm->routed || sm->routed_topology != sm->fabric->topology)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		const struct node *node = ends[i]->node;

		if (!node->sw->drained &&
		    (!program_tables_hold(node) || is_used_by_lft(node, ends[i]->num)))
			return false;
	}
	return true;
}

static enum drained_step next_step(const struct sm *sm, const struct drained_place *place,
				   const struct port *port)
{
	if (!port_facts(port)->known)
		return place->step;
	if (drained_is_down(port))
		return DRAINED_ISOLATED;
	if (place->step == DRAINED_MARKED && is_clear(sm, place, port))
		return DRAINED_CLEAR;
	return place->step == DRAINED_ISOLATED ? DRAINED_MARKED : place->step;
}

/* Messages: one for each target and step */

static const char *target_text(const struct sm *sm, const struct drained_entry *of,
			       char text[TARGET_SIZE])
{
	const struct node *node = fabric_find_node(sm->fabric, of->of);
	const char *name = node ? node->facts->description : (const char *)of->name;

	if (of->of_port)
		snprintf(text, TARGET_SIZE, "\"%s\" port %u", name, of->of_port);
	else
		snprintf(text, TARGET_SIZE, "\"%s\"", name);
	return text;
}

static bool is_same_target(const struct drained_place *a, const struct drained_place *b)
{
	return a->entry.of == b->entry.of && a->entry.of_port == b->entry.of_port;
}

/* The lowest step of the places of a target; at: any of its places. */
static enum drained_step target_step(const struct drained *drained, const struct drained_place *at,
				     unsigned *ports)
{
	enum drained_step lowest = DRAINED_ISOLATED;

	*ports = 0;
	for (size_t i = 0; i < drained->count; i++) {
		const struct drained_place *place = &drained->places[i];

		if (!is_same_target(place, at) || !place->entry.port)
			continue;
		++*ports;
		lowest = place->step < lowest ? place->step : lowest;
	}
	return lowest;
}

static void log_target(const struct sm *sm, const struct drained_place *at)
{
	const struct drained_entry *of = &at->entry;
	struct log_subject subject = {.node_guid = of->of,
				      .port = of->of_port ? of->of_port : -1,
				      .message_id = MESSAGE_DRAINED};
	const struct node *node = fabric_find_node(sm->fabric, of->of);
	char target[TARGET_SIZE];
	unsigned ports;

	subject.node_desc = node ? node->facts->description : (const char *)of->name;
	switch (target_step(&sm->drain.drained, at, &ports)) {
	case DRAINED_CLEAR:
		log_about(LOG_NOTICE, &subject,
			  "drain of %s: no route uses it; disabling %u port%s",
			  target_text(sm, of, target), ports, ports == 1 ? "" : "s");
		break;
	case DRAINED_ISOLATED:
		log_about(LOG_NOTICE, &subject,
			  "drain of %s: isolated, %u port%s disabled (weftctl undrain ends it)",
			  target_text(sm, of, target), ports, ports == 1 ? "" : "s");
		break;
	default:
		break;
	}
}

/* Whether the place is the last of its target that advanced, so that the target is logged once. */
static bool is_last_advanced(const struct drained *drained, const bool *advanced, size_t at)
{
	for (size_t i = at + 1; i < drained->count; i++)
		if (advanced[i] && is_same_target(&drained->places[i], &drained->places[at]))
			return false;
	return advanced[at];
}

void drain_settle(struct sm *sm, int error)
{
	struct drained *drained = &sm->drain.drained;
	bool *advanced, waits = false;

	if (peers_role(sm->peers) != SM_MASTER)
		return;
	drain_end_settle(sm);
	if (error || !drained->count)
		return;
	/* A restart would not know why the port is disabled. */
	if (!registry_durable(sm->registry, sm->drain.number)) {
		loop_timer_arm(&sm->drain.packets, DURABLE_US);
		return;
	}
	advanced = mem_array(drained->count, sizeof(*advanced));
	for (size_t i = 0; i < drained->count; i++) {
		struct drained_place *place = &drained->places[i];
		const struct port *port = drained_port(sm->fabric, &place->entry);
		enum drained_step step = port ? next_step(sm, place, port) : place->step;

		advanced[i] = step > place->step;
		if (advanced[i] && step == DRAINED_CLEAR)
			place->clear_us = loop_now_us(sm->loop);
		place->step = step;
		waits |= advanced[i] && step == DRAINED_CLEAR;
	}
	for (size_t i = 0; i < drained->count; i++)
		if (is_last_advanced(drained, advanced, i))
			log_target(sm, &drained->places[i]);
	free(advanced);
	if (waits)
		loop_timer_arm(&sm->drain.packets, PACKETS_US);
}

/* Changes */

/* out is cleared, and keeps a zero at its end. */
static void put_text(uint8_t *out, size_t size, const char *text)
{
	memcpy(out, text, strnlen(text, size - 1));
}

void drain_put(struct sm *sm, const struct node *node, uint8_t port,
	       const struct drained_entry *places, size_t count, bool forced, const char *reason)
{
	struct drained_entry entry = {.node_guid = node->guid,
				      .of = node->guid,
				      .of_port = port,
				      .since_s = loop_wall_s(sm->loop),
				      .by_policy = reason != NULL,
				      .forced = forced};

	put_text(entry.name, sizeof(entry.name), node->facts->description);
	put_text(entry.reason, sizeof(entry.reason), reason ? reason : "");
	if (!port)
		registry_put(sm->registry, REGISTRY_DRAINED, &entry);
	for (size_t i = 0; i < count; i++) {
		entry.node_guid = places[i].node_guid;
		entry.port = places[i].port;
		registry_put(sm->registry, REGISTRY_DRAINED, &entry);
	}
	sm->drain.number = registry_number(sm->registry);
	drain_mark(sm);
}

uint64_t drain_since_s(const struct sm *sm)
{
	uint64_t since_s = loop_wall_s(sm->loop) - ISOLATE_WINDOW_S;

	return since_s > sm->drain.pardon_s ? since_s : sm->drain.pardon_s;
}

const struct isolate_options *drain_policy(const struct sm *sm)
{
	return &sm->options.isolate;
}

void drain_begin(struct sm *sm)
{
	const struct drained *drained = &sm->drain.drained;

	drain_mark(sm);
	for (size_t i = 0; i < drained->count; i++)
		if (drained->places[i].entry.port && drained->places[i].step != DRAINED_ISOLATED)
			trigger_node(&sm->trigger, drained->places[i].entry.node_guid,
				     "a node or port is drained");
	trigger_light(&sm->trigger, "a node or port is drained");
}

unsigned drain_drop(struct sm *sm, guid_t node_guid, uint8_t port)
{
	const struct drained_entry *entry;
	unsigned count = 0;

	while ((entry = drained_find(sm->registry, node_guid, port))) {
		struct drained_entry ending = *entry;

		if (ending.by_policy)
			sm->drain.pardon_s = loop_wall_s(sm->loop);
		count += ending.port != 0;
		ending.ending = true;
		ending.since_s = loop_wall_s(sm->loop);
		if (ending.port)
			registry_put(sm->registry, REGISTRY_DRAINED, &ending);
		else
			registry_drop(sm->registry, REGISTRY_DRAINED, entry);
	}
	drain_mark(sm);
	drain_end_look(sm);
	return count;
}
