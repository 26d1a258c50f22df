/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Jobs: computations outside the loop thread. A job gets const input, and memory of its own; it
 * neither logs nor locks nor touches data that the loop owns. Its completion runs on the loop. A
 * simulation links another implementation: there jobs run inline and complete after a virtual cost.
 * Results never depend on the number of workers.
 */
#ifndef LIB_WORK_H
#define LIB_WORK_H

#include <stddef.h>

#include "lib/list.h"
#include "lib/loop.h"

struct work_pool;

/* Embedded in the caller's structure, which must live until done() has run. */
struct work_job {
	struct list link;
	const char *name;
	void (*run)(struct work_job *job);  /* on a worker thread */
	void (*done)(struct work_job *job); /* on the loop */
};

/* workers: threads, at least 1; 0 takes the number of processors that this process may use. */
struct work_pool *work_pool_new(struct loop *loop, unsigned workers);
/* Waits for running jobs and drops the others; done() is not called any more. Not from done(). */
void work_pool_free(struct work_pool *pool);
/* Number of worker threads, at least 1. */
unsigned work_pool_size(const struct work_pool *pool);

/* Runs job->run(job) on a worker, then job->done(job) on the loop. The pool takes no ownership of
 * job. */
void work_submit(struct work_pool *pool, struct work_job *job);

/* Calls fn(arg, begin, end) over slices that cover 0..count once, on the calling thread and idle
 * workers, and returns when all are done. Call it inside a job; the loop thread may call it only
 * while it serves nothing. The bounds of the slices depend on count alone; sections may nest.
 * Slices must write disjoint memory. pool NULL: everything on the calling thread. */
void work_parallel(struct work_pool *pool, size_t count,
		   void (*fn)(void *arg, size_t begin, size_t end), void *arg);

#endif
