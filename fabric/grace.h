/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * LIDs of ports that are gone. A node that reboots, or whose cable is changed, comes back: until
 * its grace is over nobody else is given its LIDs, so that connections, caches and forwarding
 * tables that name them are right again. Written by discovery when it drops a node, read by
 * lid_assign(). What is not known any more after a change of masters is forgotten. Loop thread
 * only.
 */
#ifndef FABRIC_GRACE_H
#define FABRIC_GRACE_H

#include "fabric/fabric.h"

/* The node is about to be dropped: its LIDs are kept for its ports until then. */
void grace_keep(struct fabric *fabric, const struct node *node, uint64_t until_us);
/* Forgets those whose grace is over. */
void grace_expire(struct fabric *fabric, uint64_t now_us);
/* Forgets those that have been given, to whom they were kept for or to others. */
void grace_settle(struct fabric *fabric);
void grace_forget(struct fabric *fabric);

#endif
