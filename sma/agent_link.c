/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links: cables, training, and the logical states of a port, which a manager sets (7.2 and
 * 14.2.5.6). The two ends of a cable refer to each other, because their states depend on each
 * other in hardware.
 *
 *	Physical states
 *	Disabled             -> Polling or Sleep  Set()
 *	Polling or Sleep     -> Training          both ends, and one in Polling
 *	Training             -> LinkUp            device_port_trained(), speeds in common
 *
 *	Logical states
 *	Down                 -> Init              LinkUp
 *	Init                 -> Armed             Set()
 *	Armed                -> Active            Set(), peer at least Armed
 *	Armed                -> Active            peer goes Active
 *	any                  -> Down              the link is lost
 *	any                  -> Down, then Init   Set(Down) here or at the peer, link up
 *
 * The agent calls it for a Set(), the owner for changes of cables. One thread.
 */
#include <assert.h>

#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

static bool link_is_up(const struct device_port *port)
{
	return port->info.port_physical_state == PHYS_LINK_UP;
}

static bool is_training(const struct device_port *port)
{
	return port->info.port_physical_state == PHYS_TRAINING;
}

/* PortStateChange reports changes that the manager did not cause: the link came up or went down
 * (14.2.5.4). */
static void tell_switch(struct device_port *port, uint8_t before)
{
	bool came_or_went = (before == PORT_DOWN) != (port->info.port_state == PORT_DOWN);

	if (!came_or_went || device_port_is_end(port))
		return;
	port->device->sw.port_state_change = 1;
	trap_raise(&port->device->port[0], TRAP_KIND_LINK_STATE, 0);
}

/* The only function that writes a port's states. */
static void link_enter_state(struct device_port *port, uint8_t state, uint8_t physical, bool by_set)
{
	const struct device_events *events = port->device->events;
	uint8_t before = port->info.port_state;

	if (state == before && physical == port->info.port_physical_state)
		return;
	port->info.port_state = state;
	port->info.port_physical_state = physical;
	if (state <= PORT_INIT)
		port->step = 0;
	if (!by_set)
		tell_switch(port, before);
	if (events->port_changed)
		events->port_changed(events->ctx, port->device, port->num);
}

/* LinkDownedCounter: the link was up, and error recovery failed (16.1.3.5). A port that a Set()
 * brought down did not try to recover. */
static void count_lost(struct device_port *port)
{
	if (link_is_up(port))
		port_count_error(&port->counts, ERROR_LINK_DOWNED);
}

/* A link, or a link in training, is lost; the far end detects it. */
static void link_leave(struct device_port *port, uint8_t physical, bool by_set)
{
	struct device_port *peer = port->peer;
	bool was_linked = link_is_up(port) || is_training(port);

	if (!by_set)
		count_lost(port);
	link_enter_state(port, PORT_DOWN, physical, by_set);
	if (!was_linked || !peer || peer == port)
		return;
	count_lost(peer);
	link_enter_state(peer, PORT_DOWN, peer->info.link_down_default_state, false);
}

void link_drop(struct device_port *port)
{
	if (link_is_up(port) || is_training(port))
		link_leave(port, port->info.link_down_default_state, false);
}

/* Training */

static bool listens(const struct device_port *port)
{
	return port->info.port_physical_state == PHYS_POLLING ||
	       port->info.port_physical_state == PHYS_SLEEP;
}

/* A sleeping port wakes up when the far end polls; if both sleep, neither wakes. */
void link_try(struct device_port *port)
{
	const struct device_events *events = port->device->events;
	struct device_port *peer = port->peer;

	if (!peer || port->pulled || port->device->off || peer->device->off || !listens(port) ||
	    !listens(peer) ||
	    (port->info.port_physical_state == PHYS_SLEEP &&
	     peer->info.port_physical_state == PHYS_SLEEP))
		return;
	port->trainings++;
	if (peer != port)
		peer->trainings++;
	link_enter_state(port, PORT_DOWN, PHYS_TRAINING, true);
	link_enter_state(peer, PORT_DOWN, PHYS_TRAINING, true);
	if (events->training)
		events->training(events->ctx, port);
	else
		device_port_trained(port);
}

