/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether the routes in use have credit loops. The routing engines that promise none are checked
 * while routes are computed (route/engine.h). The routes of other engines are checked here, on a
 * worker, after they are in use: the result is only shown, so the routes do not wait for it. Called
 * by sm/sweep.c. Loop thread only, but for the job itself.
 */
#ifndef SM_CREDIT_WATCH_H
#define SM_CREDIT_WATCH_H

#include "route/credit.h"

struct sm;
struct credit_job;

struct credit_watch {
	struct credit_job *job; /* NULL: none is under way */
	bool known;		/* report is that of the routes in use */
	struct credit_report report;
};

/* There are new routes in use: sm->routes. */
void credit_watch_routes(struct sm *sm);
/* After the pool was stopped. */
void credit_watch_done(struct sm *sm);

#endif
