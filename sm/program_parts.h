/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the two halves of programming share: program.c looks after ports and runs, program_switch.c
 * after SwitchInfo and forwarding tables. Private to these two.
 */
#ifndef SM_PROGRAM_PARTS_H
#define SM_PROGRAM_PARTS_H

#include "lib/log.h"
#include "sm/program.h"

struct program {
	struct window *window;
	struct fabric *fabric;
	const struct sm_options *options;
	bool announcing;	  /* ports that wait for the SA are let through */
	const struct agent *only; /* whose turn alone it is; NULL: everybody's */
	loop_fn *done;
	void *done_arg;
	struct program_report report;
	uint64_t refused_values;
	bool piecemeal;	   /* blocks may be written in part: they wait for each other in a circle */
	unsigned progress; /* table Sets acknowledged when the window was idle last */
	struct log_limit limit;
};

/* program.c: the port is to be looked at, now or when the window has room. */
void program_look_at(struct program *program, struct port *port);

/* program_switch.c */

/* The next thing to write to a switch itself; false: nothing now. */
bool switch_request(struct program *program, struct node *node, struct smp_request *out);
/* Takes the switch's row of routes as what it should hold; as before when both are NULL. */
void switch_take_routes(struct node *node, const struct snapshot *snapshot,
			const struct routes *routes);
/* Whether blocks of its table wait to be written. */
bool switch_is_unfinished(const struct node *node);

#endif
