/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The pool of worker threads. The loop submits jobs; a worker runs each; an eventfd returns it to
 * the loop, which calls done(). The pool owns the threads and the queues, under one lock that is
 * held only to take or hand in a piece of work. An idle worker sleeps on a condition.
 *
 * work_parallel() publishes a counter from which the caller and idle workers draw slices. The
 * caller never waits for a slice that no thread has begun: if all workers are busy, or inside other
 * parallel sections, it does all slices itself. So sections may nest and cannot deadlock. The
 * bounds of slices depend on the count alone, so that no result can depend on the number of
 * workers.
 */
#include "lib/work.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/mem.h"

enum {
	SLICES_MAX = 256, /* evens out unequal slices; taking a slice costs little */
	WORKERS_MAX = 1024,
};

/* One work_parallel() under way; it lives on the stack of its caller. */
struct section {
	struct list link; /* in pool->sections while it has slices left */
	void (*fn)(void *arg, size_t begin, size_t end);
	void *arg;
	size_t count;
	size_t slice;	  /* length of a slice */
	size_t begin;	  /* of the next slice */
	unsigned helpers; /* workers that run one of its slices now */
	pthread_cond_t helped;
};

struct work_pool {
	pthread_mutex_t lock; /* guards all members below, up to stopping */
	pthread_cond_t more;  /* a new job or section, or the end */
	struct list jobs;     /* submitted, not begun */
	struct list finished; /* run, done() not called */
	struct list sections;
	bool stopping;

	struct loop *loop;
	int event_fd; /* readable while finished is not empty */
	struct loop_fd *watch;
	pthread_t *threads;
	unsigned size;
};

static bool section_take(struct section *section, size_t *begin, size_t *end)
{
	size_t left = section->count - section->begin;

	if (!left)
		return false;
	*begin = section->begin;
	section->begin += left < section->slice ? left : section->slice;
	*end = section->begin;
	return true;
}

/* Called with the lock held; releases it while the slice runs. */
static void section_help(struct work_pool *pool, struct section *section)
{
	size_t begin, end;

	if (!section_take(section, &begin, &end)) {
		list_del(&section->link);
		return;
	}
	section->helpers++;
	pthread_mutex_unlock(&pool->lock);
	section->fn(section->arg, begin, end);
	pthread_mutex_lock(&pool->lock);
	if (--section->helpers == 0)
		pthread_cond_signal(&section->helped);
}

/* The eventfd is written under the lock, so that it is readable exactly while finished is not
 * empty. */
static void job_finished(struct work_pool *pool, struct work_job *job)
{
	const uint64_t one = 1;

	if (list_empty(&pool->finished) && write(pool->event_fd, &one, sizeof(one)) < 0)
		abort(); /* impossible: the counter never reaches its limit */
	list_push(&pool->finished, &job->link);
}

static void job_run(struct work_pool *pool, struct work_job *job)
{
	pthread_mutex_unlock(&pool->lock);
	job->run(job);
	pthread_mutex_lock(&pool->lock);
	job_finished(pool, job);
}

