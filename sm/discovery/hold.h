/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Holds on ports with flapping links, and reactions to ports that send too many error traps. While
 * a cable is held, no route uses it and it is not brought up, but an existing link stays up. When
 * the hold ends, the switch is read again and the cable returns to service. The sweep calls this
 * module after each discovery, and the SMP receiver calls it for traps. The cable of the manager is
 * never held. Loop thread only.
 */
#ifndef SM_DISCOVERY_HOLD_H
#define SM_DISCOVERY_HOLD_H

#include "fabric/fabric.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "sm/options.h"
#include "sm/trigger.h"

struct hold {
	struct fabric *fabric;
	struct trigger *trigger;
	const struct sm_options *options;
	struct loop *loop;
	struct loop_timer timer;     /* the end of the next hold */
	uint64_t flapping, babbling; /* since the start */
	struct log_limit limit;
};

/* Sets up a hold; the parameters are borrowed. */
void hold_init(struct hold *hold, struct loop *loop, struct fabric *fabric, struct trigger *trigger,
	       const struct sm_options *options);
/* Stops the timer. */
void hold_done(struct hold *hold);

/* Evaluates the link losses that discovery found, and the error traps that its reads confirm.
 * options->babble_policy decides the reaction. */
void hold_judge(struct hold *hold);
/* The agent of this port sent an error trap about it; number: of the trap. True: the limit is
 * exceeded, and the caller must read the port now. hold_judge() reacts only after this read. */
bool hold_complaint(struct hold *hold, struct port *port, uint16_t number);

#endif
