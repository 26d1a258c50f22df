/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A record with a timer for each port that sent traps in the last minute: sm/trap_pace.h. */
#include "sm/trap_pace.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"

#define S_US UINT64_C(1000000)

struct sender {
	struct trap_pace *pace;
	guid_t guid;		 /* of its end port */
	struct loop_timer timer; /* the next read, or the end of this record */
	uint64_t looked_us;
	uint64_t next_us; /* no look before */
	uint64_t forget_us;
	uint64_t revision; /* that of its node at the last request */
	uint64_t sweep;	   /* the sweep that makes this read; 0: none yet */
	unsigned empty;	   /* reads in a row without changes */
	uint64_t link_tid; /* of the last trap 128 */
	uint16_t number;   /* of the last trap */
	uint8_t what;	   /* bits of enum discover_look for the next read; 0: none */
};

uint64_t trap_pause_us(unsigned empty)
{
	unsigned doublings = empty > TRAP_EMPTY_FREE ? empty - TRAP_EMPTY_FREE : 0;

	if (doublings > TRAP_PAUSE_DOUBLINGS)
		doublings = TRAP_PAUSE_DOUBLINGS;
	return TRAP_PAUSE_S * S_US << doublings;
}

static void trap_pace_forget(struct sender *sender)
{
	loop_timer_disarm(&sender->timer);
	map_remove(&sender->pace->senders, sender->guid);
	free(sender);
}

static void trigger_look(struct sm *sm, const struct port *port, const struct sender *sender)
{
	char reason[TRIGGER_REASON_SIZE];

	snprintf(reason, sizeof(reason), "trap %u from LID %u", sender->number, port->lid);
	if (sender->what & LOOK_NODE)
		trigger_node(&sm->trigger, port->node->guid, reason);
	if (sender->what & ~LOOK_NODE)
		trigger_port(&sm->trigger, sender->guid, sender->what & ~LOOK_NODE, reason);
	discover_hurry(sm->discover);
}

/* A read that no sweep has made yet says nothing about the sender. */
static void judge_last_look(struct sender *sender, const struct sm *sm, uint64_t revision)
{
	if (!sender->sweep || sm->sweep.last.number < sender->sweep)
		return;
	sender->empty = revision == sender->revision ? sender->empty + 1 : 0;
}

static void trap_pace_look_at(struct sender *sender)
{
	struct sm *sm = sender->pace->sm;
	const struct port *port = map_get(&sm->fabric->ports, sender->guid);

	if (!port || peers_role(sm->peers) != SM_MASTER) {
		trap_pace_forget(sender);
		return;
	}
	judge_last_look(sender, sm, port->node->revision);
	trigger_look(sm, port, sender);
	sender->what = 0;
	sender->revision = port->node->revision;
	sender->sweep = sm->sweep.last.number + sm->sweep.running + 1;
	sender->looked_us = loop_now_us(sm->loop);
	sender->next_us = sender->looked_us + trap_pause_us(sender->empty);
	loop_timer_arm_at(&sender->timer, sender->next_us);
}

static void trap_pace_expired(void *arg)
{
	struct sender *sender = arg;

	if (sender->what)
		trap_pace_look_at(sender);
	else if (loop_now_us(sender->pace->sm->loop) >= sender->forget_us)
		trap_pace_forget(sender);
	else
		loop_timer_arm_at(&sender->timer, sender->forget_us);
}

static struct sender *trap_pace_sender(struct trap_pace *pace, const struct port *port)
{
	guid_t guid = port_facts(port)->guid;
	struct sender *sender = map_get(&pace->senders, guid);

	if (sender)
		return sender;
	sender = mem_zalloc(sizeof(*sender));
	sender->pace = pace;
	sender->guid = guid;
	loop_timer_init(&sender->timer, pace->sm->loop, "traps of a port", trap_pace_expired,
			sender);
	map_put(&pace->senders, guid, sender);
	return sender;
}

/* Other traps of a switch, such as 256 for each SMP with a wrong M_Key that any host sends, must
 * not delay its own reports of changed links. Nor must a report that its agent repeats although
 * the TrapRepress was sent. */
static void end_back_off(struct sender *sender, const struct port *port, uint16_t number,
			 uint64_t tid)
{
	bool is_repeated = tid && sender->link_tid == tid; /* some agents send 0 */

	if (number != TRAP_LINK_STATE)
		return;
	sender->link_tid = tid;
	if (is_repeated || !port_of_switch(port) || !sender->empty)
		return;
	sender->empty = 0;
	sender->next_us = sender->looked_us + trap_pause_us(0);
	if (loop_timer_armed(&sender->timer))
		loop_timer_arm_at(&sender->timer, sender->next_us);
}

void trap_pace_look(struct trap_pace *pace, const struct port *port, uint8_t what, uint16_t number,
		    uint64_t tid)
{
	struct sender *sender = trap_pace_sender(pace, port);
	uint64_t now_us = loop_now_us(pace->sm->loop);

	end_back_off(sender, port, number, tid);
	sender->what |= what;
	sender->number = number;
	sender->forget_us = now_us + TRAP_FORGET_S * S_US;
	if (now_us >= sender->next_us)
		trap_pace_look_at(sender);
}

void trap_pace_init(struct trap_pace *pace, struct sm *sm)
{
	pace->sm = sm;
	map_init(&pace->senders);
}

void trap_pace_done(struct trap_pace *pace)
{
	size_t position = 0;
	struct sender *sender;

	while ((sender = map_next(&pace->senders, &position))) {
		loop_timer_disarm(&sender->timer);
		free(sender);
	}
	map_done(&pace->senders);
}
