/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a MASTER does about another MASTER, or about a manager that may have been MASTER: when it
 * logs this, and when everything is read again. For sm/sweep.c. Loop thread only.
 */
#ifndef SM_CONTEST_H
#define SM_CONTEST_H

#include "sm/context.h"

enum { CONTEST_RATE_S = 30 }; /* between heavy sweeps for each kind of doubt, after four at once */

/* Prepares the limits. */
void contest_init(struct sm *sm);
/* This sweep has found another MASTER: logs it once, when it has lasted for some time. */
void contest_tell(struct sm *sm);
/* Requests a heavy sweep, and forgets the tables, if there is a doubt (peers_doubt()) and the limit
 * allows it. False: the doubt remains, if there is one. */
bool contest_read_again(struct sm *sm);
/* The time until the limit allows that sweep, in microseconds. 0: there is no doubt, or never. */
uint64_t contest_wait_us(const struct sm *sm);

#endif