/* LinkWidthEnabled's bits, widest first: 12x, 8x, 4x, 2x, 1x. */
static uint8_t widest(uint8_t mask)
{
	static const uint8_t widths[] = {8, 4, 2, 16, 1};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		if (mask & widths[i])
			return widths[i];
	}
	return 0;
}

/* The bits of speeds are in the order of speeds. */
static uint8_t fastest(uint8_t mask)
{
	return mask ? 1 << (31 - __builtin_clz(mask)) : 0;
}

static uint8_t extended_speeds(const struct device_port *port)
{
	uint8_t enabled = port->info.link_speed_ext_enabled;

	return port->device->quirks.no_extended_speeds || enabled == LINK_SPEED_EXT_NONE ? 0
											 : enabled;
}

/* The best rate that both ends enable; false: they have none in common. A link at an extended speed
 * also shows its fastest older speed, a link at FDR10 shows QDR. */
static bool negotiate(struct device_port *a, struct device_port *b)
{
	uint8_t width = widest(a->info.link_width_enabled & b->info.link_width_enabled);
	uint8_t speed = fastest(a->info.link_speed_enabled & b->info.link_speed_enabled);
	uint8_t extended = fastest(extended_speeds(a) & extended_speeds(b));
	uint8_t fdr10 = speed == LINK_SPEED_QDR && !extended
				? a->ext.link_speed_enabled & b->ext.link_speed_enabled
				: 0;
	struct device_port *ends[] = {a, b};

	if (!width || (!speed && !extended))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		ends[i]->info.link_width_active = width;
		ends[i]->info.link_speed_active = speed;
		ends[i]->info.link_speed_ext_active = extended;
		ends[i]->ext.link_speed_active = fdr10;
	}
	return true;
}

void device_port_trained(struct device_port *port)
{
	struct device_port *peer = port->peer;
	uint8_t state = PORT_INIT, physical = PHYS_LINK_UP;

	if (!peer || !is_training(port))
		return;
	if (!negotiate(port, peer)) {
		state = PORT_DOWN;
		physical = PHYS_POLLING;
	}
	link_enter_state(port, state, physical, false);
	link_enter_state(peer, state, physical, false);
}

/* Steps that a Set() may make */

bool link_may_step(const struct device_port *port, uint8_t state, uint8_t physical)
{
	bool may_stay = !port->device->quirks.strict_states;
	uint8_t now = port->info.port_state;

	if (!port->num) /* no link: only the present states are allowed */
		return (state == PORT_NO_CHANGE || state == now) && physical == PHYS_NO_CHANGE;
	if (physical != PHYS_NO_CHANGE)
		return physical <= PHYS_DISABLED && state <= PORT_DOWN;
	if (state && port->device->quirks.stuck_states)
		return false;
	switch (state) {
	case PORT_NO_CHANGE:
	case PORT_DOWN:
		return true;
	case PORT_ARMED:
		return now == PORT_INIT || (now == PORT_ARMED && may_stay);
	case PORT_ACTIVE:
		return (now == PORT_ACTIVE && may_stay) ||
		       (now == PORT_ARMED && port->peer->info.port_state >= PORT_ARMED);
	default:
		return false;
	}
}

/* A Set() of PortState to Down with the link up returns the logical state to Init, and that of the
 * far end if it was higher. The link does not train again. So the answer shows Init, and the link
 * carries it. */
static void return_to_init(struct device_port *port)
{
	struct device_port *peer = port->peer;

	link_enter_state(port, PORT_INIT, PHYS_LINK_UP, true);
	if (peer->info.port_state > PORT_INIT) {
		link_enter_state(peer, PORT_DOWN, PHYS_LINK_UP, false);
		link_enter_state(peer, PORT_INIT, PHYS_LINK_UP, false);
	}
}

