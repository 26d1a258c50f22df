/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A pool in place of lib/work.c for tests of the store: it runs jobs as lib/work.h says, but on the
 * loop, and holds them while the test wants it.
 */
#ifndef TESTS_UNIT_STORE_WORK_HELD_H
#define TESTS_UNIT_STORE_WORK_HELD_H

#include <stdbool.h>

/* While true, the pool that was made last runs no job. */
void work_hold(bool hold);

#endif
