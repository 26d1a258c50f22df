/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Traps that agents send to the manager: each trap is repressed, its sender is checked, and a
 * MASTER acts on it. Loop thread only.
 */
#ifndef SM_TRAPS_H
#define SM_TRAPS_H

#include "sm/context.h"

/* Limits of the traps of a port that are reported to subscribers: so many at once, and a further
 * trap in each interval. */
enum { TRAPS_TOLD_BURST = 50, TRAPS_TOLD_INTERVAL_US = 100000 };
/* Limits of the traps of a port, and of all unknown senders together, that make weftd verify
 * switches again. In each interval all switches must be verified and written, even if SMPs take
 * 100 ms: else a trap after each SMP would keep a sweep from its end. */
enum { TRAP_EPOCHS_BURST = 64, TRAP_EPOCHS_INTERVAL_US = 1000000 };

/* Prepares the limits of log lines and of reads that traps cause. */
void traps_init(struct sm *sm);
/* Frees the state of all senders. */
void traps_done(struct sm *sm);
/* Handles a received Trap(Notice); request is borrowed. */
void traps_receive(struct sm *sm, const struct smp_rx_request *request);
/* The end port with this source LID, which it has or is about to get; NULL: no known port has it.
 */
struct port *sender_by_lid(struct sm *sm, lid_t lid);

#endif
