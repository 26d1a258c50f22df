/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One check at a time, with references to the routes and their snapshot: credit_watch.h. */
#include "sm/credit_watch.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"

struct credit_job {
	struct work_job job;
	struct sm *sm;
	struct work_pool *pool;
	struct snapshot *snapshot;
	struct routes *routes;
	struct credit_report report;
};

static void credit_run(struct work_job *job)
{
	struct credit_job *credit = container_of(job, struct credit_job, job);

	credit_check(credit->snapshot, credit->routes, credit->pool, &credit->report);
}

static void credit_job_free(struct credit_job *credit)
{
	if (!credit)
		return;
	snapshot_unref(credit->snapshot);
	routes_unref(credit->routes);
	free(credit);
}

/* If other routes are in use now, they are checked next. */
static void credit_ended(struct work_job *job)
{
	struct credit_job *credit = container_of(job, struct credit_job, job);
	struct sm *sm = credit->sm;

	sm->credit_watch.job = NULL;
	credit_job_free(credit);
	if (!sm->credit_watch.known)
		credit_watch_routes(sm);
}

static void credit_free_routes(struct work_job *job)
{
	struct credit_job *credit = container_of(job, struct credit_job, job);

	routes_unref(credit->routes);
	credit->routes = NULL;
}

/* Routes that were replaced during the check have no other reference left: a worker frees their
 * rows, because that takes too long for a turn of the loop. */
static void credit_checked(struct work_job *job)
{
	struct credit_job *credit = container_of(job, struct credit_job, job);
	struct credit_watch *watch = &credit->sm->credit_watch;

	if (credit->sm->routes.routes == credit->routes) {
		watch->report = credit->report;
		watch->known = true;
	}
	credit->routes = routes_detach(credit->routes);
	if (!credit->routes) {
		credit_ended(job);
		return;
	}
	*job = (struct work_job){
		.name = "free routes", .run = credit_free_routes, .done = credit_ended};
	list_init(&job->link);
	work_submit(credit->pool, job);
}

void credit_watch_routes(struct sm *sm)
{
	struct credit_watch *watch = &sm->credit_watch;
	const struct route_engine *engine = route_engine_find(sm->routes.routes->engine);
	struct credit_job *credit;

	watch->known = engine && engine->acyclic;
	watch->report = sm->routes.credit;
	if (watch->known || watch->job || sm->stopped)
		return;
	credit = mem_zalloc(sizeof(*credit));
	credit->job = (struct work_job){
		.name = "credit loops", .run = credit_run, .done = credit_checked};
	list_init(&credit->job.link);
	credit->sm = sm;
	credit->pool = sm->pool;
	credit->snapshot = snapshot_ref(sm->routed);
	credit->routes = routes_ref(sm->routes.routes);
	watch->job = credit;
	work_submit(sm->pool, &credit->job);
}

void credit_watch_done(struct sm *sm)
{
	credit_job_free(sm->credit_watch.job);
	sm->credit_watch.job = NULL;
}
