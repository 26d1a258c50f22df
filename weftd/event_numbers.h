/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Event numbers that never repeat, also after a crash or a loss of power. The file events.next in
 * the state directory has a number; all used numbers are lower. Numbers are reserved in blocks, so
 * that few events cause a write. If the daemon is killed, the unused numbers of its block are
 * skipped; a clean end skips none. If the file cannot be written, events get numbers nevertheless,
 * and a log line warns that numbers may repeat.
 *
 * The file is written on the calling thread before and after the loop, and by a worker while the
 * loop runs.
 */
#ifndef WEFTD_EVENT_NUMBERS_H
#define WEFTD_EVENT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/work.h"

enum { EVENT_NUMBERS_BLOCK = 100000 };

struct event_numbers {
	struct work_pool *pool;
	char *path, *part;
	uint64_t reserved; /* numbers from here on are not reserved */
	/* The write under way: */
	struct work_job job;
	uint64_t writing;
	int error;
	bool under_way;
};

/* Reads the file in dir and reserves a block; returns its first number. dir NULL: no file, numbers
 * begin with 1. pool must be freed before event_numbers_close(). */
uint64_t event_numbers_open(struct event_numbers *numbers, const char *dir, struct work_pool *pool);
/* Call it with the next number: reserves another block before the present block is used up. */
void event_numbers_reach(struct event_numbers *numbers, uint64_t next);
/* Returns the unused numbers: the next start continues with next. */
void event_numbers_close(struct event_numbers *numbers, uint64_t next);

#endif
