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
static void credit_checked(struct work_job *job)
{
	struct credit_job *credit = container_of(job, struct credit_job, job);
	struct sm *sm = credit->sm;
	bool is_in_use = sm->routes.routes == credit->routes;

	sm->credit_watch.job = NULL;
	if (is_in_use) {
		sm->credit_watch.report = credit->report;
		sm->credit_watch.known = true;
	}
	credit_job_free(credit);
	if (!is_in_use)
		credit_watch_routes(sm);
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
