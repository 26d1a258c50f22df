/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Gives the errors of links to the policy that isolates ports: sm/isolate.h. Loop thread only. */
#ifndef WEFTD_ISOLATION_H
#define WEFTD_ISOLATION_H

struct pm;
struct sm;

struct isolation {
	struct pm *pm;
	struct sm *sm;
};

/* From now on, the policy judges all ports with errors after each read of the counters. isolation
 * must stay at its address; pm and sm are borrowed. */
void isolation_begin(struct isolation *isolation, struct pm *pm, struct sm *sm);

#endif
