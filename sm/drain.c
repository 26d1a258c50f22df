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

/* The lifetime of packets of old routes, as in the order of table writes (PACKET_LIFE_US). */
enum { PACKETS_US = 10000, DURABLE_US = 1000000, TARGET_SIZE = 100 };
/* A drain by force waits this long for tables. */
enum { FORCED_US = DRAIN_FORCED_S * 1000000 };

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
	map_done(&sm->drain.pardons);
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
	drained_apply(&sm->drain.drained, sm->fabric, loop_now_us(sm->loop), PACKETS_US);
	drain_end_apply(sm);
}

/* Steps */

static bool is_used_by_lft(const struct node *node, uint8_t port)
{
	const struct lft *want = node->sw->lft.want;

	return want->top >= LID_UNICAST_MIN &&
	       memchr(&want->port[LID_UNICAST_MIN], port, want->top - LID_UNICAST_MIN + 1u);
}

/* Whether no packet of a host enters the cable of this port. */
static bool is_clear(const struct sm *sm, const struct port *port)
{
	const struct port *ends[] = {port, port->peer};
	bool leads_to_switch = port->peer && port_of_switch(port->peer);

	if (!leads_to_switch || port_state_of(port) < PORT_ARMED)
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

static void log_target(const struct sm *sm, const struct drained_target *target, unsigned lost)
{
	const struct drained_entry *of = &target->entry;
	struct log_subject subject = {.node_guid = of->of,
				      .port = of->of_port ? of->of_port : -1,
				      .message_id = MESSAGE_DRAINED};
	const struct node *node = fabric_find_node(sm->fabric, of->of);
	char name[TARGET_SIZE];

	subject.node_desc = node ? node->facts->description : (const char *)of->name;
	target_text(sm, of, name);
	if (target->held)
		log_about(LOG_WARNING, &subject,
			  "drain of %s: held, because it is now the last path of %u port%s of "
			  "adapters (the drain continues when there is another path)",
			  name, lost, lost == 1 ? "" : "s");
	else if (target->lowest == DRAINED_MARKED)
		log_about(LOG_NOTICE, &subject,
			  "drain of %s: continues, because there is another path", name);
	else if (target->lowest == DRAINED_CLEAR)
		log_about(LOG_NOTICE, &subject,
			  "drain of %s: no route uses it; disabling %u port%s", name, target->ports,
			  target->ports == 1 ? "" : "s");
	else
		log_about(LOG_NOTICE, &subject,
			  "drain of %s: isolated, %u port%s disabled (weftctl undrain ends it)",
			  name, target->ports, target->ports == 1 ? "" : "s");
}

/* Steps of all places */

/* What a sweep found about the places of a target. */
struct drain_progress {
	bool waits;	 /* a place is marked, and its port is present */
	bool is_used;	 /* one of these may still carry packets */
	bool is_due;	 /* a drain by force has waited long enough */
	bool has_moved;	 /* a place has reached a step */
	uint64_t due_us; /* the end of this wait, for the first place */
};

static void note_place(const struct sm *sm, struct drained_place *place,
		       struct drain_progress *progress)
{
	const struct port *port = drained_port(sm->fabric, &place->entry);
	uint64_t now_us = loop_now_us(sm->loop);

	if (!port || !port_facts(port)->known)
		return;
	if (drained_is_down(port)) {
		progress->has_moved |= place->step != DRAINED_ISOLATED;
		place->step = DRAINED_ISOLATED;
		return;
	}
	if (place->step == DRAINED_ISOLATED) {
		place->step = DRAINED_MARKED;
		place->marked_us = 0;
	}
	if (place->step != DRAINED_MARKED)
		return;
	if (!place->marked_us)
		place->marked_us = now_us;
	progress->waits = true;
	progress->is_used |= !is_clear(sm, port);
	if (!progress->due_us || place->marked_us + FORCED_US < progress->due_us)
		progress->due_us = place->marked_us + FORCED_US;
	progress->is_due = place->entry.forced && now_us >= progress->due_us;
}

static void clear_places(const struct sm *sm, size_t target)
{
	const struct drained *drained = &sm->drain.drained;
	const struct drained_place *next = NULL;

	while ((next = drained_next_place(drained, target, next))) {
		struct drained_place *place = &drained->places[next - drained->places];

		if (place->step != DRAINED_MARKED || !place->entry.port)
			continue;
		place->step = DRAINED_CLEAR;
		place->clear_us = loop_now_us(sm->loop);
	}
}

/* is_sound: the sweep had no error. Returns the time until the sweep that continues this target; 0:
 * no sweep is needed. */
static uint64_t advance_target(struct sm *sm, size_t at, struct drain_progress *progress,
			       bool is_sound)
{
	struct drained_target *target = &sm->drain.drained.targets[at];
	unsigned lost = 0;

	if (!progress->waits)
		return 0;
	if (!progress->is_due && (!is_sound || (!target->held && progress->is_used)))
		return target->entry.forced ? progress->due_us - loop_now_us(sm->loop) : 0;
	if (!target->entry.forced)
		lost = drained_judge_again(&sm->drain.drained, sm->fabric, sm->registry, at).ports;
	if (target->held != (lost > 0) || target->untold) {
		target->held = lost > 0;
		target->untold = false;
		target->lowest = DRAINED_MARKED;
		log_target(sm, target, lost);
		return PACKETS_US;
	}
	if (target->held)
		return 0;
	clear_places(sm, at);
	progress->has_moved = true;
	return PACKETS_US;
}

/* Whether a port of this target is still up, so that the target can be held. */
static bool is_under_way(const struct sm *sm, size_t target)
{
	const struct drained *drained = &sm->drain.drained;
	const struct drained_place *place = NULL;

	while ((place = drained_next_place(drained, target, place)))
		if (place->entry.port && place->step != DRAINED_ISOLATED &&
		    drained_port(sm->fabric, &place->entry))
			return true;
	return false;
}

static void hold_target(struct sm *sm, size_t at)
{
	struct drained *drained = &sm->drain.drained;
	const struct drained_place *next = NULL;

	drained->targets[at].held = drained->targets[at].untold = true;
	while ((next = drained_next_place(drained, at, next)))
		if (next->step == DRAINED_CLEAR)
			drained->places[next - drained->places].step = DRAINED_MARKED;
}

void drain_review(struct sm *sm)
{
	const struct drained *drained = &sm->drain.drained;
	bool holds = false;

	if (peers_role(sm->peers) != SM_MASTER || sm->routed_topology == sm->fabric->topology)
		return;
	for (size_t i = 0; i < drained->num_targets; i++) {
		const struct drained_target *target = &drained->targets[i];

		if (target->held || target->entry.forced || !is_under_way(sm, i) ||
		    !drained_judge_again(drained, sm->fabric, sm->registry, i).ports)
			continue;
		hold_target(sm, i);
		holds = true;
	}
	if (holds)
		drain_mark(sm);
}

/* Ports of a target are disabled together. Otherwise packets from a switch whose tables are not
 * written yet could still enter the target, but not leave it. */
static void advance_targets(struct sm *sm, bool is_sound)
{
	struct drained *drained = &sm->drain.drained;
	struct drain_progress *progress = mem_array(drained->num_targets + 1, sizeof(*progress));
	uint64_t wait_us = 0;

	for (size_t i = 0; i < drained->count; i++)
		note_place(sm, &drained->places[i], &progress[drained->places[i].target]);
	for (size_t i = 0; i < drained->num_targets; i++) {
		uint64_t us = advance_target(sm, i, &progress[i], is_sound);

		if (us && (!wait_us || us < wait_us))
			wait_us = us;
	}
	drained_tally(drained);
	for (size_t i = 0; i < drained->num_targets; i++)
		if (progress[i].has_moved && drained->targets[i].lowest != DRAINED_MARKED)
			log_target(sm, &drained->targets[i], 0);
	free(progress);
	if (wait_us)
		loop_timer_arm(&sm->drain.packets, wait_us);
}

/* Switches that are cut off */

/* Whether the policy's drain of this target ends, because its link may lead to a switch that the
 * manager no longer reaches. The disabled port is at a switch that it still reaches. */
static bool is_returned(const struct drained_target *target, guid_t cut_off)
{
	return target->entry.by_policy && target->entry.of_port && cut_off == target->entry.of;
}

static void log_cut_off(const struct sm *sm, const struct drained_target *target, bool returned)
{
	const struct drained_entry *of = &target->entry;
	struct log_subject subject = {.node_guid = of->of,
				      .port = of->of_port ? of->of_port : -1,
				      .message_id = MESSAGE_DRAINED};
	char name[TARGET_SIZE];

	target_text(sm, of, name);
	if (returned)
		log_about(LOG_WARNING, &subject,
			  "drain of %s: ended by weftd, because the switch lost its other links: "
			  "this link may be its last path (check its cable and plugs)",
			  name);
	else
		log_about(LOG_WARNING, &subject,
			  "drain of %s: a switch at its cables can no longer be reached, and its "
			  "port or cable to %s is disabled (weftctl health names the switch and "
			  "the remedy)",
			  name, name);
}

/* Finds links whose return may connect a switch again. If the policy drained the link, weftd
 * enables it; if a command did, weftd reports it once. */
static void review_cut_off(struct sm *sm)
{
	struct drained *drained = &sm->drain.drained;
	struct drained_entry *ended = NULL;
	size_t count = 0;

	for (size_t i = 0; i < drained->num_targets; i++) {
		struct drained_target *target = &drained->targets[i];
		guid_t cut_off = drained_cut_off(drained, sm->fabric, sm->registry, i);
		bool returned = cut_off && is_returned(target, cut_off);

		if (cut_off && !target->cuts_off)
			log_cut_off(sm, target, returned);
		target->cuts_off = cut_off != 0;
		if (!returned)
			continue;
		ended = mem_grow(ended, count, sizeof(*ended));
		ended[count++] = target->entry;
	}
	for (size_t i = 0; i < count; i++)
		drain_end(sm, ended[i].of, ended[i].of_port);
	if (count) {
		drain_ended(sm);
		trigger_light(&sm->trigger, "a drained link may be a last path");
	}
	free(ended);
}

void drain_settle(struct sm *sm, int error)
{
	if (peers_role(sm->peers) != SM_MASTER)
		return;
	drain_end_settle(sm);
	if (!sm->drain.drained.count)
		return;
	/* After a restart, weftd would not know why the port is disabled. */
	if (!registry_durable(sm->registry, sm->drain.number)) {
		loop_timer_arm(&sm->drain.packets, DURABLE_US);
		return;
	}
	advance_targets(sm, !error);
	if (!error)
		review_cut_off(sm);
}

/* Changes */

/* Clears out first; out always ends with a zero. */
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

size_t drain_take_over(struct sm *sm, const struct drained_entry *entry, bool forced,
		       struct drained_entry **places)
{
	struct drained_entry *list = NULL;
	size_t count = 0, kept = 0;

	entry = drained_find(sm->registry, entry->of, entry->of_port);
	for (; entry; entry = drained_next(sm->registry, DRAINED_BY_TARGET, entry)) {
		list = mem_grow(list, count, sizeof(*list));
		list[count++] = *entry;
	}
	for (size_t i = 0; i < count; i++) {
		list[i].by_policy = false;
		list[i].forced |= forced;
		memset(list[i].reason, 0, sizeof(list[i].reason));
		registry_put(sm->registry, REGISTRY_DRAINED, &list[i]);
		if (list[i].port)
			list[kept++] = list[i];
	}
	sm->drain.number = registry_number(sm->registry);
	drain_mark(sm);
	*places = list;
	return kept;
}

const struct port *drain_manager_at(const struct sm *sm, const struct port *port)
{
	const struct peer *peers;
	size_t count = peers_list(sm->peers, &peers);

	for (size_t i = 0; i < count; i++) {
		const struct port *end = map_get(&sm->fabric->ports, peers[i].info.guid);

		if (!end && peers[i].lid <= sm->fabric->lid_top)
			end = sm->fabric->lids[peers[i].lid];
		if (end && (end == port || end == port->peer))
			return end;
	}
	return NULL;
}

const struct port *drain_manager_among(const struct sm *sm, const struct drained_entry *places,
				       size_t count)
{
	const struct port *end = NULL;

	for (size_t i = 0; i < count && !end; i++) {
		const struct port *port = drained_port(sm->fabric, &places[i]);

		end = port ? drain_manager_at(sm, port) : NULL;
	}
	return end;
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

unsigned drain_end(struct sm *sm, guid_t node_guid, uint8_t port)
{
	const struct drained_entry *entry;
	unsigned count = 0;

	while ((entry = drained_find(sm->registry, node_guid, port))) {
		count += entry->port != 0;
		if (!entry->port) {
			registry_drop(sm->registry, REGISTRY_DRAINED, entry);
			continue;
		}
		drain_end_put(sm, sm->registry, entry);
	}
	return count;
}

void drain_ended(struct sm *sm)
{
	drain_mark(sm);
	drain_end_look(sm);
}
