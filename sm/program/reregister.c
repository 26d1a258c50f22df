/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notification of hosts about a new manager: hosts that are up and have another MasterSMLID, or
 * that have registered with an SA whose registrations we do not have (port_needs_rereg()). One
 * Set(PortInfo) with ClientReregister does both, and causes many requests of the host. So
 * rereg_rate limits the notifications in a second, in all runs of the sweep and between runs. Ports
 * above the limit wait in a queue, and a timer takes as many as the rate permits.
 *
 * A host with another MasterSMLID sends its requests to a dead manager. So it is notified even if
 * rereg_rate is 0, and as soon as possible: the SA answers when a run begins, but the routes to us
 * must exist. If our port was up with our LID when we became MASTER, the previous manager has set
 * these routes. Otherwise the notification waits for the tables.
 */
#include "sm/program/parts.h"

enum { TICK_US = 50000 };

static void earn(struct program *program)
{
	uint64_t now_us = loop_now_us(program->loop), rate = program->options->rereg_rate;
	uint64_t earned = (now_us - program->rereg_credited_us) * rate / 1000000;

	if (!earned)
		return;
	program->rereg_credited_us = now_us;
	program->rereg_credits = earned + program->rereg_credits < rate
					 ? (unsigned)earned + program->rereg_credits
					 : (unsigned)rate;
}

static void reregister_tick(void *arg)
{
	struct program *program = arg;
	struct list *link;

	earn(program);
	for (unsigned i = program->rereg_credits; i && (link = list_pop(&program->rereg_queue));
	     i--)
		program_look_at(program, container_of(link, struct port, program.waiting));
	if (!list_empty(&program->rereg_queue))
		loop_timer_arm(&program->rereg_timer, TICK_US);
}

void reregister_init(struct program *program)
{
	list_init(&program->rereg_queue);
	loop_timer_init(&program->rereg_timer, program->loop, "client reregistration",
			reregister_tick, program);
}

void reregister_done(struct program *program)
{
	loop_timer_disarm(&program->rereg_timer);
	while (list_pop(&program->rereg_queue))
		;
}

bool reregister_knows_us(const struct port *port, const struct port_info *want)
{
	return port_info(port)->master_sm_lid == want->master_sm_lid;
}

bool reregister_is_due(const struct program *program, const struct port *port,
		       const struct port_info *want)
{
	bool is_up = port != program->fabric->sm_port && port_state_of(port) == PORT_ACTIVE &&
		     port_info(port)->lid == want->lid;

	return want->client_reregister && (is_up || reregister_knows_us(port, want));
}

bool reregister_may_send(struct program *program, struct port *port, const struct port_info *want)
{
	bool in_sweep = program->done && program->part == PROGRAM_ALL;
	bool knows_us = reregister_knows_us(port, want);

	if (in_sweep && !program->announcing && (knows_us || !program->lid_was_led_to))
		return false; /* program_announce() processes it again */
	if (!program->options->rereg_rate)
		return !knows_us;
	earn(program);
	if (program->rereg_credits) {
		program->rereg_credits--;
		return true;
	}
	list_del(&port->program.waiting);
	list_push(&program->rereg_queue, &port->program.waiting);
	if (!loop_timer_armed(&program->rereg_timer))
		loop_timer_arm(&program->rereg_timer, TICK_US);
	return false;
}
