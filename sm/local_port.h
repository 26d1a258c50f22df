/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The watch over the manager's own port: its link, its LID, and whether its device is there. A
 * link's going down and coming back is told by no trap that could reach us: what would tell it is
 * behind that link. So between sweeps our own port is asked for its PortInfo, an SMP that leaves
 * the machine by no cable. That the device has gone the transport tells. Called by sm.c. Loop
 * thread only.
 */
#ifndef SM_LOCAL_PORT_H
#define SM_LOCAL_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/loop.h"

struct sm;

struct local_port {
	struct loop_timer timer;
	bool under_way;
	uint64_t sweep; /* the last one when our port was asked */
	unsigned downs; /* so many times in a row its link was down */
};

/* Prepares the watch of the port on which this manager runs. */
void local_port_init(struct sm *sm);
/* Reads the local port twice a second from now on. */
void local_port_start(struct sm *sm);
/* Stops the watch; harmless if it does not run. */
void local_port_done(struct sm *sm);

#endif
