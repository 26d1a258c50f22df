/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The watch over the manager's own port: its link, its LID, and the presence of its device. No
 * trap can report that its link went down and up, because such a trap would need this link. So
 * between sweeps its PortInfo is read, by an SMP that does not leave the host. The transport
 * reports a missing device. Called by sm.c. Loop thread only.
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
	uint64_t sweep; /* the last sweep when the port was read */
	unsigned downs; /* consecutive reads with the link down */
};

/* Prepares the watch of the port on which this manager runs. */
void local_port_init(struct sm *sm);
/* Reads the local port twice a second from now on. */
void local_port_start(struct sm *sm);
/* Stops the watch; harmless if it does not run. */
void local_port_done(struct sm *sm);

#endif
