/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Starts the comparisons with the plan: planned_links.h. */
#include "sm/planned_links.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"

struct planned_job {
	struct work_job job;
	struct sm *sm;
	struct net *plan; /* of sm->planned, or replaced since: then the job frees it */
	struct snapshot *snapshot;
	struct planned_gaps gaps;
};

static void compare_in_job(struct work_job *job)
{
	struct planned_job *planned = container_of(job, struct planned_job, job);

	planned_gaps_find(planned->plan, planned->snapshot, &planned->gaps);
}

static void planned_job_free(struct planned_job *job)
{
	if (!job)
		return;
	if (job->plan != job->sm->planned.plan)
		net_free(job->plan);
	snapshot_unref(job->snapshot);
	planned_gaps_done(&job->gaps);
	free(job);
}

static void planned_links_forget(struct planned_links *planned)
{
	planned->known = false;
	planned->generation = 0;
	planned_gaps_done(&planned->gaps);
}

static void planned_links_compared(struct work_job *job)
{
	struct planned_job *ended = container_of(job, struct planned_job, job);
	struct sm *sm = ended->sm;
	struct planned_links *planned = &sm->planned;

	planned->job = NULL;
	if (ended->plan == planned->plan && sm->view) {
		planned_gaps_done(&planned->gaps);
		planned->gaps = ended->gaps;
		ended->gaps = (struct planned_gaps){0};
		planned->known = true;
	}
	planned_job_free(ended);
	planned_links_swept(sm);
}

void planned_links_swept(struct sm *sm)
{
	struct planned_links *planned = &sm->planned;
	struct planned_job *job;

	if (!sm->view)
		planned_links_forget(planned);
	if (!planned->plan || planned->job || !sm->view || sm->stopped ||
	    (planned->generation == sm->view->topology->generation && planned->known))
		return;
	job = mem_zalloc(sizeof(*job));
	job->job = (struct work_job){
		.name = "planned topology", .run = compare_in_job, .done = planned_links_compared};
	list_init(&job->job.link);
	job->sm = sm;
	job->plan = planned->plan;
	job->snapshot = snapshot_ref(sm->view->topology);
	planned->generation = sm->view->topology->generation;
	planned->job = job;
	work_submit(sm->pool, &job->job);
}

void planned_links_set(struct sm *sm, struct net *plan, const char *path)
{
	struct planned_links *planned = &sm->planned;

	if (!planned->job || planned->job->plan != planned->plan)
		net_free(planned->plan);
	free(planned->path);
	planned->plan = plan;
	planned->path = plan ? mem_strdup(path) : NULL;
	planned_links_forget(planned);
	planned_links_swept(sm);
}

void planned_links_done(struct sm *sm)
{
	struct planned_links *planned = &sm->planned;

	planned_job_free(planned->job);
	planned->job = NULL;
	net_free(planned->plan);
	free(planned->path);
	planned_links_forget(planned);
}
