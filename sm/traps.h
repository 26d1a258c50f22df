/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Traps that agents send to the manager: each one is repressed, its sender is checked, and a MASTER
 * acts on it. Loop thread only.
 */
#ifndef SM_TRAPS_H
#define SM_TRAPS_H

#include "sm/context.h"

void traps_init(struct sm *sm);
void traps_done(struct sm *sm);
/* A Trap(Notice) came; letter is borrowed. */
void traps_receive(struct sm *sm, const struct letter *letter);

#endif
