/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What scenarios may ask the pool of the simulation besides lib/work.h. */
#ifndef TESTS_SIM_WORK_INLINE_H
#define TESTS_SIM_WORK_INLINE_H

#include "lib/work.h"

/* Jobs submitted since the pool was made. A manager's are its routes. */
uint64_t work_inline_jobs(const struct work_pool *pool);

#endif
