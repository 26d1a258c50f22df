/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A pool that runs jobs on the loop: see work_held.h. */
#include "tests/unit/store/work_held.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "lib/work.h"

struct work_pool {
	struct loop_timer timer;
	struct list submitted;
	bool hold;
};

static struct work_pool *last_pool;

static void pool_turn(void *arg)
{
	struct work_pool *pool = arg;
	struct list *link;

	if (pool->hold || !(link = list_pop(&pool->submitted)))
		return;
	if (!list_empty(&pool->submitted))
		loop_timer_arm(&pool->timer, 1);
	container_of(link, struct work_job, link)->run(container_of(link, struct work_job, link));
	container_of(link, struct work_job, link)->done(container_of(link, struct work_job, link));
}

struct work_pool *work_pool_new(struct loop *loop, unsigned workers)
{
	struct work_pool *pool = mem_zalloc(sizeof(*pool));

	(void)workers;
	list_init(&pool->submitted);
	loop_timer_init(&pool->timer, loop, "pool", pool_turn, pool);
	return last_pool = pool;
}

void work_pool_free(struct work_pool *pool)
{
	if (!pool)
		return;
	loop_timer_disarm(&pool->timer);
	while (list_pop(&pool->submitted))
		;
	free(pool);
}

void work_submit(struct work_pool *pool, struct work_job *job)
{
	list_push(&pool->submitted, &job->link);
	loop_timer_arm(&pool->timer, 1);
}

void work_hold(bool hold)
{
	last_pool->hold = hold;
	loop_timer_arm(&last_pool->timer, 1);
}
