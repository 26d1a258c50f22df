/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How often the traps of one sender make the manager look at it: at once for the first, then once
 * a second at most, and less often when looks reveal nothing new. What a sender tells in the
 * time between is merged into the next look, so no change is lost. Each sender has its own pace:
 * a flood from one port delays no trap of another port. Nor do other traps of a switch delay those
 * of its links by more than the second. Loop thread only.
 */
#ifndef SM_TRAP_PACE_H
#define SM_TRAP_PACE_H

#include "include/iba.h"
#include "lib/map.h"

struct port;
struct sm;

enum {
	TRAP_PAUSE_S = 1,    /* an agent with the usual SubnetTimeOut of 18 sends no faster */
	TRAP_EMPTY_FREE = 3, /* looks in a row that may reveal nothing before the pause grows */
	TRAP_PAUSE_DOUBLINGS = 3, /* to 8 s: the next light sweep comes after 10 s by default */
	TRAP_FORGET_S = 60,	  /* without a trap: the sender begins again as a new one */
};

struct trap_pace {
	struct sm *sm;
	struct map senders; /* by PortGUID */
};

void trap_pace_init(struct trap_pace *pace, struct sm *sm);
void trap_pace_done(struct trap_pace *pace);
/* Asks for a look at a port that sent trap number; what: enum discover_look. The port is looked up
 * again by its GUID when the look begins, so it may go in the time between. */
void trap_pace_look(struct trap_pace *pace, const struct port *sender, uint8_t what,
		    uint16_t number);

/* The pause after a look, in microseconds; empty: how many looks in a row revealed nothing. */
uint64_t trap_pause_us(unsigned empty);

#endif
