/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The worker pool: slices cover everything once, from any thread; completions run on the loop. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/work.h"
#include "tests/unit/fixtures/unit.h"

static const unsigned pool_sizes[] = {1, 2, 3, 8};

enum { COUNT_MAX = 4099 };

struct cells {
	unsigned char touched[COUNT_MAX + 1]; /* the last entry counts touches beyond the end */
	unsigned char begins[COUNT_MAX + 1];  /* 1 where a slice began */
};

static void touch(void *arg, size_t begin, size_t end)
{
	struct cells *cells = arg;

	cells->begins[begin] = 1;
	for (size_t i = begin; i < end; i++)
		cells->touched[i]++;
}

static int touched_once(const struct cells *cells, size_t count)
{
	for (size_t i = 0; i <= COUNT_MAX; i++) {
		if (cells->touched[i] != (i < count))
			return 0;
	}
	return 1;
}

/* For each count and number of workers, and the same slices as without a pool. */
static void test_slices(void)
{
	static const size_t counts[] = {0, 1, 2, 3, 255, 256, 257, 511, 1000, COUNT_MAX};
	static struct cells alone, together;

	for (size_t p = 0; p < ARRAY_SIZE(pool_sizes); p++) {
		struct loop *loop = loop_new();
		struct work_pool *pool = work_pool_new(loop, pool_sizes[p]);

		CU_ASSERT_EQUAL(work_pool_size(pool), pool_sizes[p]);
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
			memset(&alone, 0, sizeof(alone));
			memset(&together, 0, sizeof(together));
			work_parallel(NULL, counts[c], touch, &alone);
			work_parallel(pool, counts[c], touch, &together);
			CU_ASSERT(touched_once(&alone, counts[c]));
			CU_ASSERT(touched_once(&together, counts[c]));
			CU_ASSERT(!memcmp(alone.begins, together.begins, sizeof(alone.begins)));
		}
		work_pool_free(pool);
		loop_free(loop);
	}
}

static void no_slice(void *arg, size_t begin, size_t end)
{
	size_t *total = arg;

	CU_ASSERT_EQUAL(*total, begin);
	*total = end;
}

static void test_huge_count(void)
{
	size_t total = 0;

	work_parallel(NULL, SIZE_MAX, no_slice, &total);
	CU_ASSERT_EQUAL(total, SIZE_MAX);
}

enum { JOBS = 20, OUTER = 7, INNER = 301 };

/* A job that runs a section whose slices run sections. */
struct nested {
	struct work_job job;
	pthread_t loop_thread, ran_on;
	struct loop *loop;
	int *open; /* jobs whose completion has not come */
	int sum;
	unsigned char touched[OUTER][INNER];
};

static void nested_inner(void *arg, size_t begin, size_t end)
{
	unsigned char *touched = arg;

	for (size_t i = begin; i < end; i++)
		touched[i]++;
}

static struct work_pool *nested_pool;

static void nested_outer(void *arg, size_t begin, size_t end)
{
	struct nested *nested = arg;

	for (size_t i = begin; i < end; i++)
		work_parallel(nested_pool, INNER, nested_inner, nested->touched[i]);
}

static void nested_run(struct work_job *job)
{
	struct nested *nested = container_of(job, struct nested, job);

	nested->ran_on = pthread_self();
	work_parallel(nested_pool, OUTER, nested_outer, nested);
	for (size_t i = 0; i < OUTER; i++) {
		for (size_t k = 0; k < INNER; k++)
			nested->sum += nested->touched[i][k] == 1;
	}
}

static void nested_done(struct work_job *job)
{
	struct nested *nested = container_of(job, struct nested, job);

	CU_ASSERT(pthread_equal(pthread_self(), nested->loop_thread));
	CU_ASSERT(!pthread_equal(pthread_self(), nested->ran_on));
	CU_ASSERT_EQUAL(nested->sum, OUTER * INNER);
	if (--*nested->open == 0)
		loop_stop(nested->loop, 0);
}

/* More jobs than workers, all with sections: every worker is busy, and all still end. */
static void test_nested_jobs(void)
{
	static struct nested all[JOBS];

	for (size_t p = 0; p < ARRAY_SIZE(pool_sizes); p++) {
		struct loop *loop = loop_new();
		int open = JOBS;

		nested_pool = work_pool_new(loop, pool_sizes[p]);
		memset(all, 0, sizeof(all));
		for (size_t i = 0; i < JOBS; i++) {
			all[i].job.name = "nested";
			all[i].job.run = nested_run;
			all[i].job.done = nested_done;
			all[i].loop = loop;
			all[i].loop_thread = pthread_self();
			all[i].open = &open;
			work_submit(nested_pool, &all[i].job);
		}
		CU_ASSERT_EQUAL(loop_run(loop), 0);
		CU_ASSERT_EQUAL(open, 0);
		work_pool_free(nested_pool);
		loop_free(loop);
	}
}

struct chain {
	struct work_job job;
	struct work_pool *pool;
	struct loop *loop;
	int runs;
};

static void chain_run(struct work_job *job)
{
	container_of(job, struct chain, job)->runs++;
}

static void chain_done(struct work_job *job)
{
	struct chain *chain = container_of(job, struct chain, job);

	if (chain->runs < 100)
		work_submit(chain->pool, job);
	else
		loop_stop(chain->loop, 0);
}

/* A completion may submit its job again. */
static void test_submit_from_done(void)
{
	struct loop *loop = loop_new();
	struct chain chain = {
		.job = {.name = "chain", .run = chain_run, .done = chain_done},
		.pool = work_pool_new(loop, 2),
		.loop = loop,
	};

	work_submit(chain.pool, &chain.job);
	loop_run(loop);
	CU_ASSERT_EQUAL(chain.runs, 100);
	work_pool_free(chain.pool);
	loop_free(loop);
}

static atomic_int runs_begun, runs_ended, dones;

static void count_run(struct work_job *job)
{
	(void)job;
	atomic_fetch_add(&runs_begun, 1);
	atomic_fetch_add(&runs_ended, 1);
}

static void count_done(struct work_job *job)
{
	(void)job;
	atomic_fetch_add(&dones, 1);
}

/* Freed while slices run: started slices end, nothing is completed. */
static void test_free_while_busy(void)
{
	static struct work_job jobs[50];
	struct loop *loop = loop_new();
	struct work_pool *pool = work_pool_new(loop, 0);

	CU_ASSERT(work_pool_size(pool) >= 1);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		jobs[i] = (struct work_job){.name = "count", .run = count_run, .done = count_done};
		work_submit(pool, &jobs[i]);
	}
	work_pool_free(pool);
	CU_ASSERT_EQUAL(runs_begun, runs_ended);
	CU_ASSERT_EQUAL(dones, 0);
	work_pool_free(NULL);
	loop_free(loop);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"slices cover all once", test_slices},
		{"huge count", test_huge_count},
		{"sections in jobs, nested", test_nested_jobs},
		{"submit from done", test_submit_from_done},
		{"free while busy", test_free_while_busy},
		CU_TEST_INFO_NULL,
	};

	return unit_main("work", tests);
}
