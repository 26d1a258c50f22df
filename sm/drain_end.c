/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The end of a drain. The records of its places stay, as ending, until the links are enabled. A
 * Set() can be under way, lost or refused, and the switch or the manager can be absent or restart.
 * So each sweep enables the ports that are still disabled. A record is dropped when a read in a
 * later sweep shows its port enabled, because this read follows all Set()s of the sweep before it.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"
#include "sm/discovery/disabled.h"
#include "sm/drain.h"

/* Time to the next read of ports that are not enabled yet; it doubles each time. A switch that is
 * absent longer than ABSENT_S is assumed to return with its ports enabled. */
enum { LOOK_MIN_US = 500000, LOOK_MAX_US = 60000000, ABSENT_S = 7 * 24 * 3600 };

static bool has_other_reason(const struct sm *sm, const struct drained_entry *entry)
{
	return port_is_drained(sm->registry, entry->node_guid, entry->port) ||
	       port_is_disabled(sm->registry, entry->node_guid, entry->port);
}

static uint64_t read_pass_of(const struct port *port)
{
	return port ? port->discovery.read_pass : 0;
}

void drain_end_put(struct sm *sm, struct registry *to, const struct drained_entry *entry)
{
	struct drained_entry ending = *entry;

	if (ending.by_policy) {
		isolate_pardon(sm, ending.node_guid, ending.port);
		isolate_pardon(sm, ending.of, ending.of_port);
	}
	ending.ending = true;
	ending.since_s = loop_wall_s(sm->loop);
	registry_put(to, REGISTRY_DRAINED, &ending);
}

/* before: the former list. known: the index in this list + 1, by drained_place_key(). */
static void take_ending(struct sm *sm, const struct drain_endings *before, const struct map *known,
			const struct drained_entry *entry)
{
	struct drain_endings *endings = &sm->drain.endings;
	size_t at = map_counted(known, drained_place_key(entry));
	struct port *port = drained_port(sm->fabric, entry);
	struct drain_ending ending = {.entry = *entry, .read_pass = read_pass_of(port)};

	if (at && drained_same_place(&before->list[at - 1].entry, entry))
		ending.read_pass = before->list[at - 1].read_pass;
	else
		endings->look_us = 0;
	if (port && port->program.link_asked == PHYS_DISABLED && !has_other_reason(sm, entry))
		port->program.link_asked = 0;
	endings->list = mem_grow(endings->list, endings->count, sizeof(*endings->list));
	endings->list[endings->count++] = ending;
}

void drain_end_mark(struct sm *sm)
{
	struct drain_endings *endings = &sm->drain.endings, before = *endings;
	const struct drained_entry *entry =
		registry_first(sm->registry, REGISTRY_DRAINED, -1, NULL);
	struct map known;

	map_init(&known);
	for (size_t i = 0; i < before.count; i++)
		map_put(&known, drained_place_key(&before.list[i].entry), (void *)(i + 1));
	endings->list = NULL;
	endings->count = 0;
	for (; entry; entry = registry_next(sm->registry, REGISTRY_DRAINED, -1, entry))
		if (entry->ending)
			take_ending(sm, &before, &known, entry);
	map_done(&known);
	free(before.list);
}

void drain_end_forget(struct sm *sm)
{
	struct drain_endings *endings = &sm->drain.endings;

	loop_timer_disarm(&endings->timer);
	free(endings->list);
	endings->list = NULL;
	endings->count = 0;
}

void drain_end_apply(struct sm *sm)
{
	const struct drain_endings *endings = &sm->drain.endings;

	for (size_t i = 0; i < endings->count; i++) {
		const struct drained_entry *entry = &endings->list[i].entry;
		struct port *port = drained_port(sm->fabric, entry);

		if (port && drained_is_down(port) && !has_other_reason(sm, entry))
			port_ask_link(port, PHYS_POLLING);
	}
}

/* Whether the record is no longer needed. */
static bool is_over(const struct sm *sm, const struct drain_ending *ending)
{
	const struct drained_entry *entry = &ending->entry;
	const struct port *port = drained_port(sm->fabric, entry);

	if (!entry->port || has_other_reason(sm, entry))
		return true;
	if (!port)
		return loop_wall_s(sm->loop) > entry->since_s + ABSENT_S;
	return port_facts(port)->known && port->discovery.read_pass != ending->read_pass &&
	       !port->discovery.unread && !port->program.busy && !port->program.link_asked &&
	       !drained_is_down(port);
}

static void look_again(void *arg)
{
	drain_end_look(arg);
}

void drain_end_init(struct sm *sm)
{
	loop_timer_init(&sm->drain.endings.timer, sm->loop, "undrained ports", look_again, sm);
}

void drain_end_look(struct sm *sm)
{
	const struct drain_endings *endings = &sm->drain.endings;

	for (size_t i = 0; i < endings->count; i++)
		if (drained_port(sm->fabric, &endings->list[i].entry))
			trigger_node(&sm->trigger, endings->list[i].entry.node_guid,
				     "a node or port is no longer drained");
}

void drain_end_settle(struct sm *sm)
{
	struct drain_endings *endings = &sm->drain.endings;
	size_t kept = 0;
	bool waits = false;

	for (size_t i = 0; i < endings->count; i++) {
		const struct drain_ending ending = endings->list[i];

		if (is_over(sm, &ending)) {
			registry_drop(sm->registry, REGISTRY_DRAINED, &ending.entry);
			continue;
		}
		waits |= drained_port(sm->fabric, &ending.entry) != NULL;
		endings->list[kept++] = ending;
	}
	endings->count = kept;
	if (!waits || loop_timer_armed(&endings->timer))
		return;
	endings->look_us = endings->look_us ? endings->look_us * 2 : LOOK_MIN_US;
	if (endings->look_us > LOOK_MAX_US)
		endings->look_us = LOOK_MAX_US;
	loop_timer_arm(&endings->timer, endings->look_us);
}
