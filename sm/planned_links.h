/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whether the fabric is as planned (option planned_topology), for `weftctl health`. A worker
 * compares the plan with the topology of the published view (planned_gaps.h): at the end of a sweep
 * that published another one, and when there is another plan. The result is only shown, so no sweep
 * waits for it. One comparison runs at a time. Without a view, as while this manager is not MASTER,
 * there is no result. Called by sm/sweep.c and sm/sm.c. Loop thread only, but for the job itself.
 */
#ifndef SM_PLANNED_LINKS_H
#define SM_PLANNED_LINKS_H

#include "sm/planned_gaps.h"

struct sm;
struct planned_job;

struct planned_links {
	struct net *plan;	 /* NULL: none is configured */
	char *path;		 /* of its file */
	struct planned_job *job; /* NULL: no comparison is under way */
	uint64_t generation;	 /* of the snapshot that was compared last, or is being compared */
	bool known;		 /* gaps are those of the plan */
	struct planned_gaps gaps;
};

/* Replaces the plan, and takes it over; NULL: none. path is copied. */
void planned_links_set(struct sm *sm, struct net *plan, const char *path);
/* A sweep has ended. */
void planned_links_swept(struct sm *sm);
/* Frees everything. After the pool was stopped. */
void planned_links_done(struct sm *sm);

#endif
