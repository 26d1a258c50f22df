/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reactions to the histories of ports: sm/discovery/hold.h. A hold belongs to one end of a cable
 * and applies to both (port_held()), so that it survives if the other end disappears and returns.
 */
#include "sm/discovery/hold.h"

#include "fabric/subject.h"
#include "include/message_id.h"
#include "sm/discovery/damping.h"

#define S_US UINT64_C(1000000)

static bool hold_is_own_link(const struct hold *hold, const struct port *port)
{
	const struct port *own = hold->fabric->sm_port;

	return port == own || (own && own->peer == port);
}

static bool port_is_held(const struct port *port)
{
	return port->trouble && port->trouble->held_until_us;
}

static void hold_arm(struct hold *hold)
{
	uint64_t now_us = loop_now_us(hold->loop), next_us = 0;

	list_for_each (link, &hold->fabric->troubled) {
		uint64_t until_us = container_of(link, struct port_trouble, link)->held_until_us;

		if (until_us && (!next_us || until_us < next_us))
			next_us = until_us;
	}
	loop_timer_disarm(&hold->timer);
	if (next_us)
		loop_timer_arm(&hold->timer, next_us > now_us ? next_us - now_us : 1);
}

static void hold_expired(void *arg)
{
	struct hold *hold = arg;
	uint64_t now_us = loop_now_us(hold->loop);

	list_for_each (link, &hold->fabric->troubled) {
		struct port_trouble *trouble = container_of(link, struct port_trouble, link);

		if (!trouble->held_until_us || trouble->held_until_us > now_us)
			continue;
		trouble->held_until_us = 0;
		hold->fabric->topology++;
		trigger_node(hold->trigger, trouble->port->node->guid,
			     "the hold of a cable has ended");
	}
	hold_arm(hold);
}

static void keep_out(struct hold *hold, struct port *port, uint64_t us)
{
	uint64_t until_us = loop_now_us(hold->loop) + us;

	if (!port_is_held(port))
		hold->fabric->topology++;
	if (until_us > port->trouble->held_until_us)
		port->trouble->held_until_us = until_us;
}

/* Links */

static void judge_losses(struct hold *hold, struct port *port)
{
	struct log_subject subject = port_subject(port, MESSAGE_FLAPPING);
	uint64_t us;

	port->trouble->lost = false;
	if (hold_is_own_link(hold, port) || port_held(port))
		return;
	us = damping_loss(&port->trouble->flaps, loop_now_us(hold->loop),
			  hold->options->flap_hold_max_s * S_US);
	if (!us)
		return;
	keep_out(hold, port, us);
	hold->flapping++;
	log_limited(&hold->limit, LOG_WARNING, &subject,
		    "link of \"%s\" port %u is flapping: held down for %u s (check its cable)",
		    port->node->facts->description, port->num, (unsigned)(us / S_US));
}

/* Babbling */

/* The switch port to disable, or NULL. Only host links are disabled: without a cable between
 * switches, hosts or the manager could lose their connection. */
static struct port *to_disable(struct hold *hold, struct port *port)
{
	struct port *at = port_of_switch(port) ? port : port->peer;

	if (!at || !at->num || !port_of_switch(at) || hold_is_own_link(hold, at) ||
	    (at->peer && port_of_switch(at->peer)))
		return NULL;
	return at;
}

static bool disable(struct hold *hold, struct port *port)
{
	struct port *at = to_disable(hold, port);

	if (!at)
		return false;
	port_ask_link(at, PHYS_DISABLED);
	trigger_node(hold->trigger, at->node->guid, "disabling a babbling port");
	return true;
}

static const struct {
	bool (*act)(struct hold *hold, struct port *port);
	const char *text;
} acts[] = {
	[BABBLE_NOTE] = {NULL, "no action taken"},
	[BABBLE_DISABLE] = {disable, "port disabled (after repair: weftctl port enable)"},
};

static void babbles(struct hold *hold, struct port *port, uint16_t number)
{
	struct log_subject subject = port_subject(port, MESSAGE_BABBLING);
	unsigned policy = hold->options->babble_policy;

	hold->babbling++;
	if (acts[policy].act && !acts[policy].act(hold, port))
		policy = BABBLE_NOTE;
	log_limited(&hold->limit, LOG_WARNING, &subject,
		    "\"%s\" port %u: %u error traps within a minute, the last is trap %u: %s",
		    port->node->facts->description, port->num, hold->options->babble_threshold,
		    number, acts[policy].text);
}

/* Whether the error traps are confirmed. Since the last trap the port has answered a read on its
 * directed route, its link is up, and it has the LID that sent the traps. */
static bool is_confirmed(const struct port *port)
{
	const struct agent *agent = port_agent(port);

	return agent && port->discovery.read_pass != port->trouble->babble.read_pass &&
	       port_info(agent->port)->lid == agent->port->lid &&
	       (!port->num || port_state_of(port) > PORT_DOWN);
}

/* Drops error traps that no read confirmed within the period. */
static void judge_complaint(struct hold *hold, struct port *port)
{
	struct babble_history *babble = &port->trouble->babble;
	uint16_t number = babble->unconfirmed;

	if (is_confirmed(port)) {
		babble->unconfirmed = 0;
		babbles(hold, port, number);
	} else if (damping_complaints_expired(babble, loop_now_us(hold->loop))) {
		babble->unconfirmed = 0;
	}
}

bool hold_complaint(struct hold *hold, struct port *port, uint16_t number)
{
	struct babble_history *babble = &port_trouble(hold->fabric, port)->babble;

	if (!damping_complaint(babble, loop_now_us(hold->loop), hold->options->babble_threshold))
		return false;
	babble->unconfirmed = number;
	babble->read_pass = port->discovery.read_pass;
	return true;
}

/* After each discovery */

/* Each cable has at least one end at a switch, except cables between two adapters. */
void hold_judge(struct hold *hold)
{
	list_for_each (link, &hold->fabric->troubled) {
		struct port_trouble *trouble = container_of(link, struct port_trouble, link);

		if (trouble->lost && trouble->port->num && port_of_switch(trouble->port))
			judge_losses(hold, trouble->port);
		if (trouble->babble.unconfirmed)
			judge_complaint(hold, trouble->port);
	}
	hold_arm(hold);
}

void hold_init(struct hold *hold, struct loop *loop, struct fabric *fabric, struct trigger *trigger,
	       const struct sm_options *options)
{
	*hold = (struct hold){.fabric = fabric,
			      .trigger = trigger,
			      .options = options,
			      .loop = loop,
			      .limit = {.burst = 10, .interval_us = 1000000}};
	loop_timer_init(&hold->timer, loop, "held cables", hold_expired, hold);
}

void hold_done(struct hold *hold)
{
	loop_timer_disarm(&hold->timer);
}
