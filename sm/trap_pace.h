/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rate at which the traps of one sender make the manager read it. The first trap causes a read
 * at once. Further reads follow at most once a second, and less often while they show nothing new.
 * Traps between two reads are merged into the next read, so no change is lost. Each sender has its
 * own pace, so a flood from one port delays no trap of another port. Other traps of a switch delay
 * traps about its links by at most one second. Loop thread only.
 */
#ifndef SM_TRAP_PACE_H
#define SM_TRAP_PACE_H

#include "include/iba.h"
#include "lib/map.h"

struct port;
struct sm;

enum {
	TRAP_PAUSE_S = 1,	  /* an agent with the usual SubnetTimeOut of 18 sends no faster */
	TRAP_EMPTY_FREE = 3,	  /* consecutive reads without changes before the pause grows */
	TRAP_PAUSE_DOUBLINGS = 3, /* to 8 s: the next light sweep comes after 10 s by default */
	TRAP_FORGET_S = 60,	  /* without a trap: then the sender counts as new */
};

struct trap_pace {
	struct sm *sm;
	struct map senders; /* by PortGUID */
};

/* Prepares an empty table of senders. */
void trap_pace_init(struct trap_pace *pace, struct sm *sm);
/* Frees all senders with their timers. */
void trap_pace_done(struct trap_pace *pace);
/* Requests a read of a port that sent trap number, with bits of enum discover_look. The read finds
 * the port by its GUID, so the port may be freed before. tid: the TransactionID, which an agent
 * keeps when it repeats a trap. */
void trap_pace_look(struct trap_pace *pace, const struct port *sender, uint8_t what,
		    uint16_t number, uint64_t tid);

/* The pause after a read, in microseconds; empty: consecutive reads without changes. */
uint64_t trap_pause_us(unsigned empty);

#endif
