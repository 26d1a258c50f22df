/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet manager's commands on the control socket: status, sweep, nodes, links, ports, routes,
 * partitions, M_Keys, aliases, handover. weftd creates a manager, then its commands. Loop thread
 * only.
 */
#ifndef SM_CONTROL_CONTROL_H
#define SM_CONTROL_CONTROL_H

#include "sm/sm.h"

struct sm_commands;

/* Registers the commands of sm on the socket; after sm_replicate(). sm owns none of it. */
void sm_commands_begin(struct sm *sm, struct control *control);
/* That of sm; NULL: sm_commands_begin() was not called. */
struct sm_commands *sm_commands_of(const struct sm *sm);
/* Answers the requests that wait; before sm_stop(). NULL is harmless. */
void sm_commands_stop(struct sm_commands *commands);
/* After sm_free(), which ends what is under way, and when the pool runs no job. NULL is harmless.
 */
void sm_commands_free(struct sm_commands *commands);

/* Judges the routing engines of these options with these input files (NULL: none), as route engine
 * does, if a reload would change the engines in force or their files.
 * judged gets the danger, or NULL, in this turn or later, once; or error: why they could not be
 * judged. sm_commands_begin() came before. */
void sm_judge_options(struct sm *sm, const struct sm_options *options,
		      struct route_options *route_options,
		      void (*judged)(void *ctx, const char *danger, const char *error), void *ctx);

/* Whether this manager is MASTER; if not, ends the request with an error that names the MASTER.
 * what: the action, such as "change partitions". */
bool sm_at_master(const struct sm *sm, struct control_request *request, const char *what);
/* The same, and whether it has a view of the fabric. */
bool sm_may_change(const struct sm *sm, struct control_request *request, const char *what);

/* The manager's part of `weftctl status`; a new reference. */
json_t *sm_status(const struct sm *sm);

#endif
