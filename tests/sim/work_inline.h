/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queries to the pool of the simulation beyond lib/work.h. */
#ifndef TESTS_SIM_WORK_INLINE_H
#define TESTS_SIM_WORK_INLINE_H

#include "lib/work.h"

/* Jobs submitted since the pool was made, such as route computations. */
uint64_t work_inline_jobs(const struct work_pool *pool);

#endif
