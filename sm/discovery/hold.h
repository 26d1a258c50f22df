/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ports that are kept out for a while: flapping links, and ports that babble. While a cable is held
 * no route uses it and it is not brought up; a link that is up stays up. When its time is over its
 * switch is read again and it comes back. Called by the sweep after each discovery and by the SMP
 * receiver for traps. The manager's own cable is never held. Loop thread only.
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
	struct loop_timer timer;     /* the next one is over */
	uint64_t flapping, babbling; /* since the start */
	struct log_limit limit;
};

void hold_init(struct hold *hold, struct loop *loop, struct fabric *fabric, struct trigger *trigger,
	       const struct sm_options *options);
void hold_done(struct hold *hold);

/* Evaluates lost links that discovery has seen, and complaints that its reads confirm.
 * options->babble_policy decides the reaction. */
void hold_judge(struct hold *hold);
/* The agent of this port sent trap number, a complaint about the port. True: there were too many,
 * so read the port now. hold_judge() reacts only after this read. */
bool hold_complaint(struct hold *hold, struct port *port, uint16_t number);

#endif
