/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Merges requests: the widest requested kind counts, and the lists of nodes and ports are
 * joined. */
#include "sm/trigger.h"

#include <stdio.h>
#include <string.h>

void trigger_init(struct trigger *trigger, struct loop *loop, loop_fn *fn, void *arg)
{
	memset(trigger, 0, sizeof(*trigger));
	loop_deferred_init(&trigger->fire, loop, "sweep trigger", fn, arg);
}

void trigger_done(struct trigger *trigger)
{
	loop_defer_cancel(&trigger->fire);
}

static void trigger_request(struct trigger *trigger, enum discover_kind kind, const char *reason)
{
	if (!trigger->wanted) {
		trigger->wanted = true;
		trigger->kind = kind;
		trigger->merged = 0;
		snprintf(trigger->reason, sizeof(trigger->reason), "%s", reason);
	} else {
		trigger->merged++;
		if (kind > trigger->kind)
			trigger->kind = kind;
	}
	if (!trigger->held)
		loop_defer(&trigger->fire);
}

void trigger_light(struct trigger *trigger, const char *reason)
{
	trigger_request(trigger, DISCOVER_LIGHT, reason);
}

void trigger_heavy(struct trigger *trigger, const char *reason)
{
	trigger_request(trigger, DISCOVER_HEAVY, reason);
}

bool trigger_heavy_paced(struct trigger *trigger, struct rate *rate, uint64_t now_us,
			 const char *reason)
{
	bool merges = trigger->wanted && trigger->kind == DISCOVER_HEAVY;

	if (!merges && !rate_allows(rate, now_us))
		return false;
	trigger_heavy(trigger, reason);
	return true;
}

static void add_target(struct trigger *trigger, guid_t guid, uint8_t what, const char *reason)
{
	unsigned i = 0;

	while (i < trigger->num_targets &&
	       (trigger->targets[i].guid != guid || (trigger->targets[i].what ^ what) & LOOK_NODE))
		i++;
	if (i == TRIGGER_NODES_MAX) {
		trigger_request(trigger, DISCOVER_LIGHT, reason);
		return;
	}
	if (i == trigger->num_targets) {
		trigger->targets[i].guid = guid;
		trigger->targets[i].what = 0;
		trigger->num_targets++;
	}
	trigger->targets[i].what |= what;
	trigger_request(trigger, DISCOVER_TARGETED, reason);
}

void trigger_node(struct trigger *trigger, guid_t guid, const char *reason)
{
	add_target(trigger, guid, LOOK_NODE, reason);
}

void trigger_port(struct trigger *trigger, guid_t port_guid, uint8_t what, const char *reason)
{
	add_target(trigger, port_guid, what, reason);
}

void trigger_reroute(struct trigger *trigger, const char *reason)
{
	trigger->reroute = true;
	trigger_request(trigger, DISCOVER_LIGHT, reason);
}

void trigger_take(struct trigger *trigger, struct trigger *out)
{
	struct loop_deferred fire = trigger->fire;

	*out = *trigger;
	memset(trigger, 0, sizeof(*trigger));
	trigger->fire = fire;
	list_init(&trigger->fire.link);
	trigger->held = true;
}

void trigger_release(struct trigger *trigger)
{
	trigger->held = false;
	if (trigger->wanted)
		loop_defer(&trigger->fire);
}