/* The far end of a link also goes ACTIVE. */
static void activate(struct device_port *port)
{
	link_enter_state(port, PORT_ACTIVE, PHYS_LINK_UP, true);
	if (port->peer->info.port_state == PORT_ARMED)
		link_enter_state(port->peer, PORT_ACTIVE, PHYS_LINK_UP, false);
}

/* The state follows later: device_quirks.state_lag_us. */
static void step_later(struct device_port *port, uint8_t state)
{
	const struct device_events *events = port->device->events;

	port->step = state;
	port->step_us = STARTS_NOW;
	if (events->due)
		events->due(events->ctx, port->device);
}

static void step_now(struct device_port *port, uint8_t state)
{
	if (state == PORT_ARMED)
		link_enter_state(port, PORT_ARMED, PHYS_LINK_UP, true);
	else if (state == PORT_ACTIVE)
		activate(port);
}

void link_step(struct device_port *port, uint8_t state, uint8_t physical)
{
	if (!port->num)
		return;
	if (physical != PHYS_NO_CHANGE)
		link_leave(port, physical, true);
	else if (state == PORT_DOWN && link_is_up(port) && port->device->quirks.down_trains)
		link_leave(port, port->info.link_down_default_state, true);
	else if (state == PORT_DOWN && link_is_up(port))
		return_to_init(port);
	else if (state > PORT_INIT && port->device->quirks.state_lag_us)
		step_later(port, state);
	else
		step_now(port, state);
	/* Also after a change of speeds: the new speed may be the first in common. */
	link_try(port);
}

/* Steps that follow later */

uint64_t link_next_us(const struct device *device)
{
	uint64_t next_us = UINT64_MAX;

	for (unsigned num = 1; num <= device->num_ports && device->quirks.state_lag_us; num++) {
		const struct device_port *port = &device->port[num];

		if (port->step && port->step_us < next_us)
			next_us = port->step_us;
	}
	return next_us;
}

static void tick_port(struct device_port *port, uint64_t now_us)
{
	uint8_t state = port->step;

	if (port->step_us == STARTS_NOW) {
		port->step_us = now_us + port->device->quirks.state_lag_us;
		return;
	}
	port->step = 0;
	if (link_may_step(port, state, PHYS_NO_CHANGE))
		step_now(port, state);
}

void link_tick(struct device *device, uint64_t now_us)
{
	for (unsigned num = 1; num <= device->num_ports; num++) {
		struct device_port *port = &device->port[num];

		if (port->step && port->step_us <= now_us)
			tick_port(port, now_us);
	}
}

/* Cables */

void device_cable(struct device_port *a, struct device_port *b)
{
	assert(!a->peer && !b->peer && a->num && b->num);
	a->peer = b;
	b->peer = a;
	a->pulled = b->pulled = false;
	link_try(a);
}

void device_pull(struct device_port *port, bool pulled)
{
	if (!port->peer)
		return;
	port->pulled = port->peer->pulled = pulled;
	if (pulled)
		link_drop(port);
	else
		link_try(port);
}

void device_uncable(struct device_port *port)
{
	struct device_port *peer = port->peer;

	if (!peer)
		return;
	link_drop(port);
	port->peer = peer->peer = NULL;
	port->pulled = peer->pulled = false;
}

/* Data */

bool device_port_matches(const struct device_port *port)
{
	return port->info.neighbor_mtu == port->peer->info.neighbor_mtu &&
	       port->info.operational_vls == port->peer->info.operational_vls;
}

bool device_port_passes(const struct device_port *port)
{
	return port->info.port_state == PORT_ACTIVE && port->peer &&
	       port->peer->info.port_state == PORT_ACTIVE && device_port_matches(port);
}