/* Sections come before jobs: work that has begun ends before new work begins. */
static void *worker(void *arg)
{
	struct work_pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stopping) {
		if (!list_empty(&pool->sections))
			section_help(pool, container_of(pool->sections.next, struct section, link));
		else if (!list_empty(&pool->jobs))
			job_run(pool, container_of(list_pop(&pool->jobs), struct work_job, link));
		else
			pthread_cond_wait(&pool->more, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* On the loop. done() may submit again; such a job completes in a later turn. */
static void completions_ready(void *arg, uint32_t events)
{
	struct work_pool *pool = arg;
	struct list ready, *item;
	uint64_t count;

	(void)events;
	list_init(&ready);
	pthread_mutex_lock(&pool->lock);
	if (read(pool->event_fd, &count, sizeof(count)) == sizeof(count)) {
		while ((item = list_pop(&pool->finished)))
			list_push(&ready, item);
	}
	pthread_mutex_unlock(&pool->lock);
	while ((item = list_pop(&ready))) {
		struct work_job *job = container_of(item, struct work_job, link);

		job->done(job);
	}
}

static unsigned usable_processors(void)
{
	cpu_set_t set;
	int count = 0;

	if (!sched_getaffinity(0, sizeof(set), &set))
		count = CPU_COUNT(&set);
	else
		count = (int)sysconf(
			_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t has */
	return count > 0 ? (unsigned)count : 1;
}

/* Signals are for the loop thread: workers are started with all of them blocked. */
static void start_threads(struct work_pool *pool, unsigned workers)
{
	sigset_t all, before;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pool->threads = mem_array(workers, sizeof(*pool->threads));
	for (; pool->size < workers; pool->size++) {
		rc = pthread_create(&pool->threads[pool->size], NULL, worker, pool);
		if (rc)
			break;
		pthread_setname_np(pool->threads[pool->size], "worker");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		log_warning("only %u of %u worker threads started: %s; raise TasksMax= or lower the"
			    " number of workers",
			    pool->size, workers, strerror(rc));
	if (!pool->size)
		abort();
}

struct work_pool *work_pool_new(struct loop *loop, unsigned workers)
{
	struct work_pool *pool = mem_zalloc(sizeof(*pool));
	int rc;

	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->more, NULL);
	list_init(&pool->jobs);
	list_init(&pool->finished);
	list_init(&pool->sections);
	pool->loop = loop;
	pool->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = pool->event_fd < 0 ? -errno : 0;
	if (!rc)
		rc = loop_fd_add(loop, pool->event_fd, EPOLLIN, LOOP_NORMAL, "job completions",
				 completions_ready, pool, &pool->watch);
	if (rc) {
		log_error("cannot make a descriptor for job completions: %s; raise the limit of"
			  " open files (LimitNOFILE=)",
			  strerror(-rc));
		abort();
	}
	if (!workers)
		workers = usable_processors();
	start_threads(pool, workers < WORKERS_MAX ? workers : WORKERS_MAX);
	return pool;
}

void work_pool_free(struct work_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	pthread_cond_broadcast(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->size; i++)
		pthread_join(pool->threads[i], NULL);
	loop_fd_remove(pool->watch);
	close(pool->event_fd);
	pthread_cond_destroy(&pool->more);
	pthread_mutex_destroy(&pool->lock);
	free(pool->threads);
	free(pool);
}

unsigned work_pool_size(const struct work_pool *pool)
{
	return pool->size;
}

void work_submit(struct work_pool *pool, struct work_job *job)
{
	assert(job->run && job->done);
	pthread_mutex_lock(&pool->lock);
	list_push(&pool->jobs, &job->link);
	pthread_cond_signal(&pool->more);
	pthread_mutex_unlock(&pool->lock);
}

static void run_alone(struct section *section)
{
	size_t begin, end;

	while (section_take(section, &begin, &end))
		section->fn(section->arg, begin, end);
}

static void run_together(struct work_pool *pool, struct section *section)
{
	size_t begin, end;

	pthread_cond_init(&section->helped, NULL);
	pthread_mutex_lock(&pool->lock);
	list_push_front(&pool->sections, &section->link); /* the innermost is finished first */
	pthread_cond_broadcast(&pool->more);
	while (section_take(section, &begin, &end)) {
		pthread_mutex_unlock(&pool->lock);
		section->fn(section->arg, begin, end);
		pthread_mutex_lock(&pool->lock);
	}
	list_del(&section->link);
	while (section->helpers)
		pthread_cond_wait(&section->helped, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	pthread_cond_destroy(&section->helped);
}

void work_parallel(struct work_pool *pool, size_t count,
		   void (*fn)(void *arg, size_t begin, size_t end), void *arg)
{
	struct section section = {
		.fn = fn,
		.arg = arg,
		.count = count,
		.slice = count / SLICES_MAX + (count % SLICES_MAX != 0),
	};

	list_init(&section.link);
	if (!pool || count <= section.slice)
		run_alone(&section);
	else
		run_together(pool, &section);
}
