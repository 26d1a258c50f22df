/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pool of lib/work.h without threads. A job runs when it is submitted. Its completion comes by
 * a timer after a virtual cost: JOB_US, and ITEM_US for each item that the job gave to
 * work_parallel(), divided by the workers of the pool. So a job costs the same virtual time on
 * every machine, and the fabric changes while it is under way.
 *
 * The slices of work_parallel() are those of the real pool, but the first is chosen at random. A
 * job whose slices depend on each other gives different results by seed, which a test can detect.
 */
#include "tests/sim/work_inline.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/mem.h"

enum { JOB_US = 200, ITEM_US = 5, SLICES_MAX = 256 };

struct work_pool {
	struct loop *loop;
	unsigned size;
	uint64_t jobs;	/* submitted */
	uint64_t items; /* given to work_parallel() by the running job */
	struct list pending;
};

struct completion {
	struct list link; /* in pool->pending */
	struct loop_timer timer;
	struct work_job *job;
};

struct work_pool *work_pool_new(struct loop *loop, unsigned workers)
{
	struct work_pool *pool = mem_zalloc(sizeof(*pool));

	pool->loop = loop;
	pool->size = workers ? workers : 1;
	list_init(&pool->pending);
	return pool;
}

void work_pool_free(struct work_pool *pool)
{
	struct list *link;

	if (!pool)
		return;
	while ((link = list_pop(&pool->pending))) {
		struct completion *completion = container_of(link, struct completion, link);

		loop_timer_disarm(&completion->timer);
		free(completion);
	}
	free(pool);
}

unsigned work_pool_size(const struct work_pool *pool)
{
	return pool->size;
}

uint64_t work_inline_jobs(const struct work_pool *pool)
{
	return pool->jobs;
}

static void complete(void *arg)
{
	struct completion *completion = arg;
	struct work_job *job = completion->job;

	list_del(&completion->link);
	free(completion);
	job->done(job);
}

void work_submit(struct work_pool *pool, struct work_job *job)
{
	struct completion *completion = mem_zalloc(sizeof(*completion));

	assert(job->run && job->done);
	pool->items = 0;
	pool->jobs++;
	job->run(job);
	completion->job = job;
	list_push(&pool->pending, &completion->link);
	loop_timer_init(&completion->timer, pool->loop, job->name, complete, completion);
	loop_timer_arm(&completion->timer, JOB_US + ITEM_US * pool->items / pool->size);
}

void work_parallel(struct work_pool *pool, size_t count,
		   void (*fn)(void *arg, size_t begin, size_t end), void *arg)
{
	size_t slice = count / SLICES_MAX + (count % SLICES_MAX != 0);
	size_t slices = slice ? (count + slice - 1) / slice : 0;
	size_t first = pool && slices ? loop_random(pool->loop) % slices : 0;

	if (pool)
		pool->items += count;
	for (size_t i = 0; i < slices; i++) {
		size_t begin = (first + i) % slices * slice;

		fn(arg, begin, begin + slice < count ? begin + slice : count);
	}
}
